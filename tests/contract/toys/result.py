"""A table of results and a section of the report of one file, as a reader of CONTRIBUTING.md writes them."""

import pandas as pd

from gardenpath.analysis.reporting.exhibits import Page, Section
from gardenpath.study.schemas.table_schema import ANALYSE, Table, parse_columns

TABLE = Table(
    "slowest_words",
    "a participant with the longest reading time",
    parse_columns("participant   string   who\nrt   float   longest reading time, ms\n"),
    ("participant",),
    ANALYSE,
)


def slowest_words(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the longest reading time of each participant, ms."""
    return readings.groupby("participant", as_index=False).agg(rt=("rt", "max"))


def section(page: Page) -> Section:
    """Return the section of the report."""
    table = page.get(TABLE.name)
    said = [f"The longest reading time was {table['rt'].max():.0f} ms."] if len(table) else []
    exhibits = page.table(TABLE.name, "Longest reading times.", table)
    return Section("Slowest words", sentences=said, exhibits=exhibits)
