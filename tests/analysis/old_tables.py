"""The tables of models as they were before the plan of models, rebuilt from those that there are now: for tests alone."""

from collections.abc import Callable, Mapping

import pandas as pd

from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.engines.ordinal_engine import split_uncorrelated_effects
from gardenpath.analysis.fitting.plan_tables import NOT_TRIED
from gardenpath.analysis.model_results import COEFFICIENT, SIMPLE_EFFECT
from gardenpath.analysis.prompts import format_prompt_suffix, label_prompts
from gardenpath.study.config import MultiverseSection

Tables = Mapping[str, pd.DataFrame]
COEFFICIENTS = (
    "engine", "formula", "term", "estimate", "se", "df", "t", "p", "ci_low", "ci_high", "n", "participants", "n_items",
    "converged", "singular", "note",
)  # fmt: skip
EQUIVALENCE = ("smallest", "low_90", "high_90", "p_equivalence")
MS, RAW = ("ms", "ms_low", "ms_high"), ("raw", "raw_low", "raw_high")
PLACE = ("measure", "region", "prompt", "random")
TESTS = ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")


def join(tables: Tables) -> pd.DataFrame:
    """Effects beside the fit that was kept, with the columns under their former names."""
    fits = tables["models"][tables["models"]["kept"]].drop(columns=["df", "p", "step", "kept", "sd", "criterion", "thresholds"])
    effects = tables["effects"].merge(fits, on="model_id", validate="m:1")
    planned = tables["planned_models"].set_index("model_id")["formula"]
    unfitted = effects["estimate"].isna() & (effects["kind"] == COEFFICIENT) & effects["optimizer"].isna()
    effects["formula"] = effects["formula"].mask(unfitted, effects["model_id"].map(planned))
    effects["converged"] = effects["converged"] & ~unfitted
    effects["singular"] = effects["singular"] & ~unfitted
    effects["reduced"] = effects["reduced"] & ~unfitted
    return effects.rename(columns={"response": "measure", "n_participants": "participants"})


def pairs(tables: Tables, unit: str) -> pd.DataFrame:
    effects = join(tables)
    effects = effects[(effects["unit"] == unit) & (effects["policy"] == "declared") & (effects["family"] != "cumulative")]
    effects = effects.assign(**{unit: effects["model"], "p_bh": effects["p_adjusted"], "p_bh_all": effects["p_adjusted_all"]})
    return effects.assign(mde=effects["mde"].where(effects["term"] == "grammaticality"))


def phenomenon_models(tables: Tables) -> pd.DataFrame:
    columns = ["phenomenon", *PLACE, *COEFFICIENTS, "p_bh", "p_bh_all", "mde", *EQUIVALENCE, *MS, *RAW]
    return pairs(tables, "phenomenon")[columns]


def paradigm_models(tables: Tables) -> pd.DataFrame:
    phenomena = tables["items"].drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    effects = pairs(tables, "paradigm")
    effects = effects.assign(phenomenon=effects["paradigm"].map(phenomena))
    return effects[["phenomenon", "paradigm", *PLACE, *COEFFICIENTS, "p_bh", "p_bh_all", "mde", *EQUIVALENCE]]


def chosen_models(tables: Tables) -> pd.DataFrame:
    effects = join(tables)
    effects = effects[(effects["unit"] == "phenomenon") & (effects["policy"] != "declared") & (effects["family"] != "cumulative")]
    effects = effects.assign(phenomenon=effects["model"])
    return effects[["phenomenon", "measure", "region", "prompt", "policy", *COEFFICIENTS]]


def factors(tables: Tables, kind: str) -> pd.DataFrame:
    effects = join(tables)
    return effects[(effects["unit"] == "model") & (effects["family"] != "cumulative") & (effects["kind"] == kind)]


def factorial_models(tables: Tables) -> pd.DataFrame:
    effects = factors(tables, COEFFICIENT).assign(p_holm=lambda rows: rows["p_adjusted"])
    columns = ["model", "measure", "family", "region", "prompt", "random", *COEFFICIENTS, "reduced", "factors", "contrast"]
    return effects[[*columns, "p_holm", "mde", *EQUIVALENCE, *MS]]


def simple_effects(tables: Tables) -> pd.DataFrame:
    effects = factors(tables, SIMPLE_EFFECT)
    tests = effects["df"].notna().map({True: "Satterthwaite", False: "z test"})
    effects = effects.assign(
        factor=effects["factors"], p_holm=effects["p_adjusted"], method="contrast of the fitted model, " + tests
    )
    columns = ["model", *PLACE, "factor", "within", "contrast", *TESTS[:5], "p_holm", *TESTS[5:], *MS, "method", "adjustment"]
    return effects[columns]


def ordinal_models(tables: Tables) -> pd.DataFrame:
    fits = tables["models"][tables["models"]["kept"]].set_index("model_id")
    effects = tables["effects"][tables["effects"]["family"] == "cumulative"]
    of_fit = {name: effects["model_id"].map(fits[name]) for name in fits if name not in ("df", "p", "step", "kept")}
    planned = tables["planned_models"].set_index("model_id")
    formula = [str(split_uncorrelated_effects(parse_formula(text)).format_expanded()) for text in of_fit["formula"]]
    unit = effects["unit"]
    phenomena = tables["items"].drop_duplicates("paradigm").set_index("paradigm")["phenomenon"]
    effects = effects.assign(**of_fit).assign(
        formula=formula,
        link=effects["model_id"].map(planned["link"]),
        z=effects["t"],
        phenomenon=effects["model"].where(unit == "phenomenon", effects["model"].map(phenomena)).where(unit != "model"),
        paradigm=effects["model"].where(unit == "paradigm"),
        model=effects["model"].where(unit == "model"),
    )
    columns = ["model", "prompt", "phenomenon", "paradigm", "formula", "link", "term", "contrast", "estimate", "se", "z", "p"]
    return effects[
        [*columns, "ci_low", "ci_high", "thresholds", "n", "criterion", "converged", "singular", "reduced", "sd", "note"]
    ]


