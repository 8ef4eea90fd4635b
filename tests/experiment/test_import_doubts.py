"""No row of another platform's files is misassigned in silence: what they leave open is asked, what is odd is named."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms.importing import platform_named
from gardenpath.experiment.platforms.mapping import AnswerRule, ColumnMapping
from gardenpath.experiment.platforms.sources import Source

FIXTURES = Path(__file__).parent / "fixtures"
Tables = dict[str, pd.DataFrame]
WHO = {"participant": "subj", "item": "item", "condition": "cond"}


def collected(path: Path, platform: str, mapping: ColumnMapping | None = None, **given: object) -> Tables:
    return experiment.collect(path, platform=platform, mapping=mapping, keep_ids=True, **given)  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Tables]:
    """Collect a long table of these lines."""

    def of(lines: str, mapping: ColumnMapping, **given: object) -> Tables:
        (tmp_path / "rt.csv").write_text(lines)
        return collected(tmp_path / "rt.csv", "table", mapping, **given)

    return of


# ------------------------------------------------------------------------------------------------ one column, one answer

QUESTION = AnswerRule(
    {"response": "Answer", "correct": "ok"}, "question", "comprehension", {"Controller name": "Question"}
)
TAKEN = {
    "what Ibex asks": ("ibex.txt", QUESTION, ["comprehension", "acceptability", "judgment", "acceptability"]),
    "an element of PennController": (
        "penn_2024.txt",
        AnswerRule({"response": "Value"}, "rating", "naturalness", {"PennElementName": "nat", "Parameter": "Select"}),
        ["naturalness"],
    ),
}


@pytest.mark.parametrize(("name", "rule", "prompts"), TAKEN.values(), ids=TAKEN)
def test_an_answer_that_the_mapping_takes_is_taken_once(name: str, rule: AnswerRule, prompts: list[str]) -> None:
    columns = {"item": "ItemNo", "condition": "Cond"} if "penn" in name else {}
    mapping = ColumnMapping(columns, answers=(rule,))
    sessions = platform_named("pcibex").read(Source.of(FIXTURES / "pcibex" / name), mapping)
    answers = [r.name for s in sessions for t in s.trials for r in t.records if r.answer is not None]
    assert answers == prompts


@pytest.mark.data
def test_the_questions_of_a_real_ibex_file_are_not_doubled_by_a_mapping(real_data: Path) -> None:
    source = Source.of(real_data / "ibex-tr-short" / "results")
    asked = source.text.count("basınız)")
    rule = AnswerRule({"response": "Answer", "rt": "Time taken to answer"}, "question", "judgment")
    for mapping in (ColumnMapping(), ColumnMapping(answers=(rule,))):
        sessions = platform_named("pcibex").read(source, mapping)
        answers = [r for s in sessions for t in s.trials for r in t.records if r.answer is not None]
        assert len(answers) == asked == 10_365


def test_a_column_that_two_rules_take_is_refused(table: Callable[..., Tables], tmp_path: Path) -> None:
    rules = AnswerRule({"response": "score"}, "rating"), AnswerRule({"response": "score"}, "question")
    lines = "subj,item,cond,score\n1,1,a,5\n"
    for mapping in (
        ColumnMapping({**WHO, "response": "score"}, answers=rules[:1]),
        ColumnMapping(WHO, answers=rules),
    ):
        with pytest.raises(
            study.DataError, match="column 'score' is the response of two answers; one column gives one"
        ):
            table(lines, mapping)
    native = FIXTURES / "psychopy" / "native.csv"
    mapping = ColumnMapping(
        {"item": "item_nr", "condition": "cond"},
        answers=tuple(AnswerRule({"response": "rate.keys"}, task) for task in ("rating", "question")),
    )
    with pytest.raises(study.DataError, match=r"rating and question take column 'rate\.keys' of the same row"):
        collected(native, "psychopy", mapping)


def test_what_stands_for_no_value_stands_for_no_answer() -> None:
    for platform, name, missing in (("gorilla", "task_builder_1.csv", "6"), ("jspsych", "lines.json", "1234")):
        rule = AnswerRule({"response": "Response" if platform == "gorilla" else "rt"}, "rating")
        columns = {"item": "item", "condition": "cond"} if platform == "gorilla" else {}
        read = platform_named(platform).read
        answers = [
            [
                r.answer
                for s in read(
                    Source.of(FIXTURES / platform / name), ColumnMapping(columns, answers=(rule,), missing=words)
                )
                for t in s.trials
                for r in t.records
                if r.answer is not None
            ]
            for words in ((), (missing,))
        ]
        assert missing in map(str, answers[0])
        assert missing not in map(str, answers[1])
