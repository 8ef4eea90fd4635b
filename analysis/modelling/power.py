"""How many participants and items an effect takes: power by simulation, from a declared smallest effect of interest."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from gardenpath.study import TABLES, check

from ..grammatical_status import CODES
from ..intervals import wilson
from .grammaticality import ALPHA, PLAIN, TERM
from .mixed_models import fit


@dataclass(frozen=True)
class Spread:
    """Standard deviations, in units of the response: of participants, items, the effect over both, and single trials.

    The defaults are those of log reading times of simulated readers; the slopes are what makes effects hard to find.

    >>> Spread(residual=0.3)
    Spread(participant=0.2, item=0.05, participant_slope=0.03, item_slope=0.05, residual=0.3)
    """

    participant: float = 0.20
    item: float = 0.05
    participant_slope: float = 0.03
    item_slope: float = 0.05
    residual: float = 0.22


def power_curve(
    effect: float,
    *,
    participants: Sequence[int],
    items: Sequence[int],
    ratio: tuple[int, int] = (2, 1),
    spread: Spread | None = None,
    random: str = PLAIN,
    runs: int = 200,
    seed: int = 1,
    engine: str = "glmm",
    known: pd.DataFrame | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    each: Callable[[pd.DataFrame], None] = lambda table: None,
) -> pd.DataFrame:
    """Return how often an effect of this size is found at .05, for each number of participants and of items.

    `effect` is grammatical minus ungrammatical: declare the smallest one of interest, never the one observed, whose power says
    nothing that its p does not. Each simulated participant sees one member of each item, `ratio` being grammatical to
    ungrammatical ones. Fitted is `y ~ grammaticality` with `random`; `power`, a share of studies, has its 95 % Wilson
    interval (doi 10.1080/01621459.1927.10502953) over `runs`. Fewer than two participants or items are a `ValueError`.

    A cell depends on the seed and its own numbers alone, so those of a table `known`, of the same effect, model and runs, are
    not simulated again. `each` gets the table after each cell, `progress` the studies done and all.

    >>> table = power_curve(0.2, participants=[12], items=[9], runs=5)
    >>> table[["participants", "n_items", "runs"]].to_numpy().tolist()
    [[12, 9, 5]]
    """
    import numpy as np

    if runs < 1 or not participants or not items or min(*participants, *items) < 2:
        raise ValueError(
            f"participants {list(participants)}, items {list(items)}, runs {runs}: "
            "expected at least 2 of each, and at least one run"
        )
    spread = spread or Spread()
    formula = f"y ~ {TERM} + {random}"
    table = check(pd.DataFrame(columns=TABLES["power"].names), "power")
    cells = list(itertools.product(participants, items))
    for place, (people, sentences) in enumerate(cells):
        key = {"effect": effect, "participants": people, "n_items": sentences, "formula": formula, "runs": runs}
        cell = pd.DataFrame() if known is None else known[(known[list(key)] == pd.Series(key)).all(axis=1)]
        if cell.empty:
            generator = np.random.default_rng([seed, people, sentences])
            fits = []
            for run in range(runs):
                fits.append(_run(effect, people, sentences, ratio, spread, random, engine, generator))
                progress(place * runs + run + 1, len(cells) * runs)
            p, se = np.array(fits).T
            power = float((p < ALPHA).mean())
            low, high = wilson(pd.Series([power * runs]), pd.Series([float(runs)]))
            ends = {"power": power, "power_low": low.item(), "power_high": high.item(), "se": float(se.mean())}
            cell = pd.DataFrame([key | ends])
        table = check(pd.concat([table, cell], ignore_index=True)[TABLES["power"].names], "power")
        each(table)
    return table


def _run(
    effect: float,
    people: int,
    sentences: int,
    ratio: tuple[int, int],
    spread: Spread,
    random: str,
    engine: str,
    generator: "object",
) -> tuple[float, float]:
    """Return p and standard error of the effect in one simulated study."""
    import numpy as np

    assert isinstance(generator, np.random.Generator)
    p, i = (codes.ravel() for codes in np.meshgrid(np.arange(people), np.arange(sentences), indexing="ij"))
    good = (p + i) % sum(ratio) < ratio[0]
    g = np.where(good, *CODES.values())
    by_person, by_item = (
        generator.normal(0, sds, (size, 2))
        for size, sds in (
            (people, (spread.participant, spread.participant_slope)),
            (sentences, (spread.item, spread.item_slope)),
        )
    )
    y = by_person[p, 0] + by_item[i, 0] + g * (effect + by_person[p, 1] + by_item[i, 1])
    y = y + generator.normal(0, spread.residual, len(y))
    frame = pd.DataFrame(
        {"y": y, TERM: g, "participant": p.astype(str).astype(object), "item": i.astype(str).astype(object)}
    )
    row = fit(frame, f"y ~ {TERM} + {random}", engine=engine).set_index("term")
    return float(row["p"][TERM]), float(row["se"][TERM])
