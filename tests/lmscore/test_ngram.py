"""N-gram models equal a Kneser-Ney of dictionaries, KenLM's estimates and its query; every distribution sums to 1."""

import dataclasses
import gzip
import itertools
import math
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from gardenpath import lmscore, study
from gardenpath.lmscore.measures import reductions
from gardenpath.lmscore.models import ngram
from gardenpath.lmscore.models.interface import COLUMNS
from gardenpath.lmscore.toy import grammar
from gardenpath.stimuli import Item, Materials, Paradigm, Region, Sentence

SMALL = [
    "the cat sat on the mat.",
    "the dog sat on the log.",
    "a cat and a dog sat.",
    "the cat saw the dog and the mat.",
    "on the mat sat a cat.",
]
TEXTS = ["the dog saw a cat.", "a zebra sat on the mat, sat.", "log", "the the the the the the"]


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    """Two thousand sentences of our own grammar (of a seed whose counts give every order its discounts), and some shorter than any order."""
    return [*itertools.islice(grammar.draw_sentences(7), 2000), "Yes.", "No", "Yes."]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, sentences) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(sentences), encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path) -> Path:
    path = tmp_path / "small.txt"
    path.write_text("\n".join(SMALL), encoding="utf-8")
    return path


class Dictionaries:
    """Interpolated modified Kneser-Ney written from Chen & Goodman's formulas, with lmplz's choices, one word a time."""

    def __init__(self, sentences: list[str], order: int) -> None:
        self.order = order
        texts = [["<s>", *(token for token, _ in ngram.split_tokens(s)), "</s>"] for s in sentences]
        self.words = {"<unk>", "</s>"} | {word for text in texts for word in text[1:]}
        raw = Counter(tuple(text[i : i + n]) for text in texts for n in range(1, order + 1) for i in range(len(text) - n + 1))
        before = defaultdict(set)
        for gram in raw:
            before[gram[1:]].add(gram[0])
        self.counts = {
            gram: count if len(gram) == order or gram[0] == "<s>" else len(before[gram])
            for gram, count in raw.items()
            if gram != ("<s>",)
        }
        self.following = defaultdict(dict)
        for gram, count in self.counts.items():
            self.following[gram[:-1]][gram[-1]] = count
        self.discounts = {n: self._discounts(n) for n in range(1, order + 1)}
        self.total = {context: sum(counts.values()) for context, counts in self.following.items()}
        self.held = {
            context: sum(self.discounts[len(context) + 1][min(count, 3)] for count in counts.values())
            for context, counts in self.following.items()
        }

    def _discounts(self, n: int) -> dict[int, float]:
        of = Counter(count for gram, count in self.counts.items() if len(gram) == n)
        try:
            y = of[1] / (of[1] + 2 * of[2])
            found = {k: k - (k + 1) * y * of[k + 1] / of[k] for k in (1, 2, 3)}
        except ZeroDivisionError:
            return {1: 0.5, 2: 1.0, 3: 1.5}
        return found if all(0 <= found[k] <= k for k in found) else {1: 0.5, 2: 1.0, 3: 1.5}

    def p(self, word: str, context: tuple[str, ...]) -> float:
        context = context[max(0, len(context) - self.order + 1) :]
        lower = self.p(word, context[1:]) if context else 1 / len(self.words)
        if context not in self.following:
            return lower
        count = self.following[context].get(word, 0)
        own = count - self.discounts[len(context) + 1][min(count, 3)] if count else 0
        return (own + self.held[context] * lower) / self.total[context]

    def distribution(self, context: tuple[str, ...]) -> dict[str, float]:
        known = tuple(word if word in self.words or word == "<s>" else "<unk>" for word in context)
        return {word: self.p(word, known) for word in self.words}


def contexts(model, table) -> list[tuple[str, ...]]:
    """The words before each row of a table."""
    ids = (*table.encoded_text.context_ids, *table.encoded_text.ids)
    first = len(table.encoded_text.context_ids)
    return [tuple(model.words[i] for i in ids[:end]) for end in range(first, len(ids) + 1)]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_column_equals_a_kneser_ney_of_dictionaries(corpus, sentences, order):
    model, slow = ngram.estimate_ngram(corpus, order), Dictionaries(sentences, order)
    assert model.metadata["discount_fallback_orders"] == []
    texts = [*random.Random(order).sample(sentences, 6), "Yes", "No zebra has the teacher.", "The the"]
    encoded = [*map(model.encode, texts), model.encode("cats sleep", "The old zebra saw that")]
    for table in model.forward(encoded):
        for j, context in enumerate(contexts(model, table)):
            p = slow.distribution(context)
            word = model.words[table.encoded_text.ids[j]] if j < len(table.encoded_text.ids) else "</s>"
            assert table.logprob[j] == pytest.approx(math.log(p[word]), abs=1e-10)
            assert table.entropy[j] == pytest.approx(-sum(q * math.log(q) for q in p.values()), abs=1e-10)
            assert table.renyi[j] == pytest.approx(2 * math.log(sum(map(math.sqrt, p.values()))), abs=1e-10)
            assert table.log_boundary[j] == 0


