"""Sentences per CPU-second beside minicons, surprisal and lm-eval, on one thread in float32:

    python benchmarks/lmscore_cpu.py [--blimp ../shared/data/blimp] [--pairs 1000] [--paradigm adjunct_island]

GPT-2-small's shape with seeded random weights; its tokenizer is a byte-level BPE of 50,257 entries trained on BLiMP and
seeded syllables. Two stages are `evaluate_in_stages` with bfloat16 first, beside float32 alone. Pseudo-log-likelihoods (within
words from left to right) are those of RoBERTa-base's shape over the same tokenizer, beside minicons at several batch sizes.
Each system runs in a process of its own, warmed up on eight sentences; loading is outside the clock, tokenizing inside. Pairs
come in random order; sorted by paradigm they have less padding where a system does not sort. Memory is the peak above what is
held when loaded and warm. The others are those of the extra `benchmark`; one that is absent is left out. CPU-seconds of a busy
machine vary by 10 to 20 %.

Then the commands themselves, each run in a process of its own: `score` and `evaluate` of sentences for the first time and
with all in the cache, the memory of `score` over a million words, two answers after a long prompt beside one, and a session of
thirty trials in which a model takes part beside one pass over its text.
"""

import argparse
import csv
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
WARM_UP_SENTENCES = ["The keys to the cabinet are on the table.", "No student has ever complained about the exams."] * 4
GARDENPATH_COLUMNS = {
    "ours": ("logprob",),
    "ours:table": ("logprob", "end", "log_boundary", "entropy"),
    "ours:renyi": ("logprob", "end", "log_boundary", "entropy", "renyi"),
}
PLL_SYSTEMS = ("ours:pll", "minicons:pll")
PLL_BATCH_SIZES = (1, 4, 16)  # sentences, of minicons; with more it slows down
OTHER_PACKAGES = {"lm-eval": "lm_eval", "minicons": "minicons", "surprisal": "surprisal"}
# What is compared with what, and by how much ours should be faster.
SPEED_GOALS = {
    "random": [("ours", "lm-eval", 1.6), ("ours", "minicons", 2.8), ("ours:table", "lm-eval", 1.2)],
    "paradigm": [("ours", "lm-eval", 1.8)],
    "pll": [("ours:pll", "minicons:pll", 1.4)],
    "stages": [("two stages", "float32", 1.8)],
}
MAX_MEMORY_MB = 150  # MB above the weights
MAX_CACHED_SECONDS = 2.5  # CPU-seconds of a command over 300 sentences that are all in the cache
MAX_CORPUS_MEMORY_MB = 300  # MB above the weights over a million words
Scorer = Callable[[Sequence[str]], list[float]]


def make_model(folder: Path, blimp: Path) -> Path:
    """Save GPT-2-small with random weights and its tokenizer, unless they are there already."""
    if (folder / "complete").exists():
        return folder
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=50257,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    sentences = [text for path in sorted(blimp.glob("*.jsonl")) for pair in read_pairs(path) for text in pair]
    backend.train_from_iterator([*sentences, *generate_sentences()], trainer)
    end = "<|endoftext|>"
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=end, eos_token=end, pad_token=end)
    torch.manual_seed(1)
    network = GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0))
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    (folder / "complete").touch()
    return folder


def make_masked_model(folder: Path, source: Path) -> Path:
    """Save RoBERTa-base with random weights over the tokenizer of `source`, unless they are there already."""
    if (folder / "complete").exists():
        return folder
    import torch
    from tokenizers import Tokenizer, processors
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM

    names = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>", "cls": "<s>", "sep": "</s>"}
    backend = Tokenizer.from_file(str(source / "tokenizer.json"))
    backend.add_special_tokens(list(dict.fromkeys(names.values())))
    ends = [(token, backend.token_to_id(token)) for token in ("</s>", "<s>")]
    backend.post_processor = processors.RobertaProcessing(*ends, trim_offsets=False, add_prefix_space=False)
    tokens = {f"{name}_token": token for name, token in names.items()}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **tokens)
    ids = {f"{name}_token_id": backend.token_to_id(names[name]) for name in ("bos", "pad", "eos")}
    torch.manual_seed(1)
    settings = {"vocab_size": len(tokenizer), "type_vocab_size": 1, **ids}
    # Positions are numbered from after the padding's id.
    network = RobertaForMaskedLM(RobertaConfig(max_position_embeddings=ids["pad_token_id"] + 513, **settings))
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    (folder / "complete").touch()
    return folder


