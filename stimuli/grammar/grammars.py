"""Grammar files: features, lexicons, phrases and paradigms, read with every fault at once."""

import hashlib
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from gardenpath import study

from ..formats.marked_csv import ONLY
from ..items import MINIMAL_PAIR
from . import blimp_vocabulary
from .faults import Fault, Faults, Line, TomlLines, one_of, toml_fault, unknown
from .lexicon import Columns, Entry, FormColumn, categories_of, read_entries, read_form_column, read_rows
from .restrictions import CATEGORY, And, Restriction, Test, Vocabulary, read_restriction
from .rewriting import Language, read_language
from .templates import Part, Slot, read_template, slots_of
from .where_lines import Counterpart, Listed, Meets, Tested, Varies, WhereLine, read_where

TABLES = {
    "language",
    "sep",
    "lexicon",
    "include",
    "features",
    "selects",
    "columns",
    "forms",
    "slots",
    "phrases",
    "paradigm",
    "filler",
    "rewrite",
}
PHRASE_KEYS = {"head", "is", "slots", "where", "depth", "attractors"}
# What a paradigm says of drawing is read by those who draw.
DRAWING_KEYS = {"plan", "balanced", "at_most", "disjoint", "control", "same_length", "n", "note"}
PARADIGM_KEYS = {
    "phenomenon",
    "references",
    "good",
    "bad",
    "sentence",
    "sentences",
    "factors",
    "slots",
    "where",
    "waive",
    "question",
    "predictions",
    *DRAWING_KEYS,
}


@dataclass(frozen=True)
class Attractors:
    """How many attractors a phrase may have, and whether they agree with its head in a feature."""

    line: Line
    numbers: frozenset[int]
    feature: str | None = None
    congruent: bool = True


@dataclass(frozen=True)
class SlotSpec:
    """What a slot may hold: entries that meet a restriction, or a phrase whose head does, with so many attractors."""

    line: Line
    restriction: Restriction
    phrase: str | None = None
    attractors: Attractors | None = None


@dataclass(frozen=True)
class Expansion:
    """One way to write a phrase, and its weight."""

    text: str
    parts: tuple[Part, ...]
    weight: float


@dataclass(frozen=True)
class PhraseRule:
    """A phrase as a grammar states it."""

    name: str
    line: Line
    heads: tuple[str, ...]
    expansions: tuple[Expansion, ...]
    slots: Mapping[str, SlotSpec]
    where: tuple[WhereLine, ...]
    depth: int | None
    attractors: tuple[str, ...] = ()

    def head_of(self, slots: Sequence[str]) -> str | None:
        """Return which of the slots of an expansion is its head."""
        for name in self.heads:
            if name in slots:
                return name
        return slots[0] if self.heads and len(slots) == 1 else None


@dataclass(frozen=True)
class QuestionRule:
    """A comprehension question and its choices as templates, the right choice in each condition, and the share of items."""

    parts: tuple[Part, ...]
    answers: Mapping[str, tuple[Part, ...]]
    choices: tuple[tuple[Part, ...], ...]
    share: float
    line: Line

    def templates(self) -> tuple[tuple[Part, ...], ...]:
        """Return all that is printed from slots."""
        return (self.parts, *self.answers.values(), *self.choices)


