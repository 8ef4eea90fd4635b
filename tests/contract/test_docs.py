"""README and docs are run: Python blocks, command blocks, and the examples in docstrings."""

import dataclasses
import doctest
import importlib
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gardenpath import lmscore, study
from gardenpath.experiment.tasks import load_tasks
from gardenpath.experiment.texts.standard_texts import load_texts
from gardenpath.study.measures import MEASURES

from ..conftest import blocks, commands, run_here
from . import sessions_elsewhere

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GENERATED = [f"reference/{name}.md" for name in ("tables", "renamed", "study", "stimuli", "experiment", "lmscore", "analysis")]
PACKAGES = ("study", "stimuli", "experiment", "lmscore", "analysis")
# Pages that are walked from their first block to their last in one folder: how many files, commands and blocks of Python they have.
WALKS = {"study": (0, 4, 6), "tutorial-models": (1, 9, 4), "tutorial-blimp-nl": (1, 11, 4), "tutorial-platforms": (0, 8, 1)}
# Fewer participants, and without what takes long.
LIGHTER = {
    "--participants 90 --seed": "--participants 9 --seed",
    "--rating-measure rating": "--no-slopes --folds 2 --rating-measure rating",
    "paper.toml -o report.html": "paper.toml --no-figures -o report.html",
}


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, as a reader of README has it before them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.lm
@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python") and p.stem not in WALKS], ids=lambda p: p.name)
def test_python_blocks_run_in_order(page: Path, workplace: Path) -> None:
    """As they stand, but for fewer participants, one a list, and fewer folds."""
    fewer = {"participants": 9, "folds": 2}
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(
            compile(re.sub(r"\b(participants|folds)=\d+", lambda found: f"{found[1]}={fewer[found[1]]}", block), str(page), "exec"),
            names,
        )


@pytest.mark.lm
@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if commands(p) and p.stem not in ("tutorial", *WALKS)], ids=lambda p: p.name)
def test_command_blocks_run_in_order(page: Path, workplace: Path, full: bool) -> None:
    """As they stand, but for fewer participants; those of the tutorial are run in tests/cli/test_factorial_study.py."""
    folder, people = workplace / "examples" / "minimal-pairs", 54 if full else 18
    lines = [line.replace("--participants 54", f"--participants {people}") for line in commands(page)]
    ran = [run_here(line, folder) for line in lines]
    for one in ran:
        assert one.code == 0, f"{one.line}\n{one.printed}{one.said}"
    if page.name == "walkthrough.md":
        from_materials_to_report(folder, {one.line.split()[1]: one.printed for one in ran}, people)
        as_it_is_read_in_r(folder)


