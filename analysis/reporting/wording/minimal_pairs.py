"""Language models on minimal pairs: beside people's ratings, by themselves, and against each other."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ...comparing.pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS, MODEL_KEY, POOLED_OVER_PAIRS
from ...intervals import ALPHA
from ...prompts import list_prompts
from ...row_dicts import list_rows
from .labels import asked, label, language_model, measure_name
from .numbers import Row, correlated, correlation, counted, interval, minus, p_value, percent, signed

FEW = 4  # models that are compared one by one in a sentence each before a count comes first
LEVELS = {  # of correlations that have a sentence, and over what they are
    "sentences": "over all sentences",
    "grammatical": "over grammatical sentences",
    "ungrammatical": "over ungrammatical sentences",
    "pairs": "over differences within pairs",
    "phenomena": "over phenomena",
    "items": "within items",
}

TIES = "a tie is half a success"
INDEPENDENT = "take pairs as independent"
FIXED, DRAWN = "these paradigms", "paradigms as drawn from more"  # what a comparison of two models speaks of
RELATIVE = "the score less that of the pair's other member (Hu et al., 2024)"


def rating_correlations(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, Pearson's correlation with ratings of all sentences and within pairs."""
    sentences = []
    pearson = table[table["method"] == "pearson"]
    several = len(list_prompts(pearson)) > 1
    for (model, protocol, measure, prompt), rows in pearson.groupby([*MODEL_KEY, "measure", "prompt"], sort=False):
        by_level = {row["level"]: row for row in list_rows(rows.dropna(subset="r"))}
        texts = [
            f"{LEVELS[level]}, {under_ceiling(correlated(row['r'], row['ci_low'], row['ci_high']), row)}"
            for level, row in ((level, by_level[level]) for level in LEVELS if level in by_level)
        ]
        if texts:
            whose = asked(str(prompt) if several else None)
            name = measure_name(str(measure))
            raw = "raw " if set(rows.get("rating_measure", ())) == {"rating"} else ""
            sentences.append(f"{model} ({protocol}): correlation of {name} with mean {raw}ratings{whose} {'; '.join(texts)}.")
    return sentences


def under_ceiling(r: str, row: Row) -> str:
    """Return a correlation with ratings beside what a perfect model would reach, where that is known.

    >>> under_ceiling("r = .31", {"ceiling": 0.85})
    'r = .31, ceiling .85'
    """
    return r if pd.isna(row["ceiling"]) else f"{r}, ceiling {correlation(row['ceiling'])}"


