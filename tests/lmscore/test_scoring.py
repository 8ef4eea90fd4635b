"""Materials become tables: declared columns, ties, faults that name the item."""

import dataclasses
import logging

import pandas as pd
import pytest

from gardenpath import lmscore, study
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence

from . import kinds

pytestmark = pytest.mark.lm


def test_score_gives_a_row_for_each_word_and_each_sentence(byte_model, materials):
    surprisal, sentences = lmscore.score(materials, byte_model)
    texts = [sentence for item in materials.items for sentence in item.sentences.values()]
    assert list(surprisal.columns) == study.TABLES["surprisal"].column_names
    assert len(surprisal) == sum(len(text.list_words()) for text in texts)
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

    bits = surprisal.groupby(["item", "condition"], sort=False)[["surprisal_naive", "n_tokens"]].sum()
    assert bits["surprisal_naive"].to_numpy() == pytest.approx(-sentences["lp"].to_numpy() / math.log(2))
    assert bits["n_tokens"].tolist() == sentences["n_tokens"].tolist()


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


def pair(name: str, good: str, bad: str, paradigm: str = "p") -> Item:
    """A minimal pair whose critical regions stand in brackets."""
    sentences = {}
    for condition, text in (("grammatical", good), ("ungrammatical", bad)):
        regions = (Region("critical", text.index("["), text.index("]") - 1),) if "[" in text else ()
        sentences[condition] = Sentence(text.replace("[", "").replace("]", ""), regions)
    return Item(name, paradigm, sentences)


def of(*items: Item) -> Materials:
    return Materials((Paradigm("p", "p"),), items)


def test_prefix_methods_compare_critical_words_after_their_prefixes(byte_model, caplog):
    import torch

    pairs = of(
        pair("one", "The cat [didn't sit] down.", "The cat [didn't sat] down."),
        pair("two", "No student has [ever] come.", "The student has [ever] come."),
        pair("both", "No student [has] come.", "The students [have] come."),
        pair("none", "No student came.", "No student come."),
    )
    with caplog.at_level(logging.INFO, "gardenpath"):
        found = lmscore.evaluate(pairs, byte_model, ["one_prefix", "two_prefix", "critical_lp"])
    assert found.groupby("measure")["item"].agg(list).to_dict() == {
        "critical_lp": ["one", "two", "both"],
        "one_prefix": ["one"],
        "two_prefix": ["two"],
    }
    assert "one_prefix: 3 of 4 pairs do not have the same words before two different critical regions" in caplog.text
    assert "two_prefix: 3 of 4 pairs do not have the same critical region after different words" in caplog.text

    def after(prefix: str, critical: str) -> float:
        before, whole = (
            [0, *byte_model.encoder.tokenizer(text, add_special_tokens=False)["input_ids"]]
            for text in (prefix, f"{prefix} {critical}")
        )
        assert whole[: len(before)] == before
        with torch.no_grad():
            logp = byte_model.network(torch.tensor([whole])).logits[0].log_softmax(-1)
        return sum(float(logp[j - 1, whole[j]]) for j in range(len(before), len(whole)))

    rows = found.set_index(["measure", "item"])[["score_grammatical", "score_ungrammatical"]]
    one = [after("The cat", "didn't sit"), after("The cat", "didn't sat")]
    two = [after("No student has", "ever"), after("The student has", "ever")]
    assert rows.loc[("one_prefix", "one")].tolist() == pytest.approx(one, abs=1e-9)
    assert rows.loc[("two_prefix", "two")].tolist() == pytest.approx(two, abs=1e-9)


def test_regions_after_equal_tokens_tie_whatever_follows_them(folders):
    model = lmscore.load(folders["llama"], device="cpu")
    later = " and then it sat on the mat near the table"
    items = [pair(f"i{k}", f"The cat [sat]{later[: 3 * k]}.", f"The cat [sat]{later}.") for k in range(12)]
    found = lmscore.evaluate(of(*items), model, ["critical_lp", "lp"], batch_tokens=64).set_index(["measure", "item"])
    assert found.loc["critical_lp", "tie"].all()
    assert not found.loc["lp", "tie"].any()


