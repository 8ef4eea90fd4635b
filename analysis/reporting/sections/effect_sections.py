"""The sections on effects: of grammaticality and of a study's own factors on ratings and reading times, and how sure they are."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pandas as pd

from gardenpath.study.plans import INTERCEPTS, SLOPES
from gardenpath.study.responses import PRIMARY_RESPONSES, RESPONSES

from ...exclusion_log import ALL_CONDITIONS
from ...grammatical_status import GRAMMATICALITY_CODES, find_minimal_pair_paradigms
from ...model_results import SIMPLE_EFFECT, select_categories, select_factors, select_pairs, select_reduced_pairs
from ...prompts import build_file_suffixes, list_prompts
from ..exhibits import Exhibit, Page, Section, few
from ..figures import effect_figures, factor_figures, multiverse_figures
from ..wording import (
    confounds,
    contrasts,
    effect_captions,
    effects,
    equivalence,
    factors,
    fits,
    hypotheses,
    hypothesis_answers,
    labels,
    multiverse,
    optimism,
    participation,
    random_effects,
    tasks,
)

LOOK_AT_PAIRS = {  # whether a response has regions
    False: " Look for blue circles to the right of orange diamonds: grammatical sentences rated higher.",
    True: " Look for blue circles to the left of orange diamonds: grammatical regions read faster.",
}
CURVES = (
    "Reading times word by word around the critical region (place 0, grey; the mean of its words), in ms a word: participants' "
    "means, bars one standard error over participants."
)
SLOWER = " Look for orange above blue from 0 on: what is ungrammatical slows reading there or, as spillover, on the words after."
COEFFICIENT = (
    "Effect of grammaticality on {measure}{where}: its coefficient, {coded} so that it is their difference in {unit}, with "
    "{bars}. Filled: the headline, with slopes wherever the data allow them; hollow: intercepts alone, the form most often "
    "published. {look}Stars: p {adjusted}, {stars}."
)
BARS = {"interval": "95% intervals", "se": "bars of one standard error"}
LOOK = "Intervals that leave out the line at zero show an effect. "
DECLARED = (
    "Mixed models of grammaticality with random intercepts, as declared; the coefficient is grammatical minus ungrammatical. "
    "p_adjusted is {adjusted}, p_adjusted_all over all {family}s together; {detectable}; raw is the same model of {raw}."
)
WITH_SLOPES = f"The same with slopes: {fits.VARYING}. Where it does, models without slopes find effects too easily."
ORDINAL = (
    "Ratings as ordered categories: cumulative-link mixed models, in which no distance between points is assumed. Coefficients are "
    "on the latent scale; they carry no stars."
)
COLUMNS = ("model", "region", "prompt", "estimate", "se", "df", "t", "p", "p_adjusted", "p_adjusted_all", "ci_low", "ci_high")
ADDED_COLUMNS = {False: ("raw", "raw_low", "raw_high", "mde"), True: ("ms", "ms_low", "ms_high", "raw", "mde")}
POLICY_COLUMNS = ("model", "region", "prompt", "estimate", "se", "df", "t", "p", "ci_low", "ci_high", "singular")
STEPS = ("model_id", "step", "formula", "converged", "singular", "chi2", "df", "p", "kept", "decision", "sd")
CATEGORY_COLUMNS = (
    "unit", "model", "prompt", "term", "contrast", "estimate", "se", "t", "p", "ci_low", "ci_high", "singular", "formula",
)  # fmt: skip
SIMPLE_COLUMNS = (
    "model", "response", "region", "prompt", "random", "factors", "within", "contrast", "estimate", "se", "df", "t", "p",
    "p_adjusted", "adjustment", "ci_low", "ci_high", "ms", "ms_low", "ms_high",
)  # fmt: skip
FACTORIAL = (
    "model", "response", "region", "prompt", "random", "term", "contrast", "estimate", "se", "df", "t", "p", "p_adjusted", "ci_low",
    "ci_high", "ms", "ms_low", "ms_high", "mde",
)  # fmt: skip


def answer_hypotheses(page: Page) -> Section:
    """The hypotheses of the study, each with its answer, and interactions that hold on one scale alone."""
    table = page.get("hypotheses")
    sentences = hypothesis_answers.answer_hypotheses(table)
    caption = "Hypotheses with their tests; verdict is undecided where neither an effect nor its absence is shown."
    exhibits = page.table("hypotheses", caption) if sentences else []
    return Section("Hypotheses", page.badges("hypotheses") if sentences else (), sentences, exhibits)


def grammaticality(page: Page, measure: str) -> Section:
    """Return the section of ratings or their like, or of reading times: means, then the effect of grammaticality on them."""
    response = RESPONSES[measure]
    title = f"{response.noun[0].upper()}{response.noun[1:]}"
    results = page.results[page.results["response"] == measure]
    rows, policy_models = select_pairs(results), select_reduced_pairs(results)
    prompts = page.prompts(measure)
    exhibits = _mean_figures(page, measure, prompts)
    means = page.get("condition_means")
    means = means[means["measure"].isin([response.raw, measure])]
    exhibits += page.table("condition_means", "Means of participants' means and their standard errors.", means)
    caption = effect_captions.grammaticality_caption(rows, fits.adjusted(len(prompts) > 1))
    exhibits += page.coefficients("effects", caption, effect_captions.grammaticality(rows))
    exhibits += _declared(page, rows, measure, prompts)
    exhibits += _paradigms(page, measure, prompts)
    counts = effects.counts(rows, measure, prompts)  # they stand above, in the answer
    sentences = [each for each in effects.effects(rows, measure, prompts) if each not in counts]
    sentences += confounds.confounds(page.get("confounds"), rows)
    sentences += _left_aside(page, measure) if len(rows) else []
    steps = page.get("models")
    steps = steps[steps["model_id"].isin(policy_models["model_id"])]
    sentences += effects.policy_effects(policy_models, steps)
    exhibits += _policy_tables(page, policy_models, steps)
    if response.categories:
        categories = select_categories(page.results)
        sentences += effects.ordinal(categories)
        exhibits += page.table("effects", ORDINAL, categories[[*CATEGORY_COLUMNS]], aside=True)
    badges = page.badges("condition_means") if exhibits else ()
    noted = pd.concat([rows, policy_models])
    if len(prompts) > 1:
        noted = noted.assign(model=noted["model"] + noted["prompt"].map(labels.asked))
    notes = fits.notes(noted, "model")
    if not sentences and not any(exhibit.svg for exhibit in exhibits):
        return Section(title)  # of a study with factors of its own: the means are in the interaction plot
    return Section(title, badges, sentences, exhibits, notes, first=few(sentences))


def _mean_figures(page: Page, measure: str, prompts: Sequence[str | None]) -> list[Exhibit]:
    """Return the figures of means, prompt by prompt, and of reading times word by word.

    Means of a study's own factors stand in the interaction plot.
    """
    conditions, curves = page.get("condition_means"), page.get("reading_curves")
    response = RESPONSES[measure]
    how = "" if response.has_regions else " (participants' means first)"
    caption = f"Mean {response.raw_label} by phenomenon and condition{how}; bars are one standard error over participants."
    of_measure = conditions[conditions["measure"].isin([response.raw, measure])]
    if len(page.get("factorial_means")):
        grammatical = of_measure["condition"].isin(GRAMMATICALITY_CODES).groupby(of_measure["phenomenon"]).transform("all")
        of_measure = of_measure[grammatical]
    pairs = set(of_measure["condition"]) == {*GRAMMATICALITY_CODES}
    exhibits: list[Exhibit] = []
    for prompt, ending in build_file_suffixes(prompts).items():
        draw = partial(effect_figures.condition_figure, of_measure, response.raw, prompt)
        text = labels.under(prompt, caption + LOOK_AT_PAIRS[response.has_regions] if pairs else caption)
        text = _add_reading_time(page, text, response.has_regions)
        exhibits += page.figure("condition_means", f"means-{measure}{ending}", text, draw)
    if measure == "log_rt":
        pairs = set(curves["condition"]) == {*GRAMMATICALITY_CODES}
        draw = partial(effect_figures.curve_figure, curves, effect_figures.looks(page.get("conditions")))
        exhibits += page.figure("reading_curves", "curves", CURVES + (SLOWER if pairs else ""), draw)
    return exhibits


def _coefficient_figures(page: Page, measure: str, prompts: Sequence[str | None]) -> list[Exhibit]:
    """Return the figures of the effect of grammaticality, prompt by prompt."""
    models = select_pairs(page.results)
    regions = models.loc[models["response"] == measure, "region"].unique()
    caption = COEFFICIENT.format(
        measure=RESPONSES[measure].noun,
        coded=fits.CODED,
        unit=RESPONSES[measure].effect_unit,
        where=f" of {hypotheses.describe_regions(regions)}" if RESPONSES[measure].has_regions else "",
        bars=BARS[page.styled.bars],
        look=LOOK if page.styled.bars == "interval" else "",
        stars=", ".join(f"{'*' * n} p < {f'{p:g}'.removeprefix('0')}" for n, p in enumerate(page.styled.stars, start=1)),
        adjusted=fits.adjusted(len(prompts) > 1),
    )
    exhibits: list[Exhibit] = []
    for prompt, ending in build_file_suffixes(prompts).items():
        draw = partial(effect_figures.coefficient_figure, models, measure, prompt, page.styled)
        text = labels.under(prompt, caption)
        exhibits += page.figure("effects", f"effects-{measure}{ending}", text, draw)
    return exhibits


def _declared(page: Page, rows: pd.DataFrame, measure: str, prompts: Sequence[str | None]) -> list[Exhibit]:
    """Return the tables of the declared models, and of those with slopes."""
    declared = DECLARED.format(
        adjusted=fits.adjusted(len(prompts) > 1),
        family="prompt" if len(prompts) > 1 else "region",
        detectable=fits.DETECTABLE,
        raw=RESPONSES[measure].raw_unit + ("; ms is the model's difference at the mean" if RESPONSES[measure].has_regions else ""),
    )
    exhibits: list[Exhibit] = []
    for form, names, caption in (
        (INTERCEPTS, (*COLUMNS, *ADDED_COLUMNS[RESPONSES[measure].has_regions]), declared),
        (SLOPES, COLUMNS, WITH_SLOPES),
    ):
        part = rows[rows["random"] == form]
        columns = _columns(names, prompts, measure)
        exhibits += page.table(
            "effects", caption + fits.fitted(part), part[columns].rename(columns={"model": "phenomenon"}), aside=True
        )
    return exhibits


def _columns(names: Iterable[str], prompts: Sequence[str | None], measure: str) -> list[str]:
    """Return those columns of a table of models that say something of a measure: ratings have no regions."""
    empty = {"region"} if len(prompts) > 1 else {"region", "p_adjusted_all"}
    return [name for name in names if RESPONSES[measure].has_regions or name not in empty]


def _paradigms(page: Page, measure: str, prompts: Sequence[str | None]) -> list[Exhibit]:
    models = select_pairs(page.results, "paradigm")
    rows = models[models["response"] == measure]
    beside = ["random"] if len(rows["random"].unique()) > 1 else []
    names = ["model", *beside, *_columns(COLUMNS[1:], prompts, measure)]
    caption = "The declared model of each paradigm: a family of tests of its own."
    if beside:
        caption = "The models of each paradigm, with intercepts as declared and with slopes: families of tests of their own."
    return page.table("effects", caption, rows[names].rename(columns={"model": "paradigm"}), limit=60)


def _left_aside(page: Page, measure: str) -> list[str]:
    items, rows = page.get("items"), page.get(RESPONSES[measure].table)
    if task := RESPONSES[measure].task:
        rows = rows[rows["task"] == task]
    targets = set(rows.loc[rows["role"] == "target", "paradigm"])
    return participation.other_conditions(sorted(targets - set(find_minimal_pair_paradigms(items)))) if len(items) else []


def _policy_tables(page: Page, models: pd.DataFrame, steps: pd.DataFrame) -> list[Exhibit]:
    """Return the tables of the models of a policy, and of every fit on the way."""
    caption = f"Models whose random effects were chosen by a policy: {fits.UNSEEN}. singular: a variance is zero."
    tested = models[models["contrast"].notna() | models["estimate"].isna()]
    rows = tested[[*POLICY_COLUMNS, "formula"]].rename(columns={"model": "phenomenon"})
    exhibits = page.table("effects", caption, rows, aside=True)
    caption = (
        "Every fit on the way to these models, in the order made. kept: the model of the results; chi2, df and p: the likelihood "
        "ratio against the model it would replace."
    )
    return exhibits + page.table("models", caption, steps[[*STEPS]], limit=60, aside=True)


def build_factorial_section(page: Page) -> Section:
    """Return what was tested and what came out: terms and responses, the effects, cells' means, and coefficients."""
    factorial, phenomena = select_factors(page.results), select_pairs(page.results)
    sentences: list[str] = []
    exhibits = [*_interactions(page), *_factorial_coefficients(page, factorial)]
    for measure in PRIMARY_RESPONSES:
        prompts = page.prompts(measure)
        rows = phenomena[phenomena["response"] == measure]
        if len(rows):
            sentences += effects.counts(rows, measure, prompts)
            exhibits += _coefficient_figures(page, measure, prompts)
    sentences += factors.summarise_effects(factorial)
    sentences += confounds.confounds(page.get("confounds"), factorial)
    answered = len(sentences)
    sentences += factors.factorial_effects(factorial) if len(factorial) else []
    sentences += optimism.describe_optimistic_effects(page.results, page.get("aggregate_tests"), page.get("random_effects"))
    sentences += hypothesis_answers.describe_scale_dependence(factorial)
    lead = " ".join(hypotheses.tested(factorial, phenomena))
    badges = page.badges_of_first("effects")
    return Section("What was tested, and what came out", badges, sentences, exhibits, lead=lead, first=answered)


