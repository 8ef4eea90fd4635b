"""Methods of judging, their votes and tests, against enumeration, plain loops and R."""

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import (
    compute_ensembles,
    compute_length_bias,
    compute_method_accuracies,
    compute_method_comparisons,
    compute_method_differences,
    compute_method_groups,
    compute_method_length_bias,
    compute_response_shares,
)
from gardenpath.analysis.comparing.all_comparisons import ComparisonData, compute_method_tables
from gardenpath.study import TABLES, DataError, check

Mixed = dict[tuple[tuple[str, str], ...], dict[str, float]]
MIXED = {"yes_no": 3, "template_lp": 2}
METHODS = {"lp": 1, "template_lp": 5, "yes_no": 5, "ab": 5}


def made(seed: int = 1, paradigms: int = 12, pairs: int = 10, model: str = "m", ties: float = 0.05) -> pd.DataFrame:
    """Return judgments of a model that is right more often where a pair is easy, and under better templates."""
    rng = np.random.default_rng(seed)
    easy = rng.normal(0, 1, (paradigms, pairs))
    tokens = rng.integers(4, 9, (paradigms, pairs, 2))
    rows = []
    for (place, (method, templates)), t in ((m, t) for m in enumerate(METHODS.items()) for t in range(m[1][1])):
        for p, k in itertools.product(range(paradigms), range(pairs)):
            gap = easy[p, k] + 0.3 * place + 0.1 * t + rng.normal() - 0.2 * (tokens[p, k, 0] - tokens[p, k, 1])
            gap = 0.0 if rng.random() < ties else gap
            order = ("grammatical", "ungrammatical")[int(rng.integers(2))] if method == "ab" else None
            answer = None if order is None else "AB"[int((gap > 0) != (order == "grammatical"))]
            rows.append((
                model, method, str(t + 1) if templates > 1 else "none", f"ph{p % 3}", f"p{p:02}", f"i{p}-{k}", "en", gap, 0.0,
                *tokens[p, k], answer, gap > 0, gap == 0, order, 0.9 if order else None,
            ))  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["judgments"].column_names), "judgments")


@pytest.fixture(scope="module")
def judgments() -> pd.DataFrame:
    """Judgments of one model by four methods."""
    return made()


@pytest.fixture(scope="module")
def mixed(judgments: pd.DataFrame) -> Mixed:
    """What each of the hundred mixes of three and two templates wins of every item, by plain loops."""
    return by_hand(judgments, MIXED)


def votes(table: pd.DataFrame, method: str, template: str) -> dict[str, float]:
    """Return what each item wins, by hand."""
    rows = table[(table["method"] == method) & (table["template"] == template)]
    return {row.item: 0.5 if row.tie else float(row.correct) for row in rows.itertuples()}


def majority(members: list[dict[str, float]], item: str) -> float:
    total = sum(member[item] for member in members)
    return 1.0 if total > len(members) / 2 else 0.5 if total == len(members) / 2 else 0.0


def by_hand(table: pd.DataFrame, members: dict[str, int]) -> Mixed:
    """Return what every mix wins of every item, by plain loops."""
    templates = {m: [*table.loc[table["method"] == m, "template"].unique()] for m in members}
    parts = [[[(m, t) for t in some] for some in itertools.combinations(templates[m], k)] for m, k in members.items()]
    won = {}
    for mix in itertools.product(*parts):
        chosen = [name for part in mix for name in part]
        each = [votes(table, *name) for name in chosen]
        won[tuple(chosen)] = {item: majority(each, item) for item in each[0]}
    return won


