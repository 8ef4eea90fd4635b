"""MultiBLiMP's tsv: agreement pairs of 101 languages (Jumelet et al. 2025, arXiv 2504.02768).

The critical region is the word that `swap_head` replaces, found by the prefix; the subject, `child`, is the cue where
the sentence holds it once. Every column is kept in the item's extra fields as it stands, cells that hold a dictionary
too. A paradigm is what the columns phenomenon, grammatical_feature, ungrammatical_feature, wo and inflect_item say,
or else the file's name; the language is in `lang`.
"""

import ast
from collections import Counter

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Region, SourceLine
from .csv_and_jsonl import format_table, read_header, read_table_rows
from .pair_rows import add_pair, get_file_stem, get_pair_texts, list_own_columns, select_minimal_pairs, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence, add_warning, locate_region

NAME = "multiblimp"
SUFFIX = ".tsv"
REQUIRED_COLUMNS = ("sen", "wrong_sen", "prefix", "child", "verb", "head", "swap_head")
PARADIGM_COLUMNS = ("phenomenon", "grammatical_feature", "ungrammatical_feature", "wo", "inflect_item")


def recognises(text: str) -> bool:
    """Whether the first line names MultiBLiMP's columns."""
    return set(REQUIRED_COLUMNS) <= set(read_header(text, "\t,")[0])


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a MultiBLiMP file; items are named by its index, or by their row where it repeats itself."""
    rows = SentenceRows()
    table_rows = list(read_table_rows(rows, text, file, REQUIRED_COLUMNS, "\t,"))
    names = [_build_paradigm_name(record, file) for _, _, record in table_rows]
    often = Counter((name, record.get("", "")) for name, (_, _, record) in zip(names, table_rows, strict=True))
    indexed = bool(often) and max(often.values()) == 1
    for name, (row, source_line, record) in zip(names, table_rows, strict=True):
        index = record.pop("", "")
        _add_pair(rows, source_line, record, name, index if indexed and index else str(row - 1))
    return rows


def _build_paradigm_name(record: dict[str, str], file: str) -> str:
    return (
        "_".join(filter(None, (record.get("lang"), *(record.get(k) for k in PARADIGM_COLUMNS))))
        if record.get(PARADIGM_COLUMNS[0])
        else get_file_stem(file)
    )


def _add_pair(rows: SentenceRows, source_line: SourceLine, record: dict[str, str], name: str, index: str) -> None:
    if not record["sen"] or not record["wrong_sen"]:
        return rows.add_fault(source_line, "sen or wrong_sen is empty; expected a sentence in each")
    paradigm, item, language = take_identity(record, name, index, find_language_tag(record.get("lang", "")))
    good = SourceSentence(source_line, paradigm, item, GRAMMATICAL, record["sen"], language)
    bad = SourceSentence(source_line, paradigm, item, UNGRAMMATICAL, record["wrong_sen"], language)
    for column, cell in record.items():
        if cell[:1] in ("{", "[") and not _is_literal(cell):
            add_warning(rows, good, "format", f"{column} is not written as a Python value: {cell[:40]!r}")
    critical = _find_critical_regions(rows, good, bad, record)
    regions = [
        tuple(sorted((*locate_region(rows, member, CUE, record["child"]), *marked), key=lambda region: region.start))
        for member, marked in ((good, critical[:1]), (bad, critical[1:]))
    ]
    extra = {column: text for column, text in record.items() if column not in ("sen", "wrong_sen")}
    return add_pair(rows, record.get("phenomenon") or "agreement", [good, bad], regions, {"index": index, **extra})


def _is_literal(cell: str) -> bool:
    try:
        ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _find_critical_regions(
    rows: SentenceRows, good: SourceSentence, bad: SourceSentence, record: dict[str, str]
) -> tuple[Region, ...]:
    """Return the region after the prefix in both sentences, where what follows is the same; else nothing, and a warning."""
    prefix, swapped = record["prefix"], record["swap_head"]
    start = len(prefix) + bad.text[len(prefix) :].startswith(" ")
    rest = bad.text[start + len(swapped) :]
    end = len(good.text) - len(rest)
    here = good.text[start:end].casefold()
    if (
        swapped
        and good.text.startswith(prefix)
        and bad.text.startswith(prefix)
        and bad.text[start : start + len(swapped)].casefold() == swapped.casefold()
        and good.text.endswith(rest)
        and here in {record.get(column, "").casefold() for column in ("head", "verb", "cop")} - {""}
    ):
        return Region(CRITICAL, start, end), Region(CRITICAL, start, start + len(swapped))
    add_warning(
        rows, bad, "region-not-found", f"{swapped!r} after {prefix!r} is not all that changes in {bad.text!r}; no region is marked"
    )
    return ()


def find_language_tag(code: str) -> str:
    """Return the language tag for an ISO 639-3 code: its two letters where it has some, 'und' for nothing.

    >>> find_language_tag("deu"), find_language_tag("hsb"), find_language_tag("")
    ('de', 'hsb', 'und')
    """
    if not code:
        return "und"
    import langcodes

    return langcodes.standardize_tag(code) if langcodes.tag_is_valid(code) else code


def write(materials: Materials) -> str:
    """Return minimal pairs as a MultiBLiMP table."""
    kept = select_minimal_pairs(materials)
    items = [item for item, _ in kept]
    numbers = [item.id.removeprefix(f"{item.paradigm}-") for item in items]
    lines = [_build_line(item, phenomenon, n) for (item, phenomenon), n in zip(kept, numbers, strict=True)]
    implied = [
        (_build_paradigm_name(line, ""), f"{i.paradigm}-{n}", find_language_tag(line.get("lang", "")))
        for line, i, n in zip(lines, items, numbers, strict=True)
    ]
    return format_table(
        [{**line, **mine} for line, mine in zip(lines, list_own_columns(items, implied), strict=True)],
        ("", *REQUIRED_COLUMNS),
        "\t",
    )


def _build_line(item: Item, phenomenon: str, index: str) -> dict[str, str]:
    good, bad = get_pair_texts(item)
    line = {key: text for key, text in item.extra.items() if key != "index"}
    line |= {"": index, "sen": good, "wrong_sen": bad}
    if "swap_head" not in line:
        line |= _build_word_cells(item)
    if phenomenon != line.get("phenomenon", "agreement"):
        line["phenomenon"] = phenomenon
    return line


def _build_word_cells(item: Item) -> dict[str, str]:
    """Return prefix, verb and swapped verb as the critical regions have them, and the subject as the cue has it."""
    words = {}
    good, bad = (item.sentences[c] for c in (GRAMMATICAL, UNGRAMMATICAL))
    critical, other, cue = good.find_region(CRITICAL), bad.find_region(CRITICAL), good.find_region(CUE)
    if critical and other and good.text[: critical.start] == bad.text[: other.start]:
        verb = good.text[critical.start : critical.end]
        words = {"prefix": good.text[: critical.start].rstrip(), "verb": verb, "head": verb}
        words["swap_head"] = bad.text[other.start : other.end]
    return words | ({"child": good.text[cue.start : cue.end]} if cue else {})


def list_losses(materials: Materials) -> list[str]:
    """Return what a MultiBLiMP table cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
