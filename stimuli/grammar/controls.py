"""Controls of a paradigm: frequency, length, distance, neighbours and attractors, counted exactly or seen to in each item.

`control = { zipf = { N = [3, 5] }, zipf_gap = 0.5, letters_gap = 2, length = [6, 12], distance = [1, 4] }`: the first three leave
out entries and pairs of counterparts, so that counts are exact; length and distance, in words, are looked at in each item drawn,
and so is `neighbour_bigram = { file = "bigrams.csv", gap = 1 }`, the association of the critical region with the word before it.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gardenpath import study

from ..item_tables import zipf
from ..items import CRITICAL, CUE, Sentence
from .bigrams import SENTENCE_START, Bigrams, read_bigrams
from .compilation import CompiledParadigm, expand_variants, get_base_slot
from .faults import Fault, Line, build_unknown_fault
from .lexicon import Entry
from .relations import Relation
from .templates import find_slots

CONTROL_NAMES = (
    *("zipf", "zipf_gap", "letters_gap", "length", "distance", "neighbour_bigram"),
    *("attractors", "congruent", "incongruent"),  # read with the paradigm, since they say which phrases there are
)
PUNCTUATION = ".,;:?!…"


def build_constraints(compiled: CompiledParadigm) -> list[Relation]:
    """Return what the controls demand of entries, as relations to compile the paradigm with; what is wrong is a `DataError`."""
    stated = compiled.rule.settings.get("control", {})
    line = Line(compiled.rule.line.file, compiled.rule.line.number, "control")
    try:
        return list(_iterate_constraints(compiled, stated, line))
    except Fault as fault:
        raise study.DataError([f"{compiled.rule.line}: paradigm {compiled.rule.name}: control: {fault}"]) from None


def _iterate_constraints(compiled: CompiledParadigm, stated: Any, line: Line) -> Iterator[Relation]:
    if not isinstance(stated, dict):
        raise Fault(f"{stated!r}; expected a table, as in {{ length = [6, 12] }}")
    for name, value in stated.items():
        if name not in CONTROL_NAMES:
            raise build_unknown_fault("control", name, CONTROL_NAMES)
        if name in ("length", "distance"):
            _read_range(name, value)
        elif name in ("attractors", "congruent", "incongruent"):
            if "attractors" not in stated:
                raise Fault(f"{name} without attractors; expected their number too, as in attractors = {{ S = 1 }}")
        elif name == "neighbour_bigram":
            _read_neighbour_bigrams(compiled.rule.line.file, value)
        elif name != "zipf" and (not isinstance(value, int | float) or value < 0):
            raise Fault(f"{name} is {value!r}; expected a number from 0")
    for slot, spec in compiled.rule.slots.items():
        if spec.attractors is not None:
            phrase = compiled.grammar.phrases[spec.phrase or ""]
            written = {
                sum(name in {each.name for each in find_slots(chosen[""])} for name in phrase.attractors)
                for expansion in phrase.expansions
                for chosen in expand_variants({"": expansion.parts})
            }
            if absent := spec.attractors.allowed_numbers - written:
                there = ", ".join(map(str, sorted(written)))
                raise Fault(f"attractors of {slot} is {min(absent)}; phrase {phrase.name} is written with {there}")
    slots = {slot for member in compiled.alternatives.members for slot in compiled.words[member.graph].slots}
    language = compiled.grammar.language.code
    if {"zipf", "zipf_gap"} & set(stated) and zipf("a", language) is None:
        raise Fault(f"there are no word frequencies of the language {language!r}")
    frequencies: dict[str, float] = {}

    def frequency(entry: Entry) -> float:
        """Return the frequency of the rarest word of a form."""
        if entry.printed_form not in frequencies:
            frequencies[entry.printed_form] = min((zipf(word, language) or 0.0 for word in entry.printed_form.split()), default=0.0)
        return frequencies[entry.printed_form]

    frequency_ranges = stated.get("zipf", {})
    if not isinstance(frequency_ranges, dict):
        raise Fault(f"zipf is {frequency_ranges!r}; expected a range for each slot, as in zipf = {{ N = [3, 5] }}")
    for slot, frequency_range in frequency_ranges.items():
        named = [each for each in slots if slot in (each, get_base_slot(each))]
        if not named:
            raise build_unknown_fault("slot of words", slot, slots)
        low, high = _read_range(f"zipf of {slot}", frequency_range)
        for each in sorted(named):
            yield Relation((each,), (lambda e, a=low, b=high: a <= frequency(e) <= b,), bool, line)  # type: ignore[misc]
    gaps: list[tuple[str, Callable[[Entry], float]]] = [
        ("zipf_gap", frequency),
        ("letters_gap", lambda entry: len(entry.printed_form)),
    ]
    for name, size in gaps:
        if name in stated:
            pairs = [(get_base_slot(slot), slot) for slot in sorted(slots) if slot.endswith("*") and get_base_slot(slot) in slots]
            if not pairs:
                raise Fault(f"{name} compares <X> with <X*>; the paradigm has no slot with a counterpart")
            for pair in pairs:
                yield Relation(pair, (size, size), lambda a, b, gap=stated[name]: abs(a - b) <= gap + 1e-9, line)


def is_within_controls(compiled: CompiledParadigm, sentences: Mapping[str, Sentence]) -> bool:
    """Whether the sentences of an item have the lengths, distances and neighbours that its paradigm's controls allow."""
    control = compiled.rule.settings.get("control", {})
    for sentence in sentences.values() if {"length", "distance"} & set(control) else ():
        low, high = control.get("length", (0, 10**9))
        if not low <= len(sentence.list_words()) <= high:
            return False
        low, high = control.get("distance", (0, 10**9))
        cue, region = sentence.list_region_words(CUE), sentence.list_region_words(CRITICAL)
        if cue and region and not low <= abs(region[0].index - cue[-1].index) <= high:
            return False
    if "neighbour_bigram" in control:
        bigrams, gap = _read_neighbour_bigrams(compiled.rule.line.file, control["neighbour_bigram"])
        found = [strength for s in sentences.values() if (strength := _compute_association(bigrams, s)) is not None]
        return len(set(found)) < 2 or max(found) - min(found) <= gap + 1e-9  # two that were never seen are alike
    return True


