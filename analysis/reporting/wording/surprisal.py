"""Sentences about models beside people and beside each other, all from the declared tables."""

import re
from typing import Any

import pandas as pd

from ...evaluation import MODEL
from ...prompts import told
from ...rows import records
from .effects import ALPHA, Row, apa, asked, label, p_value, percent

FEW = 4  # models that are compared one by one in a sentence each before a count comes first

VERDICTS = {
    "passed": "passed the alignment self-test",
    "warned": "passed the alignment self-test with a warning",
    "failed": "FAILED the alignment self-test",
    "untested": "could not be put to the alignment self-test",
}


def minus(text: str) -> str:
    """Return a text with the signs that people set: a minus before a number, and one sign for at least.

    >>> minus("gpt-2: -1.5 nats [-2, -0.00], p >= .01")
    'gpt-2: −1.5 nats [−2, 0.00], p ≥ .01'
    """
    signed = re.sub(r"(?<![\w.])-(?=[\d.])", "−", text).replace(">=", "≥")
    return re.sub(r"−(0(?:\.0+)?)(?![\d.])", r"\1", signed)


def named(row: Row, end: str = "") -> str:
    """Return a language model with its protocol.

    >>> named({"model": "gpt2", "protocol": "causal"})
    'gpt2 (causal)'
    """
    return f"{row['model' + end]} ({row['protocol' + end]})"


def alignment(tested: pd.DataFrame, profile: pd.DataFrame) -> list[str]:
    """Return the verdict on each language model with its test, and the lag at which the slope is largest."""
    sentences = []
    for row in records(tested):
        slopes = profile[(profile["model"] == row["model"]) & (profile["protocol"] == row["protocol"])].dropna(
            subset="estimate"
        )
        said = f"{named(row)} {VERDICTS[row['verdict']]}. {row['note']}"
        if not pd.isna(row["p"]):
            said = (
                f"{said.rstrip('.')} ({apa(row | _interval(row))}; largest slope of lags 0 to 2: {row['largest']:.2g})."
            )
        if len(slopes):
            largest = slopes.loc[slopes["estimate"].idxmax()]
            said += f" Of lags -2 to 3 in one model, the largest slope is at lag {largest['lag']}."
        sentences.append(minus(said))
    return sentences


def _interval(row: Row) -> dict[str, float]:
    from scipy import stats

    half = stats.t.ppf(0.975, row["df"]) * row["se"]
    return {"ci_low": row["estimate"] - half, "ci_high": row["estimate"] + half}


def entangled(collinearity: pd.DataFrame) -> list[str]:
    """Return, for each language model, how far its surprisal hangs together with the other predictors."""
    sentences = []
    for (model, protocol), rows in collinearity.groupby(["model", "protocol"], sort=True):
        others = rows[rows["predictor"] != rows["other"]].dropna(subset="r")
        own = others[others["predictor"] == "surprisal"]
        inflated = rows.dropna(subset="vif").drop_duplicates("predictor")
        if own.empty or inflated.empty:
            continue
        close, worst = (
            records(frame.loc[[column.idxmax()]])[0]
            for frame, column in ((own, own["r"].abs()), (inflated, inflated["vif"]))
        )
        sentences.append(
            f"{model} ({protocol}): surprisal correlates most with {label(close['other'])} "
            f"(r = {shown(close['r'])}); the largest variance inflation is {worst['vif']:.1f}, of {label(worst['predictor'])}."
        )
    return sentences


def costs(effects: pd.DataFrame) -> list[str]:
    """Return, for each language model, ms per bit of the word read."""
    return [
        minus(
            f"{named(row)}: {row['ms_per_bit']:.2g} ms per bit at a reading time of {row['mean_rt']:.0f} ms "
            f"(95% CI [{row['ms_low']:.2g}, {row['ms_high']:.2g}])."
        )
        for row in records(effects[(effects["lag"] == 0) & effects["estimate"].notna()])
    ]


