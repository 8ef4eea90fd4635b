"""A new study in a folder of its own: study.toml, items and a README, of a kind in `starts/`, or around one's own table."""

import csv
import io
import json
import math
import re
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli import Item, Materials, Paradigm, check, examine
from gardenpath.stimuli.items import CRITICAL
from gardenpath.study.yes_no_words import translate_yes_no

from ..texts.standard_texts import START_SECTION, Texts, format_texts_to_translate, list_languages

if TYPE_CHECKING:
    import jinja2

KIND_SUFFIX = ".kind.toml"
QUESTION_SHARE = 0.5  # of the sentences with a question, those that are followed by it
LANGUAGE_TAG_PATTERN = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
FALLBACK_LANGUAGE = "en"  # in this language there are examples of everything
TEXTS_FILENAME = "texts.toml"
SCHEMA_FILENAME = "study.schema.json"
PLACEHOLDER_NOTE = "English placeholder: replace it"
MAX_FAULTS = 10  # faults that are spelt out


@dataclass(frozen=True)
class StudyKind:
    """A kind of study, a file in `starts/`: what it is, which example items it has (without these columns), the columns that it
    needs, whether it asks comprehension questions, whether a trial shows a pair, its part of study.toml, and and what it states
    of an effect on simulated participants.
    """

    __pydantic_config__ = study.config.STRICT_VALIDATION
    name: str
    about: str
    items: str
    procedure: str
    leaves_out: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    asks: bool = False
    pairs: bool = False
    effect: str = ""


@dataclass(frozen=True)
class NewStudy:
    """What was written: the files, and what the materials lack for this kind of study, a sentence each."""

    paths: tuple[Path, ...]
    missing: tuple[str, ...]


def list_study_kinds() -> list[str]:
    """Return the kinds of studies that can be begun.

    >>> list_study_kinds()
    ['forced-choice', 'maze', 'minimal-pairs', 'rating', 'spr']
    """
    entries = (entry.name for entry in files("gardenpath.experiment.setup.starts").iterdir())
    return sorted(name.removesuffix(KIND_SUFFIX) for name in entries if name.endswith(KIND_SUFFIX))


