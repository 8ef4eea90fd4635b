"""The hand-written source format: a CSV file, one sentence a row, with the regions marked inside the sentence.

    paradigm,phenomenon,item,condition,sentence
    npi_no,npi_licensing,npi-01,grammatical,{No} student in the class has [ever] complained about it.
    npi_no,npi_licensing,npi-01,ungrammatical,{The} student in the class has [ever] complained about it.

`[ever]` is the critical region, `{No}` the cue, `[name|text]` any other region; regions may nest; a backslash
makes the next character ordinary. Comma, semicolon or tab separates, whichever the header uses. A column of any other name is
kept with the item, under `name (condition)` where its conditions differ in it: a factor of items, or what a task needs to know
(`lexicality`); a name that is nearly one of ours is taken for a slip. `critical` holds the critical region of a sentence without
marks, which stands in it once. `choices` gives the answers to a `question`, with bars
between them (`Anna | Peter`), on any row of its item; without it they are yes and no in the item's language. `segmentation` is the
sentence once more with a space after each word, where a language writes none. Two columns say
something of the whole paradigm, on any row of it:
`factors`, where its conditions are not grammatical and ungrammatical, gives the levels of each factor, and a condition is
one level of each, joined by dots (`extraction: subject, object | phrase: name, noun`, with conditions subject.name, subject.noun
...); `waive` names rules of `check` that it may break, each with the reason (`word-count: the object is dropped | balance: by
design`).
"""

import csv
import difflib
import io
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gardenpath import study
from gardenpath.study.csv_rows import read_csv_rows

from ..items import CRITICAL, CUE, MINIMAL_PAIR, Item, Materials, Region, Sentence, SourceLine
from .csv_and_jsonl import is_of_other_condition, merge_free_columns
from .sentence_rows import SentenceRow, SentenceRows

NAME = "source"
SUFFIX = ".csv"
LINE_PATTERN = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
INTERNED_COLUMNS = ("paradigm", "phenomenon", "item", "condition", "language")
REQUIRED_COLUMNS = ("paradigm", "phenomenon", "item", "condition", "sentence")
OPTIONAL_COLUMNS = (
    "language",
    "critical",
    "context",
    "question",
    "answer",
    "choices",
    "segmentation",
    "display",
    "alternatives",
    "notes",
    "factors",
    "waive",
)
SINGLE_CONDITION = "only"  # the condition of sentences that have none, as fillers
MARKUP_CHARACTERS = "[]{}|\\"
SLIP_SIMILARITY = 0.75  # how much of a name may be a slip


def recognises(text: str) -> bool:
    """Whether the first line is a header that names a sentence and a condition."""
    return _is_sentence_header(_read_header(text))


def nearly_recognises(text: str) -> bool:
    """Whether the first line is such a header but for slips in its names."""
    return _is_sentence_header([suggest_column(name) or name for name in _read_header(text)])


def _is_sentence_header(names: Sequence[str]) -> bool:
    return "sentence" in names and ("condition" in names or "item" in names)


