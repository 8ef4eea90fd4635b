"""The pages of reference that follow from the code: tables, public functions, and the schema of study.toml."""

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

from gardenpath.experiment.setup import study_schema
from gardenpath.study.renamed_names import KINDS, read_renamings
from gardenpath.study.schemas import TABLE_MODULES

HERE = Path(__file__).parent
PACKAGES = ("study", "stimuli", "experiment", "lmscore", "analysis")
SCHEMA = HERE.parent / "experiment" / "setup" / "study.schema.json"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def write_pages(folder: Path) -> None:
    """Write the pages to a folder, those alone that have changed."""
    pages = {
        "tables.md": format_tables(),
        "renamed.md": format_renamed(),
        **{f"{package}.md": format_functions(package) for package in PACKAGES},
    }
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def format_tables() -> str:
    """Return the page of tables: what a row is, which command writes it, and each column with its type and unit."""
    lines = [
        "# Tables",
        "",
        "Every table that gardenpath writes is a CSV file (or Parquet, by its suffix) of these columns, and is checked "
        "against this declaration when it is written and when it is read. Times are in ms, surprisal in bits, "
        'log-probabilities in nats. In Python, `study.read("tables", "responses")` returns one, and '
        '`study.TABLES["responses"].columns` is what stands here.',
        "",
    ]
    for part in TABLE_MODULES:
        title = part.__name__.rpartition(".")[2].replace("_", " ").capitalize()
        lines += [f"## {title}", "", f"{take_first_sentence(part.__doc__)}", ""]
        for table in part.TABLES:
            producer = table.producer
            command = f"`gardenpath {producer.command}`, in `{producer.folder}/`" if producer else "a function, not a command"
            lines += [
                f"### {table.name}",
                "",
                f"A row is {table.row}. Written by {command}"
                + ("" if table.is_always_written or not producer else ", on request or where there is something to say")
                + f". Key: {', '.join(f'`{name}`' for name in table.key)}."
                + (" A column for each factor of the study follows." if table.has_factors else ""),
                "",
                "| column | type | meaning |",
                "|---|---|---|",
            ]
            columns = [*table.columns, *table.dynamic_columns]
            lines += [
                f"| `{one.name}` | {one.type}{', may be empty' if one.may_be_empty else ''} | {format_cell(one.meaning)} |"
                for one in columns
            ]
            lines.append("")
    return "\n".join(lines)


