"""A model behind an endpoint, by a stand-in for vLLM that runs a small model of transformers behind HTTP."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from gardenpath import lmscore, study  # noqa: E402
from gardenpath.cli.score import command as score  # noqa: E402
from gardenpath.lmscore import add_cache  # noqa: E402
from gardenpath.lmscore.models import endpoint  # noqa: E402

from .test_commands import LINES, run  # noqa: E402

pytestmark = pytest.mark.lm

TEXTS = ["No student has ever complained about the exams.", "The cat didn't sit on the mat, did it?", "a"]


class StandIn(ThreadingHTTPServer):
    """A stand-in for an OpenAI-compatible server: it answers /v1/completions as vLLM does, by a model's own softmax.

    `faulty` changes an answer's list of log-probabilities, and `refusals` are codes that it answers before it answers well.
    """

    def __init__(self, network) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.network = network
        self.faulty: Callable[[list], list | None] = lambda numbers: numbers
        self.refusals: list[int] = []
        self.asked: list[dict] = []
        self.keys: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def numbers(self, ids: list[int]) -> list[float | None]:
        with torch.no_grad():
            logprobs = self.network(torch.tensor([ids])).logits[0].log_softmax(-1)
        return [None, *(float(logprobs[k, i]) for k, i in enumerate(ids[1:])), float(logprobs[-1].max())]


class Answer(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        if self.server.refusals:
            self.reply(self.server.refusals.pop(0), {"error": {"message": "busy"}})
        elif asked["model"] != "small":
            self.reply(404, {"error": {"message": f"The model `{asked['model']}` does not exist."}})
        else:
            choices = [
                {"index": k, "logprobs": {"token_logprobs": self.server.faulty(self.server.numbers(ids))}}
                for k, ids in enumerate(asked["prompt"])
            ]
            self.reply(200, {"choices": choices[::-1]})

    def reply(self, code: int, content: dict) -> None:
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def stand_in(folders):
    """The stand-in, serving until the tests of a file are done."""
    server = StandIn(lmscore.load(folders["llama"], device="cpu").network)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def server(stand_in, monkeypatch):
    """The stand-in as it is at first."""
    stand_in.faulty, stand_in.refusals = lambda numbers: numbers, []
    stand_in.asked.clear()
    stand_in.keys.clear()
    monkeypatch.setattr(endpoint, "RETRY_PAUSES", (0.0, 0.0))
    return stand_in


def load(server: StandIn, folders, **settings):
    return lmscore.load("small", endpoint=server.address, tokenizer=folders["llama"], **settings)


def test_its_numbers_are_those_of_the_model_itself_and_surprisal_is_naive(server, folders, materials):
    model, own = load(server, folders), lmscore.load(folders["llama"], device="cpu")
    texts = [own.encode(text) for text in TEXTS]
    tables = model.forward([model.encode(text) for text in TEXTS])
    for table, expected in zip(tables, own.forward(texts), strict=True):
        np.testing.assert_allclose(table.logprob[:-1], expected.logprob[:-1], atol=1e-5)
        assert np.isnan([table.logprob[-1], *table.entropy, *table.log_boundary]).all()
    sent = server.asked[-1]
    assert sent["prompt"] == [[*text.context_ids, *text.ids] for text in texts]  # ids, with a BOS, and one alone
    assert (sent["max_tokens"], sent["echo"], sent["logprobs"]) == (1, True, 1)
    scores = lmscore.score(materials, model).surprisal
    naive = lmscore.score(materials, own).surprisal["surprisal_naive"]
    np.testing.assert_allclose(scores["surprisal"], naive, atol=1e-4)
    assert scores["entropy"].isna().all()
    assert "naive" in model.describe()["surprisal"]
    pairs = lmscore.evaluate(materials, model)
    assert pairs["correct"].tolist() == lmscore.evaluate(materials, own)["correct"].tolist()


def test_the_end_of_a_text_is_not_to_be_had(server, folders, materials):
    with pytest.raises(study.DataError, match="an endpoint says nothing of the end of a text"):
        lmscore.score(materials, load(server, folders), protocol="blimp-2020")


def test_answers_are_cached_under_a_declared_revision_alone(server, folders, tmp_path):
    bare = load(server, folders)
    assert add_cache(bare, tmp_path) is bare
    declared = load(server, folders, revision="2026-11")
    assert (declared.name, bare.name) == ("small@2026-11", "small")
    texts = [declared.encode(text) for text in TEXTS]
    first = add_cache(declared, tmp_path).forward(texts)
    server.asked.clear()
    again = add_cache(declared, tmp_path).forward(texts)
    assert server.asked == []
    assert [t.logprob.tobytes() for t in again] == [t.logprob.tobytes() for t in first]
    add_cache(load(server, folders, revision="2026-12"), tmp_path)
    assert len(list(tmp_path.glob("*/model.json"))) == 2


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        (lambda numbers: None, "gave no logprobs.token_logprobs"),
        (lambda numbers: numbers[-1:], "gave 1 token_logprobs for a prompt of .* it does not echo the prompt"),
        (lambda numbers: [None, *numbers[:1], *numbers], "it does not echo the prompt, or adds tokens of its own"),
        (lambda numbers: [*numbers[:3], None, *numbers[4:]], "gave None as the log-probability of token 3 of a prompt"),
        (lambda numbers: [*numbers[:2], 0.5, *numbers[3:]], "gave 0.5 as the log-probability of token 2"),
        (lambda numbers: [None] + [-1.0] * (len(numbers) - 1), "the same log-probabilities for different tokens"),
        (lambda numbers: [None, *(n * 1.5 ** len(numbers) for n in numbers[1:])], "differ by .* nats for the same tokens"),
        (lambda numbers: [None, -3.0, *numbers[1:-1]], "gave each token the log-probability of the one before it"),
    ],
)
def test_a_server_that_lacks_a_number_is_refused_by_name_when_it_is_probed(server, folders, faulty, words):
    server.faulty = faulty
    with pytest.raises(ValueError, match=words) as caught:
        load(server, folders)
    assert f"endpoint {server.address}, model 'small'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"index": 0, "logprobs": [-1.0]}, "gave no logprobs.token_logprobs"),
        ({"index": None}, "gave choices that are no objects with an index"),
        ("text", "gave choices that are no objects with an index"),
    ],
)
def test_an_answer_of_another_form_is_refused_in_one_line(server, folders, monkeypatch, choice, words):
    monkeypatch.setattr(endpoint, "_post_request", lambda address, asked: {"choices": [choice] * len(asked["prompt"])})
    with pytest.raises(ValueError, match=words) as caught:
        load(server, folders)
    assert "\n" not in str(caught.value)


def test_a_busy_server_is_asked_again_and_a_refusal_is_passed_on(server, folders, monkeypatch):
    monkeypatch.setenv(endpoint.KEY_VARIABLE, "open sesame")
    server.refusals = [503, 429]
    load(server, folders)
    assert len(server.asked) == 3
    assert set(server.keys) == {"Bearer open sesame"}
    server.refusals = [503] * 3
    with pytest.raises(ValueError, match="answered 503"):
        load(server, folders)
    with pytest.raises(ValueError, match=r"answered 404 .*The model `other` does not exist"):
        lmscore.load("other", endpoint=server.address, tokenizer=folders["llama"])


def test_what_is_no_endpoint_or_is_said_of_another_computer_is_refused(folders):
    with pytest.raises(ValueError, match="'localhost:8000' is no address; expected one such as http"):
        lmscore.load("small", endpoint="localhost:8000", tokenizer=folders["llama"])
    with pytest.raises(ValueError, match="cannot be reached"):
        lmscore.load("small", endpoint="http://127.0.0.1:9/v1", tokenizer=folders["llama"])
    with pytest.raises(ValueError, match="dtype beside an endpoint"):
        lmscore.load("small", endpoint="http://127.0.0.1:9/v1", dtype="bfloat16")
    with pytest.raises(ValueError, match="a model has its own; expected one with an endpoint alone"):
        lmscore.load(folders["llama"], tokenizer=folders["llama"])


def test_the_command_scores_a_model_behind_an_endpoint(stand_in, folders, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    how = ("--model", "small", "--endpoint", stand_in.address, "--tokenizer", folders["llama"], "--revision", "today")
    out = tmp_path / "scores"
    assert run(score, pairs, *how, "--cache", tmp_path / "cache", "-o", out).exit_code == 0
    surprisal = study.read(out, "surprisal")
    assert set(surprisal["model"]) == {"small@today"}
    assert surprisal["entropy"].isna().all()
    assert (surprisal["surprisal"] == surprisal["surprisal_naive"]).all()
    said = study.files.read_sidecar(out / "surprisal.csv")["model"]
    assert said["surprisal"].startswith("naive")
    assert said["endpoint"] == stand_in.address
