"""Lexicons: CSV files with a lemma or a form a row, read into entries: one form each, with features and demands on other slots."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .faults import Fault, Faults, Line, build_unknown_fault
from .restrictions import CATEGORY, NO_RESTRICTION, And, Features, Restriction, Vocabulary, read_restriction

NULL_FORM = "∅"  # the form of a word that is not there, as the auxiliary of a finite verb
RESERVED_COLUMNS = ("form", "lemma", CATEGORY, "onset")


@dataclass(frozen=True, eq=False)
class Entry:
    """A word form: its lemma, category, features (with category, lemma and form among them) and what it demands of other slots.

    `columns` holds the free columns, and `onset` where the row states it.
    """

    form: str
    lemma: str
    category: str
    features: Features
    demands: Mapping[str, Restriction]
    columns: Mapping[str, str]
    line: Line

    @cached_property
    def printed_form(self) -> str:
        """What a sentence shows of it: nothing for the null form."""
        return "" if self.form == NULL_FORM else self.form

    @cached_property
    def feature_bundle(self) -> frozenset[tuple[str, frozenset[str]]]:
        """Its declared features, to be compared."""
        return frozenset((f, v) for f, v in self.features.items() if f not in ("lemma", "form"))


@dataclass(frozen=True)
class FormColumn:
    """What a column of forms means: features of the form, and demands that it adds to those of its lemma."""

    features: Features
    demands: Mapping[str, Restriction] = field(default_factory=dict)


@dataclass(frozen=True)
class LexiconColumns:
    """What the columns of lexicons may be: features, demands, forms of each category, and free ones."""

    vocabulary: Vocabulary
    demand_columns: tuple[str, ...]
    form_columns: Mapping[str, Mapping[str, FormColumn]]
    free_columns: frozenset[str]

    def list_names(self) -> set[str]:
        """Return the names of all columns."""
        forms = {name for columns in self.form_columns.values() for name in columns}
        return {*RESERVED_COLUMNS, *self.vocabulary.features, *self.demand_columns, *self.free_columns, *forms}


def read_rows(text: str, file: str) -> list[tuple[Line, dict[str, str]]]:
    """Return the rows of a CSV file as dictionaries, each with its line; empty rows and rows that begin with # are left out."""
    reader = csv.reader(text.split("\n"))
    rows: list[tuple[Line, dict[str, str]]] = []
    header: list[str] | None = None
    for cells in reader:
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in cells]
        if header is None:
            header = cells
            continue
        if len(cells) > len(header):
            raise Fault(
                f"{file}, line {reader.line_num}: {len(cells)} cells, expected at most {len(header)} as in the header; "
                "put a cell that holds a comma in quotes"
            )
        rows.append((Line(file, reader.line_num), dict(zip(header, cells, strict=False))))
    return rows


def find_categories(rows: Iterable[tuple[Line, Mapping[str, str]]]) -> set[str]:
    """Return the categories that rows name."""
    return {row[CATEGORY] for _, row in rows if row.get(CATEGORY)}


def read_entries(
    rows: Iterable[tuple[Line, Mapping[str, str]]], columns: LexiconColumns, faults: Faults
) -> tuple[list[Entry], list[tuple[Line, str, Restriction]]]:
    """Return the entries of rows, several where a row has forms in columns, and each restriction that a cell states, once.

    Faults are noted, and their rows left out.
    """
    entries: list[Entry] = []
    restrictions: dict[str, tuple[Line, str, Restriction]] = {}
    known = columns.list_names()
    headers: set[tuple[str, ...]] = set()
    for line, row in rows:
        if tuple(row) not in headers:
            headers.add(tuple(row))
            for name in row:
                if name and name not in known:
                    expected = "a feature, one of `selects` or of `columns`"
                    faults.add(Line(line.file, 1), f"{build_unknown_fault('column', name, known)}: {expected}")
        try:
            entries += _build_entries(line, row, columns, restrictions)
        except Fault as fault:
            faults.add(line, str(fault))
    return entries, list(restrictions.values())


def _build_entries(
    line: Line, row: Mapping[str, str], columns: LexiconColumns, restrictions: dict[str, tuple[Line, str, Restriction]]
) -> Iterator[Entry]:
    category = row.get(CATEGORY, "")
    if not category:
        raise Fault("no category; expected one in the column 'category'")
    vocabulary = columns.vocabulary
    features: dict[str, frozenset[str]] = {CATEGORY: frozenset([category])}
    demands: dict[str, Restriction] = {}
    free: dict[str, str] = {}
    forms = columns.form_columns.get(category, {})
    for name, cell in row.items():
        if not cell or name in forms:
            continue
        if name in vocabulary.features:
            values = vocabulary.features[name] if cell == "*" else [part.strip() for part in cell.split("/")]
            features[name] = vocabulary.check_values(name, values)
        elif name in columns.demand_columns:
            if cell not in restrictions:
                restrictions[cell] = line, name, read_restriction(cell, vocabulary)
            demands[name] = restrictions[cell][2]
        elif name in columns.free_columns or name == "onset":
            free[name] = cell
        elif name not in RESERVED_COLUMNS:
            raise Fault(f"column {name!r} is no column of category {category}, yet it holds {cell!r}")
    if not forms or (row.get("form") and "form" not in forms):
        # A category without columns of forms has one form a row, which may be stated as the lemma.
        written = [(form, FormColumn({})) for form in (row.get("form") or row.get("lemma"),) if form]
    else:
        written = [(form.strip(), kind) for name, kind in forms.items() for form in row.get(name, "").split("/") if form]
    if not written:
        expected = f"'form' or one of {', '.join(forms)}" if forms else "'form'"
        raise Fault(f"no form; expected one in the column {expected}")
    lemma = row.get("lemma") or written[0][0]
    for form, kind in written:
        of_form = dict(demands)
        for name, demand in kind.demands.items():
            base = of_form.get(name, NO_RESTRICTION)
            of_form[name] = demand if base == NO_RESTRICTION else And((base, demand))
        named = {"lemma": frozenset([lemma]), "form": frozenset([form])}
        yield Entry(form, lemma, category, {**features, **kind.features, **named}, of_form, free, line)


def read_form_column(text: str, vocabulary: Vocabulary, demands: Iterable[str]) -> FormColumn:
    """Return what `vform=pres & finite ; subject: number=sg` says of a column of forms.

    >>> vocabulary = Vocabulary({"vform": ("pres", "past"), "number": ("sg", "pl")})
    >>> read_form_column("pres ; subject: sg", vocabulary, ["subject"]).demands
    {'subject': FeatureTest(feature='number', values=frozenset({'sg'}))}
    """
    stated, *demanded = text.split(";")
    features: dict[str, frozenset[str]] = {}
    for part in filter(None, (part.strip() for part in stated.replace(",", "&").split("&"))):
        name, equals, values = (piece.strip() for piece in part.partition("="))
        if equals:
            stated_values = vocabulary.features.get(name, ()) if values == "*" else values.split("/")
            features[name] = vocabulary.check_values(name, [value.strip() for value in stated_values])
        else:
            test = vocabulary.find_test(name)
            features[test.feature] = test.values
    of_others: dict[str, Restriction] = {}
    known = list(demands)
    for part in demanded:
        column, colon, restriction = (piece.strip() for piece in part.partition(":"))
        if not colon:
            raise Fault(f"{part.strip()!r} in {text!r}; expected column: restriction after ;")
        if column not in known:
            raise build_unknown_fault("restriction column", column, known)
        of_others[column] = read_restriction(restriction, vocabulary)
    return FormColumn(features, of_others)
