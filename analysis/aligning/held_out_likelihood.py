"""How much better reading times are predicted with surprisal than without, on readings held out of the fit."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..engines.formulas import Formula, parse_formula
from ..engines.glmm_engine import fit_from_start, fit_highest_peak
from ..engines.likelihood_peaks import compute_cross_products
from ..intervals import MIN_UNITS, holm, ratio_interval, sign_flip_test
from ..modelling.mixed_models import columns_of
from .predictors import format_formula, get_random_intercepts, is_word_means, list_model_terms, split_by_model

# What is held out together: the column that names it. A story's sentences are items of one paradigm.
CLUSTER_COLUMNS = {"item": "item", "story": "paradigm", "participant": "participant", "row": "item"}
Array = Any


def compute_held_out_clusters(
    aligned: pd.DataFrame, *, lags: int = 2, fold_unit: str = "item", folds: int = 10, seed: int = 1
) -> pd.DataFrame:
    """Return the log density (nats) of each held-out cluster of readings, with surprisal (full) and without (base).

    Both models have random intercepts of participant, item and token (of word means, of item), and are fitted by maximum
    likelihood to the same rows of the other folds. A held-out cluster's density is the joint one of its readings:
    multivariate normal around the fixed effects, with the variance components as fitted. Readings that share a
    participant, an item or a token are correlated, so no single reading has a value of its own.

    `fold_unit` is item (default), story (the column paradigm), participant, or row. Participants and rows leave other readings
    of the same words in the fit, which favours any predictor of words; rows are taken alone and summed by item.
    Clusters are dealt to folds at random from `seed`. Fitted by glmm, whatever engine fits the other models.

    An empty table, or one cluster alone, is a `DataError`; an unknown `fold_unit` or fewer than two folds a `ValueError`.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> cells = [(f"P{p}", f"i{i}", w) for p in range(6) for i in range(4) for w in range(3)]
    >>> rows = pd.DataFrame(cells, columns=["participant", "item", "position"]).assign(model="m", protocol="p")
    >>> rows["token"] = rows["item"] + ":" + rows["position"].astype(str)
    >>> rows[["log_rt", "log_trial", "surprisal", "length", "zipf"]] = random.normal(6, 0.1, (72, 5))
    >>> compute_held_out_clusters(rows, lags=0, folds=2)[["cluster", "n_readings", "converged"]].to_numpy().tolist()
    [['i0', 18, True], ['i1', 18, True], ['i2', 18, True], ['i3', 18, True]]
    """
    if fold_unit not in CLUSTER_COLUMNS:
        raise ValueError(f"folds by {fold_unit!r}; expected one of {', '.join(CLUSTER_COLUMNS)}")
    if folds < 2:
        raise ValueError(f"{folds} folds; expected 2 or more")
    if is_word_means(aligned) and fold_unit == "participant":
        raise ValueError("folds by participant; expected item, story or row: means over readers have no participant")
    full, base = (
        parse_formula(format_formula(list_model_terms(aligned, range(lags + 1), surprisal=with_it), get_random_intercepts(aligned)))
        for with_it in (True, False)
    )
    parts: list[pd.DataFrame] = []
    base_densities: tuple[pd.DataFrame, pd.DataFrame] | None = None  # base models are the same where rows are
    for model, protocol, readings in split_by_model(aligned):
        rows = readings.dropna(subset=list_model_terms(readings, range(lags + 1))).reset_index(drop=True)
        columns_of(rows, full)
        texts = [
            *full.group_columns,
            CLUSTER_COLUMNS[fold_unit],
        ]  # as plain objects, which are taken apart by fold and cluster in half the time
        rows = rows[list(dict.fromkeys([*full.column_names, *texts]))].astype(dict.fromkeys(texts, object))
        fold = _assign_folds(rows, fold_unit, folds, seed)
        if base_densities is None or not base_densities[0].equals(rows[base.column_names]):
            base_densities = rows[base.column_names], _compute_densities(rows, base, fold, fold_unit)
        both = base_densities[1].merge(
            _compute_densities(rows, full, fold, fold_unit), on="cluster", suffixes=("_base", "_full"), validate="1:1"
        )
        parts.append(
            pd.DataFrame(
                {
                    "model": model, "protocol": protocol, "folds_by": fold_unit, "cluster": both["cluster"],
                    "fold": both["fold_full"], "n_readings": both["n_readings_full"],
                    "n_lags": lags, "log_likelihood_without": both["density_base"],
                    "log_likelihood_with": both["density_full"], "converged": both["converged_base"] & both["converged_full"],
                }
            )
        )  # fmt: skip
    if not parts:
        raise DataError("table aligned has no rows; expected a reading of each word, from align")
    return check(pd.concat(parts, ignore_index=True), "held_out_clusters")


def _assign_folds(rows: pd.DataFrame, fold_unit: str, folds: int, seed: int) -> Array:
    """Return the fold of each row."""
    import numpy as np

    rng = np.random.default_rng(seed)
    if fold_unit == "row":
        return rng.permutation(len(rows)) % folds
    column = CLUSTER_COLUMNS[fold_unit]
    names = sorted(rows[column].unique())
    if len(names) < 2:
        raise DataError(f"there is only one {column} ({names[0]}), so none can be held out; expected two or more")
    cluster_index = dict(zip(rng.permutation(names).tolist(), range(len(names)), strict=True))
    return rows[column].map(cluster_index).to_numpy(dtype="int64") % min(folds, len(names))


def _compute_densities(rows: pd.DataFrame, model: Formula, fold: Array, fold_unit: str) -> pd.DataFrame:
    """Return the log density of each cluster under the model fitted to the other folds."""
    import numpy as np

    clusters = rows[CLUSTER_COLUMNS[fold_unit]].astype("string").to_numpy(dtype=object)
    by_cluster: dict[str, dict[str, Any]] = {}
    whole = fit_ml(rows, model)
    codes = [pd.factorize(rows[group])[0] for group, *_ in whole.random]
    design = np.column_stack([_get_predictor(rows, term) for term in whole.fixed])
    response = _get_predictor(rows, model.response)
    for number in sorted(set(fold.tolist())):
        out = fold == number
        fitted = _refit(whole, [code[~out] for code in codes], design[~out], response[~out])
        fitted = fitted or fit_ml(rows[~out], model, nearby_fit=whole)
        held_out = np.flatnonzero(out)
        for name, places in pd.Series(held_out).groupby(clusters[held_out], sort=True):
            cluster = str(name)
            readings = rows.iloc[places.to_numpy()]
            density = fitted.compute_row_densities(readings).sum() if fold_unit == "row" else fitted.compute_joint_density(readings)
            row = by_cluster.setdefault(
                cluster, {"cluster": cluster, "density": 0.0, "n_readings": 0, "converged": True, "fold": number}
            )
            row["density"] += density
            row["n_readings"] += len(readings)
            row["converged"] &= fitted.converged
            row["fold"] = None if fold_unit == "row" else number
    table = pd.DataFrame(list(by_cluster.values()))
    if not np.isfinite(table["density"].to_numpy()).all():
        raise DataError(f"{model}: a held-out density is not finite; exclude what is not finite from the predictors")
    return table.sort_values("cluster", ignore_index=True)


@dataclass(frozen=True)
class FittedModel:
    """A mixed model fitted by maximum likelihood: coefficients by term, covariance of each group's effects, variance."""

    response: str
    fixed: Mapping[str, float]
    random: Sequence[tuple[str, tuple[str, ...], Array]]
    residual: float
    converged: bool

    @property
    def theta(self) -> list[float]:
        """The standard deviations of random intercepts, over the residual's."""
        return [math.sqrt(covariance[0, 0] / self.residual) for _, _, covariance in self.random]

    def compute_joint_density(self, rows: pd.DataFrame) -> float:
        """Return the joint log density of `rows` in nats, their random effects integrated out."""
        import numpy as np
        from scipy import linalg

        residuals, parts = self._compute_residuals(rows), list(self._split_effects(rows))
        n, m = len(rows), sum(levels * weights.shape[1] for _, levels, weights in parts)
        if m >= n:
            covariance = self.residual * np.eye(n)
            for level, _, weights in parts:
                covariance += (weights @ weights.T) * (level[:, None] == level)
            root = linalg.cholesky(covariance, lower=True)
            spread = linalg.solve_triangular(root, residuals, lower=True)
            squared, volume = spread @ spread, 2 * np.log(np.diag(root)).sum()
        else:  # Woodbury: as many equations as random effects, not as readings
            effects = np.hstack([_expand_effects(*part) for part in parts])
            root = linalg.cholesky(np.eye(m) + effects.T @ effects / self.residual, lower=True)
            spread = linalg.solve_triangular(root, effects.T @ residuals, lower=True) / self.residual
            squared = residuals @ residuals / self.residual - spread @ spread
            volume = n * math.log(self.residual) + 2 * np.log(np.diag(root)).sum()
        return float(-0.5 * (n * math.log(2 * math.pi) + volume + squared))

    def compute_row_densities(self, rows: pd.DataFrame) -> Array:
        """Return the log density of each row alone, in nats."""
        import numpy as np

        variance = self.residual + sum((weights**2).sum(axis=1) for _, _, weights in self._split_effects(rows))
        return -0.5 * (np.log(2 * np.pi * variance) + self._compute_residuals(rows) ** 2 / variance)

    def _compute_residuals(self, rows: pd.DataFrame) -> Array:
        mean = sum(slope * _get_predictor(rows, term) for term, slope in self.fixed.items())
        return rows[self.response].to_numpy(dtype="float64") - mean

    def _split_effects(self, rows: pd.DataFrame) -> Iterator[tuple[Array, int, Array]]:
        """Yield for each group the level of each row, how many there are, and W: W W' is the covariance within a level."""
        import numpy as np

        for group, names, covariance in self.random:
            level, levels = pd.factorize(rows[group])
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(values.clip(min=0))
            yield level, len(levels), np.column_stack([_get_predictor(rows, name) for name in names]) @ root


