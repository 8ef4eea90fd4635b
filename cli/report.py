"""gardenpath report: one HTML file that says what was run and what came out."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import align, analyse, options

if TYPE_CHECKING:
    from gardenpath.study import Study

# The tables of a study: folder, the command that makes them, names, and what a reader misses without them.
PLACES = (
    ("tables", "collect", ("items", "conditions", "words", "readings", "responses", "sessions"), "who did what"),
    ("scores", "score", ("surprisal", "sentence_scores"), "scores of language models"),
    ("results", "analyse", analyse.RESULTS, "exclusions, models of ratings and reading times, agreement"),
    ("results", "align", align.RESULTS, "alignment self-test, reading times by surprisal, gains on held-out readings"),
    ("results", "evaluate", ("pairs", "accuracy"), "language models on minimal pairs"),
)
SOMETIMES = ("rating_correlations", "delta_comparisons")  # of these commands, where there is something to compare


@click.command("report")
@options.study_file
@click.option(
    "--figures/--no-figures",
    default=True,
    show_default=True,
    help="Write every figure as SVG and PNG too, to a folder beside the report.",
)
@options.out
@options.force
def command(study_file: Path, figures: bool, out: Path, force: bool) -> None:
    """Write a report of the study to one HTML file that needs nothing else, readable on a phone and printable.

    Reads the folders tables/, scores/ and results/ beside STUDY.toml and says what is absent. Beside report.html lie
    report-figures/ and report.R, which refits the report's mixed models in lme4.
    """
    from gardenpath.analysis.reporting import document
    from gardenpath.analysis.reporting.figures import figure_style
    from gardenpath.study import load, read, refuse_overwrite, write_sidecar, write_text

    study = load(study_file)
    script, folder = out.with_suffix(".R"), out.with_name(f"{out.stem}-figures")
    refuse_overwrite([out, script, *([folder] if figures else [])], force)
    there, absent = _search(study.folder)
    if not there:
        raise FileNotFoundError(
            f"{study.folder}: no tables/, scores/ or results/ there; run  gardenpath collect  first"
        )
    for line in absent:
        options.talk(f"absent: {line}")
    made = document.whole(
        {name: read(path, name) for name, path in there.items()},
        title=study.title or study.name,
        facts=_facts(study),
        files={name: _relative(path, out) for name, path in there.items()},
        software=_software(there),
        models=_models(there),
        absent=absent,
        smallest=study.analysis.smallest,
    )
    write_text(out, made.html)
    write_sidecar(out, command=options.typed(), inputs=there.values(), seed=study.seed)
    options.talk(f"{out}: {len(there)} tables")
    if made.code:
        write_text(script, made.code)
        options.talk(f"{script}: the mixed models again, in R")
    if figures and made.figures:
        for name, figure in made.figures.items():
            figure_style.save(figure, name, folder)
        options.talk(f"{folder}: {len(made.figures)} figures, as SVG and PNG")


def _search(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each table that is there, and a line for what is not, though every study has it."""
    from gardenpath.study import TABLES

    there: dict[str, Path] = {}
    for name in TABLES:
        for place in ("tables", "scores", "results"):
            forms = (folder / place / f"{name}.parquet", folder / place / f"{name}.csv")
            form = next((form for form in forms if form.exists()), None)
            if form is not None:
                there.setdefault(name, form)
    absent = []
    for place, verb, names, what in PLACES:
        missing = [name for name in names if name not in there and name not in SOMETIMES]
        if len(missing) == len([name for name in names if name not in SOMETIMES]):
            absent.append(f"{what}: they come from  gardenpath {verb}")
        else:
            absent += [f"{place}/{name}.csv, which comes from  gardenpath {verb}" for name in missing]
    return there, absent


def _relative(path: Path, out: Path) -> str:
    import os

    return Path(os.path.relpath(path, out.parent)).as_posix()


def _facts(study: "Study") -> dict[str, str]:
    dealt = (options.count(study.design.experiments, "experiment"), options.count(study.design.versions, "version"))
    return {
        "study": study.name,
        "language": study.language,
        "seed": str(study.seed),
        "materials": ", ".join(study.materials.files),
        "design": f"{dealt[0]}, {dealt[1]} each",
    }


def _software(there: dict[str, Path]) -> dict[str, str]:
    """Return the versions that the sidecars state, and the commands they were made by."""
    from gardenpath.study import read_sidecar

    found: dict[str, list[str]] = {}
    for path in there.values():
        meta = read_sidecar(path)
        versions = meta.get("versions")
        stated = dict(versions) if isinstance(versions, dict) else {}
        if meta.get("command"):
            stated[f"{path.parent.name}/"] = str(meta["command"])
        for name, value in stated.items():
            known = found.setdefault(str(name), [])
            if str(value) not in known:
                known.append(str(value))
    return {name: "; ".join(values) for name, values in found.items()}


def _models(there: dict[str, Path]) -> dict[str, str]:
    """Return what each language model is, as the sidecars of its scores state it: architecture, size, revision."""
    from gardenpath.study import read_sidecar

    found: dict[str, str] = {}
    for path in there.values():
        meta = read_sidecar(path)
        several = meta.get("models")
        for model in [meta.get("model"), *(several if isinstance(several, list) else [])]:
            if isinstance(model, dict) and model.get("name"):
                found.setdefault(str(model["name"]), _described(model))
    return found


def _described(model: dict[str, object]) -> str:
    parts = [str(model["architecture"])] if model.get("architecture") else []
    parts += [f"{model['parameters']:,} parameters"] if model.get("parameters") else []
    parts += [f"{model['corpus_tokens']:,} tokens of {model['file']}"] if model.get("corpus_tokens") else []
    parts += [f"{name} {model[name]}" for name in ("smoothing", "revision", "quantization") if model.get(name)]
    digests = model.get("sha256")
    if isinstance(digests, dict) and digests and not model.get("revision"):
        name, digest = next(iter(digests.items()))
        parts.append(f"SHA-256 of {name} {digest[:12]}…")
    return ", ".join(parts) or "described in the sidecar of its scores"
