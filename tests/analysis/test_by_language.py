"""Pairs of several languages: plain loops, R's nls and lm, and counts by hand."""

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import compute_frequency_curves, compute_language_tables, compute_score_difference_regressions
from gardenpath.study import TABLES, DataError, check

from ..conftest import run_here

LANGUAGES = [f"l{k:02}" for k in range(20)]


def made(levels: dict[str, float], n: int = 60) -> pd.DataFrame:
    """Pairs of twenty languages and two phenomena, a level of accuracy a model, better the later a language stands."""
    rng = np.random.default_rng(5)
    rows = []
    for model, level in levels.items():
        for place, language in enumerate(LANGUAGES):
            for k in range(n):
                gap = rng.normal(level + place / 10, 1.5)
                gap = 0.0 if rng.random() < 0.03 else gap
                phenomenon = ("SV-#", "SV-P")[k % 3 == 0]
                place_of = (phenomenon, f"{language}_{phenomenon}", f"{language}-{k}")
                rows.append((model, "p", *place_of, "lp", -9.0, -9.0 - gap, gap > 0, gap == 0, language))
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].column_names), "pairs")


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return made({"a": 0.1, "b": 0.5, "c": 0.15})


@pytest.fixture(scope="module")
def languages() -> pd.DataFrame:
    frequency = [10.0 ** (2 + k * 6 / 19) for k in range(20)]
    lists = ["Uralic" if k % 4 == 0 else "" for k in range(20)]
    return pd.DataFrame({"language": LANGUAGES, "frequency": frequency, "family": lists})


def exact(more: int, less: int) -> float:
    n, k = more + less, min(more, less)
    return float(min(Fraction(1), Fraction(2 * sum(math.comb(n, i) for i in range(k + 1)), 2**n)))


def test_each_language_counts_once_in_means_and_splits(pairs: pd.DataFrame, languages: pd.DataFrame) -> None:
    fewer = pairs.groupby(["model", "language"]).head(40).drop(pairs.index[:13])  # unequal numbers of pairs
    tables = compute_language_tables(fewer, languages)
    shares: dict[str, list[float]] = {}
    for row in fewer[fewer["model"] == "a"].itertuples():
        shares.setdefault(row.language, []).append(0.5 if row.tie else float(row.correct))
    mean = {language: sum(won) / len(won) for language, won in shares.items()}
    of_a = tables["language_means"].query("model == 'a' and phenomenon == 'all'").set_index("split")
    expected = {
        "all": LANGUAGES, "low": LANGUAGES[:12], "mid": LANGUAGES[12:18], "high": LANGUAGES[18:],
        "family: Uralic": LANGUAGES[::4],
    }  # fmt: skip
    assert of_a.index.tolist() == [*expected]
    for split, names in expected.items():
        assert of_a.loc[split, "n_languages"] == len(names)
        assert of_a.loc[split, "accuracy"] == pytest.approx(sum(mean[name] for name in names) / len(names))
    one = tables["language_accuracies"].query("model == 'b' and language == 'l03' and phenomenon == 'SV-P'").iloc[0]
    rows = fewer.query("model == 'b' and language == 'l03' and phenomenon == 'SV-P'")
    gaps = [0.0 if r.tie else r.score_grammatical - r.score_ungrammatical for r in rows.itertuples()]
    assert (one["n_pairs"], one["delta"]) == (len(gaps), pytest.approx(sum(gaps) / len(gaps)))


def test_the_best_of_a_language_is_told_from_the_second_by_mcnemar(pairs: pd.DataFrame) -> None:
    tables = compute_language_tables(pairs)
    won = {(r.model, r.item): None if r.tie else r.correct for r in pairs.itertuples()}
    share = pairs.assign(won=pairs["tie"] / 2 + (pairs["correct"] & ~pairs["tie"])).groupby(["language", "model"])["won"].mean()
    ps, counted = {}, dict.fromkeys("abc", 0)
    for row in tables["language_bests"].itertuples():
        order = sorted("abc", key=lambda model: -share[row.language, model])
        assert row.model == order[0]
        assert row.accuracy_second == pytest.approx(share[row.language, order[1]])
        both = [(won[row.model, f"{row.language}-{k}"], won[row.second_model, f"{row.language}-{k}"]) for k in range(60)]
        clear = [pair for pair in both if None not in pair]
        more, less = clear.count((True, False)), clear.count((False, True))
        ps[row.language] = exact(more, less) if more > less else 1.0
        counted[row.model] += ps[row.language] < 0.1
        assert (row.n_only, row.n_only_second, row.p) == (more, less, pytest.approx(ps[row.language]))
    assert sum(counted.values()) > 0
    means = tables["language_means"].query("phenomenon == 'all'").set_index("model")
    assert means["n_best"].to_dict() == counted
    first = tables["language_bests"].sort_values("p").iloc[0]
    assert first["p_holm"] == pytest.approx(min(1, 20 * min(ps.values())))
    wins = tables["language_wins"].set_index(["model_a", "model_b"]).loc[("a", "b")]
    better = {"a": 0, "b": 0}
    for language in LANGUAGES:
        both = [(won["a", f"{language}-{k}"], won["b", f"{language}-{k}"]) for k in range(60)]
        clear = [pair for pair in both if None not in pair]
        more, less = clear.count((True, False)), clear.count((False, True))
        if exact(more, less) < 0.05:
            better["a" if more > less else "b"] += 1
    assert (wins["n_a_better"], wins["n_b_better"]) == (better["a"], better["b"])
    assert better["b"] > better["a"]
    assert wins["n_b_better_holm"] <= wins["n_b_better"]


