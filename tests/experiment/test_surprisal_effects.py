"""Robots read slower by a language model's surprisal, by as many ms per bit as stated, and the models find it."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath import experiment, lmscore, stimuli, study
from gardenpath.analysis import AlignmentOptions
from gardenpath.analysis.aligning.alignment import align_words, compute_alignment_models, compute_surprisal_effects
from gardenpath.cli.main import cli
from gardenpath.experiment.simulation.surprisal_effects import select_model_rows

WORD = ["item", "condition", "word"]


@pytest.fixture(scope="module")
def surprisal(example: study.Study, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The example's words under a bigram model of its grammatical sentences."""
    materials = stimuli.read(*example.list_material_paths())
    corpus = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    corpus.write_text("\n".join(item.sentences["grammatical"].text for item in materials.items))
    return lmscore.score(materials, lmscore.load(f"ngram:{corpus}:2")).surprisal


def readings(
    list_files: list[experiment.ListFile], folder: Path, surprisal: pd.DataFrame, ms: tuple[float, ...], participants: int
) -> dict[str, pd.DataFrame]:
    # Critical words of ungrammatical sentences are not slow by themselves: the models have surprisal alone.
    effects = experiment.Effects(ms_per_bit=ms, critical=0, spillover=0)
    scores = surprisal if ms else None
    experiment.simulate(list_files, folder, participants=participants, seed=8, effects=effects, surprisal=scores)
    return experiment.collect(folder)


def test_each_word_takes_longer_by_its_bits_and_those_of_the_word_before(
    list_files: list[experiment.ListFile], surprisal: pd.DataFrame, tmp_path: Path
) -> None:
    slowed = readings(list_files, tmp_path / "slowed", surprisal, (3.0, 1.0), 3)["readings"]
    plain = readings(list_files, tmp_path / "plain", surprisal, (), 3)["readings"]
    bits = surprisal.set_index(WORD)["surprisal"]
    more = slowed["rt"] - plain["rt"]
    for row, found in zip(slowed.to_dict("records"), more, strict=True):
        here, before = ((row["item"], row["condition"], row["word"] - lag) for lag in (0, 1))
        assert found == pytest.approx(3 * bits.get(here, 0.0) + bits.get(before, 0.0), abs=1e-6), row
    assert more[slowed["role"] != "target"].eq(0).all()  # practice is not scored
    assert more[slowed["role"] == "target"].max() > 20


@pytest.mark.parametrize("ms", [0.0, 3.0])
def test_the_model_of_reading_times_finds_the_ms_per_bit(
    list_files: list[experiment.ListFile], surprisal: pd.DataFrame, tmp_path: Path, ms: float
) -> None:
    tables = readings(list_files, tmp_path / "data", surprisal, (ms,), 18)
    aligned, _ = align_words(tables | {"surprisal": surprisal}, AlignmentOptions(lags=1))
    models = compute_alignment_models(aligned, lags=1, slopes=False)["alignment_models"]
    effects = compute_surprisal_effects(aligned, models).set_index("lag")
    for lag, true in ((0, ms), (1, 0.0)):
        assert effects.loc[lag, "raw_low"] < true < effects.loc[lag, "raw_high"]
    assert effects.loc[0, "raw_high"] - effects.loc[0, "raw_low"] < 2  # which tells 0 from 3


def test_words_without_a_surprisal_slow_nobody_and_are_counted(
    list_files: list[experiment.ListFile], surprisal: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    first = surprisal["word"] == 0
    for part in (surprisal[~first], surprisal.assign(surprisal=surprisal["surprisal"].mask(first))):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "gardenpath"):
            robot = experiment.create_robot(list_files, seed=1, effects=experiment.Effects(ms_per_bit=(3.0,)), surprisal=part)
        [said] = caplog.messages
        assert said.startswith("216 of 2522 words have no surprisal of their own and slow nobody; the first: item ")
        assert {added[0] for added in robot.added_word_times.values()} == {0.0}
        assert min(added[1] for added in robot.added_word_times.values()) > 0


