"""gardenpath report: one HTML file that says what was run and what came out."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import options, simulation_parameters

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import Study


MAX_PARADIGMS_SHOWN = 6  # paradigms whose counts the report's header states


@click.command("report")
@options.study_file
@click.option(
    "--items-from",
    "sources",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="FOLDER",
    help="Folder of drafts with their reviews, or of norms, that the items come from; those below the study's folder are found. "
    "Repeatable.",
)
@click.option(
    "--figures/--no-figures",
    default=True,
    show_default=True,
    help="Write every figure as SVG and PNG too, to a folder beside the report.",
)
@options.output_path
@options.force
def command(study_file: Path, sources: tuple[Path, ...], figures: bool, out: Path, force: bool) -> None:
    """Write a report of the study to one HTML file that needs nothing else, readable on a phone and printable.

    Reads the folders tables/, scores/ and results/ beside STUDY.toml and says what is absent. Beside report.html lie
    report-figures/ and report.R, which fits the report's mixed models again in R, and on request Bayesian ones in brms.

    How the items came about is said by their origin, and by the tables of `draft`, `review` and `norm`.
    """
    from gardenpath.study import load, read
    from gardenpath.study.files import refuse_overwrite, write_sidecar, write_text
    from gardenpath.study.table_files import escape_formulas

    config = load(study_file)
    refuse_overwrite([out, out.with_suffix(".R"), *([_get_figures_folder(out)] if figures else [])], force)
    files = find_study_tables(config.folder)
    tables = {name: read(path, name) for name, path in files.items()}
    require_same_plan(config, tables, files)
    item_table_paths = _find_item_tables(config.folder, sources)
    item_tables = {name: _read_item_table(paths, name) for name, paths in item_table_paths.items()}
    if (origins := _read_item_origins(config)) is not None:
        item_tables["item_origins"] = origins
    tables |= item_tables
    files |= {name: paths[0] for name, paths in item_table_paths.items()}
    links = {name: _get_relative_path(path, out) for name, path in files.items()}
    for name, table in item_tables.items():
        if len(item_table_paths.get(name, ())) != 1:  # of several folders, or of the items: so that all of it stands in one file
            path = out.with_name(f"{out.stem}-tables") / f"{name}.csv"
            links[name] = _get_relative_path(path, out)
            write_text(path, escape_formulas(table).to_csv(index=False, lineterminator="\n"))
    for line in write_report(config, tables, files, links, out, figures=figures):
        options.print_notice(line)
    write_sidecar(out, command=options.format_command_line(), inputs=files.values(), seed=config.seed)


def find_study_tables(folder: Path) -> dict[str, Path]:
    """Return the tables of a study by name; raises `FileNotFoundError` where there are none."""
    from gardenpath.study.table_files import find_tables

    files = find_tables(folder)
    if not files:
        raise FileNotFoundError(f"{folder}: no tables/, scores/ or results/ there; run  gardenpath collect  first")
    return files


def require_same_plan(config: "Study", tables: "Mapping[str, pd.DataFrame]", files: Mapping[str, Path]) -> None:
    """Raise `DataError` where the results are of another plan of models than the study states now.

    Nothing is raised where there are no results of a designed plan, or where the materials are not there any more.
    """
    from gardenpath.analysis.fitting.plan_tables import build_planned_models
    from gardenpath.study import DataError

    from .plan import find_study_plan

    _require_same_multiverse(tables, files)
    fitted = tables.get("planned_models")
    if fitted is None or fitted.empty or fitted["resolved_from"].iloc[0] != "design":
        return
    plan, _ = find_study_plan(config)
    if plan is None or (old := fitted["plan_sha256"].iloc[0]) == plan.sha256:
        return
    planned = build_planned_models(plan).drop(columns="plan_sha256")
    changed = sorted({*_list_rows(fitted.drop(columns="plan_sha256"))} ^ {*_list_rows(planned)})
    such = f"; {changed[0][0]!r} is not the same" if changed else ""
    raise DataError(
        f"{files['planned_models']}: results of the plan {old[:12]}, and {config.path} plans {plan.sha256[:12]} now{such}; run  "
        "gardenpath analyse  again, or take back what changed since"
    )


def _require_same_multiverse(tables: "Mapping[str, pd.DataFrame]", files: Mapping[str, Path]) -> None:
    """Raise `DataError` where the multiverse is of another plan than the results, or its planned effects are not theirs."""
    from gardenpath.study import DataError

    if "multiverse" not in tables or tables["multiverse"].empty:
        return
    again = "run  gardenpath multiverse  again, or delete it"
    planned, effects = (tables.get(name) for name in ("planned_models", "effects"))
    varied = tables["multiverse"][tables["multiverse"]["declared"]]
    if planned is not None and len(planned) and planned["plan_sha256"].iloc[0] != varied["plan_sha256"].iloc[0]:
        raise DataError(f"{files['multiverse']}: of another plan than the results beside it; {again}")
    if effects is None or effects.empty:
        return
    key = ["model_id", "term"]
    coefficients = effects.loc[effects["kind"] == "coefficient", [*key, "estimate"]]
    both = varied.merge(coefficients, on=key, suffixes=("", "_of_results"), validate="1:1")
    apart = both[(both["estimate"] - both["estimate_of_results"]).abs() > 1e-7 * both["se"]]
    for row in apart.head(1).to_dict("records"):
        raise DataError(
            f"{files['multiverse']}: {row['term']} of {row['model_id']!r} is {row['estimate']:.6g} as planned, and "
            f"{row['estimate_of_results']:.6g} in effects beside it: one is of other data or settings; {again}"
        )


def _list_rows(table: "pd.DataFrame") -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in table.itertuples(index=False)]


def _find_item_tables(folder: Path, sources: tuple[Path, ...]) -> dict[str, list[Path]]:
    """Return the tables on how items came about, in these folders and in those below the study's, by name."""
    from gardenpath.study import TABLES
    from gardenpath.study.table_files import find_table_file

    item_commands = ("draft", "review", "norm")
    names = [table.name for table in TABLES.values() if table.producer and table.producer.command in item_commands]
    subfolders = [candidate for pattern in ("*", "*/*") for candidate in sorted(folder.glob(pattern)) if candidate.is_dir()]
    folders = list(dict.fromkeys(candidate.resolve() for candidate in (*sources, *subfolders)))
    for candidate in sources:
        if not any(find_table_file(candidate, name).is_file() for name in names):
            raise FileNotFoundError(f"{candidate}: no table of drafts, reviews or norms there; expected one of {', '.join(names)}")
    found = {name: [path for candidate in folders if (path := find_table_file(candidate, name)).is_file()] for name in names}
    return {name: paths for name, paths in found.items() if paths}


