"""Contrasts: R's own matrices, the means that coefficients are, and designs that cannot bear them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import fit
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.modelling.coding import CONTRAST_CODINGS, coded, hypotheses, matrix
from gardenpath.study import DataError

RScript = Callable[..., pd.DataFrame]
IN_R = {"sum": "contr.sum", "treatment": "contr.treatment", "helmert": "contr.helmert", "repeated": "MASS::contr.sdif"}


@pytest.mark.r
@pytest.mark.parametrize("coding", CONTRAST_CODINGS)
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
    return pd.DataFrame({"participant": [f"P{k}" for k in p], "item": [f"i{k}" for k in i], "kind": kind, "size": size, "y": y})


MEANS = {  # each coefficient as weights of the three levels' means
    "sum": {"kind_a": [2 / 3, -1 / 3, -1 / 3], "kind_b": [-1 / 3, 2 / 3, -1 / 3]},
    "treatment": {"kind_b": [-1, 1, 0], "kind_c_d": [-1, 0, 1]},
    "helmert": {"kind_b": [-1 / 2, 1 / 2, 0], "kind_c_d": [-1 / 6, -1 / 6, 1 / 3]},
    "repeated": {"kind_b_a": [-1, 1, 0], "kind_c_d_b": [0, -1, 1]},
}


@pytest.mark.parametrize("coding", CONTRAST_CODINGS)
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
    formula = parse_formula("y ~ kind*size + (1 + kind||participant) + (1|item)")
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
    assert "factor 'kind': 1 of 144 values are empty" in refused(rows.assign(kind=[None, *rows["kind"][1:]]), both, formula)
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
    table = fit(rows, "y ~ kind*size + (1|participant) + (1|item)", engine="lme4", contrasts={"kind": "repeated", "size": "sum"})
    np.testing.assert_allclose(table[["estimate", "se", "df", "t", "p"]], reference, rtol=1e-6)


FIXED = [
    "kind/size", "size/kind", "kind*size", "kind:size", "size + kind:size", "0 + kind + size", "0 + size/kind", "x/kind",
    "0 + x*size",
]  # fmt: skip
R_CODING = """
rows$kind <- factor(rows$kind); rows$size <- factor(rows$size)
contrasts(rows$kind) <- MASS::contr.sdif(3); contrasts(rows$size) <- contr.treatment(2)
result <- do.call(rbind, lapply({formulas}, function(text) {{
  columns <- model.matrix(as.formula(text), rows)
  data.frame(formula = text, column = as.vector(col(columns)), value = as.vector(columns))
}}))
"""


@pytest.mark.r
def test_factors_become_the_columns_of_rs_model_matrix(rscript: RScript) -> None:
    rows = factorial().assign(x=lambda table: np.arange(len(table)) / 100)
    texts = ", ".join(f'"~ {fixed}"' for fixed in FIXED)
    reference = rscript(R_CODING.format(formulas=f"c({texts})"), rows=rows)
    for fixed in FIXED:
        contrasts = {factor: c for factor, c in {"kind": "repeated", "size": "treatment"}.items() if factor in fixed}
        found = coded(rows, parse_formula(f"y ~ {fixed} + (1|participant)"), contrasts)
        ours = [
            np.ones(len(rows)) if term == "1" else found.frame[term.split(":")].prod(axis=1).to_numpy()
            for term in found.formula.fixed
        ]
        theirs = [part["value"] for _, part in reference[reference["formula"] == f"~ {fixed}"].groupby("column")]
        # In an interaction R lets the first factor's columns vary fastest, we the last one's.
        np.testing.assert_allclose(sorted(map(list, ours)), sorted(map(list, theirs)), atol=1e-12, err_msg=fixed)


def test_nested_effects_are_named_by_their_level() -> None:
    rows = factorial()
    found = coded(
        rows, parse_formula("y ~ size/kind + (1|participant)"), {"size": "repeated", "kind": ("treatment", ["b", "a", "c d"])}
    )
    terms = found.formula.fixed[1:]
    assert [found.named(term) for term in terms] == [
        "size at kind b: small minus big",
        "kind at size big: a minus b", "kind at size big: c d minus b",
        "kind at size small: a minus b", "kind at size small: c d minus b",
    ]  # fmt: skip
    assert [found.factors(term) for term in terms] == ["size", *["size/kind"] * 4]
    table = fit(rows, "y ~ size/kind + (1|participant) + (1|item)", contrasts={"size": "repeated", "kind": "repeated"})
    assert table["term"].to_list() == [
        "intercept", "size_small_big", "size_at_big:kind_b_a", "size_at_big:kind_c_d_b", "kind_b_a:size_at_small",
        "kind_c_d_b:size_at_small",
    ]  # fmt: skip


def test_an_effect_beside_treatment_contrasts_is_named_by_the_level_at_which_it_holds() -> None:
    contrasts = {"size": "sum", "kind": "treatment"}
    crossed, additive = (coded(factorial(), parse_formula(f"y ~ {fixed}"), contrasts) for fixed in ("size*kind", "size + kind"))
    size, *kinds = crossed.formula.fixed[1:4]
    assert [crossed.named(term) for term in (size, *kinds)] == [
        "size at kind a: big minus the mean of all", "kind: b minus a", "kind: c d minus a",
    ]  # fmt: skip
    assert additive.named(size) == "size: big minus the mean of all"
    weights = hypotheses(crossed).query("term == @size").set_index("cell")["weight"]
    assert set(weights[weights != 0].index) == {"size big, kind a", "size small, kind a"}


def test_the_coefficient_of_a_level_s_mean_says_so() -> None:
    found = coded(factorial(), parse_formula("y ~ 0 + kind + (1|participant)"), {"kind": "sum"})
    assert [found.named(term) for term in found.formula.fixed] == [
        "mean at kind a", "mean at kind b", "mean at kind c d",
    ]  # fmt: skip
    assert found.factors("kind_at_a") is None
