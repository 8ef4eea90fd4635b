"""What a scripted participant does in a place of a study, and what of it a platform's file has to give back."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gardenpath import experiment, study
from gardenpath.experiment.platforms.platform_export import ListSlot
from gardenpath.experiment.platforms.platform_import import ImportedTrial, Record, WordRecord
from gardenpath.experiment.scripts.script import TimelineStep
from gardenpath.study.screens import After, Answers, Entry, Slider, Text, Whole, Words

ROOT = Path(__file__).parents[2]
EXAMPLES = ("minimal-pairs", "relative-clauses")
PRACTICE = 'practice = [{ sentence = "She, too, slept.", question = "Did she?", answer = "yes" }]\n'
PAIRS = 'trial = "pair"\nratio = { grammatical = 1, ungrammatical = 1 }\nlists = 2\n'
SCALE = 'kind = "rating"\nprompt = "How good, in %?"\nlow = "very bad"\nhigh = "very good"\n'
# A text that PCIbex, CSV and Python would each trip over.
TYPED = 'a "lamp", 100% of it'


def asks(*names: str, show: str = "centred", tables: str = "", **scales: str) -> str:
    """Return the procedure of a study that shows sentences in one way and asks these tasks; `scales` are ratings by name."""
    roles = "".join(f'[procedure.{role}]\nshow = "{show}"\nask = {json.dumps(names)}\n' for role in ("target", "practice"))
    made = "".join(f"[procedure.tasks.{name}]\n{SCALE}{more}\n" for name, more in scales.items())
    return roles + made + tables


RATED = asks("question", "good", good="")
STUDIES = {
    "centred with ratings and questions": {"procedure": RATED},
    "a moving window and a slider": {"procedure": asks("question", "good", show="moving_window", good='scale = "slider"')},
    "whole sentences, yes or no": {"procedure": asks("question", "good", show="whole", good='scale = "yes_no"')},
    "with the task": {"procedure": asks("question", "good", show="with_task", good="")},
    "questions alone": {"procedure": asks("question", show="cumulative")},
    "two scales one after the other": {"procedure": asks("good", "sure", good="points = 5", sure='scale = "slider"')},
    "no task": {"procedure": asks()},
    "speeded": {"procedure": asks("good", "question", good='scale = "yes_no"\ndeadline = 900')},
    "pairs read first": {"procedure": asks("choice"), "design": PAIRS},
    "pairs with the task": {"procedure": asks("choice", show="with_task"), "design": PAIRS},
}


def files_of(folder: Path) -> list[experiment.ListFile]:
    return experiment.build_list_files(study.load(folder))


def odd(folder: Path, procedure: str = RATED, design: str = "", language: str = "en") -> Path:
    """Write a study of four items with contexts, questions, and words that trip over commas, quotes and percent signs."""
    records: list[dict[str, Any]] = [{"record": "paradigm", "id": "agreement", "phenomenon": "agreement"}]
    for n, noun in enumerate(["key", 'so-called "road",', "100%", "a@b"]):
        sentences = {
            condition: {"text": f"The {noun} near John's ~farms {verb} old; it's_said.", "regions": []}
            for condition, verb in (("grammatical", "is"), ("ungrammatical", "are"))
        }
        choices = ["yes, it was", "no"] if n % 2 else ["a key", 'a "lamp"', "a door"]
        question = {"text": f"Was it {noun}?", "answers": dict.fromkeys(sentences, choices[0]), "choices": choices}
        texts = {"id": f"a-{n}", "paradigm": "agreement", "language": language, "sentences": sentences}
        records.append({"record": "item", **texts, "question": question, "context": f"It was late, {n} %.\n\nVery late."})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    asked = "task_shares = { question = 1.0 }\n" if '"question"' in procedure else ""
    design = design or "ratio = { grammatical = 1, ungrammatical = 1 }\nlists = 2\n" + asked + PRACTICE
    (folder / "study.toml").write_text(
        f'name = "odd"\nlanguage = "{language}"\nseed = 4\n[materials]\nfiles = ["items.jsonl"]\n'
        f'[design]\n{design}[online]\ncompletion_code = "C"\n{procedure}',
        "utf-8",
    )
    return folder


def changed(files: Sequence[experiment.ListFile], change: Any) -> list[experiment.ListFile]:
    """Return list files whose trials have other screens than a task of ours makes: `change` takes and returns a trial's."""
    made = []
    for file in files:
        trials = tuple(replace(step, screens=tuple(change(list(step.screens)))) for step in file.script.trials)
        made.append(replace(file, script=replace(file.script, trials=trials)))
    return made


def typed(screens: list[Any]) -> list[Any]:
    """Return a trial's screens with a typed answer after them, and one that is asked after wrong answers alone."""
    entry = Entry(name="then", task="completion", prompt="And then?", button="Go on", missing="Please type.")
    asked = next((n for n, screen in enumerate(screens) if isinstance(screen, Answers) and screen.is_judged_by_player), None)
    why = replace(entry, name="why", prompt="Why?", when=After(asked, ("wrong",))) if asked is not None else None
    return [*screens, entry, *([why] if why else [])]


