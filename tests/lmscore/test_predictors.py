"""Entropies of any order, temperatures and layers are those of a full softmax, and columns that `align` knows by name."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gardenpath import lmscore, study
from gardenpath.lmscore import add_cache
from gardenpath.lmscore.measures import reductions
from gardenpath.lmscore.models.interface import COLUMNS
from gardenpath.lmscore.models.predictors import expand_predictors, parse_predictor
from gardenpath.lmscore.tokens.encoding import align_tokens_to_words
from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

from ..conftest import ROOT, run_here
from .conftest import CORPUS, other, whitespace_marks
from .test_masked import bert

torch = pytest.importorskip("torch", reason="the extra lm is not installed")

pytestmark = pytest.mark.lm

NAMES = ["renyi_0.25", "renyi_2", "renyi_inf", "surprisal_t0.5", "surprisal_t2.5"]


@pytest.mark.parametrize("name", ["renyi_0", "renyi_1", "renyi_-2", "renyi", "surprisal_t0", "surprisal_tinf", "surprisal_layer_1.5", "surprisal_layer_-1", "lp"])  # fmt: skip
def test_a_name_that_is_no_predictor_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=r"is not known; expected renyi_A .*, surprisal_tT .*, surprisal_layer_L"):
        parse_predictor(name)


def test_names_are_made_plain_and_all_layers_are_named():
    assert expand_predictors(["renyi_2.0", "surprisal_layer_all", "renyi_2"], 1, "m") == [
        "renyi_2",
        "surprisal_layer_0",
        "surprisal_layer_1",
    ]
    with pytest.raises(ValueError, match=r"'surprisal_layer_3': model m has layers 0 \(the embedding\) to 2"):
        expand_predictors(["surprisal_layer_3"], 2, "m")


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request, folders):
    return lmscore.load(folders[request.param], device="cpu", dtype="float64")


def logits_of(model, encoded) -> np.ndarray:
    """The model's own logits, [layer, row, vocabulary], by its hidden states, its norm and its head."""
    body = model.network.base_model
    norm = body.ln_f if hasattr(body, "ln_f") else body.norm
    with torch.no_grad():
        ids = torch.tensor([[*encoded.context_ids, *encoded.ids]])
        output = model.network(ids, output_hidden_states=True)
        early = [model.network.lm_head(norm(states))[0].numpy() for states in output.hidden_states[:-1]]
    return np.array([*early, output.logits[0].numpy()])[:, len(encoded.context_ids) - 1 :]


def bits_of(model, encoded, sentence, logits: np.ndarray) -> tuple[list[float], list[float]]:
    """Corrected surprisal of each word, and the entropies of order 1/4, 2 and infinity before it, by one full softmax."""
    logp = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    pieces = model.encoder.tokenizer.convert_ids_to_tokens(list(range(logits.shape[-1])))
    opens = [piece is not None and piece.startswith(whitespace_marks(model)) for piece in pieces]
    ends = [k in model.encoder.end_ids for k in range(len(pieces))]
    edge = np.log(np.exp(logp)[:, np.array(opens) | np.array(ends)].sum(-1))
    marked = encoded.starts_with_space[0]
    first = edge[0] if marked else np.log(np.exp(logp[0])[~np.array(opens) | np.array(ends)].sum())
    surprisal, entropies = [], []
    for unit in align_tokens_to_words(encoded, sentence):
        naive = -sum(logp[j, encoded.ids[j]] for j in range(unit.first, unit.stop))
        surprisal.append((naive + (edge[unit.first] if unit.first else first) - edge[unit.stop]) / math.log(2))
        p = np.exp(logp[unit.first])
        entropies.append([np.log2((p**0.25).sum()) / 0.75, -np.log2((p**2).sum()), -np.log2(p.max())])
    return surprisal, entropies


def test_they_are_those_of_a_full_softmax_by_hand(model):
    names = [*NAMES, *(f"surprisal_layer_{k}" for k in range(3))]
    texts = [Sentence(text) for text in CORPUS]
    encoded = [model.encode(text.text) for text in texts]
    for one, sentence, table in zip(encoded, texts, model.forward(encoded, columns=[*COLUMNS, *names]), strict=True):
        rows = reductions.compute_word_predictors(table, sentence, names)
        layers = logits_of(model, one)
        words = reductions.compute_word_scores(table, sentence)
        plain, entropies = bits_of(model, one, sentence, layers[-1])
        assert [[row[name] for name in NAMES[:3]] for row in rows] == [pytest.approx(e, abs=1e-9) for e in entropies]
        assert [word.surprisal for word in words] == pytest.approx(plain, abs=1e-9)
        for name, temperature in (("surprisal_t0.5", 0.5), ("surprisal_t2.5", 2.5)):
            expected = bits_of(model, one, sentence, layers[-1] / temperature)[0]
            assert [row[name] for row in rows] == pytest.approx(expected, abs=1e-9)
        for layer, logits in enumerate(layers):
            expected = bits_of(model, one, sentence, logits)[0]
            assert [row[f"surprisal_layer_{layer}"] for row in rows] == pytest.approx(expected, abs=1e-9)
        assert [row["surprisal_layer_2"] for row in rows] == pytest.approx(plain, abs=1e-9)


def test_the_plain_ones_are_the_columns_that_are_always_there(model):
    sentence = Sentence(" ".join(CORPUS * 4))  # in several windows
    names = ["renyi_0.5", "surprisal_t1", "renyi_1.000001"]
    (table,) = model.forward([model.encode(sentence.text)], columns=[*COLUMNS, *names])
    assert table.windows > 1
    for word, row in zip(
        reductions.compute_word_scores(table, sentence), reductions.compute_word_predictors(table, sentence, names), strict=True
    ):
        assert row["renyi_0.5"] == pytest.approx(word.renyi, abs=1e-9)
        assert row["surprisal_t1"] == pytest.approx(word.surprisal, abs=1e-9)
        assert row["renyi_1.000001"] == pytest.approx(word.entropy, abs=1e-4)


