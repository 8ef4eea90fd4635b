"""gardenpath convert: materials from one format to another."""

from pathlib import Path

import click

from . import options


@click.command("convert")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--from-format", metavar="F", help="Format of SOURCE; recognised from its content when left out.")
@click.option("--to-format", metavar="F", help="Format of TARGET; named by its suffix when left out.")
@options.mapping
@click.option("--language", metavar="TAG", help="Language of items whose file states none, as in es (BCP 47).")
@options.skip_bad
@options.force
def command(
    source: Path,
    target: Path,
    from_format: str | None,
    to_format: str | None,
    mapping: Path | None,
    language: str | None,
    skip_bad: bool,
    force: bool,
) -> None:
    """Convert the materials SOURCE to TARGET and say what the target cannot hold."""
    from gardenpath import stimuli, study

    study.files.refuse_overwrite([target], force)
    materials = stimuli.read(source, format=from_format, language=language, mapping=mapping, skip_bad=skip_bad)
    lost = stimuli.write(materials, target, format=to_format)
    study.files.write_sidecar(
        target, command=options.format_command_line(), inputs=[source, *filter(None, [mapping])], notes={"not held": lost}
    )
    options.print_notice(
        f"{target}: {options.format_count(len(materials.items), 'item')} of "
        f"{options.format_count(len(materials.paradigms), 'paradigm')}"
    )
    for loss in lost:
        options.print_notice(f"not held by this format: {loss}")
