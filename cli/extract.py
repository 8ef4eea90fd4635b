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

MATERIALS_FILES = ("items.jsonl", "pool.jsonl")
CONDITIONS_TABLE = "conditions_by_language"
OUTPUT_TABLES = ("agreement_tests", "rejected_subjects", CONDITIONS_TABLE)
RESTRICTIVE_LICENCE_PARTS = {
    "NC",
    "ND",
    "GPL",
    "LGPLLR",
    "GNU",
}  # parts of licences that do not allow every use, or ask for the same one
LANGUAGE_GROUP_COLUMNS = ("family", "resource")


def list_phenomena() -> list[str]:
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
@click.option("--all", "every", is_flag=True, help="Every language that has a treebank; what is done is not done again.")
@click.option(
    "--phenomenon",
    "phenomena",
    multiple=True,
    type=options.LazyChoice(list_phenomena),
    help="What agrees: subject and verb (sv) or participle (sp); may be given several times.  [default: all]",
)
@click.option("--cap", type=click.IntRange(min=0), default=100, show_default=True, help="Pairs drawn of a condition; 0: all.")
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
    "--forms", type=click.Choice(["both", "unimorph", "ud"]), default="both", show_default=True, help="Where other forms come from."
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
@click.option("--skip-bad", is_flag=True, help="Leave out a treebank that cannot be read, and name it; with --all always.")
@options.output_path
@options.force
def command(out: Path, language: str | None, every: bool, force: bool, languages: Path | None, **settings: Any) -> None:
    """Make minimal pairs of agreement out of treebanks, in any language that has one.

    Sentences are the treebank's own. Beside the pairs drawn, which are balanced (items.jsonl), are all that there are
    (pool.jsonl) and the tables agreement_tests (whether the language has it), conditions_by_language and rejected_subjects
    (every subject without a pair, and why). With --all each language has a folder, and language_counts says how many
    languages have a phenomenon.
    """
    if every == (language is not None):
        raise click.UsageError("expected --language CODE or --all, one of the two")
    if every:
        return _extract_all_languages(out, languages, settings)
    from gardenpath import study

    files = [out / name for name in (*MATERIALS_FILES, *map("{}.csv".format, OUTPUT_TABLES))]
    study.files.refuse_overwrite(files, force)
    with options.show_progress("files of trees", 1) as move:
        extraction = _extract_language(out, {**settings, "language": language}, _read_language_groups(languages), move)
    _print_extraction(extraction)
    if not extraction.materials.items:
        raise study.DataError(_explain_no_pairs(extraction, out, settings["minimum"]))
    return None


def _extract_language(
    folder: Path,
    settings: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, str]],
    move: "Callable[[int, int], None] | None" = None,
) -> "Extraction":
    """Extract the pairs of a language and write them; the table by which a run is known to be whole comes last."""
    from gardenpath import stimuli, study

    gc.freeze()  # what is imported need not be looked through for garbage while trees are read: a tenth of the time
    extraction = stimuli.extract(**settings, progress=move)
    code = extraction.language
    for column in LANGUAGE_GROUP_COLUMNS:
        extraction.tables["conditions_by_language"][column] = groups.get(code, {}).get(column)
    sidecar: dict[str, Any] = {
        "command": options.format_command_line(),
        "inputs": extraction.inputs,
        "seed": settings["seed"],
        "notes": extraction.notes,
    }
    for name, materials in zip(MATERIALS_FILES, (extraction.materials, extraction.pool), strict=True):
        (folder / name).unlink(missing_ok=True)
        if materials.items:
            stimuli.write(materials, folder / name)
            study.files.write_sidecar(folder / name, **sidecar)
    study.table_files.write_parts([{name: extraction.tables[name] for name in OUTPUT_TABLES}], folder, **sidecar)
    return extraction


def _explain_no_pairs(extraction: "Extraction", folder: Path, minimum: int) -> str:
    """Return why there are no pairs, and what to do."""
    if extraction.pool.items:
        largest = int(extraction.tables["conditions_by_language"]["n_found"].max())
        return f"{folder}: no condition has {minimum} pairs, the largest {largest}; take smaller ones with  --minimum {largest}"
    reasons = (
        ", ".join(f"{count} {reason}" for reason, count in _count_rejection_reasons(extraction)[:3]) or "no subject in any tree"
    )
    return f"{folder}: no pair in {extraction.language}: {reasons}; {folder / 'rejected_subjects.csv'} has every subject"


def _count_rejection_reasons(extraction: "Extraction") -> list[tuple[str, int]]:
    counts = extraction.tables["rejected_subjects"]["reason"].value_counts(sort=True)
    return [(str(reason), int(count)) for reason, count in counts.items()]


def _print_extraction(extraction: "Extraction") -> None:
    """Print the conditions, and say what was read, what was left out, and under which licences the pairs stand."""
    for treebank in extraction.notes["treebanks"]:
        left_out = ", ".join(f"{count} {reason}" for reason, count in treebank["left_out"].items())
        options.print_notice(
            f"{treebank['treebank']} ({treebank['licence'] or 'licence unknown'}): "
            f"{options.format_count(treebank['trees'], 'tree')}" + (f"; left out {left_out}" if left_out else "")
        )
    for name, reason in extraction.notes["not_taken"].items():
        options.print_notice(f"not taken: {name}: {reason}")
    forms = extraction.notes["forms"]
    found = ", ".join(f"{count / max(forms['agreeing_words'], 1):.0%} in {name}" for name, count in forms["with_entries"].items())
    tables = ", ".join(forms["files"]) or "no table of UniMorph"
    options.print_notice(f"forms: {tables}; of {forms['agreeing_words']} agreeing words {found or 'none'}")
    if forms["unknown_tags"]:
        options.print_notice(
            f"unknown tags of UniMorph: {', '.join(f'{tag} ({count})' for tag, count in forms['unknown_tags'].items())}"
        )
    if licence_limits := _describe_licence_limits(treebank["licence"] for treebank in extraction.notes["treebanks"]):
        options.print_notice(licence_limits)
    table = extraction.tables["conditions_by_language"].drop(columns=["language", *LANGUAGE_GROUP_COLUMNS])
    if len(table):
        click.echo(options.format_columns([[*table.columns], *table.astype(str).to_numpy().tolist()]))
    rejected = ", ".join(f"{count} {reason}" for reason, count in _count_rejection_reasons(extraction))
    options.print_notice(
        f"{len(extraction.pool.items)} pairs, {len(extraction.materials.items)} drawn; no pair: {rejected or 'none'}"
    )


