"""Measures of participants in models: what was simulated is found, as lme4 finds it, and who is not known is left out and counted."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath import analysis, experiment, study
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.study.config import ParticipantMeasureSection, parse_dataclass, read_toml

from ..conftest import ROOT

Tables = dict[str, pd.DataFrame]
EXTRA = """
[analysis.exclude]
min_accuracy = 0.0

[analysis.participant_measures]
age = { mean = 30, sd = 8 }
first_language = {}
years = { mean = 10, sd = 3, min = 0, max = 40 }
lextale = { file = "lextale.csv", mean = 75, sd = 10, max = 100 }

[[analysis.models]]
name = "proficiency"
formula = "log_rt ~ extraction*lextale + years + log_trial + (1 + extraction|participant) + (1|item)"

[[analysis.models]]
name = "groups"
formula = "log_rt ~ extraction*noun_phrase*first_language + age + log_trial + (1|participant) + (1|item)"
contrasts = { first_language = "sum" }

[[analysis.models]]
name = "understood"
formula = "correct ~ extraction*lextale + (1|participant) + (1|item)"

[simulate.extraction]
log_rt = { critical = 0.08 }

[simulate.lextale]
log_rt = { critical = -0.006 }

[simulate."extraction:lextale"]
log_rt = { critical = -0.008 }
accuracy = 0.06

[simulate."extraction:first_language"]
log_rt = { critical = 0.1 }

