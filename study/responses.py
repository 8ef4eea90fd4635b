"""Responses that models are fitted to: what each is, where its trials stand, and how tables, figures and texts call it.

Tasks name the responses that they give; formulas, plans, power, preregistration and report read the rest here. A further
response is one entry.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TIMES_TABLE, RATINGS_TABLE, BINARY_TABLE = "region_times", "rating_scores", "binary_responses"


@dataclass(frozen=True, kw_only=True)
class Response:
    """A response of a trial.

    `name` is its column on the left of a formula. A sentence says that its `noun` was measured, and of one whose task has no other
    response `done` says what participants did; axes and headings have its
    `label`, those of means `means_label`. `unit` is that of an effect on it. `table` is the table of results that holds its
    trials, `task` names the task whose answers these are where it is of one alone, and `family` is that of its models. `raw` is
    the response of the same trials on the scale as measured, called `raw_label` and `raw_unit`, empty where this is one; a
    response that has one is modelled unless a study declares other models. `categories` is the response of the same trials as
    ordered categories.

    Where `is_standardised` it is a z score within participant and prompt, and `raw` is what is standardised: the number as it was
    given, or the natural logarithm of a positive one (`transformation`).

    `simulated_as` is the response that simulations of studies draw for it, None where they draw none; then
    `simulated_unit` is the unit of an effect there, and `effect_key` names its effects in [simulate]. `prompt_kind` is the kind of
    answers whose prompts it shares with other responses, `source` whom one cites for it. `sesoi_example` is a smallest effect of
    interest as one may be stated; one that `has_regions` is measured region by region, any other of a whole sentence; `absence`
    says what there is none of.

    >>> RESPONSES["log_rt"].unit, RESPONSES["z"].raw
    ('log ms', 'rating')
    """

    name: str
    noun: str
    done: str = ""
    label: str
    means_label: str
    unit: str
    table: str
    family: Literal["gaussian", "binomial"] = "gaussian"
    task: str = ""
    raw: str = ""
    raw_label: str = ""
    raw_unit: str = ""
    categories: str = ""
    is_standardised: bool = False
    transformation: Literal["none", "log"] = "none"
    simulated_as: str | None = None
    simulated_unit: str = ""
    effect_key: str = ""
    prompt_kind: str = ""
    source: str = ""
    sesoi_example: float = 0.5
    has_regions: bool = False
    absence: str = "no trial of these paradigms was measured there"

    @property
    def effect_unit(self) -> str:
        """The unit of an effect on it as a caption says it."""
        kind = "log " if self.transformation == "log" else ""
        return f"{self.unit} of a participant's {kind}{self.noun}" if self.is_standardised else self.unit


RESPONSES: Mapping[str, Response] = {
    response.name: response
    for response in (
        Response(
            name="z",
            noun="ratings",
            done="Sentences were rated on a scale.",
            label="rating (z)",
            means_label="rating (z)",
            unit="standard deviations",
            table=RATINGS_TABLE,
            task="rating",
            simulated_unit="on the latent scale of ratings (in s.d. of a single one)",
            raw="rating",
            raw_label="rating",
            raw_unit="points of the rating scale",
            categories="rating",
            is_standardised=True,
            simulated_as="rating",
            effect_key="rating",
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
            task="rating",
            categories="rating",
            simulated_as="rating",
            simulated_unit="on the latent scale of ratings (in s.d. of a single one)",
            effect_key="rating",
            prompt_kind="ratings",
        ),
        Response(
            name="log_rt",
            noun="reading times",
            label="log reading time",
            means_label="reading time (ms)",
            unit="log ms",
            table=TIMES_TABLE,
            has_regions=True,
            raw="rt",
            raw_label="reading time of the critical region (sum over its words, ms)",
            raw_unit="ms",
            transformation="log",
            simulated_as="log_rt",
            simulated_unit="log ms",
            effect_key="log_rt",
            sesoi_example=0.03,
        ),
        Response(
            name="rt",
            noun="reading times",
            label="reading time (ms)",
            means_label="reading time (ms)",
            unit="ms",
            table=TIMES_TABLE,
            has_regions=True,
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
            effect_key="accuracy",
            prompt_kind="correct",
            absence="no answer about these paradigms was right or wrong",
        ),
        Response(
            name="first_choice",
            noun="right first choices",
            label="right first choices (log odds)",
            means_label="right first choices (%)",
            unit="log odds",
            table=BINARY_TABLE,
            task="maze",
            simulated_unit="log odds of a right first choice of a word",
            effect_key="first_choice",
            family="binomial",
            has_regions=True,
            absence="no first choice was made there in these paradigms",
        ),
        Response(
            name="yes",
            noun="judgments of yes or no",
            label="yes (log odds)",
            means_label="yes (%)",
            unit="log odds",
            table=BINARY_TABLE,
            task="rating",
            family="binomial",
            simulated_unit="on the latent scale of ratings (in s.d. of a single one)",
            effect_key="rating",
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
            effect_key="rating",
            prompt_kind="chosen",
            absence="no sentence of these paradigms was chosen from a pair",
        ),
        Response(
            name="magnitude",
            noun="magnitude estimates",
            done="The acceptability of sentences was estimated by numbers.",
            label="log magnitude estimate (z)",
            means_label="log magnitude estimate (z)",
            unit="standard deviations",
            table=RATINGS_TABLE,
            task="magnitude_estimation",
            raw="log_magnitude",
            raw_label="log magnitude estimate",
            raw_unit="the natural logarithm of the numbers, exp of which is their ratio",
            is_standardised=True,
            transformation="log",
            simulated_as="magnitude",
            simulated_unit="on the latent scale of acceptability (in s.d. of a single estimate)",
            effect_key="rating",
            prompt_kind="magnitude estimates",
            source="Bard et al., 1996, doi 10.2307/416793",
            sesoi_example=0.3,
            absence="no number was typed for a sentence of these paradigms",
        ),
    )
}


def list_responses(table: str) -> tuple[str, ...]:
    """Return the names of the responses whose trials a table holds, in the order of `RESPONSES`.

    >>> list_responses("rating_scores")
    ('z', 'rating', 'magnitude')
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
# Modelled unless a study declares other models: each with its raw response beside it.
PRIMARY_RESPONSES = tuple(name for name, one in RESPONSES.items() if one.raw)
STANDARDISED_RESPONSES = tuple(name for name, one in RESPONSES.items() if one.is_standardised)
# Tasks whose answers are numbers that are standardised, with how these are transformed before.
RATING_TASKS = {RESPONSES[name].task: RESPONSES[name].transformation for name in STANDARDISED_RESPONSES}


