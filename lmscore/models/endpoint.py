"""A model that a server runs: token ids go out, and the log-probability of each comes back."""

import http.client
import json
import math
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from gardenpath import study

from .. import identity
from ..tokens.encoding import OPENING_CERTAIN, EncodedText, Encoder, EncodingOptions, build_vocabulary, encode
from ..tokens.token_table import TokenTable
from ..tokens.tokenizers import find_prefix_id, read_tokenizer
from .interface import COLUMNS, ForwardOptions, check_columns, report_finished

PROMPTS_PER_REQUEST = 16  # of a request
TIMEOUT_SECONDS = 600.0  # seconds for a request
RETRY_PAUSES = (1.0, 4.0, 16.0)  # seconds before a server that is busy, or gone, is asked again
RETRY_STATUS_CODES = (408, 429, 500, 502, 503, 504)
KEY_VARIABLE = "GARDENPATH_ENDPOINT_KEY"  # variable of the environment whose value a server is sent as its key
MAX_DIFFERENCE_NATS = 0.1  # nats by which two answers of a server may differ: it computes in few bits


@dataclass(frozen=True)
class EndpointModel:
    """A causal model behind an OpenAI-compatible completions endpoint that gives log-probabilities of prompts.

    Of each token there is its log-probability alone: no boundary mass, so surprisal is naive; no entropy; nothing of the end of
    a text. `served_name` is what the server calls the model.
    """

    masked: ClassVar[bool] = False

    name: str
    served_name: str
    address: str
    encoder: Encoder
    revision: str | None = None

    def encode(self, text: str, context: str | None = None, **options: Unpack[EncodingOptions]) -> EncodedText:
        """Return `text` as tokens to score after the prefix token and its context; see `encode`."""
        if options.get("closing"):
            raise ValueError("an endpoint says nothing of the end of a text, which this protocol scores; expected another one")
        encoded = encode(self.encoder, text, context, **options)
        return replace(encoded, opening=OPENING_CERTAIN)

    def collect_identity(self) -> dict[str, object]:
        """Return what tells the model's numbers from any other's, as far as its user has declared it."""
        return {"served": self.served_name, "endpoint": self.address, "revision": self.revision, "prefix": self.encoder.prefix}

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""
        tokenizer = self.encoder.tokenizer
        return {
            "name": self.name,
            "architecture": "not known: a server runs it",
            **self.collect_identity(),
            "prefix": None,
            "prefix_token": tokenizer.convert_ids_to_tokens(self.encoder.prefix),
            "tokenizer": tokenizer.name_or_path,
            "surprisal": "naive: a server gives no boundary masses, and no entropies",
            "cached": self.revision is not None,
        }

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given: the log-probability of each token, all else NaN.

        Raises `ValueError` in one line for what the server refuses, and where its answer lacks a number.
        """
        wanted, is_known = check_columns(columns), options.get("is_known")
        unique = list({(text.context_ids, text.ids): text for text in texts}.values())
        found_of: dict[tuple[object, ...], np.ndarray] = {}
        for start in range(0, len(unique), PROMPTS_PER_REQUEST):
            group = unique[start : start + PROMPTS_PER_REQUEST]
            if is_known is not None and all(map(is_known, group)):
                found_of.update(((text.context_ids, text.ids), np.full(len(text.ids), np.nan)) for text in group)
                continue
            found = self._request_logprobs([(*text.context_ids, *text.ids) for text in group]) if "logprob" in wanted else None
            tables = []
            for k, text in enumerate(group):
                numbers = found[k][len(text.context_ids) - 1 :] if found else np.full(len(text.ids), np.nan)
                found_of[text.context_ids, text.ids] = numbers
                tables.append(_build_table(text, numbers))
            report_finished(options, tables, len(found_of), len(unique))
        return [_build_table(text, found_of[text.context_ids, text.ids]) for text in texts]

    def _request_logprobs(self, prompts: Sequence[Sequence[int]]) -> list[np.ndarray]:
        """Return the log-probability of each token of each prompt but its first."""
        asked = {
            "model": self.served_name,
            "prompt": [list(map(int, prompt)) for prompt in prompts],
            "max_tokens": 1,  # many servers take no 0
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        reply = _post_request(f"{self.address}/completions", asked)
        choices = reply.get("choices")
        if not isinstance(choices, list) or len(choices) != len(prompts):
            count = len(choices) if isinstance(choices, list) else "no"
            raise self._make_error(f"gave {count} choices for {len(prompts)} prompts")
        if not all(isinstance(choice, dict) and isinstance(choice.get("index", 0), int) for choice in choices):
            raise self._make_error("gave choices that are no objects with an index")
        ordered = sorted(choices, key=lambda choice: choice.get("index", 0))
        return [self._parse_logprobs(choice, len(prompt)) for choice, prompt in zip(ordered, prompts, strict=True)]

    def _parse_logprobs(self, choice: Mapping[str, Any], tokens: int) -> np.ndarray:
        logprobs = choice.get("logprobs")
        stated = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
        if not isinstance(stated, list):
            raise self._make_error("gave no logprobs.token_logprobs")
        if len(stated) not in (tokens, tokens + 1):
            raise self._make_error(
                f"gave {len(stated)} token_logprobs for a prompt of {tokens} tokens and 1 more: it does not echo the prompt, or "
                "adds tokens of its own"
            )
        numbers = stated[1:tokens]
        for position, number in enumerate(numbers, start=1):
            if not isinstance(number, (int, float)) or not math.isfinite(number) or number > 1e-6:
                raise self._make_error(f"gave {number!r} as the log-probability of token {position} of a prompt of {tokens}")
        return np.array(numbers, dtype=np.float64)

    def _make_error(self, what: str) -> ValueError:
        return ValueError(
            f"endpoint {self.address}, model {self.served_name!r}: {what}; expected a completions endpoint that gives the "
            "log-probability of each token of a prompt (echo with logprobs, as vLLM and SGLang do)"
        )

    def probe(self) -> "EndpointModel":
        """Return the model, once three prompts that begin alike have shown that the server reads our ids and nothing else."""
        ids = self.encoder.tokenizer("The keys to the cabinet are on the table.", add_special_tokens=False)["input_ids"]
        middle = max(1, len(ids) // 2)
        one = [self.encoder.prefix, *ids]
        other = [self.encoder.prefix, *ids[:middle], *reversed(ids[middle:]), ids[0]]
        third = [self.encoder.prefix, *ids[:middle], ids[0]]
        first, second, last = self._request_logprobs([one, other, third])
        difference = np.abs(first[:middle] - second[:middle]).max()
        if difference > MAX_DIFFERENCE_NATS:
            raise self._make_error(f"gave log-probabilities that differ by {difference:.2g} nats for the same tokens")
        if np.array_equal(first[middle:], second[middle : len(first)]):
            raise self._make_error("gave the same log-probabilities for different tokens")
        if first[middle] == second[middle] == last[middle]:  # where they part: a BOS of its own moves all by one
            raise self._make_error("gave each token the log-probability of the one before it")
        return self


def load_endpoint(
    served_name: str, address: str, *, tokenizer: str | Path | None = None, revision: str | None = None, prefix: str | None = None
) -> EndpointModel:
    """Return a model behind an OpenAI-compatible completions endpoint, such as http://localhost:8000/v1.

    `served_name` is what the server calls it; texts become ids here, by the tokenizer of that name on the hub or in a folder, or by
    `tokenizer`. `revision` declares which weights the server has loaded, and only then are its answers cached. Three prompts are
    tried first. A key in the variable GARDENPATH_ENDPOINT_KEY is sent along. Raises `ValueError` in one line where the server does
    not answer, or gives no log-probabilities of prompts.
    """
    study.errors.require("transformers", "lm")

    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"endpoint {address!r} is no address; expected one such as http://localhost:8000/v1")
    loaded_tokenizer = read_tokenizer(str(tokenizer or served_name))
    size = max(loaded_tokenizer.get_vocab().values()) + 1
    encoder = Encoder(
        tokenizer=loaded_tokenizer,
        vocabulary=build_vocabulary(loaded_tokenizer, size),
        prefix=find_prefix_id(str(tokenizer or served_name), loaded_tokenizer, None, prefix, size),
        end_ids=frozenset(),
    )
    name = identity.format_model_label(served_name, revision=revision)
    return EndpointModel(name, served_name, address.rstrip("/"), encoder, revision).probe()


def chat(
    address: str,
    served_name: str,
    messages: Sequence[Mapping[str, str]],
    *,
    tokens: int = 4000,
    temperature: float = 1.0,
    top_p: float = 0.95,
    seed: int | None = None,
) -> str:
    """Return what a model behind an OpenAI-compatible chat endpoint says next; `address` is such as http://localhost:8000/v1.

    A key in the variable GARDENPATH_ENDPOINT_KEY is sent along. A server that is busy or gone for a while is asked again. Raises
    `ValueError` in one line where it refuses, and where its answer holds no text.
    """
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"endpoint {address!r} is no address; expected one such as http://localhost:8000/v1")
    asked: dict[str, object] = {"model": served_name, "messages": [dict(message) for message in messages]}
    asked |= {"temperature": temperature, "top_p": top_p, "max_tokens": tokens}
    where = f"{address.rstrip('/')}/chat/completions"
    reply = _post_request(where, asked if seed is None else {**asked, "seed": seed})
    try:
        content = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        content = None
    if not isinstance(content, str) or not content.strip():
        raise ValueError(f"endpoint {where}, model {served_name!r}: answered no text; expected an OpenAI-compatible chat endpoint")
    return content


def _build_table(text: EncodedText, logprob: np.ndarray) -> TokenTable:
    nothing = np.full(len(text.ids) + 1, np.nan)
    return TokenTable(text, np.append(logprob, np.nan), nothing, nothing, nothing)


def _post_request(address: str, asked: object) -> dict[str, Any]:
    """Return what a server answers, asking again where it is busy or gone for a while."""
    headers = {"Content-Type": "application/json"}
    if os.environ.get(KEY_VARIABLE):
        headers["Authorization"] = f"Bearer {os.environ[KEY_VARIABLE]}"
    request = urllib.request.Request(address, json.dumps(asked).encode(), headers)
    for pause in (*RETRY_PAUSES, None):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as stream:
                reply = json.load(stream)
            if isinstance(reply, dict):
                return reply
            raise ValueError(f"endpoint {address}: answered no JSON object; expected an OpenAI-compatible server")
        except urllib.error.HTTPError as error:
            if error.code not in RETRY_STATUS_CODES or pause is None:
                message = " ".join(error.read(2000).decode("utf-8", "replace").split())[:200]
                raise ValueError(
                    f"endpoint {address}: answered {error.code} ({message}); expected the completions of a model that it serves"
                ) from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError(f"endpoint {address}: answered no JSON; expected an OpenAI-compatible server") from None
        except (OSError, http.client.HTTPException) as error:
            if pause is None or isinstance(getattr(error, "reason", None), ConnectionRefusedError):
                raise ValueError(f"endpoint {address}: cannot be reached ({error}); is the server there?") from None
        time.sleep(pause)
    raise AssertionError("unreachable")
