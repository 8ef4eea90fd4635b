"""Measures of participants that models may name, such as age or proficiency: read, tabulated, and drawn for simulated ones."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING

from .config import ParticipantMeasureSection
from .errors import DataError
from .table_files import read_csv, unescape_formulas

if TYPE_CHECKING:
    import pandas as pd

MEASURES_TABLE = "participant_measures"  # among the tables that are analysed: a row for each participant, a column for each measure
SIMULATED_MEASURES_FILE = f"{MEASURES_TABLE}.csv"  # in a folder of simulated sessions: what the files would say of the robots
MAX_LISTED = 3  # participants, or answers, that a message names
Measures = Mapping[str, ParticipantMeasureSection]


def read_measure_files(measures: Measures, folder: Path) -> "pd.DataFrame | None":
    """Return the files of measures as one table, `participant` and the cells of each measure as text; None where there is no file.

    Paths start from `folder`. Raises `DataError` for a column that is missing, a participant who is there twice, and a cell that is
    neither a number nor one of the levels; `FileNotFoundError` for a file that is missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "tests.csv").write_text("participant,lextale\\nP1,82.5\\nP2,\\n")
    ...     read_measure_files({"lextale": ParticipantMeasureSection(file="tests.csv")}, Path(place))["lextale"].tolist()
    ['82.5', '']
    """
    names_by_file: dict[str, list[str]] = {}
    for name, measure in measures.items():
        if measure.file is not None:
            names_by_file.setdefault(measure.file, []).append(name)
    table = None
    for file, names in names_by_file.items():
        part = _read_measure_file(folder / file, {name: measures[name] for name in names})
        table = part if table is None else table.merge(part, on="participant", how="outer", validate="1:1")
    return table


def _read_measure_file(path: Path, measures: Measures) -> "pd.DataFrame":
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: there is no such file; expected a CSV file with the columns participant, {', '.join(measures)}, as "
            f"analysis.participant_measures.{next(iter(measures))}.file states"
        )
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
    table: pd.DataFrame = unescape_formulas(read_csv(path, max(",;\t", key=header.count)))
    columns = ["participant", *measures]
    if missing := [name for name in columns if name not in table]:
        there = ", ".join(map(str, table.columns))
        raise DataError(f"{path}: column {missing[0]!r} is missing; expected {', '.join(columns)}; there are {there}")
    table = table[columns].astype("string").fillna("").apply(lambda cells: cells.str.strip())
    table = table[(table != "").any(axis="columns")]  # spreadsheets leave empty lines
    people = table["participant"]
    faults = [f"{path}, line {n + 2}: participant is empty; expected who it is" for n in table.index[people == ""]]
    for person in people[people.duplicated() & (people != "")].unique():
        faults.append(f"{path}: participant {person!r} is there {int((people == person).sum())} times; expected one row")
    for name, measure in measures.items():
        for n, cell in table[name].items():
            if cell and (fault := _find_fault(cell, measure)):
                faults.append(f"{path}, line {int(str(n)) + 2}: {name} is {cell!r}; {fault}")
    if faults:
        raise DataError(faults)
    return table


def _find_fault(cell: str, measure: ParticipantMeasureSection) -> str | None:
    """Return why a cell is no value of a measure, None where it is one."""
    if measure.levels:
        return None if cell in measure.levels else f"expected one of {', '.join(measure.levels)}"
    try:
        number = float(cell)
    except ValueError:
        return "expected a number"
    low, high = (-math.inf if measure.min is None else measure.min), (math.inf if measure.max is None else measure.max)
    if not math.isfinite(number) or not low <= number <= high:
        limits = [f"from {low:g}"] * (low > -math.inf) + [f"to {high:g}"] * (high < math.inf)
        return " ".join(["expected a number", *limits])
    return None


def tabulate_participant_measures(
    measures: Measures,
    participants: Iterable[str],
    *,
    sessions: "pd.DataFrame",
    demographics: "pd.DataFrame | None" = None,
    table: "pd.DataFrame | None" = None,
) -> "tuple[pd.DataFrame, list[str]]":
    """Return the measures of these participants, a row each, and a line for each measure with answers that count as not known:
    those that are neither a number nor one of the levels.

    Numbers are float64, texts are categories in the order of their levels; what is not known is empty. `demographics` has answers,
    and `table` (`participant`, and a column each) what files say; of simulated participants demographics have both.

    Raises `DataError` where a table is missing, or names a participant of whom there is no session, or lacks one of `participants`.

    >>> import pandas as pd
    >>> sessions = pd.DataFrame({"participant": ["P1", "P2"]})
    >>> rows = [("P1", "S1", "age", "23"), ("P2", "S2", "age", "old")]
    >>> demographics = pd.DataFrame(rows, columns=["participant", "session", "question", "response"])
    >>> found, notes = tabulate_participant_measures(
    ...     {"age": ParticipantMeasureSection()}, ["P1", "P2"], sessions=sessions, demographics=demographics
    ... )
    >>> found["age"].tolist(), notes
    ([23.0, nan], ["participant measure age: answers that count as not known: 'old'; expected a number"])
    """
    import pandas as pd

    people = pd.Index(sorted({str(one) for one in participants}), name="participant")
    columns: dict[str, pd.Series] = {}
    notes: list[str] = []
    for name, measure in measures.items():
        question = measure.question or name
        asked = demographics is not None and bool((demographics["question"] == question).any())
        if measure.file is not None and not asked:
            cells = _take_cells(name, measure, people, sessions, table)
        elif demographics is not None and asked:
            answers = demographics[demographics["question"] == question].drop_duplicates("participant").set_index("participant")
            cells = answers["response"].astype("string").str.strip()
            answered = [str(cell) for cell in cells.reindex(people).dropna() if cell]
            unusable = {cell: fault for cell in answered if (fault := _find_fault(cell, measure))}
            if unusable:
                named, expected = _name_few([repr(cell) for cell in sorted(unusable)]), next(iter(unusable.values()))
                notes.append(f"participant measure {name}: answers that count as not known: {named}; {expected}")
                cells = cells.mask(cells.isin(list(unusable)))
        else:
            known = sorted(demographics["question"].unique()) if demographics is not None else []
            there = f"there are {', '.join(map(str, known))}" if known else "nobody was asked anything"
            raise DataError(f"analysis.participant_measures.{name}: nobody answered {question!r} in table demographics; {there}")
        columns[name] = _type_cells(cells.reindex(people), measure)
    return pd.DataFrame(columns, index=people), notes


def _take_cells(
    name: str, measure: ParticipantMeasureSection, people: "pd.Index", sessions: "pd.DataFrame", table: "pd.DataFrame | None"
) -> "pd.Series[str]":
    """Return what a file says of a measure, by participant."""
    if table is None or name not in table:
        raise DataError(
            f"analysis.participant_measures.{name}: the file {measure.file} was not given; expected the table {MEASURES_TABLE}"
        )
    cells: pd.Series[str] = table.set_index(table["participant"].astype("string"))[name]
    known = set(sessions["participant"])
    faults = []
    if unknown := sorted(set(cells.index) - known):
        faults.append(
            f"{measure.file}: no session is of participant {_name_few(unknown)}; expected participants of table sessions, such as "
            f"{min(known, default='none')}"
        )
    if missing := sorted(set(people) - set(cells.index)):
        faults.append(
            f"{measure.file}: no row is of participant {_name_few(missing)}; expected one, with {name} empty where it is not known"
        )
    if faults:
        raise DataError(faults)
    return cells


def _name_few(names: Sequence[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _type_cells(cells: "pd.Series", measure: ParticipantMeasureSection) -> "pd.Series":
    import pandas as pd

    if measure.levels:
        return pd.Series(pd.Categorical(cells.astype(object), categories=[*measure.levels]), index=cells.index)
    return pd.to_numeric(cells, errors="coerce").astype("float64")


def draw_measure(name: str, measure: ParticipantMeasureSection, random: Random) -> str | float:
    """Return the level or the number of a simulated participant.

    A number is from a normal distribution with the stated mean and s.d., cut off at `min` and `max`, else from a uniform one; a
    level is any of them, equally often. Raises `DataError` where nothing is stated.

    >>> draw_measure("group", ParticipantMeasureSection(levels=("L1", "L2")), Random(1))
    'L1'
    """
    if measure.levels:
        return random.choice(measure.levels)
    require_distribution(name, measure)
    return compute_quantile(measure, random.random())


def compute_quantile(measure: ParticipantMeasureSection, share: float) -> float:
    """Return the number that a share of simulated participants stay below.

    >>> compute_quantile(ParticipantMeasureSection(mean=75, sd=10), 0.5)
    75.0
    """
    low, high = (-math.inf if measure.min is None else measure.min), (math.inf if measure.max is None else measure.max)
    if measure.mean is None or measure.sd is None:
        return low + share * (high - low)
    normal = NormalDist(measure.mean, measure.sd)
    below = normal.cdf(low) + share * (normal.cdf(high) - normal.cdf(low))
    return normal.inv_cdf(min(max(below, 1e-12), 1 - 1e-12))


def require_distribution(name: str, measure: ParticipantMeasureSection) -> None:
    """Raise `DataError` for a number of which no distribution is stated."""
    if not measure.is_described:
        raise DataError(
            f"analysis.participant_measures.{name}: simulated participants need a distribution; expected mean and sd, or min, max"
        )


def code_measure(measure: ParticipantMeasureSection, value: str | float) -> float:
    """Return what an effect of a measure is multiplied by: a number less the centre, of two levels -1/2 and +1/2.

    >>> code_measure(ParticipantMeasureSection(mean=75, sd=10), 85.0)
    10.0
    >>> code_measure(ParticipantMeasureSection(levels=("a", "b")), "b")
    0.5
    """
    if measure.levels:
        return measure.levels.index(str(value)) - 0.5
    return float(value) - (measure.centre or 0.0)


def choose_placeholder(measure: ParticipantMeasureSection, n: int, salt: int) -> str:
    """Return a placeholder of a number for the n-th participant: all differ, those of measures of another `salt` in another way.

    >>> [choose_placeholder(ParticipantMeasureSection(min=0, max=10), n, 0) for n in range(3)]
    ['4.14214', '8.28427', '2.42641']
    """
    spread = 1.0 if measure.sd is None else measure.sd
    low = (measure.centre or 0.0) - spread if measure.min is None else measure.min
    high = low + 2 * spread if measure.max is None else measure.max
    # The root of a number that is 2 more than a multiple of 3 is irrational.
    return f"{low + (high - low) * math.modf((n + 1) * math.sqrt(2 + salt * 3))[0]:.6g}"
