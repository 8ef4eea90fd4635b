"""A study of two scales, keys and a slider, and of two kinds of questions: nothing is mixed, and what did not come is counted."""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gardenpath.analysis import (
    analyse,
    coefficient_figure,
    compute_rating_correlations,
    compute_rating_scores,
    compute_region_times,
    condition_figure,
    score_figure,
)
from gardenpath.analysis.cleaning.exclusions import apply_exclusions
from gardenpath.analysis.exclusion_log import ExclusionLog
from gardenpath.analysis.grammatical_status import GRAMMATICALITY_CODES
from gardenpath.analysis.measuring.reliability import compute_choice_agreement
from gardenpath.analysis.model_results import join_results, select_categories, select_factors, select_pairs
from gardenpath.analysis.prompts import drop_missing_responses
from gardenpath.analysis.reporting import manuscript
from gardenpath.analysis.reporting.document import whole
from gardenpath.analysis.reporting.figures import catalogue, rater_figures
from gardenpath.analysis.reporting.wording import effects
from gardenpath.study import AnalysisSection, ExcludeSection, ModelSection, read, write

from .conftest import build_trials, fit_trials, of_islands, sentence_scores
from .test_commands import STUDY, run

Tables = dict[str, pd.DataFrame]
GIVEN = ("readings", "responses", "sessions", "items")
SCALES = ("acceptability", "plausibility")
ANYONE = ExcludeSection(min_accuracy=0)


@pytest.fixture(scope="module")
def found(two_scales: Tables) -> Tables:
    return analyse({name: two_scales[name] for name in GIVEN}, AnalysisSection(policy="maximal", exclude=ANYONE))


@pytest.fixture(scope="module")
def scores(two_scales: Tables) -> pd.DataFrame:
    return compute_rating_scores(two_scales["responses"], two_scales["items"])


def alone(tables: Tables, prompt: str) -> Tables:
    """Return the study as it would be with one of the two scales."""
    responses = tables["responses"]
    return {**tables, "responses": responses[(responses["task"] != "rating") | (responses["prompt"] == prompt)]}


def select_prompt(tables: Tables, name: str, prompt: str) -> pd.DataFrame:
    """Return the rows of a table that are about one prompt: those that name it, or a model of it."""
    if "prompt" in tables[name]:
        return tables[name][(tables[name]["prompt"] == prompt).fillna(False)]
    if "model_id" in tables[name]:
        models = tables["planned_models"]
        return tables[name][tables[name]["model_id"].isin(models.loc[models["prompt"] == prompt, "model_id"])]
    return tables[name].head(0)


@pytest.mark.parametrize("prompt", SCALES)
def test_each_scale_is_analysed_as_if_it_were_the_only_one(two_scales: Tables, found: Tables, prompt: str, full: bool) -> None:
    """Every table that holds ratings, but for what is corrected over both scales, and the names of fits."""
    if not full and prompt != SCALES[0]:
        pytest.skip("one of two scales is analysed alone without --full")
    single = alone(two_scales, prompt)
    theirs = analyse({name: single[name] for name in GIVEN}, AnalysisSection(policy="maximal", exclude=ANYONE))
    compared = {name: select_prompt(theirs, name, prompt) for name in theirs}
    compared = {name: frame for name, frame in compared.items() if len(frame) or name == "choice_agreement"}
    assert {"planned_models", "models", "effects", "random_effects"} <= {*compared}
    assert len(compared) == (13 if prompt == "acceptability" else 12)  # a slider's modes are not counted
    for name, expected in compared.items():
        ours = select_prompt(found, name, prompt).drop(columns=["p_adjusted_all", "plan_sha256"], errors="ignore")
        assert ours.to_csv(index=False) == expected[ours.columns].to_csv(index=False), name
    for name in ("region_times", "reading_curves", "participants"):
        assert found[name].to_csv() == theirs[name].to_csv()


