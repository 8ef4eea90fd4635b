"""Models as participants: answers drawn after all that was shown and answered before, and the likelihood of people's answers."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..measures import reductions
from ..models.interface import Model
from ..tokens.continuations import encode_continuations, get_prompt_encoder
from ..tokens.encoding import tokenise
from .conversation_state import ConversationState

TRIAL_SEPARATOR = "\n\n"  # between trials
RESPONSE_PATTERN = re.compile(r"<<((?:(?!<<).)*?)>>", re.DOTALL)


class Question(Protocol):
    """A question in a session: the pages before it, the trials that are over, the one at hand up to the answer, and the answers."""

    @property
    def opening(self) -> str: ...

    @property
    def trials(self) -> Sequence[str]: ...

    @property
    def current(self) -> str: ...

    @property
    def answers(self) -> Sequence[str]: ...


class AnswerProbabilities(NamedTuple):
    """Log-probabilities of a question's answers, nats, as the model has them; `cut_trials` is how many trials did not fit its
    window."""

    lps: np.ndarray
    cut_trials: int

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each answer, given that one of them is given."""
        most = self.lps.max()
        shares = np.exp(self.lps - most)
        return np.asarray(shares / shares.sum())

    @property
    def total_probability(self) -> float:
        """The probability of all the answers together."""
        return float(np.exp(self.lps).sum())


def answer_questions(
    model: Model,
    questions: Sequence[Question],
    *,
    independent: bool = False,
    batch_tokens: int | None = None,
    state: ConversationState | None = None,
) -> list[AnswerProbabilities]:
    """Return how probable each answer to each question is, after the trials before it, or with `independent` after the pages alone.

    A session that is longer than the model's window goes on with its last trials, whole ones that fill half of the room; those
    that are cut are counted. Everything is read anew, and all questions together, unless what the model read of a session is
    `state` from one call to the next. Raises `ValueError` for a model that takes no prompt, and where a trial alone does not fit.

    >>> from types import SimpleNamespace
    >>> from gardenpath import lmscore
    >>> asked = SimpleNamespace(opening="", trials=(), current="Does a dog bark? <<", answers=("yes", "no"))
    >>> (found,) = lmscore.answer_questions(lmscore.load("pocket"), [asked])
    >>> len(found.lps), found.cut_trials
    (2, 0)
    """
    encoder = get_prompt_encoder(model)
    length = lru_cache(maxsize=None)(lambda text: len(tokenise(encoder.tokenizer, text).ids))
    encoded_answers, cuts = [], []
    for asked in questions:
        trials = () if independent else tuple(asked.trials)
        cut = 0 if independent else _count_cut_trials(asked, encoder.window, length)
        prompt = TRIAL_SEPARATOR.join([*filter(None, [asked.opening]), *trials[cut:], asked.current])
        encoded_answers.append(encode_continuations(model, prompt, asked.answers))
        cuts.append(cut)
    if state:
        tables = [table for texts in encoded_answers for table in state.compute_tables(texts)]
    else:
        flat = [text for texts in encoded_answers for text in texts]
        tables = model.forward(flat, columns=("logprob",), batch_tokens=batch_tokens)
    found, start = [], 0
    for texts, cut in zip(encoded_answers, cuts, strict=True):
        found.append(AnswerProbabilities(reductions.answer_lps(tables[start : start + len(texts)]), cut))
        start += len(texts)
    return found


def _count_cut_trials(asked: Question, window: int | None, length: Callable[[str], int]) -> int:
    """Return how many of the first trials have to go so that what is left fits the window, with the prefix token.

    When a trial does not fit any more, those before it are cut until half of the room is free. What follows is then the same
    text that grows; if one trial went for each that came, every question would be the first of another text.
    """
    if window is None:
        return 0
    edge = length(TRIAL_SEPARATOR) + 1  # where trials meet, tokens may split otherwise than apart: one more for each edge
    available = window - 1 - length(asked.opening) - edge
    now = length(asked.current) + max(map(length, asked.answers)) + edge
    if now > available:
        raise ValueError(
            f"{asked.current[:40]!r} takes {window - available + now} tokens with the pages before it, more than the "
            f"{window} of the "
            "model's window; expected shorter instructions, or a model with a longer window"
        )
    sizes = [*(length(trial) + edge for trial in asked.trials), now]
    first = held = 0
    for last, size in enumerate(sizes):
        held += size
        if held > available:
            while first < last and held > available // 2:
                held -= sizes[first]
                first += 1
    return first


