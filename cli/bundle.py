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
from .plan import find_study_plan
from .report import find_study_tables, require_same_plan, write_report

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.study import Study
    from gardenpath.study.schemas import Column

REDACTED_VALUE = "REMOVED"
CODE_PATTERN = re.compile(r"""(\w*_code\s*=\s*)(["']).*?\2""")  # for which platforms pay
RETURN_URL_PATTERN = re.compile(r"""(completion_url\s*=\s*)(["'])https://.*?\2""")  # which may hold a token of the study's
R_PACKAGES = ("lme4", "lmerTest", "emmeans", "ordinal", "mgcv", "brms")
STUDY_KEYS = {"author": "authors", "usageInfo": "usage_info"}  # of study.toml, where schema.org has other names
RAW_FOLDER = "data/raw/"
PREREGISTRATION_FILE = "preregistration.md"
PLAN_FILE = "materials/plan.json"
README_TEMPLATE = """\
A data set in the form of Psych-DS (https://psych-ds.github.io), made by gardenpath. Tables are CSV files in UTF-8 with a header;
an empty cell is a missing value. The columns of a data file are described in the .json file of the same name, and those of all
tables in documentation/data-dictionary.csv.

Participants are labels, or keyed hashes of a platform's ids; the key is not here, so that nobody can get from the one to the other.

| file | one row is | rows | a row is named by |
|---|---|---|---|
{listed}
- materials: study.toml, which states the whole study; the items; the counterbalanced lists; the plan of the models (plan.json)
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
    "--data", type=click.Path(path_type=Path), help="Data for --raw: a folder or database [default: data/ beside STUDY.toml]."
)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Zip file to write.")
@options.force
def command(study_file: Path, raw: bool, data: Path | None, out: Path, force: bool) -> None:
    """Put the study of STUDY.toml into one zip file for an archive, such as Zenodo or a Dataverse.

    It is a data set as Psych-DS asks for it: the tables of tables/ and scores/ with every column described, results with a
    report made of them, materials, lists, and the versions of all programs. Nothing is written if Psych-DS would refuse it, if a
    table holds ids or addresses of people, or if the materials are not those that were shown and archive.deviations does not say
    why. The same study gives the same bytes.
    """
    from gardenpath import study
    from gardenpath.study import psych_ds

    study.files.refuse_overwrite([out], force)
    config = study.load(study_file)
    paths = find_study_tables(config.folder)
    tables = _drop_left_out({name: study.read(path, name) for name, path in paths.items()}, config)
    paths = {name: paths[name] for name in tables}
    _refuse_identifiers(tables, paths)
    _refuse_unlike_materials(config, tables, paths)
    require_same_plan(config, tables, paths)
    if (config.folder / PREREGISTRATION_FILE).exists() and "deviations" not in tables:
        options.print_notice(f"what departs from {PREREGISTRATION_FILE} is not there; gardenpath deviations writes it")
    for line in _describe_identity_risks(tables, config):
        options.print_notice(f"look at this before you publish: {line}")
    with tempfile.TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder)
        files = dict(_collect_files(config, tables, paths, folder))
        if raw:
            files |= dict(_collect_raw_sessions(data or config.folder / "data"))
    files["documentation/sha256.txt"] = _format_hashes(files)
    issues = psych_ds.check_dataset(files)
    if faults := [str(issue) for issue in issues if issue.level == "error"]:
        raise study.DataError(faults)
    if missing_keys := [issue.message.partition(" ")[0] for issue in issues if issue.code == "JSON_KEY_RECOMMENDED"]:
        keys = [STUDY_KEYS.get(key, key) for key in missing_keys]
        options.print_notice(f"{config.path}: Psych-DS recommends to state {', '.join(keys)} in [archive]")
    for issue in issues:
        if issue.code != "JSON_KEY_RECOMMENDED":
            options.print_notice(str(issue))
    root = re.sub(r"[^\w.-]+", "-", config.name).strip(".-") or "study"
    study.files.write_zip(out, {f"{root}/{path}": content for path, content in files.items()})
    number, digest = options.format_count(len(files), "file"), study.files.hash_file(out)
    click.echo(f"{out}: {number}, no errors by the rules of Psych-DS {psych_ds.PSYCH_DS_VERSION}; SHA-256 {digest}")


def _drop_left_out(tables: "Mapping[str, pd.DataFrame]", config: "Study") -> "dict[str, pd.DataFrame]":
    """Return the tables without those, and with those columns empty, that `archive.leave_out` names."""
    from gardenpath.study import TABLES, DataError

    remaining = dict(tables)
    for name in config.archive.leave_out:
        table, _, column = name.partition(".")
        location = f"{config.path}: archive.leave_out names {name!r}"
        if table not in TABLES:
            raise DataError(f"{location}; expected a table, such as demographics, or a column of one, such as sessions.started")
        if not column:
            remaining.pop(table, None)
            continue
        may_be_empty = [one.name for one in TABLES[table].columns if one.may_be_empty]
        if column not in may_be_empty:
            raise DataError(
                f"{location}; expected a column that may be empty ({', '.join(may_be_empty) or 'none'}), or the whole table"
            )
        if table in remaining:
            remaining[table] = remaining[table].assign(**{column: None})
    return remaining


PLATFORM_ID_PATTERN = re.compile(r"^(?:[0-9a-f]{24}|A(?=[A-Z]*\d)[0-9A-Z]{12,14})$")  # of Prolific, of Mechanical Turk
EMAIL_PATTERN = re.compile(r"[\w.+-]+@[\w-]+\.\w")


def _refuse_identifiers(tables: "Mapping[str, pd.DataFrame]", paths: Mapping[str, Path]) -> None:
    """Raise `DataError` where participants have the ids of a platform, or what somebody wrote holds an e-mail address."""
    from gardenpath.study import DataError

    faults = []
    for name, table in tables.items():
        for column in table.select_dtypes(["string", "object"]) if "participant" in table else ():
            cells = table[column]
            texts = [text for text in cells.dropna().unique() if isinstance(text, str)]
            checks = (
                ("an id of a platform", PLATFORM_ID_PATTERN, "collect without --keep-ids, which hashes them"),
                ("an e-mail address", EMAIL_PATTERN, f"take it out, or leave out '{name}.{column}' (archive.leave_out)"),
            )
            for description, pattern, advice in checks:
                found = [text for text in texts if pattern.search(text)]
                lines = [str(int(i) + 2) for i in cells.index[cells.isin(found)]]
                if lines:
                    faults.append(
                        f"{paths[name]}, line {lines[0]}: column {column!r} has what looks like {description}, in "
                        f"{options.format_count(len(lines), 'line')}; expected none in an archive: {advice}"
                    )
    if faults:
        raise DataError(faults)


SHOWN_UNLIKE = 5  # sentences that a refusal names


def _refuse_unlike_materials(config: "Study", tables: "Mapping[str, pd.DataFrame]", paths: Mapping[str, Path]) -> None:
    """Raise `DataError` where the materials of the study are not those that the table items says were shown; those whose reason
    `archive.deviations` states are named.
    """
    from gardenpath.experiment.setup.shown_items import find_unlike_items
    from gardenpath.study import DataError

    if "items" not in tables:
        return
    unlike = find_unlike_items(config, tables["items"])
    unstated = [one for one in unlike if one.key not in config.archive.deviations]
    for one in unlike:
        if one not in unstated:
            options.print_notice(f"not as it was shown: {one}; archive.deviations: {config.archive.deviations[one.key]}")
    if unstated:
        more = [f"and {len(unstated) - SHOWN_UNLIKE} more"] if len(unstated) > SHOWN_UNLIKE else []
        raise DataError(
            [
                f"{paths['items']}: {options.format_count(len(unstated), 'sentence')} shown to participants "
                f"{'is' if len(unstated) == 1 else 'are'} not as in the materials of {config.path}; expected these as they were "
                f'shown, or a reason in archive.deviations, such as  "{unstated[0].key}" = "..."',
                *map(str, unstated[:SHOWN_UNLIKE]),
                *more,
            ]
        )


def _describe_identity_risks(tables: "Mapping[str, pd.DataFrame]", config: "Study") -> Iterator[str]:
    """Yield what could tell who somebody is, though no name does."""
    from gardenpath.study.task_methods import TASK_METHODS

    if "demographics" in tables and len(demographics := tables["demographics"]):
        responses = demographics.pivot_table(index="participant", columns="question", values="response", aggfunc="first").fillna("")
        unique_count = (responses.groupby(list(responses.columns))[responses.columns[0]].transform("size") == 1).sum()
        yield (
            f"demographics ({', '.join(responses.columns)}): {unique_count} of "
            f"{options.format_count(len(responses), 'participant')} can be told "
            'from all others by them; archive.leave_out = ["demographics"] leaves them at home'
        )
        text_fields = [one.name for one in config.procedure.demographics if one.kind == "text" and one.name in responses]
        if text_fields:
            yield f"demographics: {', '.join(text_fields)} typed freely; read the answers"
    if "responses" in tables:
        free_text_tasks = [task for task, method in TASK_METHODS.items() if method.is_free_text]
        text_responses = tables["responses"]["task"].isin(free_text_tasks) & tables["responses"]["response"].notna()
        if text_responses.any():
            yield f"responses: {options.format_count(int(text_responses.sum()), 'answer')} typed freely; read them"
    if "sessions" in tables and tables["sessions"]["started"].notna().any():
        yield (
            'sessions: a platform knows who began when; archive.leave_out = ["sessions.started", "sessions.finished"] leaves '
            "the times at home"
        )


def _collect_files(
    config: "Study", tables: "Mapping[str, pd.DataFrame]", paths: Mapping[str, Path], folder: Path
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the data set, by path: data with their descriptions, results, materials, documentation."""

    from gardenpath.study import psych_ds, table_files

    archive_paths = {name: _get_archive_path(config, name, path) for name, path in paths.items()}
    columns_by_table = {name: table_files.list_columns(tables[name], name) for name in tables}
    for name, table in tables.items():
        yield archive_paths[name], table_files.format_csv(table, name).encode()
        if archive_paths[name].startswith("data/"):
            yield (archive_paths[name].replace(".csv", ".json"), _encode_json(psych_ds.build_sidecar(columns_by_table[name])))
    data = {name: columns for name, columns in columns_by_table.items() if archive_paths[name].startswith("data/")}
    yield psych_ds.METADATA_FILE, _encode_json(_build_metadata(config, tables, data))
    yield "documentation/data-dictionary.csv", table_files.format_data_dictionary(tables).encode()
    yield "README.md", _format_readme(config, tables, archive_paths).encode()
    yield "CHANGES.md", _read_changes(config).encode()
    for ignore_file in psych_ds.IGNORE_FILES:
        yield ignore_file, "\n".join([RAW_FOLDER, *psych_ds.IGNORE_FILES, ""]).encode()
    yield "analysis/provenance.json", _encode_json(_collect_provenance(config, paths, archive_paths))
    for path, lock in _describe_environment().items():
        yield path, lock.encode()
    yield from _collect_materials(config)
    plan, _ = find_study_plan(config)
    if plan is not None:
        yield PLAN_FILE, plan.format_json().encode()
    report = folder / "results" / "report.html"
    links = {name: posixpath.relpath(archive_path, "results") for name, archive_path in archive_paths.items()}
    write_report(config, tables, paths, links, report, figures=True)
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = file.read_bytes()
        cleaned = content if file.suffix == ".png" else _strip_local_paths(content.decode(), config).encode()
        yield file.relative_to(folder).as_posix(), cleaned
    for name in ("results.md", "multiverse.md"):
        if (text := config.folder / "results" / name).exists():
            yield f"results/{name}", _strip_local_paths(text.read_text("utf-8"), config).encode()


