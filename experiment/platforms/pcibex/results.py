"""Results of PCIbex (PennController, both layouts) and of classic Ibex, as `read_results` or `raw_results`.

A trial is an item of the running order. Item and condition are the logged columns that the mapping names, or the columns
`item` and `condition`, which our export logs; where nothing is logged the label is the condition and the group the item, as
in a Latin square of Ibex, or else label and number of the item. Two sessions may share a hash of an address, so that who took
part is known only from a logged `participant` or `PROLIFIC_PID`, or the column that the mapping names.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby

from gardenpath import study
from gardenpath.study.events import Record, WordRecord
from gardenpath.study.mapping import ColumnMapping, ResponseRule

from ..cell_values import is_identifying, parse_boolean, parse_number
from ..devices import identify_device
from ..imported_sessions import (
    ImportedSession,
    ImportedTrial,
    build_reading_record,
    build_response_record,
    format_shared_session_fault,
    has_reached_end,
    number_repeated_ids,
)
from ..losses import Losses
from ..outline import build_whole_text_record, get_nth_value, is_late, list_asked_screens, read_response_record, read_timeout_record
from ..sources import Source
from .ibex_maze import FIRST_RT_COLUMN, build_maze_records
from .result_lines import HEADING_PATTERN, RAW_RESULTS_PATTERN, ResultLine, ResultsFile, read_results

NAME = "pcibex"
log = logging.getLogger("gardenpath")
# Ibex and PCIbex name the same columns differently.
CONTROLLER_COLUMNS = ("Controller name",)
NUMBER_COLUMNS = ("Item number", "Order number of item")
ELEMENT_COLUMNS = ("PennElementName", "Element number", "Inner element number")
LABEL_COLUMNS = ("Type", "Label")
GROUP_COLUMNS = ("Group", "Latin Square Group")
QUESTION_COLUMN = "Question (NULL if none)"
PARTICIPANT_COLUMNS = ("participant", "PROLIFIC_PID")
PRESENTATION_COLUMNS = {QUESTION_COLUMN, "Sentence (or sentence MD5)"}
CORRECT_COLUMN = "Whether or not answer was correct (NULL if N/A)"
REACTION_TIME_FIELD = "_REACTION_TIME_"
# What stands for the name of a field that has none, and for an answer that was not given.
EMPTY_NAMES = ("", "undefined", "null", "NULL")
RESPONSE_TIME_COLUMN = "Time taken to answer"
CHOICE_PARAMETERS = ("Choice", "Select", "Selection", "Selected", "Final")
# Our export names a screen, and what stands on it after the screen: the key that ends a text, a button, a timer.
EXPORTED_ELEMENT = re.compile(r"(?:(read|done|time)_)?((context|sentence|ask|page)_\d+)")


def recognises(source: Source) -> bool:
    """Whether the file starts as Ibex's results do, or holds arrays as its raw results do."""
    return bool(HEADING_PATTERN.search(source.head) or RAW_RESULTS_PATTERN.search(source.head))


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions; raises `study.DataError` with every line that cannot be read."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    mapping = replace(mapping, missing_values=("NULL", *mapping.missing_values))
    file_results = read_results(source, losses)
    rows = _prepare_rows(file_results.rows, mapping, source.name)
    by_session: dict[tuple[int, str, str], list[ResultLine]] = {}
    for row in rows:
        by_session.setdefault(row.session_key, []).append(row)
    faults: list[str] = []
    sessions = [
        _build_session(source, rows, file_results, mapping, losses, faults, is_cut=file_results.is_cut_off and n == len(by_session))
        for n, rows in enumerate(by_session.values(), start=1)
    ]
    if faults:
        raise study.DataError(faults)
    losses.report()
    _log_unidentified_participants(source, by_session, sessions)
    return number_repeated_ids(sessions)


def _prepare_rows(rows: Sequence[ResultLine], mapping: ColumnMapping, where: str) -> list[ResultLine]:
    """Return the rows with the mapping's repairs, and without those that it leaves out."""
    numbered_cells = [{**row.cells, "": n} for n, row in enumerate(rows)]
    if mapping.columns.get("participant") in {field for row in rows for field, _ in _find_typed_fields(row.cells)}:
        mapping = replace(mapping, columns={n: c for n, c in mapping.columns.items() if n != "participant"})
    prepared_cells = mapping.prepare_rows(numbered_cells, where)
    return [
        ResultLine(rows[row[""]].number, rows[row[""]].submission, {k: v for k, v in row.items() if k}) for row in prepared_cells
    ]


