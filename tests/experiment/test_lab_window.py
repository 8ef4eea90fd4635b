"""gardenpath lab in a real PsychoPy window on a screen of Xvfb, with keys that xdotool holds and lets go."""

import json
import math
import os
import statistics
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.players.lab import window
from gardenpath.experiment.players.lab.displays import FrameTimes
from gardenpath.experiment.sessions import sessions
from gardenpath.experiment.tasks.answer_options import build_answers, build_scale_points
from gardenpath.study.screens import SKIP_STEP, After, Answers, Entry, Exit, Pace, Pair, Passage, Slider, Text, Whole, WordPairs

from .conftest import needs_font
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
    design = DESIGN.replace("grammatical = 2", "grammatical = 1").replace("lists = 3", "lists = 2")
    (tmp_path / "study.toml").write_text(stated(design, tasks=RATING + FORM))
    return tmp_path


Sit = Callable[..., Participant]


@pytest.fixture
def sit(folder: Path, screen: Screen) -> Iterator[Sit]:
    """Start a session in a window, and sit down before it; at the end everybody leaves."""
    options = ["--participant", "P01", "-o", folder / "data", "--window", "1024x768"]
    with ExitStack() as leaving:

        def begin(source: Path, *more: str) -> Participant:
            program = gardenpath("lab", source, *options, *more, screen=screen.name)
            return leaving.enter_context(Participant(screen, program))

        yield begin


def recorded(folder: Path) -> list[sessions.Event]:
    (path,) = (folder / "data").glob("*/events.jsonl")
    return sessions.check_events([json.loads(line) for line in path.read_text().splitlines()])


@pytest.mark.lab
@pytest.mark.slow
def test_a_whole_session_records_every_key_at_the_time_it_was_sent(folder: Path, sit: Sit) -> None:
    reader = sit(folder / "study.toml")
    reader.await_change()
    words = 0
    for part in plan(folder / "data"):
        for n, key in enumerate(part.keys):
            is_word = part.screen.kind == "words" and n > 0
            words += is_word
            # A key that takes nobody on, a look at another window, a key that is held long, and one that is tapped.
            if is_word and words == 5:
                reader.await_change()
                reader.send("x")
            if is_word and words == 6:
                reader.look_away()
                reader.press("space")
            reader.press(key, held={7: 0.6, 9: 0.0}.get(words, 0.05) if is_word else 0.05)
    said = reader.end()
    assert "P01, E1-L" in said
    assert "finished" in said
    events = recorded(folder)
    _check_keys(events, reader)
    visit = events[0].value
    assert visit["software"]["psychopy"]
    assert visit["software"]["psychtoolbox"]
    assert visit["monitor"].startswith("screen 0 of 1, 1024 x 768 px")
    assert visit["full_screen"] is False
    ends = [event.value["dropped_frames"] for event in events if event.kind == "done"]
    assert ends == [None if visit["refresh_hz"] is None else end for end in ends]
    shown = [event.value["display"] for event in events if event.kind == "word"]
    onsets = [display["frame"] - display["request"] for display in shown]
    assert all(onset > 0 for onset in onsets)
    tables = _collected(folder)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["demographics"]["response"].tolist() == ["31"]
    assert tables["responses"]["response"].tolist() == ["1", "2", "3"]
    assert tables["readings"]["quality_flags"].str.contains("interrupted").sum() == 1
    assert tables["readings"].groupby("trial")["text"].agg(" ".join).tolist()[0] == "She slept well."