def _describe_licence_limits(licences: Iterable[str | None]) -> str | None:
    """Return that pairs are under several licences, or one that does not allow every use, or an unknown one."""
    names = sorted({licence or "unknown" for licence in licences})
    restrictive = [name for name in names if name == "unknown" or set(re.split(r"[\W_]+", name)) & RESTRICTIVE_LICENCE_PARTS]
    if len(names) == 1 and not restrictive:
        return None
    return (
        f"licences of the sentences: {', '.join(names)}"
        + (f"; look at {', '.join(restrictive)} before you share them" if restrictive else "")
        + "; --licence takes one"
    )


def _read_language_groups(path: Path | None) -> dict[str, dict[str, str]]:
    """Return family and resource class of each language that a table of the user's has."""
    if path is None:
        return {}
    from gardenpath import study
    from gardenpath.stimuli.treebanks.treebank_folders import find_language_code

    table = study.table_files.read_csv(path)
    if "language" not in table or not {*LANGUAGE_GROUP_COLUMNS} & {*table}:
        raise study.DataError(
            f"{path}: the columns are {', '.join(map(str, table))}; expected language with "
            f"{' or '.join(LANGUAGE_GROUP_COLUMNS)}, or both"
        )
    unknown_codes = [name for name in table["language"] if not find_language_code(name)]
    if unknown_codes:
        raise study.DataError(f"{path}: language is {unknown_codes[0]!r}; expected an ISO 639 code, as in nld or nl")
    return {
        find_language_code(row["language"]): {column: row[column] for column in LANGUAGE_GROUP_COLUMNS if row.get(column)}
        for row in table.to_dict("records")
    }


def _extract_all_languages(out: Path, languages: Path | None, settings: dict[str, Any]) -> None:
    """Extract the pairs of every language, each in a folder of its own, and count the languages that have a phenomenon."""
    import pandas as pd

    from gardenpath import stimuli, study
    from gardenpath.stimuli.treebanks.sources import find_sources
    from gardenpath.stimuli.treebanks.treebank_folders import list_languages

    groups = _read_language_groups(languages)
    codes = list_languages(settings["ud"], settings["tables"])
    failed, tables = [], []
    with options.show_progress("languages", len(codes)) as move:
        for number, code in enumerate(codes, start=1):
            language_settings = {**settings, "language": code, "skip_bad": True}
            try:
                language_sources = find_sources(
                    settings["ud"],
                    settings["unimorph"],
                    language=code,
                    licences=settings["licences"],
                    user_tables=settings["tables"],
                )
            except study.DataError as error:  # none of them is under the licence
                options.print_notice(str(error))
                move(number, len(codes))
                continue
            try:
                if not _is_done(out / code, language_sources, language_settings):
                    extraction = _extract_language(out / code, language_settings, groups)
                    options.print_notice(f"{code}: {len(extraction.pool.items)} pairs, {len(extraction.materials.items)} drawn")
                tables.append(study.read(out / code, CONDITIONS_TABLE))
            except (study.DataError, OSError) as error:
                failed.append(f"{code}: {error}")
                options.print_notice(f"left out: {failed[-1]}")
            move(number, len(codes))
    if not tables:
        raise study.DataError(failed or f"{settings['ud']}: no treebank of any language")
    all_conditions = pd.concat(tables, ignore_index=True)
    for column in LANGUAGE_GROUP_COLUMNS:
        all_conditions[column] = [groups.get(code, {}).get(column) for code in all_conditions["language"]]
    counts = stimuli.compute_language_counts(all_conditions)
    for name, table in {CONDITIONS_TABLE: all_conditions, "language_counts": counts}.items():
        study.write(
            table,
            name,
            out,
            command=options.format_command_line(),
            seed=settings["seed"],
            notes={"failed": failed, "languages": len(tables)},
        )
    click.echo(options.format_columns([[*counts.columns], *counts.astype(str).to_numpy().tolist()]))
    if failed:
        raise study.DataError([f"{len(failed)} of {len(codes)} languages were left out", *failed])


def _is_done(folder: Path, language_sources: "Sources", language_settings: Mapping[str, Any]) -> bool:
    """Whether a folder holds the pairs of the same files, made in the same way by the same version."""
    from gardenpath import study
    from gardenpath.stimuli.treebanks.extraction import describe_request

    sidecar: Any = study.files.read_sidecar(folder / f"{CONDITIONS_TABLE}.csv")
    if not sidecar:
        return False
    input_hashes = {path.name: study.files.hash_file(path) for path in language_sources.inputs}
    settings = describe_request(
        **{key: value for key, value in language_settings.items() if key not in ("ud", "unimorph", "language", "tables")}
    )
    version = study.files.list_software_versions()["gardenpath"]
    return bool((sidecar["inputs"], sidecar["asked"], sidecar["versions"]["gardenpath"]) == (input_hashes, settings, version))
