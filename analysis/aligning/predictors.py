"""What reading times are modelled by: surprisal, length and frequency at lags, and how they hang together."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from gardenpath.study import DataError, check

from ..measuring.ratings_and_times import cap_faults
from ..row_dicts import list_rows

MODEL_KEY = ["model", "protocol"]
WORD_KEY = ["item", "condition", "word"]
LAG_SUFFIXES = {-2: "_next2", -1: "_next", 0: "", 1: "_previous", 2: "_previous2", 3: "_previous3"}  # lag: what a column ends in
LAGGED_PREDICTORS = ("surprisal", "length", "zipf")
READING_INTERCEPTS = "(1|participant) + (1|item) + (1|token)"
WORD_MEAN_INTERCEPTS = "(1|item)"  # of words whose reading times are means over readers
RESPONSE_VARIABLE = "log_rt"


def list_lagged_columns(name: str, lags: Iterable[int]) -> list[str]:
    """Return the columns of a predictor at these lags; 0 is the word itself, 1 the one before, -1 the next.

    >>> list_lagged_columns("surprisal", [-1, 0, 1])
    ['surprisal_next', 'surprisal', 'surprisal_previous']
    """
    return [f"{name}{LAG_SUFFIXES[lag]}" for lag in lags]


def is_word_means(aligned: pd.DataFrame) -> bool:
    """Whether rows are words with their mean reading times, of no participant and no trial."""
    return "log_trial" not in aligned


def get_random_intercepts(aligned: pd.DataFrame) -> str:
    """Return the random intercepts of a model of these rows."""
    return WORD_MEAN_INTERCEPTS if is_word_means(aligned) else READING_INTERCEPTS


def list_model_terms(aligned: pd.DataFrame, lags: Iterable[int], **more: Any) -> list[str]:
    """Return the fixed effects (see `list_reading_terms`) of a model of these rows: means have no trial."""
    names = list_reading_terms(lags, **more)
    return names[:-1] if is_word_means(aligned) else names


def list_reading_terms(lags: Iterable[int], *, surprisal: bool = True, extra: Iterable[str] = ()) -> list[str]:
    """Return the fixed effects of a reading-time model: each predictor at each lag, then position and log trial.

    >>> list_reading_terms([0], extra=["entropy_next"])
    ['surprisal', 'entropy_next', 'length', 'zipf', 'position', 'log_trial']
    """
    lags = list(lags)
    names = list_lagged_columns("surprisal", lags) if surprisal else []
    return [
        *names,
        *extra,
        *(name for what in LAGGED_PREDICTORS[1:] for name in list_lagged_columns(what, lags)),
        "position",
        "log_trial",
    ]


def format_formula(fixed: Iterable[str], random: str = READING_INTERCEPTS, response: str = RESPONSE_VARIABLE) -> str:
    """Return a model formula. Readers share words: without (1|token) a predictor of words is significant too often.

    >>> format_formula(["surprisal"])
    'log_rt ~ surprisal + (1|participant) + (1|item) + (1|token)'
    """
    return f"{response} ~ {' + '.join(fixed)} + {random}"


def split_by_model(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield each model and protocol with its rows, in the order of their names."""
    for (model, protocol), rows in frame.groupby(MODEL_KEY, sort=True):
        yield str(model), str(protocol), rows


