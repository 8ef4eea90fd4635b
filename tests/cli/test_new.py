"""gardenpath new: what it writes is dealt, simulated and analysed as it is, and one's own table is taken as found."""

import csv
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gardenpath import analysis, experiment, stimuli, study
from gardenpath.cli.main import cli
from gardenpath.experiment.setup.new_studies import PLACEHOLDER_NOTE, list_study_kinds

from ..conftest import ROOT, commands, run_here

MEASURED = {
    "spr": "region_times",
    "maze": "region_times",
    "minimal-pairs": "region_times",
    "rating": "rating_scores",
    "forced-choice": "choice_agreement",
}
MODELS = {"spr": "factorial_models", "maze": "factorial_models", "rating": "factorial_models", "minimal-pairs": "phenomenon_models"}


def new(folder: Path, kind: str, *options: str) -> Result:
    return CliRunner().invoke(cli, ["new", str(folder), "--kind", kind, *options])


def dealt(folder: Path, participants: int = 2) -> dict[str, "object"]:
    """Check, deal and simulate a study; return the tables."""
    plan = study.load(folder)
    materials, findings = stimuli.examine(*plan.list_material_paths())
    assert not [str(f) for f in [*findings, *stimuli.check(materials)] if f.severity in ("error", "warning")]
    files = experiment.build_list_files(plan)
    effects = experiment.Effects(terms=plan.simulate)
    experiment.simulate(files, folder / "data", participants=participants, seed=1, effects=effects)
    return experiment.collect(folder / "data")


@pytest.mark.parametrize("language", ["de", "tr"])
@pytest.mark.parametrize("kind", list_study_kinds())
def test_what_is_written_is_dealt_and_taken_at_once(kind: str, language: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    made = new(folder, kind, "--language", language)
    assert made.exit_code == 0, made.output
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "items.csv", "study.schema.json", "study.toml"]
    tables = dealt(folder)
    assert set(tables["items"]["language"]) == {language}
    placeholders = language == "tr"
    assert (PLACEHOLDER_NOTE in (folder / "items.csv").read_text("utf-8")) == placeholders
    assert ("English placeholders" in (folder / "README.md").read_text("utf-8")) == placeholders
    assert ("# English placeholders" in (folder / "study.toml").read_text("utf-8")) == placeholders
    questions = tables["responses"].query("task == 'question' and role != 'practice'")
    assert len(questions) == (12 if kind in ("spr", "maze", "rating") else 0)  # six for each of two


@pytest.mark.parametrize("kind", list_study_kinds())
def test_simulated_participants_end_in_results(kind: str, tmp_path: Path) -> None:
    new(tmp_path / "study", kind)
    plan = study.load(tmp_path / "study")
    tables = dealt(tmp_path / "study", participants=6 * plan.design.lists)
    results = analysis.analyse(tables, plan.analysis)
    assert len(results[MEASURED[kind]])
    assert results["participants"]["exclusion_rule"].isna().any()
    if kind in MODELS:
        assert results[MODELS[kind]]["estimate"].notna().any()
    if kind in ("spr", "maze", "rating"):
        effects = results["factorial_models"].query(
            "term == 'grammaticality_ungrammatical_grammatical' and random == 'intercepts' and measure != 'correct'"
        )
        [effect] = effects[effects["region"].isin(["critical", "sentence"])]["estimate"].dropna()
        assert (effect < 0) == (kind == "rating")  # rated lower, read slower, as [simulate] states


@pytest.mark.slow
def test_the_commands_of_its_readme_run_one_after_the_other(tmp_path: Path) -> None:
    new(tmp_path / "study", "spr", "--language", "de")
    lines = [line for line in commands(tmp_path / "study" / "README.md") if " serve " not in line]
    assert [line.split()[1] for line in lines] == ["check", "design", "simulate", "collect", "analyse"]
    for line in lines:
        one = run_here(line, tmp_path / "study")
        assert one.code == 0, f"{line}\n{one.printed}{one.said}"
    assert "attraction" in (tmp_path / "study" / "simulated" / "results" / "results.md").read_text("utf-8")


def test_every_language_with_texts_can_be_begun_in(tmp_path: Path) -> None:
    from gardenpath.experiment.texts.standard_texts import list_languages

    for language in list_languages():
        assert new(tmp_path / language, "rating", "--language", language).exit_code == 0
        plan = study.load(tmp_path / language)
        assert plan.language == language
        assert (plan.procedure.tasks["acceptability"]["low"] == "very bad") == (language == "en")
    regional = new(tmp_path / "at", "spr", "--language", "de-AT")
    assert regional.exit_code == 0
    assert "Schlüssel" in (tmp_path / "at" / "items.csv").read_text("utf-8")


