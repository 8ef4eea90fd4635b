"""gardenpath judge asks models for judgments: tables with sidecars, faults in a line, a bad model or item beside good ones."""

import json
from pathlib import Path

import pandas as pd
import pytest

from ..conftest import run_here

pytestmark = pytest.mark.lm

ITEMS = """phenomenon,paradigm,item,condition,sentence
agreement,number,i1,grammatical,the dog barks
agreement,number,i1,ungrammatical,the dog bark
agreement,number,i2,grammatical,the dog barks and the dog barks
agreement,number,i2,ungrammatical,the dog barks and the dog bark
"""
OWN = """language = "en"
[[templates]]
type = "yes_no"
id = "bare"
user = "{{ sentence }}"
labels = ["Yes", "No"]
[[templates]]
type = "ab"
id = "bare"
user = "{{ a }} and {{ b }}"
labels = ["A", "B"]
"""


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose probabilities are written by hand."""
    pytest.importorskip("torch", reason="the extra lm is not installed")
    from ..lmscore.prompting import by_hand
    from ..lmscore.test_judging import TABLE

    return by_hand(tmp_path_factory.mktemp("hand"), TABLE)


@pytest.fixture
def folder(tmp_path: Path, hand: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two pairs, templates and the model."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "hand").symlink_to(hand)
    return tmp_path


def test_judgments_and_accuracies_are_written_with_how_they_were_asked(folder: Path) -> None:
    line = "gardenpath judge items.csv --model hand --templates own.toml --method yes_no --method ab --method lp --both-orders"
    ran = run_here(f"{line} -o out", folder)
    assert ran.code == 0, ran.said
    table = pd.read_csv(folder / "out" / "judgments.csv").set_index(["method", "item"])
    assert table.loc[("yes_no", "i1"), ["score_grammatical", "score_ungrammatical"]].tolist() == pytest.approx([0.75, 0.25])
    assert table.loc[("lp", "i1"), "template"] == "none"
    assert set(table.loc["ab", "order"]) == {"both"}
    accuracies = pd.read_csv(folder / "out" / "method_accuracies.csv").query("phenomenon == 'all'")
    assert accuracies.set_index("method")["accuracy"].to_dict() == {"lp": 1.0, "ab": 1.0, "yes_no": 1.0}
    sidecar = json.loads((folder / "out" / "judgments.csv.meta.json").read_text())
    assert any(path.endswith("own.toml") for path in map(str, sidecar["inputs"]))
    [model] = sidecar["models"]
    assert model["architecture"] == "GPT2LMHeadModel"
    assert model["asked"]["chat_template"] is False
    assert {one["user"] for one in model["asked"]["templates"]} == {"{{ sentence }}", "{{ a }} and {{ b }}"}
    assert "yes_no" in ran.printed
    again = run_here(f"{line} -o out", folder)
    assert again.code == 2
    assert "--force" in again.said
    forced = run_here(f"{line} -o out --force --json", folder)
    assert json.loads(forced.printed)["method_accuracies"][0]["model"] == "hand"


def test_a_model_that_cannot_be_asked_does_not_keep_the_others_from_it(folder: Path) -> None:
    (folder / "corpus.txt").write_text("the dog barks\n")
    line = "gardenpath judge items.csv --model ngram:corpus.txt --model hand --templates own.toml --method yes_no -o out"
    ran = run_here(line, folder)
    assert ran.code == 1
    assert "1 of 2 models could not be used" in ran.said
    assert "an n-gram model, which answers no prompts; expected a causal model, such as gpt2" in ran.said
    assert set(pd.read_csv(folder / "out" / "judgments.csv")["model"]) == {"hand"}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("--model hand --method yes_no --template 7", 2, "--template 7: no template has this id; expected one of 1, 2, 3"),
        ("--model hand --method yesno", 2, "'yesno' is not one of"),
        ("--model hand --method rate_generated", 1, "has no chat template to answer by; expected rate"),
        ("--model hand --language tr", 1, "there is no template of any type in 'tr'; expected a language of en, nl, zh"),
        ("--model hand --templates items.csv", 2, "items.csv: not a file of templates; expected .toml"),
        ("--model hand --model hand", 2, "a model is given twice"),
        ("--model hand --unigrams items.csv", 2, "No such option"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_line(folder: Path, options: str, code: int, said: str) -> None:
    ran = run_here(f"gardenpath judge items.csv {options} -o out", folder)
    assert (ran.code, "Traceback" in ran.said) == (code, False), ran.said
    assert said in ran.said
    assert not (folder / "out").exists()