class ResponseLikelihood(NamedTuple):
    """How probable a session's answers are to a model: how many there are, the sum of their log-probabilities (nats), and how many
    passes the text took (1 where it fits the window).
    """

    n_responses: int
    lp: float
    n_parts: int


def compute_response_likelihood(model: Model, texts: Sequence[str], *, batch_tokens: int | None = None) -> list[ResponseLikelihood]:
    """Return the likelihood of the answers in sessions as text, those in << >>, each after all that precedes it.

    One forced pass a session, summed over the tokens of answers (a token that joins an answer to what stands beside it is the
    answer's). A session longer than the model's window is cut between trials, at empty lines, and each part begins anew. Raises
    `ValueError` for a text without an answer, or with a mark that is not one of a pair, and where one trial does not fit. An empty
    answer (none in time) is not counted.

    >>> from gardenpath import lmscore
    >>> model = lmscore.load("pocket")
    >>> (found,) = compute_response_likelihood(model, ["Is this good? A dog bark. <<no>>"])
    >>> found.n_responses, found.n_parts
    (1, 1)
    """
    encoder = get_prompt_encoder(model)
    parts: list[list[str]] = []
    for n, text in enumerate(texts):
        if stray := re.search(r"(<<|>>).{0,40}", RESPONSE_PATTERN.sub("", text)):
            other = ">>" if stray[1] == "<<" else "<<"
            raise ValueError(
                f"session {n + 1}: {stray[1]} without its {other} before {stray[0][2:]!r}; expected each answer in << >>"
            )
        if not _find_responses(text):
            raise ValueError(f"session {n + 1}: no answer stands in << >>; expected a session as gardenpath judge writes it")
        parts.append(_split_session(encoder, text))
    encoded = [[model.encode(part) for part in of] for of in parts]
    tables = iter(model.forward([one for of in encoded for one in of], columns=("logprob",), batch_tokens=batch_tokens))
    found = []
    for text, of in zip(texts, parts, strict=True):
        lp = 0.0
        for part in of:
            table = next(tables)
            spans = np.array(table.encoded_text.spans).reshape(-1, 2)
            for response in _find_responses(part):
                start, end = response.span(1)
                inside = (spans[:, 0] < end) & (spans[:, 1] > start)
                lp += float(table.logprob[: len(spans)][inside].sum())
        found.append(ResponseLikelihood(len(_find_responses(text)), lp, len(of)))
    return found


def _split_session(encoder: Any, text: str) -> list[str]:
    """Return a text in parts that fit the window, cut at empty lines."""
    window = encoder.window

    def fits_window(part: str) -> bool:
        return window is None or 1 + len(tokenise(encoder.tokenizer, part).ids) <= window

    if fits_window(text):
        return [text]
    parts, current = [], ""
    for block in text.split(TRIAL_SEPARATOR):
        longer = f"{current}{TRIAL_SEPARATOR}{block}" if current else block
        if fits_window(longer):
            current = longer
            continue
        if not current or not fits_window(block):
            raise ValueError(f"{block[:40]!r} takes more than the {window} tokens of the model's window; expected shorter trials")
        parts.append(current)
        current = block
    return [part for part in [*parts, current] if _find_responses(part)]


def _find_responses(text: str) -> list["re.Match[str]"]:
    """Return where answers stand; an empty one is none, since nothing came in time."""
    return [found for found in RESPONSE_PATTERN.finditer(text) if found[1]]
