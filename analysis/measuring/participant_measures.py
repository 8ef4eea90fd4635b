"""Measures of participants beside their trials: which trials have them, and which models do without whom."""

import logging
from collections.abc import Iterable, Mapping

import pandas as pd

from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.participant_measures import MEASURES_TABLE, tabulate_participant_measures
from gardenpath.study.responses import RATINGS_TABLE, RESPONSES, TIMES_TABLE
from gardenpath.study.table_files import list_factors

from ..engines.formulas import parse_formula
from ..exclusion_log import ExclusionLog

log = logging.getLogger("gardenpath")


def add_participant_measures(
    trials: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, exclusion_log: ExclusionLog
) -> dict[str, pd.DataFrame]:
    """Return tables of trials, by name, with a column for each measure of participants that the settings state.

    Numbers are float64; texts are categories, in the order of their levels. `tables` has what is known of participants: sessions,
    demographics, and the table participant_measures of files. For each declared model `exclusion_log` counts the trials that it
    does without, since a measure in its formula is not known of their participant.

    A factor of the name of a measure, and what `tabulate_participant_measures` refuses, is a `DataError`.
    """
    if not settings.participant_measures:
        return dict(trials)
    for frame in trials.values():
        if taken := [name for name in settings.participant_measures if name in frame]:
            raise DataError(
                f"analysis.participant_measures.{taken[0]}: a factor of the study has this name; give the measure another one"
            )
    values, notes = tabulate_participant_measures(
        settings.participant_measures,
        {str(person) for frame in trials.values() for person in frame["participant"].unique()},
        sessions=tables["sessions"],
        demographics=tables.get("demographics"),
        table=tables.get(MEASURES_TABLE),
    )
    for note in notes:
        log.warning("%s", note)
    # By the positions of participants, so that categories stay ordered as they are.
    measured = {
        table: frame.assign(
            **{str(name): values[name].array.take(values.index.get_indexer(pd.Index(frame["participant"]))) for name in values}
        )
        for table, frame in trials.items()
    }
    _count_unknown(measured, settings, exclusion_log)
    return measured


def _count_unknown(trials: Mapping[str, pd.DataFrame], settings: AnalysisSection, exclusion_log: ExclusionLog) -> None:
    """Count the trials that each declared model does without."""
    for model in settings.models:
        formula = parse_formula(model.formula)
        named = [name for name in settings.participant_measures if name in formula.column_names]
        response = RESPONSES.get(formula.response)
        if response is None or not named:
            continue
        rows = trials[response.table]
        if response.table == TIMES_TABLE:
            rows, place = rows[rows["region"] == model.region], f"{TIMES_TABLE}: {model.region}"
        elif response.table == RATINGS_TABLE:
            rows, place = rows[(rows["role"] == "target") & rows["z"].notna()], RATINGS_TABLE
        else:
            rows, place = rows[rows["measure"] == formula.response], f"{response.table}: {formula.response}"
        rows = rows[rows["paradigm"].isin(model.paradigms)] if model.paradigms else rows
        rule = f"{' or '.join(named)} of the participant is not known, in model {model.name!r}"
        exclusion_log.apply_rule(rule, **{place: (rows, rows[named].notna().all(axis="columns"))})


def select_known_measures(rows: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return the trials of participants of whom the measures among these names are known.

    Measures are the columns that tables of trials do not declare, of numbers or categories: factors are texts.

    >>> rows = pd.DataFrame({"participant": ["P1", "P2"], "lextale": [80.0, None]})
    >>> select_known_measures(rows, ["lextale"])["participant"].tolist()
    ['P1']
    """
    named = {*names}
    measures = [
        name
        for name in list_factors(rows, RATINGS_TABLE)
        if name in named and (pd.api.types.is_numeric_dtype(rows[name]) or isinstance(rows[name].dtype, pd.CategoricalDtype))
    ]
    if not measures:
        return rows
    is_known = rows[measures].notna().all(axis="columns")
    return rows if bool(is_known.all()) else rows[is_known]


def find_participant_factors(rows: pd.DataFrame, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the measures of participants among these names that are texts, each with its levels in order.

    >>> rows = pd.DataFrame({"group": pd.Categorical(["L2"], categories=["L1", "L2"]), "noun": ["name"]})
    >>> find_participant_factors(rows, ["noun", "group"])
    {'group': ['L1', 'L2']}
    """
    found = {name: rows[name].dtype for name in names if name in rows}
    return {name: [str(one) for one in dtype.categories] for name, dtype in found.items() if isinstance(dtype, pd.CategoricalDtype)}
