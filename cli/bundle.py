"""gardenpath bundle: a study as one zip file for an archive, a Psych-DS data set with all that the results came from."""

import functools
import posixpath
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options
from .report import tables_of, write_report

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import Study
    from gardenpath.study.schemas import Column

REMOVED = "REMOVED"
CODES = re.compile(r"""(\w*_code\s*=\s*)(["']).*?\2""")  # for which platforms pay
RETURN = re.compile(r"""(completion_url\s*=\s*)(["'])https://.*?\2""")  # which may hold a token of the study's
R_PACKAGES = ("lme4", "lmerTest", "emmeans", "ordinal", "mgcv", "brms")
KEYS = {"author": "authors", "usageInfo": "usage_info"}  # of study.toml, where schema.org has other names
RAW = "data/raw/"
PREREGISTRATION = "preregistration.md"
README = """\
A data set in the form of Psych-DS (https://psych-ds.github.io), made by gardenpath. Tables are CSV files in UTF-8 with a header;
an empty cell is a missing value. The columns of a data file are described in the .json file of the same name, and those of all
tables in documentation/data-dictionary.csv.

Participants are labels, or keyed hashes of a platform's ids; the key is not here, so that nobody can get from the one to the other.

| file | one row is | rows | a row is named by |
|---|---|---|---|
{listed}
- materials: study.toml, which states the whole study; the items; the counterbalanced versions
- results: report.html, a report of all results, with its figures and its models again as R code
- analysis: which command made each table, of what, with which programs (provenance.json); the versions of Python, R and of every
  package that was installed (environment.json, requirements.txt)
- documentation: the data dictionary, and the hash of every file (sha256.txt, for `sha256sum -c documentation/sha256.txt`)

To repeat the analyses: `gardenpath analyse data --study materials/study.toml -o again`
"""


