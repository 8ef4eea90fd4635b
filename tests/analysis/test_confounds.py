"""What the levels of a factor differ in beside it: as `check` finds it before the study, and beside the effect after it."""

from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli
from gardenpath.analysis.grammatical_status import build_pair_conditions
from gardenpath.analysis.measuring.confounds import compute_confounds
from gardenpath.analysis.reporting.wording.confounds import confounds
from gardenpath.stimuli.item_tables import build_conditions_table, build_items_table, build_words_table

PAIRS = "paradigm,phenomenon,item,condition,sentence\n" + "".join(
    f"ever,npi,i{n},{condition},{'No' if condition == 'grammatical' else 'Some'} dog [{verb}] {'very ' * (n % 3)}well today.\n"
    for n in range(6)
    for condition, verb in (("grammatical", f"bark{'s' * (n % 2)}"), ("ungrammatical", f"bark{'ing' * (n % 4)}ed"))
)
CROSSED = "paradigm,phenomenon,item,condition,sentence,factors\n" + "".join(
    f"crossing,agreement,i{n},{noun}.{verb},The {noun} near {'the ' * (n % 2)}it [{verb}] old.,"
    + ('"noun: key, cabinets | verb: is, were"\n' if n == 0 else "\n")
    for n in range(6)
    for noun in ("key", "cabinets")
    for verb in ("is", "were")
)


def read_tables(text: str, folder: Path) -> tuple[stimuli.Materials, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    (folder / "items.csv").write_text(text)
    materials = stimuli.read(folder / "items.csv")
    items = build_items_table(materials)
    crossed = build_conditions_table(materials)
    return materials, build_words_table(materials), items, crossed if len(crossed) else build_pair_conditions(items)


def test_of_one_factor_it_is_what_check_finds_between_its_conditions(tmp_path: Path) -> None:
    materials, words, items, conditions = read_tables(PAIRS, tmp_path)
    found = compute_confounds(words, items, conditions)
    checked = stimuli.compute_balance(materials)
    warned = [finding.message for finding in stimuli.check(materials) if finding.rule == "balance"]
    assert len(found) == len(warned) > 0
    for row in found.to_dict("records"):
        [same] = checked.query(f"region == '{row['region']}' and measure == '{row['measure']}'").to_dict("records")
        assert (row["level_a"], row["level_b"]) == (same["condition_a"], same["condition_b"])
        assert [row["n_items"], row["mean_a"], row["mean_b"]] == [
            same["n_items"],
            pytest.approx(same["mean_a"]),
            pytest.approx(same["mean_b"]),
        ]
        assert row["cohens_d"] is pd.NA if pd.isna(same["cohens_d"]) else row["cohens_d"] == pytest.approx(same["cohens_d"])


def test_levels_of_crossed_factors_are_compared_over_those_of_the_others(tmp_path: Path) -> None:
    _, words, items, conditions = read_tables(CROSSED, tmp_path)
    found = compute_confounds(words, items, conditions).query("measure == 'letters'").set_index(["factor", "region"])
    verb = found.loc[("verb", "critical")]
    assert (verb["level_a"], verb["level_b"], verb["mean_a"], verb["mean_b"]) == ("is", "were", 2, 4)
    assert pd.isna(verb["cohens_d"]), "the same in all items"
    assert ("noun", "critical") not in found.index
    assert found.loc[("noun", "sentence"), "mean_b"] - found.loc[("noun", "sentence"), "mean_a"] == len("cabinets") - len("key")


def test_it_is_said_beside_effects_on_what_it_bears_on(tmp_path: Path) -> None:
    _, words, items, conditions = read_tables(CROSSED, tmp_path)
    table = compute_confounds(words, items, conditions)
    models = pd.DataFrame({"factors": ["verb", "noun:verb", None], "response": "log_rt"})
    [said] = confounds(table[table["measure"] == "letters"], models)
    assert said == (
        "Verb (is, were): the levels also differ in the critical region (letters 2.00 and 4.00, the same in all items), so an "
        "effect of verb may be one of length."
    )
    of_sentences = confounds(table, models.assign(response="z"))
    assert [sentence.partition(" (")[0] for sentence in of_sentences] == ["Noun", "Verb"]
    assert all("the sentence" in sentence and "critical" not in sentence for sentence in of_sentences)
    assert confounds(table, models.assign(factors=None)) == []


def test_of_few_items_nothing_is_said(tmp_path: Path) -> None:
    _, words, items, conditions = read_tables(CROSSED, tmp_path)
    few = items[items["item"].isin(["i0", "i1", "i2", "i3"])]
    assert compute_confounds(words, few, conditions).empty
