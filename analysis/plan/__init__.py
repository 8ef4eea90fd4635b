"""The models of a study before they are fitted: resolved once, and read by everything that says or computes them."""

from .resolution import resolve, resolve_designed
from .trials import StudyTrials

__all__ = ["StudyTrials", "resolve", "resolve_designed"]
