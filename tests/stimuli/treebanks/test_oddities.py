"""What comes of every odd sentence of two small treebanks, as written beside it."""

from collections import Counter
from pathlib import Path

import pytest

from gardenpath import stimuli
from gardenpath.stimuli.treebanks.extraction import Extraction

from . import oddities
from .conllu import conllu

Sentences = list[tuple[str, str, str]]


def extracted(folder: Path, language: str, prefix: str, sentences: Sentences, forms: str) -> Extraction:
    bank = folder / "ud" / f"UD_Odd-{prefix}"
    bank.mkdir(parents=True)
    (bank / f"{prefix}_odd-ud-test.conllu").write_text(conllu(*((text, rows) for text, _, rows in sentences)), "utf-8")
    (folder / "um").mkdir()
    (folder / "um" / language).write_text(forms, "utf-8")
    return stimuli.extract(folder / "ud", folder / "um", language=language, phenomena=["sv-number"], minimum=1)


@pytest.mark.parametrize(
    ("language", "prefix", "sentences", "forms"),
    [("eng", "en", oddities.ENGLISH, oddities.ENGLISH_FORMS), ("nld", "nl", oddities.DUTCH, oddities.DUTCH_FORMS)],
)
def test_every_odd_sentence_gives_what_is_written_beside_it(
    tmp_path: Path, language: str, prefix: str, sentences: Sentences, forms: str
) -> None:
    done = extracted(tmp_path, language, prefix, sentences, forms)
    found: dict[str, list[str]] = {f"s{number}": [] for number in range(1, len(sentences) + 1)}
    for item in done.pool.items:
        assert item.sentences["grammatical"].text == sentences[int(item.extra["sent_id"][1:]) - 1][0]
        found[item.extra["sent_id"]].append(item.sentences["ungrammatical"].text)
    for row in done.tables["rejected_subjects"].itertuples():
        found[str(row.sent_id)].append(f"[{row.reason}]")
    (bank,) = done.notes["treebanks"]
    left_out = Counter(f"[{reason}]" for reason in Counter(bank["left_out"]).elements())
    nothing = {name for name, results in found.items() if not results}
    assert Counter(sentences[int(name[1:]) - 1][1] for name in nothing) == left_out
    expected = {f"s{n}": [result] for n, (_, result, _) in enumerate(sentences, start=1) if f"s{n}" not in nothing}
    assert {name: results for name, results in found.items() if results} == expected


def test_a_word_beside_the_verb_is_an_attractor_and_a_capital_stays(tmp_path: Path) -> None:
    done = extracted(tmp_path, "eng", "en", oddities.ENGLISH, oddities.ENGLISH_FORMS)
    by_text = {item.sentences["grammatical"].text: item for item in done.pool.items}
    keys = by_text["The keys to the cabinet stay."]
    assert (keys.extra["incongruent"], keys.extra["congruent"], keys.extra["distance"]) == ("1", "0", "4")
    assert keys.extra["attractors"] == '[["cabinet", 16, 23, "incongruent"]]'
    question = by_text["Does the cat stay?"]
    assert (question.extra["word"], question.extra["other_form"], question.extra["order"]) == ("Does", "Do", "VS")


def test_a_table_in_another_script_is_read_but_its_forms_are_not_put_into_sentences(tmp_path: Path) -> None:
    """Uyghur in Arabic letters, its table in Latin ones: the plural comes from the trees."""
    one = "ئۇ ئۇ PRON Case=Nom|Number=Sing|Person=3 2 nsubj\nكەلدى كەل VERB Number=Sing|VerbForm=Fin 0 root"
    several = "ئۇلار ئۇ PRON Case=Nom|Number=Plur|Person=3 2 nsubj\nكەلدىلەر كەل VERB Number=Plur|VerbForm=Fin 0 root"
    sentences = [("ئۇ كەلدى", "", one), ("ئۇلار كەلدىلەر", "", several)]
    forms = "kel\tkeldi\tV;IND;3;SG\nkel\tkeldiler\tV;IND;3;PL\n"
    done = extracted(tmp_path, "uig", "ug", sentences, forms)
    rejected = {(row.other_form, row.reason) for row in done.tables["rejected_subjects"].itertuples()}
    assert ("keldiler", "other-script") in rejected
    assert {item.sentences["ungrammatical"].text for item in done.pool.items} == {"ئۇ كەلدىلەر", "ئۇلار كەلدى"}