def _build_session(
    source: Source,
    rows: Sequence[ResultLine],
    file_results: ResultsFile,
    mapping: ColumnMapping,
    losses: Losses,
    faults: list[str],
    *,
    is_cut: bool,
) -> ImportedSession:
    submission, received, _ = rows[0].session_key
    hashes = {row.cells["list_sha256"] for row in rows if "list_sha256" in row.cells}
    if len(hashes) > 1:
        faults.append(f"{source.name}, line {rows[0].number}: one session has {len(hashes)} lists of the study; expected one")
    trials: list[ImportedTrial] = []
    for trial_rows in _split_by_trial(rows):
        trial = _build_trial(source, trial_rows, len({one.position for one in trials}), mapping, losses)
        trials += [] if trial is None else [trial]
    finished = datetime.fromtimestamp(float(received), UTC) if received else file_results.reception_times.get(submission)
    times = [time for row in rows if (time := parse_number(row.cells.get("EventTime"))) is not None]
    first = next((row.cells for row in rows if "list_sha256" in row.cells), {})
    demographics = _read_demographics(rows, mapping)
    names = [mapping.columns["participant"]] if "participant" in mapping.columns else PARTICIPANT_COLUMNS
    participants = dict.fromkeys(name for row in rows if (name := mapping.get_text(row.cells, "participant", *PARTICIPANT_COLUMNS)))
    if len(participants) > 1:
        faults.append(format_shared_session_fault(f"{source.name}, line {rows[0].number}: the session", participants))
    participant = next(iter(participants), None) or next((demographics.pop(f) for f in names if f in demographics), None)
    agent = file_results.user_agents.get(submission)
    slot, trial_count = parse_number(first.get("slot")), parse_number(first.get("of"))
    return ImportedSession(
        id=_build_session_id(file_results, *rows[0].session_key),
        participant=participant or _build_anonymous_id(*rows[0].session_key),
        source=NAME,
        trials=tuple(trials),
        complete=has_reached_end(trials, trial_count) if trials and not is_cut else False,
        where=source.name,
        started=_format_iso_time(datetime.fromtimestamp(min(times) / 1000, UTC)) if times else None,
        finished=_format_iso_time(finished) if finished else None,
        list_name=first.get("list_name") or mapping.constants.get("list"),
        experiment=None if "list_name" in first else mapping.constants.get("experiment"),
        slot=None if slot is None else int(slot),
        list_sha256=first.get("list_sha256"),
        device=identify_device(agent) if agent else None,
        demographics=demographics,
    )


def _build_session_id(file_results: ResultsFile, submission: int, received: str, address: str) -> str:
    """Return the time in the heading, which results and raw_results share, so that one session in both is found out."""
    heading = file_results.reception_times.get(submission)
    return f"{heading:%Y-%m-%d %H:%M:%S}" if heading else _build_anonymous_id(submission, received, address)


