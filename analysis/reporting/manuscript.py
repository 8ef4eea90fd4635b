"""What can be pasted into a manuscript: methods as they were really carried out, and results in APA style."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES
from gardenpath.study.config import CUMULATIVE_REGIONS, Sesoi, parse_region_name
from gardenpath.study.plans import INTERCEPTS, SLOPES
from gardenpath.study.responses import PRIMARY_RESPONSES, RESPONSES, STANDARDISED_RESPONSES

from ..aligning.held_out_likelihood import CLUSTER_COLUMNS
from ..aligning.predictors import LAG_SUFFIXES, list_lagged_columns
from ..comparing.pair_accuracy import ALL_PHENOMENA
from ..comparing.rating_correlation import RELATIVE_LEVEL
from ..exclusion_log import ALL_CONDITIONS
from ..model_results import (
    SIMPLE_EFFECT,
    is_intercepts_form,
    join_results,
    select_categories,
    select_factors,
    select_pairs,
    select_reduced_pairs,
)
from ..prompts import list_rated_prompts
from .exhibits import Page
from .references import cited
from .wording import (
    contrasts,
    effect_captions,
    effects,
    equivalence,
    factors,
    fits,
    hypotheses,
    judgments,
    labels,
    minimal_pairs,
    participation,
    raters,
    tasks,
)

Tables = Mapping[str, pd.DataFrame]
Versions = Mapping[str, str]


def methods(tables: Tables, software: Versions | None = None, models: Mapping[str, str] | None = None) -> list[str]:
    """Return paragraphs on what was done to the data, from the declared tables alone; none where there are no results.

    `software` gives versions by name, as the sidecars of the tables state them, and `models` what each language model is.
    """
    software, models = software or {}, models or {}
    paragraphs = [
        _sample(tables),
        tasks.describe_tasks(table_of(tables, "task_counts")),
        [_ratings(tables), _times(tables)],
        [_factors(tables, software)],
        [_models(tables, software), _policy_models(tables), _ordinal(tables), _grid(tables), _equivalence(tables), _power(tables)],
        [_agreement(tables)],
        [_language_models(tables, software, models)],
        [_alignment(tables), _alignment_models(tables, software), _smooths(tables), _heldout(tables, software)],
        [_rating_correlations(tables)],
        [_pairs(tables), _comparisons(tables)],
        [_judgments(tables), _votes(tables), _method_comparisons(tables)],
    ]
    texts = [" ".join(part for part in parts if part) for parts in paragraphs]
    texts = [text for text in texts if text]
    if not texts:
        return []
    version = software.get("gardenpath")
    return [*texts[:-1], f"{texts[-1]} Analyses were run with gardenpath{f' {version}' if version else ''}."]


def ready_to_paste(tables: Tables, software: Versions | None = None, smallest: Sesoi | None = None) -> str:
    """Return methods and results of a study as plain Markdown, each sentence read off the tables, and each there once.

    Where the table `sessions` is there and says that readers were simulated, or language models, that comes first.
    """
    paragraphs = methods(tables, software)
    text = " ".join(paragraphs)
    results = join_results(tables)
    models, factorial = select_pairs(results), select_factors(results)
    excluded = participation.exclusions(*(table_of(tables, name) for name in EXCLUSIONS))
    simple = factors.simple_effects(select_factors(results, SIMPLE_EFFECT))
    matrices = contrasts.matrices(table_of(tables, "contrast_matrices"))
    parts = [
        ("What was tested", hypotheses.tested(factorial, models)),
        ("Methods", paragraphs),
        ("Exclusions", [sentence for sentence in excluded if sentence not in text]),
        ("Errors in Maze", tasks.describe_accuracy(table_of(tables, "first_choices"))),
        *(
            (
                f"{one.noun[0].upper()}{one.noun[1:]}",
                [
                    *effects.effects(models, one.name, list_rated_prompts(tables, one.name)),
                    *(effects.ordinal(select_categories(results)) if one.categories else []),
                ],
            )
            for one in map(RESPONSES.__getitem__, PRIMARY_RESPONSES)
        ),
        ("Factors of the study", [*factors.factorial_effects(factorial), *simple, *_tables(tables)]),
        ("What could have been found", [*effects.power(models, smallest or {}), *equivalence.equivalences(models, factorial)]),
        ("Other choices", effects.robustness(table_of(tables, "multiverse"))),
        ("Agreement among people", raters.agreement(*(table_of(tables, name) for name in AGREEMENT))),
        ("Contrasts, for a supplement", [f"{caption}\n\n{table.markdown()}" for caption, table in matrices]),
        ("References", [f"{reference.entry} {reference.address}" for reference in cited(text)]),
    ]
    warned = Page(tables).describe_simulated_participants() if "sessions" in tables else ()
    warnings = [f"**{text[0].upper()}{text[1:]}**: no findings about people." for text in warned]
    sections = [f"## {title}\n\n" + "\n\n".join(lines) for title, lines in parts if lines]
    return "\n\n".join([*warnings, *sections]) + "\n"


def _tables(tables: Tables) -> list[str]:
    """Return the tables of a study's own factors, each under its caption: means of cells, and every contrast."""
    models, means = select_factors(join_results(tables)), table_of(tables, "factorial_means")
    shown = [
        (effect_captions.cells_caption(rows), effect_captions.cells(rows))
        for _, rows in means[means["factors"] != ALL_CONDITIONS].groupby("factors", sort=False)
    ]
    shown.append((effect_captions.PREFERENCES, effect_captions.preferences(means[means["factors"] == ALL_CONDITIONS])))
    if len(models):
        shown.append((effect_captions.contrasts_caption(models), effect_captions.contrasts(models)))
    return [f"{caption}\n\n{table.markdown()}" for caption, table in shown if table.rows]