def _check_keys(events: list[sessions.Event], reader: Participant) -> None:
    """Every key that was sent is recorded, none twice; intervals are the sender's within 10 ms at the median."""
    keys = timed(events)
    # Not recorded: what is typed into the form; the last page, after the end.
    sent = reader.sent[:-1]
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
def test_a_session_killed_at_a_key_loses_at_most_that_key_and_goes_on(folder: Path, screen: Screen, sit: Sit) -> None:
    reader = sit(folder / "study.toml")
    reader.await_change()
    keys = [key for part in plan(folder / "data") for key in part.keys]
    until = keys.index("1") + 5  # into the second sentence
    for key in keys[:until]:
        reader.press(key)
    reader.program.kill()
    reader.program.wait()
    reader.leave()
    before = recorded(folder)
    assert len(timed(before)) >= until - 1, "the last key may be lost"
    refused = gardenpath("lab", folder / "study.toml", "--participant", "P01", "-o", folder / "data", screen=screen.name)
    _, errors = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 2
    assert "give --resume to go on or --new-session to begin another" in errors
    reader = sit(folder / "study.toml", "--resume")
    left = plan(folder / "data")
    assert left[0].screen.kind == "words", "consent and pages lie behind"
    for key in (key for part in left for key in part.keys):
        reader.press(key)
    reader.end()
    events = recorded(folder)
    assert events[: len(before)] == before
    assert [event.seq for event in events] == list(range(len(events)))
    tables = experiment.collect(folder / "data")
    assert tables["sessions"][["complete", "n_aborted_trials"]].iloc[0].tolist() == [True, 1]
    assert sorted(tables["responses"]["trial"]) == [0, 1, 2]
    words = {row.item: row.sentence.split() for row in tables["items"].itertuples()}
    for item, sentence in tables["readings"].groupby("item"):
        assert len(sentence) == len(words[item])
    assert tables["readings"].loc[tables["readings"]["quality_flags"] == "seen_before", "trial"].unique().tolist() == [1]


def everything(file: experiment.ListFile) -> experiment.ListFile:
    """A list whose practice trial has every kind of screen that a trial can have."""
    first, *others = file.script.trials
    words: Any = replace(first.screens[0], pace=Pace(250, 60), exits=(Exit("interrupted", SKIP_STEP),))  # type: ignore[call-arg]
    pairs = tuple(Pair(word, f"un{word}", "right" if n % 2 else "left") for n, word in enumerate(words.words))
    error: dict[str, Any] = {"redo": True, "delay": 500, "error": "That was not it.", "again": "Now the other one."}
    ask: dict[str, Any] = {"prompt": "And now?", "task": "rating"}
    right: dict[str, Any] = {"answers": build_answers(["yes", "no"], [1, 0], "ltr"), "right": (0,), "is_judged_by_player": True}
    after = {name: After(5, (name,)) for name in ("right", "wrong")}
    screens = (
        Whole(name="context", task="whole", text="It was late."),
        words,
        WordPairs(name="maze", task="centred", pairs=pairs, hint="Choose", **error),
        Entry(name="end", above=Passage("She slept"), button="Continue", missing="Please type.", **ask),
        Slider(name="slider", low="bad", high="good", lab_hint="Move it", **ask),
        Answers(name="told", deadline=30_000.0, **right, **ask),
        *(Text(name=name, when=after[name], paragraphs=(f"That was {name}.",)) for name in after),  # type: ignore[index]
        Answers(
            name="pair", arrangement="stacked_pair", answers=build_answers(["A.", "B."], ["a", "b"], "ltr", stacked=True), **ask
        ),
        Answers(name="late", deadline=700.0, answers=build_scale_points(7), arrangement="points", **ask),
    )
    return replace(file, script=replace(file.script, trials=(replace(first, screens=screens), *others)))


@pytest.mark.lab
@pytest.mark.slow
def test_every_kind_of_screen_is_run_in_a_window(folder: Path, sit: Sit) -> None:
    """The wrong word of a pair is taken once, a key is pressed while the keys are dead, and one answer is waited for in vain."""
    path = everything(experiment.build_list_files(study.load(folder / "study.toml"))[0]).write(folder / "lists")
    reader = sit(path)
    reader.await_change()
    for part in plan(folder / "data"):
        if part.name == "late":
            reader.await_change()
            reader.do("sleep 1")  # by then the time is up
            continue
        for n, key in enumerate(part.keys):
            if part.name == "maze" and n == 2:
                reader.press("f")
                reader.await_change()
                reader.send("j")
                reader.do("sleep 2")  # the keys are alive again, on a busy machine too
            reader.press(key)
        if part.screen.kind == "words" and part.screen.pace:
            reader.do("sleep 1.3")
    reader.end()
    events = recorded(folder)
    trial = next(event.step for event in events if event.kind == "word")
    own = [event for event in events if event.step == trial]
    ends = [event.value for event in own if event.kind == "outcome"]
    assert [(value["outcome"], value["answer"], value["side"]) for value in ends] == [
        *[("read", None, None)] * 2, ("wrong", None, None), ("answered", "31", None), ("answered", 51, None), ("wrong", 1, "left"),
        ("continued", None, None), ("answered", "a", "upper"), ("timeout", None, None),
    ]  # fmt: skip
    assert ends[3]["first"] < next(event.t for event in own if event.value.get("answer") == "31")
    start, *timed_words = [event for event in own if event.kind == "word" and event.screen == 1]
    stood = [event.t - event.value["display"]["frame"] for event in timed_words]
    assert min(stood) == pytest.approx(250, abs=40), "by the clock where there is no refresh to count"
    assert len(stood) == 3  # on a busy machine one may stand longer
    assert (start.value["press"] is None, {event.value["press"] for event in timed_words}) == (False, {None})
    chosen = [event for event in own if event.kind == "word" and event.screen == 2][1:]
    assert [event.value["correct"] for event in chosen] == [True, False, True]
    assert chosen[1].t - chosen[1].value["first"] > 500
    early = [event.value for event in own if event.kind == "press"]
    assert early == [{"reason": "early", "code": "KeyJ"}]
    assert own[-1].t - own[-2].t < 200, "the time was up, and the trial over"
    late = next(event for event in own if event.value.get("outcome") == "timeout")
    assert late.t - late.value["display"]["frame"] == pytest.approx(700, abs=0.01)
    pressed = [*timed([event for event in events if event.kind != "press"])]
    typed_in = 2 + 2  # into the answer and into the form
    moved = 1  # the slider; what was pressed too early and the first of the two choices have no press of their own
    assert len(pressed) == len(reader.sent) - 1 - typed_in - moved - 2


