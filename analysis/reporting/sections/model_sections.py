"""The sections on language models: beside reading times, beside ratings, on minimal pairs, and beside each other."""

import itertools
from collections.abc import Sequence
from functools import partial

import pandas as pd

from ...correlation import MEASURES
from ...evaluation import MODEL
from ...predictors import by_model
from ...prompts import endings
from ..exhibits import ALARM, HIDDEN, Exhibit, Page, Section, told_once
from ..figures import curve_figures, pair_figures, surprisal_figures
from ..wording import effects as effect_words
from ..wording import fits
from ..wording import surprisal as words

FEW = 3  # language models that have figures of their own on minimal pairs
LONG = 40  # paradigms from which the figure of all of them opens on demand
MAIN = ("slor", "mean_lp", "lp")  # the measure held against ratings in a figure: the first that there is


def gate(page: Page) -> Section:
    """Return whether reading times stand beside the right words."""
    tested, profile = page.get("alignment_test"), page.get("lag_profile")
    caption = (
        "Slopes of surprisal from two words ahead (−2) to three words back (3), all in one model, with 95% intervals. On grey "
        "ground are words that nobody has read yet: an interval that leaves out zero there is a warning. A shift of times "
        "to later words cannot be told from spillover, so look whether the largest slope is where readers should slow down."
    )
    draw = partial(surprisal_figures.lag_profile_figure, profile)
    exhibits = page.figure("lag_profile", "lag-profile", caption, draw)
    exhibits += page.table("alignment_test", "The self-test of each language model.", tested, aside=True)
    told = words.alignment(tested, profile)
    lead = (
        "In self-paced reading the next word has not been seen, so its surprisal must add nothing to the reading time. Where it "
        "does, times and words are shifted against each other, and nothing that follows would hold."
    )
    title, badges = "Do reading times stand beside the right words?", _badges(page, "alignment_test")
    return Section(title, (*badges, *_alarm(page)), told, exhibits, lead=lead if told else "")


def surprisal(page: Page) -> Section:
    """Return the models of reading times by surprisal, and what a bit costs."""
    aligned, models, effects = (page.get(name) for name in ("aligned", "alignment_models", "surprisal_effects"))
    exhibits: list[Exhibit] = []
    tables = (page.failed(), models.dropna(subset="estimate")[MODEL])
    failed, fitted = (set(frame.itertuples(index=False, name=None)) for frame in tables)
    trusted = [part for part in by_model(aligned) if part[:2] not in failed - fitted]
    for number, (model, protocol, rows) in enumerate(trusted):
        caption = (
            f"{model} ({protocol}): mean reading time of each word against its surprisal. A grey dot is a word (at "
            f"most {surprisal_figures.DRAWN} are drawn), a blue one a tenth of all words with its standard error. A rising line: "
            "surprising words take longer. The line has no covariates; the table has the mixed model's coefficients."
        )
        draw = partial(surprisal_figures.surprisal_figure, rows)
        exhibits += page.figure("aligned", f"surprisal-{number}", caption, draw, rows, aside=number > 0)
    caption = (
        "What a bit of surprisal costs at the geometric mean reading time, with 95% intervals (delta method): of the word read, "
        "and as spillover of the words before."
    )
    exhibits += page.figure("surprisal_effects", "costs", caption, partial(surprisal_figures.cost_figure, effects))
    columns = [
        "model",
        "protocol",
        "lag",
        "ms_per_bit",
        "ms_low",
        "ms_high",
        "raw",
        "raw_low",
        "raw_high",
        "mean_rt",
        "n",
    ]
    shown, once = told_once(effects[columns], *MODEL)
    caption = f"Ms per bit{once}. raw is the slope of the same fixed effects on the time itself, with random intercepts"
    exhibits += page.table("surprisal_effects", f"{caption}.", shown, aside=True)
    shown, once = told_once(models.drop(columns=[column for column in HIDDEN if column in models]), *MODEL)
    rest = f"Surprisal in bits, length in characters, the word before as _previous{once}"
    exhibits += page.table("alignment_models", f"Every coefficient. {_fitted(models)}{rest}.", shown, aside=True)
    caption = "Correlations of the predictors over readings, and each one's variance inflation (vif)."
    exhibits += page.table("collinearity", caption, aside=True)
    if "smooths" in page.tables:
        caption = (
            "What surprisal adds to log reading time where it may bend (generalised additive model), with 95% bands. A straight "
            "line says that every bit costs the same."
        )
        exhibits += page.figure(
            "smooths", "smooths", caption, partial(curve_figures.smooth_figure, page.get("smooths"))
        )
    if "alignment_steps" in page.tables:
        caption = "Every fit on the way to these models, in the order made. kept: the model of the results."
        steps = _without(page.get("alignment_steps"), "engine", "optimizer", "parameters", "criterion", "code")
        exhibits += page.table("alignment_steps", caption, steps, limit=60, aside=True)
    caption = "Curves instead of lines: terms of generalised additive models."
    exhibits += page.table("gam_terms", caption, _without(page.get("gam_terms"), "formula"), aside=True)
    costs = words.costs(effects)
    told = [*costs, *effect_words.slopes(models), *words.entangled(page.get("collinearity"))]
    told += fits.curves(page.get("gam_terms"))
    badges = (*_badges(page, "aligned", "alignment_models", "surprisal_effects"), *_alarm(page))
    return Section(
        "Reading times and surprisal",
        badges,
        told,
        exhibits,
        effect_words.notes(models, "model"),
        first=_few(told, costs),
    )


