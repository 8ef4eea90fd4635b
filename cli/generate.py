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
    from gardenpath.stimuli.grammar.generation import ParadigmCounts

MAX_EXPLAINED_PARADIGMS = 5  # paradigms whose slots and lines are shown without being asked for
MAX_SAMPLES = 5
SPLIT_PATTERN = re.compile(r"(\w+)=(\d+)")


@click.command("generate")
@click.argument("grammar_file", metavar="GRAMMAR.toml", type=click.Path(path_type=Path))
@click.option("-n", "number", type=click.IntRange(min=1), help="Items of each paradigm.")
@options.seed
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="File of materials to write.")
@click.option("--paradigm", "paradigms", multiple=True, metavar="NAME", help="Only this paradigm; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Every item there is, up to a million assignments a paradigm.")
@click.option(
    "--splits", metavar="NAME=N,...", help="Parts without a lemma in common in the slots of `disjoint`, as in train=800,test=200."
)
@click.option(
    "--explain/--brief",
    default=None,
    help=f"Entries of each slot, and what each line excludes [default: up to {MAX_EXPLAINED_PARADIGMS} paradigms].",
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
    from gardenpath.stimuli.grammar.grammar_files import find_grammar_file

    parts = _parse_splits(splits)
    if sum(map(bool, (number, everything, parts))) != 1:
        raise click.UsageError("expected one of -n N, --all and --splits NAME=N,...")
    study.files.refuse_overwrite([out], force)
    if seed is None:
        seed = 1
        options.print_notice(f"--seed {seed}")
    grammar_file = find_grammar_file(grammar_file)
    grammar = stimuli.read_grammar(grammar_file)
    names = list(paradigms) or list(grammar.paradigms)
    with options.show_progress("generating", len(names)) as move:
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
    is_explained = explain if explain is not None else len(names) <= MAX_EXPLAINED_PARADIGMS
    entries = [_describe_paradigm(grammar, counted, generated.materials.items, is_explained) for counted in generated.counts]
    rules = [f"{rule.words} -> {rule.replacement}" for rule in grammar.language.rules]
    notes: dict[str, Any] = {
        "grammar": {Path(path).name: digest for path, digest in generated.file_hashes.items()},
        "language": grammar.language.code,
        "rewriting": rules,
        "paradigms": entries,
        "not held": lost,
    }
    study.files.write_sidecar(out, command=options.format_command_line(), inputs=[grammar_file], seed=seed, notes=notes)
    if as_json:
        click.echo(json.dumps({"out": str(out), "seed": seed, "paradigms": entries}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n\n".join(map(_format_paradigm, entries)))
    items = len(generated.materials.items)
    options.print_notice(
        f"{out}: {options.format_count(items, 'item')} of {options.format_count(len(entries), 'paradigm')}, seed {seed}"
    )


def _parse_splits(text: str | None) -> dict[str, int]:
    """Return the parts and how many items each has."""
    parts = [part.strip() for part in text.split(",")] if text else []
    matches = [SPLIT_PATTERN.fullmatch(part) for part in parts]
    if not all(matches) or len({match[1] for match in matches if match}) < len(parts):
        raise click.UsageError(f"--splits is {text!r}; expected names that differ, as in train=800,test=200")
    return {match[1]: int(match[2]) for match in matches if match}


def _describe_paradigm(
    grammar: "Grammar", counted: "ParadigmCounts", items: "Sequence[Item]", is_explained: bool
) -> dict[str, Any]:
    """Return what is said of a paradigm, as JSON has it."""
    from gardenpath.stimuli.grammar import guarantees, restriction_effects
    from gardenpath.stimuli.grammar.critical_words import find_critical_words

    rule = grammar.paradigms[counted.paradigm]
    paradigm_items = [item for item in items if item.paradigm == counted.paradigm]
    entry: dict[str, Any] = {
        "paradigm": counted.paradigm,
        "phenomenon": rule.phenomenon,
        "assignments": counted.total,
        "items": counted.drawn_items,
        "collisions": counted.collisions,
        "refused": counted.refusals,
        "sampling": counted.scheme.kind,
        "balanced": list(counted.scheme.balanced_variables),
        "at_most": dict(counted.scheme.max_per_lemma),
        "splits": dict(counted.splits),
        "guarantees": {g.rule: {"status": g.status, "says": g.description} for g in counted.guarantees},
        "note": rule.settings.get("note"),
        "samples": [{name: s.text for name, s in item.sentences.items()} for item in paradigm_items[:MAX_SAMPLES]],
    }
    if is_explained:
        compiled, _ = guarantees.compile_with_guarantees(grammar, counted.paradigm)
        entry["critical words"] = len(find_critical_words(compiled))
        entry["slots"] = {
            each.slot: {"category": each.category_entries, "restricted": each.restricted_entries, "used": each.used_entries}
            for each in restriction_effects.count_slot_entries(compiled)
        }
        entry["excluded"] = {
            str(replace(each.line, file=Path(each.line.file).name)): each.derivations
            for each in restriction_effects.count_excluded_derivations(compiled)
        }
    return entry


def _format_paradigm(entry: dict[str, Any]) -> str:
    """Return what is said of a paradigm, as a person reads it."""
    lines = [f"{entry['paradigm']}: {entry['assignments']} assignments, {options.format_count(entry['items'], 'item')}"]
    if entry["collisions"]:
        lines[0] += f", {entry['collisions']} that print an earlier one replaced"
    if entry["refused"]:
        lines[0] += f", {entry['refused']} refused"
    for n, sample in enumerate(entry["samples"], 1):
        lines += [f"  {n}  {name:14} {text}" for name, text in sample.items()]
    if entry["splits"]:
        lines.append("  splits: " + ", ".join(f"{part} of {total}" for part, total in entry["splits"].items()))
    if entry["balanced"] or entry["at_most"]:
        limits = [f"{slot} at most {k} times a lemma" for slot, k in entry["at_most"].items()]
        lines.append("  sampling: " + "; ".join([*(f"{slot} balanced" for slot in entry["balanced"]), *limits]))
    if entry.get("critical words"):
        lines.append(f"  {options.format_count(entry['critical words'], 'critical word')}")
    if entry.get("slots"):
        lines.append("  entries by category, by the slot's own restriction, in some assignment:")
        rows = [[f"    {slot}", *map(str, slot_counts.values())] for slot, slot_counts in entry["slots"].items()]
        lines.append(options.format_columns(rows, numbers=True))
    if entry.get("excluded"):
        lines.append("  assignments that each line excludes:")
        rows = [[str(number), line] for line, number in entry["excluded"].items()]
        width = max(len(number) for number, _ in rows)
        lines += [f"    {number:>{width}}  {line}" for number, line in rows]
    lines += [f"  {each['status']}: {each['says']}" for each in entry["guarantees"].values()]
    if entry["note"]:
        lines.append(f"  note: {entry['note']}")
    return "\n".join(lines)
