"""Figures, sentences and the section on language models asked to judge say what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis.comparing.all_comparisons import ComparisonData, compute_method_tables
from gardenpath.analysis.reporting import document, manuscript
from gardenpath.analysis.reporting.exhibits import Page
from gardenpath.analysis.reporting.figures import judgment_figures as figures
from gardenpath.analysis.reporting.sections.judgment_sections import judgments as section
from gardenpath.analysis.reporting.wording import judgments as words
from gardenpath.study import DataError

from ..test_voting import made

Tables = dict[str, pd.DataFrame]
MODEL = "org/a"


@pytest.fixture(scope="module")
def found() -> Tables:
    """The tables of two models' judgments beside people's accuracies and two groups of paradigms."""
    both = pd.concat([made(1, model=MODEL), made(2, model="b")])
    names = sorted(both["paradigm"].unique())
    groups = pd.DataFrame({"paradigm": names, "factor": "word_shuffling", "level": ["shuffled"] * 4 + ["other"] * 8})
    people = pd.DataFrame({"paradigm": names, "accuracy": 0.9})
    return compute_method_tables(both, ComparisonData(groups=[groups], human_accuracies=people), select=["pairs", "paradigms"])


def series(figure: object, name: str) -> list[float]:
    """Return where the dots of a series stand."""
    drawn = next(one for one in figure.axes[0].containers if one.get_label() == name)  # type: ignore[attr-defined]
    return [float(x) for x in drawn[0].get_xdata()]


def test_dots_stand_where_the_tables_say(found: Tables) -> None:
    own = words.whole_rows(found["method_accuracies"].query(f"phenomenon == 'all' and model == '{MODEL}'"))
    assert series(figures.method_figure(found["method_accuracies"]), MODEL) == pytest.approx(own["accuracy"].to_list())
    votes = found["ensembles"].query(f"model == '{MODEL}'")
    figure = figures.vote_figure(votes, MODEL)
    for name, selection in (("mean over all mixes", "all"), ("best on the test set (oracle)", "test set")):
        assert series(figure, name) == pytest.approx(votes.query(f"selection == '{selection}'")["accuracy"].to_list())
    bias = words.whole_rows(found["method_length_bias"]).query("model == 'mean'")
    assert series(figures.length_figure(found["method_length_bias"]), "mean over models") == pytest.approx([*bias["r"]])
    groups = found["method_groups"].query(f"model == '{MODEL}' and level == 'shuffled'")
    drawn = series(figures.group_figure(found["method_groups"], MODEL, "word_shuffling"), "shuffled")
    assert drawn == pytest.approx([*groups["mean_accuracy"], 0.9])


def test_people_come_first_in_the_map_of_phenomena(found: Tables) -> None:
    axes = figures.phenomenon_figure(found["method_accuracies"], MODEL).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()][:2] == ["people", "LP"]
    assert axes.texts[0].get_text() == "90"


def test_a_dot_of_the_tradeoff_is_a_paradigm(found: Tables) -> None:
    figure = figures.tradeoff_figure(found["method_differences"])
    own = found["method_differences"].query(f"model == '{MODEL}' and paradigm != 'mean'")
    np.testing.assert_allclose(figure.axes[0].lines[2].get_xydata(), own[["token_difference", "difference"]] * [1, 100])
    with pytest.raises(DataError, match="no rows to draw"):
        figures.tradeoff_figure(own.iloc[:0])


def test_sentences_print_the_oracle_as_one_and_a_bound_as_a_bound(found: Tables) -> None:
    votes = words.ensembles(found["ensembles"].query(f"model == '{MODEL}' and ensemble == '3 yes_no + 2 template_lp'"))
    assert len(votes) == 1
    assert "mean over all 100 mixes" in votes[0]
    assert "an oracle: it is chosen on the test set; the best chosen on other pairs" in votes[0]
    row = found["method_comparisons"].iloc[[0]]
    sure = row.assign(n_reversed=0, p=1 / 1001, p_holm=3 / 1001, n_paradigm_reversed=41, paradigm_p=0.041, paradigm_p_holm=0.123)
    text = words.method_comparisons(sure)[0]
    assert "one-sided p ≤ 1/1001, p_Holm ≤ .003 (these paradigms only)" in text
    assert "one-sided p = .041, p_Holm = .123" in text
    none = row.assign(p=float("nan"), note="No pair was judged by both.")
    assert words.method_comparisons(none) == [f"{MODEL}, in-template LP against LP: No pair was judged by both."]


def test_the_section_and_the_methods_say_how_models_were_asked(found: Tables) -> None:
    made_section = section(Page(found))
    assert made_section.sentences[0].startswith(f"{MODEL}, share of 120 pairs won: ")
    assert "; people 90.0%" in made_section.sentences[0]
    assert any("answers: " in sentence for sentence in made_section.sentences)
    text = " ".join(manuscript.methods(found))
    assert "asked to judge 120 minimal pairs in 12 paradigms by LP, in-template LP, Yes/No probability and A/B prompting" in text
    assert "held against LP by a paired bootstrap (1,000 resamples, one-sided)" in text
    html = document.report(found, title="Judging")
    assert "Language models asked to judge" in html
    assert "Ide, Y., Nishida, Y." in html
    assert "source of the data unknown" not in html  # nobody took part