def gains(table: pd.DataFrame) -> list[str]:
    """Return, for each language model, what its surprisal adds to held-out readings, and what that p could be at least."""
    return [
        minus(
            f"{named(row)}: surprisal changes the log likelihood of {row['n']} held-out readings by {row['total']:+.1f} nats, "
            f"{row['delta']:+.5f} a reading{_tested(row, 'one-sided')}"
        )
        for row in records(table[table["delta"].notna()])
    ]


def rivals(table: pd.DataFrame) -> list[str]:
    """Return, for every two language models, how much better one predicts held-out readings than the other."""
    return [
        minus(
            f"{named(row, '_a')} against {named(row, '_b')}: {row['total']:+.1f} nats, {row['delta']:+.5f} a reading"
            f"{_tested(row, 'two-sided', 'p_holm')}"
        )
        for row in records(table[table["delta"].notna()])
    ]


def _tested(row: dict[str, Any], sides: str, name: str = "p") -> str:
    held = f"{row['clusters']} clusters by {row['folds_by']}" if "folds_by" in row else f"{row['clusters']} clusters"
    if pd.isna(row["p"]):
        return f" ({held}: too few for a p or an interval)."
    return (
        f" (95% CI [{row['ci_low']:.5f}, {row['ci_high']:.5f}]; {sides} sign flips over {held}, "
        f"{'p_Holm' if name == 'p_holm' else 'p'} {p_value(row[name])}, smallest possible {row['smallest_p']:.2g})."
    )


def duels(table: pd.DataFrame) -> list[str]:
    """Return, for every two models, who wins more pairs, with paradigms as fixed and then as drawn."""
    sentences = []
    for row in records(table):
        who = f"{named(row, '_a')} against {named(row, '_b')}, {row['measure']}"
        if not row["n"]:
            sentences.append(f"{who}: {row['note']}")
            continue
        fixed = (
            f"{100 * row['accuracy_a']:.1f}% and {100 * row['accuracy_b']:.1f}% of {row['n']} pairs ({row['ties']} tied); only "
            f"the first wins {row['a_only']}, only the second {row['b_only']} (McNemar, these paradigms only: p_Holm "
            f"{p_value(row['mcnemar_holm'])})"
        )
        if pd.isna(row["flip_p"]):
            sentences.append(f"{who}: {fixed}. {row['note']}")
        else:
            ends = f"95% CI [{100 * row['paradigm_low']:.1f}, {100 * row['paradigm_high']:.1f}]"
            sentences.append(
                minus(
                    f"{who}: {fixed}. Over {row['paradigms']} paradigms as drawn from more: "
                    f"{100 * row['paradigm_difference']:+.1f} points, {ends}, p_Holm {p_value(row['flip_holm'])}, "
                    f"smallest possible {row['smallest_p']:.2g}."
                )
            )
    return sentences


