"""What can be pasted into a manuscript: methods as they were really carried out, and results in APA style."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from gardenpath.study import TABLES
from gardenpath.study.config import CUMULATIVE_REGIONS, Sesoi, parse_region_name
from gardenpath.study.plans import INTERCEPTS, SLOPES
from gardenpath.study.responses import PRIMARY_RESPONSES, RESPONSES, STANDARDISED_RESPONSES, Response

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
    confounds,
    contrasts,
    effect_captions,
    effects,
    equivalence,
    factors,
    fits,
    hypotheses,
    hypothesis_answers,
    judgments,
    labels,
    minimal_pairs,
    multiverse,
    optimism,
    participation,
    pooling,
    random_effects,
    raters,
    tasks,
)
from .wording.sources import Footnotes, Sentence, Source, join_sentences, read_off, sources_of

Tables = Mapping[str, pd.DataFrame]
Versions = Mapping[str, str]


def methods(tables: Tables, software: Versions | None = None, models: Mapping[str, str] | None = None) -> list[str]:
    """Return paragraphs on what was done to the data, from the declared tables alone; none where there are no results.

    `software` gives versions by name, as the sidecars of the tables state them, and `models` what each language model is.
    """
    return [join_sentences(sentences) for sentences in _paragraphs(tables, software or {}, models or {})]


def _paragraphs(tables: Tables, software: Versions, models: Mapping[str, str]) -> list[list[str]]:
    """Return the paragraphs of the methods, each as its sentences."""
    paragraphs: list[list[str]] = [
        [*_sample(tables)],
        [*tasks.describe_tasks(table_of(tables, "task_counts"))],
        [*_ratings(tables), *_times(tables)],
        _factors(tables, software),
        [
            *_models(tables, software), *_policy_models(tables), *_ordinal(tables), *_grid(tables), *_equivalence(tables),
            *_power(tables),
        ],
        pooling.methods(table_of(tables, "pooled_effects")),
        _agreement(tables),
        _language_models(tables, software, models),
        [*_alignment(tables), *_alignment_models(tables, software), *_smooths(tables), *_heldout(tables, software)],
        _rating_correlations(tables),
        [*_pairs(tables), *_comparisons(tables)],
        [*_judgments(tables), *_votes(tables), *_method_comparisons(tables)],
    ]  # fmt: skip
    paragraphs = [[sentence for sentence in sentences if sentence] for sentences in paragraphs]
    paragraphs = [sentences for sentences in paragraphs if sentences]
    if paragraphs:
        version = software.get("gardenpath")
        text = f"Analyses were run with gardenpath{f' {version}' if version else ''}."
        paragraphs[-1].append(Sentence(text, [VERSIONS]))
    return paragraphs


@dataclass(frozen=True)
class Paragraph:
    """Sentences that stand together, and the table in Markdown whose caption they are."""

    sentences: Sequence[str]
    table: str = ""


def ready_to_paste(tables: Tables, software: Versions | None = None, smallest: Sesoi | None = None) -> str:
    """Return methods and results of a study as plain Markdown, each sentence read off the tables, and each there once.

    Where the table `sessions` is there and says that readers were simulated, or language models, that comes first.
    """
    # Footnotes count rows from the top of each table, whatever index it came with.
    tables = {name: table.reset_index(drop=True) for name, table in tables.items()}
    written = _paragraphs(tables, software or {}, {})
    told = " ".join(" ".join(sentences) for sentences in written)
    results = join_results(tables)
    models, factorial = select_pairs(results), select_factors(results)
    excluded = participation.exclusions(*(table_of(tables, name) for name in EXCLUSIONS))
    simple = factors.simple_effects(factors.select_told_simple_effects(results, table_of(tables, "hypotheses")))
    matrices, differing = contrasts.matrices(table_of(tables, "contrast_matrices")), table_of(tables, "confounds")
    parts = [
        ("", _alone(_warnings(tables))),
        ("Hypotheses", _alone(hypothesis_answers.answer_hypotheses(table_of(tables, "hypotheses")))),
        ("What was tested", _alone(hypotheses.tested(factorial, models))),
        ("Methods", [Paragraph(sentences) for sentences in written]),
        ("Exclusions", _alone(sentence for sentence in excluded if sentence not in told)),
        ("Errors in Maze", _alone(tasks.describe_accuracy(table_of(tables, "first_choices")))),
        *((f"{one.noun[0].upper()}{one.noun[1:]}", _alone(_effects_on(one, tables, results))) for one in _list_primary()),
        (
            "Factors of the study",
            [
                *_alone([*factors.factorial_effects(factorial), *_optimistic(tables, factorial)]),
                *_alone(hypothesis_answers.describe_scale_dependence(factorial)),
                *_alone([*confounds.confounds(differing, factorial), *simple]),
                *_tables(tables),
            ],
        ),
        (
            "What could have been found",
            _alone([*effects.power(models, smallest or {}), *equivalence.equivalences(models, factorial)]),
        ),
        ("Random effects", _random_effects(tables, results)),
        ("Experiments compared", _alone(pooling.pooled_effects(table_of(tables, "pooled_effects")))),
        ("Other choices", _alone(multiverse.describe_effects(table_of(tables, "multiverse")))),
        ("Agreement among people", _alone(raters.agreement(*(table_of(tables, name) for name in AGREEMENT)))),
        ("Contrasts, for a supplement", [Paragraph([caption], table.markdown()) for caption, table in matrices]),
    ]
    return _write_page(parts, tables, told)


def paste_multiverse(tables: Tables) -> str:
    """Return what the table multiverse says as plain Markdown: how it was made, and a sentence for each effect."""
    grid = table_of(tables, "multiverse")
    parts = [
        ("", _alone(_warnings(tables))),
        ("Other choices", [*_alone(_grid(tables)), *_alone(multiverse.describe_effects(grid))]),
    ]
    return _write_page(parts, tables, " ".join(_grid(tables)))


def _write_page(parts: Sequence[tuple[str, Sequence[Paragraph]]], tables: Tables, told: str) -> str:
    """Return parts of a page with what is cited in a text, and their sources."""
    references = [*_alone(f"{reference.entry} {reference.address}" for reference in cited(told))]
    notes = Footnotes(tables)
    sections = [_write_part(title, paragraphs, notes) for title, paragraphs in (*parts, ("References", references)) if paragraphs]
    if listed := notes.list_notes():
        sections.append("\n\n".join([f"## Sources\n\n{SOURCES}", *listed]))
    return "\n\n".join(sections) + "\n"


SOURCES = (
    "Behind each sentence stands a footnote: the table in `results/` that it is read off, the rows, counted from 1 below the "
    "header as R counts them, with their keys where they are few, and in code what is computed of them. A row of effects stands "
    "for the kept row of models with the same model_id too. To paste without them, leave out what is in `[^ ]`."
)


def _alone(sentences: Iterable[str]) -> list[Paragraph]:
    """Return each sentence as a paragraph."""
    return [Paragraph([sentence]) for sentence in sentences]


def _write_part(title: str, paragraphs: Iterable[Paragraph], notes: Footnotes) -> str:
    """Return a part in Markdown, each sentence with the mark of its footnote."""
    blocks = [f"## {title}"] if title else []
    for paragraph in paragraphs:
        blocks += [" ".join(map(notes.mark, paragraph.sentences)), *([paragraph.table] if paragraph.table else [])]
    return "\n\n".join(blocks)


def _warnings(tables: Tables) -> list[Sentence]:
    """Return that readers were simulated, or language models, where some were."""
    warned = Page(tables).describe_simulated_participants() if "sessions" in tables else ()
    return [Sentence(f"**{text[0].upper()}{text[1:]}**: no findings about people.", sources_of(text)) for text in warned]


def _list_primary() -> list[Response]:
    return [RESPONSES[name] for name in PRIMARY_RESPONSES]


def _optimistic(tables: Tables, results: pd.DataFrame) -> list[Sentence]:
    """Return which effects have an optimistic p, with what stands beside it."""
    return optimism.describe_optimistic_effects(results, table_of(tables, "aggregate_tests"), table_of(tables, "random_effects"))


def _random_effects(tables: Tables, results: pd.DataFrame) -> list[Paragraph]:
    """Return how much participants and items differ in the effects, and the table of it."""
    spread = table_of(tables, "random_effects")
    table = random_effects.tabulate_random_effects(results, spread)
    told = _alone(random_effects.describe_random_effects(results, spread))
    of_headlines = spread[spread["model_id"].isin(results.loc[results["headline"], "model_id"])]
    caption = read_off(random_effects.CAPTION, "random_effects", of_headlines)
    return [*told, Paragraph([caption], table.markdown())] if table.rows else []


def _effects_on(response: Response, tables: Tables, results: pd.DataFrame) -> list[str]:
    """Return what grammaticality does to a response, and where it has categories, to these."""
    pairs = select_pairs(results)
    sentences = effects.effects(pairs, response.name, list_rated_prompts(tables, response.name))
    sentences += _optimistic(tables, pairs[pairs["response"] == response.name])
    sentences += confounds.confounds(table_of(tables, "confounds"), pairs[pairs["response"] == response.name])
    if response.categories:
        categories = select_categories(results)
        sentences += [*effects.ordinal(categories), *_optimistic(tables, categories)]
    return sentences


def _tables(tables: Tables) -> list[Paragraph]:
    """Return the tables of a study's own factors, each under its caption: means of cells, and every contrast."""
    models, means = select_factors(join_results(tables)), table_of(tables, "factorial_means")
    shown = [
        (effect_captions.cells_caption(rows), effect_captions.cells(rows))
        for _, rows in means[means["factors"] != ALL_CONDITIONS].groupby("factors", sort=False)
    ]
    alone = means[means["factors"] == ALL_CONDITIONS]
    preferences = read_off(effect_captions.PREFERENCES, "factorial_means", alone)
    shown.append((preferences, effect_captions.preferences(alone)))
    if len(models):
        shown.append((effect_captions.contrasts_caption(models), effect_captions.contrasts(models)))
    return [Paragraph([caption], table.markdown()) for caption, table in shown if table.rows]


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


