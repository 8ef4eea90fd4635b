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
    from gardenpath.stimuli.grammar.compiling import Compiled

GRAMMAR = Path(str(files(__package__) / "pocket.toml"))


def sentences(seed: int) -> Iterator[str]:
    """Yield sentences without end; the same seed yields the same ones."""
    from gardenpath.stimuli.grammar.drawing import sample  # these load numpy
    from gardenpath.stimuli.grammar.linearising import sentences_of

    compiled = _compiled()
    for derivation in sample(compiled.alternatives, Random(f"grammar-{seed}")):
        (sentence,) = sentences_of(compiled, derivation).values()
        yield sentence.text


@cache
def _compiled() -> "Compiled":
    from gardenpath.stimuli.grammar.compiling import compile_paradigm
    from gardenpath.stimuli.grammar.grammars import read_grammar

    return compile_paradigm(read_grammar(GRAMMAR), "text")
