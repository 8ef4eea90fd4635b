"""Results of PCIbex (PennController, both layouts) and of classic Ibex, as `results` or `raw_results`.

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
from gardenpath.study.mapping import AnswerRule, ColumnMapping
from gardenpath.study.screens import Record, WordRecord

from ..cell_values import as_number, names_person, truth
from ..devices import device
from ..imported import ImportedSession, ImportedTrial, answer_given, numbered, reached_end, shared, words_read
from ..losses import Losses
from ..outline import answered, asked, late, nth_value, read_at_once, timeout
from ..sources import Source
from .ibex_maze import FIRST, sentences
from .lines import MARK, RAW, Line, Results, results

NAME = "pcibex"
log = logging.getLogger("gardenpath")
# Ibex and PCIbex name the same columns differently.
CONTROLLER = ("Controller name",)
NUMBER = ("Item number", "Order number of item")
ELEMENT = ("PennElementName", "Element number", "Inner element number")
LABEL = ("Type", "Label")
GROUP = ("Group", "Latin Square Group")
QUESTION = "Question (NULL if none)"
WHO = ("participant", "PROLIFIC_PID")
SHOWN = {QUESTION, "Sentence (or sentence MD5)"}
CORRECT = "Whether or not answer was correct (NULL if N/A)"
REACTION_TIME = "_REACTION_TIME_"
# What stands for the name of a field that has none, and for an answer that was not given.
NAMELESS = ("", "undefined", "null", "NULL")
TAKEN = "Time taken to answer"
CHOSEN = ("Choice", "Select", "Selection", "Selected", "Final")
# Our export names a screen, and what stands on it after the screen: the key that ends a text, a button, a timer.
OURS = re.compile(r"(?:(read|done|time)_)?((context|sentence|ask|page)_\d+)")


def recognises(source: Source) -> bool:
    """Whether the file starts as Ibex's results do, or holds arrays as its raw results do."""
    return bool(MARK.search(source.head) or RAW.search(source.head))


def read(source: Source, mapping: ColumnMapping | None) -> list[ImportedSession]:
    """Return the sessions; raises `study.DataError` with every line that cannot be read."""
    mapping, losses = mapping or ColumnMapping(), Losses(source.name)
    mapping = replace(mapping, missing=("NULL", *mapping.missing))
    file_results = results(source, losses)
    rows = _prepared(file_results.rows, mapping, source.name)
    by_session: dict[tuple[int, str, str], list[Line]] = {}
    for row in rows:
        by_session.setdefault(row.session, []).append(row)
    faults: list[str] = []
    sessions = [
        _session(source, rows, file_results, mapping, losses, faults, cut=file_results.cut_off and n == len(by_session))
        for n, rows in enumerate(by_session.values(), start=1)
    ]
    if faults:
        raise study.DataError(faults)
    losses.report()
    _say_who(source, by_session, sessions)
    return numbered(sessions)


def _prepared(rows: Sequence[Line], mapping: ColumnMapping, where: str) -> list[Line]:
    """Return the rows with the mapping's repairs, and without those that it leaves out."""
    numbered = [{**row.cells, "": n} for n, row in enumerate(rows)]
    if mapping.columns.get("participant") in {field for row in rows for field, _ in _fields(row.cells)}:
        mapping = replace(mapping, columns={n: c for n, c in mapping.columns.items() if n != "participant"})
    ready = mapping.prepare(numbered, where)
    return [Line(rows[row[""]].number, rows[row[""]].submission, {k: v for k, v in row.items() if k}) for row in ready]


