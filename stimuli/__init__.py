"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .balance import balance_table
from .checks import RULES, check
from .design_tables import balance_of, exposures, lists_of, questions_of
from .designs import Design, design
from .findings import Finding
from .formats import examine, read, read_study, write
from .grammar import Generated, Grammar, generate, read_grammar
from .groups import covariates_of, groups_of
from .item_tables import conditions_table, items_table, words_table
from .items import (
    CRITICAL,
    GRAMMATICAL,
    UNGRAMMATICAL,
    Item,
    Materials,
    Paradigm,
    Question,
    Region,
    Sentence,
)
from .orderings import Ordering
from .treebanks.extraction import extract, language_counts
from .trials import Trial, Version

__all__ = [
    "CRITICAL",
    "GRAMMATICAL",
    "RULES",
    "UNGRAMMATICAL",
    "Design",
    "Finding",
    "Generated",
    "Grammar",
    "Item",
    "Materials",
    "Ordering",
    "Paradigm",
    "Question",
    "Region",
    "Sentence",
    "Trial",
    "Version",
    "balance_of",
    "balance_table",
    "check",
    "conditions_table",
    "covariates_of",
    "design",
    "examine",
    "exposures",
    "extract",
    "generate",
    "groups_of",
    "items_table",
    "language_counts",
    "lists_of",
    "questions_of",
    "read",
    "read_grammar",
    "read_study",
    "words_table",
    "write",
]
