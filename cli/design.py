"""gardenpath design: deal the materials of a study to counterbalanced versions."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli import Version


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

    Beside them stand the tables design_balance (trials of each paradigm and condition in each version), exposures
    (versions and readers of each sentence) and, where questions are asked, design_questions.
    """
    from gardenpath import experiment, stimuli, study
    from gardenpath.experiment import line_breaks

    stated = study.load(study_file)
    files = experiment.version_files(stated)
    folder = out or stated.folder / "versions"
    dealt = [file.version for file in files]
    names = {
        screen.name
        for file in files
        for step in file.script.trials
        for screen in step.screens
        if screen.task == "question"
    }
    questions = stimuli.questions_of(dealt, names)
    tables = {"design_balance": stimuli.balance_of(dealt), "exposures": stimuli.exposures(dealt, participants)}
    if len(questions):
        tables["design_questions"] = questions
    study.refuse_overwrite(
        [folder / name for name in [*(f"{f.name}.json" for f in files), *map("{}.csv".format, tables)]], force
    )
    for file in files:
        path = file.write(folder)
        study.write_sidecar(path, command=options.typed(), inputs=[study_file, *stated.paths()], seed=stated.seed)
        click.echo(f"{path}: {_summary(file.version, names)}")
    for name, table in tables.items():
        study.write(
            table, name, folder, command=options.typed(), inputs=[study_file, *stated.paths()], seed=stated.seed
        )
    width = stated.procedure.line_width
    if broken := line_breaks.unevenly_broken(files, width):
        named = ", ".join(broken[:6]) + (f" and {len(broken) - 6} more" if len(broken) > 6 else "")
        options.talk(
            f"{options.count(len(broken), 'item')} of more than {width} letters a line are broken before different words in their "
            f"conditions: {named}; expected sentences on one line (procedure.display.width, min_size, device.min_width)"
        )
    exposures = tables["exposures"]
    dealt_ones = exposures[~exposures["paradigm"].isin(["practice", "attention"])]
    for condition, counts in dealt_ones.groupby("condition")["readers"]:
        span = " to ".join(str(n) for n in sorted({counts.min(), counts.max()}))
        options.talk(f"at {participants} participants, a sentence in condition {condition} has {span} readers")
    options.talk(
        f"{len(files)} versions; each session's order is drawn from seed {stated.seed}, its version and its place"
    )


def _summary(version: "Version", names: set[str]) -> str:
    """Return a version's trials by condition, what a paradigm shows of each, and its questions, in words."""
    trials = [trial for trial in version.trials if trial.role != "practice"]
    shown = Counter(trial.condition for trial in trials)
    each = Counter((trial.item.paradigm, trial.condition) for trial in trials if trial.role == "target")
    per_paradigm = {tuple(each[p, c] for c in sorted(shown) if each[p, c]) for p, _ in each}
    asked = Counter(str(trial.answer()) for trial in trials for name in trial.prompts if name in names)
    parts = [f"{len(trials)} trials, " + ", ".join(f"{n} {name}" for name, n in sorted(shown.items()))]
    parts.append("a paradigm " + " or ".join(":".join(map(str, counts)) for counts in sorted(per_paradigm)))
    if asked:
        answers = ", ".join(f"{n} {answer}" for answer, n in sorted(asked.items()))
        parts.append(f"{asked.total()} questions ({answers})")
    return "; ".join([*parts, *(f"{factor}: {level}" for factor, level in version.levels.items())])
