"""What a multiverse says of an effect: how far it depends on the choices, described without a test over them."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from gardenpath.study.config import PLANNED_CHOICE
from gardenpath.study.responses import RESPONSES

from ...row_dicts import list_rows
from .labels import label, listed, region_name, response
from .numbers import counted, decimals, signed
from .sources import Sentence, read_off

# Kinds of choices by their column, and what they are called.
CHOICES = {
    "exclusions": "exclusions",
    "transformation": "scale of the response",
    "random_effects": "random effects",
    "covariates": "covariates",
    "region": "region",
}
EFFECT_KEY = ["model_id", "term"]
NO_TEST = "no test is made over specifications, which are a sample of nothing"


@dataclass(frozen=True)
class CommonScale:
    """Columns in which every specification of an effect compares, with the unit that they are in."""

    middle: str
    low: str
    high: str
    unit: str


def split_effects(grid: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the rows of each effect of a multiverse, in the order of the table."""
    yield from (rows for _, rows in grid.groupby(EFFECT_KEY, sort=False))


def select_distinct(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the specifications of an effect that have an estimate, each fit once."""
    return rows[rows["same_as"].isna() & rows["estimate"].notna()]


def find_common_scale(rows: pd.DataFrame) -> CommonScale:
    """Return the scale on which the specifications of an effect compare: ms where all have it, their unit where it is one, else
    standard deviations of the response.

    >>> rows = pd.DataFrame({"estimate": [0.1, 30.0], "ms": [28.0, None], "unit": ["log ms", "ms"]})
    >>> find_common_scale(rows).unit, find_common_scale(rows.head(1)).middle
    ('s.d. of the response', 'ms')
    """
    fitted = rows[rows["estimate"].notna()]
    if fitted["ms"].notna().all() and len(fitted):
        return CommonScale("ms", "ms_low", "ms_high", "ms")
    if len(fitted["unit"].unique()) == 1:
        return CommonScale("estimate", "ci_low", "ci_high", str(fitted["unit"].iloc[0]))
    return CommonScale("standardised", "standardised_low", "standardised_high", "s.d. of the response")


def name_effect(rows: pd.DataFrame) -> str:
    """Return what an effect is called: the model, what is compared, on which response."""
    planned = list_rows(rows.head(1))[0]
    where = f" of the {region_name(planned['region'])}" if RESPONSES[planned["response"]].has_regions else ""
    prompt = "" if pd.isna(planned["prompt"]) else f", {label(planned['prompt'])}"
    contrast = label(planned["contrast"]).replace(" x ", " × ")
    return f"{label(planned['model'])}, {contrast}, {response(planned['response'])}{where}{prompt}"


def describe_effects(grid: pd.DataFrame) -> list[str]:
    """Return a sentence for each effect: its estimate as planned, and what it is under the other specifications."""
    return [sentence for rows in split_effects(grid) if (sentence := describe_effect(rows))]


def describe_effect(rows: pd.DataFrame) -> str:
    """Return the sentence of one effect; nothing where no specification has an estimate."""
    fitted = select_distinct(rows)
    if fitted.empty:
        return ""
    scale = find_common_scale(fitted)
    values = fitted[scale.middle]
    hypothesis = rows["hypothesis"].iloc[0]
    named = name_effect(rows) if pd.isna(hypothesis) else f"Hypothesis {hypothesis!r}, {name_effect(rows)}"
    planned = fitted[fitted["declared"]]
    places = 0 if scale.unit == "ms" else decimals(_spread(fitted, scale))
    middle, least, most = (signed(one, places) for one in (values.median(), values.min(), values.max()))
    apart = int(((fitted["ci_low"] > 0) | (fitted["ci_high"] < 0)).sum())
    computed = [f"median {scale.middle}", f"min {scale.middle}", f"max {scale.middle}", "count"]
    if planned.empty:
        stated = "no estimate as planned"
        positive = int((values > 0).sum())
        alike, computed = f"{positive} are positive", [*computed, f"count {scale.middle} > 0"]
    else:
        own = float(planned[scale.middle].iloc[0])
        stated = f"{signed(own, places)} {scale.unit} as planned"
        alike = f"{int(((values > 0) == (own > 0)).sum())} have the same sign"
        computed.append(f"count {scale.middle} {'>' if own > 0 else '<='} 0")
    text = (
        f"{named}: {stated}; over {counted(len(fitted), 'specification')} the median is {middle} {scale.unit}, from {least} to "
        f"{most}; {alike}, and the 95% intervals of {apart} leave out zero"
    )
    sentence = read_off(text, "multiverse", fitted, *computed, "count ci_low > 0 or ci_high < 0")
    return _add_troubles(sentence, rows, fitted)


def _spread(rows: pd.DataFrame, scale: CommonScale) -> float:
    """Return about a standard error on a scale: a quarter of an interval."""
    return float((rows[scale.high] - rows[scale.low]).median()) / 4


def _add_troubles(sentence: Sentence, rows: pd.DataFrame, fitted: pd.DataFrame) -> str:
    """Return a sentence with how many specifications have no fit, did not converge, or come to the same as others."""
    troubles = {
        "not fitted": rows[rows["same_as"].isna() & rows["estimate"].isna()],
        "not converged": fitted[~fitted["converged"].astype(bool)],
        "the same as another of these": rows[rows["same_as"].notna()],
    }
    for what, part in troubles.items():
        if len(part):
            text = Sentence(f"{sentence}; {what}: {len(part)}", sentence.sources)
            sentence = read_off(text, "multiverse", part, "count")
    return Sentence(f"{sentence}.", sentence.sources)


def describe_specifications(grid: pd.DataFrame) -> str:
    """Return how the multiverse was made: the choices of each kind, and that nothing is tested over them; nothing without one."""
    if grid.empty:
        return ""
    kinds = []
    for column, name in CHOICES.items():
        choices = [str(choice) for choice in grid[column].drop_duplicates()]
        if grid.groupby(EFFECT_KEY)[column].nunique().max() > 1:
            kinds.append(f"{name} ({', '.join(choices)})")
    sizes = grid.groupby(EFFECT_KEY).size()
    least, most = int(sizes.min()), int(sizes.max())
    number = f"{least}" if least == most else f"{least} to {most}"
    effects = counted(len(sizes), "effect")
    over = f"every combination of choices of {listed(kinds)}" if kinds else "the planned choices alone"
    text = (
        f"{effects[0].upper()}{effects[1:]} {'was' if len(sizes) == 1 else 'were'} estimated under {over}: {number} specifications "
        f"each (Steegen et al., 2016; Simonsohn et al., 2020); {NO_TEST}."
    )
    return read_off(text, "multiverse", grid, "count declared", "specification + 1")


def describe_choice(column: str, choice: str) -> str:
    """Return a choice as a figure names it.

    >>> describe_choice("covariates", "none"), describe_choice("region", "critical")
    ('no covariates', 'critical region')
    """
    if column == "covariates":
        return "no covariates" if choice == "none" else label(choice)
    if column == "region":
        return region_name(choice)
    return "as planned" if choice == PLANNED_CHOICE else label(choice)
