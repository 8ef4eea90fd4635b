"""What a study's own factors, and measures of participants, do to robots: stated by term and region, summed for each condition."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gardenpath import study
from gardenpath.stimuli import Paradigm, Sentence, Trial
from gardenpath.study.config import ParticipantMeasureSection


@dataclass(frozen=True)
class ConditionEffect:
    """What a condition adds: to log reading time by region, to the latent rating, to the log odds of a right answer, and to those
    of a right first choice by region.
    """

    log_rt: Mapping[str, float]
    rating: float = 0.0
    accuracy: float = 0.0
    first_choice: Mapping[str, float] = field(default_factory=dict)


def sum_effects_by_condition(
    terms: Mapping[str, study.EffectSection], paradigms: Iterable[Paradigm], codes: Mapping[str, float] | None = None
) -> dict[tuple[str, str], ConditionEffect]:
    """Return the sum of the stated effects by paradigm and condition, of the paradigms that have any of the terms.

    Of a factor the first level, as the materials state them, is -1/2 and the second +1/2; one of more levels has a column for each
    level but the first, against the one before (see `code_factor`). Of a participant's measures `codes` says what they are; an
    interaction is the product. A term of measures alone holds in every paradigm of several conditions.

    >>> terms = {"grammaticality": study.EffectSection(rating=-1.0), "grammaticality:age": study.EffectSection(rating=0.1)}
    >>> npi = Paradigm("npi_no", "npi")
    >>> [effect.rating for effect in sum_effects_by_condition(terms, [npi], {"age": 2.0}).values()]
    [0.4, -0.4]
    """
    codes = codes or {}
    effects = {}
    for paradigm in paradigms:
        own_terms = {term: effect for term, effect in terms.items() if _has_term(paradigm, term, codes)}
        for condition, levels in paradigm.list_conditions().items() if own_terms else ():
            known = {**codes}
            for name, level in levels.items():
                known |= code_factor(name, paradigm.factors[name], level)
            coded_effects = [(math.prod(known[name] for name in term.split(":")), one) for term, one in own_terms.items()]
            effects[paradigm.id, condition] = ConditionEffect(
                _sum_by_region([(code, one.log_rt) for code, one in coded_effects]),
                sum(code * one.rating for code, one in coded_effects),
                sum(code * one.accuracy for code, one in coded_effects),
                _sum_by_region([(code, one.first_choice) for code, one in coded_effects]),
            )
    return effects


def _sum_by_region(coded_effects: Iterable[tuple[float, Mapping[str, float]]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for code, regions in coded_effects:
        for region, effect in regions.items():
            total[region] = total.get(region, 0.0) + code * effect
    return total


def code_factor(name: str, levels: Sequence[str], level: str) -> dict[str, float]:
    """Return the columns of a factor at a level: the factor's own where it has two, else `name_later_earlier` for each level and
    the one before, whose codes make a term of it their difference (repeated contrasts; Schad et al. 2020, doi
    10.1016/j.jml.2019.104038).

    >>> code_factor("distance", ["near", "far"], "far")
    {'distance': 0.5}
    >>> codes = [code_factor("distance", ["near", "mid", "far"], level)["distance_mid_near"] for level in ("near", "mid", "far")]
    >>> [round(code, 4) for code in codes]
    [-0.6667, 0.3333, 0.3333]
    """
    at, n = levels.index(level), len(levels)
    names = list_factor_columns(name, levels)
    return {column: k / n if at >= k else k / n - 1 for k, column in enumerate(names, start=1)} if n != 2 else {name: at - 0.5}


def list_factor_columns(name: str, levels: Sequence[str]) -> list[str]:
    """Return how terms name a factor: by itself where it has two levels, else by each pair of neighbouring levels."""
    if len(levels) == 2:
        return [name]
    words = [re.sub(r"\W+", "_", level) for level in levels]
    return [f"{name}_{later}_{earlier}" for earlier, later in pairwise(words)]


def _list_columns(paradigm: Paradigm) -> list[str]:
    return [column for name, levels in paradigm.factors.items() for column in list_factor_columns(name, levels)]


def _has_term(paradigm: Paradigm, term: str, measures: Iterable[str]) -> bool:
    """Whether a term of factors, and of measures of participants, holds in a paradigm."""
    factors = {*term.split(":")} - {*measures}
    return factors <= {*_list_columns(paradigm)} if factors else len(paradigm.list_conditions()) > 1


def require_known_effects(
    terms: Mapping[str, study.EffectSection],
    paradigms: Iterable[Paradigm],
    trials: Iterable[Trial],
    measures: Mapping[str, ParticipantMeasureSection] | None = None,
) -> None:
    """Raise `study.DataError` with every term that no paradigm has, every region that is in none of its sentences, every factor or
    measure of other than two levels, and every measure that cannot be drawn.
    """
    if faults := list(_find_faults(terms, list(paradigms), list(trials), measures or {})):
        raise study.DataError(faults)


def sum_effects_by_word(regions: Mapping[str, float], sentence: Sentence) -> dict[int, float]:
    """Return what effects by region add to each word of a sentence that has any, by its index."""
    added: dict[int, float] = {}
    for name, effect in regions.items():
        for word in _find_region_words(name, sentence):
            added[word] = added.get(word, 0.0) + effect
    return added


def _find_region_words(name: str, sentence: Sentence) -> list[int]:
    """Return the words of a region; of `critical+1` the first word after the critical region."""
    region, _, after = name.partition("+")
    words = [word.index for word in sentence.list_region_words(region)]
    return [max(words) + int(after)] if words and after else words


def _find_faults(
    terms: Mapping[str, study.EffectSection],
    paradigms: list[Paradigm],
    trials: list[Trial],
    measures: Mapping[str, ParticipantMeasureSection],
) -> Iterator[str]:
    crossed = [paradigm for paradigm in paradigms if len(paradigm.list_conditions()) > 1]  # fillers have one condition
    known_factors = sorted({name for paradigm in crossed for name in _list_columns(paradigm)})
    for term, effect in terms.items():
        factors = [name for name in term.split(":") if name not in measures]
        crossing = [paradigm for paradigm in paradigms if _has_term(paradigm, term, measures)]
        if not crossing:
            there = ", ".join(known_factors) + (f", and measures of participants {', '.join(measures)}" if measures else "")
            yield (
                f"simulate, {term!r}: no paradigm has {' and '.join(factors)}; there are factors {there}: state effects of "
                "these, or delete the table"
            )
            continue
        for name in (name for name in term.split(":") if name in measures):
            if len(measures[name].levels) not in (0, 2):
                yield f"simulate, {term!r}: {name} has {len(measures[name].levels)} levels; expected a number, or a text of two"
            elif not measures[name].is_described:
                yield (
                    f"simulate, {term!r}: analysis.participant_measures.{name} states no distribution; expected mean and sd, or "
                    "min and max"
                )
        ids = {paradigm.id for paradigm in crossing}
        sentences = [one for trial in trials if trial.item.paradigm in ids for _, one in trial.shown_sentences]
        for region in effect.regions:
            if sentences and not any(_find_region_words(region, sentence) for sentence in sentences):
                known = sorted({one.name for sentence in sentences for one in sentence.regions})
                yield f"simulate, {term!r}: region {region!r} is in no sentence; there are {', '.join(known) or 'none'}"
