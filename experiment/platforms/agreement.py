"""What files say, held against the materials: trials that disagree are left out and named, never mended by a guess."""

import logging
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gardenpath import study
from gardenpath.stimuli import Item, Sentence
from gardenpath.study.screens import Record, Step, Value, WordRecord

from ..tasks import ShownTrial
from .imported import NOWHERE, ImportedSession, ImportedTrial
from .materials import Shown

log = logging.getLogger("gardenpath")


@dataclass
class Known:
    """The items by id, with the roles they had, and what had to be left out, with its first place."""

    items: dict[str, Item]
    steps: dict[str, dict[str, Step]]
    roles: dict[str, str]
    has_materials: bool
    sentences: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Shown | None) -> "Known":
        if shown is None:
            return cls({}, {}, {}, has_materials=False)
        trials = {
            sha: {trial.item.id: n for n, trial in enumerate(file.version.trials)} for sha, file in shown.files.items()
        }
        steps = {sha: {id: file.script.trials[n] for id, n in trials[sha].items()} for sha, file in shown.files.items()}
        roles: dict[str, str] = {t.item.id: t.role for file in shown.files.values() for t in file.version.trials}
        sentences: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item in shown.materials.items:
            for condition, sentence in item.sentences.items():
                sentences[_same(sentence.text)].append((item.id, condition))
        return cls({item.id: item for item in shown.materials.items}, steps, roles, True, dict(sentences))

    def lengths(self) -> dict[tuple[str, str], int]:
        """Return the number of words of each sentence, by item and condition."""
        return {
            (id, name): len(text.words()) for id, item in self.items.items() for name, text in item.sentences.items()
        }

    def counted(self, sessions: Sequence[ImportedSession]) -> list[ImportedSession]:
        """Return sessions whose words are counted from 0 or 1, by whichever of these alone all texts of their file stand in their
        sentences; as they are where the mapping states the number, or the texts do not decide.
        """
        firsts = {
            where: self._first_word(s for s in sessions if s.where == where) for where in {s.where for s in sessions}
        }
        for where, first in firsts.items():
            if first is not None:
                log.info(
                    "%s: by its texts, and those of the materials, a sentence's first word has the number %d",
                    where,
                    first,
                )
        return [session if (n := firsts[session.where]) is None else session.counted_from(n) for session in sessions]

    def _first_word(self, sessions: Iterable[ImportedSession]) -> int | None:
        """Return the one number of a first word that fits every text of a file; None where it is stated, or none or both do."""
        texts = {
            (self.items[trial.item].sentences[trial.condition], word.word + session.counting.first, _same(word.text))
            for session in sessions
            if session.counting is not None and not session.counting.stated
            for trial in session.trials
            if trial.item in self.items and trial.condition in self.items[trial.item].sentences
            for record in trial.records
            for word in record.words
            if word.text is not None and word.word != NOWHERE
        }
        shown = {sentence: [_same(word) for word in sentence.shown()] for sentence, _, _ in texts}
        fit = [
            first
            for first in (0, 1)
            if all(n >= first and shown[s][n - first : n - first + 1] == [t] for s, n, t in texts)
        ]
        return fit[0] if texts and len(fit) == 1 else None

    def placed(self, trial: ImportedTrial) -> ImportedTrial:
        """Return a trial with item and condition, where the file has its sentence alone and one item has that."""
        places = [] if trial.item else self.sentences.get(_same(trial.sentence or ""), [])
        trial = replace(trial, item=places[0][0], condition=places[0][1]) if len(places) == 1 else trial
        item = self.items.get(trial.item)
        if item is None or trial.condition not in item.sentences:
            return trial
        return replace(
            trial, records=tuple(_located(record, item.sentences[trial.condition]) for record in trial.records)
        )

    def shown(self, trial: ImportedTrial) -> ShownTrial:
        """Return what a trial showed; its words are known where its item is."""
        sentences = self.items[trial.item].sentences if trial.item in self.items else {}
        words = [sentences[name].words() if name in sentences else [] for name in trial.conditions]
        return ShownTrial(trial.condition, tuple(zip(trial.conditions, words, strict=True)))

    def judged(self, session: ImportedSession, trial: ImportedTrial, record: Record) -> Record:
        """Return the record of an answer as right or wrong, where its file does not say so and the version's screens do."""
        right = self._right(session, trial, record) if record.outcome == "answered" else ()
        if not right:
            return record
        return replace(record, outcome="right" if str(record.answer) in map(str, right) else "wrong")

    def _right(self, session: ImportedSession, trial: ImportedTrial, record: Record) -> tuple[Value, ...]:
        """Return the right answers to what was asked, where the session's version has any."""
        step = self.steps.get(session.version_sha256 or "", {}).get(trial.item)
        screens = [screen for screen in step.screens if screen.task == record.task] if step is not None else []
        named = [screen for screen in screens if screen.name == record.name] or screens
        return getattr(named[0], "right", ()) if len(named) == 1 else ()

    def fault(self, trial: ImportedTrial, *, numbered: bool = False) -> str | None:
        """Return what is wrong with a trial, or None; of words that its file has `numbered`, some may lack."""
        if not self.has_materials:
            return None
        if not trial.item:
            places = self.sentences.get(_same(trial.sentence or ""), [])
            said = (
                f"is in several items ({', '.join(sorted({item for item, _ in places}))})"
                if places
                else "is not in the materials"
            )
            return f"the sentence {trial.sentence!r} {said}"
        item = self.items.get(trial.item)
        if item is None:
            return f"item {trial.item!r} is not in the materials"
        # Of a choice between both sentences of a pair, which were not read before, the condition alone names the two.
        names = trial.conditions if trial.has_words or trial.condition in item.sentences else trial.condition.split("+")
        if not {*names} <= item.sentences.keys():
            return f"item {item.id} has no condition {trial.condition!r}; expected {', '.join(item.sentences)}"
        differences = (_difference(r, item, names[r.sentence or 0], numbered=numbered) for r in trial.records)
        return next(filter(None, differences), None)

    def leave_out(self, trial: ImportedTrial, fault: str) -> None:
        self.left_out[fault] += 1
        self.first.setdefault(fault, trial.where)

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


def _located(record: Record, sentence: Sentence) -> Record:
    """Return a record whose words have the position of their region, where the file names that alone and it is one word."""

    def position(word: WordRecord) -> int:
        words = sentence.words_of(word.region or "") if word.word == NOWHERE else []
        return words[0].index if len(words) == 1 else word.word

    return replace(record, words=tuple(replace(word, word=position(word)) for word in record.words))


def _difference(record: Record, item: Item, condition: str, *, numbered: bool) -> str | None:
    """Return how the file's words differ from the item's, in number, place or, where the file has texts, in these."""
    if not record.words:
        return None
    sentence, what = item.sentences[condition], f"item {item.id}, {condition}"
    shown = sentence.shown()
    if not numbered and len(record.words) != len(shown):
        said = " ".join(word.text or "?" for word in record.words)
        return f"{what}: the file has {len(record.words)} words ({said}), expected {len(shown)}: {sentence.text}"
    for word in record.words:
        if word.word == NOWHERE:
            count = len(sentence.words_of(word.region or ""))
            return f"{what}: region {word.region!r} is {count} words, expected one; name the column with the word's position"
        if word.word >= len(shown):
            return (
                f"{what}: the file has a word {word.word}, counted from 0; expected {len(shown)} words: {sentence.text}"
            )
        if word.text is not None and _same(word.text) != _same(shown[word.word]):
            return f"{what}: word {word.word} is {word.text!r}, expected {shown[word.word]!r}: {sentence.text}"
    return None


def _same(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))
