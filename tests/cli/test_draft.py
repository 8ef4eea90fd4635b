"""gardenpath draft: pasted answers, a chat endpoint that drops, stalls and refuses, and a small model of transformers."""

import itertools
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gardenpath import stimuli, study

from ..conftest import run_here

ITEMS = """paradigm,phenomenon,item,condition,sentence
number,agreement,i1,grammatical,The nurse near the doors [is] tired today.
number,agreement,i1,ungrammatical,The nurse near the doors [are] tired today.
number,agreement,i2,grammatical,The cook behind the trucks [is] late again.
number,agreement,i2,ungrammatical,The cook behind the trucks [are] late again.
"""
NOUNS = ["judge", "king", "poet", "clerk", "guard", "scout", "monk", "bride", "groom", "thief"]


def said(nouns: list[str]) -> str:
    return "Sure!\n" + "".join(
        f"{k}. Correct: The {noun} beside the towers is angry now.\nIncorrect: The {noun} beside the towers are angry now.\n"
        for k, noun in enumerate(nouns, start=1)
    )


class Chat(ThreadingHTTPServer):
    """A stand-in for an OpenAI-compatible chat server: it answers what stands in `script`, one entry a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.script: list[str | int | None] = []
        self.asked: list[dict] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Answer(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        what = self.server.script.pop(0)
        if what is None:  # it drops
            self.connection.close()
            return
        content = {"choices": [{"message": {"content": what}}]} if isinstance(what, str) else {"error": "not today"}
        body = json.dumps(content).encode()
        self.send_response(200 if isinstance(what, str) else what)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """The stand-in, asked again without a pause."""
    from gardenpath.lmscore.models import endpoint

    monkeypatch.setattr(endpoint, "RETRY_PAUSES", (0.0, 0.0))
    server = Chat()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(ITEMS)
    return tmp_path


def test_without_a_model_the_request_is_printed_and_nothing_written(folder: Path) -> None:
    ran = run_here("gardenpath draft items.csv --paradigm number -n 12 --topic 'the sea' -o d", folder)
    assert ran.code == 0
    assert "write 12 new pairs" in ran.printed
    assert "the sea" in ran.printed
    assert "--paste" in ran.said
    assert not (folder / "d").exists()


def test_pasted_answers_become_items_with_findings_and_counts(folder: Path) -> None:
    (folder / "a.txt").write_text(said(NOUNS[:3]) + "Correct: Der Koch ist hier.\n")
    (folder / "b.txt").write_text(said(NOUNS[2:4]))
    ran = run_here("gardenpath draft items.csv --paradigm number --paste a.txt --paste b.txt --model gpt-4o -o d", folder)
    assert ran.code == 0, ran.said
    read = stimuli.read(folder / "d" / "draft.jsonl")
    assert [item.id for item in read.items] == [f"number-draft-00{k}" for k in range(1, 6)]
    assert [item.extra["draft_findings"].split(";")[0] for item in read.items[3:4]] == ["copy of draft number-draft-003"]
    assert read.items[0].sentences["ungrammatical"].list_region_words("critical")[0].text == "are"
    assert (
        "3 pairs to go" in run_here("gardenpath draft items.csv --paradigm number -n 6 --paste a.txt -o e --topic tea", folder).said
    )
    assert (folder / "d" / "unread.txt").read_text().splitlines()[1].startswith("answer 1, line 8: the other member")
    kept = [json.loads(line)["answer"] for line in (folder / "d" / "answers.jsonl").read_text().splitlines()]
    assert kept == [(folder / name).read_text() for name in ("a.txt", "b.txt")]
    counts = study.read(folder / "d", "drafting").set_index(["step", "reason"])["n_pairs"]
    assert counts["parsed", "none"] == 5
    assert counts["not parsed", "the other member is missing"] == 1
    assert run_here("gardenpath check d/draft.jsonl", folder).code in (0, 1)
    again = run_here("gardenpath draft items.csv --paradigm number --paste a.txt -o d", folder)
    assert again.code == 2
    assert "--force" in again.said


def test_nothing_leaves_the_machine_unless_it_is_sent(folder: Path) -> None:
    ran = run_here("gardenpath draft items.csv --paradigm number --model m --endpoint http://llm.example/v1 -o d", folder)
    assert ran.code == 1
    assert "Incorrect: The nurse near the doors are tired today." in ran.printed
    assert "nothing was sent" in ran.said
    assert not (folder / "d").exists()


def test_a_language_without_words_of_ours_is_named_in_the_request(folder: Path) -> None:
    items = ITEMS.replace("The nurse near the doors", "La casa de mis abuelos")
    (folder / "es.csv").write_text(items)
    ran = run_here("gardenpath draft es.csv --paradigm number --language es -o x", folder)
    assert ran.code == 0, ran.said
    assert re.search(r"The sentences are in (Spanish|the language es \(BCP 47\)); so shall yours be", ran.printed)


def test_an_endpoint_is_asked_until_there_are_enough_and_again_where_it_drops(folder: Path, chat: Chat) -> None:
    chat.script = [None, 503, said(NOUNS[:4]), said(NOUNS[4:7])]
    ran = run_here(
        f"gardenpath draft items.csv --paradigm number -n 6 --pairs-per-request 4 --model m --endpoint {chat.address} -o d", folder
    )
    assert ran.code == 0, ran.said
    assert len(stimuli.read(folder / "d" / "draft.jsonl").items) == 7
    assert [len(one["messages"]) for one in chat.asked] == [1, 1, 1, 3]
    assert "write 4 new pairs" in chat.asked[0]["messages"][0]["content"]
    assert "tired" in chat.asked[0]["messages"][0]["content"]
    assert "write 2 more" in chat.asked[-1]["messages"][-1]["content"]
    assert "towers" in chat.asked[-1]["messages"][-1]["content"], "words that came too often are to be avoided"
    assert len({one["seed"] for one in chat.asked[2:]}) == 2


def test_a_refusal_keeps_what_was_answered_and_a_second_run_goes_on(folder: Path, chat: Chat) -> None:
    line = f"gardenpath draft items.csv --paradigm number -n 6 --pairs-per-request 4 --model m --endpoint {chat.address} -o d"
    chat.script = [said(NOUNS[:4]) + "So far.\u2028More?", 401]  # a line end to Python, and none to JSON
    ran = run_here(line, folder)
    assert ran.code == 2
    assert "answered 401" in ran.said
    assert not (folder / "d" / "draft.jsonl").exists()
    chat.script = [said(NOUNS[4:7])]
    ran = run_here(line, folder)
    assert ran.code == 0, ran.said
    assert len(chat.asked) == 3
    assert len(stimuli.read(folder / "d" / "draft.jsonl").items) == 7
    chat.script = [said(NOUNS[7:9])]
    more = run_here(line.replace("-n 6", "-n 9 --force"), folder)
    assert more.code == 0, more.said
    assert len(chat.asked) == 4, "more are wanted: what was answered is not asked for again"
    other = run_here(
        line.replace("-n 6", "-n 6 --force").replace("--pairs-per-request 4", "--pairs-per-request 4 --topic cats"), folder
    )
    assert other.code != 0  # the script is empty, so the server breaks off: the earlier answers were not taken for these


def test_a_server_that_stalls_is_given_up_in_one_line(folder: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    from gardenpath.lmscore.models import endpoint

    monkeypatch.setattr(endpoint, "TIMEOUT_SECONDS", 0.05)
    held = threading.Event()
    monkeypatch.setattr(Answer, "do_POST", lambda self: held.wait(10))
    ran = run_here(f"gardenpath draft items.csv --paradigm number --model m --endpoint {chat.address} -o d", folder)
    held.set()
    assert ran.code == 2
    assert "cannot be reached (timed out)" in ran.said


def test_an_endpoint_whose_answers_hold_no_pairs_is_asked_twice_and_no_more(folder: Path, chat: Chat) -> None:
    chat.script = ["I cannot help with that.", "Really not.", "No."]
    ran = run_here(f"gardenpath draft items.csv --paradigm number --model m --endpoint {chat.address} -o d", folder)
    assert ran.code == 1
    assert len(chat.asked) == 2
    assert "no pair could be read of 2 answers" in ran.said


@pytest.mark.lm
def test_a_small_chat_model_drafts(folder: Path) -> None:
    """Its next word follows from the last, so that what it says after the request is known."""
    pytest.importorskip("torch", reason="the extra lm is not installed")
    from ..lmscore.prompting import by_hand

    chain = ["A:", "Correct:", "dogs", "bark.", "Incorrect:", "cats", "barks.", "<end>"]
    sure = {word: {following: 0.999} for word, following in itertools.pairwise(chain)}
    template = "{% for m in messages %}{{ m.content }} {% endfor %}A:"
    model = by_hand(folder / "chatty", sure, chat=template)
    words = "[en]\ngood='Correct'\nbad='Incorrect'\nfirst='{n}'\nmore='{n}'\nvary='v'\navoid='a'\ntopic='t'\n"
    (folder / "words.toml").write_text(words)
    line = f"gardenpath draft items.csv --paradigm number -n 1 --model {model} --request words.toml --temperature 0 -o d"
    ran = run_here(line, folder)
    assert ran.code == 0, ran.said
    [item] = stimuli.read(folder / "d" / "draft.jsonl").items
    assert [one.text for one in item.sentences.values()] == ["dogs bark.", "cats barks."]
    assert re.search("temperature 0", item.extra["sampling"])
    assert item.extra["model"]


@pytest.mark.lm
def test_a_judged_model_of_the_drafters_family_is_warned_of_and_origins_are_compared(folder: Path) -> None:
    (folder / "a.txt").write_text(said(NOUNS[:3]))
    run_here("gardenpath draft items.csv --paradigm number --paste a.txt --model pocket-2 -o d", folder)
    ran = run_here("gardenpath evaluate items.csv d/draft.jsonl --model pocket --split-by origin -o r", folder)
    assert ran.code == 0, ran.said
    assert "drafted by a model of its own family" in ran.said
    groups = study.read(folder / "r", "group_accuracies")
    assert {"hand", "draft"} == {str(level) for level in groups["level"]}
    ran = run_here("gardenpath evaluate items.csv d/draft.jsonl --model pocket --compare-groups origin -o t", folder)
    assert ran.code == 0, ran.said
    tests = study.read(folder / "t", "proportion_tests").iloc[0]
    assert (tests["group_a"], tests["n_a"], tests["group_b"], tests["n_b"]) == ("draft", 3, "hand", 2)
