"""gardenpath score: surprisal of words and log-probabilities of sentences under a language model."""

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.lmscore import Model
    from gardenpath.stimuli import Materials
    from gardenpath.study import Study

MODEL = "Hugging Face id or folder of a model, ngram:FILE or ngram:FILE:ORDER, or pocket (a toy)."

JOINED = "a space; nothing where a language is written without"


Result = TypeVar("Result")


@dataclass(frozen=True)
class Scoring:
    """What `score`, `evaluate` and `judge` are told: how models are run and sentences scored, and where tables go."""

    materials: tuple[Path, ...]
    format_: str | None
    skip_bad: bool
    device: str
    dtype: str
    quantization: str | None
    trust_remote_code: bool
    revisions: tuple[str, ...]
    adapter: str | None
    device_map: str | None
    endpoint: str | None
    tokenizer: str | None
    prefix_token: str | None
    protocols: tuple[str, ...]
    joiner: str | None
    unigrams: Path | None
    batch_tokens: int | None
    cache: Path | None
    no_cache: bool
    out: Path
    parquet: bool
    force: bool
    as_json: bool

    def load(self, name: str, revision: str | None = None) -> "Model":
        """Return the model, or a revision of it, with its cache; a bar shows how the pocket model is made the first time."""
        from gardenpath import lmscore

        with options.progress("model", 1) as move:
            settings: dict[str, Any] = {
                "device": self.device,
                "dtype": self.dtype,
                "quantization": self.quantization,
                "trust_remote_code": self.trust_remote_code,
                "revision": revision,
                "adapter": self.adapter,
                "device_map": _device_map(self.device_map),
                "endpoint": self.endpoint,
                "tokenizer": self.tokenizer,
                "prefix": self.prefix_token,
                "progress": move,
            }
            load = lmscore.load if self.no_cache else functools.partial(lmscore.load_cached, folder=self.cache)
            loaded = load(name, **settings)
            move(1, 1)
        if "toy" in loaded.name:
            options.talk(f"{loaded.name}: {loaded.describe()['toy']}")
        return loaded

    def each_model(
        self, models: Sequence[str], work: Callable[[str, str | None], Result]
    ) -> tuple[list[Result], list[str]]:
        """Do something with each model and revision; return what came of it, and a line for each that failed, which keeps none of
        the others from it. Where nothing comes of any, that is raised.
        """
        from gardenpath import study

        asked = list(itertools.product(models, self.revisions or (None,)))
        done, failed = [], []
        for name, revision in asked:
            try:
                done.append(work(name, revision))
            except (ValueError, MemoryError, study.DataError) as error:
                if len(asked) == 1:
                    raise
                failed.append(f"{name}@{revision}: {error}" if revision else f"{name}: {error}")
                options.talk(f"left out: {failed[-1]}")
        if failed and not done:
            raise study.DataError(failed)
        return done, failed

    def say_drafted(self, materials: "Materials", models: Sequence[str]) -> None:
        """Warn of models that judge items which a model of their own family drafted."""
        from gardenpath.stimuli.drafting.provenance import drafted_by_family

        for model, drafters in drafted_by_family(materials.items, models).items():
            drafted = ", ".join(f"{options.count(n, 'item')} by {name}" for name, n in drafters.items())
            options.talk(
                f"{model}: drafted by a model of its own family, which may judge them too well: {drafted}; compare  --by origin"
            )

    def say_failed(self, failed: Sequence[str], done: int) -> None:
        """Raise `DataError` with the models that failed, once all else is written."""
        from gardenpath import study

        if failed:
            raise study.DataError([f"{len(failed)} of {len(failed) + done} models could not be used", *failed])

    def read(self, language: str | None = None) -> "Materials":
        """Return the materials, or those of a STUDY.toml with its mapping; `language` is that of items whose file states none."""
        from gardenpath import stimuli, study

        stated = [path for path in self.materials if path.suffix == ".toml"]
        if stated and len(self.materials) > 1:
            raise study.DataError(
                f"{stated[0]} beside {len(self.materials) - 1} more; expected one STUDY.toml, or materials"
            )
        plan = self._study()
        if plan is None:
            return stimuli.read(*self.materials, format=self.format_, language=language, skip_bad=self.skip_bad)
        return stimuli.read(
            *plan.paths(),
            format=self.format_,
            language=language or plan.language,
            mapping=plan.mapping_path(),
            skip_bad=self.skip_bad or plan.materials.skip_bad,
        )

    def _study(self) -> "Study | None":
        from gardenpath import study

        # By the first alone: templates and groups, which join the materials as inputs later, are no studies.
        return study.load(self.materials[0]) if self.materials[0].suffix == ".toml" else None

    def how(self, model: "Model") -> dict[str, Any]:
        """Return how a model's sentences are scored, as arguments of `lmscore.score` and `lmscore.evaluate`."""
        from gardenpath import lmscore
        from gardenpath.lmscore.tokens.protocols import fitting

        protocol = replace(fitting(self.protocols, model.name, model.masked), joiner=self.joiner)
        unigrams = self.unigrams and lmscore.read_unigrams(self.unigrams, model, protocol)
        return {"protocol": protocol, "unigrams": unigrams}

    @property
    def joined(self) -> str:
        """What stands between contexts and sentences."""
        return JOINED if self.joiner is None else self.joiner

    def inputs(self) -> list[Path]:
        """Return the files whose contents decide the scores."""
        plan = self._study()
        return [*self.materials, *(plan.paths() if plan else ()), *filter(None, [self.unigrams])]

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


