"""Sittings become tables: words come from the items where these are known, and are held against the file's own."""

import logging
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import Item, Trial, conditions_table, items_table, words_table

from ..collection import correct, frame
from .materials import Shown
from .sittings import Presented, ReadWord, Sitting

log = logging.getLogger("gardenpath")

# What stands where the files and the mapping say nothing.
STANDARD = {"experiment": "E1", "version": "V1", "paradigm": "imported", "role": "target"}
# What a file may lack without its rows being of no use; said once a file.
OPTIONAL = {
    "readings": ("text", "rt", "rt_onset"),
    "responses": ("rt",),
    "sessions": ("slot", "started", "finished", "device", "refresh_hz"),
}
Row = dict[str, Any]


def tabulate(sittings: Sequence[Sitting], shown: Shown | None, name: Callable[[str], str]) -> dict[str, pd.DataFrame]:
    """Return the tables readings, responses and sessions, items, conditions and words where these are known, and
    demographics where there are any.

    `name` makes of a platform's id what is written. A trial whose item is not in the materials, or whose words in the file
    differ from the item's in number or text, is left out of readings and responses and named on the log; the rest goes on.
    """
    _check_versions(sittings, shown)
    _check_cells(sittings)
    if shown is None and (nameless := next((s for s in sittings for p in s.presented if not p.item), None)):
        raise study.DataError(
            f"{nameless.where}: names sentences and no items; give the materials they are from (--materials)"
        )
    known = _Known.of(shown)
    rows = [(sitting, _rows(sitting, known, name)) for sitting in sittings]
    known.report(sum(len(sitting.presented) for sitting in sittings))
    _say_absent(rows)
    made: dict[str, pd.DataFrame] = {}
    if shown is not None:
        made["items"] = items_table(shown.materials)
        made["conditions"] = conditions_table(shown.materials)
        made["words"] = words_table(shown.materials)
    else:
        log.info(
            "no materials are given: words are as the files have them, regions stay empty unless the mapping names them, and "
            "there are no tables items, conditions and words"
        )
    for table in ("readings", "responses", "sessions", "demographics"):
        found = [row for _, of in rows for row in of[table]]
        if found or table != "demographics":
            made[table] = frame(table, found)
    return made


def _check_versions(sittings: Iterable[Sitting], shown: Shown | None) -> None:
    """Raise `DataError` where sessions ran texts that are not those given, or different ones under one name."""
    ran: dict[str, set[str]] = defaultdict(set)
    faults = []
    for sitting in sittings:
        if sitting.version_sha256 is None:
            continue
        ran[sitting.version or "?"].add(sitting.version_sha256)
        if shown is not None and shown.files and sitting.version_sha256 not in shown.files:
            there = ", ".join(f"{file.name} {sha[:12]}" for sha, file in shown.files.items())
            faults.append(
                f"{sitting.where}: ran {sitting.version} {sitting.version_sha256[:12]}; {shown.where} has {there}: "
                "give the versions that were exported then"
            )
    for version, hashes in ran.items():
        if len(hashes) > 1 and not faults:
            faults.append(
                f"sessions ran {len(hashes)} different texts of {version} ({', '.join(sorted(h[:12] for h in hashes))}); "
                "collect each with its own versions (--materials)"
            )
    if faults:
        raise study.DataError(dict.fromkeys(faults))


def _check_cells(sittings: Iterable[Sitting]) -> None:
    """Raise `DataError` for roles that are none of ours, and ratings that are no numbers, each once a file."""
    faults: Counter[str] = Counter()
    for sitting in sittings:
        for presented in sitting.presented:
            if presented.role not in (None, *study.ROLES):
                faults[f"{sitting.where}: role is {presented.role!r}, expected one of {', '.join(study.ROLES)}"] += 1
            for answer in presented.answers:
                if answer.task == "rating" and not _is_number(answer.response):
                    faults[f"{sitting.where}: a rating is {answer.response!r}, expected a number"] += 1
    if faults:
        raise study.DataError(f"{fault} ({n} times)" if n > 1 else fault for fault, n in faults.items())


