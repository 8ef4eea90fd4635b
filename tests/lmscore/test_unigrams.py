"""Unigram probabilities: counted by hand, from a corpus and from a table."""

import math
from collections import Counter

import pytest

from gardenpath import lmscore, study
from gardenpath.lmscore import read_unigrams
from gardenpath.lmscore.measures.unigrams import Unigrams

pytestmark = pytest.mark.lm

CORPUS = "The cat sat.\n\nNo student has ever complained.\r\nthe cat\n"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(CORPUS.encode())
    return path


def test_a_corpus_is_counted_line_by_line_with_the_models_tokenizer(model, corpus):
    tokenizer = model.encoder.tokenizer
    counted = Counter()
    for line in ("The cat sat.", "No student has ever complained.", "the cat"):
        counted.update(tokenizer(line, add_special_tokens=False)["input_ids"])
    found = read_unigrams(corpus, model)
    assert found == Unigrams(counted, len(tokenizer))
    total = sum(counted.values())
    for i, count in counted.items():
        assert found.lp([i]) == pytest.approx(math.log((count + 1) / (total + len(tokenizer))))
    assert found.lp([*counted, *counted]) == pytest.approx(2 * sum(found.lp([i]) for i in counted))


def test_all_tokens_together_have_probability_one(byte_model, corpus):
    found = read_unigrams(corpus, byte_model)
    assert sum(math.exp(found.lp([i])) for i in range(found.vocabulary_size)) == pytest.approx(1)
    unseen = next(i for i in range(found.vocabulary_size) if i not in found.counts)
    assert found.lp([unseen]) == pytest.approx(-math.log(sum(found.counts.values()) + found.vocabulary_size))


def test_a_protocol_with_a_leading_space_counts_with_one(byte_model, corpus):
    spaced = byte_model.encoder.tokenizer(" the cat", add_special_tokens=False)["input_ids"]
    plain, led = (read_unigrams(corpus, byte_model, protocol) for protocol in ("default", "lm-eval"))
    assert led.counts != plain.counts
    assert set(spaced) <= set(led.counts)


def test_special_tokens_in_a_corpus_are_read_as_text(byte_model, tmp_path):
    path = tmp_path / "marked.txt"
    path.write_text("the cat<|endoftext|>\n")
    assert not byte_model.encoder.end_ids & set(read_unigrams(path, byte_model).counts)


def test_a_table_of_counts_gives_what_the_corpus_gives(model, corpus, tmp_path):
    import pandas as pd

    counted = read_unigrams(corpus, model)
    tokens = model.encoder.tokenizer.convert_ids_to_tokens(list(counted.counts))
    table = tmp_path / "counts.csv"
    pd.DataFrame({"token": tokens, "count": list(counted.counts.values())}).to_csv(table, index=False)
    assert read_unigrams(table, model) == counted


def test_slor_of_the_tables_is_that_of_the_formula(byte_model, materials, corpus):
    counted = read_unigrams(corpus, byte_model)
    rows = lmscore.score(materials, byte_model, unigrams=corpus).sentence_scores.set_index(["item", "condition"])
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            ids = byte_model.encoder.tokenizer(sentence.text, add_special_tokens=False)["input_ids"]
            row = rows.loc[item.id, condition]
            assert row["slor"] == pytest.approx((row["lp"] - sum(counted.lp([i]) for i in ids)) / len(ids))
    assert lmscore.score(materials, byte_model).sentence_scores["slor"].isna().all()


def test_slor_compares_pairs_and_needs_unigrams(byte_model, materials, corpus):
    pairs = lmscore.evaluate(materials, byte_model, ["slor"], unigrams=corpus)
    rows = lmscore.score(materials, byte_model, unigrams=corpus).sentence_scores.set_index(["item", "condition"])
    for row in pairs.itertuples():
        assert row.score_grammatical == pytest.approx(rows.loc[(row.item, "grammatical"), "slor"])
    with pytest.raises(ValueError, match=r"'slor' needs .* give unigrams \(--unigrams FILE\)"):
        lmscore.evaluate(materials, byte_model, ["slor"])


@pytest.mark.parametrize(
    ("name", "raw", "fault"),
    [
        ("empty.txt", b"\n \n", "empty.txt: no token is counted; expected text"),
        ("latin.txt", b"the cat\ncaf\xe9\n", "latin.txt, line 2: byte 0xe9 is not UTF-8"),
        ("columns.csv", b"word,n\nthe,3\n", "columns.csv: columns word, n; expected token,count"),
        ("strange.csv", b"token,count\ndogma,3\n", "strange.csv, line 2: 'dogma' is not a token of this model"),
        ("twice.csv", b"token,count\na,3\na,4\n", "twice.csv, line 3: 'a' occurs twice"),
        ("minus.csv", b"token,count\na,-3\n", "minus.csv, line 2: count '-3' of 'a'; expected a whole number"),
    ],
)
def test_a_file_that_gives_no_counts_is_an_error_with_its_line(byte_model, tmp_path, name, raw, fault):
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(study.DataError) as caught:
        read_unigrams(path, byte_model)
    assert fault in str(caught.value)


def test_every_fault_of_a_table_is_found(byte_model, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("token,count\n" + "".join(f"dogma{k},1\n" for k in range(8)))
    with pytest.raises(study.DataError) as caught:
        read_unigrams(path, byte_model)
    assert len(caught.value.faults) == 6
    assert caught.value.faults[-1] == "and 3 more such lines"


def test_a_model_without_a_tokenizer_is_told_so(corpus):
    class Words:
        name = "words"
        masked = False

    with pytest.raises(ValueError, match="model words has no tokenizer that could count unigrams"):
        read_unigrams(corpus, Words())
