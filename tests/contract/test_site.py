"""The site of the documentation: it builds without a warning, loads nothing from elsewhere, and its reference is that of the code."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from gardenpath import study

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "experiment" / "setup" / "study.schema.json"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with warnings as errors, built in a folder of its own."""
    pytest.importorskip("furo", reason="the dependency group docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / "trees")]
    built = subprocess.run([*call, str(ROOT / "docs"), str(folder / "html")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.mark.slow
def test_the_site_has_every_page_every_table_and_every_public_function(site: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}
    reachable = set(re.findall(r'class="reference internal" href="([\w-]+)\.html"', (site / "index.html").read_text()))
    assert pages - {"index"} <= reachable
    tables = (site / "reference" / "tables.html").read_text()
    assert not [name for name in study.TABLES if f"<h3>{name}<" not in tables]
    assert 'id="gardenpath.stimuli.read"' in (site / "reference" / "stimuli.html").read_text()


@pytest.mark.slow
def test_the_site_asks_nobody_else_for_anything(site: Path) -> None:
    loaded = re.compile(r'(?:<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=")(https?:[^"]*)')
    assert not [found for page in site.rglob("*.html") for found in loaded.findall(page.read_text())]
    assert not [path for path in site.rglob("*.css") if re.search(r"@import|url\(\s*['\"]?https?:", path.read_text())]


def test_the_schema_of_study_toml_is_that_of_the_types_and_the_docs() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import reference_pages
    finally:
        sys.path.pop(0)
    assert SCHEMA.read_text("utf-8") == reference_pages.format_schema(), "python docs/reference_pages.py"


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*/study.toml")), ids=lambda path: path.parent.name)
def test_the_schema_takes_what_gardenpath_takes_and_refuses_a_misspelt_key(path: Path) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    stated = tomllib.loads(path.read_text("utf-8"))
    assert not list(validator.iter_errors(stated))
    assert list(validator.iter_errors({**stated, "design": {**stated["design"], "list": 3}}))
    name, task = next(iter(stated["procedure"].get("tasks", {}).items()), ("", {}))
    if name:
        broken = {**stated["procedure"], "tasks": {name: {**task, "promt": "?"}}}
        assert list(validator.iter_errors({**stated, "procedure": broken}))