def likenesses(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, Pearson's correlation with ratings of all sentences and within pairs."""
    sentences = []
    pearson = table[table["method"] == "pearson"]
    several = len(told(pearson)) > 1
    for (model, protocol, measure, prompt), rows in pearson.groupby([*MODEL, "measure", "prompt"], sort=False):
        found = {row["level"]: row for row in records(rows)}
        said = [
            f"{level} r = {shown(found[level]['r'])}{_held(found[level])}"
            for level in ("sentences", "grammatical", "ungrammatical", "pairs", "phenomena")
            if level in found and not pd.isna(found[level]["r"])
        ]
        if said:
            whose = asked(str(prompt) if several else None)
            sentences.append(f"{model} ({protocol}), {measure} and mean ratings{whose}: {'; '.join(said)}.")
    return sentences


def _held(row: dict[str, Any]) -> str:
    said = "" if pd.isna(row["low"]) else f" [{shown(row['low'])}, {shown(row['high'])}]"
    return said + ("" if pd.isna(row["ceiling"]) else f", ceiling {shown(row['ceiling'])}")


def shown(r: float) -> str:
    """Return a correlation in APA style: two decimals, no zero before the point.

    >>> shown(0.314), shown(-0.05), shown(1.0)
    ('.31', '−.05', '1.00')
    """
    text = f"{r:.2f}".replace("0.", ".", 1)
    return ".00" if text == "-.00" else text.replace("-", "−")


def _ends(row: Row, low: str = "low", high: str = "high") -> str:
    return "" if pd.isna(row[low]) else f", 95% CI [{shown(row[low])}, {shown(row[high])}]"


def standings(table: pd.DataFrame) -> list[str]:
    """Return, for each measure, the language models in the order of their accuracy."""
    return [
        f"By {measure}: "
        + ", ".join(f"{row['rank']:g} {named(row)} {percent(row['accuracy'])}" for row in records(rows))
        + "."
        for measure, rows in table.groupby("measure", sort=False)
    ]


def decided(table: pd.DataFrame) -> list[str]:
    """Return how many pairs of models differ, with paradigms as fixed and as drawn, where there are many pairs."""
    rows = table[table["n"] > 0]
    if len(rows) < FEW:
        return []
    fixed, drawn = int((rows["mcnemar_holm"] < ALPHA).sum()), rows.dropna(subset="flip_holm")
    text = f"Of {len(rows)} comparisons of two models, {fixed} differ on these pairs (McNemar, p_Holm < .05)"
    if drawn.empty:
        return [f"{text}; there are too few paradigms to speak of others."]
    return [
        f"{text}, {int((drawn['flip_holm'] < ALPHA).sum())} of {len(drawn)} over paradigms (sign flips, p_Holm < .05)."
    ]


def leanings(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, whether it wins where the grammatical member has fewer tokens, or more."""
    sentences = []
    for row in records(table):
        who = f"{named(row)}, {row['measure']}"
        if pd.isna(row["r"]):
            sentences.append(f"{who}: {row['note']}")
            continue
        text = f"{who}: winning a pair and the difference in tokens correlate by r_pb = {shown(row['r'])}, p {p_value(row['p'])}"
        leaning = "shorter" if row["r"] < 0 else "longer"
        said = f"it wins rather where the grammatical member is {leaning}" if row["p"] < ALPHA else "no leaning is seen"
        sentences.append(f"{text} ({row['n']} pairs, {row['unequal']} of unequal length): {said}.")
    return sentences


def kinships(table: pd.DataFrame) -> list[str]:
    """Return, for every two models and for people, how far their accuracies over paradigms agree."""
    sentences = []
    for row in records(table):
        who = f"{row['a']} and {row['b']}, {row['measure']}"
        if pd.isna(row["pearson"]):
            sentences.append(f"{who}: {row['note']}")
        else:
            sentences.append(
                f"{who}: accuracies correlate by r = {shown(row['pearson'])}{_ends(row)} over {row['paradigms']} paradigms "
                f"(Spearman {shown(row['spearman'])})."
            )
    return sentences


def slants(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, accuracy in the least and the most confident share of pairs."""
    sentences = []
    sure = table[table["predictor"] == "confidence"]
    for names, rows in sure.groupby([*MODEL, "measure"], sort=False):
        if len(rows) > 1:
            ordered = records(rows.sort_values("bin"))
            low, high = ordered[0], ordered[-1]
            model, protocol, measure = map(str, names)
            sentences.append(
                f"{model} ({protocol}), {measure}: {percent(low['accuracy'])} of the {low['n']} pairs are won where the members' "
                f"scores differ least, {percent(high['accuracy'])} of the {high['n']} where they differ most."
            )
    return sentences


def groups(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, accuracy on two groups of items and the z-test between them."""
    return [
        f"{named(row)}, {row['measure']}: {percent(row['accuracy_a'])} of {row['n_a']} pairs ({row['group_a']}) and "
        f"{percent(row['accuracy_b'])} of {row['n_b']} ({row['group_b']})"
        + ("." if pd.isna(row["z"]) else f", z = {row['z']:.2f}, p {p_value(row['p'])}.").replace("-", "−")
        for row in records(table.dropna(subset=["accuracy_a", "accuracy_b"]))
    ]
