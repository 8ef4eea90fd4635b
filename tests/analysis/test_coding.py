"""Contrasts: R's own matrices, the means that coefficients are, and designs that cannot bear them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import fit
from gardenpath.analysis.engines.formulas import parse
from gardenpath.analysis.modelling.coding import CODINGS, coded, matrix
from gardenpath.study import DataError

RScript = Callable[..., pd.DataFrame]
IN_R = {"sum": "contr.sum", "treatment": "contr.treatment", "helmert": "contr.helmert", "repeated": "MASS::contr.sdif"}


@pytest.mark.r
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_the_contrasts_are_rs(coding: str, levels: int, rscript: RScript) -> None:
    reference = rscript(f"result <- as.data.frame(as.matrix({IN_R[coding]}({levels})))")
    np.testing.assert_allclose(matrix(coding, levels), reference, atol=1e-14)


def factorial(seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    p, i = (a.ravel() for a in np.meshgrid(np.arange(12), np.arange(12), indexing="ij"))
    kind = np.array(["a", "b", "c d"])[(p + i) % 3]
    size = np.array(["big", "small"])[(p + i) // 3 % 2]
    y = rng.normal(0, 1, len(p)) + (kind == "b") + 2 * (size == "big") + rng.normal(0, 1, 12)[p]
    return pd.DataFrame(
        {"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i], "kind": kind, "size": size, "y": y}
    )


MEANS = {  # each coefficient as weights of the three levels' means
    "sum": {"kind_a": [2 / 3, -1 / 3, -1 / 3], "kind_b": [-1 / 3, 2 / 3, -1 / 3]},
    "treatment": {"kind_b": [-1, 1, 0], "kind_c_d": [-1, 0, 1]},
    "helmert": {"kind_b": [-1 / 2, 1 / 2, 0], "kind_c_d": [-1 / 6, -1 / 6, 1 / 3]},
    "repeated": {"kind_b_a": [-1, 1, 0], "kind_c_d_b": [0, -1, 1]},
}


@pytest.mark.parametrize("coding", CODINGS)
def test_coefficients_are_the_differences_of_means_that_the_name_says(coding: str) -> None:
    # Every participant and every item has each level equally often, so generalised least squares gives plain means.
    rows = factorial()
    means = rows.groupby("kind")["y"].mean()
    table = fit(rows, "y ~ kind + (1|participant) + (1|item)", contrasts={"kind": coding}).set_index("term")
    assert table.index.to_list() == ["intercept", *MEANS[coding]]
    for term, weights in MEANS[coding].items():
        assert table.loc[term, "estimate"] == pytest.approx(float(np.dot(weights, means)), abs=1e-8)


def test_the_order_of_levels_can_be_stated() -> None:
    rows = factorial()
    formula = "y ~ kind + (1|participant) + (1|item)"
    table = fit(rows, formula, contrasts={"kind": ("treatment", ["c d", "b", "a"])}).set_index("term")
    assert table.index.to_list() == ["intercept", "kind_b", "kind_a"]


def test_an_interaction_and_slopes_are_written_in_the_new_columns() -> None:
    formula = parse("y ~ kind*size + (1 + kind||participant) + (1|item)")
    found = coded(factorial(), formula, {"kind": "repeated", "size": "sum"})
    assert str(found.formula) == (
        "y ~ kind_b_a + kind_c_d_b + size_big + kind_b_a:size_big + kind_c_d_b:size_big"
        " + (1 + kind_b_a + kind_c_d_b||participant) + (1|item)"
    )
    assert found.frame["size_big"].to_list() == [1.0 if s == "big" else -1.0 for s in found.frame["size"]]


def refused(rows: pd.DataFrame, contrasts: dict[str, str], formula: str) -> str:
    with pytest.raises((DataError, ValueError)) as raised:
        fit(rows, formula, contrasts=contrasts)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_factors_that_bear_no_contrast_are_sentences() -> None:
    rows, formula = factorial(), "y ~ kind*size + (1|participant)"
    both = {"kind": "sum", "size": "sum"}
    assert "no row has kind 'b' and size 'big', so the interaction kind:size cannot be estimated" in refused(
        rows[(rows["kind"] != "b") | (rows["size"] != "big")], both, formula
    )
    assert "factor 'size' has the one level 'big' in 72 rows" in refused(rows[rows["size"] == "big"], both, formula)
    assert "factor 'kind': 1 of 144 values are empty" in refused(
        rows.assign(kind=[None, *rows["kind"][1:]]), both, formula
    )
    assert "expected one of sum, treatment, helmert, repeated" in refused(rows, {"kind": "planned"}, formula)
    assert "contrasts of 'colour': not in formula" in refused(rows, {"colour": "sum"}, formula)
    stated = {"kind": ("sum", ["a", "b"])}
    assert "has the levels a, b, c d; contrasts were given for a, b" in refused(rows, stated, formula)  # type: ignore[arg-type]


def test_uncoded_factors_have_no_uncorrelated_slopes() -> None:
    told = refused(factorial(), {}, "y ~ kind + (1 + kind||participant)")
    assert "|| does not part the levels of the factor kind; name its contrasts" in told


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_coded_factors_fit_as_in_r_with_its_contrasts(rscript: RScript) -> None:
    rows = factorial()
    code = """
    rows$kind <- factor(rows$kind); rows$size <- factor(rows$size)
    contrasts(rows$kind) <- MASS::contr.sdif(3); contrasts(rows$size) <- contr.sum(2)
    model <- lmerTest::lmer(y ~ kind * size + (1|participant) + (1|item), data = rows)
    result <- as.data.frame(coef(summary(model)))"""
    reference = rscript(code, rows=rows)
    table = fit(
        rows, "y ~ kind*size + (1|participant) + (1|item)", engine="lme4", contrasts={"kind": "repeated", "size": "sum"}
    )
    np.testing.assert_allclose(table[["estimate", "se", "df", "t", "p"]], reference, rtol=1e-6)
