"""docs/messages.md says why each rule is there and what to do; every message and rule in it is one of the code's."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache

import pytest

from gardenpath import stimuli
from gardenpath.stimuli.checks import BLIMP_NL_RULES

from ..conftest import ROOT

PAGE = (ROOT / "docs" / "messages.md").read_text("utf-8")
PACKAGES = ("study", "stimuli", "experiment", "analysis", "lmscore", "cli")
GAP = "…"


def tables() -> Iterator[list[list[str]]]:
    """Yield the cells of each table, those of its header first."""
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()]
        yield [rows[0], *rows[2:]]


def column(heading: str) -> list[str]:
    """Return what stands in code in the first column of all tables with this heading."""
    rows = [row for one in tables() if one[0][0] == heading for row in one[1:]]
    return [row[0].strip("`").replace("\\|", "|") for row in rows]


@cache
def said() -> str:
    """Return every text of the code, one a line, with a gap for what is filled in."""
    texts = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "node_modules" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    texts.append("".join(str(one.value) if isinstance(one, ast.Constant) else GAP for one in node.values))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.append(node.value)
    return "\n".join(texts)


def test_the_rules_of_check_are_those_of_the_code_with_severity_and_reason() -> None:
    [table] = [one for one in tables() if one[0] == ["rule", "severity", "why", "what to do"]]
    assert [row[:3] for row in table[1:]] == [[f"`{rule.id}`", rule.severity, rule.reason] for rule in stimuli.RULES]
    assert all(row[3] for row in table[1:])
    of_blimp_nl = PAGE.partition("With `--rules blimp-nl`,")[2].partition(" are errors")[0]
    assert {*re.findall(r"`([\w-]+)`", of_blimp_nl)} == BLIMP_NL_RULES


def test_rules_of_reading_a_file_are_those_of_the_code() -> None:
    """The first argument of `Finding` and the third of `add_warning`, in the formats; `check` itself adds `waiver`."""
    found = {"waiver"}
    for path in (ROOT / "stimuli" / "formats").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Finding", "add_warning"):
                rule = node.args[0 if node.func.id == "Finding" else 2]
                found |= {rule.value} if isinstance(rule, ast.Constant) else set()
    assert {*column("rule")} - {rule.id for rule in stimuli.RULES} == found


def test_the_texts_at_the_end_of_a_visit_are_those_that_participants_read() -> None:
    texts = tomllib.loads((ROOT / "experiment" / "texts" / "endings.toml").read_text("utf-8"))
    assert column("text") == [name for name in texts["en"] if not name.startswith("kiosk_")]


@pytest.mark.parametrize("message", column("message"))
def test_a_message_of_the_page_is_said_by_the_code(message: str) -> None:
    """A gap at an end may be anything, even the place, which is put before a fault later."""
    assert message.strip(f"{GAP} :;,") in said(), f"docs/messages.md has a message that the code does not say: {message}"


def test_check_leads_to_the_page() -> None:
    assert "docs/messages.md" in (ROOT / "cli" / "check.py").read_text("utf-8")
    assert re.search(r"^messages$", (ROOT / "docs" / "index.md").read_text("utf-8"), re.MULTILINE)
