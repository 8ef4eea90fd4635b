"""Norms of single items: cloze probabilities by form, entropy, ratings, what selection does to them, and a model beside them."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from gardenpath.study import TABLES, AnalysisSection, DataError, check

from ..intervals import MIN_UNITS as FEWEST_UNITS
from ..intervals import wilson_interval

FRAGMENT_KEY = ["item", "conditions"]
ALL_PARADIGMS = "all"
MIN_CORRECTABLE_LETTERS = 4  # of the shortest word whose spelling is corrected
MIN_ITEMS = 5  # with fewer items in a condition nothing is known of how they spread
NORMAL_QUANTILE = 1.959963984540054  # quantile at .975
EDGE_PUNCTUATION = re.compile(r"^[\W_]+|[\W_]+$")
APOSTROPHE_TABLE = str.maketrans("’ʼ‘", "'''")

WordLookup = Callable[[str, str], bool | None]  # whether a word of a language is one; None where nothing can say


def extract_first_word(typed: str, fragment: str, *, spaced: bool = True) -> str:
    """Return the first word of an answer without the marks around it; of an answer that repeats the fragment the first after it.

    Where words are not spaced it is the whole answer.

    >>> [extract_first_word(typed, "She saw") for typed in ("... the dog, I think", "She saw dogs.", "?")]
    ['the', 'dogs', '']
    """
    text = " ".join(unicodedata.normalize("NFC", typed).split())
    before = " ".join(unicodedata.normalize("NFC", fragment).split())
    if before and text.casefold().startswith(before.casefold()) and (rest := text[len(before) :].strip()):
        text = rest
    words = (EDGE_PUNCTUATION.sub("", word) for word in (text.split() if spaced else [text]))
    return next(filter(None, words), "")


def is_one_edit(a: str, b: str) -> bool:
    """Whether two words differ in one letter: another, one more, one less, or two neighbours swapped.

    >>> is_one_edit("bread", "braed"), is_one_edit("bread", "bred"), is_one_edit("bread", "bird")
    (True, True, False)
    """
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[same:], b[same:]
    swapped = len(a) > 1 and len(b) > 1 and a[:2] == b[1] + b[0] and a[2:] == b[2:]
    return a != b and (swapped or a[1:] == b or a == b[1:] or a[1:] == b[1:])


def _standardise_word(word: str) -> str:
    return unicodedata.normalize("NFC", word).translate(APOSTROPHE_TABLE).casefold()


def code_cloze_responses(
    responses: pd.DataFrame,
    fragments: pd.DataFrame,
    *,
    is_known_word: WordLookup | None = None,
    edited_forms: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return table `cloze_responses`: the form that each answer to a fragment is counted as, by its first word.

    Words that differ in capitals alone are one form. A word of four letters or more that is not `is_known_word` (where nothing
    can say: that one person typed) is counted as one that is, if it is one edit from it: from a form that others gave to the
    same fragment, the one given most often, or the target. Of two equally frequent ones it is neither's. `edited_forms` is such
    a table as a person has changed it: its forms decide.

    >>> asked = {"item": "i1", "paradigm": "p", "condition": "a", "language": "en", "context": None, "has_word_spaces": True}
    >>> fragments = pd.DataFrame([{**asked, "fragment": "She cut the", "target": "bread"}])
    >>> typed = ["bread", "Bread.", "braed and butter", "cake"]
    >>> responses = pd.DataFrame({"item": "i1", "condition": "a", "response": typed})
    >>> code_cloze_responses(responses, fragments)[["response", "form", "coding"]].values.tolist()
    [['Bread.', 'bread', 'case'], ['braed and butter', 'bread', 'spelling'], ['bread', 'bread', 'typed'], ['cake', 'cake', 'typed']]
    """
    merged_fragments = merge_shared_fragments(fragments)
    fragment_responses = (
        responses[["item", "condition", "response"]].dropna().merge(merged_fragments, on=["item", "condition"], validate="m:1")
    )
    rows: list[tuple[Any, ...]] = []
    for (item, conditions), some in fragment_responses.groupby(FRAGMENT_KEY, sort=False):
        fragment_rows = merged_fragments[(merged_fragments["item"] == item) & (merged_fragments["conditions"] == conditions)]
        rows += (
            (item, conditions, *row) for row in _code_fragment_responses(some["response"].astype(str), fragment_rows, is_known_word)
        )
    table = pd.DataFrame(rows, columns=TABLES["cloze_responses"].column_names).sort_values(
        [*FRAGMENT_KEY, "response"], ignore_index=True
    )
    return check(table if edited_forms is None else _apply_edited_forms(table, edited_forms), "cloze_responses")