def _ratings(tables: Tables) -> list[str]:
    scores = table_of(tables, "rating_scores")
    by_response = [(name, scores[scores["task"] == RESPONSES[name].task]) for name in STANDARDISED_RESPONSES]
    return [sentence for name, rows in by_response if len(rows) for sentence in _ratings_of(tables, name, rows)]


def _ratings_of(tables: Tables, response: str, rows: pd.DataFrame) -> list[str]:
    """Return how a response was standardised."""
    prompts, one = _prompts(tables, response), RESPONSES[response]
    noun = f"{one.noun[0].upper()}{one.noun[1:]}{f' ({prompts})' if prompts else ''}"
    logs = f" log-transformed{f' ({one.source})' if one.source else ''} and" if one.transformation == "log" else ""
    text = (
        f"{noun} were{logs} standardised within participant{' and prompt' if prompts else ''} (z, "
        "sample standard deviation) over all target and filler trials, before any exclusion."
    )
    sentences = [text, *(["Each prompt was analysed by itself."] if prompts else [])]
    return [read_off(sentence, "rating_scores", rows) for sentence in sentences]


def _prompts(tables: Tables, response: str | None = None) -> str:
    """Return the prompts of the ratings, or of a response, in words where there are several, else nothing."""
    names = [labels.label(prompt) for prompt in list_rated_prompts(tables, response) if prompt is not None]
    return labels.listed(names) if names else ""