AGREEMENT = ("reliability", "noise_ceilings", "choice_agreement")
EXCLUSIONS = ("exclusions", "participants", "participant_prompts")


def table_of(tables: Tables, name: str) -> pd.DataFrame:
    """Return a table, empty where it is not there."""
    return tables.get(name, pd.DataFrame(columns=TABLES[name].column_names))


def _sample(tables: Tables) -> list[str]:
    ledger, people = table_of(tables, "exclusions"), table_of(tables, "participants")
    took_part = participation.participation(ledger, people)
    excluded = [participation.participants_excluded(people), *participation.rules_without_effect(ledger)] if took_part else []
    return [took_part, *excluded, *participation.unanswered(ledger)]


def _ratings(tables: Tables) -> str:
    scores = table_of(tables, "rating_scores")
    return " ".join(_ratings_of(tables, name) for name in STANDARDISED_RESPONSES if (scores["task"] == RESPONSES[name].task).any())


def _ratings_of(tables: Tables, response: str) -> str:
    """Return how a response was standardised."""
    prompts, one = _prompts(tables, response), RESPONSES[response]
    noun = f"{one.noun[0].upper()}{one.noun[1:]}{f' ({prompts})' if prompts else ''}"
    logs = f" log-transformed{f' ({one.source})' if one.source else ''} and" if one.transformation == "log" else ""
    return (
        f"{noun} were{logs} standardised within participant{' and prompt' if prompts else ''} (z, "
        "sample standard deviation) over all target and filler trials, before any exclusion."
        f"{' Each prompt was analysed by itself.' if prompts else ''}"
    )


def _prompts(tables: Tables, response: str | None = None) -> str:
    """Return the prompts of the ratings, or of a response, in words where there are several, else nothing."""
    names = [labels.label(prompt) for prompt in list_rated_prompts(tables, response) if prompt is not None]
    return labels.listed(names) if names else ""


