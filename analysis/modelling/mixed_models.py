"""Mixed models, linear and binomial: a table and a formula in, a table of fixed effects out. An engine is a module in ENGINES."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from gardenpath.study import TABLES, DataError

from ..engines import glmm_engine, lme4_engine
from ..engines.estimates import RESPONSE_FAMILIES, Cells, Columns, ModelEstimate, describe_singularity
from ..engines.formulas import Formula, parse_formula
from ..engines.r_code import READ_ROWS_CODE, format_lmer_code
from .coding import Coded, Coding, coded
from .policies import REDUCTIONS, NotFitted, Search, Steps, describe_kept, widest
from .separation import binary, require_answers, require_overlap, settled

# Columns of a fit, in the order in which study declares them for the tables of models.
COEFFICIENTS = [name for name in TABLES["alignment_models"].column_names if name not in ("model", "protocol")]
SAME = 1e-3  # standard errors by which two engines may differ


@dataclass(frozen=True)
class Engine:
    """A program that fits mixed models: `estimate` takes an optimizer and a family too, and `describe_unsupported` says in words
    which part of a formula is not supported.
    """

    estimate: Callable[[Columns, Formula, str, str], ModelEstimate]
    describe_unsupported: Callable[[Formula], str]


ENGINES: Mapping[str, Engine] = {
    "glmm": Engine(glmm_engine.estimate_model, glmm_engine.describe_unsupported),
    "lme4": Engine(lme4_engine.estimate_model, lme4_engine.describe_unsupported),
}


class Fit(NamedTuple):
    """A fitted model: its fixed effects, a row each, and the steps that led to it."""

    coefficients: pd.DataFrame
    steps: Steps


def fit(
    frame: pd.DataFrame,
    formula: str,
    *,
    family: str = "gaussian",
    engine: str = "glmm",
    policy: str = "declared",
    slopes: Sequence[str] | None = None,
    contrasts: Mapping[str, Coding] | None = None,
    crosscheck: bool = False,
) -> pd.DataFrame:
    """Return one row a fixed effect of a mixed model: estimate, standard error, df, t, p and 95 % interval.

    Estimates and standard errors are in units of the response. Fitted by REML; degrees of freedom after
    Satterthwaite, as lmerTest computes them (doi 10.18637/jss.v082.i13). A singular fit is kept as declared and
    explained in `note`; data from which the model cannot be estimated raise `DataError` in a sentence.

    With `family` "binomial" the response is 0 and 1 (or False and True), and estimates are in log odds: maximum likelihood by
    Laplace's approximation; `t` is z, tests and intervals are Wald's, without df. Where a condition has 0 or 100 %, so
    that log odds have no finite estimate, the `DataError` names it.

    `engine` is "glmm", which needs nothing else, or "lme4": R through pymer4, with every form of random effects.
    `policy` chooses the random effects: "declared" keeps the formula's; "maximal" and "parsimonious" start from all
    slopes that the design allows (binomial: but those of interactions), of the columns `slopes` where given, and look at no
    fixed effect on the way.
    `contrasts` names those of factors, such as `{"condition": "sum"}` or `{"condition": ("treatment", ["a", "b"])}`; they
    become numeric columns. `crosscheck` refits the chosen model in the other engine and raises `DataError` when an
    estimate differs by more than a thousandth of its standard error.

    >>> pairs = [(p, i) for p in range(6) for i in range(4)]
    >>> rows = [(f"P{p}", f"i{i}", (p + i) % 2 - 0.5, 6 + p % 3 + i + 0.1 * (p * i % 5)) for p, i in pairs]
    >>> table = fit(pd.DataFrame(rows, columns=["participant", "item", "x", "y"]), "y ~ x + (1|participant) + (1|item)")
    >>> table["term"].to_list(), int(table["n"].iloc[0])
    (['intercept', 'x'], 24)
    """
    return fit_stepwise(
        frame, formula, family=family, engine=engine, policy=policy, slopes=slopes, contrasts=contrasts, crosscheck=crosscheck
    ).coefficients


def fit_stepwise(
    frame: pd.DataFrame,
    formula: str,
    *,
    family: str = "gaussian",
    engine: str = "glmm",
    policy: str = "declared",
    slopes: Sequence[str] | None = None,
    contrasts: Mapping[str, Coding] | None = None,
    crosscheck: bool = False,
    rows: str = READ_ROWS_CODE,
) -> Fit:
    """Return what `fit` does with every fit on the way, and the R code of the one kept; `rows` is the code that reads its rows.

    Raises `NotFitted`, which has the steps, where none of them could be fitted.
    """
    engine_named(engine)
    if policy not in REDUCTIONS:
        raise ValueError(f"policy {policy!r} is not known; expected one of {', '.join(REDUCTIONS)}")
    if family not in RESPONSE_FAMILIES:
        raise ValueError(f"family {family!r} is not known; expected one of {', '.join(RESPONSE_FAMILIES)}")
    parsed = parse_formula(formula)
    try:
        if family == "binomial":
            frame = frame.assign(**binary(frame, parsed.response))
        design = coded(frame, parsed, contrasts or {})
        start = design.formula
        if policy != "declared":
            start = widest(start, columns_of(design.frame, start), slopes)
    except DataError as error:
        raise NotFitted(error, Steps(engine)) from error
    return fit_coded(
        design, start, declared_formula=parsed, family=family, engine=engine, policy=policy, crosscheck=crosscheck, rows=rows
    )


def fit_coded(
    design: Coded,
    start: Formula,
    *,
    declared_formula: Formula,
    family: str,
    engine: str,
    policy: str,
    crosscheck: bool = False,
    rows: str = READ_ROWS_CODE,
) -> Fit:
    """Return what `fit_stepwise` does of a model whose factors are columns already, from the formula that is fitted first.

    `declared_formula` is the model in terms of the factors. Raises `NotFitted`, which has the steps, where nothing could be fitted.
    """
    engine_named(engine)
    steps = Steps(engine)
    frame = design.frame
    try:
        if family == "binomial":
            frame = frame.assign(**binary(frame, start.response))
        columns = columns_of(frame, design.formula)
        if family == "binomial":
            require_overlap(frame, declared_formula, design.formula, columns)
        numeric_slopes(design.formula, columns)
        if engine == "lme4":
            steps.code = lambda fitted, estimated: format_lmer_code(
                fitted, columns, estimated.optimizer, rows=rows, codes=design.codes, family=family
            )

        search = build_search(engine, columns, family, policy, steps)
        fitted, estimated = REDUCTIONS[policy](start, search)
        table = tabled(estimated, fitted, frame, engine, describe_kept(policy))
        return Fit(checked(table, columns, fitted, engine, family) if crosscheck else table, steps)
    except DataError as error:
        raise NotFitted(error, steps) from error


def build_search(engine: str, columns: Columns, family: str, policy: str, steps: Steps) -> Search:
    """Return how the models of a policy are fitted by an engine; it tries none that a binomial response has too few rows for."""
    program = engine_named(engine)

    def estimate(wanted: Formula) -> ModelEstimate:
        if family == "binomial" and policy != "declared":
            require_answers(columns, wanted)
        return settled(program.estimate(columns, wanted, "", family))

    return Search(estimate, program.describe_unsupported, steps)


def numeric_slopes(formula: Formula, columns: Columns) -> None:
    """Raise `ValueError` where || stands before a factor whose levels it would not part."""
    for random in formula.random:
        for name in (name for term in random.slopes for name in term.split(":")):
            if not random.correlated and isinstance(columns[name][0], str):
                # lme4 takes || apart term by term, so the columns of a factor would stay correlated, without a word.
                raise ValueError(
                    f"formula {str(formula)!r}: || does not part the levels of the factor {name}; name its contrasts, as "
                    f"in contrasts={{{name!r}: 'sum'}}"
                )


def checked(table: pd.DataFrame, columns: Columns, formula: Formula, engine: str, family: str = "gaussian") -> pd.DataFrame:
    """Return the table with the outcome of a refit in the other engine; raise `DataError` where the two differ."""
    [other] = [name for name in ENGINES if name != engine]
    lacking = ENGINES[other].describe_unsupported(formula)
    if lacking:
        return _noted(table, f"Not cross-checked: engine {other!r} does not support {lacking}.")
    theirs = ENGINES[other].estimate(columns, formula, "", family).coefficients.set_index("term")["estimate"]
    ours = table.set_index("term")
    apart = (ours["estimate"] - theirs).abs() / ours["se"]
    if (apart > SAME).any():
        worst = str(apart.idxmax())
        raise DataError(
            f"{str(formula)!r}: {worst} is {ours['estimate'].loc[worst]:.6g} by {engine} and {theirs.loc[worst]:.6g} by "
            f"{other}, {apart.max():.2g} SE apart; expected at most {SAME:g}, so neither is given: the "
            "likelihood may have two peaks, or be flat; a simpler model may have one answer"
        )
    return _noted(table, f"Cross-checked with {other}: estimates differ by at most {apart.max():.1g} SE.")


def _noted(table: pd.DataFrame, text: str) -> pd.DataFrame:
    return table.assign(note=[f"{note} {text}".strip() for note in table["note"]])


def tabled(estimated: ModelEstimate, formula: Formula, frame: pd.DataFrame, engine: str, kept: str) -> pd.DataFrame:
    """Return the fixed effects of a fit with what a reader of the table needs beside them."""
    notes = [describe_singularity(estimated, formula, kept)] if estimated.singular else []
    facts: dict[str, object] = {
        "engine": engine,
        "formula": str(formula),
        "n": len(frame),
        "participants": _levels(frame, "participant"),
        "n_items": _levels(frame, "item"),
        "converged": estimated.converged,
        "singular": estimated.singular,
        "note": " ".join([*notes, *estimated.notes]),
    }
    known = facts | {str(name): cells.array for name, cells in estimated.coefficients.items()}
    return pd.DataFrame({name: known[name] for name in COEFFICIENTS})


def failed(formula: str, term: str, reason: str, frame: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return the row of a model that could not be fitted: no numbers, and the reason as its note."""
    row = dict.fromkeys(COEFFICIENTS, float("nan")) | {
        "engine": engine,
        "formula": formula,
        "term": term,
        "n": len(frame),
        "participants": _levels(frame, "participant"),
        "n_items": _levels(frame, "item"),
        "converged": False,
        "singular": False,
        "note": f"Not fitted: {reason}",
    }
    return pd.DataFrame([row])[COEFFICIENTS]