def _times(tables: Tables) -> list[str]:
    times = table_of(tables, "region_times")
    if times.empty:
        return []
    sentences = [
        read_off("The reading time of the critical region is the sum over its words.", "region_times", times),
        tasks.describe_error_policy(table_of(tables, "exclusions")),
        participation.count_outlier_regions(table_of(tables, "exclusions")),
        read_off("Times were then log-transformed.", "region_times", times),
    ]
    if len(times["region"].unique()) > 1:
        cumulative = any(parse_region_name(region)[2] == CUMULATIVE_REGIONS for region in times["region"].unique())
        text = (
            "The region with the words after it, one more at a time, was analysed likewise, where the sentence went on after them."
            if cumulative
            else "The words after the region were analysed one by one, where the sentence went on after them."
        )
        sentences.append(read_off(text, "region_times", times))
    return sentences


def _factors(tables: Tables, software: Versions) -> list[str]:
    results = join_results(tables)
    fitted = select_factors(results).dropna(subset=["estimate"])
    if fitted.empty:
        return []
    first, published = fitted[fitted["headline"]], fitted[is_intercepts_form(fitted)]
    simple, means = select_factors(results, SIMPLE_EFFECT), table_of(tables, "factorial_means")
    compared = dict.fromkeys(contrast for contrast in first["contrast"].dropna() if " x " not in contrast)
    families = [first[first["family"] == family] for family in dict.fromkeys(first["family"])]
    how = ", and ".join(f"{fits.formulas(rows)}, {fits.estimation(rows, software)}" for rows in families)
    text = f"Of the study's own factors we fitted {how}, other predictors centred"
    text += f", and these contrasts (Schad et al., 2020): {'; '.join(compared)}." if compared else "."
    sentences: list[str] = [_with_versions(read_off(text, "effects", first))]
    if (first["random"] == SLOPES).any():
        sentences.append(read_off(f"Models have {fits.POLICIES['maximal']}.", "effects", first))
        if len(optimistic := first[first["optimistic"]]):
            sentences.append(read_off(optimism.HOW, "effects", optimistic))
        models = first.drop_duplicates(["model", "response", "region", "prompt"])
        sentences.append(_count_singular(models, "{singular} of {models} stayed singular and were kept."))
    if len(published):
        text = f"Beside them stands the form most often published, with intercepts alone: {fits.formulas(published)}."
        sentences.append(read_off(text, "effects", published))
    if effect_captions.linear(means).any():
        text = "Means by condition have 95% Cousineau-Morey intervals (Morey, 2008)."
        sentences.append(read_off(text, "factorial_means", means[effect_captions.linear(means)]))
    in_ms = fitted[(fitted["response"] == "log_rt") & fitted["ms"].notna()]
    if len(in_ms):
        text = "Differences in ms are those of exponentiated predictions at the mean, with delta-method intervals."
        sentences.append(read_off(text, "effects", in_ms))
    adjusted = fitted[fitted["p_adjusted"].notna()]
    text = "A coefficient that was tested in several regions has p adjusted over them (p_Holm; Holm, 1979)."
    sentences.append(
        read_off(text, "effects", adjusted)
        if len(adjusted)
        else read_off("Their p-values are not adjusted for one another.", "effects", fitted)
    )
    if len(simple):
        text = (
            "Simple effects are contrasts of the fitted models, with their degrees of freedom, and p adjusted over those of one "
            f"factor (Holm, 1979); {factors.TOLD}."
        )
        sentences.append(read_off(text, "effects", simple))
    return sentences


