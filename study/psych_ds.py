"""Data sets as Psych-DS asks for them (https://psych-ds.github.io, version 1.5.1): names of files, metadata, and a check of both.

The rules are written here from the published schema of that version, which its validator (for Deno and the browser) reads.
Of schema.org's vocabulary only what Psych-DS requires is looked at, not whether schema.org knows each property.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .schemas import Column

PSYCH_DS_VERSION = "1.5.1"
SCHEMA_CONTEXT = "https://schema.org/"
METADATA_FILE = "dataset_description.json"
DATA_FILE_PATTERN = re.compile(r"[a-z]+-[a-zA-Z0-9]+(?:_[a-z]+-[a-zA-Z0-9]+)*_data\.(?:csv|tsv)")
FILE_NAME_KEYWORDS = ("study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description")
REQUIRED_KEYS = ("name", "description", "variableMeasured")
# Each of these alone does: the schema asks for `privacyPolicy`, the property that it documents and schema.org knows is `usageInfo`.
RECOMMENDED_KEYS = (
    ("author", "creator"),
    ("citation",),
    ("license",),
    ("funder",),
    ("url",),
    ("identifier",),
    ("usageInfo", "privacyPolicy"),
    ("keywords",),
)
RECOMMENDED_FOLDERS = ("analysis", "results", "materials", "documentation")  # recommended; their content is nobody's business
UNCHECKED_FOLDERS = (*RECOMMENDED_FOLDERS, "products", "sourcedata", "code", "stimuli", "log", ".git", ".datalad", ".reproman")
IGNORE_FILES = (".psychds-ignore", ".psychdsignore")  # the schema asks for the first, the validator reads the second
SCHEMA_TYPES = {"string": "Text", "int": "Integer", "float": "Number", "bool": "Boolean"}
UNIT_PATTERN = re.compile(r"\b(ms|bits?|nats?|px|Hz|z|log odds)\b")


@dataclass(frozen=True)
class Issue:
    """What the check has to say: an error or a warning, the code by which Psych-DS knows it, the file, and what is wrong."""

    level: str
    code: str
    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.file}: {self.message} ({self.code})"


def format_keyword_value(text: str) -> str:
    """Return a text as a value in the name of a data file: letters and digits of ASCII, words begun with capitals.

    >>> [format_keyword_value(name) for name in ("minimal-pairs", "sentence_scores", "Prüfung 2", "読む")]
    ['minimalPairs', 'sentenceScores', 'Prufung2', 'x8aad3080']
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words: list[str] = re.findall(r"[A-Za-z0-9]+", plain) or [f"x{text.encode('utf-16-be').hex()}"]
    first, *others = words
    return first + "".join(word[0].upper() + word[1:] for word in others)


def format_data_file_name(study: str, table: str) -> str:
    """Return the name of the data file of a study's table.

    >>> format_data_file_name("minimal-pairs", "sentence_scores")
    'study-minimalPairs_description-sentenceScores_data.csv'
    """
    return f"study-{format_keyword_value(study)}_{format_data_file_ending(table)}"


def format_data_file_ending(table: str) -> str:
    """Return how the names of a table's data files end, whatever the study."""
    return f"description-{format_keyword_value(table)}_data.csv"


def describe_variable(column: Column) -> dict[str, str]:
    """Return a column as a variable that was measured, in schema.org's words: meaning, type, and unit where it has one.

    >>> describe_variable(Column("rt", "float", "reading time, ms"))["unitText"]
    'ms'
    """
    unit = UNIT_PATTERN.search(column.meaning) if column.type in ("int", "float") else None
    return {
        "@type": "PropertyValue",
        "name": column.name,
        "description": column.meaning + ("; may be empty" if column.may_be_empty else ""),
        "additionalType": f"https://schema.org/{SCHEMA_TYPES[column.type]}",
        **({"unitText": unit[0]} if unit else {}),
    }


def build_sidecar(columns: Iterable[Column]) -> dict[str, Any]:
    """Return the metadata of one data file, which stand for those of the whole set where both have a key."""
    return {"@context": SCHEMA_CONTEXT, "@type": "Dataset", "variableMeasured": [describe_variable(column) for column in columns]}


def merge_variables(tables: Mapping[str, Iterable[Column]]) -> list[dict[str, str]]:
    """Return the variables of several tables, each name once; where tables mean different things by it, what each means."""
    meanings: dict[str, dict[str, tuple[Column, list[str]]]] = {}
    for table, columns in tables.items():
        for column in columns:
            meanings.setdefault(column.name, {}).setdefault(column.meaning, (column, []))[1].append(table)
    made = []
    for different in meanings.values():
        each = [(describe_variable(column), tables) for column, tables in different.values()]
        merged = {key: value for key, value in each[0][0].items() if all(v.get(key) == value for v, _ in each)}
        if len(each) > 1:
            merged["description"] = " | ".join(f"{', '.join(tables)}: {v['description']}" for v, tables in each)
        made.append(merged)
    return made