def format_renamed() -> str:
    """Return the page of old and new names, for scripts of one's own, in R say, that read tables."""
    lines = [
        "# Renamed names",
        "",
        "What was called otherwise before. A study, table or command line with an old name is refused with the new one; scripts of "
        "your own, in R say, have to be changed by hand. The same rows are a file, `renamed.csv`, in gardenpath's package `study`.",
        "",
    ]
    for kind, (title, where) in KINDS.items():
        rows = [
            f"| {format_cell(one.where)} | `{one.old}` | {format_cell(one.new) if ' ' in one.new else f'`{one.new}`'} |"
            for one in read_renamings(kind)
        ]
        lines += [f"## {title}", "", f"| {where} | old | new |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def format_functions(package: str) -> str:
    """Return the page of a package's public names, with signature, what comes back, and an example."""
    module = importlib.import_module(f"gardenpath.{package}")
    lines = [f"# gardenpath.{package}", "", convert_to_markdown(module.__doc__ or ""), ""]
    for name in sorted(module.__all__, key=str.lower):
        public = getattr(module, name)
        if inspect.isclass(public):
            lines += format_entry("class", f"gardenpath.{package}.{name}", format_signature(public), public.__doc__)
        elif callable(public):
            lines += format_entry("function", f"gardenpath.{package}.{name}", format_signature(public), public.__doc__)
        elif not inspect.ismodule(public):
            lines += format_entry("data", f"gardenpath.{package}.{name}", "", summarise_attribute(module, name))
    return "\n".join(lines)


def format_entry(kind: str, name: str, arguments: str, doc: str | None) -> list[str]:
    """Return the entry of one name."""
    return [f"::::{{py:{kind}}} {name}{arguments}", "", convert_to_markdown(inspect.cleandoc(doc or "")), "::::", ""]


def format_signature(public: Any) -> str:
    """Return the arguments as a reader types them: names and defaults, without the types, which the text says."""
    try:
        made = inspect.signature(public)
    except (TypeError, ValueError):
        return "()"
    bare = [
        one.replace(annotation=inspect.Parameter.empty, default=simplify_default(one.default))
        for one in made.parameters.values()
        if one.name != "self"
    ]
    return str(made.replace(parameters=bare, return_annotation=inspect.Signature.empty))


class BareRepr:
    """A default that is shown as `...`, since its value says nothing to a reader."""

    def __repr__(self) -> str:
        return "..."


def simplify_default(default: Any) -> Any:
    """Return a default as it is shown."""
    shown = default is inspect.Parameter.empty or isinstance(default, str | int | float | bool | tuple | type(None))
    return default if shown and "<" not in repr(default).replace("<class", "") else BareRepr()


def convert_to_markdown(doc: str) -> str:
    """Return a docstring with its examples as blocks of code."""
    lines: list[str] = []
    inside = False
    for line in doc.splitlines():
        if line.lstrip().startswith(">>> ") and not inside:
            lines += ["", "```python"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines).replace("\n\n\n", "\n\n")


def summarise_attribute(module: Any, name: str) -> str:
    """Return what a public value that is no function is."""
    value = getattr(module, name)
    if isinstance(value, str | int | float | tuple):
        return f"`{value!r}`" if len(repr(value)) < 400 else ""
    return f"A {type(value).__name__}."


def take_first_sentence(doc: str | None) -> str:
    """Return the first line of a docstring."""
    return (doc or "").strip().split("\n")[0]


def format_cell(text: str) -> str:
    """Return a text as it can stand in a table."""
    return text.replace("|", "\\|")


def drop_outside_links(app: Any, name: str, source: list[str]) -> None:
    """Keep the words of links that lead out of the docs, with the path they name: there is no page of it on the site."""

    def kept(match: re.Match[str]) -> str:
        words, target, _ = match.groups()
        page = ((Path(app.srcdir) / name).parent / target).resolve()
        if page.suffix == ".md" and page.is_relative_to(Path(app.srcdir)):
            return match[0]
        inside = page.relative_to(HERE.parent).as_posix() if page.is_relative_to(HERE.parent) else target
        return f"`{inside}`" if words.strip("`") in {inside, Path(inside).name, f"{inside}/"} else f"{words} (`{inside}`)"

    source[0] = LINK.sub(kept, source[0])


def format_schema() -> str:
    """Return the JSON schema of study.toml with what docs/study-toml.md says of each key."""
    made = study_schema.build_study_schema()
    said = {}
    for line in (HERE / "study-toml.md").read_text("utf-8").splitlines():
        if line.startswith("| `") and len(cells := re.split(r"(?<!\\)\|", line)) >= 5:
            for key in re.findall(r"`([\w.]+)`", cells[1]):
                said[key] = f"{strip_markup(cells[2])}; left out: {strip_markup(cells[3])}"

    def describe(node: Any, prefix: str) -> None:
        for key, one in node.get("properties", {}).items():
            if text := said.get(f"{prefix}{key}"):
                one["description"] = text
            inner = [one.get("$ref"), *[part.get("$ref") for part in one.get("anyOf", [])]]
            for name in (ref.rpartition("/")[2] for ref in inner if ref):
                describe(made["$defs"][name], f"{prefix}{key}.")

    # Roles share a type: what is said of the last would be said of all, so that of targets comes last.
    describe(made, "")
    describe(made["$defs"]["RoleSection"], "procedure.target.")
    for section in made["$defs"].values():  # editors show what a section is; its Python example is not for them
        if "description" in section:
            section["description"] = section["description"].partition(">>>")[0].strip()
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def strip_markup(text: str) -> str:
    """Return a cell of a table without its links and marks."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").replace("\\|", "|").strip()


if __name__ == "__main__":
    SCHEMA.write_text(format_schema(), "utf-8")
