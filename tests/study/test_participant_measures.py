"""Measures of participants: what study.toml states of them, what files and answers say, and what is refused."""

from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

import pandas as pd
import pytest

from gardenpath.study import DataError, load
from gardenpath.study.config import ParticipantMeasureSection
from gardenpath.study.participant_measures import (
    choose_placeholder,
    code_measure,
    draw_measure,
    read_measure_files,
    tabulate_participant_measures,
)

STUDY = """name = "s"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
lists = 2
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 80
[[procedure.demographics]]
name = "hand"
label = "Which hand?"
kind = "choice"
choices = ["left", "right", "either"]
[[procedure.screener]]
name = "native"
question = "Is it your first language?"
choices = ["yes", "no", "both"]
accepted = ["yes", "no"]
[analysis.participant_measures]
"""
LEXTALE = ParticipantMeasureSection(file="tests.csv", mean=75, sd=10, max=100)
SESSIONS = pd.DataFrame({"participant": ["P1", "P2", "P3"]})


def measures(tmp_path: Path, stated: str) -> dict[str, ParticipantMeasureSection]:
    (tmp_path / "study.toml").write_text(STUDY + stated)
    return load(tmp_path).analysis.participant_measures


def answers(*rows: tuple[str, str, str]) -> pd.DataFrame:
    columns = ["participant", "question", "response"]
    return pd.DataFrame(rows, columns=columns).assign(session=lambda table: "S" + table["participant"])


def test_a_question_says_what_its_measure_is(tmp_path: Path) -> None:
    found = measures(tmp_path, 'age = {}\nhandedness = { question = "hand" }\nnative = {}\nspan = { file = "span.csv" }\n')
    assert (found["age"].min, found["age"].max, found["age"].levels) == (18, 80, ())
    assert found["handedness"].levels == ("left", "right", "either")
    assert found["native"].levels == ("yes", "no")
    assert (found["span"].levels, found["span"].centre) == ((), None)
    assert measures(tmp_path, 'hand = { levels = ["right", "left"] }')["hand"].levels == ("right", "left")
    assert measures(tmp_path, 'sex = { question = "Sex", levels = ["Female", "Male"] }')["sex"].question == "Sex"


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        ("agee = {}", "no question of procedure.demographics is named 'agee'; expected one of native, age, hand, a file, or"),
        ('hand = { levels = ["right", "lefft"] }', "analysis.participant_measures.hand: levels has 'lefft'; expected some of left"),
        ("hand = { mean = 1, sd = 2 }", "mean, sd, min and max are of a number; expected none, as hand is a choice"),
        ('age = { file = "ages.csv" }', "has a file, and a question is named 'age'; expected the one or the other"),
        ('age = { levels = ["young"] }', "levels is ['young']; expected two or more different ones"),
        ("age = { mean = 30 }", "mean is 30.0 and sd None; expected both, or neither"),
        ("age = { mean = 30, sd = 0 }", "sd is 0.0; expected more than 0"),
        ("age = { mean = 90, sd = 5 }", "min is 18, mean 90 and max 80; expected them in this order"),
        ('x = { file = "x.csv", levels = ["a", "b"], max = 3 }', "levels is stated beside max; expected levels of a text"),
        ('x = { file = "x.csv", question = "age" }', "file and question are both stated; expected the one or the other"),
        ('log_trial = { file = "x.csv" }', "participant measure 'log_trial' has the name of a column of the tables of results"),
        ('"a b" = { file = "x.csv" }', "participant measure 'a b' cannot be named in a formula"),
    ],
)
def test_what_cannot_hold_is_refused_in_a_line(tmp_path: Path, stated: str, fault: str) -> None:
    with pytest.raises(DataError) as refused:
        measures(tmp_path, stated)
    assert fault in str(refused.value)
    assert len(refused.value.faults) == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("person,lextale\nP1,80\n", "column 'participant' is missing; expected participant, lextale; there are person, lextale"),
        ("participant,LexTALE\nP1,80\n", "column 'lextale' is missing"),
        ("participant,lextale\nP1,80\nP2,70\nP1,81\n", "participant 'P1' is there 2 times; expected one row"),
        ("participant,lextale\nP1,high\n", "line 2: lextale is 'high'; expected a number"),
        ("participant,lextale\nP1,80\nP2,101\n", "line 3: lextale is '101'; expected a number to 100"),
        ("participant,lextale\n,80\n", "line 2: participant is empty; expected who it is"),
    ],
)
def test_a_file_that_does_not_hold_is_refused_in_a_line(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "tests.csv").write_text(text)
    with pytest.raises(DataError) as refused:
        read_measure_files({"lextale": LEXTALE}, tmp_path)
    assert fault in str(refused.value)
    assert len(refused.value.faults) == 1


def test_a_file_that_is_missing_is_named_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"tests\.csv: .*columns participant, lextale, as analysis.+lextale\.file states"):
        read_measure_files({"lextale": LEXTALE}, tmp_path)


