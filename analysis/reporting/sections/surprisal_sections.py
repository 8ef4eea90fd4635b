"""The sections on reading times beside surprisal: the self-test, what a bit costs, and what is gained on held-out readings."""

from functools import partial

import pandas as pd

from ...aligning.predictors import split_by_model
from ...comparing.pair_accuracy import MODEL_KEY
from ..exhibits import ALARM, HIDDEN, Exhibit, Page, Section, leading, split_constant_columns, without
from ..figures import surprisal_figures
from ..wording import fits, labels
from ..wording import surprisal as words

COSTS = (
    "model", "protocol", "lag", "ms_per_bit", "ms_low", "ms_high", "raw", "raw_low", "raw_high", "mean_rt", "n_readings",
)  # fmt: skip


def alignment(page: Page) -> Section:
    """Return whether reading times stand beside the right words."""
    tested, profile = page.get("alignment_check"), page.get("lag_profile")
    caption = (
        "Slopes of surprisal from two words ahead (−2) to three words back (3), all in one model, with 95% intervals. On grey "
        "ground are words that nobody has read yet: an interval that leaves out zero there is a warning. A shift of times "
        "to later words cannot be told from spillover, so look whether the largest slope is where readers should slow down."
    )
    draw = partial(surprisal_figures.lag_profile_figure, profile)
    exhibits = page.figure("lag_profile", "lag-profile", caption, draw)
    exhibits += page.table("alignment_check", "The self-test of each language model.", tested, aside=True)
    sentences = words.alignment_check(tested, profile)
    lead = (
        "Word by word the next word has not been seen, so its surprisal must add nothing to the reading time. Where it "
        "does, times and words are shifted against each other, and nothing that follows would hold."
    )
    title, badges = "Do reading times stand beside the right words?", page.badges_of_first("alignment_check")
    return Section(title, (*badges, *_alarm(page)), sentences, exhibits, lead=lead if sentences else "")


def surprisal(page: Page) -> Section:
    """Return the models of reading times by surprisal, and what a bit costs."""
    models, effects, terms = (page.get(name) for name in ("alignment_models", "surprisal_effects", "gam_terms"))
    exhibits = [*_scatter(page, models), *_costs(page, effects), *_coefficients(page, models)]
    if "smooths" in page.tables:
        caption = (
            "What surprisal adds to log reading time where it may bend (generalised additive model), with 95% bands. A straight "
            "line says that every bit costs the same."
        )
        draw = partial(surprisal_figures.smooth_figure, page.get("smooths"))
        exhibits += page.figure("smooths", "smooths", caption, draw)
    if "alignment_steps" in page.tables:
        caption = "Every fit on the way to these models, in the order made. kept: the model of the results."
        steps = without(page.get("alignment_steps"), "engine", "optimizer", "parameters", "criterion", "code")
        exhibits += page.table("alignment_steps", caption, steps, limit=60, aside=True)
    caption = "Curves instead of lines: terms of generalised additive models."
    exhibits += page.table("gam_terms", caption, without(terms, "formula"), aside=True)
    costs = [*words.costs(effects), *words.recovered(effects, page.ms_per_bit)]
    sentences = [*costs, *words.slopes(models), *words.collinearity(page.get("collinearity")), *words.smooth_terms(terms)]
    badges = (*page.badges_of_first("aligned", "aligned_means", "alignment_models", "surprisal_effects"), *_alarm(page))
    notes, first = fits.notes(models, "model"), leading(sentences, len(costs))
    return Section("Reading times and surprisal", badges, sentences, exhibits, notes, first=first)


