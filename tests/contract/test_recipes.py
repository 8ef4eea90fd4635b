"""CONTRIBUTING.md's recipes: one more of each kind is one file, here in `toys`, and its line in a list; nothing else is told of it.

The task has a test of its own, tests/experiment/test_toy_task.py.
"""

import ast
import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import analysis, experiment, lmscore, stimuli, study
from gardenpath.analysis.reporting import document
from gardenpath.experiment.platforms import platform_export, platform_import
from gardenpath.experiment.setup import new_studies
from gardenpath.experiment.texts import standard_texts
from gardenpath.lmscore import loading
from gardenpath.lmscore.judging import judgment_requests
from gardenpath.lmscore.measures import reductions
from gardenpath.stimuli import formats
from gardenpath.study import TABLES, judgment_methods, measures

from ..conftest import ROOT, run_here
from ..lmscore.conftest import gpt2
from .toys import corpus, format, measure, model, platform, result

PACKAGES = ("study", "stimuli", "experiment", "lmscore", "analysis", "cli")
USERS_FILES = {"study.toml", "texts.toml"}  # of a user, not of the repository
TOYS = Path(__file__).parent / "toys"
PAIRS = [("mûs", "De mûs sliept.", "De mûs sliepe."), ("kat", "De kat is thús.", "De kat binne thús.")]
STUDY = """
name = "toy"
language = "{language}"
seed = 1
[materials]
files = ["items.csv"]
[design]
ratio = {{ grammatical = 1, ungrammatical = 1 }}
lists = 2
[procedure.target]
show = "whole"
ask = ["acceptability"]
[procedure.tasks.acceptability]
kind = "rating"
prompt = "?"
low = "-"
high = "+"
[online]
completion_code = "TOY-1"
"""
Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command in the test's folder; return what it printed and said."""

    def ran(line: str) -> str:
        done = run_here(f"gardenpath {line}", tmp_path)
        assert done.code == 0, done.said
        return done.printed + done.said

    return ran


@pytest.fixture
def made(tmp_path: Path) -> study.Study:
    """A study of four pairs, rated."""
    return stated(tmp_path, "en")


def stated(folder: Path, language: str) -> study.Study:
    lines = [
        f"p,f,i{n},{condition},The key to the cabinets [{verb}] old.\n"
        for n in range(4)
        for condition, verb in (("grammatical", "is"), ("ungrammatical", "are"))
    ]
    (folder / "items.csv").write_text("paradigm,phenomenon,item,condition,sentence\n" + "".join(lines))
    (folder / "study.toml").write_text(STUDY.format(language=language))
    return study.load(folder / "study.toml")


def test_every_recipe_has_a_test() -> None:
    recipes = re.findall(r"^## Add an? (.+)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    tested = {name.removeprefix("test_add_").replace("_", " ") for name in globals() if name.startswith("test_add_")}
    assert {*recipes} - {"task"} == tested


def test_the_files_and_names_that_the_recipes_give_are_there() -> None:
    """A path is one of the repository, a name is defined in a file of its stem, a call has the parameters of a function there."""
    text = re.sub(r"```.*?```", "", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL)
    spans = {*re.findall(r"`([^`\n]+)`", text)}
    names, signatures = _read_definitions()
    paths = {span for span in spans if re.search(r"^[^ ]*/|\.(py|toml|md|csv)$", span) and " " not in span} - USERS_FILES
    calls = {span: match for span in spans if (match := re.fullmatch(r"(\w+)\(([\w, ]+)\)", span))}
    files = {
        str(path.relative_to(ROOT))
        for folder in (*PACKAGES, "tests", "docs", ".types")
        for path in (ROOT / folder).rglob("*")
        if "node_modules" not in path.parts
    } | {path.name for path in ROOT.iterdir()}
    lost = []
    for path in paths:
        pattern = "(.*/)?" + re.sub(r"NAME|\bxx\b", "[^/]*", re.escape(path.rstrip("/")))
        lost += [] if any(re.fullmatch(pattern, file) for file in files) else [path]
    lost += [c for c, match in calls.items() if tuple(match[2].split(", ")) not in signatures.get(match[1], ())]
    lost += [
        s for s in spans if re.fullmatch(r"[A-Za-z_][\w.]*", s) and s not in paths | USERS_FILES and not {*s.split(".")} <= names
    ]
    assert len(paths) > 30
    assert len(calls) > 8
    assert lost == []


def _read_definitions() -> tuple[set[str], dict[str, set[tuple[str, ...]]]]:
    """Return all names that the packages define, and the parameters of their functions by name, all of them and the first."""
    names, signatures = {"True", "False", "None", "ValueError", "gardenpath"}, dict[str, set[tuple[str, ...]]]()
    for package in (*PACKAGES, "tests"):
        names.add(package)
        for path in (ROOT / package).rglob("*.py"):
            if "node_modules" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    names.add(node.name)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
                if isinstance(node, ast.FunctionDef):
                    parameters = tuple(a.arg for a in node.args.args if a.arg != "self")
                    signatures.setdefault(node.name, set()).update(parameters[:n] for n in range(1, len(parameters) + 1))
    return names, signatures


def test_add_corpus_of_minimal_pairs(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, corpus.CORPUS))
    lines = [
        {"goed": good, "fout": bad, "ferskynsel": "f", "paradigma": name, "nr": 1, "boarne": "sels"} for name, good, bad in PAIRS
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (tmp_path / "pairs.jsonl").write_text(text, "utf-8")
    run("convert pairs.jsonl items.csv")
    items = stimuli.read(tmp_path / "items.csv").items
    assert [(item.language, item.sentences["ungrammatical"].text) for item in items] == [("fy", p[2]) for p in PAIRS]
    run("convert items.csv back.jsonl --to-format frisian-toy")
    assert [json.loads(line) for line in (tmp_path / "back.jsonl").read_text("utf-8").splitlines()] == lines
    (tmp_path / "bad.jsonl").write_text(text.replace(PAIRS[1][1], ""), "utf-8")
    with pytest.raises(study.DataError, match=r"bad\.jsonl, line 2: goed missing"):
        stimuli.read(tmp_path / "bad.jsonl")


def test_add_format_of_materials(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, format))
    text = "".join(f"{name}: {good} / {bad}\n" for name, good, bad in PAIRS)
    (tmp_path / "pairs.slashes").write_text(text, "utf-8")
    run("convert pairs.slashes items.csv")
    run("convert items.csv back.slashes")
    assert (tmp_path / "back.slashes").read_text("utf-8") == text
    (tmp_path / "bad.slashes").write_text(text + "mûs: De mûs.\n", "utf-8")
    with pytest.raises(study.DataError, match=r"bad\.slashes, line 3: .* has 1 sentences; expected  paradigm: good / bad"):
        stimuli.read(tmp_path / "bad.slashes")


