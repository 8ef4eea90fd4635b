"""The output layer apart from the rest of a network, in blocks of the vocabulary: no full table of logits is held."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .packing import END_TARGET

if TYPE_CHECKING:
    import torch

ENTRIES_PER_BLOCK = 2048  # vocabulary entries at a time: large enough for a fast product, small enough to stay in a cache
POSITIONS_PER_CHUNK = {"cpu": 512, "cuda": 16384}  # positions at a time

OPENING_CLASS, END_CLASS, REST_CLASS = range(3)
LOGPROB_COLUMNS = frozenset(("logprob", "end", "log_boundary"))


@dataclass(frozen=True)
class Head:
    """A linear output layer, what its product is multiplied by, and the bound that a hyperbolic tangent keeps it in."""

    linear: Any
    scale: float = 1.0
    cap: float | None = None

    def select_logits(self, entries: "slice | torch.Tensor") -> "Callable[[torch.Tensor], torch.Tensor]":
        """Return the function from states to the logits of some vocabulary entries."""
        import torch

        weight = self.linear.weight[entries]
        bias = None if self.linear.bias is None else self.linear.bias[entries]

        def logits(states: "torch.Tensor") -> "torch.Tensor":
            product = torch.nn.functional.linear(states, weight, bias)
            if self.scale != 1:
                product = product * self.scale
            return product if self.cap is None else torch.tanh(product / self.cap) * self.cap

        return logits


@dataclass(frozen=True)
class OwnLogits:
    """Stands for a head where the states are the model's own logits."""

    def select_logits(self, entries: "slice | torch.Tensor") -> "Callable[[torch.Tensor], torch.Tensor]":
        """Return the function from all logits to those of some vocabulary entries; -inf becomes the least number."""
        import torch

        return lambda logits: logits[:, entries].clamp(min=torch.finfo(logits.dtype).min)


class _CapturedStates(Exception):
    """Carries what reached the output layer."""

    def __init__(self, states: "torch.Tensor") -> None:
        super().__init__()
        self.states = states


def capture_states(network: Any, **inputs: Any) -> "torch.Tensor":
    """Return what the output layer of a network is given, [row, place, width]; the layer itself is not computed."""

    def catch_states(module: Any, arguments: tuple[Any, ...]) -> None:
        raise _CapturedStates(arguments[0])

    hook = network.get_output_embeddings().register_forward_pre_hook(catch_states)
    try:
        network(**inputs)
    except _CapturedStates as caught:
        return caught.states
    finally:
        hook.remove()
    raise RuntimeError("the output layer is not called as a layer")


