"""Votes of several judgments of a language model, over all mixes of templates, and methods held against log probability."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..intervals import MIN_UNITS, adjust_by_family, holm, percentile_interval, resample_means
from .method_accuracy import IN_TEMPLATE_METHOD, PROMPTING_METHOD, score_judged_pairs
from .pair_accuracy import PAIR_KEY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EnsembleMembers = Mapping[str, int]  # how many templates of which method vote
DEFAULT_VOTES = 5  # as in Ide et al. (2025)
MAX_COMBINATIONS = 20_000  # mixes
PAIR_FOLDS = 10  # of pairs
ALL_COMBINATIONS, DRAWN_COMBINATIONS, ORACLE_SELECTION = "all", "drawn", "test set"  # in the column selection
HELD_OUT_SELECTIONS = {"pairs": "held-out pairs", "paradigms": "held-out paradigms"}
ORACLE_NOTE = "The mix is chosen on the pairs it is tested on: too high for others."
ZERO_TOLERANCE = 1e-12  # sums of halves and fifths may miss 0 in their last bits


def compute_ensembles(
    judgments: pd.DataFrame,
    members: Sequence[EnsembleMembers] | None = None,
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
    >>> found = compute_ensembles(judgments.assign(tie=False)).round(3)
    >>> found[["ensemble", "selection", "n_mixes", "accuracy"]].to_numpy().tolist()
    [['3 yes_no', 'all', 1, 1.0], ['1 yes_no', 'all', 3, 0.667], ['1 yes_no', 'test set', 3, 0.667]]
    """
    if unknown := [name for name in select if name not in HELD_OUT_SELECTIONS]:
        raise ValueError(f"select {unknown[0]!r}; expected {' or '.join(HELD_OUT_SELECTIONS)}")
    rows = [
        {"model": model, "ensemble": format_ensemble_name(vote), "n_votes": sum(vote.values()), **row}
        for model, predictions in _tabulate_wins(judgments)
        for vote in [*_list_votes(model, predictions, members), *_list_single_templates(predictions)]
        for row in _compute_selections(_cast_votes(predictions, vote), select, draws, seed)
    ]
    return check(pd.DataFrame(rows, columns=TABLES["ensembles"].column_names), "ensembles")


