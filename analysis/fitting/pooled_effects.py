"""Effects of several experiments side by side: pooled by meta-analysis, and compared in one model of all their trials."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check
from gardenpath.study.plans import DECLARED, INTERCEPTS, Plan
from gardenpath.study.responses import BINARY_TABLE, RATINGS_TABLE, TIMES_TABLE

from ..engines.estimates import ModelEstimate
from ..engines.formulas import Formula, parse_formula
from ..exclusion_log import ALL_CONDITIONS
from ..measuring.participant_measures import select_known_measures
from ..measuring.region_spans import SENTENCE_REGION
from ..model_results import COEFFICIENT, join_results
from ..modelling.coding import Coded, coded
from ..modelling.meta_analysis import MetaAnalysis, pool_estimates
from ..modelling.mixed_models import fit_coded
from ..modelling.separation import binary
from ..plan.trials import StudyTrials, compute_covariates
from ..prompts import filter_prompt
from ..row_dicts import list_rows
from .plan_tables import fit_plan

Tables = Mapping[str, pd.DataFrame]
Rows = list[dict[str, Any]]

MODEL = ("unit", "model", "response", "family", "region", "prompt")
TESTS = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")
SIZES = ("n", "n_participants", "n_items")
EXPERIMENT, POOLED, JOINT, DIFFERENCE, DIFFERENCES = "experiment", "pooled", "joint", "difference", "differences"  # kinds of rows
TRIAL_TABLES = (RATINGS_TABLE, TIMES_TABLE, BINARY_TABLE)
REQUIRED_TABLES = ("effects", "models", "planned_models")  # of each experiment
# Read where they are there: without trials and contrasts there is no joint model.
OPTIONAL_TABLES = (*TRIAL_TABLES, "contrast_codes", "contrast_matrices")
COLLECTION = re.compile(r"(\d+)-.+")  # an experiment of one of several collections that stand in one set of tables
WEIGHT_TOLERANCE = 1e-9  # of the cells' weights in a contrast
MINUS = " minus "


def pool_effects(experiments: Mapping[str, Tables], *, engine: str = "glmm") -> pd.DataFrame:
    """Return the table pooled_effects of several experiments, each with the tables that `analyse` gives of it, by name.

    Effects are the same where model, response, region, prompt and term are; each experiment has its headline. They are pooled by
    `pool_estimates`, which takes them to be independent. Where the tables hold the trials and the codes of the contrasts, one model
    is fitted to all of them with the experiment as a factor, whose levels are compared one after the other: participants of
    different experiments are different people, items of one name are the same item. Of ratings as ordered categories there is no
    such model. A model whose fit did not converge is left out, and its note says so.

    Raises `DataError` for fewer than two experiments, where none of their models is the same, and where the same model has other
    contrasts, weights of cells, or points of its rating scale in another experiment.

    >>> pool_effects({"first": {}})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: 1 experiment; expected the results of two or more
    """
    if len(experiments) < 2:
        raise DataError(f"{len(experiments)} experiment; expected the results of two or more")
    headlines = {name: _list_headlines(tables) for name, tables in experiments.items()}
    shared = _find_shared(headlines)
    if not shared:
        raise DataError(
            [f"{name}: models of {_describe_models(rows)}" for name, rows in headlines.items()] + ["none is in two of these"]
        )
    if faults := [fault for key in shared for fault in _find_differences(key, headlines, experiments)]:
        raise DataError(faults)
    rows = [row for key in shared for row in _pool_model(key, headlines, experiments, engine)]
    return check(pd.DataFrame(rows, columns=TABLES["pooled_effects"].column_names), "pooled_effects")


def describe_unshared(experiments: Mapping[str, Tables]) -> list[str]:
    """Return a line for each model, region or prompt that some experiments have and others lack."""
    headlines = {name: _list_headlines(tables) for name, tables in experiments.items()}
    lines = []
    for key in dict.fromkeys(key for found in headlines.values() for key in found):
        having = [name for name, found in headlines.items() if key in found]
        if len(having) < len(headlines):
            lacking = [name for name in headlines if name not in having]
            of = "pooled over those that have it" if len(having) > 1 else "not pooled"
            lines.append(f"{_describe_key(key)} is in {', '.join(having)} and not in {', '.join(lacking)}: {of}")
    return lines


def pool_parallel(plan: Plan, trials: StudyTrials) -> pd.DataFrame:
    """Return pooled_effects of the experiments of one study that show the same paradigms; no rows where there are none such.

    These are several collections in one set of tables, or experiments whose trials have paradigms in common. Experiments that
    differ in their paradigms are not compared: their difference would be one between paradigms.
    """
    labels = {table: _label_experiments(frame) for table, frame in _get_trials(trials).items()}
    names = sorted({str(name) for column in labels.values() for name in column.unique()}, key=_order)
    parts = {name: _select(trials, {table: column == name for table, column in labels.items()}) for name in names}
    shown = {
        name: {
            str(paradigm) for frame in _get_trials(part).values() for paradigm in frame.loc[frame["role"] == "target", "paradigm"]
        }
        for name, part in parts.items()
    }
    counts = pd.Series([paradigm for paradigms in shown.values() for paradigm in paradigms], dtype="object").value_counts()
    repeated = {str(paradigm) for paradigm, count in counts.items() if count > 1}
    models = tuple(model for model in plan.models if model.unit != "paradigm" and repeated & {*model.paradigms})
    names = [name for name in names if shown[name] & repeated]
    if len(names) < 2 or not models:
        return check(pd.DataFrame(columns=TABLES["pooled_effects"].column_names), "pooled_effects")
    part_plan = replace(plan, models=models)
    results = {name: {**fit_plan(part_plan, parts[name]), **_get_trials(parts[name])} for name in names}
    return pool_effects(results, engine=plan.engine)


def _get_trials(trials: StudyTrials) -> dict[str, pd.DataFrame]:
    return {RATINGS_TABLE: trials.scores, TIMES_TABLE: trials.times, BINARY_TABLE: trials.answers}


def _label_experiments(frame: pd.DataFrame) -> "pd.Series[str]":
    """Return the experiment of each trial; of several collections in one set of tables, the collection."""
    names = frame["experiment"].astype(str)
    matches = {name: COLLECTION.fullmatch(name) for name in names.unique()}
    collections = {name: match[1] for name, match in matches.items() if match}
    return names.map(collections) if len(collections) == len(matches) else names


def _order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdigit() else (0, name)


def _select(trials: StudyTrials, chosen: Mapping[str, "pd.Series[bool]"]) -> StudyTrials:
    frames = {table: frame[chosen[table].astype(bool)] for table, frame in _get_trials(trials).items()}
    return StudyTrials(
        frames[RATINGS_TABLE], frames[TIMES_TABLE], frames[BINARY_TABLE], trials.items, trials.conditions, trials.resolved_from
    )


# ------------------------------------------------------------------------------------------------ effects that are the same

Key = tuple[str, ...]
Headlines = dict[Key, Rows]


def _list_headlines(tables: Tables) -> Headlines:
    """Return the effects of factors of each headline; of a model that could not be fitted its one row without numbers."""
    results = join_results(tables)
    plans = tables["planned_models"].drop_duplicates("model_id").set_index("model_id")
    kept = results[(results["kind"] == COEFFICIENT) & (results["unit"] != "paradigm")]
    headline = kept["headline"] | (kept["family"] == "cumulative")
    kept = kept[headline & (kept["contrast"].notna() | kept["estimate"].isna())]
    found: Headlines = {}
    for row in list_rows(
        kept.assign(first_fit=kept["model_id"].map(plans["first_fit"]), paradigms=kept["model_id"].map(plans["paradigms"]))
    ):
        key = tuple("" if pd.isna(row[name]) else str(row[name]) for name in MODEL)
        rows = found.setdefault(key, [])
        if not rows or rows[0]["model_id"] == row["model_id"]:
            rows.append(row)
    return found


def _find_shared(headlines: Mapping[str, Headlines]) -> list[Key]:
    keys = dict.fromkeys(key for found in headlines.values() for key in found)
    return [key for key in keys if sum(key in found for found in headlines.values()) > 1]


def _describe_key(key: Key) -> str:
    _, model, response, family, region, prompt = key
    where = "" if region == SENTENCE_REGION else f" {region}"
    kind = " as ordered categories" if family == "cumulative" else ""
    return f"{model}, {response}{where}{f' ({prompt})' if prompt else ''}{kind}"


def _describe_models(found: Headlines) -> str:
    return "; ".join(map(_describe_key, found)) or "nothing"


def _find_differences(key: Key, headlines: Mapping[str, Headlines], experiments: Mapping[str, Tables]) -> Iterator[str]:
    """Yield what is compared otherwise in one experiment than in the first that has the model."""
    fitted = {
        name: [row for row in found[key] if not pd.isna(row["estimate"])] for name, found in headlines.items() if key in found
    }
    fitted = {name: rows for name, rows in fitted.items() if rows}
    if len(fitted) < 2:
        return
    first, *others = fitted
    contrasts = {name: _list_contrasts(rows) for name, rows in fitted.items()}
    weights = {name: _list_weights(key, experiments[name]) for name in fitted}
    points = {name: _find_points(key, experiments[name], fitted[name][0]) for name in fitted}
    for other in others:
        where = f"{_describe_key(key)}: "
        for factors in contrasts[first]:
            here, there = contrasts[first][factors], contrasts[other].get(factors)
            if there is not None and here != there:
                compared = f"{first} compares {'; '.join(sorted(here))}, {other} {'; '.join(sorted(there))}"
                yield f"{where}{compared}; expected the same contrasts"
        for term in sorted({*weights[first]} & {*weights[other]}):
            if not _is_same_contrast(weights[first][term], weights[other][term]):
                yield f"{where}{term} weighs other cells, or weighs them otherwise, in {first} than in {other}; expected one coding"
        if points[first] != points[other]:
            scales = f"ratings go from {points[first]} in {first}, from {points[other]} in {other}"
            yield f"{where}{scales}; expected one scale, or a model of z"


def _list_contrasts(rows: Rows) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        factors: object = row["term"] if pd.isna(row["factors"]) else row["factors"]
        found.setdefault(str(factors), set()).add(str(row["contrast"]))
    return found


def _list_weights(key: Key, tables: Tables) -> dict[str, dict[str, float]]:
    """Return the weight of each cell in each coefficient of a model of the study's factors."""
    if "contrast_matrices" not in tables or key[0] != "model":
        return {}
    table = tables["contrast_matrices"]
    rows = table[(table["model"] == key[1]) & table["contrast"].notna()]
    found: dict[str, dict[str, float]] = {}
    for row in list_rows(rows):
        cell = ", ".join(sorted(str(row["cell"]).split(", ")))
        found.setdefault(":".join(sorted(str(row["term"]).split(":"))), {})[cell] = float(row["weight"])
    return found


