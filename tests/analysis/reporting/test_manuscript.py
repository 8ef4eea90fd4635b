"""What is pasted: it says what was done, no more, and nothing of what was not."""

import pandas as pd
import pytest

from gardenpath.analysis import AlignmentOptions, align, analyse
from gardenpath.analysis.model_results import join_results, select_pairs
from gardenpath.analysis.reporting.manuscript import methods, ready_to_paste
from gardenpath.analysis.reporting.references import REFERENCES, cited
from gardenpath.study import TABLES, AnalysisSection, ExcludeSection, check

Tables = dict[str, pd.DataFrame]


@pytest.fixture
def found(analysed: Tables) -> Tables:
    return analysed


def test_methods_state_counts_rules_models_and_versions(found: Tables) -> None:
    text = "\n".join(methods(found, {"glmm": "0.6.2", "gardenpath": "9.9"}))
    assert "Of 24 participants who began, 23 completed the study. No participant was excluded." in text
    assert "We excluded 1 of 529 critical regions (0.2%): a word of it was read in less than 100 or more than 3000 ms." in text
    assert "`z ~ grammaticality + (1|participant) + (1|item)`" in text
    assert "the Python package glmm 0.6.2" in text
    assert text.endswith("gardenpath 9.9.")
    for random, named in (("intercepts", "with intercepts alone"), ("slopes", "with slopes")):
        singular = select_pairs(join_results(found)).query(f"random == '{random}'")["singular"]
        assert f"{singular.sum()} of {len(singular)} models {named} were singular" in text


def test_methods_follow_what_was_done(tables: Tables) -> None:
    responses = tables["responses"].copy()
    responses.loc[responses["participant"] == "P02", ["role", "correct"]] = ["attention", False]
    changed = {"readings": tables["readings"].head(0), "responses": responses}
    given = {name: tables[name] for name in ("sessions", "items")} | changed
    found = analyse(given, AnalysisSection(exclude=ExcludeSection(min_attention=0.5)))
    text = "\n".join(methods(found))
    assert "We excluded 1 of 23 participants: less than 50% of attention items answered as asked (n = 1); 22 remained." in text
    assert "reading time" not in text.lower()
    assert "log_rt" not in text


def test_each_reference_is_listed_where_it_is_cited_and_nowhere_else(found: Tables) -> None:
    text = ready_to_paste(found)
    told, _, references = text.partition("## References")
    assert references
    for name, reference in REFERENCES.items():
        assert (name in told) == (reference.entry in references) == (reference.address in references)
    assert cited("nothing") == []


def test_the_list_of_references_is_in_alphabetical_order_with_one_address_each() -> None:
    entries = [reference.entry.casefold() for reference in REFERENCES.values()]
    assert entries == sorted(entries)
    assert len({reference.address for reference in REFERENCES.values()}) == len(REFERENCES)
    for name, reference in REFERENCES.items():
        author, year = name.split(" ")[0].rstrip(",") if not name.startswith("van") else "van Heuven", name[-4:]
        assert reference.entry.startswith(author)
        assert f"({year})" in reference.entry


def test_methods_of_alignment_tell_predictors_lags_exclusions_and_folds_as_they_were(tables: Tables, found: Tables) -> None:
    given = {name: tables[name] for name in ("readings", "sessions", "surprisal", "words")}
    aligned = align(given, AlignmentOptions(lags=1, slopes=False, folds=3))
    text = "\n".join(methods(tables | found | aligned, {}, {"little-lm (toy)": "GPT2LMHeadModel"}))
    assert "Language models: little-lm (toy) (GPT2LMHeadModel)." in text
    assert "first word of its sentence (n = " in text
    assert "surprisal, length and frequency of the word and of the word before, position" in text
    assert "The intercept by token is there because readers share words." in text
    assert "(1 passed)" in text
    assert "items were dealt to 3 folds" in text
    assert "sign flips over 24 clusters" in text
    assert "varies over participants where" not in text
    assert "compared by two-sided" not in text
    without = "\n".join(methods(found))
    assert not any(word in without for word in ("surprisal", "Language models", "folds", "Goodkind"))


def test_the_same_tables_give_the_same_text_and_no_table_gives_none(found: Tables) -> None:
    assert ready_to_paste(found) == ready_to_paste(found)
    assert methods({}) == []
    assert ready_to_paste({}).strip() == ""


def test_every_part_may_be_missing(found: Tables) -> None:
    for name in found:
        without = {other: frame for other, frame in found.items() if other != name}
        assert "nan" not in ready_to_paste(without).lower().replace("nance", "")
        assert isinstance(ready_to_paste({name: found[name]}), str)


def test_a_factorial_study_states_its_hypothesis_first_and_ends_in_tables_of_cells_and_contrasts() -> None:
    place = {"model": "relatives", "response": "z", "region": "sentence", "prompt": "ease"}
    model = {"model_id": "m", "unit": "model", "family": "gaussian", "random": "declared", "policy": "declared", "headline": True}
    model |= {"optimistic": False}
    effect = {"estimate": 0.31, "se": 0.1, "df": 20.0, "t": 3.1, "p": 0.006, "ci_low": 0.1, "ci_high": 0.52}
    term = {"kind": "coefficient", "term": "noun_b_a", "contrast": "noun: b minus a"}
    fit = {"model_id": "m", "step": 0, "kept": True, "engine": "glmm", "formula": "z ~ noun_b_a + (1|item)", "n": 90}
    fit |= {"n_participants": 9, "n_items": 10, "converged": True, "singular": False, "reduced": False, "decision": "kept"}
    rows = {"effects": place | model | effect | term, "models": fit}
    tables = {name: check(pd.DataFrame([row]).reindex(columns=TABLES[name].column_names), name) for name, row in rows.items()}
    cells = [("a", -0.2), ("b", 0.1)]
    means = pd.DataFrame(cells, columns=["levels", "mean_value"]).assign(
        **place, factors="noun", n_participants=9, n_excluded_participants=0, n_trials=45
    )
    means = means.assign(ci_low=means["mean_value"] - 0.1, ci_high=means["mean_value"] + 0.1)
    means = means.reindex(columns=TABLES["factorial_means"].column_names)
    text = ready_to_paste({**tables, "factorial_means": means})
    assert text.startswith("## What was tested\n\nWe tested the effect of noun (b − a) on ratings.[^1]\n\n## Methods")
    assert "we fitted `z ~ noun + (1|item)`" in text
    assert "Cousineau-Morey intervals (Morey, 2008)" in text
    assert "\n| a | −0.20 [−0.30, −0.10] |\n| b | 0.10 [0.00, 0.20] |\n" in text
    assert "\n| noun (b − a) | 0.31 | [0.10, 0.52] | 3.10 (20.0) | .006 |\n" in text
    assert "https://doi.org/10.20982/tqmp.04.2.p061" in text