def test_z_is_over_one_participant_and_one_scale_by_hand(two_scales: Tables, scores: pd.DataFrame) -> None:
    given = defaultdict(list)
    for row in two_scales["responses"].itertuples():
        if row.task == "rating" and row.role == "target" and not pd.isna(row.response):
            given[row.participant, row.prompt].append(float(row.response))
    assert len(scores) == sum(map(len, given.values()))
    for row in scores.itertuples():
        own = given[row.participant, row.prompt]
        assert row.z == pytest.approx((row.rating - statistics.mean(own)) / statistics.stdev(own), abs=1e-12)
    assert scores.groupby("prompt")["rating"].max().to_dict() == {"acceptability": 7, "plausibility": 95}


@pytest.mark.r
def test_the_models_of_each_scale_are_those_of_r(
    two_scales: Tables, scores: pd.DataFrame, found: Tables, rscript: Callable[..., pd.DataFrame]
) -> None:
    counted = two_scales["sessions"].query("complete")["session"]
    rows = scores[(scores["role"] == "target") & scores["session"].isin(counted)]
    rows = rows.assign(g=rows["condition"].map(GRAMMATICALITY_CODES).astype(float))
    code = """
    library(lmerTest)
    result <- do.call(rbind, lapply(split(rows, paste(rows$prompt, rows$phenomenon, sep = "/")), function(part) {
      of <- function(response) coef(summary(suppressMessages(
        lmer(as.formula(paste(response, "~ g + (1|participant) + (1|item)")), part))))["g", ]
      data.frame(prompt = part$prompt[1], phenomenon = part$phenomenon[1], n = nrow(part), b = of("z")[["Estimate"]],
        t = of("z")[["t value"]], p = of("z")[["Pr(>|t|)"]], raw = of("rating")[["Estimate"]])
    }))
    result$bh <- ave(result$p, result$prompt, FUN = function(p) p.adjust(p, "BH"))
    result$all <- p.adjust(result$p, "BH")
    """
    theirs = rscript(code, rows=rows).set_index(["prompt", "phenomenon"]).sort_index()
    models = select_pairs(join_results(found)).query("response == 'z' and random == 'intercepts'")
    ours = models.set_index(["prompt", "model"]).sort_index()
    assert list(ours.index) == list(theirs.index)
    assert ours["n"].tolist() == theirs["n"].tolist()
    for name, other, within in (("estimate", "b", 1e-4), ("t", "t", 1e-3), ("raw", "raw", 1e-3)):
        np.testing.assert_allclose(ours[name].astype(float), theirs[other], rtol=within)
    for name, other in (("p_adjusted", "bh"), ("p_adjusted_all", "all")):
        np.testing.assert_allclose(ours[name].astype(float), theirs[other], rtol=1e-2, atol=1e-12)


def test_means_are_those_of_one_scale_by_hand(two_scales: Tables, found: Tables) -> None:
    counted = set(two_scales["sessions"].query("complete")["session"])
    given: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in two_scales["responses"].itertuples():
        kept = row.task == "rating" and row.role == "target" and not pd.isna(row.response) and row.session in counted
        if kept:
            place = (row.item.rpartition("-")[0], row.condition, row.prompt)
            given[place][row.participant].append(float(row.response))
    means = found["condition_means"].query("measure == 'rating'")
    assert len(means) == len(given) == 3 * 2 * 2
    for row in means.itertuples():
        each = [statistics.mean(ratings) for ratings in given[row.phenomenon, row.condition, row.prompt].values()]
        assert row.mean_value == pytest.approx(statistics.mean(each))
        assert row.se == pytest.approx(statistics.stdev(each) / math.sqrt(len(each)))
        assert row.n_observations == sum(map(len, given[row.phenomenon, row.condition, row.prompt].values()))
    assert found["condition_means"].query("measure == 'rt'")["prompt"].isna().all()


