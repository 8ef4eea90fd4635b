"""Text becomes tokens with code-point spans; every token belongs to exactly one word, or to several at once."""

import dataclasses

import pytest

from gardenpath.lmscore.tokens.encoding import (
    OPENING_BOUNDARY,
    OPENING_CERTAIN,
    OPENING_TEXT,
    Encoder,
    _cover_text,
    align_tokens_to_words,
    build_vocabulary,
    encode,
)
from gardenpath.stimuli import Region, Sentence

from .conftest import whitespace_marks
from .kinds import END, KINDS, SPLIT

pytestmark = pytest.mark.lm

TEXTS = {
    "contraction": "The cat didn't sit on the mat, did it?",
    "double space": "The  cat sat  on the mat.",
    "tab and newline": "The cat\tsat\non the mat.",
    "leading and trailing space": " The cat sat. ",
    "emoji": "The 😀 cat 👩‍👩‍👧 sat.",
    "Chinese": "The 猫 sat on 垫子.",
    "composed accent": "Müller's café",
    "decomposed accent": "Mu\u0308ller's cafe\u0301",
    "no-break space": "The\u00a0cat sat.",
    "one token": "a",
    "special token": "The <|endoftext|> cat </s> sat.",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_spans_of_a_word_are_its_characters(model, text):
    encoded, sentence = encode(model.encoder, text), Sentence(text)
    found = align_tokens_to_words(encoded, sentence)
    assert [unit.word for unit in found] == sentence.list_words()
    assert [unit.first for unit in found] == [0, *(unit.stop for unit in found[:-1])]
    assert found[-1].stop == len(encoded.ids)
    for unit in found:
        spans = encoded.spans[unit.first : unit.stop]
        assert spans[0][0] <= unit.word.start
        assert spans[-1][1] >= unit.word.end
        assert text[min(a for a, _ in spans) : max(b for _, b in spans)].strip() == unit.word.text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_special_token_comes_from_the_text(model, text):
    special = {model.encoder.prefix, *model.encoder.end_ids}
    assert not special & set(encode(model.encoder, text).ids)


def test_the_prefix_token_is_fed_once_whatever_the_tokenizer_adds(model):
    encoded = encode(model.encoder, "The cat sat.")
    assert encoded.context_ids == (model.encoder.prefix,)
    assert model.encoder.prefix not in encoded.ids


def test_the_prefix_is_bos_where_there_is_one_and_else_the_end_of_text(folders):
    from gardenpath import lmscore

    names = {}
    for kind, folder in folders.items():
        encoder = lmscore.load(folder, device="cpu").encoder
        names[kind] = encoder.tokenizer.convert_ids_to_tokens(encoder.prefix)
    assert names == {"gpt2": "<|endoftext|>", "llama": "<s>", "metaspace": "<s>"}


def test_a_first_word_is_marked_only_by_a_tokenizer_that_prepends_whitespace(model):
    marked = encode(model.encoder, "The cat").starts_with_space[0]
    assert encode(model.encoder, "The cat").opening == (OPENING_BOUNDARY if marked else OPENING_TEXT)
    assert marked == (model.encoder.tokenizer.bos_token == "<s>")
    assert encode(model.encoder, " cat").opening == OPENING_BOUNDARY


def test_a_context_is_fed_and_its_spans_are_not_counted(byte_model):
    alone = encode(byte_model.encoder, "the cat")
    after = encode(byte_model.encoder, "the cat", context="I saw")
    assert len(after.context_ids) > 1
    assert after.opening == OPENING_BOUNDARY
    assert after.starts_with_space[0]
    assert not alone.starts_with_space[0]
    assert after.spans[0][0] == 0
    assert encode(byte_model.encoder, "the cat", context="I saw\n").opening == OPENING_CERTAIN
    assert encode(byte_model.encoder, "猫 cat", context="I saw").spans[0] == (0, 0)


def test_characters_split_into_bytes_stay_whole(byte_model):
    encoded = encode(byte_model.encoder, "a 猫 b")
    assert encoded.spans == ((0, 1), (1, 2), (2, 3), (2, 3), (2, 3), (3, 5))
    assert [(unit.first, unit.stop) for unit in align_tokens_to_words(encoded, Sentence("a 猫 b"))] == [(0, 1), (1, 5), (5, 6)]


def cut(*regions: Region) -> Sentence:
    """'see the cat', whose author cuts 'the', one token here, into two words."""
    return Sentence("see the cat", regions, ((0, 3), (4, 5), (5, 7), (8, 11)))


def test_a_token_that_spans_two_of_the_authors_words_joins_them(byte_model):
    encoded = encode(byte_model.encoder, "see the cat")
    assert encoded.spans.count((3, 7)) == 1
    found = align_tokens_to_words(encoded, cut(Region("critical", 4, 7)))
    assert [(unit.word.index, unit.word.text, unit.word_count) for unit in found] == [(0, "see", 1), (1, "the", 2), (3, "cat", 1)]
    assert found[1].stop - found[1].first == 1
    assert found[1].word.region == "critical"


def test_a_chain_of_joined_words_is_one_unit(byte_model):
    encoded = encode(byte_model.encoder, "the cat sat")
    twice = dataclasses.replace(
        encoded, ids=(1, 2), spans=((0, 5), (5, 11)), starts_with_space=(False,) * 2, ends_with_space=(False,) * 2
    )
    [unit] = align_tokens_to_words(twice, Sentence("the cat sat"))
    assert (unit.word.index, unit.word.text, unit.word_count) == (0, "the cat sat", 3)


def test_a_region_edge_inside_joined_words_is_an_error_that_names_both(byte_model):
    encoded = encode(byte_model.encoder, "see the cat")
    with pytest.raises(ValueError, match=r"region 'cue' \(characters 5 to 11\) has an edge inside 'the' \(characters 4 to 7\)"):
        align_tokens_to_words(encoded, cut(Region("cue", 5, 11)))


def test_the_vocabulary_knows_what_begins_and_ends_with_whitespace(model):
    marks = whitespace_marks(model)
    for piece, i in model.encoder.tokenizer.get_vocab().items():
        assert model.encoder.vocabulary.starts_with_space[i] == piece.startswith(marks), piece
        assert model.encoder.vocabulary.ends_with_space[i] == piece.endswith(marks), piece


@pytest.mark.parametrize(
    ("text", "offsets", "spans"),
    [
        ("cafe\u0301 x", [(0, 3), (3, 4), (5, 7)], [(0, 3), (3, 5), (5, 7)]),  # the accent was composed away
        ("a  b ", [(0, 1), (3, 4)], [(0, 1), (1, 5)]),  # offsets without whitespace
        ("ab", [(0, 1), (0, 2)], [(0, 1), (0, 2)]),  # a mark before the first letter
        (" a", [(1, 2)], [(0, 2)]),
        ("猫", [(0, 1), (0, 1), (0, 1)], [(0, 1), (0, 1), (0, 1)]),
    ],
)
def test_spans_are_made_whole(text, offsets, spans):
    assert _cover_text(text, offsets) == spans


@pytest.mark.parametrize(
    ("model", "decoder", "begins", "ends"),
    [
        ("WordPiece", "WordPiece", {"the": True, "##s": False, "a": True}, {"the": False, "##s": False, "a": False}),
        ("BPE", "BPEDecoder", {"the</w>": False, "s": False}, {"the</w>": True, "s": False}),
    ],
)
def test_pieces_with_marks_inside_or_at_the_end_of_words_are_known(model, decoder, begins, ends):
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = {piece: i for i, piece in enumerate(begins)}
    arguments = {"unk_token": "the"} if model == "WordPiece" else {"merges": [], "end_of_word_suffix": "</w>"}
    backend = tokenizers.Tokenizer(getattr(tokenizers.models, model)(pieces, **arguments))
    backend.decoder = getattr(tokenizers.decoders, decoder)()
    found = build_vocabulary(PreTrainedTokenizerFast(tokenizer_object=backend), len(pieces))
    assert {piece: bool(found.starts_with_space[i]) for piece, i in pieces.items()} == begins
    assert {piece: bool(found.ends_with_space[i]) for piece, i in pieces.items()} == ends


@pytest.mark.parametrize(("kind", "text", "expected"), SPLIT)
def test_words_have_the_pieces_that_hand_and_eye_give_them(kind, text, expected):
    tokenizer = KINDS[kind]()
    end = tokenizer.convert_tokens_to_ids(END)
    encoded = encode(Encoder(tokenizer, build_vocabulary(tokenizer, len(tokenizer)), end, frozenset([end])), text)
    pieces = [piece.replace(" ", "_") for piece in tokenizer.convert_ids_to_tokens(list(encoded.ids))]
    found = align_tokens_to_words(encoded, Sentence(text))
    assert [(unit.word.text, " ".join(pieces[unit.first : unit.stop])) for unit in found] == expected
    assert {unit.word_count for unit in found} == {1}
    assert encoded.unknown_count == pieces.count(tokenizer.unk_token)


def test_a_word_that_the_tokenizer_drops_joins_the_one_before():
    tokenizer = KINDS["wordpieces"]()
    encoder = Encoder(tokenizer, build_vocabulary(tokenizer, len(tokenizer)), 0, frozenset([0]))
    text = "the \u200b cat"
    found = align_tokens_to_words(encode(encoder, text), Sentence(text))
    assert [(unit.word.text, unit.word_count) for unit in found] == [("the \u200b", 2), ("cat", 1)]


def test_pieces_beyond_a_gap_in_the_ids_are_known():
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = {"the": 0, "##s": 1, "a": 9}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(pieces, unk_token="the"))
    backend.decoder = tokenizers.decoders.WordPiece()
    found = build_vocabulary(PreTrainedTokenizerFast(tokenizer_object=backend), 12)
    assert [i for i, begins in enumerate(found.starts_with_space) if begins] == [0, 9]