@pytest.mark.r
def test_the_frequency_curve_is_rs_nls(languages: pd.DataFrame, rscript: Callable[..., pd.DataFrame]) -> None:
    rng = np.random.default_rng(2)
    x = np.log10(languages["frequency"])
    accuracy = 0.5 + 0.42 / (1 + np.exp(-1.7 * (x - 4.2))) + rng.normal(0, 0.02, 20)
    table = pd.DataFrame({"language": LANGUAGES, "accuracy": accuracy}).assign(
        model="m", protocol="p", measure="lp", phenomenon="all"
    )
    found = compute_frequency_curves(table, languages)
    row = found["frequency_curves"].iloc[0]
    theirs = rscript(
        """
        m <- nls(accuracy ~ .5 + (u - .5) / (1 + exp(-k * (log10(frequency) - x0))), merge(rows, freq),
                 start = list(u = .92, k = 1.7, x0 = 4.2), control = nls.control(tol = 1e-6))
        result <- data.frame(t(coef(m)), rss = deviance(m))
        """,
        rows=table,
        freq=languages[["language", "frequency"]],
    ).iloc[0]
    assert row[["upper_asymptote", "slope", "midpoint"]].to_list() == pytest.approx(theirs[["u", "k", "x0"]].to_list(), rel=1e-4)
    left = found["frequency_residuals"]
    assert (left["residual"] ** 2).sum() == pytest.approx(theirs["rss"], rel=1e-6)
    assert left["residual"].to_list() == pytest.approx((left["accuracy"] - left["fitted"]).to_list())
    few = compute_frequency_curves(table.head(3), languages)["frequency_curves"].iloc[0]
    assert few["note"] == "No curve: 3 languages, under 4."


