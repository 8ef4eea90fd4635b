"""The pocket model: a toy causal transformer, trained in under a minute on sentences of our own grammar.

It needs no download, so that every command can be tried and tested anywhere. It is saved as an ordinary Hugging Face
model and loaded like any other; its name says in every output that it is a toy.
"""

import hashlib
import itertools
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..cache.cache_folder import get_cache_folder
from ..models.huggingface import silence_libraries
from ..models.interface import Progress
from . import grammar

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

MODEL_NAME = "pocket"
TOY_WARNING = "a toy trained on sentences of a small grammar; its numbers say nothing about English or about people"
DEFAULT_SEED = 1
END_TOKEN = "<|endoftext|>"

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class Training:
    """How a pocket model is made; the defaults are the pocket model, tests make smaller ones."""

    sentences: int = 21_500
    vocabulary: int = 1536
    width: int = 160
    layers: int = 2
    heads: int = 4
    window: int = 256
    batch_tokens: int = 768
    matrix_rate: float = 0.03
    rate: float = 4e-3


def build_pocket(
    folder: str | Path, seed: int = DEFAULT_SEED, training: Training | None = None, progress: Progress | None = None
) -> Path:
    """Train a pocket model, save model and tokenizer into `folder` and return the folder.

    On one machine the same seed gives the same bytes; between machines, weights can differ in the last digits.
    """
    study.errors.require("torch", "lm")
    study.errors.require("transformers", "lm")
    import torch

    training = training or Training()
    texts = list(itertools.islice(grammar.draw_sentences(seed), training.sentences))
    tokenizer = _train_tokenizer(texts, training)
    threads = torch.get_num_threads()
    # One thread: the order of additions depends on their number, and on busy cores two wait for each other at each of
    # the many small steps (27 s alone and 45 s beside two busy programs, against 21 s and more than 200 s with two).
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = _build_network(tokenizer, training)
            _train_network(network, _build_batches(_build_documents(texts, tokenizer, seed), training, seed), training, progress)
    finally:
        torch.set_num_threads(threads)
    with silence_libraries():
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return Path(folder)


def get_pocket_folder() -> Path:
    """Return the folder of the pocket model, whether it is there or not."""
    return get_cache_folder() / f"pocket-{_compute_fingerprint()}"


def ensure_pocket_folder(progress: Progress | None = None) -> Path:
    """Return the folder of the pocket model in the user's cache, trained there now if it is not yet."""
    folder = get_pocket_folder()
    if folder.exists():
        return folder
    log.info("training the pocket model (a toy, once, under a minute) into %s", folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".pocket-"))
    try:
        build_pocket(temporary, progress=progress)
        temporary.chmod(0o755)
        os.rename(temporary, folder)
    except OSError:
        # Another process can have finished the same model meanwhile; a folder that is not empty is not replaced.
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _compute_fingerprint() -> str:
    """Return a short hash of everything that decides what the pocket model knows."""
    from gardenpath.stimuli import grammar as generator

    folders = [Path(str(module)).parent for module in (__file__, generator.__file__)]
    sources = [path.read_bytes() for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    settings = json.dumps([asdict(Training()), DEFAULT_SEED]).encode()
    return hashlib.sha256(b"\0".join([*sources, settings])).hexdigest()[:12]


def _train_tokenizer(texts: Sequence[str], training: Training) -> "PreTrainedTokenizerFast":
    """Return a byte-level BPE tokenizer trained on the texts; any text can be encoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=training.vocabulary,
        special_tokens=[END_TOKEN],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(texts[:20_000], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=END_TOKEN, eos_token=END_TOKEN, model_max_length=training.window
    )


def _build_network(tokenizer: "PreTrainedTokenizerFast", training: Training) -> Any:
    """Return a GPT-2 without dropout: it sees each sentence once."""
    from transformers import GPT2Config, GPT2LMHeadModel

    end = tokenizer.eos_token_id
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=training.window,
            n_embd=training.width,
            n_layer=training.layers,
            n_head=training.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=end,
            eos_token_id=end,
        )
    )


def _build_documents(texts: Sequence[str], tokenizer: "PreTrainedTokenizerFast", seed: int) -> list[list[int]]:
    """Return token ids of documents, mostly of one sentence; a few long ones train the later positions."""
    random = Random(f"documents-{seed}")
    end = tokenizer.eos_token_id
    documents, rest = [], iter(texts)
    while document := list(itertools.islice(rest, random.choices((1, 2, 4, 16), (85, 8, 5, 2))[0])):
        documents.append(" ".join(document))
    return [[end, *ids, end] for ids in tokenizer(documents, add_special_tokens=False)["input_ids"]]


def _build_batches(documents: list[list[int]], training: Training, seed: int) -> list[list[list[int]]]:
    """Return batches of documents of similar length under the token budget, in random order."""
    random = Random(f"batches-{seed}")
    documents = [ids[: training.window] for ids in documents]
    random.shuffle(documents)
    batches: list[list[list[int]]] = []
    # Sorting within blocks keeps padding low and the mixture of every part of the training the same.
    for block in _split_blocks(documents, 4096):
        batch: list[list[int]] = []
        for ids in sorted(block, key=len):
            if batch and len(ids) * (len(batch) + 1) > training.batch_tokens:
                batches.append(batch)
                batch = []
            batch.append(ids)
        batches.append(batch)
    random.shuffle(batches)
    return batches


def _split_blocks(documents: list[list[int]], size: int) -> list[list[list[int]]]:
    return [documents[start : start + size] for start in range(0, len(documents), size)]


def _train_network(network: Any, batches: list[list[list[int]]], training: Training, progress: Progress | None) -> None:
    """Train in one pass: warm-up over a twentieth of the steps, then a linear fall to zero."""
    import torch

    # With Muon for the matrices agreement across an attractor is learned in half a minute; with AdamW alone it is not.
    matrices = [p for name, p in network.named_parameters() if p.ndim == 2 and ".h." in name]
    inside = set(map(id, matrices))
    others = [p for p in network.parameters() if id(p) not in inside]
    optimizers = [
        torch.optim.Muon(matrices, lr=training.matrix_rate, weight_decay=0.05),
        torch.optim.AdamW(others, lr=training.rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    steps = len(batches)
    warm = max(1, steps // 20)
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(o, lambda k: min((k + 1) / warm, (steps - k) / max(1, steps - warm))) for o in optimizers
    ]
    network.train()
    for step, batch in enumerate(batches, start=1):
        longest = max(map(len, batch))
        ids = torch.tensor([row + [row[-1]] * (longest - len(row)) for row in batch])
        labels = torch.tensor([row + [-100] * (longest - len(row)) for row in batch])
        logits = network(input_ids=ids[:, :-1]).logits
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten()).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
        network.zero_grad()
        if progress:
            progress(step, steps)
    network.eval()