def _read_header(text: str) -> list[str]:
    header, _ = _find_header_line(text)
    return _split_header(header, _detect_separator(header))


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a source file; every broken row is named and the rest is read."""
    rows = SentenceRows()
    header_line, before = _find_header_line(text)
    separator = _detect_separator(header_line)
    header = _split_header(header_line, separator)
    faults = _find_header_faults(header)
    condition_fault = _format_missing_column("condition") if "condition" not in header else ""  # which fillers need not have
    for fault in faults if faults != [condition_fault] else []:
        rows.add_fault(SourceLine(file, 1 + before), fault)
    if rows.findings:
        return rows
    stream = (found[0] for found in LINE_PATTERN.finditer(text))  # io.StringIO would take four times the text
    for _ in range(before):
        next(stream)
    line = 1
    try:
        for line, cells in read_csv_rows(stream, separator):
            if line > 1 and any(cell.strip() for cell in cells):
                _add_row(rows, SourceLine(file, line + before), header, cells)
    except ValueError as error:
        number, _, message = str(error).removeprefix("line ").partition(": ")
        rows.add_fault(SourceLine(file, int(number) + before), message)
    items = [row.item for row in rows.rows]
    if condition_fault and not len(items) == len({*items}) > 0:
        rows.rows = []
        rows.add_fault(SourceLine(file, 1 + before), f"{condition_fault}; only where each item is one sentence may it be left out")
    rows.rows = _merge_free_columns(rows.rows)
    return rows


def _merge_free_columns(rows: Sequence[SentenceRow]) -> list[SentenceRow]:
    """Return the rows with what the free columns say of their item in all its conditions."""
    cells: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for row in rows:
        cells[row.item][row.condition] = row.extra
    return [replace(row, extra=merge_free_columns(cells[row.item])) if row.extra else row for row in rows]


def _add_row(rows: SentenceRows, source_line: SourceLine, header: Sequence[str], cells: Sequence[str]) -> None:
    if len(cells) != len(header):
        message = (
            f"{len(cells)} cells, expected {len(header)} ({', '.join(header)}); "
            'put a sentence that holds the separator in double quotes: "Yes, he did."'
        )
        return rows.add_fault(source_line, message)
    row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    row |= {name: sys.intern(row[name]) for name in INTERNED_COLUMNS if name in row}  # each is said in many rows
    row["condition"] = row.get("condition") or SINGLE_CONDITION
    empty = [name for name in REQUIRED_COLUMNS if not row[name]]
    if empty:
        what = "the sentence is empty" if empty == ["sentence"] else f"{', '.join(empty)} is empty"
        message = f"{what}; expected text in each of {', '.join(REQUIRED_COLUMNS)}"
        return rows.add_fault(source_line, message, row["paradigm"], row["item"], row["condition"])
    try:
        sentence, regions = parse_marked_sentence(row["sentence"])
        regions = _add_critical_region(sentence, regions, row.get("critical", ""))
        segmentation = parse_segmentation(sentence, row.get("segmentation", ""))
        waivers = _parse_waivers(row.get("waive", ""))
        choices = _parse_choices(row.get("choices", ""))
    except ValueError as error:
        return rows.add_fault(source_line, str(error), row["paradigm"], row["item"], row["condition"])
    try:
        factors = _parse_factors(row.get("factors", ""))
    except ValueError as error:
        return rows.add_fault(source_line, str(error), row["paradigm"], row["item"], row["condition"], once=True)
    rows.rows.append(
        SentenceRow(
            source_line,
            row["paradigm"],
            row["phenomenon"],
            row["item"],
            row["condition"],
            sentence,
            regions,
            language=row.get("language", ""),
            context=row.get("context") or None,
            question=row.get("question") or None,
            answer=row.get("answer") or None,
            choices=choices,
            segmentation=segmentation,
            display=_split_words(row.get("display", "")),
            alternatives=_split_words(row.get("alternatives", "")),
            notes=row.get("notes") or None,
            extra={name: cell for name, cell in row.items() if name not in REQUIRED_COLUMNS + OPTIONAL_COLUMNS},
            waivers=waivers,
            factors=factors,
        )
    )
    return None


def _add_critical_region(sentence: str, regions: tuple[Region, ...], cell: str) -> tuple[Region, ...]:
    """Return the regions with the critical one that a cell states; it stands in the sentence once, as whole words if it can."""
    if not cell:
        return regions
    marked = [sentence[region.start : region.end] for region in regions if region.name == CRITICAL]
    if marked:
        if marked == [cell]:
            return regions
        raise ValueError(f"critical is {cell!r}, and the sentence marks [{']['.join(marked)}]; expected one of the two")
    exact = re.escape(cell)
    matches = [*re.finditer(rf"(?<!\w){exact}(?!\w)", sentence)] or [*re.finditer(exact, sentence)]
    if len(matches) != 1:
        found = f"{len(matches)} times" if matches else "nowhere"
        raise ValueError(
            f"critical is {cell!r}, which stands {found} in {sentence!r}; expected words of the sentence that stand there once, "
            "or [ ] around them in the sentence"
        )
    region = Region(CRITICAL, *matches[0].span())
    return tuple(sorted((*regions, region), key=lambda r: (r.start, -r.end)))


def parse_segmentation(sentence: str, cell: str) -> tuple[tuple[int, int], ...] | None:
    """Return the span of each word that a cell separates by spaces; None where it is empty.

    >>> parse_segmentation("我昨天看了书。", "我 昨天 看 了 书。")
    ((0, 1), (1, 3), (3, 4), (4, 5), (5, 7))
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for word in cell.split():
        while sentence[at : at + 1].isspace():
            at += 1
        if not sentence.startswith(word, at):
            raise ValueError(
                f"segmentation has {word!r} where the sentence goes on {sentence[at : at + 12]!r} (character {at}); expected the "
                "sentence without its marks, with a space after each word"
            )
        spans.append((at, at + len(word)))
        at += len(word)
    if spans and (rest := sentence[at:].strip()):
        raise ValueError(f"segmentation ends before {rest[:12]!r}; expected the whole sentence, with a space after each word")
    return tuple(spans) or None


