"""Tables are derived from events alone, the same for server and folder."""

import json
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath import experiment, study
from gardenpath.cli.main import cli
from gardenpath.experiment.collection import recorded_sessions
from gardenpath.experiment.collection.data_collection import collect_table_parts
from gardenpath.experiment.scripts.script import build_timeline
from gardenpath.experiment.server.arrivals import Arrival
from gardenpath.experiment.sessions import event_tables
from gardenpath.experiment.sessions.event_tables import build_session_tables
from gardenpath.experiment.sessions.quality import compute_session_quality
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions, read_stored_list_files, write_recorded_session
from gardenpath.experiment.sessions.sessions import RecordedSession, Session, open_session
from gardenpath.study.screens import Answers, Slider

from .conftest import ROBOT_KEY, Running
from .made_events import display as shown_at
from .made_events import event, outcome, word
from .scripted import changed


@pytest.fixture
def simulated(list_files: list[experiment.ListFile], tmp_path: Path) -> Path:
    experiment.simulate(list_files, tmp_path / "sim", participants=6, seed=3)
    return tmp_path / "sim"


def test_a_reading_time_is_press_to_press_and_onset_frame_to_press(simulated: Path) -> None:
    """Every rt against a hand-written loop over the events file."""
    tables = experiment.collect(simulated)
    readings = tables["readings"].set_index(["session", "trial", "word"])
    checked = 0
    files = read_stored_list_files(simulated)
    for record in read_recorded_sessions(simulated):
        previous = 0.0
        positions = {p.number: p.position for p in build_timeline(files[record.session.list_sha256].script, record.session.order)}
        path = simulated / record.session.id / "events.jsonl"
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["kind"] == "word" and event["value"]["word"] >= 0:
                row = readings.loc[(path.parent.name, positions[event["step"]], event["value"]["word"])]
                assert row["rt"] == pytest.approx(event["t"] - previous, abs=1e-9)
                assert row["rt_onset"] == pytest.approx(event["t"] - event["value"]["display"]["frame"], abs=1e-9)
                checked += 1
            if event["kind"] == "word":
                previous = event["t"]
    assert checked == len(readings) == 6 * sum(len(t.shown_sentences[0][1].list_words()) for t in _trials(simulated)) / 6


def _trials(folder: Path):  # type: ignore[no-untyped-def]
    files = read_stored_list_files(folder)
    for record in read_recorded_sessions(folder):
        yield from files[record.session.list_sha256].trial_list.trials


def test_tables_hold_every_word_and_every_rating(simulated: Path) -> None:
    tables = experiment.collect(simulated)
    assert set(tables) == {"items", "conditions", "words", "readings", "responses", "sessions"}
    assert len(tables["responses"]) == 6 * 39
    assert tables["sessions"]["complete"].all()
    assert set(tables["sessions"]["source"]) == {"simulation"}
    joined = tables["readings"].merge(tables["words"], on=["item", "condition", "word"], validate="many_to_one")
    assert len(joined) == len(tables["readings"])
    assert (joined["text_x"] == joined["text_y"]).all()


def test_the_server_and_a_folder_give_the_same_tables(
    running: Running, list_files: list[experiment.ListFile], tmp_path: Path
) -> None:
    robot = experiment.create_robot(list_files, seed=1)
    for n in range(len(list_files)):
        experiment.run_robot_session(robot, experiment.HttpTransport(running.address, ROBOT_KEY), f"r{n}")
    files = running.store.read_list_files()
    for record in running.store.read_recorded_sessions():
        write_recorded_session(tmp_path / "copy", record, files[record.session.list_sha256])
    served, copied = experiment.collect(running.folder), experiment.collect(tmp_path / "copy")
    for name, table in served.items():
        key = list(study.TABLES[name].key)
        pd.testing.assert_frame_equal(table.sort_values(key, ignore_index=True), copied[name].sort_values(key, ignore_index=True))


