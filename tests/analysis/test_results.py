"""`analyse`: every table declared, every exclusion counted, the caller's tables untouched."""

import re

import numpy as np
import pandas as pd
import pytest

from gardenpath import study
from gardenpath.analysis import analyse
from gardenpath.analysis.reporting.manuscript import ready_to_paste
from gardenpath.analysis.reporting.wording.plans import list_planned_formulas
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.study import AnalysisSection, DataError, ExcludeSection, check

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")


def changed(tables: Tables, **others: pd.DataFrame) -> Tables:
    return {name: tables[name] for name in GIVEN} | others


@pytest.fixture
def found(analysed: Tables) -> Tables:
    return analysed


def test_each_table_is_as_declared(found: Tables) -> None:
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)


def test_the_ledger_adds_up_from_the_first_row_to_the_last(tables: Tables, found: Tables) -> None:
    ledger = found["exclusions"]
    assert (ledger["n_before"] - ledger["n_excluded"] == ledger["n_after"]).all()
    ledger = ledger[ledger["condition"] == "all"]
    for name in ("readings", "responses"):
        assert ledger.loc[ledger["table"] == name, "n_before"].iloc[0] == len(tables[name])
    for _, steps in ledger.groupby("table"):
        assert steps["n_before"].to_list()[1:] == steps["n_after"].to_list()[:-1]
        assert steps["n_participants_before"].to_list()[1:] == steps["n_participants_after"].to_list()[:-1]
    ends = ledger.groupby("table")["n_after"].last()
    assert ends["rating_scores"] == len(found["rating_scores"]) == ends["responses"]
    regions = found["region_times"]["region"].value_counts()
    assert all(ends[f"region_times: {region}"] == n for region, n in regions.items())


def test_the_ledgers_conditions_add_up_to_all_of_them(found: Tables) -> None:
    ledger = found["exclusions"].query("table != 'sessions'")
    for name in ("n_before", "n_excluded", "n_after"):
        whole = ledger[ledger["condition"] == "all"].set_index(["step", "table"])[name]
        parts = ledger[ledger["condition"] != "all"].groupby(["step", "table"])[name].sum()
        assert parts.reindex(whole.index, fill_value=0).eq(whole).all()


def test_an_incomplete_session_and_one_slow_region_are_excluded_and_nothing_else(found: Tables) -> None:
    ledger = found["exclusions"].query("condition == 'all'").set_index(["table", "rule"])["n_excluded"]
    assert ledger["sessions", "session not complete"] == 1
    slow = "a word of critical was read in less than 100 or more than 3000 ms"
    assert ledger["region_times: critical", slow] == 1
    after = "critical+1 is not there or ends the sentence"
    assert ledger["region_times: critical+1", after] == 0
    assert "P23" not in set(found["rating_scores"]["participant"])
    assert "practice" not in set(found["rating_scores"]["role"])


def test_excluding_reading_times_leaves_ratings_as_they_are(islands: Tables, analysed_islands: Tables) -> None:
    anyone = ExcludeSection(max_outside_cutoffs=1)
    narrow = analyse({name: islands[name] for name in GIVEN}, AnalysisSection(min_rt=250, max_rt=400, exclude=anyone))
    pd.testing.assert_frame_equal(narrow["rating_scores"], analysed_islands["rating_scores"])
    assert len(narrow["region_times"]) < len(analysed_islands["region_times"])


def test_the_tables_given_are_not_changed(islands: Tables) -> None:
    before = {name: islands[name].copy(deep=True) for name in GIVEN}
    analyse({name: islands[name] for name in GIVEN})
    for name, frame in before.items():
        pd.testing.assert_frame_equal(islands[name], frame)


