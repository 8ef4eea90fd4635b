"""gardenpath simulate: sessions of simulated participants with known effects; power over participants and items."""

import dataclasses
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import Study

TABLE = "power"
SIZES = (12, 24, 48, 96)  # participants, where none are named


@click.command("simulate")
@options.study_file
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    multiple=True,
    help="How many simulated participants; with --power, several times for several numbers.  [with --power: 12, 24, 48, 96]",
)
@click.option(
    "--effects",
    "effects_file",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="Effects of the study's factors, a table [simulate] as in STUDY.toml  [default: those of STUDY.toml].",
)
@click.option("--power", is_flag=True, help="How often analysis.smallest.log_rt would be found, as the table power.")
@click.option(
    "--items",
    type=click.IntRange(min=2),
    multiple=True,
    help="With --power: items that a participant sees in one model; several times for several numbers.  "
    "[default: those of the study's smallest and largest phenomenon]",
)
@click.option(
    "--runs", type=click.IntRange(min=1), default=200, show_default=True, help="With --power: studies a number."
)
@options.seed
@options.out
@options.force
def command(
    study_file: Path,
    participants: tuple[int, ...],
    effects_file: Path | None,
    power: bool,
    items: tuple[int, ...],
    runs: int,
    seed: int | None,
    out: Path,
    force: bool,
) -> None:
    """Write sessions of simulated participants with known effects to the folder given by -o.

    The effects of a study's own factors are those of [simulate] in STUDY.toml; without it, ungrammatical sentences are read
    slower and rated lower, and other conditions are alike.

    With --power, write instead how often the smallest effect of interest would be found at .05, for each number of
    participants and items: table power and its figure. Numbers that the table has from an earlier call are not simulated
    again, so a call that was cut short goes on, and a curve can be made longer.
    """
    from gardenpath import experiment, study

    plan = study.load(study_file)
    if power and effects_file is not None:
        raise click.UsageError("--effects belongs to simulated sessions; --power takes analysis.smallest.log_rt")
    if power:
        _power(plan, participants or SIZES, items, runs, seed, out, force)
        return
    if len(participants) != 1 or items:
        raise click.UsageError(
            "name --participants once, or give --power for several numbers of participants and items"
        )
    versions = experiment.version_files(plan)
    study.files.refuse_overwrite([out], force)
    effects = experiment.Effects(terms=study.load_effects(effects_file) if effects_file else plan.simulate)
    if not effects.terms and not all(one.is_minimal_pair() for one in versions[0].paradigms):
        options.talk("no effects of the study's factors are stated ([simulate]): robots take their conditions alike")
    if seed is None:
        seed = secrets.randbelow(2**31)
        options.talk(f"--seed {seed}")
    [number] = participants
    with options.progress("simulating", number) as progress:
        experiment.simulate(
            versions, out, participants=number, seed=seed, effects=effects, replace=force, progress=progress
        )
    notes = {"participants": number, "effects": dataclasses.asdict(effects), "simulated": True}
    inputs = [path for path in (study_file, effects_file) if path is not None]
    study.files.write_sidecar(out / "sessions", command=options.typed(), inputs=inputs, seed=seed, notes=notes)
    click.echo(f"{out}: {number} simulated sessions")


def _power(
    plan: "Study",
    participants: tuple[int, ...],
    items: tuple[int, ...],
    runs: int,
    seed: int | None,
    out: Path,
    force: bool,
) -> None:
    from gardenpath import analysis, study
    from gardenpath.analysis.modelling.grammaticality import CORRELATED, PLAIN, TERM
    from gardenpath.analysis.reporting.figures import effect_figures, figure_style
    from gardenpath.analysis.reporting.wording import effects
    from gardenpath.study.config import smallest_effect

    section = plan.analysis
    effect = smallest_effect(section.smallest, "log_rt", TERM)
    if effect is None:
        raise study.DataError(
            f"{plan.path}: analysis.smallest has no log_rt; expected the smallest effect of interest, such as "
            "smallest = { log_rt = 0.03 }: power for the effect that was observed says nothing"
        )
    ratio = plan.design.ratio  # equal where none is stated
    shares = (ratio.get("grammatical", 1), ratio.get("ungrammatical", 1))
    spread = analysis.Spread()
    notes = {"spread": vars(spread), "ratio": list(shares), "engine": section.engine, "simulated": True}
    seed = plan.seed if seed is None else seed
    options.talk(f"--seed {seed}")
    known = None if force else _earlier(out, seed, notes)

    def write(table: "pd.DataFrame") -> None:
        study.write(table, TABLE, out, command=options.typed(), inputs=[plan.path], seed=seed, notes=notes)

    sizes = sorted(set(participants)), sorted(set(items or _shown(plan)))
    with options.progress("simulating", len(sizes[0]) * len(sizes[1]) * runs) as progress:
        table = analysis.power_curve(
            effect,
            participants=sizes[0],
            items=sizes[1],
            ratio=shares,
            spread=spread,
            random=PLAIN if section.policy == "declared" else CORRELATED,
            runs=runs,
            seed=seed,
            engine=section.engine,
            known=known,
            progress=progress,
            each=write,
        )
    figure_style.save(effect_figures.power_figure(table), TABLE, out / "figures")
    options.talk(f"{out / TABLE}.csv: {len(table)} rows, with its figure in {out / 'figures'}")
    for sentence in effects.planned(table):
        click.echo(sentence)


def _earlier(out: Path, seed: int, notes: dict[str, object]) -> "pd.DataFrame | None":
    """Return the table of an earlier call with the same seed and assumptions; with others it is not overwritten."""
    import json

    from gardenpath import study

    path = out / f"{TABLE}.csv"
    if not path.exists():
        return None
    beside = path.with_name(f"{path.name}.meta.json")
    sidecar = json.loads(beside.read_text("utf-8")) if beside.exists() else {}
    if sidecar.get("seed") != seed or any(
        sidecar.get("notes", sidecar).get(name) != value for name, value in notes.items()
    ):
        study.files.refuse_overwrite([path], False)
    return study.read(out, TABLE)


def _shown(plan: "Study") -> set[int]:
    """Return the smallest and the largest number of target items that a participant sees of a phenomenon."""
    from collections import Counter

    from gardenpath import experiment

    numbers = set()
    for file in experiment.version_files(plan):
        of = {paradigm.id: paradigm.phenomenon for paradigm in file.paradigms}
        seen = Counter(of[trial.item.paradigm] for trial in file.version.trials if trial.role == "target")
        numbers |= set(seen.values())
    return {min(numbers), max(numbers)}
