"""How far people agree: ICC(2,k) and split halves of ratings, ceilings for models of them, and forced choices."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.responses import RESPONSES

from ..exclusion_log import ALL_CONDITIONS
from ..grammatical_status import GRAMMATICALITY_CODES, find_minimal_pair_paradigms, sort_conditions
from ..prompts import drop_missing_responses

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

BOOTSTRAP_DRAWS = 1000  # of the parametric bootstrap
RANDOM_SPLITS = 200  # random halves of the raters
POOR_ICC = 0.5  # an ICC below it is called poor (doi 10.1016/j.jcm.2016.02.012)
MIN_MAJORITY_SHARE = 0.8  # BLiMP keeps a paradigm when the majority agrees on 4 of 5 pairs (doi 10.1162/tacl_a_00321)
GRAMMATICAL, UNGRAMMATICAL = GRAMMATICALITY_CODES


@dataclass(frozen=True)
class IccEstimate:
    """ICC(2,k) with the variances it is made of: of sentences, of raters, and the rest; k raters a sentence."""

    icc: float
    sentence_variance: float
    rater_variance: float
    residual_variance: float
    raters_per_sentence: float


def icc(ratings: "Array") -> IccEstimate:
    """Return ICC(2,k) of a matrix of sentences by raters, cells that were not rated being empty (nan).

    Two-way random effects, absolute agreement, mean of k raters (Shrout & Fleiss, doi 10.1037/0033-2909.86.2.420):
    var(sentences) / (var(sentences) + (var(raters) + var(rest)) / k), k the harmonic mean of the raters of a sentence.
    Variances are those of the analysis of variance; with empty cells, of its sums of squares adjusted for the other
    factor (Henderson's method 3, doi 10.2307/3001853). They may be negative, as mean squares go; all is empty where there are
    too few cells.

    >>> import numpy as np
    >>> found = icc(np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]]))
    >>> round(found.icc, 2)  # Shrout & Fleiss, table 4
    0.62
    """
    cells = _find_rated_cells(ratings)
    if not cells.is_estimable:
        nothing = float("nan")
        return IccEstimate(nothing, nothing, nothing, nothing, cells.raters_per_sentence)
    variances = cells.estimate_variances(ratings[cells.is_rated][:, None])
    sentences, raters, rest = (float(part[0]) for part in variances)
    return IccEstimate(float(cells.compute_icc(variances)[0]), sentences, raters, rest, cells.raters_per_sentence)


def icc_interval(ratings: "Array", *, seed: int | Sequence[int], draws: int = BOOTSTRAP_DRAWS) -> tuple[float, float]:
    """Return the 95 % interval of ICC(2,k) by parametric bootstrap: normal effects of the estimated variances."""
    import numpy as np

    cells = _find_rated_cells(ratings)
    agreement = icc(ratings)
    if np.isnan(agreement.icc):
        return float("nan"), float("nan")
    random = np.random.default_rng(seed)
    spread = [
        max(0.0, variance) for variance in (agreement.sentence_variance, agreement.rater_variance, agreement.residual_variance)
    ]
    if cells.is_complete:
        drawn_icc = cells.compute_icc(cells.draw_variances(spread, random, draws))
    else:
        parts = zip((cells.row_codes, cells.column_codes), (cells.row_count, cells.column_count), spread[:2], strict=True)
        y = sum(np.sqrt(v) * random.standard_normal((size, draws))[code] for code, size, v in parts)
        drawn_icc = cells.compute_icc(
            cells.estimate_variances(y + np.sqrt(spread[2]) * random.standard_normal((len(cells.row_codes), draws)))
        )
    low, high = np.nanquantile(drawn_icc, [0.025, 0.975])
    return float(low), float(high)


def _find_rated_cells(ratings: "Array") -> "_RatedCells":
    import numpy as np

    is_rated = ~np.isnan(ratings)
    return _describe_rated_cells(is_rated.shape, is_rated.tobytes())


@lru_cache(maxsize=16)  # in most lists everybody has rated everything, and paradigms have as many sentences
def _describe_rated_cells(shape: tuple[int, ...], is_rated: bytes) -> "_RatedCells":
    import numpy as np

    return _RatedCells(np.frombuffer(is_rated, dtype=bool).reshape(shape))


class _RatedCells:
    """Which cells of a matrix of sentences by raters are rated, and the arithmetic that depends on this alone."""

    def __init__(self, is_rated: "np.ndarray[Any, np.dtype[np.bool_]]") -> None:
        import numpy as np

        self.is_rated = is_rated
        row, column = np.nonzero(self.is_rated)
        self.row_codes, self.column_codes = (np.unique(codes, return_inverse=True)[1] for codes in (row, column))
        self.row_count, self.column_count = (
            int(codes.max()) + 1 if len(codes) else 0 for codes in (self.row_codes, self.column_codes)
        )
        self.cell_count = len(row)
        self.is_complete = self.cell_count == self.row_count * self.column_count
        self.raters_per_sentence = (
            float(self.row_count / (1 / np.bincount(self.row_codes)).sum()) if self.cell_count else float("nan")
        )
        self.residual_df = self.cell_count - self.row_count - self.column_count + 1
        self.basis = self._compute_basis() if self.row_count > 1 and self.column_count > 1 and self.residual_df > 0 else None
        # Without a rater in common, differences between sentences are differences between raters.
        self.is_estimable = self.basis is not None and self.basis.shape[1] == self.row_count + self.column_count - 1

    def _compute_basis(self) -> "Array":
        import numpy as np

        design = np.hstack([np.eye(self.row_count)[self.row_codes], np.eye(self.column_count)[self.column_codes]])
        u, s, _ = np.linalg.svd(design, full_matrices=False)
        basis: Array = u[:, s > 1e-9 * s[0]]
        return basis

    def estimate_variances(self, y: "Array") -> tuple["Array", "Array", "Array"]:
        """Return the variances of sentences, raters and rest for each column of `y` (the rated cells in order)."""
        import numpy as np

        assert self.basis is not None
        left = y - y.mean(axis=0)
        rest = (left**2).sum(axis=0) - ((self.basis.T @ left) ** 2).sum(axis=0)
        by_row, by_column = (
            np.eye(size)[code] for size, code in ((self.row_count, self.row_codes), (self.column_count, self.column_codes))
        )
        within = [
            (left**2).sum(axis=0) - ((side.T @ left) ** 2 / side.sum(axis=0)[:, None]).sum(axis=0) for side in (by_row, by_column)
        ]
        error = np.maximum(rest, 0) / self.residual_df
        sentences = (within[1] - rest - (self.row_count - 1) * error) / (self.cell_count - self.column_count)
        raters = (within[0] - rest - (self.column_count - 1) * error) / (self.cell_count - self.row_count)
        return sentences, raters, error

    def draw_variances(self, spread: Sequence[float], random: Any, draws: int) -> tuple["Array", "Array", "Array"]:
        """Return variances drawn for complete cells: mean squares of normal effects are independent chi-squares."""
        sentences, raters, rest = spread
        freedom = (self.row_count - 1, self.column_count - 1, self.residual_df)
        means = (rest + self.column_count * sentences, rest + self.row_count * raters, rest)
        ms = [mean * random.chisquare(df, draws) / df for mean, df in zip(means, freedom, strict=True)]
        return (ms[0] - ms[2]) / self.column_count, (ms[1] - ms[2]) / self.row_count, ms[2]

    def compute_icc(self, variances: tuple["Array", "Array", "Array"]) -> "Array":
        import numpy as np

        sentences, raters, rest = variances
        whole = sentences + (raters + rest) / self.raters_per_sentence
        coefficients: Array = np.divide(sentences, whole, out=np.full_like(whole, np.nan), where=whole > 1e-12)
        return coefficients


def compute_reliability(
    scores: pd.DataFrame, *, seed: int = 1, draws: int = BOOTSTRAP_DRAWS, splits: int = RANDOM_SPLITS
) -> pd.DataFrame:
    """Return the agreement on each paradigm in each list and under each prompt: over all its sentences, and within conditions.

    Conditions differ, so agreement over all sentences holds the effect of grammaticality as well; that within a condition
    does not. Ratings as given, target trials. `split_half`: mean correlation of two random halves of the raters over
    sentences; `spearman_brown` = 2 r / (1 + r)
    (doi 10.1111/j.2044-8295.1910.tb00206.x); `ceiling`, its square root: what a perfect model would correlate with
    the means of these raters.

    ICC(2,k) after Shrout & Fleiss (doi 10.1037/0033-2909.86.2.420), with its interval by parametric bootstrap (`draws`); all is
    empty where there are too few ratings.

    >>> cells = [(p, i, c) for p in range(4) for i in range(4) for c in ("grammatical", "ungrammatical")]
    >>> rows = [(f"P{p}", f"i{i}", c, 5.0 * (c == "grammatical") + (p + i * i) % 3) for p, i, c in cells]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "rating"]).assign(
    ...     experiment="E1", list="L1", role="target", prompt="rating", phenomenon="npi", paradigm="ever"
    ... )
    >>> table = compute_reliability(scores, draws=50, splits=20)
    >>> table.loc[:0, ["condition", "n_sentences", "n_raters", "icc"]].round(2).to_numpy().tolist()
    [['all', 8, 4, 0.97]]
    """
    import numpy as np

    # Plain objects, and the columns that are needed: hundreds of parts are cut out of them.
    names_of = ["experiment", "list", "prompt", "phenomenon", "paradigm", "participant", "item", "condition"]
    targets = scores.loc[scores["role"] == "target", [*names_of, "rating"]].astype(dict.fromkeys(names_of, object))
    rows = []
    for prompt, n, names, trial_list in _split_by_list(targets):
        matrix = _build_rating_matrix(trial_list, "rating")
        halves = [half.to_numpy() for half in _average_halves(matrix, splits, np.random.default_rng([seed, 0, n]))]
        column_of: dict[Any, int] = {sentence: row_key for row_key, sentence in enumerate(matrix.columns.to_list())}
        ratings = matrix.to_numpy(dtype="float64")
        for m, ((phenomenon, paradigm), part) in enumerate(trial_list.groupby(["phenomenon", "paradigm"], sort=True)):
            row_key: dict[str, Any] = dict(zip(("experiment", "list"), names, strict=True))
            row_key |= {"prompt": prompt, "phenomenon": phenomenon, "paradigm": paradigm}
            for c, condition in enumerate([ALL_CONDITIONS, *sorted(part["condition"].unique())]):
                shown = part if condition == ALL_CONDITIONS else part[part["condition"] == condition]
                sentences = dict.fromkeys(zip(shown["item"], shown["condition"], strict=True))
                columns = [column_of[sentence] for sentence in sentences]
                agreement = _summarise_agreement(
                    ratings[:, columns], [half[:, columns] for half in halves], [seed, 1, n, m, c], draws
                )
                rows.append({**row_key, "condition": condition, **agreement})
    return check(pd.DataFrame(rows, columns=TABLES["reliability"].column_names), "reliability")


def _split_by_list(scores: pd.DataFrame) -> Iterator[tuple[str, int, tuple[Hashable, ...], pd.DataFrame]]:
    """Yield the ratings under each prompt in each list, with the list's number, whichever other prompts there are."""
    for prompt, rated in scores.groupby("prompt", sort=True):
        for n, (names, trial_list) in enumerate(rated.groupby(["experiment", "list"], sort=True)):
            yield str(prompt), n, names, trial_list


