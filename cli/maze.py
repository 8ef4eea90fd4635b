"""gardenpath maze: distractors for every word of materials, by a language model."""

import functools
import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .score import ScoringOptions, add_scoring_options

if TYPE_CHECKING:
    from gardenpath.lmscore import Distractors, Model
    from gardenpath.stimuli import Materials

ITEMS_FILES = ("items.csv", "items.jsonl")
FIGURE_NAME = "distractor_margins"
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("maze")
@click.option("--model", metavar="M", help="Hugging Face id or folder of a causal model, or pocket (a toy).")
@click.option("--held-out", metavar="M", help="A second model, which chooses nothing and says what it makes of each distractor.")
@click.option(
    "--language", metavar="TAG", help="Language of items whose file states none, such as de.  [default: en, or the study's]"
)
@click.option(
    "--words",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Words to choose from, one a line or a table with columns word and zipf, instead of wordfreq's list.",
)
@click.option("--exclude", "excluded", multiple=True, type=EXISTING_FILE, metavar="FILE", help="Words never used, one a line.")
@click.option("--pseudowords", is_flag=True, help="Pseudowords by the letters of the list's words, not words (L-maze).")
@click.option("--surprisal", type=float, default=25, show_default=True, metavar="BITS", help="Least of a distractor.")
@click.option(
    "--margin",
    type=float,
    default=10,
    show_default=True,
    metavar="BITS",
    help="Least by which a distractor exceeds the word beside it.",
)
@click.option("--length", type=int, default=1, show_default=True, metavar="N", help="Letters by which they may differ.")
@click.option("--zipf", type=float, default=1, show_default=True, metavar="X", help="Zipf by which their frequencies may differ.")
@click.option(
    "--candidates", type=int, default=100, show_default=True, metavar="N", help="Words tried for a position, best match first."
)
@click.option("--repeats", type=int, metavar="N", help="Positions in all that may have the same distractor.  [default: any]")
@click.option(
    "--edited-distractors",
    "reviewed",
    type=EXISTING_FILE,
    metavar="FILE",
    help="The table distractors after you edited it: what it gives is kept, empty cells are filled.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Draws among words that match equally well.")
