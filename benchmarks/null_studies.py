"""How often the headline of a plan finds an interaction that is not there, while it truly varies over participants and items.

    python benchmarks/null_studies.py log_rt --seeds 2000 -o null.csv
    python benchmarks/null_studies.py rating --seeds 400 -o null.csv
    python benchmarks/null_studies.py correct --seeds 400 -o null.csv
    python benchmarks/null_studies.py --summary -o null.csv

Each seed is a study of 24 participants and 24 items in a 2 x 2, in a Latin square, with effects of both factors and none of their
interaction, whose slopes differ between participants and between items. It goes the way of `gardenpath analyse`: trials, the plan
that the design suggests, its fits by the engine glmm, and the effect of the model that is reported first. A row a study is added to
the file as soon as it is there; what is in the file is not computed again. A study whose model has no test counts as no rejection,
and so does an effect whose p is called optimistic; both are counted beside.
"""

import time

import numpy as np
import pandas as pd
from resumable import run_seeds

from gardenpath.analysis import StudyTrials, fit_plan, resolve_plan
from gardenpath.study import TABLES, AnalysisSection

N_PARTICIPANTS, N_ITEMS = 24, 24
INTERACTION = "a_2_1:b_2_1"
# Standard deviations: of participants, of items, of slopes of each factor, of slopes of the interaction, and of single trials.
SPREADS = {
    "log_rt": (0.25, 0.08, 0.05, 0.10, 0.30),
    "rating": (0.50, 0.30, 0.25, 0.50, 1.00),
    "correct": (0.80, 0.50, 0.40, 0.80, 0.00),
}
EFFECTS = {"log_rt": (0.05, -0.04), "rating": (-0.8, 0.4), "correct": (0.6, -0.5)}
MEANS = {"log_rt": 6.0, "rating": 0.7, "correct": 1.2}
COLUMNS = ("response", "seed", "estimate", "se", "p", "optimistic", "random", "converged", "singular", "seconds")


def simulate_trials(response: str, seed: int) -> StudyTrials:
    """Return the trials of a study in which the interaction of a and b is zero on average."""
    rng = np.random.default_rng([seed, *response.encode()])
    person_sd, item_sd, slope_sd, interaction_sd, residual_sd = SPREADS[response]
    person, item = (codes.ravel() for codes in np.meshgrid(np.arange(N_PARTICIPANTS), np.arange(N_ITEMS), indexing="ij"))
    cell = (person + item) % 4
    codes = np.column_stack([cell // 2 - 0.5, cell % 2 - 0.5, (cell // 2 - 0.5) * (cell % 2 - 0.5)])
    sds = np.array([slope_sd, slope_sd, interaction_sd])
    slopes = rng.normal(0, sds, (N_PARTICIPANTS, 3))[person] + rng.normal(0, sds, (N_ITEMS, 3))[item]
    expected = MEANS[response] + rng.normal(0, person_sd, N_PARTICIPANTS)[person] + rng.normal(0, item_sd, N_ITEMS)[item]
    expected += codes[:, :2] @ np.array(EFFECTS[response]) + (codes * slopes).sum(axis=1)
    levels = np.column_stack([cell // 2 + 1, cell % 2 + 1]).astype(str)
    order = rng.permuted(np.tile(np.arange(N_ITEMS), (N_PARTICIPANTS, 1)), axis=1)
    rows = pd.DataFrame({"participant": [f"P{n:02}" for n in person], "item": [f"i{n:02}" for n in item]}).assign(
        session=[f"s{n:02}" for n in person], experiment="E1", list="L1", trial=order[person, item], role="target", paradigm="made",
        phenomenon="made", condition=[".".join(pair) for pair in levels], question_accuracy=0.9,
        log_trial=np.log1p(order[person, item]), a=levels[:, 0], b=levels[:, 1],
    )  # fmt: skip
    tables = {
        name: pd.DataFrame(columns=TABLES[name].column_names) for name in ("rating_scores", "region_times", "binary_responses")
    }
    if response == "log_rt":
        log_rt = expected + rng.normal(0, residual_sd, len(rows))
        tables["region_times"] = rows.assign(region="critical", word=3, n_words=1, line=0, task="moving_window", log_rt=log_rt)
        tables["region_times"] = tables["region_times"].assign(rt=np.exp(log_rt))
    elif response == "rating":
        latent = expected + rng.normal(0, residual_sd, len(rows))
        rated = rows.assign(task="rating", prompt="how good", rating=np.clip(np.ceil((latent + 2) / 4 * 7), 1, 7))
        by = rated.groupby("participant")["rating"]
        tables["rating_scores"] = rated.assign(z=(rated["rating"] - by.transform("mean")) / by.transform("std"))
    else:
        right = rng.random(len(rows)) < 1 / (1 + np.exp(-expected))
        tables["binary_responses"] = rows.assign(
            measure="correct", region="sentence", prompt="ask", event="right", response=right.astype(int)
        )
    conditions = [("made", f"{a}.{b}", name, level) for a in "12" for b in "12" for name, level in (("a", a), ("b", b))]
    return StudyTrials(
        tables["rating_scores"],
        tables["region_times"],
        tables["binary_responses"],
        rows[["paradigm", "item", "condition"]].drop_duplicates(),
        pd.DataFrame(conditions, columns=["paradigm", "condition", "factor", "level"]),
    )


def run_study(response: str, seed: int) -> dict[str, object]:
    """Return what the headline says of the interaction."""
    started = time.process_time()
    trials = simulate_trials(response, seed)
    tables = fit_plan(resolve_plan(AnalysisSection(), trials), trials)
    effects = tables["effects"]
    found = effects[effects["headline"] & (effects["term"] == INTERACTION) & (effects["family"] != "cumulative")]
    row: dict[str, object] = {"response": response, "seed": seed, "seconds": round(time.process_time() - started, 2)}
    if len(found) != 1:
        return row
    effect = found.iloc[0]
    kept = tables["models"].query("model_id == @effect.model_id and kept").iloc[0]
    row |= {name: effect[name] for name in ("estimate", "se", "p", "optimistic", "random")}
    return row | {"converged": kept["converged"], "singular": kept["singular"]}


def describe_rows(rows: pd.DataFrame) -> str:
    """Return the rate of rejections with its exact 95 % interval, and what was left out of it."""
    from scipy.stats import binomtest

    tested = rows["p"].notna()
    optimistic = rows["optimistic"].fillna(False).astype(bool)
    rejected = int((tested & ~optimistic & (rows["p"] < 0.05)).sum())
    limits = binomtest(rejected, len(rows)).proportion_ci(0.95, method="exact")
    both = int((tested & (rows["p"] < 0.05)).sum())
    return (
        f"{rejected} of {len(rows)} rejected, {rejected / len(rows):.4f} "
        f"(exact 95 % interval {limits.low:.4f} to {limits.high:.4f}); "
        f"{int((~tested).sum())} without a test; {int(optimistic.sum())} optimistic ({both - rejected} of them with p < .05); "
        f"{rows['singular'].fillna(False).astype(bool).mean():.2f} singular; {rows['seconds'].sum():.0f} CPU-s"
    )


if __name__ == "__main__":
    run_seeds(__doc__, COLUMNS, SPREADS, run_study, describe_rows, seeds=100)