def check_dataset(files: Mapping[str, bytes]) -> list[Issue]:
    """Return what Psych-DS has against a data set: its files by path from its folder. A set without errors is valid.

    >>> [issue.code for issue in check_dataset({"data/ratings.csv": b"rating"}) if issue.level == "error"]
    ['MISSING_DATASET_DESCRIPTION', 'MISSING_DATAFILE', 'FILENAME_KEYWORD_FORMATTING_ERROR']
    """
    return sorted(_find_issues(files), key=lambda issue: (issue.level != "error", issue.file != METADATA_FILE))


def _find_issues(files: Mapping[str, bytes]) -> Iterator[Issue]:
    ignored = _build_ignore_filter(files)
    checked_files = {path: content for path, content in files.items() if not ignored(path)}
    read: dict[str, dict[str, Any]] = {}
    for path, content in checked_files.items():
        if not content.strip() and path not in IGNORE_FILES:
            yield Issue("warning", "FILE_EMPTY", path, "the file is empty")
        elif path.endswith(".json"):
            try:
                whole = json.loads(content.decode("utf-8"))
                if not isinstance(whole, dict):
                    raise TypeError("a list or a value, expected an object")
                read[path] = whole
            except (UnicodeDecodeError, ValueError, TypeError) as error:
                code = "JSON_ENCODING_ERROR" if isinstance(error, UnicodeDecodeError) else "JSON_INVALID"
                yield Issue("error", code, path, f"not JSON in UTF-8: {error}")
    if METADATA_FILE not in files:
        yield Issue("error", "MISSING_DATASET_DESCRIPTION", METADATA_FILE, "the file is missing; expected it at the root")
    if not any(path.startswith("data/") for path in files):
        yield Issue("error", "MISSING_DATA_DIRECTORY", "data", "the folder is missing; expected it at the root")
    data = [path for path in checked_files if path.startswith("data/") and DATA_FILE_PATTERN.fullmatch(_get_file_name(path))]
    if not data:
        yield Issue("error", "MISSING_DATAFILE", "data", "no file named as study-NAME_data.csv; expected at least one")
    yield from _check_file_names(checked_files)
    yield from _check_recommended_files(files, checked_files)
    whole = read.get(METADATA_FILE, {})
    headers: set[str] = set()
    metadata_issues: dict[Issue, None] = {}  # each once, though every data file lacks it
    for path in data:
        header, issues = _read_header(path, checked_files[path])
        yield from issues
        headers |= {*header}
        metadata = _merge_metadata(path, whole, read)
        missing = [name for name in header if name not in _list_measured_variables(metadata)]
        if METADATA_FILE in read and missing:
            message = f"{', '.join(missing)} not in variableMeasured; expected each column there"
            yield Issue("error", "CSV_COLUMN_MISSING_FROM_METADATA", path, message)
        if METADATA_FILE in read:
            metadata_issues |= dict.fromkeys(_check_metadata(metadata))
    yield from metadata_issues
    unknown = [name for name in _list_measured_variables(whole) if name not in headers]
    if data and unknown:
        message = f"variableMeasured has {', '.join(unknown)}; expected columns of the data files"
        yield Issue("error", "VARIABLE_MISSING_FROM_CSV_COLUMNS", METADATA_FILE, message)


def _build_ignore_filter(files: Mapping[str, bytes]) -> Callable[[str], bool]:
    """Return whether the check passes over a path: folders of no concern, and what the data set's own list names."""
    stated = b"\n".join(files[name] for name in IGNORE_FILES if name in files).decode("utf-8", "replace").splitlines()
    patterns = [line.strip().lstrip("/") for line in stated if line.strip() and not line.startswith("#")]

    def is_ignored(path: str) -> bool:
        return path.split("/")[0] in UNCHECKED_FOLDERS or any(
            path.startswith(one) if one.endswith("/") else path == one or _get_file_name(path) == one for one in patterns
        )

    return is_ignored


def _get_file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _check_file_names(files: Mapping[str, bytes]) -> Iterator[Issue]:
    """Yield what is wrong with the names of files."""
    for path in files:
        name = _get_file_name(path)
        inside = path.startswith("data/")
        if inside and name.endswith((".csv", ".tsv")):
            if not DATA_FILE_PATTERN.fullmatch(name):
                message = "expected a name such as study-NAME_description-TABLE_data.csv"
                yield Issue("error", "FILENAME_KEYWORD_FORMATTING_ERROR", path, message)
            elif other := [key for key in re.findall(r"([a-z]+)-", name) if key not in FILE_NAME_KEYWORDS]:
                message = f"the keyword {', '.join(other)}; expected some of {', '.join(FILE_NAME_KEYWORDS)}"
                yield Issue("warning", "FILENAME_UNOFFICIAL_KEYWORD_WARNING", path, message)
        elif inside and name.endswith(".json") and (name == "file_metadata.json" or name.endswith("_data.json")):
            continue
        elif name == METADATA_FILE and path != METADATA_FILE:
            yield Issue("warning", "WRONG_METADATA_LOCATION", path, "expected it at the root")
        elif path not in (METADATA_FILE, *IGNORE_FILES) and not re.fullmatch(r"(README|CHANGES)\.(md|txt)", path):
            yield Issue("warning", "FILE_NOT_CHECKED", path, "Psych-DS knows no such file; name it in .psychds-ignore")


