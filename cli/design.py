"""gardenpath design: deal the materials of a study to counterbalanced versions."""

from collections import Counter
from pathlib import Path

import click

from . import options


@click.command("design")
@options.study_file
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder for the versions [default: versions/ beside STUDY.toml].")
@options.force
def command(study_file: Path, out: Path | None, force: bool) -> None:
    """Deal the materials of STUDY.toml to counterbalanced versions, one JSON file each."""
    from gardenpath import experiment, stimuli, study

    stated = study.load(study_file)
    versions = stimuli.design(stated)
    folder = out or stated.folder / "versions"
    study.refuse_overwrite([experiment.version_path(folder, version) for version in versions], force)
    for version in versions:
        path = experiment.write_version(folder, version, experiment.procedure(stated))
        study.write_sidecar(path, command=options.typed(), inputs=[*stated.paths()], seed=stated.seed)
        shown = Counter(condition for trial in version.trials if trial.role != "practice" for condition, _ in trial.shown)
        click.echo(f"{path}\t" + "\t".join(f"{count} {condition}" for condition, count in shown.items()))
    options.talk(f"{len(versions)} versions; each session's order is drawn from seed {stated.seed}, its version and its place")
