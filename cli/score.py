"""gardenpath score: surprisal of words and log-probabilities of sentences under a language model."""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Model
    from gardenpath.stimuli import Materials

MODEL = "Hugging Face id or folder of a causal or masked model, ngram:FILE or ngram:FILE:ORDER, or pocket (a toy)."


@dataclass(frozen=True)
class Scoring:
    """What `score` and `evaluate` are both told: how models are run and sentences scored, and where tables go."""

    materials: tuple[Path, ...]
    format_: str | None
    skip_bad: bool
    device: str
    dtype: str
    quantization: str | None
    trust_remote_code: bool
    revision: str | None
    prefix_token: str | None
    protocols: tuple[str, ...]
    unigrams: Path | None
    batch_tokens: int | None
    cache: Path | None
    no_cache: bool
    out: Path
    parquet: bool
    force: bool
    as_json: bool

    def load(self, name: str) -> "Model":
        """Return the model with its cache; a bar shows the training of the pocket model, when it is made for the first time."""
        from gardenpath import lmscore

        with options.progress("model", 1) as move:
            loaded = lmscore.load(
                name,
                device=self.device,
                dtype=self.dtype,
                quantization=self.quantization,
                trust_remote_code=self.trust_remote_code,
                revision=self.revision,
                prefix=self.prefix_token,
                progress=move,
            )
            move(1, 1)
        if "toy" in loaded.name:
            options.talk(f"{loaded.name}: {loaded.describe()['toy']}")
        return loaded if self.no_cache else lmscore.cached(loaded, self.cache)

    def read(self) -> "Materials":
        """Return the materials."""
        from gardenpath import stimuli

        return stimuli.read(*self.materials, format=self.format_, skip_bad=self.skip_bad)

    def how(self, model: "Model") -> dict[str, Any]:
        """Return how a model's sentences are scored, as arguments of `lmscore.score` and `lmscore.evaluate`."""
        from gardenpath import lmscore

        fitting = [name for name in self.protocols if lmscore.PROTOCOLS[name].masked == model.masked]
        protocol = next(iter([*fitting, *self.protocols]), None)
        unigrams = self.unigrams and lmscore.read_unigrams(self.unigrams, model, protocol)
        return {"protocol": protocol, "unigrams": unigrams}

    def inputs(self) -> list[Path]:
        """Return the files whose contents decide the scores."""
        return [*self.materials, *filter(None, [self.unigrams])]

    def write(self, frame: "pd.DataFrame", name: str, notes: Mapping[str, object], seed: int | None = None) -> Path:
        """Write a table with its sidecar, say so, and return its path."""
        from gardenpath import study

        path = study.write(
            frame,
            name,
            self.out,
            command=options.typed(),
            inputs=self.inputs(),
            seed=seed,
            notes=notes,
            parquet=self.parquet,
        )
        options.talk(f"{path}: {len(frame)} rows")
        return path


def protocols() -> list[str]:
    """Return the protocols by which sentences are scored."""
    from gardenpath import lmscore

    return list(lmscore.PROTOCOLS)


def scoring_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Scoring`, as its first argument."""

    @functools.wraps(command)
    def call(**arguments: Any) -> None:
        shared = {field.name: arguments.pop(field.name) for field in fields(Scoring)}
        command(Scoring(**shared), **arguments)

    wrapped: Callable[..., None] = call
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object."),
        options.force,
        options.parquet,
        options.out,
        click.option("--no-cache", is_flag=True, help="Compute everything again, and keep nothing."),
        click.option(
            "--cache",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="FOLDER",
            help="Where token scores are kept between runs, instead of the user's cache folder.",
        ),
        click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Positions computed together."),
        click.option(
            "--unigrams",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="For SLOR: a plain text corpus, or a CSV table of token,count.",
        ),
        click.option(
            "--protocol",
            "protocols",
            multiple=True,
            type=options.OneOf(protocols),
            help="How text becomes tokens and which are scored; of several, each model takes the first that fits it.  "
            "[default: default; pll-word-l2r for masked models]",
        ),
        click.option("--prefix-token", metavar="TOKEN", help="Token fed before each text instead of the model's BOS."),
        click.option("--trust-remote-code", is_flag=True, help="Run the code that a model brings, after reading it."),
        click.option(
            "--quantization", type=click.Choice(["8bit", "4bit"]), help="Load the weights in fewer bits, on a GPU."
        ),
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
        click.option("--format", "format_", metavar="F", help="Name the materials' format instead of recognising it."),
        options.skip_bad,
        options.materials,
    ):
        wrapped = option(wrapped)
    return wrapped


def meanings(scores: "pd.DataFrame") -> dict[str, str]:
    """Return what each protocol of a table means."""
    from gardenpath import lmscore

    return {name: lmscore.PROTOCOLS[name].meaning for name in scores["protocol"].unique()}


@click.command("score")
@click.option("--model", required=True, metavar="M", help=MODEL)
@scoring_options
def command(scoring: Scoring, model: str) -> None:
    """Write the tables surprisal (bits a word) and sentence_scores (nats a sentence) of MATERIALS."""
    from gardenpath import lmscore
    from gardenpath.study.table_files import refuse_tables

    refuse_tables(scoring.out, "score", scoring.force)
    read = scoring.read()
    loaded = scoring.load(model)
    how = scoring.how(loaded)
    with options.progress("sentences", 1) as move:
        scores = lmscore.score(read, loaded, **how, batch_tokens=scoring.batch_tokens, progress=move)
    notes = {"model": loaded.describe(), "protocol": meanings(scores.surprisal)}
    paths = {name: scoring.write(frame, name, notes) for name, frame in scores._asdict().items()}
    if scoring.as_json:
        tables = {name: {"path": str(path), "rows": len(getattr(scores, name))} for name, path in paths.items()}
        click.echo(json.dumps({"tables": tables, **notes}, ensure_ascii=False, indent=1))
