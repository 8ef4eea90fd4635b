"""Qualtrics: surveys of ratings back."""