def test_row_order_changes_no_result(tables: Tables, found: Tables) -> None:
    shuffled = [tables[name].sample(frac=1, random_state=1).reset_index(drop=True) for name in GIVEN]
    again = analyse(dict(zip(GIVEN, shuffled, strict=True)))
    numbers = ["phenomenon", "condition", "region", "measure", "n_participants", "n_observations", "mean_value", "se"]
    pd.testing.assert_frame_equal(again["condition_means"][numbers], found["condition_means"][numbers])
    before, after = (results["effects"] for results in (found, again))
    ms = ["ms", "ms_low", "ms_high"]
    pd.testing.assert_frame_equal(after.drop(columns=ms), before.drop(columns=ms), rtol=1e-4)
    # The optimizer stops at another last digit, which ms near zero magnify.
    np.testing.assert_allclose(after[ms], before[ms], rtol=1e-4, atol=1e-3)


def test_a_study_of_ratings_alone_has_no_times(islands: Tables) -> None:
    found = analyse(changed(islands, readings=islands["readings"].head(0)))
    assert found["region_times"].empty
    assert set(found["effects"]["response"]) == {"z"}


def test_a_study_of_reading_alone_has_no_ratings(islands: Tables) -> None:
    found = analyse(changed(islands, responses=islands["responses"].head(0)))
    assert found["rating_scores"].empty
    assert set(found["effects"]["response"]) == {"log_rt"}


def test_no_complete_session_is_a_sentence(tables: Tables) -> None:
    with pytest.raises(DataError, match="none of 24 sessions is complete"):
        analyse(changed(tables, sessions=tables["sessions"].assign(complete=False)))


def test_a_session_that_sessions_lacks_is_named_once_per_table(tables: Tables) -> None:
    with pytest.raises(DataError) as raised:
        analyse(changed(tables, sessions=tables["sessions"].iloc[1:]))
    assert [fault.split(";")[0] for fault in raised.value.faults] == [
        "table readings: session 's00' is not in table sessions",
        "table responses: session 's00' is not in table sessions",
    ]


def test_when_a_rule_about_sessions_leaves_nobody_it_is_named(tables: Tables) -> None:
    with pytest.raises(
        DataError,
        match=r"leave none of 23 sessions: the last go by 'session shorter than 1000 minutes'; check \[analysis.exclude\]",
    ):
        analyse(changed(tables), AnalysisSection(exclude=ExcludeSection(min_minutes=1000)))


@pytest.mark.parametrize("time", ["02/03/2026 12:30", "02-Jan"])
def test_a_time_that_cannot_be_read_is_named(tables: Tables, time: str) -> None:
    sessions = tables["sessions"].assign(finished=[time, *tables["sessions"]["finished"][1:]])
    with pytest.raises(DataError, match=rf"column 'finished' of session s00 is '{time}' \(1 rows\), expected an ISO 8601 time"):
        analyse(changed(tables, sessions=sessions))


def test_when_every_reading_time_is_out_so_is_everybody_in_a_sentence(tables: Tables) -> None:
    with pytest.raises(DataError, match="leave none of 23 participants: 23 by 'reading times outside the cut-offs in more than"):
        analyse({name: tables[name] for name in GIVEN}, AnalysisSection(min_rt=1, max_rt=2))


def test_when_every_reading_time_is_out_the_ratings_remain_if_declared_so(islands: Tables) -> None:
    found = analyse(
        {name: islands[name] for name in GIVEN}, AnalysisSection(min_rt=1, max_rt=2, exclude=ExcludeSection(max_outside_cutoffs=1))
    )
    assert found["region_times"].empty
    assert set(found["condition_means"]["measure"]) == {"rating", "z"}


def test_times_that_are_no_numbers_are_a_sentence(tables: Tables) -> None:
    readings = tables["readings"].copy()
    readings.loc[readings.index[40], "rt"] = float("inf")
    with pytest.raises(DataError, match=r"session s00, trial .*: reading time inf; expected a number of ms"):
        analyse(changed(tables, readings=readings))


