"""Tables of cells and of coefficients as papers print them, and their captions: numbers of the tables, in readable terms."""

import pandas as pd

from gardenpath.analysis.reporting.wording import effect_captions, factors, hypotheses
from gardenpath.analysis.reporting.wording.coefficients import is_heading

NAN = float("nan")


def effect(random: str, estimate: float = 0.1, **more: object) -> list[dict[str, object]]:
    """Return the rows of a model of a 2 x 2, as the results have them; every contrast alike."""
    row = {
        "unit": "model", "model": "relatives", "response": "log_rt", "family": "gaussian", "region": "critical", "prompt": None,
        "random": random, "headline": random != "intercepts", "p_adjusted": NAN, "adjustment": None, "estimate": estimate,
        "se": 0.021, "df": 20.0, "t": estimate / 0.021, "p": 0.0004, "ci_low": estimate - 0.04, "ci_high": estimate + 0.04,
        "ms": NAN, "ms_low": NAN, "ms_high": NAN, "converged": True, "singular": False, "reduced": False, "note": None,
    }  # fmt: skip
    contrasts = ("extraction: object minus subject", "noun_phrase: name minus description")
    terms = [("intercept", None), ("e", contrasts[0]), ("n", contrasts[1]), ("e:n", " x ".join(contrasts))]
    return [row | {"term": term, "contrast": contrast} | more for term, contrast in terms]


def both() -> pd.DataFrame:
    """Return two regions with both forms; at the second, the model with slopes has no estimate."""
    slopes = effect("slopes", 0.12, singular=True, ms=34.2, ms_low=21.4, ms_high=46.6)
    failed = effect("slopes", NAN, region="critical+1", p=NAN, converged=False, headline=False)
    later = effect("intercepts", -0.05, region="critical+1", headline=True)
    return pd.DataFrame([*effect("intercepts"), *slopes, *later, *failed])


def test_each_contrast_has_its_headline_and_beside_it_the_published_form() -> None:
    table = effect_captions.contrasts(both())
    assert table.columns == ("effect", "b", "95% CI", "t (df)", "p", "ms", "b", "p")
    assert table.groups == (("", 1), ("with slopes", 5), ("intercepts alone", 2))
    first, *rows = table.rows
    assert first[0] == "log reading time, critical region (singular fit)"
    assert is_heading(first)
    assert [row[0] for row in rows[:3]] == [
        "extraction (object − subject)", "noun phrase (name − description)", "extraction × noun phrase",
    ]  # fmt: skip
    numbers = ("0.120", "[0.080, 0.160]", "5.71 (20.0)", "< .001", "34 [21, 47]", "0.100", "< .001")
    assert rows[0][1:] == numbers


def test_where_slopes_failed_the_published_form_is_the_headline_and_the_heading_says_so() -> None:
    rows = effect_captions.contrasts(both()).rows
    assert rows[4][0] == "log reading time, critical + 1 (intercepts alone)"
    assert rows[5] == (
        "extraction (object − subject)", "−0.050", "[−0.090, −0.010]", "−2.38 (20.0)", "< .001", "–", "–", "–",
    )  # fmt: skip


def test_a_model_that_was_not_fitted_says_why_in_its_heading() -> None:
    why = "correct is 100 % (11 of 11) where extraction is object: the log odds have no finite estimate (separation)"
    failed = effect("declared", NAN, response="correct", region="sentence", p=NAN, note=f"Not fitted: {why}")
    rows = effect_captions.contrasts(pd.DataFrame([*effect("declared"), *failed])).rows
    assert [row[0] for row in rows if is_heading(row)][1] == f"right answers (log odds), not fitted: {why}"


def test_a_declared_model_stands_alone_and_markdown_has_as_many_cells_in_each_line() -> None:
    table = effect_captions.contrasts(pd.DataFrame(effect("declared")))
    assert table.groups == ()
    lines = table.markdown().splitlines()
    assert lines[0] == "| effect | b | 95% CI | t (df) | p |"
    assert lines[2] == "| **log reading time, critical region** |  |  |  |  |"
    whole = effect_captions.contrasts(both()).markdown().splitlines()
    assert "p (intercepts alone)" in whole[0]
    assert {line.count("|") for line in whole} == {9}


def test_no_models_are_an_empty_table() -> None:
    assert effect_captions.contrasts(both().head(0)).rows == ()


