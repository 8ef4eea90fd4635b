"""A model that was loaded once: it reads texts at once, and loads its weights when something has to be computed.

What loading found is kept beside the token scores: the tokenizer as it was, how texts are fed, what a sidecar says. It holds
as long as the model's files, the arguments, the packages, the cards and this code are the same.
"""

import base64
import dataclasses
import hashlib
import importlib.metadata
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from gardenpath import study

from .. import identity
from ..loading import find_scheme, load
from ..models.causal import CausalModel
from ..models.interface import COLUMNS, ForwardOptions, Model, Progress
from ..models.masked import MaskedModel
from ..models.probe_results import hash_own_code
from ..tokens.encoding import EncodedText, Encoder, Vocabulary
from ..tokens.token_table import TokenTable
from ..toy import pocket
from .cache_folder import get_cache_folder
from .token_cache import CachedModel, add_cache, ensure_score_folder

PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "bitsandbytes", "peft")
MODEL_CLASSES: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (CausalModel, MaskedModel)}
NETWORK_FIELDS = ("encoder", "network", "head", "reasons")  # fields that are not remembered as they are
TOKENIZER_FILE = "tokenizer.json"

log = logging.getLogger("gardenpath")


def load_cached(name: str | Path, folder: str | Path | None = None, *, progress: Progress | None = None, **settings: Any) -> Model:
    """Return what `add_cache(load(name, **settings), folder)` does; weights are loaded when the cache lacks something.

    A model that was loaded before, and whose files are what they were, needs neither torch nor transformers until then.
    Raises what `load` and `add_cache` raise; of a model that was loaded before, some of it when the weights are loaded.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import lmscore
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder, "corpus.txt")
    ...     _ = corpus.write_text("A dog barks.\\nThe dogs bark.\\nA cat sleeps.\\nThe cats sleep.\\n")
    ...     load_cached(f"ngram:{corpus}:2").describe()["architecture"]
    '2-gram'
    """
    if find_scheme(name):
        return load(name, progress=progress, **settings)
    if settings.get("endpoint"):
        return add_cache(load(name, progress=progress, **settings), folder)
    base = Path(folder) if folder is not None else get_cache_folder() / "scores"
    state = _collect_source_state(str(name), settings)
    text = json.dumps(state, indent=1, sort_keys=True)
    metadata_file = base / "loaded" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def load_model() -> Model:
        return load(name, probe_folder=base, progress=progress, **settings)

    if state is not None and (known := _read_cached_model(metadata_file, base, load_model)):
        return known
    model = load_model()
    result = add_cache(model, base)
    # Files of a hub's model may have come only now, and with them the state.
    state = state and _collect_source_state(str(name), settings)
    if state is not None and isinstance(result, CachedModel):
        _write_metadata(metadata_file, model, result, json.loads(json.dumps(state)))
    return result


def _collect_source_state(name: str, settings: Mapping[str, Any]) -> dict[str, object] | None:
    """Return what decides which model `load` returns; None where that cannot be told without loading it."""
    if settings.get("adapter") or settings.get("endpoint"):  # what these name lies elsewhere
        return None
    device = str(settings.get("device", "auto"))
    cards = [] if device == "cpu" else _describe_cards()
    source = _identify_source(name, settings)
    plain = all(isinstance(value, (str, bool, int, float, type(None))) for value in settings.values())
    if source is None or cards is None or not plain:
        return None
    return {
        "name": name,
        "source": source,
        "settings": dict(sorted(settings.items())),
        "cards": cards,
        "packages": {package: _get_package_version(package) for package in PACKAGES},
        "code": hash_own_code(),
    }


def _identify_source(name: str, settings: Mapping[str, Any]) -> object:
    """Return the state of a model's files, or its commit on the hub; None where neither can be told."""
    folder = Path(pocket.get_pocket_folder() if name == pocket.MODEL_NAME else name)
    if folder.is_dir():
        files = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
        return {str(path.resolve()): [stat.st_size, stat.st_mtime_ns] for path, stat in files}
    if name == pocket.MODEL_NAME:
        return None
    try:
        from huggingface_hub import hf_hub_download

        config = hf_hub_download(name, "config.json", revision=settings.get("revision"))
    except Exception:  # what it is that cannot be loaded, and why, loading says
        return None
    return {"repository": name, "commit": Path(config).parent.name}


def _describe_cards() -> list[str] | None:
    """Return what the system says of NVIDIA's cards and their driver; None where there may be others."""
    if (_get_package_version("torch") or "").endswith("+cpu") or sys.platform == "darwin":
        return []
    driver = Path("/proc/driver/nvidia")
    if driver.is_dir():
        card_files = [driver / "version", *sorted(driver.glob("gpus/*/information"))]
        return [os.environ.get("CUDA_VISIBLE_DEVICES", "all"), *(path.read_text("utf-8", "replace") for path in card_files)]
    others = sys.platform != "linux" or any(Path("/dev", name).exists() for name in ("nvidiactl", "kfd", "dxg"))
    return None if others else []


