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
from .csv_and_jsonl import as_text, first_record, from_text, header, json_lines, lines_of_json, records, table
from .pair_rows import identity, number, pair, pairs, stem, take_identity, texts
from .round_trip import losses
from .sentence_rows import Rows
from .word_regions import Member, kept, located, spelt

Record = tuple[int, tuple[SourceLine, SourceLine], dict[str, Any]]  # row, places of the two sentences, fields


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
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # region: in the good and in the bad sentence
    separators: str = ""  # of tables that are read; the first one is written
    header: tuple[str, ...] = ()  # as written, where that differs from `needed`
    any_case: bool = False  # keys are read in small and in capital letters
    comma_with: str = ""  # the column with which a table is written with commas
    file_prefix: str = ""  # left out of the paradigm's name
    split_paradigms: bool = False  # a paradigm's name that stands under two phenomena names two paradigms

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns by which a file of the corpus is recognised."""
        words = [column for columns in self.words.values() for column in columns]
        columns = (self.good, self.bad, *words, self.phenomenon, self.paradigm, self.number)
        return tuple(dict.fromkeys(filter(None, columns)))

    @property
    def json(self) -> bool:
        """Whether it is written as JSON."""
        return self.SUFFIX == ".jsonl"

    def recognises(self, text: str) -> bool:
        """Whether the first line, an object or a header, has the corpus's columns."""
        names = list(first_record(text)) if self.json else []
        if self.separators and not names:
            names = header(text, self.separators)[0]
        return set(self.needed) <= {self._key(name) for name in names}

    def _key(self, name: str) -> str:
        return next((key for key in self.needed if self.any_case and key.lower() == name.lower()), name)

    def read(self, text: str, file: str) -> Rows:
        """Return the rows of a file; items are named paradigm-number, or paradigm-row."""
        rows = Rows()
        whole = [record for record in self._records(rows, text, file) if self._whole(rows, record)]
        phenomena: dict[str, set[str]] = defaultdict(set)
        for _, _, fields in whole:
            phenomena[self._paradigm(fields, file)].add(fields[self.phenomenon])
        for row, places, fields in whole:
            name = self._paradigm(fields, file)
            if self.split_paradigms and len(phenomena[name]) > 1:
                name = f"{name} ({fields[self.phenomenon]})"
            self._add(rows, places, fields, name, fields[self.number] if self.number else row)
        return rows

    def _records(self, rows: Rows, text: str, file: str) -> Iterator[Record]:
        if self.json and (text.lstrip().startswith("{") or not self.separators):
            for place, record in json_lines(rows, text, file):
                yield place.line, (place, place), {self._key(key): value for key, value in record.items()}
        else:
            for row, place, cells in records(rows, text, file, self.needed, self.separators):
                yield row, (place, place), cells

    def _whole(self, rows: Rows, record: Record) -> bool:
        """Whether the record has all that a pair needs; otherwise that is a fault."""
        _, (place, _), fields = record
        expected = [key for key in self.needed if not any(key in columns for columns in self.words.values())]
        missing = [
            key
            for key in expected
            if fields.get(key) in (None, "") or not (key == self.number or isinstance(fields[key], str))
        ]
        if missing:
            what = "missing or not a text; expected" if self.json else "is empty; expected text in each of"
            rows.fault(place, f"{', '.join(missing)} {what} {', '.join(expected)}")
        return not missing

    def _paradigm(self, fields: Mapping[str, str], file: str) -> str:
        return fields[self.paradigm] if self.paradigm else stem(file).removeprefix(self.file_prefix)

    def _add(
        self, rows: Rows, places: tuple[SourceLine, SourceLine], fields: dict[str, Any], name: str, number: Any
    ) -> None:
        as_cell = as_text if self.json else str
        paradigm, item, language = take_identity(fields, name, str(number), self.language)
        extra = {k: as_cell(value) for k, value in fields.items() if k not in self.needed or k == self.number}
        members, regions = [], []
        for which, (condition, column) in enumerate(((GRAMMATICAL, self.good), (UNGRAMMATICAL, self.bad))):
            member = Member(places[which], paradigm, item, condition, fields[column], language)
            marked: list[Region] = []
            for region, columns in self.words.items():
                words = fields[columns[which]]
                spans = located(rows, member, region, words)
                extra[columns[which]] = extra.get(columns[which]) or kept(words, member.text, spans)
                marked += spans
            members.append(member)
            regions.append(tuple(sorted(marked, key=lambda region: region.start)))
        pair(rows, fields[self.phenomenon], members, regions, extra)

    def write(self, materials: Materials) -> str:
        """Return minimal pairs as a file of the corpus."""
        minimal_pairs = pairs(materials)
        items = [item for item, _ in minimal_pairs]
        numbers = self._numbers(items)
        implied = [
            (item.paradigm if self.paradigm else "", f"{item.paradigm}-{n}", self.language)
            for item, n in zip(items, numbers, strict=True)
        ]
        lines = [
            {**self._line(item, phenomenon, n), **own_columns}
            for (item, phenomenon), n, own_columns in zip(minimal_pairs, numbers, identity(items, implied), strict=True)
        ]
        return lines_of_json(lines) if self.json else self._table(lines)

    def _numbers(self, items: Sequence[Item]) -> list[str]:
        return [number(item, self.number) if self.number else str(row) for row, item in enumerate(items, start=1)]

    def _line(self, item: Item, phenomenon: str, n: str) -> dict[str, Any]:
        value = from_text if self.json else str
        line = dict.fromkeys(self.header or self.needed, "") | {k: value(text) for k, text in item.extra.items()}
        line |= zip((self.good, self.bad), texts(item), strict=True)
        line |= {self.phenomenon: phenomenon}
        if self.paradigm:
            line[self.paradigm] = item.paradigm.removesuffix(f" ({phenomenon})" if self.split_paradigms else "")
        if self.number:
            line[self.number] = value(n)
        for region, columns in self.words.items():  # a column of both sentences holds the words of the good one
            for column, condition in zip(reversed(columns), (UNGRAMMATICAL, GRAMMATICAL), strict=True):
                line[column] = spelt(item.sentences[condition], region, item.extra.get(column, ""), item.language)
        return line

    def _table(self, lines: Sequence[Mapping[str, str]]) -> str:
        comma = bool(self.comma_with) and any(self.comma_with in line for line in lines)
        return table(lines, self.header or self.needed, "," if comma else self.separators[0])

    def loses(self, materials: Materials) -> list[str]:
        """Return what a file of the corpus cannot hold of these materials."""
        return losses(materials, self.write, self.read)


