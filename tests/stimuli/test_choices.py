"""Answers to comprehension questions: yes and no in the item's language, or any that are stated."""

import tomllib
from pathlib import Path

import pytest

from gardenpath import experiment, stimuli, study

HEAD = "paradigm,phenomenon,item,condition,sentence,language,question,answer,choices"


def source(tmp_path: Path, *rows: tuple[str, str, str], language: str = "de", head: str = HEAD) -> Path:
    """Write an item with these (question, answer, choices) in its two conditions."""
    path = tmp_path / "items.csv"
    lines = [
        f"p,f,i1,{condition},Der Hund {condition}.,{language},{','.join(row)}"
        for condition, row in zip(("grammatical", "ungrammatical"), rows, strict=True)
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


@pytest.mark.parametrize("answer", ["yes", "ja", "Ja"])
def test_yes_and_no_are_said_in_the_language_of_the_item(tmp_path: Path, answer: str) -> None:
    (item,) = stimuli.read(source(tmp_path, ("Bellt er?", answer, ""), ("Bellt er?", "no", ""))).items
    assert item.question == stimuli.Question("Bellt er?", {"grammatical": "ja", "ungrammatical": "nein"}, ("ja", "nein"))


def test_the_language_of_the_study_counts_where_items_state_none(tmp_path: Path) -> None:
    path = source(tmp_path, ("Bellt er?", "yes", ""), ("Bellt er?", "no", ""), language="")
    (item,) = stimuli.read(path, language="tr").items
    assert item.language == "tr"
    assert item.question is not None
    assert item.question.choices == ("evet", "hayır")
    assert stimuli.read(path).items[0].language == "en"


def test_a_german_study_asks_ja_or_nein(tmp_path: Path) -> None:
    source(tmp_path, ("Bellt er?", "yes", ""), ("Bellt er?", "yes", ""), language="")
    (tmp_path / "study.toml").write_text(
        """
name = "hunde"
language = "de"
seed = 1
materials.files = ["items.csv"]
[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2
practice = [{ sentence = "Sie schlief.", question = "Schlief sie?", answer = "yes" }]
[procedure]
target = { ask = ["question"] }
"""
    )
    text = (tmp_path / "items.csv").read_text()
    (tmp_path / "items.csv").write_text(text + "".join(row.replace("i1", "i2") + "\n" for row in text.splitlines()[1:]))
    file, *_ = experiment.build_list_files(study.load(tmp_path / "study.toml"))
    asked = [screen for step in file.script.trials for screen in step.screens if screen.task == "question"]
    assert len(asked) == 3
    assert {tuple(answer.label for answer in screen.answers) for screen in asked} == {("ja", "nein")}
    assert {screen.right for screen in asked} == {("ja",)}


def test_answers_can_be_any_two_or_more(tmp_path: Path) -> None:
    path = source(tmp_path, ("Wer bellt?", "Rex", "Rex | Bello | beide"), ("Wer bellt?", "beide", ""))
    materials = stimuli.read(path)
    question = materials.items[0].question
    assert question is not None
    assert question.choices == ("Rex", "Bello", "beide")
    assert question.answers == {"grammatical": "Rex", "ungrammatical": "beide"}
    assert stimuli.write(materials, tmp_path / "again.csv") == []
    assert stimuli.read(tmp_path / "again.csv") == materials


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            (("Wer?", "Rex", ""), ("Wer?", "Rex", "")),
            "an answer out of ja, nein (the language is de; a column language states it), or others in a column choices",
        ),
        (
            (("Wer?", "Rex", "Rex / Bello"), ("Wer?", "Rex", "")),
            "choices is 'Rex / Bello'; expected two or more different answers with",
        ),
        ((("Wer?", "Rex", "Rex|Rex"), ("Wer?", "Rex", "")), "choices is 'Rex|Rex'; expected two or more different answers"),
        ((("Wer?", "Rex", "Rex|Bello"), ("Wer?", "Rex", "Rex|beide")), "line 3: i1 (ungrammatical): question 'Wer?'"),
    ],
)
def test_answers_that_cannot_be_chosen_are_faults(
    tmp_path: Path, rows: tuple[tuple[str, str, str], tuple[str, str, str]], message: str
) -> None:
    with pytest.raises(study.DataError) as caught:
        stimuli.read(source(tmp_path, *rows))
    assert message in str(caught.value)


def test_items_of_json_may_leave_out_language_and_choices(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(
        '{"record": "paradigm", "id": "p", "phenomenon": "f", "factors": {"kind": ["plain"]}}\n'
        '{"record": "item", "id": "i1", "paradigm": "p", "sentences": {"plain": {"text": "De hond blaft."}}, '
        '"question": {"text": "Blaft hij?", "answers": {"plain": "no"}}}\n'
    )
    (item,) = stimuli.read(path, language="nl").items
    assert item.question == stimuli.Question("Blaft hij?", {"plain": "nee"}, ("ja", "nee"))


def test_answers_are_those_of_the_pages() -> None:
    texts = tomllib.loads((Path(experiment.__file__).parent / "texts" / "rating.toml").read_text())
    pages = {language: (said["yes"], said["no"]) for language, said in texts.items()}
    assert pages.items() <= study.yes_no_words.YES_NO_WORDS.items()
