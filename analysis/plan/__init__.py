"""The models of a study before they are fitted: resolved once, and read by everything that says or computes them."""

from .resolution import PlannedTrials, resolve, resolve_designed

__all__ = ["PlannedTrials", "resolve", "resolve_designed"]
