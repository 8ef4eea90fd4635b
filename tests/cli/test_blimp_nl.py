"""BLiMP-NL as its authors publish it: 22 files, a phenomenon each, with names that repeat, doubled quotes and a tenth column."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from gardenpath import stimuli

from ..conftest import run_here

HEADER = "Number (phenomenon),Phenomenon,Number (paradigm),Paradigm,Item,Grammaticality,Sentence,Critical word(s),Cue word(s)"
SIZES = [5] * 8 + [4] * 3 + [4, 4, 4] + [3] * 4 + [2] * 4  # paradigms of the 22 phenomena
NAMES = {56: "resumptive_prolepsis", 60: "resumptive_prolepsis", 64: "resumptive_prolepsis", 59: "island", 63: "island"}
DOUBLED = '""Ik leer, zegt zij, dat geit {0} {1} gezeten.""'
STUDY = """
name = "blimp-nl"
language = "nl"
seed = 1

[materials]
files = [{files}]

[design]
lists = 3
experiments = 7
items = 9
ratio = {{ grammatical = 2, ungrammatical = 1 }}

[ordering]
no_adjacent = "paradigm"

[procedure.tasks.acceptability]
kind = "rating"
prompt = "Hoe goed klinkt deze zin?"
low = "heel slecht"
high = "heel goed"
points = 7

[procedure.target]
show = "centred"
ask = ["acceptability"]
"""


def row(phenomenon: int, paradigm: int, item: int, condition: str) -> str:
    """Return a line of a made pair: the same critical word, at the end of one member, after another cue."""
    name = NAMES.get(paradigm, f"hoed_{paradigm}")
    number = (paradigm * 100) + item
    word = "Zes" if condition == "Grammatical" else "Een"
    sentence = f"{word} geiten nummer {number} hebben gezeten, zegt zij."
    if paradigm in (3, 9) and item == 1 and condition == "Grammatical":
        sentence = "Zes geiten van iedereen hebben gezeten."  # two paradigms share a member
    cells = [str(phenomenon), f"F{phenomenon}", str(paradigm), name, str(item + 10 * (paradigm % 5)), condition]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([*cells, sentence, "gezeten", word])
    if paradigm == 7 and item == 2:
        return line.getvalue().replace(f'"{sentence}"', f'""{sentence}""')
    return line.getvalue()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the 22 files, ten items a paradigm, and a study.toml."""
    folder = tmp_path_factory.mktemp("blimp-nl")
    paradigm = 0
    for phenomenon, size in enumerate(SIZES, start=1):
        lines = [HEADER + ("," if phenomenon == 5 else "")]
        for _ in range(size):
            paradigm += 1
            lines += [
                row(phenomenon, paradigm, item, condition) + ("," if phenomenon == 5 else "")
                for item in range(1, 11)
                for condition in ("Grammatical", "Ungrammatical")
            ]
        (folder / f"{phenomenon}. hoeden.csv").write_bytes(("\r\n".join(lines) + "\r\n").encode())
    assert paradigm == 84
    files = ", ".join(f'"{phenomenon}. hoeden.csv"' for phenomenon in range(1, 23))
    (folder / "study.toml").write_text(STUDY.format(files=files))
    return folder


def test_the_made_files_have_the_oddities_of_the_published_ones(published: Path) -> None:
    texts = [path.read_text() for path in published.glob("*.csv")]
    assert sum(text.count('""') for text in texts) == 4
    assert sum("island" in text for text in texts) == 2
    assert sum(text.startswith(f"{HEADER},") for text in texts) == 1


def test_84_paradigms_of_22_phenomena_are_checked_with_warnings_alone(published: Path) -> None:
    done = run_here("gardenpath check study.toml --rules blimp-nl --json", published)
    found = json.loads(done.printed)["findings"]
    assert (done.code, done.said) == (0, done.said)
    assert "84 paradigms, 840 items, 1680 sentences: 0 errors" in done.said
    counts = Counter(f["rule"] for f in found if f["severity"] in ("error", "warning"))
    assert counts["quotes-doubled"] == 2
    assert not {"critical-words", "word-before"} & {*counts}


def test_a_paradigm_has_the_same_name_whichever_files_are_read_with_it(published: Path) -> None:
    whole = stimuli.read(*sorted(published.glob("*.csv")))
    alone = stimuli.read(published / "13. hoeden.csv")
    assert [p.id for p in alone.paradigms] == ["hoed_57", "hoed_58", "island_59", "resumptive_prolepsis_60"]
    assert {p.id for p in alone.paradigms} <= {p.id for p in whole.paradigms}
    assert len(whole.paradigms) == 84
    assert [i for i in whole.items if i.paradigm == "island_59"] == [i for i in alone.items if i.paradigm == "island_59"]


def test_a_file_comes_back_as_it_was(published: Path, tmp_path: Path) -> None:
    before = stimuli.read(published / "13. hoeden.csv")
    assert stimuli.write(before, tmp_path / "again.csv", format="blimp-nl") == []
    assert stimuli.read(tmp_path / "again.csv") == before
    assert {line.split(",")[3] for line in (tmp_path / "again.csv").read_text().splitlines()[1:]} == {
        "hoed_57",
        "hoed_58",
        "island",
        "resumptive_prolepsis",
    }


def stimuli_of(list_path: Path) -> list[str]:
    """Return the sentences that a list file shows."""
    script = json.loads(list_path.read_text())["script"]
    return [" ".join(s["words"]) for step in script["trials"] for s in step["screens"] if "words" in s]


def test_the_design_is_the_published_one_and_nobody_reads_a_sentence_twice(published: Path, tmp_path: Path) -> None:
    done = run_here(f"gardenpath design study.toml -o {tmp_path / 'lists'} --participants 210", published)
    assert done.code == 0, done.said
    texts_by_list = [stimuli_of(path) for path in sorted((tmp_path / "lists").glob("E?-L?.json"))]
    assert len(texts_by_list) == 21
    assert all(len(set(texts)) == len(texts) == 108 for texts in texts_by_list)
    summaries = [line.split(": ", 1)[1] for line in done.printed.splitlines()]
    assert summaries == ["108 trials, 72 grammatical, 36 ungrammatical; a paradigm 6:3"] * 21


def test_a_broken_row_is_left_out_when_asked_and_costs_itself_alone(published: Path, tmp_path: Path) -> None:
    for path in published.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    broken = tmp_path / "22. hoeden.csv"
    broken.write_bytes(broken.read_bytes().replace(b",Ungrammatical,", b",Ungramatical,", 1))
    for command in ("convert '22. hoeden.csv' items.jsonl", "design study.toml"):
        refused = run_here(f"gardenpath {command}", tmp_path)
        assert refused.code == 1
        assert "22. hoeden.csv, line 3: hoed_83-" in refused.said
        done = run_here(f"gardenpath {command} --skip-bad", tmp_path)
        assert done.code == 0, done.said
        assert "left out: " in done.said
    assert "19 items of 2 paradigms" in run_here("gardenpath convert '22. hoeden.csv' b.jsonl --skip-bad", tmp_path).said
    (tmp_path / "corpus.txt").write_text("Zes geiten hebben gezeten, zegt zij.\nEen geit van iedereen.\n")
    done = run_here("gardenpath evaluate '22. hoeden.csv' --model ngram:corpus.txt:2 --skip-bad --no-cache -o out", tmp_path)
    assert done.code == 0, done.said
    assert len((tmp_path / "out" / "pairs.csv").read_text().splitlines()) == 1 + 19
