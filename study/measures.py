"""Measures of sentences under a language model: what each is, and how tables, figures and texts call it.

`lmscore.MEASURES` holds the function that computes each; columns, correlations and labels follow from this list.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A measure: its name in tables and commands, what it is, its label on axes and in sentences, its unit, whom to cite for it.

    `in_scores`: it is a column of sentence_scores; otherwise it only compares the members of a pair. `may_be_empty`: not every
    sentence has it.
    """

    name: str
    meaning: str
    label: str
    unit: str = "nats"
    source: str = ""
    in_scores: bool = True
    may_be_empty: bool = False


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("lp", "log-probability, nats; empty where no token is scored", "log probability", may_be_empty=True),
        Measure("mean_lp", "lp / |s|, nats; empty where no token is scored", "log probability per token", may_be_empty=True),
        Measure(
            "pen_lp",
            "lp / ((5 + |s|) / 6) ^ 0.8, nats; empty where no token is scored",
            "log probability with a length penalty",
            may_be_empty=True,
        ),
        Measure(
            "slor",
            "(lp - log-probability under unigrams of the same tokens) / |s|, nats; empty without unigrams",
            "SLOR",
            "nats per token",
            "Lau et al., 2017",
            may_be_empty=True,
        ),
        Measure(
            "critical_lp",
            "log-probability of the critical region given what precedes it, nats; empty without such a region",
            "log probability of the critical region",
            may_be_empty=True,
        ),
        Measure(
            "one_prefix",
            "critical_lp, nats, of pairs with the same words before two different critical regions",
            "probability of the critical words after one prefix",
            source="Warstadt et al., 2020",
            in_scores=False,
        ),
        Measure(
            "two_prefix",
            "critical_lp, nats, of pairs with the same critical region after different words",
            "probability of the critical words after each prefix",
            source="Warstadt et al., 2020",
            in_scores=False,
        ),
    )
}
SCORE_MEASURES = tuple(measure.name for measure in MEASURES.values() if measure.in_scores)
