"""gardenpath score: surprisal of words and log-probabilities of sentences under a language model."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.lmscore import Model

Command = TypeVar("Command", bound=Callable[..., object])


def model_options(command: Command) -> Command:
    """Give a command the options that name a model and say how it is run."""
    for option in (
        click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Positions computed together."),
        click.option("--prefix-token", metavar="TOKEN", help="Token fed before each text instead of the model's BOS."),
        click.option("--revision", metavar="REV", help="Branch, tag or commit of a model on the hub."),
        click.option(
            "--dtype",
            type=click.Choice(["float32", "bfloat16", "float16", "float64"]),
            default="float32",
            show_default=True,
            help="Number type of the weights; sums of probabilities are float32 at least.",
        ),
        click.option(
            "--device", default="auto", show_default=True, help="auto (a GPU when there is one), cpu, cuda, cuda:1 ..."
        ),
        click.option(
            "--model",
            required=True,
            metavar="M",
            help="Hugging Face id or folder of a causal model, or pocket (a toy).",
        ),
        click.option("--format", "format_", metavar="F", help="Name the materials' format instead of recognising it."),
    ):
        command = option(command)
    return command


def load(model: str, device: str, dtype: str, revision: str | None, prefix_token: str | None) -> "Model":
    """Return the model; a bar shows the training of the pocket model, when it is made for the first time."""
    from gardenpath import lmscore

    with options.progress("model", 1) as move:
        loaded = lmscore.load(model, device=device, dtype=dtype, revision=revision, prefix=prefix_token, progress=move)
        move(1, 1)
    if "toy" in loaded.name:
        options.talk(f"{loaded.name}: {loaded.describe()['toy']}")
    return loaded


def notes(model: "Model") -> dict[str, object]:
    """Return what a sidecar says of the model and the protocol."""
    from gardenpath import lmscore

    return {"model": model.describe(), "protocol": {lmscore.PROTOCOL: lmscore.PROTOCOL_MEANING}}


@click.command("score")
@options.materials
@model_options
@options.out
@options.parquet
@options.force
def command(
    materials: tuple[Path, ...],
    format_: str | None,
    model: str,
    device: str,
    dtype: str,
    revision: str | None,
    prefix_token: str | None,
    batch_tokens: int | None,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Write the tables surprisal (bits a word) and sentence_scores (nats a sentence) of MATERIALS."""
    from gardenpath import lmscore, stimuli, study

    suffix = "parquet" if parquet else "csv"
    study.refuse_overwrite([out / f"{name}.{suffix}" for name in lmscore.Scores._fields], force)
    read = stimuli.read(*materials, format=format_)
    loaded = load(model, device, dtype, revision, prefix_token)
    with options.progress("sentences", 1) as move:
        scores = lmscore.score(read, loaded, batch_tokens=batch_tokens, progress=move)
    for name, frame in scores._asdict().items():
        path = study.write(
            frame, name, out, command=options.typed(), inputs=materials, notes=notes(loaded), parquet=parquet
        )
        options.talk(f"{path}: {len(frame)} rows")
