"""A causal model: token ids become numbers in a forward pass, and what is kept of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gardenpath import study

from . import pocket
from .encoding import CERTAIN, TEXT, Encoded, Encoder, encode
from .models import COLUMNS, Done, check_columns
from .pocket import Progress
from .tokentable import TokenTable

if TYPE_CHECKING:
    import torch

CPU_TOKENS, GPU_TOKENS = 2048, 16384  # positions of a batch; bigger batches gain nothing on a CPU
CPU_LOGITS, GPU_LOGITS = 2**23, 2**27  # logits held at once, counted in numbers


@dataclass(frozen=True)
class CausalModel:
    """A causal language model ready to score.

    `name` is the name as given ('pocket (toy)' for the pocket model), `packed` whether the head may be applied to
    single positions; `boundary` and `text` are masks over the vocabulary: what begins a word or ends the text, and what
    can open a text.
    """

    name: str
    encoder: Encoder
    network: Any
    device: str
    dtype: str
    revision: str | None
    packed: bool
    boundary: "torch.Tensor"
    text: "torch.Tensor"

    def encode(self, text: str, context: str | None = None, **options: Any) -> Encoded:
        """Return `text` as tokens to score after the prefix token and its context; see `encode`."""
        return encode(self.encoder, text, context, **options)

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        source = self.network.config.name_or_path
        facts: dict[str, object] = {
            "name": self.name,
            "architecture": type(self.network).__name__,
            "parameters": self.network.num_parameters(),
            "revision": getattr(self.network.config, "_commit_hash", None) or self.revision,
            "dtype": self.dtype,
            "device": self.device,
            "prefix_token": self.encoder.tokenizer.convert_ids_to_tokens(self.encoder.prefix),
            "vocabulary": len(self.encoder.vocabulary.begins),
        }
        if Path(source).is_dir():
            files = sorted(
                p for p in Path(source).iterdir() if p.suffix in (".safetensors", ".bin") or p.name == "tokenizer.json"
            )
            facts["sha256"] = {p.name: study.sha256(p) for p in files}
        if self.name == pocket.LABEL:
            facts["toy"] = (
                "a toy trained on sentences of a small grammar; its numbers say nothing about English or about people"
            )
        return facts

    def forward(
        self,
        texts: Sequence[Encoded],
        *,
        columns: Sequence[str] = COLUMNS,
        batch_tokens: int | None = None,
        progress: Progress | None = None,
        done: Done | None = None,
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given; equal token sequences are computed once.

        Texts are sorted by length and computed in batches of at most `batch_tokens` positions. Columns not asked for
        are NaN; with `logprob` alone the last token is not fed.
        """
        wanted = check_columns(columns)
        unique = list({_key(text): text for text in texts}.values())
        unique.sort(key=lambda text: -_length(text))
        found: dict[tuple[object, ...], TokenTable] = {}
        for batch in _batches(unique, batch_tokens or _batch_tokens(self)):
            tables = _compute(self, batch, wanted)
            found.update(zip(map(_key, batch), tables, strict=True))
            if done:
                done(tables)
            if progress:
                progress(len(found), len(unique))
        return [replace(found[_key(text)], encoded=text) for text in texts]


def _key(text: Encoded) -> tuple[object, ...]:
    return text.fed, text.ids, text.opening


def _length(text: Encoded) -> int:
    return len(text.fed) + len(text.ids)


def _batch_tokens(model: CausalModel) -> int:
    budget = GPU_TOKENS if model.device.startswith("cuda") else CPU_TOKENS
    # A model that computes all its logits itself holds one for every position and vocabulary entry.
    return budget if model.packed else min(budget, 16 * _held(model) // len(model.boundary))


def _held(model: CausalModel) -> int:
    return GPU_LOGITS if model.device.startswith("cuda") else CPU_LOGITS


def _batches(texts: Sequence[Encoded], budget: int) -> Iterator[list[Encoded]]:
    """Yield texts sorted from long to short in batches whose padded size keeps to the budget, one text at least."""
    batch: list[Encoded] = []
    for text in texts:
        if batch and _length(batch[0]) * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _compute(model: CausalModel, batch: Sequence[Encoded], wanted: frozenset[str]) -> list[TokenTable]:
    """Return the token table of each text of a batch."""
    import torch

    longest = max(map(_length, batch))
    ids = torch.tensor([[*t.fed, *t.ids, *[t.fed[0]] * (longest - _length(t))] for t in batch], device=model.device)
    mask = torch.tensor([[1] * _length(t) + [0] * (longest - _length(t)) for t in batch], device=model.device)
    places = [(row, len(t.fed) - 1 + j) for row, t in enumerate(batch) for j in range(len(t.ids) + 1)]
    targets = [i for t in batch for i in (*t.ids, -1)]
    opens = [t.opening == TEXT and j == 0 for t in batch for j in range(len(t.ids) + 1)]
    with torch.inference_mode():
        rows, columns = torch.tensor(places, device=model.device).T
        if model.packed:
            states = model.network.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        else:
            states = model.network(input_ids=ids, attention_mask=mask, use_cache=False).logits
        states = states[rows, columns]
        size = max(1, _held(model) // len(model.boundary))
        parts = [
            _measure(model, states[a : a + size], targets[a : a + size], opens[a : a + size])
            for a in range(0, len(places), size)
        ]
    columns_ = [np.concatenate([part[k] for part in parts]) for k in range(4)]
    for name, column in zip(("logprob", "log_boundary", "entropy", "renyi"), columns_, strict=True):
        if name not in wanted:
            column[np.array(targets) >= 0 if name == "logprob" else slice(None)] = np.nan
    if "end" not in wanted:
        columns_[0][np.array(targets) < 0] = np.nan
    cuts = np.cumsum([len(t.ids) + 1 for t in batch])[:-1]
    tables = list(zip(*(np.split(column, cuts) for column in columns_), strict=True))
    for text, (_, log_boundary, _, _) in zip(batch, tables, strict=True):
        if text.opening == CERTAIN and "log_boundary" in wanted:
            log_boundary[0] = 0.0
    return [TokenTable(text, *table) for text, table in zip(batch, tables, strict=True)]


def _measure(
    model: CausalModel, states: "torch.Tensor", targets: Sequence[int], opens: Sequence[bool]
) -> tuple[np.ndarray, ...]:
    """Return logprob, log boundary mass, entropy and Rényi entropy (nats) of some positions, computed in float32 or better."""
    import torch

    logits = model.network.get_output_embeddings()(states) if model.packed else states
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    logp = logits - logits.logsumexp(-1, keepdim=True)
    target = torch.tensor(targets, device=logp.device)
    at_end = target < 0
    logprob = logp.gather(-1, target.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    if model.encoder.ends:
        logprob[at_end] = logp[at_end][:, sorted(model.encoder.ends)].logsumexp(-1)
    else:
        logprob[at_end] = -torch.inf
    boundary = logp.masked_fill(~model.boundary, -torch.inf).logsumexp(-1)
    first = torch.tensor(opens, device=logp.device)
    boundary[first] = logp[first].masked_fill(~model.text, -torch.inf).logsumexp(-1)
    entropy = torch.special.entr(logp.exp()).sum(-1)
    renyi = 2 * (logp / 2).logsumexp(-1)
    return tuple(x.double().cpu().numpy() for x in (logprob, boundary, entropy, renyi))