def test_the_mean_over_every_mix_is_that_of_a_plain_loop(judgments: pd.DataFrame, mixed: Mixed) -> None:
    table = compute_ensembles(judgments).set_index(["ensemble", "selection"])
    for members, mixes in ((MIXED, 100), ({"template_lp": 5}, 1), ({"yes_no": 1}, 5)):
        every = mixed if members == MIXED else by_hand(judgments, members)
        shares = [np.mean([*won.values()]) for won in every.values()]
        row = table.loc[(" + ".join(f"{k} {m}" for m, k in members.items()), "all")]
        assert row["n_mixes"] == mixes == len(shares)
        assert row["accuracy"] == pytest.approx(np.mean(shares), abs=1e-12)
        if mixes > 1:
            assert row[["sd", "min_accuracy", "max_accuracy"]].to_list() == pytest.approx(
                [np.std(shares), min(shares), max(shares)], abs=1e-12
            )
    names = {name for name, _ in table.index}
    assert names >= {"5 yes_no", "5 template_lp", "3 yes_no + 2 template_lp", "2 yes_no + 3 template_lp", "1 ab"}


def test_drawn_mixes_are_some_of_all(judgments: pd.DataFrame, mixed: Mixed) -> None:
    table = compute_ensembles(judgments, [MIXED], draws=10, seed=3).set_index(["ensemble", "selection"])
    row = table.loc[("3 yes_no + 2 template_lp", "drawn")]
    shares = [np.mean([*won.values()]) for won in mixed.values()]
    assert row["n_mixes"] == 10
    assert min(abs(row["min_accuracy"] - share) for share in shares) < 1e-12
    every = compute_ensembles(judgments, [MIXED], draws=100).set_index(["ensemble", "selection"]).loc["3 yes_no + 2 template_lp"]
    assert every.loc["drawn", "accuracy"] == pytest.approx(every.loc["all", "accuracy"])


def test_the_oracle_is_marked_and_a_choice_on_other_paradigms_is_a_plain_loop(judgments: pd.DataFrame, mixed: Mixed) -> None:
    table = compute_ensembles(judgments, [MIXED], select=["paradigms", "pairs"]).set_index(["ensemble", "selection"])
    rows = table.loc["3 yes_no + 2 template_lp"]
    paradigm = dict(judgments[["item", "paradigm"]].drop_duplicates().to_numpy())
    means = {name: np.mean([*won.values()]) for name, won in mixed.items()}
    assert rows.loc["test set", "accuracy"] == max(means.values()) == rows.loc["all", "max_accuracy"]
    assert "on the pairs it is tested on" in rows.loc["test set", "note"]
    best = max(means, key=lambda name: means[name])
    assert rows.loc["test set", "members"] == "; ".join(
        f"{method} {', '.join(t for m, t in best if m == method)}" for method in MIXED
    )
    right = 0.0
    for left_out in {*paradigm.values()}:
        inside = {name: sum(w for i, w in won.items() if paradigm[i] == left_out) for name, won in mixed.items()}
        outside = {name: sum(w for i, w in won.items() if paradigm[i] != left_out) for name, won in mixed.items()}
        right += inside[max(outside, key=lambda name: outside[name])]
    assert rows.loc["held-out paradigms", "accuracy"] == pytest.approx(right / len(paradigm))
    assert rows.loc["held-out pairs", "accuracy"] <= rows.loc["test set", "accuracy"]


def test_a_choice_among_equals_on_held_out_pairs_gains_nothing() -> None:
    rng = np.random.default_rng(5)  # templates differ by chance alone
    rows = list(itertools.product((f"m{k}" for k in range(60)), map(str, range(6)), range(100)))
    table = pd.DataFrame(rows, columns=["model", "template", "item"]).assign(method="yes_no", phenomenon="ph", tie=False)
    table = table.assign(paradigm="p" + (table["item"] % 4).astype(str), correct=rng.random(len(table)) < 0.5)
    accuracy = compute_ensembles(table, [], select=["pairs"]).groupby("selection")["accuracy"].mean()
    assert accuracy["test set"] - accuracy["all"] > 0.04  # an oracle finds a better one where there is none
    assert abs(accuracy["held-out pairs"] - accuracy["all"]) < 0.02


