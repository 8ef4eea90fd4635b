"""Kinds of screens that the small study does not have, in real Chromium: timed words, typed answers, word pairs, deadlines."""

import dataclasses
import json
import sqlite3
import statistics
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment
from gardenpath.experiment.simulation.browser_robot import WAIT_FOR_PAINT_SCRIPT
from gardenpath.study.screens import SKIP_STEP, Entry, Exit, Pace, Pair, Passage, WordPairs

from .pages import RATING, Reader, Site, browser, opened, served, stated  # noqa: F401

pytestmark = pytest.mark.browser

Change = Callable[[experiment.ListFile], experiment.ListFile]


def _screens(change: Callable[[Any], Any]) -> Change:
    """Put another screen for each one of the trials."""

    def changed(file: experiment.ListFile) -> experiment.ListFile:
        trials = tuple(dataclasses.replace(step, screens=tuple(map(change, step.screens))) for step in file.script.trials)
        return dataclasses.replace(file, script=dataclasses.replace(file.script, trials=trials))

    return changed


def _of(site: Site, kind: str, trial: int) -> list[dict[str, Any]]:
    return [event for event in site.events() if event["kind"] == kind and event["trial"] == trial]


def _answers(site: Site) -> pd.DataFrame:
    """The responses of the session in order, without the times of texts that were read at once."""
    responses = experiment.collect(site.folder)["responses"].sort_values("trial")
    return responses[responses["task"] != "reading"]


# ------------------------------------------------------------------------------------------------------- a deadline


DEADLINE = 2500  # ms; a robot on a busy machine answers in time


def test_an_answer_after_the_deadline_is_none(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure="", show="whole", tasks=RATING + f"deadline = {DEADLINE}\n")) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.read()
                reader.at("acceptability")
                if n % 2:
                    reader.until(lambda: reader.name() != "acceptability")
                else:
                    reader.go("6")
            assert reader.code() == "GARDEN-PATH-1"
        responses = _answers(site)
        late = [event for n in (1, 3) for event in _of(site, "outcome", n) if event["screen"] == 1]
    assert responses["outcome"].tolist() == ["answered", "timeout"] * 2
    assert responses["response"].fillna("").tolist() == ["6", ""] * 2
    assert responses["rt"].isna().tolist() == [False, True] * 2
    for event in late:
        value = event["value"]
        assert (value["outcome"], value["answer"], value["side"], value["press"]) == ("timeout", None, None, None)
        assert event["t"] - value["display"]["frame"] == pytest.approx(DEADLINE), "when time was up"


# ------------------------------------------------------------------------------------------------------- timed words

PACE = Pace(word=250, pause=60)


def _paced(screen: Any) -> Any:
    exits = (Exit("interrupted", SKIP_STEP),)
    return dataclasses.replace(screen, pace=PACE, exits=exits) if screen.kind == "words" else screen


def test_timed_words_stand_as_many_frames_as_planned(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure=""), change=_screens(_paced)) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.at("start")
                reader.go()
                if n == 2:
                    reader.at("word")
                    reader.press("Space")  # hastens nothing
                reader.rate(5)
            assert reader.code() == "GARDEN-PATH-1"
        [visit] = [event["value"] for event in site.events() if event["kind"] == "visit"]
        readings = experiment.collect(site.folder)["readings"]
        words = {n: _of(site, "word", n) for n in range(4)}
        ignored = _of(site, "press", 2)
        read = {n: [event for event in _of(site, "outcome", n) if event["screen"] == 0] for n in range(4)}
    frame = 1000 / visit["refresh_hz"]
    stands, pauses = (max(least, round(ms / frame)) for ms, least in ((PACE.word, 1), (PACE.pause, 0)))
    assert [event["value"]["code"] for event in ignored] == ["Space"]
    stood: list[float] = []
    paused: list[float] = []
    for n, shown in words.items():
        start, *timed = shown
        texts = readings[readings["trial"] == n].sort_values("word")
        assert [event["value"]["word"] for event in timed] == list(range(len(texts)))
        assert start["value"]["press"] is not None
        assert all(event["value"]["press"] is None for event in timed)
        assert [(event["value"]["outcome"], event["t"]) for event in read[n]] == [("read", shown[-1]["t"])]
        stood += [(event["t"] - event["value"]["display"]["frame"]) / frame - stands for event in timed]
        paused += [(b["value"]["display"]["frame"] - a["t"]) / frame - pauses for a, b in pairwise(timed)]
        durations = [event["t"] - event["value"]["display"]["frame"] for event in timed]
        assert texts["duration"].tolist() == durations, "what was planned stands in the script, this is what was"
        assert texts["rt"].isna().all()
    for frames in (stood, paused):
        assert min(frames) > -1, "never shorter"
        # A busy machine drops frames, of any one word; what is planned a frame too long would show in each of them.
        assert statistics.quantiles(frames, n=4)[0] < 0.5, "within a frame of what was planned"