def _check_recommended_files(files: Mapping[str, bytes], checked_files: Mapping[str, bytes]) -> Iterator[Issue]:
    for stem in ("README", "CHANGES"):
        if not {f"{stem}.md", f"{stem}.txt"} & {*checked_files}:
            yield Issue("warning", f"MISSING_{stem}_DOC", f"{stem}.md", "the file is missing")
    for folder in RECOMMENDED_FOLDERS:
        if not any(path.startswith(f"{folder}/") for path in files):
            yield Issue("warning", f"MISSING_{folder.upper()}_DIRECTORY", folder, "the folder is missing")
    if not {*IGNORE_FILES} & {*files}:
        yield Issue("warning", "MISSING_PSYCHDSIGNORE", IGNORE_FILES[0], "the file is missing")


def _read_header(path: str, content: bytes) -> tuple[list[str], list[Issue]]:
    """Return the columns of a data file, and what is wrong with its rows."""
    try:
        text = content.decode("utf-8-sig")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.endswith(".tsv") else ",", strict=True)
        rows = [row or [""] for row in lines]  # an empty line is a row of one cell
    except (UnicodeDecodeError, csv.Error) as error:
        return [], [Issue("error", "CSV_FORMATTING_ERROR", path, f"not CSV in UTF-8: {error}")]
    if not rows or not any(rows[0]):
        return [], [Issue("error", "CSV_HEADER_MISSING", path, "no header; expected one with at least one column")]
    header, issues = rows[0], []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            message = f"row {number} has {len(row)} cells; expected {len(header)} as in the header"
            issues.append(Issue("error", "CSV_HEADER_LENGTH_MISMATCH", path, message))
            break
    if len({*header}) < len(header):
        twice = sorted({name for name in header if header.count(name) > 1})
        issues.append(Issue("error", "CSV_HEADER_REPEATED", path, f"{', '.join(twice)} twice; expected each once"))
    if "row_id" in header and not issues:
        ids = [row[header.index("row_id")] for row in rows[1:]]
        if len({*ids}) < len(ids):
            issues.append(Issue("error", "ROWID_VALUES_NOT_UNIQUE", path, "row_id repeats; expected one value a row"))
    return header, issues


def _merge_metadata(path: str, whole: dict[str, Any], read: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the metadata of a data file: those of the set, of its folders from the root on, and its own, later ones first."""
    parts = path.split("/")[:-1]
    metadata_paths = ["/".join([*parts[: n + 1], "file_metadata.json"]) for n in range(len(parts))]
    below = [
        read[metadata_path] for metadata_path in [*metadata_paths, re.sub(r"\.(csv|tsv)$", ".json", path)] if metadata_path in read
    ]
    return {key: value for each in (whole, *below) for key, value in each.items()} if below else whole


def _list_measured_variables(metadata: Mapping[str, Any]) -> list[str]:
    """Return the names of the variables, each a text or an object with a name."""
    variables = metadata.get("variableMeasured", [])
    listed = variables if isinstance(variables, list) else [variables]
    return [str(one.get("name", "")) if isinstance(one, dict) else str(one) for one in listed]


def _check_metadata(metadata: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield what is wrong with the metadata of a data file: context, type, fields, and objects inside that have no type."""
    if "schema.org" not in json.dumps(metadata.get("@context", "")):
        message = f"@context is {metadata.get('@context')!r}; expected {SCHEMA_CONTEXT!r}"
        yield Issue("error", "INVALID_JSONLD_FORMATTING", METADATA_FILE, message)
    if "@type" not in metadata:
        yield Issue("error", "MISSING_DATASET_TYPE", METADATA_FILE, "@type is missing; expected 'Dataset'")
    elif str(metadata["@type"]).rpartition("/")[2] != "Dataset":
        yield Issue("error", "INCORRECT_DATASET_TYPE", METADATA_FILE, f"@type is {metadata['@type']!r}; expected 'Dataset'")
    for key in REQUIRED_KEYS:
        if key not in metadata:
            yield Issue("error", "JSON_KEY_REQUIRED", METADATA_FILE, f"{key} is missing")
    for keys in RECOMMENDED_KEYS:
        if not {*keys} & {*metadata}:
            yield Issue("warning", "JSON_KEY_RECOMMENDED", METADATA_FILE, f"{keys[0]} is missing")
    for key, value in metadata.items():
        for one in value if isinstance(value, list) else [value]:
            if not key.startswith("@") and isinstance(one, dict) and not {"@type", "@value", "@id"} & {*one}:
                yield Issue("warning", "OBJECT_TYPE_MISSING", METADATA_FILE, f"an object of {key} has no @type")
                break
