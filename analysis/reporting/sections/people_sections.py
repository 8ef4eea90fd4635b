"""The sections on people: who took part, what was left out, ratings, reading times, agreement, and how far to trust it all."""

from collections.abc import Iterable, Sequence
from functools import partial

import pandas as pd

from ... import chosen as chosen_models
from ... import factorial as factorial_models
from ...contrasts import CODES, INTERCEPTS, SLOPES, TERM, minimal_pairs
from ...ledger import ALL
from ...measures import RATED
from ...prompts import endings, told
from ...reliability import poor
from ...rows import records
from .. import manuscript
from ..exhibits import Exhibit, Page, Section
from ..figures import effect_figures
from ..wording import effects, factors, fits, surprisal


def run(page: Page) -> Section:
    """Who took part, and with which materials."""
    items, sessions = page.get("items"), page.get("sessions")
    items = items[~items["paradigm"].isin(_practised(page))]
    sentences = []
    exhibits: list[Exhibit] = []
    if len(items):
        counts = {name: items[name].nunique() for name in ("phenomenon", "paradigm", "item")}
        sentences.append(
            f"Materials: {len(items)} sentences, {counts['item']} items in {counts['paradigm']} paradigms of "
            f"{counts['phenomenon']} phenomena."
        )
        exhibits += page.table("items", "Materials by phenomenon, without practice: counts of rows.", _materials(items))
    if len(sessions):
        done = sessions[sessions["complete"]]
        sentences.append(
            f"Participants: {sessions['participant'].nunique()} began, {done['participant'].nunique()} completed a "
            f"session; sessions came from: {', '.join(sorted(sessions['source'].unique()))}."
        )
        exhibits += page.table("sessions", "Sessions by version: counts of rows.", _sessions(sessions))
    return Section("What was run", page.people() if len(sessions) else (), sentences, exhibits)


def _practised(page: Page) -> set[str]:
    """Return the paradigms that participants met in practice or attention trials only."""
    shown = pd.concat([page.get(name)[["paradigm", "role"]] for name in ("readings", "responses")])
    rated = shown["role"].isin(RATED)
    return set(shown.loc[~rated, "paradigm"]) - set(shown.loc[rated, "paradigm"])


def _materials(items: pd.DataFrame) -> pd.DataFrame:
    grouped = items.groupby("phenomenon", sort=False)
    counts = grouped.agg(paradigms=("paradigm", "nunique"), items=("item", "nunique"), sentences=("sentence", "size"))
    return counts.reset_index()


def _sessions(sessions: pd.DataFrame) -> pd.DataFrame:
    grouped = sessions.groupby(["experiment", "version", "source"])
    return grouped.agg(sessions=("session", "size"), complete=("complete", "sum")).reset_index()


def exclusions(page: Page) -> Section:
    ledger, alignment = page.get("exclusions"), page.get("alignment_exclusions")
    sentences = effects.exclusions(*(page.get(name) for name in manuscript.LEFT_OUT)) if len(ledger) else []
    read = alignment[alignment["table"] == "readings"]
    if len(read):
        first, last = read["before"].iloc[0], read["after"].iloc[-1]
        sentences.append(
            f"{last} of {first} words read stand beside their surprisal; the table says why others do not."
        )
    whole = ledger[ledger["condition"] == ALL].drop(columns=["condition", "step"])
    caption = (
        "Rules in the order applied, with rows and participants before and after; the file has each condition as well."
    )
    exhibits = page.table("exclusions", caption, whole)
    exhibits += page.table("alignment_exclusions", "The same for reading times beside surprisal.")
    return Section("Exclusions", page.badges("exclusions") if sentences else (), sentences, exhibits)


def ratings(page: Page) -> Section:
    return _measured(
        page,
        "Ratings",
        "z",
        ("rating", "z"),
        "Mean rating by phenomenon and condition (participants' means first); bars are one standard error over "
        "participants.",
        " Look for blue circles to the right of orange diamonds: grammatical sentences rated higher.",
    )


def times(page: Page) -> Section:
    return _measured(
        page,
        "Reading times",
        "log_rt",
        ("rt",),
        "Mean reading time of the critical region (sum over its words, ms) by phenomenon and condition; bars are one "
        "standard error over participants.",
        " Look for blue circles to the left of orange diamonds: grammatical regions read faster.",
    )


