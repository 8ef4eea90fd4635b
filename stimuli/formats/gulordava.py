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
from .csv_and_jsonl import header, records, table
from .pair_rows import identity, pair, pairs, stem, take_identity
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member

NAME = "gulordava"
SUFFIX = ".tab"
PHENOMENON = "subject_verb_agreement"
NEEDED = ("pattern", "constr_id", "sent_id", "form", "class", "prefix", "sent")
PAIR = ("pattern", "constr_id", "sent_id")
CLASSES = {"correct": GRAMMATICAL, "wrong": UNGRAMMATICAL}
GOLD = re.compile(r"(?P<word>\d+)\t(?P<correct>[^\t]+)\t(?P<wrong>[^\t]+)\t(?P<attractors>\d+)")
END = "<eos>"
LANGUAGE = "und"


def recognises(text: str) -> bool:
    """Whether the first line names the columns of these tables, or is one of a `.gold` file."""
    return set(NEEDED) <= set(header(text, "\t")[0]) or GOLD.fullmatch(text.partition("\n")[0].rstrip()) is not None


def read(text: str, file: str) -> Rows:
    """Return the rows of a table or a `.gold` file; items are named file-pattern-constr_id-sent_id, or file-line."""
    rows = Rows()
    if set(NEEDED) <= set(header(text, "\t")[0]):
        _read_table(rows, text, file)
    else:
        _read_gold(rows, text, file)
    return rows


def _read_table(rows: Rows, text: str, file: str) -> None:
    couples: dict[str, dict[str, tuple[SourceLine, dict[str, str]]]] = {}
    for _, place, record in records(rows, text, file, NEEDED, "\t", quoted=False):
        kind = record["class"]
        couple = couples.get("-".join(record[column] for column in PAIR), {})
        if kind not in CLASSES or not record["form"]:
            rows.fault(place, f"class {kind!r} and form {record['form']!r}; expected correct or wrong, and a form")
        elif not record["sent"].startswith(record["prefix"]):
            rows.fault(place, f"the sentence {record['sent']!r} does not begin with its prefix {record['prefix']!r}")
        elif kind in couple:
            rows.fault(place, f"a second {kind} form of this sentence ({couple[kind][0]}); expected one of each")
        else:
            couples.setdefault("-".join(record[column] for column in PAIR), {})[kind] = place, record
    for name, couple in couples.items():
        if len(couple) == len(CLASSES):
            _add(rows, name, couple)
        else:
            (kind, (place, _)), *_ = couple.items()
            rows.fault(place, f"only the {kind} form of this sentence is there; expected both")


def _add(rows: Rows, name: str, couple: Mapping[str, tuple[SourceLine, dict[str, str]]]) -> None:
    members, regions = [], []
    extra: dict[str, str] = {}
    for kind, condition in CLASSES.items():
        place, record = couple[kind]
        paradigm, item, language = take_identity(record, stem(place.file), name, LANGUAGE)
        start = len(record["prefix"]) + bool(record["prefix"])
        rest = record["sent"][start:].partition(END)[0].strip().partition(" ")[2]
        whole = " ".join(filter(None, (record["prefix"], record["form"], rest)))
        members.append(Member(place, paradigm, item, condition, whole, language))
        regions.append((Region(CRITICAL, start, start + len(record["form"])),))
        own = {column: cell for column, cell in record.items() if column not in ("form", "class", "prefix", "sent")}
        extra |= {
            column if couple["correct"][1].get(column) == couple["wrong"][1].get(column) else f"{column} {kind}": cell
            for column, cell in own.items()
        }
    return pair(rows, PHENOMENON, members, regions, extra)


def _read_gold(rows: Rows, text: str, file: str) -> None:
    beside = Path(file).with_suffix(".text")
    if not beside.is_file():
        return rows.fault(SourceLine(file, 1), f"its sentences are not beside it; expected them in {beside.name}")
    sentences = study.files.read_text(beside).split("\n")
    for at, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            _add_gold(
                rows, SourceLine(file, at), line.rstrip(), sentences[at - 1].split() if at <= len(sentences) else []
            )
    return None


def _add_gold(rows: Rows, place: SourceLine, line: str, words: list[str]) -> None:
    gold, paradigm = GOLD.fullmatch(line), stem(place.file)
    words = words[: words.index(END)] if END in words else words
    at = int(gold["word"]) if gold else 0
    if gold is None or at >= len(words) or words[at] not in (gold["correct"], gold["wrong"]):
        found = (
            f"word {at} of its sentence is {words[at]!r}" if at < len(words) else f"its sentence has {len(words)} words"
        )
        return rows.fault(
            place,
            f"{line[:60]!r}, but {found}; expected the place of the verb (the first word is 0), its correct "
            "and its wrong form and the number of attractors, with tabs between them",
        )
    before = " ".join(words[:at])
    start = len(before) + bool(before)
    members, regions = [], []
    for kind, condition in CLASSES.items():
        whole = " ".join([*words[:at], gold[kind], *words[at + 1 :]])
        members.append(Member(place, paradigm, f"{paradigm}-{place.line}", condition, whole, LANGUAGE))
        regions.append((Region(CRITICAL, start, start + len(gold[kind])),))
    return pair(rows, PHENOMENON, members, regions, {"n_attr": gold["attractors"]})


def write(materials: Materials) -> str:
    """Return the pairs that differ in one region as a table."""
    kept = [item for item, _ in pairs(materials) if _halves(item)]
    names = [_name(item, row) for row, item in enumerate(kept, start=1)]
    implied = [("", f"{item.paradigm}-{'-'.join(name)}", LANGUAGE) for item, name in zip(kept, names, strict=True)]
    lines = [
        {**_cells(item, kind), **dict(zip(PAIR, name, strict=True)), **ours, "class": kind}
        for item, name, ours in zip(kept, names, identity(kept, implied), strict=True)
        for kind in CLASSES
    ]
    return table(lines, NEEDED, "\t", quoted=False)


def _name(item: Item, row: int) -> tuple[str, ...]:
    return tuple(
        item.extra.get(column, other) for column, other in zip(PAIR, (item.paradigm, str(row), "0"), strict=True)
    )


def _halves(item: Item) -> set[tuple[str, str]]:
    """Return what stands before and after the critical region of both members, or nothing where that differs."""
    halves = set()
    for condition in CLASSES.values():
        sentence = item.sentences[condition]
        region = sentence.region(CRITICAL)
        if region is None or " " in sentence.text[region.start : region.end]:
            return set()
        halves.add((sentence.text[: region.start], sentence.text[region.end :]))
    whole = len(halves) == 1 and all((not b or b.endswith(" ")) and (not a or a.startswith(" ")) for b, a in halves)
    return halves if whole else set()


def _cells(item: Item, kind: str) -> dict[str, str]:
    sentence = item.sentences[CLASSES[kind]]
    region = sentence.region(CRITICAL)
    assert region is not None  # `write` leaves the others out
    own = {
        column.removesuffix(f" {kind}"): cell
        for column, cell in item.extra.items()
        if not any(column.endswith(f" {other}") for other in CLASSES if other != kind)
    }
    cut = {"form": sentence.text[region.start : region.end], "prefix": sentence.text[: region.start].rstrip()}
    return {**own, **cut, "sent": f"{sentence.text} {END}"}


def loses(materials: Materials) -> list[str]:
    """Return what such a table cannot hold of these materials."""
    one = len(materials.paradigms) == 1
    return losses(materials, write, read, f"{materials.paradigms[0].id}{SUFFIX}" if one else "materials.tab")
