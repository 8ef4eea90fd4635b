"""Who and what is left out: declared rules in a fixed order, and what is known of each participant."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, ExcludeSection, check
from gardenpath.study.responses import RATING_TASKS
from gardenpath.study.table_files import take_tables

from ..exclusion_log import ExclusionLog, is_within_cutoffs, select_complete_sessions
from ..grammatical_status import GRAMMATICALITY_CODES, find_minimal_pair_paradigms
from ..intervals import wilson_interval
from ..measuring.maze_errors import build_first_choice_rule, drop_errors
from ..measuring.ratings_and_times import MAX_LISTED_FAULTS, RATED_ROLES, transform_ratings
from ..prompts import drop_missing_responses, filter_prompt, format_prompt_suffix, list_prompts

GRAMMATICAL, UNGRAMMATICAL = GRAMMATICALITY_CODES
ALPHA = 0.05  # of the Mann-Whitney test that marks a participant
SECONDS_PER_MINUTE = 60.0
PROMPT_KEY = ["participant", "task", "prompt"]

log = logging.getLogger("gardenpath")
NONE_LEFT_MESSAGE = "the exclusion rules leave none of"
TOO_FEW_RESPONSES_NOTE = "; nobody answered so many"  # at the end of a rule that could exclude nobody


def apply_exclusions(
    readings: pd.DataFrame,
    responses: pd.DataFrame,
    sessions: pd.DataFrame,
    items: pd.DataFrame,
    *,
    demographics: pd.DataFrame | None = None,
    replacements: pd.DataFrame | None = None,
    min_rt: float = 100,
    max_rt: float = 3000,
    exclude: ExcludeSection | None = None,
    exclusion_log: ExclusionLog | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the readings and responses that the rules leave in, and the tables `participants`, which says who went and why,
    and `participant_prompts`.

    The order: sessions (not complete, previews, marked by the experimenter), items (replaced, or declared), sessions again
    (duration, aborted trials, declared columns), then answers that did not come, then participants (declared answers about
    themselves, attention, catch sentences under any prompt, comprehension over all questions, times outside the cut-offs, first
    choices in Maze), then the reading times of flagged trials. Which words' times count in Maze is a matter of the measure (see
    `drop_errors`). Nobody is left out by the means of conditions, nor by the Mann-Whitney flag, which is circular with the effect.
    """
    exclusion_log, rules = exclusion_log or ExclusionLog(), exclude or ExcludeSection()
    readings, responses = select_complete_sessions(
        sessions, exclusion_log, include_models=includes_models(rules), readings=readings, responses=responses
    )
    counted_sessions = sessions[sessions["session"].isin({*readings["session"].unique(), *responses["session"].unique()})]
    for rule, left_out in _find_excluded_items(items, rules, replacements).items():
        parts = {name: (part, ~part["item"].isin(left_out)) for name, part in (("readings", readings), ("responses", responses))}
        readings, responses = exclusion_log.apply_rule(rule, **parts)
    if readings.empty and responses.empty and len(counted_sessions):
        raise DataError(f"{NONE_LEFT_MESSAGE} {items['item'].nunique()} items; check [analysis.exclude.items]")
    session_rules = _build_session_rules(counted_sessions, rules)
    for rule, kept in session_rules.items():
        readings, responses = _keep_only(
            rule, "session", set(counted_sessions.loc[kept, "session"]), readings, responses, exclusion_log
        )
        if readings.empty and responses.empty:
            raise DataError(
                f"{NONE_LEFT_MESSAGE} {len(counted_sessions)} sessions: the last go by {rule!r}; check [analysis.exclude]"
            )
    counted_sessions = counted_sessions[
        counted_sessions["session"].isin({*readings["session"].unique(), *responses["session"].unique()})
    ]
    participant_rows = build_participants_table(readings, responses, counted_sessions, min_rt=min_rt, max_rt=max_rt)
    prompts = build_participant_prompts_table(responses, items)
    responses = drop_missing_responses(responses, exclusion_log)
    participant_rows["exclusion_rule"] = None
    maze_rule = build_first_choice_rule(readings, participant_rows["participant"], rules.min_maze_accuracy)
    for rule, keep in (_build_participant_rules(participant_rows, prompts, rules, demographics) | maze_rule).items():
        participant_rows.loc[participant_rows["exclusion_rule"].isna() & ~keep, "exclusion_rule"] = rule
        readings, responses = _keep_only(
            rule, "participant", set(participant_rows.loc[keep, "participant"]), readings, responses, exclusion_log
        )
    if participant_rows["exclusion_rule"].notna().all() and len(participant_rows):
        reasons = "; ".join(f"{n} by {rule!r}" for rule, n in participant_rows["exclusion_rule"].value_counts(sort=False).items())
        raise DataError(f"{NONE_LEFT_MESSAGE} {len(participant_rows)} participants: {reasons}; check [analysis.exclude]")
    for flag in rules.flags:
        trial = [readings["session"], readings["trial"]]
        marked = _has_flag(readings["quality_flags"], flag).groupby(trial).transform("any").astype(bool)
        [readings] = exclusion_log.apply_rule(f"a word of the sentence is flagged {flag}", readings=(readings, ~marked))
    return readings, responses, check(participant_rows, "participants"), prompts