def test_the_last_layer_is_ordinary_surprisal_in_every_architecture_or_layers_are_refused(kind, tmp_path):
    model = lmscore.load(other(tmp_path, kind), device="cpu")
    layers = model.describe()["layers"]
    names = [f"surprisal_layer_{k}" for k in range(layers + 1)]
    texts = [model.encode(text) for text in CORPUS[:3]]
    if kind == "divided states":  # MiniCPM3 divides what the norm gives, and Falcon-H1 has its norm elsewhere
        with pytest.raises(ValueError, match=r"surprisal_layer of another architecture"):
            model.forward(texts, columns=names)
        return
    for table in model.forward(texts, columns=[*COLUMNS, *names]):
        for rows, plain in zip(table.predictors[names[-1]], (table.logprob, table.log_boundary), strict=True):
            np.testing.assert_allclose(rows, plain, atol=1e-5)
        assert np.isfinite(table.predictors[names[0]]).all()
        assert not np.allclose(table.predictors[names[0]], table.predictors[names[-1]], atol=1e-2)


def test_the_cache_keeps_each_by_its_name_and_a_batch_that_lacks_one_is_computed_once(folders, tmp_path, monkeypatch):
    plain = lmscore.load(folders["gpt2"], device="cpu")
    asked = []
    forward = type(plain).forward
    monkeypatch.setattr(
        type(plain), "forward", lambda self, texts, **how: asked.append(list(how["columns"])) or forward(self, texts, **how)
    )
    texts = [plain.encode(text) for text in CORPUS]
    whole = forward(plain, texts, columns=[*COLUMNS, *NAMES])
    add_cache(plain, tmp_path).forward(texts, columns=[*COLUMNS, *NAMES[:2]])
    for _ in range(2):
        tables = add_cache(plain, tmp_path).forward(texts, columns=[*COLUMNS, *NAMES])
        for table, expected in zip(tables, whole, strict=True):
            assert list(table.predictors) == sorted(NAMES)
            for name in NAMES:
                np.testing.assert_allclose(table.predictors[name], expected.predictors[name], atol=1e-5)
            np.testing.assert_allclose(table.entropy, expected.entropy, atol=1e-5)
    assert asked == [[*COLUMNS, *NAMES[:2]], [*COLUMNS, *sorted(NAMES)]]


def test_other_kinds_of_models_are_refused_in_one_line(materials, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(CORPUS))
    for model in (lmscore.estimate_ngram(corpus), lmscore.load(bert(tmp_path / "bert"), device="cpu")):
        with pytest.raises(ValueError, match="predictor 'renyi_2' needs a causal model whose layers and probabilities are"):
            lmscore.score(materials, model, predictors=["renyi_2"])


def test_the_command_writes_columns_that_are_declared_and_read_again(tmp_path):
    line = f"gardenpath score examples/minimal-pairs/items.csv --model pocket --cache {tmp_path}/cache -o {tmp_path}/scores"
    ran = run_here(f"{line} --predictor renyi_2 --predictor surprisal_layer_all", ROOT)
    assert ran.code == 0, ran.said
    table = study.read(tmp_path / "scores", "surprisal")
    layers = study.files.read_sidecar(tmp_path / "scores" / "surprisal.csv")["model"]["layers"]
    further = ["renyi_2", *(f"surprisal_layer_{k}" for k in range(layers + 1))]
    assert list(table.columns) == [*study.TABLES["surprisal"].column_names, *further]
    np.testing.assert_allclose(table[further[-1]], table["surprisal"], atol=1e-4)
    assert (table["renyi_2"] <= table["entropy"]).all()
    assert 'surprisal_layer_1,float,"bits; surprisal by the output' in study.table_files.format_data_dictionary(
        {"surprisal": table}
    )
    ran = run_here(f"{line} --force --predictor renyi_1", ROOT)
    assert ran.code == 2
    assert ran.said.splitlines()[-1].startswith("predictor 'renyi_1' is not known; expected renyi_A")


def test_a_context_is_joined_as_its_language_is_written_or_as_is_said(folders):
    from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL

    model = lmscore.load(folders["gpt2"], device="cpu", dtype="float64")

    def lp(language: str, joiner: str | None = None) -> float:
        item = Item("i", "p", {"a": Sentence("他来了。")}, context="你好。", language=language)
        materials = Materials((Paradigm("p", "p"),), (item,))
        (score,) = lmscore.score(materials, model, protocol=replace(DEFAULT_PROTOCOL, joiner=joiner)).sentence_scores["lp"]
        return score

    def plain(context: str, text: str) -> float:
        ids = [model.encoder.tokenizer(part, add_special_tokens=False)["input_ids"] for part in (context, context + text)]
        with torch.no_grad():
            logp = model.network(torch.tensor([[0, *ids[1]]])).logits[0].log_softmax(-1)
        return sum(float(logp[j, ids[1][j]]) for j in range(len(ids[0]), len(ids[1])))

    assert lp("zh") == pytest.approx(plain("你好。", "他来了。"), abs=1e-9)
    assert lp("zh-Hant") == lp("en", "")
    assert lp("en") == lp("ja", " ") == pytest.approx(plain("你好。", " 他来了。"), abs=1e-9)
    assert lp("zh", "\n— ") == pytest.approx(plain("你好。\n—", " 他来了。"), abs=1e-9)
