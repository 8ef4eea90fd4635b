"""Writing all there is of a grammar."""

from pathlib import Path

import pytest

from gardenpath import stimuli


def test_every_paradigm_that_is_too_large_is_named_before_any_is_generated(tmp_path: Path) -> None:
    words = "".join(f"n{i},N\n" for i in range(101))
    (tmp_path / "words.csv").write_text(f"form,category\n{words}")
    four = 'slots = { A = "N", B = "N", C = "N", E = "N" }\nwaive = "word-before"\n'
    large = f'good = "<A> <B> <C> <E> [here]."\nbad = "<A> <B> <C> [here] <E>."\n{four}'
    small = 'good = "a [<N>] barks."\nbad = "a barks [<N>]."\nwaive = "word-before"\n'
    (tmp_path / "grammar.toml").write_text(
        f'language = "en"\nlexicon = "words.csv"\n[paradigm.small]\n{small}[paradigm.one]\n{large}[paradigm.two]\n{large}'
    )
    begun: list[str] = []
    with pytest.raises(ValueError, match=r"paradigm one: .* too many(.|\n)*paradigm two: .* too many"):
        stimuli.generate(stimuli.read_grammar(tmp_path / "grammar.toml"), None, seed=1, progress=begun.append)
    assert begun == []
