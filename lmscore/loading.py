"""A name becomes a model ready to score, or one line that says why it cannot be one."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gardenpath import study

from . import identity, networks
from .models import huggingface
from .models.causal import CausalModel
from .models.encoder_decoder import EncoderDecoderModel
from .models.endpoint import load_endpoint
from .models.fast_paths import enable_fast_paths
from .models.interface import Model, Progress
from .models.masked import MaskedModel, enable_output_layer
from .models.ngram import SCHEME, load_ngram
from .tokens.encoding import Encoder, build_vocabulary
from .tokens.tokenizers import find_prefix_id, read_tokenizer
from .toy import pocket

# Kinds of models whose name begins so, each with the function that loads one; what has another name is a network of transformers.
SCHEMES: dict[str, Callable[[str], Model]] = {SCHEME: load_ngram}
MIN_TOKENIZER_SHARE = 0.9  # of a model's ids that its tokenizer knows at least; Phi-2 and DeepSeek leave 2 % unused


def load(
    name: str | Path,
    *,
    device: str = "auto",
    dtype: str = "float32",
    quantization: str | None = None,
    revision: str | None = None,
    adapter: str | Path | None = None,
    device_map: str | Mapping[str, Any] | None = None,
    endpoint: str | None = None,
    tokenizer: str | Path | None = None,
    trust_remote_code: bool = False,
    prefix: str | None = None,
    progress: Progress | None = None,
    probe_folder: Path | None = None,
) -> Model:
    """Return the model of that Hugging Face id or folder (causal, masked or encoder-decoder), or the pocket model for `pocket`.

    `ngram:FILE` is an n-gram model (see `load_ngram`), to which the other arguments mean nothing.
    `device` is auto (a GPU when there is one), cpu, cuda, cuda:1 ...; `device_map` spreads a network over several: auto, another
    of accelerate's, or a device for each module (0, "cpu", "disk"). `quantization` is 8bit or 4bit (the extra `quantized`),
    `adapter` a folder or id of PEFT (the extra `adapters`), `revision` a branch, tag or commit of the hub. With `endpoint`,
    the address of an OpenAI-compatible server, `name` is what the server calls the model, and `tokenizer` where its tokenizer
    is, by default that name; see `load_endpoint`. `prefix` names the token fed before every text: by default the tokenizer's
    BOS, else the config's, else the end-of-text token (a masked model gets what its tokenizer puts around a text). Code that
    comes with a model is run only with `trust_remote_code`. `progress` is called while the pocket model is trained. In the
    folder `probe_folder` is kept what probing tells of such a model; `load_cached` does so, and loads no weights that are not
    needed. Raises `ValueError` in one line for what cannot be scored, and `study.MissingExtra` where a package is not installed (an
    n-gram model needs none).

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath import lmscore
    >>> with TemporaryDirectory() as folder:
    ...     corpus = Path(folder, "corpus.txt")
    ...     _ = corpus.write_text("A dog barks.\\nThe dogs bark.\\nA cat sleeps.\\nThe cats sleep.\\n")
    ...     model = lmscore.load(f"ngram:{corpus}:2")
    >>> model.masked, model.describe()["architecture"]
    (False, '2-gram')
    """
    if endpoint:
        _refuse_local(device=device != "auto", dtype=dtype != identity.DEFAULT_DTYPE, quantization=quantization, adapter=adapter)
        return load_endpoint(str(name), endpoint, tokenizer=tokenizer, revision=revision, prefix=prefix)
    if tokenizer is not None:
        raise ValueError(f"tokenizer {str(tokenizer)!r}: a model has its own; expected one with an endpoint alone")
    _check_revision(str(name), revision)
    if (scheme := find_scheme(name)) is not None:
        return SCHEMES[scheme](str(name))
    torch = study.errors.require("torch", "lm")
    study.errors.require("transformers", "lm")
    if device_map is not None and device != "auto":
        raise ValueError(f"device {device!r} beside a device_map, which says where weights are; expected one of the two")
    target_device = networks.resolve_device(device)
    if not isinstance(getattr(torch, dtype, None), torch.dtype) or not getattr(torch, dtype).is_floating_point:
        raise ValueError(f"dtype {dtype!r} is not known; expected float32, bfloat16, float16 or float64")
    is_pocket = str(name) == pocket.MODEL_NAME
    source = str(pocket.ensure_pocket_folder(progress)) if is_pocket else str(name)
    hub = {"revision": revision, "trust_remote_code": trust_remote_code}
    known: dict[str, object] | None = None
    with huggingface.silence_libraries():
        config = _read_config(source, hub)
        commit = _find_commit(source, revision)
        hub["revision"] = commit or revision  # whatever a branch becomes meanwhile
        kind = networks.find_model_kind(config)
        if quantization and kind == networks.MASKED_KIND:
            raise ValueError(f"model {source!r}: quantization is for causal models; load a masked model without it")
        chosen = networks.build_load_options(config, target_device, dtype, quantization, device_map)
        network = networks.load_network(source, hub, chosen, kind)
        if "device_map" not in chosen:
            network = network.to(target_device)
        if adapter is not None:
            network, known = networks.add_adapter(network, adapter)
        own = read_tokenizer(source, **hub)
    facts = {
        "network": network,
        "device": networks.find_input_device(network, target_device),
        "dtype": identity.get_weight_dtype(network),
        "revision": revision,
        "commit": commit,
        "quantization": identity.get_quantization_kind(network.config),
        "adapter": known,
    }
    facts["name"] = identity.format_model_label(
        "pocket" if is_pocket else str(name),
        revision=revision,
        adapter=None if adapter is None else str(adapter),
        quantization=facts["quantization"],
        dtype=facts["dtype"],
        kind="toy" if is_pocket else "",
    )
    size = networks.count_outputs(network)
    _check_fit(str(name), own, network, size)
    if kind == networks.MASKED_KIND:
        return _build_masked_model(own, size, facts, probe_folder)
    encoder = Encoder(
        tokenizer=own,
        vocabulary=build_vocabulary(own, size),
        prefix=_find_decoder_start(source, config, prefix)
        if kind == networks.ENCODER_DECODER_KIND
        else find_prefix_id(source, own, config, prefix, size),
        end_ids=_find_end_ids(own, network, size),
        window=max(0, getattr(config, "max_position_embeddings", None) or 0) or None,  # XLNet says -1 for any number
    )
    if kind == networks.ENCODER_DECODER_KIND:
        return EncoderDecoderModel(encoder=encoder, **facts)
    model = CausalModel(
        toy=pocket.TOY_WARNING if is_pocket else "",
        encoder=encoder,
        repeats_prefix=own("a")["input_ids"][:1] == [encoder.prefix],
        **facts,
    )
    return enable_fast_paths(model, probe_folder)


def find_scheme(name: str | Path) -> str | None:
    """Return how the name of a model begins that is no network of transformers; None for one that is."""
    return next((scheme for scheme in SCHEMES if str(name).startswith(scheme)), None)


def _refuse_local(**given: object) -> None:
    """Raise `ValueError` for what is said of a model that another computer has loaded."""
    if stray := [name for name, value in given.items() if value]:
        raise ValueError(f"{stray[0]} beside an endpoint: its server has loaded the model; say it there")


def _check_revision(name: str, revision: str | None) -> None:
    """Raise `ValueError` where a revision is asked of what has none."""
    if revision is None:
        return
    scheme = find_scheme(name)
    what = f"a model of the kind {scheme.rstrip(':')}" if scheme else "the pocket model" if name == pocket.MODEL_NAME else ""
    if what or Path(name).exists():
        raise ValueError(
            f"model {name}: is {what or 'a folder here'}, which has no revision {revision!r}; expected --revision with a model "
            "of the hub alone"
        )


def _check_fit(name: str, tokenizer: Any, network: Any, size: int) -> None:
    """Raise `ValueError` where a tokenizer is another model's: it has ids that the model lacks, or far too few."""
    known = max(tokenizer.get_vocab().values()) + 1
    embedded = getattr(network.get_input_embeddings(), "num_embeddings", size)
    if known > min(size, embedded):
        raise ValueError(
            f"model {name!r}: its tokenizer has ids up to {known - 1}, and its embedding {min(size, embedded)} rows; expected the "
            "tokenizer that it was trained with"
        )
    padded = size % 64 == 0 and size - known < 128
    if known < MIN_TOKENIZER_SHARE * size and not padded:
        raise ValueError(
            f"model {name!r}: its tokenizer has {known} ids of the {size} that it predicts; expected the tokenizer that it was "
            "trained with, not that of another model"
        )


