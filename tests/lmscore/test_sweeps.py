"""A sweep gives the same tables however it is computed, and says of everything else what became of it."""

import gzip
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="the extra lm is not installed")
pytest.importorskip("transformers", reason="the extra lm is not installed")

from gardenpath import lmscore, stimuli  # noqa: E402
from gardenpath.lmscore.cache import file_hashes  # noqa: E402
from gardenpath.lmscore.models.causal import CausalModel  # noqa: E402
from gardenpath.lmscore.sweeps import costs, execution, manifest, merged_results, worker  # noqa: E402
from gardenpath.lmscore.sweeps.settings import read_sweep  # noqa: E402
from gardenpath.lmscore.sweeps.stores import Store, StoreError  # noqa: E402
from gardenpath.study import executors  # noqa: E402

from .test_masked import bert  # noqa: E402

pytestmark = pytest.mark.lm

NOUNS = ("key", "cat", "boy", "chef", "house", "student", "exam")
MODELS = '[[models]]\nname = "gpt2"\n[[models]]\nname = "llama"\ndtype = "bfloat16"\n[[models]]\nname = "bert"\n'


def pairs_of(language: str, count: int = 20) -> str:
    """Return a file of pairs, of lengths that differ."""
    nouns = itertools.islice(itertools.permutations(NOUNS, 2), count)
    rows = (f"The {a}s near the {b} {'really ' * (k % 4)}are old.\tThe {a}s near the {b} {'really ' * (k % 4)}is old.\n" for k, (a, b) in enumerate(nouns))  # fmt: skip
    return "grammatical\tungrammatical\n" + "".join(rows)


@pytest.fixture(scope="module")
def place(folders, tmp_path_factory) -> Path:
    """A folder with three models and pairs of two languages."""
    base = tmp_path_factory.mktemp("sweep")
    for name in ("gpt2", "llama"):
        (base / name).symlink_to(folders[name])
    bert(base / "bert")
    for language in ("en", "nl"):
        (base / f"{language}.tsv").write_text(pairs_of(language))
    return base


def sweep_of(place: Path, store: str, models: str = MODELS, **keys: object):
    stated = {"store": store, "unit_size": 1000, "batch_tokens": 200, **keys}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in stated.items())
    path = place / f"{Path(store).name}.toml"
    path.write_text(f'{lines}[materials]\nen = ["en.tsv"]\nnl = ["nl.tsv"]\n{models}')
    sweep = read_sweep(path)
    return sweep, Store(sweep.resolve_path(sweep.store))


def planned(place: Path, store: str, **keys: object) -> tuple[manifest.SweepManifest, Store]:
    sweep, kept = sweep_of(place, store, **keys)
    made, files = manifest.make_manifest(sweep)
    manifest.write_manifest(made, files, kept)
    return manifest.read_manifest(kept), kept


def bytes_of(merged: merged_results.MergedSweep) -> str:
    assert not merged.faults
    return merged.tables["pairs"].to_csv()


@pytest.fixture(scope="module")
def whole(place: Path) -> tuple[manifest.SweepManifest, Store, execution.RunSummary]:
    """A sweep that one process has computed, here."""
    made, store = planned(place, "whole")
    return made, store, execution.run_sweep(made, store, lambda cards: None)


def test_a_sweep_is_what_evaluate_says_of_each_model(place, whole):
    made, store, ran = whole
    assert (ran.computed_count, ran.load_count, ran.failures) == (len(made.units), 3, {})
    pairs = merged_results.merge(made, store).tables["pairs"]
    files = (place / "en.tsv", place / "nl.tsv")
    materials = [stimuli.read(file, language=file.stem) for file in files]
    for name, dtype in (("gpt2", "float32"), ("bert", "float32")):
        model = lmscore.load(place / name, device="cpu", dtype=dtype)
        expected = pd.concat([lmscore.evaluate(read, model) for read in materials], ignore_index=True)
        found = pairs[pairs["model"] == name].reset_index(drop=True)
        columns = ["item", "paradigm", "language", "protocol", "measure"]
        pd.testing.assert_frame_equal(found[columns], expected[columns])
        pd.testing.assert_frame_equal(found.drop(columns="model"), expected.drop(columns="model"), rtol=1e-6)
    assert {*pairs["model"]} == {"gpt2", "llama (bfloat16)", "bert"}


