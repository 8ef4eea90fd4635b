"""The forced choice between the two sentences of a pair, side by side or one above the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.stimuli import GRAMMATICAL
from gardenpath.study.screens import Answers, Value

from ..answers import answers
from ..standard_texts import Texts
from .deadline import check, quick
from .moment import Act, Moment, Reader, is_minimal, joined
from .recording import response as rows

KINDS = ("choice",)
SHOWS = False
NEEDS: tuple[str, ...] = ()
GIVES = "chosen"

__all__ = ["GIVES", "KINDS", "NEEDS", "SHOWS", "Settings", "act", "instructions", "rows", "screens"]


@dataclass(frozen=True)
class Settings:
    """Without a prompt of its own it has the standard one; `deadline` in ms."""

    kind: Literal["choice"]
    prompt: str = ""
    arrangement: Literal["side_by_side", "stacked"] = "side_by_side"
    deadline: float | None = None

    def __post_init__(self) -> None:
        check(self.deadline)


def instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains the choice."""
    return str(texts["choice"]["instructions"]) + quick(settings.deadline, texts)


def screens(settings: Settings, moment: Moment) -> Iterator[Answers]:
    """Yield the two sentences to choose from."""
    trial, stacked = moment.trial, settings.arrangement == "stacked"
    if len(trial.shown) != 2:
        raise ValueError(f"the choice {moment.name!r} is asked of one sentence; expected design.trial = 'pair'")
    conditions = [condition for condition, _ in trial.shown]
    expected = moment.expected()
    if unknown := sorted({*expected} - {*conditions}):
        raise ValueError(f"an expected choice is {unknown[0]!r}; expected {' or '.join(conditions)}")
    right: tuple[Value, ...] = expected or ((GRAMMATICAL,) if is_minimal(trial) else ())
    yield Answers(
        name=moment.name,
        task="choice",
        prompt=settings.prompt or moment.texts["choice"]["prompt"],
        deadline=settings.deadline,
        right=right,
        answers=answers([joined(one) for _, one in trial.shown], conditions, moment.direction, stacked=stacked),
        arrangement="stacked_pair" if stacked else "pair",
    )


def act(screen: Answers, reader: Reader) -> Act:
    """Choose the sentence that lies higher on the latent scale, or what an attention item expects."""
    conditions = [str(one.value) for one in screen.answers]
    latent = {condition: reader.latent(condition) for condition in conditions}
    ms = 700 + 800 * reader.random.random()
    if reader.trial.expected and screen.right and reader.random.random() < reader.attends:
        return Act((ms,), reader.random.choice(screen.right))
    return Act((ms,), max(conditions, key=lambda one: latent[one]))
