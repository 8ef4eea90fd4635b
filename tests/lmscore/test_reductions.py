"""Words, regions and sentences: identities that hold exactly, and the sum over an enumerable language."""

import itertools
import math

import numpy as np
import pytest

from gardenpath import lmscore, stimuli
from gardenpath.lmscore import compute_word_scores, region_lp
from gardenpath.lmscore.measures.reductions import is_comparable, lp, mean_lp, pen_lp, slor
from gardenpath.lmscore.measures.unigrams import Unigrams
from gardenpath.lmscore.tokens.encoding import OPENING_BOUNDARY, OPENING_TEXT, EncodedText, encode
from gardenpath.stimuli import Region, Sentence

from .conftest import save
from .kinds import END, KINDS, SPLIT, folder, opens
from .test_encoding import TEXTS

pytestmark = pytest.mark.lm

BITS = 1 / math.log(2)


def table_of(model, text, context=None):
    return model.forward([encode(model.encoder, text, context)])[0]


def telescoped(table):
    """What the corrected scores must sum to, in bits: all tokens, less the first edge, plus the last."""
    closing = 0.0 if table.encoded_text.ends_with_space[-1] else table.log_boundary[-1]
    return BITS * (-lp(table) - closing + table.log_boundary[0])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_corrected_scores_telescope(model, text):
    table = table_of(model, text)
    scores = compute_word_scores(table, Sentence(text))
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert sum(s.surprisal_naive for s in scores) == pytest.approx(-BITS * lp(table), abs=1e-9)
    assert sum(s.tokens for s in scores) == len(table.encoded_text.ids)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_corrected_scores_telescope_in_float32(folders, kind):
    model = lmscore.load(folders[kind], device="cpu")
    for text in TEXTS.values():
        table = table_of(model, text)
        assert sum(s.surprisal for s in compute_word_scores(table, Sentence(text))) == pytest.approx(telescoped(table), abs=1e-4)


@pytest.mark.parametrize("context", ["No student came.", "No student came.\n", "No student came. "])
def test_a_context_changes_scores_and_keeps_the_identity(model, context):
    table = table_of(model, "The cat sat.", context)
    scores = compute_word_scores(table, Sentence("The cat sat."))
    assert [s.word.text for s in scores] == ["The", "cat", "sat."]
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert scores[0].surprisal != pytest.approx(
        compute_word_scores(table_of(model, "The cat sat."), Sentence("The cat sat."))[0].surprisal
    )


def test_a_words_entropy_is_that_before_its_first_token(byte_model):
    table = table_of(byte_model, "The cat complained.")
    second = compute_word_scores(table, Sentence("The cat complained."))[1]
    first = compute_word_scores(table, Sentence("The cat complained."))[0].tokens
    assert second.entropy == pytest.approx(BITS * table.entropy[first])
    assert 0 < second.entropy < math.log2(len(byte_model.encoder.vocabulary.starts_with_space))


def test_an_authors_segmentation_without_spaces_is_not_corrected(byte_model):
    sentence = Sentence("猫在家", (), ((0, 1), (1, 2), (2, 3)))
    for score in compute_word_scores(table_of(byte_model, sentence.text), sentence):
        assert score.surprisal == score.surprisal_naive
    mixed = Sentence("The cat.", (), ((0, 3), (4, 7), (7, 8)))
    table = table_of(byte_model, mixed.text)
    scores = compute_word_scores(table, mixed)
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert scores[1].surprisal == pytest.approx(scores[1].surprisal_naive + BITS * table.log_boundary[scores[0].tokens])


# Every measure against a plain loop, for every kind of tokenizer


@pytest.fixture(scope="module")
def of_kind(tmp_path_factory):
    """A model over each kind of tokenizer, in float64."""
    base = tmp_path_factory.mktemp("kinds")
    return {kind: lmscore.load(folder(base, kind), device="cpu", dtype="float64") for kind in KINDS}


