"""gardenpath design: deal the materials of a study to counterbalanced versions."""

from collections import Counter
from pathlib import Path

import click

from . import options


@click.command("design")
@options.study_file
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the versions [default: versions/ beside STUDY.toml].",
)
@options.force
def command(study_file: Path, out: Path | None, force: bool) -> None:
    """Deal the materials of STUDY.toml to counterbalanced versions, one JSON file each."""
    from gardenpath import experiment, study

    stated = study.load(study_file)
    files = experiment.version_files(stated)
    folder = out or stated.folder / "versions"
    study.refuse_overwrite([folder / f"{file.name}.json" for file in files], force)
    for file in files:
        path = file.write(folder)
        study.write_sidecar(path, command=options.typed(), inputs=[study_file, *stated.paths()], seed=stated.seed)
        trials = [trial for trial in file.version.trials if trial.role != "practice"]
        shown = Counter(condition for trial in trials for condition, _ in trial.shown)
        each = Counter((trial.item.paradigm, condition) for trial in trials for condition, _ in trial.shown)
        per_paradigm = {tuple(each[p, c] for c in sorted(shown)) for p, _ in each}
        click.echo(
            f"{path}: {len(trials)} sentences, "
            + ", ".join(f"{shown[name]} {name}" for name in sorted(shown))
            + "; a paradigm "
            + " or ".join(":".join(map(str, counts)) for counts in sorted(per_paradigm))
        )
    options.talk(
        f"{len(files)} versions; each session's order is drawn from seed {stated.seed}, its version and its place"
    )
