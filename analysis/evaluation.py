"""How often a language model prefers the grammatical member of a pair."""

import pandas as pd

from gardenpath.study import DataError, check

MODEL = ["model", "protocol"]


def accuracy(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the share of pairs whose grammatical member scores higher, by paradigm and over all, 0 to 1.

    A tie is half a success. 95 % Wilson intervals (doi 10.1080/01621459.1927.10502953) treat pairs as independent, so
    they speak of further pairs of the same paradigms, not of further paradigms; the mean over paradigms has none.

    >>> rows = [("m", "p", "agreement", "number", f"i{i}", "lp", -20.0, -20.0 - i, i > 0, i == 0) for i in range(4)]
    >>> names = "model protocol phenomenon paradigm item measure grammatical ungrammatical correct tie".split()
    >>> accuracy(pd.DataFrame(rows, columns=names))[["paradigm", "n", "ties", "accuracy"]].to_numpy().tolist()
    [['number', 4, 1, 0.875], ['mean', 4, 1, 0.875], ['pooled', 4, 1, 0.875]]
    """
    if pairs.empty:
        raise DataError("table pairs has no rows; expected one for each pair, model and measure")
    scored = pairs.assign(success=(pairs["correct"] & ~pairs["tie"]) + pairs["tie"] / 2)
    family = [*MODEL, "measure"]
    paradigms = _counts(scored, [*family, "phenomenon", "paradigm"])
    pooled = _counts(scored, family).assign(phenomenon="all", paradigm="pooled")
    mean = paradigms.groupby(family, sort=False).agg(
        n=("n", "sum"), ties=("ties", "sum"), accuracy=("accuracy", "mean")
    )
    mean = mean.reset_index().assign(
        phenomenon="all", paradigm="mean", wilson_low=float("nan"), wilson_high=float("nan")
    )
    table = pd.concat([paradigms, mean, pooled], ignore_index=True).drop(columns="successes")
    return check(table.sort_values(family, kind="stable"), "accuracy")


def _counts(scored: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    grouped = scored.groupby(by, sort=False)
    table = grouped.agg(n=("success", "size"), ties=("tie", "sum"), successes=("success", "sum")).reset_index()
    low, high = wilson(table["successes"], table["n"])
    return table.assign(accuracy=table["successes"] / table["n"], wilson_low=low, wilson_high=high)


def wilson(successes: pd.Series, n: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return both ends of the 95 % Wilson score interval; `successes` may hold halves.

    >>> low, high = wilson(pd.Series([8]), pd.Series([10]))
    >>> low.round(3).item(), high.round(3).item()
    (0.49, 0.943)
    """
    z = 1.959963984540054  # the normal quantile at .975
    centre = (successes + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * (successes * (n - successes) / n + z**2 / 4) ** 0.5
    return (centre - half).clip(lower=0), (centre + half).clip(upper=1)
