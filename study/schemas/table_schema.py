"""What a table is declared with, and columns that several tables have."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Column:
    """A column: its name, type (string, int, float, bool), unit or meaning, and whether cells may be empty."""

    name: str
    type: str
    meaning: str
    may_be_empty: bool = False


@dataclass(frozen=True)
class Producer:
    """A command that makes tables: the folder of a study where they lie, and what a reader misses without them."""

    command: str
    folder: str
    description: str


SELECT = Producer("select", "selection", "which items were chosen, and how alike they are")
DESIGN = Producer("design", "lists", "what is shown to whom")
SIMULATE = Producer("simulate", "results", "the power of a design")
COLLECT = Producer("collect", "tables", "who did what")
SCORE = Producer("score", "scores", "scores of language models")
ANALYSE = Producer("analyse", "results", "exclusions, models of ratings and reading times, agreement")
MULTIVERSE = Producer("multiverse", "results", "the effects under other choices")
ALIGN = Producer("align", "results", "alignment self-test, reading times by surprisal, gains on held-out readings")
EVALUATE = Producer("evaluate", "results", "language models on minimal pairs")
EXTRACT = Producer("extract", "pairs", "agreement pairs out of treebanks")
DRAFT = Producer("draft", "drafts", "what a model was asked for, and what came of it")
REVIEW = Producer("review", "drafts", "what people decided about drafts, and how far they agree")
JUDGE = Producer("judge", "results", "what language models answer when asked to judge sentences")
SWEEP = Producer("sweep", "results", "which language models were computed on which languages")
MAZE = Producer("maze", "maze", "distractors for Maze and what they cost language models")
DEVIATIONS = Producer("deviations", "results", "what departs from the preregistration")
# Those whose tables every study comes to have, in the order in which a reader asks for them.
MAIN_PRODUCERS = (COLLECT, SCORE, ANALYSE, ALIGN, EVALUATE)


@dataclass(frozen=True)
class Table:
    """A table's name, what one row of it is, its columns in order, and the columns that together name a row.

    `producer` is the command that writes it, None for a table that only a function returns; not `is_always_written`: the command
    writes it on request, or where there is something to say. With `has_factors`, a column for each factor of the study follows
    those declared. Columns that came `added_columns` may be absent from a file, and are empty then. `dynamic_columns` are
    columns on request, whose names end as they were asked for: `renyi_*` is renyi_2, renyi_inf ...
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    producer: Producer | None
    is_always_written: bool = True
    has_factors: bool = False
    added_columns: tuple[str, ...] = ()
    dynamic_columns: tuple[Column, ...] = ()

    @property
    def column_names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def find_dynamic_columns(self, names: Iterable[str]) -> tuple[Column, ...]:
        """Return those of these columns that are `dynamic_columns` ones, by the names they have."""
        kinds = sorted(self.dynamic_columns, key=lambda kind: -len(kind.name))  # the most particular first
        found = ((name, next((k for k in kinds if name.startswith(k.name.rstrip("*"))), None)) for name in names)
        return tuple(replace(kind, name=name) for name, kind in found if kind and name not in self.column_names)


def parse_columns(text: str) -> tuple[Column, ...]:
    """Read `name type[?] meaning` lines; `?` allows empty cells."""
    columns = []
    for line in filter(None, text.splitlines()):
        name, kind, meaning = line.split(None, 2)
        columns.append(Column(name, kind.rstrip("?"), meaning, kind.endswith("?")))
    return tuple(columns)


TRIAL_COLUMNS = """
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one participant's run of one list
experiment    string   experiment of the design, E1 ...
list          string   counterbalanced list of the experiment, L1 ...
trial         int      presented position in the session, from 0
role          string   target, filler, catch, practice or attention
paradigm      string   paradigm of the item
item          string   item, unique in a study
condition     string   condition shown
"""

# What a formula needs of a trial beside its measure; computed, so that no file has to hold it.
COMPUTED_COLUMNS = """
log_trial     float    natural log of (trial + 1)
question_accuracy float? participant's share of comprehension questions answered right, practice left out; empty: none asked
"""
MEASURE_MEANING = "measure of the participant, as analysis.participant_measures states it; empty where it is not known"
FACTOR_MEANING = "level of this factor of the study in the condition shown; empty where that has none, or of a pair two"

MODEL_COLUMNS = """
model         string   model id, path or ngram file
protocol      string   how text becomes tokens and which are scored
"""

COEFFICIENT_COLUMNS = """
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

FIT_COLUMNS = """
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

EXCLUSION_COLUMNS = """
step          int      order of application, from 0
table         string   table the rule is applied to
rule          string   rule, in words
n_before      int      rows before
n_excluded    int      rows excluded
n_after       int      rows after
"""
