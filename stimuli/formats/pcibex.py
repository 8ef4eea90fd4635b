"""Tables for PCIbex: one row an item and condition, with columns in capital or small letters (Zehr and Schwarz 2018).

Label is the paradigm, or else the file's name; Item, or else the row, numbers the item within it. The sentence stands
in Sentence or Stimulus. Its condition stands in Condition or Type, or else it is the Group or List. Context, Question
and Answer are the item's, where all its rows agree and each question has an answer; Language is und unless given.
Other columns are kept. Groups for a Latin square are not made here: they come with a design's lists.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Paradigm, SourceLine
from .csv_and_jsonl import format_table, is_of_other_condition, merge_free_columns, read_header, read_table_rows
from .pair_rows import build_factors, find_condition_sets, get_file_stem
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRow, SentenceRows

NAME = "pcibex"
SUFFIX = ".csv"
LANGUAGE = "und"
COLUMN_NAMES = {
    "label": ("label",),
    "item": ("item",),
    "condition": ("condition", "type", "group", "list"),
    "sentence": ("sentence", "stimulus"),
    "phenomenon": ("phenomenon",),
    "language": ("language",),
    "context": ("context",),
    "question": ("question",),
    "answer": ("answer",),
    "notes": ("notes",),
    "item_id": ("item_id",),
}
Sentences = list[tuple[SourceLine, dict[str, str]]]


def recognises(text: str) -> bool:
    """Whether the first line names a sentence, an item or a label, and a group, list or label; but not our own columns."""
    names = read_header(text, ",\t")[0]
    small = {name.lower() for name in names}
    is_source_format = {"paradigm", "phenomenon", "condition", "sentence"} <= set(names)
    return bool(
        not is_source_format
        and small & set(COLUMN_NAMES["sentence"])
        and small & {"item", "label"}
        and small & {"group", "list", "label"}
        and "grammaticality" not in small
    )


def _map_columns(names: Sequence[str]) -> dict[str, str]:
    """Return which column of the table says what."""
    small = {name.lower(): name for name in names}
    return {what: next(small[n] for n in known if n in small) for what, known in COLUMN_NAMES.items() if small.keys() & set(known)}


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a table; items are named label-item."""
    rows = SentenceRows()
    columns = _map_columns(read_header(text, ",\t")[0])
    if "sentence" not in columns:
        rows.add_fault(SourceLine(file, 1), "no column Sentence or Stimulus; expected one")
        return rows
    items: dict[tuple[str, str], Sentences] = defaultdict(list)
    for row, source_line, record in read_table_rows(rows, text, file, (), ",\t"):
        if not record[columns["sentence"]]:
            rows.add_fault(source_line, f"{columns['sentence']} is empty; expected a sentence")
            continue
        label = _get_cell(record, columns, "label") or get_file_stem(file)
        items[label, _get_cell(record, columns, "item") or str(row)].append((source_line, record))
    choices = _collect_choices([record for sentences in items.values() for _, record in sentences], columns)
    by_label: dict[str, dict[str, Sentences]] = defaultdict(dict)
    for (label, item), sentences in items.items():
        by_label[label][item] = sentences
    for label, of_label in by_label.items():
        conditions = find_condition_sets(
            {item: [_get_condition(r, columns) for _, r in sentences] for item, sentences in of_label.items()}
        )
        sets = list(dict.fromkeys(conditions.values()))
        for item, sentences in of_label.items():
            named = label if len(sets) == 1 else f"{label} ({', '.join(conditions[item])})"
            phenomenon = _get_cell(sentences[0][1], columns, "phenomenon") or label
            rows.paradigms.setdefault(named, Paradigm(named, phenomenon, build_factors(conditions[item])))
            _add_item(rows, rows.paradigms[named], f"{label}-{item}", sentences, columns, choices)
    return rows


def _get_cell(record: Mapping[str, str], columns: Mapping[str, str], what: str) -> str:
    return record[columns[what]] if what in columns else ""