@pytest.mark.parametrize("left", ["blur", "resize"])
def test_who_leaves_while_words_run_does_not_see_them_again(tmp_path: Path, browser: Any, left: str) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure=""), change=_screens(_paced)) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.at("start")
                reader.go()
                if n != 1:
                    reader.rate(5)
                    continue
                reader.at("word")
                reader.page.wait_for_timeout(400)
                if left == "blur":
                    leave = "window.dispatchEvent(new Event('blur')), window.dispatchEvent(new Event('focus')), null"
                    reader.page.evaluate(leave)
                else:
                    reader.page.set_viewport_size({"width": 1000, "height": 640})
                reader.until(lambda: reader.screen() in ("cover", "start"))
                while reader.screen() == "cover":
                    reader.go()
            assert reader.code() == "GARDEN-PATH-1"
        outcomes = [event["value"]["outcome"] for n in range(4) for event in _of(site, "outcome", n)]
        begun = [event["trial"] for event in site.events() if event["kind"] == "begin" and event["trial"] is not None]
        tables = experiment.collect(site.folder)
    assert outcomes == ["read", "answered", "interrupted", "read", "answered", "read", "answered"], "the trial is over"
    assert begun == [0, 1, 2, 3]
    readings, responses = tables["readings"], tables["responses"]
    of = readings[readings["trial"] == 1]
    text = (
        next(t for f in site.list_files for t in f.trial_list.trials if t.item.id == of["item"].iloc[0])
        .shown_sentences[0][1]
        .list_words()
    )
    assert 0 < len(of) < len(text), "it stopped there"
    assert of["quality_flags"].fillna("").str.contains("interrupted").all(), "and what was read of it is marked"
    assert not readings[readings["trial"] != 1]["quality_flags"].fillna("").str.contains("interrupted").any()
    assert responses["trial"].tolist() == [0, 2, 3]


# ------------------------------------------------------------------------------------------------------- typed answers

COMPOSED = "window.composed = []; addEventListener('compositionstart', (e) => window.composed.push(e.timeStamp), true);"
COPY = ["Control+A", "Control+C", "End", "Control+V"]


def _typed(screen: Any) -> Any:
    if screen.kind != "answers":
        return screen
    return Entry(
        name="completion",
        task="rating",  # its rows are those of any answer
        prompt="How does it go on?",
        above=Passage("The key to the"),
        button="Continue",
        missing="Please type a few words.",
        longest=30,
    )