def _read_config(source: str, hub: dict[str, Any]) -> Any:
    """Return the model's configuration, of its text part where there are several."""
    from transformers import AutoConfig

    folder = Path(source)
    if folder.is_dir():
        _refuse_adapter(source, hub)
    if folder.is_dir() and not (folder / "config.json").exists():
        raise ValueError(f"model {source}: the folder has no config.json; expected {networks.EXPECTED_MODEL_TEXT}")
    if folder.is_file():
        raise ValueError(f"model {source}: a file, not a model; expected {networks.EXPECTED_MODEL_TEXT}")
    if not folder.is_dir() and (source.startswith((".", "~")) or folder.is_absolute() or source.count("/") > 1):
        raise ValueError(f"model {source}: there is no such folder; expected {networks.EXPECTED_MODEL_TEXT}")
    try:
        config = AutoConfig.from_pretrained(source, **hub)
    except Exception as error:
        if not hub["trust_remote_code"] and "trust_remote_code" in str(error):
            raise ValueError(
                f"model {source!r} brings code of its own, which is not run; expected trust_remote_code=True where it is trusted"
            ) from error
        where = "cannot be read" if folder.is_dir() else "is neither a folder here nor a model on the hub"
        raise ValueError(
            f"model {source!r} {where} ({networks.shorten_message(error)}); expected {networks.EXPECTED_MODEL_TEXT}: check "
            "the spelling, and for the hub the network and the permission to read it"
        ) from error
    _refuse_adapter(source, hub)
    brought = getattr(config, "auto_map", None) or {}  # what code that comes with a model defines
    known = set().union(
        *map(networks.list_architectures, (networks.CAUSAL_KIND, networks.MASKED_KIND, networks.ENCODER_DECODER_KIND))
    )
    if config.architectures and not known & set(config.architectures) and "AutoModelForCausalLM" not in brought:
        raise ValueError(
            f"model {source!r}: {', '.join(config.architectures)}, no head that predicts tokens; expected a "
            "language model, whose config names an architecture such as GPT2LMHeadModel or BertForMaskedLM"
        )
    return config.get_text_config()