def test_bytes_are_the_same_for_two_workers_and_for_one_that_is_killed(place, whole):
    made, store, _ = whole
    two, kept = planned(place, "two")
    ran = execution.run_sweep(two, kept, lambda cards: executors.LocalExecutor(2))
    assert ran.load_count <= 2 * 3
    assert bytes_of(merged_results.merge(two, kept)) == bytes_of(merged_results.merge(made, store))
    assert execution.run_sweep(two, kept, lambda cards: None).computed_count == 0


def test_a_unit_that_goes_on_computes_what_is_missing_and_gives_the_same_bytes(place, whole, monkeypatch):
    made, store, _ = whole
    again, kept = planned(place, "again")
    computed, compute = [], CausalModel._compute

    def stops(self, *given):
        computed.append(1)
        if len(computed) == 7:
            raise KeyboardInterrupt
        return compute(self, *given)

    monkeypatch.setattr(CausalModel, "_compute", stops)
    with pytest.raises(KeyboardInterrupt):
        execution.run_sweep(again, kept, lambda cards: None)
    assert len(kept.list_files("batches")) > 1
    first, calls = {name: kept.read(name) for name in kept.list_files("batches")}, len(computed)
    execution.run_sweep(again, kept, lambda cards: None)
    assert bytes_of(merged_results.merge(again, kept)) == bytes_of(merged_results.merge(made, store))
    assert {name: kept.read(name) for name in first} == first
    assert calls > 0
    # A batch that is damaged is computed again.
    name = next(iter(first))
    kept.write(name, first[name][:-3])
    [unit] = [unit for unit in again.units if unit.id in name]
    Path(kept.address, f"results/{unit.id}.json.gz").unlink()
    execution.run_sweep(again, kept, lambda cards: None)
    assert kept.read(name) == first[name]


def test_the_plan_follows_from_texts_alone_and_units_keep_items_whole(place, whole):
    made, _, _ = whole
    sweep, store = sweep_of(place, "whole")
    again, _ = manifest.make_manifest(sweep)
    assert again.to_json() == made.to_json()
    assert all(part.positions <= 1000 for part in made.parts)
    items = [item for part in made.parts for item in manifest.read_part(store, part).items]
    assert len({item.id for item in items}) == len(items) == 40
    assert [unit.model.name for unit in made.units] == sorted((u.model.name for u in made.units), key=["gpt2", "llama", "bert"].index)  # fmt: skip
    other, _ = manifest.make_manifest(replace(sweep, measures=("mean_lp",)))
    assert not {unit.id for unit in other.units} & {unit.id for unit in made.units}
    more, _ = manifest.make_manifest(replace(sweep, models=sweep.models[:1], gpus=2))
    assert {unit.id for unit in more.units} < {unit.id for unit in made.units}  # where it runs changes nothing of it


def test_a_hundred_models_on_a_hundred_and_one_languages_are_planned_at_once(tmp_path):
    for k in range(101):
        (tmp_path / f"l{k}.tsv").write_text(pairs_of("x", 5))
    tags = [a + b for a, b in itertools.product("abcdefghijk", "abcdefghijk")][:101]
    languages = "".join(f'{tag} = ["l{k}.tsv"]\n' for k, tag in enumerate(tags))
    models = "".join(f'[[models]]\nname = "m/{k}"\n' for k in range(100))
    (tmp_path / "sweep.toml").write_text(f"[materials]\n{languages}{models}")
    begun = time.process_time()
    made, files = manifest.make_manifest(read_sweep(tmp_path / "sweep.toml"))
    store = Store(str(tmp_path / "store"))
    manifest.write_manifest(made, files, store)
    assert len(manifest.read_manifest(store).units) == 10_100
    assert len({unit.id for unit in made.units}) == 10_100
    assert time.process_time() - begun < 6  # under two where nothing else runs


def test_shards_are_a_division_of_the_units(whole):
    made, _, _ = whole
    for of in (1, 2, 5):
        shares = [execution.select_shard(made.units, number, of) for number in range(of)]
        assert [unit for share in shares for unit in share] == list(made.units)
        assert all(shares)
    with pytest.raises(ValueError, match="expected 0/2 to 1/2"):
        execution.select_shard(made.units, 2, 2)


