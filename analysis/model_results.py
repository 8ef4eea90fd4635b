"""Effects beside the fits they come from, as figures, sentences and R code read them."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES, check
from gardenpath.study.plans import INTERCEPTS

# What is read of a fit beside its effects.
FIT_COLUMNS = ("engine", "formula", "n", "n_participants", "n_items", "converged", "singular", "reduced", "autocorrelation", "note")
COEFFICIENT, SIMPLE_EFFECT = "coefficient", "simple effect"  # in the column kind


def join_results(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the effects of a study, each with what the table models says of the fit that was kept; none without both tables."""
    names = ("effects", "models")
    effects, fits = (tables[name] if {*names} <= {*tables} else _build_empty(name) for name in names)
    kept = fits.loc[fits["kept"], ["model_id", *FIT_COLUMNS]]
    return effects.merge(kept, on="model_id", how="left", validate="m:1")


def _build_empty(name: str) -> pd.DataFrame:
    return check(pd.DataFrame(columns=TABLES[name].column_names), name)


def select_pairs(results: pd.DataFrame, unit: str = "phenomenon") -> pd.DataFrame:
    """Return the effects of grammaticality in minimal pairs, of phenomena or of paradigms, with intercepts and with slopes."""
    of_unit = results[(results["unit"] == unit) & (results["family"] != "cumulative") & (results["policy"] == "declared")]
    return of_unit[of_unit["contrast"].notna() | of_unit["estimate"].isna()]


def select_reduced_pairs(results: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients of pairs in the models whose random effects a policy reduced."""
    return results[(results["unit"] == "phenomenon") & (results["policy"] != "declared") & (results["family"] != "cumulative")]


def select_factors(results: pd.DataFrame, kind: str = COEFFICIENT) -> pd.DataFrame:
    """Return the coefficients, or the simple effects, of the study's own factors."""
    return results[(results["unit"] == "model") & (results["family"] != "cumulative") & (results["kind"] == kind)]


def select_categories(results: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients of ratings as ordered categories."""
    return results[results["family"] == "cumulative"]


def is_intercepts_form(results: pd.DataFrame) -> "pd.Series[bool]":
    """Return for each effect whether it is of the published form, with intercepts alone, of a model whose headline has slopes."""
    return ~results["headline"] & (results["random"] == INTERCEPTS)