@click.command("bundle")
@options.study_file
@click.option("--raw", is_flag=True, help="With the sessions as they came, an event a line, beside the tables of them.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Data for --raw: a folder or database [default: data/ beside STUDY.toml].",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Zip file to write.")
@options.force
def command(study_file: Path, raw: bool, data: Path | None, out: Path, force: bool) -> None:
    """Put the study of STUDY.toml into one zip file for an archive, such as Zenodo or a Dataverse.

    It is a data set as Psych-DS asks for it: the tables of tables/ and scores/ with every column described, results with a
    report made of them, materials, versions, and the versions of all programs. Nothing is written if Psych-DS would refuse it, or
    if a table holds ids or addresses of people. The same study gives the same bytes.
    """
    from gardenpath import study
    from gardenpath.study import psych_ds

    study.files.refuse_overwrite([out], force)
    plan = study.load(study_file)
    paths = tables_of(plan.folder)
    tables = _kept({name: study.read(path, name) for name, path in paths.items()}, plan)
    paths = {name: paths[name] for name in tables}
    _refuse_people(tables, paths)
    if (plan.folder / PREREGISTRATION).exists() and "deviations" not in tables:
        options.talk(f"what departs from {PREREGISTRATION} is not there; gardenpath deviations writes it")
    for line in _of_people(tables, plan):
        options.talk(f"look at this before you publish: {line}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files = dict(_files(plan, tables, paths, folder))
        if raw:
            files |= dict(_raw(data or plan.folder / "data"))
    files["documentation/sha256.txt"] = _hashes(files)
    issues = psych_ds.check_dataset(files)
    if faults := [str(issue) for issue in issues if issue.level == "error"]:
        raise study.DataError(faults)
    if lacking := [issue.message.partition(" ")[0] for issue in issues if issue.code == "JSON_KEY_RECOMMENDED"]:
        keys = [KEYS.get(key, key) for key in lacking]
        options.talk(f"{plan.path}: Psych-DS recommends to state {', '.join(keys)} in [archive]")
    for issue in issues:
        if issue.code != "JSON_KEY_RECOMMENDED":
            options.talk(str(issue))
    root = re.sub(r"[^\w.-]+", "-", plan.name).strip(".-") or "study"
    study.files.write_zip(out, {f"{root}/{path}": content for path, content in files.items()})
    number, digest = options.count(len(files), "file"), study.files.sha256(out)
    click.echo(f"{out}: {number}, no errors by the rules of Psych-DS {psych_ds.VERSION}; SHA-256 {digest}")


def _kept(tables: "Mapping[str, pd.DataFrame]", plan: "Study") -> "dict[str, pd.DataFrame]":
    """Return the tables without those, and with those columns empty, that `archive.leave_out` names."""
    from gardenpath.study import TABLES, DataError

    kept = dict(tables)
    for name in plan.archive.leave_out:
        table, _, column = name.partition(".")
        where = f"{plan.path}: archive.leave_out names {name!r}"
        if table not in TABLES:
            raise DataError(
                f"{where}; expected a table, such as demographics, or a column of one, such as sessions.started"
            )
        if not column:
            kept.pop(table, None)
            continue
        may_be_empty = [one.name for one in TABLES[table].columns if one.empty]
        if column not in may_be_empty:
            raise DataError(
                f"{where}; expected a column that may be empty ({', '.join(may_be_empty) or 'none'}), or the whole table"
            )
        if table in kept:
            kept[table] = kept[table].assign(**{column: None})
    return kept


PLATFORM_ID = re.compile(r"^(?:[0-9a-f]{24}|A(?=[A-Z]*\d)[0-9A-Z]{12,14})$")  # of Prolific, of Mechanical Turk
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.\w")


def _refuse_people(tables: "Mapping[str, pd.DataFrame]", paths: Mapping[str, Path]) -> None:
    """Raise `DataError` where participants have the ids of a platform, or what somebody wrote holds an e-mail address."""
    from gardenpath.study import DataError

    faults = []
    for name, table in tables.items():
        for column in table.select_dtypes(["string", "object"]) if "participant" in table else ():
            cells = table[column]
            texts = [text for text in cells.dropna().unique() if isinstance(text, str)]
            looks = (
                ("an id of a platform", PLATFORM_ID, "collect without --keep-ids, which hashes them"),
                ("an e-mail address", ADDRESS, f"take it out, or leave out '{name}.{column}' (archive.leave_out)"),
            )
            for what, pattern, advice in looks:
                found = [text for text in texts if pattern.search(text)]
                lines = [str(int(i) + 2) for i in cells.index[cells.isin(found)]]
                if lines:
                    faults.append(
                        f"{paths[name]}, line {lines[0]}: column {column!r} has what looks like {what}, in "
                        f"{options.count(len(lines), 'line')}; expected none in an archive: {advice}"
                    )
    if faults:
        raise DataError(faults)


def _of_people(tables: "Mapping[str, pd.DataFrame]", plan: "Study") -> Iterator[str]:
    """Yield what could tell who somebody is, though no name does."""
    if "demographics" in tables and len(asked := tables["demographics"]):
        answers = asked.pivot_table(index="participant", columns="field", values="answer", aggfunc="first").fillna("")
        alone = (answers.groupby(list(answers.columns))[answers.columns[0]].transform("size") == 1).sum()
        yield (
            f"demographics ({', '.join(answers.columns)}): {alone} of {options.count(len(answers), 'participant')} can be told "
            'from all others by them; archive.leave_out = ["demographics"] leaves them at home'
        )
        typed = [one.name for one in plan.procedure.demographics if one.kind == "text" and one.name in answers]
        if typed:
            yield f"demographics: {', '.join(typed)} typed freely; read the answers"
    if "responses" in tables:
        typed_rows = tables["responses"]["task"].isin(["completion"]) & tables["responses"]["response"].notna()
        if typed_rows.any():
            yield f"responses: {options.count(int(typed_rows.sum()), 'answer')} typed freely (completion); read them"
    if "sessions" in tables and tables["sessions"]["started"].notna().any():
        yield (
            'sessions: a platform knows who began when; archive.leave_out = ["sessions.started", "sessions.finished"] leaves '
            "the times at home"
        )


def _files(
    plan: "Study", tables: "Mapping[str, pd.DataFrame]", paths: Mapping[str, Path], folder: Path
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the data set, by path: data with their descriptions, results, materials, documentation."""

    from gardenpath.study import psych_ds, table_files

    places = {name: _place(plan, name, path) for name, path in paths.items()}
    described = {name: table_files.columns_of(tables[name], name) for name in tables}
    for name, table in tables.items():
        yield places[name], table_files.csv_text(table, name).encode()
        if places[name].startswith("data/"):
            yield places[name].replace(".csv", ".json"), _json(psych_ds.sidecar(described[name]))
    data = {name: columns for name, columns in described.items() if places[name].startswith("data/")}
    yield psych_ds.METADATA, _json(_metadata(plan, tables, data))
    yield "documentation/data-dictionary.csv", table_files.dictionary(tables).encode()
    yield "README.md", _readme(plan, tables, places).encode()
    yield "CHANGES.md", _changes(plan).encode()
    for ignore in psych_ds.IGNORE:
        yield ignore, "\n".join([RAW, *psych_ds.IGNORE, ""]).encode()
    yield "analysis/provenance.json", _json(_provenance(plan, paths, places))
    for path, lock in _environment().items():
        yield path, lock.encode()
    yield from _materials(plan)
    report = folder / "results" / "report.html"
    links = {name: posixpath.relpath(place, "results") for name, place in places.items()}
    write_report(plan, tables, paths, links, report, figures=True)
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = file.read_bytes()
        whose = content if file.suffix == ".png" else _at_home(content.decode(), plan).encode()
        yield file.relative_to(folder).as_posix(), whose
    if (written := plan.folder / "results" / "results.md").exists():
        yield "results/results.md", _at_home(written.read_text("utf-8"), plan).encode()


def _json(content: object) -> bytes:
    import json

    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _place(plan: "Study", name: str, path: Path) -> str:
    """Return where a table lies in the data set: what people and models did is data, what was computed of it results."""
    from gardenpath.study import psych_ds

    if path.parent.name == "results":
        return f"results/{name}.csv"
    return f"data/{psych_ds.data_file(plan.name, name)}"


def _at_home(text: str, plan: "Study") -> str:
    """Return a text without where the study lies on this machine."""
    places = dict.fromkeys((plan.folder.resolve(), plan.folder.absolute(), Path.home()))
    for place in [place for place in places if len(place.parts) > 1]:
        text = text.replace(f"{place}/", "").replace(str(place), ".")
    return text


def _metadata(
    plan: "Study", tables: "Mapping[str, pd.DataFrame]", data: "Mapping[str, Iterable[Column]]"
) -> dict[str, object]:
    """Return what dataset_description.json says."""
    from gardenpath.analysis.reporting.exhibits import SIMULATED
    from gardenpath.study import psych_ds

    said = plan.archive
    people = ""
    if "sessions" in tables:
        made = "simulated " if tables["sessions"]["source"].isin(SIMULATED).all() else ""
        people = f", {options.count(tables['sessions']['participant'].nunique(), f'{made}participant')}"
    by_default = (
        f"Materials, data and results of the study {plan.title or plan.name} (language {plan.language}{people})."
    )
    authors = [
        {
            "@type": "Person",
            "name": one.name,
            **({"@id": f"https://orcid.org/{one.orcid}"} if one.orcid else {}),
            **({"affiliation": {"@type": "Organization", "name": one.affiliation}} if one.affiliation else {}),
        }
        for one in said.authors
    ]
    stated = {
        "author": authors,
        "keywords": said.keywords,
        "license": said.license,
        "citation": said.citation,
        "funder": said.funder and {"@type": "Organization", "name": said.funder},
        "url": said.url,
        "identifier": said.identifier,
        "usageInfo": said.usage_info,
    }
    return {
        "@context": psych_ds.CONTEXT,
        "@type": "Dataset",
        "name": plan.title or plan.name,
        "description": said.description or by_default,
        "schemaVersion": f"Psych-DS {psych_ds.VERSION}",
        "inLanguage": plan.language,
        **{key: value for key, value in stated.items() if value},
        "variableMeasured": psych_ds.all_variables(data),
    }


def _readme(plan: "Study", tables: "Mapping[str, pd.DataFrame]", places: Mapping[str, str]) -> str:
    from gardenpath.study import TABLES

    about = f"{plan.archive.description}\n\n" if plan.archive.description else ""
    listed = "".join(
        f"| {places[name]} | {TABLES[name].row} | {len(table)} | {', '.join(TABLES[name].key)} |\n"
        for name, table in tables.items()
    )
    return f"# {plan.title or plan.name}\n\n{about}{README.format(listed=listed)}"


def _changes(plan: "Study") -> str:
    own = plan.folder / "CHANGES.md"
    return own.read_text("utf-8") if own.exists() else "# Changes\n\n- First version.\n"


def _provenance(plan: "Study", paths: Mapping[str, Path], places: Mapping[str, str]) -> dict[str, object]:
    """Return which command made each table, of what, with which seed and versions, as their sidecars say."""
    import json

    from gardenpath.study.files import read_sidecar

    told = {places[name]: read_sidecar(path) for name, path in paths.items()}
    found: dict[str, object] = json.loads(_at_home(json.dumps(told, ensure_ascii=False), plan))
    return found


@functools.cache
def _environment() -> dict[str, str]:
    """Return the lock of the environment as files: Python with every package, and R with those that our models use."""
    import json
    import platform
    import shutil
    import subprocess
    from importlib.metadata import distributions

    about = (each.metadata for each in distributions())
    pinned = sorted({f"{each['Name']}=={each['Version']}" for each in about if each["Name"]}, key=str.lower)
    r: dict[str, str] = {}
    if program := shutil.which("Rscript"):
        asked = (
            "cat('R', paste(R.version$major, R.version$minor, sep = '.'), '\\n'); for (name in commandArgs(TRUE)) "
            "if (nzchar(system.file(package = name))) cat(name, as.character(packageVersion(name)), '\\n')"
        )
        told = subprocess.run(
            [program, "--vanilla", "-e", asked, *R_PACKAGES], capture_output=True, text=True, check=False
        )
        r = dict(line.split() for line in told.stdout.splitlines() if len(line.split()) == 2)
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine(), "r": r}
    return {
        "analysis/requirements.txt": "\n".join(pinned) + "\n",
        "analysis/environment.json": json.dumps(machine, indent=2) + "\n",
    }


def _materials(plan: "Study") -> Iterator[tuple[str, bytes]]:
    """Yield study.toml without codes that are worth money, the materials, and the versions that they were dealt to."""
    from gardenpath import experiment
    from gardenpath.study.files import read_text

    text = CODES.sub(rf'\1"{REMOVED}"', read_text(plan.path))
    text = RETURN.sub(rf'\1"https://{REMOVED}"', text)
    for stated in filter(None, (*plan.materials.files, plan.materials.mapping, plan.procedure.texts)):
        path, name = plan.folder / stated, stated
        if not path.resolve().is_relative_to(
            plan.folder.resolve()
        ):  # from elsewhere: it comes to lie beside study.toml
            name = path.name
            text = text.replace(f'"{stated}"', f'"{name}"')
        yield f"materials/{posixpath.normpath(name)}", path.read_bytes()
    yield "materials/study.toml", text.encode()
    dealt = sorted((plan.folder / "versions").glob("*.json"))
    for path in [path for path in dealt if not path.name.endswith(".meta.json")]:
        yield f"materials/versions/{path.name}", path.read_bytes()
    if not dealt:
        for file in experiment.version_files(plan):
            yield f"materials/versions/{file.name}.json", file.text.encode()
    for name in (PREREGISTRATION, "README.md"):
        if (own := plan.folder / name).exists():
            yield f"documentation/{name}", own.read_bytes()


def _raw(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield our own sessions as they came, participants hashed, with the versions that they ran."""
    from gardenpath.experiment import collect_data, session_folders

    found = collect_data.recorded(data, previews=False)
    for file in found.files.values():
        yield f"{RAW}versions/{file.sha256}.json", file.text.encode()
    for record in found.records():
        texts = {**session_folders.record_texts(record), "session.json": session_folders.session_text(record.session)}
        for name, text in texts.items():
            yield f"{RAW}{record.session.id}/{name}", text.encode()


def _hashes(files: Mapping[str, bytes]) -> bytes:
    import hashlib

    return "".join(
        f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items())
    ).encode()