[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 80

[[procedure.demographics]]
name = "first_language"
label = "Is English your first language?"
kind = "choice"
choices = ["yes", "no"]

[[procedure.demographics]]
name = "years"
label = "For how many years have you learned English?"
"""
TRUTH = {
    ("proficiency", "extraction_object_subject"): 0.08,
    ("proficiency", "lextale"): -0.006,
    ("proficiency", "extraction_object_subject:lextale"): -0.008,
    ("proficiency", "years"): 0.0,
    ("groups", "extraction_object_subject"): 0.08,
    ("groups", "extraction_object_subject:first_language_yes"): -0.05,  # sum contrasts: yes less the mean of both
    ("groups", "age"): 0.0,
    ("understood", "extraction_object_subject:lextale"): 0.06,
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> study.Study:
    folder = tmp_path_factory.mktemp("measured")
    example = ROOT / "examples" / "relative-clauses"
    (folder / "items.jsonl").write_bytes((example / "items.jsonl").read_bytes())
    (folder / "study.toml").write_text((example / "study.toml").read_text("utf-8") + EXTRA, "utf-8")
    return study.load(folder)


@pytest.fixture(scope="module")
def tables(config: study.Study) -> Tables:
    measures = config.analysis.participant_measures
    effects = experiment.Effects(terms=config.simulate, measures=measures, comprehension=0.75)
    list_files = experiment.build_list_files(config)
    experiment.simulate(list_files, config.folder / "data", participants=120, seed=4, effects=effects)
    return dict(experiment.collect(config.folder / "data"))


@pytest.fixture(scope="module")
def results(config: study.Study, tables: Tables) -> Tables:
    return dict(analysis.analyse(tables, config.analysis))


def find_coefficients(results: Tables) -> pd.DataFrame:
    """The coefficients of the study's own models, by model and term."""
    effects = results["effects"] if "effects" in results else results["factorial_models"]
    rows = effects[effects["kind"] == "coefficient"] if "kind" in effects else effects
    return rows.set_index(["model", "term"])


def answered(tables: Tables, question: str) -> "pd.Series[str]":
    rows = tables["demographics"].query("question == @question")
    return rows.set_index("participant")["response"]


def test_simulated_participants_have_the_stated_distributions_and_say_so(tables: Tables) -> None:
    lextale = answered(tables, "lextale").astype(float)
    assert len(lextale) == 120
    assert lextale.max() <= 100
    assert abs(lextale.mean() - 75) < 3 * 10 / 120**0.5
    age = answered(tables, "age").astype(float)
    assert (age % 1 == 0).all()
    assert 18 <= age.min() <= age.max() <= 80
    assert set(answered(tables, "first_language")) == {"yes", "no"}
    assert answered(tables, "years").astype(float).std() == pytest.approx(3, abs=0.6)


def test_trials_have_the_measures_of_their_participants(config: study.Study, tables: Tables, results: Tables) -> None:
    for name in ("region_times", "rating_scores", "binary_responses"):
        rows = results[name]
        assert list(rows.columns[-4:]) == ["age", "first_language", "years", "lextale"]
        for measure in ("age", "years", "lextale"):
            assert (rows[measure] == rows["participant"].map(answered(tables, measure).astype(float))).all()
        assert (rows["first_language"].astype(str) == rows["participant"].map(answered(tables, "first_language"))).all()
    study.write(results["region_times"], "region_times", config.folder / "written", command="test")
    assert study.read(config.folder / "written", "region_times")["lextale"].astype(float).tolist() == results["region_times"]["lextale"].tolist()  # fmt: skip


def test_effects_that_were_simulated_are_found(results: Tables) -> None:
    found = find_coefficients(results)
    for key, truth in TRUTH.items():
        row = found.loc[key]
        assert abs(row["estimate"] - truth) < 3 * row["se"], (key, row["estimate"], row["se"])
    # And they are there to be found: what was stated as not 0 is far from it.
    for key in [("proficiency", "lextale"), ("proficiency", "extraction_object_subject:lextale")]:
        assert found.loc[key, "p"] < 0.05
    assert found.loc[("proficiency", "extraction_object_subject:lextale"), "p"] < 1e-5


def test_a_measure_by_condition_is_the_least_squares_slope_of_participants_differences() -> None:
    """In a design in which everybody reads every item in both conditions, worked out by hand with numpy."""
    random = np.random.default_rng(2)
    people, sentences = 20, 12
    lextale = pd.Series(random.normal(75, 10, people), index=[f"P{n:02}" for n in range(people)])
    by_person, by_item = random.normal(0, 0.2, people), random.normal(0, 0.1, sentences)
    slope = random.normal(0, 0.1, people) - 0.006 * (lextale - 75).to_numpy()
    rows = [
        (person, f"i{item:02}", condition, trial, 6 + by_person[n] + by_item[item] + code * (0.1 + slope[n]) + random.normal(0, 0.3))
        for n, person in enumerate(lextale.index)
        for item in range(sentences)
        for trial, (condition, code) in enumerate([("a", -0.5), ("b", 0.5)])
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["participant", "item", "condition", "trial", "log_rt"])
    frame = frame.assign(
        x=frame["condition"].map({"a": -0.5, "b": 0.5}), lextale=frame["participant"].map(lextale - lextale.mean())
    )
    fitted = analysis.fit(frame, "log_rt ~ x*lextale + (1 + x|participant) + (1|item)").set_index("term")
    means = frame.pivot_table(index="participant", columns="condition", values="log_rt")
    design = np.column_stack([np.ones(people), lextale - lextale.mean()])
    differences, *_ = np.linalg.lstsq(design, (means["b"] - means["a"]).to_numpy(), rcond=None)
    levels, *_ = np.linalg.lstsq(design, means.mean(axis="columns").to_numpy(), rcond=None)
    assert fitted.loc[["x", "x:lextale"], "estimate"].to_numpy() == pytest.approx(differences, abs=1e-6)
    assert fitted.loc[["intercept", "lextale"], "estimate"].to_numpy() == pytest.approx(levels, abs=1e-6)


@pytest.mark.r
def test_models_with_measures_are_lme4_s(results: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    code = """
rows <- rows[rows$region == "critical", ]
for (name in c("lextale", "years", "age", "log_trial")) rows[[name]] <- rows[[name]] - mean(rows[[name]])
rows$x <- ifelse(rows$extraction == "object", 0.5, -0.5)
rows$n <- ifelse(rows$noun_phrase == "name", 0.5, -0.5)
rows$group <- factor(rows$first_language, levels = c("yes", "no"))
contrasts(rows$group) <- contr.sum(2)
one <- lmerTest::lmer(log_rt ~ x*lextale + years + log_trial + (1 + x|participant) + (1|item), rows)
two <- lmerTest::lmer(log_rt ~ x*n*group + age + log_trial + (1|participant) + (1|item), rows)
result <- rbind(as.data.frame(coef(summary(one)))[c("lextale", "x:lextale", "years"), ],
                as.data.frame(coef(summary(two)))[c("group1", "x:group1", "x:n:group1", "age"), ])
names(result) <- c("estimate", "se", "df", "t", "p")
"""
    theirs = rscript(code, rows=results["region_times"])
    x, n, group = "extraction_object_subject", "noun_phrase_name_description", "first_language_yes"
    keys = [("proficiency", "lextale"), ("proficiency", f"{x}:lextale"), ("proficiency", "years")]
    keys += [("groups", group), ("groups", f"{x}:{group}"), ("groups", f"{x}:{n}:{group}"), ("groups", "age")]
    ours = find_coefficients(results).loc[keys]
    for column, tolerance in {"estimate": 1e-3, "se": 1e-3, "p": 5e-3}.items():
        difference = (ours[column].to_numpy() - theirs[column].to_numpy()) / (ours["se"].to_numpy() if column == "estimate" else 1)
        assert np.abs(difference).max() < tolerance, column


def test_who_is_not_known_is_left_out_of_the_models_that_ask_and_counted(
    config: study.Study, tables: Tables, results: Tables, caplog: pytest.LogCaptureFixture
) -> None:
    asked = tables["demographics"]
    asked = asked[~((asked["participant"] == "sim-0001") & (asked["question"] == "age"))]  # left empty
    typed = (asked["participant"] == "sim-0002") & (asked["question"] == "years")
    asked = asked.assign(response=asked["response"].mask(typed, "a few"))
    with caplog.at_level(logging.WARNING, logger="gardenpath"):
        fewer = dict(analysis.analyse({**tables, "demographics": asked}, config.analysis))
    assert "participant measure years: answers that count as not known: 'a few'; expected a number" in caplog.messages
    before, after = find_counts(results), find_counts(fewer)
    trials = results["region_times"].query("region == 'critical'").groupby("participant").size()
    assert after["groups"] == before["groups"] - trials["sim-0001"]
    assert after["proficiency"] == before["proficiency"] - trials["sim-0002"]
    assert after["understood"] == before["understood"]
    counted = fewer["exclusions"].query("condition == 'all' and rule.str.contains('not known')").set_index("rule")
    assert counted["n_excluded"].to_dict() == {
        "years or lextale of the participant is not known, in model 'proficiency'": trials["sim-0002"],
        "age or first_language of the participant is not known, in model 'groups'": trials["sim-0001"],
        "lextale of the participant is not known, in model 'understood'": 0,
    }
    assert (counted["n_participants_before"] - counted["n_participants_after"]).tolist() == [1, 1, 0]


def find_counts(results: Tables) -> dict[str, int]:
    """The rows of each model."""
    rows = results["factorial_models"] if "factorial_models" in results else results["models"].merge(results["planned_models"][["model_id", "model"]]).query("kept")  # fmt: skip
    return rows.groupby("model")["n"].first().to_dict()


def test_a_file_gives_what_demographics_do(config: study.Study, tables: Tables, results: Tables) -> None:
    asked = tables["demographics"]
    table = answered(tables, "lextale").rename("lextale").reset_index()
    given = {**tables, "demographics": asked[asked["question"] != "lextale"], "participant_measures": table}
    again = dict(analysis.analyse(given, config.analysis))
    pd.testing.assert_frame_equal(find_coefficients(again), find_coefficients(results))
    with pytest.raises(study.DataError, match=r"lextale\.csv: no row is of participant sim-0001; expected one, with lextale empty"):
        analysis.analyse({**given, "participant_measures": table.iloc[1:]}, config.analysis)
    with pytest.raises(study.DataError, match=r"the file lextale\.csv was not given; expected the table participant_measures"):
        analysis.analyse({name: one for name, one in given.items() if name != "participant_measures"}, config.analysis)


def test_a_factor_of_that_name_is_refused(config: study.Study, tables: Tables) -> None:
    settings = replace(config.analysis, participant_measures={"extraction": ParticipantMeasureSection()}, models=())
    with pytest.raises(study.DataError, match=r"participant_measures\.extraction: a factor of the study has this name"):
        analysis.analyse(tables, settings)


def test_the_plan_of_the_design_is_that_of_the_data(config: study.Study, results: Tables) -> None:
    planned = {one.name: one for one in resolve_design_plan(config).models}
    group = "first_language_yes"
    assert planned["groups"].coding["first_language"].levels == ("yes", "no")
    assert planned["groups"].coding["first_language"].contrasts == "sum"
    assert next(e.term for e in planned["groups"].effects if group in e.term) == group
    steps = results["model_steps"] if "model_steps" in results else results["models"]
    assert {one.first_fit for one in planned.values()} == {*steps.loc[steps["step"] == 0, "formula"]}


def test_a_plan_with_policy_gives_slopes_of_groups_by_item_and_none_by_participant(config: study.Study) -> None:
    """Between participants there is no slope, over items there is."""
    settings = replace(config.analysis, policy="maximal")
    planned = {one.name: one for one in resolve_design_plan(replace(config, analysis=settings)).models}
    by_participant, by_item = planned["groups"].first_fit.split(" + (1 + ")[1:]
    assert "first_language" not in by_participant
    assert "first_language_yes" in by_item


def test_robots_of_studies_without_measures_do_what_they_did(tmp_path: Path) -> None:
    """Measures have random numbers of their own."""
    example = study.load(ROOT / "examples" / "relative-clauses")
    lists = experiment.build_list_files(example)
    stated = read_toml(ROOT / "examples" / "relative-clauses" / "study.toml")
    stated["analysis"] = {"participant_measures": {"span": {"file": "span.csv", "mean": 4, "sd": 1}}}
    measured = parse_dataclass(study.Study, {**stated, "path": str(example.path)}, where="study.toml")
    experiment.simulate(lists, tmp_path / "a", participants=4, seed=1)
    effects = experiment.Effects(measures=measured.analysis.participant_measures)
    experiment.simulate(lists, tmp_path / "b", participants=4, seed=1, effects=effects)
    assert (tmp_path / "b" / "participant_measures.csv").read_text().startswith("participant,span\nsim-0001,")
    for table in ("readings", "responses"):
        pd.testing.assert_frame_equal(experiment.collect(tmp_path / "a")[table], experiment.collect(tmp_path / "b")[table])
    experiment.simulate(lists, tmp_path / "b", participants=4, seed=1, replace=True)  # one that holds measures is a simulation too