def _interactions(page: Page) -> list[Exhibit]:
    """Return the interaction plot of each set of factors, and the figure of choices."""
    means = page.get("factorial_means")
    exhibits: list[Exhibit] = []
    crossed = means[means["factors"] != ALL_CONDITIONS]
    for number, (names, rows) in enumerate(crossed.groupby("factors", sort=False), start=1):
        draw = partial(factor_figures.interaction_figure, means, str(names))
        caption = _add_reading_time(page, effect_captions.interaction(rows), bool(rows["response"].isin(["log_rt", "rt"]).any()))
        exhibits += page.figure("factorial_means", f"interaction-{number}", caption, draw, rows)
        exhibits += page.coefficients("factorial_means", effect_captions.cells_caption(rows), effect_captions.cells(rows))
    draw = partial(factor_figures.choice_figure, means)
    exhibits += page.figure("factorial_means", "choices", effect_captions.CHOICES, draw)
    table = effect_captions.preferences(means[means["factors"] == ALL_CONDITIONS])
    exhibits += page.coefficients("factorial_means", effect_captions.PREFERENCES, table)
    return exhibits


def _add_reading_time(page: Page, caption: str, has_times: bool) -> str:
    """Return a caption that says what a reading time is, where the task has a name for it and there are some."""
    return " ".join(filter(None, [caption, tasks.describe_reading_time(page.get("task_counts")) if has_times else ""]))


