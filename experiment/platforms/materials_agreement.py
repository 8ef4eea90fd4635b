"""What files say, held against the materials: trials that disagree are left out and named, never mended by a guess."""

import logging
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gardenpath import study
from gardenpath.stimuli import Item, Sentence
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.screens import ResponseValue, Step

from ..tasks import ShownTrial
from .imported_sessions import NO_POSITION, ImportedSession, ImportedTrial
from .shown_materials import ShownMaterials

log = logging.getLogger("gardenpath")


@dataclass
class MaterialsAgreement:
    """The items by id, with the roles they had, and what had to be left out, with its first place."""

    items: dict[str, Item]
    steps: dict[str, dict[str, Step]]
    roles: dict[str, str]
    has_materials: bool
    sentences: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    fault_counts: Counter[str] = field(default_factory=Counter)
    first_locations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_shown_materials(cls, shown_materials: ShownMaterials | None) -> "MaterialsAgreement":
        if shown_materials is None:
            return cls({}, {}, {}, has_materials=False)
        trials = {
            sha: {trial.item.id: n for n, trial in enumerate(file.trial_list.trials)} for sha, file in shown_materials.files.items()
        }
        steps = {sha: {id: file.script.trials[n] for id, n in trials[sha].items()} for sha, file in shown_materials.files.items()}
        roles: dict[str, str] = {t.item.id: t.role for file in shown_materials.files.values() for t in file.trial_list.trials}
        sentences: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item in shown_materials.materials.items:
            for condition, sentence in item.sentences.items():
                sentences[_standardise_text(sentence.text)].append((item.id, condition))
        return cls({item.id: item for item in shown_materials.materials.items}, steps, roles, True, dict(sentences))

    def count_sentence_words(self) -> dict[tuple[str, str], int]:
        """Return the number of words of each sentence, by item and condition."""
        return {(id, name): len(text.list_words()) for id, item in self.items.items() for name, text in item.sentences.items()}

    def resolve_word_numbering(self, sessions: Sequence[ImportedSession]) -> list[ImportedSession]:
        """Return sessions whose words are counted from 0 or 1, by whichever of these alone all texts of their file stand in their
        sentences; as they are where the mapping states the number, or the texts do not decide.
        """
        firsts = {where: self._infer_first_number(s for s in sessions if s.where == where) for where in {s.where for s in sessions}}
        for where, first in firsts.items():
            if first is not None:
                log.info("%s: by its texts, and those of the materials, a sentence's first word has the number %d", where, first)
        return [session if (n := firsts[session.where]) is None else session.renumber_words(n) for session in sessions]

    def _infer_first_number(self, sessions: Iterable[ImportedSession]) -> int | None:
        """Return the one number of a first word that fits every text of a file; None where it is stated, or none or both do."""
        texts = {
            (
                self.items[trial.item].sentences[trial.condition],
                word.word + session.word_numbering.first_number,
                _standardise_text(word.text),
            )
            for session in sessions
            if session.word_numbering is not None and not session.word_numbering.is_stated
            for trial in session.trials
            if trial.item in self.items and trial.condition in self.items[trial.item].sentences
            for record in trial.records
            for word in record.words
            if word.text is not None and word.word != NO_POSITION
        }
        shown_words = {sentence: [_standardise_text(word) for word in sentence.list_displayed_words()] for sentence, _, _ in texts}
        fit = [
            first for first in (0, 1) if all(n >= first and shown_words[s][n - first : n - first + 1] == [t] for s, n, t in texts)
        ]
        return fit[0] if texts and len(fit) == 1 else None

    def locate_trial(self, trial: ImportedTrial) -> ImportedTrial:
        """Return a trial with item and condition, where the file has its sentence alone and one item has that."""
        matches = [] if trial.item else self.sentences.get(_standardise_text(trial.sentence or ""), [])
        trial = replace(trial, item=matches[0][0], condition=matches[0][1]) if len(matches) == 1 else trial
        item = self.items.get(trial.item)
        if item is None or trial.condition not in item.sentences:
            return trial
        return replace(trial, records=tuple(_locate_words(record, item.sentences[trial.condition]) for record in trial.records))

    def build_shown_trial(self, trial: ImportedTrial) -> ShownTrial:
        """Return what a trial showed; its words are known where its item is."""
        sentences = self.items[trial.item].sentences if trial.item in self.items else {}
        words = [sentences[name].list_words() if name in sentences else [] for name in trial.conditions]
        return ShownTrial(trial.condition, tuple(zip(trial.conditions, words, strict=True)))

    def judge_record(self, session: ImportedSession, trial: ImportedTrial, record: Record) -> Record:
        """Return the record of an answer as right or wrong, where its file does not say so and the list's screens do."""
        correct = self._find_correct_answers(session, trial, record) if record.outcome == "answered" else ()
        if not correct:
            return record
        return replace(record, outcome="right" if str(record.answer) in map(str, correct) else "wrong")

    def _find_correct_answers(self, session: ImportedSession, trial: ImportedTrial, record: Record) -> tuple[ResponseValue, ...]:
        """Return the right answers to what was asked, where the session's list has any."""
        step = self.steps.get(session.list_sha256 or "", {}).get(trial.item)
        screens = [screen for screen in step.screens if screen.task == record.task] if step is not None else []
        matching = [screen for screen in screens if screen.name == record.name] or screens
        return getattr(matching[0], "right", ()) if len(matching) == 1 else ()

    def find_fault(self, trial: ImportedTrial, *, has_word_numbers: bool = False) -> str | None:
        """Return what is wrong with a trial, or None; of words that its file has `has_word_numbers`, some may lack."""
        if not self.has_materials:
            return None
        if not trial.item:
            matches = self.sentences.get(_standardise_text(trial.sentence or ""), [])
            explanation = (
                f"is in several items ({', '.join(sorted({item for item, _ in matches}))})"
                if matches
                else "is not in the materials"
            )
            return f"the sentence {trial.sentence!r} {explanation}"
        item = self.items.get(trial.item)
        if item is None:
            return f"item {trial.item!r} is not in the materials"
        # Of a choice between both sentences of a pair, which were not read before, the condition alone names the two.
        names = trial.conditions if trial.has_words or trial.condition in item.sentences else trial.condition.split("+")
        if not {*names} <= item.sentences.keys():
            return f"item {item.id} has no condition {trial.condition!r}; expected {', '.join(item.sentences)}"
        differences = (
            _describe_difference(r, item, names[r.sentence or 0], has_word_numbers=has_word_numbers) for r in trial.records
        )
        return next(filter(None, differences), None)

    def leave_out(self, trial: ImportedTrial, fault: str) -> None:
        self.fault_counts[fault] += 1
        self.first_locations.setdefault(fault, trial.where)

    def report_left_out(self, trial_count: int) -> None:
        """Say what was left out; raise `DataError` where nothing is left."""
        messages = [
            f"{self.first_locations[fault]}: {fault}" + (f" (and {n - 1} more trials)" if n > 1 else "")
            for fault, n in self.fault_counts.items()
        ]
        if trial_count and self.fault_counts.total() == trial_count:
            raise study.DataError(
                [*messages[:5], f"none of {trial_count} trials agrees with the materials; are they this study's?"]
            )
        for message in messages:
            log.warning("%s; left out", message)


