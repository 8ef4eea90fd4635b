"""A plan in words: what is modelled by which formula, models of one kind together."""

from collections.abc import Iterator
from dataclasses import replace

from gardenpath.study.plans import Plan, PlannedModel, PlannedMultiverse
from gardenpath.study.responses import RESPONSES

from .labels import listed, region_name
from .numbers import counted

FEW = 6  # phenomena, paradigms or models that are named
REDUCTIONS = {
    "declared": "kept as they are, singular or not",
    "maximal": "correlations, where the engine can, and then slopes without variance are left out while the model is "
    "singular or does not converge",
    "parsimonious": "left out backward by likelihood-ratio tests at .2, correlations first",
}
RESOLVED = {"design": "from the design, before there are data", "data": "from the trials that there are"}


def describe_plan(plan: Plan) -> list[str]:
    """Return the lines of a plan.

    >>> describe_plan(Plan("glmm", "design"))
    ['No model: nothing that is measured varies by a factor.']
    """
    if not plan.models:
        return ["No model: nothing that is measured varies by a factor."]
    lines = [f"{counted(len(plan.models), 'model')}, fitted by {plan.engine}; resolved {RESOLVED[plan.resolved_from]}."]
    for models in _group_equal(plan):
        lines += ["", *_describe_models(models)]
    lines += ["", *list_hypotheses(plan)] if plan.hypotheses else []
    return [*lines, *(["", *list_multiverse(plan)] if plan.multiverse else [])]


def list_multiverse(plan: Plan) -> list[str]:
    """Return the choices under which effects are estimated beside the planned ones as lines of Markdown, nothing without any.

    >>> choices = (("as planned", "50 to 2500 ms"), ("log", "ms"), ("as planned",), (("log_trial",),), ("critical",))
    >>> from gardenpath.study.plans import ExclusionRules
    >>> rules = (ExclusionRules("as planned"), ExclusionRules("50 to 2500 ms", {"min_rt": 50.0, "max_rt": 2500.0}))
    >>> varied = (PlannedMultiverse("model m, log_rt critical, slopes", ("a",), *choices),)
    >>> for line in list_multiverse(Plan("glmm", "design", exclusion_rules=rules, multiverse=varied)):
    ...     print(line or "<blank>")
    Multiverse, each combination of these choices, the planned one first; nothing is tested over them:
    <blank>
    - model m, log_rt critical, slopes: 4 specifications; exclusions: as planned, 50 to 2500 ms; scale: log, ms
    - exclusions 50 to 2500 ms: min_rt = 50, max_rt = 2500
    """
    if not plan.multiverse:
        return []
    alike: dict[PlannedMultiverse, list[str]] = {}
    for one in plan.multiverse:
        alike.setdefault(replace(one, model_id="", terms=()), []).append(one.model_id)
    lines = ["Multiverse, each combination of these choices, the planned one first; nothing is tested over them:", ""]
    for choices, names in alike.items():
        shown = "; ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
        kinds = {
            "exclusions": choices.exclusions,
            "scale": choices.transformations,
            "random effects": choices.random_effects,
            "covariates": [" and ".join(names) or "none" for names in choices.covariates],
            "region": choices.regions,
        }
        stated = "; ".join(f"{name}: {', '.join(by)}" for name, by in kinds.items() if len(by) > 1)
        number = counted(len(choices.list_specifications()), "specification")
        lines.append(f"- {shown}: {number}{f'; {stated}' if stated else ''}")
    for rules in plan.exclusion_rules:
        if rules.settings:
            lines.append(
                f"- exclusions {rules.name}: {', '.join(f'{key} = {_format(value)}' for key, value in rules.settings.items())}"
            )
    return lines


