"""Every task and presentation in real Chromium: robots and readers answer them, and the tables say what was done."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment
from gardenpath.experiment.sessions.sessions import build_payload, open_session, replay_session_events

from .pages import DESIGN, RATING, Site, browser, opened, robot_takes, served, stated  # noqa: F401

pytestmark = pytest.mark.browser

SLIDER = RATING + 'scale = "slider"\n'
YES_NO = '[procedure.tasks.acceptability]\nkind = "rating"\nscale = "yes_no"\nprompt = "Is this a good sentence?"\n'
PAIRS = 'trial = "pair"\nitems = 2\nratio = { grammatical = 1, ungrammatical = 1 }\nlists = 2\npractice = [["She slept.", "Slept she."]]\n'
QUESTION = '[procedure.tasks.comprehension]\nkind = "question"\n'
BOTH = ("comprehension", "acceptability")
EASE = RATING.replace("acceptability", "ease").replace("good does this sentence sound", "easy was this sentence")
AGE = '[[procedure.demographics]]\nname = "age"\nlabel = "How old are you?"\nkind = "number"\nmin = 18\nmax = 99\n'
HAND = '[[procedure.demographics]]\nname = "hand"\nlabel = "Which hand do you write with?"\nkind = "choice"\nchoices = ["left", "right"]\n'


def _items() -> str:
    """Three pairs with a context and a question of two or three answers."""
    records: list[dict[str, Any]] = [{"record": "paradigm", "id": "agreement", "phenomenon": "agreement"}]
    for n, (noun, place) in enumerate([("key", "cabinets"), ("road", "farms"), ("label", "bottles")]):
        sentences = {
            condition: {"text": f"The {noun} near the {place} {verb} old and rusty.", "regions": []}
            for condition, verb in (("grammatical", "is"), ("ungrammatical", "are"))
        }
        choices = ["yes", "no"] if n else ["a key", "a lamp", "a door"]
        question = {"text": f"Was it {noun}?", "answers": dict.fromkeys(sentences, choices[n == 2]), "choices": choices}
        records.append(
            {
                "record": "item",
                "id": f"a-{n}",
                "paradigm": "agreement",
                "language": "en",
                "sentences": sentences,
                "question": question,
                "context": "Somebody came home late.",
            }
        )
    return "\n".join(json.dumps(record) for record in records) + "\n"


STUDIES = {
    "questions and ratings by key, centred": stated(tasks=QUESTION + RATING, ask=BOTH),
    "questions and no rating, with feedback": stated(procedure="", tasks=QUESTION + 'feedback = "always"\n', ask=["comprehension"]),
    "slider, moving window": stated(procedure=AGE + HAND, tasks=SLIDER, show="moving_window"),
    "yes or no, cumulative": stated(procedure="", tasks=YES_NO, show="cumulative"),
    "whole sentences, practice centred": stated(procedure='[procedure.practice]\nshow = "centred"\n', show="whole", tasks=RATING),
    "sentence above the scale": stated(tasks=QUESTION + RATING, ask=BOTH, show="with_task"),
    "two scales, one after the other": stated(tasks=RATING + EASE, ask=["acceptability", "ease"]),
    "choice side by side": stated(PAIRS, procedure="", tasks="", show="with_task", ask=["choice"]),
    "choice between stacked sentences read before": stated(
        PAIRS, procedure="", tasks='[procedure.tasks.better]\nkind = "choice"\narrangement = "stacked"\n', ask=["better"]
    ),
}


def _script(site: Site, robot: experiment.Robot, name: str, tables: dict[str, Any]) -> list[dict[str, Any]]:
    """The events that the robot meant to produce in the session that it took."""
    [row] = tables["sessions"].to_dict("records")
    file = next(f for f in site.list_files if f.name == f"{row['experiment']}-{row['list']}")
    session = open_session(file, row["slot"], id="s", participant=name, started="x", source="robot")
    return list(
        robot.simulate_events(
            build_payload(session, file, replay_session_events(session, file), token="", visit=0, next_seq=0), name
        )
    )


@pytest.mark.parametrize("name", STUDIES)
def test_a_robot_at_the_keyboard_does_what_it_meant_to_do(tmp_path: Path, browser: Any, name: str) -> None:  # noqa: F811
    with served(tmp_path, STUDIES[name], _items()) as site:
        robot = experiment.create_robot(site.list_files, seed=3)
        assert robot_takes(robot, site, "anna", browser, pace=20) == "GARDEN-PATH-1"
        tables = experiment.collect(site.folder)
        script = _script(site, robot, "anna", tables)
        done = site.events()
    assert [what(e) for e in done if e["kind"] in STEPS] == [what(e) for e in script if e["kind"] in STEPS]
    assert tables["sessions"]["complete"].tolist() == [True]
    assert tables["sessions"]["source"].tolist() == ["robot"]
    answered = [e["value"] for e in script if e["kind"] == "outcome" and e["value"]["answer"] is not None]
    responses, asked = tables["responses"], [str(v["answer"]) for v in answered if not isinstance(v["answer"], dict)]
    assert responses[responses["task"] != "reading"]["response"].tolist() == asked
    assert len(tables["readings"]) == sum(e["kind"] == "word" and e["value"]["word"] >= 0 for e in script)


STEPS = ("begin", "word", "outcome", "done")


def what(event: dict[str, Any]) -> tuple[Any, ...]:
    """Of an event all but its times and the device."""
    value = event["value"]
    return (event["kind"], event["step"], event["screen"], *(value.get(key) for key in ("word", "outcome", "answer", "side")))


def test_a_question_is_right_or_wrong_a_rating_neither(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(tasks=QUESTION + RATING, ask=BOTH), _items()) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            given = []
            for _ in range(4):
                reader.skip_text()
                if reader.name() == "context":
                    reader.go()
                reader.read()
                if reader.at(*BOTH) == "comprehension":
                    labels = reader.page.locator(".answers button span").all_text_contents()
                    assert labels in (["yes", "no"], ["a key", "a lamp", "a door"]), "as they are written"
                    given.append(labels[1])
                    reader.page.locator(".answers button").nth(1).click()
                reader.rate(4)
            reader.code()
        responses = experiment.collect(site.folder)["responses"]
    asked = responses[responses["task"] == "question"]
    assert asked["response"].tolist() == given
    assert asked["correct"].tolist() == [item == "a-2" for item in asked["item"]], "the second answer is right once"
    assert responses[responses["task"] == "rating"]["correct"].isna().all()
    assert (asked["rt"] > 0).all()
    contexts = responses[responses["task"] == "reading"]
    assert contexts["prompt"].tolist() == ["context"] * 3
    answered = [e["value"] for e in site.events() if e["kind"] == "outcome" and e["value"]["outcome"] == "answered"]
    by = {isinstance(value["answer"], str): value["press"]["by"] for value in answered}
    assert by == {True: "button", False: "key"}


def test_practice_questions_have_feedback_and_ratings_none(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    asked = '[{ sentence = "She slept well.", question = "Who slept well?", answer = "she", choices = ["she", "he"] }]'
    design = DESIGN.replace('["She slept well."]', asked)
    with (
        served(tmp_path, stated(design, tasks=QUESTION + RATING, ask=BOTH)) as site,
        opened(browser, f"{site.address}?participant=P1") as reader,
    ):
        reader.begin()
        reader.read()
        reader.at("comprehension")
        reader.go("2")
        reader.at("feedback")
        assert "The right answer is: she" in reader.page.locator(".sheet").inner_text()
        reader.go()
        reader.rate(3)
        reader.at("practice_over")
        assert "practice" in reader.page.locator(".sheet").inner_text(), "nothing is said of the rating"
        judged = experiment.collect(site.folder)["responses"].set_index("task")["correct"].dropna()
        assert judged.to_dict() == {"question": False}


@pytest.mark.parametrize("display", ["", "\n[procedure.display]\nline_width = 20\nfont_size = 24\nfont = 'monospace'\n"])
def test_a_moving_window_shows_one_word_in_its_place(display: str, tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(show="moving_window") + display) as site:
        with opened(browser, f"{site.address}?participant=P1", viewport={"width": 820, "height": 600}) as reader:
            reader.begin()
            for _ in range(4):
                reader.skip_text()
                reader.at("start")
                words = reader.page.locator(".lines span")
                places = words.evaluate_all("spans => spans.map((s) => [s.offsetLeft, s.offsetTop])")
                assert reader.page.locator(".covered").count() == words.count()
                edges = words.evaluate_all("spans => spans.map((s) => s.getBoundingClientRect().right)")
                assert max(edges) <= 820
                if display:
                    style = reader.page.locator(".lines").evaluate(
                        "e => [getComputedStyle(e).fontSize, getComputedStyle(e).fontFamily]"
                    )
                    assert style == ["24px", "monospace"]
                reader.go()
                seen = []
                while reader.screen() == "word":
                    uncovered = reader.page.locator(".lines span:not(.covered)")
                    assert uncovered.count() == 1
                    seen.append(uncovered.text_content())
                    assert words.evaluate_all("spans => spans.map((s) => [s.offsetLeft, s.offsetTop])") == places
                    reader.go()
                reader.sentences.append(seen)
                reader.rate(4)
            reader.code()
        events = [e for e in site.events() if e["kind"] == "word"]
        readings = experiment.collect(site.folder)["readings"]
    assert [list(group["text"]) for _, group in readings.groupby("trial")] == reader.sentences
    for trial in {e["trial"] for e in events} - {0}:
        values = [e["value"] for e in events if e["trial"] == trial and e["value"]["word"] >= 0]
        lines, columns = [v["line"] for v in values], [v["column"] for v in values]
        assert (max(lines) > 0) == bool(display), "a line as long as the study says, on every screen"
        for (line, column), (after, next_column) in pairwise(zip(lines, columns, strict=True)):
            assert (after, next_column) in ((line, column + 1), (line + 1, 0))


def test_a_slider_must_be_moved_before_going_on(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure="", tasks=SLIDER)) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.read()
                reader.at("slider")
                button = reader.page.get_by_role("button", name="Continue")
                assert button.is_disabled()
                reader.press("Space")
                assert reader.screen() == "slider"
                for _ in range(3):
                    reader.page.keyboard.press("ArrowRight")
                if n % 2:
                    button.click()
                    reader.until(lambda: reader.screen() != "slider")
                else:
                    reader.go()
            reader.code()
        answers = [e["value"]["answer"] for e in site.events() if e["kind"] == "outcome"]
        assert [answer for answer in answers if answer is not None] == [53] * 4


def test_a_choice_is_the_condition_chosen_and_the_side_where_it_stood(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    keys = ["f", "ArrowRight", "j"]
    with served(tmp_path, STUDIES["choice side by side"]) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            shown = []
            for key in keys:
                reader.skip_text()
                reader.at("choice")
                texts = reader.page.locator(".pair button span").all_text_contents()
                boxes = [button.bounding_box() for button in reader.page.locator(".pair button").all()]
                assert boxes[0]["x"] < boxes[1]["x"]
                shown.append(texts)
                reader.go(key)
            reader.code()
        responses = experiment.collect(site.folder)["responses"].sort_values("trial")
    assert responses["side"].tolist() == ["left", "right", "right"]
    for row, texts, side in zip(responses.itertuples(), shown, (0, 1, 1), strict=True):
        if row.role == "practice":
            continue
        assert row.correct == (row.response == "grammatical") == (" is " in texts[side])
