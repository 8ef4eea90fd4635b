"""Distractors for Maze: what they cost is computed once more with transformers alone, and the rules of choosing are counted."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gardenpath import lmscore, stimuli, study
from gardenpath.lmscore.maze.distractor_search import SurprisalCriteria
from gardenpath.lmscore.maze.positions import find_positions
from gardenpath.lmscore.maze.surprisals import SurprisalScorer
from gardenpath.lmscore.maze.word_lists import load_wordfreq, read_words
from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence
from gardenpath.stimuli.item_tables import measure_word_length, zipf

from .conftest import save, torch, whitespace_marks

pytestmark = pytest.mark.lm

HOW = {"surprisal": 18, "margin": 2, "candidates": 30, "length": 2, "zipf": 1.5}  # what the small models can meet


def marked(text: str, alternatives: tuple[str, ...] | None = None) -> Sentence:
    """A sentence whose critical region stands in brackets."""
    start, end = text.index("["), text.index("]") - 1
    return Sentence(text.replace("[", "").replace("]", ""), (Region("critical", start, end),), None, None, alternatives)


def pairs(*texts: tuple[str, str], language: str = "en", **rest) -> Materials:
    items = tuple(
        Item(f"i{k}", "number", {"grammatical": marked(a), "ungrammatical": marked(b)}, language, **rest)
        for k, (a, b) in enumerate(texts)
    )
    return Materials((Paradigm("number", "agreement"),), items)


TWO = pairs(
    ("The cat in Rome, I know, [was] on a table.", "The cat in Rome, I know, [were] on a table."),
    ('The boys who sat "there" [blame] it.', 'The boys who sat "there" [blames] it.'),
)


def by_hand(model, before: str, answer: str) -> float:
    """Bits of an answer after a text: the sum over its tokens and the whitespace correction, by one full softmax each."""
    tokenizer, network = model.encoder.tokenizer, model.network

    def ids(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    whole, k = ids(before + answer), len(ids(before))
    assert whole[:k] == ids(before)
    with torch.no_grad():
        logits = network(torch.tensor([[model.encoder.prefix, *whole]])).logits[0].double()
    p = logits.softmax(-1).numpy()
    vocabulary = tokenizer.get_vocab()
    ends = {tokenizer.eos_token_id}
    opens = [i for piece, i in vocabulary.items() if piece.startswith(whitespace_marks(model)) or i in ends]
    edge = p[:, opens].sum(-1)
    tokens = sum(math.log2(p[j, whole[j]]) for j in range(k, len(whole)))
    return -tokens + math.log2(edge[k]) - math.log2(edge[len(whole)])


@pytest.fixture(scope="module")
def made(byte_model) -> lmscore.Distractors:
    return lmscore.add_distractors(TWO, byte_model, held_out=byte_model, **HOW)


def test_no_distractor_is_more_probable_than_demanded_by_transformers_alone(model):
    found = lmscore.add_distractors(TWO, model, **HOW)
    sentences = {(item.id, name): s for item in found.materials.items for name, s in item.sentences.items()}
    checked = 0
    for row in found.distractor_margins.dropna(subset="distractor").itertuples():
        sentence = sentences[row.item, row.condition]
        word = sentence.list_words()[row.word]
        before = sentence.text[: word.start - 1]
        own, other = by_hand(model, before, f" {word.text}"), by_hand(model, before, f" {row.distractor}")
        assert (row.word_surprisal, row.surprisal) == pytest.approx((own, other), abs=1e-6)
        assert row.margin == pytest.approx(other - own, abs=1e-6)
        assert other >= max(18, own + 2) - 1e-6
        checked += 1
    assert checked > 20


def test_bounds_are_bounds_of_every_candidate_and_that_of_the_first_token(model):
    asking = SurprisalScorer(model)
    listed = load_wordfreq("en")
    forms = {}
    for place in (place for item in TWO.items for place in find_positions(item, DEFAULT_PROTOCOL)):
        for site in place.sites:
            forms[site] = [site.format_distractor(word) for word in listed.find_candidates(place, 2, 1.5, 20, 1, frozenset())]
    own, below = asking.compute_bounds(forms)
    exact = asking.compute_surprisals([(site, form) for site, of_site in forms.items() for form in of_site])
    bounds = np.concatenate([below[site] for site in forms])
    assert len(exact) > 300
    assert (np.array(exact) >= bounds - 1e-9).all()
    assert (bounds > 0).mean() > 0.9
    site = next(iter(forms))
    assert own[site] == pytest.approx(by_hand(model, site.preceding_text, site.gap + site.text), abs=1e-6)
    [text] = lmscore.encode_continuations(model, site.preceding_text, [site.gap + forms[site][0]])
    [table] = model.forward(
        [
            replace(
                text,
                ids=text.ids[:1],
                spans=text.spans[:1],
                starts_with_space=text.starts_with_space[:1],
                ends_with_space=text.ends_with_space[:1],
            )
        ]
    )
    assert below[site][0] == pytest.approx((table.log_boundary[0] - table.logprob[0]) / math.log(2), abs=1e-9)


def test_what_else_could_have_come_is_the_whole_distribution(special):
    text = special.encode("The cat sat on the mat.")
    size = len(special.encoder.vocabulary.starts_with_space)
    [table] = special.forward([text], candidate_ids=range(size))
    assert np.exp(table.predictors["candidates"]).sum(0) == pytest.approx(1, abs=1e-9)
    own = [table.predictors["candidates"][token, k] for k, token in enumerate(text.ids)]
    assert own == pytest.approx(table.logprob[:-1], abs=1e-9)


def test_conditions_share_a_distractor_that_looks_as_the_word_and_stands_once_in_a_sentence(made):
    assert stimuli.check(made.materials) is not None
    rules = {finding.rule for finding in stimuli.check(made.materials)}
    assert not {rule for rule in rules if rule.startswith("alternative")}
    rows = made.distractor_margins
    assert rows.groupby(["item", "position"])["distractor"].nunique().max() == 1  # also beside was and were
    assert set(rows.query("position == 'critical 1' and item == 'i0'")["text"]) == {"was", "were"}
    for item in made.materials.items:
        words = {word.strip('.,"').lower() for s in item.sentences.values() for word in s.text.split()}
        for sentence in item.sentences.values():
            first, *others = sentence.alternatives
            bare = [other.strip('.,"').lower() for other in others]
            assert first == "x-x-x"
            assert len(set(bare)) == len(bare)
            assert not words & set(bare)
    shown = rows.query("item == 'i0' and condition == 'grammatical'").set_index("text")["distractor"]
    assert shown["Rome,"][0].isupper()
    assert shown["Rome,"][-1] == ","
    assert shown["table."][-1] == "."
    there = rows[rows["text"] == '"there"']["distractor"].iloc[0]
    assert there[0] == there[-1] == '"'
    assert there[1].islower()


def test_distractors_are_listed_words_within_the_bounds_of_each_word(made):
    words = set(load_wordfreq("en").words)
    for row in made.distractors.itertuples():
        assert row.distractor in words
        for word in row.words.split(" | "):
            assert abs(measure_word_length(word) - row.length) <= 2
            assert row.length == len(row.distractor)
            assert abs(zipf(word, "en") - zipf(row.distractor, "en")) <= 1.5 + 1e-9


def test_the_chosen_one_is_the_first_candidate_in_order_that_passes_everywhere(byte_model, made):
    """By scoring all of them exactly, one place after another."""
    asking, demands, listed = SurprisalScorer(byte_model), SurprisalCriteria(18, 2), load_wordfreq("en")
    [item, _] = TWO.items
    own_words = {word.strip('.,"').lower() for s in item.sentences.values() for word in s.text.split()}
    chosen = made.distractors.query("item == 'i0'").set_index("position")["distractor"]
    used: set[str] = set()
    for place in find_positions(item, DEFAULT_PROTOCOL):
        candidates = listed.find_candidates(place, 2, 1.5, 30, 1, own_words)
        sites = place.sites
        own = asking.compute_surprisals([(site, site.text) for site in sites])
        expected = None
        for word in candidates:
            costs = asking.compute_surprisals([(site, site.format_distractor(word)) for site in sites])
            passes = all(demands.compute_shortfall(cost, of_word) <= 0 for cost, of_word in zip(costs, own, strict=True))
            if passes and word not in used:
                expected = word
                break
        assert chosen[place.name] == expected
        used.add(expected)


def test_without_bounds_the_same_ones_are_chosen(byte_model, made):
    """As of a server, which gives no distributions."""

    class Served:
        name, masked, encoder = byte_model.name, False, byte_model.encoder

        def forward(self, texts, *, columns, batch_tokens):
            return byte_model.forward(texts, columns=columns, batch_tokens=batch_tokens)

    found = lmscore.add_distractors(TWO, Served(), **HOW)
    assert found.distractors["distractor"].tolist() == made.distractors["distractor"].tolist()


def test_a_model_from_the_cache_chooses_the_same_ones(folders, made, tmp_path):
    for _ in range(2):  # the second time it is not loaded until the pass over the sentences
        cached = lmscore.load_cached(folders["gpt2"], folder=tmp_path, device="cpu", dtype="float64")
        found = lmscore.add_distractors(TWO, cached, **HOW)
        assert found.distractors["distractor"].tolist() == made.distractors["distractor"].tolist()


def test_a_seed_gives_the_same_tables_and_another_seed_others(byte_model, made):
    again = lmscore.add_distractors(TWO, byte_model, held_out=byte_model, **HOW)
    pd.testing.assert_frame_equal(again.distractor_margins, made.distractor_margins)
    other = lmscore.add_distractors(TWO, byte_model, seed=2, **HOW)
    assert other.distractors["distractor"].tolist() != made.distractors["distractor"].tolist()


def test_the_held_out_model_says_what_it_makes_of_them(folders, byte_model, made):
    rows = made.distractor_margins
    assert rows["held_out_margin"].tolist() == pytest.approx(rows["margin"].tolist(), abs=1e-9)
    second = lmscore.load(folders["llama"], device="cpu", dtype="float64")
    found = lmscore.add_distractors(TWO, byte_model, held_out=second, **HOW)
    assert found.distractors["distractor"].tolist() == made.distractors["distractor"].tolist()
    row = found.distractor_margins.iloc[0]
    assert row["held_out_word_surprisal"] == pytest.approx(by_hand(second, "The", f" {row['text']}"), abs=1e-6)
    assert found.distractors["held_out_margin"].iloc[0] == pytest.approx(
        found.distractor_margins.query("item == 'i0' and word == 1")["held_out_margin"].min(), abs=0.005
    )


def test_labels_name_the_places(byte_model, tmp_path):
    file = tmp_path / "items.csv"
    file.write_text(
        "paradigm,phenomenon,item,condition,sentence,labels,factors\n"
        'rc,relative,r1,subject,The boy who met the girl [laughed].,pre noun who verb art other main,"clause: subject, object"\n'
        "rc,relative,r1,object,The boy who the girl met [laughed].,pre noun who art other verb main,\n"
    )
    found = lmscore.add_distractors(stimuli.read(file), byte_model, **HOW)
    assert found.distractors["position"].tolist() == ["noun", "who", "art", "verb", "other", "main"]
    for sentence in found.materials.items[0].sentences.values():
        beside = dict(zip(sentence.text.split(), sentence.alternatives, strict=True))
        assert beside["met"] == found.distractors.set_index("position").loc["verb", "distractor"]
    file.write_text(file.read_text().replace("pre noun who art other verb main", "pre noun who art art verb main"))
    with pytest.raises(study.DataError, match=r"item r1 \(object\): the label 'art' is given to several words"):
        lmscore.add_distractors(stimuli.read(file), byte_model)
    file.write_text(file.read_text().replace("pre noun who art art verb main", "pre noun"))
    with pytest.raises(study.DataError, match=r"item r1 \(object\): 2 labels, expected 7"):
        lmscore.add_distractors(stimuli.read(file), byte_model)


def test_a_context_is_read_before_the_sentence(byte_model):
    there = pairs(("The cat [was] on it.", "The cat [were] on it."), context="No student sat there.")
    [first, *_] = find_positions(there.items[0], DEFAULT_PROTOCOL)
    assert first.sites[0].preceding_text == "No student sat there. The"


@pytest.mark.parametrize("language", ["nl", "de"])
def test_other_languages_have_lists_of_their_own(byte_model, language):
    text = {"nl": ("De kat [zit] op tafel.", "De kat [zitten] op tafel.")}.get(
        language, ("Die Katze [sitzt] auf „Tischen“.", "Die Katze [sitzen] auf „Tischen“.")
    )
    found = lmscore.add_distractors(pairs(text, language=language), byte_model, **HOW)
    assert set(found.distractors["distractor"].dropna()) <= set(load_wordfreq(language).words)
    assert len(found.distractors["distractor"].dropna()) >= 4
    last = found.distractor_margins.query("position == 'after critical 2'")["distractor"]
    assert all(word.istitle() == (language == "de") for word in last)
    assert all((word[0], word[-2:]) == ("„", "“.") if language == "de" else word.endswith(".") for word in last)


@pytest.fixture(scope="module")
def unspaced(tmp_path_factory):
    """A GPT-2 over byte-level BPE of text without spaces, some of whose tokens join words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(["我喜欢狗。", "他喜欢猫。", "我吃饭了。", "abcdef"] * 5, trainer)
    torch.manual_seed(0)
    network = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=backend.get_vocab_size(),
            n_positions=64,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=None,
            eos_token_id=0,
            initializer_range=0.3,
        )
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    return lmscore.load(save(tmp_path_factory.mktemp("zh"), tokenizer, network), device="cpu", dtype="float64")


