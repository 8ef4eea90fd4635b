"""Scores, times and means, each against numbers worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_condition_means, compute_rating_scores, compute_region_times
from gardenpath.analysis.exclusion_log import ExclusionLog
from gardenpath.analysis.measuring.ratings_and_times import compute_reading_curves
from gardenpath.study import AnalysisSection, DataError, check
from gardenpath.study.formula_columns import add_formula_columns

PLACE = {"experiment": "E1", "list": "L1", "paradigm": "npi 1"}
ITEMS = check(
    pd.DataFrame(
        [(f"i{k}", "npi 1", "npi", c, "en", "a b c", "[]") for k in range(4) for c in ("grammatical", "ungrammatical")],
        columns=["item", "paradigm", "phenomenon", "condition", "language", "sentence", "regions"],
    ),
    "items",
)


def rated(rows: list[tuple[str, int, str, str, str]]) -> pd.DataFrame:
    """Return responses from (participant, trial, role, condition, response)."""
    frame = pd.DataFrame(rows, columns=["participant", "trial", "role", "condition", "response"])
    frame = frame.assign(**PLACE, session=frame["participant"], item=[f"i{t % 4}" for t in frame["trial"]])
    answer = {"task": "rating", "prompt": "p", "side": None, "correct": None, "outcome": "answered", "rt": 1.0, "rt_first": None}
    made = frame.assign(**answer)
    return check(add_formula_columns(made, made)[COLUMNS["responses"]], "responses")


def read(rows: list[tuple[str, int, int, str | None, float | None]], role: str = "target") -> pd.DataFrame:
    """Return readings from (participant, trial, word, region, rt)."""
    frame = pd.DataFrame(rows, columns=["participant", "trial", "word", "region", "rt"])
    frame = frame.assign(**PLACE, session=frame["participant"], role=role, condition="grammatical", text="w")
    frame = frame.assign(item=[f"i{t % 4}" for t in frame["trial"]], quality_flags=None, task=None)
    frame = frame.assign(**dict.fromkeys(("line", "rt_first", "rt_onset", "duration", "correct")))
    return check(frame[COLUMNS["readings"]], "readings")


@pytest.fixture(autouse=True, scope="module")
def _columns() -> None:
    from gardenpath.study import TABLES

    COLUMNS.update({name: TABLES[name].column_names for name in ("readings", "responses")})


COLUMNS: dict[str, list[str]] = {}


def test_z_is_over_target_and_filler_trials_with_the_sample_standard_deviation() -> None:
    scores = compute_rating_scores(
        rated([("P1", 0, "practice", "grammatical", "7"), ("P1", 1, "target", "grammatical", "1"),
               ("P1", 2, "filler", "grammatical", "2"), ("P1", 3, "target", "ungrammatical", "6")]), ITEMS
    )  # fmt: skip
    # mean 3, deviations -2 -1 3, sum of squares 14, s.d. sqrt(14 / 2) = 2.6458
    np.testing.assert_allclose(scores["z"], np.array([-2, -1, 3]) / np.sqrt(7))
    assert scores["role"].to_list() == ["target", "filler", "target"]


def test_someone_who_rates_everything_the_same_has_no_z_and_is_counted() -> None:
    ledger = ExclusionLog()
    rows = [("P1", t, "target", "grammatical", "4") for t in range(3)] + [("P2", 0, "target", "grammatical", "5")]
    scores = compute_rating_scores(rated(rows), ITEMS, exclusion_log=ledger)
    assert scores["z"].isna().all()
    assert ledger.rows[-1]["n_excluded"] == 4  # P2's single rating has no standard deviation either


def test_equal_ratings_with_decimals_have_no_z_either() -> None:
    rows = [("P1", t, "target", "grammatical", "0.1") for t in range(7)]
    assert compute_rating_scores(rated(rows), ITEMS)["z"].isna().all()


def test_a_rating_that_is_no_number_is_named_with_its_place() -> None:
    with pytest.raises(DataError, match=r"session P1, trial 2: rating 'good'; expected a number"):
        compute_rating_scores(rated([("P1", 2, "target", "grammatical", "good")]), ITEMS)


def test_a_sentence_that_items_lacks_is_named() -> None:
    with pytest.raises(DataError, match="item i0, condition neither: shown to participants but not in table items"):
        compute_rating_scores(rated([("P1", 0, "target", "neither", "4")]), ITEMS)


def test_region_times_sum_the_critical_words_then_take_the_log() -> None:
    rows = [("P1", 0, 0, None, 300.0), ("P1", 0, 1, "critical", 250.0), ("P1", 0, 2, "critical", 350.0)]
    times = compute_region_times(read(rows), ITEMS)
    assert times.loc[0, ["n_words", "rt"]].to_list() == [2, 600.0]
    assert times.loc[0, "log_rt"] == pytest.approx(np.log(600))


@pytest.mark.parametrize(("rt", "kept"), [(99.9, 0), (100.0, 1), (3000.0, 1), (3000.1, 0)])
def test_a_region_is_dropped_when_one_word_is_out_of_the_band_whose_ends_are_in(rt: float, kept: int) -> None:
    ledger = ExclusionLog()
    rows = [("P1", 0, 1, "critical", 250.0), ("P1", 0, 2, "critical", rt)]
    assert len(compute_region_times(read(rows), ITEMS, exclusion_log=ledger)) == kept
    rule = "a word of critical was read in less than 100 or more than 3000 ms"
    (step,) = [row for row in ledger.rows if row["rule"] == rule and row["condition"] == "all"]
    assert (step["table"], step["n_before"], step["n_excluded"]) == ("region_times: critical", 1, 1 - kept)


def test_a_word_out_of_the_band_elsewhere_in_the_sentence_drops_nothing() -> None:
    rows = [("P1", 0, 0, None, 9000.0), ("P1", 0, 1, "critical", 250.0)]
    assert len(compute_region_times(read(rows), ITEMS)) == 1


@pytest.mark.parametrize("second", [[("P1", 4, 2, "critical", None)], []])
def test_a_region_with_a_word_unread_is_dropped_rather_than_summed_short(second: list) -> None:
    whole = [("P2", 0, 1, "critical", 250.0), ("P2", 0, 2, "critical", 300.0)]
    times = compute_region_times(read([("P1", 4, 1, "critical", 250.0), *second, *whole]), ITEMS)
    assert times["participant"].to_list() == ["P2"]


def test_a_sentence_without_the_region_is_counted_as_left_out() -> None:
    ledger = ExclusionLog()
    rows = [("P1", 1, 0, None, 250.0), ("P1", 1, 1, None, 250.0), ("P2", 0, 1, "critical", 250.0)]
    assert len(compute_region_times(read(rows), ITEMS, exclusion_log=ledger)) == 1
    rule = "the sentence has no critical region"
    (step,) = [row for row in ledger.rows if row["rule"] == rule and row["condition"] == "all"]
    assert (step["table"], step["n_before"], step["n_excluded"]) == ("region_times: critical", 2, 1)


def test_times_are_of_target_trials_only() -> None:
    assert compute_region_times(read([("P1", 0, 1, "critical", 250.0)], role="filler"), ITEMS).empty


def test_a_band_upside_down_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 0 <= min_rt < max_rt"):
        compute_region_times(read([("P1", 0, 1, "critical", 250.0)]), ITEMS, min_rt=3000, max_rt=100)


def test_condition_means_are_of_participants_means_with_their_standard_error() -> None:
    rows = [("P1", 0, "target", "grammatical", "2"), ("P1", 1, "target", "grammatical", "4"),
            ("P1", 2, "target", "ungrammatical", "1"), ("P2", 0, "target", "grammatical", "7"),
            ("P2", 1, "filler", "ungrammatical", "1")]  # fmt: skip
    scores = compute_rating_scores(rated(rows), ITEMS)
    table = compute_condition_means(scores, compute_region_times(read([]), ITEMS)).set_index(["measure", "condition"])
    row = table.loc[("rating", "grammatical")]
    # means 3 and 7: their mean 5 (not 13/3), s.d. 2.828, / sqrt(2) = 2
    assert row[["n_participants", "n_observations", "mean_value"]].to_list() == [2, 3, 5.0]
    assert row["se"] == pytest.approx(2.0)
    assert pd.isna(table.loc[("rating", "ungrammatical"), "se"])  # one participant has no standard error


def words(*times: float | None, critical: tuple[int, ...] = (1,)) -> list[tuple[str, int, int, str | None, float | None]]:
    """One trial of P1: a reading time a word."""
    return [("P1", 0, k, "critical" if k in critical else None, rt) for k, rt in enumerate(times)]


@pytest.mark.parametrize(
    ("length", "regions"),
    [(2, ["critical"]), (3, ["critical"]), (4, ["critical", "critical+1"]), (5, ["critical", "critical+1", "critical+2"])],
)
def test_words_after_the_region_count_only_where_the_sentence_goes_on_after_them(length: int, regions: list[str]) -> None:
    """Critical is word 1: of three words, the word after it ends the sentence."""
    times = compute_region_times(read(words(*[300.0] * length)), ITEMS)
    assert times["region"].to_list() == regions
    assert times["word"].to_list() == list(range(1, 1 + len(regions)))
    assert times["n_words"].eq(1).all()


@pytest.mark.parametrize("regions", ["following", "cumulative"])
def test_times_after_the_region_are_of_single_words_or_of_the_region_up_to_them(regions: str) -> None:
    """Against a loop over sentences of every length; a region of two words, one time missing, one out of the band."""
    sentences = [[300.0 + 10 * k for k in range(length)] for length in range(3, 8)]
    sentences += [[300.0, 310, 320, float("nan"), 340, 350, 360], [300.0, 310, 320, 330, 9000, 350, 360]]
    rows, expected = [], {}
    for trial, rts in enumerate(sentences):
        rows += [("P1", trial, k, "critical" if k in (1, 2) else None, rt) for k, rt in enumerate(rts)]
        for after in range(3):
            first = 1 if regions == "cumulative" or not after else 2 + after
            read_in = rts[first : 3 + after]
            if (not after or len(rts) >= 3 + after + 1) and all(100 <= rt <= 3000 for rt in read_in):
                name = ("critical..+" if regions == "cumulative" else "critical+") + str(after) if after else "critical"
                expected[trial, name] = (first, len(read_in), sum(read_in))
    frame = read(rows).assign(item="i0")
    frame["item"] = "i" + frame["trial"].astype("string")
    items = pd.concat([ITEMS.iloc[[0]].assign(item=f"i{k}") for k in range(len(sentences))])
    times = compute_region_times(frame, items, regions=regions)
    found = times.set_index(["trial", "region"])[["word", "n_words", "rt"]]
    assert {place: tuple(row) for place, row in zip(found.index, found.to_numpy().tolist(), strict=True)} == expected


def test_without_removal_of_outliers_every_measured_time_counts() -> None:
    band = AnalysisSection(remove_outliers=False).rt_cutoffs
    ledger = ExclusionLog()
    frame = read(words(300.0, 9000.0, 5.0, 0.0, 20000.0, 320.0, critical=(1,)))
    times = compute_region_times(frame, ITEMS, min_rt=band[0], max_rt=band[1], exclusion_log=ledger)
    assert dict(zip(times["region"], times["rt"], strict=True)) == {"critical": 9000.0, "critical+1": 5.0}, "0 ms has no log"
    assert not ledger.build_table()["rule"].str.contains("more than").any()


def test_a_word_out_of_the_band_costs_its_own_region_alone() -> None:
    times = compute_region_times(read(words(300.0, 310.0, 320.0, 9000.0, 340.0, 350.0, critical=(1, 2))), ITEMS)
    assert dict(zip(times["region"], times["rt"], strict=True)) == {"critical": 630.0, "critical+2": 340.0}


def test_both_sentences_of_a_pair_have_times_of_their_own() -> None:
    one = read(words(300.0, 310.0, 320.0, 330.0))
    other = one.assign(condition="ungrammatical", rt=one["rt"] + 100)
    times = compute_region_times(pd.concat([one, other], ignore_index=True), ITEMS).query("region == 'critical'")
    assert dict(zip(times["condition"], times["rt"], strict=True)) == {"grammatical": 310.0, "ungrammatical": 410.0}


def test_z_keeps_the_mean_and_spread_that_a_participant_had_before_exclusions() -> None:
    before = rated([("P1", t, "target", "grammatical", r) for t, r in enumerate("1267")])
    scores = compute_rating_scores(before.iloc[:2], ITEMS, all_responses=before)
    np.testing.assert_allclose(scores["z"], (np.array([1, 2]) - 4) / np.std([1, 2, 6, 7], ddof=1))


def test_curves_are_participants_means_around_the_region_a_word_each() -> None:
    rows = words(200.0, 210.0, 400.0, 600.0, 250.0, 260.0, 99.0, critical=(2, 3))
    second = [("P2", *row[1:4], (row[4] or 0) + 100) for row in rows]
    table = compute_reading_curves(read(rows + second), ITEMS).set_index("relative_position")
    # before -2, -1; region (400 + 600) / 2; after 250, 260; the last word ends the sentence
    assert table["mean_value"].to_dict() == {-2: 250.0, -1: 260.0, 0: 550.0, 1: 300.0, 2: 310.0}
    assert table["n_participants"].eq(2).all()
    assert table.loc[0, "se"] == pytest.approx(50.0)


def test_a_region_at_the_end_of_its_sentence_is_in_the_curve() -> None:
    table = compute_reading_curves(read(words(200.0, 210.0, 400.0, critical=(2,))), ITEMS)
    assert table["relative_position"].to_list() == [-2, -1, 0]


def test_means_are_apart_for_each_region() -> None:
    scores = compute_rating_scores(rated([]), ITEMS)
    table = compute_condition_means(scores, compute_region_times(read(words(200.0, 210.0, 400.0, 500.0, 300.0)), ITEMS))
    assert dict(zip(table["region"], table["mean_value"], strict=True)) == {
        "critical": 210.0, "critical+1": 400.0, "critical+2": 500.0,
    }  # fmt: skip