def _is_number(response: str | float) -> bool:
    try:
        return math.isfinite(float(response))
    except ValueError:
        return False


@dataclass
class _Known:
    """The items by id, with the roles they had, and what had to be left out, with its first place."""

    items: dict[str, Item]
    trials: dict[str, dict[str, Trial]]
    roles: dict[str, str]
    given: bool
    sentences: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Shown | None) -> "_Known":
        if shown is None:
            return cls({}, {}, {}, given=False)
        trials = {sha: {trial.item.id: trial for trial in file.version.trials} for sha, file in shown.files.items()}
        roles: dict[str, str] = {id: trial.role for of in trials.values() for id, trial in of.items()}
        sentences: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item in shown.materials.items:
            for condition, sentence in item.sentences.items():
                sentences[_same(sentence.text)].append((item.id, condition))
        return cls({item.id: item for item in shown.materials.items}, trials, roles, True, dict(sentences))

    def placed(self, presented: Presented) -> Presented:
        """Return a trial with item and condition, where the file has its sentence alone and one item has that."""
        found = [] if presented.item else self.sentences.get(_same(presented.sentence or ""), [])
        return replace(presented, item=found[0][0], condition=found[0][1]) if len(found) == 1 else presented

    def trial(self, sitting: Sitting, presented: Presented) -> Trial | None:
        """Return the trial as the sitting's version has it, where that is known."""
        return self.trials.get(sitting.version_sha256 or "", {}).get(presented.item)

    def fault(self, presented: Presented) -> str | None:
        """Return what is wrong with a trial, or None."""
        if not self.given:
            return None
        if not presented.item:
            found = self.sentences.get(_same(presented.sentence or ""), [])
            said = (
                f"is in several items ({', '.join(sorted({item for item, _ in found}))})"
                if found
                else "is not in the materials"
            )
            return f"the sentence {presented.sentence!r} {said}"
        item = self.items.get(presented.item)
        if item is None:
            return f"item {presented.item!r} is not in the materials"
        if not presented.words and {*presented.condition.split("+")} <= item.sentences.keys():
            return None  # answers about one sentence, or the choice between both of a pair
        if presented.condition not in item.sentences:
            return f"item {item.id} has no condition {presented.condition!r}; expected {', '.join(item.sentences)}"
        sentence = item.sentences[presented.condition]
        return _difference(presented.words, sentence.shown(), f"item {item.id}, {presented.condition}", sentence.text)

    def leave_out(self, presented: Presented, fault: str) -> None:
        self.left_out[fault] += 1
        self.first.setdefault(fault, presented.where)

    def report(self, trials: int) -> None:
        """Say what was left out; raise `DataError` where nothing is left."""
        said = [
            f"{self.first[fault]}: {fault}" + (f" (and {n - 1} more trials)" if n > 1 else "")
            for fault, n in self.left_out.items()
        ]
        if trials and self.left_out.total() == trials:
            raise study.DataError(
                [*said[:5], f"none of {trials} trials agrees with the materials; are they this study's?"]
            )
        for message in said:
            log.warning("%s; left out", message)


def _difference(words: Sequence[ReadWord], shown: Sequence[str], what: str, sentence: str) -> str | None:
    """Return how the file's words differ from the item's, in number or, where the file has texts, in these."""
    if not words:
        return None
    texts = [word.text for word in words]
    said = " ".join(text or "?" for text in texts)
    if len(words) != len(shown):
        return f"{what}: the file has {len(words)} words ({said}), expected {len(shown)}: {sentence}"
    for n, (theirs, ours) in enumerate(zip(texts, shown, strict=True)):
        if theirs is not None and _same(theirs) != _same(ours):
            return f"{what}: word {n} is {theirs!r}, expected {ours!r}: {sentence}"
    return None