def test_a_folder_that_holds_something_is_left_alone_and_an_empty_one_is_filled(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    refused = new(tmp_path, "spr")
    assert isinstance(refused.exception, FileExistsError)
    assert "holds something already; expected a new folder, or an empty one" in str(refused.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    (tmp_path / "empty").mkdir()
    assert new(tmp_path / "empty", "spr").exit_code == 0
    assert study.load(tmp_path / "empty").name == "empty"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "sprt"], "'sprt' is not one of 'forced-choice', 'maze', 'minimal-pairs', 'rating', 'spr'"),
        (["--kind", "spr", "--language", "Polish!"], "language is 'Polish!'; expected a language tag (BCP 47), as in de, pt-BR"),
        (["--kind", "spr", "--items", "nothing.csv"], "nothing.csv"),
    ],
)
def test_a_call_that_cannot_be_followed_writes_nothing(options: list[str], message: str, tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["new", str(tmp_path / "study"), *options])
    assert message in f"{ran.output}{ran.exception}"
    assert not list(tmp_path.iterdir())


HEADER = ["paradigm", "phenomenon", "item", "condition", "sentence", "factors"]
FACTORS = "head: sg, pl | attractor: sg, pl"


def table(path: Path, sets: int = 8, factors: str = FACTORS, mark: str = "[{}]") -> Path:
    """Write sets in four conditions, without questions or fillers."""
    conditions = [f"{head}.{attractor}" for head in ("sg", "pl") for attractor in ("sg", "pl")]
    rows = [
        ["attraction", "agreement", f"s{n}", c, f"Key {n} of {c.replace('.', ' and ')} {mark.format('was')} quite old and rusty by then.", factors if not (n or k) else ""]
        for n in range(sets)
        for k, c in enumerate(conditions)
    ]  # fmt: skip
    if path.suffix == ".csv":
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([HEADER, *rows])
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [HEADER, *rows]:
            book.active.append(row)
        book.save(path)
    return path


@pytest.mark.parametrize("name", ["mine.csv", "mine.xlsx"])
def test_ones_own_table_is_copied_and_stated_as_found(name: str, tmp_path: Path) -> None:
    source = table(tmp_path / name)
    made = new(tmp_path / "study", "spr", "--items", str(source))
    assert made.exit_code == 0, made.output
    assert (tmp_path / "study" / name).read_bytes() == source.read_bytes()
    stated = (tmp_path / "study" / "study.toml").read_text()
    assert "# attraction: 8 items in head (sg, pl) x attractor (sg, pl)" in stated
    plan = study.load(tmp_path / "study")
    assert (plan.design.lists, plan.design.fillers, plan.procedure.target.ask) == (4, [], [])
    assert plan.simulate["head"].log_rt["critical"] > 0
    for missing in ("fillers: sentences of a paradigm of their own", "comprehension questions, in columns question and answer"):
        assert f"missing: {missing}" in stated
        assert f"missing: {missing}" in made.output
        assert f"- {missing}" in (tmp_path / "study" / "README.md").read_text()
    assert len(dealt(tmp_path / "study", participants=4)["readings"])


def test_the_language_is_that_of_ones_own_items_where_none_is_stated(tmp_path: Path) -> None:
    source = table(tmp_path / "mine.csv")
    german = stimuli.read(source, language="de")
    stimuli.write(german, tmp_path / "mine.jsonl")
    assert new(tmp_path / "own", "spr", "--items", str(tmp_path / "mine.jsonl")).exit_code == 0
    assert study.load(tmp_path / "own").language == "de"
    assert new(tmp_path / "said", "spr", "--items", str(source)).exit_code == 0
    assert study.load(tmp_path / "said").language == "en"


def test_english_practice_beside_ones_own_sentences_is_called_so(tmp_path: Path) -> None:
    source = table(tmp_path / "mine.csv")
    for language, said in (("nl", True), ("de", False)):
        assert new(tmp_path / language, "spr", "--items", str(source), "--language", language).exit_code == 0
        for page in ("study.toml", "README.md"):
            text = (tmp_path / language / page).read_text()
            assert ("English placeholders" in text) == said, page


def test_sets_that_do_not_divide_are_left_over_and_said_so(tmp_path: Path) -> None:
    source = table(tmp_path / "mine.csv", sets=7)
    made = new(tmp_path / "study", "spr", "--items", str(source))
    assert "in each paradigm: 4 of each are shown, 3 of 7 left out\n" in made.output
    assert study.load(tmp_path / "study").design.items == 4
    assert len(experiment.build_list_files(study.load(tmp_path / "study"))) == 4