@pytest.mark.parametrize("order", [1, 2, 4])
def test_probabilities_sum_to_one_after_every_context_of_the_corpus_and_after_others(small, order):
    model = ngram.estimate_ngram(small, order)
    words = range(len(model.words))
    after = [(1, *c) for n in range(order) for c in itertools.product([i for i in words if i not in (1, 2)], repeat=n)]
    after = random.Random(1).sample(after, min(len(after), 300))
    after += [tuple(model.encode(text).ids[:k]) for text in SMALL for k in range(1, 7)]
    shape = model.encode("cat")
    for context in after:
        ends = [dataclasses.replace(shape, context_ids=context, ids=(i,)) for i in words if i not in (1, 2)]
        tables = model.forward(ends, columns=("logprob",))
        end = model.forward([dataclasses.replace(shape, context_ids=context[:-1], ids=context[-1:])], columns=("end",))
        total = sum(math.exp(t.logprob[0]) for t in tables) + math.exp(end[0].logprob[1])
        assert total == pytest.approx(1, abs=1e-12)


# log10 probability and backoff as KenLM 0.3.0's `lmplz -o 3 --discount_fallback` gives them for the five sentences.
LMPLZ = {
    ("<unk>",): (-1.3827887, 0.0),
    ("cat",): (-1.2171628, -0.22184873),
    (".",): (-0.8821863, -0.8239088),
    ("a",): (-1.0329101, -0.1153934),
    (".", "</s>"): (-0.06547166, 0.0),
    ("<s>", "the"): (-0.27800903, -0.30103),
    ("the", "cat"): (-0.94628525, -0.30103),
    ("cat", ".", "</s>"): (-0.031503215, 0.0),
    ("<s>", "on", "the"): (-0.20014648, 0.0),
    ("the", "cat", "sat"): (-0.48437697, 0.0),
    ("a", "cat", "."): (-0.46935326, 0.0),
}


def test_estimates_are_those_of_lmplz(small, caplog):
    model = ngram.estimate_ngram(small, 3)
    assert np.array(model.metadata["discounts"]) == pytest.approx(
        np.array([[0.333333, 1.5, 1.66667], [0.6, 1.7, 0.6], [0.5, 1.0, 1.5]]), abs=1e-5
    )
    assert [len(level.keys) for level in model.levels] == [14, 26, 32]
    for gram, (logprob, backoff) in LMPLZ.items():
        row = rows(model, gram)
        level = model.levels[len(gram) - 1]
        assert level.logprob[row] / math.log(10) == pytest.approx(logprob, abs=1e-6)
        assert level.backoff[row] / math.log(10) == pytest.approx(backoff, abs=1e-6)
    assert "discounts of order 3; took 0.5, 1.0, 1.5" in caplog.text


def rows(model, gram: tuple[str, ...]) -> int:
    """The row of an n-gram in its level."""
    row = 0
    for level, word in zip(model.levels, gram, strict=False):
        row = int(level.find(np.array([row * len(model.words) + model.words.index(word)]))[0])
    assert row >= 0
    return row


@pytest.mark.parametrize("ending", [".arpa", ".arpa.gz"])
def test_a_written_arpa_file_is_the_same_model_when_read(corpus, tmp_path, sentences, ending):
    model = ngram.estimate_ngram(corpus, 4)
    path = model.write(tmp_path / f"model{ending}")
    again = lmscore.load(f"ngram:{path}")
    assert again.order == 4
    texts = [*sentences[:20], "No zebra has the teacher."]
    for one, other in zip(*(m.forward([m.encode(t) for t in texts]) for m in (model, again)), strict=True):
        for column in ("logprob", "log_boundary", "entropy", "renyi"):
            np.testing.assert_allclose(getattr(one, column), getattr(other, column), atol=1e-6)


PRUNED = """
\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-99\t<s>\t-0.5
-0.9 </s>
-0.7\ta\t-0.2
-0.8\tb\t-0.3
-1.1\tno\u00a0space

\\2-grams:
-0.2\t<s> a\t-0.1
-0.4\tb a
-0.3\ta b\t-0.4

\\3-grams:
-0.05\t<s> a a

\\end\\
"""


