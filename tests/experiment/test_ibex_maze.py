"""Results of Ibex-Maze become readings with both times, as those of our own maze are."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment

COLUMNS = (
    "Time results were received",
    "MD5 hash of participant's IP address",
    "Controller name",
    "Item number",
    "Element number",
    "Type",
    "Group",
    "Word number",
    "Word",
    "Alternative",
    "Word on (0=left, 1=right)",
    "Correct",
    "Reading time to first answer",
    "Sentence",
    "Total time to correct answer",
)
HEAD = "# Results on Wednesday December 26 2018 10:20:06 UTC.\n# USER AGENT: Mozilla/5.0\n" + "".join(
    f"# {n}. {name}.\n" for n, name in enumerate(COLUMNS, start=1)
)
MATERIALS = (
    "paradigm,phenomenon,item,condition,sentence,factors\n"
    'p,f,7,a,"Yes, she [slept].","c: a, b"\np,f,7,b,"Yes, he [slept].",\n'
    'p,f,8,a,"No, she [slept].",\np,f,8,b,"No, he [slept].",\n'
)


def rows(item: int, kind: str, words: list[tuple[str, str, str, str]]) -> str:
    """The rows of a sentence: word, correct, time to the first answer, time to the right one."""
    sentence = "%2C".join(" ".join(word for word, *_ in words).split(","))
    return "".join(
        f"1545819607,0123456789abcdef,Maze,{item},0,{kind},{item + 3},{n},{word.replace(',', '%2C')},x-x-x,{n % 2},{right},{first},"
        f"{sentence},{total}\n"
        for n, (word, right, first, total) in enumerate(words)
    )


ENDED = [("Yes,", "yes", "1200", "1200"), ("she", "no", "640", "640"), ("slept.", "no", "None", "None")]
CORRECTED = [("No,", "yes", "900", "900"), ("he", "no", "500", "1850"), ("slept.", "yes", "730", "730")]


def collected(tmp_path: Path, text: str, **options: Any) -> dict[str, pd.DataFrame]:
    (tmp_path / "results.txt").write_text(HEAD + text)
    (tmp_path / "items.csv").write_text(MATERIALS)
    materials = tmp_path / "items.csv"
    return experiment.collect(tmp_path / "results.txt", platform="pcibex", materials=materials, **options)


def test_both_times_of_a_choice_come_back(tmp_path: Path) -> None:
    readings = collected(tmp_path, rows(4, "a", ENDED) + rows(5, "b", CORRECTED))["readings"]
    told = readings[["item", "condition", "word", "text", "region", "rt", "rt_first", "correct"]].astype(object)
    assert told.where(told.notna(), None).to_numpy().tolist() == [
        ["7", "a", 0, "Yes,", None, 1200, 1200, True],
        ["7", "a", 1, "she", None, None, 640, False],
        ["7", "a", 2, "slept.", "critical", None, None, None],
        ["8", "b", 0, "No,", None, 900, 900, True],
        ["8", "b", 1, "he", None, 1850, 500, False],
        ["8", "b", 2, "slept.", "critical", 730, 730, True],
    ]


def test_a_sentence_whose_words_are_not_counted_from_0_is_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = rows(4, "a", ENDED) + rows(5, "b", CORRECTED).replace(",2,slept.", ",3,slept.")
    with caplog.at_level(logging.WARNING, "gardenpath"):
        readings = collected(tmp_path, text)["readings"]
    assert set(readings["item"]) == {"7"}
    assert "words of a maze are numbered 0, 1, 3; expected 0 to 2; it is left out" in caplog.text


def test_a_choice_that_is_neither_right_nor_wrong_stays_empty_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "gardenpath"):
        readings = collected(tmp_path, rows(4, "a", [ENDED[0], ("she", "maybe", "640", "640"), ENDED[2]]))["readings"]
    assert readings["rt_first"].notna().tolist() == [True, False, False]
    assert "a choice is 'maybe' after '640' ms; expected yes or no" in caplog.text