def means(**more: object) -> pd.DataFrame:
    cells = [(a, b) for a in ("subject", "object") for b in ("name", "group")]
    rows = [
        {"model": "m", "response": measure, "region": region, "prompt": None, "factors": "extraction x noun_phrase",
         "levels": f"{a} x {b}", "n_participants": 38, "n_excluded_participants": 0, "mean_value": mean + k, "ci_low": mean + k - 1, "ci_high": mean + k + 1,
         "ms": mean if measure == "log_rt" else NAN, "ms_low": 1.4, "ms_high": 9.6, **more}
        for measure, region, mean in (("z", "sentence", -0.5), ("log_rt", "critical", 300.0))
        for k, (a, b) in enumerate(cells)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_cells_are_rows_and_responses_columns_with_reading_times_in_ms() -> None:
    table = effect_captions.cells(means())
    assert table.columns == ("extraction", "noun phrase", "rating (z)", "critical region")
    assert table.rows[0] == ("subject", "name", "−0.50 [−1.50, 0.50]", "300 [1, 10]")
    assert table.rows[1][:2] == ("", "group")


def test_the_caption_counts_who_was_left_out_where() -> None:
    assert "left out" not in effect_captions.interaction(means())
    one = means(n_excluded_participants=1)
    one.loc[one["response"] == "log_rt", "n_excluded_participants"] = 2
    text = effect_captions.interaction(one)
    assert "Of 39 participants, 1 was left out for having no trial in one of the conditions (rating (z))." in text
    assert "Of 40 participants, 2 were left out for having no trial in one of the conditions (critical region)." in text


def test_what_was_tested_names_terms_and_responses() -> None:
    said = hypotheses.tested(both(), pd.DataFrame({"term": []}))
    assert said == [
        "We tested the effects of extraction (object − subject), noun phrase (name − description) and extraction × noun phrase on "
        "reading times of the critical region and the word after it."
    ]
    other = both().assign(model="agreement", response="z", region="sentence").query("term == 'e'")
    several = hypotheses.tested(pd.concat([both(), other]), pd.DataFrame({"term": []}))
    assert several[1] == "Agreement: we tested the effect of extraction (object − subject) on ratings."


def test_a_preference_among_pairs_is_no_effect_of_a_factor() -> None:
    row = effect("intercepts", headline=True)[0] | {
        "response": "chosen",
        "region": "sentence",
        "contrast": "preference: grammatical over ungrammatical",
    }
    said = hypotheses.tested(pd.DataFrame([row]), pd.DataFrame({"term": []}))
    assert said == ["We tested the preference for grammatical over ungrammatical in choices between two sentences."]
    (answer,) = factors.summarise_effects(pd.DataFrame([row | {"singular": True}]))
    assert answer == (
        "Choices (log odds), with intercepts alone, singular fit: a preference for grammatical over ungrammatical (b = 0.100, p < .001)."
    )
    cell = {"model": "npi_licensing", "response": "chosen", "n_trials": 40, "share": 0.8, "probability": 0.85}
    table = effect_captions.preferences(pd.DataFrame([cell | {"probability_low": 0.7, "probability_high": 0.93}]))
    assert table.rows == (("npi licensing", "40", "80.0%", "85.0% [70.0%, 93.0%]"),)


def test_models_of_one_effect_each_have_a_row_each() -> None:
    row = effect("declared")[1]
    table = effect_captions.contrasts(pd.DataFrame([row | {"model": name} for name in ("one", "two")]))
    assert [cells[:2] for cells in table.rows] == [
        ("one: log reading time, critical region", "extraction (object − subject)"),
        ("two: log reading time, critical region", "extraction (object − subject)"),
    ]
    assert "interaction" not in effect_captions.contrasts_caption(pd.DataFrame([row]))


def test_an_answer_goes_by_the_headline_and_the_adjusted_p() -> None:
    rows = effect("intercepts") + effect("slopes", 0.12, ms=34.2)
    for row, p in zip(rows, [None, 0.04, 0.001, 0.9] * 2, strict=True):
        row |= {"p_adjusted": p, "adjustment": "Holm, over the regions"}
    rows[5]["p_adjusted"] = 0.2
    (said,) = factors.summarise_effects(pd.DataFrame(rows))
    assert said == (
        "Log reading time, critical region, with slopes: an effect of noun phrase (34 ms, p_Holm = .001); no evidence for an effect of "
        "extraction (b = 0.120, 95% CI [0.080, 0.160], p_Holm = .200) and extraction × noun phrase (b = 0.120, 95% CI [0.080, 0.160], "
        "p_Holm = .900)."
    )
    (all_of_them,) = factors.summarise_effects(pd.DataFrame(effect("declared")))
    assert "no evidence" not in all_of_them
    assert factors.summarise_effects(pd.DataFrame(rows).head(0)) == []
