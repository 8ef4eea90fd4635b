"""What simulate --power does: from a study's design and its smallest effects to the table power, a figure and sentences."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .analyse import OPTIONAL_TABLES, REQUIRED_TABLES, read_tables
from .plan import resolve_design_plan

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.analysis.fitting.planned_power import PlannedScenario
    from gardenpath.analysis.modelling.simulated_trials import Assumptions, Layout
    from gardenpath.experiment import ListFile
    from gardenpath.study import EffectSection, Study
    from gardenpath.study.config import ParticipantMeasureSection
    from gardenpath.study.executors import LocalExecutor, RayExecutor
    from gardenpath.study.plans import Plan, PlannedModel

POWER_TABLE = "power"
REDUCED_RUNS = 200  # studies of a size where none is named, of models whose random effects are reduced
DEFAULT_PARTICIPANT_COUNTS = (12, 24, 48, 96)  # participants, where none are named


@dataclass(frozen=True)
class PowerRequest:
    """What the command was asked for."""

    participants: Sequence[int]
    items: Sequence[int]
    responses: Sequence[str]
    terms: Sequence[str]
    paradigm: str | None
    region: str
    model: str | None
    runs: int | None
    effects: "Mapping[str, EffectSection] | None"
    pilot: Path | None
    seed: int
    executor: "LocalExecutor | RayExecutor | None" = None


@dataclass(frozen=True)
class PowerDesign:
    """Paradigms of the same factors, and for each response that is measured of them the items a participant sees in a model."""

    layout: "Layout"
    paradigms: tuple[str, ...]
    items: Mapping[str, set[int]]
    points: int  # of ratings


def simulate_power(config: "Study", request: PowerRequest, out: Path, force: bool, inputs: Sequence[Path]) -> None:
    """Simulate, writing the table after each cell, then draw the figure and say what came out."""
    from gardenpath import study
    from gardenpath.analysis.reporting.figures import effect_figures, figure_style
    from gardenpath.analysis.reporting.wording import effects

    design = _build_design(config, request)
    scenarios = list(_build_scenarios(config, resolve_design_plan(config), design, request))
    notes = _build_notes(config, design, scenarios)
    table, earlier_assumptions = (None, {}) if force else _read_earlier_table(out, request.seed, notes)
    notes["assumed"] = {**earlier_assumptions, **notes["assumed"]}

    def write(table: "pd.DataFrame") -> None:
        study.write(table, POWER_TABLE, out, command=options.format_command_line(), inputs=inputs, seed=request.seed, notes=notes)

    requested_rows = []
    for scenario in scenarios:
        rows, table = _simulate_scenario(scenario, design, request, table, write)
        requested_rows.append(rows)
    if table is None:
        return
    write(table)
    figure_style.save(effect_figures.power_figure(table), POWER_TABLE, out / "figures")
    options.print_notice(
        f"{out / POWER_TABLE}.csv: {options.format_count(len(table), 'row')}, with its figure in {out / 'figures'}"
    )
    for rows in requested_rows:
        for sentence in effects.describe_power(rows):
            click.echo(sentence)


def _simulate_scenario(
    scenario: "PlannedScenario",
    design: PowerDesign,
    request: PowerRequest,
    earlier_table: "pd.DataFrame | None",
    write: "Callable[[pd.DataFrame], None]",
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """Return the rows of one scenario, and the table with them; what takes long says how long before it begins."""
    import pandas as pd

    from gardenpath import study
    from gardenpath.analysis.modelling import power
    from gardenpath.analysis.modelling.simulated_trials import LOG_RT

    is_fast = scenario.response == LOG_RT and scenario.model.policy == "declared"
    runs = request.runs or (power.RUNS[scenario.family] if scenario.model.policy == "declared" else REDUCED_RUNS)
    participants, items = (sorted(set(request.participants)), sorted(set(request.items or design.items[scenario.response])))
    sizes = [(n_participants, n_items) for n_participants in participants for n_items in items]
    missing = [size for size in sizes if power.look_up_rows(earlier_table, scenario.list_row_keys(*size, runs)).empty]
    name = f"{scenario.response}, {scenario.family} model, {', '.join(scenario.terms)}, {scenario.assumptions.name}"
    try:
        if missing and not is_fast:
            seconds = power.seconds(scenario, missing, runs, request.seed)
            duration = options.format_duration(seconds / ((request.executor.workers if request.executor else None) or 1))
            options.print_notice(
                f"{name}: {options.format_count(len(missing), 'size')} of {runs} studies, about {duration}; what is done is kept"
            )
        with options.show_progress(name, len(sizes) * runs) as progress:
            table = power.curve(
                scenario,
                participants,
                items,
                runs,
                request.seed,
                known=earlier_table,
                progress=progress,
                each=lambda table: write(_merge_tables(earlier_table, table)),
                workers=request.executor,
            )
    except study.MissingExtra as error:
        options.print_notice(f"{name}: left out, since {error}")
        return study.check(pd.DataFrame(columns=study.TABLES[POWER_TABLE].column_names), POWER_TABLE), earlier_table
    return table, _merge_tables(earlier_table, table)


def _merge_tables(earlier_table: "pd.DataFrame | None", table: "pd.DataFrame") -> "pd.DataFrame":
    """Return earlier rows and new ones in one order; of a size that was simulated with other runs the new one."""
    import pandas as pd

    from gardenpath.study import TABLES

    key = list(TABLES[POWER_TABLE].key)
    rows = (
        table if earlier_table is None else pd.concat([earlier_table, table], ignore_index=True).drop_duplicates(key, keep="last")
    )
    sort_columns = ["response", "family", "slopes", "assumptions", "term", "effect", "n_items", "n_participants"]
    return rows.sort_values(sort_columns, kind="stable", ignore_index=True)


def _build_design(config: "Study", request: PowerRequest) -> PowerDesign:
    """Return the design whose power is asked for: the study's one, or that of the named paradigm or terms."""
    from gardenpath import experiment
    from gardenpath.analysis.modelling.simulated_trials import CHOSEN, Layout
    from gardenpath.study import DataError

    if config.design.short_lists is not None:
        raise DataError(f"{config.path}: --power does not know design.short_lists; expected lists = N to simulate")
    files = experiment.build_list_files(config)
    paradigms = {one.id: one for file in files for one in file.paradigms}
    shown_paradigms = {trial.item.paradigm for file in files for trial in file.trial_list.trials if trial.role == "target"}
    groups: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
    for name in sorted(shown_paradigms):
        groups.setdefault(tuple(paradigms[name].factors.items()), []).append(name)
    if request.paradigm is not None:
        groups = {factors: names for factors, names in groups.items() if request.paradigm in names}
        if not groups:
            raise DataError(
                f"--paradigm {request.paradigm}: there is no such paradigm; there are {', '.join(sorted(shown_paradigms))}"
            )
    item_counts = {
        response: _get_item_counts(config, files, set().union(*groups.values()), response)
        for response in list_target_responses(config)
    }
    choice = CHOSEN in item_counts

    def build_layout(factors: tuple[tuple[str, tuple[str, ...]], ...]) -> Layout:
        between = [name for name, _ in factors if name in config.design.between_participants]
        return Layout(dict(factors), config.design.ratio, between, choice=choice)

    measures = config.analysis.participant_measures
    factor_terms = [":".join(part for part in term.split(":") if part not in measures) for term in request.terms]
    factor_terms = [term for term in factor_terms if term and term.partition("@")[0] not in measures]
    matching_groups = {
        factors: names for factors, names in groups.items() if all(_has_term(build_layout(factors), t) for t in factor_terms)
    }
    if not matching_groups:
        for term in factor_terms:
            build_layout(next(iter(groups))).test(term)
    if len(matching_groups) != 1:
        group_text = "; ".join(f"{', '.join(names)} ({', '.join(n for n, _ in factors)})" for factors, names in groups.items())
        raise DataError(f"the paradigms have different factors: {group_text}; name one of them with --paradigm")
    [(factors, names)] = matching_groups.items()
    items = {response: _get_item_counts(config, files, set(names), response) for response in item_counts}
    return PowerDesign(
        build_layout(factors),
        tuple(names),
        {response: sizes for response, sizes in items.items() if sizes},
        _count_rating_points(config),
    )


