"""A masked model: tokens are hidden in turn and predicted from all others (pseudo-log-likelihood)."""

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from ..tokens.encoding import OPENING_CERTAIN, EncodedText, Encoder, build_lead_in, encode
from ..tokens.token_table import TokenTable
from . import huggingface, output_layers, probe_results
from .interface import COLUMNS, ForwardOptions, check_columns, report_finished

CPU_TOKENS, GPU_TOKENS = 768, 16384  # positions of a batch; on a CPU 2048 gain 5 % and hold three times the memory
MAX_POOL_IDS = 2**21  # ids of the rows in which repetitions are looked for: more than BLiMP has of sentences of one length


@dataclass(frozen=True)
class MaskedModel:
    """A masked language model ready to score by the protocols `pll` and `pll-word-l2r`.

    A text is fed between the encoder's prefix and `tail`, the ids that the tokenizer itself puts around it; `mask` is
    the id that hides a token. With `head` the output layer is applied to the predicted positions alone, without it the
    model computes its logits itself.
    """

    masked: ClassVar[bool] = True

    name: str
    encoder: Encoder
    network: Any
    device: str
    dtype: str
    revision: str | None
    mask: int
    tail: tuple[int, ...]
    commit: str | None = None
    quantization: str | None = None
    adapter: Mapping[str, object] | None = None
    head: output_layers.Head | None = None

    def encode(self, text: str, context: str | None = None, *, word_l2r: bool = False, joiner: str = " ") -> EncodedText:
        """Return `text` as tokens to score, with what is hidden for each; its context is fed and never hidden.

        A token is predicted with itself hidden (Salazar et al. 2020, doi 10.18653/v1/2020.acl-main.240) and, with
        `word_l2r`, the later tokens of its word too (Kauf & Ivanova 2023, doi 10.18653/v1/2023.acl-short.80), the words
        being those of the tokenizer (`word_ids`): "weren't" is three for BERT and two for RoBERTa. Raises `ValueError`
        where the text exceeds the model's window.
        """
        encoded = encode(self.encoder, text, context, joiner=joiner)
        length = len(encoded.context_ids) + len(encoded.ids) + len(self.tail)
        if self.encoder.window is not None and length > self.encoder.window:
            raise ValueError(
                f"{length} tokens, {1 + len(self.tail)} of them special, exceed the window of {self.encoder.window}; a "
                "masked model needs the whole text: expected a shorter one, or a model with a longer window"
            )
        hidden: Sequence[tuple[int, ...]] = [(j,) for j in range(len(encoded.ids))]
        if word_l2r:
            hidden = self._list_word_remainders(build_lead_in(context, joiner=joiner) + text, len(encoded.ids))
        return replace(encoded, opening=OPENING_CERTAIN, masked_positions=tuple(hidden))

    def _list_word_remainders(self, whole: str, scored: int) -> list[tuple[int, ...]]:
        """Return, for each of the last tokens of a text, itself and the later tokens of its word."""
        words = self.encoder.tokenizer(whole, add_special_tokens=False, split_special_tokens=True).word_ids()
        rests = []
        for _, positions in itertools.groupby(range(scored), words[len(words) - scored :].__getitem__):
            word = tuple(positions)
            rests += [word[k:] for k in range(len(word))]
        return rests

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        to_tokens = self.encoder.tokenizer.convert_ids_to_tokens
        return huggingface.describe_network(
            self,
            head="on the predicted positions alone" if self.head else "the model's own logits",
            mask_token=to_tokens(self.mask),
            around_texts=to_tokens([self.encoder.prefix, *self.tail]),
        )

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given: the log-probability of each token, all else NaN.

        Texts of one length are computed together, so that nothing is padded; rows that are the same once their tokens
        are hidden are computed once. A batch has at most `batch_tokens` positions, and is computed in parts from where
        memory runs out; one whose texts are all `is_known` is left out. Raises `MemoryError` where not even one row fits.
        """
        wanted, is_known = check_columns(columns), options.get("is_known")
        distinct = {_make_key(text): text for text in texts}.values()
        unique = sorted(distinct, key=lambda text: (-_count_tokens(text), text.context_ids, text.ids))
        by_key = {
            _make_key(text): _build_table(text, np.full(len(text.ids), np.nan))
            for text in unique
            if is_known is not None and is_known(text)
        }
        pending = {key for key in map(_make_key, unique) if key not in by_key}
        finished = len(by_key)
        budget = options.get("batch_tokens") or huggingface.compute_batch_budget(self, CPU_TOKENS, GPU_TOKENS)
        for tables in self._compute_tables(unique, pending, wanted, budget):
            by_key.update((_make_key(table.encoded_text), table) for table in tables)
            finished += sum(_make_key(table.encoded_text) in pending for table in tables)
            report_finished(options, tables, finished, len(unique))
        return [replace(by_key[_make_key(text)], encoded_text=text) for text in texts]

    def _compute_tables(
        self, texts: Sequence[EncodedText], pending: Container[object], wanted: frozenset[str], budget: int
    ) -> Iterator[list[TokenTable]]:
        """Yield the tables of sorted texts as their rows are computed, without the batches that no lacking text needs.

        Batches follow from the texts alone; one that memory does not hold, and those after it, are computed in parts.
        """
        memory_budget = huggingface.MemoryBudget(self.device)
        for pool in _group_by_length(texts):
            if "logprob" not in wanted:
                yield [_build_table(text, np.full(len(text.ids), np.nan)) for text in pool]
                continue
            rows, which = _build_rows(pool, self.mask, self.tail)
            positions = np.concatenate([len(text.context_ids) + np.arange(len(text.ids)) for text in pool])
            targets = np.concatenate([text.ids for text in pool])
            cuts = np.cumsum([0, *(len(text.ids) for text in pool)])
            # Rows stand in the order of the texts, so that the first texts are finished first.
            last = np.maximum.accumulate(np.maximum.reduceat(which, cuts[:-1]))
            of = np.repeat(np.arange(len(pool)), np.diff(cuts))
            missing = np.array([_make_key(text) in pending for text in pool])
            logprob = np.full(len(targets), np.nan)
            whole = np.ones(len(pool), dtype=bool)
            width = rows.shape[1]
            ready = 0
            for start in range(0, len(rows), max(1, budget // width)):
                stop = min(len(rows), start + max(1, budget // width))
                concerned = np.unique(of[(which >= start) & (which < stop)])
                if missing[concerned].any():

                    def compute(first: int, last: int, start: int = start, pool: Any = (rows, which, positions, targets)) -> Any:
                        rows, which, positions, targets = pool
                        mine = np.flatnonzero((which >= start + first) & (which < start + last))
                        here = rows[start + first : start + last]
                        return mine, self._compute(here, which[mine] - start - first, positions[mine], targets[mine])

                    for mine, values in memory_budget.compute_in_parts(compute, stop - start, width):
                        logprob[mine] = values
                else:
                    whole[concerned] = False
                now = int(np.searchsorted(last, stop))
                if finished := [k for k in range(ready, now) if whole[k]]:
                    yield [_build_table(pool[k], logprob[cuts[k] : cuts[k + 1]]) for k in finished]
                ready = now

    def _compute(self, rows: np.ndarray, which: np.ndarray, positions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the log-probability (nats) of each target at its place of its row."""
        import torch

        nodes, sources = np.unique(which * rows.shape[1] + positions, return_inverse=True)
        wanted = frozenset({"logprob"})
        with huggingface.inference_context():
            ids = torch.from_numpy(rows).to(self.device)
            inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            states = output_layers.capture_states(self.network, **inputs) if self.head else self.network(**inputs).logits
            measured = output_layers.measure_predictions(
                self.head or output_layers.OwnLogits(),
                output_layers.build_ordered_blocks(len(self.encoder.vocabulary.starts_with_space)),
                states.flatten(0, 1)[torch.from_numpy(nodes).to(states.device)],
                sources,
                targets,
                wanted,
            )
        huggingface.check_finite(self, measured, targets, wanted)
        return measured.logprob


