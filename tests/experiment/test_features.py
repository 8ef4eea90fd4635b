"""What a study's screens need is found by walking its scripts; each platform says to all of it what it does."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.platforms import platform_export
from gardenpath.experiment.platforms.features import FEATURES, UNSUPPORTED, find_features, list_feature_losses, refuse_unsupported
from gardenpath.experiment.platforms.gorilla import export as gorilla
from gardenpath.experiment.platforms.imported_tables import build_tables
from gardenpath.experiment.platforms.outline import Outline
from gardenpath.experiment.platforms.pcibex import export as pcibex
from gardenpath.experiment.platforms.platform_export import EXPORTS, enumerate_slots
from gardenpath.experiment.platforms.platform_import import ImportedSession, ImportedTrial, Record
from gardenpath.experiment.platforms.psychopy import export as psychopy
from gardenpath.experiment.platforms.shown_materials import ShownMaterials
from gardenpath.experiment.sessions.event_tables import collect_materials
from gardenpath.experiment.tasks import TASKS
from gardenpath.study.screens import SCREEN_KINDS, Answers, Exit, Nothing, Pace, Pair, Passage, Stimulus, WordPairs, Words

from .scripted import RATED, ROOT, STUDIES, asks, changed, files_of, odd

FOREIGN = (pcibex, gorilla, psychopy)
ELSEWHERE = pytest.mark.parametrize("platform", FOREIGN, ids=lambda one: one.NAME)


@pytest.mark.parametrize("platform", EXPORTS, ids=lambda one: one.NAME)
def test_a_platform_says_of_every_kind_of_screen_and_of_all_that_they_have_what_it_does(platform: Any) -> None:
    assert platform.FEATURE_SUPPORT.keys() == FEATURES.keys()
    assert {*SCREEN_KINDS} <= FEATURES.keys()


def test_there_is_a_feature_for_each_way_in_which_screens_can_differ() -> None:
    for kind in (Words, Answers):
        assert {*get_args(get_type_hints(kind)["arrangement"])} <= FEATURES.keys()
    assert {f"above_{one.kind}" for one in (Passage, Stimulus)} <= FEATURES.keys()
    assert Nothing.kind == "nothing"


FOUND = {
    "centred with ratings and questions": {"centred", "points", "row", "feedback", "context", "words", "whole", "breaks"},
    "a moving window and a slider": {"moving_window", "slider"},
    "whole sentences, yes or no": {"row"},
    "with the task": {"above_sentence"},
    "questions alone": {"cumulative", "row"},
    "speeded": {"deadline"},
    "pairs with the task": {"pair"},
}


@pytest.mark.parametrize("name", FOUND)
def test_features_are_those_of_the_screens(name: str, tmp_path: Path) -> None:
    features = find_features(files_of(odd(tmp_path, **STUDIES[name])))
    assert FOUND[name] <= features.keys()
    absent = {"timed", "word_pairs", "form", "rounds", "follow_up", "leave", "right_to_left", "entry"}
    assert not (absent | ({"deadline", "slider", "cumulative"} - FOUND[name])) & features.keys()


def test_features_of_the_language_of_the_words_and_of_what_is_around_the_trials(tmp_path: Path) -> None:
    form = '[[procedure.demographics]]\nname = "age"\nlabel = "Age?"\nkind = "number"\n'
    features = find_features(files_of(odd(tmp_path / "he", RATED + form, language="he")))
    assert {"right_to_left", "words_right_to_left", "form", "aside", "text"} <= features.keys()
    folder = odd(tmp_path / "unspaced", asks(show="moving_window"))
    text = (folder / "items.jsonl").read_text("utf-8").replace("it's_said", "it\u200bs")
    (folder / "items.jsonl").write_text(text, "utf-8")

    def together(screens: list[Any]) -> list[Any]:
        return [replace(s, gaps=("",) * len(s.gaps)) if isinstance(s, Words) else s for s in screens]

    assert "unspaced" not in find_features(files_of(folder))
    assert "unspaced" in find_features(changed(files_of(folder), together))


def timed(screens: list[Any]) -> list[Any]:
    return [replace(s, pace=Pace(300, 100), name="stream") if isinstance(s, Words) else s for s in screens]


def paired(screens: list[Any]) -> list[Any]:
    return [WordPairs(name="maze", task="maze", pairs=(Pair("The", "x-x-x", "left"),)), *screens]


def leaving(screens: list[Any]) -> list[Any]:
    return [replace(s, exits=(Exit("wrong", "skip"),)) if isinstance(s, Answers) else s for s in screens]


REFUSED_ALIKE = {
    "words shown for a stated time: screen stream of 5 items, the first": timed,
    "sentences read as pairs of words: screen maze of 5 items, the first": paired,
    "screens that end their trial, or the study: screen question, good of 5 items, the first": leaving,
}


@ELSEWHERE
@pytest.mark.parametrize("said", REFUSED_ALIKE)
def test_what_a_platform_cannot_run_is_refused_with_the_screens_that_have_it(
    platform: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = odd(tmp_path / "study")
    files = changed(files_of(folder), REFUSED_ALIKE[said])
    monkeypatch.setattr(platform_export, "build_list_files", lambda stated: files)
    with pytest.raises(study.DataError) as caught:
        experiment.export(study.load(folder), platform.NAME, tmp_path / "out", 1)
    assert f"{platform.NAME} cannot run {said}" in str(caught.value)
    assert "expected an export to jspsych or jatos" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_everything_that_cannot_be_run_is_told_at_once_and_our_own_page_runs_it(tmp_path: Path) -> None:
    def both(screens: list[Any]) -> list[Any]:
        return paired(timed(screens))

    files = changed(files_of(odd(tmp_path)), both)
    with pytest.raises(study.DataError) as caught:
        refuse_unsupported(files, pcibex.FEATURE_SUPPORT, pcibex.NAME)
    assert len(caught.value.faults) == 2
    refuse_unsupported(files, platform_export.jspsych.FEATURE_SUPPORT, "jspsych")
    assert platform_export.jatos.list_losses(files) == []


def test_a_feature_that_a_platform_does_not_know_is_refused(tmp_path: Path) -> None:
    plays = {name: said for name, said in pcibex.FEATURE_SUPPORT.items() if name != "points"}
    with pytest.raises(study.DataError, match="the points of a scale: screen good"):
        refuse_unsupported(files_of(odd(tmp_path)), plays, "another")


@ELSEWHERE
def test_losses_are_the_sentences_of_what_is_there(platform: Any, tmp_path: Path) -> None:
    files = files_of(odd(tmp_path))
    features = find_features(files)
    said = list_feature_losses(files, platform.FEATURE_SUPPORT)
    assert said == [sentence for name, sentence in platform.FEATURE_SUPPORT.items() if sentence and name in features]
    assert {name for name, one in platform.FEATURE_SUPPORT.items() if one is UNSUPPORTED} == {
        "word_pairs",
        "timed",
        "leave",
        "assets",
        *(["follow_up"] if platform is gorilla else []),
    }


@ELSEWHERE
def test_practice_is_shown_once_and_trials_keep_their_positions(platform: Any, tmp_path: Path) -> None:
    repeated = RATED.replace("[procedure.practice]", "[procedure.practice]\ncriterion = 0.9\nmax_rounds = 3")
    files = files_of(odd(tmp_path, repeated))
    assert "Practice is not repeated" in " ".join(platform.list_losses(files))
    (place, *_) = enumerate_slots(files, 1)
    shown = [placed.position for placed in place.list_trial_steps() if placed.position is not None]
    assert shown == [0, 3, 4, 5, 6]  # practice could come three times
    assert len(place.order) == 5


def test_a_name_stands_for_the_same_prompt_in_all_trials() -> None:
    """In half the trials the question is not asked."""
    files = files_of(ROOT / "examples" / "relative-clauses")
    outline = Outline.from_files(files)
    assert outline.names == ("sentence_1", "ask_1", "ask_2")
    asked = [[(name, s.name) for name, s in outline.name_screens(step)][1:] for file in files for step in file.script.trials]
    assert {tuple(one) for one in asked} == {
        (("ask_1", "comprehension"), ("ask_2", "acceptability")),
        (("ask_2", "acceptability"),),
    }


def test_names_hold_where_roles_ask_in_another_order(tmp_path: Path) -> None:
    def turned(screens: list[Any]) -> list[Any]:
        asked = [s for s in screens if isinstance(s, Answers)]
        return [*reversed(asked)] if getattr(screens[-1], "right", ()) else screens

    files = changed(files_of(odd(tmp_path, asks("good", "question", good=""))), turned)
    outline = Outline.from_files(files)
    for step in (step for file in files for step in file.script.trials):
        names = [name for name, _ in outline.name_screens(step)]
        assert [screen for _, screen in outline.name_screens(step)] == [*step.screens]
        assert names == sorted(names, key=outline.names.index)


def test_nothing_that_goes_out_knows_a_task() -> None:
    """A kind of screen, or of a form's field, may be called as a task is."""
    folder = ROOT / "experiment" / "platforms"
    files = [*folder.glob("*/export.py"), *folder.glob("*/*.js"), *folder.glob("*/export.md")]
    files += [folder / name for name in ("features.py", "platform_export.py", "list_slots.py", "page.py", "page_rows.py")]
    names = {kind for task in TASKS for kind in task.KINDS} - {*FEATURES}
    assert names >= {"rating", "question", "choice"}
    for path in files:
        text = path.read_text("utf-8").replace('field.kind == "choice"', "")
        assert not re.findall(rf"[\"'`]({'|'.join(names)})[\"'`]", text), path


