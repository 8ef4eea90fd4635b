"""Whatever happens to one row or cell of a platform's file changes the tables in that row alone, or something is said.

A hundred mutations of a small file of each platform; two thousand with --full (`make test-all`).
"""

import csv
import io
import json
import logging
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gardenpath import study
from gardenpath.experiment.platforms import imported_tables, platform_collection
from gardenpath.study.mapping import ColumnMapping, ResponseRule, SurveyRule

SENTENCES = {"1": "She slept.", "2": "He often sneezed.", "3": "They had left early."}
CONDITIONS = {"1": "a", "2": "b", "3": "a"}
PEOPLE = ("anna", "ben", "cleo")
POOL = ("", "x", "NA", "0", "-5", "2", "3", "anna", "02-Jan", "1e9", "0.25", "null", "300,5", "[1, 2]", "a.b", "1;2")
Cells = list[str]
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Form:
    """A platform's file: its lines, and where the cells of a line stand in the tables: person, item and, where it has one, word."""

    lines: list[Cells]
    places: Callable[[Mapping[str, str]], Place]
    mapping: ColumnMapping = field(default_factory=ColumnMapping)
    first: int = 1  # lines before the rows
    quoted: bool = True
    package: Callable[[str], bytes] = str.encode

    def row(self, cells: Cells) -> dict[str, str]:
        return dict(zip(self.lines[0], cells, strict=False))


def trials() -> Iterator[tuple[str, int, str, str, list[str]]]:
    """Yield person, number, item, condition and words of each trial."""
    for who in PEOPLE:
        for n, (item, text) in enumerate(SENTENCES.items()):
            yield who, n, item, CONDITIONS[item], text.split()


def time(who: str, item: str, word: int = 9) -> str:
    """Return a time that nobody else has."""
    return str(301 + 100 * PEOPLE.index(who) + 10 * int(item) + word)


def times(who: str, item: str, words: Sequence[str]) -> list[str]:
    return [time(who, item, k) for k in range(len(words))]


def table() -> Form:
    rows = [
        [who, item, condition, str(k + 1), text, time(who, item, k), time(who, item)]
        for who, _, item, condition, words in trials()
        for k, text in enumerate(words)
    ]
    columns = {"participant": "subj", "item": "item", "condition": "cond", "word": "pos", "text": "w", "rt": "rt"}
    return Form(
        [["subj", "item", "cond", "pos", "w", "rt", "rating"], *rows],
        lambda row: (row.get("subj", ""), row.get("item", ""), *number(row.get("pos", ""))),
        ColumnMapping(columns, responses=(ResponseRule({"response": "rating"}),)),
    )


def number(cell: str) -> Place:
    """Return the word of a position that is one."""
    return (int(cell) - 1,) if cell.isdigit() else ()


def psychopy() -> Form:
    head = ["item", "condition", "sent", "spr.rt", "rate.keys", "rate.rt", "participant", "session", "date", "expName", "n"]
    rows = [
        [
            item,
            condition,
            " ".join(words),
            str([0.5, *(0.9 + k for k in range(len(words)))]),
            "5",
            "0.8",
            who,
            "1",
            "d",
            "e",
            str(n),
        ]
        for who, n, item, condition, words in trials()
    ]
    rated = ResponseRule({"response": "rate.keys", "rt": "rate.rt"})
    return Form([head, *rows], by("participant"), ColumnMapping({"text": "sent", "rt": "spr.rt"}, responses=(rated,)))


def by(person: str, item: str = "item") -> Callable[[Mapping[str, str]], Place]:
    return lambda row: (row.get(person, ""), row.get(item, ""))


def jspsych() -> Form:
    head = [
        "trial_type",
        "trial_index",
        "time_elapsed",
        "item",
        "condition",
        "sentence",
        "word",
        "rt",
        "response",
        "task",
        "subject",
    ]
    rows = []
    for who, n, item, condition, words in trials():
        taken = json.dumps([100, *map(int, times(who, item, words))])
        labels = json.dumps([None, *words])
        told = [item, condition, " ".join(words)]
        rows.append(["self-paced-reading", str(2 * n), str(2000 * n + 1), *told, labels, taken, "", "", who])
        rows.append(
            ["html-slider-response", str(2 * n + 1), str(2000 * n + 9), *told[:2], "", "", time(who, item), "5", "rating", who]
        )
    return Form([head, *rows], by("subject"))