def test_a_typed_answer_is_what_was_typed_and_when_it_began(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    def type_it(reader: Reader, n: int) -> None:
        keyboard = reader.page.keyboard
        if n == 0:
            reader.press("Enter")
            reader.page.get_by_text("Please type a few words.").wait_for()
            assert reader.name() == "completion"
            keyboard.type("cabinets 1 f", delay=20)
            reader.go("Enter")
        elif n == 1:
            compose = reader.page.context.new_cdp_session(reader.page)
            for part in ("と", "とび", "とびら"):
                compose.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
            enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}  # as input methods get it
            for kind in ("rawKeyDown", "keyUp"):
                compose.send("Input.dispatchKeyEvent", {"type": kind, **enter})
            reader.page.wait_for_timeout(100)
            assert reader.name() == "completion"
            compose.send("Input.insertText", {"text": "扉"})
            reader.go("Enter")
        elif n == 2:
            keyboard.type("door", delay=20)
            for key in COPY:
                keyboard.press(key)
            reader.page.get_by_role("button", name="Continue").click()
            reader.until(lambda: reader.name() != "completion")
        else:
            keyboard.type("x" * 40)
            reader.go("Enter")

    with served(tmp_path, stated(procedure="", show="whole"), change=_screens(_typed)) as site:
        with opened(browser, f"{site.address}?participant=P1", (COMPOSED,)) as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.read()
                reader.at("completion")
                assert reader.page.get_by_text("The key to the", exact=True).is_visible()
                field = reader.page.locator("#stage input, #stage textarea")
                told = {name: field.get_attribute(name) for name in ("autocomplete", "autocorrect", "spellcheck")}
                assert told == {"autocomplete": "off", "autocorrect": "off", "spellcheck": "false"}
                assert reader.page.evaluate("document.activeElement.matches('input, textarea')"), "one can type at once"
                reader.page.wait_for_timeout(50)
                type_it(reader, n)
            assert reader.code() == "GARDEN-PATH-1"
            keys = [t for code, t, _, _ in reader.page.evaluate("window.keys") if code == "KeyC"]
            [composed] = reader.page.evaluate("window.composed")[:1]
        events = [event for n in range(4) for event in _of(site, "outcome", n) if event["screen"] == 1]
        responses = _answers(site)
    values = [event["value"] for event in events]
    assert responses["response"].tolist() == [value["answer"] for value in values]
    assert values[0]["answer"] == "cabinets 1 f"
    assert "扉" in values[1]["answer"]
    assert [value["answer"] for value in values[2:]] == ["doordoor", "x" * 30]
    assert [value["pasted"] for value in values] == [0, 0, 1, 0]
    assert [value["press"]["by"] for value in values] == ["key", "key", "button", "key"]
    assert 0 <= values[0]["first"] - keys[0] < 50, "when the first letter came"
    assert values[1]["first"] == composed
    for event, rt, first in zip(events, responses["rt"], responses["rt_first"], strict=True):
        frame = event["value"]["display"]["frame"]
        assert (rt, first) == (event["t"] - frame, event["value"]["first"] - frame)
        assert 0 < first < rt


# ------------------------------------------------------------------------------------------------------- word pairs

DELAY = 600


def _maze(redo: bool) -> Callable[[Any], Any]:
    """Word pairs for each sentence, the words in turn at the left and at the right."""

    def change(screen: Any) -> Any:
        if screen.kind != "words":
            return screen
        places = ("left", "right")
        return WordPairs(
            name="maze",
            task="centred",  # its rows are those of words
            pairs=tuple(Pair(w, "x-x-x" if not n else f"un{n}un", places[n % 2]) for n, w in enumerate(screen.words)),  # type: ignore[arg-type]
            hint="Choose the word that goes on with the sentence.",
            redo=redo,
            delay=DELAY if redo else 0,
            error="That was not the next word.",
            again="Now choose the other one.",
            sentence=screen.sentence,
            exits=() if redo else (Exit("wrong", SKIP_STEP),),
        )

    return change


