"""Grammars of sentences: a notation for paradigms, exact counts, and seeded draws without rejection."""
