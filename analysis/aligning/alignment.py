"""Reading times beside surprisal: each word read, with its score and those of the words around it."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, ExcludeSection, MissingExtra, check
from gardenpath.study.config import EVERY_TIME
from gardenpath.study.table_files import take_tables
from gardenpath.study.table_sets import TableSet

from ..cleaning.exclusions import left_in_of
from ..comparing.rating_correlation import rating_correlations
from ..engines.formulas import parse
from ..engines.r_code import quoted
from ..ledger import Ledger, complete, in_band
from ..measuring.ratings_and_times import RATED, declared
from ..modelling.additive import curves
from ..modelling.mixed_models import COEFFICIENTS, Fit, checked, columns_of, failed, fit, fit_stepwise
from ..modelling.policies import NotFitted, steps_table
from .alignment_test import alignment_test, lag_profile, stopped
from .held_out import delta_comparisons, delta_log_likelihood, heldout, unpredicted
from .predictors import (
    MODEL,
    WORD,
    are_means,
    at,
    beside,
    by_model,
    by_term,
    collinearity,
    formula,
    intercepts,
    no_score,
    terms_of,
)

log = logging.getLogger("gardenpath")

TERM = "surprisal"
MEANS = "word_means"  # in place of readings and sessions
STATES_NUMBERS = "table"  # the source of sessions whose words have the number that a column gives them, texts or none
JUDGED_BY = ("responses", "items")  # what the rules of exclusion need beside readings and sessions
MOST = 3  # lags that the table has columns for


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """How reading times and surprisal are aligned and modelled; `settings` are what study.toml states under [analysis].

    `lags`: words before whose surprisal enters too; `edges` keeps the first and the last word of each sentence; `slopes` lets the
    effect of surprisal vary over participants; `despite_failure` fits models though the alignment test failed; `folds_by` (item,
    story, participant or row) is what is held out together, in `folds` parts; `seed` deals these, flips and bootstraps.
    `predictors` are columns of the table surprisal that take the place of surprisal, each as a model of its own ("gpt2, renyi_2").

    `lags` outside 0 to 3 is a `ValueError`.

    >>> AlignOptions(folds_by="story").folds
    10
    >>> AlignOptions(lags=4)
    Traceback (most recent call last):
    ...
    ValueError: lags is 4; expected 0 to 3
    """

    settings: AnalysisSection = field(default_factory=AnalysisSection)
    lags: int = 2
    edges: bool = False
    slopes: bool = True
    despite_failure: bool = False
    folds_by: str = "item"
    folds: int = 10
    seed: int = 1
    predictors: tuple[str, ...] = (TERM,)

    def __post_init__(self) -> None:
        if not 0 <= self.lags <= MOST:
            raise ValueError(f"lags is {self.lags}; expected 0 to {MOST}")


def align(tables: Mapping[str, pd.DataFrame], options: AlignOptions | None = None) -> dict[str, pd.DataFrame]:
    """Return the words read beside their scores, a test of that, models by surprisal, and their gain on held-out readings.

    `tables` are readings, sessions and words of `collect`, and surprisal of `score`. In place of readings and sessions there may be
    word_means: their models have random effects of items (texts) alone, and aligned_means stands in place of aligned. With
    sentence_scores of `score` and rating_scores of `analyse` (and its noise_ceilings), ratings are correlated with scores too.
    Where nothing was read word by word, that is all there is.
    With responses and items (demographics, replacements) of `collect`, whoever and whatever `analyse` leaves out is left out here.

    The tables, by name: aligned, alignment_test, lag_profile, collinearity, alignment_models, surprisal_effects, heldout,
    delta_log_likelihood, delta_comparisons, alignment_exclusions; rating_correlations.

    Each word read in a target or filler trial that counts stands beside its surprisal (bits), length and
    Zipf frequency, and those of the words around it (spillover: up to `lags` words before enter the models); then one
    mixed model a language model. The first and the last word of a sentence are left out unless `edges`, and a word
    with fewer than `lags` words before it always. A reading without a score, or whose text differs from what was
    scored, is a `DataError`; so is one without a text, unless its session is from a table, which states words by number.

    With another `policy` than declared, slopes of surprisal are chosen by it, and alignment_steps has each fit on the way;
    with `crosscheck`, the models are refitted in the other engine. With `gam`, gam_terms and smooths have curves of surprisal
    in place of lines, by R's mgcv.

    A language model by which reading times seem to stand beside the wrong words (`alignment_test`) is not fitted,
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
    options = options or AlignOptions()
    settings, lags, engine = options.settings, options.lags, options.settings.engine
    correlated = _correlated(tables, settings.rated, options.seed)
    if correlated and "readings" in tables and not tables["readings"]["role"].isin(RATED).any():
        log.warning("table readings: no word of a target or filler trial; scores are held against ratings alone")
        return TableSet(correlated)
    aligned, ledger = align_words(tables, options)
    tested = alignment_test(aligned, engine=engine)
    withheld = {} if options.despite_failure else stopped(tested)
    fitted = alignment_models(
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
            _name(aligned): aligned,
            "alignment_test": tested,
            "lag_profile": lag_profile(aligned, engine=engine),
            "collinearity": collinearity(aligned, lags=lags) if len(aligned) else _none("collinearity"),
            **fitted,
            **(curves(aligned, lags=lags, withheld=withheld) if settings.gam else {}),
            "surprisal_effects": surprisal_effects(aligned, fitted["alignment_models"], engine=engine),
            **_predicted(aligned, withheld, lags=lags, by=options.folds_by, folds=options.folds, seed=options.seed),
            **correlated,
            "alignment_exclusions": ledger.table("alignment_exclusions"),
        }
    )


