"""The sections on language models and minimal pairs: beside people's ratings, pairs won, and models against each other."""

import itertools
from functools import partial

import pandas as pd

from gardenpath.study.measures import SCORE_MEASURES

from ...aligning.predictors import split_by_model
from ...comparing.pair_accuracy import MODEL_KEY
from ...prompts import build_file_suffixes
from ..exhibits import Exhibit, Page, Section, leading, split_constant_columns, without
from ..figures import language_figures, pair_figures, score_figures
from ..wording import labels, minimal_pairs, raters
from ..wording import languages as wording

FEW = 3  # language models that have figures of their own on minimal pairs
LONG = 40  # paradigms from which the figure of all of them opens on demand
MAIN = ("slor", "mean_lp", "lp")  # the measure held against ratings in a figure: the first that there is
OVER_LANGUAGES = {
    "language_accuracies": "Accuracy on each language.",
    "language_means": "Means over languages, each counting once, of splits by frequency and of lists.",
    "language_bests": "The best model of each language against the second best, by McNemar's exact test.",
    "language_wins": "In how many languages one of two models wins more pairs.",
    "frequency_curves": "Accuracy as a logistic curve of log10 language frequency.",
    "frequency_residuals": "Languages above and below the curve.",
    "score_difference_regressions": "What the difference of a pair's scores goes along with.",
}
CHANCE = "Look for intervals right of the dashed line (chance)."


def rating_correlations(page: Page) -> Section:
    """Return how far scores of sentences go along with people's ratings."""
    table = page.get("rating_correlations")
    exhibits = _score_figures(page, table)
    caption = (
        "Correlations of scores and ratings at each level, with 95% intervals (bootstrap over units) and noise ceilings. The level "
        f"relative sets a rating against {minimal_pairs.RELATIVE} and holds the mean effect of grammaticality: do not compare it "
        "with the others."
    )
    exhibits += page.table("rating_correlations", caption, without(table, "note", "unit"), limit=60, aside=True)
    main = next((name for name in MAIN if name in set(table["measure"])), SCORE_MEASURES[0])
    head, others = (minimal_pairs.rating_correlations(table[(table["measure"] == main) == first]) for first in (True, False))
    badges, sentences = page.badges_of_first("rating_correlations"), [*head, *others]
    return Section("Scores and ratings", badges, sentences, exhibits, first=leading(sentences, len(head), 4))


def _score_figures(page: Page, table: pd.DataFrame) -> list[Exhibit]:
    """Return the figures of ratings against scores: all sentences and pairs, then phenomenon by phenomenon."""
    scores, ratings = page.get("sentence_scores"), page.get("rating_scores")
    of = str(next(iter(table["rating_measure"].dropna()), "z")) if "rating_measure" in table else "z"
    exhibits: list[Exhibit] = []
    models = enumerate(split_by_model(scores) if len(ratings) else ())
    for (number, (model, protocol, rows)), (prompt, ending) in itertools.product(
        models, build_file_suffixes(page.prompts()).items()
    ):
        measure = next((name for name in MAIN if rows[name].notna().any()), SCORE_MEASURES[0])
        subject = f"{model} ({protocol}), {measure}{labels.asked(prompt)}"
        caption = (
            f"{subject}: mean rating of each sentence against its score, and the difference within each pair, with the "
            "least-squares line and its 95% band."
        )
        caption += f" Beside r stands the ceiling, {raters.CEILING}." if of == "z" else ""
        source = "rating_correlations" if len(table) else "rating_scores"
        draw = partial(score_figures.score_figure, rows, ratings, measure, table, prompt, of)
        exhibits += page.figure(source, f"ratings-{number}{ending}", caption, draw, rows, aside=number > 0)
        caption = f"{subject}: the same by phenomenon. A phenomenon has few sentences, so its r is a description, without a test."
        draw = partial(score_figures.phenomenon_score_figure, rows, ratings, measure, prompt, of)
        key = f"ratings-by-phenomenon-{number}{ending}"
        exhibits += page.figure("rating_scores", key, caption, draw, rows, aside=number > 0)
    return exhibits