def test_words_that_a_token_joins_are_one_flagged_row(byte_model):
    cut = Sentence("see the cat", (), ((0, 3), (4, 5), (5, 7), (8, 11)))
    surprisal = lmscore.score(Materials((Paradigm("p", "p"),), (Item("i", "p", {"one": cut}),)), byte_model).surprisal
    assert surprisal[["word", "text", "n_words"]].to_numpy().tolist() == [[0, "see", 1], [1, "the", 2], [3, "cat", 1]]


def test_layout_noise_is_the_largest_move_of_a_pair_scored_alone(folders, materials):
    exact, coarse = (lmscore.load(folders["gpt2"], device="cpu", dtype=dtype) for dtype in ("float64", "bfloat16"))
    items = [pair(f"i{k}", f"The cat sat on {k * 7} mats.", f"The cat sit on {k * 13} mats {'.' * k}") for k in range(20)]
    for model, low, high in ((exact, 0, 1e-9), (coarse, 1e-4, 5)):
        found = lmscore.evaluate(of(*items), model, ["lp", "mean_lp"])
        noise = lmscore.estimate_layout_noise(of(*items), model, found, seed=1)
        moved = 0.0
        for item in items:
            alone = lmscore.evaluate(of(item), model, ["lp"]).iloc[0]
            before = found[(found["item"] == item.id) & (found["measure"] == "lp")].iloc[0]
            moved = max(
                moved,
                abs(
                    (alone.score_grammatical - alone.score_ungrammatical) - (before.score_grammatical - before.score_ungrammatical)
                ),
            )
        assert noise["lp"] == moved
        assert low <= noise["lp"] <= high
        assert noise["mean_lp"] <= noise["lp"]
        assert lmscore.estimate_layout_noise(of(*items), model, found, seed=1) == noise


def test_members_of_a_pair_share_a_batch_below_float32(folders):
    model = lmscore.load(folders["gpt2"], device="cpu", dtype="bfloat16")
    items = [pair(f"i{k}", f"The cat sat on {k * 7} mats.", f"A cat sit on {k * 13} mats {'.' * k}") for k in range(20)]
    apart = lmscore.evaluate(of(*items), model, batch_tokens=1).set_index("item")
    for item in items:
        alone = lmscore.evaluate(of(item), model).set_index("item")
        assert apart.loc[item.id].equals(alone.loc[item.id])
    together = lmscore.evaluate(of(*items), model).set_index("item")
    assert not together["score_grammatical"].equals(apart["score_grammatical"])
    assert lmscore.estimate_layout_noise(of(*items), model, apart.reset_index()) == {"lp": 0.0}


def test_verdicts_within_the_noise_are_counted_and_ties_are_not(byte_model):
    pairs = [pair("near", "The cat sat.", "The cat sit."), pair("tie", "A.", "A."), pair("far", "The cat.", "A é猫 b c d.")]
    found = lmscore.evaluate(of(*pairs), byte_model, ["lp"])
    near = found.loc[0, "score_grammatical"] - found.loc[0, "score_ungrammatical"]
    assert lmscore.count_within_noise(found, {"lp": abs(near)}) == {"lp": 1}
    assert lmscore.count_within_noise(found, {"lp": abs(near) * 0.99}) == {"lp": 0}
    assert lmscore.count_within_noise(found, {"lp": 1e9}) == {"lp": 2}


def test_unknown_tokens_and_windows_are_counted(tmp_path):
    model = lmscore.load(kinds.folder(tmp_path, "characters"), device="cpu")
    item = Item("i", "p", {"one": Sentence("the cat"), "two": Sentence("thé ©at 😀")})
    scores = lmscore.score(Materials((Paradigm("p", "p"),), (item,)), model).sentence_scores
    assert scores["n_unknown_tokens"].tolist() == [0, 2]
    assert scores["n_windows"].tolist() == [1, 1]


def test_what_cannot_be_evaluated_is_an_error(byte_model, materials):
    with pytest.raises(ValueError, match="measure 'slur'; expected one or more of lp, mean_lp, pen_lp, "):
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
    with pytest.raises(ValueError, match="protocol 'blimp' is not known; expected one of default, blimp-2020"):
        lmscore.evaluate(materials, byte_model, protocol="blimp")
    with pytest.raises(ValueError, match="hold no sentence"):
        lmscore.score(Materials((), ()), byte_model)


