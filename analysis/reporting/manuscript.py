"""What can be pasted into a manuscript: methods as they were really carried out, and results in APA style."""

from collections.abc import Mapping

import pandas as pd

from gardenpath.study import TABLES

from ..contrasts import INTERCEPTS, SLOPES, TERM
from ..ledger import ALL
from . import wording

Tables = Mapping[str, pd.DataFrame]

REFERENCES = {
    "Bates, Mächler, Bolker & Walker, 2015": "https://doi.org/10.18637/jss.v067.i01",
    "Benjamini & Hochberg, 1995": "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
    "Kuznetsova, Brockhoff & Christensen, 2017": "https://doi.org/10.18637/jss.v082.i13",
    "Shrout & Fleiss, 1979": "https://doi.org/10.1037/0033-2909.86.2.420",
    "Suijkerbuijk et al., 2025": "https://doi.org/10.1162/COLI.a.00559",
    "Warstadt et al., 2020": "https://doi.org/10.1162/tacl_a_00321",
}
# What an engine is, and whom to cite for it.
ENGINES = {
    "glmm": ("the Python package glmm", ""),
    "lme4": ("lme4 and lmerTest in R", "Bates, Mächler, Bolker & Walker, 2015"),
}


def methods_text(tables: Tables, software: Mapping[str, str] | None = None) -> str:
    """Return a methods paragraph on what was done to the data, from the tables of `analysis.analyse` alone.

    `software` gives versions by name, as the sidecars of the tables state them; empty where there are no such tables.
    """
    software = software or {}
    parts = [
        _people(tables),
        _ratings(tables),
        _times(tables),
        _models(tables, software),
        _agreement(tables),
        _grid(tables),
    ]
    text = " ".join(part for part in parts if part)
    if not text:
        return ""
    version = software.get("gardenpath")
    return f"{text} Analyses were run with gardenpath{f' {version}' if version else ''}."


def cited(text: str) -> dict[str, str]:
    """Return the references that a text cites, with their addresses.

    >>> cited("as usual (Shrout & Fleiss, 1979)")
    {'Shrout & Fleiss, 1979': 'https://doi.org/10.1037/0033-2909.86.2.420'}
    """
    return {name: address for name, address in REFERENCES.items() if name in text}


def ready_to_paste(
    tables: Tables, software: Mapping[str, str] | None = None, smallest: Mapping[str, float] | None = None
) -> str:
    """Return methods and results of a study as plain Markdown, each sentence read off the tables."""
    methods = methods_text(tables, software)
    parts = [("Methods", [methods] if methods else [])]
    parts += [
        ("Exclusions", wording.exclusions(table_of(tables, "exclusions"), table_of(tables, "participants"))),
        ("Ratings", wording.effects(table_of(tables, "phenomenon_models"), "z")),
        ("Reading times", wording.effects(table_of(tables, "phenomenon_models"), "log_rt")),
        ("What could have been found", wording.power(table_of(tables, "phenomenon_models"), smallest or {})),
        ("Other choices", wording.robustness(table_of(tables, "sensitivity"))),
        ("Agreement among people", wording.agreement(*(table_of(tables, name) for name in AGREEMENT))),
    ]
    references = [f"{name}. {address}" for name, address in cited(methods).items()]
    parts.append(("References", references))
    sections = [f"## {title}\n\n" + "\n\n".join(lines) for title, lines in parts if lines]
    return "\n\n".join(sections) + "\n"


AGREEMENT = ("reliability", "noise_ceilings", "choice_agreement")


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
    return (
        "Ratings were standardised within participant (z, sample standard deviation) over all target and filler trials, before "
        "any exclusion."
    )


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
        text += f"; regions with a word read in {limits} were excluded ({out} of {before}, {wording.percent(out / max(before, 1))})"
    text += ". Times were then log-transformed."
    if len(times["region"].unique()) > 1:
        text += " The words after the region were analysed one by one, where the sentence went on after them."
    return text


def _models(tables: Tables, software: Mapping[str, str]) -> str:
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
        f"{f' ({reference})' if reference else ''}, and degrees of freedom after Satterthwaite (Kuznetsova, Brockhoff & "
        "Christensen, 2017)."
    )
    if len(slopes):
        forms = " and ".join(f"`{formula}`" for formula in sorted(slopes["formula"].unique()))
        text += f" Beside them stand models in which the effect varies over participants and items: {forms}."
    text += (
        " p-values were adjusted over the phenomena of one measure, region and form of random effects (Benjamini & Hochberg, "
        "1995)."
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
        text += ", and without participants whose ratings did not tell conditions apart (Mann-Whitney)"
    return f"{text}; these are no tests of their own."
