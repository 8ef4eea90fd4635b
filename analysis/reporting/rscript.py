"""R code that fits every mixed model of a report again, says how far it is from the tables, and has Bayesian models of the same."""

from collections.abc import Mapping

from gardenpath.study.responses import RESPONSES

from ..aligning.alignment_check import SEEN_LAGS
from ..aligning.predictors import format_formula, list_reading_terms
from ..engines.r_code import quote_text
from ..model_results import SIMPLE_EFFECT
from .exhibits import Tables

EFFECTS = "effects"
PLANNED_TABLES = ("planned_models", "models", EFFECTS, "contrast_codes")  # of which the script reads the planned models
# The tables of models of surprisal, and the formula where no column has it.
ALIGNMENTS = {"alignment_models": "", "lag_profile": "", "alignment_check": format_formula(list_reading_terms([-1, *SEEN_LAGS]))}
REFITTED = (EFFECTS, *ALIGNMENTS)
# The other tables and rows with estimates, and why R has no code for them here.
LEFT_OUT = {
    EFFECTS: "its simple effects are differences between levels, computed from models that are here (R: emmeans)",
    "models": "fits that were not kept; code of the kept one stands in the report where R made it",
    "alignment_steps": "fits on the way to the models that are here; code of the last one stands in the report where R made it",
    "hypotheses": "answers to hypotheses, read off the effects of models that are here",
    "aggregate_tests": "tests by participants and by items of averages",
    "pooled_effects": "effects of several experiments pooled and compared (R: metafor, lme4)",
    "multiverse": "effects of planned models under other choices of exclusions, scale, random effects and covariates",
    "power": "simulated studies",
    "marginal_contrasts": "differences between levels, computed from a fitted model (R: emmeans)",
    "surprisal_effects": "ms per bit, computed from alignment_models, and the same model of times that are not logarithms",
    "held_out_clusters": "log densities of readings held out of a fit",
    "delta_log_likelihood": "gains on readings held out of a fit",
    "delta_comparisons": "gains on readings held out of a fit",
    "gam_terms": "curves (R: mgcv)",
    "smooths": "curves (R: mgcv)",
    "score_difference_regressions": "differences in score over pairs, of which the predictors are columns of other tables",
}
COMPUTED_COLUMNS_NOTE = "columns computed from the estimates: adjusted and equivalence p, mde, ms, raw and their limits"


def script(tables: Tables, files: Mapping[str, str] | None = None, name: str = "report.R") -> str:
    """Return the R code as one script, empty where there are no models whose rows are in tables that are there.

    `files` says where each table lies, seen from where the script runs. Tables of models for which it has no code are named in it,
    and in what it prints.
    """
    import jinja2

    refitted = [table for table in REFITTED if _is_fitted(tables, table) and not _list_lacking(tables, table)]
    if not refitted:
        return ""
    files = {table: f"{table}.csv" for table in tables} | dict(files or {})
    is_planned = EFFECTS in refitted
    responses = _find_response_tables(tables) if is_planned else {}
    loader = jinja2.PackageLoader("gardenpath.analysis.reporting", "templates")
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters["r"] = quote_text
    return environment.get_template("report.R").render(
        name=name,
        planned={table: files[table] for table in PLANNED_TABLES} if is_planned else {},
        responses=responses,
        trials={table: files[table] for table in dict.fromkeys(responses.values())},
        has_categories=is_planned and bool((tables[EFFECTS]["family"] == "cumulative").any()),
        aligned=files.get("aligned"),
        alignments=[
            {"table": table, "file": files[table], "formula": formula} for table, formula in ALIGNMENTS.items() if table in refitted
        ],
        left_out=[*_list_left_out(tables), COMPUTED_COLUMNS_NOTE],
    )


def _is_fitted(tables: Tables, name: str) -> bool:
    return name in tables and bool(tables[name]["estimate"].notna().any())


def _find_response_tables(tables: Tables) -> dict[str, str]:
    """Return the table that holds the trials of each response that is modelled."""
    effects = tables[EFFECTS]
    fitted = {*effects.loc[effects["estimate"].notna(), "response"]}
    return {name: response.table for name, response in RESPONSES.items() if name in fitted}


def _list_lacking(tables: Tables, name: str) -> list[str]:
    """Return the tables that the models of a table need and that are not there."""
    needed = [*PLANNED_TABLES, *_find_response_tables(tables).values()] if name == EFFECTS else ["aligned"]
    return [table for table in dict.fromkeys(needed) if table not in tables]


def _list_left_out(tables: Tables) -> list[str]:
    """Return a line for each table of models that is there, and not in the code."""
    lines = []
    for table in (name for name in REFITTED if name in tables and len(tables[name])):
        if not _is_fitted(tables, table):
            lines.append(f"{table}: none of its models could be fitted; their notes say why")
        elif lacking := _list_lacking(tables, table):
            lines.append(f"{table}: without {' and '.join(lacking)} its models cannot be fitted")
    return [*lines, *(f"{table}: {why}" for table, why in LEFT_OUT.items() if table in tables and _has_left_out(tables, table))]


def _has_left_out(tables: Tables, name: str) -> bool:
    """Whether a table has rows for which there is no code."""
    rows = tables[name]
    if name == EFFECTS:
        rows = rows[rows["kind"] == SIMPLE_EFFECT]
    elif name == "models":
        rows = rows[~rows["kept"].astype(bool)]
    return len(rows) > 0
