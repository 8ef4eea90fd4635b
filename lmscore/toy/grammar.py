"""The sentences that the pocket model learns from: draws, by weight and with repetitions, from a grammar as `generate` takes it.

The grammar, pocket.toml, and its words are ours, so that the pocket model can be made anywhere without a download.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gardenpath.stimuli.grammar.compilation import CompiledParadigm

GRAMMAR_FILE = Path(str(files(__package__) / "pocket.toml"))


def draw_sentences(seed: int) -> Iterator[str]:
    """Yield sentences without end; the same seed yields the same ones."""
    from gardenpath.stimuli.grammar.linearisation import build_sentences
    from gardenpath.stimuli.grammar.sampling import sample_derivations  # these load numpy

    compiled = _compile_grammar()
    for derivation in sample_derivations(compiled.alternatives, Random(f"grammar-{seed}")):
        (sentence,) = build_sentences(compiled, derivation).values()
        yield sentence.text


@cache
def _compile_grammar() -> "CompiledParadigm":
    from gardenpath.stimuli.grammar.compilation import compile_paradigm
    from gardenpath.stimuli.grammar.grammar_files import read_grammar

    return compile_paradigm(read_grammar(GRAMMAR_FILE), "text")
