"""The exported page in real Chromium: from a file without a network, and in JATOS, of which a stand-in is served here."""

import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.page_rows import build_session_records
from gardenpath.experiment.sessions.sessions import build_session_timeline, check_events
from gardenpath.experiment.simulation.browser_robot import run_session_on_page
from gardenpath.experiment.simulation.robots import FolderTransport

from .pages import ITEMS, RATING, Reader, browser, opened, served, stated  # noqa: F401
from .test_tasks import STUDIES, _items

pytestmark = pytest.mark.browser

# What a hook in save.js would do, seen from outside: the data as they were handed over, each time.
HOOK = "window.saved = []; window.gardenpathSave = async (json, sat) => { window.saved.push([json, sat]); };"
# Lines are the window's: at home the robot has none.
TIMES = ("rt", "rt_onset", "rt_first", "line", "started", "finished", "session", "source", "refresh_hz", "participant")


SCREENER = '[[procedure.screener]]\nname = "native"\nquestion = "Is English your first language?"\n'


def _study(folder: Path, text: str, items: str = ITEMS) -> study.Study:
    name = "items.jsonl" if items.startswith("{") else "items.csv"
    (folder / name).write_text(items)
    (folder / "study.toml").write_text(text.replace("items.csv", name))
    return study.load(folder / "study.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The exported folder of a small study."""
    experiment.export(_study(tmp_path, stated()), "jspsych", tmp_path / "out", 2)
    return tmp_path / "out"


def address(folder: Path, search: str) -> str:
    return f"{(folder / 'index.html').as_uri()}?{search}"


def tables_from(text: str, folder: Path, platform: str = "jspsych") -> dict[str, pd.DataFrame]:
    """The tables of a data file as the platform gives it to download, from the export alone."""
    data = folder.parent / "data.json"
    if platform == "jatos":
        about = {"studyResults": [{"id": 7, "workerId": 1, "studyState": "FINISHED"}]}
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("study_result_7/comp_result_9/data.txt", text)
            archive.writestr("metadata.json", json.dumps({"apiVersion": "1.0.0", "data": [about]}))
    else:
        data.write_text(text, "utf-8", newline="")
    return experiment.collect(data, platform=platform, materials=folder / "lists", keep_ids=True)


def _saved(page: Any) -> str:
    """What the page gives as a file, taken from its first button."""
    with page.expect_download() as taken:
        page.locator("#stage button").first.click()
    return Path(taken.value.path()).read_text("utf-8")


def _without_times(tables: dict[str, pd.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    kept = {name: table.drop(columns=[c for c in TIMES if c in table]) for name, table in tables.items()}
    return {name: json.loads(table.to_json(orient="records")) for name, table in kept.items()}


# ----------------------------------------------------------------------------------------------------- the folder


@pytest.mark.slow
def test_a_session_from_a_file_without_a_network_makes_the_tables_of_a_native_run(
    folder: Path,
    tmp_path: Path,
    browser: Any,  # noqa: F811
) -> None:
    with opened(browser, address(folder, "assignment=0&participant=P1"), offline=True) as reader:
        reader.begin()
        reader.trials(4)
        reader.at("message")
        assert not reader.page.locator(".code").count(), "no code before the data are kept"
        assert reader.page.get_by_text("keep your answers as a file").count() == 1
        text = _saved(reader.page)
        assert reader.code() == "GARDEN-PATH-1"
        keys = reader.page.evaluate("window.keys")
        fetched = reader.page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
        answers = reader.answers
    assert [name for name in fetched if not name.startswith(("file:", "data:"))] == []
    tables = tables_from(text, folder)

    (tmp_path / "home").mkdir()
    with served(tmp_path / "home", stated()) as site, opened(browser, f"{site.address}?participant=P1") as reader:
        reader.begin()
        reader.trials(4)
        reader.code()
        native = experiment.collect(site.folder)
    assert reader.answers == answers
    assert _without_times(tables) == _without_times(native)
    assert tables["sessions"]["source"].tolist() == ["jspsych"]
    assert tables["sessions"]["participant"].tolist() == ["P1"]

    pressed = [t for code, t, _, _ in keys if not code.endswith(" up")]
    [record] = build_session_records(json.loads(text), "data")
    file = next(f for f in experiment.read_list_files(folder / "lists") if f.sha256 == record.session.list_sha256)
    steps = build_session_timeline(record.session, file)
    for trial, group in tables["readings"].groupby("trial"):
        ends = [e.t for e in record.events if e.kind == "word" and steps[e.step].position == trial]
        assert list(group["rt"]) == [after - before for before, after in pairwise(ends)]
        assert {*ends} <= {*pressed}, "each time is the time of a key press, unrounded"


def test_the_data_are_jspsychs_own_with_our_session_and_events_beside_them(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "assignment=4&participant=P1"), (HOOK,)) as reader:
        reader.begin()
        reader.trials(4)
        assert reader.code() == "GARDEN-PATH-1"
        [[text, sat]] = reader.page.evaluate("window.saved")
        there = _saved(reader.page)
        table = reader.page.evaluate("window.jsPsych.data.get().csv()")
        sentences = reader.sentences
    rows = json.loads(text)
    check_events([event for row in rows for event in row["gardenpath_events"]])
    for name, found in tables_from(table, folder).items():
        pd.testing.assert_frame_equal(found, tables_from(text, folder)[name])
    assert json.loads(there) == rows, "the file that is offered holds the same"
    assert [row["seq"] for row in rows] == [row["trial_index"] for row in rows] == list(range(len(rows)))
    assert all({"trial_type", "time_elapsed", "plugin_version", "participant", "list_name"} <= row.keys() for row in rows)
    read = [row for row in rows if row["trial_type"] == "gardenpath-words"]
    assert [row["words"] for row in read] == sentences
    assert [row["trial"] for row in read] == [0, 1, 2, 3]
    assert [row["role"] for row in read] == ["practice", *["target"] * 3]
    assert all(len(row["rt"]) == len(row["words"]) for row in read)
    assert {(row["list_name"], row["slot"], row["assignment"], row["assigned_by"]) for row in rows} == {("E1-L2", 1, 4, "address")}
    seqs = [event["seq"] for row in rows for event in row["gardenpath_events"]]
    assert seqs == list(range(len(seqs)))
    session = rows[0]["gardenpath_session"]
    assert sat == {"session": session["id"], "participant": "P1", "filename": f"{session['id']}.json"}
    assert session["finished"] is not None


def test_the_page_judges_by_itself_who_takes_part(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    screener = SCREENER + 'choices = ["yes", "no"]\naccepted = ["yes"]\n'
    plan = _study(tmp_path, stated(procedure=screener, show="whole") + 'screened_out_code = "NOT-THIS-ONE"\n')
    experiment.export(plan, "jspsych", tmp_path / "out", 2)
    for choice in ("no", "yes"):
        with opened(browser, address(tmp_path / "out", f"assignment=0&PROLIFIC_PID={choice}"), (HOOK,)) as reader:
            reader.consent()
            reader.at("screener")
            reader.page.get_by_label("Is English").select_option(choice)
            reader.page.get_by_role("button", name="Continue").click()
            if choice == "no":
                assert reader.code() == "NOT-THIS-ONE"
                assert reader.page.evaluate("window.saved") == []
                continue
            reader.trials(4)
            reader.code()
            [[text, _]] = reader.page.evaluate("window.saved")
    about = tables_from(text, tmp_path / "out")["demographics"]
    assert about[["question", "response"]].to_numpy().tolist() == [["native", "yes"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_robot_does_in_an_export_what_it_does_at_home(tmp_path: Path, browser: Any, name: str, full: bool) -> None:  # noqa: F811
    """Every task and presentation: the tables but for their times are those that the robot's own events make."""
    if not full and [*STUDIES].index(name) % 2:
        pytest.skip("every other study is taken without --full")
    stated_study = _study(tmp_path, STUDIES[name], _items())
    files = experiment.build_list_files(stated_study)
    experiment.export(stated_study, "jspsych", tmp_path / "out", 1)
    robot = experiment.create_robot(files, seed=3)
    home = FolderTransport(tmp_path / "home", files)
    script = home.begin_session("anna")  # the first list in its first order: place 0
    with opened(browser, address(tmp_path / "out", "assignment=0&participant=anna&source=robot"), (HOOK,)) as reader:
        assert run_session_on_page(robot, reader.page, script, "anna", pace=20) == "GARDEN-PATH-1"
        [[text, _]] = reader.page.evaluate("window.saved")
    experiment.run_robot_session(robot, FolderTransport(tmp_path / "home", files), "anna")
    expected = _without_times(experiment.collect(tmp_path / "home"))
    found = _without_times(tables_from(text, tmp_path / "out"))
    for table in ("readings", "responses", "items", "conditions", "words"):
        assert found[table] == expected[table]


def test_what_the_hook_refuses_is_tried_again_and_the_code_waits_for_it(folder: Path, browser: Any) -> None:  # noqa: F811
    refuses = HOOK.replace(
        "window.saved.push", "if (window.saved.length < 2) { window.saved.push(0); throw 503; } window.saved.push"
    )
    with opened(browser, address(folder, "assignment=0"), (refuses,)) as reader:
        reader.begin()
        reader.trials(4)
        reader.at("message")
        assert not reader.page.locator(".code").count()
        assert reader.code() == "GARDEN-PATH-1"
        tries = reader.page.evaluate("window.saved")
    assert tries[:2] == [0, 0]
    assert len(tries) == 3
    assert tables_from(tries[2][0], folder)["sessions"]["complete"].tolist() == [True]


def test_a_file_is_offered_after_two_minutes_and_the_page_goes_on_trying(folder: Path, browser: Any) -> None:  # noqa: F811
    refuses = HOOK.replace("window.saved.push", "if (!window.open_again) throw 503; window.saved.push")
    sooner = "const later = setTimeout; window.setTimeout = (f, ms, ...more) => later(f, ms === 120_000 ? 100 : ms, ...more);"
    with opened(browser, address(folder, "assignment=0"), (refuses, sooner)) as reader:
        reader.begin()
        reader.trials(4)
        reader.page.get_by_text("could not be sent").wait_for()
        assert not reader.page.locator(".code").count()
        assert tables_from(_saved(reader.page), folder)["sessions"]["complete"].tolist() == [True]
        reader.page.evaluate("window.open_again = true")
        assert reader.code() == "GARDEN-PATH-1"


def test_a_reload_goes_on_at_the_next_sentence_and_loses_nothing(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "participant=P1"), (HOOK,)) as reader:
        reader.begin()
        reader.trials(2)
        reader.skip_text()
        reader.go()
        reader.go()  # one word of the third sentence
        reader.page.reload()
        reader.trials(2)
        assert reader.code() == "GARDEN-PATH-1"
        [[text, _]] = reader.page.evaluate("window.saved")
        reader.page.reload()
        assert reader.code() == "GARDEN-PATH-1", "who is through sees the end again"
    rows = json.loads(text)
    assert [row["visit"] for row in rows] == sorted(row["visit"] for row in rows)
    assert len({row["gardenpath_session"]["id"] for row in rows}) == 1
    assert {row["assigned_by"] for row in rows} == {"random"}
    tables = tables_from(text, folder)
    assert tables["sessions"][["complete", "n_trials", "n_aborted_trials"]].to_numpy().tolist() == [[True, 4, 1]]
    flags = tables["readings"].groupby("trial")["quality_flags"].first().fillna("")
    assert ["seen_before" in flag for flag in flags] == [False, False, True, False]


def test_a_page_that_was_read_is_not_shown_again_after_a_reload(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    said = '[[procedure.pages]]\nblock = 2\ntext = "Now come others."\n'
    text = stated(procedure=said, tasks=RATING + "[ordering]\nblocks = 3\n")
    experiment.export(_study(tmp_path, text), "jspsych", tmp_path / "out", 1)
    with opened(browser, address(tmp_path / "out", "participant=P1"), (HOOK,)) as reader:
        reader.begin()
        reader.trials(2)
        reader.at("page")
        reader.go()
        reader.at("start")
        reader.page.reload()
        reader.until(lambda: reader.screen() != "")
        assert reader.screen() == "start"
        reader.trials(2)
        assert reader.code() == "GARDEN-PATH-1"
        [[saved, _]] = reader.page.evaluate("window.saved")
    [record] = build_session_records(json.loads(saved), "data")
    done = [event.step for event in record.events if event.kind == "done"]
    assert done == list(range(len(done)))


def test_the_counter_of_a_lab_gives_the_place(folder: Path, browser: Any) -> None:  # noqa: F811
    counter = "window.gardenpathNextAssignment = async () => 7;"
    with opened(browser, address(folder, "participant=P1"), (HOOK, counter)) as reader:
        reader.begin()
        reader.trials(4)
        reader.code()
        [[text, _]] = reader.page.evaluate("window.saved")
    assert {(row["list_name"], row["slot"], row["assignment"], row["assigned_by"]) for row in json.loads(text)} == {
        ("E1-L2", 0, 1, "counter")  # 7 of 6 assignments begins again
    }


def test_who_does_not_agree_or_withdraws_leaves_nothing(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "participant=P1"), (HOOK,)) as reader:
        if reader.at("device", "consent") == "device":
            reader.go()
        reader.page.locator("button.second").click()
        reader.at("message")
        assert "did not agree" in reader.page.locator("#stage").inner_text()
        reader.page.goto(address(folder, "participant=P2"))
        reader.consent()
        reader.page.locator("button.quiet").click()
        reader.at("withdraw")
        reader.page.locator(".cover button.second").click()
        reader.at("message")
        assert "You have withdrawn" in reader.page.locator("#stage").inner_text()
        assert reader.page.evaluate("window.saved") == []
        kept = """async () => {
          const counts = [];
          for (const { name } of await indexedDB.databases()) {
            const opened = await new Promise((done) => (indexedDB.open(name).onsuccess = (event) => done(event.target.result)));
            const store = opened.transaction("events").objectStore("events");
            counts.push(await new Promise((done) => (store.count().onsuccess = (event) => done(event.target.result))));
          }
          return [counts.reduce((sum, count) => sum + count, 0), Object.keys(localStorage).length];
        }"""
        assert reader.page.evaluate(kept) == [0, 0]


def test_a_second_tab_waits_until_the_first_is_closed(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "participant=P1")) as reader:
        reader.begin()
        second = reader.page.context.new_page()
        second.goto(address(folder, "participant=P1"))
        second.get_by_text("open in another tab").wait_for()
        reader.page.close()
        second.locator("[data-screen]:not([data-screen=message])").wait_for()


def test_a_place_that_is_no_number_is_said_to_be_none(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "assignment=E1-L1")) as reader:
        reader.at("message")
        assert "expected a whole number" in reader.page.locator("#stage").inner_text()


@pytest.mark.slow
def test_jspsychs_simulation_goes_through_the_study_and_is_marked_as_a_robots(folder: Path, browser: Any) -> None:  # noqa: F811
    with opened(browser, address(folder, "assignment=0&simulate=visual"), (HOOK,)) as reader:
        reader.page.locator(".code").wait_for(timeout=120_000)
        [[text, _]] = reader.page.evaluate("window.saved")
    tables = tables_from(text, folder)
    assert tables["sessions"][["source", "complete"]].to_numpy().tolist() == [["robot", True]]
    assert tables["readings"]["rt"].between(100, 5000).mean() > 0.9


# ---------------------------------------------------------------------------------------------------------- JATOS


@dataclass
class Jatos:
    """What JATOS keeps of a batch, behind a stand-in of jatos.js: result data, the batch session, how runs ended.

    `faults` answer the next requests for result data: a status, or 0 for a connection that breaks. With `after` a request is
    carried out all the same, and only its answer is lost.
    """

    assets: dict[str, bytes]
    address: str = ""
    data: dict[str, str] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=lambda: {"version": 0, "data": {}})
    faults: list[int] = field(default_factory=list)
    after: bool = False
    requests: list[tuple[str, int]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, run: str, what: str, body: str) -> tuple[int, bytes]:
        with self.lock:
            if method == "GET":
                return (200, self.file(what)) if what == "batch" or what in self.assets else (404, b"")
            if what == "batch":
                return self.patch(json.loads(body))
            if what in ("end", "abort"):
                self.ended[run] = what
                if what == "abort":
                    self.data.pop(run, None)
                return 200, b""
            status = self.faults.pop(0) if self.faults else 200
            self.requests.append((method, status))
            if status == 200 or self.after:
                self.data[run] = body if method == "PUT" else self.data.get(run, "") + body
            return status, b""

    def file(self, what: str) -> bytes:
        return json.dumps(self.batch).encode() if what == "batch" else self.assets[what]

    def patch(self, sent: dict[str, Any]) -> tuple[int, bytes]:
        old = sent["version"] != self.batch["version"]
        if not old:
            *outer, name = sent["path"].split("/")[1:]
            place = self.batch["data"]
            for part in outer:
                place = place[part]
            if sent["op"] == "remove":
                del place[name]
            else:
                place[name] = sent["value"]
            self.batch["version"] += 1
        return (409 if old else 200), json.dumps(self.batch).encode()

    def places(self) -> list[list[int]]:
        """Place and completeness of each reservation, in the order of their making."""
        return [[place, complete] for place, _, complete in self.batch["data"].get("gardenpath", {}).values()]


@contextmanager
def _running(jatos: Jatos) -> Iterator[Jatos]:
    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            _, _, run, what = self.path.partition("?")[0].split("/", 3)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            status, answer = jatos.answer(self.command, run, what, body)
            if status == 0:
                self.close_connection = True
                return
            kinds = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript; charset=utf-8"}
            self.send_response(status)
            self.send_header("Content-Type", kinds.get(what.rpartition(".")[2], "application/json"))
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = handle_one

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    jatos.address = f"http://127.0.0.1:{server.server_address[1]}/publix"
    yield jatos
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def in_jatos(folder: Path) -> Iterator[Jatos]:
    """Run an export in JATOS."""
    (packed,) = folder.glob("*.jzip")
    with zipfile.ZipFile(packed) as archive:
        assets = {name.partition("/")[2]: archive.read(name) for name in archive.namelist() if "/" in name}
    stand_in = (Path(__file__).parent / "jatos_stand_in.js").read_bytes()
    with _running(Jatos({**assets, "jatos.js": stand_in})) as running:
        yield running


@pytest.fixture
def jatos(tmp_path: Path) -> Iterator[Jatos]:
    """The small study in JATOS."""
    experiment.export(_study(tmp_path, stated()), "jatos", tmp_path / "out", 2)
    with in_jatos(tmp_path / "out") as running:
        yield running


def _run(jatos: Jatos, run: str, search: str = "PROLIFIC_PID=5f") -> str:
    return f"{jatos.address}/{run}/index.html?{search}"


def _whole(reader: Reader) -> None:
    reader.begin()
    reader.trials(4)
    assert reader.code() == "GARDEN-PATH-1"


def test_in_jatos_a_line_a_trial_is_appended_and_the_whole_submitted_at_the_end(
    jatos: Jatos,
    tmp_path: Path,
    browser: Any,  # noqa: F811
) -> None:
    with opened(browser, _run(jatos, "run-1")) as reader:
        reader.consent()
        reader.skip_text()
        reader.trials(2)
        early = jatos.data["run-1"]
        reader.trials(2)
        assert reader.code() == "GARDEN-PATH-1"
        link = reader.page.locator("a.button").get_attribute("href")
    assert link == "https://app.prolific.com/submissions/complete?cc=GARDEN-PATH-1"
    assert [method for method, _ in jatos.requests].count("PUT") == 1
    assert jatos.ended == {"run-1": "end"}
    assert jatos.places() == [[0, 1]]
    lines = [json.loads(line) for line in jatos.data["run-1"].splitlines()]
    assert [row["seq"] for row in lines] == list(range(len(lines)))
    partial = tables_from(early, tmp_path / "out", "jatos")
    assert partial["readings"]["trial"].max() >= 1, "the first sentences are there before the end"
    assert partial["sessions"]["complete"].tolist() == [False]

    tables = tables_from(jatos.data["run-1"], tmp_path / "out", "jatos")
    assert tables["sessions"][["source", "participant", "complete"]].to_numpy().tolist() == [["jatos", "5f", True]]
    words = tables["readings"].sort_values(["trial", "word"]).groupby("trial")["text"]
    assert [list(read) for _, read in words] == reader.sentences
    rated = tables["responses"].sort_values("trial")["response"].astype(int)
    assert list(rated) == reader.answers


FAULTS: dict[str, Callable[[Jatos], None]] = {
    "requests that jatos.js drops after its six tries": lambda jatos: jatos.faults.extend([500] * 13),
    "connections that break": lambda jatos: jatos.faults.extend([0] * 13),
    "answers that are lost, so that lines come twice": lambda jatos: (
        jatos.faults.extend([500, 200, 500, 500, 200, 503]),
        setattr(jatos, "after", True),
    )[0],
    "lines refused as too large": lambda jatos: jatos.faults.extend([200, 200, 413]),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_jatos_loses_arrives_in_the_end(
    jatos: Jatos,
    tmp_path: Path,
    browser: Any,  # noqa: F811
    fault: str,
) -> None:
    FAULTS[fault](jatos)
    with opened(browser, _run(jatos, "run-1")) as reader:
        _whole(reader)
    assert {status for _, status in jatos.requests} - {200}, "the faults did happen"
    tables = tables_from(jatos.data["run-1"], tmp_path / "out", "jatos")
    assert tables["sessions"]["complete"].tolist() == [True]
    words = tables["readings"].sort_values(["trial", "word"]).groupby("trial")["text"]
    assert [list(read) for _, read in words] == reader.sentences


@pytest.mark.slow
def test_a_run_that_was_offline_and_reloaded_appends_what_was_left(
    jatos: Jatos,
    tmp_path: Path,
    browser: Any,  # noqa: F811
) -> None:
    with opened(browser, _run(jatos, "run-1")) as reader:
        reader.begin()
        reader.trials(1)
        jatos.faults = [500] * 1000  # from here on nothing gets through
        reader.trials(1)
        reader.page.reload()
        reader.skip_text()
        jatos.faults = []
        reader.trials(1)  # and the run is left before its end
        reader.skip_text()
        reader.until(lambda: '"trial":2' in jatos.data["run-1"])
    tables = tables_from(jatos.data["run-1"], tmp_path / "out", "jatos")
    words = tables["readings"].sort_values(["trial", "word"]).groupby("trial")["text"]
    assert [list(read) for _, read in words][:3] == reader.sentences[:3]
    assert tables["sessions"]["complete"].tolist() == [False]


def test_places_in_jatos_are_reserved_at_the_start_and_given_back_by_who_leaves(
    jatos: Jatos,
    browser: Any,  # noqa: F811
) -> None:
    with (
        opened(browser, _run(jatos, "run-1", "PROLIFIC_PID=a")) as first,
        opened(browser, _run(jatos, "run-2", "PROLIFIC_PID=b")) as second,
    ):
        first.at("device", "consent")
        second.at("device", "consent")
        assert sorted(jatos.places()) == [[0, 0], [1, 0]]
        second.consent()
        second.page.locator("button.quiet").click()
        second.at("withdraw")
        second.page.locator(".cover button.second").click()
        second.until(lambda: "run-2" in jatos.ended)
        assert jatos.ended == {"run-2": "abort"}
        assert len(jatos.places()) == 1
        assert "run-2" not in jatos.data
        with opened(browser, _run(jatos, "run-3", "PROLIFIC_PID=c")) as third:
            third.at("device", "consent")
            assert sorted(jatos.places()) == [[0, 0], [1, 0]], "the place that was given back goes to the next"
