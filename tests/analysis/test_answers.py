"""Answers that are one of two: what becomes 1 and 0, their models by condition, and what these come to as probabilities."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from gardenpath.analysis import resolve_plan
from gardenpath.analysis.grammatical_status import build_pair_conditions
from gardenpath.analysis.measuring.binary_responses import compute_binary_responses, find_pair_levels
from gardenpath.analysis.measuring.ratings_and_times import compute_rating_scores
from gardenpath.analysis.model_results import SIMPLE_EFFECT, select_factors
from gardenpath.analysis.reporting.figures.factor_figures import factorial_figure, interaction_figure
from gardenpath.analysis.reporting.manuscript import ready_to_paste
from gardenpath.analysis.reporting.wording.factors import factorial_effects
from gardenpath.study import AnalysisSection, ModelSection, check
from gardenpath.study.formula_columns import add_formula_columns

from .conftest import NO_SCORES, build_trials, fit_trials

LEVELS = [("subject", "description"), ("subject", "name"), ("object", "description"), ("object", "name")]
PLACE = {"experiment": "E1", "list": "L1", "role": "target", "paradigm": "relatives"}


def conditions(paradigm: str = "relatives") -> pd.DataFrame:
    rows = [
        (paradigm, f"{extraction}.{noun}", factor, level)
        for extraction, noun in LEVELS
        for factor, level in (("extraction", extraction), ("noun", noun))
    ]
    return pd.DataFrame(rows, columns=["paradigm", "condition", "factor", "level"])


def responses(rows: list[dict[str, object]]) -> pd.DataFrame:
    blank = dict.fromkeys(("side", "correct", "rt_first"))
    frame = pd.DataFrame([blank | {"rt": 900.0, "outcome": "answered"} | PLACE | row for row in rows])
    return check(add_formula_columns(frame, frame), "responses")


def trials(people: int = 24, items: int = 16) -> list[dict[str, object]]:
    """Return a Latin square of trials with a question, a judgment of yes or no, and latent log odds that both share."""
    rng = np.random.default_rng(3)
    who, what = rng.normal(0, 0.7, people), rng.normal(0, 0.7, items)
    rows: list[dict[str, object]] = []
    for p in range(people):
        for i in range(items):
            extraction, noun = LEVELS[(p + i) % 4]
            log_odds = 0.6 - 0.8 * (extraction == "object") + 0.5 * (noun == "name") + who[p] + what[i]
            place = {"participant": f"P{p:02}", "session": f"S{p:02}", "trial": (i * 7 + p) % items, "item": f"i{i:02}"}
            place |= {"condition": f"{extraction}.{noun}"}
            right, accepted = (bool(rng.random() < expit(log_odds)) for _ in range(2))
            rows.append({**place, "task": "question", "prompt": "asked", "response": "yes", "correct": right})
            rows.append({**place, "task": "rating", "prompt": "fine", "response": str(int(accepted))})
    return rows


ITEMS = pd.DataFrame([(f"i{i:02}", f"{e}.{n}") for i in range(16) for e, n in LEVELS], columns=["item", "condition"]).assign(
    paradigm="relatives", phenomenon="relatives", language="en", sentence="A sentence.", regions="[]"
)


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    given = responses(trials())
    return compute_binary_responses(given, compute_rating_scores(given, ITEMS), ITEMS, conditions())


@pytest.fixture(scope="module")
def found(answers: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return fit_trials(build_trials(answers=answers, conditions=conditions()))


def test_questions_and_judgments_are_ones_and_zeros(answers: pd.DataFrame) -> None:
    given = responses(trials())
    questions = given[given["task"] == "question"]
    by = answers.groupby(["measure", "event"])["response"].agg(["sum", "size"])
    assert by.loc[("correct", "right")].to_list() == [int(questions["correct"].sum()), len(questions)]
    judged = given[given["task"] == "rating"]["response"].astype(int)
    assert by.loc[("yes", "yes")].to_list() == [int(judged.sum()), len(judged)]
    assert {"extraction", "noun", "log_trial"} <= {*answers}


def test_a_scale_of_more_points_and_fillers_are_no_answers_of_one_of_two() -> None:
    rows = [{**row, "response": "3"} if row["task"] == "rating" and row["trial"] == 0 else row for row in trials()]
    given = responses(rows)
    table = compute_binary_responses(given, compute_rating_scores(given, ITEMS), ITEMS, conditions())
    assert set(table["measure"]) == {"correct"}
    fillers = responses([{**row, "role": "filler"} for row in rows])
    assert compute_binary_responses(fillers, compute_rating_scores(fillers, ITEMS), ITEMS, conditions()).empty


def test_the_suggested_models_are_those_of_glmer(
    answers: pd.DataFrame, found: dict[str, pd.DataFrame], rscript: Callable[..., pd.DataFrame]
) -> None:
    table = select_factors(found["results"])
    assert set(table["response"]) == {"correct", "yes"}
    assert (table["family"] == "binomial").all()
    rows = answers.query("measure == 'correct'")[["participant", "item", "extraction", "noun", "response"]]
    code = """
    rows$A <- ifelse(rows$extraction == "object", .5, -.5); rows$B <- ifelse(rows$noun == "name", .5, -.5)
    m <- lme4::glmer(response ~ A*B + (1|participant) + (1|item), rows, family = binomial,
                     control = lme4::glmerControl(optimizer = "bobyqa", tolPwrss = 1e-10))
    result <- as.data.frame(coef(summary(m)))
    L <- cbind(1, c(-.5, -.5, .5, .5), c(-.5, .5, -.5, .5), c(.25, -.25, -.25, .25))
    result$log_odds <- L %*% lme4::fixef(m); result$error <- sqrt(diag(L %*% as.matrix(vcov(m)) %*% t(L)))
    """
    reference = rscript(code, rows=rows)
    ours = table.query("response == 'correct' and random == 'intercepts'")
    np.testing.assert_allclose(ours["estimate"], reference.iloc[:, 0], rtol=1e-4)
    np.testing.assert_allclose(ours["se"], reference.iloc[:, 1], rtol=1e-3)
    own = ModelSection("own", "correct ~ extraction*noun + (1|participant) + (1|item)")
    cells = fit_trials(build_trials(answers=answers, conditions=conditions()), models=(own,))["factorial_means"]
    np.testing.assert_allclose(cells["mean_value"], reference["log_odds"], rtol=1e-3)
    np.testing.assert_allclose(cells["probability_high"], expit(reference["log_odds"] + 1.96 * reference["error"]), rtol=1e-3)  # fmt: skip


def test_cells_have_shares_and_the_headline_s_probabilities(answers: pd.DataFrame, found: dict[str, pd.DataFrame]) -> None:
    cells = found["factorial_means"].query("response == 'correct'")
    assert cells["levels"].to_list() == [f"{extraction} x {noun}" for extraction, noun in LEVELS]
    shares = answers.query("measure == 'correct'").groupby(["extraction", "noun"])["response"].mean()
    assert cells["share"].to_list() == [shares[pair] for pair in LEVELS]
    assert set(cells["random"]) == {"slopes"}
    np.testing.assert_allclose(logit(cells["probability"].astype(float)), cells["mean_value"].astype(float))
    assert (cells["probability_low"] < cells["share"]).all()


def test_simple_effects_are_tested_by_z(found: dict[str, pd.DataFrame]) -> None:
    simple = select_factors(found["results"], SIMPLE_EFFECT)
    simple = simple.query("response == 'correct' and random == 'slopes' and factors == 'extraction'")
    cells = found["factorial_means"].query("response == 'correct'").set_index("levels")["mean_value"]
    wanted = [cells[f"object x {noun}"] - cells[f"subject x {noun}"] for noun in ("description", "name")]
    np.testing.assert_allclose(simple["estimate"], wanted)
    assert simple["df"].isna().all(), "a z test"


def test_a_scale_of_two_points_has_no_suggested_model_of_z(answers: pd.DataFrame) -> None:
    scores = compute_rating_scores(responses(trials()), ITEMS)
    rated = build_trials(scores=scores, answers=answers, conditions=conditions())
    assert {model.response for model in resolve_plan(AnalysisSection(), rated).models} == {"correct", "yes"}
    own = ModelSection("m", "z ~ extraction + (1|participant) + (1|item)")
    assert {model.response for model in resolve_plan(AnalysisSection(models=(own,)), rated).models} == {"z"}


def test_a_condition_in_which_all_answers_are_right_is_named(answers: pd.DataFrame) -> None:
    whole = answers["condition"] == "object.name"
    changed = answers.assign(response=answers["response"].mask(whole, 1))
    found = fit_trials(build_trials(answers=changed, conditions=conditions()))
    table, cells = found["results"], found["factorial_means"]
    assert table["estimate"].isna().all()
    assert table["note"].iloc[0] == (
        "Not fitted: correct is 100 % (96 of 96) where extraction is object and noun is name: the log odds have no finite "
        "estimate (separation)"
    )
    assert cells.set_index(["response", "levels"])["share"]["correct", "object x name"] == 1.0
    assert cells["mean_value"].isna().all()


def test_declared_models_take_their_family_from_the_response(answers: pd.DataFrame) -> None:
    own = [
        ModelSection("right", "correct ~ extraction + log_trial + (1|participant) + (1|item)"),
        ModelSection("chosen", "chosen ~ extraction + (1|participant) + (1|item)"),
    ]
    table = fit_trials(build_trials(answers=answers, conditions=conditions()), models=tuple(own))["results"]
    right = table[table["model"] == "right"]
    assert right["term"].to_list() == ["intercept", "extraction_object_subject", "log_trial"]
    assert set(right["prompt"]) == {"asked"}
    assert set(right["family"]) == {"binomial"}
    [note] = table.loc[table["model"] == "chosen", "note"]
    assert note == "Not fitted: no sentence of these paradigms was chosen from a pair"


def choices(people: int = 16, items: int = 12) -> pd.DataFrame:
    """Return choices between fine and odd sentences, half of the pairs long: the fine one is chosen more often where short."""
    rng = np.random.default_rng(5)
    rows: list[dict[str, object]] = []
    for p in range(people):
        for i in range(items):
            length = ("short", "long")[(p + i) % 2]
            members = [f"fine.{length}", f"odd.{length}"]
            fine = rng.random() < {"short": 0.85, "long": 0.65}[length]
            pair = "+".join(members if (p // 2 + i) % 2 else members[::-1])
            place = {"participant": f"P{p:02}", "session": f"S{p:02}", "trial": i, "item": f"i{i:02}", "condition": pair}
            rows.append({**place, "task": "choice", "prompt": "better", "response": members[0 if fine else 1]})
    return responses(rows)


PAIRS = pd.DataFrame(
    [
        ("relatives", f"{ease}.{length}", factor, level)
        for ease in ("fine", "odd")
        for length in ("short", "long")
        for factor, level in (("ease", ease), ("length", length))
    ],
    columns=["paradigm", "condition", "factor", "level"],
)


def test_a_choice_is_of_the_first_member_and_modelled_by_what_both_members_share() -> None:
    given = choices()
    table = compute_binary_responses(given, NO_SCORES, ITEMS, PAIRS)
    assert set(table["event"]) == {"fine over odd"}
    assert table["response"].to_list() == given["response"].str.startswith("fine").astype(int).to_list()
    by = find_pair_levels(table, {"relatives": PAIRS.pivot_table("level", "condition", "factor", aggfunc="first", sort=False)})
    assert {pair: row["length"] for pair, row in by["relatives"].iterrows()} == {
        "fine.short+odd.short": "short", "odd.short+fine.short": "short", "fine.long+odd.long": "long",
        "odd.long+fine.long": "long",
    }  # fmt: skip
    found = fit_trials(build_trials(answers=table, conditions=PAIRS))
    cells = found["factorial_means"]
    intercepts = select_factors(found["results"]).query("random == 'intercepts'")
    assert intercepts["contrast"].to_list() == ["preference: fine over odd", "length: long minus short"]
    shares = table.groupby("length")["response"].mean()
    assert cells.set_index("levels")["share"].to_dict() == {"short": shares["short"], "long": shares["long"]}
    assert intercepts["estimate"].iloc[1] == pytest.approx(logit(shares["long"]) - logit(shares["short"]), abs=0.2)


def test_pairs_that_share_nothing_have_an_intercept_whose_test_is_against_one_half() -> None:
    rows = choices().assign(condition="grammatical+ungrammatical")
    rows = rows.assign(response=np.where(rows["response"].str.startswith("fine"), "grammatical", "ungrammatical"))
    items = ITEMS[ITEMS["condition"].str.startswith("subject")].assign(
        condition=["grammatical", "ungrammatical"] * 16, phenomenon="islands"
    )
    table = compute_binary_responses(rows, NO_SCORES, items, build_pair_conditions(items))
    assert set(table["event"]) == {"grammatical over ungrammatical"}
    found = fit_trials(build_trials(answers=table, items=items))
    [row] = found["results"].to_dict("records")
    assert (row["term"], row["contrast"]) == ("intercept", "preference: grammatical over ungrammatical")
    share = table["response"].mean()
    assert row["estimate"] == pytest.approx(logit(share), abs=0.15)
    assert row["p"] < 0.001
    [cell] = found["factorial_means"].to_dict("records")
    assert (cell["levels"], cell["share"]) == ("all", share)
    [sentence] = factorial_effects(found["results"])
    assert sentence.startswith("Choices (log odds)")
    assert "z = " in sentence


def test_minimal_pairs_are_modelled_by_phenomenon_grammatical_minus_ungrammatical(
    two_scales: dict[str, pd.DataFrame], analysed: dict[str, pd.DataFrame]
) -> None:
    items = two_scales["items"]
    asked = two_scales["responses"].query("prompt == 'verb'")
    table = compute_binary_responses(asked, NO_SCORES, items, build_pair_conditions(items))
    found = select_factors(fit_trials(build_trials(answers=table, items=items))["results"])
    assert set(found["model"]) == {"agreement", "islands", "null effect"}
    assert set(found["contrast"].dropna()) == {"grammaticality: grammatical minus ungrammatical"}
    islands = table[table["phenomenon"] == "islands"].groupby("condition")["response"].mean()
    row = found.query("model == 'islands' and random == 'intercepts' and term != 'intercept'").iloc[0]
    assert row["estimate"] == pytest.approx(logit(islands["grammatical"]) - logit(islands["ungrammatical"]), abs=0.2)
    assert "binary_responses" not in analysed, "nobody was asked anything but ratings"
    assert select_factors(analysed["effects"]).empty


def test_what_is_said_and_drawn_of_answers(found: dict[str, pd.DataFrame]) -> None:
    models = select_factors(found["results"])
    told = factorial_effects(models)
    assert any("Right answers (log odds)" in sentence and ", z = " in sentence for sentence in told)
    text = ready_to_paste(found)
    assert "binomial with a logit link, by maximum likelihood (Laplace's approximation)" in text
    assert "right answers" in text
    [axes, *_] = interaction_figure(found["factorial_means"]).axes
    assert axes.get_title("left").endswith("right answers (%)")
    assert {"50", "70"} & {label.get_text() for label in axes.get_yticklabels()}
    drawn = factorial_figure(models, "yes")
    assert drawn.axes[0].get_xlabel() == "difference\n(yes (log odds))"