def test_a_pruned_arpa_file_of_another_tool_backs_off_as_the_format_says(tmp_path, caplog):
    path = tmp_path / "pruned.arpa"
    path.write_text(PRUNED, encoding="utf-8")
    caplog.set_level("INFO")
    model = lmscore.load(f"ngram:{path}")
    assert "has no <unk>" in caplog.text
    (table,) = model.forward([model.encode("a a b zebra")])
    # p(a|<s>), p(a|<s> a), p(b|<s> a a backed off to a), p(<unk>|a b -> b), p(</s>|<unk>)
    expected = [-0.2, -0.05, -0.3, -0.4 - 0.3 - 100, -0.9]
    np.testing.assert_allclose(table.logprob / math.log(10), expected, atol=1e-12)
    assert table.encoded_text.unknown_count == 1
    after_s_a = {"</s>": -0.1 - 0.2 - 0.9, "a": -0.05, "b": -0.1 - 0.3, "no": -0.1 - 0.2 - 1.1, "<unk>": -100.3}
    p = [10**x for x in after_s_a.values()]
    assert table.entropy[1] == pytest.approx(-sum(q * math.log(q) for q in p), abs=1e-12)
    assert table.renyi[1] == pytest.approx(2 * math.log(sum(map(math.sqrt, p))), abs=1e-12)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_kenlm_queries_the_written_file_with_the_same_result(corpus, tmp_path, sentences, order):
    kenlm = pytest.importorskip("kenlm", reason="kenlm is not installed (pip install kenlm builds it in a minute)")
    model = ngram.estimate_ngram(corpus, order)
    theirs = kenlm.Model(str(model.write(tmp_path / "model.arpa")))
    texts = [*sentences[:300], *TEXTS, "No zebra has the teacher."]
    for text, table in zip(texts, model.forward([model.encode(text) for text in texts]), strict=True):
        cut = " ".join(token for token, _ in ngram.split_tokens(text))
        found = list(theirs.full_scores(cut, bos=True, eos=True))
        np.testing.assert_allclose(table.logprob / math.log(10), [score for score, _, _ in found], atol=1e-4)
        assert table.encoded_text.unknown_count == sum(oov for _, _, oov in found)


def test_punctuation_at_the_edges_of_words_is_cut_off_and_nothing_is_lost():
    def cut(text: str) -> list[str]:
        found = list(ngram.split_tokens(text))
        assert [text[start:end] for _, (start, end) in found] == [token for token, _ in found]
        assert "".join(token for token, _ in found) == "".join(text.split())
        return [token for token, _ in found]

    assert cut("The cat didn't sit, did it?") == ["The", "cat", "didn't", "sit", ",", "did", "it", "?"]
    assert cut('He said:  "No..."\n') == ["He", "said", ":", '"', "No", ".", ".", ".", '"']
    assert cut("state-of-the-art U.S. $5 (a)") == ["state-of-the-art", "U.S", ".", "$", "5", "(", "a", ")"]
    assert cut("cafe\u0301. हिन्दी। 猫が。") == ["cafe\u0301", ".", "हिन्दी", "।", "猫が", "。"]
    assert cut("— İ") == ["—", "İ"]
    assert cut(" \t ") == []


def test_words_own_their_punctuation_and_a_region_may_end_before_it(small):
    model = lmscore.load(f"ngram:{small}")
    sentence = Sentence("the zebra sat  on the mat.", (Region("critical", 22, 25),))
    (table,) = model.forward([model.encode(sentence.text)])
    scores = lmscore.compute_word_scores(table, sentence)
    assert [score.tokens for score in scores] == [1, 1, 1, 1, 1, 2]
    assert [score.surprisal for score in scores] == [score.surprisal_naive for score in scores]
    assert sum(s.surprisal for s in scores) == pytest.approx(-reductions.BITS_PER_NAT * reductions.lp(table))
    assert lmscore.region_lp(table, sentence) == table.logprob[5]
    assert table.encoded_text.unknown_count == 1


def test_context_is_fed_and_the_options_of_protocols_hold(small):
    model = lmscore.load(f"ngram:{small}:2")
    (whole,) = model.forward([model.encode("on the mat sat a cat.")])
    (rest,) = model.forward([model.encode("sat a cat.", "on the mat")])
    np.testing.assert_array_equal(rest.logprob, whole.logprob[3:])
    assert model.encode("sat", leading_space=True) == model.encode("sat")
    bare = model.encode("on the mat sat a cat.", prefix=False)
    assert (bare.context_ids, bare.lead_spans) == ((model.words.index("on"),), ((0, 2),))
    np.testing.assert_array_equal(model.forward([bare])[0].logprob, whole.logprob[1:])
    assert model.encode("cat", prefix=False).ids == ()
    with pytest.raises(ValueError, match=r"'  ' has no token; expected at least one word"):
        model.encode("  ")


