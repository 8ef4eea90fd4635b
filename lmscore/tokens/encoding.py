"""Text becomes token ids with character spans, and each word gets its tokens.

Spans count code points of the sentence and include the whitespace a token begins with. A character that the tokenizer
splits into bytes gives each of its tokens the whole character.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np

from gardenpath.stimuli import Sentence
from gardenpath.stimuli.items import Word

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast

OPENING_TEXT, OPENING_BOUNDARY, OPENING_CERTAIN = "text", "boundary", "certain"


@dataclass(frozen=True)
class Vocabulary:
    """For every token id: whether its text begins, and whether it ends, with whitespace."""

    starts_with_space: np.ndarray
    ends_with_space: np.ndarray


@dataclass(frozen=True)
class Encoder:
    """A tokenizer with what scoring needs to know of it.

    `prefix` is the id fed before every text, `end_ids` the ids that end one, `window` the number of ids the model takes.
    """

    tokenizer: "PreTrainedTokenizerFast"
    vocabulary: Vocabulary
    prefix: int
    end_ids: frozenset[int]
    window: int | None = None


@dataclass(frozen=True)
class EncodedText:
    """A sentence as token ids: `context_ids` come first and are never scored, `ids` are scored.

    `spans` are characters of the sentence; `starts_with_space` and `ends_with_space` say which tokens begin and end with
    whitespace. `opening` says how the first word starts: OPENING_TEXT (nothing marks it: whatever can open a text could stand
    here), OPENING_BOUNDARY (its token brings the whitespace) or OPENING_CERTAIN (the context ends in whitespace already).
    `unknown_count` counts the scored tokens that stand for text the tokenizer does not know; `lead_spans` are the spans of the
    sentence's own tokens that are fed and not scored, and `closing` says that the end of the text is scored too (see
    `protocols`). For a masked
    model `masked_positions` gives, for each scored token, the places in `ids` that are hidden when it is predicted; for an
    encoder-decoder `source_ids` are the ids that its encoder reads. `batch_digest` tells apart what a text is computed with,
    where that moves its numbers and they are compared.
    """

    context_ids: tuple[int, ...]
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    starts_with_space: tuple[bool, ...]
    ends_with_space: tuple[bool, ...]
    opening: str
    unknown_count: int = 0
    lead_spans: tuple[tuple[int, int], ...] = ()
    closing: bool = False
    masked_positions: tuple[tuple[int, ...], ...] = ()
    source_ids: tuple[int, ...] = ()
    batch_digest: bytes = b""

    @property
    def scored_count(self) -> int:
        """The number of scored tokens, |s|."""
        return len(self.ids) + self.closing


class EncodingOptions(TypedDict, total=False):
    """How a text is encoded: `prefix` (by default yes), `leading_space` and `closing` (no) are those of a `Protocol`; `joiner` (a
    space) stands between context and text.
    """

    prefix: bool
    leading_space: bool
    closing: bool
    joiner: str


def encode(encoder: Encoder, text: str, context: str | None = None, **options: Unpack[EncodingOptions]) -> EncodedText:
    """Return `text` as tokens to score after the prefix token and the context.

    Special tokens written in the text are read as plain characters. Of one token that is fed first and not scored, none is left
    to score. Raises `ValueError` where the tokenizer finds none at all, or a token spans context and text.
    """
    context, joiner = context or "", options.get("joiner", " ")
    before = build_lead_in(context, options.get("leading_space", False), joiner)
    whole = before + text
    output = tokenise(encoder.tokenizer, whole)
    ids: list[int] = output.ids
    if not ids:
        raise ValueError(f"the tokenizer finds no token in {text!r}; expected at least one")
    spans = _cover_text(whole, output.offsets)
    first_own = _find_first_own(whole, spans, context + joiner.rstrip() if context else "")
    if before:
        spans = [(max(0, a - len(before)), max(0, b - len(before))) for a, b in spans]
    before_all = [encoder.prefix] if options.get("prefix", True) else list_added_ids(encoder)
    first = first_own if before_all or first_own else 1
    begins, ends = encoder.vocabulary.starts_with_space[ids].tolist(), encoder.vocabulary.ends_with_space[ids].tolist()
    opening = OPENING_BOUNDARY if first or begins[0] else OPENING_TEXT
    if first and (ends[first - 1] or not (joiner or begins[first])):
        opening = OPENING_CERTAIN
    return EncodedText(
        context_ids=(*before_all, *ids[:first]),
        ids=tuple(ids[first:]),
        spans=tuple(spans[first:]),
        starts_with_space=tuple(begins[first:]),
        ends_with_space=tuple(ends[first:]),
        opening=opening,
        unknown_count=ids[first:].count(encoder.tokenizer.unk_token_id),
        lead_spans=tuple(spans[first_own:first]),
        closing=options.get("closing", False),
    )


def build_lead_in(context: str | None, leading_space: bool = False, joiner: str = " ") -> str:
    """Return what stands before a text: its context and a joiner, which is left out where whitespace is there already."""
    if not context:
        return " " if leading_space else ""
    return context if context[-1].isspace() and not joiner.strip() else context + joiner


def split_encoding(encoder: Encoder, output: "Encoding", fed: tuple[int, ...], first: int, edge: int) -> EncodedText:
    """Return the tokens from number `first` on as scored after `fed`; their spans count from character `edge`."""
    ids = output.ids[first:]
    begins, ends = encoder.vocabulary.starts_with_space[ids].tolist(), encoder.vocabulary.ends_with_space[ids].tolist()
    return EncodedText(
        context_ids=fed,
        ids=tuple(ids),
        spans=tuple((max(0, a - edge), max(0, b - edge)) for a, b in output.offsets[first:]),
        starts_with_space=tuple(begins),
        ends_with_space=tuple(ends),
        opening=OPENING_CERTAIN if first and encoder.vocabulary.ends_with_space[fed[-1]] else OPENING_BOUNDARY,
        unknown_count=ids.count(encoder.tokenizer.unk_token_id),
    )


def tokenise(tokenizer: "PreTrainedTokenizerFast", text: str, *, special: bool = False) -> "Encoding":
    """Return ids and offsets of a text; special tokens in it are read as plain characters, or as such where they are `special`.

    The tokenizer's own call gives the same, and takes as long again as the tokenizing to wrap it up.
    """
    backend = tokenizer.backend_tokenizer
    backend.encode_special_tokens = not special
    backend.no_padding()
    backend.no_truncation()
    return backend.encode(text, add_special_tokens=False)


def list_added_ids(encoder: Encoder) -> list[int]:
    """Return the ids that the tokenizer itself puts before every text."""
    output = encoder.tokenizer("a", return_special_tokens_mask=True)
    special = zip(output["input_ids"], output["special_tokens_mask"], strict=True)
    return [i for i, _ in itertools.takewhile(lambda token: token[1], special)]


def _cover_text(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans that cover the text: whitespace left out goes to the following token, the rest to the preceding.

    A tokenizer that composes accents leaves the combining character uncovered, one that trims leaves the spaces.
    """
    cuts = [end for _, end in offsets]
    if [0, *cuts] == [*(start for start, _ in offsets), len(text)]:
        return list(offsets)
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


