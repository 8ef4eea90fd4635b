"""Mean reading times of words, as corpora are published, are aligned: models over words, the self-test, gains by text."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath import analysis, experiment, study
from gardenpath.analysis import AlignmentOptions
from gardenpath.analysis.aligning.alignment import align_words
from gardenpath.analysis.modelling.additive import curves
from gardenpath.study import DataError, check

from ..conftest import run_here

Tables = dict[str, pd.DataFrame]
BITS = 0.02  # log ms a bit, of the word itself; half of it of the word before
VOWELS = "aeiou"


def corpus(texts: int = 12, words: int = 60, shift: int = 0, seed: int = 1) -> Tables:
    """Return texts with mean times that hold a known effect of surprisal, `shift` words too early."""
    rng = np.random.default_rng(seed)
    parts = []
    for text in range(texts):
        lengths = rng.integers(2, 9, words)
        letters = ["".join(rng.choice(list("bdgklmnprst" + VOWELS), n)) for n in lengths]
        bits, zipf = rng.gamma(3, 2, words), rng.normal(4, 1, words)
        log_rt = 5.8 + rng.normal(0, 0.05) + BITS * bits + 0.5 * BITS * np.r_[0, bits[:-1]] + 0.004 * lengths
        log_rt = np.r_[log_rt[shift:], np.full(shift, 5.8)] + rng.normal(0, 0.03, words)
        frame = pd.DataFrame({"item": f"story {text}", "condition": "only", "word": range(words), "text": letters})
        parts.append(frame.assign(surprisal=bits, length=lengths.astype(float), zipf=zipf, rt=np.exp(log_rt)))
    rows = pd.concat(parts, ignore_index=True).assign(
        paradigm="stories", region=None, n_readings=80, model="m", protocol="imported", n_words=1, surprisal_naive=None,
        entropy=None, renyi=None, n_tokens=None, start=0, end=1,
    )  # fmt: skip
    named = ("word_means", "surprisal", "words")
    return {name: check(rows[study.TABLES[name].column_names], name) for name in named}


@pytest.fixture(scope="module")
def found() -> Tables:
    return analysis.align(corpus())


def test_models_are_of_words_and_recover_what_a_bit_costs(found: Tables) -> None:
    models = found["alignment_models"].set_index("term")
    assert models.loc["surprisal", "estimate"] == pytest.approx(BITS, abs=0.001)
    assert models.loc["surprisal_previous", "estimate"] == pytest.approx(BITS / 2, abs=0.001)
    assert "log_trial" not in models.index
    assert not models["formula"].str.contains("participant|token").any()
    assert found["alignment_check"]["verdict"].tolist() == ["passed"]
    assert "aligned" not in found
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)


def test_a_words_row_has_its_means_and_the_scores_around_it(found: Tables) -> None:
    given = corpus()
    times, bits = (given[n].set_index(["item", "word"])[c] for n, c in (("word_means", "rt"), ("surprisal", "surprisal")))
    rows = found["aligned_means"]
    assert len(rows) == 12 * (60 - 3)  # without the first two words, which have no two before them, and the last
    for row in rows.sample(30, random_state=1).to_dict("records"):
        assert row["rt"] == times[row["item"], row["word"]]
        assert row["surprisal_previous2"] == bits[row["item"], row["word"] - 2]
    step = found["alignment_exclusions"].set_index("rule")
    assert step.loc["last word of its sentence", ["table", "n_excluded"]].tolist() == ["word_means", 12]


R_MEANS = """
suppressMessages(library(lme4))
rows <- aligned
fitted <- lmer(log_rt ~ surprisal + surprisal_previous + surprisal_previous2 + length + length_previous + length_previous2 +
  zipf + zipf_previous + zipf_previous2 + position + (1 | item), rows)
