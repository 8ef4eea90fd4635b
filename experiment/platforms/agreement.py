"""What files say, held against the materials: trials that disagree are left out and named, never mended by a guess."""

import logging
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gardenpath import study
from gardenpath.stimuli import Item
from gardenpath.study.screens import Step, Value

from .materials import Shown
from .sittings import Presented, ReadWord, Sitting

log = logging.getLogger("gardenpath")


@dataclass
class Known:
    """The items by id, with the roles they had, and what had to be left out, with its first place."""

    items: dict[str, Item]
    steps: dict[str, dict[str, Step]]
    roles: dict[str, str]
    given: bool
    sentences: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Shown | None) -> "Known":
        if shown is None:
            return cls({}, {}, {}, given=False)
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

    def placed(self, presented: Presented) -> Presented:
        """Return a trial with item and condition, where the file has its sentence alone and one item has that."""
        found = [] if presented.item else self.sentences.get(_same(presented.sentence or ""), [])
        return replace(presented, item=found[0][0], condition=found[0][1]) if len(found) == 1 else presented

    def right(self, sitting: Sitting, presented: Presented, task: str, prompt: str) -> tuple[Value, ...]:
        """Return the right answers to a prompt, where the sitting's version has any."""
        step = self.steps.get(sitting.version_sha256 or "", {}).get(presented.item)
        screens = [screen for screen in step.screens if screen.task == task] if step is not None else []
        named = [screen for screen in screens if screen.name == prompt] or screens
        return getattr(named[0], "right", ()) if len(named) == 1 else ()

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