def jatos() -> Form:
    """The first of three study results is the file that is changed."""
    form = jspsych()
    per = len(form.lines[1:]) // len(PEOPLE)
    others = [written([form.lines[0], *form.lines[1 + n * per : 1 + (n + 1) * per]], quoted=True) for n in (1, 2)]

    def package(text: str) -> bytes:
        with zipfile.ZipFile(made := io.BytesIO(), "w") as archive:
            for n, of in enumerate([text, *others], start=1):
                archive.writestr(f"study_result_{n}/comp_result_{n}/data.txt", of)
        return made.getvalue()

    return Form(form.lines[: per + 1], form.places, package=package)


def pcibex() -> Form:
    """Each trial has its words under comments of their own, and its question under others."""
    shared = ["Results reception time", "MD5 hash of participant's IP address", "Controller name", "Order number of item"]
    shared += ["Inner element number", "Label", "Latin Square Group", "participant"]
    asked = ["Question (NULL if none)", "Answer", "Whether or not answer was correct (NULL if N/A)", "Time taken to answer"]
    lines: list[Cells] = []
    for who, n, item, condition, words in trials():
        at = str(1_600_000_000 + PEOPLE.index(who))
        for controller, names in (("DashedSentence", ["Word number", "Word", "Reading time"]), ("AcceptabilityJudgment", asked)):
            lines += [[f"# {k}. {name}."] for k, name in enumerate([*shared, *names], start=1)]
            told = [at, "x", controller, str(n), "0", condition, item, who]
            if controller == "DashedSentence":
                lines += [[*told, str(k + 1), text, time(who, item, k)] for k, text in enumerate(words)]
            else:
                lines += [[*told, "How?", "5", "NULL", time(who, item)]]

    def places(row: Mapping[str, str]) -> Place:
        cells = list(row.values())
        word = number(cells[8]) if len(cells) == 11 else ("answer",)
        return (cells[7], cells[6], *word) if len(cells) > 7 else ("nobody",)

    return Form(
        [[str(n) for n in range(12)], *lines], places, first=1, quoted=False, package=lambda text: text.partition("\n")[2].encode()
    )


def gorilla() -> Form:
    head = [
        "Event Index",
        "UTC Timestamp",
        "Experiment ID",
        "Participant Public ID",
        "Participant Private ID",
        "Participant Status",
    ]
    head += ["Spreadsheet Row", "Trial Number", "Screen Name", "Zone Type", "Reaction Time", "Response", "item", "cond", "word"]
    rows: list[Cells] = []
    for who, n, item, condition, words in trials():
        told = ["1614589200000", "31", who, f"47{PEOPLE.index(who)}", "complete", str(n + 2), str(n + 2)]
        for k, text in enumerate(words):
            rows.append([*told, "word", "continue_keyboard", time(who, item, k), "", item, condition, text])
        rows.append([*told, "rate", "response_rating", time(who, item), "5", item, condition, ""])
    mapping = ColumnMapping(
        {"item": "item", "condition": "cond", "text": "word", "rt": "Reaction Time"},
        responses=(ResponseRule({"response": "Response", "rt": "Reaction Time"}, where={"Screen Name": "rate"}),),
    )
    lines = [head, *([str(n), *row] for n, row in enumerate(rows))]
    return Form([*lines, ["END OF FILE"]], by("Participant Public ID"), mapping)


def magpie() -> Form:
    head = [
        "submission_id",
        "experiment_start_time",
        "prolific_pid",
        "item",
        "condition",
        "chunks",
        "response_times",
        "rating",
        "response_time",
    ]
    rows = [
        [
            str(PEOPLE.index(who)),
            "1760000000000",
            who,
            item,
            condition,
            "|".join(words),
            "|".join(times(who, item, words)),
            "5",
            "900",
        ]
        for who, _, item, condition, words in trials()
    ]
    return Form([head, *rows], by("prolific_pid"))


def qualtrics() -> Form:
    """A row is a person."""
    head = [
        "StartDate",
        "EndDate",
        "Status",
        "Finished",
        "ResponseId",
        "PROLIFIC_PID",
        *(f"Q2.{item}_{CONDITIONS[item]}" for item in SENTENCES),
    ]
    rows = [["2026-01-15", "2026-01-15", "IP Address", "1", f"R_{who}", who, *"567"] for who in PEOPLE]
    survey = SurveyRule(columns=r"Q2\.(?P<item>\d)_(?P<condition>\w)")

    def places(row: Mapping[str, str]) -> Place:
        """The first line says what every row's cells are of."""
        return () if "Status" in row.values() else (row.get("PROLIFIC_PID", ""),)

    return Form([head, *rows], places, ColumnMapping(survey=survey))


FORMS = {form.__name__: form for form in (table, psychopy, jspsych, jatos, pcibex, gorilla, magpie, qualtrics)}


def written(lines: Sequence[Cells], *, quoted: bool) -> str:
    if not quoted:
        return "".join(",".join(cells) + "\n" for cells in lines)
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(lines)
    return made.getvalue()


