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
from gardenpath.study.polar_answers import as_yes_no

from .standard_texts import START, Texts, languages, to_translate

if TYPE_CHECKING:
    import jinja2

KIND = ".kind.toml"
SHARE = 0.5  # of the sentences with a question, those that are followed by it
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
EXAMPLES = "en"  # in this language there are examples of everything
TEXTS = "texts.toml"
SCHEMA = "study.schema.json"
PLACEHOLDER = "English placeholder: replace it"
SHOWN = 10  # faults that are spelt out


@dataclass(frozen=True)
class Kind:
    """A kind of study, a file in `starts/`: what it is, which example items it has (without these columns), the columns that it
    needs, whether it asks comprehension questions, whether a trial shows a pair, its part of study.toml, and and what it states
    of an effect on simulated participants.
    """

    __pydantic_config__ = study.config.STRICT
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


def kinds() -> list[str]:
    """Return the kinds of studies that can be begun.

    >>> kinds()
    ['forced-choice', 'maze', 'minimal-pairs', 'rating', 'spr']
    """
    entries = (entry.name for entry in files("gardenpath.experiment.starts").iterdir())
    return sorted(name.removesuffix(KIND) for name in entries if name.endswith(KIND))


def new_study(
    folder: str | Path, kind: str, *, language: str | None = None, table: str | Path | None = None
) -> NewStudy:
    """Write a study of this kind to a new or empty folder, all of it or nothing.

    With `table` its items are those of this file, which is copied, and study.toml states what is found in it; otherwise they
    are a few examples in the language, or English placeholders where there are none. Where no language is stated, it is that of
    the table's items, else English.

    In a language without texts for participants they are written too, in English, to be translated.

    A folder that holds something is a `FileExistsError`, a language that is no BCP 47 tag a `ValueError`, a table that cannot be
    read, or whose sentences this kind cannot show, a `DataError`.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in new_study(Path(place, "study"), "spr", language="de").paths]
    ['study.toml', 'items.csv', 'README.md', 'study.schema.json']
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: holds something already; expected a new folder, or an empty one")
    start = _kind(kind)
    language = language or _language_of(table)
    if not TAG.fullmatch(language):
        raise ValueError(f"language is {language!r}; expected a language tag (BCP 47), as in de, pt-BR or zh-Hant")
    content = _examples(start, language) if table is None else _own(Path(table), start, language)
    sidecars = [name for name in [f"{content.file}.meta.json"] if table and Path(table).with_name(name).is_file()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        whole = Path(place, "study")
        whole.mkdir()
        if table is None:
            study.files.write_text(whole / content.file, content.text)
        else:
            shutil.copyfile(table, whole / content.file)
            for sidecar in sidecars:  # which says where the items come from
                shutil.copyfile(Path(table).with_name(sidecar), whole / sidecar)
        pages = _pages(folder.resolve().name, start, language, content)
        for name, text in pages.items():
            study.files.write_text(whole / name, text)
        study.load(whole)  # what is written is never broken
        if not folder.exists():
            whole.rename(folder)
        else:  # which is empty, and may be where the user is
            for path in sorted(whole.iterdir()):
                path.rename(folder / path.name)
    return NewStudy(
        tuple(folder / name for name in ("study.toml", content.file, *sidecars, *([*pages][1:]))), content.missing
    )


def read_start(name: str) -> str:
    """Return the text of a file of `starts/`."""
    return (files("gardenpath.experiment.starts") / name).read_text("utf-8")


def _kind(name: str) -> Kind:
    if name not in kinds():
        raise ValueError(f"kind is {name!r}; expected one of {', '.join(kinds())}")
    file = f"{name}{KIND}"
    return study.config.structure(Kind, {"name": name, **tomllib.loads(read_start(file))}, where=file)


@dataclass(frozen=True)
class _Content:
    """The items of a new study, the name and text of their file, and what is said of them."""

    file: str
    text: str
    materials: Materials
    placeholders: bool = False
    example: bool = False
    missing: tuple[str, ...] = ()

    @property
    def targets(self) -> list[Paradigm]:
        return [paradigm for paradigm in self.materials.paradigms if len(paradigm.conditions()) > 1]

    @property
    def fillers(self) -> list[str]:
        return [paradigm.id for paradigm in self.materials.paradigms if len(paradigm.conditions()) == 1]

    def items_of(self, paradigm: str) -> list[Item]:
        return [item for item in self.materials.items if item.paradigm == paradigm]


def _examples(kind: Kind, language: str) -> _Content:
    """Return the example items, without the columns that the kind has no use for."""
    tag = language.partition("-")[0]
    there = (files("gardenpath.experiment.starts") / f"{kind.items}.{tag}.csv").is_file()
    rows = list(csv.DictReader(io.StringIO(read_start(f"{kind.items}.{tag if there else EXAMPLES}.csv"), newline="")))
    columns = [name for name in (*rows[0], "language") if name not in kind.leaves_out]
    rows = [row | {"language": language} for row in rows]
    if not there:
        columns.append("notes")
        rows = [row | {"notes": PLACEHOLDER} for row in rows]
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    import pandas as pd

    materials, _ = examine(
        pd.read_csv(io.StringIO(stream.getvalue()), dtype=str, keep_default_na=False), language=language
    )
    return _Content("items.csv", stream.getvalue(), materials, placeholders=not there, example=True)


def _language_of(table: str | Path | None) -> str:
    """Return the language that most items of a table state, or English."""
    items = () if table is None else examine(table)[0].items
    stated = Counter(item.language for item in items if item.language != "und").most_common(1)
    return stated[0][0] if stated else EXAMPLES


def _own(table: Path, kind: Kind, language: str) -> _Content:
    """Return one's own items with what they lack; raises `DataError` where they cannot be read or this kind cannot show them."""
    materials, findings = examine(table, language=language)
    errors = [str(finding) for finding in findings if finding.severity == "error"]
    if errors:
        more = [f"... and {len(errors) - SHOWN} more"] if len(errors) > SHOWN else []
        raise study.DataError([*errors[:SHOWN], *more, f"{table}: correct this first; nothing was written"])
    content = _Content(table.name, "", materials)
    if not content.targets:
        raise study.DataError(
            f"{table}: no item has sentences in several conditions; expected a paradigm to compare them in"
        )
    if kind.pairs and (odd := [p for p in content.targets if len(p.conditions()) != 2]):
        raise study.DataError(
            f"{table}: paradigm {odd[0].id} has {len(odd[0].conditions())} conditions; a trial of {kind.name} shows a pair of "
            "sentences, so expected two"
        )
    return _Content(table.name, "", materials, missing=tuple(_missing(content, kind, table, language)))


