"""Sessions as text: every screen that says or asks something is told, answers stand where they were given, and back."""

import dataclasses
from pathlib import Path
from random import Random

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.collection.recorded_sessions import open_session_source
from gardenpath.experiment.sessions.sessions import open_session
from gardenpath.experiment.setup import new_studies
from gardenpath.experiment.simulation.transcripts import MODEL_SOURCE, ModelSession, build_transcript


def list_files_of(folder: Path, kind: str, language: str = "en", **changes: str) -> list[experiment.ListFile]:
    new_studies.create_study(folder, kind, language=language)
    text = (folder / "study.toml").read_text("utf-8")
    for old, new in (change.split(" -> ") for change in changes.values()):
        assert old in text
        text = text.replace(old, new)
    (folder / "study.toml").write_text(text, "utf-8")
    return experiment.build_list_files(study.load(folder))


def sat(file: experiment.ListFile, seed: int = 1) -> ModelSession:
    session = open_session(file, 0, id="s1", participant="m-1", started="2026-01-01T00:00:00Z", source=MODEL_SOURCE)
    sitting, random = ModelSession(session, file), Random(seed)
    while sitting.question is not None:
        sitting.answer_question(random.choice(sitting.question.answer_labels))
    return sitting


@pytest.mark.parametrize("kind", ["rating", "spr", "forced-choice", "minimal-pairs"])
def test_a_session_that_a_model_took_is_told_again_from_its_events(kind: str, tmp_path: Path) -> None:
    file = list_files_of(tmp_path / "study", kind, "de")[0]
    sitting = sat(file)
    made = build_transcript(sitting.build_recorded_session(), file)
    assert made["text"] == sitting.format_text()
    assert set(made["rt"]) == {None}
    assert made["text"].count("<<") == len(made["rt"])
    for trial in file.trial_list.trials:
        for _, sentence in trial.shown_sentences:
            assert sentence.text in made["text"]


def test_tables_have_a_models_answers_and_no_time(tmp_path: Path) -> None:
    from gardenpath.experiment.sessions.session_folders import write_recorded_session

    file = list_files_of(tmp_path / "study", "spr")[0]
    sitting = sat(file)
    write_recorded_session(tmp_path / "data", sitting.build_recorded_session(), file)
    tables = experiment.collect(tmp_path / "data")
    assert tables["sessions"].loc[0, "source"] == MODEL_SOURCE
    assert bool(tables["sessions"].loc[0, "complete"])
    assert tables["readings"].empty
    asked = tables["responses"][tables["responses"]["task"] == "question"]
    assert len(asked) == sitting.format_text().count("<<")
    assert asked["rt"].isna().all()
    assert asked["correct"].notna().all()


def test_peoples_sessions_are_told_as_they_were_answered(tmp_path: Path) -> None:
    files = list_files_of(tmp_path / "study", "rating")
    experiment.simulate(files, tmp_path / "data", participants=2, seed=3)
    data = open_session_source(tmp_path / "data", previews=False)
    answers = experiment.collect(tmp_path / "data")["responses"]
    for record in data.read_recorded_sessions():
        told = build_transcript(record, data.list_files[record.session.list_sha256])
        given = [part.split(">>")[0] for part in told["text"].split("<<")[1:]]
        rows = answers[(answers["session"] == record.session.id) & (answers["task"] != "reading")]
        assert given == rows["response"].to_list()
        assert told["rt"] == pytest.approx(rows["rt"].round(1).to_list())


def test_a_session_that_was_left_is_told_as_far_as_it_went(tmp_path: Path) -> None:
    file = list_files_of(tmp_path / "study", "rating")[0]
    whole = sat(file).build_recorded_session()
    half = dataclasses.replace(whole, events=whole.events[: len(whole.events) // 2])
    text = build_transcript(half, file)["text"]
    answered = [e for e in half.events if e.kind == "outcome" and e.value["answer"] is not None]
    assert text.count("<<") == len(answered) > 0


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("maze", "seed = 1 -> seed = 2", "is Maze, which models are not asked for here"),
        ("rating", 'prompt = "How good -> prompt = "<<How good', "holds <<, between which answers stand"),
    ],
)
def test_what_cannot_be_told_is_refused(kind: str, change: str, message: str, tmp_path: Path) -> None:
    file = list_files_of(tmp_path / "study", kind, change=change)[0]
    with pytest.raises(study.DataError, match=message):
        sat(file)
