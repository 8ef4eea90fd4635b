"""Power of planned models: what is simulated and fitted is the plan's, against theory and against the fit that `analyse` makes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gardenpath import study
from gardenpath.analysis import Assumptions
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.fitting.planned_power import (
    PlannedScenario,
    SimulatedDesign,
    build_planned_layout,
    find_coefficient,
    list_coefficients,
)
from gardenpath.analysis.modelling.mixed_models import fit_coded
from gardenpath.analysis.modelling.power import curve, run_studies
from gardenpath.analysis.modelling.simulated_trials import Layout, standard
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.study import DataError
from gardenpath.study.config import ParticipantMeasureSection
from gardenpath.study.plans import FactorCoding, PlannedEffect, PlannedModel

FACTORS = {"kind": ("plain", "odd"), "noun": ("name", "role")}
LEXTALE = ParticipantMeasureSection(file="x.csv", mean=75, sd=10)
GROUP = ParticipantMeasureSection(levels=("L1", "L2"))
MEASURES = {"lextale": LEXTALE, "group": GROUP}


def build_model(formula: str, first_fit: str = "", response: str = "log_rt", **given: object) -> PlannedModel:
    """A planned model of factors in treatment-free coding, as `resolve_plan` has them."""
    parsed = parse_formula(formula)
    levels = {**FACTORS, "group": GROUP.levels}
    columns = {name: f"{name}_{second}_{first}" for name, (first, second) in levels.items()}
    first = first_fit or formula
    for name, column in columns.items() if not first_fit else ():
        first = first.replace(name, column)
    start = parse_formula(first)
    effects = tuple(
        PlannedEffect("intercept" if new == "1" else new, "" if old == "1" else old, "" if old == "1" else old)
        for old, new in zip(parsed.fixed, start.fixed, strict=True)
    )
    family = "binomial" if response == "correct" else "gaussian"
    return PlannedModel(
        "m", "model", response, "critical", None, ("p",), family, "logit" if family == "binomial" else "identity", formula, first,
        "declared", effects=effects,
        coding={name: FactorCoding("repeated", levels[name]) for name in levels if name in parsed.column_names}, **given,
    )  # fmt: skip


def build_scenario(model: PlannedModel, effects: dict[str, float], *, are_joint: bool = False, terms: tuple[str, ...] = (), assumptions: Assumptions | None = None) -> PlannedScenario:  # fmt: skip
    layout, measures = build_planned_layout(model, Layout(FACTORS), MEASURES)
    response = "rating" if model.response in ("z", "rating") else model.response
    given = assumptions or standard(response)
    return PlannedScenario(model, layout, response, terms or tuple(effects), effects, are_joint, given, "glmm", measures)


DECLARED = "log_rt ~ kind*noun + lextale + log_trial + (1 + kind|participant) + (1|item)"


@pytest.mark.parametrize("policy", ["declared", "maximal"])
def test_one_fit_of_noise_says_what_a_fit_with_the_effect_does(policy: str) -> None:
    """Of a linear model the shift of the estimate is exact, whatever random effects are left out on the way."""
    model = build_model(DECLARED, policy=policy)
    scenario = build_scenario(model, {"kind": 0.1, "lextale": 0.01, "kind@role": 0.2})
    made = SimulatedDesign(scenario, 10, 8)
    chance = made.draw(np.random.default_rng(5))
    for (term, expected), (found, null) in zip(made._expected.items(), made.run_study(chance), strict=True):
        for values, p in ((made.respond(expected, chance), found.p), (made.respond(made._nothing, chance), null)):
            design = replace(made.design, frame=made.design.frame.assign(log_rt=values))
            plain = fit_coded(design, made.start, declared_formula=parse_formula(model.formula), family="gaussian", engine="glmm", policy=policy)  # fmt: skip
            assert plain.steps.kept is not None
            assert plain.steps.kept.combine_effects(made.weights[term])["p"] == pytest.approx(p, rel=1e-3, abs=1e-6)


def test_power_of_a_participant_measure_is_that_of_the_non_central_t() -> None:
    """By least squares over participants' means: SE = sqrt((var of people + var of a trial / items) / sum of squares)."""
    model = build_model("log_rt ~ lextale + (1|participant) + (1|item)")
    scenario = build_scenario(model, {"lextale": 0.01})
    people, items = 30, 12
    table = curve(scenario, [people], [items], 400, seed=2)
    made = SimulatedDesign(scenario, people, items)
    numbers = made.design.frame.drop_duplicates("participant")["lextale"].to_numpy()
    assert numbers.std(ddof=1) == pytest.approx(10, rel=0.05)
    assumed = standard("log_rt")
    se = np.sqrt((assumed.participant**2 + assumed.residual**2 / items) / (numbers**2).sum())
    assert table["se"].item() == pytest.approx(se, rel=0.03)
    exact = stats.nct.sf(stats.t.ppf(0.975, people - 2), people - 2, 0.01 / se)
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, exact) / 400
    assert low <= table["power"].item() <= high
    assert table["false_positives"].item() <= stats.binom.ppf(0.9995, 400, 0.05) / 400


