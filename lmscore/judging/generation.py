"""Greedy answers of a model with a chat template: what it says, word by word, where nothing holds it to labels."""

import itertools
from collections.abc import Sequence
from typing import Any

from ..models import huggingface
from ..models.interface import Model
from ..tokens.continuations import prompted
from ..tokens.encoding import tokenized

TOKENS = 10  # of an answer, as in BLiMP-NL
TOGETHER = 2048  # positions of a batch


def generated(model: Model, prompts: Sequence[str]) -> list[str]:
    """Return the answer to each prompt of a chat template: the most probable tokens, at most ten, on one line.

    Prompts of one length are computed together, so that nothing is padded; equal prompts are answered once.
    """
    import torch
    from transformers import GenerationConfig

    encoder = prompted(model)
    network: Any = getattr(model, "uncached", model)
    known: dict[tuple[int, ...], str] = {}
    ids = [tuple(tokenized(encoder.tokenizer, prompt, special=True).ids) for prompt in prompts]
    ends = sorted(encoder.ends)
    settings = GenerationConfig(
        max_new_tokens=TOKENS,
        eos_token_id=ends,
        pad_token_id=(*ends, 0)[0],
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,  # what a model's own settings would change of the most probable tokens
        no_repeat_ngram_size=0,
    )
    for length, alike in itertools.groupby(sorted(set(ids), key=lambda each: (len(each), each)), key=len):
        group, size = [*alike], max(1, TOGETHER // length)
        for batch in (group[start : start + size] for start in range(0, len(group), size)):
            rows = torch.tensor(batch, device=network.device)
            with torch.inference_mode(), huggingface.quiet():
                whole = network.network.generate(
                    input_ids=rows,
                    attention_mask=torch.ones_like(rows),
                    generation_config=settings,
                )
            said = encoder.tokenizer.batch_decode(whole[:, length:], skip_special_tokens=True)
            known |= {each: " ".join(text.split()) for each, text in zip(batch, said, strict=True)}
    return [known[each] for each in ids]
