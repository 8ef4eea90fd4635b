"""Responses that models are fitted to: what each is, where its trials stand, and how tables, figures and texts call it.

Tasks name the responses that they give; formulas, plans, power, preregistration and report read the rest here. A further
response is one entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TIMES_TABLE, RATINGS_TABLE, BINARY_TABLE = "region_times", "rating_scores", "binary_responses"


@dataclass(frozen=True, kw_only=True)
class Response:
    """A response of a trial.

    `name` is its column on the left of a formula. A sentence says that its `noun` was measured; axes and headings have its
    `label`, those of means `means_label`. `unit` is that of an effect on it. `table` is the table of results that holds its
    trials, and `family` that of its models. `raw` is the response of the same trials on the
    scale as measured, empty where this is one.

    `simulated_as` is the response that simulations of studies draw for it, None where they draw none; then
    `simulated_unit` is the unit of an effect there. `prompt_kind` is the kind of answers whose prompts it shares with other
    responses. `sesoi_example` is a smallest effect of interest as one may be stated; `absence` says what there is none of.

    >>> RESPONSES["log_rt"].unit, RESPONSES["z"].raw
    ('log ms', 'rating')
    """

    name: str
    noun: str
    label: str
    means_label: str
    unit: str
    table: str
    family: Literal["gaussian", "binomial"] = "gaussian"
    raw: str = ""
    simulated_as: str | None = None
    simulated_unit: str = ""
    prompt_kind: str = ""
    sesoi_example: float = 0.5
    absence: str = "no trial of these paradigms was measured there"

    @property
    def has_regions(self) -> bool:
        """Whether it is measured region by region; any other is of a whole sentence."""
        return self.table == TIMES_TABLE


RESPONSES: Mapping[str, Response] = {
    response.name: response
    for response in (
        Response(
            name="z",
            noun="ratings",
            label="rating (z)",
            means_label="rating (z)",
            unit="standard deviations",
            table=RATINGS_TABLE,
            raw="rating",
            simulated_as="rating",
            prompt_kind="ratings",
            sesoi_example=0.3,
        ),
        Response(
            name="rating",
            noun="ratings",
            label="rating",
            means_label="rating",
            unit="points",
            table=RATINGS_TABLE,
            simulated_as="rating",
            simulated_unit="on the latent scale of ratings (in s.d. of a single one)",
            prompt_kind="ratings",
        ),
        Response(
            name="log_rt",
            noun="reading times",
            label="log reading time",
            means_label="reading time (ms)",
            unit="log ms",
            table=TIMES_TABLE,
            raw="rt",
            simulated_as="log_rt",
            simulated_unit="log ms",
            sesoi_example=0.03,
        ),
        Response(
            name="rt",
            noun="reading times",
            label="reading time (ms)",
            means_label="reading time (ms)",
            unit="ms",
            table=TIMES_TABLE,
            sesoi_example=10.0,
        ),
        Response(
            name="correct",
            noun="right answers",
            label="right answers (log odds)",
            means_label="right answers (%)",
            unit="log odds",
            table=BINARY_TABLE,
            family="binomial",
            simulated_as="correct",
            simulated_unit="log odds of a right answer",
            prompt_kind="correct",
            absence="no answer about these paradigms was right or wrong",
        ),
        Response(
            name="yes",
            noun="judgments of yes or no",
            label="yes (log odds)",
            means_label="yes (%)",
            unit="log odds",
            table=BINARY_TABLE,
            family="binomial",
            prompt_kind="ratings",
            absence="no sentence of these paradigms was rated on a scale of two points",
        ),
        Response(
            name="chosen",
            noun="choices between two sentences",
            label="choices (log odds)",
            means_label="choices (%)",
            unit="log odds",
            table=BINARY_TABLE,
            family="binomial",
            simulated_as="chosen",
            simulated_unit="log odds of a choice",
            prompt_kind="chosen",
            absence="no sentence of these paradigms was chosen from a pair",
        ),
    )
}


def list_responses(table: str) -> tuple[str, ...]:
    """Return the names of the responses whose trials a table holds, in the order of `RESPONSES`.

    >>> list_responses("rating_scores")
    ('z', 'rating')
    """
    return tuple(name for name, response in RESPONSES.items() if response.table == table)


def list_simulated_as(simulated: str) -> tuple[str, ...]:
    """Return the responses for which simulations draw `simulated`: a smallest effect may be stated of each.

    >>> list_simulated_as("rating")
    ('z', 'rating')
    """
    return tuple(name for name, response in RESPONSES.items() if response.simulated_as == simulated)


# In the order in which simulated studies are made of them.
SIMULATED_RESPONSES = ("log_rt", *(name for name, one in RESPONSES.items() if one.simulated_as == name != "log_rt"))
