"""The token table: what a causal model says of a sentence, token by token; everything else is computed from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .encoding import EncodedText

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TokenTable:
    """A row for each of n tokens and one for the end; row j describes the distribution that predicts token j.

    `logprob` is the token's log-probability; in the last row, of the end of the text. `log_boundary` is the log of the
    mass of what begins a new word or ends the text; in the first row, where nothing marks the first word, of whatever
    can open a text. `entropy` is the distribution's, `renyi` its Rényi entropy of order 1/2, 2 log sum sqrt(p). All in
    nats; NaN where it was not asked for, each an array of length n + 1. `windows` counts the windows that a text longer than
    the model's was scored in. `predictors` has the rows of further predictors (`models.predictors`) by name, [row, n + 1], in nats.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> (table,) = model.forward([model.encode("A dog barks.")])
    >>> table.to_frame()[["start", "end", "logprob"]].round(2).values.tolist()
    [[0, 1, -1.26], [1, 5, -1.26], [5, 11, -0.63], [11, 12, -0.51], [12, 12, -0.43]]
    """

    encoded_text: EncodedText
    logprob: np.ndarray
    log_boundary: np.ndarray
    entropy: np.ndarray
    renyi: np.ndarray
    windows: int = 1
    predictors: Mapping[str, np.ndarray] = field(default_factory=dict)

    def to_frame(self) -> "pd.DataFrame":
        """Return the n + 1 rows as a data frame: token, start, end, logprob, log_boundary, entropy, renyi (nats)."""
        import pandas as pd

        starts, ends = zip(*self.encoded_text.spans, strict=True)
        return pd.DataFrame(
            {
                "token": pd.array([*self.encoded_text.ids, None], dtype="Int64"),
                "start": pd.array([*starts, ends[-1]], dtype="Int64"),
                "end": pd.array([*ends, ends[-1]], dtype="Int64"),
                "logprob": self.logprob,
                "log_boundary": self.log_boundary,
                "entropy": self.entropy,
                "renyi": self.renyi,
            }
        )
