"""Protocols give the numbers of the tools they are named after: by their own recipes, and by the tools themselves."""

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gardenpath import lmscore
from gardenpath.lmscore import PROTOCOLS, compute_token_tables, compute_word_scores
from gardenpath.lmscore.measures.reductions import lp, mean_lp, pen_lp
from gardenpath.lmscore.tokens.encoding import encode
from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL, get_protocol
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence

pytestmark = pytest.mark.lm

TEXTS = ["The cat didn't sit on the mat, did it?", "Müller went to the café.", "No student has  ever complained."]
# An interpreter that has minicons 0.3.39 and lm-eval 0.4.13, which need not be installed beside gardenpath.
PEERS = os.environ.get("GARDENPATH_MINICONS")


CAUSAL = [name for name, protocol in PROTOCOLS.items() if not protocol.masked]


def of(texts, **fields) -> Materials:
    items = tuple(Item(f"i{k}", "p", {"one": Sentence(text)}, **fields) for k, text in enumerate(texts))
    return Materials((Paradigm("p", "p", {"f": ("one", "two")}),), items)


def scores(model, protocol: str, measure=lp) -> list[float]:
    return [measure(one.table) for one in compute_token_tables(of(TEXTS), model, protocol=protocol)]


def summed(model, ids, first) -> float:
    """The log-probability of ids[first:] given what precedes them, from one plain forward pass."""
    import torch

    with torch.no_grad():
        logp = model.network(torch.tensor([ids])).logits[0].log_softmax(-1)
    return sum(float(logp[j - 1, ids[j]]) for j in range(first, len(ids)))


def plain(model, text, **how) -> list[int]:
    return model.encoder.tokenizer(text, **how)["input_ids"]


def test_the_default_is_the_prefix_token_and_then_the_sentence(model):
    expected = [summed(model, [model.encoder.prefix, *plain(model, t, add_special_tokens=False)], 1) for t in TEXTS]
    assert scores(model, "default") == pytest.approx(expected, abs=1e-9)


def test_blimp_2020_sums_the_closing_end_of_text_too(model):
    [end] = model.encoder.end_ids
    expected = [summed(model, [model.encoder.prefix, *plain(model, t, add_special_tokens=False), end], 1) for t in TEXTS]
    assert scores(model, "blimp-2020") == pytest.approx(expected, abs=1e-9)
    n = [len(plain(model, t, add_special_tokens=False)) + 1 for t in TEXTS]
    assert scores(model, "blimp-2020", mean_lp) == pytest.approx([e / k for e, k in zip(expected, n, strict=True)])
    assert scores(model, "blimp-2020", pen_lp) == pytest.approx(
        [e / ((5 + k) / 6) ** 0.8 for e, k in zip(expected, n, strict=True)]
    )


def test_lm_eval_puts_a_space_before_the_sentence(model):
    expected = [summed(model, [model.encoder.prefix, *plain(model, f" {t}", add_special_tokens=False)], 1) for t in TEXTS]
    assert scores(model, "lm-eval") == pytest.approx(expected, abs=1e-9)


def test_minicons_feeds_what_the_tokenizer_adds_and_leaves_the_first_token_out(model):
    expected = [summed(model, plain(model, t), 1) for t in TEXTS]
    assert scores(model, "minicons-default") == pytest.approx(expected, abs=1e-9)
    means = [e / (len(plain(model, t)) - 1) for e, t in zip(expected, TEXTS, strict=True)]
    assert scores(model, "minicons-default", mean_lp) == pytest.approx(means, abs=1e-9)


MINICONS = """
import json, sys
from minicons import scorer
model, texts = scorer.IncrementalLMScorer(sys.argv[1], "cpu"), json.loads(sys.argv[2])
model.tokenizer.pad_token = model.tokenizer.pad_token or model.tokenizer.eos_token
sums = [model.sequence_score([t], reduction=lambda x: x.sum(0).item())[0] for t in texts]
print("SCORES", json.dumps({"mean": [model.sequence_score([t])[0] for t in texts], "sum": sums}))
"""
LM_EVAL = """
import json, sys
from lm_eval.models.huggingface import HFLM
from lm_eval.api.instance import Instance
model, texts = HFLM(pretrained=sys.argv[1], device="cpu", dtype="float32", batch_size=1), json.loads(sys.argv[2])
ask = lambda before: [Instance("loglikelihood", {}, ("", before + t), 0) for t in texts]
found = {name: [s for s, _ in model.loglikelihood(ask(name), disable_tqdm=True)] for name in ("", " ")}
print("SCORES", json.dumps(found))
"""


