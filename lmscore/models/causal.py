"""A causal model: token ids become token tables through forward passes over batches of shared prefixes."""

import inspect
import logging
import math
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from ..tokens.encoding import OPENING_CERTAIN, OPENING_TEXT, EncodedText, Encoder, EncodingOptions, encode
from ..tokens.token_table import TokenTable
from . import huggingface, output_layers, packing
from .interface import COLUMNS, ForwardOptions, check_columns, report_finished
from .predictors import LAYER_KIND, RENYI_KIND, Predictor, parse_predictor

if TYPE_CHECKING:
    import torch

# positions of a row with shared prefixes: for sentences twice as many share little more and cost more attention
DEFAULT_ROW_SIZE = 128
MAX_ROW_SIZE = 8192  # where long prefixes are shared: the mask of such a row is 256 MB
NO_LIMIT = sys.maxsize
CPU_TOKENS, GPU_TOKENS = 512, 16384  # positions of a batch; bigger batches gain nothing on a CPU and hold more memory

CPU_COARSE_TOKENS = 2048  # in bfloat16 products are fast enough for weights to be laid out anew less often: 7 to 14 % gained

log = logging.getLogger("gardenpath")


@dataclass(frozen=True)
class CausalModel:
    """A causal language model ready to score.

    `name` is what tables call it ('pocket (toy)' for the pocket model; see `identity.format_model_label`), `adapter` what is
    known of an adapter's files, `commit` the hub's, `quantization` the kind that the loaded weights have. With `head` the output
    layer is applied in blocks of the vocabulary, without it the model computes its logits itself; `row_size` is the size of a row
    with shared prefixes, 0 where each text has a row of its own; there, what texts share is computed first where the network
    `uses_prefix_cache` from its cache. `reasons` say why this is so. `repeats_prefix` says whether each window of a long text
    begins with the prefix token. `toy` says of a toy model what its numbers are worth.
    """

    masked: ClassVar[bool] = False

    name: str
    encoder: Encoder
    network: Any
    device: str
    dtype: str
    revision: str | None = None
    commit: str | None = None
    quantization: str | None = None
    adapter: Mapping[str, object] | None = None
    repeats_prefix: bool = False
    head: output_layers.Head | None = None
    row_size: int = 0
    uses_prefix_cache: bool = False
    reasons: Mapping[str, str] | None = None
    toy: str = ""
    exact_row_lengths: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def encode(self, text: str, context: str | None = None, **options: Unpack[EncodingOptions]) -> EncodedText:
        """Return `text` as tokens to score after the prefix token and its context; see `encode`."""
        return encode(self.encoder, text, context, **options)

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        window = self.encoder.window
        facts = huggingface.describe_network(
            self,
            layout="rows that share prefixes"
            if self.row_size
            else "shared prefixes first"
            if self.uses_prefix_cache
            else "a row for each text",
            head="in blocks of the vocabulary" if self.head else "the model's own logits",
            prefix_token=self.encoder.tokenizer.convert_ids_to_tokens(self.encoder.prefix),
            stride=window // 2 if window else None,
            windows_repeat_prefix=self.repeats_prefix,
            layers=getattr(self.network.config.get_text_config(), "num_hidden_layers", None),
            **{f"{name}_because": why for name, why in (self.reasons or {}).items()},
        )
        if NO_LIMIT in self.exact_row_lengths.values():
            facts["long_prefixes"] = "not shared: it would change log-probabilities"
        return facts | ({"toy": self.toy} if self.toy else {})

    def forward(
        self,
        texts: Sequence[EncodedText],
        *,
        columns: Sequence[str] = COLUMNS,
        candidate_ids: Sequence[int] = (),
        **options: Unpack[ForwardOptions],
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given; equal token sequences are computed once.

        Columns not asked for are NaN; with `logprob` alone the last token is not fed. `candidate_ids` are ids of which each row
        has the log-probability of every one, in `predictors["candidates"]`, [id, n + 1]: what else could have come there. A
        batch has at most `batch_tokens` positions, and is computed in parts from where memory runs out. What `on_finished` was
        called with is finished, whatever happens later. A batch whose texts are all `is_known` is left out. Raises `MemoryError`
        where not even one row fits.
        """
        wanted, is_known = check_columns(columns, allow_predictors=True), options.get("is_known")
        unique = list({_make_key(text): text for text in texts}.values())
        end = wanted != {"logprob"}
        windows = [
            packing.build_paths(k, text, self.encoder.window, self._get_repeated_prefix(text), end) for k, text in enumerate(unique)
        ]
        tables = [
            _make_blank_table(text, len(paths), wanted, len(candidate_ids)) for text, paths in zip(unique, windows, strict=True)
        ]
        missing = list(map(len, windows))
        pending = {k for k, text in enumerate(unique) if is_known is None or not is_known(text)}
        finished = len(unique) - len(pending)
        paths = [path for paths in windows for path in paths]
        for batch in self._compute_batches(paths, pending, wanted, options.get("batch_tokens"), candidate_ids):
            ready = []
            for path, values in batch:
                table = tables[path.text]
                for column, part in zip(_get_rows(table), values, strict=True):
                    column[path.row : path.row + len(part)] = part
                missing[path.text] -= 1
                if not missing[path.text]:
                    ready.append(table)
                    finished += path.text in pending
            report_finished(options, ready, finished, len(unique))
        by_key = {_make_key(table.encoded_text): table for table in tables}
        chosen = ((text, by_key[_make_key(text)]) for text in texts)
        return [table if table.encoded_text is text else replace(table, encoded_text=text) for text, table in chosen]

    def forward_from_cache(self, texts: Sequence[EncodedText], cache: Any, cached_length: int) -> list[TokenTable]:
        """Return tables of log-probabilities of texts fed the same, whose first `cached_length` tokens are in the network's
        `cache`.

        They are computed in one row, which is added to the cache: what they are fed first, and then what tells them apart.
        """
        wanted = frozenset({"logprob"})
        paths = [path for k, text in enumerate(texts) for path in packing.build_paths(k, text, None, (), False)]
        paths = [path._replace(ids=path.ids[cached_length:], first=path.first - cached_length) for path in paths]
        layout = packing.lay_out_rows(packing.build_shared_rows(paths, NO_LIMIT))
        cached_layout = packing.CachedLayout(**vars(layout), cached_length=cached_length, cache=cache)
        tables = [_make_blank_table(text, 1, wanted, 0) for text in texts]
        for path, (logprob, *_) in self._compute(cached_layout, True, self._build_blocks(wanted), wanted):
            tables[path.text].logprob[: len(logprob)] = logprob
        return tables

    def _get_repeated_prefix(self, text: EncodedText) -> tuple[int, ...]:
        return text.context_ids[:1] if self.repeats_prefix and text.context_ids[0] == self.encoder.prefix else ()

    def _compute_batches(
        self,
        paths: Sequence[packing.TokenPath],
        pending: Container[int],
        wanted: frozenset[str],
        budget: int | None,
        candidate_ids: Sequence[int],
    ) -> Iterator[list[tuple[packing.TokenPath, np.ndarray]]]:
        """Yield each path with its columns, batch by batch, without the batches that no text needs that is lacking.

        Batches follow from the paths alone; one that memory does not hold, and those after it, are computed in parts.
        """
        blocks = self._build_blocks(wanted)
        on_cpu = CPU_TOKENS if self.dtype != "bfloat16" else CPU_COARSE_TOKENS
        budget = budget or huggingface.compute_batch_budget(self, on_cpu, GPU_TOKENS)
        row = self._choose_row_size(paths)
        alone = packing.build_single_rows(path for path in paths if len(path.ids) > row)
        together = packing.build_shared_rows((path for path in paths if len(path.ids) <= row), row)
        batches: list[tuple[list[Any], Any, bool]] = [(alone, packing.lay_out_rows, False), (together, packing.lay_out_rows, True)]
        if self.uses_prefix_cache:
            shared_groups, others = packing.group_paths(paths, budget)
            batches = [(packing.build_single_rows(others), packing.lay_out_rows, False)]
            batches += [(groups, packing.lay_out_groups, False) for groups in shared_groups]
        memory_budget = huggingface.MemoryBudget(self.device)
        for rows, lay_out, shared in batches:
            rows.sort(key=lambda row: -row.size)
            start = 0
            while start < len(rows):
                count = min(len(rows) - start, max(1, budget // rows[start].size))
                batch = rows[start : start + count]
                start += count
                if not any(path.text in pending for row in batch for path in row.paths):
                    continue

                def compute(first: int, stop: int, batch: Any = batch, lay_out: Any = lay_out, shared: bool = shared) -> Any:
                    return self._compute(lay_out(batch[first:stop]), shared, blocks, wanted, candidate_ids)

                yield [values for part in memory_budget.compute_in_parts(compute, len(batch), batch[0].size) for values in part]

    def _choose_row_size(self, paths: Sequence[packing.TokenPath]) -> int:
        """Return the size of rows with shared prefixes: more than `row_size` where long prefixes are shared and that is exact."""
        if not self.row_size:
            return 0
        width = getattr(self.network.config.get_text_config(), "hidden_size", 0)
        row = packing.choose_capacity(paths, self.row_size, MAX_ROW_SIZE, max(256, width))
        if row > self.row_size:
            together = packing.build_shared_rows((path for path in paths if len(path.ids) <= row), row)
            longest = max(together, key=lambda each: max(len(path.ids) for path in each.paths))
            length = max(len(path.ids) for path in longest.paths)
            if length > self.exact_row_lengths.get(row, 0):
                self.exact_row_lengths[row] = length if self._is_exact(longest) else NO_LIMIT
            row = row if self.exact_row_lengths[row] != NO_LIMIT else self.row_size
        return row

    def _is_exact(self, row: packing.PackedRow) -> bool:
        """Whether the first, last and longest path of a row have, but for noise, the log-probabilities of rows of their own."""
        wanted = frozenset({"logprob"})
        blocks = self._build_blocks(wanted)
        longest = max(row.paths, key=lambda path: len(path.ids))
        try:
            together = dict(self._compute(packing.lay_out_rows([row]), True, blocks, wanted))
            for path in {row.paths[0], row.paths[-1], longest}:
                [(_, alone)] = self._compute(packing.lay_out_rows(packing.build_single_rows([path])), False, blocks, wanted)
                if np.abs(together[path][0] - alone[0]).max() > 5 * huggingface.get_tolerance(self):
                    return False
        except (RuntimeError, MemoryError):  # what does not fit, or a place beyond those that a network knows
            return False
        return True

    def _build_blocks(self, wanted: frozenset[str]) -> output_layers.VocabularyBlocks:
        vocabulary = self.encoder.vocabulary
        if wanted - {"logprob", "entropy", "renyi"}:
            device = str(self.head.linear.weight.device) if self.head else self.device
            return output_layers.build_class_blocks(vocabulary.starts_with_space, sorted(self.encoder.end_ids), device)
        return output_layers.build_ordered_blocks(len(vocabulary.starts_with_space))

    def _compute(
        self,
        layout: packing.RowLayout | packing.PrefixLayout,
        shared: bool,
        blocks: output_layers.VocabularyBlocks,
        wanted: frozenset[str],
        candidate_ids: Sequence[int] = (),
    ) -> list[tuple[packing.TokenPath, np.ndarray]]:
        """Return each path of a batch with logprob, log boundary mass, entropy and Rényi entropy of its predictions.

        The rows of further predictors follow, in the order of their names, and then those of the ids `candidate_ids`.
        """
        import torch

        more = _select_predictors(wanted)
        layers = [int(one.value) for one in more if one.kind == LAYER_KIND]
        powers = list(dict.fromkeys(one.power for one in more if one.power is not None))
        with huggingface.inference_context():
            # A batch is one pass through the network, or one of what texts share and one that goes on from it.
            passes = [self._compute_states(layers, inputs) for inputs in self._build_inputs(layout, shared)]
            states, *by_layer = (torch.cat([each.flatten(0, 1) for each in parts]) for parts in zip(*passes, strict=True))
            nodes = torch.from_numpy(layout.nodes).to(states.device)

            def measure(
                states: "torch.Tensor", columns: frozenset[str], powers: Sequence[float] = (), candidate_ids: Sequence[int] = ()
            ) -> output_layers.PredictionMeasures:
                chosen = states[nodes.to(states.device)].to(nodes.device)
                head = self.head or output_layers.OwnLogits()
                return output_layers.measure_predictions(
                    head, blocks, chosen, layout.sources, layout.targets, columns, powers, candidate_ids
                )

            measured = measure(states, wanted, powers, candidate_ids)
            of_layer = {layer: measure(one, output_layers.LOGPROB_COLUMNS) for layer, one in zip(layers, by_layer, strict=True)}
        huggingface.check_finite(self, measured, layout.targets, wanted)
        edges = [(1, measured.log_text, "log_boundary" in wanted)]
        rows = [measured.logprob, *np.stack([measured.log_boundary, measured.entropy, measured.renyi])[:, layout.sources]]
        for one in more:
            if one.kind == RENYI_KIND:
                rows.append(_compute_renyi(one.value, measured)[layout.sources])
                continue
            found = of_layer[int(one.value)] if one.kind == LAYER_KIND else measured.powers[one.power or 0.0]
            rows += [found.logprob, found.log_boundary[layout.sources]]
            edges.append((len(rows) - 1, found.log_text, True))
        values = np.vstack([*rows, measured.candidate_logprobs[:, layout.sources]])
        for path, span in packing.iterate_paths(layout):
            for row, log_text, asked in edges:
                if path.opening == OPENING_TEXT:
                    values[row, span.start] = log_text[layout.sources[span.start]]
                elif path.opening == OPENING_CERTAIN and asked:
                    values[row, span.start] = 0.0
        return [(path, values[:, span]) for path, span in packing.iterate_paths(layout)]

    def _compute_states(self, layers: Sequence[int], inputs: Mapping[str, Any]) -> "list[torch.Tensor]":
        """Return what the output layer is given (without a head, what it gives), and the same by each of some layers."""
        if not layers:
            return [output_layers.capture_states(self.network, **inputs) if self.head else self.network(**inputs).logits]
        if self.head is None:
            why = (self.reasons or {}).get("head", "")
            raise ValueError(
                f"model {self.name}: its output layer cannot be applied by itself ({why}), so not to other layers; expected "
                "surprisal_layer of another architecture"
            )
        last, others = output_layers.capture_layer_states(self.network, layers, **inputs)
        return [last, *others]

    def _build_inputs(self, layout: packing.RowLayout | packing.PrefixLayout, shared: bool) -> Iterator[dict[str, Any]]:
        """Yield what the network is called with: ids and, where rows share prefixes, depths and who sees whom.

        Where texts go on from what they share, the second call finds in the network's cache what the first has left there.
        """
        import torch

        if isinstance(layout, packing.PrefixLayout):
            from transformers import DynamicCache

            known = inspect.signature(self.network.forward).parameters
            cache = DynamicCache(config=self.network.config)
            more = {"cache_params" if "cache_params" in known else "past_key_values": cache, "use_cache": True}
            yield {"input_ids": torch.from_numpy(layout.prefix_ids).to(self.device), **more}
            whose: Any = torch.from_numpy(layout.group_of_path).to(self.device)
            cache.reorder_cache(whose)
            # What fills a row up stands behind its text, where nothing looks.
            yield {"input_ids": torch.from_numpy(layout.continuation_ids).to(self.device), **more}
            return
        ids = torch.from_numpy(layout.ids).to(self.device)
        column = torch.arange(ids.shape[1], device=self.device)
        if not shared:
            filled = column < torch.from_numpy(layout.lengths).to(self.device).unsqueeze(1)
            yield {"input_ids": ids, "attention_mask": filled.long(), "use_cache": False}
            return
        until = torch.from_numpy(layout.subtree_ends).to(self.device)
        sees = (column <= column.unsqueeze(1)) & (column.unsqueeze(1) < until.unsqueeze(1))
        dtype = self.network.dtype
        # Some models take masks of numbers only: a number to add, the least there is where nothing is seen.
        mask = torch.zeros(sees.shape, dtype=dtype, device=self.device).masked_fill_(~sees, torch.finfo(dtype).min)
        positions = torch.from_numpy(layout.positions).to(self.device)
        cached: dict[str, Any] = {"use_cache": False}
        if isinstance(layout, packing.CachedLayout):
            mask, positions = torch.nn.functional.pad(mask, (layout.cached_length, 0)), positions + layout.cached_length
            cached = {"past_key_values": layout.cache, "use_cache": True}
        yield {"input_ids": ids, "attention_mask": mask.unsqueeze(1), "position_ids": positions, **cached}


def _make_key(text: EncodedText) -> tuple[object, ...]:
    return text.context_ids, text.ids, text.opening, text.source_ids


def get_columns(table: TokenTable) -> tuple[np.ndarray, ...]:
    """Return the columns of a table that a forward pass fills."""
    return table.logprob, table.log_boundary, table.entropy, table.renyi


def _get_rows(table: TokenTable) -> tuple[np.ndarray, ...]:
    return (*get_columns(table), *(row for rows in table.predictors.values() for row in rows))


def _select_predictors(wanted: frozenset[str]) -> list[Predictor]:
    """Return the predictors among columns, in the order of their names."""
    return [parse_predictor(name) for name in sorted(wanted - {*COLUMNS})]


def _compute_renyi(order: float, measured: output_layers.PredictionMeasures) -> np.ndarray:
    """Return the Rényi entropy of an order, in nats."""
    if math.isinf(order):
        return -measured.log_peak
    found: np.ndarray = measured.powers[order].log_sum / (1 - order)
    return found


def _make_blank_table(text: EncodedText, windows: int, wanted: frozenset[str], candidate_count: int) -> TokenTable:
    size = len(text.ids) + 1
    more = {one.name: np.full((one.row_count, size), np.nan) for one in _select_predictors(wanted)}
    if candidate_count:
        more["candidates"] = np.full((candidate_count, size), np.nan)
    logprob, log_boundary, entropy, renyi = np.full((4, size), np.nan)
    return TokenTable(text, logprob, log_boundary, entropy, renyi, windows, more)
