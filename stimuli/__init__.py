"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .checks import RULES, check
from .designs import Design, Trial, Version, design
from .findings import Finding
from .formats import examine, read, write
from .items import (
    CRITICAL,
    CUE,
    GRAMMATICAL,
    MINIMAL_PAIR,
    UNGRAMMATICAL,
    Item,
    Materials,
    Paradigm,
    Place,
    Question,
    Region,
    Sentence,
    Word,
)
from .orders import Arrangements, Ordering
from .tables import conditions_table, items_table, word_length, words_table, zipf

__all__ = [
    "CRITICAL",
    "CUE",
    "GRAMMATICAL",
    "MINIMAL_PAIR",
    "RULES",
    "UNGRAMMATICAL",
    "Arrangements",
    "Design",
    "Finding",
    "Item",
    "Materials",
    "Ordering",
    "Paradigm",
    "Place",
    "Question",
    "Region",
    "Sentence",
    "Trial",
    "Version",
    "Word",
    "check",
    "conditions_table",
    "design",
    "examine",
    "items_table",
    "read",
    "word_length",
    "words_table",
    "write",
    "zipf",
]
