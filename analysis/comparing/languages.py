"""Language models on minimal pairs of many languages: means over languages, the best of each, language frequency."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..intervals import holm, mcnemar, ratio_interval
from ..measuring.ratings_and_times import cap_faults
from ..modelling.mixed_models import fit
from . import logistic_curve
from .pair_accuracy import ALL_PHENOMENA, MODEL_KEY, count_wins, score_pairs
from .pairwise_comparisons import tabulate_model_wins
from .regression import least_squares

MODEL_MEASURE_KEY = [*MODEL_KEY, "measure"]
FREQUENCY_SPLITS = ((0.6, "low"), (0.9, "mid"), (1.0, "high"))  # shares of languages from the least frequent on
ALL_LANGUAGES = "all"  # in the column split
# Below these p one model is better in a language: the best than the second, and any than any.
BEST_ALPHA, PAIRWISE_ALPHA = 0.1, 0.05
NO_CURVE_REASON = "accuracy or frequency is the same in all languages, or no optimum was found"


def compute_language_tables(
    pairs: pd.DataFrame, languages: pd.DataFrame | None = None, *, seed: int = 1
) -> dict[str, pd.DataFrame]:
    """Return what pairs of several languages tell of their models, by table, as MultiBLiMP does (arXiv 2504.02768).

    language_accuracies: accuracy, delta and n of each language, over all its pairs and by phenomenon. language_means: means of
    these over languages, a language being one whatever its pairs, with a bootstrap over languages (none under 10, drawn by `seed`),
    and in how many a model is the best (below). With several models
    language_bests: the best in each language against the second best by McNemar's exact test, p < .1 counting it as the best; and
    language_wins: in how many languages one of two models is better, p < .05. p after Holm over languages stands beside.

    `languages` has a row a language: `language`, and where known `frequency` (any count; empty: not known), by which languages are
    split into low (the lowest 60 %), mid and high (the highest 10 %). Each other column is a list of languages, or several: there
    are means over the languages with each of its values. With frequencies frequency_curves and frequency_residuals are there too.

    Pairs without a language, or in languages that `languages` lacks, are a `DataError`.

    >>> wins = [("nl", 0, True), ("nl", 1, True), ("nl", 2, False), ("nl", 3, True), ("eu", 4, False), ("eu", 5, True)]
    >>> rows = [("m", "p", "SV-#", lang, f"i{k}", "lp", -1.0, -2.0, right, False, lang) for lang, k, right in wins]
    >>> tables = compute_language_tables(pd.DataFrame(rows, columns=TABLES["pairs"].column_names))
    >>> tables["language_means"][["phenomenon", "n_languages", "accuracy"]].to_numpy().tolist()
    [['all', 2, 0.625], ['SV-#', 2, 0.625]]
    """
    if pairs["language"].isna().any():
        raise DataError(
            f"table pairs: {int(pairs['language'].isna().sum())} of {len(pairs)} rows have no language; evaluate them again"
        )
    checked_languages = _check_languages(pairs, languages)
    scored = score_pairs(pairs)
    accuracies = _compute_language_accuracies(scored)
    tables = {"language_accuracies": accuracies}
    several = scored[MODEL_KEY].drop_duplicates().shape[0] > 1
    comparisons = [*_compare_by_language(pairs)] if several else []
    best_models = _find_best_models(scored, comparisons) if several else None
    tables["language_means"] = _compute_language_means(
        accuracies, _split_languages(accuracies, checked_languages), best_models, seed
    )
    if best_models is not None:
        tables |= {"language_bests": best_models, "language_wins": _count_model_wins(comparisons)}
    if checked_languages is not None and checked_languages["frequency"].notna().any():
        tables |= compute_frequency_curves(accuracies, checked_languages)
    return tables


def _check_languages(pairs: pd.DataFrame, languages: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the languages of the pairs with their frequencies as numbers."""
    if languages is None:
        return None
    if "language" not in languages or len(languages.columns) < 2:
        raise DataError(f"languages have the columns {', '.join(map(str, languages))}; expected language, and frequency or lists")
    if languages["language"].duplicated().any():
        double = languages.loc[languages["language"].duplicated(), "language"].iloc[0]
        raise DataError(f"language {double!r} has several rows in the languages; expected one")
    there = pairs["language"].unique()
    if missing_languages := sorted({*there} - {*languages["language"]}):
        raise DataError(
            cap_faults(f"language {name!r} of the pairs is not among the languages; add a row for it" for name in missing_languages)
        )
    frequency = pd.to_numeric(languages.get("frequency", pd.Series(index=languages.index, dtype="float64")), "coerce")
    given = languages["frequency"].astype("string").fillna("") != "" if "frequency" in languages else frequency.notna()
    if (wrong := given & ~(frequency > 0)).any():
        row = languages[wrong].iloc[0]
        raise DataError(
            f"language {row['language']!r}: frequency {row['frequency']!r}; expected a number above 0, or an empty cell"
        )
    return languages.assign(frequency=frequency)[languages["language"].isin(there)]


