"""A platform of one file, as a reader of CONTRIBUTING.md writes it: JSON goes out, a CSV of one rating a row comes back."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from gardenpath import study
from gardenpath.experiment.platforms.features import COMMON_SUPPORT, SUPPORTED, FeatureSupport, list_feature_losses
from gardenpath.experiment.platforms.imported_sessions import ImportedSession, ImportedTrial, build_response_record
from gardenpath.experiment.platforms.list_slots import ListSlot
from gardenpath.experiment.platforms.sources import Source
from gardenpath.experiment.scripts.list_files import ListFile
from gardenpath.study.mapping import ColumnMapping

NAME = "toy-platform"
COLUMNS = ("who", "item", "condition", "rating")
FEATURE_SUPPORT: FeatureSupport = {
    **COMMON_SUPPORT,
    **dict.fromkeys(["text", "whole", "answers", "points", "breaks"], SUPPORTED),
    "above_sentence": "The sentence is not above the scale: it is read before.",
}


def list_losses(files: Sequence[ListFile]) -> list[str]:
    """Return what is lost of a study, a sentence each."""
    return list_feature_losses(files, FEATURE_SUPPORT)


def write(files: Sequence[ListFile], slots: Sequence[ListSlot], folder: Path, online: study.config.OnlineSection) -> None:
    """Write a file of sentences for each assignment."""
    for number, slot in enumerate(slots):
        trials = [slot.file.trial_list.trials[n] for n in slot.order]
        shown = [
            {"item": trial.item.id, "condition": condition, "sentence": sentence.text}
            for trial in trials
            for condition, sentence in trial.shown_sentences
        ]
        study.files.write_text(folder / f"assignment-{number}.json", json.dumps(shown))


def recognises(source: Source) -> bool:
    """Whether the first line has its columns."""
    return source.head.partition("\n")[0] == ",".join(COLUMNS)


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return a session for each person."""
    people: dict[str, list[ImportedTrial]] = {}
    for at, row in enumerate(csv.DictReader(io.StringIO(source.text)), start=2):
        trials = people.setdefault(row["who"], [])
        rated = build_response_record("rating", "acceptability", int(row["rating"]))
        where = f"{source.name}, line {at}"
        trials.append(ImportedTrial(len(trials), row["item"], row["condition"], where, records=(rated,)))
    return [ImportedSession(who, who, NAME, tuple(trials), complete=True, where=source.name) for who, trials in people.items()]