def _split_words(cell: str) -> tuple[str, ...] | None:
    """Return what a cell says of each word, with spaces between."""
    return tuple(cell.split()) or None


def _parse_choices(cell: str) -> tuple[str, ...]:
    """Return the answers to choose from in a cell."""
    choices = tuple(choice.strip() for choice in cell.split("|")) if cell else ()
    if cell and (len(choices) < 2 or not all(choices) or len(set(choices)) < len(choices)):
        raise ValueError(f"choices is {cell!r}; expected two or more different answers with ' | ' between them")
    return choices


def _parse_factors(cell: str) -> dict[str, tuple[str, ...]]:
    """Return the levels of each factor in a cell."""
    factors: dict[str, tuple[str, ...]] = {}
    for factor in filter(None, map(str.strip, cell.split("|"))):
        name, _, listed = (part.strip() for part in factor.partition(":"))
        levels = tuple(level.strip() for level in listed.split(","))
        if not name or not all(levels) or len(set(levels)) < len(levels) or ";" in listed:
            raise ValueError(f"factors is {factor!r}; expected  factor: level, level  and between two factors ' | '")
        factors[name] = levels
    return factors


def _parse_waivers(cell: str) -> dict[str, str]:
    """Return rule and reason of each waiver in a cell."""
    waivers: dict[str, str] = {}
    for waiver in filter(None, map(str.strip, cell.split(" | "))):
        rule, _, reason = (part.strip() for part in waiver.partition(":"))
        if not rule or not reason:
            raise ValueError(f"waive is {waiver!r}; expected  rule: reason  and between two waivers ' | '")
        waivers[rule] = reason
    return waivers


def parse_marked_sentence(marked: str) -> tuple[str, tuple[Region, ...]]:
    """Return the plain sentence and its regions from marked text.

    >>> parse_marked_sentence("{No} cat has [ever] slept.")
    ('No cat has ever slept.', (Region(name='cue', start=0, end=2), Region(name='critical', start=11, end=15)))
    """
    plain: list[str] = []
    regions: list[Region] = []
    opened: list[tuple[str, str, int]] = []  # closing mark, name, start
    position = 0
    while position < len(marked):
        character = marked[position]
        if character == "\\" and position + 1 < len(marked):
            position += 1
            plain.append(marked[position])
        elif character == "[":
            name, position = _parse_region_name(marked, position)
            opened.append(("]", name, len(plain)))
        elif character == "{":
            opened.append(("}", CUE, len(plain)))
        elif character in "]}":
            if not opened or opened[-1][0] != character:
                raise ValueError(
                    f"{character!r} at character {position} closes nothing in {marked!r}; write \\{character} for {character!r}"
                )
            _, name, start = opened.pop()
            regions.append(Region(name, start, len(plain)))
        else:
            plain.append(character)
        position += 1
    if opened:
        raise ValueError(f"region {opened[-1][1]!r} is opened and never closed in {marked!r}; expected {opened[-1][0]!r}")
    return "".join(plain), tuple(sorted(regions, key=lambda r: (r.start, -r.end)))


def _parse_region_name(marked: str, position: int) -> tuple[str, int]:
    """Return the region's name after `[` and where its text starts: `[name|text]`, or `[text]` for critical."""
    bar = marked.find("|", position)
    if bar != -1 and not any(sign in marked[position + 1 : bar] for sign in "[]{}\\"):
        return marked[position + 1 : bar].strip(), bar
    return CRITICAL, position


