"""gardenpath extract: agreement pairs out of treebanks and tables of forms."""

import gc
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli.treebanks.extraction import Extraction
    from gardenpath.stimuli.treebanks.sources import Sources

FILES = ("items.jsonl", "pool.jsonl")
LAST = "conditions_by_language"
TABLES = ("agreement", "rejected", LAST)
STRICT = {"NC", "ND", "GPL", "LGPLLR", "GNU"}  # parts of licences that do not allow every use, or ask for the same one
GROUPS = ("family", "resource")


def known() -> list[str]:
    """Return what can agree with a subject."""
    from gardenpath.stimuli.treebanks.phenomena import PHENOMENA

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
@click.option(
    "--all", "every", is_flag=True, help="Every language that has a treebank; what is done is not done again."
)
@click.option(
    "--phenomenon",
    "phenomena",
    multiple=True,
    type=options.OneOf(known),
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
    "--subjects",
    type=click.Choice(["all", "noun"]),
    default="all",
    show_default=True,
    help="Nouns and pronouns, or nouns.",
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
@click.option("--distinct", is_flag=True, help="Draw each sentence once at most, as a study with people asks for.")
@click.option(
    "--skip-bad", is_flag=True, help="Leave out a treebank that cannot be read, and name it; with --all always."
)
@options.out
@options.force
def command(out: Path, language: str | None, every: bool, force: bool, languages: Path | None, **how: Any) -> None:
    """Make minimal pairs of agreement out of treebanks, in any language that has one.

    Sentences are the treebank's own. Beside the pairs drawn, which are balanced (items.jsonl), are all that there are
    (pool.jsonl) and the tables agreement (whether the language has it), conditions_by_language and rejected (every
    subject without a pair, and why). With --all each language has a folder, and language_counts says how many languages
    have a phenomenon.
    """
    if every == (language is not None):
        raise click.UsageError("expected --language CODE or --all, one of the two")
    if every:
        return _all(out, languages, how)
    from gardenpath import study

    files = [out / name for name in (*FILES, *map("{}.csv".format, TABLES))]
    study.files.refuse_overwrite(files, force)
    with options.progress("files of trees", 1) as move:
        done = _extracted(out, {**how, "language": language}, _groups(languages), move)
    _say(done)
    if not done.materials.items:
        raise study.DataError(_nothing(done, out, how["minimum"]))
    return None


def _extracted(
    folder: Path,
    how: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, str]],
    move: "Callable[[int, int], None] | None" = None,
) -> "Extraction":
    """Extract the pairs of a language and write them; the table by which a run is known to be whole comes last."""
    from gardenpath import stimuli, study

    gc.freeze()  # what is imported need not be looked through for garbage while trees are read: a tenth of the time
    done = stimuli.extract(**how, progress=move)
    code = done.language
    for column in GROUPS:
        done.tables["conditions_by_language"][column] = groups.get(code, {}).get(column)
    about: dict[str, Any] = {
        "command": options.typed(),
        "inputs": done.inputs,
        "seed": how["seed"],
        "notes": done.notes,
    }
    for name, materials in zip(FILES, (done.materials, done.pool), strict=True):
        (folder / name).unlink(missing_ok=True)
        if materials.items:
            stimuli.write(materials, folder / name)
            study.files.write_sidecar(folder / name, **about)
    study.table_files.write_parts([{name: done.tables[name] for name in TABLES}], folder, **about)
    return done


def _nothing(done: "Extraction", folder: Path, minimum: int) -> str:
    """Return why there are no pairs, and what to do."""
    if done.pool.items:
        most = int(done.tables["conditions_by_language"]["pool"].max())
        return (
            f"{folder}: no condition has {minimum} pairs, the largest {most}; take smaller ones with  --minimum {most}"
        )
    reasons = ", ".join(f"{count} {reason}" for reason, count in _reasons(done)[:3]) or "no subject in any tree"
    return f"{folder}: no pair in {done.language}: {reasons}; {folder / 'rejected.csv'} has every subject"


def _reasons(done: "Extraction") -> list[tuple[str, int]]:
    counts = done.tables["rejected"]["reason"].value_counts(sort=True)
    return [(str(reason), int(count)) for reason, count in counts.items()]