def _same(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _rows(sitting: Sitting, known: _Known, name: Callable[[str], str]) -> dict[str, list[Row]]:
    person = {"participant": name(sitting.participant), "session": name(sitting.id)}
    place = {**person, **_version(sitting)}
    kept = []
    for presented in map(known.placed, sitting.presented):
        if fault := known.fault(presented):
            known.leave_out(presented, fault)
        else:
            kept.append(presented)
    return {
        "readings": [row for presented in kept for row in _readings(place, presented, known)],
        "responses": [
            row for presented in kept for row in _responses(place, presented, known, known.trial(sitting, presented))
        ],
        "sessions": [{**place, **_session(sitting)}],
        "demographics": [{**person, "field": f, "answer": a} for f, a in sitting.demographics.items()],
    }


def _version(sitting: Sitting) -> dict[str, str]:
    """Return experiment and version; a version file's name, E1-V1, says both."""
    experiment, version = sitting.experiment, sitting.version
    if experiment is None and version is not None and "-" in version:
        experiment, version = version.split("-", 1)
    return {"experiment": experiment or STANDARD["experiment"], "version": version or STANDARD["version"]}


def _place(place: Row, presented: Presented, known: _Known) -> Row:
    item = known.items.get(presented.item)
    return {
        **place,
        "trial": presented.trial,
        "role": known.roles.get(presented.item) or presented.role or STANDARD["role"],
        "paradigm": item.paradigm if item else presented.paradigm or STANDARD["paradigm"],
        "item": presented.item,
        "condition": presented.condition,
    }


def _readings(place: Row, presented: Presented, known: _Known) -> Iterator[Row]:
    item = known.items.get(presented.item)
    ours = item.sentences[presented.condition].words() if item and presented.words else []
    for n, word in enumerate(presented.words):
        yield {
            **_place(place, presented, known),
            "word": n,
            "text": ours[n].text if ours else word.text,
            "region": (ours[n].region if ours else None) or word.region,
            "rt": word.rt,
            "rt_onset": word.rt_onset,
            "flags": " ".join(word.flags),
        }


def _responses(place: Row, presented: Presented, known: _Known, trial: Trial | None) -> Iterator[Row]:
    """Yield the answers; where the file does not say which are right, the version's trial does."""
    for answer in presented.answers:
        own = {key: getattr(answer, key) for key in ("task", "prompt", "side", "response", "correct", "rt")}
        if answer.task == "rating":
            own["response"] = _rating(answer.response)
        if own["correct"] is None and trial is not None:
            own["correct"] = correct(trial, own)
        yield {**_place(place, presented, known), **own}


def _rating(response: str | float) -> int | float:
    number = float(response)
    return int(number) if number.is_integer() else number


def _session(sitting: Sitting) -> Row:
    return {
        "slot": sitting.slot,
        "started": sitting.started,
        "finished": sitting.finished,
        "complete": sitting.complete,
        "source": sitting.source,
        "revision": 1,
        "late": False,
        "excluded": None,
        "trials": len({presented.trial for presented in sitting.presented}),
        "aborted": 0,
        "device": sitting.device,
        "refresh_hz": sitting.refresh_hz,
    }


def _say_absent(rows: Iterable[tuple[Sitting, dict[str, list[Row]]]]) -> None:
    """Say, once a file, which cells it leaves empty."""
    by_file: dict[str, dict[str, list[Row]]] = {}
    for sitting, of in rows:
        there = by_file.setdefault(sitting.where, {table: [] for table in OPTIONAL})
        for table in OPTIONAL:
            there[table] += of[table]
    alike: dict[str, list[str]] = defaultdict(list)
    for file, there in by_file.items():
        absent = [
            f"{table}.{column}"
            for table, names in OPTIONAL.items()
            for column in names
            if there[table] and all(row[column] is None for row in there[table])
        ]
        if absent:
            alike[", ".join(absent)].append(file)
    for columns, files in alike.items():
        more = f" and {len(files) - 1} more files hold" if len(files) > 1 else " holds"
        log.info("%s%s no %s; these cells stay empty", files[0], more, columns)
