"""Materials from a grammar: each paradigm compiled, counted and drawn from, its assignments printed as items."""

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from ..items import Item, Materials, Sentence, format_html_table
from .compilation import CompiledParadigm, compile_paradigm, get_base_slot
from .derivation_counts import count_derivations
from .faults import Line, build_unknown_fault
from .grammars import Grammar
from .graphs import Alternatives, Derivation
from .guarantees import Guarantee, compile_with_guarantees, is_acceptable
from .linearisation import build_item, build_paradigm, build_sentences
from .sampling import SamplingScheme, TooFewError, draw_derivations, enumerate_derivations, split_by_lemma

MAX_WRITTEN_ITEMS = 10**6  # assignments that are all written on request


@dataclass(frozen=True)
class ParadigmCounts:
    """What a paradigm holds and what was drawn of it.

    `total` is the exact number of assignments, `drawn_items` that of the items, `collisions` of those passed over since they print
    an earlier item again, `refusals` of those that a guarantee that is no part of the count keeps out; `splits` the total of each.
    """

    paradigm: str
    total: int
    drawn_items: int
    collisions: int
    scheme: SamplingScheme
    refusals: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)
    guarantees: tuple[Guarantee, ...] = ()


@dataclass(frozen=True)
class GeneratedMaterials:
    """Materials drawn from a grammar, the counts of each paradigm, the seed, and the hash of each file of the grammar.

    >>> from gardenpath import stimuli
    >>> item = stimuli.Item("a-0001", "a", {"": stimuli.Sentence("A dog barks.")})
    >>> GeneratedMaterials(stimuli.Materials((stimuli.Paradigm("a", "a", {}),), (item,)), (), seed=1)
    GeneratedMaterials(materials=Materials(1 paradigm, 1 item, 1 sentence), counts=(), seed=1)
    """

    materials: Materials
    counts: tuple[ParadigmCounts, ...]
    seed: int
    file_hashes: Mapping[str, str] = field(default_factory=dict, repr=False)

    def _repr_html_(self) -> str:
        rows = [(c.paradigm, c.total, c.drawn_items, c.collisions) for c in self.counts]
        return format_html_table(("paradigm", "assignments", "items", "collisions"), rows)


def generate(
    grammar: Grammar,
    n: int | None,
    *,
    seed: int,
    paradigms: Iterable[str] | None = None,
    splits: Mapping[str, int] | None = None,
    progress: Callable[[str], None] | None = None,
) -> GeneratedMaterials:
    """Return n items of each paradigm, or with None all there are; the same grammar and seed give the same.

    `splits` states how many items each part has in place of n: parts share no lemma in the slots that a paradigm names as
    `disjoint` (by default the slot in `[ ]`), and the column `split` says which an item is of.
    Fillers have as many as they state. A paradigm that has fewer than were asked for, or none, is a `ValueError` with what it has,
    and for none with a smallest set of lines without which there are some.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from gardenpath import stimuli
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.csv").write_text("form,category\\ndog,N\\ncat,N\\n")
    >>> paradigm = '[paradigm.order]\\ngood = "a [<N>] barks."\\nbad = "a barks [<N>]."\\nwaive = "word-before"\\n'
    >>> _ = (folder / "grammar.toml").write_text(f'language = "en"\\nlexicon = "words.csv"\\n{paradigm}')
    >>> generated = stimuli.generate(stimuli.read_grammar(folder / "grammar.toml"), 2, seed=1)
    >>> generated.counts[0].total, sorted(i.sentences["ungrammatical"].text for i in generated.materials.items)
    (2, ['A barks cat.', 'A barks dog.'])
    """
    names = list(grammar.paradigms) if paradigms is None else list(paradigms)
    for name in names:
        if name not in grammar.paradigms:
            raise ValueError(str(build_unknown_fault("paradigm", name, grammar.paradigms)))
    ready: dict[str, tuple[CompiledParadigm, tuple[Guarantee, ...]]] = {}
    if n is None and not splits:
        ready = {name: _compile_for_sampling(grammar, name) for name in names}
        if large := _describe_too_large(grammar, ready):
            raise ValueError("\n".join(large))
    items: list[Item] = []
    counts: list[ParadigmCounts] = []
    short: list[str] = []
    for name in names:
        if progress is not None:
            progress(name)
        random = Random(f"{seed}-{name}")
        try:
            with _pause_garbage_collection():
                if splits:
                    drawn, counted = _generate_splits(grammar, name, splits, random)
                else:
                    compiled, guarantees = ready.pop(name) if name in ready else _compile_for_sampling(grammar, name)
                    number = n if n is None else compiled.rule.settings.get("n", n)
                    drawn, counted = _draw_items(compiled, guarantees, number, random)
        except TooFewError as error:
            short.append(f"{grammar.paradigms[name].line}: paradigm {name}: {error}{_describe_shortage(grammar, name, error)}")
            continue
        items += drawn
        counts.append(counted)
    if short:
        raise ValueError("\n".join(short))
    rules = [grammar.paradigms[name] for name in names]
    return GeneratedMaterials(Materials(tuple(map(build_paradigm, rules)), tuple(items)), tuple(counts), seed, grammar.file_hashes)


