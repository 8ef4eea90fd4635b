"""Figures of results, by subject, in one style."""
