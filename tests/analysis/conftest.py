"""Seeded tables of a small study with known effects, and the minimum of everything around them."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import (
    StudyTrials,
    align,
    analyse,
    compute_multiverse,
    compute_rating_scores,
    compute_region_times,
    fit_plan,
    resolve_plan,
)
from gardenpath.analysis.engines import r_process
from gardenpath.analysis.grammatical_status import build_pair_conditions
from gardenpath.analysis.measured_studies import measure_study
from gardenpath.analysis.model_results import join_results
from gardenpath.study import TABLES, AnalysisSection, check
from gardenpath.study.config import MultiverseSection
from gardenpath.study.formula_columns import add_formula_columns
from gardenpath.study.measures import MEASURES, SCORE_MEASURES

CONDITIONS = ("grammatical", "ungrammatical")
PHENOMENA = {"agreement": 1.2, "islands": 0.6, "null effect": 0.0}  # latent rating units, grammatical minus ungrammatical
SENTENCE = "the old {noun} of the garden {verb} every single morning"


PLAIN = ("lp", "mean_lp", "pen_lp")  # measures that need nothing but the sentence
NO_SCORES, NO_TIMES, NO_ANSWERS = (
    pd.DataFrame(columns=TABLES[name].column_names) for name in ("rating_scores", "region_times", "binary_responses")
)


def sentence_scores(sentences: pd.DataFrame) -> pd.DataFrame:
    """Return the table of these sentences, with lp in the columns of measures that need nothing else and that they do not have."""
    measures = [MEASURES[name] for name in SCORE_MEASURES if name not in sentences]
    filled = sentences.assign(**{one.name: sentences["lp"] if one.name in PLAIN else None for one in measures})
    return check(filled.reindex(columns=TABLES["sentence_scores"].column_names), "sentence_scores")


def build_trials(
    *,
    scores: pd.DataFrame = NO_SCORES,
    times: pd.DataFrame = NO_TIMES,
    answers: pd.DataFrame = NO_ANSWERS,
    conditions: pd.DataFrame | None = None,
    items: pd.DataFrame | None = None,
) -> StudyTrials:
    """Return trials to plan models of; items are those of the trials unless given, without conditions they are minimal pairs, and
    scores without a task are ratings.
    """
    scores = scores if "task" in scores else scores.assign(task="rating")
    if items is None:
        parts = [part for part in (scores, times, answers) if len(part)]
        items = pd.concat([part[["paradigm", "item", "condition"]] for part in parts]).drop_duplicates()
    return StudyTrials(scores, times, answers, items, build_pair_conditions(items) if conditions is None else conditions)


def fit_trials(trials: StudyTrials, **settings: Any) -> dict[str, pd.DataFrame]:
    """Return the tables of the models that are planned for trials by these settings, and `results`: effects beside their fits."""
    stated = AnalysisSection(**settings)
    tables = fit_plan(resolve_plan(stated, trials), trials, covariates=stated.covariates)
    return {**tables, "results": join_results(tables)}


def measure_pairs(tables: dict[str, pd.DataFrame]) -> StudyTrials:
    """Return the ratings and the reading times of a study of minimal pairs."""
    items = tables["items"]
    scores = compute_rating_scores(tables["responses"], items)
    return build_trials(scores=scores, times=compute_region_times(tables["readings"], items), items=items)


# One thread, as in the process that the engine keeps: R's numbers depend on how many there are. In English: its words say which
# package it has not.
R_ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANGUAGE": "en"}


@dataclass(frozen=True)
class Effects:
    """What the simulated readers do; log ms, and log ms per bit."""

    critical: float = -0.08  # grammatical minus ungrammatical on the critical word
    bit: float = 0.02
    lag: float = 0.008


@pytest.fixture
def run_r() -> Callable[[Path], None]:
    """Run a file of R code in its folder; where R is absent, or a package that the code loads, the test is skipped."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed (Rscript); it is the independent source of this test")

    def run(code: Path) -> None:
        call = [program, "--vanilla", code.name]
        done = subprocess.run(call, cwd=code.parent, capture_output=True, text=True, env=R_ENVIRONMENT)
        told("done" if done.returncode == 0 else done.stderr)

    return run


