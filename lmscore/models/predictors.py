"""Word-level predictors beside surprisal, entropy and the Rényi entropy of order 1/2: their names, and what each is.

`renyi_A` is the Rényi entropy of order A of the next-token distribution before a word, log(sum p^A) / (1 - A): contextual
entropies as predictors of reading times are from Pimentel et al. (2023, doi 10.1162/tacl_a_00603). `surprisal_tT` is surprisal
under the distribution softmax(logits / T) (Liu et al. 2024, arXiv 2311.09325). `surprisal_layer_L` is surprisal by the output
of layer L, read by the model's own last norm and output layer (the logit lens; Kuribayashi et al. 2025, doi 10.1162/tacl.a.58);
layer 0 is the embedding, the last one is ordinary surprisal. All are in bits in tables, in nats before.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

RENYI_KIND, TEMPERATURE_KIND, LAYER_KIND = "renyi_", "surprisal_t", "surprisal_layer_"
ALL_LAYERS = f"{LAYER_KIND}all"
EXPECTED_PREDICTOR_TEXT = (
    f"{RENYI_KIND}A (A above 0, not 1, or inf), {TEMPERATURE_KIND}T (T above 0), {LAYER_KIND}L or {ALL_LAYERS}, as in "
    "renyi_2 or surprisal_t2.5"
)


class Predictor(NamedTuple):
    """A predictor: its name, its kind, and the order, temperature or layer; `row_count` are those that a token table has of it.

    An entropy has one, surprisal two: log-probability and log boundary mass.
    """

    name: str
    kind: str
    value: float

    @property
    def row_count(self) -> int:
        """Return the number of rows in a token table."""
        return 1 if self.kind == RENYI_KIND else 2

    @property
    def power(self) -> float | None:
        """Return the exponent of probabilities that it needs the sum of, if it does."""
        if self.kind == LAYER_KIND or math.isinf(self.value):
            return None
        return self.value if self.kind == RENYI_KIND else 1 / self.value


def parse_predictor(name: str) -> Predictor:
    """Return the predictor of that name, or raise `ValueError`.

    >>> parse_predictor("renyi_0.50").name, parse_predictor("surprisal_layer_3").value
    ('renyi_0.5', 3.0)
    """
    found = re.fullmatch(rf"({LAYER_KIND}|{RENYI_KIND}|{TEMPERATURE_KIND})(inf|\d+(?:\.\d+)?)", name)
    kind, value = (found[1], float(found[2])) if found else ("", 0.0)
    fits = {RENYI_KIND: 0 < value != 1, TEMPERATURE_KIND: 0 < value < math.inf, LAYER_KIND: value.is_integer()}.get(kind, False)
    if not fits:
        why = "; the entropy of order 1 is the column entropy" if (kind, value) == (RENYI_KIND, 1) else ""
        raise ValueError(f"predictor {name!r} is not known; expected {EXPECTED_PREDICTOR_TEXT}{why}")
    return Predictor(f"{kind}{value:.12g}", kind, value)


def is_canonical(name: str) -> bool:
    """Whether this is a predictor's name, as it is written in tables."""
    try:
        return parse_predictor(name).name == name
    except ValueError:
        return False


def expand_predictors(names: Iterable[str], layers: int | None, model: str) -> list[str]:
    """Return predictors by their plain names, each once; of `surprisal_layer_all` those of a model of so many layers.

    >>> expand_predictors(["renyi_2.0", "surprisal_layer_all"], 2, "gpt2")
    ['renyi_2', 'surprisal_layer_0', 'surprisal_layer_1', 'surprisal_layer_2']
    """
    result: dict[str, None] = {}
    for name in names:
        of_layers = [] if name == ALL_LAYERS else [parse_predictor(name)]
        if layers is None:
            raise ValueError(f"model {model}: predictor {name!r} needs a causal model whose layers and probabilities are here")
        if name == ALL_LAYERS:
            of_layers = [parse_predictor(f"{LAYER_KIND}{k}") for k in range(layers + 1)]
        for one in of_layers:
            if one.kind == LAYER_KIND and one.value > layers:
                raise ValueError(f"predictor {name!r}: model {model} has layers 0 (the embedding) to {layers}")
            result[one.name] = None
    return list(result)
