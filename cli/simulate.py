"""gardenpath simulate: sessions of simulated participants with known effects; power over participants and items."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options, simulation_parameters

if TYPE_CHECKING:
    from gardenpath.study.executors import LocalExecutor, RayExecutor


def list_simulated_responses() -> tuple[str, ...]:
    """Return the responses that simulated studies have."""
    from gardenpath.study.responses import SIMULATED_RESPONSES

    return SIMULATED_RESPONSES


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
@click.option(
    "--surprisal",
    metavar="SCORES",
    type=click.Path(path_type=Path),
    help="Folder with the table surprisal, from score: words are read slower by it, by --ms-per-bit.",
)
@click.option(
    "--ms-per-bit",
    type=click.FloatRange(min=0),
    multiple=True,
    metavar="MS",
    help="With --surprisal: ms for each bit of the word read; given again, of the word before it (spillover), and so on.",
)
@click.option("--model", "scored_by", metavar="MODEL", help="With --surprisal: whose, where the table has several models.")
@click.option("--protocol", metavar="P", help="With --surprisal: which, where the table has several protocols.")
@click.option("--power", is_flag=True, help="How often the smallest effects of interest would be found, as the table power.")
@click.option(
    "--response",
    "responses",
    type=options.LazyChoice(list_simulated_responses),
    multiple=True,
    help="With --power: reading times, ratings, answers to questions, choices.  [default: the first with an effect]",
)
@click.option(
    "--term",
    "terms",
    metavar="TERM",
    multiple=True,
    help="With --power: a coefficient, a or a:b, or the simple effect a@level.  [default: all with an effect]",
)
@click.option(
    "--items",
    type=click.IntRange(min=2),
    multiple=True,
    help="With --power: items that a participant sees in one model; several times for several numbers.  "
    "[default: the fewest and the most that the study shows]",
)
@click.option(
    "--slopes",
    type=click.Choice(["tested", "maximal", "none"]),
    help="With --power: random slopes that are fitted.  [default: of the tested term; of ordinal models none]",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=1),
    help="With --power: studies a number.  [default: 1000; of ordinal and binomial models 200]",
)
@click.option(
    "--pilot",
    metavar="TABLES",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --power: tables of a pilot, from which the spreads are estimated.  [default: published ones]",
)
@click.option("--region", default="critical", show_default=True, help="With --power: region of reading times.")
@click.option("--paradigm", help="With --power: a paradigm, where several have different factors.")
@options.seed
@options.add_executor_options
@options.output_path
@options.force
def command(
    study_file: Path,
    participants: tuple[int, ...],
    effects_file: Path | None,
    surprisal: Path | None,
    ms_per_bit: tuple[float, ...],
    scored_by: str | None,
    protocol: str | None,
    power: bool,
    responses: tuple[str, ...],
    terms: tuple[str, ...],
    items: tuple[int, ...],
    slopes: str | None,
    simulations: int | None,
    pilot: Path | None,
    region: str,
    paradigm: str | None,
    seed: int | None,
    workers: "LocalExecutor | RayExecutor | None",
    out: Path,
    force: bool,
) -> None:
    """Write sessions of simulated participants with known effects to the folder given by -o.

    The effects of a study's own factors are those of [simulate] in STUDY.toml; without it, ungrammatical sentences are read
    slower and rated lower, and other conditions are alike. With --surprisal, every word takes longer by the language model's
    surprisal too; the sidecar sessions.meta.json says which effects are true, and so does the report.

    With --power, write instead how often coefficients of the study's own models would be found at .05, for each number of
    participants and items: table power and its figure. Their sizes are those of analysis.sesoi, or of [simulate]. Numbers
    that the table has from an earlier call are not simulated again, so a call that was cut short goes on, and a curve can be
    made longer.
    """
    from gardenpath import experiment, study
    from gardenpath.experiment.simulation.surprisal_effects import select_model_rows

    config = study.load(study_file)
    stated_effects = study.load_effects(effects_file) if effects_file else None
    if (surprisal is None) != (not ms_per_bit):
        raise click.UsageError("--surprisal SCORES and --ms-per-bit MS belong together: whose bits, and what one costs")
    if (scored_by or protocol) and surprisal is None:
        raise click.UsageError("--model and --protocol choose a surprisal: give --surprisal SCORES too")
    if power and surprisal is not None:
        raise click.UsageError("--surprisal belongs to simulated sessions, not to --power")
    if power:
        from . import power_simulation as powers

        seed = config.seed if seed is None else seed
        options.print_notice(f"--seed {seed}")
        sizes = participants or powers.DEFAULT_PARTICIPANT_COUNTS
        request = powers.PowerRequest(
            sizes, items, responses, terms, paradigm, region, slopes, simulations, stated_effects, pilot, seed, workers
        )
        powers.simulate_power(config, request, out, force, [path for path in (study_file, effects_file) if path is not None])
        return
    if len(participants) != 1 or items:
        raise click.UsageError("name --participants once, or give --power for several numbers of participants and items")
    list_files = experiment.build_list_files(config)
    study.files.refuse_overwrite([out], force)
    effects = experiment.Effects(terms=config.simulate if stated_effects is None else stated_effects, ms_per_bit=ms_per_bit)
    scores = None if surprisal is None else select_model_rows(study.read(surprisal, "surprisal"), scored_by, protocol)
    if not effects.terms and not all(one.is_minimal_pair() for one in list_files[0].paradigms):
        options.print_notice("no effects of the study's factors are stated ([simulate]): robots treat all conditions equally")
    if seed is None:
        seed = secrets.randbelow(2**31)
        options.print_notice(f"--seed {seed}")
    [number] = participants
    with options.show_progress("simulating", number) as progress:
        sessions = experiment.simulate(
            list_files,
            out,
            participants=number,
            seed=seed,
            sessions=config.online.max_sessions if config.online else 1,
            effects=effects,
            surprisal=scores,
            replace=force,
            progress=progress,
            workers=workers,
        )
    score_file = None if surprisal is None else study.table_files.find_table_file(surprisal, "surprisal")
    inputs = [path for path in (study_file, effects_file, score_file) if path is not None]
    simulation_parameters.write_parameters(out, effects, scores, participants=number, inputs=inputs, seed=seed)
    short_list_count = sum(len(file.trial_list.short_lists) for file in list_files)
    each = config.online.max_sessions if config.online else 1
    if short_list_count and sessions < number * each:
        options.print_notice(
            f"fewer than {options.format_count(number, 'participant')} x {options.format_count(each, 'session')}: "
            + (
                f"each of the {short_list_count} short lists has one participant (see design.short_lists.ratings_per_item)"
                if sessions == short_list_count
                else "somebody takes no short list with an item or pair of one they have had (online.max_sessions)"
            )
        )
    participant_text = f" of {options.format_count(min(number, short_list_count), 'participant')}" if short_list_count else ""
    click.echo(f"{out}: {sessions} simulated sessions{participant_text}")