def test_a_model_that_cannot_be_loaded_fails_its_units_in_one_line_and_no_other(place, caplog):
    made, store = planned(place, "poison", models='[[models]]\nname = "nothing-here/x"\n[[models]]\nname = "gpt2"\n')
    tried, load = [], worker.load

    def watched(name, **how):
        tried.append(name)
        if "nothing" in name:
            raise ValueError("model 'nothing-here/x': cannot be loaded")
        return load(name, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "load", watched)
        ran = execution.run_sweep(made, store, lambda cards: None)
    assert tried == ["nothing-here/x", str(place / "gpt2")]
    assert sum("cannot be loaded" in record.getMessage() for record in caplog.records) == 1
    assert len(ran.failures) == len(made.parts)
    merged = merged_results.merge(made, store)
    assert merged_results.build_state_matrix(merged.coverage).to_numpy().tolist() == [["nothing-here/x", "failed", "failed"], ["gpt2", "done", "done"]]  # fmt: skip
    assert len(merged.faults) == 1
    assert "cannot be loaded" in merged.faults[0]
    assert [one.n_failed for one in merged_results.compute_progress(made, store)] == [len(made.parts), 0]


def test_a_model_folder_that_vanishes_fails_what_is_left_and_what_is_done_stays(place, folders, tmp_path):
    (place / "fleeting").symlink_to(folders["gpt2"])
    made, store = planned(place, "gone", models='[[models]]\nname = "fleeting"\n')
    execution.run_sweep(made, store, lambda cards: None, units=made.units[:1])
    (place / "fleeting").unlink()
    worker._current_model = worker._CurrentModel()
    ran = execution.run_sweep(made, store, lambda cards: None)
    assert len(ran.failures) == len(made.units) - 1
    assert ran.already_count == 1
    merged = merged_results.merge(made, store)
    assert merged.coverage[["n_done", "n_failed"]].sum().tolist() == [1, len(made.units) - 1]


def test_a_sentence_that_cannot_be_scored_fails_alone(place):
    (place / "en-bad.tsv").write_text(pairs_of("en", 4) + "The cat is old.\t" + "very " * 70 + "old.\n")
    models = '[[models]]\nname = "bert"\n'
    sweep, store = sweep_of(place, "bad", models=models)
    made, files = manifest.make_manifest(replace(sweep, materials={"en": ("en-bad.tsv",)}))
    manifest.write_manifest(made, files, store)
    execution.run_sweep(made, store, lambda cards: None)
    merged = merged_results.merge(made, store)
    assert merged.coverage[["n_items", "n_left_out", "state"]].to_numpy().tolist() == [[5, 1, "done"]]
    assert len(merged.tables["pairs"]) == 4
    assert len(merged.faults) == 1
    assert "1 items could not be scored" in merged.faults[0]
    assert "exceed the window" in merged.faults[0]
    assert not merged_results.merge(replace(made, skip_bad=True), store).faults


def test_what_was_computed_elsewhere_under_another_identity_is_not_merged_in_silence(place, whole):
    made, store, _ = whole
    other, kept = planned(place, "mixed")
    for name in store.list_files("results"):
        kept.write(name, store.read(name))
    name = f"results/{made.units[0].id}.json.gz"
    record = json.loads(gzip.decompress(store.read(name)))
    record |= {"identity": "other", "facts": {**record["facts"], "versions": {"torch": "1.0"}}}
    kept.write(name, gzip.compress(json.dumps(record).encode()))
    merged = merged_results.merge(other, kept)
    assert len(merged.faults) == 1
    assert "2 identities" in merged.faults[0]
    assert '"1.0"' in merged.faults[0]
    assert "expected one" in merged.faults[0]
    assert "gpt2" not in {*merged.tables["pairs"]["model"]}
    assert merged_results.merge(other, kept, mixed=True).tables["pairs"].equals(merged_results.merge(made, store).tables["pairs"])


def test_memory_that_runs_out_halves_a_batch_then_asks_for_more_cards_then_is_recorded(place, monkeypatch):
    models = '[[models]]\nname = "gpt2"\ngpus = 1\n'
    made, store = planned(place, "memory", models=models, unit_size=2**20)
    monkeypatch.setattr(manifest.ModelVariant, "build_load_arguments", lambda self, cards: {"name": self.source, "device": "cpu"})
    compute, room, asked = CausalModel._compute, {1: 0, 2: 64}, []

    def short(self, layout, *given):
        if layout.ids.size > room[asked[-1]]:
            raise MemoryError("too little")
        return compute(self, layout, *given)

    def engine(cards):
        asked.append(int(cards))

    monkeypatch.setattr(CausalModel, "_compute", short)
    worker._current_model = worker._CurrentModel()
    ran = execution.run_sweep(made, store, engine, most_cards=2)
    assert asked == [1, 2]
    assert not ran.failures
    record = json.loads(gzip.decompress(store.read(store.list_files("results")[0])))
    assert "memory ran out" in record["warnings"][0]
    assert record["cards"] == 2
    assert "memory ran out" in merged_results.merge(made, store).models["gpt2"]["warnings"][0]
    other, kept = planned(place, "little", models=models, unit_size=2**20)
    worker._current_model = worker._CurrentModel()
    ran = execution.run_sweep(other, kept, engine, most_cards=1)
    assert len(ran.failures) == 2
    assert "does not hold" in next(iter(ran.failures.values()))


