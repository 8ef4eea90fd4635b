"""A study as files for other platforms, and what its page left there: the same tables as at home."""

import csv
import io
import json
import random
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath import experiment, study
from gardenpath.cli.main import cli
from gardenpath.experiment.platforms.page import build_exported_study
from gardenpath.experiment.platforms.page_rows import build_session_records
from gardenpath.experiment.platforms.platform_export import ListSlot, enumerate_slots
from gardenpath.experiment.scripts.script import TimelineStep
from gardenpath.experiment.sessions.event_tables import build_session_tables
from gardenpath.experiment.sessions.recruitment import complete_online_section
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions, read_stored_list_files, write_recorded_session

from ..conftest import run_here
from .pages import ITEMS, stated

PLATFORMS = ("jspsych", "jatos")
URL = "https://uni.sona-systems.com/webstudy_credit.aspx?experiment_id=1&survey_code={id}"


@pytest.fixture
def small(tmp_path: Path) -> study.Study:
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "study.toml").write_text(stated())
    return study.load(tmp_path / "study.toml")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# ---------------------------------------------------------------------------------------------------------- out


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_same_study_gives_the_same_bytes(small: study.Study, tmp_path: Path, platform: str) -> None:
    made = [experiment.export(small, platform, tmp_path / name, 4) for name in ("one", "two")]
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    assert [(m.list_count, m.order_count, m.slot_count, m.losses) for m in made] == [(3, 4, 12, ())] * 2


@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_export_holds_the_lists_that_it_shows(small: study.Study, tmp_path: Path, platform: str) -> None:
    (tmp_path / "out" / "lists").mkdir(parents=True)
    (tmp_path / "out" / "lists" / "E9-L9.json").write_text("of a list that is gone")
    experiment.export(small, platform, tmp_path / "out", 2)
    there = experiment.read_list_files(tmp_path / "out" / "lists")
    assert [file.sha256 for file in there] == [file.sha256 for file in experiment.build_list_files(small)]


@pytest.mark.parametrize("platform", ["pcibex", "gorilla", "psychopy"])
def test_fewer_orders_leave_no_places_of_an_export_before(small: study.Study, tmp_path: Path, platform: str) -> None:
    for name, orders in (("again", 3), ("again", 1), ("once", 1)):
        experiment.export(small, platform, tmp_path / name, orders)
    assert _files(tmp_path / "again") == _files(tmp_path / "once")