def _levels(frame: pd.DataFrame, column: str) -> int:
    return int(frame[column].nunique()) if column in frame else 0


def engine_named(name: str) -> Engine:
    """Return the engine of that name."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} is not known; expected one of {', '.join(ENGINES)}")
    return ENGINES[name]


def columns_of(frame: pd.DataFrame, formula: Formula) -> dict[str, Cells]:
    """Return the formula's columns as plain numbers and strings; all that is wrong in them is one `DataError`."""
    missing = [name for name in formula.column_names if name not in frame]
    if missing:
        raise DataError(f"formula {str(formula)!r}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")
    if frame.empty:
        raise DataError(f"no rows are left to fit {str(formula)!r}; see the exclusions")
    nested = {name for random in formula.random if ":" in random.group for name in random.group.split(":")}
    columns: dict[str, Cells] = {}
    faults: list[str] = []
    for name in formula.column_names:
        columns[name], fault = plain_cells(frame[name], group=name in formula.group_columns, nested=name in nested)
        faults += fault
    faults = faults or _response_faults(formula.response, columns)
    if faults:
        raise DataError(faults)
    return columns


def _response_faults(response: str, columns: Columns) -> list[str]:
    cells = columns[response]
    return [f"column {response!r} is text, such as {cells[0]!r}; expected numbers"] if isinstance(cells[0], str) else []


