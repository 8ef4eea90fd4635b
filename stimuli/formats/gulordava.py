"""Number agreement as Gulordava et al. have it: sentences with a correct and a wrong verb form (2018, doi 10.18653/v1/N18-1108).

A table (`generated.tab`) has a row for each form: `prefix` before it and `sent`, the whole sentence, for what follows. A `.gold`
file has the place of the verb (the first word is 0), its correct and its wrong form and the number of attractors, for the line of
the `.text` file of the same name beside it; Linzen et al.'s sentences are there in this way too. The verb is the critical region.
The paradigm is the file's name; the language is not in the file ('und').
"""

import re
from collections.abc import Mapping
from pathlib import Path

from gardenpath import study

from ..items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Region, SourceLine
from .csv_and_jsonl import format_table, read_header, read_table_rows
from .pair_rows import add_pair, get_file_stem, list_own_columns, select_minimal_pairs, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence

NAME = "gulordava"
SUFFIX = ".tab"
PHENOMENON = "subject_verb_agreement"
REQUIRED_COLUMNS = ("pattern", "constr_id", "sent_id", "form", "class", "prefix", "sent")
PAIR_COLUMNS = ("pattern", "constr_id", "sent_id")
CLASS_CONDITIONS = {"correct": GRAMMATICAL, "wrong": UNGRAMMATICAL}
GOLD_PATTERN = re.compile(r"(?P<word>\d+)\t(?P<correct>[^\t]+)\t(?P<wrong>[^\t]+)\t(?P<attractors>\d+)")
END_MARK = "<eos>"
LANGUAGE = "und"