def _compute_language_accuracies(scored: pd.DataFrame) -> pd.DataFrame:
    by = [*MODEL_MEASURE_KEY, "language", "phenomenon"]
    table = pd.concat([count_wins(scored.assign(phenomenon=ALL_PHENOMENA), by), count_wins(scored, by)], ignore_index=True)
    names = TABLES["language_accuracies"].column_names
    return check(table.sort_values(MODEL_MEASURE_KEY, kind="stable")[names], "language_accuracies")


def _split_languages(accuracies: pd.DataFrame, languages: pd.DataFrame | None) -> dict[str, set[str]]:
    """Return the languages of each split: all, by frequency, and of each list."""
    subsets = {ALL_LANGUAGES: {*accuracies["language"]}}
    if languages is None:
        return subsets
    ranked = languages.dropna(subset="frequency")
    share = ranked["frequency"].rank() / len(ranked)
    below = 0.0
    for upto, name in FREQUENCY_SPLITS if len(ranked) else ():
        subsets[name] = {*ranked.loc[(share > below) & (share <= upto), "language"]}
        below = upto
    for column in languages.columns.difference(["language", "frequency"], sort=False):
        for value, rows in languages[languages[column].astype("string").fillna("") != ""].groupby(column, sort=False):
            subsets[f"{column}: {value}"] = {*rows["language"]}
    return subsets


def _compute_language_means(
    accuracies: pd.DataFrame, subsets: dict[str, set[str]], best_models: pd.DataFrame | None, seed: int
) -> pd.DataFrame:
    parts = []
    for split, names in subsets.items():
        rows = accuracies[accuracies["language"].isin(names)]
        table = rows.groupby([*MODEL_MEASURE_KEY, "phenomenon"], sort=False).agg(
            n_languages=("language", "size"), n_pairs=("n_pairs", "sum"), accuracy=("accuracy", "mean"), delta=("delta", "mean")
        )
        table = table.reset_index().assign(split=split)
        overall = rows[rows["phenomenon"] == ALL_PHENOMENA].groupby(MODEL_MEASURE_KEY, sort=False)["accuracy"]
        ends = {names: ratio_interval(shares, [1] * len(shares), seed=seed) for names, shares in overall}
        table[["ci_low", "ci_high"]] = [
            ends[tuple(names)] if phenomenon == ALL_PHENOMENA else (None, None)
            for *names, phenomenon in table[[*MODEL_MEASURE_KEY, "phenomenon"]].itertuples(index=False, name=None)
        ]
        if best_models is not None:
            split_best_models = best_models[best_models["language"].isin(names)]
            for column, p in (("n_best", "p"), ("n_best_holm", "p_holm")):
                counted = (
                    split_best_models[split_best_models[p] < BEST_ALPHA]
                    .groupby(MODEL_MEASURE_KEY)
                    .size()
                    .rename(column)
                    .reset_index()
                )
                table = table.merge(counted, on=MODEL_MEASURE_KEY, how="left")
                table[column] = table[column].fillna(0).where(table["phenomenon"] == ALL_PHENOMENA)
        parts.append(table)
    return check(pd.concat(parts, ignore_index=True).reindex(columns=TABLES["language_means"].column_names), "language_means")