def _get_package_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _write_metadata(metadata_file: Path, model: Any, result: CachedModel, state: object) -> None:
    """Write what loading found of a model, unless it runs code of its own or rests on other files than its own."""
    if MODEL_CLASSES.get(type(model).__name__) is not type(model) or identity.collect_network_metadata(model)["adapter"]:
        return
    encoder, backend = model.encoder, model.encoder.tokenizer
    if any(type(part).__module__.split(".")[0] not in ("transformers", "tokenizers") for part in (model.network, backend)):
        return
    fields = {f.name: getattr(model, f.name) for f in dataclasses.fields(model) if f.compare and f.name not in NETWORK_FIELDS}
    found = {
        "kind": type(model).__name__,
        "fields": fields,
        "encoder": {
            "prefix": encoder.prefix,
            "ends": sorted(encoder.end_ids),
            "window": encoder.window,
            "unknown": backend.unk_token_id,
            "chat_template": backend.chat_template,
            "all_special_tokens": list(backend.all_special_tokens),
            "vocabulary": [_pack_flags(encoder.vocabulary.starts_with_space), _pack_flags(encoder.vocabulary.ends_with_space)],
            "size": len(encoder.vocabulary.starts_with_space),
        },
        "description": model.describe(),
        "scores": result.folder.name,
        "state": state,
    }
    try:
        text = json.dumps(found, indent=1)
        study.files.write_text(result.folder / TOKENIZER_FILE, backend.backend_tokenizer.to_str())
        study.files.write_text(metadata_file, text)
    except (OSError, TypeError) as error:
        log.debug("what loading found of %s is not kept: %s", model.name, error)


def _pack_flags(flags: np.ndarray) -> str:
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def _unpack_flags(text: str, size: int) -> np.ndarray:
    return np.unpackbits(np.frombuffer(base64.b64decode(text), dtype=np.uint8), count=size).astype(bool)


def _read_cached_model(metadata_file: Path, base: Path, load_model: Callable[[], Model]) -> CachedModel | None:
    """Return the model of a record, if there is one and all that it needs."""
    try:
        found = json.loads(metadata_file.read_text("utf-8"))
        scores = base / found["scores"]
        model = LazyModel(found, (scores / TOKENIZER_FILE).read_text("utf-8"), load_model, scores)
        return CachedModel(model, scores)
    except (OSError, ValueError, KeyError, TypeError):
        return None


class LazyModel:
    """A model of which all is known but its numbers; these are computed by the model itself, loaded at the first need."""

    def __init__(self, found: Mapping[str, Any], tokenizer: str, load_model: Callable[[], Model], scores: Path) -> None:
        from tokenizers import Tokenizer

        facts = found["encoder"]
        encoder = Encoder(
            tokenizer=_LazyTokenizer(Tokenizer.from_str(tokenizer), facts, lambda: self.get_loaded_model()),  # type: ignore[arg-type]
            vocabulary=Vocabulary(*(_unpack_flags(text, facts["size"]) for text in facts["vocabulary"])),
            prefix=facts["prefix"],
            end_ids=frozenset(facts["ends"]),
            window=facts["window"],
        )
        kind = MODEL_CLASSES[found["kind"]]
        tuples = {name: tuple(value) for name, value in found["fields"].items() if isinstance(value, list)}
        self._shell = kind(**{**found["fields"], **tuples}, encoder=encoder, network=None)
        self._description: dict[str, object] = found["description"]
        self._load, self._scores = load_model, scores
        self._loaded: Model | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.get_loaded_model() if name in NETWORK_FIELDS[1:] else self._shell, name)

    def get_loaded_model(self) -> Model:
        """Return the model itself, loading it the first time."""
        if self._loaded is None:
            model = self._load()
            if ensure_score_folder(model, self._scores.parent) != self._scores:
                raise ValueError(
                    f"model {self.name}: its files changed while it was in use; expected the same from first to last: run again"
                )
            self._loaded = model
        return self._loaded

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._shell.name)

    @property
    def masked(self) -> bool:
        """Whether the model is a masked one."""
        return bool(self._shell.masked)

    @property
    def encode(self) -> Callable[..., EncodedText]:
        """The model's own method."""
        method: Callable[..., EncodedText] = self._shell.encode
        return method

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model."""
        return dict(self._description)

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return what the model itself does."""
        return self.get_loaded_model().forward(texts, columns=columns, **options)


class _LazyTokenizer:
    """Reads texts as a model's tokenizer does; for anything else the model's own is loaded."""

    def __init__(self, backend: Any, facts: Mapping[str, Any], load_model: Callable[[], Any]) -> None:
        self.backend_tokenizer, self.unk_token_id, self._load_model = backend, facts["unknown"], load_model
        self.chat_template, self.all_special_tokens = facts["chat_template"], facts["all_special_tokens"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._load_model().encoder.tokenizer, name)

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size())

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        return dict(self.backend_tokenizer.get_added_tokens_decoder())

    def get_vocab(self) -> dict[str, int]:
        vocabulary: dict[str, int] = self.backend_tokenizer.get_vocab()
        return vocabulary

    def __call__(
        self, text: str | list[str], *, add_special_tokens: bool = True, split_special_tokens: bool = False, **how: Any
    ) -> Any:
        if set(how) - {"return_special_tokens_mask", "verbose"}:
            own = self._load_model().encoder.tokenizer
            return own(text, add_special_tokens=add_special_tokens, split_special_tokens=split_special_tokens, **how)
        backend = self.backend_tokenizer
        backend.encode_special_tokens = split_special_tokens
        backend.no_padding()
        backend.no_truncation()
        texts = [text] if isinstance(text, str) else text
        output = backend.encode_batch(texts, add_special_tokens=add_special_tokens)
        names = {"input_ids": "ids", "special_tokens_mask": "special_tokens_mask"}
        values = {name: [getattr(one, attribute) for one in output] for name, attribute in names.items()}
        return _TokenizerOutput({k: v[0] for k, v in values.items()} if isinstance(text, str) else values, output[0].word_ids)


class _TokenizerOutput(dict[str, Any]):
    """What a tokenizer returns of a text."""

    def __init__(self, values: Mapping[str, Any], words: Sequence[int | None]) -> None:
        super().__init__(values)
        self._words = words

    def word_ids(self) -> list[int | None]:
        return list(self._words)
