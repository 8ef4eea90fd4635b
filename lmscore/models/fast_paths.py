"""Which fast paths give the numbers of a model's own logits: each is tried when a model is loaded."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..tokens.encoding import BOUNDARY, Encoded
from ..tokens.token_table import TokenTable
from . import huggingface, output_layers, verdicts
from .causal import ROW, CausalModel, columns_of
from .interface import COLUMNS

PROBED = tuple(name for name in COLUMNS if name != "end")


def fastest(model: CausalModel, memory: Path | None = None) -> CausalModel:
    """Return the model with each fast path that gives the numbers of its own logits with a row for each text.

    Three texts of random tokens tell: they share prefixes, and the longest fills a row or the window. What they told of such
    a model is remembered in the folder `memory`. Raises `ValueError` where a later token changes what is predicted before it.
    """
    plain = replace(model, head=None, row=0, reasons=None)
    verdict = verdicts.remembered(plain, memory, lambda: _probed(plain))
    head = output_layers.candidate(model.network, verdict["head"])
    return replace(plain, head=head, row=ROW if verdict["shares"] else 0, reasons=verdict["reasons"])


def _probed(plain: CausalModel) -> verdicts.Verdict:
    """Return the number of the head that holds, if any does, whether rows may share prefixes, and why not."""
    texts, common = _probes(plain)
    expected = plain.forward(texts, columns=PROBED)
    _check_causal(plain, expected, common)
    reasons = {}
    found, head, why = None, None, ""
    for number, candidate in enumerate(output_layers.candidates(plain.network)):
        why = why_not(replace(plain, head=candidate), expected)
        if not why:
            found, head = number, candidate
            break
    else:
        reasons["head"] = why
    # In a row of twice the size all of them stand together.
    why = why_not(replace(plain, head=head, row=2 * ROW), expected)
    if why:
        reasons["layout"] = why
    return {"head": found, "shares": not why, "reasons": reasons}


def why_not(model: CausalModel, expected: Sequence[TokenTable]) -> str:
    """Return why a model does not give the tables expected, or nothing where it does, but for noise of its dtype."""
    try:
        computed = model.forward([table.encoded for table in expected], columns=PROBED)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    away = _numbers(computed) - _numbers(expected)
    relative = _noise(model, expected, away)
    return f"it would change log-probabilities by up to {np.abs(away).max():.2g} nats" if relative > 1 else ""


def _numbers(tables: Sequence[TokenTable]) -> np.ndarray:
    values = np.concatenate([np.concatenate(columns_of(table)) for table in tables])
    finite: np.ndarray = np.nan_to_num(values, nan=0.0, neginf=0.0)
    return finite


def _noise(model: CausalModel, expected: Sequence[TokenTable], away: np.ndarray) -> float:
    """Return the root mean square of differences as a multiple of what rounding in the model's dtype explains."""
    spread = np.concatenate([table.logprob[:-1] for table in expected]).std()
    return float(np.sqrt(np.square(away).mean()) / (huggingface.tolerance(model) * spread + 1e-12))


def _probes(model: CausalModel) -> tuple[list[Encoded], int]:
    """Return texts of random tokens, and how many the first two have in common."""
    length = min(ROW, model.encoder.window or ROW) - 1
    one, other = np.random.default_rng(0).integers(len(model.encoder.vocabulary.begins), size=(2, length)).tolist()
    cuts = (length * 3 // 4, length // 16)
    ids = [one, *([*one[:cut], *other[: max(1, (length - cut) // 4)]] for cut in cuts)]
    return [
        Encoded(
            fed=(model.encoder.prefix,),
            ids=tuple(row),
            spans=((0, 0),) * len(row),
            begins=(False,) * len(row),
            ends=(False,) * len(row),
            opening=BOUNDARY,
        )
        for row in ids
    ], cuts[0]


def _check_causal(model: CausalModel, tables: Sequence[TokenTable], common: int) -> None:
    one, other = (np.concatenate([column[:common] for column in columns_of(table)]) for table in tables[:2])
    if _noise(model, tables, np.nan_to_num(one - other)) > 1:
        raise ValueError(
            f"model {model.name!r}: {type(model.network).__name__} looks at later words (a masked or bidirectional "
            "model); expected a causal model such as gpt2"
        )
