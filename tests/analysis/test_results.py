"""`analyse`: every table declared, every exclusion counted, the caller's tables untouched."""

import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.study import DataError, check

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    return analyse(*(tables[name] for name in GIVEN))


def test_each_table_is_as_declared(found: Tables) -> None:
    assert list(found) == ["exclusions", "rating_scores", "region_times", "condition_means", "phenomenon_models"]
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)


def test_the_ledger_adds_up_from_the_first_row_to_the_last(tables: Tables, found: Tables) -> None:
    ledger = found["exclusions"]
    assert (ledger["before"] - ledger["excluded"] == ledger["after"]).all()
    for name, final in (("readings", "region_times"), ("responses", "rating_scores")):
        steps = ledger[ledger["table"] == name]
        assert steps["before"].iloc[0] == len(tables[name])
        assert steps["before"].to_list()[1:] == steps["after"].to_list()[:-1]
        words = found[final]["words"].sum() if final == "region_times" else len(found[final])
        assert steps["after"].iloc[-1] == words


def test_an_incomplete_session_and_one_slow_region_are_excluded_and_nothing_else(found: Tables) -> None:
    ledger = found["exclusions"].set_index(["table", "rule"])["excluded"]
    assert ledger["sessions", "session not complete"] == 1
    assert ledger["region_times"].sum() == 1
    assert "P23" not in set(found["rating_scores"]["participant"])
    assert "practice" not in set(found["rating_scores"]["role"])


def test_excluding_reading_times_leaves_ratings_as_they_are(tables: Tables, found: Tables) -> None:
    narrow = analyse(*(tables[name] for name in GIVEN), min_rt=250, max_rt=400)
    pd.testing.assert_frame_equal(narrow["rating_scores"], found["rating_scores"])
    assert len(narrow["region_times"]) < len(found["region_times"])


def test_the_tables_given_are_not_changed(tables: Tables) -> None:
    before = {name: tables[name].copy(deep=True) for name in GIVEN}
    analyse(*(tables[name] for name in GIVEN))
    for name, frame in before.items():
        pd.testing.assert_frame_equal(tables[name], frame)


def test_row_order_changes_no_result(tables: Tables, found: Tables) -> None:
    shuffled = [tables[name].sample(frac=1, random_state=1).reset_index(drop=True) for name in GIVEN]
    again = analyse(*shuffled)
    numbers = ["phenomenon", "condition", "measure", "participants", "n", "mean", "se"]
    pd.testing.assert_frame_equal(again["condition_means"][numbers], found["condition_means"][numbers])
    pd.testing.assert_frame_equal(again["phenomenon_models"], found["phenomenon_models"], rtol=1e-4)


def test_a_study_of_ratings_alone_has_no_times(tables: Tables) -> None:
    found = analyse(tables["readings"].head(0), tables["responses"], tables["sessions"], tables["items"])
    assert found["region_times"].empty
    assert set(found["phenomenon_models"]["measure"]) == {"z"}


def test_a_study_of_reading_alone_has_no_ratings(tables: Tables) -> None:
    found = analyse(tables["readings"], tables["responses"].head(0), tables["sessions"], tables["items"])
    assert found["rating_scores"].empty
    assert set(found["phenomenon_models"]["measure"]) == {"log_rt"}


def test_no_complete_session_is_a_sentence(tables: Tables) -> None:
    with pytest.raises(DataError, match="none of 24 sessions is complete"):
        analyse(tables["readings"], tables["responses"], tables["sessions"].assign(complete=False), tables["items"])


def test_a_session_that_sessions_lacks_is_named_once_per_table(tables: Tables) -> None:
    with pytest.raises(DataError) as raised:
        analyse(tables["readings"], tables["responses"], tables["sessions"].iloc[1:], tables["items"])
    assert [fault.split(";")[0] for fault in raised.value.faults] == [
        "table readings: session 's00' is not in table sessions",
        "table responses: session 's00' is not in table sessions",
    ]


def test_when_every_reading_time_is_out_the_ratings_remain(tables: Tables) -> None:
    found = analyse(*(tables[name] for name in GIVEN), min_rt=1, max_rt=2)
    assert found["region_times"].empty
    assert set(found["condition_means"]["measure"]) == {"rating", "z"}


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_how_pandas_stores_text_changes_no_result(tables: Tables, found: Tables, storage: str) -> None:
    if storage == "pyarrow":
        pytest.importorskip("pyarrow")
    with pd.option_context("mode.string_storage", storage):
        stored = [check(tables[name].astype(object), name) for name in GIVEN]
        again = analyse(*stored)
        assert stored[3]["item"].dtype.storage == storage
    for name, frame in again.items():
        assert frame.to_csv(index=False) == found[name].to_csv(index=False)