def create_study(folder: str | Path, kind: str, *, language: str | None = None, table: str | Path | None = None) -> NewStudy:
    """Write a study of this kind to a new or empty folder, all of it or nothing.

    With `table` its items are those of this file, which is copied, and study.toml states what is found in it; otherwise they
    are a few examples in the language, or English placeholders where there are none. Where no language is stated, it is that of
    the table's items, else English.

    In a language without texts for participants they are written too, in English, to be translated.

    A folder that holds something is a `FileExistsError`, a language that is no BCP 47 tag a `ValueError`, a table that cannot be
    read, or whose sentences this kind cannot show, a `DataError`.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in create_study(Path(place, "study"), "spr", language="de").paths]
    ['study.toml', 'items.csv', 'README.md', 'study.schema.json']
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: holds something already; expected a new folder, or an empty one")
    start = _read_study_kind(kind)
    language = language or _find_table_language(table)
    if not LANGUAGE_TAG_PATTERN.fullmatch(language):
        raise ValueError(f"language is {language!r}; expected a language tag (BCP 47), as in de, pt-BR or zh-Hant")
    items = _build_example_items(start, language) if table is None else _read_own_items(Path(table), start, language)
    sidecars = [name for name in [f"{items.file}.meta.json"] if table and Path(table).with_name(name).is_file()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        staged = Path(temporary, "study")
        staged.mkdir()
        if table is None:
            study.files.write_text(staged / items.file, items.text)
        else:
            shutil.copyfile(table, staged / items.file)
            for sidecar in sidecars:  # which says where the items come from
                shutil.copyfile(Path(table).with_name(sidecar), staged / sidecar)
        texts = _render_files(folder.resolve().name, start, language, items)
        for name, text in texts.items():
            study.files.write_text(staged / name, text)
        study.load(staged)  # what is written is never broken
        if not folder.exists():
            staged.rename(folder)
        else:  # which is empty, and may be where the user is
            for path in sorted(staged.iterdir()):
                path.rename(folder / path.name)
    return NewStudy(tuple(folder / name for name in ("study.toml", items.file, *sidecars, *([*texts][1:]))), items.missing)


def read_start_file(name: str) -> str:
    """Return the text of a file of `starts/`."""
    return (files("gardenpath.experiment.setup.starts") / name).read_text("utf-8")


def _read_study_kind(name: str) -> StudyKind:
    if name not in list_study_kinds():
        raise ValueError(f"kind is {name!r}; expected one of {', '.join(list_study_kinds())}")
    file = f"{name}{KIND_SUFFIX}"
    return study.config.parse_dataclass(StudyKind, {"name": name, **tomllib.loads(read_start_file(file))}, where=file)


@dataclass(frozen=True)
class _StudyItems:
    """The items of a new study, the name and text of their file, and what is said of them."""

    file: str
    text: str
    materials: Materials
    has_placeholders: bool = False
    is_example: bool = False
    missing: tuple[str, ...] = ()

    @property
    def targets(self) -> list[Paradigm]:
        return [paradigm for paradigm in self.materials.paradigms if len(paradigm.list_conditions()) > 1]

    @property
    def fillers(self) -> list[str]:
        return [paradigm.id for paradigm in self.materials.paradigms if len(paradigm.list_conditions()) == 1]

    def list_items(self, paradigm: str) -> list[Item]:
        return [item for item in self.materials.items if item.paradigm == paradigm]


def _build_example_items(kind: StudyKind, language: str) -> _StudyItems:
    """Return the example items, without the columns that the kind has no use for."""
    tag = language.partition("-")[0]
    has_examples = (files("gardenpath.experiment.setup.starts") / f"{kind.items}.{tag}.csv").is_file()
    rows = list(
        csv.DictReader(io.StringIO(read_start_file(f"{kind.items}.{tag if has_examples else FALLBACK_LANGUAGE}.csv"), newline=""))
    )
    columns = [name for name in (*rows[0], "language") if name not in kind.leaves_out]
    rows = [row | {"language": language} for row in rows]
    if not has_examples:
        columns.append("notes")
        rows = [row | {"notes": PLACEHOLDER_NOTE} for row in rows]
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    import pandas as pd

    materials, _ = examine(pd.read_csv(io.StringIO(stream.getvalue()), dtype=str, keep_default_na=False), language=language)
    return _StudyItems("items.csv", stream.getvalue(), materials, has_placeholders=not has_examples, is_example=True)


def _find_table_language(table: str | Path | None) -> str:
    """Return the language that most items of a table state, or English."""
    items = () if table is None else examine(table)[0].items
    language_counts = Counter(item.language for item in items if item.language != "und").most_common(1)
    return language_counts[0][0] if language_counts else FALLBACK_LANGUAGE


def _read_own_items(table: Path, kind: StudyKind, language: str) -> _StudyItems:
    """Return one's own items with what they lack; raises `DataError` where they cannot be read or this kind cannot show them."""
    materials, findings = examine(table, language=language)
    errors = [str(finding) for finding in findings if finding.severity == "error"]
    if errors:
        remainder = [f"... and {len(errors) - MAX_FAULTS} more"] if len(errors) > MAX_FAULTS else []
        raise study.DataError([*errors[:MAX_FAULTS], *remainder, f"{table}: correct this first; nothing was written"])
    own_items = _StudyItems(table.name, "", materials)
    if not own_items.targets:
        raise study.DataError(f"{table}: no item has sentences in several conditions; expected a paradigm to compare them in")
    if kind.pairs and (unpaired := [p for p in own_items.targets if len(p.list_conditions()) != 2]):
        raise study.DataError(
            f"{table}: paradigm {unpaired[0].id} has {len(unpaired[0].list_conditions())} conditions; a trial of "
            f"{kind.name} shows a pair of "
            "sentences, so expected two"
        )
    return _StudyItems(table.name, "", materials, missing=tuple(_find_missing_parts(own_items, kind, table, language)))