def pairs(page: Page) -> Section:
    """Return how often each language model prefers the grammatical member."""
    table, bins, bias = (page.get(name) for name in ("accuracy", "accuracy_bins", "length_bias"))
    first = _main(table)
    exhibits = [*_accuracy_figures(page, table, first), *_paradigm_figures(page, table)]
    caption = (
        f"Accuracy ({first}) by how sure the model is, and by properties of the grammatical member, in equal shares of pairs with "
        "95% Wilson intervals. A model that knows what it knows rises with confidence."
    )
    exhibits += page.figure("accuracy_bins", "accuracy-bins", caption, partial(pair_figures.bin_figure, bins, first))
    rows, once = split_constant_columns(table, *MODEL_KEY, "measure")
    caption = (
        f"Accuracy by paradigm, by phenomenon and over all{once}. The pooled intervals {minimal_pairs.INDEPENDENT}: they speak "
        "of further pairs of these paradigms, not of further paradigms."
    )
    exhibits += page.table("accuracy", caption, rows, limit=120, aside=True)
    exhibits += page.table("accuracy_bins", "Accuracy by confidence, length and perplexity.", bins, aside=True)
    exhibits += page.table("length_bias", "Leaning to shorter or longer members.", bias, aside=True)
    caption = "Accuracy at the levels of a grouping; differences are of means over paradigms, to the first level."
    exhibits += _folded(page, "group_accuracies", caption)
    caption = "Accuracy by training tokens: what a doubling brings. Tokens needed are an extrapolation of the line."
    exhibits += _folded(page, "learning_curves", caption)
    exhibits += page.table("usable_phenomena", "Phenomena that tell models from people, and why others do not.", aside=True)
    caption = f"Two groups of items, with z-tests for two proportions, which {minimal_pairs.INDEPENDENT}."
    exhibits += _folded(page, "proportion_tests", caption)
    caption = "Accuracy in two groups of items of each paradigm; the dashed line is the mean difference."
    draw = partial(pair_figures.difference_figure, page.get("group_differences"))
    exhibits += page.figure("group_differences", "group-differences", caption, draw)
    exhibits += _folded(page, "group_differences", "Two groups of items, paradigm by paradigm.")
    head, others = (minimal_pairs.accuracies(table[(table["measure"] == first) == main]) for main in (True, False))
    sentences = [*head, *others, *minimal_pairs.accuracy_by_confidence(bins[bins["measure"] == first])]
    sentences += minimal_pairs.group_accuracies(page.get("group_accuracies"))
    sentences += minimal_pairs.learning_curves(page.get("learning_curves"))
    sentences += [*minimal_pairs.length_bias(bias), *minimal_pairs.proportion_tests(page.get("proportion_tests"))]
    badges = page.badges_of_first("accuracy")
    return Section("Language models on minimal pairs", badges, sentences, exhibits, first=leading(sentences, len(head)))


def _accuracy_figures(page: Page, table: pd.DataFrame, measure: str) -> list[Exhibit]:
    """Return accuracy by phenomenon, and the map of paradigms beside people's choices, where there is anything to compare."""
    choices, several = page.get("choice_agreement"), len(table[MODEL_KEY].drop_duplicates()) > 1
    exhibits: list[Exhibit] = []
    if several or table["phenomenon"].nunique() > 2:
        caption = (
            f"Accuracy by phenomenon ({measure}), with 95% Wilson intervals over pairs; {minimal_pairs.TIES}. {CHANCE} "
            "The mean over paradigms has no such interval."
        )
        draw = partial(pair_figures.phenomenon_accuracy_figure, table, measure)
        exhibits += page.figure("accuracy", "accuracy-phenomena", caption, draw)
    if several or len(choices):
        caption = (
            f"Pairs won on each paradigm ({measure}), in percent, a block for each phenomenon. Yellow: nearly all; dark blue: "
            "fewer than chance."
        )
        caption += " People's are single choices between the two members." if len(choices) else ""
        draw = partial(pair_figures.heat_figure, table, measure, choices)
        exhibits += page.figure("accuracy", "accuracy-map", caption, draw)
    return exhibits


def _paradigm_figures(page: Page, table: pd.DataFrame) -> list[Exhibit]:
    """Return a figure of each of the first language models, paradigm by paradigm."""
    models = list(table.groupby(MODEL_KEY, sort=False))
    exhibits: list[Exhibit] = []
    for number, ((model, protocol), rows) in enumerate(models[:FEW]):
        caption = f"{model} ({protocol}): share of pairs won on each paradigm, with 95% Wilson intervals. {CHANCE}"
        aside = len(models) > 1 or rows["paradigm"].nunique() > LONG
        draw = partial(pair_figures.accuracy_figure, rows)
        exhibits += page.figure("accuracy", f"accuracy-{number}", caption, draw, rows, aside=aside)
    return exhibits


