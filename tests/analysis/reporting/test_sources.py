"""Each sentence of results.md is followed to the rows of the tables that it names, and its numbers are looked for there."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.analysis import analyse
from gardenpath.analysis.model_results import join_results, select_factors
from gardenpath.analysis.reporting.manuscript import paste_multiverse, ready_to_paste
from gardenpath.analysis.reporting.references import REFERENCES
from gardenpath.analysis.reporting.wording.factors import summarise_effects
from gardenpath.study import TABLES, AnalysisSection, HypothesisSection, check
from gardenpath.study.formula_columns import add_formula_columns

from ..made_studies import ANYONE, INPUTS, STUDIES, build_pair_tables

Tables = dict[str, pd.DataFrame]
VERSIONS = {"gardenpath": "9.8.7", "glmm": "6.5.4", "lme4": "3.2.1"}

# What a sentence says with a number that is of the method, not of the data.
PHRASES = [
    r"ICC\(2,k\)",
    r"(95|90)% (CI|Wilson|Cousineau|interval)",
    r"80% of repetitions",
    r"coded \+\.5 \(grammatical\) and −\.5",
    r"p(_BH)? [<≥] \.0[15]",
    r"tests at \.2 ",
    r"at least four of five",
    r"below 0\.5 in",
]
NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>−)?(?P<digits>\d+/\d+|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?P<unit>%| ms)?(?![\w/])"
)
SOURCE = re.compile(r"(?:^|; )(?P<table>\w+), rows? (?P<rows>\d[\d, to]*?)(?= \(|:|;|\.?$)[^`;]*(?P<values>`[^`]*`(?:, `[^`]*`)*)?")


@dataclass(frozen=True)
class Cited:
    """A sentence of results.md, with the table whose caption it is, and its footnote."""

    text: str
    note: str


def read_sentences(page: str) -> list[Cited]:
    """Return each sentence of results.md with its footnote; a text without one is an error."""
    told, _, rest = page.partition("## Sources\n")
    notes = dict(re.findall(r"^\[\^(\d+)\]: (.*)$", rest, flags=re.MULTILINE))
    sentences: list[Cited] = []
    for block in told.partition("## References")[0].strip().split("\n\n"):
        if block.startswith("|"):
            sentences[-1] = Cited(f"{sentences[-1].text}\n{block}", sentences[-1].note)
        elif not block.startswith("#"):
            *marked, after = re.split(r"\[\^(\d+)\]", block)
            assert after == "", f"no footnote: {after}"
            sentences += [Cited(text.strip(), notes[number]) for text, number in zip(marked[::2], marked[1::2], strict=True)]
    return sentences


def compute(value: str, rows: pd.DataFrame) -> Iterator[float]:
    """Yield what a footnote says is computed of rows."""
    kind, _, of = value.partition(" ")
    if value == "count":
        yield len(rows)
    elif value.startswith("count by "):
        yield from rows[of.removeprefix("by ")].value_counts()
    elif kind == "count":
        yield rows.eval(of, engine="python").fillna(False).sum()
    elif kind == "distinct":
        yield rows[of].nunique()
    elif kind in ("min", "max", "median", "sum"):
        yield getattr(rows[of], kind)()
    else:
        yield from pd.to_numeric(rows.eval(value, engine="python"), errors="coerce").dropna()


@dataclass(frozen=True)
class Numbers:
    """What a sentence may say: numbers of cells and what is computed of them, whether of ms, and p."""

    exact: list[float]
    milliseconds: list[float]
    probabilities: list[float]

    def supports(self, found: re.Match[str], before: str) -> bool:
        """Return whether a number of a text is a rounding of one of these."""
        digits, sign = found["digits"].replace(",", ""), -1 if found["sign"] else 1
        if before.endswith("< "):
            return any(p < float(digits) for p in self.probabilities)
        if "/" in digits:
            return any(abs(sign * Fraction(digits) - one) < 1e-9 for one in self.exact)
        places = len(digits.partition(".")[2])
        value, scale = sign * float(digits), 100 if found["unit"] == "%" else 1
        allowed = 0.5 * 10**-places * (1 + 1e-9)
        if places or scale == 100:
            return any(abs(scale * one - value) <= allowed for one in self.exact)
        return any(one == value for one in self.exact) or any(abs(one - value) <= allowed for one in self.milliseconds)


def gather_numbers(note: str, tables: Tables, shift: int = 0) -> Numbers:
    """Return the numbers that a footnote names; with a `shift`, those of rows so much further down."""
    exact, milliseconds, probabilities = [], [], []
    for source in SOURCE.finditer(note):
        table = tables[source["table"]]
        if source["table"] == "effects":
            fits = tables["models"]
            known = [name for name in fits if name not in table or name == "model_id"]
            table = table.merge(fits.loc[fits["kept"], known], on="model_id", how="left")
        numbers = []
        for part in source["rows"].split(", "):
            first, _, last = part.partition(" to ")
            numbers += range(int(first) - 1, int(last or first))
        rows = table.iloc[[(number + shift) % len(table) for number in numbers]]
        for name in rows:
            cells = rows[name].dropna()
            if pd.api.types.is_bool_dtype(cells):
                continue
            if pd.api.types.is_numeric_dtype(cells):
                values = [float(cell) for cell in cells]
                exact += values
                milliseconds += values if str(name).startswith("ms") or name == "raw" else []
                probabilities += values if str(name).startswith("p") else []
            else:
                texts = [found for cell in cells.unique() for found in re.findall(r"(\d+(?:\.\d+)?)(%?)", str(cell))]
                exact += [float(number) / (100 if unit else 1) for number, unit in texts]
        for value in re.findall("`([^`]*)`", source["values"] or ""):
            computed = [float(number) for number in compute(value, rows)]
            exact += computed
            exact += [float(number) for number in re.findall(r"\d+(?:\.\d+)?", value)]
            milliseconds += computed if value.endswith(" ms") else []
    return Numbers(exact, milliseconds, probabilities)


def list_numbers(text: str) -> list[tuple[re.Match[str], str]]:
    """Return the numbers that a sentence says of data, each with what stands before it."""
    text = re.sub(r"`[^`]*`", "", text)
    for name in (*REFERENCES, *VERSIONS.values()):
        text = text.replace(name, "")
    for phrase in PHRASES:
        text = re.sub(phrase, "", text)
    return [(found, text[: found.start()]) for found in NUMBER.finditer(text)]


def find_unsupported(sentence: Cited, tables: Tables, shift: int = 0) -> list[str]:
    """Return the numbers of a sentence that are in none of the rows that it names."""
    numbers = gather_numbers(sentence.note, tables, shift)
    return [found.group() for found, before in list_numbers(sentence.text) if not numbers.supports(found, before)]


def build_choice_tables() -> Tables:
    """Return the minimal pairs with a choice between the members of each pair."""
    tables = build_pair_tables()
    rng = np.random.default_rng(4)
    rated = tables["responses"].query("prompt == 'acceptability'")
    wins = np.where(rng.random(len(rated)) < 0.7, "grammatical", "ungrammatical")
    chosen = rated.assign(task="choice", prompt="better", condition="grammatical+ungrammatical", response=wins)
    responses = check(add_formula_columns(chosen, chosen), "responses")
    return {**tables, "responses": responses, "readings": tables["readings"].head(0)}


# A sentence shows each word beside one that does not fit it, and does not go on after a wrong choice.
MAZE = """
name = "crossing"
language = "en"
seed = 3
materials = { files = ["items.csv"] }
design = { lists = 4 }
[procedure.target]
show = "maze"
[procedure.tasks.maze]
kind = "maze"
[analysis.exclude]
min_maze_accuracy = 0
[simulate.noun]
log_rt = { critical = 0.1 }
"""
ITEMS = "paradigm,phenomenon,item,condition,sentence,alternatives,factors\n" + "".join(
    f"crossing,agreement,i{n},{noun}.{verb},The {noun} near it [{verb}] old and red.,Of went than is cats sang eat him.,"
    + ('"noun: key, keys | verb: was, were"\n' if n == 0 else "\n")
    for n in range(12)
    for noun in ("key", "keys")
    for verb in ("was", "were")
)
HYPOTHESES = {
    "reading": (
        HypothesisSection("extraction", "log_rt", direction="positive", primary=True, sesoi=0.05),
        HypothesisSection("extraction:noun", "log_rt", sides=2),
    ),
    "answers": (
        HypothesisSection("extraction", "correct", "fewer right", direction="negative", sides=1, correction="holm"),
        HypothesisSection("extraction", "yes", "accepted", correction="holm", sesoi=0.3),
    ),
}
MADE = [pytest.param(name, marks=pytest.mark.r) if one.needs_r else name for name, one in STUDIES.items()]


def collect_maze(folder: Path) -> Tables:
    """Return the tables of a simulated study of Maze, whose readers err."""
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(MAZE)
    made = study.load(folder / "study.toml")
    effects = experiment.Effects(terms=made.simulate)
    experiment.simulate(experiment.build_list_files(made), folder / "data", participants=12, seed=2, effects=effects)
    return experiment.collect(folder / "data")


@functools.cache
def write_results(name: str, folder: Path) -> tuple[str, Tables]:
    """Return results.md of a study, and the tables that it was written beside, read from their files."""
    settings = STUDIES[name].settings if name in STUDIES else AnalysisSection(exclude=ANYONE)
    if name in STUDIES:
        tables = STUDIES[name].build_tables()
    else:
        tables = build_choice_tables() if name == "choices" else collect_maze(folder)
    inputs = {name: tables[name] for name in INPUTS if name in tables}
    found = analyse(inputs, settings, hypotheses=HYPOTHESES.get(name, ()))
    given = {**found, "sessions": tables["sessions"]}
    for table, frame in given.items():
        frame.to_csv(folder / f"{table}.csv", index=False)
    return ready_to_paste(given, VERSIONS), {table: study.read(folder / f"{table}.csv", table) for table in given}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studies")


@pytest.fixture(params=[*MADE, "choices", "maze"])
def pasted(request: pytest.FixtureRequest, folder: Path) -> tuple[str, Tables]:
    name = request.param
    if name in STUDIES and STUDIES[name].needs_r:
        request.getfixturevalue("pymer4")
    own = folder / name
    own.mkdir(exist_ok=True)
    return write_results(name, own)


def test_each_number_of_each_sentence_stands_in_the_rows_that_its_footnote_names(pasted: tuple[str, Tables]) -> None:
    page, tables = pasted
    sentences = read_sentences(page)
    assert len(sentences) > 10
    wrong = {sentence.text: numbers for sentence in sentences if (numbers := find_unsupported(sentence, tables))}
    assert not wrong


def test_every_footnote_names_rows_that_are_there(pasted: tuple[str, Tables]) -> None:
    page, tables = pasted
    for sentence in read_sentences(page):
        named = [*SOURCE.finditer(sentence.note)]
        assert named or sentence.note == "versions in results.md.meta.json.", sentence
        for source in named:
            assert max(map(int, re.findall(r"\d+", source["rows"]))) <= len(tables[source["table"]])


def test_each_number_of_what_a_multiverse_says_stands_in_its_rows(multiverse: pd.DataFrame, tmp_path: Path) -> None:
    multiverse.to_csv(tmp_path / "multiverse.csv", index=False)
    read = {"multiverse": study.read(tmp_path / "multiverse.csv", "multiverse")}
    sentences = read_sentences(paste_multiverse(read))
    assert len(sentences) == 1 + len(multiverse.groupby(["model_id", "term"]))
    assert not {one.text: numbers for one in sentences if (numbers := find_unsupported(one, read))}


def test_a_changed_number_or_another_row_is_found(pasted: tuple[str, Tables]) -> None:
    """The test above could fail: a last digit that is one more is seen in most numbers, the next row in nearly all."""
    page, tables = pasted
    seen, shifted, single = [], [], 0
    for sentence in read_sentences(page):
        numbers = gather_numbers(sentence.note, tables)
        for found, before in list_numbers(sentence.text.partition("\n")[0]):
            if "/" in found["digits"] or before.endswith("< "):
                continue
            other = found["digits"][:-1] + str((int(found["digits"][-1]) + 1) % 10)
            text = (found["sign"] or "") + other + (found["unit"] or "")
            again = NUMBER.fullmatch(text)
            assert again is not None
            if "." in text or "%" in text:  # small counts stand in many cells
                seen.append(not numbers.supports(again, before))
        if "effects, row " in sentence.note and any("." in found.group() for found, _ in list_numbers(sentence.text)):
            single += 1
            shifted.append(bool(find_unsupported(sentence, tables, shift=1)))
    assert np.mean(seen) > 0.8
    assert not single or np.mean(shifted) > 0.9


def test_the_text_tells_simple_effects_where_the_interaction_passes_or_is_a_hypothesis() -> None:
    found = analyse(STUDIES["reading"].build_tables(), STUDIES["reading"].settings)
    effects = found["effects"]
    crossed = effects["headline"] & (effects["factors"] == "extraction:noun")
    assert (effects.loc[crossed, "p_adjusted"] > 0.05).all()
    assert "simple effects (" not in ready_to_paste(found)
    at_critical = crossed & (effects["region"] == "critical")
    passing = effects.assign(p_adjusted=effects["p_adjusted"].mask(at_critical, 0.04))
    [one, two] = re.findall(r"^.*simple effects \(.*$", ready_to_paste({**found, "effects": passing}), flags=re.MULTILINE)
    assert "Holm over 2 simple effects of extraction" in one
    assert "Holm over 2 simple effects of noun" in two
    assert one.startswith("Log reading time, critical region, ")
    stated = effects[at_critical].assign(name="crossing", verdict="undecided", role="primary", sides=2, correction="none")
    stated = stated.assign(optimistic=False, p_adjusted=np.nan).reset_index(drop=True)
    stated = stated.reindex(columns=TABLES["hypotheses"].column_names)
    told = re.findall(r"^.*simple effects \(.*$", ready_to_paste({**found, "hypotheses": stated}), flags=re.MULTILINE)
    assert [line.partition("; Holm")[0] for line in told] == [one.partition("; Holm")[0]] * 2


def test_no_evidence_is_never_said_without_an_interval() -> None:
    for name in ("reading", "answers"):
        found = analyse(STUDIES[name].build_tables(), STUDIES[name].settings)
        models = select_factors(join_results(found))
        for models_, of_interest in ((models, ""), (models.assign(smallest=0.05), "the smallest effect of interest is 0.05")):
            unseen = [text.partition("no evidence ")[2] for text in summarise_effects(models_) if "no evidence" in text]
            assert unseen
            for text in unseen:
                effects = re.findall(r"\(([^()]*, p[^()]*)\)", text)
                assert effects
                assert all("95% CI [" in effect and of_interest in effect for effect in effects), text
