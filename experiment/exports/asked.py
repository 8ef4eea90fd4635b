"""What a study shows and asks, as far as it decides what another platform can do of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..procedures import Procedure, direction
from ..versions import VersionFile
from .places import Place

WORD_BY_WORD = frozenset(["centred", "moving_window", "cumulative"])


@dataclass(frozen=True)
class Asked:
    """What some trial of the study has."""

    procedure: Procedure
    presentations: frozenset[str]
    tasks: frozenset[str]
    pairs: bool
    contexts: bool
    breaks: bool
    unspaced: bool
    words: frozenset[str]

    @property
    def word_by_word(self) -> bool:
        """Whether some sentence is read word by word."""
        return bool(self.presentations & WORD_BY_WORD)

    @property
    def right_to_left(self) -> bool:
        """Whether the study's language is written from right to left."""
        return direction(self.procedure.language) == "rtl"

    @property
    def slider(self) -> bool:
        """Whether sentences are rated on a slider."""
        rating = self.procedure.rating
        return "rating" in self.tasks and rating is not None and rating.kind == "slider"


def asked(files: Sequence[VersionFile]) -> Asked:
    """Return what the versions of a study show and ask, taken together."""
    trials = [trial for file in files for trial in Place(file, 0).trials()]
    sentences = [sentence for trial in trials for sentence in trial["sentences"]]
    return Asked(
        files[0].procedure,
        frozenset(trial["presentation"] for trial in trials),
        frozenset(task for trial in trials for task in trial["tasks"]),
        any(len(trial["sentences"]) > 1 for trial in trials),
        any(trial["context"] for trial in trials),
        any(trial["break_before"] for trial in trials),
        any("" in sentence["gaps"] for sentence in sentences),
        frozenset(word for sentence in sentences for word in sentence["words"]),
    )


# What no other platform does of our page.
ELSEWHERE = (
    "There is no button for withdrawing, and who does not agree closes the window. The standard consent text promises such a "
    "button, and says what our own server stores: correct it to what holds there.",
    "Nobody goes on where they left off: who reloads the page begins again, as another session.",
    "The device is not checked: say in the instructions that a computer with a keyboard is needed.",
)
