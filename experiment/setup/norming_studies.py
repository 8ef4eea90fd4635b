"""A norming study in a folder of its own: items.jsonl, study.toml, and norm.toml with the rules stated before any data."""

import dataclasses
import re
import tempfile
from pathlib import Path

from gardenpath import study
from gardenpath.stimuli import Materials, write
from gardenpath.stimuli.norming import NormingSettings, choose_list_size, count_participants_needed

from ..texts.standard_texts import START_SECTION, Texts, format_texts_to_translate, list_languages
from .new_studies import (
    FALLBACK_LANGUAGE,
    SCHEMA_FILENAME,
    TEXTS_FILENAME,
    create_template_environment,
    format_toml_value,
    get_base_tag,
    read_start_file,
    read_study_schema,
    select_practice_sentences,
)

RATING_TEXT_KEYS = {"plausibility": ("plausibility", "unlikely", "likely"), "acceptability": ("prompt", "low", "high")}


def create_norming_study(
    folder: str | Path, materials: Materials, settings: NormingSettings, *, seed: int = 1, per_list: int | None = None
) -> list[Path]:
    """Write the study that norms these items (`stimuli.norming.select_items_to_norm`) to a new or empty folder, and return its
    files.

    It can be dealt, looked at, served and simulated at once. A folder that holds something is a `FileExistsError`.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli
    >>> from gardenpath.stimuli import norming
    >>> items, stated = norming.select_items_to_norm(
    ...     stimuli.read(files("gardenpath.examples") / "minimal-pairs" / "items.csv"), norming.NormingSettings("plausibility")
    ... )
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in create_norming_study(f"{place}/norming", items, stated)]
    ['items.jsonl', 'norm.toml', 'study.schema.json', 'study.toml']
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: holds something already; expected a new folder, or an empty one")
    language = materials.items[0].language
    has_texts = get_base_tag(language) in list_languages()
    texts = Texts(language if has_texts else FALLBACK_LANGUAGE)[START_SECTION]
    items, participants_needed = len(materials.items), count_participants_needed(materials, settings)
    size = per_list or choose_list_size(items, participants_needed)
    if not 0 < size <= items:
        raise ValueError(f"{size} items a list of {items}; expected 1 to {items}")
    practice, english = select_practice_sentences(language)
    prompt, low, high = (texts[name] for name in RATING_TEXT_KEYS.get(settings.task, ("prompt", "low", "high")))
    page = create_template_environment().from_string(read_start_file("norming.toml.jinja")).render(
        about=f"{settings.task} of {items} items",
        name=folder.resolve().name,
        title=texts["completing" if settings.task == "cloze" else "judging"],
        language=language,
        seed=seed,
        items=items,
        per_item=settings.responses_per_sentence,
        size=size,
        readers=participants_needed,
        shorter=items * participants_needed % size > 0,
        practice=[_mark_last_word(text, settings.fragment_end) for text in practice] if settings.task == "cloze" else practice,
        english_practice=english,
        to_translate=None if has_texts else TEXTS_FILENAME,
        task=settings.task,
        until=settings.fragment_end,
        prompt=prompt,
        low=low,
        high=high,
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        staged = Path(temporary)
        write(materials, staged / "items.jsonl")
        study.files.write_text(staged / "study.toml", page)
        study.files.write_text(staged / "norm.toml", _format_norm_toml(settings))
        study.files.write_text(staged / SCHEMA_FILENAME, read_study_schema())
        if not has_texts:
            study.files.write_text(staged / TEXTS_FILENAME, format_texts_to_translate(language))
        study.load(staged)  # what is written is never broken
        paths = sorted(staged.iterdir())
        for path in paths:
            path.rename(folder / path.name)
    return [folder / path.name for path in paths]


def _mark_last_word(sentence: str, region: str) -> str:
    """Return a sentence of practice with its last word as the region at which it is cut.

    >>> _mark_last_word("The cat slept.", "critical")
    'The cat [critical|slept].'
    """
    return re.sub(r"(\S+?)([.!?。]*)$", rf"[{region}|\1]\2", sentence)


def _format_norm_toml(settings: NormingSettings) -> str:
    """Return norm.toml."""
    lines = [
        "# What was stated before the first answer. Its hash stands in each item, and so in the list that each session ran:",
        "# after a change, norm this again before anybody takes part, or results say that the rule was not stated before them.",
        *(
            f"{name} = {format_toml_value(list(value) if isinstance(value, tuple) else value)}"
            for name, value in dataclasses.asdict(settings).items()
            if value is not None
        ),
    ]
    return "\n".join(lines) + "\n"