def _session(
    source: Source,
    rows: Sequence[Line],
    file_results: Results,
    mapping: ColumnMapping,
    losses: Losses,
    faults: list[str],
    *,
    cut: bool,
) -> ImportedSession:
    submission, received, _ = rows[0].session
    versions = {row.cells["version_sha256"] for row in rows if "version_sha256" in row.cells}
    if len(versions) > 1:
        faults.append(
            f"{source.name}, line {rows[0].number}: one session has {len(versions)} versions of the study; expected one"
        )
    trials: list[ImportedTrial] = []
    for run in _runs(rows):
        trial = _trial(source, run, len({one.position for one in trials}), mapping, losses)
        trials += [] if trial is None else [trial]
    finished = datetime.fromtimestamp(float(received), UTC) if received else file_results.received.get(submission)
    times = [time for row in rows if (time := as_number(row.cells.get("EventTime"))) is not None]
    first = next((row.cells for row in rows if "version" in row.cells), {})
    about = _about(rows, mapping)
    names = [mapping.columns["participant"]] if "participant" in mapping.columns else WHO
    people = dict.fromkeys(name for row in rows if (name := mapping.text(row.cells, "participant", *WHO)))
    if len(people) > 1:
        faults.append(shared(f"{source.name}, line {rows[0].number}: the session", people))
    who = next(iter(people), None) or next((about.pop(f) for f in names if f in about), None)
    agent = file_results.agents.get(submission)
    slot, of = as_number(first.get("slot")), as_number(first.get("of"))
    return ImportedSession(
        id=_id(file_results, *rows[0].session),
        participant=who or _nobody(*rows[0].session),
        source=NAME,
        trials=tuple(trials),
        complete=reached_end(trials, of) if trials and not cut else False,
        where=source.name,
        started=_iso(datetime.fromtimestamp(min(times) / 1000, UTC)) if times else None,
        finished=_iso(finished) if finished else None,
        version=first.get("version") or mapping.constants.get("version"),
        experiment=None if "version" in first else mapping.constants.get("experiment"),
        slot=None if slot is None else int(slot),
        version_sha256=first.get("version_sha256"),
        device=device(agent) if agent else None,
        demographics=about,
    )


def _id(file_results: Results, submission: int, received: str, address: str) -> str:
    """Return the time in the heading, which results and raw_results share, so that one session in both is found out."""
    heading = file_results.received.get(submission)
    return f"{heading:%Y-%m-%d %H:%M:%S}" if heading else _nobody(submission, received, address)