def _say(done: "Extraction") -> None:
    """Print the conditions, and say what was read, what was left out, and under which licences the pairs stand."""
    for bank in done.notes["treebanks"]:
        left = ", ".join(f"{count} {reason}" for reason, count in bank["left_out"].items())
        options.talk(
            f"{bank['treebank']} ({bank['licence'] or 'licence unknown'}): {options.count(bank['trees'], 'tree')}"
            + (f"; left out {left}" if left else "")
        )
    for name, reason in done.notes["not_taken"].items():
        options.talk(f"not taken: {name}: {reason}")
    forms = done.notes["forms"]
    found = ", ".join(
        f"{count / max(forms['agreeing_words'], 1):.0%} in {name}" for name, count in forms["with_entries"].items()
    )
    tables = ", ".join(forms["files"]) or "no table of UniMorph"
    options.talk(f"forms: {tables}; of {forms['agreeing_words']} agreeing words {found or 'none'}")
    if forms["unknown_tags"]:
        options.talk(
            f"unknown tags of UniMorph: {', '.join(f'{tag} ({count})' for tag, count in forms['unknown_tags'].items())}"
        )
    if mixed := _restricted(bank["licence"] for bank in done.notes["treebanks"]):
        options.talk(mixed)
    table = done.tables["conditions_by_language"].drop(columns=["language", *GROUPS])
    if len(table):
        click.echo(options.aligned([[*table.columns], *table.astype(str).to_numpy().tolist()]))
    rejected = ", ".join(f"{count} {reason}" for reason, count in _reasons(done))
    options.talk(f"{len(done.pool.items)} pairs, {len(done.materials.items)} drawn; no pair: {rejected or 'none'}")


def _restricted(licences: Iterable[str | None]) -> str | None:
    """Return that pairs are under several licences, or one that does not allow every use, or an unknown one."""
    named = sorted({licence or "unknown" for licence in licences})
    careful = [name for name in named if name == "unknown" or set(re.split(r"[\W_]+", name)) & STRICT]
    if len(named) == 1 and not careful:
        return None
    return (
        f"licences of the sentences: {', '.join(named)}"
        + (f"; look at {', '.join(careful)} before you share them" if careful else "")
        + "; --licence takes one"
    )


def _groups(path: Path | None) -> dict[str, dict[str, str]]:
    """Return family and resource class of each language that a table of the user's has."""
    if path is None:
        return {}
    from gardenpath import study
    from gardenpath.stimuli.treebanks.folders import language_code

    table = study.table_files.read_csv(path)
    if "language" not in table or not {*GROUPS} & {*table}:
        raise study.DataError(
            f"{path}: the columns are {', '.join(map(str, table))}; expected language with {' or '.join(GROUPS)}, or both"
        )
    strange = [name for name in table["language"] if not language_code(name)]
    if strange:
        raise study.DataError(f"{path}: language is {strange[0]!r}; expected an ISO 639 code, as in nld or nl")
    return {
        language_code(row["language"]): {column: row[column] for column in GROUPS if row.get(column)}
        for row in table.to_dict("records")
    }


def _all(out: Path, languages: Path | None, how: dict[str, Any]) -> None:
    """Extract the pairs of every language, each in a folder of its own, and count the languages that have a phenomenon."""
    import pandas as pd

    from gardenpath import stimuli, study
    from gardenpath.stimuli.treebanks.folders import languages_of
    from gardenpath.stimuli.treebanks.sources import sources

    groups = _groups(languages)
    codes = languages_of(how["ud"], how["tables"])
    failed, tables = [], []
    with options.progress("languages", len(codes)) as move:
        for number, code in enumerate(codes, start=1):
            asked = {**how, "language": code, "skip_bad": True}
            try:
                taken = sources(how["ud"], how["unimorph"], language=code, licences=how["licences"], own=how["tables"])
            except study.DataError as error:  # none of them is under the licence
                options.talk(str(error))
                move(number, len(codes))
                continue
            try:
                if not _is_done(out / code, taken, asked):
                    done = _extracted(out / code, asked, groups)
                    options.talk(f"{code}: {len(done.pool.items)} pairs, {len(done.materials.items)} drawn")
                tables.append(study.read(out / code, LAST))
            except (study.DataError, OSError) as error:
                failed.append(f"{code}: {error}")
                options.talk(f"left out: {failed[-1]}")
            move(number, len(codes))
    if not tables:
        raise study.DataError(failed or f"{how['ud']}: no treebank of any language")
    together = pd.concat(tables, ignore_index=True)
    for column in GROUPS:
        together[column] = [groups.get(code, {}).get(column) for code in together["language"]]
    counts = stimuli.language_counts(together)
    for name, table in {LAST: together, "language_counts": counts}.items():
        study.write(
            table,
            name,
            out,
            command=options.typed(),
            seed=how["seed"],
            notes={"failed": failed, "languages": len(tables)},
        )
    click.echo(options.aligned([[*counts.columns], *counts.astype(str).to_numpy().tolist()]))
    if failed:
        raise study.DataError([f"{len(failed)} of {len(codes)} languages were left out", *failed])


def _is_done(folder: Path, taken: "Sources", asked: Mapping[str, Any]) -> bool:
    """Whether a folder holds the pairs of the same files, made in the same way by the same version."""
    from gardenpath import study
    from gardenpath.stimuli.treebanks.extraction import as_asked

    said: Any = study.files.read_sidecar(folder / f"{LAST}.csv")
    if not said:
        return False
    now = {path.name: study.files.sha256(path) for path in taken.inputs}
    given = as_asked(
        **{key: value for key, value in asked.items() if key not in ("ud", "unimorph", "language", "tables")}
    )
    version = study.files.versions()["gardenpath"]
    return bool((said["inputs"], said["asked"], said["versions"]["gardenpath"]) == (now, given, version))
