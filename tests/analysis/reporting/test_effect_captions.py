"""Tables of cells and of coefficients as papers print them, and their captions: numbers of the tables, in readable terms."""

import pandas as pd

from gardenpath.analysis.reporting.wording import effect_captions, hypotheses
from gardenpath.analysis.reporting.wording.coefficients import is_heading

NAN = float("nan")


def effect(random: str, estimate: float = 0.1, **more: object) -> list[dict[str, object]]:
    """Return the rows of a model of a 2 x 2, as factorial_models has them; every contrast alike."""
    row = {
        "model": "relatives", "measure": "log_rt", "region": "critical", "prompt": None, "random": random, "estimate": estimate,
        "se": 0.021, "df": 20.0, "t": estimate / 0.021, "p": 0.0004, "ci_low": estimate - 0.04, "ci_high": estimate + 0.04,
        "ms": NAN, "ms_low": NAN, "ms_high": NAN, "converged": True, "singular": False, "note": None,
    }  # fmt: skip
    contrasts = ("extraction: object minus subject", "noun_phrase: name minus description")
    terms = [("intercept", None), ("e", contrasts[0]), ("n", contrasts[1]), ("e:n", " x ".join(contrasts))]
    return [row | {"term": term, "contrast": contrast} | more for term, contrast in terms]


def both() -> pd.DataFrame:
    """Return two regions with both forms; at the second, the model with slopes has no estimate."""
    slopes = effect("slopes", 0.12, singular=True, ms=34.2, ms_low=21.4, ms_high=46.6)
    failed = effect("slopes", NAN, region="critical+1", p=NAN, converged=False)
    return pd.DataFrame([*effect("intercepts"), *slopes, *effect("intercepts", -0.05, region="critical+1"), *failed])


def test_each_contrast_has_its_headline_and_beside_it_the_published_form() -> None:
    table = effect_captions.contrasts(both())
    assert table.columns == ("effect", "b", "95% CI", "t (df)", "p", "ms", "b", "t (df)", "p")
    assert table.groups == (("", 1), ("with slopes", 5), ("intercepts alone", 3))
    first, *rows = table.rows
    assert first[0] == "log reading time, critical region (singular fit)"
    assert is_heading(first)
    assert [row[0] for row in rows[:3]] == [
        "extraction (object − subject)", "noun phrase (name − description)", "extraction × noun phrase",
    ]  # fmt: skip
    numbers = ("0.120", "[0.080, 0.160]", "5.71 (20.0)", "< .001", "34 [21, 47]", "0.100", "4.76 (20.0)", "< .001")
    assert rows[0][1:] == numbers


def test_where_slopes_failed_the_published_form_is_the_headline_and_the_heading_says_so() -> None:
    rows = effect_captions.contrasts(both()).rows
    assert rows[4][0] == "log reading time, critical + 1 (intercepts alone)"
    assert rows[5] == (
        "extraction (object − subject)", "−0.050", "[−0.090, −0.010]", "−2.38 (20.0)", "< .001", "–", "–", "–", "–",
    )  # fmt: skip


def test_a_declared_model_stands_alone_and_markdown_has_as_many_cells_in_each_line() -> None:
    table = effect_captions.contrasts(pd.DataFrame(effect("declared")))
    assert table.groups == ()
    lines = table.markdown().splitlines()
    assert lines[0] == "| effect | b | 95% CI | t (df) | p |"
    assert lines[2] == "| **log reading time, critical region** |  |  |  |  |"
    whole = effect_captions.contrasts(both()).markdown().splitlines()
    assert "p (intercepts alone)" in whole[0]
    assert {line.count("|") for line in whole} == {10}


def test_no_models_are_an_empty_table() -> None:
    assert effect_captions.contrasts(both().head(0)).rows == ()


def means(**more: object) -> pd.DataFrame:
    cells = [(a, b) for a in ("subject", "object") for b in ("name", "group")]
    rows = [
        {"model": "m", "measure": measure, "region": region, "prompt": None, "factors": "extraction x noun_phrase",
         "levels": f"{a} x {b}", "participants": 38, "dropped": 0, "mean": mean + k, "ci_low": mean + k - 1, "ci_high": mean + k + 1,
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
    one = means(dropped=1)
    one.loc[one["measure"] == "log_rt", "dropped"] = 2
    text = effect_captions.interaction(one)
    assert "Of 39 participants, 1 was left out for having no trial in one of the conditions (rating (z))." in text
    assert "Of 40 participants, 2 were left out for having no trial in one of the conditions (critical region)." in text


def test_what_was_tested_names_terms_and_responses() -> None:
    said = hypotheses.tested(both(), pd.DataFrame({"term": []}))
    assert said == [
        "We tested the effects of extraction (object − subject), noun phrase (name − description) and extraction × noun phrase on "
        "reading times of the critical region and the word after it."
    ]
    other = both().assign(model="agreement", measure="z", region="sentence").query("term == 'e'")
    several = hypotheses.tested(pd.concat([both(), other]), pd.DataFrame({"term": []}))
    assert several[1] == "Agreement: we tested the effect of extraction (object − subject) on ratings."