@contextlib.contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Leave cyclic garbage to be collected after a paradigm: what is drawn has no cycles, and looking for them costs a fifth."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def build_sampling_scheme(compiled: CompiledParadigm) -> SamplingScheme:
    """Return how a paradigm is drawn from, as it states or by default: the slot in `[ ]` has each word equally often."""
    settings = compiled.rule.settings
    stated = settings.get("balanced", [compiled.critical_slot] if compiled.critical_slot else [])
    at_most = settings.get("at_most", {})
    phrases = _find_limited_phrases(compiled.grammar, compiled.rule.name)
    variables = {**_map_slots_to_variables(compiled), **{slot: slot for slot in phrases}}
    for slot in (*settings.get("balanced", ()), *at_most):
        if slot not in variables:
            raise ValueError(f"{compiled.rule.line}: {build_unknown_fault('slot', slot, variables)}")
    balanced = dict.fromkeys(variables[slot] for slot in stated if slot in variables)
    return SamplingScheme(settings.get("sampling", "shares"), tuple(balanced), {variables[slot]: k for slot, k in at_most.items()})


def _find_limited_phrases(grammar: Grammar, name: str) -> list[str]:
    """Return the slots in `balanced` or `at_most` that hold phrases, whose heads are meant."""
    rule = grammar.paradigms[name]
    named = dict.fromkeys([*rule.settings.get("balanced", ()), *rule.settings.get("at_most", {})])
    found = [slot for slot in named if slot in rule.slots and rule.slots[slot].phrase is not None]
    for slot in found:
        if not grammar.phrases[rule.slots[slot].phrase or ""].heads:
            raise ValueError(f"{rule.line}: {slot} holds a phrase without a head, of which none can come equally often")
    return found


def find_blocking_lines(grammar: Grammar, name: str) -> list[Line]:
    """Return a smallest set of lines of a paradigm without which it has assignments: none of them could stay."""
    lines = compile_paradigm(grammar, name).lines
    dropped_lines = frozenset(lines)
    for line in lines:
        if count_derivations(compile_paradigm(grammar, name, dropped_lines=dropped_lines - {line}).alternatives):
            dropped_lines -= {line}
    return [line for line in lines if line in dropped_lines]


def _compile_for_sampling(grammar: Grammar, name: str) -> tuple[CompiledParadigm, tuple[Guarantee, ...]]:
    """Return a paradigm compiled as its sampling scheme needs it, and what holds of it."""
    return compile_with_guarantees(grammar, name, lemma_slots=_find_limited_phrases(grammar, name))


def _describe_too_large(grammar: Grammar, ready: Mapping[str, tuple[CompiledParadigm, tuple[Guarantee, ...]]]) -> list[str]:
    """Return what is said of the paradigms that have more than can all be written."""
    totals = {name: count_derivations(compiled.alternatives) for name, (compiled, _) in ready.items()}
    return [
        f"{grammar.paradigms[name].line}: paradigm {name}: {total} assignments are too many to write them all; "
        f"expected {MAX_WRITTEN_ITEMS} at most: state a number"
        for name, total in totals.items()
        if total > MAX_WRITTEN_ITEMS
    ]


