"""What a study's own factors, and measures of participants, do to robots: stated by term and region, summed for each condition."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gardenpath import study
from gardenpath.stimuli import Paradigm, Sentence, Trial
from gardenpath.study.config import ParticipantMeasureSection


@dataclass(frozen=True)
class ConditionEffect:
    """What a condition adds: to log reading time by region, to the latent rating, to the log-odds of a right answer."""

    log_rt: Mapping[str, float]
    rating: float = 0.0
    accuracy: float = 0.0


def sum_effects_by_condition(
    terms: Mapping[str, study.EffectSection], paradigms: Iterable[Paradigm], codes: Mapping[str, float] | None = None
) -> dict[tuple[str, str], ConditionEffect]:
    """Return the sum of the stated effects by paradigm and condition, of the paradigms that have any of the terms.

    Of a factor the first level, as the materials state them, is -1/2 and the second +1/2; of a participant's measures `codes` says
    what they are; an interaction is the product. A term of measures alone holds in every paradigm of several conditions.

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
            known = {**codes, **{name: paradigm.factors[name].index(level) - 0.5 for name, level in levels.items()}}
            coded_effects = [(math.prod(known[name] for name in term.split(":")), one) for term, one in own_terms.items()]
            regions = dict.fromkeys(region for _, one in coded_effects for region in one.log_rt)
            effects[paradigm.id, condition] = ConditionEffect(
                {region: sum(code * one.log_rt.get(region, 0.0) for code, one in coded_effects) for region in regions},
                sum(code * one.rating for code, one in coded_effects),
                sum(code * one.accuracy for code, one in coded_effects),
            )
    return effects


def _has_term(paradigm: Paradigm, term: str, measures: Iterable[str]) -> bool:
    """Whether a term of factors, and of measures of participants, holds in a paradigm."""
    factors = {*term.split(":")} - {*measures}
    return factors <= {*paradigm.factors} if factors else len(paradigm.list_conditions()) > 1


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


def sum_effects_by_word(condition_effect: ConditionEffect, sentence: Sentence) -> dict[int, float]:
    """Return what is added to the log reading time of words of a sentence, by their index."""
    added: dict[int, float] = {}
    for name, effect in condition_effect.log_rt.items():
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
    crossed = [paradigm.factors for paradigm in paradigms if len(paradigm.list_conditions()) > 1]  # fillers have one condition
    known_factors = sorted({name for factors in crossed for name in factors})
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
        for name, levels in ((name, one.factors[name]) for one in crossing for name in factors):
            if len(levels) != 2:
                yield f"simulate, {term!r}: {name} has {len(levels)} levels; expected a factor of two"
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
        for region in effect.log_rt:
            if sentences and not any(_find_region_words(region, sentence) for sentence in sentences):
                known = sorted({one.name for sentence in sentences for one in sentence.regions})
                yield f"simulate, {term!r}: region {region!r} is in no sentence; there are {', '.join(known) or 'none'}"