def _format(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def list_hypotheses(plan: Plan) -> list[str]:
    """Return the hypotheses of a plan as lines of Markdown, and how they are tested; nothing where none is stated.

    >>> from gardenpath.study.plans import PlannedHypothesis
    >>> hypothesis = PlannedHypothesis("slower", "model m, log_rt critical, slopes", "a", "a: y minus x", "positive", sesoi=0.03)
    >>> for line in list_hypotheses(Plan("glmm", "design", hypotheses=(hypothesis,))):
    ...     print(line or "<blank>")
    Hypotheses, tested at .05 by the models that are reported first, with 95 % intervals and 90 % intervals of equivalence tests:
    <blank>
    - slower (primary): a: y minus x is positive, in model m, log_rt critical, slopes; two-sided; smallest effect that matters 0.03
    """
    if not plan.hypotheses:
        return []
    level = f"{plan.alpha:g}".removeprefix("0")
    ends = f"{100 * (1 - plan.alpha):g} % intervals and {100 * (1 - 2 * plan.alpha):g} % intervals of equivalence tests"
    lines = [f"Hypotheses, tested at {level} by the models that are reported first, with {ends}:", ""]
    for one in plan.hypotheses:
        role = one.role if one.role != "family" else f"family{f' {one.family}' if one.family else ''}, correction {one.correction}"
        direction = f" is {one.direction}" if one.direction else ""
        smallest = "" if one.sesoi is None else f"; smallest effect that matters {one.sesoi:g}"
        sides = {1: "one-sided", 2: "two-sided"}[one.sides]
        lines.append(f"- {one.name} ({role}): {one.contrast}{direction}, in {one.model_id}; {sides}{smallest}")
    return lines


def _group_equal(plan: Plan) -> list[list[PlannedModel]]:
    """Return the models that differ in nothing but what they are of, together, in the order of the plan."""
    groups: dict[object, list[PlannedModel]] = {}
    for one in plan.models:
        kind = (
            one.unit,
            one.response,
            one.family,
            one.region,
            one.prompt,
            one.random,
            one.policy,
            one.formula,
            one.first_fit,
            one.effects,
        )
        groups.setdefault(kind, []).append(one)
    return list(groups.values())


def list_planned_formulas(plan: Plan) -> list[str]:
    """Return the models of a plan as lines of Markdown, models of one kind together, and how their factors are coded."""
    lines = []
    for models in _group_equal(plan):
        first = models[0]
        begun = f"; fitted first: `{first.first_fit}`" if first.first_fit != first.formula else ""
        lines.append(f"- {_name_models(models)}: `{first.formula}`{begun}; random effects: {REDUCTIONS[first.policy]}")
    codings = dict.fromkeys(
        f"- {factor}: {coding.contrasts} contrasts of {', '.join(coding.levels)}, in this order"
        for one in plan.models
        for factor, coding in one.coding.items()
    )
    return [*lines, *(["", "Factors are coded so:", "", *codings] if codings else [])]


def _name_models(models: list[PlannedModel]) -> str:
    """Return what is modelled, of what, and whether it is the headline."""
    first = models[0]
    names = [one.name for one in models]
    what = listed(names) if len(names) <= FEW else f"each of {counted(len(names), first.unit, _pluralise(first.unit))}"
    categories = " as ordered categories" if first.family == "cumulative" else ""
    where = f" of the {region_name(first.region)}" if RESPONSES[first.response].has_regions else ""
    prompt = f" ({first.prompt})" if first.prompt else ""
    return f"{RESPONSES[first.response].label}{where}{prompt}{categories}, {what}{' (headline)' if first.is_headline else ''}"


def _describe_models(models: list[PlannedModel]) -> Iterator[str]:
    first = models[0]
    yield _name_models(models)
    yield f"  {first.formula}"
    if first.first_fit != first.formula:
        yield f"  fitted first: {first.first_fit}"
    yield f"  family {first.family}, link {first.link}; random effects: {first.random}, {REDUCTIONS[first.policy]}"
    for effect in first.effects:
        if effect.is_tested:
            sesoi = f"; smallest effect of interest {effect.sesoi:g} {RESPONSES[first.response].unit}" if effect.sesoi else ""
            compared = f" ({effect.contrast})" if effect.contrast != effect.term else ""
            yield f"  tests {effect.term}{compared}{sesoi}"
    if first.correction:
        yield f"  p adjusted: {first.correction}"
    if first.note:
        yield f"  cannot be fitted: {first.note}"


def _pluralise(unit: str) -> str:
    return {"phenomenon": "phenomena"}.get(unit, f"{unit}s")
