"""Columns of one's own: kept with the item, written back, and asked for by tasks that need them."""

from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Design, Materials

HEADER = "paradigm,phenomenon,item,condition,sentence,lexicality,norm\n"
ROWS = "lex,l,i1,grammatical,house,word,3.1\nlex,l,i1,ungrammatical,flurp,nonword,3.1\n"


def read(tmp_path: Path, text: str) -> Materials:
    path = tmp_path / "items.csv"
    path.write_text(text)
    return stimuli.read(path)


def test_a_free_column_is_the_items_or_where_its_rows_differ_each_conditions(tmp_path: Path) -> None:
    (item,) = read(tmp_path, HEADER + ROWS).items
    assert item.extra == {"lexicality (grammatical)": "word", "lexicality (ungrammatical)": "nonword", "norm": "3.1"}


@pytest.mark.parametrize("name", ["again.csv", "again.jsonl"])
def test_free_columns_come_back_from_our_formats(tmp_path: Path, name: str) -> None:
    materials = read(tmp_path, HEADER + ROWS + ROWS.replace("i1", "i2").replace(",3.1", ","))
    assert stimuli.write(materials, tmp_path / name) == []
    assert stimuli.read(tmp_path / name) == materials


def test_the_critical_region_may_stand_in_a_column_of_its_own(tmp_path: Path) -> None:
    header, row = "paradigm,phenomenon,item,condition,sentence,critical\n", "v,v,{},only,{},{}\n"
    same = [
        ("1", "[He] ate bread.", "He"),
        ("2", "太郎が[りんごを]食べた。", "りんごを"),
        ("3", "She heard [he] had left.", "he"),
        ("4", "A cat.", ""),
    ]
    plain = [row.format(n, sentence.replace("[", "").replace("]", ""), critical) for n, sentence, critical in same]
    marked = [row.format(n, sentence, "") for n, sentence, _ in same]
    both = [row.format(*cells) for cells in same]
    read_as = [read(tmp_path, header + "".join(rows)) for rows in (plain, marked, both)]
    assert read_as[0] == read_as[1] == read_as[2]
    assert [len(item.sentences["only"].regions) for item in read_as[0].items] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("sentence", "critical", "fault"),
    [
        ("The dog saw the dog.", "dog", "critical is 'dog', which stands 2 times in 'The dog saw the dog.'; expected words"),
        ("The dog barks.", "bark loud", "which stands nowhere in 'The dog barks.'"),
        ("The [dog] barks.", "barks", r"critical is 'barks', and the sentence marks \[dog\]; expected one of the two"),
    ],
)
def test_a_critical_region_that_cannot_be_found_is_a_fault(tmp_path: Path, sentence: str, critical: str, fault: str) -> None:
    with pytest.raises(study.DataError, match=fault):
        read(tmp_path, f"paradigm,phenomenon,item,condition,sentence,critical\nv,v,1,only,{sentence},{critical}\n")


def test_free_columns_come_back_from_a_table_for_pcibex(tmp_path: Path) -> None:
    materials = read(tmp_path, HEADER + ROWS)
    lost = stimuli.write(materials, tmp_path / "table.csv", format="pcibex")
    assert not [fault for fault in lost if "extra" in fault]
    again = stimuli.read(tmp_path / "table.csv", format="pcibex")
    assert again.items[0].extra.items() >= materials.items[0].extra.items()


