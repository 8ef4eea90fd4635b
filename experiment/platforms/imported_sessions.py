"""What a platform's files say, before it is held against the materials: sessions, trials, and records of their screens.

A platform's module makes these of its files and says no more than they say: what is not there stays None. `tabulate` makes
the declared tables of them, with the words taken from the items.
"""

import logging
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from gardenpath.study.events import Record, WordRecord

log = logging.getLogger("gardenpath")
NO_POSITION = -1  # the position of a word of which a file names the region alone
MAZE_TASK = "maze"
READING_TASK = "reading"  # the task of words, and of texts in tables, where a file does not say how they were read


@dataclass(frozen=True)
class ImportedTrial:
    """One trial at its presented position; `where` names file and line in messages.

    A file that holds the `sentence` and names no item leaves `item` and `condition` empty: the materials name them. The condition
    of a pair is that of both sentences, joined by a plus sign, and their records say which of them was read.
    """

    position: int
    item: str
    condition: str
    where: str
    role: str | None = None
    paradigm: str | None = None
    records: tuple[Record, ...] = ()
    sentence: str | None = None

    @property
    def conditions(self) -> tuple[str, ...]:
        """The condition of each sentence; a plus sign in a name makes no pair where no second sentence was to be read."""
        pair = any(record.sentence for record in self.records)
        return tuple(self.condition.split("+")) if pair else (self.condition,)

    @property
    def has_words(self) -> bool:
        """Whether words were read one by one."""
        return any(record.words for record in self.records)

    def is_continued_by(self, item: str, condition: str, records: Iterable[Record]) -> bool:
        """Whether these belong to the trial: of its item and condition, and nothing that it has had already."""
        earlier = {(record.task, record.name) for record in self.records}
        return (self.item, self.condition) == (item, condition) and not earlier & {(r.task, r.name) for r in records}


@dataclass(frozen=True)
class WordNumbering:
    """The number that a file gives to a sentence's first word: as the mapping states, or else the smallest that there is, which may
    be any number until the materials have decided.
    """

    first_number: int
    is_stated: bool


@dataclass(frozen=True)
class ImportedSession:
    """One session of one participant; `participant` is the platform's own name for them, hashed before it is written.

    `list_sha256` and `slot` are there where the study was exported by gardenpath: they say which texts and which order it ran.
    `complete` is None where the file does not say whether the end was reached: `plausibility` holds the trials against the others'.
    `word_numbering` is there where the file numbers its words, so that some may lack; else its words are all that were read, in
    order.
    """

    id: str
    participant: str
    source: str
    trials: tuple[ImportedTrial, ...]
    complete: bool | None
    where: str
    started: str | None = None
    finished: str | None = None
    experiment: str | None = None
    list_name: str | None = None
    slot: int | None = None
    list_sha256: str | None = None
    device: str | None = None
    refresh_hz: float | None = None
    word_numbering: WordNumbering | None = None
    demographics: Mapping[str, str] = field(default_factory=dict)

    def renumber_words(self, first_number: int) -> "ImportedSession":
        """Return the session with its words counted from another number of a sentence's first word."""
        assert self.word_numbering is not None
        shift = self.word_numbering.first_number - first_number

        def shift_word(word: WordRecord) -> WordRecord:
            return word if word.word == NO_POSITION else replace(word, word=word.word + shift)

        trials = tuple(
            replace(trial, records=tuple(replace(r, words=tuple(map(shift_word, r.words))) for r in trial.records))
            for trial in self.trials
        )
        return replace(self, trials=trials, word_numbering=WordNumbering(first_number, is_stated=True))


def build_word_records(texts: Iterable[str | None], times: Iterable[float | None]) -> tuple[WordRecord, ...]:
    """Return words in the order in which they were read, as a file has them, with their reading times in ms."""
    return tuple(WordRecord(n, rt, text=text) for n, (text, rt) in enumerate(zip(texts, times, strict=True)))


def build_reading_record(words: Iterable[WordRecord], *, sentence: int = 0, task: str = "") -> Record:
    """Return the record of a sentence read word by word; without words it was left, or what the file says of it cannot be used.

    Words of which a file says whether they were chosen rightly were read in Maze, whatever else it leaves open.
    """
    words = tuple(words)
    task = task or (MAZE_TASK if any(word.correct is not None for word in words) else READING_TASK)
    return Record(task, "sentence", "read" if words else None, words=words, sentence=sentence)


def combine_records(words: Sequence[WordRecord], responses: Iterable[Record]) -> tuple[Record, ...]:
    """Return the records of a trial of one sentence: of its words, where there are any, and of the answers after it."""
    return (*([build_reading_record(words)] if words else []), *responses)


def build_response_record(task: str, name: str, response: str | float, correct: bool | None = None, **more: Any) -> Record:
    """Return the record of an answer, which ended its screen right or wrong where a file says so, and else with `answered`."""
    # That somebody has read a text does not say how its screen ended.
    default_outcome = None if task == READING_TASK else "answered"
    return Record(task, name, {True: "right", False: "wrong", None: default_outcome}[correct], response, **more)


def log_scattered_rows(where: str, what: str, keys: Iterable[Hashable]) -> None:
    """Say how many sessions, or trials, have rows that do not stand together: their order is then not that of presentation."""
    blocks = Counter(key for key, _ in groupby(keys))
    if scattered := sum(times > 1 for times in blocks.values()):
        log.warning(
            "%s: the rows of %d of %d %s do not stand together; was the file sorted? Trials are numbered in its order",
            *(where, scattered, len(blocks), what),
        )


def has_reached_end(trials: Sequence[ImportedTrial], trial_count: float | None) -> bool | None:
    """Return whether these are all of so many trials; None where that number is not known."""
    return None if trial_count is None else len({trial.position for trial in trials}) == trial_count


def format_shared_session_fault(what: str, participants: Collection[str | None]) -> str:
    """Return the fault of a session in whose rows several people are named, who are not named here."""
    return f"{what} has rows of {len(participants)} participants; expected one: correct the file, or the mapping"


def number_repeated_ids(sessions: Iterable[ImportedSession]) -> list[ImportedSession]:
    """Return sessions with a number after the id of each that has the id of one before it."""
    times: Counter[str] = Counter()
    renamed = []
    for session in sessions:
        times[session.id] += 1
        nth = times[session.id]
        renamed.append(session if nth == 1 else replace(session, id=f"{session.id}-{nth}"))
    return renamed
