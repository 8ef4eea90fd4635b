"""gardenpath export: a study for the platforms that people already use."""

from pathlib import Path

import click

from . import options


def list_export_platforms() -> list[str]:
    """Return the platforms that a study can be exported to."""
    from gardenpath.experiment.platforms import platform_export

    return [platform.NAME for platform in platform_export.EXPORTS]


@click.command("export")
@options.study_file
@click.option("--platform", type=options.LazyChoice(list_export_platforms), required=True, help="What it is for.")
@click.option(
    "--orders",
    type=click.IntRange(min=1),
    help="Orders drawn for each list: the participants planned for it [default: online.quota of STUDY.toml].",
)
@options.output_path
@options.force
def command(study_file: Path, platform: str, orders: int | None, out: Path, force: bool) -> None:
    """Write STUDY.toml as another platform takes it, with pre-drawn orders of each list, to the folder given by -o.

    A README in the folder says what to do there. lists/ holds what was shown: keep it with the data that come back.
    """
    from gardenpath import experiment, study
    from gardenpath.experiment.sessions import recruitment

    config = study.load(study_file)
    study.files.refuse_overwrite([out], force)
    result = experiment.export(config, platform, out, orders)
    notes = {"platform": platform, "orders": result.order_count, "assignments": result.slot_count}
    study.files.write_sidecar(
        out / "export",
        command=options.format_command_line(),
        inputs=[study_file, *config.list_material_paths()],
        seed=config.seed,
        notes=notes,
    )
    for sentence in result.losses:
        options.print_notice(f"{platform}: {sentence}")
    if code_warning := recruitment.describe_placeholder_code(config):
        options.print_notice(code_warning)
    list_count = options.format_count(result.list_count, "list")
    click.echo(
        f"{out}: {list_count} in {options.format_count(result.order_count, 'order')} each, "
        f"{options.format_count(result.slot_count, 'assignment')}"
    )
    options.print_notice(f"{result.slot_rule} A number from {result.slot_count} on begins again at 0.")
    options.print_notice(f"dropouts can unbalance the lists; {out / 'README.md'} says how, and what to do")
