"""From what participants did to the tables of results: exclusions, scores, times, agreement, models and their robustness."""

from collections.abc import Sequence

import pandas as pd

from gardenpath.study import DataError, ExcludeSection, ModelSection

from .chosen import chosen_models
from .contrasts import entering, families, paradigm_models, phenomenon_models
from .exclusions import left_in
from .factorial import factorial_models, regions_named
from .ledger import Ledger, complete
from .measures import condition_means, marked, rating_scores, reading_curves, region_times
from .ordinal import ordinal_models
from .policies import Steps
from .reliability import choice_agreement, noise_ceilings, rating_counts, reliabilities
from .sensitivity import sensitivity_grid


def analyse(
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    sessions: pd.DataFrame,
    items: pd.DataFrame,
    demographics: pd.DataFrame | None = None,
    conditions: pd.DataFrame | None = None,
    words: pd.DataFrame | None = None,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
    engine: str = "glmm",
    policy: str = "declared",
    crosscheck: bool = False,
    ordinal: bool = False,
    exclude: ExcludeSection | None = None,
    models: Sequence[ModelSection] = (),
    seed: int = 1,
) -> dict[str, pd.DataFrame]:
    """Return every table of results by name: the exclusions first, then what was measured, agreement and models.

    Ratings are standardised within participant and prompt over all target and filler trials of complete sessions, before anybody
    or anything is left out, and each prompt is analysed by itself. A trial's critical region is dropped when one of its words was
    read in less than `min_rt` or more than `max_rt` ms; `exclude` has the other rules. `seed` draws the split halves and
    bootstraps of agreement.

    With another `policy` than declared, or with `crosscheck`, chosen_models and model_steps are there too: models whose
    random effects the policy chose, refitted in the other engine.

    With `ordinal`, ordinal_models is there: ratings as ordered categories, in R.

    With `conditions`, factorial_models is there for a study with factors of its own, or with declared `models`; regions that
    they name beside the critical one are measured too, by the spans of `words`.
    """
    if models and conditions is None:
        raise DataError(
            f"table conditions is missing; the declared model {models[0].name!r} needs it to know the factors' levels: give it "
            "beside the other tables, as  gardenpath collect  writes it"
        )
    ledger = Ledger()
    _, everything = complete(sessions, Ledger(), readings=readings, responses=responses)
    readings, responses, people, prompts = left_in(
        readings, responses, sessions, items,
        demographics=demographics, min_rt=min_rt, max_rt=max_rt, exclude=exclude, ledger=ledger,
    )  # fmt: skip
    scores = rating_scores(responses, items, ledger=ledger, before=everything)
    times = region_times(readings, items, min_rt=min_rt, max_rt=max_rt, ledger=ledger)
    targets = readings[readings["role"] == "target"]
    others = [
        region_times(
            marked(targets, items, words, name), items, min_rt=min_rt, max_rt=max_rt, region=name, ledger=ledger
        )
        for name in regions_named(models)
    ]
    tested = {
        "phenomenon": phenomenon_models(scores, times, items, engine=engine),
        "paradigm": paradigm_models(scores, times, items, engine=engine),
    }
    entered = entering(scores, times, items)
    asked = policy != "declared" or crosscheck
    chosen = chosen_models(entered, engine=engine, policy=policy, crosscheck=crosscheck) if asked else {}
    measured = pd.concat([times, *others], ignore_index=True)
    factorial: dict[str, pd.DataFrame] = {}
    if conditions is not None:
        steps = Steps()
        found = factorial_models(
            scores,
            measured,
            conditions,
            models=models,
            engine=engine,
            policy=policy,
            crosscheck=crosscheck,
            steps=steps,
        )
        if len(found):
            before = [chosen["model_steps"]] if chosen else []
            factorial = {
                "factorial_models": found,
                "model_steps": pd.concat([*before, steps.table()], ignore_index=True),
            }
    by_prompt = prompts[prompts["flagged"].fillna(False).astype(bool)].groupby("prompt", sort=True)
    flagged = {str(prompt): set(rows["participant"]) for prompt, rows in by_prompt}
    rated = [rows for (measure, _, _), rows in entered.items() if measure == "z"]
    return {
        "exclusions": ledger.table(),
        "participants": people,
        "participant_prompts": prompts,
        "rating_scores": scores,
        "region_times": measured,
        "condition_means": condition_means(scores, measured),
        "rating_counts": rating_counts(scores),
        "reading_curves": reading_curves(readings, items, min_rt=min_rt, max_rt=max_rt),
        "reliability": reliabilities(scores, seed=seed),
        "noise_ceilings": noise_ceilings(scores, seed=seed),
        "choice_agreement": choice_agreement(responses, items),
        "phenomenon_models": tested["phenomenon"],
        "paradigm_models": tested["paradigm"],
        "families": families(tested, entered),
        **chosen,
        **({"ordinal_models": ordinal_models(pd.concat(rated, ignore_index=True))} if ordinal and rated else {}),
        **factorial,
        "sensitivity": sensitivity_grid(
            scores, readings, items, flagged=flagged, min_rt=min_rt, max_rt=max_rt, engine=engine
        ),
    }
