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
from .relations import Relation, different_forms, relations_of
from .restrictions import CATEGORY, FREE, And, Restriction, Test, Vocabulary
from .templates import Marked, Part, Slot, choices_of, slots_of, taken
from .where_lines import Agrees, Counterpart, Tested, Varies, WhereLine

Labels = Mapping["Entry | None", int]  # how the outside tells entries apart; None is a slot that is not there
Budget = tuple[tuple[str, int], ...]  # how often each phrase of limited depth may still be entered
Tuples = list[tuple[Entry, ...]]


@dataclass(frozen=True, eq=False)
class Words:
    """What the classes of a graph mean: entries of each class, the variable and position of each slot, and how it is written.

    `templates` has one for each condition; a phrase has one under the empty name.
    """

    classes: Mapping[str, tuple[tuple[tuple[Entry, ...], ...], ...]]
    slots: Mapping[str, tuple[str, int]]
    templates: Mapping[str, tuple[Part, ...]]


@dataclass(frozen=True, eq=False)
class Compiled:
    """A paradigm compiled: the graph that is counted, what its classes mean, and the lines that bear on it.

    `entries` holds what each slot can hold by its restriction (of a phrase: its heads). `critical` is the slot inside `[ ]`,
    or None where there is none, or only words.
    """

    grammar: Grammar
    rule: ParadigmRule
    alternatives: Alternatives
    words: Mapping[Graph, Words]
    lines: tuple[Line, ...]
    entries: Mapping[str, tuple[Entry, ...]]
    critical: str | None

    @functools.cached_property
    def conditions(self) -> dict[str, dict[str, str]]:
        """The name of each condition, and its level of every factor."""
        return self.rule.conditions()


