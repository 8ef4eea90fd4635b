"""What a table is declared with, and columns that several tables have."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Column:
    """A column: its name, type (string, int, float, bool), unit or meaning, and whether cells may be empty."""

    name: str
    type: str
    meaning: str
    empty: bool = False


@dataclass(frozen=True)
class Maker:
    """A command that makes tables: the folder of a study where they lie, and what a reader misses without them."""

    command: str
    folder: str
    about: str


SELECT = Maker("select", "selection", "which items were chosen, and how alike they are")
DESIGN = Maker("design", "versions", "what is shown to whom")
SIMULATE = Maker("simulate", "results", "the power of a design")
COLLECT = Maker("collect", "tables", "who did what")
SCORE = Maker("score", "scores", "scores of language models")
ANALYSE = Maker("analyse", "results", "exclusions, models of ratings and reading times, agreement")
ALIGN = Maker("align", "results", "alignment self-test, reading times by surprisal, gains on held-out readings")
EVALUATE = Maker("evaluate", "results", "language models on minimal pairs")
EXTRACT = Maker("extract", "pairs", "agreement pairs out of treebanks")
DRAFT = Maker("draft", "drafts", "what a model was asked for, and what came of it")
REVIEW = Maker("review", "drafts", "what people decided about drafts, and how far they agree")
JUDGE = Maker("judge", "results", "what language models answer when asked to judge sentences")
SWEEP = Maker("sweep", "results", "which language models were computed on which languages")
MAZE = Maker("maze", "maze", "distractors for Maze and what they cost language models")
DEVIATIONS = Maker("deviations", "results", "what departs from the preregistration")
# Those whose tables every study comes to have, in the order in which a reader asks for them.
STEPS = (COLLECT, SCORE, ANALYSE, ALIGN, EVALUATE)


@dataclass(frozen=True)
class Table:
    """A table's name, what one row of it is, its columns in order, and the columns that together name a row.

    `made_by` is the command that writes it, None for a table that only a function returns; not `always`: the command writes it on
    request, or where there is something to say. With `factors`, a column for each factor of the study follows those declared.
    Columns that came `later` may be absent from a file, and are empty then. `further` are columns on request, whose names end as
    they were asked for: `renyi_*` is renyi_2, renyi_inf ...
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    made_by: Maker | None
    always: bool = True
    factors: bool = False
    later: tuple[str, ...] = ()
    further: tuple[Column, ...] = ()

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def on_request(self, names: Iterable[str]) -> tuple[Column, ...]:
        """Return those of these columns that are `further` ones, by the names they have."""
        kinds = sorted(self.further, key=lambda kind: -len(kind.name))  # the most particular first
        found = ((name, next((k for k in kinds if name.startswith(k.name.rstrip("*"))), None)) for name in names)
        return tuple(replace(kind, name=name) for name, kind in found if kind and name not in self.names)


def columns(text: str) -> tuple[Column, ...]:
    """Read `name type[?] meaning` lines; `?` allows empty cells."""
    columns = []
    for line in filter(None, text.splitlines()):
        name, kind, meaning = line.split(None, 2)
        columns.append(Column(name, kind.rstrip("?"), meaning, kind.endswith("?")))
    return tuple(columns)


PLACE = """
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one participant's run of one version
experiment    string   experiment of the design, E1 ...
version       string   counterbalanced version (list) of the experiment, V1 ...
trial         int      presented position in the session, from 0
role          string   target, filler, catch, practice or attention
paradigm      string   paradigm of the item
item          string   item, unique in a study
condition     string   condition shown
"""

# What a formula needs of a trial beside its measure; computed, so that no file has to hold it.
COMPUTED = """
log_trial     float    natural log of (trial + 1)
question_accuracy float? participant's share of comprehension questions answered right, practice left out; empty: none asked
"""
OF_FACTOR = "level of this factor of the study in the condition shown; empty where that has none, or of a pair two"

MODEL = """
model         string   model id, path or ngram file
protocol      string   how text becomes tokens and which are scored
"""

COEFFICIENTS = """
engine        string   program that fitted the model
formula       string   model as fitted
term          string   fixed effect
estimate      float?   coefficient, in units of the response (binomial: log odds); empty where there is none, and note says why
se            float?   standard error
df            float?   Satterthwaite degrees of freedom; empty of binomial models
t             float?   estimate / se; z where there is no df
p             float?   two-sided p-value
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
n             int      rows in the model
participants  int      participants in the model
n_items       int      items in the model
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
note          string?  what a reader has to know of this fit, in a sentence
"""

FITS = """
model         string   name of the model, the same in every step
step          int      order, from 0
engine        string   program that fitted it
optimizer     string?  optimizer; empty where there was no fit
formula       string   model as fitted
parameters    int?     variances and correlations of random effects, without the residual
criterion     float?   -2 log restricted likelihood (REML); of binomial models -2 log likelihood (Laplace)
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
chi2          float?   likelihood-ratio statistic against the model it would replace
df            int?     parameters fewer than in that model
p             float?   p of chi2
kept          bool     whether this is the model of the results
decision      string   what followed, and why
sd            string?  standard deviations of the random effects and the residual
code          string?  R code that repeats the fit, of the model kept; engine lme4
"""

LEDGER = """
step          int      order of application, from 0
table         string   table the rule is applied to
rule          string   rule, in words
before        int      rows before
excluded      int      rows excluded
after         int      rows after
"""
