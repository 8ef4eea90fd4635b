"""Language models as participants: they answer the study's own screens, and leave sessions as people do."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from .session_folders import write_record
from .sessions import open_session
from .transcripts import MODEL, Asked, Sitting, transcript, write_transcripts
from .versions import VersionFile

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

STARTED = "2000-01-01T00:00:00.000+00:00"  # a model has no time of day


class Answered(Protocol):
    """How probable each answer to a question is: `lps` in nats, `probabilities` given that one of them is given, `mass` of all of
    them; `cut` is how many trials were left out before it.
    """

    @property
    def lps(self) -> "Sequence[float] | np.ndarray": ...

    @property
    def probabilities(self) -> "Sequence[float] | np.ndarray": ...

    @property
    def mass(self) -> float: ...

    @property
    def cut(self) -> int: ...


def take_part(
    versions: Sequence[VersionFile],
    ask: Callable[[Sequence[Asked]], Sequence[Answered]],
    *,
    model: str,
    participants: int,
    seed: int,
    prefix: str = "m",
    most_probable: bool = False,
    together: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> "tuple[list[Sitting], pd.DataFrame]":
    """Return the sessions of a model that takes part so often, versions in turn, and the table `model_answers`.

    `ask` says how probable the answers to questions are, for instance `lmscore.answer_questions` of a model; it is asked for the
    next question of so many sessions `together`, by default of all. Answers are drawn by these probabilities, with the seed, or are
    the most probable ones. Raises `study.DataError` for tasks that have no text (Maze, typed answers).

    >>> from importlib.resources import files
    >>> from types import SimpleNamespace
    >>> from gardenpath import experiment, study
    >>> versions = experiment.version_files(study.load(files("gardenpath.examples") / "forced-choice"))
    >>> even = SimpleNamespace(lps=[-1.0, -1.0], probabilities=[0.5, 0.5], mass=0.74, cut=0)
    >>> sat, answers = experiment.take_part(versions, lambda asked: [even] * len(asked), model="coin", participants=2, seed=1)
    >>> len(sat), sorted(answers["answer"].unique())
    (2, ['1', '2'])
    """
    import pandas as pd

    sat = []
    for n in range(participants):
        slot, turn = divmod(n, len(versions))
        who = {"id": f"{prefix}-{n + 1:05}", "participant": f"{model}-{n + 1:03}"}
        session = open_session(versions[turn], slot, started=STARTED, source=MODEL, **who)
        sat.append(Sitting(session, versions[turn], device=model))
    random = {one.session.id: Random(f"{seed} {model} {one.session.id}") for one in sat}
    rows: dict[str, list[dict[str, object]]] = {one.session.id: [] for one in sat}
    waiting = list(sat)
    while going := waiting[:together]:
        for one, answered in zip(going, ask([one.asked for one in going]), strict=True):
            choices, weights = range(len(answered.lps)), list(answered.probabilities)
            drawn = random[one.session.id].choices(choices, weights)[0]
            chosen = max(choices, key=weights.__getitem__) if most_probable else drawn
            own = rows[one.session.id]
            own.append({"model": model, "question": len(own), **_row(one, answered, chosen)})
            one.answer(one.asked.answers[chosen])
        waiting = [one for one in waiting if one.question is not None]
        progress(sum(one.question is None for one in sat), len(sat))
    return sat, pd.DataFrame([row for of in rows.values() for row in of])


def _row(sitting: Sitting, answered: Answered, chosen: int) -> dict[str, object]:
    """Return what `model_answers` says of an answer."""
    question = sitting.question
    assert question is not None
    trial = None if sitting.trial is None else sitting.file.version.trials[sitting.trial]
    values = question.answers.values()
    mean = (
        sum(p * int(value) for p, value in zip(answered.probabilities, values, strict=True))
        if question.is_scale
        else None
    )
    return {
        "participant": sitting.session.participant,
        "session": sitting.session.id,
        "trial": sitting.position,
        "paradigm": trial.item.paradigm if trial else None,
        "item": trial.item.id if trial else None,
        "condition": trial.condition if trial else None,
        "task": question.task,
        "prompt": question.prompt,
        "answer": question.written[chosen],
        "lp": float(answered.lps[chosen]),
        "expected": mean,
        "mass": answered.mass,
        "cut": answered.cut,
    }


def write_sessions(sat: Sequence[Sitting], folder: str | Path) -> None:
    """Write sessions to `<folder>/sessions`, for `collect`, and as text to `<folder>/sessions.jsonl`; what was there goes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".sessions.") as place:
        whole = Path(place) / "sessions"
        texts: list[Mapping[str, Any]] = []
        for one in sat:
            write_record(whole, one.record(), one.file)
            texts.append(transcript(one.record(), one.file))
        if (folder / "sessions").exists():
            shutil.rmtree(folder / "sessions")
        whole.rename(folder / "sessions")
    write_transcripts(texts, folder / "sessions.jsonl")
