"""gardenpath lab in a real PsychoPy window on a screen of Xvfb, with keys that xdotool holds and lets go."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment import sessions
from gardenpath.experiment.lab import window

from .lab_robot import PATIENCE, Participant, Screen, gardenpath, plan, timed, xvfb
from .pages import DESIGN, RATING, stated

SENTENCES = """\
paradigm,phenomenon,item,condition,sentence
agreement,agreement,a-1,grammatical,The key [is] rusty.
agreement,agreement,a-1,ungrammatical,The key [are] rusty.
agreement,agreement,a-2,grammatical,The road [is] narrow.
agreement,agreement,a-2,ungrammatical,The road [are] narrow.
"""
FORM = '[[procedure.demographics]]\nname = "age"\nlabel = "How old are you?"\nkind = "number"\n'


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    with xvfb() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(SENTENCES)
    design = DESIGN.replace("grammatical = 2", "grammatical = 1").replace("versions = 3", "versions = 2")
    (tmp_path / "study.toml").write_text(stated(design, rating=RATING + FORM))
    return tmp_path


def begin(folder: Path, screen: Screen, *more: str) -> Participant:
    """Start a session in a window, and sit down before it."""
    program = gardenpath(
        "lab", folder / "study.toml", "--participant", "P01", "-o", folder / "data", "--window", "1024x768", *more,
        screen=screen.name,
    )  # fmt: skip
    return Participant(screen, program)


def recorded(folder: Path) -> list[sessions.Event]:
    (path,) = (folder / "data").glob("*/events.jsonl")
    return sessions.check_events([json.loads(line) for line in path.read_text().splitlines()])


def ended(participant: Participant) -> str:
    said, errors = participant.program.communicate(timeout=PATIENCE)
    participant.leave()
    assert participant.program.returncode == 0, errors
    return said


@pytest.mark.lab
@pytest.mark.slow
def test_a_whole_session_records_every_key_at_the_time_it_was_sent(folder: Path, screen: Screen) -> None:
    reader = begin(folder, screen)
    reader.await_change()
    words = 0
    for kind, keys in plan(folder / "data"):
        words += kind == "word"
        for key in keys:
            # A key that takes nobody on, a look at another window, a key that is held long, and one that is tapped.
            if kind == "word" and words == 5:
                reader.await_change()
                reader.send("x")
            if kind == "word" and words == 6:
                reader.look_away()
                reader.press("space")
            held = 0.6 if kind == "word" and words == 7 else 0.0 if kind == "word" and words == 9 else 0.05
            reader.press(key, held=held)
    said = ended(reader)
    assert "P01, E1-V" in said
    assert "finished" in said
    events = recorded(folder)
    _check_keys(events, reader)
    visit = events[0].value
    assert visit["software"]["psychopy"]
    assert visit["software"]["psychtoolbox"]
    assert visit["monitor"].startswith("screen 0 of 1, 1024 x 768 px")
    assert visit["full_screen"] is False
    ends = [event.value for event in events if event.kind == "trial_end"]
    assert ends == [{"dropped_frames": None if visit["refresh_hz"] is None else end["dropped_frames"]} for end in ends]
    onsets = [event.value["frame"] - event.value["request"] for event in events if event.kind == "word"]
    assert all(onset > 0 for onset in onsets)
    tables = _collected(folder)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["demographics"]["answer"].tolist() == ["31"]
    assert tables["responses"]["response"].tolist() == ["1", "2", "3"]
    assert tables["readings"]["flags"].str.contains("interrupted").sum() == 1
    assert tables["readings"].groupby("trial")["text"].agg(" ".join).tolist()[0] == "She slept well."


def _check_keys(events: list[sessions.Event], reader: Participant) -> None:
    """Every key that was sent is recorded, none twice; intervals are the sender's within 10 ms at the median."""
    keys = timed(events)
    # Not recorded: the first page, before consent; what is typed into the form; the last page, after the end.
    sent = [one for n, one in enumerate(reader.sent) if n > 0 and n < len(reader.sent) - 1]
    typed = [n for n, (code, _) in enumerate(sent) if code == "Enter"][-1]
    sent = sent[: typed - 2] + sent[typed:]
    assert len(keys) == len(sent)
    assert [code for code, _ in keys if code is not None] == ["KeyX", "Space"], "and none of what was typed elsewhere"
    theirs = [after[1] - before[1] for before, after in pairwise(sent)]
    ours = [after[1] - before[1] for before, after in pairwise(keys)]
    apart = [1000 * abs(a - b) for a, b in zip(theirs, ours, strict=True)]
    print(f"intervals apart, ms: median {statistics.median(apart):.2f}, largest {max(apart):.2f}, n = {len(apart)}")  # noqa: T201
    assert statistics.median(apart) < 10