def index_by_term(fitted: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the rows of a fit by their term."""
    return {str(row["term"]): row for row in list_rows(fitted)}


def add_neighbouring_predictors(surprisal: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Return each scored word with its length and Zipf frequency, and with the same of the words around it.

    What a word around lacks, or where there is none, stays empty. A score whose word is not in `words`, or is another
    text there, is a `DataError`.
    """
    properties = words[[*WORD_KEY, "text", "length", "zipf"]].rename(columns={"text": "in_words"})
    scored = surprisal.merge(properties, on=WORD_KEY, how="left", validate="m:1")
    refuse_words(scored[scored["in_words"].isna()], "scored as {r.text!r} by {r.model}, but not in table words")
    differing = scored[scored["in_words"] != scored["text"]]
    refuse_words(differing, "scored as {r.text!r} by {r.model}, but {r.in_words!r} in table words")
    predictors = scored.drop(columns="in_words")
    for lag in (lag for lag in LAG_SUFFIXES if lag):
        names = [*LAGGED_PREDICTORS, "entropy"] if lag == -1 else [*LAGGED_PREDICTORS]
        around = scored[[*MODEL_KEY, *WORD_KEY, *names]].assign(word=scored["word"] + lag)
        around = around.rename(columns={name: f"{name}{LAG_SUFFIXES[lag]}" for name in names})
        predictors = predictors.merge(around, on=[*MODEL_KEY, *WORD_KEY], how="left", validate="1:1")
    return predictors


def refuse_words(rows: pd.DataFrame, fault: str) -> None:
    """Raise `DataError` with the fault of each of these words, if there are any."""
    if len(rows):
        location = "item {r.item}, condition {r.condition}, word {r.word}: "
        raise DataError(cap_faults((location + fault).format(r=r) for r in rows.itertuples()))


def compute_collinearity(aligned: pd.DataFrame, *, lags: int = 2) -> pd.DataFrame:
    """Return the correlation of every two predictors over readings, and each one's variance inflation factor.

    The factor is 1 / (1 - R2) of the predictor regressed on all others; above 10, its coefficient says little alone
    (doi 10.1007/s11135-006-9018-6 on what such limits are worth). A predictor that does not vary has neither. A table
    without rows is a `DataError`.

    >>> rows = pd.DataFrame({"surprisal": [1.0, 2, 3, 4], "length": [2.0, 1, 4, 3], "zipf": [5.0, 5, 5, 5]})
    >>> rows = rows.assign(model="m", protocol="p", position=[1.0, 0, 0, 1], log_trial=[0.0, 0.7, 0.0, 0.8])
    >>> table = compute_collinearity(rows, lags=0).query("predictor == 'surprisal' and other_predictor == 'length'")
    >>> table["r"].round(3).item(), table["n_readings"].item()
    (0.6, 4)
    """
    import numpy as np

    names = list_model_terms(aligned, range(lags + 1))
    parts = []
    for model, protocol, rows in split_by_model(aligned):
        values = rows[names].astype("float64").replace([np.inf, -np.inf], np.nan).dropna()
        moving = [name for name in names if values[name].max() > values[name].min()]
        r = np.full((len(names), len(names)), np.nan)
        inflation: dict[str, float] = {}
        if moving:
            positions = [names.index(name) for name in moving]
            correlations = np.corrcoef(values[moving].to_numpy(), rowvar=False).reshape(len(moving), len(moving))
            r[np.ix_(positions, positions)] = correlations
            inflation = dict(zip(moving, _compute_inflation(values[moving].to_numpy()), strict=True))
        for i, name in enumerate(names):
            part = pd.DataFrame({"predictor": name, "other_predictor": names, "r": r[i], "vif": inflation.get(name)})
            parts.append(part.assign(model=model, protocol=protocol, n_readings=len(values)))
    if not parts:
        raise DataError("table aligned has no rows; expected a reading of each word, from align")
    return check(pd.concat(parts, ignore_index=True), "collinearity")


def _compute_inflation(values: object) -> list[float]:
    """Return total over residual sum of squares of each column given all others; infinite where others give it."""
    import numpy as np

    matrix = np.asarray(values, dtype="float64")
    matrix = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    factors = []
    for column in range(matrix.shape[1]):
        others = np.delete(matrix, column, axis=1)
        residual = matrix[:, column] - others @ np.linalg.lstsq(others, matrix[:, column], rcond=None)[0]
        left = float(residual @ residual) / len(matrix)
        factors.append(1 / left if left > 1e-10 else float("inf"))
    return factors
