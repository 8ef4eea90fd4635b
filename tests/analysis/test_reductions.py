"""Models whose random effects a policy reduces: from study.toml's keys to tables, and to R code that repeats them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import analyse
from gardenpath.analysis.model_results import join_results, select_pairs, select_reduced_pairs
from gardenpath.study import DataError, write
from gardenpath.study.config import AnalysisSection, parse_dataclass

GIVEN = ("readings", "responses", "sessions", "items")
Tables = dict[str, pd.DataFrame]


def test_by_default_random_effects_of_pairs_are_not_reduced(analysed: Tables) -> None:
    assert set(analysed["planned_models"]["policy"]) == {"declared"}
    assert analysed["models"].groupby("model_id").size().eq(1).all()


def test_a_policy_adds_a_model_of_each_phenomenon_and_its_fits(analysed_maximally: Tables) -> None:
    results = join_results(analysed_maximally)
    effects = select_reduced_pairs(results).query("term == 'grammaticality'")
    place = ["model", "response", "region"]
    compared = select_pairs(results).query("random == 'intercepts'")
    assert effects[place].to_numpy().tolist() == compared[place].to_numpy().tolist()
    assert not effects["headline"].any()
    assert effects["p_adjusted"].isna().all()
    fits = analysed_maximally["models"].query("model_id in @effects['model_id'].to_list()")
    assert fits.groupby("model_id")["kept"].sum().eq(1).all()
    assert not fits["formula"].str.partition("(")[2].str.contains("log_trial").any(), "covariates have no slopes"


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
    codes = found["models"].query("kept").set_index("model_id")["code"]
    for model, ours in select_reduced_pairs(found["effects"]).query("region != 'critical+1'").groupby("model_id"):
        reference = rscript(codes[model] + "result <- as.data.frame(coef(summary(model)))")
        np.testing.assert_allclose(ours[["estimate", "se", "df"]].astype(float), reference.iloc[:, :3], rtol=1e-4, atol=1e-8)


def test_the_keys_of_study_toml_are_checked() -> None:
    assert parse_dataclass(AnalysisSection, {"policy": "maximal", "crosscheck": True}, where="study.toml").crosscheck
    with pytest.raises(DataError, match="expected one of declared, maximal, parsimonious"):
        parse_dataclass(AnalysisSection, {"policy": "stepwise"}, where="study.toml")