def test_an_export_that_is_broken_off_leaves_nothing(small: study.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = ListSlot.build_steps

    def interrupted(place: ListSlot) -> tuple[TimelineStep, ...]:
        if place.number == 2:
            raise KeyboardInterrupt
        return drawn(place)

    monkeypatch.setattr(ListSlot, "build_steps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        experiment.export(small, "psychopy", tmp_path / "new" / "out", 3)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_new_export_leaves_an_edited_hook_as_it_is(small: study.Study, tmp_path: Path) -> None:
    experiment.export(small, "jspsych", tmp_path / "out", 2)
    (tmp_path / "out" / "save.js").write_text("mine")
    (tmp_path / "out" / "study.js").write_text("of before")
    experiment.export(small, "jspsych", tmp_path / "out", 2)
    assert (tmp_path / "out" / "save.js").read_text() == "mine"
    assert (tmp_path / "out" / "study.js").read_text().startswith("window.gardenpathStudy")


def test_the_lists_of_all_experiments_share_one_counter() -> None:
    stated_study = study.load(Path(__file__).parents[2] / "examples" / "minimal-pairs" / "study.toml")
    files = experiment.build_list_files(stated_study)
    drawn = enumerate_slots(files, 2)
    names = [f"E{e}-L{v}" for e in (1, 2, 3) for v in (1, 2, 3)]
    assert [(place.file.name, place.number) for place in drawn] == [(name, slot) for slot in (0, 1) for name in names]


def test_orders_are_as_many_as_the_quota_or_have_to_be_stated(small: study.Study, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"online\.quota is not stated.*--orders"):
        experiment.export(small, "jspsych", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    limited = replace(small, online=replace(small.online, quota=5))
    assert experiment.export(limited, "jspsych", tmp_path / "out").slot_count == 15


def test_a_platform_that_is_not_there_is_refused_with_those_that_are(small: study.Study, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'labvanced'; expected one of .*jspsych, jatos"):
        experiment.export(small, "labvanced", tmp_path / "out", 1)


def test_each_place_runs_the_order_that_the_server_would_draw(small: study.Study) -> None:
    files = experiment.build_list_files(small)
    drawn = enumerate_slots(files, 3)
    held = json.loads(json.dumps(build_exported_study(files, drawn, complete_online_section(small))))
    assert [held["lists"][number]["name"] for number, _, _ in held["assignments"][:4]] == ["E1-L1", "E1-L2", "E1-L3", "E1-L1"]
    for place, (number, slot, order) in zip(drawn, held["assignments"], strict=True):
        script = held["lists"][number]["script"]
        before = {one["before"]: one["steps"] for one in script["interludes"]}
        shown = [step for n, at in enumerate(order) for step in (*before.get(n, ()), script["trials"][at])]
        assert [*script["front"], *shown, *script["end"]] == [
            json.loads(json.dumps(asdict(placed.step))) for placed in place.build_steps()
        ]
        assert slot == place.number


def test_the_texts_of_a_list_are_there_once_however_many_orders(small: study.Study, tmp_path: Path) -> None:
    for orders in (1, 50):
        experiment.export(small, "jspsych", tmp_path / str(orders), orders)
    texts = [(tmp_path / name / "study.js").read_text() for name in ("1", "50")]
    assert texts[0].count("cabinets") == texts[1].count("cabinets") == 3, "once in each of three lists"


def test_a_text_that_looks_like_markup_stays_within_the_script(small: study.Study, tmp_path: Path) -> None:
    items = ITEMS.replace("The key", "</script><b>The key\u2028</b>")
    (tmp_path / "items.csv").write_text(items)
    experiment.export(small, "jspsych", tmp_path / "out", 1)
    text = (tmp_path / "out" / "study.js").read_text()
    assert "</script" not in text
    assert "\u2028" not in text
    run = f"globalThis.window = {{}}; {text}; process.stdout.write(JSON.stringify(window.gardenpathStudy))"
    said = subprocess.run(["node", "-e", run], capture_output=True, text=True, check=True).stdout
    assert "</script><b>The" in said


def test_the_archive_is_what_jatos_publishes_as_its_schema(small: study.Study, tmp_path: Path) -> None:
    sona = replace(small, online=replace(small.online, completion_url=URL))
    experiment.export(sona, "jatos", tmp_path / "out", 2)
    [archive] = (tmp_path / "out").glob("*.jzip")
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        properties = json.loads(opened.read("page.jas"))
        page = opened.read("page/index.html").decode()
    schema = json.loads((Path(__file__).parent / "jas.schema.json").read_text())
    jsonschema.Draft201909Validator(schema).validate(properties)
    assert [name for name in names if "/" not in name] == ["page.jas"]
    assert {"page/app.css", "page/app.js", "page/study.js"} <= {*names}
    assert "page/jatos.js" not in names, "JATOS serves it"
    assert '<script src="jatos.js"></script>' in page
    assert properties["data"]["endRedirectUrl"].endswith("&survey_code=[survey_code]")
    known = {"GeneralMultiple", "GeneralSingle", "Jatos", "MTSandbox", "MT", "PersonalMultiple", "PersonalSingle"}
    assert {*properties["data"]["batchList"][0]["allowedWorkerTypes"]} <= known


def test_who_comes_from_prolific_is_sent_back_there(small: study.Study, tmp_path: Path) -> None:
    experiment.export(small, "jatos", tmp_path / "out", 2)
    with zipfile.ZipFile(tmp_path / "out" / "page.jzip") as opened:
        data = json.loads(opened.read("page.jas"))["data"]
    assert data["endRedirectUrl"] == "https://app.prolific.com/submissions/complete?cc=GARDEN-PATH-1"


def test_the_command_says_how_counters_and_dropouts_bear_on_the_lists(small: study.Study, tmp_path: Path) -> None:
    said = CliRunner().invoke(cli, ["export", str(small.path), "--platform", "jatos", "--orders", "2", "-o", str(tmp_path / "out")])
    assert said.exit_code == 0
    assert said.stdout == f"{tmp_path / 'out'}: 3 lists in 2 orders each, 6 assignments\n"
    assert "Assignment n runs list n mod 3" in said.stderr
    assert "dropouts can unbalance the lists" in said.stderr
    assert "6 assignments" in (tmp_path / "out" / "README.md").read_text()
    assert "completion_code" not in said.stderr
    again = CliRunner().invoke(
        cli, ["export", str(small.path), "--platform", "jatos", "--orders", "2", "-o", str(tmp_path / "out")]
    )
    assert again.exit_code != 0, "nothing is overwritten without --force"
    sidecar = study.files.read_json(tmp_path / "out" / "export.meta.json")
    assert (sidecar["seed"], sidecar["assignments"]) == (1, 6)


def test_a_completion_code_that_nobody_stated_is_named(tmp_path: Path) -> None:
    for call in ("new begun --kind rating", "export begun --platform pcibex --orders 1 -o out"):
        said = run_here(f"gardenpath {call}", tmp_path)
        assert said.code == 0, said.said
    assert "study.toml: online.completion_code is still CHANGE-ME; state your own before participants come" in said.said


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_readme_has_every_blank_filled_in(small: study.Study, tmp_path: Path, platform: str) -> None:
    experiment.export(small, platform, tmp_path / "out", 2)
    text = (tmp_path / "out" / "README.md").read_text()
    assert not re.findall(r"@\w+@", text)
    assert "E1-L1, E1-L2, E1-L3; 6 assignments" in text


PIPE = """
const asked = [];
globalThis.window = globalThis;
globalThis.fetch = async (address, { body }) => {
  asked.push([address, JSON.parse(body)]);
  const [status, said] = ANSWERS[asked.length - 1];
  return { ok: status === 200, status, json: async () => said };
};
SAVE
const told = async (made) => { try { return await made; } catch (error) { return error.message; } };
(async () => {
  const sat = { filename: "s-1.json" };
  const results = [await told(gardenpathNextAssignment()), await told(gardenpathSave("[]", sat)), await told(gardenpathSave("[]", sat))];
  process.stdout.write(JSON.stringify([results, asked]));
})();
"""


def test_the_hook_for_datapipe_takes_a_file_that_is_there_for_saved_and_throws_what_has_to_be_tried_again(
    small: study.Study, tmp_path: Path
) -> None:
    """As its messages are (jspsych/datapipe, functions/src/api-messages)."""
    experiment.export(small, "jspsych", tmp_path / "out", 1)
    lines = (tmp_path / "out" / "save.js").read_text().partition("// --- a PHP")[0].splitlines()
    code = "\n".join(line.removeprefix("// ") for line in lines if line.startswith("// ") and "---" not in line)
    answers = [[200, {"condition": 5}], [400, {"error": "OSF_FILE_EXISTS"}], [500, {"error": "UNKNOWN_ERROR"}]]
    text = PIPE.replace("ANSWERS", json.dumps(answers)).replace("SAVE", code[code.index("const EXPERIMENT") :])
    said = subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True).stdout
    results, asked = json.loads(said)
    assert results == [5, {"error": "OSF_FILE_EXISTS"}, "500 UNKNOWN_ERROR"]
    assert asked[0][0] == "https://pipe.jspsych.org/api/condition/"
    assert asked[1][0] == "https://pipe.jspsych.org/api/data/"
    assert asked[1][1] == {"experimentID": "your DataPipe experiment ID", "filename": "s-1.json", "data": "[]"}


def test_another_study_has_another_id_in_jatos(small: study.Study, tmp_path: Path) -> None:
    ids = set()
    for orders, seed in ((2, 1), (3, 1), (2, 2)):
        experiment.export(replace(small, seed=seed), "jatos", tmp_path / f"{orders}-{seed}", orders)
        with zipfile.ZipFile(tmp_path / f"{orders}-{seed}" / "page.jzip") as opened:
            ids.add(json.loads(opened.read("page.jas"))["data"]["uuid"])
    assert len(ids) == 3


# --------------------------------------------------------------------------------------------------------- back


@pytest.fixture
def home(small: study.Study, tmp_path: Path) -> Path:
    """A folder of four simulated sessions."""
    experiment.simulate(experiment.build_list_files(small), tmp_path / "home", participants=4, seed=1)
    return tmp_path / "home"


def _rows(home: Path) -> Iterator[dict[str, Any]]:
    """The sessions of a folder as a platform has them: a few events a row."""
    for record in read_recorded_sessions(home):
        session = json.loads(json.dumps(asdict(record.session)))
        for seq, at in enumerate(range(0, len(record.events), 7)):
            events = json.loads(json.dumps([asdict(event) for event in record.events[at : at + 7]]))
            shown = {"trial_type": "html", "rt": 1.5, "words": ["a", 'b"c']}
            yield {**shown, "seq": seq, "gardenpath_session": session, "gardenpath_events": events}


def _csv(rows: list[dict[str, Any]]) -> str:
    """The rows as jsPsych's JSON2CSV writes them: every cell quoted, objects as JSON."""
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, list(rows[0]), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in row.items()})
    return made.getvalue()


def _same(home: Path, found: dict[str, pd.DataFrame]) -> None:
    expected = experiment.collect(home)
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)


