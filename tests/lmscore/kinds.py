"""Tokenizers of the kinds that differ in how they mark words: bytes, characters, WordPiece, SentencePiece unigrams."""

import string
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from .conftest import save, torch

END = "<end>"


def fast(backend: Tokenizer, unknown: str | None = None) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=END, unk_token=unknown)


def numbered(pieces) -> dict[str, int]:
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


def of_bytes() -> PreTrainedTokenizerFast:
    """One token a byte."""
    backend = Tokenizer(models.BPE(numbered([END, *sorted(pre_tokenizers.ByteLevel.alphabet())]), []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    return fast(backend)


def of_characters() -> PreTrainedTokenizerFast:
    """One token a character, of few."""
    pieces = [END, "[UNK]", *string.ascii_letters, *" \t\n.,?'é\u0301猫"]
    backend = Tokenizer(models.WordLevel(numbered(pieces), unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return fast(backend, "[UNK]")


def of_wordpieces() -> PreTrainedTokenizerFast:
    """BERT's: lower case without accents, the inside of words marked with ##."""
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    words = ["the", "cat", "did", "caf", "istanbul", "it", "猫", "在", "家", "'", ",", ".", "?"]
    backend = Tokenizer(models.WordPiece(numbered([END, "[UNK]", *words, *letters]), unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(cleanup=False)
    return fast(backend, "[UNK]")


def of_unigrams() -> PreTrainedTokenizerFast:
    """SentencePiece's: compatibility characters composed, ▁ before the first word and in place of spaces."""
    words = ["▁the", "▁cat", "▁caf", "▁fish", "▁did", "▁it"]
    pieces = [("<unk>", 0.0), (END, 0.0), *((word, -2.0) for word in words)]
    pieces += [(letter, -4.0) for letter in ("▁", *string.ascii_lowercase, *".,?'é猫")]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0))
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    backend.decoder = decoders.Metaspace(prepend_scheme="always")
    return fast(backend, "<unk>")


KINDS = {"bytes": of_bytes, "characters": of_characters, "wordpieces": of_wordpieces, "unigrams": of_unigrams}


def opens(kind: str, piece: str) -> bool:
    """Whether a piece of that kind begins a word or ends the text, as its notation says."""
    if kind == "wordpieces":
        return not piece.startswith("##")
    return piece == END or piece.startswith({"bytes": tuple("ĠĉĊċČčĜĝĞğ"), "characters": tuple(" \t\n"), "unigrams": "▁"}[kind])


def folder(path: Path, kind: str) -> Path:
    """Return a folder with a small GPT-2 over that tokenizer."""
    tokenizer = KINDS[kind]()
    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=2,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.3,
    )
    return save(path / kind, tokenizer, GPT2LMHeadModel(config))


# Kind, text, and each word with its pieces, written by hand.
SPLIT = [
    ("bytes", "a 猫", [("a", "a"), ("猫", "Ġ ç Į «")]),
    ("bytes", "café.", [("café.", "c a f Ã © .")]),
    ("bytes", "cafe\u0301 s", [("cafe\u0301", "c a f e Ì ģ"), ("s", "Ġ s")]),
    ("bytes", "a  b\tc\nd ", [("a", "a"), ("b", "Ġ Ġ b"), ("c", "ĉ c"), ("d", "Ċ d Ġ")]),
    ("bytes", "I 😀", [("I", "I"), ("😀", "Ġ ð Ł ĺ Ģ")]),
    ("bytes", "i\u200bt", [("i\u200bt", "i â Ģ ĭ t")]),
    ("bytes", "it didn't", [("it", "i t"), ("didn't", "Ġ d i d n ' t")]),
    ("characters", "é e\u0301 猫", [("é", "é"), ("e\u0301", "_ e \u0301"), ("猫", "_ 猫")]),
    ("characters", "it\tdidn't", [("it", "i t"), ("didn't", "\t d i d n ' t")]),
    ("characters", "x İ 😀", [("x", "x"), ("İ", "_ [UNK]"), ("😀", "_ [UNK]")]),
    ("characters", "a", [("a", "a")]),
    ("wordpieces", "The cat didn't, did it?", [("The", "the"), ("cat", "cat"), ("didn't,", "did ##n ' t ,"), ("did", "did"), ("it?", "it ?")]),
    ("wordpieces", "İstanbul café  cafe\u0301", [("İstanbul", "istanbul"), ("café", "caf ##e"), ("cafe\u0301", "caf ##e")]),
    ("wordpieces", "the 猫在家 😀", [("the", "the"), ("猫在家", "猫 在 家"), ("😀", "[UNK]")]),
    ("wordpieces", "i\u200bt the\n\tcat", [("i\u200bt", "it"), ("the", "the"), ("cat", "cat")]),
    ("unigrams", "the  cat s", [("the", "▁the"), ("cat", "▁ ▁cat"), ("s", "▁ s")]),
    ("unigrams", "ﬁsh ﬁt cafe\u0301", [("ﬁsh", "▁fish"), ("ﬁt", "▁ f i t"), ("cafe\u0301", "▁caf é")]),
    ("unigrams", "it didn't.", [("it", "▁it"), ("didn't.", "▁did n ' t .")]),
    ("unigrams", "猫", [("猫", "▁ 猫")]),
]  # fmt: skip
