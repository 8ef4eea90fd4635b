"""gardenpath split: items dealt to lists, experiments or groups of participants whose covariates are alike."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from . import options, selecting


@click.command("split")
@options.materials
@options.out
@selecting.shared
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
    context: click.Context, /, materials: tuple[Path, ...], out: Path, force: bool, as_json: bool, **given: Any
) -> None:
    """Deal items of MATERIALS, or as a DIVISION.toml says, to lists whose covariates are alike in every condition.

    Writes list-1.jsonl and so on (materials of a list), the tables item_lists, covariates and matching, a figure, and
    certificate.json. No two items that share a sentence are in one list. Exit 1 where tolerances are not met.
    """
    from gardenpath import stimuli, study
    from gardenpath.analysis.reporting.wording import matching as wording

    asked, pool, surprisal, inputs = selecting.prepared(materials, stimuli.Division, given)
    files = [out / f"list-{n + 1}.jsonl" for n in range(asked.lists)]
    study.files.refuse_overwrite([*files, out / "certificate.json"], force)
    dealt = stimuli.split(pool, asked, surprisal=surprisal)
    certificate = {**dataclasses.asdict(dealt.certificate), "said": str(dealt.certificate)}
    study.files.write_text(out / "certificate.json", json.dumps(certificate, indent=1, ensure_ascii=False) + "\n")
    tables = {"item_lists": dealt.item_lists, "covariates": dealt.covariates, "matching": dealt.matching}
    if len(dealt.not_found):
        tables["words_not_found"] = dealt.not_found
    selecting.write(out, tables, None, inputs, asked, certificate)
    for path, one in zip(files, dealt.lists, strict=False):
        stimuli.write(one, path)
        study.files.write_sidecar(path, command=options.typed(), inputs=inputs, seed=asked.seed, notes=certificate)
    click.echo(json.dumps(certificate, indent=1, ensure_ascii=False) if as_json else str(dealt.certificate))
    if dealt.lists:
        sizes = sorted({len(one.items) for one in dealt.lists})
        options.talk(f"{out}: {len(dealt.lists)} lists of {' or '.join(map(str, sizes))}")
        for sentence in (
            wording.dealt(dealt.matching, len(dealt.lists), sizes[0], len(pool.items)) if not as_json else ()
        ):
            click.echo(sentence)
    if dealt.certificate.verdict != "met":
        context.exit(1)