def model_steps(tables: Tables) -> pd.DataFrame:
    planned = tables["planned_models"].set_index("model_id")
    steps = tables["models"].join(
        planned[["unit", "model", "response", "family", "region", "prompt", "random", "policy"]], "model_id"
    )
    of_models, categories = steps["unit"] == "model", steps["family"] == "cumulative"
    steps["kept"] = steps["kept"] & steps["optimizer"].notna()
    steps = steps.assign(measure=steps["response"])
    by_factors = steps[of_models & ~categories]
    chosen = steps[(steps["unit"] == "phenomenon") & (steps["policy"] != "declared") & ~categories]
    parts = [
        chosen.assign(model=chosen["measure"] + " " + chosen["region"] + " " + chosen["model"] + suffixes(chosen)),
        *(part.assign(model=part["model"].radd("").map("{} rating ordinal".format) + " (" + part["prompt"] + ")")
          for part in (steps[categories & ~of_models], steps[categories & of_models])),
        by_factors.assign(
            model=[" ".join(row) for row in by_factors[["model", "measure", "region", "random"]].itertuples(index=False)]
            + suffixes(by_factors)
        ),
    ]  # fmt: skip
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    columns = ["model", "step", "engine", "optimizer", "formula", "parameters", "criterion", "converged", "singular", "chi2"]
    return table.loc[table["decision"] != NOT_TRIED, [*columns, "df", "p", "kept", "decision", "sd", "code"]]


def suffixes(rows: pd.DataFrame) -> "pd.Series[str]":
    """What names the prompt of each model where there are several of its kind of answers."""
    models = rows.drop_duplicates("model_id")
    named = dict(zip(models["model_id"], map(format_prompt_suffix, label_prompts(models)), strict=True))
    return rows["model_id"].map(named)


CUTOFFS = {
    "none": {"remove_outliers": False},
    "50 to 2500 ms": {"min_rt": 50.0, "max_rt": 2500.0},
    "100 to 5000 ms": {"min_rt": 100.0, "max_rt": 5000.0},
    "3 s.d. of log time": {"remove_outliers": False, "max_sd": 3.0},
}
PLANNED_CUTOFF, WITHOUT, FLAGGED = "100 to 3000 ms", "without the flagged", "acceptability"
# The choices of before: everybody under each cutoff, and without those who are flagged under the one prompt that tells.
OLD_MULTIVERSE = MultiverseSection(
    exclusions={
        **CUTOFFS,
        **{f"{name}, {WITHOUT}": {**rules, "without_flagged": True} for name, rules in CUTOFFS.items()},
        WITHOUT: {"without_flagged": True},
    },
    transformations=("log", "ms", "log per word", "-1000/ms", "z", "raw"),
    random_effects=("intercepts",),
    covariates=(),
    most_fits=100,
)


def sensitivity(tables: Tables) -> pd.DataFrame:
    """The multiverse of models with intercepts, where it was made with the choices of before."""
    table = tables.get("multiverse", pd.DataFrame())
    if table.empty:
        return table
    table = table[(table["random_effects"] == "intercepts") & table["response"].isin(["z", "log_rt"])]
    table = table.rename(columns={"model": "phenomenon", "response": "measure", "n_participants": "participants"})
    is_rated, without = table["measure"] == "z", table["exclusions"].str.contains(WITHOUT)
    cutoff = table["exclusions"].str.replace(f", {WITHOUT}", "").replace({"as planned": PLANNED_CUTOFF, WITHOUT: PLANNED_CUTOFF})
    scale = table["transformation"].replace({"raw": "rating"})
    table = table.assign(
        cutoff=cutoff.mask(is_rated, "none"), scale=scale, people=without.map({True: "not flagged", False: "all"}),
        prompt=table["prompt"].mask(~is_rated & without, FLAGGED),
    )  # fmt: skip
    timed = ~is_rated & ((table["people"] == "all") | (table["scale"] == "log"))
    rated = is_rated & ((table["people"] == "all") | ((table["prompt"] == FLAGGED) & (table["exclusions"] == WITHOUT)))
    table = table[timed | rated].copy()
    planned = table["exclusions"] == "as planned"
    table["declared"] = planned & table["scale"].isin(["z", "log"])
    table["formula"] = table["formula"].mask(~is_rated, "y ~ grammaticality + log_trial + (1|participant) + (1|item)")
    orders = {
        "measure": ["z", "log_rt"], "prompt_order": ["acceptability", "plausibility"],
        "cutoff": ["none", PLANNED_CUTOFF, "50 to 2500 ms", "100 to 5000 ms", "3 s.d. of log time"],
        "people": ["all", "not flagged"], "scale": ["z", "rating", "log", "ms", "log per word", "-1000/ms"],
    }  # fmt: skip
    table["prompt_order"] = table["prompt"].where(is_rated, "acceptability")
    for name, order in orders.items():
        table[f"_{name}"] = table[name].map(order.index)
    table = table.sort_values([f"_{name}" for name in orders] + ["phenomenon"], kind="stable")
    columns = ["phenomenon", "measure", "region", "cutoff", "scale", "people", "prompt", "declared", *TESTS, *MS]
    return table[[*columns, "n", "participants", "singular", "formula", "note"]]


REBUILT: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    view.__name__: view
    for view in (
        phenomenon_models, paradigm_models, factorial_models, ordinal_models, chosen_models, model_steps, simple_effects, sensitivity,
    )
}  # fmt: skip
