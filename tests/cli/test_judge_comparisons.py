"""gardenpath judge compares judgments again without a model, beside people and groups, with votes and selections asked for."""

import json
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli, study

from ..analysis.test_voting import made
from ..conftest import run_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with earlier judgments and the pairs they are of, four paradigms of which differ in word order alone."""
    table = made()
    study.write(table, "judgments", tmp_path / "earlier", command="made by a test")

    def item(name: str, paradigm: str) -> stimuli.Item:
        bad = "Him saw she." if paradigm < "p04" else "She seen him."
        sentences = {"grammatical": stimuli.Sentence("She saw him."), "ungrammatical": stimuli.Sentence(bad)}
        return stimuli.Item(name, paradigm, sentences)

    places = table[["item", "paradigm"]].drop_duplicates().to_numpy()
    paradigms = tuple(stimuli.Paradigm(*names) for names in table[["paradigm", "phenomenon"]].drop_duplicates().to_numpy())
    more = item("never-judged", "p00")
    stimuli.write(stimuli.Materials(paradigms, (*(item(*place) for place in places), more)), tmp_path / "pairs.jsonl")
    return tmp_path


def test_judgments_are_compared_again_without_a_model(folder: Path) -> None:
    line = "gardenpath judge pairs.jsonl --compare-with earlier --split-by word_shuffling --select held-out --select held-out-paradigms"
    ran = run_here(f"{line} --draws 10 --ensemble yes_no:3,template_lp:2 --ensemble ab:3 -o out", folder)
    assert ran.code == 0, ran.said
    assert not (folder / "out" / "judgments.csv").exists()
    votes = pd.read_csv(folder / "out" / "ensembles.csv").set_index(["ensemble", "selection"])
    assert {name for name, _ in votes.index} == {
        "3 yes_no + 2 template_lp", "3 ab", "1 template_lp", "1 yes_no", "1 ab",
    }  # fmt: skip
    assert {*votes.loc["3 ab"].index} == {"all", "drawn", "test set", "held-out pairs", "held-out paradigms"}
    groups = pd.read_csv(folder / "out" / "method_groups.csv").set_index(["method", "level"])
    assert groups.loc[("lp", "shuffled"), "n_paradigms"] == 4
    assert "majority of 3 Yes/No probability + 2 in-template LP" in ran.printed
    assert "mean of 10 drawn" in ran.printed
    assert "an oracle: it is chosen on the test set" in ran.printed
    again = run_here(f"{line} --json -o again", folder)
    assert json.loads(again.printed)["method_comparisons"][0]["reference_method"] == "lp"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "Missing option '--model', or --compare-with for judgments of an earlier run"),
        ("--compare-with earlier --ensemble yes_no", "'yes_no': 'yes_no'; expected METHOD:TEMPLATES, such as yes_no:3,template_lp:2"),
        ("--compare-with earlier --ensemble nobody:3", "'nobody:3'; expected METHOD:TEMPLATES"),
        ("--compare-with earlier --ensemble yes_no:6", "m was judged under 5 templates of yes_no"),
        ("--compare-with earlier --select test", "'test' is not one of 'held-out', 'held-out-paradigms'"),
        ("--compare-with nowhere", "nowhere"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said_in_a_line(folder: Path, options: str, said: str) -> None:
    ran = run_here(f"gardenpath judge pairs.jsonl {options} -o out", folder)
    assert ran.code
    assert said in ran.said
    assert "Traceback" not in ran.said
