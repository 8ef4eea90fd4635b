"""gardenpath maze: from items to distractors, to the table that somebody edits, and to sessions of the study."""

import json
from pathlib import Path

import pytest

from gardenpath import stimuli, study

from ..conftest import run_here

pytestmark = pytest.mark.lm

ITEMS = """paradigm,phenomenon,item,condition,sentence
number,agreement,i1,grammatical,"The cat in Rome, I know, [was] on a table."
number,agreement,i1,ungrammatical,"The cat in Rome, I know, [were] on a table."
number,agreement,i2,grammatical,The boys who sat there [blame] it.
number,agreement,i2,ungrammatical,The boys who sat there [blames] it.
"""
STUDY = """name = "maze"
language = "en"
seed = 1

[materials]
files = ["made/items.csv"]

[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2
practice = [{ sentence = "She slept well.", alternatives = "x-x-x nor thirds." }]

[procedure.target]
show = "maze"

[procedure.tasks.maze]
kind = "maze"
"""
MAZE = "gardenpath maze items.csv --model model --no-cache --device cpu -o made --surprisal 18 --margin 2 --length 2 --zipf 1.5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with items, a study and a small model."""
    from ..lmscore.conftest import gpt2

    folder = tmp_path_factory.mktemp("maze")
    gpt2(folder / "model")
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(STUDY)
    return folder


def test_a_maze_study_from_its_items_to_its_readings(folder: Path) -> None:
    made = run_here(f"{MAZE} --held-out model", folder)
    assert made.code == 0, made.said
    assert made.printed.startswith("Words of wordfreq, Zipf within 1.5, letters within 2; 18 bits at least and 2 more than")
    assert "Of 15 places of 2 items 15 have a distractor." in made.printed
    assert "Under the held-out model they cost" in made.printed
    assert made.printed.splitlines()[1] in (folder / "made" / "report.md").read_text()
    assert (folder / "made" / "distractor_margins.svg").read_text().startswith("<svg")
    assert "--force" in run_here(MAZE, folder).said

    table = folder / "made" / "distractors.csv"
    first, second = study.read(table, "distractors")["distractor"][:2]
    text = table.read_text().replace(f",{first},", ",oven,", 1).replace(f",{second},,", f",,{second},", 1)
    (folder / "edited.csv").write_text(text)
    again = run_here(f"{MAZE} --edited-distractors edited.csv --force", folder)
    assert again.code == 0, again.said
    assert study.read(table, "distractors")["distractor"][0] == "oven"
    assert study.read(table, "distractors")["distractor"][1] not in (second, None)
    sentence = stimuli.read(folder / "made" / "items.csv").items[0].sentences["grammatical"]
    assert (sentence.alternatives or ())[:2] == ("x-x-x", "oven")

    for line in (
        "check study.toml",
        "design study.toml",
        "simulate study.toml --participants 4 --seed 1 -o data",
        "collect data -o tables",
    ):
        ran = run_here(f"gardenpath {line}", folder)
        assert ran.code == 0, f"{line}\n{ran.printed}{ran.said}"
        assert "alternative" not in ran.printed
    readings = study.read(folder / "tables", "readings")
    assert readings["rt_first"].notna().all()
    assert readings["correct"].notna().all()


def test_words_without_a_distractor_end_it_with_1_after_all_is_written(folder: Path) -> None:
    ran = run_here(f"{MAZE.replace('made', 'none')} --surprisal 90 --candidates 5", folder)
    assert ran.code == 1
    assert (
        "15 positions without a distractor, whose sentences have no alternatives; write words into none/distractors.csv" in ran.said
    )
    assert "15 places found none:\n  - i1, start 2 (cat): none of 5 candidates is improbable enough" in ran.printed
    assert stimuli.read(folder / "none" / "items.csv").items[0].sentences["grammatical"].alternatives is None


def test_pseudowords_need_no_model_and_words_never_used_stay_away(folder: Path) -> None:
    (folder / "never.txt").write_text("upon\n")
    ran = run_here("gardenpath maze items.csv --pseudowords --length 3 --exclude never.txt --json -o pseudo", folder)
    assert ran.code == 0, ran.said
    assert len(json.loads(ran.printed)["distractors"]) == 15
    assert not (folder / "pseudo" / "distractor_margins.svg").exists()
    refused = run_here("gardenpath maze items.csv -o none2", folder)
    assert (refused.code, len(refused.said.splitlines())) == (2, 1)
    assert "no model to choose by; expected a causal model, such as gpt2 (--model), or pseudowords" in refused.said


def test_the_language_may_be_stated_and_a_segmentation_is_kept(folder: Path) -> None:
    (folder / "words.txt").write_text("吃\n山水\n高兴\n睡觉\n狗\n", "utf-8")
    sentence = stimuli.Sentence("我喜欢猫。", segmentation=((0, 1), (1, 3), (3, 5)))
    item = stimuli.Item("i1", "p", {"only": sentence}, "zh")
    paradigm = stimuli.Paradigm("p", "f", {"a": ("only",)})
    stimuli.write(stimuli.Materials((paradigm,), (item,)), folder / "zh.jsonl")
    ran = run_here("gardenpath maze zh.jsonl --model model --no-cache --words words.txt --surprisal 1 --margin -90 -o zh", folder)
    assert ran.code == 0, ran.said
    made = stimuli.read(folder / "zh" / "items.csv").items[0].sentences["only"]
    assert made.segmentation == sentence.segmentation
    assert not (folder / "zh" / "items.jsonl").exists()
    german = run_here("gardenpath maze items.csv --language de --pseudowords --length 3 -o de", folder)
    assert german.code == 0, german.said
    assert stimuli.read(folder / "de" / "items.csv").items[0].language == "de"