def test_an_interaction_of_a_factor_and_a_measure_has_the_standard_error_of_participants_differences() -> None:
    model = build_model("log_rt ~ kind*lextale + (1 + kind|participant) + (1|item)")
    scenario = build_scenario(model, {"kind:lextale": 0.008})
    people, items = 30, 16
    table = curve(scenario, [people], [items], 60, seed=3)
    numbers = SimulatedDesign(scenario, people, items).design.frame.drop_duplicates("participant")["lextale"].to_numpy()
    assumed = standard("log_rt")
    se = np.sqrt((assumed.participant_slope**2 + 4 * assumed.residual**2 / items) / (numbers**2).sum())
    assert table["se"].item() == pytest.approx(se, rel=0.05)


def test_random_effects_that_are_simulated_are_those_that_are_fitted() -> None:
    """A logit model without slopes of interactions has none in what is simulated."""
    model = build_model("correct ~ kind*noun + (1 + kind + noun|participant) + (1 + kind|item)", response="correct")
    made = SimulatedDesign(build_scenario(model, {"kind": 0.5}), 8, 8)
    spread = standard("correct")
    expected = [spread.participant, spread.participant_slope, spread.participant_slope, spread.item, spread.item_slope]
    assert [sd for sd, _, _ in made._random_effects] == expected
    groups = SimulatedDesign(build_scenario(build_model("log_rt ~ kind*group + (1 + kind|participant) + (1 + group|item)"), {"group": 0.1}), 8, 8)  # fmt: skip
    assert len(groups._random_effects) == 4
    assert groups.trials.layout.between == ["group"]


def test_ratings_are_standardised_as_analyse_does_and_their_means_differ_all_the_same() -> None:
    model = build_model("z ~ kind + (0 + kind|participant) + (1|item)", response="z")
    made = SimulatedDesign(build_scenario(model, {"kind": 1.0}), 12, 10)
    chance = made.draw(np.random.default_rng(1))
    values = made.respond(made._expected["kind"], chance).reshape(12, 10)
    assert np.allclose(values.mean(axis=1), 0)
    assert np.allclose(values.std(axis=1, ddof=1), 1)
    assert sorted(sd for sd, _, _ in made._random_effects) == [0.231, 0.3, 0.5]