def write(materials: Materials) -> str:
    """Return the materials as a source file."""
    phenomena = {p.id: p.phenomenon for p in materials.paradigms}
    waive = {p.id: _format_waivers(p.waivers) for p in materials.paradigms}
    factors = {p.id: "" if p.factors == MINIMAL_PAIR else _format_factors(p.factors) for p in materials.paradigms}
    rows = []
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            needed = [item.paradigm, phenomena[item.paradigm], item.id, condition, mark_regions(sentence)]
            # What is said of a paradigm stands on its first row.
            of_paradigm = {"factors": factors.pop(item.paradigm, ""), "waive": waive.pop(item.paradigm, "")}
            rows.append((needed, {**_build_optional_cells(item, condition), **of_paradigm, **_build_free_cells(item, condition)}))
    names = dict.fromkeys([*OPTIONAL_COLUMNS, *(name for _, extra in rows for name in extra)])
    optional = [name for name in names if any(extra.get(name) for _, extra in rows)]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*REQUIRED_COLUMNS, *optional])
    writer.writerows([*needed, *(extra.get(name, "") for name in optional)] for needed, extra in rows)
    return stream.getvalue()


def _format_factors(factors: Mapping[str, Sequence[str]]) -> str:
    return " | ".join(f"{factor}: {', '.join(levels)}" for factor, levels in factors.items())


def _format_waivers(waivers: Mapping[str, str]) -> str:
    return " | ".join(f"{rule}: {reason}" for rule, reason in waivers.items())


def _build_optional_cells(item: Item, condition: str) -> dict[str, str]:
    """Return the cells of the optional columns, empty where they say nothing."""
    question = item.question
    return {
        "language": "" if item.language == "en" else item.language,
        "context": item.context or "",
        "question": question.text if question else "",
        "answer": question.answers[condition] if question else "",
        "choices": "" if _has_usual_choices(item) or question is None else " | ".join(question.choices),
        "segmentation": _format_segmentation(item.sentences[condition]),
        "display": " ".join(item.sentences[condition].display or ()),
        "alternatives": " ".join(item.sentences[condition].alternatives or ()),
        "notes": item.notes or "",
    }


def _format_segmentation(sentence: Sentence) -> str:
    """Return an author's words with spaces between; nothing where a cell would not give them back."""
    cell = " ".join(sentence.text[a:b] for a, b in sentence.segmentation or ())
    try:
        return cell if parse_segmentation(sentence.text, cell) == sentence.segmentation else ""
    except ValueError:
        return ""


def _has_usual_choices(item: Item) -> bool:
    """Whether the answers to choose from are those that an item has where none are stated."""
    return item.question is None or item.question.choices == study.yes_no_words.get_yes_no_words(item.language)


def _build_free_cells(item: Item, condition: str) -> dict[str, str]:
    """Return the cells of the free columns of an item in a condition, but of names that would not be read again."""
    columns = {k.removesuffix(f" ({condition})"): v for k, v in item.extra.items() if not is_of_other_condition(k, item, condition)}
    return {name: cell for name, cell in columns.items() if name == name.strip() and not _find_name_fault(name)}


def _find_lost_fields(item: Item) -> list[str]:
    """Return which of the extra fields of an item a file would not give back."""
    cells = {condition: _build_free_cells(item, condition) for condition in item.sentences}
    names = dict.fromkeys(name for row in cells.values() for name in row)
    again = merge_free_columns({c: {name: row.get(name, "").strip() for name in names} for c, row in cells.items()})
    return [key for key, cell in item.extra.items() if again.get(key) != cell]


def mark_regions(sentence: Sentence) -> str:
    """Return the sentence with its regions marked, the inverse of `parse_marked_sentence`."""
    marks: list[tuple[int, int, int, str]] = []
    for order, region in enumerate(sentence.regions):
        opening, closing = {CRITICAL: ("[", "]"), CUE: ("{", "}")}.get(region.name, (f"[{region.name}|", "]"))
        size = region.end - region.start
        # At one place: close inner before outer, then empty regions whole, then open outer before inner.
        marks.append((region.start, 2 if size else 1, -size if size else order, opening if size else opening + closing))
        if size:
            marks.append((region.end, 0, size, closing))
    pieces, position = [], 0
    for offset, _, _, sign in sorted(marks):
        pieces += [_escape(sentence.text[position:offset]), sign]
        position = offset
    return "".join([*pieces, _escape(sentence.text[position:])])


def _escape(text: str) -> str:
    return "".join(f"\\{c}" if c in MARKUP_CHARACTERS else c for c in text)


