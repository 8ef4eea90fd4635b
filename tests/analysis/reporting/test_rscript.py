"""The R code of a report refits every mixed model of it from the written tables, and comes out where the tables do."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gardenpath.analysis import AlignOptions, align, analyse
from gardenpath.analysis.reporting.rscript import script
from gardenpath.study import AnalysisSection, write

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")


@pytest.fixture(scope="module", params=["tables", "two_scales"])
def everything(request: pytest.FixtureRequest) -> Tables:
    """A study of one scale, and of two."""
    tables: Tables = request.getfixturevalue(request.param)
    found = analyse({name: tables[name] for name in GIVEN}, AnalysisSection(policy="maximal"))
    read = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    return tables | found | align(read, AlignOptions(lags=1, folds=2))


@pytest.mark.r
def test_every_model_comes_out_in_r_as_in_its_table(
    everything: Tables, tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    for name in ("rating_scores", "region_times", "aligned", *MODELS):
        write(everything[name], name, tmp_path / "results", command="test")
    files = {name: f"results/{name}.csv" for name in everything}
    kept = 'write.csv(refits, "found.csv", row.names = FALSE)\n'
    (tmp_path / "report.R").write_text(script(everything, files) + kept, encoding="utf-8")
    run_r(tmp_path / "report.R")
    found = pd.read_csv(tmp_path / "found.csv")
    fitted = {name: everything[name].dropna(subset="estimate") for name in MODELS}
    for name, keys in MODELS.items():
        rows = found[found["table"] == f"{name}.csv"]
        assert len(rows) == len(fitted[name][keys].drop_duplicates())
        sizes = sorted(fitted[name].drop_duplicates(keys)["n"])
        assert sorted(rows["n"]) == sizes
    # Two programs agree to a thousandth of a standard error, but for singular fits, whose criterion is flat, and for the
    # profile: these made-up frequencies repeat every five words, and the programs drop different ones of six lags.
    usual = found["table"] != "lag_profile.csv"
    assert found.loc[usual & ~found["singular"], "apart"].max() < 1e-3
    assert found.loc[usual, "apart"].max() < 2e-2


MODELS = {
    "phenomenon_models": ["phenomenon", "measure", "region", "prompt", "random"],
    "paradigm_models": ["phenomenon", "paradigm", "measure", "region", "prompt", "random"],
    "chosen_models": ["phenomenon", "measure", "region", "prompt"],
    "alignment_models": ["model", "protocol"],
    "lag_profile": ["model", "protocol"],
    "alignment_test": ["model", "protocol"],
}


def test_there_is_code_for_what_is_there_and_nothing_without_models(everything: Tables) -> None:
    people = script({name: frame for name, frame in everything.items() if name != "aligned"})
    assert 'refit("phenomenon_models.csv"' in people
    assert "aligned" not in people
    models = script({name: everything[name] for name in ("aligned", "alignment_models")})
    assert 'refit("alignment_models.csv"' in models
    assert "rating_scores" not in models
    assert script({"items": everything["items"]}) == ""
    assert script({"phenomenon_models": everything["phenomenon_models"]}) == "", "its rows are nowhere"


def test_a_name_with_quotes_stays_a_name(everything: Tables) -> None:
    odd = everything["items"].replace({"paradigm": {"islands 1": 'the "that" \\ trace'}})
    assert '"the \\"that\\" \\\\ trace"' in script(everything | {"items": odd})