def renamed(screens: list[Any]) -> list[Any]:
    return [replace(s, task="toy", name=f"toy-{s.name}") if isinstance(s, Answers) else s for s in screens]


@ELSEWHERE
def test_what_goes_out_says_the_kind_and_the_name_of_what_is_asked(platform: Any, tmp_path: Path) -> None:
    files = changed(files_of(odd(tmp_path / "study")), renamed)
    platform.write(files, enumerate_slots(files, 1), tmp_path / "out", study.config.OnlineSection("CODE"))
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file())
    for said in ("ask_1_task", "ask_1_name", "ask_1_kind", "toy-question", "toy-good"):
        assert said in text


def test_a_number_of_any_task_is_right_where_the_screen_says_so(tmp_path: Path) -> None:
    """What a file gives back is text; what the screens of a list hold as right may be numbers."""
    file = files_of(odd(tmp_path, asks("good", good="points = 5")))[0]

    def judged(screens: list[Any]) -> list[Any]:
        return [replace(s, task="toy", right=(2,)) if isinstance(s, Answers) else s for s in screens]

    (file,) = changed([file], judged)
    trial = next(one for one in file.trial_list.trials if one.role == "target")
    records = (Record("toy", "good", "answered", "2"), Record("toy", "good", "answered", "3"), Record("toy", "good", "timeout"))
    ran = [ImportedTrial(n, trial.item.id, trial.condition, "there", records=(one,)) for n, one in enumerate(records)]
    shown = ShownMaterials("lists", collect_materials([file]), {file.sha256: file})
    sat = ImportedSession("s", "p", "pcibex", tuple(ran), True, "there", list_name=file.name, list_sha256=file.sha256)
    responses = build_tables([sat], shown, str)["responses"]
    assert responses["correct"].tolist()[:2] == [True, False]
    assert responses["correct"].isna().tolist() == responses["response"].isna().tolist() == [False, False, True]
