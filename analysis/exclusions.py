"""Who and what is left out: declared rules in a fixed order, and what is known of each participant."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gardenpath.study import DataError, ExcludeSection, check

from .contrasts import CODES, minimal_pairs
from .evaluation import wilson
from .ledger import Ledger, complete, in_band
from .measures import RATED

GOOD, BAD = CODES
LEVEL = 0.05  # of the Mann-Whitney test that marks a participant
MINUTE = 60.0


def left_in(
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    sessions: pd.DataFrame,
    items: pd.DataFrame,
    *,
    demographics: pd.DataFrame | None = None,
    min_rt: float = 100,
    max_rt: float = 3000,
    exclude: ExcludeSection | None = None,
    ledger: Ledger | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the readings and responses that the rules leave in, and the table `participants`, which says who went and why.

    The order: sessions (not complete, previews, marked by the experimenter, duration, aborted trials), then participants
    (declared answers about themselves, attention, catch sentences, comprehension, reading times out of the band), then
    the reading times of flagged trials. Nobody is left out by the means of conditions, nor by the Mann-Whitney
    flag, which is circular with the effect.
    """
    ledger, rules = ledger or Ledger(), exclude or ExcludeSection()
    readings, responses = complete(sessions, ledger, readings=readings, responses=responses)
    counted = sessions[sessions["session"].isin({*readings["session"], *responses["session"]})]
    lasting = _sessions_left(counted, rules)
    for rule, kept in lasting.items():
        readings, responses = _only(rule, "session", set(counted.loc[kept, "session"]), readings, responses, ledger)
    counted = counted[counted["session"].isin({*readings["session"], *responses["session"]})]
    people = participants(readings, responses, counted, items, min_rt=min_rt, max_rt=max_rt)
    people["excluded"] = None
    for rule, keep in _people_left(people, rules, demographics).items():
        people.loc[people["excluded"].isna() & ~keep, "excluded"] = rule
        readings, responses = _only(
            rule, "participant", set(people.loc[keep, "participant"]), readings, responses, ledger
        )
    if people["excluded"].notna().all() and len(people):
        told = "; ".join(f"{n} by {rule!r}" for rule, n in people["excluded"].value_counts(sort=False).items())
        raise DataError(
            f"the rules of exclusion leave none of {len(people)} participants: {told}; look at [analysis.exclude]"
        )
    for flag in rules.flags:
        trial = [readings["session"], readings["trial"]]
        marked = _flagged(readings["flags"], flag).groupby(trial).transform("any").astype(bool)
        [readings] = ledger.step(f"a word of the sentence is flagged {flag}", readings=(readings, ~marked))
    return readings, responses, check(people, "participants")


def _only(
    rule: str, by: str, kept: set[str], readings: pd.DataFrame, responses: pd.DataFrame, ledger: Ledger
) -> tuple[pd.DataFrame, pd.DataFrame]:
    parts = {"readings": readings, "responses": responses}
    readings, responses = ledger.step(rule, **{name: (frame, frame[by].isin(kept)) for name, frame in parts.items()})
    return readings, responses


def _sessions_left(sessions: pd.DataFrame, rules: ExcludeSection) -> dict[str, "pd.Series[bool]"]:
    """Return the declared rules about sessions, each with the sessions that keep it."""
    left: dict[str, pd.Series[bool]] = {}
    minutes = _minutes(sessions)
    if rules.min_minutes:
        left[f"session shorter than {rules.min_minutes:g} minutes"] = ~(minutes < rules.min_minutes)
    if rules.max_minutes is not None:
        left[f"session longer than {rules.max_minutes:g} minutes"] = ~(minutes > rules.max_minutes)
    if rules.aborted is not None:
        left[f"session with more than {rules.aborted} trials broken off"] = sessions["aborted"] <= rules.aborted
    return left


def _people_left(
    people: pd.DataFrame, rules: ExcludeSection, demographics: pd.DataFrame | None
) -> dict[str, "pd.Series[bool]"]:
    """Return the rules about participants, each with those who keep it; who was not asked keeps a rule."""
    left = _answered(people["participant"], rules.demographics, demographics)
    for name, least, what in (
        ("attention", rules.attention, "attention items answered as asked"),
        ("catch", rules.catch, "catch sentences told apart"),
    ):
        if least:
            left[f"less than {100 * least:g}% of {what}"] = ~(people[name] < least)
    if rules.accuracy:
        rule = f"less than {100 * rules.accuracy:g}% of questions answered right, of {rules.questions} or more"
        left[rule] = ~((people["accuracy"] < rules.accuracy) & (people["questions"] >= rules.questions))
    if rules.out_of_band < 1:
        rule = f"reading times out of the band in more than {100 * rules.out_of_band:g}% of target trials"
        left[rule] = ~(people["out_of_band"] > rules.out_of_band)
    return left


def _answered(
    people: pd.Series, accepted: Mapping[str, list[str]], demographics: pd.DataFrame | None
) -> dict[str, "pd.Series[bool]"]:
    if not accepted:
        return {}
    if demographics is None:
        raise DataError(
            f"analysis.exclude.demographics names {', '.join(accepted)}, but there is no table demographics"
        )
    known = list(demographics["field"].unique())
    faults = [
        f"analysis.exclude.demographics names {name!r}, which is not in table demographics; expected one of {', '.join(known)}"
        for name in accepted
        if name not in known
    ]
    if faults:
        raise DataError(faults)
    left = {}
    for name, answers in accepted.items():
        given = demographics[demographics["field"] == name]
        fits = given["answer"].str.strip().str.casefold().isin([answer.strip().casefold() for answer in answers])
        left[f"{name} is not {' or '.join(answers)}"] = people.isin(set(given.loc[fits, "participant"]))
    return left


