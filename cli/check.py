"""gardenpath check: find faults in materials."""

import dataclasses
import gc
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli import Finding
    from gardenpath.stimuli.findings import FindingSummary
    from gardenpath.study import Study


@click.command("check")
@options.materials
@click.option("--format", "format_", metavar="F", help="Name the format instead of recognising it.")
@click.option(
    "--language", metavar="TAG", help="Language of items whose file states none, such as de.  [default: en, or the study's]"
)
@click.option("--rules", type=click.Choice(["blimp-nl"]), help="Make the conditions of this corpus errors.")
@options.mapping
@options.norm
@click.option("--all", "everything", is_flag=True, help="Show every finding, not the first three of a rule and paradigm.")
@click.option("--json", "as_json", is_flag=True, help="Print findings, summary and balance as one JSON object.")
@click.pass_context
def command(
    context: click.Context,
    materials: tuple[Path, ...],
    format_: str | None,
    language: str | None,
    rules: str | None,
    mapping: Path | None,
    norm: tuple[tuple[str, str, str, str], ...],
    everything: bool,
    as_json: bool,
) -> None:
    """Find faults in MATERIALS, or in those of a STUDY.toml; exit 1 when any finding is an error.

    Prints the findings, then how many of each severity every paradigm has. A finding that the materials waive is shown
    with their reason and is no error. docs/messages.md says why each rule is there, and what to do. Of a STUDY.toml, the
    tasks and the design are checked too: what `design` refuses is printed last, and is an error.
    """
    from gardenpath import stimuli, study
    from gardenpath.stimuli.findings import collapse_findings, summarise_findings
    from gardenpath.stimuli.norms import describe_words_not_found

    gc.disable()  # little that is read or found refers to itself, and looking for what does takes a tenth of the time
    context.call_on_close(gc.enable)
    paths, norms, effects, config = list(materials), {}, {}, None
    if len(paths) == 1 and paths[0].suffix == ".toml":
        config = study.load(paths[0])
        paths, language, effects = config.list_material_paths(), language or config.language, config.simulate
        mapping = mapping or config.resolve_mapping_path()
        norms = stimuli.read_norms(config.materials.norms, config.folder)
    norms |= stimuli.read_norms(options.parse_norms(norm))
    read, unreadable = stimuli.examine(*paths, format=format_, language=language, mapping=mapping)
    findings = [*unreadable, *stimuli.check(read, rules=rules, norms=norms)]
    summaries = summarise_findings(read, findings)
    # Tables need pandas, whose import alone takes a quarter of a second and 40 MB: without norms there is none to make.
    missing_words = stimuli.compute_words_not_found(read, [f"{name}:sentence" for name in norms], norms) if norms else None
    design_faults = _find_design_faults(config) if config and not unreadable else []
    if as_json:
        balance = json.loads(stimuli.compute_balance(read, norms).to_json(orient="records"))
        parts = {
            "findings": [dataclasses.asdict(finding) for finding in findings],
            "summary": [dataclasses.asdict(line) for line in summaries],
            "balance": balance,
            **({"design_faults": design_faults} if config else {}),
            **({"words_not_found": json.loads(missing_words.to_json(orient="records"))} if missing_words is not None else {}),
        }
        click.echo(json.dumps(parts, ensure_ascii=False, indent=1))
    else:
        if findings:
            click.echo(_format_findings(collapse_findings(findings, None if everything else 3)) + "\n")
        click.echo(_format_totals(summaries))
    sentences = sum(len(item.sentences) for item in read.items)
    counts = {name: sum(f.severity == name for f in findings) for name in ("error", "warning", "note", "waived")}
    totals = [f"{n} {name}{'s' if n != 1 and name != 'waived' else ''}" for name, n in counts.items()]
    options.print_notice(f"{len(read.paradigms)} paradigms, {len(read.items)} items, {sentences} sentences: {', '.join(totals)}")
    for sentence in describe_words_not_found(missing_words, norms) if missing_words is not None else ():
        options.print_notice(sentence)
    for fault in design_faults:
        options.print_notice(fault)
    if effects and not unreadable:
        from gardenpath.experiment.simulation.factor_effects import require_known_effects

        require_known_effects(effects, read.paradigms, [], config.analysis.participant_measures if config else {})
    context.exit(1 if counts["error"] or design_faults else 0)


def _find_design_faults(config: "Study") -> list[str]:
    """Return what is wrong with a study whose materials can be read: faults of its tasks, counts that do not divide, for which
    `design` refuses it, and files and names of measures of participants.
    """
    from gardenpath import experiment, study
    from gardenpath.study.participant_measures import read_measure_files

    faults: list[str] = []
    measures = config.analysis.participant_measures
    there = {name: one for name, one in measures.items() if one.file is not None and (config.folder / one.file).exists()}
    try:
        read_measure_files(there, config.folder)  # others are there once people have taken part
    except study.DataError as error:
        faults += error.faults
    try:
        list_files = experiment.build_list_files(config)
    except study.DataError as error:
        return [*faults, *error.faults]
    if config.hypotheses:
        from .plan import resolve_design_plan

        try:
            resolve_design_plan(config)
        except study.DataError as error:
            faults += error.faults
    factors = {name for file in list_files for paradigm in file.paradigms for name in paradigm.factors}
    taken = [name for name in measures if name in factors]
    return [
        *faults,
        *(f"analysis.participant_measures.{name}: a factor of the study has this name; give it another" for name in taken),
    ]


def _format_findings(groups: "Sequence[tuple[Sequence[Finding], int]]") -> str:
    """Return findings as lines: severity, rule, location, item, message."""
    rows = [["severity", "rule", "location", "item", "message"]]
    for findings, hidden_count in groups:
        for f in findings:
            item = " ".join(filter(None, (f.item, f.condition and f"({f.condition})"))) or f.paradigm
            message = f"{f.message} (waived: {f.waiver})" if f.waiver else f.message
            rows.append([f.severity, f.rule, f"{f.file}:{f.line}", item, message])
        if hidden_count:
            first = findings[0]
            rows.append([first.severity, first.rule, "", first.paradigm, f"... and {hidden_count} more (--all shows them)"])
    return options.format_columns(rows)


def _format_totals(summary: "Sequence[FindingSummary]") -> str:
    """Return the summary as lines, with a last one that adds them up."""
    columns = ["items", "errors", "warnings", "notes", "waived"]
    counts = [[getattr(line, column) for column in columns] for line in summary]
    rows = [[line.paradigm or "(not read)", *map(str, row)] for line, row in zip(summary, counts, strict=True)]
    total = ["total", *(str(sum(column)) for column in zip(*counts, strict=True))]
    return options.format_columns([["paradigm", *columns], *rows, total], numbers=True)