def _missing(content: _Content, kind: Kind, table: Path, language: str) -> Iterable[str]:
    """Yield what a study of this kind would have beside what the table has."""
    targets = [item for paradigm in content.targets for item in content.items_of(paradigm.id)]
    for need in kind.needs:
        if any(
            getattr(sentence, need) is None for item in content.materials.items for sentence in item.sentences.values()
        ):
            yield f"a column {need}, one word for each word of the sentence: without it nothing can be dealt (docs/tasks.md)"
    dealt = _dealt(content)
    if each := dealt["items"]:
        left = len(targets) - each * len(content.targets)
        yield (
            f"a number of items that {dealt['versions']} conditions divide, the same in each paradigm: {each} of each are dealt, "
            f"{left} of {len(targets)} left out"
        )
    unmarked = [item for item in targets if not _marked(item)]
    if unmarked and not kind.pairs:
        yield (
            f"a critical region in {len(unmarked)} of {len(targets)} items, in square brackets: [were]; reading times and scores "
            "are compared in it"
        )
    if not content.fillers and not kind.pairs:
        yield "fillers: sentences of a paradigm of their own, one an item, with an empty condition"
    if kind.asks and not _with_question(content):
        yield "comprehension questions, in columns question and answer; nothing is asked"
    alone, _ = examine(table)
    if [item.language for item in alone.items] != [item.language for item in content.materials.items]:
        yield f"a column language, {language} in each row: score and evaluate read {content.file} alone, and else as English"
    if errors := check(content.materials, only="error"):
        yield f"corrections of what  gardenpath check study.toml  finds: {len(errors)} errors, which design refuses"


def _marked(item: Item) -> bool:
    return all(sentence.region(CRITICAL) for sentence in item.sentences.values())


def _with_question(content: _Content) -> int:
    return sum(item.question is not None for item in content.materials.items)


def _pages(name: str, kind: Kind, language: str, content: _Content) -> dict[str, str]:
    """Return the text of each file that is written beside the items."""
    env = environment()
    dealt = _dealt(content)
    asked = round(SHARE * _with_question(content)) if kind.asks else 0
    asks = ["comprehension"] if asked else []
    known = base_tag(language) in languages()
    given: dict[str, Any] = {
        "name": name, "kind": kind, "language": language, "texts": Texts(language if known else EXAMPLES)[START],
        "to_translate": None if known else TEXTS, "file": content.file, "missing": content.missing,
        "placeholders": content.placeholders, "example": content.example, "fillers": content.fillers, "asked": asked,
        "share": float(f"{asked / _shown(content, dealt['items']):.3f}"),
        "asks": as_toml(asks), "asks_and": lambda task: as_toml([*asks, task]),
        "practice": [as_toml(entry) for entry in _practice(kind, language, bool(asks))],
        "english_practice": base_tag(language) not in _practised(),
        "no_adjacent": len(content.targets) > 1, "in_a_row": _in_a_row(content, dealt["items"]), **dealt,
        "found": [] if content.example else _found(content),
        "described": _described(content), "simulate": _terms(kind, content),
    }  # fmt: skip
    given["procedure"] = env.from_string(kind.procedure).render(given).rstrip()
    given["participants"] = 6 * given["versions"]
    pages = {page: env.from_string(read_start(f"{page}.jinja")).render(given) for page in ("study.toml", "README.md")}
    pages[SCHEMA] = editors_schema()
    return pages if known else {**pages, TEXTS: to_translate(language)}


