"""gardenpath simulate: sessions of simulated participants with known effects."""

import secrets
from pathlib import Path

import click

from . import options


@click.command("simulate")
@options.study_file
@click.option("--participants", type=click.IntRange(min=1), required=True, help="How many simulated participants.")
@options.seed
@options.out
@options.force
def command(study_file: Path, participants: int, seed: int | None, out: Path, force: bool) -> None:
    """Write sessions of simulated participants with known effects to the folder given by -o."""
    from gardenpath import experiment, study

    versions = experiment.version_files(study.load(study_file))
    study.refuse_overwrite([out], force)
    if seed is None:
        seed = secrets.randbelow(2**31)
        options.talk(f"--seed {seed}")
    with options.progress("simulating", participants) as progress:
        experiment.simulate(versions, out, participants=participants, seed=seed, replace=force, progress=progress)
    notes = {"participants": participants, "effects": vars(experiment.Effects()), "simulated": True}
    study.write_sidecar(out / "sessions", command=options.typed(), inputs=[study_file], seed=seed, notes=notes)
    click.echo(f"{out}: {participants} simulated sessions")