def select_norming_responses(tables: Mapping[str, pd.DataFrame], settings: AnalysisSection, task: str) -> pd.DataFrame:
    """Return the answers to the targets of a norming study, under its task's name, of those whom the exclusions leave in."""
    from ..cleaning.exclusions import apply_study_exclusions

    _, responses, _, _ = apply_study_exclusions(tables, settings)
    asked = responses[(responses["role"] == "target") & (responses["prompt"] == task)]
    if asked.empty:
        raise DataError(f"no answers to the task {task!r}; expected the data of this norming study")
    return asked


def merge_shared_fragments(fragments: pd.DataFrame) -> pd.DataFrame:
    """Return the fragments with the conditions that each is the same in, with commas between: their answers are one."""
    joined = fragments.groupby(["item", "fragment"], sort=False)["condition"].transform(", ".join)
    return fragments.assign(conditions=joined)


def _code_fragment_responses(
    typed: pd.Series, fragment_rows: pd.DataFrame, is_known_word: WordLookup | None
) -> Iterator[tuple[Any, ...]]:
    """Yield each answer to one fragment with its number, its word, its form and how that was found."""
    fragment, language, spaced = fragment_rows[["fragment", "language", "has_word_spaces"]].iloc[0]
    times = Counter(typed)
    words = {text: extract_first_word(text, fragment, spaced=bool(spaced)) for text in times}
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for text, number in times.items():
        if words[text]:
            spellings[_standardise_word(words[text])][words[text]] += number
    targets = {_standardise_word(word): word for word in fragment_rows["target"]}
    counts = {key: forms.total() for key, forms in spellings.items()}
    form_of = {key: targets.get(key) or max(sorted(forms), key=forms.__getitem__) for key, forms in spellings.items()}
    sure = {
        key
        for key in {*counts, *targets}
        if key in targets or (counts[key] > 1 if (says := is_known_word and is_known_word(key, language)) is None else says)
    }
    for text, number in times.items():
        word, key = words[text], _standardise_word(words[text])
        near = [] if key in sure or len(key) < MIN_CORRECTABLE_LETTERS else [one for one in sorted(sure) if is_one_edit(key, one)]
        best = sorted((counts.get(one, 0) for one in near), reverse=True)
        if near and (len(near) == 1 or best[0] > best[1]):
            right = max(near, key=lambda one: counts.get(one, 0))
            yield text, number, word, form_of.get(right, targets.get(right)), "spelling"
        elif not word:
            yield text, number, None, None, "none"
        else:
            form = form_of[key]
            yield text, number, word, form, "case" if word != form else "typed" if text == word else "first word"


def _apply_edited_forms(table: pd.DataFrame, edited_forms: pd.DataFrame) -> pd.DataFrame:
    key = [*FRAGMENT_KEY, "response"]
    both = table.merge(edited_forms[[*key, "form"]], on=key, how="outer", suffixes=("", "_edited"), indicator=True)
    if len(unknown := both[both["_merge"] == "right_only"]):
        row = unknown.iloc[0]
        raise DataError(
            f"the grouping has {row['response']!r} for item {row['item']} ({row['conditions']}), which nobody answered; expected "
            f"the answers of these data ({len(unknown)} are not)"
        )
    there = both["_merge"] == "both"
    empty = both["form_edited"].isna() & both["form"].isna()
    changed = there & ~empty & (both["form"] != both["form_edited"])
    both["form"] = both["form"].where(~there, both["form_edited"])
    both["coding"] = both["coding"].where(~changed, "edited")
    return both[table.columns].sort_values(key, ignore_index=True)