def test_what_did_not_come_is_counted_prompt_by_prompt_and_enters_nothing(two_scales: Tables, found: Tables) -> None:
    counted = set(two_scales["sessions"].query("complete")["session"])
    asked, late = defaultdict(int), defaultdict(int)
    for row in two_scales["responses"].itertuples():
        if row.session in counted:
            asked[row.prompt] += 1
            late[row.prompt] += pd.isna(row.response)
    ledger = found["exclusions"].query("condition == 'all'")
    lines = ledger[ledger["table"].str.startswith("responses: ")]
    assert lines["rule"].tolist() == [f"no answer in time ({prompt})" for prompt in sorted(asked)]
    assert lines["n_before"].tolist() == [asked[prompt] for prompt in sorted(asked)]
    assert lines["n_excluded"].tolist() == [late[prompt] for prompt in sorted(asked)]
    assert min(late.values()) > 2
    among = ledger[(ledger["table"] == "responses") & ledger["rule"].str.startswith("no answer")]
    assert among["n_excluded"].tolist() == lines["n_excluded"].tolist()
    assert len(found["rating_scores"]) == sum(
        row.task == "rating" and row.role == "target" and row.session in counted and not pd.isna(row.response)
        for row in two_scales["responses"].itertuples()
    )
    prompts = found["participant_prompts"]
    practice = two_scales["responses"].query("role == 'practice' and session in @counted")
    for prompt, rows in prompts.groupby("prompt"):
        unanswered = late[prompt] - practice.loc[practice["prompt"] == prompt, "response"].isna().sum()
        assert rows["n_missing_responses"].sum() == unanswered
        assert (rows["n_responses"] + rows["n_missing_responses"]).sum() == asked[prompt] - (practice["prompt"] == prompt).sum()


def test_an_empty_answer_whose_screen_did_not_time_out_is_no_answer(two_scales: Tables) -> None:
    responses = two_scales["responses"].assign(outcome=lambda rows: rows["outcome"].replace("timeout", "declined"))
    ledger = ExclusionLog()
    left = drop_missing_responses(responses, ledger)
    assert {row["rule"] for row in ledger.rows} == {f"no answer ({p})" for p in (*SCALES, "noun", "verb")}
    assert left["response"].notna().all()
    assert compute_rating_scores(responses, two_scales["items"]).equals(compute_rating_scores(left, two_scales["items"]))


def test_accuracy_is_told_prompt_by_prompt_and_excludes_over_all_questions(two_scales: Tables) -> None:
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in two_scales["responses"].itertuples():
        if row.task == "question" and row.role != "practice" and not pd.isna(row.response):
            right[row.participant, row.prompt].append(bool(row.correct))
    *_, people, prompts = apply_exclusions(*(two_scales[name] for name in GIVEN), exclude=ANYONE)
    for row in prompts.query("task == 'question'").itertuples():
        own = right[row.participant, row.prompt]
        assert (row.n_scored_responses, row.accuracy) == (len(own), pytest.approx(statistics.mean(own)))
    together = {p: right[p, "noun"] + right[p, "verb"] for p in people["participant"]}
    for row in people.itertuples():
        assert (row.n_questions, row.accuracy) == (len(together[row.participant]), statistics.mean(together[row.participant]))
    low = {p for p, own in together.items() if statistics.mean(own) < 0.7 and len(own) >= 8}
    rules = ExcludeSection(min_accuracy=0.7, min_questions=8)
    _, left, people, _ = apply_exclusions(*(two_scales[name] for name in GIVEN), exclude=rules)
    assert 0 < len(low) < len(together)
    assert set(people.dropna(subset="exclusion_rule")["participant"]) == low
    assert not low & set(left["participant"])
    # Some whose answers to one of the prompts alone would have cost them their place stay.
    assert any(statistics.mean(right[p, "verb"]) < 0.7 for p in set(together) - low)