@pytest.mark.parametrize("few", ["participant", "item"])
def test_one_participant_or_one_item_gives_every_table_and_says_why_no_model(islands: Tables, few: str) -> None:
    kept = {"participant": ["P00"], "item": ["islands-1"]}[few]
    shown = {name: islands[name][islands[name][few].isin(kept)] for name in ("readings", "responses")}
    found = analyse(changed(islands, **shown), AnalysisSection(exclude=ExcludeSection(max_outside_cutoffs=1)))
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)
    assert found["effects"]["estimate"].isna().all()
    assert found["models"].query("kept")["note"].str.startswith("Not fitted: ").all()


def test_a_constant_rater_is_counted_and_has_no_z(islands: Tables) -> None:
    responses = islands["responses"].copy()
    responses.loc[responses["participant"] == "P03", "response"] = "4"
    found = analyse(changed(islands, responses=responses))
    scores = found["rating_scores"]
    assert scores.loc[scores["participant"] == "P03", "z"].isna().all()
    ledger = found["exclusions"].query("condition == 'all' and table == 'rating_scores'").iloc[0]
    own = (responses["participant"] == "P03") & (responses["role"] == "target")
    assert ledger["n_excluded"] == own.sum() > 6


def test_the_seed_alone_decides_what_is_drawn(islands: Tables, analysed_islands: Tables) -> None:
    again, other = (analyse({name: islands[name] for name in GIVEN}, seed=seed) for seed in (1, 2))
    for name, frame in again.items():
        assert frame.to_csv() == analysed_islands[name].to_csv(), name
    differing = [name for name, frame in other.items() if frame.to_csv() != analysed_islands[name].to_csv()]
    assert differing == ["reliability", "noise_ceilings"]


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_how_pandas_stores_text_changes_no_result(islands: Tables, analysed_islands: Tables, storage: str) -> None:
    if storage == "pyarrow":
        pytest.importorskip("pyarrow")
    with pd.option_context("mode.string_storage", storage):
        stored = {name: check(islands[name].astype(object), name) for name in GIVEN}
        again = analyse(stored)
        assert stored["items"]["item"].dtype.storage == storage
    for name, frame in again.items():
        assert frame.to_csv(index=False) == analysed_islands[name].to_csv(index=False)


def test_a_study_with_factors_of_its_own_and_no_table_of_them_is_told_so(islands: Tables, caplog: pytest.LogCaptureFixture) -> None:
    factorial = {"grammatical": "subject", "ungrammatical": "object"}
    renamed = {name: islands[name].replace({"condition": factorial}) for name in ("items", "readings", "responses")}
    analyse(renamed | {"sessions": islands["sessions"]})
    assert "there are no models of" in caplog.text
    assert "the table conditions" in caplog.text
    caplog.clear()
    analyse(changed(islands))
    assert "there are no models" not in caplog.text


def test_a_rule_that_could_exclude_nobody_is_named(islands: Tables, caplog: pytest.LogCaptureFixture) -> None:
    questions = islands["responses"].assign(task="question", prompt="comprehension", correct=False, response="no")
    asked = questions[questions["role"] == "target"].groupby("participant").head(3)
    both = pd.concat([islands["responses"], asked], ignore_index=True)
    results = analyse(changed(islands, responses=check(both, "responses")))
    assert "analysis.exclude.min_questions is 20, and nobody answered more than 3" in caplog.text
    rule = "less than 80% of at least 20 questions answered correctly; nobody answered so many"
    assert rule in set(results["exclusions"]["rule"])
    assert f"Nobody could be excluded by this rule: {rule}." in ready_to_paste(results)
    assert results["participants"]["exclusion_rule"].isna().all()


def test_a_preregistration_states_the_formulas_that_are_fitted(analysed: dict[str, pd.DataFrame], example: study.Study) -> None:
    """Of the example's minimal pairs, whose trial numbers and positions vary in these tables as in the study."""
    lines = "\n".join(list_planned_formulas(resolve_design_plan(example)))
    stated = {line.replace(" + position", "") for line in re.findall(r"`(.*?)`", lines)}
    assert {formula.replace(" + position", "") for formula in analysed["planned_models"]["first_fit"]} == stated
