"""How items came about: what the report says and draws of drafts, reviews and norms."""

import pandas as pd
import pytest

from gardenpath.analysis.reporting.document import whole
from gardenpath.analysis.reporting.figures import origin_figures
from gardenpath.analysis.reporting.wording import origins as words
from gardenpath.study import DataError, check

TICKS = ["good", "bad", "nothing_else", "fits"]


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    steps = [
        ("ever", "gpt-4o", "asked", "none", 90), ("ever", "gpt-4o", "parsed", "none", 95), ("ever", "gpt-4o", "flagged", "none", 40),
        ("ever", "gpt-4o", "accepted", "none", 60), ("ever", "gpt-4o", "corrected", "none", 10),
        ("ever", "gpt-4o", "dropped", "odd", 8), ("ever", "gpt-4o", "dropped", "not grammatical", 12),
        ("any", "gpt-4o", "parsed", "none", 5), ("any", "unknown", "parsed", "none", 3),
    ]  # fmt: skip
    drafting = pd.DataFrame(steps, columns=["paradigm", "model", "step", "reason", "n_pairs"]).assign(prompt_hash="unknown")
    agreed = pd.DataFrame(
        [("keep", 90, 0.9, 0.6, 0.4, 0.8, 0.85, 0.7, 0.95), ("good", 90, 1.0, None, None, None, 1.0, 1.0, 1.0)],
        columns=["measure", "n_decided", "agreement", "kappa", "kappa_ci_low", "kappa_ci_high", "ac1", "ac1_ci_low", "ac1_ci_high"],
    ).assign(reviewer_a="Ann", reviewer_b="Bob")
    norms = pd.DataFrame(
        {"item": ["i1", "i2", "i3"], "value": [0.1, 0.2, 0.7], "shrunken": [0.15, 0.2, 0.6], "n_valid_responses": 20}
    )
    norms = norms.assign(
        paradigm="ever",
        condition="grammatical",
        task="cloze",
        target="ever",
        ci_low=0.0,
        ci_high=1.0,
        sd=None,
        entropy=1.0,
        modal_form="x",
    )
    decided = pd.DataFrame({"item": ["i1", "i2", "i3"], "kept": [True, True, False], "reason": [None, None, "cloze <= 0.5: 0.7"]})
    decided = decided.assign(
        paradigm="ever", task="cloze", rules="cloze <= 0.5", rules_stated_before_data=True, n_participants=20, source="simulation"
    )
    items = pd.DataFrame({"item": ["i1", "i2", "i4"], "origin": ["draft", "draft", "hand"], "model": ["gpt-4o", "gpt-4o", None]})
    items = items.assign(paradigm="ever", reviewers=["Ann, Bob", "Ann, Bob, Cem", None], corrected=[True, False, False])
    made = {"item_origins": items, "drafting": drafting, "review_agreement": agreed, "norms": norms, "norm_decisions": decided}
    return {name: check(frame, name) for name, frame in made.items()}


def test_the_report_says_how_items_came_about(tables: dict[str, pd.DataFrame]) -> None:
    made = whole(tables, title="Ever")
    for said in (
        "Of 3 items of the study 2 were drafted by a language model (gpt-4o) and 1 was made by hand. Ann, Bob and Cem decided about "
        "them; 1 was corrected.",
        "gpt-4o was asked for 90 pairs of 2 paradigms; 100 were read of its answers, 40 of them with findings before anybody looked.",
        "people accepted 60 (60.0%), corrected 10 and dropped 20 (not grammatical 12, odd 8); on 10 nobody had decided, or not all agreed.",
        "Nobody has decided about its 3 pairs.",
        "2 of 3 items were kept by the rule cloze &lt;= 0.5, stated before the first answer.",
        "The kept items&#39; mean cloze is 0.15 in grammatical (0.17 shrunken)",
        "simulated norms",
    ):
        assert said in made.html.replace("\u00a0", " "), said
    assert {"drafting", "review-agreement", "norms-cloze"} <= {*made.figures}


def test_a_study_of_which_nothing_is_known_has_no_such_section(tables: dict[str, pd.DataFrame]) -> None:
    by_hand = tables["item_origins"].assign(origin="hand", model=None, reviewers=None, corrected=False)
    assert "How the items came about" not in whole({"item_origins": by_hand}, title="t").html


def test_agreement_without_kappa_is_said_to_have_none(tables: dict[str, pd.DataFrame]) -> None:
    [first] = words.agreement(tables["review_agreement"])
    assert "agree on keeping a pair in 90.0% of 90 pairs" in first
    assert "Cohen's κ = 0.60, 95% CI [0.40, 0.80]; Gwet's AC1 = 0.85, 95% CI [0.70, 0.95]" in first
    one_answer = tables["review_agreement"].assign(kappa=None, kappa_ci_low=None, kappa_ci_high=None)
    assert "there is no kappa, since both gave one answer throughout" in words.agreement(one_answer)[0]


def test_known_bad_pairs_are_counted_at_first_sight() -> None:
    rows = [
        ("Ann", "injected-1", "accept", "same"), ("Ann", "injected-1", "undo", "same"), ("Ann", "injected-1", "drop", "same"),
        ("Bob", "injected-2", "drop", "misspelt"), ("Bob", "injected-3", "accept", "exchanged"), ("Bob", "i1", "accept", None),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["reviewer", "item", "action", "injected_error"]).assign(**dict.fromkeys(TICKS, True))
    assert words.describe_injected_errors(table)[0].endswith("Ann noticed 0 of 1 and Bob noticed 1 of 2.")
    assert words.describe_injected_errors(table[table["injected_error"].isna()]) == []


def test_a_rule_that_came_after_the_data_is_said_loudly(tables: dict[str, pd.DataFrame]) -> None:
    norms, decided = tables["norms"], tables["norm_decisions"]
    assert "which was NOT stated before the first answer" in " ".join(
        words.norming(norms, decided.assign(rules_stated_before_data=False))
    )
    assert "cannot be told" in " ".join(words.norming(norms, decided.assign(rules_stated_before_data=None)))
    assert "No rule for keeping items by cloze was stated" in " ".join(words.norming(norms, decided.assign(rules=None)))


def test_several_drafters_are_told_apart_and_what_is_open_is_drawn(tables: dict[str, pd.DataFrame]) -> None:
    axes = origin_figures.drafting_figure(tables["drafting"]).axes[0]
    assert [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()] == [
        "ever, gpt-4o", "any, gpt-4o", "any, unknown",
    ]  # fmt: skip
    assert [text.get_text() for text in axes.texts] == ["60", "10", "20"]
    with pytest.raises(DataError, match="no rows to draw"):
        origin_figures.drafting_figure(tables["drafting"].iloc[:0])