def enable_output_layer(model: MaskedModel, probe_folder: Path | None = None) -> MaskedModel:
    """Return the model with its output layer apart where that gives the numbers of its own logits; see `enable_fast_paths`."""
    plain = replace(model, head=None)
    verdict = probe_results.load_or_probe(plain, probe_folder, lambda: {"head": _probe_heads(plain)})
    return replace(plain, head=output_layers.get_head(model.network, verdict["head"]))


def _probe_heads(plain: MaskedModel) -> int | None:
    """Return the number of the head that gives the numbers of the model's own logits, if one does."""
    size = len(plain.encoder.vocabulary.starts_with_space)
    row = np.random.default_rng(0).integers(size, size=(1, min(16, plain.encoder.window or 16)))
    positions = np.arange(row.shape[1])
    expected = plain._compute(row, 0 * positions, positions, row[0])
    for number, head in enumerate(output_layers.list_heads(plain.network)):
        fast = replace(plain, head=head)
        try:
            away = np.abs(fast._compute(row, 0 * positions, positions, row[0]) - expected).max()
        except Exception:  # whatever another library's network cannot do, its own logits remain
            continue
        if away <= {"float64": 1e-9, "float32": 1e-4}.get(plain.dtype, 3e-2) * max(1.0, np.abs(expected).max()):
            return number
    return None


def _make_key(text: EncodedText) -> tuple[object, ...]:
    return text.context_ids, text.ids, text.masked_positions


def _count_tokens(text: EncodedText) -> int:
    return len(text.context_ids) + len(text.ids)


def _group_by_length(texts: Sequence[EncodedText]) -> Iterator[list[EncodedText]]:
    """Yield the sorted texts in groups of one length, whose rows together hold at most `MAX_POOL_IDS` ids unless one text does."""
    for length, group in itertools.groupby(texts, _count_tokens):
        pool: list[EncodedText] = []
        held = 0
        for text in group:
            size = len(text.ids) * length
            if pool and held + size > MAX_POOL_IDS:
                yield pool
                pool, held = [], 0
            pool.append(text)
            held += size
        yield pool


def _build_rows(texts: Sequence[EncodedText], mask: int, tail: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of ids with tokens hidden, as they first occur, and the row of each token."""
    counts = [len(text.ids) for text in texts]
    rows = np.repeat(np.array([(*text.context_ids, *text.ids, *tail) for text in texts]), counts, axis=0)
    firsts = np.cumsum([0, *counts])[:-1]
    hidden = [
        (first + j, len(text.context_ids) + position)
        for first, text in zip(firsts, texts, strict=True)
        for j, positions in enumerate(text.masked_positions)
        for position in positions
    ]
    rows[tuple(np.array(hidden).T)] = mask
    _, index, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(index)
    return rows[index[order]], np.argsort(order)[inverse.ravel()]


def _build_table(text: EncodedText, logprob: np.ndarray) -> TokenTable:
    nothing = np.full(len(text.ids) + 1, np.nan)
    return TokenTable(text, np.append(logprob, np.nan), nothing, nothing, nothing)