VERSIONS = Source("versions in results.md.meta.json")  # of programs; no table has them


def _with_versions(sentence: Sentence) -> Sentence:
    """Return a sentence that names versions of programs beside what it reads off tables."""
    return Sentence(sentence, (*sentence.sources, VERSIONS))


def _count_singular(models: pd.DataFrame, text: str) -> str:
    """Return how many of some models are singular, nothing where none is."""
    singular = int(models["singular"].sum())
    said = text.format(singular=singular, models=len(models))
    return read_off(said, "effects", models, "count singular", "count") if singular else ""


def _models(tables: Tables, software: Versions) -> list[str]:
    tested = select_pairs(join_results(tables))
    if tested.empty:
        return []
    declared, slopes = (tested[tested["random"] == form] for form in (INTERCEPTS, SLOPES))
    first = slopes if len(slopes) else declared
    text = (
        f"For each of {tested['model'].nunique()} phenomena we fitted {fits.formulas(first)} with grammaticality {fits.CODED} "
        f"and other predictors centred, {fits.estimation(tested, software)}."
    )
    sentences: list[str] = [_with_versions(read_off(text, "effects", first, "distinct model"))]
    if len(slopes):
        text = (
            f"In these models {fits.VARYING} (Barr et al., 2013); beside them stand the published random effects, intercepts "
            f"alone (Suijkerbuijk et al., 2025): {fits.formulas(declared)}."
        )
        sentences.append(read_off(text, "effects", declared))
    sentences.append(read_off(f"p-values were {fits.adjusted(bool(_prompts(tables)))}.", "effects", tested))
    for form, rows in ((fits.FORMS[SLOPES], slopes), (fits.FORMS[INTERCEPTS], declared)):
        sentences.append(_count_singular(rows, f"{{singular}} of {{models}} models {form} were singular and kept as declared."))
    return sentences