def _times(tables: Tables) -> str:
    times = table_of(tables, "region_times")
    if times.empty:
        return ""
    sentences = [
        "The reading time of the critical region is the sum over its words.",
        tasks.describe_error_policy(table_of(tables, "exclusions")),
        participation.count_outlier_regions(table_of(tables, "exclusions")),
        "Times were then log-transformed.",
    ]
    if len(times["region"].unique()) > 1:
        cumulative = any(parse_region_name(region)[2] == CUMULATIVE_REGIONS for region in times["region"].unique())
        sentences.append(
            "The region with the words after it, one more at a time, was analysed likewise, where the sentence went on after them."
            if cumulative
            else "The words after the region were analysed one by one, where the sentence went on after them."
        )
    return " ".join(filter(None, sentences))


def _factors(tables: Tables, software: Versions) -> str:
    results = join_results(tables)
    fitted = select_factors(results).dropna(subset=["estimate"])
    if fitted.empty:
        return ""
    first, published = fitted[fitted["headline"]], fitted[is_intercepts_form(fitted)]
    compared = dict.fromkeys(contrast for contrast in first["contrast"].dropna() if " x " not in contrast)
    families = [first[first["family"] == family] for family in dict.fromkeys(first["family"])]
    how = ", and ".join(f"{fits.formulas(rows)}, {fits.estimation(rows, software)}" for rows in families)
    text = f"Of the study's own factors we fitted {how}, other predictors centred"
    text += f", and these contrasts (Schad et al., 2020): {'; '.join(compared)}." if compared else "."
    if (first["random"] == SLOPES).any():
        text += f" Models have {fits.POLICIES['maximal']}"
        text += "; binomial ones without slopes of interactions." if (first["family"] == "binomial").any() else "."
        models = first.drop_duplicates(["model", "response", "region", "prompt"])
        singular = int(models["singular"].sum())
        text += f" {singular} of {len(models)} stayed singular and were kept." if singular else ""
    if len(published):
        text += f" Beside them stands the form most often published, with intercepts alone: {fits.formulas(published)}."
    if effect_captions.linear(table_of(tables, "factorial_means")).any():
        text += " Means by condition have 95% Cousineau-Morey intervals (Morey, 2008)."
    if fitted["response"].eq("log_rt").any() and fitted["ms"].notna().any():
        text += " Differences in ms are those of exponentiated predictions at the mean, with delta-method intervals."
    if fitted["p_adjusted"].notna().any():
        text += " A coefficient that was tested in several regions has p adjusted over them (p_Holm; Holm, 1979)."
    else:
        text += " Their p-values are not adjusted for one another."
    if len(select_factors(results, SIMPLE_EFFECT)):
        text += (
            " Simple effects are contrasts of the fitted models, with their degrees of freedom, and p adjusted over those of one "
            "factor (Holm, 1979)."
        )
    return text


def _models(tables: Tables, software: Versions) -> str:
    tested = select_pairs(join_results(tables))
    if tested.empty:
        return ""
    declared, slopes = (tested[tested["random"] == form] for form in (INTERCEPTS, SLOPES))
    first = slopes if len(slopes) else declared
    text = (
        f"For each of {tested['model'].nunique()} phenomena we fitted {fits.formulas(first)} with grammaticality {fits.CODED} "
        f"and other predictors centred, {fits.estimation(tested, software)}."
    )
    if len(slopes):
        text += (
            f" In these models {fits.VARYING} (Barr et al., 2013); beside them stand the published random effects, intercepts "
            f"alone (Suijkerbuijk et al., 2025): {fits.formulas(declared)}."
        )
    text += f" p-values were {fits.adjusted(bool(_prompts(tables)))}."
    for form, rows in ((fits.FORMS[SLOPES], slopes), (fits.FORMS[INTERCEPTS], declared)):
        singular = int(rows["singular"].sum())
        if singular:
            text += f" {singular} of {len(rows)} models {form} were singular and kept as declared."
    return text


