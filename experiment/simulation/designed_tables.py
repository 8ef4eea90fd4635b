"""The tables that a study leaves if everybody does what its lists ask for: trials without answers that say anything."""

import itertools
from collections.abc import Mapping, Sequence

import pandas as pd

from gardenpath import study
from gardenpath.study.config import ParticipantMeasureSection
from gardenpath.study.participant_measures import choose_placeholder

from ..scripts.list_files import ListFile
from ..sessions.event_tables import build_table_parts, concatenate_parts
from ..tasks import load_tasks
from .robots import Effects, simulate_sessions

PLACEHOLDER_MS = (280.0, 290.0, 300.0, 310.0, 320.0)
COPY_MARK = "-copy-"
# Nobody errs, so that no trial ends before its last word.
FAULTLESS = Effects(comprehension=1.0, attention=1.0, slips=0.0)


def build_designed_tables(config: study.Study, list_files: Sequence[ListFile]) -> dict[str, pd.DataFrame]:
    """Return the tables of `collect` of one complete session of each list, of short lists of each of them.

    Who sees which item in which condition, its regions and its prompts are those of the design. Answers are placeholders: they
    run through all that can be answered, and reading times through a few; so do measures of participants, whose levels all meet
    each list.

    >>> from importlib.resources import files
    >>> from gardenpath import experiment
    >>> config = study.load(files("gardenpath.examples") / "minimal-pairs")
    >>> tables = build_designed_tables(config, experiment.build_list_files(config))
    >>> sorted(tables["readings"]["rt"].unique().tolist()), tables["sessions"]["complete"].all().item()
    ([280.0, 290.0, 300.0, 310.0, 320.0], True)
    """
    sessions = sum(len(file.trial_list.short_lists) or 1 for file in list_files)
    recorded = simulate_sessions(list_files, participants=sessions, seed=1, effects=FAULTLESS)  # one at a time in memory
    tables = concatenate_parts(build_table_parts(recorded, {file.sha256: file for file in list_files}))
    tables |= {"readings": _fill_times(tables["readings"]), "responses": _fill_responses(tables["responses"], config)}
    measures = config.analysis.participant_measures
    return _fill_measures(tables, measures) if measures else tables


def _fill_measures(tables: dict[str, pd.DataFrame], measures: Mapping[str, ParticipantMeasureSection]) -> dict[str, pd.DataFrame]:
    """Return tables with measures of participants as demographics: numbers that differ, and every combination of levels with each
    list, for which all trials are there several times.
    """
    combinations = list(itertools.product(*(measure.levels for measure in measures.values() if measure.levels)))
    copies = {
        name: pd.concat([_number_copy(tables[name], n) for n in range(len(combinations))], ignore_index=True)
        for name in ("readings", "responses", "sessions")
    }
    people = copies["sessions"][["participant", "session"]].drop_duplicates("session")
    position = {person: n for n, person in enumerate(people["participant"].unique())}
    text_measures = [name for name, measure in measures.items() if measure.levels]
    rows = []
    for salt, (name, measure) in enumerate(measures.items()):
        for person, session in people.itertuples(index=False):
            levels = combinations[int(person.rpartition(COPY_MARK)[2])]
            value = levels[text_measures.index(name)] if measure.levels else choose_placeholder(measure, position[person], salt)
            rows.append((person, session, measure.question or name, value))
    demographics = pd.DataFrame(rows, columns=study.TABLES["demographics"].column_names)
    return tables | copies | {"demographics": study.check(demographics, "demographics")}


def _number_copy(table: pd.DataFrame, number: int) -> pd.DataFrame:
    """Return a table of other participants who do the same."""
    return table.assign(**{name: table[name] + f"{COPY_MARK}{number}" for name in ("participant", "session")})


def _fill_times(readings: pd.DataFrame) -> pd.DataFrame:
    """Return readings whose times run through a few values, in another order for each participant and trial."""
    turn = 3 * pd.factorize(readings["participant"])[0] + 2 * readings["trial"].astype("int64") + readings["word"].astype("int64")
    return readings.assign(rt=[PLACEHOLDER_MS[n % len(PLACEHOLDER_MS)] for n in turn])


def _fill_responses(responses: pd.DataFrame, config: study.Study) -> pd.DataFrame:
    """Return responses that run through the answers to each prompt, in another order for each participant."""
    settings = load_tasks(config).settings
    person = pd.factorize(responses["participant"])[0]
    turn = person + responses.groupby(["session", "prompt"]).cumcount()
    filled = responses.copy()
    for prompt, rows in responses.groupby("prompt"):
        number = turn[rows.index]
        task = rows["task"].iloc[0]
        if task == "rating":
            points = settings[str(prompt)].rating_range
            filled.loc[rows.index, "response"] = [str(points[n % len(points)]) for n in number]
        elif task == "choice":
            members = rows["condition"].str.split("+")
            filled.loc[rows.index, "response"] = [pair[n % len(pair)] for pair, n in zip(members, number, strict=True)]
        elif rows["correct"].notna().any():
            filled.loc[rows.index, "correct"] = [bool(n % 2) for n in number]
    return filled
