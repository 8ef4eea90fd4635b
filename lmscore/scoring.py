"""Materials and a model become the tables surprisal, sentence_scores and pairs."""

import hashlib
import logging
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Sentence
from gardenpath.study.measures import SCORE_MEASURES

from .cache.token_cache import CachedModel
from .loading import load
from .measures import reductions
from .measures.unigrams import Unigrams, read_unigrams
from .models.interface import COLUMNS, Model, Progress
from .models.predictors import expand_predictors, parse_predictor
from .tokens.encoding import EncodedText, align_tokens_to_words
from .tokens.protocols import Protocol, resolve_protocol
from .tokens.token_table import TokenTable

if TYPE_CHECKING:
    import pandas as pd

MAX_FAULTS_SHOWN = 10  # so many faults are named; the rest is counted
COARSE_DTYPES = ("bfloat16", "float16")
MAX_BATCH_POSITIONS, UNLIMITED_POSITIONS = (
    8192,
    2**31,
)  # padded positions of a batch of whole items; a budget that any batch keeps to
CHARACTERS_PER_BLOCK = 50_000  # of a block of items whose tables are in memory together: 2 kB a word
NOISE_SAMPLE_PAIRS = 32  # pairs that are scored a second time to measure layout noise

log = logging.getLogger("gardenpath")
Result = TypeVar("Result")
MeasureValues = dict[tuple[str, str, str], float]


class Scores(NamedTuple):
    """The tables `surprisal` (a row a word, bits) and `sentence_scores` (a row a sentence, nats), as `score` returns them.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> surprisal, sentence_scores = lmscore.score(EXAMPLE_PAIR, model)
    >>> len(surprisal), len(sentence_scores)
    (6, 2)
    """

    surprisal: "pd.DataFrame"
    sentence_scores: "pd.DataFrame"


class ScoredSentence(NamedTuple):
    """A sentence of the materials with its token table."""

    item: Item
    condition: str
    sentence: Sentence
    table: TokenTable


def score(
    materials: Materials,
    model: str | Path | Model,
    *,
    protocol: str | Protocol | None = None,
    unigrams: str | Path | Unigrams | None = None,
    batch_tokens: int | None = None,
    predictors: Sequence[str] = (),
    progress: Progress | None = None,
) -> Scores:
    """Return surprisal (bits) of every word and log-probabilities (nats) of every sentence of the materials.

    The columns are those of `study.TABLES["surprisal"]` and `study.TABLES["sentence_scores"]`, a row for each word or sentence
    of each condition of each item, in their order. `model` is what `load` takes, or a loaded model; `protocol` is one of
    `PROTOCOLS`, by default `default`, for a masked model `pll-word-l2r`; `unigrams`, for SLOR, what `read_unigrams` takes, or
    gives; `predictors` are names as in `models.predictors`, each a further column of `surprisal`, or `surprisal_layer_all`.
    Equal sentences are computed once; `score_blocks` is for what memory would not hold. See `words` for the surprisal of
    words, docs/scores.md for the measures of sentences, with their sources. Raises `study.DataError` with every sentence that
    cannot be scored,
    `ValueError` for materials without sentences, a model that cannot be loaded, or a protocol that does not fit it.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> scores = lmscore.score(EXAMPLE_PAIR, model)
    >>> scores.surprisal.loc[scores.surprisal["condition"] == "ungrammatical", "text"].tolist()
    ['A', 'dog', 'bark.']
    >>> scores.sentence_scores.set_index("condition")["lp"].round(2).to_dict()
    {'grammatical': -3.65, 'ungrammatical': -6.39}
    """
    import pandas as pd

    how: dict[str, Any] = {"protocol": protocol, "unigrams": unigrams, "batch_tokens": batch_tokens}
    parts = list(score_blocks(materials, model, **how, predictors=predictors, progress=progress))
    return parts[0] if len(parts) == 1 else Scores(*(pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)))