def _summarise_agreement(matrix: "Array", halves: Sequence["Array"], seed: Sequence[int], draws: int) -> dict[str, object]:
    """Return the agreement on the sentences in the columns of `matrix`, raters by sentences; `halves` are splits by sentences."""
    import numpy as np

    estimate = icc(matrix.T)
    low, high = icc_interval(matrix.T, seed=seed, draws=draws)
    r = _correlate_halves(*halves)
    rated = ~np.isnan(matrix)
    return {
        "n_sentences": matrix.shape[1],
        "n_raters": int(rated.any(axis=1).sum()),
        "k": estimate.raters_per_sentence,
        "n_ratings": int(rated.sum()),
        "icc": estimate.icc,
        "icc_low": low,
        "icc_high": high,
        "var_sentences": estimate.sentence_variance,
        "var_raters": estimate.rater_variance,
        "var_rest": estimate.residual_variance,
        **_step_up_reliability(r),
    }


def compute_noise_ceilings(scores: pd.DataFrame, *, seed: int = 1, splits: int = RANDOM_SPLITS) -> pd.DataFrame:
    """Return how far the mean z of one half of the raters predicts that of the other, at each level models are held against, prompt
    by prompt.

    Levels: sentences (all), each condition; of minimal pairs: pairs (differences within pairs), paradigms and phenomena (means of
    these differences); of other items: items (sentences less the mean of their item). Raters are halved within their list;
    `reliability` is stepped up after Spearman and Brown (doi 10.1111/j.2044-8295.1910.tb00206.x), `ceiling` its square root.

    Fewer than three sentences, pairs, paradigms or phenomena have no ceiling.

    >>> cells = [(p, i, c) for p in range(4) for i in range(4) for c in ("grammatical", "ungrammatical")]
    >>> rows = [(f"P{p}", f"i{i}", c, (c == "grammatical") + (p + i * i) % 3 / 5) for p, i, c in cells]
    >>> scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "z"]).assign(
    ...     experiment="E1", list="L1", role="target", prompt="rating", phenomenon="npi", paradigm="ever"
    ... )
    >>> compute_noise_ceilings(scores, splits=20).loc[:0, ["level", "n_units", "ceiling"]].round(2).to_numpy().tolist()
    [['sentences', 8, 0.99]]
    """
    import numpy as np

    targets = scores[scores["role"] == "target"].dropna(subset="z")
    sums: dict[str, list[list[pd.DataFrame]]] = {}
    for prompt, n, _, trial_list in _split_by_list(targets):
        matrix = _build_rating_matrix(trial_list, "z")
        random = np.random.default_rng([seed, 2, n])
        for half, (total, count) in zip(sums.setdefault(prompt, [[], []]), _sum_halves(matrix, splits, random), strict=True):
            half.append(pd.concat({"total": total, "count": count}))
    rows = []
    for prompt, parts in sums.items():
        halves = [_pool_lists(half) for half in parts]
        rated = targets[targets["prompt"] == prompt]
        sentence_rows = rated.drop_duplicates(["item", "condition"]).set_index(["item", "condition"])
        for level, pair in _average_by_level(halves, sentence_rows).items():
            r = _correlate_halves(pair[0].to_numpy(), pair[1].to_numpy())
            correlations = _step_up_reliability(r)
            rows.append(
                {
                    "prompt": prompt,
                    "level": level,
                    "n_units": pair[0].shape[1],
                    "n_splits": splits,
                    "split_half": correlations["split_half"],
                    "reliability": correlations["spearman_brown"],
                    "ceiling": correlations["ceiling"],
                }
            )
    return check(pd.DataFrame(rows, columns=TABLES["noise_ceilings"].column_names), "noise_ceilings")


