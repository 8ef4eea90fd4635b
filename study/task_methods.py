"""What participants do in each task, and what is measured, in the sentences that a methods section has."""

from collections.abc import Mapping
from dataclasses import dataclass

from .responses import RESPONSES


@dataclass(frozen=True, kw_only=True)
class TaskMethod:
    """The method of a task: `done`, a sentence on what participants do, and `measured`, one on what counts as the response.

    `noun` is what its trials are counted as: sentences that were read, or answers. `right` says of
    a share of them that they were right, and `time_label` is what an axis calls the time of a word. Where people type a text of
    their own, `is_free_text`: it may say who they are.
    """

    done: str
    measured: str = ""
    noun: str = "answers"
    right: str = "were right"
    time_label: str = "reading time"
    is_free_text: bool = False


_SELF_PACED_MEASURE = "The reading time of a word runs from the key press that brought it to the one that ended it."
TASK_METHODS: Mapping[str, TaskMethod] = {
    **{one.task: TaskMethod(done=one.done) for one in RESPONSES.values() if one.done},
    "moving_window": TaskMethod(
        done="Sentences were read word by word in self-paced reading with a moving window (Just et al., 1982).",
        measured=_SELF_PACED_MEASURE,
        noun="sentences",
    ),
    "cumulative": TaskMethod(
        done="Sentences were read word by word in self-paced reading, words read staying on the screen (Just et al., 1982).",
        measured=_SELF_PACED_MEASURE,
        noun="sentences",
    ),
    "centred": TaskMethod(
        done="Sentences were read word by word in self-paced reading, one word at a time in the middle of the screen.",
        measured=_SELF_PACED_MEASURE,
        noun="sentences",
    ),
    "maze": TaskMethod(
        done="Sentences were read in the Maze task (Forster et al., 2009): of two words shown, one goes on with the sentence.",
        measured="The reading time of a word is the time to the first choice, where that was right.",
        noun="sentences",
        right="had no wrong first choice",
        time_label="time to the right word in Maze",
    ),
    "rsvp": TaskMethod(done="Sentences were shown word by word, each word for a time that was set.", noun="sentences"),
    "reading": TaskMethod(done="Sentences were shown as they stand in the materials.", noun="sentences"),
    "whole": TaskMethod(done="Sentences were shown whole.", noun="sentences"),
    "question": TaskMethod(done="Questions were answered about sentences."),
    "typed_answer": TaskMethod(done="Questions about sentences were answered by typing.", is_free_text=True),
    "choice": TaskMethod(done="Of two sentences one was chosen."),
    "completion": TaskMethod(done="Beginnings of sentences were completed.", is_free_text=True),
    "lexical_decision": TaskMethod(done="Strings of letters were judged to be words or not."),
}