def test_simulating_twice_gives_the_same_bytes(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    for name in ("a", "b"):
        experiment.simulate(list_files, tmp_path / name, participants=2, seed=3)
    for path in (tmp_path / "a").rglob("*.json*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def opened(file: experiment.ListFile) -> tuple[Session, int]:
    """A session of a list, and the number of the step of its first trial."""
    session = open_session(file, 0, id="s-1", participant="p", started="2026-01-01T00:00:00.000+00:00", source="server")
    return session, next(placed.number for placed in build_timeline(file.script, session.order) if placed.position == 0)


def test_of_a_trial_begun_again_only_the_last_run_counts(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    session, step = opened(list_files[0])

    def run(seq: int, start: float) -> list[experiment.Event]:
        return [
            event(seq, start, "begin", step),
            word(seq + 1, start, step, -1),
            word(seq + 2, start + 300, step, 0, shown_at(start, start + 5)),
        ]

    write_recorded_session(tmp_path, RecordedSession(session, tuple(run(0, 100.0) + run(3, 7000.0))), list_files[0])
    tables = experiment.collect(tmp_path)
    readings = tables["readings"]
    assert list(zip(readings["word"], readings["rt"], readings["rt_onset"], strict=True)) == [(0, 300.0, 295.0)]
    assert readings["quality_flags"].tolist() == ["seen_before"]
    assert (tables["sessions"]["n_trials"].tolist(), tables["sessions"]["n_aborted_trials"].tolist()) == ([1], [1])
    assert not tables["sessions"]["complete"].any()


def test_interruptions_and_presses_that_did_not_count_are_flagged(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    session, step = opened(list_files[0])
    events = (
        event(0, 0.0, "begin", step),
        word(1, 100.0, step, -1),
        event(2, 200.0, "interruption", step, 0, reason="blur"),
        event(3, 300.0, "press", step, 0, reason="early", code="Space"),
        word(4, 400.0, step, 0, repeats=2),
        word(5, 500.0, step, 1),
    )
    write_recorded_session(tmp_path, RecordedSession(session, events), list_files[0])
    assert experiment.collect(tmp_path)["readings"]["quality_flags"].fillna("").tolist() == ["early interrupted repeats", ""]


def test_no_answer_in_time_is_an_empty_response(list_files: list[experiment.ListFile]) -> None:
    [file] = changed(list_files[:1], lambda screens: [screens[0], replace(screens[1], deadline=2000.0)])
    session, step = opened(file)
    late = outcome(1, 2000.0, step, 1, "timeout", press=None)
    record = RecordedSession(session, (event(0, 0.0, "begin", step), late))
    [row] = build_session_tables([record], {session.list_sha256: file})["responses"].to_dict("records")
    assert (row["outcome"], row["task"], row["prompt"]) == ("timeout", "rating", "acceptability")
    assert pd.isna(row["response"])
    assert pd.isna(row["rt"])


def test_robots_show_the_effects_they_were_given(list_files: list[experiment.ListFile], tmp_path: Path) -> None:
    """The planted difference of ratings and of log reading times comes back within its sampling error."""
    import numpy as np

    effects = experiment.Effects(critical=0.3, rating=2.0, residual_sd=0.1)
    experiment.simulate(list_files, tmp_path / "x", participants=12, seed=5, effects=effects)
    tables = experiment.collect(tmp_path / "x")
    readings = tables["readings"]
    critical = readings[(readings["region"] == "critical") & (readings["role"] == "target")]
    means = np.log(critical["rt"]).groupby(critical["condition"]).mean()
    assert means["ungrammatical"] - means["grammatical"] == pytest.approx(0.3, abs=0.04)
    ratings = tables["responses"].query("role == 'target'")
    means = ratings["response"].astype(float).groupby(ratings["condition"]).mean()
    assert 2.0 < means["grammatical"] - means["ungrammatical"] < 3.5


def test_lost_events_are_reported_and_the_session_is_not_complete(simulated: Path, caplog: pytest.LogCaptureFixture) -> None:
    for session, keep in (("s-00000", slice(0, 100)), ("s-00001", slice(0, 0)), ("s-00002", None)):
        path = simulated / session / "events.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[keep] if keep else lines[:50] + lines[51:]))
    (simulated / "s-00003" / "session.json").unlink()
    sessions = experiment.collect(simulated)["sessions"].set_index("session")
    assert sessions["complete"].to_dict() == {
        "s-00000": False, "s-00001": False, "s-00002": False, "s-00004": True, "s-00005": True,
    }  # fmt: skip
    assert "session s-00002 was finished, but 1 events are missing, first number 50" in caplog.text
    assert "s-00003: events without a session.json" in caplog.text


def test_a_list_that_is_gone_or_was_changed_is_named(simulated: Path) -> None:
    list_path = sorted((simulated / "lists").iterdir())[0]
    text = list_path.read_text()
    list_path.write_text(text.replace('"seed"', '"seed" '))
    with pytest.raises(study.DataError, match="was changed after sessions ran it"):
        experiment.collect(simulated)
    list_path.unlink()
    with pytest.raises(study.DataError, match="whose file is missing"):
        experiment.collect(simulated)


def test_a_list_written_by_another_release_keeps_its_name(simulated: Path) -> None:
    """Sessions name a list by the bytes it had, not by how this release would write it."""
    import hashlib

    (one, *_) = (simulated / "lists").iterdir()
    other = one.read_text().replace("\n ", "\n  ")
    name = hashlib.sha256(other.encode()).hexdigest()
    one.with_stem(name).write_text(other)
    for path in simulated.glob("*/session.json"):
        path.write_text(path.read_text().replace(one.stem, name))
    one.unlink()
    assert experiment.collect(simulated)["sessions"]["complete"].all()


@pytest.mark.parametrize("broken", ["{", "[]", '{"id": 3}'])
def test_a_broken_session_is_named_by_its_file(simulated: Path, broken: str) -> None:
    (simulated / "s-00001" / "session.json").write_text(broken)
    with pytest.raises(study.DataError, match=r"s-00001/session.json"):
        experiment.collect(simulated)


def test_simulating_again_replaces_an_earlier_simulation_and_nothing_else(
    simulated: Path, list_files: list[experiment.ListFile]
) -> None:
    with pytest.raises(FileExistsError, match="give --force"):
        experiment.simulate(list_files, simulated, participants=2, seed=1)
    experiment.simulate(list_files, simulated, participants=2, seed=1, replace=True)
    assert len(experiment.collect(simulated)["sessions"]) == 2
    (simulated / "study.sqlite").write_text("real data")
    with pytest.raises(FileExistsError, match="holds something other than an earlier simulation"):
        experiment.simulate(list_files, simulated, participants=2, seed=1, replace=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: f"sqlite:///{p}/none.sqlite", "there is no such file; expected a study's database"),
        (lambda p: p / "nothing", "there is no such file or folder"),
        (lambda p: p, "holds no sessions"),
        (lambda p: (p / "x.txt").write_text("hello") and p / "x.txt", "not a database of gardenpath"),
    ],
)
def test_data_that_are_none_are_named(tmp_path: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((FileNotFoundError, study.DataError), match=message):
        experiment.collect(make(tmp_path))


def test_previews_are_in_the_tables_only_when_asked_for(
    running: Running, list_files: list[experiment.ListFile], tmp_path: Path
) -> None:
    experiment.run_robot_session(
        experiment.create_robot(list_files, seed=1), experiment.HttpTransport(running.address, ROBOT_KEY), "r1"
    )
    running.store.open_session(Arrival(preview=(list_files[0].name, 3)))
    files = running.store.read_list_files()
    for record in running.store.read_recorded_sessions(previews=True):
        write_recorded_session(tmp_path / "copy", record, files[record.session.list_sha256])
    for data in (running.folder, tmp_path / "copy"):
        assert list(experiment.collect(data)["sessions"]["source"]) == ["robot"]
        assert sorted(experiment.collect(data, previews=True)["sessions"]["source"]) == ["preview", "robot"]
    call = ["collect", str(running.folder), "-o", str(tmp_path / "tables"), "--previews"]
    assert CliRunner().invoke(cli, call).exit_code == 0
    assert "preview" in set(study.read(tmp_path / "tables", "sessions")["source"])


@pytest.mark.parametrize(
    ("scale", "expected", "response", "met"),
    [
        ("keys", "2", 2, True),
        ("keys", "2", 3, False),
        ("slider", "0-10", 7, True),
        ("slider", "0-10", 11, False),
        ("yes_no", "yes", 1, True),
        ("yes_no", "no", 1, False),
    ],
)
def test_dashboard_and_tables_judge_an_attention_item_alike(
    study_folder: Path, tmp_path: Path, scale: str, expected: str, response: int, met: bool
) -> None:
    path = study_folder / "study.toml"
    item = f'kind = "nonsense"\nsentence = "I swim."\nexpected_responses = {{ acceptability = ["{expected}"] }}\n'
    text = path.read_text().replace("points = 7", f'scale = "{scale}"')
    path.write_text(text.replace("[ordering]", f"[[design.attention]]\n{item}[ordering]"))
    file = experiment.build_list_files(study.load(path))[0]
    session, _ = opened(file)
    roles = [file.trial_list.trials[position].role for position in session.order]
    placed = next(p for p in build_timeline(file.script, session.order) if p.position == roles.index("attention"))
    n = next(n for n, screen in enumerate(placed.step.screens) if isinstance(screen, (Answers, Slider)))
    answered = outcome(1, 900.0, placed.number, n, "answered", response)
    record = RecordedSession(session, (event(0, 0.0, "begin", placed.number), answered))
    seen = compute_session_quality(record, file)
    assert (seen.attention_passed, seen.attention_asked) == (int(met), 1)
    write_recorded_session(tmp_path / "data", record, file)
    responses = experiment.collect(tmp_path / "data")["responses"]
    assert responses["correct"].tolist() == [met]
    assert responses["outcome"].tolist() == ["right" if met else "wrong"]


def test_tables_in_parts_are_the_tables_of_the_whole(study_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is a session here; the participant of the first has the accuracy of the first and the last together."""
    path = study_folder / "study.toml"
    text = path.read_text().replace('ask = ["acceptability"]', 'ask = ["acceptability", "question"]')
    path.write_text(text)
    items = study_folder / "items.csv"
    head, *lines = items.read_text().splitlines()
    items.write_text("\n".join([f"{head},question,answer", *(f"{line},Was it so?,yes" for line in lines)]) + "\n")
    experiment.simulate(experiment.build_list_files(study.load(path)), tmp_path / "sim", participants=5, seed=2)
    last = tmp_path / "sim" / "s-00004" / "session.json"
    first = json.loads((tmp_path / "sim" / "s-00000" / "session.json").read_text())["participant"]
    last.write_text(json.dumps({**json.loads(last.read_text()), "participant": first}))
    whole = experiment.collect(tmp_path / "sim")
    monkeypatch.setattr(event_tables, "ROWS_PER_PART", 1)
    parts = list(collect_table_parts(tmp_path / "sim"))
    assert sum("readings" in part for part in parts) == 6  # the first is empty
    for name, table in event_tables.concatenate_parts(parts).items():
        pd.testing.assert_frame_equal(table, whole[name])
    questions = whole["responses"].query("task == 'question' and role != 'practice' and participant == @first")
    assert set(questions["session"]) == {"s-00000", "s-00004"}
    assert set(questions["question_accuracy"]) == {questions["correct"].astype(float).mean()}
    for suffix in ("csv", "parquet"):
        study.table_files.write_parts(parts, tmp_path / "parts", command="parts", parquet=suffix == "parquet")
        for name, table in whole.items():
            path = tmp_path / "parts" / f"{name}.{suffix}"
            pd.testing.assert_frame_equal(study.read(path, name), table, check_exact=True)
            truth = {c: table[c].map({True: "TRUE", False: "FALSE"}) for c in table.select_dtypes(["bool", "boolean"])}
            expected = table.assign(**truth).to_csv(index=False, lineterminator="\n")  # as pandas writes them
            assert suffix != "csv" or path.read_text() == expected


def test_a_record_at_a_time_is_read_while_the_tables_are_written(simulated: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """No more records than one are alive at once, whatever the size of the study; a failure leaves no table."""
    alive: list[weakref.ref[RecordedSession]] = []
    most = 0

    def noted(folder: Path, sessions: list[Session]) -> Iterator[RecordedSession]:
        nonlocal most
        for record in read_recorded_sessions(folder, sessions):
            alive.append(weakref.ref(record))
            most = max(most, sum(one() is not None for one in alive))
            yield record
            del record

    monkeypatch.setattr(recorded_sessions, "read_recorded_sessions", noted)
    study.table_files.write_parts(collect_table_parts(simulated), tmp_path / "tables", command="parts", dictionary=True)
    assert (len(alive), most <= 2) == (6, True)
    with pytest.raises(FileExistsError, match=r"items\.csv, .*sessions\.csv: exists already"):
        study.table_files.write_parts(collect_table_parts(simulated), tmp_path / "tables", command="parts", force=False)
    (simulated / "s-00005" / "events.jsonl").write_text("{}\n")
    with pytest.raises(study.DataError, match="s-00005"):
        study.table_files.write_parts(collect_table_parts(simulated), tmp_path / "broken", command="parts")
    assert list((tmp_path / "broken").iterdir()) == []
