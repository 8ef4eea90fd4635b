"""Planned models are fitted: every model by one path, and what follows from the fits as tables."""