def _average_by_level(halves: Sequence[pd.DataFrame], sentence_rows: pd.DataFrame) -> dict[str, list[pd.DataFrame]]:
    """Return each half's means (splits by units) at every level."""
    means = {"sentences": list(halves)}
    conditions = halves[0].columns.get_level_values("condition")
    for condition in sort_conditions(pd.Series(conditions)):
        means[condition] = [half.loc[:, half.columns.get_level_values("condition") == condition] for half in halves]
    if {GRAMMATICAL, UNGRAMMATICAL} <= means.keys():
        means |= _average_pair_differences(means, sentence_rows)
    if not conditions.isin([GRAMMATICAL, UNGRAMMATICAL]).all():
        means["items"] = [_centre_within_items(half.loc[:, ~conditions.isin([GRAMMATICAL, UNGRAMMATICAL])]) for half in halves]
    return means


def _average_pair_differences(
    halves: Mapping[str, list[pd.DataFrame]], sentence_rows: pd.DataFrame
) -> dict[str, list[pd.DataFrame]]:
    """Return each half's differences within pairs, and their means over paradigms and phenomena."""
    good, bad = ([half.droplevel("condition", axis=1) for half in halves[condition]] for condition in (GRAMMATICAL, UNGRAMMATICAL))
    both = good[0].columns.intersection(bad[0].columns, sort=False)
    pairs = [first[both] - second[both] for first, second in zip(good, bad, strict=True)]
    means = {"pairs": pairs}
    of_item = sentence_rows.reset_index().drop_duplicates("item").set_index("item")
    for level, column in (("paradigms", "paradigm"), ("phenomena", "phenomenon")):
        names = of_item.loc[both, column].to_numpy(dtype=object)
        means[level] = [pair.T.groupby(names).mean().T for pair in pairs]
    return means


