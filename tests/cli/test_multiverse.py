"""gardenpath multiverse: its cost first, what is finished kept, its table beside the results, and the report that has it."""

import json
import shutil
from pathlib import Path

import pytest

from gardenpath import study

from ..conftest import ROOT, run_here

CHOICES = """
[analysis.multiverse]
covariates = []
random_effects = ["intercepts"]
transformations = ["ms"]
regions = ["critical+1"]
[analysis.multiverse.exclusions]
"200 to 2000 ms" = { min_rt = 200, max_rt = 2000 }
"""
COMMAND = "gardenpath multiverse tables --study study.toml -o results"
FITS = "multiverse-fits.jsonl"


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The relative clauses, read and rated by 12 simulated participants, without the questions, whose models take long."""
    folder = Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path_factory.mktemp("relatives") / "study"))
    text = (folder / "study.toml").read_text()
    for part in ("task_shares = { comprehension = 0.5 }", '[procedure.tasks.comprehension]\nkind = "question"'):
        assert part in text
        text = text.replace(part, "")
    text = text.replace('ask = ["comprehension", "acceptability"]', 'ask = ["acceptability"]')
    (folder / "study.toml").write_text(text + CHOICES)
    for line in (
        "gardenpath design study.toml",
        "gardenpath simulate study.toml --participants 12 --seed 4 -o data",
        "gardenpath collect data -o tables",
    ):
        done = run_here(line, folder)
        assert done.code == 0, done.said
    return folder


@pytest.fixture(scope="module")
def ran(collected: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(collected, tmp_path_factory.mktemp("ran") / "study"))
    for line in ("gardenpath analyse tables --study study.toml -o results", f"{COMMAND} --figures"):
        done = run_here(line, folder)
        assert done.code == 0, done.said
    return folder


def test_the_cost_is_said_before_and_nothing_is_written_in_a_dry_run(collected: Path) -> None:
    done = run_here(f"{COMMAND} --dry-run", collected)
    assert done.code == 0
    assert "a model at most; the choices:  gardenpath plan" in done.said
    assert " fits: specifications with the same trials and model share one" in done.said
    assert "on 1 worker for the " in done.said
    assert not (collected / "results").exists()


def test_table_text_and_figures_are_there_and_the_finished_fits_are_gone(ran: Path) -> None:
    table = study.read(ran / "results", "multiverse")
    times = table[table["response"] == "log_rt"]
    assert set(times["region"]) == {"critical", "critical+1"}
    assert set(times["exclusions"]) == {"as planned", "200 to 2000 ms"}
    effects = study.read(ran / "results", "effects").query("kind == 'coefficient'").set_index(["model_id", "term"])["estimate"]
    planned = table[table["declared"]].set_index(["model_id", "term"])["estimate"]
    assert (planned.dropna() == effects.reindex(planned.dropna().index)).all()
    text = (ran / "results" / "multiverse.md").read_text()
    assert "no test is made over specifications" in text
    assert "Simonsohn, U." in text
    assert len([*(ran / "results" / "multiverse-figures").glob("*.svg")]) == len(table.groupby(["model_id", "term"]))
    assert not (ran / "results" / FITS).exists()


def test_what_is_there_is_not_overwritten(ran: Path) -> None:
    done = run_here(COMMAND, ran)
    assert done.code == 2
    assert "multiverse.csv" in done.said


def test_fits_of_an_interrupted_run_are_taken_and_a_line_that_was_cut_off_is_not(ran: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ran, tmp_path / "study"))
    whole = (folder / "results" / "multiverse.csv").read_text()
    (folder / "results" / "multiverse.csv").unlink()
    from gardenpath.analysis.fitting.multiverse import fit_wanted, prepare_multiverse
    from gardenpath.cli import multiverse
    from gardenpath.cli.plan import resolve_design_plan

    config = study.load(folder)
    names = ("readings", "responses", "sessions", "items", "conditions", "words")
    tables = {name: study.read(folder / "tables", name) for name in names}
    prepared = prepare_multiverse(tables, config.analysis, resolve_design_plan(config))
    gaussian = [one for one in prepared.fits.values() if one.model.family == "gaussian"]
    records = [fit_wanted(one) for one in gaussian]
    for record in records:  # that they are taken and not made again shows in a number that no fit has
        for tests in record["tests"].values():
            tests["se"] = 123.0
    lines = [json.dumps({"by": multiverse._list_programs(), **record}) for record in records]
    other = json.dumps({"by": {"glmm": "0.0.0"}, **records[0]})
    (folder / "results" / FITS).write_text("\n".join([*lines, other, lines[0][:40]]))
    done = run_here(f"{COMMAND} --force", folder)
    assert done.code == 0, done.said
    assert f"{len(records)} of them done before" in done.said
    table = study.read(folder / "results", "multiverse")
    assert (table.loc[table["response"].isin(["z", "log_rt"]), "se"].dropna() == 123.0).all()
    assert (folder / "results" / "multiverse.csv").read_text() != whole


def test_the_report_shows_it_and_refuses_one_of_other_data(ran: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ran, tmp_path / "study"))
    done = run_here("gardenpath report study.toml -o report.html --no-figures", folder)
    assert done.code == 0, done.said
    page = (folder / "report.html").read_text()
    assert "specifications_1-" in page
    assert "specifications the median is" in page
    table = study.read(folder / "results", "multiverse")
    study.write(table.assign(estimate=table["estimate"] + 1), "multiverse", folder / "results", command="")
    done = run_here("gardenpath report study.toml -o report.html --no-figures --force", folder)
    assert done.code == 1
    assert "in effects beside it: one is of other data or settings; run  gardenpath multiverse  again, or delete it" in done.said
    study.write(table.assign(plan_sha256="0" * 64), "multiverse", folder / "results", command="")
    done = run_here("gardenpath report study.toml -o report.html --no-figures --force", folder)
    assert done.code == 1
    assert "of another plan than the results beside it" in done.said


def test_plan_and_preregistration_state_the_choices_and_deviations_compares_them(collected: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(collected, tmp_path / "study", ignore=shutil.ignore_patterns("data", "tables")))
    printed = run_here("gardenpath plan study.toml", folder).printed
    assert "Multiverse, each combination of these choices" in printed
    assert "- exclusions 200 to 2000 ms: min_rt = 200, max_rt = 2000" in printed
    done = run_here("gardenpath preregister study.toml --participants 12 -o page.md", folder)
    assert done.code == 0, done.said
    page = (folder / "page.md").read_text()
    assert "## Multiverse" in page
    assert "scale: log, ms" in page
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('transformations = ["ms"]', 'transformations = ["-1000/ms"]'))
    done = run_here("gardenpath deviations study.toml page.md -o results", folder)
    assert done.code == 0, done.said
    table = study.read(folder / "results", "deviations")
    changed = table[table["kind"] == "multiverse"].set_index("key")
    assert changed.loc["analysis.multiverse.transformations", "found"] == '["-1000/ms"]'
    [of_plan] = [key for key in changed.index if key.startswith("plan.multiverse.")]
    assert "log; ms" in changed.loc[of_plan, "registered"]
    assert "log; -1000/ms" in changed.loc[of_plan, "found"]


def test_too_many_choices_are_refused_with_their_number(collected: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(collected, tmp_path / "study"))
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("covariates = []", "covariates = []\nmost_fits = 3"))
    done = run_here(COMMAND, folder)
    assert done.code == 1
    assert "16 fits of " in done.said
    assert "and most_fits is 3; expected fewer choices, or most_fits = 16" in done.said
    assert "Traceback" not in done.said