def list_losses(materials: Materials) -> list[str]:
    """Return what a source file cannot hold of these materials."""
    lost = [f"factors of paradigm {p.id}" for p in materials.paradigms if not _can_hold_factors(p.factors)]
    lost += [f"references or predictions of paradigm {p.id}" for p in materials.paradigms if p.references or p.predictions]
    lost += [f"waivers of paradigm {p.id}" for p in materials.paradigms if not _can_hold_waivers(p.waivers)]
    fields = {item.id: _find_lost_fields(item) for item in materials.items if item.extra}
    lost += [f"extra fields of item {item}: {', '.join(names)}" for item, names in fields.items() if names]
    lost += [
        f"choices of the question of item {i.id}"
        for i in materials.items
        if i.question and not _has_usual_choices(i) and not _can_hold_choices(i.question.choices)
    ]
    lost += [
        f"segmentation of item {item.id} ({condition})"
        for item in materials.items
        for condition, sentence in item.sentences.items()
        if sentence.segmentation and not _format_segmentation(sentence)
    ]
    lost += [
        f"{name} of item {item.id} ({condition}): there are spaces within words"
        for item in materials.items
        for condition, sentence in item.sentences.items()
        for name in ("display", "alternatives")
        if (words := getattr(sentence, name)) is not None and _split_words(" ".join(words)) != words
    ]
    return lost


def _can_hold_choices(choices: tuple[str, ...]) -> bool:
    """Whether a cell gives the answers back; those that hold the sign between answers are not."""
    try:
        return _parse_choices(" | ".join(choices)) == choices
    except ValueError:
        return False


def _can_hold_factors(factors: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a cell gives the factors back; names and levels that hold the signs between them are not."""
    try:
        return _parse_factors(_format_factors(factors)) == dict(factors)
    except ValueError:
        return False


def _can_hold_waivers(waivers: Mapping[str, str]) -> bool:
    """Whether a cell gives the waivers back; one whose reason holds the sign between waivers is not."""
    try:
        return _parse_waivers(_format_waivers(waivers).strip()) == waivers
    except ValueError:
        return False


def _find_header_line(text: str) -> tuple[str, int]:
    """Return the header, and how many lines stand before it: Excel may write the separator there, `sep=;`."""
    first, _, rest = text.partition("\n")
    return (rest.partition("\n")[0], 1) if first.lower().startswith("sep=") else (first, 0)


def _detect_separator(header: str) -> str:
    """Return the sign by which the header has most of our names; Excel writes semicolons where commas are decimal."""
    return max(",;\t", key=lambda sign: (sum(name in REQUIRED_COLUMNS for name in _split_header(header, sign)), header.count(sign)))


def _split_header(header: str, separator: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
    except csv.Error:  # a cell too long for a header: another format
        return []


def _find_header_faults(header: Sequence[str]) -> list[str]:
    if len(header) == 1 and "," in header[0]:
        return [
            "each row stands in one cell, with commas inside; expected a cell for each column: in Excel, load the table by "
            "Data > From Text/CSV and save it as 'CSV UTF-8'"
        ]
    slips = {suggest_column(name) for name in header if name not in REQUIRED_COLUMNS + OPTIONAL_COLUMNS}
    faults = [_format_missing_column(name) for name in REQUIRED_COLUMNS if name not in header and name not in slips]
    faults += [
        f"column {name!r} is there {header.count(name)} times; expected once"
        for name in dict.fromkeys(header)
        if header.count(name) > 1
    ]
    return faults + [
        fault for name in header if name not in REQUIRED_COLUMNS + OPTIONAL_COLUMNS and (fault := _find_name_fault(name))
    ]


def _format_missing_column(name: str) -> str:
    return f"column {name!r} is missing; expected {', '.join(REQUIRED_COLUMNS)}, and if wanted {', '.join(OPTIONAL_COLUMNS)}"


def _find_name_fault(name: str) -> str | None:
    """Return why no free column can have this name, None where one can."""
    if not name or "\n" in name:
        return f"column {name!r} is not known; expected a name of one line, or no such column"
    if near := suggest_column(name):
        return f"column {name!r} is not known; did you mean {near!r}? (A free column needs a name less like ours.)"
    return None


def suggest_column(name: str) -> str | None:
    """Return which of our names a column's name nearly is."""
    return next(
        iter(difflib.get_close_matches(name.lower(), REQUIRED_COLUMNS + OPTIONAL_COLUMNS, n=1, cutoff=SLIP_SIMILARITY)), None
    )