def _centre_within_items(half: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences of items with several conditions, less their item's mean."""
    items = half.columns.get_level_values("item")
    several = half.loc[:, items.isin(items[items.duplicated()])]
    return several - several.T.groupby(level="item").transform("mean").T


def _build_rating_matrix(scores: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return raters by sentences; one and the same sentence rated twice by somebody counts with its mean."""
    return scores.pivot_table(index="participant", columns=["item", "condition"], values=value, aggfunc="mean")


def _sum_halves(
    matrix: pd.DataFrame, splits: int, random: Any
) -> tuple[tuple[pd.DataFrame, pd.DataFrame], tuple[pd.DataFrame, pd.DataFrame]]:
    """Return sum and number of the ratings of each sentence, in each of two random halves of the raters."""
    import numpy as np

    values = matrix.to_numpy(dtype="float64")
    rated = ~np.isnan(values)
    raters = len(values)
    first = (random.random((splits, raters)).argsort(axis=1) < raters // 2).astype("float64")
    halves = []
    for half in (first, 1 - first):
        parts = (half @ np.where(rated, values, 0.0), half @ rated)
        halves.append(tuple(pd.DataFrame(part, columns=matrix.columns) for part in parts))
    return halves[0], halves[1]  # type: ignore[return-value]


def _average_halves(matrix: pd.DataFrame, splits: int, random: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    first, second = (total / count.where(count > 0) for total, count in _sum_halves(matrix, splits, random))
    return first, second


def _pool_lists(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the means over lists: a sentence that several lists show has the raters of all of them."""
    total, count = (
        pd.concat([part.xs(name) for part in parts], axis=1).T.groupby(level=["item", "condition"]).sum().T
        for name in ("total", "count")
    )
    return total / count.where(count > 0)


def _correlate_halves(first: "Array", second: "Array") -> float:
    """Return the mean over splits (rows) of the correlation of two halves over units (columns)."""
    import numpy as np

    both = ~np.isnan(first) & ~np.isnan(second)
    n = both.sum(axis=1)
    x, y = (np.where(both, half, 0.0) for half in (first, second))
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (np.where(both, half - half.sum(axis=1, keepdims=True) / n[:, None], 0.0) for half in (x, y))
        r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    usable = r[np.isfinite(r) & (n > 2)]
    return float(usable.mean()) if len(usable) else float("nan")


def _step_up_reliability(r: float) -> dict[str, float]:
    """Return r, the reliability of both halves together after Spearman and Brown, and its square root.

    >>> {name: round(value, 3) for name, value in _step_up_reliability(0.5).items()}
    {'split_half': 0.5, 'spearman_brown': 0.667, 'ceiling': 0.816}
    """
    whole = 2 * r / (1 + r) if r > -1 else float("nan")
    return {"split_half": r, "spearman_brown": whole, "ceiling": whole**0.5 if whole >= 0 else float("nan")}


def select_poor_agreement(counts: pd.DataFrame, reliability: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of rating_counts on whose paradigm and prompt agreement is poor in some list, over all sentences."""
    of = ["prompt", "paradigm"]
    below = reliability[(reliability["condition"] == ALL_CONDITIONS) & (reliability["icc"] < POOR_ICC)]
    return counts[pd.MultiIndex.from_frame(counts[of]).isin(pd.MultiIndex.from_frame(below[of]))]


def compute_rating_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return how often each rating was given to the target sentences of a paradigm in a condition, under each prompt.

    Of numbers that are no points of a scale there are no such counts.
    """
    on_scales = [one.task for one in RESPONSES.values() if one.categories]
    targets = scores[(scores["role"] == "target") & scores["task"].isin(on_scales)]
    counts = targets.groupby(["prompt", "phenomenon", "paradigm", "condition", "rating"], sort=True).size().rename("n_ratings")
    return check(counts.reset_index(), "rating_counts")


def compute_choice_agreement(responses: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return how often people choose the grammatical member of a pair: single choices, and majorities, kept apart.

    Each prompt stands by itself. `individual` is the share of choices, `majority` the share of pairs whose majority chose the
    grammatical member (a tie is half a pair) and `majority_strict` the same with ties failing, as BLiMP counts; they must not be
    mixed. `kept`: a strict majority on at least 4 of 5 pairs, BLiMP's rule (doi 10.1162/tacl_a_00321).
    """
    choices = drop_missing_responses(responses[(responses["role"] == "target") & (responses["task"] == "choice")])
    choices = choices[choices["paradigm"].isin(find_minimal_pair_paradigms(items))]
    names = items.drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    choices = choices.assign(phenomenon=choices["paradigm"].map(names), good=(choices["response"] == GRAMMATICAL).astype("float64"))
    rows = []
    for prompt, asked in choices.groupby("prompt", sort=True):
        parts = [(str(paradigm), part) for paradigm, part in asked.groupby("paradigm", sort=True)]
        shares = [_compute_choice_shares(paradigm, str(part["phenomenon"].iloc[0]), part) for paradigm, part in parts]
        shares += [_compute_choice_shares(ALL_CONDITIONS, ALL_CONDITIONS, asked)] if len(parts) > 1 else []
        rows += [{"prompt": prompt, **row} for row in shares]
    return check(pd.DataFrame(rows, columns=TABLES["choice_agreement"].column_names), "choice_agreement")


def _compute_choice_shares(paradigm: str, phenomenon: str, choices: pd.DataFrame) -> dict[str, object]:
    shares = choices.groupby("item")["good"].mean()
    ties = int((shares == 0.5).sum())
    strict = float((shares > 0.5).mean())
    return {
        "phenomenon": phenomenon,
        "paradigm": paradigm,
        "n_pairs": len(shares),
        "n_participants": choices["participant"].nunique(),
        "n_choices": len(choices),
        "individual": float(choices["good"].mean()),
        "majority": strict + ties / 2 / len(shares),
        "majority_strict": strict,
        "n_ties": ties,
        "meets_majority_rule": strict >= MIN_MAJORITY_SHARE - 1e-12,
    }