def heldout(page: Page) -> Section:
    """Return how much better surprisal predicts readings that were held out."""
    gains, rivals = page.get("delta_log_likelihood"), page.get("delta_comparisons")
    caption = (
        "Gain in log likelihood for each held-out reading when surprisal is known, with 95% intervals (bootstrap over clusters). "
        "Right of the line: surprisal helps to predict readings that the model has not seen; left of it: it overfits."
    )
    exhibits = page.figure("delta_log_likelihood", "gains", caption, partial(surprisal_figures.gain_figure, gains))
    exhibits += page.table(
        "delta_log_likelihood", "Gains on held-out readings, in nats.", _without(gains, "note"), aside=True
    )
    caption = "Language models against each other on the same held-out readings: nats under the first less nats under the second."
    exhibits += page.table("delta_comparisons", caption, _without(rivals, "note"), aside=True)
    told = [*words.gains(gains), *words.rivals(rivals)]
    lead = (
        "Models with and without surprisal were fitted to some readings and held against the others. Clusters of readings that "
        "share words or readers are the units of the test, and their number bounds how small p can be."
    )
    notes = effect_words.notes(gains.assign(estimate=0.0), "model")
    title, badges = "Held-out reading times", _badges(page, "delta_log_likelihood")
    return Section(title, badges, told, exhibits, notes, lead=lead if told or exhibits else "")


def likenesses(page: Page) -> Section:
    """Return how far scores of sentences go along with people's ratings."""
    table, scores, ratings = (page.get(name) for name in ("rating_correlations", "sentence_scores", "rating_scores"))
    exhibits: list[Exhibit] = []
    prompts = endings(page.prompts())
    models = enumerate(by_model(scores) if len(ratings) else ())
    for (number, (model, protocol, rows)), (prompt, ending) in itertools.product(models, prompts.items()):
        measure = next((name for name in MAIN if rows[name].notna().any()), MEASURES[0])
        what = f"{model} ({protocol}), {measure}{effect_words.asked(prompt)}"
        caption = (
            f"{what}: mean rating of each sentence against its score, and the difference within each "
            "pair, with the least-squares line and its 95% band. Beside r stands what a perfect model would reach with "
            "these people's ratings."
        )
        aside, place = number > 0, "rating_correlations" if len(table) else "rating_scores"
        draw = partial(surprisal_figures.score_figure, rows, ratings, measure, table, prompt)
        exhibits += page.figure(place, f"ratings-{number}{ending}", caption, draw, rows, aside=aside)
        caption = (
            f"{what}: the same by phenomenon. A phenomenon has few sentences, so its r is a "
            "description, without a test."
        )
        draw = partial(surprisal_figures.phenomenon_score_figure, rows, ratings, measure, prompt)
        key = f"ratings-by-phenomenon-{number}{ending}"
        exhibits += page.figure("rating_scores", key, caption, draw, rows, aside=aside)
    caption = (
        "Correlations of scores and ratings at each level, with 95% intervals (bootstrap over units) and noise ceilings. The level "
        "relative sets a rating against the score less that of the pair's other member (doi 10.1073/pnas.2400917121) and "
        "holds the mean effect of grammaticality: do not compare it with the others."
    )
    exhibits += page.table("rating_correlations", caption, _without(table, "note", "unit"), limit=60, aside=True)
    main = next((name for name in MAIN if name in set(table["measure"])), MEASURES[0])
    parts = [words.likenesses(table[(table["measure"] == main) == own]) for own in (True, False)]
    told, badges = [text for part in parts for text in part], _badges(page, "rating_correlations")
    return Section("Scores and ratings", badges, told, exhibits, first=_few(told, parts[0], 4))


