"""A second run computes nothing, an interrupted one goes on where it stopped, and damage costs what it touched."""

import copy
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from gardenpath import lmscore, study  # noqa: E402
from gardenpath.lmscore import add_cache  # noqa: E402
from gardenpath.lmscore.cache import cache_key, file_hashes  # noqa: E402
from gardenpath.lmscore.models.causal import CausalModel  # noqa: E402
from gardenpath.lmscore.models.interface import COLUMNS  # noqa: E402
from gardenpath.lmscore.toy import grammar  # noqa: E402
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence  # noqa: E402

from .test_masked import bert  # noqa: E402

pytestmark = pytest.mark.lm

TEXTS = [
    "No student has ever complained about the exams.",
    "The cat didn't sit on the mat, did it?",
    "a",
    "The keys to the cabinet are on the table. The boys who the teacher criticized blamed themselves.",
    "No student has ever complained about the exams.",
]


@pytest.fixture(scope="module", params=["gpt2", "bert"])
def model(request, folders, tmp_path_factory):
    folder = bert(tmp_path_factory.mktemp("cache-bert")) if request.param == "bert" else folders["gpt2"]
    return lmscore.load(folder, device="cpu")


@pytest.fixture
def calls(model):
    """What the network was called with, since the test began."""
    seen = []
    hook = model.network.register_forward_pre_hook(lambda _, __, inputs: seen.append(inputs["input_ids"].shape), with_kwargs=True)
    yield seen
    hook.remove()


def bytes_of(tables) -> list[tuple[bytes, ...]]:
    return [
        (t.logprob.tobytes(), t.log_boundary.tobytes(), t.entropy.tobytes(), t.renyi.tobytes(), bytes([t.windows])) for t in tables
    ]


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.shard"))


def test_a_second_run_calls_the_network_never_and_gives_the_same_bytes(model, calls, tmp_path):
    texts = [model.encode(text) for text in TEXTS]
    plain = model.forward(texts)
    first = add_cache(model, tmp_path).forward(texts)
    assert calls
    calls.clear()
    again = add_cache(model, tmp_path)
    seen, progress = [], []
    second = again.forward(texts, on_finished=seen.extend, progress=lambda k, n: progress.append((k, n)))
    assert calls == []
    assert bytes_of(plain) == bytes_of(first) == bytes_of(second)
    assert [t.encoded_text for t in second] == texts
    assert len(seen) == 4
    assert progress == [(4, 4)]
    assert len(shards(tmp_path)) == 1


def test_only_batches_that_lack_a_text_or_a_column_are_computed(byte_model, tmp_path, monkeypatch):
    asked = []
    plain = CausalModel.forward

    def watched(self, texts, **options):
        asked.append((sum(not options["is_known"](text) for text in texts), tuple(options["columns"])))
        return plain(self, texts, **options)

    monkeypatch.setattr(CausalModel, "forward", watched)
    texts = [byte_model.encode(text) for text in TEXTS]
    model = add_cache(byte_model, tmp_path)
    (table, *_) = model.forward(texts[:2], columns=("logprob",))
    assert np.isnan(table.entropy).all()
    assert np.isnan(table.logprob[-1])
    model.forward(texts[:3], columns=("logprob", "entropy"))
    assert asked == [(2, ("logprob",)), (3, ("logprob", "entropy"))]
    model.forward([*texts[:3], byte_model.encode("The cat sat.")], columns=("logprob", "entropy"))
    assert asked.pop() == (1, ("logprob", "entropy"))
    asked.clear()
    whole = add_cache(byte_model, tmp_path).forward(texts)
    assert asked == [(4, COLUMNS)]
    for one, other in zip(whole, plain(byte_model, texts), strict=True):
        for name in ("logprob", "log_boundary", "entropy", "renyi"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-10)
    asked.clear()
    (only,) = model.forward(texts[:1], columns=("renyi",))
    assert asked == []
    assert np.isnan(only.logprob).all()
    assert np.isfinite(only.renyi).all()


