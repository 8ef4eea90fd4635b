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
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="For the readers of each sentence.",
)
@options.force
def command(study_file: Path, out: Path | None, participants: int, force: bool) -> None:
    """Deal the materials of STUDY.toml to counterbalanced versions, one JSON file each.

    Beside them stand the tables design_balance (trials of each paradigm and condition in each version) and exposures
    (versions and readers of each sentence).
    """
    from gardenpath import experiment, stimuli, study

    stated = study.load(study_file)
    files = experiment.version_files(stated)
    folder = out or stated.folder / "versions"
    names = [*(f"{file.name}.json" for file in files), "design_balance.csv", "exposures.csv"]
    study.refuse_overwrite([folder / name for name in names], force)
    for file in files:
        path = file.write(folder)
        study.write_sidecar(path, command=options.typed(), inputs=[study_file, *stated.paths()], seed=stated.seed)
        trials = [trial for trial in file.version.trials if trial.role != "practice"]
        shown = Counter(condition for trial in trials for condition, _ in trial.shown)
        each = Counter((trial.item.paradigm, condition) for trial in trials for condition, _ in trial.shown)
        per_paradigm = {tuple(each[p, c] for c in sorted(shown) if each[p, c]) for p, _ in each}
        click.echo(
            f"{path}: {len(trials)} sentences, "
            + ", ".join(f"{shown[name]} {name}" for name in sorted(shown))
            + "; a paradigm "
            + " or ".join(":".join(map(str, counts)) for counts in sorted(per_paradigm))
        )
    dealt = [file.version for file in files]
    readers = stimuli.exposures(dealt, participants)
    for name, table in (("design_balance", stimuli.balance_of(dealt)), ("exposures", readers)):
        study.write(
            table, name, folder, command=options.typed(), inputs=[study_file, *stated.paths()], seed=stated.seed
        )
    for condition, counts in readers.groupby("condition")["readers"]:
        span = " to ".join(str(n) for n in sorted({counts.min(), counts.max()}))
        options.talk(f"at {participants} participants, a sentence in condition {condition} has {span} readers")
    options.talk(
        f"{len(files)} versions; each session's order is drawn from seed {stated.seed}, its version and its place"
    )
