"""gardenpath judge: language models judge minimal pairs as people are asked, by prompts and templates."""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import judge_sessions, options
from .comparing import Comparing, comparing_options
from .score import MODEL, Scoring, scoring_options

SELECT = {"held-out": "pairs", "held-out-paradigms": "paradigms"}

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Template
    from gardenpath.stimuli import Materials


def methods() -> list[str]:
    """Return the methods by which sentences are judged."""
    from gardenpath.study.judgment_methods import METHODS

    return list(METHODS)


def members(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> list[dict[str, int]] | None:
    """Return how many templates of which method vote in each ensemble; None where none is given."""
    return [_members(text) for text in given] or None


def _members(text: str) -> dict[str, int]:
    votes: dict[str, int] = {}
    for part in text.split(","):
        method, _, count = part.strip().partition(":")
        if method not in methods() or method in votes or not count.isdecimal() or not int(count):
            raise click.BadParameter(f"{text!r}: {part!r}; expected METHOD:TEMPLATES, such as yes_no:3,template_lp:2")
        votes[method] = int(count)
    return votes


@click.command("judge")
@click.option("--model", "models", multiple=True, metavar="M", help=f"{MODEL} Several may be given.")
@click.option(
    "--method",
    "chosen",
    multiple=True,
    type=options.OneOf(methods),
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
    "--join",
    type=click.Choice(["whole", "parts"]),
    default="whole",
    show_default=True,
    help="Whether template and sentence become tokens as one string or each by itself.",
)
@click.option(
    "--labels",
    type=click.Choice(["first", "sum"]),
    default="first",
    show_default=True,
    help="Count a label as it is written, or in any case and with or without a space.",
)
@click.option(
    "--both-orders", is_flag=True, help="Ask which of two sentences is better in both orders, not in one drawn."
)
@click.option("--as-released", is_flag=True, help="As the code of Ide et al., for their numbers: see docs/judging.md.")
@click.option(
    "--chat/--no-chat",
    default=None,
    help="Ask by the model's chat template or not.  [default: by it where there is one]",
)
@comparing_options
@click.option(
    "--ensemble",
    "votes",
    multiple=True,
    metavar="METHOD:N[,METHOD:N]",
    callback=members,
    help="A majority vote of so many templates.  [default: five of yes_no, five of template_lp, three and two, two and three]",
)
@click.option(
    "--select",
    multiple=True,
    type=click.Choice([*SELECT]),
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
@judge_sessions.options_of_sessions
@functools.partial(scoring_options, without=["unigrams"])
def command(
    scoring: Scoring,
    models: tuple[str, ...],
    chosen: tuple[str, ...],
    sources: tuple[Path, ...],
    ids: tuple[str, ...],
    comparing: Comparing,
    votes: list[dict[str, int]] | None,
    select: tuple[str, ...],
    draws: int | None,
    seed: int,
    participants: int | None,
    independent: bool,
    most_probable: bool,
    **how: Any,
) -> None:
    """Write the tables judgments and method_accuracies of the minimal pairs in MATERIALS; print the accuracy of each method.

    Beside them come answer_shares, method_length_bias, votes of several templates (ensembles), method_comparisons against log
    probability, method_differences, and method_groups. Without --model the judgments of --beside are compared again.

    A model that cannot be asked is named and the others go on; so is an item that cannot be judged.

    With a STUDY.toml in place of MATERIALS models take part in it as people do: their sessions (for collect), these as text, and
    the table model_answers are written. With a folder of people's sessions, or sessions as text (JSON lines), the table
    session_likelihoods says how probable the models find the answers.
    """
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.study.table_files import refuse_tables

    if not models and not comparing.beside:
        raise click.UsageError("Missing option '--model', or --beside for judgments of an earlier run")
    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: a model is given twice; expected each once")
    if judge_sessions.judged(
        scoring, models, judge_sessions.Taking(participants or 0, seed, independent, most_probable)
    ):
        return
    refuse_tables(scoring.out, "judge", scoring.force)
    templates = _only(lmscore.read_templates(*sources), ids)
    earlier = comparing.earlier("judgments")
    read = scoring.read()
    scoring.say_drafted(read, models)
    comparing.known(read)  # says what is wrong with it before the work
    work = functools.partial(_judged, scoring, read, chosen=chosen, templates=templates, seed=seed, **how)
    done, failed = scoring.each_model(models, work)
    parts, described = [part for part, _ in done], [facts for _, facts in done]
    files = [file for source in sources for file in ([source] if source.is_file() else sorted(source.rglob("*.*")))]
    scoring = replace(scoring, materials=(*scoring.materials, *files, *comparing.groups))
    everything = study.check(pd.concat([*parts, *earlier], ignore_index=True), "judgments")
    items = {*everything["item"]}
    judged = tuple(item for item in read.items if item.id in items)
    known = comparing.known(replace(read, items=judged))
    chosen_on = [SELECT[name] for name in select]
    compared = all_comparisons.judged(everything, known, votes=votes, select=chosen_on, draws=draws or 0, seed=seed)
    tables = {**({"judgments": pd.concat(parts, ignore_index=True)} if parts else {}), **compared}
    notes = {"models": described, "failed": failed, "both_orders": how["both_orders"]}
    for table, frame in tables.items():
        scoring.write(frame, table, notes, seed)
    if scoring.as_json:
        rows = {name: json.loads(frame.to_json(orient="records")) for name, frame in compared.items()}
        click.echo(json.dumps({**rows, **notes}, ensure_ascii=False, indent=1))
    else:
        _print(compared)
    scoring.say_failed(failed, len(done))


def _print(compared: "Mapping[str, pd.DataFrame]") -> None:
    """Print the accuracy of each method and template, and a sentence for each vote and each comparison of methods."""
    from gardenpath.analysis.reporting.wording import judgments

    overall = compared["method_accuracies"].query("phenomenon == 'all'")
    shown = overall[["model", "method", "template", "n", "ties", "unread", "accuracy", "sd", "mean_accuracy", "mass"]]
    click.echo(shown.to_string(index=False, float_format="%.3f", na_rep=""))
    for name, sentences in {
        "ensembles": judgments.ensembles,
        "method_comparisons": judgments.method_comparisons,
        "answer_shares": judgments.answer_shares,
        "method_groups": judgments.groups,
    }.items():
        for sentence in sentences(compared[name]) if name in compared else ():
            click.echo(sentence)


def _only(templates: "tuple[Template, ...]", ids: tuple[str, ...]) -> "list[Template]":
    """Return the templates of some ids, or all."""
    kept = [one for one in templates if not ids or one.id in ids]
    if lacking := [name for name in ids if name not in {one.id for one in templates}]:
        known = ", ".join(sorted({one.id for one in templates}))
        raise click.UsageError(f"--template {lacking[0]}: no template has this id; expected one of {known}")
    return kept


def _judged(
    scoring: Scoring, read: "Materials", name: str, revision: str | None, chosen: tuple[str, ...], **how: Any
) -> "tuple[pd.DataFrame, dict[str, object]]":
    """Return one model's judgments, and what a sidecar says of it and of how it was asked."""
    from gardenpath import lmscore

    loaded = scoring.load(name, revision)
    protocol = scoring.how(loaded)["protocol"]
    with options.progress("pairs", 1) as move:
        table = lmscore.judge(
            read, loaded, chosen or None, protocol=protocol, batch_tokens=scoring.batch_tokens, progress=move, **how
        )
    facts = {**loaded.describe(), "asked": table.attrs["asked"], "left_out": table.attrs["left_out"]}
    table.attrs.clear()
    return table, facts
