"""Choosing and dealing items, held against enumeration, and against counts and arithmetic of the test's own."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import CovariateSection, Division, Item, Materials, Paradigm, Region, Selection, Sentence
from gardenpath.stimuli.selection.exchange import Bins, MatchCriterion, _Search
from gardenpath.stimuli.selection.matching import CellGroup, compute_matching
from gardenpath.stimuli.selection.pool import build_pool

pytest.importorskip("highspy")

FACTOR = {"f": ("a", "b")}


def made(rows: Sequence[dict[str, object]], conditions: Sequence[str] = ("a",)) -> Materials:
    """Items with these columns, each with sentences of its own; a phenomenon is a column too."""
    names = dict.fromkeys(str(row.get("phenomenon", "p")) for row in rows)
    paradigms = tuple(Paradigm(name, name, {"f": tuple(conditions)}) for name in names)
    items = tuple(
        Item(
            f"i{n}",
            str(row.get("phenomenon", "p")),
            {c: Sentence(str(row.get(f"text {c}", f"Sentence {n} {c}."))) for c in conditions},
            extra={name: str(value) for name, value in row.items() if not name.startswith("text")},
        )
        for n, row in enumerate(rows)
    )
    return Materials(paradigms, items)


def drawn(n: int, seed: int, *, levels: int = 2) -> Materials:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, n)).round(2)
    return made([{"level": f"l{k % levels}", "x": x[k] + 0.3 * (k % levels), "y": y[k]} for k in range(n)])


def column(materials: Materials, name: str) -> np.ndarray:
    return np.array([float(item.extra[name]) for item in materials.items])


def widest_of(values: dict[str, np.ndarray], level: np.ndarray, chosen: Sequence[int]) -> dict[str, float]:
    """Return by how many s.d. of the pool the levels of a choice are apart."""
    apart = {}
    for name, x in values.items():
        z = (x - x.mean()) / x.std()
        means = [np.mean([z[n] for n in chosen if level[n] == one]) for one in sorted(set(level))]
        apart[name] = float(max(means) - min(means))
    return apart


def choices(level: np.ndarray, each: int) -> list[tuple[int, ...]]:
    of = [itertools.combinations(np.flatnonzero(level == one).tolist(), each) for one in sorted(set(level))]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*of)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [None, 0.3])
def test_a_choice_is_met_or_infeasible_as_enumeration_says(seed: int, spread: float | None) -> None:
    pool = drawn(12, seed)
    level = np.array([item.extra["level"] for item in pool.items])
    values = {name: column(pool, name) for name in ("x", "y")}
    squares = {f"{name}2": (((x - x.mean()) / x.std()) ** 2) for name, x in values.items()} if spread else {}
    every = [widest_of(values | squares, level, chosen) for chosen in choices(level, 3)]
    verdicts = set()
    for tolerance in (0.02, 0.1, 0.5):
        limits = {"x": tolerance, "y": tolerance, "x2": spread or 0, "y2": spread or 0}
        possible = any(all(apart <= limits[name] + 1e-9 for name, apart in one.items()) for one in every)
        sections = {name: CovariateSection() for name in values}
        asked = Selection(items=6, between_items=("level",), covariates=sections, tolerance=tolerance, spread_tolerance=spread)
        found = stimuli.select(pool, asked)
        assert found.certificate.verdict == ("met" if possible else "infeasible")
        verdicts.add(found.certificate.verdict)
        if found.materials is not None:
            ids = [int(item.id[1:]) for item in found.materials.items]
            apart = widest_of(values | squares, level, ids)
            assert all(apart[name] <= limits[name] + 1e-5 for name in apart)
            assert Counter(level[ids]) == {"l0": 3, "l1": 3}
            assert found.certificate.largest == pytest.approx(max(apart["x"], apart["y"]))
    assert verdicts


@pytest.mark.parametrize("seed", range(3))
def test_the_best_choice_is_within_its_gap_of_the_best_that_enumeration_finds(seed: int) -> None:
    pool = drawn(12, 10 + seed)
    level = np.array([item.extra["level"] for item in pool.items])
    values = {name: column(pool, name) for name in ("x", "y")}
    least = min(max(widest_of(values, level, chosen).values()) for chosen in choices(level, 3))
    covariates = {name: CovariateSection() for name in values}
    found = stimuli.select(
        pool, Selection(items=6, match="best", optimality_gap=0.0, between_items=("level",), covariates=covariates)
    )
    assert found.certificate.verdict == "within gap"
    assert found.certificate.largest == pytest.approx(least, abs=1e-5)
    assert found.certificate.bound == pytest.approx(least, abs=1e-5)
    loose = stimuli.select(
        pool, Selection(items=6, match="best", optimality_gap=0.2, between_items=("level",), covariates=covariates)
    )
    assert loose.certificate.largest is not None
    assert loose.certificate.largest <= least + 0.2


def test_conditions_are_matched_within_items() -> None:
    random = np.random.default_rng(3)
    words = ["cat", "horses", "elephant", "dog", "mouse", "crocodile", "bird"]
    rows = [
        {"text a": f"The {random.choice(words)} ran {n}.", "text b": f"The {random.choice(words)} ran {n} x."} for n in range(40)
    ]
    materials = made(rows, "ab")
    marked = Materials(
        materials.paradigms,
        tuple(
            Item(
                i.id,
                i.paradigm,
                {c: Sentence(s.text, (Region("critical", 4, s.text.index(" ", 4)),)) for c, s in i.sentences.items()},
            )
            for i in materials.items
        ),
    )
    asked = Selection(
        items=12, covariates={"letters:critical": CovariateSection(tolerance=0.0), "zipf:critical": CovariateSection(tolerance=0.2)}
    )
    found = stimuli.select(marked, asked)
    assert found.certificate.verdict == "met"
    assert found.materials is not None
    letters = {c: [len(item.sentences[c].text.split()[1]) for item in found.materials.items] for c in "ab"}
    assert sum(letters["a"]) == sum(letters["b"])
    again = stimuli.select(marked, asked)
    assert again.materials == found.materials
    pd.testing.assert_frame_equal(again.matching, found.matching)


def test_a_conflict_is_minimal_and_every_part_of_it_is_needed() -> None:
    """x rises with the level, so no three of each are alike in x; y and the links have no part in it."""
    rows = [{"level": "uv"[n % 2], "x": n % 2 * 10 + n * 0.1, "y": n % 3, "phenomenon": "pq"[n // 2 % 2]} for n in range(12)]
    pool = made(rows)
    asked = Selection(
        items=6,
        between_items=("level",),
        covariates={"x": CovariateSection(tolerance=0.1), "y": CovariateSection(tolerance=1.0)},
        balance_on=("phenomenon",),
        keep_apart=(("i0", "i1"),),
    )
    found = stimuli.select(pool, asked)
    assert found.certificate.verdict == "infeasible"
    assert found.certificate.conflict == ("means of x within 0.1 s.d.",)
    assert found.certificate.minimal
    assert found.materials is None
    # Three that conflict: of p, whose items go together, one alone cannot be chosen.
    pool = made([{"phenomenon": "pq"[n // 3]} for n in range(6)])
    asked = Selection(items=2, balance_on=("phenomenon",), keep_together=(("i0", "i1"), ("i1", "i2")), keep_apart=(("i3", "i4"),))
    found = stimuli.select(pool, asked)
    assert found.certificate.verdict == "infeasible"
    holds = {
        "phenomenon spread evenly": lambda c: len({n // 3 for n in c}) == 2,
        "keep_together: i0, i1": lambda c: (0 in c) == (1 in c),
        "keep_together: i1, i2": lambda c: (1 in c) == (2 in c),
    }
    assert set(found.certificate.conflict) == set(holds)
    assert found.certificate.minimal
    every = list(itertools.combinations(range(6), 2))
    assert not [c for c in every if all(test(c) for test in holds.values())]
    for name in holds:
        assert [c for c in every if all(test(c) for other, test in holds.items() if other != name)]


def test_links_phenomena_and_shared_sentences_hold_together_with_means() -> None:
    random = np.random.default_rng(5)
    rows = [{"phenomenon": "pqr"[n % 3], "level": "uv"[n // 3 % 2], "x": round(random.normal(), 2)} for n in range(60)]
    rows[0]["text a"] = rows[9]["text a"] = "The same."
    asked = Selection(
        items=24,
        between_items=("level",),
        covariates={"x": CovariateSection(tolerance=0.05, bins=3)},
        balance_on=("phenomenon",),
        keep_together=(("i0", "i6", "i12"),),
        keep_apart=(("i1", "i7"), ("i2", "i8")),
    )
    found = stimuli.select(made(rows), asked)
    assert found.certificate.verdict == "met"
    assert found.materials is not None
    ids = {item.id for item in found.materials.items}
    assert Counter(item.extra["phenomenon"] for item in found.materials.items) == {"p": 8, "q": 8, "r": 8}
    assert len(ids & {"i0", "i6", "i12"}) in (0, 3)
    assert max(len(ids & {"i1", "i7"}), len(ids & {"i2", "i8"}), len(ids & {"i0", "i9"})) <= 1
    x = np.array([float(row["x"]) for row in rows])  # type: ignore[arg-type]
    edges = np.quantile(x, [1 / 3, 2 / 3])
    kept = [n for n in range(60) if f"i{n}" in ids]
    counts = [Counter(int(np.searchsorted(edges, x[n], side="right")) for n in kept if rows[n]["level"] == one) for one in "uv"]
    assert all(abs(counts[0][b] - counts[1][b]) <= 1 for b in range(3))


def test_every_exchange_is_valued_as_by_arithmetic() -> None:
    """For each two items: the squared excesses of the ranges of the means that would be, counted one by one."""
    random = np.random.default_rng(6)
    values, start = random.normal(size=(30, 3)), np.arange(30) % 6
    forms = [MatchCriterion(f"f{k}", values[:, [k]], 0.1 * k) for k in range(3)]
    search = _Search(Bins(start, 3, [(k, k + 3) for k in range(3)], [0, 0, 0], forms, ()), 1)
    sums = np.stack([values[start == k].mean(0) for k in range(3)])
    out, into = np.flatnonzero(start == 1), np.flatnonzero(start == 4)
    by_hand = np.zeros((len(out), len(into)))
    for (i, gone), (j, come) in itertools.product(enumerate(out), enumerate(into)):
        where = start.copy()
        where[gone], where[come] = 4, 1
        means = [[float(values[where == b, k].mean()) for b in range(3)] for k in range(3)]
        by_hand[i, j] = sum(max(0.0, max(m) - min(m) - 0.1 * k) ** 2 for k, m in enumerate(means))
    assert by_hand.max() > 0
    np.testing.assert_allclose(search._compute_swap_energy(sums, 1, out, into), by_hand, atol=1e-12)
    np.testing.assert_allclose(search._compute_exchange_energy(sums, 1, 4, out, into), by_hand, atol=1e-12)


# --- LexOPS's sets, on a made lexicon ---

LEXICON = [("short", 4, 3.0), ("short", 4, 3.3), ("short", 5, 4.0), ("short", 5, 6.0), ("long", 4, 3.1), ("long", 4, 3.5), ("long", 5, 4.2), ("long", 5, 5.0)]  # fmt: skip


def lexicon() -> Materials:
    return made([{"level": level, "length": length, "zipf_": frequency} for level, length, frequency in LEXICON])


@pytest.mark.parametrize(
    ("within", "sets"), [((-0.2, 0.2), 3), ((-0.1, 0.2), 3), ((0.0, 0.2), 3), ((0.0, 0.1), 1), ((-0.2, 0.0), 1)]
)
def test_sets_have_the_tolerances_of_lexops(within: tuple[float, float], sets: int) -> None:
    """The member less the null, both ends included; the length exactly the same; found by pairing them all by hand."""
    asked = {"length": CovariateSection(difference_range=(0, 0)), "zipf_": CovariateSection(difference_range=within)}
    for n in range(1, 5):
        found = stimuli.select(
            lexicon(), Selection(items=2 * n, match="sets", between_items=("level",), null="short", covariates=asked)
        )
        possible = n <= sets
        assert found.certificate.verdict == ("met" if possible else "infeasible"), n
        for _, one in found.sets.groupby("set"):
            null, member = (LEXICON[int(item[1:])] for item in one.sort_values("level", ascending=False)["item"])
            assert null[0] == "short"
            assert null[1] == member[1]
            assert within[0] - 1e-6 <= member[2] - null[2] <= within[1] + 1e-6


@pytest.mark.parametrize("null", ["first", "balanced", "inclusive"])
def test_sets_of_three_are_as_many_as_enumeration_finds(null: str) -> None:
    random = np.random.default_rng(2)
    rows = [{"level": "uvw"[n % 3], "x": round(random.normal(), 1)} for n in range(18)]
    x = [float(row["x"]) for row in rows]  # type: ignore[arg-type]
    of = {one: [n for n in range(18) if rows[n]["level"] == one] for one in "uvw"}

    def fits(one: int, other: int) -> bool:
        return -0.2 - 1e-9 <= x[other] - x[one] <= 0.1 + 1e-9

    def good(triple: tuple[int, ...], at: int) -> bool:
        if null == "inclusive":
            return all(fits(one, other) for one in triple for other in triple if one != other)
        return all(fits(triple[at], other) for n, other in enumerate(triple) if n != at)

    def most(left: int, used: frozenset[int]) -> bool:
        """Whether so many sets can be made, the nulls in turn."""
        if not left:
            return True
        at = (left - 1) % 3 if null == "balanced" else 0
        return any(good(t, at) and most(left - 1, used | {*t}) for t in itertools.product(*of.values()) if not used & {*t})

    asked = {"x": CovariateSection(difference_range=(-0.2, 0.1))}
    verdicts = []
    for n in range(1, 7):
        found = stimuli.select(
            made(rows), Selection(items=3 * n, match="sets", between_items=("level",), null=null, covariates=asked)
        )
        assert found.certificate.verdict == ("met" if most(n, frozenset()) else "infeasible")
        verdicts.append(found.certificate.verdict)
        assert len(found.sets) == (3 * n if found.materials else 0)
    assert set(verdicts) == {"met", "infeasible"}


# --- division ---


def test_lists_hold_every_item_once_alike_and_no_sentence_twice() -> None:
    random = np.random.default_rng(8)
    rows = [{"phenomenon": "pqrs"[n % 4], "x": round(random.normal(), 2), "y": round(random.normal(), 2)} for n in range(48)]
    for n in range(0, 12, 2):
        rows[n]["text a"] = rows[n + 1]["text a"] = f"Shared {n}."
    pool = made(rows)
    asked = Division(
        lists=3, covariates={"x": CovariateSection(), "y": CovariateSection()}, balance_on=("phenomenon",), spread_tolerance=0.2
    )
    dealt = stimuli.split(pool, asked)
    assert dealt.certificate.verdict == "met"
    assert sorted(item.id for one in dealt.lists for item in one.items) == sorted(item.id for item in pool.items)
    for one in dealt.lists:
        texts = [sentence.text for item in one.items for sentence in item.sentences.values()]
        assert len(texts) == len(set(texts))
        assert set(Counter(item.paradigm for item in one.items).values()) == {4}
    for name in "xy":
        whole = column(pool, name)
        means = [column(one, name).mean() for one in dealt.lists]
        assert max(means) - min(means) <= 0.05 * whole.std() + 1e-6
    assert stimuli.split(pool, asked).item_lists.equals(dealt.item_lists)


def test_a_pool_larger_than_a_list_is_used_in_turn() -> None:
    pool = made([{"x": n % 7} for n in range(20)])
    dealt = stimuli.split(pool, Division(lists=7, items=8, covariates={"x": CovariateSection(tolerance=0.1)}))
    assert dealt.certificate.verdict == "met"
    assert [len(one.items) for one in dealt.lists] == [8] * 7
    times = Counter(item.id for one in dealt.lists for item in one.items)
    assert len(times) == 20
    assert set(times.values()) == {2, 3}
    assert all(len({item.id for item in one.items}) == 8 for one in dealt.lists)


def test_lists_that_cannot_be_say_why() -> None:
    same = made([{"text a": "One."}, {"text a": "One."}, {"text a": "One."}, {}])
    dealt = stimuli.split(same, Division(lists=2))
    assert dealt.certificate.verdict == "infeasible"
    assert dealt.certificate.conflict == ("not in one list: i0, i1, i2",)
    with pytest.raises(study.DataError, match="4 items cannot be assigned to 2 lists of 9"):
        stimuli.split(same, Division(lists=2, items=9))


# --- the tables ---


def test_differences_and_equivalence_bounds_are_those_of_scipy() -> None:
    from scipy import stats

    pool = drawn(20, 4)
    settings = Selection(items=2, covariates={"x": CovariateSection()})
    x = column(pool, "x")
    groups = [CellGroup("a", [(n, 0) for n in range(8)]), CellGroup("b", [(n, 0) for n in range(8, 20)])]
    [row] = compute_matching(build_pool(pool, settings), settings, [("before", groups)]).to_dict("records")
    test = stats.ttest_ind(x[:8], x[8:], equal_var=False).confidence_interval(0.90)
    assert row["standardised_difference"] == pytest.approx((x[:8].mean() - x[8:].mean()) / x.std())
    assert [row["ci_low"] * x.std(), row["ci_high"] * x.std()] == pytest.approx([test.low, test.high])
    # At its bound the larger of the two one-sided tests is at .05.
    bound = row["equivalence_bound"] * x.std()
    upper = stats.ttest_ind(x[:8] - bound, x[8:], equal_var=False, alternative="less").pvalue
    lower = stats.ttest_ind(x[:8] + bound, x[8:], equal_var=False, alternative="greater").pvalue
    assert max(upper, lower) == pytest.approx(0.05)


def test_bigrams_are_counted_with_the_word_before(tmp_path: "pytest.TempPathFactory") -> None:
    corpus = tmp_path / "corpus.txt"  # type: ignore[operator]
    corpus.write_text("The dog barks.\nthe dog sleeps\nA cat sleeps\n")
    counts = stimuli.selection.covariates.count_bigrams(corpus)  # type: ignore[attr-defined]
    assert counts["the", "dog"] == 2
    assert ("barks", "the") not in counts
    item = Item("i", "p", {"a": Sentence("The dog sleeps.", (Region("critical", 4, 7),))})
    table = stimuli.compute_covariates(
        Materials((Paradigm("p", "p", {"f": ("a",)}),), (item,)), ["bigram:critical"], bigrams=counts
    )
    # 5 different bigrams, 6 in all; one is added to each count.
    assert table["value"].item() == pytest.approx(math.log10(3 / 11 * 1e9))


def scores(bits: dict[tuple[str, str], list[float | None]], words: int = 1) -> pd.DataFrame:
    rows = [
        ("m", "default", item, condition, n, "w", words, None, value, None, None, None, None)
        for (item, condition), values in bits.items()
        for n, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=study.TABLES["surprisal"].column_names)


def test_surprisal_of_a_region_and_of_what_precedes_it() -> None:
    item = Item("i0", "p", {"a": Sentence("The dog barks loudly now.", (Region("critical", 8, 20),))})
    materials = Materials((Paradigm("p", "p", {"f": ("a",)}),), (item,))
    names = ["surprisal:critical", "surprisal:up to critical", "surprisal:before critical", "surprisal:after critical"]
    table = stimuli.compute_covariates(materials, names, surprisal=scores({("i0", "a"): [1.0, 2.0, 4.0, 8.0, 16.0]}))
    assert table["value"].tolist() == [12.0, 3.0, 2.0, 16.0]
    part = scores({("i0", "a"): [None, 2.0, 4.0, 8.0, 16.0]})
    assert stimuli.compute_covariates(materials, names[:2], surprisal=part)["value"].isna().tolist() == [False, True]
    asked = Selection(items=1, covariates={"surprisal:up to critical": CovariateSection()})
    with pytest.raises(study.DataError, match=r"item i0 \(a, surprisal:up to critical\) has no value"):
        stimuli.select(materials, asked, surprisal=part)


def test_the_largest_expected_effect_is_that_of_enumeration() -> None:
    random = np.random.default_rng(1)
    rows = [{"x": round(random.normal(), 2)} for _ in range(10)]
    pool = made(rows, "ab")
    bits = {(item.id, c): [float(value) for value in random.gamma(2, 3, 3).round(2)] for item in pool.items for c in "ab"}
    section = stimuli.ExpectedEffectSection(ms_per_bit=4.0, source="10.1016/j.cognition.2013.02.013", region="sentence")
    asked = Selection(items=4, balance_on=(), maximise="power", effect=section, keep_apart=(("i1", "i2"),))
    found = stimuli.select(pool, asked, surprisal=scores(bits))
    ms = {item.id: 4 * (sum(bits[item.id, "b"]) - sum(bits[item.id, "a"])) for item in pool.items}
    sign = 1 if sum(ms.values()) > 0 else -1
    best = max(
        sign * sum(ms[f"i{n}"] for n in chosen) / 4 for chosen in itertools.combinations(range(10), 4) if not {1, 2} <= {*chosen}
    )
    assert found.certificate.verdict == "met"
    assert found.certificate.value == pytest.approx(best)
    assert found.certificate.bound == pytest.approx(best, abs=0.02)
    table = stimuli.compute_expected_effects(pool, section, scores(bits | {("i0", "b"): bits["i0", "a"]}))
    assert table.loc[~table["has_contrast"], "item"].tolist() == ["i0"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"items": 3, "between_items": ("level",)}, "3 items cannot be taken equally from 2 levels"),
        ({"items": 40, "between_items": ("level",)}, "there are 6 of l0, 6 of l1"),
        ({"items": 2, "covariates": {"z": CovariateSection()}}, "covariate 'z' is not known"),
        ({"items": 2, "covariates": {"letters:verb": CovariateSection()}}, "no sentence has the part 'verb'"),
        ({"items": 2, "covariates": {"surprisal:sentence": CovariateSection()}}, "needs the table surprisal"),
        ({"items": 2, "covariates": {"bigram:sentence": CovariateSection()}}, "needs bigrams"),
        ({"items": 2, "covariates": {"level": CovariateSection()}}, "level is 'l0', expected a number"),
        ({"items": 2, "keep_apart": (("i0", "i99"),)}, "keep_apart names item 'i99'"),
        ({"items": 2, "balance_on": ("author",)}, "item i0 has no 'author'"),
        ({"items": 2, "match": "sets", "between_items": ("level",), "null": "l7"}, "null is 'l7'"),
    ],
)
def test_what_cannot_be_chosen_by_says_so(asked: dict[str, object], message: str) -> None:
    with pytest.raises(study.DataError) as caught:
        stimuli.select(drawn(12, 1), Selection(**asked))  # type: ignore[arg-type]
    assert message in str(caught.value)