def _find_commit(source: str, revision: str | None) -> str | None:
    """Return the commit of a model of the hub whose configuration was just read; None for a folder."""
    from huggingface_hub import try_to_load_from_cache

    if Path(source).is_dir():
        return None
    config = try_to_load_from_cache(source, "config.json", revision=revision)
    return Path(config).parent.name if isinstance(config, str) else None


def _refuse_adapter(source: str, hub: dict[str, Any]) -> None:
    """Refuse what holds an adapter that was not asked for: without PEFT, transformers leaves it out without a word."""
    from transformers.utils.peft_utils import find_adapter_config_file

    if found := find_adapter_config_file(source, revision=hub["revision"]):
        stated = json.loads(Path(found).read_text("utf-8"))
        base = stated.get("base_model_name_or_path") or "the model that it was trained on"
        raise ValueError(f"model {source!r}: holds an adapter (adapter_config.json); expected --model {base} --adapter {source}")


def _build_masked_model(tokenizer: Any, size: int, facts: dict[str, Any], probe_folder: Path | None) -> MaskedModel:
    name = facts["name"]
    if not tokenizer.is_fast:
        raise ValueError(
            f"model {name!r}: its tokenizer ({tokenizer.kind}) does not say what is a word; expected a fast tokenizer "
            "(tokenizer.json) with a masked model"
        )
    output = tokenizer("a", return_special_tokens_mask=True)
    ids, special = output["input_ids"], output["special_tokens_mask"]
    inside = [index for index, is_special in enumerate(special) if not is_special]
    if tokenizer.mask_token_id is None or inside[:1] != [1]:
        raise ValueError(
            f"model {name!r}: its tokenizer has the mask token {tokenizer.mask_token!r} and puts {inside[:1]} tokens before a "
            "text; expected a mask token, and one token such as [CLS] or <s> before every text"
        )
    encoder = Encoder(
        tokenizer=tokenizer,
        vocabulary=build_vocabulary(tokenizer, size),
        prefix=ids[0],
        end_ids=frozenset(ids[inside[-1] + 1 :]),
        window=_count_positions(facts["network"]),
    )
    tail = tuple(ids[inside[-1] + 1 :])
    model = MaskedModel(encoder=encoder, mask=tokenizer.mask_token_id, tail=tail, **facts)
    return enable_output_layer(model, probe_folder)


def _count_positions(network: Any) -> int | None:
    """Return how many positions a model has; RoBERTa and its kin number them from after the padding id."""
    positions = getattr(network.config, "max_position_embeddings", None)
    table = getattr(getattr(network.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions - padding - 1 if positions and padding is not None else positions


def _find_decoder_start(source: str, config: Any, prefix: str | None) -> int:
    """Return the id that a decoder begins with."""
    if prefix is not None:
        raise ValueError(f"prefix token {prefix!r}: the decoder of {source!r} begins with its own; leave it out")
    start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        raise ValueError(f"model {source!r}: its config has no decoder_start_token_id; expected one")
    return int(start)


def _find_end_ids(tokenizer: Any, network: Any, size: int) -> frozenset[int]:
    """Return every id that ends a text, by the tokenizer, the config or the generation settings."""
    named = [tokenizer.eos_token_id, network.config.get_text_config().eos_token_id]
    named.append(getattr(getattr(network, "generation_config", None), "eos_token_id", None))
    ids = {i for entry in named for i in (entry if isinstance(entry, (list, tuple)) else [entry])}
    return frozenset(int(i) for i in ids if i is not None and i < size)
