"""gardenpath evaluate: does a language model prefer the grammatical member of each minimal pair."""

import json
from typing import TYPE_CHECKING

import click

from . import options
from .score import MODEL, Scoring, meanings, scoring_options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Model
    from gardenpath.stimuli import Materials

TABLE = "accuracy_by_model.csv"
Noise = dict[str, dict[str, float]]


@click.command("evaluate")
@click.option("--model", "models", required=True, multiple=True, metavar="M", help=f"{MODEL} Several may be given.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(["lp", "mean_lp", "pen_lp", "slor", "critical_lp", "one_prefix", "two_prefix"]),
    default=("lp",),
    show_default=True,
    help="What to compare; may be given several times.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Draws the pairs that are scored a second time to measure noise.",
)
@scoring_options
def command(scoring: Scoring, models: tuple[str, ...], measures: tuple[str, ...], seed: int) -> None:
    """Write the tables pairs and accuracy of the minimal pairs in MATERIALS; print the accuracy of each paradigm.

    Then comes a table with a row for each phenomenon and a column for each model, written to accuracy_by_model.csv too.
    """
    import pandas as pd

    from gardenpath import analysis, stimuli, study

    if len(set(models)) < len(models):
        raise click.UsageError(f"--model {' --model '.join(models)}: one is given twice; expected each once")
    scoring.refuse_overwrite("pairs", "accuracy")
    study.refuse_overwrite([scoring.out / TABLE], scoring.force)
    read = stimuli.read(*scoring.materials, format=scoring.format_)
    parts, described, noise = [], [], {}
    for name in models:
        loaded = scoring.load(name)
        found, noise[loaded.name] = _evaluated(scoring, read, loaded, measures, seed)
        parts.append(found)
        described.append(loaded.describe())
    pairs = pd.concat(parts, ignore_index=True)
    accuracy = analysis.accuracy(pairs)
    side_by_side = analysis.model_table(accuracy)
    notes = {"models": described, "protocol": meanings(pairs), "noise": noise}
    for table, frame in (("pairs", pairs), ("accuracy", accuracy)):
        scoring.write(frame, table, notes, seed)
    path = scoring.out / TABLE
    study.write_text(path, side_by_side.to_csv(index=False, lineterminator="\n"))
    study.write_sidecar(path, command=options.typed(), inputs=scoring.inputs(), seed=seed, notes=notes)
    options.talk(f"{path}: {len(side_by_side)} rows")
    if scoring.as_json:
        rows = json.loads(accuracy.to_json(orient="records"))
        click.echo(json.dumps({"accuracy": rows, **notes}, ensure_ascii=False, indent=1))
        return
    shown = accuracy[["model", "protocol", "measure", "phenomenon", "paradigm", "n", "ties", "accuracy", "delta"]]
    click.echo(shown.to_string(index=False, float_format="%.3f"))
    click.echo()
    click.echo(side_by_side.to_string(index=False, float_format="%.3f", na_rep=""))
    for name, found_noise in noise.items():
        for measure, of in found_noise.items():
            click.echo(
                f"{name}, {measure}: scores moved by up to {of['nats']:.1e} nats in another batch; "
                f"{of['verdicts_within']} of {of['verdicts']} verdicts lie within that"
            )


def _evaluated(
    scoring: Scoring, read: "Materials", loaded: "Model", measures: tuple[str, ...], seed: int
) -> tuple["pd.DataFrame", Noise]:
    """Return one model's pairs and, for each measure, the layout noise and the verdicts that lie within it."""
    from gardenpath import lmscore

    how = scoring.how(loaded)
    with options.progress("sentences", 1) as move:
        pairs = lmscore.evaluate(read, loaded, measures, **how, batch_tokens=scoring.batch_tokens, progress=move)
    noise = lmscore.layout_noise(read, loaded, pairs, **how, seed=seed)
    within = lmscore.within_noise(pairs, noise)
    verdicts = pairs[~pairs["tie"]].groupby("measure").size()
    return pairs, {
        measure: {"nats": nats, "verdicts_within": within[measure], "verdicts": int(verdicts.get(measure, 0))}
        for measure, nats in noise.items()
    }