def _compare_by_language(pairs: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield every two models under a measure: language by language, on pairs given to both, what each wins (alone)."""
    import numpy as np

    for models in tabulate_model_wins(pairs):
        language, names = pd.factorize(models.pairs["language"])
        for comparison in models.compare_models():
            pair_languages = language[comparison.pair_rows]
            n = np.bincount(pair_languages, minlength=len(names))
            won_a, won_b, a_only, b_only = (
                np.bincount(pair_languages, weights=side, minlength=len(names))
                for side in (comparison.won_a, comparison.won_b, *comparison.find_sole_wins())
            )
            counts = pd.DataFrame({"language": names, "n_pairs": n, "n_only_a": a_only.astype(int), "n_only_b": b_only.astype(int)})
            counts = counts.assign(accuracy_a=won_a / np.maximum(n, 1), accuracy_b=won_b / np.maximum(n, 1))[n > 0]
            if len(counts):
                yield comparison.row_key, counts.assign(p=mcnemar(counts["n_only_a"], counts["n_only_b"]))


def _find_best_models(scored: pd.DataFrame, comparisons: list[tuple[dict[str, Any], pd.DataFrame]]) -> pd.DataFrame:
    """Return in each language the model of the highest accuracy against the second highest; equals in the order of the pairs."""
    counts_by_models: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row_key, counts in comparisons:
        a, b = (row_key["model_a"], row_key["protocol_a"]), (row_key["model_b"], row_key["protocol_b"])
        for row in counts.to_dict("records"):
            counts_by_models[row_key["measure"], row["language"], a, b] = {
                "n_pairs": row["n_pairs"], "accuracy": row["accuracy_a"], "accuracy_second": row["accuracy_b"],
                "n_only": row["n_only_a"], "n_only_second": row["n_only_b"], "p": row["p"],
            }  # fmt: skip
            counts_by_models[row_key["measure"], row["language"], b, a] = {
                "n_pairs": row["n_pairs"], "accuracy": row["accuracy_b"], "accuracy_second": row["accuracy_a"],
                "n_only": row["n_only_b"], "n_only_second": row["n_only_a"], "p": row["p"],
            }  # fmt: skip
    rows = []
    shares = scored.groupby(["measure", "language", *MODEL_KEY], sort=False)["won"].mean().reset_index()
    for (measure, language), of_language in shares.groupby(["measure", "language"], sort=False):
        order = of_language.sort_values("won", ascending=False, kind="stable")[MODEL_KEY]
        first, second = [*order.itertuples(index=False, name=None)][:2] if len(order) > 1 else (None, None)
        if first and second and (model_counts := counts_by_models.get((measure, language, first, second))):
            names = dict(zip(("model", "protocol", "second_model", "second_protocol"), (*first, *second), strict=True))
            # Where fewer pairs are the best's alone, ties decide which is best, and the test has nothing for it.
            p = model_counts["p"] if model_counts["n_only"] > model_counts["n_only_second"] else 1.0
            rows.append({"measure": measure, "language": language, **names, **model_counts, "p": p})
    table = pd.DataFrame(rows, columns=[c for c in TABLES["language_bests"].column_names if c != "p_holm"])
    table["p_holm"] = table.groupby("measure", sort=False)["p"].transform(lambda p: holm(p.astype("float64")))
    return check(table, "language_bests")


def _count_model_wins(comparisons: list[tuple[dict[str, Any], pd.DataFrame]]) -> pd.DataFrame:
    rows = []
    for row_key, counts in comparisons:
        a_more = counts["n_only_a"] > counts["n_only_b"]
        sure, surer = counts["p"] < PAIRWISE_ALPHA, holm(counts["p"]) < PAIRWISE_ALPHA
        b_more = counts["n_only_b"] > counts["n_only_a"]
        rows.append(
            row_key
            | {"n_languages": len(counts), "n_a_better": int((sure & a_more).sum()), "n_b_better": int((sure & b_more).sum())}
            | {"n_a_better_holm": int((surer & a_more).sum()), "n_b_better_holm": int((surer & b_more).sum())}
        )
    return check(pd.DataFrame(rows, columns=TABLES["language_wins"].column_names), "language_wins")


def compute_frequency_curves(accuracies: pd.DataFrame, languages: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return frequency_curves, each model's accuracy as a logistic curve of language frequency, and frequency_residuals.

    accuracy = .5 + (upper - .5) / (1 + exp(-slope (log10 frequency - midpoint))), by least squares over languages, `upper` at most
    1. `accuracies` is the table language_accuracies, `languages` has language and frequency (above 0); those of unknown frequency
    are left out. Under four languages, or where no curve is found, `note` says so. Residuals are accuracy less the curve.

    >>> import math
    >>> frequencies = pd.DataFrame({"language": list("abcdef"), "frequency": [1e2, 1e3, 1e4, 1e5, 1e6, 1e7]})
    >>> shares = [0.5 + 0.4 / (1 + math.exp(-2 * (k - 4))) for k in range(2, 8)]
    >>> table = pd.DataFrame({"language": list("abcdef"), "accuracy": shares})
    >>> table = table.assign(model="m", protocol="p", measure="lp", phenomenon="all")
    >>> found = compute_frequency_curves(table, frequencies)["frequency_curves"]
    >>> found[["upper_asymptote", "slope", "midpoint"]].round(3).to_numpy().tolist()
    [[0.9, 2.0, 4.0]]
    """
    import numpy as np

    overall = accuracies[accuracies["phenomenon"] == ALL_PHENOMENA]
    joined = overall.merge(languages[["language", "frequency"]].dropna(), on="language")
    curves, residuals = [], []
    for names, rows in joined.groupby(MODEL_MEASURE_KEY, sort=False):
        row_key = dict(zip(MODEL_MEASURE_KEY, names, strict=True))
        x, y = np.log10(rows["frequency"].to_numpy(dtype="float64")), rows["accuracy"].to_numpy(dtype="float64")
        found = logistic_curve.fit_curve(x, y)
        if found is None:
            why = (
                f"{len(x)} languages, under {logistic_curve.MIN_POINTS}" if len(x) < logistic_curve.MIN_POINTS else NO_CURVE_REASON
            )
            curves.append({**row_key, "n_languages": len(x), "note": f"No curve: {why}."})
            continue
        fitted = logistic_curve.evaluate_curve(x, *found)
        rss, total = float(((y - fitted) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
        note = "The upper asymptote is held at 1." if found[0] > 1 - 1e-9 else ""
        numbers = dict(zip(("upper_asymptote", "slope", "midpoint"), found, strict=True))
        curves.append({**row_key, "n_languages": len(x), **numbers, "rss": rss, "r2": 1 - rss / total, "note": note})
        residuals.append(rows[[*MODEL_MEASURE_KEY, "language", "frequency", "accuracy"]].assign(fitted=fitted, residual=y - fitted))
    columns = TABLES["frequency_residuals"].column_names
    residual_table = pd.concat(residuals, ignore_index=True) if residuals else pd.DataFrame(columns=columns)
    return {
        "frequency_curves": check(pd.DataFrame(curves, columns=TABLES["frequency_curves"].column_names), "frequency_curves"),
        "frequency_residuals": check(residual_table, "frequency_residuals"),
    }


def compute_score_difference_regressions(
    pairs: pd.DataFrame, scores: pd.DataFrame, languages: pd.DataFrame | None = None, items: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return what the difference of a pair's scores (nats) goes along with: least squares as published, a mixed model beside.

    delta ~ 0 + phenomenon + distance + perplexity + length + subwords + congruent + incongruent + frequency, as in MultiBLiMP
    (arXiv 2504.02768). Perplexity and length (tokens) are of the grammatical member, subwords the tokens of its critical region
    less the other's, all from `scores`, the table sentence_scores; frequency is the log10 of the column of `languages`; distance
    (of subject and verb), congruent and incongruent (numbers of attractors) are columns of `items`, a row an item. All but the
    attractors are standardised. The mixed model adds (1|language) + (1|paradigm): least squares take pairs of a language as
    independent, though languages are the units. A predictor that is not known, or is the same everywhere, is left out, and pairs
    that lack one of the others are not counted in n.

    Pairs without both members in `scores` are a `DataError`.

    >>> rows = [("m", "p", "SV-#", "nl", f"i{k}", "lp", -1.0, -2.0 - k % 3, True, False, "nl") for k in range(6)]
    >>> pairs = pd.DataFrame(rows, columns=TABLES["pairs"].column_names)
    >>> sentences = [(f"i{k}", c, 3 + k % 3, -9.0) for k in range(6) for c in ("grammatical", "ungrammatical")]
    >>> scores = pd.DataFrame(sentences, columns=["item", "condition", "n_tokens", "lp"]).assign(model="m", protocol="p")
    >>> compute_score_difference_regressions(pairs, scores.assign(n_critical_tokens=1))[["method", "term"]].to_numpy().tolist()[:2]
    [['ols', 'SV-#'], ['ols', 'perplexity']]
    """
    import numpy as np

    good, bad = (
        scores.loc[scores["condition"] == name, [*MODEL_KEY, "item", "n_tokens", "lp", "n_critical_tokens"]]
        for name in ("grammatical", "ungrammatical")
    )
    key = [*MODEL_KEY, "item"]
    joined = pairs.merge(good, on=key, how="left", validate="m:1")
    joined = joined.merge(bad[[*key, "n_critical_tokens"]], on=key, how="left", suffixes=("", "_bad"), validate="m:1")
    if (is_missing := joined["n_tokens"].isna()).any():
        raise DataError(
            cap_faults(f"item {r.item} of {r.model} is not in table sentence_scores" for r in joined[is_missing].itertuples())
        )
    tokens = joined["n_tokens"].astype("float64")
    joined = joined.assign(
        delta=(joined["score_grammatical"] - joined["score_ungrammatical"]).mask(joined["tie"], 0.0),
        perplexity=np.exp((-joined["lp"].astype("float64") / tokens).clip(upper=700)),
        length=tokens,
        subwords=joined["n_critical_tokens"].astype("float64") - joined["n_critical_tokens_bad"].astype("float64"),
    )
    if items is not None:
        known = [name for name in ("distance", "congruent", "incongruent") if name in items]
        joined = joined.merge(items[["item", *known]], on="item", how="left", validate="m:1")
    if languages is not None and "frequency" in languages:
        log = np.log10(pd.to_numeric(languages["frequency"]))
        joined = joined.merge(languages[["language"]].assign(frequency=log), on="language", how="left", validate="m:1")
    models = [
        model.assign(**dict(zip(MODEL_MEASURE_KEY, map(str, names), strict=True)))
        for names, rows in joined.groupby(MODEL_MEASURE_KEY, sort=False)
        for model in _fit_regressions(rows)
    ]
    return check(
        pd.concat(models, ignore_index=True)[TABLES["score_difference_regressions"].column_names], "score_difference_regressions"
    )


PREDICTORS = ("distance", "perplexity", "length", "subwords", "congruent", "incongruent", "frequency")
UNSTANDARDISED_PREDICTORS = ("congruent", "incongruent")


def _fit_regressions(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the coefficients by least squares, and those of the mixed model."""
    import numpy as np

    known_predictors = [name for name in PREDICTORS if name in rows and rows[name].notna().any()]
    rows = rows.dropna(subset=known_predictors)
    varying = [name for name in known_predictors if rows[name].min() < rows[name].max()]
    x = rows[varying].astype("float64")
    x = x.assign(**{n: (x[n] - x[n].mean()) / x[n].std(ddof=0) for n in varying if n not in UNSTANDARDISED_PREDICTORS})
    phenomena = list(dict.fromkeys(rows["phenomenon"]))
    dummies = {f"phenomenon{k}": (rows["phenomenon"] == name).astype("float64") for k, name in enumerate(phenomena)}
    frame = x.assign(**dummies, delta=rows["delta"], language=rows["language"], paradigm=rows["paradigm"])
    terms = [*dummies, *varying]
    counts: dict[str, Any] = {"n_pairs": len(rows), "n_languages": rows["language"].nunique()}
    published = "delta ~ " + " + ".join(["0", "phenomenon", *varying])
    named = dict(zip(dummies, phenomena, strict=True))

    design, delta = frame[terms].to_numpy(dtype="float64"), frame["delta"].to_numpy(dtype="float64")
    row_key = {**counts, "method": "ols", "formula": published}
    if len(rows) <= len(terms) or np.linalg.matrix_rank(design) < len(terms):
        why = "The predictors are not independent of each other, or pairs are too few."
        yield pd.DataFrame([{**row_key, "term": named.get(t, t), "note": why} for t in terms])
    else:
        found = least_squares(design, delta)
        numbers = {"estimate": found.estimates, "se": found.se, "df": found.df, "t": found.t, "p": found.p,
                   "ci_low": found.ci_low, "ci_high": found.ci_high, "note": ""}  # fmt: skip
        yield pd.DataFrame({"term": [named.get(t, t) for t in terms], **numbers}).assign(**row_key)

    groups = " + (1|language) + (1|paradigm)"
    row_key = {**counts, "method": "mixed", "formula": published + groups}
    try:
        mixed = fit(frame, "delta ~ " + " + ".join(["0", *terms]) + groups)
    except DataError as error:
        yield pd.DataFrame([{**row_key, "term": named.get(t, t), "note": str(error)} for t in terms])
        return
    coefficients = mixed[["term", "estimate", "se", "df", "t", "p", "ci_low", "ci_high", "note"]]
    yield coefficients.assign(term=mixed["term"].replace(named), **row_key)