def find_primary(name: str) -> Response:
    """Return the response that is modelled of the same trials as this one, or as its raw one.

    >>> find_primary("rating").name, find_primary("log_magnitude").name, find_primary("log_rt").name
    ('z', 'magnitude', 'log_rt')
    """
    return next(one for one in RESPONSES.values() if one.raw and name in (one.name, one.raw))


def is_standardised(name: str) -> bool:
    """Return whether a column of trials is a z score within participant, so that participants do not differ in its mean."""
    return name in STANDARDISED_RESPONSES


def get_label(measure: str) -> str:
    """Return how a response, or the raw one of a response, is called on an axis.

    >>> get_label("z"), get_label("log_magnitude")
    ('rating (z)', 'log magnitude estimate')
    """
    return RESPONSES[measure].label if measure in RESPONSES else find_primary(measure).raw_label


def parse_rating(task: str, answer: object) -> float | None:
    """Return the number that an answer to a task of `RATING_TASKS` is, None for one that it does not take.

    >>> parse_rating("rating", "-1.5"), parse_rating("magnitude_estimation", "0"), parse_rating("rating", "good")
    (-1.5, None, None)
    """
    try:
        number = float(str(answer))
    except ValueError:
        return None
    return number if math.isfinite(number) and (RATING_TASKS[task] == "none" or number > 0) else None
