"""Tokenizers written in Python, such as ByT5's: what the others say of a text's characters is found by decoding."""

import itertools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple


class Encoding(NamedTuple):
    """Token ids of a text, and the characters of each."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class SlowTokenizer:
    """A tokenizer of transformers without offsets, with the part of a fast one's interface that scoring needs."""

    is_fast = False

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.kind = type(tokenizer).__name__
        self.backend_tokenizer = SlowBackend(tokenizer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._tokenizer, name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._tokenizer(*arguments, **options)

    def __len__(self) -> int:
        return len(self._tokenizer)


class SlowBackend:
    """What `tokenizers.Tokenizer` does, by a tokenizer written in Python."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.encode_special_tokens = True  # special tokens in a text are plain characters

    def no_padding(self) -> None:
        """Do nothing: nothing is padded."""

    def no_truncation(self) -> None:
        """Do nothing: nothing is cut."""

    def encode(self, text: str, add_special_tokens: bool = False) -> Encoding:
        """Return a text's ids and the characters of each, found by decoding more and more of them.

        Raises `ValueError` where the tokens do not give the text back, since then nothing says where they stand in it.
        """
        output = self._tokenizer(
            text,
            add_special_tokens=add_special_tokens,
            split_special_tokens=self.encode_special_tokens,
            return_special_tokens_mask=True,
            verbose=False,
        )
        ids: list[int] = output["input_ids"]
        added = output["special_tokens_mask"] if add_special_tokens else [0] * len(ids)
        own = [i for i, special in zip(ids, added, strict=True) if not special]
        if own and self.decode(own) != text:
            raise ValueError(
                f"the tokenizer ({type(self._tokenizer).__name__}) gives {self.decode(own)!r} back for {text!r}, and no "
                "offsets; expected a fast tokenizer (tokenizer.json)"
            )
        ends = [0]
        for count in range(1, len(own) + 1):
            known = self.decode(own[:count])
            while known and not text.startswith(known):
                known = known[:-1]  # a character that is not finished yet
            ends.append(max(ends[-1], len(known)))
        spans: list[tuple[int, int]] = []
        after = len(text)
        for start, end in reversed(list(itertools.pairwise(ends))):
            after = end if end > start else after
            spans.append((start, after))
        found = iter(reversed(spans))
        return Encoding(ids, [(0, 0) if special else next(found) for special in added])

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """Return the text of ids."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens, clean_up_tokenization_spaces=False)
        return text

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool = False) -> list[str]:
        """Return the text of each list of ids."""
        return [self.decode(ids, skip_special_tokens) for ids in batch]

    def to_str(self) -> str:
        """Return what tells the tokenizer from any other, as JSON."""
        tokenizer = self._tokenizer
        kind = f"{type(tokenizer).__module__}.{type(tokenizer).__name__}"
        return json.dumps({"class": kind, "vocabulary": tokenizer.get_vocab(), "settings": str(tokenizer.init_kwargs)})
