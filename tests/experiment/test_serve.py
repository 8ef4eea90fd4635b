"""`gardenpath serve` as it is typed: behind a proxy, over plain HTTP, and what it leaves in its log."""

import contextlib
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from gardenpath.cli.serve import PROLIFIC_QUERY

from ..conftest import run_here


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[list[str], str]]:
    """Run the command; give the lines that it printed and the address at which it listens."""
    call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(folder / "study.toml"), "--port", "0", *options]
    with open(folder / "log", "w") as log, subprocess.Popen(call, stdout=subprocess.PIPE, stderr=log, text=True) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if "dashboard" in line:
                    break
            listening = re.search(r":(\d+)$", _listening(process.pid))
            assert listening, (folder / "log").read_text()
            yield lines, f"http://127.0.0.1:{listening.group(1)}/"
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0


def _listening(pid: int) -> str:
    """The address at which a process of ours listens (Linux)."""
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            target = str(path.readlink())
            if target.startswith("socket:["):
                inodes.add(target.removeprefix("socket:[").rstrip("]"))
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        cells = line.split()
        if cells[3] == "0A" and cells[9] in inodes:
            return f"127.0.0.1:{int(cells[1].partition(':')[2], 16)}"
    return ""


def test_the_links_lead_where_they_say_and_a_code_that_nobody_stated_is_named(study_folder: Path) -> None:
    stated = (study_folder / "study.toml").read_text()
    (study_folder / "study.toml").write_text(stated.replace("GARDEN-PATH-1", "CHANGE-ME"))
    with serving(study_folder) as (lines, address):
        links = {line[2:18].strip(): line[20:] for line in lines[1:]}
        assert links["for participants"] == address
        assert links["for Prolific"] == f"{address}?{PROLIFIC_QUERY}"
        assert links["for your own ids"] == f"{address}?participant=ID"
        assert "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}" in PROLIFIC_QUERY
        assert httpx2.get(links["for participants"]).status_code == 200
        list_name, key = re.fullmatch(r".*\?preview=(.*)&trial=0&key=(\w+)", links["to look at"]).groups()  # type: ignore[union-attr]
        asked = {"preview": {"list_name": list_name, "trial": 0, "key": key}}
        assert httpx2.post(f"{address}api/sessions", json=asked).status_code == 201
        board, secret = re.fullmatch(r"(\S+)  \(its password is in (.*)\)", links["dashboard"]).groups()  # type: ignore[union-attr]
        assert Path(secret).stat().st_mode & 0o077 == 0
        given = {"password": Path(secret).read_text().strip()}
        assert httpx2.post(f"{board}/login", data=given).status_code == 303
    assert "study.toml: online.completion_code is still CHANGE-ME; state your own" in (study_folder / "log").read_text()


def test_logs_hold_no_ids_and_no_addresses(study_folder: Path) -> None:
    with serving(study_folder) as (_, address):
        who = {"PROLIFIC_PID": "unmistakable-id", "SESSION_ID": "unmistakable-submission"}
        session = httpx2.post(f"{address}api/sessions?PROLIFIC_PID=unmistakable-id", json=who).json()
        path = f"{address}api/sessions/{session['session']}/events"
        bearer = {"Authorization": f"Bearer {session['token']}"}
        assert httpx2.put(path, json={"events": [{"seq": "unmistakable"}]}, headers=bearer).status_code == 400
        assert httpx2.put(path, json={"events": []}, headers={"Authorization": "Bearer x"}).status_code == 401
        # The database goes away under the server: a fault of the worst kind.
        with contextlib.closing(sqlite3.connect(study_folder / "data" / "study.sqlite")) as connection:
            connection.execute("DROP TABLE payments")
        assert httpx2.post(f"{address}api/sessions", json={**who, "PROLIFIC_PID": "unmistakable-2"}).status_code == 503
    log = (study_folder / "log").read_text()
    assert "the database fails: no such table: payments" in log
    assert not [text for text in ("unmistakable", "127.0.0.1", session["session"], session["token"]) if text in log]


