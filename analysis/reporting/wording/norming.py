"""Sentences about norms of single items: what was asked, which items were kept, and what a model would have said."""

from collections.abc import Sequence

import pandas as pd

NAMED = 8  # items that are spelt out


def normed(norms: pd.DataFrame, responses: pd.DataFrame | None, readers: int, asked: int) -> list[str]:
    """Return how many answers there are, and how they were counted.

    >>> norms = pd.DataFrame({"item": ["i1"], "n_valid_responses": [20], "task": "plausibility"})
    >>> normed(norms, None, 20, asked=20)
    ['20 readers rated the plausibility of 1 sentence of 1 item, 20 answers each.']
    """
    task, n = norms["task"].iloc[0], norms["n_valid_responses"]
    span = f"{n.min()}" if n.min() == n.max() else f"{n.min()} to {n.max()}"
    short = int((n < asked).sum())
    lacking = f" {_count(short, 'sentence')} have fewer than the {asked} that norm.toml asks for." if short else ""
    of = f"{_count(len(norms), 'sentence')} of {_count(norms['item'].nunique(), 'item')}"
    if responses is None:
        return [f"{_count(readers, 'reader')} rated the {task} of {of}, {span} answers each.{lacking}"]
    how = responses.groupby("coding")["n_responses"].sum()
    said = [f"{_count(readers, 'reader')} went on with the fragments of {of}, {span} answers each.{lacking}"]
    said.append(
        "An answer counts by its first word; words that differ in capitals are one form; a word of four letters or more that is "
        "in no word list (without a list: that one person typed) counts as the form that is one edit from it and was given most "
        f"often, or is the item's own: {_count(int(how.get('spelling', 0)), 'answer')}, shown in the table cloze_responses. "
        f"{_count(int(how.get('edited', 0)), 'answer')} changed by hand; "
        f"{int(responses.loc[responses['form'].isna(), 'n_responses'].sum())} left out, without a word or by hand."
    )
    return said


def chosen(norms: pd.DataFrame, decisions: pd.DataFrame, rules: Sequence[str], sha256: str, declared: bool | None) -> list[str]:
    """Return by which rules items were kept, whether these stood before the data, and what selection does to the kept."""
    if not rules:
        return ["No rule for keeping items was stated; all are kept."]
    kept = decisions["kept"]
    said = [f"{int(kept.sum())} of {_count(len(kept), 'item')} are kept: {'; '.join(rules)}."]
    if declared:
        said.append(
            f"The rule was stated before the first answer: its hash ({sha256[:12]}) stands in every list that a session ran. "
            "Nobody chose items by their results; the rule did."
        )
    elif declared is None:
        said.append("Whether the rule was stated before the data cannot be told from tables; name the data themselves.")
    else:
        said.append(
            f"THE RULE WAS NOT STATED BEFORE THE DATA: norm.toml (hash {sha256[:12]}) is not the one of the lists that "
            "sessions ran, so items may have been chosen by their results."
        )
    mine = norms[norms["item"].isin(decisions.loc[kept, "item"]) & norms["shrunken"].notna()]
    for condition, some in mine.groupby("condition", sort=False):
        said.append(
            f"Kept items in {condition}: mean {some['value'].mean():.3f} as found, {some['shrunken'].mean():.3f} shrunken; who "
            "selects by numbers with error selects those whose error was favourable too, so the shrunken ones are to be reported."
        )
    return said


def compare_with_models(by_model: pd.DataFrame, entropy: bool) -> list[str]:
    """Return, for each model, how its probabilities relate to people's, and which items it would have decided otherwise."""
    said = []
    for model, some in by_model.groupby("model", sort=False):
        both = some.dropna(subset=["value", "model_value"])
        sentence = f"{model}: mean {both['model_value'].mean():.3f}, people {both['value'].mean():.3f}"
        if len(both) > 2 and both["value"].std() > 0 and both["model_value"].std() > 0:
            sentence += f", r = {both['value'].corr(both['model_value']):.2f} over {len(both)} sentences"
        each = some.groupby("item", sort=False)[["kept", "kept_by_model"]].first()
        for people, its, verb in ((True, False, "drop"), (False, True, "keep")):
            items = [*each.index[(each["kept"] == people) & (each["kept_by_model"] == its)]]
            named = ", ".join(items[:NAMED]) + (f" and {len(items) - NAMED} more" if len(items) > NAMED else "")
            other = "keep" if people else "drop"
            sentence += f"; it would {verb} {len(items)} that people's norms {other}" + (f" ({named})" if items else "")
        said.append(sentence + ("; rules on entropy are people's in both." if entropy else "."))
    return said


def predicted(means: pd.DataFrame, drawn: bool) -> list[str]:
    """Return the means of conditions over all items that the normed ones were drawn from, or why there are none."""
    if not drawn:
        return [
            "No mean of other items is predicted: that needs items drawn at random from them, which norm.toml does not state "
            "(--sample)."
        ]
    rows = means.dropna(subset="predicted_mean").to_dict("records")
    if not rows:
        return ["No mean of other items is predicted: that needs ten normed items of a condition, and ten others."]
    return [
        f"{'All paradigms' if row['paradigm'] == 'all' else row['paradigm']}, {row['condition']}: "
        f"mean over all {row['n_items'] + row['n_other_items']} items {row['predicted_mean']:.3f} "
        f"[{row['predicted_ci_low']:.3f}, {row['predicted_ci_high']:.3f}], prediction-powered by {row['model']} "
        f"(doi 10.1126/science.adi6000); of the {row['n_items']} normed alone {row['mean_value']:.3f} "
        f"[{row['ci_low']:.3f}, {row['ci_high']:.3f}]."
        for row in rows
    ]


def replaced(dropped: int, new: int, source: str, seed: int) -> str:
    """Return where new items come from."""
    return (
        f"For {_count(dropped, 'item')} dropped there are {new} new ones of {source}, drawn with seed {seed}, none of which shares "
        "a sentence with those normed. Nobody chose them; they are to be normed before they are used."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
