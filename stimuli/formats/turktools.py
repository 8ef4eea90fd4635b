"""Items for turktools, as for Turkolizer and Linger before it: `# section number condition`, then lines of text.

    # target 1 embedded
    The boy that the girl saw has left.
    Has the boy left?

The first line is the sentence; others are kept as extra fields, field 2 and so on. A section is a paradigm, or
several where its items have other conditions. Items for completion, whose first line is not a sentence, are reported.
The language is not known ('und').
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from ..items import Item, Materials, Paradigm, SourceLine
from .pair_rows import build_factors, find_condition_sets
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRow, SentenceRows

NAME = "turktools"
SUFFIX = ".txt"
LANGUAGE = "und"
HEADER_PATTERN = re.compile(r"#\s+(\S+)\s+(\d+)\s+(.*?)\s*")


@dataclass
class ItemBlock:
    """A header with the lines below it."""

    source_line: SourceLine
    section: str
    number: str
    condition: str
    lines: list[str] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Whether the first line that is not blank is a header of a section, a number and a condition."""
    return HEADER_PATTERN.fullmatch(text.lstrip("\n ").partition("\n")[0]) is not None


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of an items file; items are named section-number."""
    rows = SentenceRows()
    sections: dict[str, dict[str, list[ItemBlock]]] = defaultdict(lambda: defaultdict(list))
    for block in _read_blocks(rows, text, file):
        sections[block.section][block.number].append(block)
    for section, items in sections.items():
        conditions = find_condition_sets({n: [block.condition for block in blocks] for n, blocks in items.items()})
        several = len(set(conditions.values())) > 1
        for n, blocks in items.items():
            named = f"{section} ({', '.join(conditions[n])})" if several else section
            rows.paradigms.setdefault(named, Paradigm(named, section, build_factors(conditions[n])))
            _add_sentences(rows, rows.paradigms[named], blocks)
    return rows


def _read_blocks(rows: SentenceRows, text: str, file: str) -> list[ItemBlock]:
    blocks: list[ItemBlock] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = HEADER_PATTERN.fullmatch(line)
        if match and match[3]:
            blocks.append(ItemBlock(SourceLine(file, number), match[1], match[2], match[3]))
        elif line.startswith("#"):
            rows.add_fault(SourceLine(file, number), f"{line.strip()!r} is not a header; expected  # section number condition")
            blocks.append(ItemBlock(SourceLine(file, number), "", "", ""))  # its lines belong to no item
        elif blocks:
            blocks[-1].lines.append(line.rstrip())
        elif line.strip():
            rows.add_fault(SourceLine(file, number), f"{line.strip()[:40]!r} comes before the first header")
    return [block for block in blocks if block.section]


def _add_sentences(rows: SentenceRows, paradigm: Paradigm, blocks: list[ItemBlock]) -> None:
    extra = {"number": blocks[0].number, **_collect_fields(blocks)}
    name = f"{blocks[0].section}-{blocks[0].number}"
    for block in blocks:
        text = block.lines[0].strip() if block.lines else ""
        if not text:
            rows.add_fault(block.source_line, "no sentence below the header; expected one", paradigm.id, name, block.condition)
            continue
        rows.rows.append(
            SentenceRow(
                block.source_line, paradigm.id, paradigm.phenomenon, name, block.condition, text, language=LANGUAGE, extra=extra
            )
        )


def _collect_fields(blocks: list[ItemBlock]) -> dict[str, str]:
    """Return the lines after the sentence: under their number where the conditions agree, else with the condition."""
    extra = {}
    for n in range(2, max(len(block.lines) for block in blocks) + 1):
        cells = [block.lines[n - 1] if n <= len(block.lines) else "" for block in blocks]
        if len(set(cells)) == 1:
            extra[f"field {n}"] = cells[0]
        else:
            extra |= {f"field {n} ({block.condition})": cell for block, cell in zip(blocks, cells, strict=True)}
    return {key: text for key, text in extra.items() if text}


def write(materials: Materials) -> str:
    """Return the materials as an items file; an item without a number of its own gets one."""
    taken: dict[str, set[str]] = defaultdict(set)
    blocks = []
    for item in materials.items:
        section = "_".join(item.paradigm.removesuffix(f" ({', '.join(item.sentences)})").split())
        number = _choose_number(item, section, taken[section])
        for condition, sentence in item.sentences.items():
            lines = [f"# {section} {number} {condition}", " ".join(sentence.text.split("\n")), *_list_fields(item, condition)]
            blocks.append("".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)


def _choose_number(item: Item, section: str, taken: set[str]) -> str:
    """Return the item's number, in digits: its own, or the next that is free in the section."""
    suffix = item.id.removeprefix(f"{section}-")
    digits = suffix if suffix.isdigit() else (re.findall(r"\d+", suffix) or ["1"])[-1]
    while digits in taken:
        digits = str(int(digits) + 1)
    taken.add(digits)
    return digits


def _list_fields(item: Item, condition: str) -> list[str]:
    fields = {}
    for key, text in item.extra.items():
        match = re.fullmatch(r"field (\d+)(?: \((.*)\))?", key)
        if match and match[2] in (None, condition):
            fields[int(match[1])] = text
    return [fields.get(n, "") for n in range(2, max(fields, default=1) + 1)]


def list_losses(materials: Materials) -> list[str]:
    """Return what an items file cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
