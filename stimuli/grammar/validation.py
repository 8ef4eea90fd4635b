"""What is wrong with a grammar as a whole: phrases without end, restrictions that nothing meets, paths that lead nowhere."""

from collections.abc import Mapping, Sequence

from .compilation import expand_variants, filter_entries, find_demand_columns, get_base_slot, has_matching_entry
from .faults import Fault, Faults, build_unknown_fault
from .grammars import Grammar, ParadigmRule, PhraseRule, SlotSpec
from .restrictions import And, read_restriction
from .templates import find_slots
from .where_lines import FactorVariation, FunctorCall, SlotTest


def find_faults(grammar: Grammar, faults: Faults) -> None:
    """Note what is wrong with a grammar whose files could be read."""
    _note_endless_phrases(grammar, faults)
    _note_unmet_demands(grammar, faults)
    rules: list[PhraseRule | ParadigmRule] = [*grammar.phrases.values(), *grammar.paradigms.values()]
    for rule in rules:
        for name, spec in rule.slots.items():
            _note_unmet_slot(grammar, name, spec, faults)
        _note_where_faults(grammar, rule, faults)
        if isinstance(rule, PhraseRule) and rule.heads:
            _note_headless_expansions(rule, faults)
    for paradigm in grammar.paradigms.values():
        _note_varying_phrases(paradigm, faults)


def _note_endless_phrases(grammar: Grammar, faults: Faults) -> None:
    """Note phrases that hold themselves without a depth, and those that cannot end."""
    uses = {
        name: [
            {spec for slot in find_slots(expansion.parts) if (spec := rule.slots[slot.name].phrase)}
            for expansion in rule.expansions
        ]
        for name, rule in grammar.phrases.items()
    }
    ends: set[str] = set()
    while more := {name for name, of in uses.items() if name not in ends and any(each <= ends for each in of)}:
        ends |= more
    for name, rule in grammar.phrases.items():
        if name not in ends:
            faults.add(rule.line, f"phrase {name} has no end: each way to write it holds a phrase that holds it again")
        elif (way := _find_way_back(name, grammar, uses)) is not None:
            faults.add(
                rule.line, f"phrase {name} has no end: it holds itself ({' -> '.join(way)}); expected depth = 1 in one of them"
            )


def _find_way_back(name: str, grammar: Grammar, uses: Mapping[str, Sequence[set[str]]]) -> list[str] | None:
    """Return a way from a phrase to itself through phrases of no stated depth."""
    ways = [[name]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        if grammar.phrases[way[-1]].depth is not None:
            continue
        for inside in sorted(set().union(*uses[way[-1]])) if uses[way[-1]] else []:
            if inside == name and grammar.phrases[name].depth is None:
                return [*way, name]
            if inside not in seen:
                seen.add(inside)
                ways.append([*way, inside])
    return None


def _note_unmet_demands(grammar: Grammar, faults: Faults) -> None:
    """Note what a cell, or a column of forms, demands of others where no entry of the lexicon is so."""
    for line, column, demand in grammar.demands:
        if not has_matching_entry(grammar, demand):
            faults.add(line, f"{column}: no entry of the lexicon meets this restriction")


def _note_unmet_slot(grammar: Grammar, name: str, spec: SlotSpec, faults: Faults) -> None:
    if spec.restriction != And() and not has_matching_entry(grammar, spec.restriction):
        what = "entry of the lexicon" if spec.phrase is None else f"head of {spec.phrase}"
        faults.add(spec.line, f"slot {name}: no {what} meets this restriction")


def _note_headless_expansions(rule: PhraseRule, faults: Faults) -> None:
    """Note the ways to write a phrase that leave its head out."""
    for expansion in rule.expansions:
        for parts in expand_variants({"": expansion.parts}):
            slots = dict.fromkeys(slot.name for slot in find_slots(parts[""]))
            if rule.find_head(list(slots)) is None:
                heads = ", ".join(rule.heads)
                faults.add(rule.line, f"phrase {rule.name} has no head in {expansion.text!r}; expected one of {heads} in each")


def _note_where_faults(grammar: Grammar, rule: PhraseRule | ParadigmRule, faults: Faults) -> None:
    columns = find_demand_columns(grammar)
    for each in rule.where:
        try:
            specs = [_find_spec(grammar, rule, path) for path in each.list_paths()]
            match each.statement:
                case SlotTest(_, text):
                    if not has_matching_entry(grammar, read_restriction(text, grammar.vocabulary)):
                        raise Fault("no entry of the lexicon meets this restriction")
                case FunctorCall(_, arguments) if specs[0].phrase is None:
                    for category in {entry.category for entry in filter_entries(grammar, specs[0].restriction)}:
                        has = columns.get(category, ())
                        if len(has) < len(arguments):
                            raise Fault(
                                f"{len(arguments)} arguments for {category}, whose restriction columns are "
                                f"{', '.join(has) or 'none'}; expected at most {len(has)}"
                            )
                case FactorVariation(slot) if rule.slots[slot].phrase is not None:
                    raise Fault(f"{slot} holds a phrase; expected a slot of words to vary with a factor")
        except Fault as fault:
            faults.add(each.line, str(fault))


def _find_spec(grammar: Grammar, rule: PhraseRule | ParadigmRule, path: str) -> SlotSpec:
    """Return what is at a path; a path that leads nowhere is a `Fault`."""
    first, *rest = path.split(".")
    spec = rule.slots.get(first) or rule.slots[get_base_slot(first)]
    for name in rest:
        if spec.phrase is None:
            raise Fault(f"{path!r} goes into {first}, which holds words; expected a phrase")
        inside = grammar.phrases[spec.phrase].slots
        if get_base_slot(name) != name and get_base_slot(name) in inside:
            raise Fault(
                f"{path!r} is a counterpart or level inside phrase {spec.phrase}, which is the same in all sentences; write the "
                f"phrase out in the sentence, and its word as a slot of its own, <{name}>"
            )
        if name not in inside:
            raise build_unknown_fault(f"slot of phrase {spec.phrase}", name, inside)
        first, spec = name, inside[name]
    if spec.phrase is not None and not grammar.phrases[spec.phrase].heads:
        raise Fault(f"phrase {spec.phrase} has no head that {path!r} could stand for; state its head, or go on to a slot inside")
    return spec


def _note_varying_phrases(rule: ParadigmRule, faults: Faults) -> None:
    for templates in rule.templates:
        for parts in templates.values():
            for slot in find_slots(parts):
                if rule.slots[slot.name].phrase is not None and (slot.is_counterpart or slot.factors):
                    mark = "*" if slot.is_counterpart else "".join(f"@{factor}" for factor in slot.factors)
                    faults.add(
                        rule.line,
                        f"<{slot.name}{mark}> is a phrase; counterparts and levels are of words: write the phrase out in the "
                        "sentence, and vary its word",
                    )
