"""Language models over languages: means, the best of each language, frequency, and what differences in score go along with."""

import pandas as pd

from ...comparing.languages import ALL_LANGUAGES, BEST_ALPHA, FREQUENCY_SPLITS, PAIRWISE_ALPHA, PREDICTORS
from ...comparing.pair_accuracy import ALL_PHENOMENA, MODEL_KEY
from ...row_dicts import list_rows
from .labels import label, language_model
from .numbers import Row, apa, correlation, counted, interval, percent, signed

SPLIT_NAMES = {ALL_LANGUAGES: "all languages"} | {name: f"{name} frequency" for _, name in FREQUENCY_SPLITS}
FARTHEST = 3  # languages above and below a curve that are named


def means(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, the mean over languages and over those of each split, and where it is the best."""
    sentences = []
    overall = table[table["phenomenon"] == ALL_PHENOMENA]
    for _, rows in overall.groupby([*MODEL_KEY, "measure"], sort=False):
        whole, *splits = list_rows(rows)
        text = f"{language_model(whole)}, {whole['measure']}: {_mean(whole)} in the mean over {whole['n_languages']} languages"
        if splits:
            told = [
                f"{_mean(row)} over the {row['n_languages']} of {SPLIT_NAMES.get(row['split'], row['split'])}" for row in splits
            ]
            text += f"; {', '.join(told)}"
        if not pd.isna(whole["n_best"]):
            after = f"{whole['n_best_holm']:.0f} after Holm's correction"
            best = counted(int(whole["n_best"]), "language")
            text += f"; the best model of {best} (McNemar, p < {correlation(BEST_ALPHA)}; {after})"
        sentences.append(f"{text}.")
    return sentences


def _mean(row: Row) -> str:
    ends: str = "" if pd.isna(row["ci_low"]) else f" ({interval(100 * row['ci_low'], 100 * row['ci_high'], '.1f')})"
    return (
        f"{percent(row['accuracy'])} of pairs won{ends}" if row["split"] == ALL_LANGUAGES else f"{percent(row['accuracy'])}{ends}"
    )


def wins(table: pd.DataFrame) -> list[str]:
    """Return, for every two models, in how many languages each wins more pairs than the other."""
    return [
        f"{language_model(row, '_a')} against {language_model(row, '_b')}, {row['measure']}: of "
        f"{counted(row['n_languages'], 'language')} the first wins more in {row['n_a_better']}, the second in {row['n_b_better']} "
        f"(McNemar, p < {correlation(PAIRWISE_ALPHA)}; {row['n_a_better_holm']} and {row['n_b_better_holm']} after Holm's "
        "correction)."
        for row in list_rows(table)
    ]


def frequencies(curves: pd.DataFrame, residuals: pd.DataFrame) -> list[str]:
    """Return each model's curve over language frequency, and the languages farthest above and below it."""
    sentences = []
    for row in list_rows(curves):
        name = f"{language_model(row)}, {row['measure']}"
        if pd.isna(row["slope"]):
            sentences.append(f"{name}: {row['note']}")
            continue
        points = residuals[(residuals[[*MODEL_KEY, "measure"]] == [row[each] for each in (*MODEL_KEY, "measure")]).all(axis=1)]
        above = points[points["residual"] > 0].nlargest(FARTHEST, "residual")["language"]
        below = points[points["residual"] < 0].nsmallest(FARTHEST, "residual")["language"]
        sides = [f"{', '.join(names)} {side}" for names, side in ((above, "above"), (below, "below")) if len(names)]
        far = f"; farthest from it: {', '.join(sides)}" if sides else ""
        sentences.append(
            f"{name}: over log10 frequency of {counted(row['n_languages'], 'language')} accuracy goes from "
            f"50% to {percent(row['upper_asymptote'])}, halfway at {signed(row['midpoint'], 1)} (logistic curve, "
            f"R² = {correlation(row['r2'])}){far}."
        )
    return sentences


def regressions(table: pd.DataFrame) -> list[str]:
    """Return, for each model and measure, what a pair's difference in score goes along with, phenomena aside."""
    sentences = []
    fitted = table[(table["method"] == "mixed") & table["term"].isin(PREDICTORS)].dropna(subset="estimate")
    for _, rows in fitted.groupby([*MODEL_KEY, "measure"], sort=False):
        first, told = list_rows(rows)[0], "; ".join(f"{label(row['term'])}, {apa(row)}" for row in list_rows(rows))
        sentences.append(
            f"{language_model(first)}, {first['measure']}: difference in score (nats) of {counted(first['n_pairs'], 'pair')} in "
            f"{counted(first['n_languages'], 'language')}, by a mixed model with intercepts of language and paradigm: {told}."
        )
    return sentences
