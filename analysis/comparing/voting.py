"""Votes of several judgments of a language model, over all mixes of templates, and methods held against log probability."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..intervals import FEW, corrected, ends, holm, resampled_means
from .method_accuracy import PROMPTED, TEMPLATED, judged_pairs
from .pair_accuracy import PAIR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Members = Mapping[str, int]  # how many templates of which method vote
VOTES = 5  # as in Ide et al. (2025)
MOST = 20_000  # mixes
FOLDS = 10  # of pairs
EVERY, DRAWN, ORACLE = "all", "drawn", "test set"  # in the column selection
HELD_OUT = {"pairs": "held-out pairs", "paradigms": "held-out paradigms"}
TOO_HIGH = "The mix is chosen on the pairs it is tested on: too high for others."
NOUGHT = 1e-12  # sums of halves and fifths may miss 0 in their last bits


def ensembles(
    judgments: pd.DataFrame,
    members: Sequence[Members] | None = None,
    *,
    select: Sequence[str] = (),
    draws: int = 0,
    seed: int = 1,
) -> pd.DataFrame:
    """Return the accuracy of majority votes over several templates, 0 to 1: mean, s.d. and range over every mix of them.

    `members` says how many templates of which method vote. By default these are the votes of Ide et al. (2025, doi
    10.18653/v1/2025.naacl-long.380): five of yes_no, five of template_lp, three and two of them and two and three (fewer where
    there are fewer templates). Each method with several templates is there with one too: no vote, but its templates beside each
    other. Half of the votes is half a success, as is a tie in a vote.

    The mix that is best of all is an oracle, since it is chosen on the pairs it is tested on: selection `test set`. With `select`
    "pairs" or "paradigms" it is chosen on others: on nine tenths of the pairs of each paradigm for the last, or for each paradigm
    on the rest of them. `draws` draws so many mixes by chance, as published, with the seed.

    Fewer templates than a vote asks for, or more than 20,000 mixes, are a `DataError`.

    >>> rows = [("m", "yes_no", str(t), "npi", "ever", f"i{k}", k != t) for t in range(3) for k in range(3)]
    >>> judgments = pd.DataFrame(rows, columns=["model", "method", "template", "phenomenon", "paradigm", "item", "correct"])
    >>> ensembles(judgments.assign(tie=False))[["ensemble", "selection", "mixes", "accuracy"]].round(3).to_numpy().tolist()
    [['3 yes_no', 'all', 1, 1.0], ['1 yes_no', 'all', 3, 0.667], ['1 yes_no', 'test set', 3, 0.667]]
    """
    if unknown := [name for name in select if name not in HELD_OUT]:
        raise ValueError(f"select {unknown[0]!r}; expected {' or '.join(HELD_OUT)}")
    rows = [
        {"model": model, "ensemble": name_of(vote), "votes": sum(vote.values()), **row}
        for model, predictions in _predictions(judgments)
        for vote in [*_voting(model, predictions, members), *_alone(predictions)]
        for row in _selections(_cast(predictions, vote), select, draws, seed)
    ]
    return check(pd.DataFrame(rows, columns=TABLES["ensembles"].names), "ensembles")


def method_comparisons(
    judgments: pd.DataFrame,
    members: Sequence[Members] | None = None,
    *,
    against: str = "lp",
    draws: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    """Return how much more often each method, and each vote, is right than log probability, by a paired bootstrap.

    As Ide et al. (2025) the statistic is the mean over templates (of a vote: over all its mixes) of accuracy, less that of the
    method `against`, and p is the share of resamples of all pairs in which it is not above 0: one-sided. Where there is none, p is
    1 / (draws + 1) and a bound. Pairs that differ by the same are exchangeable, so that resampling them is one multinomial over
    the distinct differences. Pairs cluster in paradigms: the same over resamples of paradigms stands beside, from 10 paradigms on.
    Both p are adjusted after Holm over the methods of a model, and over its votes. Differences are in share of pairs, 0 to 1.

    >>> rows = [("m", method, "1", "npi", f"p{k}", f"i{k}", k < n) for method, n in (("lp", 6), ("yes_no", 9)) for k in range(10)]
    >>> judgments = pd.DataFrame(rows, columns=["model", "method", "template", "phenomenon", "paradigm", "item", "correct"])
    >>> method_comparisons(judgments.assign(tie=False))[["method", "difference", "reached", "p"]].to_numpy().tolist()
    [['yes_no', 0.3, 25, 0.025]]
    """
    rows: list[dict[str, object]] = []
    for model, predictions in _predictions(judgments):
        if against not in predictions:
            continue
        won = {name: predictions.loc[:, [name]].mean(axis=1, skipna=False) for name in _methods(predictions)}
        base = won.pop(against)
        votes = {name_of(vote): _cast(predictions, vote).expected for vote in _voting(model, predictions, members)}
        for kind, all_of in {"method": won, "ensemble": votes}.items():
            place = {"model": model, "kind": kind, "against": against, "draws": draws}
            rows += [place | {"method": name} | _compared(a, base, draws, seed) for name, a in all_of.items()]
    table = pd.DataFrame(rows, columns=TABLES["method_comparisons"].names)
    for name in ("p", "paradigm_p"):
        tests = table.assign(p=table[name].astype("float64"))
        table[f"{name}_holm"] = corrected(tests, ["model", "kind"], holm)
    return check(table, "method_comparisons")


def name_of(members: Members) -> str:
    """Return how a vote is called.

    >>> name_of({"yes_no": 3, "template_lp": 2})
    '3 yes_no + 2 template_lp'
    """
    return " + ".join(f"{count} {method}" for method, count in members.items())


@dataclass(frozen=True)
class _Cast:
    """Every mix of a vote (columns of predictions), the pairs, and what each mix wins of each: 0, 1 or 2 halves."""

    mixes: Sequence[Sequence[tuple[str, ...]]]
    pairs: "pd.Index[Any]"
    distinct: "NDArray[np.int8]"  # mixes x distinct rows of predictions
    which: "NDArray[np.intp]"  # the row that each pair has

    @property
    def expected(self) -> "pd.Series[float]":
        """What each pair wins, mean over mixes."""
        return pd.Series(self.distinct.mean(axis=0)[self.which] / 2, index=self.pairs)

    def won(self, groups: Any = None) -> "NDArray[np.float64]":
        """Return how many pairs each mix wins, by group of pairs, groups in order of their names."""
        import numpy as np

        names, group = np.unique(np.zeros(len(self.which)) if groups is None else groups, return_inverse=True)
        counts = np.zeros((self.distinct.shape[1], len(names)))
        np.add.at(counts, (self.which, group), 0.5)
        return self.distinct @ counts


def _predictions(judgments: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each model with what it wins of each pair (rows) under each method and template (columns)."""
    judged = judged_pairs(judgments)
    for model, rows in judged.groupby("model", sort=False):
        order = rows[["method", "template"]].drop_duplicates()
        wide = rows.pivot_table("won", PAIR, ["method", "template"], aggfunc="first", sort=False)
        yield str(model), wide[pd.MultiIndex.from_frame(order)].astype("float64")


