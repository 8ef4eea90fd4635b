"""Draws of grammars: shares, balance, limits, splits, and that every assignment is equally likely."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from scipy import stats

from gardenpath.stimuli.grammar.derivation_counts import Counts
from gardenpath.stimuli.grammar.graphs import Alternative, Alternatives, Derivation, Export, Factor, Graph, Phrase, Variable
from gardenpath.stimuli.grammar.sampling import (
    SamplingScheme,
    TooFewError,
    apportion_items,
    draw_derivations,
    enumerate_derivations,
    filter_lemmas,
    permute_ranks,
    sample_derivations,
    split_by_lemma,
)


def words(name: str, *sizes: int) -> Variable:
    return Variable(name, tuple(tuple(f"{name}{c}-{i}" for i in range(size)) for c, size in enumerate(sizes)))


def only(graph: Graph, *exports: Export, weight: float = 1) -> Alternative:
    return Alternative(weight, graph, exports, "")


@pytest.fixture
def clause() -> Alternatives:
    """A subject that is a name (2 : 1) or a noun, as animate as the verb wants it: 3 * 4 + (5 * 4 + 7 * 2) assignments."""
    name = only(Graph((words("Name", 3),), (), ()), Export("Name", (0,)), weight=2)
    noun = only(Graph((words("N", 5, 7),), (), ()), Export("N", (0, 1)))
    phrase = Phrase("S", ("S",), Alternatives((name, noun), (2,)))
    alike = Factor(("S", "V"), np.eye(2, dtype=bool), "line 9: V(S)")
    return Alternatives((only(Graph((words("V", 4, 2),), (phrase,), (alike,))),))


def key(derivation: Derivation) -> object:
    inner = derivation.phrases["S"]
    return derivation.entries["V"], inner.alternative, tuple(inner.entries.items())


def test_a_permutation_has_each_rank_once_and_any_order_alike() -> None:
    assert sorted(permute_ranks(50, Random(3))) == list(range(50))
    orders = Counter(tuple(permute_ranks(4, Random(seed))) for seed in range(2400))
    assert len(orders) == 24
    assert stats.chisquare([*orders.values()]).pvalue > 0.001
    assert [*zip(range(3), permute_ranks(10**40, Random(1)), strict=False)][2][1] < 10**40


def test_shares_are_rounded_by_the_largest_remainder() -> None:
    assert apportion_items(10, [4, 2, 1], Random(1)) == [6, 3, 1]
    assert sorted(apportion_items(10, [1, 1, 1], Random(1))) == [3, 3, 4]


def test_alternatives_have_their_weights_share_and_no_assignment_comes_twice(clause: Alternatives) -> None:
    drawn = draw_derivations(clause, 18, Random(1))
    assert Counter(d.phrases["S"].alternative for d in drawn.derivations) == {0: 12, 1: 6}
    assert len({key(d) for d in drawn.derivations}) == 18
    again = draw_derivations(clause, 18, Random(1))
    assert [key(d) for d in again.derivations] == [key(d) for d in drawn.derivations]


def test_all_there_are_can_be_drawn_and_no_more(clause: Alternatives) -> None:
    for plan in (
        SamplingScheme(),
        SamplingScheme("uniform"),
        SamplingScheme(balanced_variables=("V",)),
        SamplingScheme("uniform", balanced_variables=("V",)),
    ):
        drawn = draw_derivations(clause, 46, Random(2), plan)
        assert len({key(d) for d in drawn.derivations}) == 46 == Counts().get_phrase_counts(clause).total
    with pytest.raises(TooFewError, match="47 asked for, but there are 46"):
        draw_derivations(clause, 47, Random(2))
    assert len(enumerate_derivations(clause).derivations) == 46


def test_a_balanced_slot_has_each_entry_equally_often(clause: Alternatives) -> None:
    drawn = draw_derivations(clause, 25, Random(1), SamplingScheme(balanced_variables=("V",)))
    times = Counter(d.entries["V"] for d in drawn.derivations)
    assert len(times) == 6
    assert set(times.values()) == {4, 5}
    assert len({key(d) for d in drawn.derivations}) == 25


def test_a_lemma_comes_at_most_so_often(clause: Alternatives) -> None:
    drawn = draw_derivations(clause, 18, Random(1), SamplingScheme(max_per_lemma={"V": 3}))
    assert set(Counter(d.entries["V"] for d in drawn.derivations).values()) == {3}
    with pytest.raises(TooFewError, match="19 asked for, but at_most = 3 in V leaves 18"):
        draw_derivations(clause, 19, Random(1), SamplingScheme(max_per_lemma={"V": 3}))


def test_strings_drawn_before_are_replaced_and_counted(clause: Alternatives) -> None:
    def text(derivation: Derivation) -> tuple[object, ...]:
        return derivation.entries["V"], derivation.phrases["S"].alternative

    drawn = draw_derivations(clause, 10, Random(1), text=text)  # 4 verbs with names or nouns, 2 with nouns: all there are
    assert len({text(d) for d in drawn.derivations}) == 10
    assert drawn.collisions > 0
    with pytest.raises(TooFewError, match="11 asked for, but only 10 differ: of 46 assignments, 36 print a sentence again"):
        draw_derivations(clause, 11, Random(1), text=text)


def test_what_is_not_accepted_is_counted(clause: Alternatives) -> None:
    drawn = draw_derivations(clause, 12, Random(1), text=lambda d: (key(d),) if d.phrases["S"].alternative == 0 else None)
    assert all(d.phrases["S"].alternative == 0 for d in drawn.derivations)
    assert drawn.refusals > 0


def test_parts_share_no_lemma(clause: Alternatives) -> None:
    parts = split_by_lemma(clause, ["V", "S"], [2, 1], Random(5))
    lemmas = []
    for part in parts:
        found = enumerate_derivations(part).derivations
        assert found
        verbs = {clause.members[0].graph.variables[0].classes[c][i] for c, i in (d.entries["V"] for d in found)}
        subjects = {(d.phrases["S"].alternative, *d.phrases["S"].entries.items()) for d in found}
        lemmas.append(verbs | subjects)
    assert not lemmas[0] & lemmas[1]
    assert Counts().get_phrase_counts(filter_lemmas(clause, "S", lambda lemma: lemma == "N0-3")).total == 4


def chi_square(clause: Alternatives, draws: int, taken: int) -> float:
    """Return p of the hypothesis that each assignment is as likely as another among what is drawn uniformly."""
    times: Counter[object] = Counter()
    random = Random(11)
    counts = Counts()
    for _ in range(draws // taken):
        times.update(key(d) for d in draw_derivations(clause, taken, random, SamplingScheme("uniform"), counts=counts).derivations)
    assert len(times) == 46
    # Without replacement, the statistic is smaller by what each draw of several leaves to vary.
    statistic = stats.chisquare([*times.values()]).statistic * 45 / (46 - taken)
    return float(stats.chi2.sf(statistic, 45))


def test_uniform_draws_are_uniform(clause: Alternatives) -> None:
    assert chi_square(clause, 5000, 10) > 0.001


@pytest.mark.slow
def test_a_hundred_thousand_uniform_draws_are_uniform(clause: Alternatives) -> None:
    assert chi_square(clause, 100_000, 10) > 0.001


def test_sampling_with_repeats_goes_by_weight_and_inside_uniformly(clause: Alternatives) -> None:
    drawn = [d for d, _ in zip(sample_derivations(clause, Random(4)), range(4000), strict=False)]
    # Probability of an assignment: the share of its alternative, over what is inside it, renormalised by what the verb allows.
    weights = Counter()
    for derivation in enumerate_derivations(clause).derivations:
        weights[key(derivation)] = 2 / 3 / 3 if derivation.phrases["S"].alternative == 0 else 1 / 3 / 12
    total = sum(weights.values())
    times = Counter(map(key, drawn))
    expected = [4000 * weight / total for weight in weights.values()]
    assert stats.chisquare([times[k] for k in weights], expected).pvalue > 0.001
