"""Whether both engines say the same of a model: the same data sets fitted by glmm and by R's lme4.

    python benchmarks/engines.py log_rt --seeds 200 -o engines.csv
    python benchmarks/engines.py correct --seeds 200 -o engines.csv
    python benchmarks/engines.py --summary -o engines.csv

The data sets are those of null_studies.py, linear models of log reading times and binomial ones of right answers; the random
effects go round with the seed: intercepts, slopes of one factor, slopes of both. A row a data set is added
to the file as soon as it is there, and what is in the file is not fitted again. A data set counts as different where a p differs by
more than .001, and where one engine fits it and the other does not.
"""

import pandas as pd
from null_studies import simulate_trials
from resumable import run_seeds

from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.modelling.mixed_models import ENGINES, columns_of
from gardenpath.study import DataError

FAMILIES = {"log_rt": "gaussian", "correct": "binomial"}
RANDOM = ("(1|participant) + (1|item)", "(1 + a|participant) + (1 + b|item)", "(1 + a + b|participant) + (1 + a + b|item)")
NAMES = ("glmm", "lme4")
TOLERANCE = 1e-3
COLUMNS = ("response", "seed", "random", *NAMES, "p_apart", "estimates_apart", "deviance_apart", "singular")


def compare_engines(response: str, seed: int) -> dict[str, object]:
    """Return how far apart the engines are: in p, and in estimates by their standard error."""
    trials = simulate_trials(response, seed)
    rows = trials.times if response == "log_rt" else trials.answers.assign(correct=trials.answers["response"])
    rows = rows[["participant", "item", response]].assign(**{name: rows[name].astype(float) - 1.5 for name in ("a", "b")})
    formula = parse_formula(f"{response} ~ a * b + {RANDOM[seed % len(RANDOM)]}")
    row: dict[str, object] = {"response": response, "seed": seed, "random": RANDOM[seed % len(RANDOM)]}
    estimates = {}
    for name in NAMES:
        try:
            estimates[name] = ENGINES[name].estimate(columns_of(rows, formula), formula, "", FAMILIES[response])
            row[name] = "fitted"
        except DataError as error:
            row[name] = str(error)
    if len(estimates) < len(NAMES):
        return row
    ours, theirs = (estimates[name].coefficients.set_index("term") for name in NAMES)
    return row | {
        "p_apart": (ours["p"] - theirs["p"]).abs().max(),
        "estimates_apart": ((ours["estimate"] - theirs["estimate"]).abs() / theirs["se"]).max(),
        "deviance_apart": estimates["lme4"].criterion - estimates["glmm"].criterion,
        "singular": estimates["lme4"].singular,
    }


def describe_rows(rows: pd.DataFrame) -> str:
    """Return how many data sets the engines agree on, and by how much they differ at most."""
    both = (rows[list(NAMES)] == "fitted").all(axis=1)
    neither = (rows[list(NAMES)] != "fitted").all(axis=1)
    singular = rows["singular"].fillna(False).astype(bool)
    apart = rows["p_apart"] > TOLERANCE
    short = int((rows.loc[apart, "deviance_apart"] > 0).sum())
    same = int((~apart & both).sum())
    fitted = f"{int(both.sum())} fitted by both, {int(neither.sum())} by neither, {int(singular.sum())} singular"
    return (
        f"{len(rows)} data sets, {fitted}; p equal to {TOLERANCE:g} in {same}, at most {rows['p_apart'].max():.2g} apart (median "
        f"{rows['p_apart'].median():.1g}); of the {int(apart.sum())} others {int((apart & singular).sum())} are singular, and in "
        f"{short} lme4 stopped at a higher deviance, by up to {rows.loc[apart, 'deviance_apart'].max() if short else 0:.2g}"
    )


if __name__ == "__main__":
    run_seeds(__doc__, COLUMNS, FAMILIES, compare_engines, describe_rows, seeds=200)