def test_catch_sentences_are_told_apart_on_each_scale_and_the_rule_names_it(two_scales: Tables) -> None:
    """Trials of one phenomenon count as catch: who rates them upside down on one scale goes by the rule of that scale."""
    responses = two_scales["responses"].copy()
    catch = (responses["item"].str.startswith("islands")) & (responses["task"] == "rating")
    responses.loc[catch & (responses["role"] == "target"), "role"] = "catch"
    signs = responses["condition"].map({"grammatical": 1, "ungrammatical": -1})
    for prompt, upside, middle in (("acceptability", "P03", 4), ("plausibility", "P05", 50)):
        rows = catch & (responses["prompt"] == prompt) & responses["response"].notna()
        turned = signs.where(responses["participant"] != upside, -signs)
        responses.loc[rows, "response"] = (middle + turned[rows]).astype(str)
    given = (two_scales["readings"], responses, two_scales["sessions"], two_scales["items"])
    _, left, people, prompts = apply_exclusions(*given, exclude=ExcludeSection(min_accuracy=0, min_catch=0.75))
    gone = people.dropna(subset="exclusion_rule").set_index("participant")["exclusion_rule"].to_dict()
    assert gone == {
        "P03": "less than 75% of catch sentences told apart (acceptability)",
        "P05": "less than 75% of catch sentences told apart (plausibility)",
    }
    assert not {"P03", "P05"} & set(left["participant"])
    told = prompts.set_index(["participant", "prompt"])["catch_auc"]
    assert told["P03", "acceptability"] == told["P05", "plausibility"] == 0
    assert told["P03", "plausibility"] == told["P05", "acceptability"] == 1


def test_a_constant_rater_of_one_scale_loses_the_z_of_that_scale(two_scales: Tables) -> None:
    responses = two_scales["responses"].copy()
    same = (responses["participant"] == "P03") & (responses["prompt"] == "plausibility") & responses["response"].notna()
    responses.loc[same, "response"] = "50"
    ledger = ExclusionLog()
    scores = compute_rating_scores(responses, two_scales["items"], exclusion_log=ledger)
    empty = scores[scores["z"].isna()]
    assert set(zip(empty["participant"], empty["prompt"], strict=True)) == {("P03", "plausibility")}
    lines = {row["rule"]: row["n_excluded"] for row in ledger.rows if row["condition"] == "all" and row["table"] == "rating_scores"}
    rule = "no z: the participant gave the same rating throughout"
    assert lines == {f"{rule} (acceptability)": 0, f"{rule} (plausibility)": len(empty)}


def test_scores_correlate_with_the_mean_ratings_of_each_scale_by_hand(two_scales: Tables, scores: pd.DataFrame) -> None:
    lm = model_scores(two_scales)
    z = defaultdict(list)
    for row in scores.query("role == 'target'").itertuples():
        z[row.prompt, row.item, row.condition].append(row.z)
    ceilings = pd.DataFrame({"prompt": SCALES, "level": "sentences", "ceiling": [0.9, 0.8]})
    table = compute_rating_correlations(lm, scores, measures=["lp"], ceilings=ceilings, draws=20)
    found = table.set_index(["prompt", "level", "method"])
    by = {(row.item, row.condition): row.lp for row in lm.itertuples()}
    for prompt, ceiling in zip(SCALES, (0.9, 0.8), strict=True):
        means = {place[1:]: statistics.mean(own) for place, own in z.items() if place[0] == prompt}
        r = np.corrcoef([by[place] for place in means], list(means.values()))[0, 1]
        assert found.loc[(prompt, "sentences", "pearson"), "r"] == pytest.approx(r)
        assert found.loc[(prompt, "sentences", "pearson"), "share_of_ceiling"] == pytest.approx(r / ceiling)
        gaps = [
            (by[item, "grammatical"] - by[item, "ungrammatical"], means[item, "grammatical"] - means[item, "ungrammatical"])
            for item in {item for item, _ in means}
        ]
        rho = stats.spearmanr(*zip(*gaps, strict=True)).statistic
        assert found.loc[(prompt, "pairs", "spearman"), "r"] == pytest.approx(rho)
    assert len(table) == 2 * len(table[table["prompt"] == "plausibility"])


def model_scores(tables: Tables) -> pd.DataFrame:
    sentences = tables["items"][["item", "condition"]].assign(model="little-lm (toy)", protocol="causal", n_tokens=10)
    better = (sentences["condition"] == "grammatical").to_numpy(dtype=float)
    lp = -30 + np.random.default_rng(8).normal(0, 2, len(sentences)) + better
    return sentence_scores(sentences.assign(n_unknown_tokens=0, n_windows=1, lp=lp, mean_lp=lp / 10))


