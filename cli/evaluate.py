"""gardenpath evaluate: does a language model prefer the grammatical member of each minimal pair."""

from pathlib import Path

import click

from . import options
from .score import load, model_options, notes


@click.command("evaluate")
@options.materials
@model_options
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(["lp", "mean_lp", "pen_lp", "critical_lp"]),
    default=("lp",),
    show_default=True,
    help="What to compare; may be given several times.",
)
@options.out
@options.parquet
@options.force
def command(
    materials: tuple[Path, ...],
    format_: str | None,
    model: str,
    measures: tuple[str, ...],
    device: str,
    dtype: str,
    revision: str | None,
    prefix_token: str | None,
    batch_tokens: int | None,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Write the tables pairs and accuracy of the minimal pairs in MATERIALS; print the accuracy of each paradigm."""
    from gardenpath import analysis, lmscore, stimuli, study

    suffix = "parquet" if parquet else "csv"
    study.refuse_overwrite([out / f"{name}.{suffix}" for name in ("pairs", "accuracy")], force)
    read = stimuli.read(*materials, format=format_)
    loaded = load(model, device, dtype, revision, prefix_token)
    with options.progress("sentences", 1) as move:
        pairs = lmscore.evaluate(read, loaded, measures, batch_tokens=batch_tokens, progress=move)
    accuracy = analysis.accuracy(pairs)
    for name, frame in (("pairs", pairs), ("accuracy", accuracy)):
        path = study.write(
            frame, name, out, command=options.typed(), inputs=materials, notes=notes(loaded), parquet=parquet
        )
        options.talk(f"{path}: {len(frame)} rows")
    shown = accuracy[["measure", "phenomenon", "paradigm", "n", "ties", "accuracy"]]
    click.echo(f"{loaded.name}, protocol {lmscore.PROTOCOL}")
    click.echo(shown.to_string(index=False, float_format="%.3f"))