def _read_neighbour_bigrams(grammar: str, stated: Any) -> tuple[Bigrams, float]:
    """Return the bigrams that a control names, beside the grammar's file, and the greatest difference that it allows (bits)."""
    expected = 'expected a file and the greatest difference in bits: { file = "bigrams.csv", gap = 1 }'
    if not isinstance(stated, dict) or set(stated) != {"file", "gap"} or not isinstance(stated["file"], str):
        raise Fault(f"neighbour_bigram is {stated!r}; {expected}")
    if not isinstance(stated["gap"], int | float) or stated["gap"] < 0:
        raise Fault(f"the gap of neighbour_bigram is {stated['gap']!r}; expected a number of bits from 0")
    return read_bigrams(Path(grammar).parent / stated["file"]), stated["gap"]


def _compute_association(bigrams: Bigrams, sentence: Sentence) -> float | None:
    """Return how strongly the critical region's first word goes with the word before it; None without a region."""
    words, region = sentence.list_words(), sentence.list_region_words(CRITICAL)
    if not region:
        return None
    at = region[0].index
    before = words[at - 1].text.strip(PUNCTUATION) if at else SENTENCE_START
    return bigrams.compute_association(before, region[0].text.strip(PUNCTUATION))


def _read_range(name: str, value: Any) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(v, int | float) for v in value)):
        raise Fault(f"{name} is {value!r}; expected its least and greatest value, as in [3, 5]")
    if value[0] > value[1]:
        raise Fault(f"{name} is {value!r}, from the greater to the lesser; expected [{value[1]}, {value[0]}]")
    return value[0], value[1]