DECLARED = (
    "Mixed models of grammaticality with random intercepts, as declared, REML, Satterthwaite degrees of freedom; the "
    "coefficient is grammatical minus ungrammatical. p_bh is adjusted over the phenomena of a {family}, p_bh_all over all "
    "{family}s together; mde is the effect that would be found in 80% of repetitions; raw is the same model of {raw}"
)
WITH_SLOPES = (
    "The same with slopes: the effect itself varies over participants and items. Where it does, models without slopes find "
    "effects too easily"
)
SHOWN = ("phenomenon", "region", "prompt", "estimate", "se", "df", "t", "p", "p_bh", "p_bh_all", "ci_low", "ci_high")
BESIDE = {"z": ("raw", "raw_low", "raw_high", "mde"), "log_rt": ("ms", "ms_low", "ms_high", "raw", "mde")}
STARS = "stars after correction over phenomena (Benjamini-Hochberg): * p < .05, ** p < .01, *** p < .001."


def _measured(page: Page, title: str, measure: str, means: tuple[str, ...], caption: str, look: str) -> Section:
    """Return the section of ratings or of reading times: means, then the effect of grammaticality on them."""
    models, conditions = page.get("phenomenon_models"), page.get("condition_means")
    prompts = page.prompts() if measure == "z" else [None]
    rows = models[(models["measure"] == measure) & (models["term"] == TERM)]
    unit = "standard deviations of a participant's ratings" if measure == "z" else "log ms"
    series = (
        "the declared model and the one with slopes"
        if measure == "z"
        else "the critical region and the two words after it"
    )
    coefficient = (
        f"Coefficient of grammaticality (coded +.5 grammatical, −.5 ungrammatical, so that it is their difference, in "
        f"{unit}) with its 95% interval, of {series}. Intervals that leave out the line at zero show an effect; {STARS}"
    )
    pairs = set(conditions.loc[conditions["measure"].isin(means), "condition"]) == {*CODES}
    caption += look if pairs else ""
    exhibits: list[Exhibit] = []
    for prompt, ending in endings(prompts).items():
        draw = partial(effect_figures.condition_figure, conditions, means[0], prompt)
        exhibits += page.figure("condition_means", f"means-{measure}{ending}", _of(prompt, caption), draw)
        draw = partial(effect_figures.coefficient_figure, models, measure, prompt)
        exhibits += page.figure("phenomenon_models", f"effects-{measure}{ending}", _of(prompt, coefficient), draw)
    if measure == "log_rt":
        draw = partial(effect_figures.curve_figure, page.get("reading_curves"))
        exhibits += page.figure("reading_curves", "curves", CURVES + (SLOWER if pairs else ""), draw)
    wanted = conditions[conditions["measure"].isin(means)]
    exhibits += page.table("condition_means", "Means of participants' means and their standard errors.", wanted)
    raw = "points of the rating scale" if measure == "z" else "ms; ms is the model's difference at the mean"
    family = "prompt" if len(prompts) > 1 else "region"
    for form, names, said in (
        (INTERCEPTS, (*SHOWN, *BESIDE[measure]), DECLARED.format(raw=raw, family=family)),
        (SLOPES, SHOWN, WITH_SLOPES),
    ):
        part = rows[rows["random"] == form]
        exhibits += page.table(
            "phenomenon_models", f"{said}.{_formulas(part)}", part[_columns(names, prompts, measure)]
        )
    exhibits += _paradigms(page, measure, prompts)
    sentences = (
        [
            *effects.effects(models, measure, prompts),
            *_left_out(page, "rating_scores" if measure == "z" else "region_times"),
        ]
        if len(rows)
        else []
    )
    chosen, beside = _chosen(page, measure)
    sentences += chosen
    exhibits += beside
    if measure == "z":
        sentences += fits.ordinal(page.get("ordinal_models"))
        exhibits += page.table("ordinal_models", ORDINAL, aside=True)
    badges = page.badges("condition_means") if exhibits else ()
    noted = pd.concat([rows, page.get("chosen_models").query("measure == @measure")])
    if len(prompts) > 1:
        noted = noted.assign(phenomenon=noted["phenomenon"] + noted["prompt"].map(effects.asked))
    counts = 1 if len(prompts) == 1 else len(prompts) + 1  # of each prompt, and of all together
    first = len(sentences) if len(sentences) <= 9 else counts
    return Section(title, badges, sentences, exhibits, effects.notes(noted, "phenomenon"), first=first)


