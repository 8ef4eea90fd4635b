"""Completion of a fragment, and cloze (Taylor 1953, doi 10.1177/107769905303000401): a text is typed.

The fragment is the item's sentence, read before (`show`) or standing above the prompt (`show = "with_task"`). There it may be cut:
`fragment_end` names the region before which it ends, `blank_region` the region that is replaced by a line, as in a cloze test; so
the sentences of another experiment can be normed as they are. A cloze test is nothing else: its blank may as well be written in
the sentences.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gardenpath.stimuli import Sentence
from gardenpath.study.screens import Entry, Stimulus

from ..texts.standard_texts import Texts
from .trial_context import SimulatedReader, SimulatedResponse, TrialContext
from .trial_rows import build_response_rows

KINDS = ("completion",)
IS_PRESENTATION = False
REQUIRED_COLUMNS: tuple[str, ...] = ()
RESPONSES: tuple[str, ...] = ()
BLANK_LINE = "_____"

build_rows = build_response_rows


@dataclass(frozen=True)
class Settings:
    """Without a prompt of its own it has the standard one; an answer has `max_length` characters at most."""

    kind: Literal["completion"]
    prompt: str = ""
    fragment_end: str = ""
    blank_region: str = ""
    max_length: int = 200

    def __post_init__(self) -> None:
        if self.fragment_end and self.blank_region:
            raise ValueError(f"fragment_end is {self.fragment_end!r} and blank_region {self.blank_region!r}; expected one of them")
        if not 1 <= self.max_length <= 500:
            raise ValueError(f"max_length is {self.max_length}; expected 1 to 500 characters")


def write_instructions(settings: Settings, texts: Texts) -> str:
    """Return the page that explains what to type."""
    return str(texts["completion"]["instructions"])


def build_screens(settings: Settings, trial_context: TrialContext) -> Iterator[Entry]:
    """Yield the one screen on which a text is typed."""
    task_texts = trial_context.texts["completion"]
    above = trial_context.above
    if settings.fragment_end or settings.blank_region:
        if not isinstance(above, Stimulus):
            raise ValueError(f'{trial_context.name} cuts the sentence, which is read before; expected show = "with_task"')
        above = Stimulus(_cut_fragment(trial_context.trial.shown_sentences[0][1], settings))
    yield Entry(
        name=trial_context.name,
        task="completion",
        prompt=settings.prompt or task_texts["prompt"],
        above=above,
        right=trial_context.list_expected_responses(),
        button=trial_context.texts["session"]["go_on"],
        missing=task_texts["missing"],
        longest=settings.max_length,
    )


def _cut_fragment(sentence: Sentence, settings: Settings) -> str:
    """Return the sentence up to a region, or with a line in its place."""
    region = sentence.find_region(settings.fragment_end or settings.blank_region)
    if region is None:
        raise ValueError(f"its sentence has no region {settings.fragment_end or settings.blank_region!r}, at which it is to be cut")
    before = sentence.text[: region.start]
    return before.rstrip() if settings.fragment_end else before + BLANK_LINE + sentence.text[region.end :]


def simulate_response(screen: Entry, simulated_reader: SimulatedReader) -> SimulatedResponse:
    """Type a word of the sentence, or what an attention item expects."""
    words = [word.text.strip(".,?!") for word in simulated_reader.trial.shown_sentences[0][1].list_words()]
    answer = simulated_reader.random.choice(words)
    if screen.right and simulated_reader.random.random() < simulated_reader.p_attentive:
        answer = str(simulated_reader.random.choice(screen.right))
    first = 800 + 1500 * simulated_reader.random.random()
    return SimulatedResponse((first + 150 * len(answer) + 300,), answer[: screen.longest], first_key_ms=first)
