"""R code that fits every mixed model of a report again, says how far it is from the tables, and has Bayesian models of the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gardenpath.study.responses import RESPONSES

from ..aligning.alignment_check import SEEN_LAGS
from ..aligning.predictors import format_formula, list_reading_terms
from ..engines.r_code import quote_text
from ..grammatical_status import find_minimal_pair_paradigms
from .exhibits import Tables


@dataclass(frozen=True)
class Refitted:
    """A table of models: what names one, the R function that returns its trials, and the formula where no column has it."""

    keys: Sequence[str]
    rows: str
    formula: str = ""


EFFECT_KEY = ("measure", "region", "prompt")
LANGUAGE_MODEL = ("model", "protocol")
REFITTED = {
    "phenomenon_models": Refitted(("phenomenon", *EFFECT_KEY, "random"), "rows_of_pairs"),
    "paradigm_models": Refitted(("phenomenon", "paradigm", *EFFECT_KEY, "random"), "rows_of_pairs"),
    "chosen_models": Refitted(("phenomenon", *EFFECT_KEY), "rows_of_pairs"),
    "factorial_models": Refitted(("model", *EFFECT_KEY, "random"), "rows_of_factors"),
    "ordinal_models": Refitted(("model", "phenomenon", "paradigm", "prompt"), "rows_of_ratings"),
    "alignment_models": Refitted(LANGUAGE_MODEL, "read_words"),
    "lag_profile": Refitted(LANGUAGE_MODEL, "read_words"),
    "alignment_check": Refitted(LANGUAGE_MODEL, "read_words", format_formula(list_reading_terms([-1, *SEEN_LAGS]))),
}
# The other tables with estimates, and why R has no code for them here.
LEFT_OUT = {
    "sensitivity": "the effects of phenomenon_models under other cutoffs, transforms and participants",
    "model_steps": "fits on the way to the models that are here; code of the last one stands in the report where R made it",
    "alignment_steps": "fits on the way to the models that are here; code of the last one stands in the report where R made it",
    "power": "simulated studies",
    "marginal_contrasts": "differences between levels, computed from a fitted model (R: emmeans)",
    "simple_effects": "differences between levels, computed from models that are here (R: emmeans)",
    "surprisal_effects": "ms per bit, computed from alignment_models, and the same model of times that are not logarithms",
    "held_out_clusters": "log densities of readings held out of a fit",
    "delta_log_likelihood": "gains on readings held out of a fit",
    "delta_comparisons": "gains on readings held out of a fit",
    "gam_terms": "curves (R: mgcv)",
    "smooths": "curves (R: mgcv)",
    "score_difference_regressions": "differences in score over pairs, of which the predictors are columns of other tables",
}
COMPUTED_COLUMNS_NOTE = "columns computed from the estimates: adjusted and equivalence p, mde, ms, raw and their limits"
BAYESIAN = ("phenomenon_models", "factorial_models")


def script(tables: Tables, files: Mapping[str, str] | None = None, name: str = "report.R") -> str:
    """Return the R code as one script, empty where there are no models whose rows are in tables that are there.

    `files` says where each table lies, seen from where the script runs. Tables of models for which it has no code are named in it,
    and in what it prints.
    """
    import jinja2

    refitted = [table for table in REFITTED if _fitted(tables, table) and not _lacking(tables, table)]
    if not refitted:
        return ""
    files = {table: f"{table}.csv" for table in tables} | dict(files or {})
    needed = {name for table in refitted for name in _needed(tables, table)}
    functions = {name for table in refitted for name in _functions(tables, table)}
    pairs = find_minimal_pair_paradigms(tables["items"]) if "rows_of_pairs" in functions else []
    loader = jinja2.PackageLoader("gardenpath.analysis.reporting", "templates")
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters["r"] = quote_text
    return environment.get_template("report.R").render(
        name=name,
        trials={table: files[table] for table in dict.fromkeys(one.table for one in RESPONSES.values()) if table in needed},
        pairs=pairs,
        codes=files["contrast_codes"] if "rows_of_factors" in functions else "",
        aligned=files["aligned"] if "read_words" in functions else "",
        tables=[{"name": table, "file": files[table], **vars(REFITTED[table])} for table in REFITTED if table in refitted],
        left_out=[*_left_out(tables), COMPUTED_COLUMNS_NOTE],
        ratings="rows_of_ratings" in functions,
        bayesian=any(table in BAYESIAN for table in refitted),
    )


def _fitted(tables: Tables, name: str) -> bool:
    return name in tables and bool(tables[name]["estimate"].notna().any())


def _needed(tables: Tables, name: str) -> list[str]:
    """Return the tables that hold the trials of a table of models, and what these are."""
    functions = _functions(tables, name)
    if "read_words" in functions:
        return ["aligned"]
    measures = tables[name].get("measure", ["rating"])
    kinds = {"rows_of_pairs": "items", "rows_of_factors": "contrast_codes"}
    return [*(kinds[name] for name in functions if name in kinds), *sorted({RESPONSES[measure].table for measure in measures})]


def _functions(tables: Tables, name: str) -> list[str]:
    """Return the R functions that a table's models need for their trials."""
    rows = REFITTED[name].rows
    if rows != "rows_of_ratings":
        return [rows]
    models = tables[name].dropna(subset="estimate")
    of = {"phenomenon": "rows_of_pairs", "model": "rows_of_factors"}
    return [rows, *(function for column, function in of.items() if column in models and models[column].notna().any())]


def _lacking(tables: Tables, name: str) -> list[str]:
    return [table for table in _needed(tables, name) if table not in tables]


def _left_out(tables: Tables) -> list[str]:
    """Return a line for each table of models that is there, and not in the code."""
    lines = []
    for table in (name for name in REFITTED if name in tables and len(tables[name])):
        if not _fitted(tables, table):
            lines.append(f"{table}: none of its models could be fitted; its notes say why")
        elif lacking := _lacking(tables, table):
            lines.append(f"{table}: it needs {' and '.join(lacking)}, which is not there")
    return [*lines, *(f"{table}: {why}" for table, why in LEFT_OUT.items() if table in tables and len(tables[table]))]