def _of(prompt: str | None, caption: str) -> str:
    """Return a caption of one prompt among several, which it names first."""
    if prompt is None:
        return caption
    name = effects.label(prompt)
    return f"{name[:1].upper()}{name[1:]}: {caption[0].lower()}{caption[1:]}"


def _columns(names: Iterable[str], prompts: Sequence[str | None], measure: str) -> list[str]:
    """Return those columns of a table of models that say something of a measure: ratings have no regions."""
    empty = {"region"} if len(prompts) > 1 else {"region", "p_bh_all"}
    return [name for name in names if measure != "z" or name not in empty]


ORDINAL = (
    "Ratings as ordered categories: cumulative-link mixed models, in which no distance between points is assumed. Coefficients are "
    "on the latent scale; they carry no stars."
)


def _chosen(page: Page, measure: str) -> tuple[list[str], list[Exhibit]]:
    """Return what the models of a policy say, and their tables: the models, and every fit on the way."""
    models, steps = page.get("chosen_models"), page.get("model_steps")
    models = models[models["measure"] == measure]
    own = steps[steps["model"].isin(chosen_models.steps_named(models))]
    shown = models.loc[models["term"] == TERM, [*CHOSEN, "formula"]]
    caption = "Models whose random effects were chosen without a look at any p of a fixed effect. singular: a variance is zero."
    exhibits = page.table("chosen_models", caption, shown, aside=True)
    caption = (
        "Every fit on the way to these models, in the order made. kept: the model of the results; chi2, df and p: the likelihood "
        "ratio against the model it would replace."
    )
    exhibits += page.table("model_steps", caption, own[[*STEPS]], limit=60, aside=True)
    return fits.chosen(models, own), exhibits


CHOSEN = ("phenomenon", "region", "prompt", "estimate", "se", "df", "t", "p", "ci_low", "ci_high", "singular")
STEPS = ("model", "step", "formula", "converged", "singular", "chi2", "df", "p", "kept", "decision", "sd")


def factorial(page: Page) -> Section:
    """Return the models of the study's own factors."""
    models, marginal = page.get("factorial_models"), page.get("marginal_contrasts")
    sentences = factors.factorial_effects(models) if len(models) else []
    sentences += fits.contrasts(marginal)
    shown = models[[name for name in FACTORIAL if name in models]]
    caption = (
        "Models of the study's own factors. A contrast is named by the levels that it sets against each other; ms is its "
        "difference at the mean; mde, the effect that would be found in 80% of repetitions."
    )
    exhibits: list[Exhibit] = []
    for measure in models["measure"].unique():
        drawn = (
            "Differences between the levels of the study's factors, with 95% intervals; an interaction is a difference of "
            "differences."
        )
        own = models[models["measure"] == measure]
        for prompt, ending in endings(told(own)).items():
            draw = partial(effect_figures.factorial_figure, own, measure, prompt)
            exhibits += page.figure("factorial_models", f"factors-{measure}{ending}", _of(prompt, drawn), draw)
    exhibits += page.table("factorial_models", caption, shown, limit=60, aside=True)
    steps = page.get("model_steps")
    own = steps[steps["model"].isin(factorial_models.steps_named(models))]
    exhibits += page.table("model_steps", "Every fit on the way to these models.", own[[*STEPS]], limit=60, aside=True)
    caption = "Differences between levels of a factor at the means of everything else."
    exhibits += page.table("marginal_contrasts", caption, marginal.drop(columns="formula"), aside=True)
    notes = effects.notes(models, "model")
    badges = page.badges("factorial_models") if sentences else ()
    return Section("Factors of the study", badges, sentences, exhibits, notes, first=max(1, min(9, len(sentences))))


FACTORIAL = (
    "model", "measure", "region", "prompt", "random", "term", "contrast", "estimate", "se", "df", "t", "p", "p_bh", "ci_low",
    "ci_high", "ms", "ms_low", "ms_high", "mde",
)  # fmt: skip
CURVES = (
    "Reading times word by word around the critical region (place 0, grey; the mean of its words), in ms a word: participants' "
    "means, bars one standard error over participants."
)
SLOWER = " Look for orange above blue from 0 on: what is ungrammatical slows reading there or, as spillover, on the words after."