@dataclass(frozen=True)
class Climp(Corpus):
    """CLiMP has a sentence a row, below the header `,0,1,2,3`: index, category, subcategory, sentence, 1 for grammatical or 0.

    Rows 2k and 2k + 1 are a pair, which has the index of the first. One file (the ba construction) has the header `,0` and bare
    sentences, the grammatical one first; its paradigm is the file's name.
    """

    def recognises(self, text: str) -> bool:
        """Whether the first line is CLiMP's header of numbers."""
        return _first(text) == ",0" or f"{_first(text)},".startswith(f"{','.join(CLIMP)},")

    def _records(self, rows: Rows, text: str, file: str) -> Iterator[Record]:
        couples: dict[int, list[tuple[SourceLine, dict[str, str]]]] = defaultdict(list)
        for _, place, cells in _bare(text, file) if _first(text) == ",0" else records(rows, text, file, CLIMP, ","):
            if not cells[""].isdigit() or cells["3"] not in ("1", "0"):
                rows.fault(place, f"index {cells['']!r} and label {cells['3']!r}; expected a number, and 1 or 0")
            elif not all(cells[column] for column in ("0", "1", "2")):
                rows.fault(place, "category, subcategory or sentence is empty; expected text in each")
            else:
                couples[int(cells[""]) // 2].append((place, cells))
        for k, couple in couples.items():
            place, first = couple[0]
            labels = [cells["3"] for _, cells in couple]
            kinds = {(cells["0"], cells["1"]) for _, cells in couple}
            if sorted(labels) != ["0", "1"] or len(kinds) > 1:
                paradigm, item, _ = take_identity(first, first["1"], str(2 * k), self.language)
                message = f"rows {2 * k} and {2 * k + 1} have labels {', '.join(labels)} and {len(kinds)} paradigms"
                rows.fault(place, f"{message}; expected 1, 0 and one", paradigm, item)
            else:
                (good_place, good), (bad_place, bad) = couple if labels[0] == "1" else reversed(couple)
                shared = {column: cell for column, cell in first.items() if column not in ("", "2", "3")}
                sentences = {self.good: good["2"], self.bad: bad["2"], self.number: str(2 * k)}
                yield 2 * k, (good_place, bad_place), {**shared, **sentences}

    def _numbers(self, items: Sequence[Item]) -> list[str]:
        numbers = super()._numbers(items)
        fit = all(n.isdigit() and int(n) % 2 == 0 for n in numbers) and len(set(numbers)) == len(numbers)
        return numbers if fit else [str(2 * k) for k in range(len(items))]

    def _table(self, lines: Sequence[Mapping[str, str]]) -> str:
        halves = []
        for line in lines:
            shared = {k: text for k, text in line.items() if k not in (self.good, self.bad, self.number)}
            n = int(line[self.number])
            halves.append({**shared, "": str(n), "2": line[self.good], "3": "1"})
            halves.append({**shared, "": str(n + 1), "2": line[self.bad], "3": "0"})
        return table(halves, CLIMP, ",")


CLIMP = ("", "0", "1", "2", "3")


def _first(text: str) -> str:
    return text.partition("\n")[0].strip()


def _bare(text: str, file: str) -> Iterator[tuple[int, SourceLine, dict[str, str]]]:
    """Yield the sentences of a CLiMP file that has nothing else, as rows of the full table."""
    name = stem(file)
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n")[1:], start=2) if line.strip()]
    for k, (at, line) in enumerate(lines):
        yield k, SourceLine(file, at), dict(zip(CLIMP, (str(k), name, name, line, str(1 - k % 2)), strict=True))


CORPORA = (
    Corpus(
        "turblimp",
        ".csv",
        "tr",
        good="good_sentence",
        bad="bad_sentence",
        phenomenon="phenomenon",
        words={CUE: ("good_cue", "bad_cue"), CRITICAL: ("critical_region", "critical_region")},
        separators=";,",
        comma_with="subtype",  # in the experimental files
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
        words={CRITICAL: ("source_word", "target_word")},
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
        any_case=True,
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
