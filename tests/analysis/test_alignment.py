"""`align`: each word beside its own score and that of the word before; everything else is named or counted."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gardenpath.analysis import AlignmentOptions, align, compute_collinearity, compute_rating_scores
from gardenpath.analysis.aligning.alignment import align_words, compute_alignment_models, compute_surprisal_effects
from gardenpath.lmscore import import_surprisal
from gardenpath.study import AnalysisSection, DataError, ExcludeSection, check

from .conftest import sentence_scores

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "sessions", "surprisal", "words")


def aligned(tables: Tables, lags: int = 2, edges: bool = False, slopes: bool = True, **changed: pd.DataFrame) -> Tables:
    return align({name: (tables | changed)[name] for name in GIVEN}, AlignmentOptions(lags=lags, edges=edges, slopes=slopes))


@pytest.fixture(scope="module")
def found(tables: Tables) -> Tables:
    return aligned(tables)


def test_each_table_is_as_declared(found: Tables) -> None:
    assert list(found) == [
        "aligned", "alignment_check", "lag_profile", "collinearity", "alignment_models", "surprisal_effects",
        "held_out_clusters", "delta_log_likelihood", "delta_comparisons", "alignment_exclusions",
    ]  # fmt: skip
    for name, frame in found.items():
        pd.testing.assert_frame_equal(check(frame, name), frame)


def test_frames_put_together_of_two_are_aligned_as_one_and_rows_that_repeat_are_named(tables: Tables, found: Tables) -> None:
    parts = {}
    for name in ("readings", "sessions"):
        first = tables[name]["participant"] < "P12"
        parts[name] = pd.concat([tables[name][kept].reset_index(drop=True) for kept in (first, ~first)])
        assert not parts[name].index.is_unique
    rows, _ = align_words(tables | parts, AlignmentOptions())
    pd.testing.assert_frame_equal(rows, found["aligned"])
    with pytest.raises(DataError, match=r"table sessions: 48 rows share a key with another"):
        align_words(tables | {"sessions": pd.concat([tables["sessions"]] * 2)}, AlignmentOptions())


def test_surprisal_from_elsewhere_is_aligned_as_scores_are(tables: Tables, found: Tables) -> None:
    names = ["model", "protocol", "item", "condition", "word", "text", "surprisal", "entropy"]
    rows = tables["surprisal"][names].assign(surprisal=tables["surprisal"]["surprisal"] * np.log(2))
    taken = import_surprisal(rows, units={"surprisal": "nats", "entropy": "bits"})
    rows, _ = align_words(tables | {"surprisal": taken}, AlignmentOptions())
    # Without materials no region is known.
    pd.testing.assert_frame_equal(rows.drop(columns="region"), found["aligned"].drop(columns="region"))


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


AROUND = {
    "_next2": 2, "_next": 1, "": 0, "_previous": -1, "_previous2": -2, "_previous3": -3,
}  # fmt: skip


def test_words_around_stand_in_columns_of_their_own_and_are_empty_beyond_the_sentence(tables: Tables, found: Tables) -> None:
    place = ["item", "condition", "word"]
    of = {"surprisal": tables["surprisal"].set_index(place)["surprisal"]}
    of |= {name: tables["words"].set_index(place)[name] for name in ("length", "zipf")}
    for row in found["aligned"].sample(60, random_state=2).to_dict("records"):
        for suffix, step in AROUND.items():
            there = (row["item"], row["condition"], row["word"] + step)
            for name, values in of.items():
                assert row[name + suffix] == values[there] if there in values.index else np.isnan(row[name + suffix])
    assert {2, 8} <= set(found["aligned"]["word"])  # so that both ends were met
    entropies = tables["surprisal"].assign(entropy=tables["surprisal"]["word"] * 1.5)
    rows = aligned(tables, surprisal=entropies)["aligned"]
    assert (rows["entropy"] == rows["word"] * 1.5).all()
    assert (rows["entropy_next"] == (rows["word"] + 1) * 1.5).all()


@pytest.mark.parametrize(
    ("lags", "edges", "words"),
    [(2, False, range(2, 9)), (0, False, range(1, 9)), (1, True, range(1, 10)), (0, True, range(10)), (3, False, range(3, 9))],
)
def test_ends_of_sentences_and_words_without_lags_are_left_out_and_counted(
    tables: Tables, lags: int, edges: bool, words: range
) -> None:
    less = aligned(tables, lags=lags, edges=edges)
    assert sorted(set(less["aligned"]["word"])) == list(words)
    ledger = less["alignment_exclusions"].query("table == 'readings'").set_index("rule")["n_excluded"]
    expected = {} if edges else {"first word of its sentence": 529, "last word of its sentence": 529}  # 23 x 23 trials
    left = lags if edges else lags - 1
    expected |= {f"fewer than {lags} word{'s' * (lags > 1)} before it": left * 529} if left > 0 else {}
    told = ledger[[rule for rule in ledger.index if "sentence" in rule or "fewer" in rule]]
    assert told.to_dict() == expected
    fitted = less["alignment_models"]["term"]
    assert [f"surprisal{end}" for end in list(AROUND)[2 : 3 + lags]] == [t for t in fitted if t.startswith("surprisal")]


def test_a_word_without_frequency_takes_itself_and_those_that_lag_behind_it_out(tables: Tables, found: Tables) -> None:
    words = tables["words"].copy()
    words.loc[words["word"] == 4, "zipf"] = np.nan
    for lags in (1, 2):
        less = aligned(tables, words=words, lags=lags)
        assert set(found["aligned"]["word"]) - set(less["aligned"]["word"]) == set(range(4, 5 + lags))
        rows = less["alignment_exclusions"]
        assert rows.loc[rows["rule"].str.contains("Zipf"), "n_excluded"].item() == (1 + lags) * 529


def joined(surprisal: pd.DataFrame, first: int) -> pd.DataFrame:
    """The scores with two neighbouring words of every sentence as one unit, as where a token spans both."""
    one, other = (surprisal[surprisal["word"] == first + k] for k in (0, 1))
    texts = [f"{a} {b}" for a, b in zip(one["text"], other["text"], strict=True)]
    pair = one.assign(text=texts, n_words=2, surprisal=one["surprisal"] + other["surprisal"].to_numpy())
    return check(pd.concat([surprisal[~surprisal["word"].isin([first, first + 1])], pair]), "surprisal")


def test_words_joined_by_a_token_of_one_model_are_left_out_for_all_and_counted(tables: Tables, found: Tables) -> None:
    other = joined(tables["surprisal"].assign(model="other"), 3)
    both = aligned(tables, surprisal=pd.concat([tables["surprisal"], other]))
    kept = both["aligned"].groupby("model")["word"].agg(lambda words: sorted(set(words)))
    assert kept["other"] == kept["little-lm (toy)"] == sorted(set(found["aligned"]["word"]) - {3, 4, 5, 6})
    rows = both["alignment_exclusions"].set_index("rule")["n_excluded"]
    assert rows["the word, or one of 2 before, shares a token with another"] == 4 * 529
    place = ["model", "session", "trial", "word"]
    same = both["aligned"].merge(found["aligned"], on=place, suffixes=("", "_alone"), validate="1:1")
    assert (same["surprisal_previous"] == same["surprisal_previous_alone"]).all()


def test_a_word_without_a_score_of_its_own_takes_the_next_one_out(tables: Tables) -> None:
    scores = tables["surprisal"]
    bare = scores.assign(surprisal=scores["surprisal"].mask(scores["word"] == 0))
    less = aligned(tables, surprisal=bare, lags=1)
    assert sorted(set(less["aligned"]["word"])) == list(range(2, 9))
    rows = less["alignment_exclusions"].set_index("rule")["n_excluded"]
    assert rows["the word, or the one before, is not scored under the protocol"] == 529


def test_known_effects_of_surprisal_and_spillover_are_recovered(simulate: Callable[..., Tables]) -> None:
    models = aligned(simulate(participants=40, items=12, seed=2), slopes=False)["alignment_models"].set_index("term")
    for term, true in (("surprisal", 0.02), ("surprisal_previous", 0.008)):
        assert models.loc[term, "ci_low"] < true < models.loc[term, "ci_high"]
        assert models.loc[term, "se"] < 0.002
    assert models["converged"].all()


def varying(tables: Tables, sd: float = 0.02) -> Tables:
    """The study with readers who respond to surprisal each in their own measure, so that slopes can be estimated."""
    readings, place = tables["readings"], ["item", "condition", "word"]
    bits = readings.merge(tables["surprisal"][[*place, "surprisal"]], on=place, how="left")["surprisal"]
    people = sorted(readings["participant"].unique())
    own = dict(zip(people, np.random.default_rng(5).normal(0, sd, len(people)), strict=True))
    items = sorted(readings["item"].unique())
    slow = dict(zip(items, np.random.default_rng(6).normal(0, 0.1, len(items)), strict=True))
    log = readings["participant"].map(own) * bits + readings["item"].map(slow)
    return tables | {"readings": readings.assign(rt=readings["rt"] * np.exp(log.astype("float64")))}


R_MODEL = """
suppressMessages(library(lmerTest))
rows <- as.data.frame(scale(aligned[, sapply(aligned, is.numeric)], scale = FALSE))
rows$log_rt <- aligned$log_rt
for (group in c("participant", "item", "token")) rows[[group]] <- aligned[[group]]
fitted <- lmer(log_rt ~ surprisal + surprisal_previous + surprisal_previous2 + length + length_previous +
  length_previous2 + zipf + zipf_previous + zipf_previous2 + position + log_trial +
  (1 + surprisal | participant) + (1 | item) + (1 | token), rows)