@pytest.fixture(scope="session")
def r_server() -> Iterator[Callable[[Path], str]]:
    """Run a file of R code in a fork of an R that is started once; `done` comes back, or what R said instead."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed (Rscript); it is the independent source of this test")
    process = subprocess.Popen(
        [program, "--vanilla", str(Path(__file__).with_name("r_server.R"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=R_ENVIRONMENT,
    )

    def run(code: Path) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{code}\n")
        process.stdin.flush()
        return process.stdout.readline().rstrip("\n") or "R stopped without an answer"

    yield run
    process.communicate()


@pytest.fixture
def rscript(tmp_path: Path, r_server: Callable[[Path], str]) -> Callable[..., pd.DataFrame]:
    """Run R code with data frames of the given names in it, and return what its data frame `result` becomes."""

    def run(code: str, **frames: pd.DataFrame) -> pd.DataFrame:
        lines = []
        for name, frame in frames.items():
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            lines.append(f'{name} <- read.csv("{name}.csv", stringsAsFactors = FALSE)')
        lines += [code, "options(digits = 17)", 'write.csv(result, "result.csv", row.names = FALSE)']
        (tmp_path / "run.R").write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / "result.csv").unlink(missing_ok=True)
        told(r_server(tmp_path / "run.R"))
        return pd.read_csv(tmp_path / "result.csv")

    return run


def told(said: str) -> None:
    """Take what R said where it did not do what it was asked: a package that it has not skips the test."""
    if lacking := re.search(r"there is no package called .([\w.]+)", said):
        pytest.skip(f"R lacks {lacking.group(1)}")
    assert said == "done", said


@functools.cache
def absent_from_r(*packages: str) -> list[str]:
    """Return which of these packages R does not have."""
    code = "cat(Filter(function(name) !nzchar(system.file(package = name)), commandArgs(TRUE)))"
    return subprocess.run(
        ["Rscript", "--vanilla", "-e", code, *packages], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.fixture
def pymer4(request: pytest.FixtureRequest) -> None:
    """Skip a test of R through pymer4 where one of the two is absent, or a package of R: the engine's, or one that mark r names."""
    absent = [name for name in ("pymer4", "rpy2") if importlib.util.find_spec(name) is None]
    absent += [name for name in ("R", "Rscript") if shutil.which(name) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)}: not here; they come with R and the extra 'r'")
    named = [name for mark in request.node.iter_markers("r") for name in mark.args]
    if lacking := absent_from_r(*r_process.REQUIRED_PACKAGES, *named):
        pytest.skip(f"R lacks {', '.join(lacking)}")


@pytest.fixture(scope="session")
def simulate() -> Callable[..., dict[str, pd.DataFrame]]:
    return simulated


