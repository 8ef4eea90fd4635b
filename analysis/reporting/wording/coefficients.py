"""Tables of coefficients as papers print them: the headline of each result, and the published form beside it."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from gardenpath.study.plans import SLOPES

from ...model_results import is_intercepts_form
from ...row_dicts import list_rows
from .numbers import Row, decimals, minus, name_adjusted, p_value, signed

ABSENT = "–"
WITH_SLOPES, PUBLISHED = "with slopes", "intercepts alone"
NOT_FITTED = "Not fitted"  # how the note of such a model begins, before its reason
OF_MODEL = ("unit", "model", "response", "region", "prompt", "term")


@dataclass(frozen=True)
class Coefficients:
    """A table of coefficients: its columns, whose first `labels` are text, its rows, and what columns have in common."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int
    groups: tuple[tuple[str, int], ...] = ()  # a heading over so many columns

    def markdown(self) -> str:
        """Return the table as Markdown has it; columns of the published form say so."""
        over = [name for name, size in self.groups for _ in range(size)] or [""] * len(self.columns)
        last = self.groups[-1][0] if self.groups else None
        names = [f"{column} ({group})" if group == last else column for column, group in zip(self.columns, over, strict=True)]
        rule = ["---" if k < self.labels else "---:" for k in range(len(self.columns))]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *map(_strong, self.rows)))


def is_heading(row: Sequence[str]) -> bool:
    """Return whether a row of a table stands over those below it."""
    return len(row) > 1 and bool(row[0]) and not any(row[1:])


def _strong(row: Sequence[str]) -> Sequence[str]:
    return (f"**{row[0]}**", *row[1:]) if is_heading(row) else row


def coefficients(models: pd.DataFrame, names: Sequence[tuple[str, Sequence[str]]], headings: Sequence[str] = ()) -> Coefficients:
    """Return the headline of each result, with the published form beside it where there are both.

    `names` are the first columns: how each is called, and its cells, one for each row of `models`. A cell that repeats the one
    above is left empty. Rows of the same of `headings` stand under it, and what is particular about their fit beside it.
    """
    models = models.reset_index(drop=True)
    labels = pd.DataFrame(dict(names), index=models.index)
    first, second = models[models["headline"]], models[is_intercepts_form(models)]
    key = [name for name in OF_MODEL if name in models]
    published = {_key(row, key): row for row in list_rows(second)}
    adjustments = models.loc[models["p_adjusted"].notna(), "adjustment"]
    adjusted = name_adjusted(adjustments.iloc[0]) if len(adjustments) else ""
    in_ms = "ms" in models and bool(first["ms"].notna().any())
    fits = [_fit(row, bool(published)) for row in list_rows(first)]
    over = [headings[k] for k in first.index] if headings else [""] * len(first)
    alike = len({*zip(over, fits, strict=True)}) == len({*over})
    of_fit = any(fits) and not (headings and alike)  # else it stands in the headings
    places = {measure: decimals(rows["se"].min()) for measure, rows in models.groupby("response", sort=False)}
    wald = first.loc[first["t"].notna(), "df"].isna()
    test = "z" if len(wald) and wald.all() else "t (df) or z" if wald.any() else "t (df)"
    numbers = []
    for row, fit in zip(list_rows(first), fits, strict=True):
        other = published.get(_key(row, key))
        digits = places[row["response"]]
        cells = [*_estimate(row, digits), _test(row), _p(row, "p")]
        cells += [_p(row, "p_adjusted")] if adjusted else []
        cells += [_milliseconds(row)] if in_ms else []
        cells += [fit] if of_fit else []
        if published:
            cells += [ABSENT] * 2 if other is None else [_estimate(other, digits)[0], _p(other, "p")]
        numbers.append(tuple(cells))
    columns = ["b", "95% CI", test, "p", *([adjusted] if adjusted else [])]
    columns += [*(["ms"] if in_ms else []), *(["fit"] if of_fit else [])]
    groups: tuple[tuple[str, int], ...] = ()
    if published:
        groups = (("", len(names)), (WITH_SLOPES, len(columns)), (PUBLISHED, 2))
        columns += ["b", "p"]
    named = [tuple(map(str, cells)) for cells in labels.loc[first.index].itertuples(index=False)]
    rows: list[tuple[str, ...]] = []
    for heading, part in itertools.groupby(zip(over, fits, named, numbers, strict=True), lambda row: row[0]):
        under = list(part)
        if heading:
            rows.append((heading if of_fit else _headed(heading, under[0][1]), *[""] * (len(names) + len(columns) - 1)))
        cells_once = once([cells for *_, cells, _ in under])
        rows += [(*cells, *values) for cells, (*_, values) in zip(cells_once, under, strict=True)]
    return Coefficients((*(name for name, _ in names), *columns), tuple(rows), len(names), groups)


def _headed(heading: str, fit: str) -> str:
    """Return a heading with what is particular about the fits below it, in brackets where that is no sentence."""
    return f"{heading}, {fit}" if ": " in fit else f"{heading} ({fit})" if fit else heading


def _key(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def once(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the rows without the cells that repeat the one above, as far as all cells to their left do.

    >>> once([("a", "x"), ("a", "y"), ("b", "y")])
    [('a', 'x'), ('', 'y'), ('b', 'y')]
    """
    blank = rows[:1]
    shown = list(blank)
    for above, row in itertools.pairwise(rows):
        alike = next((k for k, pair in enumerate(zip(above, row, strict=True)) if pair[0] != pair[1]), 0)
        shown.append(("",) * alike + row[alike:])
    return shown


def _fit(row: Row, both: bool) -> str:
    """Return what is particular about a headline's fit: reduced, singular, without slopes where others have them, or why none."""
    if pd.isna(row["estimate"]):
        note = row["note"] if isinstance(row.get("note"), str) else ""
        return f"n{note[1:]}" if note.startswith(NOT_FITTED) else NOT_FITTED.lower()
    form = PUBLISHED if both and row["random"] != SLOPES else "reduced" if row.get("reduced", False) else ""
    return ", ".join(filter(None, [form, "singular fit" if row["singular"] else ""]))


def _estimate(row: Row, digits: int) -> list[str]:
    if pd.isna(row["estimate"]):
        return [ABSENT, ABSENT]
    ends = "" if pd.isna(row["ci_low"]) else minus(f"[{row['ci_low']:.{digits}f}, {row['ci_high']:.{digits}f}]")
    return [signed(row["estimate"], digits), ends or ABSENT]


def _test(row: Row) -> str:
    if pd.isna(row["t"]):
        return ABSENT
    text = signed(row["t"], 2)
    return text if pd.isna(row["df"]) else f"{text} ({row['df']:.1f})"


def _p(row: Row, name: str) -> str:
    if pd.isna(row[name]):
        return ABSENT
    return p_value(row[name]).removeprefix("= ") + (" (optimistic)" if row.get("optimistic", False) else "")


def _milliseconds(row: Row) -> str:
    if pd.isna(row["ms"]):
        return ABSENT
    ends = "" if pd.isna(row["ms_low"]) else minus(f" [{row['ms_low']:.0f}, {row['ms_high']:.0f}]")
    return f"{signed(row['ms'], 0)}{ends}"
