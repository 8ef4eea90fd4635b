"""Norms: typing errors find their form and real words do not, numbers are those of R and of loops, edits decide."""

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pandas as pd
import pytest

from gardenpath import analysis, study

RScript = Callable[..., pd.DataFrame]
WORDS = {"bread", "bred", "cheese", "butter", "soup", "their", "there", "cat", "bat"}


def fragments(*targets: str, text: str = "She cut the", language: str = "en", spaced: bool = True) -> pd.DataFrame:
    """One item whose conditions a, b ... have the same fragment and these targets."""
    row = {"item": "i1", "paradigm": "p", "language": language, "context": None, "fragment": text, "has_word_spaces": spaced}
    return pd.DataFrame([{**row, "condition": "abcd"[n], "target": word} for n, word in enumerate(targets)])


def typed(*answers: str | None, condition: str = "a") -> pd.DataFrame:
    return pd.DataFrame({"item": "i1", "condition": condition, "response": pd.array(answers, dtype="string")})


def known(word: str, language: str) -> bool:
    return word in WORDS


def forms(
    answers: pd.DataFrame, *targets: str, known: Callable[[str, str], bool | None] | None = known
) -> dict[str, tuple[str | None, str]]:
    """The form of each answer, and how it was found."""
    table = analysis.code_cloze_responses(answers, fragments(*targets), is_known_word=known)
    given = table["form"].astype(object).where(table["form"].notna(), None)
    return {text: (form, how) for text, form, how in zip(table["response"], given, table["coding"], strict=True)}


TYPED = {
    "one letter is another": ("breat", ("bread", "spelling")),
    "one letter too many": ("breadd", ("bread", "spelling")),
    "two letters swapped": ("braed", ("bread", "spelling")),
    "two edits": ("braedd", ("braedd", "typed")),
    "a word of its own, though one edit away": ("bred", ("bred", "typed")),
    "one edit from the target, which nobody typed": ("chese", ("cheese", "spelling")),
    "one edit from a word that nobody gave": ("suop", ("suop", "typed")),
    "too short to tell": ("caz", ("caz", "typed")),
    "a capital, and a mark": ("Bread!", ("bread", "case")),
    "more words": ("bread, with a knife", ("bread", "first word")),
    "the fragment once more": ("she cut  the bread", ("bread", "first word")),
    "no word": ("?!", (None, "none")),
}


@pytest.mark.parametrize(("text", "expected"), TYPED.values(), ids=TYPED.keys())
def test_a_typing_error_finds_its_form_and_a_word_does_not(text: str, expected: tuple[str | None, str]) -> None:
    assert forms(typed("bread", "bread", "butter", "cat", text), "cheese")[text] == expected


def test_between_two_equally_frequent_forms_an_error_is_neither_s() -> None:
    assert forms(typed("cheese", "their", "there", "thare", "theire"), "cheese")["thare"] == ("there", "spelling")
    assert forms(typed("their", "there", "ther"), "cheese")["ther"] == ("ther", "typed")
    assert forms(typed("their", "there", "there", "ther"), "cheese")["ther"] == ("there", "spelling")


def test_without_a_word_list_what_several_typed_is_a_word() -> None:
    given = typed("blini", "blini", "blinis", "blimi", "sopas", "sopas", "sopaz")
    found = forms(given, "bread", known=lambda word, language: None)
    assert found["blimi"] == ("blini", "spelling")
    assert found["sopaz"] == ("sopas", "spelling")
    assert forms(given, "bread", known=None) == found


def test_apostrophes_and_accents_are_one_however_they_are_typed() -> None:
    found = forms(typed("l'été", "l’e\u0301te\u0301"), "l'été", known=None)
    assert {form for form, _ in found.values()} == {"l'été"}


def test_where_words_are_not_spaced_the_answer_is_one() -> None:
    table = analysis.code_cloze_responses(typed("パン を", "パン。"), fragments("パン", text="彼女は", language="ja", spaced=False))
    assert table["form"].tolist() == ["パン を", "パン"]


