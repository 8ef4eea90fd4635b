"""Learning curves: slopes and curves of made accuracies are recovered; intervals are those of a plain double loop and of scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import compute_learning_curves
from gardenpath.analysis.comparing.learning_curves import extrapolate_tokens_needed
from gardenpath.analysis.reporting.wording import minimal_pairs
from gardenpath.study import DataError

SIZES = [2**k * 1e6 for k in range(-3, 7)]  # an eighth of a million to 64 million
SLOPES = {"anaphor": 0.0623, "determiner": 0.0426, "irregular": 0.039, "npi": 0.0078, "islands": 0.0036}


def made(noise: float, samples: int = 5) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracies whose slopes are those published of an LSTM, and their runs."""
    rng = np.random.default_rng(7)
    runs, rows = [], []
    for size in SIZES:
        for sample in range(samples):
            model = f"lstm-{size:g}-{sample}"
            runs.append((model, size, "lstm", f"s{sample}"))
            for phenomenon, slope in SLOPES.items():
                share = 0.55 + slope * (math.log2(size) - math.log2(SIZES[0])) / 2 + rng.normal(0, noise) + sample * noise
                rows.append((model, "p", "lp", phenomenon, "pooled", share))
    names = ["model", "protocol", "measure", "phenomenon", "paradigm", "accuracy"]
    return pd.DataFrame(rows, columns=names), pd.DataFrame(runs, columns=["model", "tokens", "family", "sample"])


def test_slopes_are_recovered() -> None:
    exact = compute_learning_curves(*made(0.0)).set_index("phenomenon")
    assert exact["slope"].to_dict() == pytest.approx({name: slope / 2 for name, slope in SLOPES.items()})
    table = compute_learning_curves(*made(0.004)).set_index("phenomenon")
    for name, slope in SLOPES.items():
        assert table.loc[name, "ci_low"] < slope / 2 < table.loc[name, "ci_high"]
        assert (table.loc[name, "n_models"], table.loc[name, "n_sizes"], table.loc[name, "n_samples"]) == (50, 10, 5)


def test_the_report_says_what_a_doubling_brings() -> None:
    told = minimal_pairs.learning_curves(compute_learning_curves(*made(0.0)))
    assert told[0].startswith("lstm, lp, anaphor: twice as many training tokens bring 3.12 points, 95% CI [")
    assert told[0].endswith("(50 models).")


def test_the_standard_error_takes_the_runs_of_a_sample_together_as_a_double_loop_does() -> None:
    accuracy, runs = made(0.02)
    row = compute_learning_curves(accuracy, runs).set_index("phenomenon").loc["npi"]
    points = accuracy[accuracy["phenomenon"] == "npi"].merge(runs, on="model")
    x = [math.log2(size) for size in points["tokens"]]
    y = list(points["accuracy"])
    n, mean = len(x), sum(x) / len(x)
    spread = sum((a - mean) ** 2 for a in x)
    slope = sum((a - mean) * b for a, b in zip(x, y, strict=True)) / spread
    level = sum(y) / n - slope * mean
    total = 0.0
    for sample in sorted(set(points["sample"])):
        within = 0.0
        for a, b, of in zip(x, y, points["sample"], strict=True):
            if of == sample:
                within += (a - mean) * (b - level - slope * a)
        total += within**2
    se = math.sqrt(total / spread**2 * 5 / 4 * (n - 1) / (n - 2))
    assert row["slope"] == pytest.approx(slope)
    assert row["se"] == pytest.approx(se)
    half = stats.t.ppf(0.975, 4) * se
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(slope - half), pytest.approx(slope + half))


def test_runs_without_samples_have_the_interval_of_an_ordinary_regression() -> None:
    accuracy, runs = made(0.02, samples=1)
    row = compute_learning_curves(accuracy, runs.drop(columns=["sample", "family"])).set_index("phenomenon").loc["islands"]
    points = accuracy[accuracy["phenomenon"] == "islands"].merge(runs, on="model")
    line = stats.linregress(np.log2(points["tokens"]), points["accuracy"])
    assert (row["slope"], row["se"], row["df"]) == (pytest.approx(line.slope), pytest.approx(line.stderr), 8)
    assert pd.isna(row["n_samples"])


def test_the_logistic_curve_is_recovered() -> None:
    upper, rate, midpoint = 0.93, 0.8, 21.0
    shares = [0.5 + (upper - 0.5) / (1 + math.exp(-rate * (math.log2(size) - midpoint))) for size in SIZES]
    rows = [(f"m{k}", "p", "lp", "npi", "pooled", share) for k, share in enumerate(shares)]
    accuracy = pd.DataFrame(rows, columns=["model", "protocol", "measure", "phenomenon", "paradigm", "accuracy"])
    runs = pd.DataFrame({"model": [f"m{k}" for k in range(len(SIZES))], "tokens": SIZES})
    row = compute_learning_curves(accuracy, runs).iloc[0]
    assert (row["upper_asymptote"], row["rate"], row["midpoint"]) == pytest.approx((upper, rate, midpoint), rel=1e-5)
    few = compute_learning_curves(accuracy[:3], runs[:3]).iloc[0]
    assert pd.isna(few["upper_asymptote"])


@pytest.mark.parametrize(("reached", "slope", "people", "tokens"), [(0.466, 0.0036, 0.849, 8.8e39), (0.517, 0.0078, 0.881, 9.3e21)])
def test_the_tokens_that_blimp_extrapolates_to(reached: float, slope: float, people: float, tokens: float) -> None:
    """Islands and NPIs of its LSTM, from 83 million tokens on."""
    assert extrapolate_tokens_needed(83e6, reached, slope, people) == pytest.approx(tokens, rel=0.01)
    assert extrapolate_tokens_needed(83e6, people, slope, reached) is None
    assert extrapolate_tokens_needed(83e6, reached, -slope, people) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": ["many", 2e6]}, "the tokens of model 'a' are no positive number"),
        ({"model": ["a", "c"]}, "model 'c' of the runs has no accuracy; expected one of a, b"),
        ({"model": ["a", "a"]}, "model 'a' stands twice in the runs"),
    ],
)
def test_runs_that_do_not_fit_are_named(change: dict[str, list[object]], message: str) -> None:
    rows = [(m, "p", "lp", "npi", "pooled", 0.6) for m in "ab"]
    accuracy = pd.DataFrame(rows, columns=["model", "protocol", "measure", "phenomenon", "paradigm", "accuracy"])
    with pytest.raises(DataError, match=message):
        compute_learning_curves(accuracy, pd.DataFrame({"model": ["a", "b"], "tokens": [1e6, 2e6]} | change))