def distributions(model, ids) -> list[np.ndarray]:
    """The log-probabilities (nats) after the end token and each prefix of the ids, one forward pass each."""
    import torch

    rows = []
    for n in range(len(ids) + 1):
        with torch.no_grad():
            given = torch.tensor([[model.encoder.tokenizer.eos_token_id, *ids[:n]]])
            rows.append(model.network(given).logits[0, -1].log_softmax(-1).numpy())
    return rows


@pytest.mark.parametrize(("kind", "text", "split"), SPLIT)
def test_words_equal_a_plain_loop(of_kind, kind, text, split):
    model = of_kind[kind]
    tokenizer = model.encoder.tokenizer
    pieces = [tokenizer.convert_ids_to_tokens(i) for i in range(len(tokenizer))]
    names = [piece for _, word in split for piece in word.split(" ")]
    ids = [pieces.index(name.replace("_", " ")) for name in names]
    rows = distributions(model, ids)
    opening = np.array([opens(kind, piece) for piece in pieces])
    end = np.array([piece == END for piece in pieces])

    def boundary(j):
        if j and pieces[ids[j - 1]] in ("Ġ", " "):
            return 1.0
        free = j == 0 and not opening[ids[0]]
        return float(np.exp(rows[j])[~opening | end if free else opening].sum())

    j = 0
    for (word, its), score in zip(split, compute_word_scores(table_of(model, text), Sentence(text)), strict=True):
        after = j + len(its.split(" "))
        naive = -BITS * sum(rows[k][ids[k]] for k in range(j, after))
        given = np.exp(rows[j])
        assert score.word.text == word
        assert score.surprisal_naive == pytest.approx(naive, abs=1e-9)
        assert score.surprisal == pytest.approx(naive + math.log2(boundary(j)) - math.log2(boundary(after)), abs=1e-9)
        assert score.entropy == pytest.approx(-(given * np.log2(given)).sum(), abs=1e-9)
        assert score.renyi == pytest.approx(2 * math.log2(np.sqrt(given).sum()), abs=1e-9)
        j = after
    assert j == len(ids)


@pytest.mark.parametrize(("kind", "text", "split"), SPLIT)
def test_sentences_and_regions_equal_a_plain_loop(of_kind, kind, text, split):
    model = of_kind[kind]
    ids = model.encoder.tokenizer(text, add_special_tokens=False)["input_ids"]
    rows = distributions(model, ids)
    logp = [rows[k][i] for k, i in enumerate(ids)]
    uni = [math.log((3 * (i == ids[0]) + 1) / (3 + len(rows[0]))) for i in ids]
    table = table_of(model, text)
    assert lp(table) == pytest.approx(sum(logp), abs=1e-9)
    assert mean_lp(table) == pytest.approx(sum(logp) / len(ids), abs=1e-9)
    assert pen_lp(table) == pytest.approx(sum(logp) / ((5 + len(ids)) / 6) ** 0.8, abs=1e-9)
    found = slor(table, Unigrams({ids[0]: 3}, len(rows[0])))
    assert found == pytest.approx((sum(logp) - sum(uni)) / len(ids), abs=1e-9)
    before = 0
    for word, (_, its) in zip(Sentence(text).list_words(), split, strict=True):
        after = before + len(its.removesuffix(" Ġ").split(" "))  # a last space is no word's
        region = Sentence(text, (Region("critical", word.start, word.end),))
        assert region_lp(table, region) == pytest.approx(sum(logp[before:after]), abs=1e-9)
        before = after


# A language that can be enumerated: two letters, with and without a space before them, a space, a newline, the end.

