"""Language models asked to judge: accuracy by method, votes, tests against log probability, leanings to length and side."""

import pandas as pd

from gardenpath.study.judgment_methods import JUDGMENT_METHODS

from ...comparing.ensembles import ALL_COMBINATIONS, HELD_OUT_SELECTIONS, ORACLE_SELECTION
from ...comparing.ensembles import DRAWN_COMBINATIONS as DRAWN_MIXES
from ...comparing.method_accuracy import METHOD_KEY
from ...comparing.pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS
from ...intervals import ALPHA
from ...row_dicts import list_rows
from .labels import label, listed
from .minimal_pairs import DRAWN, FIXED
from .numbers import Row, correlated, correlation, counted, interval, minus, p_value, percent, signed

LABELS = {HELD_OUT_SELECTIONS["pairs"]: "chosen on other pairs", HELD_OUT_SELECTIONS["paradigms"]: "chosen on other paradigms"}


def method_name(name: str) -> str:
    """Return a method of judging, or a vote, in words.

    >>> method_name("yes_no"), method_name("3 yes_no + 2 template_lp")
    ('Yes/No probability', '3 Yes/No probability + 2 in-template LP')
    """
    if name in JUDGMENT_METHODS:
        return JUDGMENT_METHODS[name].label
    votes = (part.partition(" ") for part in name.split(" + "))
    return " + ".join(
        f"{count} {JUDGMENT_METHODS[method].label if method in JUDGMENT_METHODS else method}".strip() for count, _, method in votes
    )


def whole_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return, of a table with templates, the means over templates, and the rows of methods with one template or none."""
    single = table.groupby(METHOD_KEY)["template"].transform("nunique") == 1
    return table[single | (table["template"] == MEAN_OVER_PARADIGMS)]


def method_accuracies(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each model: the share of pairs won by each method, best first, and people's."""
    sentences = []
    overall = whole_rows(table[table["phenomenon"] == ALL_PHENOMENA])
    for model, rows in overall.groupby("model", sort=False):
        ranked = list_rows(rows.sort_values("accuracy", ascending=False, kind="stable"))
        first = ranked[0]
        parts = [f"{method_name(row['method'])} {percent(row['accuracy'])}{_spread(row)}" for row in ranked]
        people = "" if pd.isna(first["human_accuracy"]) else f"; people {percent(first['human_accuracy'])}"
        unread = {method_name(row["method"]): row["n_unread"] for row in ranked if row["n_unread"]}
        lost = "".join(
            f" {name}: {counted(count, 'answer')} could not be read and counted as wrong." for name, count in unread.items()
        )
        sentences.append(f"{model}, share of {counted(first['n_pairs'], 'pair')} won: {', '.join(parts)}{people}.{lost}")
    return sentences


def _spread(row: Row) -> str:
    return (
        "" if pd.isna(row["sd"]) else f" (s.d. {signed(100 * row['sd'], 1)} points over {counted(row['n_templates'], 'template')})"
    )


