"""Where an item comes from: free columns that every format with free columns keeps."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gardenpath import study

from ..items import Item, Materials

if TYPE_CHECKING:
    import pandas as pd

ORIGIN = "origin"  # one of ORIGINS
MODEL = "model"  # name@revision of the model that drafted it
SAMPLING = "sampling"  # how it was sampled
PROMPT_HASH = "prompt_hash"  # the first 16 hexadecimal digits of the SHA-256 of what it was asked
DRAFT_FINDINGS = "draft_findings"  # what was found odd in a draft, before anybody looked at it
REVIEWERS = "reviewers"  # who decided about it, in order
ORIGINAL_TEXTS = "before"  # the members as they were before a correction
PROVENANCE_COLUMNS = (ORIGIN, MODEL, SAMPLING, PROMPT_HASH, DRAFT_FINDINGS, REVIEWERS, ORIGINAL_TEXTS)
ORIGINS = ("hand", "draft", "grammar", "treebank", "corpus")


def get_origin(item: Item) -> str:
    """Return where an item comes from; what says nothing of it was made by hand.

    >>> from gardenpath.stimuli import Sentence
    >>> get_origin(Item("i1", "number", {"grammatical": Sentence("A dog barks.")}))
    'hand'
    """
    return item.extra.get(ORIGIN) or "hand"


def build_item_origins_table(materials: Materials) -> "pd.DataFrame":
    """Return the table `item_origins` of materials.

    >>> from gardenpath import stimuli
    >>> dog = Item("i1", "n", {"grammatical": stimuli.Sentence("A dog barks.")}, extra={"origin": "draft", "model": "gpt-4o"})
    >>> materials = stimuli.Materials((stimuli.Paradigm("n", "agreement"),), (dog,))
    >>> build_item_origins_table(materials)[["item", "origin", "model"]].values.tolist()
    [['i1', 'draft', 'gpt-4o']]
    """
    import pandas as pd

    rows = [
        (one.id, one.paradigm, get_origin(one), one.extra.get(MODEL), one.extra.get(REVIEWERS), bool(one.extra.get(ORIGINAL_TEXTS)))
        for one in materials.items
    ]
    return study.check(pd.DataFrame(rows, columns=study.TABLES["item_origins"].column_names), "item_origins")


def set_provenance(item: Item, **columns: str) -> Item:
    """Return the item with these columns of COLUMNS set; an empty one is removed.

    >>> from gardenpath.stimuli import Sentence
    >>> dog = Item("i1", "number", {"grammatical": Sentence("A dog barks.")}, extra={"cloze": ".4"})
    >>> dict(set_provenance(dog, origin="draft", reviewers="").extra)
    {'cloze': '.4', 'origin': 'draft'}
    """
    unknown = [name for name in columns if name not in PROVENANCE_COLUMNS]
    if unknown:
        raise ValueError(f"column {unknown[0]!r} says nothing of an item's origin; expected one of {', '.join(PROVENANCE_COLUMNS)}")
    if columns.get(ORIGIN, "hand") not in ORIGINS:
        raise ValueError(f"origin is {columns[ORIGIN]!r}; expected one of {', '.join(ORIGINS)}")
    extra = {**item.extra, **columns}
    return replace(item, extra={name: value for name, value in extra.items() if value or name not in columns})


def get_model_family(model: str) -> str:
    """Return the family of a model by its name: its letters before the first digit, whoever publishes it.

    >>> get_model_family("meta-llama/Llama-3.1-8B-Instruct@abc123"), get_model_family("gpt-4o"), get_model_family("gpt2")
    ('llama', 'gpt', 'gpt')
    """
    name = re.sub(r" \(.*\)$", "", model).split("@")[0].rstrip("/").rpartition("/")[2].lower()
    match = re.match(r"[^\W\d_]+", name.removeprefix("meta-"))
    return match[0] if match else name


def count_drafts_by_family(items: Iterable[Item], models: Iterable[str]) -> Mapping[str, dict[str, int]]:
    """Return, for each of these models, how many items a model of its family drafted, by the drafter's name.

    >>> from gardenpath.stimuli import Sentence
    >>> dog = Item("i1", "n", {"grammatical": Sentence("A dog barks.")}, extra={"origin": "draft", "model": "gpt-4o"})
    >>> count_drafts_by_family([dog], ["gpt2", "pythia-70m"])
    {'gpt2': {'gpt-4o': 1}}
    """
    drafters: dict[str, int] = {}
    for item in items:
        if get_origin(item) == "draft" and (name := item.extra.get(MODEL)):
            drafters[name] = drafters.get(name, 0) + 1
    drafts_by_model = {
        model: {name: n for name, n in drafters.items() if get_model_family(name) == get_model_family(model)} for model in models
    }
    return {model: found for model, found in drafts_by_model.items() if found}