def participants(
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    sessions: pd.DataFrame,
    items: pd.DataFrame,
    *,
    min_rt: float = 100,
    max_rt: float = 3000,
) -> pd.DataFrame:
    """Return what is known of each participant: duration, ratings, answers, catch sentences, reading times out of the band.

    `flagged`: a two-sided Mann-Whitney test of the ratings of grammatical against ungrammatical targets finds no
    difference (p >= .05), or one the wrong way round; exact without ties, else normal with correction for ties and
    continuity, as R's wilcox.test. `auc` = U / (n1 n2) is the share of pairs of sentences that are rated as they should be.
    """
    people = pd.DataFrame({"participant": sorted({*sessions["participant"]})})
    by = sessions.assign(minutes=_minutes(sessions)).groupby("participant")
    sittings = by.agg(sessions=("session", "size"), minutes=("minutes", "sum"), aborted=("aborted", "sum"))
    rated = responses[responses["task"] == "rating"]
    rated = rated.assign(rating=pd.to_numeric(rated["response"], errors="coerce").astype("float64"))
    pairs = rated["paradigm"].isin(minimal_pairs(items))
    targets = rated[(rated["role"] == "target") & pairs]
    asked = (responses["task"] == "question") & (responses["role"] != "practice")
    parts: list[pd.DataFrame] = [
        sittings,
        rated[rated["role"].isin(RATED)]
        .groupby("participant")
        .agg(ratings=("rating", "size"), mean_rating=("rating", "mean")),
        _each(targets, _mann_whitney),
        _each(rated[(rated["role"] == "catch") & pairs], lambda part: {"catch": _auc(part)}),
        _share(responses[responses["role"] == "attention"], "attention_items", "attention"),
        _share(responses[asked], "questions", "accuracy"),
        _out_of_band(readings, min_rt, max_rt),
    ]
    for part in parts:
        people = people.merge(part, left_on="participant", right_index=True, how="left", validate="1:1")
    for name in ("ratings", "grammatical", "ungrammatical", "attention_items", "questions"):
        people[name] = people.get(name, pd.Series(0, index=people.index)).fillna(0)
    low, high = wilson(people["accuracy"] * people["questions"], people["questions"].astype("float64"))
    people = people.assign(accuracy_low=low, accuracy_high=high, excluded=None)
    return check(people.reindex(columns=PARTICIPANTS), "participants")


PARTICIPANTS = [
    "participant", "sessions", "minutes", "aborted", "ratings", "mean_rating", "grammatical", "ungrammatical", "u", "auc", "u_p",
    "flagged", "catch", "attention_items", "attention", "questions", "accuracy", "accuracy_low", "accuracy_high",
    "out_of_band", "excluded",
]  # fmt: skip


def _minutes(sessions: pd.DataFrame) -> "pd.Series[float]":
    started, finished = (pd.to_datetime(sessions[name], utc=True, format="ISO8601") for name in ("started", "finished"))
    return (finished - started).dt.total_seconds() / MINUTE


def _each(rows: pd.DataFrame, measure: object) -> pd.DataFrame:
    assert callable(measure)
    needed = rows[["participant", "condition", "rating"]]
    return pd.DataFrame.from_dict({name: measure(part) for name, part in needed.groupby("participant")}, orient="index")


def _sides(part: pd.DataFrame) -> tuple[Any, Any]:
    """Return the ratings of grammatical and of ungrammatical sentences, as arrays."""
    rating = part["rating"].to_numpy(dtype="float64")
    condition = part["condition"].to_numpy(dtype=object)
    good, bad = (rating[(condition == name) & (rating == rating)] for name in (GOOD, BAD))
    return good, bad


def _mann_whitney(part: pd.DataFrame) -> dict[str, object]:
    from scipy.stats import mannwhitneyu

    good, bad = _sides(part)
    found: dict[str, object] = {"grammatical": len(good), "ungrammatical": len(bad)}
    if not len(good) or not len(bad):
        return found
    ties = len({*good, *bad}) < len(good) + len(bad)
    u, p = mannwhitneyu(good, bad, alternative="two-sided", method="asymptotic" if ties else "exact")
    p = 1.0 if pd.isna(p) else float(p)  # all ratings alike: no difference at all
    auc = float(u) / (len(good) * len(bad))
    return {**found, "u": float(u), "auc": auc, "u_p": p, "flagged": p >= LEVEL or auc <= 0.5}


def _auc(part: pd.DataFrame) -> float:
    """Return the share of (grammatical, ungrammatical) pairs in which the grammatical one is rated higher, ties half."""
    good, bad = (side[:, None] for side in _sides(part))
    if not len(good) or not len(bad):
        return float("nan")
    return float(((good > bad.T) + 0.5 * (good == bad.T)).mean())


def _share(rows: pd.DataFrame, count: str, share: str) -> pd.DataFrame:
    judged = rows[rows["correct"].notna()].assign(correct=lambda part: part["correct"].astype("float64"))
    return judged.groupby("participant")["correct"].agg(["size", "mean"]).set_axis([count, share], axis=1)


def _out_of_band(readings: pd.DataFrame, min_rt: float, max_rt: float) -> pd.DataFrame:
    words = readings[(readings["role"] == "target") & (readings["region"] == "critical").fillna(False)]
    out = words.assign(out=words["rt"].notna() & ~in_band(words["rt"], min_rt, max_rt))
    trials = out.groupby(["participant", "session", "trial"])["out"].any()
    return trials.groupby("participant").mean().to_frame("out_of_band")


def _flagged(flags: pd.Series, flag: str) -> "pd.Series[bool]":
    marked = [value for value in flags.dropna().unique() if flag in value.split()]
    return flags.isin(marked).astype(bool)
