"""How often a language model prefers the grammatical member of a pair."""

import pandas as pd

from gardenpath.study import DataError, check

from ..intervals import wilson_interval

MODEL_KEY = ["model", "protocol"]
PAIR_KEY = ["paradigm", "item"]
MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS = ("mean", "pooled")  # in the column paradigm: rows that stand for several paradigms
ALL_PHENOMENA = "all"  # in the column phenomenon: rows that stand for every phenomenon


def compute_accuracy(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the share of pairs whose grammatical member scores higher, by paradigm, phenomenon and over all, 0 to 1.

    A tie is half a success. 95 % Wilson intervals (doi 10.1080/01621459.1927.10502953) treat pairs as independent, so
    they speak of further pairs of the same paradigms, not of further paradigms; the mean over paradigms has none.
    `delta` is the mean of the grammatical less the ungrammatical member's score (nats), a tie being 0. A table without
    rows is a `DataError`.

    >>> rows = [("m", "p", "agreement", "number", f"i{i}", "lp", -20.0, -20.0 - i, i > 0, i == 0) for i in range(4)]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> table = compute_accuracy(pd.DataFrame(rows, columns=names))
    >>> table[["phenomenon", "paradigm", "n_pairs", "n_ties", "accuracy", "delta"]].to_numpy().tolist()[:2]
    [['agreement', 'number', 4, 1, 0.875, 1.5], ['agreement', 'pooled', 4, 1, 0.875, 1.5]]
    """
    if pairs.empty:
        raise DataError("table pairs has no rows; expected one for each pair, model and measure")
    scored = score_pairs(pairs)
    family = [*MODEL_KEY, "measure"]
    paradigms = count_wins(scored, [*family, "phenomenon", "paradigm"])
    phenomena = count_wins(scored, [*family, "phenomenon"]).assign(paradigm=POOLED_OVER_PAIRS)
    pooled = count_wins(scored, family).assign(phenomenon=ALL_PHENOMENA, paradigm=POOLED_OVER_PAIRS)
    mean = paradigms.groupby(family, sort=False).agg(
        n_pairs=("n_pairs", "sum"), n_ties=("n_ties", "sum"), accuracy=("accuracy", "mean"), delta=("delta", "mean")
    )
    mean = mean.reset_index().assign(
        phenomenon=ALL_PHENOMENA, paradigm=MEAN_OVER_PARADIGMS, wilson_low=float("nan"), wilson_high=float("nan")
    )
    table = pd.concat([paradigms, phenomena, mean, pooled], ignore_index=True).drop(columns="successes")
    return check(table.sort_values(family, kind="stable"), "accuracy")


def build_model_table(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy table as papers print it: a row for each phenomenon, a column for each model, 0 to 1.

    The last rows of a measure are the mean over paradigms and the value pooled over pairs. A model scored under several
    protocols has a column for each, named. A phenomenon that a model was not asked about stays empty.
    `accuracy` is the table of that name; without its rows over phenomena it is a `DataError`.

    >>> rows = [(m, "p", "npi", "ever", "i0", "lp", -20.0, -21.0, m == "a", False) for m in "ab"]
    >>> names = "model protocol phenomenon paradigm item measure score_grammatical score_ungrammatical correct tie".split()
    >>> build_model_table(compute_accuracy(pd.DataFrame(rows, columns=names))).to_numpy().tolist()
    [['lp', 'npi', 1.0, 0.0], ['lp', 'mean', 1.0, 0.0], ['lp', 'pooled', 1.0, 0.0]]
    """
    over = accuracy[accuracy["paradigm"].isin([MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS])]
    if over.empty:
        raise DataError("table accuracy has no rows over phenomena; expected the table that accuracy returns")
    again = over.groupby("model")["protocol"].transform("nunique") > 1
    rows = over.assign(
        phenomenon=over["phenomenon"].mask(over["phenomenon"] == ALL_PHENOMENA, over["paradigm"]),
        model=over["model"].mask(again, over["model"] + " (" + over["protocol"] + ")"),
    )
    wide = rows.pivot_table("accuracy", ["measure", "phenomenon"], "model", aggfunc="first")
    phenomena = [*over.loc[over["phenomenon"] != ALL_PHENOMENA, "phenomenon"].unique(), MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS]
    row_order = pd.MultiIndex.from_product([rows["measure"].unique(), phenomena], names=wide.index.names)
    wide = wide.reindex(index=row_order, columns=rows["model"].unique()).dropna(how="all")
    return wide.reset_index().rename_axis(columns=None)


def compute_wins(pairs: pd.DataFrame) -> "pd.Series[float]":
    """Return 1 for a pair won, 0 for one lost, one half for a tie."""
    return pairs["tie"] / 2 + (pairs["correct"] & ~pairs["tie"])


def score_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with `compute_wins`, and with `delta`, the difference of the scores (nats), 0 of a tie."""
    return pairs.assign(
        won=compute_wins(pairs), delta=(pairs["score_grammatical"] - pairs["score_ungrammatical"]).mask(pairs["tie"], 0.0)
    )


def count_wins(scored: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return, of `score_pairs`, n, ties, successes, accuracy with its Wilson interval, and mean delta by the columns `by`."""
    grouped = scored.groupby(by, sort=False)
    table = grouped.agg(
        n_pairs=("won", "size"), n_ties=("tie", "sum"), successes=("won", "sum"), delta=("delta", "mean")
    ).reset_index()
    low, high = wilson_interval(table["successes"], table["n_pairs"])
    return table.assign(accuracy=table["successes"] / table["n_pairs"], wilson_low=low, wilson_high=high)
