"""Trees as they are written: words with their characters, sentences left out by reason, and files that are no CoNLL-U."""

from collections import Counter
from pathlib import Path

import pytest

from gardenpath import study
from gardenpath.stimuli.treebanks import trees


def row(number: int | str, form: str, head: int | str = 0, feats: str = "_", deprel: str = "dep", misc: str = "_") -> str:
    return "\t".join([str(number), form, form.lower(), "NOUN", "_", feats, str(head), deprel, "_", misc])


def sentence(text: str, *rows: str) -> str:
    return "\n".join(["# sent_id = s", f"# text = {text}", *rows]) + "\n\n"


def read(folder: Path, text: str) -> tuple[list[trees.Tree], Counter[str]]:
    path = folder / "xx_own-ud-test.conllu"
    path.write_text(text, encoding="utf-8")
    dropped: Counter[str] = Counter()
    return list(trees.read_trees(path, "xx_own", dropped)), dropped


def test_words_stand_where_the_text_has_them(tmp_path: Path) -> None:
    rows = (["1-2", "I'm"], ["1", "I"], ["2", "'m"], ["3", "10 000"], ["3.1", "gone"], ["4-5", "zum"], ["4", "zu"], ["5", "dem"])
    lines = [row(*cells, *(["_"] if "-" in cells[0] or "." in cells[0] else [])) for cells in rows]
    (tree,), dropped = read(tmp_path, sentence("I'm\u202f 10\xa0000 zum", *lines))
    assert not dropped
    assert [(t.form, tree.text[t.start : t.end]) for t in tree.tokens] == [
        ("I", "I"), ("'m", "'m"), ("10 000", "10\xa0000"), ("zu", "zum"), ("dem", "zum"),
    ]  # fmt: skip
    assert [t.multiword_token and (t.multiword_token.form, t.multiword_token.is_concatenated) for t in tree.tokens] == [
        ("I'm", True), ("I'm", True), None, ("zum", False), ("zum", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "text"),
    {
        "typo": sentence("a b", row(1, "a", feats="Number=Sing|Typo=Yes"), row(2, "b", 1)),
        "style": sentence("a", row(1, "a", feats="Style=Coll")),
        "foreign": sentence("a", row(1, "a", feats="Foreign=Yes")),
        "reparandum": sentence("a b", row(1, "a"), row(2, "b", 1, deprel="reparandum")),
        "correction": sentence("a", row(1, "a", misc="SpaceAfter=No|CorrectForm=b")),
        "long": sentence(" ".join("a" * 65), *(row(i, "a") for i in range(1, 66))),
        "text-mismatch": sentence("a c", row(1, "a"), row(2, "b", 1)),
        "no-text": row(1, "a") + "\n\n",
    }.items(),
)
def test_a_sentence_is_left_out_for_a_reason(tmp_path: Path, reason: str, text: str) -> None:
    kept = sentence(" ".join("a" * 64), *(row(i, "a") for i in range(1, 65)))
    found, dropped = read(tmp_path, text + kept)
    assert (len(found), dropped) == (1, {reason: 1})


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        ("line 3: 9 columns; expected the 10 of CoNLL-U", sentence("a", row(1, "a").removesuffix("\t_"))),
        ("line 4: the file ends inside a sentence (sent_id s)", sentence("a b", row(1, "a"), row(2, "b"))[:-1]),
        ("line 4: ID '3' and HEAD '0'; expected the word 2", sentence("a b", row(1, "a"), row(3, "b"))),
        ("line 3: ID '1' and HEAD '_'; expected the word 1", sentence("a", row(1, "a", "_"))),
        ("line 3: HEAD 2 in a sentence of 1 words", sentence("a", row(1, "a", 2))),
    ],
)
def test_a_file_that_is_no_conllu_is_refused_in_a_line(tmp_path: Path, message: str, raw: str) -> None:
    with pytest.raises(study.DataError) as refused:
        read(tmp_path, raw)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_latin_1_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "xx_own-ud-test.conllu"
    path.write_bytes(sentence("é", row(1, "é")).encode("latin-1"))
    with pytest.raises(study.DataError, match="line 2: byte 0xe9 is not UTF-8"):
        list(trees.read_trees(path, "xx_own", Counter()))


@pytest.mark.data
def test_every_tree_of_the_real_treebanks_is_counted_and_spells_its_sentence(real_data: Path) -> None:
    for path in sorted((real_data / "ud").glob("*.conllu")):
        dropped: Counter[str] = Counter()
        sentences = 0
        for tree in trees.read_trees(path, path.stem, dropped):
            sentences += 1
            for token in tree.tokens:
                shown = tree.text[token.start : token.end]
                assert shown.split() == token.form.split() or (token.multiword_token and shown == token.multiword_token.form)
        assert sentences + dropped.total() == path.read_text(encoding="utf-8").count("# sent_id = ")
        assert sentences > 0.9 * (sentences + dropped.total())
        assert not dropped["text-mismatch"]
