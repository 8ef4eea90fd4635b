"""Grammars of sentences: a notation for paradigms, exact counts, and seeded draws without rejection."""

from .generation import GeneratedMaterials, generate
from .grammar_files import read_grammar
from .grammars import Grammar

__all__ = ["GeneratedMaterials", "Grammar", "generate", "read_grammar"]
