"""gardenpath design of an everyday study: a 2 x 2 with fillers and questions."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gardenpath import study
from gardenpath.cli.main import cli

CONDITIONS = [f"{head}.{attractor}" for head in ("sg", "pl") for attractor in ("sg", "pl")]
STUDY = """\
name = "attraction"
language = "de"
seed = 7
[materials]
files = ["items.csv"]
[design]
ratio = { "sg.sg" = 1, "sg.pl" = 1, "pl.sg" = 1, "pl.pl" = 1 }
lists = 4
fillers = ["filler"]
task_shares = { comprehension = 0.5 }
[procedure.target]
show = "moving_window"
ask = ["comprehension"]
[procedure.tasks.comprehension]
kind = "question"
"""


def sets(answers: dict[str, str]) -> str:
    """Return eight sets in four conditions with a question each, and as many fillers."""
    lines = ["paradigm,phenomenon,item,condition,sentence,language,question,answer,factors"]
    for n in range(8):
        for condition in CONDITIONS:
            sentence = f"Der Schlüssel zu Schrank {n} in {condition.replace('.', ' und ')} [ist] alt."
            answer = answers.get(condition, ("yes", "no")[n % 2])
            factors = "head: sg, pl | attractor: sg, pl" if (n, condition) == (0, "sg.sg") else ""
            lines.append(f'attraction,agreement,s{n},{condition},{sentence},de,Ist er alt?,{answer},"{factors}"')
        factors = "kind: plain" if n == 0 else ""
        lines.append(f"filler,filler,f{n},plain,Der Hund {n} [bellt] laut.,de,Bellt er?,{('no', 'yes')[n % 2]},{factors}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "items.csv").write_text(sets({}))
    return tmp_path


def design(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["design", str(folder / "study.toml"), *options])


def test_answers_that_depend_on_the_condition_are_printed(folder: Path) -> None:
    plain = design(folder)
    assert plain.exit_code == 0, plain.output
    assert "right answers depend" not in plain.output
    (folder / "items.csv").write_text(sets({"sg.sg": "yes", "sg.pl": "yes", "pl.sg": "no", "pl.pl": "no"}))
    printed = design(folder, "--force").output
    assert "right answers depend on the condition:\n" in printed
    assert "experiment  list  paradigm    condition  ja  nein\n" in printed
    assert "E1          L1    attraction  pl.pl      0   1\n" in printed


def test_questions_with_one_answer_are_named(folder: Path) -> None:
    assert "always gives it" not in design(folder).output
    rows = (folder / "items.csv").read_text()
    (folder / "items.csv").write_text(rows.replace(",no,", ",yes,"))
    said = design(folder, "--force").output
    assert re.search(r"E1-L1: the right answer to (\d+) of \1 questions is 'ja', and who always gives it", said)


def test_materials_with_errors_are_not_dealt_unless_told_to(folder: Path) -> None:
    path = folder / "items.csv"
    path.write_text(path.read_text().replace("Der Schlüssel zu Schrank 3", "Der SchlÃ¼ssel zu Schrank 3"))
    refused = design(folder)
    assert isinstance(refused.exception, study.DataError)
    assert "s3 (sg.sg): UTF-8 read as Latin-1: SchlÃ¼ssel, probably Schlüssel" in str(refused.exception)
    assert "--ignore-errors" in refused.exception.faults[-1]
    assert not (folder / "lists").exists()
    assert design(folder, "--ignore-errors").exit_code == 0
    assert len([*(folder / "lists").glob("E1-L?.json")]) == 4


@pytest.mark.parametrize(
    ("consent", "minutes", "warning"),
    [
        (
            "Die Studie dauert etwa 30 Minuten.",
            20,
            "procedure.consent says that the study takes 30 minutes, online.reward.minutes is 20",
        ),
        ("Die Studie dauert 15 bis 20 Minuten.", 25, "says that the study takes 15 to 20 minutes"),
        (None, 20, "the standard consent text says that the study takes 15 minutes, online.reward.minutes is 20"),
        ("Die Studie dauert 15-20 Minuten.", 20, None),
        ("Wir speichern Ihre Antworten.", 20, None),
        (None, 15, None),
    ],
)
def test_a_consent_text_that_promises_other_minutes_is_told(
    folder: Path, consent: str | None, minutes: int, warning: str | None
) -> None:
    stated = f'[procedure]\nconsent = "{consent}"\n' if consent else "[procedure]\n"
    online = f'[online]\ncompletion_code = "X"\nreward = {{ amount = 4, currency = "EUR", minutes = {minutes} }}\n'
    (folder / "study.toml").write_text(STUDY.replace("[procedure.target]", f"{stated}[procedure.target]") + online)
    printed = design(folder).output
    assert (warning or "4 lists") in printed
    assert ("the study takes" in printed) == (warning is not None)


def test_conditions_have_equal_shares_where_no_ratio_is_stated(folder: Path) -> None:
    stated = design(folder)
    (folder / "study.toml").write_text("".join(line for line in STUDY.splitlines(True) if not line.startswith("ratio")))
    assert design(folder, "--force").output == stated.output


def test_a_factor_named_like_a_column_of_the_tables_is_refused(folder: Path) -> None:
    path = folder / "items.csv"
    path.write_text(path.read_text().replace("head: sg, pl | attractor: sg, pl", "word: sg, pl | attractor: sg, pl"))
    refused = str(design(folder).exception)
    assert "items.csv, line 2: factor 'word' has the name of a column of the tables of results; give it another one" in refused
    assert not (folder / "lists").exists()


@pytest.mark.parametrize("command", ["check", "design"])
def test_effects_of_factors_that_no_paradigm_has_are_refused(command: str, folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY + "[simulate.tense]\nrating = 1.0\n")
    made = CliRunner().invoke(cli, [command, str(folder / "study.toml")])
    assert made.exit_code == 1
    assert "simulate, 'tense': no paradigm has tense; there are factors attractor, head" in str(made.exception)
    assert not (folder / "lists").exists()
