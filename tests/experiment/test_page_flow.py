"""What comes next is the script's to say, in real Chromium: pages and rounds by what was answered, none of them twice."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment
from gardenpath.experiment.tasks.answer_options import build_answers
from gardenpath.study.screens import Answers, Exit, Step

from .pages import DESIGN, RATING, Reader, browser, opened, served, stated  # noqa: F401
from .test_tasks import EASE, QUESTION, _items

pytestmark = pytest.mark.browser

ASKED = DESIGN.replace(
    '["She slept well."]',
    '[{ sentence = "She slept well.", question = "Who slept well?", answer = "she", choices = ["she", "he"] }]',
)


def _answered(reader: Reader) -> list[str]:
    """Read and answer the questions of a session with their first answers, and rate; return what was shown, by name."""
    seen: list[str] = []
    while not reader.page.locator(".code").count():
        kind, name, _ = reader.state()
        if kind == "message":
            reader.page.wait_for_timeout(20)
            continue
        seen.append(name)
        reader.read() if kind == "start" else reader.go("1" if kind == "answers" else "Space")
    return seen


def test_a_page_before_a_block_and_the_front_pages_are_not_shown_again_after_a_reload(
    tmp_path: Path,
    browser: Any,  # noqa: F811
) -> None:
    text = stated(
        procedure='[[procedure.pages]]\nblock = 2\ntext = "Now come others.\\n\\nAs slow as you like."\n',
        tasks=RATING + "[ordering]\nblocks = 3\n",
    )
    with served(tmp_path, text) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.consent()
            reader.at("instructions")
            first = reader.page.locator(".sheet").inner_text()
            reader.go()
            reader.page.reload()
            reader.at("instructions")
            assert reader.page.locator(".sheet").inner_text() != first, "the page after the one that was read"
            reader.trials(2)
            reader.at("page")
            assert reader.page.locator(".sheet p").all_text_contents() == ["Now come others.", "As slow as you like."]
            reader.page.reload()
            reader.at("page")
            reader.go()
            reader.at("start")
            reader.page.reload()
            reader.until(lambda: reader.screen() != "")
            assert reader.screen() == "start", "the page was read"
            reader.trials(2)
            assert reader.code() == "GARDEN-PATH-1"
        events = site.events()
    done = [event["step"] for event in events if event["kind"] == "done"]
    assert done == list(range(len(done))), "each step once"
    assert {event["visit"] for event in events} == {0, 1, 2, 3}
    assert [event["seq"] for event in events] == list(range(len(events)))


SCREENER = """\
[[procedure.screener]]
name = "native"
question = "Did you learn English before you were five?"
choices = ["yes", "partly", "no"]
accepted = ["yes", "partly"]
quotas = { yes = 1 }
"""
ASKED_BEFORE = Answers(
    name="asked_before",
    prompt="Did you learn English before you were five?",
    answers=build_answers(["yes", "no"], ["yes", "no"], "ltr"),
    right=("yes",),
    is_judged_by_player=True,
    exits=(Exit("wrong", "refused"),),
)


def _asked_before_consent(file: experiment.ListFile) -> experiment.ListFile:
    """Put a question before consent, which is then the third step."""
    first, *others = file.script.front
    front = (first, Step("asked_before", (ASKED_BEFORE,)), *others)
    return dataclasses.replace(file, script=dataclasses.replace(file.script, front=front, consent=2))


def test_who_is_let_in_by_a_question_is_not_asked_it_again(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure=SCREENER, show="whole")) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.consent()
            assert reader.at("screener", "instructions") == "screener"
            reader.page.get_by_role("button", name="Continue").click()
            assert reader.page.get_by_role("alert").first.inner_text() == "Please answer this question."
            _answer(reader, "yes")
            reader.at("instructions")
            reader.page.reload()
            reader.until(lambda: reader.screen() != "")
            assert reader.name() == "instructions"
            reader.trials(4)
            reader.code()
        outcomes = [event["value"] for event in site.events() if event["kind"] == "outcome" and event["step"] == 2]
        assert [(value["outcome"], value["answer"]) for value in outcomes] == [("accepted", {"native": "yes"})]
        tables = experiment.collect(site.folder)
        assert tables["sessions"]["complete"].tolist() == [True]
        assert tables["demographics"][["question", "response"]].to_numpy().tolist() == [["native", "yes"]]


def test_who_is_screened_out_leaves_with_that_ending_and_without_data(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    text = stated(procedure=SCREENER) + 'screened_out_code = "NOT-THIS-ONE"\n'
    with served(tmp_path, text) as site:
        for person, given in (("P1", "yes"), ("P2", "no"), ("P3", "yes")):  # the quota is one
            with opened(browser, f"{site.address}?PROLIFIC_PID={person}") as reader:
                reader.consent()
                reader.at("screener")
                if person == "P2":  # the first call is lost, and so is the answer to the second
                    _lose(reader.page)
                _answer(reader, given)
                if person == "P1":
                    reader.at("instructions")
                    continue
                reader.page.get_by_text("This study looks for participants with another background.").wait_for()
                assert reader.code() == "NOT-THIS-ONE"
        assert site.sessions() == 1


def _answer(reader: Reader, choice: str) -> None:
    reader.page.get_by_label("Did you learn English").select_option(choice)
    reader.page.get_by_role("button", name="Continue").click()


def _lose(page: Any) -> None:
    """Let the next call to the screener fail, and lose the answer to the one after that."""
    calls: list[str] = []

    def lose(route: Any) -> None:
        calls.append(route.request.url)
        if len(calls) == 2:
            route.fetch()
        route.abort() if len(calls) < 3 else route.continue_()

    page.route("**/screener", lose)


def test_what_is_asked_before_consent_is_told_only_after_it(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(show="whole"), change=_asked_before_consent) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.at("device")
            reader.go()
            reader.at("asked_before")
            reader.go("f")
            reader.at("consent")
            reader.page.wait_for_timeout(300)
            assert not site.events()
            assert _kept(reader.page) == 0, "nor is it kept here"
            reader.begin()
            reader.trials(4)
            reader.code()
        events = site.events()
    step = ["begin", "outcome", "done"]
    assert [(event["kind"], event["step"]) for event in events[:10]] == [
        ("visit", None),
        *((kind, number) for number in (0, 1, 2) for kind in step),
    ]
    asked, consented = (event["t"] for event in events[:10] if event["kind"] == "outcome" and event["step"] in (1, 2))
    assert 0 < asked < consented, "at the time at which it was answered"


def _kept(page: Any) -> int:
    """How many events this browser keeps of this origin."""
    counted: int = page.evaluate(
        """async () => {
          let sum = 0;
          for (const { name } of await indexedDB.databases()) {
            const opened = await new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
            const asked = opened.transaction("events").objectStore("events").count();
            sum += await new Promise((done) => (asked.onsuccess = () => done(asked.result)));
            opened.close();
          }
          return sum;
        }"""
    )
    return counted


def test_reading_with_questions_and_no_rating_is_run_and_collected(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(procedure="", tasks="", ask=["question"]), _items()) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            seen = _answered(reader)
            assert reader.code() == "GARDEN-PATH-1"
        tables = experiment.collect(site.folder)
    assert seen == ["centred", "practice_over", *3 * ["context", "centred", "question"]]
    assert [list(group["text"]) for _, group in tables["readings"].groupby("trial")] == reader.sentences
    asked = tables["responses"][tables["responses"]["task"] != "reading"]
    assert asked[["task", "prompt"]].to_numpy().tolist() == 3 * [["question", "question"]]
    assert dict(zip(asked["item"], asked["outcome"], strict=True)) == {"a-0": "right", "a-1": "right", "a-2": "wrong"}


def test_two_scales_come_one_after_the_other_and_stay_apart(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated(show="whole", tasks=RATING + EASE, ask=["ease", "acceptability"])) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.read()
                assert reader.at("ease", "acceptability") == "ease"
                assert "easy" in reader.page.locator(".prompt").inner_text()
                reader.go(str(n + 1))
                assert reader.at("ease", "acceptability") == "acceptability"
                assert "good" in reader.page.locator(".prompt").inner_text()
                reader.go("7")
            reader.code()
        responses = experiment.collect(site.folder)["responses"]
    responses = responses[responses["task"] != "reading"]
    assert responses[["task", "prompt"]].to_numpy().tolist() == 4 * [["rating", "ease"], ["rating", "acceptability"]]
    assert responses["response"].tolist() == [answer for n in range(4) for answer in (str(n + 1), "7")]


def test_feedback_after_every_question_says_whether_it_was_right(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    text = stated(procedure="", show="whole", tasks=QUESTION + 'feedback = "always"\n', ask=["comprehension"])
    said = []
    with served(tmp_path, text, _items()) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for _ in range(4):
                while reader.name() != "whole":
                    reader.go()
                reader.read()
                if reader.at("comprehension", "practice_over") == "comprehension":
                    reader.go("1")
                    reader.at("feedback")
                    said.append(reader.page.locator(".sheet p").inner_text())
                    reader.go()
            reader.code()
        responses = experiment.collect(site.folder)["responses"]
    asked = responses[responses["task"] == "question"]
    assert asked["correct"].map({True: "That was the right", False: "That was not the right"}).tolist() == [
        text.partition(" answer.")[0] for text in said
    ]
    assert {True, False} == {*asked["correct"]}, "both are seen"
    assert asked["outcome"].tolist() == ["right" if right else "wrong" for right in asked["correct"]]


PRACTISED = stated(
    ASKED,
    show="whole",
    procedure="[procedure.practice]\ncriterion = 1.0\nmax_rounds = 3\n",
    tasks=QUESTION + RATING,
    ask=("comprehension", "acceptability"),
)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_practice_goes_on_until_enough_was_right(tmp_path: Path, browser: Any, wrong: int) -> None:  # noqa: F811
    """In three rounds at most; a reload between them changes nothing."""
    rounds = min(wrong + 1, 3)
    with served(tmp_path, PRACTISED) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for n in range(rounds):
                reader.read()
                reader.at("comprehension")
                reader.go("2" if n < wrong else "1")
                reader.at("feedback")
                reader.go()
                reader.rate(4)
                last = n + 1 == rounds
                assert reader.at("practice_over", "practice_again") == ("practice_over" if last else "practice_again")
                if not last:
                    reader.page.reload()
                    reader.at("practice_again")
                    reader.go()
            reader.trials(3)
            assert reader.code() == "GARDEN-PATH-1"
        responses = experiment.collect(site.folder)["responses"]
    asked = responses[responses["task"] == "question"]
    assert asked["correct"].tolist() == ([False] * wrong + [True])[:3]
    assert asked["role"].unique().tolist() == ["practice"]
    rated = responses[(responses["task"] == "rating") & (responses["role"] == "target")]
    assert len(rated) == rated["trial"].nunique() == 3


def test_who_magnifies_the_page_twice_on_a_laptop_takes_part(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    """A window of 1366 x 660 px at 200 %, as Chromium describes it; of a window that is small without zoom more is asked."""
    laptop = "Object.defineProperty(window, 'outerWidth', { get: () => 1366 });"
    small = {"viewport": {"width": 683, "height": 330}}
    with served(tmp_path, stated()) as site:
        with opened(browser, f"{site.address}?participant=P1", (laptop,), device_scale_factor=2, **small) as reader:
            reader.begin()
            for n in range(4):
                reader.skip_text()
                reader.read()
                reader.at("acceptability")
                boxes = [one.bounding_box() for one in reader.page.locator("#stage button").all()]
                assert boxes
                assert all(box["x"] >= 0 and box["x"] + box["width"] <= 683 for box in boxes)
                assert all(box["y"] >= 0 and box["y"] + box["height"] <= 330 for box in boxes)
                reader.rate(1 + n)
            assert reader.code() == "GARDEN-PATH-1"
        with opened(browser, f"{site.address}?participant=P2", screen={"width": 1366, "height": 768}, **small) as reader:
            reader.page.get_by_text("The window is too small for this study.").wait_for()


def test_a_page_is_light_where_the_browser_is_dark(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    procedure = '[[procedure.demographics]]\nname = "age"\nlabel = "Age"\n' + SCREENER
    with (
        served(tmp_path, stated(procedure=procedure)) as site,
        opened(browser, f"{site.address}?participant=P1", color_scheme="dark") as reader,
    ):
        reader.consent()
        reader.at("screener")
        style = "(one) => [getComputedStyle(one).colorScheme, getComputedStyle(one).backgroundColor]"
        scheme, _ = reader.page.evaluate(f"({style})(document.documentElement)")
        assert sorted(scheme.split()) == ["light", "only"]
        _, background = reader.page.locator("select").evaluate(style)
        assert background == "rgb(255, 255, 255)"
