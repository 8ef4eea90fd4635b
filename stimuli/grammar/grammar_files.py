"""Grammar files: features, lexicons, phrases and paradigms, read with every fault at once."""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from gardenpath import study

from ..formats.marked_csv import SINGLE_CONDITION
from ..items import MINIMAL_PAIR
from . import blimp_vocabulary
from .faults import Fault, Faults, Line, TomlLines, build_unknown_fault, describe_toml_fault, format_choices
from .grammars import Attractors, Expansion, Grammar, ParadigmRule, PhraseRule, QuestionRule, SlotSpec
from .lexicon import FormColumn, LexiconColumns, find_categories, read_entries, read_form_column, read_rows
from .restrictions import CATEGORY, And, FeatureTest, Restriction, Vocabulary, read_restriction
from .rewrite_rules import Language, read_language
from .templates import Part, Slot, find_slots, read_template
from .validation import find_faults
from .where_lines import Counterpart, FactorVariation, ListMembership, SelectionTest, SlotTest, WhereLine, read_where_statement

TOP_LEVEL_KEYS = {
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
DRAWING_KEYS = {"sampling", "balanced", "at_most", "disjoint", "control", "same_length", "n", "note"}
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


def find_grammar_file(path: str | Path, folder: Path = Path()) -> Path:
    """Return a file in a folder or, where there is none, one of the grammars that come with gardenpath.

    >>> find_grammar_file("en/blimp.toml").name
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
    reader = _GrammarLoader(find_grammar_file(path))
    grammar = reader.build_grammar()
    reader.faults.raise_all()
    find_faults(grammar, reader.faults)
    reader.faults.raise_all()
    return grammar


@dataclass
class _GrammarFile:
    """One TOML file: where messages say that it is, its content, and its lines."""

    name: str
    folder: Path
    content: dict[str, Any]
    lines: TomlLines

    def find_line(self, table: Sequence[str], *texts: str, line_text: str = "") -> Line:
        return Line(self.name, self.lines.find_line(tuple(table), *texts), line_text)


class _GrammarLoader:
    """Reads a grammar, and notes what is wrong with it."""

    def __init__(self, path: Path) -> None:
        self.faults = Faults()
        self.hashes: dict[str, str] = {}
        self.files: list[_GrammarFile] = []
        self.vocabularies: list[blimp_vocabulary.BlimpVocabulary] = []
        self.root = path
        self.lists: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.has_missing_words = False
        self.form_demands: list[tuple[Line, str, Restriction]] = []
        self._read_file(path)

    def _read_file(self, path: Path) -> None:
        """Read a file and those that it includes, each once."""
        if any(str(path) == file.name for file in self.files):
            return
        text = study.files.read_text(path)
        self.hashes[str(path)] = hashlib.sha256(text.encode()).hexdigest()
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise study.DataError(f"{path}: {describe_toml_fault(text, error)}") from None
        file = _GrammarFile(str(path), path.parent, content, TomlLines(text))
        self.files.append(file)
        for key in content:
            if key not in TOP_LEVEL_KEYS:
                self.faults.add(file.find_line((), key), str(build_unknown_fault("key", key, TOP_LEVEL_KEYS)))
        for name in _list_strings(content.get("include", [])):
            included = find_grammar_file(name, path.parent)
            if included.is_file():
                self._read_file(included)
            else:
                self.faults.add(file.find_line((), name), f"include names {name!r}; there is no such file")

    def iterate_tables(self, key: str, kind: type = dict) -> Iterator[tuple[_GrammarFile, str, Any]]:
        """Yield what the tables of that key hold in each file, by name; what is not of that kind is a fault."""
        for file in self.files:
            stated = file.content.get(key, {})
            if not isinstance(stated, dict):
                self.faults.add(file.find_line((), key), f"{key} is {stated!r}; expected a table, [{key}]")
                continue
            for name, content in stated.items():
                if isinstance(content, kind):
                    yield file, name, content
                else:
                    expected = "a list of values" if kind is list else f"a table, [{key}.{name}]"
                    self.faults.add(file.find_line((key,), name), f"{key}.{name} is {content!r}; expected {expected}")

    def build_grammar(self) -> Grammar:
        language = self._read_language()
        features = {name: tuple(_list_strings(values)) for _, name, values in self.iterate_tables("features", list)}
        selects = tuple(s for file in self.files for s in _list_strings(file.content.get("selects", [])))
        rows = [row for file in self.files for row in self._read_rows(file)]
        if not rows and not self.has_missing_words:
            self.faults.add(Line(str(self.root), 1), 'no lexicon; expected lexicon = ["words.csv"]')
        if not rows or self.has_missing_words:  # without its words, all that a grammar says of them would be a fault
            self.faults.raise_all()
        for name, values in (item for vocabulary in self.vocabularies for item in vocabulary.features.items()):
            features[name] = tuple(dict.fromkeys((*features.get(name, ()), *values)))
        selects += tuple(name for vocabulary in self.vocabularies for name in vocabulary.demand_columns)
        selects = self.demand_columns = tuple(dict.fromkeys(selects)) or ("subject", "object")
        phrases = {name for _, name, _ in self.iterate_tables("phrases")}
        words = Vocabulary(features, frozenset(find_categories(rows)))
        self.slot_names = Vocabulary(features, words.categories | phrases)
        self.phrase_names = phrases
        self.vocabulary = words
        shared = {
            name: spec
            for file in self.files
            for name, spec in self._read_slots(file, ("slots",), file.content.get("slots", {})).items()
        }
        self.shared_slots = shared
        rules = {name: self._read_phrase(file, name, table) for file, name, table in self.iterate_tables("phrases")}
        self.phrases = rules
        self.used_columns = {c for rule in rules.values() for e in rule.expansions for c in _find_columns(e.parts)}
        paradigms: dict[str, ParadigmRule] = {}
        for kind in ("paradigm", "filler"):
            for file, name, table in self.iterate_tables(kind):
                if name in paradigms:
                    self.faults.add(file.find_line((kind, name)), f"there are two paradigms {name!r}")
                paradigms[name] = self._read_paradigm(file, kind, name, table)
        free = {c for file in self.files for c in _list_strings(file.content.get("columns", []))} | self.used_columns
        free = free.union(*(vocabulary.free_columns for vocabulary in self.vocabularies))
        forms = {
            category: self._read_forms(file, category, columns, selects) for file, category, columns in self.iterate_tables("forms")
        }
        free -= {*features, *selects}
        entries, demands = read_entries(rows, LexiconColumns(words, selects, forms, frozenset(free)), self.faults)
        demands += self.form_demands
        if not paradigms:
            self.faults.add(Line(str(self.root), 1), "no paradigm; expected a table [paradigm.NAME]")
        return Grammar(language, words, selects, tuple(entries), tuple(demands), rules, paradigms, self.lists, self.hashes)

    def _read_language(self) -> Language:
        root = self.files[0]
        code = next((file.content["language"] for file in self.files if "language" in file.content), None)
        if not isinstance(code, str):
            self.faults.add(Line(root.name, 1), 'no language; expected language = "en" or another code')
            code = "und"
        sep = next((file.content["sep"] for file in self.files if "sep" in file.content), " ")
        rules = [(file, rule) for file in self.files for rule in file.content.get("rewrite", [])]
        lines = [file.find_line(("rewrite",), str(rule.get("words", ""))) for file, rule in rules]
        return read_language(code, sep, [rule for _, rule in rules], lines, self.faults)

    def _read_rows(self, file: _GrammarFile) -> Iterator[tuple[Line, dict[str, str]]]:
        for name in _list_strings(file.content.get("lexicon", [])):
            path = file.folder / name
            if not path.is_file():
                self.faults.add(file.find_line((), name), f"lexicon names {name!r}; there is no such file")
                self.has_missing_words = True
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
                self.faults.add(Line(str(path), 1), "no word; expected a header with category and lemma, and a word a row")
                self.has_missing_words = True
            yield from rows

    def _read_forms(self, file: _GrammarFile, category: str, columns: Any, selects: Sequence[str]) -> Mapping[str, FormColumn]:
        table = ("forms", category)
        if category not in self.vocabulary.categories:
            self.faults.add(file.find_line(table), str(build_unknown_fault("category", category, self.vocabulary.categories)))
        read: dict[str, FormColumn] = {}
        for name, text in columns.items():
            try:
                if not isinstance(text, str):
                    raise Fault(f'form {name} is {text!r}; expected the features of the form, "number=sg"')
                read[name] = read_form_column(text, self.vocabulary, selects)
                line = file.find_line(table, name)
                self.form_demands += [(line, column, demand) for column, demand in read[name].demands.items()]
            except Fault as fault:
                self.faults.add(file.find_line(table, name), str(fault))
        return read

    def _read_slots(self, file: _GrammarFile, table: tuple[str, ...], slots: Any) -> dict[str, SlotSpec]:
        specs = {}
        if not isinstance(slots, dict):
            self.faults.add(file.find_line(table, "slots"), f'slots is {slots!r}; expected a table, {{ S = "NP" }}')
            return {}
        for name, text in slots.items():
            line = file.find_line(
                table, f'{name} = "{text}"', f'"{name}" = "{text}"', str(text), name, line_text=f"{name} = {text}"
            )
            try:
                specs[name] = self._read_slot(str(text), line)
            except Fault as fault:
                self.faults.add(line, f"slot {name}: {fault}")
                specs[name] = SlotSpec(line, And())
        return specs

    def _read_slot(self, text: str, line: Line) -> SlotSpec:
        restriction = read_restriction(text, self.slot_names)
        parts = restriction.parts if isinstance(restriction, And) else (restriction,)
        phrases = [
            value for test in restriction.iterate_tests() if test.feature == CATEGORY for value in test.values & self.phrase_names
        ]
        if not phrases:
            return SlotSpec(line, restriction)
        named = FeatureTest(CATEGORY, frozenset(phrases[:1]))
        if len(phrases) > 1 or named not in parts:
            raise Fault(f"{text!r} joins a phrase with others; expected one phrase and tests of its head, NP & number=sg")
        return SlotSpec(line, And(tuple(part for part in parts if part != named)), phrases[0])

    def _resolve_used_slots(
        self, file: _GrammarFile, table: tuple[str, ...], declared: dict[str, SlotSpec], used: Sequence[Slot], whole: bool
    ) -> dict[str, SlotSpec]:
        """Return the slots that templates use: declared there, shared, or named as a category or phrase.

        Unless all templates could be read (`whole`), nobody knows which slots are not used.
        """
        specs = dict(declared)
        for slot in used:
            if slot.name in specs:
                continue
            line = file.find_line(table, f"<{slot.name}", line_text=f"<{slot.name}>")
            if slot.name in self.shared_slots:
                specs[slot.name] = self.shared_slots[slot.name]
            elif slot.name in self.slot_names.categories:
                specs[slot.name] = self._read_slot(slot.name, line)
            else:
                known = [*declared, *self.shared_slots, *self.slot_names.categories]
                self.faults.add(line, str(build_unknown_fault("slot", slot.name, known)))
                specs[slot.name] = SlotSpec(line, And())
        if not whole:
            return specs
        used_names = {name for slot in used for name in (slot.name, f"{slot.name}*" if slot.is_counterpart else slot.name)}
        for name in declared:
            if name not in used_names:
                self.faults.add(declared[name].line, f"slot {name} is not used in any template")
        return specs

    def _read_where_lines(
        self, file: _GrammarFile, table: tuple[str, ...], lines: Any, slots: Mapping[str, SlotSpec]
    ) -> tuple[WhereLine, ...]:
        read: list[WhereLine] = []
        for text in _list_strings(lines):
            line = file.find_line(table, f'"{text}"', text, line_text=text)
            try:
                where = WhereLine(line, read_where_statement(text))
                self._check_where_line(where, slots)
                if isinstance(where.statement, ListMembership):
                    self._read_list(file, where.statement)
                read.append(where)
            except Fault as fault:
                self.faults.add(line, str(fault))
        return tuple(read)

    def _check_where_line(self, where: WhereLine, slots: Mapping[str, SlotSpec]) -> None:
        for path in where.list_paths():
            root = path.split(".")[0].split("@")[0].rstrip("*")
            if root not in slots and f"{root}*" not in slots:
                raise build_unknown_fault("slot", root, slots)
        features = self.vocabulary.features
        match where.statement:
            case SelectionTest(_, _, _, _, only):
                named = list(only)
            case Counterpart(_, _, but):
                named = [name for name in but if name not in self.demand_columns]
            case FactorVariation(_, _, feature, values):
                self.vocabulary.check_values(feature, values)
                named = [feature]
            case SlotTest(_, restriction):
                read_restriction(restriction, self.vocabulary)
                named = []
            case _:
                named = [f] if (f := getattr(where.statement, "feature", None)) else []
        for name in named:
            if name not in features:
                raise build_unknown_fault("feature", name, features)
        if isinstance(where.statement, SelectionTest) and where.statement.column not in self.demand_columns:
            raise build_unknown_fault("restriction column", where.statement.column, self.demand_columns)

    def _read_list(self, file: _GrammarFile, listed: ListMembership) -> None:
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

    def _read_template(self, file: _GrammarFile, table: tuple[str, ...], text: Any) -> tuple[Part, ...]:
        try:
            return read_template(str(text))
        except Fault as fault:
            self.faults.add(file.find_line(table, str(text)), str(fault))
            return ()

    def _read_phrase(self, file: _GrammarFile, name: str, content: Any) -> PhraseRule:
        table = ("phrases", name)
        for key in content:
            if key not in PHRASE_KEYS:
                self.faults.add(file.find_line(table, key), str(build_unknown_fault("key", key, PHRASE_KEYS)))
        if "is" not in content:
            self.faults.add(file.find_line(table), f'phrase {name} has no `is`; expected is = "<D> <N>" or several with weights')
        stated = content.get("is", {})
        weights = stated if isinstance(stated, dict) else dict.fromkeys(_list_strings(stated), 1)
        expansions = []
        for text, weight in weights.items():
            if not isinstance(weight, int | float) or weight <= 0:
                self.faults.add(file.find_line(table, text), f"the weight of {text!r} is {weight!r}; expected a number above 0")
                weight = 1
            expansions.append(Expansion(text, self._read_template(file, table, text), weight))
        used = [slot for expansion in expansions for slot in find_slots(expansion.parts)]
        for slot in used:
            if slot.is_counterpart or slot.factors:
                self.faults.add(
                    file.find_line(table, f"<{slot.name}"), f"<{slot.name}> varies inside a phrase; expected that in a paradigm"
                )
        specs = self._resolve_used_slots(file, table, self._read_slots(file, table, content.get("slots", {})), used, True)
        heads = tuple(_list_strings(content.get("head", [])))
        for head in heads:
            if head not in specs:
                self.faults.add(file.find_line(table, "head"), f"the head of {name}: {build_unknown_fault('slot', head, specs)}")
        depth = content.get("depth")
        if depth is not None and (not isinstance(depth, int) or depth < 1):
            self.faults.add(file.find_line(table, "depth"), f"depth is {depth!r}; expected a whole number from 1")
            depth = 1
        attractors = tuple(_list_strings(content.get("attractors", [])))
        for attractor in attractors:
            if attractor not in specs or attractor in heads:
                others = sorted({*specs} - {*heads})
                self.faults.add(
                    file.find_line(table, "attractors"), f"attractors of {name}: {build_unknown_fault('slot', attractor, others)}"
                )
        where = self._read_where_lines(file, table, content.get("where", []), specs)
        return PhraseRule(name, file.find_line(table), heads, tuple(expansions), specs, where, depth, attractors)

    def _read_paradigm(self, file: _GrammarFile, kind: str, name: str, content: Any) -> ParadigmRule:
        table = (kind, name)
        line = file.find_line(table)
        for key in content:
            if key not in PARADIGM_KEYS:
                self.faults.add(file.find_line(table, key), str(build_unknown_fault("key", key, PARADIGM_KEYS)))
        filler = kind == "filler"
        pair = "good" in content or "bad" in content
        default = dict(MINIMAL_PAIR) if pair else {"condition": (SINGLE_CONDITION,)}
        factors = content.get("factors", default)
        if not isinstance(factors, dict):
            expected = 'a table, { local = ["sg", "pl"] }'
            self.faults.add(file.find_line(table, "factors"), f"factors is {factors!r}; expected {expected}")
            factors = default
        factors = {factor: tuple(_list_strings(levels)) for factor, levels in factors.items()}
        if type(content.get("n", 1)) is not int or content.get("n", 1) < 1:
            self.faults.add(file.find_line(table, "n"), f"n is {content['n']!r}; expected a whole number from 1")
        rule = ParadigmRule(name, line, str(content.get("phenomenon", name)), factors, (), {}, (), is_filler=filler)
        conditions = rule.list_conditions()
        templates = self._read_templates(file, table, content, conditions)
        used = [slot for each in templates for parts in each.values() for slot in find_slots(parts)]
        whole = bool(templates) and all(parts for each in templates for parts in each.values())
        for slot in used:
            for factor in slot.factors:
                if factor not in factors:
                    self.faults.add(file.find_line(table, f"@{factor}"), str(build_unknown_fault("factor", factor, factors)))
        self.used_columns |= {slot.column for slot in used if slot.column}
        specs = self._resolve_used_slots(file, table, self._read_slots(file, table, content.get("slots", {})), used, whole)
        question = self._read_question(file, table, content.get("question"), conditions, specs)
        where = self._read_where_lines(file, table, content.get("where", []), specs)
        for each in where:
            if isinstance(each.statement, FactorVariation):
                levels = factors.get(each.statement.factor)
                if levels is None:
                    self.faults.add(each.line, str(build_unknown_fault("factor", each.statement.factor, factors)))
                elif len(levels) != len(each.statement.values):
                    self.faults.add(each.line, f"{len(each.statement.values)} values; expected one for each of {', '.join(levels)}")
        self._note_bigram_file(file, table, content.get("control"))
        specs |= self._read_attractors(file, table, content.get("control"), specs)
        waive = content.get("waive", {})
        return ParadigmRule(
            name,
            line,
            rule.phenomenon,
            factors,
            templates,
            specs,
            where,
            tuple(_list_strings(content.get("references", []))),
            dict(waive) if isinstance(waive, dict) else dict.fromkeys(_list_strings(waive), "waived in the grammar"),
            tuple(_list_strings(content.get("predictions", []))),
            question,
            filler,
            {key: content[key] for key in sorted(DRAWING_KEYS & set(content))},
        )

    def _read_attractors(
        self, file: _GrammarFile, table: tuple[str, ...], control: Any, specs: Mapping[str, SlotSpec]
    ) -> dict[str, SlotSpec]:
        """Return the slots whose phrases a control gives a number of attractors, and says whether these agree with the head."""
        stated = control.get("attractors", {}) if isinstance(control, dict) else {}
        line = file.find_line(table, "control", line_text="control")
        agreement_settings = [(key, control[key]) for key in ("congruent", "incongruent") if stated and key in control]
        found: dict[str, SlotSpec] = {}
        try:
            if not isinstance(stated, dict):
                raise Fault(f"attractors is {stated!r}; expected a number for a phrase, as in attractors = {{ S = 1 }}")
            if len(agreement_settings) > 1 or (agreement_settings and agreement_settings[0][1] not in self.vocabulary.features):
                got = " and ".join(f"{key} = {feature!r}" for key, feature in agreement_settings)
                raise Fault(f'{got}; expected one of them, with a feature, as in incongruent = "number"')
            for slot, numbers in stated.items():
                if slot not in specs:
                    raise build_unknown_fault("slot", slot, specs)
                rule = self.phrases.get(specs[slot].phrase or "")
                if rule is None or not rule.attractors:
                    what = f"phrase {rule.name}, which names no attractors" if rule else "words"
                    raise Fault(f"attractors of {slot}: it holds {what}; expected a phrase that says which they are")
                listed = numbers if isinstance(numbers, list) else [numbers]
                if not listed or any(type(n) is not int or n < 0 for n in listed):
                    raise Fault(f"attractors of {slot} is {numbers!r}; expected a number from 0, or several, as in [0, 2]")
                feature = agreement_settings[0][1] if agreement_settings else None
                wanted = Attractors(line, frozenset(listed), feature, [*agreement_settings, ("congruent",)][0][0] == "congruent")
                found[slot] = replace(specs[slot], attractors=wanted)
        except Fault as fault:
            self.faults.add(line, f"control: {fault}")
        return found

    def _note_bigram_file(self, file: _GrammarFile, table: tuple[str, ...], control: Any) -> None:
        """Note the file of bigrams that a control names among those that the grammar was read from."""
        stated = control.get("neighbour_bigram") if isinstance(control, dict) else None
        if isinstance(stated, dict) and isinstance(name := stated.get("file"), str):
            path = file.folder / name
            if path.is_file():
                self.hashes[str(path)] = study.files.hash_file(path)
            else:
                self.faults.add(file.find_line(table, name), f"neighbour_bigram names {name!r}; there is no such file")

    def _read_templates(
        self, file: _GrammarFile, table: tuple[str, ...], content: Any, conditions: Mapping[str, Mapping[str, str]]
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
                    self.faults.add(
                        file.find_line((*table, "sentences"), key), str(build_unknown_fault("condition", key, conditions))
                    )
                for condition in meant:
                    if condition in written:
                        self.faults.add(file.find_line((*table, "sentences"), key), f"two sentences for {condition}")
                    written[condition] = text
        else:
            self.faults.add(file.find_line(table), "no sentence; expected good and bad, sentence, or a table sentences")
            return ()
        missing = [condition for condition in conditions if not written.get(condition)]
        listed = {condition: _list_strings(written[condition]) for condition in conditions if condition not in missing}
        if missing:
            self.faults.add(file.find_line(table), f"no sentence for {', '.join(missing)}")
        elif len({len(texts) for texts in listed.values()}) > 1:
            counts = ", ".join(f"{len(texts)} for {condition}" for condition, texts in listed.items())
            self.faults.add(
                file.find_line(table), f"lists of sentences of other lengths: {counts}; expected as many for each condition"
            )
        else:
            return tuple(
                {condition: self._read_template(file, table, text) for condition, text in zip(listed, texts, strict=True)}
                for texts in zip(*listed.values(), strict=True)
            )
        return ()

    def _read_question(
        self,
        file: _GrammarFile,
        table: tuple[str, ...],
        content: Any,
        conditions: Mapping[str, Mapping[str, str]],
        slots: Mapping[str, SlotSpec],
    ) -> QuestionRule | None:
        if content is None:
            return None
        line = file.find_line(table, "question")
        if not isinstance(content, dict) or not {"text", "answer"} <= set(content):
            self.faults.add(line, 'a question needs a text and an answer: { text = "Was the <H> <Adj>?", answer = "yes" }')
            return None
        stated = content["answer"]
        by_level = stated if isinstance(stated, dict) else {}
        answers: dict[str, str] = {}
        for condition, levels in conditions.items():
            keys = [condition, *levels.values()]
            found = stated if isinstance(stated, str) else next((by_level[k] for k in keys if k in by_level), None)
            if found is None:
                self.faults.add(line, f"the question has no answer in {condition}; expected a text, or one for each level")
            answers[condition] = str(found)
        choices = _list_strings(content.get("choices", ["yes", "no"]))
        for answer in dict.fromkeys(answers.values()):
            # What a slot prints is compared with the choices in each item.
            if answer not in choices and "<" not in "".join([answer, *choices]):
                self.faults.add(line, f"the answer {answer!r} is no choice; expected {format_choices(choices)}")
        share = content.get("share", 1.0)
        if not isinstance(share, int | float) or not 0 < share <= 1:
            self.faults.add(line, f"share is {share!r}; expected a number above 0, up to 1")
            share = 1.0
        read = {text: self._read_template(file, table, text) for text in [content["text"], *answers.values(), *choices]}
        for parts in read.values():
            for slot in find_slots(parts):
                if slot.name not in slots:
                    self.faults.add(line, f"question: {build_unknown_fault('slot', slot.name, slots)}")
                elif slot.is_counterpart or slot.factors:
                    self.faults.add(line, f"the question has <{slot.name}> that varies; all conditions have one question")
            self.used_columns |= _find_columns(parts)
        return QuestionRule(
            read[content["text"]],
            {condition: read[answer] for condition, answer in answers.items()},
            tuple(read[choice] for choice in choices),
            float(share),
            line,
        )


def _find_columns(parts: Sequence[Part]) -> set[str]:
    return {slot.column for slot in find_slots(parts) if slot.column}


def _list_strings(value: Any) -> list[str]:
    """Return a text, or a list of them, as a list."""
    return [str(v) for v in value] if isinstance(value, list | tuple) else [str(value)]
