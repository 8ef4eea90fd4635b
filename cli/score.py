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

MODEL_HELP = "Hugging Face id or folder of a model, ngram:FILE or ngram:FILE:ORDER, or pocket (a toy)."

DEFAULT_JOINER_TEXT = "a space; nothing where a language is written without"


Result = TypeVar("Result")


@dataclass(frozen=True)
class ScoringOptions:
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

    def load_model(self, name: str, revision: str | None = None) -> "Model":
        """Return the model, or a revision of it, with its cache; a bar shows how the pocket model is made the first time."""
        from gardenpath import lmscore

        with options.show_progress("model", 1) as move:
            settings: dict[str, Any] = {
                "device": self.device,
                "dtype": self.dtype,
                "quantization": self.quantization,
                "trust_remote_code": self.trust_remote_code,
                "revision": revision,
                "adapter": self.adapter,
                "device_map": _read_device_map(self.device_map),
                "endpoint": self.endpoint,
                "tokenizer": self.tokenizer,
                "prefix": self.prefix_token,
                "progress": move,
            }
            load = lmscore.load if self.no_cache else functools.partial(lmscore.load_cached, folder=self.cache)
            loaded = load(name, **settings)
            move(1, 1)
        if "toy" in loaded.name:
            options.print_notice(f"{loaded.name}: {loaded.describe()['toy']}")
        return loaded

    def apply_to_models(self, models: Sequence[str], work: Callable[[str, str | None], Result]) -> tuple[list[Result], list[str]]:
        """Do something with each model and revision; return what came of it, and a line for each that failed, which keeps none of
        the others from it. Where nothing comes of any, that is raised.
        """
        from gardenpath import study

        requested = list(itertools.product(models, self.revisions or (None,)))
        done, failed = [], []
        for name, revision in requested:
            try:
                done.append(work(name, revision))
            except (ValueError, MemoryError, study.DataError) as error:
                if len(requested) == 1:
                    raise
                failed.append(f"{name}@{revision}: {error}" if revision else f"{name}: {error}")
                options.print_notice(f"left out: {failed[-1]}")
        if failed and not done:
            raise study.DataError(failed)
        return done, failed

    def warn_of_own_drafts(self, materials: "Materials", models: Sequence[str]) -> None:
        """Warn of models that judge items which a model of their own family drafted."""
        from gardenpath.stimuli.drafting.provenance import count_drafts_by_family

        for model, drafters in count_drafts_by_family(materials.items, models).items():
            drafted = ", ".join(f"{options.format_count(n, 'item')} by {name}" for name, n in drafters.items())
            options.print_notice(
                f"{model}: drafted by a model of its own family, which may judge them too well: {drafted}; "
                "compare  --split-by origin"
            )

    def raise_failures(self, failed: Sequence[str], done: int) -> None:
        """Raise `DataError` with the models that failed, once all else is written."""
        from gardenpath import study

        if failed:
            raise study.DataError([f"{len(failed)} of {len(failed) + done} models could not be used", *failed])

    def read_materials(self, language: str | None = None) -> "Materials":
        """Return the materials, or those of a STUDY.toml with its mapping; `language` is that of items whose file states none."""
        from gardenpath import stimuli, study

        study_files = [path for path in self.materials if path.suffix == ".toml"]
        if study_files and len(self.materials) > 1:
            raise study.DataError(f"{study_files[0]} beside {len(self.materials) - 1} more; expected one STUDY.toml, or materials")
        config = self._load_study()
        if config is None:
            return stimuli.read(*self.materials, format=self.format_, language=language, skip_bad=self.skip_bad)
        return stimuli.read(
            *config.list_material_paths(),
            format=self.format_,
            language=language or config.language,
            mapping=config.resolve_mapping_path(),
            skip_bad=self.skip_bad or config.materials.skip_bad,
        )

    def _load_study(self) -> "Study | None":
        from gardenpath import study

        # By the first alone: templates and groups, which join the materials as inputs later, are no studies.
        return study.load(self.materials[0]) if self.materials[0].suffix == ".toml" else None

    def build_scoring_arguments(self, model: "Model") -> dict[str, Any]:
        """Return how a model's sentences are scored, as arguments of `lmscore.score` and `lmscore.evaluate`."""
        from gardenpath import lmscore
        from gardenpath.lmscore.tokens.protocols import select_protocol

        protocol = replace(select_protocol(self.protocols, model.name, model.masked), joiner=self.joiner)
        unigrams = self.unigrams and lmscore.read_unigrams(self.unigrams, model, protocol)
        return {"protocol": protocol, "unigrams": unigrams}

    @property
    def joiner_text(self) -> str:
        """What stands between contexts and sentences."""
        return DEFAULT_JOINER_TEXT if self.joiner is None else self.joiner

    def list_inputs(self) -> list[Path]:
        """Return the files whose contents decide the scores."""
        config = self._load_study()
        return [*self.materials, *(config.list_material_paths() if config else ()), *filter(None, [self.unigrams])]

    def write_table(self, frame: "pd.DataFrame", name: str, notes: Mapping[str, object], seed: int | None = None) -> Path:
        """Write a table with its sidecar, say so, and return its path."""
        from gardenpath import study

        path = study.write(
            frame,
            name,
            self.out,
            command=options.format_command_line(),
            inputs=self.list_inputs(),
            seed=seed,
            notes=notes,
            parquet=self.parquet,
        )
        options.print_notice(f"{path}: {len(frame)} rows")
        return path


