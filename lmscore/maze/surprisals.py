"""What a word costs a model after the sentence so far: exactly, and from below by one pass over the sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gardenpath.stimuli import Sentence

from ..measures.reductions import BITS, words
from ..models.causal import CausalModel
from ..models.interface import Model
from ..tokens.continuations import continuations, prompted
from ..tokens.encoding import Encoded
from ..tokens.token_table import TokenTable
from .places import Site

COLUMNS = ("logprob", "log_boundary")
TOGETHER = 400  # sites of a pass, whose rows of all candidates are in memory together


class Surprisals:
    """Surprisals (bits) of words in place of the words of sentences, corrected for whitespace as those of `score`.

    Raises `ValueError` for a model that cannot be prompted.
    """

    def __init__(self, model: Model, batch_tokens: int | None = None) -> None:
        self.encoder = prompted(model)
        self.model = model
        self.batch_tokens = batch_tokens
        self._first: dict[str, int] = {}

    def exact(self, asked: Sequence[tuple[Site, str]]) -> list[float]:
        """Return the surprisal of each form at its site; NaN where the tokenizer does not know it.

        Where one token joins the word before to the form, or to the word itself, both are scored from there, and the form's
        surprisal is the word's and the difference of the two.
        """
        parts = [self._parts(site, form) for site, form in asked]
        texts = [text for part in parts for _, text, _ in part]
        tables = iter(self.model.forward(texts, columns=COLUMNS, batch_tokens=self.batch_tokens))
        return [
            sum(sign * _surprisal(next(tables), site, form) for sign, _, form in part) if part else np.nan
            for (site, _), part in zip(asked, parts, strict=True)
        ]

    def bounds(self, forms: Mapping[Site, Sequence[str]]) -> tuple[dict[Site, float], dict[Site, np.ndarray]]:
        """Return the surprisal of the word at each site, and of each form there a number that its surprisal is not below.

        The probability of a form is at most that of its first token, by the mass B of all that begins a word where one begins, so
        its surprisal is at least -log2 p(first token) + log2 B. Of a form that begins with a token of the word before, which the
        pass has no prediction of, and of a model that gives no distributions, it is 0.
        """
        model: Any = getattr(self.model, "uncached", self.model)
        model = model.loaded() if hasattr(model, "loaded") else model
        sites = [*forms]
        own, below = {}, {}
        for start in range(0, len(sites), TOGETHER):
            block = sites[start : start + TOGETHER]
            texts = {site: continuations(self.model, site.before, [site.gap + site.text])[0] for site in block}
            first = {site: [self._first_token(site, texts[site], form) for form in forms[site]] for site in block}
            ids = sorted({token for tokens in first.values() for token in tokens if token is not None})
            how: dict[str, Any] = {"among": ids} if isinstance(model, CausalModel) else {}
            tables = model.forward([*texts.values()], columns=COLUMNS, batch_tokens=self.batch_tokens, **how)
            place = {token: k for k, token in enumerate(ids)}
            for site, table in zip(block, tables, strict=True):
                own[site] = _surprisal(table, site, site.text)
                below[site] = np.zeros(len(first[site]))
                known = np.array([k for k, token in enumerate(first[site]) if token is not None], int)
                if how and len(known):
                    edge = float(table.log_boundary[0]) if site.gap else 0.0
                    rows = [place[token] for token in first[site] if token is not None]
                    below[site][known] = BITS * (edge - table.more["among"][rows, 0])
        return own, below

    def _parts(self, site: Site, form: str) -> list[tuple[int, Encoded, str]]:
        """Return the texts whose surprisals, with these signs, add up to that of a form; none where it is not known."""
        encoded = self._encoded(site, form)
        if encoded is None:
            return []
        own = encoded if site.gap or form == site.text else self._encoded(site, site.text)
        if own is None or own.fed == encoded.fed:
            return [(1, encoded, form)]
        word, joined = continuations(self.model, site.before, [site.text, form])
        return [(1, own, site.text), (1, joined, form), (-1, word, site.text)]

    def _encoded(self, site: Site, form: str) -> Encoded | None:
        try:
            [text] = continuations(self.model, site.before, [site.gap + form])
        except ValueError:
            return None
        return None if text.unknown else text

    def _first_token(self, site: Site, text: Encoded, form: str) -> int | None:
        """Return the first token of a form where it follows the same tokens as the word, which `text` is, else None.

        Tokens that begin with whitespace are the same after any word; they are looked up once.
        """
        begins = self.encoder.vocabulary.begins
        if known := self._first.get(site.gap + form) if begins[text.ids[0]] else None:
            return known
        encoded = self._encoded(site, form)
        if encoded is None or encoded.fed != text.fed:
            return None
        if begins[encoded.ids[0]]:
            self._first[site.gap + form] = encoded.ids[0]
        return encoded.ids[0]


def _surprisal(table: TokenTable, site: Site, form: str) -> float:
    """Return the surprisal (bits) of a form after a site's gap; without a gap no token marks an edge, and none is corrected for."""
    segmentation = None if site.gap else ((0, len(form)),)
    [score] = words(table, Sentence(site.gap + form, segmentation=segmentation))
    return score.surprisal
