"""Effects of a study's own factors, stated by term and region, are what robots show."""

import math
import re
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gardenpath import analysis, experiment, study
from gardenpath.cli.main import cli

ROOT = Path(__file__).parents[2]
EFFECTS = """
[simulate.extraction]
log_rt = { embedded_verb = 0.15, critical = 0.08, "critical+1" = 0.05 }
rating = -1.0
accuracy = -1.0

[simulate.noun_phrase]
log_rt = { critical = -0.06 }

[simulate."noun_phrase:extraction"]
log_rt = { embedded_verb = -0.12, critical = 0.10 }
rating = 0.8
accuracy = 0.9
"""
PLAN = study.load(ROOT / "examples" / "relative-clauses")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("factors")
    (folder / "effects.toml").write_text(EFFECTS)
    terms = study.load_effects(folder / "effects.toml")
    effects = experiment.Effects(terms=terms, comprehension=0.8)
    experiment.simulate(experiment.build_list_files(PLAN), folder / "data", participants=80, seed=3, effects=effects)
    return experiment.collect(folder / "data")


def test_models_of_reading_times_recover_the_effects_at_each_region(tables: dict[str, pd.DataFrame]) -> None:
    extraction, noun_phrase = "extraction_object_subject", "noun_phrase_name_description"
    terms = {extraction: "extraction", noun_phrase: "noun_phrase", f"{extraction}:{noun_phrase}": "both"}
    truth = {
        "embedded_verb": {"extraction": 0.15, "noun_phrase": 0.0, "both": -0.12},
        "critical": {"extraction": 0.08, "noun_phrase": -0.06, "both": 0.10},
        "critical+1": {"extraction": 0.05, "noun_phrase": 0.0, "both": 0.0},
    }
    models = [
        study.ModelSection(region, "log_rt ~ extraction*noun_phrase + log_trial + (1|participant) + (1|item)", region=region)
        for region in truth
    ]
    # Nobody goes: half of the answers are wrong in some conditions.
    settings = study.AnalysisSection(models=tuple(models), exclude=study.ExcludeSection(min_accuracy=0))
    results = analysis.analyse(tables, settings)
    found = results["effects"].query("kind == 'coefficient'").set_index(["model", "term"])
    for region, effects in truth.items():
        for term, name in terms.items():
            row = found.loc[(region, term)]
            assert abs(row["estimate"] - effects[name]) < 3 * row["se"], (region, term, row["estimate"])
    # And they are there to be found: what was stated as not 0 is far from it.
    assert found.loc[("embedded_verb", f"{extraction}:{noun_phrase}"), "p"] < 0.001