def _factorial_coefficients(page: Page, models: pd.DataFrame) -> list[Exhibit]:
    """Return the table of every contrast, and its figure for each response."""
    table = effect_captions.contrasts(models)
    exhibits = page.coefficients("effects", effect_captions.contrasts_caption(models), table)
    simple = select_factors(page.results, SIMPLE_EFFECT)
    exhibits += page.coefficients("effects", effect_captions.SIMPLE, effect_captions.simple(simple), True)
    caption = (
        f"Differences between the levels of the study's factors, with {BARS[page.styled.bars]}; an interaction is a difference "
        f"of differences. {effect_captions.FILLED}"
    )
    compared = models[models["term"] != hypotheses.INTERCEPT]
    for measure in compared["response"].unique():
        rows = compared[compared["response"] == measure]
        for prompt, ending in build_file_suffixes(list_prompts(rows)).items():
            draw = partial(factor_figures.factorial_figure, rows, measure, prompt, page.styled)
            text = labels.under(prompt, f"{labels.response(measure)}: {caption[0].lower()}{caption[1:]}")
            exhibits += page.figure("effects", f"factors-{measure}{ending}", text, draw, aside=True)
    return exhibits


def models(page: Page) -> Section:
    """Return the models of the study's own factors in full, and every fit on the way to them."""
    models, marginal = select_factors(page.results), page.get("marginal_contrasts")
    caption = (
        "Models of the study's own factors. A contrast is named by the levels that it sets against each other; ms is its "
        f"difference at the mean; {fits.DETECTABLE}."
    )
    exhibits = page.table("effects", caption, models[[*FACTORIAL]], limit=60, aside=True)
    steps = page.get("models")
    steps = steps[steps["model_id"].isin(models["model_id"])]
    exhibits += page.table("models", "Every fit on the way to these models.", steps[[*STEPS]], limit=60, aside=True)
    if len(models):
        caption = "Means of participants' means and their standard errors, by phenomenon and condition."
        exhibits += page.table("condition_means", caption, aside=True)
    caption = "Differences between levels of a factor at the means of everything else."
    exhibits += page.table("marginal_contrasts", caption, marginal.drop(columns="formula"), aside=True)
    caption = (
        "Simple effects: the levels of a factor at those of the factors it interacts with, as contrasts of the fitted models; "
        f"{factors.TOLD}."
    )
    simple = select_factors(page.results, SIMPLE_EFFECT)
    exhibits += page.table("effects", caption, simple[[*SIMPLE_COLUMNS]], aside=True)
    for caption, table in contrasts.matrices(page.get("contrast_matrices")):
        exhibits += page.coefficients("contrast_matrices", caption, table, aside=True)
    told = factors.select_told_simple_effects(page.results, page.get("hypotheses"))
    sentences = [*factors.simple_effects(told), *factors.level_differences(marginal)]
    badges = page.badges("effects") if exhibits else ()
    notes = fits.notes(models, "model")
    return Section("Models of the study's factors", badges, sentences, exhibits, notes, first=few(sentences, 3))


