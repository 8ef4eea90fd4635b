"""A model that was loaded before reads texts as it did then, and loads its weights when a number is missing."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from gardenpath import lmscore
from gardenpath.lmscore import load_cached
from gardenpath.lmscore.cache import metadata_cache
from gardenpath.lmscore.models import fast_paths, probe_results

from ..conftest import ROOT, run_here
from .conftest import CORPUS
from .prompting import materials, pair, speaking, template
from .test_cache import bytes_of
from .test_masked import bert

pytestmark = pytest.mark.lm

ENCODINGS = {False: [{}, {"prefix": False}, {"leading_space": True}, {"closing": True}], True: [{}, {"word_l2r": True}]}


@pytest.fixture
def loads(monkeypatch):
    """What was loaded, since the test began."""
    seen = []
    real = metadata_cache.load
    monkeypatch.setattr(metadata_cache, "load", lambda name, **settings: seen.append(str(name)) or real(name, **settings))
    return seen


READING = """
import sys
from gardenpath import lmscore
folder, cache, *texts = sys.argv[1:]
for known in texts:
    model = lmscore.load_cached(folder, cache, device="cpu")
    for one in (model, model.use_item_cache()):
        print(sum(one.forward([one.encode(known)])[0].logprob))
"""


@pytest.mark.slow
def test_a_cache_on_a_disk_that_can_only_be_read_serves_and_is_gone_on_without(folders, tmp_path):
    cache, known, new = tmp_path / "cache", CORPUS[0], "The exams sat on the boys."
    first = load_cached(folders["gpt2"], cache, device="cpu")
    sums = [sum(first.forward([first.encode(text)])[0].logprob) for text in (known,)]
    for remembers in ("verdicts", "hashes.json"):  # as where another version of gardenpath reads it
        path = cache / remembers
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    mounted = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    unshare = ["unshare", "--mount", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*unshare, mounted, "sh", str(cache)], capture_output=True).returncode:
        pytest.skip("no disk can be mounted for reading alone here")
    call = [sys.executable, "-c", READING, str(folders["gpt2"]), str(cache), known, new]
    read = subprocess.run(
        [*unshare, f'{mounted} && shift && exec "$@"', "sh", str(cache), *call], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr
    plain = lmscore.load(folders["gpt2"], device="cpu")
    sums += [sum(plain.forward([plain.encode(new)])[0].logprob)]
    assert [float(line) for line in read.stdout.split()] == pytest.approx([sums[0]] * 2 + [sums[1]] * 2, abs=1e-4)
    assert "cannot be written (Read-only file system); going on without" in read.stderr


@pytest.mark.parametrize("kind", ["gpt2", "llama", "metaspace", "bert"])
def test_what_was_loaded_once_reads_texts_and_says_what_it_is_without_its_weights(folders, tmp_path, loads, kind):
    folder = bert(tmp_path / "bert") if kind == "bert" else folders[kind]
    cache, corpus = tmp_path / "cache", tmp_path / "corpus.txt"
    corpus.write_text("\n".join([*CORPUS, "a </s> <unk> [SEP] ☃"]))
    first = load_cached(folder, cache, device="cpu")

    def encoded(model) -> list:
        ways = itertools.product(CORPUS, (None, "Ein Haus."), ENCODINGS[model.masked])
        return [model.encode(text, context, **how) for text, context, how in ways]

    texts = encoded(first)
    tables = first.forward(texts)
    assert loads == [str(folder)]

    model = load_cached(folder, cache, device="cpu")
    assert encoded(model) == texts
    assert bytes_of(model.forward(texts)) == bytes_of(tables)
    assert (model.name, model.masked, model.dtype) == (first.name, first.masked, "float32")
    assert model.describe() == first.describe()
    counts = [lmscore.read_unigrams(corpus, one) for one in (model, first)]
    assert counts[0] == counts[1]
    assert len(loads) == 1

    more = "The exams sat on the boys."
    (computed,) = model.forward([model.encode(more)])
    assert loads == [str(folder)] * 2
    plain = lmscore.load(folder, device="cpu")
    assert bytes_of([computed]) == bytes_of(plain.forward([plain.encode(more)]))
    assert model.network.num_parameters() == plain.network.num_parameters()
    assert model.encoder.tokenizer.convert_ids_to_tokens(3) == plain.encoder.tokenizer.convert_ids_to_tokens(3)


def test_another_file_setting_or_code_is_loaded_anew(folders, tmp_path, loads, monkeypatch):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "model")

    def again(**settings) -> int:
        loads.clear()
        load_cached(folder, tmp_path / "cache", **{"device": "cpu", **settings}).encode("a")
        return len(loads)

    assert [again(), again()] == [1, 0]
    assert [again(dtype="float64"), again(dtype="float64"), again(prefix="a"), again()] == [1, 0, 1, 0]
    os.utime(folder / "config.json", ns=(1, 1))
    assert [again(), again()] == [1, 0]
    monkeypatch.setattr(metadata_cache, "hash_own_code", lambda: "other")
    assert [again(), again()] == [1, 0]
    records = (tmp_path / "cache" / "loaded").iterdir()
    (record,) = [path for path in records if json.loads(path.read_text())["state"]["code"] == "other"]
    record.write_text(record.read_text()[:100])
    assert [again(), again()] == [1, 0]


def test_cards_that_cannot_be_told_are_asked_of_torch_each_time(folders, tmp_path, loads, monkeypatch):
    monkeypatch.setattr(metadata_cache, "_describe_cards", lambda: None)
    for _ in range(2):
        load_cached(folders["gpt2"], tmp_path)
    assert len(loads) == 2


def test_weights_that_change_between_reading_and_computing_are_an_error(folders, tmp_path):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "model")
    load_cached(folder, tmp_path / "cache", device="cpu")
    model = load_cached(folder, tmp_path / "cache", device="cpu")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_positions": 64, "activation_function": "relu"}))
    with pytest.raises(ValueError, match="its files changed while it was in use; expected the same from first to last"):
        model.forward([model.encode("The cat")])


@pytest.mark.parametrize(
    "commands", [{"score": "surprisal sentence_scores", "evaluate": "pairs"}, {"judge --template 1": "judgments"}], ids=" ".join
)
def test_a_run_of_what_is_cached_imports_neither_torch_nor_transformers(tmp_path, commands):
    """In a process of its own: the second run of each command."""
    lines = [
        f"gardenpath {command} examples/minimal-pairs/items.csv --model pocket --cache {tmp_path}/cache -o {tmp_path}/{run}"
        for run in (1, 2)
        for command in commands
    ]
    assert {run_here(line, ROOT).code for line in lines[: len(commands)]} == {0}
    code = (
        "import contextlib, sys\nfrom gardenpath.cli.main import main\n"
        "for line in sys.argv[1:]:\n    sys.argv = line.split()\n    with contextlib.suppress(SystemExit):\n        main()\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    call = [sys.executable, "-c", code, *lines[len(commands) :]]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for name in " ".join(commands.values()).split():
        one, other = ((tmp_path / run / f"{name}.csv").read_bytes() for run in ("1", "2"))
        assert one == other


@pytest.mark.parametrize("family", ["qwen", "gemma"])
def test_what_was_judged_once_is_judged_again_without_weights(tmp_path, loads, family):
    folder = speaking(tmp_path, family)
    items = materials(pair("The cat sat.", "The cat sit."), pair("The dogs bark.", "The dogs barks.", "i2"))
    rate = template("rate", "{{ sentence }}", ("1", "2", "3"), system="Answer.")

    def judged():
        model = load_cached(folder, tmp_path / "cache", device="cpu")
        return lmscore.judge(items, model, ["lp", "rate", "rate_generated"], templates=[rate])

    first, again = judged(), judged()
    assert loads == [str(folder)]
    assert again.equals(first)
    assert again.attrs == first.attrs


@pytest.fixture
def probed(monkeypatch):
    """How often a model was probed."""
    calls = []
    real = fast_paths._probe_fast_paths
    monkeypatch.setattr(fast_paths, "_probe_fast_paths", lambda plain: calls.append(plain.name) or real(plain))
    return calls


def test_what_probing_tells_is_remembered_of_the_architecture_not_of_the_weights(folders, tmp_path, probed):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "model")
    models = [lmscore.load(place, device="cpu", probe_folder=tmp_path) for place in (folders["gpt2"], folder)]
    assert len(probed) == 1
    assert [(m.row_size, m.head is not None, m.reasons) for m in models] == [(models[0].row_size, True, {})] * 2
    lmscore.load(folder, device="cpu", dtype="float64", probe_folder=tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"activation_function": "relu"}))
    lmscore.load(folder, device="cpu", probe_folder=tmp_path)
    assert len(probed) == 3
    lmscore.load(folder, device="cpu")
    assert len(probed) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"device": "cuda:1"},
        {"quantization": "8bit"},
        {"dtype": "bfloat16"},
        {"attention": "eager"},
        {"adapter": {"default": "rank 8"}},
        {"map": {"h.0": 0, "h.1": 1}},
        {"code": True},
    ],
    ids=str,
)
def test_a_verdict_is_one_of_all_that_decides_it(folders, monkeypatch, change):
    model = lmscore.load(folders["gpt2"], device="cpu")
    before = probe_results.collect_probe_facts(model)
    monkeypatch.setattr(probe_results, "get_processor_name", lambda torch, device: device)
    before["processor"] = "cpu"
    if "attention" in change:
        model.network.config._attn_implementation = change["attention"]
    elif "adapter" in change:
        model.network.peft_config = change["adapter"]
    elif "map" in change:
        model.network.hf_device_map = change["map"]
    elif "code" in change:
        own = type("Own", (type(model.network),), {"__module__": __name__})
        model = replace(model, network=own(model.network.config))
    else:
        model = replace(model, **change)
    assert probe_results.collect_probe_facts(model) != before


def test_nothing_is_remembered_of_weights_that_wait_on_a_disk(folders, tmp_path):
    model = lmscore.load(folders["gpt2"], device="cpu")
    model.network.hf_device_map = {"transformer": "cpu", "lm_head": "disk"}
    asked = []
    for _ in range(2):
        assert probe_results.load_or_probe(model, tmp_path, lambda: asked.append("again") or {"head": 0}) == {"head": 0}
    assert asked == ["again"] * 2
    assert list(tmp_path.iterdir()) == []