def test_the_bootstrap_is_resampling_and_its_p_the_share_at_or_below_nought(judgments: pd.DataFrame) -> None:
    table = compute_method_comparisons(judgments, draws=4000).set_index("method")
    base = votes(judgments, "lp", "none")
    items = [*base]
    rng = np.random.default_rng(8)
    for method in ("template_lp", "yes_no"):
        each = [votes(judgments, method, str(t)) for t in range(1, 6)]
        gains = np.array([np.mean([one[item] for one in each]) - base[item] for item in items])
        means = np.array([gains[rng.integers(0, len(gains), len(gains))].mean() for _ in range(4000)])
        row = table.loc[method]
        assert row["difference"] == pytest.approx(gains.mean(), abs=1e-9)
        assert row[["ci_low", "ci_high"]].to_list() == pytest.approx([*np.quantile(means, [0.025, 0.975])], abs=0.006)
        assert row["p"] == pytest.approx(max((means <= 1e-12).mean(), 1 / 4001), abs=0.02)
        by_paradigm = pd.Series(gains, [item.partition("-")[0] for item in items]).groupby(level=0, sort=False).mean()
        wide = [by_paradigm.to_numpy()[rng.integers(0, 12, 12)].mean() for _ in range(4000)]
        assert row["paradigm_difference"] == pytest.approx(by_paradigm.mean(), abs=1e-9)
        assert row[["paradigm_ci_low", "paradigm_ci_high"]].to_list() == pytest.approx(
            [*np.quantile(wide, [0.025, 0.975])], abs=0.01
        )


def test_equal_differences_are_drawn_as_one_so_that_at_most_eleven_are_distinct() -> None:
    rows = made(2, ties=0.0)
    own = rows[rows["method"].isin(["lp", "yes_no"])]
    wide = own.assign(won=own["correct"].astype(float)).pivot_table("won", "item", ["method"])
    assert (wide["yes_no"] - wide["lp"]).round(9).nunique() <= 11
    assert compute_method_comparisons(own).loc[0, "n_pairs"] == len(wide)


@pytest.mark.r
def test_p_adjusted_over_methods_is_rs(judgments: pd.DataFrame, rscript: Callable[..., pd.DataFrame]) -> None:
    table = compute_method_comparisons(judgments)
    theirs = rscript('result <- data.frame(holm = ave(tests$p, tests$kind, FUN = function(p) p.adjust(p, "holm")))', tests=table)
    assert {*table["kind"]} == {"method", "ensemble"}
    assert table["p_holm"].to_list() == pytest.approx(theirs["holm"].to_list())


def test_no_resample_at_nought_is_a_bound() -> None:
    rows = made(3)
    rows.loc[rows["method"] == "lp", ["correct", "tie"]] = False
    table = compute_method_comparisons(rows)
    assert {*table["n_reversed"]} == {0}
    assert table["p"].to_list() == [1 / 1001] * len(table)
    few = compute_method_comparisons(made(3, paradigms=4)).iloc[0]
    assert few["note"] == "No test over paradigms: 4, under 10."
    fewer = compute_method_comparisons(made(3, paradigms=2, pairs=4)).iloc[0]
    assert (fewer["note"], pd.isna(fewer["p"])) == ("No test: 8 pairs, under 10.", True)
    assert few[["paradigm_p", "paradigm_ci_low", "paradigm_p_holm"]].isna().all()


def test_accuracy_by_method_template_and_phenomenon_is_counted_by_hand(judgments: pd.DataFrame) -> None:
    table = compute_method_accuracies(judgments, {"all": 0.9}).set_index(["method", "template", "phenomenon"])
    shares = [np.mean([*votes(judgments, "yes_no", str(t)).values()]) for t in range(1, 6)]
    assert [table.loc[("yes_no", str(t), "all"), "accuracy"] for t in range(1, 6)] == pytest.approx(shares)
    row = table.loc[("yes_no", "mean", "all")]
    assert row["accuracy"] == pytest.approx(np.mean(shares))
    assert row["sd"] == pytest.approx(np.std(shares, ddof=1))
    assert row[["n_templates", "n_paradigms", "n_pairs", "human_accuracy"]].to_list() == [5, 12, 120, 0.9]
    assert ("lp", "mean", "all") not in table.index
    own = judgments[(judgments["phenomenon"] == "ph1") & (judgments["method"] == "lp")]
    row = table.loc[("lp", "none", "ph1")]
    assert (row["n_pairs"], row["n_ties"]) == (len(own), own["tie"].sum())
    assert row["accuracy"] == pytest.approx((own["correct"] + own["tie"] / 2).mean())