def _find_missing_parts(content: _StudyItems, kind: StudyKind, table: Path, language: str) -> Iterable[str]:
    """Yield what a study of this kind would have beside what the table has."""
    targets = [item for paradigm in content.targets for item in content.list_items(paradigm.id)]
    for need in kind.needs:
        if any(getattr(sentence, need) is None for item in content.materials.items for sentence in item.sentences.values()):
            yield f"a column {need}, one word for each word of the sentence: without it no list can be made (docs/tasks.md)"
    list_design = _choose_list_design(content)
    if items_per_paradigm := list_design["items"]:
        left_out_count = len(targets) - items_per_paradigm * len(content.targets)
        yield (
            f"a number of items that {list_design['lists']} conditions divide, the same in each paradigm: "
            f"{items_per_paradigm} of each are shown, "
            f"{left_out_count} of {len(targets)} left out"
        )
    unmarked = [item for item in targets if not _has_critical_regions(item)]
    if unmarked and not kind.pairs:
        yield (
            f"a critical region in {len(unmarked)} of {len(targets)} items, in square brackets: [were]; reading times and scores "
            "are compared in it"
        )
    if not content.fillers and not kind.pairs:
        yield "fillers: sentences of a paradigm of their own, one an item, with an empty condition"
    if kind.asks and not _count_questions(content):
        yield "comprehension questions, in columns question and answer; nothing is asked"
    table_materials, _ = examine(table)
    if [item.language for item in table_materials.items] != [item.language for item in content.materials.items]:
        yield f"a column language, {language} in each row: score and evaluate read {content.file} alone, and else as English"
    if errors := check(content.materials, only_severity="error"):
        yield f"corrections of what  gardenpath check study.toml  finds: {len(errors)} errors, which design refuses"


def _has_critical_regions(item: Item) -> bool:
    return all(sentence.find_region(CRITICAL) for sentence in item.sentences.values())


def _count_questions(content: _StudyItems) -> int:
    return sum(item.question is not None for item in content.materials.items)


def _render_files(name: str, kind: StudyKind, language: str, content: _StudyItems) -> dict[str, str]:
    """Return the text of each file that is written beside the items."""
    env = create_template_environment()
    list_design = _choose_list_design(content)
    question_count = round(QUESTION_SHARE * _count_questions(content)) if kind.asks else 0
    asks = ["comprehension"] if question_count else []
    has_texts = get_base_tag(language) in list_languages()
    values: dict[str, Any] = {
        "name": name, "kind": kind, "language": language,
        "texts": Texts(language if has_texts else FALLBACK_LANGUAGE)[START_SECTION],
        "to_translate": None if has_texts else TEXTS_FILENAME, "file": content.file, "missing": content.missing,
        "placeholders": content.has_placeholders, "example": content.is_example, "fillers": content.fillers,
        "asked": question_count,
        "share": float(f"{question_count / _count_shown_items(content, list_design['items']):.3f}"),
        "asks": format_toml_value(asks), "asks_and": lambda task: format_toml_value([*asks, task]),
        "practice": [format_toml_value(entry) for entry in _select_practice_entries(kind, language, bool(asks))],
        "english_practice": get_base_tag(language) not in _read_practice_sentences(),
        "no_adjacent": len(content.targets) > 1, "in_a_row": _count_longest_target_run(content, list_design["items"]),
        **list_design,
        "found": [] if content.is_example else _describe_table(content),
        "described": _describe_items(content), "simulate": _choose_effect_terms(kind, content),
    }  # fmt: skip
    values["procedure"] = env.from_string(kind.procedure).render(values).rstrip()
    values["participants"] = 6 * values["lists"]
    pages = {page: env.from_string(read_start_file(f"{page}.jinja")).render(values) for page in ("study.toml", "README.md")}
    pages[SCHEMA_FILENAME] = read_study_schema()
    return pages if has_texts else {**pages, TEXTS_FILENAME: format_texts_to_translate(language)}


def _choose_list_design(content: _StudyItems) -> dict[str, int | None]:
    """Return how many lists rotate all conditions, and how many items of each paradigm are used where not all can be."""
    list_count = math.lcm(*(len(paradigm.list_conditions()) for paradigm in content.targets))
    counts = [len(content.list_items(paradigm.id)) for paradigm in content.targets]
    item_count = min(count - count % list_count for count in counts)
    return {"lists": list_count, "items": item_count if item_count and any(count % list_count for count in counts) else None}


