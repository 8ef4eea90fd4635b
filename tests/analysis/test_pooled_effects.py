"""Effects of several experiments: matched, refused, pooled, and compared in one model of all trials."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import fit_plan, pool_effects, resolve_plan
from gardenpath.analysis.fitting.pooled_effects import describe_unshared, pool_parallel
from gardenpath.analysis.modelling.meta_analysis import pool_estimates
from gardenpath.analysis.plan import StudyTrials
from gardenpath.analysis.reporting.figures.pooled_figures import forest_figure
from gardenpath.analysis.reporting.wording import pooling
from gardenpath.study import TABLES, AnalysisSection, DataError

Tables = dict[str, pd.DataFrame]
LEVELS = [("ever", "a", "npi", "any"), ("ever", "b", "npi", "ever")]


def trials(seed: int, effect: float, participants: int = 12, items: int = 8, experiment: str = "E1") -> StudyTrials:
    random = np.random.default_rng(seed)
    people, sentences = random.normal(0, 0.4, participants), random.normal(0, 0.3, items)
    slopes, by_item = random.normal(0, 0.3, participants), random.normal(0, 0.2, items)
    rows = []
    for p in range(participants):
        for i in range(items):
            code = (p + i) % 2 - 0.5
            z = people[p] + sentences[i] + code * (effect + slopes[p] + by_item[i]) + random.normal(0, 0.5)
            rows.append((f"P{p}", f"i{i}", "ab"[(p + i) % 2], i, z))
    scores = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "z"])
    scores = scores.assign(
        role="target", paradigm="ever", task="rating", prompt="rating", experiment=experiment, rating=scores["z"]
    )
    conditions = pd.DataFrame(LEVELS, columns=["paradigm", "condition", "factor", "level"])
    times, answers = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("region_times", "binary_responses"))
    return StudyTrials(scores, times, answers, scores[["paradigm", "item", "condition"]], conditions)


def results(one: StudyTrials, settings: AnalysisSection | None = None) -> Tables:
    tables = fit_plan(resolve_plan(settings or AnalysisSection(), one), one)
    return {**tables, "rating_scores": one.scores, "region_times": one.times, "binary_responses": one.answers}


def experiments(effects: Sequence[float], first: int = 1) -> dict[str, Tables]:
    return {f"E{n}": results(trials(n, effect)) for n, effect in enumerate(effects, start=first)}


def of_kind(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    return table[(table["kind"] == kind) & (table["response"] == "z")]


@pytest.mark.parametrize("effects", [(0.5, 0.5), (0.8, -0.8, 0.1), (0.1, 0.2, 0.3, 0.4, 0.5)])
def test_each_experiment_stands_beside_what_they_come_to(effects: Sequence[float]) -> None:
    given = experiments(effects)
    table = pool_effects(given)
    own, [pooled] = of_kind(table, "experiment"), of_kind(table, "pooled").to_dict("records")
    assert own["experiment"].to_list() == [*given]
    for name, estimate in zip(own["experiment"], own["estimate"], strict=True):
        found = given[name]["effects"]
        assert estimate == found.loc[found["headline"] & found["contrast"].notna() & (found["response"] == "z"), "estimate"].item()
    expected = pool_estimates(own["estimate"].to_list(), own["se"].to_list())
    assert (pooled["estimate"], pooled["ci_low"], pooled["tau_high"]) == (expected.estimate, expected.ci_low, expected.tau_high)
    assert own["weight"].sum() == pytest.approx(1)
    assert pooled["n_experiments"] == len(effects)
    differences = of_kind(table, "difference")
    assert differences["experiment"].to_list() == [f"E{n + 1} minus E{n}" for n in range(1, len(effects))]
    assert len(of_kind(table, "differences")) == (len(effects) > 2)
    [sentence, *others] = pooling.pooled_effects(table[table["response"] == "z"])
    assert f"pooled over {len(effects)} experiments" in sentence
    assert any("above zero" in other for other in others) == (own["estimate"].min() < 0 < own["estimate"].max())
    figure = forest_figure(table, "z")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [*given, "pooled"]


def test_opposite_effects_differ_and_are_said_to() -> None:
    table = pool_effects(experiments((0.9, -0.9)))
    [difference] = of_kind(table, "difference").to_dict("records")
    assert difference["estimate"] < -1
    assert difference["p"] < 0.001
    sentences = pooling.pooled_effects(table[table["response"] == "z"])
    assert "The estimate is above zero in experiment E1 and below it in experiment E2." in sentences
    assert any("the effect differs between experiments" in sentence for sentence in sentences)


def test_items_of_one_name_are_one_item_and_participants_are_their_own() -> None:
    [joint] = of_kind(pool_effects(experiments((0.5, 0.5))), "joint").to_dict("records")
    assert (joint["n"], joint["n_participants"], joint["n_items"]) == (192, 24, 8)


def test_a_failed_model_is_left_out_and_named() -> None:
    given = experiments((0.5, 0.4, 0.3))
    one = trials(9, 0.5)
    given["E4"] = results(replace(one, scores=one.scores[one.scores["participant"] == "P0"], _positions={}))
    table = pool_effects(given)
    [failed] = of_kind(table, "experiment").query("experiment == 'E4'").to_dict("records")
    assert math.isnan(failed["estimate"])
    assert math.isnan(failed["weight"])
    assert str(failed["note"]).startswith("left out: not fitted:")
    without = of_kind(pool_effects(experiments((0.5, 0.4, 0.3))), "pooled")["estimate"].item()
    assert of_kind(table, "pooled")["estimate"].item() == without
    assert any(sentence.startswith("Experiment E4 is not in it (not fitted") for sentence in pooling.pooled_effects(table))


def test_one_fitted_experiment_is_not_pooled() -> None:
    one = trials(9, 0.5)
    failed = results(replace(one, scores=one.scores[one.scores["participant"] == "P0"], _positions={}))
    table = pool_effects({"E1": results(trials(1, 0.5)), "E2": failed})
    assert set(table["kind"]) == {"experiment"}
    assert "fewer than two experiments" in pooling.pooled_effects(table)[0]


def test_another_order_of_levels_is_refused() -> None:
    other = trials(2, 0.5)
    other = replace(other, conditions=other.conditions.iloc[::-1], _positions={})
    with pytest.raises(DataError, match=r"E1 compares npi: ever minus any, E2 npi: any minus ever"):
        pool_effects({"E1": results(trials(1, 0.5)), "E2": results(other)})


def test_another_scale_is_refused() -> None:
    whole = [
        replace(one, scores=one.scores.assign(rating=(one.scores["z"] * k).round().clip(-k, k)), _positions={})
        for k, one in ((2, trials(1, 0.5)), (3, trials(2, 0.5)))
    ]
    from gardenpath.study.config import ModelSection

    settings = AnalysisSection(models=(ModelSection("ever", "rating ~ npi + (1|participant) + (1|item)"),))
    with pytest.raises(DataError, match=r"ratings go from -2 to 2 in E1, from -3 to 3 in E2"):
        pool_effects({f"E{n}": results(one, settings) for n, one in enumerate(whole, start=1)})


def test_what_one_experiment_lacks_is_said() -> None:
    given = experiments((0.5, 0.4))
    for name in ("effects", "models", "planned_models"):
        table = given["E1"][name]
        more = table[table["model_id"].str.contains(" z ")].copy()
        more["model_id"] = more["model_id"].str.replace("sentence", "critical")
        if "region" in more:
            more["region"] = "critical"
        given["E1"][name] = pd.concat([table, more], ignore_index=True)
    assert [line for line in describe_unshared(given) if "critical" in line] == [
        "ever, z critical (rating) is in E1 and not in E2: not pooled"
    ]
    assert set(pool_effects(given)["region"]) == {"sentence"}


def test_one_experiment_or_no_common_model_is_refused() -> None:
    [one] = experiments((0.5,)).values()
    with pytest.raises(DataError, match="expected the results of two or more"):
        pool_effects({"E1": one})
    other = {name: table.assign(model="other") if "model" in table else table for name, table in one.items()}
    with pytest.raises(DataError, match="none is in two of these"):
        pool_effects({"E1": one, "E2": other})


def combined(names: Sequence[str]) -> StudyTrials:
    parts = [trials(n, 0.5, experiment=name) for n, name in enumerate(names, start=1)]
    scores = pd.concat(
        [part.scores.assign(participant=name + part.scores["participant"]) for name, part in zip(names, parts, strict=True)]
    )
    return replace(parts[0], scores=scores.reset_index(drop=True), _positions={})


@pytest.mark.parametrize(("names", "found"), [(("1-E1", "2-E1"), ["1", "2"]), (("E1", "E2"), ["E1", "E2"]), (("E1",), [])])
def test_parallel_experiments_of_one_study(names: Sequence[str], found: list[str]) -> None:
    whole = combined(names)
    table = pool_parallel(resolve_plan(AnalysisSection(), whole), whole)
    assert of_kind(table, "experiment")["experiment"].to_list() == found


def test_experiments_with_paradigms_of_their_own_are_not_compared() -> None:
    whole = combined(("E1", "E2"))
    scores = whole.scores.assign(paradigm=whole.scores["paradigm"] + whole.scores["experiment"])
    conditions = pd.concat([whole.conditions.assign(paradigm=f"ever{name}") for name in ("E1", "E2")])
    whole = replace(whole, scores=scores, items=scores[["paradigm", "item", "condition"]], conditions=conditions, _positions={})
    assert pool_parallel(resolve_plan(AnalysisSection(), whole), whole).empty


@pytest.mark.r
def test_joint_model_is_that_of_lme4(tmp_path: Path, run_r: Callable[[Path], None]) -> None:
    """The mean over experiments and both differences, by lmerTest from the trials and the formula that the table states."""
    given = experiments((0.9, 0.2, 0.5))
    table = pool_effects(given)
    [joint] = of_kind(table, "joint").to_dict("records")
    parts = [tables["rating_scores"].assign(experiment=name) for name, tables in given.items()]
    rows = pd.concat(parts, ignore_index=True)
    rows["participant"] = rows["experiment"] + rows["participant"]
    rows["npi_ever_any"] = rows["condition"].map({"a": -0.5, "b": 0.5})
    rows["experiment_E2_E1"] = rows["experiment"].map({"E1": -2 / 3, "E2": 1 / 3, "E3": 1 / 3})
    rows["experiment_E3_E2"] = rows["experiment"].map({"E1": -1 / 3, "E2": -1 / 3, "E3": 2 / 3})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    code = f"""
    suppressMessages(library(lmerTest))
    fit <- lmer({joint["formula"]}, read.csv("{tmp_path / "rows.csv"}"), control = lmerControl(calc.derivs = FALSE))
    write.csv(coef(summary(fit)), "{tmp_path / "found.csv"}")
    """
    (tmp_path / "fit.R").write_text(code)
    run_r(tmp_path / "fit.R")
    found = pd.read_csv(tmp_path / "found.csv", index_col=0)
    for term, row in (
        ("npi_ever_any", joint),
        *zip(
            ("npi_ever_any:experiment_E2_E1", "npi_ever_any:experiment_E3_E2"),
            of_kind(table, "difference").to_dict("records"),
            strict=True,
        ),
    ):
        assert (row["estimate"], row["se"]) == pytest.approx(tuple(found.loc[term, ["Estimate", "Std. Error"]]), abs=2e-5)
        assert row["df"] == pytest.approx(found.loc[term, "df"], rel=1e-2)
