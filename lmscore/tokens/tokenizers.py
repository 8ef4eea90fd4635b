"""The tokenizer of a model of transformers, and the token that goes before every text."""

from typing import Any

from .. import networks
from .slow_tokenizers import SlowTokenizer


def read_tokenizer(source: str, **hub: Any) -> Any:
    """Return the tokenizer of a model of transformers, wrapped where it is a slow one."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **hub)
    except Exception as error:
        raise ValueError(
            f"model {source!r}: its tokenizer cannot be loaded ({networks.shorten_message(error)}); "
            "expected tokenizer.json beside the weights"
        ) from error
    if len(tokenizer.get_vocab()) <= len(tokenizer.all_special_ids):  # what transformers makes of no files at all
        raise ValueError(
            f"model {source!r}: its tokenizer has nothing but special tokens; expected tokenizer.json beside the weights"
        )
    return tokenizer if tokenizer.is_fast else SlowTokenizer(tokenizer)


def find_prefix_id(source: str, tokenizer: Any, config: Any, prefix: str | None, size: int) -> int:
    """Return the id fed before every text."""
    if prefix is not None:
        token = tokenizer.get_vocab().get(prefix)
        if token is None:
            raise ValueError(f"prefix token {prefix!r} is not a token of {source!r}; its BOS is {tokenizer.bos_token!r}")
        return int(token)
    # The config's BOS goes before the tokenizer's EOS, which in chat models is a turn marker.
    for candidate in (tokenizer.bos_token_id, getattr(config, "bos_token_id", None), tokenizer.eos_token_id):
        if isinstance(candidate, int) and candidate < size:
            return candidate
    raise ValueError(f"model {source!r} has no BOS or EOS token to feed before a text; name a token as prefix (--prefix-token)")