@pytest.mark.lm
@pytest.mark.slow
@pytest.mark.parametrize("page", WALKS)
def test_a_tutorial_runs_from_its_first_block_to_its_last_and_prints_what_it_shows(
    page: str, workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], full: bool
) -> None:
    """Files are saved as it says; of what it shows, numbers are left out: they depend on how many took part."""
    if page == "tutorial-platforms" and shutil.which("node") is None:
        pytest.skip("node is not installed, by which a robot takes what went out to PCIbex")
    folder = workplace / "examples" / "minimal-pairs" if page == "tutorial-blimp-nl" else workplace
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    printed, ran = "", Counter[str]()
    block = re.compile(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    for file, language, text in block.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8")):
        ran["files"] += bool(file)
        if file:
            (folder / file).write_text(text, "utf-8")
        elif language == "python":
            ran["python"] += 1
            exec(compile(text, page, "exec"), names)
            printed += capsys.readouterr().out
        elif language == "sh":
            for line in text.splitlines():
                ran["commands"] += 1
                printed += walked(line, folder, full)
        elif language == "text":
            known = {without_numbers(line) for line in printed.splitlines()}
            assert [line for line in text.splitlines() if without_numbers(line) not in known] == []
    assert (ran["files"], ran["commands"], ran["python"]) == WALKS[page]


def walked(line: str, folder: Path, full: bool) -> str:
    """Run a command of a tutorial, after its platform has given what it reads to download; return what it prints and says."""
    there = folder / "attraction"
    if line.startswith("gardenpath collect") and "--platform jatos" in line:
        sessions_elsewhere.in_jatos(study.load(there), there / "jatos", there / "results.zip", 24)
    if line.startswith("gardenpath collect") and "--platform pcibex" in line:
        sessions_elsewhere.in_pcibex(study.load(there), there / "pcibex", there / "results.csv", 4)
    for long, short in {} if full else LIGHTER.items():
        line = line.replace(long, short)
    one = run_here(line, folder)
    assert one.code == 0, f"{line}\n{one.printed}{one.said}"
    return one.printed + one.said


def without_numbers(line: str) -> str:
    """The words of a line, which stay the same with other participants, and of a model that is trained elsewhere."""
    return " ".join(re.sub(r"-?\d+(\.\d+)?(e-\d+)?", "0", line).split())


def from_materials_to_report(folder: Path, printed: dict[str, str], people: int) -> None:
    """Hold what the commands left in the folder of the study."""
    assert "24 grammatical" in printed["design"]
    assert len(study.read(folder / "tables", "responses")) == people * 39
    assert {"z", "log_rt"} == set(study.read(folder / "results", "effects")["response"])
    page = (folder / "report.html").read_text()
    assert "simulated" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def as_it_is_read_in_r(folder: Path) -> None:
    """Run the code of docs/from-r.md where lme4 is: lme4's estimate and ours, which it prints, are the same."""
    asked = "library(lmerTest)"
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", asked], capture_output=True, check=False).returncode:
        return
    code = "\n".join(blocks(ROOT / "docs" / "from-r.md", "r"))
    ran = subprocess.run(["Rscript", "-e", code], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    [theirs] = re.findall(r"^grammaticality:good +(\S+)", ran.stdout, re.MULTILINE)
    [ours] = re.findall(r"estimate .*\n\d+ +(\S+)", ran.stdout)
    assert float(theirs) == pytest.approx(float(ours), abs=1e-5)


def test_the_parts_of_study_toml_shown_in_docs_are_taken(workplace: Path) -> None:
    """Put into the example study, as a reader would."""
    stated = tomllib.loads((workplace / "examples" / "minimal-pairs" / "study.toml").read_text())
    shown = blocks(ROOT / "docs" / "study-toml.md", "toml")
    assert len(shown) == 12
    [texts] = [block for block in shown if block.startswith("[session]")]
    (workplace / "texts.toml").write_text(texts, "utf-8")
    own = study.config.ProcedureSection(texts="texts.toml")
    said = load_texts(
        dataclasses.replace(study.load(workplace / "examples" / "minimal-pairs"), procedure=own, path=workplace / "study.toml")
    )
    assert said["endings"]["full"] == "Enough people have taken part. Thank you!"
    for block in shown:
        if block == texts:
            continue
        parts = tomllib.loads(block)
        if "block_by" in parts.get("ordering", {}):  # beside which no other blocks can stand
            assert study.OrderingSection(**parts.pop("ordering")).block_order == "williams"
        models = [*stated.get("analysis", {}).get("models", []), *parts.get("analysis", {}).get("models", [])]
        for section, keys in parts.items():
            stated[section] = keys if isinstance(keys, list) else stated.get(section, {}) | keys
        stated["analysis"] = stated.get("analysis", {}) | {"models": models}
    [published] = blocks(ROOT / "docs" / "study.md", "toml")
    analysis = study.config.parse_dataclass(study.AnalysisSection, tomllib.loads(published)["analysis"], where="docs/study.md")
    assert (analysis.spillover_regions, analysis.covariates, analysis.figures.bars) == ("cumulative", (), "se")
    plan = study.config.parse_dataclass(study.Study, stated, where="docs/study-toml.md")
    assert load_tasks(plan).tasks_by_role["filler"] == ["acceptability"]
    assert [item.expected_responses["acceptability"] for item in plan.design.attention] == [["2"], ["1", "2", "3"]]
    assert len(plan.design.practice) == 4
    names = ["embedded verb", "ease", "noun phrase within extraction", "understood", "proficiency"]
    assert [model.name for model in plan.analysis.models] == names
    assert plan.analysis.sesoi["extraction:noun_phrase"] == {"log_rt": 0.03}
    assert plan.simulate["extraction:noun_phrase"].log_rt == {"embedded_verb": -0.1}
    assert [field.name for field in plan.procedure.demographics] == ["age", "hand"]


def modules() -> list[str]:
    return [
        ".".join(["gardenpath", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "node_modules" not in path.parts
    ]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_every_public_function_says_what_comes_back() -> None:
    for package in PACKAGES:
        module = importlib.import_module(f"gardenpath.{package}")
        for name in module.__all__:
            public = getattr(module, name)
            assert not callable(public) or (public.__doc__ or "").strip(), f"gardenpath.{package}.{name} has no docstring"


def test_every_key_of_study_toml_is_documented() -> None:
    from dataclasses import fields, is_dataclass
    from typing import get_args, get_origin, get_type_hints

    from gardenpath.study import Study

    def keys(kind: Any, prefix: str = "") -> list[str]:
        hints = get_type_hints(kind)
        found: list[str] = []
        for f in fields(kind):
            optional: list[Any] = [a for a in (hints[f.name], *get_args(hints[f.name])) if is_dataclass(a)]
            listed = get_origin(hints[f.name]) in (list, tuple, dict)
            found += keys(optional[0], f"{prefix}{f.name}.") if optional and not listed else [prefix + f.name]
        return found

    page = (ROOT / "docs" / "study-toml.md").read_text()
    missing = [key for key in keys(Study) if key != "path" and f"`{key}`" not in page]
    assert not missing


def test_every_measure_of_sentences_is_computed_and_documented() -> None:
    assert list(lmscore.MEASURES) == list(MEASURES)
    page = (ROOT / "docs" / "scores.md").read_text("utf-8")
    assert not [name for name in MEASURES if f"`{name}`" not in page]


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            made = target in GENERATED  # when the site is built, whose links are followed then
            assert made or (page.parent / target).exists(), f"{page.name} links to {target}"
