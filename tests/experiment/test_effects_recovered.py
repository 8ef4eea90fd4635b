"""Robots have the effects that are stated, in the stated unit, whatever the task: to 1e-6 where nothing else varies."""

import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from gardenpath import analysis, experiment, study
from gardenpath.analysis.modelling.simulated_trials import Layout
from gardenpath.experiment.simulation import robots
from gardenpath.experiment.simulation.factor_effects import code_factor, list_factor_columns
from gardenpath.experiment.tasks import TASKS, find_task
from gardenpath.study.participant_measures import SIMULATED_MEASURES_FILE
from gardenpath.study.responses import RESPONSES

SIZES = {"kind": 0.6, "group": 0.5, "kind:group": -0.7, "age": 0.03, "kind:age": 0.05}
QUIET = dict.fromkeys(
    ("participant_sd", "item_sd", "residual_sd", "rating_participant_sd", "rating_item_sd", "rating_residual_sd", "trial",
     "length", "zipf"), 0.0,
)  # fmt: skip
SETTINGS = {
    "magnitude_estimation": 'prompt = "How good?"\n',
    "maze": "redo = true\ndelay = 500\n",
    "typed_answer": 'prompt = "Which word is it?"\n',
    "rating": 'prompt = "How good?"\nlow = "bad"\nhigh = "good"\nscale = "slider"\n',
}
# In an experiment without noise the latent scale is read off the robot, and so are probabilities; all else off the tables.
BY_TASK = [(kind, response) for task in TASKS for kind in task.KINDS for response in task.RESPONSES]


def write_study(folder: Path, kind: str, factors: Mapping[str, tuple[str, ...]], lists: int) -> study.Study:
    """Return a study of these factors, of which `group` is between participants, all of whose sentences have the same words."""
    rows = []
    for item in range(12):
        for levels in product(*factors.values()):
            row = {"paradigm": "made", "phenomenon": "made", "item": f"i{item}", "condition": ".".join(levels)}
            row |= {
                "sentence": "Then one [two three] went on home.",
                "question": "Is it so?",
                "answer": "yes",
                "lexicality": "word",
                "right_answers": "two",
            }
            row |= {"factors": " | ".join(f"{name}: {', '.join(of)}" for name, of in factors.items())}
            rows.append(row | {"alternatives": "x-x-x bb cc dd ee ff gg"})
    pd.DataFrame(rows).to_csv(folder / "items.csv", index=False)
    shown = 'show = "t"' if find_task(kind).IS_PRESENTATION else 'show = "whole"\nask = ["t"]'
    between = 'between_participants = ["group"]\n' if "group" in factors else ""
    pair = 'trial = "pair"\n' if kind == "choice" else ""
    (folder / "study.toml").write_text(
        f'name = "made"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\nlists = {lists}\n{between}{pair}'
        f'[procedure.target]\n{shown}\n[procedure.tasks.t]\nkind = "{kind}"\n{SETTINGS.get(kind, "")}'
        '[analysis.participant_measures.age]\nfile = "ages.csv"\nmean = 30\nsd = 6\n'
    )
    return study.load(folder)


def state(response: str, sizes: Mapping[str, float], scale: float = 1.0) -> dict[str, study.EffectSection]:
    key = RESPONSES[response].effect_key or "log_rt"
    regional = key in ("log_rt", "first_choice")
    return {
        term: study.EffectSection(**{key: {"critical": size * scale} if regional else size * scale}) for term, size in sizes.items()
    }


def log_odds(p: float) -> float:
    return math.log(p / (1 - p))


def simulate(
    folder: Path, config: study.Study, terms: Mapping[str, study.EffectSection], people: int, **noise: float
) -> dict[str, pd.DataFrame]:
    """Return the tables of simulated participants."""
    effects = experiment.Effects(terms=terms, measures=config.analysis.participant_measures, **noise)  # type: ignore[arg-type]
    experiment.simulate(experiment.build_list_files(config), folder / "data", participants=people, seed=5, effects=effects)
    return experiment.collect(folder / "data")


def read_ages(folder: Path) -> dict[str, float]:
    """Return the age of each simulated participant."""
    table = pd.read_csv(folder / "data" / SIMULATED_MEASURES_FILE)
    return dict(zip(table["participant"], table["age"].astype(float), strict=True))


