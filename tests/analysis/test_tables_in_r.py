"""Tables as `collect` and `analyse` write them go into R as they are: logical columns, and a formula with the study's factors."""

import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import analysis, experiment, study

from ..conftest import ROOT

FACTORS = ["extraction", "noun_phrase"]
WRITTEN = ("responses", "readings", "rating_scores", "region_times", "participants")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("rc")
    files = experiment.build_list_files(study.load(ROOT / "examples" / "relative-clauses"))
    experiment.simulate(files, folder / "data", participants=8, seed=3)
    return experiment.collect(folder / "data")


@pytest.fixture(scope="module")
def tables(collected: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables of a 2 x 2 with fillers, questions and ratings, those of a person apart who left no number to compare."""
    return collected | analysis.analyse(collected, study.AnalysisSection(engine="glmm"))


def test_trials_say_their_factors_their_log_number_their_line_and_the_readers_accuracy(tables: dict[str, pd.DataFrame]) -> None:
    accuracy = tables["participants"].set_index("participant")["accuracy"]
    for name in ("responses", "rating_scores", "region_times"):
        table = tables[name]
        assert [*table.columns][-2:] == FACTORS
        targets = table[table["role"] == "target"]
        assert (targets["extraction"] + "." + targets["noun_phrase"] == targets["condition"]).all()
        assert table.loc[table["role"] != "target", FACTORS].isna().all(axis=None)
        assert table["log_trial"].tolist() == pytest.approx([math.log(trial + 1) for trial in table["trial"]])
        people = table.drop_duplicates("participant").set_index("participant")["question_accuracy"]
        assert people.to_dict() == pytest.approx(accuracy[people.index].to_dict())
    times = tables["region_times"]
    words = tables["readings"][["session", "trial", "word", "line"]]
    beside = times.merge(words, on=["session", "trial", "word"], suffixes=("", "_of_word"))
    assert len(beside) == len(times)
    assert beside["line"].equals(beside["line_of_word"])


def test_factors_come_without_being_collected_again(collected: dict[str, pd.DataFrame]) -> None:
    scores = analysis.compute_rating_scores(collected["responses"], collected["items"], conditions=collected["conditions"])
    assert set(FACTORS) < {*scores}
    assert not set(FACTORS) & {*analysis.compute_rating_scores(collected["responses"], collected["items"])}


@pytest.mark.r("lme4")
def test_r_reads_them_and_fits_a_formula_with_the_factors_as_it_stands(
    tables: dict[str, pd.DataFrame], tmp_path: Path, run_r: Callable[[Path], None]
) -> None:
    for name in WRITTEN:
        study.write(tables[name], name, tmp_path, command="test")
    (tmp_path / "run.R").write_text(
        """
        library(lme4)
        responses <- read.csv("responses.csv")
        readings <- read.csv("readings.csv")
        scores <- read.csv("rating_scores.csv")
        times <- read.csv("region_times.csv")
        stopifnot(is.logical(responses$correct), is.logical(readings$correct))
        critical <- subset(times, region == "critical")
        formula <- log_rt ~ extraction*noun_phrase + log_trial + question_accuracy + (1|participant) + (1|item)
        read <- lmer(formula, critical)
        rated <- lmer(z ~ extraction*noun_phrase + (1|participant) + (1|item), subset(scores, role == "target"))
        asked <- subset(responses, task == "question" & role == "target")
        right <- glmer(correct ~ extraction + (1|participant), asked, binomial)
        n <- c(nobs(read), nobs(rated), nobs(right), sum(asked$correct))
        means <- aggregate(log_rt ~ extraction + noun_phrase, critical, mean)
        write.csv(data.frame(n), "n.csv", row.names = FALSE)
        write.csv(means, "means.csv", row.names = FALSE)
        """
    )
    run_r(tmp_path / "run.R")
    scores, responses = tables["rating_scores"], tables["responses"]
    critical = tables["region_times"].query("region == 'critical'")
    asked = responses[(responses["task"] == "question") & (responses["role"] == "target")]
    expected = [len(critical), (scores["role"] == "target").sum(), len(asked), asked["correct"].sum()]
    assert pd.read_csv(tmp_path / "n.csv")["n"].tolist() == expected
    ours = critical.groupby(FACTORS)["log_rt"].mean()
    theirs = pd.read_csv(tmp_path / "means.csv").set_index(FACTORS)["log_rt"]
    assert theirs.to_dict() == pytest.approx(ours.to_dict())
