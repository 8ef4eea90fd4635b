"""gardenpath generate: minimal pairs and factorial items from a grammar."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli import Item
    from gardenpath.stimuli.grammar import Grammar
    from gardenpath.stimuli.grammar.generating import Counted

EXPLAINED = 5  # paradigms whose slots and lines are shown without being asked for
SAMPLES = 5
SPLIT = re.compile(r"(\w+)=(\d+)")


@click.command("generate")
@click.argument("grammar_file", metavar="GRAMMAR.toml", type=click.Path(path_type=Path))
@click.option("-n", "number", type=click.IntRange(min=1), help="Items of each paradigm.")
@options.seed
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="File of materials to write.")
@click.option("--paradigm", "paradigms", multiple=True, metavar="NAME", help="Only this paradigm; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Every item there is, up to a million assignments a paradigm.")
@click.option(
    "--splits",
    metavar="NAME=N,...",
    help="Parts without a lemma in common in the slots of `disjoint`, as in train=800,test=200.",
)
@click.option(
    "--explain/--brief",
    default=None,
    help=f"Entries of each slot, and what each line excludes [default: up to {EXPLAINED} paradigms].",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was counted as JSON.")
@options.force
def command(
    grammar_file: Path,
    number: int | None,
    seed: int | None,
    out: Path,
    paradigms: Sequence[str],
    everything: bool,
    splits: str | None,
    explain: bool | None,
    as_json: bool,
    force: bool,
) -> None:
    """Generate items from the paradigms of GRAMMAR.toml, counted exactly and drawn without repetition.

    Beside the file stands its sidecar with the grammar's hashes, the seed and the counts.
    """
    from gardenpath import stimuli, study
    from gardenpath.stimuli.grammar.grammars import located

    parts = _splits(splits)
    if sum(map(bool, (number, everything, parts))) != 1:
        raise click.UsageError("expected one of -n N, --all and --splits NAME=N,...")
    study.files.refuse_overwrite([out], force)
    if seed is None:
        seed = 1
        options.talk(f"--seed {seed}")
    grammar_file = located(grammar_file)
    grammar = stimuli.read_grammar(grammar_file)
    names = list(paradigms) or list(grammar.paradigms)
    with options.progress("generating", len(names)) as move:
        done = iter(range(len(names)))
        generated = stimuli.generate(
            grammar,
            number,
            seed=seed,
            paradigms=paradigms or None,
            splits=parts or None,
            progress=lambda name: move(next(done), len(names)),
        )
        move(len(names), len(names))
    lost = stimuli.write(generated.materials, out)
    explained = explain if explain is not None else len(names) <= EXPLAINED
    records = [_record(grammar, counted, generated.materials.items, explained) for counted in generated.counts]
    rules = [f"{rule.words} -> {rule.to}" for rule in grammar.language.rules]
    notes: dict[str, Any] = {
        "grammar": {Path(path).name: digest for path, digest in generated.files.items()},
        "language": grammar.language.code,
        "rewriting": rules,
        "paradigms": records,
        "not held": lost,
    }
    study.files.write_sidecar(out, command=options.typed(), inputs=[grammar_file], seed=seed, notes=notes)
    if as_json:
        click.echo(json.dumps({"out": str(out), "seed": seed, "paradigms": records}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n\n".join(map(_shown, records)))
    items = len(generated.materials.items)
    options.talk(f"{out}: {options.count(items, 'item')} of {options.count(len(records), 'paradigm')}, seed {seed}")


def _splits(stated: str | None) -> dict[str, int]:
    """Return the parts and how many items each has."""
    parts = [part.strip() for part in stated.split(",")] if stated else []
    found = [SPLIT.fullmatch(part) for part in parts]
    if not all(found) or len({match[1] for match in found if match}) < len(parts):
        raise click.UsageError(f"--splits is {stated!r}; expected names that differ, as in train=800,test=200")
    return {match[1]: int(match[2]) for match in found if match}


def _record(grammar: "Grammar", counted: "Counted", items: "Sequence[Item]", explained: bool) -> dict[str, Any]:
    """Return what is said of a paradigm, as JSON has it."""
    from gardenpath.stimuli.grammar import accounts, guarantees
    from gardenpath.stimuli.grammar.critical import critical_words

    rule = grammar.paradigms[counted.paradigm]
    mine = [item for item in items if item.paradigm == counted.paradigm]
    record: dict[str, Any] = {
        "paradigm": counted.paradigm,
        "phenomenon": rule.phenomenon,
        "assignments": counted.total,
        "items": counted.drawn,
        "collisions": counted.collisions,
        "refused": counted.refused,
        "plan": counted.plan.kind,
        "balanced": list(counted.plan.balanced),
        "at_most": dict(counted.plan.at_most),
        "splits": dict(counted.splits),
        "guarantees": {g.rule: {"status": g.status, "says": g.says} for g in counted.guarantees},
        "note": rule.settings.get("note"),
        "samples": [{name: s.text for name, s in item.sentences.items()} for item in mine[:SAMPLES]],
    }
    if explained:
        compiled, _ = guarantees.guaranteed(grammar, counted.paradigm)
        record["critical words"] = len(critical_words(compiled))
        record["slots"] = {
            each.slot: {"category": each.category, "restricted": each.restricted, "used": each.used}
            for each in accounts.slot_counts(compiled)
        }
        record["excluded"] = {
            str(replace(each.line, file=Path(each.line.file).name)): each.assignments
            for each in accounts.exclusions(compiled)
        }
    return record


def _shown(record: dict[str, Any]) -> str:
    """Return what is said of a paradigm, as a person reads it."""
    lines = [f"{record['paradigm']}: {record['assignments']} assignments, {options.count(record['items'], 'item')}"]
    if record["collisions"]:
        lines[0] += f", {record['collisions']} that print an earlier one replaced"
    if record["refused"]:
        lines[0] += f", {record['refused']} refused"
    for n, sample in enumerate(record["samples"], 1):
        lines += [f"  {n}  {name:14} {text}" for name, text in sample.items()]
    if record["splits"]:
        lines.append("  splits: " + ", ".join(f"{part} of {total}" for part, total in record["splits"].items()))
    if record["balanced"] or record["at_most"]:
        limits = [f"{slot} at most {k} times a lemma" for slot, k in record["at_most"].items()]
        lines.append("  plan: " + "; ".join([*(f"{slot} balanced" for slot in record["balanced"]), *limits]))
    if record.get("critical words"):
        lines.append(f"  {options.count(record['critical words'], 'critical word')}")
    if record.get("slots"):
        lines.append("  entries by category, by the slot's own restriction, in some assignment:")
        rows = [[f"    {slot}", *map(str, of.values())] for slot, of in record["slots"].items()]
        lines.append(options.aligned(rows, numbers=True))
    if record.get("excluded"):
        lines.append("  assignments that each line excludes:")
        rows = [[str(number), line] for line, number in record["excluded"].items()]
        width = max(len(number) for number, _ in rows)
        lines += [f"    {number:>{width}}  {line}" for number, line in rows]
    lines += [f"  {each['status']}: {each['says']}" for each in record["guarantees"].values()]
    if record["note"]:
        lines.append(f"  note: {record['note']}")
    return "\n".join(lines)