def _get_condition(record: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """Return the row's condition; a minimal pair's are written small."""
    condition = _get_cell(record, columns, "condition") or "only"
    return condition.lower() if condition.lower() in (GRAMMATICAL, UNGRAMMATICAL) else condition


def _collect_choices(records: Sequence[Mapping[str, str]], columns: Mapping[str, str]) -> tuple[str, ...]:
    """Return the answers that the table's questions choose from; none where a question has no answer."""
    asked = [(_get_cell(r, columns, "question"), _get_cell(r, columns, "answer")) for r in records]
    answers = dict.fromkeys(answer for question, answer in asked if question)
    if "" in answers:
        return ()
    return ("yes", "no") if answers.keys() <= {"yes", "no"} else tuple(answers)


def _add_item(
    rows: SentenceRows, paradigm: Paradigm, name: str, sentences: Sentences, columns: Mapping[str, str], choices: tuple[str, ...]
) -> None:
    name = _get_cell(sentences[0][1], columns, "item_id") or name
    records = {_get_condition(record, columns): record for _, record in sentences}
    special = {columns[w] for w in ("label", "sentence", "phenomenon", "language", "item_id") if w in columns}
    if columns.get("condition", "").lower() in ("condition", "type"):
        special.add(columns["condition"])
    shared = {}
    for what in ("context", "notes", "question"):
        cells = {_get_cell(record, columns, what) for record in records.values()}
        if len(cells) == 1 and (what != "question" or choices):
            shared[what] = cells.pop()
            special |= {columns[w] for w in (what, "answer" if what == "question" else what) if w in columns}
    extra = merge_free_columns({c: {k: v for k, v in record.items() if k not in special} for c, record in records.items()})
    if "item" in columns:
        number = extra.pop(columns["item"], "")
        extra |= {"Item": number} if number else {}
    for source_line, record in sentences:
        rows.rows.append(
            SentenceRow(
                source_line,
                paradigm.id,
                paradigm.phenomenon,
                name,
                _get_condition(record, columns),
                record[columns["sentence"]],
                (),
                _get_cell(record, columns, "language") or LANGUAGE,
                context=shared.get("context") or None,
                question=shared.get("question") or None,
                answer=_get_cell(record, columns, "answer") or None,
                choices=choices or ("yes", "no"),
                notes=shared.get("notes") or None,
                extra=extra,
            )
        )


def write(materials: Materials) -> str:
    """Return the materials as a table with the columns Label, Item, Condition, Sentence, and others where they say something."""
    phenomena = {p.id: p.phenomenon for p in materials.paradigms}
    lines = [_build_line(item, c, phenomena[item.paradigm]) for item in materials.items for c in item.sentences]
    return format_table(lines, ("Label", "Item", "Condition", "Sentence"), ",")


def _build_line(item: Item, condition: str, phenomenon: str) -> dict[str, str]:
    label = item.paradigm.removesuffix(f" ({', '.join(item.sentences)})")
    field = item.extra.get("Item", "")
    number = field if item.id == f"{label}-{field}" else item.id.removeprefix(f"{label}-")
    question = item.question
    line = {
        "Label": label,
        "Item": number,
        "Condition": condition,
        "Sentence": item.sentences[condition].text,
        "Phenomenon": "" if phenomenon == label else phenomenon,
        "Language": "" if item.language == LANGUAGE else item.language,
        "Context": item.context or "",
        "Question": question.text if question else "",
        "Answer": question.answers[condition] if question else "",
        "Notes": item.notes or "",
        "item_id": "" if item.id == f"{label}-{number}" else item.id,
    }
    line = {name: text for name, text in line.items() if text}
    taken = {name.lower() for name in line}
    for key, text in item.extra.items():
        column = key.removesuffix(f" ({condition})")
        if column.lower() not in taken and not is_of_other_condition(column, item, condition):
            line[column] = text
    return line


def list_losses(materials: Materials) -> list[str]:
    """Return what a PCIbex table cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