def _expand_effects(level: Array, levels: int, weights: Array) -> Array:
    """Return U, of which U U' is the covariance of a group's effects: a column for each level and effect."""
    import numpy as np

    columns = np.zeros((len(level), levels, weights.shape[1]))
    columns[np.arange(len(level)), level] = weights
    return columns.reshape(len(level), -1)


def _get_predictor(rows: pd.DataFrame, term: str) -> Array:
    import numpy as np

    return np.ones(len(rows)) if term in ("1", "(Intercept)") else rows[term].to_numpy(dtype="float64")


def fit_ml(rows: pd.DataFrame, model: Formula, *, nearby_fit: FittedModel | None = None) -> FittedModel:
    """Return the model of numeric predictors fitted by maximum likelihood, which unlike REML compares fixed effects.

    The highest peak of the likelihood is taken; with `nearby_fit`, a fit with random intercepts to most of the same rows, the peak
    next to that one, in a fraction of the time.
    """
    import warnings

    import numpy as np

    columns = columns_of(rows, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say stands in the fit
        options: dict[str, Any] = {"reml": False, "satterthwaite": False, "anova_test": "Wald"}
        fit = None
        if nearby_fit is not None:
            of = {random.group: random for random in model.random}
            matched_formula = model.replace_random(of[group] for group, *_ in nearby_fit.random)
            fit, _ = fit_from_start(nearby_fit.theta, columns, matched_formula, options)
        if fit is None:
            fit, _ = fit_highest_peak(columns, model, **options)
    random = []
    for group_index, (group, names) in enumerate(fit.re_groups):
        deviations, correlations = fit.stddev_corr(group_index)
        random.append((group, tuple(names), np.outer(deviations, deviations) * np.asarray(correlations)))
    slopes = np.nan_to_num(np.asarray(fit.beta, dtype="float64"))  # a predictor made of others has none
    fixed = dict(zip(fit.names, slopes.tolist(), strict=True))
    return FittedModel(model.response, fixed, random, float(fit.dispersion), bool(fit.converged))


def _refit(whole: FittedModel, codes: Sequence[Array], design: Array, response: Array) -> FittedModel | None:
    """Return a model with random intercepts fitted to a part of its rows, at the peak next to that of all of them; None where cross
    products alone do not give it.
    """
    import numpy as np

    products = compute_cross_products(codes, design, response)
    if products is None:
        return None
    try:
        deviations, converged = products.find_nearby_peak(whole.theta)
        slopes, residual = products.estimate(deviations)
    except np.linalg.LinAlgError:
        return None
    random = [
        (group, names, np.array([[residual * deviation**2]]))
        for (group, names, _), deviation in zip(whole.random, deviations, strict=True)
    ]
    return FittedModel(whole.response, dict(zip(whole.fixed, slopes.tolist(), strict=True)), random, residual, converged)


def compute_delta_log_likelihood(held: pd.DataFrame, *, seed: int = 1) -> pd.DataFrame:
    """Return, for each language model, the gain in log likelihood of held-out readings from its surprisal, in nats.

    `held` is the table that `compute_held_out_clusters` returns; `delta` is the gain per reading (doi 10.18653/v1/W18-0102). p
    is the one-sided sign-flip test over clusters (two-sided, overfitting alone would be significant; doi 10.2202/1544-6115.1585),
    the interval a cluster bootstrap; neither under 10 clusters.

    >>> rows = [("m", "p", "item", f"i{k}", 0, 20, 2, -30.0, -30.0 + k % 3) for k in range(12)]
    >>> columns = TABLES["held_out_clusters"].column_names
    >>> held = pd.DataFrame(rows, columns=columns[:-1]).assign(converged=True)
    >>> compute_delta_log_likelihood(held)[["n_clusters", "n_readings", "total_delta", "delta", "min_p"]].to_numpy().tolist()
    [[12.0, 240.0, 12.0, 0.05, 0.000244140625]]
    """
    rows = [
        {
            "model": model,
            "protocol": protocol,
            **_summarise_gain(part, part["log_likelihood_with"] - part["log_likelihood_without"], True, seed),
        }
        for model, protocol, part in split_by_model(held)
    ]
    return check(pd.DataFrame(rows, columns=TABLES["delta_log_likelihood"].column_names), "delta_log_likelihood")


def _summarise_gain(held: pd.DataFrame, gains: "pd.Series[float]", one_sided: bool, seed: int) -> dict[str, object]:
    flipped = sign_flip_test(gains, one_sided=one_sided, seed=seed)
    low, high = ratio_interval(gains, held["n_readings"], seed=seed)
    n, clusters = int(held["n_readings"].sum()), len(held)
    notes = []
    if clusters < MIN_UNITS:
        notes.append(f"No p and no interval: {clusters} clusters, under {MIN_UNITS}.")
    if not held["converged"].all():
        notes.append("A fit did not converge.")
    if held["folds_by"].isin(["row", "participant"]).any():
        notes.append("Other readings of the same words are in the fit, which favours any predictor of words.")
    return {
        "folds_by": held["folds_by"].iloc[0], "n_clusters": clusters, "n_readings": n, "total_delta": gains.sum(),
        "delta": gains.sum() / n, "ci_low": low, "ci_high": high, "p": flipped.p, "min_p": flipped.min_possible_p,
        "flips": flipped.method, "note": " ".join(notes),
    }  # fmt: skip


def build_unfitted_rows(aligned: pd.DataFrame, reasons: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Return rows of delta_log_likelihood without numbers, for language models that were not fitted, and why."""
    rows = [
        {"model": model, "protocol": protocol, "n_clusters": 0, "n_readings": 0, "flips": "none", "folds_by": "none"}
        | {"note": f"Not fitted: {reasons[model, protocol]}"}
        for model, protocol, _ in split_by_model(aligned)
        if (model, protocol) in reasons
    ]
    return check(pd.DataFrame(rows, columns=TABLES["delta_log_likelihood"].column_names), "delta_log_likelihood")


def compute_delta_comparisons(held: pd.DataFrame, *, seed: int = 1) -> pd.DataFrame:
    """Return, for every two language models, how much better the first predicts the same held-out readings, in nats.

    p is the two-sided sign-flip test over clusters, adjusted after Holm over all pairs of models; the interval a cluster
    bootstrap; neither under 10 clusters. Models that were not fitted to the same readings have no numbers.

    `held` is the table that `compute_held_out_clusters` returns; one language model alone gives a table without rows.

    >>> rows = [(m, f"i{k}", 20, -30.0, -30.0 + (m == "a")) for m in "ab" for k in range(12)]
    >>> held = pd.DataFrame(rows, columns=["model", "cluster", "n_readings", "log_likelihood_without", "log_likelihood_with"])
    >>> held = held.assign(protocol="p", folds_by="item", converged=True)
    >>> compute_delta_comparisons(held)[["model_a", "model_b", "total_delta", "delta", "p"]].to_numpy().tolist()
    [['a', 'b', 12.0, 0.05, 0.00048828125]]
    """
    parts = {(model, protocol): part for model, protocol, part in split_by_model(held)}
    rows = []
    for a, b in itertools.combinations(parts, 2):
        both = parts[a].merge(parts[b], on=["folds_by", "cluster"], how="outer", suffixes=("", "_b"))
        row = {"model_a": a[0], "protocol_a": a[1], "model_b": b[0], "protocol_b": b[1]}
        if (both["n_readings"] != both["n_readings_b"]).fillna(True).any():
            rows.append(row | {"n_clusters": 0, "n_readings": 0, "note": "The two were not fitted to the same readings."})
            continue
        both = both.assign(converged=both["converged"].astype(bool) & both["converged_b"].astype(bool))
        rows.append(row | _summarise_gain(both, both["log_likelihood_with"] - both["log_likelihood_with_b"], False, seed))
    table = pd.DataFrame(rows, columns=[name for name in TABLES["delta_comparisons"].column_names if name != "p_holm"])
    return check(table.assign(p_holm=holm(table["p"].astype("float64"))), "delta_comparisons")
