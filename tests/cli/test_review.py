"""gardenpath review: the page by keys in Chromium, a kill in the middle, two windows, agreement, settling and what is written."""

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, stimuli, study
from gardenpath.cli.review_page import Review, ReviewError, render_guidelines
from gardenpath.stimuli.drafting.reviews import TICK_MEANINGS, build_queue, read_log

from ..conftest import run_here

ALL = dict.fromkeys(TICK_MEANINGS, True)


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    """Twelve drafts in Hebrew, one with a finding."""
    nouns = ["הילד", "המורה", "הכלב", "השופט", "הרופא", "השכן", "הנגר", "האופה", "הטבח", "הזמר", "הצייר", "החייל"]
    items = tuple(
        stimuli.Item(
            f"d{k:02d}", "number",
            {"grammatical": stimuli.Sentence(f"{noun} ישן עכשיו."), "ungrammatical": stimuli.Sentence(f"{noun} ישנים עכשיו.")},
            language="he", extra={"origin": "draft", **({"draft_findings": "near copy of draft d00"} if k == 3 else {})},
        )
        for k, noun in enumerate(nouns)
    )  # fmt: skip
    stimuli.write(stimuli.Materials((stimuli.Paradigm("number", "agreement"),), items), tmp_path / "draft.jsonl")
    return tmp_path / "draft.jsonl"


def sitting(draft: Path, who: str, **more: Any) -> Review:
    return Review("t", who, build_queue(stimuli.read(draft), who), draft.with_name("reviews.jsonl"), **more)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ('[a](https://x.org/"onclick="b)', '<p><a href="https://x.org/%22onclick=%22b">a</a></p>\n'),
        ("![a](https://x.org/spy.png)", '<p>!<a href="https://x.org/spy.png">a</a></p>\n'),
        ("", ""),
    ],
)
def test_guidelines_are_shown_as_markdown_and_never_as_html_of_their_own(markdown: str, html: str) -> None:
    assert render_guidelines(markdown) == html


def test_a_decision_that_is_not_whole_is_refused_and_leaves_no_line(drafts: Path) -> None:
    review = sitting(drafts, "Ann")
    first = review.build_state()["pairs"][0]
    asked = {"item": first["id"], "condition": "", "ticks": ALL, "seen": 0}
    for change, message in [
        ({"action": "accept", "ticks": {**ALL, "fits": False}}, "all four ticks"),
        ({"action": "drop"}, "takes a reason"),
        ({"action": "correct"}, "texts of both"),
        ({"action": "correct", "texts": {m["condition"]: m["text"] for m in first["members"]}}, "nothing was changed"),
        ({"action": "correct", "texts": {"grammatical": "א ב.", "ungrammatical": "א ב."}}, "both members are the same"),
        ({"action": "correct", "texts": {"grammatical": " ", "ungrammatical": "א ב."}}, "a member is empty"),
        ({"action": "like"}, "no decision"),
        ({"action": "undo"}, "nothing to take back"),
        ({"action": "accept", "item": "other"}, "not in the draft"),
        ({"action": "accept", "seen": 4}, "another window"),
    ]:
        with pytest.raises(ReviewError, match=message):
            review.add_decision({**asked, **change})
    with pytest.raises(ReviewError):
        review.add_decision(["accept"])
    assert not review.log.exists()
    review.add_decision({**asked, "action": "accept"})
    with pytest.raises(ReviewError, match="another window"):
        review.add_decision({**asked, "action": "drop", "reason": "x"})


def test_agreement_settling_and_writing_follow_from_the_log(drafts: Path) -> None:
    for who, dropped in (("Ann", {"d01"}), ("Bob", {"d01", "d02"})):
        review = sitting(drafts, who)
        for entry in review.build_state()["pairs"]:
            drop = entry["id"] in dropped or (who == "Bob" and entry["id"].startswith("injected"))
            action = {"action": "drop", "reason": "odd"} if drop else {"action": "accept"}
            review.add_decision({**action, "item": entry["id"], "condition": "", "ticks": ALL, "seen": 0})
    ran = run_here("gardenpath review draft.jsonl --agreement", drafts.parent)
    assert ran.code == 0, ran.said
    assert "Ann: noticed 0 of 1 known-bad pairs\nBob: noticed 1 of 1 known-bad pairs" in ran.printed
    table = study.read(drafts.parent, "review_agreement").set_index("measure")
    assert table.loc["keep", "n_decided"] == 12
    assert table.loc["keep", "agreement"] == pytest.approx(11 / 12)
    ran = run_here("gardenpath review draft.jsonl --write items.jsonl", drafts.parent)
    assert ran.code == 0, ran.said
    assert "not agreed on: d02" in ran.said
    assert len(stimuli.read(drafts.parent / "items.jsonl").items) == 10
    settler = sitting(drafts, "Cem", is_settling=True)
    entry = next(one for one in settler.build_state()["pairs"] if one["id"] == "d02")
    assert entry["others"] == ["Ann accepted", "Bob dropped: odd"]
    settler.add_decision({"action": "accept", "item": "d02", "condition": "", "ticks": ALL, "seen": 0})
    ran = run_here("gardenpath review draft.jsonl --write items.jsonl --force", drafts.parent)
    items = stimuli.read(drafts.parent / "items.jsonl").items
    assert len(items) == 11
    assert items[0].extra["reviewers"] == "Ann, Bob"
    counts = study.read(drafts.parent, "drafting").set_index(["step", "reason"])["n_pairs"]
    assert (counts["accepted", "none"], counts["dropped", "odd"]) == (11, 1)
    assert run_here("gardenpath review draft.jsonl --adjudicate Cem", drafts.parent).code == 1