def _read_device_map(name: str | None) -> "str | Mapping[str, Any] | None":
    """Return a device map as it is named, or as a JSON file has it."""
    if name is None or not name.endswith(".json"):
        return name
    from gardenpath import study

    content = study.files.read_json(name)
    if not isinstance(content, dict):
        raise click.UsageError(f"--device-map {name}: holds no object; expected modules and their devices")
    return content


def list_protocols() -> list[str]:
    """Return the protocols by which sentences are scored."""
    from gardenpath import lmscore

    return list(lmscore.PROTOCOLS)


def add_scoring_options(command: Callable[..., None], excluded: Sequence[str] = ()) -> Callable[..., None]:
    """Give a command the options of `ScoringOptions` but those it is `excluded`, as its first argument."""

    @functools.wraps(command)
    def call(**arguments: Any) -> None:
        values = {field.name: arguments.pop(field.name, None) for field in fields(ScoringOptions)}
        command(ScoringOptions(**values), **arguments)

    wrapped: Callable[..., None] = call
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object."),
        options.force,
        options.parquet,
        options.output_path,
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
            type=options.LazyChoice(list_protocols),
            help="How text becomes tokens and which are scored; of several, each model takes the first that fits it.  "
            "[default: default; pll-word-l2r for masked models]",
        ),
        click.option(
            "--joiner",
            metavar="TEXT",
            help=f"What stands between an item's context and its sentence.  [default: {DEFAULT_JOINER_TEXT}]",
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
        click.option("--quantization", type=click.Choice(["8bit", "4bit"]), help="Load the weights in fewer bits; 4bit is NF4."),
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
        click.option("--device", default="auto", show_default=True, help="auto (a GPU when there is one), cpu, cuda, cuda:1 ..."),
        click.option("--format", "format_", metavar="F", help="Name the materials' format instead of recognising it."),
        options.skip_bad,
        options.materials,
    ):
        wrapped = option(wrapped)
    parameters: list[click.Parameter] = getattr(wrapped, "__click_params__", [])
    parameters[:] = [each for each in parameters if each.name not in excluded]
    return wrapped


def describe_protocols(scores: "pd.DataFrame") -> dict[str, str]:
    """Return what each protocol of a table means."""
    from gardenpath import lmscore

    known = {name: protocol.meaning for name, protocol in lmscore.PROTOCOLS.items()}
    return {name: known.get(name, "computed by another program") for name in scores["protocol"].unique()}


def list_score_sources() -> list[str]:
    """Return where scores may come from, besides a model."""
    return ["table"]


# What applies to scores that were computed elsewhere.
EXTERNAL_SCORE_OPTIONS = ("materials", "input_format", "mapping", "shown", "out", "parquet", "force", "as_json")