def test_probabilities_entropy_and_intervals_are_those_of_a_hand() -> None:
    asked = fragments("bread", "cake")  # one fragment, two conditions: their answers are one
    both = pd.concat([typed("bread", "bread", "Bread", None), typed("cheese", "braed", condition="b")])
    answers = analysis.code_cloze_responses(both, asked, is_known_word=known)
    table = analysis.compute_cloze(answers, asked, {"bread": "bread"})
    assert table[["conditions", "form", "n_responses", "n_valid_responses"]].values.tolist() == [
        ["a, b", "bread", 4, 5],
        ["a, b", "cheese", 1, 5],
    ]
    assert table["lemma"].fillna("").tolist() == ["bread", ""]
    norms = analysis.compute_cloze_norms(table, asked).set_index("condition")
    assert norms["value"].tolist() == [0.8, 0.0]
    assert norms["entropy"].tolist() == pytest.approx([-0.8 * math.log2(0.8) - 0.2 * math.log2(0.2)] * 2)
    z, p, n = 1.959963984540054, 0.8, 5
    centre, half = (p + z * z / (2 * n)), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert norms.loc["a", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]
    )
    assert norms["modal_form"].tolist() == ["bread", "bread"]
    assert norms["shrunken"].isna().all()  # of one item nothing is known of how items spread


def test_a_fragment_that_nobody_went_on_with_is_there_and_empty() -> None:
    asked = pd.concat([fragments("bread"), fragments("cake", text="He ate").assign(item="i2")])
    norms = analysis.compute_cloze_norms(analysis.compute_cloze(analysis.code_cloze_responses(typed("bread"), asked), asked), asked)
    assert norms["n_valid_responses"].tolist() == [1, 0]
    assert norms["value"].isna().tolist() == [False, True]


def test_what_a_person_changed_decides() -> None:
    asked = fragments("bread")
    given = typed("bread", "bred", "dunno")
    table = analysis.code_cloze_responses(given, asked, is_known_word=known)
    edited = table.assign(form=["bread", "bread", None])
    again = analysis.code_cloze_responses(given, asked, is_known_word=known, edited_forms=edited)
    assert again["coding"].tolist() == ["typed", "edited", "edited"]
    assert analysis.compute_cloze(again, asked)[["form", "n_responses", "n_valid_responses"]].values.tolist() == [["bread", 2, 2]]
    with pytest.raises(study.DataError, match=r"'cake' for item i1 \(a\), which nobody answered"):
        analysis.code_cloze_responses(given, asked, edited_forms=edited.assign(response=["bread", "bred", "cake"]))


@pytest.mark.r
def test_shrunken_probabilities_have_the_likelihood_s_maximum_of_r(rscript: RScript) -> None:
    random = Random(3)
    rows = pd.DataFrame({"k": [sum(random.random() < p / 12 for _ in range(20)) for p in range(1, 12)], "n": 20})
    reference = rscript(
        """
        cost <- function(x) { a <- plogis(x[1]) * exp(x[2]); b <- (1 - plogis(x[1])) * exp(x[2])
                              -sum(lbeta(rows$k + a, rows$n - rows$k + b) - lbeta(a, b)) }
        best <- optim(c(0, 1), cost, method = "BFGS", control = list(reltol = 1e-14))$par
        a <- plogis(best[1]) * exp(best[2]); b <- (1 - plogis(best[1])) * exp(best[2])
        result <- data.frame(shrunken = (rows$k + a) / (rows$n + a + b))
        """,
        rows=rows,
    )
    np.testing.assert_allclose(analysis.shrink_proportions(rows["k"], rows["n"]), reference["shrunken"], rtol=1e-3)


def test_shrunken_means_are_those_of_the_formulas_one_by_one() -> None:
    means, sds, n = [2.0, 3.5, 4.0, 5.0, 6.5, 3.0], [1.0, 1.5, 0.8, 1.2, 1.0, 0.5], [20, 18, 20, 20, 19, 20]
    pooled = sum((k - 1) * s * s for s, k in zip(sds, n, strict=True)) / sum(k - 1 for k in n)
    w = [k / pooled for k in n]
    centre = sum(a * m for a, m in zip(w, means, strict=True)) / sum(w)
    q = sum(a * (m - centre) ** 2 for a, m in zip(w, means, strict=True))
    tau2 = (q - 5) / (sum(w) - sum(a * a for a in w) / sum(w))
    v = [1 / (pooled / k + tau2) for k in n]
    centre = sum(a * m for a, m in zip(v, means, strict=True)) / sum(v)
    expected = [centre + tau2 / (tau2 + pooled / k) * (m - centre) for m, k in zip(means, n, strict=True)]
    np.testing.assert_allclose(analysis.shrink_means(means, sds, n), expected)
    alike = analysis.shrink_means([4.0, 4.1, 3.9, 4.05, 3.95], [1.5] * 5, [5] * 5)
    np.testing.assert_allclose(alike, [4.0] * 5)