@pytest.mark.parametrize("path", ["", "study/one/"], ids=["path taken away by the proxy", "path left by the proxy"])
def test_it_runs_below_a_path_behind_a_proxy(study_folder: Path, path: str) -> None:
    with serving(study_folder, "--address", "https://lab.example/study/one", "--trust-proxy", "127.0.0.1") as (lines, inner):
        assert lines[1].endswith("https://lab.example/study/one/")
        assert httpx2.get(f"{inner}{path}").status_code == 200
        assert httpx2.get(f"{inner}{path}static/app.js").status_code == 200
        over = {"Host": "lab.example", "X-Forwarded-For": "203.0.113.5"}
        opened = httpx2.post(f"{inner}{path}api/sessions", json={}, headers={**over, "X-Forwarded-Proto": "https"})
        assert opened.status_code == 201
        plain = httpx2.post(f"{inner}{path}api/sessions", json={}, headers={**over, "X-Forwarded-Proto": "http"})
        assert (plain.status_code, plain.json()["reason"]) == (403, "insecure")
        password = (study_folder / "data" / "dashboard.password").read_text().strip()
        cookie = httpx2.post(
            f"{inner}{path}dashboard/login", data={"password": password}, headers={**over, "X-Forwarded-Proto": "https"}
        ).headers["set-cookie"]
        assert "Secure" in cookie


def test_a_header_is_believed_only_of_the_proxy_that_was_named(study_folder: Path) -> None:
    with serving(study_folder) as (lines, address):

        def status(host: str, **headers: str) -> int:
            asked = {"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
            return httpx2.post(f"{address}api/sessions", json={}, headers=asked).status_code

        assert status("127.0.0.1:8000") == status("localhost") == status("[::1]:8000") == 201
        assert status("lab.example") == 403
        assert status("lab.example", X_Forwarded_Proto="https") == 403
        assert status("localhost", X_Forwarded_For="203.0.113.5") == 403
        key = re.search(r"key=(\w+)", "".join(lines))
        assert key
        for sent, answered in (("0" * 32, 401), (None, 401), (key[1], 201)):  # robots are the experimenter's
            robot = {"source": "robot", "key": sent}
            opened = httpx2.post(f"{address}api/sessions", json=robot, headers={"Host": "lab.example"})
            assert opened.status_code == answered
        login = httpx2.post(f"{address}dashboard/login", data={"password": "x"}, headers={"Host": "lab.example"})
        assert (login.status_code, "over HTTPS only" in login.text) == (403, True)


def test_a_short_password_of_ones_own_is_refused(study_folder: Path) -> None:
    (study_folder / "data").mkdir()
    (study_folder / "data" / "dashboard.password").write_text("secret\n")
    ran = run_here("gardenpath serve study.toml --port 0", study_folder)
    assert ran.code == 1
    assert "dashboard.password: the password has 6 characters; expected 12 or more" in ran.said


def test_an_address_that_is_none_is_refused(study_folder: Path) -> None:
    call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(study_folder), "--address", "lab.example"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 2
    assert "expected one such as https://lab.example/study/" in done.stderr


def test_data_of_who_withdraws_are_kept_only_where_a_consent_text_of_ones_own_can_say_so(study_folder: Path) -> None:
    path = study_folder / "study.toml"
    stated = path.read_text().replace("[online]\n", '[online]\nwithdrawal = "keep"\n')
    path.write_text(stated)
    call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(path), "--port", "0"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode != 0
    (line,) = done.stderr.strip().splitlines()
    assert "the standard consent text promises deletion" in line
    assert not (study_folder / "data").exists()

    consent = 'consent = "You may stop at any time; what you have answered until then is kept."\n'
    path.write_text(stated.replace("[procedure]\n", f"[procedure]\n{consent}"))
    with serving(study_folder) as (_, address):
        script = httpx2.post(f"{address}api/sessions", json={}).json()["script"]
        [page] = script["front"][script["consent"]]["screens"]
        assert page["paragraphs"] == [consent.split('"')[1]]


def test_a_key_that_is_missing_is_not_replaced_while_people_are_known_by_it(study_folder: Path) -> None:
    key = study_folder / "data" / "participant.key"
    with serving(study_folder) as (_, address):
        assert httpx2.post(f"{address}api/sessions", json={}).status_code == 201
    key.unlink()
    # Nobody was known by the first key: somebody without an id has a random label.
    with serving(study_folder) as (_, address):
        assert httpx2.post(f"{address}api/sessions", json={"PROLIFIC_PID": "anna", "tab": "tab-of-anna"}).status_code == 201
    kept = key.read_text()
    key.unlink()
    call = [sys.executable, "-m", "gardenpath.cli.main", "serve", str(study_folder), "--port", "0"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode != 0
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"{key}: the key that hashed participants' ids in the study's database is missing")
    assert line.endswith("restore this file from a backup of its folder")
    assert not key.exists()
    key.write_text(kept)
    with serving(study_folder) as (_, address):
        # 200: the session that this person began; a stranger would get 201.
        assert httpx2.post(f"{address}api/sessions", json={"PROLIFIC_PID": "anna", "tab": "tab-of-anna"}).status_code == 200
