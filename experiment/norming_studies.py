"""A norming study in a folder of its own: items.jsonl, study.toml, and norm.toml with the rules stated before any data."""

import dataclasses
import re
import tempfile
from pathlib import Path

from gardenpath import study
from gardenpath.stimuli import Materials, write
from gardenpath.stimuli.norming import Norming, list_size, readers_of

from .new_studies import (
    EXAMPLES,
    SCHEMA,
    TEXTS,
    as_toml,
    base_tag,
    editors_schema,
    environment,
    read_start,
    sentences_for_practice,
)
from .standard_texts import START, Texts, languages, to_translate

RATED = {"plausibility": ("plausibility", "unlikely", "likely"), "acceptability": ("prompt", "low", "high")}


def norming_study(
    folder: str | Path, materials: Materials, stated: Norming, *, seed: int = 1, per_list: int | None = None
) -> list[Path]:
    """Write the study that norms these items (`stimuli.norming.to_norm`) to a new or empty folder, and return its files.

    It can be dealt, looked at, served and simulated at once. A folder that holds something is a `FileExistsError`.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli
    >>> from gardenpath.stimuli import norming
    >>> items, stated = norming.to_norm(
    ...     stimuli.read(files("gardenpath.examples") / "minimal-pairs" / "items.csv"), norming.Norming("plausibility")
    ... )
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in norming_study(f"{place}/norming", items, stated)]
    ['items.jsonl', 'norm.toml', 'study.schema.json', 'study.toml']
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: holds something already; expected a new folder, or an empty one")
    language = materials.items[0].language
    known = base_tag(language) in languages()
    texts = Texts(language if known else EXAMPLES)[START]
    items, readers = len(materials.items), readers_of(materials, stated)
    size = per_list or list_size(items, readers)
    if not 0 < size <= items:
        raise ValueError(f"{size} items a list of {items}; expected 1 to {items}")
    practice, english = sentences_for_practice(language)
    prompt, low, high = (texts[name] for name in RATED.get(stated.task, ("prompt", "low", "high")))
    page = environment().from_string(read_start("norming.toml.jinja")).render(
        about=f"{stated.task} of {items} items",
        name=folder.resolve().name,
        title=texts["completing" if stated.task == "cloze" else "judging"],
        language=language,
        seed=seed,
        items=items,
        per_item=stated.per_item,
        size=size,
        readers=readers,
        shorter=items * readers % size > 0,
        practice=[_marked(text, stated.until) for text in practice] if stated.task == "cloze" else practice,
        english_practice=english,
        to_translate=None if known else TEXTS,
        task=stated.task,
        until=stated.until,
        prompt=prompt,
        low=low,
        high=high,
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        whole = Path(place)
        write(materials, whole / "items.jsonl")
        study.files.write_text(whole / "study.toml", page)
        study.files.write_text(whole / "norm.toml", _norm_toml(stated))
        study.files.write_text(whole / SCHEMA, editors_schema())
        if not known:
            study.files.write_text(whole / TEXTS, to_translate(language))
        study.load(whole)  # what is written is never broken
        paths = sorted(whole.iterdir())
        for path in paths:
            path.rename(folder / path.name)
    return [folder / path.name for path in paths]


def _marked(sentence: str, region: str) -> str:
    """Return a sentence of practice with its last word as the region at which it is cut.

    >>> _marked("The cat slept.", "critical")
    'The cat [critical|slept].'
    """
    return re.sub(r"(\S+?)([.!?。]*)$", rf"[{region}|\1]\2", sentence)


def _norm_toml(stated: Norming) -> str:
    """Return norm.toml."""
    said = [
        "# What was stated before the first answer. Its hash stands in each item, and so in the version that each session ran:",
        "# after a change, norm this again before anybody takes part, or results say that the rule was not stated before them.",
        *(
            f"{name} = {as_toml(list(value) if isinstance(value, tuple) else value)}"
            for name, value in dataclasses.asdict(stated).items()
            if value is not None
        ),
    ]
    return "\n".join(said) + "\n"