def ensembles(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each vote of each model: its mean over all mixes, and the best mix, chosen where."""
    sentences = []
    for (model, name), rows in table.dropna(subset="accuracy").groupby(["model", "ensemble"], sort=False):
        by = {row["selection"]: row for row in list_rows(rows)}
        every = by[ALL_COMBINATIONS]
        parts = [f"right in {percent(every['accuracy'])} of {counted(every['n_pairs'], 'pair')}"]
        if every["n_mixes"] > 1:
            of = counted(every["n_mixes"], "template") if every["n_votes"] == 1 else counted(every["n_mixes"], "mix", "mixes")
            parts[0] += f", mean over all {of}, {percent(every['min_accuracy'])} to {percent(every['max_accuracy'])}"
            if DRAWN_MIXES in by:
                drawn = by[DRAWN_MIXES]
                parts.append(f"mean of {drawn['n_mixes']} drawn {percent(drawn['accuracy'])}")
            parts.append(f"the best of them {percent(by[ORACLE_SELECTION]['accuracy'])}, an oracle: it is chosen on the test set")
            parts += [f"the best {LABELS[key]} {percent(by[key]['accuracy'])}" for key in LABELS if key in by]
        sentences.append(f"{model}, {vote(str(name))}: {'; '.join(parts)}.")
    return sentences


def vote(name: str) -> str:
    """Return how a vote is called in a sentence.

    >>> vote("1 yes_no"), vote("5 yes_no")
    ('one template of Yes/No probability', 'majority of 5 Yes/No probability')
    """
    return (
        f"one template of {method_name(name[2:])}"
        if name.startswith("1 ") and "+" not in name
        else f"majority of {method_name(name)}"
    )


def method_comparisons(table: pd.DataFrame) -> list[str]:
    """Return, for every method and vote, by how many points it is better than the one it is held against, and how surely."""
    sentences = []
    for row in list_rows(table):
        name = method_name(row["method"]) if row["kind"] == "method" else vote(row["method"])
        pair = f"{row['model']}, {name} against {method_name(row['reference_method'])}"
        if pd.isna(row["p"]):
            sentences.append(f"{pair}: {row['note']}")
            continue
        fixed = f"{_points(row, '')} ({FIXED} only)"
        drawn = (
            f" {row['note']}" if pd.isna(row["paradigm_p"]) else f" Over {row['n_paradigms']} {DRAWN}: {_points(row, 'paradigm_')}."
        )
        sentences.append(f"{pair}: {fixed}.{drawn}")
    return sentences


def _points(row: Row, of: str) -> str:
    difference, low, high = (100 * row[of + name] for name in ("difference", "ci_low", "ci_high"))
    adjusted = p_value(row[of + "p_holm"])
    if row[f"n_{of}reversed"] == 0:
        adjusted = adjusted.replace("=", "≤")  # a bound times the number of tests is a bound
    return (
        f"{minus(f'{difference:+.1f}')} points, {interval(low, high, '.1f')}, one-sided p {resampled_p(row, of)}, p_Holm {adjusted}"
    )


def resampled_p(row: Row, of: str = "") -> str:
    """Return a p from resamples with its relation; where none reached a difference of 0, as the bound that it is.

    >>> row = {"n_reversed": 0, "n_resamples": 1000, "p": 1 / 1001}
    >>> resampled_p(row), resampled_p(row | {"n_reversed": 41, "p": 0.041})
    ('≤ 1/1001', '= .041')
    """
    return f"≤ 1/{row['n_resamples'] + 1}" if row[f"n_{of}reversed"] == 0 else p_value(row[of + "p"])


def length_bias(table: pd.DataFrame) -> list[str]:
    """Return, for each model and method, how being right goes along with the difference in tokens; over models where several."""
    sentences = []
    for model, rows in whole_rows(table).dropna(subset="r").groupby("model", sort=False):
        parts = [
            f"{method_name(row['method'])} r_pb = {correlation(row['r'])}"
            + ("" if pd.isna(row["p"]) else f" (p {p_value(row['p'])})")
            for row in list_rows(rows)
        ]
        whose = "mean over models" if model == MEAN_OVER_PARADIGMS else str(model)
        sentences.append(f"Being right and the grammatical member's tokens less the other's, {whose}: {', '.join(parts)}.")
    return sentences


def describe_response_shares(table: pd.DataFrame, most: int = 3) -> list[str]:
    """Return, for each model and method with few answers, how often it gives each."""
    sentences = []
    for (model, method), rows in whole_rows(table).groupby(METHOD_KEY, sort=False):
        if len(rows) <= most:
            shares = ", ".join(f"{row['response']} {percent(row['share'])}{_over(row)}" for row in list_rows(rows))
            sentences.append(f"{model}, {method_name(str(method))}, answers: {shares}.")
    return sentences


def _over(row: Row) -> str:
    return "" if pd.isna(row["sd"]) else f" (s.d. {signed(100 * row['sd'], 1)} points over templates)"


def groups(table: pd.DataFrame) -> list[str]:
    """Return, for each model and factor, the mean accuracy of each method at each level, and people's."""
    sentences = []
    for (model, factor), rows in table.groupby(["model", "factor"], sort=False):
        parts = []
        for method, of_method in rows.groupby("method", sort=False):
            levels = [f"{percent(row['mean_accuracy'])} at {label(row['level'])}" for row in list_rows(of_method)]
            parts.append(f"{method_name(str(method))} {', '.join(levels)}")
        asked = rows.drop_duplicates("level").dropna(subset="human_accuracy")
        people = [f"{percent(row['human_accuracy'])} at {label(row['level'])}" for row in list_rows(asked)]
        parts += [f"people {', '.join(people)}"] if people else []
        sentences.append(f"{model} by {label(factor)}: {'; '.join(parts)}.")
    return sentences


def differences(table: pd.DataFrame) -> list[str]:
    """Return, for each model, how the difference between two methods goes along with the members' difference in tokens."""
    sentences = []
    for row in list_rows(table[table["paradigm"] == MEAN_OVER_PARADIGMS]):
        names = f"{method_name(row['method_a'])} less {method_name(row['method_b'])}"
        if pd.isna(row["r"]):
            sentences.append(f"{row['model']}, {names}: {row['note']}")
            continue
        over = counted(int((table["model"] == row["model"]).sum()) - 1, "paradigm")
        more = 100 * row["difference"]
        sentences.append(
            f"{row['model']}, {names}: {minus(f'{more:+.1f}')} points, which go along with the members' "
            f"difference in tokens by {correlated(row['r'], row['ci_low'], row['ci_high'])} over {over}."
        )
    return sentences


def significant(table: pd.DataFrame) -> list[str]:
    """Return, for each model, which methods are better than the one they are held against, with paradigms as drawn."""
    sentences = []
    for (model, against), rows in table[table["kind"] == "method"].groupby(["model", "reference_method"], sort=False):
        tested = rows.dropna(subset="paradigm_p_holm")
        if len(tested):
            better = [method_name(row["method"]) for row in list_rows(tested[tested["paradigm_p_holm"] < ALPHA])]
            which = listed(better) if better else "no method"
            verb = "are" if len(better) > 1 else "is"
            sentences.append(
                f"{model}: {which} {verb} better than {method_name(str(against))} over {DRAWN} (one-sided, p_Holm < .05)."
            )
    return sentences