def test_all_effects_of_simulate_are_there_at_once_and_sizes_are_the_model_s() -> None:
    effects = {"kind": 0.1, "kind:noun": 0.08, "kind:lextale": 0.004, "lextale": -0.01}
    model = build_model("log_rt ~ kind*noun + kind*lextale + (1|participant) + (1|item)")
    scenario = build_scenario(model, effects, are_joint=True, terms=("kind@role", "noun", "lextale"))
    sizes = {row["term"]: row["effect"] for row in scenario.list_row_keys(24, 16, 1)}
    assert sizes == {"kind@role": pytest.approx(0.1 + 0.08 / 2, abs=2e-3), "noun": 0.0, "lextale": pytest.approx(-0.01)}
    without = SimulatedDesign(scenario, 24, 16)
    assert without._is_shiftable("noun")
    other = build_scenario(build_model("log_rt ~ kind + (1|participant) + (1|item)"), {"kind": 0.1, "kind:noun": 0.3}, are_joint=True, terms=("kind",))  # fmt: skip
    assert not SimulatedDesign(other, 8, 8)._is_shiftable("kind")
    assert len(run_studies(other, 8, 8, 2, 1)) == 1


def test_coefficients_are_called_by_their_factors_where_these_have_one() -> None:
    model = build_model(DECLARED)
    layout, _ = build_planned_layout(model, Layout(FACTORS), MEASURES)
    assert list(list_coefficients(model, layout)) == ["kind", "noun", "lextale", "kind:noun"]
    assert find_coefficient(model, layout, "noun:kind") == "kind_odd_plain:noun_role_name"
    assert find_coefficient(model, layout, "kind_odd_plain") == "kind_odd_plain"
    with pytest.raises(DataError, match="term 'age' is not in the model 'm'; expected one of kind, noun, lextale, kind:noun"):
        find_coefficient(model, layout, "age")


def test_a_column_that_nobody_simulates_is_refused() -> None:
    model = build_model("log_rt ~ kind + frequency + (1|participant) + (1|item)")
    with pytest.raises(DataError, match="--power does not simulate the column 'frequency' of its formula; expected factors"):
        SimulatedDesign(build_scenario(model, {"kind": 0.1}), 8, 8)


def test_a_ratio_holds_within_the_levels_of_a_measure() -> None:
    model = build_model("log_rt ~ kind*group + (1|participant) + (1|item)")
    layout, _ = build_planned_layout(model, Layout({"kind": FACTORS["kind"]}, {"plain": 2, "odd": 1}), MEASURES)
    trials = layout.assign_trials(6, 12)
    assert np.bincount(trials.levels["kind"]).tolist() == [48, 24]
    assert np.bincount(trials.levels["group"]).tolist() == [36, 36]


STUDY = """
[analysis.participant_measures]
group = { file = "people.csv", levels = ["early", "late"] }
span = { file = "people.csv", mean = 4, sd = 1 }

[analysis.sesoi]
log_rt = 0.05
span = { log_rt = 0.05 }

[[analysis.models]]
name = "all"
formula = "log_rt ~ extraction*noun_phrase*group + span + log_trial + (1 + extraction|participant) + (1 + extraction|item)"
"""


def test_a_study_of_three_factors_one_between_participants_and_a_covariate_of_theirs(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from gardenpath.cli.main import cli

    from ..conftest import ROOT

    example = ROOT / "examples" / "relative-clauses"
    (tmp_path / "items.jsonl").write_bytes((example / "items.jsonl").read_bytes())
    (tmp_path / "study.toml").write_text((example / "study.toml").read_text("utf-8") + STUDY, "utf-8")
    asked = ["simulate", str(tmp_path / "study.toml"), "--power", "--participants", "12", "--simulations", "3", "-o"]
    ran = CliRunner().invoke(cli, [*asked, str(tmp_path / "results")])
    assert ran.exit_code == 0, ran.output
    again = CliRunner().invoke(cli, [*asked, str(tmp_path / "results")])
    assert (again.exit_code, again.stdout) == (0, ran.stdout)  # what is there is kept
    table = study.read(tmp_path / "results", "power")
    [planned] = resolve_design_plan(study.load(tmp_path)).models
    assert set(table["formula"]) == {planned.formula}
    assert len(table) == 8  # seven of factors, and the span
    assert table.set_index("term").loc["span", "effect"] == 0.05
    assert (tmp_path / "results" / "figures" / "power.svg").exists()
    assert "An effect of span of 0.05 log ms is found by 12 participants" in ran.stdout
