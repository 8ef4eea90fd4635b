"""JATOS' result archive (.zip, formerly .jrzip): what each run of a study sent, and metadata.json, which says by whom and when."""

import json
import logging
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

from gardenpath import study
from gardenpath.study.mapping import ColumnMapping

from ..imported_sessions import ImportedSession
from ..jspsych import results as jspsych
from ..jspsych.rows import PlayerRun, drop_repeated_rows
from ..jspsych.rows import read_runs as rows_sent
from ..sources import Source
from ..timestamps import format_utc_time

log = logging.getLogger("gardenpath")

NAME = "jatos"
METADATA_FILENAME = "metadata.json"


def recognises(source: Source) -> bool:
    """Whether a zip file has folders of study results."""
    return any(part.startswith("study_result_") for name in source.members for part in PurePosixPath(name).parts)


def read_runs(source: Source) -> list[PlayerRun]:
    """Return what each run of the study sent, the components of a run in order."""
    metadata = _read_metadata(source)
    sent: dict[str, list[PlayerRun]] = defaultdict(list)
    for name in _sort_members(source):
        if PurePosixPath(name).name != "data.txt":
            continue
        result = next(part for part in PurePosixPath(name).parts if part.startswith("study_result_"))
        data = source.read_member(name)
        if data.data.strip():
            sent[result] += rows_sent(data)
        else:
            log.warning("%s: the component sent nothing; left out", data.name)
    made = [_build_run(source, result.removeprefix("study_result_"), parts, metadata) for result, parts in sent.items()]
    if not made:
        raise study.DataError(f"{source.name}: no run of the study sent anything; expected data.txt with data in it")
    for id in sorted(metadata.keys() - {result.removeprefix("study_result_") for result in sent}):
        log.warning("%s: study result %s (%s) has no data; left out", source.name, id, metadata[id].get("studyState"))
    return made


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions; a run that JATOS does not call FINISHED is not complete."""
    return jspsych.build_sessions(read_runs(source), source, mapping or ColumnMapping(), NAME)


def _sort_members(source: Source) -> list[str]:
    """Return names so that result 10 comes after result 9."""

    def key(name: str) -> list[tuple[str, int]]:
        parts = (part.rpartition("_") for part in PurePosixPath(name).parts)
        return [(head, int(tail) if tail.isdigit() else -1) for head, _, tail in parts]

    return sorted(source.members, key=key)


def _build_run(source: Source, id: str, parts: list[PlayerRun], metadata: dict[str, dict[str, Any]]) -> PlayerRun:
    run_metadata = metadata.get(id, {})
    state = run_metadata.get("studyState", "FINISHED")
    if state != "FINISHED":
        log.warning("%s: study result %s is %s; it counts as incomplete", source.name, id, state)
    return PlayerRun(
        tuple(drop_repeated_rows(row for part in parts for row in part.rows)),
        f"{source.name}: study_result_{id}",
        is_whole=all(part.is_whole for part in parts),
        id=id,
        participant=f"worker {run_metadata['workerId']}" if "workerId" in run_metadata else f"study result {id}",
        started=format_utc_time(run_metadata.get("startDate")),
        finished=format_utc_time(run_metadata.get("endDate")),
        complete=state == "FINISHED",
    )


def _read_metadata(source: Source) -> dict[str, dict[str, Any]]:
    """Return what metadata.json says of each study result, by its id; nothing where the archive has none."""
    name = next((name for name in source.members if PurePosixPath(name).name == METADATA_FILENAME), None)
    if name is None:
        log.info("%s: has no %s; who took part and when is known from the rows alone", source.name, METADATA_FILENAME)
        return {}
    try:
        metadata = json.loads(source.read_member(name).text)
        return {str(result["id"]): result for entry in metadata["data"] for result in entry["studyResults"]}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise study.DataError(f"{source.name}: {METADATA_FILENAME} is damaged ({error}); download the archive again") from None