def _generate_splits(grammar: Grammar, name: str, splits: Mapping[str, int], random: Random) -> tuple[list[Item], ParadigmCounts]:
    """Return the items of parts that have no lemma in common in the slots that the paradigm names."""
    critical = compile_paradigm(grammar, name).critical_slot
    stated = grammar.paradigms[name].settings.get("disjoint", [get_base_slot(critical)] if critical else [])
    slots = [stated] if isinstance(stated, str) else list(stated)
    if not slots:
        raise ValueError(
            f'{grammar.paradigms[name].line}: paradigm {name} has no slot in [ ]; expected disjoint = ["S"], the slots in '
            "which parts share no lemma"
        )
    compiled, guarantees = compile_with_guarantees(grammar, name, lemma_slots=[*slots, *_find_limited_phrases(grammar, name)])
    known = _map_slots_to_variables(compiled)
    phrases = {phrase.name for member in compiled.alternatives.members for phrase in member.graph.phrases}
    for slot in slots:
        if slot.split(".")[0] not in {*known, *phrases}:
            raise ValueError(f"{compiled.rule.line}: disjoint: {build_unknown_fault('slot', slot, {*known, *phrases})}")
    parts = split_by_lemma(compiled.alternatives, [known.get(slot, slot) for slot in slots], [*splits.values()], random)
    items: list[Item] = []
    counts: list[ParadigmCounts] = []
    for (part, n), alternatives in zip(splits.items(), parts, strict=True):
        try:
            drawn, counted = _draw_items(compiled, guarantees, n, random, alternatives, len(items))
        except TooFewError as error:
            raise TooFewError(f"split {part}: {error}", error.available) from None
        items += [replace(item, extra={**item.extra, "split": part}) for item in drawn]
        counts.append(counted)
    return items, replace(
        counts[0],
        total=count_derivations(compiled.alternatives),
        drawn_items=len(items),
        collisions=sum(counted.collisions for counted in counts),
        refusals=sum(counted.refusals for counted in counts),
        splits={part: counted.total for part, counted in zip(splits, counts, strict=True)},
    )


def _draw_items(
    compiled: CompiledParadigm,
    guarantees: tuple[Guarantee, ...],
    n: int | None,
    random: Random,
    alternatives: Alternatives | None = None,
    n_before: int = 0,
) -> tuple[list[Item], ParadigmCounts]:
    """Return the items drawn from a paradigm or a part of it, numbered after those before."""
    alternatives = alternatives or compiled.alternatives
    printed: dict[int, tuple[Derivation, dict[str, Sentence]]] = {}

    def format_derivation(derivation: Derivation) -> tuple[str, ...] | None:
        sentences = build_sentences(compiled, derivation)
        if not is_acceptable(compiled, guarantees, sentences):
            return None
        printed[id(derivation)] = derivation, sentences
        return tuple(sentence.text for sentence in sentences.values())

    def get_entry_form(top: int, variable: str, entry: tuple[int, int]) -> str:
        of_class, at = entry
        words = compiled.words[compiled.alternatives.members[top].graph]
        return " / ".join(word.form for word in words.classes[variable][of_class][at])

    total = count_derivations(alternatives)
    scheme = build_sampling_scheme(compiled)
    drawn = (
        enumerate_derivations(alternatives, format_derivation)
        if n is None
        else draw_derivations(alternatives, n, random, scheme, form=get_entry_form, text=format_derivation)
    )
    items = [build_item(compiled, d, k, printed[id(d)][1]) for k, d in enumerate(drawn.derivations, n_before + 1)]
    counted = ParadigmCounts(compiled.rule.name, total, len(items), drawn.collisions, scheme, drawn.refusals, guarantees=guarantees)
    return items, counted


def _describe_shortage(grammar: Grammar, name: str, error: TooFewError) -> str:
    """Return which lines leave nothing."""
    if error.available:
        return ""
    lines = "; ".join(map(str, find_blocking_lines(grammar, name)))
    return f"; there are some without {lines}" if lines else "; its phrases or lexicon hold none"


def _map_slots_to_variables(compiled: CompiledParadigm) -> dict[str, str]:
    """Return the variable of each slot of words; a slot stands for its counterparts and levels."""
    found: dict[str, str] = {}
    for member in compiled.alternatives.members:
        for slot, (variable, _) in compiled.words[member.graph].slots.items():
            found.setdefault(slot, variable)
            found.setdefault(get_base_slot(slot), variable)
    return found
