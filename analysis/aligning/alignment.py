"""Reading times beside surprisal: each word read, with its score and those of the words around it."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, ExcludeSection, MissingExtra, check
from gardenpath.study.config import NO_RT_CUTOFFS
from gardenpath.study.table_files import take_tables
from gardenpath.study.table_sets import TableSet

from ..cleaning.exclusions import apply_study_exclusions
from ..comparing.rating_correlation import compute_rating_correlations
from ..engines.formulas import parse_formula
from ..engines.r_code import quote_text
from ..exclusion_log import ExclusionLog, is_within_cutoffs, select_complete_sessions
from ..measuring.maze_errors import drop_errors
from ..measuring.ratings_and_times import RATED_ROLES, select_declared_columns
from ..modelling.additive import curves
from ..modelling.mixed_models import COEFFICIENTS, Fit, checked, columns_of, failed, fit, fit_stepwise
from ..modelling.policies import NotFitted, steps_table
from .alignment_check import compute_alignment_check, compute_lag_profile, find_failed_models
from .held_out_likelihood import (
    build_unfitted_rows,
    compute_delta_comparisons,
    compute_delta_log_likelihood,
    compute_held_out_clusters,
)
from .predictors import (
    MODEL_KEY,
    WORD_KEY,
    add_neighbouring_predictors,
    compute_collinearity,
    format_formula,
    get_random_intercepts,
    index_by_term,
    is_word_means,
    list_lagged_columns,
    list_model_terms,
    refuse_words,
    split_by_model,
)

log = logging.getLogger("gardenpath")

SURPRISAL_TERM = "surprisal"
WORD_MEANS_TABLE = "word_means"  # in place of readings and sessions
NUMBERED_SOURCE = "table"  # the source of sessions whose words have the number that a column gives them, texts or none
EXCLUSION_TABLES = ("responses", "items")  # what the rules of exclusion need beside readings and sessions
MAX_LAGS = 3  # lags that the table has columns for


@dataclass(frozen=True, kw_only=True)
class AlignmentOptions:
    """How reading times and surprisal are aligned and modelled; `settings` are what study.toml states under [analysis].

    `lags`: words before whose surprisal enters too; `edges` keeps the first and the last word of each sentence; `slopes` lets the
    effect of surprisal vary over participants; `ignore_alignment_failure` fits models though the alignment test failed; `folds_by`
    (item, story, participant or row) is what is held out together, in `folds` parts; `seed` deals these, flips and bootstraps.
    `predictors` are columns of the table surprisal that take the place of surprisal, each as a model of its own ("gpt2, renyi_2").

    `lags` outside 0 to 3 is a `ValueError`.

    >>> AlignmentOptions(folds_by="story").folds
    10
    >>> AlignmentOptions(lags=4)
    Traceback (most recent call last):
    ...
    ValueError: lags is 4; expected 0 to 3
    """

    settings: AnalysisSection = field(default_factory=AnalysisSection)
    lags: int = 2
    edges: bool = False
    slopes: bool = True
    ignore_alignment_failure: bool = False
    folds_by: str = "item"
    folds: int = 10
    seed: int = 1
    predictors: tuple[str, ...] = (SURPRISAL_TERM,)

    def __post_init__(self) -> None:
        if not 0 <= self.lags <= MAX_LAGS:
            raise ValueError(f"lags is {self.lags}; expected 0 to {MAX_LAGS}")


def align(tables: Mapping[str, pd.DataFrame], options: AlignmentOptions | None = None) -> dict[str, pd.DataFrame]:
    """Return the words read beside their scores, a test of that, models by surprisal, and their gain on held-out readings.

    `tables` are readings, sessions and words of `collect`, and surprisal of `score`. In place of readings and sessions there may be
    word_means: their models have random effects of items (texts) alone, and aligned_means stands in place of aligned. With
    sentence_scores of `score` and rating_scores of `analyse` (and its noise_ceilings), ratings are correlated with scores too.
    Where nothing was read word by word, that is all there is.
    With responses and items (demographics, replacements) of `collect`, whoever and whatever `analyse` leaves out is left out here.

    The tables, by name: aligned, alignment_check, lag_profile, collinearity, alignment_models, surprisal_effects,
    held_out_clusters, delta_log_likelihood, delta_comparisons, alignment_exclusions; rating_correlations.

    Each word read in a target or filler trial that counts stands beside its surprisal (bits), length and
    Zipf frequency, and those of the words around it (spillover: up to `lags` words before enter the models); then one
    mixed model a language model. The first and the last word of a sentence are left out unless `edges`, and a word
    with fewer than `lags` words before it always. A reading without a score, or whose text differs from what was
    scored, is a `DataError`; so is one without a text, unless its session is from a table, which states words by number.

    With another `policy` than declared, slopes of surprisal are chosen by it, and alignment_steps has each fit on the way;
    with `crosscheck`, the models are refitted in the other engine. With `gam`, gam_terms and smooths have curves of surprisal
    in place of lines, by R's mgcv.

    A language model by which reading times seem to stand beside the wrong words (`compute_alignment_check`) is not fitted,
    unless `despite_failure`; its rows say so.

    Words that a token of some language model joins, or whose first token its protocol does not score, have no surprisal
    of their own. They and the words after them are left out for every language model, so that all are fitted to the
    same readings, and counted. Their times are not summed: the log of two words' time, with two lengths and
    frequencies, would stand among words as an outlier of its own making.

    >>> align({"readings": pd.DataFrame(), "sessions": pd.DataFrame(), "words": pd.DataFrame()})
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: table surprisal is missing; gardenpath score writes it
    """
    options = options or AlignmentOptions()
    settings, lags, engine = options.settings, options.lags, options.settings.engine
    correlation_tables = _correlate_ratings(tables, settings.rating_measure, options.seed)
    if correlation_tables and "readings" in tables and not tables["readings"]["role"].isin(RATED_ROLES).any():
        log.warning("table readings: no word of a target or filler trial; scores are held against ratings alone")
        return TableSet(correlation_tables)
    aligned, exclusion_log = align_words(tables, options)
    alignment_check = compute_alignment_check(aligned, engine=engine)
    withheld = {} if options.ignore_alignment_failure else find_failed_models(alignment_check)
    fitted = compute_alignment_models(
        aligned,
        lags=lags,
        slopes=options.slopes,
        engine=engine,
        withheld=withheld,
        policy=settings.policy,
        crosscheck=settings.crosscheck,
    )
    if settings.policy == "declared":
        del fitted["alignment_steps"]
    return TableSet(
        {
            _get_table_name(aligned): aligned,
            "alignment_check": alignment_check,
            "lag_profile": compute_lag_profile(aligned, engine=engine),
            "collinearity": compute_collinearity(aligned, lags=lags) if len(aligned) else _build_empty_table("collinearity"),
            **fitted,
            **(curves(aligned, lags=lags, withheld=withheld) if settings.gam else {}),
            "surprisal_effects": compute_surprisal_effects(aligned, fitted["alignment_models"], engine=engine),
            **_compute_held_out_tables(
                aligned, withheld, lags=lags, fold_unit=options.folds_by, folds=options.folds, seed=options.seed
            ),
            **correlation_tables,
            "alignment_exclusions": exclusion_log.build_table("alignment_exclusions"),
        }
    )


def _correlate_ratings(tables: Mapping[str, pd.DataFrame], rating_measure: str, seed: int) -> dict[str, pd.DataFrame]:
    """Return rating_correlations where there are both ratings and scores of sentences."""
    if not {"sentence_scores", "rating_scores"} <= tables.keys():
        return {}
    try:
        correlations = compute_rating_correlations(
            tables["sentence_scores"],
            tables["rating_scores"],
            rating_measure=rating_measure,
            pairs=tables.get("pairs"),
            ceilings=tables.get("noise_ceilings"),
            seed=seed,
        )
    except DataError as error:
        log.warning("scores and ratings are not correlated: %s", error)
        return {}
    return {"rating_correlations": correlations}


def align_words(tables: Mapping[str, pd.DataFrame], options: AlignmentOptions) -> tuple[pd.DataFrame, ExclusionLog]:
    """Return the table aligned, and what was left out of it."""
    given = [WORD_MEANS_TABLE] if WORD_MEANS_TABLE in tables else ["readings", "sessions"]
    read, *sessions, surprisal, words = take_tables(tables, *given, "surprisal", "words")
    lags, edges, settings = options.lags, options.edges, options.settings
    exclusion_log = ExclusionLog()
    if WORD_MEANS_TABLE in tables and "readings" in tables:
        raise DataError(f"tables readings and {WORD_MEANS_TABLE} are both there; expected one of them: which is to be modelled?")
    for table in sessions:
        read = _select_rated_trials(_apply_exclusions(tables, read, table, settings, exclusion_log), table, exclusion_log)
    surprisal = _select_predictors(_select_read_sentences(surprisal, read), options.predictors)
    joined, unscored = (
        _list_word_positions(surprisal[surprisal["n_words"] > 1]),
        _list_word_positions(surprisal[surprisal["surprisal"].isna()]),
    )
    scores = add_neighbouring_predictors(surprisal[surprisal["n_words"] == 1], words)
    _require_matching_words(read[~_is_at_position(read, joined)], scores)
    word_window = (
        "the word" if lags == 0 else "the word, or the one before," if lags == 1 else f"the word, or one of {lags} before,"
    )
    unusable_positions = {
        f"{word_window} shares a token with another": joined,
        f"{word_window} is not scored under the protocol": unscored,
    }
    unusable_positions = {rule: positions for rule, positions in unusable_positions.items() if positions}
    unusable_positions[f"{word_window} has no Zipf frequency"] = _list_word_positions(words[words["zipf"].isna()].assign(n_words=1))
    read = _drop_edge_words(read, words, lags, edges, exclusion_log)
    read = _select_usable_words(read, lags, *settings.rt_cutoffs, unusable_positions, exclusion_log)
    joined_rows = read.drop(columns=["text", "region"]).merge(scores, on=WORD_KEY, how="inner", validate="m:m")
    described = _add_model_variables(joined_rows)
    return select_declared_columns(described, _get_table_name(described)), exclusion_log


def _apply_exclusions(
    tables: Mapping[str, pd.DataFrame],
    readings: pd.DataFrame,
    sessions: pd.DataFrame,
    settings: AnalysisSection,
    exclusion_log: ExclusionLog,
) -> pd.DataFrame:
    """Return the readings that `analyse` keeps; without answers and items to judge by, those of complete sessions."""
    if not {*EXCLUSION_TABLES} <= tables.keys() and settings.exclude == ExcludeSection():
        readings = select_complete_sessions(sessions, exclusion_log, readings=readings)[0]
    else:
        full_log = ExclusionLog()
        readings, *_ = apply_study_exclusions(tables, settings, full_log)
        exclusion_log.rows += [row for row in full_log.rows if row["table"] != "responses"]
    return drop_errors(readings, settings.exclude.after_error, exclusion_log)


def _select_rated_trials(read: pd.DataFrame, sessions: pd.DataFrame, exclusion_log: ExclusionLog) -> pd.DataFrame:
    """Return the readings of targets and fillers."""
    [read] = exclusion_log.apply_rule("role is neither target nor filler", readings=(read, read["role"].isin(RATED_ROLES)))
    if read.empty:
        raise DataError("table readings: no word of a target or filler trial of a complete session; nothing to align")
    _refuse_unnumbered_words(read, sessions)
    return read


def _get_table_name(aligned: pd.DataFrame) -> str:
    """Return the name of the table of these rows."""
    return "aligned_means" if is_word_means(aligned) else "aligned"


def _apply_rule(exclusion_log: ExclusionLog, rule: str, read: pd.DataFrame, kept: "pd.Series[bool]") -> pd.DataFrame:
    """Return the words that a rule keeps, noted under the name of their table."""
    return exclusion_log.apply_rule(rule, **{"readings" if "trial" in read else WORD_MEANS_TABLE: (read, kept)})[0]


def _compute_held_out_tables(
    aligned: pd.DataFrame, withheld: "WithheldModels", *, lags: int, fold_unit: str, folds: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Return held_out_clusters, delta_log_likelihood and delta_comparisons; what cannot be held out keeps a row that says why."""
    held, reasons = [_build_empty_table("held_out_clusters")], dict(withheld)
    for model, protocol, rows in split_by_model(aligned):
        if (model, protocol) in reasons:
            continue
        try:
            held.append(compute_held_out_clusters(rows, lags=lags, fold_unit=fold_unit, folds=folds, seed=seed))
        except (DataError, MissingExtra) as error:
            reasons[model, protocol] = str(error).replace("\n", "; ")
    densities = pd.concat(held[1:] or held, ignore_index=True)
    return {
        "held_out_clusters": densities,
        "delta_log_likelihood": pd.concat(
            [compute_delta_log_likelihood(densities, seed=seed), build_unfitted_rows(aligned, reasons)], ignore_index=True
        ),
        "delta_comparisons": compute_delta_comparisons(densities, seed=seed),
    }


