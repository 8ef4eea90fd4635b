"""The ground every part stands on: table schemas, study.toml, sidecars, atomic writing, two exceptions."""

from .config import (
    AnalysisSection,
    AttentionSection,
    DesignSection,
    EffectSection,
    ExcludeSection,
    HypothesisSection,
    ModelSection,
    NormSection,
    OrderingSection,
    PracticeSection,
    ShortListsSection,
    Study,
    load,
    load_effects,
)
from .errors import DataError, MissingExtra
from .schemas import TABLES
from .table_files import check, read, write

__all__ = [
    "TABLES",
    "AnalysisSection",
    "AttentionSection",
    "DataError",
    "DesignSection",
    "EffectSection",
    "ExcludeSection",
    "HypothesisSection",
    "MissingExtra",
    "ModelSection",
    "NormSection",
    "OrderingSection",
    "PracticeSection",
    "ShortListsSection",
    "Study",
    "check",
    "load",
    "load_effects",
    "read",
    "write",
]
