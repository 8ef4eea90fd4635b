"""gardenpath split: items dealt to lists, experiments or groups of participants whose covariates are alike."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from . import options, selection_options


@click.command("split")
@options.materials
@options.output_path
@selection_options.add_selection_options
@click.option("--lists", type=click.IntRange(min=2), help="How many lists.")
@click.option(
    "--items",
    type=click.IntRange(min=1),
    help="Items a list, each item in as many lists as any other.  [default: every item in one list]",
)
@options.force
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@click.pass_context
def command(
    context: click.Context, /, materials: tuple[Path, ...], out: Path, force: bool, as_json: bool, **option_values: Any
) -> None:
    """Deal items of MATERIALS, or as a DIVISION.toml says, to lists whose covariates are alike in every condition.

    Writes list-1.jsonl and so on (materials of a list), the tables item_lists, covariates and matching, a figure, and
    certificate.json. No two items that share a sentence are in one list. Exit 1 where tolerances are not met.
    """
    from gardenpath import stimuli, study
    from gardenpath.analysis.reporting.wording import matching as wording

    settings, pool, surprisal, inputs = selection_options.read_selection_inputs(materials, stimuli.Division, option_values)
    files = [out / f"list-{n + 1}.jsonl" for n in range(settings.lists)]
    study.files.refuse_overwrite([*files, out / "certificate.json"], force)
    division = stimuli.split(pool, settings, surprisal=surprisal)
    certificate = {**dataclasses.asdict(division.certificate), "description": str(division.certificate)}
    study.files.write_text(out / "certificate.json", json.dumps(certificate, indent=1, ensure_ascii=False) + "\n")
    tables = {"item_lists": division.item_lists, "covariates": division.covariates, "matching": division.matching}
    if len(division.words_not_found):
        tables["words_not_found"] = division.words_not_found
    selection_options.write_selection(out, tables, None, inputs, settings, certificate)
    for path, item_list in zip(files, division.lists, strict=False):
        stimuli.write(item_list, path)
        study.files.write_sidecar(path, command=options.format_command_line(), inputs=inputs, seed=settings.seed, notes=certificate)
    click.echo(json.dumps(certificate, indent=1, ensure_ascii=False) if as_json else str(division.certificate))
    if division.lists:
        sizes = sorted({len(item_list.items) for item_list in division.lists})
        options.print_notice(f"{out}: {len(division.lists)} lists of {' or '.join(map(str, sizes))}")
        for sentence in (
            wording.describe_list_assignment(division.matching, len(division.lists), sizes[0], len(pool.items))
            if not as_json
            else ()
        ):
            click.echo(sentence)
    if division.certificate.verdict != "met":
        context.exit(1)
