"""Text becomes token ids with character spans, and each token gets the word that owns it.

Spans count code points of the sentence and include the whitespace a token begins with. A character that the tokenizer
splits into bytes gives each of its tokens the whole character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gardenpath.stimuli import Sentence, Word

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TEXT, BOUNDARY, CERTAIN = "text", "boundary", "certain"


@dataclass(frozen=True)
class Vocabulary:
    """For every token id: whether its text begins, and whether it ends, with whitespace."""

    begins: np.ndarray
    ends: np.ndarray


@dataclass(frozen=True)
class Encoder:
    """A tokenizer with what scoring needs to know of it.

    `prefix` is the id fed before every text, `ends` the ids that end one, `window` the number of ids the model takes.
    """

    tokenizer: "PreTrainedTokenizerFast"
    vocabulary: Vocabulary
    prefix: int
    ends: frozenset[int]
    window: int | None = None


@dataclass(frozen=True)
class Encoded:
    """A sentence as token ids: `fed` come first and are never scored, `ids` are scored.

    `spans` are characters of the sentence; `begins` and `ends` say which tokens begin and end with whitespace.
    `opening` says how the first word starts: TEXT (nothing marks it: whatever can open a text could stand here),
    BOUNDARY (its token brings the whitespace) or CERTAIN (the context ends in whitespace already).
    """

    fed: tuple[int, ...]
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    begins: tuple[bool, ...]
    ends: tuple[bool, ...]
    opening: str


def encode(encoder: Encoder, text: str, context: str | None = None) -> Encoded:
    """Return `text` as tokens to score after the prefix token and, joined by a space, the context.

    Special tokens written in the text are read as plain characters. Raises `ValueError` where the text exceeds the
    model's window, or a token spans context and text.
    """
    context = context or ""
    before = f"{context} " if context and not context[-1].isspace() else context
    whole = before + text
    output = encoder.tokenizer(
        whole, add_special_tokens=False, return_offsets_mapping=True, split_special_tokens=True, verbose=False
    )
    ids: list[int] = output["input_ids"]
    if not ids:
        raise ValueError(f"the tokenizer finds no token in {text!r}; expected at least one")
    _check_window(encoder, len(ids))
    spans = _whole_spans(whole, output["offset_mapping"])
    first = _first_scored(whole, spans, context)
    begins = [bool(encoder.vocabulary.begins[i]) for i in ids]
    ends = [bool(encoder.vocabulary.ends[i]) for i in ids]
    opening = BOUNDARY if first or begins[0] else TEXT
    if first and ends[first - 1]:
        opening = CERTAIN
    return Encoded(
        fed=(encoder.prefix, *ids[:first]),
        ids=tuple(ids[first:]),
        spans=tuple((max(0, a - len(before)), b - len(before)) for a, b in spans[first:]),
        begins=tuple(begins[first:]),
        ends=tuple(ends[first:]),
        opening=opening,
    )


def _check_window(encoder: Encoder, tokens: int) -> None:
    if encoder.window is not None and tokens + 1 > encoder.window:
        raise ValueError(
            f"{tokens} tokens and the prefix token exceed the model's window of {encoder.window}; "
            "shorten the text or take a model with a longer window"
        )


def _whole_spans(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans that cover the text: whitespace left out goes to the following token, the rest to the preceding.

    A tokenizer that composes accents leaves the combining character uncovered, one that trims leaves the spaces.
    """
    spans: list[tuple[int, int]] = []
    covered = 0
    for start, end in offsets:
        if start > covered:
            gap = text[covered:start]
            left = len(gap.rstrip()) if spans else 0
            if left:
                spans[-1] = (spans[-1][0], covered + left)
            start = covered + left
        spans.append((start, max(start, end)))
        covered = max(covered, end)
    if covered < len(text):
        spans[-1] = (spans[-1][0], len(text))
    return spans


