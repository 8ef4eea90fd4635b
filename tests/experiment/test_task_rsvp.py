"""RSVP: words stand for their time in frames, and an interrupted stream is flagged and never shown again."""

from pathlib import Path

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.scripts.script import Walk, build_timeline
from gardenpath.experiment.sessions.records import build_record, find_outcome_fault
from gardenpath.experiment.tasks import ShownTrial, build_record_rows

from .made_events import event, outcome, word
from .task_studies import events, stated, tables, trial_screens

FRAME = 1000 / 60
RSVP = (
    '[procedure.target]\nshow = "fast"\nask = ["comprehension"]\n[procedure.tasks.comprehension]\nkind = "question"\n'
    '[procedure.tasks.fast]\nkind = "rsvp"\nword_duration = 120\npause_duration = 50\n'
)


def test_what_is_planned_stands_in_the_list_and_what_was_shown_in_the_table(tmp_path: Path) -> None:
    made = stated(tmp_path, RSVP)
    for words, *_ in trial_screens(made):
        assert (words.pace.word, words.pace.pause, words.arrangement) == (120, 50, "centred")
        assert [(leave.outcome, leave.to) for leave in words.exits] == [("interrupted", "skip")]
    found = tables(made)
    readings = found["readings"]
    assert len(readings) == 2 * 4 * 10
    assert readings["duration"].tolist() == pytest.approx([7 * FRAME] * len(readings)), "120 ms are 7 frames of 60 Hz"
    assert readings["rt"].isna().all()
    assert readings["correct"].isna().all()
    assert (readings["quality_flags"].fillna("") == "").all()
    assert len(found["responses"]) == 8
    shown = [e for e in events(made) if e["kind"] == "word" and e["value"]["word"] >= 0]
    assert all(e["value"]["press"] is None for e in shown)


def test_the_defaults_are_a_quarter_of_a_second_without_pauses(tmp_path: Path) -> None:
    words, *_ = trial_screens(stated(tmp_path, '[procedure.target]\nshow = "rsvp"\n'))[0]
    assert (words.pace.word, words.pace.pause) == (250, 0)


def test_an_interrupted_stream_flags_its_words_and_ends_its_trial(tmp_path: Path) -> None:
    (file, *_) = experiment.build_list_files(stated(tmp_path, RSVP))
    screen, trial = file.script.trials[0].screens[0], file.trial_list.trials[0]
    did = [
        word(0, 100, 0, -1),
        word(1, 220, 0, 0, press=None),
        word(2, 390, 0, 1, press=None),
        event(3, 400, "interruption", 0, 0, reason="blur"),
        outcome(4, 400, 0, 0, "interrupted", display=None, press=None),
    ]
    record = build_record(screen, did)
    rows = [row for _, row in build_record_rows(record, ShownTrial.from_trial(trial))]
    assert [(row["word"], row["quality_flags"]) for row in rows] == [(0, "interrupted"), (1, "interrupted")]
    assert find_outcome_fault(screen, did[-1].value) is None
    stand = Walk(build_timeline(file.script, range(len(file.trial_list.trials))), done=range(len(file.script.front)))
    number, _ = stand.location or (-1, -1)
    stand.end_screen("interrupted")
    assert stand.location == (number + 1, 0), "nothing is asked, and the next trial begins"


@pytest.mark.parametrize(
    ("setting", "message"), [("word_duration = 5", "word_duration is 5"), ("pause_duration = -1", "pause_duration is -1")]
)
def test_times_that_cannot_be_are_refused(tmp_path: Path, setting: str, message: str) -> None:
    with pytest.raises(study.DataError, match=message):
        experiment.build_list_files(
            stated(tmp_path, f'[procedure.target]\nshow = "r"\n[procedure.tasks.r]\nkind = "rsvp"\n{setting}\n')
        )
