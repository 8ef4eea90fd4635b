"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .balance import compute_balance
from .checks import RULES, check
from .design_tables import build_short_lists_table, compute_design_balance, compute_design_questions, compute_exposures
from .designs import Design, design
from .findings import Finding
from .formats import examine, read, read_study, write
from .grammar import GeneratedMaterials, Grammar, generate, read_grammar
from .item_groups import extract_pair_covariates, group_items
from .item_tables import build_conditions_table, build_items_table, build_words_table
from .items import CRITICAL, GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Paradigm, Question, Region, Sentence
from .norms import Norm, compute_words_not_found, read_norms
from .orderings import Ordering
from .selection.choice import Certificate, SelectionResult, select
from .selection.covariates import compute_covariates
from .selection.division import DivisionResult, split
from .selection.expected_effects import compute_expected_effects
from .selection.matching import compute_design_matching
from .selection.settings import CovariateSection, Division, ExpectedEffectSection, Selection
from .treebanks.extraction import compute_language_counts, extract
from .trials import Trial, TrialList

__all__ = [
    "CRITICAL",
    "GRAMMATICAL",
    "RULES",
    "UNGRAMMATICAL",
    "Certificate",
    "CovariateSection",
    "Design",
    "Division",
    "DivisionResult",
    "ExpectedEffectSection",
    "Finding",
    "GeneratedMaterials",
    "Grammar",
    "Item",
    "Materials",
    "Norm",
    "Ordering",
    "Paradigm",
    "Question",
    "Region",
    "Selection",
    "SelectionResult",
    "Sentence",
    "Trial",
    "TrialList",
    "build_conditions_table",
    "build_items_table",
    "build_short_lists_table",
    "build_words_table",
    "check",
    "compute_balance",
    "compute_covariates",
    "compute_design_balance",
    "compute_design_matching",
    "compute_design_questions",
    "compute_expected_effects",
    "compute_exposures",
    "compute_language_counts",
    "compute_words_not_found",
    "design",
    "examine",
    "extract",
    "extract_pair_covariates",
    "generate",
    "group_items",
    "read",
    "read_grammar",
    "read_norms",
    "read_study",
    "select",
    "split",
    "write",
]
