"""The R code of a report fits every mixed model of it again from the written tables, and comes out where the tables do."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from gardenpath.analysis import AlignmentOptions, align, analyse
from gardenpath.analysis.reporting.rscript import ALIGNMENTS, COMPUTED_COLUMNS_NOTE, EFFECTS, LEFT_OUT, PLANNED_TABLES, script
from gardenpath.study import TABLES, AnalysisSection, ModelSection, write

from ..conftest import absent_from_r, of_islands
from ..made_studies import ANYONE, INPUTS, STUDIES, MadeStudy, build_factorial_tables, build_pair_tables

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")
KEPT = 'write.csv(refits, "found.csv", row.names = FALSE); writeLines(as.character(unfitted()), "left.txt")'


def write_with_code(tables: Tables, folder: Path, before: str = "", after: str = "") -> Path:
    """Write tables and R code, with more code around it; return the file of the code."""
    for name in {*tables} & {*TABLES}:
        write(tables[name], name, folder / "results", command="test")
    files = {name: f"results/{name}.csv" for name in tables}
    (folder / "report.R").write_text(f"{before}\n{script(tables, files)}\n{after}", encoding="utf-8")
    return folder / "report.R"


def list_fitted(tables: Tables) -> "pd.Series[int]":
    """Return the number of trials of each planned model that has estimates."""
    estimated = tables["effects"].loc[tables["effects"]["estimate"].notna(), "model_id"].unique()
    return tables["models"].query("kept").set_index("model_id").loc[estimated, "n"]


@pytest.fixture(scope="module", params=["tables", "two_scales"])
def everything(request: pytest.FixtureRequest, full: bool) -> Tables:
    """A study of one scale, and of two."""
    if request.param == "two_scales" and not full:
        pytest.skip("the models of two scales are fitted again with --full")
    tables: Tables = request.getfixturevalue(request.param)
    found = analyse({name: tables[name] for name in GIVEN}, AnalysisSection(policy="maximal"))
    read = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    varied = request.getfixturevalue("multiverse")
    return tables | found | {"multiverse": varied} | align(read, AlignmentOptions(lags=1, folds=2))


@pytest.mark.r
def test_every_model_comes_out_in_r_as_in_its_table(everything: Tables, tmp_path: Path, run_r: Callable[[Path], None]) -> None:
    run_r(write_with_code(everything, tmp_path, after=KEPT))
    found = pd.read_csv(tmp_path / "found.csv")
    sizes = list_fitted(everything)
    planned = found[found["table"] == EFFECTS]
    assert planned["model"].to_list() == sizes.index.to_list()
    for name in ALIGNMENTS:
        fitted = everything[name].dropna(subset="estimate").drop_duplicates(["model", "protocol"])
        count = fitted["n_readings" if name == "alignment_check" else "n"]
        assert found.loc[found["table"] == name, "n"].to_list() == count.to_list()
    # Questions come after every fourth sentence: of 40 answers, nearly all right, lme4 refuses slopes, and the likelihood is flat.
    few = found["model"].str.startswith("model ")
    assert found.loc[~few, "refused"].isna().all()
    assert planned.loc[~few, "n"].to_list() == sizes[~sizes.index.str.startswith("model ")].to_list()
    # Two programs agree to a thousandth of a standard error, but for singular fits, whose criterion is flat, and for the
    # profile: these made-up frequencies repeat every five words, and the programs drop different ones of six lags.
    usual = ~few & (found["table"] != "lag_profile")
    assert found.loc[usual & ~found["singular"].eq(True), "apart"].max() < 1e-3
    assert found.loc[usual, "apart"].max() < 2e-2


def test_there_is_code_for_what_is_there_and_nothing_without_models(everything: Tables) -> None:
    people = script({name: frame for name, frame in everything.items() if name != "aligned"})
    assert "effects.csv" in people
    assert "alignment_models: without aligned its models cannot be fitted" in people
    assert "aligned.csv" not in people
    models = script({name: everything[name] for name in ("aligned", "alignment_models")})
    assert "alignment_models.csv" in models
    assert "effects.csv" not in models
    assert "brms" not in models, "readings of a corpus are too many to sample"
    assert script({"items": everything["items"]}) == ""
    assert script({name: everything[name] for name in PLANNED_TABLES}) == "", "their trials are nowhere"
    unfitted = everything | {"effects": everything["effects"].assign(estimate=float("nan"))}
    assert '"effects: none of its models could be fitted; their notes say why"' in script(unfitted)
    assert "effects.csv" not in script(unfitted)


def test_every_table_of_models_is_fitted_again_or_named_as_left_out(everything: Tables) -> None:
    with_estimates = {name for name, table in TABLES.items() if {"formula", "estimate", "delta"} & {*table.column_names}}
    shares = {"accuracy", "language_accuracies", "language_means"}  # of pairs, no models
    assert with_estimates - shares <= {*PLANNED_TABLES, *ALIGNMENTS, *LEFT_OUT}
    assert {*LEFT_OUT} <= {*TABLES}
    whole = {*LEFT_OUT} - {"effects", "models"}
    assert list_left_out(everything) & whole == {name for name in whole if name in everything and len(everything[name])}
    assert {"multiverse", "surprisal_effects", "held_out_clusters", "delta_log_likelihood"} <= list_left_out(everything)


def list_left_out(tables: Tables) -> set[str]:
    """Return the tables that the script names as left out."""
    lines = script(tables).partition("left_out <- c(")[2].partition("\n)\n")[0]
    return {line.partition(":")[0] for line in re.findall(r'"(.*)"', lines)} - {COMPUTED_COLUMNS_NOTE.partition(":")[0]}


# ------------------------------------------------------------------------------------------------ designs


def build_two_paradigms() -> Tables:
    """Return minimal pairs of a phenomenon and its two paradigms, of which one has its name."""
    tables = of_islands(build_pair_tables())
    names = {item: f"islands{' 2' * (number % 2)}" for number, item in enumerate(sorted({*tables["items"]["item"]}))}
    return {
        name: table.assign(paradigm=table["item"].map(names)) if "paradigm" in table else table for name, table in tables.items()
    }


def build_many_responses() -> Tables:
    """Return a 2 x 2 with reading times, ratings under two prompts, questions, and choices between its two extractions."""
    tables = build_factorial_tables(16, 12, seed=6, points=7, question=True)
    rated = tables["responses"].query("task == 'rating'")
    rng = np.random.default_rng(3)
    eased = (rated["response"].astype(int) + rng.integers(-1, 2, len(rated))).clip(1, 7).astype(str)
    asked = rated.sample(frac=0.8, random_state=3)
    pair = asked["condition"].str.replace(r".*\.(.*)", r"subject.\1+object.\1", regex=True)
    person = asked["participant"].map({name: rng.normal() for name in sorted({*asked["participant"]})})
    is_first = rng.random(len(asked)) < 1 / (1 + np.exp(-0.5 - person - 0.8 * pair.str.endswith("name")))
    member = pair.str.split("+").str[0].where(is_first, pair.str.split("+").str[1])
    parts = [
        tables["responses"],
        rated.assign(prompt="ease", response=eased),
        asked.assign(task="choice", prompt="better", condition=pair, response=member),
    ]
    return tables | {"responses": pd.concat(parts, ignore_index=True)}


OWN_MODELS = (
    ModelSection("treated", "log_rt ~ extraction*noun + log_trial + (1|participant)", contrasts={"noun": "treatment"}),
    ModelSection("raw", "rt ~ noun + (1 + noun|participant) + (1|item)", contrasts={"noun": "sum"}),
    ModelSection("points", "rating ~ extraction + trial + (1|participant)", contrasts={"extraction": "helmert"}),
    ModelSection("without", "log_rt ~ log_trial + (1|participant)"),
    ModelSection("scales", "z ~ extraction*prompt + (1|participant) + (1|item)"),
    ModelSection("nested", "log_rt ~ extraction/noun + (1|participant) + (1|item)"),
    ModelSection("right", "correct ~ noun + (1|participant) + (1|item)", contrasts={"noun": "treatment"}),
    ModelSection("nowhere", "log_rt ~ noun + (1|participant)", region="verb"),
)
CATEGORIES = ModelSection("points", "rating ~ extraction*noun + (1 + extraction||participant) + (1|item)")
DESIGNS = {
    "minimal pairs under two prompts": STUDIES["pairs"],
    "two paradigms, and ordered categories": MadeStudy(
        build_two_paradigms, AnalysisSection(exclude=ANYONE, ordinal=True), needs_r=True
    ),
    "2 x 2": MadeStudy(build_many_responses, AnalysisSection(exclude=ANYONE)),
    "answers": STUDIES["answers"],
    "declared models": MadeStudy(build_many_responses, AnalysisSection(exclude=ANYONE, models=OWN_MODELS)),
    "declared ordered categories": MadeStudy(
        STUDIES["categories"].build_tables, AnalysisSection(engine="lme4", exclude=ANYONE, models=(CATEGORIES,)), needs_r=True
    ),
    "ordered categories": STUDIES["categories"],
}


def analyse_design(name: str) -> Tables:
    study = DESIGNS[name]
    tables = study.build_tables()
    return tables | analyse({name: tables[name] for name in INPUTS if name in tables}, study.settings)


@pytest.mark.r("lmerTest", "ordinal")
@pytest.mark.parametrize("name", DESIGNS)
def test_the_models_of_a_design_come_out_in_r(
    name: str, tmp_path: Path, run_r: Callable[[Path], None], request: pytest.FixtureRequest
) -> None:
    if DESIGNS[name].needs_r:
        request.getfixturevalue("pymer4")
    tables = analyse_design(name)
    run_r(write_with_code(tables, tmp_path, after=KEPT))
    found, sizes = pd.read_csv(tmp_path / "found.csv"), list_fitted(tables)
    assert found["refused"].isna().all()
    assert found[["model", "n"]].to_numpy().tolist() == [[*pair] for pair in sizes.items()]
    assert found.loc[~found["singular"], "apart"].max() < 1e-3 or found["singular"].all()
    assert found["apart"].max() < 2e-2
    unfitted = tables["effects"]["model_id"].nunique() - len(sizes)
    said = f"effects: {unfitted} of its models, which could not be fitted; their notes say why\n" if unfitted else ""
    assert (tmp_path / "left.txt").read_text() == said
    left_out = {"effects"} if (tables["effects"]["kind"] == "simple effect").any() else set()
    left_out |= {"models"} if not tables["models"]["kept"].all() else set()
    assert list_left_out(tables) & {"effects", "models"} == left_out
    families = {*tables["effects"].dropna(subset="estimate")["family"]}
    assert ("cumulative" in families) == DESIGNS[name].needs_r
    assert ("ordinal, and says" in script(tables)) == DESIGNS[name].needs_r


@pytest.fixture(scope="module")
def factorial() -> Tables:
    return analyse_design("2 x 2")


@pytest.mark.r
def test_brms_takes_every_model_with_its_priors_and_all_slopes_of_the_design(
    factorial: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    code = write_with_code(factorial, tmp_path, before='asked <- "plan"; sink("plan.txt")')
    if "brms" in absent_from_r("brms"):
        pytest.skip("R lacks brms")
    run_r(code)
    plan = (tmp_path / "plan.txt").read_text()
    headlines = factorial["effects"].query("headline").drop_duplicates("model_id")
    keys = ["unit", "model", "response", "region", "prompt"]
    models = {" ".join(part for part in row if part) for row in headlines[keys].fillna("").itertuples(index=False)}
    assert {part.partition("\n")[0] for part in plan.split("\n\n")[1:]} == models
    times = plan.partition("model relatives log_rt critical\n")[2].partition("\n\n")[0].splitlines()
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
    assert "family bernoulli" in plan.partition("model relatives chosen sentence better\n")[2].partition("\n\n")[0]
    assert "family cumulative" in plan.partition("model relatives z sentence ease\n")[2].partition("\n\n")[0]


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
    write_with_code(factorial, tmp_path)
    call = 'tryCatch(source("report.R"), error = function(e) writeLines(conditionMessage(e), "said.txt"))'
    (tmp_path / "call.R").write_text(f'asked <- "bayes"\n{call}\n')
    run_r(tmp_path / "call.R")
    assert (tmp_path / "said.txt").read_text() == "got bayes; expected plan, brms, bayes-factors, or nothing\n"


def test_a_name_with_quotes_stays_a_name(everything: Tables) -> None:
    assert '"the \\"new\\" \\\\ effects.csv"' in script(everything, {"effects": 'the "new" \\ effects.csv'})
