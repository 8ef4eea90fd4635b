"""What a model with a chat template says where nothing holds it to labels: a short answer, or the next turn of a conversation."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ..cache.token_cache import CachedModel
from ..models import huggingface
from ..models.interface import Model
from ..tokens.continuations import prompted
from ..tokens.encoding import tokenized
from .turns import turns

TOKENS = 10  # of an answer, as in BLiMP-NL
TOGETHER = 2048  # positions of a batch


def generated(model: Model, prompts: Sequence[str]) -> list[str]:
    """Return the answer to each prompt of a chat template: the most probable tokens, at most ten, on one line.

    Prompts of one length are computed together, so that nothing is padded; equal prompts are answered once, and those that a
    model's cache has are not computed.
    """
    encoder = prompted(model)
    ids = [tuple(tokenized(encoder.tokenizer, prompt, special=True).ids) for prompt in prompts]
    batches: list[list[tuple[int, ...]]] = []
    for length, alike in itertools.groupby(sorted(set(ids), key=lambda each: (len(each), each)), key=len):
        group, size = [*alike], max(1, TOGETHER // length)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    known: dict[tuple[int, ...], str] = {}
    for batch in batches:
        facts = [f"most probable {TOKENS} after {prompt}" for prompt in batch]
        kept = [model.recall(each) if isinstance(model, CachedModel) else None for each in facts]
        said = [text for text in kept if text is not None]
        if len(said) < len(batch):  # computed as a whole: numbers move with what else is in a batch
            said = _answers(model, batch)
            if isinstance(model, CachedModel):
                model.keep(dict(zip(facts, said, strict=True)))
        known |= zip(batch, said, strict=True)
    return [known[each] for each in ids]


def _answers(model: Model, batch: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the answer to each prompt of a batch, which are equally long."""
    import torch
    from transformers import GenerationConfig

    own, encoder = loaded_here(model), prompted(model)
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
    rows = torch.tensor(batch, device=own.device)
    with torch.inference_mode(), huggingface.quiet():
        whole = own.network.generate(input_ids=rows, attention_mask=torch.ones_like(rows), generation_config=settings)
    said = encoder.tokenizer.batch_decode(whole[:, rows.shape[1] :], skip_special_tokens=True)
    return [" ".join(text.split()) for text in said]


def loaded_here(model: Model) -> Any:
    """Return the model whose network can be called, or raise `ValueError` for one that answers from elsewhere."""
    own: Any = getattr(model, "uncached", model)
    if getattr(own, "network", None) is None:
        raise ValueError(
            f"model {model.name}: is not loaded here, and gives no more than log-probabilities; expected one that is"
        )
    return own


def conversation(
    model: Model,
    messages: Sequence[Mapping[str, str]],
    *,
    tokens: int = 4000,
    temperature: float = 1.0,
    top_p: float = 0.95,
    seed: int = 1,
) -> str:
    """Return what a model with a chat template says next in a conversation, sampled from `seed`; lines are kept.

    `messages` have a role (user, assistant) and content, in turn. Temperature 0 is the most probable token each time. An answer
    ends where the model ends it, at so many tokens, or where its window does. Raises `ValueError` for a model without a chat
    template, one that answers from elsewhere, and a conversation that leaves the window no room.
    """
    import torch
    from transformers import GenerationConfig

    speaker = turns(model, chat=True)
    encoder = prompted(model)
    own = loaded_here(model)
    for message in messages:
        speaker.check(message["content"])
    ids = list(tokenized(encoder.tokenizer, speaker.conversation(messages), special=True).ids)
    window = encoder.window
    room = tokens if window is None else min(tokens, window - len(ids))
    if room < 1:
        raise ValueError(
            f"model {model.name}: the conversation has {len(ids)} tokens and the window {window}; begin a new one"
        )
    ends = sorted(encoder.ends)
    settings = GenerationConfig(
        max_new_tokens=room,
        eos_token_id=ends,
        pad_token_id=(*ends, 0)[0],
        do_sample=temperature > 0,
        temperature=temperature or None,
        top_p=top_p if temperature else None,
        top_k=0 if temperature else None,
        num_beams=1,
        repetition_penalty=1.0,
    )
    rows = torch.tensor([ids], device=own.device)
    devices = [own.device] if rows.is_cuda else []
    with torch.random.fork_rng(devices=devices), torch.inference_mode(), huggingface.quiet():
        torch.manual_seed(seed)
        whole = own.network.generate(input_ids=rows, attention_mask=torch.ones_like(rows), generation_config=settings)
    said: str = encoder.tokenizer.decode(whole[0, len(ids) :], skip_special_tokens=True)
    return said.strip()
