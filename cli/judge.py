"""gardenpath judge: language models judge minimal pairs as people are asked, by prompts and templates."""

import functools
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .score import MODEL, Scoring, scoring_options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Template
    from gardenpath.stimuli import Materials


def methods() -> list[str]:
    """Return the methods by which sentences are judged."""
    from gardenpath.study.judgment_methods import METHODS

    return list(METHODS)


@click.command("judge")
@click.option("--model", "models", multiple=True, required=True, metavar="M", help=f"{MODEL} Several may be given.")
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
@click.option("--seed", type=int, default=1, show_default=True, help="Draws which of two sentences stands first.")
@functools.partial(scoring_options, without=["unigrams"])
def command(
    scoring: Scoring,
    models: tuple[str, ...],
    chosen: tuple[str, ...],
    sources: tuple[Path, ...],
    ids: tuple[str, ...],
    seed: int,
    **how: Any,
) -> None:
    """Write the tables judgments and method_accuracies of the minimal pairs in MATERIALS; print the accuracy of each method.

    Beside them come answer_shares, method_length_bias, and with several methods votes of templates (ensembles) and comparisons.

    A model that cannot be asked is named and the others go on; so is an item that cannot be judged.
    """
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.analysis.comparing import all_comparisons
    from gardenpath.study.table_files import refuse_tables

    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: a model is given twice; expected each once")
    refuse_tables(scoring.out, "judge", scoring.force)
    templates = _only(lmscore.read_templates(*sources), ids)
    read = scoring.read()
    parts: list[pd.DataFrame] = []
    described, failed = [], []
    for name, revision in itertools.product(models, scoring.revisions or (None,)):
        called = f"{name}@{revision}" if revision else name
        try:
            part, facts = _judged(scoring, read, name, revision, chosen, templates=templates, seed=seed, **how)
        except (ValueError, MemoryError, study.DataError) as error:
            if len(models) * max(1, len(scoring.revisions)) == 1:
                raise
            failed.append(f"{called}: {error}")
            options.talk(f"left out: {failed[-1]}")
            continue
        parts.append(part)
        described.append(facts)
    if not parts:
        raise study.DataError(failed)
    files = [file for source in sources for file in ([source] if source.is_file() else sorted(source.rglob("*.*")))]
    scoring = replace(scoring, materials=(*scoring.materials, *files))
    judgments = pd.concat(parts, ignore_index=True)
    tables = {"judgments": judgments, **all_comparisons.judged(judgments, all_comparisons.Beside(), seed=seed)}
    notes = {"models": described, "failed": failed, "both_orders": how["both_orders"]}
    for table, frame in tables.items():
        scoring.write(frame, table, notes, seed)
    del tables["judgments"]
    if scoring.as_json:
        rows = {name: json.loads(frame.to_json(orient="records")) for name, frame in tables.items()}
        click.echo(json.dumps({**rows, **notes}, ensure_ascii=False, indent=1))
    else:
        overall = tables["method_accuracies"].query("phenomenon == 'all'")
        shown = overall[
            ["model", "method", "template", "n", "ties", "unread", "accuracy", "sd", "mean_accuracy", "mass"]
        ]
        click.echo(shown.to_string(index=False, float_format="%.3f", na_rep=""))
    if failed:
        raise study.DataError([f"{len(failed)} of {len(failed) + len(parts)} models could not be asked", *failed])


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
    called = f"{loaded.name}@{revision}" if revision else loaded.name
    facts = {**loaded.describe(), "called": called, "asked": table.attrs["asked"], "left_out": table.attrs["left_out"]}
    table.attrs.clear()
    return table.assign(model=called), facts
