"""What can be pasted into a manuscript: methods as they were really carried out, and results in APA style."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES

from ..contrasts import INTERCEPTS, SLOPES, TERM
from ..correlation import RELATIVE
from ..ledger import ALL
from ..predictive import CLUSTERS
from ..predictors import AT, at
from ..prompts import ASKED, rated
from ..rows import records
from .references import cited
from .wording import effects, factors

Tables = Mapping[str, pd.DataFrame]
Versions = Mapping[str, str]

# What an engine is, and whom to cite for it.
ENGINES = {
    "glmm": ("the Python package glmm", ""),
    "lme4": ("lme4 and lmerTest in R", "Bates et al., 2015"),
}
MEASURES = {
    "lp": "log probability",
    "mean_lp": "log probability over tokens",
    "pen_lp": "log probability with a length penalty",
    "slor": "SLOR (Lau et al., 2017)",
    "critical_lp": "log probability of the critical region",
    "one_prefix": "probability of the critical words after one prefix (Warstadt et al., 2020)",
    "two_prefix": "probability of the critical words after each prefix (Warstadt et al., 2020)",
}


def methods(tables: Tables, software: Versions | None = None, models: Mapping[str, str] | None = None) -> list[str]:
    """Return paragraphs on what was done to the data, from the declared tables alone; none where there are no results.

    `software` gives versions by name, as the sidecars of the tables state them, and `models` what each language model is.
    """
    software, models = software or {}, models or {}
    paragraphs = [
        [_people(tables), _unanswered(tables), _ratings(tables), _times(tables)],
        [factors.factorial_methods(table_of(tables, "factorial_models"))],
        [_models(tables, software), _chosen(tables), _ordinal(tables), _grid(tables), _power(tables)],
        [_agreement(tables)],
        [_language_models(tables, software, models)],
        [_alignment(tables), _alignment_models(tables, software), _curves(tables), _heldout(tables, software)],
        [_likenesses(tables)],
        [_pairs(tables), _rivals(tables)],
    ]
    texts = [" ".join(part for part in parts if part) for parts in paragraphs]
    texts = [text for text in texts if text]
    if not texts:
        return []
    version = software.get("gardenpath")
    return [*texts[:-1], f"{texts[-1]} Analyses were run with gardenpath{f' {version}' if version else ''}."]


def ready_to_paste(
    tables: Tables, software: Versions | None = None, smallest: Mapping[str, float] | None = None
) -> str:
    """Return methods and results of a study as plain Markdown, each sentence read off the tables."""
    told = methods(tables, software)
    parts = [("Methods", told)]
    parts += [
        ("Exclusions", effects.exclusions(*(table_of(tables, name) for name in LEFT_OUT))),
        ("Ratings", effects.effects(table_of(tables, "phenomenon_models"), "z", rated(tables))),
        ("Reading times", effects.effects(table_of(tables, "phenomenon_models"), "log_rt")),
        ("Factors of the study", factors.factorial_effects(table_of(tables, "factorial_models"))),
        ("What could have been found", effects.power(table_of(tables, "phenomenon_models"), smallest or {})),
        ("Other choices", effects.robustness(table_of(tables, "sensitivity"))),
        ("Agreement among people", effects.agreement(*(table_of(tables, name) for name in AGREEMENT))),
    ]
    references = [f"{found.entry} {found.address}" for found in cited(" ".join(told))]
    parts.append(("References", references))
    sections = [f"## {title}\n\n" + "\n\n".join(lines) for title, lines in parts if lines]
    return "\n\n".join(sections) + "\n"


AGREEMENT = ("reliability", "noise_ceilings", "choice_agreement")
LEFT_OUT = ("exclusions", "participants", "participant_prompts")


def table_of(tables: Tables, name: str) -> pd.DataFrame:
    """Return a table, empty where it is not there."""
    return tables.get(name, pd.DataFrame(columns=TABLES[name].names))


def _people(tables: Tables) -> str:
    ledger, people = table_of(tables, "exclusions"), table_of(tables, "participants")
    if ledger.empty or people.empty:
        return ""
    sessions = ledger[(ledger["table"] == "sessions") & (ledger["condition"] == ALL)]
    began, counted = int(sessions["participants_before"].iloc[0]), len(people)
    text = f"Of {began} participants who began, {counted} completed a session that counts."
    gone = people["excluded"].dropna()
    if gone.empty:
        return f"{text} Nobody was excluded."
    named = "; ".join(f"{rule} (n = {n})" for rule, n in gone.value_counts(sort=False).items())
    return f"{text} We excluded {len(gone)} of them: {named}; {counted - len(gone)} remained."


def _ratings(tables: Tables) -> str:
    if table_of(tables, "rating_scores").empty:
        return ""
    prompts = _prompts(tables)
    return (
        f"Ratings{f' ({prompts})' if prompts else ''} were standardised within participant{' and prompt' if prompts else ''} (z, "
        "sample standard deviation) over all target and filler trials, before any exclusion."
        f"{' Each prompt was analysed by itself.' if prompts else ''}"
    )


def _prompts(tables: Tables) -> str:
    """Return the prompts of the ratings in words where there are several, else nothing."""
    names = [effects.label(prompt) for prompt in rated(tables) if prompt is not None]
    return f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _unanswered(tables: Tables) -> str:
    ledger = table_of(tables, "exclusions")
    lines = records(ledger[(ledger["condition"] == ALL) & ledger["table"].str.startswith(ASKED)])
    named = "; ".join(f"{row['rule']}, {row['excluded']} of {row['before']}" for row in lines)
    return f"Answers that did not come were left out: {named}." if named else ""


def _times(tables: Tables) -> str:
    times, ledger = table_of(tables, "region_times"), table_of(tables, "exclusions")
    if times.empty:
        return ""
    band = ledger[ledger["rule"].str.startswith("a word of critical was read") & (ledger["condition"] == ALL)]
    rule, out, before = (
        (str(band["rule"].iloc[-1]), int(band["excluded"].iloc[-1]), int(band["before"].iloc[-1]))
        if len(band)
        else ("", 0, 0)
    )
    limits = rule.partition(" in ")[2]
    text = "The reading time of the critical region is the sum over its words"
    if limits:
        text += f"; regions with a word read in {limits} were excluded ({out} of {before}, {effects.percent(out / max(before, 1))})"
    text += ". Times were then log-transformed."
    if len(times["region"].unique()) > 1:
        text += " The words after the region were analysed one by one, where the sentence went on after them."
    return text


def _models(tables: Tables, software: Versions) -> str:
    models = table_of(tables, "phenomenon_models")
    tested = models[models["term"] == TERM]
    if tested.empty:
        return ""
    declared, slopes = (tested[tested["random"] == form] for form in (INTERCEPTS, SLOPES))
    fitted = " and ".join(f"`{formula}`" for formula in sorted(declared["formula"].unique()))
    engine = str(tested["engine"].iloc[0])
    program, reference = ENGINES.get(engine, (engine, ""))
    version = software.get(engine, "")
    text = (
        f"For each of {tested['phenomenon'].nunique()} phenomena we fitted {fitted} (Suijkerbuijk et al., 2025) with "
        f"grammaticality coded +.5 and −.5 and other predictors centred, by REML with {program}{f' {version}' if version else ''}"
        f"{f' ({reference})' if reference else ''}, and degrees of freedom after Satterthwaite (Kuznetsova et al., "
        "2017)."
    )
    if len(slopes):
        forms = " and ".join(f"`{formula}`" for formula in sorted(slopes["formula"].unique()))
        text += f" Beside them stand models in which the effect varies over participants and items: {forms}."
    text += (
        f" p-values were adjusted over the phenomena of one measure, region{', prompt' if _prompts(tables) else ''} and form of "
        "random effects (Benjamini & Hochberg, 1995)."
    )
    singular = int(declared["singular"].sum())
    if singular:
        text += f" {singular} of {len(declared)} declared models were singular and kept as declared."
    return text


def _agreement(tables: Tables) -> str:
    found, choices = table_of(tables, "reliability"), table_of(tables, "choice_agreement")
    text = ""
    if len(found):
        text = (
            "Agreement among raters is ICC(2,k), two-way random effects, absolute agreement, mean of the k raters of a sentence "
            "(Shrout & Fleiss, 1979), for each paradigm and version, with intervals by parametric bootstrap; noise ceilings are "
            "square roots of split-half correlations within version, stepped up after Spearman and Brown."
        )
    if len(choices):
        text += " A paradigm counts as accepted when the majority agrees on at least four of five pairs (Warstadt et al., 2020)."
    return text.strip()


def _grid(tables: Tables) -> str:
    times = table_of(tables, "sensitivity")
    times = times[times["measure"] == "log_rt"]
    if times.empty:
        return ""
    text = (
        f"Reading-time models of the critical region were refitted under {times['cutoff'].nunique()} cutoffs and "
        f"{times['transform'].nunique()} transforms"
    )
    if len(times["people"].unique()) > 1:
        text += ", and without participants whose ratings did not tell conditions apart (Mann & Whitney, 1947)"
    return f"{text}; these are no tests of their own."


def _chosen(tables: Tables) -> str:
    models = table_of(tables, "chosen_models")
    if models.empty:
        return ""
    policy = str(models["policy"].iloc[0])
    text = (
        f"Random effects were also chosen by the policy {policy}: {POLICIES[policy]}; no p of a fixed effect was read."
    )
    checked = models["note"].str.contains("Cross-checked with").fillna(False).any()
    return text + (
        " Each was refitted in a second program, and given only where estimates differ by at most a thousandth of a standard error."
        if checked
        else ""
    )


POLICIES = {
    "declared": "the form with slopes, kept as it is",
    "maximal": "all slopes that the design allows, of which correlations and slopes without variance were left out one by one "
    "until the model converged and was not singular (Barr et al., 2013)",
    "parsimonious": "from all slopes that the design allows, backward by likelihood-ratio tests at .2 (Matuschek et al., 2017)",
}


def _ordinal(tables: Tables) -> str:
    models = table_of(tables, "ordinal_models")
    if models.empty:
        return ""
    links, formulas = (" and ".join(sorted(models[name].unique())) for name in ("link", "formula"))
    return (
        f"Ratings were modelled as ordered categories too (Liddell & Kruschke, 2018), with a {links} link: `{formulas}`, by the R "
        "package ordinal (Christensen, 2023)."
    )


def _power(tables: Tables) -> str:
    power = table_of(tables, "power")
    if power.empty:
        return ""
    return (
        f"Power was simulated for a smallest effect of interest ({', '.join(f'{e:g}' for e in sorted(power['effect'].unique()))}), "
        f"{power['runs'].iloc[0]} studies for each number of participants and items, with Wilson intervals (Wilson, 1927)."
    )


def _language_models(tables: Tables, software: Versions, models: Mapping[str, str]) -> str:
    scored = [table_of(tables, name) for name in ("surprisal", "sentence_scores", "pairs", "aligned", "accuracy")]
    names = list(dict.fromkeys(name for frame in scored for name in frame["model"].astype(str)))
    if not names:
        return ""
    listed = "; ".join(f"{name} ({models[name]})" if name in models else name for name in names)
    text = f"Language models: {listed}."
    if "transformers" in software:
        text += f" They were run with transformers {software['transformers']} (Wolf et al., 2020)"
        text += f" and torch {software['torch']}." if "torch" in software else "."
    protocols = {str(name) for frame in scored for name in frame["protocol"]}
    if "pll-word-l2r" in protocols:
        text += " Masked models were scored word by word from left to right (Kauf & Ivanova, 2023)."
    return text


def _alignment(tables: Tables) -> str:
    aligned, ledger = table_of(tables, "aligned"), table_of(tables, "alignment_exclusions")
    read = ledger[ledger["table"] == "readings"]
    if aligned.empty or read.empty:
        return ""
    out = [row for row in records(read) if row["excluded"]]
    named = "; ".join(f"{row['rule']} (n = {row['excluded']})" for row in out)
    text = (
        "The reading time of each word was set beside its surprisal in bits (whitespace counted as by Pimentel & Meister, 2024), "
        "its length in letters and digits, and its Zipf frequency (van Heuven et al., 2014; Speer, 2022)."
    )
    text += f" Left out were, in this order: {named}; {read['after'].iloc[-1]} of {read['before'].iloc[0]} readings remained."
    tested = table_of(tables, "alignment_test")
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
    lags = sum(name in terms for name in at("surprisal", [lag for lag in AT if lag > 0]))
    back = ("", " and of the word before", " and of two words before", " and of three words before")[lags]
    program, reference = ENGINES.get(str(fitted["engine"].iloc[0]), (str(fitted["engine"].iloc[0]), ""))
    version = software.get(str(fitted["engine"].iloc[0]), "")
    formulas = sorted(fitted["formula"].unique())
    text = (
        f"Log reading time was modelled by surprisal, length and frequency of the word{back}, position in the sentence and log "
        f"trial number, by REML with {program}{f' {version}' if version else ''}{f' ({reference})' if reference else ''}: "
        f"{' and '.join(f'`{formula}`' for formula in formulas)}."
    )
    if all("(1|token)" in formula for formula in formulas):
        text += " The intercept by token is there because readers share words."
    if any("+ surprisal|participant" in formula for formula in formulas):
        text += " The effect of surprisal varies over participants where the data allow."
    return text


def _curves(tables: Tables) -> str:
    terms = table_of(tables, "gam_terms")
    if terms.empty:
        return ""
    formulas = " and ".join(f"`{formula}`" for formula in terms["formula"].unique())
    rho = terms["rho"].iloc[0]
    return f"Generalised additive models were fitted by mgcv's bam in R (Wood, 2017): {formulas}" + (
        f", with residuals of successive words following an AR(1) process ({rho:.2f})." if rho else "."
    )


def _heldout(tables: Tables, software: Versions) -> str:
    held, gains = table_of(tables, "heldout"), table_of(tables, "delta_log_likelihood").dropna(subset="delta")
    if held.empty or gains.empty:
        return ""
    by = str(held["folds_by"].iloc[0])
    unit = {"item": "items", "story": "stories", "participant": "participants", "row": "single readings"}[by]
    cluster = {"row": "item"}.get(by, CLUSTERS[by] if by != "story" else "story")
    folds = int(held["fold"].max()) + 1 if held["fold"].notna().any() else 0
    version = software.get("glmm", "")
    text = (
        f"What surprisal adds was measured on held-out data (Goodkind & Bicknell, 2018): {unit} were dealt to "
        f"{f'{folds} ' if folds else ''}folds at random, and the model above with intercepts alone, with and without surprisal at "
        f"all lags, was fitted by maximum likelihood to the other folds with glmm{f' {version}' if version else ''}. "
    )
    text += (
        f"Single readings were taken alone and summed by {cluster}. "
        if by == "row"
        else f"The log density of a held-out {cluster} is the joint one of its readings, random effects integrated out. "
    )
    few = gains["p"].isna().all()
    if few:
        return f"{text}With {gains['clusters'].max()} clusters there are too few for a test or an interval."
    how = str(gains["flips"].iloc[0])
    flips = "all patterns of signs" if how == "exact" else f"{how}; Phipson & Smyth, 2010"
    text += f"p is one-sided, by sign flips over {gains['clusters'].max()} clusters ({flips}); intervals are cluster bootstraps."
    if len(table_of(tables, "delta_comparisons")):
        text += " Language models were compared by two-sided sign flips over clusters, corrected over all pairs (Holm, 1979)."
    return text


def _likenesses(tables: Tables) -> str:
    table = table_of(tables, "rating_correlations").dropna(subset="r")
    if table.empty:
        return ""
    measures = ", ".join(MEASURES.get(name, name) for name in table["measure"].unique())
    levels = ", ".join(str(name) for name in table["level"].unique() if name != RELATIVE)
    prompts = _prompts(tables)
    text = (
        f"Scores of sentences ({measures}) were correlated with the mean standardised rating of each sentence"
        f"{f' under each prompt ({prompts})' if prompts else ''}, after Pearson "
        f"and Spearman, over {levels} (the levels of Suijkerbuijk et al., 2025); intervals are bootstraps over "
        "items, paradigms or phenomena."
    )
    if (table["level"] == RELATIVE).any():
        text += " Beside them stands the correlation of ratings with the score less that of the other member (Hu et al., 2024)."
    if table["ceiling"].notna().any():
        text += " Each is held against a noise ceiling."
    return text


def _pairs(tables: Tables) -> str:
    table = table_of(tables, "pairs")
    if table.empty:
        return ""
    measures = ", ".join(MEASURES.get(name, name) for name in table["measure"].unique())
    return (
        f"Language models were given {table['item'].nunique()} minimal pairs in {table['paradigm'].nunique()} paradigms. A pair is "
        f"won when its grammatical member has the higher score ({measures}), a tie being half a success; intervals are Wilson's "
        "(Wilson, 1927) and take pairs as independent."
    )


def _rivals(tables: Tables) -> str:
    table = table_of(tables, "model_comparisons")
    table = table[table["n"] > 0]
    if table.empty:
        return ""
    text = (
        "Two models were compared on the same pairs by McNemar's exact test without ties (McNemar, 1947), which takes paradigms as "
        "fixed"
    )
    if table["flip_p"].notna().any():
        text += ", and by two-sided sign flips over paradigms, which does not"
    return f"{text}; p was corrected over pairs of models (Holm, 1979)."