def test_a_language_without_spaces_is_cut_by_its_author(unspaced, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("吃\n山水\n狗\n高兴\n饭了\n睡觉\n", "utf-8")
    sentence = Sentence("我喜欢猫。", segmentation=((0, 1), (1, 3), (3, 5)))
    materials = Materials((Paradigm("p", "f", {"a": ("only",)}),), (Item("i1", "p", {"only": sentence}, "zh"),))
    found = lmscore.add_distractors(materials, unspaced, words=words, surprisal=8, margin=1, length=1)
    [_, one, other] = found.materials.items[0].sentences["only"].alternatives
    assert one in {"吃", "山水", "狗", "高兴", "饭了", "睡觉"}
    assert other.endswith("。")
    tokenizer, network = unspaced.encoder.tokenizer, unspaced.network

    def lp(text: str) -> float:
        ids = [0, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        with torch.no_grad():
            rows = network(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        return sum(float(rows[k, token]) for k, token in enumerate(ids[1:])) / math.log(2)

    for row in found.distractor_margins.itertuples():
        before = "我" if row.word == 1 else "我喜欢"
        assert row.margin == pytest.approx(lp(before + row.text) - lp(before + row.distractor), abs=1e-6)
        assert row.margin >= 1
    # A token joins 我 to 吃, but not to 喜: the two are compared from where they part.
    fed = [lmscore.encode_continuations(unspaced, "我", [form])[0].context_ids for form in ("喜欢", "吃饭了")]
    assert len(fed[0]) > len(fed[1])
    [place, *_] = find_positions(materials.items[0], DEFAULT_PROTOCOL)
    [site] = place.sites
    asking = SurprisalScorer(unspaced)
    [own, joined] = asking.compute_surprisals([(site, "喜欢"), (site, "吃饭了")])
    assert joined - own == pytest.approx(lp("我喜欢") - lp("我吃饭了"), abs=1e-6)
    _, below = asking.compute_bounds({site: ["吃饭了", "狗"]})
    assert joined >= below[site][0] - 1e-9


def test_a_list_of_ones_own_with_frequencies(byte_model, tmp_path):
    words = tmp_path / "words.csv"
    words.write_text("word,zipf\nsue,4.1\nnor,4.0\nfar,2.0\nlid,\ncat,4.05\nLid,3\n")
    listed = read_words(words, "en")
    assert listed.words == ("sue", "nor", "far", "lid", "cat")
    assert listed.get_zipf("CAT") == 4.05
    one = pairs(("The cat [is].", "The cat [are]."))
    [place, *_] = find_positions(one.items[0], DEFAULT_PROTOCOL)
    assert sorted(listed.find_candidates(place, 0, 0.2, 10, 1, {"nor"})) == ["cat", "lid", "sue"]  # lid has no frequency
    found = lmscore.add_distractors(one, byte_model, words=words, surprisal=0, margin=-100, length=0, zipf=0.2, exclude=["NOR"])
    table = found.distractors.set_index("position")
    assert table.loc["start 2", "distractor"] in ("sue", "lid")
    assert table.loc["critical 1", "reason"].startswith("its words are too unlike")
    assert found.materials.items[0].sentences["grammatical"].alternatives is None


def test_words_without_a_frequency_are_matched_in_length_and_named(byte_model, caplog):
    item = pairs(("The zzxqvv [is] it.", "The zzxqvv [are] it."))
    found = lmscore.add_distractors(item, byte_model, candidates=5, surprisal=5, margin=-50, length=0)
    assert caplog.messages == ["no Zipf frequency is known of zzxqvv: matched in length alone"]
    assert found.distractors["length"][0] == 6


def test_words_that_found_none_say_why(byte_model):
    item = pairs(("The Donaudampfschifffahrtsgesellschaftskapitän – [is] it.", "The boy – [are] it."))
    found = lmscore.add_distractors(item, byte_model, candidates=3, surprisal=500)
    why = found.distractors.set_index("words")["reason"]
    assert why.iloc[0] == "its words are too unlike for one distractor: letters 3 to 42, expected at most 2 apart"
    assert why["–"] == "no letter or digit in it; expected a distractor by hand"
    assert why["is | are"].startswith("none of 3 candidates is improbable enough: the best falls ")
    assert found.distractors["distractor"].isna().all()


def test_a_reviewed_table_is_kept_and_its_gaps_are_filled(byte_model, made):
    table = made.distractors.copy()
    table.loc[0, "distractor"] = "Oven"
    first = table.loc[1, "distractor"]
    table.loc[1, ["distractor", "rejected_words"]] = [None, f"{first} upon"]
    found = lmscore.add_distractors(TWO, byte_model, reviewed=table, **HOW).distractors
    assert found.loc[0, "distractor"] == "Oven"
    assert found.loc[1, "distractor"] not in (first, "upon", None)
    assert found.loc[1, "rejected_words"].split() == sorted([first, "upon"])
    assert found["distractor"].tolist()[2:] == made.distractors["distractor"].tolist()[2:]
    assert math.isnan(found["margin"].iloc[0]) is False
    # Without a model what is there is taken as it is.
    plain = lmscore.add_distractors(TWO, reviewed=found)
    assert plain.distractors["distractor"].tolist() == found["distractor"].tolist()
    assert plain.distractors["margin"].isna().all()
    assert plain.materials.items[0].sentences["grammatical"].alternatives[1] == "oven"


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("distractor", "two words", "the distractor 'two words' holds a space; expected one word"),
        ("distractor", "Damn.", "the distractor 'Damn' is on the list of words never used; expected another"),
        ("distractor", "CAT", "the distractor 'CAT' is the word itself; expected another"),
        ("position", "start 99", "position 'start 99': the materials have no such position"),
    ],
)
def test_a_reviewed_table_that_does_not_fit_is_refused(made, column, value, said):
    table = made.distractors.copy()
    table.loc[0, column] = value
    with pytest.raises(study.DataError, match=said):
        lmscore.add_distractors(TWO, reviewed=table, exclude=["damn"])


def test_a_review_is_read_as_a_spreadsheet_leaves_it(made, tmp_path):
    table = made.distractors[["item", "position", "distractor", "margin"]].fillna("").astype(str)
    table["margin"] = table["margin"].str.replace(".", ",")
    table.loc[3, "distractor"] = "Oven!"
    table.to_csv(tmp_path / "german.csv", sep=";", index=False, encoding="utf-8-sig")
    found = lmscore.add_distractors(TWO, reviewed=tmp_path / "german.csv")
    assert found.distractors["distractor"].tolist() == [*table["distractor"][:3], "Oven", *table["distractor"][4:]]
    pytest.importorskip("openpyxl")
    table.to_excel(tmp_path / "book.xlsx", index=False)
    assert lmscore.add_distractors(TWO, reviewed=tmp_path / "book.xlsx").distractors.equals(found.distractors)
    pd.concat([table, table.head(1)]).to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(study.DataError, match="item i0, position 'start 2': the position is there twice"):
        lmscore.add_distractors(TWO, reviewed=tmp_path / "twice.csv")
    (tmp_path / "other.csv").write_text("item,word\ni0,cat\n")
    with pytest.raises(study.DataError, match=r"other.csv: column 'position', 'distractor' is missing"):
        lmscore.add_distractors(TWO, reviewed=tmp_path / "other.csv")


def test_repeats_over_the_materials_are_bounded(byte_model):
    many = pairs(*[("The cat [is] on the mat.", "The cat [are] on the mat.")] * 6)
    how = {"surprisal": 5, "margin": -50, "length": 1, "candidates": 20}
    found = lmscore.add_distractors(many, byte_model, repeats=1, **how).distractors["distractor"].dropna()
    assert found.is_unique
    assert not lmscore.add_distractors(many, byte_model, **how).distractors["distractor"].dropna().is_unique


def test_pseudowords_are_no_words_as_long_and_the_same_for_a_seed():
    made = lmscore.add_distractors(TWO, pseudowords=True).distractors
    assert made["distractor"].tolist() == lmscore.add_distractors(TWO, pseudowords=True).distractors["distractor"].tolist()
    known = set(load_wordfreq("en").words)
    found = made.dropna(subset="distractor")
    assert len(found) > 8
    for row in found.itertuples():
        assert row.distractor not in known
        assert all(abs(len(row.distractor) - measure_word_length(word)) <= 1 for word in row.words.split(" | "))
        assert pd.isna(row.zipf) or row.zipf < 2
    trigrams = {word[k : k + 3] for word in known for k in range(len(word) - 2)}
    assert all(word[k : k + 3] in trigrams for word in found["distractor"] for k in range(len(word) - 2))


def test_a_call_that_cannot_be_followed_is_refused_in_a_line(byte_model, tmp_path):
    with pytest.raises(ValueError, match="positions have no distractor and there is no model to choose by"):
        lmscore.add_distractors(TWO)
    with pytest.raises(ValueError, match=r"wordfreq has no list of words of the language 'th'; expected a list of your own"):
        lmscore.add_distractors(pairs(("a [b] c", "a [d] c"), language="th"), byte_model)
    with pytest.raises(ValueError, match="length is -1; expected 0 or more"):
        lmscore.add_distractors(TWO, byte_model, length=-1)
    masked = type("Masked", (), {"name": "bert", "masked": True, "encoder": None})()
    with pytest.raises(ValueError, match="model bert: a masked model, which answers no prompts"):
        lmscore.add_distractors(TWO, masked)
    empty = tmp_path / "words.txt"
    empty.write_text("\n")
    with pytest.raises(study.DataError, match=r"words.txt: no words; expected one a line"):
        lmscore.add_distractors(TWO, byte_model, words=empty)
    (tmp_path / "words.csv").write_text("word,zipf\nsue,often\n")
    with pytest.raises(study.DataError, match="'sue': zipf is 'often'; expected a number"):
        lmscore.add_distractors(TWO, byte_model, words=tmp_path / "words.csv")
    (tmp_path / "words.csv").write_text("form\nsue\n")
    with pytest.raises(study.DataError, match="columns form; expected 'word'"):
        lmscore.add_distractors(TWO, byte_model, words=tmp_path / "words.csv")
