"""Small trees for tests: a line a word, `form lemma UPOS features head relation [MISC]`, multiword tokens as `1-2 form`."""

import tempfile
from collections import Counter
from pathlib import Path

from gardenpath.stimuli.treebanks.trees import Tree, read_trees


def conllu(*sentences: tuple[str, str]) -> str:
    """Return sentences, each a text with its words, as a CoNLL-U file."""
    parts = []
    for number, (text, words) in enumerate(sentences, start=1):
        lines, position = [f"# sent_id = s{number}", f"# text = {text}"], 0
        for line in words.strip().splitlines():
            cells = line.split()
            if cells[0][0].isdigit() and ("-" in cells[0] or "." in cells[0]):  # or an empty node, as `1.1 form`
                lines.append("\t".join([cells[0], cells[1], *["_"] * 8]))
                continue
            position += 1
            form, lemma, upos, features, head, relation, misc = [*cells, "_"][:7]
            lines.append("\t".join([str(position), form, lemma, upos, "_", features, head, relation, "_", misc]))
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts)


def tree(text: str, words: str) -> Tree:
    """Return one tree."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "xx_toy-ud-test.conllu")
        path.write_text(conllu((text, words)), "utf-8")
        [only] = read_trees(path, "toy", Counter())
    return only