def _count_shown_items(content: _StudyItems, items: int | None) -> int:
    """Return how many targets and fillers a participant sees; of each paradigm of targets so many `items`, else all."""
    counts = [len(content.list_items(filler)) for filler in content.fillers]
    return sum(counts + [items or len(content.list_items(paradigm.id)) for paradigm in content.targets])


def _count_longest_target_run(content: _StudyItems, items: int | None) -> int:
    """Return how many targets follow one another at most, where fillers come between as well as their number allows."""
    fillers = sum(len(content.list_items(filler)) for filler in content.fillers)
    return math.ceil((_count_shown_items(content, items) - fillers) / (fillers + 1))


def _describe_table(content: _StudyItems) -> list[str]:
    """Return what the table holds, a line for each paradigm."""
    lines = []
    for paradigm in content.materials.paradigms:
        item_count = f"{paradigm.id}: {len(content.list_items(paradigm.id))} items"
        factors = " x ".join(f"{name} ({', '.join(levels)})" for name, levels in paradigm.factors.items())
        lines.append(f"{item_count}, fillers" if paradigm.id in content.fillers else f"{item_count} in {factors}")
    return [*lines, *(f"missing: {line}" for line in content.missing)]


def _describe_items(content: _StudyItems) -> str:
    parts = [
        f"{len(content.list_items(paradigm.id))} items of {paradigm.id} in {len(paradigm.list_conditions())} conditions"
        for paradigm in content.targets
    ]
    parts += [f"{len(content.list_items(filler))} {filler}" for filler in content.fillers]
    return ", ".join(parts)


def _choose_effect_terms(kind: StudyKind, content: _StudyItems) -> list[str]:
    """Return the factor of which an effect is simulated: the first of two levels; none of minimal pairs, which have their own."""
    if CRITICAL in kind.effect and not any(_has_critical_regions(item) for item in content.materials.items):
        return []
    factorial = [paradigm for paradigm in content.targets if not paradigm.is_minimal_pair()]
    factors = [name for paradigm in factorial for name, levels in paradigm.factors.items() if len(levels) == 2]
    having = [paradigm for paradigm in content.targets if factors and factors[0] in paradigm.factors]
    return [_format_toml_key(factors[0])] if factors and all(len(p.factors[factors[0]]) == 2 for p in having) else []


def _format_toml_key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)


def _select_practice_entries(kind: StudyKind, language: str, asks: bool) -> Sequence[object]:
    """Return the entries of practice: pairs, sentences, or tables of what the kind needs of a sentence."""
    by_language = _read_practice_sentences()
    sentences = by_language.get(get_base_tag(language), by_language[FALLBACK_LANGUAGE])
    if kind.pairs:
        return list(sentences["pairs"])
    columns = {"sentence", *(("question", "answer") if asks else ()), *kind.needs}
    entries = [{name: value for name, value in entry.items() if name in columns} for entry in sentences["sentences"]]
    entries = [entry | ({"answer": translate_yes_no(entry["answer"], language)} if asks else {}) for entry in entries]
    return [entry["sentence"] if columns == {"sentence"} else entry for entry in entries]


def _read_practice_sentences() -> dict[str, Any]:
    """Return the sentences for practice by language."""
    return tomllib.loads(read_start_file("practice.toml"))


def get_base_tag(language: str) -> str:
    """Return the language of a tag, without script or region."""
    return language.partition("-")[0]


def create_template_environment() -> "jinja2.Environment":
    """Return what fills the templates of `starts/`."""
    import jinja2

    env = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    env.filters["toml"] = format_toml_value
    return env


def read_study_schema() -> str:
    """Return the schema of study.toml, by which editors complete and check its keys."""
    return (files("gardenpath.experiment.setup") / SCHEMA_FILENAME).read_text("utf-8")


def select_practice_sentences(language: str) -> tuple[list[str], bool]:
    """Return sentences for practice, and whether they are English placeholders in another language."""
    by_language = _read_practice_sentences()
    sentences = by_language.get(get_base_tag(language), by_language[FALLBACK_LANGUAGE])
    return [entry["sentence"] for entry in sentences["sentences"]], get_base_tag(language) not in by_language


def format_toml_value(value: object) -> str:
    """Return a text, a list or a table as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {format_toml_value(part)}' for name, part in value.items())} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(format_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
