"""Grammars of sentences: a notation for paradigms, exact counts, and seeded draws without rejection."""

from .generating import Generated, generate
from .grammars import Grammar, read_grammar

__all__ = ["Generated", "Grammar", "generate", "read_grammar"]
