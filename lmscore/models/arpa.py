"""ARPA files: n-gram models as text, the form that KenLM, SRILM and others read and write."""

import gzip
import logging
import math
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from gardenpath import study

UNKNOWN_WORD, SENTENCE_START, SENTENCE_END = "<unk>", "<s>", "</s>"
MISSING_LOG10 = -100.0  # log10 probability of unknown words where a file gives none, as in KenLM
LN10 = math.log(10)

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class NgramLevel:
    """The n-grams of one length, sorted: `keys` are prefix * |V| + word, the prefix being its row one level below.

    `logprob` and `backoff` (0 where nothing follows) are in nats.
    """

    keys: np.ndarray
    logprob: np.ndarray
    backoff: np.ndarray

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Return the row of each key, or -1 where there is none (as for negative keys)."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        rows = np.searchsorted(self.keys, keys)
        rows[rows == len(self.keys)] = 0
        return np.where(self.keys[rows] == keys, rows, -1)


def read_numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a UTF-8 file, which may be gzipped and larger than memory."""
    path = Path(path)
    with open(path, "rb") as plain:
        zipped = plain.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if zipped else open(path, "rb") as stream:
        try:
            for number, raw in enumerate(stream, start=1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise study.DataError(
                f"{path}, line {number}: byte 0x{error.object[error.start]:02x} is not UTF-8; expected UTF-8 text"
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise study.DataError(f"{path}: the gzip file is damaged or cut short ({error}); make it again") from None


def write_arpa(path: str | Path, words: Sequence[str], levels: Sequence[NgramLevel]) -> Path:
    """Write an n-gram model as an ARPA file, all of it or nothing, and return its path; `.gz` is compressed."""
    path = Path(path)
    with study.files.write_atomically(path) as temporary, _open_writer(temporary, path.suffix == ".gz") as stream:
        stream.write("\\data\\\n")
        stream.writelines(f"ngram {m}={len(level.keys)}\n" for m, level in enumerate(levels, start=1))
        texts: Sequence[str] = [""]
        for m, level in enumerate(levels, start=1):
            stream.write(f"\n\\{m}-grams:\n")
            prefixes, last = np.divmod(level.keys, len(words))
            pairs = zip(prefixes.tolist(), last.tolist(), strict=True)
            texts = [f"{texts[prefix]} {words[word]}" if m > 1 else words[word] for prefix, word in pairs]
            stream.writelines(_format_rows(level, texts, highest=m == len(levels)))
        stream.write("\n\\end\\\n")
    return path


def _open_writer(path: Path, zipped: bool) -> TextIO:
    if zipped:
        return gzip.open(path, "wt", encoding="utf-8", newline="\n")
    return open(path, "w", encoding="utf-8", newline="\n")


def _format_rows(level: NgramLevel, texts: Iterable[str], *, highest: bool) -> Iterator[str]:
    logprobs, backoffs = (level.logprob / LN10).tolist(), (level.backoff / LN10).tolist()
    for text, logprob, backoff in zip(texts, logprobs, backoffs, strict=True):
        yield f"{logprob:.9g}\t{text}\n" if highest else f"{logprob:.9g}\t{text}\t{backoff:.9g}\n"


def read_arpa(path: str | Path) -> tuple[list[str], list[NgramLevel]]:
    """Return words and levels of an ARPA file, gzipped or not; the words begin with `<unk>`, `<s>` and `</s>`.

    Raises `study.DataError` with the line or the n-gram that is wrong.
    """
    ids = {UNKNOWN_WORD: 0, SENTENCE_START: 1, SENTENCE_END: 2}
    sections = _read_sections(Path(path), ids)
    _add_unknown(path, *sections[0])
    words = list(ids)
    levels: list[NgramLevel] = []
    for m, (grams, values) in enumerate(sections, start=1):
        table = np.array(grams, dtype=np.int64).reshape(-1, m)
        keys = compute_gram_keys(table, levels, len(words))
        order = np.argsort(keys, kind="stable")
        _check_grams(path, words, table, keys, order)
        logprob, backoff = LN10 * np.array(values).reshape(-1, 2)[order].T
        levels.append(NgramLevel(keys[order], logprob.copy(), backoff.copy()))
    return words, levels


def compute_gram_keys(grams: np.ndarray, levels: Sequence[NgramLevel], size: int) -> np.ndarray:
    """Return the key of each row of word ids at the level above `levels`; -1 where its beginning is not known."""
    prefix = np.zeros(len(grams), dtype=np.int64)
    for level, word in zip(levels, grams.T[:-1], strict=True):
        prefix = level.find(np.where(prefix < 0, -1, prefix * size + word))
    return np.where(prefix < 0, -1, prefix * size + grams[:, -1])


Section = tuple["array[int]", "array[float]"]


def _read_sections(path: Path, ids: dict[str, int]) -> list[Section]:
    """Return, for each length, the word ids of its n-grams and their log10 probability and backoff, both flat.

    The words of the 1-grams are added to `ids`.
    """
    sections: list[Section] = []
    ended = False
    for number, line in read_numbered_lines(path):
        if (header := re.fullmatch(r"\\(\d+)-grams:\s*", line)) and int(header[1]) == len(sections) + 1:
            sections.append((array("q"), array("d")))
        elif line.startswith("\\end\\"):
            ended = True
            break
        elif sections and line.strip():
            try:
                words, values = _parse_row(line, len(sections))
                if len(sections) == 1:
                    ids.setdefault(words[0], len(ids))
                sections[-1][0].extend([ids[word] for word in words])
                sections[-1][1].extend(values)
            except KeyError as error:
                raise study.DataError(f"{path}, line {number}: {error} is not a 1-gram; expected one for each word") from None
            except ValueError:
                raise study.DataError(
                    f"{path}, line {number}: {line[:60]!r}; expected a log10 probability, {len(sections)} words and, "
                    "below the highest order, a log10 backoff"
                ) from None
    if not ended or not sections:
        missing = "\\end\\" if sections else "\\1-grams:"
        raise study.DataError(f"{path}: has no line {missing}: not an ARPA file, or one cut short; expected a whole one")
    return sections


def _parse_row(line: str, words: int) -> tuple[list[str], tuple[float, float]]:
    # Only these two separate in ARPA files; a no-break space belongs to its word.
    fields = line.rstrip().replace("\t", " ").split(" ")
    if not words < len(fields) <= words + 2:
        raise ValueError
    logprob, backoff = float(fields[0]), float(fields[words + 1]) if len(fields) > words + 1 else 0.0
    if not (logprob <= 0 and math.isfinite(backoff)):
        raise ValueError
    if words == 1 and fields[1] == "<UNK>":
        fields[1] = UNKNOWN_WORD
    return fields[1 : words + 1], (logprob, backoff)


def _add_unknown(path: str | Path, unigrams: "array[int]", values: "array[float]") -> None:
    missing = [word for word, i in ((SENTENCE_START, 1), (SENTENCE_END, 2)) if i not in unigrams]
    if missing:
        raise study.DataError(f"{path}: {' and '.join(missing)} is not a 1-gram of it; expected a model of whole sentences")
    if 0 not in unigrams:
        log.info("%s: has no <unk>; unknown words get the log10 probability %g, as in KenLM", path, MISSING_LOG10)
        unigrams.append(0)
        values.extend((MISSING_LOG10, 0.0))


def _check_grams(path: str | Path, words: Sequence[str], grams: np.ndarray, keys: np.ndarray, order: np.ndarray) -> None:
    wrong, twice = np.flatnonzero(keys < 0), order[np.flatnonzero(np.diff(keys[order]) == 0)]
    for rows, fault in ((wrong, "begins with what is not an n-gram of the file"), (twice, "occurs twice")):
        if len(rows):
            first = " ".join(words[i] for i in grams[rows[0]])
            raise study.DataError(f"{path}: the {grams.shape[1]}-gram {first!r} {fault} ({len(rows)} such); expected none")
