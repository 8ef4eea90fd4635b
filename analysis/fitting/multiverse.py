"""The same effect under other defensible choices: cutoffs, transforms, and without participants who are flagged."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, check, executors
from gardenpath.study.config import NO_RT_CUTOFFS
from gardenpath.study.executors import Executor
from gardenpath.study.plans import INTERCEPTS, Plan, PlannedModel
from gardenpath.study.responses import RESPONSES, is_standardised

from ..measuring.ratings_and_times import compute_region_times
from ..plan.trials import StudyTrials
from .planned_fits import KnownFits, refit

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


@dataclass(frozen=True)
class VariedFit:
    """A planned model that is wanted with another response, in some of its trials."""

    model: PlannedModel
    rows: pd.DataFrame
    response: str
    engine: str


@dataclass(frozen=True)
class Choice:
    """One choice for one planned model, and the number of its fit; `words` is the mean number of words of the region."""

    model: PlannedModel
    cells: Mapping[str, Any]
    fit: int
    words: float


def compute_multiverse(
    plan: Plan,
    trials: StudyTrials,
    readings: pd.DataFrame,
    *,
    flagged: Mapping[str, set[str]] | None = None,
    rt_cutoffs: tuple[float, float] = (100, 3000),
    workers: Executor | None = None,
    known: KnownFits | None = None,
) -> pd.DataFrame:
    """Return the table multiverse: the effect of grammaticality in each phenomenon under every cutoff and transform.

    What is varied are the planned models with intercepts alone. Critical region: no cutoff, the declared one, three of the field's,
    and 3 s.d. of a participant's log times, each with the log of the region's time, the time itself, the log of the mean time of
    its words, and the negative reciprocal; ratings under each prompt: z and as given. Then without the participants who are
    `flagged`, by prompt, if there are any: reading times without those of each prompt in turn. One choice is the `declared` one; no
    other carries stars or a corrected p, since choosing among them is what the table guards against. With `workers`, such as
    `study.executors.LocalExecutor(2)`, models are fitted by several processes, and the table is the same; without, models that
    are `known` (see `fit_plan`) are not fitted again.
    """
    flagged = flagged or {}
    varied = [one for one in plan.models if (one.unit, one.family, one.random) == ("phenomenon", "gaussian", INTERCEPTS)]
    wanted: list[VariedFit] = []
    choices = [
        *_list_rating_choices([one for one in varied if is_standardised(one.response)], trials, flagged, plan.engine, wanted),
        *_list_time_choices(
            [one for one in varied if (one.response, one.region) == ("log_rt", "critical")],
            trials,
            readings,
            flagged,
            rt_cutoffs,
            plan.engine,
            wanted,
        ),
    ]
    fit = partial(_fit, known=None if workers else known)
    fits = {one.index: one.get_value() for one in executors.map_in_parallel(fit, wanted, workers)}
    rows = [_build_row(choice, fits[choice.fit]) for choice in choices]
    return check(pd.DataFrame(rows, columns=TABLES["multiverse"].column_names), "multiverse")


def _fit(wanted: VariedFit, known: KnownFits | None) -> pd.DataFrame:
    return refit(wanted.model, wanted.rows, wanted.response, wanted.engine, known)


def _build_row(choice: Choice, coefficients: pd.DataFrame) -> dict[str, Any]:
    """Return the row of a choice: the effect in its model, of reading times in ms too."""
    model = coefficients.set_index("term")
    [term] = choice.model.coding
    row: dict[str, Any] = {str(name): value for name, value in model.loc[term].items()}
    row |= {"model_id": choice.model.model_id, "model": choice.model.name, "response": choice.model.response}
    row |= {"region": choice.model.region, "term": term, "n_participants": row["participants"], **choice.cells}
    if choice.model.response == "log_rt" and not pd.isna(row["estimate"]):
        row |= _convert_to_ms(row, float(model["estimate"]["intercept"]), choice.words)
    return row


def _list_rating_choices(
    models: Sequence[PlannedModel], trials: StudyTrials, flagged: Mapping[str, set[str]], engine: str, wanted: list[VariedFit]
) -> Iterator[Choice]:
    """Yield the choices for ratings, standardised and as measured, of everybody and of those who are not flagged."""
    for measured, prompt in dict.fromkeys((one.response, one.prompt) for one in models):
        of_prompt = [(one, trials.select(one)) for one in models if (one.response, one.prompt) == (measured, prompt)]
        left_out = flagged.get(str(prompt), set())
        for people in (EVERYBODY, UNFLAGGED) if left_out else (EVERYBODY,):
            for response in (measured, RESPONSES[measured].raw):
                cells: dict[str, str | bool | None] = {"cutoff": NO_CUTOFF, "scale": response, "people": people, "prompt": prompt}
                cells["declared"] = response == measured and people == EVERYBODY
                for model, rows in of_prompt:
                    part = rows if people == EVERYBODY else rows[~rows["participant"].isin(left_out)]
                    if len(part):
                        yield Choice(model, cells, len(wanted), float("nan"))
                        wanted.append(VariedFit(model, part, response, engine))


def _list_time_choices(
    models: Sequence[PlannedModel],
    trials: StudyTrials,
    readings: pd.DataFrame,
    flagged: Mapping[str, set[str]],
    declared: tuple[float, float],
    engine: str,
    wanted: list[VariedFit],
) -> Iterator[Choice]:
    """Yield the choices for reading times of the critical region under each cutoff and transform; `declared` is a band, ms."""
    own = {} if declared == NO_RT_CUTOFFS else {f"{declared[0]:g} to {declared[1]:g} ms": declared}
    declared_cutoff = next(iter(own), NO_CUTOFF)
    groups: dict[tuple[str, str | None], set[str]] = {(EVERYBODY, None): set()}
    groups |= {(UNFLAGGED, prompt): names for prompt, names in flagged.items() if names}
    fitted: dict[tuple[object, ...], list[Choice]] = {}  # cutoffs that leave the same times need one fit
    words = readings[(readings["role"] == "target") & (readings["region"] == "critical").fillna(False)]
    for cutoff, timed in _cut(readings, words, {**own, **BANDS}).items() if models else ():
        times = compute_region_times(timed, trials.items, min_rt=0, max_rt=float("inf"), spillover=0)
        for (people, prompt), left_out in groups.items():
            kept = times[~times["participant"].isin(left_out)]
            read = replace(trials, scores=trials.scores.head(0), times=kept, _positions={})
            same_trials = pd.util.hash_pandas_object(kept[["session", "trial", "condition"]], index=False).to_numpy().tobytes()
            for name, transform in TRANSFORMS.items() if people == EVERYBODY else [(LOG, TRANSFORMS[LOG])]:
                cells: dict[str, str | bool | None] = {"cutoff": cutoff, "scale": name, "people": people, "prompt": prompt}
                cells["declared"] = (cutoff, name, people) == (declared_cutoff, LOG, EVERYBODY)
                same = (people, prompt, name, same_trials)
                if same not in fitted:
                    fitted[same] = list(_vary_times(models, read, transform, engine, wanted))
                yield from (replace(choice, cells=cells) for choice in fitted[same])


def _vary_times(
    models: Sequence[PlannedModel], trials: StudyTrials, transform: Transform, engine: str, wanted: list[VariedFit]
) -> Iterator[Choice]:
    """Yield a choice for each model of reading times, transformed."""
    for model in models:
        rows = trials.select(model)
        if len(rows):
            yield Choice(model, {}, len(wanted), float(rows["n_words"].mean()))
            wanted.append(VariedFit(model, rows.assign(y=transform(rows)), "y", engine))


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


def _convert_to_ms(row: Mapping[str, Any], mean: float, words: float) -> dict[str, float]:
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