@pytest.mark.parametrize(
    ("name", "meant"), [("questoin", "question"), ("Notes", "notes"), ("answers", "answer"), ("displays", "display")]
)
def test_a_slip_in_a_column_of_ours_is_no_free_column(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(study.DataError, match=f"line 1: column '{name}' is not known; did you mean '{meant}'"):
        read(tmp_path, HEADER.replace("norm", name) + ROWS)


@pytest.mark.parametrize("name", ["distance", "position", "frequency", "plausibility", "region length"])
def test_other_names_are_free(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, HEADER.replace("norm", name) + ROWS).items[0].extra[name] == "3.1"


def test_a_name_that_would_not_be_read_again_is_said_to_be_lost(tmp_path: Path) -> None:
    (item,) = read(tmp_path, HEADER + ROWS).items
    item = stimuli.Item(item.id, item.paradigm, item.sentences, extra={"norm": " 3", "sentences": "2", "source": "me"})
    materials = Materials((stimuli.Paradigm("lex", "l"),), (item,))
    assert stimuli.write(materials, tmp_path / "b.csv") == ["extra fields of item i1: norm, sentences"]
    assert stimuli.read(tmp_path / "b.csv").items[0].extra == {"norm": "3", "source": "me"}


def test_a_factor_between_items_stands_in_a_column_of_csv(tmp_path: Path) -> None:
    text = HEADER + "".join(ROWS.replace("i1", f"i{n}").replace("3.1", level) for n, level in enumerate(["low", "high"] * 2))
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2, between_items=["norm"])
    trial_list, _ = plan.build_trial_lists(read(tmp_path, text), seed=1)
    shown = [(trial.factors["norm"], trial.condition) for trial in trial_list.trials]
    assert sorted(shown) == [(norm, c) for norm in ("high", "low") for c in ("grammatical", "ungrammatical")]


def test_a_task_is_asked_of_the_items_that_have_what_it_needs(tmp_path: Path) -> None:
    text = HEADER + ROWS + ROWS.replace("i1", "i2").replace(",word", ",").replace(",nonword", ",")
    plan = Design({"grammatical": 1, "ungrammatical": 1}, lists=2)
    trial_list, _ = plan.build_trial_lists(
        read(tmp_path, text), seed=1, tasks_by_role={"target": ["judge", "rate"]}, required_columns={"judge": ["lexicality"]}
    )
    asked = {trial.item.id: trial.prompts for trial in trial_list.trials}
    assert asked == {"i1": ("judge", "rate"), "i2": ("rate",)}
    assert [trial.get_value("lexicality") for trial in trial_list.trials] == ["nonword", None]


def test_the_level_of_a_factor_serves_as_a_column(tmp_path: Path) -> None:
    header = "paradigm,phenomenon,item,condition,sentence,factors\n"
    rows = 'lex,l,i1,word,house,"lexicality: word, nonword"\nlex,l,i1,nonword,flurp,\n'
    for trial_list in Design({"word": 1, "nonword": 1}, lists=2, items=None).build_trial_lists(
        read(tmp_path, header + rows + rows.replace("i1", "i2")), seed=1
    ):
        assert [trial.get_value("lexicality") for trial in trial_list.trials] == [t.condition for t in trial_list.trials]


def test_words_of_a_language_without_spaces_stand_in_a_column(tmp_path: Path) -> None:
    header = "paradigm,phenomenon,item,condition,language,sentence,segmentation\n"
    path = tmp_path / "zh.csv"
    path.write_text(f"{header}p,p,1,a,zh,我昨天[看]了 书。,我 昨天 看 了 书 。\n", encoding="utf-8")
    sentence = stimuli.read(path).items[0].sentences["a"]
    assert [word.text for word in sentence.list_words()] == ["我", "昨天", "看", "了", "书", "。"]
    assert [word.index for word in sentence.list_region_words("critical")] == [2]
    assert stimuli.write(stimuli.read(path), tmp_path / "again.csv") == []
    assert stimuli.read(tmp_path / "again.csv") == stimuli.read(path)
    for cell, said in (
        ("我 昨天 读 了 书 。", "'读' where the sentence goes on '看了 书。'"),
        ("我 昨天", "ends before '看了 书。'"),
    ):
        path.write_text(f"{header}p,p,1,a,zh,我昨天[看]了 书。,{cell}\n", encoding="utf-8")
        with pytest.raises(study.DataError, match=f"line 2.*{said}"):
            stimuli.read(path)
