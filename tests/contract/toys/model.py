"""A kind of language model of one file, as a reader of CONTRIBUTING.md writes it: characters are tokens, all equally probable."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gardenpath.lmscore.tokens.encoding import OPENING_CERTAIN, EncodedText
from gardenpath.lmscore.tokens.token_table import TokenTable

SCHEME = "uniform:"


@dataclass(frozen=True)
class Uniform:
    """Each of `size` characters, and the end of the text, has the same probability everywhere."""

    name: str
    size: int
    masked: bool = False

    def encode(self, text: str, context: str | None = None, **options: Any) -> EncodedText:
        """Return a text as its characters."""
        spans = tuple((n, n + 1) for n in range(len(text)))
        begins = tuple(character.isspace() or n == 0 for n, character in enumerate(text))
        ids = tuple(ord(character) % self.size for character in text)
        closing = bool(options.get("closing"))
        return EncodedText((0,), ids, spans, begins, (False,) * len(ids), OPENING_CERTAIN, closing=closing)

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of it."""
        return {"name": self.name, "architecture": "uniform", "size": self.size}

    def forward(self, texts: Sequence[EncodedText], **options: Any) -> list[TokenTable]:
        """Return the token tables: log(1 / size) everywhere."""
        tables = [self._table(len(text.ids) + 1, text) for text in texts]
        if options.get("done"):
            options["done"](tables)
        return tables

    def _table(self, rows: int, text: EncodedText) -> TokenTable:
        each = math.log(self.size)
        return TokenTable(text, *(np.full(rows, value) for value in (-each, 0.0, each, each)))


def load(name: str) -> Uniform:
    """Return the model that `uniform:SIZE` names."""
    return Uniform(name, int(name.removeprefix(SCHEME)))
