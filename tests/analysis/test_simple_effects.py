"""What follows from a factorial model without another fit: simple effects, regions corrected together, equivalence, contrasts."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis.model_results import SIMPLE_EFFECT, select_factors
from gardenpath.study import DataError, ModelSection

from .conftest import build_trials, fit_trials
from .test_factorial import conditions, measured

RScript = Callable[..., pd.DataFrame]
Tables = dict[str, pd.DataFrame]
NUMBERS = ["estimate", "se", "df", "t", "p"]
SLOPES = "log_rt ~ extraction*noun + log_trial + (1 + extraction|participant) + (1|item)"
PREPARED = """
rows$extraction <- factor(sub("[.].*", "", rows$condition), levels = c("subject", "object"))
rows$noun <- factor(sub(".*[.]", "", rows$condition), levels = c("description", "name"))
contrasts(rows$extraction) <- contrasts(rows$noun) <- MASS::contr.sdif(2)
rows$log_trial <- log1p(rows$trial) - mean(log1p(rows$trial))
"""


def times(kept: float = 0.9) -> pd.DataFrame:
    """Return reading times of two regions, some missing: then cells differ in size."""
    rng = np.random.default_rng(3)
    _, first = measured(people=16, items=12)
    later = first.assign(region="critical+1", log_rt=first["log_rt"] + rng.normal(0, 0.3, len(first)))
    both = pd.concat([first, later.assign(rt=np.exp(later["log_rt"]))], ignore_index=True)
    return both[rng.random(len(both)) < kept]


def fitted(*models: ModelSection, **settings: object) -> Tables:
    return fit_trials(build_trials(times=times(), conditions=conditions()), models=models, **settings)


def coefficients(*models: ModelSection, **settings: object) -> pd.DataFrame:
    return select_factors(fitted(*models, **settings)["results"])


def simple_effects(*models: ModelSection) -> pd.DataFrame:
    return select_factors(fitted(*models)["results"], SIMPLE_EFFECT)


@pytest.mark.r
def test_simple_effects_are_those_of_emmeans(rscript: RScript) -> None:
    code = f"""
    {PREPARED}
    m <- lmerTest::lmer({SLOPES}, data = rows)
    of <- function(specs) contrast(emmeans(m, specs, lmer.df = "satterthwaite", lmerTest.limit = Inf), "consec")
    library(emmeans)
    result <- do.call(rbind, lapply(c(~ extraction | noun, ~ noun | extraction), function(specs) {{
      each <- as.data.frame(summary(of(specs), adjust = "none"))[, c("estimate", "SE", "df", "t.ratio", "p.value")]
      each$holm <- as.data.frame(summary(of(specs), by = NULL, adjust = "holm"))$p.value
      each
    }}))"""
    reference = rscript(code, rows=times().query("region == 'critical'"))
    ours = simple_effects(ModelSection("m", SLOPES))
    assert ours["within"].to_list() == ["noun description", "noun name", "extraction subject", "extraction object"]
    np.testing.assert_allclose(ours[[*NUMBERS, "p_adjusted"]].astype(float), reference, rtol=2e-3)
    assert set(ours["adjustment"]) == {"Holm over 2 simple effects of extraction", "Holm over 2 simple effects of noun"}


def test_simple_effects_are_the_same_however_factors_are_coded() -> None:
    plain = simple_effects(ModelSection("m", SLOPES)).set_index(["factors", "within"])
    formula = SLOPES.replace("extraction*noun", "extraction/noun")
    treated = {"extraction": "treatment", "noun": "treatment"}
    nested = simple_effects(ModelSection("m", formula, contrasts=treated)).set_index(["factors", "within"])
    columns = ["estimate", "se", "df", "ms", "ms_low", "ms_high"]
    np.testing.assert_allclose(nested.loc[plain.index, columns], plain[columns].astype(float), rtol=5e-3)


def test_factors_that_do_not_interact_have_no_simple_effects() -> None:
    assert simple_effects(ModelSection("m", SLOPES.replace("extraction*noun", "extraction + noun"))).empty
    by_trial = simple_effects(ModelSection("m", SLOPES.replace("extraction*noun", "extraction*log_trial")))
    assert by_trial.empty, "numbers are no levels"


@pytest.mark.r
def test_nested_and_treatment_contrasts_are_those_of_lmer(rscript: RScript) -> None:
    own = ModelSection(
        "m",
        SLOPES.replace("extraction*noun", "extraction/noun"),
        contrasts={"noun": "treatment"},
        reference_levels={"noun": "name"},
    )
    ours = coefficients(own)
    code = f"""
    {PREPARED}
    contrasts(rows$noun) <- contr.treatment(2, base = 2)
    m <- lmerTest::lmer(log_rt ~ extraction/noun + log_trial + (1 + extraction|participant) + (1|item), data = rows)
    result <- as.data.frame(coef(summary(m)))"""
    reference = rscript(code, rows=times().query("region == 'critical'"))
    np.testing.assert_allclose(ours[NUMBERS].astype(float), reference, rtol=2e-3)
    assert ours["contrast"].to_list()[3:] == [
        "noun at extraction subject: description minus name", "noun at extraction object: description minus name",
    ]  # fmt: skip


def test_a_reference_that_is_no_level_and_contrasts_of_no_factor_are_named() -> None:
    formula = "log_rt ~ noun + (1|participant) + (1|item)"
    wrong = ModelSection("m", formula, contrasts={"noun": "treatment"}, reference_levels={"noun": "pronoun"})
    with pytest.raises(DataError, match=r"'m': reference.noun is 'pronoun'; expected one of description, name"):
        fitted(wrong)
    with pytest.raises(DataError, match="'m': contrasts of 'nuon', no factor of its formula; there are noun"):
        fitted(ModelSection("m", formula, contrasts={"nuon": "sum"}))


def by_hand(p: list[float]) -> list[float]:
    """Return p after Holm, by its definition: in rising order times the number of those not smaller, never falling."""
    adjusted = {q: max(min(1, r * sum(other >= r for other in p)) for r in p if r <= q) for q in p}
    return [adjusted[q] for q in p]


def test_the_regions_of_a_hypothesis_are_corrected_together() -> None:
    table = coefficients()
    tested = table[table["factors"].notna()]
    for _, rows in tested.groupby(["random", "term"]):
        assert rows["region"].to_list() == ["critical", "critical+1"]
        assert rows["p_adjusted"].to_list() == pytest.approx(by_hand(rows["p"].to_list()))
    assert table.loc[table["factors"].isna(), "p_adjusted"].isna().all(), "covariates are no hypotheses"


def test_declared_models_are_one_hypothesis_where_only_their_region_differs() -> None:
    formula = "log_rt ~ extraction + (1|participant) + (1|item)"
    two = (ModelSection("verb", formula), ModelSection("after", formula, region="critical+1"))
    other = ModelSection("noun", "log_rt ~ noun + (1|participant) + (1|item)", region="critical+1")
    table = coefficients(*two, other).set_index(["model", "factors"])
    p = [table.loc[(name, "extraction"), "p"] for name in ("verb", "after")]
    assert [table.loc[(name, "extraction"), "p_adjusted"] for name in ("verb", "after")] == pytest.approx(by_hand(p))
    assert pd.isna(table.loc[("noun", "noun"), "p_adjusted"])


@pytest.mark.r
def test_equivalence_is_two_one_sided_tests_of_lmertest(rscript: RScript) -> None:
    code = f"""
    {PREPARED}
    m <- lmerTest::lmer({SLOPES}, data = rows)
    b <- coef(summary(m))["extraction2-1", ]; s <- c(.1, .6)
    half <- qt(.95, b["df"]) * b["Std. Error"]
    p <- pmax(pt((b[1] + s) / b[2], b[3], lower.tail = FALSE), pt((b[1] - s) / b[2], b[3]))
    result <- data.frame(low = b[1] - half, high = b[1] + half, p = p)"""
    reference = rscript(code, rows=times().query("region == 'critical'"))
    rows = []
    for smallest in (0.1, 0.6):
        table = coefficients(ModelSection("m", SLOPES), sesoi={"log_rt": smallest})
        [row] = table.dropna(subset="smallest").to_dict("records")
        assert row["factors"] == "extraction", "the one effect that has slopes"
        rows.append([row["low_90"], row["high_90"], row["p_equivalence"]])
        inside = row["low_90"] > -smallest and row["high_90"] < smallest
        assert inside == (row["p_equivalence"] < 0.05) == (smallest == 0.6)
    np.testing.assert_allclose(rows, reference, rtol=5e-3)


def test_without_slopes_there_is_no_test_of_equivalence() -> None:
    table = coefficients(sesoi={"log_rt": 0.05, "noun:extraction": {"log_rt": 0.1}})
    tested = table[table["factors"].notna()]
    stated = {"extraction": 0.05, "noun": 0.05, "extraction:noun": 0.1}
    slopes = tested[tested["random"] == "slopes"]
    assert slopes["smallest"].to_list() == slopes["factors"].map(stated).to_list()
    assert table.drop(slopes.index)["smallest"].isna().all()


def test_a_reduced_model_is_marked() -> None:
    own = ModelSection("m", SLOPES.replace("(1|item)", "(1 + noun|item)"))
    found = fitted(own, policy="parsimonious")
    fits = found["models"]
    assert fits["reduced"].to_list() == (fits["formula"] != fits["formula"].iloc[0]).to_list()
    assert fits.loc[fits["kept"], "reduced"].item(), "a slope that does not vary was left out"
    assert found["planned_models"]["first_fit"].item() == fits["formula"].iloc[0]
    assert not fitted(own, policy="declared")["models"]["reduced"].any()


def test_the_hypothesis_matrix_turns_cell_means_into_coefficients() -> None:
    own = ModelSection("m", SLOPES.replace("extraction*noun", "extraction/noun"), contrasts={"noun": "treatment"})
    table = fitted(own)["contrast_matrices"]
    weights = table.pivot_table(index="term", columns="cell", values="weight", sort=False)
    codes = table.pivot_table(index="cell", columns="term", values="code", sort=False)
    np.testing.assert_allclose(weights.to_numpy() @ codes.to_numpy(), np.eye(4), atol=1e-12)
    cells = [
        "extraction subject, noun description", "extraction subject, noun name", "extraction object, noun description",
        "extraction object, noun name",
    ]  # fmt: skip
    assert weights[cells].to_numpy().tolist() == [
        [0.5, 0, 0.5, 0], [-1, 0, 1, 0], [-1, 1, 0, 0], [0, 0, -1, 1],
    ]  # fmt: skip
