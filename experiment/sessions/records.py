"""Events become records: one function for each kind of screen, the same for the page, the lab and robots."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gardenpath.study.config import FieldSection
from gardenpath.study.events import Ended, EndedEvent, Event, Record, WordEndedEvent, WordRecord
from gardenpath.study.screens import (
    Answers,
    AskingScreen,
    Entry,
    Form,
    Outcome,
    Screen,
    Side,
    Slider,
    Text,
    Whole,
    WordPairs,
    Words,
    is_positive_number,
)

from .plausibility import list_word_flags

MAX_ANSWER_LENGTH = 500  # characters
MAX_FIELD_NUMBER = 999  # of a field of a form that states no other


def build_record(screen: Screen, events: Sequence[Event], *, flags: frozenset[str] = frozenset()) -> Record:
    """Return how a screen was run, by its events in order; `flags` are added to those of every word."""
    return _RECORD_BUILDERS[screen.kind](screen, events, flags)


def _build_display_record(screen: Screen, events: Sequence[Event], flags: frozenset[str]) -> Record:
    """Return the record of a screen with one display, which its last event ended."""
    end = _find_outcome_event(events)
    if end is None:
        return _create_record(screen, None)
    value = end.value
    display = value["display"]
    shown_at = None if display is None else display["request"] if display["frame"] is None else display["frame"]
    elapsed = None if shown_at is None else end.t - shown_at
    first = value["first"]
    return _create_record(
        screen,
        judge_outcome(screen, value["outcome"], value["answer"]),
        answer=value["answer"],
        side=value["side"],
        rt=elapsed if value["outcome"] != "timeout" else None,
        rt_first=None if first is None or shown_at is None else first - shown_at,
    )


def _create_record(screen: Screen, outcome: str | None, **fields: Any) -> Record:
    return Record(screen.task, screen.name, outcome, sentence=getattr(screen, "sentence", None), **fields)


def _find_outcome_event(events: Sequence[Event]) -> EndedEvent | None:
    return next((event for event in reversed(events) if event.kind == "outcome"), None)


def judge_outcome(screen: Screen, outcome: Outcome, answer: object) -> Outcome:
    """Return how a screen ended, right or wrong where the player could not say so."""
    if outcome != "answered" or not isinstance(screen, AskingScreen) or not screen.right:
        return outcome
    return "right" if screen.is_right(answer) else "wrong"


def has_accepted_answers(screen: Form, answers: Mapping[str, Any]) -> bool:
    """Whether these answers to a form that decides who takes part are all accepted ones."""
    return all(answers.get(name) in accepted for name, accepted in screen.accepted.items())


def _build_words_record(screen: Screen, events: Sequence[Event], flags: frozenset[str]) -> Record:
    """Return the record of a sentence read word by word; what happened on the way to a word stands in its flags.

    A word whose predecessor is lost, or was set apart, has no reading time.
    """
    words: list[WordRecord] = []
    end = _find_outcome_event(events)
    outcome = None if end is None else end.value["outcome"]
    if outcome == "interrupted":
        flags |= {"interrupted"}  # words that ran by time are not shown again
    before: WordEndedEvent | None = None
    word_flags: set[str] = set()
    for event in events:
        if event.kind == "interruption":
            word_flags.add("interrupted")
        elif event.kind == "press":
            word_flags.add(event.value["reason"])
        elif event.kind == "word":
            if before is not None:
                press = event.value["press"]
                if press is not None and press["repeats"]:
                    word_flags.add("repeats")
                word_flags.update(list_word_flags(screen, event, before))
                words.append(
                    _build_word_record(screen, event, before, tuple(sorted(word_flags | flags)) if word_flags or flags else ())
                )
            before, word_flags = event, set()
    return _create_record(screen, outcome, words=tuple(words))


def _build_word_record(screen: Screen, event: WordEndedEvent, before: WordEndedEvent, flags: tuple[str, ...]) -> WordRecord:
    value = event.value
    frame, timed = value["display"]["frame"], value["press"] is None
    # Of a wrong choice that ends the sentence there is no time to the right word.
    is_ended = value["correct"] is False and isinstance(screen, WordPairs) and not screen.redo
    is_next = value["word"] == before.value["word"] + 1
    return WordRecord(
        value["word"],
        None if timed or is_ended or not is_next else event.t - before.t,
        None if timed or is_ended or frame is None else event.t - frame,
        None if value["first"] is None or not is_next else value["first"] - before.t,
        value["correct"],
        value["line"],
        event.t - frame if timed and frame is not None else None,
        flags,
    )


_RECORD_BUILDERS: Mapping[str, Callable[[Screen, Sequence[Event], frozenset[str]], Record]] = {
    "text": _build_display_record,
    "whole": _build_display_record,
    "answers": _build_display_record,
    "slider": _build_display_record,
    "entry": _build_display_record,
    "form": _build_display_record,
    "words": _build_words_record,
    "word_pairs": _build_words_record,
}


def find_outcome_fault(screen: Screen, value: Ended) -> str | None:
    """Return what is wrong with how a player says that a screen ended, None where nothing is."""
    outcome, answer = value["outcome"], value["answer"]
    possible_outcomes = _list_possible_outcomes(screen)
    if outcome not in possible_outcomes:
        return f"the outcome {outcome!r} of a screen of kind {screen.kind}; expected {' or '.join(sorted(possible_outcomes))}"
    if isinstance(screen, Form) or (outcome in ("answered", "right", "wrong") and isinstance(screen, AskingScreen)):
        wrong = _find_answer_fault(screen, answer) or _find_side_fault(screen, answer, value["side"])
        if wrong is None and not _is_outcome_consistent(screen, value):
            return f"an answer of {answer!r} to {screen.name} that is called {outcome}"
        return wrong
    if answer is not None or value["side"] is not None:
        return f"an answer to {screen.name}, which ended {outcome}; expected none"
    return None


def _is_outcome_consistent(screen: Screen, value: Ended) -> bool:
    """Whether an answer is what its outcome says: right or wrong, or one that lets somebody take part."""
    outcome, answer = value["outcome"], value["answer"]
    if outcome in ("right", "wrong"):
        return judge_outcome(screen, "answered", answer) == outcome
    if outcome != "accepted":
        return True
    return isinstance(screen, Form) and isinstance(answer, Mapping) and has_accepted_answers(screen, answer)


def _list_possible_outcomes(screen: Screen) -> set[str]:
    if isinstance(screen, Text):
        space = {"continued"} if screen.space and not screen.buttons else set()
        return space | {button.outcome for button in (*screen.buttons, screen.aside) if button is not None}
    if isinstance(screen, (Whole, Words)):
        return {"read", "interrupted"} if isinstance(screen, Words) and screen.pace is not None else {"read"}
    if isinstance(screen, WordPairs):
        return {"right", "wrong"}
    if isinstance(screen, Form):
        return {"accepted", "screened_out"} if screen.accepted else {"answered"}
    outcomes = {"right", "wrong"} if screen.is_judged_by_player and screen.right else {"answered"}
    return outcomes | ({"timeout"} if screen.deadline is not None else set())


def _find_answer_fault(screen: AskingScreen | Form, answer: object) -> str | None:
    if isinstance(screen, Answers):
        values = [one.value for one in screen.answers]
        if any(answer == value and type(answer) is type(value) for value in values):
            return None
        return f"an answer of {answer!r} to {screen.name}; expected {_format_expected_values(values)}"
    if isinstance(screen, Slider):
        if isinstance(answer, int) and not isinstance(answer, bool) and screen.least <= answer <= screen.most:
            return None
        return f"an answer of {answer!r} to {screen.name}; expected a whole number from {screen.least} to {screen.most}"
    if isinstance(screen, Entry):
        if isinstance(answer, str) and answer.strip() and len(answer) <= screen.longest:
            if not screen.not_positive or is_positive_number(answer):
                return None
            return f"an answer of {answer!r} to {screen.name}; expected a number above 0"
        return f"an answer to {screen.name} that is empty, or longer than {screen.longest} characters; expected a text"
    names = {field.name for field in screen.fields}
    if not isinstance(answer, Mapping) or not names >= set(answer):
        return f"answers to {screen.name} by other names than its fields; expected some of {', '.join(sorted(names))}"
    fields_by_name = {field.name: field for field in screen.fields}
    return next((wrong for name, one in answer.items() if (wrong := _find_field_fault(fields_by_name[name], one))), None)


def _find_field_fault(field: FieldSection, answer: object) -> str | None:
    if field.kind == "number":
        low, high = field.min or 0, MAX_FIELD_NUMBER if field.max is None else field.max
        if isinstance(answer, int) and not isinstance(answer, bool) and low <= answer <= high:
            return None
        return f"an answer of {answer!r} to {field.name}; expected a whole number from {low} to {high}"
    if not isinstance(answer, str):
        return f"an answer of {answer!r} to {field.name}; expected a text"
    if len(answer) > MAX_ANSWER_LENGTH:
        return f"an answer to {field.name} of over {MAX_ANSWER_LENGTH} characters"
    if field.kind == "choice" and answer not in field.choices:
        return f"an answer of {answer!r} to {field.name}; expected {_format_expected_values(field.choices)}"
    return None


def _find_side_fault(screen: Screen, answer: object, side: Side | None) -> str | None:
    """Return what is wrong with where an answer is said to have stood; a player need not say it."""
    actual_side = screen.find_side(answer) if isinstance(screen, Answers) else None
    return None if side in (None, actual_side) else f"an answer to {screen.name} on the side {side}; expected {actual_side}"


def _format_expected_values(values: Sequence[str | int]) -> str:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) and numbers == list(range(min(numbers), max(numbers) + 1)):
        return f"a whole number from {numbers[0]} to {numbers[-1]}"
    return " or ".join(repr(value) for value in values)
