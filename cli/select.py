"""gardenpath select: items chosen of a pool so that their covariates are alike, with a certificate."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options, selection_options

if TYPE_CHECKING:
    from gardenpath.stimuli import SelectionResult

MATCH_METHODS = ("means", "sets", "best")


@click.command("select")
@options.materials
@options.output_path
@selection_options.add_selection_options
@click.option("--items", type=click.IntRange(min=1), help="How many to choose.")
@click.option(
    "--between-items", multiple=True, metavar="COLUMN", help="Levels in which items differ; as many of each are chosen. Repeatable."
)
@click.option(
    "--match", type=click.Choice(MATCH_METHODS), help="Means within tolerances, matched sets, or the best choice.  [default: means]"
)
@click.option("--optimality-gap", type=float, help="How far from the best choice may be left open, in s.d.  [default: 0.05]")
@click.option("--null", metavar="N", help="Of sets: balanced, first, inclusive, or a level.  [default: balanced]")
@click.option("--maximise", type=click.Choice(["power"]), help="Of all choices that match, one with the largest expected effect.")
@click.option("--ms-per-bit", type=float, help="Reading time that a bit of surprisal adds, for the expected effect and its power.")
@click.option("--source", metavar="DOI", help="Where that is published.")
@click.option("--region", help="Region of the expected effect.  [default: critical]")
@click.option("--term", help="Factor, or interaction a:b, of the expected effect.  [default: the only factor]")
@click.option("--participants", multiple=True, type=click.IntRange(min=2), help="For the power of the expected effect. Repeatable.")
@click.option("--simulations", type=click.IntRange(min=1), help="Studies that are simulated for each power.  [default: 1000]")
@options.force
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@click.pass_context
def command(
    context: click.Context,
    /,
    materials: tuple[Path, ...],
    out: Path,
    ms_per_bit: float | None,
    source: str | None,
    region: str | None,
    term: str | None,
    participants: tuple[int, ...],
    simulations: int | None,
    force: bool,
    as_json: bool,
    **option_values: Any,
) -> None:
    """Choose items of MATERIALS, or as a SELECTION.toml says, so that covariates are alike in all conditions and levels.

    Writes items.jsonl (the chosen items), the tables covariates and matching (every two cells before and after), a figure, and
    certificate.json: met, within gap, infeasible with demands that conflict, or undecided. Exit 1 where nothing is chosen.
    """
    from gardenpath import stimuli, study
    from gardenpath.analysis.reporting.wording import matching as wording

    effect_options = {"ms_per_bit": ms_per_bit, "source": source, "region": region, "term": term}
    effect = {name: value for name, value in effect_options.items() if value is not None}
    settings, pool, surprisal, inputs = selection_options.read_selection_inputs(
        materials, stimuli.Selection, option_values, effect=effect
    )
    if settings.effect is None and (participants or simulations):
        raise click.UsageError("--participants and --simulations are of an expected effect: give --ms-per-bit and --source")
    if settings.effect is not None and surprisal is None:
        raise click.UsageError("an expected effect is of surprisal: give --scores, the folder that  gardenpath score  wrote")
    study.files.refuse_overwrite([out / "items.jsonl", out / "certificate.json"], force)
    selection = stimuli.select(pool, settings, surprisal=surprisal)
    certificate = {**dataclasses.asdict(selection.certificate), "description": str(selection.certificate)}
    study.files.write_text(out / "certificate.json", json.dumps(certificate, indent=1, ensure_ascii=False) + "\n")
    tables = {"covariates": selection.covariates, "matching": selection.matching}
    for name, table in (("matched_sets", selection.sets), ("words_not_found", selection.words_not_found)):
        if len(table):
            tables[name] = table
    if settings.effect is not None and surprisal is not None:
        effects = stimuli.compute_expected_effects(pool, settings.effect, surprisal, model=settings.model)
        chosen_items = {item.id for item in selection.materials.items} if selection.materials else set()
        tables["expected_effects"] = effects.assign(selected=effects["item"].isin(chosen_items))
    selection_options.write_selection(out, tables, selection.materials, inputs, settings, certificate)
    click.echo(json.dumps(certificate, indent=1, ensure_ascii=False) if as_json else str(selection.certificate))
    if selection.materials is None:
        context.exit(1)
    options.print_notice(f"{out / 'items.jsonl'}: {len(selection.materials.items)} of {len(pool.items)} items")
    if not as_json:
        for sentence in wording.matched(selection.matching, len(selection.materials.items), len(pool.items)):
            click.echo(sentence)
    if settings.effect is not None and surprisal is not None:
        _print_effect_power(selection, tables["expected_effects"], settings.effect, participants, simulations, settings.seed)


def _print_effect_power(
    selection: "SelectionResult", effects: Any, effect: Any, participants: Sequence[int], simulations: int | None, seed: int
) -> None:
    """Say what effect is expected, which items carry none, and with what power it would be found."""
    import math

    from gardenpath import analysis, stimuli, study
    from gardenpath.analysis.modelling.simulated_trials import standard

    assert selection.materials is not None
    flat_effects = effects.loc[~effects["has_contrast"]]
    effects = effects[effects["selected"]]
    mean, sd = float(effects["effect_ms"].mean()), float(effects["effect_ms"].std()) if len(effects) > 1 else 0.0
    term = str(effects["term"].iloc[0])
    click.echo(
        f"Expected effect of {term} in {effect.region}, second level less first: {mean:.1f} ms (s.d. of items {sd:.1f}), "
        f"from {effect.ms_per_bit:g} ms a bit (doi {effect.source})."
    )
    opposite_effects = effects[(effects["effect_ms"] * mean < 0) & effects["has_contrast"]]
    for description, effect_rows in (
        ("no contrast in surprisal (below 0.05 bits), chosen", flat_effects[flat_effects["selected"]]),
        ("no contrast in surprisal, in the rest of the pool", flat_effects[~flat_effects["selected"]]),
        ("chosen, with an effect in the other direction", opposite_effects),
    ):
        if len(effect_rows):
            item_names = ", ".join(effect_rows["item"][:8]) + (f" and {len(effect_rows) - 8} more" if len(effect_rows) > 8 else "")
            options.print_notice(f"{description}: {options.format_count(len(effect_rows), 'item')}: {item_names}")
    if not participants:
        return
    paradigm = selection.materials.paradigms[0]
    assumptions = standard("log_rt")
    parts = stimuli.compute_covariates(selection.materials, [f"words:{effect.region}"])["value"]
    mean_region_time = effect.mean_rt * float(parts.mean())  # ms that the region takes
    if abs(mean) >= 2 * mean_region_time:
        raise study.DataError(
            f"an expected effect of {mean:.0f} ms is no part of the {mean_region_time:.0f} ms that {effect.region} "
            "takes; see ms_per_bit"
        )
    # The difference of logs about the mean time; what surprisal says of items adds to what else differs between them.
    size = math.log((mean_region_time + mean / 2) / (mean_region_time - mean / 2))
    slope = math.hypot(assumptions.item_slope, sd / mean_region_time)
    table = analysis.power_curve(
        size,
        participants=participants,
        items=[len(selection.materials.items)],
        term=term,
        factors=paradigm.factors,
        assumptions=dataclasses.replace(assumptions, item_slope=slope, name="expected"),
        runs=simulations,
        seed=seed,
    )
    for row in table.itertuples():
        click.echo(
            f"Power of {row.n_participants} participants and {row.n_items} items: {row.power:.2f} "
            f"[{row.power_low:.2f}, {row.power_high:.2f}], of {row.n_simulations} simulated studies."
        )
