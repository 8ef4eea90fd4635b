"""Compiling a paradigm: from slots, phrases and lines to variables with classes of entries, and tables over them."""

import functools
import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gardenpath import study

from .faults import Fault, Line
from .grammars import Attractors, Grammar, ParadigmRule, PhraseRule, SlotSpec
from .graphs import Alternative, Alternatives, Export, Factor, Graph, Phrase, Variable
from .lexicon import Entry
from .relations import Relation, build_form_difference, build_relations
from .restrictions import CATEGORY, FREE_FEATURES, And, FeatureTest, Restriction, Vocabulary
from .templates import MarkedRegion, Part, Slot, find_choices, find_slots, resolve_choices
from .where_lines import Counterpart, FactorVariation, FeatureAgreement, SlotTest, WhereLine

Labels = Mapping["Entry | None", int]  # how the outside tells entries apart; None is a slot that is not there
DepthBudget = tuple[tuple[str, int], ...]  # how often each phrase of limited depth may still be entered
EntryTuples = list[tuple[Entry, ...]]


@dataclass(frozen=True, eq=False)
class WordClasses:
    """What the classes of a graph mean: entries of each class, the variable and position of each slot, and how it is written.

    `templates` has one for each condition; a phrase has one under the empty name.
    """

    classes: Mapping[str, tuple[tuple[tuple[Entry, ...], ...], ...]]
    slots: Mapping[str, tuple[str, int]]
    templates: Mapping[str, tuple[Part, ...]]


@dataclass(frozen=True, eq=False)
class CompiledParadigm:
    """A paradigm compiled: the graph that is counted, what its classes mean, and the lines that bear on it.

    `entries` holds what each slot can hold by its restriction (of a phrase: its heads). `critical_slot` is the slot inside `[ ]`,
    or None where there is none, or only words.
    """

    grammar: Grammar
    rule: ParadigmRule
    alternatives: Alternatives
    words: Mapping[Graph, WordClasses]
    lines: tuple[Line, ...]
    entries: Mapping[str, tuple[Entry, ...]]
    critical_slot: str | None

    @functools.cached_property
    def conditions(self) -> dict[str, dict[str, str]]:
        """The name of each condition, and its level of every factor."""
        return self.rule.list_conditions()


def compile_paradigm(
    grammar: Grammar,
    name: str,
    *,
    dropped_lines: frozenset[Line] = frozenset(),
    lemma_slots: Sequence[str] = (),
    extra: Sequence[Relation] = (),
) -> CompiledParadigm:
    """Return a paradigm compiled; lines in `dropped_lines` do not hold, those of `extra` do besides.

    Slots in `lemma_slots` have classes (phrases: labels) of one lemma each, so that who fixes a class fixes the lemma.
    """
    rule = grammar.paradigms[name]
    compiler = _Compiler(grammar, dropped_lines)
    members = []
    for templates in rule.templates:
        variants = list(expand_variants(templates))
        for chosen in variants:
            scope = _Scope(rule.slots, rule.where, chosen, rule.factors, _find_printed_columns(rule))
            if all(compiler.can_enter_phrase(spec.phrase, compiler.full_budget) for _, spec in scope.iterate_phrase_slots()):
                graph, _ = compiler.build_graph(scope, compiler.full_budget, {}, lemma_slots=lemma_slots, extra=extra)
                members.append(Alternative(1 / len(variants), graph, (), _format_template(next(iter(chosen.values())))))
    lines = [spec.line for spec in rule.slots.values() if spec.restriction != And()]
    lines += [each.line for each in rule.where]
    for phrase in _find_phrases(grammar, rule):
        lines += [spec.line for spec in phrase.slots.values() if spec.restriction != And()]
        lines += [each.line for each in phrase.where]
    return CompiledParadigm(
        grammar,
        rule,
        Alternatives(tuple(members)),
        compiler.words,
        tuple(dict.fromkeys(lines)),
        {
            slot: tuple(compiler.find_slot_entries(spec, compiler.full_budget))
            for slot, spec in rule.slots.items()
            if spec.phrase is None or grammar.phrases[spec.phrase].heads
        },
        _find_critical_slot(rule),
    )


