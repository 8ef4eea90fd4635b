"""Models as participants: answers after all before them, cut at trials, drawn with a seed; likelihoods of people's answers."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gardenpath import experiment, lmscore, study
from gardenpath.experiment.setup import new_studies
from gardenpath.experiment.simulation.transcripts import QuestionContext
from gardenpath.lmscore.judging.participants import TRIAL_SEPARATOR, answer_questions, compute_response_likelihood

from ..conftest import run_here
from .conftest import gpt2
from .prompting import by_hand

ANSWERS = ("1", "2", "10")


def lp_by_loop(model, prompt: str, answer: str) -> float:
    """Sum the log-probabilities of the tokens that prompt and answer have beyond the prompt's own, one pass a token."""
    import torch

    encoder, network = model.encoder, model.network
    ids = [encoder.prefix, *encoder.tokenizer(prompt + answer, add_special_tokens=False)["input_ids"]]
    start = 1 + len(encoder.tokenizer(prompt, add_special_tokens=False)["input_ids"])
    total = 0.0
    for k in range(start, len(ids)):
        with torch.no_grad():
            logits = network(torch.tensor([ids[:k]])).logits[0, -1].double()
        total += float(torch.log_softmax(logits, 0)[ids[k]])
    return total


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory):
    return lmscore.load(gpt2(tmp_path_factory.mktemp("gpt2"), window=96))


def test_answers_come_after_everything_before_them(small) -> None:
    asked = QuestionContext("Rate.", ("A dog.\n<<3>>", "Cats.\n<<5>>"), "A cat sleeps.\n<<", ("yes", "no"))
    (found,) = answer_questions(small, [asked])
    prompt = TRIAL_SEPARATOR.join(["Rate.", *asked.trials, asked.current])
    assert found.lps == pytest.approx([lp_by_loop(small, prompt, answer) for answer in asked.answers], abs=1e-4)
    assert found.cut_trials == 0
    assert found.probabilities.sum() == pytest.approx(1)
    assert found.total_probability == pytest.approx(np.exp(found.lps).sum())
    (alone,) = answer_questions(small, [asked], independent=True)
    assert alone.lps == pytest.approx([lp_by_loop(small, "Rate.\n\nA cat sleeps.\n<<", one) for one in asked.answers], abs=1e-4)


def test_the_first_trials_go_where_the_window_ends(small) -> None:
    trials = tuple(f"Sentence {n}.\n<<{n % 7}>>" for n in range(12))
    (found,) = answer_questions(small, [QuestionContext("Rate.", trials, "A cat.\n<<", ("yes", "no"))])
    assert 0 < found.cut_trials < 12
    prompt = TRIAL_SEPARATOR.join(["Rate.", *trials[found.cut_trials :], "A cat.\n<<"])
    assert len(small.encoder.tokenizer(prompt)["input_ids"]) < 96
    assert found.lps == pytest.approx([lp_by_loop(small, prompt, one) for one in ("yes", "no")], abs=1e-4)
    with pytest.raises(ValueError, match="more than the 96 of the model's window; expected shorter instructions"):
        answer_questions(small, [QuestionContext("Rate. " * 60, (), "A cat.\n<<", ("yes", "no"))])


def test_answers_are_drawn_as_often_as_they_are_probable(tmp_path: Path) -> None:
    model = lmscore.load(by_hand(tmp_path, {"<<": {"good": 0.6, "bad": 0.2}, "it": {"<<": 0.5}}))
    (found,) = answer_questions(model, [QuestionContext("", (), "it <<", (" good", " bad"))])
    assert found.probabilities == pytest.approx([0.75, 0.25], abs=1e-5)
    assert found.total_probability == pytest.approx(0.8, abs=1e-5)
    study_folder = tmp_path / "study"
    new_studies.create_study(study_folder, "rating")
    list_files = experiment.build_list_files(study.load(study_folder))
    ratings = SimpleNamespace(
        lps=np.log([0.05] * 6 + [0.2]), probabilities=[0.05 / 0.5] * 6 + [0.4], total_probability=0.5, cut_trials=0
    )
    questions = SimpleNamespace(lps=[-1.0, -2.0], probabilities=[0.75, 0.25], total_probability=0.5, cut_trials=0)
    _, answers = experiment.run_model_sessions(
        list_files,
        lambda asked: [ratings if len(one.answers) == 7 else questions for one in asked],
        model="made", participants=200, seed=1,
    )  # fmt: skip
    rated, asked = (answers[answers["task"] == task] for task in ("rating", "question"))
    for drawn, answer, p in ((rated, "7", 0.4), (asked, "yes", 0.75)):
        assert (drawn["response"] == answer).mean() == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / len(drawn)))
    assert rated["expected_response"].unique() == pytest.approx([0.1 * 21 + 0.4 * 7])