@pytest.mark.parametrize("columns", [("logprob",), ("end",), ("entropy",), ("renyi", "log_boundary"), COLUMNS])
def test_columns_that_are_not_asked_for_are_nan(small, columns):
    model = lmscore.load(f"ngram:{small}")
    encoded = [model.encode(text) for text in TEXTS]
    for table, full in zip(model.forward(encoded, columns=columns), model.forward(encoded), strict=True):
        for name, (got, all_) in {
            "logprob": (table.logprob[:-1], full.logprob[:-1]),
            "end": (table.logprob[-1], full.logprob[-1]),
            "log_boundary": (table.log_boundary, full.log_boundary),
            "entropy": (table.entropy, full.entropy),
            "renyi": (table.renyi, full.renyi),
        }.items():
            np.testing.assert_array_equal(got, all_ if name in columns else np.full_like(all_, np.nan))


def test_materials_are_scored_and_evaluated_by_an_ngram_model(small):
    good = Sentence("the cat sat on the mat.", (Region("critical", 8, 11),))
    bad = Sentence("the cat mat on the sat.", (Region("critical", 8, 11),))
    materials = Materials((Paradigm("order", "order"),), (Item("order-1", "order", {"grammatical": good, "ungrammatical": bad}),))
    scores = lmscore.score(materials, f"ngram:{small}")
    assert set(scores.surprisal["model"]) == {f"ngram:{small}"}
    assert (scores.surprisal["surprisal"] == scores.surprisal["surprisal_naive"]).all()
    pairs = lmscore.evaluate(materials, f"ngram:{small}:2", ["lp", "critical_lp"])
    assert pairs["correct"].all()


def test_a_gzipped_text_and_the_order_in_the_name_are_understood(small, tmp_path):
    packed = tmp_path / "small.txt.gz"
    packed.write_bytes(gzip.compress(small.read_bytes(), mtime=0))
    one, other = lmscore.load(f"ngram:{small}:2"), lmscore.load(f"ngram:{packed}:2")
    assert one.order == other.order == 2
    assert one.words == other.words
    facts = one.describe()
    assert facts["architecture"] == "2-gram"
    assert facts["corpus_sentences"] == 5
    assert facts["sha256"] == {"small.txt": study.files.hash_file(small)}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", r"a\.txt: holds no word"),
        ("a.txt", b"\n \n\n", r"a\.txt: holds no word"),
        ("a.txt", b"one\ntwo caf\xe9\n", r"a\.txt, line 2: byte 0xe9 is not UTF-8"),
        ("a.txt", b"a\nb\n", r"a\.txt: no sentence has 3 words, which an order of 5 needs"),
        ("a.txt.gz", gzip.compress(b"a b c " * 999, mtime=0)[:40], r"a\.txt\.gz: the gzip file is damaged or cut short"),
        ("a.arpa", b"hello\n", r"a\.arpa: has no line \\1-grams:"),
        ("a.arpa", PRUNED.encode()[:90], r"a\.arpa: has no line \\end\\"),
        ("a.arpa", PRUNED.replace("-0.3\ta b", "-0.3\ta c").encode(), r"a\.arpa, line 17: 'c' is not a 1-gram"),
        ("a.arpa", PRUNED.replace("-0.3\ta b", "x\ta b").encode(), r"a\.arpa, line 17: 'x.*expected a log10 probability"),
        ("a.arpa", PRUNED.replace("-0.7\ta", "0.7\ta").encode(), r"a\.arpa, line 10: .*expected a log10 probability"),
        ("a.arpa", PRUNED.replace("<s> a a", "b b a").encode(), r"the 3-gram 'b b a' begins with what is not an n-gram"),
        ("a.arpa", PRUNED.replace("-0.4\tb a", "-0.4\ta b").encode(), r"the 2-gram 'a b' occurs twice \(1 such\)"),
        ("a.arpa", PRUNED.replace("</s>", "end").encode(), r"</s> is not a 1-gram of it"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    order = "" if name.endswith(".arpa") else ":5"
    with pytest.raises(ValueError, match=message) as error:
        lmscore.load(f"ngram:{path}{order}")
    assert "\n" not in str(error.value)


def test_an_order_that_cannot_be_and_a_file_that_is_not_there_are_refused(tmp_path, small):
    with pytest.raises(ValueError, match=r"order 0; expected 1 or more"):
        lmscore.load(f"ngram:{small}:0")
    with pytest.raises(ValueError, match=r"there is no such file; expected ngram:FILE"):
        lmscore.load(f"ngram:{tmp_path / 'none.txt'}")
    with pytest.raises(ValueError, match=r"no name: there is no such file; expected ngram:FILE"):
        lmscore.load("ngram:")
    path = ngram.estimate_ngram(small, 2).write(tmp_path / "two.arpa")
    with pytest.raises(ValueError, match=r"is of order 2, not 3"):
        lmscore.load(f"ngram:{path}:3")
