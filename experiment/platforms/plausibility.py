"""What sessions say of themselves, held against one another: what a file leaves open is asked, what is odd is named."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import TIME_COLUMNS

from .imported_sessions import NO_POSITION, ImportedSession

log = logging.getLogger("gardenpath")
TimedRecord = TypeVar("TimedRecord", Record, WordRecord)
MIN_READING_TIME_MS = 10  # ms; a shorter reading time is nobody's
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DATE_PATTERN = re.compile(rf"\d\d?[-/ ]({MONTHS})|({MONTHS})[-/ ]\d\d", re.I)


def check_word_numbering(sessions: Sequence[ImportedSession], lengths: Mapping[tuple[str, str], int]) -> None:
    """Raise `DataError` where nothing says which words the numbers of a file mean; `lengths` are those of the sentences known."""
    first_numbers = {session.word_numbering.first_number: session.where for session in sessions if session.word_numbering}
    stated = all(session.word_numbering.is_stated for session in sessions if session.word_numbering)
    state = (
        "state in the mapping which number the first word of a sentence has:  first_word_position = 1  or  first_word_position = 0"
    )
    if not stated and (odd := sorted(first_numbers.keys() - {0, 1})):
        raise study.DataError(
            f"{first_numbers[odd[0]]}: positions of words begin at {odd[0]}, and no materials have its texts at them; {state}"
        )
    if len(first_numbers) > 1 and not stated:
        beginnings = " and ".join(f"at {first} in {where}" for first, where in first_numbers.items())
        raise study.DataError(f"positions of words begin {beginnings}; {state}")
    words = [(s, t, word) for s in sessions if s.word_numbering for t in s.trials for r in t.records for word in r.words]
    if not lengths and (where := next((s.where for s, _, word in words if word.word == NO_POSITION), None)):
        raise study.DataError(
            f"{where}: names regions and no positions of words; give the materials (--materials), or name the column of positions: "
            "[columns] word"
        )
    if not lengths or any(word.text is not None or (s.word_numbering and s.word_numbering.is_stated) for s, _, word in words):
        return
    # Numbers from 1 whose last is one less than the sentence has words may as well be numbers from 0 without the first word.
    if words and not any(word.word + 1 == lengths.get((trial.item, trial.condition)) for _, trial, word in words):
        raise study.DataError(
            f"{words[0][0].where}: positions of words begin at {next(iter(first_numbers))}, and counted from there nobody read a "
            f"sentence's last word; {state}"
        )


def log_unread_words(readings: Iterable[tuple[str, list[dict[str, Any]]]], lengths: Mapping[tuple[str, str], int]) -> None:
    """Say, once a file, how many words of sentences that were read have no row; one not known ends with the last word read."""
    words_read: dict[tuple[str, str, int, str, str], set[int]] = defaultdict(set)
    longest: dict[tuple[str, str], int] = defaultdict(int, lengths)
    for where, rows in readings:
        for row in rows:
            item, condition, word = row["item"], row["condition"], row["word"]
            words_read[where, row["session"], row["trial"], item, condition].add(word)
            longest[item, condition] = max(longest[item, condition], word + 1)
    unread: Counter[str] = Counter()
    first: dict[str, str] = {}
    for (where, session, _, item, condition), words in words_read.items():
        if missing_count := longest[item, condition] - len(words):
            unread[where] += missing_count
            word = min({*range(len(words) + 1)} - words)
            first.setdefault(where, f"word {word} of item {item}, {condition}, session {session}")
    for where, count in unread.items():
        log.warning("%s: %d words have no row and count as not read, first %s", where, count, first[where])


def infer_completeness(
    sessions: Sequence[ImportedSession], item_count: int, pseudonymise: Callable[[str], str]
) -> list[ImportedSession]:
    """Return sessions of which each is complete or not; of one whose file does not say, its number of trials does.

    It is held against the number that most sessions of its list have, where two have it; else against the number of `item_count`
    that are known, or else the largest. Sessions with other numbers are named; `pseudonymise` makes of an id what is written.
    """
    counts = {session.id: len({trial.position for trial in session.trials}) for session in sessions}
    sessions_by_list: dict[Hashable, list[ImportedSession]] = defaultdict(list)
    for session in sessions:
        if session.complete is not False:
            sessions_by_list[session.experiment, session.list_name].append(session)
    fewer: set[str] = set()
    for list_sessions in sessions_by_list.values():
        most = _find_mode(counts[session.id] for session in list_sessions)
        expected = most or item_count or max(counts[session.id] for session in list_sessions)
        comparison = "most sessions have" if most else "the materials have" if item_count else "the longest has"
        less = [session for session in list_sessions if counts[session.id] < expected]
        fewer |= {session.id for session in less}
        if odd := [*less, *(session for session in list_sessions if most is not None and counts[session.id] > most)]:
            unstated = sum(session.complete is None for session in less)
            log.warning(
                "%s: %d of %d sessions have other than the %d trials that %s (%s; first session %s)%s",
                *(
                    odd[0].where,
                    len(odd),
                    len(list_sessions),
                    expected,
                    comparison,
                    ", ".join(map(str, sorted({counts[s.id] for s in odd}))),
                ),
                pseudonymise(odd[0].id),
                f"; {unstated} that have fewer count as not complete" if unstated else "",
            )
    return [replace(s, complete=s.id not in fewer) if s.complete is None else s for s in sessions]


def log_repeated_items(sessions: Iterable[ImportedSession], pseudonymise: Callable[[str], str]) -> None:
    """Name those who had an item more often than others had, as two people do who share an id."""
    item_counts: dict[str, Counter[str]] = defaultdict(Counter)
    trial_counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    where: dict[str, str] = {}
    for session in sessions:
        where.setdefault(session.participant, session.where)
        for trial in session.trials:
            item_counts[session.participant][trial.item] += 1
            trial_counts[session.participant][trial.item, trial.condition] += 1
    usual = _find_mode(max(items.values()) for items in item_counts.values()) or 1
    odd = [
        participant
        for participant, items in item_counts.items()
        if max(items.values()) > usual or max(trial_counts[participant].values()) > 1
    ]
    if odd:
        item, times = item_counts[odd[0]].most_common(1)[0]
        log.warning(
            "%s: %d of %d participants had an item more than once, as if two people shared an id, or one began again; first %s "
            "(item %s %d times)",
            *(where[odd[0]], len(odd), len(item_counts), pseudonymise(odd[0]), item, times),
        )


def remove_negative_times(sessions: Iterable[ImportedSession]) -> list[ImportedSession]:
    """Return sessions whose negative times, which nobody takes, are empty; they are counted on the log."""
    negative_times: dict[str, list[float]] = defaultdict(list)

    def blank_negative_times(one: TimedRecord, where: str) -> TimedRecord:
        times = {name: t for name in TIME_COLUMNS if (t := getattr(one, name, None)) is not None and t < 0}
        negative_times[where].extend(times.values())
        empty: dict[str, Any] = dict.fromkeys(times)
        return replace(one, **empty) if times else one

    cleaned = []
    for session in sessions:
        trials = []
        for trial in session.trials:
            records = (blank_negative_times(record, session.where) for record in trial.records)
            records = (replace(r, words=tuple(blank_negative_times(word, session.where) for word in r.words)) for r in records)
            trials.append(replace(trial, records=tuple(records)))
        cleaned.append(replace(session, trials=tuple(trials)))
    for where, times in negative_times.items():
        if times:
            log.warning("%s: %d times are negative, first %g ms; they stay empty", where, len(times), times[0])
    return cleaned


def log_odd_cells(sessions: Iterable[ImportedSession]) -> None:
    """Name, once a file, what is written in two ways, what a spreadsheet made a date of, and seconds among milliseconds."""
    files: dict[str, list[ImportedSession]] = defaultdict(list)
    for session in sessions:
        files[session.where].append(session)
    for where, file_sessions in files.items():
        trials = [trial for session in file_sessions for trial in session.trials]
        names = {
            "participants": {session.participant for session in file_sessions},
            "items": {trial.item for trial in trials},
            "conditions": {trial.condition for trial in trials},
        }
        for what, ids in names.items():
            form_counts = Counter(" ".join(id.split()).casefold() for id in ids)
            near_duplicates = sorted(id for id in ids if form_counts[" ".join(id.split()).casefold()] > 1)
            if near_duplicates:
                examples = "" if what == "participants" else f" ({', '.join(map(repr, near_duplicates[:4]))})"
                log.warning(
                    "%s: %d %s differ by case or a space alone%s; each is one of its own",
                    where,
                    len(near_duplicates),
                    what,
                    examples,
                )
            if dates := sorted(id for id in ids if DATE_PATTERN.fullmatch(id)):
                log.warning("%s: %d %s look like dates, as a spreadsheet makes of 1-2 (%s)", where, len(dates), what, dates[0])
        texts: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for trial in trials:
            for record in trial.records:
                for word in record.words if record.sentence == 0 else ():
                    if word.text is not None:
                        texts[trial.item, trial.condition][word.word].add(word.text)
        varying_texts = [
            (sentence_key, forms) for sentence_key, words in texts.items() for forms in words.values() if len(forms) > 1
        ]
        if varying_texts:
            (item, condition), forms = varying_texts[0]
            log.warning(
                "%s: %d sentences have more than one text, first item %s, %s (%s)",
                *(
                    where,
                    len({sentence_key for sentence_key, _ in varying_texts}),
                    item,
                    condition,
                    " and ".join(map(repr, sorted(forms)[:2])),
                ),
            )
        times = sorted(w.rt for t in trials for r in t.records for w in r.words if w.rt is not None)
        short = sum(time < MIN_READING_TIME_MS for time in times)
        if short:
            half = times[len(times) // 2]
            log.warning(
                '%s: %d of %d reading times are under %d ms, and half of all under %g: are they seconds ([units] rt = "s")?',
                *(where, short, len(times), MIN_READING_TIME_MS, half),
            )


def _find_mode(numbers: Iterable[int]) -> int | None:
    """Return the most frequent number, of several the largest; None where no two are alike."""
    times = Counter(numbers)
    number = max(times, key=lambda n: (times[n], n), default=None)
    return number if number is not None and times[number] > 1 else None