def compile_paradigm(
    grammar: Grammar,
    name: str,
    *,
    without: frozenset[Line] = frozenset(),
    apart: Sequence[str] = (),
    extra: Sequence[Relation] = (),
) -> Compiled:
    """Return a paradigm compiled; lines in `without` do not hold, those of `extra` do besides.

    Slots in `apart` have classes (phrases: labels) of one lemma each, so that who fixes a class fixes the lemma.
    """
    rule = grammar.paradigms[name]
    compiler = _Compiler(grammar, without)
    members = []
    for templates in rule.templates:
        variants = list(variants_of(templates))
        for chosen in variants:
            scope = _Scope(rule.slots, rule.where, chosen, rule.factors, _printed_columns(rule))
            if all(compiler.available(spec.phrase, compiler.full) for _, spec in scope.phrases()):
                graph, _ = compiler.graph(scope, compiler.full, {}, apart=apart, extra=extra)
                members.append(Alternative(1 / len(variants), graph, (), _text(next(iter(chosen.values())))))
    lines = [spec.line for spec in rule.slots.values() if spec.restriction != And()]
    lines += [each.line for each in rule.where]
    for phrase in _phrases_within(grammar, rule):
        lines += [spec.line for spec in phrase.slots.values() if spec.restriction != And()]
        lines += [each.line for each in phrase.where]
    return Compiled(
        grammar,
        rule,
        Alternatives(tuple(members)),
        compiler.words,
        tuple(dict.fromkeys(lines)),
        {
            slot: tuple(compiler.universe_of(spec, compiler.full))
            for slot, spec in rule.slots.items()
            if spec.phrase is None or grammar.phrases[spec.phrase].heads
        },
        _critical(rule),
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
    def present(self) -> tuple[str, ...]:
        """The slots, each counterpart and each level for itself: S, R, R*, L@sg, L@pl."""
        return tuple(self.variation)

    @functools.cached_property
    def variation(self) -> dict[str, dict[str, str]]:
        """The level of each factor that a slot varies with, by its name in `present`; of levels that a condition has it at."""
        conditions = [dict(zip(self.factors, of, strict=True)) for of in itertools.product(*self.factors.values())]
        used = {
            slot.variable(levels)
            for (condition, parts) in self.templates.items()
            for slot in slots_of(parts)
            for levels in conditions
            if condition in ("", ".".join(levels.values()))
        }
        names: dict[str, dict[str, str]] = {}
        for parts in self.templates.values():
            for slot in slots_of(parts):
                for of in itertools.product(*(self.factors.get(factor, ()) for factor in slot.factors)):
                    levels = dict(zip(slot.factors, of, strict=True))
                    if (name := slot.variable(levels)) in used:
                        names.setdefault(name, levels)
        return names

    def levels(self, path: str) -> list[str]:
        """Return the names that stand for a slot in this scope: itself, or those that have the levels named, as in L@sg."""
        if path in self.present:
            return [path]
        slot, *stated = path.split("@")
        return [
            name for name in self.present if base(name) == slot and {*stated} <= {*name.split("@")[1:]} and "@" in name
        ]

    def spec(self, name: str) -> SlotSpec:
        """Return what a slot may hold. A counterpart that is not declared has the category of its slot."""
        return self.specs.get(name) or self.specs[base(name)]

    def phrases(self) -> Iterator[tuple[str, SlotSpec]]:
        """Yield the slots that hold phrases."""
        for name in self.present:
            if (spec := self.spec(name)).phrase is not None:
                yield name, spec


def base(name: str) -> str:
    """Return the slot of a counterpart or a level.

    >>> [base(name) for name in ("S", "R*", "L@sg")]
    ['S', 'R', 'L']
    """
    return name.split("@")[0].rstrip("*")


def variants_of(templates: Mapping[str, tuple[Part, ...]]) -> Iterator[Mapping[str, tuple[Part, ...]]]:
    """Yield the templates for each choice among their optional parts."""
    choices = list(dict.fromkeys(choice for parts in templates.values() for choice in choices_of(parts)))
    seen = set()
    for flags in itertools.product((True, False), repeat=len(choices)):
        chosen = frozenset(choice for choice, flag in zip(choices, flags, strict=True) if flag)
        variant = {condition: taken(parts, chosen) for condition, parts in templates.items()}
        # A choice inside a part that is left out makes no difference.
        if (key := tuple(variant.values())) not in seen:
            seen.add(key)
            yield variant


def _text(parts: Sequence[Part]) -> str:
    """Return a template as it is written, without its regions."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Slot):
            mark = "*" if part.starred else "".join(f"@{factor}" for factor in part.factors)
            texts.append(f"<{part.name}{mark}{f':{part.column}' if part.column else ''}>")
        else:
            texts.append(_text(part.parts))
    return "".join(texts)


def _printed_columns(rule: ParadigmRule) -> dict[str, tuple[str, ...]]:
    """Return the columns of each slot that a sentence or question shows."""
    shown: dict[str, set[str]] = defaultdict(set)
    texts = [parts for templates in rule.templates for parts in templates.values()]
    for parts in [*texts, *(rule.question.templates() if rule.question else ())]:
        for slot in slots_of(parts):
            if slot.column:
                shown[slot.name].add(slot.column)
    return {name: tuple(sorted(columns)) for name, columns in shown.items()}


def _phrases_within(grammar: Grammar, rule: ParadigmRule | PhraseRule) -> list[PhraseRule]:
    """Return the phrases that a rule can hold, at any depth."""
    found: dict[str, PhraseRule] = {}
    rules: list[ParadigmRule | PhraseRule] = [rule]
    while rules:
        for spec in rules.pop().slots.values():
            if spec.phrase and spec.phrase not in found:
                found[spec.phrase] = grammar.phrases[spec.phrase]
                rules.append(found[spec.phrase])
    return list(found.values())


def _critical(rule: ParadigmRule) -> str | None:
    """Return the first slot of a critical region."""

    def inside(parts: Sequence[Part]) -> Iterator[Slot]:
        for part in parts:
            if isinstance(part, Marked) and part.region == "critical":
                yield from slots_of(part.parts)
            elif not isinstance(part, str | Slot):
                yield from inside(part.parts)

    for templates in rule.templates:
        for condition, parts in templates.items():
            for slot in inside(parts):
                return slot.variable(rule.conditions()[condition])
    return None


class _Compiler:
    """Compiles scopes; phrases that several slots hold, seen alike from outside, are compiled once."""

    def __init__(self, grammar: Grammar, without: frozenset[Line]) -> None:
        self.grammar = grammar
        self.without = without
        self.words: dict[Graph, Words] = {}
        self.compiled: dict[Hashable, Alternatives] = {}
        self.universes: dict[Hashable, list[Entry | None]] = {}
        self.full: Budget = tuple(
            sorted((name, rule.depth) for name, rule in grammar.phrases.items() if rule.depth is not None)
        )

    # What slots can hold

    def entries_of(self, spec: SlotSpec) -> list[Entry]:
        """Return the entries that meet the restriction of a slot of words."""
        restriction = spec.restriction if spec.line not in self.without else categories_only(self.grammar, spec)
        return filtered(self.grammar, restriction)

    def universe_of(self, spec: SlotSpec, budget: Budget) -> list[Entry]:
        """Return what a slot can hold: entries, or heads of its phrase."""
        if spec.phrase is None:
            return self.entries_of(spec)
        heads = self.universe(spec.phrase, budget, "")
        free = spec.line in self.without
        return [entry for entry in heads if entry and (free or spec.restriction.holds(entry.features))]

    def filling(self, scope: _Scope, name: str) -> list[Entry]:
        """Return what a slot of words can hold by its restriction and by lines that test it alone."""
        if name.endswith("*") and name not in scope.specs:
            entries = filtered(self.grammar, categories_only(self.grammar, scope.spec(name)))
        else:
            entries = self.entries_of(scope.spec(name))
        for each in scope.where:
            match each.where:
                case _ if each.line in self.without:
                    continue
                case Tested(path) if name in scope.levels(path):
                    relation = self.relations(each, (path,), [entries])[0]
                    entries = [entry for entry in entries if relation.holds((entry,))]
                case Varies(slot, factor, feature, values) if slot == base(name) and factor in scope.variation[name]:
                    level = scope.factors[factor].index(scope.variation[name][factor])
                    entries = [entry for entry in entries if values[level] in entry.features.get(feature, ())]
        return entries

    def available(self, phrase: str | None, budget: Budget) -> bool:
        """Whether a phrase can be entered, and ends."""
        if phrase is None:
            return True
        inner = self.entered(phrase, budget)
        return inner is not None and any(True for _ in self.scopes(self.grammar.phrases[phrase], inner))

    def entered(self, phrase: str, budget: Budget) -> Budget | None:
        """Return the budget inside a phrase; None where it cannot be entered once more."""
        left = dict(budget)
        if left.get(phrase) == 0:
            return None
        if phrase in left:
            left[phrase] -= 1
        return tuple(sorted(left.items()))

    def scopes(
        self, rule: PhraseRule, budget: Budget, attractors: Attractors | None = None
    ) -> Iterator[tuple[_Scope, float, str]]:
        """Yield the scopes of a phrase, each with its weight and text.

        Those that hold what cannot be entered are left out, and those with other numbers of attractors.
        """
        for expansion in rule.expansions:
            variants = list(variants_of({"": expansion.parts}))
            for chosen in variants:
                scope = _Scope(rule.slots, rule.where, chosen)
                if attractors and sum(slot in scope.present for slot in rule.attractors) not in attractors.numbers:
                    continue
                if all(self.available(spec.phrase, budget) for _, spec in scope.phrases()):
                    yield scope, expansion.weight / len(variants), _text(chosen[""])

    def universe(self, phrase: str, budget: Budget, path: str) -> list[Entry | None]:
        """Return what a path inside a phrase can hold (the empty path: its head); None among it where it may not be there."""
        key = (phrase, budget, path)
        if key not in self.universes:
            found: dict[Entry | None, None] = {}
            rule = self.grammar.phrases[phrase]
            inner = self.entered(phrase, budget)
            for scope, _, _ in self.scopes(rule, inner) if inner is not None else ():
                slot, rest = self.within(rule, scope, path)
                if slot is None:
                    found[None] = None
                elif (inside := scope.spec(slot).phrase) is None:
                    found.update(dict.fromkeys(self.filling(scope, slot)))
                else:
                    assert inner is not None
                    found.update(dict.fromkeys(self.universe(inside, inner, rest)))
            self.universes[key] = list(found)
        return self.universes[key]

    def within(self, rule: PhraseRule, scope: _Scope, path: str) -> tuple[str | None, str]:
        """Return the slot of a scope that a path into its phrase leads to, and the path from there; None where it is not there."""
        if path == "":
            head = rule.head_of(scope.present)
            if head is None:
                raise study.DataError(f"{rule.line}: phrase {rule.name} has no head in {_text(scope.templates[''])!r}")
            return head, ""
        first, _, rest = path.partition(".")
        return (first if first in scope.present else None), rest

    # Lines

    def relations(self, each: WhereLine, paths: Sequence[str], universes: Sequence[Sequence[Entry]]) -> list[Relation]:
        """Return what a line demands of these paths."""
        grammar = self.grammar
        try:
            return relations_of(
                each.where, paths, each.line, universes, grammar.vocabulary, demand_columns(grammar), grammar.lists
            )
        except Fault as fault:
            raise study.DataError(f"{each.line}: {fault}") from None

    def lines(self, scope: _Scope) -> Iterator[tuple[WhereLine, tuple[str, ...]]]:
        """Yield the lines that bear on a scope with the paths that they are about, a line for each level where slots vary."""
        for each in scope.where:
            if each.line in self.without or isinstance(each.where, Varies):
                continue
            paths = each.paths()
            roots = list(dict.fromkeys(path.split(".")[0] for path in paths))
            for names in itertools.product(*(scope.levels(root) for root in roots)):
                # Slots that vary with one factor go level by level, unless a line names the level.
                levels: dict[str, set[str]] = defaultdict(set)
                for root, name in zip(roots, names, strict=True):
                    for factor, level in scope.variation[name].items():
                        if "@" not in root:
                            levels[factor].add(level)
                if all(len(of) == 1 for of in levels.values()):
                    named = dict(zip(roots, names, strict=True))
                    yield (
                        each,
                        tuple(named[root] + path[len(root) :] for path in paths for root in [path.split(".")[0]]),
                    )

    # Graphs

    def graph(
        self,
        scope: _Scope,
        budget: Budget,
        seen: Mapping[str, Labels],
        *,
        apart: Sequence[str] = (),
        extra: Sequence[Relation] = (),
    ) -> tuple[Graph, dict[str, Export]]:
        """Return the graph of a scope, and how the outside sees the paths of `seen`."""
        phrases = dict(scope.phrases())
        variables, position, structural = self.variables(scope, [name for name in scope.present if name not in phrases])
        ports: dict[str, list[Entry | None]] = {}

        def universe(path: str) -> Sequence[Entry]:
            if path in position:
                variable, n = position[path]
                return [*dict.fromkeys(entries[n] for entries in variables[variable])]
            if path not in ports:
                root, _, rest = path.partition(".")
                ports[path] = self.universe(phrases[root].phrase or "", budget, rest)
            return [entry for entry in ports[path] if entry is not None]

        relations: list[Relation] = []
        for name, spec in phrases.items():
            if spec.restriction != And() and spec.line not in self.without:
                relations.append(Relation((name,), (_holds(spec),), bool, spec.line))
        for each, paths in self.lines(scope):
            if id(each) in structural or (isinstance(each.where, Tested) and paths[0] in position):
                continue
            relations += self.relations(each, paths, [universe(path) for path in paths])
        relations += [relation for relation in extra if all(_known(path, scope) for path in relation.paths)]
        relations += [
            different_forms(
                (name, other),
                Line(scope.spec(name).line.file, scope.spec(name).line.number, f"{name} differs from {other}"),
            )
            for name, other in itertools.combinations(scope.present, 2)
            if base(name) == base(other) and name in position and other in position
        ]
        for path in (*seen, *(p for r in relations for p in r.paths), *(p for p in apart if _known(p, scope))):
            universe(path)
        return self._assemble(scope, budget, seen, apart, variables, position, phrases, ports, relations)

    def variables(
        self, scope: _Scope, names: Sequence[str]
    ) -> tuple[dict[str, Tuples], dict[str, tuple[str, int]], set[int]]:
        """Return the tuples of entries of each variable, the variable and position of each slot, and the lines that this settles.

        Slots that are counterparts of one lemma become one variable, of tuples, so that classes need not tell lemmas apart.
        """
        filling = {name: self.filling(scope, name) for name in names}
        ties: list[tuple[str, str, list[Relation]]] = []
        settled: set[int] = set()
        for each, paths in self.lines(scope):
            if isinstance(each.where, Counterpart) and each.where.same_lemma and set(paths) <= set(names):
                ties.append((paths[0], paths[1], self.relations(each, paths, [filling[p] for p in paths])))
                settled.add(id(each))
        for each in scope.where:
            if isinstance(each.where, Varies) and each.line not in self.without:
                alike = WhereLine(each.line, Counterpart("", "", (each.where.feature,), same_lemma=True))
                first: dict[Hashable, str] = {}  # of those that have the other factors' levels in common
                for name in scope.levels(each.where.slot):
                    others = {f: level for f, level in scope.variation[name].items() if f != each.where.factor}
                    if name in filling and (one := first.setdefault(tuple(others.items()), name)) != name:
                        ties.append((one, name, self.relations(alike, (one, name), [filling[one], filling[name]])))
        group = {name: name for name in names}
        members: dict[str, list[str]] = {name: [name] for name in names}
        tuples: dict[str, Tuples] = {name: [(entry,) for entry in filling[name]] for name in names}
        for one, other, relations in ties:
            a, b = group[one], group[other]
            i, j = members[a].index(one), members[b].index(other) + (len(members[a]) if a != b else 0)
            if a == b:
                joined: Iterator[tuple[Entry, ...]] = iter(tuples[a])
            else:
                joined = _joined(tuples[a], i, tuples[b], members[b].index(other))
                members[a] += members.pop(b)
                group.update(dict.fromkeys(members[a], a))
                del tuples[b]
            tuples[a] = [
                t for t in joined if all(relation.holds(_pair(relation, t, one, i, j)) for relation in relations)
            ]
        position = {name: (a, n) for a, owned in members.items() for n, name in enumerate(owned)}
        return tuples, position, settled

    def _assemble(
        self,
        scope: _Scope,
        budget: Budget,
        seen: Mapping[str, Labels],
        apart: Sequence[str],
        variables: dict[str, Tuples],
        position: Mapping[str, tuple[str, int]],
        phrases: Mapping[str, SlotSpec],
        ports: Mapping[str, list[Entry | None]],
        relations: Sequence[Relation],
    ) -> tuple[Graph, dict[str, Export]]:
        place = {**position, **{path: (path, 0) for path in ports}}
        rows: dict[str, list[tuple[Entry | None, ...]]] = {name: list(tuples) for name, tuples in variables.items()}
        rows |= {path: [(entry,) for entry in entries] for path, entries in ports.items()}
        # Relations inside one variable or port only filter its rows; what the others never allow goes too.
        between: list[Relation] = []
        for relation in relations:
            owners = {place[path][0] for path in relation.paths}
            if len(owners) > 1:
                between.append(relation)
            else:
                (owner,), at = owners, [place[path][1] for path in relation.paths]
                rows[owner] = [row for row in rows[owner] if relation.passes([row[n] for n in at])]
        tables = _tables(between, place, rows)
        signature: dict[str, list[list[Hashable]]] = {name: [[] for _ in of] for name, of in rows.items()}
        for table in tables:
            table.sign(signature)
        for path, labels in seen.items():
            name, n = place[path]
            for row, signed in zip(rows[name], signature[name], strict=True):
                signed.append(labels[row[n]])
        lemmas: dict[str, tuple[str, ...]] = {}
        for path in apart:
            if path in place:
                name, n = place[path]
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
            if name in ports and name in apart:
                lemmas[name] = tuple(of[0][0].lemma if of[0][0] else "" for of in classes[name])
        factors = [table.factor(signatures) for table in tables]
        # What a port may not be is one label more, which is never allowed: its phrase holds it all the same.
        for name, entries in ports.items():
            alive = {row[0] for row in rows[name]}
            if barred := [(entry,) for entry in entries if entry not in alive]:
                factors = [_padded(factor, name) for factor in factors]
                factors.append(Factor((name,), np.array([*(True for _ in classes[name]), False]), ""))
                lemmas |= {name: (*lemmas[name], "")} if name in lemmas else {}
                classes[name].append([*barred])
        words: dict[str, tuple[tuple[tuple[Entry, ...], ...], ...]] = {
            name: tuple(tuple(_distinct(of, name, position, scope)) for of in classes[name]) for name in variables
        }
        graph = Graph(
            tuple(Variable(name, tuple(tuple(t[0].lemma for t in of) for of in words[name])) for name in variables),
            tuple(self._phrase(name, spec, budget, ports, classes, lemmas) for name, spec in phrases.items()),
            tuple(factors),
        )
        self.words[graph] = Words(words, dict(position), scope.templates)
        exports = {}
        for path, labels in seen.items():
            name, n = place[path]
            exports[path] = Export(name, tuple(labels[of[0][n]] for of in classes[name]))
        return graph, exports

    def _phrase(
        self,
        name: str,
        spec: SlotSpec,
        budget: Budget,
        ports: Mapping[str, list[Entry | None]],
        classes: Mapping[str, Sequence[Sequence[tuple[Entry | None, ...]]]],
        lemmas: Mapping[str, tuple[str, ...]],
    ) -> Phrase:
        mine = [path for path in ports if path.split(".")[0] == name]
        seen = {
            path.partition(".")[2]: {row[0]: label for label, of in enumerate(classes[path]) for row in of}
            for path in mine
        }
        ports_seen = tuple(len(classes[path]) for path in mine)
        inside = self.phrase(spec.phrase or "", budget, seen, ports_seen, spec.attractors)
        return Phrase(name, tuple(mine), inside, {path: lemmas[path] for path in mine if path in lemmas})

    def phrase(
        self,
        name: str,
        budget: Budget,
        seen: Mapping[str, Labels],
        ports: tuple[int, ...],
        attractors: Attractors | None = None,
    ) -> Alternatives:
        """Return the alternatives of a phrase, as seen through these labels."""
        labelled = tuple((path, frozenset(labels.items())) for path, labels in seen.items())
        key = (name, budget, ports, labelled, attractors)
        if key not in self.compiled:
            rule = self.grammar.phrases[name]
            inner = self.entered(name, budget)
            members = []
            for scope, weight, text in self.scopes(rule, inner, attractors) if inner is not None else ():
                assert inner is not None
                extra = _congruence(rule, scope, attractors) if attractors else []
                targets = {path: self.within(rule, scope, path) for path in seen}
                wanted: dict[str, Labels] = {}
                for path, (slot, rest) in targets.items():
                    if slot is not None:
                        wanted[f"{slot}.{rest}" if rest else slot] = seen[path]
                graph, exports = self.graph(scope, inner, wanted, extra=extra)
                members.append(
                    Alternative(
                        weight,
                        graph,
                        tuple(
                            Export(None, (seen[path][None],))
                            if slot is None
                            else exports[f"{slot}.{rest}" if rest else slot]
                            for path, (slot, rest) in targets.items()
                        ),
                        text,
                    )
                )
            self.compiled[key] = Alternatives(tuple(members), ports)
        return self.compiled[key]


def _congruence(rule: PhraseRule, scope: _Scope, attractors: Attractors) -> list[Relation]:
    """Return what the attractors of a phrase have in common with its head, or not."""
    head, feature = rule.head_of(scope.present), attractors.feature
    if head is None or feature is None:
        return []
    agrees = Agrees(head, "", feature, negated=not attractors.congruent)
    return [
        relation
        for slot in rule.attractors
        if slot in scope.present
        for relation in relations_of(agrees, (head, slot), attractors.line, (), Vocabulary({}), {}, {})
    ]


class _Table:
    """A relation over slots: which keys there are of each, which combinations pass, and keys that pass alike as one."""

    def __init__(
        self,
        relation: Relation,
        places: Sequence[tuple[str, int]],
        rows: Mapping[str, Sequence[tuple[Entry | None, ...]]],
        earlier: "_Table | None" = None,
    ) -> None:
        self.relation = relation
        self.places = places
        self.owners = [*dict.fromkeys(name for name, _ in places)]
        self.keys: list[list[Hashable]] = [
            [None if (entry := row[n]) is None else key(entry) for row in rows[name]]
            for (name, n), key in zip(places, relation.keys, strict=True)
        ]
        if relation.by_difference:
            common = set.intersection(*(set(keys) for keys in self.keys))
            self.keys = [[key if key in common else None for key in keys] for keys in self.keys]
        domains = [[*dict.fromkeys(keys)] for keys in self.keys]
        self.index = [{key: i for i, key in enumerate(domain)} for domain in domains]
        if earlier is None or relation.by_difference:
            self.table = relation.table(domains)
        else:
            known = zip(earlier.index, domains, strict=True)
            self.table = earlier.table[np.ix_(*([index[key] for key in domain] for index, domain in known))]
        self.merged = [self._merge(n, domain) for n, domain in enumerate(domains)]
        self.at: list[int] = []

    def _merge(self, axis: int, domain: Sequence[Hashable]) -> dict[Hashable, int]:
        """Return for each key the first that passes with the same, by its number; -1 for those that pass with nothing."""
        first: dict[bytes, int] = {}
        numbers = {}
        for n, (key, passes) in enumerate(zip(domain, np.moveaxis(self.table, axis, 0), strict=True)):
            numbers[key] = first.setdefault(passes.tobytes(), n) if passes.any() else -1
        return numbers

    def dead(self) -> Iterator[tuple[str, int]]:
        """Yield the rows that this relation never allows."""
        for (name, _), keys, merged in zip(self.places, self.keys, self.merged, strict=True):
            yield from ((name, n) for n, key in enumerate(keys) if merged[key] < 0)

    def sign(self, signature: Mapping[str, list[list[Hashable]]]) -> None:
        """Add what this relation tells of each row to its signature."""
        for (name, _), keys, merged in zip(self.places, self.keys, self.merged, strict=True):
            self.at.append(len(signature[name][0]) if signature[name] else 0)
            for signed, key in zip(signature[name], keys, strict=True):
                signed.append(merged[key])

    def factor(self, signatures: Mapping[str, Sequence[Sequence[Any]]]) -> Factor:
        """Return the relation as a table over classes."""
        index = []
        for at, (name, _) in zip(self.at, self.places, strict=True):
            axis = [-1 if owner == name else 1 for owner in self.owners]
            index.append(np.array([signature[at] for signature in signatures[name]], int).reshape(axis))
        return Factor(tuple(self.owners), self.table[tuple(index)], str(self.relation.line))


def _tables(
    relations: Sequence[Relation],
    place: Mapping[str, tuple[str, int]],
    rows: dict[str, list[tuple[Entry | None, ...]]],
) -> list[_Table]:
    """Return the tables of relations; rows that one of them never allows are taken out of `rows` until none is left."""
    earlier: Sequence[_Table | None] = [None] * len(relations)
    while True:
        tables = [
            _Table(relation, [place[path] for path in relation.paths], rows, before)
            for relation, before in zip(relations, earlier, strict=True)
        ]
        dead: dict[str, set[int]] = defaultdict(set)
        for table in tables:
            for name, n in table.dead():
                dead[name].add(n)
        if not dead:
            return tables
        earlier = tables
        for name, numbers in dead.items():
            rows[name] = [row for n, row in enumerate(rows[name]) if n not in numbers]


def _padded(factor: Factor, name: str) -> Factor:
    """Return a factor with one label more of a port, which it does not allow."""
    more = [(0, int(owner == name)) for owner in factor.variables]
    return Factor(factor.variables, np.pad(factor.table, more), factor.line)


def _distinct(
    rows: Sequence[tuple[Entry | None, ...]], name: str, position: Mapping[str, tuple[str, int]], scope: _Scope
) -> Iterator[tuple[Entry, ...]]:
    """Yield the tuples of a class whose words are other words; homographs are one."""
    owned = [slot for slot, (variable, _) in position.items() if variable == name]
    columns = [scope.columns.get(base(slot), ()) for slot in owned]
    seen = set()
    for row in rows:
        shown = tuple(
            (entry.printed, entry.columns.get("onset"), *(entry.columns.get(column) for column in of))
            for entry, of in zip(row, columns, strict=True)
            if entry is not None
        )
        if shown not in seen:
            seen.add(shown)
            yield tuple(entry for entry in row if entry is not None)


def _joined(left: Tuples, i: int, right: Tuples, j: int) -> Iterator[tuple[Entry, ...]]:
    """Yield the tuples of both, joined where the lemmas at i and j are one."""
    by_lemma = defaultdict(list)
    for row in right:
        by_lemma[row[j].lemma].append(row)
    for row in left:
        for other in by_lemma[row[i].lemma]:
            yield row + other


def _pair(relation: Relation, row: tuple[Entry, ...], one: str, i: int, j: int) -> tuple[Entry, Entry]:
    return (row[i], row[j]) if relation.paths[0] == one else (row[j], row[i])


def _holds(spec: SlotSpec) -> "functools.partial[bool]":
    return functools.partial(_meets_spec, spec)


def _meets_spec(spec: SlotSpec, entry: Entry) -> bool:
    return spec.restriction.holds(entry.features)


def _known(path: str, scope: _Scope) -> bool:
    return path.split(".")[0] in scope.present


@functools.lru_cache(maxsize=4096)
def _filtered(grammar: Grammar, restriction: Restriction) -> tuple[Entry, ...]:
    # The category is compared first: it leaves out most entries, at the least cost.
    entries: Sequence[Entry] = grammar.entries
    for part in restriction.parts if isinstance(restriction, And) else (restriction,):
        if isinstance(part, Test) and part.feature == CATEGORY:
            entries = [entry for entry in entries if entry.category in part.values]
    return tuple(entry for entry in entries if restriction.holds(entry.features))


@functools.lru_cache(maxsize=16)
def _kinds(grammar: Grammar) -> list[Entry]:
    """Return an entry of each kind that features tell apart: a fifth of all, where it matters only whether there is one."""
    return list({entry.bundle: entry for entry in grammar.entries}.values())


def is_met(grammar: Grammar, restriction: Restriction) -> bool:
    """Whether an entry of a grammar's lexicon meets a restriction."""
    by_word = any(test.feature in FREE for test in restriction.named())
    return any(restriction.holds(entry.features) for entry in (grammar.entries if by_word else _kinds(grammar)))


def filtered(grammar: Grammar, restriction: Restriction) -> list[Entry]:
    """Return the entries of a grammar's lexicon that meet a restriction."""
    return list(_filtered(grammar, restriction))


def categories_only(grammar: Grammar, spec: SlotSpec) -> Restriction:
    """Return the restriction of a slot without its features: to the categories that it names, or else all that meet it."""
    if spec.phrase is not None:
        return And()
    categories = frozenset(entry.category for entry in filtered(grammar, spec.restriction))
    return Test(CATEGORY, categories)


@functools.lru_cache(maxsize=16)
def demand_columns(grammar: Grammar) -> dict[str, tuple[str, ...]]:
    """Return the restriction columns that each category fills, in the order of `selects`."""
    filled: dict[str, set[str]] = defaultdict(set)
    for entry in grammar.entries:
        filled[entry.category] |= set(entry.demands)
    return {category: tuple(name for name in grammar.selects if name in of) for category, of in filled.items()}