def test_add_platform(tmp_path: Path, made: study.Study, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_export, "EXPORTS", (*platform_export.EXPORTS, platform))
    monkeypatch.setattr(platform_import, "PLATFORMS", (*platform_import.PLATFORMS, platform))
    run("export study.toml --platform toy-platform --orders 1 -o out")
    places = [json.loads(path.read_text()) for path in sorted((tmp_path / "out").glob("assignment-*.json"))]
    assert [len(shown) for shown in places] == [4, 4]
    (tmp_path / "back").mkdir()
    with open(tmp_path / "back" / "all.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(platform.COLUMNS)
        for who, shown in enumerate(places):
            writer.writerows([who, one["item"], one["condition"], 7 - 2 * ("are" in one["sentence"])] for one in shown)
    run("collect back --platform toy-platform --materials items.csv -o tables")
    responses = study.read(tmp_path / "tables", "responses")
    assert len(responses) == 8
    assert responses.groupby("condition")["response"].unique().map(list).to_dict() == {"grammatical": ["7"], "ungrammatical": ["5"]}
    with open(tmp_path / "study.toml", "a") as stream:
        stream.write('[procedure.practice]\nshow = "centred"\n')
    with open(tmp_path / "study.toml") as stream:
        practised = stream.read().replace("lists = 2", 'lists = 2\npractice = ["She slept."]')
    (tmp_path / "study.toml").write_text(practised)
    with pytest.raises(study.DataError, match="toy-platform cannot run sentences read word by word"):
        experiment.export(study.load(tmp_path / "study.toml"), "toy-platform", tmp_path / "other", orders=1)


def test_add_kind_of_language_model(tmp_path: Path, made: study.Study, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loading.SCHEMES, model.SCHEME, model.load)
    run("score items.csv --model uniform:32 -o scores")
    words = study.read(tmp_path / "scores", "surprisal")
    assert words["surprisal"].tolist() == pytest.approx([5.0 * n for n in words["n_tokens"]])  # log2 32 for each character
    run("evaluate items.csv --model uniform:32 --measure lp -o results")
    assert study.read(tmp_path / "results", "accuracy")["accuracy"].tolist() == [1.0] * 4  # is, not are: fewer characters
    with pytest.raises(ValueError, match="uniform:32: is a model of the kind uniform, which has no revision"):
        lmscore.load("uniform:32", revision="main")


def test_add_kind_of_study_to_begin_with(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_one_more(monkeypatch, tmp_path, new_studies, "experiment/setup/starts", "toy.kind.toml", TOYS / "kind.toml")
    assert "toy" in new_studies.list_study_kinds()
    run("new begun --kind toy --language de")
    plan = study.load(tmp_path / "begun")
    experiment.simulate(experiment.build_list_files(plan), tmp_path / "data", participants=2, seed=1)
    tables = experiment.collect(tmp_path / "data")
    assert set(tables["responses"].query("task == 'rating'")["response"]) <= {"0", "1"}
    assert set(tables["items"]["language"]) == {"de"}


def test_add_language(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fy.toml"
    begun = tomllib.loads((ROOT / "experiment" / "texts" / "start.toml").read_text("utf-8"))["en"]
    start = [f"{key} = {json.dumps(text)}" for key, text in begun.items() if isinstance(text, str)]
    translated = standard_texts.format_texts_to_translate("fy").replace("Continue", "Fierder")
    file.write_text(translated + "\n[start]\n" + "\n".join(start) + "\n", "utf-8")
    with pytest.raises(ValueError, match="there are no texts in it"):
        experiment.build_list_files(stated(tmp_path, "fy"))
    _with_one_more(monkeypatch, tmp_path, standard_texts, "experiment/texts", "fy.toml", file)
    standard_texts._read_texts_by_language.cache_clear()
    try:
        assert "fy" in standard_texts.list_languages()
        assert "fy" not in standard_texts.list_text_names()
        [first, *_] = experiment.build_list_files(stated(tmp_path, "fy"))
        assert "Fierder" in json.dumps(first.script.texts)
        run("new begun --kind rating --language fy")
        assert not (tmp_path / "begun" / "texts.toml").exists()
    finally:
        standard_texts._read_texts_by_language.cache_clear()


def test_add_measure_of_sentences(tmp_path: Path, made: study.Study, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(measures.MEASURES, measure.MEASURE.name, measure.MEASURE)
    monkeypatch.setitem(reductions.MEASURES, measure.MEASURE.name, measure.of_sentence)
    (tmp_path / "corpus.txt").write_text("The key is old .\n")
    run("evaluate items.csv --model ngram:corpus.txt --measure brevity -o results")
    assert study.read(tmp_path / "results", "pairs")["tie"].all()  # as many tokens in both members


def test_add_way_of_judging(tmp_path: Path, made: study.Study, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(judgment_methods.JUDGMENT_METHODS, measure.METHOD.name, measure.METHOD)
    monkeypatch.setitem(judgment_requests.STRING_REDUCTIONS, measure.METHOD.name, measure.judged)
    gpt2(tmp_path / "model")
    run("judge items.csv --model model --method brevity -o judged")
    judged = study.read(tmp_path / "judged", "judgments")
    assert (judged["method"] == "brevity").all()
    encode = lmscore.load(tmp_path / "model").encode
    for condition in ("grammatical", "ungrammatical"):
        texts = [item.sentences[condition].text for item in stimuli.read(tmp_path / "items.csv").items]
        assert judged[f"score_{condition}"].tolist() == [-encode(text).scored_count for text in texts]


def test_add_table_of_results(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = result.TABLE.name
    monkeypatch.setitem(TABLES, name, result.TABLE)
    monkeypatch.setattr(document, "SECTIONS", (*document.SECTIONS, result.section))
    analyse = analysis.analyse
    monkeypatch.setattr(
        analysis,
        "analyse",
        lambda tables, *rest, **more: {**analyse(tables, *rest, **more), name: result.slowest_words(tables["readings"])},
    )
    made = stated(tmp_path, "en")
    text = made.path.read_text().replace('show = "whole"', 'show = "centred"')
    made.path.write_text(text)
    run("simulate study.toml --participants 4 -o data")
    run("collect data -o tables")
    run("analyse tables --study study.toml -o results")
    table = study.read(tmp_path / "results", name)
    longest = study.read(tmp_path / "tables", "readings").groupby("participant")["rt"].max()
    assert table.set_index("participant")["rt"].to_dict() == pytest.approx(longest.to_dict())
    run("report study.toml -o report.html")
    page = (tmp_path / "report.html").read_text()
    assert f"The longest reading time was {longest.max():.0f} ms." in page
    assert f"{name}: one row is a participant with the longest reading time." in page
    assert isinstance(table, pd.DataFrame)


def test_add_response(tmp_path: Path, run: Run) -> None:
    stated(tmp_path, "en")
    run("simulate study.toml --participants 4 -o data")
    run("collect data -o tables")
    program = [sys.executable, "-P", TOYS / "response.py", tmp_path / "tables"]
    done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": ".types"})
    assert done.returncode == 0, done.stderr
    formulas, measures, said = json.loads(done.stdout)
    assert formulas[0] == "ease ~ grammaticality + (1|participant) + (1|item)"
    assert {formula.partition(" ~ ")[0] for formula in formulas} == {"ease"}
    assert measures == ["ease", "felt_ease"]
    assert said == ["Judgments of ease", "Mean felt ease by phenomenon", "points of ease"]


def _with_one_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reader: object, folder: str, name: str, file: Path) -> None:
    """Let a module read its folder of the package as if it held one more file."""
    copy = tmp_path / "package"
    copy.mkdir()
    for path in (ROOT / folder).iterdir():
        if path.is_file():
            (copy / path.name).symlink_to(path)
    (copy / name).symlink_to(file)
    own = f"gardenpath.{folder.replace('/', '.')}"
    monkeypatch.setattr(reader, "files", lambda package: copy if package == own else files(package))
