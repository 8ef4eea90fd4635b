"""Words, regions and sentences: identities that hold exactly, and the sum over an enumerable language."""

import itertools
import math

import numpy as np
import pytest

from gardenpath import lmscore
from gardenpath.lmscore import encode, region_lp, words
from gardenpath.lmscore.encoding import BOUNDARY, TEXT, Encoded
from gardenpath.lmscore.reductions import lp, mean_lp, pen_lp
from gardenpath.stimuli import Region, Sentence

from .conftest import save
from .test_encoding import TEXTS

pytestmark = pytest.mark.lm

BITS = 1 / math.log(2)


def table_of(model, text, context=None):
    return model.forward([encode(model.encoder, text, context)])[0]


def telescoped(table):
    """What the corrected scores must sum to, in bits: all tokens, less the first edge, plus the last."""
    closing = 0.0 if table.encoded.ends[-1] else table.log_boundary[-1]
    return BITS * (-lp(table) - closing + table.log_boundary[0])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_corrected_scores_telescope(model, text):
    table = table_of(model, text)
    scores = words(table, Sentence(text))
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert sum(s.surprisal_naive for s in scores) == pytest.approx(-BITS * lp(table), abs=1e-9)
    assert sum(s.tokens for s in scores) == len(table.encoded.ids)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_corrected_scores_telescope_in_float32(folders, kind):
    model = lmscore.load(folders[kind], device="cpu")
    for text in TEXTS.values():
        table = table_of(model, text)
        assert sum(s.surprisal for s in words(table, Sentence(text))) == pytest.approx(telescoped(table), abs=1e-4)


@pytest.mark.parametrize("context", ["No student came.", "No student came.\n", "No student came. "])
def test_a_context_changes_scores_and_keeps_the_identity(model, context):
    table = table_of(model, "The cat sat.", context)
    scores = words(table, Sentence("The cat sat."))
    assert [s.word.text for s in scores] == ["The", "cat", "sat."]
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert scores[0].surprisal != pytest.approx(
        words(table_of(model, "The cat sat."), Sentence("The cat sat."))[0].surprisal
    )


def test_a_words_entropy_is_that_before_its_first_token(byte_model):
    table = table_of(byte_model, "The cat complained.")
    second = words(table, Sentence("The cat complained."))[1]
    first = words(table, Sentence("The cat complained."))[0].tokens
    assert second.entropy == pytest.approx(BITS * table.entropy[first])
    assert 0 < second.entropy < math.log2(len(byte_model.boundary))


def test_an_authors_segmentation_without_spaces_is_not_corrected(byte_model):
    sentence = Sentence("猫在家", (), ((0, 1), (1, 2), (2, 3)))
    for score in words(table_of(byte_model, sentence.text), sentence):
        assert score.surprisal == score.surprisal_naive
    mixed = Sentence("The cat.", (), ((0, 3), (4, 7), (7, 8)))
    table = table_of(byte_model, mixed.text)
    scores = words(table, mixed)
    assert sum(s.surprisal for s in scores) == pytest.approx(telescoped(table), abs=1e-9)
    assert scores[1].surprisal == pytest.approx(scores[1].surprisal_naive + BITS * table.log_boundary[scores[0].tokens])


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


def by_hand(ids) -> Encoded:
    """These tokens as a text, whether or not the tokenizer would choose them."""
    ends = list(itertools.accumulate(len(SHOWN[i]) for i in ids))
    begins = tuple(SHOWN[i][0].isspace() for i in ids)
    return Encoded(
        fed=(0,),
        ids=tuple(ids),
        spans=tuple(zip([0, *ends[:-1]], ends, strict=True)),
        begins=begins,
        ends=tuple(SHOWN[i][-1].isspace() for i in ids),
        opening=BOUNDARY if begins[0] else TEXT,
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
        text = "".join(SHOWN[i] for i in table.encoded.ids)
        given = math.exp(table.logprob[len(history) : -1].sum() - opening)
        if kind == "word":
            total += 2 ** -words(table, Sentence(text))[-1].surprisal
        elif kind == "blank":
            total += given * math.exp(table.logprob[-1])
        elif kind == "unfinished word":
            total += given * (1 - math.exp(table.log_boundary[-1]))
        else:
            total += given * (1 - math.exp(table.logprob[-1]))
    assert total == pytest.approx(1, abs=1e-9)


# Regions and sentences


def test_a_region_of_many_pieces_is_the_sum_over_its_tokens(model):
    text = "No student has ever 猫 complained about it."
    for word in Sentence(text).words():
        sentence = Sentence(text, (Region("critical", word.start, word.end),))
        table = table_of(model, text)
        naive = next(s.surprisal_naive for s in words(table, sentence) if s.word.index == word.index)
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
    with pytest.raises(
        ValueError, match=r"region 'critical' \(characters 5 to 11\) .* token 'the' \(characters 4 to 7\)"
    ):
        region_lp(table_of(byte_model, sentence.text), sentence)


def test_normalised_log_probabilities_follow_their_formulas(byte_model):
    table = table_of(byte_model, "No student has ever complained.")
    n = len(table.encoded.ids)
    assert lp(table) == pytest.approx(np.sum(table.logprob[:n]))
    assert mean_lp(table) == pytest.approx(lp(table) / n)
    assert pen_lp(table) == pytest.approx(lp(table) / ((5 + n) / 6) ** 0.8)