def test_what_changes_the_numbers_has_a_cache_of_its_own(folders, tmp_path):
    def places() -> set[Path]:
        return {path.parent for path in tmp_path.glob("*/model.json")}

    known = [add_cache(lmscore.load(folders["gpt2"], device="cpu"), tmp_path)]
    assert len(places()) == 1
    for settings in ({"dtype": "float64"}, {"dtype": "bfloat16"}, {"prefix": "a"}):
        known.append(add_cache(lmscore.load(folders["gpt2"], device="cpu", **settings), tmp_path))
        assert len(places()) == len(known)
    add_cache(lmscore.load(folders["gpt2"], device="cpu"), tmp_path)
    assert len(places()) == len(known)
    texts = known[0].encode("The cat sat."), known[3].encode("The cat sat.")
    assert known[0].forward(texts[:1])[0].logprob[0] != known[3].forward(texts[1:])[0].logprob[0]
    said = json.loads(next(iter(places())).joinpath("model.json").read_text())
    assert said["schema"] == cache_key.SCHEMA
    assert "model.safetensors" in said["weights"]


def test_other_weights_under_the_same_name_are_not_mistaken(folders, tmp_path):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "model")
    one = add_cache(lmscore.load(folder, device="cpu"), tmp_path / "cache")
    (before,) = one.forward([one.encode("The cat sat.")])
    weights = load_file(folder / "model.safetensors")
    save_file({k: v * 1.5 for k, v in weights.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    other = add_cache(lmscore.load(folder, device="cpu"), tmp_path / "cache")
    (after,) = other.forward([other.encode("The cat sat.")])
    assert (before.logprob != after.logprob).all()


def test_a_model_that_only_memory_holds_is_known_by_its_weights(byte_model, tmp_path):
    def alone(factor: float):
        network = copy.deepcopy(byte_model.network)
        network.config.name_or_path = ""
        with torch.no_grad():
            network.transformer.wpe.weight.mul_(factor)
        return replace(byte_model, network=network)

    texts = [byte_model.encode("The cat sat.")]
    one, same, other = (add_cache(alone(factor), tmp_path).forward(texts)[0].logprob for factor in (1, 1, 2))
    assert len(shards(tmp_path)) == 2
    assert (one == same).all()
    assert (one != other).all()


def test_weights_that_were_edited_in_memory_and_another_attention_are_kept_apart(folders, tmp_path):
    model = lmscore.load(folders["llama"], device="cpu")
    text = model.encode("The cat sat.")
    (before,) = add_cache(model, tmp_path).forward([text])
    model.network.lm_head.weight.data[7, 3] += 1  # which no counter of torch's tells
    (after,) = add_cache(model, tmp_path).forward([text])
    assert (before.logprob != after.logprob).all()
    model.network.lm_head.weight.data[7, 3] -= 1
    swapped = model.network.model.layers[0].mlp.up_proj.weight.data
    swapped[[0, 1]] = swapped[[1, 0]]
    add_cache(model, tmp_path)
    assert len(list(tmp_path.glob("*/model.json"))) == 3
    model.network.set_attn_implementation("eager")
    add_cache(model, tmp_path)
    assert len(list(tmp_path.glob("*/model.json"))) == 4


def test_damaged_and_many_shards_become_one_and_what_is_being_written_stays(byte_model, tmp_path, caplog):
    texts = [byte_model.encode(text) for text in TEXTS[:4]]
    expected = bytes_of(byte_model.forward(texts))
    for text in texts:
        add_cache(byte_model, tmp_path).forward([text])
    one, *_ = shards(tmp_path)
    content = bytearray(one.read_bytes())
    content[40] ^= 1
    one.write_bytes(content)
    add_cache(byte_model, tmp_path).forward(texts[1:])
    assert "is damaged" in caplog.text
    assert len(shards(tmp_path)) == 1
    caplog.clear()
    add_cache(byte_model, tmp_path).forward(texts)
    assert "is damaged" not in caplog.text
    writing = add_cache(byte_model, tmp_path)
    writing.forward([byte_model.encode("The boys sat.")])
    (mine,) = set(shards(tmp_path)[-1:])
    for k in range(7):
        add_cache(byte_model, tmp_path).forward([byte_model.encode(f"The cat {k}.")])
    assert mine in shards(tmp_path)
    assert len(shards(tmp_path)) < 8
    writing.forward([byte_model.encode("The boys sat down.")])
    found = add_cache(byte_model, tmp_path).forward(texts)
    np.testing.assert_allclose([t.logprob.sum() for t in found], [np.frombuffer(row[0]).sum() for row in expected])


def test_below_float32_a_pair_comes_from_one_computation_also_when_one_is_cached(folders, tmp_path, monkeypatch):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype="bfloat16")
    asked = []
    plain = CausalModel.forward

    def watched(self, texts, **options):
        asked.append([text.ids for text in texts])
        return plain(self, texts, **options)

    monkeypatch.setattr(CausalModel, "forward", watched)
    paradigm = Paradigm("p", "agreement")

    def of(*pairs: tuple[str, str]) -> Materials:
        names = ("grammatical", "ungrammatical")
        items = (Item(f"i{k}", "p", dict(zip(names, map(Sentence, pair), strict=True))) for k, pair in enumerate(pairs))
        return Materials((paradigm,), tuple(items))

    good, bad, other = "The keys are old.", "The keys is old.", "The key is old."
    lmscore.evaluate(of((good, bad)), add_cache(model, tmp_path))
    lmscore.evaluate(of((good, other)), add_cache(model, tmp_path))
    assert [len(texts) for texts in asked] == [2, 2]  # the good one again, beside what it is compared with
    asked.clear()
    both = lmscore.evaluate(of((good, bad), (good, other)), add_cache(model, tmp_path))
    assert asked == []
    alone = [lmscore.evaluate(of(pair), model) for pair in ((good, bad), (good, other))]
    for k, pairs in enumerate(alone):
        assert (
            both.loc[k, ["score_grammatical", "score_ungrammatical"]].tolist()
            == pairs.loc[0, ["score_grammatical", "score_ungrammatical"]].tolist()
        )
    # a record that is lost takes its partner with it
    (place,) = [folder for folder in tmp_path.iterdir() if folder.is_dir()]
    for shard in place.glob("*.shard"):
        shard.write_bytes(shard.read_bytes()[:-3])
    asked.clear()
    lmscore.evaluate(of((good, bad), (good, other)), add_cache(model, tmp_path))
    assert [len(texts) for texts in asked] == [4]


def test_protocols_for_masked_models_are_kept_apart(tmp_path):
    model = add_cache(lmscore.load(bert(tmp_path / "bert"), device="cpu"), tmp_path / "cache")
    texts = [model.encode(TEXTS[0], word_l2r=word_l2r) for word_l2r in (False, True)]
    one, other = model.forward(texts)
    assert (one.logprob[:-1] != other.logprob[:-1]).any()
    again = add_cache(model.uncached, tmp_path / "cache").forward(texts)
    assert bytes_of([one, other]) == bytes_of(again)


def test_damage_is_named_and_costs_only_what_it_touched(model, calls, tmp_path, caplog, monkeypatch):
    texts = [model.encode(text) for text in TEXTS[:4]]
    for text in texts:
        add_cache(model, tmp_path).forward([text])
    expected = add_cache(model, tmp_path).forward(texts)
    one, other, torn, whole = shards(tmp_path)
    content = bytearray(one.read_bytes())
    content[40] ^= 1
    one.write_bytes(content)
    other.write_bytes(b"not ours at all" + other.read_bytes() + whole.read_bytes()[:-1] + whole.read_bytes())
    torn.write_bytes(torn.read_bytes()[:-3])
    plain, asked = type(model).forward, []

    def watched(self, given, **options):
        asked.extend(text for text in given if not options["is_known"](text))
        return plain(self, given, **options)

    monkeypatch.setattr(type(model), "forward", watched)
    found = add_cache(model, tmp_path).forward(texts, batch_tokens=1)
    assert asked == [texts[0], texts[2]]
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.logprob, theirs.logprob, atol=1e-5)
    named = [record.getMessage() for record in caplog.records if "is damaged" in record.getMessage()]
    assert len(named) == 2
    assert str(one) in named[0]
    assert str(other) in named[1]
    assert "2 records of it are kept" in named[1]
    calls.clear()
    add_cache(model, tmp_path).forward(texts)
    assert calls == []