def _find_first_own(text: str, spans: Sequence[tuple[int, int]], context: str) -> int:
    """Return the index of the first token that is not wholly context."""
    if not context:
        return 0
    for index, (start, end) in enumerate(spans):
        if end > len(context):
            if start < len(context.rstrip()):
                raise ValueError(
                    f"the token {text[start:end]!r} spans the context and the sentence; expected an edge between them: "
                    "name what joins them (--joiner)"
                )
            return index
    raise ValueError("the tokenizer leaves no token to the sentence after its context")


def strip_spans(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return each token's span without outer whitespace; a token of whitespace takes that of the following token."""
    inner_spans: list[tuple[int, int]] = []
    following = (len(text.rstrip()), len(text.rstrip()))
    for start, end in reversed(spans):
        piece = text[start:end]
        inner = piece.strip()
        if inner:
            left = start + piece.index(inner)
            following = (left, left + len(inner))
        inner_spans.append(following)
    return inner_spans[::-1]


@dataclass(frozen=True)
class WordTokens:
    """A word with its tokens `first` to `stop` (excluded), or several words that a token joins, as one.

    `word` has the index of the first of them, and their text as it stands in the sentence; `word_count` is their number.
    Tokens are counted from the first scored one: `first` is negative where the word has tokens that are not scored.
    """

    word: Word
    word_count: int
    first: int
    stop: int


def align_tokens_to_words(encoded: EncodedText, sentence: Sentence) -> list[WordTokens]:
    """Return the words with their tokens; every token belongs to exactly one, whitespace to the word that follows.

    A token can span words (an author's segmentation may cut where no tokenizer would): its probability cannot be divided
    between them, so they are one unit. Raises `ValueError` where a region has an edge inside such a unit, or a word has
    no token.
    """
    words = sentence.list_words()
    owning = [0] * (len(sentence.text) + 1)
    for word in words:
        owning[word.start :] = [word.index] * (len(owning) - word.start)
    parts: list[list[int]] = []  # first word, last word, first token
    for j, (start, end) in enumerate(
        strip_spans((*encoded.lead_spans, *encoded.spans), sentence.text), start=-len(encoded.lead_spans)
    ):
        first, last = owning[start], owning[max(start, end - 1)]
        if parts and first <= parts[-1][1]:
            parts[-1][1] = max(parts[-1][1], last)
        else:
            parts.append([first, last, j])
    held = {k for first, last, _ in parts for k in range(first, last + 1)}
    silent = [word.text for word in words if word.index not in held]
    if silent:
        raise ValueError(f"the word {silent[0]!r} has no token of its own; expected at least one for each word")
    ends = [*(j for _, _, j in parts[1:]), len(encoded.ids)]
    return [
        WordTokens(_join_words(sentence, words[first : last + 1]), last + 1 - first, j, after)
        for (first, last, j), after in zip(parts, ends, strict=True)
    ]


def _join_words(sentence: Sentence, words: Sequence[Word]) -> Word:
    """Return one word that spans all of `words`."""
    if len(words) == 1:
        return words[0]
    start, end = words[0].start, words[-1].end
    one = replace(words[0], text=sentence.text[start:end], end=end)
    for region in sentence.regions:
        if start < region.start < end or start < region.end < end:
            raise ValueError(
                f"region {region.name!r} (characters {region.start} to {region.end}) has an edge inside {one.text!r} "
                f"(characters {start} to {end}), {len(words)} words that a token joins; move the edge, mark the words so "
                "that tokens keep inside them, or take a model that splits here"
            )
    return one


def build_vocabulary(tokenizer: "PreTrainedTokenizerFast", size: int) -> Vocabulary:
    """Return which of `size` token ids begin and end with whitespace, found by decoding each between two letters.

    So it holds for bytes (GPT-2's Ġ), for SentencePiece's ▁ and its byte tokens, for pieces that are newlines or tabs,
    for WordPiece (whose decoder puts the space before a piece without ##) and for end-of-word marks (`</w>`).
    """
    backend = tokenizer.backend_tokenizer
    known = min(size, max(tokenizer.get_vocab().values()) + 1)  # ids may have gaps
    begins, ends = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    anchor, before, after = _find_anchor(tokenizer, known)
    decoded = backend.decode_batch([[anchor, i, anchor] for i in range(known)], skip_special_tokens=False)
    for i, whole in enumerate(decoded):
        if whole.startswith(before) and whole.endswith(after):
            piece = whole[len(before) : len(whole) - len(after)]
            begins[i], ends[i] = piece[:1].isspace(), piece[-1:].isspace()
    return Vocabulary(begins, ends)


def _find_anchor(tokenizer: "PreTrainedTokenizerFast", known: int) -> tuple[int, str, str]:
    """Return a token of letters that joins its neighbours without a space, and its text as first and as last token."""
    backend = tokenizer.backend_tokenizer
    for i in range(known):
        one = backend.decode([i], skip_special_tokens=False)
        if one.lstrip("#").isascii() and one.lstrip("#").isalpha():
            two = backend.decode([i, i], skip_special_tokens=False)
            if two.startswith(one) and len(two) > len(one) and not any(c.isspace() for c in two):
                return i, one, two[len(one) :]
    raise ValueError("the tokenizer has no token of letters inside a word; expected a subword, byte or character tokenizer")
