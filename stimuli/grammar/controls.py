"""Controls of a paradigm: frequency, length and distance, as constraints that are counted, or seen to in each item.

`control = { zipf = { N = [3, 5] }, zipf_gap = 0.5, letters_gap = 2, length = [6, 12], distance = [1, 4] }`: the first three leave
out entries and pairs of counterparts, so that counts are exact; length and distance, in words, are looked at in each item drawn.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gardenpath import study

from ..item_tables import zipf
from ..items import CRITICAL, CUE, Sentence
from .compiling import Compiled, base
from .faults import Fault, Line, unknown
from .lexicon import Entry
from .relations import Relation

NAMES = ("zipf", "zipf_gap", "letters_gap", "length", "distance")


def constraints(compiled: Compiled) -> list[Relation]:
    """Return what the controls demand of entries, as relations to compile the paradigm with; what is wrong is a `DataError`."""
    stated = compiled.rule.settings.get("control", {})
    line = Line(compiled.rule.line.file, compiled.rule.line.number, "control")
    try:
        return list(_constraints(compiled, stated, line))
    except Fault as fault:
        raise study.DataError([f"{compiled.rule.line}: paradigm {compiled.rule.name}: control: {fault}"]) from None


def _constraints(compiled: Compiled, stated: Any, line: Line) -> Iterator[Relation]:
    if not isinstance(stated, dict):
        raise Fault(f"{stated!r}; expected a table, as in {{ length = [6, 12] }}")
    for name, value in stated.items():
        if name not in NAMES:
            raise unknown("control", name, NAMES)
        if name in ("length", "distance"):
            _band(name, value)
        elif name != "zipf" and (not isinstance(value, int | float) or value < 0):
            raise Fault(f"{name} is {value!r}; expected a number from 0")
    slots = {slot for member in compiled.alternatives.members for slot in compiled.words[member.graph].slots}
    language = compiled.grammar.language.code
    if {"zipf", "zipf_gap"} & set(stated) and zipf("a", language) is None:
        raise Fault(f"there are no word frequencies of the language {language!r}")
    frequencies: dict[str, float] = {}

    def frequency(entry: Entry) -> float:
        """Return the frequency of the rarest word of a form."""
        if entry.printed not in frequencies:
            frequencies[entry.printed] = min(
                (zipf(word, language) or 0.0 for word in entry.printed.split()), default=0.0
            )
        return frequencies[entry.printed]

    bands = stated.get("zipf", {})
    if not isinstance(bands, dict):
        raise Fault(f"zipf is {bands!r}; expected a band for each slot, as in zipf = {{ N = [3, 5] }}")
    for slot, band in bands.items():
        named = [each for each in slots if slot in (each, base(each))]
        if not named:
            raise unknown("slot of words", slot, slots)
        low, high = _band(f"zipf of {slot}", band)
        for each in sorted(named):
            yield Relation((each,), (lambda e, a=low, b=high: a <= frequency(e) <= b,), bool, line)  # type: ignore[misc]
    gaps: list[tuple[str, Callable[[Entry], float]]] = [
        ("zipf_gap", frequency),
        ("letters_gap", lambda entry: len(entry.printed)),
    ]
    for name, size in gaps:
        if name in stated:
            pairs = [(base(slot), slot) for slot in sorted(slots) if slot.endswith("*") and base(slot) in slots]
            if not pairs:
                raise Fault(f"{name} compares <X> with <X*>; the paradigm has no slot with a counterpart")
            for pair in pairs:
                yield Relation(pair, (size, size), lambda a, b, gap=stated[name]: abs(a - b) <= gap + 1e-9, line)


def fits(control: Mapping[str, Any], sentences: Mapping[str, Sentence]) -> bool:
    """Whether every sentence has a length, and a distance from cue to critical region, within what the controls say."""
    for sentence in sentences.values() if {"length", "distance"} & set(control) else ():
        low, high = control.get("length", (0, 10**9))
        if not low <= len(sentence.words()) <= high:
            return False
        low, high = control.get("distance", (0, 10**9))
        cue, region = sentence.words_of(CUE), sentence.words_of(CRITICAL)
        if cue and region and not low <= abs(region[0].index - cue[-1].index) <= high:
            return False
    return True


def _band(name: str, value: Any) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(v, int | float) for v in value)):
        raise Fault(f"{name} is {value!r}; expected its least and greatest value, as in [3, 5]")
    if value[0] > value[1]:
        raise Fault(f"{name} is {value!r}, from the greater to the lesser; expected [{value[1]}, {value[0]}]")
    return value[0], value[1]