def generate_sentences() -> Iterator[str]:
    """Yield sentences of made-up words, so that the tokenizer finds enough to merge."""
    drawn = random.Random("syllables")
    parts = [onset + vowel + coda for onset in "bdfgklmnprstvwz" for vowel in "aeiou" for coda in ("", "n", "r", "s", "t")]
    for _ in range(12_000):
        yield " ".join("".join(drawn.choices(parts, k=drawn.randint(2, 4))) for _ in range(8))


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Return the pairs of a BLiMP file."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(row["sentence_good"], row["sentence_bad"]) for row in rows]


def sample_sentences(blimp: Path, pairs: int, seed: int) -> list[str]:
    """Return the sentences of that many random pairs, in the order drawn."""
    everything = [pair for path in sorted(blimp.glob("*.jsonl")) for pair in read_pairs(path)]
    return [text for pair in random.Random(seed).sample(everything, pairs) for text in pair]


def build_scorer(system: str, folder: Path, batch: int) -> Scorer:
    """Return what gives each sentence's log-probability (nats) in a system."""
    if system in GARDENPATH_COLUMNS or system == "ours:pll":
        return build_gardenpath_scorer(system, folder)
    if system == "minicons:pll":
        return build_minicons_pll_scorer(folder, batch)
    if system == "minicons":
        from minicons.scorer import IncrementalLMScorer

        model = IncrementalLMScorer(str(folder), "cpu")
        return lambda texts: [
            value
            for k in range(0, len(texts), batch)
            for value in model.sequence_score(list(texts[k : k + batch]), reduction=lambda x: x.sum(0).item(), bos_token=True)
        ]
    if system == "surprisal":
        from surprisal.model import CausalHuggingFaceModel

        other = CausalHuggingFaceModel(str(folder))
        return lambda texts: [
            -float(sum(value for value in one.surprisals if np.isfinite(float(value))))
            for k in range(0, len(texts), batch)
            for one in other.surprise(list(texts[k : k + batch]))
        ]
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=str(folder), device="cpu", batch_size=batch, dtype="float32")

    def loglikelihood(texts: Sequence[str]) -> list[float]:
        requests = [Instance("loglikelihood", {}, ("", text), k) for k, text in enumerate(texts)]
        return [value for value, _ in harness.loglikelihood(requests, disable_tqdm=True)]

    return loglikelihood


def build_gardenpath_scorer(system: str, folder: Path) -> Scorer:
    from gardenpath import lmscore

    model = lmscore.load(folder, device="cpu")

    options = {"word_l2r": True} if model.masked else {}

    def compute_lp(texts: Sequence[str]) -> list[float]:
        tables = model.forward(
            [model.encode(text, **options) for text in texts], columns=GARDENPATH_COLUMNS.get(system, ("logprob",))
        )
        return [float(table.logprob[:-1].sum()) for table in tables]

    return compute_lp


def build_minicons_pll_scorer(folder: Path, batch: int) -> Scorer:
    from minicons.scorer import MaskedLMScorer
    from transformers import PreTrainedTokenizerFast

    if not hasattr(PreTrainedTokenizerFast, "batch_encode_plus"):  # minicons 0.3.39 calls it; transformers 5 has it no more
        PreTrainedTokenizerFast.batch_encode_plus = lambda self, *texts, **how: self(*texts, **how)
    model = MaskedLMScorer(str(folder), "cpu")
    return lambda texts: [
        value
        for k in range(0, len(texts), batch)
        for value in model.sequence_score(
            list(texts[k : k + batch]), reduction=lambda x: x.sum(0).item(), PLL_metric="within_word_l2r"
        )
    ]