def code(rows: pd.DataFrame, ages: Mapping[str, float]) -> pd.DataFrame:
    """Return rows with -1/2 for the first level of each factor, +1/2 for the second, and age from the middle of its distribution."""
    levels = rows["condition"].str.split(".", expand=True)
    columns = {"kind": np.where(levels[0] == "y", 0.5, -0.5), "group": np.where(levels[1] == "v", 0.5, -0.5)}
    return rows.assign(**columns, age=rows["participant"].map(ages).astype("float64") - 30)


def solve(rows: pd.DataFrame, values: "pd.Series[float]", terms: list[str]) -> dict[str, float]:
    """Return least squares of values on the product of each term's columns, which is exact where nothing else varies."""
    columns = [np.prod([rows[part] for part in term.split(":")], axis=0) for term in terms]
    matrix, measured = np.column_stack([np.ones(len(rows)), *columns]), values.to_numpy(float)
    found, *_ = np.linalg.lstsq(matrix, measured, rcond=None)
    assert np.abs(measured - matrix @ found).max() < 1e-6
    return dict(zip(terms, found[1:], strict=True))


FACTORS = {"kind": ("x", "y"), "group": ("u", "v")}
PROBABILITIES = ("correct", "chosen", "first_choice")  # of one answer, nothing but its probability can be as stated
LATENT = ("z", "rating", "yes")  # cut into points in the tables


@pytest.mark.parametrize(("kind", "response"), BY_TASK)
def test_without_noise_the_effects_are_those_stated(kind: str, response: str, tmp_path: Path) -> None:
    config = write_study(tmp_path, kind, FACTORS, lists=4)
    terms = state(response, SIZES, scale=1.0 if response in (*PROBABILITIES, *LATENT) else 0.1)
    if response in PROBABILITIES or response in LATENT:
        rows = read_off_robots(config, terms, response)
        stated = SIZES
    else:
        tables = simulate(tmp_path, config, terms, 12, **QUIET)
        ages = read_ages(tmp_path)
        rows = code(measure(tables, response), ages)
        stated = {term: size * 0.1 for term, size in SIZES.items()}
    if response == "chosen":  # a trial shows both kinds: what they differ by is the intercept, and its interactions the effects
        stated = {"group": SIZES["kind:group"], "age": SIZES["kind:age"]}
    found = solve(rows, rows["value"], [*stated])
    assert found == pytest.approx(stated, abs=1e-6)


def measure(tables: dict[str, pd.DataFrame], response: str) -> pd.DataFrame:
    """Return target trials with the logarithm of what was measured: a time of the region, or a number that was typed."""
    if response == "magnitude":
        rows = tables["responses"].query("role == 'target' and task == 'magnitude_estimation'")
        return rows.assign(value=np.log(rows["response"].astype(float)))
    read = tables["readings"].query("role == 'target' and region == 'critical'")
    read = read[~read["correct"].eq(False).fillna(False).astype(bool)]
    by = ["session", "participant", "trial", "condition"]
    sums = read.groupby(by).agg(words=("rt", "size"), rt=("rt", "sum")).reset_index().query("words == 2")
    return sums.assign(value=np.log(sums["rt"]))


def read_off_robots(config: study.Study, terms: Mapping[str, study.EffectSection], response: str) -> pd.DataFrame:
    """Return what robots draw their answers from, in each target trial: log odds, or the place on the latent scale."""
    quiet = QUIET | {"rating_residual_sd": 1.0} if response == "chosen" else QUIET
    effects = experiment.Effects(terms=terms, measures=config.analysis.participant_measures, **quiet)  # type: ignore[arg-type]
    files = experiment.build_list_files(config)
    robot = robots.create_robot(files, seed=1, effects=effects)
    rows, ages = [], {}
    for number in range(12):
        name, file = f"sim-{number}", files[number % len(files)]
        person = robot.draw_participant(name)
        ages[name] = float(person.measures["age"])
        for trial in file.trial_list.trials:
            reader = robots._TrialReader(robot, file, trial, 0, (0.0, 0.0), Random(1), person.condition_effects)
            first = trial.shown_sentences[0][0]
            value = {
                "correct": lambda reader=reader: log_odds(reader.p_correct),
                "first_choice": lambda reader=reader: -log_odds(reader.compute_slip_probabilities(0)[2]),
                "chosen": lambda reader=reader, trial=trial: log_odds(
                    reader.compute_preference(*sorted((name for name, _ in trial.shown_sentences), reverse=True))
                ),
            }.get(response, lambda reader=reader, first=first: reader.draw_latent_rating(first))()
            rows.append((name, first, value))
    return code(pd.DataFrame(rows, columns=["participant", "condition", "value"]), ages)