def led(outcomes: tuple[str, ...], *, judged: bool) -> Any:
    """Return a change by which a text is typed after some ends of the rating alone, of which one answer may be the right one."""

    def change(screens: list[Any]) -> list[Any]:
        n = next(n for n, screen in enumerate(screens) if screen.name == "good")
        right = (screens[n].answers[0].value,) if judged else ()
        asked = replace(screens[n], right=right, is_judged_by_player=judged)
        entry = Entry(name="why", task="completion", prompt="Why?", button="Go on", missing="?", when=After(n, outcomes))  # type: ignore[arg-type]
        return [*screens[:n], asked, entry]

    return change


LED = [
    *((outcomes, True) for outcomes in (("right",), ("wrong",), ("timeout",), ("right", "wrong"), ("wrong", "timeout"))),
    *((outcomes, True) for outcomes in (("right", "timeout"), ("right", "wrong", "timeout"), ("answered",))),
    *((outcomes, False) for outcomes in (("answered",), ("timeout",), ("answered", "timeout"), ("right",))),
]


def rt(trial: int, word: int) -> float:
    """Return the scripted reading time of a word, ms."""
    return 180.0 + (trial * 37 + word * 53) % 400


def since(trial: int, nth: int) -> float:
    """Return how long after its display the n-th answer of a trial comes, ms."""
    return 500.0 + trial + 10 * nth


def is_late(trial: int, screen: Any) -> bool:
    """Whether the script lets a screen's deadline pass."""
    return screen.deadline is not None and trial % 3 == 1


def said(trial: int, screen: Any) -> Any:
    """Return the scripted answer to a screen: of a scale a number, of others a value, or a text."""
    if isinstance(screen, Entry):
        return f"{trial}: {TYPED}"
    if isinstance(screen, Slider):
        return screen.least + (trial * 3 + 1) % (screen.most - screen.least + 1)
    return screen.answers[(trial * 3 + 1) % len(screen.answers)].value


def outcome(trial: int, screen: Any) -> str:
    """Return how the script ends a screen that asks."""
    if is_late(trial, screen):
        return "timeout"
    return ("right" if said(trial, screen) in screen.right else "wrong") if screen.right else "answered"


def trials_of(place: ListSlot) -> list[TimelineStep]:
    """Return the trials of a place as platforms other than our own page show them."""
    return [placed for placed in place.list_trial_steps() if placed.step.trial is not None]


def shown_in(placed: TimelineStep) -> Iterator[Any]:
    """Yield the screens of a trial that the script comes to see."""
    ends: dict[int, str] = {}
    for n, screen in enumerate(placed.step.screens):
        if screen.when is None or ends.get(screen.when.screen) in screen.when.outcomes:
            if hasattr(screen, "deadline"):
                assert placed.position is not None
                ends[n] = outcome(placed.position, screen)
            yield screen


def expected(place: ListSlot, *, stacked: bool = False) -> list[ImportedTrial]:
    """Return what a file of this place has to give back, without where it stands; `stacked`: pairs are shown one above the other."""
    return [_trial(placed, place.file, stacked) for placed in trials_of(place)]


def _trial(placed: TimelineStep, file: experiment.ListFile, stacked: bool) -> ImportedTrial:
    trial, n = file.trial_list.trials[placed.step.trial or 0], placed.position or 0
    read: list[Record] = []
    answers: list[Record] = []
    for screen in shown_in(placed):
        time = since(n, len(answers))
        if isinstance(screen, Words):
            words = tuple(WordRecord(i, rt(n, i), text=word) for i, word in enumerate(screen.words))
            read.append(Record("reading", "sentence", "read", words=words, sentence=screen.sentence))
        elif isinstance(screen, Whole):
            name = "context" if screen.sentence is None else "sentence"
            answers.append(Record("whole", name, "read", rt=time, sentence=screen.sentence))
        elif not isinstance(screen, Text):
            answers.append(_answer(n, screen, time, stacked))
    return ImportedTrial(n, trial.item.id, trial.condition, "", trial.role, records=(*read, *answers))


def _answer(n: int, screen: Any, time: float, stacked: bool) -> Record:
    if is_late(n, screen):
        return Record(screen.task, screen.name, "timeout")
    value, side = said(n, screen), None
    if isinstance(screen, Answers):
        values = [one.value for one in screen.answers]
        side = screen.answers[values.index(value)].side
        if stacked and screen.arrangement == "pair":
            side = ("upper", "lower")[values.index(value)]
    return Record(screen.task, screen.name, "answered", str(value), side, time)


def words_in(trial: ImportedTrial) -> tuple[WordRecord, ...]:
    """Return the words that were read in a trial."""
    return tuple(word for record in trial.records for word in record.words)


def answers_in(trial: ImportedTrial) -> tuple[Record, ...]:
    """Return the records of a trial that make a response each: of answers, and of texts read at once."""
    return tuple(record for record in trial.records if record.outcome is not None and not record.words)


def bare(trial: ImportedTrial) -> ImportedTrial:
    """Return a trial as a file gave it back without where it stands, to be compared; words first, whenever they came."""
    return replace(trial, where="", records=tuple(sorted(trial.records, key=lambda record: not record.words)))