@functools.partial(add_scoring_options, excluded=["unigrams", "protocols"])
def command(
    scoring: ScoringOptions,
    model: str | None,
    held_out: str | None,
    language: str | None,
    excluded: tuple[Path, ...],
    reviewed: Path | None,
    words: Path | None,
    surprisal: float,
    margin: float,
    seed: int,
    **criteria: Any,
) -> None:
    """Give every word of MATERIALS after the first a distractor, a word that does not go on with the sentence.

    Writes the materials with their alternatives (items.csv; items.jsonl where a table cannot hold them), the table distractors, a
    row for each place, to be read and edited; distractor_margins, a row for each word; a figure and a report. Words that share a
    place in the conditions of an item share its distractor. Exits with 1 where a word found none.
    """
    from gardenpath import lmscore, study
    from gardenpath.analysis.reporting.wording.maze import distractors as sentences_of
    from gardenpath.lmscore.maze.word_lists import read_lines
    from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL
    from gardenpath.study.table_files import refuse_existing_tables

    if len(scoring.revisions) > 1:
        raise click.UsageError("--revision is given several times; expected one")
    refuse_existing_tables(scoring.out, "maze", scoring.force)
    study.files.refuse_overwrite([scoring.out / name for name in (*ITEMS_FILES, f"{FIGURE_NAME}.svg", "report.md")], scoring.force)
    materials = scoring.read_materials(language)
    loaded = None if model is None else scoring.load_model(model, *scoring.revisions)
    held_out_scoring = replace(scoring, adapter=None, quantization=None, endpoint=None, tokenizer=None, prefix_token=None)
    held_out_model = None if held_out is None else held_out_scoring.load_model(held_out)
    with nullcontext() if loaded is None else options.show_progress("positions", 1) as move:
        result = lmscore.add_distractors(
            materials,
            loaded,
            held_out=held_out_model,
            words=words,
            exclude=[word for path in excluded for word in read_lines(path)],
            reviewed=reviewed,
            surprisal=surprisal,
            margin=margin,
            seed=seed,
            protocol=replace(DEFAULT_PROTOCOL, joiner=scoring.joiner),
            batch_tokens=scoring.batch_tokens,
            progress=move,
            **criteria,
        )
    models = {"model": loaded and loaded.describe(), "held_out": held_out_model and held_out_model.describe()}
    source = words.name if words else "wordfreq"
    notes = {**models, "words": source, "surprisal": surprisal, "margin": margin, **criteria}
    input_files = [path for path in (words, *excluded, reviewed) if path is not None]
    scoring = replace(scoring, materials=(*scoring.materials, *input_files))
    sentences = sentences_of(result.distractors, result.distractor_margins, surprisal, margin)
    sentences.insert(0, _describe_settings(source, loaded, held_out_model, surprisal, margin, seed, **criteria))
    _write_outputs(scoring, result, sentences, notes, seed)
    if scoring.as_json:
        rows = json.loads(result.distractors.to_json(orient="records"))
        click.echo(json.dumps({"distractors": rows, **notes}, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(sentences))
    if missing_count := int(result.distractors["distractor"].isna().sum()):
        raise study.DataError(
            f"{options.format_count(missing_count, 'position')} without a distractor, whose sentences have no "
            f"alternatives; write words into {scoring.out / 'distractors.csv'} and give it back (--edited-distractors), or widen "
            "--length or --zipf, or lower --margin or --surprisal"
        )


def _describe_settings(
    words: str,
    model: "Model | None",
    held_out: "Model | None",
    surprisal: float,
    margin: float,
    seed: int,
    *,
    pseudowords: bool,
    length: int,
    zipf: float,
    candidates: int,
    repeats: int | None,
) -> str:
    """Return what distractors were demanded to be, in a sentence."""
    kind = f"Pseudowords by the letters of {words}" if pseudowords else f"Words of {words}, Zipf within {zipf:g}"
    parts = [f"{kind}, letters within {length}"]
    if model is not None:
        parts.append(f"{surprisal:g} bits at least and {margin:g} more than the word under {model.name}")
    if model is not None and not pseudowords:
        parts.append(f"up to {candidates} candidates a position")
    if repeats is not None:
        parts.append(f"in {options.format_count(repeats, 'position')} at most")
    if held_out is not None:
        parts.append(f"held-out model {held_out.name}")
    return f"{'; '.join([*parts, f'seed {seed}'])}."


def _write_outputs(
    scoring: ScoringOptions, result: "Distractors", sentences: Sequence[str], notes: dict[str, object], seed: int
) -> None:
    """Write materials, tables, figure and report, and say so."""
    from gardenpath import analysis, study

    scoring.write_table(result.distractors, "distractors", notes, seed)
    scoring.write_table(result.distractor_margins, "distractor_margins", notes, seed)
    path = _write_materials(result.materials, scoring.out)
    study.files.write_sidecar(path, command=options.format_command_line(), inputs=scoring.list_inputs(), seed=seed, notes=notes)
    options.print_notice(f"{path}: {options.format_count(len(result.materials.items), 'item')}")
    text = "# Distractors\n\n" + "".join(f"- {sentence}\n" for sentence in sentences)
    costs = result.distractor_margins[["surprisal", "held_out_surprisal"]]
    if costs.notna().any(axis=None):
        figure = analysis.distractor_figure(result.distractor_margins, float(str(notes["surprisal"])), float(str(notes["margin"])))
        study.files.write_text(scoring.out / f"{FIGURE_NAME}.svg", analysis.svg(figure, FIGURE_NAME))
        text += f"\n![Surprisal of distractors and of the words beside them]({FIGURE_NAME}.svg)\n"
    study.files.write_text(scoring.out / "report.md", text)


def _write_materials(materials: "Materials", folder: Path) -> Path:
    """Write the materials as a table, or as JSON lines where that would lose something, and return the path."""
    from gardenpath import stimuli

    table, lines = (folder / name for name in ITEMS_FILES)
    lines.unlink(missing_ok=True)
    if stimuli.write(materials, table):
        table.unlink()
        stimuli.write(materials, lines)
        return lines
    return table
