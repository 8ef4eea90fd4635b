"""Models whose random effects a policy chose: wired from study.toml's keys to tables, and to R code that repeats them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.study import DataError, write
from gardenpath.study.config import AnalysisSection, parse_dataclass

GIVEN = ("readings", "responses", "sessions", "items")
Tables = dict[str, pd.DataFrame]


def test_the_default_policy_adds_no_table(analysed: Tables) -> None:
    assert not {"chosen_models", "model_steps"} & set(analysed)


def test_a_policy_adds_a_model_of_each_phenomenon_and_its_steps(analysed_maximally: Tables) -> None:
    models, steps = analysed_maximally["chosen_models"], analysed_maximally["model_steps"]
    effects = models[models["term"] == "grammaticality"]
    compared = analysed_maximally["phenomenon_models"].query("term == 'grammaticality' and random == 'intercepts'")
    assert len(effects) == len(compared)
    assert steps.groupby("model")["kept"].sum().eq(1).all()
    kept = steps[steps["kept"]].set_index("model")["formula"]
    for row in effects.itertuples():
        assert kept[f"{row.measure} {row.region} {row.phenomenon}"] == row.formula
    assert not steps["formula"].str.partition("(")[2].str.contains("log_trial").any()  # covariates have no slopes


@pytest.mark.r
@pytest.mark.usefixtures("pymer4")
def test_the_r_code_starts_from_the_written_tables(tables: Tables, tmp_path: Path, rscript: Callable[..., pd.DataFrame]) -> None:
    items = tables["items"].query("phenomenon == 'islands'")  # three phenomena would take three times as long
    given = {name: tables[name][tables[name]["item"].isin(items["item"])] for name in ("readings", "responses")}
    given |= {"sessions": tables["sessions"], "items": items}
    settings = AnalysisSection(engine="lme4", policy="parsimonious", crosscheck=True, ordinal=False)
    found = analyse(given, settings)
    for name in ("rating_scores", "region_times"):
        write(found[name], name, tmp_path, command="c")
    models, steps = found["chosen_models"], found["model_steps"]
    for label in ("z sentence islands", "log_rt critical islands"):
        code = steps.loc[steps["kept"] & (steps["model"] == label), "code"].item()
        reference = rscript(code + "result <- as.data.frame(coef(summary(model)))")
        ours = models[models["measure"] + " " + models["region"] + " " + models["phenomenon"] == label]
        np.testing.assert_allclose(ours[["estimate", "se", "df"]].astype(float), reference.iloc[:, :3], rtol=1e-4, atol=1e-8)


def test_the_keys_of_study_toml_are_checked() -> None:
    assert parse_dataclass(AnalysisSection, {"policy": "maximal", "crosscheck": True}, where="study.toml").crosscheck
    with pytest.raises(DataError, match="expected one of declared, maximal, parsimonious"):
        parse_dataclass(AnalysisSection, {"policy": "stepwise"}, where="study.toml")
