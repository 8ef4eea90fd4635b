"""N-gram models: interpolated modified Kneser-Ney, estimated from a text as KenLM's lmplz does, or read from ARPA files.

A token is a whitespace word without the punctuation and symbols at its edges, each of which is a token of its own:
"didn't" is one token, "mat," two. Texts to score and texts to learn from are cut alike, and case is kept. A word edge is
never in doubt, so corrected and naive surprisal are equal.
"""

import functools
import itertools
import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Unpack

import numpy as np

from gardenpath import study

from ..tokens.encoding import OPENING_CERTAIN, EncodedText, EncodingOptions
from ..tokens.token_table import TokenTable
from .arpa import SENTENCE_END, SENTENCE_START, UNKNOWN_WORD, NgramLevel, read_arpa, read_numbered_lines, write_arpa
from .interface import COLUMNS, ForwardOptions, check_columns, report_finished

SCHEME = "ngram:"
DEFAULT_ORDER = 3
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)  # lmplz's discounts where the counts give none
TEXTS_PER_BLOCK = 4096  # computed together
TABLE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".toml")  # endings of files that are no texts

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model ready to score; token ids are places in `words`, and `metadata` say where it comes from.

    Each level holds the n-grams of one length; the probability of a word after a context is that of the longest n-gram
    there is, times the backoffs of the longer contexts.
    """

    masked: ClassVar[bool] = False

    name: str
    words: Sequence[str]
    levels: Sequence[NgramLevel]
    metadata: Mapping[str, object]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word that a text can hold."""
        return {word: i for i, word in enumerate(self.words) if word not in (UNKNOWN_WORD, SENTENCE_START, SENTENCE_END)}

    def encode(self, text: str, context: str | None = None, **options: Unpack[EncodingOptions]) -> EncodedText:
        """Return `text` as word ids to score after the sentence start and its context; unknown words are counted.

        The options are those of a `Protocol`; a leading space and a joiner change nothing. Without a prefix token, and without a
        context, the first token is fed and not scored. Raises `ValueError` for a text without words.
        """
        before = [self.ids.get(token, 0) for token, _ in split_tokens(context or "")]
        words = [(self.ids.get(token, 0), span) for token, span in split_tokens(text)]
        prefix = [1] if options.get("prefix", True) else []
        skipped = 0 if prefix or before else 1
        if not words:
            raise ValueError(f"{text!r} has no token; expected at least one word")
        cuts = [0, *(end for _, (_, end) in words[:-1]), len(text)]
        spans = tuple(itertools.pairwise(cuts))
        ids = tuple(i for i, _ in words)
        begins = tuple(text[start:end][:1].isspace() or start == 0 for start, end in spans)
        return EncodedText(
            context_ids=(*prefix, *before, *ids[:skipped]),
            ids=ids[skipped:],
            spans=spans[skipped:],
            starts_with_space=begins[skipped:],
            ends_with_space=(False,) * (len(ids) - skipped),
            opening=OPENING_CERTAIN,
            unknown_count=ids[skipped:].count(0),
            lead_spans=spans[:skipped],
            closing=options.get("closing", False),
        )

    def write(self, path: str | Path) -> Path:
        """Write the model as an ARPA file that KenLM reads, compressed where the name ends in .gz; return its path."""
        return write_arpa(path, self.words, self.levels)

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        sizes = {f"{m}-grams": len(level.keys) for m, level in enumerate(self.levels, start=1)}
        cut = "whitespace words; each punctuation mark or symbol at a word's edge is a token of its own"
        return {
            "name": self.name,
            "architecture": f"{self.order}-gram",
            **self.metadata,
            **sizes,
            "vocabulary": len(self.words),
            "tokens": cut,
        }

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given; columns not asked for are NaN.

        `end` is the log-probability of `</s>`; `log_boundary` is 0. `batch_tokens` and `is_known` change nothing.
        """
        wanted = check_columns(columns)
        tables: list[TokenTable] = []
        for start in range(0, len(texts), TEXTS_PER_BLOCK):
            block = self._compute_tables(texts[start : start + TEXTS_PER_BLOCK], wanted)
            tables += block
            report_finished(options, block, len(tables), len(texts))
        return tables

    def _compute_tables(self, texts: Sequence[EncodedText], wanted: frozenset[str]) -> list[TokenTable]:
        # A text is laid out as its fed and scored tokens and </s>, with -1 before it: no n-gram reaches across.
        stream = np.array([i for text in texts for i in (-1, *text.context_ids, *text.ids, 2)], dtype=np.int64)
        ends = np.cumsum([len(text.context_ids) + len(text.ids) + 2 for text in texts])
        scored = np.concatenate([np.arange(end - len(t.ids) - 1, end) for end, t in zip(ends, texts, strict=True)])
        last = np.cumsum([len(text.ids) + 1 for text in texts]) - 1
        contexts = self._find_contexts(stream)[:, scored - 1]
        logprob, boundary, entropy, renyi = np.full((4, len(scored)), np.nan)
        if wanted & {"logprob", "end"}:
            logprob = self._compute_logprobs(contexts, stream[scored])
        if "logprob" not in wanted:
            logprob[np.delete(np.arange(len(scored)), last)] = np.nan
        if "end" not in wanted:
            logprob[last] = np.nan
        if "log_boundary" in wanted:
            boundary[:] = 0.0
        if wanted & {"entropy", "renyi"}:
            both = self._compute_entropies(contexts)
            entropy = both[0] if "entropy" in wanted else entropy
            renyi = both[1] if "renyi" in wanted else renyi
        parts = zip(*(np.split(column, last[:-1] + 1) for column in (logprob, boundary, entropy, renyi)), strict=True)
        return [TokenTable(text, *part) for text, part in zip(texts, parts, strict=True)]

    def _find_contexts(self, stream: np.ndarray) -> np.ndarray:
        """Return, for each length m from 0, the row of the m-gram that ends at each place of the stream, or -1."""
        rows = [np.zeros(len(stream), dtype=np.int64)]
        for level in self.levels[:-1]:
            prefix = np.concatenate([[-1], rows[-1][:-1]]) if len(rows) > 1 else rows[0]
            rows.append(level.find(self._compute_keys(prefix, stream)))
        return np.array(rows)

    def _compute_keys(self, prefix: np.ndarray, word: np.ndarray) -> np.ndarray:
        return np.where((prefix < 0) | (word < 0), -1, prefix * len(self.words) + word)

    def _compute_logprobs(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Return the log-probability (nats) of words after contexts, given as rows of each length."""
        result = np.zeros(len(words))
        pending = np.ones(len(words), dtype=bool)
        for m in reversed(range(len(contexts))):
            row = self.levels[m].find(self._compute_keys(contexts[m], words))
            known = pending & (row >= 0)
            result[known] += self.levels[m].logprob[row[known]]
            pending &= ~known
            backed = pending & (contexts[m] >= 0) if m else pending & False
            result[backed] += self.levels[m - 1].backoff[contexts[m][backed]]
        return result

    def _compute_entropies(self, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return entropy and Rényi entropy of order 1/2 (nats) of the next token after each context.

        Sums over the vocabulary are carried from each context to the next longer one: only the words that follow the
        longer one have a probability of their own there, and all others that of the shorter one times the backoff.
        """
        words = np.flatnonzero(np.arange(len(self.words)) != 1)
        sums = np.tile(_compute_terms(self.levels[0].logprob[words]).sum(0), (contexts.shape[1], 1))
        for m in range(1, len(contexts)):
            positions = np.flatnonzero(contexts[m] >= 0)
            rows, first, back = np.unique(contexts[m][positions], return_index=True, return_inverse=True)
            size = len(self.words)
            level = self.levels[m]
            starts, stops = np.searchsorted(level.keys, rows * size), np.searchsorted(level.keys, (rows + 1) * size)
            counts = stops - starts
            owner = np.repeat(np.arange(len(rows)), counts)
            followers = np.arange(counts.sum()) + np.repeat(stops - np.cumsum(counts), counts)
            shorter = contexts[:m, positions[first]]
            lower = self._compute_logprobs(shorter[:, owner], level.keys[followers] % size)
            higher = _sum_by_owner(_compute_terms(level.logprob[followers]), owner, len(rows))
            left = sums[positions[first]] - _sum_by_owner(_compute_terms(lower), owner, len(rows))
            sums[positions] = (higher + _scale_sums(left, self.levels[m - 1].backoff[rows]))[back]
        return -sums[:, 1], 2 * np.log(sums[:, 2])


def _compute_terms(logp: np.ndarray) -> np.ndarray:
    """Return p, p log p and sqrt(p)."""
    p = np.exp(logp)
    return np.stack([p, p * logp, np.exp(logp / 2)], axis=-1)


def _sum_by_owner(terms: np.ndarray, owner: np.ndarray, owners: int) -> np.ndarray:
    return np.stack([np.bincount(owner, column, owners) for column in terms.T], axis=-1)


def _scale_sums(sums: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
    """Return the sums of p, p log p and sqrt(p) over words whose probabilities are multiplied by a weight."""
    p, plogp, root = sums.T
    weight = np.exp(log_weight)
    return np.stack([weight * p, weight * (plogp + log_weight * p), np.exp(log_weight / 2) * root], axis=-1)


def load_ngram(spec: str | Path, name: str | None = None) -> NgramModel:
    """Return the n-gram model that `ngram:FILE` or `ngram:FILE:ORDER` names; FILE is a text or an ARPA file.

    A text is UTF-8, a sentence a line, gzipped or not; an order of 3 is estimated where none is given. A file whose
    name ends in .arpa or .arpa.gz is read as it is. Raises `ValueError` in one line for anything else.
    """
    file = str(spec).removeprefix(SCHEME)
    named = None if Path(file).exists() else re.fullmatch(r"(.+):(\d+)", file)
    path, order = (Path(named[1]), int(named[2])) if named else (Path(file), None)
    name = name or f"{SCHEME}{file}"
    if not path.is_file():
        raise ValueError(
            f"{file or 'no name'}: there is no such file; expected ngram:FILE or ngram:FILE:ORDER, FILE being a text or an "
            ".arpa file (or .arpa.gz)"
        )
    if not path.name.endswith((".arpa", ".arpa.gz")):
        return estimate_ngram(path, DEFAULT_ORDER if order is None else order, name=name)
    words, levels = read_arpa(path)
    if order not in (None, len(levels)):
        raise ValueError(f"{path}: is of order {len(levels)}, not {order}; expected ngram:{path}")
    return NgramModel(name, words, levels, {"file": path.name, "sha256": {path.name: study.files.hash_file(path)}})


def estimate_ngram(path: str | Path, order: int = DEFAULT_ORDER, *, name: str | None = None) -> NgramModel:
    """Return the n-gram model of a text by interpolated modified Kneser-Ney smoothing.

    After Chen & Goodman (1999, doi 10.1006/csla.1999.0128), with the choices of KenLM's lmplz: n-grams below the
    highest order count what they follow, unless they open a sentence; unigrams are interpolated with the uniform
    distribution over all words but `<s>`, which gives `<unk>` its probability; nothing is pruned. Where counts give
    no discounts, those of `lmplz --discount_fallback` are taken, and the log says so. Blank lines are not sentences.
    `name` is what tables call the model, by default ngram: and the path. Raises `study.DataError` where the file has no word
    or is not UTF-8, `ValueError` for an order below 1, or one for which no sentence has words enough.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import lmscore
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder, "corpus.txt")
    ...     _ = corpus.write_text("A dog barks.\\nThe dogs bark.\\nA cat sleeps.\\nThe cats sleep.\\n")
    ...     model = lmscore.estimate_ngram(corpus, order=2)
    >>> model.order, len(model.words)
    (2, 14)
    """
    path = Path(path)
    if path.suffix in TABLE_SUFFIXES:
        raise ValueError(f"{path}: is a table, whose rows are no sentences; expected a text, a sentence a line")
    if order < 1:
        raise ValueError(f"order {order}; expected 1 or more, such as {DEFAULT_ORDER}")
    ids: dict[str, int] = {UNKNOWN_WORD: 0, SENTENCE_START: 1, SENTENCE_END: 2}
    stream = np.fromiter(_number_tokens(path, ids), dtype=np.int64)
    sentences = int((stream == 1).sum())
    if not sentences:
        raise study.DataError(f"{path}: holds no word; expected a text, a sentence a line")
    counted = _count_ngrams(stream, len(ids), order)
    if not len(counted[-1].keys):
        raise ValueError(f"{path}: no sentence has {order - 2} words, which an order of {order} needs; expected a lower one")
    discounts = [_estimate_discounts(level.counts) for level in counted]
    fallen = [m for m, discount in enumerate(discounts, start=1) if discount is None]
    if fallen:
        log.warning(
            "%s: too small or too even a text for Kneser-Ney discounts of order %s; took %s, as lmplz --discount_fallback",
            path,
            ", ".join(map(str, fallen)),
            ", ".join(map(str, FALLBACK_DISCOUNTS)),
        )
    facts = {
        "file": path.name,
        "sha256": {path.name: study.files.hash_file(path)},
        "smoothing": "interpolated modified Kneser-Ney",
        "corpus_sentences": sentences,
        "corpus_tokens": len(stream) - 2 * sentences,
        "discounts": [list(discount or FALLBACK_DISCOUNTS) for discount in discounts],
        "discount_fallback_orders": fallen,
    }
    levels = _smooth_counts(counted, [discount or FALLBACK_DISCOUNTS for discount in discounts], len(ids))
    return NgramModel(name or f"{SCHEME}{path}", list(ids), levels, facts)


def split_tokens(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the tokens of a text with their character spans.

    >>> [token for token, _ in split_tokens("The cat didn't sit, did it?")]
    ['The', 'cat', "didn't", 'sit', ',', 'did', 'it', '?']
    """
    for chunk in re.finditer(r"\S+", text):
        start = chunk.start()
        for piece in _split_chunk(chunk[0]):
            yield piece, (start, start + len(piece))
            start += len(piece)


