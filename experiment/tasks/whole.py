"""A sentence that is read at once, and ended by a key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.study.events import Record
from gardenpath.study.screens import Whole

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext, format_sentence
from .trial_rows import ResponseRow, ShownTrial, TableRow

KINDS = ("whole",)
IS_PRESENTATION = True
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """There is nothing to set."""

    kind: Literal["whole"]


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains how to read."""
    return str(texts["whole"]["instructions"])


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Whole]:
    """Yield a screen for each sentence."""
    hint = trial_context.texts["whole"]["done_hint"]
    for n, (_, sentence) in enumerate(trial_context.trial.shown_sentences):
        yield Whole(name=trial_context.name, task="whole", text=format_sentence(sentence), hint=hint, sentence=n)


def simulate_response(screen: Whole, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Read it."""
    return SimulatedResponse((simulated_reader.draw_text_time(screen.text),))


def build_rows(record: Record, shown_trial: ShownTrial) -> Iterator[TableRow]:
    """Yield the time of the text as a response of the task `reading`."""
    if record.outcome is None:
        return
    sentence_number = record.sentence
    is_pair = sentence_number is not None and len(shown_trial.sentences) > 1
    prompt = "context" if sentence_number is None else f"sentence {sentence_number + 1}" if is_pair else "sentence"
    yield (
        "responses",
        ResponseRow(
            condition=shown_trial.sentences[sentence_number][0]
            if is_pair and sentence_number is not None
            else shown_trial.condition,
            task="reading",
            prompt=prompt,
            side=None,
            response="read",
            outcome=record.outcome,
            correct=None,
            rt=record.rt,
            rt_first=None,
        ),
    )
