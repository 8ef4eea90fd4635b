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
from .norms import Norm, read_norms
from .norms import not_found as words_not_found
from .orderings import Ordering
from .selection.choosing import Certificate, Selected, select
from .selection.covariates import covariates_table
from .selection.dealing import Divided, split
from .selection.expected_effects import expected_effects
from .selection.matching import versions_matching
from .selection.settings import CovariateSection, Division, Selection
from .selection.settings import EffectSection as ExpectedEffectSection
from .treebanks.extraction import extract, language_counts
from .trials import Trial, Version

__all__ = [
    "CRITICAL",
    "GRAMMATICAL",
    "RULES",
    "UNGRAMMATICAL",
    "Certificate",
    "CovariateSection",
    "Design",
    "Divided",
    "Division",
    "ExpectedEffectSection",
    "Finding",
    "Generated",
    "Grammar",
    "Item",
    "Materials",
    "Norm",
    "Ordering",
    "Paradigm",
    "Question",
    "Region",
    "Selected",
    "Selection",
    "Sentence",
    "Trial",
    "Version",
    "balance_of",
    "balance_table",
    "check",
    "conditions_table",
    "covariates_of",
    "covariates_table",
    "design",
    "examine",
    "expected_effects",
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
    "read_norms",
    "read_study",
    "select",
    "split",
    "versions_matching",
    "words_not_found",
    "words_table",
    "write",
]