def _format_iso_time(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def _log_unidentified_participants(
    source: Source, keys: Iterable[tuple[int, str, str]], sessions: Sequence[ImportedSession]
) -> None:
    """Say where people are not told apart: by nothing but the hash of an address, which a household or a school shares."""
    unknown = [key[-1] for session, key in zip(sessions, keys, strict=True) if session.participant == _build_anonymous_id(*key)]
    if unknown:
        hashes = f" ({len(set(unknown))} different hashes of an address, which is not a person)" if any(unknown) else ""
        log.info(
            "%s: %d of %d sessions do not say who took part%s; each counts as a participant of its own, unless the mapping names "
            "a logged column or a field: [columns] participant",
            *(source.name, len(unknown), len(sessions), hashes),
        )


def _build_anonymous_id(submission: int, received: str, address: str) -> str:
    return f"{received} {address or submission}"


def _split_by_trial(rows: Iterable[ResultLine]) -> Iterator[list[ResultLine]]:
    """Yield the rows of each item of the running order, which the rows of one item follow each other in."""
    current: list[ResultLine] = []
    before: object = None
    for row in rows:
        item = _get_first_cell(row.cells, NUMBER_COLUMNS), _get_first_cell(row.cells, LABEL_COLUMNS)
        is_start = row.cells.get("Value") in ("Start", "__Start__") and row.cells.get("Parameter") in ("_Trial_", "__Event__")
        if current and (item != before or is_start):
            yield current
            current = []
        current.append(row)
        before = item
    if current:
        yield current


def _build_trial(
    source: Source, rows: Sequence[ResultLine], position: int, mapping: ColumnMapping, losses: Losses
) -> ImportedTrial | None:
    """Return the trial; None where none was shown."""
    cells = rows[0].cells
    is_exported = "list_sha256" in cells
    item = mapping.get_text(cells, "item", "item", "Item")
    label, group, number = (_get_first_cell(cells, names) or "" for names in (LABEL_COLUMNS, GROUP_COLUMNS, NUMBER_COLUMNS))
    readings = _build_readings(rows, losses) or build_maze_records(rows, losses)
    # What the mapping takes, nothing else reads.
    mapped_responses = list(_read_mapped_responses(rows, mapping))
    mapped_rows = {n for n, _ in mapped_responses}
    other_rows = [row for n, row in enumerate(rows) if n not in mapped_rows]
    responses = [
        *(_read_exported_responses(rows, losses) if is_exported else ()),
        *(record for _, record in mapped_responses),
        *_read_controller_responses(other_rows, losses),
    ]
    if item is not None and not is_exported:
        responses += _read_element_responses(other_rows, losses)
    if not (readings or responses or any(PRESENTATION_COLUMNS & row.cells.keys() for row in rows)):
        return None
    for what, usual in (("item", ("item", "Item", *GROUP_COLUMNS)), ("condition", ("condition", "Condition", *LABEL_COLUMNS))):
        if len({mapping.get_text(row.cells, what, *usual) for row in rows}) > 1:
            losses.add(f"the rows of one trial name more than one {what}; that of the first counts", rows[0].number)
    number_in_file = parse_number(mapping.get_text(cells, "trial", "trial") if is_exported or "trial" in mapping.columns else None)
    condition = mapping.get_text(cells, "condition", "condition", "Condition") or label
    role = mapping.get_text(cells, "role", *(["role"] if is_exported else []))
    if len(readings) == 2 and "+" in condition:
        readings[1] = replace(readings[1], sentence=1)
    elif len(readings) > 1:
        losses.add(f"{len(readings)} sentences are read in one trial; the words of the first are kept", rows[0].number)
        readings = readings[:1]
    return ImportedTrial(
        position=position if number_in_file is None else int(number_in_file),
        item=item or (group if group not in ("", "NULL") else f"{label}-{number}"),
        condition=condition,
        where=f"{source.name}, line {rows[0].number}",
        role=role or (label if label in study.config.ROLES else None),
        paradigm=mapping.get_text(cells, "paradigm"),
        records=(*readings, *_number_repeated_prompts(responses)),
    )


def _build_readings(rows: Iterable[ResultLine], losses: Losses) -> list[Record]:
    """Return the records of the sentences that were read word by word."""
    reading_rows = [row for row in rows if "Reading time" in row.cells]
    for row in rows:
        if "Word number" in row.cells and not row.cells.keys() & {"Reading time", FIRST_RT_COLUMN}:
            losses.add("a word has no column 'Reading time'; left out", row.number)
    sentences = []
    for _, element_rows in groupby(reading_rows, key=lambda row: _get_first_cell(row.cells, ELEMENT_COLUMNS)):
        lines = list(element_rows)
        numbers = [row.cells.get("Word number", row.cells.get("Parameter")) for row in lines]
        if numbers != [str(n + 1) for n in range(len(lines))]:
            losses.add(
                f"words are numbered {', '.join(map(str, numbers))}; expected 1 to {len(lines)}; the sentence is left out",
                lines[0].number,
            )
            continue
        sentences.append(build_reading_record(_build_word(n, row, losses) for n, row in enumerate(lines)))
    return sentences


def _build_word(n: int, row: ResultLine, losses: Losses) -> WordRecord:
    rt = parse_number(row.cells["Reading time"])
    if rt is None:
        losses.add(f"a reading time is {row.cells['Reading time']!r}; it stays empty", row.number)
    text = _get_first_cell(row.cells, ("Word", "Value"))
    if text is None:
        losses.add("a word has no column 'Word'; its text stays empty", row.number)
    return WordRecord(n, rt, text=text)


def _read_mapped_responses(rows: Sequence[ResultLine], mapping: ColumnMapping) -> Iterator[tuple[int, Record]]:
    """Yield the answers that the mapping describes, each with the row of the trial that holds it."""
    repeated = set()
    for n, row in enumerate(rows):
        for rule in mapping.find_response_rules(row.cells):
            if rule.prompt_name not in repeated:
                yield n, _read_mapped_response(row, rule, mapping)
            if not rule.where:  # each row of the trial has the cell
                repeated.add(rule.prompt_name)


def _read_mapped_response(row: ResultLine, rule: ResponseRule, mapping: ColumnMapping) -> Record:
    mapped_cells = mapping.extract_response(row.cells, rule)
    rt = parse_number(mapped_cells.get("rt"))
    return build_response_record(
        mapped_cells.get("task") or rule.task,
        mapped_cells.get("prompt") or rule.prompt_name,
        mapped_cells["response"],
        parse_boolean(mapped_cells.get("correct")),
        rt=None if rt is None else mapping.convert_to_ms("rt", rt),
        side=mapped_cells.get("side"),
    )


def _read_controller_responses(rows: Iterable[ResultLine], losses: Losses) -> Iterator[Record]:
    """Yield the answers to Ibex's questions and judgments; a judgment in words is a question, for ratings are numbers."""
    for row in rows:
        if QUESTION_COLUMN not in row.cells:
            if "Answer" in row.cells:
                losses.add(f"an answer has no column {QUESTION_COLUMN!r}; left out", row.number)
            continue
        response = row.cells.get("Answer", "NULL")
        if response in ("", "NULL"):
            losses.add("a question without an answer; left out", row.number)
            continue
        controller = _get_first_cell(row.cells, CONTROLLER_COLUMNS)
        for name in (*CONTROLLER_COLUMNS, RESPONSE_TIME_COLUMN):
            if name not in row.cells:
                losses.add(f"an answer has no column {name!r}", row.number)
        judgment = "Judgment" in (controller or "")
        rating = judgment and parse_number(response) is not None
        task, prompt = ("rating", "acceptability") if rating else ("question", "judgment" if judgment else "question")
        rt = parse_number(row.cells.get(RESPONSE_TIME_COLUMN))
        yield build_response_record(task, prompt, response, parse_boolean(row.cells.get(CORRECT_COLUMN)), rt=rt)


def _read_element_responses(rows: Sequence[ResultLine], losses: Losses) -> Iterator[Record]:
    """Yield the answers to PennController's elements, of each the last one that was given, and those to forms."""
    candidates = [(name, row.cells["Value"], row) for name, row in _find_last_responses(rows).items()]
    candidates += [(field, answer, row) for row in rows for field, answer in _find_form_fields(row.cells)]
    for name, response, row in candidates:
        if response in ("NA", *EMPTY_NAMES):
            losses.add(f"{name} has no answer; left out", row.number)
        elif not (is_identifying(name, response) and any(_find_typed_fields(row.cells))):
            yield build_response_record("question" if parse_number(response) is None else "rating", name, response)


def _find_last_responses(rows: Sequence[ResultLine]) -> dict[str, ResultLine]:
    """Return the last answer to each element, in the order in which they were first answered."""
    last: dict[str, ResultLine] = {}
    for row in rows:
        if row.cells.get("Parameter") in CHOICE_PARAMETERS and row.cells.get("PennElementType") != "Html":
            last[row.cells["PennElementName"]] = row
    return last


def _read_exported_responses(rows: Sequence[ResultLine], losses: Losses) -> Iterator[Record]:
    """Yield what was read at once and answered in a trial of our export, whose columns say what was asked and how it is recorded.

    A screen was shown as soon as the one before it had ended; a button, where there is one, ends it.
    """
    cells, last = rows[0].cells, _find_last_responses(rows)
    events = [
        (element[1], element[2], row)
        for row in rows
        if (element := EXPORTED_ELEMENT.fullmatch(row.cells.get("PennElementName", "")))
    ]
    for part, name, row in events:
        if part == "read" and not name.startswith("page"):
            yield build_whole_text_record(name, _measure_screen_time(rows, row, name), pair="+" in cells["condition"])
    for name in list_asked_screens(cells):
        ends = [row for part, screen_name, row in events if screen_name == name and part == "done"]
        response_row = last.get(name)
        rt = None if response_row is None else _measure_screen_time(rows, ends[-1] if ends else response_row, name)
        response = None if response_row is None else _decode_response(cells, name, response_row)
        if is_late(cells, name, rt):
            yield read_timeout_record(cells, name)
        elif response is not None:
            yield read_response_record(cells, name, response, rt)
        elif response_row is not None:
            losses.add(
                f"{cells[f'{name}_name']} has the answer {response_row.cells['Value']!r}, which its screen does not "
                "offer; left out",
                response_row.number,
            )


def _decode_response(cells: dict[str, str], name: str, row: ResultLine) -> str | None:
    """Return what is recorded of an answer of our export."""
    value, answer_kind = row.cells["Value"], cells[f"{name}_kind"]
    if answer_kind == "row":
        labels = [cells[f"{name}_label_{n}"] for n in range(1, 1 + sum(c.startswith(f"{name}_label_") for c in cells))]
        return get_nth_value(cells, name, labels.index(value) if value in labels else None)
    number = parse_number(value)
    if answer_kind == "entry":
        return value or None
    if number is None:
        return None
    if answer_kind == "pair":
        return get_nth_value(cells, name, int(number) - 1)
    if answer_kind == "slider":
        # Counted from 0 in the releases of 2021, which say Choice, and from 1 in those that say Select.
        number += float(cells[f"{name}_least"]) - (row.cells["Parameter"] == "Select")
    return f"{number:g}"


def _measure_screen_time(rows: Iterable[ResultLine], end_row: ResultLine, name: str) -> float | None:
    """Return the ms from the last event of another screen to the end of this one."""
    now = parse_number(end_row.cells.get("EventTime"))
    before = [
        time
        for row in rows
        if (time := parse_number(row.cells.get("EventTime"))) is not None and now is not None and time < now
        if (element := EXPORTED_ELEMENT.fullmatch(row.cells.get("PennElementName", ""))) is None or element[2] != name
    ]
    return now - max(before) if now is not None and before else None


def _number_repeated_prompts(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records, a second answer to a prompt of the same name under that name and a number."""
    seen: dict[tuple[str, str, int | None], int] = {}
    for record in records:
        key = record.task, record.name, record.sentence
        seen[key] = nth = seen.get(key, 0) + 1
        yield record if nth == 1 else replace(record, name=f"{record.name} {nth}")


def _read_demographics(rows: Iterable[ResultLine], mapping: ColumnMapping) -> dict[str, str]:
    """Return what forms outside trials were filled with; a second field of one name has a number after it."""
    answers: dict[tuple[object, ...], tuple[str, str]] = {}
    for n, row in enumerate(rows):
        for field, answer in _find_typed_fields(row.cells):
            in_trial = mapping.get_text(row.cells, "item", "item", "Item") is not None
            if answer not in EMPTY_NAMES and (not in_trial or is_identifying(field, answer)):
                # An element's choices follow each other, and the last one counts; of a form each row is a field.
                element = (_get_first_cell(row.cells, NUMBER_COLUMNS), field) if _is_typed(row.cells) else (n,)
                answers[element] = field, answer
    times, demographics = Counter[str](), {}
    for field, answer in answers.values():
        times[field] += 1
        demographics[field if times[field] == 1 else f"{field} {times[field]}"] = answer
    return demographics


def _find_typed_fields(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the field that a row says something of, and what it was filled with."""
    yield from _find_form_fields(cells)
    if _is_typed(cells):
        yield cells["PennElementName"], cells["Value"]


def _find_form_fields(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the field of a form or an Html element; one without a name has the element's."""
    if "Field name" in cells:
        field, answer = cells["Field name"], cells["Field value"]
    elif cells.get("PennElementType") in ("Html", "Controller-Form"):
        field, answer = cells["Parameter"], cells["Value"]
    else:
        return
    if field != REACTION_TIME_FIELD:
        yield cells.get("PennElementName", "field") if field in EMPTY_NAMES else field, answer


def _is_typed(cells: dict[str, str]) -> bool:
    return cells.get("PennElementType") in ("TextInput", "DropDown") and cells.get("Parameter") in CHOICE_PARAMETERS


def _get_first_cell(cells: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((cells[name] for name in names if name in cells), None)
