"""What sessions say of themselves, held against one another: what a file leaves open is asked, what is odd is named."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gardenpath import study

from .imported import NOWHERE, ImportedSession

log = logging.getLogger("gardenpath")


def check_counting(sessions: Sequence[ImportedSession], lengths: Mapping[tuple[str, str], int]) -> None:
    """Raise `DataError` where nothing says which words the numbers of a file mean; `lengths` are those of the sentences known."""
    counted = {session.counting.first: session.where for session in sessions if session.counting}
    state = "state in the mapping which number the first word of a sentence has:  first_word = 1  or  first_word = 0"
    if len(counted) > 1:
        said = " and ".join(f"at {first} in {where}" for first, where in counted.items())
        raise study.DataError(f"positions of words begin {said}; {state}")
    words = [(s, t, word) for s in sessions if s.counting for t in s.trials for r in t.records for word in r.words]
    if not lengths and (where := next((s.where for s, _, word in words if word.word == NOWHERE), None)):
        raise study.DataError(
            f"{where}: names regions and no positions of words; give the materials (--materials), or name the column of positions: "
            "[columns] word"
        )
    if not lengths or any(word.text is not None or (s.counting and s.counting.stated) for s, _, word in words):
        return
    # Numbers from 1 whose last is one less than the sentence has words may as well be numbers from 0 without the first word.
    if words and not any(word.word + 1 == lengths.get((trial.item, trial.condition)) for _, trial, word in words):
        raise study.DataError(
            f"{words[0][0].where}: positions of words begin at {next(iter(counted))}, and counted from there nobody read a "
            f"sentence's last word; {state}"
        )


def say_unread(readings: Iterable[tuple[str, list[dict[str, Any]]]], lengths: Mapping[tuple[str, str], int]) -> None:
    """Say, once a file, how many words of sentences that were read have no row; one not known ends with the last word read."""
    read: dict[tuple[str, str, int, str, str], set[int]] = defaultdict(set)
    longest: dict[tuple[str, str], int] = defaultdict(int, lengths)
    for where, rows in readings:
        for row in rows:
            item, condition, word = row["item"], row["condition"], row["word"]
            read[where, row["session"], row["trial"], item, condition].add(word)
            longest[item, condition] = max(longest[item, condition], word + 1)
    unread: dict[str, list[str]] = defaultdict(list)
    for (where, session, _, item, condition), words in read.items():
        unread[where] += [
            f"word {word} of item {item}, {condition}, session {session}"
            for word in range(longest[item, condition])
            if word not in words
        ]
    for where, places in unread.items():
        if places:
            log.warning("%s: %d words have no row and count as not read, first %s", where, len(places), places[0])
