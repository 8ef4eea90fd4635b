"""Grammars: what their lines mean, what is printed, and what is refused; every construct on a lexicon of thirty words."""

import csv
import itertools
from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli.grammar.compilation import CompiledParadigm, compile_paradigm
from gardenpath.stimuli.grammar.derivation_counts import Counts, count_derivations
from gardenpath.stimuli.grammar.grammar_files import read_grammar
from gardenpath.stimuli.grammar.grammars import Grammar
from gardenpath.stimuli.grammar.linearisation import find_entries, linearise_derivation
from gardenpath.stimuli.grammar.relations import Relation
from gardenpath.stimuli.items import Item, Question

from ..conftest import blocks

FOLDER = Path(__file__).parent / "grammar"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return read_grammar(FOLDER / "en" / "grammar.toml")


def items(compiled: CompiledParadigm, most: int = 200) -> list[Item]:
    """Return items from ranks spread over all."""
    counts = Counts().get_phrase_counts(compiled.alternatives)
    ranks = range(0, counts.total, -(-counts.total // most))
    return [linearise_derivation(compiled, counts.unrank(rank), n) for n, rank in enumerate(ranks, 1)]


def written(folder: Path, text: str, words: str = "form,category,number\ndog,N,sg\ndogs,N,pl\nbarks,V,\n") -> Path:
    (folder / "words.csv").write_text(words)
    path = folder / "grammar.toml"
    path.write_text(f'language = "en"\nlexicon = "words.csv"\n[features]\nnumber = ["sg", "pl"]\n{text}')
    return path


def nouns() -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / "en" / "nouns.csv").open()))


def test_a_count_is_that_of_the_grammar_worked_out_by_hand(grammar: Grammar) -> None:
    noun_phrases = {  # of names, three singular determiners and four plural ones
        animate: (0 if animate == "yes" else 2) + 7 * len([n for n in nouns() if n["animate"] == animate])
        for animate in ("yes", "no")
    }
    either = sum(noun_phrases.values())
    # read, open: nothing animate; hide, see: anything; admire: animate. Names say nothing of it.
    relative_clauses = 2 * noun_phrases["no"] + 2 * either + noun_phrases["yes"]
    gendered = 3  # boy, girl, aunt
    expected = {
        "anaphor_gender": 3 * gendered * 3 * (1 + relative_clauses),
        # names, rows of numbers.csv with one in the good member, two other nouns
        "numerals": 2 * 2 * 7 * 6,
        # sheep is no local noun, since its forms are one
        "attraction": sum(a["lemma"] != b["lemma"] and b["lemma"] != "sheep" for a in nouns() for b in nouns()),
        # `the` has no number, so that it agrees with nothing
        "existential_there": 4 * 2 * 1 + 4 * 2 * 2,
        # (Adv)? is absent, often or early; (it)? is there or not; sleep, arrive and think have a subject too
        "npi": 4 * 8 * 3 * 2,
    }
    assert {name: count_derivations(compile_paradigm(grammar, name).alternatives) for name in expected} == expected


def test_each_construct_prints_what_its_templates_say(grammar: Grammar) -> None:
    texts = {
        name: {
            tuple(sentence.text for sentence in item.sentences.values()) for item in items(compile_paradigm(grammar, name), 3000)
        }
        for name in grammar.paradigms
    }
    for name, pair in {
        "anaphor_gender": ("The boy hid himself.", "The boy hid herself."),
        "animate_subject": ("The aunt saw the hours.", "The hour saw the hours."),
        "npi": ("No aunt has ever often seen it.", "Some aunt has ever often seen it."),
        "numerals": ("Mary saw one girls and two boy.", "Mary saw two girls and one boy."),
        "existential_there": ("There was an aunt sleeping.", "There was this aunt sleeping."),
    }.items():
        assert pair in texts[name], name
    assert ("No girl has ever opened up.", "Some girl has ever opened up.") in texts["npi"]  # the column of an entry
    assert any(good.startswith("An aunt") and bad.startswith("These aunt") for good, bad in texts["frames"])
    for members in itertools.chain.from_iterable(texts.values()):
        assert len(set(members)) == len(members)
        assert all("  " not in text and text[0].isupper() and text[-1] in ".?" for text in members)


