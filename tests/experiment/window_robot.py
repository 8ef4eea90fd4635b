"""A robot at the keyboard of the lab's window: presses what it means to, once, when the screen shows what that is meant for."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gardenpath.experiment.simulation.robots import SimulatedScreen
from gardenpath.study.screens import Answers, Entry, Form, Slider, Text, WordPairs, Words

from .lab_robot import PATIENCE, Participant

LEAST = 0.05  # s; sooner after a frame nobody presses
HELD = 0.02  # s that a key is held
SLIDES = {10: "Prior", -10: "Next", 1: "Right", -1: "Left"}


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of the one session in a lab's data folder, as far as they are written."""
    (path,) = folder.glob("*/events.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


@dataclass
class AtTheWindow:
    """Does each act of a robot, who reads `pace` times as fast as it would."""

    participant: Participant
    folder: Path
    pace: float = 20.0

    def run(self, acts: Iterator[SimulatedScreen]) -> None:
        """Go through a session, up to its last page."""
        for did in acts:
            _DO[did.screen.kind](self, did, did.screen)

    def press(self, key: str, ms: float = 0.0) -> None:
        """Press a key `ms` of the robot's time after the screen has changed."""
        self.participant.press(key, wait=max(LEAST, ms / 1000 / self.pace), held=HELD)

    def text(self, did: SimulatedScreen, screen: Text) -> None:
        self.press("space" if screen.space else "f", did.response.times_ms[0])

    def words(self, did: SimulatedScreen, screen: Words) -> None:
        for ms in did.response.times_ms[:1] if screen.pace else did.response.times_ms:
            self.press("space", ms)
        if screen.pace:
            self._await_outcome(did)

    def whole(self, did: SimulatedScreen, screen: Any) -> None:
        self.press("space", did.response.times_ms[0])

    def answers(self, did: SimulatedScreen, screen: Answers) -> None:
        if not self._late(did, screen):
            key = next(one.keys[0] for one in screen.answers if one.value == did.response.answer)
            self.press(key.removeprefix("Key").lower(), did.response.times_ms[0])

    def slider(self, did: SimulatedScreen, screen: Slider) -> None:
        assert isinstance(did.response.answer, int)
        way = did.response.answer - (screen.least + screen.most) // 2
        step = 1 if way > 0 else -1
        tens, ones = divmod(abs(way), 10)
        for key in [*[SLIDES[10 * step]] * tens, *[SLIDES[step]] * ones] if way else [SLIDES[1], SLIDES[-1]]:
            self.press(key)
        self.press("space", did.response.times_ms[0])

    def entry(self, did: SimulatedScreen, screen: Entry) -> None:
        self._type(str(did.response.answer))

    def form(self, did: SimulatedScreen, screen: Form) -> None:
        assert isinstance(did.response.answer, Mapping)
        for field in screen.fields:
            answer = did.response.answer[field.name]
            self._type(str(field.choices.index(str(answer)) + 1 if field.choices else answer))

    def word_pairs(self, did: SimulatedScreen, screen: WordPairs) -> None:
        """Choose word by word; after a wrong choice the screen says so, and once more when its keys are alive again."""
        start, *rest = did.response.times_ms
        self.press("space", start)
        for n, (pair, ms) in enumerate(zip(screen.pairs, rest, strict=True)):
            right, wrong = ("f", "j") if pair.side == "left" else ("j", "f")
            if n in did.response.wrong_pairs:
                self.press(wrong, ms)
                if not screen.redo:
                    return
                if screen.delay:
                    self._look()
            self.press(right, ms)

    def _type(self, text: str) -> None:
        for before, letter in zip(f"x{text}", text, strict=False):
            if before == " ":  # which is not seen at the end of a line
                self.participant.do("sleep 0.1")
                self.participant.send(letter, held=HELD)
            else:
                self.press("space" if letter == " " else letter)
        self.press("Return")

    def _late(self, did: SimulatedScreen, screen: Answers) -> bool:
        """Whether no answer comes before the deadline; then the screen goes on by itself."""
        if screen.deadline is None or did.response.times_ms[0] <= screen.deadline:
            return False
        self._look()
        return True

    def _look(self) -> None:
        """See what stands on the screen now, so that what follows is known from it."""
        self.participant.await_change()
        self.participant.seen = self.participant.screen.look().tobytes()

    def _await_outcome(self, did: SimulatedScreen) -> None:
        """Wait until a screen that changes by itself has ended; what stands then, if anything, is the next one."""
        end = time.monotonic() + PATIENCE
        place = ("outcome", did.timeline_step.number, did.screen_number)
        while not any((event["kind"], event["step"], event["screen"]) == place for event in events(self.folder)):
            assert self.participant.program.poll() is None, self.participant.said()
            assert time.monotonic() < end, f"{did.screen.name} of step {did.timeline_step.number} does not end"
            self.participant.do("sleep 0.02")
        self.participant.seen = b""


_DO: Mapping[str, Callable[[AtTheWindow, SimulatedScreen, Any], None]] = {
    "text": AtTheWindow.text,
    "words": AtTheWindow.words,
    "whole": AtTheWindow.whole,
    "answers": AtTheWindow.answers,
    "slider": AtTheWindow.slider,
    "entry": AtTheWindow.entry,
    "form": AtTheWindow.form,
    "word_pairs": AtTheWindow.word_pairs,
}