@click.command("score")
@click.option("--model", metavar="M", help=MODEL_HELP)
@click.option(
    "--input-format",
    type=options.LazyChoice(list_score_sources),
    help="Where surprisal comes from that was computed elsewhere: MATERIALS is a table of words.",
)
@click.option("--mapping", type=click.Path(path_type=Path), help="With --input-format: what its columns are (TOML).")
@click.option(
    "--materials",
    "shown",
    type=click.Path(path_type=Path),
    help="With --input-format: the sentences: STUDY.toml, a folder of list files, or a file of materials.",
)
@click.option(
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help="A further column of surprisal, in bits: renyi_A (entropy of order A), surprisal_tT (at temperature T), "
    "surprisal_layer_L or surprisal_layer_all.",
)
@add_scoring_options
def command(
    scoring: ScoringOptions,
    model: str | None,
    input_format: str | None,
    mapping: Path | None,
    shown: Path | None,
    predictors: tuple[str, ...],
) -> None:
    """Write the tables surprisal (bits a word) and sentence_scores (nats a sentence) of MATERIALS, or of those of a STUDY.toml.

    With --input-format table, MATERIALS is a table of surprisal that was computed elsewhere; of it comes surprisal alone.
    """
    from gardenpath import lmscore
    from gardenpath.study.table_files import refuse_existing_tables

    _check_call(input_format, mapping)
    refuse_existing_tables(scoring.out, "score", scoring.force)
    if mapping is not None:
        _write_external_scores(scoring, mapping, shown)
        return
    if len(scoring.revisions) > 1:
        raise click.UsageError("--revision is given several times; expected one (evaluate and judge take several)")
    materials = scoring.read_materials()
    loaded = scoring.load_model(str(model), *scoring.revisions)
    arguments = scoring.build_scoring_arguments(loaded)
    protocol = arguments["protocol"]
    notes = {"model": loaded.describe(), "protocol": {protocol.name: protocol.meaning}, "joiner": scoring.joiner_text}
    with options.show_progress("sentences", 1) as move:
        blocks = lmscore.score_blocks(
            materials, loaded, **arguments, batch_tokens=scoring.batch_tokens, predictors=predictors, progress=move
        )
        _write_score_tables(scoring, (scores._asdict() for scores in blocks), notes)


def _check_call(input_format: str | None, mapping: Path | None) -> None:
    """Raise a `UsageError` for options of a model beside a table, or the other way round."""
    context = click.get_current_context()
    typed_options = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if input_format is None:
        if typed_options & {"mapping", "shown"}:
            raise click.UsageError(f"--{'materials' if 'shown' in typed_options else 'mapping'} belongs to --input-format table")
        if "model" not in typed_options:
            raise click.UsageError("Missing option '--model', or --input-format table for surprisal that was computed elsewhere")
        return
    if mapping is None:
        raise click.UsageError("--input-format table needs --mapping FILE.toml: the mapping names the table's columns")
    if unusable_options := sorted(typed_options - {*EXTERNAL_SCORE_OPTIONS}):
        raise click.UsageError(
            f"--{unusable_options[0].replace('_', '-')} is for scoring by a model; the mapping of a table names its model"
        )


def _write_external_scores(scoring: ScoringOptions, mapping: Path, materials_path: Path | None) -> None:
    """Write the surprisal of tables from elsewhere."""
    import pandas as pd

    from gardenpath import lmscore, study
    from gardenpath.experiment.platforms.shown_materials import read_shown_materials
    from gardenpath.experiment.platforms.table.word_tables import read_score_rows
    from gardenpath.lmscore.imported_surprisal import BITS_PER_UNIT

    materials = None if materials_path is None else read_shown_materials(materials_path).materials
    parts: list[pd.DataFrame] = []
    units: Mapping[str, str] = {}
    for file in scoring.materials:
        rows, units = read_score_rows(file, mapping, list(BITS_PER_UNIT))
        parts.append(lmscore.import_surprisal(rows, materials, units=units, where=f"{file}, line"))
    frame = study.check(pd.concat(parts, ignore_index=True), "surprisal")
    notes = {"model": {"name": ", ".join(frame["model"].unique()), "computed": "elsewhere", "units": units}}
    inputs = (*scoring.materials, mapping, *filter(None, [materials_path]))
    _write_score_tables(replace(scoring, materials=inputs), [{"surprisal": frame}], notes)


def _write_score_tables(
    scoring: ScoringOptions, parts: "Iterable[Mapping[str, pd.DataFrame]]", notes: Mapping[str, object]
) -> None:
    """Write tables that come in parts, with their sidecars, and say so."""
    from gardenpath import study

    rows = study.table_files.write_parts(
        parts,
        scoring.out,
        command=options.format_command_line(),
        inputs=scoring.list_inputs(),
        notes=notes,
        parquet=scoring.parquet,
    )
    for path, count in rows.items():
        options.print_notice(f"{path}: {count} rows")
    if scoring.as_json:
        tables = {path.stem: {"path": str(path), "rows": count} for path, count in rows.items()}
        click.echo(json.dumps({"tables": tables, **notes}, ensure_ascii=False, indent=1))