@dataclass(frozen=True)
class ParadigmRule:
    """A paradigm as a grammar states it; `settings` holds what it says of drawing.

    Each of `templates` has a template for each condition; one is taken for an item. Without factors, as of a filler, there is one.
    """

    name: str
    line: Line
    phenomenon: str
    factors: Mapping[str, tuple[str, ...]]
    templates: tuple[Mapping[str, tuple[Part, ...]], ...]
    slots: Mapping[str, SlotSpec]
    where: tuple[WhereLine, ...]
    references: tuple[str, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    predictions: tuple[str, ...] = ()
    question: QuestionRule | None = None
    filler: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def conditions(self) -> dict[str, dict[str, str]]:
        """Return the name of each condition, and its level of every factor."""
        combinations = itertools.product(*self.factors.values())
        return {".".join(levels): dict(zip(self.factors, levels, strict=True)) for levels in combinations}


@dataclass(frozen=True, eq=False)
class Grammar:
    """A grammar with its lexicon; `files` holds the hash (SHA-256) of every file that it was read from.

    `demands` are the restrictions that cells and columns of forms state, each once, with its line and column.

    >>> from gardenpath import stimuli
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.csv").write_text("form,category\\ndog,N\\n")
    >>> text = 'language = "en"\\nlexicon = "words.csv"\\n[filler.dogs]\\nsentence = "a <N> barks."\\n'
    >>> _ = (folder / "grammar.toml").write_text(text)
    >>> list(stimuli.read_grammar(folder / "grammar.toml").paradigms)
    ['dogs']
    """

    language: Language
    vocabulary: Vocabulary
    selects: tuple[str, ...]
    entries: tuple[Entry, ...]
    demands: tuple[tuple[Line, str, Restriction], ...]
    phrases: Mapping[str, PhraseRule]
    paradigms: Mapping[str, ParadigmRule]
    lists: Mapping[str, tuple[tuple[str, ...], ...]]
    files: Mapping[str, str]

    def __repr__(self) -> str:
        lemmas = {(entry.category, entry.lemma) for entry in self.entries}
        return f"Grammar({self.language.code}: {len(self.paradigms)} paradigms, {len(lemmas)} lemmas)"


def located(path: str | Path, folder: Path = Path()) -> Path:
    """Return a file in a folder or, where there is none, one of the grammars that come with gardenpath.

    >>> located("en/blimp.toml").name
    'blimp.toml'
    """
    stated = folder / path
    shipped = Path(str(files("gardenpath.stimuli.grammar"))) / "languages" / path
    return shipped if not stated.exists() and shipped.is_file() else stated


def read_grammar(path: str | Path) -> Grammar:
    """Return the grammar of a file, with the files that it includes and its lexicons; every fault at once is a `DataError`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.csv").write_text("form,category\\ndog,N\\ncat,N\\n")
    >>> _ = (folder / "grammar.toml").write_text('''
    ... language = "en"
    ... lexicon = "words.csv"
    ... [paradigm.order]
    ... phenomenon = "order"
    ... good = "the [<N> barks]."
    ... bad = "the [barks <N>]."
    ... ''')
    >>> read_grammar(folder / "grammar.toml")
    Grammar(en: 1 paradigms, 2 lemmas)
    """
    reader = _Reader(located(path))
    grammar = reader.grammar()
    reader.faults.raise_all()
    from .validation import find_faults  # needs a whole grammar

    find_faults(grammar, reader.faults)
    reader.faults.raise_all()
    return grammar


@dataclass
class _File:
    """One TOML file: where messages say that it is, its content, and its lines."""

    name: str
    folder: Path
    content: dict[str, Any]
    lines: TomlLines

    def line(self, table: Sequence[str], *texts: str, shown: str = "") -> Line:
        return Line(self.name, self.lines.of(tuple(table), *texts), shown)


class _Reader:
    """Reads a grammar, and notes what is wrong with it."""

    def __init__(self, path: Path) -> None:
        self.faults = Faults()
        self.hashes: dict[str, str] = {}
        self.files: list[_File] = []
        self.vocabularies: list[blimp_vocabulary.BlimpVocabulary] = []
        self.root = path
        self.lists: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.words_missing = False
        self.of_forms: list[tuple[Line, str, Restriction]] = []
        self._open(path)

    def _open(self, path: Path) -> None:
        """Read a file and those that it includes, each once."""
        if any(str(path) == file.name for file in self.files):
            return
        text = study.files.read_text(path)
        self.hashes[str(path)] = hashlib.sha256(text.encode()).hexdigest()
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise study.DataError(f"{path}: {toml_fault(text, error)}") from None
        file = _File(str(path), path.parent, content, TomlLines(text))
        self.files.append(file)
        for key in content:
            if key not in TABLES:
                self.faults.add(file.line((), key), str(unknown("key", key, TABLES)))
        for name in _strings(content.get("include", [])):
            included = located(name, path.parent)
            if included.is_file():
                self._open(included)
            else:
                self.faults.add(file.line((), name), f"include names {name!r}; there is no such file")

    def tables(self, key: str, kind: type = dict) -> Iterator[tuple[_File, str, Any]]:
        """Yield what the tables of that key hold in each file, by name; what is not of that kind is a fault."""
        for file in self.files:
            stated = file.content.get(key, {})
            if not isinstance(stated, dict):
                self.faults.add(file.line((), key), f"{key} is {stated!r}; expected a table, [{key}]")
                continue
            for name, content in stated.items():
                if isinstance(content, kind):
                    yield file, name, content
                else:
                    expected = "a list of values" if kind is list else f"a table, [{key}.{name}]"
                    self.faults.add(file.line((key,), name), f"{key}.{name} is {content!r}; expected {expected}")

    def grammar(self) -> Grammar:
        language = self._language()
        features = {name: tuple(_strings(values)) for _, name, values in self.tables("features", list)}
        selects = tuple(s for file in self.files for s in _strings(file.content.get("selects", [])))
        rows = [row for file in self.files for row in self._rows(file)]
        if not rows and not self.words_missing:
            self.faults.add(Line(str(self.root), 1), 'no lexicon; expected lexicon = ["words.csv"]')
        if not rows or self.words_missing:  # without its words, all that a grammar says of them would be a fault
            self.faults.raise_all()
        for name, values in (item for vocabulary in self.vocabularies for item in vocabulary.features.items()):
            features[name] = tuple(dict.fromkeys((*features.get(name, ()), *values)))
        selects += tuple(name for vocabulary in self.vocabularies for name in vocabulary.demands)
        selects = self.selects_known = tuple(dict.fromkeys(selects)) or ("subject", "object")
        phrases = {name for _, name, _ in self.tables("phrases")}
        words = Vocabulary(features, frozenset(categories_of(rows)))
        self.slot_names = Vocabulary(features, words.categories | phrases)
        self.phrase_names = phrases
        self.vocabulary = words
        shared = {
            name: spec
            for file in self.files
            for name, spec in self._slots(file, ("slots",), file.content.get("slots", {})).items()
        }
        self.shared = shared
        rules = {name: self._phrase(file, name, table) for file, name, table in self.tables("phrases")}
        self.phrases = rules
        self.columns_used = {c for rule in rules.values() for e in rule.expansions for c in _columns_of(e.parts)}
        paradigms: dict[str, ParadigmRule] = {}
        for kind in ("paradigm", "filler"):
            for file, name, table in self.tables(kind):
                if name in paradigms:
                    self.faults.add(file.line((kind, name)), f"there are two paradigms {name!r}")
                paradigms[name] = self._paradigm(file, kind, name, table)
        free = {c for file in self.files for c in _strings(file.content.get("columns", []))} | self.columns_used
        free = free.union(*(vocabulary.free for vocabulary in self.vocabularies))
        forms = {
            category: self._forms(file, category, columns, selects) for file, category, columns in self.tables("forms")
        }
        free -= {*features, *selects}
        entries, demands = read_entries(rows, Columns(words, selects, forms, frozenset(free)), self.faults)
        demands += self.of_forms
        if not paradigms:
            self.faults.add(Line(str(self.root), 1), "no paradigm; expected a table [paradigm.NAME]")
        return Grammar(
            language, words, selects, tuple(entries), tuple(demands), rules, paradigms, self.lists, self.hashes
        )

    def _language(self) -> Language:
        root = self.files[0]
        code = next((file.content["language"] for file in self.files if "language" in file.content), None)
        if not isinstance(code, str):
            self.faults.add(Line(root.name, 1), 'no language; expected language = "en" or another code')
            code = "und"
        sep = next((file.content["sep"] for file in self.files if "sep" in file.content), " ")
        rules = [(file, rule) for file in self.files for rule in file.content.get("rewrite", [])]
        lines = [file.line(("rewrite",), str(rule.get("words", ""))) for file, rule in rules]
        return read_language(code, sep, [rule for _, rule in rules], lines, self.faults)

    def _rows(self, file: _File) -> Iterator[tuple[Line, dict[str, str]]]:
        for name in _strings(file.content.get("lexicon", [])):
            path = file.folder / name
            if not path.is_file():
                self.faults.add(file.line((), name), f"lexicon names {name!r}; there is no such file")
                self.words_missing = True
                continue
            text = study.files.read_text(path)
            self.hashes[str(path)] = hashlib.sha256(text.encode()).hexdigest()
            try:
                if blimp_vocabulary.recognises(text):
                    self.vocabularies.append(blimp_vocabulary.read_vocabulary(text, str(path), self.faults))
                    rows = self.vocabularies[-1].rows
                else:
                    rows = read_rows(text, str(path))
            except Fault as fault:
                raise study.DataError(str(fault)) from None
            if not rows:
                self.faults.add(
                    Line(str(path), 1), "no word; expected a header with category and lemma, and a word a row"
                )
                self.words_missing = True
            yield from rows

    def _forms(self, file: _File, category: str, columns: Any, selects: Sequence[str]) -> Mapping[str, FormColumn]:
        table = ("forms", category)
        if category not in self.vocabulary.categories:
            self.faults.add(file.line(table), str(unknown("category", category, self.vocabulary.categories)))
        read: dict[str, FormColumn] = {}
        for name, text in columns.items():
            try:
                if not isinstance(text, str):
                    raise Fault(f'form {name} is {text!r}; expected the features of the form, "number=sg"')
                read[name] = read_form_column(text, self.vocabulary, selects)
                line = file.line(table, name)
                self.of_forms += [(line, column, demand) for column, demand in read[name].demands.items()]
            except Fault as fault:
                self.faults.add(file.line(table, name), str(fault))
        return read

    def _slots(self, file: _File, table: tuple[str, ...], slots: Any) -> dict[str, SlotSpec]:
        specs = {}
        if not isinstance(slots, dict):
            self.faults.add(file.line(table, "slots"), f'slots is {slots!r}; expected a table, {{ S = "NP" }}')
            return {}
        for name, text in slots.items():
            line = file.line(
                table, f'{name} = "{text}"', f'"{name}" = "{text}"', str(text), name, shown=f"{name} = {text}"
            )
            try:
                specs[name] = self._slot(str(text), line)
            except Fault as fault:
                self.faults.add(line, f"slot {name}: {fault}")
                specs[name] = SlotSpec(line, And())
        return specs

    def _slot(self, text: str, line: Line) -> SlotSpec:
        restriction = read_restriction(text, self.slot_names)
        parts = restriction.parts if isinstance(restriction, And) else (restriction,)
        phrases = [
            value
            for test in restriction.named()
            if test.feature == CATEGORY
            for value in test.values & self.phrase_names
        ]
        if not phrases:
            return SlotSpec(line, restriction)
        named = Test(CATEGORY, frozenset(phrases[:1]))
        if len(phrases) > 1 or named not in parts:
            raise Fault(
                f"{text!r} joins a phrase with others; expected one phrase and tests of its head, NP & number=sg"
            )
        return SlotSpec(line, And(tuple(part for part in parts if part != named)), phrases[0])

    def _used(
        self, file: _File, table: tuple[str, ...], declared: dict[str, SlotSpec], used: Sequence[Slot], whole: bool
    ) -> dict[str, SlotSpec]:
        """Return the slots that templates use: declared there, shared, or named as a category or phrase.

        Unless all templates could be read (`whole`), nobody knows which slots are not used.
        """
        specs = dict(declared)
        for slot in used:
            if slot.name in specs:
                continue
            line = file.line(table, f"<{slot.name}", shown=f"<{slot.name}>")
            if slot.name in self.shared:
                specs[slot.name] = self.shared[slot.name]
            elif slot.name in self.slot_names.categories:
                specs[slot.name] = self._slot(slot.name, line)
            else:
                known = [*declared, *self.shared, *self.slot_names.categories]
                self.faults.add(line, str(unknown("slot", slot.name, known)))
                specs[slot.name] = SlotSpec(line, And())
        if not whole:
            return specs
        used_names = {name for slot in used for name in (slot.name, f"{slot.name}*" if slot.starred else slot.name)}
        for name in declared:
            if name not in used_names:
                self.faults.add(declared[name].line, f"slot {name} is not used in any template")
        return specs

    def _where(
        self, file: _File, table: tuple[str, ...], lines: Any, slots: Mapping[str, SlotSpec]
    ) -> tuple[WhereLine, ...]:
        read: list[WhereLine] = []
        for text in _strings(lines):
            line = file.line(table, f'"{text}"', text, shown=text)
            try:
                where = WhereLine(line, read_where(text))
                self._check_where(where, slots)
                if isinstance(where.where, Listed):
                    self._list(file, where.where)
                read.append(where)
            except Fault as fault:
                self.faults.add(line, str(fault))
        return tuple(read)

    def _check_where(self, where: WhereLine, slots: Mapping[str, SlotSpec]) -> None:
        for path in where.paths():
            root = path.split(".")[0].split("@")[0].rstrip("*")
            if root not in slots and f"{root}*" not in slots:
                raise unknown("slot", root, slots)
        features = self.vocabulary.features
        match where.where:
            case Meets(_, _, _, _, only):
                named = list(only)
            case Counterpart(_, _, but):
                named = [name for name in but if name not in self.selects_known]
            case Varies(_, _, feature, values):
                self.vocabulary.values(feature, values)
                named = [feature]
            case Tested(_, restriction):
                read_restriction(restriction, self.vocabulary)
                named = []
            case _:
                named = [f] if (f := getattr(where.where, "feature", None)) else []
        for name in named:
            if name not in features:
                raise unknown("feature", name, features)
        if isinstance(where.where, Meets) and where.where.column not in self.selects_known:
            raise unknown("restriction column", where.where.column, self.selects_known)

    def _list(self, file: _File, listed: Listed) -> None:
        path = file.folder / listed.file
        if not path.is_file():
            raise Fault(f"there is no file {listed.file!r}")
        text = study.files.read_text(path)
        self.hashes[str(path)] = hashlib.sha256(text.encode()).hexdigest()
        rows = tuple(tuple(row.values()) for _, row in read_rows(text, str(path)))
        for row in rows:
            if len(row) != len(listed.paths):
                raise Fault(f"{listed.file} has {len(row)} columns; expected {len(listed.paths)}, one for each slot")
        self.lists[listed.file] = rows

    def _template(self, file: _File, table: tuple[str, ...], text: Any) -> tuple[Part, ...]:
        try:
            return read_template(str(text))
        except Fault as fault:
            self.faults.add(file.line(table, str(text)), str(fault))
            return ()

    def _phrase(self, file: _File, name: str, content: Any) -> PhraseRule:
        table = ("phrases", name)
        for key in content:
            if key not in PHRASE_KEYS:
                self.faults.add(file.line(table, key), str(unknown("key", key, PHRASE_KEYS)))
        if "is" not in content:
            self.faults.add(
                file.line(table), f'phrase {name} has no `is`; expected is = "<D> <N>" or several with weights'
            )
        stated = content.get("is", {})
        weights = stated if isinstance(stated, dict) else dict.fromkeys(_strings(stated), 1)
        expansions = []
        for text, weight in weights.items():
            if not isinstance(weight, int | float) or weight <= 0:
                self.faults.add(
                    file.line(table, text), f"the weight of {text!r} is {weight!r}; expected a number above 0"
                )
                weight = 1
            expansions.append(Expansion(text, self._template(file, table, text), weight))
        used = [slot for expansion in expansions for slot in slots_of(expansion.parts)]
        for slot in used:
            if slot.starred or slot.factors:
                self.faults.add(
                    file.line(table, f"<{slot.name}"),
                    f"<{slot.name}> varies inside a phrase; expected that in a paradigm",
                )
        specs = self._used(file, table, self._slots(file, table, content.get("slots", {})), used, True)
        heads = tuple(_strings(content.get("head", [])))
        for head in heads:
            if head not in specs:
                self.faults.add(file.line(table, "head"), f"the head of {name}: {unknown('slot', head, specs)}")
        depth = content.get("depth")
        if depth is not None and (not isinstance(depth, int) or depth < 1):
            self.faults.add(file.line(table, "depth"), f"depth is {depth!r}; expected a whole number from 1")
            depth = 1
        attractors = tuple(_strings(content.get("attractors", [])))
        for attractor in attractors:
            if attractor not in specs or attractor in heads:
                others = sorted({*specs} - {*heads})
                self.faults.add(
                    file.line(table, "attractors"), f"attractors of {name}: {unknown('slot', attractor, others)}"
                )
        where = self._where(file, table, content.get("where", []), specs)
        return PhraseRule(name, file.line(table), heads, tuple(expansions), specs, where, depth, attractors)

    def _paradigm(self, file: _File, kind: str, name: str, content: Any) -> ParadigmRule:
        table = (kind, name)
        line = file.line(table)
        for key in content:
            if key not in PARADIGM_KEYS:
                self.faults.add(file.line(table, key), str(unknown("key", key, PARADIGM_KEYS)))
        filler = kind == "filler"
        pair = "good" in content or "bad" in content
        default = dict(MINIMAL_PAIR) if pair else {"condition": (ONLY,)}
        factors = content.get("factors", default)
        if not isinstance(factors, dict):
            expected = 'a table, { local = ["sg", "pl"] }'
            self.faults.add(file.line(table, "factors"), f"factors is {factors!r}; expected {expected}")
            factors = default
        factors = {factor: tuple(_strings(levels)) for factor, levels in factors.items()}
        if type(content.get("n", 1)) is not int or content.get("n", 1) < 1:
            self.faults.add(file.line(table, "n"), f"n is {content['n']!r}; expected a whole number from 1")
        rule = ParadigmRule(name, line, str(content.get("phenomenon", name)), factors, (), {}, (), filler=filler)
        conditions = rule.conditions()
        templates = self._templates(file, table, content, conditions)
        used = [slot for each in templates for parts in each.values() for slot in slots_of(parts)]
        whole = bool(templates) and all(parts for each in templates for parts in each.values())
        for slot in used:
            for factor in slot.factors:
                if factor not in factors:
                    self.faults.add(file.line(table, f"@{factor}"), str(unknown("factor", factor, factors)))
        self.columns_used |= {slot.column for slot in used if slot.column}
        specs = self._used(file, table, self._slots(file, table, content.get("slots", {})), used, whole)
        question = self._question(file, table, content.get("question"), conditions, specs)
        where = self._where(file, table, content.get("where", []), specs)
        for each in where:
            if isinstance(each.where, Varies):
                levels = factors.get(each.where.factor)
                if levels is None:
                    self.faults.add(each.line, str(unknown("factor", each.where.factor, factors)))
                elif len(levels) != len(each.where.values):
                    self.faults.add(
                        each.line, f"{len(each.where.values)} values; expected one for each of {', '.join(levels)}"
                    )
        self._neighbours(file, table, content.get("control"))
        specs |= self._attractors(file, table, content.get("control"), specs)
        waive = content.get("waive", {})
        return ParadigmRule(
            name,
            line,
            rule.phenomenon,
            factors,
            templates,
            specs,
            where,
            tuple(_strings(content.get("references", []))),
            dict(waive) if isinstance(waive, dict) else dict.fromkeys(_strings(waive), "waived in the grammar"),
            tuple(_strings(content.get("predictions", []))),
            question,
            filler,
            {key: content[key] for key in sorted(DRAWING_KEYS & set(content))},
        )

    def _attractors(
        self, file: _File, table: tuple[str, ...], control: Any, specs: Mapping[str, SlotSpec]
    ) -> dict[str, SlotSpec]:
        """Return the slots whose phrases a control gives a number of attractors, and says whether these agree with the head."""
        stated = control.get("attractors", {}) if isinstance(control, dict) else {}
        line = file.line(table, "control", shown="control")
        alike = [(key, control[key]) for key in ("congruent", "incongruent") if stated and key in control]
        found: dict[str, SlotSpec] = {}
        try:
            if not isinstance(stated, dict):
                raise Fault(f"attractors is {stated!r}; expected a number for a phrase, as in attractors = {{ S = 1 }}")
            if len(alike) > 1 or (alike and alike[0][1] not in self.vocabulary.features):
                got = " and ".join(f"{key} = {feature!r}" for key, feature in alike)
                raise Fault(f'{got}; expected one of them, with a feature, as in incongruent = "number"')
            for slot, numbers in stated.items():
                if slot not in specs:
                    raise unknown("slot", slot, specs)
                rule = self.phrases.get(specs[slot].phrase or "")
                if rule is None or not rule.attractors:
                    what = f"phrase {rule.name}, which names no attractors" if rule else "words"
                    raise Fault(f"attractors of {slot}: it holds {what}; expected a phrase that says which they are")
                listed = numbers if isinstance(numbers, list) else [numbers]
                if not listed or any(type(n) is not int or n < 0 for n in listed):
                    raise Fault(
                        f"attractors of {slot} is {numbers!r}; expected a number from 0, or several, as in [0, 2]"
                    )
                feature = alike[0][1] if alike else None
                wanted = Attractors(line, frozenset(listed), feature, [*alike, ("congruent",)][0][0] == "congruent")
                found[slot] = replace(specs[slot], attractors=wanted)
        except Fault as fault:
            self.faults.add(line, f"control: {fault}")
        return found

    def _neighbours(self, file: _File, table: tuple[str, ...], control: Any) -> None:
        """Note the file of bigrams that a control names among those that the grammar was read from."""
        stated = control.get("neighbour_bigram") if isinstance(control, dict) else None
        if isinstance(stated, dict) and isinstance(name := stated.get("file"), str):
            path = file.folder / name
            if path.is_file():
                self.hashes[str(path)] = study.files.sha256(path)
            else:
                self.faults.add(file.line(table, name), f"neighbour_bigram names {name!r}; there is no such file")

    def _templates(
        self, file: _File, table: tuple[str, ...], content: Any, conditions: Mapping[str, Mapping[str, str]]
    ) -> tuple[Mapping[str, tuple[Part, ...]], ...]:
        """Return the templates of each condition, as many for each."""
        if "good" in content or "bad" in content:
            written = {"grammatical": content.get("good"), "ungrammatical": content.get("bad")}
        elif "sentence" in content:
            written = dict.fromkeys(conditions, content["sentence"])
        elif isinstance(content.get("sentences"), dict):
            written = {}
            for key, text in content["sentences"].items():
                levels = set(key.split("."))
                meant = [c for c, of in conditions.items() if levels <= set(of.values())]
                if not meant:
                    self.faults.add(file.line((*table, "sentences"), key), str(unknown("condition", key, conditions)))
                for condition in meant:
                    if condition in written:
                        self.faults.add(file.line((*table, "sentences"), key), f"two sentences for {condition}")
                    written[condition] = text
        else:
            self.faults.add(file.line(table), "no sentence; expected good and bad, sentence, or a table sentences")
            return ()
        missing = [condition for condition in conditions if not written.get(condition)]
        listed = {condition: _strings(written[condition]) for condition in conditions if condition not in missing}
        if missing:
            self.faults.add(file.line(table), f"no sentence for {', '.join(missing)}")
        elif len({len(texts) for texts in listed.values()}) > 1:
            counts = ", ".join(f"{len(texts)} for {condition}" for condition, texts in listed.items())
            self.faults.add(
                file.line(table), f"lists of sentences of other lengths: {counts}; expected as many for each condition"
            )
        else:
            return tuple(
                {condition: self._template(file, table, text) for condition, text in zip(listed, texts, strict=True)}
                for texts in zip(*listed.values(), strict=True)
            )
        return ()

    def _question(
        self,
        file: _File,
        table: tuple[str, ...],
        content: Any,
        conditions: Mapping[str, Mapping[str, str]],
        slots: Mapping[str, SlotSpec],
    ) -> QuestionRule | None:
        if content is None:
            return None
        line = file.line(table, "question")
        if not isinstance(content, dict) or not {"text", "answer"} <= set(content):
            self.faults.add(
                line, 'a question needs a text and an answer: { text = "Was the <H> <Adj>?", answer = "yes" }'
            )
            return None
        stated = content["answer"]
        by_level = stated if isinstance(stated, dict) else {}
        answers: dict[str, str] = {}
        for condition, levels in conditions.items():
            keys = [condition, *levels.values()]
            found = stated if isinstance(stated, str) else next((by_level[k] for k in keys if k in by_level), None)
            if found is None:
                self.faults.add(
                    line, f"the question has no answer in {condition}; expected a text, or one for each level"
                )
            answers[condition] = str(found)
        choices = _strings(content.get("choices", ["yes", "no"]))
        for answer in dict.fromkeys(answers.values()):
            # What a slot prints is compared with the choices in each item.
            if answer not in choices and "<" not in "".join([answer, *choices]):
                self.faults.add(line, f"the answer {answer!r} is no choice; expected {one_of(choices)}")
        share = content.get("share", 1.0)
        if not isinstance(share, int | float) or not 0 < share <= 1:
            self.faults.add(line, f"share is {share!r}; expected a number above 0, up to 1")
            share = 1.0
        read = {text: self._template(file, table, text) for text in [content["text"], *answers.values(), *choices]}
        for parts in read.values():
            for slot in slots_of(parts):
                if slot.name not in slots:
                    self.faults.add(line, f"question: {unknown('slot', slot.name, slots)}")
                elif slot.starred or slot.factors:
                    self.faults.add(
                        line, f"the question has <{slot.name}> that varies; all conditions have one question"
                    )
            self.columns_used |= _columns_of(parts)
        return QuestionRule(
            read[content["text"]],
            {condition: read[answer] for condition, answer in answers.items()},
            tuple(read[choice] for choice in choices),
            float(share),
            line,
        )


def _columns_of(parts: Sequence[Part]) -> set[str]:
    return {slot.column for slot in slots_of(parts) if slot.column}


def _strings(value: Any) -> list[str]:
    """Return a text, or a list of them, as a list."""
    return [str(v) for v in value] if isinstance(value, list | tuple) else [str(value)]
