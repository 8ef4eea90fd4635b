"""gardenpath export: a study for the platforms that people already use."""

from pathlib import Path

import click

from . import options


def platforms() -> list[str]:
    """Return the platforms that a study can be exported to."""
    from gardenpath.experiment.platforms import exporting

    return [platform.NAME for platform in exporting.EXPORTS]


@click.command("export")
@options.study_file
@click.option("--to", "platform", type=options.OneOf(platforms), required=True, help="What it is for.")
@click.option(
    "--orders",
    type=click.IntRange(min=1),
    help="Orders drawn for each version: the participants planned for it [default: online.quota of STUDY.toml].",
)
@options.out
@options.force
def command(study_file: Path, platform: str, orders: int | None, out: Path, force: bool) -> None:
    """Write STUDY.toml as another platform takes it, with pre-drawn orders of each version, to the folder given by -o.

    A README in the folder says what to do there. versions/ holds what was shown: keep it with the data that come back.
    """
    from gardenpath import experiment, study
    from gardenpath.experiment import recruitment

    plan = study.load(study_file)
    study.files.refuse_overwrite([out], force)
    result = experiment.export(plan, platform, out, orders)
    notes = {"platform": platform, "orders": result.orders, "places": result.places}
    study.files.write_sidecar(
        out / "export", command=options.typed(), inputs=[study_file, *plan.paths()], seed=plan.seed, notes=notes
    )
    for sentence in result.loses:
        options.talk(f"{platform}: {sentence}")
    if unstated := recruitment.unstated_code(plan):
        options.talk(unstated)
    versions = options.count(result.versions, "version")
    click.echo(
        f"{out}: {versions} in {options.count(result.orders, 'order')} each, {options.count(result.places, 'place')}"
    )
    options.talk(f"{result.turns} A number from {result.places} on begins again at 0.")
    options.talk(f"dropouts can unbalance the versions; {out / 'README.md'} says how, and what to do")