def count_operations(folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """Return positions and multiplications that are needed, prefixes shared and not."""
    from gardenpath import lmscore
    from gardenpath.lmscore.models import causal, packing

    model = lmscore.load(folder, device="cpu")
    encoded = list(dict.fromkeys(model.encode(text) for text in texts))
    paths = [path for k, one in enumerate(encoded) for path in packing.build_paths(k, one, None, (), False)]
    rows = packing.build_shared_rows(paths, causal.DEFAULT_ROW_SIZE)
    layout = packing.lay_out_rows(rows)
    trunk = sum(p.numel() for name, p in model.network.named_parameters() if p.ndim == 2 and ".h." in name)
    head = model.network.get_output_embeddings().weight.numel()
    return {
        "positions": sum(len(path.ids) for path in paths),
        "unique": len({path.ids[: k + 1] for path in paths for k in range(len(path.ids))}),
        "computed": int(layout.lengths.sum()),
        "flop": 2.0 * (trunk * int(layout.lengths.sum()) + head * len(layout.nodes)),
    }


def measure_stages(folder: Path, texts: Sequence[str]) -> dict[str, object]:
    """Return CPU-seconds of pairs in float32, in bfloat16 and in two stages, and verdicts that are not those of float32."""
    from gardenpath import lmscore
    from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

    members = zip(texts[::2], texts[1::2], strict=True)
    items = [
        Item(str(k), "blimp", {"grammatical": Sentence(good), "ungrammatical": Sentence(bad)})
        for k, (good, bad) in enumerate(members)
    ]
    materials = Materials((Paradigm("blimp", "blimp"),), tuple(items))
    exact, coarse = (lmscore.load(folder, device="cpu", dtype=dtype) for dtype in ("float32", "bfloat16"))
    found: dict[str, object] = {}
    methods = {
        "float32": lambda some: lmscore.evaluate(some, exact),
        "bfloat16": lambda some: lmscore.evaluate(some, coarse),
        "two stages": lambda some: lmscore.evaluate_in_stages(some, exact, coarse),
    }
    verdicts = None
    for name, method in methods.items():
        method(Materials(materials.paradigms, materials.items[:8]))
        start = time.process_time()
        result = method(materials)
        seconds = time.process_time() - start
        pairs, facts = result if isinstance(result, tuple) else (result, {})
        verdicts = pairs["correct"] if verdicts is None else verdicts
        found[name] = {"cpu": seconds, "wrong": int((pairs["correct"] != verdicts).sum()), "facts": facts}
    return found


def measure_matmul_peak() -> float:
    """Return the best rate of a float32 product of the trunk's shapes, in FLOP/s."""
    import torch

    best = 0.0
    for rows in (256, 512, 1024):
        a, b = torch.rand(rows, 768), torch.rand(3072, 768)
        for _ in range(8):
            start = time.process_time()
            for _ in range(8):
                a @ b.T
            best = max(best, 8 * 2.0 * rows * 768 * 3072 / (time.process_time() - start))
    return best


def read_memory_megabytes(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def measure_system(system: str, folder: Path, texts: list[str], batch: int) -> dict[str, object]:
    """Return CPU-seconds, memory and scores of one system."""
    import torch

    torch.set_num_threads(1)
    if system == "peak":
        return {"peak": measure_matmul_peak()}
    if system == "operations":
        return dict(count_operations(folder, texts))
    if system == "stages":
        return measure_stages(folder, texts)
    score = build_scorer(system, folder, batch)
    score(WARM_UP_SENTENCES)
    base_memory = read_memory_megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    start, wall = time.process_time(), time.perf_counter()
    values = score(texts)
    return {
        "cpu": time.process_time() - start,
        "wall": time.perf_counter() - wall,
        "memory": read_memory_megabytes("VmHWM") - base_memory,
        "scores": values,
    }


def run_in_process(system: str, folder: Path, texts: list[str], batch: int) -> dict:
    """Return what `measure_system` returns in a process of its own with one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    call = [sys.executable, __file__, "--child", system, "--model", str(folder), "--batch", str(batch)]
    environment = {**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    process = subprocess.run(call, input=json.dumps(texts), capture_output=True, text=True, env=environment)
    if process.returncode:
        raise SystemExit(f"{system} failed:\n{process.stderr[-3000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def compare_systems(
    title: str, texts: list[str], folder: Path, systems: Sequence[str], batch: int, peak: float
) -> dict[str, float]:
    """Print a table of the systems and return sentences per CPU-second of each."""
    need = run_in_process("operations", folder, texts, batch)
    print(
        f"\n{title}: {len(texts)} sentences, {need['positions']} positions, {need['unique'] / need['positions']:.1%} of "
        f"them unique, {need['computed'] / need['positions']:.1%} computed"
    )
    print(f"{'system':12} {'sentences/CPU-s':>15} {'wall s':>8} {'memory MB':>10} {'check sum':>14} {'furthest, nats':>15}")
    speeds: dict[str, float] = {}
    reference: np.ndarray | None = None
    for system in systems:
        found = run_in_process(system, folder, texts, batch)
        scores = np.array(found["scores"])
        reference = scores if reference is None else reference
        speeds[system] = len(texts) / found["cpu"]
        deviation = np.abs(scores - reference).max()
        share = f"   {need['flop'] / found['cpu'] / peak:.0%} of the matmul peak" if system == "ours" else ""
        print(
            f"{system:12} {speeds[system]:15.1f} {found['wall']:8.1f} {found['memory']:10.0f} {scores.sum():14.2f} "
            f"{deviation:15.1e}{share}"
        )
        if system in GARDENPATH_COLUMNS and found["memory"] > MAX_MEMORY_MB:
            print(f"{'':12} MISSED: more than {MAX_MEMORY_MB} MB above the weights")
        if system != "surprisal" and deviation > 1e-4:  # it takes the end of the text out of every distribution
            print(f"{'':12} MISSED: a sentence is further than 1e-4 nats from ours")
    return speeds


def compare_masked(texts: list[str], folder: Path, batches: Sequence[int]) -> dict[str, float]:
    """Print a table for masked models and return sentences per CPU-second, of minicons at its best batch."""
    print(f"\npseudo-log-likelihood within words from left to right, RoBERTa-base's shape: {len(texts)} sentences")
    print(f"{'system':20} {'sentences/CPU-s':>15} {'memory MB':>10} {'check sum':>14} {'furthest, nats':>15}")
    speeds: dict[str, float] = {}
    reference: np.ndarray | None = None
    for system, batch in [(PLL_SYSTEMS[0], 0), *((PLL_SYSTEMS[1], size) for size in batches)]:
        found = run_in_process(system, folder, texts, batch)
        scores = np.array(found["scores"])
        reference = scores if reference is None else reference
        speed, deviation = len(texts) / found["cpu"], np.abs(scores - reference).max()
        speeds[system] = max(speeds.get(system, 0.0), speed)
        title = f"{system}, batch {batch}" if batch else system
        print(f"{title:20} {speed:15.2f} {found['memory']:10.0f} {scores.sum():14.2f} {deviation:15.1e}")
        if deviation > 1e-4:
            print(f"{'':20} MISSED: a sentence is further than 1e-4 nats from ours")
    return speeds


def compare_stages(texts: list[str], folder: Path) -> dict[str, float]:
    """Print a table of ways to compute pairs and return sentences per CPU-second of each."""
    found = run_in_process("stages", folder, texts, 0)
    print(f"\ntwo stages: {len(texts) // 2} pairs\n{'way':12} {'sentences/CPU-s':>15} {'verdicts not those of float32':>30}")
    for name, one in found.items():
        print(f"{name:12} {len(texts) / one['cpu']:15.1f} {one['wrong']:30}")
    facts = found["two stages"]["facts"]
    print(facts.get("note") or f"{facts['exact']} pairs in float32; wrong verdicts of the others at most {facts['wrong_at_most']}")
    return {name: len(texts) / one["cpu"] for name, one in found.items()}


def write_materials(folder: Path, blimp: Path, pairs: int, seed: int) -> Path:
    """Write random pairs of BLiMP as materials."""
    path = folder / f"pairs-{pairs}.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["paradigm", "phenomenon", "item", "condition", "sentence"])
        for number, text in enumerate(sample_sentences(blimp, pairs, seed)):
            lines.writerow(["blimp", "blimp", f"i{number // 2}", ("grammatical", "ungrammatical")[number % 2], text])
    return path


def measure_command(line: str, base_memory: float = 0.0) -> tuple[float, float, set[str]]:
    """Run a command in a process of its own; return CPU-seconds, the peak of memory (MB) and what large packages it imported."""
    code = (
        "import json, resource, sys, time\n"
        "from gardenpath.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "large = [name for name in ('torch', 'transformers') if name in sys.modules]\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "print(json.dumps([time.process_time(), peak, large]))"
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    call = [sys.executable, "-c", code, *line.split()]
    process = subprocess.run(call, capture_output=True, text=True, env=environment)
    if process.returncode:
        raise SystemExit(f"{line} failed:\n{process.stderr[-3000:]}")
    seconds, peak, large = json.loads(process.stdout.splitlines()[-1])
    return seconds, peak - base_memory, set(large)


def measure_commands(model: Path, blimp: Path, seed: int) -> None:
    """Print what `score` and `evaluate` cost for the first time and with all in the cache."""
    print("\n300 sentences by the commands, CPU-seconds from the start of the program")
    with tempfile.TemporaryDirectory() as folder:
        items = write_materials(Path(folder), blimp, 150, seed)
        for name in ("score", "evaluate"):
            line = f"{name} {items} --model {model} --device cpu --cache {folder}/cache --force -o {folder}/out"
            runs = [measure_command(line) for _ in range(2)]
            imported = ", ".join(sorted(runs[1][2])) or "neither torch nor transformers"
            print(f"{name:12} first {runs[0][0]:6.1f}   all in the cache {runs[1][0]:6.2f}, {imported}")
            met = runs[1][0] <= MAX_CACHED_SECONDS and not runs[1][2]
            print(f"{'':12} goal {MAX_CACHED_SECONDS} without them: {'met' if met else 'MISSED'}")


def measure_large_materials(model: Path, blimp: Path, seed: int) -> None:
    """Print the memory of `score` over a million words above what it holds over a few; the model is a small one."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small")
        torch.manual_seed(1)
        GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0)).save_pretrained(small)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(model / name, small / name)
        options = f"--model {small} --device cpu --no-cache --force -o {folder}/out"
        # Four pairs of the corpus have no second member that differs, and are no items.
        _, base_memory, _ = measure_command(f"score {write_materials(Path(folder), blimp, 16, seed)} {options}")
        seconds, added_memory, _ = measure_command(
            f"score {write_materials(Path(folder), blimp, 66_000, seed)} {options} --skip-bad", base_memory
        )
        print(f"\n132,000 sentences, a million words: {seconds:.0f} CPU-seconds, {added_memory:.0f} MB more than 32 sentences")
        print(f"{'':12} goal {MAX_CORPUS_MEMORY_MB} MB: {'met' if added_memory <= MAX_CORPUS_MEMORY_MB else 'MISSED'}")