# What happens, to which line, with which other line, in which column, with what put there.
mutations = st.tuples(
    st.sampled_from(["delete", "swap", "double", "merge", "retype", "swap cells", "exchange", "merge cells", "delete cell"]),
    *(st.integers(0, 999),) * 3,
    st.sampled_from(POOL),
)


def mutated(lines: list[Cells], mutation: tuple[str, int, int, int, str]) -> tuple[list[Cells], list[Cells]]:
    """Return the lines after a mutation, and those that it touched, as they were and as they are."""
    what, i, j, c, value = mutation
    lines = [list(cells) for cells in lines]
    i, j = i % len(lines), j % len(lines)
    one, other = lines[i], lines[j]
    touched = [list(one)]
    c, d = c % len(one), j % len(one)
    if what == "delete":
        del lines[i]
    elif what == "swap":
        lines[i], lines[j] = other, one
        touched.append(other)
    elif what == "double":
        lines.insert(i, list(one))
    elif what == "merge":
        lines[i] = [*one[:-1], one[-1] + "".join(lines[i + 1][:1]), *lines[i + 1][1:]] if i + 1 < len(lines) else one
        touched += lines[i : i + 2]
        del lines[i + 1 : i + 2]
    elif what == "retype":
        one[c] = one[c].upper() + " " if value == "a.b" else value
    elif what == "swap cells":
        one[c], one[d] = one[d], one[c]
    elif what == "exchange" and c < len(other):
        touched.append(list(other))
        one[c], other[c] = other[c], one[c]
        touched.append(other)
    elif what == "merge cells":
        one[c : c + 2] = ["".join(one[c : c + 2])]
    elif what == "delete cell":
        del one[c]
    return lines, [*touched, one]


class Said(logging.Handler):
    """What is said on the log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.messages: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.add(record.getMessage())


@dataclass(frozen=True)
class Outcome:
    """The rows of readings and responses by person, item and word, and what was said."""

    rows: dict[Place, list[tuple[Any, ...]]]
    said: set[str]


def collected(form: Form, lines: list[Cells], platform: str, folder: Path) -> Outcome | None:
    """Return what becomes of a file; None where it is refused."""
    path = folder / ("data.zip" if platform == "jatos" else "data.csv")
    path.write_bytes(form.package(written(lines, quoted=form.quoted)))
    log, said = logging.getLogger("gardenpath"), Said()
    level = log.level
    log.addHandler(said)
    log.setLevel(logging.INFO)
    try:
        tables: Any = platform_collection.collect_platform_data(path, platform, mapping=form.mapping, pseudonymise=str)
    except study.DataError:
        return None
    finally:
        log.removeHandler(said)
        log.setLevel(level)
    rows: dict[Place, list[tuple[Any, ...]]] = {}
    for name in ("readings", "responses"):
        for row in tables[name]:
            # What a session is called may follow any of its rows.
            cells = tuple(cell for column, cell in row.items() if column != "session")
            rows.setdefault((row["participant"], row["item"], row.get("word", "answer")), []).append(cells)
    return Outcome(rows, said.messages)


def bare(name: str, groups: list[Any], conditions: object = None) -> list[dict[str, Any]]:
    """Return rows as they are, which are most of the time a table takes; two that share a key are refused as ever."""
    rows: list[dict[str, Any]] = [{**shared, **row} for shared, of in groups for row in of]
    keys = {tuple(row[column] for column in study.TABLES[name].key) for row in rows}
    if len(keys) < len(rows):
        raise study.DataError(f"table {name}: rows share a key")
    return rows


@pytest.mark.parametrize("platform", FORMS)
def test_a_change_to_one_row_or_cell_changes_that_row_alone_or_something_is_said(
    platform: str, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported_tables, "build_frame", bare)
    form = FORMS[platform]()
    base = collected(form, form.lines, platform, tmp_path)
    assert base is not None
    assert len(base.rows) > 8

    @settings(max_examples=2000 if full else 100, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(mutations)
    def holds(mutation: tuple[str, int, int, int, str]) -> None:
        lines, touched = mutated(form.lines, mutation)
        outcome = collected(form, lines, platform, tmp_path)
        if outcome is None or outcome.said - base.said:
            return
        if mutation[0] in ("swap cells", "exchange") and form.lines[0] in touched:
            return  # columns that have each other's names are what they say they are
        places = [form.places(form.row(cells)) for cells in touched]
        for place in base.rows.keys() | outcome.rows.keys():
            if not any(place[: len(there)] == there for there in places):
                assert outcome.rows.get(place) == base.rows.get(place), (mutation, place)

    holds()