TEXTS = {
    "one array": lambda rows: json.dumps(rows),
    "arrays one after the other": lambda rows: json.dumps(rows[:20]) + json.dumps(rows[20:], indent=1),
    "an object a line": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    "objects without anything between": lambda rows: "".join(map(json.dumps, rows)),
    "csv": _csv,
}


@pytest.mark.parametrize("form", TEXTS)
def test_data_of_every_form_make_the_tables_of_a_native_run(home: Path, small: study.Study, tmp_path: Path, form: str) -> None:
    (tmp_path / "data.txt").write_text(TEXTS[form](list(_rows(home))), newline="")
    _same(home, _collected(tmp_path / "data.txt", small, tmp_path))


def test_a_file_a_participant_in_a_folder_makes_the_tables_of_a_native_run(home: Path, small: study.Study, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for row in _rows(home):
        with (tmp_path / "data" / f"{row['gardenpath_session']['id']}.json").open("a") as file:
            file.write(json.dumps([row]))
    _same(home, _collected(tmp_path / "data", small, tmp_path))


def _collected(data: Path, small: study.Study, tmp_path: Path) -> dict[str, pd.DataFrame]:
    for file in experiment.build_list_files(small):
        file.write(tmp_path / "lists")
    return experiment.collect(data, platform="jspsych", materials=tmp_path / "lists", keep_ids=True)


def test_rows_in_any_order_and_rows_that_came_twice_make_the_same_tables(home: Path) -> None:
    rows = list(_rows(home))
    rows += rows[::3]
    random.Random(1).shuffle(rows)
    _same(home, build_session_tables(build_session_records(rows, "there"), read_stored_list_files(home)))


def test_a_file_that_was_cut_off_gives_its_whole_rows_and_says_so(
    home: Path, small: study.Study, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "".join(json.dumps(row) + "\n" for row in _rows(home))
    (tmp_path / "data.txt").write_text(text[: text.rindex('{"trial_type"') + 40])
    found = _collected(tmp_path / "data.txt", small, tmp_path)
    assert found["sessions"]["complete"].tolist() == [True, True, True, False]
    assert "its last events are missing" in caplog.text


def test_a_lost_row_leaves_a_session_that_is_not_complete(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = list(_rows(home))
    lost = next(n for n, row in enumerate(rows) if row["seq"] == 2)
    found = build_session_tables(build_session_records(rows[:lost] + rows[lost + 1 :], "there"), read_stored_list_files(home))
    assert found["sessions"]["complete"].tolist().count(False) == 1
    assert "7 events are missing, first number 14" in caplog.text


def test_of_two_events_with_one_number_that_of_the_later_visit_counts(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = list(_rows(home))
    again = json.loads(json.dumps(rows[1]))
    again["gardenpath_events"] = [{**again["gardenpath_events"][0], "visit": 1, "t": 5.0}]
    for order in ([*rows, again], [again, *rows]):
        [first, *_] = build_session_records(order, "there")
        assert first.events[7].t == 5.0
    assert "two events number 7" in caplog.text


def test_rows_that_were_changed_are_named_all_at_once(home: Path) -> None:
    rows = list(_rows(home))
    rows[0] = {**rows[0], "gardenpath_session": {**rows[0]["gardenpath_session"], "slot": "first"}}
    rows[1] = {**rows[1], "gardenpath_events": '[{"seq": 1,'}
    rows[2] = {**rows[2], "gardenpath_events": [{"seq": 2, "visit": 0, "t": 1.0, "kind": "task", "trial": 0, "value": {}}]}
    with pytest.raises(study.DataError) as caught:
        build_session_records(rows, "data.json")
    assert [f"data.json, row {n}" in fault for n, fault in enumerate(caught.value.faults, start=1)] == [True] * 3


def test_a_record_survives_the_way_out_and_back(home: Path, tmp_path: Path) -> None:
    """What came back can be kept as a folder of our own."""
    there = build_session_records(list(_rows(home)), "there")
    files = read_stored_list_files(home)
    for record in there:
        write_recorded_session(tmp_path / "kept", record, files[record.session.list_sha256])
    assert list(read_recorded_sessions(tmp_path / "kept")) == list(read_recorded_sessions(home))