result <- data.frame(term = rownames(summary(fitted)$coefficients), summary(fitted)$coefficients)
"""


@pytest.mark.r
@pytest.mark.slow
def test_the_model_is_lmertests(tables: Tables, rscript: Callable[..., pd.DataFrame]) -> None:
    found = aligned(varying(tables))
    ours = found["alignment_models"].set_index("term")
    assert ours["formula"].iloc[0].endswith("+ (1 + surprisal|participant) + (1|item) + (1|token)")
    theirs = rscript(R_MODEL, aligned=found["aligned"]).set_index("term").drop(index="(Intercept)")
    for name, column in (("estimate", "Estimate"), ("se", "Std..Error"), ("df", "df"), ("p", "Pr...t..")):
        close = {"rel": 1e-2 if name in ("df", "p") else 1e-3, "abs": 2e-6}
        assert ours.loc[theirs.index, name].to_list() == pytest.approx(theirs[column].to_list(), **close)


def test_slopes_that_do_not_vary_are_reduced_and_said(simulate: Callable[..., Tables]) -> None:
    found = aligned(varying(simulate(participants=12, seed=1), sd=0))
    rows = found["alignment_models"]
    assert rows["formula"].iloc[0].endswith("+ (1|participant) + (1|item) + (1|token)")
    assert rows["note"].str.startswith("With slopes of surprisal by participant, (1 + surprisal|participant)").all()
    plain = compute_alignment_models(found["aligned"], slopes=False)["alignment_models"]
    pd.testing.assert_frame_equal(plain.drop(columns="note"), rows.drop(columns="note"))


def test_slopes_stay_where_another_variance_is_the_one_at_zero(found: Tables) -> None:
    rows = found["alignment_models"]
    assert compute_alignment_models(found["aligned"], slopes=False)["alignment_models"][
        "singular"
    ].all()  # the study has no item variance
    assert rows["formula"].iloc[0].endswith("+ (1 + surprisal|participant) + (1|item) + (1|token)")
    assert rows["note"].str.startswith("Singular fit").all()


def test_correlations_and_inflation_are_those_of_the_inverse_correlation_matrix(found: Tables) -> None:
    table = compute_collinearity(found["aligned"], lags=2)
    pd.testing.assert_frame_equal(table, found["collinearity"])
    wide = table.pivot_table(index="predictor", columns="other_predictor", values="r")
    inverse = np.linalg.inv(wide.to_numpy())
    factors = table.drop_duplicates("predictor").set_index("predictor")["vif"]
    assert factors[wide.index].to_list() == pytest.approx(np.diag(inverse).tolist(), rel=1e-8)
    x, y = (found["aligned"][name].to_list() for name in ("surprisal", "length_previous"))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    up = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    down = (sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)) ** 0.5
    assert wide.loc["surprisal", "length_previous"] == pytest.approx(up / down, rel=1e-9)


def test_a_predictor_made_of_others_has_infinite_inflation_and_a_constant_one_none(found: Tables) -> None:
    rows = found["aligned"].assign(length=lambda r: 2 * r["position"] + r["zipf"], log_trial=0.5)
    factors = compute_collinearity(rows, lags=0).drop_duplicates("predictor").set_index("predictor")["vif"]
    assert factors[["length", "position", "zipf"]].eq(float("inf")).all()
    assert factors["surprisal"] < 1.1
    assert np.isnan(factors["log_trial"])


def test_ms_per_bit_is_the_slope_at_the_geometric_mean(found: Tables) -> None:
    effects = found["surprisal_effects"].set_index("lag")
    fitted = found["alignment_models"].set_index("term")
    rts = found["aligned"]["rt"].to_list()
    mean = np.prod([rt ** (1 / len(rts)) for rt in rts])
    for lag, term in enumerate(("surprisal", "surprisal_previous", "surprisal_previous2")):
        row, b = effects.loc[lag], fitted.loc[term]
        assert row["mean_rt"] == pytest.approx(mean, rel=1e-9)
        assert row["ms_per_bit"] == pytest.approx(mean * np.exp(b["estimate"]) - mean, rel=1e-7)
        slope = (np.exp(b["estimate"] + 1e-6) - np.exp(b["estimate"] - 1e-6)) / 2e-6 * mean  # d ms / d estimate
        half = (row["ms_high"] - row["ms_low"]) / 2
        assert half == pytest.approx(slope * (b["ci_high"] - b["ci_low"]) / 2, rel=1e-4)
        assert row["raw_low"] < row["raw"] < row["raw_high"]
    assert effects.loc[0, "raw"] == pytest.approx(effects.loc[0, "ms_per_bit"], rel=0.15)
    pd.testing.assert_frame_equal(
        compute_surprisal_effects(found["aligned"], found["alignment_models"]),
        effects.reset_index()[found["surprisal_effects"].columns],
    )


@pytest.mark.parametrize("surprisal", [2.0, np.inf])
def test_constant_and_infinite_surprisal_are_sentences(tables: Tables, surprisal: float) -> None:
    scores = tables["surprisal"].copy()
    scores.loc[slice(None) if surprisal == 2.0 else scores.index[25:28], "surprisal"] = surprisal
    found = aligned(tables, surprisal=scores)
    assert found["alignment_check"]["verdict"].item() == "untested"
    why = "is 2 in each of" if surprisal == 2.0 else "are empty or not finite"
    assert why in found["alignment_check"]["note"].item()
    assert found["alignment_models"]["note"].str.contains(why).all()
    assert found["surprisal_effects"]["raw"].isna().all()


def test_there_is_one_model_for_each_language_model_and_protocol(tables: Tables, found: Tables) -> None:
    other = tables["surprisal"].assign(model="other", surprisal=tables["surprisal"]["surprisal"] * 2)
    both = aligned(tables, surprisal=pd.concat([tables["surprisal"], other]))
    fits = both["alignment_models"].set_index(["model", "term"])["estimate"]
    assert fits[("other", "surprisal")] == pytest.approx(fits[("little-lm (toy)", "surprisal")] / 2, rel=1e-4)
    assert len(both["aligned"]) == 2 * len(found["aligned"])


def test_any_column_of_scores_takes_surprisals_place_under_a_name_of_its_own(tables: Tables, found: Tables) -> None:
    scores = tables["surprisal"].assign(renyi_2=tables["surprisal"]["surprisal"] ** 2, surprisal_layer_0=np.nan)
    scores.loc[0, "surprisal_layer_0"] = 1.0
    given = tables | {"surprisal": scores}
    rows, _ = align_words(given, AlignmentOptions(predictors=("surprisal", "renyi_2")))
    plain, squared = (part.reset_index(drop=True) for _, part in rows.groupby("model", sort=False))
    pd.testing.assert_frame_equal(plain, found["aligned"])
    assert set(squared["model"]) == {"little-lm (toy), renyi_2"}
    for name in ("surprisal", "surprisal_previous", "surprisal_next"):
        pd.testing.assert_series_equal(squared[name], plain[name] ** 2)
    pd.testing.assert_frame_equal(squared[["rt", "entropy", "zipf"]], plain[["rt", "entropy", "zipf"]])
    with pytest.raises(ValueError, match=r"predictor 'n_tokens'; expected columns with numbers of the table surprisal: .*renyi_2"):
        align_words(given, AlignmentOptions(predictors=("n_tokens",)))


def test_a_word_read_but_not_scored_is_named(tables: Tables) -> None:
    scores = tables["surprisal"].query("not (item == 'islands-2' and condition == 'grammatical' and word == 6)")
    with pytest.raises(DataError) as raised:
        aligned(tables, surprisal=scores)
    assert str(raised.value) == (
        "item islands-2, condition grammatical, word 6: read as 'grows', but little-lm (toy) (causal) has no surprisal for it"
    )


def test_a_word_read_in_another_form_than_scored_is_named(tables: Tables) -> None:
    readings = tables["readings"].copy()
    readings.loc[readings["item"].eq("islands-2") & readings["text"].eq("garden"), "text"] = "Garden"
    with pytest.raises(DataError, match=r"item islands-2, condition \w+, word 5: read as 'Garden', but .* scored 'garden'"):
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


def test_readings_without_texts_align_by_place_where_that_was_stated(tables: Tables, found: Tables) -> None:
    unnamed = tables["readings"].assign(text=pd.NA)
    with pytest.raises(DataError, match=r"\d+ words have no text, first item .*, and their source does not number them"):
        aligned(tables, readings=unnamed)
    bare = aligned(tables, readings=unnamed, sessions=tables["sessions"].assign(source="table"))
    pd.testing.assert_frame_equal(bare["aligned"], found["aligned"])


def test_scores_of_sentences_nobody_read_do_no_harm(tables: Tables, found: Tables) -> None:
    unread = tables["readings"].query("item != 'islands-2'")
    less = aligned(tables, readings=unread, words=tables["words"].query("item != 'islands-2'"))
    assert len(less["aligned"]) == (found["aligned"]["item"] != "islands-2").sum()


def test_a_model_that_cannot_be_fitted_keeps_a_row_that_says_why(found: Tables) -> None:
    table = compute_alignment_models(found["aligned"].query("participant == 'P00'"))["alignment_models"]
    assert table["estimate"].isna().all()
    assert "only one participant (P00)" in table["note"].item()


def test_one_participant_is_a_sentence_in_every_table(tables: Tables) -> None:
    found = aligned(tables, readings=tables["readings"].query("participant == 'P00'"))
    for name in ("alignment_check", "lag_profile", "alignment_models", "surprisal_effects", "delta_log_likelihood"):
        assert found[name]["note"].str.contains(r"only one participant \(P00\)").all(), name
    assert found["held_out_clusters"].empty
    assert found["delta_log_likelihood"]["delta"].isna().all()


@pytest.mark.parametrize("empty", ["readings", "surprisal"])
def test_nothing_to_align_is_a_sentence(tables: Tables, empty: str) -> None:
    with pytest.raises(DataError):
        aligned(tables, **{empty: tables[empty].head(0)})


def test_align_leaves_out_whom_and_what_analyse_does(tables: Tables, found: Tables) -> None:
    """Two participants by a column of theirs, an item by name, and the trials of a flag."""
    people = sorted(set(tables["sessions"]["participant"]))
    flags = tables["readings"]["trial"].eq(5) & tables["readings"]["word"].eq(0)
    given = tables | {
        "readings": tables["readings"].assign(quality_flags=flags.map({True: "interrupted", False: None})),
        "sessions": tables["sessions"].assign(lease_expired=tables["sessions"]["participant"].isin(people[2:4])),
    }
    stated = AnalysisSection(exclude=ExcludeSection(sessions={"lease_expired": ["false"]}, items={"islands-3": "misspelt"}))
    ours, _ = align_words(given, AlignmentOptions(settings=stated))
    kept = ~(ours_of := found["aligned"])["participant"].isin(people[2:4])
    kept &= ours_of["item"].ne("islands-3") & ours_of["trial"].ne(5)
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), ours_of[kept].reset_index(drop=True))
    with pytest.raises(DataError, match=r"table responses is missing"):
        align_words({name: given[name] for name in GIVEN}, AlignmentOptions(settings=stated))


def test_where_nothing_was_read_word_by_word_scores_are_held_against_ratings_alone(tables: Tables) -> None:
    scores = sentence_scores(tables["items"][["item", "condition"]].assign(
        model="m", protocol="p", n_tokens=9, n_unknown_tokens=0, n_windows=1, lp=np.random.default_rng(4).normal(-30, 3, len(tables["items"]))
    ))  # fmt: skip
    given = {name: tables[name] for name in GIVEN} | {"readings": tables["readings"].head(0), "sentence_scores": scores}
    rated = given | {"rating_scores": compute_rating_scores(tables["responses"], tables["items"])}
    assert list(align(rated)) == ["rating_correlations"]
    with pytest.raises(DataError, match="nothing to align"):
        align(given)