def _first_scored(text: str, spans: Sequence[tuple[int, int]], context: str) -> int:
    """Return the index of the first token that is not wholly context."""
    if not context:
        return 0
    for index, (start, end) in enumerate(spans):
        if end > len(context):
            if start < len(context.rstrip()):
                raise ValueError(
                    f"the token {text[start:end]!r} spans the context and the sentence; expected an edge between them"
                )
            return index
    raise ValueError("the tokenizer leaves no token to the sentence after its context")


def cores(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return each token's span without outer whitespace; a token of whitespace takes that of the following token."""
    found: list[tuple[int, int]] = []
    following = (len(text.rstrip()), len(text.rstrip()))
    for start, end in reversed(spans):
        piece = text[start:end]
        if piece.strip():
            following = (start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
        found.append(following)
    return found[::-1]


def owners(encoded: Encoded, sentence: Sentence) -> list[int]:
    """Return the position of the word that owns each token; every token belongs to exactly one word.

    Whitespace goes to the word that follows. A token that spans two words (an author's segmentation can cut where no
    tokenizer would) raises `ValueError`: its probability cannot be divided between them, and words merged for one
    model would no longer be the words that were read.
    """
    words = sentence.words()
    owning = [0] * (len(sentence.text) + 1)
    for word in words:
        owning[word.start :] = [word.index] * (len(owning) - word.start)
    result = []
    for start, end in cores(encoded.spans, sentence.text):
        first, last = owning[start], owning[max(start, end - 1)]
        if start == len(sentence.text.rstrip()):
            first = last = len(words) - 1
        if first != last:
            raise ValueError(_spanning(sentence, words[first], words[last], start, end))
        result.append(first)
    silent = sorted(set(range(len(words))) - set(result))
    if silent:
        raise ValueError(
            f"the word {words[silent[0]].text!r} has no token of its own; expected at least one for each word"
        )
    return result


def _spanning(sentence: Sentence, first: Word, last: Word, start: int, end: int) -> str:
    return (
        f"the token {sentence.text[start:end]!r} (characters {start} to {end}) spans the words {first.text!r} and "
        f"{last.text!r}; mark the words so that tokens keep inside them, or take a model that splits here"
    )


def vocabulary(tokenizer: "PreTrainedTokenizerFast", size: int) -> Vocabulary:
    """Return which of `size` token ids begin and end with whitespace, found by decoding each between two letters.

    So it holds for bytes (GPT-2's Ġ), for SentencePiece's ▁ and its byte tokens, for pieces that are newlines or tabs,
    for WordPiece (whose decoder puts the space before a piece without ##) and for end-of-word marks (`</w>`).
    """
    backend = tokenizer.backend_tokenizer
    known = min(size, len(tokenizer))
    begins, ends = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    anchor, before, after = _anchor(tokenizer, known)
    decoded = backend.decode_batch([[anchor, i, anchor] for i in range(known)], skip_special_tokens=False)
    for i, whole in enumerate(decoded):
        if whole.startswith(before) and whole.endswith(after):
            piece = whole[len(before) : len(whole) - len(after)]
            begins[i], ends[i] = piece[:1].isspace(), piece[-1:].isspace()
    return Vocabulary(begins, ends)


def _anchor(tokenizer: "PreTrainedTokenizerFast", known: int) -> tuple[int, str, str]:
    """Return a token of letters that joins its neighbours without a space, and its text as first and as last token."""
    backend = tokenizer.backend_tokenizer
    for i in range(known):
        one = backend.decode([i], skip_special_tokens=False)
        if one.lstrip("#").isascii() and one.lstrip("#").isalpha():
            two = backend.decode([i, i], skip_special_tokens=False)
            if two.startswith(one) and len(two) > len(one) and not any(c.isspace() for c in two):
                return i, one, two[len(one) :]
    raise ValueError(
        "the tokenizer has no token of letters inside a word; expected a subword, byte or character tokenizer"
    )