def _collected(folder: Path) -> dict[str, Any]:
    done = gardenpath("collect", folder / "data", "-o", folder / "tables")
    said, errors = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, errors
    assert "sessions.csv: 1 rows" in said
    return experiment.collect(folder / "data")


@pytest.mark.lab
@pytest.mark.slow
def test_a_session_killed_at_a_key_loses_at_most_that_key_and_goes_on(folder: Path, screen: Screen) -> None:
    reader = begin(folder, screen)
    reader.await_change()
    keys = [key for _, keys in plan(folder / "data") for key in keys]
    until = keys.index("1") + 5  # into the second sentence
    for key in keys[:until]:
        reader.press(key)
    reader.program.kill()
    reader.program.wait()
    reader.leave()
    before = recorded(folder)
    assert len(timed(before)) >= until - 1 - 1, "the first page is not recorded, and the last key may be lost"
    refused = gardenpath(
        "lab", folder / "study.toml", "--participant", "P01", "-o", folder / "data", screen=screen.name
    )
    _, errors = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 2
    assert "give --resume to go on or --new to begin another" in errors
    reader = begin(folder, screen, "--resume")
    left = plan(folder / "data")
    assert left[0][0] in ("start", "practice_over"), "consent and instructions lie behind"
    for _, keys in left:
        for key in keys:
            reader.press(key)
    ended(reader)
    events = recorded(folder)
    assert events[: len(before)] == before
    assert [event.seq for event in events] == list(range(len(events)))
    tables = experiment.collect(folder / "data")
    assert tables["sessions"][["complete", "aborted"]].iloc[0].tolist() == [True, 1]
    assert sorted(tables["responses"]["trial"]) == [0, 1, 2]
    words = {row.item: row.sentence.split() for row in tables["items"].itertuples()}
    for item, sentence in tables["readings"].groupby("item"):
        assert len(sentence) == len(words[item])
    assert tables["readings"].loc[tables["readings"]["flags"] == "seen_before", "trial"].unique().tolist() == [1]


SHOWN = """
import json, sys
from pathlib import Path
from PIL import ImageGrab
from gardenpath import experiment, study
from gardenpath.experiment import sessions
from gardenpath.experiment.lab.displays import Lines, Word
from gardenpath.experiment.lab.window import Window, check

check()
for toml in sys.argv[1:]:
    folder = Path(toml).parent
    file = experiment.version_files(study.load(toml))[0]
    session = sessions.open_session(file, 0, id="s", participant="P", started="", source="lab")
    payload = sessions.payload(session, file, token="", visit=0, next_seq=0, done=())
    window = Window(payload, size=(1024, 768))
    words, gaps = (tuple(payload["trials"][0]["sentences"][0][name]) for name in ("words", "gaps"))
    displays = [Word(words[1]), Lines(words, gaps), Lines(words, gaps, shown=0), Lines(words, gaps, shown=len(words) - 1)]
    window.prepare(displays)
    times = []
    for n, display in enumerate(displays):
        painted = window.show(display)
        window.wait(60)
        ImageGrab.grab().save(folder / f"{n}.png")
        times.append(painted.frame - painted.request)
    print(json.dumps({"font": window.visit()["font"], "ms": times}))
    window.close()
"""
WRITINGS = {
    "ar": ["الطالبة", "قرأت", "الكتاب", "أمس."],
    "he": ["הילדה", "קראה", "את", "הספר."],
    "zh": ["我们", "昨天", "看", "了", "电影。"],
}


def _written(folder: Path, language: str, words: list[str]) -> Path:
    """A study of one pair in a language."""
    joint = "" if language == "zh" else " "
    spans, start = [], 0
    for word in words:
        spans.append([start, start + len(word)])
        start += len(word) + len(joint)
    sentence = {"text": joint.join(words), "regions": [], "segmentation": spans}
    item = {"record": "item", "paradigm": "order", "language": language}
    records = [
        {"record": "paradigm", "id": "order", "phenomenon": "order"},
        *(
            {**item, "id": one, "sentences": {"grammatical": sentence, "ungrammatical": sentence}}
            for one in ("z-1", "z-2")
        ),
    ]
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    design = DESIGN.replace('practice = ["She slept well."]\n', "").replace("grammatical = 2", "grammatical = 1")
    text = stated(design.replace("versions = 3", "versions = 2"), procedure="", language=language)
    (folder / "study.toml").write_text(text.replace("items.csv", "items.jsonl"))
    return folder / "study.toml"