def _has_term(layout: "Layout", term: str) -> bool:
    from gardenpath.study import DataError

    try:
        layout.test(term)
    except DataError:
        return False
    return True


def list_target_responses(config: "Study") -> list[str]:
    """Return the responses that the study's targets give."""
    from gardenpath.experiment.tasks import load_tasks
    from gardenpath.study.responses import SIMULATED_RESPONSES

    tasks = load_tasks(config)
    measured = tasks.list_responses([tasks.presentation_by_role["target"], *tasks.tasks_by_role["target"]])
    return [response for response in SIMULATED_RESPONSES if response in measured]


def _get_item_counts(config: "Study", files: "Sequence[ListFile]", paradigms: set[str], response: str) -> set[int]:
    """Return the smallest and the largest number of items with this response that a participant sees in one model: those of a
    phenomenon of minimal pairs, of a paradigm with factors of its own.
    """
    from gardenpath.experiment.tasks import load_tasks

    tasks = load_tasks(config)
    numbers = set()
    for file in files:
        unit = {one.id: one.phenomenon if one.is_minimal_pair() else one.id for one in file.paradigms}
        item_counts = Counter(
            unit[trial.item.paradigm]
            for trial in file.trial_list.trials
            if trial.role == "target" and trial.item.paradigm in paradigms
            if response in tasks.list_responses([tasks.presentation_by_role["target"], *trial.prompts])
        )
        numbers |= set(item_counts.values())
    return {min(numbers), max(numbers)} if numbers else set()


