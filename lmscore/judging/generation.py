"""What a model with a chat template says where nothing holds it to labels: a short answer, or the next turn of a conversation."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ..cache.token_cache import CachedModel
from ..models import huggingface
from ..models.interface import Model
from ..tokens.continuations import get_prompt_encoder
from ..tokens.encoding import tokenise
from .chat_format import choose_chat_format

MAX_ANSWER_TOKENS = 10  # of an answer, as in BLiMP-NL
MAX_BATCH_POSITIONS = 2048  # positions of a batch


def generate_answers(model: Model, prompts: Sequence[str]) -> list[str]:
    """Return the answer to each prompt of a chat template: the most probable tokens, at most ten, on one line.

    Prompts of one length are computed together, so that nothing is padded; equal prompts are answered once, and those that a
    model's cache has are not computed.
    """
    encoder = get_prompt_encoder(model)
    ids = [tuple(tokenise(encoder.tokenizer, prompt, special=True).ids) for prompt in prompts]
    batches: list[list[tuple[int, ...]]] = []
    for length, same_length in itertools.groupby(sorted(set(ids), key=lambda each: (len(each), each)), key=len):
        group, size = [*same_length], max(1, MAX_BATCH_POSITIONS // length)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    known: dict[tuple[int, ...], str] = {}
    for batch in batches:
        facts = [f"most probable {MAX_ANSWER_TOKENS} after {prompt}" for prompt in batch]
        kept = [model.read_cached_text(each) if isinstance(model, CachedModel) else None for each in facts]
        answers = [text for text in kept if text is not None]
        if len(answers) < len(batch):  # computed as a whole: numbers move with what else is in a batch
            answers = _generate_batch(model, batch)
            if isinstance(model, CachedModel):
                model.cache_texts(dict(zip(facts, answers, strict=True)))
        known |= zip(batch, answers, strict=True)
    return [known[each] for each in ids]


def _generate_batch(model: Model, batch: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the answer to each prompt of a batch, which are equally long."""
    import torch
    from transformers import GenerationConfig

    own, encoder = require_loaded_model(model), get_prompt_encoder(model)
    ends = sorted(encoder.end_ids)
    settings = GenerationConfig(
        max_new_tokens=MAX_ANSWER_TOKENS,
        eos_token_id=ends,
        pad_token_id=(*ends, 0)[0],
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,  # what a model's own settings would change of the most probable tokens
        no_repeat_ngram_size=0,
    )
    rows = torch.tensor(batch, device=own.device)
    with torch.inference_mode(), huggingface.silence_libraries():
        whole = own.network.generate(input_ids=rows, attention_mask=torch.ones_like(rows), generation_config=settings)
    texts = encoder.tokenizer.batch_decode(whole[:, rows.shape[1] :], skip_special_tokens=True)
    return [" ".join(text.split()) for text in texts]


def require_loaded_model(model: Model) -> Any:
    """Return the model whose network can be called, or raise `ValueError` for one that answers from elsewhere."""
    own: Any = getattr(model, "uncached", model)
    if getattr(own, "network", None) is None:
        raise ValueError(f"model {model.name}: is not loaded here, and gives no more than log-probabilities; expected one that is")
    return own


def continue_conversation(
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

    speaker = choose_chat_format(model, chat=True)
    encoder = get_prompt_encoder(model)
    own = require_loaded_model(model)
    for message in messages:
        speaker.check_text(message["content"])
    ids = list(tokenise(encoder.tokenizer, speaker.render_conversation(messages), special=True).ids)
    window = encoder.window
    available = tokens if window is None else min(tokens, window - len(ids))
    if available < 1:
        raise ValueError(f"model {model.name}: the conversation has {len(ids)} tokens and the window {window}; begin a new one")
    ends = sorted(encoder.end_ids)
    settings = GenerationConfig(
        max_new_tokens=available,
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
    with torch.random.fork_rng(devices=devices), torch.inference_mode(), huggingface.silence_libraries():
        torch.manual_seed(seed)
        whole = own.network.generate(input_ids=rows, attention_mask=torch.ones_like(rows), generation_config=settings)
    reply: str = encoder.tokenizer.decode(whole[0, len(ids) :], skip_special_tokens=True)
    return reply.strip()