def _agreement(tables: Tables) -> str:
    reliability, choices = table_of(tables, "reliability"), table_of(tables, "choice_agreement")
    text = ""
    if len(reliability):
        text = (
            "Agreement among raters is ICC(2,k), two-way random effects, absolute agreement, mean of the k raters of a sentence "
            "(Shrout & Fleiss, 1979), for each paradigm and list, with intervals by parametric bootstrap; noise ceilings are "
            "square roots of split-half correlations within list, stepped up after Spearman and Brown."
        )
    if len(choices):
        text += f" A paradigm counts as accepted when {raters.ACCEPTED} (Warstadt et al., 2020)."
    return text.strip()


def _grid(tables: Tables) -> str:
    refits = effects.refits(table_of(tables, "multiverse"))
    return f"{refits}; {effects.NO_TESTS}." if refits else ""


def _policy_models(tables: Tables) -> str:
    models = select_reduced_pairs(join_results(tables))
    if models.empty:
        return ""
    policy = str(models["policy"].iloc[0])
    text = f"Random effects were also chosen by the policy {policy}: {fits.POLICIES[policy]}; {fits.UNSEEN}."
    if fits.crosschecked(models):
        text += f" Each was refitted in a second program, and given only where estimates differ by at most {fits.AGREEING}."
    return text


def _ordinal(tables: Tables) -> str:
    models = select_categories(join_results(tables)).dropna(subset="estimate")
    if models.empty:
        return ""
    return (
        f"Ratings were modelled as ordered categories too (Liddell & Kruschke, 2018), with a probit link: "
        f"{fits.formulas(models)}, by the R package "
        "ordinal (Christensen, 2023)."
    )


def _equivalence(tables: Tables) -> str:
    tested = equivalence.was_tested(join_results(tables))
    return equivalence.TESTED if tested else ""


def _power(tables: Tables) -> str:
    power = table_of(tables, "power")
    if power.empty:
        return ""
    effects = ", ".join(f"{size:.3g}" for size in sorted(power["effect"].unique()))
    runs = " or ".join(str(n) for n in sorted(power["n_simulations"].unique()))
    fitted = (
        "; fitted were random intercepts and the slopes of the tested term by participant and item (Barr, 2013)"
        if (power["slopes"] == "tested").any()
        else ""
    )
    simulated = (
        "from and fitted by the planned models" if (power["slopes"] == "planned").all() else f"with slopes of all terms{fitted}"
    )
    return (
        f"Power was simulated for smallest effects of interest ({effects}), {runs} studies for each number of participants and "
        f"items, {simulated}; intervals are Wilson's (Wilson, 1927)."
    )


def _language_models(tables: Tables, software: Versions, models: Mapping[str, str]) -> str:
    scored = [table_of(tables, name) for name in ("surprisal", "sentence_scores", "pairs", "aligned", "accuracy")]
    names = list(dict.fromkeys(name for frame in scored for name in frame["model"].astype(str)))
    if not names:
        return ""
    listed = "; ".join(f"{name} ({models[name]})" if name in models else name for name in names)
    text = f"Language models: {listed}."
    if "transformers" in software and any(not name.startswith("ngram:") for name in names):
        text += f" They were run with transformers {software['transformers']} (Wolf et al., 2020)"
        text += f" and torch {software['torch']}." if "torch" in software else "."
    protocols = {str(name) for frame in scored for name in frame["protocol"]}
    if "pll-word-l2r" in protocols:
        text += " Masked models were scored word by word from left to right (Kauf & Ivanova, 2023)."
    return text