def test_what_a_kind_cannot_do_without_is_missing_or_refused(tmp_path: Path) -> None:
    source = table(tmp_path / "mine.csv", mark="{}")
    made = new(tmp_path / "maze", "maze", "--items", str(source), "--language", "de")
    assert "missing: a column alternatives" in made.output
    assert "missing: a critical region in 8 of 8 items" in made.output
    assert "missing: a column language, de in each row" in made.output
    assert not study.load(tmp_path / "maze").simulate
    refused = new(tmp_path / "choice", "forced-choice", "--items", str(source))
    assert "paradigm attraction has 4 conditions; a trial of forced-choice shows a pair" in str(refused.exception)
    assert not (tmp_path / "choice").exists()


def test_a_table_that_does_not_state_its_factors_is_told_how_in_one_line(tmp_path: Path) -> None:
    refused = new(tmp_path / "study", "spr", "--items", str(table(tmp_path / "mine.csv", factors="")))
    first, last = str(refused.exception).splitlines()
    assert "mine.csv, line 2: the conditions of paradigm attraction are sg.sg, sg.pl, pl.sg, pl.pl" in first
    assert first.endswith("in a column factors:  NAME: sg, pl | NAME: sg, pl")
    assert last.endswith("correct this first; nothing was written")
    assert not (tmp_path / "study").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_minimal_pairs_of_ones_own_are_taken_too(tmp_path: Path) -> None:
    source = shutil.copy(ROOT / "examples" / "minimal-pairs" / "items.csv", tmp_path / "pairs.csv")
    assert new(tmp_path / "study", "minimal-pairs", "--items", str(source)).exit_code == 0
    plan = study.load(tmp_path / "study")
    assert (plan.design.lists, plan.design.items, plan.ordering.no_adjacent) == (2, None, "paradigm")
    assert len(experiment.build_list_files(plan)) == 2


def test_a_folder_stands_for_its_study_toml(tmp_path: Path) -> None:
    new(tmp_path / "study", "spr")
    made = CliRunner().invoke(cli, ["design", str(tmp_path / "study")])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "study" / "lists" / "E1-L4.json").is_file()


@pytest.mark.parametrize(("fillers", "between", "run"), [(7, 1, {}), (6, 0, {"role": {"target": 2}})])
def test_fillers_come_between_targets_as_well_as_their_number_allows(
    fillers: int, between: int, run: dict[str, dict[str, int]], tmp_path: Path
) -> None:
    source = table(tmp_path / "mine.csv")
    with source.open("a") as stream:
        rows = [["filler", "filler", f"f{n}", "", f"Bird {n} sang in the tree.", ""] for n in range(fillers)]
        csv.writer(stream).writerows(rows)
    new(tmp_path / "study", "spr", "--items", str(source))
    ordering = study.load(tmp_path / "study").ordering
    assert (ordering.min_fillers_between, ordering.max_run) == (between, run)
    assert len(dealt(tmp_path / "study", participants=4)["readings"])


def test_as_many_questions_are_asked_as_it_says_where_fillers_have_none(tmp_path: Path) -> None:
    new(tmp_path / "first", "spr")
    rows = list(csv.DictReader((tmp_path / "first" / "items.csv").read_text("utf-8").splitlines()))
    with open(tmp_path / "mine.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(row | ({"question": "", "answer": ""} if row["item"].startswith("f") else {}) for row in rows)
    new(tmp_path / "second", "spr", "--items", str(tmp_path / "mine.csv"))
    plan = study.load(tmp_path / "second")
    asked = dealt(tmp_path / "second")["responses"].query("task == 'question' and role != 'practice'")
    assert len(asked) == 2 * 2  # of four items with questions, by two
    assert "by right answers: a list asks 2, so that 0.8 would forgive no mistake" in (
        tmp_path / "second" / "study.toml"
    ).read_text("utf-8")
    assert plan.analysis.exclude.min_accuracy == 0


@pytest.mark.parametrize(("items", "asked", "accuracy"), [(18, 9, 0), (20, 10, 0.8)])
def test_who_answers_wrong_is_left_out_only_where_two_mistakes_are_forgiven(
    items: int, asked: int, accuracy: float, tmp_path: Path
) -> None:
    lines = [
        f"p,f,i{n},{condition},The cat {n} [{verb}] there.,Does it sleep?,{('yes', 'no')[n % 2]}"
        for n in range(items)
        for condition, verb in (("grammatical", "sleeps"), ("ungrammatical", "sleep"))
    ]
    (tmp_path / "mine.csv").write_text("\n".join(["paradigm,phenomenon,item,condition,sentence,question,answer", *lines]) + "\n")
    made = new(tmp_path / "study", "spr", "--items", str(tmp_path / "mine.csv"))
    assert made.exit_code == 0, made.output
    rules = study.load(tmp_path / "study").analysis.exclude
    assert (rules.min_accuracy, rules.min_questions) == (accuracy, asked if accuracy else 20)
