"""Formats of materials: each is a module, or a corpus of the table in `corpora`, listed here in one tuple."""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gardenpath import study

from ..findings import Finding
from ..items import Materials, SourceLine
from . import (
    blimp,
    blimp_nl,
    clams,
    corpora,
    gulordava,
    items_jsonl,
    linzen,
    marked_csv,
    multiblimp,
    pcibex,
    plain_pairs,
    syntaxgym,
    turktools,
)
from .mapped_tables import apply_mapping
from .sentence_rows import SentenceRows, assemble_materials
from .workbooks import is_workbook, read_workbook_text

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")


class Format(Protocol):
    """What a format does; `list_losses` says what it cannot hold of the materials."""

    @property
    def NAME(self) -> str: ...

    @property
    def SUFFIX(self) -> str: ...

    def recognises(self, text: str) -> bool: ...

    def read(self, text: str, file: str) -> SentenceRows: ...

    def write(self, materials: Materials) -> str: ...

    def list_losses(self, materials: Materials) -> list[str]: ...


# Of the formats with one suffix, the first is written to a file of that suffix.
FORMATS: tuple[Format, ...] = (
    items_jsonl,
    marked_csv,
    blimp,
    blimp_nl,
    plain_pairs,
    multiblimp,
    *corpora.CORPORA,
    syntaxgym,
    linzen,
    gulordava,
    clams,
    pcibex,
    turktools,
)
UNKNOWN_LANGUAGE = "und"  # the language of items of which nobody has said it
PICKLE_PATTERN = re.compile(rb"\x80[\x02-\x05]|[(](?:dp|lp)\d+\n|[]}]q")


def get_format(name: str) -> Format:
    """Return the format of that name."""
    for module in FORMATS:
        if name == module.NAME:
            return module
    raise ValueError(f"format {name!r} is not known; expected one of {', '.join(m.NAME for m in FORMATS)}")


def recognise_format(text: str, file: str) -> Format:
    """Return the format that recognises the text."""
    matches = [module for module in FORMATS if module.recognises(text)]
    for general in (marked_csv, plain_pairs):  # the source format claims every table of sentences, to name what it lacks
        if len(matches) > 1:
            matches = [module for module in matches if module is not general]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise study.DataError(f"{file}: this may be {' or '.join(m.NAME for m in matches)}; name the format")
    header, _, rest = text.partition("\n")
    commas = [module.NAME for module in FORMATS if module.recognises(f"{header.replace(';', ',')}\n{rest}")]
    if ";" in header and commas:
        raise study.DataError(
            f"{file}: a table of the format {' or '.join(commas)} with semicolons between its columns, as Excel writes in some "
            "countries; expected commas: save it with commas, or as text with tabs"
        )
    if marked_csv.nearly_recognises(text):
        return marked_csv
    first = header[:60]
    names = ", ".join(m.NAME for m in FORMATS)
    raise study.DataError(
        f"{file}: the format is not recognised from its first line {first!r}; name it: {names}; "
        "a table with other columns is read by a mapping file, as in  gardenpath convert TABLE items.csv --mapping map.toml"
    )


def read_table_text(source: "str | Path | pd.DataFrame") -> tuple[str, str]:
    """Return the text of a file, or of a table in memory as a CSV file holds it, and what messages call it."""
    if isinstance(source, str | Path):
        return read_workbook_text(source) if is_workbook(source) else _read_text(source), str(source)
    return source.to_csv(index=False, lineterminator="\n"), "(table)"


def _read_text(path: str | Path) -> str:
    """Return the text of a file; a pickle is refused before it is loaded."""
    if Path(path).is_dir():
        files = ", ".join(sorted(entry.name for entry in Path(path).iterdir() if entry.is_file())) or "nothing"
        raise IsADirectoryError(f"{path}: a folder; expected files of materials: it holds {files}")
    with open(path, "rb") as stream:
        start = stream.read(80)
    if PICKLE_PATTERN.match(start):
        raise study.DataError(
            f"{path}: a pickle, as of Marvin and Linzen's templates, is not read: loading one runs whatever code is in it.\n"
            "If you trust where it is from, load it where it can do no harm (a throwaway container without network and data) and "
            "write each (good, bad) as two columns with a tab between them, under the header 'grammatical<tab>ungrammatical'"
        )
    return study.files.read_text(path)