@functools.lru_cache(maxsize=2**18)
def _split_chunk(chunk: str) -> tuple[str, ...]:
    """Return a whitespace word as its core and, each by itself, the punctuation marks and symbols around it."""
    inner = [i for i, character in enumerate(chunk) if unicodedata.category(character)[0] not in "PS"]
    if not inner:
        return tuple(chunk)
    first, after = inner[0], inner[-1] + 1
    return (*chunk[:first], chunk[first:after], *chunk[after:])


def _number_tokens(path: Path, ids: dict[str, int]) -> Iterator[int]:
    """Yield the ids of a text's tokens, each sentence between 1 and 2, and add its words to `ids`."""
    for _, line in read_numbered_lines(path):
        if chunks := line.split():
            yield 1
            for chunk in chunks:
                for piece in _split_chunk(chunk):
                    yield ids.setdefault(piece, len(ids))
            yield 2


@dataclass(frozen=True)
class _NgramCounts:
    """N-grams of one length: their keys (see `NgramLevel`), the row one level below of all but their first word, counts."""

    keys: np.ndarray
    lower: np.ndarray
    counts: np.ndarray


def _count_ngrams(stream: np.ndarray, size: int, order: int) -> list[_NgramCounts]:
    """Return the n-grams of every length: the highest with their counts, the others with how many words they follow.

    What opens a sentence follows none, and keeps its count.
    """
    starts = np.flatnonzero(stream == 1)
    rows = stream
    words = np.zeros(size, dtype=np.int64) if order > 1 else np.bincount(stream, minlength=size)
    words[1] = 0
    levels = [_NgramCounts(np.arange(size), np.zeros(size, dtype=np.int64), words)]
    for m in range(2, order + 1):
        positions = np.flatnonzero((stream[1:] != 1) & (rows[:-1] >= 0)) + 1
        keys, first, back = np.unique(rows[positions - 1] * size + stream[positions], return_index=True, return_inverse=True)
        lower = rows[positions[first]]
        np.add(levels[-1].counts, np.bincount(lower, minlength=len(levels[-1].keys)), out=levels[-1].counts)
        rows = np.full(len(stream), -1)
        rows[positions] = back
        opening = rows[starts[starts + m - 1 < len(stream)] + m - 1]
        counted = back if m == order else opening[opening >= 0]
        levels.append(_NgramCounts(keys, lower, np.bincount(counted, minlength=len(keys))))
    return levels


