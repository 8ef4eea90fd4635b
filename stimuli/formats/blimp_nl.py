"""BLiMP-NL's csv: Dutch minimal pairs, one row a sentence (Suijkerbuijk et al. 2025, doi 10.1162/COLI.a.00559).

A name that stands for several paradigms, `island` and `resumptive_prolepsis` in the published files, is followed by the paradigm's
number. Items are numbered within their phenomenon, and named paradigm-number here. Critical and cue words become regions
where the sentence holds them once. A tenth column without name and content, as one of its files has, is left out;
every other one is kept.
"""

from collections.abc import Iterable, Mapping

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, SourceLine
from .csv_and_jsonl import format_table, read_header, read_table_rows
from .pair_rows import add_pair, get_item_number, list_own_columns, select_minimal_pairs, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence, add_warning, format_region_words, keep_spelling, locate_region

NAME = "blimp-nl"
SUFFIX = ".csv"
REQUIRED_COLUMNS = ("Phenomenon", "Paradigm", "Item", "Grammaticality", "Sentence", "Critical word(s)", "Cue word(s)")
COLUMNS = ("Number (phenomenon)", "Phenomenon", "Number (paradigm)", *REQUIRED_COLUMNS[1:])
REGION_COLUMNS = {"Critical word(s)": CRITICAL, "Cue word(s)": CUE}
CONDITIONS = {"Grammatical": GRAMMATICAL, "Ungrammatical": UNGRAMMATICAL}
LANGUAGE = "nl"
NUMBER_COLUMN = "Number (paradigm)"
PUBLISHED_NAME_FIELD = "Paradigm as published"  # in the extra fields of items whose paradigm has another name here
# Names of several paradigms, of different phenomena and so of different files: known here, so that a paradigm has the same name
# whichever files are read with its own.
REPEATED_NAMES = frozenset({"island", "resumptive_prolepsis"})


def recognises(text: str) -> bool:
    """Whether the first line names BLiMP-NL's columns."""
    return set(REQUIRED_COLUMNS) <= set(read_header(text, ",;\t")[0])


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a BLiMP-NL file; items are named paradigm-number."""
    rows = SentenceRows()
    items: dict[str, dict[str, tuple[SourceLine, dict[str, str]]]] = {}
    found = list(read_table_rows(rows, text, file, REQUIRED_COLUMNS))
    repeated = _find_repeated_names((record["Paradigm"], record.get(NUMBER_COLUMN, "")) for _, _, record in found)
    for _, source_line, record in found:
        if record["Paradigm"] in repeated and record.get(NUMBER_COLUMN):
            record[PUBLISHED_NAME_FIELD] = record["Paradigm"]
            record["Paradigm"] += f"_{record[NUMBER_COLUMN]}"
        empty = [name for name in REQUIRED_COLUMNS[:5] if not record[name]]
        condition = CONDITIONS.get(record["Grammaticality"].capitalize())
        _, item, _ = take_identity(dict(record), record["Paradigm"], record["Item"], LANGUAGE)
        if empty:
            rows.add_fault(source_line, f"{', '.join(empty)} is empty; expected text in each of {', '.join(REQUIRED_COLUMNS[:5])}")
        elif condition is None:
            message = f"Grammaticality is {record['Grammaticality']!r}; expected {' or '.join(CONDITIONS)}"
            rows.add_fault(source_line, message, record["Paradigm"], item)
        elif condition in items.setdefault(item, {}):
            message = f"item {item} has this condition already ({items[item][condition][0]}); give each item its own number"
            rows.add_fault(source_line, message, record["Paradigm"], item, condition)
        else:
            items[item][condition] = source_line, record
    for sentences in items.values():
        _add_pair(rows, sentences)
    return rows


def _find_repeated_names(paradigms: Iterable[tuple[str, str]]) -> set[str]:
    """Return the names that stand for several paradigms, by name and number."""
    names = [name for name, _ in set(paradigms)]
    return {name for name in names if names.count(name) > 1} | REPEATED_NAMES


def _add_pair(rows: SentenceRows, sentences: Mapping[str, tuple[SourceLine, dict[str, str]]]) -> None:
    members, regions = [], []
    extra: dict[str, str] = {}
    for condition, (source_line, record) in sentences.items():
        paradigm, item, language = take_identity(record, record["Paradigm"], record["Item"], LANGUAGE)
        member = SourceSentence(source_line, paradigm, item, condition, record["Sentence"], language)
        marked = {column: locate_region(rows, member, name, record[column]) for column, name in REGION_COLUMNS.items()}
        for column, region in marked.items():
            extra[f"{column} {condition}"] = keep_spelling(record[column], member.text, region)
        for column, text in record.items():
            kept_here = column == "Item" or column not in REQUIRED_COLUMNS
            if kept_here and extra.setdefault(column, text) != text:
                message = f"{column} is {text!r}, but {extra[column]!r} in the item's other row, which is kept"
                add_warning(rows, member, "format", message)
        members.append(member)
        regions.append(tuple(sorted(sum(marked.values(), ()), key=lambda region: region.start)))
    add_pair(rows, next(iter(sentences.values()))[1]["Phenomenon"], members, regions, extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a BLiMP-NL table."""
    kept = select_minimal_pairs(materials)
    items = [item for item, _ in kept]
    names = [(item.extra.get(PUBLISHED_NAME_FIELD, item.paradigm), item.extra.get(NUMBER_COLUMN, "")) for item in items]
    repeated = _find_repeated_names(names)
    paradigms = [f"{name}_{n}" if name in repeated and n else name for name, n in names]
    implied = [(p, f"{p}-{get_item_number(item, 'Item')}", LANGUAGE) for item, p in zip(items, paradigms, strict=True)]
    lines = [
        {**_build_line(item, phenomenon, condition), **own_columns}
        for (item, phenomenon), own_columns in zip(kept, list_own_columns(items, implied), strict=True)
        for condition in CONDITIONS
    ]
    return format_table(lines, COLUMNS, ",")


def _build_line(item: Item, phenomenon: str, grammaticality: str) -> dict[str, str]:
    condition = CONDITIONS[grammaticality]
    sentence = item.sentences[condition]
    own_fields = {PUBLISHED_NAME_FIELD, *(f"{column} {name}" for column in REGION_COLUMNS for name in CONDITIONS.values())}
    line = {
        "Phenomenon": phenomenon,
        "Paradigm": item.extra.get(PUBLISHED_NAME_FIELD, item.paradigm),
        "Item": get_item_number(item, "Item"),
        "Grammaticality": grammaticality,
        "Sentence": sentence.text,
    }
    for column, name in REGION_COLUMNS.items():
        line[column] = format_region_words(sentence, name, item.extra.get(f"{column} {condition}", ""), item.language)
    return {**{key: text for key, text in item.extra.items() if key not in own_fields}, **line}


def list_losses(materials: Materials) -> list[str]:
    """Return what a BLiMP-NL table cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
