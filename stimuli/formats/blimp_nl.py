"""BLiMP-NL's csv: Dutch minimal pairs, one row a sentence (Suijkerbuijk et al. 2025, doi 10.1162/COLI.a.00559).

A name that stands for several paradigms, `island` and `resumptive_prolepsis` in the published files, is followed by the paradigm's
number. Items are numbered within their phenomenon, and named paradigm-number here. Critical and cue words become regions
where the sentence holds them once. A tenth column without name and content, as one of its files has, is left out;
every other one is kept.
"""

from collections.abc import Iterable, Mapping

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, SourceLine
from .csv_and_jsonl import header, records, table
from .pair_rows import identity, number, pair, pairs, take_identity
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member, kept, located, spelt, warn

NAME = "blimp-nl"
SUFFIX = ".csv"
NEEDED = ("Phenomenon", "Paradigm", "Item", "Grammaticality", "Sentence", "Critical word(s)", "Cue word(s)")
COLUMNS = ("Number (phenomenon)", "Phenomenon", "Number (paradigm)", *NEEDED[1:])
WORDS = {"Critical word(s)": CRITICAL, "Cue word(s)": CUE}
CONDITIONS = {"Grammatical": GRAMMATICAL, "Ungrammatical": UNGRAMMATICAL}
LANGUAGE = "nl"
NUMBER = "Number (paradigm)"
PUBLISHED = "Paradigm as published"  # in the extra fields of items whose paradigm has another name here
# Names of several paradigms, of different phenomena and so of different files: known here, so that a paradigm has the same name
# whichever files are read with its own.
REPEATED = frozenset({"island", "resumptive_prolepsis"})


def recognises(text: str) -> bool:
    """Whether the first line names BLiMP-NL's columns."""
    return set(NEEDED) <= set(header(text, ",;\t")[0])


def read(text: str, file: str) -> Rows:
    """Return the rows of a BLiMP-NL file; items are named paradigm-number."""
    rows = Rows()
    items: dict[str, dict[str, tuple[SourceLine, dict[str, str]]]] = {}
    found = list(records(rows, text, file, NEEDED))
    repeated = _repeated((record["Paradigm"], record.get(NUMBER, "")) for _, _, record in found)
    for _, place, record in found:
        if record["Paradigm"] in repeated and record.get(NUMBER):
            record[PUBLISHED] = record["Paradigm"]
            record["Paradigm"] += f"_{record[NUMBER]}"
        empty = [name for name in NEEDED[:5] if not record[name]]
        condition = CONDITIONS.get(record["Grammaticality"].capitalize())
        _, item, _ = take_identity(dict(record), record["Paradigm"], record["Item"], LANGUAGE)
        if empty:
            rows.fault(place, f"{', '.join(empty)} is empty; expected text in each of {', '.join(NEEDED[:5])}")
        elif condition is None:
            message = f"Grammaticality is {record['Grammaticality']!r}; expected {' or '.join(CONDITIONS)}"
            rows.fault(place, message, record["Paradigm"], item)
        elif condition in items.setdefault(item, {}):
            message = (
                f"item {item} has this condition already ({items[item][condition][0]}); give each item its own number"
            )
            rows.fault(place, message, record["Paradigm"], item, condition)
        else:
            items[item][condition] = place, record
    for sentences in items.values():
        _add(rows, sentences)
    return rows


def _repeated(paradigms: Iterable[tuple[str, str]]) -> set[str]:
    """Return the names that stand for several paradigms, by name and number."""
    names = [name for name, _ in set(paradigms)]
    return {name for name in names if names.count(name) > 1} | REPEATED


def _add(rows: Rows, sentences: Mapping[str, tuple[SourceLine, dict[str, str]]]) -> None:
    members, regions = [], []
    extra: dict[str, str] = {}
    for condition, (place, record) in sentences.items():
        paradigm, item, language = take_identity(record, record["Paradigm"], record["Item"], LANGUAGE)
        member = Member(place, paradigm, item, condition, record["Sentence"], language)
        marked = {column: located(rows, member, name, record[column]) for column, name in WORDS.items()}
        for column, region in marked.items():
            extra[f"{column} {condition}"] = kept(record[column], member.text, region)
        for column, text in record.items():
            kept_here = column == "Item" or column not in NEEDED
            if kept_here and extra.setdefault(column, text) != text:
                message = f"{column} is {text!r}, but {extra[column]!r} in the item's other row, which is kept"
                warn(rows, member, "format", message)
        members.append(member)
        regions.append(tuple(sorted(sum(marked.values(), ()), key=lambda region: region.start)))
    pair(rows, next(iter(sentences.values()))[1]["Phenomenon"], members, regions, extra)


def write(materials: Materials) -> str:
    """Return minimal pairs as a BLiMP-NL table."""
    kept = pairs(materials)
    items = [item for item, _ in kept]
    names = [(item.extra.get(PUBLISHED, item.paradigm), item.extra.get(NUMBER, "")) for item in items]
    repeated = _repeated(names)
    paradigms = [f"{name}_{n}" if name in repeated and n else name for name, n in names]
    implied = [(p, f"{p}-{number(item, 'Item')}", LANGUAGE) for item, p in zip(items, paradigms, strict=True)]
    lines = [
        {**_line(item, phenomenon, condition), **own_columns}
        for (item, phenomenon), own_columns in zip(kept, identity(items, implied), strict=True)
        for condition in CONDITIONS
    ]
    return table(lines, COLUMNS, ",")


def _line(item: Item, phenomenon: str, grammaticality: str) -> dict[str, str]:
    condition = CONDITIONS[grammaticality]
    sentence = item.sentences[condition]
    ours = {PUBLISHED, *(f"{column} {name}" for column in WORDS for name in CONDITIONS.values())}
    line = {
        "Phenomenon": phenomenon,
        "Paradigm": item.extra.get(PUBLISHED, item.paradigm),
        "Item": number(item, "Item"),
        "Grammaticality": grammaticality,
        "Sentence": sentence.text,
    }
    for column, name in WORDS.items():
        line[column] = spelt(sentence, name, item.extra.get(f"{column} {condition}", ""), item.language)
    return {**{key: text for key, text in item.extra.items() if key not in ours}, **line}


def loses(materials: Materials) -> list[str]:
    """Return what a BLiMP-NL table cannot hold of these materials."""
    return losses(materials, write, read)