def accuracies(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each model, protocol and measure: pairs won, mean over paradigms, weakest paradigm."""
    sentences = []
    for (model, protocol, measure), rows in table.groupby([*MODEL_KEY, "measure"], sort=False):
        overall = {row["paradigm"]: row for row in list_rows(rows[rows["phenomenon"] == ALL_PHENOMENA])}
        pooled, mean = overall[POOLED_OVER_PAIRS], overall[MEAN_OVER_PARADIGMS]
        paradigms = rows[~rows["paradigm"].isin([MEAN_OVER_PARADIGMS, POOLED_OVER_PAIRS])]
        weakest = list_rows(paradigms.nsmallest(1, "accuracy"))[0]
        low, high = percent(pooled["wilson_low"]), percent(pooled["wilson_high"])
        ties = f", {pooled['n_ties']} of them ties, which count half" if pooled["n_ties"] else ""
        sentences.append(
            f"{model} ({protocol}, {measure}) gives the grammatical sentence the higher score in "
            f"{percent(pooled['accuracy'])} of {counted(pooled['n_pairs'], 'pair')}{ties} (95% Wilson interval {low} to {high}); "
            "the "
            f"mean over {counted(len(paradigms), 'paradigm')} is {percent(mean['accuracy'])}, the lowest "
            f"{percent(weakest['accuracy'])} ({label(weakest['paradigm'])})."
        )
    return sentences


def model_comparisons(table: pd.DataFrame) -> list[str]:
    """Return, for every two models, who wins more pairs, with paradigms as fixed and then as drawn."""
    sentences = []
    for row in list_rows(table):
        pair = f"{language_model(row, '_a')} against {language_model(row, '_b')}, {row['measure']}"
        if not row["n_pairs"]:
            sentences.append(f"{pair}: {row['note']}")
            continue
        fixed = (
            f"{percent(row['accuracy_a'])} and {percent(row['accuracy_b'])} of {counted(row['n_pairs'], 'pair')} "
            f"({row['n_ties']} tied); "
            f"only the first wins {row['n_only_a']}, only the second {row['n_only_b']} (McNemar, {FIXED} only: p_Holm "
            f"{p_value(row['mcnemar_p_holm'])})"
        )
        drawn = f" {row['note']}" if pd.isna(row["flip_p"]) else f" Over {row['n_paradigms']} {DRAWN}: {_points(row)}."
        sentences.append(f"{pair}: {fixed}.{drawn}")
    return sentences


def _points(row: Row) -> str:
    difference, low, high = (100 * row[f"paradigm_{name}"] for name in ("difference", "ci_low", "ci_high"))
    return (
        f"{minus(f'{difference:+.1f}')} points, {interval(low, high, '.1f')}, p_Holm {p_value(row['flip_p_holm'])}, "
        f"smallest possible {row['min_flip_p']:.2g}"
    )


def rankings(table: pd.DataFrame) -> list[str]:
    """Return, for each measure, the language models in the order of their accuracy."""
    return [
        f"By {measure}: "
        + ", ".join(f"{row['model_rank']:g} {language_model(row)} {percent(row['accuracy'])}" for row in list_rows(rows))
        + "."
        for measure, rows in table.groupby("measure", sort=False)
    ]


def significant_comparisons(table: pd.DataFrame) -> list[str]:
    """Return how many pairs of models differ, with paradigms as fixed and as drawn, where there are many pairs."""
    rows = table[table["n_pairs"] > 0]
    if len(rows) < FEW:
        return []
    fixed, drawn = int((rows["mcnemar_p_holm"] < ALPHA).sum()), rows.dropna(subset="flip_p_holm")
    text = f"Of {len(rows)} comparisons of two models, {fixed} differ on {FIXED} (McNemar, p_Holm < .05)"
    if drawn.empty:
        return [f"{text}; there are too few paradigms to speak of others."]
    differ = int((drawn["flip_p_holm"] < ALPHA).sum())
    return [f"{text}, {differ} of {len(drawn)} over {DRAWN} (sign flips, p_Holm < .05)."]


def length_bias(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, whether it wins where the grammatical member has fewer tokens, or more."""
    sentences = []
    for row in list_rows(table):
        name = f"{language_model(row)}, {row['measure']}"
        if pd.isna(row["r"]):
            sentences.append(f"{name}: {row['note']}")
            continue
        longer = "shorter" if row["r"] < 0 else "longer"
        leaning = f"it wins rather where the grammatical member is {longer}" if row["p"] < ALPHA else "no leaning is seen"
        sentences.append(
            f"{name}: winning a pair and the difference in tokens correlate by r_pb = {correlation(row['r'])}, "
            f"p {p_value(row['p'])} ({counted(row['n_pairs'], 'pair')}, {row['n_unequal']} of unequal length): {leaning}."
        )
    return sentences


def accuracy_correlations(table: pd.DataFrame) -> list[str]:
    """Return, for every two models and for people, how far their accuracies over paradigms agree."""
    sentences = []
    for row in list_rows(table):
        pair = f"{row['model_a']} and {row['model_b']}, {row['measure']}"
        if pd.isna(row["pearson"]):
            sentences.append(f"{pair}: {row['note']}")
        else:
            pearson = correlated(row["pearson"], row["ci_low"], row["ci_high"])
            sentences.append(
                f"{pair}: accuracies correlate by {pearson} over {counted(row['n_paradigms'], 'paradigm')} "
                f"(Spearman {correlation(row['spearman'])})."
            )
    return sentences


def accuracy_by_confidence(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, accuracy in the least and the most confident share of pairs."""
    sentences = []
    sure = table[table["predictor"] == "confidence"]
    for (model, protocol, measure), rows in sure.groupby([*MODEL_KEY, "measure"], sort=False):
        if len(rows) > 1:
            ordered = list_rows(rows.sort_values("bin"))
            low, high = ordered[0], ordered[-1]
            sentences.append(
                f"{model} ({protocol}), {measure}: {percent(low['accuracy'])} of the {low['n_pairs']} pairs are won where the "
                "members' "
                f"scores differ least, {percent(high['accuracy'])} of the {high['n_pairs']} where they differ most."
            )
    return sentences


def group_accuracies(table: pd.DataFrame) -> list[str]:
    """Return, for each model, measure and factor, the mean accuracy at each level, and how far people differ."""
    sentences = []
    for (_, _, measure, factor), rows in table.groupby([*MODEL_KEY, "measure", "factor"], sort=False):
        first, *others = list_rows(rows)
        parts = [f"{percent(first['mean_accuracy'])} at {first['level']}"]
        for row in others:
            asked = row["human_difference"]
            beside = "" if pd.isna(asked) else f"; people {signed(100 * asked, 1)}"
            parts.append(f"{percent(row['mean_accuracy'])} at {row['level']} ({signed(100 * row['difference'], 1)} points{beside})")
        sentences.append(f"{language_model(first)}, {measure}, by {factor}: {', '.join(parts)}.")
    return sentences


def learning_curves(table: pd.DataFrame) -> list[str]:
    """Return what twice as much training data brings on each phenomenon, in points of accuracy."""
    sentences = []
    for row in list_rows(table.dropna(subset="slope")):
        whose = "" if pd.isna(row["family"]) or not row["family"] else f"{row['family']}, "
        where = "over all paradigms" if row["phenomenon"] == ALL_PHENOMENA else row["phenomenon"]
        within = "" if pd.isna(row["ci_low"]) else f", 95% CI [{signed(100 * row['ci_low'], 2)}, {signed(100 * row['ci_high'], 2)}]"
        sentences.append(
            f"{whose}{row['measure']}, {where}: twice as many training tokens bring {signed(100 * row['slope'], 2)} points{within} "
            f"({counted(row['n_models'], 'model')})."
        )
    return sentences


def proportion_tests(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, accuracy on two groups of items, the z-test between them, and the difference within."""
    sentences = []
    for row in list_rows(table.dropna(subset=["accuracy_a", "accuracy_b"])):
        test = "" if pd.isna(row["z"]) else f", z = {signed(row['z'], 2)}, p {p_value(row['p'])}"
        if not pd.isna(row["ci_low"]):
            ends = f"[{signed(100 * row['ci_low'], 1)}, {signed(100 * row['ci_high'], 1)}]"
            test += f"; within paradigms {signed(100 * row['difference'], 1)} points, 95% CI {ends}"
        unit, of = ("paradigm", "over") if str(row["test_unit"]) == "paradigms" else ("pair", "of")
        sentences.append(
            f"{language_model(row)}, {row['measure']}: {percent(row['accuracy_a'])} {of} {counted(row['n_a'], unit)} "
            f"({row['group_a']}) and {percent(row['accuracy_b'])} {of} {row['n_b']} ({row['group_b']}){test}."
        )
    return sentences


def layout_noise(model: str, measures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return how far scores under each measure move in another batch, and how many verdicts that could turn."""
    return [
        f"{model}, {measure}: scores moved by up to {noise['nats']:.1e} nats in another batch; "
        f"{noise['verdicts_within']} of {noise['verdicts']} verdicts lie within that"
        for measure, noise in measures.items()
    ]


def stages(model: str, facts: Mapping[str, Any]) -> list[str]:
    """Return what was computed exactly of pairs in two stages, and how many verdicts may be wrong, as evaluate_in_stages found."""
    if "note" in facts:
        return [f"{model}, two stages: {facts['note']}"]
    sentences = [
        f"{model}, two stages: {facts['exact']} of {facts['pairs']} pairs are computed exactly, {facts['open']} of them since "
        "bfloat16 leaves them open"
    ]
    return sentences + [
        f"{model}, {measure}: differences move by {facts['noise'][measure]:.2g} nats (s.d.) in bfloat16, and under "
        f"{facts['within'][measure]:.2g} are open; of {facts['checked']} decided verdicts {wrong} are wrong, of the others "
        f"at most {percent(facts['wrong_at_most'][measure])} (95%)"
        for measure, wrong in facts["wrong"].items()
    ]
