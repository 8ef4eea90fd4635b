"""Who is left out: each rule by itself on people made for it, the order of rules, and the Mann-Whitney flag against R."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis.cleaning.exclusions import apply_exclusions, build_participant_prompts_table, build_participants_table
from gardenpath.analysis.exclusion_log import ExclusionLog
from gardenpath.study import TABLES, DataError, ExcludeSection, check
from gardenpath.study.formula_columns import add_formula_columns

RScript = Callable[..., pd.DataFrame]
CONDITIONS = ("grammatical", "ungrammatical")
ITEMS = check(
    pd.DataFrame(
        [(f"{kind}{k}", kind, kind, c, "en", "a b c", "[]") for kind in ("npi", "catch") for k in range(6) for c in CONDITIONS],
        columns=["item", "paradigm", "phenomenon", "condition", "language", "sentence", "regions"],
    ),
    "items",
)


def sat(*people: str, **changes: object) -> pd.DataFrame:
    """Return complete sessions of 20 minutes, one a participant."""
    rows = pd.DataFrame({"participant": people, "session": [f"s-{name}" for name in people]}).assign(
        experiment="E1", list="L1", slot=0, started="2026-01-01T10:00:00Z", finished="2026-01-01T10:20:00Z",
        complete=True, source="server", revision=1, lease_expired=False, exclusion_reason=None, n_trials=6, n_aborted_trials=0, device=None, refresh_hz=60.0, session_flags=None,
    )  # fmt: skip
    return check(rows.assign(**changes)[TABLES["sessions"].column_names], "sessions")


def answered(rows: list[tuple[str, str, str, str, str, bool | None]]) -> pd.DataFrame:
    """Return responses from (participant, role, condition, task, response, correct)."""
    frame = pd.DataFrame(rows, columns=["participant", "role", "condition", "task", "response", "correct"])
    frame["trial"] = frame.groupby("participant").cumcount()
    paradigm = frame["role"].map({"catch": "catch"}).fillna("npi")
    frame = frame.assign(
        session="s-" + frame["participant"], experiment="E1", list="L1", paradigm=paradigm,
        item=paradigm + (frame["trial"] % 6).astype(str), prompt="p", side=None, outcome=None, rt=1.0,
        rt_first=None,
    )  # fmt: skip
    return check(add_formula_columns(frame, frame)[TABLES["responses"].column_names], "responses")


def read(rows: list[tuple[str, int, float, str | None]]) -> pd.DataFrame:
    """Return one critical word a trial from (participant, trial, rt, flags)."""
    frame = pd.DataFrame(rows, columns=["participant", "trial", "rt", "quality_flags"])
    frame = frame.assign(
        session="s-" + frame["participant"], experiment="E1", list="L1", role="target", paradigm="npi",
        item=[f"npi{t % 6}" for t in frame["trial"]], condition="grammatical", word=0, text="w", region="critical", line=None,
        rt_first=None, rt_onset=None, duration=None, correct=None, task=None,
    )  # fmt: skip
    return check(frame[TABLES["readings"].column_names], "readings")


def ratings(person: str, good: str, bad: str, role: str = "target") -> list[tuple[str, str, str, str, str, bool | None]]:
    sides = zip(CONDITIONS, (good, bad), strict=True)
    return [(person, role, condition, "rating", rating, None) for condition, given in sides for rating in given]


def out(rules: ExcludeSection, responses: pd.DataFrame, readings: pd.DataFrame | None = None, **more: object) -> dict[str, str]:
    """Return the rule by which each participant went."""
    names = sorted(set(responses["participant"]) | set(() if readings is None else readings["participant"]))
    sessions = more.pop("sessions", sat(*names))
    _, left, people, _ = apply_exclusions(
        read([]) if readings is None else readings, responses, sessions, ITEMS, exclude=rules, **more
    )
    gone = people.dropna(subset="exclusion_rule")
    assert not set(gone["participant"]) & set(left["participant"])
    return dict(zip(gone["participant"], gone["exclusion_rule"], strict=True))


def test_comprehension_under_four_in_five_of_twenty_questions_is_out_and_of_fewer_questions_is_not() -> None:
    def asked(person: str, right: int, of: int) -> list[tuple[str, str, str, str, str, bool | None]]:
        return [(person, "filler", "grammatical", "question", "yes", n < right) for n in range(of)]

    rows = asked("ok", 16, 20) + asked("bad", 15, 20) + asked("few", 0, 19)
    rule = "less than 80% of at least 20 questions answered correctly"
    assert out(ExcludeSection(), answered(rows)) == {"bad": rule}
    assert out(ExcludeSection(min_accuracy=0), answered(rows)) == {}


def test_questions_in_practice_decide_nothing() -> None:
    practised = [("ok", "practice", "practice", "question", "yes", False)] * 20
    asked = [("ok", "target", "grammatical", "question", "yes", True)] * 20
    assert out(ExcludeSection(), answered(practised + asked)) == {}


def test_more_than_a_fifth_of_trials_out_of_the_band_is_out() -> None:
    rows = [(p, t, 9000.0 if t < slow else 300.0, None) for p, slow in (("fifth", 2), ("third", 3)) for t in range(10)]
    found = out(ExcludeSection(), answered(ratings("fifth", "7", "1")), read(rows))
    assert found == {"third": "reading times outside the cut-offs in more than 20% of target trials"}
    assert out(ExcludeSection(max_outside_cutoffs=1), answered([]), read(rows)) == {}


def test_catch_and_attention_exclude_only_where_declared() -> None:
    rows = ratings("good", "77", "11", "catch") + ratings("bad", "11", "77", "catch")
    rows += [("bad", "attention", "grammatical", "rating", "2", False), ("good", "attention", "grammatical", "rating", "2", True)]
    assert out(ExcludeSection(), answered(rows)) == {}
    assert out(ExcludeSection(min_catch=0.75), answered(rows)) == {"bad": "less than 75% of catch sentences told apart"}
    assert out(ExcludeSection(min_attention=1), answered(rows)) == {"bad": "less than 100% of attention items answered as asked"}


def test_declared_answers_about_oneself_keep_those_who_gave_them_however_written() -> None:
    rows = [row for person in ("de", "en", "none") for row in ratings(person, "7", "1")]
    told = pd.DataFrame(
        [("de", "s-de", "native_language", "German"), ("en", "s-en", "native_language", " english ")],
        columns=["participant", "session", "question", "response"],
    )
    rules = ExcludeSection(demographics={"native_language": ["English", "Scots"]})
    rule = "native_language is not English or Scots"
    assert out(rules, answered(rows), demographics=told) == {"de": rule, "none": rule}
    with pytest.raises(DataError, match="there is no table demographics"):
        out(rules, answered(rows))
    with pytest.raises(DataError, match="names 'age', which is not in table demographics; expected one of native_language"):
        out(ExcludeSection(demographics={"age": ["30"]}), answered(rows), demographics=told)


@pytest.mark.parametrize(
    ("rules", "changes", "rule"),
    [
        ({}, {"complete": [True, False]}, "session not complete"),
        ({}, {"source": ["server", "preview"]}, "session of the experimenter's own (preview)"),
        ({}, {"exclusion_reason": [None, "slept"]}, "session that the experimenter marked as not counting"),
        ({"min_minutes": 5}, {"finished": ["2026-01-01T10:05:00Z", "2026-01-01T10:04:59Z"]}, "session shorter than 5 minutes"),
        ({"max_minutes": 60}, {"finished": ["2026-01-01T11:00:00Z", "2026-01-01T11:00:01Z"]}, "session longer than 60 minutes"),
        ({"max_aborted": 1}, {"n_aborted_trials": [1, 2]}, "session with more than 1 trials broken off"),
        ({"sessions": {"lease_expired": ["false"]}}, {"lease_expired": [False, True]}, "session whose lease_expired is not false"),
        ({"sessions": {"device": ["lab"]}}, {"device": [" Lab", None]}, "session whose device is not lab"),
    ],
)
def test_a_session_goes_by_its_rule_and_is_counted(rules: dict[str, Any], changes: dict[str, list], rule: str) -> None:
    ledger = ExclusionLog()
    responses = answered(ratings("a", "76", "12") + ratings("b", "76", "12"))
    _, left, people, _ = apply_exclusions(
        read([]), responses, sat("a", "b", **changes), ITEMS, exclude=ExcludeSection(**rules), exclusion_log=ledger
    )
    assert set(left["participant"]) == set(people["participant"]) == {"a"}
    (step,) = [row for row in ledger.rows if (row["rule"], row["table"], row["condition"]) == (rule, "responses", "all")]
    assert (step["n_before"], step["n_excluded"], step["n_participants_before"], step["n_participants_after"]) == (8, 4, 2, 1)


def test_a_column_that_sessions_do_not_have_is_named() -> None:
    with pytest.raises(DataError, match="sessions names 'hand', which is not in table sessions; expected one of participant,"):
        out(ExcludeSection(sessions={"hand": ["left"]}), answered(ratings("a", "7", "1")))


def test_flagged_words_cost_their_trials_reading_times_only() -> None:
    rows = [("a", 0, 300.0, None), ("a", 1, 300.0, "interrupted"), ("a", 2, 300.0, "repeats seen_before")]
    responses = answered(ratings("a", "76", "12"))
    kept, left, *_ = apply_exclusions(read(rows), responses, sat("a"), ITEMS)
    assert kept["trial"].to_list() == [0]
    assert len(left) == 4
    kept, *_ = apply_exclusions(read(rows), responses, sat("a"), ITEMS, exclude=ExcludeSection(flags=["repeats"]))
    assert kept["trial"].to_list() == [0, 1]


def test_the_first_rule_that_somebody_breaks_is_the_one_named() -> None:
    rows = ratings("a", "7", "1") + ratings("b", "1", "7", "catch")
    rows += [("b", "attention", "grammatical", "rating", "2", False)]
    found = out(ExcludeSection(min_catch=0.9, min_attention=0.9), answered(rows))
    assert found == {"b": "less than 90% of attention items answered as asked"}


def test_nobody_left_is_a_sentence_that_counts_the_rules() -> None:
    with pytest.raises(DataError, match="leave none of 1 participants: 1 by 'less than 90% of catch sentences told apart'"):
        out(ExcludeSection(min_catch=0.9), answered(ratings("b", "1", "7", "catch")))


@pytest.mark.parametrize("ties", [False, True])
def test_the_flag_is_wilcox_test_of_r(rscript: RScript, ties: bool) -> None:
    rng = np.random.default_rng(4)
    good, bad = rng.normal(0.8, 1, 12), rng.normal(0, 1, 9)
    good, bad = (side.round() if ties else side.round(6) for side in (good, bad))
    rows = [("a", "target", "grammatical", "rating", str(v), None) for v in good]
    rows += [("a", "target", "ungrammatical", "rating", str(v), None) for v in bad]
    ours = build_participant_prompts_table(answered(rows), ITEMS).iloc[0]
    sides = pd.DataFrame({"side": ["good"] * 12 + ["bad"] * 9, "value": np.concatenate([good, bad])})
    code = """
    w <- suppressWarnings(wilcox.test(rows$value[rows$side == 'good'], rows$value[rows$side == 'bad']))
    result <- data.frame(u = w$statistic, p = w$p.value)
    """
    theirs = rscript(code, rows=sides).iloc[0]
    assert ours["u_statistic"] == theirs["u"]
    assert ours["p"] == pytest.approx(theirs["p"], rel=1e-10)
    pairs = [(a > b) + (a == b) / 2 for a in good for b in bad]
    assert ours["auc"] == pytest.approx(np.mean(pairs))


def test_the_flag_marks_who_does_not_tell_conditions_apart_or_the_wrong_way_round_and_excludes_nobody() -> None:
    rows = ratings("well", "777777666666", "111111222222") + ratings("upside", "111111222222", "777777666666")
    rows += ratings("same", "4" * 12, "4" * 12) + ratings("one", "7", "")
    _, _, people, prompts = apply_exclusions(read([]), answered(rows), sat("one", "same", "upside", "well"), ITEMS)
    flags = dict(zip(prompts["participant"], prompts["flagged"], strict=True))
    assert {name: None if pd.isna(flag) else bool(flag) for name, flag in flags.items()} == {
        "well": False, "upside": True, "same": True, "one": None,
    }  # fmt: skip
    assert people["exclusion_rule"].isna().all()


def test_accuracy_has_its_wilson_interval() -> None:
    rows = [("a", "filler", "grammatical", "question", "yes", n < 8) for n in range(10)]
    person = build_participants_table(read([]), answered(rows), sat("a")).iloc[0]
    # Wilson for 8 of 10, by hand: (8 + 1.92073) / (10 + 3.84146) -+ 1.95996 / 13.84146 * sqrt(1.6 + 0.96036)
    assert person[["n_questions", "accuracy"]].to_list() == [10, 0.8]
    assert person["accuracy_low"] == pytest.approx(0.71674 - 0.22657, abs=2e-4)
    assert person["accuracy_high"] == pytest.approx(0.71674 + 0.22657, abs=2e-4)
    assert person["minutes"] == 20
