"""What every engine returns of a mixed model, and the sentences about it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study.responses import is_standardised

from .formulas import Formula

if TYPE_CHECKING:
    import numpy as np

Cells = list[float] | list[str]
Columns = Mapping[str, Cells]

# The families of responses: a number with normal noise, or 0 and 1 through the logit, whose coefficients are log odds.
RESPONSE_FAMILIES = ("gaussian", "binomial")

# What R answers of the correlations of random effects, in columns.
CORRELATION_KEYS = ("correlated", "first", "second", "correlation")

# A standard deviation below this share of the residual's counts as zero: the tolerance of lme4's isSingular.
ZERO_SD_SHARE = 1e-4


@dataclass(frozen=True)
class RandomEffectSd:
    """The standard deviation of one random effect, in units of the response (a slope: per unit of its predictor)."""

    group: str
    term: str
    sd: float


@dataclass(frozen=True)
class RandomEffectCorrelation:
    """The correlation of two random effects of one group; not a number where a variance is zero."""

    group: str
    term: str
    other_term: str
    correlation: float


def return_no_df(weights: "np.ndarray") -> float:
    """Return the degrees of freedom of a model that has none: its tests are z tests."""
    return math.nan


@dataclass(frozen=True)
class ModelEstimate:
    """A fitted model: its table of fixed effects, its random effects, and how the fit went.

    `criterion` is -2 log restricted likelihood, or of a binomial model -2 log likelihood by Laplace's approximation;
    `parameters` the number of variances and correlations without the residual's. `residual` is 1 for a binomial model, to
    which the spread of its random effects, in log odds, is held. `covariance` is that of the fixed effects, rows and columns
    named by their terms, empty where one was not estimated; `compute_df` returns the degrees of freedom of a sum of them with
    these weights, in the order of its rows.
    """

    coefficients: pd.DataFrame
    variances: tuple[RandomEffectSd, ...]
    residual: float
    parameters: int
    criterion: float
    converged: bool
    singular: bool
    optimizer: str
    notes: tuple[str, ...] = ()
    covariance: pd.DataFrame = field(default_factory=pd.DataFrame)
    compute_df: Callable[["np.ndarray"], float] = return_no_df
    family: str = "gaussian"
    correlations: tuple[RandomEffectCorrelation, ...] = ()

    def combine_effects(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the sum of the fixed effects with these weights: estimate, se, df, t (z without df), p, and its 95 % interval.

        Nothing is refitted. A term with a weight that was not estimated leaves no number.
        """
        import numpy as np
        from scipy import special

        used = {term: weight for term, weight in weights.items() if weight}
        estimates = self.coefficients.set_index("term")["estimate"]
        estimate = sum(weight * float(estimates[term]) for term, weight in used.items())
        part = self.covariance.loc[[*used], [*used]].to_numpy(dtype="float64")
        values = np.array([*used.values()])
        se = float(np.sqrt(values @ part @ values))
        df = math.nan
        if math.isfinite(se):
            df = self.compute_df(np.array([used.get(str(term), 0.0) for term in self.covariance.index]))
        statistic = estimate / se
        half = _t_quantile(df) * se
        tail = special.ndtr(-abs(statistic)) if math.isnan(df) else special.stdtr(df, -abs(statistic))
        return {
            "estimate": estimate,
            "se": se,
            "df": df,
            "t": statistic,
            "p": 2 * float(tail),
            "ci_low": estimate - half,
            "ci_high": estimate + half,
        }

    def compute_exp_difference(self, upper: Mapping[str, float], lower: Mapping[str, float]) -> tuple[float, float, float]:
        """Return exp of one sum of the fixed effects minus exp of another: what a difference of log ms comes to in ms.

        With its 95 % interval by the delta method, and the degrees of freedom of the difference of the sums.
        """
        import numpy as np

        terms = self.coefficients["term"].to_list()
        high, low = (np.array([weights.get(term, 0.0) for term in terms]) for weights in (upper, lower))
        used = (high != 0) | (low != 0)
        estimates = self.coefficients["estimate"].to_numpy(dtype="float64")[used]
        above, below = np.exp(high[used] @ estimates), np.exp(low[used] @ estimates)
        gradient = above * high[used] - below * low[used]
        part = self.covariance.to_numpy(dtype="float64")[np.ix_(used, used)]
        df = self.compute_df(high - low)
        half = _t_quantile(df) * np.sqrt(gradient @ part @ gradient)
        return float(above - below), float(above - below - half), float(above - below + half)

    @property
    def zero_variances(self) -> tuple[RandomEffectSd, ...]:
        """The random effects whose variance is estimated as zero."""
        return tuple(v for v in self.variances if v.sd < ZERO_SD_SHARE * self.residual)

    @property
    def is_usable(self) -> bool:
        """Whether the optimizer converged inside the space of random effects."""
        return self.converged and not self.singular

    def describe_variances(self) -> str:
        """Return the standard deviations in words."""
        named = [f"{describe_term(v.term)} by {v.group} {v.sd:.4g}" for v in self.variances]
        return "; ".join([*named, *([f"residual {self.residual:.4g}"] if self.family == "gaussian" else [])])


def _t_quantile(df: float) -> float:
    """Return the .975 quantile of t, or without degrees of freedom of z."""
    from scipy import special

    return float(special.ndtri(0.975) if math.isnan(df) else special.stdtrit(df, 0.975))


def build_wald_table(terms: Sequence[str], estimates: Sequence[float], errors: Sequence[float]) -> pd.DataFrame:
    """Return a table of fixed effects tested against the normal distribution: without df, `t` being z."""
    import numpy as np
    from scipy import special

    estimate, se = np.asarray(estimates, dtype="float64"), np.asarray(errors, dtype="float64")
    with np.errstate(divide="ignore", invalid="ignore"):
        z, width = estimate / se, special.ndtri(0.975) * se
    p = 2 * special.ndtr(-np.abs(z))
    columns = {"estimate": estimate, "se": se, "df": math.nan, "t": z, "p": p}
    return pd.DataFrame({"term": list(terms)} | columns | {"ci_low": estimate - width, "ci_high": estimate + width})


def describe_term(term: str) -> str:
    """Return how the random effects of a term are called."""
    return "intercepts" if term == "1" else f"slopes of {term}"


def describe_aliased_terms(terms: Iterable[str]) -> str:
    """Say which predictors are sums of others."""
    return f"Not estimated, being a combination of other predictors: {', '.join(terms)}."


def describe_singularity(estimated: ModelEstimate, formula: Formula, kept: str = "the model is kept as declared") -> str:
    """Say in a sentence which variance is zero, and why that need not worry."""
    zero = estimated.zero_variances
    if not zero:
        return f"Singular fit: a correlation between random effects is estimated as -1 or 1; {kept}."
    whose = _join_words([f"the {describe_term(v.term)} by {v.group}" for v in zero])
    subject, verb = ("variances", "are") if len(zero) > 1 else ("variance", "is")
    emptied = is_standardised(formula.response) and any((v.group, v.term) == ("participant", "1") for v in zero)
    why = "these data show no more difference there than noise alone would"
    if emptied:
        by_construction = "z-scoring takes out the participants' means, so none is left by construction"
        why = f"{by_construction}, and elsewhere {why.replace(' there', '')}" if len(zero) > 1 else by_construction
    return f"Singular fit: the {subject} of {whose} {verb} estimated as zero, because {why}; {kept}."


def _join_words(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