def test_scores_of_other_sentences_are_refused(list_files: list[experiment.ListFile], surprisal: pd.DataFrame) -> None:
    effects = experiment.Effects(ms_per_bit=(3.0,))
    other = surprisal.assign(text=surprisal["text"].mask(surprisal["text"] == "has", "hat"))
    with pytest.raises(study.DataError, match=r"word \d+: 'has' was scored as 'hat'\n.*\nscore the study's materials") as caught:
        experiment.create_robot(list_files, seed=1, effects=effects, surprisal=other)
    assert len(caught.value.faults) == 7
    with pytest.raises(study.DataError, match="table surprisal has no word of the study, such as item"):
        experiment.create_robot(list_files, seed=1, effects=effects, surprisal=surprisal.assign(item="i" + surprisal["item"]))
    with pytest.raises(ValueError, match="belong together"):
        experiment.create_robot(list_files, seed=1, effects=effects)
    with pytest.raises(ValueError, match="expected 0 or more"):
        experiment.Effects(ms_per_bit=(-1.0,))


def test_of_several_models_one_is_named(surprisal: pd.DataFrame) -> None:
    both = pd.concat([surprisal.assign(model="a"), surprisal.assign(model="b")])
    assert set(select_model_rows(both, "b")["model"]) == {"b"}
    with pytest.raises(study.DataError, match="there are 2 models; expected one of 'a', 'b'"):
        select_model_rows(both)
    with pytest.raises(study.DataError, match="protocol 'pll' is not there; expected one of 'default'"):
        select_model_rows(both, "a", "pll")


def test_the_truth_goes_with_the_tables_to_the_estimates(study_folder: Path, surprisal: pd.DataFrame, tmp_path: Path) -> None:
    scores = pd.concat([surprisal, surprisal.assign(model="other", surprisal=np.float64(1))])
    study.write(scores, "surprisal", tmp_path / "scores", command="test")
    place = {name: str(tmp_path / name) for name in ("scores", "data", "tables", "results")}
    name = str(surprisal["model"].iloc[0])

    def run(*words: str) -> str:
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    simulate = ["simulate", str(study_folder / "study.toml"), "--participants", "9", "--seed", "1", "-o", place["data"]]
    slower = ["--surprisal", place["scores"], "--ms-per-bit", "3"]
    with pytest.raises(study.DataError, match="there are 2 models"):
        run(*simulate, *slower)
    run(*simulate, *slower, "--model", name)
    noted = study.files.read_sidecar(tmp_path / "data" / "sessions")
    assert noted["surprisal"] == {"model": name, "protocol": "default"}
    assert noted["effects"]["ms_per_bit"] == [3.0]  # type: ignore[index]
    run("collect", place["data"], "-o", place["tables"])
    # Of the other model there is nothing to model: all words are alike to it.
    study.write(surprisal, "surprisal", tmp_path / "scores", command="test")
    said = run("align", place["tables"], place["scores"], "--no-slopes", "--lags", "0", "--folds", "2", "-o", place["results"])
    assert f"Simulated: 3 ms per bit of {name} (default), for the word read. Estimated from the times themselves: " in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ms-per-bit", "3"], "--surprisal SCORES and --ms-per-bit MS belong together"),
        (["--surprisal", "scores"], "--surprisal SCORES and --ms-per-bit MS belong together"),
        (["--model", "gpt2"], "give --surprisal SCORES too"),
        (["--power", "--surprisal", "scores", "--ms-per-bit", "3"], "not to --power"),
    ],
)
def test_options_that_do_not_go_together_are_named(study_folder: Path, options: list[str], message: str) -> None:
    call = ["simulate", str(study_folder / "study.toml"), "--participants", "9", "-o", "data", *options]
    done = CliRunner().invoke(cli, call)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
