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

RENYI, TEMPERATURE, LAYER = "renyi_", "surprisal_t", "surprisal_layer_"
ALL = f"{LAYER}all"
EXPECTED = f"{RENYI}A (A above 0, not 1, or inf), {TEMPERATURE}T (T above 0), {LAYER}L or {ALL}, as in renyi_2 or surprisal_t2.5"


class Predictor(NamedTuple):
    """A predictor: its name, its kind, and the order, temperature or layer; `rows` are those that a token table has of it.

    An entropy has one, surprisal two: log-probability and log boundary mass.
    """

    name: str
    kind: str
    value: float

    @property
    def rows(self) -> int:
        """Return the number of rows in a token table."""
        return 1 if self.kind == RENYI else 2

    @property
    def power(self) -> float | None:
        """Return the exponent of probabilities that it needs the sum of, if it does."""
        if self.kind == LAYER or math.isinf(self.value):
            return None
        return self.value if self.kind == RENYI else 1 / self.value


def predictor(name: str) -> Predictor:
    """Return the predictor of that name, or raise `ValueError`.

    >>> predictor("renyi_0.50").name, predictor("surprisal_layer_3").value
    ('renyi_0.5', 3.0)
    """
    found = re.fullmatch(rf"({LAYER}|{RENYI}|{TEMPERATURE})(inf|\d+(?:\.\d+)?)", name)
    kind, value = (found[1], float(found[2])) if found else ("", 0.0)
    fits = {
        RENYI: 0 < value != 1,
        TEMPERATURE: 0 < value < math.inf,
        LAYER: value.is_integer(),
    }.get(kind, False)
    if not fits:
        why = "; the entropy of order 1 is the column entropy" if (kind, value) == (RENYI, 1) else ""
        raise ValueError(f"predictor {name!r} is not known; expected {EXPECTED}{why}")
    return Predictor(f"{kind}{value:.12g}", kind, value)


def is_plain(name: str) -> bool:
    """Whether this is a predictor's name, as it is written in tables."""
    try:
        return predictor(name).name == name
    except ValueError:
        return False


def expanded(names: Iterable[str], layers: int | None, model: str) -> list[str]:
    """Return predictors by their plain names, each once; of `surprisal_layer_all` those of a model of so many layers.

    >>> expanded(["renyi_2.0", "surprisal_layer_all"], 2, "gpt2")
    ['renyi_2', 'surprisal_layer_0', 'surprisal_layer_1', 'surprisal_layer_2']
    """
    result: dict[str, None] = {}
    for name in names:
        of_layers = [] if name == ALL else [predictor(name)]
        if layers is None:
            raise ValueError(
                f"model {model}: predictor {name!r} needs a causal model whose layers and probabilities are here"
            )
        if name == ALL:
            of_layers = [predictor(f"{LAYER}{k}") for k in range(layers + 1)]
        for one in of_layers:
            if one.kind == LAYER and one.value > layers:
                raise ValueError(f"predictor {name!r}: model {model} has layers 0 (the embedding) to {layers}")
            result[one.name] = None
    return list(result)
