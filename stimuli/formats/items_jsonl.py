"""items.jsonl, the canonical format: one record a line, a paradigm before its items."""

import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gardenpath import study

from ..items import MINIMAL_PAIR, Materials, Paradigm, Region, SourceLine
from .sentence_rows import SentenceRow, SentenceRows

NAME = "items"
SUFFIX = ".jsonl"
STRICT_CONFIG: Any = {"extra": "forbid", "strict": True}


@dataclass(frozen=True)
class ParadigmRecord:
    """A line that declares a paradigm."""

    __pydantic_config__ = STRICT_CONFIG
    record: str
    id: str
    phenomenon: str
    factors: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(MINIMAL_PAIR))
    references: tuple[str, ...] = ()
    waivers: dict[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()


@dataclass(frozen=True)
class SentenceRecord:
    """A sentence inside an item's line; a region is [name, start, end]."""

    __pydantic_config__ = STRICT_CONFIG
    text: str
    regions: tuple[tuple[str, int, int], ...] = ()
    segmentation: tuple[tuple[int, int], ...] | None = None
    display: tuple[str, ...] | None = None
    alternatives: tuple[str, ...] | None = None


@dataclass(frozen=True)
class QuestionRecord:
    """A comprehension question inside an item's line; without `choices` its answers are yes and no in the item's language."""

    __pydantic_config__ = STRICT_CONFIG
    text: str
    answers: dict[str, str]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ItemRecord:
    """A line that holds an item."""

    __pydantic_config__ = STRICT_CONFIG
    record: str
    id: str
    paradigm: str
    sentences: dict[str, SentenceRecord]
    language: str = ""
    context: str | None = None
    question: QuestionRecord | None = None
    notes: str | None = None
    extra: dict[str, str] = field(default_factory=dict)


def recognises(text: str) -> bool:
    """Whether the first line is a JSON object with a `record`."""
    return text.lstrip().startswith("{") and '"record"' in text.partition("\n")[0]


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of an items.jsonl file; every broken line is named and the rest is read."""
    rows = SentenceRows()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            _add_line(rows, SourceLine(file, number), line)
    return rows


def _add_line(rows: SentenceRows, source_line: SourceLine, line: str) -> None:
    try:
        record = json.loads(line)
        kind = record.get("record") if isinstance(record, dict) else None
        if kind == "paradigm":
            declared = study.config.parse_dataclass(ParadigmRecord, record, where=str(source_line))
            rows.paradigms[declared.id] = Paradigm(**{name: value for name, value in vars(declared).items() if name != "record"})
        elif kind == "item":
            _add_item(rows, source_line, study.config.parse_dataclass(ItemRecord, line, where=str(source_line)))
        else:
            rows.add_fault(source_line, f"record is {kind!r}; expected 'paradigm' or 'item'")
    except json.JSONDecodeError as error:
        rows.add_fault(source_line, f"not valid JSON: {error.msg} at character {error.pos}")
    except study.DataError as error:
        for fault in error.faults:
            rows.add_fault(source_line, fault.removeprefix(f"{source_line}: "))


def _add_item(rows: SentenceRows, source_line: SourceLine, record: ItemRecord) -> None:
    if record.paradigm not in rows.paradigms:
        declared = ", ".join(rows.paradigms) or "none"
        message = f"paradigm {record.paradigm!r} is not declared above; declared: {declared}"
        return rows.add_fault(source_line, message, record.paradigm, record.id)
    question = record.question
    paradigm = rows.paradigms[record.paradigm]
    for condition, sentence in record.sentences.items():
        rows.rows.append(
            SentenceRow(
                source_line,
                paradigm.id,
                paradigm.phenomenon,
                record.id,
                sys.intern(condition),
                sentence.text,
                tuple([Region(sys.intern(name), start, end) for name, start, end in sentence.regions]),
                record.language,
                sentence.segmentation,
                record.context,
                question.text if question else None,
                question.answers.get(condition) if question else None,
                question.choices if question else (),
                sentence.display,
                record.notes,
                record.extra,
                alternatives=sentence.alternatives,
            )
        )
    return None


def write(materials: Materials) -> str:
    """Return the materials as items.jsonl; what is empty is left out."""
    lines = []
    for paradigm in materials.paradigms:
        lines.append(_format_line({"record": "paradigm", **dataclasses.asdict(paradigm)}))
        lines += [_format_line(_build_item_line(item)) for item in materials.items if item.paradigm == paradigm.id]
    return "".join(lines)


def _build_item_line(item: Any) -> dict[str, Any]:
    sentences = {
        condition: _drop_empty(
            {
                "text": sentence.text,
                "regions": [[r.name, r.start, r.end] for r in sentence.regions],
                "segmentation": sentence.segmentation,
                "display": sentence.display,
                "alternatives": sentence.alternatives,
            }
        )
        for condition, sentence in item.sentences.items()
    }
    return {
        "record": "item",
        "id": item.id,
        "paradigm": item.paradigm,
        "language": item.language,
        "sentences": sentences,
        "context": item.context,
        "question": dataclasses.asdict(item.question) if item.question else None,
        "notes": item.notes,
        "extra": item.extra,
    }


def _drop_empty(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value not in (None, [], (), {})}


def _format_line(record: Mapping[str, Any]) -> str:
    return json.dumps(_drop_empty(record), ensure_ascii=False) + "\n"


def list_losses(materials: Materials) -> list[str]:
    """Return what items.jsonl cannot hold: nothing."""
    return []
