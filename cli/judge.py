"""gardenpath judge: language models judge minimal pairs as people are asked, by prompts and templates."""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options, session_judgments
from .comparison_options import ComparisonOptions, add_comparison_options
from .score import MODEL_HELP, ScoringOptions, add_scoring_options

SELECTION_UNITS = {"held-out": "pairs", "held-out-paradigms": "paradigms"}

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Template
    from gardenpath.stimuli import Materials


def list_judgment_methods() -> list[str]:
    """Return the methods by which sentences are judged."""
    from gardenpath.study.judgment_methods import JUDGMENT_METHODS

    return list(JUDGMENT_METHODS)


def parse_ensembles(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> list[dict[str, int]] | None:
    """Return how many templates of which method vote in each ensemble; None where none is given."""
    return [_parse_ensemble(text) for text in value] or None


def _parse_ensemble(text: str) -> dict[str, int]:
    votes: dict[str, int] = {}
    for part in text.split(","):
        method, _, count = part.strip().partition(":")
        if method not in list_judgment_methods() or method in votes or not count.isdecimal() or not int(count):
            raise click.BadParameter(f"{text!r}: {part!r}; expected METHOD:TEMPLATES, such as yes_no:3,template_lp:2")
        votes[method] = int(count)
    return votes


@click.command("judge")
@click.option("--model", "models", multiple=True, metavar="M", help=f"{MODEL_HELP} Several may be given.")
@click.option(
    "--method",
    "chosen",
    multiple=True,
    type=options.LazyChoice(list_judgment_methods),
    help="How to ask; may be given several times.  [default: the first nine, or choose and rate, as the language has templates]",
)
@click.option(
    "--templates",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE",
    help="Templates of your own (TOML), or a folder of those of Ide et al., instead of those that come along.",
)
@click.option("--template", "ids", multiple=True, metavar="ID", help="Only the templates of this id, such as 1.")
@click.option("--language", metavar="TAG", help="Ask in this language, whatever that of the items: en, nl or zh.")
@click.option(
    "--prompt-tokenization",
    type=click.Choice(["whole", "parts"]),
    default="whole",
    show_default=True,
    help="Whether template and sentence become tokens as one string or each by itself.",
)
@click.option(
    "--label-scoring",
    type=click.Choice(["first", "sum"]),
    default="first",
    show_default=True,
    help="Count a label as it is written, or in any case and with or without a space.",
)
@click.option("--both-orders", is_flag=True, help="Ask which of two sentences is better in both orders, not in one drawn.")
@click.option("--original-implementation", is_flag=True, help="As the code of Ide et al., for their numbers: see docs/judging.md.")
@click.option(
    "--chat/--no-chat", default=None, help="Ask by the model's chat template or not.  [default: by it where there is one]"
)
@add_comparison_options
@click.option(
    "--ensemble",
    "votes",
    multiple=True,
    metavar="METHOD:N[,METHOD:N]",
    callback=parse_ensembles,
    help="A majority vote of so many templates.  [default: five of yes_no, five of template_lp, three and two, two and three]",
)
@click.option(
    "--select",
    multiple=True,
    type=click.Choice([*SELECTION_UNITS]),
    help="Choose the best mix of templates on other pairs, or for each paradigm on the others, beside the oracle.",
)
@click.option("--draws", type=click.IntRange(min=1), metavar="N", help="Also vote by N mixes drawn, as published: 10.")
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Draws which of two sentences stands first, mixes, parts of the pairs and bootstraps.",
)
@session_judgments.add_participation_options
@functools.partial(add_scoring_options, excluded=["unigrams"])
def command(
    scoring: ScoringOptions,
    models: tuple[str, ...],
    chosen: tuple[str, ...],
    sources: tuple[Path, ...],
    ids: tuple[str, ...],
    comparing: ComparisonOptions,
    votes: list[dict[str, int]] | None,
    select: tuple[str, ...],
    draws: int | None,
    seed: int,
    participants: int | None,
    independent: bool,
    most_probable: bool,
    **prompt_options: Any,
) -> None:
    """Write the tables judgments and method_accuracies of the minimal pairs in MATERIALS; print the accuracy of each method.

    Beside them come response_shares, method_length_bias, votes of several templates (ensembles), method_comparisons against log
    probability, method_differences, and method_groups. Without --model the judgments of --compare-with are compared again.

    A model that cannot be asked is named and the others go on; so is an item that cannot be judged.

    With a STUDY.toml in place of MATERIALS models take part in it as people do: their sessions (for collect), these as text, and
    the table model_responses are written. With a folder of people's sessions, or sessions as text (JSON lines), the table
    session_likelihoods says how probable the models find the answers.
    """
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.study.table_files import refuse_existing_tables

    if not models and not comparing.compare_with:
        raise click.UsageError("Missing option '--model', or --compare-with for judgments of an earlier run")
    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: a model is given twice; expected each once")
    if session_judgments.judge_study_or_sessions(
        scoring, models, session_judgments.ParticipationOptions(participants or 0, seed, independent, most_probable)
    ):
        return
    refuse_existing_tables(scoring.out, "judge", scoring.force)
    templates = _select_templates(lmscore.read_templates(*sources), ids)
    earlier_judgments = comparing.read_earlier_tables("judgments")
    materials = scoring.read_materials()
    scoring.warn_of_own_drafts(materials, models)
    comparing.read_comparison_data(materials)  # says what is wrong with it before the work
    work = functools.partial(_judge_with_model, scoring, materials, chosen=chosen, templates=templates, seed=seed, **prompt_options)
    results, failed = scoring.apply_to_models(models, work)
    parts, model_facts = [part for part, _ in results], [facts for _, facts in results]
    files = [file for source in sources for file in ([source] if source.is_file() else sorted(source.rglob("*.*")))]
    scoring = replace(scoring, materials=(*scoring.materials, *files, *comparing.groups))
    all_judgments = study.check(pd.concat([*parts, *earlier_judgments], ignore_index=True), "judgments")
    items = {*all_judgments["item"]}
    judged_items = tuple(item for item in materials.items if item.id in items)
    comparison_data = comparing.read_comparison_data(replace(materials, items=judged_items))
    chosen_on = [SELECTION_UNITS[name] for name in select]
    comparisons = all_comparisons.compute_method_tables(
        all_judgments, comparison_data, votes=votes, select=chosen_on, draws=draws or 0, seed=seed
    )
    tables = {**({"judgments": pd.concat(parts, ignore_index=True)} if parts else {}), **comparisons}
    notes = {"models": model_facts, "failed": failed, "both_orders": prompt_options["both_orders"]}
    for table, frame in study.table_files.select_filled(tables, scoring.out).items():
        scoring.write_table(frame, table, notes, seed)
    if scoring.as_json:
        rows = {name: json.loads(frame.to_json(orient="records")) for name, frame in comparisons.items()}
        click.echo(json.dumps({**rows, **notes}, ensure_ascii=False, indent=1))
    else:
        _print_results(comparisons)
    scoring.raise_failures(failed, len(results))


