"""Hypotheses as a study states them: each about one coefficient of a model that is reported first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gardenpath.study import DataError, HypothesisSection
from gardenpath.study.plans import PlannedEffect, PlannedHypothesis, PlannedModel
from gardenpath.study.responses import RESPONSES

from ..measuring.region_spans import SENTENCE_REGION

Candidate = tuple[PlannedModel, PlannedEffect]
SHOWN = 12  # effects that a message lists


def resolve_hypotheses(stated: Sequence[HypothesisSection], models: Sequence[PlannedModel]) -> tuple[PlannedHypothesis, ...]:
    """Return each hypothesis with the model and the coefficient that it is about.

    Raises `DataError`, with what there is, for each that names no effect, or more than one.
    """
    faults, planned = [], []
    has_primary = any(one.primary for one in stated)
    for one in stated:
        found = list(_list_candidates(one, models))
        if len(found) != 1:
            faults.append(_describe_fault(one, found, models))
            continue
        [(model, effect)] = found
        planned.append(
            PlannedHypothesis(
                one.label,
                model.model_id,
                effect.term,
                effect.contrast,
                one.direction,
                one.sides,
                effect.sesoi if one.sesoi is None else one.sesoi,
                "primary" if one.primary or len(stated) == 1 else "secondary" if has_primary else "family",
                one.family,
                one.correction or "none",
            )
        )
        if None not in (one.sesoi, effect.sesoi) and one.sesoi != effect.sesoi:
            faults.append(
                f"hypothesis {one.label!r}: sesoi is {one.sesoi:g}, and analysis.sesoi states {effect.sesoi:g} of the same "
                "effect; expected it once"
            )
    if faults:
        raise DataError(faults)
    return tuple(planned)


def state_sesoi(models: Sequence[PlannedModel], hypotheses: Sequence[PlannedHypothesis]) -> Iterator[PlannedModel]:
    """Yield the models, with the smallest effects that hypotheses state of their coefficients."""
    stated = {(one.model_id, one.term): one.sesoi for one in hypotheses}
    for model in models:
        effects = tuple(replace(one, sesoi=stated.get((model.model_id, one.term), one.sesoi)) for one in model.effects)
        yield model if effects == model.effects else replace(model, effects=effects)


def _list_candidates(stated: HypothesisSection, models: Sequence[PlannedModel]) -> Iterator[Candidate]:
    """Yield the coefficients that a hypothesis may be about: of phenomena where paradigms have models too."""
    fitting = [model for model in models if _is_about(stated, model)]
    whole = [model for model in fitting if model.unit != "paradigm"]
    for model in whole or fitting:
        for effect in model.effects:
            if effect.is_tested and _is_named(stated.effect, effect) and _is_contrast(stated.contrast, effect):
                yield model, effect


def _is_about(stated: HypothesisSection, model: PlannedModel) -> bool:
    response = RESPONSES.get(stated.response)
    region = stated.region if response is not None and response.has_regions else SENTENCE_REGION
    return (
        model.is_headline
        and (model.response, model.region) == (stated.response, region)
        and stated.prompt in (None, model.prompt)
        and stated.model in ("", model.name)
    )


def _is_named(name: str, effect: PlannedEffect) -> bool:
    """Whether an effect is named by its factors, in any order, or by its coefficient."""
    parts = sorted(name.split(":"))
    return parts in (sorted(effect.factors.split(":")), sorted(effect.term.split(":")))


def _is_contrast(contrast: str, effect: PlannedEffect) -> bool:
    return contrast in ("", effect.contrast, effect.contrast.partition(": ")[2])


def _describe_fault(stated: HypothesisSection, found: Sequence[Candidate], models: Sequence[PlannedModel]) -> str:
    """Return why a hypothesis is about no effect, or about several, and what there is."""
    what = f"hypothesis {stated.label!r}"
    if found:
        listed = _list_effects(found)
        keys = "model, prompt or contrast"
        return f"{what} may be about {len(found)} effects: {listed}; name one by {keys}"
    if stated.response not in {model.response for model in models if model.is_headline}:
        there = ", ".join(dict.fromkeys(model.response for model in models if model.is_headline)) or "none"
        return f"{what}: no model that is reported first is of {stated.response!r}; there are {there}"
    response = RESPONSES[stated.response]
    region = stated.region if response.has_regions else SENTENCE_REGION
    of_response = [model for model in models if model.is_headline and model.response == stated.response]
    of_region = [model for model in of_response if model.region == region] or of_response
    tested = [(model, effect) for model in of_region for effect in model.effects if effect.is_tested]
    return f"{what}: no model tests {stated.effect!r} of {stated.response} there; there are {_list_effects(tested)}"


def _list_effects(found: Sequence[Candidate]) -> str:
    listed = list(
        dict.fromkeys(
            f"{effect.factors} ({effect.contrast}; model {model.name}, {model.region}{f', {model.prompt}' if model.prompt else ''})"
            for model, effect in found
        )
    )
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return "; ".join(listed[:SHOWN]) + more if listed else "none"