def _correlated(tables: Mapping[str, pd.DataFrame], of: str, seed: int) -> dict[str, pd.DataFrame]:
    """Return rating_correlations where there are both ratings and scores of sentences."""
    if not {"sentence_scores", "rating_scores"} <= tables.keys():
        return {}
    try:
        correlations = rating_correlations(
            tables["sentence_scores"],
            tables["rating_scores"],
            of=of,
            pairs=tables.get("pairs"),
            ceilings=tables.get("noise_ceilings"),
            seed=seed,
        )
    except DataError as error:
        log.warning("scores and ratings are not correlated: %s", error)
        return {}
    return {"rating_correlations": correlations}


def align_words(tables: Mapping[str, pd.DataFrame], options: AlignOptions) -> tuple[pd.DataFrame, Ledger]:
    """Return the table aligned, and what was left out of it."""
    given = [MEANS] if MEANS in tables else ["readings", "sessions"]
    read, *sessions, surprisal, words = take_tables(tables, *given, "surprisal", "words")
    lags, edges, settings = options.lags, options.edges, options.settings
    ledger = Ledger()
    if MEANS in tables and "readings" in tables:
        raise DataError(f"tables readings and {MEANS} are both there; expected one of them: which is to be modelled?")
    for table in sessions:
        read = _of_trials(_left_in(tables, read, table, settings, ledger), table, ledger)
    surprisal = _predicting(_of_read(surprisal, read), options.predictors)
    joined, unscored = _places(surprisal[surprisal["words"] > 1]), _places(surprisal[surprisal["surprisal"].isna()])
    scores = beside(surprisal[surprisal["words"] == 1], words)
    _agree(read[~_at(read, joined)], scores)
    around = (
        "the word"
        if lags == 0
        else "the word, or the one before,"
        if lags == 1
        else f"the word, or one of {lags} before,"
    )
    lacking = {
        f"{around} shares a token with another": joined,
        f"{around} is not scored under the protocol": unscored,
    }
    lacking = {rule: places for rule, places in lacking.items() if places}
    lacking[f"{around} has no Zipf frequency"] = _places(words[words["zipf"].isna()].assign(words=1))
    read = _inside(read, words, lags, edges, ledger)
    read = _usable(read, lags, *settings.band, lacking, ledger)
    joined_rows = read.drop(columns=["text", "region"]).merge(scores, on=WORD, how="inner", validate="m:m")
    described = _described(joined_rows)
    return declared(described, _name(described)), ledger


def _left_in(
    tables: Mapping[str, pd.DataFrame],
    readings: pd.DataFrame,
    sessions: pd.DataFrame,
    settings: AnalysisSection,
    ledger: Ledger,
) -> pd.DataFrame:
    """Return the readings that `analyse` keeps; without answers and items to judge by, those of complete sessions."""
    if not {*JUDGED_BY} <= tables.keys() and settings.exclude == ExcludeSection():
        return complete(sessions, ledger, readings=readings)[0]
    judged = Ledger()
    readings, *_ = left_in_of(tables, settings, judged)
    ledger.rows += [row for row in judged.rows if row["table"] != "responses"]
    return readings


def _of_trials(read: pd.DataFrame, sessions: pd.DataFrame, ledger: Ledger) -> pd.DataFrame:
    """Return the readings of targets and fillers."""
    [read] = ledger.step("role is neither target nor filler", readings=(read, read["role"].isin(RATED)))
    if read.empty:
        raise DataError("table readings: no word of a target or filler trial of a complete session; nothing to align")
    _refuse_unnamed(read, sessions)
    return read


