"""What every reader makes of a file: rows, one a sentence, and from them materials with every fault named."""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from gardenpath import study

from ..findings import Finding
from ..items import MINIMAL_PAIR, Item, Materials, Paradigm, Question, Region, Sentence, SourceLine

EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})  # one for all rows that state nothing


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """A sentence as a file states it; `paradigm` may be a declared Paradigm or the id of a minimal-pair paradigm."""

    source_line: SourceLine
    paradigm: str
    phenomenon: str
    item: str
    condition: str
    text: str
    regions: tuple[Region, ...] = ()
    language: str = ""
    segmentation: tuple[tuple[int, int], ...] | None = None
    context: str | None = None
    question: str | None = None
    answer: str | None = None
    choices: tuple[str, ...] = ()
    display: tuple[str, ...] | None = None
    notes: str | None = None
    extra: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAPPING)
    alternatives: tuple[str, ...] | None = None
    waivers: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAPPING)  # of the row's paradigm
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY_MAPPING)  # of the row's paradigm


@dataclass
class SentenceRows:
    """What a reader found: rows, declared paradigms, and findings about what could not be read."""

    rows: list[SentenceRow] = field(default_factory=list)
    paradigms: dict[str, Paradigm] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    faulty_items: set[str] = field(default_factory=set)  # items in whose rows a fault was found
    _reported: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)

    def add_fault(
        self, source_line: SourceLine, message: str, paradigm: str = "", item: str = "", condition: str = "", once: bool = False
    ) -> None:
        """Record that something at `source_line` could not be read; of a fault said `once`, later rows are counted alone."""
        self.faulty_items.add(item)
        key = source_line.file, paradigm, message
        if once and key in self._reported:
            n, more = self._reported[key]
            self.findings[n] = replace(self.findings[n], message=f"{message} (and {more + 1} more rows)")
            self._reported[key] = n, more + 1
            return
        self._reported[key] = len(self.findings), 0
        self.findings.append(Finding("format", "error", source_line.file, source_line.line, paradigm, item, condition, message))


def assemble_materials(rows: SentenceRows, language: str = "en") -> Materials:
    """Return materials from rows; rows that do not fit are left out and named in `rows.findings`.

    `language` is that of items which state none.
    """
    paradigms = dict(rows.paradigms)
    conditions: dict[str, dict[str, dict[str, str]]] = {}
    items: dict[str, dict[str, SentenceRow]] = {}
    factors = _collect_factors(rows) | _find_single_conditions(rows)
    unstated = _find_unstated_factors(rows, {*factors, *paradigms})
    for row in rows.rows:
        if row.paradigm in unstated:
            continue
        if row.paradigm not in paradigms:
            levels = dict(factors.get(row.paradigm, MINIMAL_PAIR))
            paradigms[row.paradigm] = Paradigm(row.paradigm, row.phenomenon, levels)
        known = conditions.get(row.paradigm) or conditions.setdefault(row.paradigm, paradigms[row.paradigm].list_conditions())
        if row.condition not in known:
            # Where the factors are not what the rows have, every row is wrong for the one reason.
            fault = f"condition {row.condition!r} is not known in paradigm {row.paradigm}; expected {' or '.join(known)}"
            rows.add_fault(row.source_line, fault, row.paradigm, row.item, row.condition, once=True)
            continue
        misfit = _find_misfit(row, paradigms[row.paradigm], items.get(row.item, {}))
        if misfit:
            rows.add_fault(row.source_line, misfit, row.paradigm, row.item, row.condition)
            continue
        if row.waivers:
            paradigms[row.paradigm] = _add_waivers(paradigms[row.paradigm], row, rows)
        items.setdefault(row.item, {})[row.condition] = row
    source_lines = {(i, c): row.source_line for i, members in items.items() for c, row in members.items()}
    rows.rows = []  # an item takes the place of its rows, so that large materials are not there twice
    built = [_build_item(items.pop(name), conditions, rows, language) for name in [*items]]
    whole = tuple(item for item in built if item)
    used = {item.paradigm for item in whole}
    return Materials(tuple(p for p in paradigms.values() if p.id in used), whole, source_lines)


def _collect_factors(rows: SentenceRows) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Return the factors that rows state of their paradigms, on whichever row; different ones later are a fault."""
    factors: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for row in rows.rows:
        if row.factors and factors.setdefault(row.paradigm, row.factors) != row.factors:
            message = f"the factors of paradigm {row.paradigm} differ from those above; give them once"
            rows.add_fault(row.source_line, message, row.paradigm, row.item, row.condition, once=True)
    return factors


def _find_single_conditions(rows: SentenceRows) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Return a factor of one level for each paradigm that has one sentence an item, as fillers have, and states no factors."""
    conditions: dict[str, set[str]] = {}
    for row in rows.rows:
        conditions.setdefault(row.paradigm, set()).add("" if row.factors else row.condition)
    single = {paradigm: names.pop() for paradigm, names in conditions.items() if len(names) == 1}
    return {p: {"condition": (name,)} for p, name in single.items() if name and not _is_pair_condition(name)}