def _is_same_contrast(here: Mapping[str, float], there: Mapping[str, float]) -> bool:
    return {*here} == {*there} and all(abs(here[cell] - there[cell]) < WEIGHT_TOLERANCE for cell in here)


def _find_points(key: Key, tables: Tables, row: Mapping[str, Any]) -> str:
    """Return the lowest and the highest rating of a model of ratings as they were given: its unit; nothing of other responses."""
    if key[2] != "rating" or RATINGS_TABLE not in tables:
        return ""
    scores = tables[RATINGS_TABLE]
    ratings = filter_prompt(scores[scores["task"] == "rating"], key[5] or None)["rating"].dropna()
    return f"{ratings.min():g} to {ratings.max():g}" if len(ratings) else ""


# ------------------------------------------------------------------------------------------------ one model


def _pool_model(
    key: Key, headlines: Mapping[str, Headlines], experiments: Mapping[str, Tables], engine: str
) -> Iterator[dict[str, Any]]:
    found = {name: rows[key] for name, rows in headlines.items() if key in rows}
    fitted = {name: [row for row in rows if not pd.isna(row["estimate"])] for name, rows in found.items()}
    usable = [name for name, rows in fitted.items() if rows and bool(rows[0]["converged"])]
    joint = (
        _fit_joint(key, {name: found[name][0] for name in usable}, experiments, engine)
        if len(usable) > 1
        else "too few models were fitted"
    )
    effects = {row["term"]: row for rows in fitted.values() for row in rows}
    for term, example in effects.items():
        facts = dict(zip(MODEL, key, strict=True)) | {"prompt": key[5] or None, "term": term, "contrast": example["contrast"]}
        own = {name: _find_term(rows, term) for name, rows in fitted.items()}
        tested = {name: row for name, row in own.items() if row is not None and name in usable and not pd.isna(row["se"])}
        pooled = (
            pool_estimates([row["estimate"] for row in tested.values()], [row["se"] for row in tested.values()])
            if len(tested) > 1
            else None
        )
        weights = dict(zip(tested, pooled.weights, strict=True)) if pooled else {}
        for name, row in own.items():
            yield (
                facts
                | {"kind": EXPERIMENT, "experiment": name, "n_experiments": 1, **_describe_own(found[name][0], row, name in usable)}
                | {"weight": weights.get(name)}
            )
        if pooled is None:
            continue
        yield facts | {"kind": POOLED, "n_experiments": len(tested), **_describe_pooled(pooled)}
        if isinstance(joint, str):
            yield facts | {"kind": JOINT, "n_experiments": len(tested), "note": joint}
        else:
            yield from (facts | row for row in joint.list_rows(term))


