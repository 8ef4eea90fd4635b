"""What select and split share: options, settings of a file with those of the command in their place, and what is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.stimuli import Materials

SELECTION_OPTIONS = (
    click.option(
        "--covariate",
        "covariate",
        multiple=True,
        metavar="NAME[=TOLERANCE]",
        help="letters:critical, zipf:REGION, surprisal:up to REGION, bigram:REGION, a column ...; of sets =LOW..HIGH. Repeatable.",
    ),
    click.option("--tolerance", type=float, help="How far means may differ, in s.d. of the pool.  [default: 0.05]"),
    click.option("--spread-tolerance", type=float, help="How far second moments may differ, in s.d. of the pool."),
    click.option(
        "--balance-on", multiple=True, metavar="COLUMN", help="Spread evenly: phenomenon, paradigm or a column. Repeatable."
    ),
    click.option("--scores", type=click.Path(path_type=Path), help="Folder or file of the table surprisal, which score writes."),
    click.option("--model", help="Whose surprisal, where the table has several models."),
    click.option(
        "--bigrams", type=click.Path(path_type=Path), help="Corpus, or table with first, second and count, for bigram:PART."
    ),
    options.norm,
    options.mapping,
    click.option("--language", metavar="TAG", help="Language of items whose file states none."),
    click.option("--effort", type=float, help="Multiplies how long is searched.  [default: 1]"),
    click.option("--skip-bad", is_flag=True, help="Leave out items that cannot be read or lack a value, and name them."),
    click.option("--seed", type=int, help="Seed of the search.  [default: 1]"),
)


def add_selection_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have."""
    for option in reversed(SELECTION_OPTIONS):
        command = option(command)
    return command


def read_selection_inputs(
    materials: Sequence[Path], kind: Any, option_values: dict[str, Any], *, effect: Mapping[str, Any] | None = None
) -> "tuple[Any, Materials, pd.DataFrame | None, list[Path]]":
    """Return the settings, the pool, the table surprisal where one is named, and the files that were read."""
    from gardenpath import stimuli, study
    from gardenpath.stimuli.selection import settings

    covariates = dict(map(_parse_covariate, option_values.pop("covariate")))
    norms = options.parse_norms(option_values.pop("norm"))
    option_values = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in option_values.items()
        if value not in (None, (), False)
    }
    content: dict[str, Any] = {}
    folder, source, inputs, paths = Path(), "options", [], list(materials)
    if len(paths) == 1 and paths[0].suffix == ".toml":
        content = settings.read_toml(paths[0])
        folder, source, inputs = paths[0].parent, str(paths[0]), [paths[0]]
        paths = [folder / name for name in content.get("materials", [])]
        if not paths:
            raise study.DataError(f'{source}: materials names no file; expected the pool, such as materials = ["pool.csv"]')
    if covariates:
        content = {**content, "covariates": {**content.get("covariates", {}), **covariates}}
    if effect:
        content = {**content, "effect": {**content.get("effect", {}), **effect}}
    selection_settings = settings.build_settings({**content, **option_values}, kind, where=source)
    mapping = None
    if selection_settings.mapping:
        mapping = Path(selection_settings.mapping) if "mapping" in option_values else folder / selection_settings.mapping
        inputs.append(mapping)
    pool = stimuli.read(*paths, language=selection_settings.language, mapping=mapping, skip_bad=selection_settings.skip_bad)
    # What a file names lies beside it; what the command names, where the command is typed.
    surprisal = None
    if selection_settings.scores:
        scores = Path(selection_settings.scores) if "scores" in option_values else folder / selection_settings.scores
        surprisal = study.read(scores if scores.is_dir() else scores.parent, "surprisal")
        inputs += [path for path in [scores] if path.is_file()]
    norm_sections = {name: replace(section, file=str(folder / section.file)) for name, section in selection_settings.norms.items()}
    selection_settings = replace(selection_settings, norms={**norm_sections, **norms})
    if selection_settings.bigrams:
        bigrams = Path(selection_settings.bigrams) if "bigrams" in option_values else folder / selection_settings.bigrams
        selection_settings = replace(selection_settings, bigrams=str(bigrams))
        inputs.append(bigrams)
    inputs += [Path(section.file) for section in selection_settings.norms.values()]
    return selection_settings, pool, surprisal, [*inputs, *paths]


def _parse_covariate(text: str) -> tuple[str, dict[str, float | list[float]]]:
    """Return a covariate and its tolerance as typed: letters:critical=0.02, or of sets cloze=-0.1..0.1."""
    name, equals, value = text.partition("=")
    try:
        low, dots, high = value.partition("..")
        if dots:
            return name, {"difference_range": [float(low), float(high)]}
        return name, {"tolerance": float(value)} if equals else {}
    except ValueError:
        raise click.UsageError(
            f"--covariate {text}: {value!r} is no tolerance; expected such as 0.02, or of sets -0.2..0.2"
        ) from None


def write_selection(
    out: Path,
    tables: "Mapping[str, pd.DataFrame]",
    materials: "Materials | None",
    inputs: Sequence[Path],
    selection_settings: Any,
    notes: Mapping[str, Any],
) -> None:
    """Write the chosen materials, the tables and the figure."""
    from gardenpath import stimuli, study
    from gardenpath.analysis.reporting.figures import figure_style, matching_figures

    for name, table in tables.items():
        study.write(
            table, name, out, command=options.format_command_line(), inputs=inputs, seed=selection_settings.seed, notes=notes
        )
    if materials is not None:
        path = out / "items.jsonl"
        stimuli.write(materials, path)
        study.files.write_sidecar(
            path, command=options.format_command_line(), inputs=inputs, seed=selection_settings.seed, notes=notes
        )
    if tables["matching"]["should_match"].any():
        tolerances = {name: selection_settings.get_tolerance(name) for name in selection_settings.covariates}
        figure = matching_figures.matching_figure(tables["matching"], tolerances)
        figure_style.save(figure, "matching", out / "figures")
