"""Answers after a prompt: where the edge is cut, that the numbers are those of a plain loop, and what shared prompts cost."""

import dataclasses
import math

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.lmscore.models import causal, packing

from . import kinds
from .conftest import gpt2, other

pytestmark = pytest.mark.lm

PROMPT = "The keys to the cabinet are on the table. Did the cat sit on the mat?"
LABELS = [" Yes", " No", " I know what the chef devoured", " I know"]


def plain(model, encoded) -> float:
    """The log-probability of what is scored, by one full log-softmax."""
    import torch

    ids = [*encoded.context_ids, *encoded.ids]
    with torch.no_grad():
        rows = model.network(torch.tensor([ids]), use_cache=False).logits[0].double().log_softmax(-1)
    return sum(float(rows[len(encoded.context_ids) - 1 + j, i]) for j, i in enumerate(encoded.ids))


@pytest.mark.parametrize("spaced", [True, False])
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_prompt_and_answer_are_one_string_to_every_kind_of_tokenizer(kind, spaced, tmp_path):
    model = lmscore.load(kinds.folder(tmp_path, kind), device="cpu")
    prompt, answers = ("did the cat", [" it", " did", "."]) if spaced else ("did the cat ", ["it", "did", "the cat"])
    asked = lmscore.encode_continuations(model, prompt, answers)
    tokenizer = model.encoder.tokenizer
    for answer, one in zip(answers, asked, strict=True):
        assert [*one.context_ids, *one.ids] == [
            model.encoder.prefix,
            *tokenizer(prompt + answer, add_special_tokens=False)["input_ids"],
        ]
        assert one.context_ids == asked[0].context_ids
        assert one.spans[-1][1] == len(answer)
    tables = model.forward(asked, columns=["logprob"])
    for table, one in zip(tables, asked, strict=True):
        assert table.logprob[:-1].sum() == pytest.approx(plain(model, one), abs=1e-5)


def test_a_token_that_joins_the_prompt_to_an_answer_is_scored(byte_model):
    # "Yes" and "No" are cut after the space; " the" is one token that begins before the edge.
    joined = lmscore.encode_continuations(byte_model, "on ", ["the mat", "table"])
    pieces = byte_model.encoder.tokenizer.convert_ids_to_tokens(joined[0].ids)
    assert pieces[0] == "Ġthe"
    assert joined[0].spans[0] == (0, 3)
    assert byte_model.encoder.tokenizer.decode(joined[0].context_ids[1:]) == "on"


def test_one_answer_is_scored_from_the_edge(byte_model):
    [one] = lmscore.encode_continuations(byte_model, PROMPT, [" Yes"])
    assert byte_model.encoder.tokenizer.decode(one.ids) == " Yes"


def test_an_answer_that_begins_another_is_not_the_other(byte_model):
    asked = lmscore.encode_continuations(byte_model, PROMPT, LABELS)
    tables = byte_model.forward(asked, columns=["logprob"])
    whole = [plain(byte_model, one) for one in asked]
    expected = [*whole[:3], math.log(math.exp(whole[3]) - math.exp(whole[2]))]
    assert lmscore.answer_lps(tables) == pytest.approx(expected, abs=1e-9)


def positions(model, texts, monkeypatch) -> tuple[list, int]:
    """The tables of some texts, and how many positions were computed for them, without those that are tried first."""
    computed = []
    compute = causal.CausalModel._compute

    def counted(self, layout, *rest):
        computed.append(int(layout.lengths.sum()))
        return compute(self, layout, *rest)

    model.forward(texts, columns=["logprob"])  # larger rows are tried once
    with monkeypatch.context() as patch:
        patch.setattr(causal.CausalModel, "_compute", counted)
        return model.forward(texts, columns=["logprob"]), sum(computed)