def test_two_models_open_at_once_see_what_the_other_computes(model, calls, tmp_path):
    one, other = add_cache(model, tmp_path), add_cache(model, tmp_path)
    texts = [model.encode(text) for text in TEXTS[:4]]
    one.forward(texts[:2])
    calls.clear()
    other.forward(texts[:2])
    assert calls == []
    other.forward(texts[2:])
    calls.clear()
    one.forward(texts)
    assert calls == []


def test_a_context_and_the_way_a_text_opens_are_part_of_what_is_known(byte_model, tmp_path):
    model = add_cache(byte_model, tmp_path)
    texts = [byte_model.encode("sat on the mat."), byte_model.encode("sat on the mat.", "The cat")]
    alone, after = model.forward(texts)
    assert alone.logprob[0] != after.logprob[0]
    again = add_cache(byte_model, tmp_path).forward(texts)
    assert bytes_of([alone, after]) == bytes_of(again)


def test_an_ngram_model_is_not_cached(tmp_path):
    (tmp_path / "a.txt").write_text("the cat sat on the mat\n")
    model = lmscore.load(f"ngram:{tmp_path / 'a.txt'}:2")
    assert add_cache(model, tmp_path) is model


def test_layout_noise_is_measured_and_not_read(folders, materials, tmp_path):
    model = add_cache(lmscore.load(folders["gpt2"], device="cpu", dtype="bfloat16"), tmp_path)
    pairs = lmscore.evaluate(materials, model, ["lp"])
    assert lmscore.estimate_layout_noise(materials, model, pairs) == lmscore.estimate_layout_noise(materials, model.uncached, pairs)