PIECES = ["<|endoftext|>", "a", "b", "Ġ", "Ċ", "Ġa", "bĊ"]
SHOWN = ["", "a", "b", " ", "\n", " a", "b\n"]
LONGEST = 4


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """A GPT-2 over those seven tokens; one of them ends in whitespace."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE({piece: i for i, piece in enumerate(PIECES)}, [("Ġ", "a"), ("b", "Ċ")]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|endoftext|>")
    torch.manual_seed(5)
    network = GPT2LMHeadModel(
        GPT2Config(vocab_size=7, n_positions=16, n_embd=16, n_layer=1, n_head=2, eos_token_id=0, initializer_range=0.4)
    )
    folder = save(tmp_path_factory.mktemp("letters"), tokenizer, network)
    return lmscore.load(folder, device="cpu", dtype="float64")


def by_hand(ids) -> EncodedText:
    """These tokens as a text, whether or not the tokenizer would choose them."""
    ends = list(itertools.accumulate(len(SHOWN[i]) for i in ids))
    begins = tuple(SHOWN[i][0].isspace() for i in ids)
    return EncodedText(
        context_ids=(0,),
        ids=tuple(ids),
        spans=tuple(zip([0, *ends[:-1]], ends, strict=True)),
        starts_with_space=begins,
        ends_with_space=tuple(SHOWN[i][-1].isspace() for i in ids),
        opening=OPENING_BOUNDARY if begins[0] else OPENING_TEXT,
    )


def continuations(history: tuple[int, ...]):
    """Yield every next word (with the whitespace before it) and every unfinished one, as ids and what it is.

    A word goes on until whitespace or the end comes. Without a history the first token has no whitespace before it.
    """
    first = [1, 2, 6] if not history else [3, 4, 5]

    def grow(ids):
        last = SHOWN[ids[-1]]
        has_word = bool("".join(SHOWN[i] for i in ids).strip())
        if has_word:
            yield ids, "word"
            if last[-1].isspace():
                return
        else:
            yield ids, "blank"
        if len(ids) == LONGEST:
            yield ids, "unfinished word" if has_word else "unfinished blank"
            return
        for i in [1, 2, 6] if has_word else [1, 2, 3, 4, 5, 6]:
            yield from grow((*ids, i))

    for i in first:
        yield from grow((i,))


@pytest.mark.parametrize("history", [(), (1,), (1, 2, 5)])
def test_the_corrected_probabilities_of_all_words_the_end_and_the_unfinished_sum_to_one(letters, history):
    found = list(continuations(history))
    tables = letters.forward([by_hand((*history, *ids)) for ids, _ in found])
    # Only the end row of an empty text is not reachable by a text, so its mass is taken from any first row.
    import torch

    with torch.no_grad():
        logp = letters.network(torch.tensor([[0, *history]])).logits[0, -1].log_softmax(-1).numpy()
    opening = tables[0].log_boundary[len(history)]
    total = math.exp(logp[0] - opening)
    for (_, kind), table in zip(found, tables, strict=True):
        text = "".join(SHOWN[i] for i in table.encoded_text.ids)
        given = math.exp(table.logprob[len(history) : -1].sum() - opening)
        if kind == "word":
            total += 2 ** -compute_word_scores(table, Sentence(text))[-1].surprisal
        elif kind == "blank":
            total += given * math.exp(table.logprob[-1])
        elif kind == "unfinished word":
            total += given * (1 - math.exp(table.log_boundary[-1]))
        else:
            total += given * (1 - math.exp(table.logprob[-1]))
    assert total == pytest.approx(1, abs=1e-9)


def test_joined_words_have_one_score_and_keep_the_identity(byte_model):
    text = "see the cat"
    whole = compute_word_scores(table_of(byte_model, text), Sentence(text))
    joined = compute_word_scores(table_of(byte_model, text), Sentence(text, (), ((0, 3), (4, 5), (5, 7), (8, 11))))
    assert [(s.word.text, s.word.index, s.words) for s in joined] == [("see", 0, 1), ("the", 1, 2), ("cat", 3, 1)]
    assert [s.surprisal for s in joined] == [s.surprisal for s in whole]


def test_a_table_without_boundary_masses_is_not_corrected(byte_model):
    text = "The cat sat."
    table = byte_model.forward([encode(byte_model.encoder, text)], columns=["logprob"])[0]
    for score in compute_word_scores(table, Sentence(text)):
        assert score.surprisal == score.surprisal_naive
        assert math.isnan(score.entropy)
        assert math.isnan(score.renyi)


# Regions and sentences


def test_a_region_of_many_pieces_is_the_sum_over_its_tokens(model):
    text = "No student has ever 猫 complained about it."
    for word in Sentence(text).list_words():
        sentence = Sentence(text, (Region("critical", word.start, word.end),))
        table = table_of(model, text)
        naive = next(s.surprisal_naive for s in compute_word_scores(table, sentence) if s.word.index == word.index)
        assert region_lp(table, sentence) == pytest.approx(-naive / BITS)


def test_regions_that_tile_a_sentence_sum_to_its_log_probability(model):
    text = "No student has ever complained."
    table = table_of(model, text)
    parts = [region_lp(table, Sentence(text, (Region("critical", a, b),))) for a, b in ((0, 10), (10, 20), (20, 31))]
    assert sum(parts) == pytest.approx(lp(table))


def test_an_absent_or_empty_region_has_no_score(byte_model):
    table = table_of(byte_model, "The cat sat.")
    assert region_lp(table, Sentence("The cat sat.")) is None
    assert region_lp(table, Sentence("The cat sat.", (Region("critical", 5, 5),))) is None
    assert region_lp(table, Sentence("The cat sat.", (Region("critical", 3, 4),))) is None


def test_a_region_edge_inside_a_token_is_an_error_that_names_both(byte_model):
    sentence = Sentence("see the cat", (Region("critical", 5, 11),))
    with pytest.raises(ValueError, match=r"region 'critical' \(characters 5 to 11\) .* token 'the' \(characters 4 to 7\)"):
        region_lp(table_of(byte_model, sentence.text), sentence)


def test_normalised_log_probabilities_follow_their_formulas(byte_model):
    table = table_of(byte_model, "No student has ever complained.")
    n = len(table.encoded_text.ids)
    assert lp(table) == pytest.approx(np.sum(table.logprob[:n]))
    assert mean_lp(table) == pytest.approx(lp(table) / n)
    assert pen_lp(table) == pytest.approx(lp(table) / ((5 + n) / 6) ** 0.8)


def marked(text: str) -> Sentence:
    """A sentence whose critical region stands in brackets."""
    start, end = text.index("["), text.index("]") - 1
    return Sentence(text.replace("[", "").replace("]", ""), (Region("critical", start, end),))


@pytest.mark.parametrize(
    ("good", "bad", "measures"),
    [
        ("She [sees] it.", "She [see] it.", {"critical_lp", "one_prefix"}),
        ("She [sees] it.", "They [sees] it.", {"critical_lp", "two_prefix"}),
        ("She [sees] it.", "They [see] it.", {"critical_lp"}),
        ("She [sees] it.", "She [sees] him.", {"critical_lp"}),
        ("[Who] sees it?", "[Whom] sees it?", {"critical_lp", "one_prefix"}),
        ("She [had seen] it.", "She [had saw] it.", {"critical_lp", "one_prefix"}),
    ],
)
def test_prefix_methods_fit_pairs_of_their_structure(good, bad, measures):
    regional = ("critical_lp", "one_prefix", "two_prefix")
    assert {measure for measure in regional if is_comparable(measure, marked(good), marked(bad))} == measures
    assert not any(is_comparable(measure, marked(good), Sentence("No region.")) for measure in regional)
    assert is_comparable("lp", marked(good), Sentence("No region."))


@pytest.mark.data
@pytest.mark.slow
def test_twenty_paradigms_of_blimp_fit_one_prefix_and_twenty_others_two_prefix(real_data):
    read = stimuli.read(*sorted((real_data / "blimp").glob("*.jsonl")))
    fitting = {measure: set() for measure in ("one_prefix", "two_prefix")}
    for item in read.items:
        for measure, paradigms in fitting.items():
            if is_comparable(measure, item.sentences["grammatical"], item.sentences["ungrammatical"]):
                paradigms.add(item.paradigm)
    assert {measure: len(paradigms) for measure, paradigms in fitting.items()} == {"one_prefix": 20, "two_prefix": 20}
    assert not fitting["one_prefix"] & fitting["two_prefix"]
