"""Relations between slots: what each line of `where` demands of entries, as keys of entries and a test of keys."""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .faults import Fault, Line
from .lexicon import Entry
from .restrictions import NO_VALUES, Vocabulary, is_violated_in, read_restriction
from .where_lines import (
    Counterpart,
    FeatureAgreement,
    FunctorCall,
    LemmaDifference,
    ListMembership,
    SelectionTest,
    SlotTest,
    WhereStatement,
)

KeyFunction = Callable[[Entry], Hashable]
DemandColumns = Mapping[str, tuple[str, ...]]  # the restriction columns of each category, in order


@dataclass(frozen=True, eq=False)
class Relation:
    """What a line demands of the entries at some paths: a key of each, and a test of the keys, which need not tell entries apart.

    With `tests_difference`, the test only asks whether keys differ, so that a key that the other slot never has may be any.
    """

    paths: tuple[str, ...]
    keys: tuple[KeyFunction, ...]
    test: Callable[..., bool]
    line: Line
    tests_difference: bool = False

    def is_met_by(self, entries: Sequence[Entry]) -> bool:
        """Whether these entries, one for each path, are allowed."""
        return self.test(*(key(entry) for key, entry in zip(self.keys, entries, strict=True)))

    def is_met_where_present(self, entries: "Sequence[Entry | None]") -> bool:
        """Whether these may be at the paths; a slot that is not there constrains nothing."""
        return None in entries or self.is_met_by([entry for entry in entries if entry is not None])

    def build_table(self, domains: Sequence[Sequence[Hashable]]) -> npt.NDArray[np.bool_]:
        """Return which combinations of keys pass; None in a domain passes with anything."""
        shape = tuple(len(domain) for domain in domains)
        if self.tests_difference:
            numbers = {key: n for n, key in enumerate(dict.fromkeys(itertools.chain(*domains)))}
            one, other = (np.array([-1 if key is None else numbers[key] for key in domain], int) for domain in domains)
            table: npt.NDArray[np.bool_] = (one[:, None] != other) | (one[:, None] < 0) | (other < 0)
            return table
        passes = (None in keys or self.test(*keys) for keys in itertools.product(*domains))
        return np.fromiter(passes, bool, math.prod(shape)).reshape(shape)


def build_relations(
    where: WhereStatement,
    paths: Sequence[str],
    line: Line,
    universes: Sequence[Sequence[Entry]],
    vocabulary: Vocabulary,
    demands: DemandColumns,
    lists: Mapping[str, tuple[tuple[str, ...], ...]],
) -> list[Relation]:
    """Return what a line demands of the slots at `paths`, whose possible entries are `universes`."""
    match where:
        case FunctorCall(_, arguments):
            columns = _find_columns(line, universes[0], demands, len(arguments))
            return [
                _build_selection(column, (paths[0], path), line, universes[0])
                for column, path in zip(columns, paths[1:], strict=False)
            ]
        case SelectionTest(_, column, _, violated, only):
            if only:
                return [_build_violation(column, only, (paths[0], paths[1]), line, vocabulary)]
            return [_build_selection(column, (paths[0], paths[1]), line, universes[0], violated=violated)]
        case Counterpart(_, _, but, same_lemma):
            counterparts = Relation(tuple(paths), (_build_counterpart_key(but), _build_counterpart_key(but)), _is_counterpart, line)
            if same_lemma:
                return [Relation(tuple(paths), (_get_lemma, _get_lemma), _is_same, line), counterparts]
            return [build_lemma_difference(paths, line), counterparts]
        case LemmaDifference():
            return [build_lemma_difference(paths, line)]
        case SlotTest(_, text):
            restriction = read_restriction(text, vocabulary)
            return [Relation(tuple(paths), (lambda entry: restriction.is_met_by(entry.features),), bool, line)]
        case FeatureAgreement(_, _, feature, negated):
            features = (feature,) if feature else tuple(vocabulary.features)

            def values(entry: Entry) -> tuple[frozenset[str], ...]:
                return tuple(entry.features.get(f, NO_VALUES) for f in features)

            test = _disagree if negated else _agree if feature else _agree_where_both
            return [Relation(tuple(paths), (values, values), test, line)]
        case ListMembership(_, file):
            return [_build_list_membership(paths, lists[file], line)]
    return []


def build_lemma_difference(paths: Sequence[str], line: Line) -> Relation:
    """Return the relation that the lemmas at two paths differ."""
    return Relation(tuple(paths), (_get_lemma, _get_lemma), _is_different, line, tests_difference=True)


