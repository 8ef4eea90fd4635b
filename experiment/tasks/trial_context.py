"""What a task is given: a moment of a trial to fill with screens, and a reader whose answers it draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Protocol

from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Sentence, Trial
from gardenpath.study.screens import Above, Nothing, ResponseValue, Stimulus

from ..texts.standard_texts import Texts, get_direction


@dataclass(frozen=True)
class TrialContext:
    """Where a task stands in a trial: the name under which the study knows it, and how many screens come before it in the step.

    `above` holds the sentence where it is not read before it is asked about. `seed` is that of whatever a task draws: the same
    in every list that shows the item in this condition. `line_width` is how many letters a line of a sentence holds.
    """

    trial: Trial
    name: str
    texts: Texts
    screens_before: int
    with_task: bool = False
    is_judged_by_player: bool = False
    seed: str = ""
    line_width: int = 80

    @property
    def direction(self) -> str:
        """The reading direction of the study's language."""
        return get_direction(self.texts.language)

    @property
    def above(self) -> Above:
        """What stands above the task's prompt."""
        return Stimulus(self.trial.shown_sentences[0][1].text) if self.with_task else Nothing()

    def list_expected_responses(self) -> tuple[str, ...]:
        """The responses that an attention item expects of this task, as study.toml states them."""
        return tuple(self.trial.expected_responses.get(self.name, ()))


def split_words(sentence: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a sentence's words as shown, and what stands between them: a space, or nothing where the text has none."""
    words = sentence.list_words()
    gaps_between = [sentence.text[a.end : b.start] for a, b in pairwise(words)]
    return tuple(sentence.list_displayed_words()), tuple(" " if gap.strip() != gap else "" for gap in gaps_between)


def format_sentence(sentence: Sentence) -> str:
    """Return a sentence as it is shown at once."""
    words, gaps = split_words(sentence)
    return "".join(word + gap for word, gap in zip(words, (*gaps, ""), strict=True))


def is_minimal_pair(trial: Trial) -> bool:
    """Whether a trial shows a grammatical and an ungrammatical sentence."""
    return {name for name, _ in trial.shown_sentences} == {GRAMMATICAL, UNGRAMMATICAL}


@dataclass(frozen=True)
class SimulatedResponse:
    """What a robot does on a screen: ms from each press to the next (one, or one for each display of words), and the answer.

    `first_key_ms` is ms to the first key of a typed answer; `wrong_pairs` are the word pairs of which the wrong word is taken
    first.
    """

    times_ms: tuple[float, ...]
    answer: ResponseValue | Mapping[str, ResponseValue] | None = None
    first_key_ms: float | None = None
    wrong_pairs: frozenset[int] = field(default_factory=frozenset)


class SimulatedReader(Protocol):
    """A robot in the middle of a trial, as tasks know it (experiment/simulation/robots.py)."""

    @property
    def random(self) -> Random: ...

    @property
    def trial(self) -> Trial: ...

    @property
    def p_correct(self) -> float:
        """Probability of the right answer."""

    @property
    def p_attentive(self) -> float:
        """Probability of an expected answer to an attention item."""

    def compute_slip_probabilities(self, sentence: int) -> Sequence[float]:
        """Return for each word of one of the trial's sentences the probability of taking the word beside it first."""

    def draw_reading_times(self, sentence: int) -> Sequence[float]:
        """Draw the reading time of each word of one of the trial's sentences, ms."""

    def draw_text_time(self, text: str) -> float:
        """Draw the time of a text that is read at once, ms."""

    def draw_latent_rating(self, condition: str) -> float:
        """Draw where a sentence lies on the latent scale of acceptability."""

    def compute_preference(self, condition: str, other: str) -> float:
        """Return the probability that the first of two conditions is chosen."""


def draw_answer(right: Sequence[ResponseValue], others: Sequence[ResponseValue], p: float, random: Random) -> ResponseValue:
    """Draw one of the right answers with probability `p`, otherwise one of the others."""
    if right and (not others or random.random() < p):
        return random.choice(list(right))
    return random.choice(list(others))
