"""Materials in a notebook: read from a table in memory, and shown in few words."""

from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Design, Item, Materials, Paradigm, Sentence

EXAMPLE = Path(stimuli.__file__).parent.parent / "examples" / "minimal-pairs"


def test_a_table_in_memory_is_read_as_the_file_is() -> None:
    table = pd.read_csv(EXAMPLE / "items.csv")
    assert stimuli.read(table) == stimuli.read(EXAMPLE / "items.csv")
    assert stimuli.read(table[table["paradigm"] == table["paradigm"][0]], language="nl").items[0].language == "nl"


def test_what_is_wrong_with_a_table_is_told_with_its_row() -> None:
    table = pd.read_csv(EXAMPLE / "items.csv")
    table.loc[3, "sentence"] = None
    with pytest.raises(study.DataError, match=r"\(table\), line 5: .*: the sentence is empty"):
        stimuli.read(table)


def test_materials_and_lists_are_shown_in_a_line() -> None:
    sentences = {"grammatical": Sentence("x"), "ungrammatical": Sentence("y")}
    paradigm = Paradigm("<p>", "a & b")
    materials = Materials((paradigm,), (Item("i1", "<p>", sentences), Item("i2", "<p>", sentences)))
    assert repr(materials) == "Materials(1 paradigm, 2 items, 4 sentences)"
    assert materials._repr_html_() == (
        "<table><tr><th>paradigm</th><th>phenomenon</th><th>conditions</th><th>items</th></tr>"
        "<tr><td>&lt;p&gt;</td><td>a &amp; b</td><td>grammatical, ungrammatical</td><td>2</td></tr></table>"
    )
    trial_list, _ = Design(lists=2, practice=["One."]).build_trial_lists(materials, seed=1)
    assert repr(trial_list) == "TrialList(E1-L1: 1 practice, 2 target)"
    assert "<td>target</td><td>&lt;p&gt;</td><td>grammatical</td><td>1</td>" in trial_list._repr_html_()