@pytest.fixture(scope="session")
def tables(simulate: Callable[..., dict[str, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """One study of 24 readers that tests may share, but not change."""
    return simulate()


@pytest.fixture(scope="session")
def analysed(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """What `analyse` makes of `tables`, to be read and not changed."""
    return analyse({name: tables[name] for name in ("readings", "responses", "sessions", "items")})


@pytest.fixture(scope="session")
def islands(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The study of `tables` with one phenomenon of its three: most of the time of `analyse` goes to models of each."""
    return of_islands(tables)


def of_islands(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the rows of one phenomenon, and of what has no items all."""
    items = tables["items"].loc[tables["items"]["phenomenon"] == "islands", "item"]
    return {
        name: frame[frame["item"].isin(items)].reset_index(drop=True) if "item" in frame else frame
        for name, frame in tables.items()
    }


@pytest.fixture(scope="session")
def analysed_islands(islands: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """What `analyse` makes of `islands`, to be read and not changed."""
    return analyse({name: islands[name] for name in ("readings", "responses", "sessions", "items")})


@pytest.fixture(scope="session")
def multiverse(islands: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The multiverse of `islands`, to be read and not changed: rating and reading times by exclusions, scale and random effects."""
    inputs = {name: islands[name] for name in ("readings", "responses", "sessions", "items")}
    return vary(inputs, exclusions={"no cut-offs": {"remove_outliers": False}}, transformations=("raw", "ms"), covariates=())


def vary(inputs: dict[str, pd.DataFrame], **choices: Any) -> pd.DataFrame:
    """Return the multiverse of a study, with these choices, of the plan that its tables have."""
    settings = AnalysisSection(multiverse=MultiverseSection(**choices))
    return compute_multiverse(inputs, settings, resolve_plan(settings, measure_study(inputs, settings).trials))


@pytest.fixture(scope="session")
def analysed_maximally(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The same with random effects by the policy maximal."""
    return analyse(
        {name: tables[name] for name in ("readings", "responses", "sessions", "items")}, AnalysisSection(policy="maximal")
    )


@pytest.fixture(scope="session")
def aligned_whole(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """What `align` makes of `tables`, to be read and not changed."""
    return align({name: tables[name] for name in ("readings", "sessions", "surprisal", "words")})


@pytest.fixture(scope="session")
def two_scales(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The study of `tables` with two scales and two kinds of questions; tests may share it, but not change it."""
    return with_second_scale(tables)


def with_second_scale(tables: dict[str, pd.DataFrame], seed: int = 5) -> dict[str, pd.DataFrame]:
    """Return the study with a rating of plausibility after that of acceptability, and questions about the noun or the verb.

    Plausibility is given by a slider from 0 to 100 and differs in islands alone, and the other way round in the null effect.
    Some answers to each prompt do not come in time.
    """
    rng = np.random.default_rng(seed)
    rated = tables["responses"]
    sign = rated["condition"].map({"grammatical": 0.5, "ungrammatical": -0.5})
    effect = rated["item"].str.rpartition("-")[0].map({"agreement": 0.0, "islands": 30.0, "null effect": -12.0})
    person, item = (
        rated[name].map({value: rng.normal(0, spread) for value in sorted(rated[name].unique())})
        for name, spread in (("participant", 8), ("item", 6))
    )
    slid = (50 + effect * sign + person + item + rng.normal(0, 14, len(rated))).round().clip(0, 100)
    parts = [rated, rated.assign(prompt="plausibility", response=slid.astype(int).astype(str), rt=1700.0)]
    for number, prompt in enumerate(("noun", "verb")):
        asked = rated[rated["trial"] % 4 == number]
        right = rng.random(len(asked)) < (0.9, 0.6)[number]
        said = asked.assign(task="question", prompt=prompt, response="yes", correct=right, rt=2500.0)
        parts.append(said.assign(outcome=np.where(right, "right", "wrong")))
    responses = pd.concat(parts, ignore_index=True)
    late = pd.Series(rng.random(len(responses)) < 0.05)
    for column, value in (("response", None), ("correct", None), ("outcome", "timeout"), ("rt", None)):
        responses[column] = responses[column].mask(late, value)
    return {**tables, "responses": check(add_formula_columns(responses, responses), "responses")}


def simulated(participants: int = 24, items: int = 8, seed: int = 11, effects: Effects | None = None) -> dict[str, pd.DataFrame]:
    """Return the checked tables of a study: three phenomena of one paradigm each, plus practice and one lapse."""
    rng = np.random.default_rng(seed)
    effects = effects or Effects()
    sentences, words = _materials(items)
    # Both members of a pair share their surprisals, so that grammaticality keeps the effect it is given.
    drawn = dict(zip(words["item"].unique(), rng.gamma(2.0, 3.0, (words["item"].nunique(), 10)).round(3), strict=True))
    words["surprisal"] = [drawn[item][word] for item, word in zip(words["item"], words["word"], strict=True)]
    before = words.groupby(["item", "condition"])["surprisal"].shift(1).fillna(0)
    words["mean_log_rt"] = 5.6 + effects.bit * words["surprisal"] + effects.lag * before + rng.normal(0, 0.03, len(words))
    parts: dict[str, list[pd.DataFrame]] = {"readings": [], "responses": [], "sessions": []}
    quality = dict(zip(sentences["item"].unique(), rng.normal(0, 0.4, sentences["item"].nunique()), strict=True))
    for number in range(participants):
        _one_session(number, participants, sentences, words, quality, effects, rng, parts)
    found = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    scores = words[["item", "condition", "word", "text", "region", "surprisal"]].assign(
        model="little-lm (toy)",
        protocol="causal",
        surprisal_naive=words["surprisal"],
        entropy=4.0,
        renyi=5.0,
        n_words=1,
        n_tokens=1,
    )
    plain = words.drop(columns=["surprisal", "mean_log_rt"])
    found["responses"] = add_formula_columns(found["responses"], found["responses"])
    found |= {"items": sentences, "words": plain, "surprisal": scores, "pairs": _pairs(sentences, rng)}
    found["surprisal"] = scores[["model", "protocol", *[c for c in scores if c not in ("model", "protocol")]]]
    return {name: check(frame, name) for name, frame in found.items()}


def _materials(items: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    sentences, words = [], []
    for phenomenon in PHENOMENA:
        for k in range(items):
            for condition in CONDITIONS:
                text = SENTENCE.format(noun=f"noun{k}", verb="grows" if condition == "grammatical" else "grow")
                item, paradigm = f"{phenomenon}-{k}", f"{phenomenon} 1"
                sentences.append((item, paradigm, phenomenon, condition, "en", text, "[]"))
                start = 0
                for position, word in enumerate(text.split()):
                    region = "critical" if position in (6, 7) else None
                    zipf = 3 + (position * 7 + k) % 5 * 0.7
                    words.append((item, condition, position, word, start, start + len(word), region, len(word), zipf))
                    start += len(word) + 1
    names = ["item", "paradigm", "phenomenon", "condition", "language", "sentence", "regions"]
    columns = ["item", "condition", "word", "text", "start", "end", "region", "length", "zipf"]
    return pd.DataFrame(sentences, columns=names), pd.DataFrame(words, columns=columns)


def _one_session(number, participants, sentences, words, quality, effects, rng, parts) -> None:
    """Append one reader's rows; the last reader leaves early, the first is robotically constant in nothing."""
    name, slow, strict = f"P{number:02d}", rng.normal(0, 0.2), rng.normal(0, 0.5)
    done = number < participants - 1
    shown = sentences[
        [(CONDITIONS.index(c) + number + i) % 2 == 0 for i, c in zip(_place(sentences), sentences["condition"], strict=True)]
    ]
    shown = shown.sample(frac=1, random_state=int(rng.integers(2**31)))
    shown = shown if done else shown.head(3)
    place = {"participant": name, "session": f"s{number:02d}", "experiment": "E1", "list": f"L{number % 2 + 1}"}
    trials = shown.assign(**place, trial=range(len(shown)), role="target")
    trials.iloc[0, trials.columns.get_loc("role")] = "practice"
    read = trials.merge(words, on=["item", "condition"])
    sign = read["condition"].map({"grammatical": 0.5, "ungrammatical": -0.5}) * (read["region"] == "critical")
    log_rt = read["mean_log_rt"] + slow + effects.critical * sign.fillna(0) + rng.normal(0, 0.25, len(read))
    read["rt"] = np.exp(log_rt).round(1)
    if number == 1:
        read.loc[read["region"].eq("critical") & read["trial"].eq(2), "rt"] = 9000.0
    unknown = dict.fromkeys(("task", "line", "rt_first", "rt_onset", "duration", "correct", "quality_flags"))
    parts["readings"].append(read.assign(**unknown)[TABLES["readings"].column_names])
    latent = trials["phenomenon"].map(PHENOMENA) * trials["condition"].map({"grammatical": 0.5, "ungrammatical": -0.5})
    rating = (4 + latent + trials["item"].map(quality) + strict + rng.normal(0, 0.9, len(trials))).round().clip(1, 7)
    answers = trials[[*place, "trial", "role", "paradigm", "item", "condition"]].assign(
        task="rating",
        prompt="acceptability",
        side=None,
        response=rating.astype(int).astype(str),
        correct=None,
        outcome="answered",
        rt=900.0,
        rt_first=None,
    )
    parts["responses"].append(answers)
    parts["sessions"].append(
        pd.DataFrame([place]).assign(
            slot=number // 2,
            started="2025-01-01T00:00:00Z",
            finished="2025-01-01T00:16:00Z" if done else None,
            complete=done,
            source="simulation",
            n_trials=len(trials),
            device=None,
            refresh_hz=60.0,
            session_flags=None,
            revision=1,
            lease_expired=False,
            exclusion_reason=None,
            n_aborted_trials=0,
        )
    )


def _place(sentences: pd.DataFrame) -> list[int]:
    return [int(item.rpartition("-")[2]) for item in sentences["item"]]


def _pairs(sentences: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    good = sentences[sentences["condition"] == "grammatical"]
    lp = -30 + rng.normal(0, 3, len(good))
    gap = rng.normal(1.0, 1.5, len(good)).round(2)
    pairs = good[["phenomenon", "paradigm", "item"]].assign(
        model="little-lm (toy)",
        protocol="causal",
        measure="lp",
        score_grammatical=lp,
        score_ungrammatical=lp - gap,
        correct=gap > 0,
        tie=gap == 0,
    )
    return pairs.assign(language="en")[TABLES["pairs"].column_names]
