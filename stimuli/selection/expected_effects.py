"""What an item's surprisal leads one to expect of reading times, before anybody reads it."""

from typing import TYPE_CHECKING, Any

from gardenpath import study

from ..items import Materials
from .covariates import compute_covariates, find_missing_values, shorten_faults
from .settings import ExpectedEffectSection

if TYPE_CHECKING:
    import pandas as pd

Array = Any
MIN_CONTRAST_BITS = 0.05  # bits: an item whose conditions differ by less carries no contrast


def compute_expected_effects(
    materials: Materials, effect: ExpectedEffectSection, surprisal: "pd.DataFrame", *, model: str | None = None
) -> "pd.DataFrame":
    """Return table `expected_effects`: for each item the difference in surprisal that a term makes, in bits and in ms.

    The term is a main effect of a factor with two levels, or an interaction of such (`a:b`, a difference of differences): that of
    the second level less the first, as `analysis.power_curve` codes it. `has_contrast` is false of items that have none, less than
    0.05 bits.

    >>> import pandas as pd
    >>> from gardenpath import stimuli
    >>> bits = {"a": 3.0, "b": 5.5}
    >>> words = [("m", "default", "i1", c, 0, "Run.", 1, None, bits[c], None, None, None, None) for c in bits]
    >>> table = pd.DataFrame(words, columns=study.TABLES["surprisal"].column_names)
    >>> item = stimuli.Item("i1", "p", {"a": stimuli.Sentence("Run."), "b": stimuli.Sentence("Run.")})
    >>> materials = stimuli.Materials((stimuli.Paradigm("p", "p", {"f": ("a", "b")}),), (item,))
    >>> section = stimuli.ExpectedEffectSection(ms_per_bit=2.0, source="10.1016/j.cognition.2013.02.013", region="sentence")
    >>> stimuli.compute_expected_effects(materials, section, table)[["effect_bits", "effect_ms"]].to_numpy().tolist()
    [[2.5, 5.0]]
    """
    import pandas as pd

    bits = compute_bit_differences(materials, effect, surprisal, model)
    rows = [
        (item.id, item.paradigm, _get_term(materials, effect), value, value * effect.ms_per_bit, abs(value) >= MIN_CONTRAST_BITS)
        for item, value in zip(materials.items, bits, strict=True)
    ]
    return study.check(
        pd.DataFrame(rows, columns=[name for name in study.TABLES["expected_effects"].column_names if name != "selected"]),
        "expected_effects",
    )


def compute_signed_effects(
    materials: Materials, effect: ExpectedEffectSection, surprisal: "pd.DataFrame | None", model: str | None = None
) -> Array:
    """Return the expected effect of each item in ms, with the sign in which the pool's mean is positive."""
    import numpy as np

    ms = np.array(compute_bit_differences(materials, effect, surprisal, model)) * effect.ms_per_bit
    return -ms if ms.mean() < 0 else ms


def _get_term(materials: Materials, effect: ExpectedEffectSection) -> str:
    if effect.term is not None:
        return effect.term
    factors = materials.find_paradigm(materials.items[0].paradigm).factors
    if len(factors) != 1:
        raise study.DataError(
            f"the items have the factors {', '.join(factors)}; name the term whose effect is expected, such as {':'.join(factors)}"
        )
    return next(iter(factors))


def compute_bit_differences(
    materials: Materials, effect: ExpectedEffectSection, surprisal: "pd.DataFrame | None", model: str | None
) -> list[float]:
    """Return the difference that the term makes to each item's surprisal in the region, in bits."""
    name = f"surprisal:{effect.region}"
    table = compute_covariates(materials, [name], surprisal=surprisal, model=model)
    if faults := find_missing_values(table):
        raise study.DataError(shorten_faults(list(faults.values())))
    value = {(row["item"], row["condition"]): float(row["value"]) for row in table.to_dict("records")}
    names = _get_term(materials, effect).split(":")
    differences = []
    for item in materials.items:
        paradigm = materials.find_paradigm(item.paradigm)
        for factor in names:
            levels = paradigm.factors.get(factor)
            if levels is None or len(levels) != 2:
                what = "has no such factor" if levels is None else f"has {len(levels)} levels of it, expected two"
                raise study.DataError(
                    f"term {':'.join(names)}: {factor!r}: paradigm {paradigm.id} {what}; its factors are "
                    f"{', '.join(paradigm.factors)}"
                )
        total, cells = 0.0, 0
        for condition, levels_of in paradigm.list_conditions().items():
            sign = 1
            for factor in names:
                sign *= 1 if levels_of[factor] == paradigm.factors[factor][1] else -1
            total += sign * value[item.id, condition]
            cells += 1
        differences.append(total * 2 ** len(names) / cells)
    return differences
