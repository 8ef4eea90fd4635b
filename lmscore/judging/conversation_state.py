"""What a model has read of a session is carried from question to question, so that a session costs its tokens about once."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..cache.metadata_cache import LazyModel
from ..cache.token_cache import CachedModel
from ..models import huggingface
from ..models.causal import MAX_ROW_SIZE, CausalModel
from ..models.interface import FinishedCallback, Model
from ..tokens.encoding import OPENING_BOUNDARY, EncodedText
from ..tokens.token_table import TokenTable

FIRST_PROBE_TOKENS = 512  # tokens of the first probe; each further one has twice what is needed then
SCORED_COLUMNS = ("logprob",)


class QuestionStep(NamedTuple):
    """A question that was asked: its answers, and that of its prompt it took the network's cache from `start` to `stop` tokens.

    `digest` tells the steps up to it from any others: its numbers depend on them all.
    """

    texts: tuple[EncodedText, ...]
    start: int
    stop: int
    digest: bytes


class ConversationState:
    """A model that goes on from what it read before; see `create_conversation_state`.

    Questions are steps, computed in their order as soon as the scores of one are not on disk. So numbers follow from the
    questions alone, whatever was on disk before.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._scores: Any = model.share_cache_with(self) if isinstance(model, CachedModel) else self
        self._steps: list[QuestionStep] = []
        self._computed_digests: list[bytes] = []  # digests of the steps that the network's cache holds
        self._cache: Any = None
        self._exact_length, self._has_failed = 0, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def compute_tables(self, texts: Sequence[EncodedText]) -> list[TokenTable]:
        """Return the tables of the answers to a question, with log-probabilities alone."""
        fed = texts[0].context_ids
        start = self._count_shared_tokens(fed[:-1])  # what follows the last token is wanted, so it is fed in any case
        while self._steps and self._steps[-1].start >= start:
            self._steps.pop()
        if self._steps:
            self._steps[-1] = self._steps[-1]._replace(stop=start)
        facts = [(step.digest, step.stop) for step in self._steps[-1:]], fed[start:], [text.ids for text in texts]
        digest = hashlib.blake2b(repr(facts).encode(), digest_size=16).digest()
        self._steps.append(QuestionStep(tuple(texts), start, len(fed), digest))
        found: list[TokenTable] = self._scores.forward(
            [replace(text, batch_digest=digest) for text in texts], columns=SCORED_COLUMNS
        )
        return found

    def _count_shared_tokens(self, fed: Sequence[int]) -> int:
        """Return how many tokens the last question has in common with what is fed now."""
        if not self._steps:
            return 0
        last = self._steps[-1]
        pairs = zip(last.texts[0].context_ids, fed, strict=False)
        return next((n for n, (one, other) in enumerate(pairs) if one != other), min(last.stop, len(fed)))

    def forward(
        self,
        texts: Sequence[EncodedText],
        *,
        columns: Sequence[str] = SCORED_COLUMNS,
        on_finished: FinishedCallback | None = None,
        **_: Any,
    ) -> list[TokenTable]:
        """Compute the last step, and those before it that are not computed; `texts` are its own."""
        own: Any = getattr(self._model, "uncached", self._model)
        if isinstance(own, LazyModel):
            own = own.get_loaded_model()
        model: CausalModel = own
        tables = self._continue_from_cache(model) if self._is_exact(model) else None
        if tables is None:
            tables = model.forward(texts, columns=columns)
        if on_finished:
            on_finished(tables)
        return tables

    def _continue_from_cache(self, model: CausalModel) -> list[TokenTable] | None:
        """Return the tables of the last step, or nothing where memory does not hold what it takes."""
        from transformers import DynamicCache

        digests = [step.digest for step in self._steps]
        kept = sum(one == other for one, other in zip(digests, self._computed_digests, strict=False))
        if not kept:
            self._cache = DynamicCache()
        else:
            _shorten_cache(self._cache, self._steps[kept - 1].stop)
        del self._computed_digests[kept:]
        try:
            for step in self._steps[kept:]:
                tables = model.forward_from_cache(step.texts, self._cache, step.start)
                _shorten_cache(self._cache, step.stop)
                self._computed_digests.append(step.digest)
        except (RuntimeError, MemoryError) as error:
            if not huggingface.is_out_of_memory(error):
                raise
            self._cache, self._computed_digests = None, []
            return None
        return tables

    def _is_exact(self, model: CausalModel) -> bool:
        """Whether the network goes on from its cache with the numbers of one pass, in texts as long as these.

        Tried on random tokens, at lengths that double: a network may look at so many tokens alone, or turn its positions
        otherwise from some length on.
        """
        if max(step.stop - step.start for step in self._steps) > MAX_ROW_SIZE:
            return False
        needed = max(len(text.context_ids) + len(text.ids) for step in self._steps for text in step.texts)
        if needed > self._exact_length and not self._has_failed:
            length = min(max(FIRST_PROBE_TOKENS, 2 * needed), model.encoder.window or 2 * needed)
            self._has_failed = _is_inexact(model, length)
            self._exact_length = self._exact_length if self._has_failed else length
        return needed <= self._exact_length


def _shorten_cache(cache: Any, length: int) -> None:
    if surplus := cache.get_seq_length() - length:
        cache.crop(-surplus)


def _is_inexact(model: CausalModel, length: int) -> bool:
    """Whether the last tokens of so many have other log-probabilities after what was carried than in one pass."""
    from transformers import DynamicCache

    ids = np.random.default_rng(0).integers(len(model.encoder.vocabulary.starts_with_space), size=length - 1).tolist()
    ids = (model.encoder.prefix, *ids)
    half, last = length // 2, length - min(8, length // 4)
    cache = DynamicCache()
    try:
        [expected] = model.forward([_make_text(ids, last)], columns=SCORED_COLUMNS)
        model.forward_from_cache([_make_text(ids[: half + 1], half)], cache, 0)  # its last token is not fed
        [found] = model.forward_from_cache([_make_text(ids, last)], cache, half)
    except (RuntimeError, MemoryError):  # what does not fit, or a network that takes no such cache
        return True
    return bool(np.abs((found.logprob - expected.logprob)[:-1]).max() > 5 * huggingface.get_tolerance(model))


def _make_text(ids: tuple[int, ...], first: int) -> EncodedText:
    """Return tokens of which those from `first` on are scored."""
    rest = ids[first:]
    nothing = (False,) * len(rest)
    return EncodedText(
        ids[:first], rest, ((0, 0),) * len(rest), starts_with_space=nothing, ends_with_space=nothing, opening=OPENING_BOUNDARY
    )


def create_conversation_state(model: Model) -> ConversationState | None:
    """Return a model that carries what it read of a session to the next question; None where its network cannot.

    For `answer_questions`, with the questions of one session after another's: each costs the tokens that are new in it. A network
    can that takes prefixes shared in a row (GPT-2, Llama and most), and is loaded here; from the length on at which it would give
    other numbers so, it reads everything anew.

    >>> from gardenpath import lmscore
    >>> create_conversation_state(lmscore.load("pocket")) is None
    False
    """
    return ConversationState(model) if getattr(model, "row_size", 0) else None