def _count_rating_points(config: "Study") -> int:
    """Return how many numbers the first rating of targets has."""
    from gardenpath.analysis.modelling.simulated_trials import POINTS, RATING
    from gardenpath.experiment.tasks import load_tasks

    tasks = load_tasks(config)
    ratings = [tasks.settings[name] for name in tasks.tasks_by_role["target"] if RATING in tasks.get_task(name).RESPONSES]
    return len(ratings[0].rating_range) if ratings else POINTS


def _build_scenarios(config: "Study", plan: "Plan", design: PowerDesign, request: PowerRequest) -> "Iterator[PlannedScenario]":
    """Yield what is to be simulated: of each response the planned models, with the effects that are stated, under each set of
    assumptions.
    """
    from gardenpath.analysis.fitting.planned_power import PlannedScenario, build_planned_layout, find_coefficient, list_coefficients
    from gardenpath.study import DataError

    unknown = [response for response in request.responses if response not in design.items]
    if unknown:
        available = ", ".join(design.items) or "none"
        raise DataError(f"--response {unknown[0]}: targets have no such response; expected one of {available}")
    found = False
    for response in request.responses or design.items:
        models = _select_models(config, plan, design, request, response)
        if not request.responses and not any(_list_effects(config, request, response, one, design) for one in models):
            continue
        found = True
        main_assumptions, *other_assumptions = _get_assumptions(config, design, request, response)
        for model in models:
            layout, measures = build_planned_layout(model, design.layout, config.analysis.participant_measures)
            names = list(list_coefficients(model, layout))
            for term in request.terms:
                if "@" not in term:
                    find_coefficient(model, layout, term)
            stated = _list_effects(config, request, response, model, design)
            terms = request.terms or [name for name in names if name in stated]
            if missing := [term for term in terms if term not in stated] or ([] if terms else [response]):
                raise DataError(_explain_missing_effect(config, response, missing[0]))
            for are_joint in (False, True):
                own = tuple(term for term in terms if stated[term].are_joint == are_joint)
                for assumptions in (main_assumptions, *other_assumptions) if own else ():
                    effects = (
                        stated[own[0]].sizes
                        if are_joint
                        else {term: round(stated[term].sizes[term] * main_assumptions.unit(stated[term].scale), 6) for term in own}
                    )
                    yield PlannedScenario(
                        model, layout, response, own, effects, are_joint, assumptions, config.analysis.engine, measures
                    )
        if not request.responses:
            return
    if not found:
        key = next(iter(design.items), "log_rt")
        raise DataError(_explain_missing_effect(config, key, key))


