"""What a scripted participant does in a place of a study, and what of it a platform's file has to give back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gardenpath import experiment, study
from gardenpath.experiment.exports import Place
from gardenpath.experiment.imports import Answer, Presented, ReadWord

ROOT = Path(__file__).parents[2]
EXAMPLES = ("minimal-pairs", "relative-clauses")
PRACTICE = 'practice = [{ sentence = "She, too, slept.", question = "Did she?", answer = "yes" }]\n'
PAIRS = 'trial = "pair"\nratio = { grammatical = 1, ungrammatical = 1 }\nversions = 2\n'


def files_of(folder: Path) -> list[experiment.VersionFile]:
    return experiment.version_files(study.load(folder))


def odd(folder: Path, procedure: str = "", design: str = "") -> Path:
    """Write a study of four items with contexts, questions, and words that trip over commas, quotes and percent signs."""
    records: list[dict[str, Any]] = [{"record": "paradigm", "id": "agreement", "phenomenon": "agreement"}]
    for n, noun in enumerate(["key", 'so-called "road",', "100%", "a@b"]):
        sentences = {
            condition: {"text": f"The {noun} near John's ~farms {verb} old; it's_said.", "regions": []}
            for condition, verb in (("grammatical", "is"), ("ungrammatical", "are"))
        }
        choices = ["yes, it was", "no"] if n % 2 else ["a key", 'a "lamp"', "a door"]
        question = {"text": f"Was it {noun}?", "answers": dict.fromkeys(sentences, choices[0]), "choices": choices}
        texts = {"id": f"a-{n}", "paradigm": "agreement", "language": "en", "sentences": sentences}
        records.append(
            {"record": "item", **texts, "question": question, "context": f"It was late, {n} %.\n\nVery late."}
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    design = design or "ratio = { grammatical = 1, ungrammatical = 1 }\nversions = 2\nquestions = 1.0\n" + PRACTICE
    (folder / "study.toml").write_text(
        'name = "odd"\nlanguage = "en"\nseed = 4\n[materials]\nfiles = ["items.jsonl"]\n'
        f'[design]\n{design}[online]\ncompletion_code = "C"\n[procedure]\n{procedure}',
        "utf-8",
    )
    return folder


def rt(trial: int, word: int) -> float:
    """Return the scripted reading time of a word, ms."""
    return 180.0 + (trial * 37 + word * 53) % 400


def since(trial: int, nth: int) -> float:
    """Return how long after its display the n-th answer of a trial comes, ms."""
    return 500.0 + trial + 10 * nth


def rating(trial: int, file: experiment.VersionFile) -> int:
    scale = file.procedure.rating
    assert scale is not None
    return scale.range[(trial * 3 + 1) % len(scale.range)]


def choice(trial: int, choices: list[str]) -> str:
    return choices[trial % len(choices)]


def expected(place: Place, *, times: bool = True, sides: tuple[str, str] = ("upper", "lower")) -> list[Presented]:
    """Return what a file of this place has to give back, without where it stands."""
    return [one for trial in place.trials() for one in _trial(trial, place.file, times, sides)]


def _trial(
    trial: dict[str, Any], file: experiment.VersionFile, times: bool, sides: tuple[str, str]
) -> Iterator[Presented]:
    n, pair = trial["trial"], len(trial["sentences"]) > 1
    shared: dict[str, Any] = {"trial": n, "item": trial["item"], "role": trial["role"], "where": ""}
    answers, words = [], []
    if trial["context"]:
        answers.append(Answer("reading", "context", "read", since(n, len(answers)) if times else None))
    for nth, sentence in enumerate(trial["sentences"]):
        name = f"sentence {nth + 1}" if pair else "sentence"
        if trial["presentation"] == "whole":
            answers.append(Answer("reading", name, "read", since(n, len(answers)) if times else None))
        elif trial["presentation"] != "with_task":
            words.append(tuple(ReadWord(w, rt(n, i)) for i, w in enumerate(sentence["words"])))
    for task in trial["tasks"]:
        answers.append(_answer(task, trial, file, since(n, len(answers)) if times else None, sides))
    if pair and words:
        for nth, of in enumerate(words):
            yield Presented(condition=trial["sentences"][nth]["condition"], words=of, **shared)
        words = []
    yield Presented(condition=trial["condition"], words=words[0] if words else (), answers=tuple(answers), **shared)


def _answer(
    task: str, trial: dict[str, Any], file: experiment.VersionFile, time: float | None, sides: tuple[str, str]
) -> Answer:
    n, procedure = trial["trial"], file.procedure
    if task == "question":
        return Answer(task, "question", choice(n, trial["question"]["choices"]), time)
    if task == "choice":
        return Answer(task, procedure.choice.name, trial["sentences"][n % 2]["condition"], time, sides[n % 2])
    assert procedure.rating is not None
    return Answer(task, procedure.rating.name, float(rating(n, file)), time)


def bare(presented: Presented) -> Presented:
    """Return a trial as a file gave it back, ratings as numbers and without where it stands, to be compared."""
    answers = tuple(replace(a, response=float(a.response)) if a.task == "rating" else a for a in presented.answers)
    return replace(presented, where="", answers=answers)