def test_relations_hold_in_what_is_printed(grammar: Grammar) -> None:
    for name, holds in {
        "verb_agreement": lambda e: e["V"].lemma == e["V*"].lemma and e["V"].form != e["V*"].form,
        "irregular_past": lambda e: "past" in e["V"].features["vform"] and "en" in e["V*"].features["vform"],
        "animate_subject": lambda e: e["S"].features["animate"] != e["S*"].features["animate"] and e["O"].lemma != e["S"].lemma,
        "relative_clauses": lambda e: e["L@sg"].lemma == e["L@pl"].lemma != e["H"].lemma,
    }.items():
        compiled = compile_paradigm(grammar, name)
        counts = Counts().get_phrase_counts(compiled.alternatives)
        for rank in range(0, counts.total, -(-counts.total // 100)):
            assert holds(find_entries(compiled, counts.unrank(rank))), name


def test_regions_lie_on_their_words(grammar: Grammar) -> None:
    for item in items(compile_paradigm(grammar, "attraction")):
        for sentence in item.sentences.values():
            marked = {r.name: sentence.text[r.start : r.end] for r in sentence.regions}
            assert marked["preposition"] == "near"
            assert marked["critical"] in {"was", "were"}
            assert sentence.list_region_words("spill")[0].text == "there."
    articles = [item.sentences["grammatical"] for item in items(compile_paradigm(grammar, "frames"), 20)]
    assert {s.text[s.regions[0].start : s.regions[0].end] for s in articles} == {"A", "An"}


def test_items_have_a_sentence_for_each_condition_and_questions_in_their_share(grammar: Grammar) -> None:
    found = items(compile_paradigm(grammar, "attraction"))
    assert list(found[0].sentences) == ["grammatical.sg", "grammatical.pl", "ungrammatical.sg", "ungrammatical.pl"]
    assert sum(item.question is not None for item in found) == len(found) // 2
    assert found[1].question is not None
    assert found[1].question.text.startswith("Was a")
    fillers = items(compile_paradigm(grammar, "adverbs"), 5)
    assert list(fillers[0].sentences) == ["only"]


ASKED = """
language = "en"
lexicon = "words.csv"
[filler.verbs]
sentence = "the <S> saw <D> <O>."
n = 2
slots = { S = "N", O = "N" }
where = ["S != O"]
question = { text = "Who saw <D> <O>?", answer = "ANSWER", choices = ["<D> <S>", "OTHER"] }
"""


def asked(folder: Path, answer: str, other: str) -> list[Question | None]:
    """Return the questions of both items of a grammar with two nouns, of which one begins with a vowel."""
    (folder / "words.csv").write_text("lemma,category\nuncle,N\nboy,N\na,D\n")
    (folder / "g.toml").write_text(ASKED.replace("ANSWER", answer).replace("OTHER", other))
    return [item.question for item in items(compile_paradigm(read_grammar(folder / "g.toml"), "verbs"), 2)]


def test_the_answer_to_a_question_is_printed_from_the_items_own_words(tmp_path: Path) -> None:
    found = asked(tmp_path, "<D> <S>", "<D> <O>")
    assert {(q.text, q.answers["only"], q.choices) for q in found if q} == {
        ("Who saw a boy?", "an uncle", ("an uncle", "a boy")),
        ("Who saw an uncle?", "a boy", ("a boy", "an uncle")),
    }


@pytest.mark.parametrize(
    ("answer", "other", "message"),
    [
        ("<D> <O>", "nobody", "line 9: the answer '.*' is no choice; expected one of .*, nobody"),
        ("<D> <S>", "<D> <S>", "line 9: choices are equal: .*; expected slots that a line keeps apart"),
        ("<X>", "nobody", "line 9: question: unknown slot 'X'"),
        ("maybe", "nobody", "line 9: the answer 'maybe' is no choice"),
    ],
)
def test_an_answer_that_is_no_choice_is_refused_with_its_line(answer: str, other: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        asked(tmp_path, answer, other)


def test_a_line_may_be_left_out_and_a_constraint_added(grammar: Grammar) -> None:
    whole = compile_paradigm(grammar, "numerals")
    differ = next(line for line in whole.lines if line.text == "N != M")
    assert count_derivations(compile_paradigm(grammar, "numerals", dropped_lines=frozenset([differ])).alternatives) == 2 * 2 * 7 * 7
    short = Relation(("N",), (lambda entry: len(entry.form) < 5,), bool, differ)
    assert count_derivations(compile_paradigm(grammar, "numerals", extra=[short]).alternatives) == 2 * 2 * 1 * 6  # boys
    spec = next(line for line in whole.lines if line.text == "M = N & sg")
    more = compile_paradigm(grammar, "numerals", dropped_lines=frozenset([spec]))
    assert count_derivations(more.alternatives) > count_derivations(whole.alternatives)


def test_slots_that_are_kept_apart_have_classes_of_one_lemma(grammar: Grammar) -> None:
    compiled = compile_paradigm(grammar, "irregular_past", lemma_slots=["V", "S"])
    graph = compiled.alternatives.members[0].graph
    assert all(len(set(lemmas)) == 1 for variable in graph.variables for lemmas in variable.classes)
    subject = next(phrase for phrase in graph.phrases if phrase.name == "S")
    assert {"boy", "girl"} <= set(subject.lemmas["S"])
    assert count_derivations(compiled.alternatives) == count_derivations(compile_paradigm(grammar, "irregular_past").alternatives)


FAULTS = {
    "[paradigm]\np = 3\n": "line 6: paradigm.p is 3; expected a table, [paradigm.p]",
    '[filler.p]\nsentence = "<N>."\nn = "many"\n': "line 7: n is 'many'; expected a whole number from 1",
    'x = 1\n[paradigm.p]\ngood = "<N>."\nbad = "<M>."\n': "unknown slot 'M'",
    '[paradigm.p]\ngood = "<N>."\nbad = "a <N>."\nslots = { N = "N & numbr=sg" }\n': "line 8: slot N: unknown feature 'numbr'; did you mean 'number'?",
    '[paradigm.p]\ngood = "<N>."\nbad = "a <N>."\nslots = { N = "N & number=sgg" }\n': "unknown value of number 'sgg'; did you mean 'sg'?",
    '[paradigm.p]\ngood = "<V>."\nbad = "a <V>."\nslots = { V = "V & sg" }\n': "line 8: slot V: no entry of the lexicon meets this restriction",
    '[paradigm.p]\ngood = "<N>."\nbad = "a <N>."\nslots = { N = "N", V = "V" }\n': "line 8: slot V is not used in any template",
    '[paradigm.p]\ngood = "<N>."\nbad = "a {{ N }}."\n': "line 7: 'a {{ N }}.' is a jinja2 template; expected slots as <S>: what a program prints cannot be counted",
    '[paradigm.p]\ngood = "[<N>."\nbad = "a <N>."\n': "line 6: '[' is not closed",
    '[paradigm.p]\ngood = "<N> <V>."\nbad = "<V> <N>."\nwhere = ["V subject N"]\n': "line 8: 'V subject N' is no line of where",
    '[paradigm.p]\ngood = "<N> <V>."\nbad = "<V> <N>."\nwhere = ["V.subjet ~ N"]\n': "unknown restriction column 'subjet'; did you mean 'subject'?",
    '[paradigm.p]\ngood = "<N> <V>."\nbad = "<V> <N>."\nwhere = ["V(N)"]\n': "1 arguments for V, whose restriction columns are none",
    '[paradigm.p]\ngood = "<N>."\n': "line 5: no sentence for ungrammatical",
    '[paradigm.p]\ngood = "<X>."\nbad = "a <X>."\n[phrases.X]\nhead = "N"\nis = "<N> <X>"\n': "line 8: phrase X has no end: each way to write it holds a phrase that holds it again",
    '[paradigm.p]\ngood = "<X>."\nbad = "a <X>."\n[phrases.X]\nhead = "N"\nis = ["<N>", "<N> <Y>"]\n[phrases.Y]\nis = "<X>"\n': "phrase X has no end: it holds itself (X -> Y -> X); expected depth = 1",
    '[paradigm.p]\ngood = "<X>."\nbad = "a <X>."\nwhere = ["X: sg"]\n[phrases.X]\nis = "<N>"\n': "line 8: phrase X has no head that 'X' could stand for",
    '[paradigm.p]\ngood = "<X>."\nbad = "<X*>."\n[phrases.X]\nhead = "N"\nis = "<N>"\n': "<X*> is a phrase; counterparts and levels are of words",
    '[paradigm.p]\ngood = "<N>."\nbad = "a <N>."\ngod = 1\n': "line 8: unknown key 'god'; did you mean 'good'?",
}


@pytest.mark.parametrize(("text", "message"), FAULTS.items(), ids=range(len(FAULTS)))
def test_a_fault_is_named_with_its_line_and_what_was_expected(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(study.DataError) as error:
        read_grammar(written(tmp_path, text))
    assert message in str(error.value)


@pytest.mark.parametrize("words", ["", "category,form\n"])
def test_without_words_nothing_is_said_of_what_would_need_them(tmp_path: Path, words: str) -> None:
    with pytest.raises(study.DataError) as error:
        read_grammar(written(tmp_path, '[paradigm.p]\ngood = "<N>."\nbad = "a <N>."\nslots = { N = "N & sg" }\n', words))
    [fault] = error.value.faults
    assert "no word; expected a header with category and lemma, and a word a row" in fault
    (tmp_path / "words.csv").unlink()
    with pytest.raises(study.DataError) as error:
        read_grammar(tmp_path / "grammar.toml")
    [fault] = error.value.faults
    assert "there is no such file" in fault


def test_a_template_that_cannot_be_read_leaves_no_slot_unused(tmp_path: Path) -> None:
    text = '[paradigm.p]\ngood = "{{ N }} <M>."\nbad = "<M>."\nslots = { N = "N", M = "N" }\n'
    with pytest.raises(study.DataError) as error:
        read_grammar(written(tmp_path, text))
    [fault] = error.value.faults
    assert "is a jinja2 template" in fault


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    text = '[paradigm.p]\ngood = "<N> <V>."\nbad = "<V> <N>."\nslots = { N = "N & plu", V = "W" }\nwhere = ["V(X)", "N: sgg"]\n'
    words = "form,category,number,gendr\ndog,N,sg,\ndogs,N,pll,\n,V,,\n"
    with pytest.raises(study.DataError) as error:
        read_grammar(written(tmp_path, text, words))
    found = [fault.replace(str(tmp_path), "").lstrip("/") for fault in error.value.faults]
    assert [fault.split(":")[0] for fault in found] == [
        "grammar.toml, line 8",
        "grammar.toml, line 8",
        "grammar.toml, line 9",
        "grammar.toml, line 9",
        "words.csv, line 1",
        "words.csv, line 3",
        "words.csv, line 4",
    ]


def test_a_restriction_of_the_lexicon_that_nothing_meets_is_named(tmp_path: Path) -> None:
    words = "form,category,number,subject\ndog,N,sg,\nbarks,V,,number=sg\nbark,V,,number=pl & V\n"
    with pytest.raises(study.DataError, match=r"words.csv, line 4: subject: no entry of the lexicon meets"):
        read_grammar(written(tmp_path, '[paradigm.p]\ngood = "<N> <V>."\nbad = "<V> <N>."\n', words))


@pytest.mark.parametrize(
    ("language", "template", "text"),
    [
        ("nl", "ijs <N>", "IJs dog."),
        ("tr", "istasyon <N>", "İstasyon dog."),
        ("tr", "ılık <N>", "Ilık dog."),
        ("en", "a ugly <N>", "An ugly dog."),
        ("fr", "près de le <N>", "Près du dog."),
    ],
)
def test_words_that_meet_and_capitals_follow_the_language(tmp_path: Path, language: str, template: str, text: str) -> None:
    path = written(tmp_path, f'[paradigm.p]\ngood = "{template}."\nbad = "<N>."\nslots = {{ N = "N & sg" }}\n')
    path.write_text(path.read_text().replace('"en"', f'"{language}"'))
    (item,) = items(compile_paradigm(read_grammar(path), "p"))
    assert item.sentences["grammatical"].text == text


def test_a_language_without_spaces_keeps_its_words(tmp_path: Path) -> None:
    words = "form,category,number\n猫が,N,sg\n走る,V,\n"
    path = written(tmp_path, '[paradigm.p]\ngood = "<N> [<V>]。"\nbad = "[<V>] <N>。"\n', words)
    path.write_text('sep = ""\n' + path.read_text().replace('"en"', '"ja"'))
    (item,) = items(compile_paradigm(read_grammar(path), "p"))
    sentence = item.sentences["grammatical"]
    assert sentence.text == "猫が走る。"
    assert [word.text for word in sentence.list_words()] == ["猫が", "走る。"]
    assert [word.text for word in sentence.list_region_words("critical")] == ["走る。"]


def test_a_rule_whose_tests_fail_is_refused(tmp_path: Path) -> None:
    rule = '[[rewrite]]\nwords = "one"\nto = "1"\ntests = { "one dog" = "a dog" }\n[paradigm.p]\ngood = "one <N>."\nbad = "<N>."\n'
    with pytest.raises(study.DataError, match=r"line \d+: the rule makes '1 dog' of 'one dog'; its tests expect 'a dog'"):
        read_grammar(written(tmp_path, rule))


def test_every_rule_of_a_language_passes_the_tests_beside_it() -> None:
    from gardenpath.stimuli.grammar import rewrite_rules
    from gardenpath.stimuli.grammar.faults import Faults, Line

    for code, stated in rewrite_rules._read_languages().items():
        rules = stated.get("rewrite", [])
        faults = Faults()
        rewrite_rules.read_language(code, " ", rules, [Line("languages.toml", 1)] * len(rules), faults)
        faults.raise_all()
        assert all(rule["tests"] for rule in rules)


def test_the_parts_of_a_grammar_shown_in_docs_make_one(tmp_path: Path) -> None:
    """With the words of the example beside them, which has the same paradigms."""
    shown = "".join(block for block in blocks(ROOT / "docs" / "grammars.md", "toml") if "rewrite" not in block)
    (tmp_path / "grammar.toml").write_text(f'{shown}[forms.V]\npast = ""\n')
    (tmp_path / "words.csv").write_text((ROOT / "examples" / "grammar" / "words.csv").read_text())
    ours = stimuli.generate(read_grammar(tmp_path / "grammar.toml"), 10, seed=1)
    example = stimuli.generate(read_grammar(ROOT / "examples" / "grammar" / "agreement.toml"), 10, seed=1)
    assert ours.materials == example.materials
    assert [finding for finding in stimuli.check(ours.materials) if finding.severity == "error"] == []
