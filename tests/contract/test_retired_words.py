"""Names are the field's words (docs/glossary.md): words that gardenpath once used for them are in none."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import click
import pytest

from gardenpath import study
from gardenpath.cli.main import cli
from gardenpath.study import TABLES

from ..conftest import ROOT

PACKAGES = ("study", "stimuli", "experiment", "lmscore", "analysis", "cli")
# Written anew, in the field's words, by the issue of the registry of responses and the plan of models.
NOT_YET = ("analysis/modelling", "analysis/reporting")

RETIRED = {
    "told": "describe",
    "untold": "strip_correct_answers",
    "tell": "describe",
    "said": "message",
    "beside": "compare_with",
    "apart": "differ",
    "sift": "validate",
    "sifted": "validated",
    "sifting": "event validation",
    "barred": "excluded participant",
    "barring": "exclusion of previous participants",
    "deal": "assign",
    "dealt": "assigned",
    "dealing": "assignment",
    "moment": "TrialContext",
    "act": "SimulatedResponse",
    "sitting": "session",
    "duel": "PairwiseComparison",
    "room": "budget, box",
    "remembered": "cached",
    "carried": "cached",
    "planted": "injected",
    "despite": "ignore",
    "ledger": "exclusion log",
    "maker": "producer",
    "further": "dynamic, additional",
    "later": "added_in",
    "placed": "TimelineStep",
    "mass": "answer_probability",
    "band": "cutoffs",
    "smallest": "sesoi",
    "truth": "simulation parameters",
    "ours": "own",
    "theirs": "other",
    "lacks": "describe_unsupported",
    "lacking": "missing",
    "alike": "equal",
    "place": "position, slot, rank, label",
    "places": "positions, slots, ranks, labels",
    "thing": "what it is",
}
# Where a word stands for something else. A name is excepted everywhere; say why.
EXCEPTIONS = {
    "keep_apart": "items that are not to be chosen together, or not into the same list",
    "smallest": "the column of tables that the plan of models replaces",
}
# Alone, they say neither what a function does nor what a value is.
BARE_WORDS = {
    *("at", "of", "on", "by", "in", "to", "for", "from", "with", "without", "within", "across", "between", "before", "after"),
    *("above", "below", "over", "under", "off", "out", "up", "down", "only", "together", "again", "already", "yet", "even"),
    *("lost", "made", "gone", "kept", "left", "found", "given", "wanted", "seen", "taken", "held", "drawn", "written", "chosen"),
    *("known", "done", "met", "set", "put", "run", "sent", "bad", "wrong", "same", "own", "other", "others"),
}
PARTICIPLE = re.compile(r"[a-z]+ed")
NOUNS_IN_ED = {"seed", "need", "feed", "speed", "bed", "embed"}


def split_words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def product_files() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if "node_modules" not in path.parts and not str(relative).startswith(NOT_YET):
                yield path


def python_names(path: Path) -> Iterator[str]:
    """The names that a file gives to others or to readers: modules, classes, functions, fields, parameters, module-level names."""
    yield path.parent.name if path.stem == "__init__" else path.stem
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            yield from (a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
        elif isinstance(node, ast.ClassDef):
            yield node.name
            yield from (m.target.id for m in node.body if isinstance(m, ast.AnnAssign) and isinstance(m.target, ast.Name))
    yield from module_level_names(tree)


def module_level_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def typescript_names() -> Iterator[str]:
    for path in [*sorted((ROOT / "experiment/players/web/src").rglob("*.ts")), *sorted((ROOT / "cli/pages").glob("*.js"))]:
        yield path.stem
        text = path.read_text("utf-8")
        for names in re.findall(r"\b(?:function|class|interface|type|const|let|enum)\s+([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)", text):
            yield from names.split(", ")


def inner_function_names(tree: ast.Module) -> Iterator[str]:
    """The names of functions within functions."""
    for outer in ast.walk(tree):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = (node for node in ast.walk(outer) if node is not outer)
            yield from (node.name for node in inner if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def section_keys(section: type, prefix: str = "") -> Iterator[str]:
    """The keys of study.toml: fields of the sections, with those of the sections in them."""
    for field in fields(section):
        yield field.name
    for nested in vars(study.config).values():
        if isinstance(nested, type) and is_dataclass(nested) and nested.__name__.endswith("Section"):
            yield from (field.name for field in fields(nested))


def option_names(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (option.lstrip("-") for option in parameter.opts)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield name
            if sub := command.get_command(context, name):
                yield from option_names(sub)


def surfaces() -> dict[str, set[str]]:
    return {
        "Python": {name for path in product_files() for name in python_names(path)},
        "TypeScript": {*typescript_names()},
        "tables and columns": {*TABLES, *(column.name for table in TABLES.values() for column in table.columns)},
        "keys": {*section_keys(study.Study)},
        "options": {*option_names(cli)},
    }


@pytest.mark.parametrize("surface", ["Python", "TypeScript", "tables and columns", "keys", "options"])
def test_retired_words_are_in_no_name(surface: str) -> None:
    names = surfaces()[surface]
    assert len(names) > 50
    used = {name: RETIRED[word] for name in names if name not in EXCEPTIONS for word in split_words(name) if word in RETIRED}
    assert used == {}, "each with the word that the field has for it"


def test_every_exception_is_of_a_name_that_is_there() -> None:
    assert {*EXCEPTIONS} <= {name for names in surfaces().values() for name in names}


def test_no_public_name_is_a_bare_participle_or_preposition() -> None:
    """Nor is any module-level name that more than one file has."""
    files_by_name = defaultdict(set)
    for path in product_files():
        for name in module_level_names(ast.parse(path.read_text("utf-8"))):
            files_by_name[name].add(str(path.relative_to(ROOT)))
    bare = {
        name: sorted(files)
        for name, files in files_by_name.items()
        if is_bare(name) and (not name.startswith("_") or len(files) > 1)
    }
    assert bare == {}


def is_bare(name: str) -> bool:
    name = name.strip("_")
    return name in BARE_WORDS or (PARTICIPLE.fullmatch(name) is not None and name not in NOUNS_IN_ED)


def test_no_function_within_another_is_a_bare_participle_or_preposition() -> None:
    names = {str(path.relative_to(ROOT)): inner_function_names(ast.parse(path.read_text("utf-8"))) for path in product_files()}
    assert {(path, name) for path, found in names.items() for name in found if is_bare(name)} == set()


# What comes before analysis, but for what registers the analysis plan.
BEFORE_ANALYSIS = (
    "study/",
    "stimuli/",
    "experiment/",
    "lmscore/",
    "cli/design.py",
    "cli/generate.py",
    "cli/simulate.py",
    "cli/sweep.py",
)
OF_THE_PLAN = ("study/plans.py", "experiment/setup/preregistration.py", "experiment/simulation/")


def test_plan_names_the_analysis_plan_and_nothing_else() -> None:
    """A judgment may be planned, as a verb."""
    paths = {path: str(path.relative_to(ROOT)) for path in product_files()}
    others = {
        (name, where)
        for path, where in paths.items()
        if where.startswith(BEFORE_ANALYSIS) and not where.startswith(OF_THE_PLAN)
        for name in python_names(path)
        if {"plan", "plans", "planner", "planning"} & {*split_words(name)}
    }
    assert others == set()