def measure_long_prompt(model: Path) -> None:
    """Print what two answers after a prompt of 140 tokens cost beside the positions of prompt and answers."""
    from gardenpath import lmscore

    if not hasattr(lmscore, "continuations"):
        return
    import torch

    torch.set_num_threads(1)
    loaded = lmscore.load(model, device="cpu")
    prompt = " ".join(["The keys to the cabinet are on the table."] * 14) + " Is that right?"
    both = lmscore.encode_continuations(loaded, prompt, ("Yes", "No"))
    one = lmscore.encode_continuations(loaded, prompt, ("Yes",))

    def measure_cost(texts: Sequence[object]) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            loaded.forward(texts, columns=["logprob"])
            times.append(time.process_time() - start)
        return min(times)

    measure_cost(both)
    ratio = measure_cost(both) / measure_cost(one)
    print(
        f"\ntwo answers after {len(both[0].context_ids)} tokens cost {ratio:.2f} x one; goal 1.5 x: "
        f"{'met' if ratio <= 1.5 else 'MISSED'}"
    )


def measure_session(model: Path) -> None:
    """Print what thirty trials cost a model that takes part, each after those before it, beside one pass over them."""
    from types import SimpleNamespace

    import torch

    from gardenpath import lmscore

    torch.set_num_threads(1)
    loaded = lmscore.load(model, device="cpu")
    trials = [f"{text} ({n})\nHow good does it sound?\n<<4>>" for n, text in enumerate(islice(cycle(WARM_UP_SENTENCES), 30))]
    labels = tuple("1234567")
    questions = [
        SimpleNamespace(opening="", trials=trials[:n], current=trials[n].partition("<<")[0] + "<<", answers=labels)
        for n in range(len(trials))
    ]

    def measure_cost(conversation_state: object) -> float:
        start = time.process_time()
        for one in questions:
            lmscore.answer_questions(loaded, [one], state=conversation_state)
        return time.process_time() - start

    conversation_state = lmscore.create_conversation_state(loaded)
    restarted_seconds, _, continued_seconds = (
        measure_cost(None),
        measure_cost(conversation_state),
        measure_cost(conversation_state),
    )  # what carries is probed in its first session
    full_text = loaded.encode("\n\n".join(trials))
    start = time.process_time()
    loaded.forward([full_text], columns=["logprob"])
    single_pass_seconds = time.process_time() - start
    print(
        f"\na session of 30 trials ({len(full_text.ids)} tokens): {continued_seconds:.1f} CPU-s, "
        f"{continued_seconds / single_pass_seconds:.2f} x one pass over its text; "
        f"{restarted_seconds:.1f} where each question reads all anew; goal 3 x: "
        f"{'met' if continued_seconds <= 3 * single_pass_seconds else 'MISSED'}"
    )


