"""Corpora of minimal pairs: a table says what each column of their files holds, and one reader and one writer work from it.

    SLING     Chinese, with keys in small or in capital letters (Song et al. 2022, doi 10.18653/v1/2022.emnlp-main.305)
    JBLiMP    Japanese, jsonl or raw csv (Someya and Oseki 2023, doi 10.18653/v1/2023.findings-eacl.117)
    RuBLiMP   Russian (Taktasheva et al. 2024, doi 10.18653/v1/2024.emnlp-main.522)
    TurBLiMP  Turkish, a paradigm a file (Başar et al. 2025, arXiv 2506.13487)
    CLiMP     Chinese, a sentence a row (Xiang et al. 2021, doi 10.18653/v1/2021.eacl-main.242)

The words of a region are marked where the sentence holds them once. A column that is not in the table is kept in the item's extra
fields, with its JSON type where it has one. Chinese and Japanese are not cut into words.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Region, SourceLine
from .csv_and_jsonl import (
    format_json_lines,
    format_json_value,
    format_table,
    parse_json_value,
    read_first_object,
    read_header,
    read_json_lines,
    read_table_rows,
)
from .pair_rows import (
    add_pair,
    get_file_stem,
    get_item_number,
    get_pair_texts,
    list_own_columns,
    select_minimal_pairs,
    take_identity,
)
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRows
from .word_regions import SourceSentence, format_region_words, keep_spelling, locate_region

PairEntry = tuple[int, tuple[SourceLine, SourceLine], dict[str, Any]]  # row, places of the two sentences, fields


@dataclass(frozen=True)
class Corpus:
    """What the columns of a corpus hold, or the keys of its JSON objects, one a line (`.jsonl`)."""

    NAME: str
    SUFFIX: str
    language: str
    good: str
    bad: str
    phenomenon: str
    paradigm: str = ""  # without such a column it is the file's name
    number: str = ""  # of the item within its paradigm; without such a column it is the row
    word_columns: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # region: in the good and in the bad sentence
    separators: str = ""  # of tables that are read; the first one is written
    header: tuple[str, ...] = ()  # as written, where that differs from `required_columns`
    ignores_case: bool = False  # keys are read in small and in capital letters
    comma_column: str = ""  # the column with which a table is written with commas
    file_prefix: str = ""  # left out of the paradigm's name
    split_paradigms: bool = False  # a paradigm's name that stands under two phenomena names two paradigms

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The columns by which a file of the corpus is recognised."""
        words = [column for columns in self.word_columns.values() for column in columns]
        columns = (self.good, self.bad, *words, self.phenomenon, self.paradigm, self.number)
        return tuple(dict.fromkeys(filter(None, columns)))

    @property
    def is_json(self) -> bool:
        """Whether it is written as JSON."""
        return self.SUFFIX == ".jsonl"

    def recognises(self, text: str) -> bool:
        """Whether the first line, an object or a header, has the corpus's columns."""
        names = list(read_first_object(text)) if self.is_json else []
        if self.separators and not names:
            names = read_header(text, self.separators)[0]
        return set(self.required_columns) <= {self._find_key(name) for name in names}

    def _find_key(self, name: str) -> str:
        return next((key for key in self.required_columns if self.ignores_case and key.lower() == name.lower()), name)

    def read(self, text: str, file: str) -> SentenceRows:
        """Return the rows of a file; items are named paradigm-number, or paradigm-row."""
        rows = SentenceRows()
        whole = [record for record in self._read_entries(rows, text, file) if self._is_complete(rows, record)]
        phenomena: dict[str, set[str]] = defaultdict(set)
        for _, _, fields in whole:
            phenomena[self._find_paradigm(fields, file)].add(fields[self.phenomenon])
        for row, source_lines, fields in whole:
            name = self._find_paradigm(fields, file)
            if self.split_paradigms and len(phenomena[name]) > 1:
                name = f"{name} ({fields[self.phenomenon]})"
            self._add_pair(rows, source_lines, fields, name, fields[self.number] if self.number else row)
        return rows

    def _read_entries(self, rows: SentenceRows, text: str, file: str) -> Iterator[PairEntry]:
        if self.is_json and (text.lstrip().startswith("{") or not self.separators):
            for source_line, record in read_json_lines(rows, text, file):
                yield (source_line.line, (source_line, source_line), {self._find_key(key): value for key, value in record.items()})
        else:
            for row, source_line, cells in read_table_rows(rows, text, file, self.required_columns, self.separators):
                yield row, (source_line, source_line), cells

    def _is_complete(self, rows: SentenceRows, record: PairEntry) -> bool:
        """Whether the record has all that a pair needs; otherwise that is a fault."""
        _, (source_line, _), fields = record
        expected = [key for key in self.required_columns if not any(key in columns for columns in self.word_columns.values())]
        missing = [
            key for key in expected if fields.get(key) in (None, "") or not (key == self.number or isinstance(fields[key], str))
        ]
        if missing:
            what = "missing or not a text; expected" if self.is_json else "is empty; expected text in each of"
            rows.add_fault(source_line, f"{', '.join(missing)} {what} {', '.join(expected)}")
        return not missing

    def _find_paradigm(self, fields: Mapping[str, str], file: str) -> str:
        return fields[self.paradigm] if self.paradigm else get_file_stem(file).removeprefix(self.file_prefix)

    def _add_pair(
        self, rows: SentenceRows, source_lines: tuple[SourceLine, SourceLine], fields: dict[str, Any], name: str, number: Any
    ) -> None:
        as_cell = format_json_value if self.is_json else str
        paradigm, item, language = take_identity(fields, name, str(number), self.language)
        extra = {k: as_cell(value) for k, value in fields.items() if k not in self.required_columns or k == self.number}
        members, regions = [], []
        for which, (condition, column) in enumerate(((GRAMMATICAL, self.good), (UNGRAMMATICAL, self.bad))):
            member = SourceSentence(source_lines[which], paradigm, item, condition, fields[column], language)
            marked: list[Region] = []
            for region, columns in self.word_columns.items():
                words = fields[columns[which]]
                spans = locate_region(rows, member, region, words)
                extra[columns[which]] = extra.get(columns[which]) or keep_spelling(words, member.text, spans)
                marked += spans
            members.append(member)
            regions.append(tuple(sorted(marked, key=lambda region: region.start)))
        add_pair(rows, fields[self.phenomenon], members, regions, extra)

    def write(self, materials: Materials) -> str:
        """Return minimal pairs as a file of the corpus."""
        minimal_pairs = select_minimal_pairs(materials)
        items = [item for item, _ in minimal_pairs]
        numbers = self._list_numbers(items)
        implied = [
            (item.paradigm if self.paradigm else "", f"{item.paradigm}-{n}", self.language)
            for item, n in zip(items, numbers, strict=True)
        ]
        lines = [
            {**self._build_line(item, phenomenon, n), **own_columns}
            for (item, phenomenon), n, own_columns in zip(minimal_pairs, numbers, list_own_columns(items, implied), strict=True)
        ]
        return format_json_lines(lines) if self.is_json else self._format_table(lines)

    def _list_numbers(self, items: Sequence[Item]) -> list[str]:
        return [get_item_number(item, self.number) if self.number else str(row) for row, item in enumerate(items, start=1)]

    def _build_line(self, item: Item, phenomenon: str, n: str) -> dict[str, Any]:
        value = parse_json_value if self.is_json else str
        line = dict.fromkeys(self.header or self.required_columns, "") | {k: value(text) for k, text in item.extra.items()}
        line |= zip((self.good, self.bad), get_pair_texts(item), strict=True)
        line |= {self.phenomenon: phenomenon}
        if self.paradigm:
            line[self.paradigm] = item.paradigm.removesuffix(f" ({phenomenon})" if self.split_paradigms else "")
        if self.number:
            line[self.number] = value(n)
        for region, columns in self.word_columns.items():  # a column of both sentences holds the words of the good one
            for column, condition in zip(reversed(columns), (UNGRAMMATICAL, GRAMMATICAL), strict=True):
                line[column] = format_region_words(item.sentences[condition], region, item.extra.get(column, ""), item.language)
        return line

    def _format_table(self, lines: Sequence[Mapping[str, str]]) -> str:
        comma = bool(self.comma_column) and any(self.comma_column in line for line in lines)
        return format_table(lines, self.header or self.required_columns, "," if comma else self.separators[0])

    def list_losses(self, materials: Materials) -> list[str]:
        """Return what a file of the corpus cannot hold of these materials."""
        return find_round_trip_losses(materials, self.write, self.read)