def _agreement(tables: Tables) -> list[str]:
    reliability, choices = table_of(tables, "reliability"), table_of(tables, "choice_agreement")
    sentences: list[str] = []
    if len(reliability):
        text = (
            "Agreement among raters is ICC(2,k), two-way random effects, absolute agreement, mean of the k raters of a sentence "
            "(Shrout & Fleiss, 1979), for each paradigm and list, with intervals by parametric bootstrap; noise ceilings are "
            "square roots of split-half correlations within list, stepped up after Spearman and Brown."
        )
        sentences.append(read_off(read_off(text, "reliability", reliability), "noise_ceilings", table_of(tables, "noise_ceilings")))
    if len(choices):
        text = f"A paradigm counts as accepted when {raters.ACCEPTED} (Warstadt et al., 2020)."
        sentences.append(read_off(text, "choice_agreement", choices))
    return sentences


def _grid(tables: Tables) -> list[str]:
    text = multiverse.describe_specifications(table_of(tables, "multiverse"))
    return [text] if text else []


def _policy_models(tables: Tables) -> list[str]:
    models = select_reduced_pairs(join_results(tables))
    if models.empty:
        return []
    policy = str(models["policy"].iloc[0])
    sentences = [f"Random effects were also chosen by the policy {policy}: {fits.POLICIES[policy]}; {fits.UNSEEN}."]
    if fits.crosschecked(models):
        sentences.append(
            f"Each was refitted in a second program, and given only where estimates differ by at most {fits.AGREEING}."
        )
    return [read_off(text, "effects", models) for text in sentences]


def _ordinal(tables: Tables) -> list[str]:
    models = select_categories(join_results(tables)).dropna(subset="estimate")
    if models.empty:
        return []
    text = (
        f"Ratings were modelled as ordered categories too (Liddell & Kruschke, 2018), with a probit link: "
        f"{fits.formulas(models)}, by the R package "
        "ordinal (Christensen, 2023)."
    )
    return [read_off(text, "effects", models)]


def _equivalence(tables: Tables) -> list[str]:
    results = join_results(tables)
    tested = results[results["p_equivalence"].notna()]
    return [read_off(equivalence.TESTED, "effects", tested)] if len(tested) else []


def _power(tables: Tables) -> list[str]:
    power = table_of(tables, "power")
    if power.empty:
        return []
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
    text = (
        f"Power was simulated for smallest effects of interest ({effects}), {runs} studies for each number of participants and "
        f"items, {simulated}; intervals are Wilson's (Wilson, 1927)."
    )
    return [read_off(text, "power", power)]


def _language_models(tables: Tables, software: Versions, models: Mapping[str, str]) -> list[str]:
    scored = {name: table_of(tables, name) for name in ("surprisal", "sentence_scores", "pairs", "aligned", "accuracy")}
    names = list(dict.fromkeys(name for frame in scored.values() for name in frame["model"].astype(str)))
    if not names:
        return []

    def read_off_scores(text: str) -> Sentence:
        table = next(name for name, frame in scored.items() if len(frame))
        return read_off(text, table, scored[table])

    listed = "; ".join(f"{name} ({models[name]})" if name in models else name for name in names)
    sentences: list[str] = [read_off_scores(f"Language models: {listed}.")]
    if "transformers" in software and any(not name.startswith("ngram:") for name in names):
        text = f"They were run with transformers {software['transformers']} (Wolf et al., 2020)"
        text += f" and torch {software['torch']}." if "torch" in software else "."
        sentences.append(_with_versions(read_off_scores(text)))
    protocols = {str(name) for frame in scored.values() for name in frame["protocol"]}
    if "pll-word-l2r" in protocols:
        text = "Masked models were scored word by word from left to right (Kauf & Ivanova, 2023)."
        sentences.append(read_off_scores(text))
    return sentences


def _alignment(tables: Tables) -> list[str]:
    kept, aligned = participation.readings_kept(table_of(tables, "alignment_exclusions")), table_of(tables, "aligned")
    if aligned.empty or not kept:
        return []
    text = (
        "The reading time of each word was set beside its surprisal in bits (whitespace counted as by Pimentel & Meister, 2024), "
        "its length in letters and digits, and its Zipf frequency (van Heuven et al., 2014; Speer, 2022)."
    )
    sentences: list[str] = [read_off(text, "aligned", aligned), kept]
    tested = table_of(tables, "alignment_check")
    if len(tested):
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in tested["verdict"].value_counts(sort=False).items())
        text = (
            "As a test that times stand beside the right words, the next word's surprisal was added to a model of the surprisal "
            "of the word and of two words before; it failed where that slope was positive, p < .01, and at least half the largest "
            f"of the others ({verdicts})."
        )
        sentences.append(read_off(text, "alignment_check", tested, "count by verdict"))
    return sentences