def compute_cloze(coded_responses: pd.DataFrame, fragments: pd.DataFrame, lemmas: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return table `cloze`: how probable each form is after its fragment, of table `cloze_responses`.

    The lemma of a form stands beside it where `lemmas` has it; nothing is added up by it, since `is` and `are` would be one.

    >>> row = {"item": "i1", "paradigm": "p", "condition": "a", "language": "en", "context": None, "has_word_spaces": True}
    >>> fragments = pd.DataFrame([{**row, "fragment": "She cut the", "target": "bread"}])
    >>> coded = pd.DataFrame({"item": "i1", "conditions": "a", "form": ["bread", "cake"], "n_responses": [3, 1]})
    >>> compute_cloze(coded, fragments)[["form", "probability"]].values.tolist()
    [['bread', 0.75], ['cake', 0.25]]
    """
    counted = coded_responses.dropna(subset="form").groupby([*FRAGMENT_KEY, "form"], sort=False)["n_responses"].sum().reset_index()
    counted["n_valid_responses"] = counted.groupby(FRAGMENT_KEY)["n_responses"].transform("sum")
    counted["probability"] = counted["n_responses"] / counted["n_valid_responses"]
    counted["ci_low"], counted["ci_high"] = wilson_interval(counted["n_responses"], counted["n_valid_responses"])
    counted["lemma"] = [(lemmas or {}).get(form) for form in counted["form"]]
    texts = merge_shared_fragments(fragments)[[*FRAGMENT_KEY, "fragment"]].drop_duplicates()
    table = counted.merge(texts, on=FRAGMENT_KEY, validate="m:1")[TABLES["cloze"].column_names]
    order = table.sort_values([*FRAGMENT_KEY, "n_responses", "form"], ascending=[True, True, False, True], ignore_index=True)
    return check(order, "cloze")


def compute_cloze_norms(table: pd.DataFrame, fragments: pd.DataFrame) -> pd.DataFrame:
    """Return table `norms` of a cloze test, of table `cloze`: the probability of each sentence's own word, and the entropy.

    The entropy (bits) is that of the shares as they are; with few answers it is too low (doi 10.1162/089976603321780272).

    >>> row = {"item": "i1", "paradigm": "p", "condition": "a", "language": "en", "context": None, "has_word_spaces": True}
    >>> fragments = pd.DataFrame([{**row, "fragment": "She cut the", "target": "bread"}])
    >>> coded = pd.DataFrame({"item": "i1", "conditions": "a", "form": ["bread", "cake"], "n_responses": [1, 1]})
    >>> compute_cloze_norms(compute_cloze(coded, fragments), fragments)[["target", "value", "entropy"]].values.tolist()
    [['bread', 0.5, 1.0]]
    """
    import numpy as np

    given: dict[Any, pd.DataFrame] = dict(iter(table.groupby(FRAGMENT_KEY, sort=False)))
    norms = merge_shared_fragments(fragments).reset_index(drop=True)
    found = [_summarise_forms(given.get((row["item"], row["conditions"])), row["target"]) for row in norms.to_dict("records")]
    found_columns = ["n_valid_responses", "hits", "entropy", "modal_form"]
    norms[found_columns] = pd.DataFrame(found, columns=found_columns)
    n = norms["n_valid_responses"].where(norms["n_valid_responses"] > 0).astype("float64")
    hits = norms["hits"].astype("float64")
    norms["value"] = hits / n
    norms["ci_low"], norms["ci_high"] = wilson_interval(hits, n)
    counted = norms.assign(hits=hits).dropna(subset="value").groupby("condition")[["hits", "n_valid_responses"]]
    shrunken = [pd.Series(shrink_proportions(some["hits"], some["n_valid_responses"]), some.index) for _, some in counted]
    norms = norms.assign(task="cloze", sd=np.nan, shrunken=pd.concat(shrunken) if shrunken else np.nan)
    return check(norms[TABLES["norms"].column_names], "norms")


def _summarise_forms(forms: pd.DataFrame | None, target: str) -> tuple[int, int, float, str | None]:
    """Return how many answers there are to a fragment, how many are the target, their entropy and their most frequent form."""
    import numpy as np

    if forms is None:
        return 0, 0, np.nan, None
    p = forms["probability"].to_numpy(dtype="float64")
    hits = int(forms.loc[forms["form"].map(_standardise_word) == _standardise_word(target), "n_responses"].sum())
    return (int(forms["n_valid_responses"].iloc[0]), hits, float(-(p * np.log2(p)).sum()) + 0.0, str(forms["form"].iloc[0]))


def compute_rating_norms(responses: pd.DataFrame, items: pd.DataFrame, task: str) -> pd.DataFrame:
    """Return table `norms` of ratings: the mean of each sentence with its interval (Student's t over readers).

    >>> items = pd.DataFrame({"item": ["i1"], "paradigm": ["p"], "condition": ["a"]})
    >>> responses = pd.DataFrame({"item": "i1", "condition": "a", "response": ["5", "6", "7"]})
    >>> norms = compute_rating_norms(responses, items, "plausibility")
    >>> norms[["n_valid_responses", "value", "ci_low", "ci_high"]].round(2).values.tolist()
    [[3.0, 6.0, 3.52, 8.48]]
    """
    import numpy as np
    from scipy import stats

    given = responses.assign(rating=pd.to_numeric(responses["response"])).dropna(subset="rating")
    by = given.groupby(["item", "condition"])["rating"].agg(n_valid_responses="count", value="mean", sd="std").reset_index()
    norms = items[["item", "paradigm", "condition"]].merge(by, on=["item", "condition"], how="left", validate="1:1")
    norms["n_valid_responses"] = n = norms["n_valid_responses"].fillna(0).astype("int64")
    half = stats.t.ppf(0.975, (n - 1).clip(lower=1)) * norms["sd"] / n**0.5
    norms["ci_low"], norms["ci_high"] = norms["value"] - half, norms["value"] + half
    rated = norms.dropna(subset="sd").groupby("condition")[["value", "sd", "n_valid_responses"]]
    shrunken = [pd.Series(shrink_means(some["value"], some["sd"], some["n_valid_responses"]), some.index) for _, some in rated]
    norms["shrunken"] = pd.concat(shrunken) if shrunken else np.nan
    norms = norms.assign(task=task, target=None, entropy=np.nan, modal_form=None)
    return check(norms[TABLES["norms"].column_names], "norms")


def shrink_proportions(hits: Any, n: Any) -> Any:
    """Return the posterior mean of each item's probability, given those of all: empirical Bayes.

    Probabilities are drawn from a beta distribution whose parameters have the largest likelihood (Casella 1985,
    doi 10.1080/00031305.1985.10479400). Under 5 items there is nothing to go by, and all is empty.

    >>> [round(float(x), 2) for x in shrink_proportions([0, 2, 10, 18, 20], [20] * 5)]
    [0.01, 0.11, 0.5, 0.89, 0.99]
    """
    import numpy as np
    from scipy import optimize, special

    hits, n = np.asarray(hits, dtype="float64"), np.asarray(n, dtype="float64")
    if len(hits) < MIN_ITEMS:
        return np.full(len(hits), np.nan)

    def cost(given: Any) -> float:
        mean, size = special.expit(given[0]), np.exp(given[1])
        a, b = mean * size, (1 - mean) * size
        return -float((special.betaln(hits + a, n - hits + b) - special.betaln(a, b)).sum())

    share = (hits.sum() + 0.5) / (n.sum() + 1)
    starts = [(special.logit(share), np.log(size)) for size in (1.0, 10.0, 100.0)]
    bounds = [(-12, 12), (np.log(0.05), np.log(1e5))]
    best = min((optimize.minimize(cost, start, bounds=bounds) for start in starts), key=lambda found: found.fun)
    mean, size = special.expit(best.x[0]), np.exp(best.x[1])
    return (hits + mean * size) / (n + size)


def shrink_means(means: Any, sds: Any, n: Any) -> Any:
    """Return the posterior mean of each item's mean, given those of all: empirical Bayes.

    Errors are normal with one variance, pooled over items, and true means spread as DerSimonian and Laird estimate
    (doi 10.1016/0197-2456(86)90046-2); Efron and Morris 1975, doi 10.1080/01621459.1975.10479864. Under 5 items all is empty.

    >>> [round(float(x), 2) for x in shrink_means([2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 5, [4] * 5)]
    [2.2, 3.1, 4.0, 4.9, 5.8]
    """
    import numpy as np

    means, sds, n = (np.asarray(values, dtype="float64") for values in (means, sds, n))
    if len(means) < MIN_ITEMS:
        return np.full(len(means), np.nan)
    error = ((n - 1) * sds**2).sum() / (n - 1).sum() / n
    if not error.any():  # everybody agrees on every item
        return means
    weight = 1 / error
    centre = (weight * means).sum() / weight.sum()
    q = (weight * (means - centre) ** 2).sum()
    spread = max(0.0, (q - (len(means) - 1)) / (weight.sum() - (weight**2).sum() / weight.sum()))
    weight = 1 / (error + spread)
    centre = (weight * means).sum() / weight.sum()
    return centre + spread / (spread + error) * (means - centre)


def prediction_powered_mean(values: Any, predictions: Any, others: Any) -> tuple[float, float, float]:
    """Return the mean of all items, with its 95 % interval, where `values` are known of a random sample of them alone.

    `predictions` are a model's values of the same items, `others` those of the items that were not in the sample: the mean of
    the latter is corrected by how far the model is off on the former (Angelopoulos et al. 2023, doi 10.1126/science.adi6000).

    >>> tuple(round(x, 3) for x in prediction_powered_mean([0.2, 0.4], [0.1, 0.3], [0.2, 0.3, 0.4]))
    (0.4, 0.287, 0.513)
    """
    import numpy as np

    values, predictions, others = (np.asarray(given, dtype="float64") for given in (values, predictions, others))
    off = values - predictions
    mean = float(others.mean() + off.mean())
    half = NORMAL_QUANTILE * float(np.sqrt(others.var(ddof=1) / len(others) + off.var(ddof=1) / len(off)))
    return mean, mean - half, mean + half


def compute_norm_means(
    norms: pd.DataFrame, by_model: pd.DataFrame | None = None, others: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return table `norm_means`: the mean of each paradigm's condition, and of all of them, over items, with its interval.

    `others` are a model's values of the items that were not normed (model, item, paradigm, condition, model_value), beside those of
    `by_model`: with them there are prediction-powered means too, which hold if the normed items were drawn at random. There are
    no intervals of fewer than ten items.

    >>> norms = pd.DataFrame({"paradigm": "p", "condition": "a", "value": [0.1, 0.3] * 5})
    >>> compute_norm_means(norms)[["n_items", "mean_value", "ci_low", "ci_high"]].round(2).values.tolist()
    [[10.0, 0.2, 0.13, 0.27]]
    """
    import numpy as np

    groups = [*norms.groupby(["paradigm", "condition"], sort=False)]
    if len({*norms["paradigm"]}) > 1:
        groups += [((ALL_PARADIGMS, condition), some) for condition, some in norms.groupby("condition", sort=False)]
    rows: list[dict[str, Any]] = []
    for (paradigm, condition), some in groups:
        values = some["value"].dropna().to_numpy(dtype="float64")
        if not len(values):
            continue
        mean, enough = values.mean(), len(values) >= FEWEST_UNITS
        half = NORMAL_QUANTILE * values.std(ddof=1) / len(values) ** 0.5 if enough else np.nan
        row = {"paradigm": paradigm, "condition": condition, "n_items": len(values), "mean_value": mean}
        row |= {"ci_low": mean - half, "ci_high": mean + half}
        found = []
        for model, rest in () if others is None else others.groupby("model", sort=False):
            assert by_model is not None
            is_here = {"condition": condition} | ({} if paradigm == ALL_PARADIGMS else {"paradigm": paradigm})
            own = _select_rows(by_model, {"model": model, **is_here}).dropna(subset=["value", "model_value"])
            more = _select_rows(rest, is_here)["model_value"].dropna()
            if min(len(own), len(more)) >= FEWEST_UNITS:
                predicted = prediction_powered_mean(own["value"], own["model_value"], more)
                names = ("predicted_mean", "predicted_ci_low", "predicted_ci_high")
                found.append({**row, "model": model, "n_other_items": len(more), **dict(zip(names, predicted, strict=True))})
        rows += found or [row]
    task = norms["task"].iloc[0] if "task" in norms and len(norms) else None
    return check(pd.DataFrame(rows, columns=TABLES["norm_means"].column_names).assign(task=task), "norm_means")


def _select_rows(table: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    chosen = pd.Series(True, index=table.index)
    for name, value in values.items():
        chosen &= table[name] == value
    return table[chosen]
