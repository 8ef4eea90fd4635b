"""The English grammar: BLiMP's 67 paradigms by name, each with pairs and critical words enough, or a note that says why not."""

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

import pytest

from gardenpath import stimuli
from gardenpath.stimuli.grammar.compilation import CompiledParadigm
from gardenpath.stimuli.grammar.critical_words import find_critical_words
from gardenpath.stimuli.grammar.generation import GeneratedMaterials
from gardenpath.stimuli.grammar.grammars import Grammar
from gardenpath.stimuli.grammar.guarantees import compile_with_guarantees

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "stimuli" / "grammar" / "languages" / "en"
PAGE = ROOT / "docs" / "grammars-english.md"
PAIRS, WORDS = 10_000, 20


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return stimuli.read_grammar(FOLDER / "blimp.toml")


@pytest.fixture(scope="module")
def compiled(grammar: Grammar) -> dict[str, CompiledParadigm]:
    return {name: compile_with_guarantees(grammar, name)[0] for name in grammar.paradigms}


@pytest.fixture(scope="module")
def words(compiled: dict[str, CompiledParadigm]) -> dict[str, frozenset[str]]:
    return {name: find_critical_words(each) for name, each in compiled.items()}


@pytest.fixture(scope="module")
def few(grammar: Grammar) -> GeneratedMaterials:
    return stimuli.generate(grammar, 3, seed=1)


def of_paradigms(generated: GeneratedMaterials) -> dict[str, list[stimuli.Item]]:
    found = defaultdict(list)
    for item in generated.materials.items:
        found[item.paradigm].append(item)
    return found


def shown(sentence: stimuli.Sentence) -> str:
    """Return a sentence with its regions marked as in items.csv."""
    text = sentence.text
    for region in sorted(sentence.regions, key=lambda region: -region.start):
        left, right = "[]" if region.name == "critical" else "{}"
        text = f"{text[: region.start]}{left}{text[region.start : region.end]}{right}{text[region.end :]}"
    return text


def test_names_and_phenomena_are_those_of_blimp(grammar: Grammar, real_data: Path) -> None:
    published = {}
    for path in (real_data / "blimp").glob("*.jsonl"):
        pair = json.loads(path.read_text().splitlines()[0])
        published[pair["UID"]] = pair["linguistics_term"]
    assert {name: rule.phenomenon for name, rule in grammar.paradigms.items()} == published


def test_there_are_67_paradigms_in_fifteen_lines_at_the_median(grammar: Grammar) -> None:
    assert len(grammar.paradigms) == 67
    blocks = (FOLDER / "blimp.toml").read_text().split("[paradigm.")[1:]
    lines = [sum(bool(line.strip()) and not line.startswith("#") for line in block.splitlines()) for block in blocks]
    assert len(lines) == 67
    assert median(lines) <= 15


def test_the_lexicon_has_three_hundred_lemmas_and_more() -> None:
    lemmas = {(row["category"], row["lemma"]) for path in FOLDER.glob("*.csv") for row in csv.DictReader(path.open(newline=""))}
    assert len(lemmas) >= 300


def test_each_has_pairs_and_critical_words_enough_or_a_note_why_not(
    grammar: Grammar, few: GeneratedMaterials, words: dict[str, frozenset[str]]
) -> None:
    assert [counted.paradigm for counted in few.counts if counted.total < PAIRS] == []
    scarce = {name for name, each in words.items() if len(each) < WORDS}
    assert scarce == {name for name, rule in grammar.paradigms.items() if "note" in rule.settings}


def test_what_is_counted_as_critical_is_what_is_drawn(few: GeneratedMaterials, words: dict[str, frozenset[str]]) -> None:
    for item in few.materials.items:
        for sentence in item.sentences.values():
            for region in sentence.regions:
                if region.name == "critical":
                    said = sentence.text[region.start : region.end].rstrip(".?")
                    known = {word.lower() for word in words[item.paradigm]}
                    assert said.lower() in known or {word.lower() for word in said.split()} <= known, item.id


def test_pairs_differ_and_check_finds_no_error(few: GeneratedMaterials) -> None:
    assert all(len({s.text for s in item.sentences.values()}) == 2 for item in few.materials.items)
    findings = stimuli.check(few.materials)
    assert [finding for finding in findings if finding.severity == "error"] == []
    unmeant = [f for f in findings if f.rule in ("word-count", "final-punctuation") and f.severity != "waived"]
    assert unmeant == []


def test_a_grammar_elsewhere_includes_lexicon_and_phrases(tmp_path: Path) -> None:
    page = PAGE.read_text()
    [shown_there] = re.findall("```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.toml").write_text(shown_there)
    generated = stimuli.generate(stimuli.read_grammar(tmp_path / "mine.toml"), 5, seed=1)
    assert all(" of " in s.text for item in generated.materials.items for s in item.sentences.values())


@pytest.mark.slow
def test_in_67_thousand_pairs_none_comes_twice_and_no_members_are_alike(grammar: Grammar, full: bool) -> None:
    n = 1000 if full else 40
    generated = stimuli.generate(grammar, n, seed=1)
    pairs = Counter((i.paradigm, *(s.text for s in i.sentences.values())) for i in generated.materials.items)
    assert len(pairs) == 67 * n
    assert [pair for pair in pairs if pair[1] == pair[2]] == []
    # Nothing is waived that no pair breaks.
    assert [f for f in stimuli.check(generated.materials) if f.severity == "error" or f.rule == "waiver"] == []


def test_the_table_of_the_page_is_what_the_grammar_holds(
    grammar: Grammar, words: dict[str, frozenset[str]], few: GeneratedMaterials, request: pytest.FixtureRequest
) -> None:
    samples = of_paradigms(few)
    rows = ["| paradigm | pairs | critical words | a pair |", "|---|--:|--:|---|"]
    for counted in few.counts:
        name = counted.paradigm
        pair = "<br>".join(shown(sentence) for sentence in samples[name][0].sentences.values())
        note = grammar.paradigms[name].settings.get("note")
        said = f"{len(words[name])}: {note}" if note else str(len(words[name]))
        rows.append(f"| `{name}` | {counted.total:,} | {said} | {pair} |")
    before, start, rest = PAGE.read_text().partition("<!-- table -->\n")
    _, end, after = rest.partition("<!-- end of table -->")
    page = before + start + "\n".join(rows) + "\n" + end + after
    if request.config.getoption("--update-pins"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "docs/grammars-english.md no longer holds; if the change is meant, run  make pins"