def test_an_answer_that_cannot_be_read_is_lost_and_counted(judgments: pd.DataFrame) -> None:
    rows = judgments[judgments["method"] == "lp"].assign(method="choose_generated", template="1", answer="Hm.")
    rows = rows.assign(score_grammatical=np.nan, correct=False, tie=False)
    row = compute_method_accuracies(rows).iloc[0]
    assert (row["n_unread"], row["accuracy"]) == (len(rows), 0.0)


def test_shares_of_answers_are_counted_by_hand(judgments: pd.DataFrame) -> None:
    table = compute_response_shares(judgments).set_index(["template", "response"])
    own = judgments[(judgments["method"] == "ab") & (judgments["template"] == "2")]
    counts = Counter(own["response"])
    assert table.loc[("2", "A"), ["n_responses", "share"]].to_list() == [counts["A"], pytest.approx(counts["A"] / len(own))]
    share = [float((judgments.query(f"method == 'ab' and template == '{t}'")["response"] == "A").mean()) for t in range(1, 6)]
    assert table.loc[("mean", "A"), ["share", "sd"]].to_list() == pytest.approx([np.mean(share), np.std(share, ddof=1)])
    both = pd.DataFrame(
        {"model": "m", "method": "yes_no", "template": ["1", "1", "2"], "response": ["Yes | No", "Yes | Yes", "No | No"]}
    )
    shares = compute_response_shares(both).set_index(["template", "response"])["share"]
    assert shares.to_dict() == {
        ("1", "Yes"): 0.75, ("1", "No"): 0.25, ("2", "Yes"): 0.0, ("2", "No"): 1.0, ("mean", "Yes"): 0.375, ("mean", "No"): 0.625,
    }  # fmt: skip


def test_length_bias_is_scipys_and_that_of_the_pairs(judgments: pd.DataFrame) -> None:
    both = pd.concat([judgments, made(4, model="n")])
    table = compute_method_length_bias(both).set_index(["model", "method", "template"])
    own = judgments[(judgments["method"] == "yes_no") & (judgments["template"] == "3") & ~judgments["tie"]]
    longer = own["tokens_grammatical"] - own["tokens_ungrammatical"]
    expected = stats.pointbiserialr(own["correct"], longer)
    row = table.loc[("m", "yes_no", "3")]
    assert row[["r", "p"]].to_list() == pytest.approx([expected.statistic, expected.pvalue])
    assert table.loc[("m", "yes_no", "mean"), "r"] == pytest.approx(
        np.mean([table.loc[("m", "yes_no", str(t)), "r"] for t in range(1, 6)])
    )
    for method, template in (("yes_no", "mean"), ("lp", "none")):
        of_models = [table.loc[(model, method, template), "r"] for model in "mn"]
        assert table.loc[("mean", method, "mean"), "r"] == pytest.approx(np.mean(of_models))
    lp = judgments[judgments["method"] == "lp"].assign(protocol="p", measure="lp")
    scores = lp.melt(["item"], ["tokens_grammatical", "tokens_ungrammatical"], "condition", "n_tokens").assign(
        model="m", protocol="p", lp=-1.0
    )
    scores["condition"] = scores["condition"].str.removeprefix("tokens_")
    theirs = compute_length_bias(lp[[name for name in TABLES["pairs"].column_names if name in lp]], scores).iloc[0]
    assert table.loc[("m", "lp", "none"), "r"] == pytest.approx(theirs["r"])


def test_where_nothing_can_correlate_a_note_says_so(judgments: pd.DataFrame) -> None:
    won = judgments[judgments["method"].isin(["lp", "yes_no"])].assign(correct=True, tie=False)
    table = compute_method_length_bias(won).set_index(["method", "template"])
    assert table["r"].isna().all()
    assert table.loc[("lp", "none"), "note"] == "No correlation: all pairs are won, or all are lost."
    assert table.loc[("yes_no", "mean"), "note"] == "No correlation under any template."