def test_a_full_disk_stops_the_run_in_one_line_and_what_is_there_serves_the_next(place, whole, monkeypatch):
    made, store, _ = whole
    full, kept = planned(place, "full")
    replace_file, count = os.replace, []

    def little(source, target):
        count.append(target)
        if len(count) > 9:
            raise OSError(28, "No space left on device", str(target))
        replace_file(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", little)
        with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\)"):
            execution.run_sweep(full, kept, lambda cards: None)
    assert kept.list_files("batches")
    execution.run_sweep(full, kept, lambda cards: None)
    assert bytes_of(merged_results.merge(full, kept)) == bytes_of(merged_results.merge(made, store))


def test_an_object_store_serves_as_a_folder_does(place, whole):
    pytest.importorskip("fsspec", reason="fsspec is not installed: the extra cluster")
    made, store, _ = whole
    pairs = merged_results.merge(made, store).tables["pairs"].query("model == 'gpt2'")
    for address in ("memory://sweep", f"file://{place}/by-address"):
        far, kept = planned(place, address, models='[[models]]\nname = "gpt2"\n')
        execution.run_sweep(far, kept, lambda cards: None)
        assert bytes_of(merged_results.merge(far, kept)) == pairs.to_csv()
    with pytest.raises(ValueError, match="expected a folder, or an address"):
        Store("nowhere9://x")


def test_a_cache_that_cannot_be_written_and_breaks_cost_nothing(place, whole, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))  # as a folder that may not be written
    monkeypatch.setattr(file_hashes, "_known_hashes", {})
    worker._current_model = worker._CurrentModel()
    _, store, _ = whole
    other, kept = planned(place, "nocache", models='[[models]]\nname = "gpt2"\n')
    execution.run_sweep(other, kept, lambda cards: None, units=other.units[:2])
    for unit in other.units[:2]:
        kinds = [json.loads(gzip.decompress(one.read(f"results/{unit.id}.json.gz"))) for one in (store, kept)]
        assert kinds[0]["columns"] == kinds[1]["columns"]
        assert kinds[0]["identity"] == kinds[1]["identity"]
    [one] = merged_results.compute_progress(other, kept)
    assert (one.n_done, one.rate > 0, one.seconds_left > 0) == (2, True, True)


def test_what_another_run_is_at_is_left_for_last(place, whole):
    made, store = planned(place, "lease", models='[[models]]\nname = "gpt2"\n')
    lease = {"started": time.time(), "who": "other:1"}
    store.write(f"leases/{made.units[0].id}.json", json.dumps(lease).encode())
    order: list[str] = []
    execution.run_sweep(made, store, lambda cards: None, on_report=lambda unit, report: order.append(unit.id))
    assert order == [unit.id for unit in (*made.units[1:], made.units[0])]
    # What was computed by another run meanwhile is not computed again.
    assert (
        worker.compute_unit(worker.UnitTask(made.units[0], dict(made.scoring_settings), store.address, 0)).state
        == worker.STATE_ELSEWHERE
    )


def test_models_are_asked_too_and_their_judgments_are_those_of_judge(folders, tmp_path):
    (tmp_path / "en.tsv").write_text(pairs_of("en", 6))
    (tmp_path / "asked.toml").write_text(
        'language = "en"\n[[templates]]\ntype = "yes_no"\nid = "1"\nuser = "{{ sentence }} Fine?"\nlabels = ["Yes", "No"]\n'
    )
    stated = 'measures = []\nunit_size = 400\n[materials]\nen = ["en.tsv"]\n[judging]\nmethods = ["lp", "yes_no"]\ntemplates = ["asked.toml"]\n'  # fmt: skip
    (tmp_path / "sweep.toml").write_text(f'{stated}[[models]]\nname = "{folders["llama"]}"\n')
    made, files = manifest.make_manifest(read_sweep(tmp_path / "sweep.toml"))
    store = Store(str(tmp_path / "store"))
    manifest.write_manifest(made, files, store)
    ran = execution.run_sweep(made, store, lambda cards: None)
    assert ran.computed_count == len(made.units) > 1
    found = merged_results.merge(made, store).tables["judgments"]
    model = lmscore.load(folders["llama"], device="cpu")
    expected = lmscore.judge(
        stimuli.read(tmp_path / "en.tsv", language="en"),
        model,
        ["lp", "yes_no"],
        templates=lmscore.read_templates(tmp_path / "asked.toml"),
    )
    assert len(found) == 6 * 2
    pd.testing.assert_frame_equal(found, expected, rtol=1e-5, check_dtype=False)