SHOWN = """
import json, sys
from pathlib import Path
from PIL import ImageGrab
from gardenpath import experiment, study
from gardenpath.experiment.players.lab.displays import Lines, Word
from gardenpath.experiment.players.lab.window import Window, check_machine

check_machine()
for toml in sys.argv[1:]:
    folder = Path(toml).parent
    file = experiment.build_list_files(study.load(toml))[0]
    window = Window(file, size=(1024, 768))
    sentence = file.script.trials[0].screens[0]
    words, gaps = sentence.words, sentence.gaps
    displays = [Word(words[1]), Lines(words, gaps), Lines(words, gaps, visible_word=0), Lines(words, gaps, visible_word=len(words) - 1)]
    window.prepare(displays)
    times = []
    for n, display in enumerate(displays):
        painted = window.show(display)
        window.wait(60)
        ImageGrab.grab().save(folder / f"{n}.png")
        times.append(painted.frame - painted.request)
    print(json.dumps({"font": window.describe_machine()["font"], "ms": times}))
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
        *({**item, "id": one, "sentences": {"grammatical": sentence, "ungrammatical": sentence}} for one in ("z-1", "z-2")),
    ]
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    design = DESIGN.replace('practice = ["She slept well."]\n', "").replace("grammatical = 2", "grammatical = 1")
    text = stated(design.replace("lists = 3", "lists = 2"), procedure="", language=language)
    (folder / "study.toml").write_text(text.replace("items.csv", "items.jsonl"))
    return folder / "study.toml"


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("language", WRITINGS)
def test_arabic_hebrew_and_chinese_stand_where_they_are_read(language: str, tmp_path: Path, screen: Screen) -> None:
    from PIL import Image, ImageChops, features

    needs_font(language, "".join(WRITINGS[language]))
    if language == "ar" and not features.check("raqm"):
        pytest.skip("FriBiDi is not installed, without which the marks of the standard texts in Arabic cannot be set")
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, str(_written(tmp_path / language, language, WRITINGS[language]))],
        capture_output=True,
        text=True,
        env={**os.environ, "DISPLAY": screen.name},
        check=False,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    word, covered, first, last = (Image.open(tmp_path / language / f"{n}.png").convert("L") for n in range(4))
    paper = Image.new("L", word.size, word.getpixel((0, 0)))
    left, top, right, bottom = ImageChops.difference(word, paper).getbbox()
    assert abs((left + right) / 2 - 512) <= 6, "a word stands in the middle"
    assert abs((top + bottom) / 2 - 384) <= 20
    uncovered = [ImageChops.difference(covered, one).getbbox() for one in (first, last)]
    begins, ends = ((box[0] + box[2]) / 2 for box in uncovered)
    assert (begins > ends) == (language in ("ar", "he")), "the first word stands where reading begins"


TYPED = """
import json, subprocess, sys, time
from pathlib import Path
from gardenpath import experiment, study
from gardenpath.experiment.players.lab.displays import Key, Word
from gardenpath.experiment.players.lab.window import Window, check_machine