CONDITIONS = pd.DataFrame(
    [
        (f"{phenomenon} 1", condition, factor, level)
        for phenomenon in ("agreement", "islands")
        for condition, level in (("grammatical", "fine"), ("ungrammatical", "odd"))
        for factor in ("status",)
    ],
    columns=["paradigm", "condition", "factor", "level"],
)


def test_declared_models_run_for_each_scale_unless_the_scale_is_in_them(two_scales: Tables, scores: pd.DataFrame) -> None:
    own = (
        ModelSection("status", "z ~ status + (1|participant) + (1|item)"),
        ModelSection("both", "z ~ status*prompt + (1|participant) + (1|item)"),
        ModelSection("times", "log_rt ~ status + (1|participant) + (1|item)"),
    )
    times = compute_region_times(two_scales["readings"], two_scales["items"])
    # No pairs, though their conditions are called so.
    items = two_scales["items"].drop_duplicates(["paradigm", "item"])
    tables = fit_trials(build_trials(scores=scores, times=times, conditions=CONDITIONS, items=items), models=own)
    table = select_factors(tables["results"])
    rated = scores[(scores["role"] == "target") & scores["paradigm"].isin(CONDITIONS["paradigm"])]
    effects = table.dropna(subset="contrast")
    sizes = effects.groupby(["model", "prompt"], dropna=False)["n"].first()
    assert sizes["status", "acceptability"] == (rated["prompt"] == "acceptability").sum()
    assert sizes["status", "plausibility"] == (rated["prompt"] == "plausibility").sum()
    assert sizes["both", "all"] == len(rated)
    assert effects.loc[effects["model"] == "times", "prompt"].isna().all()
    means = rated.groupby(["prompt", "condition"])["z"].mean()
    for prompt in SCALES:
        difference = means[prompt, "ungrammatical"] - means[prompt, "grammatical"]
        row = effects[(effects["model"] == "status") & (effects["prompt"] == prompt)].iloc[0]
        assert row["contrast"] == "status: odd minus fine"
        assert row["estimate"] == pytest.approx(difference, abs=0.05)
    assert tables["models"]["model_id"].tolist() == [
        "model status, z sentence (acceptability), declared",
        "model status, z sentence (plausibility), declared",
        "model both, z sentence (all), declared",
        "model times, log_rt critical, declared",
    ]
    assert {"factorial_ratings-all", "factorial_ratings-acceptability", "factorial_reading_times"} <= {
        name for name, _ in catalogue.result_figures(tables)
    }