def pairs(page: Page) -> Section:
    """Return how often each language model prefers the grammatical member."""
    table = page.get("accuracy")
    models = list(table.groupby(MODEL, sort=False))
    first = _main(table)
    exhibits: list[Exhibit] = []
    if len(models) > 1 or table["phenomenon"].nunique() > 2:
        caption = (
            f"Accuracy by phenomenon ({first}), with 95% Wilson intervals over pairs; a tie is half a success. Look for intervals "
            "right of the dashed line (chance). The mean over paradigms has no such interval."
        )
        draw = partial(pair_figures.phenomenon_accuracy_figure, table, first)
        exhibits += page.figure("accuracy", "accuracy-phenomena", caption, draw)
    choices = page.get("choice_agreement")
    if len(models) > 1 or len(choices):
        caption = (
            f"Pairs won on each paradigm ({first}), in percent, a block for each phenomenon. Yellow: nearly all; dark blue: fewer "
            "than chance."
        )
        caption += " People's are single choices between the two members." if len(choices) else ""
        exhibits += page.figure(
            "accuracy", "accuracy-map", caption, partial(pair_figures.heat_figure, table, first, choices)
        )
    for number, (names, rows) in enumerate(models[:FEW]):
        model, protocol = map(str, names)
        caption = (
            f"{model} ({protocol}): share of pairs won on each paradigm, with 95% Wilson intervals. Look for intervals right of "
            "the dashed line (chance)."
        )
        aside = len(models) > 1 or rows["paradigm"].nunique() > LONG
        draw = partial(pair_figures.accuracy_figure, rows)
        exhibits += page.figure("accuracy", f"accuracy-{number}", caption, draw, rows, aside=aside)
    bins = page.get("accuracy_bins")
    caption = (
        f"Accuracy ({first}) by how sure the model is, and by properties of the grammatical member, in equal shares of pairs with "
        "95% Wilson intervals. A model that knows what it knows rises with confidence."
    )
    exhibits += page.figure("accuracy_bins", "accuracy-bins", caption, partial(pair_figures.bin_figure, bins, first))
    shown, once = told_once(table, *MODEL, "measure")
    caption = (
        f"Accuracy by paradigm, by phenomenon and over all{once}. The pooled interval takes pairs as independent: it speaks "
        "of further pairs of these paradigms, not of further paradigms."
    )
    exhibits += page.table("accuracy", caption, shown, limit=120, aside=True)
    exhibits += page.table("accuracy_bins", "Accuracy by confidence, length and perplexity.", bins, aside=True)
    exhibits += page.table("length_bias", "Leaning to shorter or longer members.", page.get("length_bias"), aside=True)
    caption = "Two groups of items, z-test for two proportions; pairs count as independent."
    exhibits += page.table("proportion_tests", caption, aside=True)
    parts = [effect_words.accuracies(table[(table["measure"] == first) == own]) for own in (True, False)]
    told = [*parts[0], *parts[1], *words.slants(bins[bins["measure"] == first])]
    told += [*words.leanings(page.get("length_bias")), *words.groups(page.get("proportion_tests"))]
    badges = _badges(page, "accuracy")
    return Section("Language models on minimal pairs", badges, told, exhibits, first=_few(told, parts[0]))


def rivals(page: Page) -> Section:
    """Return language models against each other, and beside people, on the same pairs."""
    duels, places, kin = (page.get(name) for name in ("model_comparisons", "rankings", "accuracy_correlations"))
    first = _main(duels if len(duels) else kin)
    caption = (
        f"How many more pairs the first of two models wins ({first}), with 95% intervals. The grey one treats these paradigms as "
        "all there are; the blue one, as drawn from more, and grammar at large needs that one. It is withheld under ten "
        "paradigms."
    )
    exhibits = page.figure("model_comparisons", "duels", caption, partial(pair_figures.comparison_figure, duels, first))
    caption = "Rank of each model under each measure. Lines that cross: the order depends on the measure."
    exhibits += page.figure("rankings", "ranks", caption, partial(pair_figures.rank_figure, places))
    caption = f"Correlations (Pearson) of accuracies over paradigms ({first}): who finds the same paradigms hard."
    draw = partial(pair_figures.kinship_figure, kin, first)
    exhibits += page.figure("accuracy_correlations", "kinship", caption, draw)
    caption = (
        "Two language models on the pairs that both were given: McNemar's test drops ties, accuracies count them half."
    )
    exhibits += page.table("model_comparisons", caption, _without(duels, "note"), aside=True)
    exhibits += page.table(
        "rankings", "Ranks by mean accuracy over paradigms; equals share the mean of their places.", aside=True
    )
    exhibits += page.table(
        "accuracy_correlations", "Correlations of accuracies over paradigms.", _without(kin, "note"), aside=True
    )
    head = [*words.decided(duels), *words.standings(places)]
    told = [*head, *words.duels(duels), *words.kinships(kin)]
    badges = _badges(page, "model_comparisons", "accuracy_correlations")
    title = "Language models beside each other" if len(duels) else "Language models beside people"
    return Section(title, badges, told, exhibits, first=_few(told, head))


def _few(told: Sequence[str], head: Sequence[str], most: int = 9) -> int:
    """Return how many sentences stand before the figures: all, where they are few, else the head."""
    return len(told) if len(told) <= most else max(1, len(head))


def _main(table: pd.DataFrame) -> str:
    """Return the measure that figures show: log probability, if it is there."""
    measures = list(dict.fromkeys(table["measure"]))
    return "lp" if "lp" in measures else str(next(iter(measures), ""))


def _alarm(page: Page) -> tuple[str, ...]:
    return () if page.failed().empty else (ALARM,)


def _badges(page: Page, *names: str) -> tuple[str, ...]:
    """Return the warnings of the first of these tables that has rows."""
    return next((page.badges(name) for name in names if len(page.get(name))), ())


def _fitted(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    formulas, engines = "; ".join(rows["formula"].unique()), ", ".join(rows["engine"].unique())
    return f"Mixed models, {formulas}: REML, Satterthwaite degrees of freedom (engine {engines}). "


def _without(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return table.drop(columns=[name for name in columns if name in table])