def _print_results(comparisons: "Mapping[str, pd.DataFrame]") -> None:
    """Print the accuracy of each method and template, and a sentence for each vote and each comparison of methods."""
    from gardenpath.analysis.reporting.wording import judgments

    overall = comparisons["method_accuracies"].query("phenomenon == 'all'")
    shown = overall[
        ["model", "method", "template", "n_pairs", "n_ties", "n_unread", "accuracy", "sd", "mean_accuracy", "answer_probability"]
    ]
    click.echo(shown.to_string(index=False, float_format="%.3f", na_rep=""))
    for name, sentences in {
        "ensembles": judgments.ensembles,
        "method_comparisons": judgments.method_comparisons,
        "response_shares": judgments.describe_response_shares,
        "method_groups": judgments.groups,
    }.items():
        for sentence in sentences(comparisons[name]) if name in comparisons else ():
            click.echo(sentence)


def _select_templates(templates: "tuple[Template, ...]", ids: tuple[str, ...]) -> "list[Template]":
    """Return the templates of some ids, or all."""
    selected = [one for one in templates if not ids or one.id in ids]
    if missing := [name for name in ids if name not in {one.id for one in templates}]:
        known = ", ".join(sorted({one.id for one in templates}))
        raise click.UsageError(f"--template {missing[0]}: no template has this id; expected one of {known}")
    return selected


def _judge_with_model(
    scoring: ScoringOptions, materials: "Materials", name: str, revision: str | None, chosen: tuple[str, ...], **prompt_options: Any
) -> "tuple[pd.DataFrame, dict[str, object]]":
    """Return one model's judgments, and what a sidecar says of it and of how it was asked."""
    from gardenpath import lmscore

    loaded = scoring.load_model(name, revision)
    protocol = scoring.build_scoring_arguments(loaded)["protocol"]
    with options.show_progress("pairs", 1) as move:
        table = lmscore.judge(
            materials, loaded, chosen or None, protocol=protocol, batch_tokens=scoring.batch_tokens, progress=move, **prompt_options
        )
    facts = {**loaded.describe(), "asked": table.attrs["asked"], "left_out": table.attrs["left_out"]}
    table.attrs.clear()
    return table, facts
