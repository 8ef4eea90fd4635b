"""gardenpath select: items chosen of a pool so that their covariates are alike, with a certificate."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options, selecting

if TYPE_CHECKING:
    from gardenpath.stimuli import Selected

MATCHES = ("means", "sets", "best")


@click.command("select")
@options.materials
@options.out
@selecting.shared
@click.option("--items", type=click.IntRange(min=1), help="How many to choose.")
@click.option(
    "--between",
    multiple=True,
    metavar="COLUMN",
    help="Levels in which items differ; as many of each are chosen. Repeatable.",
)
@click.option(
    "--match",
    type=click.Choice(MATCHES),
    help="Means within tolerances, matched sets, or the best choice.  [default: means]",
)
@click.option("--gap", type=float, help="How far from the best choice may be left open, in s.d.  [default: 0.05]")
@click.option("--null", metavar="N", help="Of sets: balanced, first, inclusive, or a level.  [default: balanced]")
@click.option(
    "--maximise", type=click.Choice(["power"]), help="Of all choices that match, one with the largest expected effect."
)
@click.option(
    "--ms-per-bit", type=float, help="What a bit of surprisal costs a reader, for the expected effect and its power."
)
@click.option("--source", metavar="DOI", help="Where that is published.")
@click.option("--region", help="Region of the expected effect.  [default: critical]")
@click.option("--term", help="Factor, or interaction a:b, of the expected effect.  [default: the only factor]")
@click.option(
    "--participants",
    multiple=True,
    type=click.IntRange(min=2),
    help="For the power of the expected effect. Repeatable.",
)
@click.option("--runs", type=click.IntRange(min=1), help="Studies that are simulated for each power.  [default: 1000]")
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
    runs: int | None,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Choose items of MATERIALS, or as a SELECTION.toml says, so that covariates are alike in all conditions and levels.

    Writes items.jsonl (the chosen items), the tables covariates and matching (every two cells before and after), a figure, and
    certificate.json: met, within gap, infeasible with demands that conflict, or undecided. Exit 1 where nothing is chosen.
    """
    from gardenpath import stimuli, study
    from gardenpath.analysis.reporting.wording import matching as wording

    stated = {"ms_per_bit": ms_per_bit, "source": source, "region": region, "term": term}
    effect = {name: value for name, value in stated.items() if value is not None}
    asked, pool, surprisal, inputs = selecting.prepared(materials, stimuli.Selection, given, effect=effect)
    if asked.effect is None and (participants or runs):
        raise click.UsageError("--participants and --runs are of an expected effect: give --ms-per-bit and --source")
    if asked.effect is not None and surprisal is None:
        raise click.UsageError(
            "an expected effect is of surprisal: give --scores, the folder that  gardenpath score  wrote"
        )
    study.files.refuse_overwrite([out / "items.jsonl", out / "certificate.json"], force)
    chosen = stimuli.select(pool, asked, surprisal=surprisal)
    certificate = {**dataclasses.asdict(chosen.certificate), "said": str(chosen.certificate)}
    study.files.write_text(out / "certificate.json", json.dumps(certificate, indent=1, ensure_ascii=False) + "\n")
    tables = {"covariates": chosen.covariates, "matching": chosen.matching}
    for name, table in (("matched_sets", chosen.sets), ("words_not_found", chosen.not_found)):
        if len(table):
            tables[name] = table
    if asked.effect is not None and surprisal is not None:
        effects = stimuli.expected_effects(pool, asked.effect, surprisal, model=asked.model)
        here = {item.id for item in chosen.materials.items} if chosen.materials else set()
        tables["expected_effects"] = effects.assign(chosen=effects["item"].isin(here))
    selecting.write(out, tables, chosen.materials, inputs, asked, certificate)
    click.echo(json.dumps(certificate, indent=1, ensure_ascii=False) if as_json else str(chosen.certificate))
    if chosen.materials is None:
        context.exit(1)
    options.talk(f"{out / 'items.jsonl'}: {len(chosen.materials.items)} of {len(pool.items)} items")
    if not as_json:
        for sentence in wording.matched(chosen.matching, len(chosen.materials.items), len(pool.items)):
            click.echo(sentence)
    if asked.effect is not None and surprisal is not None:
        _power(chosen, tables["expected_effects"], asked.effect, participants, runs, asked.seed)


def _power(
    chosen: "Selected", effects: Any, effect: Any, participants: Sequence[int], runs: int | None, seed: int
) -> None:
    """Say what effect is expected, which items carry none, and with what power it would be found."""
    import math

    from gardenpath import analysis, stimuli, study
    from gardenpath.analysis.modelling.simulated_trials import standard

    assert chosen.materials is not None
    flat = effects.loc[~effects["contrast"]]
    effects = effects[effects["chosen"]]
    mean, sd = float(effects["ms"].mean()), float(effects["ms"].std()) if len(effects) > 1 else 0.0
    term = str(effects["term"].iloc[0])
    click.echo(
        f"Expected effect of {term} in {effect.region}, second level less first: {mean:.1f} ms (s.d. of items {sd:.1f}), "
        f"from {effect.ms_per_bit:g} ms a bit (doi {effect.source})."
    )
    against = effects[(effects["ms"] * mean < 0) & effects["contrast"]]
    for what, part in (
        ("no contrast in surprisal (below 0.05 bits), chosen", flat[flat["chosen"]]),
        ("no contrast in surprisal, in the rest of the pool", flat[~flat["chosen"]]),
        ("chosen, with an effect in the other direction", against),
    ):
        if len(part):
            named = ", ".join(part["item"][:8]) + (f" and {len(part) - 8} more" if len(part) > 8 else "")
            options.talk(f"{what}: {options.count(len(part), 'item')}: {named}")
    if not participants:
        return
    paradigm = chosen.materials.paradigms[0]
    assumed = standard("log_rt")
    parts = stimuli.covariates_table(chosen.materials, [f"words:{effect.region}"])["value"]
    usual = effect.mean_rt * float(parts.mean())  # ms that the region takes
    if abs(mean) >= 2 * usual:
        raise study.DataError(
            f"an expected effect of {mean:.0f} ms is no part of the {usual:.0f} ms that {effect.region} takes; see ms_per_bit"
        )
    # The difference of logs about the mean time; what surprisal says of items adds to what else differs between them.
    size = math.log((usual + mean / 2) / (usual - mean / 2))
    slope = math.hypot(assumed.item_slope, sd / usual)
    table = analysis.power_curve(
        size,
        participants=participants,
        items=[len(chosen.materials.items)],
        term=term,
        factors=paradigm.factors,
        assumptions=dataclasses.replace(assumed, item_slope=slope, name="expected"),
        runs=runs,
        seed=seed,
    )
    for row in table.itertuples():
        click.echo(
            f"Power of {row.participants} participants and {row.n_items} items: {row.power:.2f} "
            f"[{row.power_low:.2f}, {row.power_high:.2f}], of {row.runs} simulated studies."
        )
