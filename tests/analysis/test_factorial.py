"""Models of a study's own factors, held to lmerTest, to cell means and to hand formulas."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import StudyTrials, analyse, resolve_plan
from gardenpath.analysis.measuring.ratings_and_times import mark_region_words
from gardenpath.analysis.model_results import select_factors
from gardenpath.analysis.plan.resolution import list_declared_regions
from gardenpath.analysis.reporting.figures.factor_figures import factorial_figure
from gardenpath.analysis.reporting.manuscript import ready_to_paste
from gardenpath.analysis.reporting.wording.factors import factorial_effects
from gardenpath.study import DataError, ModelSection, write
from gardenpath.study.config import AnalysisSection, MultiverseSection, parse_dataclass
from gardenpath.study.formula_columns import add_formula_columns

from .conftest import build_trials, fit_trials

Tables = dict[str, pd.DataFrame]
LEVELS = [("subject", "description"), ("subject", "name"), ("object", "description"), ("object", "name")]
EFFECT = {"subject": 0.0, "object": 0.2}
NOUN = {"description": 0.0, "name": -0.1}


def conditions() -> pd.DataFrame:
    rows = [
        ("relatives", f"{extraction}.{noun}", factor, level)
        for extraction, noun in LEVELS
        for factor, level in (("extraction", extraction), ("noun", noun))
    ]
    return pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"])


def measured(noise: float = 0.2, people: int = 20, items: int = 16) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rating_scores and region_times of a Latin square with known effects."""
    rng = np.random.default_rng(7)
    who, what = noise * rng.normal(size=people), noise * rng.normal(size=items)
    slope = noise * rng.normal(size=people)
    rows = []
    for p in range(people):
        for i in range(items):
            extraction, noun = LEVELS[(p + i) % 4]
            y = 6 + EFFECT[extraction] + NOUN[noun] + 0.3 * (extraction == "object") * (noun == "name")
            y += who[p] + what[i] + slope[p] * (extraction == "object") + noise * rng.normal()
            place = {"participant": f"P{p:02}", "session": f"S{p:02}", "experiment": "E1", "list": "L1"}
            place |= {"trial": (i * 7 + p) % items, "role": "target", "paradigm": "relatives", "item": f"i{i:02}"}
            rows.append({**place, "condition": f"{extraction}.{noun}", "phenomenon": "relatives", "y": y})
    frame = add_formula_columns(pd.DataFrame(rows), conditions=conditions())
    times = frame.assign(region="critical", word=3, n_words=1, line=0, log_rt=frame["y"], rt=np.exp(frame["y"]))
    scores = frame.assign(prompt="acceptability", rating=frame["y"].round(), z=frame["y"] - 6)
    return scores.drop(columns="y"), times.drop(columns="y")


def measured_trials() -> StudyTrials:
    """Return the trials of that design, with noise."""
    scores, times = measured()
    return build_trials(scores=scores, times=times, conditions=conditions())


@pytest.fixture(scope="module")
def found() -> Tables:
    """What comes of them when no model is declared."""
    return fit_trials(measured_trials())


def test_without_noise_the_coefficients_are_differences_of_cell_means() -> None:
    _, times = measured(noise=1e-6)
    results = fit_trials(build_trials(times=times, conditions=conditions()))["results"]
    by = select_factors(results).query("random == 'intercepts'").set_index("contrast")["estimate"]
    assert by["extraction: object minus subject"] == pytest.approx(0.2 + 0.15, abs=1e-5)
    assert by["noun: name minus description"] == pytest.approx(-0.1 + 0.15, abs=1e-5)
    assert by["extraction: object minus subject x noun: name minus description"] == pytest.approx(0.3, abs=1e-5)


