"""`align`: each word beside its own score and that of the word before; everything else is named or counted."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import align, alignment_models
from gardenpath.study import DataError, check

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "sessions", "surprisal", "words")


def aligned(tables: Tables, **changed: pd.DataFrame) -> Tables:
    return align(*((tables | changed)[name] for name in GIVEN))


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    return aligned(tables)


def test_each_table_is_as_declared(found: Tables) -> None:
    assert list(found) == ["aligned", "alignment_models", "alignment_exclusions"]
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)


def test_each_row_has_its_words_score_and_that_of_the_word_before(tables: Tables, found: Tables) -> None:
    place = ["item", "condition", "word"]
    score = tables["surprisal"].set_index(place)["surprisal"]
    word = tables["words"].set_index(place)
    for row in found["aligned"].sample(50, random_state=1).to_dict("records"):
        here, before = (tuple(row[k] if k != "word" else row[k] - d for k in place) for d in (0, 1))
        assert (row["surprisal"], row["surprisal_previous"]) == (score[here], score[before])
        assert (row["length"], row["zipf"]) == (word.loc[here, "length"], word.loc[here, "zipf"])
        assert (row["length_previous"], row["zipf_previous"]) == (word.loc[before, "length"], word.loc[before, "zipf"])
        assert row["log_rt"] == pytest.approx(np.log(row["rt"]))
        assert row["log_trial"] == pytest.approx(np.log(row["trial"] + 1))
        assert row["token"] == f"{row['item']}:{row['condition']}:{row['word']}"


def test_first_words_have_no_word_before_and_are_counted(tables: Tables, found: Tables) -> None:
    assert found["aligned"]["word"].min() == 1
    ledger = found["alignment_exclusions"].set_index("rule")["excluded"]
    assert ledger["first word of its sentence, which has no word before"] == 529  # 23 readers x 23 trials


def test_a_word_without_frequency_takes_itself_and_the_next_one_out(tables: Tables, found: Tables) -> None:
    words = tables["words"].copy()
    words.loc[words["word"] == 4, "zipf"] = np.nan
    less = aligned(tables, words=words)
    assert set(found["aligned"]["word"]) - set(less["aligned"]["word"]) == {4, 5}
    rows = less["alignment_exclusions"]
    assert rows.loc[rows["rule"].str.contains("Zipf"), "excluded"].item() == 2 * 529


def joined(surprisal: pd.DataFrame, first: int) -> pd.DataFrame:
    """The scores with two neighbouring words of every sentence as one unit, as where a token spans both."""
    one, other = (surprisal[surprisal["word"] == first + k] for k in (0, 1))
    texts = [f"{a} {b}" for a, b in zip(one["text"], other["text"], strict=True)]
    pair = one.assign(text=texts, words=2, surprisal=one["surprisal"] + other["surprisal"].to_numpy())
    return check(pd.concat([surprisal[~surprisal["word"].isin([first, first + 1])], pair]), "surprisal")


def test_words_joined_by_a_token_of_one_model_are_left_out_for_all_and_counted(tables: Tables, found: Tables) -> None:
    other = joined(tables["surprisal"].assign(model="other"), 3)
    both = aligned(tables, surprisal=pd.concat([tables["surprisal"], other]))
    kept = both["aligned"].groupby("model")["word"].agg(lambda words: sorted(set(words)))
    assert kept["other"] == kept["little-lm (toy)"] == sorted(set(found["aligned"]["word"]) - {3, 4, 5})
    rows = both["alignment_exclusions"].set_index("rule")["excluded"]
    assert rows["the word, or the one before, shares a token with another"] == 3 * 529
    place = ["model", "session", "trial", "word"]
    same = both["aligned"].merge(found["aligned"], on=place, suffixes=("", "_alone"), validate="1:1")
    assert (same["surprisal_previous"] == same["surprisal_previous_alone"]).all()


def test_a_word_without_a_score_of_its_own_takes_the_next_one_out(tables: Tables, found: Tables) -> None:
    scores = tables["surprisal"]
    bare = scores.assign(surprisal=scores["surprisal"].mask(scores["word"] == 0))
    less = aligned(tables, surprisal=bare)
    assert set(found["aligned"]["word"]) - set(less["aligned"]["word"]) == {1}
    rows = less["alignment_exclusions"].set_index("rule")["excluded"]
    assert rows["the word, or the one before, is not scored under the protocol"] == 529


def test_known_effects_of_surprisal_and_spillover_are_recovered(simulate: Callable[..., Tables]) -> None:
    models = aligned(simulate(participants=40, items=12, seed=2))["alignment_models"].set_index("term")
    for term, true in (("surprisal", 0.02), ("surprisal_previous", 0.008)):
        assert models.loc[term, "ci_low"] < true < models.loc[term, "ci_high"]
        assert models.loc[term, "se"] < 0.002
    assert models["converged"].all()


def test_there_is_one_model_for_each_language_model_and_protocol(tables: Tables, found: Tables) -> None:
    other = tables["surprisal"].assign(model="other", surprisal=tables["surprisal"]["surprisal"] * 2)
    both = aligned(tables, surprisal=pd.concat([tables["surprisal"], other]))
    fits = both["alignment_models"].set_index(["model", "term"])["estimate"]
    assert fits[("other", "surprisal")] == pytest.approx(fits[("little-lm (toy)", "surprisal")] / 2, rel=1e-4)
    assert len(both["aligned"]) == 2 * len(found["aligned"])


def test_a_word_read_but_not_scored_is_named(tables: Tables) -> None:
    scores = tables["surprisal"].query("not (item == 'islands-2' and condition == 'grammatical' and word == 6)")
    with pytest.raises(DataError) as raised:
        aligned(tables, surprisal=scores)
    assert str(raised.value) == (
        "item islands-2, condition grammatical, word 6: read as 'grows', "
        "but little-lm (toy) (causal) has no surprisal for it"
    )


def test_a_word_read_in_another_form_than_scored_is_named(tables: Tables) -> None:
    readings = tables["readings"].copy()
    readings.loc[readings["item"].eq("islands-2") & readings["text"].eq("garden"), "text"] = "Garden"
    with pytest.raises(
        DataError, match=r"item islands-2, condition \w+, word 5: read as 'Garden', but .* scored 'garden'"
    ):
        aligned(tables, readings=readings)


def test_faults_are_all_found_and_capped(tables: Tables) -> None:
    scores = tables["surprisal"].query("not (item == 'islands-2')")
    with pytest.raises(DataError) as raised:
        aligned(tables, surprisal=scores)
    assert len(raised.value.faults) == 11
    assert raised.value.faults[-1] == "... and 10 more of this kind"


def test_a_score_whose_word_is_another_in_words_is_named(tables: Tables) -> None:
    words = tables["words"].copy()
    words.loc[words["item"].eq("islands-2") & words["word"].eq(5), "text"] = "park"
    with pytest.raises(DataError, match=r"word 5: scored as 'garden' by little-lm .*, but 'park' in table words"):
        aligned(tables, words=words)


def test_a_score_whose_word_is_missing_from_words_is_named(tables: Tables) -> None:
    words = tables["words"].query("not (item == 'islands-2' and condition == 'grammatical' and word == 5)")
    with pytest.raises(DataError, match=r"grammatical, word 5: scored as 'garden' by little-lm .* not in table words"):
        aligned(tables, words=words)


def test_readings_without_texts_align_by_place(tables: Tables, found: Tables) -> None:
    bare = aligned(tables, readings=tables["readings"].assign(text=pd.NA))
    pd.testing.assert_frame_equal(bare["aligned"], found["aligned"])


def test_scores_of_sentences_nobody_read_do_no_harm(tables: Tables, found: Tables) -> None:
    unread = tables["readings"].query("item != 'islands-2'")
    less = aligned(tables, readings=unread, words=tables["words"].query("item != 'islands-2'"))
    assert len(less["aligned"]) == (found["aligned"]["item"] != "islands-2").sum()


def test_a_model_that_cannot_be_fitted_keeps_a_row_that_says_why(found: Tables) -> None:
    table = alignment_models(found["aligned"].query("participant == 'P00'"))
    assert table["estimate"].isna().all()
    assert "only one participant (P00)" in table["note"].item()


@pytest.mark.parametrize("empty", ["readings", "surprisal"])
def test_nothing_to_align_is_a_sentence(tables: Tables, empty: str) -> None:
    with pytest.raises(DataError):
        aligned(tables, **{empty: tables[empty].head(0)})
