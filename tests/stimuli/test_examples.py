"""Every example study is free of faults, balanced, and can be run."""

from collections import Counter
from pathlib import Path

import pytest

from gardenpath import experiment, stimuli, study

EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/study.toml"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda p: p.name)
def test_an_example_has_no_finding_but_waived_ones_and_runs(folder: Path, tmp_path: Path) -> None:
    stated = study.load(folder)
    materials = stimuli.read(*stated.list_material_paths())
    rules = "blimp-nl" if all(p.is_minimal_pair() for p in materials.paradigms) else None
    assert [str(f) for f in stimuli.check(materials, rules=rules) if f.severity in ("error", "warning")] == []
    trial_lists = experiment.build_list_files(stated)
    experiment.simulate(trial_lists, tmp_path / "data", participants=len(trial_lists), seed=1)
    tables = experiment.collect(tmp_path / "data")
    assert tables["sessions"]["complete"].all()


def test_the_minimal_pairs_are_ten_in_each_of_twelve_paradigms_in_six_phenomena() -> None:
    materials = stimuli.read(EXAMPLES[0].parent / "minimal-pairs" / "items.csv")
    assert set(Counter(item.paradigm for item in materials.items).values()) == {10}
    phenomena = Counter(p.phenomenon for p in materials.paradigms)
    assert (len(materials.paradigms), len(phenomena), set(phenomena.values())) == (12, 6, {2})


def test_a_participant_reads_minimal_pairs_of_four_phenomena() -> None:
    stated = study.load(EXAMPLES[0].parent / "minimal-pairs")
    materials = stimuli.read(*stated.list_material_paths())
    for trial_list in stimuli.design(stated):
        targets = [trial for trial in trial_list.trials if trial.role == "target"]
        paradigms = {trial.item.paradigm for trial in targets}
        assert (len(targets), len(paradigms)) == (36, 4)
        assert len({materials.find_paradigm(name).phenomenon for name in paradigms}) == 4


def test_the_two_by_two_asks_as_many_questions_with_yes_as_with_no_in_each_condition() -> None:
    trial_lists = stimuli.design(study.load(EXAMPLES[0].parent / "relative-clauses"))
    for trial_list in trial_lists:
        answers = Counter(
            (condition, trial.item.question.answers[condition])
            for trial in trial_list.trials
            for condition, _ in trial.shown_sentences
            if trial.role == "target" and trial.item.question
        )
        assert set(answers.values()) == {2}
        assert len(answers) == 8
