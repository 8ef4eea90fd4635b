"""Decisions of people about drafts: an append-only log, each reviewer's own order with known-bad pairs in it, and what follows."""

import hashlib
import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gardenpath import study

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Sentence
from .provenance import ORIGINAL_TEXTS, REVIEWERS, set_provenance
from .regions import MIN_SEEDS, add_regions, find_anchors, transfer_regions

TICK_MEANINGS = {
    "good": "the grammatical sentence is grammatical",
    "bad": "the ungrammatical sentence is ungrammatical",
    "nothing_else": "nothing else is wrong with either",
    "fits": "the pair fits the paradigm",
}
KEEP_ACTIONS, ACTIONS = ("accept", "correct"), ("accept", "correct", "drop", "undo", "acceptable", "unacceptable")
KNOWN_BAD_SHARE = 0.07  # of the pairs: known to be bad, to see who looks
KNOWN_BAD_PREFIX = "injected-"


@dataclass(frozen=True)
class Decision:
    """One line of the log: who decided what about which item, with the ticks, and the texts before and after.

    In blind mode an item and a condition are judged acceptable or not. `guidelines` is the hash of what stood beside the item.
    """

    time: str
    reviewer: str
    item: str
    action: str
    ticks: Mapping[str, bool] = field(default_factory=dict)
    reason: str = ""
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    guidelines: str = ""
    condition: str = ""
    injected_error: str = ""
    is_adjudication: bool = False


@dataclass(frozen=True)
class ReviewPair:
    """A pair as a reviewer sees it: an item of the draft, or one planted among them, and how that was made bad."""

    item: Item
    known_bad: str = ""


def append_decision(log: Path, decision: Decision) -> None:
    """Add a decision to the log, on the disk before this returns; a line cut off by a crash stays alone on its own."""
    line = json.dumps({key: value for key, value in asdict(decision).items() if value not in ("", {}, False)}, ensure_ascii=False)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        half = stream.tell() and _read_last_byte(log) != b"\n"
        stream.write((("\n" if half else "") + line + "\n").encode())
        stream.flush()
        os.fsync(stream.fileno())