def _select_models(
    config: "Study", plan: "Plan", design: PowerDesign, request: PowerRequest, response: str
) -> "list[PlannedModel]":
    """Return the planned models of a response: the headline, and that of the same ratings as ordered categories.

    Models that are alike but for what they are of, such as those of several phenomena, are one. Raises `DataError` where there
    is none, or several that differ.
    """
    from gardenpath.study import DataError

    models = [one for one in plan.models if {*one.paradigms} & {*design.paradigms} and _is_simulated_as(one, response)]
    models = [one for one in models if response != "log_rt" or one.region == request.region]
    models = [one for one in models if request.model in (None, one.name)]
    headlines = {(one.formula, one.first_fit): one for one in reversed(models) if one.is_headline and one.unit != "paradigm"}
    if not headlines:
        where = f" of the region {request.region!r}" if response == "log_rt" else ""
        name = "" if request.model is None else f" named {request.model!r}"
        names = ", ".join(dict.fromkeys(one.name for one in plan.models)) or "none"
        raise DataError(f"{config.path}: no planned model of {response}{where}{name}; there are {names} (gardenpath plan)")
    if len(headlines) > 1:
        names = ", ".join(dict.fromkeys(one.name for one in headlines.values()))
        raise DataError(f"{config.path}: several planned models of {response}: {names}; name one of them with --planned-model")
    [headline] = headlines.values()
    categories = [one for one in models if one.family == "cumulative" and one.unit != "paradigm" and one.prompt == headline.prompt]
    return [headline, *categories[:1]]


def _is_simulated_as(model: "PlannedModel", response: str) -> bool:
    from gardenpath.study.responses import RESPONSES

    return RESPONSES[model.response].simulated_as == response or (model.response == "yes" and response == "rating")


@dataclass(frozen=True)
class _StatedEffect:
    """The size of a term, on a scale; where `are_joint`, the sizes of all terms that are there at once."""

    sizes: Mapping[str, float]
    scale: str
    are_joint: bool


def _list_effects(
    config: "Study", request: PowerRequest, response: str, model: "PlannedModel", design: PowerDesign
) -> dict[str, _StatedEffect]:
    """Return what is stated of each term: its smallest effect of interest, else all effects of [simulate] if it is among them.

    With --effects these are the ones.
    """
    from gardenpath.analysis.fitting.planned_power import build_planned_layout, list_coefficients
    from gardenpath.study.config import find_sesoi
    from gardenpath.study.responses import list_simulated_as

    layout, measures = build_planned_layout(model, design.layout, config.analysis.participant_measures)
    known = {*layout.factors, *measures}
    stated_effects = config.simulate if request.effects is None else request.effects
    simulated = {name: _get_simulated_effect(effect, response, request.region) for name, effect in stated_effects.items()}
    simulated = {name: size for name, size in simulated.items() if size and {*name.split(":")} <= known}
    stated = {}
    for term in (*list_coefficients(model, layout), *(term for term in request.terms if "@" in term)):
        sizes = {
            key: find_sesoi(config.analysis.sesoi, key, term) for key in list_simulated_as(response) if request.effects is None
        }
        own = next(((key, size) for key, size in sizes.items() if size is not None), None)
        if own is not None:
            stated[term] = _StatedEffect({term: own[1]}, own[0], False)
        elif any({*name.split(":")} == {*term.partition("@")[0].split(":")} or "@" in term for name in simulated):
            stated[term] = _StatedEffect(simulated, response, True)
    # A term may be named in another order.
    for term in request.terms:
        same = next((name for name in stated if {*name.split(":")} == {*term.split(":")}), None)
        if same is not None and term not in stated:
            one = stated[same]
            stated[term] = one if one.are_joint else _StatedEffect({term: one.sizes[same]}, one.scale, False)
    return stated


