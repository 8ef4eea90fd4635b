"""What a model has read of a session is carried from question to question, so that a session costs its tokens about once."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..cache.remembered import Remembered
from ..cache.token_cache import CachedModel
from ..models import huggingface
from ..models.causal import LONGEST_ROW, CausalModel
from ..models.interface import Done, Model
from ..tokens.encoding import BOUNDARY, Encoded
from ..tokens.token_table import TokenTable

PROBED = 512  # tokens of the first probe; each further one has twice what is needed then
WANTED = ("logprob",)


class Step(NamedTuple):
    """A question that was asked: its answers, and that of its prompt it took the network's cache from `start` to `stop` tokens.

    `digest` tells the steps up to it from any others: its numbers depend on them all.
    """

    texts: tuple[Encoded, ...]
    start: int
    stop: int
    digest: bytes


class Carried:
    """A model that goes on from what it read before; see `carried`.

    Questions are steps, computed in their order as soon as the scores of one are not on disk. So numbers follow from the
    questions alone, whatever was on disk before.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._scores: Any = model.around(self) if isinstance(model, CachedModel) else self
        self._steps: list[Step] = []
        self._computed: list[bytes] = []  # digests of the steps that the network's cache holds
        self._cache: Any = None
        self._exact_to, self._fails = 0, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def tables(self, texts: Sequence[Encoded]) -> list[TokenTable]:
        """Return the tables of the answers to a question, with log-probabilities alone."""
        fed = texts[0].fed
        start = self._held(fed[:-1])  # what follows the last token is wanted, so it is fed in any case
        while self._steps and self._steps[-1].start >= start:
            self._steps.pop()
        if self._steps:
            self._steps[-1] = self._steps[-1]._replace(stop=start)
        facts = [(step.digest, step.stop) for step in self._steps[-1:]], fed[start:], [text.ids for text in texts]
        digest = hashlib.blake2b(repr(facts).encode(), digest_size=16).digest()
        self._steps.append(Step(tuple(texts), start, len(fed), digest))
        found: list[TokenTable] = self._scores.forward([replace(text, beside=digest) for text in texts], columns=WANTED)
        return found

    def _held(self, fed: Sequence[int]) -> int:
        """Return how many tokens the last question has in common with what is fed now."""
        if not self._steps:
            return 0
        last = self._steps[-1]
        pairs = zip(last.texts[0].fed, fed, strict=False)
        return next((n for n, (one, other) in enumerate(pairs) if one != other), min(last.stop, len(fed)))

    def forward(
        self, texts: Sequence[Encoded], *, columns: Sequence[str] = WANTED, done: Done | None = None, **_: Any
    ) -> list[TokenTable]:
        """Compute the last step, and those before it that are not computed; `texts` are its own."""
        own: Any = getattr(self._model, "uncached", self._model)
        if isinstance(own, Remembered):
            own = own.loaded()
        model: CausalModel = own
        tables = self._onward(model) if self._is_exact(model) else None
        if tables is None:
            tables = model.forward(texts, columns=columns)
        if done:
            done(tables)
        return tables

    def _onward(self, model: CausalModel) -> list[TokenTable] | None:
        """Return the tables of the last step, or nothing where memory does not hold what it takes."""
        from transformers import DynamicCache

        digests = [step.digest for step in self._steps]
        kept = sum(one == other for one, other in zip(digests, self._computed, strict=False))
        if not kept:
            self._cache = DynamicCache()
        else:
            _shorten(self._cache, self._steps[kept - 1].stop)
        del self._computed[kept:]
        try:
            for step in self._steps[kept:]:
                tables = model.onward(step.texts, self._cache, step.start)
                _shorten(self._cache, step.stop)
                self._computed.append(step.digest)
        except (RuntimeError, MemoryError) as error:
            if not huggingface.is_out_of_memory(error):
                raise
            self._cache, self._computed = None, []
            return None
        return tables

    def _is_exact(self, model: CausalModel) -> bool:
        """Whether the network goes on from its cache with the numbers of one pass, in texts as long as these.

        Tried on random tokens, at lengths that double: a network may look at so many tokens alone, or turn its positions
        otherwise from some length on.
        """
        if max(step.stop - step.start for step in self._steps) > LONGEST_ROW:
            return False
        needed = max(len(text.fed) + len(text.ids) for step in self._steps for text in step.texts)
        if needed > self._exact_to and not self._fails:
            length = min(max(PROBED, 2 * needed), model.encoder.window or 2 * needed)
            self._fails = _departs(model, length)
            self._exact_to = self._exact_to if self._fails else length
        return needed <= self._exact_to


def _shorten(cache: Any, length: int) -> None:
    if surplus := cache.get_seq_length() - length:
        cache.crop(-surplus)


def _departs(model: CausalModel, length: int) -> bool:
    """Whether the last tokens of so many have other log-probabilities after what was carried than in one pass."""
    from transformers import DynamicCache

    ids = np.random.default_rng(0).integers(len(model.encoder.vocabulary.begins), size=length - 1).tolist()
    ids = (model.encoder.prefix, *ids)
    half, last = length // 2, length - min(8, length // 4)
    cache = DynamicCache()
    try:
        [expected] = model.forward([_text(ids, last)], columns=WANTED)
        model.onward([_text(ids[: half + 1], half)], cache, 0)  # its last token is not fed
        [found] = model.onward([_text(ids, last)], cache, half)
    except (RuntimeError, MemoryError):  # what does not fit, or a network that takes no such cache
        return True
    return bool(np.abs((found.logprob - expected.logprob)[:-1]).max() > 5 * huggingface.tolerance(model))


def _text(ids: tuple[int, ...], first: int) -> Encoded:
    """Return tokens of which those from `first` on are scored."""
    rest = ids[first:]
    nothing = (False,) * len(rest)
    return Encoded(ids[:first], rest, ((0, 0),) * len(rest), begins=nothing, ends=nothing, opening=BOUNDARY)


def carried(model: Model) -> Carried | None:
    """Return a model that carries what it read of a session to the next question; None where its network cannot.

    For `answer_questions`, with the questions of one session after another's: each costs the tokens that are new in it. A network
    can that takes prefixes shared in a row (GPT-2, Llama and most), and is loaded here; from the length on at which it would give
    other numbers so, it reads everything anew.

    >>> from gardenpath import lmscore
    >>> carried(lmscore.load("pocket")) is None
    False
    """
    return Carried(model) if getattr(model, "row", 0) else None