def _scatter(page: Page, models: pd.DataFrame) -> list[Exhibit]:
    """Return a figure of reading times against the surprisal of each language model, but one that failed and was not fitted."""
    tables = (page.failed(), models.dropna(subset="estimate")[MODEL_KEY])
    failed, fitted = (set(frame.itertuples(index=False, name=None)) for frame in tables)
    name = "aligned_means" if "aligned_means" in page.tables else "aligned"
    trusted = [part for part in split_by_model(page.get(name)) if part[:2] not in failed - fitted]
    exhibits: list[Exhibit] = []
    for number, (model, protocol, rows) in enumerate(trusted):
        caption = (
            f"{labels.language_model({'model': model, 'protocol': protocol})}: mean reading time of each word against its "
            f"surprisal. A grey dot is a word (at most {surprisal_figures.DRAWN} are drawn), a blue one a tenth of all words with "
            "its standard error. A rising line: surprising words take longer. The line has no covariates; the table has the mixed "
            "model's coefficients."
        )
        stated = page.ms_per_bit.get((model, protocol), (None,))[0]
        if stated is not None:
            caption += (
                f" Dashed: the {stated:g} ms per bit that were simulated; the line holds whatever else makes surprising words "
                "slow, too."
            )
        draw = partial(surprisal_figures.surprisal_figure, rows, stated)
        exhibits += page.figure(name, f"surprisal-{number}", caption, draw, rows, aside=number > 0)
    return exhibits


def _costs(page: Page, effects: pd.DataFrame) -> list[Exhibit]:
    caption = (
        "What a bit of surprisal costs at the geometric mean reading time, with 95% intervals (delta method): of the word read, "
        "and as spillover of the words before."
    )
    if page.ms_per_bit:
        caption += (
            " A bar without an interval is what was simulated: ms that were added to the times themselves, so it is the model of "
            "these that must find them. The slope of log times is that at the mean, and falls short where surprisals are large."
        )
    draw = partial(surprisal_figures.cost_figure, effects, page.ms_per_bit)
    exhibits = page.figure("surprisal_effects", "costs", caption, draw)
    rows, once = split_constant_columns(effects[[*COSTS]], *MODEL_KEY)
    caption = f"Ms per bit{once}. raw is the slope of the same fixed effects on the time itself, with random intercepts."
    return exhibits + page.table("surprisal_effects", caption, rows, aside=True)


def _coefficients(page: Page, models: pd.DataFrame) -> list[Exhibit]:
    rows, once = split_constant_columns(without(models, *HIDDEN), *MODEL_KEY)
    caption = f"Every coefficient{once}. Surprisal in bits, length in characters, the word before as _previous."
    exhibits = page.table("alignment_models", caption + fits.fitted(models), rows, aside=True)
    caption = "Correlations of the predictors over readings, and each one's variance inflation (vif)."
    return exhibits + page.table("collinearity", caption, aside=True)


def held_out_clusters(page: Page) -> Section:
    """Return how much better surprisal predicts readings that were held out."""
    gains, comparisons = page.get("delta_log_likelihood"), page.get("delta_comparisons")
    caption = (
        "Gain in log likelihood for each held-out reading when surprisal is known, with 95% intervals (bootstrap over clusters). "
        "Right of the line: surprisal helps to predict readings that the model has not seen; left of it: it overfits."
    )
    exhibits = page.figure("delta_log_likelihood", "gains", caption, partial(surprisal_figures.gain_figure, gains))
    caption = "Gains on held-out readings, in nats."
    exhibits += page.table("delta_log_likelihood", caption, without(gains, "note"), aside=True)
    caption = "Language models against each other on the same held-out readings: nats under the first less nats under the second."
    exhibits += page.table("delta_comparisons", caption, without(comparisons, "note"), aside=True)
    sentences = [*words.gains(gains), *words.gain_comparisons(comparisons)]
    lead = (
        "Models with and without surprisal were fitted to some readings and held against the others. Clusters of readings that "
        "share words or readers are the units of the test, and their number bounds how small p can be."
    )
    notes = fits.notes(gains.assign(estimate=0.0), "model")
    title, badges = "Held-out reading times", page.badges_of_first("delta_log_likelihood")
    return Section(title, badges, sentences, exhibits, notes, lead=lead if sentences or exhibits else "")


def _alarm(page: Page) -> tuple[str, ...]:
    return () if page.failed().empty else (ALARM,)
