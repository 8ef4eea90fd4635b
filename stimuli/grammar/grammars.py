"""A grammar as it is stated: slots, phrases, paradigms and lexicons, before anything is computed of it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .faults import Line
from .lexicon import Entry
from .restrictions import Restriction, Vocabulary
from .rewrite_rules import Language
from .templates import Part
from .where_lines import WhereLine


@dataclass(frozen=True)
class Attractors:
    """How many attractors a phrase may have, and whether they agree with its head in a feature."""

    line: Line
    allowed_numbers: frozenset[int]
    feature: str | None = None
    is_congruent: bool = True


@dataclass(frozen=True)
class SlotSpec:
    """What a slot may hold: entries that meet a restriction, or a phrase whose head does, with so many attractors."""

    line: Line
    restriction: Restriction
    phrase: str | None = None
    attractors: Attractors | None = None


@dataclass(frozen=True)
class Expansion:
    """One way to write a phrase, and its weight."""

    text: str
    parts: tuple[Part, ...]
    weight: float


@dataclass(frozen=True)
class PhraseRule:
    """A phrase as a grammar states it."""

    name: str
    line: Line
    heads: tuple[str, ...]
    expansions: tuple[Expansion, ...]
    slots: Mapping[str, SlotSpec]
    where: tuple[WhereLine, ...]
    depth: int | None
    attractors: tuple[str, ...] = ()

    def find_head(self, slots: Sequence[str]) -> str | None:
        """Return which of the slots of an expansion is its head."""
        for name in self.heads:
            if name in slots:
                return name
        return slots[0] if self.heads and len(slots) == 1 else None


@dataclass(frozen=True)
class QuestionRule:
    """A comprehension question and its choices as templates, the right choice in each condition, and the share of items."""

    parts: tuple[Part, ...]
    answers: Mapping[str, tuple[Part, ...]]
    choices: tuple[tuple[Part, ...], ...]
    share: float
    line: Line

    def list_templates(self) -> tuple[tuple[Part, ...], ...]:
        """Return all that is printed from slots."""
        return (self.parts, *self.answers.values(), *self.choices)


@dataclass(frozen=True)
class ParadigmRule:
    """A paradigm as a grammar states it; `settings` holds what it says of drawing.

    Each of `templates` has a template for each condition; one is taken for an item. Without factors, as of a filler, there is one.
    """

    name: str
    line: Line
    phenomenon: str
    factors: Mapping[str, tuple[str, ...]]
    templates: tuple[Mapping[str, tuple[Part, ...]], ...]
    slots: Mapping[str, SlotSpec]
    where: tuple[WhereLine, ...]
    references: tuple[str, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()
    question: QuestionRule | None = None
    is_filler: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def list_conditions(self) -> dict[str, dict[str, str]]:
        """Return the name of each condition, and its level of every factor."""
        combinations = itertools.product(*self.factors.values())
        return {".".join(levels): dict(zip(self.factors, levels, strict=True)) for levels in combinations}


@dataclass(frozen=True, eq=False)
class Grammar:
    """A grammar with its lexicon; `file_hashes` holds the hash (SHA-256) of every file that it was read from.

    `demands` are the restrictions that cells and columns of forms state, each once, with its line and column.

    >>> from gardenpath import stimuli
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.csv").write_text("form,category\\ndog,N\\n")
    >>> text = 'language = "en"\\nlexicon = "words.csv"\\n[filler.dogs]\\nsentence = "a <N> barks."\\n'
    >>> _ = (folder / "grammar.toml").write_text(text)
    >>> list(stimuli.read_grammar(folder / "grammar.toml").paradigms)
    ['dogs']
    """

    language: Language
    vocabulary: Vocabulary
    demand_columns: tuple[str, ...]
    entries: tuple[Entry, ...]
    demands: tuple[tuple[Line, str, Restriction], ...]
    phrases: Mapping[str, PhraseRule]
    paradigms: Mapping[str, ParadigmRule]
    lists: Mapping[str, tuple[tuple[str, ...], ...]]
    file_hashes: Mapping[str, str]

    def __repr__(self) -> str:
        lemmas = {(entry.category, entry.lemma) for entry in self.entries}
        return f"Grammar({self.language.code}: {len(self.paradigms)} paradigms, {len(lemmas)} lemmas)"