def _formulas(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    formulas, engines = "; ".join(rows["formula"].unique()), ", ".join(rows["engine"].unique())
    return f" {formulas} (engine {engines})."


def _paradigms(page: Page, measure: str, prompts: Sequence[str | None]) -> list[Exhibit]:
    models = page.get("paradigm_models")
    rows = models[(models["measure"] == measure) & (models["term"] == TERM)]
    beside = ["random"] if len(rows["random"].unique()) > 1 else []
    names = ["paradigm", *beside, *_columns(SHOWN[1:], prompts, measure)]
    caption = "The declared model of each paradigm: a family of tests of its own."
    if beside:
        caption = (
            "The models of each paradigm, with intercepts as declared and with slopes: families of tests of their own."
        )
    return page.table("paradigm_models", caption, rows[names], limit=60)


def trust(page: Page) -> Section:
    families, grid = page.get("families"), page.get("sensitivity")
    several = len(page.prompts()) > 1
    over = "over all regions, or prompts" if several else "over all regions"
    exhibits = page.table("families", f"Families of tests: each is corrected by itself; found_all, {over}.")
    caption = (
        "The effect on reading times of the critical region (ms at the mean, with intervals) under every cutoff and transform, and "
        "without participants who are flagged; a column is a choice, marked below. The declared choice is orange. These are no "
        "tests of their own: they show what the declared one depends on."
    )
    draw = partial(effect_figures.specification_figure, grid)
    exhibits += page.figure("sensitivity", "specifications", caption, draw)
    caption = (
        "Share of simulated studies in which the smallest effect of interest is found at .05, by participants and items, with 95% "
        "Wilson intervals. The dashed line is four of five."
    )
    exhibits += page.figure("power", "power", caption, partial(effect_figures.power_figure, page.get("power")))
    exhibits += page.table("power", "Power by simulation.", aside=True)
    told = [*effects.power(page.get("phenomenon_models"), page.smallest), *fits.planned(page.get("power"))]
    first = max(1, len(told))
    told += effects.robustness(grid)
    lagged = (
        families[families["level"] == "phenomenon"]
        .dropna(subset="autocorrelation")
        .drop_duplicates(["measure", "region", "prompt"])
    )
    told += [
        f"Residuals of successive trials correlate by {surprisal.shown(row['autocorrelation'])} "
        f"({', '.join([row['measure'], row['region'], *([row['prompt']] if several and not pd.isna(row['prompt']) else [])])})."
        for row in records(lagged)
    ]
    badges = page.badges("families") if exhibits else ()
    return Section("How far the results can be trusted", badges, told, exhibits, first=first)


def agreement(page: Page) -> Section:
    found, counts = page.get("reliability"), page.get("rating_counts")
    caption = (
        "Agreement on each paradigm: ICC(2,k), a dot for each version, with its 95% interval over all sentences; within a "
        "condition there are few sentences, and no effect of grammaticality to agree on. Left of the dashed line: poor."
    )
    exhibits: list[Exhibit] = []
    prompts = endings(page.prompts())
    for prompt, ending in prompts.items():
        draw = partial(effect_figures.reliability_figure, found, prompt)
        exhibits += page.figure("reliability", f"icc{ending}", _of(prompt, caption), draw)
    caption = (
        "Ratings of paradigms on which agreement is poor in some version, as shares of a condition. One peak: people differ by "
        "degree; two: they differ on the matter."
    )
    for prompt, ending in prompts.items():
        draw = partial(effect_figures.rating_figure, poor(counts, found), prompt)
        exhibits += page.figure("rating_counts", f"ratings{ending}", _of(prompt, caption), draw)
    caption = "Ceilings: what a perfect model would correlate with the mean ratings of these people, at each level."
    exhibits += page.table("noise_ceilings", caption)
    caption = "Forced choice: shares of single choices and of majorities, which must not be mixed."
    exhibits += page.table("choice_agreement", caption)
    tables = [page.get(name) for name in manuscript.AGREEMENT]
    return Section(
        "Agreement among people", page.badges("reliability") if exhibits else (), effects.agreement(*tables), exhibits
    )


def _left_out(page: Page, measured: str) -> list[str]:
    items, rows = page.get("items"), page.get(measured)
    targets = set(rows.loc[rows["role"] == "target", "paradigm"])
    others = sorted(targets - set(minimal_pairs(items))) if len(items) else []
    if not others:
        return []
    return [f"Not in these models, having other conditions than grammatical and ungrammatical: {', '.join(others)}."]