def test_two_labels_on_a_long_prompt_cost_little_more_than_their_new_tokens(tmp_path, monkeypatch):
    model = lmscore.load(gpt2(tmp_path, window=256), device="cpu")
    question = "I know what the chef devoured. " * 17
    words = ["cat", "mat", "student", "exams", "keys", "cabinet", "table", "chef", "party", "boys", "house"]
    prompts = [f"{question}The {a} on the {b}?" for a in words for b in words]
    asked = [one for prompt in prompts for one in lmscore.encode_continuations(model, prompt, [" Yes", " No"])]
    longest = max(len(one.context_ids) for one in asked)
    assert longest > causal.DEFAULT_ROW_SIZE
    tables, computed = positions(model, asked, monkeypatch)
    new = {ids[:k] for one in asked for ids in [(*one.context_ids, *one.ids[:-1])] for k in range(1, len(ids) + 1)}
    assert computed < 1.4 * len(new)
    _, before = positions(dataclasses.replace(model, row_size=0), asked, monkeypatch)
    assert before > 10 * computed
    for table in tables[:: len(tables) // 7]:
        assert table.logprob[:-1].sum() == pytest.approx(plain(model, table.encoded_text), abs=1e-5)


@pytest.mark.parametrize("kind", ["wide sliding window", "capped logits"])
def test_long_prefixes_are_shared_only_where_that_is_exact(kind, tmp_path, monkeypatch):
    model = lmscore.load(other(tmp_path, kind), device="cpu")
    prompts = ["The keys to the cabinet are on the table. " * 20 + end for end in ("The cat.", "No student.", "I know.")]
    asked = [one for prompt in prompts for one in lmscore.encode_continuations(model, prompt, [" Yes", " No"])]
    assert 200 < max(len(one.context_ids) for one in asked) < 256
    tables, computed = positions(model, asked, monkeypatch)
    for table in tables:
        assert table.logprob[:-1].sum() == pytest.approx(plain(model, table.encoded_text), abs=1e-4)
    if kind == "wide sliding window":  # a mask of our own has no window, and these prompts are longer than it
        assert "long_prefixes" in model.describe()
    else:
        assert computed < 400
        assert "long_prefixes" not in model.describe()


def test_rows_grow_with_what_is_shared_and_not_without():
    def paths(sequences):
        return [packing.TokenPath(k, tuple(ids), 0, 0, (1,), "") for k, ids in enumerate(sequences)]

    assert packing.choose_capacity(paths([range(60)] * 100), 128, 8192, 768) == 128
    assert packing.choose_capacity(paths([range(k, k + 150) for k in range(40)]), 128, 8192, 768) == 128
    assert packing.choose_capacity(paths([[*range(133), k, *range(6)] for k in range(999)]), 128, 8192, 768) == 1024
    story = paths([range(k) for k in range(100, 3000, 10)])
    assert packing.choose_capacity(story, 128, 8192, 768) == 4096


@pytest.mark.parametrize(
    ("prompt", "answers", "said"),
    [
        ("A cat?", [], "there is no answer to continue the prompt with; expected one or more"),
        ("A cat?", [" Yes", " Yes"], "answers ' Yes' and ' Yes' are the same tokens to"),
        ("A cat?", [" Yes", ""], "finds no token in the answer ''; expected one at least"),
    ],
)
def test_answers_that_cannot_be_told_apart_are_refused(byte_model, prompt, answers, said):
    with pytest.raises(ValueError, match=said):
        lmscore.encode_continuations(byte_model, prompt, answers)


def test_a_model_that_takes_no_prompt_is_refused_in_one_line(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("A dog barks.\n")
    with pytest.raises(ValueError, match="an n-gram model, which answers no prompts; expected a causal model"):
        lmscore.encode_continuations(lmscore.estimate_ngram(corpus), "Is it?", [" Yes"])
    masked = type("Masked", (), {"name": "bert", "masked": True, "encoder": None})()
    with pytest.raises(ValueError, match="model bert: a masked model, which answers no prompts"):
        lmscore.encode_continuations(masked, "Is it?", [" Yes"])


def test_what_a_chat_template_wrote_keeps_its_special_tokens(byte_model):
    text = "<|endoftext|>Did it?"
    [rendered] = lmscore.encode_continuations(byte_model, text, [" Yes"], rendered=True)
    [written] = lmscore.encode_continuations(byte_model, text, [" Yes"])
    assert rendered.context_ids[0] == 0
    assert len(written.context_ids) > len(rendered.context_ids)
    assert written.context_ids.count(0) == 1  # the prefix token alone
    assert np.array_equal(rendered.ids, written.ids)