def test_every_sentence_at_fault_is_named(byte_model):
    cut = Sentence("see the cat", (Region("critical", 5, 11),))
    items = tuple(Item(f"i{k}", "p", {"one": cut, "two": Sentence("Short.")}) for k in range(12))
    with pytest.raises(study.DataError) as caught:
        lmscore.score(Materials((Paradigm("p", "p"),), items), byte_model)
    assert len(caught.value.faults) == 11
    assert caught.value.faults[0].startswith("item 'i0', condition 'one': ")
    assert "has an edge inside" in caught.value.faults[0]
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
    assert abs(after["n_tokens"] - alone["n_tokens"]) <= 1


def test_tokens_of_the_critical_region_are_counted_and_pairs_know_their_language(tmp_path):
    model = lmscore.load(kinds.folder(tmp_path, "characters"), device="cpu")
    marked = {"grammatical": ("she sees", 4, 8), "ungrammatical": ("she see", 4, 7)}
    sentences = {name: Sentence(text, (Region("critical", a, b),)) for name, (text, a, b) in marked.items()}
    items = Item("i", "p", sentences, language="nl"), Item("j", "p", {n: Sentence(t) for n, (t, *_) in marked.items()})
    materials = Materials((Paradigm("p", "p"),), items)
    scores = lmscore.score(materials, model).sentence_scores
    assert scores["n_critical_tokens"].fillna(-1).tolist() == [len(" sees"), len(" see"), -1, -1]
    assert lmscore.evaluate(materials, model)["language"].tolist() == ["nl", "en"]


def test_tables_of_before_these_columns_are_read(tmp_path, byte_model):
    items = (Item("i", "p", {"grammatical": Sentence("the cat"), "ungrammatical": Sentence("the cats")}),)
    pairs = lmscore.evaluate(Materials((Paradigm("p", "p"),), items), byte_model)
    pairs.drop(columns="language").to_csv(tmp_path / "pairs.csv", index=False)
    assert study.read(tmp_path, "pairs")["language"].isna().all()


def test_large_materials_are_scored_in_blocks_of_items_that_make_the_same_tables(byte_model, materials, monkeypatch):
    whole = lmscore.score(materials, byte_model)
    monkeypatch.setattr("gardenpath.lmscore.scoring.CHARACTERS_PER_BLOCK", 30)
    asked, moved = [], []
    forward = type(byte_model).forward
    monkeypatch.setattr(
        type(byte_model), "forward", lambda self, texts, **how: asked.append(len(texts)) or forward(self, texts, **how)
    )
    blocks = lmscore.score_blocks(materials, byte_model, progress=lambda count, total: moved.append((count, total)))
    first = next(blocks)
    assert (asked, first.sentence_scores["item"].unique().tolist()) == ([2], [materials.items[0].id])
    rest = list(blocks)
    assert asked == [len(item.sentences) for item in materials.items]
    assert moved[-1][0] <= moved[-1][1] == len(whole.sentence_scores)
    for name in ("surprisal", "sentence_scores"):
        joined = pd.concat([getattr(part, name) for part in (first, *rest)], ignore_index=True)
        pd.testing.assert_frame_equal(joined, getattr(whole, name), rtol=1e-12)
        pd.testing.assert_frame_equal(getattr(lmscore.score(materials, byte_model), name), joined)


def test_every_sentence_that_cannot_be_scored_is_named_before_a_block_is_computed(byte_model, monkeypatch):
    monkeypatch.setattr("gardenpath.lmscore.scoring.CHARACTERS_PER_BLOCK", 10)
    cut = Sentence("The cat", (Region("critical", 0, 5),))
    items = [Item(f"i{k}", "p", {"one": cut if k % 2 else Sentence("The cat sat down.")}) for k in range(6)]
    monkeypatch.setattr(type(byte_model), "forward", lambda *_, **__: pytest.fail("was computed"))
    with pytest.raises(study.DataError) as caught:
        next(lmscore.score_blocks(of(*items), byte_model))
    assert [f"item 'i{k}', condition 'one'" in str(caught.value) for k in range(6)] == [False, True] * 3
