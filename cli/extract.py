"""gardenpath extract: agreement pairs out of treebanks and tables of forms."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.stimuli.treebanks.extraction import Extraction

SHARED_LICENCES = ("NC", "ND", "GPL")  # what does not go with other licences, or not with every use


def phenomena() -> list[str]:
    """Return what can agree with a subject."""
    from gardenpath.stimuli.treebanks.extraction import PHENOMENA

    return list(PHENOMENA)


@click.command("extract")
@click.option(
    "--ud",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    required=True,
    metavar="DIR",
    help="Folder of Universal Dependencies treebanks, as unpacked, or of .conllu files.",
)
@click.option(
    "--unimorph",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Folder of UniMorph's tables (nld, nld/nld ...); without it forms come from the trees alone.",
)
@click.option("--language", metavar="CODE", help="Language, as in nld or nl (ISO 639).")
@click.option("--all", "every", is_flag=True, help="Every language that has a treebank; what is done is not done again.")
@click.option(
    "--phenomenon",
    "chosen",
    multiple=True,
    type=options.OneOf(phenomena),
    help="What agrees: subject and verb (sv) or participle (sp); may be given several times.  [default: all]",
)
@click.option(
    "--cap", type=click.IntRange(min=0), default=100, show_default=True, help="Pairs drawn of a condition; 0: all."
)
@click.option(
    "--minimum",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Pairs that a condition must have for any to be drawn.",
)
@click.option(
    "--licence",
    "licences",
    multiple=True,
    metavar="NAME",
    help="Take only treebanks under this licence, such as 'CC BY-SA 4.0'; may be given several times.",
)
@click.option(
    "--subjects", type=click.Choice(["all", "noun"]), default="all", show_default=True, help="Nouns and pronouns, or nouns."
)
@click.option("--passive", is_flag=True, help="Take subjects of passives (nsubj:pass) too.")
@click.option("--english-past", is_flag=True, help="Take English verbs in the past too: was and were.")
@click.option(
    "--forms",
    type=click.Choice(["both", "unimorph", "ud"]),
    default="both",
    show_default=True,
    help="Where other forms come from.",
)
@click.option(
    "--tables",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Data tables of your own, each in place of the one of its name that comes along (docs/treebanks.md).",
)
@click.option(
    "--languages",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="CSV of language, family and resource class, for the table of languages.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Draws pairs of each condition.")
@click.option("--skip-bad", is_flag=True, help="Leave out a treebank that cannot be read, and name it; with --all always.")
@options.out
@options.force
def command(
    out: Path, language: str | None, every: bool, force: bool, languages: Path | None, **how: Any
) -> None:
    """Make minimal pairs of agreement out of treebanks: items.jsonl, from sentences as their treebanks have them.

    Beside the pairs drawn, which are balanced, are all that there are (pool.jsonl) and the tables agreement (whether the
    language has it), conditions_by_language and rejected (every subject without a pair, and why). With --all each language has
    a folder, and language_counts says how many languages have a phenomenon.
    """
    from gardenpath import study

    if every == (language is not None):
        raise click.UsageError("expected --language CODE or --all, one of the two")