def _iso(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")


def _say_who(source: Source, keys: Iterable[tuple[int, str, str]], sessions: Sequence[ImportedSession]) -> None:
    """Say where people are not told apart: by nothing but the hash of an address, which a household or a school shares."""
    unknown = [key[-1] for session, key in zip(sessions, keys, strict=True) if session.participant == _nobody(*key)]
    if unknown:
        hashes = f" ({len(set(unknown))} different hashes of an address, which is not a person)" if any(unknown) else ""
        log.info(
            "%s: %d of %d sessions do not say who took part%s; each counts as a participant of its own, unless the mapping names "
            "a logged column or a field: [columns] participant",
            *(source.name, len(unknown), len(sessions), hashes),
        )


def _nobody(submission: int, received: str, address: str) -> str:
    return f"{received} {address or submission}"


def _runs(rows: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the rows of each item of the running order, which the rows of one item follow each other in."""
    current: list[Line] = []
    before: object = None
    for row in rows:
        item = _first(row.cells, NUMBER), _first(row.cells, LABEL)
        begins = row.cells.get("Value") in ("Start", "__Start__") and row.cells.get("Parameter") in (
            "_Trial_",
            "__Event__",
        )
        if current and (item != before or begins):
            yield current
            current = []
        current.append(row)
        before = item
    if current:
        yield current


def _trial(
    source: Source, rows: Sequence[Line], position: int, mapping: ColumnMapping, losses: Losses
) -> ImportedTrial | None:
    """Return the trial; None where none was shown."""
    cells = rows[0].cells
    ours = "version_sha256" in cells
    item = mapping.text(cells, "item", "item", "Item")
    label, group, number = (_first(cells, names) or "" for names in (LABEL, GROUP, NUMBER))
    readings = _readings(rows, losses) or sentences(rows, losses)
    # What the mapping takes, nothing else reads.
    mapped = list(_mapped_answers(rows, mapping))
    taken = {n for n, _ in mapped}
    rest = [row for n, row in enumerate(rows) if n not in taken]
    answers = [
        *(_ours(rows, losses) if ours else ()),
        *(record for _, record in mapped),
        *_judged(rest, losses),
    ]
    if item is not None and not ours:
        answers += _chosen(rest, losses)
    if not (readings or answers or any(SHOWN & row.cells.keys() for row in rows)):
        return None
    for what, usual in ("item", ("item", "Item", *GROUP)), ("condition", ("condition", "Condition", *LABEL)):
        if len({mapping.text(row.cells, what, *usual) for row in rows}) > 1:
            losses.add(f"the rows of one trial name more than one {what}; that of the first counts", rows[0].number)
    number_in_file = as_number(mapping.text(cells, "trial", "trial") if ours or "trial" in mapping.columns else None)
    condition = mapping.text(cells, "condition", "condition", "Condition") or label
    role = mapping.text(cells, "role", *(["role"] if ours else []))
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
        paradigm=mapping.text(cells, "paradigm"),
        records=(*readings, *_once(answers)),
    )


def _readings(rows: Iterable[Line], losses: Losses) -> list[Record]:
    """Return the records of the sentences that were read word by word."""
    read = [row for row in rows if "Reading time" in row.cells]
    for row in rows:
        if "Word number" in row.cells and not row.cells.keys() & {"Reading time", FIRST}:
            losses.add("a word has no column 'Reading time'; left out", row.number)
    sentences = []
    for _, of in groupby(read, key=lambda row: _first(row.cells, ELEMENT)):
        lines = list(of)
        numbers = [row.cells.get("Word number", row.cells.get("Parameter")) for row in lines]
        if numbers != [str(n + 1) for n in range(len(lines))]:
            losses.add(
                f"words are numbered {', '.join(map(str, numbers))}; expected 1 to {len(lines)}; the sentence is left out",
                lines[0].number,
            )
            continue
        sentences.append(words_read(_word(n, row, losses) for n, row in enumerate(lines)))
    return sentences


def _word(n: int, row: Line, losses: Losses) -> WordRecord:
    rt = as_number(row.cells["Reading time"])
    if rt is None:
        losses.add(f"a reading time is {row.cells['Reading time']!r}; it stays empty", row.number)
    text = _first(row.cells, ("Word", "Value"))
    if text is None:
        losses.add("a word has no column 'Word'; its text stays empty", row.number)
    return WordRecord(n, rt, text=text)


def _mapped_answers(rows: Sequence[Line], mapping: ColumnMapping) -> Iterator[tuple[int, Record]]:
    """Yield the answers that the mapping describes, each with the row of the trial that holds it."""
    repeated = set()
    for n, row in enumerate(rows):
        for rule in mapping.rules(row.cells):
            if rule.asked not in repeated:
                yield n, _by_rule(row, rule, mapping)
            if not rule.where:  # each row of the trial has the cell
                repeated.add(rule.asked)


def _by_rule(row: Line, rule: AnswerRule, mapping: ColumnMapping) -> Record:
    said = mapping.said(row.cells, rule)
    rt = as_number(said.get("rt"))
    return answer_given(
        said.get("task") or rule.task,
        said.get("prompt") or rule.asked,
        said["response"],
        truth(said.get("correct")),
        rt=None if rt is None else mapping.ms("rt", rt),
        side=said.get("side"),
    )


def _judged(rows: Iterable[Line], losses: Losses) -> Iterator[Record]:
    """Yield the answers to Ibex's questions and judgments; a judgment in words is a question, for ratings are numbers."""
    for row in rows:
        if QUESTION not in row.cells:
            if "Answer" in row.cells:
                losses.add(f"an answer has no column {QUESTION!r}; left out", row.number)
            continue
        response = row.cells.get("Answer", "NULL")
        if response in ("", "NULL"):
            losses.add("a question without an answer; left out", row.number)
            continue
        controller = _first(row.cells, CONTROLLER)
        for name in (*CONTROLLER, TAKEN):
            if name not in row.cells:
                losses.add(f"an answer has no column {name!r}", row.number)
        judgment = "Judgment" in (controller or "")
        rating = judgment and as_number(response) is not None
        task, prompt = ("rating", "acceptability") if rating else ("question", "judgment" if judgment else "question")
        rt = as_number(row.cells.get(TAKEN))
        yield answer_given(task, prompt, response, truth(row.cells.get(CORRECT)), rt=rt)


def _chosen(rows: Sequence[Line], losses: Losses) -> Iterator[Record]:
    """Yield the answers to PennController's elements, of each the last one that was given, and those to forms."""
    given = [(name, row.cells["Value"], row) for name, row in _last(rows).items()]
    given += [(field, answer, row) for row in rows for field, answer in _form(row.cells)]
    for name, response, row in given:
        if response in ("NA", *NAMELESS):
            losses.add(f"{name} has no answer; left out", row.number)
        elif not (names_person(name, response) and any(_fields(row.cells))):
            yield answer_given("question" if as_number(response) is None else "rating", name, response)


def _last(rows: Sequence[Line]) -> dict[str, Line]:
    """Return the last answer to each element, in the order in which they were first answered."""
    last: dict[str, Line] = {}
    for row in rows:
        if row.cells.get("Parameter") in CHOSEN and row.cells.get("PennElementType") != "Html":
            last[row.cells["PennElementName"]] = row
    return last


def _ours(rows: Sequence[Line], losses: Losses) -> Iterator[Record]:
    """Yield what was read at once and answered in a trial of our export, whose columns say what was asked and how it is recorded.

    A screen was shown as soon as the one before it had ended; a button, where there is one, ends it.
    """
    cells, last = rows[0].cells, _last(rows)
    events = [
        (element[1], element[2], row)
        for row in rows
        if (element := OURS.fullmatch(row.cells.get("PennElementName", "")))
    ]
    for part, name, row in events:
        if part == "read" and not name.startswith("page"):
            yield read_at_once(name, _since(rows, row, name), pair="+" in cells["condition"])
    for name in asked(cells):
        ends = [row for part, of, row in events if of == name and part == "done"]
        answer_row = last.get(name)
        rt = None if answer_row is None else _since(rows, ends[-1] if ends else answer_row, name)
        response = None if answer_row is None else _recorded(cells, name, answer_row)
        if late(cells, name, rt):
            yield timeout(cells, name)
        elif response is not None:
            yield answered(cells, name, response, rt)
        elif answer_row is not None:
            losses.add(
                f"{cells[f'{name}_name']} has the answer {answer_row.cells['Value']!r}, which its screen does not offer; left out",
                answer_row.number,
            )


def _recorded(cells: dict[str, str], name: str, row: Line) -> str | None:
    """Return what is recorded of an answer of our export."""
    said, kind = row.cells["Value"], cells[f"{name}_kind"]
    if kind == "row":
        labels = [cells[f"{name}_label_{n}"] for n in range(1, 1 + sum(c.startswith(f"{name}_label_") for c in cells))]
        return nth_value(cells, name, labels.index(said) if said in labels else None)
    number = as_number(said)
    if kind == "entry":
        return said or None
    if number is None:
        return None
    if kind == "pair":
        return nth_value(cells, name, int(number) - 1)
    if kind == "slider":
        # Counted from 0 in the releases of 2021, which say Choice, and from 1 in those that say Select.
        number += float(cells[f"{name}_least"]) - (row.cells["Parameter"] == "Select")
    return f"{number:g}"


def _since(rows: Iterable[Line], ended: Line, name: str) -> float | None:
    """Return the ms from the last event of another screen to the end of this one."""
    now = as_number(ended.cells.get("EventTime"))
    before = [
        time
        for row in rows
        if (time := as_number(row.cells.get("EventTime"))) is not None and now is not None and time < now
        if (element := OURS.fullmatch(row.cells.get("PennElementName", ""))) is None or element[2] != name
    ]
    return now - max(before) if now is not None and before else None


def _once(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records, a second answer to a prompt of the same name under that name and a number."""
    seen: dict[tuple[str, str, int | None], int] = {}
    for record in records:
        key = record.task, record.name, record.sentence
        seen[key] = nth = seen.get(key, 0) + 1
        yield record if nth == 1 else replace(record, name=f"{record.name} {nth}")


def _about(rows: Iterable[Line], mapping: ColumnMapping) -> dict[str, str]:
    """Return what forms outside trials were filled with; a second field of one name has a number after it."""
    given: dict[tuple[object, ...], tuple[str, str]] = {}
    for n, row in enumerate(rows):
        for field, answer in _fields(row.cells):
            in_trial = mapping.text(row.cells, "item", "item", "Item") is not None
            if answer not in NAMELESS and (not in_trial or names_person(field, answer)):
                # An element's choices follow each other, and the last one counts; of a form each row is a field.
                element = (_first(row.cells, NUMBER), field) if _typed(row.cells) else (n,)
                given[element] = field, answer
    times, about = Counter[str](), {}
    for field, answer in given.values():
        times[field] += 1
        about[field if times[field] == 1 else f"{field} {times[field]}"] = answer
    return about


def _fields(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the field that a row says something of, and what it was filled with."""
    yield from _form(cells)
    if _typed(cells):
        yield cells["PennElementName"], cells["Value"]


def _form(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the field of a form or an Html element; one without a name has the element's."""
    if "Field name" in cells:
        field, answer = cells["Field name"], cells["Field value"]
    elif cells.get("PennElementType") in ("Html", "Controller-Form"):
        field, answer = cells["Parameter"], cells["Value"]
    else:
        return
    if field != REACTION_TIME:
        yield cells.get("PennElementName", "field") if field in NAMELESS else field, answer


def _typed(cells: dict[str, str]) -> bool:
    return cells.get("PennElementType") in ("TextInput", "DropDown") and cells.get("Parameter") in CHOSEN


def _first(cells: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((cells[name] for name in names if name in cells), None)
