"""What JATOS and PCIbex give to download of an exported study, of robots: in the form of the real files."""

import json
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path

from gardenpath import experiment, study
from gardenpath.experiment.platforms.list_slots import enumerate_slots
from gardenpath.experiment.sessions.session_folders import read_recorded_sessions

from ..experiment.test_pcibex import Penn, program

ROW = 12  # events


def in_jatos(plan: study.Study, export: Path, archive: Path, participants: int) -> None:
    """Write the results archive of robots with the effects of the study, who took the lists of the export in turn."""
    list_files, effects = experiment.read_list_files(export / "lists"), experiment.Effects(terms=plan.simulate)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        experiment.simulate(list_files, home, participants=participants, seed=plan.seed, effects=effects)
        records = list(read_recorded_sessions(home))
    runs = []
    with zipfile.ZipFile(archive, "w") as packed:
        for n, record in enumerate(records, start=1):
            events = [asdict(event) for event in record.events]
            rows = [
                {
                    "trial_type": "html",
                    "trial_index": index,
                    "seq": index,
                    "gardenpath_session": asdict(record.session),
                    "gardenpath_events": events[at : at + ROW],
                }
                for index, at in enumerate(range(0, len(events), ROW))
            ]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            packed.writestr(f"study_result_{n}/comp_result_{n}/data.txt", lines)
            runs.append({"id": n, "workerId": n, "studyState": "FINISHED"})
        packed.writestr("metadata.json", json.dumps({"apiVersion": "1.0.0", "data": [{"studyResults": runs}]}))


def in_pcibex(plan: study.Study, export: Path, results: Path, participants: int) -> None:
    """Write PCIbex's results of robots who took the first places, each with times and answers of a script."""
    found = enumerate_slots(experiment.build_list_files(plan), 1)
    texts = []
    for n, place in enumerate(found[:participants]):
        robot = Penn(place, program(export, n, f"PROLIFIC_PID=robot{n}"), newer=True)
        texts.append(robot.text(received=1_700_000_600 + n, address=f"{n:032x}"))
    results.write_text("".join(texts), "utf-8")