def compute_method_comparisons(
    judgments: pd.DataFrame,
    members: Sequence[EnsembleMembers] | None = None,
    *,
    reference_method: str = "lp",
    draws: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    """Return how much more often each method, and each vote, is right than log probability, by a paired bootstrap.

    As Ide et al. (2025) the statistic is the mean over templates (of a vote: over all its mixes) of accuracy, less that of the
    method `reference_method`, and p is the share of resamples of all pairs in which it is not above 0: one-sided. Where there is
    none, p is 1 / (draws + 1) and a bound. Pairs that differ by the same are exchangeable, so that resampling them is one
    multinomial over the distinct differences. Pairs cluster in paradigms: the same over resamples of paradigms stands beside,
    from 10 paradigms on. Both p are adjusted after Holm over the methods of a model, and over its votes. Differences are in
    share of pairs, 0 to 1.

    >>> rows = [("m", method, "1", "npi", f"p{k}", f"i{k}", k < n) for method, n in (("lp", 6), ("yes_no", 9)) for k in range(10)]
    >>> judgments = pd.DataFrame(rows, columns=["model", "method", "template", "phenomenon", "paradigm", "item", "correct"])
    >>> compute_method_comparisons(judgments.assign(tie=False))[["method", "difference", "n_reversed", "p"]].to_numpy().tolist()
    [['yes_no', 0.3, 25, 0.025]]
    """
    rows: list[dict[str, object]] = []
    for model, predictions in _tabulate_wins(judgments):
        if reference_method not in predictions:
            continue
        method_wins = {name: predictions.loc[:, [name]].mean(axis=1, skipna=False) for name in _list_methods(predictions)}
        base = method_wins.pop(reference_method)
        votes = {
            format_ensemble_name(vote): _cast_votes(predictions, vote).expected_wins
            for vote in _list_votes(model, predictions, members)
        }
        for kind, all_of in {"method": method_wins, "ensemble": votes}.items():
            row_key = {"model": model, "kind": kind, "reference_method": reference_method, "n_resamples": draws}
            rows += [row_key | {"method": name} | _compare_wins(a, base, draws, seed) for name, a in all_of.items()]
    table = pd.DataFrame(rows, columns=TABLES["method_comparisons"].column_names)
    for name in ("p", "paradigm_p"):
        tests = table.assign(p=table[name].astype("float64"))
        table[f"{name}_holm"] = adjust_by_family(tests, ["model", "kind"], holm)
    return check(table, "method_comparisons")


def format_ensemble_name(members: EnsembleMembers) -> str:
    """Return how a vote is called.

    >>> format_ensemble_name({"yes_no": 3, "template_lp": 2})
    '3 yes_no + 2 template_lp'
    """
    return " + ".join(f"{count} {method}" for method, count in members.items())


@dataclass(frozen=True)
class _EnsembleVotes:
    """Every mix of a vote (columns of predictions), the pairs, and what each mix wins of each: 0, 1 or 2 halves."""

    combinations: Sequence[Sequence[tuple[str, ...]]]
    pairs: "pd.Index[Any]"
    distinct_wins: "NDArray[np.int8]"  # mixes x distinct rows of predictions
    pair_rows: "NDArray[np.intp]"  # the row that each pair has

    @property
    def expected_wins(self) -> "pd.Series[float]":
        """What each pair wins, mean over mixes."""
        return pd.Series(self.distinct_wins.mean(axis=0)[self.pair_rows] / 2, index=self.pairs)

    def count_wins(self, groups: Any = None) -> "NDArray[np.float64]":
        """Return how many pairs each mix wins, by group of pairs, groups in order of their names."""
        import numpy as np

        names, group = np.unique(np.zeros(len(self.pair_rows)) if groups is None else groups, return_inverse=True)
        counts = np.zeros((self.distinct_wins.shape[1], len(names)))
        np.add.at(counts, (self.pair_rows, group), 0.5)
        return self.distinct_wins @ counts


def _tabulate_wins(judgments: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each model with what it wins of each pair (rows) under each method and template (columns)."""
    judged = score_judged_pairs(judgments)
    for model, rows in judged.groupby("model", sort=False):
        order = rows[["method", "template"]].drop_duplicates()
        wide = rows.pivot_table("won", PAIR_KEY, ["method", "template"], aggfunc="first", sort=False)
        yield str(model), wide[pd.MultiIndex.from_frame(order)].astype("float64")


def _list_methods(predictions: pd.DataFrame) -> list[str]:
    return [str(name) for name in predictions.columns.get_level_values("method").unique()]


def _list_votes(model: str, predictions: pd.DataFrame, members: Sequence[EnsembleMembers] | None) -> list[EnsembleMembers]:
    """Return the votes asked for, or the usual ones; those that no templates are there for are a `DataError`."""
    has = predictions.columns.get_level_values("method").value_counts()
    if members is None:
        both = [name for name in (PROMPTING_METHOD, IN_TEMPLATE_METHOD) if name in has]
        if not both:
            return []
        most = min(DEFAULT_VOTES, int(has[both].min()))
        odd = most - (most + 1) % 2
        if odd < 3:
            return []
        more, fewer = odd // 2 + 1, odd // 2
        mixed = [dict(zip(both, counts, strict=True)) for counts in ((more, fewer), (fewer, more))] if len(both) > 1 else []
        return [*({name: odd} for name in both), *mixed]
    for vote in members:
        for method, count in vote.items():
            if not 1 <= count <= int(has.get(method, 0)):
                known = ", ".join(f"{has[name]} of {name}" for name in _list_methods(predictions))
                raise DataError(
                    f"a vote of {format_ensemble_name(vote)}: {model} was judged under {has.get(method, 0)} templates of {method}; "
                    f"expected at most its templates, {known}"
                )
    return list(members)


def _list_single_templates(predictions: pd.DataFrame) -> list[EnsembleMembers]:
    """Return one template each of the methods that have several."""
    has = predictions.columns.get_level_values("method").value_counts()
    return [{name: 1} for name in _list_methods(predictions) if has[name] > 1]


def _cast_votes(predictions: pd.DataFrame, members: EnsembleMembers) -> _EnsembleVotes:
    """Return what every mix wins of every pair that was judged under all templates of its methods."""
    import numpy as np

    own = predictions[list(members)].dropna()
    count = math.prod(math.comb(predictions[name].shape[1], votes) for name, votes in members.items())
    if count > MAX_COMBINATIONS:
        raise DataError(
            f"a vote of {format_ensemble_name(members)} has {count:,} mixes; expected {MAX_COMBINATIONS:,} at most: "
            "take fewer templates"
        )
    rows, which = np.unique(own.to_numpy(), axis=0, return_inverse=True)
    method_columns = [np.flatnonzero(own.columns.get_level_values("method") == name) for name in members]
    parts = (itertools.combinations(columns, votes) for columns, votes in zip(method_columns, members.values(), strict=True))
    mixes = [[int(column) for part in mix for column in part] for mix in itertools.product(*parts)]
    names = [tuple(map(str, name)) for name in own.columns]
    half = sum(members.values()) / 2
    distinct = np.array([np.sign(rows[:, mix].sum(axis=1) - half) + 1 for mix in mixes], dtype=np.int8)
    return _EnsembleVotes([[names[column] for column in mix] for mix in mixes], own.index, distinct, which.reshape(-1))


def _compute_selections(cast: _EnsembleVotes, select: Sequence[str], draws: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield the mean over all mixes of a vote, over those drawn, the best of all, and the best on other pairs."""
    import numpy as np

    n, mixes = len(cast.pairs), len(cast.combinations)
    if not n:
        yield {
            "selection": ALL_COMBINATIONS,
            "n_mixes": mixes,
            "n_pairs": 0,
            "note": "No pair was judged under all of these templates.",
        }
        return
    shares = cast.count_wins()[:, 0] / n
    spread = {"sd": shares.std(), "min_accuracy": shares.min(), "max_accuracy": shares.max()} if mixes > 1 else {}
    yield {"selection": ALL_COMBINATIONS, "n_mixes": mixes, "n_pairs": n, "accuracy": shares.mean(), **spread}
    if mixes == 1:
        return
    if draws:
        some = np.random.default_rng(seed).choice(shares, min(draws, mixes), replace=False)
        sd = some.std(ddof=1) if len(some) > 1 else None
        spread = {"sd": sd, "min_accuracy": some.min(), "max_accuracy": some.max()}
        yield {"selection": DRAWN_COMBINATIONS, "n_mixes": len(some), "n_pairs": n, "accuracy": some.mean(), **spread}
    best = int(shares.argmax())
    chosen = {"selection": ORACLE_SELECTION, "n_mixes": mixes, "members": _format_combinations(cast, [best])}
    yield chosen | {"n_pairs": n, "accuracy": shares[best], "note": ORACLE_NOTE}
    for name in select:
        folds = _assign_folds(cast.pairs, name, seed)
        won = cast.count_wins(folds)
        row_key = {"selection": HELD_OUT_SELECTIONS[name], "n_mixes": mixes, "n_pairs": n}
        if won.shape[1] < 2:
            yield row_key | {"note": f"There is one of the {name}; expected several to choose on others."}
            continue
        bests = (won.sum(axis=1, keepdims=True) - won).argmax(axis=0)
        right = float(won[bests, np.arange(len(bests))].sum())
        yield row_key | {"members": _format_combinations(cast, sorted({*map(int, bests)})), "accuracy": right / n}


def _assign_folds(pairs: "pd.Index[Any]", name: str, seed: int) -> Any:
    """Return the fold of each pair: its paradigm, or one of ten that are drawn within each paradigm."""
    import numpy as np

    paradigms = pairs.get_level_values("paradigm")
    if name == "paradigms":
        return paradigms.to_numpy(dtype=str)
    order = np.random.default_rng(seed).permutation(len(pairs))
    ranks = pd.Series(order, index=paradigms).groupby(level=0, sort=False).rank().to_numpy()
    return (ranks.astype(int) - 1) % PAIR_FOLDS


def _format_combinations(cast: _EnsembleVotes, combination_numbers: Sequence[int]) -> str:
    """Return the templates of mixes, by method.

    Of several mixes, the parts have ' | ' between them.
    """
    texts = []
    for mix in combination_numbers:
        by_method: dict[str, list[str]] = {}
        for method, template in cast.combinations[mix]:
            by_method.setdefault(str(method), []).append(str(template))
        texts.append("; ".join(f"{method} {', '.join(templates)}" for method, templates in by_method.items()))
    return " | ".join(texts)


def _compare_wins(won: "pd.Series[float]", base: "pd.Series[float]", draws: int, seed: int) -> dict[str, object]:
    """Return means and resampled differences, over pairs and over paradigms."""
    both = pd.concat([won, base], axis=1, join="inner", keys=["won", "base"]).dropna()
    if both.empty:
        return {"n_pairs": 0, "n_paradigms": 0, "note": "No pair was judged by both."}
    gain = (both["won"] - both["base"]).round(9)  # means over templates are equal where their counts are
    by_paradigm = gain.groupby(level="paradigm").mean()
    row: dict[str, object] = {
        "n_pairs": len(both), "accuracy": both["won"].mean(), "accuracy_reference": both["base"].mean(), "difference": gain.mean(),
        "n_paradigms": len(by_paradigm), "paradigm_difference": by_paradigm.mean(),
        "note": _format_size_note(len(both), len(by_paradigm)),
    }  # fmt: skip
    for name, values in (("", gain), ("paradigm_", by_paradigm)):
        if len(values) >= MIN_UNITS:
            means = resample_means(values, seed=seed, draws=draws)
            low, high = percentile_interval(means)
            reached = int((means <= ZERO_TOLERANCE).sum())
            p = reached / draws if reached else 1 / (draws + 1)
            row |= {
                f"{name}ci_low": low, f"{name}ci_high": high, f"n_{name}reversed": reached, f"{name}p": p
            }  # fmt: skip
    return row


def _format_size_note(pairs: int, paradigms: int) -> str:
    if pairs < MIN_UNITS:
        return f"No test: {pairs} pairs, under {MIN_UNITS}."
    return f"No test over paradigms: {paradigms}, under {MIN_UNITS}." if paradigms < MIN_UNITS else ""