check_machine()
file = experiment.build_list_files(study.load(sys.argv[1]))[0]
window = Window(file, size=(1024, 768))
window.show(Word("+"))
found = {}
for layout in ("fr", "ara", "us"):
    subprocess.run(["setxkbmap", layout], check=True)
    window.wait(300)
    keys = "keydown 50 key 12 key 41 keyup 50 key 12 key 41 key 65 key 87 keydown 133 key 65 keyup 133".split()
    subprocess.run(["xdotool", *keys], check=True)
    given = [window.wait(300) for _ in range(40)]
    found[layout] = [[one.code, one.character] for one in given if isinstance(one, Key) and one.is_down]
print(json.dumps(found))
window.close()
"""


@pytest.mark.lab
@pytest.mark.slow
def test_a_key_says_where_it_stands_and_what_the_layout_types(folder: Path, screen: Screen) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TYPED, str(folder / "study.toml")],
        capture_output=True,
        text=True,
        env={**os.environ, "DISPLAY": screen.name},
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    codes = ["ShiftLeft", "Digit3", "KeyF", "Digit3", "KeyF", "Space", "Numpad1", "MetaLeft", "Space"]
    found = json.loads(done.stdout)
    assert [[code for code, _ in keys] for keys in found.values()] == [codes] * 3
    typed = {layout: [one for _, one in keys] for layout, keys in found.items()}
    assert typed["us"] == ["", "#", "F", "3", "f", " ", "", "", " "], "the keypad has no NumLock here"
    assert typed["fr"][:5] == ["", "3", "F", '"', "f"]
    assert typed["ara"][4] == "ب"


# ------------------------------------------------------------------------------------------------- what is missing


LATER = pytest.mark.skipif(sys.version_info >= (3, 13), reason="PsychoPy has no release for this Python, which is said first")


@LATER
@pytest.mark.parametrize("module", ["psychopy", "psychtoolbox"])
def test_without_psychopy_or_psychtoolbox_the_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if module == "psychtoolbox":
        pytest.importorskip("psychopy.logging")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(study.MissingExtra, match=rf"{module} is not installed; .*pip install 'gardenpath\[lab\]'"):
        window.check_machine()


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
def test_a_screen_that_is_not_there_and_a_small_window_are_errors_before_the_session(folder: Path, screen: Screen) -> None:
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
    assert window.estimate_refresh_rate(locked) == pytest.approx(59.94, abs=0.01)
    one_late = [t + (t > 0.5) / 59.94 for t in locked]
    assert window.estimate_refresh_rate(one_late) == pytest.approx(59.94, abs=0.01)
    assert sum(window.count_missed_refreshes(b - a, 1 / 59.94) for a, b in pairwise(one_late)) == 1
    assert window.estimate_refresh_rate([n / 3000 for n in range(60)]) is None, "no monitor is that fast"
    assert window.estimate_refresh_rate([sum(range(n % 7)) * 0.001 + n * 0.016 for n in range(60)]) is None


@pytest.mark.parametrize(("refresh", "frames"), [(100.0, 1), (100.0, 13), (None, 13)])
def test_a_display_stands_for_its_frames_by_flips_or_by_the_clock(refresh: float | None, frames: int) -> None:
    class Still(window.Window):
        """Its flips come every 25 ms, three of four refreshes too late; nothing ever happens on it."""

        def __init__(self) -> None:
            self.refresh, self.flipped, self.time = refresh, 0, 0.0
            self._queue, self._last_flip = deque(), None
            self._painted, self._flips = FrameTimes(0.0, 0.0), 1
            self._default_clock = SimpleNamespace(getTime=lambda: math.inf)

        def now(self) -> float:
            return self.time

        def _collect(self) -> None:
            pass

        def _flip(self) -> float:
            self.time += 25.0
            self.flipped, self._flips = self.flipped + 1, self._flips + 1
            return self.time

    still = Still()
    assert still.hold_display(frames) is None
    assert still.flipped == (frames - 1 if refresh else 9), "what comes next is the flip after these; 13 of 60 Hz are 217 ms"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "KeyA"), ("7", "Digit7"), ("num_7", "Numpad7"), ("left", "ArrowLeft"), ("return", "Enter"), ("num_enter", "NumpadEnter"),
     ("lshift", "ShiftLeft"), ("loption", "AltLeft"), ("f11", "F11"), ("semicolon", "Semicolon")],
)  # fmt: skip
def test_keys_have_the_names_that_the_page_gives_them(name: str, expected: str) -> None:
    assert window.convert_key_name(name) == expected
