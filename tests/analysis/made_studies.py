"""Five made studies, one of each kind that is analysed, and the settings they are analysed by.

Their tables of models before the plan of models are kept in tests/analysis/frozen; what is computed since is held to them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from gardenpath.study import TABLES, AnalysisSection, ExcludeSection, ModelSection, check
from gardenpath.study.formula_columns import add_formula_columns

from .conftest import simulated, with_second_scale

Tables = dict[str, pd.DataFrame]
LEVELS = [("subject", "description"), ("subject", "name"), ("object", "description"), ("object", "name")]
FACTORS = ("extraction", "noun")
WORDS = ("The", "reporter", "that", "attacked", "left", "early")
CRITICAL = 3
ANYONE = ExcludeSection(min_accuracy=0)
INPUTS = ("readings", "responses", "sessions", "items", "conditions", "words")


@dataclass(frozen=True)
class MadeStudy:
    """The tables that `analyse` takes of a study, and its settings; `needs_r` where its models are fitted by R."""

    build_tables: Callable[[], Tables]
    settings: AnalysisSection
    needs_r: bool = False


def build_factorial_tables(
    people: int = 16, items: int = 12, *, seed: int = 5, points: int = 0, question: bool = False, yes_no: bool = False
) -> Tables:
    """Return a 2 x 2 in a Latin square with reading times, on request with ratings, questions and judgments of yes or no."""
    rng = np.random.default_rng(seed)
    speed, strictness, slope = (rng.normal(0, spread, people) for spread in (0.2, 0.5, 0.06))
    difficulty = rng.normal(0, 0.1, items)
    readings, responses, sessions = [], [], []
    for p in range(people):
        place = {"participant": f"P{p:02}", "session": f"S{p:02}", "experiment": "E1", "list": f"L{p % 4 + 1}"}
        sessions.append(
            place
            | {"slot": p // 4, "complete": True, "source": "simulation", "n_trials": items, "revision": 1, "n_aborted_trials": 0}
            | {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:20:00Z", "lease_expired": False}
        )
        for trial, i in enumerate(rng.permutation(items)):
            extraction, noun = LEVELS[(p + i) % 4]
            cost = 0.12 * (extraction == "object") - 0.05 * (noun == "name") + slope[p] * (extraction == "object")
            where = place | {"trial": trial, "role": "target", "paradigm": "relatives", "item": f"i{i:02}"}
            where |= {"condition": f"{extraction}.{noun}"}
            for n, word in enumerate(WORDS):
                effect = cost if n == CRITICAL else 0.4 * cost if n == CRITICAL + 1 else 0.0
                log_rt = 5.7 + speed[p] + difficulty[i] + effect - 0.03 * np.log1p(trial) + rng.normal(0, 0.2)
                region = "critical" if n == CRITICAL else None
                readings.append(where | {"word": n, "text": word, "region": region, "rt": round(float(np.exp(log_rt)), 1)})
            latent = 0.5 - 4 * cost + strictness[p] - 3 * difficulty[i]
            asked = {"outcome": "answered", "rt": 900.0}
            if points:
                rating = int(np.clip(round(points / 2 + latent + rng.normal(0, 0.9)), 1, points))
                responses.append(where | asked | {"task": "rating", "prompt": "naturalness", "response": str(rating)})
            if yes_no:
                accepted = int(rng.random() < expit(latent))
                responses.append(where | asked | {"task": "rating", "prompt": "fine", "response": str(accepted)})
            if question:
                right = bool(rng.random() < expit(0.6 + latent))
                answer = {"task": "question", "prompt": "comprehension", "response": "yes", "correct": right}
                responses.append(where | asked | answer | {"outcome": "right" if right else "wrong"})
    rows = {"readings": readings, "responses": responses, "sessions": sessions}
    tables = {name: pd.DataFrame(part).reindex(columns=TABLES[name].column_names) for name, part in rows.items()}
    levels = [(f"{e}.{n}", factor, level) for e, n in LEVELS for factor, level in zip(FACTORS, (e, n), strict=True)]
    conditions = pd.DataFrame(levels, columns=["condition", "factor", "level"]).assign(paradigm="relatives")
    tables["conditions"] = check(conditions[TABLES["conditions"].column_names], "conditions")
    tables["responses"] = add_formula_columns(tables["responses"], tables["responses"], conditions=tables["conditions"])
    sentences = [(f"i{i:02}", f"{e}.{n}") for i in range(items) for e, n in LEVELS]
    items_table = pd.DataFrame(sentences, columns=["item", "condition"])
    tables["items"] = items_table.assign(
        paradigm="relatives", phenomenon="relatives", language="en", sentence=" ".join(WORDS), regions="[]"
    )[TABLES["items"].column_names]
    return {name: check(table, name) for name, table in tables.items()}


def build_pair_tables() -> Tables:
    """Return minimal pairs of three phenomena that are read, rated under two prompts, and asked about by two questions."""
    return with_second_scale(simulated(participants=12, items=6))


OWN_MODEL = ModelSection(
    "spillover",
    "log_rt ~ extraction*noun + log_trial + (1 + extraction|participant) + (1|item)",
    region="critical+1",
    contrasts={"extraction": "treatment", "noun": "sum"},
    reference_levels={"extraction": "object"},
)
STUDIES = {
    "pairs": MadeStudy(build_pair_tables, AnalysisSection(policy="maximal", exclude=ANYONE, ordinal=False)),
    "reading": MadeStudy(build_factorial_tables, AnalysisSection(exclude=ANYONE)),
    "declared": MadeStudy(build_factorial_tables, AnalysisSection(exclude=ANYONE, models=(OWN_MODEL,))),
    "answers": MadeStudy(
        lambda: build_factorial_tables(24, 16, seed=8, question=True, yes_no=True), AnalysisSection(exclude=ANYONE, ordinal=False)
    ),
    "categories": MadeStudy(
        lambda: build_factorial_tables(12, 12, seed=9, points=5), AnalysisSection(exclude=ANYONE, ordinal=True), needs_r=True
    ),
}
