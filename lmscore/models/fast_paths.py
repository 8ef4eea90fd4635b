"""Which fast paths give the numbers of a model's own logits: each is tried when a model is loaded."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..tokens.encoding import OPENING_BOUNDARY, EncodedText
from ..tokens.token_table import TokenTable
from . import huggingface, output_layers, probe_results
from .causal import DEFAULT_ROW_SIZE, CausalModel, get_columns
from .interface import COLUMNS

PROBED_COLUMNS = tuple(name for name in COLUMNS if name != "end")


def enable_fast_paths(model: CausalModel, probe_folder: Path | None = None) -> CausalModel:
    """Return the model with each fast path that gives the numbers of its own logits with a row for each text.

    Three texts of random tokens tell: they share prefixes, and the longest fills a row or the window. What they told of such
    a model is remembered in the folder `probe_folder`. Raises `ValueError` where a later token changes what is predicted before it.
    """
    plain = replace(model, head=None, row_size=0, uses_prefix_cache=False, reasons=None)
    verdict = probe_results.load_or_probe(plain, probe_folder, lambda: _probe_fast_paths(plain))
    head = output_layers.get_head(model.network, verdict["head"])
    layout: dict[str, Any] = {"row_size": DEFAULT_ROW_SIZE if verdict["shares"] else 0, "uses_prefix_cache": verdict["continues"]}
    return replace(plain, head=head, **layout, reasons=verdict["reasons"])


def _probe_fast_paths(plain: CausalModel) -> probe_results.ProbeResult:
    """Return the number of the head that holds, if any does, whether rows may share prefixes, else go on from them, and why."""
    texts, common = _make_probe_texts(plain)
    expected = plain.forward(texts, columns=PROBED_COLUMNS)
    _check_causal(plain, expected, common)
    reasons = {}
    found, head, why = None, None, "its weights are quantized, or wait elsewhere until it is called"
    for number, candidate in enumerate(output_layers.list_heads(plain.network)):
        why = explain_difference(replace(plain, head=candidate), expected)
        if not why:
            found, head = number, candidate
            break
    else:
        reasons["head"] = why
    # In a row of twice the size all of them stand together.
    why = explain_difference(replace(plain, head=head, row_size=2 * DEFAULT_ROW_SIZE), expected)
    continues = False
    if why:
        reasons["layout"] = why
        # A budget of which those that share the most fill half: a quarter is asked for.
        budget = 2 * max(len(text.context_ids) + len(text.ids) for text in texts)
        continues = not explain_difference(replace(plain, head=head, uses_prefix_cache=True), expected, budget)
    return {"head": found, "shares": not why, "continues": continues, "reasons": reasons}


def explain_difference(model: CausalModel, expected: Sequence[TokenTable], budget: int | None = None) -> str:
    """Return why a model does not give the tables expected, or nothing where it does, but for noise of its dtype."""
    try:
        computed = model.forward([table.encoded_text for table in expected], columns=PROBED_COLUMNS, batch_tokens=budget)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    away = _concatenate_values(computed) - _concatenate_values(expected)
    relative = _compute_noise(model, expected, away)
    return f"it would change log-probabilities by up to {np.abs(away).max():.2g} nats" if relative > 1 else ""


def _concatenate_values(tables: Sequence[TokenTable]) -> np.ndarray:
    values = np.concatenate([np.concatenate(get_columns(table)) for table in tables])
    finite: np.ndarray = np.nan_to_num(values, nan=0.0, neginf=0.0)
    return finite


def _compute_noise(model: CausalModel, expected: Sequence[TokenTable], away: np.ndarray) -> float:
    """Return the root mean square of differences as a multiple of what rounding in the model's dtype explains."""
    spread = np.concatenate([table.logprob[:-1] for table in expected]).std()
    return float(np.sqrt(np.square(away).mean()) / (huggingface.get_tolerance(model) * spread + 1e-12))


def _make_probe_texts(model: CausalModel) -> tuple[list[EncodedText], int]:
    """Return texts of random tokens, and how many the first two have in common."""
    length = min(DEFAULT_ROW_SIZE, model.encoder.window or DEFAULT_ROW_SIZE) - 1
    one, other = np.random.default_rng(0).integers(len(model.encoder.vocabulary.starts_with_space), size=(2, length)).tolist()
    cuts = (length * 3 // 4, length // 16)
    ids = [one, *([*one[:cut], *other[: max(1, (length - cut) // 4)]] for cut in cuts)]
    return [
        EncodedText(
            context_ids=(model.encoder.prefix,),
            ids=tuple(row),
            spans=((0, 0),) * len(row),
            starts_with_space=(False,) * len(row),
            ends_with_space=(False,) * len(row),
            opening=OPENING_BOUNDARY,
        )
        for row in ids
    ], cuts[0]


def _check_causal(model: CausalModel, tables: Sequence[TokenTable], common: int) -> None:
    one, other = (np.concatenate([column[:common] for column in get_columns(table)]) for table in tables[:2])
    if _compute_noise(model, tables, np.nan_to_num(one - other)) > 1:
        raise ValueError(
            f"model {model.name!r}: {type(model.network).__name__} looks at later words (a masked or bidirectional "
            "model); expected a causal model such as gpt2"
        )
