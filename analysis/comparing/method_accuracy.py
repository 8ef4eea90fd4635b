"""Ways of asking a language model for its judgment: how often each is right, by template, phenomenon, group and length."""

from collections.abc import Mapping, Sequence

import pandas as pd

from gardenpath.study import TABLES, DataError, check

from ..intervals import MIN_UNITS, correlation_interval, wilson_interval
from .group_accuracy import compute_level_rows, find_group_key
from .model_comparison import correlate_with_length
from .pair_accuracy import ALL_PHENOMENA, MEAN_OVER_PARADIGMS, PAIR_KEY, compute_wins

METHOD_KEY = ["model", "method"]
IN_TEMPLATE_METHOD, PROMPTING_METHOD = (
    "template_lp",
    "yes_no",
)  # the methods that Ide et al. (2025) let vote, and set beside each other
RESPONSE_SEPARATOR = " | "  # stands between two answers of a row


def score_judged_pairs(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments with `compute_wins`, and raise a `DataError` where there are none."""
    if judgments.empty:
        raise DataError("table judgments has no rows; expected one for each pair, model, method and template")
    return judgments.assign(won=compute_wins(judgments))


def compute_method_accuracies(judgments: pd.DataFrame, human_accuracies: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Return the share of pairs won by each method, 0 to 1: by template and over templates, by phenomenon and over all.

    A tie is half a success, an answer that could not be read is none. Wilson intervals (doi 10.1080/01621459.1927.10502953) treat
    pairs as independent. `sd`, over templates, tells how much the wording matters. `human_accuracies` has people's accuracy by
    phenomenon.

    >>> rows = [("m", "yes_no", t, "npi", "ever", f"i{k}", k < n) for t, n in (("1", 4), ("2", 2)) for k in range(4)]
    >>> judgments = pd.DataFrame(rows, columns=["model", "method", "template", "phenomenon", "paradigm", "item", "correct"])
    >>> judgments = judgments.assign(score_grammatical=1.0, tie=False, answer_probability=1.0)
    >>> table = compute_method_accuracies(judgments).query("phenomenon == 'all'")
    >>> table[["template", "n_pairs", "accuracy", "sd"]].round(3).to_numpy().tolist()
    [['1', 4, 1.0, nan], ['2', 4, 0.5, nan], ['mean', 4, 0.75, 0.354]]
    """
    judged = score_judged_pairs(judgments)
    judged = judged.assign(n_unread=judged["score_grammatical"].isna())
    both = pd.concat([judged.assign(phenomenon=ALL_PHENOMENA), judged], ignore_index=True)
    by = [*METHOD_KEY, "phenomenon", "template"]
    table = both.groupby(by, sort=False).agg(
        n_pairs=("won", "size"),
        n_ties=("tie", "sum"),
        n_unread=("n_unread", "sum"),
        accuracy=("won", "mean"),
        answer_probability=("answer_probability", "mean"),
    )
    paradigms = both.groupby([*by, "paradigm"], sort=False)["won"].mean().groupby(by, sort=False)
    table = table.assign(mean_accuracy=paradigms.mean(), n_paradigms=paradigms.size()).reset_index()
    table["wilson_low"], table["wilson_high"] = wilson_interval(table["n_pairs"] * table["accuracy"], table["n_pairs"])
    how = {
        "n_pairs": "max",
        "n_paradigms": "max",
        "n_ties": "sum",
        "n_unread": "sum",
        "mean_accuracy": "mean",
        "answer_probability": "mean",
    }
    means = _summarise_templates(table, [*METHOD_KEY, "phenomenon"], how, "accuracy")
    table = pd.concat([table.assign(n_templates=1), means], ignore_index=True)
    table["human_accuracy"] = table["phenomenon"].map(human_accuracies or {}).astype("float64")
    return check(_sort_rows(table, judged).reindex(columns=TABLES["method_accuracies"].column_names), "method_accuracies")


def compute_response_shares(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return how often a model gives each answer, such as A or Yes, by template and over templates, as shares from 0 to 1.

    Since the grammatical member stands first in half of the pairs, A should be half of the answers: more is a leaning to a side
    (Ide et al. 2025, table 12, doi 10.18653/v1/2025.naacl-long.380). Of a rating it is the distribution over the scale's points.

    >>> judgments = pd.DataFrame({"model": "m", "method": "ab", "template": "1", "response": ["A", "A", "B", "A | B"]})
    >>> compute_response_shares(judgments)[["response", "n_responses", "share"]].to_numpy().tolist()
    [['A', 3, 0.6], ['B', 2, 0.4]]
    """
    given = judgments.dropna(subset="response")
    given = given.assign(response=given["response"].astype(str).str.split(RESPONSE_SEPARATOR, regex=False)).explode("response")
    by = [*METHOD_KEY, "template"]
    counts = given.groupby([*by, "response"], sort=False).size().rename("n_responses").reset_index()
    templates, response_options = counts[by].drop_duplicates(), counts[[*METHOD_KEY, "response"]].drop_duplicates()
    every = templates.merge(response_options, on=METHOD_KEY)  # an answer to one template of a method may be none to another
    table = every.merge(counts, on=[*by, "response"], how="left").fillna({"n_responses": 0})
    total = table.groupby(by)["n_responses"].transform("sum")
    table = table.assign(share=table["n_responses"] / total)
    table["wilson_low"], table["wilson_high"] = wilson_interval(table["n_responses"], total)
    means = _summarise_templates(table, [*METHOD_KEY, "response"], {"n_responses": "sum"}, "share")
    table = _sort_rows(pd.concat([table, means], ignore_index=True), judgments)
    return check(table.reindex(columns=TABLES["response_shares"].column_names), "response_shares")


def compute_method_groups(
    judgments: pd.DataFrame, groups: pd.DataFrame, human_accuracies: pd.DataFrame | None = None, *, seed: int = 1
) -> pd.DataFrame:
    """Return the accuracy of each method at every level of each factor in `groups`, mean over templates, as `accuracy_by` does.

    `groups` and `human_accuracies` are those of `accuracy_by`; `stimuli.groups_of(materials, ["word_shuffling"])` has the
    paradigms whose members have the same words in another order (Ide et al. 2025, figure 4).

    >>> rows = [("m", "lp", "none", p, f"{p}{k}", k < n) for p, n in (("p", 4), ("q", 2)) for k in range(4)]
    >>> judgments = pd.DataFrame(rows, columns=["model", "method", "template", "paradigm", "item", "correct"]).assign(tie=False)
    >>> groups = pd.DataFrame({"paradigm": ["p", "q"], "factor": "word_shuffling", "level": ["other", "shuffled"]})
    >>> compute_method_groups(judgments, groups)[["level", "mean_accuracy", "difference"]].to_numpy().tolist()
    [['other', 1.0, 0.0], ['shuffled', 0.5, -0.5]]
    """
    key = find_group_key(judgments, groups)
    grouped = average_over_templates(judgments).merge(groups[[key, "factor", "level"]], on=key)
    rows = [
        {"model": model, "method": method, **row}
        for (model, method), of_method in grouped.groupby(METHOD_KEY, sort=False)
        for row in compute_level_rows(of_method, groups, human_accuracies, seed)
    ]
    return check(pd.DataFrame(rows, columns=TABLES["method_groups"].column_names), "method_groups")


def compute_method_length_bias(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the point-biserial correlation of winning a pair with grammatical less ungrammatical tokens, ties dropped.

    By template; its mean over the templates of a method; and, of several models, the mean of these over models (Ide et al. 2025,
    table 4). Negative: the method wins where the grammatical member is the shorter one. Tokens are of the sentences alone.

    >>> rows = [("m", "lp", "none", k < 2, 3 + k, 4) for k in range(4)]
    >>> columns = ["model", "method", "template", "correct", "tokens_grammatical", "tokens_ungrammatical"]
    >>> table = compute_method_length_bias(pd.DataFrame(rows, columns=columns).assign(tie=False))
    >>> table[["n_pairs", "mean_difference", "r"]].round(2).to_numpy().tolist()
    [[4.0, 0.5, -0.89]]
    """
    judgments = judgments.assign(longer=judgments["tokens_grammatical"] - judgments["tokens_ungrammatical"])
    by = [*METHOD_KEY, "template"]
    rows = [
        {**dict(zip(by, row_key, strict=True)), "r": float("nan"), **correlate_with_length(judged, judged["longer"])}
        for row_key, judged in judgments.groupby(by, sort=False)
    ]
    table = pd.DataFrame(rows, columns=TABLES["method_length_bias"].column_names)
    counts = dict.fromkeys(("n_pairs", "n_ties", "n_unequal"), "sum")
    how = {**counts, "mean_difference": "mean"}
    means = _summarise_templates(table, METHOD_KEY, how, "r")
    single = table[~table.set_index(METHOD_KEY).index.isin(means.set_index(METHOD_KEY).index)]
    means["note"] = means["r"].isna().map({True: "No correlation under any template.", False: ""})
    parts = [table, means]
    if len(set(table["model"])) > 1:
        each = pd.concat([single, means])
        over = each.groupby("method", sort=False).agg({**how, "r": "mean"}).reset_index()
        parts.append(over.assign(model=MEAN_OVER_PARADIGMS, template=MEAN_OVER_PARADIGMS))
    table = _sort_rows(pd.concat(parts, ignore_index=True), judgments)
    return check(table.reindex(columns=TABLES["method_length_bias"].column_names), "method_length_bias")


def compute_method_differences(
    judgments: pd.DataFrame, method_a: str = PROMPTING_METHOD, method_b: str = IN_TEMPLATE_METHOD, *, seed: int = 1
) -> pd.DataFrame:
    """Return by paradigm how much more often one method is right than another, and the mean difference in tokens of the members.

    The row over all paradigms has the correlation of both: below 0, the first method gains where the grammatical member is shorter,
    and loses where it is longer (Ide et al. 2025, figure 6). Of models judged by both methods; without any, a `DataError`.

    >>> rows = [(method, f"i{k}", k < n) for method, n in (("yes_no", 3), ("template_lp", 1)) for k in range(4)]
    >>> judgments = pd.DataFrame(rows, columns=["method", "item", "correct"]).assign(model="m", template="1", tie=False)
    >>> judgments = judgments.assign(phenomenon="npi", paradigm="p", tokens_grammatical=5, tokens_ungrammatical=6)
    >>> compute_method_differences(judgments)[["paradigm", "difference", "token_difference"]].to_numpy().tolist()
    [['p', 0.5, -1.0], ['mean', 0.5, -1.0]]
    """
    judged = average_over_templates(judgments)
    a, b = (judged[judged["method"] == name] for name in (method_a, method_b))
    both = a.merge(b[["model", *PAIR_KEY, "won"]], on=["model", *PAIR_KEY], suffixes=("_a", "_b"), validate="1:1")
    if both.empty:
        raise DataError(f"table judgments: no pair was judged by a model under both {method_a!r} and {method_b!r}")
    both = both.assign(token_difference=both["tokens_grammatical"] - both["tokens_ungrammatical"])
    parts = []
    for model, rows in both.groupby("model", sort=False):
        each = rows.groupby(["phenomenon", "paradigm"], sort=False).agg(
            n_pairs=("won_a", "size"),
            accuracy_a=("won_a", "mean"),
            accuracy_b=("won_b", "mean"),
            token_difference=("token_difference", "mean"),
        )
        each = each.reset_index().assign(difference=each["accuracy_a"].to_numpy() - each["accuracy_b"].to_numpy())
        numbers = ["accuracy_a", "accuracy_b", "difference", "token_difference"]
        overall = {
            "phenomenon": ALL_PHENOMENA,
            "paradigm": MEAN_OVER_PARADIGMS,
            "n_pairs": int(each["n_pairs"].sum()),
            **each[numbers].mean(),
        }
        overall |= _correlate(each["token_difference"], each["difference"], seed)
        parts.append(pd.concat([each, pd.DataFrame([overall])], ignore_index=True).assign(model=model))
    table = pd.concat(parts, ignore_index=True).assign(method_a=method_a, method_b=method_b)
    return check(table.reindex(columns=TABLES["method_differences"].column_names), "method_differences")


def _correlate(x: "pd.Series[float]", y: "pd.Series[float]", seed: int) -> dict[str, object]:
    from scipy import stats

    if len(x) < 3 or x.nunique() < 2 or y.nunique() < 2:
        return {"note": "No correlation: fewer than 3 paradigms, or one side is the same on all."}
    low, high = correlation_interval(x.to_numpy(), y.to_numpy(), x.index, ranks=False, seed=seed)
    note = f"No interval: {len(x)} paradigms, under {MIN_UNITS}." if len(x) < MIN_UNITS else ""
    return {"r": stats.pearsonr(x, y).statistic, "ci_low": low, "ci_high": high, "note": note}


def average_over_templates(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each pair, model and method: mean of what it wins over the templates, and the sum of its ties."""
    judged = score_judged_pairs(judgments)
    first = [name for name in ("phenomenon", "tokens_grammatical", "tokens_ungrammatical") if name in judged]
    how = {**dict.fromkeys(first, "first"), "won": "mean", "tie": "sum"}
    return judged.groupby([*METHOD_KEY, *PAIR_KEY], sort=False).agg(how).reset_index()


def _summarise_templates(table: pd.DataFrame, by: Sequence[str], aggregations: Mapping[str, str], column: str) -> pd.DataFrame:
    """Return a row over the templates of each method that has several, with mean and standard deviation of a column."""
    grouped = table.groupby([*by], sort=False)
    means = grouped.agg(dict(aggregations)).assign(n_templates=grouped["template"].nunique(), sd=grouped[column].std(ddof=1))
    means[column] = grouped[column].mean()
    return means[means["n_templates"] > 1].reset_index().assign(template=MEAN_OVER_PARADIGMS)


def _sort_rows(table: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the rows by model and method in the order of the judgments, means behind the templates."""

    def list_positions(names: "pd.Series[str]") -> "pd.Series[int]":
        first = [ALL_PHENOMENA] if names.name == "phenomenon" else []
        order = {name: k for k, name in enumerate(dict.fromkeys([*first, *judgments[str(names.name)].unique()]))}
        return names.map(lambda name: order.get(name, len(order)))

    keys = [name for name in ("model", "method", "phenomenon") if name in table]
    return table.sort_values(keys, key=list_positions, kind="stable", ignore_index=True)