@dataclass(frozen=True, eq=False)
class _Scope:
    """Slots side by side: one way to fill the optional parts of a template, or of the templates of all conditions."""

    specs: Mapping[str, SlotSpec]
    where: tuple[WhereLine, ...]
    templates: Mapping[str, tuple[Part, ...]]
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @functools.cached_property
    def slot_names(self) -> tuple[str, ...]:
        """The slots, each counterpart and each level for itself: S, R, R*, L@sg, L@pl."""
        return tuple(self.factor_levels)

    @functools.cached_property
    def factor_levels(self) -> dict[str, dict[str, str]]:
        """The level of each factor that a slot varies with, by its name in `slot_names`; of levels that a condition has it at."""
        conditions = [dict(zip(self.factors, of, strict=True)) for of in itertools.product(*self.factors.values())]
        used = {
            slot.get_variable_name(levels)
            for (condition, parts) in self.templates.items()
            for slot in find_slots(parts)
            for levels in conditions
            if condition in ("", ".".join(levels.values()))
        }
        names: dict[str, dict[str, str]] = {}
        for parts in self.templates.values():
            for slot in find_slots(parts):
                for of in itertools.product(*(self.factors.get(factor, ()) for factor in slot.factors)):
                    levels = dict(zip(slot.factors, of, strict=True))
                    if (name := slot.get_variable_name(levels)) in used:
                        names.setdefault(name, levels)
        return names

    def find_names(self, path: str) -> list[str]:
        """Return the names that stand for a slot in this scope: itself, or those that have the levels named, as in L@sg."""
        if path in self.slot_names:
            return [path]
        slot, *stated = path.split("@")
        return [
            name for name in self.slot_names if get_base_slot(name) == slot and {*stated} <= {*name.split("@")[1:]} and "@" in name
        ]

    def get_spec(self, name: str) -> SlotSpec:
        """Return what a slot may hold. A counterpart that is not declared has the category of its slot."""
        return self.specs.get(name) or self.specs[get_base_slot(name)]

    def iterate_phrase_slots(self) -> Iterator[tuple[str, SlotSpec]]:
        """Yield the slots that hold phrases."""
        for name in self.slot_names:
            if (spec := self.get_spec(name)).phrase is not None:
                yield name, spec


def get_base_slot(name: str) -> str:
    """Return the slot of a counterpart or a level.

    >>> [get_base_slot(name) for name in ("S", "R*", "L@sg")]
    ['S', 'R', 'L']
    """
    return name.split("@")[0].rstrip("*")


def expand_variants(templates: Mapping[str, tuple[Part, ...]]) -> Iterator[Mapping[str, tuple[Part, ...]]]:
    """Yield the templates for each choice among their optional parts."""
    choices = list(dict.fromkeys(choice for parts in templates.values() for choice in find_choices(parts)))
    seen = set()
    for flags in itertools.product((True, False), repeat=len(choices)):
        chosen = frozenset(choice for choice, flag in zip(choices, flags, strict=True) if flag)
        variant = {condition: resolve_choices(parts, chosen) for condition, parts in templates.items()}
        # A choice inside a part that is left out makes no difference.
        if (key := tuple(variant.values())) not in seen:
            seen.add(key)
            yield variant


