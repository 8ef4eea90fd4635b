"""gardenpath check: find faults in materials."""

import dataclasses
import json
from pathlib import Path

import click

from . import options


@click.command("check")
@options.materials
@click.option("--format", "format_", metavar="F", help="Name the format instead of recognising it.")
@click.option("--rules", type=click.Choice(["blimp-nl"]), help="Make the conditions of this corpus errors.")
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON.")
@click.pass_context
def command(
    context: click.Context, materials: tuple[Path, ...], format_: str | None, rules: str | None, as_json: bool
) -> None:
    """Find faults in MATERIALS; exit 1 when any finding is an error."""
    from gardenpath import stimuli

    read, unreadable = stimuli.examine(*materials, format=format_)
    findings = [*unreadable, *stimuli.check(read, rules=rules)]
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            click.echo(f"{finding.severity:7} {finding.rule:18} {finding}")
    sentences = sum(len(item.sentences) for item in read.items)
    counts = [(name, sum(f.severity == name for f in findings)) for name in ("error", "warning", "note")]
    options.talk(
        f"{len(read.paradigms)} paradigms, {len(read.items)} items, {sentences} sentences: "
        + ", ".join(f"{n} {name}{'s' if n != 1 else ''}" for name, n in counts)
    )
    context.exit(1 if counts[0][1] else 0)