def _find_unstated_factors(rows: SentenceRows, known: Collection[str]) -> set[str]:
    """Return the paradigms whose conditions are not those of minimal pairs, and whose factors no row states: a fault each."""
    first: dict[str, SentenceRow] = {}
    conditions: dict[str, dict[str, None]] = {}
    for row in rows.rows:
        if row.paradigm not in known:
            first.setdefault(row.paradigm, row)
            conditions.setdefault(row.paradigm, {})[row.condition] = None
    unstated = {name: [*names] for name, names in conditions.items() if not any(map(_is_pair_condition, names))}
    for name, names in unstated.items():
        levels = [", ".join(dict.fromkeys(part)) for part in zip(*(each.split(".") for each in names), strict=False)]
        stated = f"condition: {', '.join(names)}" if len(levels) < 2 else " | ".join(f"NAME: {part}" for part in levels)
        rows.add_fault(
            first[name].source_line,
            f"the conditions of paradigm {name} are {', '.join(names)}, and no row states its factors; expected on "
            f"one of its rows, in a column factors:  {stated}",
            name,
        )
    return {*unstated}


def _is_pair_condition(condition: str) -> bool:
    """Whether a condition is one of a minimal pair, or nearly."""
    return bool(difflib.get_close_matches(condition, MINIMAL_PAIR["grammaticality"], n=1, cutoff=0.75))


def _add_waivers(paradigm: Paradigm, row: SentenceRow, rows: SentenceRows) -> Paradigm:
    """Return the paradigm with the row's waivers; another reason for the same rule is a fault."""
    for rule, reason in row.waivers.items():
        earlier = paradigm.waivers.get(rule, reason)
        if earlier != reason:
            message = f"the waiver of {rule} gives the reason {reason!r}, but {earlier!r} above; give one"
            rows.add_fault(row.source_line, message, row.paradigm, row.item, row.condition)
    return replace(paradigm, waivers={**paradigm.waivers, **row.waivers})


def _find_misfit(row: SentenceRow, paradigm: Paradigm, members: Mapping[str, SentenceRow]) -> str | None:
    if row.phenomenon != paradigm.phenomenon:
        return f"phenomenon {row.phenomenon!r}, but paradigm {paradigm.id} belongs to {paradigm.phenomenon!r} above; use one"
    if row.condition in members:
        return f"item {row.item} has this condition already ({members[row.condition].source_line}); give each item its own id"
    first = next(iter(members.values()), row)
    if first.paradigm != row.paradigm:
        return f"item {row.item} belongs to paradigm {first.paradigm} above; item ids are unique in a study"
    if row.context and row.context != first.context:
        return (
            f"the context is not that of condition {first.condition!r} ({first.source_line}); an item has one context for all its "
            "conditions: put what differs into the sentence, or make items of their own of a factor in design.between_items"
        )
    return None


def _build_item(
    members: Mapping[str, SentenceRow],
    conditions_by_paradigm: Mapping[str, Mapping[str, object]],
    rows: SentenceRows,
    language: str,
) -> Item | None:
    first = next(iter(members.values()))
    conditions = conditions_by_paradigm[first.paradigm]
    # A row of this item that could not be read is named already; that it is missing follows.
    for condition in () if first.item in rows.faulty_items else [c for c in conditions if c not in members]:
        message = f"no sentence for condition {condition!r}; expected one for each of {', '.join(conditions)}"
        rows.add_fault(first.source_line, message, first.paradigm, first.item, condition)
    sentences = {}
    for condition in conditions:
        row = members.get(condition)
        if row is None:
            continue
        try:
            sentences[condition] = Sentence(row.text, row.regions, row.segmentation, row.display, row.alternatives)
        except ValueError as error:
            rows.add_fault(row.source_line, str(error), row.paradigm, row.item, condition)
    if len(sentences) < len(conditions):
        return None
    language = first.language or language
    question = _build_question(members, rows, language)
    extra = dict(first.extra)
    return Item(first.item, first.paradigm, sentences, language, first.context, question, first.notes, extra)


def _build_question(members: Mapping[str, SentenceRow], rows: SentenceRows, language: str) -> Question | None:
    """Return the item's question with its answer in each condition; one that differs or has no answer is a fault.

    Where no row states choices, they are yes and no in the item's language.
    """
    first = next(iter(members.values()))
    if first.question is None:
        return None
    stated = next((row.choices for row in members.values() if row.choices), ())
    choices = stated or study.yes_no_words.get_yes_no_words(language)
    answers = {
        c: str(row.answer) if stated else study.yes_no_words.translate_yes_no(str(row.answer), language)
        for c, row in members.items()
    }
    whose = "the language is not known" if language == "und" else f"the language is {language}"
    otherwise = f" ({whose}; a column language states it), or others in a column choices"
    for condition, row in members.items():
        if row.question != first.question or answers[condition] not in choices or row.choices not in ((), stated):
            rows.add_fault(
                row.source_line,
                f"question {row.question!r} with answer {row.answer!r}; expected the item's question {first.question!r} and an "
                f"answer out of {', '.join(row.choices or choices)}{'' if stated else otherwise}",
                row.paradigm,
                row.item,
                row.condition,
            )
            return None
    return Question(first.question, answers, choices)