def contrasts(by: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The main effect of extraction and the interaction, of values by condition, each with its standard error."""
    cells = ("subject.description", "subject.name", "object.description", "object.name")
    means, se = np.array([by[cell][0] for cell in cells]), np.array([by[cell][1] for cell in cells])
    codes = {"extraction": np.array([-1, -1, 1, 1]) / 2, "both": np.array([1, -1, -1, 1])}
    return {name: (float(code @ means), math.sqrt(float(code**2 @ se**2))) for name, code in codes.items()}


def test_accuracy_and_ratings_recover_log_odds_and_latent_units(tables: dict[str, pd.DataFrame]) -> None:
    responses = tables["responses"].query("role == 'target'")
    questions = responses.query("task == 'question'")
    right = questions["correct"].astype(bool).groupby(questions["condition"]).agg(["mean", "size"])
    odds = {c: (math.log(r["mean"] / (1 - r["mean"])), 1 / math.sqrt(r["size"] * r["mean"] * (1 - r["mean"]))) for c, r in right.iterrows()}  # fmt: skip
    rated = responses.query("task == 'rating'")
    high = (rated["response"].astype(int) >= 5).groupby(rated["condition"]).agg(["mean", "size"])
    normal = NormalDist()
    latent = {}
    for condition, row in high.iterrows():
        p, z = row["mean"], normal.inv_cdf(row["mean"])
        latent[condition] = (z, math.sqrt(p * (1 - p) / row["size"]) / normal.pdf(z))
    # Over people and items, whose spread is not in the residual, latent effects are smaller in standard deviations.
    spread = math.hypot(1, experiment.Effects.rating_participant_sd, experiment.Effects.rating_item_sd)
    rating = {"extraction": -1.0 / spread, "both": 0.8 / spread}
    for by, truth in ((odds, {"extraction": -1.0, "both": 0.9}), (latent, rating)):
        for name, (estimate, se) in contrasts(by).items():
            assert abs(estimate - truth[name]) < 3 * se, (name, estimate, se)
            assert abs(truth[name]) > 2 * se


def coded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with -1/2 for the first level of each factor and +1/2 for the second."""
    levels = rows["condition"].str.split(".", expand=True)
    second = {"extraction": levels[0] == "object", "noun_phrase": levels[1] == "name"}
    return rows.assign(**{name: np.where(there, 0.5, -0.5) for name, there in second.items()})


def found_by(models: pd.DataFrame, truth: dict[str, float]) -> None:
    found = models.set_index("term")
    for term, true in truth.items():
        estimate, se = found.loc[term, "estimate"], found.loc[term, "se"]
        assert abs(estimate - true) < 3 * se, (term, estimate, se)
    assert found.loc["extraction", "p"] < 0.001


@pytest.mark.r
def test_the_ordinal_model_recovers_latent_units(tables: dict[str, pd.DataFrame]) -> None:
    rated = tables["responses"].query("role == 'target' and task == 'rating' and participant < 'sim-0025'")
    rows = coded(rated.assign(rating=rated["response"].astype(int)))
    models = analysis.cumulative(rows, "rating ~ extraction*noun_phrase + (1|participant)")
    found_by(models, {"extraction": -1.0, "noun_phrase": 0.0, "extraction:noun_phrase": 0.8})


def test_the_binomial_model_recovers_log_odds_of_a_right_answer(tables: dict[str, pd.DataFrame]) -> None:
    asked = tables["responses"].query("role == 'target' and task == 'question'")
    rows = coded(asked.assign(right=asked["correct"].astype(int)))
    models = analysis.fit(rows, "right ~ extraction*noun_phrase + (1|participant) + (1|item)", family="binomial")
    found_by(models, {"extraction": -1.0, "noun_phrase": 0.0, "extraction:noun_phrase": 0.9})


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (
            "[simulate.attractor]\nrating = 1.0",
            "simulate, 'attractor': no paradigm has attractor; there are factors extraction, noun_phrase: state",
        ),
        ("[simulate.extraction]\nlog_rt = { verb = 0.1 }", "region 'verb' is in no sentence; there are critical, emb"),
        ("[simulate.extraction]\nlog_rt = { critical = 30 }", "log_rt.critical is 30; expected log ms, such as 0.05"),
        ("[simulate.extraction]\nlogrt = 0.1", "key 'simulate.extraction.logrt' is not known; did you mean 'log_rt'"),
        ("[simulate.'a:b']\n[simulate.'b:a']", "'a:b' and 'b:a' are the same term; expected it once"),
    ],
)
def test_what_the_study_does_not_have_is_named(stated: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "effects.toml").write_text(stated)
    study_file = ROOT / "examples" / "relative-clauses" / "study.toml"
    call = ["simulate", str(study_file), "--participants", "1", "--effects", str(tmp_path / "effects.toml")]
    with pytest.raises(study.DataError) as caught:
        CliRunner().invoke(cli, [*call, "-o", str(tmp_path / "data")], catch_exceptions=False)
    assert message in str(caught.value)


def test_the_command_takes_the_effects_of_study_toml_and_writes_them_down(study_folder: Path, tmp_path: Path) -> None:
    """Stated, they take the place of the standard ones: here sentences that break the rule are read faster."""
    path = study_folder / "study.toml"
    text, stated = re.subn(r"log_rt = .*\nrating = -1.5\n", "log_rt = { critical = -1.0 }\n", path.read_text())
    assert stated == 1
    path.write_text(text)
    call = ["simulate", str(path), "--participants", "9", "--seed", "1", "-o", str(tmp_path / "data")]
    assert CliRunner().invoke(cli, call, catch_exceptions=False).exit_code == 0
    found = experiment.collect(tmp_path / "data")
    read = found["readings"].query("role == 'target' and region == 'critical'")
    means = np.log(read["rt"]).groupby(read["condition"]).mean()
    assert means["ungrammatical"] - means["grammatical"] == pytest.approx(-1.0, abs=0.1)
    ratings = found["responses"].query("role == 'target'")
    means = ratings["response"].astype(float).groupby(ratings["condition"]).mean()
    assert abs(means["ungrammatical"] - means["grammatical"]) < 0.6
    noted = study.files.read_sidecar(tmp_path / "data" / "sessions")["effects"]
    assert noted["terms"]["grammaticality"]["log_rt"] == {"critical": -1.0}  # type: ignore[index]