def test_a_folder_that_cannot_be_used_is_one_clear_line(byte_model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"the cache .*file.* cannot be used .*--no-cache") as error:
        add_cache(byte_model, tmp_path / "file")
    assert "\n" not in str(error.value)


def test_a_cache_that_cannot_be_written_any_more_does_not_stop_the_run(byte_model, tmp_path, caplog):
    model = add_cache(byte_model, tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    texts = [byte_model.encode(text) for text in TEXTS]
    for said, one in enumerate((model, model.use_item_cache()), start=1):
        assert bytes_of(one.forward(texts)) == bytes_of(byte_model.forward(texts))
        assert sum("cannot be written" in record.getMessage() for record in caplog.records) == said


def test_a_run_that_goes_on_gives_the_bytes_of_one_that_was_not_interrupted(model, tmp_path):
    short = (text for text in grammar.draw_sentences(5) if len(text) < 40)  # within any of the windows
    texts = [model.encode(text) for text in itertools.islice(short, 120)]
    # Longer than the window of one of the models, so that some are computed in several batches.
    texts += [model.encode(" ".join(itertools.islice(grammar.draw_sentences(k), 5))) for k in range(4) if not model.masked]
    whole = bytes_of(add_cache(model, tmp_path / "whole").forward(texts, batch_tokens=200))

    def stop(done, total):
        if done >= share * total:
            raise KeyboardInterrupt

    for share in (0.1, 0.6, 0.9):
        folder = tmp_path / str(share)
        with pytest.raises(KeyboardInterrupt):
            add_cache(model, folder).forward(texts, batch_tokens=200, progress=stop)
        assert bytes_of(add_cache(model, folder).forward(texts, batch_tokens=200)) == whole


RUN = """
import itertools, signal, sys
from gardenpath import lmscore
from gardenpath.lmscore import add_cache
from gardenpath.lmscore.toy import grammar

folder, place, seed, halt = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # which programs that a shell put into the background ignore


def move(k, n):
    print(k, flush=True)
    if k == int(halt):
        sys.stdin.readline()  # here it stays until it is interrupted, however busy the machine


model = add_cache(lmscore.load(folder, device="cpu"), place)
texts = [model.encode(text) for text in itertools.islice(grammar.draw_sentences(int(seed)), 60)]
print("ready", flush=True)
tables = model.forward(texts, batch_tokens=1, progress=move)
print("finished", flush=True)
"""


def start(folder: Path, place: Path, seed: int = 1, halt: int = -1) -> subprocess.Popen:
    command = [sys.executable, "-c", RUN, str(folder), str(place), str(seed), str(halt)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, **pipes, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_an_interrupted_run_goes_on_where_it_stopped(folders, tmp_path, name):
    process = start(folders["gpt2"], tmp_path, halt=20)
    said = []
    while len(said) < 8:
        said.append(process.stdout.readline().strip())
    process.send_signal(getattr(signal, name))
    rest, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "finished" not in rest, errors
    model = lmscore.load(folders["gpt2"], device="cpu")
    rows = []
    hook = model.network.register_forward_pre_hook(lambda _, __, inputs: rows.append(len(inputs["input_ids"])), with_kwargs=True)
    texts = [model.encode(text) for text in itertools.islice(grammar.draw_sentences(1), 60)]
    tables = add_cache(model, tmp_path).forward(texts, batch_tokens=1)
    hook.remove()
    # Each line said that a row was finished, and what is said to be finished is in the cache.
    counted = [int(line) for line in (*said, *rest.split()) if line.isdigit()]
    distinct = len({(text.context_ids, text.ids) for text in texts})
    total = []
    hook = model.network.register_forward_pre_hook(lambda _, __, inputs: total.append(len(inputs["input_ids"])), with_kwargs=True)
    plain = model.forward(texts, batch_tokens=1)
    hook.remove()
    assert 7 <= max(counted) < distinct
    assert 0 < len(rows) < len(total)
    assert bytes_of(add_cache(model, tmp_path).forward(texts)) == bytes_of(tables)
    for one, other in zip(tables, plain, strict=True):
        np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-3)


@pytest.mark.slow
def test_two_processes_at_once_lose_nothing(folders, tmp_path):
    processes = [start(folders["gpt2"], tmp_path, seed) for seed in (1, 2)]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert output.endswith("finished\n"), errors
    assert len(shards(tmp_path)) == 2
    model = lmscore.load(folders["gpt2"], device="cpu")
    calls = []
    hook = model.network.register_forward_pre_hook(lambda _, __, inputs: calls.append(1), with_kwargs=True)
    texts = [model.encode(text) for seed in (1, 2) for text in itertools.islice(grammar.draw_sentences(seed), 60)]
    add_cache(model, tmp_path).forward(texts)
    hook.remove()
    assert calls == []


def test_files_are_hashed_once_until_they_change(folders, tmp_path, monkeypatch):
    hashed = []
    real = study.files.hash_file
    monkeypatch.setattr(file_hashes, "_known_hashes", {})
    monkeypatch.setattr(study.files, "hash_file", lambda path: hashed.append(Path(path).name) or real(path))
    model = lmscore.load(folders["gpt2"], device="cpu")
    add_cache(model, tmp_path)
    assert "model.safetensors" in hashed
    hashed.clear()
    add_cache(model, tmp_path)
    assert hashed == []
    config = folders["gpt2"] / "config.json"
    os.utime(config, ns=(time.time_ns(), time.time_ns()))
    add_cache(model, tmp_path)
    assert hashed == ["config.json"]
