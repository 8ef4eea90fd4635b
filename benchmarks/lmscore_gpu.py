"""How much of a GPU's matmul peak scoring reaches, and all of BLiMP beside minicons:

    python benchmarks/lmscore_gpu.py [--blimp ../shared/data/blimp] [--pairs 2000] [--device cuda]

First a Llama of seven billion parameters in bfloat16, its random weights made on the device: the parameters of its
matrix products times the distinct positions computed, by the time, as a share of the best matrix product measured.
Then GPT-2-small on all of BLiMP, tokenizing and tables included, beside minicons (extra `benchmark`) at its best batch.
`--device cpu --tiny` runs the same lines on small shapes, to see that they work.
"""

import argparse
import functools
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lmscore_cpu import ROOT, make_model, read_pairs, sample_sentences

LLAMA_SHAPE = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32}
TINY_SHAPE = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
BATCH_POSITIONS = (8192, 16384, 32768, 65536)  # positions
MINICONS_BATCH_SIZES = (32, 64, 128, 256, 512)  # sentences, of minicons
GOAL_SHARE, GOAL_RATIO = 0.6, 10  # the goals: of the matmul peak, and times minicons


def measure_seconds(device: str, work: Callable[[], object]) -> float:
    """Return the seconds that some work takes, the device's included."""
    import torch

    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    start = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - start


def measure_matmul_peak(device: str, size: int) -> float:
    """Return the best rate of a product of bfloat16 matrices, in FLOP/s."""
    import torch

    a, b = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))

    def compute_products() -> None:
        for _ in range(10):
            a @ b

    compute_products()
    return 10 * 2.0 * size**3 / min(measure_seconds(device, compute_products) for _ in range(5))


def build_large_model(folder: Path, device: str, shape: dict[str, int]) -> Any:
    """Return a model of that shape with random weights made on the device, over the benchmark's tokenizer."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from gardenpath.lmscore.models import causal, fast_paths
    from gardenpath.lmscore.tokens.encoding import Encoder, build_vocabulary

    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = LlamaConfig(vocab_size=50304, bos_token_id=0, eos_token_id=0, **shape)
    torch.manual_seed(1)
    with torch.device(device):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        network = LlamaForCausalLM(config).eval()
        torch.set_default_dtype(before)
    encoder = Encoder(tokenizer, build_vocabulary(tokenizer, config.vocab_size), 0, frozenset({0}), 4096)
    return fast_paths.enable_fast_paths(causal.CausalModel("random Llama", encoder, network, device, "bfloat16"))


def count_positions(model: Any, encoded: Sequence[Any]) -> tuple[int, int]:
    """Return how many distinct positions are computed, and how many of them the output layer is applied to."""
    from gardenpath.lmscore.models import packing

    paths = [path for k, one in enumerate(encoded) for path in packing.build_paths(k, one, None, (), False)]
    layout = packing.lay_out_rows(packing.build_shared_rows(paths, model.row) if model.row else packing.build_single_rows(paths))
    return int(layout.lengths.sum()), len(layout.nodes)


def measure_peak_share(folder: Path, device: str, texts: Sequence[str], shape: dict[str, int], peak: float) -> float:
    """Print the share of the matmul peak at each batch size and return the best."""
    model = build_large_model(folder, device, shape)
    facts = model.describe()
    print(f"{facts['parameters'] / 1e9:.2f} billion parameters, bfloat16; {facts['layout']}, head {facts['head']}")
    print({name: why for name, why in facts.items() if name.endswith("_because")} or "every fast path holds")
    encoded = list(dict.fromkeys(model.encode(text) for text in texts))
    trunk_positions, head_positions = count_positions(model, encoded)
    head = model.network.get_output_embeddings().weight.numel()
    trunk = sum(p.numel() for p in model.network.parameters() if p.ndim == 2) - 2 * head
    flop = 2.0 * (trunk * trunk_positions + head * head_positions)
    best = 0.0
    for batch in BATCH_POSITIONS:
        work = functools.partial(model.forward, encoded, columns=["logprob"], batch_tokens=batch)
        seconds = min(measure_seconds(device, work) for _ in range(2))
        best = max(best, flop / seconds / peak)
        print(f"{batch:6} positions a batch: {len(encoded) / seconds:8.0f} sentences/s, {flop / seconds / peak:.0%} of peak")
    return best


def measure_sentence_rate(folder: Path, device: str, texts: Sequence[str]) -> float:
    """Return the rate of GPT-2-small in bfloat16, from texts to tables."""
    from gardenpath import lmscore

    model = lmscore.load(folder, device=device, dtype="bfloat16")

    def score(batch: int) -> None:
        model.forward([model.encode(text) for text in texts], columns=["logprob"], batch_tokens=batch)

    best = 0.0
    for batch in BATCH_POSITIONS:
        rate = len(texts) / measure_seconds(device, functools.partial(score, batch))
        print(f"ours, {batch:6} positions a batch: {rate:8.0f} sentences/s")
        best = max(best, rate)
    return best


def measure_minicons_rate(folder: Path, device: str, texts: Sequence[str]) -> float:
    """Return minicons' rate at its best batch size, measured on some of the texts."""
    import torch
    from minicons.scorer import IncrementalLMScorer

    model = IncrementalLMScorer(str(folder), device, torch_dtype=torch.bfloat16)

    def score(some: Sequence[str], batch: int) -> None:
        for k in range(0, len(some), batch):
            model.sequence_score(list(some[k : k + batch]), reduction=lambda x: x.sum(0).item(), bos_token=True)

    score(texts[:64], 32)
    best = 0.0
    for batch in MINICONS_BATCH_SIZES:
        rate = len(texts) / measure_seconds(device, functools.partial(score, texts, batch))
        print(f"minicons, batches of {batch:4}: {rate:8.0f} sentences/s")
        best = max(best, rate)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blimp", type=Path, default=ROOT.parent / "shared" / "data" / "blimp")
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "gardenpath-benchmark-gpt2-small")
    parser.add_argument("--pairs", type=int, default=2000, help="random pairs for the large model and for minicons")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small shapes and few sentences")
    options = parser.parse_args()
    if not options.blimp.is_dir():
        raise SystemExit(f"no folder {options.blimp}; expected BLiMP's jsonl files there: name it with --blimp")
    folder = make_model(options.model, options.blimp)
    pairs = 20 if options.tiny else options.pairs
    sampled_texts = sample_sentences(options.blimp, pairs, 1)
    files = sorted(options.blimp.glob("*.jsonl"))
    all_texts = sampled_texts if options.tiny else [text for path in files for pair in read_pairs(path) for text in pair]
    peak = measure_matmul_peak(options.device, 256 if options.tiny else 8192)
    print(f"matmul peak {peak / 1e12:.3g} TFLOP/s in bfloat16 on {options.device}")
    share = measure_peak_share(folder, options.device, sampled_texts, TINY_SHAPE if options.tiny else LLAMA_SHAPE, peak)
    print(f"{share:.0%} of the matmul peak; goal {GOAL_SHARE:.0%}: {'met' if share >= GOAL_SHARE else 'MISSED'}")
    rate = measure_sentence_rate(folder, options.device, all_texts)
    if importlib.util.find_spec("minicons"):
        ratio = rate / measure_minicons_rate(folder, options.device, sampled_texts)
        print(f"{ratio:.1f} x minicons; goal {GOAL_RATIO} x: {'met' if ratio >= GOAL_RATIO else 'MISSED'}")


if __name__ == "__main__":
    main()
