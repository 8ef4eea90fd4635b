"""Language models as participants: they answer the study's own screens, and leave sessions as people do."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from ..scripts.list_files import ListFile
from ..sessions.session_folders import write_recorded_session
from ..sessions.sessions import open_session
from .transcripts import MODEL_SOURCE, ModelSession, QuestionContext, build_transcript, write_transcripts

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SESSION_START = "2000-01-01T00:00:00.000+00:00"  # a model has no time of day


class AnswerProbabilities(Protocol):
    """How probable each answer to a question is: `lps` in nats, `probabilities` given that one of them is given,
    `total_probability` of all of them; `cut_trials` is how many trials were left out before it.
    """

    @property
    def lps(self) -> "Sequence[float] | np.ndarray": ...

    @property
    def probabilities(self) -> "Sequence[float] | np.ndarray": ...

    @property
    def total_probability(self) -> float: ...

    @property
    def cut_trials(self) -> int: ...


def run_model_sessions(
    list_files: Sequence[ListFile],
    compute_answers: Callable[[Sequence[QuestionContext]], Sequence[AnswerProbabilities]],
    *,
    model: str,
    participants: int,
    seed: int,
    prefix: str = "m",
    most_probable: bool = False,
    batch_size: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> "tuple[list[ModelSession], pd.DataFrame]":
    """Return the sessions of a model that takes part so often, lists in turn, and the table `model_responses`.

    `compute_answers` says how probable the answers to questions are, for instance `lmscore.answer_questions` of a model; it is
    asked for the next question of so many sessions `batch_size`, by default of all. Answers are drawn by these probabilities,
    with the seed, or are the most probable ones. Raises `study.DataError` for tasks that have no text (Maze, typed answers).

    >>> from importlib.resources import files
    >>> from types import SimpleNamespace
    >>> from gardenpath import experiment, study
    >>> list_files = experiment.build_list_files(study.load(files("gardenpath.examples") / "forced-choice"))
    >>> even = SimpleNamespace(lps=[-1.0, -1.0], probabilities=[0.5, 0.5], total_probability=0.74, cut_trials=0)
    >>> def answer(questions):
    ...     return [even] * len(questions)
    >>> sat, answers = experiment.run_model_sessions(list_files, answer, model="coin", participants=2, seed=1)
    >>> len(sat), sorted(answers["response"].unique())
    (2, ['1', '2'])
    """
    import pandas as pd

    model_sessions = []
    for n in range(participants):
        slot, turn = divmod(n, len(list_files))
        names = {"id": f"{prefix}-{n + 1:05}", "participant": f"{model}-{n + 1:03}"}
        session = open_session(list_files[turn], slot, started=SESSION_START, source=MODEL_SOURCE, **names)
        model_sessions.append(ModelSession(session, list_files[turn], device=model))
    random = {one.session.id: Random(f"{seed} {model} {one.session.id}") for one in model_sessions}
    rows: dict[str, list[dict[str, object]]] = {one.session.id: [] for one in model_sessions}
    waiting = list(model_sessions)
    while batch := waiting[:batch_size]:
        for one, probabilities in zip(batch, compute_answers([one.question_context for one in batch]), strict=True):
            choices, weights = range(len(probabilities.lps)), list(probabilities.probabilities)
            drawn_answer = random[one.session.id].choices(choices, weights)[0]
            chosen = max(choices, key=weights.__getitem__) if most_probable else drawn_answer
            session_rows = rows[one.session.id]
            session_rows.append({"model": model, "question": len(session_rows), **_build_answer_row(one, probabilities, chosen)})
            one.answer_question(one.question_context.answers[chosen])
        waiting = [one for one in waiting if one.question is not None]
        progress(sum(one.question is None for one in model_sessions), len(model_sessions))
    return model_sessions, pd.DataFrame([row for finished_rows in rows.values() for row in finished_rows])


def _build_answer_row(model_session: ModelSession, probabilities: AnswerProbabilities, chosen: int) -> dict[str, object]:
    """Return what `model_responses` says of an answer."""
    question = model_session.question
    assert question is not None
    trial = None if model_session.trial_number is None else model_session.file.trial_list.trials[model_session.trial_number]
    values = question.answers.values()
    mean = sum(p * int(value) for p, value in zip(probabilities.probabilities, values, strict=True)) if question.is_scale else None
    return {
        "participant": model_session.session.participant,
        "session": model_session.session.id,
        "trial": model_session.position,
        "paradigm": trial.item.paradigm if trial else None,
        "item": trial.item.id if trial else None,
        "condition": trial.condition if trial else None,
        "task": question.task,
        "prompt": question.prompt,
        "response": question.answer_labels[chosen],
        "lp": float(probabilities.lps[chosen]),
        "expected_response": mean,
        "answer_probability": probabilities.total_probability,
        "n_trials_cut": probabilities.cut_trials,
    }


def write_model_sessions(model_sessions: Sequence[ModelSession], folder: str | Path) -> None:
    """Write sessions to `<folder>/sessions`, for `collect`, and as text to `<folder>/sessions.jsonl`; what was there goes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".sessions.") as temporary:
        staged = Path(temporary) / "sessions"
        texts: list[Mapping[str, Any]] = []
        for one in model_sessions:
            write_recorded_session(staged, one.build_recorded_session(), one.file)
            texts.append(build_transcript(one.build_recorded_session(), one.file))
        if (folder / "sessions").exists():
            shutil.rmtree(folder / "sessions")
        staged.rename(folder / "sessions")
    write_transcripts(texts, folder / "sessions.jsonl")