def _alignment_models(tables: Tables, software: Versions) -> list[str]:
    models = table_of(tables, "alignment_models")
    fitted = models.dropna(subset="estimate")
    if fitted.empty:
        return []
    terms = set(fitted["term"])
    lags = sum(name in terms for name in list_lagged_columns("surprisal", [lag for lag in LAG_SUFFIXES if lag > 0]))
    back = ("", " and of the word before", " and of two words before", " and of three words before")[lags]
    text = (
        f"Log reading time was modelled by surprisal, length and frequency of the word{back}, position in the sentence and log "
        f"trial number, {fits.estimation(fitted, software)}: {fits.formulas(fitted)}."
    )
    sentences: list[str] = [_with_versions(read_off(text, "alignment_models", fitted))]
    if all("(1|token)" in formula for formula in fitted["formula"]):
        text = "The intercept by token is there because readers share words."
        sentences.append(read_off(text, "alignment_models", fitted))
    if any("+ surprisal|participant" in formula for formula in fitted["formula"]):
        text = "The effect of surprisal varies over participants where the data allow."
        sentences.append(read_off(text, "alignment_models", fitted))
    return sentences


def _smooths(tables: Tables) -> list[str]:
    terms = table_of(tables, "gam_terms")
    if terms.empty:
        return []
    rho = terms["rho"].iloc[0]
    text = f"Generalised additive models were fitted by mgcv's bam in R (Wood, 2017): {fits.formulas(terms)}"
    text += f", with residuals of successive words following an AR(1) process ({rho:.2f})." if rho else "."
    return [read_off(text, "gam_terms", terms)]


def _heldout(tables: Tables, software: Versions) -> list[str]:
    held, gains = table_of(tables, "held_out_clusters"), table_of(tables, "delta_log_likelihood").dropna(subset="delta")
    if held.empty or gains.empty:
        return []
    by = str(held["folds_by"].iloc[0])
    unit = {"item": "items", "story": "stories", "participant": "participants", "row": "single readings"}[by]
    cluster = {"row": "item"}.get(by, CLUSTER_COLUMNS[by] if by != "story" else "story")
    folds = int(held["fold"].max()) + 1 if held["fold"].notna().any() else 0
    text = (
        f"What surprisal adds was measured on held-out data (Goodkind & Bicknell, 2018): {unit} were dealt to "
        f"{f'{folds} ' if folds else ''}folds at random, and the model above with intercepts alone, with and without surprisal at "
        f"all lags, was fitted by maximum likelihood to the other folds with {fits.program('glmm', software)}."
    )
    density = (
        f"Single readings were taken alone and summed by {cluster}."
        if by == "row"
        else f"The log density of a held-out {cluster} is the joint one of its readings, random effects integrated out."
    )
    sentences: list[str] = [
        _with_versions(read_off(text, "held_out_clusters", held, "distinct fold")),
        read_off(density, "held_out_clusters", held),
    ]
    clusters = gains["n_clusters"].max()
    if gains["p"].isna().all():
        text = f"With {clusters} clusters there are too few for a test or an interval."
        return [*sentences, read_off(text, "delta_log_likelihood", gains)]
    drawn = str(gains["flips"].iloc[0])
    flips = "all patterns of signs" if drawn == "exact" else f"{drawn}; Phipson & Smyth, 2010"
    text = f"p is one-sided, by sign flips over {clusters} clusters ({flips}); intervals are bootstraps over clusters."
    sentences.append(read_off(text, "delta_log_likelihood", gains))
    compared = table_of(tables, "delta_comparisons")
    if len(compared):
        text = "Language models were compared by two-sided sign flips over clusters, corrected over all pairs (Holm, 1979)."
        sentences.append(read_off(text, "delta_comparisons", compared))
    return sentences