NOISY = [("moving_window", "log_rt"), ("maze", "log_rt"), ("maze", "first_choice"), ("question", "correct"), ("choice", "chosen"),
         ("magnitude_estimation", "magnitude")]  # fmt: skip


@pytest.mark.parametrize(("kind", "response"), NOISY)
def test_with_noise_models_find_the_effects_within_three_standard_errors(kind: str, response: str, tmp_path: Path) -> None:
    config = write_study(tmp_path, kind, FACTORS, lists=4)
    scale = 0.25 if response == "log_rt" else 1.0
    noise = {"slips": 0.2} if response == "first_choice" else {"comprehension": 0.7} if response == "correct" else {}
    tables = simulate(tmp_path, config, state(response, SIZES, scale), 160, **noise)
    ages = read_ages(tmp_path)
    answers = tables["responses"].query("role == 'target'")
    predictors = "kind*group + age + kind:age"
    if response == "correct":
        asked = answers[answers["task"] == "question"]
        rows = code(asked.assign(value=asked["correct"].astype(int)), ages)
    elif response == "chosen":
        asked = answers[answers["task"] == "choice"]
        rows = code(asked.assign(condition=asked["response"], value=asked["response"].str.startswith("y").astype(int)), ages)
        predictors = "group + age"
    elif response == "first_choice":
        words = tables["readings"].query("role == 'target' and region == 'critical'")
        rows = code(words.assign(value=words["correct"].astype(int)), ages)
    else:
        rows = code(measure(tables, response).merge(tables["readings"].drop_duplicates(["session", "trial"])[["session", "trial", "item"]])
                    if response == "log_rt" else measure(tables, response), ages)  # fmt: skip
    family = RESPONSES[response].family
    fitted = analysis.fit(rows, f"value ~ {predictors} + (1|participant) + (1|item)", family=family).set_index("term")
    stated = {"intercept": SIZES["kind"], "group": SIZES["kind:group"], "age": SIZES["kind:age"]} if response == "chosen" else SIZES
    shown = 0
    for term, size in stated.items():
        row = fitted.loc[term]
        # Participants differ, so that effects between them are known less well.
        assert abs(row["estimate"] - size * scale) < 3 * row["se"], (term, row["estimate"], row["se"])
        shown += row["se"] < abs(size * scale) / 3
    assert shown >= len(stated) - 2


def test_a_factor_of_three_levels_is_stated_by_neighbouring_levels(tmp_path: Path) -> None:
    config = write_study(tmp_path, "moving_window", {"rank": ("a", "b", "c")}, lists=3)
    terms = state("log_rt", {"rank_b_a": 0.1, "rank_c_b": -0.25})
    rows = measure(simulate(tmp_path, config, terms, 6, **QUIET), "log_rt")
    means = rows.groupby("condition")["value"].mean()
    assert means["b"] - means["a"] == pytest.approx(0.1, abs=1e-6)
    assert means["c"] - means["b"] == pytest.approx(-0.25, abs=1e-6)
    with pytest.raises(study.DataError, match="no paradigm has rank; there are factors rank_b_a, rank_c_b"):
        simulate(tmp_path / "other", config, state("log_rt", {"rank": 0.1}), 1)


def test_columns_of_a_factor_are_those_of_the_models(tmp_path: Path) -> None:
    """The simulation names and codes them without the analysis, which it may not import; both have to agree."""
    for levels in (("a", "b"), ("a", "b", "c"), ("one", "two words", "x", "y")):
        layout = Layout({"rank": levels})
        assert list_factor_columns("rank", levels) == [*layout.columns]
        for at, level in enumerate(levels):
            coded = code_factor("rank", levels, level)
            assert coded == pytest.approx({name: codes[at] for name, (_, codes) in layout.columns.items()})