@pytest.mark.lab
@pytest.mark.slow
def test_arabic_hebrew_and_chinese_stand_where_they_are_read(tmp_path: Path, screen: Screen) -> None:
    from PIL import Image, ImageChops

    paths = [_written(tmp_path / language, language, words) for language, words in WRITINGS.items()]
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *map(str, paths)],
        capture_output=True,
        text=True,
        env={**os.environ, "DISPLAY": screen.name},
        check=False,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    for language in WRITINGS:
        word, covered, first, last = (Image.open(tmp_path / language / f"{n}.png").convert("L") for n in range(4))
        paper = Image.new("L", word.size, word.getpixel((0, 0)))
        left, top, right, bottom = ImageChops.difference(word, paper).getbbox()
        assert abs((left + right) / 2 - 512) <= 6, "a word stands in the middle"
        assert abs((top + bottom) / 2 - 384) <= 20
        uncovered = [ImageChops.difference(covered, one).getbbox() for one in (first, last)]
        begins, ends = ((box[0] + box[2]) / 2 for box in uncovered)
        assert (begins > ends) == (language in ("ar", "he")), "the first word stands where reading begins"


# ------------------------------------------------------------------------------------------------- what is missing


LATER = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="PsychoPy has no release for this Python, which is said first"
)


@LATER
@pytest.mark.parametrize("module", ["psychopy", "psychtoolbox"])
def test_without_psychopy_or_psychtoolbox_the_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if module == "psychtoolbox":
        pytest.importorskip("psychopy.logging")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(study.MissingExtra, match=rf"{module} is not installed; .*pip install 'gardenpath\[lab\]'"):
        window.check()


@LATER
@pytest.mark.skipif(sys.platform != "linux", reason="DISPLAY is a matter of X11")
def test_without_a_screen_nothing_begins(folder: Path) -> None:
    refused = gardenpath("lab", folder / "study.toml", "--participant", "P01", "-o", folder / "data")
    said, errors = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 2
    assert said == ""
    assert errors.startswith("there is no screen: DISPLAY is not set")
    assert len(errors.strip().splitlines()) == 1
    assert not (folder / "data").exists(), "nothing is left behind"


@pytest.mark.lab
def test_a_screen_that_is_not_there_and_a_small_window_are_errors_before_the_session(
    folder: Path, screen: Screen
) -> None:
    command = ["lab", folder / "study.toml", "--participant", "P01", "-o", folder / "data", "--window"]
    absent = gardenpath(*command, "640x400", screen=":4711")
    small = gardenpath(*command, "640x400", screen=screen.name)
    second = gardenpath(*command, "1024x768", "--screen", "1", screen=screen.name)
    for refused, expected in (
        (absent, "DISPLAY=:4711"),
        (small, "the window is 640 x 400 px; the study needs 800 x 480"),
        (second, "--screen 1: there is no such screen; expected 0 alone"),
    ):
        _, errors = refused.communicate(timeout=PATIENCE)
        assert refused.returncode == 2
        assert expected in errors
        assert len(errors.strip().splitlines()) <= 2, errors
    assert not list((folder / "data").glob("s-*"))


def test_a_refresh_rate_is_told_only_where_flips_wait_for_one() -> None:
    locked = [n / 59.94 for n in range(60)]
    assert window.refresh_rate(locked) == pytest.approx(59.94, abs=0.01)
    one_late = [t + (t > 0.5) / 59.94 for t in locked]
    assert window.refresh_rate(one_late) == pytest.approx(59.94, abs=0.01)
    assert sum(window.missed(b - a, 1 / 59.94) for a, b in pairwise(one_late)) == 1
    assert window.refresh_rate([n / 3000 for n in range(60)]) is None, "no monitor is that fast"
    assert window.refresh_rate([sum(range(n % 7)) * 0.001 + n * 0.016 for n in range(60)]) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "KeyA"), ("7", "Digit7"), ("num_7", "Numpad7"), ("left", "ArrowLeft"), ("return", "Enter"), ("num_enter", "NumpadEnter"),
     ("lshift", "ShiftLeft"), ("loption", "AltLeft"), ("f11", "F11"), ("semicolon", "Semicolon")],
)  # fmt: skip
def test_keys_have_the_names_that_the_page_gives_them(name: str, expected: str) -> None:
    assert window.code(name) == expected
