"""What surprisal does to reading times, and whether the two stand beside each other as they should."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from ...intervals import ALPHA
from ...row_dicts import list_rows
from .labels import label, language_model
from .numbers import Row, apa, correlation, decimals, interval, minus, p_value, signed

VERDICTS = {
    "passed": "passed the alignment self-test",
    "warned": "passed the alignment self-test with a warning",
    "failed": "FAILED the alignment self-test",
    "untested": "could not be put to the alignment self-test",
}
MISALIGNED = "reading times seem to stand beside the wrong words"
WORDS = ("the word read", "the word before", "the second word before", "the third word before")  # by lag

SimulatedCosts = Mapping[tuple[str, str], Sequence[float]]  # simulated ms per bit at lags 0, 1 ... by model and protocol


def alignment_check(tested: pd.DataFrame, profile: pd.DataFrame) -> list[str]:
    """Return the verdict on each language model with its test, and the lag at which the slope is largest."""
    sentences = []
    for row in list_rows(tested):
        of_model = (profile["model"] == row["model"]) & (profile["protocol"] == row["protocol"])
        lags = profile[of_model].dropna(subset="estimate")
        text = f"{language_model(row)} {VERDICTS[row['verdict']]}. {row['note']}"
        if not pd.isna(row["p"]):
            statistics = apa(row | _ends(row))
            text = f"{text.rstrip('.')} ({statistics}; largest slope of lags 0 to 2: {row['largest_slope']:.2g})."
        if len(lags):
            largest = lags.loc[lags["estimate"].idxmax()]
            text += f" Of lags -2 to 3 in one model, the largest slope is at lag {largest['lag']}."
        sentences.append(minus(text))
    return sentences


def _ends(row: Row) -> dict[str, float]:
    from scipy import special

    half = special.stdtrit(row["df"], 0.975) * row["se"]
    return {"ci_low": row["estimate"] - half, "ci_high": row["estimate"] + half}


def slopes(models: pd.DataFrame) -> list[str]:
    """Return, for each language model, what a bit of surprisal does to reading time: on the word, then on the next."""
    sentences = []
    for row in list_rows(models[models["term"].isin(["surprisal", "surprisal_previous"])]):
        whose = "its surprisal" if row["term"] == "surprisal" else "the surprisal of the word before"
        name = language_model(row)
        if pd.isna(row["estimate"]):
            sentences.append(f"{name}: {row['note']}")
        elif pd.isna(row["p"]) or row["p"] >= ALPHA:
            sentences.append(f"{name}: the data give no evidence for an effect of {whose} on a word's reading time ({apa(row)}).")
        else:
            change = math.expm1(row["estimate"])
            size = f"{100 * abs(change):.2g}% {'longer' if change > 0 else 'shorter'}"
            sentences.append(f"{name}: a word is read {size} for each bit of {whose} ({apa(row)}).")
    return sentences


def costs(effects: pd.DataFrame) -> list[str]:
    """Return, for each language model, ms per bit of the word read."""
    return [
        minus(
            f"{language_model(row)}: {row['ms_per_bit']:{form}} ms per bit at a reading time of {row['mean_rt']:.0f} ms "
            f"({interval(row['ms_low'], row['ms_high'], form)})."
        )
        for row in list_rows(effects[(effects["lag"] == 0) & effects["estimate"].notna()])
        for form in [_form(row["ms_low"], row["ms_high"])]
    ]


def recovered(effects: pd.DataFrame, truth: SimulatedCosts) -> list[str]:
    """Return what a bit was made to cost simulated readers, beside what is estimated from their times.

    The estimate is that of the times themselves: to them the ms were added, at whatever speed somebody reads.
    """
    sentences = []
    for row in list_rows(effects[effects["raw"].notna()]):
        stated = truth.get((row["model"], row["protocol"]), ())
        if row["lag"] < len(stated):
            true, low, high = stated[row["lag"]], row["raw_low"], row["raw_high"]
            form, verdict = _form(low, high), "covers" if low <= true <= high else "misses"
            sentences.append(
                minus(
                    f"Simulated: {true:g} ms per bit of {language_model(row)}, for {WORDS[row['lag']]}. Estimated from the times "
                    f"themselves: {row['raw']:{form}} ms per bit ({interval(low, high, form)}), which {verdict} it."
                )
            )
    return sentences


def _form(low: float, high: float) -> str:
    """Return the form of a number with this 95 % interval: about two digits of its standard error."""
    return f".{decimals((high - low) / 4)}f"


def collinearity(table: pd.DataFrame) -> list[str]:
    """Return, for each language model, how far its surprisal hangs together with the other predictors."""
    sentences = []
    for (model, protocol), rows in table.groupby(["model", "protocol"], sort=True):
        others = rows[rows["predictor"] != rows["other_predictor"]].dropna(subset="r")
        of_surprisal = others[others["predictor"] == "surprisal"]
        inflated = rows.dropna(subset="vif").drop_duplicates("predictor")
        if of_surprisal.empty or inflated.empty:
            continue
        close, worst = (
            list_rows(frame.loc[[column.idxmax()]])[0]
            for frame, column in ((of_surprisal, of_surprisal["r"].abs()), (inflated, inflated["vif"]))
        )
        sentences.append(
            f"{model} ({protocol}): surprisal correlates most with {label(close['other_predictor'])} "
            f"(r = {correlation(close['r'])}); the largest variance inflation is {worst['vif']:.1f}, of "
            f"{label(worst['predictor'])}."
        )
    return sentences


def smooth_terms(terms: pd.DataFrame) -> list[str]:
    """Return each smooth term of additive models: how bent it is, and its test."""
    sentences = []
    for row in list_rows(terms[terms["smooth"].astype(bool)]):
        name = "" if pd.isna(row.get("model")) else f"{language_model(row)}, "
        sentences.append(
            f"{name}{row['term']}: {'about a straight line' if row['edf'] < 1.5 else 'bent'} (edf = {row['edf']:.1f}, "
            f"F = {signed(row['statistic'], 2)}, p {p_value(row['p'])}; {row['n']} readings, "
            f"residuals of successive ones correlate by {correlation(row['autocorrelation'])})."
        )
    return sentences


def gains(table: pd.DataFrame) -> list[str]:
    """Return, for each language model, what its surprisal adds to held-out readings, and what that p could be at least."""
    return [
        minus(
            f"{language_model(row)}: surprisal changes the log likelihood of {row['n_readings']} held-out readings by "
            f"{row['total_delta']:+.1f} nats, {row['delta']:+.5f} a reading{_tested(row, 'one-sided', 'p', row['p'])}"
        )
        for row in list_rows(table[table["delta"].notna()])
    ]


def gain_comparisons(table: pd.DataFrame) -> list[str]:
    """Return, for every two language models, how much better one predicts held-out readings than the other."""
    return [
        minus(
            f"{language_model(row, '_a')} against {language_model(row, '_b')}: {row['total_delta']:+.1f} nats, "
            f"{row['delta']:+.5f} a reading{_tested(row, 'two-sided', 'p_Holm', row['p_holm'])}"
        )
        for row in list_rows(table[table["delta"].notna()])
    ]


def _tested(row: Row, sides: str, symbol: str, p: float) -> str:
    clusters = f"{row['n_clusters']} clusters by {row['folds_by']}" if "folds_by" in row else f"{row['n_clusters']} clusters"
    if pd.isna(row["p"]):
        return f" ({clusters}: too few for a p or an interval)."
    return (
        f" ({interval(row['ci_low'], row['ci_high'], '.5f')}; {sides} sign flips over {clusters}, "
        f"{symbol} {p_value(p)}, smallest possible {row['min_p']:.2g})."
    )
