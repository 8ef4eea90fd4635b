"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .adjacency import Arrangements
from .balance import balance_table
from .checks import RULES, check
from .design_tables import balance_of, exposures, questions_of
from .designs import Design, design
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
    Question,
    Region,
    Sentence,
    SourceLine,
    Word,
)
from .material_tables import conditions_table, items_table, word_length, words_table, zipf
from .orderings import Drawn, Ordering, Orders
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
    "Question",
    "Region",
    "Sentence",
    "SourceLine",
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