def _device_map(given: str | None) -> "str | Mapping[str, Any] | None":
    """Return a device map as it is named, or as a JSON file has it."""
    if given is None or not given.endswith(".json"):
        return given
    from gardenpath import study

    read = study.files.read_json(given)
    if not isinstance(read, dict):
        raise click.UsageError(f"--device-map {given}: holds no object; expected modules and their devices")
    return read


def protocols() -> list[str]:
    """Return the protocols by which sentences are scored."""
    from gardenpath import lmscore

    return list(lmscore.PROTOCOLS)


def scoring_options(command: Callable[..., None], without: Sequence[str] = ()) -> Callable[..., None]:
    """Give a command the options of `Scoring` but those it is `without`, as its first argument."""

    @functools.wraps(command)
    def call(**arguments: Any) -> None:
        shared = {field.name: arguments.pop(field.name, None) for field in fields(Scoring)}
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
        click.option(
            "--joiner",
            metavar="TEXT",
            help=f"What stands between an item's context and its sentence.  [default: {JOINED}]",
        ),
        click.option("--prefix-token", metavar="TOKEN", help="Token fed before each text instead of the model's BOS."),
        click.option("--trust-remote-code", is_flag=True, help="Run the code that a model brings, after reading it."),
        click.option(
            "--tokenizer",
            metavar="M",
            help="With --endpoint: id or folder of the tokenizer, where the server's name of the model is another.",
        ),
        click.option(
            "--endpoint",
            metavar="URL",
            help="OpenAI-compatible server that gives logprobs of prompts, such as http://localhost:8000/v1.",
        ),
        click.option("--adapter", metavar="A", help="Folder or id of a PEFT adapter of the model, such as LoRA."),
        click.option(
            "--quantization", type=click.Choice(["8bit", "4bit"]), help="Load the weights in fewer bits; 4bit is NF4."
        ),
        click.option(
            "--device-map",
            metavar="MAP",
            help="Spread a model over devices: auto, balanced, sequential, or a JSON file of modules and devices.",
        ),
        click.option(
            "--revision",
            "revisions",
            multiple=True,
            metavar="REV",
            help="Branch, tag or commit of a model on the hub; evaluate and judge take several, each a model of its own.",
        ),
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
    parameters: list[click.Parameter] = getattr(wrapped, "__click_params__", [])
    parameters[:] = [each for each in parameters if each.name not in without]
    return wrapped


def meanings(scores: "pd.DataFrame") -> dict[str, str]:
    """Return what each protocol of a table means."""
    from gardenpath import lmscore

    known = {name: protocol.meaning for name, protocol in lmscore.PROTOCOLS.items()}
    return {name: known.get(name, "computed by another program") for name in scores["protocol"].unique()}


def sources() -> list[str]:
    """Return where scores may come from, besides a model."""
    return ["table"]


# What applies to scores that were computed elsewhere.
ELSEWHERE = ("materials", "from_", "mapping", "shown", "out", "parquet", "force", "as_json")