def read_log(log: Path) -> tuple[list[Decision], list[str]]:
    """Return the decisions in order, and a line for each that could not be read.

    Raises `study.DataError` for a decision that is no decision of ours, with its line.
    """
    decisions, broken = [], []
    if not log.exists():
        return [], []
    for number, line in enumerate(log.read_bytes().decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record: Any = json.loads(line)
        except ValueError:
            broken.append(f"{log}, line {number}: cut off in the middle, as by a crash; left out")
            continue
        if not isinstance(record, dict) or {"time", "reviewer", "item", "action"} - {*record} or record["action"] not in ACTIONS:
            raise study.DataError(
                f"{log}, line {number}: no decision of a review; expected time, reviewer, item and one of {', '.join(ACTIONS)}"
            )
        try:
            decisions.append(Decision(**record))
        except TypeError as error:
            raise study.DataError(f"{log}, line {number}: {error}; the log is of a newer version, or of something else") from None
    return decisions, broken


def find_standing_decisions(decisions: Iterable[Decision]) -> dict[tuple[str, str, str], Decision]:
    """Return the decision that stands, by reviewer, item and condition (of blind mode): the last that was not undone."""
    history: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in decisions:
        past = history.setdefault((decision.reviewer, decision.item, decision.condition), [])
        if decision.action != "undo":
            past.append(decision)
        elif past:
            past.pop()
    return {key: past[-1] for key, past in history.items() if past}


def find_first_decisions(decisions: Iterable[Decision]) -> dict[tuple[str, str, str], Decision]:
    """Return each reviewer's first decision about each item, whatever came of it later."""
    first: dict[tuple[str, str, str], Decision] = {}
    for decision in decisions:
        if decision.action != "undo" and not decision.is_adjudication:
            first.setdefault((decision.reviewer, decision.item, decision.condition), decision)
    return first


def build_queue(
    materials: Materials, reviewer: str, *, known_bad_share: float = KNOWN_BAD_SHARE, blind: bool = False
) -> list[ReviewPair]:
    """Return the pairs in the reviewer's own order, with so large a share of known-bad ones among them, at least one of ten pairs.

    A planted pair is one of the pairs with its members exchanged, with the grammatical member twice, with letters of a word
    exchanged, or with the pair of another paradigm. Order and pairs follow from the reviewer's name alone.

    >>> def pair(n):
    ...     return Item(f"i{n}", "p", {GRAMMATICAL: Sentence(f"Dog {n} barks."), UNGRAMMATICAL: Sentence(f"Dog {n} bark.")})
    >>> pairs = [pair(n) for n in range(20)]
    >>> from gardenpath.stimuli import Paradigm
    >>> shown = build_queue(Materials((Paradigm("p", "agreement"),), tuple(pairs)), "Ann")
    >>> len(shown), sum(bool(one.known_bad) for one in shown)
    (21, 1)
    """
    pairs = [item for item in materials.items if {*item.sentences} == {GRAMMATICAL, UNGRAMMATICAL}]
    rng = random.Random(f"{reviewer}:{len(pairs)}")
    count = 0 if blind or len(pairs) < 10 else max(1, round(known_bad_share * len(pairs)))
    chosen = rng.sample(pairs, min(count, len(pairs)))
    shown = [ReviewPair(item) for item in pairs] + [_build_known_bad(item, pairs, k, rng) for k, item in enumerate(chosen)]
    rng.shuffle(shown)
    return shown


def _build_known_bad(item: Item, pairs: Sequence[Item], k: int, rng: random.Random) -> ReviewPair:
    good, bad = item.sentences[GRAMMATICAL], item.sentences[UNGRAMMATICAL]
    others = [one for one in pairs if one.paradigm != item.paradigm and one.language == item.language]
    kinds = ["exchanged", "same", "misspelt", *(["other paradigm"] if others else [])]
    kind = kinds[k % len(kinds)]
    if kind == "exchanged":
        good, bad = bad, good
    elif kind == "same":
        bad = good
    elif kind == "misspelt":
        text = _misspell(good.text, rng)
        kind, good = ("misspelt", Sentence(text)) if text != good.text else ("same", bad)
    else:
        other = rng.choice(others)
        good, bad = other.sentences[GRAMMATICAL], other.sentences[UNGRAMMATICAL]
    name = KNOWN_BAD_PREFIX + hashlib.sha256(f"{item.id}:{k}".encode()).hexdigest()[:8]
    return ReviewPair(replace(item, id=name, sentences={GRAMMATICAL: good, UNGRAMMATICAL: bad}, extra={}), kind)


def _misspell(text: str, rng: random.Random) -> str:
    """Return a text with two neighbouring letters of a word of four or more exchanged."""
    words = text.split(" ")
    letter_positions = [
        (k, n)
        for k, word in enumerate(words)
        for n in range(1, len(word) - 2)
        if word.isalpha() and len(word) > 3 and word[n] != word[n + 1]
    ]
    if not letter_positions:
        return text
    k, n = rng.choice(letter_positions)
    words[k] = words[k][:n] + words[k][n + 1] + words[k][n] + words[k][n + 2 :]
    return " ".join(words)


def has_detected(decision: Decision) -> bool:
    """Return whether a decision about a planted pair saw that it is bad."""
    return decision.action not in ("accept",) or not all(decision.ticks.get(tick, False) for tick in TICK_MEANINGS)


def find_disagreements(decisions: Sequence[Decision]) -> list[str]:
    """Return the items on which those who decided do not agree, to keep or drop it or on its texts, and nobody has settled."""
    decisions_by_item: dict[str, list[Decision]] = {}
    for decision in find_standing_decisions(decisions).values():
        if not decision.condition and not decision.item.startswith(KNOWN_BAD_PREFIX):
            decisions_by_item.setdefault(decision.item, []).append(decision)
    return sorted(name for name, several in decisions_by_item.items() if _find_outcome(several) is None)


def _find_outcome(several: Sequence[Decision]) -> Decision | None:
    """Return what stands of several people's decisions: the settler's, or what all agree on."""
    settled = [decision for decision in several if decision.is_adjudication]
    if settled:
        return max(settled, key=lambda decision: decision.time)
    keeps = {decision.action in KEEP_ACTIONS for decision in several}
    texts = {json.dumps(dict(decision.after), sort_keys=True) for decision in several if decision.action in KEEP_ACTIONS}
    return several[0] if len(keeps) == 1 and len(texts) <= 1 else None


@dataclass(frozen=True)
class ReviewResult:
    """What is left of a draft: the kept items, and the others by why: dropped (by reason), not decided, not agreed on."""

    materials: Materials
    drop_reasons: Mapping[str, str]
    undecided_items: Sequence[str]
    disputed_items: Sequence[str]
    items_without_region: Sequence[str] = ()
    corrected_items: Sequence[str] = ()


def apply_decisions(materials: Materials, decisions: Sequence[Decision]) -> ReviewResult:
    """Return the items that were accepted or corrected, with their reviewers, and what they were before a correction.

    A corrected member keeps its regions where their words are still there; others stand where all other pairs have them.
    """
    decisions_by_item: dict[str, list[Decision]] = {}
    for (_, name, condition), decision in find_standing_decisions(decisions).items():
        if not condition:
            decisions_by_item.setdefault(name, []).append(decision)
    kept, dropped, undecided, corrected = [], {}, [], []
    disagreed = find_disagreements(decisions)
    for item in materials.items:
        several = decisions_by_item.get(item.id, [])
        outcome = _find_outcome(several) if several else None
        if not several:
            undecided.append(item.id)
        elif outcome is None:
            continue
        elif outcome.action == "drop":
            dropped[item.id] = outcome.reason
        else:
            made = _apply_correction(item, outcome)
            corrected += [item.id] if outcome.after else []
            who = ", ".join(dict.fromkeys(decision.reviewer for decision in several))
            kept.append(set_provenance(made, **{REVIEWERS: who}))
    missing_regions = {*_find_items_without_region(kept)} & {*corrected}
    kept = [
        _restore_regions(item, [one for one in kept if one.id not in missing_regions]) if item.id in missing_regions else item
        for item in kept
    ]
    paradigms = tuple(p for p in materials.paradigms if any(item.paradigm == p.id for item in kept))
    return ReviewResult(
        Materials(paradigms, tuple(kept)), dropped, undecided, disagreed, _find_items_without_region(kept), corrected
    )


def _find_items_without_region(items: Sequence[Item]) -> list[str]:
    """Return the items that have fewer regions than others of their paradigm: lost with a corrected word, or never placed."""
    names = {item.id: {(name, r.name) for name, s in item.sentences.items() for r in s.regions} for item in items}
    wanted: dict[str, set[tuple[str, str]]] = {}
    for item in items:
        wanted.setdefault(item.paradigm, set()).update(names[item.id])
    return [item.id for item in items if names[item.id] != wanted[item.paradigm]]


def _restore_regions(item: Item, kept: Sequence[Item]) -> Item:
    """Return an item with the regions that it lacks, where all others of its paradigm have them at one place."""
    others = [one for one in kept if one.paradigm == item.paradigm]
    if len(others) < MIN_SEEDS:
        return item
    restored, _ = add_regions({name: Sentence(one.text) for name, one in item.sentences.items()}, find_anchors(others))
    sentences = {}
    for name, old in item.sentences.items():
        new = [region for region in restored[name].regions if old.find_region(region.name) is None]
        sentences[name] = replace(old, regions=(*old.regions, *new))
    return replace(item, sentences=sentences)


def _apply_correction(item: Item, decision: Decision) -> Item:
    """Return the item with the texts of a correction."""
    if not decision.after:
        return item
    sentences, before = dict(item.sentences), {}
    for condition, text in decision.after.items():
        old = sentences.get(condition)
        if old is None or old.text == text:
            continue
        before[condition] = old.text
        sentences[condition] = transfer_regions(old, text)
    made = replace(item, sentences=sentences)
    return set_provenance(made, **{ORIGINAL_TEXTS: json.dumps(before, ensure_ascii=False)}) if before else made


def list_drafting_steps(materials: Materials, result: ReviewResult) -> Iterator[dict[str, object]]:
    """Yield the rows that a review adds to the table `drafting`: accepted, corrected and dropped, by reason."""
    kept = {item.id for item in result.materials.items}
    for item in materials.items:
        who = {"paradigm": item.paradigm, "model": item.extra.get("model") or "unknown"}
        who["prompt_hash"] = item.extra.get("prompt_hash") or "unknown"
        if item.id in kept:
            yield {**who, "step": "corrected" if item.id in result.corrected_items else "accepted", "reason": "none", "n_pairs": 1}
        elif item.id in result.drop_reasons:
            yield {**who, "step": "dropped", "reason": result.drop_reasons[item.id] or "none", "n_pairs": 1}


def _read_last_byte(path: Path) -> bytes:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1)
