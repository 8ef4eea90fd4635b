"""The same effect under other defensible choices: cutoffs, transforms, and without participants who are flagged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, check, executors
from gardenpath.study.config import COVARIATES, NO_RT_CUTOFFS
from gardenpath.study.executors import Executor

from ..measuring.ratings_and_times import SENTENCE_REGION, compute_region_times
from .grammaticality import TERM, Known, effect, entering, narrow

EVERYBODY, UNFLAGGED = "all", "not flagged"
NO_CUTOFF = "none"
SPREAD = 3.0  # s.d. of log reading time within participant

# Cutoffs of the field (docs/study.md names the sources): words outside are taken as not timed.
BANDS: Mapping[str, tuple[float, float]] = {
    "100 to 3000 ms": (100, 3000),
    "50 to 2500 ms": (50, 2500),
    "100 to 5000 ms": (100, 5000),
}
Transform = Callable[[pd.DataFrame], "pd.Series[float]"]


def _log(times: pd.DataFrame) -> "pd.Series[float]":
    return times["log_rt"]


def _ms(times: pd.DataFrame) -> "pd.Series[float]":
    return times["rt"]


def _log_per_word(times: pd.DataFrame) -> "pd.Series[float]":
    import numpy as np

    return times["log_rt"] - np.log(times["n_words"].astype("float64"))


def _speed(times: pd.DataFrame) -> "pd.Series[float]":
    return -1000 / times["rt"]


TRANSFORMS: Mapping[str, Transform] = {"log": _log, "ms": _ms, "log per word": _log_per_word, "-1000/ms": _speed}
LOG = "log"


def sensitivity_grid(
    scores: pd.DataFrame,
    readings: pd.DataFrame,
    items: pd.DataFrame,
    *,
    flagged: Mapping[str, set[str]] | None = None,
    min_rt: float = 100,
    max_rt: float = 3000,
    engine: str = "glmm",
    covariates: Sequence[str] = COVARIATES,
    workers: Executor | None = None,
    known: Known | None = None,
) -> pd.DataFrame:
    """Return the effect of grammaticality in each phenomenon under every cutoff and transform, random intercepts only.

    Critical region: no cutoff, the declared one, three of the field's, and 3 s.d. of a participant's log times, each
    with the log of the region's time, the time itself, the log of the mean time of its words, and the negative reciprocal;
    ratings under each prompt: z and as given. Then without the participants who are `flagged`, by prompt, if there are any: reading
    times without those of each prompt in turn. One choice is the `declared` one; no other carries stars or a corrected p, since
    choosing among them is what the grid guards against. With `workers`, such as `study.executors.LocalExecutor(2)`, models are
    fitted by several processes, and the table is the same; without, models that are `known` (see `phenomenon_models`) are not
    fitted again.
    """
    flagged = flagged or {}
    declared = (min_rt, max_rt)
    fits = _Fits(engine)
    choices = [
        *_rating_choices(scores, readings, items, flagged, fits),
        *_time_choices(scores, readings, items, flagged, declared, fits, covariates),
    ]
    fitted = partial(_fitted, known=None if workers else known)
    models = {one.index: one.get_value() for one in executors.map_in_parallel(fitted, fits.wanted, workers)}
    rows = [_row(choice, models[choice["fit"]]) for choice in choices]
    return check(pd.DataFrame(rows, columns=TABLES["sensitivity"].column_names), "sensitivity")


@dataclass(frozen=True)
class _Fit:
    """A model that is wanted: the effect on a response in some rows."""

    rows: pd.DataFrame
    response: str
    engine: str


def _fitted(wanted: _Fit, known: Known | None) -> pd.DataFrame:
    return effect(wanted.rows, wanted.response, engine=wanted.engine, known=known)


class _Fits:
    """The models that choices want, in the order of the choices."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.wanted: list[_Fit] = []

    def each(self, rows: pd.DataFrame, choice: Mapping[str, str | None], response: str, declared: bool) -> list[dict[str, Any]]:
        """Return a choice for each phenomenon, with the number of its fit."""
        choices = []
        for phenomenon, part in narrow(rows, "phenomenon", "n_words", response).groupby("phenomenon", sort=True):
            words = float(part["n_words"].mean()) if choice["measure"] == "log_rt" else None
            more = {"phenomenon": phenomenon, "declared": declared, "fit": len(self.wanted), "words": words}
            choices.append({**choice, **more})
            self.wanted.append(_Fit(part, response, self.engine))
        return choices


def _row(choice: Mapping[str, Any], estimated: pd.DataFrame) -> dict[str, Any]:
    """Return the row of a choice: the effect in its model, of reading times in ms too."""
    model = estimated.set_index("term")
    row: dict[str, Any] = {str(name): value for name, value in model.loc[TERM].items()}
    row |= {name: value for name, value in choice.items() if name not in ("fit", "words")}
    if choice["measure"] == "log_rt" and not pd.isna(row["estimate"]):
        row |= _in_ms(row, float(model["estimate"]["intercept"]), choice["words"])
    return row