@dataclass(frozen=True)
class Climp(Corpus):
    """CLiMP has a sentence a row, below the header `,0,1,2,3`: index, category, subcategory, sentence, 1 for grammatical or 0.

    Rows 2k and 2k + 1 are a pair, which has the index of the first. One file (the ba construction) has the header `,0` and bare
    sentences, the grammatical one first; its paradigm is the file's name.
    """

    def recognises(self, text: str) -> bool:
        """Whether the first line is CLiMP's header of numbers."""
        return _get_first_line(text) == ",0" or f"{_get_first_line(text)},".startswith(f"{','.join(CLIMP_COLUMNS)},")

    def _read_entries(self, rows: SentenceRows, text: str, file: str) -> Iterator[PairEntry]:
        couples: dict[int, list[tuple[SourceLine, dict[str, str]]]] = defaultdict(list)
        for _, source_line, cells in (
            _read_bare_sentences(text, file)
            if _get_first_line(text) == ",0"
            else read_table_rows(rows, text, file, CLIMP_COLUMNS, ",")
        ):
            if not cells[""].isdigit() or cells["3"] not in ("1", "0"):
                rows.add_fault(source_line, f"index {cells['']!r} and label {cells['3']!r}; expected a number, and 1 or 0")
            elif not all(cells[column] for column in ("0", "1", "2")):
                rows.add_fault(source_line, "category, subcategory or sentence is empty; expected text in each")
            else:
                couples[int(cells[""]) // 2].append((source_line, cells))
        for k, couple in couples.items():
            source_line, first = couple[0]
            labels = [cells["3"] for _, cells in couple]
            kinds = {(cells["0"], cells["1"]) for _, cells in couple}
            if sorted(labels) != ["0", "1"] or len(kinds) > 1:
                paradigm, item, _ = take_identity(first, first["1"], str(2 * k), self.language)
                message = f"rows {2 * k} and {2 * k + 1} have labels {', '.join(labels)} and {len(kinds)} paradigms"
                rows.add_fault(source_line, f"{message}; expected 1, 0 and one", paradigm, item)
            else:
                (good_line, good), (bad_line, bad) = couple if labels[0] == "1" else reversed(couple)
                shared = {column: cell for column, cell in first.items() if column not in ("", "2", "3")}
                sentences = {self.good: good["2"], self.bad: bad["2"], self.number: str(2 * k)}
                yield 2 * k, (good_line, bad_line), {**shared, **sentences}

    def _list_numbers(self, items: Sequence[Item]) -> list[str]:
        numbers = super()._list_numbers(items)
        fit = all(n.isdigit() and int(n) % 2 == 0 for n in numbers) and len(set(numbers)) == len(numbers)
        return numbers if fit else [str(2 * k) for k in range(len(items))]

    def _format_table(self, lines: Sequence[Mapping[str, str]]) -> str:
        halves = []
        for line in lines:
            shared = {k: text for k, text in line.items() if k not in (self.good, self.bad, self.number)}
            n = int(line[self.number])
            halves.append({**shared, "": str(n), "2": line[self.good], "3": "1"})
            halves.append({**shared, "": str(n + 1), "2": line[self.bad], "3": "0"})
        return format_table(halves, CLIMP_COLUMNS, ",")


CLIMP_COLUMNS = ("", "0", "1", "2", "3")


def _get_first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def _read_bare_sentences(text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    """Yield the sentences of a CLiMP file that has nothing else, as rows of the full table."""
    name = get_file_stem(file)
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n")[1:], start=2) if line.strip()]
    for k, (at, line) in enumerate(lines):
        yield k, SourceLine(file, at), dict(zip(CLIMP_COLUMNS, (str(k), name, name, line, str(1 - k % 2)), strict=True))


CORPORA = (
    Corpus(
        "turblimp",
        ".csv",
        "tr",
        good="good_sentence",
        bad="bad_sentence",
        phenomenon="phenomenon",
        word_columns={CUE: ("good_cue", "bad_cue"), CRITICAL: ("critical_region", "critical_region")},
        separators=";,",
        comma_column="subtype",  # in the experimental files
        file_prefix="augmented_",
    ),
    Corpus(
        "rublimp",
        ".csv",
        "ru",
        good="source_sentence",
        bad="target_sentence",
        phenomenon="phenomenon",
        paradigm="PID",
        number="id",
        word_columns={CRITICAL: ("source_word", "target_word")},
        separators=",;\t",
        header=(
            *("id", "source_sentence", "target_sentence", "source_word", "target_word", "level", "phenomenon", "PID"),
            *("subtype", "domain", "tree_depth"),
        ),
    ),
    Corpus(
        "sling",
        ".jsonl",
        "zh",
        good="sentence_good",
        bad="sentence_bad",
        phenomenon="phenomenon",
        paradigm="paradigm",
        number="pair_ID",
        ignores_case=True,
    ),
    Climp(
        "climp",
        ".csv",
        "zh",
        good="2 (grammatical)",  # of a pair that is made of two rows
        bad="2 (ungrammatical)",
        phenomenon="0",
        paradigm="1",
        number="index",
    ),
    Corpus(
        "jblimp",
        ".jsonl",
        "ja",
        good="good_sentence",
        bad="bad_sentence",
        phenomenon="phenomenon",
        paradigm="paradigm",
        number="ID",
        separators=",;\t",
        header=("ID", "good_sentence", "bad_sentence", "phenomenon", "paradigm"),
        split_paradigms=True,
    ),
)