def build_form_difference(paths: Sequence[str], line: Line) -> Relation:
    """Return the relation that what is printed of two paths differs."""
    return Relation(tuple(paths), (_get_printed_form, _get_printed_form), _is_different, line, tests_difference=True)


def _find_columns(line: Line, functors: Sequence[Entry], demands: DemandColumns, arguments: int) -> tuple[str, ...]:
    """Return the restriction columns that arguments are held against, in order."""
    by_category = {entry.category: demands.get(entry.category, ()) for entry in functors}
    columns = {of[:arguments] for of in by_category.values()}
    for category, of in by_category.items():
        if len(of) < arguments:
            has = ", ".join(of) or "none"
            raise Fault(f"{arguments} arguments for {category}, whose restriction columns are {has}; expected at most {len(of)}")
    if len(columns) > 1:
        raise Fault(f"categories {', '.join(by_category)} have other restriction columns; name the column, as V.subject ~ S")
    return next(iter(columns), ())


def _build_selection(
    column: str, paths: tuple[str, str], line: Line, functors: Sequence[Entry], *, violated: bool = False
) -> Relation:
    demanded = {entry.demands[column] for entry in functors if column in entry.demands}
    named = tuple(sorted({test.feature for restriction in demanded for test in restriction.iterate_tests()}))

    def get_demand(entry: Entry) -> Hashable:
        return entry.demands.get(column, False)

    def values(entry: Entry) -> tuple[frozenset[str], ...]:
        return tuple(entry.features.get(feature, NO_VALUES) for feature in named)

    def test(demand: object, values: tuple[frozenset[str], ...]) -> bool:
        # A functor without such a restriction takes no such argument: there is nothing to meet or violate.
        return demand is not False and demand.is_met_by(dict(zip(named, values, strict=True))) != violated  # type: ignore[attr-defined]

    return Relation(paths, (get_demand, values), test, line)


def _build_violation(
    column: str, violated_features: tuple[str, ...], paths: tuple[str, str], line: Line, vocabulary: Vocabulary
) -> Relation:
    def test(demand: object, bundle: frozenset[tuple[str, frozenset[str]]]) -> bool:
        return demand is not False and is_violated_in(demand, dict(bundle), violated_features, vocabulary)  # type: ignore[arg-type]

    def get_feature_bundle(entry: Entry) -> Hashable:
        return frozenset(entry.features.items())

    return Relation(paths, (lambda entry: entry.demands.get(column, False), get_feature_bundle), test, line)


def _get_lemma(entry: Entry) -> str:
    return entry.lemma


def _get_printed_form(entry: Entry) -> str:
    return entry.printed_form


def _is_same(a: object, b: object) -> bool:
    return a == b


def _is_different(a: object, b: object) -> bool:
    return a != b


def _build_counterpart_key(differing_features: Sequence[str]) -> KeyFunction:
    names = frozenset(differing_features)

    def key(entry: Entry) -> Hashable:
        rest = frozenset(pair for pair in entry.feature_bundle if pair[0] not in names)
        return rest, tuple(entry.features.get(name) or entry.demands.get(name) for name in differing_features)

    return key


def _is_counterpart(a: tuple[object, tuple[object, ...]], b: tuple[object, tuple[object, ...]]) -> bool:
    return a[0] == b[0] and all(_is_disjoint(x, y) for x, y in zip(a[1], b[1], strict=True))


def _is_disjoint(a: object, b: object) -> bool:
    """Whether two values of a feature have nothing in common; two demands only have to be other ones."""
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return a.isdisjoint(b)
    return a != b


def _agree(a: Sequence[frozenset[str]], b: Sequence[frozenset[str]]) -> bool:
    return all(not x.isdisjoint(y) for x, y in zip(a, b, strict=True))


def _agree_where_both(a: Sequence[frozenset[str]], b: Sequence[frozenset[str]]) -> bool:
    return all(not x or not y or not x.isdisjoint(y) for x, y in zip(a, b, strict=True))


def _disagree(a: Sequence[frozenset[str]], b: Sequence[frozenset[str]]) -> bool:
    return any(x and y and x.isdisjoint(y) for x, y in zip(a, b, strict=True))


def _build_list_membership(paths: Sequence[str], rows: tuple[tuple[str, ...], ...], line: Line) -> Relation:
    listed = set(rows)
    cells = [frozenset(column) for column in zip(*rows, strict=True)] or [frozenset()] * len(paths)

    def build_column_key(column: frozenset[str]) -> KeyFunction:
        return lambda entry: frozenset({entry.form, entry.lemma} & column)

    def test(*found: frozenset[str]) -> bool:
        return any(row in listed for row in itertools.product(*found))

    return Relation(tuple(paths), tuple(build_column_key(column) for column in cells), test, line)