def told_by(script: str, model: Path, folder: Path) -> dict[str, list[float]]:
    """What a script finds of the model under the interpreter that the environment names."""
    if not PEERS:
        pytest.skip("GARDENPATH_MINICONS names no Python with minicons and lm-eval")
    shutil.copytree(model, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"  # its name before transformers 5, and good since
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    command = [PEERS, "-c", script, str(folder), json.dumps(TEXTS)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.split("SCORES")[1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_minicons_itself_gives_these_numbers(folders, kind, tmp_path):
    found = told_by(MINICONS, folders[kind], tmp_path / kind)
    model = lmscore.load(folders[kind], device="cpu")
    assert scores(model, "minicons-default", mean_lp) == pytest.approx(found["mean"], abs=1e-4)
    assert scores(model, "minicons-default") == pytest.approx(found["sum"], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_lm_eval_itself_gives_these_numbers(folders, kind, tmp_path):
    found = told_by(LM_EVAL, folders[kind], tmp_path / kind)
    model = lmscore.load(folders[kind], device="cpu")
    assert scores(model, "lm-eval") == pytest.approx(found[" "], abs=1e-4)
    assert scores(model, "default") == pytest.approx(found[""], abs=1e-4)


def test_spans_are_those_of_the_sentence_whatever_stands_before_it(model):
    for text in TEXTS:
        encoded = encode(model.encoder, text, leading_space=True)
        assert encoded.starts_with_space[0]
        assert [score.word for score in compute_word_scores(model.forward([encoded])[0], Sentence(text))] == Sentence(
            text
        ).list_words()


def test_a_context_is_before_the_sentence_under_every_protocol(byte_model):
    one = Materials(of(["x"]).paradigms, (Item("i", "p", {"one": Sentence("The cat sat.")}, context="I slept."),))
    prefix = byte_model.encoder.prefix
    ids = plain(byte_model, "I slept. The cat sat.", add_special_tokens=False)
    start = len(plain(byte_model, "I slept.", add_special_tokens=False))
    found = {name: lp(compute_token_tables(one, byte_model, protocol=name)[0].table) for name in CAUSAL}
    assert found["default"] == found["lm-eval"] == pytest.approx(summed(byte_model, [prefix, *ids], start + 1), abs=1e-9)
    assert found["minicons-default"] == pytest.approx(summed(byte_model, ids, start), abs=1e-9)
    assert found["blimp-2020"] == pytest.approx(summed(byte_model, [prefix, *ids, 0], start + 1), abs=1e-9)


def test_a_word_with_an_unscored_token_has_no_score_and_keeps_its_row(byte_model):
    text = "The cat sat."
    surprisal = lmscore.score(of([text]), byte_model, protocol="minicons-default").surprisal
    assert surprisal["text"].tolist() == ["The", "cat", "sat."]
    assert surprisal[["surprisal", "surprisal_naive", "entropy", "renyi"]].isna().all(axis=1).tolist() == [True, False, False]
    usual = lmscore.score(of([text]), byte_model).surprisal
    assert surprisal["n_tokens"].tolist() == usual["n_tokens"].tolist()
    assert set(surprisal["protocol"]) == {"minicons-default"}


def test_a_region_with_an_unscored_token_has_no_score(byte_model):
    sentence = Sentence("The cat sat.", (Region("critical", 0, 3),))
    one = Materials(of(["x"]).paradigms, (Item("i", "p", {"one": sentence}),))
    assert lmscore.score(one, byte_model, protocol="minicons-default").sentence_scores["critical_lp"].isna().all()
    assert math.isfinite(lmscore.score(one, byte_model).sentence_scores["critical_lp"].item())


def test_protocols_are_known_by_name():
    assert get_protocol("default") is get_protocol(DEFAULT_PROTOCOL) is DEFAULT_PROTOCOL
    assert DEFAULT_PROTOCOL.list_options() == {}
    with pytest.raises(ValueError, match="protocol 'blimp' is not known; expected one of default, blimp-2020, lm-eval, mini"):
        get_protocol("blimp")
