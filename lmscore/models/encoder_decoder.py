"""An encoder-decoder: its encoder reads a context, and its decoder says how probable a sentence is after it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

from ..tokens.encoding import EncodedText, EncodingOptions, encode
from . import packing
from .causal import CausalModel


@dataclass(frozen=True)
class EncoderDecoderModel(CausalModel):
    """An encoder-decoder ready to score sentences that have a context; `prefix` of its encoder starts the decoder.

    It computes its logits itself, a row for each sentence; each context of a batch is encoded once.
    """

    reads_context: ClassVar[bool] = True

    def encode(self, text: str, context: str | None = None, **options: Unpack[EncodingOptions]) -> EncodedText:
        """Return `text` as tokens for the decoder, and its context, as the tokenizer itself closes it, for the encoder.

        Nothing joins the two, whatever the `joiner`.
        Raises `ValueError` for a text without a context, or a protocol that does without a prefix token.
        """
        if not context or not context.strip():
            raise ValueError(
                f"{text!r} has no context, and an encoder-decoder predicts a sentence from what its encoder reads; expected items "
                "with a context"
            )
        if not options.pop("prefix", True):
            raise ValueError("a decoder begins with its own start token; expected a protocol that feeds a prefix token")
        source = tuple(self.encoder.tokenizer(context, split_special_tokens=True)["input_ids"])
        if self.encoder.window is not None and len(source) > self.encoder.window:
            raise ValueError(
                f"the context has {len(source)} tokens, which exceed the window of {self.encoder.window}; expected a shorter one"
            )
        scored = encode(self.encoder, text, **options)
        return replace(scored, source_ids=source)

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        return {**super().describe(), "context": "read by the encoder"}

    def _build_inputs(self, layout: packing.RowLayout | packing.PrefixLayout, shared: bool) -> Iterator[dict[str, Any]]:
        """Yield what the network is called with: each sentence's ids and its encoded context."""
        import torch

        (inputs,) = super()._build_inputs(layout, shared)
        sources = [path.source_ids for path in layout.paths]
        distinct = list(dict.fromkeys(sources))
        ids, seen = (torch.tensor(list(rows), device=self.device) for rows in zip(*_pad_rows(distinct), strict=True))
        encoded = self.network.get_encoder()(input_ids=ids, attention_mask=seen)
        which = torch.tensor([distinct.index(source) for source in sources], device=self.device)
        encoded.last_hidden_state = encoded.last_hidden_state[which.to(encoded.last_hidden_state.device)]
        yield {
            "encoder_outputs": encoded,
            "attention_mask": seen[which],
            "decoder_input_ids": inputs["input_ids"],
            "decoder_attention_mask": inputs["attention_mask"],
            "use_cache": False,
        }


def _pad_rows(sources: Sequence[tuple[int, ...]]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield each row of ids, filled up to the longest, and which of them are its own."""
    longest = max(map(len, sources))
    for source in sources:
        missing = longest - len(source)
        yield [*source, *source[:1] * missing], [*[1] * len(source), *[0] * missing]