def print_goals(speeds: dict[str, float], goals: Sequence[tuple[str, str, float]]) -> None:
    for system, other, goal in goals:
        if system in speeds and other in speeds:
            ratio = speeds[system] / speeds[other]
            print(f"{system} is {ratio:.2f} x {other}; goal {goal} x: {'met' if ratio >= goal else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blimp", type=Path, default=ROOT.parent / "shared" / "data" / "blimp")
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "gardenpath-benchmark-gpt2-small")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--paradigm", default="adjunct_island", help="the whole of this paradigm too; '' for none")
    parser.add_argument("--pll-pairs", type=int, default=50, help="of the random pairs, for masked models; 0 for none")
    parser.add_argument("--stage-pairs", type=int, default=5000, help="random pairs in two stages; 0 for none")
    parser.add_argument(
        "--systems", nargs="+", default=[*GARDENPATH_COLUMNS, *OTHER_PACKAGES], choices=[*GARDENPATH_COLUMNS, *OTHER_PACKAGES]
    )
    parser.add_argument("--batch", type=int, default=32, help="batch size of the others; 32 is their best")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", action=argparse.BooleanOptionalAction, default=True, help="the commands too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure_system(options.child, options.model, json.load(sys.stdin), options.batch)))
        return
    if not options.blimp.is_dir():
        raise SystemExit(f"no folder {options.blimp}; expected BLiMP's jsonl files there: name it with --blimp")
    folder = make_model(options.model, options.blimp)
    systems = [name for name in options.systems if name in GARDENPATH_COLUMNS or importlib.util.find_spec(OTHER_PACKAGES[name])]
    peak = run_in_process("peak", folder, [], 0)["peak"]
    print(f"matmul peak {peak / 1e9:.0f} GFLOP/s, one thread, float32; load of the machine {os.getloadavg()[0]:.1f}")
    texts = sample_sentences(options.blimp, options.pairs, options.seed)
    title = f"{options.pairs} random pairs, seed {options.seed}"
    print_goals(compare_systems(title, texts, folder, systems, options.batch, peak), SPEED_GOALS["random"])
    if options.paradigm:
        texts = [text for pair in read_pairs(options.blimp / f"{options.paradigm}.jsonl") for text in pair]
        few_systems = [name for name in systems if name in ("ours", "lm-eval")]
        print_goals(compare_systems(options.paradigm, texts, folder, few_systems, options.batch, peak), SPEED_GOALS["paradigm"])
    if options.stage_pairs:
        print_goals(
            compare_stages(sample_sentences(options.blimp, options.stage_pairs, options.seed), folder), SPEED_GOALS["stages"]
        )
    if options.pll_pairs:
        masked = make_masked_model(options.model.with_name(f"{options.model.name}-masked"), folder)
        batches = PLL_BATCH_SIZES if "minicons" in systems else ()
        print_goals(
            compare_masked(sample_sentences(options.blimp, options.pll_pairs, options.seed), masked, batches), SPEED_GOALS["pll"]
        )
    if options.commands:
        measure_commands(folder, options.blimp, options.seed)
        measure_large_materials(folder, options.blimp, options.seed)
        measure_long_prompt(folder)
        measure_session(folder)


if __name__ == "__main__":
    main()
