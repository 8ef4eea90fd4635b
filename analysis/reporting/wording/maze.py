"""Distractors for Maze in sentences: how many were found, how improbable they are, and what a second model makes of them."""

import pandas as pd

from ...row_dicts import list_rows
from .numbers import counted, percent

SHOWN = 8  # words that a sentence names
OFTEN = 3  # times from which a distractor is named as repeated


def distractors(places: pd.DataFrame, margins: pd.DataFrame, surprisal: float, margin: float) -> list[str]:
    """Return what is said of the tables `distractors` and `distractor_margins`; `surprisal` and `margin` are the bits demanded.

    >>> places = pd.DataFrame({"item": ["i1", "i1"], "position": ["start 2", "start 3"], "words": ["dogs", "bark"],
    ...                        "distractor": ["oven", None], "reason": [None, "no word of 4 letters"]})
    >>> margins = pd.DataFrame({"item": ["i1"], "condition": ["a"], "text": ["dogs"], "distractor": ["oven"],
    ...                         "word_surprisal": [8.0], "surprisal": [31.0], "margin": [23.0],
    ...                         "held_out_word_surprisal": [7.0], "held_out_surprisal": [6.0], "held_out_margin": [-1.0]})
    >>> for sentence in distractors(places, margins, 25, 10):
    ...     print(sentence)
    Of 2 places of 1 item 1 has a distractor.
    Distractors cost the model 31.0 bits in the median and 31.0 at least, 23.0 and 23.0 more than the words beside them.
    Under the held-out model they cost 6.0 bits in the median, -1.0 more than the words; 0 of 1 (0.0%) by 10 bits or more.
    Under the held-out model a distractor is no less probable than its word in 1 of 1 cases: i1 (a) dogs/oven.
    1 place found none:
      - i1, start 3 (bark): no word of 4 letters
    """
    found = places.dropna(subset="distractor")
    of = f"Of {counted(len(places), 'place')} of {counted(len(set(places['item'])), 'item')}"
    sentences = [f"{of} {len(found)} {'has' if len(found) == 1 else 'have'} a distractor."]
    own = margins.dropna(subset="margin")
    if len(own):
        cost, more = own["surprisal"], own["margin"]
        sentences.append(
            f"Distractors cost the model {cost.median():.1f} bits in the median and {cost.min():.1f} at least, {more.median():.1f} "
            f"and {more.min():.1f} more than the words beside them."
        )
    second = margins.dropna(subset="held_out_margin")
    if len(second):
        more = second["held_out_margin"]
        enough = int((more >= margin).sum())
        sentences.append(
            f"Under the held-out model they cost {second['held_out_surprisal'].median():.1f} bits in the median, "
            f"{more.median():.1f} more than the words; "
            f"{enough} of {len(second)} ({percent(enough / len(second))}) by {margin:g} bits or more."
        )
        if len(against := second[more <= 0]):
            cases = [f"{r['item']} ({r['condition']}) {r['text']}/{r['distractor']}" for r in list_rows(against)]
            sentences.append(
                "Under the held-out model a distractor is no less probable than its word in "
                f"{len(against)} of {len(second)} cases: {_named(cases)}."
            )
    short = list_rows(found.dropna(subset="reason"))
    if short:
        cases = [f"{r['item']}, {r['position']} ({r['words']}): {r['distractor']}, {r['reason']}" for r in short]
        sentences.append(
            f"{counted(len(short), 'distractor')} given by hand {'is' if len(short) == 1 else 'are'} less improbable than demanded "
            f"({surprisal:g} bits, {margin:g} more than the word): {_named(cases)}."
        )
    times = found["distractor"].str.casefold().value_counts()
    if len(often := times[times >= OFTEN]):
        words = [f"{word} ({n})" for word, n in often.items()]
        sentences.append(f"Distractors of several places: {_named(words)}.")
    if none := list_rows(places[places["distractor"].isna()]):
        cases = [f"{r['item']}, {r['position']} ({r['words']}): {r['reason']}" for r in none]
        sentences.append("".join([f"{counted(len(none), 'place')} found none:", *(f"\n  - {case}" for case in cases)]))
    return sentences


def _named(cases: list[str]) -> str:
    more = [f"{len(cases) - SHOWN} more"] if len(cases) > SHOWN else []
    return "; ".join([*cases[:SHOWN], *more])