def _choose(reader: Reader, words: list[str], wrong: Callable[[int], None]) -> int:
    """Choose the words of a sentence from the start mark, `wrong` before each; return how many pairs there were."""
    reader.at("start")
    assert reader.page.get_by_text("Choose the word that goes on").is_visible()
    reader.go()
    n = 0
    while reader.name() == "maze" and reader.screen() == "pair":
        left, right = words[n], "x-x-x" if not n else f"un{n}un"
        if n % 2:
            left, right = right, left
        boxes = [reader.page.get_by_text(one, exact=True).bounding_box()["x"] for one in (left, right)]
        assert boxes[0] < boxes[1]
        wrong(n)
        if reader.screen() != "pair":
            break
        reader.go((["f", "ArrowLeft"], ["j", "ArrowRight"])[n % 2][n // 2 % 2])
        n += 1
    return n


def _words(site: Site, trial: int) -> list[str]:
    """The words of the trial that comes."""
    with sqlite3.connect(site.database) as connection:
        [(sha256, order)] = connection.execute('SELECT list_sha256, "order" FROM sessions')
    file = next(file for file in site.list_files if file.sha256 == sha256)
    shown = file.trial_list.trials[json.loads(order)[trial]].shown_sentences
    return list(shown[0][1].list_displayed_words())


def test_a_wrong_word_is_corrected_after_the_delay(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    def err(reader: Reader, trial: int) -> Callable[[int], None]:
        def wrong(n: int) -> None:
            if trial != 1 or n != 2:
                return
            reader.press("j")  # the word stands at the left
            reader.page.get_by_text("That was not the next word.").wait_for()
            reader.page.keyboard.press("f", delay=20)  # the keys are dead
            reader.page.get_by_text("Now choose the other one.").wait_for()
            assert reader.screen() == "pair"

        return wrong

    with served(tmp_path, stated(procedure=""), change=_screens(_maze(redo=True))) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                words = _words(site, n)
                assert _choose(reader, words, err(reader, n)) == len(words)
                reader.rate(4)
            assert reader.code() == "GARDEN-PATH-1"
            pressed = [t for code, t, _, _ in reader.page.evaluate("window.keys") if not code.endswith(" up")]
        readings = experiment.collect(site.folder)["readings"].sort_values(["trial", "word"])
        start, *shown = _of(site, "word", 1)
        ignored = [(event["value"]["reason"], event["value"]["code"]) for event in _of(site, "press", 1)]
        ended = [event["value"]["outcome"] for n in range(4) for event in _of(site, "outcome", n)]
    assert ended == ["right", "answered", "wrong", "answered", *["right", "answered"] * 2]
    assert [event["value"]["correct"] for event in shown] == [n != 2 for n in range(len(shown))]
    assert {event["t"] for event in shown} | {event["value"]["first"] for event in shown} <= {*pressed}
    for n, event in enumerate(shown):
        waited = event["t"] - event["value"]["first"]
        assert waited == 0 if n != 2 else waited >= DELAY
    assert ("early", "KeyF") in ignored
    of = readings[readings["trial"] == 1]
    ends = [start["t"], *(event["t"] for event in shown)]
    assert of["rt"].tolist() == [after - before for before, after in pairwise(ends)]
    assert of["rt_first"].tolist() == [event["value"]["first"] - before for before, event in zip(ends, shown, strict=False)]
    assert of["correct"].astype(bool).tolist() == [n != 2 for n in range(len(shown))]


def test_a_wrong_word_ends_the_sentence_where_it_is_not_to_be_corrected(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure=""), change=_screens(_maze(redo=False))) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                words = _words(site, n)

                def wrong(word: int, n: int = n) -> None:
                    if (n, word) == (2, 3):
                        reader.go("f")  # the word stands at the right

                read = _choose(reader, words, wrong)
                assert read == (3 if n == 2 else len(words))
                if n != 2:
                    reader.rate(4)
            assert reader.code() == "GARDEN-PATH-1"
        tables = experiment.collect(site.folder)
        ended = [event["value"]["outcome"] for n in range(4) for event in _of(site, "outcome", n)]
    assert ended == ["right", "answered", "right", "answered", "wrong", "right", "answered"], "what follows is left out"
    of = tables["readings"][tables["readings"]["trial"] == 2].sort_values("word")
    assert of["word"].tolist() == [0, 1, 2, 3]
    assert of["correct"].astype(bool).tolist() == [True, True, True, False]
    assert of["rt"].isna().tolist() == [False, False, False, True]
    assert (of["rt_first"] > 0).all()
    assert tables["responses"]["trial"].tolist() == [0, 1, 3]


# ------------------------------------------------------------------------------------------------------- a phone


def test_a_study_without_a_keyboard_goes_on_by_touch_alone(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    device = "breaks = 1\n[procedure.device]\nkeyboard = false\nmin_width = 320\nmin_height = 480\n"
    phone = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}
    with served(tmp_path, stated(procedure=device, show="with_task")) as site:
        with opened(browser, f"{site.address}?participant=P1", **phone) as reader:
            rated = 0
            while not reader.page.locator(".code").count():
                before = reader.state()
                if before[0] == "answers":
                    rated += 1
                    if rated == 2:  # another program, and back; and the phone is turned
                        reader.page.evaluate("dispatchEvent(new Event('blur')); dispatchEvent(new Event('focus'))")
                        reader.page.set_viewport_size({"width": 780, "height": 390})
                        reader.page.evaluate(WAIT_FOR_PAINT_SCRIPT)
                    reader.page.locator(".point").nth(3).tap()
                elif before[0] == "text":
                    assert "space bar" not in reader.page.locator("#stage").inner_text()
                    reader.page.locator("button.first").tap()
                reader.until(lambda before=before: reader.state() != before or reader.page.locator(".code").count() > 0)
            assert reader.code() == "GARDEN-PATH-1"
        ends = [event["value"]["press"]["by"] for event in site.events() if event["kind"] == "outcome"]
        left = [event for event in site.events() if event["kind"] == "interruption"]
    assert (rated, set(ends)) == (4, {"touch"})
    assert {event["value"]["reason"] for event in left} >= {"blur", "focus", "resize"}
    assert experiment.collect(site.folder)["responses"]["response"].tolist() == ["4"] * 4