def test_shrinkage_undoes_what_selection_flatters() -> None:
    """Of items chosen because few answers were the target, the true mean is nearer to the shrunken one."""
    rng = np.random.default_rng(1)
    true = rng.beta(2, 6, 400)
    hits = rng.binomial(10, true)
    kept = hits <= 1
    raw, shrunken = ((hits / 10)[kept].mean(), np.asarray(analysis.shrink_proportions(hits, np.full(400, 10)))[kept].mean())
    assert abs(shrunken - true[kept].mean()) < 0.25 * abs(raw - true[kept].mean())


def test_ratings_have_student_s_intervals_and_no_answer_is_none() -> None:
    items = pd.DataFrame({"item": ["i1", "i2"], "paradigm": "p", "condition": "a"})
    responses = pd.DataFrame({"item": "i1", "condition": "a", "response": ["2", "4", "6"]})
    norms = analysis.compute_rating_norms(responses, items, "plausibility")
    assert norms["n_valid_responses"].tolist() == [3, 0]
    half = 4.302652729749464 * 2 / math.sqrt(3)  # Student's t at .975 with 2 degrees of freedom
    assert norms.loc[0, ["value", "ci_low", "ci_high", "sd"]].tolist() == pytest.approx([4, 4 - half, 4 + half, 2])
    assert norms.loc[1, ["value", "ci_low", "ci_high"]].isna().all()


def test_prediction_powered_intervals_are_those_of_a_loop_and_cover() -> None:
    values, predictions, others = [0.1, 0.5, 0.3], [0.2, 0.4, 0.4], [0.3, 0.35, 0.5, 0.1]
    off = [y - f for y, f in zip(values, predictions, strict=True)]
    mean = sum(others) / 4 + sum(off) / 3
    variance = 0.0
    for part in (others, off):
        centre = sum(part) / len(part)
        variance += sum((x - centre) ** 2 for x in part) / (len(part) - 1) / len(part)
    half = 1.959963984540054 * math.sqrt(variance)
    assert analysis.prediction_powered_mean(values, predictions, others) == pytest.approx((mean, mean - half, mean + half))

    rng, covered, narrower = np.random.default_rng(2), 0, 0
    for _ in range(400):
        truth = rng.normal(0.5, 0.2, 300)
        model = truth + 0.1 + rng.normal(0, 0.05, 300)  # off in the mean, yet it knows the items
        _, low, high = analysis.prediction_powered_mean(truth[:30], model[:30], model[30:])
        covered += low <= 0.5 <= high
        narrower += high - low < 2 * 1.96 * truth[:30].std(ddof=1) / math.sqrt(30)
    assert 0.92 <= covered / 400 <= 0.98
    assert narrower == 400


def test_means_of_conditions_are_over_items_and_predicted_where_there_are_others() -> None:
    rng = np.random.default_rng(3)
    norms = pd.DataFrame({"item": [f"i{n}" for n in range(24)], "paradigm": ["p", "q"] * 12, "condition": "a"})
    norms["value"] = rng.random(24)
    by_model = norms.assign(model="m", model_value=rng.random(24))
    rest = norms.drop(columns="value").assign(model="m", model_value=rng.random(24))
    table = analysis.compute_norm_means(norms, by_model, rest.iloc[:22]).set_index("paradigm")
    assert table["n_items"].to_dict() == {"p": 12, "q": 12, "all": 24}
    assert table["n_other_items"].to_dict() == {"p": 11, "q": 11, "all": 22}
    for name, of in (("p", norms["paradigm"] == "p"), ("all", norms["value"] > -1)):
        expected = analysis.prediction_powered_mean(
            norms["value"][of], by_model["model_value"][of], rest.iloc[:22]["model_value"][of[:22]]
        )
        assert tuple(table.loc[name, ["predicted_mean", "predicted_ci_low", "predicted_ci_high"]]) == pytest.approx(expected)
        assert table.loc[name, "mean_value"] == pytest.approx(norms["value"][of].mean())
    few = analysis.compute_norm_means(norms, by_model, rest.iloc[:18])  # nine others of each paradigm
    assert few.set_index("paradigm")["predicted_mean"].notna().to_dict() == {"p": False, "q": False, "all": True}
    assert analysis.compute_norm_means(norms.iloc[:18])["ci_low"].notna().tolist() == [False, False, True]
    assert analysis.compute_norm_means(norms)["predicted_mean"].isna().all()