def examine(
    *paths: "str | Path | pd.DataFrame", format: str | None = None, language: str | None = None, mapping: str | Path | None = None
) -> tuple[Materials, list[Finding]]:
    """Return what can be read of the files, and a finding for everything that cannot.

    `language` is that of items of which their file states none; where it is not given, they are English in our own formats, and of
    other corpora and labs unknown ('und'). `mapping` is a file that says what the columns of tables of another lab are.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli
    >>> materials, findings = stimuli.examine(files("gardenpath.examples") / "minimal-pairs" / "items.csv")
    >>> len(materials.items), findings
    (120, [])
    """
    all_rows = SentenceRows()
    for path in paths:
        text, file = read_table_text(path)
        text = apply_mapping(text, file, mapping) if mapping is not None else text
        module = get_format(format) if format else recognise_format(text, file)
        rows = module.read(text, file)
        if not rows.rows and not rows.findings:
            rows.add_fault(SourceLine(file, 1), "no sentences; expected at least one item")
        all_rows.rows += rows.rows
        all_rows.paradigms |= rows.paradigms
        all_rows.findings += rows.findings
        all_rows.faulty_items |= rows.faulty_items
        del text, rows  # what is kept of them stands in `all_rows`
    if language:
        all_rows.rows = [replace(row, language="") if row.language == UNKNOWN_LANGUAGE else row for row in all_rows.rows]
    materials = assemble_materials(all_rows, language or ("en" if mapping is None else UNKNOWN_LANGUAGE))
    return materials, sorted(all_rows.findings, key=lambda f: (f.file, f.line))


def read(
    *paths: "str | Path | pd.DataFrame",
    format: str | None = None,
    language: str | None = None,
    mapping: str | Path | None = None,
    skip_bad: bool = False,
) -> Materials:
    """Return the materials of one or more files, or tables in memory; the format is recognised from the content unless named.

    `language` is that of items of which their file states none; `mapping` a file that says what the columns of tables of another
    lab are. `skip_bad` leaves out what cannot be read, each named on the log.

    Raises `study.DataError` with every error of every file, each with its line; warnings go to the log, a line for each kind and
    file with its number and its first case (`examine` returns them all).

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli
    >>> materials = stimuli.read(files("gardenpath.examples") / "minimal-pairs" / "items.csv")
    >>> materials.items[0].sentences["grammatical"].text
    'No student in the seminar has ever complained about the weekly readings.'
    """
    materials, findings = examine(*paths, format=format, language=language, mapping=mapping)
    errors = [str(finding) for finding in findings if finding.severity == "error"]
    if errors and not skip_bad:
        raise study.DataError(errors)
    for error in errors:
        log.warning("left out: %s", error)
    _log_findings([finding for finding in findings if finding.severity != "error"])
    return materials


def read_study(config: study.Study) -> Materials:
    """Return the materials that a study.toml names; raises `study.DataError` as `read` does.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli, study
    >>> len(stimuli.read_study(study.load(files("gardenpath.examples") / "minimal-pairs")).items)
    120
    """
    return read(
        *config.list_material_paths(),
        language=config.language,
        mapping=config.resolve_mapping_path(),
        skip_bad=config.materials.skip_bad,
    )


def _log_findings(findings: Sequence[Finding]) -> None:
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.file, finding.rule), []).append(finding)
    for (_, rule), cases in kinds.items():
        log.warning("%s%s", cases[0], f" ({len(cases)} cases of {rule} in this file)" if len(cases) > 1 else "")


def write(materials: Materials, path: str | Path, format: str | None = None) -> list[str]:
    """Write materials to `path` and return what the format cannot hold; the suffix names the format unless given.

    >>> from importlib.resources import files
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import stimuli
    >>> materials = stimuli.read(files("gardenpath.examples") / "minimal-pairs" / "items.csv")
    >>> with TemporaryDirectory() as folder:
    ...     stimuli.write(materials, Path(folder, "pairs.jsonl"), format="blimp")
    ['regions of 240 sentences']
    """
    path = Path(path)
    module = get_format(format) if format else next((m for m in FORMATS if path.suffix == m.SUFFIX), None)
    if module is None:
        raise ValueError(f"{path}: no format has this suffix; name one of {', '.join(m.NAME for m in FORMATS)}")
    study.files.write_text(path, module.write(materials))
    return module.list_losses(materials)


__all__ = ["FORMATS", "examine", "get_format", "read", "read_study", "recognise_format", "write"]