def _build_empty_table(name: str) -> pd.DataFrame:
    return check(pd.DataFrame(columns=TABLES[name].column_names), name)


def _select_read_sentences(surprisal: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of sentences that were read; materials may hold others, which no reading has to match."""
    sentences = read[["item", "condition"]].drop_duplicates()
    return surprisal.merge(sentences, on=["item", "condition"], how="inner", validate="m:1")


def _refuse_unnumbered_words(read: pd.DataFrame, sessions: pd.DataFrame) -> None:
    """Raise `DataError` for words without a text whose number their source did not state: nothing says which they are."""
    unnamed = read[read["text"].isna() & ~read["session"].isin(sessions.loc[sessions["source"] == NUMBERED_SOURCE, "session"])]
    if len(unnamed):
        first = unnamed.iloc[0]
        raise DataError(
            f"table readings: {len(unnamed)} words have no text, first item {first['item']}, condition {first['condition']}, word "
            f"{first['word']}, and their source does not number them; nothing says that these are the words scored. Collect "
            "the data with what was shown:  gardenpath collect --materials"
        )


def _select_predictors(surprisal: pd.DataFrame, predictors: Sequence[str]) -> pd.DataFrame:
    """Return scores by each of these columns in place of surprisal, under models that are named by it."""
    numbers = surprisal.select_dtypes("number").drop(columns=["word", "n_words", "n_tokens"], errors="ignore")
    known = [str(name) for name in numbers if name == SURPRISAL_TERM or not numbers[name].isna().all()]
    unknown = [name for name in predictors if name not in known]
    if unknown or not predictors:
        raise ValueError(
            f"predictor {', '.join(map(repr, unknown)) or 'missing'}; expected columns with numbers of the table surprisal: "
            f"{', '.join(known)} (score --predictor makes others)"
        )
    parts = []
    for name in dict.fromkeys(predictors):
        whose = surprisal["model"] if name == SURPRISAL_TERM else surprisal["model"] + ", " + name
        parts.append(surprisal.assign(model=whose, surprisal=surprisal[name]))
    return pd.concat(parts, ignore_index=True)


def _require_matching_words(read: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Raise `DataError` naming every word that was read but not scored, or read in another form than was scored."""
    seen = read[[*WORD_KEY, "text"]].drop_duplicates()
    if scores.empty:
        raise DataError("table surprisal has no score for any sentence that was read; expected one for each word")
    for (model, protocol), part in scores.groupby(MODEL_KEY):
        both = seen.merge(part[[*WORD_KEY, "text"]], on=WORD_KEY, how="left", suffixes=("", "_scored"), validate="m:1")
        unscored = both[both["text_scored"].isna()]
        refuse_words(unscored, f"read as {{r.text!r}}, but {model} ({protocol}) has no surprisal for it")
        differing = both[both["text"].notna() & (both["text"] != both["text_scored"]).fillna(False)]
        refuse_words(differing, f"read as {{r.text!r}}, but {model} ({protocol}) scored {{r.text_scored!r}}")


WordPositions = set[tuple[str, str, int]]


def _list_word_positions(scores: pd.DataFrame) -> WordPositions:
    """Return item, condition and position of every word that the rows hold."""
    rows = scores[[*WORD_KEY, "n_words"]].itertuples(index=False, name=None)
    return {(item, condition, word + k) for item, condition, word, words in rows for k in range(words)}


def _is_at_position(read: pd.DataFrame, positions: WordPositions) -> "pd.Series[bool]":
    matches = [position in positions for position in read[WORD_KEY].itertuples(index=False, name=None)]
    return pd.Series(matches, index=read.index, dtype=bool)


def _drop_edge_words(read: pd.DataFrame, words: pd.DataFrame, lags: int, edges: bool, exclusion_log: ExclusionLog) -> pd.DataFrame:
    """Drop the ends of sentences, where readers start and wrap up, and words without as many before them as lags."""
    if not edges:
        read = _apply_rule(exclusion_log, "first word of its sentence", read, read["word"] > 0)
        final = words.loc[words.groupby(["item", "condition"])["word"].idxmax()].assign(n_words=1)
        read = _apply_rule(exclusion_log, "last word of its sentence", read, ~_is_at_position(read, _list_word_positions(final)))
    rule = f"fewer than {lags} {'word' if lags == 1 else 'words'} before it"
    return _apply_rule(exclusion_log, rule, read, read["word"] >= lags) if lags > (not edges) else read


def _select_usable_words(
    read: pd.DataFrame,
    lags: int,
    min_rt: float,
    max_rt: float,
    unusable_positions: Mapping[str, WordPositions],
    exclusion_log: ExclusionLog,
) -> pd.DataFrame:
    """Keep words with all that the models need of them and of the words before, and with a time within the band."""
    kept = read
    for rule, positions in unusable_positions.items():
        after = {(item, condition, word + k) for item, condition, word in positions for k in range(lags + 1)}
        kept = _apply_rule(exclusion_log, rule, kept, ~_is_at_position(kept, after))
    kept = _apply_rule(exclusion_log, "no reading time", kept, kept["rt"] > 0)
    if (min_rt, max_rt) == NO_RT_CUTOFFS:
        return kept
    rule = f"read in less than {min_rt:g} or more than {max_rt:g} ms"
    return _apply_rule(exclusion_log, rule, kept, is_within_cutoffs(kept["rt"], min_rt, max_rt))


def _add_model_variables(joined: pd.DataFrame) -> pd.DataFrame:
    import numpy as np

    word_texts = joined[WORD_KEY].astype("string")
    described_words = joined.assign(
        log_rt=np.log(joined["rt"].to_numpy(dtype="float64")),
        position=joined["word"],
        token=word_texts["item"] + ":" + word_texts["condition"] + ":" + word_texts["word"],
    )
    if "trial" not in joined:
        return described_words
    return described_words.assign(log_trial=np.log1p(joined["trial"].to_numpy(dtype="float64")))


WithheldModels = Mapping[tuple[str, str], str]


def compute_alignment_models(
    aligned: pd.DataFrame,
    *,
    lags: int = 2,
    slopes: bool = True,
    engine: str = "glmm",
    withheld: WithheldModels | None = None,
    policy: str = "declared",
    crosscheck: bool = False,
) -> dict[str, pd.DataFrame]:
    """Return alignment_models and alignment_steps, by name: the fixed effects on log reading time of each (model, protocol), with
    random intercepts by token too.

    The coefficient of surprisal is in log ms per bit: 0.01 is about 1 % slower for each bit. With `slopes`, the effect
    of the word's own surprisal varies over participants, correlated with their intercepts; where these slopes make the
    model singular, or it does not converge, intercepts alone are fitted and `note` says so. Under another `policy` than
    declared, it chooses among the slopes of surprisal that vary within participants and items; alignment_steps has each fit
    on the way.
    `withheld` names models not to be fitted, and why.
    """
    fits, steps = [], []
    for model, protocol, rows in split_by_model(aligned):
        reason = (withheld or {}).get((model, protocol))
        if reason:
            wanted = format_formula(list_model_terms(rows, range(lags + 1)), get_random_intercepts(rows))
            fitted = failed(wanted, SURPRISAL_TERM, reason, rows, engine=engine)
        else:
            fixed = list_model_terms(rows, range(lags + 1))
            try:
                if policy == "declared":
                    fitted = _fit_declared(rows, fixed, slopes, engine, crosscheck)
                else:
                    fitted, tried = _fit_by_policy(rows, fixed, slopes, engine, policy, crosscheck)
                    steps.append(tried.of(f"{model} ({protocol})"))
            except DataError as error:
                if isinstance(error, NotFitted) and policy != "declared":
                    steps.append(error.steps.of(f"{model} ({protocol})"))
                fitted = failed(
                    format_formula(fixed, get_random_intercepts(rows)),
                    SURPRISAL_TERM,
                    str(error).replace("\n", "; "),
                    rows,
                    engine=engine,
                )
        fits.append(fitted.assign(model=model, protocol=protocol))
    if not fits:
        fits = [pd.DataFrame(columns=[*MODEL_KEY, *COEFFICIENTS])]
    models = check(pd.concat(fits, ignore_index=True), "alignment_models")
    return {"alignment_models": models, "alignment_steps": steps_table(steps, "alignment_steps")}


def _format_random_slopes(rows: pd.DataFrame) -> str:
    """Return the random effects with slopes of surprisal: over participants, or over texts where they are averaged."""
    first, *others = get_random_intercepts(rows).split(" + ")
    return " + ".join([first.replace("(1|", f"(1 + {SURPRISAL_TERM}|"), *others])


def _fit_by_policy(rows: pd.DataFrame, fixed: list[str], slopes: bool, engine: str, policy: str, crosscheck: bool) -> Fit:
    """Return the fit with the slopes of surprisal that the policy leaves, and its steps."""
    model, protocol = rows["model"].iloc[0], rows["protocol"].iloc[0]
    code = (
        f'rows <- read.csv("{_get_table_name(rows)}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")\n'
        f"rows <- subset(rows, model == {quote_text(model)} & protocol == {quote_text(protocol)})"
    )
    fitted, steps = fit_stepwise(
        rows,
        format_formula(fixed, get_random_intercepts(rows)),
        engine=engine,
        policy=policy,
        slopes=[SURPRISAL_TERM] * slopes,
        crosscheck=crosscheck,
        rows=code,
    )
    return Fit(_add_note(fitted, f"Random effects by the policy {policy}."), steps)


def _add_note(fitted: pd.DataFrame, note: str) -> pd.DataFrame:
    return fitted.assign(note=(note + " " + fitted["note"].fillna("")).str.strip())


def _fit_declared(rows: pd.DataFrame, fixed: list[str], slopes: bool, engine: str, crosscheck: bool) -> pd.DataFrame:
    plain = format_formula(fixed, get_random_intercepts(rows))
    if not slopes:
        return fit(rows, plain, engine=engine, crosscheck=crosscheck)
    random = _format_random_slopes(rows)
    varying = format_formula(fixed, random)
    fitted = fit(rows, varying, engine=engine)
    if fitted["converged"].all() and not fitted["singular"].any():
        return _crosscheck_fit(fitted, rows, varying, engine) if crosscheck else fitted
    how = "singular" if fitted["converged"].all() else "not converged"
    reduced = fit(rows, plain, engine=engine)
    if how == reduced["singular"].map({True: "singular", False: ""}).iloc[0]:
        # singular for another variance than the slopes'
        return _crosscheck_fit(fitted, rows, varying, engine) if crosscheck else fitted
    reduced = _crosscheck_fit(reduced, rows, plain, engine) if crosscheck else reduced
    whose = "item" if is_word_means(rows) else "participant"
    note = f"With slopes of surprisal by {whose}, {random}, the fit is {how}; fitted with intercepts alone."
    return _add_note(reduced, note)


def _crosscheck_fit(fitted: pd.DataFrame, rows: pd.DataFrame, text: str, engine: str) -> pd.DataFrame:
    model = parse_formula(text)
    return checked(fitted, columns_of(rows, model), model, engine)


def compute_surprisal_effects(aligned: pd.DataFrame, models: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return ms per bit at each lag: of `models` at the geometric mean reading time, and of a model of ms itself.

    A slope b in log ms per bit is worth m * (exp(b) - 1) ms at the geometric mean m; the interval is the delta
    method's, m * exp(b) * SE to both sides times the t quantile, with m taken as known. `raw` is the slope of the same
    fixed effects on ms, with random intercepts only.
    """
    parts = []
    for model, protocol, fitted in split_by_model(models):
        rows = aligned[(aligned["model"] == model) & (aligned["protocol"] == protocol)]
        mean = math.exp(rows["log_rt"].mean())
        coefficients, raw = index_by_term(fitted), _fit_untransformed(rows, fitted, engine)
        for lag, name in enumerate(list_lagged_columns(SURPRISAL_TERM, range(MAX_LAGS + 1))):
            if name in coefficients:
                cost = _convert_to_ms(coefficients[name], mean) | _name_estimate("raw", raw[name])
                parts.append({"model": model, "protocol": protocol, "lag": lag, "n_readings": len(rows)} | cost)
    return check(pd.DataFrame(parts), "surprisal_effects") if parts else _build_empty_table("surprisal_effects")


def _convert_to_ms(row: Mapping[str, Any], mean: float) -> dict[str, object]:
    slope = row["estimate"]
    cost, half = mean * math.expm1(slope), mean * math.exp(slope) * (row["ci_high"] - row["ci_low"]) / 2
    effect = {"estimate": slope, "mean_rt": mean, "note": row["note"] if pd.isna(slope) else None}
    return effect | {"ms_per_bit": cost, "ms_low": cost - half, "ms_high": cost + half}


def _name_estimate(name: str, row: Mapping[str, Any]) -> dict[str, object]:
    return {name: row["estimate"], f"{name}_low": row["ci_low"], f"{name}_high": row["ci_high"]}


def _fit_untransformed(rows: pd.DataFrame, fitted: pd.DataFrame, engine: str) -> dict[str, dict[str, Any]]:
    """Return the same fixed effects on the times themselves, in ms, with random intercepts."""
    if fitted["estimate"].isna().all():
        return index_by_term(fitted)
    wanted = format_formula([t for t in fitted["term"] if t != "intercept"], get_random_intercepts(rows), response="rt")
    return index_by_term(fit(rows, wanted, engine=engine))