def _alignment(tables: Tables) -> str:
    kept = participation.readings_kept(table_of(tables, "alignment_exclusions"))
    if table_of(tables, "aligned").empty or not kept:
        return ""
    text = (
        "The reading time of each word was set beside its surprisal in bits (whitespace counted as by Pimentel & Meister, 2024), "
        f"its length in letters and digits, and its Zipf frequency (van Heuven et al., 2014; Speer, 2022). {kept}"
    )
    tested = table_of(tables, "alignment_check")
    if len(tested):
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in tested["verdict"].value_counts(sort=False).items())
        text += (
            " As a test that times stand beside the right words, the next word's surprisal was added to a model of the surprisal "
            "of the word and of two words before; it failed where that slope was positive, p < .01, and at least half the largest "
            f"of the others ({verdicts})."
        )
    return text


def _alignment_models(tables: Tables, software: Versions) -> str:
    models = table_of(tables, "alignment_models")
    fitted = models.dropna(subset="estimate")
    if fitted.empty:
        return ""
    terms = set(fitted["term"])
    lags = sum(name in terms for name in list_lagged_columns("surprisal", [lag for lag in LAG_SUFFIXES if lag > 0]))
    back = ("", " and of the word before", " and of two words before", " and of three words before")[lags]
    text = (
        f"Log reading time was modelled by surprisal, length and frequency of the word{back}, position in the sentence and log "
        f"trial number, {fits.estimation(fitted, software)}: {fits.formulas(fitted)}."
    )
    if all("(1|token)" in formula for formula in fitted["formula"]):
        text += " The intercept by token is there because readers share words."
    if any("+ surprisal|participant" in formula for formula in fitted["formula"]):
        text += " The effect of surprisal varies over participants where the data allow."
    return text


def _smooths(tables: Tables) -> str:
    terms = table_of(tables, "gam_terms")
    if terms.empty:
        return ""
    rho = terms["rho"].iloc[0]
    return f"Generalised additive models were fitted by mgcv's bam in R (Wood, 2017): {fits.formulas(terms)}" + (
        f", with residuals of successive words following an AR(1) process ({rho:.2f})." if rho else "."
    )


def _heldout(tables: Tables, software: Versions) -> str:
    held, gains = table_of(tables, "held_out_clusters"), table_of(tables, "delta_log_likelihood").dropna(subset="delta")
    if held.empty or gains.empty:
        return ""
    by = str(held["folds_by"].iloc[0])
    unit = {"item": "items", "story": "stories", "participant": "participants", "row": "single readings"}[by]
    cluster = {"row": "item"}.get(by, CLUSTER_COLUMNS[by] if by != "story" else "story")
    folds = int(held["fold"].max()) + 1 if held["fold"].notna().any() else 0
    sentences = [
        f"What surprisal adds was measured on held-out data (Goodkind & Bicknell, 2018): {unit} were dealt to "
        f"{f'{folds} ' if folds else ''}folds at random, and the model above with intercepts alone, with and without surprisal at "
        f"all lags, was fitted by maximum likelihood to the other folds with {fits.program('glmm', software)}.",
        f"Single readings were taken alone and summed by {cluster}."
        if by == "row"
        else f"The log density of a held-out {cluster} is the joint one of its readings, random effects integrated out.",
    ]
    clusters = gains["n_clusters"].max()
    if gains["p"].isna().all():
        return " ".join([*sentences, f"With {clusters} clusters there are too few for a test or an interval."])
    drawn = str(gains["flips"].iloc[0])
    flips = "all patterns of signs" if drawn == "exact" else f"{drawn}; Phipson & Smyth, 2010"
    sentences.append(f"p is one-sided, by sign flips over {clusters} clusters ({flips}); intervals are bootstraps over clusters.")
    if len(table_of(tables, "delta_comparisons")):
        sentences.append(
            "Language models were compared by two-sided sign flips over clusters, corrected over all pairs (Holm, 1979)."
        )
    return " ".join(sentences)


