"""The R code of a report fits every mixed model of it again from the written tables, and comes out where the tables do."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from gardenpath.analysis import AlignmentOptions, align, analyse, factorial_models
from gardenpath.analysis.reporting.rscript import COMPUTED_COLUMNS_NOTE, LEFT_OUT, REFITTED, script
from gardenpath.study import TABLES, AnalysisSection, ModelSection, check, write

from ..conftest import absent_from_r
from ..test_factorial import conditions, measured

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")


@pytest.fixture(scope="module", params=["tables", "two_scales"])
def everything(request: pytest.FixtureRequest, full: bool) -> Tables:
    """A study of one scale, and of two."""
    if request.param == "two_scales" and not full:
        pytest.skip("the models of two scales are fitted again with --full")
    tables: Tables = request.getfixturevalue(request.param)
    found = analyse({name: tables[name] for name in GIVEN}, AnalysisSection(policy="maximal"))
    read = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    return tables | found | align(read, AlignmentOptions(lags=1, folds=2))


ROWS = ("rating_scores", "region_times", "binary_responses", "contrast_codes", "aligned")


@pytest.mark.r
def test_every_model_comes_out_in_r_as_in_its_table(everything: Tables, tmp_path: Path, run_r: Callable[[Path], None]) -> None:
    models = [name for name in REFITTED if name in everything]
    assert {*REFITTED} - {"factorial_models", "ordinal_models"} <= {*models}  # those have tests of their own
    for name in {*ROWS, *models} & {*everything}:
        write(everything[name], name, tmp_path / "results", command="test")
    files = {name: f"results/{name}.csv" for name in everything}
    kept = 'write.csv(refits, "found.csv", row.names = FALSE)\n'
    (tmp_path / "report.R").write_text(script(everything, files) + kept, encoding="utf-8")
    run_r(tmp_path / "report.R")
    found = pd.read_csv(tmp_path / "found.csv")
    for name in models:
        fitted = everything[name].dropna(subset="estimate").drop_duplicates(list(REFITTED[name].keys))
        assert (found["table"] == name).sum() == len(fitted)
        assert {*found.loc[found["table"] == name, "n"].dropna()} <= {*fitted[count_column(name)]}
    # Questions come after every fourth sentence: of 40 answers, nearly all right, lme4 refuses slopes, and the likelihood is flat.
    few = found["table"] == "factorial_models"
    assert found.loc[~few, "refused"].isna().all()
    # Two programs agree to a thousandth of a standard error, but for singular fits, whose criterion is flat, and for the
    # profile: these made-up frequencies repeat every five words, and the programs drop different ones of six lags.
    usual = ~few & (found["table"] != "lag_profile")
    assert found.loc[usual & ~found["singular"].eq(True), "apart"].max() < 1e-3
    assert found.loc[usual, "apart"].max() < 2e-2


def test_there_is_code_for_what_is_there_and_nothing_without_models(everything: Tables) -> None:
    people = script({name: frame for name, frame in everything.items() if name != "aligned"})
    assert 'name = "phenomenon_models"' in people
    assert "alignment_models: it needs aligned, which is not there" in people
    assert "read_words <-" not in people
    models = script({name: everything[name] for name in ("aligned", "alignment_models")})
    assert 'name = "alignment_models"' in models
    assert "rating_scores" not in models
    assert "brms" not in models, "readings of a corpus are too many to sample"
    assert script({"items": everything["items"]}) == ""
    assert script({"phenomenon_models": everything["phenomenon_models"]}) == "", "its rows are nowhere"
    unfitted = everything | {"chosen_models": everything["chosen_models"].assign(estimate=float("nan"))}
    assert '"chosen_models: none of its models could be fitted; its notes say why"' in script(unfitted)


def test_every_table_of_models_is_fitted_again_or_named_as_left_out(everything: Tables) -> None:
    with_estimates = {name for name, table in TABLES.items() if {"formula", "estimate", "delta"} & {*table.column_names}}
    shares = {"accuracy", "language_accuracies", "language_means"}  # of pairs, no models
    assert with_estimates - shares <= {*REFITTED, *LEFT_OUT}
    assert not {*REFITTED} & {*LEFT_OUT}
    lines = script(everything).partition("left_out <- c(")[2].partition("\n)\n")[0]
    named = {line.partition(":")[0] for line in re.findall(r'"(.*)"', lines)} - {COMPUTED_COLUMNS_NOTE.partition(":")[0]}
    assert named == {name for name in LEFT_OUT if name in everything and len(everything[name])}
    assert {"sensitivity", "model_steps", "surprisal_effects", "held_out_clusters", "delta_log_likelihood"} <= named


def test_keys_name_a_model_in_its_table(everything: Tables) -> None:
    for name in (name for name in REFITTED if name in everything):
        keys = [key for key in REFITTED[name].keys if key in everything[name]]
        assert keys == list(REFITTED[name].keys)
        assert everything[name].groupby(keys, dropna=False)[count_column(name)].nunique().eq(1).all()


@pytest.fixture(scope="module")
def factorial() -> Tables:
    """A 2 x 2 with a model of each kind that a study may declare."""
    scores, times = measured(people=16)
    points = (4 + 3 * scores["z"]).round().clip(1, 7)
    scores = pd.concat([scores.assign(rating=points), scores.assign(prompt="ease", rating=points, z=scores["z"] ** 2)])
    own = (
        ModelSection("treated", "log_rt ~ extraction*noun + log_trial + (1|participant)", contrasts={"noun": "treatment"}),
        ModelSection("raw", "rt ~ noun + (1 + noun|participant) + (1|item)", contrasts={"noun": "sum"}),
        ModelSection("points", "rating ~ extraction + trial + (1|participant)", contrasts={"extraction": "helmert"}),
        ModelSection("without", "log_rt ~ log_trial + (1|participant)"),
        ModelSection("scales", "z ~ extraction*prompt + (1|participant) + (1|item)"),
        ModelSection("nested", "log_rt ~ extraction/noun + (1|participant) + (1|item)"),
        ModelSection("right", "correct ~ noun + (1|participant) + (1|item)", contrasts={"noun": "treatment"}),
        ModelSection("nowhere", "log_rt ~ noun + (1|participant)", region="verb"),
    )
    answers = answered(times)
    kinds = [factorial_models(scores, times, conditions(), answers=answers, models=models) for models in ((), own)]
    tables = {name: pd.concat([kind[name] for kind in kinds], ignore_index=True) for name in ("factorial_models", "contrast_codes")}
    return tables | {"rating_scores": scores, "region_times": times, "binary_responses": answers}


def count_column(table: str) -> str:
    return "n_readings" if table == "alignment_check" else "n"


def answered(times: pd.DataFrame) -> pd.DataFrame:
    """Return a right or wrong answer to each trial of a Latin square, and a choice between its extraction and the other one."""
    rng = np.random.default_rng(3)
    trials = times.drop(columns=["region", "word", "n_words", "rt", "log_rt"])
    people, sentences = (
        rows.map(dict(zip(rows.unique(), rng.normal(0, 0.9, rows.nunique()), strict=True)))
        for rows in (trials["participant"], trials["item"])
    )
    noun = trials["condition"].str.endswith("name") - 0.5
    log_odds = 0.8 + 0.7 * noun + people + sentences
    answer = (rng.random(len(trials)) < 1 / (1 + np.exp(-log_odds))).astype("int64")
    pair = trials["condition"].str.replace(r".*\.(.*)", r"subject.\1+object.\1", regex=True)
    kinds = [("correct", "right", trials["condition"]), ("chosen", "subject over object", pair)]
    rows = [trials.assign(measure=m, event=e, condition=c, prompt=m, response=answer) for m, e, c in kinds]
    return check(pd.concat(rows)[TABLES["binary_responses"].column_names], "binary_responses")


def written(tables: Tables, folder: Path, before: str = "", after: str = "") -> Path:
    """Write tables and R code, with more code around it; return the file of the code."""
    for name, table in tables.items():
        write(table, name, folder, command="test")
    (folder / "report.R").write_text(f"{before}\n{script(tables)}\n{after}", encoding="utf-8")
    return folder / "report.R"


@pytest.mark.r
def test_factorial_models_come_out_in_r_whatever_their_contrasts(
    factorial: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    kept = 'write.csv(refits, "found.csv", row.names = FALSE); writeLines(unlist(lapply(tables, unfitted)), "left.txt")'
    run_r(written(factorial, tmp_path, after=kept))
    found = pd.read_csv(tmp_path / "found.csv")
    keys = list(REFITTED["factorial_models"].keys)
    sizes = factorial["factorial_models"].dropna(subset="estimate").groupby(keys, dropna=False)["n"].first()
    assert sorted(found["n"]) == sorted(sizes)
    assert {*found["model"]} == {"relatives", "treated", "raw", "points", "without", "scales", "nested", "right"}
    assert found.loc[~found["singular"], "apart"].max() < 1e-3
    assert found["apart"].max() < 2e-2
    assert (tmp_path / "left.txt").read_text() == (
        "factorial_models: 1 of its models, which could not be fitted; its notes say why\n"
    )


@pytest.mark.r
def test_brms_takes_every_model_with_its_priors_and_all_slopes_of_the_design(
    factorial: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    code = written(factorial, tmp_path, before='asked <- "plan"; sink("plan.txt")')
    if "brms" in absent_from_r("brms"):
        pytest.skip("R lacks brms")
    run_r(code)
    plan = (tmp_path / "plan.txt").read_text()
    keys = ["model", "measure", "region", "prompt"]
    fitted = factorial["factorial_models"].dropna(subset="estimate")
    models = {" ".join(part for part in row if part) for row in fitted[keys].fillna("").itertuples(index=False)}
    assert {part.partition("\n")[0] for part in plan.split("\n\n")[1:]} == models
    times = plan.partition("relatives log_rt critical\n")[2].partition("\n\n")[0].splitlines()
    a, b = "extraction_object_subject", "noun_name_description"
    slopes = f"1 + {a} + {b} + {a}:{b}"
    assert times[0].strip() == f"rt ~ {a} + {b} + log_trial + {a}:{b} + ({slopes} | participant) + ({slopes} | item)"
    assert [line.strip() for line in times[1:]] == [
        "family lognormal",
        "prior Intercept ~ normal(6, 1)",
        "prior b ~ normal(0, 0.2)",
        "prior sd ~ normal(0, 0.3)",
        "prior sigma ~ normal(0, 0.5)",
        "prior cor ~ lkj(2)",
    ]
    assert "family bernoulli" in plan.partition("relatives chosen sentence chosen\n")[2].partition("\n\n")[0]
    assert "family cumulative" in plan.partition("relatives z sentence ease\n")[2].partition("\n\n")[0]


@pytest.mark.r
def test_the_density_ratio_is_that_of_normal_draws_and_the_true_one_is_as_near_as_its_error_says(
    factorial: Tables, tmp_path: Path, rscript: Callable[..., pd.DataFrame]
) -> None:
    function = re.search(r"^savage_dickey <- .*?^}$", script(factorial), re.DOTALL | re.MULTILINE)
    assert function
    means = pd.DataFrame({"mean": [0.0, 0.05, 0.1]})
    code = f"""{function[0]}
    set.seed(1)
    draws <- function(mean) lapply(1:50, function(k) savage_dickey(rnorm(20000, mean, 0.05), 0.2))
    result <- do.call(rbind, lapply(means$mean, function(mean) cbind(mean, do.call(rbind, draws(mean)))))
    """
    factors = rscript(code, means=means)
    for mean, rows in factors.groupby("mean"):
        true = norm.pdf(0, 0, 0.2) / norm.pdf(0, mean, 0.05)
        assert np.exp(np.log(rows["bf10"]).mean()) == pytest.approx(true, rel=0.03)
        assert rows["error"].mean() == pytest.approx(np.log(rows["bf10"]).std(), rel=0.3)
    assert (factors["draws"] == 20000).all()


@pytest.mark.r
def test_another_word_than_the_script_knows_is_answered_with_those_it_knows(
    factorial: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    written(factorial, tmp_path)
    call = 'tryCatch(source("report.R"), error = function(e) writeLines(conditionMessage(e), "said.txt"))'
    (tmp_path / "call.R").write_text(f'asked <- "bayes"\n{call}\n')
    run_r(tmp_path / "call.R")
    assert (tmp_path / "said.txt").read_text() == "got bayes; expected plan, brms, bayes-factors, or nothing\n"


def test_a_name_with_quotes_stays_a_name(everything: Tables) -> None:
    odd = everything["items"].replace({"paradigm": {"islands 1": 'the "that" \\ trace'}})
    assert '"the \\"that\\" \\\\ trace"' in script(everything | {"items": odd})
