"""What a paradigm is compiled to, and what counting and drawing work on: slots with classes of entries, and tables over them.

`compile_paradigm` (in `compilation`) makes the `Alternatives` of a paradigm, one for each way of filling its optional parts;
`derivation_counts` counts and unranks them without knowing words; a `Derivation` names one assignment, and `linearisation` prints
it. A line of the grammar is left out, or a constraint added, by compiling again, which costs milliseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Variable:
    """A slot of words. A class holds entries that no factor tells apart; each is stated by its lemma, so that a class has a size.

    Counterparts of one entry (`X` and `X*`, the levels of `X@factor`) are one variable, whose entries are tuples.
    """

    name: str
    classes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over variables and ports: which combinations of their classes (of a port: labels) are allowed, and by which line.

    `table` has an axis for each of `variables`.
    """

    variables: tuple[str, ...]
    table: npt.NDArray[np.bool_]
    line: str


@dataclass(frozen=True, eq=False)
class Export:
    """What the outside sees of an alternative through a port: class `c` of `variable` (or label of an inner port) is `labels[c]`.

    `variable` is None where the alternative lacks that slot; `labels` then holds the one label that says so.
    """

    variable: str | None
    labels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Graph:
    """Variables, phrases, and factors over variables and ports of the phrases; its count is the number of its assignments."""

    variables: tuple[Variable, ...]
    phrases: "tuple[Phrase, ...]"
    factors: tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class Alternative:
    """One expansion: its weight among its siblings, the graph inside, an export for each port, and how it is written."""

    weight: float
    graph: Graph
    exports: tuple[Export, ...]
    text: str


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The expansions of a phrase, or of a whole paradigm (no exports). One object may serve several phrases: count it once.

    `ports` is the number of labels of each port. The table of a phrase is: labels -> assignments, summed over alternatives.
    """

    members: tuple[Alternative, ...]
    ports: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Phrase:
    """A slot that holds a phrase. `ports` are names in the surrounding graph, one for each of the alternatives' exports.

    The port of a head has the phrase's own name (`S`), others are paths (`S.N`, `S.RC.V`); a phrase that no line mentions has none.
    `lemmas` says of a port that is kept apart which lemma each label is.
    """

    name: str
    ports: tuple[str, ...]
    alternatives: Alternatives
    lemmas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Derivation:
    """One assignment: the alternative taken, class and position in it for each variable, and the derivation of each phrase.

    >>> Derivation(0, {"V": (2, 0)}, {"S": Derivation(1, {"Name": (0, 4)})}).phrases["S"].entries
    {'Name': (0, 4)}
    """

    alternative: int
    entries: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    phrases: "Mapping[str, Derivation]" = field(default_factory=dict)
