"""Sittings become tables: words come from the items where these are known, and are held against the file's own."""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from gardenpath import study
from gardenpath.stimuli import conditions_table, items_table, words_table

from ..event_tables import frame
from .agreement import Known
from .mapping import ANSWER
from .materials import Shown
from .sittings import Presented, Sitting

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
    known = Known.of(shown)
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
                if answer.task == "rating" and answer.response is not None and not _is_number(answer.response):
                    faults[f"{sitting.where}: a rating is {answer.response!r}, expected a number"] += 1
    if faults:
        raise study.DataError(f"{fault} ({n} times)" if n > 1 else fault for fault, n in faults.items())


def _is_number(response: str | float) -> bool:
    try:
        return math.isfinite(float(response))
    except ValueError:
        return False


def _rows(sitting: Sitting, known: Known, name: Callable[[str], str]) -> dict[str, list[Row]]:
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
        "responses": [row for presented in kept for row in _responses(place, presented, known, sitting)],
        "sessions": [{**place, **_session(sitting)}],
        "demographics": [{**person, "field": f, "answer": a} for f, a in sitting.demographics.items()],
    }


def _version(sitting: Sitting) -> dict[str, str]:
    """Return experiment and version; a version file's name, E1-V1, says both."""
    experiment, version = sitting.experiment, sitting.version
    if experiment is None and version is not None and "-" in version:
        experiment, version = version.split("-", 1)
    return {"experiment": experiment or STANDARD["experiment"], "version": version or STANDARD["version"]}


def _place(place: Row, presented: Presented, known: Known) -> Row:
    item = known.items.get(presented.item)
    return {
        **place,
        "trial": presented.trial,
        "role": known.roles.get(presented.item) or presented.role or STANDARD["role"],
        "paradigm": item.paradigm if item else presented.paradigm or STANDARD["paradigm"],
        "item": presented.item,
        "condition": presented.condition,
    }


def _readings(place: Row, presented: Presented, known: Known) -> Iterator[Row]:
    item = known.items.get(presented.item)
    ours = item.sentences[presented.condition].words() if item and presented.words else []
    for n, word in enumerate(presented.words):
        yield {
            **_place(place, presented, known),
            "word": n,
            "text": ours[n].text if ours else word.text,
            "region": (ours[n].region if ours else None) or word.region,
            **{key: getattr(word, key) for key in ("line", "rt", "rt_first", "rt_onset", "duration", "correct")},
            "flags": " ".join(word.flags),
        }


def _responses(place: Row, presented: Presented, known: Known, sitting: Sitting) -> Iterator[Row]:
    """Yield the answers; where the file does not say which are right, the version's screens do."""
    for answer in presented.answers:
        own = {key: getattr(answer, key) for key in ANSWER}
        if answer.response is not None:
            if answer.task == "rating":
                own["response"] = _rating(answer.response)
            right = known.right(sitting, presented, answer.task, answer.prompt)
            if own["correct"] is None and right:
                own["correct"] = str(own["response"]) in map(str, right)
            if own["outcome"] is None and answer.task != "reading":
                own["outcome"] = {True: "right", False: "wrong", None: "answered"}[own["correct"]]
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