def test_the_suggested_models_are_those_of_lmertest(found: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    _, times = measured()
    rows = times.assign(
        log_trial=np.log1p(times["trial"]),
        A=times["condition"].str.startswith("object") - 0.5,
        B=times["condition"].str.endswith("name") - 0.5,
    )
    code = """
    library(lmerTest)
    rows$log_trial <- rows$log_trial - mean(rows$log_trial)
    m <- lmer(log_rt ~ A*B + log_trial + (1|participant) + (1|item), rows)
    result <- as.data.frame(coef(summary(m)))
    b <- fixef(m); V <- as.matrix(vcov(m))
    g <- c(exp(b[1] + b[2]/2) - exp(b[1] - b[2]/2), (exp(b[1] + b[2]/2) + exp(b[1] - b[2]/2))/2)
    half <- qt(.975, result[2, 3]) * sqrt(t(g) %*% V[1:2, 1:2] %*% g)
    result$ms <- g[1]; result$low <- g[1] - half[1]; result$high <- g[1] + half[1]
    """
    reference = rscript(code, rows=rows)
    ours = select_factors(found["results"]).query("random == 'intercepts' and response == 'log_rt'")
    assert ours["term"].to_list()[1].startswith("extraction")
    np.testing.assert_allclose(ours["estimate"], reference.iloc[:, 0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours[["se", "df"]], reference.iloc[:, 1:3], rtol=1e-3)
    told = ours.set_index("contrast").loc["extraction: object minus subject", ["ms", "ms_low", "ms_high"]]
    np.testing.assert_allclose(told.astype(float), reference[["ms", "low", "high"]].iloc[0], rtol=1e-4)


def test_the_interval_in_ms_is_the_same_with_slopes_whose_correlations_are_in(rscript: Callable[..., pd.DataFrame]) -> None:
    _, times = measured()
    own = ModelSection("m", "log_rt ~ extraction + (1 + extraction|participant) + (1|item)")
    ours = fit_trials(build_trials(times=times, conditions=conditions()), models=(own,))["effects"]
    rows = times.assign(A=times["condition"].str.startswith("object") - 0.5)
    code = """
    library(lmerTest)
    m <- lmer(log_rt ~ A + (1 + A|participant) + (1|item), rows)
    b <- fixef(m); V <- as.matrix(vcov(m))
    g <- c(exp(b[1] + b[2]/2) - exp(b[1] - b[2]/2), (exp(b[1] + b[2]/2) + exp(b[1] - b[2]/2))/2)
    half <- qt(.975, coef(summary(m))[2, 3]) * sqrt(t(g) %*% V %*% g)
    result <- data.frame(ms = g[1], low = g[1] - half[1], high = g[1] + half[1])
    """
    told = ours.set_index("contrast").loc["extraction: object minus subject", ["ms", "ms_low", "ms_high"]]
    np.testing.assert_allclose(told.astype(float), rscript(code, rows=rows).iloc[0], rtol=1e-3)


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_the_r_code_of_a_declared_model_starts_from_the_written_tables(
    tmp_path: Path, rscript: Callable[..., pd.DataFrame]
) -> None:
    trials = measured_trials()
    own = ModelSection("m", "log_rt ~ extraction*noun + log_trial + (1|participant) + (1|item)", contrasts={"noun": "treatment"})
    found = fit_trials(trials, models=(own,), engine="lme4")
    ours = select_factors(found["results"])
    write(trials.times, "region_times", tmp_path, command="c")
    [code] = found["models"]["code"]
    reference = rscript(code + "result <- as.data.frame(coef(summary(model)))")
    np.testing.assert_allclose(ours[["estimate", "se", "df"]].astype(float), reference.iloc[:, :3], rtol=1e-5)


@pytest.mark.parametrize(
    ("coding", "told"),
    [
        ("sum", "extraction: subject minus the mean of all"),
        ("treatment", "extraction: object minus subject"),
        ("helmert", "extraction: object minus the mean of subject, divided by 2"),
    ],
)
def test_a_contrast_says_what_it_compares(coding: str, told: str) -> None:
    trials = measured_trials()
    own = ModelSection("m", "z ~ extraction + (1|participant) + (1|item)", contrasts={"extraction": coding})
    found = fit_trials(trials, models=(own,))
    row = found["effects"].set_index("contrast").loc[told]
    assert found["planned_models"]["tested"].to_list() == [told]
    means = trials.scores.merge(conditions().query("factor == 'extraction'"), on=["paradigm", "condition"])
    difference = means.groupby("level")["z"].mean()
    wanted = {"sum": -0.5, "treatment": 1.0, "helmert": 0.5}[coding]
    assert row["estimate"] == pytest.approx(wanted * (difference["object"] - difference["subject"]), abs=0.02)
    assert row["mde"] > 0


def test_slopes_come_as_far_as_the_design_allows_and_each_fit_is_noted(found: Tables) -> None:
    slopes = found["results"].query("random == 'slopes' and response == 'log_rt'")
    assert "extraction" in slopes["formula"].iloc[0].partition("(")[2]
    first = found["models"].query("model_id == @slopes['model_id'].iloc[0] and step == 0")["formula"].item()
    assert first.count("extraction_object_subject") == 6  # main effect and interaction: fixed, by participant, by item


def test_codes_of_contrasts_stand_by_condition_and_conditions_of_a_model_without_factors_too() -> None:
    own = ModelSection("noun", "log_rt ~ noun + (1|participant)", contrasts={"noun": "treatment"})
    plain = ModelSection("trial", "log_rt ~ log_trial + (1|participant)")
    codes = fit_trials(measured_trials(), models=(own, plain))["contrast_codes"]
    assert codes[codes["model"] == "noun"][["condition", "column", "code"]].to_numpy().tolist() == [
        ["object.description", "noun_name", 0.0],
        ["object.name", "noun_name", 1.0],
        ["subject.description", "noun_name", 0.0],
        ["subject.name", "noun_name", 1.0],
    ]
    without = codes[codes["model"] == "trial"]
    assert len(without) == 4
    assert without[["column", "code"]].isna().all(axis=None)


def test_a_region_named_by_a_model_holds_every_word_that_overlaps_it_though_a_smaller_one_lies_within() -> None:
    sentence = "The pilot that thanked Helen missed the train"
    regions = '[["embedded", 10, 28], ["verb", 15, 22], ["critical", 29, 35]]'
    items = pd.DataFrame([{"item": "i", "condition": "c", "sentence": sentence, "regions": regions}])
    spans = [(w, sentence.index(t), sentence.index(t) + len(t)) for w, t in enumerate(sentence.split())]
    words = pd.DataFrame([{"item": "i", "condition": "c", "word": w, "start": a, "end": b} for w, a, b in spans])
    innermost = [None, None, "embedded", "verb", "embedded", "critical", None, None]
    readings = words.drop(columns=["start", "end"]).assign(region=innermost)
    assert mark_region_words(readings, items, words, "embedded").query("region == 'embedded'")["word"].to_list() == [2, 3, 4]
    with pytest.raises(DataError, match="region 'object' is in no sentence; there are critical, embedded, verb"):
        mark_region_words(readings, items, words, "object")


def test_models_say_which_regions_they_are_about() -> None:
    own = [("a", "log_rt ~ x + (1|item)", "verb"), ("b", "log_rt ~ x + (1|item)", "verb+1"), ("c", "z ~ x + (1|item)", "v")]
    models = tuple(ModelSection(name, formula, region) for name, formula, region in own)
    assert list_declared_regions(AnalysisSection(models=models)) == ["verb"]
    varied = MultiverseSection(regions=("object", "critical+1"))
    assert list_declared_regions(AnalysisSection(models=models, multiverse=varied)) == ["verb", "object"]


def test_faults_of_declared_models_are_told_with_the_model_s_name() -> None:
    wrong = ModelSection("m", "log_rt ~ extractoin + (1|participant) + (1|item)")
    with pytest.raises(DataError, match=r"'m': 'extractoin' is no column; expected some of .*extraction"):
        fit_trials(measured_trials(), models=(wrong,))
    several = (
        ModelSection("a", "time ~ extraction + (1|item)"),
        ModelSection("b", "z ~ extraction + (1|item)", paradigms=("islands",)),
    )
    with pytest.raises(DataError) as found:
        fit_trials(measured_trials(), models=several)
    assert "the response is 'time'; expected z, rating, log_rt, rt" in str(found.value)
    assert "no paradigm 'islands'; there are relatives" in str(found.value)
    nowhere = ModelSection("m", "log_rt ~ extraction + (1|participant) + (1|item)", region="verb")
    [row] = fit_trials(measured_trials(), models=(nowhere,))["results"].to_dict("records")
    assert row["note"] == "Not fitted: no trial of these paradigms was measured there"


def test_uncorrelated_slopes_are_fitted_by_the_engine_that_can_and_refused_by_the_other_with_the_model_s_name() -> None:
    own = ModelSection("m", "log_rt ~ extraction + (1 + extraction||participant) + (1|item)")
    with pytest.raises(DataError) as caught:
        fit_trials(measured_trials(), models=(own,))
    assert str(caught.value) == (
        "analysis.models, 'm': engine 'glmm' does not support uncorrelated random effects, (1 + extraction||participant); engine "
        "'lme4' does"
    )


def test_factors_stand_in_the_order_of_the_materials_and_what_was_not_measured_has_no_model() -> None:
    _, times = measured()
    trials = build_trials(times=times, conditions=conditions())
    own = ModelSection("m", "log_rt ~ noun*extraction + (1|participant) + (1|item)")
    assert fit_trials(trials, models=(own,))["factorial_means"]["factors"].unique().tolist() == ["extraction x noun"]
    assert {model.response for model in resolve_plan(AnalysisSection(), trials).models} == {"log_rt"}


def test_a_slope_of_what_is_no_fixed_effect_is_refused_with_the_model_s_name() -> None:
    own = ModelSection("within", "log_rt ~ extraction/noun + (1 + noun|participant) + (1|item)")
    with pytest.raises(DataError) as caught:
        fit_trials(measured_trials(), models=(own,))
    assert str(caught.value) == (
        "analysis.models, 'within': engine 'glmm' does not support slopes of what is no fixed effect, noun in "
        "(1 + noun|participant); engine 'lme4' does"
    )


def test_declared_models_without_the_table_of_conditions_are_refused(tables: dict[str, pd.DataFrame]) -> None:
    own = ModelSection("m", "z ~ extraction + (1|participant) + (1|item)")
    given = {name: tables[name] for name in ("readings", "responses", "sessions", "items")}
    with pytest.raises(DataError, match="table conditions is missing; the declared model 'm' needs it"):
        analyse(given, AnalysisSection(models=(own,)))


def test_the_keys_of_models_are_checked() -> None:
    with pytest.raises(DataError) as found:
        parse_dataclass(
            AnalysisSection, {"models": [{"name": "a", "formula": "z", "contrasts": {"x": "dummy"}}]}, where="study.toml"
        )
    assert "formula is 'z'; expected  response ~ predictors" in str(found.value)
    own = {"name": "a", "formula": "z ~ x + (1|item)"}
    with pytest.raises(DataError, match="'a' occurs twice"):
        parse_dataclass(AnalysisSection, {"models": [own, own]}, where="study.toml")


def test_sentences_tell_every_contrast_in_apa_style(found: Tables) -> None:
    told = factorial_effects(select_factors(found["results"]))
    assert len(told) == 2
    assert told[1].startswith("Log reading time, critical region (with slopes, singular fit): extraction (object")
    assert " ms, 95% CI [" in told[1]
    assert "; with intercepts alone: t(" in told[1]


def test_the_methods_name_formulas_contrasts_and_whom_to_cite(found: Tables) -> None:
    text = ready_to_paste(found)
    assert "extraction: object minus subject; noun: name minus description." in text
    assert "all slopes that the design allows" in text
    assert "https://doi.org/10.1016/j.jml.2019.104038" in text
    assert "## Factors of the study" in text


def test_the_figure_has_a_row_for_each_contrast(found: Tables) -> None:
    drawn = factorial_figure(select_factors(found["results"]), "z")
    labels = [text.get_text().replace("\n", " ").replace("\xa0", " ") for text in drawn.axes[0].get_yticklabels()]
    assert labels == ["extraction (object − subject)", "noun (name − description)", "extraction × noun"]


def test_means_of_cells_stand_in_the_order_of_the_materials_on_the_models_scale(found: Tables) -> None:
    _, times = measured()
    table = found["factorial_means"]
    times_of_cells = table.query("response == 'log_rt'")
    assert times_of_cells["levels"].to_list() == [" x ".join(levels) for levels in LEVELS]
    assert set(times_of_cells["factors"]) == {"extraction x noun"}
    by_person = times.groupby(["condition", "participant"])["log_rt"].mean().groupby("condition").mean()
    np.testing.assert_allclose(times_of_cells["mean_value"], [by_person[".".join(levels)] for levels in LEVELS])
    np.testing.assert_allclose(times_of_cells["ms"], np.exp(times_of_cells["mean_value"]))
    assert table.query("response == 'z'")["ms"].isna().all()
    assert not table.duplicated(["response", "levels"]).any(), "once, whatever random effects models have"


def test_a_declared_model_has_the_means_of_its_own_factors_and_response() -> None:
    own = ModelSection("noun alone", "rt ~ noun + log_trial + (1|participant)")
    table = fit_trials(measured_trials(), models=(own,))["factorial_means"]
    assert table[["model", "response", "factors", "levels"]].to_numpy().tolist() == [
        ["noun alone", "rt", "noun", "description"],
        ["noun alone", "rt", "noun", "name"],
    ]
    covariate = ModelSection("trials alone", "rt ~ log_trial + (1|participant)")
    assert fit_trials(measured_trials(), models=(covariate,))["factorial_means"].empty


def test_a_minimal_pair_is_left_to_the_models_of_grammaticality() -> None:
    scores, times = measured()
    pair = pd.DataFrame(
        [("relatives", c, "grammaticality", c) for c in ("grammatical", "ungrammatical")],
        columns=["paradigm", "condition", "factor", "level"],
    )
    tables = fit_trials(build_trials(scores=scores, times=times, conditions=pair))
    assert all(table.empty for table in tables.values())


def test_population_is_a_factor_between_participants() -> None:
    """In a balanced design the coefficients are differences of the cells' means."""
    random = np.random.default_rng(3)
    rows = [
        (f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, "model" if p % 4 > 1 else "people", random.normal())
        for p in range(16)
        for i in range(8)
    ]
    scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "population", "z"])
    scores["z"] += (scores["population"] == "model") * 0.5 + (scores["condition"] == "b") * 0.8
    scores = scores.assign(role="target", paradigm="ever", task="rating", prompt="rating", rating=4.0)
    levels = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]
    conditions = pd.DataFrame(levels, columns=["paradigm", "condition", "factor", "level"])
    declared = ModelSection("both", "z ~ population*npi + (1|participant)")
    made = fit_trials(build_trials(scores=scores, conditions=conditions), models=(declared,))
    found = select_factors(made["results"]).set_index("term")["estimate"]
    cell = scores.groupby(["population", "condition"])["z"].mean()
    people, model = (cell[who, "b"] - cell[who, "a"] for who in ("people", "model"))
    assert found["population_model_people"] == pytest.approx(cell["model"].mean() - cell["people"].mean(), abs=1e-6)
    assert found["npi_ever_any"] == pytest.approx((people + model) / 2, abs=1e-6)
    assert found["population_model_people:npi_ever_any"] == pytest.approx(model - people, abs=1e-6)
    assert set(made["factorial_means"]["factors"]) == {"npi x population"}
    with pytest.raises(DataError, match="'population' is no column"):
        fit_trials(build_trials(scores=scores.drop(columns="population"), conditions=conditions), models=(declared,))
