"""What sessions say of themselves, held against one another: what a file leaves open is asked, what is odd is named."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gardenpath import study
from gardenpath.study.mapping import TIMES
from gardenpath.study.screens import Record, WordRecord

from .imported import NOWHERE, ImportedSession

log = logging.getLogger("gardenpath")
Timed = TypeVar("Timed", Record, WordRecord)
SHORTEST = 10  # ms; a shorter reading time is nobody's
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DATE = re.compile(rf"\d\d?[-/ ]({MONTHS})|({MONTHS})[-/ ]\d\d", re.I)


def check_counting(sessions: Sequence[ImportedSession], lengths: Mapping[tuple[str, str], int]) -> None:
    """Raise `DataError` where nothing says which words the numbers of a file mean; `lengths` are those of the sentences known."""
    counted = {session.counting.first: session.where for session in sessions if session.counting}
    stated = all(session.counting.stated for session in sessions if session.counting)
    state = "state in the mapping which number the first word of a sentence has:  first_word = 1  or  first_word = 0"
    if not stated and (odd := sorted(counted.keys() - {0, 1})):
        raise study.DataError(
            f"{counted[odd[0]]}: positions of words begin at {odd[0]}, and no materials have its texts at them; {state}"
        )
    if len(counted) > 1 and not stated:
        said = " and ".join(f"at {first} in {where}" for first, where in counted.items())
        raise study.DataError(f"positions of words begin {said}; {state}")
    words = [(s, t, word) for s in sessions if s.counting for t in s.trials for r in t.records for word in r.words]
    if not lengths and (where := next((s.where for s, _, word in words if word.word == NOWHERE), None)):
        raise study.DataError(
            f"{where}: names regions and no positions of words; give the materials (--materials), or name the column of positions: "
            "[columns] word"
        )
    if not lengths or any(word.text is not None or (s.counting and s.counting.stated) for s, _, word in words):
        return
    # Numbers from 1 whose last is one less than the sentence has words may as well be numbers from 0 without the first word.
    if words and not any(word.word + 1 == lengths.get((trial.item, trial.condition)) for _, trial, word in words):
        raise study.DataError(
            f"{words[0][0].where}: positions of words begin at {next(iter(counted))}, and counted from there nobody read a "
            f"sentence's last word; {state}"
        )


def say_unread(readings: Iterable[tuple[str, list[dict[str, Any]]]], lengths: Mapping[tuple[str, str], int]) -> None:
    """Say, once a file, how many words of sentences that were read have no row; one not known ends with the last word read."""
    read: dict[tuple[str, str, int, str, str], set[int]] = defaultdict(set)
    longest: dict[tuple[str, str], int] = defaultdict(int, lengths)
    for where, rows in readings:
        for row in rows:
            item, condition, word = row["item"], row["condition"], row["word"]
            read[where, row["session"], row["trial"], item, condition].add(word)
            longest[item, condition] = max(longest[item, condition], word + 1)
    unread: Counter[str] = Counter()
    first: dict[str, str] = {}
    for (where, session, _, item, condition), words in read.items():
        if lacking := longest[item, condition] - len(words):
            unread[where] += lacking
            word = min({*range(len(words) + 1)} - words)
            first.setdefault(where, f"word {word} of item {item}, {condition}, session {session}")
    for where, count in unread.items():
        log.warning("%s: %d words have no row and count as not read, first %s", where, count, first[where])


def completed(sessions: Sequence[ImportedSession], items: int, name: Callable[[str], str]) -> list[ImportedSession]:
    """Return sessions of which each is complete or not; of one whose file does not say, its number of trials does.

    It is held against the number that most sessions of its version have, where two have it; else against the number of `items`
    that are known, or else the largest. Sessions with other numbers are named; `name` makes of an id what is written.
    """
    counts = {session.id: len({trial.position for trial in session.trials}) for session in sessions}
    versions: dict[Hashable, list[ImportedSession]] = defaultdict(list)
    for session in sessions:
        if session.complete is not False:
            versions[session.experiment, session.version].append(session)
    fewer: set[str] = set()
    for of in versions.values():
        most = _most(counts[session.id] for session in of)
        expected = most or items or max(counts[session.id] for session in of)
        than = "most sessions have" if most else "the materials have" if items else "the longest has"
        less = [session for session in of if counts[session.id] < expected]
        fewer |= {session.id for session in less}
        if odd := [*less, *(session for session in of if most is not None and counts[session.id] > most)]:
            unsaid = sum(session.complete is None for session in less)
            log.warning(
                "%s: %d of %d sessions have other than the %d trials that %s (%s; first session %s)%s",
                *(
                    odd[0].where,
                    len(odd),
                    len(of),
                    expected,
                    than,
                    ", ".join(map(str, sorted({counts[s.id] for s in odd}))),
                ),
                name(odd[0].id),
                f"; {unsaid} that have fewer count as not complete" if unsaid else "",
            )
    return [replace(s, complete=s.id not in fewer) if s.complete is None else s for s in sessions]


def say_repeated(sessions: Iterable[ImportedSession], name: Callable[[str], str]) -> None:
    """Name those who had an item more often than others had, as two people do who share an id."""
    had: dict[str, Counter[str]] = defaultdict(Counter)
    same: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    where: dict[str, str] = {}
    for session in sessions:
        where.setdefault(session.participant, session.where)
        for trial in session.trials:
            had[session.participant][trial.item] += 1
            same[session.participant][trial.item, trial.condition] += 1
    usual = _most(max(items.values()) for items in had.values()) or 1
    odd = [who for who, items in had.items() if max(items.values()) > usual or max(same[who].values()) > 1]
    if odd:
        item, times = had[odd[0]].most_common(1)[0]
        log.warning(
            "%s: %d of %d participants had an item more than once, as if two people shared an id, or one began again; first %s "
            "(item %s %d times)",
            *(where[odd[0]], len(odd), len(had), name(odd[0]), item, times),
        )


def without_negative_times(sessions: Iterable[ImportedSession]) -> list[ImportedSession]:
    """Return sessions whose negative times, which nobody takes, are empty; they are counted on the log."""
    found: dict[str, list[float]] = defaultdict(list)

    def bare(one: Timed, where: str) -> Timed:
        times = {name: t for name in TIMES if (t := getattr(one, name, None)) is not None and t < 0}
        found[where].extend(times.values())
        empty: dict[str, Any] = dict.fromkeys(times)
        return replace(one, **empty) if times else one

    made = []
    for session in sessions:
        trials = []
        for trial in session.trials:
            records = (bare(record, session.where) for record in trial.records)
            records = (replace(r, words=tuple(bare(word, session.where) for word in r.words)) for r in records)
            trials.append(replace(trial, records=tuple(records)))
        made.append(replace(session, trials=tuple(trials)))
    for where, times in found.items():
        if times:
            log.warning("%s: %d times are negative, first %g ms; they stay empty", where, len(times), times[0])
    return made


def say_odd_cells(sessions: Iterable[ImportedSession]) -> None:
    """Name, once a file, what is written in two ways, what a spreadsheet made a date of, and seconds among milliseconds."""
    files: dict[str, list[ImportedSession]] = defaultdict(list)
    for session in sessions:
        files[session.where].append(session)
    for where, of in files.items():
        trials = [trial for session in of for trial in session.trials]
        names = {
            "participants": {session.participant for session in of},
            "items": {trial.item for trial in trials},
            "conditions": {trial.condition for trial in trials},
        }
        for what, ids in names.items():
            alike = Counter(" ".join(id.split()).casefold() for id in ids)
            twice = sorted(id for id in ids if alike[" ".join(id.split()).casefold()] > 1)
            if twice:
                said = "" if what == "participants" else f" ({', '.join(map(repr, twice[:4]))})"
                log.warning(
                    "%s: %d %s differ by case or a space alone%s; each is one of its own", where, len(twice), what, said
                )
            if dates := sorted(id for id in ids if DATE.fullmatch(id)):
                log.warning(
                    "%s: %d %s look like dates, as a spreadsheet makes of 1-2 (%s)", where, len(dates), what, dates[0]
                )
        texts: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for trial in trials:
            for record in trial.records:
                for word in record.words if record.sentence == 0 else ():
                    if word.text is not None:
                        texts[trial.item, trial.condition][word.word].add(word.text)
        versions = [(place, forms) for place, words in texts.items() for forms in words.values() if len(forms) > 1]
        if versions:
            (item, condition), forms = versions[0]
            log.warning(
                "%s: %d sentences have more than one text, first item %s, %s (%s)",
                *(
                    where,
                    len({place for place, _ in versions}),
                    item,
                    condition,
                    " and ".join(map(repr, sorted(forms)[:2])),
                ),
            )
        times = sorted(w.rt for t in trials for r in t.records for w in r.words if w.rt is not None)
        short = sum(time < SHORTEST for time in times)
        if short:
            half = times[len(times) // 2]
            log.warning(
                '%s: %d of %d reading times are under %d ms, and half of all under %g: are they seconds ([units] rt = "s")?',
                *(where, short, len(times), SHORTEST, half),
            )


def _most(numbers: Iterable[int]) -> int | None:
    """Return the most frequent number, of several the largest; None where no two are alike."""
    times = Counter(numbers)
    number = max(times, key=lambda n: (times[n], n), default=None)
    return number if number is not None and times[number] > 1 else None