def _encode_json(content: object) -> bytes:
    import json

    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _get_archive_path(config: "Study", name: str, path: Path) -> str:
    """Return where a table lies in the data set: what people and models did is data, what was computed of it results."""
    from gardenpath.study import psych_ds

    if path.parent.name == "results":
        return f"results/{name}.csv"
    return f"data/{psych_ds.format_data_file_name(config.name, name)}"


def _strip_local_paths(text: str, config: "Study") -> str:
    """Return a text without where the study lies on this machine."""
    folders = dict.fromkeys((config.folder.resolve(), config.folder.absolute(), Path.home()))
    for folder in [folder for folder in folders if len(folder.parts) > 1]:
        text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    return text


def _build_metadata(
    config: "Study", tables: "Mapping[str, pd.DataFrame]", data: "Mapping[str, Iterable[Column]]"
) -> dict[str, object]:
    """Return what dataset_description.json says."""
    from gardenpath.analysis.reporting.exhibits import SIMULATED
    from gardenpath.study import psych_ds

    archive = config.archive
    participant_text = ""
    if "sessions" in tables:
        simulated_text = "simulated " if tables["sessions"]["source"].isin(SIMULATED).all() else ""
        participant_text = f", {options.format_count(tables['sessions']['participant'].nunique(), f'{simulated_text}participant')}"
    default_description = (
        f"Materials, data and results of the study {config.title or config.name} (language {config.language}{participant_text})."
    )
    authors = [
        {
            "@type": "Person",
            "name": one.name,
            **({"@id": f"https://orcid.org/{one.orcid}"} if one.orcid else {}),
            **({"affiliation": {"@type": "Organization", "name": one.affiliation}} if one.affiliation else {}),
        }
        for one in archive.authors
    ]
    optional_fields = {
        "author": authors,
        "keywords": archive.keywords,
        "license": archive.license,
        "citation": archive.citation,
        "funder": archive.funder and {"@type": "Organization", "name": archive.funder},
        "url": archive.url,
        "identifier": archive.identifier,
        "usageInfo": archive.usage_info,
    }
    return {
        "@context": psych_ds.SCHEMA_CONTEXT,
        "@type": "Dataset",
        "name": config.title or config.name,
        "description": archive.description or default_description,
        "schemaVersion": f"Psych-DS {psych_ds.PSYCH_DS_VERSION}",
        "inLanguage": config.language,
        **{key: value for key, value in optional_fields.items() if value},
        "variableMeasured": psych_ds.merge_variables(data),
    }