def _estimate_discounts(counts: np.ndarray) -> tuple[float, float, float] | None:
    """Return what is taken from counts of 1, of 2 and of more (Chen & Goodman's equation 26), or None."""
    n = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    if not n[1:4].all():
        return None
    y = n[1] / (n[1] + 2 * n[2])
    discounts = tuple(float(k - (k + 1) * y * n[k + 1] / n[k]) for k in (1, 2, 3))
    return discounts if all(0 <= d <= k for k, d in enumerate(discounts, start=1)) else None  # type: ignore[return-value]


def _smooth_counts(counted: Sequence[_NgramCounts], discounts: Sequence[tuple[float, ...]], size: int) -> list[NgramLevel]:
    levels: list[NgramLevel] = []
    lower, weights = np.array([1 / (size - 1)]), []  # the uniform distribution over all but <s>
    for m, (level, discount) in enumerate(zip(counted, discounts, strict=True)):
        context = level.keys // size if m else np.zeros(size, dtype=np.int64)
        taken = np.array([0.0, *discount])[np.minimum(level.counts, 3)]
        total, held = np.bincount(context, level.counts, len(lower)), np.bincount(context, taken, len(lower))
        weight = np.divide(held, total, out=np.ones(len(lower)), where=total > 0)
        lower = (level.counts - taken) / total[context] + weight[context] * lower[level.lower]
        levels.append(NgramLevel(level.keys, np.log(lower), np.zeros(len(lower))))
        weights.append(np.log(weight))
    levels[0].logprob[1] = 0.0  # <s> is never predicted; ARPA files give it this
    backoffs = [*weights[1:], levels[-1].backoff]
    return [replace(level, backoff=backoff) for level, backoff in zip(levels, backoffs, strict=True)]
