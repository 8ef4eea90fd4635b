"""Likelihoods with more than one peak: `fit` takes the highest, held to a grid of the whole likelihood and to R."""

import itertools
from collections import deque

import glmm
import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from gardenpath.analysis import fit
from gardenpath.analysis.engines import glmm_engine
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.engines.glmm_engine import PEAKS_NOTE, estimate_model, fit_highest_peak
from gardenpath.analysis.engines.likelihood_peaks import build_criterion, compute_cross_products
from gardenpath.analysis.modelling.mixed_models import columns_of

FORMULA = "y ~ x + (1|participant) + (1|item)"
SLOPES = "y ~ x + (1 + x|participant) + (1 + x|item)"
WORDS = FORMULA + " + (1|token)"
SEEDS = [3, 4, 9]  # glmm's own start ends on the lower peak
PEAKED = {1: False, 3: True, 4: True, 5: False, 11: True}  # where words are read: whether glmm's own start ends on the lower peak


def two_lists(seed: int, *, readers: int = 18, items: int = 9) -> pd.DataFrame:
    """Return two lists of items, each read by other people; the second list's regions are longer.

    What differs between lists is then no effect in the model, but variance of readers, or of items.
    """
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(2 * readers), np.arange(items), indexing="ij"))
    of = p % 2
    item = of * items + i
    x = np.where((p // 2 + i) % 3 == 0, -0.5, 0.5)
    y = 0.7 * of + rng.normal(0, 0.2, 2 * readers)[p] + rng.normal(0, 0.05, 2 * items)[item] - 0.1 * x
    y = y + rng.normal(0, 0.17, len(p))
    return pd.DataFrame({"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in item], "x": x, "y": y})


def two_lists_of_words(seed: int, *, words: int = 3) -> pd.DataFrame:
    """Return the same with several words an item, each with a difficulty of its own."""
    rows = two_lists(seed).merge(pd.DataFrame({"word": range(words)}), how="cross")
    rows["token"] = rows["item"] + ":" + rows["word"].astype(str)
    rng = np.random.default_rng(seed + 100)
    hard = dict(zip(rows["token"].unique(), rng.normal(0, 0.1, rows["token"].nunique()), strict=True))
    return rows.assign(y=rows["y"] + rows["token"].map(hard) + rng.normal(0, 0.2, len(rows)))


def profile(frame: pd.DataFrame, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return -2 log restricted likelihood of FORMULA with these standard deviations over the residual's; estimates, SE."""
    design = np.column_stack([np.ones(len(frame)), frame["x"]])
    covariance = np.eye(len(frame))
    for group, deviation in zip(("participant", "item", "token"), theta, strict=False):
        names = frame[group].to_numpy()
        covariance += deviation**2 * (names[:, None] == names[None, :])
    weighted = np.linalg.solve(covariance, np.column_stack([design, frame["y"]]))
    information = design.T @ weighted[:, :2]
    beta = np.linalg.solve(information, design.T @ weighted[:, 2])
    left = frame["y"].to_numpy() - design @ beta
    freedom = len(frame) - 2
    residual = left @ np.linalg.solve(covariance, left) / freedom
    volume = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    criterion = volume + freedom * (1 + np.log(2 * np.pi * residual))
    return criterion, beta, np.sqrt(np.diag(np.linalg.inv(information)) * residual)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_highest_peak_of_a_grid_over_all_variances_is_taken(seed: int) -> None:
    frame = two_lists(seed)
    sizes = [0.0, *np.geomspace(0.05, 8, 8)]
    grid = {at: profile(frame, np.array(at))[0] for at in itertools.product(sizes, sizes)}
    start = np.array(min(grid, key=lambda at: grid[at]))
    top = optimize.minimize(
        lambda theta: profile(frame, theta)[0], start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}
    )
    criterion, beta, se = profile(frame, top.x)
    columns = columns_of(frame, parse_formula(FORMULA))
    found = estimate_model(columns, parse_formula(FORMULA))
    assert found.criterion == pytest.approx(criterion, abs=1e-4)
    np.testing.assert_allclose(found.coefficients["estimate"], beta, atol=1e-5)
    np.testing.assert_allclose(found.coefficients["se"], se, rtol=1e-3)
    import glmm

    assert -2 * glmm.fit(columns, FORMULA).loglik > criterion + 1
    assert PEAKS_NOTE in found.notes


@pytest.mark.parametrize("theta", [(0.5, 1.5, 0.3), (2.0, 0.1, 0.1), (0.02, 0.02, 3.0)])
def test_the_likelihood_of_coarse_searches_is_that_of_the_whole_covariance(theta: tuple[float, ...]) -> None:
    frame = two_lists_of_words(1)
    criterion = build_criterion(columns_of(frame, parse_formula(WORDS)), parse_formula(WORDS), reml=True)
    assert criterion is not None
    assert criterion(np.log(theta)) == pytest.approx(profile(frame, np.array(theta))[0], abs=1e-6)


@pytest.mark.parametrize("inner", ["item", "participant", "word"])  # within what tokens are; words cross all
def test_cross_products_give_the_peak_of_the_whole_covariance(inner: str) -> None:
    frame = two_lists_of_words(1)
    if inner != "item":  # tokens there are already within items
        frame["token"] = frame[inner].astype(str) + (":" + frame["word"].astype(str) if inner == "participant" else "")
    groups = ("participant", "item", "token")
    codes = [pd.factorize(frame[group])[0] for group in groups]
    design, response = np.column_stack([np.ones(len(frame)), frame["x"]]), frame["y"].to_numpy()
    products = compute_cross_products(codes, design, response)
    assert products is not None
    kept = [code[:, None] == code[None, :] for code in codes]

    def estimate(deviations: np.ndarray) -> tuple[float, np.ndarray, float]:
        """Return -2 log likelihood, coefficients and residual variance from the covariance of all readings."""
        covariance = np.eye(len(frame)) + sum(d**2 * same for d, same in zip(deviations, kept, strict=True))
        beta = np.linalg.solve(design.T @ np.linalg.solve(covariance, design), design.T @ np.linalg.solve(covariance, response))
        left = response - design @ beta
        residual = left @ np.linalg.solve(covariance, left) / len(frame)
        return np.linalg.slogdet(covariance)[1] + len(frame) * (1 + np.log(2 * np.pi * residual)), beta, residual

    found, converged = products.find_nearby_peak([0.5, 0.5, 0.5])
    top, beta, residual = estimate(found)
    assert converged
    assert products.compute_criterion(np.log(np.maximum(found, 1e-9)), reml=False) == pytest.approx(top, abs=1e-6)
    for k, step in itertools.product(range(3), (0.9, 1.1)):
        moved = np.maximum(found, 0.01)
        moved[k] *= step
        assert estimate(moved)[0] > top
    slopes, variance = products.estimate(found)
    np.testing.assert_allclose(slopes, beta, atol=1e-8)
    assert variance == pytest.approx(residual, rel=1e-8)


def test_a_predictor_made_of_others_has_no_estimate_from_cross_products() -> None:
    frame = two_lists(1)
    design = np.column_stack([np.ones(len(frame)), frame["x"], 2 * frame["x"] + 1])
    products = compute_cross_products([pd.factorize(frame[g])[0] for g in ("participant", "item")], design, frame["y"].to_numpy())
    assert products is not None
    with pytest.raises(np.linalg.LinAlgError):
        products.estimate(np.array([0.5, 0.5]))


@pytest.mark.parametrize("rows", [0, 10_000])  # from how many on coarse searches say which starts are fitted
@pytest.mark.filterwarnings("ignore:Caution")
def test_of_three_groups_the_highest_peak_is_taken(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import glmm

    monkeypatch.setattr(glmm_engine, "COARSE_SEARCH_ROWS", rows)
    for seed, lower_first in PEAKED.items():
        columns = columns_of(two_lists_of_words(seed), parse_formula(WORDS))
        starts = itertools.product([0.05, 1, 3], repeat=3)
        ends = [glmm.fit(columns, WORDS, warm_start={"theta": list(start)}).loglik for start in starts]
        found, several = fit_highest_peak(columns, parse_formula(WORDS))
        assert found.loglik == pytest.approx(max(ends), abs=1e-4)
        assert several or not lower_first
        assert (glmm.fit(columns, WORDS).loglik < max(ends) - 1) == lower_first


@pytest.mark.filterwarnings("ignore:Caution")
def test_slopes_start_from_the_peak_of_their_model_without_which_is_not_fitted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[str] = []
    fitted = glmm.fit
    monkeypatch.setattr(glmm, "fit", lambda *given, **more: fits.append(given[1]) or fitted(*given, **more))

    def slopes(frame: pd.DataFrame, before: pd.DataFrame | None = None) -> tuple[float, int]:
        """Return log likelihood and number of fits of the model with slopes, after one without of other rows, or of none."""
        monkeypatch.setattr(glmm_engine, "_RECENT_PEAKS", deque(maxlen=2))
        if before is not None:
            fit_highest_peak(columns_of(before, parse_formula(FORMULA)), parse_formula(FORMULA))
        fits.clear()
        best, _ = fit_highest_peak(columns_of(frame, parse_formula(SLOPES)), parse_formula(SLOPES))
        return best.loglik, len(fits)

    for seed in SEEDS:
        frame = two_lists(seed)
        alone, most = slopes(frame)
        assert slopes(frame, before=frame) == (alone, most - fits_without(frame))
        assert slopes(frame, before=frame.assign(y=-frame["y"])) == (alone, most)


def fits_without(frame: pd.DataFrame) -> int:
    """Return how many fits the model without slopes takes: from each of three starts, and once more where the first was lower."""
    columns = columns_of(frame, parse_formula(FORMULA))
    return 3 + (glmm.fit(columns, FORMULA).loglik < fit_highest_peak(columns, parse_formula(FORMULA))[0].loglik - 1e-3)


@pytest.mark.r
@pytest.mark.parametrize("formula", [FORMULA, SLOPES])
def test_the_peak_is_the_highest_that_lme4_finds_from_anywhere(formula: str, rscript) -> None:
    """R: logLik(lmer(formula, start = c(...))) over a grid of starts."""
    frames = {seed: two_lists(seed) for seed in SEEDS}
    rows = pd.concat([frame.assign(seed=seed) for seed, frame in frames.items()])
    starts = "expand.grid(p = c(.05, 1, 3), i = c(.05, 1, 3))"
    theta = "c(s$p, 0, .3, s$i, 0, .3)" if formula == SLOPES else "c(s$p, s$i)"
    theirs = rscript(
        f"""
        result <- do.call(rbind, lapply(split(rows, rows$seed), function(part) {{
          starts <- {starts}
          fits <- lapply(seq_len(nrow(starts)), function(k) {{
            s <- starts[k, ]
            suppressMessages(suppressWarnings(lmerTest::lmer({formula}, part, start = {theta})))
          }})
          best <- fits[[which.max(sapply(fits, logLik))]]
          row <- coef(summary(best))["x", ]
          data.frame(seed = part$seed[1], loglik = as.numeric(logLik(best)), estimate = row[["Estimate"]],
                     se = row[["Std. Error"]], df = row[["df"]])
        }}))
        """,
        rows=rows,
    ).set_index("seed")
    for seed, frame in frames.items():
        found = estimate_model(columns_of(frame, parse_formula(formula)), parse_formula(formula))
        row = found.coefficients.set_index("term").loc["x"]
        assert -found.criterion / 2 == pytest.approx(theirs["loglik"][seed], abs=1e-3)
        assert row["estimate"] == pytest.approx(theirs["estimate"][seed], abs=1e-5)
        assert row["se"] == pytest.approx(theirs["se"][seed], rel=1e-3)
        assert row["df"] == pytest.approx(theirs["df"][seed], rel=2e-2)


def test_a_table_says_that_there_was_another_peak_and_stays_silent_where_there_was_none() -> None:
    assert fit(two_lists(SEEDS[0]), FORMULA)["note"].str.contains("more than one peak").all()
    frame = two_lists(SEEDS[0])
    alone = frame.assign(y=frame["y"] - 0.7 * frame["item"].isin([f"i{k}" for k in range(9, 18)]))
    assert not fit(alone, FORMULA)["note"].str.contains("peak").any()


def test_maximum_likelihood_takes_the_highest_peak_too() -> None:
    columns = columns_of(two_lists(4), parse_formula(FORMULA))
    found, several = fit_highest_peak(columns, parse_formula(FORMULA), reml=False, satterthwaite=False)
    import glmm

    assert several
    assert found.loglik > glmm.fit(columns, FORMULA, reml=False).loglik + 1


def test_the_order_of_groups_in_a_formula_changes_no_number() -> None:
    frame = two_lists(5)
    ways = [fit(frame, f"y ~ x + {random}") for random in ("(1 + x|participant) + (1|item)", "(1|item) + (1 + x|participant)")]
    for name in ("estimate", "se"):
        np.testing.assert_allclose(ways[0][name], ways[1][name], atol=1e-7)
    assert ways[0]["formula"].iloc[0] == "y ~ x + (1 + x|participant) + (1|item)"


def test_a_start_from_which_glmm_fails_is_taken_close_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """glmm 0.6.2 ends some searches with an index out of range, as a `ValueError`."""
    columns = columns_of(two_lists(SEEDS[0]), parse_formula(FORMULA))
    expected, _ = fit_highest_peak(columns, parse_formula(FORMULA))
    fitted = glmm.fit
    tried: list[list[float]] = []

    def fails_once(*data: object, warm_start: dict[str, list[float]] | None = None, **options: object) -> object:
        if warm_start:
            tried.append(warm_start["theta"])
            if len(tried) == 1:
                raise ValueError("range start index 1550 out of range for slice of length 0")
        return fitted(*data, **({"warm_start": warm_start} if warm_start else {}), **options)

    monkeypatch.setattr(glmm, "fit", fails_once)
    found, _ = fit_highest_peak(columns, parse_formula(FORMULA))
    assert tried[1] == pytest.approx([1.05 * value for value in tried[0]])
    assert found.loglik == pytest.approx(expected.loglik, abs=1e-4)