def _format_readme(config: "Study", tables: "Mapping[str, pd.DataFrame]", archive_paths: Mapping[str, str]) -> str:
    from gardenpath.study import TABLES

    description = f"{config.archive.description}\n\n" if config.archive.description else ""
    table_rows = "".join(
        f"| {archive_paths[name]} | {TABLES[name].row} | {len(table)} | {', '.join(TABLES[name].key)} |\n"
        for name, table in tables.items()
    )
    return f"# {config.title or config.name}\n\n{description}{README_TEMPLATE.format(listed=table_rows)}"


def _read_changes(config: "Study") -> str:
    changes_path = config.folder / "CHANGES.md"
    return changes_path.read_text("utf-8") if changes_path.exists() else "# Changes\n\n- First version.\n"


def _collect_provenance(config: "Study", paths: Mapping[str, Path], archive_paths: Mapping[str, str]) -> dict[str, object]:
    """Return which command made each table, of what, with which seed and versions, as their sidecars say."""
    import json

    from gardenpath.study.files import read_sidecar

    sidecars = {archive_paths[name]: read_sidecar(path) for name, path in paths.items()}
    found: dict[str, object] = json.loads(_strip_local_paths(json.dumps(sidecars, ensure_ascii=False), config))
    return found


@functools.cache
def _describe_environment() -> dict[str, str]:
    """Return the lock of the environment as files: Python with every package, and R with those that our models use."""
    import json
    import platform
    import shutil
    import subprocess
    from importlib.metadata import distributions

    package_metadata = (each.metadata for each in distributions())
    pinned = sorted({f"{each['Name']}=={each['Version']}" for each in package_metadata if each["Name"]}, key=str.lower)
    r: dict[str, str] = {}
    if program := shutil.which("Rscript"):
        r_code = (
            "cat('R', paste(R.version$major, R.version$minor, sep = '.'), '\\n'); for (name in commandArgs(TRUE)) "
            "if (nzchar(system.file(package = name))) cat(name, as.character(packageVersion(name)), '\\n')"
        )
        r_output = subprocess.run([program, "--vanilla", "-e", r_code, *R_PACKAGES], capture_output=True, text=True, check=False)
        r = dict(line.split() for line in r_output.stdout.splitlines() if len(line.split()) == 2)
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine(), "r": r}
    return {
        "analysis/requirements.txt": "\n".join(pinned) + "\n",
        "analysis/environment.json": json.dumps(machine, indent=2) + "\n",
    }


