"""How probable tokens are by themselves: counted in a corpus, or read from a table of counts."""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath import study

from ..models.interface import Model
from ..tokens.encoding import Encoder
from ..tokens.protocols import Protocol, resolve_protocol

if TYPE_CHECKING:
    import pandas as pd

LINES_PER_BLOCK = 1000  # of a corpus, tokenized together
MAX_FAULTS_SHOWN = 5  # so many faults of a kind are named; the rest is counted


@dataclass(frozen=True)
class Unigrams:
    """Counts of token ids; a token's probability is (c + 1) / (N + |V|), so that no token is impossible.

    >>> two = Unigrams({0: 7, 1: 1}, vocabulary_size=2)
    >>> round(math.exp(two.lp([0])), 9), round(math.exp(two.lp([1])), 9)
    (0.8, 0.2)
    """

    counts: Mapping[int, int]
    vocabulary_size: int

    def lp(self, ids: Iterable[int]) -> float:
        """Return the log-probability of tokens that know nothing of each other, in nats."""
        return sum(math.log((self.counts.get(i, 0) + 1) / (self._total + self.vocabulary_size)) for i in ids)

    @functools.cached_property
    def _total(self) -> int:
        return sum(self.counts.values())


def read_unigrams(path: str | Path, model: Model, protocol: str | Protocol | None = None) -> Unigrams:
    """Return unigram counts over a model's tokens, from a CSV table (token, count) or a plain text corpus.

    A corpus is UTF-8, a text a line, and is counted with the model's tokenizer, each line as the protocol has it; take
    one near the data that the model was trained on. In a table, `token` is written as in the tokenizer's vocabulary. A token
    counted c times among N has probability (c + 1) / (N + |V|). Raises `study.DataError` with every fault of the file, and
    `ValueError` for a model without a tokenizer:

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> read_unigrams("corpus.txt", model)
    Traceback (most recent call last):
    ...
    ValueError: model ngram:bigrams has no tokenizer that could count unigrams; expected a Hugging Face model
    """
    path = Path(path)
    encoder: Encoder | None = getattr(model, "encoder", None)
    if encoder is None:
        raise ValueError(f"model {model.name} has no tokenizer that could count unigrams; expected a Hugging Face model")
    known = len(encoder.tokenizer)
    if path.suffix == ".csv":
        counts = _parse_counts(path, study.table_files.read_csv(path), encoder.tokenizer.get_vocab())
    else:
        counts = _count_corpus(path, encoder, " " if resolve_protocol(protocol, model.name, model.masked).leading_space else "")
    if not counts:
        raise study.DataError(f"{path}: no token is counted; expected text, or a table of token,count")
    return Unigrams(counts, known)


def _count_corpus(path: Path, encoder: Encoder, before: str) -> Mapping[int, int]:
    counts: Counter[int] = Counter()
    lines = _read_lines(path)
    while block := [before + line for line in itertools.islice(lines, LINES_PER_BLOCK)]:
        output = encoder.tokenizer(block, add_special_tokens=False, split_special_tokens=True, verbose=False)
        counts.update(itertools.chain.from_iterable(output["input_ids"]))
    return counts


def _read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text that are not blank; a corpus may be larger than memory."""
    with open(path, "rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise study.DataError(
                    f"{path}, line {number}: byte 0x{raw[error.start]:02x} is not UTF-8; expected plain text, or a "
                    "table of token,count whose name ends in .csv"
                ) from None
            if line.strip():
                yield line


def _parse_counts(path: Path, rows: "pd.DataFrame", vocabulary: Mapping[str, int]) -> Mapping[int, int]:
    if list(rows.columns) != ["token", "count"]:
        raise study.DataError(f"{path}: columns {', '.join(map(str, rows.columns))}; expected token,count")
    counts: dict[int, int] = {}
    faults = []
    for line, (token, count) in enumerate(rows.itertuples(index=False), start=2):
        if token not in vocabulary:
            faults.append(f"{path}, line {line}: {token!r} is not a token of this model; expected one of its vocabulary")
        elif vocabulary[token] in counts:
            faults.append(f"{path}, line {line}: {token!r} occurs twice; expected each token once")
        elif not count.isdecimal():
            faults.append(f"{path}, line {line}: count {count!r} of {token!r}; expected a whole number, 0 or more")
        else:
            counts[vocabulary[token]] = int(count)
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS_SHOWN} more such lines"] if len(faults) > MAX_FAULTS_SHOWN else []
        raise study.DataError([*faults[:MAX_FAULTS_SHOWN], *more])
    return counts