def _rating_correlations(tables: Tables) -> list[str]:
    table = table_of(tables, "rating_correlations").dropna(subset="r")
    if table.empty:
        return []
    measures = labels.measures(table["measure"].unique())
    levels = "; ".join(str(name) for name in table["level"].unique() if name != RELATIVE_LEVEL)
    prompts = _prompts(tables)
    sentences = [
        f"Scores of sentences ({measures}) were correlated with the mean standardised rating of each sentence"
        f"{f' under each prompt ({prompts})' if prompts else ''}, after Pearson "
        f"and Spearman, over {levels} (the levels of Suijkerbuijk et al., 2025); intervals are bootstraps over "
        "items, paradigms or phenomena."
    ]
    if (table["level"] == RELATIVE_LEVEL).any():
        sentences.append(f"Beside them stands the correlation of ratings with {minimal_pairs.RELATIVE}.")
    if table["ceiling"].notna().any():
        sentences.append("Each is held against a noise ceiling.")
    return [read_off(text, "rating_correlations", table) for text in sentences]


def _pairs(tables: Tables) -> list[str]:
    table = table_of(tables, "pairs")
    if table.empty:
        return []
    measures = labels.measures(table["measure"].unique())
    sentences = [
        f"Language models were given {table['item'].nunique()} minimal pairs in {table['paradigm'].nunique()} paradigms.",
        f"A pair is won when its grammatical member has the higher score ({measures}); {minimal_pairs.TIES}; intervals are "
        f"Wilson's (Wilson, 1927) and {minimal_pairs.INDEPENDENT}.",
    ]
    return [read_off(text, "pairs", table, "distinct item", "distinct paradigm") for text in sentences]


def _comparisons(tables: Tables) -> list[str]:
    table = table_of(tables, "model_comparisons")
    table = table[table["n_pairs"] > 0]
    if table.empty:
        return []
    text = (
        "Two models were compared on the same pairs by McNemar's exact test without ties (McNemar, 1947), which speaks of "
        f"{minimal_pairs.FIXED} only"
    )
    if table["flip_p"].notna().any():
        text += f", and by two-sided sign flips over {minimal_pairs.DRAWN}"
    return [read_off(f"{text}; p was corrected over pairs of models (Holm, 1979).", "model_comparisons", table)]


def _judgments(tables: Tables) -> list[str]:
    accuracies = table_of(tables, "method_accuracies")
    if accuracies.empty:
        return []
    overall = accuracies[accuracies["phenomenon"] == ALL_PHENOMENA]
    methods = labels.listed(judgments.method_name(name) for name in overall["method"].unique())
    templates = overall["n_templates"].max()
    sentences = [
        f"Language models were asked to judge {overall['n_pairs'].max()} minimal pairs in "
        f"{overall['n_paradigms'].max()} paradigms by {methods} (Ide et al., 2025).",
        f"A pair is won when its grammatical member has the higher score; {minimal_pairs.TIES}"
        + (f"; accuracies are means over up to {templates} templates." if templates > 1 else "."),
    ]
    if overall["n_unread"].any():
        sentences.append("An answer that could not be read counts as wrong.")
    return [read_off(text, "method_accuracies", overall) for text in sentences]


def _votes(tables: Tables) -> list[str]:
    table = table_of(tables, "ensembles")
    table = table[(table["n_votes"] > 1) & table["accuracy"].notna()]
    if table.empty:
        return []
    votes = labels.listed(judgments.vote(name) for name in table["ensemble"].unique())
    text = f"Majority votes over templates ({votes}) are means over every mix of templates"
    chosen = [words for name, words in judgments.LABELS.items() if (table["selection"] == name).any()]
    if chosen:
        text += f"; the best mix was {labels.listed(chosen)}"
    return [read_off(f"{text}.", "ensembles", table)]


def _method_comparisons(tables: Tables) -> list[str]:
    table = table_of(tables, "method_comparisons").dropna(subset="p")
    if table.empty:
        return []
    against = labels.listed(judgments.method_name(name) for name in table["reference_method"].unique())
    text = (
        f"They were held against {against} by a paired bootstrap ({table['n_resamples'].max():,} resamples, one-sided) over pairs, "
        f"which speaks of {minimal_pairs.FIXED} only"
    )
    if table["paradigm_p"].notna().any():
        text += f", and over {minimal_pairs.DRAWN}"
    return [read_off(f"{text}; p was corrected over methods (Holm, 1979).", "method_comparisons", table)]
