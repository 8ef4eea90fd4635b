"""Means of cells and their Cousineau-Morey intervals, held to a loop written by hand and to R."""

import math
import statistics
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis.measuring.cell_means import compute_cell_means

FACTORS = {"extraction": ["subject", "object"], "noun": ["name", "description", "pronoun"]}


def trials(people: int = 9, seed: int = 3) -> pd.DataFrame:
    """Return trials of a 2 x 3, as many in each cell as it comes, slow and fast participants among them."""
    rng = np.random.default_rng(seed)
    rows = []
    for p in range(people):
        for k in range(40):
            extraction, noun = FACTORS["extraction"][k % 2], FACTORS["noun"][k % 3]
            y = 6 + 0.4 * p + 0.2 * (extraction == "object") - 0.1 * (noun == "name") + 0.3 * rng.normal()
            rows.append((f"P{p}", extraction, noun, y))
    frame = pd.DataFrame(rows, columns=["participant", *FACTORS, "y"])
    return frame.sample(frac=0.8, random_state=1)


def by_hand(rows: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return mean and half of the interval of each cell, by loops over participants and cells."""
    cells = [(a, b) for a in FACTORS["extraction"] for b in FACTORS["noun"]]
    table: dict[str, list[float]] = {}
    for person in sorted(set(rows["participant"])):
        means = []
        for a, b in cells:
            values = [y for p, x, n, y in rows[["participant", *FACTORS, "y"]].to_numpy() if (p, x, n) == (person, a, b)]
            means.append(statistics.fmean(values) if values else math.nan)
        if not any(math.isnan(mean) for mean in means):
            table[person] = means
    grand = statistics.fmean(value for means in table.values() for value in means)
    result = {}
    for j, cell in enumerate(cells):
        normed = [means[j] - statistics.fmean(means) + grand for means in table.values()]
        variance = statistics.variance(normed) * len(cells) / (len(cells) - 1)
        half = stats.t.ppf(0.975, len(table) - 1) * math.sqrt(variance / len(table))
        result[" x ".join(cell)] = (statistics.fmean(means[j] for means in table.values()), half)
    return result


def test_means_and_intervals_are_those_of_a_loop_by_hand() -> None:
    rows = trials()
    table = compute_cell_means(rows, "y", FACTORS)
    expected = by_hand(rows)
    assert list(table["levels"]) == list(expected)
    np.testing.assert_allclose(table["mean_value"], [mean for mean, _ in expected.values()])
    for end, sign in (("ci_low", -1), ("ci_high", 1)):
        np.testing.assert_allclose(table[end], [mean + sign * half for mean, half in expected.values()])
    assert list(table["n_participants"]) == [9] * 6
    assert table["n_trials"].sum() == len(rows)
    assert set(table["factors"]) == {"extraction x noun"}


def test_who_has_an_empty_cell_is_left_out_and_counted() -> None:
    rows = trials()
    rows = rows[~((rows["participant"] == "P3") & (rows["extraction"] == "object") & (rows["noun"] == "name"))]
    table = compute_cell_means(rows, "y", FACTORS)
    assert set(table["n_excluded_participants"]) == {1}
    assert set(table["n_participants"]) == {8}
    pd.testing.assert_frame_equal(
        table.drop(columns="n_excluded_participants"),
        compute_cell_means(rows[rows["participant"] != "P3"], "y", FACTORS).drop(columns="n_excluded_participants"),
    )
    assert table["n_trials"].sum() == (rows["participant"] != "P3").sum()


def test_differences_between_participants_do_not_widen_the_intervals() -> None:
    rows = trials()
    apart = rows.assign(y=rows["y"] + 100 * rows["participant"].str[1:].astype(int))
    narrow, wide = (compute_cell_means(frame, "y", FACTORS) for frame in (rows, apart))
    np.testing.assert_allclose(narrow["ci_high"] - narrow["mean_value"], wide["ci_high"] - wide["mean_value"])


def test_two_cells_have_the_interval_of_their_difference() -> None:
    """With two cells, an interval is that of the paired difference divided by the square root of two."""
    rows = trials()
    table = compute_cell_means(rows, "y", {"extraction": FACTORS["extraction"]})
    means = rows.pivot_table(index="participant", columns="extraction", values="y")
    interval = stats.ttest_rel(means["object"], means["subject"]).confidence_interval()
    half = (interval.high - interval.low) / 2 / math.sqrt(2)
    np.testing.assert_allclose(table["ci_high"] - table["mean_value"], [half, half])


def test_nobody_with_every_cell_has_no_means_and_one_no_interval() -> None:
    rows = trials()
    lacking = np.where(rows["participant"].isin(["P0", "P1"]), "object", "subject")
    first_noun = rows["noun"] == FACTORS["noun"][0]
    apart = rows[~((rows["extraction"] == lacking) & first_noun)]
    nobody = compute_cell_means(apart, "y", FACTORS)
    assert nobody[["n_participants", "n_excluded_participants"]].to_numpy().tolist() == [[0, 9]] * len(nobody)
    assert nobody["mean_value"].isna().all()
    one = compute_cell_means(rows[rows["participant"] == "P0"], "y", FACTORS)
    assert one["mean_value"].notna().all()
    assert one["ci_low"].isna().all()


@pytest.mark.r
def test_the_variances_are_those_of_r(rscript: Callable[..., pd.DataFrame]) -> None:
    code = """
    m <- aggregate(y ~ participant + extraction + noun, rows, mean)
    m$within <- m$y - ave(m$y, m$participant) + mean(m$y)
    cells <- aggregate(within ~ extraction + noun, m, function(v) sqrt(var(v) / length(v)))
    J <- nrow(cells)
    cells$half <- cells$within * sqrt(J / (J - 1)) * qt(.975, length(unique(m$participant)) - 1)
    result <- cells
    """
    rows = trials()
    reference = rscript(code, rows=rows)
    halves = dict(zip(reference["extraction"] + " x " + reference["noun"], reference["half"], strict=True))
    table = compute_cell_means(rows, "y", FACTORS)
    np.testing.assert_allclose(table["ci_high"] - table["mean_value"], [halves[cell] for cell in table["levels"]])


def test_groups_of_participants_have_the_means_and_intervals_that_each_has_alone() -> None:
    rows = [(f"P{p}", "xy"[p % 2], noun, float(p * 3 % 7 + (noun == "b") * p)) for p in range(8) for noun in "ab"]
    frame = pd.DataFrame(rows, columns=["participant", "group", "noun", "z"])
    means = compute_cell_means(frame, "z", {"noun": ["a", "b"], "group": ["x", "y"]})
    assert means["levels"].to_list() == ["a x x", "a x y", "b x x", "b x y"]
    for group in "xy":
        alone = compute_cell_means(frame[frame["group"] == group], "z", {"noun": ["a", "b"]})
        part = means[means["levels"].str.endswith(f" {group}")].reset_index(drop=True)
        columns = ["n_participants", "n_excluded_participants", "n_trials", "mean_value", "ci_low", "ci_high"]
        pd.testing.assert_frame_equal(part[columns], alone[columns])