def capture_layer_states(network: Any, layers: Sequence[int], **inputs: Any) -> tuple["torch.Tensor", list["torch.Tensor"]]:
    """Return what `capture_states` does, and the same by the output of each of these layers (0: the embedding).

    A layer's output goes through the norm that follows the last layer. Raises `ValueError` where that is not all that stands
    between the last layer and the output layer.
    """
    import torch

    stack, after = _find_layers(network)
    seen: dict[int, torch.Tensor] = {}

    def keep_input(module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen[0] = arguments[0] if arguments else named["hidden_states"]

    def build_output_hook(number: int) -> Callable[..., None]:
        def keep_output(module: Any, arguments: Any, output: Any) -> None:
            seen[number] = output if isinstance(output, torch.Tensor) else output[0]

        return keep_output

    hooks = [stack[0].register_forward_pre_hook(keep_input, with_kwargs=True)]
    hooks += [layer.register_forward_hook(build_output_hook(number)) for number, layer in enumerate(stack, start=1)]
    try:
        last = capture_states(network, **inputs)
    finally:
        for hook in hooks:
            hook.remove()
    norm = next((module for module in after if _has_output(module, seen[len(stack)], last)), None)
    if norm is None:
        raise ValueError(
            f"{type(network).__name__}: more than a norm stands between its last layer and its output layer, so that no layer "
            "can be read by them; expected surprisal_layer of another architecture"
        )
    return last, [last if number == len(stack) else norm(seen[number]) for number in layers]


def _find_layers(network: Any) -> tuple[Any, list[Any]]:
    """Return a network's layers, and the modules that stand beside them."""
    import torch

    count = network.config.get_text_config().num_hidden_layers
    for parent in network.modules():
        for child in parent.children():
            if isinstance(child, torch.nn.ModuleList) and len(child) == count:
                return child, [module for module in parent.children() if module is not child]
    raise ValueError(f"{type(network).__name__}: its layers are not found; expected surprisal_layer of another architecture")


def _has_output(module: Any, given: "torch.Tensor", expected: "torch.Tensor") -> bool:
    import torch

    try:
        output = module(given)
    except Exception:  # an embedding, or what takes other arguments
        return False
    return isinstance(output, torch.Tensor) and output.shape == expected.shape and torch.allclose(output, expected)


def list_heads(network: Any) -> Iterator[Head]:
    """Yield the heads that a network's configuration allows for, the plainest first; none of weights that are not all here."""
    linear = network.get_output_embeddings()
    weight = getattr(linear, "weight", None)
    if weight is None or weight.is_meta or not weight.is_floating_point():
        return
    config = network.config.get_text_config()
    factors = [1.0]
    for name in ("logit_scale", "logits_scaling", "lm_head_multiplier"):
        value = getattr(config, name, None)
        if isinstance(value, (int, float)) and value not in (0, 1):
            factors += [float(value), 1 / float(value)]
    bounds = [getattr(config, name, None) for name in ("final_logit_softcapping", "logits_soft_cap")]
    for bound in (None, *(float(b) for b in bounds if b)):
        for factor in factors:
            yield Head(linear, factor, bound)


def get_head(network: Any, number: int | None) -> Head | None:
    """Return one of the `list_heads`; of None, none."""
    return None if number is None else next(itertools.islice(list_heads(network), number, None))


@dataclass(frozen=True)
class VocabularyBlocks:
    """The vocabulary in blocks of one class each: ids that open a word, that end a text, and the rest.

    `block_columns` gives for each id its block and its column there. Blocks without classes are slices, which copy nothing.
    """

    entries: "tuple[slice | torch.Tensor, ...]"
    classes: np.ndarray
    block_columns: tuple[np.ndarray, np.ndarray]


def build_ordered_blocks(size: int) -> VocabularyBlocks:
    """Return the vocabulary in blocks of ids in their order, whatever their class."""
    starts = range(0, size, ENTRIES_PER_BLOCK)
    ids = np.arange(size)
    return VocabularyBlocks(
        tuple(slice(start, min(size, start + ENTRIES_PER_BLOCK)) for start in starts),
        np.full(len(starts), REST_CLASS),
        (ids // ENTRIES_PER_BLOCK, ids % ENTRIES_PER_BLOCK),
    )


def build_class_blocks(begins: np.ndarray, ends: Sequence[int], device: str) -> VocabularyBlocks:
    """Return the vocabulary in blocks of one class."""
    import torch

    kind = np.where(begins, OPENING_CLASS, REST_CLASS)
    kind[list(ends)] = END_CLASS
    parts = [
        (chosen[start : start + ENTRIES_PER_BLOCK], name)
        for name in (OPENING_CLASS, END_CLASS, REST_CLASS)
        for chosen in [np.flatnonzero(kind == name)]
        for start in range(0, len(chosen), ENTRIES_PER_BLOCK)
    ]
    block, column = np.zeros(len(kind), dtype=np.int64), np.zeros(len(kind), dtype=np.int64)
    for number, (ids, _) in enumerate(parts):
        block[ids], column[ids] = number, np.arange(len(ids))
    return VocabularyBlocks(
        tuple(torch.from_numpy(ids).to(device) for ids, _ in parts), np.array([name for _, name in parts]), (block, column)
    )


@dataclass(frozen=True)
class PowerMeasures:
    """Of the distribution whose probabilities are p^a, normalised: the columns of `PredictionMeasures`, and log(sum p^a)."""

    logprob: np.ndarray
    log_boundary: np.ndarray
    log_text: np.ndarray
    log_sum: np.ndarray


@dataclass(frozen=True)
class PredictionMeasures:
    """What one pass over the vocabulary gives, in nats, NaN where not asked for.

    `logprob` of each prediction, `END_TARGET` being the mass of what ends a text; of each node `log_boundary` (what opens a word
    or ends the text), `log_text` (what can open a text), `entropy`, `renyi` and `log_peak`, the largest log-probability.
    `powers` are by exponent; `candidate_logprobs` has, [id, node], the log-probability of each id asked for at each node.
    """

    logprob: np.ndarray
    log_boundary: np.ndarray
    log_text: np.ndarray
    entropy: np.ndarray
    renyi: np.ndarray
    log_peak: np.ndarray
    powers: Mapping[float, PowerMeasures]
    candidate_logprobs: np.ndarray


def measure_predictions(
    head: Head | OwnLogits,
    blocks: VocabularyBlocks,
    states: "torch.Tensor",
    sources: np.ndarray,
    targets: np.ndarray,
    columns: frozenset[str],
    powers: Sequence[float] = (),
    candidate_ids: Sequence[int] = (),
) -> PredictionMeasures:
    """Return the columns asked for, of `capture_states` [node, width] and predictions `targets` at nodes `sources`.

    `candidate_ids` are ids whose log-probabilities are wanted at every node.

    Each block of the vocabulary leaves its maximum and its sums relative to it, in float32 or better; they are put
    together in float64. `blocks` must be by class for `end`, `log_boundary` and `powers`, exponents of the probabilities.
    """
    import torch

    count, device = len(states), states.device
    accurate = torch.promote_types(states.dtype, torch.float32)
    chunk = POSITIONS_PER_CHUNK["cuda" if device.type == "cuda" else "cpu"]
    chunks = [slice(start, start + chunk) for start in range(0, count, chunk)]
    shape = (len(blocks.entries), count)
    peak, total = (torch.empty(shape, dtype=accurate, device=device) for _ in range(2))
    weighted = torch.empty(shape, dtype=accurate, device=device) if "entropy" in columns else None
    roots = torch.empty(shape, dtype=accurate, device=device) if "renyi" in columns else None
    raised = {a: torch.empty(shape, dtype=accurate, device=device) for a in powers}
    picked = torch.zeros(len(targets), dtype=accurate, device=device)
    order, cuts = _sort_by_block(blocks, sources, targets, chunk, len(chunks))
    listed = torch.empty((len(candidate_ids), count), dtype=accurate, device=device)
    of_listed = (
        [np.flatnonzero(blocks.block_columns[0][list(candidate_ids)] == b) for b in range(len(blocks.entries))]
        if candidate_ids
        else []
    )
    row = torch.from_numpy(sources[order] % chunk).to(device)
    column = torch.from_numpy(blocks.block_columns[1][targets[order]]).to(device)
    for b, entries in enumerate(blocks.entries):
        logits_of = head.select_logits(entries)
        for c, part in enumerate(chunks):
            logits = logits_of(states[part]).to(accurate)
            here = slice(*cuts[b * len(chunks) + c : b * len(chunks) + c + 2])
            picked[here] = logits[row[here], column[here]]
            if candidate_ids:
                columns_here = torch.from_numpy(blocks.block_columns[1][np.asarray(candidate_ids)[of_listed[b]]]).to(device)
                listed[torch.from_numpy(of_listed[b]).to(device), part] = logits[:, columns_here].T
            peak[b, part] = top = logits.amax(-1)
            logits.sub_(top.unsqueeze(-1))
            for a, sums in raised.items():
                sums[b, part] = (logits * a).exp_().sum(-1)
            if roots is not None:
                root = (logits / 2).exp_()
                roots[b, part] = root.sum(-1)
                exponentials = root.square_()
            else:
                exponentials = logits.exp() if weighted is not None else logits.exp_()
            total[b, part] = exponentials.sum(-1)
            if weighted is not None:
                weighted[b, part] = exponentials.mul_(logits).sum(-1)

    top = peak.double()
    logs = top + total.double().log()
    norm = logs.logsumexp(0)
    predicted = (picked[: len(order)].double().cpu().numpy(), order, sources, targets)
    nothing = np.full(count, np.nan)
    entropy = renyi = nothing
    if weighted is not None:
        means = top + weighted.double() / total.double()
        entropy = np.asarray((norm - ((logs - norm).exp() * means).sum(0)).cpu())
    if roots is not None:
        renyi = np.asarray((2 * (top / 2 + roots.double().log()).logsumexp(0) - norm).cpu())
    plain = _combine_blocks(1.0, logs, blocks, predicted, columns)
    of_power = {
        a: _combine_blocks(a, a * top + sums.double().log(), blocks, predicted, LOGPROB_COLUMNS) for a, sums in raised.items()
    }
    return PredictionMeasures(
        plain.logprob,
        plain.log_boundary,
        plain.log_text,
        entropy,
        renyi,
        np.asarray((top.amax(0) - norm).cpu()),
        {a: replace(one, log_sum=one.log_sum - a * plain.log_sum) for a, one in of_power.items()},
        np.asarray((listed.double() - norm).cpu()),
    )


def _sort_by_block(
    blocks: VocabularyBlocks, sources: np.ndarray, targets: np.ndarray, chunk: int, chunks: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions of tokens in the order of block and chunk, and where each of those begins."""
    tokens = np.flatnonzero(targets != END_TARGET)
    key = blocks.block_columns[0][targets[tokens]] * chunks + sources[tokens] // chunk
    order = np.argsort(key, kind="stable")
    return tokens[order], np.searchsorted(key[order], np.arange(len(blocks.entries) * chunks + 1))


def _combine_blocks(
    power: float,
    logs: "torch.Tensor",
    blocks: VocabularyBlocks,
    predicted: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    columns: frozenset[str],
) -> PowerMeasures:
    """Put the sums of the blocks together, `logs` being those of exp(power * logit), in float64."""
    picked, order, sources, targets = predicted
    norm = logs.logsumexp(0)
    nothing = np.full(len(norm), np.nan)

    def sum_classes(*kinds: int) -> np.ndarray:
        chosen = logs[np.isin(blocks.classes, kinds)]
        return np.asarray((chosen.logsumexp(0) - norm).cpu()) if len(chosen) else np.full(len(norm), -np.inf)

    logprob = np.full(len(targets), np.nan)
    if "logprob" in columns:
        logprob[order] = power * picked - np.asarray(norm.cpu())[sources[order]]
    if "end" in columns:
        at_end = targets == END_TARGET
        logprob[at_end] = sum_classes(END_CLASS)[sources[at_end]]
    edges = "log_boundary" in columns
    return PowerMeasures(
        logprob,
        sum_classes(OPENING_CLASS, END_CLASS) if edges else nothing,
        sum_classes(END_CLASS, REST_CLASS) if edges else nothing,
        np.asarray(norm.cpu()),
    )
