"""The multiverse: each row is the fit one would make by hand, and the planned one is what `analyse` has."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse, compute_multiverse, resolve_plan
from gardenpath.analysis.fitting.multiverse import fit_multiverse, fit_wanted, prepare_multiverse
from gardenpath.analysis.measured_studies import measure_study
from gardenpath.study import AnalysisSection, DataError, ExcludeSection, HypothesisSection
from gardenpath.study.config import MultiverseSection
from gardenpath.study.executors import LocalExecutor
from gardenpath.study.plans import Plan

from .made_studies import ANYONE, INPUTS, OWN_MODEL, STUDIES, build_factorial_tables

Tables = dict[str, pd.DataFrame]
TESTS = ["estimate", "se", "df", "t", "p", "ci_low", "ci_high"]
NAMED = ["exclusions", "transformation", "random_effects", "covariates", "region"]


def plan_of(tables: Tables, settings: AnalysisSection, hypotheses: tuple[HypothesisSection, ...] = ()) -> Plan:
    return resolve_plan(settings, measure_study(tables, settings).trials, hypotheses)


def with_choices(settings: AnalysisSection, **choices: Any) -> AnalysisSection:
    return replace(settings, multiverse=MultiverseSection(**choices))


@pytest.fixture(scope="module", params=["pairs", "reading", "declared", "answers"])
def made(request: pytest.FixtureRequest) -> tuple[Tables, AnalysisSection]:
    study = STUDIES[request.param]
    tables = study.build_tables()
    given = {name: tables[name] for name in INPUTS if name in tables}
    choices = {"random_effects": (), "covariates": ()} if request.param in ("pairs", "answers") else {}
    return given, with_choices(study.settings, **choices)


@pytest.fixture(scope="module")
def grid(made: tuple[Tables, AnalysisSection]) -> pd.DataFrame:
    tables, settings = made
    return compute_multiverse(tables, settings, plan_of(tables, settings))


def test_the_planned_specification_has_the_numbers_of_effects_to_the_bit(
    made: tuple[Tables, AnalysisSection], grid: pd.DataFrame
) -> None:
    tables, settings = made
    effects = analyse(tables, settings, plan=plan_of(tables, settings))["effects"].query("kind == 'coefficient'")
    planned = grid[grid["declared"] & grid["estimate"].notna()].set_index(["model_id", "term"])
    expected = effects.set_index(["model_id", "term"]).loc[planned.index]
    assert len(planned) > 0
    pd.testing.assert_frame_equal(planned[TESTS], expected[TESTS], check_exact=True)
    both = planned["ms"].notna() & expected["ms"].notna()
    pd.testing.assert_series_equal(planned.loc[both, "ms"], expected.loc[both, "ms"], rtol=1e-12)


def test_every_combination_of_choices_is_there_once_and_none_has_more_fits_than_48(grid: pd.DataFrame) -> None:
    for _, rows in grid.groupby(["model_id", "term"]):
        assert rows["specification"].tolist() == [*range(len(rows))]
        assert not rows[NAMED].duplicated().any()
        assert len(rows) == np.prod([rows[name].nunique() for name in NAMED])
        assert rows["declared"].tolist() == [True] + [False] * (len(rows) - 1)
        assert 1 < len(rows) <= 48


def test_specifications_that_come_to_the_same_say_so_and_have_the_same_numbers(grid: pd.DataFrame) -> None:
    repeated = grid[grid["same_as"].notna()]
    assert len(repeated) > 0
    first = grid.set_index(["model_id", "term", "specification"])[[*TESTS, "n", "formula"]]
    for row in repeated.to_dict("records"):
        earlier = first.loc[(row["model_id"], row["term"], row["same_as"])]
        own = first.loc[(row["model_id"], row["term"], row["specification"])]
        assert row["same_as"] < row["specification"]
        pd.testing.assert_series_equal(earlier, own, check_names=False)


# ------------------------------------------------------------------------------------------------ against a pipeline of its own

READING = build_factorial_tables()
INPUT = {name: READING[name] for name in INPUTS if name in READING}
OTHER = with_choices(
    AnalysisSection(exclude=ANYONE),
    exclusions={"200 to 500 ms": {"min_rt": 200.0, "max_rt": 500.0}, "3 s.d.": {"remove_outliers": False, "max_sd": 2.0}},
    transformations=("ms", "-1000/ms"),
    random_effects=("intercepts",),
    covariates=((),),
    regions=("critical+1",),
    most_fits=72,
)


@pytest.fixture(scope="module")
def varied() -> pd.DataFrame:
    return compute_multiverse(INPUT, OTHER, plan_of(INPUT, OTHER))


def pick(table: pd.DataFrame, **choices: str) -> pd.DataFrame:
    """Return the rows of one specification, by term."""
    planned = {"exclusions": "as planned", "transformation": "log", "random_effects": "as planned", "covariates": "log_trial"}
    for name, choice in {**planned, "region": "critical", **choices}.items():
        table = table[table[name] == choice]
    return table.set_index("term")


def leave_in(words: pd.DataFrame, low: float, high: float) -> "pd.Series[bool]":
    """Participants whose critical word is outside in more than a fifth of their trials are left out: another rule, by these cut-offs."""
    outside = ~words["rt"].between(low, high)[words["region"] == "critical"]
    return words["participant"].map(outside.groupby(words["participant"]).mean()) <= 0.2


def prepare_by_hand(kept: Callable[[pd.DataFrame], pd.Series], word: int = 3) -> pd.DataFrame:
    """Return the trials of a region of one word in plain pandas, with codes of the factors."""
    words = READING["readings"].copy()
    words["log"] = np.log(words["rt"])
    by = words.groupby("participant")["log"]
    words["far"] = (words["log"] - by.transform("mean")).abs() / by.transform("std")
    rows = words[(words["word"] == word) & kept(words)].copy()
    rows[["extraction", "noun"]] = [name.split(".") for name in rows["condition"]]
    rows["e"] = np.where(rows["extraction"] == "object", 0.5, -0.5)
    rows["n"] = np.where(rows["noun"] == "name", 0.5, -0.5)
    rows["lt"] = np.log1p(rows["trial"].astype(float))
    rows["inverse"] = -1000 / rows["rt"]
    return rows[["participant", "item", "rt", "log", "inverse", "e", "n", "lt"]]


@pytest.mark.parametrize(
    ("choices", "kept", "formula"),
    [
        (
            {"exclusions": "200 to 500 ms", "random_effects": "intercepts"},
            lambda words: words["rt"].between(200, 500) & leave_in(words, 200, 500),
            "log ~ e * n + lt + (1 | participant) + (1 | item)",
        ),
        (
            {"exclusions": "3 s.d.", "transformation": "-1000/ms", "random_effects": "intercepts", "covariates": "none"},
            lambda words: words["far"] <= 2,
            "inverse ~ e * n + (1 | participant) + (1 | item)",
        ),
        (
            {"transformation": "ms", "random_effects": "intercepts", "region": "critical+1"},
            lambda words: words["rt"].between(100, 3000),
            "rt ~ e * n + lt + (1 | participant) + (1 | item)",
        ),
    ],
)
def test_a_specification_is_what_pandas_and_lmer_find(
    varied: pd.DataFrame, rscript: Callable[..., pd.DataFrame], choices: dict[str, str], kept: Any, formula: str
) -> None:
    rows = prepare_by_hand(kept, word=4 if choices.get("region") == "critical+1" else 3)
    code = (
        "suppressMessages(library(lmerTest))\n"
        f"found <- summary(lmer({formula}, data = rows))$coefficients\n"
        "result <- data.frame(term = rownames(found), estimate = found[, 1], se = found[, 2], df = found[, 3])\n"
    )
    found = rscript(code, rows=rows).set_index("term").loc[["e", "n", "e:n"]]
    ours = pick(varied, **choices).loc[
        ["extraction_object_subject", "noun_name_description", "extraction_object_subject:noun_name_description"]
    ]
    assert set(ours["n"]) == {len(rows)}
    np.testing.assert_allclose(ours[["estimate", "se"]], found[["estimate", "se"]], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours["df"], found["df"], rtol=1e-3)


def test_estimates_compare_in_standard_deviations_and_in_ms(varied: pd.DataFrame) -> None:
    rows = prepare_by_hand(lambda words: words["rt"].between(100, 3000))
    log, ms = pick(varied), pick(varied, transformation="ms")
    np.testing.assert_allclose(log["standardised"], log["estimate"] / rows["log"].std(), rtol=1e-12)
    np.testing.assert_allclose(ms["standardised_high"], ms["ci_high"] / rows["rt"].std(), rtol=1e-12)
    term = "extraction_object_subject"
    assert ms.loc[term, "ms"] == pytest.approx(ms.loc[term, "estimate"])
    assert log.loc[term, "ms"] == pytest.approx(ms.loc[term, "ms"], rel=0.3)
    assert log["ms"].isna().tolist() == [False, False, True]  # an interaction is no difference of two levels


# ------------------------------------------------------------------------------------------------ choices

PAIRS = STUDIES["pairs"]


@pytest.fixture(scope="module")
def pair_tables() -> Tables:
    tables = PAIRS.build_tables()
    return {name: tables[name] for name in INPUTS if name in tables}


def test_ratings_as_given_have_the_intercepts_of_participants_back(pair_tables: Tables) -> None:
    settings = with_choices(PAIRS.settings, exclusions={}, covariates=())
    table = compute_multiverse(pair_tables, settings, plan_of(pair_tables, settings)).query("response == 'z'")
    raw = table.query("transformation == 'raw'")
    assert set(raw.query("random_effects == 'as planned'")["formula"]) == {
        "rating ~ grammaticality + (1 + grammaticality|participant) + (1 + grammaticality|item)"
    }
    assert set(raw.query("random_effects == 'intercepts'")["formula"]) == {"rating ~ grammaticality + (1|participant) + (1|item)"}


def test_the_flagged_of_each_prompt_are_left_out_of_its_ratings_and_those_of_every_prompt_of_reading_times(
    pair_tables: Tables,
) -> None:
    settings = with_choices(
        PAIRS.settings, exclusions={"without": {"without_flagged": True}}, transformations=(), random_effects=(), covariates=()
    )
    measured = measure_study(pair_tables, settings)
    flagged = measured.prompts[measured.prompts["flagged"].fillna(False).astype(bool)]
    names = {prompt: set(rows["participant"]) for prompt, rows in flagged.groupby("prompt")}
    assert 0 < len(names["acceptability"]) < len(names["plausibility"])
    table = compute_multiverse(pair_tables, settings, plan_of(pair_tables, settings))
    rows = table[(table["exclusions"] == "without") & (table["model"] == "agreement")]
    agreement = measured.trials.scores.dropna(subset="z").query("role == 'target' and phenomenon == 'agreement'")
    for prompt, out in names.items():
        rated = agreement[agreement["prompt"] == prompt]
        found = rows.loc[(rows["response"] == "z") & (rows["prompt"] == prompt), "n"]
        assert found.tolist() == [(~rated["participant"].isin(out)).sum()]
    timed = measured.trials.times.query("region == 'critical' and phenomenon == 'agreement'")
    both = names["acceptability"] & names["plausibility"]
    assert rows.loc[rows["response"] == "log_rt", "n"].tolist() == [(~timed["participant"].isin(both)).sum()]


def test_hypotheses_name_their_rows_and_can_be_all_that_is_varied() -> None:
    settings = AnalysisSection(exclude=ANYONE, multiverse=MultiverseSection(only_hypotheses=True))
    stated = (HypothesisSection("extraction", "log_rt", "slower objects"),)
    table = compute_multiverse(INPUT, settings, plan_of(INPUT, settings, stated))
    assert set(table["hypothesis"]) == {"slower objects"}
    assert set(table["term"]) == {"extraction_object_subject"}
    without = plan_of(INPUT, settings)
    assert (without.multiverse, without.exclusion_rules) == ((), ())


def test_defaults_leave_out_what_there_is_no_room_for() -> None:
    for most, expected in ((48, 40), (8, 8), (2, 2), (1, 1)):
        [one] = plan_of(INPUT, AnalysisSection(exclude=ANYONE, multiverse=MultiverseSection(most_fits=most))).multiverse
        assert len(one.list_specifications()) == expected


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"most_fits": 20}, "and most_fits is 20; expected fewer choices, or most_fits = 72"),
        ({"regions": ("spillover",)}, "region"),
        ({"covariates": (("age",),)}, "'age' is no column"),
    ],
)
def test_choices_that_are_too_many_or_not_there_are_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        plan_of(INPUT, replace(OTHER, multiverse=replace(OTHER.multiverse, **choices)))


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"minrt": 50}, "key 'minrt' is not known; did you mean 'min_rt'"),
        ({"min_accuracy": 90}, "min_accuracy is 90; expected a share"),
        ({"max_sd": "three"}, "max_sd is 'three'; expected a number"),
        ({"without_flagged": 1}, "without_flagged is 1; expected true or false"),
        ({"min_rt": 5000.0}, "multiverse.exclusions.other: min_rt is 5000"),
        ({}, "exclusions.other is empty"),
    ],
)
def test_rules_that_are_none_are_refused_where_they_stand(rules: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AnalysisSection(multiverse=MultiverseSection(exclusions={"other": rules}))


def test_rules_that_leave_nobody_keep_their_rows_with_the_reason() -> None:
    settings = with_choices(
        AnalysisSection(exclude=ExcludeSection()), exclusions={"an hour": {"min_minutes": 60.0}}, transformations=(), covariates=()
    )
    table = compute_multiverse(INPUT, settings, plan_of(INPUT, settings))
    rows = table[table["exclusions"] == "an hour"]
    assert len(rows) == 6
    assert rows["estimate"].isna().all()
    assert rows["note"].str.contains("Not fitted: the exclusion rules leave none of 16 sessions").all()


def test_a_fit_that_fails_keeps_its_row_with_its_note() -> None:
    settings = with_choices(
        AnalysisSection(exclude=ANYONE),
        exclusions={"narrow": {"min_rt": 300.0, "max_rt": 300.5}},
        transformations=(),
        covariates=(),
    )
    table = compute_multiverse(INPUT, settings, plan_of(INPUT, settings))
    rows = table[table["exclusions"] == "narrow"]
    assert rows["estimate"].isna().all()
    assert rows["note"].str.startswith("Not fitted: ").all()
    assert not rows["converged"].any()


def test_declared_models_are_varied_under_every_policy() -> None:
    settings = with_choices(
        AnalysisSection(exclude=ANYONE, models=(OWN_MODEL,)),
        exclusions={}, transformations=(), covariates=(), random_effects=("intercepts", "maximal", "parsimonious"),
    )  # fmt: skip
    table = compute_multiverse(INPUT, settings, plan_of(INPUT, settings))
    table = table[table["term"] == table["term"].iloc[0]]
    assert table["random_effects"].tolist() == ["as planned", "intercepts", "maximal", "parsimonious"]
    assert table["formula"].iloc[1].endswith("(1|participant) + (1|item)")
    assert set(table["region"]) == {"critical+1"}


# ------------------------------------------------------------------------------------------------ fits kept, several processes


def test_two_processes_make_the_same_table(varied: pd.DataFrame) -> None:
    found = compute_multiverse(INPUT, OTHER, plan_of(INPUT, OTHER), executor=LocalExecutor(2))
    assert found.to_csv() == varied.to_csv()


def test_fits_that_are_known_are_not_made_again(varied: pd.DataFrame) -> None:
    prepared = prepare_multiverse(INPUT, OTHER, plan_of(INPUT, OTHER))
    keys = [*prepared.fits]
    known = {key: fit_wanted(prepared.fits[key]) for key in keys[: len(keys) // 2]}
    made: list[str] = []
    counts: list[tuple[int, int]] = []
    table = fit_multiverse(
        prepared, known=known, keep=lambda one: made.append(one["key"]), progress=lambda *done: counts.append(done)
    )
    assert made == keys[len(keys) // 2 :]
    assert counts[-1] == (len(keys), len(keys))
    assert table.to_csv() == varied.to_csv()
