"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .arrangements import Arrangements
from .balance import balance_table
from .checks import RULES, check
from .designs import Design, design
from .designtables import balance_of, exposures, questions_of
from .findings import Finding, Summary, collapse, summary
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
from .orderings import Drawn, Ordering, Orders
from .tables import conditions_table, items_table, word_length, words_table, zipf
from .trials import Trial, Version

__all__ = [
    "CRITICAL",
    "CUE",
    "GRAMMATICAL",
    "MINIMAL_PAIR",
    "RULES",
    "UNGRAMMATICAL",
    "Arrangements",
    "Design",
    "Drawn",
    "Finding",
    "Item",
    "Materials",
    "Ordering",
    "Orders",
    "Paradigm",
    "Place",
    "Question",
    "Region",
    "Sentence",
    "Summary",
    "Trial",
    "Version",
    "Word",
    "balance_of",
    "balance_table",
    "check",
    "collapse",
    "conditions_table",
    "design",
    "examine",
    "exposures",
    "items_table",
    "questions_of",
    "read",
    "summary",
    "word_length",
    "words_table",
    "write",
    "zipf",
]
