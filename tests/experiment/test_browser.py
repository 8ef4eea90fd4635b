"""A robot at the keyboard of a real browser takes a whole session of real materials."""

from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.sessions.sessions import build_payload, open_session, replay_session_events

from .conftest import ROBOT_KEY, serve

PARADIGMS = ("adjunct_island", "npi_present_1", "passive_1", "wh_island")


@pytest.mark.browser
@pytest.mark.data
@pytest.mark.slow
def test_three_pairs_of_four_blimp_paradigms_are_read_to_the_end(
    real_data: Path, study_folder: Path, chromium: str, tmp_path: Path
) -> None:
    files = ", ".join(f'"{real_data / "blimp" / name}.jsonl"' for name in PARADIGMS)
    path = study_folder / "study.toml"
    text = path.read_text().replace("experiments = 3", "experiments = 1").replace("items = 9", "items = 3")
    path.write_text(text.replace('files = ["items.csv"]', f"files = [{files}]"))
    stated = study.load(path)
    list_files = experiment.build_list_files(stated)
    robot = experiment.create_robot(list_files, seed=1)
    for running in serve(stated, list_files, tmp_path / "data"):
        code = experiment.run_session_in_browser(robot, running.address, "reader", key=ROBOT_KEY, chromium=chromium, pace=8)
        assert code == "GARDEN-PATH-1"
        tables = experiment.collect(running.folder)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["source"].tolist() == ["robot"]
    assert len(tables["responses"]) == 12 + 3
    trial_list = list_files[0].trial_list
    shown = {t.item.id: len(t.shown_sentences[0][1].list_words()) for t in trial_list.trials}
    assert tables["readings"].groupby("item")["word"].count().to_dict() == shown
    assert (tables["readings"]["rt"] > 0).all()
    did = robot.simulate_events(_payload(list_files[0], tables), "reader")
    script = [e["value"]["answer"] for e in did if e["kind"] == "outcome" and e["value"]["answer"] is not None]
    answers = tables["responses"].sort_values("trial")["response"].astype(int).tolist()
    assert answers == script, "each rating is the key that was pressed"


def _payload(file: experiment.ListFile, tables):  # type: ignore[no-untyped-def]
    slot = int(tables["sessions"]["slot"].iloc[0])
    session = open_session(file, slot, id="s", participant="reader", started="x", source="robot")
    return build_payload(session, file, replay_session_events(session, file), token="", visit=0, next_seq=0)
