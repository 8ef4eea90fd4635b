"""A page with models in rows and phenomena or languages in columns, which a browser sorts; it needs no server and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gardenpath.study.measures import MEASURES

from ..comparing.pair_accuracy import ALL_PHENOMENA, MODEL_KEY

POOLED = "pooled"


@dataclass(frozen=True)
class Cell:
    """What a cell says, what it is sorted by, and what is added where the mouse rests; `best`: no model has more."""

    text: str
    value: float | None = None
    title: str = ""
    best: bool = False


@dataclass(frozen=True)
class Board:
    """A table of the page: the names of its columns, and a row of cells for each model."""

    title: str
    note: str
    header: list[str]
    rows: list[list[Cell]]


def leaderboard(tables: Mapping[str, pd.DataFrame], coverage: pd.DataFrame | None = None) -> str:
    """Return the page for the tables `accuracy` and, of several languages, `language_accuracies` and `language_means`.

    Accuracies have 95 % Wilson intervals; `#best` counts the columns in which no model is more accurate, and over languages also
    those where McNemar's test tells it from the second best (p < .1), as the table `language_bests` does.
    """
    import jinja2

    boards = []
    accuracy = tables["accuracy"]
    pooled = accuracy[accuracy["paradigm"] == POOLED]
    for measure, rows in pooled.groupby("measure", sort=False):
        boards.append(_board(f"Phenomena, {_label(str(measure))}", rows, "phenomenon"))
    if "language_accuracies" in tables:
        overall = tables["language_accuracies"].query("phenomenon == @OVERALL", local_dict={"OVERALL": ALL_PHENOMENA})
        means = tables["language_means"].query(
            "phenomenon == @OVERALL and split == @OVERALL", local_dict={"OVERALL": ALL_PHENOMENA}
        )
        for measure, rows in overall.groupby("measure", sort=False):
            certain = means[means["measure"] == measure].set_index(list(MODEL_KEY))
            boards.append(_board(f"Languages, {_label(str(measure))}", rows, "language", certain))
    if coverage is not None:
        boards.append(_matrix(coverage))
    loader = jinja2.PackageLoader("gardenpath.analysis.reporting", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("leaderboard.html").render(boards=boards)


def _label(measure: str) -> str:
    return MEASURES[measure].label if measure in MEASURES else measure


def _board(title: str, rows: pd.DataFrame, column: str, certain: pd.DataFrame | None = None) -> Board:
    """Return accuracies of models (rows) by a column's values, the most accurate model first."""
    values = rows[column].drop_duplicates().tolist()
    columns = sorted(values, key=lambda value: value != ALL_PHENOMENA)  # all of them together first
    found: dict[Any, pd.DataFrame] = {key: of.set_index(column) for key, of in rows.groupby(list(MODEL_KEY), sort=False)}
    highest = rows.groupby(column)["accuracy"].max()
    means = {key: _mean(of, certain, key) for key, of in found.items()}
    body = []
    for key, of in sorted(found.items(), key=lambda pair: -means[pair[0]]):
        cells = [Cell(key[0], title=key[1])]
        best = sum(of["accuracy"].get(value) == highest[value] for value in columns if value != ALL_PHENOMENA)
        cells.append(Cell(str(best), best))
        if certain is not None:
            surely = certain["n_best"].get(key) if "n_best" in certain else None
            cells += [Cell("" if pd.isna(surely) else str(int(surely)), None if pd.isna(surely) else float(surely))]
            cells.append(_of(certain.loc[key], "ci_low", "ci_high") if key in certain.index else Cell(""))
        cells += [_of(of.loc[value], best=highest[value]) if value in of.index else Cell("") for value in columns]
        body.append(cells)
    header = ["model", "#best", *(["#best, p < .1", "mean"] if certain is not None else []), *columns]
    note = "Accuracy with its 95 % interval below; the highest of a column is bold. A click on a column's name sorts by it."
    return Board(title, note, header, body)


def _mean(of: pd.DataFrame, certain: pd.DataFrame | None, key: Any) -> float:
    known: dict[Any, float] = {} if certain is None else certain["accuracy"].to_dict()
    return float(known.get(key, of["accuracy"].to_dict().get(ALL_PHENOMENA, of["accuracy"].mean())))


def _of(row: "pd.Series[float]", low: str = "wilson_low", high: str = "wilson_high", best: float | None = None) -> Cell:
    around = "" if pd.isna(row[low]) else f"{row[low]:.3f} to {row[high]:.3f}"
    return Cell(
        f"{row['accuracy']:.3f}",
        float(row["accuracy"]),
        f"{around}, n = {int(row['n_pairs'])}".lstrip(", "),
        row["accuracy"] == best,
    )


def _matrix(coverage: pd.DataFrame) -> Board:
    """Return what was computed of each model in each language."""
    languages = coverage["language"].drop_duplicates().tolist()
    body = []
    for model, rows in coverage.groupby("model", sort=False):
        cells = [Cell(str(model))]
        for language in languages:
            of = rows[rows["language"] == language]
            worst = next((state for state in ("refused", "failed", "missing") if (of["state"] == state).any()), "done")
            why = "; ".join(of["reason"].dropna())
            cells.append(Cell(worst, title=why))
        body.append(cells)
    return Board("What was computed", "Where something failed, the mouse tells why.", ["model", *languages], body)