@pytest.mark.r("ordinal")
@pytest.mark.usefixtures("pymer4")
def test_ordinal_models_are_of_one_scale_and_a_slider_has_none(two_scales: Tables, scores: pd.DataFrame) -> None:
    few = scores["participant"].isin(sorted(scores["participant"].unique())[:8])
    rows = scores[few & (scores["phenomenon"] == "islands")]
    keys = rows["prompt"] == "acceptability"
    rows = rows.assign(rating=rows["rating"].mask(keys, (rows["rating"] + 2) // 3))  # fewer thresholds, of which each costs time
    both, one = (
        select_categories(fit_trials(build_trials(scores=part, items=two_scales["items"]), ordinal=True)["results"])
        for part in (rows, rows[keys])
    )
    table = both.set_index("prompt")
    assert table.loc["acceptability", "estimate"] == one["estimate"].item()
    assert "different ratings; expected 3 to 11 points" in table.loc["plausibility", "note"]
    assert table.loc["plausibility", "n"] == (~keys & (rows["role"] == "target")).sum()


def test_choices_are_counted_prompt_by_prompt_and_late_ones_are_none() -> None:
    good, bad = "grammatical", "ungrammatical"
    items = pd.DataFrame([("a1", "a", "f", good), ("a1", "a", "f", bad)], columns=["item", "paradigm", "phenomenon", "condition"])
    rows = [("likely", said) for said in (good, bad, bad, None)] + [("better", good)] * 2
    made = pd.DataFrame(rows, columns=["prompt", "response"]).assign(
        participant=[f"P{k}" for k in range(6)], task="choice", role="target", paradigm="a", item="a1", outcome="timeout"
    )
    table = compute_choice_agreement(made, items).set_index("prompt")
    assert table["n_choices"].to_dict() == {"better": 2, "likely": 3}
    assert table["individual"].to_dict() == {"better": 1.0, "likely": pytest.approx(1 / 3)}


def test_sentences_and_methods_name_the_prompts_of_two_and_not_the_one(two_scales: Tables, found: Tables) -> None:
    text = manuscript.ready_to_paste(found)
    for part in (
        "Ratings (acceptability and plausibility) were standardised within participant and prompt (z, sample standard",
        "Each prompt was analysed by itself.",
        "We excluded 26 of 552 answers (4.7%): no answer in time (acceptability).",
        "over the phenomena of one response, region, prompt and form of random effects",
        "Ratings (plausibility) differ between grammatical and ungrammatical sentences in 2 of 3 phenomena (p_BH < .05; with "
        "intercepts alone, in 3).",
        "Corrected over all 6 tests of the 2 prompts together, 4 differences remain.",
        "islands (plausibility): grammatical sentences were rated 1.68 standard deviations higher",
        "The ratings (acceptability) of 17 of 23 participants do not tell",
        "Ratings (plausibility): with these standard errors, effects from",
        "Intraclass correlations of ratings (plausibility), ICC(2,k), over all sentences",
        "with people's mean ratings (acceptability) by",
    ):
        assert part in text
    one = {name: frame for name, frame in found.items() if name != "exclusions"}
    for name in one:
        if "prompt" in one[name]:
            one[name] = one[name][~one[name]["prompt"].isin(["plausibility"]).fillna(False)]
    plain = manuscript.ready_to_paste(one).partition("## References")[0]
    assert "Ratings were standardised within participant (z, sample standard deviation) over all" in plain
    assert "Ratings differ between grammatical and ungrammatical sentences in 2 of 3 phenomena" in plain
    assert not any(word in plain for word in ("acceptability", "plausibility", "prompt"))


def test_a_prompt_asked_of_fillers_alone_is_still_one_of_two(two_scales: Tables) -> None:
    """Its sentences are none, yet the other's name it: the reader knows that there are two."""
    two_scales = of_islands(two_scales)
    responses = two_scales["responses"].copy()
    fillers = (responses["prompt"] == "plausibility") & (responses["role"] == "target")
    responses.loc[fillers, "role"] = "filler"
    changed = {"readings": two_scales["readings"].head(0), "responses": responses}
    given = {name: two_scales[name] for name in GIVEN} | changed
    table = analyse(given, AnalysisSection(exclude=ANYONE))
    assert set(select_pairs(table["effects"])["prompt"]) == {"acceptability"}
    ratings = manuscript.ready_to_paste(table).partition("## Ratings")[2]
    assert ratings.startswith("\n\nRatings (acceptability) differ between")


def test_a_figure_is_of_one_scale_which_its_axis_names(found: Tables, scores: pd.DataFrame, two_scales: Tables) -> None:
    with pytest.raises(ValueError, match="2 prompts, acceptability, plausibility; expected the name of one, as in"):
        condition_figure(found["condition_means"])
    labels = {
        condition_figure(found["condition_means"], prompt="plausibility").axes[0].get_xlabel(): "mean rating (plausibility)",
        coefficient_figure(select_pairs(join_results(found)), "z", "plausibility").axes[0].get_xlabel(): (
            "grammatical minus ungrammatical\n(plausibility, z)"
        ),
        rater_figures.reliability_figure(found["reliability"], "plausibility").axes[0].get_xlabel(): (
            "ICC(2,k) (plausibility), a dot for each list"
        ),
        score_figure(model_scores(two_scales), scores, "lp", prompt="plausibility").get_supylabel(): (
            "mean rating (plausibility, z)"
        ),
    }
    assert all(label == expected for label, expected in labels.items())
    drawn = condition_figure(found["condition_means"], prompt="plausibility").axes[0]
    low, high = drawn.get_xlim()
    assert 20 < low < high < 80, "points of the slider, not of the keys"
    names = [name for name, _ in catalogue.result_figures(found)]
    for name, prompt in itertools.product(("ratings", "rating_effects", "reliability"), SCALES):
        assert f"{name}-{prompt}" in names
    assert "ratings" not in names


def test_the_report_shows_both_scales_apart(two_scales: Tables, found: Tables) -> None:
    made = whole({**two_scales, **found}, title="Two scales")
    keys = {f"{name}-{prompt}" for name in ("means-z", "effects-z", "icc") for prompt in SCALES}
    assert keys <= set(made.figures)
    assert not {"means-z", "effects-z", "icc"} & set(made.figures)
    section = made.html.partition("<h2>Ratings")[2].partition("<section")[0]
    assert section.count("Plausibility: mean rating by phenomenon and condition") == 2  # for eyes, and for a screen reader
    assert '<th scope="col" class="text">prompt</th>' in section
    assert "p_adjusted is adjusted over the phenomena of one response, region, prompt and form of random effects" in section
    assert "p_adjusted_all over all prompts together" in section
    assert "(z, sentence, plausibility)" in made.html
    assert "acceptability, plausibility: Singular" not in section, "a note names the model that it is of"


def test_a_study_of_two_scales_goes_from_tables_to_a_report(two_scales: Tables, tmp_path: Path) -> None:
    two_scales = of_islands(two_scales)
    for name in ("items", "words", *GIVEN[:3]):
        write(two_scales[name], name, tmp_path / "tables", command="gardenpath collect", seed=11)
    write(two_scales["surprisal"], "surprisal", tmp_path / "scores", command="gardenpath score")
    write(model_scores(two_scales), "sentence_scores", tmp_path / "scores", command="gardenpath score")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    results = tmp_path / "results"
    told = run("analyse", tmp_path / "tables", "--study", tmp_path / "study.toml", "-o", results)
    assert told.exit_code == 0, told.output
    for prompt in SCALES:
        assert f"Ratings ({prompt}) differ between grammatical and ungrammatical sentences in" in told.stdout
    told_of = read(results, "participant_prompts")
    assert (told_of["participant"].nunique(), told_of["prompt"].nunique()) == (23, 4)
    told = run("align", tmp_path / "tables", tmp_path / "scores", "-o", results, "--no-slopes", "--folds", 2)
    assert told.exit_code == 0, told.output
    assert "(causal): correlation of log probability with mean ratings (plausibility) over all sentences, r = " in told.stdout
    told = run("report", tmp_path / "study.toml", "-o", tmp_path / "report.html")
    assert told.exit_code == 0, told.output
    pictures = {path.name for path in (tmp_path / "report-figures").iterdir()}
    assert {"ratings-0-acceptability.svg", "ratings-0-plausibility.svg", "effects-z-plausibility.png"} <= pictures
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "little-lm (toy) (causal), mean_lp (plausibility): mean rating of each sentence against its score" in page
    assert "under each prompt (acceptability and plausibility), after Pearson and Spearman" in page


def test_a_prompt_of_any_text_has_a_file_of_its_own(found: Tables) -> None:
    names = {"acceptability": "How good is it?", "plausibility": "how good is it"}
    renamed = {
        name: frame.assign(prompt=frame["prompt"].replace(names)) if "prompt" in frame else frame for name, frame in found.items()
    }
    drawn = [name for name, _ in catalogue.result_figures(renamed)]
    assert {"ratings-how-good-is-it", "ratings-how-good-is-it-2"} <= set(drawn)
    assert len(drawn) == len(set(drawn))
    assert effects.effects(select_pairs(join_results(renamed)), "z")[0].startswith("Ratings (How good is it?) differ")