def _explain_missing_effect(config: "Study", response: str, subject: str) -> str:
    from gardenpath.study.responses import RESPONSES, list_simulated_as

    key = list_simulated_as(response)[0]
    example = RESPONSES[key].sesoi_example
    return (
        f"{config.path}: analysis.sesoi has no {key}, and [simulate] no effect of {subject}; expected the smallest effect of "
        f"interest, such as sesoi = {{ {key} = {example:g} }}: power for the effect that was observed says nothing"
    )


def _get_simulated_effect(effect: "EffectSection", response: str, region: str) -> float:
    """Return what [simulate] says of a response: of choices by the difference of two ratings, each with a residual of its own."""
    from scipy.stats import norm

    from gardenpath.study.responses import RESPONSES

    if response == "log_rt":
        return effect.log_rt.get(region, 0.0)
    if response == "chosen":
        share = float(norm.cdf(effect.rating / math.sqrt(2)))
        return math.log(share / (1 - share))
    return float(getattr(effect, RESPONSES[response].effect_key))


def _get_assumptions(config: "Study", design: PowerDesign, request: PowerRequest, response: str) -> "list[Assumptions]":
    """Return the default assumptions; with a pilot what it estimates, and the upper limits of that."""
    from gardenpath.analysis.modelling import pilot
    from gardenpath.analysis.modelling.simulated_trials import find_source, standard

    if request.pilot is None:
        options.print_notice(f"spreads of {response}: {find_source(response)}; of a pilot with --pilot")
        return [standard(response, design.points)]
    tables, _ = read_tables(dict.fromkeys(REQUIRED_TABLES, request.pilot), dict.fromkeys(OPTIONAL_TABLES, request.pilot))
    estimates = pilot.pilot(
        tables, design.layout, design.paradigms, response=response, region=request.region, settings=config.analysis
    )
    sample_text = f"{options.format_count(estimates.participants, 'participant')}, {options.format_count(estimates.items, 'item')}"
    options.print_notice(f"spreads of {response}: from {request.pilot} ({sample_text}), and their upper 80 % limits")
    for note in estimates.notes:
        options.print_notice(note)
    return [estimates.estimated, estimates.upper]


def _build_notes(config: "Study", design: PowerDesign, scenarios: "Sequence[PlannedScenario]") -> dict[str, Any]:
    """Return what the sidecar says of the table: how trials are dealt, and what is assumed of each response."""
    return {
        "engine": config.analysis.engine,
        "factors": {name: list(levels) for name, levels in design.layout.factors.items()},
        "ratio": dict(design.layout.ratio),
        "between": list(design.layout.between),
        "participant_measures": {name: _serialise(one) for name, one in config.analysis.participant_measures.items()},
        "assumed": {
            f"{scenario.response}, {scenario.assumptions.name}": _serialise(scenario.assumptions) for scenario in scenarios
        },
        "simulated": True,
    }


def _serialise(stated: "Assumptions | ParticipantMeasureSection") -> dict[str, Any]:
    """Return assumptions, or a measure of participants, as a sidecar gives them back."""
    serialised: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(stated)))
    return serialised


def _read_earlier_table(out: Path, seed: int, notes: Mapping[str, Any]) -> "tuple[pd.DataFrame | None, dict[str, Any]]":
    """Return the table of an earlier call, and what it assumed; one with another seed or other assumptions is not overwritten."""
    from gardenpath import study

    path = out / f"{POWER_TABLE}.csv"
    if not path.exists():
        return None, {}
    sidecar_path = path.with_name(f"{path.name}.meta.json")
    sidecar = json.loads(sidecar_path.read_text("utf-8")) if sidecar_path.exists() else {}
    assumptions = sidecar.get("assumed", {})
    has_same_notes = all(sidecar.get(name) == value for name, value in notes.items() if name != "assumed")
    has_same_assumptions = all(assumptions[name] == value for name, value in notes["assumed"].items() if name in assumptions)
    if sidecar.get("seed") != seed or not has_same_notes or not has_same_assumptions:
        study.files.refuse_overwrite([path], False)
    return study.read(out, POWER_TABLE), assumptions