def recognises(text: str) -> bool:
    """Whether the first line names the columns of these tables, or is one of a `.gold` file."""
    return (
        set(REQUIRED_COLUMNS) <= set(read_header(text, "\t")[0])
        or GOLD_PATTERN.fullmatch(text.partition("\n")[0].rstrip()) is not None
    )


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a table or a `.gold` file; items are named file-pattern-constr_id-sent_id, or file-line."""
    rows = SentenceRows()
    if set(REQUIRED_COLUMNS) <= set(read_header(text, "\t")[0]):
        _read_table(rows, text, file)
    else:
        _read_gold(rows, text, file)
    return rows


def _read_table(rows: SentenceRows, text: str, file: str) -> None:
    couples: dict[str, dict[str, tuple[SourceLine, dict[str, str]]]] = {}
    for _, source_line, record in read_table_rows(rows, text, file, REQUIRED_COLUMNS, "\t", quoted=False):
        kind = record["class"]
        couple = couples.get("-".join(record[column] for column in PAIR_COLUMNS), {})
        if kind not in CLASS_CONDITIONS or not record["form"]:
            rows.add_fault(source_line, f"class {kind!r} and form {record['form']!r}; expected correct or wrong, and a form")
        elif not record["sent"].startswith(record["prefix"]):
            rows.add_fault(source_line, f"the sentence {record['sent']!r} does not begin with its prefix {record['prefix']!r}")
        elif kind in couple:
            rows.add_fault(source_line, f"a second {kind} form of this sentence ({couple[kind][0]}); expected one of each")
        else:
            couples.setdefault("-".join(record[column] for column in PAIR_COLUMNS), {})[kind] = source_line, record
    for name, couple in couples.items():
        if len(couple) == len(CLASS_CONDITIONS):
            _add_pair(rows, name, couple)
        else:
            (kind, (source_line, _)), *_ = couple.items()
            rows.add_fault(source_line, f"only the {kind} form of this sentence is there; expected both")


def _add_pair(rows: SentenceRows, name: str, couple: Mapping[str, tuple[SourceLine, dict[str, str]]]) -> None:
    members, regions = [], []
    extra: dict[str, str] = {}
    for kind, condition in CLASS_CONDITIONS.items():
        source_line, record = couple[kind]
        paradigm, item, language = take_identity(record, get_file_stem(source_line.file), name, LANGUAGE)
        start = len(record["prefix"]) + bool(record["prefix"])
        rest = record["sent"][start:].partition(END_MARK)[0].strip().partition(" ")[2]
        whole = " ".join(filter(None, (record["prefix"], record["form"], rest)))
        members.append(SourceSentence(source_line, paradigm, item, condition, whole, language))
        regions.append((Region(CRITICAL, start, start + len(record["form"])),))
        own = {column: cell for column, cell in record.items() if column not in ("form", "class", "prefix", "sent")}
        extra |= {
            column if couple["correct"][1].get(column) == couple["wrong"][1].get(column) else f"{column} {kind}": cell
            for column, cell in own.items()
        }
    return add_pair(rows, PHENOMENON, members, regions, extra)


def _read_gold(rows: SentenceRows, text: str, file: str) -> None:
    text_path = Path(file).with_suffix(".text")
    if not text_path.is_file():
        return rows.add_fault(SourceLine(file, 1), f"its sentences are not beside it; expected them in {text_path.name}")
    sentences = study.files.read_text(text_path).split("\n")
    for at, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            _add_gold_pair(rows, SourceLine(file, at), line.rstrip(), sentences[at - 1].split() if at <= len(sentences) else [])
    return None


def _add_gold_pair(rows: SentenceRows, source_line: SourceLine, line: str, words: list[str]) -> None:
    gold, paradigm = GOLD_PATTERN.fullmatch(line), get_file_stem(source_line.file)
    words = words[: words.index(END_MARK)] if END_MARK in words else words
    at = int(gold["word"]) if gold else 0
    if gold is None or at >= len(words) or words[at] not in (gold["correct"], gold["wrong"]):
        found = f"word {at} of its sentence is {words[at]!r}" if at < len(words) else f"its sentence has {len(words)} words"
        return rows.add_fault(
            source_line,
            f"{line[:60]!r}, but {found}; expected the place of the verb (the first word is 0), its correct "
            "and its wrong form and the number of attractors, with tabs between them",
        )
    before = " ".join(words[:at])
    start = len(before) + bool(before)
    members, regions = [], []
    for kind, condition in CLASS_CONDITIONS.items():
        whole = " ".join([*words[:at], gold[kind], *words[at + 1 :]])
        members.append(SourceSentence(source_line, paradigm, f"{paradigm}-{source_line.line}", condition, whole, LANGUAGE))
        regions.append((Region(CRITICAL, start, start + len(gold[kind])),))
    return add_pair(rows, PHENOMENON, members, regions, {"n_attr": gold["attractors"]})


def write(materials: Materials) -> str:
    """Return the pairs that differ in one region as a table."""
    kept = [item for item, _ in select_minimal_pairs(materials) if _split_halves(item)]
    names = [_build_name(item, row) for row, item in enumerate(kept, start=1)]
    implied = [("", f"{item.paradigm}-{'-'.join(name)}", LANGUAGE) for item, name in zip(kept, names, strict=True)]
    lines = [
        {**_build_cells(item, kind), **dict(zip(PAIR_COLUMNS, name, strict=True)), **own_columns, "class": kind}
        for item, name, own_columns in zip(kept, names, list_own_columns(kept, implied), strict=True)
        for kind in CLASS_CONDITIONS
    ]
    return format_table(lines, REQUIRED_COLUMNS, "\t", quoted=False)


def _build_name(item: Item, row: int) -> tuple[str, ...]:
    return tuple(item.extra.get(column, other) for column, other in zip(PAIR_COLUMNS, (item.paradigm, str(row), "0"), strict=True))


def _split_halves(item: Item) -> set[tuple[str, str]]:
    """Return what stands before and after the critical region of both members, or nothing where that differs."""
    halves = set()
    for condition in CLASS_CONDITIONS.values():
        sentence = item.sentences[condition]
        region = sentence.find_region(CRITICAL)
        if region is None or " " in sentence.text[region.start : region.end]:
            return set()
        halves.add((sentence.text[: region.start], sentence.text[region.end :]))
    whole = len(halves) == 1 and all((not b or b.endswith(" ")) and (not a or a.startswith(" ")) for b, a in halves)
    return halves if whole else set()


def _build_cells(item: Item, kind: str) -> dict[str, str]:
    sentence = item.sentences[CLASS_CONDITIONS[kind]]
    region = sentence.find_region(CRITICAL)
    assert region is not None  # `write` leaves the others out
    own = {
        column.removesuffix(f" {kind}"): cell
        for column, cell in item.extra.items()
        if not any(column.endswith(f" {other}") for other in CLASS_CONDITIONS if other != kind)
    }
    cut = {"form": sentence.text[region.start : region.end], "prefix": sentence.text[: region.start].rstrip()}
    return {**own, **cut, "sent": f"{sentence.text} {END_MARK}"}


def list_losses(materials: Materials) -> list[str]:
    """Return what such a table cannot hold of these materials."""
    one = len(materials.paradigms) == 1
    return find_round_trip_losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}" if one else "materials.tab")