def comparisons(page: Page) -> Section:
    """Return language models against each other, and beside people, on the same pairs."""
    tables = (page.get(name) for name in ("model_comparisons", "rankings", "accuracy_correlations"))
    comparisons, rankings, correlations = tables
    first = _main(comparisons if len(comparisons) else correlations)
    caption = (
        f"How many more pairs the first of two models wins ({first}), with 95% intervals. The grey one speaks of "
        f"{minimal_pairs.FIXED} only; the blue one, of {minimal_pairs.DRAWN}, and grammar at large needs that one. It is withheld "
        "under ten paradigms."
    )
    draw = partial(pair_figures.comparison_figure, comparisons, first)
    exhibits = page.figure("model_comparisons", "duels", caption, draw)
    caption = "Rank of each model under each measure. Lines that cross: the order depends on the measure."
    exhibits += page.figure("rankings", "ranks", caption, partial(pair_figures.rank_figure, rankings))
    caption = f"Correlations (Pearson) of accuracies over paradigms ({first}): who finds the same paradigms hard."
    draw = partial(pair_figures.accuracy_correlation_figure, correlations, first)
    exhibits += page.figure("accuracy_correlations", "kinship", caption, draw)
    caption = (
        "Two language models on the pairs that both were given: McNemar's test is without ties; in accuracies "
        f"{minimal_pairs.TIES}."
    )
    exhibits += page.table("model_comparisons", caption, without(comparisons, "note"), aside=True)
    caption = "Ranks by mean accuracy over paradigms; equals share the mean of their places."
    exhibits += page.table("rankings", caption, aside=True)
    caption = "Correlations of accuracies over paradigms."
    exhibits += page.table("accuracy_correlations", caption, without(correlations, "note"), aside=True)
    head = [*minimal_pairs.significant_comparisons(comparisons), *minimal_pairs.rankings(rankings)]
    sentences = [*head, *minimal_pairs.model_comparisons(comparisons)]
    sentences += minimal_pairs.accuracy_correlations(correlations)
    badges = page.badges_of_first("model_comparisons", "accuracy_correlations")
    title = "Language models beside each other" if len(comparisons) else "Language models beside people"
    return Section(title, badges, sentences, exhibits, first=leading(sentences, len(head)))


def languages(page: Page) -> Section:
    """Return language models over languages: each counts once, whatever its pairs."""
    each, means, curves = (page.get(name) for name in ("language_accuracies", "language_means", "frequency_curves"))
    first = _main(each)
    caption = (
        f"Accuracy over languages, all and of each split ({first}), with the number of languages: means, each language counting "
        "once, with 95% bootstrap intervals over languages, none under ten."
    )
    exhibits = page.figure("language_means", "language-splits", caption, partial(language_figures.split_figure, means, first))
    caption = f"Accuracy on each language ({first}), with 95% Wilson intervals over its pairs. {CHANCE}"
    draw = partial(language_figures.language_figure, each, first)
    exhibits += page.figure("language_accuracies", "languages", caption, draw, aside=each["language"].nunique() > LONG)
    caption = (
        f"Accuracy by language frequency ({first}): each language, and the logistic curve from chance to an upper asymptote, by "
        f"least squares. The {language_figures.NAMED} languages farthest from it are named."
    )
    residuals = page.get("frequency_residuals")
    draw = partial(language_figures.frequency_figure, curves, residuals, first)
    exhibits += page.figure("frequency_curves", "language-frequency", caption, draw)
    for name, caption in OVER_LANGUAGES.items():
        exhibits += _folded(page, name, caption)
    head = wording.means(means)
    sentences = [*head, *wording.wins(page.get("language_wins")), *wording.frequencies(curves, residuals)]
    sentences += wording.regressions(page.get("score_difference_regressions"))
    badges = page.badges_of_first("language_accuracies")
    return Section("Language models over languages", badges, sentences, exhibits, first=leading(sentences, len(head)))


def _folded(page: Page, name: str, caption: str) -> list[Exhibit]:
    """Return a table that opens on demand; what is the same in all its rows stands in the caption, since tables are narrow."""
    rows, once = split_constant_columns(page.get(name), *MODEL_KEY, "measure", "factor", "group_a", "group_b")
    first, stop, rest = caption.partition(".")
    return page.table(name, f"{first}{once}{stop}{rest}", rows, aside=True)


def _main(table: pd.DataFrame) -> str:
    """Return the measure that figures show: log probability, if it is there."""
    names = list(dict.fromkeys(table["measure"]))
    return "lp" if "lp" in names else str(next(iter(names), ""))
