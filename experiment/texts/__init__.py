"""Texts of the page, one file a language."""