def _name(aligned: pd.DataFrame) -> str:
    """Return the name of the table of these rows."""
    return "aligned_means" if are_means(aligned) else "aligned"


def _step(ledger: Ledger, rule: str, read: pd.DataFrame, kept: "pd.Series[bool]") -> pd.DataFrame:
    """Return the words that a rule keeps, noted under the name of their table."""
    return ledger.step(rule, **{"readings" if "trial" in read else MEANS: (read, kept)})[0]


def _predicted(
    aligned: pd.DataFrame, withheld: "Withheld", *, lags: int, by: str, folds: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Return heldout, delta_log_likelihood and delta_comparisons; what cannot be held out keeps a row that says why."""
    held, reasons = [_none("heldout")], dict(withheld)
    for model, protocol, rows in by_model(aligned):
        if (model, protocol) in reasons:
            continue
        try:
            held.append(heldout(rows, lags=lags, by=by, folds=folds, seed=seed))
        except (DataError, MissingExtra) as error:
            reasons[model, protocol] = str(error).replace("\n", "; ")
    densities = pd.concat(held[1:] or held, ignore_index=True)
    return {
        "heldout": densities,
        "delta_log_likelihood": pd.concat(
            [delta_log_likelihood(densities, seed=seed), unpredicted(aligned, reasons)], ignore_index=True
        ),
        "delta_comparisons": delta_comparisons(densities, seed=seed),
    }


def _none(name: str) -> pd.DataFrame:
    return check(pd.DataFrame(columns=TABLES[name].names), name)


def _of_read(surprisal: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of sentences that were read; materials may hold others, which no reading has to match."""
    sentences = read[["item", "condition"]].drop_duplicates()
    return surprisal.merge(sentences, on=["item", "condition"], how="inner", validate="m:1")


def _refuse_unnamed(read: pd.DataFrame, sessions: pd.DataFrame) -> None:
    """Raise `DataError` for words without a text whose number their source did not state: nothing says which they are."""
    unnamed = read[
        read["text"].isna() & ~read["session"].isin(sessions.loc[sessions["source"] == STATES_NUMBERS, "session"])
    ]
    if len(unnamed):
        first = unnamed.iloc[0]
        raise DataError(
            f"table readings: {len(unnamed)} words have no text, first item {first['item']}, condition {first['condition']}, word "
            f"{first['word']}, and their source does not number them; nothing says that these are the words scored. Collect "
            "the data with what was shown:  gardenpath collect --materials"
        )


def _predicting(surprisal: pd.DataFrame, predictors: Sequence[str]) -> pd.DataFrame:
    """Return scores by each of these columns in place of surprisal, under models that are named by it."""
    numbers = surprisal.select_dtypes("number").drop(columns=["word", "words", "tokens"], errors="ignore")
    known = [str(name) for name in numbers if name == TERM or not numbers[name].isna().all()]
    unknown = [name for name in predictors if name not in known]
    if unknown or not predictors:
        raise ValueError(
            f"predictor {', '.join(map(repr, unknown)) or 'missing'}; expected columns with numbers of the table surprisal: "
            f"{', '.join(known)} (score --predictor makes others)"
        )
    parts = []
    for name in dict.fromkeys(predictors):
        whose = surprisal["model"] if name == TERM else surprisal["model"] + ", " + name
        parts.append(surprisal.assign(model=whose, surprisal=surprisal[name]))
    return pd.concat(parts, ignore_index=True)


def _agree(read: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Raise `DataError` naming every word that was read but not scored, or read in another form than was scored."""
    seen = read[[*WORD, "text"]].drop_duplicates()
    if scores.empty:
        raise DataError("table surprisal has no score for any sentence that was read; expected one for each word")
    for (model, protocol), part in scores.groupby(MODEL):
        both = seen.merge(part[[*WORD, "text"]], on=WORD, how="left", suffixes=("", "_scored"), validate="m:1")
        unscored = both[both["text_scored"].isna()]
        no_score(unscored, f"read as {{r.text!r}}, but {model} ({protocol}) has no surprisal for it")
        differing = both[both["text"].notna() & (both["text"] != both["text_scored"]).fillna(False)]
        no_score(differing, f"read as {{r.text!r}}, but {model} ({protocol}) scored {{r.text_scored!r}}")


Places = set[tuple[str, str, int]]


def _places(scores: pd.DataFrame) -> Places:
    """Return item, condition and position of every word that the rows hold."""
    rows = scores[[*WORD, "words"]].itertuples(index=False, name=None)
    return {(item, condition, word + k) for item, condition, word, words in rows for k in range(words)}


def _at(read: pd.DataFrame, places: Places) -> "pd.Series[bool]":
    matches = [place in places for place in read[WORD].itertuples(index=False, name=None)]
    return pd.Series(matches, index=read.index, dtype=bool)


def _inside(read: pd.DataFrame, words: pd.DataFrame, lags: int, edges: bool, ledger: Ledger) -> pd.DataFrame:
    """Drop the ends of sentences, where readers start and wrap up, and words without as many before them as lags."""
    if not edges:
        read = _step(ledger, "first word of its sentence", read, read["word"] > 0)
        final = words.loc[words.groupby(["item", "condition"])["word"].idxmax()].assign(words=1)
        read = _step(ledger, "last word of its sentence", read, ~_at(read, _places(final)))
    rule = f"fewer than {lags} {'word' if lags == 1 else 'words'} before it"
    return _step(ledger, rule, read, read["word"] >= lags) if lags > (not edges) else read


def _usable(
    read: pd.DataFrame, lags: int, min_rt: float, max_rt: float, lacking: Mapping[str, Places], ledger: Ledger
) -> pd.DataFrame:
    """Keep words with all that the models need of them and of the words before, and with a time within the band."""
    kept = read
    for rule, places in lacking.items():
        after = {(item, condition, word + k) for item, condition, word in places for k in range(lags + 1)}
        kept = _step(ledger, rule, kept, ~_at(kept, after))
    kept = _step(ledger, "no reading time", kept, kept["rt"] > 0)
    if (min_rt, max_rt) == EVERY_TIME:
        return kept
    rule = f"read in less than {min_rt:g} or more than {max_rt:g} ms"
    return _step(ledger, rule, kept, in_band(kept["rt"], min_rt, max_rt))


def _described(joined: pd.DataFrame) -> pd.DataFrame:
    import numpy as np

    place = joined[WORD].astype("string")
    described = joined.assign(
        log_rt=np.log(joined["rt"].to_numpy(dtype="float64")),
        position=joined["word"],
        token=place["item"] + ":" + place["condition"] + ":" + place["word"],
    )
    if "trial" not in joined:
        return described
    return described.assign(log_trial=np.log1p(joined["trial"].to_numpy(dtype="float64")))


Withheld = Mapping[tuple[str, str], str]


def alignment_models(
    aligned: pd.DataFrame,
    *,
    lags: int = 2,
    slopes: bool = True,
    engine: str = "glmm",
    withheld: Withheld | None = None,
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
    for model, protocol, rows in by_model(aligned):
        reason = (withheld or {}).get((model, protocol))
        if reason:
            wanted = formula(terms_of(rows, range(lags + 1)), intercepts(rows))
            fitted = failed(wanted, TERM, reason, rows, engine=engine)
        else:
            fixed = terms_of(rows, range(lags + 1))
            try:
                if policy == "declared":
                    fitted = _fitted(rows, fixed, slopes, engine, crosscheck)
                else:
                    fitted, tried = _fitted_by_policy(rows, fixed, slopes, engine, policy, crosscheck)
                    steps.append(tried.of(f"{model} ({protocol})"))
            except DataError as error:
                if isinstance(error, NotFitted) and policy != "declared":
                    steps.append(error.steps.of(f"{model} ({protocol})"))
                fitted = failed(
                    formula(fixed, intercepts(rows)), TERM, str(error).replace("\n", "; "), rows, engine=engine
                )
        fits.append(fitted.assign(model=model, protocol=protocol))
    if not fits:
        fits = [pd.DataFrame(columns=[*MODEL, *COEFFICIENTS])]
    models = check(pd.concat(fits, ignore_index=True), "alignment_models")
    return {"alignment_models": models, "alignment_steps": steps_table(steps, "alignment_steps")}


def _slopes_of(rows: pd.DataFrame) -> str:
    """Return the random effects with slopes of surprisal: over participants, or over texts where they are averaged."""
    first, *others = intercepts(rows).split(" + ")
    return " + ".join([first.replace("(1|", f"(1 + {TERM}|"), *others])


def _fitted_by_policy(
    rows: pd.DataFrame, fixed: list[str], slopes: bool, engine: str, policy: str, crosscheck: bool
) -> Fit:
    """Return the fit with the slopes of surprisal that the policy leaves, and its steps."""
    model, protocol = rows["model"].iloc[0], rows["protocol"].iloc[0]
    code = (
        f'rows <- read.csv("{_name(rows)}.csv", stringsAsFactors = FALSE, encoding = "UTF-8")\n'
        f"rows <- subset(rows, model == {quoted(model)} & protocol == {quoted(protocol)})"
    )
    fitted, steps = fit_stepwise(
        rows,
        formula(fixed, intercepts(rows)),
        engine=engine,
        policy=policy,
        slopes=[TERM] * slopes,
        crosscheck=crosscheck,
        rows=code,
    )
    return Fit(_with_note(fitted, f"Random effects by the policy {policy}."), steps)


def _with_note(fitted: pd.DataFrame, note: str) -> pd.DataFrame:
    return fitted.assign(note=(note + " " + fitted["note"].fillna("")).str.strip())


def _fitted(rows: pd.DataFrame, fixed: list[str], slopes: bool, engine: str, crosscheck: bool) -> pd.DataFrame:
    plain = formula(fixed, intercepts(rows))
    if not slopes:
        return fit(rows, plain, engine=engine, crosscheck=crosscheck)
    random = _slopes_of(rows)
    varying = formula(fixed, random)
    fitted = fit(rows, varying, engine=engine)
    if fitted["converged"].all() and not fitted["singular"].any():
        return _crosschecked(fitted, rows, varying, engine) if crosscheck else fitted
    how = "singular" if fitted["converged"].all() else "not converged"
    reduced = fit(rows, plain, engine=engine)
    if how == reduced["singular"].map({True: "singular", False: ""}).iloc[0]:
        # singular for another variance than the slopes'
        return _crosschecked(fitted, rows, varying, engine) if crosscheck else fitted
    reduced = _crosschecked(reduced, rows, plain, engine) if crosscheck else reduced
    whose = "item" if are_means(rows) else "participant"
    note = f"With slopes of surprisal by {whose}, {random}, the fit is {how}; fitted with intercepts alone."
    return _with_note(reduced, note)


def _crosschecked(fitted: pd.DataFrame, rows: pd.DataFrame, text: str, engine: str) -> pd.DataFrame:
    model = parse(text)
    return checked(fitted, columns_of(rows, model), model, engine)


def surprisal_effects(aligned: pd.DataFrame, models: pd.DataFrame, *, engine: str = "glmm") -> pd.DataFrame:
    """Return ms per bit at each lag: of `models` at the geometric mean reading time, and of a model of ms itself.

    A slope b in log ms per bit is worth m * (exp(b) - 1) ms at the geometric mean m; the interval is the delta
    method's, m * exp(b) * SE to both sides times the t quantile, with m taken as known. `raw` is the slope of the same
    fixed effects on ms, with random intercepts only.
    """
    parts = []
    for model, protocol, fitted in by_model(models):
        rows = aligned[(aligned["model"] == model) & (aligned["protocol"] == protocol)]
        mean = math.exp(rows["log_rt"].mean())
        coefficients, raw = by_term(fitted), _raw(rows, fitted, engine)
        for lag, name in enumerate(at(TERM, range(MOST + 1))):
            if name in coefficients:
                cost = _milliseconds(coefficients[name], mean) | _ends("raw", raw[name])
                parts.append({"model": model, "protocol": protocol, "lag": lag, "n": len(rows)} | cost)
    return check(pd.DataFrame(parts), "surprisal_effects") if parts else _none("surprisal_effects")


def _milliseconds(row: Mapping[str, Any], mean: float) -> dict[str, object]:
    slope = row["estimate"]
    cost, half = mean * math.expm1(slope), mean * math.exp(slope) * (row["ci_high"] - row["ci_low"]) / 2
    effect = {"estimate": slope, "mean_rt": mean, "note": row["note"] if pd.isna(slope) else None}
    return effect | {"ms_per_bit": cost, "ms_low": cost - half, "ms_high": cost + half}


def _ends(name: str, row: Mapping[str, Any]) -> dict[str, object]:
    return {name: row["estimate"], f"{name}_low": row["ci_low"], f"{name}_high": row["ci_high"]}


def _raw(rows: pd.DataFrame, fitted: pd.DataFrame, engine: str) -> dict[str, dict[str, Any]]:
    """Return the same fixed effects on the times themselves, in ms, with random intercepts."""
    if fitted["estimate"].isna().all():
        return by_term(fitted)
    wanted = formula([t for t in fitted["term"] if t != "intercept"], intercepts(rows), response="rt")
    return by_term(fit(rows, wanted, engine=engine))
