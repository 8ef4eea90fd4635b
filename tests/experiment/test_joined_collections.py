"""Several collections become one set of tables, and what was mended since the first counts from the second alone."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.analysis.cleaning.exclusions import apply_exclusions
from gardenpath.analysis.exclusion_log import ExclusionLog

from ..conftest import ROOT, run_here

Tables = dict[str, pd.DataFrame]
OLD, NEW = "npi-01", "npi-01b"


def taken(folder: Path, replace: Sequence[tuple[str, str]] = ()) -> Path:
    """Return the data of three robots in the example study, with its items changed."""
    shutil.copytree(ROOT / "examples" / "minimal-pairs", folder)
    items = folder / "items.csv"
    heading, *rows = items.read_text("utf-8").splitlines()
    mended = [f"{row}," for row in rows]
    for old, new in replace:
        mended = [re.sub(old, new, row) for row in mended]
    items.write_text("\n".join([f"{heading},replaces", *mended]) + "\n", "utf-8")
    experiment.simulate(experiment.build_list_files(study.load(folder)), folder / "data", participants=3, seed=1)
    return folder / "data"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A collection, and a retest in which one item was mended."""
    folder = tmp_path_factory.mktemp("joined")
    mended = (rf",{OLD},(.*?)seminar(.*),$", rf",{NEW},\1lecture\2,{OLD}")
    return taken(folder / "first"), taken(folder / "retest", [mended])


@pytest.fixture(scope="module")
def both(data: tuple[Path, Path]) -> Tables:
    return experiment.collect(data)


def test_everybody_and_everything_is_there_once(data: tuple[Path, Path], both: Tables) -> None:
    """Robots of one seed have the same labels in both: they are six people all the same."""
    alone = [experiment.collect(one) for one in data]
    assert sorted(both["sessions"]["participant"]) == sorted(
        f"{n}-{who}" for n, tables in enumerate(alone, start=1) for who in tables["sessions"]["participant"]
    )
    for name in ("readings", "responses", "sessions"):
        assert len(both[name]) == sum(len(tables[name]) for tables in alone)
    shown = {(row.item, row.condition): row.sentence for tables in alone for row in tables["items"].itertuples()}
    ours = {(row.item, row.condition): row.sentence for row in both["items"].itertuples()}
    assert ours == shown
    assert {OLD, NEW} <= {item for item, _ in ours}
    assert both["replacements"].to_numpy().tolist() == [[NEW, OLD]]
    assert set(both["readings"]["experiment"]) >= {"1-E1", "2-E1"}


def test_the_data_of_an_item_that_was_replaced_do_not_count(both: Tables) -> None:
    ledger = ExclusionLog()
    of = [both[name] for name in ("readings", "responses", "sessions", "items")]
    stated = study.ExcludeSection(min_accuracy=0, items={"npi-02": "the verb is misspelt", NEW: "the verb is misspelt"})
    readings, responses, *_ = apply_exclusions(*of, replacements=both["replacements"], exclude=stated, exclusion_log=ledger)
    kept = set(readings["item"]) | set(responses["item"])
    assert kept == (set(both["readings"]["item"]) | set(both["responses"]["item"])) - {OLD, NEW, "npi-02"}
    steps = ledger.build_table().query("condition == 'all' and table == 'responses'").set_index("rule")["n_excluded"]
    for rule, gone in (("replaced by another item", [OLD]), ("the verb is misspelt", ["npi-02", NEW])):
        assert steps[f"item left out: {rule}"] == both["responses"]["item"].isin(gone).sum() > 0


def test_items_that_differ_and_collections_named_twice_are_refused(data: tuple[Path, Path], tmp_path: Path) -> None:
    other = taken(tmp_path / "other", [(r"seminar", "lecture")])
    done = run_here(f"gardenpath collect {data[0]} {other} -o tables", tmp_path)
    assert done.code == 1
    assert f"item {OLD}, condition grammatical: sentence is 'No student in the seminar" in done.said
    assert f"in {other}; expected the same, or another id for what has changed, with  replaces" in done.said
    assert "named twice" in run_here(f"gardenpath collect {other} {other} -o tables", tmp_path).said


def test_an_item_that_is_not_there_and_one_without_a_reason_are_refused(both: Tables) -> None:
    of = [both[name] for name in ("readings", "responses", "sessions", "items")]
    with pytest.raises(study.DataError, match=r"exclude\.items names 'npi-99', which is not in table items; expected one of"):
        apply_exclusions(*of, exclude=study.ExcludeSection(items={"npi-99": "wrong"}))
    with pytest.raises(ValueError, match=r"items\.npi-01 has no reason; expected why the item is left out"):
        study.ExcludeSection(items={OLD: " "})
