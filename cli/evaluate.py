"""gardenpath evaluate: does a language model prefer the grammatical member of each minimal pair."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .comparison_options import ComparisonOptions, add_comparison_options
from .score import MODEL_HELP, ScoringOptions, add_scoring_options, describe_protocols

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Model
    from gardenpath.stimuli import Materials

ACCURACY_FILE = "accuracy_by_model.csv"
Noise = dict[str, dict[str, float]]


def list_measures() -> list[str]:
    """Return the measures by which the members of a pair are compared."""
    from gardenpath import lmscore

    return list(lmscore.MEASURES)


def list_units() -> list[str]:
    """Return the units that log-probabilities of another program may have."""
    from gardenpath.lmscore.imported_surprisal import BITS_PER_UNIT

    return list(BITS_PER_UNIT)


@click.command("evaluate")
@click.option("--model", "models", multiple=True, metavar="M", help=f"{MODEL_HELP} Several may be given.")
@click.option(
    "--from-scores",
    "computed",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Scores of another program: a CSV of sentence (or item, condition) and lp, and tokens; or of each token and its lp.",
)
@click.option(
    "--score-unit", "unit", default="ln p", show_default=True, type=options.LazyChoice(list_units), help="Of lp in --from-scores."
)
@click.option(
    "--training-sizes",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV of model, tokens (and family, sample): accuracy by size of the training data.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=options.LazyChoice(list_measures),
    default=("lp",),
    show_default=True,
    help="What to compare; may be given several times.",
)
@add_comparison_options
@click.option(
    "--scores",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder with the sentence_scores of these models: accuracy by length and perplexity, and bias to length.",
)
@click.option(
    "--compare-groups",
    metavar="COLUMN",
    help="Compare two groups of items by a column of theirs: z-tests over pairs and paradigms, differences by paradigm.",
)
@click.option(
    "--languages",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV of language, its frequency, and lists of languages in further columns: means over languages of each.",
)
@click.option(
    "--cascade", is_flag=True, help="Compute all pairs in bfloat16, and in --dtype those that it leaves open, if that is faster."
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Draws the pairs that are scored a second time to measure noise, bootstraps and sign flips.",
)
@add_scoring_options
def command(
    scoring: ScoringOptions,
    models: tuple[str, ...],
    computed: tuple[Path, ...],
    unit: str,
    training_sizes: Path | None,
    measures: tuple[str, ...],
    comparing: ComparisonOptions,
    scores: tuple[Path, ...],
    compare_groups: str | None,
    languages: Path | None,
    cascade: bool,
    seed: int,
) -> None:
    """Write the tables pairs and accuracy of the minimal pairs in MATERIALS; print the accuracy of each paradigm.

    Then comes a table with a row for each phenomenon and a column for each model, written to accuracy_by_model.csv too.
    accuracy_bins has accuracy by confidence; several models are compared in model_comparisons, rankings and
    accuracy_correlations, which has people's accuracies too. Groups of paradigms or items are in group_accuracies.

    Of several languages there are means over languages, the best model of each, and with --languages curves over frequency;
    with --scores what differences depend on, among them distance and attractors in columns of the items, as MultiBLiMP has them.
    """
    import pandas as pd

    from gardenpath import analysis, lmscore, stimuli, study
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.study.table_files import refuse_existing_tables

    if not models and not computed:
        raise click.UsageError("Missing option '--model', or --from-scores for scores of another program")
    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: a model is given twice; expected each once")
    if cascade and (scoring.quantization or scoring.dtype in lmscore.scoring.COARSE_DTYPES):
        raise click.UsageError(f"--cascade with {scoring.quantization or scoring.dtype}; expected --dtype float32, or float64")
    refuse_existing_tables(scoring.out, "evaluate", scoring.force)
    study.files.refuse_overwrite([scoring.out / ACCURACY_FILE], scoring.force)
    earlier_pairs = comparing.read_earlier_tables("pairs")
    materials = scoring.read_materials()
    scoring.warn_of_own_drafts(materials, models)
    comparison_data = comparing.read_comparison_data(
        materials,
        scores=pd.concat([study.read(folder, "sentence_scores") for folder in scores]) if scores else None,
        halves=_get_item_groups(materials, compare_groups) if compare_groups else {},
        runs=pd.read_csv(training_sizes) if training_sizes else None,
        languages=read_languages(languages) if languages else None,
        covariates=stimuli.extract_pair_covariates(materials),
    )
    work = functools.partial(_evaluate_model, scoring, materials, measures=measures, cascade=cascade, seed=seed)
    evaluations, failed = scoring.apply_to_models(models, work)
    parts, model_facts = [one.pairs for one in evaluations], [one.facts for one in evaluations]
    noise = {one.name: one.noise for one in evaluations if one.noise is not None}
    stages = {one.name: one.stages for one in evaluations if one.stages is not None}
    for path in computed:
        score_rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        score_rows.index += 2  # lines of the file
        parts.append(lmscore.import_pairs(score_rows, materials, model=path.stem, unit=unit, where=f"{path}, line"))
        model_facts.append({"name": path.stem, "computed": "elsewhere", "unit": unit})
    scoring = replace(
        scoring, materials=(*scoring.materials, *computed, *comparing.groups, *filter(None, [training_sizes, languages]))
    )
    pairs = pd.concat(parts, ignore_index=True)
    accuracy = analysis.compute_accuracy(pairs)
    side_by_side = analysis.build_model_table(accuracy)
    notes: dict[str, object] = {
        "models": model_facts,
        "protocol": describe_protocols(pairs),
        "joiner": scoring.joiner_text,
        "noise": noise,
    }
    notes |= ({"stages": stages} if stages else {}) | ({"failed": failed} if failed else {})
    all_pairs = study.check(pd.concat([pairs, *earlier_pairs], ignore_index=True), "pairs")
    comparisons = all_comparisons.compute_comparisons(all_pairs, comparison_data, seed=seed)
    written = study.table_files.select_filled({"pairs": pairs, "accuracy": accuracy, **comparisons}, scoring.out)
    for table, frame in written.items():
        scoring.write_table(frame, table, notes, seed)
    path = scoring.out / ACCURACY_FILE
    study.files.write_text(path, study.table_files.escape_formulas(side_by_side).to_csv(index=False, lineterminator="\n"))
    study.files.write_sidecar(path, command=options.format_command_line(), inputs=scoring.list_inputs(), seed=seed, notes=notes)
    options.print_notice(f"{path}: {len(side_by_side)} rows")
    if scoring.as_json:
        tables_as_json = {name: json.loads(frame.to_json(orient="records")) for name, frame in comparisons.items()}
        rows = json.loads(accuracy.to_json(orient="records"))
        click.echo(json.dumps({"accuracy": rows, **tables_as_json, **notes}, ensure_ascii=False, indent=1))
    else:
        _print_results(accuracy, side_by_side, comparisons, noise, stages, comparison_data.human_accuracies is not None)
    scoring.raise_failures(failed, len(evaluations))


def _get_item_groups(materials: "Materials", column: str) -> dict[str, str]:
    """Return the group that each item is in by a column."""
    from gardenpath import stimuli, study

    groups = dict(stimuli.group_items(materials, [column])[["item", "level"]].to_numpy())
    if missing := [item.id for item in materials.items if item.id not in groups]:
        others_text = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise study.DataError(f"item {missing[0]!r}{others_text} has no {column!r}; --compare-groups expects it of each item")
    return groups


def read_languages(path: Path) -> "pd.DataFrame":
    """Return a table of languages by the tags that materials have: nl for nld."""
    import pandas as pd

    from gardenpath.stimuli.formats.multiblimp import find_language_tag

    table = pd.read_csv(path, dtype=str)
    return table.assign(language=table["language"].map(find_language_tag, na_action="ignore")) if "language" in table else table


def _print_results(
    accuracy: "pd.DataFrame",
    side_by_side: "pd.DataFrame",
    comparisons: Mapping[str, "pd.DataFrame"],
    noise: Mapping[str, Noise],
    stages: Mapping[str, Mapping[str, Any]],
    has_human_accuracies: bool,
) -> None:
    """Print the accuracies, and a sentence for each comparison of two models or with people, and for the noise of each model."""
    from gardenpath.analysis.reporting.wording import minimal_pairs

    shown = accuracy[["model", "protocol", "measure", "phenomenon", "paradigm", "n_pairs", "n_ties", "accuracy", "delta"]]
    click.echo(shown.to_string(index=False, float_format="%.3f"))
    click.echo()
    click.echo(side_by_side.to_string(index=False, float_format="%.3f", na_rep=""))
    sentences: list[str] = []
    if "model_comparisons" in comparisons:
        sentences += minimal_pairs.model_comparisons(comparisons["model_comparisons"])
    if has_human_accuracies:
        sentences += minimal_pairs.accuracy_correlations(comparisons["accuracy_correlations"])
    for model, model_noise in noise.items():
        sentences += minimal_pairs.layout_noise(model, model_noise)
    for model, facts in stages.items():
        sentences += minimal_pairs.stages(model, facts)
    for sentence in sentences:
        click.echo(sentence)


@dataclass(frozen=True)
class ModelEvaluation:
    """What came of a model: its pairs, what it is, and either the noise of their differences or what two stages found."""

    name: str
    pairs: "pd.DataFrame"
    facts: dict[str, object]
    noise: Noise | None = None
    stages: dict[str, Any] | None = None


def _evaluate_model(
    scoring: ScoringOptions,
    materials: "Materials",
    name: str,
    revision: str | None,
    *,
    measures: tuple[str, ...],
    cascade: bool,
    seed: int,
) -> ModelEvaluation:
    """Return what comes of a model, in two stages where that is asked for and the model has a precision."""
    loaded = scoring.load_model(name, revision)
    if cascade and getattr(loaded, "dtype", None):
        coarse = replace(scoring, dtype="bfloat16").load_model(name, revision)
        pairs, stages = _evaluate_in_stages(scoring, materials, loaded, coarse, measures, seed)
        return ModelEvaluation(loaded.name, pairs, loaded.describe(), stages=stages)
    pairs, noise = _evaluate_with_noise(scoring, materials, loaded, measures, seed)
    return ModelEvaluation(loaded.name, pairs, loaded.describe(), noise=noise)


def _evaluate_with_noise(
    scoring: ScoringOptions, materials: "Materials", loaded: "Model", measures: tuple[str, ...], seed: int
) -> tuple["pd.DataFrame", Noise]:
    """Return one model's pairs and, for each measure, the layout noise and the verdicts that lie within it."""
    from gardenpath import lmscore

    arguments = scoring.build_scoring_arguments(loaded)
    with options.show_progress("sentences", 1) as move:
        pairs = lmscore.evaluate(materials, loaded, measures, **arguments, batch_tokens=scoring.batch_tokens, progress=move)
    noise = lmscore.estimate_layout_noise(materials, loaded, pairs, **arguments, seed=seed)
    verdicts_within = lmscore.count_within_noise(pairs, noise)
    verdicts = pairs[~pairs["tie"]].groupby("measure").size()
    return pairs, {
        measure: {"nats": nats, "verdicts_within": verdicts_within[measure], "verdicts": int(verdicts.get(measure, 0))}
        for measure, nats in noise.items()
    }


def _evaluate_in_stages(
    scoring: ScoringOptions, materials: "Materials", loaded: "Model", coarse: "Model", measures: tuple[str, ...], seed: int
) -> tuple["pd.DataFrame", dict[str, Any]]:
    """Return one model's pairs, most of them in bfloat16, and what was found of both."""
    from gardenpath import lmscore

    arguments = scoring.build_scoring_arguments(loaded)
    with options.show_progress("sentences", 1) as move:
        return lmscore.evaluate_in_stages(
            materials, loaded, coarse, measures, **arguments, batch_tokens=scoring.batch_tokens, progress=move, seed=seed
        )