def test_the_likelihood_of_answers_is_that_of_their_tokens_in_one_pass(small) -> None:
    text = "Rate.\n\nA dog.\n<<yes>>\n\nA cat.\n<<no>>"
    (found,) = compute_response_likelihood(small, [text])
    output = small.encoder.tokenizer(text, return_offsets_mapping=True)
    total = 0.0
    for answer in ("yes", "no"):
        start = text.index(f"<<{answer}") + 2
        for k, (a, b) in enumerate(output["offset_mapping"]):
            if a < start + len(answer) and b > start:
                ids = output["input_ids"]
                total += lp_by_loop(small, "", small.encoder.tokenizer.decode(ids[: k + 1])) - lp_by_loop(
                    small, "", small.encoder.tokenizer.decode(ids[:k])
                )
    assert (found.n_responses, found.n_parts) == (2, 1)
    assert found.lp == pytest.approx(total, abs=1e-3)
    long = TRIAL_SEPARATOR.join(f"Sentence number {n}.\n<<{n % 7}>>" for n in range(20))
    (parts,) = compute_response_likelihood(small, [long])
    assert parts.n_responses == 20
    assert parts.n_parts > 1
    with pytest.raises(ValueError, match="session 1: no answer stands in << >>"):
        compute_response_likelihood(small, ["No answer."])


def test_an_answer_that_did_not_come_is_not_counted(small) -> None:
    found = compute_response_likelihood(small, ["A dog.\n<<3>>\n\nCats.\n<<>>", "A dog.\n<<3>>"])
    assert [one.n_responses for one in found] == [1, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A dog.\n<<3>\n\nCats.\n<<5>>", "session 1: << without its >> before '3>'"),
        ("A dog.\n3>>\n\nCats.\n<<5>>", "session 1: >> without its << before ''"),
        ("A dog.\n<<3>>\n\nCats.\n<<5", "<< without its >> before '5'"),
    ],
)
def test_an_answer_that_is_not_closed_swallows_no_trial(small, text, said) -> None:
    with pytest.raises(ValueError, match=said):
        compute_response_likelihood(small, [text])


def test_sessions_as_text_are_read_as_editors_leave_them(small, tmp_path: Path) -> None:
    from gardenpath.cli.session_judgments import _read_transcripts

    text = "A dog\u2028barks.\n<<3>>\n\nCats.\n<<5>>"
    lines = [json.dumps({"participant": "p", "text": one}, ensure_ascii=False) for one in (text, text.replace("\n", "\r\n"))]
    (tmp_path / "edited.jsonl").write_bytes("\r\n".join(["\ufeff" + lines[0], lines[1], ""]).encode())
    assert [one["text"] for one in _read_transcripts(tmp_path / "edited.jsonl")] == [text, text]


def test_models_take_part_and_people_are_read_from_the_command_line(tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "model", window=4096)
    new_studies.create_study(tmp_path / "study", "rating")
    ran = run_here(f"gardenpath judge study --model {folder} --participants 2 --seed 5 -o models", tmp_path)
    assert ran.code == 0, ran.said
    answers = study.read(tmp_path / "models", "model_responses")
    assert answers["session"].nunique() == 2
    ratings = answers[answers["task"] == "rating"]
    assert ratings["expected_response"].between(1, 7).all()
    assert answers.loc[answers["task"] == "question", "expected_response"].isna().all()
    again = run_here(f"gardenpath judge study --model {folder} --participants 2 --seed 5 -o again", tmp_path)
    assert again.code == 0
    assert (tmp_path / "again" / "model_responses.csv").read_bytes() == (tmp_path / "models" / "model_responses.csv").read_bytes()
    fewer = run_here(
        f"gardenpath judge study --model {folder} --model ngram:nothing --participants 1 --seed 5 -o again --force", tmp_path
    )
    assert fewer.code == 1
    assert "1 of 2 models could not be used" in fewer.said
    assert len([*(tmp_path / "again" / "sessions").glob("*/session.json")]) == 1
    text = (tmp_path / "again" / "sessions.jsonl").read_text("utf-8")
    mended = tmp_path / "mended.jsonl"
    mended.write_text(text + '{"participant": "x", "text": "Nothing was answered."}\n', "utf-8")
    some = run_here(f"gardenpath judge mended.jsonl --model {folder} -o some --json", tmp_path)
    assert some.code == 0, some.said
    assert "left out: " in some.said
    assert len(json.loads(some.printed[some.printed.index("{") :])["session_likelihoods"]) == 1
    read = run_here(f"gardenpath judge models/sessions.jsonl --model {folder} -o read", tmp_path)
    assert read.code == 0, read.said
    likelihoods = study.read(tmp_path / "read", "session_likelihoods")
    # What was drawn was scored after the same text, so that both ways agree where answers are single tokens' edges.
    assert likelihoods["n_responses"].sum() == len(answers)
    assert likelihoods["lp"].sum() == pytest.approx(answers["lp"].sum(), rel=0.05)
    for line, message in (
        (f"gardenpath judge study --model {folder} --method choose -o x", "--method is about minimal pairs, and study holds none"),
        (f"gardenpath judge models/sessions.jsonl --model {folder} --expected -o x", "--expected belongs to a study"),
        (f"gardenpath judge study --model {folder} -o models", "exists already"),
    ):
        refused = run_here(line, tmp_path)
        assert refused.code == 2 or refused.code == 1
        assert message in refused.said
    assert run_here("gardenpath simulate study/study.toml --participants 8 --seed 1 -o people", tmp_path).code == 0
    assert run_here("gardenpath collect people models/sessions -o mixed", tmp_path).code == 0
    assert run_here("gardenpath analyse mixed --study study/study.toml -o results", tmp_path).code == 0
    assert len(study.read(tmp_path / "results", "participants")) == 8
    exclusions = study.read(tmp_path / "results", "exclusions")
    assert "session of a language model, beside people's" in set(exclusions["rule"])
