"""A sweep is cut into units, which follow from sweep.toml and the materials alone; the manifest is stored, and computes nothing."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gardenpath import stimuli, study
from gardenpath.stimuli import Item, Materials
from gardenpath.stimuli.formats import items_jsonl
from gardenpath.stimuli.formats.sentence_rows import assemble_materials

from .. import identity
from ..judging.templates import Template, read_templates, select_language
from ..models.ngram import SCHEME
from ..scoring import select_minimal_pairs
from .settings import Sweep
from .stores import Store

SCHEMA = 2
MANIFEST_FILE = "manifest.json"
PAIRS, JUDGMENTS = "pairs", "judgments"
SPECIAL_TOKENS = 2  # tokens that a tokenizer puts around a text


@dataclass(frozen=True)
class ModelVariant:
    """A model of the sweep at one revision, with all that decides which numbers it gives; `label` is what tables call it."""

    label: str
    name: str
    source: str
    revision: str | None
    dtype: str
    quantization: str | None
    adapter: str | None
    prefix_token: str | None
    trust_remote_code: bool
    gpus: float
    parameters: float | None

    def collect_identity(self) -> dict[str, Any]:
        """Return what of the model its numbers depend on, wherever it lies."""
        known = dataclasses.asdict(self)
        return {name: known[name] for name in known if name not in ("source", "gpus", "parameters")}

    def build_load_arguments(self, cards: float) -> dict[str, Any]:
        """Return the arguments of `load` for a worker with so many cards."""
        return {
            "name": self.source,
            "revision": self.revision,
            "dtype": self.dtype,
            "quantization": self.quantization,
            "adapter": self.adapter,
            "prefix": self.prefix_token,
            "trust_remote_code": self.trust_remote_code,
            **({"device_map": "auto"} if cards > 1 else {"device": "cuda" if cards else "cpu"}),
        }


@dataclass(frozen=True)
class MaterialsPart:
    """Some items of a language, in a file of the store: `count_positions` of its texts at most, `kind` is the table they are
    for."""

    kind: str
    language: str
    items: int
    positions: int
    file: str


@dataclass(frozen=True)
class Unit:
    """What is computed at once: a part by a model. Its id follows from all that its numbers depend on."""

    id: str
    model: ModelVariant
    part: MaterialsPart


@dataclass(frozen=True)
class SweepManifest:
    """The models and parts of a sweep, and how scores are computed; `settings_hash` is a hash of sweep.toml's meaning."""

    models: tuple[ModelVariant, ...]
    parts: tuple[MaterialsPart, ...]
    scoring_settings: Mapping[str, Any]
    settings_hash: str
    threads: int
    skip_bad: bool
    schema: int = SCHEMA

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units, model by model and language by language, in the order of sweep.toml."""
        of_parts = [
            hashlib.sha256(json.dumps([part.file, part.kind, self.scoring_settings], sort_keys=True).encode())
            for part in self.parts
        ]
        units = []
        for model in self.models:
            text = json.dumps(model.collect_identity(), sort_keys=True).encode()
            for part, digest in zip(self.parts, of_parts, strict=True):
                whole = digest.copy()
                whole.update(text)
                units.append(Unit(whole.hexdigest()[:24], model, part))
        return tuple(units)

    def iterate_models(self) -> Iterator[tuple[ModelVariant, Sequence[Unit]]]:
        """Yield each model with its units."""
        for number, model in enumerate(self.models):
            yield model, self.units[number * len(self.parts) : (number + 1) * len(self.parts)]

    def to_json(self) -> str:
        """Return the manifest as it is stored."""
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False) + "\n"


def make_manifest(sweep: Sweep) -> tuple[SweepManifest, dict[str, str]]:
    """Return the manifest of a sweep, and the items of its parts as files of the store, by name.

    Nothing but sweep.toml and the materials decides it: no model is looked at. Raises `study.DataError` for materials that cannot
    be read, `ValueError` for those without a minimal pair.
    """
    models = tuple(_list_variants(sweep))
    labels = [model.label for model in models]
    if double := next((label for label in labels if labels.count(label) > 1), None):
        raise study.DataError(f"{sweep.path}: model {double} is there twice; expected each once")
    by_language = _read_pairs_by_language(sweep)
    judging = sweep.judging
    kinds = [PAIRS] * bool(sweep.measures) + [JUDGMENTS] * (judging is not None)
    templates = read_templates(*map(sweep.resolve_path, judging.templates)) if judging else ()
    parts: list[MaterialsPart] = []
    files: dict[str, str] = {}
    for kind in kinds:
        for language, materials in by_language.items():
            asked = _select_templates(templates, sweep, language) if kind == JUDGMENTS else ()
            for some, positions in _split_materials(materials, sweep.unit_size, asked):
                text = items_jsonl.write(some)
                file = f"parts/{hashlib.sha256(text.encode()).hexdigest()[:24]}.jsonl"
                files[file] = text
                parts.append(MaterialsPart(kind, language, len(some.items), positions, file))
    scoring_settings: dict[str, Any] = {
        "measures": list(sweep.measures),
        "protocols": list(sweep.protocols),
        "unigrams": _hash_unigrams(sweep),
        "batch_tokens": sweep.batch_tokens,
        "seed": sweep.seed,
        "judging": dataclasses.asdict(judging) | {"templates": [*map(sweep.resolve_path, judging.templates)]} if judging else None,
        "asked": hashlib.sha256(repr(templates).encode()).hexdigest()[:24] if judging else None,
    }
    scoring_settings = json.loads(json.dumps(scoring_settings))
    facts = [
        [(model.collect_identity(), model.gpus) for model in models],
        [part.file for part in parts],
        scoring_settings,
        sweep.threads,
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return SweepManifest(models, tuple(parts), scoring_settings, digest, sweep.threads, sweep.skip_bad), files


def write_manifest(manifest: SweepManifest, files: Mapping[str, str], store: Store) -> None:
    """Write a manifest and its items to the store."""
    for name, text in files.items():
        store.write(name, text.encode())
    store.write(MANIFEST_FILE, manifest.to_json().encode())


def read_manifest(store: Store) -> SweepManifest:
    """Return the manifest of a store; raises `FileNotFoundError` where there is none."""
    try:
        found = json.loads(store.read(MANIFEST_FILE))
    except FileNotFoundError:
        raise FileNotFoundError(f"{store.address}: there is no manifest; make one with gardenpath sweep prepare") from None
    if found.get("schema") != SCHEMA:
        raise study.DataError(
            f"{store.address}: the manifest is of another schema ({found.get('schema')}); make it again with "
            "gardenpath sweep prepare"
        )
    models = tuple(ModelVariant(**model) for model in found.pop("models"))
    parts = tuple(MaterialsPart(**part) for part in found.pop("parts"))
    return SweepManifest(models=models, parts=parts, **found)


def read_part(store: Store, part: MaterialsPart) -> Materials:
    """Return the items of a part."""
    return assemble_materials(items_jsonl.read(store.read(part.file).decode(), part.file))


def _list_variants(sweep: Sweep) -> Iterator[ModelVariant]:
    for section in sweep.models:
        name = section.name
        if name.startswith(SCHEME):
            source = SCHEME + sweep.resolve_path(name.removeprefix(SCHEME))
        else:
            source = sweep.resolve_path(name) if (sweep.folder / name).is_dir() else name
        for revision in section.revisions or (None,):
            label = identity.format_model_label(
                name,
                revision=revision,
                adapter=section.adapter,
                quantization=section.quantization,
                dtype=section.dtype,
                kind="toy" if name == "pocket" else "",
            )
            cards = sweep.gpus if section.gpus is None else section.gpus
            yield ModelVariant(
                label,
                name,
                source,
                revision,
                section.dtype,
                section.quantization,
                section.adapter,
                section.prefix_token,
                section.trust_remote_code,
                cards,
                section.parameters,
            )


def _read_pairs_by_language(sweep: Sweep) -> dict[str, Materials]:
    """Return the minimal pairs of each language, in the order of sweep.toml."""
    found: dict[str, list[Materials]] = {}
    sources: list[tuple[str | None, tuple[str, ...]]] = [*sweep.materials.items()]
    sources += [(None, sweep.files)] if sweep.files else []
    seen: dict[str, str] = {}
    for stated, files in sources:
        read = stimuli.read(*map(sweep.resolve_path, files), language=stated, skip_bad=sweep.skip_bad)
        pairs = select_minimal_pairs(read)
        for item in pairs.items:
            if stated is not None and item.language != stated:
                raise study.DataError(
                    f"{sweep.path}: item {item.id!r} of materials.{stated} says that its language is {item.language!r}; expected "
                    f"{stated!r}, or the file among files = [...], whose items state theirs"
                )
            if item.id in seen:
                raise study.DataError(
                    f"{sweep.path}: item {item.id!r} is there in {seen[item.id]!r} and in {item.language!r}; expected an id of its "
                    f"own, such as {item.language}-{item.id}"
                )
            seen[item.id] = item.language
        for language in dict.fromkeys(item.language for item in pairs.items):
            some = tuple(item for item in pairs.items if item.language == language)
            found.setdefault(language, []).append(Materials(pairs.paradigms, some))
    return {language: join_materials(parts) for language, parts in found.items()}


def join_materials(parts: Sequence[Materials]) -> Materials:
    """Return the items of several materials, with the paradigms that they need."""
    items = tuple(item for part in parts for item in part.items)
    used = {item.paradigm for item in items}
    paradigms = {p.id: p for part in parts for p in part.paradigms if p.id in used}
    return Materials(tuple(paradigms.values()), items)


def _select_templates(templates: Sequence[Template], sweep: Sweep, language: str) -> list[Template]:
    return select_language(templates, (sweep.judging and sweep.judging.language) or language)


def _split_materials(materials: Materials, limit: int, templates: Sequence[Template]) -> Iterator[tuple[Materials, int]]:
    """Yield consecutive items of at most so many positions, one item at least, with their positions."""
    some: list[Item] = []
    total = 0
    for item in materials.items:
        size = count_positions(item, templates)
        if some and total + size > limit:
            yield _select_items(materials, some), total
            some, total = [], 0
        some.append(item)
        total += size
    yield _select_items(materials, some), total


def _select_items(materials: Materials, items: Sequence[Item]) -> Materials:
    used = {item.paradigm for item in items}
    return Materials(tuple(p for p in materials.paradigms if p.id in used), tuple(items))


def count_positions(item: Item, templates: Sequence[Template] = ()) -> int:
    """Return the positions that an item's texts fill at most, padded to the longest: no tokenizer makes more tokens than bytes.

    >>> from gardenpath.stimuli import Sentence
    >>> count_positions(Item("i1", "p", {"grammatical": Sentence("It is."), "ungrammatical": Sentence("It are.")}))
    18
    """
    longest = max(len(sentence.text.encode()) for sentence in item.sentences.values())
    longest += len((item.context or "").encode()) + SPECIAL_TOKENS
    # A template may hold both sentences, and each is asked of.
    prompts = sum(len((one.system + one.user).encode()) + 2 * longest for one in templates)
    return len(item.sentences) * (longest + prompts)


def _hash_unigrams(sweep: Sweep) -> list[str] | None:
    if sweep.unigrams is None:
        return None
    path = sweep.resolve_path(sweep.unigrams)
    return [path, study.files.hash_file(path)]