def _methods(predictions: pd.DataFrame) -> list[str]:
    return [str(name) for name in predictions.columns.get_level_values("method").unique()]


def _voting(model: str, predictions: pd.DataFrame, members: Sequence[Members] | None) -> list[Members]:
    """Return the votes asked for, or the usual ones; those that no templates are there for are a `DataError`."""
    has = predictions.columns.get_level_values("method").value_counts()
    if members is None:
        both = [name for name in (PROMPTED, TEMPLATED) if name in has]
        if not both:
            return []
        most = min(VOTES, int(has[both].min()))
        odd = most - (most + 1) % 2
        if odd < 3:
            return []
        more, fewer = odd // 2 + 1, odd // 2
        mixed = (
            [dict(zip(both, counts, strict=True)) for counts in ((more, fewer), (fewer, more))] if len(both) > 1 else []
        )
        return [*({name: odd} for name in both), *mixed]
    for vote in members:
        for method, count in vote.items():
            if not 1 <= count <= int(has.get(method, 0)):
                known = ", ".join(f"{has[name]} of {name}" for name in _methods(predictions))
                raise DataError(
                    f"a vote of {name_of(vote)}: {model} was judged under {has.get(method, 0)} templates of {method}; "
                    f"expected at most its templates, {known}"
                )
    return list(members)


def _alone(predictions: pd.DataFrame) -> list[Members]:
    """Return one template each of the methods that have several."""
    has = predictions.columns.get_level_values("method").value_counts()
    return [{name: 1} for name in _methods(predictions) if has[name] > 1]


def _cast(predictions: pd.DataFrame, members: Members) -> _Cast:
    """Return what every mix wins of every pair that was judged under all templates of its methods."""
    import numpy as np

    own = predictions[list(members)].dropna()
    count = math.prod(math.comb(predictions[name].shape[1], votes) for name, votes in members.items())
    if count > MOST:
        raise DataError(
            f"a vote of {name_of(members)} has {count:,} mixes; expected {MOST:,} at most: take fewer templates"
        )
    rows, which = np.unique(own.to_numpy(), axis=0, return_inverse=True)
    places = [np.flatnonzero(own.columns.get_level_values("method") == name) for name in members]
    parts = (itertools.combinations(place, votes) for place, votes in zip(places, members.values(), strict=True))
    mixes = [[int(column) for part in mix for column in part] for mix in itertools.product(*parts)]
    names = [tuple(map(str, name)) for name in own.columns]
    half = sum(members.values()) / 2
    distinct = np.array([np.sign(rows[:, mix].sum(axis=1) - half) + 1 for mix in mixes], dtype=np.int8)
    return _Cast([[names[column] for column in mix] for mix in mixes], own.index, distinct, which.reshape(-1))