def regressed(pairs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of the pairs of model a, and their items' distances and attractors."""
    rng = np.random.default_rng(8)
    items = pairs.loc[pairs["model"] == "a", "item"]
    scores = pd.DataFrame([(i, c) for i in items for c in ("grammatical", "ungrammatical")], columns=["item", "condition"])
    scores = scores.assign(
        model="a", protocol="p", n_tokens=rng.integers(4, 12, len(scores)), lp=rng.normal(-30, 4, len(scores)),
        n_critical_tokens=rng.integers(1, 4, len(scores)),
    )  # fmt: skip
    count = len(items)
    covariates = {"distance": rng.integers(1, 9, count), "congruent": rng.integers(0, 2, count), "incongruent": 0}
    return scores, pd.DataFrame({"item": items, **covariates})


@pytest.mark.r
def test_the_regression_is_rs_lm_with_a_mixed_model_beside(
    pairs: pd.DataFrame, languages: pd.DataFrame, rscript: Callable[..., pd.DataFrame]
) -> None:
    ours = pairs[pairs["model"] == "a"]
    scores, items = regressed(pairs)
    table = compute_score_difference_regressions(ours, scores, languages, items)
    assert "incongruent" not in set(table["term"])  # it is 0 everywhere
    theirs = rscript(
        """
        z <- function(x) (x - mean(x)) / sqrt(mean((x - mean(x))^2))
        good <- scores[scores$condition == "grammatical", ]; bad <- scores[scores$condition == "ungrammatical", ]
        d <- merge(merge(pairs, good, by = "item"), bad[, c("item", "n_critical_tokens")], by = "item", suffixes = c("", ".b"))
        d <- merge(merge(d, items, by = "item"), languages, by = "language")
        d$delta <- ifelse(d$tie == "True", 0, d$score_grammatical - d$score_ungrammatical)
        m <- lm(delta ~ 0 + phenomenon + z(distance) + z(exp(-lp / n_tokens)) + z(n_tokens) + z(n_critical_tokens - n_critical_tokens.b)
                + congruent + z(log10(frequency)), d)
        s <- coef(summary(m))
        result <- data.frame(estimate = s[, 1], se = s[, 2], p = s[, 4], low = confint(m)[, 1])
        """,
        pairs=ours[["item", "language", "phenomenon", "score_grammatical", "score_ungrammatical", "tie"]],
        scores=scores,
        items=items,
        languages=languages[["language", "frequency"]],
    )
    ols = table[table["method"] == "ols"]
    predictors = ["distance", "perplexity", "length", "subwords", "congruent", "frequency"]
    expected = [*sorted(set(ours["phenomenon"])), *predictors]
    ols = ols.set_index("term").loc[expected]
    for name, other in (("estimate", "estimate"), ("se", "se"), ("p", "p"), ("ci_low", "low")):
        assert ols[name].to_list() == pytest.approx(theirs[other].to_list(), rel=1e-6)
    mixed = table[table["method"] == "mixed"].set_index("term")
    assert {*mixed.index} == {*ols.index}
    assert mixed["formula"].iloc[0].endswith("+ frequency + (1|language) + (1|paradigm)")
    assert mixed.loc["frequency", "se"] > ols.loc["frequency", "se"]  # twenty languages, not 1,200 pairs, tell of frequency
    assert mixed.loc["frequency", "estimate"] > 0


def test_the_mixed_model_finds_the_variance_between_languages() -> None:
    """Languages differ by chance alone: least squares find a frequency effect far too often, the mixed model does not."""
    rng = np.random.default_rng(11)
    hits = {"ols": 0, "mixed": 0}
    languages = pd.DataFrame({"language": LANGUAGES, "frequency": [10.0**k for k in range(20)]})
    base = made({"a": 0.0}, n=6)
    scores, _ = regressed(base)
    for _ in range(12):
        own = dict(zip(LANGUAGES, rng.normal(0, 2, 20), strict=True))
        gap = base["language"].map(own).astype("float64") + rng.normal(0, 1, len(base))
        drawn = base.assign(score_ungrammatical=base["score_grammatical"] - gap, correct=gap > 0, tie=False)
        table = compute_score_difference_regressions(drawn, scores, languages).query("term == 'frequency'").set_index("method")
        for method in hits:
            hits[method] += table.loc[method, "p"] < 0.05
    assert hits["ols"] >= 5
    assert hits["mixed"] <= 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"language": ["l00"]}, "languages have the columns language; expected language, and frequency or lists"),
        ({"language": ["l00"] * 2, "frequency": ["1", "2"]}, "language 'l00' has several rows in the languages"),
        ({"language": ["l00"], "frequency": ["1"]}, "language 'l01' of the pairs is not among the languages; add a row"),
        ({"language": LANGUAGES, "frequency": ["0"] * 20}, "language 'l00': frequency '0'; expected a number above 0"),
    ],
)
def test_languages_that_do_not_fit_are_named(pairs: pd.DataFrame, changes: dict[str, list[str]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        compute_language_tables(pairs, pd.DataFrame(changes))


def test_pairs_of_an_earlier_run_without_languages_are_refused(pairs: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="3600 of 3600 rows have no language; evaluate them again"):
        compute_language_tables(pairs.assign(language=None))


def test_evaluate_writes_the_tables_of_several_languages_and_of_two_groups(tmp_path: Path) -> None:
    lines = ["paradigm,phenomenon,item,language,condition,sentence,distance,source"]
    for place, language in enumerate(("nl", "de", "fy", "af")):
        for k, (good, bad) in enumerate((("slaapt", "slapen"), ("loopt", "lopen"), ("eet", "eten"))):
            for condition, verb in (("grammatical", good), ("ungrammatical", bad)):
                cells = (f"p-{language}", "agreement", f"{language}-{k}", language, condition)
                lines.append(",".join([*cells, f"de kat {verb} [{verb}] .", str(1 + (k + place) % 3), ("hand", "drafted")[k == 1]]))
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "corpus").write_text("de kat slaapt .\nde kat eet .\nde katten lopen .\n")
    (tmp_path / "languages.csv").write_text("language,frequency,family\nnl,1000,west\nde,90000,west\nfy,10,\naf,50,\n")
    model = "--model ngram:corpus:2"
    assert run_here(f"gardenpath score items.csv {model} -o scores", tmp_path).code == 0
    done = run_here(f"gardenpath evaluate items.csv {model} --scores scores --languages languages.csv -o out", tmp_path)
    assert done.code == 0, done.said
    means = pd.read_csv(tmp_path / "out" / "language_means.csv")
    assert means.loc[means["phenomenon"] == "all", "split"].tolist() == ["all", "low", "mid", "high", "family: west"]
    curve = pd.read_csv(tmp_path / "out" / "frequency_curves.csv").iloc[0]
    assert curve["note"] == "No curve: accuracy or frequency is the same in all languages, or no optimum was found."
    done = run_here(f"gardenpath evaluate items.csv {model} --compare-groups source -o halves", tmp_path)
    assert done.code == 0, done.said
    tests = pd.read_csv(tmp_path / "halves" / "proportion_tests.csv").set_index("test_unit")
    assert tests["n_a"].to_dict() == {"pairs": 4, "paradigms": 4}
    assert pd.read_csv(tmp_path / "halves" / "group_differences.csv")["n_b"].tolist() == [2] * 4
    regressions = pd.read_csv(tmp_path / "out" / "score_difference_regressions.csv")
    assert {"agreement", "distance", "frequency"} <= set(regressions["term"])
