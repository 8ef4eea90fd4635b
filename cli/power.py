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
from .analyse import NEEDED, OPTIONAL, read_tables

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.analysis.modelling.power import Plan
    from gardenpath.analysis.modelling.simulated_trials import Assumptions, Layout
    from gardenpath.experiment import VersionFile
    from gardenpath.study import EffectSection, Study
    from gardenpath.study.engines import Local, Ray

TABLE = "power"
SIZES = (12, 24, 48, 96)  # participants, where none are named
# In which units the smallest effect of interest of a response may be stated.
SMALLEST = {"log_rt": ("log_rt",), "rating": ("z", "rating"), "correct": ("correct",), "chosen": ("chosen",)}


@dataclass(frozen=True)
class Asked:
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
    workers: "Local | Ray | None" = None


@dataclass(frozen=True)
class Design:
    """Paradigms of the same factors, and for each response that is measured of them the items a participant sees in a model."""

    layout: "Layout"
    paradigms: tuple[str, ...]
    items: Mapping[str, set[int]]
    points: int  # of ratings


def run(study_plan: "Study", asked: Asked, out: Path, force: bool, inputs: Sequence[Path]) -> None:
    """Simulate, writing the table after each cell, then draw the figure and say what came out."""
    from gardenpath import study
    from gardenpath.analysis.reporting.figures import effect_figures, figure_style
    from gardenpath.analysis.reporting.wording import effects

    design = _design(study_plan, asked)
    plans = list(_plans(study_plan, design, asked))
    notes = _notes(study_plan, design, plans)
    table, assumed = (None, {}) if force else _earlier(out, asked.seed, notes)
    notes["assumed"] = {**assumed, **notes["assumed"]}

    def write(table: "pd.DataFrame") -> None:
        study.write(table, TABLE, out, command=options.typed(), inputs=inputs, seed=asked.seed, notes=notes)

    asked_for = []
    for plan in plans:
        rows, table = _simulated(plan, design, asked, table, write)
        asked_for.append(rows)
    if table is None:
        return
    write(table)
    figure_style.save(effect_figures.power_figure(table), TABLE, out / "figures")
    options.talk(f"{out / TABLE}.csv: {options.count(len(table), 'row')}, with its figure in {out / 'figures'}")
    for rows in asked_for:
        for sentence in effects.planned(rows):
            click.echo(sentence)


