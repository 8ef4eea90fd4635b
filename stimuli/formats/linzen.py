"""Linzen, Dupoux and Goldberg's agreement tables: sentences with subject and verb (2016, doi 10.1162/tacl_a_00115).

A row has the grammatical sentence only: the verb's other form is not in it and is not guessed, so an item has the one
condition `grammatical`. The text is `orig_sentence`, where `sentence` has parts of speech in place of rare words. The
verb is the critical region and the subject the cue, by their indexes (the first word is 1). Every other column is
kept. The paradigm is the file's name.
"""

import re

from ..items import CRITICAL, CUE, GRAMMATICAL, Item, Materials, Paradigm, Region, SourceLine
from .csv_and_jsonl import format_table, read_header, read_table_rows
from .pair_rows import get_file_stem, list_own_columns, take_identity
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRow, SentenceRows
from .word_regions import SourceSentence, add_warning

NAME = "linzen"
SUFFIX = ".tsv"
PHENOMENON = "subject_verb_agreement"
REQUIRED_COLUMNS = ("orig_sentence", "subj", "verb", "subj_index", "verb_index")
COLUMNS = (
    *("sentence", "orig_sentence", "pos_sentence", "subj", "verb", "subj_pos", "has_rel", "has_nsubj", "verb_pos"),
    *("subj_index", "verb_index", "n_intervening", "last_intervening", "n_diff_intervening", "distance", "max_depth"),
    *("all_nouns", "nouns_up_to_verb"),
)
REGION_COLUMNS = {"subj": CUE, "verb": CRITICAL}
LANGUAGE = "en"


def recognises(text: str) -> bool:
    """Whether the first line names the columns of these tables."""
    return set(REQUIRED_COLUMNS) <= set(read_header(text, "\t")[0])


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a table; items are named file-row."""
    rows = SentenceRows()
    for row, source_line, record in read_table_rows(rows, text, file, REQUIRED_COLUMNS, "\t", quoted=False):
        _add_sentence(rows, source_line, record, row)
    return rows


def _add_sentence(rows: SentenceRows, source_line: SourceLine, record: dict[str, str], row: int) -> None:
    paradigm, item, language = take_identity(record, get_file_stem(source_line.file), str(row), LANGUAGE)
    phenomenon = record.pop("phenomenon", "") or PHENOMENON
    member = SourceSentence(source_line, paradigm, item, GRAMMATICAL, record["orig_sentence"], language)
    if not member.text:
        return rows.add_fault(source_line, "orig_sentence is empty; expected the words of a sentence", paradigm, item)
    rows.paradigms.setdefault(paradigm, Paradigm(paradigm, phenomenon, {"condition": (GRAMMATICAL,)}))
    regions = [region for column in REGION_COLUMNS for region in _find_region(rows, member, record, column)]
    extra = {column: text for column, text in record.items() if column != "orig_sentence" and text}
    marked = tuple(sorted(regions, key=lambda region: region.start))
    rows.rows.append(SentenceRow(source_line, paradigm, phenomenon, item, GRAMMATICAL, member.text, marked, language, extra=extra))
    return None


def _find_region(rows: SentenceRows, member: SourceSentence, record: dict[str, str], column: str) -> tuple[Region, ...]:
    """Return the region of the word at the index that the row gives, if it is the word that the row gives."""
    word, index = record[column], record[f"{column}_index"]
    if not word:
        return ()
    spans = [match.span() for match in re.finditer(r"\S+", member.text)]
    if index.isdigit() and 1 <= int(index) <= len(spans):
        start, end = spans[int(index) - 1]
        if member.text[start:end].lower() == word.lower():
            return (Region(REGION_COLUMNS[column], start, end),)
    add_warning(
        rows, member, "region-not-found", f"word {index} of {member.text!r} is not the {column} {word!r}; no region is marked"
    )
    return ()


def write(materials: Materials) -> str:
    """Return the items that have one condition as a table."""
    alone = {p.id: p.phenomenon for p in materials.paradigms if list(p.list_conditions()) == [GRAMMATICAL]}
    items = [item for item in materials.items if item.paradigm in alone]
    lines = [_build_line(item, alone[item.paradigm]) for item in items]
    implied = [("", f"{item.paradigm}-{row}", LANGUAGE) for row, item in enumerate(items, start=1)]
    both = [{**line, **own_columns} for line, own_columns in zip(lines, list_own_columns(items, implied), strict=True)]
    return format_table(both, COLUMNS, "\t", quoted=False)


def _build_line(item: Item, phenomenon: str) -> dict[str, str]:
    sentence = item.sentences[GRAMMATICAL]
    line = {**item.extra, "orig_sentence": sentence.text}
    for column, name in REGION_COLUMNS.items():
        words = sentence.list_region_words(name)
        if len(words) == 1:
            line |= {column: words[0].text, f"{column}_index": str(words[0].index + 1)}
    return line if phenomenon == PHENOMENON else {**line, "phenomenon": phenomenon}


def list_losses(materials: Materials) -> list[str]:
    """Return what these tables cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