def plain_cells(cells: pd.Series, *, group: bool = False, nested: bool = False) -> tuple[Cells, list[str]]:
    """Return a column as plain numbers or strings, and what is wrong with it."""
    # The engine knows numbers and strings only: pandas' own string and integer types would not pass.
    if group or not pd.api.types.is_numeric_dtype(cells):
        faults = _group_faults(cells, nested) if group else _text_faults(cells) or _constant_text(cells)
        plain = (cells if cells.dtype == object else cells.astype("string")).to_numpy(dtype=object, na_value="").tolist()
        return plain if {*map(type, plain)} <= {str} else [str(cell) for cell in plain], faults
    import numpy as np

    floats = cells if cells.dtype == "float64" else cells.astype("Float64").astype("float64")
    numbers = floats.to_numpy()
    wrong = int((~np.isfinite(numbers)).sum())
    if wrong:
        return [], [f"column {cells.name!r}: {wrong} of {len(cells)} values are empty or not finite; exclude them"]
    if (numbers == numbers[0]).all():
        return [], [f"column {cells.name!r} is {numbers[0]:g} in each of {len(cells)} rows; expected it to vary"]
    return numbers.tolist(), []


def _text_faults(cells: pd.Series) -> list[str]:
    empty = int(cells.isna().sum())
    return [f"column {cells.name!r}: {empty} of {len(cells)} values are empty; exclude them"] if empty else []


def _constant_text(cells: pd.Series) -> list[str]:
    if (cells != cells.iloc[0]).any():
        return []
    return [f"factor {cells.name!r} has the one level {cells.iloc[0]!r} in {len(cells)} rows; expected two or more"]


def _group_faults(cells: pd.Series, nested: bool) -> list[str]:
    levels = cells.nunique()
    if levels == 1:
        return [
            f"there is only one {cells.name} ({cells.iloc[0]}), so there is no variance between {cells.name}s; expected several"
        ]
    if levels == len(cells) and not nested:
        # lme4 refuses this too: the intercepts would be the residuals.
        return [
            f"each of {levels} rows has its own {cells.name}, whose variance is then the residual's; expected several rows for each"
        ]
    return _text_faults(cells)