def _simulated(
    plan: "Plan", design: Design, asked: Asked, known: "pd.DataFrame | None", write: "Callable[[pd.DataFrame], None]"
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """Return the rows of one plan, and the table with them; what takes long says how long before it begins."""
    import pandas as pd

    from gardenpath import study
    from gardenpath.analysis.modelling import power
    from gardenpath.analysis.modelling.simulated_trials import LOG_RT, MAXIMAL

    runs = asked.runs or power.RUNS[plan.family]
    participants, items = sorted(set(asked.participants)), sorted(set(asked.items or design.items[plan.response]))
    sizes = [(people, sentences) for people in participants for sentences in items]
    missing = [size for size in sizes if power.looked_up(known, plan.place(*size, runs)).empty]
    name = f"{plan.response}, {plan.family} model, {plan.tested.name}, {plan.assumptions.name}"
    try:
        if missing and (plan.response != LOG_RT or plan.slopes == MAXIMAL):
            alone = power.seconds(plan, missing, runs, asked.seed)
            lasting = options.lasting(alone / ((asked.workers.workers if asked.workers else None) or 1))
            options.talk(
                f"{name}: {options.count(len(missing), 'size')} of {runs} studies, about {lasting}; what is done is kept"
            )
        with options.progress(name, len(sizes) * runs) as progress:
            table = power.curve(
                plan,
                participants,
                items,
                runs,
                asked.seed,
                known=known,
                progress=progress,
                each=lambda table: write(_merged(known, table)),
                workers=asked.workers,
            )
    except study.MissingExtra as absent:
        options.talk(f"{name}: left out, since {absent}")
        return study.check(pd.DataFrame(columns=study.TABLES[TABLE].names), TABLE), known
    return table, _merged(known, table)


def _merged(known: "pd.DataFrame | None", table: "pd.DataFrame") -> "pd.DataFrame":
    """Return earlier rows and new ones in one order; of a size that was simulated with other runs the new one."""
    import pandas as pd

    from gardenpath.study import TABLES

    key = list(TABLES[TABLE].key)
    rows = table if known is None else pd.concat([known, table], ignore_index=True).drop_duplicates(key, keep="last")
    by = ["response", "family", "slopes", "assumptions", "term", "effect", "n_items", "participants"]
    return rows.sort_values(by, kind="stable", ignore_index=True)


def _design(plan: "Study", asked: Asked) -> Design:
    """Return the design whose power is asked for: the study's one, or that of the named paradigm or terms."""
    from gardenpath import experiment
    from gardenpath.analysis.modelling.simulated_trials import CHOSEN, Layout
    from gardenpath.study import DataError

    if plan.design.lists is not None:
        raise DataError(f"{plan.path}: --power knows versions, not design.lists; expected versions = N to simulate")
    files = experiment.version_files(plan)
    paradigms = {one.id: one for file in files for one in file.paradigms}
    shown = {trial.item.paradigm for file in files for trial in file.version.trials if trial.role == "target"}
    groups: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
    for name in sorted(shown):
        groups.setdefault(tuple(paradigms[name].factors.items()), []).append(name)
    if asked.paradigm is not None:
        groups = {factors: names for factors, names in groups.items() if asked.paradigm in names}
        if not groups:
            raise DataError(
                f"--paradigm {asked.paradigm}: there is no such paradigm; there are {', '.join(sorted(shown))}"
            )
    measured = {
        response: _shown(plan, files, set().union(*groups.values()), response) for response in responses_of(plan)
    }
    choice = CHOSEN in measured

    def layout(factors: tuple[tuple[str, tuple[str, ...]], ...]) -> Layout:
        between = [name for name, _ in factors if name in plan.design.between_participants]
        return Layout(dict(factors), plan.design.ratio, between, choice=choice)

    fitting = {
        factors: names for factors, names in groups.items() if all(_has(layout(factors), t) for t in asked.terms)
    }
    if not fitting:
        for term in asked.terms:
            layout(next(iter(groups))).test(term)
    if len(fitting) != 1:
        listed = "; ".join(
            f"{', '.join(names)} ({', '.join(n for n, _ in factors)})" for factors, names in groups.items()
        )
        raise DataError(f"the paradigms have different factors: {listed}; name one of them with --paradigm")
    [(factors, names)] = fitting.items()
    items = {response: _shown(plan, files, set(names), response) for response in measured}
    return Design(
        layout(factors), tuple(names), {response: sizes for response, sizes in items.items() if sizes}, _points(plan)
    )


def _has(layout: "Layout", term: str) -> bool:
    from gardenpath.study import DataError

    try:
        layout.test(term)
    except DataError:
        return False
    return True


def responses_of(plan: "Study") -> list[str]:
    """Return the responses that the study's targets give."""
    from gardenpath.analysis.modelling.simulated_trials import RESPONSES
    from gardenpath.experiment.tasks import tasks_of

    tasks = tasks_of(plan)
    given = tasks.giving([tasks.shows["target"], *tasks.asks["target"]])
    return [response for response in RESPONSES if response in given]


def _shown(plan: "Study", files: "Sequence[VersionFile]", paradigms: set[str], response: str) -> set[int]:
    """Return the smallest and the largest number of items with this response that a participant sees in one model: those of a
    phenomenon of minimal pairs, of a paradigm with factors of its own.
    """
    from gardenpath.experiment.tasks import tasks_of

    tasks = tasks_of(plan)
    numbers = set()
    for file in files:
        unit = {one.id: one.phenomenon if one.is_minimal_pair() else one.id for one in file.paradigms}
        seen = Counter(
            unit[trial.item.paradigm]
            for trial in file.version.trials
            if trial.role == "target" and trial.item.paradigm in paradigms
            if response in tasks.giving([tasks.shows["target"], *trial.prompts])
        )
        numbers |= set(seen.values())
    return {min(numbers), max(numbers)} if numbers else set()


def _points(plan: "Study") -> int:
    """Return how many numbers the first rating of targets has."""
    from gardenpath.analysis.modelling.simulated_trials import POINTS
    from gardenpath.experiment.tasks import tasks_of

    tasks = tasks_of(plan)
    ratings = [tasks.settings[name] for name in tasks.asks["target"] if tasks.settings[name].kind == "rating"]
    return len(ratings[0].range) if ratings else POINTS


def _plans(study_plan: "Study", design: Design, asked: Asked) -> "Iterator[Plan]":
    """Yield what is to be simulated: of each response the families of models, of these the terms, under each set of assumptions."""
    from gardenpath.analysis.modelling import power
    from gardenpath.study import DataError

    unknown = [response for response in asked.responses if response not in design.items]
    if unknown:
        there = ", ".join(design.items) or "none"
        raise DataError(f"--response {unknown[0]}: targets have no such response; expected one of {there}")
    responses = asked.responses or _with_effects(study_plan, design, asked)[:1]
    if not responses:
        key = next(iter(design.items), "log_rt")
        raise DataError(_unstated(study_plan, key, key))
    for response in responses:
        likely, *others = _assumptions(study_plan, design, asked, response)
        effects = {
            term: _effect(study_plan, design, asked, response, term, likely)
            for term in asked.terms or design.layout.terms
        }
        wanted = {term: effect for term, effect in effects.items() if effect is not None}
        if absent := [term for term in asked.terms if term not in wanted] or ([] if wanted else [response]):
            raise DataError(_unstated(study_plan, response, absent[0]))
        for family in power.families_of(response, likely):
            if family == power.ORDINAL and study_plan.analysis.ordinal is False:
                continue
            if family == power.ORDINAL and asked.slopes is None:
                options.talk(
                    "ordinal models are fitted without slopes, which are there in what is simulated: their p is optimistic"
                )
            for term, effect in wanted.items():
                for assumed in (likely, *others):
                    yield power.planned(
                        effect,
                        term=term,
                        response=response,
                        factors=design.layout.factors,
                        ratio=design.layout.ratio,
                        between=design.layout.between,
                        assumptions=assumed,
                        family=family,
                        slopes=asked.slopes,
                        engine=study_plan.analysis.engine,
                    )


def _unstated(plan: "Study", response: str, what: str) -> str:
    key, example = {"rating": ("z", 0.3), "correct": ("correct", 0.5), "chosen": ("chosen", 0.5)}.get(
        response, ("log_rt", 0.03)
    )
    return (
        f"{plan.path}: analysis.smallest has no {key}, and [simulate] no effect of {what}; expected the smallest effect of "
        f"interest, such as smallest = {{ {key} = {example:g} }}: power for the effect that was observed says nothing"
    )


def _with_effects(plan: "Study", design: Design, asked: Asked) -> list[str]:
    """Return the responses of which an effect is stated."""
    from gardenpath.analysis.modelling.simulated_trials import standard

    terms = asked.terms or design.layout.terms
    return [
        response
        for response in design.items
        if any(_effect(plan, design, asked, response, term, standard(response)) is not None for term in terms)
    ]


def _effect(
    plan: "Study", design: Design, asked: Asked, response: str, term: str, assumed: "Assumptions"
) -> float | Mapping[str, float] | None:
    """Return the smallest effect of interest of a term, or where none is stated all effects of [simulate], if it is among them.

    With --effects these are the ones.
    """
    from gardenpath.analysis.modelling import power
    from gardenpath.study.config import smallest_effect

    for key in SMALLEST[response] if asked.effects is None else ():
        size = smallest_effect(plan.analysis.smallest, key, term)
        if size is not None:
            return round(size * assumed.unit(key), 6)
    stated = plan.simulate if asked.effects is None else asked.effects
    sizes = {name: _stated(effect, response, asked.region) for name, effect in stated.items()}
    sizes = {name: size for name, size in sizes.items() if size and _has(design.layout, name)}
    if not sizes:
        return None
    planned = power.planned(
        sizes, term=term, response=response, factors=design.layout.factors, between=design.layout.between
    )
    return sizes if planned.place(24, 24, 1)["effect"] else None


def _stated(effect: "EffectSection", response: str, region: str) -> float:
    """Return what [simulate] says of a response: of choices by the difference of two ratings, each with a residual of its own."""
    from scipy.stats import norm

    if response == "log_rt":
        return effect.log_rt.get(region, 0.0)
    if response == "chosen":
        share = float(norm.cdf(effect.rating / math.sqrt(2)))
        return math.log(share / (1 - share))
    return effect.rating if response == "rating" else effect.accuracy


def _assumptions(plan: "Study", design: Design, asked: Asked, response: str) -> "list[Assumptions]":
    """Return the default assumptions; with a pilot what it estimates, and the upper limits of that."""
    from gardenpath.analysis.modelling import pilot
    from gardenpath.analysis.modelling.simulated_trials import SOURCES, standard

    if asked.pilot is None:
        options.talk(f"spreads of {response}: {SOURCES[response]}; of a pilot with --from")
        return [standard(response, design.points)]
    tables, _ = read_tables(dict.fromkeys(NEEDED, asked.pilot), dict.fromkeys(OPTIONAL, asked.pilot))
    found = pilot.pilot(
        tables, design.layout, design.paradigms, response=response, region=asked.region, settings=plan.analysis
    )
    of = f"{options.count(found.participants, 'participant')}, {options.count(found.items, 'item')}"
    options.talk(f"spreads of {response}: from {asked.pilot} ({of}), and their upper 80 % limits")
    for note in found.notes:
        options.talk(note)
    return [found.estimated, found.upper]


def _notes(plan: "Study", design: Design, plans: "Sequence[Plan]") -> dict[str, Any]:
    """Return what the sidecar says of the table: how trials are dealt, and what is assumed of each response."""
    return {
        "engine": plan.analysis.engine,
        "factors": {name: list(levels) for name, levels in design.layout.factors.items()},
        "ratio": dict(design.layout.ratio),
        "between": list(design.layout.between),
        "assumed": {f"{one.response}, {one.assumptions.name}": _plain(one.assumptions) for one in plans},
        "simulated": True,
    }


def _plain(assumed: "Assumptions") -> dict[str, Any]:
    """Return the assumptions as a sidecar gives them back."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(assumed)))
    return plain


def _earlier(out: Path, seed: int, notes: Mapping[str, Any]) -> "tuple[pd.DataFrame | None, dict[str, Any]]":
    """Return the table of an earlier call, and what it assumed; one with another seed or other assumptions is not overwritten."""
    from gardenpath import study

    path = out / f"{TABLE}.csv"
    if not path.exists():
        return None, {}
    beside = path.with_name(f"{path.name}.meta.json")
    sidecar = json.loads(beside.read_text("utf-8")) if beside.exists() else {}
    assumed = sidecar.get("assumed", {})
    same = all(sidecar.get(name) == value for name, value in notes.items() if name != "assumed")
    agree = all(assumed[name] == value for name, value in notes["assumed"].items() if name in assumed)
    if sidecar.get("seed") != seed or not same or not agree:
        study.files.refuse_overwrite([path], False)
    return study.read(out, TABLE), assumed