def _read_item_table(paths: "list[Path]", name: str) -> "pd.DataFrame":
    """Return the rows of tables of one name, of several drafts or normings."""
    import pandas as pd

    from gardenpath.study import read

    return pd.concat([read(path, name) for path in paths], ignore_index=True)


def _read_item_origins(config: "Study") -> "pd.DataFrame | None":
    """Return where the study's items come from, None where their files say nothing of it, or are not there any more."""
    from gardenpath import stimuli
    from gardenpath.stimuli.drafting.provenance import ORIGIN, build_item_origins_table

    if not all(path.exists() for path in config.list_material_paths()):
        return None
    materials = stimuli.read_study(config)
    stated = any(item.extra.get(ORIGIN) for item in materials.items)
    return build_item_origins_table(materials) if stated else None


def _get_figures_folder(out: Path) -> Path:
    return out.with_name(f"{out.stem}-figures")


def write_report(
    config: "Study",
    tables: "Mapping[str, pd.DataFrame]",
    files: Mapping[str, Path],
    links: Mapping[str, str],
    out: Path,
    *,
    figures: bool,
) -> list[str]:
    """Write the report of these tables with its R code and figures; return a line for each of what was written.

    What is absent is said at once. `files` are where the tables are, with their sidecars; `links` where a reader finds them.
    """
    from gardenpath.analysis.reporting import document
    from gardenpath.analysis.reporting.figures import figure_style
    from gardenpath.study.files import write_text

    script, folder = out.with_suffix(".R"), _get_figures_folder(out)
    missing = _list_missing_tables(files)
    for line in missing:
        options.print_notice(f"absent: {line}")
    result = document.whole(
        tables,
        title=config.title or config.name,
        facts=_collect_study_facts(config),
        files=links,
        software=_collect_software_versions(files),
        models=_collect_model_descriptions(files),
        absent=missing,
        smallest=config.analysis.sesoi,
        figures=config.analysis.figures,
        ms_per_bit=simulation_parameters.read_ms_per_bit(files.get("sessions")),
    )
    write_text(out, result.html)
    written = [f"{out}: {len(files)} tables"]
    if result.code:
        write_text(script, result.code)
        written.append(f"{script}: the mixed models again, in R")
    if figures and result.figures:
        for name, (figure, drawn) in result.figures.items():
            figure_style.save(figure, name, folder, drawn)
        written.append(f"{folder}: {len(result.figures)} figures, as SVG and PNG")
    return written


