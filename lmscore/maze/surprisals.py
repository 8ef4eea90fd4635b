"""What a word costs a model after the sentence so far: exactly, and from below by one pass over the sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gardenpath.stimuli import Sentence

from ..measures.reductions import BITS_PER_NAT, compute_word_scores
from ..models.causal import CausalModel
from ..models.interface import Model
from ..tokens.continuations import encode_continuations, get_prompt_encoder
from ..tokens.encoding import EncodedText
from ..tokens.token_table import TokenTable
from .positions import Site

SURPRISAL_COLUMNS = ("logprob", "log_boundary")
MAX_SITES_PER_PASS = 400  # sites of a pass, whose rows of all candidates are in memory together


class SurprisalScorer:
    """Surprisals (bits) of words in place of the words of sentences, corrected for whitespace as those of `score`.

    Raises `ValueError` for a model that cannot be prompted.
    """

    def __init__(self, model: Model, batch_tokens: int | None = None) -> None:
        self.encoder = get_prompt_encoder(model)
        self.model = model
        self.batch_tokens = batch_tokens
        self._first_tokens: dict[str, int] = {}

    def compute_surprisals(self, forms: Sequence[tuple[Site, str]]) -> list[float]:
        """Return the surprisal of each form at its site; NaN where the tokenizer does not know it.

        Where one token joins the word before to the form, or to the word itself, both are scored from there, and the form's
        surprisal is the word's and the difference of the two.
        """
        parts = [self._encode_parts(site, form) for site, form in forms]
        texts = [text for part in parts for _, text, _ in part]
        tables = iter(self.model.forward(texts, columns=SURPRISAL_COLUMNS, batch_tokens=self.batch_tokens))
        return [
            sum(sign * _compute_surprisal(next(tables), site, form) for sign, _, form in part) if part else np.nan
            for (site, _), part in zip(forms, parts, strict=True)
        ]

    def compute_bounds(self, forms: Mapping[Site, Sequence[str]]) -> tuple[dict[Site, float], dict[Site, np.ndarray]]:
        """Return the surprisal of the word at each site, and of each form there a number that its surprisal is not below.

        The probability of a form is at most that of its first token, by the mass B of all that begins a word where one begins, so
        its surprisal is at least -log2 p(first token) + log2 B. Of a form that begins with a token of the word before, which the
        pass has no prediction of, and of a model that gives no distributions, it is 0.
        """
        model: Any = getattr(self.model, "uncached", self.model)
        model = model.get_loaded_model() if hasattr(model, "get_loaded_model") else model
        sites = [*forms]
        own, below = {}, {}
        for start in range(0, len(sites), MAX_SITES_PER_PASS):
            block = sites[start : start + MAX_SITES_PER_PASS]
            texts = {site: encode_continuations(self.model, site.preceding_text, [site.gap + site.text])[0] for site in block}
            first = {site: [self._find_first_token(site, texts[site], form) for form in forms[site]] for site in block}
            ids = sorted({token for tokens in first.values() for token in tokens if token is not None})
            how: dict[str, Any] = {"candidate_ids": ids} if isinstance(model, CausalModel) else {}
            tables = model.forward([*texts.values()], columns=SURPRISAL_COLUMNS, batch_tokens=self.batch_tokens, **how)
            row_by_token = {token: k for k, token in enumerate(ids)}
            for site, table in zip(block, tables, strict=True):
                own[site] = _compute_surprisal(table, site, site.text)
                below[site] = np.zeros(len(first[site]))
                known = np.array([k for k, token in enumerate(first[site]) if token is not None], int)
                if how and len(known):
                    edge = float(table.log_boundary[0]) if site.gap else 0.0
                    rows = [row_by_token[token] for token in first[site] if token is not None]
                    below[site][known] = BITS_PER_NAT * (edge - table.predictors["candidates"][rows, 0])
        return own, below

    def _encode_parts(self, site: Site, form: str) -> list[tuple[int, EncodedText, str]]:
        """Return the texts whose surprisals, with these signs, add up to that of a form; none where it is not known."""
        encoded = self._encode_form(site, form)
        if encoded is None:
            return []
        own = encoded if site.gap or form == site.text else self._encode_form(site, site.text)
        if own is None or own.context_ids == encoded.context_ids:
            return [(1, encoded, form)]
        word, joined = encode_continuations(self.model, site.preceding_text, [site.text, form])
        return [(1, own, site.text), (1, joined, form), (-1, word, site.text)]

    def _encode_form(self, site: Site, form: str) -> EncodedText | None:
        try:
            [text] = encode_continuations(self.model, site.preceding_text, [site.gap + form])
        except ValueError:
            return None
        return None if text.unknown_count else text

    def _find_first_token(self, site: Site, text: EncodedText, form: str) -> int | None:
        """Return the first token of a form where it follows the same tokens as the word, which `text` is, else None.

        Tokens that begin with whitespace are the same after any word; they are looked up once.
        """
        begins = self.encoder.vocabulary.starts_with_space
        if known := self._first_tokens.get(site.gap + form) if begins[text.ids[0]] else None:
            return known
        encoded = self._encode_form(site, form)
        if encoded is None or encoded.context_ids != text.context_ids:
            return None
        if begins[encoded.ids[0]]:
            self._first_tokens[site.gap + form] = encoded.ids[0]
        return encoded.ids[0]


def _compute_surprisal(table: TokenTable, site: Site, form: str) -> float:
    """Return the surprisal (bits) of a form after a site's gap; without a gap no token marks an edge, and none is corrected for."""
    segmentation = None if site.gap else ((0, len(form)),)
    [score] = compute_word_scores(table, Sentence(site.gap + form, segmentation=segmentation))
    return score.surprisal
