"""Gorilla: spreadsheets with a recipe out, data back."""
