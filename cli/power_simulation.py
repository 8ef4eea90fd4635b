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

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.analysis.modelling.power import PowerScenario
    from gardenpath.analysis.modelling.simulated_trials import Assumptions, Layout
    from gardenpath.experiment import ListFile
    from gardenpath.study import EffectSection, Study
    from gardenpath.study.executors import LocalExecutor, RayExecutor

POWER_TABLE = "power"
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
    slopes: str | None
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
    scenarios = list(_build_scenarios(config, design, request))
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
    scenario: "PowerScenario",
    design: PowerDesign,
    request: PowerRequest,
    earlier_table: "pd.DataFrame | None",
    write: "Callable[[pd.DataFrame], None]",
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """Return the rows of one plan, and the table with them; what takes long says how long before it begins."""
    import pandas as pd

    from gardenpath import study
    from gardenpath.analysis.modelling import power
    from gardenpath.analysis.modelling.simulated_trials import LOG_RT, MAXIMAL

    runs = request.runs or power.RUNS[scenario.family]
    participants, items = (sorted(set(request.participants)), sorted(set(request.items or design.items[scenario.response])))
    sizes = [(n_participants, n_items) for n_participants in participants for n_items in items]
    missing = [size for size in sizes if power.looked_up(earlier_table, scenario.build_row_key(*size, runs)).empty]
    name = f"{scenario.response}, {scenario.family} model, {scenario.tested.name}, {scenario.assumptions.name}"
    try:
        if missing and (scenario.response != LOG_RT or scenario.slopes == MAXIMAL):
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

    matching_groups = {
        factors: names for factors, names in groups.items() if all(_has_term(build_layout(factors), t) for t in request.terms)
    }
    if not matching_groups:
        for term in request.terms:
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


def _build_scenarios(config: "Study", design: PowerDesign, request: PowerRequest) -> "Iterator[PowerScenario]":
    """Yield what is to be simulated: of each response the families of models, of these the terms, under each set of assumptions."""
    from gardenpath.analysis.modelling import power
    from gardenpath.study import DataError

    unknown = [response for response in request.responses if response not in design.items]
    if unknown:
        available = ", ".join(design.items) or "none"
        raise DataError(f"--response {unknown[0]}: targets have no such response; expected one of {available}")
    responses = request.responses or _list_responses_with_effects(config, design, request)[:1]
    if not responses:
        key = next(iter(design.items), "log_rt")
        raise DataError(_explain_missing_effect(config, key, key))
    for response in responses:
        main_assumptions, *other_assumptions = _get_assumptions(config, design, request, response)
        effects = {
            term: _get_effect(config, design, request, response, term, main_assumptions)
            for term in request.terms or design.layout.terms
        }
        stated_effects = {term: effect for term, effect in effects.items() if effect is not None}
        if missing := [term for term in request.terms if term not in stated_effects] or ([] if stated_effects else [response]):
            raise DataError(_explain_missing_effect(config, response, missing[0]))
        for family in power.families_of(response, main_assumptions):
            if family == power.ORDINAL and config.analysis.ordinal is False:
                continue
            if family == power.ORDINAL and request.slopes is None:
                options.print_notice(
                    "ordinal models are fitted without slopes, which are there in what is simulated: their p is optimistic"
                )
            for term, effect in stated_effects.items():
                for assumptions in (main_assumptions, *other_assumptions):
                    yield power.build_scenario(
                        effect,
                        term=term,
                        response=response,
                        factors=design.layout.factors,
                        ratio=design.layout.ratio,
                        between=design.layout.between,
                        assumptions=assumptions,
                        family=family,
                        slopes=request.slopes,
                        engine=config.analysis.engine,
                    )


def _explain_missing_effect(config: "Study", response: str, subject: str) -> str:
    from gardenpath.study.responses import RESPONSES, list_simulated_as

    key = list_simulated_as(response)[0]
    example = RESPONSES[key].sesoi_example
    return (
        f"{config.path}: analysis.sesoi has no {key}, and [simulate] no effect of {subject}; expected the smallest effect of "
        f"interest, such as sesoi = {{ {key} = {example:g} }}: power for the effect that was observed says nothing"
    )


def _list_responses_with_effects(config: "Study", design: PowerDesign, request: PowerRequest) -> list[str]:
    """Return the responses of which an effect is stated."""
    from gardenpath.analysis.modelling.simulated_trials import standard

    terms = request.terms or design.layout.terms
    return [
        response
        for response in design.items
        if any(_get_effect(config, design, request, response, term, standard(response)) is not None for term in terms)
    ]


def _get_effect(
    config: "Study", design: PowerDesign, request: PowerRequest, response: str, term: str, assumptions: "Assumptions"
) -> float | Mapping[str, float] | None:
    """Return the smallest effect of interest of a term, or where none is stated all effects of [simulate], if it is among them.

    With --effects these are the ones.
    """
    from gardenpath.analysis.modelling import power
    from gardenpath.study.config import find_sesoi
    from gardenpath.study.responses import list_simulated_as

    for key in list_simulated_as(response) if request.effects is None else ():
        size = find_sesoi(config.analysis.sesoi, key, term)
        if size is not None:
            return round(size * assumptions.unit(key), 6)
    stated_effects = config.simulate if request.effects is None else request.effects
    sizes = {name: _get_simulated_effect(effect, response, request.region) for name, effect in stated_effects.items()}
    sizes = {name: size for name, size in sizes.items() if size and _has_term(design.layout, name)}
    if not sizes:
        return None
    scenario = power.build_scenario(
        sizes, term=term, response=response, factors=design.layout.factors, between=design.layout.between
    )
    return sizes if scenario.build_row_key(24, 24, 1)["effect"] else None


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


def _build_notes(config: "Study", design: PowerDesign, scenarios: "Sequence[PowerScenario]") -> dict[str, Any]:
    """Return what the sidecar says of the table: how trials are dealt, and what is assumed of each response."""
    return {
        "engine": config.analysis.engine,
        "factors": {name: list(levels) for name, levels in design.layout.factors.items()},
        "ratio": dict(design.layout.ratio),
        "between": list(design.layout.between),
        "assumed": {
            f"{scenario.response}, {scenario.assumptions.name}": _serialise_assumptions(scenario.assumptions)
            for scenario in scenarios
        },
        "simulated": True,
    }


def _serialise_assumptions(assumptions: "Assumptions") -> dict[str, Any]:
    """Return the assumptions as a sidecar gives them back."""
    serialised: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(assumptions)))
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