result <- data.frame(term = rownames(coef(summary(fitted))), coef(summary(fitted))[, 1:2])
"""


@pytest.mark.r
def test_the_model_is_lme4s(found: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    ours = analysis.align(corpus(), AlignmentOptions(slopes=False))["alignment_models"].set_index("term")
    theirs = rscript(R_MEANS, aligned=found["aligned_means"]).set_index("term")
    for term in ("surprisal", "surprisal_previous", "length", "position"):
        assert ours.loc[term, "estimate"] == pytest.approx(theirs.loc[term, "Estimate"], rel=1e-4)
        assert ours.loc[term, "se"] == pytest.approx(theirs.loc[term, "Std..Error"], rel=1e-3)


@pytest.mark.r
def test_curves_are_over_words_in_series_of_texts(found: Tables) -> None:
    terms = curves(found["aligned_means"], lags=0)["gam_terms"].set_index("term")
    assert terms.loc["s(surprisal)", "p"] < 0.001
    assert set(terms["formula"]) == {"log_rt ~ s(surprisal) + length + zipf + position + s(item, bs='re')"}
    assert terms["rho"].abs().lt(1).all()


def test_gains_are_of_texts_held_out(found: Tables) -> None:
    (gain,) = found["delta_log_likelihood"].to_dict("records")
    assert (gain["folds_by"], gain["n_clusters"]) == ("item", 12)
    assert gain["total_delta"] == pytest.approx(
        (found["held_out_clusters"]["log_likelihood_with"] - found["held_out_clusters"]["log_likelihood_without"]).sum()
    )
    assert gain["p"] == gain["min_p"] == 2**-12
    with pytest.raises(ValueError, match="means over readers have no participant"):
        analysis.align(corpus(texts=2), AlignmentOptions(folds_by="participant"))


def test_times_a_word_early_fail_the_self_test() -> None:
    early = analysis.align(corpus(shift=1))
    assert early["alignment_check"]["verdict"].tolist() == ["failed"]
    assert early["alignment_models"]["estimate"].isna().all()


def test_readings_and_means_together_are_a_question(tables: Tables) -> None:
    with pytest.raises(DataError, match="tables readings and word_means are both there; expected one of them"):
        align_words(tables | {"word_means": corpus()["word_means"]}, AlignmentOptions())


ITEMS = """paradigm,phenomenon,item,condition,sentence
stories,stories,boar,only,"If you were to journey, you would."
stories,stories,aqua,only,The rather odd creature sat.
"""
MAPPING = """
rows_are_means = true
first_word_position = 1
[columns]
item = "story"
word = "zone"
text = "token"
rt = "meanItemRT"
n_readings = "nItem"
[units]
rt = "s"
"""


def published(folder: Path, skip: str = "-", mapping: str = MAPPING):  # type: ignore[no-untyped-def]
    """Collect a table of two texts, in seconds, whose words are written without commas."""
    (folder / "items.csv").write_text(ITEMS)
    (folder / "map.toml").write_text(mapping)
    texts = {"boar": "If you were to journey you would.", "aqua": "The rather odd creature sat."}
    rows = [
        f"{story},{n},{token},{0.3 + n / 100:.2f},{80 + n}"
        for story, text in texts.items()
        for n, token in enumerate(text.split(), start=1)
    ]
    kept = [row for row in rows if not row.startswith(skip)]
    (folder / "means.csv").write_text("\n".join(["story,zone,token,meanItemRT,nItem", *kept]) + "\n")
    return experiment.collect(folder / "means.csv", platform="table", mapping=folder / "map.toml", materials=folder / "items.csv")


def test_a_published_table_of_means_is_collected_and_held_against_the_texts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = published(tmp_path, skip="boar,3")
    assert set(made) == {"items", "conditions", "words", "word_means"}
    means = made["word_means"]
    assert " ".join(means["text"]) == "If you were to journey, you would. The rather odd creature sat."
    assert means["rt"].fillna(0).round(6).tolist() == [310, 320, 0, 340, 350, 360, 370, 310, 320, 330, 340, 350]
    assert means["n_readings"].fillna(0).tolist()[:4] == [81, 82, 0, 84]
    assert set(means["paradigm"]) == {"stories"}
    assert "1 of 12 words have no mean reading time" in caplog.text


def test_what_a_table_of_means_does_not_say_is_asked(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: word 1 \(from 0\) is 'If', expected 'you'"):
        published(tmp_path, mapping=MAPPING.replace("first_word_position = 1", "first_word_position = 0"))
    with pytest.raises(DataError, match=r"'participant' is missing.*\n.*\n.*say so in the mapping:  rows_are_means = true"):
        published(tmp_path, mapping=MAPPING.replace("rows_are_means = true", ""))
    with pytest.raises(DataError, match=r"rows_are_means = true, and \[columns\] participant"):
        published(tmp_path, mapping=MAPPING.replace("[columns]", '[columns]\nparticipant = "nItem"'))
    with pytest.raises(DataError, match="word 1 of item boar is there a second time"):
        published(tmp_path, mapping=MAPPING + '[[repairs]]\nwhere = { zone = "2" }\nset = { zone = "1" }\nreason = "x"\n')


def test_the_command_aligns_what_collect_and_score_write(tmp_path: Path) -> None:
    given = corpus(texts=10, words=30)
    for name, folder in (("word_means", "tables"), ("words", "tables"), ("surprisal", "scores")):
        study.write(given[name], name, tmp_path / folder, command="by hand")
    ran = run_here("gardenpath align tables scores -o results", tmp_path)
    assert ran.code == 0, ran.said
    assert "surprisal changes the log likelihood of 270 held-out readings" in ran.printed
    assert study.read(tmp_path / "results", "aligned_means")["item"].nunique() == 10