def test_files_of_spreadsheets_are_read(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text("\ufeffparticipant;span;group;lextale\r\nP1;4;L2 ; 82.5\r\n;;;\r\nP2;;L1;\r\n", "utf-8")
    group = ParticipantMeasureSection(file="tests.csv", levels=("L1", "L2"))
    table = read_measure_files({"lextale": LEXTALE, "group": group}, tmp_path)
    assert table is not None
    assert table.to_numpy().tolist() == [["P1", "82.5", "L2"], ["P2", "", "L1"]]
    found, notes = tabulate_participant_measures({"lextale": LEXTALE, "group": group}, ["P1", "P2"], sessions=SESSIONS, table=table)
    assert found["lextale"].isna().tolist() == [False, True]
    assert found["group"].cat.categories.tolist() == ["L1", "L2"]
    assert found["group"].tolist() == ["L2", "L1"]
    assert not notes


@pytest.mark.parametrize(
    ("people", "fault"),
    [
        (["P1", "P2", "P9"], "tests.csv: no session is of participant P9; expected participants of table sessions, such as P1"),
        (["P1"], "tests.csv: no row is of participant P2; expected one, with lextale empty where it is not known"),
    ],
)
def test_people_of_the_file_are_those_of_the_sessions(people: list[str], fault: str) -> None:
    table = pd.DataFrame({"participant": people, "lextale": 80.0})
    with pytest.raises(DataError) as refused:
        tabulate_participant_measures({"lextale": LEXTALE}, ["P1", "P2"], sessions=SESSIONS, table=table)
    assert refused.value.faults == (fault,) or list(refused.value.faults) == [fault]


def test_answers_that_are_no_value_are_named_and_count_as_not_known() -> None:
    stated = {"years": ParticipantMeasureSection(mean=9, sd=3), "hand": ParticipantMeasureSection(levels=("left", "right"))}
    given = answers(("P1", "years", "7"), ("P2", "years", "7 years"), ("P1", "hand", "either"), ("P3", "hand", "right"))
    found, notes = tabulate_participant_measures(stated, ["P1", "P2", "P3"], sessions=SESSIONS, demographics=given)
    assert found["years"].fillna(-1).tolist() == [7, -1, -1]
    assert found["hand"].astype(object).where(found["hand"].notna(), "").tolist() == ["", "", "right"]
    assert notes == [
        "participant measure years: answers that count as not known: '7 years'; expected a number",
        "participant measure hand: answers that count as not known: 'either'; expected one of left, right",
    ]
    with pytest.raises(
        DataError, match=r"participant_measures\.age: nobody answered 'age' in table demographics; there are hand, years"
    ):
        tabulate_participant_measures({"age": ParticipantMeasureSection()}, ["P1"], sessions=SESSIONS, demographics=given)


def test_numbers_are_drawn_from_the_stated_distribution() -> None:
    """A normal distribution cut off at its mean has the mean and the s.d. of the half-normal one, by their closed form."""
    random = Random(3)
    drawn = [float(draw_measure("lextale", LEXTALE, random)) for _ in range(20_000)]
    assert max(drawn) <= 100
    cut = ParticipantMeasureSection(mean=0, sd=1, min=0)  # half-normal: sqrt(2/pi), sqrt(1 - 2/pi)
    half = [float(draw_measure("x", cut, random)) for _ in range(20_000)]
    assert mean(half) == pytest.approx(0.797885, abs=0.015)
    assert stdev(half) == pytest.approx(0.602810, abs=0.015)
    flat = [float(draw_measure("x", ParticipantMeasureSection(min=2, max=6), random)) for _ in range(20_000)]
    assert (mean(flat), stdev(flat)) == (pytest.approx(4, abs=0.03), pytest.approx(4 / 12**0.5, abs=0.02))
    with pytest.raises(DataError, match="simulated participants need a distribution; expected mean and sd"):
        draw_measure("span", ParticipantMeasureSection(file="span.csv"), random)


def test_effects_count_from_the_middle_of_the_distribution() -> None:
    assert code_measure(LEXTALE, 70.0) == -5
    assert code_measure(ParticipantMeasureSection(min=18, max=80), 50.0) == 1
    assert code_measure(ParticipantMeasureSection(levels=("a", "b")), "a") == -0.5


@pytest.mark.parametrize("stated", [{}, {"min": 18, "max": 80}, {"mean": 75, "sd": 10, "max": 100}])
def test_placeholders_differ_and_keep_the_limits(stated: dict[str, Any]) -> None:
    measure = ParticipantMeasureSection(**stated)
    numbers = [[float(choose_placeholder(measure, n, salt)) for n in range(24)] for salt in range(3)]
    assert all(len({*row}) == 24 for row in numbers)
    assert max(map(max, numbers)) <= (measure.max or 1e9)
    assert min(map(min, numbers)) >= (measure.min or -1e9)
    assert abs(pd.DataFrame(numbers).T.corr().to_numpy()[0, 1]) < 0.9
