"""How things are called: prompts, language models, measures of sentences, and lists of them."""

from collections.abc import Iterable

import pandas as pd

from gardenpath.study.measures import MEASURES, Measure
from gardenpath.study.responses import RESPONSES

from ...prompts import format_prompt_suffix
from .numbers import Row


def label(name: object) -> str:
    """Return a name as people write it.

    >>> label("anaphor_agreement")
    'anaphor agreement'
    """
    return str(name).replace("_", " ")


def coefficient(term: str) -> str:
    """Return a coefficient of the table power as people write it.

    >>> coefficient("number:head_noun"), coefficient("number@plural")
    ('number × head noun', 'number at plural')
    """
    return label(term).replace(":", " × ").replace("@", " at ")


def response(measure: str) -> str:
    """Return a response of models as people write it.

    >>> response("log_rt"), response("z")
    ('log reading time', 'rating (z)')
    """
    return RESPONSES[measure].label


def region_name(region: str) -> str:
    """Return how a region is called beside a result.

    >>> region_name("critical"), region_name("critical+1"), region_name("embedded_verb")
    ('critical region', 'critical + 1', 'embedded verb')
    >>> region_name("critical..+1")
    'critical to + 1'
    """
    return "critical region" if region == "critical" else label(region).replace("..+", " to+").replace("+", " + ")


def listed(names: Iterable[str]) -> str:
    """Return names as a sentence lists them.

    >>> listed(["sense", "form", "taste"]), listed(["sense"])
    ('sense, form and taste', 'sense')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def asked(prompt: str | None) -> str:
    """Return a prompt in brackets, as people write it; nothing for None, or an empty cell.

    >>> asked("how_likely"), asked(None)
    (' (how likely)', '')
    """
    return format_prompt_suffix(None if pd.isna(prompt) else label(prompt))


def under(prompt: str | None, caption: str) -> str:
    """Return the caption of one prompt among several, which it names first.

    >>> under("how_likely", "Mean rating by condition."), under(None, "Mean rating by condition.")
    ('How likely: mean rating by condition.', 'Mean rating by condition.')
    """
    if prompt is None:
        return caption
    name = label(prompt)
    return f"{name[:1].upper()}{name[1:]}: {caption[0].lower()}{caption[1:]}"


def mean_rating(prompt: str | None, of: str = "z") -> str:
    """Return how the axis of mean ratings is called, z or as given.

    >>> mean_rating(None), mean_rating("plausibility"), mean_rating("plausibility", "rating")
    ('mean rating (z)', 'mean rating (plausibility, z)', 'mean rating (plausibility)')
    """
    told = [label(prompt)] * (prompt is not None) + ["z"] * (of == "z")
    return f"mean rating ({', '.join(told)})" if told else "mean rating"


def language_model(row: Row, end: str = "") -> str:
    """Return a language model with its protocol; of two in a row, the one whose columns end in `end`.

    >>> language_model({"model": "gpt2", "protocol": "causal"})
    'gpt2 (causal)'
    """
    return f"{row['model' + end]} ({row['protocol' + end]})"


def measures(names: Iterable[str]) -> str:
    """Return measures in words, each with its source.

    >>> measures(["lp", "slor"])
    'log probability, SLOR (Lau et al., 2017)'
    """
    known = [_measure(name) for name in names]
    return ", ".join(f"{measure.label} ({measure.source})" if measure.source else measure.label for measure in known)


def measure_name(name: str) -> str:
    """Return a measure in words.

    >>> measure_name("lp")
    'log probability'
    """
    return _measure(name).label


def measure_axis(name: str) -> str:
    """Return how the axis of a measure is called.

    >>> measure_axis("slor"), measure_axis("surprise")
    ('SLOR (nats per token)', 'surprise')
    """
    measure = _measure(name)
    return f"{measure.label} ({measure.unit})" if measure.unit else measure.label


def _measure(name: str) -> Measure:
    """Return a measure; of a name that none has, one that is called by it."""
    return MEASURES.get(name) or Measure(name, meaning="", label=name, unit="")