def test_what_fits_and_what_it_costs(place):
    models = '[[models]]\nname = "a/b"\ngpus = 2\nparameters = 14e9\ndtype = "bfloat16"\n[[models]]\nname = "a/c"\ngpus = 1\nparameters = 7e9\ndtype = "bfloat16"\n'  # fmt: skip
    sweep, _ = sweep_of(place, "costs", models=models)
    sweep = replace(sweep, cost=replace(sweep.cost, gpu_hour=2.0))
    made, _ = manifest.make_manifest(sweep)
    total = sum(part.positions for part in made.parts)
    measured = costs.Calibration(made.models[1], total / 3600, 7e9)  # one hour
    large, small = costs.estimate_costs(made, sweep, measured)
    assert (small.hours, small.card_hours, small.cost, small.gigabytes) == (1, 1, 2, 14)
    assert (large.hours, large.card_hours, large.cost) == (2, 4, 8)
    fitting = costs.count_cards_needed(made.models[0])
    assert fitting is not None
    assert (fitting[16], fitting[40], fitting[80]) == (3, 1, 1)
    scripts = costs.build_slurm_scripts(made, sweep)
    assert [*scripts] == ["cards-1.sh", "cards-2.sh"]
    assert "--gpus-per-task=2" in scripts["cards-2.sh"]


def in_a_process(made: manifest.SweepManifest, store: Store, seconds: float = 0) -> bool:
    """Run a sweep in a process of its own, which is killed after so much of its own time; return whether it was."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            torch.set_num_threads(1)
            execution.run_sweep(made, store, lambda cards: None)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_worker_killed_at_fifty_random_points_leaves_the_bytes_of_one_that_was_not(place):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    one = {"models": '[[models]]\nname = "gpt2"\n', "batch_tokens": 64}
    made, store = planned(place, "unkilled", **one)
    worker._get_model(
        worker.UnitTask(made.units[0], dict(made.scoring_settings), store.address, 0)
    )  # so that what is killed is computing
    assert not in_a_process(made, store)
    expected, chance = bytes_of(merged_results.merge(made, store)), random.Random(1)
    kills = rounds = 0
    while kills < 50:
        killed, kept = planned(place, f"killed-{rounds}", **one)
        while in_a_process(killed, kept, chance.uniform(0.002, 0.05)):
            kills += 1
        assert bytes_of(merged_results.merge(killed, kept)) == expected
        rounds += 1
    torch.set_num_threads(threads)
    assert rounds < 50


CLUSTER = """
import sys, time
sys.path[:] = {path!r}
from ray.cluster_utils import Cluster
import ray
from gardenpath.lmscore.sweeps import execution, manifest
from gardenpath.lmscore.sweeps.stores import Store
from gardenpath.study import executors
cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 1, "include_dashboard": False}})
second = cluster.add_node(num_cpus=1)
ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
store = Store(sys.argv[1])
made = manifest.read_manifest(store)
killed = []
def on_report(unit, report):
    if not killed:
        killed.append(unit)
        cluster.remove_node(second, allow_graceful=False)
ran = execution.run_sweep(made, store, lambda cards: executors.RayExecutor(workers=2), on_report=on_report)
print("\\nmachines lost:", len(killed), "units done:", ran.computed_count, "failed:", len(ran.failures), flush=True)
ray.shutdown()
cluster.shutdown()
"""


@pytest.mark.slow
def test_a_machine_of_a_cluster_that_is_lost_leaves_its_units_to_the_other(place, whole, tmp_path_factory):
    pytest.importorskip("ray", reason="Ray is not installed: the extra cluster")
    made, store, _ = whole
    lost, kept = planned(place, "lost")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    with tempfile.TemporaryDirectory(prefix="gp", dir="/tmp", ignore_cleanup_errors=True) as short:  # sockets lie there
        line = [sys.executable, "-c", CLUSTER.format(path=sys.path), kept.address]
        ran = subprocess.run(line, env={**environment, "RAY_TMPDIR": short}, capture_output=True, text=True, timeout=300)
    # Ray's own remarks stand around it.
    assert f"machines lost: 1 units done: {len(lost.units)} failed: 0\n" in ran.stdout, ran.stdout + ran.stderr
    assert bytes_of(merged_results.merge(lost, kept)) == bytes_of(merged_results.merge(made, store))