def apply_study_exclusions(
    tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, exclusion_log: ExclusionLog | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what `apply_exclusions` does of a study's tables, by its settings."""
    min_rt, max_rt = settings.rt_cutoffs
    return apply_exclusions(
        *take_tables(tables, "readings", "responses", "sessions", "items"),
        demographics=tables.get("demographics"),
        replacements=tables.get("replacements"),
        min_rt=min_rt,
        max_rt=max_rt,
        exclude=settings.exclude,
        exclusion_log=exclusion_log,
    )


def drop_far_times(readings: pd.DataFrame, max_sd: float, after_error: int | str) -> pd.DataFrame:
    """Return the readings without the times of targets whose logarithm is more than `max_sd` standard deviations from the mean of
    the participant's; in Maze, mean and s.d. are those of the times that count (see `drop_errors`).

    >>> readings = pd.DataFrame({"participant": "P1", "role": "target", "rt": [300.0, 310, 290, 300, 9000], "correct": None})
    >>> drop_far_times(readings, 1.5, 0)["rt"].tolist()
    [300.0, 310.0, 290.0, 300.0, nan]
    """
    import numpy as np

    counted = drop_errors(readings, after_error)
    read = counted[(counted["role"] == "target") & (counted["rt"] > 0)]
    log_rt = pd.Series(np.log(read["rt"].to_numpy(dtype="float64")), index=read.index)
    by = log_rt.groupby(read["participant"])
    is_far = (log_rt - by.transform("mean")).abs() > max_sd * by.transform("std")
    return readings.assign(rt=readings["rt"].mask(readings.index.isin(read.index[is_far.fillna(False)])))


def includes_models(rules: ExcludeSection) -> bool:
    """Whether sessions of language models are analysed beside people's: where `exclude.sessions` names their source."""
    return "model" in rules.sessions.get("source", [])


def _keep_only(
    rule: str, by: str, kept: set[str], readings: pd.DataFrame, responses: pd.DataFrame, exclusion_log: ExclusionLog
) -> tuple[pd.DataFrame, pd.DataFrame]:
    parts = {"readings": readings, "responses": responses}
    readings, responses = exclusion_log.apply_rule(rule, **{name: (frame, frame[by].isin(kept)) for name, frame in parts.items()})
    return readings, responses


def _find_excluded_items(items: pd.DataFrame, rules: ExcludeSection, replacements: pd.DataFrame | None) -> dict[str, list[str]]:
    """Return the items whose data do not count, by the rule that says why."""
    _require_known(rules.items, "items", list(items["item"].unique()))
    reasons = dict.fromkeys([] if replacements is None else replacements["replaces"], "replaced by another item")
    reasons |= rules.items
    by_rule: dict[str, list[str]] = {}
    for item, reason in reasons.items():
        by_rule.setdefault(f"item left out: {reason}", []).append(item)
    return by_rule


def _build_session_rules(sessions: pd.DataFrame, rules: ExcludeSection) -> dict[str, "pd.Series[bool]"]:
    """Return the declared rules about sessions, each with the sessions that keep it."""
    left: dict[str, pd.Series[bool]] = {}
    minutes = _compute_minutes(sessions)
    if rules.min_minutes:
        left[f"session shorter than {rules.min_minutes:g} minutes"] = ~(minutes < rules.min_minutes)
    if rules.max_minutes is not None:
        left[f"session longer than {rules.max_minutes:g} minutes"] = ~(minutes > rules.max_minutes)
    if rules.max_aborted is not None:
        left[f"session with more than {rules.max_aborted} trials broken off"] = sessions["n_aborted_trials"] <= rules.max_aborted
    for flag in rules.session_flags:
        left[f"session flagged {flag}"] = ~_has_flag(sessions["session_flags"], flag)
    _require_known(rules.sessions, "sessions", list(sessions.columns))
    for name, accepted in rules.sessions.items():
        left[f"session whose {name} is not {' or '.join(accepted)}"] = _is_accepted(sessions[name], accepted)
    return left


def _build_participant_rules(
    participants: pd.DataFrame, prompts: pd.DataFrame, rules: ExcludeSection, demographics: pd.DataFrame | None
) -> dict[str, "pd.Series[bool]"]:
    """Return the rules about participants, each with those who keep it; who was not asked keeps a rule."""
    left = _build_demographic_rules(participants["participant"], rules.demographics, demographics)
    if rules.min_attention:
        rule = f"less than {100 * rules.min_attention:g}% of attention items answered as asked"
        left[rule] = ~(participants["attention"] < rules.min_attention)
    if rules.min_catch:
        rule, rated = (f"less than {100 * rules.min_catch:g}% of catch sentences told apart", prompts.dropna(subset="catch_auc"))
        for prompt in list_prompts(rated):
            part = filter_prompt(rated, prompt)
            low = part.loc[part["catch_auc"] < rules.min_catch, "participant"]
            left[rule + format_prompt_suffix(prompt)] = ~participants["participant"].isin(low)
    if rules.min_accuracy:
        rule = f"less than {100 * rules.min_accuracy:g}% of at least {rules.min_questions} questions answered correctly"
        most = int(participants["n_questions"].max()) if len(participants) else 0
        if 0 < most < rules.min_questions:
            rule += TOO_FEW_RESPONSES_NOTE
            log.warning(
                "analysis.exclude.min_questions is %d, and nobody answered more than %d: the rule about accuracy excludes nobody;"
                " state a smaller number",
                rules.min_questions,
                most,
            )
        left[rule] = ~((participants["accuracy"] < rules.min_accuracy) & (participants["n_questions"] >= rules.min_questions))
    if rules.max_outside_cutoffs < 1:
        rule = f"reading times outside the cut-offs in more than {100 * rules.max_outside_cutoffs:g}% of target trials"
        left[rule] = ~(participants["share_outside_cutoffs"] > rules.max_outside_cutoffs)
    return left


def _build_demographic_rules(
    participants: pd.Series, accepted: Mapping[str, list[str]], demographics: pd.DataFrame | None
) -> dict[str, "pd.Series[bool]"]:
    if not accepted:
        return {}
    if demographics is None:
        raise DataError(f"analysis.exclude.demographics names {', '.join(accepted)}, but there is no table demographics")
    _require_known(accepted, "demographics", list(demographics["question"].unique()))
    left = {}
    for name, accepted_responses in accepted.items():
        rows = demographics[demographics["question"] == name]
        fits = _is_accepted(rows["response"], accepted_responses)
        left[f"{name} is not {' or '.join(accepted_responses)}"] = participants.isin(set(rows.loc[fits, "participant"]))
    return left


def _require_known(named: Iterable[str], table: str, known: list[str]) -> None:
    """Raise `DataError` for what is asked of a table and not in it."""
    faults = [
        f"analysis.exclude.{table} names {name!r}, which is not in table {table}; expected one of "
        f"{', '.join(known[:MAX_LISTED_FAULTS])}{', ...' if len(known) > MAX_LISTED_FAULTS else ''}"
        for name in named
        if name not in known
    ]
    if faults:
        raise DataError(faults)


def _is_accepted(values: pd.Series, accepted: list[str]) -> "pd.Series[bool]":
    """Return whether each value is accepted, upper and lower case alike; an empty cell is not."""
    texts = values.astype("string").str.strip().str.casefold()
    return texts.isin([answer.strip().casefold() for answer in accepted]).astype(bool)


def build_participants_table(
    readings: pd.DataFrame, responses: pd.DataFrame, sessions: pd.DataFrame, *, min_rt: float = 100, max_rt: float = 3000
) -> pd.DataFrame:
    """Return what is known of each participant: duration, attention, answers to all questions, times outside the cut-offs."""
    responses = drop_missing_responses(responses)
    participant_rows = pd.DataFrame({"participant": sorted({*sessions["participant"]})})
    by = sessions.assign(minutes=_compute_minutes(sessions)).groupby("participant")
    session_counts = by.agg(
        n_sessions=("session", "size"), minutes=("minutes", "sum"), n_aborted_trials=("n_aborted_trials", "sum")
    )
    asked = (responses["task"] == "question") & (responses["role"] != "practice")
    parts: list[pd.DataFrame] = [
        session_counts.reset_index(),
        _compute_share_correct(responses[responses["role"] == "attention"], ["participant"], "n_attention_items", "attention"),
        _compute_share_correct(responses[asked], ["participant"], "n_questions", "accuracy"),
        _compute_share_outside_cutoffs(readings, min_rt, max_rt),
    ]
    return _join_parts(participant_rows, parts, ["participant"], "participants", ("n_attention_items", "n_questions"))


def build_participant_prompts_table(responses: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each participant's answers to each prompt: how many came, how many were right, and of ratings
    how they tell sentences apart.

    `flagged`: a two-sided Mann-Whitney test of the ratings of grammatical against ungrammatical targets finds no
    difference (p >= .05), or one the wrong way round; exact without ties, else normal with correction for ties and
    continuity, as R's wilcox.test. `auc` = U / (n1 n2) is the share of pairs of sentences that are rated as they should be.
    """
    asked = responses[(responses["role"] != "practice") & (responses["task"] != "reading")]
    response_counts = asked.assign(came=asked["response"].notna(), none=asked["response"].isna()).groupby(
        PROMPT_KEY, as_index=False
    )
    given_responses = drop_missing_responses(asked)
    is_rating = given_responses["task"].isin(RATING_TASKS)
    rated = given_responses[is_rating]
    rated = rated.assign(rating=transform_ratings(rated))
    pairs = rated["paradigm"].isin(find_minimal_pair_paradigms(items))
    means = rated[rated["role"].isin(RATED_ROLES)].groupby(PROMPT_KEY, as_index=False).agg(mean_rating=("rating", "mean"))
    parts = [
        means,
        _measure_each_prompt(rated[(rated["role"] == "target") & pairs], _test_mann_whitney),
        _measure_each_prompt(rated[(rated["role"] == "catch") & pairs], lambda part: {"catch_auc": _auc(part)}),
        _compute_share_correct(given_responses[~is_rating], PROMPT_KEY, "n_scored_responses", "accuracy"),
    ]
    counted = response_counts.agg(n_responses=("came", "sum"), n_missing_responses=("none", "sum"))
    return _join_parts(
        counted, parts, PROMPT_KEY, "participant_prompts", ("n_grammatical", "n_ungrammatical", "n_scored_responses")
    )


def _join_parts(
    table: pd.DataFrame, parts: Iterable[pd.DataFrame], by: list[str], name: str, counts: tuple[str, ...]
) -> pd.DataFrame:
    """Return the declared table `name` of these parts, with the interval of `accuracy`; a count that nothing makes is 0."""
    for part in parts:
        table = table.merge(part, on=by, how="left", validate="1:1")
    for count in counts:
        table[count] = table.get(count, pd.Series(0, index=table.index)).fillna(0)
    judged = table[counts[-1]].astype("float64")
    low, high = wilson_interval(table["accuracy"] * judged, judged)
    table = table.assign(accuracy_low=low, accuracy_high=high)
    return check(table.reindex(columns=TABLES[name].column_names), name)


def _compute_minutes(sessions: pd.DataFrame) -> "pd.Series[float]":
    started, finished = (_parse_times(sessions, name) for name in ("started", "finished"))
    return (finished - started).dt.total_seconds() / SECONDS_PER_MINUTE


def _parse_times(sessions: pd.DataFrame, name: str) -> "pd.Series[pd.Timestamp]":
    times = pd.to_datetime(sessions[name], utc=True, format="ISO8601", errors="coerce")
    unread = sessions[times.isna() & sessions[name].notna()]
    for row in unread.head(1).to_dict("records"):
        raise DataError(
            f"table sessions: column {name!r} of session {row['session']} is {row[name]!r} ({len(unread)} rows), "
            "expected an ISO 8601 time such as 2026-03-01T12:30:05Z"
        )
    return times


def _measure_each_prompt(rows: pd.DataFrame, measure: Callable[[pd.DataFrame], dict[str, object]]) -> pd.DataFrame:
    needed = rows[[*PROMPT_KEY, "condition", "rating"]]
    measures = [dict(zip(PROMPT_KEY, names, strict=True)) | measure(part) for names, part in needed.groupby(PROMPT_KEY)]
    return pd.DataFrame(measures) if measures else pd.DataFrame(columns=PROMPT_KEY)


def _split_by_grammaticality(part: pd.DataFrame) -> tuple[Any, Any]:
    """Return the ratings of grammatical and of ungrammatical sentences, as arrays."""
    rating = part["rating"].to_numpy(dtype="float64")
    condition = part["condition"].to_numpy(dtype=object)
    good, bad = (rating[(condition == name) & (rating == rating)] for name in (GRAMMATICAL, UNGRAMMATICAL))
    return good, bad


def _test_mann_whitney(part: pd.DataFrame) -> dict[str, object]:
    good, bad = _split_by_grammaticality(part)
    counts: dict[str, object] = {"n_grammatical": len(good), "n_ungrammatical": len(bad)}
    if not len(good) or not len(bad):
        return counts
    all_ranks = pd.Series([*good, *bad]).rank()
    u = float(all_ranks[: len(good)].sum()) - len(good) * (len(good) + 1) / 2
    p, auc = _mann_whitney_p(u, len(good), len(bad), all_ranks), u / (len(good) * len(bad))
    return {**counts, "u_statistic": u, "auc": auc, "p": p, "flagged": p >= ALPHA or auc <= 0.5}


def _mann_whitney_p(u: float, good: int, bad: int, ranks: "pd.Series[float]") -> float:
    """Return the two-sided p of U of so many against so many, of these ranks."""
    from scipy import special

    n, tied = good + bad, ranks.value_counts().to_numpy()
    if len(tied) == n:
        from scipy.stats import mannwhitneyu  # imported in half a second, and ratings without ties are rare

        return float(mannwhitneyu(ranks[:good], ranks[good:], alternative="two-sided", method="exact").pvalue)
    if len(tied) == 1:
        return 1.0  # all ratings alike: no difference at all
    spread = (good * bad / 12 * ((n + 1) - (tied**3 - tied).sum() / (n * (n - 1)))) ** 0.5
    above = max(u, good * bad - u) - good * bad / 2 - 0.5
    return min(1.0, 2 * float(special.ndtr(-above / spread)))


def _auc(part: pd.DataFrame) -> float:
    """Return the share of (grammatical, ungrammatical) pairs in which the grammatical one is rated higher, ties half."""
    good, bad = (side[:, None] for side in _split_by_grammaticality(part))
    if not len(good) or not len(bad):
        return float("nan")
    return float(((good > bad.T) + 0.5 * (good == bad.T)).mean())


def _compute_share_correct(rows: pd.DataFrame, by: list[str], count: str, share: str) -> pd.DataFrame:
    judged = rows[rows["correct"].notna()].assign(correct=lambda part: part["correct"].astype("float64"))
    return judged.groupby(by, as_index=False)["correct"].agg(["size", "mean"]).set_axis([*by, count, share], axis=1)


def _compute_share_outside_cutoffs(readings: pd.DataFrame, min_rt: float, max_rt: float) -> pd.DataFrame:
    words = readings[(readings["role"] == "target") & (readings["region"] == "critical").fillna(False)]
    out = words.assign(out=words["rt"].notna() & ~is_within_cutoffs(words["rt"], min_rt, max_rt))
    trials = out.groupby(["participant", "session", "trial"])["out"].any()
    return trials.groupby("participant").mean().rename("share_outside_cutoffs").reset_index()


def _has_flag(flags: pd.Series, flag: str) -> "pd.Series[bool]":
    marked = [value for value in flags.dropna().unique() if flag in value.split()]
    return flags.isin(marked).astype(bool)