MOST_CURVES = 6  # specification curves that are shown; of more effects those of hypotheses come first


def _specification_curves(page: Page, grid: pd.DataFrame) -> Iterator[Exhibit]:
    """Yield the specification curves of stated hypotheses, or where there are none of the first effects."""
    curves = {rows.index[0]: rows for rows in multiverse.split_effects(grid)}
    stated = [number for number, rows in curves.items() if rows["hypothesis"].notna().any()]
    for k, number in enumerate((stated or [*curves])[:MOST_CURVES], 1):
        rows = curves[number]
        more = f" The table has {len(curves)} effects, each under its specifications." if k == 1 and len(curves) > 1 else ""
        caption = (
            f"{multiverse.name_effect(rows)}: a column is a specification, its choices marked below, the planned one orange, with "
            f"95% intervals. They show what the effect depends on: {multiverse.NO_TEST}.{more}"
        )
        draw = partial(multiverse_figures.specification_figure, rows)
        yield from page.figure("multiverse", f"specifications_{k}", caption, draw)


def trust(page: Page) -> Section:
    """Return how far the effects depend on choices, what could have been found, and how far residuals hang together."""
    grid = page.get("multiverse")
    exhibits: list[Exhibit] = [*_specification_curves(page, grid)]
    caption = (
        "Share of simulated studies in which a coefficient of the stated size is found at .05, by participants and items, with 95% "
        "Wilson intervals; dashed curves are drawn with the upper limits of a pilot's spreads. The dashed line is four of five."
    )
    exhibits += page.figure("power", "power", caption, partial(effect_figures.power_figure, page.get("power")))
    exhibits += page.table("power", "Power by simulation.", aside=True)
    spread = page.get("random_effects")
    exhibits += page.coefficients(
        "random_effects", random_effects.CAPTION, random_effects.tabulate_random_effects(page.results, spread), aside=True
    )
    models, factorial = select_pairs(page.results), select_factors(page.results)
    sentences = [*effects.power(models, page.sesoi), *effects.describe_power(page.get("power"))]
    sentences += equivalence.equivalences(models, factorial)
    first = max(1, len(sentences))
    sentences += random_effects.describe_random_effects(page.results, spread)
    sentences += [*multiverse.describe_effects(grid), *effects.residuals(models, page.prompts())]
    badges = page.badges("effects") if exhibits else ()
    return Section("How far the results can be trusted", badges, sentences, exhibits, first=first)