def _find_term(rows: Rows, term: str) -> dict[str, Any] | None:
    return next((row for row in rows if _same(row["term"], term)), None)


def _same(term: str, other: str) -> bool:
    return frozenset(str(term).split(":")) == frozenset(other.split(":"))


def _describe_own(first: Mapping[str, Any], row: Mapping[str, Any] | None, is_usable: bool) -> dict[str, Any]:
    facts = {name: first[name] for name in ("random", "formula", *SIZES)}
    if row is None:
        reason = first["note"] if pd.isna(first["estimate"]) else "its model has no such effect"
        return facts | {"note": f"left out: {str(reason)[0].lower()}{str(reason)[1:]}"}
    return facts | {name: row[name] for name in TESTS} | {"note": None if is_usable else "left out: the fit did not converge"}


def _describe_pooled(pooled: MetaAnalysis) -> dict[str, Any]:
    names = ("tau", "tau_low", "tau_high", "i_squared", "q", "q_df", "q_p", "prediction_low", "prediction_high")
    return {name: getattr(pooled, name) for name in (*TESTS, *names)}


# ------------------------------------------------------------------------------------------------ all trials in one model


class JointModel:
    """One model of the trials of several experiments, the experiment a factor with the contrasts of each with the one before."""

    def __init__(self, names: Sequence[str], columns: Sequence[str], table: pd.DataFrame, estimated: ModelEstimate) -> None:
        self.names, self.columns, self.table, self.estimated = names, columns, table, estimated

    def list_rows(self, term: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of an effect: its mean over experiments, the differences, and of three or more the test of all."""
        first = list_rows(self.table.head(1))[0]
        facts = {"formula": first["formula"], "n": first["n"], "n_participants": first["participants"], "n_items": first["n_items"]}
        facts |= {"n_experiments": len(self.names)}
        rows = list_rows(self.table)
        mean = _find_term(rows, term)
        if mean is not None:
            yield facts | {"kind": JOINT, **{name: mean[name] for name in TESTS}, "note": first["note"] or None}
        crossed = [_find_term(rows, column if term == "intercept" else f"{term}:{column}") for column in self.columns]
        for (before, after), row in zip(zip(self.names, self.names[1:], strict=False), crossed, strict=True):
            if row is not None:
                yield (
                    facts
                    | {"kind": DIFFERENCE, "experiment": f"{after}{MINUS}{before}", **{name: row[name] for name in TESTS}}
                    | {"n_experiments": 2}
                )
        if len(self.columns) > 1 and all(row is not None for row in crossed):
            yield facts | {"kind": DIFFERENCES, **self._test([str(row["term"]) for row in crossed if row is not None])}

    def _test(self, terms: Sequence[str]) -> dict[str, Any]:
        """Return Wald's chi-square that these coefficients are all zero."""
        import numpy as np
        from scipy import stats

        values = self.table.set_index("term").loc[[*terms], "estimate"].to_numpy(dtype="float64")
        part = self.estimated.covariance.loc[[*terms], [*terms]].to_numpy(dtype="float64")
        if not (np.isfinite(values).all() and np.isfinite(part).all()):
            return {"note": "some of the differences could not be estimated"}
        chi2 = float(values @ np.linalg.solve(part, values))
        return {"q": chi2, "q_df": len(terms), "q_p": float(stats.chi2.sf(chi2, len(terms)))}


def _fit_joint(
    key: Key, models: Mapping[str, Mapping[str, Any]], experiments: Mapping[str, Tables], engine: str
) -> JointModel | str:
    """Return the model of all trials of these experiments, or why there is none."""
    if key[3] == "cumulative":
        return "no joint model of ordered categories"
    if lacking := [name for name in models if not {"contrast_codes", *TRIAL_TABLES[:2]} <= {*experiments[name]}]:
        return f"no joint model: the trials of {', '.join(lacking)} are not there"
    starts = {name: parse_formula(str(row["first_fit"])) for name, row in models.items()}
    fixed = {frozenset(frozenset(term.split(":")) for term in start.fixed) for start in starts.values()}
    if len(fixed) > 1:
        return "no joint model: the fixed effects are not the same in all experiments"
    start = next(iter(starts.values()))
    try:
        return _fit_trials(key, start, models, experiments, engine)
    except DataError as error:
        return f"no joint model: {str(error).splitlines()[0]}"


def _fit_trials(
    key: Key, start: Formula, models: Mapping[str, Mapping[str, Any]], experiments: Mapping[str, Tables], engine: str
) -> JointModel:
    parts = [_select_trials(key, start, row, experiments[name], name) for name, row in models.items()]
    rows = pd.concat(parts, ignore_index=True)
    names = [*models]
    experiment = coded(rows, Formula(start.response, ("1", EXPERIMENT), ()), {EXPERIMENT: ("repeated", names)})
    columns = [*experiment.codes]
    coded_columns = _list_codes(key, experiments[names[0]])
    numbers = [name for name in start.column_names[1:] if name not in (*coded_columns, *start.group_columns)]
    frame = experiment.frame.assign(
        **{name: experiment.frame[name].astype("float64") - experiment.frame[name].mean() for name in numbers}
    )
    crossed = [term for term in start.fixed if term != "1" and {*term.split(":")} & {*coded_columns}]
    fixed = (*start.fixed, *columns, *(f"{term}:{column}" for term in crossed for column in columns))
    formula = replace(start, fixed=tuple(sorted(fixed, key=lambda term: term.count(":"))), text="")
    if key[3] == "binomial":
        frame = frame.assign(**binary(frame, formula.response))
    first = next(iter(models.values()))
    policy = "declared" if first["random"] in (INTERCEPTS, DECLARED) else "maximal"
    formulas = [parse_formula(str(row["formula"])) for row in models.values()]
    largest = max(formulas, key=lambda fitted: sum(len(random.terms) for random in fitted.random))
    if {*largest.column_names} <= {*frame}:
        formula = formula.replace_random(largest.random)
    design = Coded(frame, formula, {}, {})
    fit = fit_coded(design, formula, declared_formula=formula, family=key[3], engine=engine, policy=policy)
    kept = fit.steps.kept
    if kept is None or not kept.converged:
        raise DataError("it did not converge")
    return JointModel(names, columns, fit.coefficients, kept)


def _list_codes(key: Key, tables: Tables) -> tuple[str, ...]:
    """Return the columns of the contrasts of a model."""
    rows = _select_codes(key, tables)
    return tuple(dict.fromkeys(str(name) for name in rows["column"].dropna()))


def _select_codes(key: Key, tables: Tables) -> pd.DataFrame:
    codes = tables["contrast_codes"]
    return codes[(codes["unit"] == key[0]) & (codes["model"] == key[1]) & (codes["response"] == key[2])]


def _select_trials(key: Key, start: Formula, model: Mapping[str, Any], tables: Tables, experiment: str) -> pd.DataFrame:
    """Return the trials of an experiment under a model, with the contrasts as columns; participants are its own."""
    frames = {name: tables[name] if name in tables else pd.DataFrame(columns=TABLES[name].column_names) for name in TRIAL_TABLES}
    items, conditions = (pd.DataFrame(columns=TABLES[name].column_names) for name in ("items", "conditions"))
    _, _, response, _, region, prompt = key
    trials = StudyTrials(frames[RATINGS_TABLE], frames[TIMES_TABLE], frames[BINARY_TABLE], items, conditions)
    rows = trials.select_response(response)
    rows = rows if region == SENTENCE_REGION else rows[rows["region"] == region]
    rows = filter_prompt(rows, None if prompt in ("", ALL_CONDITIONS) else prompt)
    rows = rows[rows["paradigm"].isin(str(model["paradigms"]).split(", "))]
    rows = rows.astype({"participant": object, "item": object}).reset_index(drop=True)
    codes = _select_codes(key, tables).dropna(subset="column")
    of_conditions = codes[codes["condition"].notna()]
    if len(of_conditions):
        wide = of_conditions.pivot_table("code", ["paradigm", "condition"], "column").reset_index()
        rows = rows.merge(wide, on=["paradigm", "condition"], how="inner", validate="m:1")
    for (column, factor), part in codes[codes["factor"].notna()].groupby(["column", "factor"], sort=False):
        rows[str(column)] = rows[str(factor)].astype(str).map(dict(zip(part["level"], part["code"], strict=True))).astype("float64")
    rows = rows.assign(**compute_covariates(rows))
    needed = start.column_names
    if absent := [name for name in needed if name not in rows]:
        raise DataError(f"{experiment} has no column {', '.join(absent)} of its trials")
    rows = select_known_measures(rows, needed).dropna(subset=[name for name in needed if name in rows])
    if rows.empty:
        raise DataError(f"{experiment} has no trials of it")
    return rows[needed].assign(experiment=experiment, participant=f"{experiment}/" + rows["participant"].astype(str))