def _rating_choices(
    scores: pd.DataFrame, readings: pd.DataFrame, items: pd.DataFrame, flagged: Mapping[str, set[str]], fits: _Fits
) -> list[dict[str, Any]]:
    """Return the choices for ratings, z and as given, of everybody and of those who are not flagged."""
    no_times = compute_region_times(readings.head(0), items, spillover=0)
    rows = []
    for (_, _, prompt), rated in entering(scores, no_times, items).items():
        left_out = flagged.get(str(prompt), set())
        groups = {EVERYBODY: rated}
        if left_out:
            groups[UNFLAGGED] = rated[~rated["participant"].isin(left_out)]
        for people, part in groups.items():
            for response in ("z", "rating"):
                choice: dict[str, str | None] = {"measure": "z", "region": SENTENCE_REGION, "cutoff": NO_CUTOFF}
                choice |= {"scale": response, "people": people, "prompt": prompt}
                rows += fits.each(part, choice, response, response == "z" and people == EVERYBODY)
    return rows


def _time_choices(
    scores: pd.DataFrame,
    readings: pd.DataFrame,
    items: pd.DataFrame,
    flagged: Mapping[str, set[str]],
    declared: tuple[float, float],
    fits: _Fits,
    covariates: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the choices for reading times of the critical region under each cutoff and transform; `declared` is a band, ms."""
    own = {} if declared == NO_RT_CUTOFFS else {f"{declared[0]:g} to {declared[1]:g} ms": declared}
    declared_cutoff = next(iter(own), NO_CUTOFF)
    groups: dict[tuple[str, str | None], set[str]] = {(EVERYBODY, None): set()}
    groups |= {(UNFLAGGED, prompt): names for prompt, names in flagged.items() if names}
    fitted: dict[tuple[object, ...], list[dict[str, Any]]] = {}  # cutoffs that leave the same times need one fit
    words = readings[(readings["role"] == "target") & (readings["region"] == "critical").fillna(False)]
    rows = []
    for cutoff, timed in _cut(readings, words, {**own, **BANDS}).items():
        times = compute_region_times(timed, items, min_rt=0, max_rt=float("inf"), spillover=0)
        for (people, prompt), left_out in groups.items():
            kept = times[~times["participant"].isin(left_out)]
            entered = entering(scores.head(0), kept, items, covariates).get(("log_rt", "critical", None))
            if entered is None:
                continue
            trials = pd.util.hash_pandas_object(kept[["session", "trial", "condition"]], index=False).to_numpy().tobytes()
            for name, transform in TRANSFORMS.items() if people == EVERYBODY else [(LOG, TRANSFORMS[LOG])]:
                choice = {"measure": "log_rt", "region": "critical", "cutoff": cutoff, "scale": name}
                choice |= {"people": people}
                same = (people, prompt, name, trials)
                if same not in fitted:
                    fitted[same] = fits.each(entered.assign(y=transform(entered)), choice, "y", False)
                is_declared = (cutoff, name, people) == (declared_cutoff, LOG, EVERYBODY)
                rows += [row | choice | {"prompt": prompt, "declared": is_declared} for row in fitted[same]]
    return rows


def _cut(readings: pd.DataFrame, words: pd.DataFrame, bands: Mapping[str, tuple[float, float]]) -> dict[str, pd.DataFrame]:
    """Return the words of critical regions under each cutoff; those outside have no reading time."""
    import numpy as np

    cuts = {NO_CUTOFF: words.assign(rt=words["rt"].where(words["rt"] > 0))}
    cuts |= {name: words.assign(rt=words["rt"].where(words["rt"].between(*band))) for name, band in bands.items()}
    read = readings[(readings["role"] == "target") & (readings["rt"] > 0)]
    log_rt = pd.Series(np.log(read["rt"].to_numpy(dtype="float64")), index=read.index)
    by = log_rt.groupby(read["participant"])
    far = (log_rt - by.transform("mean")).abs() > SPREAD * by.transform("std")
    inside = words.index.isin(read.index[~far.fillna(False)])
    cuts[f"{SPREAD:g} s.d. of log time"] = words.assign(rt=words["rt"].where(inside))
    return cuts


def _in_ms(row: Mapping[str, Any], mean: float, words: float) -> dict[str, float]:
    """Return effect and interval as differences of predictions in ms, at the model's mean."""
    import math

    back: Callable[[float], float] = {
        "log": math.exp,
        "ms": lambda y: y,
        "log per word": lambda y: math.exp(y) * words,
        "-1000/ms": lambda y: -1000 / y if y < 0 else math.nan,
    }[row["scale"]]
    ends = {"ms": row["estimate"], "ms_low": row["ci_low"], "ms_high": row["ci_high"]}
    return {name: back(mean + effect / 2) - back(mean - effect / 2) for name, effect in ends.items()}