def _format_template(parts: Sequence[Part]) -> str:
    """Return a template as it is written, without its regions."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Slot):
            mark = "*" if part.is_counterpart else "".join(f"@{factor}" for factor in part.factors)
            texts.append(f"<{part.name}{mark}{f':{part.column}' if part.column else ''}>")
        else:
            texts.append(_format_template(part.parts))
    return "".join(texts)


def _find_printed_columns(rule: ParadigmRule) -> dict[str, tuple[str, ...]]:
    """Return the columns of each slot that a sentence or question shows."""
    columns_by_slot: dict[str, set[str]] = defaultdict(set)
    texts = [parts for templates in rule.templates for parts in templates.values()]
    for parts in [*texts, *(rule.question.list_templates() if rule.question else ())]:
        for slot in find_slots(parts):
            if slot.column:
                columns_by_slot[slot.name].add(slot.column)
    return {name: tuple(sorted(columns)) for name, columns in columns_by_slot.items()}


def _find_phrases(grammar: Grammar, rule: ParadigmRule | PhraseRule) -> list[PhraseRule]:
    """Return the phrases that a rule can hold, at any depth."""
    found: dict[str, PhraseRule] = {}
    rules: list[ParadigmRule | PhraseRule] = [rule]
    while rules:
        for spec in rules.pop().slots.values():
            if spec.phrase and spec.phrase not in found:
                found[spec.phrase] = grammar.phrases[spec.phrase]
                rules.append(found[spec.phrase])
    return list(found.values())


def _find_critical_slot(rule: ParadigmRule) -> str | None:
    """Return the first slot of a critical region."""

    def find_inner_slots(parts: Sequence[Part]) -> Iterator[Slot]:
        for part in parts:
            if isinstance(part, MarkedRegion) and part.region == "critical":
                yield from find_slots(part.parts)
            elif not isinstance(part, str | Slot):
                yield from find_inner_slots(part.parts)

    for templates in rule.templates:
        for condition, parts in templates.items():
            for slot in find_inner_slots(parts):
                return slot.get_variable_name(rule.list_conditions()[condition])
    return None


class _Compiler:
    """Compiles scopes; phrases that several slots hold, seen alike from outside, are compiled once."""

    def __init__(self, grammar: Grammar, dropped_lines: frozenset[Line]) -> None:
        self.grammar = grammar
        self.dropped_lines = dropped_lines
        self.words: dict[Graph, WordClasses] = {}
        self.compiled_phrases: dict[Hashable, Alternatives] = {}
        self.path_entries: dict[Hashable, list[Entry | None]] = {}
        self.full_budget: DepthBudget = tuple(
            sorted((name, rule.depth) for name, rule in grammar.phrases.items() if rule.depth is not None)
        )

    # What slots can hold

    def find_matching_entries(self, spec: SlotSpec) -> list[Entry]:
        """Return the entries that meet the restriction of a slot of words."""
        restriction = spec.restriction if spec.line not in self.dropped_lines else restrict_to_categories(self.grammar, spec)
        return filter_entries(self.grammar, restriction)

    def find_slot_entries(self, spec: SlotSpec, budget: DepthBudget) -> list[Entry]:
        """Return what a slot can hold: entries, or heads of its phrase."""
        if spec.phrase is None:
            return self.find_matching_entries(spec)
        heads = self.find_path_entries(spec.phrase, budget, "")
        free = spec.line in self.dropped_lines
        return [entry for entry in heads if entry and (free or spec.restriction.is_met_by(entry.features))]

    def find_candidate_entries(self, scope: _Scope, name: str) -> list[Entry]:
        """Return what a slot of words can hold by its restriction and by lines that test it alone."""
        if name.endswith("*") and name not in scope.specs:
            entries = filter_entries(self.grammar, restrict_to_categories(self.grammar, scope.get_spec(name)))
        else:
            entries = self.find_matching_entries(scope.get_spec(name))
        for each in scope.where:
            match each.statement:
                case _ if each.line in self.dropped_lines:
                    continue
                case SlotTest(path) if name in scope.find_names(path):
                    relation = self.build_line_relations(each, (path,), [entries])[0]
                    entries = [entry for entry in entries if relation.is_met_by((entry,))]
                case FactorVariation(slot, factor, feature, values) if (
                    slot == get_base_slot(name) and factor in scope.factor_levels[name]
                ):
                    level = scope.factors[factor].index(scope.factor_levels[name][factor])
                    entries = [entry for entry in entries if values[level] in entry.features.get(feature, ())]
        return entries

    def can_enter_phrase(self, phrase: str | None, budget: DepthBudget) -> bool:
        """Whether a phrase can be entered, and ends."""
        if phrase is None:
            return True
        inner = self.enter_phrase(phrase, budget)
        return inner is not None and any(True for _ in self.expand_scopes(self.grammar.phrases[phrase], inner))

    def enter_phrase(self, phrase: str, budget: DepthBudget) -> DepthBudget | None:
        """Return the budget inside a phrase; None where it cannot be entered once more."""
        left = dict(budget)
        if left.get(phrase) == 0:
            return None
        if phrase in left:
            left[phrase] -= 1
        return tuple(sorted(left.items()))

    def expand_scopes(
        self, rule: PhraseRule, budget: DepthBudget, attractors: Attractors | None = None
    ) -> Iterator[tuple[_Scope, float, str]]:
        """Yield the scopes of a phrase, each with its weight and text.

        Those that hold what cannot be entered are left out, and those with other numbers of attractors.
        """
        for expansion in rule.expansions:
            variants = list(expand_variants({"": expansion.parts}))
            for chosen in variants:
                scope = _Scope(rule.slots, rule.where, chosen)
                if attractors and sum(slot in scope.slot_names for slot in rule.attractors) not in attractors.allowed_numbers:
                    continue
                if all(self.can_enter_phrase(spec.phrase, budget) for _, spec in scope.iterate_phrase_slots()):
                    yield scope, expansion.weight / len(variants), _format_template(chosen[""])

    def find_path_entries(self, phrase: str, budget: DepthBudget, path: str) -> list[Entry | None]:
        """Return what a path inside a phrase can hold (the empty path: its head); None among it where it may not be there."""
        key = (phrase, budget, path)
        if key not in self.path_entries:
            found: dict[Entry | None, None] = {}
            rule = self.grammar.phrases[phrase]
            inner = self.enter_phrase(phrase, budget)
            for scope, _, _ in self.expand_scopes(rule, inner) if inner is not None else ():
                slot, rest = self.resolve_path(rule, scope, path)
                if slot is None:
                    found[None] = None
                elif (inside := scope.get_spec(slot).phrase) is None:
                    found.update(dict.fromkeys(self.find_candidate_entries(scope, slot)))
                else:
                    assert inner is not None
                    found.update(dict.fromkeys(self.find_path_entries(inside, inner, rest)))
            self.path_entries[key] = list(found)
        return self.path_entries[key]

    def resolve_path(self, rule: PhraseRule, scope: _Scope, path: str) -> tuple[str | None, str]:
        """Return the slot of a scope that a path into its phrase leads to, and the path from there; None where it is not there."""
        if path == "":
            head = rule.find_head(scope.slot_names)
            if head is None:
                raise study.DataError(f"{rule.line}: phrase {rule.name} has no head in {_format_template(scope.templates[''])!r}")
            return head, ""
        first, _, rest = path.partition(".")
        return (first if first in scope.slot_names else None), rest

    # Lines

    def build_line_relations(self, each: WhereLine, paths: Sequence[str], universes: Sequence[Sequence[Entry]]) -> list[Relation]:
        """Return what a line demands of these paths."""
        grammar = self.grammar
        try:
            return build_relations(
                each.statement, paths, each.line, universes, grammar.vocabulary, find_demand_columns(grammar), grammar.lists
            )
        except Fault as fault:
            raise study.DataError(f"{each.line}: {fault}") from None

    def find_line_paths(self, scope: _Scope) -> Iterator[tuple[WhereLine, tuple[str, ...]]]:
        """Yield the lines that bear on a scope with the paths that they are about, a line for each level where slots vary."""
        for each in scope.where:
            if each.line in self.dropped_lines or isinstance(each.statement, FactorVariation):
                continue
            paths = each.list_paths()
            roots = list(dict.fromkeys(path.split(".")[0] for path in paths))
            for names in itertools.product(*(scope.find_names(root) for root in roots)):
                # Slots that vary with one factor go level by level, unless a line names the level.
                levels: dict[str, set[str]] = defaultdict(set)
                for root, name in zip(roots, names, strict=True):
                    for factor, level in scope.factor_levels[name].items():
                        if "@" not in root:
                            levels[factor].add(level)
                if all(len(of) == 1 for of in levels.values()):
                    named = dict(zip(roots, names, strict=True))
                    yield (each, tuple(named[root] + path[len(root) :] for path in paths for root in [path.split(".")[0]]))

    # Graphs

    def build_graph(
        self,
        scope: _Scope,
        budget: DepthBudget,
        outside_labels: Mapping[str, Labels],
        *,
        lemma_slots: Sequence[str] = (),
        extra: Sequence[Relation] = (),
    ) -> tuple[Graph, dict[str, Export]]:
        """Return the graph of a scope, and how the outside sees the paths of `outside_labels`."""
        phrases = dict(scope.iterate_phrase_slots())
        variables, position, structural = self.build_variables(scope, [name for name in scope.slot_names if name not in phrases])
        ports: dict[str, list[Entry | None]] = {}

        def list_path_entries(path: str) -> Sequence[Entry]:
            if path in position:
                variable, n = position[path]
                return [*dict.fromkeys(entries[n] for entries in variables[variable])]
            if path not in ports:
                root, _, rest = path.partition(".")
                ports[path] = self.find_path_entries(phrases[root].phrase or "", budget, rest)
            return [entry for entry in ports[path] if entry is not None]

        relations: list[Relation] = []
        for name, spec in phrases.items():
            if spec.restriction != And() and spec.line not in self.dropped_lines:
                relations.append(Relation((name,), (_build_spec_test(spec),), bool, spec.line))
        for each, paths in self.find_line_paths(scope):
            if id(each) in structural or (isinstance(each.statement, SlotTest) and paths[0] in position):
                continue
            relations += self.build_line_relations(each, paths, [list_path_entries(path) for path in paths])
        relations += [relation for relation in extra if all(_is_in_scope(path, scope) for path in relation.paths)]
        relations += [
            build_form_difference(
                (name, other),
                Line(scope.get_spec(name).line.file, scope.get_spec(name).line.number, f"{name} differs from {other}"),
            )
            for name, other in itertools.combinations(scope.slot_names, 2)
            if get_base_slot(name) == get_base_slot(other) and name in position and other in position
        ]
        for path in (
            *outside_labels,
            *(p for r in relations for p in r.paths),
            *(p for p in lemma_slots if _is_in_scope(p, scope)),
        ):
            list_path_entries(path)
        return self._assemble_graph(scope, budget, outside_labels, lemma_slots, variables, position, phrases, ports, relations)

    def build_variables(
        self, scope: _Scope, names: Sequence[str]
    ) -> tuple[dict[str, EntryTuples], dict[str, tuple[str, int]], set[int]]:
        """Return the tuples of entries of each variable, the variable and position of each slot, and the lines that this settles.

        Slots that are counterparts of one lemma become one variable, of tuples, so that classes need not tell lemmas apart.
        """
        filling = {name: self.find_candidate_entries(scope, name) for name in names}
        ties: list[tuple[str, str, list[Relation]]] = []
        settled: set[int] = set()
        for each, paths in self.find_line_paths(scope):
            if isinstance(each.statement, Counterpart) and each.statement.same_lemma and set(paths) <= set(names):
                ties.append((paths[0], paths[1], self.build_line_relations(each, paths, [filling[p] for p in paths])))
                settled.add(id(each))
        for each in scope.where:
            if isinstance(each.statement, FactorVariation) and each.line not in self.dropped_lines:
                counterpart_line = WhereLine(each.line, Counterpart("", "", (each.statement.feature,), same_lemma=True))
                first: dict[Hashable, str] = {}  # of those that have the other factors' levels in common
                for name in scope.find_names(each.statement.slot):
                    others = {f: level for f, level in scope.factor_levels[name].items() if f != each.statement.factor}
                    if name in filling and (one := first.setdefault(tuple(others.items()), name)) != name:
                        ties.append(
                            (one, name, self.build_line_relations(counterpart_line, (one, name), [filling[one], filling[name]]))
                        )
        group = {name: name for name in names}
        members: dict[str, list[str]] = {name: [name] for name in names}
        tuples: dict[str, EntryTuples] = {name: [(entry,) for entry in filling[name]] for name in names}
        for one, other, relations in ties:
            a, b = group[one], group[other]
            i, j = members[a].index(one), members[b].index(other) + (len(members[a]) if a != b else 0)
            if a == b:
                candidate_tuples: Iterator[tuple[Entry, ...]] = iter(tuples[a])
            else:
                candidate_tuples = _join_by_lemma(tuples[a], i, tuples[b], members[b].index(other))
                members[a] += members.pop(b)
                group.update(dict.fromkeys(members[a], a))
                del tuples[b]
            tuples[a] = [
                t
                for t in candidate_tuples
                if all(relation.is_met_by(_order_pair(relation, t, one, i, j)) for relation in relations)
            ]
        position = {name: (a, n) for a, owned in members.items() for n, name in enumerate(owned)}
        return tuples, position, settled

    def _assemble_graph(
        self,
        scope: _Scope,
        budget: DepthBudget,
        outside_labels: Mapping[str, Labels],
        lemma_slots: Sequence[str],
        variables: dict[str, EntryTuples],
        position: Mapping[str, tuple[str, int]],
        phrases: Mapping[str, SlotSpec],
        ports: Mapping[str, list[Entry | None]],
        relations: Sequence[Relation],
    ) -> tuple[Graph, dict[str, Export]]:
        all_positions = {**position, **{path: (path, 0) for path in ports}}
        rows: dict[str, list[tuple[Entry | None, ...]]] = {name: list(tuples) for name, tuples in variables.items()}
        rows |= {path: [(entry,) for entry in entries] for path, entries in ports.items()}
        # Relations inside one variable or port only filter its rows; what the others never allow goes too.
        between: list[Relation] = []
        for relation in relations:
            owners = {all_positions[path][0] for path in relation.paths}
            if len(owners) > 1:
                between.append(relation)
            else:
                (owner,), indices = owners, [all_positions[path][1] for path in relation.paths]
                rows[owner] = [row for row in rows[owner] if relation.is_met_where_present([row[n] for n in indices])]
        tables = _build_tables(between, all_positions, rows)
        signature: dict[str, list[list[Hashable]]] = {name: [[] for _ in of] for name, of in rows.items()}
        for table in tables:
            table.sign_rows(signature)
        for path, labels in outside_labels.items():
            name, n = all_positions[path]
            for row, signed in zip(rows[name], signature[name], strict=True):
                signed.append(labels[row[n]])
        lemmas: dict[str, tuple[str, ...]] = {}
        for path in lemma_slots:
            if path in all_positions:
                name, n = all_positions[path]
                for row, signed in zip(rows[name], signature[name], strict=True):
                    signed.append(entry.lemma if (entry := row[n]) is not None else None)
        classes: dict[str, list[list[tuple[Entry | None, ...]]]] = {}
        signatures: dict[str, list[tuple[Hashable, ...]]] = {}
        for name, of in rows.items():
            grouped: dict[tuple[Hashable, ...], list[tuple[Entry | None, ...]]] = {}
            for row, signed in zip(of, signature[name], strict=True):
                grouped.setdefault(tuple(signed), []).append(row)
            signatures[name] = list(grouped)
            classes[name] = list(grouped.values())
            if name in ports and name in lemma_slots:
                lemmas[name] = tuple(of[0][0].lemma if of[0][0] else "" for of in classes[name])
        factors = [table.build_factor(signatures) for table in tables]
        # What a port may not be is one label more, which is never allowed: its phrase holds it all the same.
        for name, entries in ports.items():
            alive = {row[0] for row in rows[name]}
            if unreachable := [(entry,) for entry in entries if entry not in alive]:
                factors = [_pad_factor(factor, name) for factor in factors]
                factors.append(Factor((name,), np.array([*(True for _ in classes[name]), False]), ""))
                lemmas |= {name: (*lemmas[name], "")} if name in lemmas else {}
                classes[name].append([*unreachable])
        words: dict[str, tuple[tuple[tuple[Entry, ...], ...], ...]] = {
            name: tuple(tuple(_find_distinct_rows(of, name, position, scope)) for of in classes[name]) for name in variables
        }
        graph = Graph(
            tuple(Variable(name, tuple(tuple(t[0].lemma for t in of) for of in words[name])) for name in variables),
            tuple(self._build_phrase(name, spec, budget, ports, classes, lemmas) for name, spec in phrases.items()),
            tuple(factors),
        )
        self.words[graph] = WordClasses(words, dict(position), scope.templates)
        exports = {}
        for path, labels in outside_labels.items():
            name, n = all_positions[path]
            exports[path] = Export(name, tuple(labels[of[0][n]] for of in classes[name]))
        return graph, exports

    def _build_phrase(
        self,
        name: str,
        spec: SlotSpec,
        budget: DepthBudget,
        ports: Mapping[str, list[Entry | None]],
        classes: Mapping[str, Sequence[Sequence[tuple[Entry | None, ...]]]],
        lemmas: Mapping[str, tuple[str, ...]],
    ) -> Phrase:
        mine = [path for path in ports if path.split(".")[0] == name]
        outside_labels = {
            path.partition(".")[2]: {row[0]: label for label, of in enumerate(classes[path]) for row in of} for path in mine
        }
        ports_seen = tuple(len(classes[path]) for path in mine)
        inside = self.compile_phrase(spec.phrase or "", budget, outside_labels, ports_seen, spec.attractors)
        return Phrase(name, tuple(mine), inside, {path: lemmas[path] for path in mine if path in lemmas})

    def compile_phrase(
        self,
        name: str,
        budget: DepthBudget,
        outside_labels: Mapping[str, Labels],
        ports: tuple[int, ...],
        attractors: Attractors | None = None,
    ) -> Alternatives:
        """Return the alternatives of a phrase, as seen through these labels."""
        labelled = tuple((path, frozenset(labels.items())) for path, labels in outside_labels.items())
        key = (name, budget, ports, labelled, attractors)
        if key not in self.compiled_phrases:
            rule = self.grammar.phrases[name]
            inner = self.enter_phrase(name, budget)
            members = []
            for scope, weight, text in self.expand_scopes(rule, inner, attractors) if inner is not None else ():
                assert inner is not None
                extra = _build_congruence(rule, scope, attractors) if attractors else []
                targets = {path: self.resolve_path(rule, scope, path) for path in outside_labels}
                wanted: dict[str, Labels] = {}
                for path, (slot, rest) in targets.items():
                    if slot is not None:
                        wanted[f"{slot}.{rest}" if rest else slot] = outside_labels[path]
                graph, exports = self.build_graph(scope, inner, wanted, extra=extra)
                members.append(
                    Alternative(
                        weight,
                        graph,
                        tuple(
                            Export(None, (outside_labels[path][None],))
                            if slot is None
                            else exports[f"{slot}.{rest}" if rest else slot]
                            for path, (slot, rest) in targets.items()
                        ),
                        text,
                    )
                )
            self.compiled_phrases[key] = Alternatives(tuple(members), ports)
        return self.compiled_phrases[key]


def _build_congruence(rule: PhraseRule, scope: _Scope, attractors: Attractors) -> list[Relation]:
    """Return what the attractors of a phrase have in common with its head, or not."""
    head, feature = rule.find_head(scope.slot_names), attractors.feature
    if head is None or feature is None:
        return []
    agrees = FeatureAgreement(head, "", feature, is_negated=not attractors.is_congruent)
    return [
        relation
        for slot in rule.attractors
        if slot in scope.slot_names
        for relation in build_relations(agrees, (head, slot), attractors.line, (), Vocabulary({}), {}, {})
    ]


class _RelationTable:
    """A relation over slots: which keys there are of each, which combinations pass, and keys that pass alike as one."""

    def __init__(
        self,
        relation: Relation,
        positions: Sequence[tuple[str, int]],
        rows: Mapping[str, Sequence[tuple[Entry | None, ...]]],
        earlier: "_RelationTable | None" = None,
    ) -> None:
        self.relation = relation
        self.positions = positions
        self.owners = [*dict.fromkeys(name for name, _ in positions)]
        self.keys: list[list[Hashable]] = [
            [None if (entry := row[n]) is None else key(entry) for row in rows[name]]
            for (name, n), key in zip(positions, relation.keys, strict=True)
        ]
        if relation.tests_difference:
            common = set.intersection(*(set(keys) for keys in self.keys))
            self.keys = [[key if key in common else None for key in keys] for keys in self.keys]
        domains = [[*dict.fromkeys(keys)] for keys in self.keys]
        self.index = [{key: i for i, key in enumerate(domain)} for domain in domains]
        if earlier is None or relation.tests_difference:
            self.table = relation.build_table(domains)
        else:
            known = zip(earlier.index, domains, strict=True)
            self.table = earlier.table[np.ix_(*([index[key] for key in domain] for index, domain in known))]
        self.merged = [self._merge_keys(n, domain) for n, domain in enumerate(domains)]
        self.signature_columns: list[int] = []

    def _merge_keys(self, axis: int, domain: Sequence[Hashable]) -> dict[Hashable, int]:
        """Return for each key the first that passes with the same, by its number; -1 for those that pass with nothing."""
        first: dict[bytes, int] = {}
        numbers = {}
        for n, (key, passes) in enumerate(zip(domain, np.moveaxis(self.table, axis, 0), strict=True)):
            numbers[key] = first.setdefault(passes.tobytes(), n) if passes.any() else -1
        return numbers

    def find_dead_rows(self) -> Iterator[tuple[str, int]]:
        """Yield the rows that this relation never allows."""
        for (name, _), keys, merged in zip(self.positions, self.keys, self.merged, strict=True):
            yield from ((name, n) for n, key in enumerate(keys) if merged[key] < 0)

    def sign_rows(self, signature: Mapping[str, list[list[Hashable]]]) -> None:
        """Add what this relation tells of each row to its signature."""
        for (name, _), keys, merged in zip(self.positions, self.keys, self.merged, strict=True):
            self.signature_columns.append(len(signature[name][0]) if signature[name] else 0)
            for signed, key in zip(signature[name], keys, strict=True):
                signed.append(merged[key])

    def build_factor(self, signatures: Mapping[str, Sequence[Sequence[Any]]]) -> Factor:
        """Return the relation as a table over classes."""
        index = []
        for at, (name, _) in zip(self.signature_columns, self.positions, strict=True):
            axis = [-1 if owner == name else 1 for owner in self.owners]
            index.append(np.array([signature[at] for signature in signatures[name]], int).reshape(axis))
        return Factor(tuple(self.owners), self.table[tuple(index)], str(self.relation.line))


def _build_tables(
    relations: Sequence[Relation], positions: Mapping[str, tuple[str, int]], rows: dict[str, list[tuple[Entry | None, ...]]]
) -> list[_RelationTable]:
    """Return the tables of relations; rows that one of them never allows are taken out of `rows` until none is left."""
    earlier: Sequence[_RelationTable | None] = [None] * len(relations)
    while True:
        tables = [
            _RelationTable(relation, [positions[path] for path in relation.paths], rows, before)
            for relation, before in zip(relations, earlier, strict=True)
        ]
        dead: dict[str, set[int]] = defaultdict(set)
        for table in tables:
            for name, n in table.find_dead_rows():
                dead[name].add(n)
        if not dead:
            return tables
        earlier = tables
        for name, numbers in dead.items():
            rows[name] = [row for n, row in enumerate(rows[name]) if n not in numbers]


def _pad_factor(factor: Factor, name: str) -> Factor:
    """Return a factor with one label more of a port, which it does not allow."""
    more = [(0, int(owner == name)) for owner in factor.variables]
    return Factor(factor.variables, np.pad(factor.table, more), factor.line)


def _find_distinct_rows(
    rows: Sequence[tuple[Entry | None, ...]], name: str, position: Mapping[str, tuple[str, int]], scope: _Scope
) -> Iterator[tuple[Entry, ...]]:
    """Yield the tuples of a class whose words are other words; homographs are one."""
    owned = [slot for slot, (variable, _) in position.items() if variable == name]
    columns = [scope.columns.get(get_base_slot(slot), ()) for slot in owned]
    seen = set()
    for row in rows:
        printed = tuple(
            (entry.printed_form, entry.columns.get("onset"), *(entry.columns.get(column) for column in of))
            for entry, of in zip(row, columns, strict=True)
            if entry is not None
        )
        if printed not in seen:
            seen.add(printed)
            yield tuple(entry for entry in row if entry is not None)


def _join_by_lemma(left: EntryTuples, i: int, right: EntryTuples, j: int) -> Iterator[tuple[Entry, ...]]:
    """Yield the tuples of both, joined where the lemmas at i and j are one."""
    by_lemma = defaultdict(list)
    for row in right:
        by_lemma[row[j].lemma].append(row)
    for row in left:
        for other in by_lemma[row[i].lemma]:
            yield row + other


def _order_pair(relation: Relation, row: tuple[Entry, ...], one: str, i: int, j: int) -> tuple[Entry, Entry]:
    return (row[i], row[j]) if relation.paths[0] == one else (row[j], row[i])


def _build_spec_test(spec: SlotSpec) -> "functools.partial[bool]":
    return functools.partial(_meets_spec, spec)


def _meets_spec(spec: SlotSpec, entry: Entry) -> bool:
    return spec.restriction.is_met_by(entry.features)


def _is_in_scope(path: str, scope: _Scope) -> bool:
    return path.split(".")[0] in scope.slot_names


@functools.lru_cache(maxsize=4096)
def _filter_entries_cached(grammar: Grammar, restriction: Restriction) -> tuple[Entry, ...]:
    # The category is compared first: it leaves out most entries, at the least cost.
    entries: Sequence[Entry] = grammar.entries
    for part in restriction.parts if isinstance(restriction, And) else (restriction,):
        if isinstance(part, FeatureTest) and part.feature == CATEGORY:
            entries = [entry for entry in entries if entry.category in part.values]
    return tuple(entry for entry in entries if restriction.is_met_by(entry.features))


@functools.lru_cache(maxsize=16)
def _find_entry_kinds(grammar: Grammar) -> list[Entry]:
    """Return an entry of each kind that features tell apart: a fifth of all, where it matters only whether there is one."""
    return list({entry.feature_bundle: entry for entry in grammar.entries}.values())


def has_matching_entry(grammar: Grammar, restriction: Restriction) -> bool:
    """Whether an entry of a grammar's lexicon meets a restriction."""
    by_word = any(test.feature in FREE_FEATURES for test in restriction.iterate_tests())
    return any(restriction.is_met_by(entry.features) for entry in (grammar.entries if by_word else _find_entry_kinds(grammar)))


def filter_entries(grammar: Grammar, restriction: Restriction) -> list[Entry]:
    """Return the entries of a grammar's lexicon that meet a restriction."""
    return list(_filter_entries_cached(grammar, restriction))


def restrict_to_categories(grammar: Grammar, spec: SlotSpec) -> Restriction:
    """Return the restriction of a slot without its features: to the categories that it names, or else all that meet it."""
    if spec.phrase is not None:
        return And()
    categories = frozenset(entry.category for entry in filter_entries(grammar, spec.restriction))
    return FeatureTest(CATEGORY, categories)


@functools.lru_cache(maxsize=16)
def find_demand_columns(grammar: Grammar) -> dict[str, tuple[str, ...]]:
    """Return the restriction columns that each category fills, in the order of `selects`."""
    filled: dict[str, set[str]] = defaultdict(set)
    for entry in grammar.entries:
        filled[entry.category] |= set(entry.demands)
    return {category: tuple(name for name in grammar.demand_columns if name in of) for category, of in filled.items()}
