"""align and evaluate beside people's ratings and beside each other, from files to files."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from gardenpath.analysis import compute_rating_scores
from gardenpath.analysis.reporting.wording.minimal_pairs import model_comparisons, rating_correlations
from gardenpath.analysis.reporting.wording.surprisal import gain_comparisons, gains
from gardenpath.cli.main import cli
from gardenpath.study import read, write

from .conftest import PLAIN, sentence_scores

Tables = dict[str, pd.DataFrame]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tables: Tables, tmp_path: Path) -> Path:
    """Tables, scores of two models, and the ratings of `analyse`, each in its folder."""
    for name in ("words", "readings", "sessions"):
        write(tables[name], name, tmp_path / "tables", command="test")
    other = tables["surprisal"].assign(model="other", surprisal=tables["surprisal"]["surprisal"].to_numpy()[::-1])
    write(pd.concat([tables["surprisal"], other]), "surprisal", tmp_path / "scores", command="test")
    write(compute_rating_scores(tables["responses"], tables["items"]), "rating_scores", tmp_path / "results", command="test")
    sentences = tables["items"][["item", "condition"]].assign(model="little-lm (toy)", protocol="causal", n_tokens=10)
    sentences = sentences.assign(n_unknown_tokens=0, n_windows=1, lp=[-30.0 - k % 7 for k in range(len(sentences))])
    write(sentence_scores(sentences), "sentence_scores", tmp_path / "scores", command="test")
    return tmp_path


def test_align_tells_what_each_model_adds_and_how_it_fares_with_ratings(folder: Path) -> None:
    told = run("align", folder / "tables", folder / "scores", "-o", folder / "results", "--no-slopes", "--folds", 2)
    assert told.exit_code == 0, told.output
    for part in (
        "little-lm (toy) (causal) passed the alignment self-test.",
        "the largest slope is at lag 0",
        "ms per bit at a reading time of",
        "one-sided sign flips over 24 clusters by item, p < .001, smallest possible 0.0001).",
        "little-lm (toy) (causal) against other (causal): +",
        "little-lm (toy) (causal): correlation of log probability with mean ratings over all sentences, r = ",
    ):
        assert part in told.stdout
    assert len(read(folder / "results", "delta_comparisons")) == 1
    found = read(folder / "results", "rating_correlations")
    assert set(found["measure"]) == {*PLAIN}
    assert run("align", folder / "tables", folder / "scores", "-o", folder / "results").exception is not None
    again = run("align", folder / "tables", folder / "scores", "-o", folder / "again", "--no-slopes", "--folds", 2)
    assert "mean ratings" not in again.stdout  # nothing from analyse is there
    for name in ("held_out_clusters", "delta_log_likelihood", "lag_profile", "collinearity", "surprisal_effects"):
        one, other = ((folder / where / f"{name}.csv").read_bytes() for where in ("results", "again"))
        assert one == other


def test_folds_are_chosen_and_few_clusters_have_no_p(folder: Path) -> None:
    told = run("align", folder / "tables", folder / "scores", "-o", folder / "out", "--folds-by", "story", "--no-slopes")
    assert "(3 clusters by story: too few for a p or an interval)." in told.stdout
    assert read(folder / "out", "delta_log_likelihood")["p"].isna().all()


def test_sentences_say_what_was_withheld(tables: Tables) -> None:
    row = {
        "measure": "lp", "model_a": "a", "protocol_a": "causal", "model_b": "b", "protocol_b": "causal", "n_pairs": 40, "n_ties": 1,
        "accuracy_a": 0.9, "accuracy_b": 0.8, "n_only_a": 6, "n_only_b": 2, "mcnemar_p_holm": 0.29, "flip_p": None,
        "note": "No test over paradigms: 4, under 10.",
    }  # fmt: skip
    assert model_comparisons(pd.DataFrame([row])) == [
        "a (causal) against b (causal), lp: 90.0% and 80.0% of 40 pairs (1 tied); only the first wins 6, only the second 2 "
        "(McNemar, these paradigms only: p_Holm = .290). No test over paradigms: 4, under 10."
    ]
    wide = row | {
        "flip_p": 0.01, "flip_p_holm": 0.02, "n_paradigms": 12, "paradigm_difference": 0.1, "paradigm_ci_low": 0.02,
        "paradigm_ci_high": 0.18, "min_flip_p": 2**-11,
    }  # fmt: skip
    assert model_comparisons(pd.DataFrame([wide]))[0].endswith(
        "Over 12 paradigms as drawn from more: +10.0 points, 95% CI [2.0, 18.0], p_Holm = .020, smallest possible 0.00049."
    )
    assert model_comparisons(pd.DataFrame([row | {"n_pairs": 0, "note": "No pair was given to both models."}])) == [
        "a (causal) against b (causal), lp: No pair was given to both models."
    ]
    empty = pd.DataFrame(columns=["delta", "method", "model", "protocol", "measure", "prompt"])
    assert gains(empty) == gain_comparisons(empty) == rating_correlations(empty) == []
