"""gardenpath evaluate: does a language model prefer the grammatical member of each minimal pair."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .comparing import Comparing, comparing_options
from .score import MODEL, Scoring, meanings, scoring_options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Model
    from gardenpath.stimuli import Materials

TABLE = "accuracy_by_model.csv"
Noise = dict[str, dict[str, float]]


def measures() -> list[str]:
    """Return the measures by which the members of a pair are compared."""
    from gardenpath import lmscore

    return list(lmscore.MEASURES)


def units() -> list[str]:
    """Return the units that log-probabilities of another program may have."""
    from gardenpath.lmscore.elsewhere import UNITS

    return list(UNITS)


@click.command("evaluate")
@click.option("--model", "models", multiple=True, metavar="M", help=f"{MODEL} Several may be given.")
@click.option(
    "--from-scores",
    "computed",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Scores of another program: a CSV of sentence (or item, condition) and lp, and tokens; or of each token and its lp.",
)
@click.option("--unit", default="ln p", show_default=True, type=options.OneOf(units), help="Of lp in --from-scores.")
@click.option(
    "--runs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV of model, tokens (and family, sample): accuracy by size of the training data.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=options.OneOf(measures),
    default=("lp",),
    show_default=True,
    help="What to compare; may be given several times.",
)
@comparing_options
@click.option(
    "--scores",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder with the sentence_scores of these models: accuracy by length and perplexity, and bias to length.",
)
@click.option(
    "--between",
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
    "--two-stages",
    is_flag=True,
    help="Compute all pairs in bfloat16, and in --dtype those that it leaves open, if that is faster.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Draws the pairs that are scored a second time to measure noise, bootstraps and sign flips.",
)
@scoring_options
def command(
    scoring: Scoring,
    models: tuple[str, ...],
    computed: tuple[Path, ...],
    unit: str,
    runs: Path | None,
    measures: tuple[str, ...],
    comparing: Comparing,
    scores: tuple[Path, ...],
    between: str | None,
    languages: Path | None,
    two_stages: bool,
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
    from gardenpath.study.table_files import refuse_tables

    if not models and not computed:
        raise click.UsageError("Missing option '--model', or --from-scores for scores of another program")
    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: a model is given twice; expected each once")
    if two_stages and (scoring.quantization or scoring.dtype in lmscore.scoring.COARSE):
        raise click.UsageError(
            f"--two-stages with {scoring.quantization or scoring.dtype}; expected --dtype float32, or float64"
        )
    refuse_tables(scoring.out, "evaluate", scoring.force)
    study.files.refuse_overwrite([scoring.out / TABLE], scoring.force)
    earlier = comparing.earlier("pairs")
    read = scoring.read()
    scoring.say_drafted(read, models)
    known = comparing.known(
        read,
        scores=pd.concat([study.read(folder, "sentence_scores") for folder in scores]) if scores else None,
        halves=_halves(read, between) if between else {},
        runs=pd.read_csv(runs) if runs else None,
        languages=_languages(languages) if languages else None,
        covariates=stimuli.covariates_of(read),
    )
    work = functools.partial(_of_model, scoring, read, measures=measures, two_stages=two_stages, seed=seed)
    done, failed = scoring.each_model(models, work)
    parts, described = [one.pairs for one in done], [one.facts for one in done]
    noise = {one.name: one.noise for one in done if one.noise is not None}
    stages = {one.name: one.stages for one in done if one.stages is not None}
    for path in computed:
        stated = pd.read_csv(path, dtype=str, keep_default_na=False)
        stated.index += 2  # lines of the file
        parts.append(lmscore.pairs_from(stated, read, model=path.stem, unit=unit, where=f"{path}, line"))
        described.append({"name": path.stem, "computed": "elsewhere", "unit": unit})
    scoring = replace(
        scoring, materials=(*scoring.materials, *computed, *comparing.groups, *filter(None, [runs, languages]))
    )
    pairs = pd.concat(parts, ignore_index=True)
    accuracy = analysis.accuracy(pairs)
    side_by_side = analysis.model_table(accuracy)
    notes: dict[str, object] = {
        "models": described,
        "protocol": meanings(pairs),
        "joiner": scoring.joined,
        "noise": noise,
    }
    notes |= ({"stages": stages} if stages else {}) | ({"failed": failed} if failed else {})
    everything = study.check(pd.concat([pairs, *earlier], ignore_index=True), "pairs")
    compared = all_comparisons.compared(everything, known, seed=seed)
    for table, frame in {"pairs": pairs, "accuracy": accuracy, **compared}.items():
        scoring.write(frame, table, notes, seed)
    path = scoring.out / TABLE
    study.files.write_text(path, study.table_files.safe_cells(side_by_side).to_csv(index=False, lineterminator="\n"))
    study.files.write_sidecar(path, command=options.typed(), inputs=scoring.inputs(), seed=seed, notes=notes)
    options.talk(f"{path}: {len(side_by_side)} rows")
    if scoring.as_json:
        tables_as_json = {name: json.loads(frame.to_json(orient="records")) for name, frame in compared.items()}
        rows = json.loads(accuracy.to_json(orient="records"))
        click.echo(json.dumps({"accuracy": rows, **tables_as_json, **notes}, ensure_ascii=False, indent=1))
    else:
        _print(accuracy, side_by_side, compared, noise, stages, known.people is not None)
    scoring.say_failed(failed, len(done))


def _halves(materials: "Materials", column: str) -> dict[str, str]:
    """Return the group that each item is in by a column."""
    from gardenpath import stimuli, study

    halves = dict(stimuli.groups_of(materials, [column])[["item", "level"]].to_numpy())
    if lacking := [item.id for item in materials.items if item.id not in halves]:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise study.DataError(f"item {lacking[0]!r}{more} has no {column!r}; --between expects it of each item")
    return halves


def _languages(path: Path) -> "pd.DataFrame":
    """Return a table of languages by the tags that materials have: nl for nld."""
    import pandas as pd

    from gardenpath.stimuli.formats.multiblimp import tongue

    table = pd.read_csv(path, dtype=str)
    return table.assign(language=table["language"].map(tongue, na_action="ignore")) if "language" in table else table


def _print(
    accuracy: "pd.DataFrame",
    side_by_side: "pd.DataFrame",
    compared: Mapping[str, "pd.DataFrame"],
    noise: Mapping[str, Noise],
    stages: Mapping[str, Mapping[str, Any]],
    people: bool,
) -> None:
    """Print the accuracies, and a sentence for each comparison of two models or with people, and for the noise of each model."""
    from gardenpath.analysis.reporting.wording import minimal_pairs

    shown = accuracy[["model", "protocol", "measure", "phenomenon", "paradigm", "n", "ties", "accuracy", "delta"]]
    click.echo(shown.to_string(index=False, float_format="%.3f"))
    click.echo()
    click.echo(side_by_side.to_string(index=False, float_format="%.3f", na_rep=""))
    sentences: list[str] = []
    if "model_comparisons" in compared:
        sentences += minimal_pairs.model_comparisons(compared["model_comparisons"])
    if people:
        sentences += minimal_pairs.accuracy_correlations(compared["accuracy_correlations"])
    for model, of_model in noise.items():
        sentences += minimal_pairs.layout_noise(model, of_model)
    for model, facts in stages.items():
        sentences += minimal_pairs.stages(model, facts)
    for sentence in sentences:
        click.echo(sentence)


@dataclass(frozen=True)
class Evaluated:
    """What came of a model: its pairs, what it is, and either the noise of their differences or what two stages found."""

    name: str
    pairs: "pd.DataFrame"
    facts: dict[str, object]
    noise: Noise | None = None
    stages: dict[str, Any] | None = None


def _of_model(
    scoring: Scoring,
    read: "Materials",
    name: str,
    revision: str | None,
    *,
    measures: tuple[str, ...],
    two_stages: bool,
    seed: int,
) -> Evaluated:
    """Return what comes of a model, in two stages where that is asked for and the model has a precision."""
    loaded = scoring.load(name, revision)
    if two_stages and getattr(loaded, "dtype", None):
        coarse = replace(scoring, dtype="bfloat16").load(name, revision)
        pairs, stages = _in_stages(scoring, read, loaded, coarse, measures, seed)
        return Evaluated(loaded.name, pairs, loaded.describe(), stages=stages)
    pairs, noise = _evaluated(scoring, read, loaded, measures, seed)
    return Evaluated(loaded.name, pairs, loaded.describe(), noise=noise)


def _evaluated(
    scoring: Scoring, read: "Materials", loaded: "Model", measures: tuple[str, ...], seed: int
) -> tuple["pd.DataFrame", Noise]:
    """Return one model's pairs and, for each measure, the layout noise and the verdicts that lie within it."""
    from gardenpath import lmscore

    how = scoring.how(loaded)
    with options.progress("sentences", 1) as move:
        pairs = lmscore.evaluate(read, loaded, measures, **how, batch_tokens=scoring.batch_tokens, progress=move)
    noise = lmscore.layout_noise(read, loaded, pairs, **how, seed=seed)
    within = lmscore.within_noise(pairs, noise)
    verdicts = pairs[~pairs["tie"]].groupby("measure").size()
    return pairs, {
        measure: {"nats": nats, "verdicts_within": within[measure], "verdicts": int(verdicts.get(measure, 0))}
        for measure, nats in noise.items()
    }


def _in_stages(
    scoring: Scoring, read: "Materials", loaded: "Model", coarse: "Model", measures: tuple[str, ...], seed: int
) -> tuple["pd.DataFrame", dict[str, Any]]:
    """Return one model's pairs, most of them in bfloat16, and what was found of both."""
    from gardenpath import lmscore

    how = scoring.how(loaded)
    with options.progress("sentences", 1) as move:
        return lmscore.evaluate_in_stages(
            read, loaded, coarse, measures, **how, batch_tokens=scoring.batch_tokens, progress=move, seed=seed
        )