def _collect_materials(config: "Study") -> Iterator[tuple[str, bytes]]:
    """Yield study.toml without codes that are worth money, the materials, and the lists that they were dealt to."""
    from gardenpath import experiment
    from gardenpath.study.files import read_text

    text = CODE_PATTERN.sub(rf'\1"{REDACTED_VALUE}"', read_text(config.path))
    text = RETURN_URL_PATTERN.sub(rf'\1"https://{REDACTED_VALUE}"', text)
    for stated_path in filter(None, (*config.materials.files, config.materials.mapping, config.procedure.texts)):
        path, name = config.folder / stated_path, stated_path
        if not path.resolve().is_relative_to(config.folder.resolve()):  # from elsewhere: it comes to lie beside study.toml
            name = path.name
            text = text.replace(f'"{stated_path}"', f'"{name}"')
        yield f"materials/{posixpath.normpath(name)}", path.read_bytes()
    yield "materials/study.toml", text.encode()
    list_paths = sorted((config.folder / "lists").glob("*.json"))
    for path in [path for path in list_paths if not path.name.endswith(".meta.json")]:
        yield f"materials/lists/{path.name}", path.read_bytes()
    if not list_paths:
        for file in experiment.build_list_files(config):
            yield f"materials/lists/{file.name}.json", file.text.encode()
    for name in (PREREGISTRATION_FILE, "README.md"):
        if (document := config.folder / name).exists():
            yield f"documentation/{name}", document.read_bytes()


def _collect_raw_sessions(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield our own sessions as they came, participants hashed, with the lists that they ran."""
    from gardenpath.experiment.collection.recorded_sessions import open_session_source
    from gardenpath.experiment.sessions import session_folders

    session_data = open_session_source(data, previews=False)
    for file in session_data.list_files.values():
        yield f"{RAW_FOLDER}lists/{file.sha256}.json", file.text.encode()
    for record in session_data.read_recorded_sessions():
        texts = {**session_folders.format_session_files(record), "session.json": session_folders.format_session(record.session)}
        for name, text in texts.items():
            yield f"{RAW_FOLDER}{record.session.id}/{name}", text.encode()


def _format_hashes(files: Mapping[str, bytes]) -> bytes:
    import hashlib

    return "".join(f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items())).encode()