def _list_missing_tables(files: Mapping[str, Path]) -> list[str]:
    """Return a line for what is not there, though every study has it."""
    from gardenpath.study import TABLES
    from gardenpath.study.schemas import MAIN_PRODUCERS

    lines = []
    for step in MAIN_PRODUCERS:
        names = [table.name for table in TABLES.values() if table.producer == step and table.is_always_written]
        missing = [name for name in names if name not in files]
        if missing == names:
            lines.append(f"{step.description}: they come from  gardenpath {step.command}")
        elif step.folder != "results":  # of results, tables without rows have no file
            lines += [f"{step.folder}/{name}.csv, which comes from  gardenpath {step.command}" for name in missing]
    return lines


def _get_relative_path(path: Path, out: Path) -> str:
    import os

    return Path(os.path.relpath(path, out.parent)).as_posix()


def _collect_study_facts(config: "Study") -> dict[str, str]:
    list_counts = (options.format_count(config.design.experiments, "experiment"), options.format_count(config.design.lists, "list"))
    return {
        "study": config.name,
        "language": config.language,
        "seed": str(config.seed),
        "materials": ", ".join(config.materials.files),
        **_describe_generation(config),
        "design": f"{list_counts[0]}, {list_counts[1]} each",
    }


def _describe_generation(config: "Study") -> dict[str, str]:
    """Return which grammar the materials were generated from, as their sidecars say, with seed and counts."""
    from gardenpath.study.files import read_sidecar

    found = []
    for path in config.list_material_paths():
        meta = read_sidecar(path)
        grammar, paradigms = meta.get("grammar"), meta.get("paradigms")
        if isinstance(grammar, dict) and isinstance(paradigms, list) and grammar:
            name, digest = next(iter(grammar.items()))
            counts = [f"{each['paradigm']} {each['items']} of {each['assignments']:,}" for each in paradigms[:MAX_PARADIGMS_SHOWN]]
            hidden_text = (
                f" and {len(paradigms) - MAX_PARADIGMS_SHOWN} paradigms more" if len(paradigms) > MAX_PARADIGMS_SHOWN else ""
            )
            found.append(
                f"{path.name} from {name} (SHA-256 {digest[:12]}), seed {meta.get('seed')}: {', '.join(counts)}{hidden_text}"
            )
    return {"generated": "; ".join(found)} if found else {}


def _collect_software_versions(files: Mapping[str, Path]) -> dict[str, str]:
    """Return the versions that the sidecars state, and the commands they were made by."""
    from gardenpath.study.files import read_sidecar

    software: dict[str, list[str]] = {}
    for path in files.values():
        meta = read_sidecar(path)
        versions = meta.get("versions")
        entries = dict(versions) if isinstance(versions, dict) else {}
        if meta.get("command"):
            entries[f"{path.parent.name}/"] = str(meta["command"])
        for name, value in entries.items():
            known = software.setdefault(str(name), [])
            if str(value) not in known:
                known.append(str(value))
    return {name: "; ".join(values) for name, values in software.items()}


def _collect_model_descriptions(files: Mapping[str, Path]) -> dict[str, str]:
    """Return what each language model is, as the sidecars of its scores state it: architecture, size, revision."""
    from gardenpath.study.files import read_sidecar

    models: dict[str, str] = {}
    for path in files.values():
        meta = read_sidecar(path)
        model_entries = meta.get("models")
        for model in [meta.get("model"), *(model_entries if isinstance(model_entries, list) else [])]:
            if isinstance(model, dict) and model.get("name"):
                models.setdefault(str(model["name"]), _describe_model(model))
    return models


def _describe_model(model: dict[str, object]) -> str:
    parts = [str(model["architecture"])] if model.get("architecture") else []
    parts += [f"{model['parameters']:,} parameters"] if model.get("parameters") else []
    parts += [f"{model['corpus_tokens']:,} tokens of {model['file']}"] if model.get("corpus_tokens") else []
    parts += [f"{name} {model[name]}" for name in ("smoothing", "revision", "commit", "dtype", "quantization") if model.get(name)]
    digests = model.get("sha256")
    if isinstance(digests, dict) and digests and not model.get("commit"):
        name, digest = next(iter(digests.items()))
        parts.append(f"SHA-256 of {name} {digest[:12]}…")
    return ", ".join(parts) or "described in the sidecar of its scores"