def score_blocks(
    materials: Materials,
    model: str | Path | Model,
    *,
    protocol: str | Protocol | None = None,
    unigrams: str | Path | Unigrams | None = None,
    batch_tokens: int | None = None,
    predictors: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[Scores]:
    """Yield what `score` returns, in order, for some items at a time, so that memory does not grow with the materials.

    Every sentence that cannot be scored is named before the first is. Equal sentences are computed once in each block of
    about 50,000 characters; with a cache, once.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> [len(part.surprisal) for part in lmscore.score_blocks(EXAMPLE_PAIR, model)]
    [6]
    """
    import pandas as pd

    model = load(model) if isinstance(model, (str, Path)) else model
    protocol = resolve_protocol(protocol, model.name, model.masked)
    counted = _load_unigrams(unigrams, model, protocol)
    names: list[str] = []
    if predictors:
        layers: Any = model.describe().get("layers")
        names = expand_predictors(predictors, layers, model.name)
    blocks = [Materials(materials.paradigms, tuple(items), materials.source_lines) for items in _split_items(materials.items)]
    if len(blocks) > 1:
        _check_sentences(materials, model, protocol)
    total, before = sum(len(item.sentences) for item in materials.items), 0
    for block in blocks:
        scored = compute_token_tables(
            block,
            model,
            protocol=protocol,
            columns=[*COLUMNS, *names],
            batch_tokens=batch_tokens,
            progress=_offset_progress(progress, before, total),
        )
        before += len(scored)
        words = _reduce_sentences(scored, lambda s: _build_word_rows(model, protocol, s, names))
        sentences = _reduce_sentences(scored, lambda s: _build_sentence_row(model, protocol, s, counted))
        yield Scores(
            study.check(pd.DataFrame([row for rows in words for row in rows]), "surprisal"),
            study.check(pd.DataFrame(sentences), "sentence_scores"),
        )


def _split_items(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Yield items in order, as many as keep to a number of characters, one at least; of no items, none of them."""
    block: list[Item] = []
    size = 0
    for item in items:
        if size >= CHARACTERS_PER_BLOCK:
            yield block
            block, size = [], 0
        block.append(item)
        size += sum(len(sentence.text) for sentence in item.sentences.values())
    yield block


def _offset_progress(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress through all sentences, of which some are done; equal ones that are computed once count as one."""
    return (lambda count, _: progress(before + count, total)) if progress else None


def _check_sentences(materials: Materials, model: Model, protocol: Protocol) -> None:
    """Raise `study.DataError` with every sentence that has no tokens, or whose words or critical region have none."""
    _raise_faults([fault for item in materials.items for fault in _find_faults(item, model, protocol)])


def _find_faults(item: Item, model: Model, protocol: Protocol) -> Iterator[str]:
    for condition, sentence in item.sentences.items():
        try:
            encoded = encode_sentence(item, sentence, model, protocol)
            align_tokens_to_words(encoded, sentence)
            reductions.find_region_tokens(encoded, sentence)
        except ValueError as error:
            yield _format_fault(item, condition, error)


def select_scorable(materials: Materials, model: Model, protocol: Protocol) -> tuple[Materials, dict[str, str]]:
    """Return the materials without the items that a model cannot score, and why it cannot, by item."""
    faults = {item.id: "; ".join(found) for item in materials.items if (found := [*_find_faults(item, model, protocol)])}
    items = tuple(item for item in materials.items if item.id not in faults)
    return Materials(materials.paradigms, items, materials.source_lines), faults


def evaluate(
    materials: Materials,
    model: str | Path | Model,
    measures: Sequence[str] = ("lp",),
    *,
    protocol: str | Protocol | None = None,
    unigrams: str | Path | Unigrams | None = None,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Return the table `pairs`: for every minimal pair and measure, both members' scores (nats) and which is higher.

    A row for each measure and pair, with the columns of `study.TABLES["pairs"]`; the arguments are those of `score`, and
    `measures` some of `MEASURES`. A model is right where it gives the grammatical member the higher score (Warstadt et al. 2020,
    doi 10.1162/tacl_a_00321). Equal token sequences have one score, so a tie is exact equality; it is not correct. Paradigms
    that are not minimal pairs are left out, and so are pairs whose critical regions are not what a measure compares; the log
    counts both. Raises `ValueError` where no pair is left, for a measure that is not known, and for SLOR without unigrams;
    `study.DataError` with every sentence that cannot be scored.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> pairs = lmscore.evaluate(EXAMPLE_PAIR, model, ["lp", "mean_lp"])
    >>> pairs[["item", "measure", "correct", "tie"]].values.tolist()
    [['i1', 'lp', True, False], ['i1', 'mean_lp', True, False]]
    """
    import pandas as pd

    model = load(model) if isinstance(model, (str, Path)) else model
    materials, measures, chosen_protocol, counted = prepare_pairs(materials, model, measures, protocol, unigrams)
    values = score_pairs(materials, model, measures, chosen_protocol, counted, batch_tokens=batch_tokens, progress=progress)
    rows = build_pair_rows(materials, values, measures, model.name, chosen_protocol.name)
    return study.check(pd.DataFrame(rows), "pairs")


def prepare_pairs(
    materials: Materials,
    model: Model,
    measures: Sequence[str],
    protocol: str | Protocol | None,
    unigrams: str | Path | Unigrams | None,
) -> tuple[Materials, list[str], Protocol, Unigrams | None]:
    """Return the minimal pairs, each measure once, the protocol and the unigrams; raise what `evaluate` raises of them."""
    reductions.check_measures(measures)
    measures = list(dict.fromkeys(measures))
    materials = select_minimal_pairs(materials)
    protocol = resolve_protocol(protocol, model.name, model.masked)
    counted = _load_unigrams(unigrams, model, protocol)
    if counted is None and (needing := [name for name in measures if name in reductions.UNIGRAM_MEASURES]):
        raise ValueError(f"measure {needing[0]!r} needs the probability of each token by itself; give unigrams (--unigrams FILE)")
    return materials, measures, protocol, counted


def score_pairs(
    materials: Materials,
    model: Model,
    measures: Iterable[str],
    protocol: Protocol,
    unigrams: Unigrams | None,
    *,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> MeasureValues:
    """Return the scores (nats) of the members of pairs by item, condition and measure, of the measures that each has."""
    scored = compute_token_tables(
        materials, model, protocol=protocol, columns=_list_summed_columns(protocol), batch_tokens=batch_tokens, progress=progress
    )
    return _compute_measures(scored, measures, unigrams)


def build_pair_rows(
    materials: Materials, values: MeasureValues, measures: Iterable[str], model: str, protocol: str, *, is_partial: bool = False
) -> list[dict[str, object]]:
    """Return the rows of the table `pairs`; `values` are scores in nats by item, condition and measure.

    Where the materials are part of more, a measure may have no pair among them.
    """
    phenomena = {paradigm.id: paradigm.phenomenon for paradigm in materials.paradigms}
    rows: list[dict[str, object]] = []
    for measure in measures:
        compared = [item for item in materials.items if _is_compared(item, measure, values)]
        if not is_partial:
            _check_compared(measure, len(compared), len(materials.items))
        for item in compared:
            good, bad = (values[item.id, condition, measure] for condition in (GRAMMATICAL, UNGRAMMATICAL))
            item_columns = {"phenomenon": phenomena[item.paradigm], "paradigm": item.paradigm, "item": item.id}
            verdict = {"score_grammatical": good, "score_ungrammatical": bad, "correct": good > bad, "tie": good == bad}
            model_columns = {"model": model, "protocol": protocol, "language": item.language}
            rows.append({**model_columns, **item_columns, "measure": measure, **verdict})
    return rows


def estimate_layout_noise(
    materials: Materials,
    model: Model,
    pairs: "pd.DataFrame",
    *,
    protocol: str | Protocol | None = None,
    unigrams: str | Path | Unigrams | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """Return, for each measure of `pairs`, how far (nats) a difference in score moved when pairs were scored alone.

    The largest move among 32 pairs drawn with `seed`: arithmetic depends on what else is in a batch, below float32 visibly.
    A verdict whose scores differ by no more (see `count_within_noise`) is not one the model can be held to. `pairs` is what
    `evaluate` returned for these materials and this model; raises what `evaluate` raises. An n-gram model has no such noise:

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> lmscore.estimate_layout_noise(EXAMPLE_PAIR, model, lmscore.evaluate(EXAMPLE_PAIR, model))
    {'lp': 0.0}
    """
    model = model.use_item_cache() if isinstance(model, CachedModel) else model  # what a cache holds of whole batches does not move
    protocol = resolve_protocol(protocol, model.name, model.masked)
    counted = _load_unigrams(unigrams, model, protocol)
    rows = pairs[(pairs["model"] == model.name) & ~pairs["tie"]]
    differences = rows["score_grammatical"] - rows["score_ungrammatical"]
    before = dict(zip(zip(rows["item"], rows["measure"], strict=True), differences.tolist(), strict=True))
    noise = dict.fromkeys(pairs["measure"], 0.0)
    compared = {item for item, _ in before}
    items = [item for item in materials.items if item.id in compared]
    for item in random.Random(seed).sample(items, min(NOISE_SAMPLE_PAIRS, len(items))):
        alone = Materials((materials.find_paradigm(item.paradigm),), (item,))
        values = _compute_measures(
            compute_token_tables(alone, model, protocol=protocol, columns=_list_summed_columns(protocol)), noise, counted
        )
        for measure in noise:
            if (item.id, measure) in before:
                good, bad = (values[item.id, condition, measure] for condition in (GRAMMATICAL, UNGRAMMATICAL))
                moved = abs(good - bad - before[item.id, measure])
                noise[measure] = max(noise[measure], moved if math.isfinite(moved) else 0.0)
    return noise


def count_within_noise(pairs: "pd.DataFrame", noise: dict[str, float]) -> dict[str, int]:
    """Return, for each measure of `noise`, how many pairs that are not ties differ in score by no more than its noise (nats).

    `pairs` needs the columns measure, grammatical, ungrammatical (nats) and tie, as `evaluate` returns them.

    >>> import pandas as pd
    >>> rows = [("lp", -9.0, -9.5, False), ("lp", -9.0, -8.0, False), ("lp", -9.0, -9.0, True)]
    >>> count_within_noise(pd.DataFrame(rows, columns=["measure", "score_grammatical", "score_ungrammatical", "tie"]), {"lp": 0.6})
    {'lp': 1}
    """
    differ = (pairs["score_grammatical"] - pairs["score_ungrammatical"]).abs()
    within = (differ <= pairs["measure"].map(noise)) & ~pairs["tie"]
    return {measure: int(within[pairs["measure"] == measure].sum()) for measure in noise}


def compute_token_tables(
    materials: Materials,
    model: Model,
    *,
    protocol: str | Protocol | None = None,
    columns: Sequence[str] = COLUMNS,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> list[ScoredSentence]:
    """Return every sentence of the materials with its token table (nats), items and conditions in their order.

    Each entry has `item`, `condition`, `sentence` and `table`, a `TokenTable`, of which only `columns` are computed: some of
    logprob, end, log_boundary, entropy, renyi, by default all. A batch has at most `batch_tokens` positions. Below float32 the
    sentences of an item share a batch. Raises `study.DataError` with every sentence that cannot be encoded, `ValueError` for
    materials without sentences.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> [(one.condition, one.table.logprob.shape) for one in lmscore.compute_token_tables(EXAMPLE_PAIR, model)]
    [('grammatical', (5,)), ('ungrammatical', (5,))]
    """
    entries = [(item, condition, sentence) for item in materials.items for condition, sentence in item.sentences.items()]
    if not entries:
        raise ValueError("the materials hold no sentence; expected at least one item")
    protocol = resolve_protocol(protocol, model.name, model.masked)
    encoded, faults = [], []
    for item, condition, sentence in entries:
        try:
            encoded.append(encode_sentence(item, sentence, model, protocol))
        except ValueError as error:
            faults.append(_format_fault(item, condition, error))
    _raise_faults(faults)
    if silent := sum(not text.ids for text in encoded):
        log.warning("%d of %d sentences are one token, fed first and not scored: their scores are empty", silent, len(encoded))
    if is_batch_dependent(model):
        blocks = _group_items(materials.items, encoded, batch_tokens or MAX_BATCH_POSITIONS)
        tables: list[TokenTable] = []
        for block in blocks:
            tables += _compute_tables(model, block, columns=columns, batch_tokens=UNLIMITED_POSITIONS)
            if progress:
                progress(len(tables), len(encoded))
    else:
        tables = _compute_tables(model, encoded, columns=columns, batch_tokens=batch_tokens, progress=progress)
    return [ScoredSentence(*entry, table) for entry, table in zip(entries, tables, strict=True)]


def _compute_tables(model: Model, texts: Sequence[EncodedText], columns: Sequence[str], **how: Any) -> list[TokenTable]:
    """Return the token table of each text; of one without a token to score, an empty one."""
    spoken = [text for text in texts if text.ids]
    tables = iter(model.forward(spoken, columns=columns, **how) if spoken else [])
    nothing = np.array([math.nan])
    more = {name: np.full((parse_predictor(name).row_count, 1), math.nan) for name in columns if name not in COLUMNS}
    empty = (nothing, nothing, nothing, nothing, 1, more)
    return [next(tables) if text.ids else TokenTable(text, *empty) for text in texts]


def encode_sentence(item: Item, sentence: Sentence, model: Model, protocol: Protocol) -> EncodedText:
    """Return a sentence as tokens, after its item's context and what joins the two."""
    options: dict[str, Any] = protocol.list_options()
    if item.context and (joiner := protocol.get_joiner(item.language)) != " ":
        options["joiner"] = joiner
    return model.encode(sentence.text, item.context, **options)


def is_batch_dependent(model: Model) -> bool:
    """Whether a score depends visibly on its batch. A masked model's batches hold texts of one length, whatever is asked."""
    return not model.masked and (getattr(model, "dtype", "") in COARSE_DTYPES or bool(getattr(model, "quantization", None)))


def _group_items(items: Sequence[Item], encoded: Sequence[EncodedText], budget: int) -> Iterator[list[EncodedText]]:
    """Yield the sentences of whole items, as many items as keep to a budget of padded positions, one at least.

    Below float32 a score depends on what else is in the batch, so what is compared has to be in the same one.
    """
    block: list[EncodedText] = []
    longest = start = 0
    for item in items:
        texts = add_batch_digest(encoded[start : start + len(item.sentences)])
        start += len(texts)
        longest = max(longest, *(len(text.context_ids) + len(text.ids) for text in texts))
        if block and longest * (len(block) + len(texts)) > budget:
            yield block
            block, longest = [], max(len(text.context_ids) + len(text.ids) for text in texts)
        block += texts
    yield block


def add_batch_digest(texts: Sequence[EncodedText]) -> list[EncodedText]:
    """Return the sentences of an item, each saying what all of them are: a cache keeps what was computed together."""
    facts = repr([(text.source_ids, text.context_ids, text.ids) for text in texts]).encode()
    digest = hashlib.blake2b(facts, digest_size=16).digest()
    return [replace(text, batch_digest=digest) for text in texts]


def _list_summed_columns(protocol: Protocol) -> tuple[str, ...]:
    """Return the columns that sentence and region scores are sums of."""
    return ("logprob", "end") if protocol.closing else ("logprob",)


def _load_unigrams(unigrams: str | Path | Unigrams | None, model: Model, protocol: Protocol) -> Unigrams | None:
    return read_unigrams(unigrams, model, protocol) if isinstance(unigrams, (str, Path)) else unigrams


def _reduce_sentences(scored: Sequence[ScoredSentence], reduce: Callable[[ScoredSentence], Result]) -> list[Result]:
    """Return the reduction of each sentence, or raise every fault with its item and condition."""
    results, faults = [], []
    for one in scored:
        try:
            results.append(reduce(one))
        except ValueError as error:
            faults.append(_format_fault(one.item, one.condition, error))
    _raise_faults(faults)
    return results


def _format_fault(item: Item, condition: str, error: ValueError) -> str:
    return f"item {item.id!r}, condition {condition!r}: {error}"


def _raise_faults(faults: Sequence[str]) -> None:
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS_SHOWN} more such sentences"] if len(faults) > MAX_FAULTS_SHOWN else []
        raise study.DataError([*faults[:MAX_FAULTS_SHOWN], *more])


def _compute_measures(scored: Sequence[ScoredSentence], measures: Iterable[str], unigrams: Unigrams | None) -> MeasureValues:
    """Return every measure that a sentence has by (item, condition, measure); the same tokens have the same value."""
    known: dict[object, float | None] = {}

    def value(one: ScoredSentence, measure: str) -> float | None:
        encoded = one.table.encoded_text
        key: object = (measure, encoded.batch_digest, encoded.source_ids, encoded.context_ids, encoded.ids)
        if measure in reductions.REGION_MEASURES:
            # Nothing after a region changes its score, so a difference there may not either; but a masked model sees it.
            within = reductions.find_region_tokens(encoded, one.sentence)
            key = within and (
                within,
                encoded.batch_digest,
                encoded.source_ids,
                encoded.context_ids,
                encoded.ids if encoded.masked_positions else encoded.ids[: within[-1] + 1],
            )
        if key not in known:
            known[key] = _compute_measure(one, measure, unigrams)
        return known[key]

    rows = _reduce_sentences(scored, lambda one: {measure: value(one, measure) for measure in measures})
    return {
        (one.item.id, one.condition, measure): score
        for one, row in zip(scored, rows, strict=True)
        for measure, score in row.items()
        if score is not None
    }


def _compute_measure(one: ScoredSentence, measure: str, unigrams: Unigrams | None) -> float | None:
    """Return a measure of a sentence; None where it has none, and where no token is scored."""
    return reductions.MEASURES[measure](one.table, one.sentence, unigrams) if one.table.encoded_text.scored_count else None


def select_minimal_pairs(materials: Materials) -> Materials:
    """Return the paradigms that are minimal pairs, with their items; each must have both members."""
    kept = tuple(p for p in materials.paradigms if p.is_minimal_pair())
    names = {p.id for p in kept}
    items = tuple(item for item in materials.items if item.paradigm in names)
    if not items:
        raise ValueError(
            f"none of the {len(materials.paradigms)} paradigms is a minimal pair; expected one factor with the levels "
            f"{GRAMMATICAL} and {UNGRAMMATICAL}: score sentences of other designs with score"
        )
    if len(kept) < len(materials.paradigms):
        log.info("%d paradigms are not minimal pairs and are left out", len(materials.paradigms) - len(kept))
    _raise_faults(
        [
            f"item {item.id!r}: has {', '.join(item.sentences)}; expected {GRAMMATICAL} and {UNGRAMMATICAL}"
            for item in items
            if set(item.sentences) != {GRAMMATICAL, UNGRAMMATICAL}
        ]
    )
    return Materials(kept, items, materials.source_lines)


def _is_compared(item: Item, measure: str, values: MeasureValues) -> bool:
    good, bad = item.sentences[GRAMMATICAL], item.sentences[UNGRAMMATICAL]
    scored = all((item.id, condition, measure) in values for condition in (GRAMMATICAL, UNGRAMMATICAL))
    return scored and reductions.is_comparable(measure, good, bad)


def _check_compared(measure: str, compared: int, total: int) -> None:
    expected = reductions.REGION_MEASURES.get(measure, "a token to score in both members")
    if not compared:
        raise ValueError(f"measure {measure!r}: none of the {total} pairs has {expected}; mark it")
    if compared < total:
        log.info("%s: %d of %d pairs do not have %s and are left out", measure, total - compared, total, expected)


def _build_identifiers(model: Model, protocol: Protocol, scored: ScoredSentence) -> dict[str, object]:
    return {"model": model.name, "protocol": protocol.name, "item": scored.item.id, "condition": scored.condition}


def _build_word_rows(model: Model, protocol: Protocol, scored: ScoredSentence, names: Sequence[str]) -> list[dict[str, object]]:
    identifiers, table, sentence = _build_identifiers(model, protocol, scored), scored.table, scored.sentence
    words = reductions.compute_word_scores(table, sentence)
    more = reductions.compute_word_predictors(table, sentence, names) if names else [{}] * len(words)
    return [
        {
            **identifiers,
            "word": word.word.index,
            "text": word.word.text,
            "n_words": word.words,
            "region": word.word.region,
            "surprisal": word.surprisal,
            "surprisal_naive": word.surprisal_naive,
            "entropy": word.entropy,
            "renyi": word.renyi,
            "n_tokens": word.tokens,
            **predicted,
        }
        for word, predicted in zip(words, more, strict=True)
    ]


def _build_sentence_row(model: Model, protocol: Protocol, scored: ScoredSentence, unigrams: Unigrams | None) -> dict[str, object]:
    table, sentence = scored.table, scored.sentence
    return {
        **_build_identifiers(model, protocol, scored),
        "n_tokens": table.encoded_text.scored_count,
        "n_unknown_tokens": table.encoded_text.unknown_count,
        "n_windows": table.windows,
        "n_critical_tokens": len(within) if (within := reductions.find_region_tokens(table.encoded_text, sentence)) else None,
        **{name: _compute_measure(scored, name, unigrams) for name in SCORE_MEASURES},
    }