@click.command("score")
@click.option("--model", metavar="M", help=MODEL)
@click.option(
    "--from",
    "from_",
    type=options.OneOf(sources),
    help="Where surprisal comes from that was computed elsewhere: MATERIALS is a table of words.",
)
@click.option("--mapping", type=click.Path(path_type=Path), help="With --from: what its columns are (TOML).")
@click.option(
    "--materials",
    "shown",
    type=click.Path(path_type=Path),
    help="With --from: the sentences: STUDY.toml, a folder of version files, or a file of materials.",
)
@click.option(
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help="A further column of surprisal, in bits: renyi_A (entropy of order A), surprisal_tT (at temperature T), "
    "surprisal_layer_L or surprisal_layer_all.",
)
@scoring_options
def command(
    scoring: Scoring,
    model: str | None,
    from_: str | None,
    mapping: Path | None,
    shown: Path | None,
    predictors: tuple[str, ...],
) -> None:
    """Write the tables surprisal (bits a word) and sentence_scores (nats a sentence) of MATERIALS, or of those of a STUDY.toml.

    With --from table, MATERIALS is a table of surprisal that was computed elsewhere; of it comes surprisal alone.
    """
    from gardenpath import lmscore
    from gardenpath.study.table_files import refuse_tables

    _check_call(from_, mapping)
    refuse_tables(scoring.out, "score", scoring.force)
    if mapping is not None:
        _take(scoring, mapping, shown)
        return
    if len(scoring.revisions) > 1:
        raise click.UsageError("--revision is given several times; expected one (evaluate and judge take several)")
    read = scoring.read()
    loaded = scoring.load(str(model), *scoring.revisions)
    how = scoring.how(loaded)
    protocol = how["protocol"]
    notes = {
        "model": loaded.describe(),
        "protocol": {protocol.name: protocol.meaning},
        "joiner": scoring.joined,
    }
    with options.progress("sentences", 1) as move:
        blocks = lmscore.score_blocks(
            read, loaded, **how, batch_tokens=scoring.batch_tokens, predictors=predictors, progress=move
        )
        _write(scoring, (scores._asdict() for scores in blocks), notes)


def _check_call(from_: str | None, mapping: Path | None) -> None:
    """Raise a `UsageError` for options of a model beside a table, or the other way round."""
    context = click.get_current_context()
    typed = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if from_ is None:
        if typed & {"mapping", "shown"}:
            raise click.UsageError(f"--{'materials' if 'shown' in typed else 'mapping'} belongs to --from table")
        if "model" not in typed:
            raise click.UsageError(
                "Missing option '--model', or --from table for surprisal that was computed elsewhere"
            )
        return
    if mapping is None:
        raise click.UsageError("--from table needs --mapping FILE.toml: the mapping names the table's columns")
    if stray := sorted(typed - {*ELSEWHERE}):
        raise click.UsageError(
            f"--{stray[0].replace('_', '-')} is for scoring by a model; the mapping of a table names its model"
        )


def _take(scoring: Scoring, mapping: Path, shown: Path | None) -> None:
    """Write the surprisal of tables from elsewhere."""
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.experiment.platforms.materials import read_shown
    from gardenpath.experiment.platforms.table.words import score_rows
    from gardenpath.lmscore.elsewhere import UNITS

    read = None if shown is None else read_shown(shown).materials
    parts: list[pd.DataFrame] = []
    units: Mapping[str, str] = {}
    for file in scoring.materials:
        rows, units = score_rows(file, mapping, list(UNITS))
        parts.append(lmscore.scores_from(rows, read, units=units, where=f"{file}, line"))
    frame = study.check(pd.concat(parts, ignore_index=True), "surprisal")
    notes = {"model": {"name": ", ".join(frame["model"].unique()), "computed": "elsewhere", "units": units}}
    inputs = (*scoring.materials, mapping, *filter(None, [shown]))
    _write(replace(scoring, materials=inputs), [{"surprisal": frame}], notes)


def _write(scoring: Scoring, parts: "Iterable[Mapping[str, pd.DataFrame]]", notes: Mapping[str, object]) -> None:
    """Write tables that come in parts, with their sidecars, and say so."""
    from gardenpath import study

    rows = study.table_files.write_parts(
        parts, scoring.out, command=options.typed(), inputs=scoring.inputs(), notes=notes, parquet=scoring.parquet
    )
    for path, count in rows.items():
        options.talk(f"{path}: {count} rows")
    if scoring.as_json:
        tables = {path.stem: {"path": str(path), "rows": count} for path, count in rows.items()}
        click.echo(json.dumps({"tables": tables, **notes}, ensure_ascii=False, indent=1))