def _locate_words(record: Record, sentence: Sentence) -> Record:
    """Return a record whose words have the position of their region, where the file names that alone and it is one word."""

    def position(word: WordRecord) -> int:
        words = sentence.list_region_words(word.region or "") if word.word == NO_POSITION else []
        return words[0].index if len(words) == 1 else word.word

    return replace(record, words=tuple(replace(word, word=position(word)) for word in record.words))


def _describe_difference(record: Record, item: Item, condition: str, *, has_word_numbers: bool) -> str | None:
    """Return how the file's words differ from the item's, in number, place or, where the file has texts, in these."""
    if not record.words:
        return None
    sentence, sentence_name = item.sentences[condition], f"item {item.id}, {condition}"
    shown_words = sentence.list_displayed_words()
    if not has_word_numbers and len(record.words) != len(shown_words):
        file_words = " ".join(word.text or "?" for word in record.words)
        return (
            f"{sentence_name}: the file has {len(record.words)} words ({file_words}), expected {len(shown_words)}: {sentence.text}"
        )
    for word in record.words:
        if word.word == NO_POSITION:
            count = len(sentence.list_region_words(word.region or ""))
            return (
                f"{sentence_name}: region {word.region!r} is {count} words, expected one; name the column with the word's position"
            )
        if word.word >= len(shown_words):
            return (
                f"{sentence_name}: the file has a word {word.word}, counted from 0; expected {len(shown_words)} words: "
                f"{sentence.text}"
            )
        if word.text is not None and _standardise_text(word.text) != _standardise_text(shown_words[word.word]):
            return f"{sentence_name}: word {word.word} is {word.text!r}, expected {shown_words[word.word]!r}: {sentence.text}"
    return None


def _standardise_text(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))