def test_groups_are_means_over_templates(judgments: pd.DataFrame) -> None:
    names = sorted(judgments["paradigm"].unique())
    groups = pd.DataFrame({"paradigm": names, "factor": "word_shuffling", "level": ["shuffled"] * 4 + ["other"] * 8})
    table = compute_method_groups(judgments, groups).set_index(["method", "level"])
    own = judgments[(judgments["method"] == "yes_no") & judgments["paradigm"].isin(names[:4])]
    row = table.loc[("yes_no", "shuffled")]
    assert (row["n_paradigms"], row["n_pairs"]) == (4, 40)
    assert row["accuracy"] == pytest.approx((own["correct"] + own["tie"] / 2).mean())
    other = table.loc[("yes_no", "other")]
    assert other["difference"] == pytest.approx(other["mean_accuracy"] - row["mean_accuracy"])
    with pytest.raises(DataError, match="which the pairs do not have"):
        compute_method_groups(judgments, groups.assign(paradigm=[*names[:-1], "p99"]))


def test_differences_by_length_are_counted_by_hand(judgments: pd.DataFrame) -> None:
    table = compute_method_differences(judgments)
    own = judgments.assign(won=judgments["correct"] + judgments["tie"] / 2)
    accuracy = own.groupby(["method", "paradigm"])["won"].mean()
    tokens = (own["tokens_grammatical"] - own["tokens_ungrammatical"]).groupby(own["paradigm"]).mean()
    difference = accuracy["yes_no"] - accuracy["template_lp"]
    each = table[table["paradigm"] != "mean"].set_index("paradigm")
    assert each["difference"].to_list() == pytest.approx(difference[each.index].to_list())
    assert each["token_difference"].to_list() == pytest.approx(tokens[each.index].to_list())
    overall = table[table["paradigm"] == "mean"].iloc[0]
    assert overall["r"] == pytest.approx(stats.pearsonr(tokens, difference).statistic)
    with pytest.raises(DataError, match="no pair was judged by a model under both 'comparative' and 'lp'"):
        compute_method_differences(judgments, "comparative", "lp")


def test_what_cannot_be_voted_on_is_refused(judgments: pd.DataFrame) -> None:
    with pytest.raises(
        DataError, match=r"6 yes_no: m was judged under 5 templates of yes_no; expected at most its templates, 1 of lp"
    ):
        compute_ensembles(judgments, [{"yes_no": 6}])
    with pytest.raises(DataError, match="0 templates of rate"):
        compute_ensembles(judgments, [{"rate": 1}])
    with pytest.raises(DataError, match="no rows"):
        compute_ensembles(judgments.iloc[:0])
    with pytest.raises(ValueError, match="select 'pair'; expected pairs or paradigms"):
        compute_ensembles(judgments, select=["pair"])
    wide = pd.concat([judgments[judgments["method"] == "lp"].assign(method="yes_no", template=str(t)) for t in range(18)])
    with pytest.raises(DataError, match="has 48,620 mixes; expected 20,000 at most"):
        compute_ensembles(wide, [{"yes_no": 9}])


def test_all_tables_of_judgments_are_there_where_they_can_be(judgments: pd.DataFrame) -> None:
    groups = pd.DataFrame({"paradigm": ["p00", "p01"], "factor": "f", "level": ["a", "b"]})
    tables = compute_method_tables(judgments, ComparisonData(groups=[groups]))
    assert {*tables} == {
        "method_accuracies", "method_length_bias", "response_shares", "ensembles", "method_comparisons", "method_differences",
        "method_groups",
    }  # fmt: skip
    alone = compute_method_tables(judgments[judgments["method"] == "lp"], ComparisonData())
    assert {*alone} == {"method_accuracies", "method_length_bias"}


def test_members_of_equal_length_throughout_have_no_leaning() -> None:
    rows = [("m", "lp", "none", k < 2, 4, 4) for k in range(4)]
    names = ["model", "method", "template", "correct", "tokens_grammatical", "tokens_ungrammatical"]
    table = compute_method_length_bias(pd.DataFrame(rows, columns=names).assign(tie=False))
    assert table["r"].isna().all()
    assert table["n_pairs"].tolist() == [4]
