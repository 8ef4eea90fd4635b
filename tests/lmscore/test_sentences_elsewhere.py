"""Scores of other programs enter as pairs: what gardenpath computes, written as such a file, gives the same verdicts."""

from pathlib import Path

import pandas as pd
import pytest

from gardenpath import lmscore, stimuli
from gardenpath.lmscore.imported_surprisal import BITS_PER_UNIT
from gardenpath.study import DataError, read

from ..conftest import ROOT, run_here

ITEMS = ROOT / "examples" / "minimal-pairs" / "items.csv"
KEY = ["item", "measure"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> lmscore.Model:
    corpus = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    texts = [s.text for item in stimuli.read(ITEMS).items for s in [item.sentences["grammatical"]]]
    corpus.write_text("\n".join(texts[::2]))
    return lmscore.estimate_ngram(corpus, order=2)


@pytest.fixture(scope="module")
def materials() -> stimuli.Materials:
    return stimuli.read(ITEMS)


@pytest.fixture(scope="module")
def ours(model: lmscore.Model, materials: stimuli.Materials) -> pd.DataFrame:
    return lmscore.evaluate(materials, model, ["lp", "mean_lp", "pen_lp"])


@pytest.fixture(scope="module")
def sentences(model: lmscore.Model, materials: stimuli.Materials) -> pd.DataFrame:
    texts = {(item.id, c): s.text for item in materials.items for c, s in item.sentences.items()}
    frame = lmscore.score(materials, model).sentence_scores
    return frame.assign(sentence=[texts[key] for key in zip(frame["item"], frame["condition"], strict=True)])


@pytest.mark.parametrize("key", [["sentence"], ["item", "condition"]])
@pytest.mark.parametrize("unit", BITS_PER_UNIT)
def test_a_table_of_sentences_gives_the_pairs_of_the_model(
    ours: pd.DataFrame, sentences: pd.DataFrame, materials: stimuli.Materials, key: list[str], unit: str
) -> None:
    divisor = {"ln p": 1, "nats": -1, "log10 p": 2.302585092994046, "log10": -2.302585092994046}.get(
        unit, -0.6931471805599453 if unit == "bits" else 0.6931471805599453
    )
    rows = sentences[[*key, "n_tokens"]].rename(columns={"n_tokens": "tokens"}).assign(lp=sentences["lp"] / divisor)
    found = lmscore.import_pairs(rows, materials, model="m", unit=unit)
    both = ours.merge(found, on=KEY, suffixes=("", "_found"), validate="1:1")
    assert len(both) == len(ours)
    assert both["score_grammatical_found"].to_numpy() == pytest.approx(both["score_grammatical"].to_numpy(), rel=1e-9)
    clear = both[~both["tie"]]
    assert (clear["correct"] == clear["correct_found"]).all()


def test_a_table_of_tokens_is_added_up(ours: pd.DataFrame, model: lmscore.Model, materials: stimuli.Materials) -> None:
    rows = [
        (scored.sentence.text, f"t{k}", float(value))
        for scored in lmscore.compute_token_tables(materials, model)
        for k, value in enumerate(scored.table.logprob[: scored.table.encoded_text.scored_count])
    ]
    found = lmscore.import_pairs(pd.DataFrame(rows, columns=["sentence", "token", "lp"]), materials, model="m")
    both = ours.merge(found, on=KEY, suffixes=("", "_found"))
    assert set(both["measure"]) == {"lp", "mean_lp", "pen_lp"}
    assert both["score_grammatical_found"].to_numpy() == pytest.approx(both["score_grammatical"].to_numpy(), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lp": ["-3.1", "much"]}, "row 1: lp is 'much'; expected a number"),
        ({"lp": ["-3.1", "inf"]}, "row 1: lp is 'inf'; expected a number"),
        ({"lp": [3.1, 4.0]}, "row 0: lp is 3.1 ln p, which is a probability above 1; is the unit another"),
        ({"sentence": ["x", "x"]}, "row 0: 'x' has several rows with other lp; expected one, or a column token"),
        ({"sentence": ["x", "y"]}, "no pair has both its sentences among the 2 scored of m, such as 'x'"),
    ],
)
def test_what_is_no_score_is_named(materials: stimuli.Materials, change: dict[str, list[object]], message: str) -> None:
    texts = [s.text for s in materials.items[0].sentences.values()]
    rows = pd.DataFrame({"sentence": texts, "lp": [-3.1, -4.0]} | change)
    with pytest.raises(DataError, match=message):
        lmscore.import_pairs(rows, materials, model="m")
    with pytest.raises(DataError, match="expected lp, with sentence or with item and condition"):
        lmscore.import_pairs(rows.drop(columns="sentence"), materials, model="m")


def test_evaluate_takes_scores_of_several_programs_and_draws_a_curve_over_their_training(
    sentences: pd.DataFrame, tmp_path: Path
) -> None:
    for k, tokens in enumerate((1e6, 2e6, 4e6)):
        better = sentences["lp"] + (sentences["condition"] == "grammatical").astype(float) * 2.0 * k
        sentences[["sentence"]].assign(lp=better.clip(upper=-0.1)).to_csv(tmp_path / f"lstm-{tokens:g}.csv", index=False)
    (tmp_path / "runs.csv").write_text("model,tokens\nlstm-1e+06,1000000\nlstm-2e+06,2000000\nlstm-4e+06,4000000\n")
    files = " ".join(f"--from-scores {path.name}" for path in sorted(tmp_path.glob("lstm-*.csv")))
    done = run_here(f"gardenpath evaluate {ITEMS} {files} --training-sizes runs.csv -o out", tmp_path)
    assert done.code == 0, done.said
    curves = read(tmp_path / "out", "learning_curves").set_index("phenomenon")
    shares = read(tmp_path / "out", "accuracy").query("phenomenon == 'all' and paradigm == 'mean'")["accuracy"]
    assert shares.is_monotonic_increasing
    assert curves.loc["all", "slope"] == pytest.approx((shares.iloc[2] - shares.iloc[0]) / 2)
    assert curves.loc["all", "accuracy_at_max"] == pytest.approx(shares.iloc[2])
    nothing = run_here(f"gardenpath evaluate {ITEMS} -o out", tmp_path)
    assert (nothing.code, "or --from-scores" in nothing.said) == (2, True)