def _selections(cast: _Cast, select: Sequence[str], draws: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield the mean over all mixes of a vote, over those drawn, the best of all, and the best on other pairs."""
    import numpy as np

    n, mixes = len(cast.pairs), len(cast.mixes)
    if not n:
        yield {"selection": EVERY, "mixes": mixes, "n": 0, "note": "No pair was judged under all of these templates."}
        return
    shares = cast.won()[:, 0] / n
    spread = {"sd": shares.std(), "lowest": shares.min(), "highest": shares.max()} if mixes > 1 else {}
    yield {"selection": EVERY, "mixes": mixes, "n": n, "accuracy": shares.mean(), **spread}
    if mixes == 1:
        return
    if draws:
        some = np.random.default_rng(seed).choice(shares, min(draws, mixes), replace=False)
        sd = some.std(ddof=1) if len(some) > 1 else None
        spread = {"sd": sd, "lowest": some.min(), "highest": some.max()}
        yield {"selection": DRAWN, "mixes": len(some), "n": n, "accuracy": some.mean(), **spread}
    best = int(shares.argmax())
    chosen = {"selection": ORACLE, "mixes": mixes, "members": _called(cast, [best])}
    yield chosen | {"n": n, "accuracy": shares[best], "note": TOO_HIGH}
    for name in select:
        folds = _folds(cast.pairs, name, seed)
        won = cast.won(folds)
        place = {"selection": HELD_OUT[name], "mixes": mixes, "n": n}
        if won.shape[1] < 2:
            yield place | {"note": f"There is one of the {name}; expected several to choose on others."}
            continue
        bests = (won.sum(axis=1, keepdims=True) - won).argmax(axis=0)
        right = float(won[bests, np.arange(len(bests))].sum())
        yield place | {"members": _called(cast, sorted({*map(int, bests)})), "accuracy": right / n}


def _folds(pairs: "pd.Index[Any]", name: str, seed: int) -> Any:
    """Return the fold of each pair: its paradigm, or one of ten that are drawn within each paradigm."""
    import numpy as np

    paradigms = pairs.get_level_values("paradigm")
    if name == "paradigms":
        return paradigms.to_numpy(dtype=str)
    order = np.random.default_rng(seed).permutation(len(pairs))
    places = pd.Series(order, index=paradigms).groupby(level=0, sort=False).rank().to_numpy()
    return (places.astype(int) - 1) % FOLDS


def _called(cast: _Cast, mixes: Sequence[int]) -> str:
    """Return the templates of mixes, by method.

    Of several mixes, the parts have ' | ' between them.
    """
    texts = []
    for mix in mixes:
        by_method: dict[str, list[str]] = {}
        for method, template in cast.mixes[mix]:
            by_method.setdefault(str(method), []).append(str(template))
        texts.append("; ".join(f"{method} {', '.join(templates)}" for method, templates in by_method.items()))
    return " | ".join(texts)


def _compared(won: "pd.Series[float]", base: "pd.Series[float]", draws: int, seed: int) -> dict[str, object]:
    """Return means and resampled differences, over pairs and over paradigms."""
    both = pd.concat([won, base], axis=1, join="inner", keys=["won", "base"]).dropna()
    if both.empty:
        return {"n": 0, "paradigms": 0, "note": "No pair was judged by both."}
    gain = (both["won"] - both["base"]).round(9)  # means over templates are equal where their counts are
    by_paradigm = gain.groupby(level="paradigm").mean()
    row: dict[str, object] = {
        "n": len(both), "accuracy": both["won"].mean(), "accuracy_against": both["base"].mean(), "difference": gain.mean(),
        "paradigms": len(by_paradigm), "paradigm_difference": by_paradigm.mean(),
        "note": _few(len(both), len(by_paradigm)),
    }  # fmt: skip
    for name, values in (("", gain), ("paradigm_", by_paradigm)):
        if len(values) >= FEW:
            means = resampled_means(values, seed=seed, draws=draws)
            low, high = ends(means)
            reached = int((means <= NOUGHT).sum())
            p = reached / draws if reached else 1 / (draws + 1)
            row |= {f"{name}low": low, f"{name}high": high, f"{name}reached": reached, f"{name}p": p}
    return row


def _few(pairs: int, paradigms: int) -> str:
    if pairs < FEW:
        return f"No test: {pairs} pairs, under {FEW}."
    return f"No test over paradigms: {paradigms}, under {FEW}." if paradigms < FEW else ""