def _rating_correlations(tables: Tables) -> str:
    table = table_of(tables, "rating_correlations").dropna(subset="r")
    if table.empty:
        return ""
    measures = labels.measures(table["measure"].unique())
    levels = "; ".join(str(name) for name in table["level"].unique() if name != RELATIVE_LEVEL)
    prompts = _prompts(tables)
    text = (
        f"Scores of sentences ({measures}) were correlated with the mean standardised rating of each sentence"
        f"{f' under each prompt ({prompts})' if prompts else ''}, after Pearson "
        f"and Spearman, over {levels} (the levels of Suijkerbuijk et al., 2025); intervals are bootstraps over "
        "items, paradigms or phenomena."
    )
    if (table["level"] == RELATIVE_LEVEL).any():
        text += f" Beside them stands the correlation of ratings with {minimal_pairs.RELATIVE}."
    if table["ceiling"].notna().any():
        text += " Each is held against a noise ceiling."
    return text


def _pairs(tables: Tables) -> str:
    table = table_of(tables, "pairs")
    if table.empty:
        return ""
    measures = labels.measures(table["measure"].unique())
    return (
        f"Language models were given {table['item'].nunique()} minimal pairs in {table['paradigm'].nunique()} paradigms. A pair is "
        f"won when its grammatical member has the higher score ({measures}); {minimal_pairs.TIES}; intervals are Wilson's "
        f"(Wilson, 1927) and {minimal_pairs.INDEPENDENT}."
    )


def _comparisons(tables: Tables) -> str:
    table = table_of(tables, "model_comparisons")
    table = table[table["n_pairs"] > 0]
    if table.empty:
        return ""
    text = (
        "Two models were compared on the same pairs by McNemar's exact test without ties (McNemar, 1947), which speaks of "
        f"{minimal_pairs.FIXED} only"
    )
    if table["flip_p"].notna().any():
        text += f", and by two-sided sign flips over {minimal_pairs.DRAWN}"
    return f"{text}; p was corrected over pairs of models (Holm, 1979)."


def _judgments(tables: Tables) -> str:
    accuracies = table_of(tables, "method_accuracies")
    if accuracies.empty:
        return ""
    overall = accuracies[accuracies["phenomenon"] == ALL_PHENOMENA]
    methods = labels.listed(judgments.method_name(name) for name in overall["method"].unique())
    text = (
        f"Language models were asked to judge {overall['n_pairs'].max()} minimal pairs in "
        f"{overall['n_paradigms'].max()} paradigms by {methods} (Ide et al., 2025). A pair is won when its grammatical member has "
        f"the higher score; {minimal_pairs.TIES}"
    )
    templates = overall["n_templates"].max()
    if templates > 1:
        text += f"; accuracies are means over up to {templates} templates"
    unread = " An answer that could not be read counts as wrong." if overall["n_unread"].any() else ""
    return f"{text}.{unread}"


def _votes(tables: Tables) -> str:
    table = table_of(tables, "ensembles")
    table = table[(table["n_votes"] > 1) & table["accuracy"].notna()]
    if table.empty:
        return ""
    votes = labels.listed(judgments.vote(name) for name in table["ensemble"].unique())
    text = f"Majority votes over templates ({votes}) are means over every mix of templates"
    chosen = [words for name, words in judgments.LABELS.items() if (table["selection"] == name).any()]
    if chosen:
        text += f"; the best mix was {labels.listed(chosen)}"
    return f"{text}."


def _method_comparisons(tables: Tables) -> str:
    table = table_of(tables, "method_comparisons").dropna(subset="p")
    if table.empty:
        return ""
    against = labels.listed(judgments.method_name(name) for name in table["reference_method"].unique())
    text = (
        f"They were held against {against} by a paired bootstrap ({table['n_resamples'].max():,} resamples, one-sided) over pairs, "
        f"which speaks of {minimal_pairs.FIXED} only"
    )
    if table["paradigm_p"].notna().any():
        text += f", and over {minimal_pairs.DRAWN}"
    return f"{text}; p was corrected over methods (Holm, 1979)."
