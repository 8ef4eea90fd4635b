"""gardenpath report: one HTML file that says what was run and what came out."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gardenpath.cli import align, analyse, evaluate, options

if TYPE_CHECKING:
    from gardenpath.study import Study

# The tables of a study: folder, the command that makes them, names; and those that not every study has.
PLACES = (
    ("tables", "collect", ("items", "conditions", "words", "readings", "responses", "sessions")),
    ("scores", "score", ("surprisal", "sentence_scores")),
    ("results", "analyse", analyse.RESULTS),
    ("results", "align", align.RESULTS),
    ("results", "evaluate", ("pairs", "accuracy")),
)
SOMETIMES = (("results", "analyse", analyse.CHOSEN), ("results", "evaluate", evaluate.COMPARED))


@click.command("report")
@options.study_file
@options.out
@options.force
def command(study_file: Path, out: Path, force: bool) -> None:
    """Write a report of the study to one HTML file that needs nothing else, readable on a phone and printable.

    Reads the folders tables/, scores/ and results/ beside STUDY.toml and says which tables are absent.
    """
    from gardenpath import analysis
    from gardenpath.study import load, read, refuse_overwrite, write_sidecar, write_text

    study = load(study_file)
    refuse_overwrite([out], force)
    there, absent = _search(study.folder)
    if not there:
        raise FileNotFoundError(
            f"{study.folder}: no tables/, scores/ or results/ there; run  gardenpath collect  first"
        )
    for line in absent:
        options.talk(f"absent: {line}")
    page = analysis.report(
        {name: read(path, name) for name, path in there.items()},
        title=study.title or study.name,
        facts=_facts(study),
        files={name: _relative(path, out) for name, path in there.items()},
        software=_software(there),
        absent=absent,
        smallest=study.analysis.smallest,
    )
    write_text(out, page)
    write_sidecar(out, command=options.typed(), inputs=there.values(), seed=study.seed)
    options.talk(f"{out}: {len(there)} tables")


def _search(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each table that is there, and a line for each that is not, though every study has it."""
    there: dict[str, Path] = {}
    absent = []
    for place, verb, names in (*PLACES, *SOMETIMES):
        for name in names:
            forms = (folder / place / f"{name}.parquet", folder / place / f"{name}.csv")
            path = next((form for form in forms if form.exists()), None)
            if path is None and (place, verb, names) in SOMETIMES:
                continue
            if path is None:
                absent.append(f"{place}/{name}.csv, which comes from  gardenpath {verb}")
            else:
                there[name] = path
    return there, absent


def _relative(path: Path, out: Path) -> str:
    import os

    return Path(os.path.relpath(path, out.parent)).as_posix()


def _facts(study: "Study") -> dict[str, str]:
    return {
        "study": study.name,
        "language": study.language,
        "seed": str(study.seed),
        "materials": ", ".join(study.materials.files),
        "versions": f"{options.count(study.design.experiments, 'experiment')} of {options.count(study.design.versions, 'version')}",
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
