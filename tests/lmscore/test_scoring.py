"""Materials become tables: declared columns, ties, faults that name the item."""

import dataclasses
import logging

import pytest

from gardenpath import lmscore, study
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence

pytestmark = pytest.mark.lm


def test_score_gives_a_row_for_each_word_and_each_sentence(byte_model, materials):
    surprisal, sentences = lmscore.score(materials, byte_model)
    texts = [sentence for item in materials.items for sentence in item.sentences.values()]
    assert list(surprisal.columns) == study.TABLES["surprisal"].names
    assert len(surprisal) == sum(len(text.words()) for text in texts)
    assert len(sentences) == len(texts)
    assert set(surprisal["model"]) == {byte_model.name}
    assert set(surprisal["protocol"]) == {"default"}
    ever = surprisal[surprisal["region"] == "critical"]
    assert ever["text"].tolist() == ["ever", "ever"]
    critical = sentences.dropna(subset="critical_lp")
    assert critical["item"].unique().tolist() == ["npi-1"]


def test_the_tables_agree_with_each_other(byte_model, materials):
    surprisal, sentences = lmscore.score(materials, byte_model)
    import math

    bits = surprisal.groupby(["item", "condition"], sort=False)[["surprisal_naive", "tokens"]].sum()
    assert bits["surprisal_naive"].to_numpy() == pytest.approx(-sentences["lp"].to_numpy() / math.log(2))
    assert bits["tokens"].tolist() == sentences["tokens"].tolist()


def test_identical_members_tie_and_are_not_correct(folders, materials):
    model = lmscore.load(folders["gpt2"], device="cpu")
    pairs = lmscore.evaluate(materials, model, ["lp", "mean_lp"], batch_tokens=1).set_index(["item", "measure"])
    assert pairs.loc[("copy-1", "lp"), ["correct", "tie"]].tolist() == [False, True]
    assert not pairs.loc[("npi-1", "lp"), "tie"]
    assert set(pairs["phenomenon"]) == {"npi_licensing", "binding"}


def test_other_designs_and_pairs_without_the_region_are_left_out_and_counted(byte_model, materials, caplog):
    with caplog.at_level(logging.INFO, "gardenpath"):
        pairs = lmscore.evaluate(materials, byte_model, ["critical_lp"])
    assert pairs["item"].tolist() == ["npi-1"]
    assert "1 paradigms are not minimal pairs" in caplog.text
    assert "1 of 2 pairs do not have a region 'critical'" in caplog.text


def test_what_cannot_be_evaluated_is_an_error(byte_model, materials):
    with pytest.raises(
        ValueError, match="measure 'slur'; expected one or more of lp, mean_lp, pen_lp, slor, critical_lp, one_prefix"
    ):
        lmscore.evaluate(materials, byte_model, ["slur"])
    other = Materials(materials.paradigms[2:], materials.items[2:])
    with pytest.raises(ValueError, match="none of the 1 paradigms is a minimal pair"):
        lmscore.evaluate(other, byte_model)
    half = Item("half", "npi", {"grammatical": Sentence("No.")})
    with pytest.raises(study.DataError, match="item 'half': has grammatical; expected grammatical and ungrammatical"):
        lmscore.evaluate(Materials(materials.paradigms, (half,)), byte_model)
    unmarked = Materials(materials.paradigms[1:2], materials.items[1:2])
    with pytest.raises(ValueError, match="none of the 1 pairs has a region 'critical'"):
        lmscore.evaluate(unmarked, byte_model, ["critical_lp"])
    with pytest.raises(ValueError, match="hold no sentence"):
        lmscore.score(Materials((), ()), byte_model)


def test_every_sentence_that_is_too_long_is_named(byte_model):
    long = Sentence("the cat " * 100)
    items = tuple(Item(f"i{k}", "p", {"one": long, "two": Sentence("Short.")}) for k in range(12))
    with pytest.raises(study.DataError) as caught:
        lmscore.score(Materials((Paradigm("p", "p"),), items), byte_model)
    assert len(caught.value.faults) == 11
    assert caught.value.faults[0].startswith("item 'i0', condition 'one': ")
    assert "window of 64" in caught.value.faults[0]
    assert caught.value.faults[-1] == "and 2 more such sentences"


def test_a_region_edge_inside_a_token_names_the_item(byte_model):
    item = Item("cut", "p", {"one": Sentence("see the cat", (Region("critical", 5, 11),))})
    with pytest.raises(study.DataError, match=r"item 'cut', condition 'one': region 'critical'"):
        lmscore.score(Materials((Paradigm("p", "p"),), (item,)), byte_model)


def test_the_same_inputs_give_the_same_tables(byte_model, materials):
    first, second = lmscore.score(materials, byte_model), lmscore.score(materials, byte_model)
    assert first.surprisal.equals(second.surprisal)
    assert first.sentence_scores.to_csv() == second.sentence_scores.to_csv()


def test_a_context_is_fed_and_not_scored(byte_model, materials):
    item = dataclasses.replace(materials.items[0], context="Nobody liked the exams.")
    alone = lmscore.score(materials, byte_model).sentence_scores.iloc[0]
    after = lmscore.score(dataclasses.replace(materials, items=(item,)), byte_model).sentence_scores.iloc[0]
    assert after["lp"] != alone["lp"]
    assert abs(after["tokens"] - alone["tokens"]) <= 1