def test_what_a_blind_reviewer_judges_otherwise_is_named(drafts: Path) -> None:
    review = Review("t", "Eva", build_queue(stimuli.read(drafts), "Eva", blind=True), drafts.with_name("reviews.jsonl"), blind=True)
    for entry in review.build_state()["pairs"]:
        liked = entry["condition"] == "grammatical" or entry["id"] == "d07"
        asked = {"item": entry["id"], "condition": entry["condition"], "seen": 0}
        review.add_decision({**asked, "action": "acceptable" if liked else "unacceptable"})
    ran = run_here("gardenpath review draft.jsonl --agreement", drafts.parent)
    assert ran.code == 0, ran.said
    assert ran.printed == "Eva, blind: 1 of 24 sentences judged otherwise than meant: d07 (ungrammatical)\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gardenpath review draft.jsonl", "expected one of --reviewer"),
        ("gardenpath review draft.jsonl --reviewer A --agreement", "expected one of"),
        ("gardenpath review draft.jsonl --agreement", "no decision yet"),
        ("gardenpath review draft.jsonl --write items.jsonl", "no pair is kept so far"),
        ("gardenpath review draft.jsonl --adjudicate C", "nothing to adjudicate"),
    ],
)
def test_what_cannot_be_done_yet_is_said(drafts: Path, line: str, message: str) -> None:
    ran = run_here(line, drafts.parent)
    assert ran.code in (1, 2)
    assert message in ran.said


@pytest.fixture
def started(drafts: Path) -> Iterator[Callable[..., tuple[Any, str]]]:
    """Starts the command and returns its process and the address of its page."""
    running = []

    def start(*words: str) -> tuple[Any, str]:
        call = [sys.executable, "-m", "gardenpath.cli.main", "review", str(drafts), "--no-browser", *words]
        process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ})
        running.append(process)
        found = re.search(r"http\S+", process.stdout.readline())
        assert found
        return process, found[0]

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.browser
@pytest.mark.slow
def test_pairs_are_reviewed_by_keys_alone_and_a_kill_loses_nothing(drafts: Path, started, tmp_path: Path) -> None:
    sync = pytest.importorskip("playwright.sync_api", reason="the extra browser is not installed")
    chromium = experiment.find_chromium()
    if chromium is None:
        pytest.skip("there is no Chromium")
    guidelines = tmp_path / "g.md"
    guidelines.write_text("# Read it aloud\n\n- *twice* <img src=x onerror='document.title=1'>\n")
    words = ("--reviewer", "Ann", "--guidelines", str(guidelines))
    process, address = started(*words)
    log = drafts.with_name("reviews.jsonl")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))

        def at(n: int) -> None:
            sync.expect(page.locator("#position")).to_contain_text(f"{n} of 13")

        def press(*keys: str) -> None:
            for key in keys:
                page.keyboard.press(key)

        page.goto(address)
        at(1)
        assert page.get_by_role("heading", name="Read it aloud", level=3).is_visible()
        assert page.locator("#guidelines li em").inner_text() == "twice"
        assert page.locator("#guidelines img").count() == 0
        assert page.evaluate("getComputedStyle(document.querySelector('.sentence')).direction") == "rtl"
        assert page.evaluate("document.documentElement.scrollHeight") <= 720
        assert page.locator("mark").count() == 2
        press("1", "2", "3", "a")
        sync.expect(page.locator("#message")).to_contain_text("all four ticks")
        assert page.locator("#heard").inner_text() == "nothing else is wrong with either: yes"
        at(1)
        press("4", "a")
        at(2)
        press("e", "End")
        page.keyboard.type(" מאוד")
        press("Control+Enter")
        at(3)
        press("d", "3")
        at(4)
        press("d", "o")
        page.keyboard.type("משעמם")
        press("Enter")
        at(5)
        press("ArrowLeft", "u")
        sync.expect(page.locator("#stands")).to_be_empty()
        process.send_signal(signal.SIGKILL)
        process.wait()
        press("1", "2", "3", "4", "a")
        sync.expect(page.locator("#message")).not_to_be_empty()  # it says so, and stays where it is
        before, _ = read_log(log)
        _, address = started(*words)
        page.goto(address)
        at(4)
        press("1", "2", "3", "4", "a")
        at(5)
        press("1", "2", "3", "4", "a", "1", "2", "3", "4", "a", "d", "1")  # faster than the answers come
        at(8)
        page.goto(address.split("?")[0])
        sync.expect(page.locator("#message")).to_contain_text("opened by the address")
        browser.close()
    after, broken = read_log(log)
    assert after[:-4] == before
    assert [one.action for one in after] == ["accept", "correct", "drop", "drop", "undo", *["accept"] * 3, "drop"]
    assert [one.reason for one in after][2:4] == ["does not fit the paradigm", "משעמם"]
    assert not broken
    assert len({one.guidelines for one in after}) == 1
    assert all("127.0.0.1" in url or url.startswith("data:") for url in asked)
    names = [one.item.id for one in build_queue(stimuli.read(drafts), "Ann")]
    assert [one.item for one in after] == [names[0], names[1], names[2], names[3], names[3], *names[3:7]]
    assert next(itertools.chain(after)).ticks == ALL
