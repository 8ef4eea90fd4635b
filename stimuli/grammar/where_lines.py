"""The lines of `where`: what slots demand of each other, each read into one of the kinds below."""

import re
from dataclasses import dataclass

from .faults import Fault, Line

PATH = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\*|(?:@\w+)+)?"
CALL = re.compile(rf"({PATH})\s*\((.*)\)$")
MEETS = re.compile(rf"({PATH})\.(\w+)\s*(!?~)\s*({PATH})(?:\s+on\s+(.+))?$")
SAME = re.compile(rf"({PATH})\s*=\s*({PATH})(?:\s+but\s+(.+))?$")
LIKE = re.compile(rf"({PATH})\s+like\s+({PATH})(?:\s+but\s+(.+))?$")
DIFFERS = re.compile(rf"({PATH})\s*!=\s*({PATH})$")
AGREES = re.compile(r"(dis)?agree\s*\((.*)\)$")
LISTED = re.compile(r"\((.*)\)\s+in\s+(\S+)$")
VARIES = re.compile(r"([^\W\d]\w*)\s*@\s*(\w+)\s+by\s+(\w+)\s*:\s*(.+)$")
TESTED = re.compile(rf"({PATH})\s*:\s*(.+)$")


@dataclass(frozen=True)
class Call:
    """`F(a, b)`: every restriction of F is met by its arguments."""

    functor: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Meets:
    """`F.column ~ a`, `F.column !~ a on feature`: one restriction of F is met, or violated."""

    functor: str
    column: str
    argument: str
    violated: bool = False
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counterpart:
    """`a = b but f` (same lemma) or `a like b but f` (another): equal in all features but these, which differ."""

    path: str
    other: str
    but: tuple[str, ...]
    same_lemma: bool


@dataclass(frozen=True)
class Differs:
    """`a != b`: another lemma."""

    path: str
    other: str


@dataclass(frozen=True)
class Tested:
    """`a: restriction`."""

    path: str
    restriction: str


@dataclass(frozen=True)
class Agrees:
    """`agree(a, b, feature)`: values in common; `disagree`: none. Without a feature, those that apply to both."""

    path: str
    other: str
    feature: str | None
    negated: bool


@dataclass(frozen=True)
class Listed:
    """`(a, b) in file.csv`: a row of the file has the forms or lemmas of these slots."""

    paths: tuple[str, ...]
    file: str


@dataclass(frozen=True)
class Varies:
    """`X @ factor by feature: v, w`: the feature's value at each level of the factor, in order."""

    slot: str
    factor: str
    feature: str
    values: tuple[str, ...]


Where = Call | Meets | Counterpart | Differs | Tested | Agrees | Listed | Varies


@dataclass(frozen=True)
class WhereLine:
    """A line of `where` as read, and where it stands."""

    line: Line
    where: Where

    def paths(self) -> tuple[str, ...]:
        """Return the paths to slots that it names."""
        match self.where:
            case Call(functor, arguments):
                return (functor, *arguments)
            case Meets(functor, _, argument):
                return (functor, argument)
            case Counterpart(path, other) | Differs(path, other) | Agrees(path, other):
                return (path, other)
            case Tested(path):
                return (path,)
            case Listed(paths):
                return paths
            case Varies(slot):
                return (slot,)


def read_where(text: str) -> Where:
    """Return what a line of `where` says; a line of no kind is a `Fault`.

    >>> read_where("R*.subject !~ S on gender")
    Meets(functor='R*', column='subject', argument='S', violated=True, only=('gender',))
    >>> read_where("RC.V(N, RC.O)")
    Call(functor='RC.V', arguments=('N', 'RC.O'))
    """
    text = text.strip()
    if match := AGREES.match(text):
        paths = _names(match[2])
        if not 2 <= len(paths) <= 3:
            raise Fault(f"{text!r} names {len(paths)} things; expected agree(slot, slot) or agree(slot, slot, feature)")
        return Agrees(_path(paths[0]), _path(paths[1]), paths[2] if len(paths) == 3 else None, bool(match[1]))
    if match := LISTED.match(text):
        return Listed(tuple(_path(path) for path in _names(match[1])), match[2])
    if match := CALL.match(text):
        return Call(match[1], tuple(_path(path) for path in _names(match[2])))
    if match := MEETS.match(text):
        return Meets(match[1], match[2], match[4], match[3] == "!~", _names(match[5]))
    if match := LIKE.match(text):
        return Counterpart(match[1], match[2], _names(match[3]), same_lemma=False)
    if match := DIFFERS.match(text):
        return Differs(match[1], match[2])
    if match := SAME.match(text):
        return Counterpart(match[1], match[2], _names(match[3]), same_lemma=True)
    if match := VARIES.match(text):
        return Varies(match[1], match[2], match[3], _names(match[4]))
    if match := TESTED.match(text):
        return Tested(match[1], match[2])
    raise Fault(
        f"{text!r} is no line of where; expected one as V(S, O), V.subject ~ S, R* = R but gender, A like B but frame, A != B, "
        "A: number=sg, agree(D, N), (A, B) in file.csv or X@factor by number: sg, pl"
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def _path(text: str) -> str:
    if not re.fullmatch(PATH, text):
        raise Fault(f"{text!r} is no slot; expected a name, S, or a path, S.N")
    return text
