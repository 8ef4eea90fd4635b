"""How mixed models were fitted: formulas, program, random effects, and the notes on single fits."""

import re
from collections.abc import Mapping

import pandas as pd

from gardenpath.study.plans import INTERCEPTS, SLOPES

from .labels import label, listed
from .numbers import Row, minus

Versions = Mapping[str, str]

# What an engine is, and whom to cite for it.
ENGINES = {"glmm": ("the Python package glmm", ""), "lme4": ("lme4 and lmerTest in R", "Bates et al., 2015")}
POLICIES = {
    "declared": "the form with slopes, kept as it is",
    "maximal": "all slopes that the design allows, of which slopes without variance, and in lme4 correlations, were left out one "
    "by one until the model converged and was not singular, or none was left (Barr et al., 2013)",
    "parsimonious": "from all slopes that the design allows, backward by likelihood-ratio tests at .2 (Matuschek et al., 2017)",
}
UNSEEN = "no p of a fixed effect was read"  # when random effects were chosen
VARYING = "the effect varies over participants and items"  # in models with slopes
CODED = "coded +.5 (grammatical) and −.5 (ungrammatical)"
DETECTABLE = "mde is the effect that would be found in 80% of repetitions"
CHECKED = "Cross-checked with"  # in a note
AGREEING = "a thousandth of a standard error"  # as far as two engines may differ


def formulas(models: pd.DataFrame) -> str:
    """Return the formulas of models, each once, as code; a factor with one contrast stands under its own name.

    >>> formulas(pd.DataFrame({"formula": ["z ~ a", "z ~ b", "z ~ a"]}))
    '`z ~ a` and `z ~ b`'
    >>> formulas(pd.DataFrame({"formula": ["z ~ npi_ever_any"], "term": ["npi_ever_any"], "contrast": ["npi: ever minus any"]}))
    '`z ~ npi`'
    """
    texts = dict.fromkeys(models["formula"])
    for column, factor in _factors(models).items():
        texts = dict.fromkeys(re.sub(rf"\b{re.escape(column)}\b", factor, text) for text in texts)
    return listed(f"`{text}`" for text in texts)


def _factors(models: pd.DataFrame) -> dict[str, str]:
    """Return the factor of each column of contrasts that is the only one of its factor."""
    if "contrast" not in models:
        return {}
    single = models.dropna(subset="contrast")
    single = single[~single["term"].str.contains(":", regex=False)].drop_duplicates("term")
    factors = single["contrast"].map(lambda contrast: str(contrast).partition(": ")[0])
    return {term: factor for term, factor in zip(single["term"], factors, strict=True) if (factors == factor).sum() == 1}


def estimation(models: pd.DataFrame, software: Versions | None = None) -> str:
    """Return how models were estimated, by which program, and where degrees of freedom come from.

    >>> estimation(pd.DataFrame({"engine": ["glmm"]}), {"glmm": "0.6.2"})
    'by REML with the Python package glmm 0.6.2 and degrees of freedom after Satterthwaite (Kuznetsova et al., 2017)'
    """
    used = program(str(models["engine"].iloc[0]), software)
    if "family" in models and (models["family"] == "binomial").all():
        return f"binomial with a logit link, by maximum likelihood (Laplace's approximation) with {used} and Wald's z tests"
    return f"by REML with {used} and degrees of freedom after Satterthwaite (Kuznetsova et al., 2017)"


def program(engine: str, software: Versions | None = None) -> str:
    """Return what an engine is, with its version where that is known.

    >>> program("lme4", {"lme4": "1.1.37"})
    'lme4 and lmerTest in R 1.1.37 (Bates et al., 2015)'
    """
    name, reference = ENGINES.get(engine, (engine, ""))
    version = (software or {}).get(engine, "")
    return f"{name}{f' {version}' if version else ''}{f' ({reference})' if reference else ''}"


def fitted(models: pd.DataFrame) -> str:
    """Return formulas and estimation as a sentence of its own for a caption, nothing where there are no models."""
    return f" Fitted: {formulas(models)}, {estimation(models)}." if len(models) else ""


def adjusted(several_prompts: bool) -> str:
    """Return the family of tests over which p-values of phenomena are adjusted.

    >>> adjusted(False)
    'adjusted over the phenomena of one response, region and form of random effects (Benjamini & Hochberg, 1995)'
    """
    kinds = listed(["response", "region", *(["prompt"] if several_prompts else []), "form of random effects"])
    return f"adjusted over the phenomena of one {kinds} (Benjamini & Hochberg, 1995)"


FORMS = {SLOPES: "with slopes", INTERCEPTS: "with intercepts alone"}


def form(row: Row) -> str:
    """Return the random effects of a model in words, and whether it was reduced or its fit is singular.

    >>> form({"random": "slopes", "singular": True, "reduced": True})
    'with slopes, reduced, singular fit'
    >>> form({"random": "declared", "singular": False})
    ''
    """
    parts = [FORMS.get(row["random"], ""), "reduced" if row.get("reduced", False) else ""]
    return ", ".join(filter(None, [*parts, "singular fit" if row["singular"] else ""]))


def crosschecked(models: pd.DataFrame) -> int:
    """Return how many models were fitted by a second engine too, and agree."""
    return int(models["note"].str.contains(CHECKED).fillna(False).sum())


def notes(models: pd.DataFrame, by: str) -> list[str]:
    """Return the notes of fitted models, each once, after the models (values of column `by`) that it holds for."""
    noted = models[models["note"].notna() & models["estimate"].notna()]
    grouped: dict[str, list[str]] = {}
    for name, note in zip(noted[by], noted["note"], strict=True):
        names = grouped.setdefault(str(note), [])
        if label(name) not in names:
            names.append(label(name))
    return [minus(f"{', '.join(names)}: {note}") for note, names in grouped.items()]
