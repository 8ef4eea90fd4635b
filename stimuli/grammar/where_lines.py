"""The lines of `where`: what slots demand of each other, each read into one of the kinds below."""

import re
from dataclasses import dataclass

from .faults import Fault, Line

PATH_PATTERN = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\*|(?:@\w+)+)?"
CALL_PATTERN = re.compile(rf"({PATH_PATTERN})\s*\((.*)\)$")
SELECTION_PATTERN = re.compile(rf"({PATH_PATTERN})\.(\w+)\s*(!?~)\s*({PATH_PATTERN})(?:\s+on\s+(.+))?$")
SAME_LEMMA_PATTERN = re.compile(rf"({PATH_PATTERN})\s*=\s*({PATH_PATTERN})(?:\s+but\s+(.+))?$")
OTHER_LEMMA_PATTERN = re.compile(rf"({PATH_PATTERN})\s+like\s+({PATH_PATTERN})(?:\s+but\s+(.+))?$")
DIFFERENCE_PATTERN = re.compile(rf"({PATH_PATTERN})\s*!=\s*({PATH_PATTERN})$")
AGREEMENT_PATTERN = re.compile(r"(dis)?agree\s*\((.*)\)$")
LIST_PATTERN = re.compile(r"\((.*)\)\s+in\s+(\S+)$")
VARIATION_PATTERN = re.compile(r"([^\W\d]\w*)\s*@\s*(\w+)\s+by\s+(\w+)\s*:\s*(.+)$")
TEST_PATTERN = re.compile(rf"({PATH_PATTERN})\s*:\s*(.+)$")


@dataclass(frozen=True)
class FunctorCall:
    """`F(a, b)`: every restriction of F is met by its arguments."""

    functor: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class SelectionTest:
    """`F.column ~ a`, `F.column !~ a on feature`: one restriction of F is met, or violated."""

    functor: str
    column: str
    argument: str
    is_violated: bool = False
    violated_features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counterpart:
    """`a = b but f` (same lemma) or `a like b but f` (another): equal in all features but these, which differ."""

    path: str
    other: str
    differing_features: tuple[str, ...]
    same_lemma: bool


@dataclass(frozen=True)
class LemmaDifference:
    """`a != b`: another lemma."""

    path: str
    other: str


@dataclass(frozen=True)
class SlotTest:
    """`a: restriction`."""

    path: str
    restriction: str


@dataclass(frozen=True)
class FeatureAgreement:
    """`agree(a, b, feature)`: values in common; `disagree`: none. Without a feature, those that apply to both."""

    path: str
    other: str
    feature: str | None
    is_negated: bool


@dataclass(frozen=True)
class ListMembership:
    """`(a, b) in file.csv`: a row of the file has the forms or lemmas of these slots."""

    paths: tuple[str, ...]
    file: str


@dataclass(frozen=True)
class FactorVariation:
    """`X @ factor by feature: v, w`: the feature's value at each level of the factor, in order."""

    slot: str
    factor: str
    feature: str
    values: tuple[str, ...]


WhereStatement = (
    FunctorCall | SelectionTest | Counterpart | LemmaDifference | SlotTest | FeatureAgreement | ListMembership | FactorVariation
)


@dataclass(frozen=True)
class WhereLine:
    """A line of `statement` as read, and where it stands."""

    line: Line
    statement: WhereStatement

    def list_paths(self) -> tuple[str, ...]:
        """Return the paths to slots that it names."""
        match self.statement:
            case FunctorCall(functor, arguments):
                return (functor, *arguments)
            case SelectionTest(functor, _, argument):
                return (functor, argument)
            case Counterpart(path, other) | LemmaDifference(path, other) | FeatureAgreement(path, other):
                return (path, other)
            case SlotTest(path):
                return (path,)
            case ListMembership(paths):
                return paths
            case FactorVariation(slot):
                return (slot,)


def read_where_statement(text: str) -> WhereStatement:
    """Return what a line of `where` says; a line of no kind is a `Fault`.

    >>> read_where_statement("R*.subject !~ S on gender")
    SelectionTest(functor='R*', column='subject', argument='S', is_violated=True, violated_features=('gender',))
    >>> read_where_statement("RC.V(N, RC.O)")
    FunctorCall(functor='RC.V', arguments=('N', 'RC.O'))
    """
    text = text.strip()
    if match := AGREEMENT_PATTERN.match(text):
        paths = _split_names(match[2])
        if not 2 <= len(paths) <= 3:
            raise Fault(f"{text!r} names {len(paths)} things; expected agree(slot, slot) or agree(slot, slot, feature)")
        return FeatureAgreement(_check_path(paths[0]), _check_path(paths[1]), paths[2] if len(paths) == 3 else None, bool(match[1]))
    if match := LIST_PATTERN.match(text):
        return ListMembership(tuple(_check_path(path) for path in _split_names(match[1])), match[2])
    if match := CALL_PATTERN.match(text):
        return FunctorCall(match[1], tuple(_check_path(path) for path in _split_names(match[2])))
    if match := SELECTION_PATTERN.match(text):
        return SelectionTest(match[1], match[2], match[4], match[3] == "!~", _split_names(match[5]))
    if match := OTHER_LEMMA_PATTERN.match(text):
        return Counterpart(match[1], match[2], _split_names(match[3]), same_lemma=False)
    if match := DIFFERENCE_PATTERN.match(text):
        return LemmaDifference(match[1], match[2])
    if match := SAME_LEMMA_PATTERN.match(text):
        return Counterpart(match[1], match[2], _split_names(match[3]), same_lemma=True)
    if match := VARIATION_PATTERN.match(text):
        return FactorVariation(match[1], match[2], match[3], _split_names(match[4]))
    if match := TEST_PATTERN.match(text):
        return SlotTest(match[1], match[2])
    raise Fault(
        f"{text!r} is no line of where; expected one as V(S, O), V.subject ~ S, R* = R but gender, A like B but frame, A != B, "
        "A: number=sg, agree(D, N), (A, B) in file.csv or X@factor by number: sg, pl"
    )


def _split_names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def _check_path(text: str) -> str:
    if not re.fullmatch(PATH_PATTERN, text):
        raise Fault(f"{text!r} is no slot; expected a name, S, or a path, S.N")
    return text
