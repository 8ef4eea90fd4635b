"""The models of a study before they are fitted: resolved once, and read by everything that says or computes them."""

from .resolution import resolve_designed_plan, resolve_plan
from .trials import StudyTrials

__all__ = ["StudyTrials", "resolve_designed_plan", "resolve_plan"]