def _dealt(content: _Content) -> dict[str, int | None]:
    """Return how many versions rotate all conditions, and how many items of each paradigm are used where not all can be."""
    versions = math.lcm(*(len(paradigm.conditions()) for paradigm in content.targets))
    counts = [len(content.items_of(paradigm.id)) for paradigm in content.targets]
    most = min(count - count % versions for count in counts)
    return {"versions": versions, "items": most if most and any(count % versions for count in counts) else None}


def _shown(content: _Content, items: int | None) -> int:
    """Return how many targets and fillers a participant sees; of each paradigm of targets so many `items`, else all."""
    counts = [len(content.items_of(filler)) for filler in content.fillers]
    return sum(counts + [items or len(content.items_of(paradigm.id)) for paradigm in content.targets])


def _in_a_row(content: _Content, items: int | None) -> int:
    """Return how many targets follow one another at most, where fillers come between as well as their number allows."""
    fillers = sum(len(content.items_of(filler)) for filler in content.fillers)
    return math.ceil((_shown(content, items) - fillers) / (fillers + 1))


def _found(content: _Content) -> list[str]:
    """Return what the table holds, a line for each paradigm."""
    lines = []
    for paradigm in content.materials.paradigms:
        counted = f"{paradigm.id}: {len(content.items_of(paradigm.id))} items"
        factors = " x ".join(f"{name} ({', '.join(levels)})" for name, levels in paradigm.factors.items())
        lines.append(f"{counted}, fillers" if paradigm.id in content.fillers else f"{counted} in {factors}")
    return [*lines, *(f"missing: {line}" for line in content.missing)]


def _described(content: _Content) -> str:
    parts = [
        f"{len(content.items_of(paradigm.id))} items of {paradigm.id} in {len(paradigm.conditions())} conditions"
        for paradigm in content.targets
    ]
    parts += [f"{len(content.items_of(filler))} {filler}" for filler in content.fillers]
    return ", ".join(parts)


def _terms(kind: Kind, content: _Content) -> list[str]:
    """Return the factor of which an effect is simulated: the first of two levels; none of minimal pairs, which have their own."""
    if CRITICAL in kind.effect and not any(_marked(item) for item in content.materials.items):
        return []
    plain = [paradigm for paradigm in content.targets if not paradigm.is_minimal_pair()]
    factors = [name for paradigm in plain for name, levels in paradigm.factors.items() if len(levels) == 2]
    having = [paradigm for paradigm in content.targets if factors and factors[0] in paradigm.factors]
    return [_key(factors[0])] if factors and all(len(p.factors[factors[0]]) == 2 for p in having) else []


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)


def _practice(kind: Kind, language: str, asks: bool) -> Sequence[object]:
    """Return the entries of practice: pairs, sentences, or tables of what the kind needs of a sentence."""
    by_language = _practised()
    given = by_language.get(base_tag(language), by_language[EXAMPLES])
    if kind.pairs:
        return list(given["pairs"])
    kept = {"sentence", *(("question", "answer") if asks else ()), *kind.needs}
    entries = [{name: value for name, value in entry.items() if name in kept} for entry in given["sentences"]]
    entries = [entry | ({"answer": as_yes_no(entry["answer"], language)} if asks else {}) for entry in entries]
    return [entry["sentence"] if kept == {"sentence"} else entry for entry in entries]


def _practised() -> dict[str, Any]:
    """Return the sentences for practice by language."""
    return tomllib.loads(read_start("practice.toml"))


def base_tag(language: str) -> str:
    """Return the language of a tag, without script or region."""
    return language.partition("-")[0]


def environment() -> "jinja2.Environment":
    """Return what fills the templates of `starts/`."""
    import jinja2

    env = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    env.filters["toml"] = as_toml
    return env


def editors_schema() -> str:
    """Return the schema of study.toml, by which editors complete and check its keys."""
    return (files("gardenpath.experiment") / SCHEMA).read_text("utf-8")


def sentences_for_practice(language: str) -> tuple[list[str], bool]:
    """Return sentences for practice, and whether they are English placeholders in another language."""
    by_language = _practised()
    given = by_language.get(base_tag(language), by_language[EXAMPLES])
    return [entry["sentence"] for entry in given["sentences"]], base_tag(language) not in by_language


def as_toml(value: object) -> str:
    """Return a text, a list or a table as TOML on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {as_toml(part)}' for name, part in value.items())} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
