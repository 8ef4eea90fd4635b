"""What a study's screens ask of whoever shows them, found by walking its scripts; and what a platform says to each of it.

A platform states its table FEATURE_SUPPORT: for each of `FEATURES` that it plays it as it is (`SUPPORTED`), a sentence about
what is lost or to be done by hand, or `UNSUPPORTED`, where it cannot run it, or where what was answered could not come back.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gardenpath import study
from gardenpath.study.screens import SCREEN_KINDS, Answers, AskingScreen, Entry, Form, Screen, Script, Step, Text, Whole, Words

from ..scripts.list_files import ListFile

SUPPORTED = ""
UNSUPPORTED = None
FeatureSupport = Mapping[str, str | None]

# Kinds of screens come first, then what some of them have; each with how a message calls it.
FEATURES: Mapping[str, str] = {
    "text": "pages of text",
    "words": "sentences read word by word",
    "whole": "texts read at once",
    "answers": "answers to choose from",
    "slider": "sliders",
    "entry": "typed answers",
    "typed_number": "typed numbers",
    "form": "questions about the participant",
    "screener": "questions that decide who takes part",
    "word_pairs": "sentences read as pairs of words",
    "centred": "words in the middle of the screen",
    "moving_window": "a moving window",
    "cumulative": "words that stay",
    "timed": "words shown for a stated time",
    "words_right_to_left": "word by word reading from right to left",
    "right_to_left": "texts from right to left",
    "unspaced": "words in their place without a space between them",
    "points": "the points of a scale",
    "row": "answers in a row",
    "pair": "two sentences side by side",
    "stacked_pair": "two sentences one above the other",
    "above_text": "a text above what is asked",
    "above_sentence": "the sentence above what is asked",
    "deadline": "deadlines of answers",
    "feedback": "pages that tell whether an answer was right",
    "follow_up": "screens that are asked after some answers alone",
    "leave": "screens that end their trial, or the study",
    "context": "contexts of sentences",
    "breaks": "pages between trials",
    "rounds": "practice that is repeated until enough is right",
    "aside": "pages that turn devices away",
    "assets": "pictures or sounds",
}


@dataclass(frozen=True)
class FeatureLocation:
    """Where a feature was found: the screen's name, and the item of its trial; of a page None."""

    screen: str
    item: str | None


def find_features(files: Sequence[ListFile]) -> dict[str, list[FeatureLocation]]:
    """Return the features of a study's lists, each with every place where it is."""
    locations: dict[str, list[FeatureLocation]] = {}
    for file in files:
        for feature, screen, trial in _walk_features(file.script):
            item = None if trial is None else file.trial_list.trials[trial].item.id
            locations.setdefault(feature, []).append(FeatureLocation(screen, item))
    return locations


def _walk_features(script: Script) -> Iterator[tuple[str, str, int | None]]:
    """Yield each feature with the screen that has it, and the number of its trial."""
    if script.direction == "rtl":
        yield "right_to_left", "", None
    yield from (("assets", asset.name, None) for asset in script.assets)
    between = [step for interlude in script.interludes for step in interlude.steps]
    for step in (*script.front, *script.trials, *between, *script.end):
        for screen in step.screens:
            for feature in _find_screen_features(screen, step, script):
                yield feature, screen.name, step.trial
    for step in between:
        yield "rounds" if step.when else "breaks", step.name, step.trial


def _find_screen_features(screen: Screen, step: Step, script: Script) -> Iterator[str]:
    yield screen.kind
    if isinstance(screen, Words):
        yield screen.arrangement
        if screen.pace is not None:
            yield "timed"
        if script.direction == "rtl":
            yield "words_right_to_left"
        if screen.arrangement != "centred" and "" in screen.gaps:
            yield "unspaced"
    if isinstance(screen, Form) and screen.accepted:
        yield "screener"
    if isinstance(screen, Whole) and screen.sentence is None:
        yield "context"
    if isinstance(screen, Answers):
        yield screen.arrangement
    if isinstance(screen, AskingScreen):
        if screen.above.kind != "nothing":
            yield f"above_{screen.above.kind}"
        if screen.deadline is not None:
            yield "deadline"
    if isinstance(screen, Entry) and screen.not_positive:
        yield "typed_number"
    if isinstance(screen, Text) and screen.aside is not None:
        yield "aside"
    if step.trial is not None:
        if screen.when is not None:
            yield "feedback" if isinstance(screen, Text) else "follow_up"
        # A timed stream that is interrupted ends its trial; that is a part of its being timed.
        if screen.exits and not (isinstance(screen, Words) and screen.pace is not None):
            yield "leave"


def list_feature_losses(files: Sequence[ListFile], support: FeatureSupport) -> list[str]:
    """Return what a platform cannot do of a study, or not by itself, a sentence each, in the order of its table."""
    features = find_features(files)
    return list(dict.fromkeys(sentence for feature, sentence in support.items() if sentence and feature in features))


def refuse_unsupported(files: Sequence[ListFile], support: FeatureSupport, platform: str) -> None:
    """Raise `study.DataError` where a platform cannot run a study, with all that it cannot run and the screens that have it."""
    features = find_features(files)
    faults = [
        f"{platform} cannot run {FEATURES.get(feature, feature)}: {_format_locations(locations)}; expected an export "
        "to jspsych or jatos, which "
        "run every screen, or another procedure"
        for feature, locations in features.items()
        if support.get(feature, UNSUPPORTED) is UNSUPPORTED
    ]
    if faults:
        raise study.DataError(faults)


def _format_locations(locations: Sequence[FeatureLocation]) -> str:
    names = ", ".join(dict.fromkeys(location.screen for location in locations))
    items = list(dict.fromkeys(location.item for location in locations if location.item is not None))
    return f"screen {names}" + (f" of {len(items)} items, the first {items[0]}" if items else "")


# Our own page plays all that there is.
FULL_SUPPORT: FeatureSupport = dict.fromkeys(FEATURES, SUPPORTED)
# What no other platform does of our page, whatever a study shows.
COMMON_LOSSES = (
    "There is no button for withdrawing, and whoever does not agree closes the window. The standard consent text promises such a "
    "button, and says what our own server stores: correct it to what holds there.",
    "A session cannot be resumed: whoever reloads the page begins again, as another session.",
)
# What all other platforms say to a feature alike.
COMMON_SUPPORT: FeatureSupport = {
    "screener": "Nobody is screened out, whatever the answers to the screener: invite only whom you look for, by the screening of "
    "the platform that recruits.",
    "aside": "The device is not checked: say in the instructions that a computer with a keyboard is needed.",
    "typed_number": "A typed answer is taken whatever it is, and one that is no number above 0 is left out when data come back: "
    "say in the instructions what to type.",
    "rounds": "Practice is not repeated, however many answers are right: everybody goes on after one round.",
}

assert set(SCREEN_KINDS) <= FEATURES.keys()
