"""Answers that may follow a prompt, as tokens to score: how judging, participants and Maze ask a model."""

from collections.abc import Sequence
from typing import Any

from ..models.interface import Model
from .encoding import EncodedText, split_encoding, tokenise


def encode_continuations(model: Model, prompt: str, answers: Sequence[str], *, rendered: bool = False) -> list[EncodedText]:
    """Return each answer after the prompt as tokens for `model.forward`, with the same tokens fed before them.

    Prompt and answer are tokenised as one string, as the model would meet them. Fed is what all of them begin with, up to the
    edge; the rest is scored, so that a token which joins the end of the prompt to an answer belongs to the answer. With one
    answer that edge alone decides. Write the space between them into one of the two. `rendered`: the prompt was made by the
    model's chat template, whose special tokens are read as such, and no prefix token is put before it; otherwise special tokens
    are plain characters and the prefix token is fed first. `answer_lps` makes log-probabilities of the tables.

    Raises `ValueError` in one line for a masked or n-gram model, without an answer, and where two answers have the same tokens.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> lmscore.encode_continuations(model, "Does a dog bark?", [" Yes", " No"])
    Traceback (most recent call last):
    ...
    ValueError: model ngram:bigrams: an n-gram model, which answers no prompts; expected a causal model, such as gpt2
    """
    encoder = get_prompt_encoder(model)
    if not answers:
        raise ValueError("there is no answer to continue the prompt with; expected one or more")
    outputs = [tokenise(encoder.tokenizer, prompt + answer, special=rendered) for answer in answers]
    shared = min(sum(end <= len(prompt) for _, end in output.offsets) for output in outputs)
    tokens = [output.ids for output in outputs]  # each asking for them makes a list anew
    first = tokens[0]
    for other in tokens[1:]:
        shared = next((i for i in range(shared) if other[i] != first[i]), shared)
    lead = () if rendered else (encoder.prefix,)
    fed = (*lead, *first[:shared])
    if not fed:
        raise ValueError(f"the prompt {prompt[:40]!r} has no token before its answers; expected a longer prompt")
    check_distinct_tokens(model, answers, [whole[shared:] for whole in tokens])
    return [split_encoding(encoder, output, fed, shared, len(prompt)) for output in outputs]


def check_distinct_tokens(model: Model, answers: Sequence[str], tokens: Sequence[Sequence[int]]) -> None:
    """Raise `ValueError` where an answer is no token to a model, or the same ones as another."""
    known: dict[tuple[int, ...], str] = {}
    for answer, ids in zip(answers, map(tuple, tokens), strict=True):
        if not ids:
            raise ValueError(f"the tokenizer of {model.name} finds no token in the answer {answer!r}; expected one at least")
        if ids in known:
            raise ValueError(
                f"answers {known[ids]!r} and {answer!r} are the same tokens to {model.name}; expected answers that differ to it"
            )
        known[ids] = answer


def get_prompt_encoder(model: Model) -> Any:
    """Return the encoder of a model that can be prompted, or raise `ValueError` naming what it is instead."""
    encoder = getattr(model, "encoder", None)
    reads_context = getattr(model, "reads_context", False)
    if model.masked or encoder is None or reads_context:
        kind = "a masked model" if model.masked else "an encoder-decoder" if reads_context else "an n-gram model"
        raise ValueError(f"model {model.name}: {kind}, which answers no prompts; expected a causal model, such as gpt2")
    return encoder
