"""Every table that passes between the parts: its columns, their types and units, and its key."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column: its name, type (string, int, float, bool), unit or meaning, and whether cells may be empty."""

    name: str
    type: str
    meaning: str
    empty: bool = False


@dataclass(frozen=True)
class Table:
    """A table's name, what one row of it is, its columns in order, and the columns that together name a row."""

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]


def _columns(text: str) -> tuple[Column, ...]:
    """Read `name type[?] meaning` lines; `?` allows empty cells."""
    columns = []
    for line in filter(None, text.splitlines()):
        name, kind, meaning = line.split(None, 2)
        columns.append(Column(name, kind.rstrip("?"), meaning, kind.endswith("?")))
    return tuple(columns)


_PLACE = """
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one sitting of one participant
experiment    string   experiment of the design, E1 ...
version       string   counterbalanced version (list) of the experiment, V1 ...
trial         int      presented position in the session, from 0
role          string   target, filler, catch, practice or attention
paradigm      string   paradigm of the item
item          string   item, unique in a study
condition     string   condition shown
"""

_MODEL = """
model         string   model id, path or ngram file
protocol      string   how text becomes tokens and which are scored
"""

_COEFFICIENTS = """
engine        string   program that fitted the model
formula       string   model as fitted
term          string   fixed effect
estimate      float?   coefficient, in units of the response; empty where it could not be estimated, and note says why
se            float?   standard error
df            float?   Satterthwaite degrees of freedom
t             float?   estimate / se
p             float?   two-sided p-value
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
n             int      rows in the model
participants  int      participants in the model
items         int      items in the model
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
note          string?  what a reader has to know of this fit, in a sentence
"""

_STEPS = """
model         string   name of the model, the same in every step
step          int      order, from 0
engine        string   program that fitted it
optimizer     string?  optimizer; empty where there was no fit
formula       string   model as fitted
parameters    int?     variances and correlations of random effects, without the residual
criterion     float?   -2 log restricted likelihood (REML)
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

_EFFECT = (
    """
measure       string   z (rating) or log_rt
region        string   sentence (z); critical, critical+1 or critical+2 (log_rt)
random        string   intercepts: (1|participant) + (1|item); slopes: the effect varies over participants and items too
"""
    + _COEFFICIENTS
    + """
p_bh          float?   p adjusted over the models of one measure, region and random (doi 10.1111/j.2517-6161.1995.tb02031.x)
p_bh_all      float?   p adjusted over all regions of one measure and random together
mde           float?   minimum detectable effect: (t quantile .975 + t quantile .80) * se; found in 80 % of repetitions
"""
)

_BESIDE = """
ms            float?   log_rt: grammatical minus ungrammatical in ms at the mean, exp(b0 + b1 / 2) - exp(b0 - b1 / 2)
ms_low        float?   lower end of its 95 % interval, by the delta method
ms_high       float?   upper end
raw           float?   the same model's estimate on the scale as measured: ms, or points of the rating scale
raw_low       float?   lower end of its 95 % interval
raw_high      float?   upper end
"""

_LEDGER = """
step          int      order of application, from 0
table         string   table the rule is applied to
rule          string   rule, in words
before        int      rows before
excluded      int      rows excluded
after         int      rows after
"""

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table(
            "items",
            "a sentence: one item in one condition",
            _columns("""
item          string   item, unique in a study
paradigm      string   paradigm of the item
phenomenon    string   phenomenon of the paradigm
condition     string   condition of this sentence
language      string   language tag (BCP 47)
sentence      string   text
regions       string   JSON list of [name, start, end]: character spans, end excluded
"""),
            ("item", "condition"),
        ),
        Table(
            "conditions",
            "a factor's level in a condition",
            _columns("""
paradigm      string   paradigm
condition     string   condition
factor        string   factor
level         string   level of the factor in this condition
"""),
            ("paradigm", "condition", "factor"),
        ),
        Table(
            "words",
            "a word of a sentence",
            _columns("""
item          string   item
condition     string   condition
word          int      position in the sentence, from 0
text          string   word as shown
start         int      first character in the sentence
end           int      character after the last
region        string?  innermost region that holds the word
length        int      letters and digits of the word, as characters
zipf          float?   Zipf frequency (log10 per billion words) from wordfreq; empty where the language has no list
"""),
            ("item", "condition", "word"),
        ),
        Table(
            "balance",
            "two conditions of a paradigm in a part of the sentence",
            _columns("""
paradigm      string   paradigm
region        string   critical, before, after (the words next to it), cue, rest (all but the cue), or sentence
measure       string   letters (letters and digits, as characters) or zipf (mean Zipf frequency of the words)
condition_a   string   one condition
condition_b   string   the other
items         int      items that have the part in both conditions
mean_a        float    mean over items in condition_a
mean_b        float    mean over items in condition_b
d             float?   mean_a - mean_b over the pooled SD of items (doi 10.1002/sim.3697); empty where items do not vary
"""),
            ("paradigm", "region", "measure", "condition_a", "condition_b"),
        ),
        Table(
            "design_balance",
            "a paradigm's condition in a version",
            _columns("""
experiment    string   experiment of the design, E1 ...
version       string   counterbalanced version of the experiment, V1 ...
role          string   target, filler, catch, practice or attention
paradigm      string   paradigm
levels        string?  levels of the factors in which items differ
condition     string   condition
side          int      1 for the only or the first sentence of a trial, 2 for the second of a pair
trials        int      trials that show it there
"""),
            ("experiment", "version", "role", "paradigm", "levels", "condition", "side"),
        ),
        Table(
            "exposures",
            "a sentence of a design",
            _columns("""
paradigm      string   paradigm
item          string   item
condition     string   condition
versions      int      versions in which the sentence appears
readers       int      participants who read it, of the number stated
"""),
            ("item", "condition"),
        ),
        Table(
            "design_questions",
            "a comprehension question's right answer in a version",
            _columns("""
experiment    string   experiment of the design, E1 ...
version       string   counterbalanced version of the experiment, V1 ...
role          string   target or filler
paradigm      string   paradigm
condition     string   condition
answer        string   right answer
questions     int      trials followed by a question with that right answer
"""),
            ("experiment", "version", "role", "paradigm", "condition", "answer"),
        ),
        Table(
            "readings",
            "a word read by a participant",
            _columns(
                _PLACE
                + """
word          int      position in the sentence, from 0
text          string?  word as shown; empty where the source holds no text
region        string?  innermost region that holds the word
rt            float?   reading time, ms from the key press that brought the word to the one that ended it
rt_onset      float?   ms from the frame that painted the word to the key press that ended it
flags         string?  interruptions and repeats, separated by spaces
"""
            ),
            ("session", "trial", "condition", "word"),
        ),
        Table(
            "responses",
            "an answer to one prompt",
            _columns(
                _PLACE
                + """
task          string   rating, question, choice, or reading of a text that was shown at once
prompt        string   name of the prompt; of a reading: sentence (of a pair 1 or 2) or context
side          string?  side of the chosen sentence in a forced choice: left, right, upper or lower
response      string   answer as given; a rating is a number (yes is 1, no is 0), a choice the condition chosen
correct       bool?    whether the answer was right, where there is a right one
rt            float?   ms from the prompt to the answer
"""
            ),
            ("session", "trial", "task", "prompt"),
        ),
        Table(
            "sessions",
            "a sitting of a participant",
            _columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one sitting of one participant
experiment    string   experiment of the design
version       string   version of the experiment
slot          int?     place within the version, from 0; with seed and version it fixes the order; empty where others drew it
started       string?  UTC time of the assignment, ISO 8601
finished      string?  UTC time of completion
complete      bool     whether the end was reached with all events stored
source        string   server, lab, robot, simulation, preview, or a platform's name
revision      int      number of the study's texts, materials and settings as they were then; a change has the next number
late          bool     whether it went on after its place had been given away
excluded      string?  why the experimenter does not count it
trials        int      trials begun
aborted       int      trials broken off by a reload and begun again
device        string?  browser and operating system family, or the lab machine's software
refresh_hz    float?   measured refresh rate of the display
"""),
            ("session",),
        ),
        Table(
            "demographics",
            "an answer of a participant about themselves",
            _columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one sitting of one participant
field         string   name of the question
answer        string   answer; questions left empty have no row
"""),
            ("session", "field"),
        ),
        Table(
            "surprisal",
            "a word under a language model",
            _columns(
                _MODEL
                + """
item          string   item
condition     string   condition
word          int      position in the sentence, from 0; of the first where a token joins several
text          string   word; all of them, as in the sentence, where a token joins several
words         int      words of this row: 1, or those that a token joins, whose probability cannot be divided between them
region        string?  innermost region that holds the word
surprisal     float?   bits; whitespace-corrected (doi 10.18653/v1/2024.emnlp-main.1020); empty where a token is not scored
surprisal_naive float? bits; plain sum over the word's tokens; empty where a token is not scored
entropy       float?   bits; of the next-token distribution before the word's first token; empty where there is none
renyi         float?   bits; Rényi entropy of order 1/2 of the same distribution
tokens        int      tokens of the word
"""
            ),
            ("model", "protocol", "item", "condition", "word"),
        ),
        Table(
            "sentence_scores",
            "a sentence under a language model",
            _columns(
                _MODEL
                + """
item          string   item
condition     string   condition
tokens        int      scored tokens |s|
unknown       int      scored tokens that the tokenizer does not know
windows       int      windows in which the sentence was scored: 1 where it fits the model's context
lp            float    log-probability, nats
mean_lp       float    lp / |s|, nats
pen_lp        float    lp / ((5 + |s|) / 6) ^ 0.8, nats
slor          float?   (lp - log-probability under unigrams of the same tokens) / |s|, nats; empty without unigrams
critical_lp   float?   log-probability of the critical region given what precedes it, nats; empty without such a region
"""
            ),
            ("model", "protocol", "item", "condition"),
        ),
        Table(
            "pairs",
            "a minimal pair under a measure",
            _columns(
                _MODEL
                + """
phenomenon    string   phenomenon
paradigm      string   paradigm
item          string   item
measure       string   lp, mean_lp, pen_lp, slor, critical_lp, one_prefix or two_prefix
grammatical   float    score of the grammatical member, nats
ungrammatical float    score of the ungrammatical member, nats
correct       bool     whether the grammatical member scores higher
tie           bool     whether both score exactly the same
"""
            ),
            ("model", "protocol", "item", "measure"),
        ),
        Table(
            "accuracy",
            "a paradigm, a phenomenon, or all of them, under a measure",
            _columns(
                _MODEL
                + """
phenomenon    string   phenomenon; 'all' in the two rows over all paradigms
paradigm      string   paradigm; 'pooled' is all pairs of the phenomenon (or of all) together, 'mean' the mean over paradigms
measure       string   measure
n             int      pairs
ties          int      ties, each half a success
accuracy      float    share correct, 0 to 1
wilson_low    float?   lower end of the 95 % Wilson interval (doi 10.1080/01621459.1927.10502953); none for the mean
wilson_high   float?   upper end
delta         float?   mean of the grammatical less the ungrammatical member's score, nats; over paradigms in the mean
"""
            ),
            ("model", "protocol", "phenomenon", "paradigm", "measure"),
        ),
        Table(
            "exclusions",
            "a rule of exclusion, in the order applied, in a condition",
            _columns(
                _LEDGER.replace("\nrule ", "\ncondition     string   condition; 'all' for all of them together\nrule ")
                + """
participants_before int participants before
participants_after  int participants left
"""
            ),
            ("step", "table", "condition"),
        ),
        Table(
            "participants",
            "a participant whose sessions count",
            _columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
sessions      int      sessions that count
minutes       float?   their duration in total, from assignment to end
aborted       int      trials broken off by a reload and begun again
ratings       int      ratings of targets and fillers
mean_rating   float?   mean of these, as given
grammatical   int      ratings of grammatical targets
ungrammatical int      ratings of ungrammatical targets
u             float?   Mann-Whitney U of the former against the latter
auc           float?   u / (grammatical * ungrammatical): share of pairs of sentences rated as they should be, ties half
u_p           float?   two-sided p; exact without ties, else normal with correction for ties and continuity
flagged       bool?    no difference at .05, or one the wrong way round; circular with the effect, so never by itself a ground
catch         float?   share of pairs of catch sentences rated as they should be, ties half
attention_items int    attention items answered
attention     float?   share of these answered as asked
questions     int      comprehension questions answered
accuracy      float?   share of these answered right
accuracy_low  float?   lower end of its 95 % Wilson interval
accuracy_high float?   upper end
out_of_band   float?   share of target trials in which a word of the critical region was read outside [min_rt, max_rt]
excluded      string?  rule by which the participant was left out; empty for those who stay
"""),
            ("participant",),
        ),
        Table(
            "rating_scores",
            "a rating, standardised",
            _columns(
                _PLACE
                + """
phenomenon    string   phenomenon of the paradigm
rating        float    rating as given
z             float?   standardised within participant over target and filler trials (ddof 1); empty for a constant rater
"""
            ),
            ("session", "trial"),
        ),
        Table(
            "region_times",
            "a reading of the critical region, or of a word after it",
            _columns(
                _PLACE
                + """
phenomenon    string   phenomenon of the paradigm
region        string   critical, critical+1 (the word after it) or critical+2
word          int      position of the region's first word in the sentence, from 0
words         int      words of the region
rt            float    sum of the words' reading times, ms
log_rt        float    natural log of rt
"""
            ),
            ("session", "trial", "condition", "region"),
        ),
        Table(
            "condition_means",
            "a phenomenon in a condition",
            _columns("""
phenomenon    string   phenomenon
condition     string   condition
region        string   critical, critical+1 or critical+2 (rt); sentence (rating and z)
measure       string   rating, z, or rt (ms)
participants  int      participants
n             int      observations
mean          float    mean of the participants' means
se            float?   standard error of that mean over participants
"""),
            ("phenomenon", "condition", "region", "measure"),
        ),
        Table(
            "phenomenon_models",
            "a fixed effect of one phenomenon's model",
            _columns("\nphenomenon    string   phenomenon\n" + _EFFECT + _BESIDE),
            ("phenomenon", "measure", "region", "random", "term"),
        ),
        Table(
            "paradigm_models",
            "a fixed effect of one paradigm's model",
            _columns("\nphenomenon    string   phenomenon\nparadigm      string   paradigm\n" + _EFFECT),
            ("paradigm", "measure", "region", "random", "term"),
        ),
        Table(
            "factorial_models",
            "a fixed effect of a model of the study's own factors",
            _columns(
                """
model         string   name: as declared in study.toml; the paradigm's where none is declared
measure       string   response: z, rating, log_rt or rt
region        string   region of the reading times; sentence for ratings
random        string   declared; of models that nobody declared: intercepts, or slopes as far as the design and the data allow
"""
                + _COEFFICIENTS
                + """
contrast      string?  what the coefficient compares, such as extraction: object minus subject; empty where no factor is in it
mde           float?   minimum detectable effect: (t quantile .975 + t quantile .80) * se; found in 80 % of repetitions
ms            float?   log_rt, two levels: level minus level in ms at the mean, exp(b0 + b1 / 2) - exp(b0 - b1 / 2)
ms_low        float?   lower end of its 95 % interval, by the delta method; empty where random effects depend on the codes' origin
ms_high       float?   upper end
"""
            ),
            ("model", "measure", "region", "random", "term"),
        ),
        Table(
            "families",
            "a family of tests of grammaticality",
            _columns("""
level         string   phenomenon or paradigm: what has one model each
measure       string   z (rating) or log_rt
region        string   sentence (z); critical, critical+1 or critical+2 (log_rt)
random        string   intercepts or slopes
models        int      models of the family
fitted        int      of these, fitted
singular      int      of these, singular
uncorrected   int      p < .05
found         int      p < .05 after correction within the family
found_all     int      p < .05 after correction over all regions together
autocorrelation float? lag-1 correlation of least-squares residuals over the trials of a session, all phenomena together
"""),
            ("level", "measure", "region", "random"),
        ),
        Table(
            "sensitivity",
            "the effect of grammaticality in a phenomenon under one choice of cutoff, transform and participants",
            _columns("""
phenomenon    string   phenomenon
measure       string   z (rating) or log_rt
region        string   sentence (z) or critical (log_rt)
cutoff        string   which reading times of words count
transform     string   z or rating; log, ms, log per word (of their mean), -1000/ms
people        string   all, or not flagged (see participants)
declared      bool     whether this is the declared choice
estimate      float?   grammatical minus ungrammatical, in units of the transform; empty where note says why
se            float?   standard error
df            float?   Satterthwaite degrees of freedom
t             float?   estimate / se
p             float?   two-sided p-value, uncorrected: no choice but the declared one is a test
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end
ms            float?   log_rt: the effect as a difference of predictions in ms at the mean
ms_low        float?   the same of ci_low
ms_high       float?   the same of ci_high
n             int      rows in the model
participants  int      participants in the model
singular      bool     whether a variance was estimated as zero
formula       string   model as fitted; y is the transformed time of the region
note          string?  what a reader has to know of this fit, in a sentence
"""),
            ("phenomenon", "measure", "cutoff", "transform", "people"),
        ),
        Table(
            "power",
            "a number of participants and of items",
            _columns("""
effect        float    grammatical minus ungrammatical, in units of the response: the smallest one of interest
participants  int      participants
items         int      items that each of them sees
formula       string   model that is fitted
runs          int      simulated studies
power         float    share of these in which p < .05
power_low     float    lower end of its 95 % Wilson interval
power_high    float    upper end
se            float    mean standard error of the effect
"""),
            ("effect", "participants", "items"),
        ),
        Table(
            "reading_curves",
            "a phenomenon's condition at a place around the critical region",
            _columns("""
phenomenon    string   phenomenon
condition     string   condition
place         int      words before (-1, -2 ...) or after (1, 2 ...) the critical region, which is 0
participants  int      participants
n             int      trials
mean          float    mean of the participants' mean reading times, ms a word
se            float?   standard error of that mean over participants
"""),
            ("phenomenon", "condition", "place"),
        ),
        Table(
            "reliability",
            "the ratings of a paradigm in a version, in a condition",
            _columns("""
experiment    string   experiment of the design
version       string   version of the experiment
phenomenon    string   phenomenon
paradigm      string   paradigm
condition     string   condition; 'all' for the sentences of all conditions
sentences     int      sentences
raters        int      participants who rated any of them
k             float?   raters of a sentence, harmonic mean
ratings       int      ratings
icc           float?   ICC(2,k): two-way random effects, absolute agreement, mean of k raters (doi 10.1037/0033-2909.86.2.420)
icc_low       float?   lower end of its 95 % interval by parametric bootstrap
icc_high      float?   upper end
var_sentences float?   variance of sentences, rating points squared; may be negative, as mean squares go
var_raters    float?   variance of raters
var_rest      float?   variance of the rest
split_half    float?   mean correlation over sentences of the means of two random halves of the raters
spearman_brown float?  reliability of all raters: 2 r / (1 + r)
ceiling       float?   its square root; empty where the reliability is negative
"""),
            ("experiment", "version", "paradigm", "condition"),
        ),
        Table(
            "noise_ceilings",
            "a level at which models are held against mean ratings",
            _columns("""
level         string   sentences, grammatical, ungrammatical, pairs (differences within), paradigms, phenomena (means of these)
n             int      units of that level
splits        int      random halves of the raters, within their version
split_half    float?   mean correlation of the mean z of both halves
reliability   float?   2 r / (1 + r), after Spearman and Brown
ceiling       float?   its square root: what a perfect model would correlate with these ratings
"""),
            ("level",),
        ),
        Table(
            "rating_counts",
            "a rating given to a paradigm's sentences in a condition",
            _columns("""
phenomenon    string   phenomenon
paradigm      string   paradigm
condition     string   condition
rating        float    rating as given
n             int      times it was given
"""),
            ("paradigm", "condition", "rating"),
        ),
        Table(
            "choice_agreement",
            "a paradigm in forced choice",
            _columns("""
phenomenon    string   phenomenon; 'all' in the row over all paradigms
paradigm      string   paradigm; 'all' for all together
pairs         int      pairs
participants  int      participants
choices       int      choices
individual    float    share of choices of the grammatical member
majority      float    share of pairs whose majority chose the grammatical member, a tie being half a pair
ties          int      pairs without a majority
kept          bool     whether majority is at least 4 of 5, BLiMP's rule (doi 10.1162/tacl_a_00321)
"""),
            ("paradigm",),
        ),
        Table(
            "chosen_models",
            "a fixed effect of a phenomenon's model whose random effects a policy chose",
            _columns(
                """
phenomenon    string   phenomenon
measure       string   z (rating) or log_rt
region        string   region of the reading times; sentence for ratings
policy        string   declared, maximal or parsimonious
"""
                + _COEFFICIENTS
            ),
            ("phenomenon", "measure", "region", "term"),
        ),
        Table("model_steps", "a fit on the way to a model, in the order made", _columns(_STEPS), ("model", "step")),
        Table(
            "alignment_steps",
            "a fit on the way to a model of reading times by surprisal, in the order made",
            _columns(_STEPS),
            ("model", "step"),
        ),
        Table(
            "ordinal_models",
            "a fixed effect of a cumulative-link mixed model",
            _columns("""
formula       string   model as fitted
link          string   probit, logit or cloglog
term          string   fixed effect
estimate      float?   coefficient, latent scale (probit: in s.d. of its noise)
se            float?   standard error
z             float?   estimate / se
p             float?   two-sided p-value (Wald)
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
thresholds    int      thresholds between categories
n             int      rows in the model
criterion     float    -2 log likelihood (Laplace approximation)
converged     bool     whether the optimizer reached its criterion
sd            string   standard deviations of the random effects, latent scale
note          string?  what R warned of
"""),
            ("formula", "term"),
        ),
        Table(
            "gam_terms",
            "a term of a generalised additive model",
            _columns("""
model         string?  language model whose surprisal it has; empty in a model of one's own
protocol      string?  its protocol
formula       string   model as fitted
term          string   parametric or smooth term; random effects are in the model and not here
smooth        bool     whether the term is a curve
estimate      float?   coefficient of a parametric term
se            float?   its standard error
edf           float    effective degrees of freedom; 1 for a parametric term, about 1 for a straight line
statistic     float    t of a parametric term, F of a smooth one
p             float    p-value, of a smooth term approximate
n             int      rows in the model
deviance      float    share of the deviance that the model explains
rho           float    autocorrelation of successive residuals that the model assumes
autocorrelation float  autocorrelation of successive residuals that is left, lag 1
"""),
            ("model", "protocol", "formula", "term"),
        ),
        Table(
            "smooths",
            "a point of a curve of a generalised additive model",
            _columns("""
model         string   language model
protocol      string   protocol of its scores
predictor     string   column of table aligned
value         float    value of the predictor, from its 1st to its 99th percentile
estimate      float    what the curve adds to log reading time there; 0 on the average over readings
se            float    standard error
ci_low        float    lower end of the 95 % interval
ci_high       float    upper end
"""),
            ("model", "protocol", "predictor", "value"),
        ),
        Table(
            "marginal_contrasts",
            "a difference between levels of a factor at the means of everything else",
            _columns("""
formula       string   model as fitted
factor        string   factor whose levels are compared
at            string   levels of other factors at which they are compared; all: averaged over them
contrast      string   levels compared, first minus second
estimate      float    difference, in units of the response
se            float    standard error
df            float    Satterthwaite degrees of freedom
t             float    estimate / se
p             float    two-sided p-value, adjusted over the contrasts that stand at the same levels
ci_low        float    lower end of the 95 % interval, not adjusted
ci_high       float    upper end of the 95 % interval, not adjusted
adjustment    string   how p was adjusted
"""),
            ("formula", "factor", "at", "contrast"),
        ),
        Table(
            "aligned",
            "a word's reading beside its surprisal and that of the words around it",
            _columns(
                _MODEL
                + _PLACE
                + """
word          int      position in the sentence, from 0
text          string   word
region        string?  innermost region that holds the word
rt            float    reading time, ms
log_rt        float    natural log of rt
surprisal     float    bits
length        float    characters
zipf          float    Zipf frequency
entropy       float?   bits, of the next-token distribution before the word
surprisal_previous float?  bits, previous word
length_previous float?  characters, previous word
zipf_previous float?  Zipf frequency, previous word
surprisal_previous2 float?  bits, second word before
length_previous2 float?  characters, second word before
zipf_previous2 float?  Zipf frequency, second word before
surprisal_previous3 float?  bits, third word before
length_previous3 float?  characters, third word before
zipf_previous3 float?  Zipf frequency, third word before
surprisal_next float?  bits, next word
length_next float?  characters, next word
zipf_next float?  Zipf frequency, next word
entropy_next  float?   bits, of the next-token distribution before the next word
surprisal_next2 float?  bits, second word after
length_next2 float?  characters, second word after
zipf_next2 float?  Zipf frequency, second word after
position      int      position in the sentence, from 0
log_trial     float    natural log of (trial + 1)
token         string   item:condition:word, the unit that has a surprisal
"""
            ),
            ("model", "protocol", "session", "trial", "word"),
        ),
        Table(
            "alignment_exclusions",
            "a rule of exclusion on the way to `aligned`, in the order applied",
            _columns(_LEDGER),
            ("step", "table"),
        ),
        Table(
            "alignment_models",
            "a fixed effect of the reading-time model of one language model",
            _columns(_MODEL + _COEFFICIENTS),
            ("model", "protocol", "term"),
        ),
        Table(
            "alignment_test",
            "one language model's test of whether reading times stand beside the right words",
            _columns(
                _MODEL
                + """
verdict       string   passed, warned (significant only), failed, or untested
estimate      float?   slope of the next word's surprisal, log ms per bit, beside lags 0 to 2 and the token intercept
se            float?   standard error
df            float?   Satterthwaite degrees of freedom
t             float?   estimate / se
p             float?   two-sided p-value
largest       float?   largest slope of surprisal at lags 0 to 2, log ms per bit
ratio         float?   estimate / largest; a failure from 0.5, where largest is above 0
p_entropy     float?   p of the same slope with the next word's entropy in the model; only where warned
n             int      readings in the model
note          string?  what the verdict means, in a sentence
"""
            ),
            ("model", "protocol"),
        ),
        Table(
            "lag_profile",
            "the slope of surprisal at one lag, all lags in one model",
            _columns(
                _MODEL
                + """
lag           int      -2 and -1: words not yet seen; 0: the word read; 1 to 3: words before
"""
                + _COEFFICIENTS
            ),
            ("model", "protocol", "lag"),
        ),
        Table(
            "collinearity",
            "two predictors of the reading-time model",
            _columns(
                _MODEL
                + """
predictor     string   predictor
other         string   predictor
r             float?   Pearson correlation over readings; empty where one does not vary
vif           float?   variance inflation of the first given all others; empty where it does not vary, inf where they give it
n             int      readings
"""
            ),
            ("model", "protocol", "predictor", "other"),
        ),
        Table(
            "surprisal_effects",
            "what a bit of surprisal costs at one lag",
            _columns(
                _MODEL
                + """
lag           int      0: the word read; 1 and more: words before
estimate      float?   slope, log ms per bit
ms_per_bit    float?   ms more for one bit more, at the geometric mean reading time
ms_low        float?   lower end of its 95 % interval (delta method)
ms_high       float?   upper end
raw           float?   slope of the same fixed effects on the time itself, ms per bit, with random intercepts
raw_low       float?   lower end of its 95 % interval
raw_high      float?   upper end
mean_rt       float    geometric mean reading time, ms
n             int      readings
note          string?  why there is no number
"""
            ),
            ("model", "protocol", "lag"),
        ),
        Table(
            "heldout",
            "a cluster of readings that was held out of the fit",
            _columns(
                _MODEL
                + """
folds_by      string   what was held out together: item, story (the column paradigm), participant or row
cluster       string   its name; of rows, the item whose readings are summed
fold          int?     fold that held it, from 0; empty for rows
n             int      readings
lags          int      words before whose surprisal entered
base          float    joint log density without surprisal, nats
full          float    the same with surprisal, nats
converged     bool     whether both fits of the fold reached their criterion
"""
            ),
            ("model", "protocol", "cluster"),
        ),
        Table(
            "delta_log_likelihood",
            "the gain of one language model on held-out readings",
            _columns(
                _MODEL
                + """
folds_by      string   what was held out together
clusters      int      clusters, the units of the test
n             int      readings
total         float?   log likelihood with surprisal less without, nats
delta         float?   the same per reading, nats
ci_low        float?   lower end of the 95 % interval of delta (bootstrap over clusters); none under 10
ci_high       float?   upper end
p             float?   one-sided sign-flip test over clusters; none under 10
smallest_p    float?   smallest p that so many clusters and draws can give
flips         string   exact, the number of draws, or withheld
note          string?  what a reader has to know
"""
            ),
            ("model", "protocol"),
        ),
        Table(
            "delta_comparisons",
            "two language models on the same held-out readings",
            _columns("""
model_a       string   one model
protocol_a    string   its protocol
model_b       string   the other
protocol_b    string   its protocol
clusters      int      clusters, the units of the test
n             int      readings
total         float?   log likelihood under a less that under b, nats
delta         float?   the same per reading, nats
ci_low        float?   lower end of the 95 % interval of delta (bootstrap over clusters); none under 10
ci_high       float?   upper end
p             float?   two-sided sign-flip test over clusters; none under 10
p_holm        float?   p adjusted over all pairs of models after Holm
smallest_p    float?   smallest p that so many clusters and draws can give
flips         string?  exact, the number of draws, or withheld
note          string?  what a reader has to know
"""),
            ("model_a", "protocol_a", "model_b", "protocol_b"),
        ),
        Table(
            "model_comparisons",
            "two language models under a measure",
            _columns("""
measure       string   measure
model_a       string   one model
protocol_a    string   its protocol
model_b       string   the other
protocol_b    string   its protocol
n             int      pairs given to both
ties          int      of these, tied under either; half a success in accuracies, dropped by McNemar
accuracy_a    float?   share of these pairs that a wins, 0 to 1
accuracy_b    float?   share that b wins
difference    float?   accuracy_a - accuracy_b
low           float?   lower end of its 95 % interval, pairs drawn with replacement: paradigms are taken as fixed
high          float?   upper end
a_only        int      pairs that only a wins
b_only        int      pairs that only b wins
mcnemar_p     float?   exact two-sided p of McNemar's test: paradigms are taken as fixed
mcnemar_holm  float?   p adjusted over pairs of models of this measure after Holm
paradigms     int      paradigms of these pairs
paradigm_difference float? mean over paradigms of the difference
paradigm_low  float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
paradigm_high float?   upper end
flip_p        float?   two-sided sign-flip test over paradigms; none under 10
flip_holm     float?   p adjusted likewise
smallest_p    float?   smallest flip_p that so many paradigms can give
note          string?  what a reader has to know
"""),
            ("measure", "model_a", "protocol_a", "model_b", "protocol_b"),
        ),
        Table(
            "proportion_tests",
            "a language model on two groups of items",
            _columns(
                _MODEL
                + """
measure       string   measure
group_a       string   one group of items
n_a           int      its pairs
accuracy_a    float?   share of these won, 0 to 1
group_b       string   the other group
n_b           int      its pairs
accuracy_b    float?   share of these won
z             float?   difference over its pooled standard error; empty where all pairs are won or lost
p             float?   two-sided p; pairs count as independent
"""
            ),
            ("model", "protocol", "measure"),
        ),
        Table(
            "rankings",
            "a language model's place under a measure",
            _columns(
                """
measure       string   measure
"""
                + _MODEL
                + """
n             int      pairs
accuracy      float    mean accuracy over paradigms, 0 to 1
rank          float    1 for the highest; equals share the mean of their places
"""
            ),
            ("measure", "model", "protocol"),
        ),
        Table(
            "length_bias",
            "a language model's leaning to shorter or longer members",
            _columns(
                _MODEL
                + """
measure       string   measure
n             int      pairs without ties
ties          int      ties, left out
unequal       int      pairs whose members differ in tokens
mean_difference float? mean of the grammatical less the ungrammatical member's tokens
r             float?   point-biserial correlation of winning with that difference; negative: wins where the grammatical is shorter
p             float?   two-sided p; pairs count as independent
note          string?  why there is no correlation
"""
            ),
            ("model", "protocol", "measure"),
        ),
        Table(
            "accuracy_correlations",
            "two accuracies over paradigms",
            _columns("""
measure       string   measure
a             string   model (protocol), or people
b             string   the other
paradigms     int      paradigms in common
pearson       float?   Pearson correlation of their accuracies
low           float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
high          float?   upper end
spearman      float?   Spearman's rank correlation
note          string?  what a reader has to know
"""),
            ("measure", "a", "b"),
        ),
        Table(
            "accuracy_bins",
            "pairs alike in length, perplexity, log-probability or confidence",
            _columns(
                _MODEL
                + """
measure       string   measure
predictor     string   confidence (|difference in score|, nats); of the grammatical member: length (tokens), perplexity, lp (nats)
bin           int      place of the bin, from 0
low           float    smallest value in it
high          float    largest value
mean          float    mean value
n             int      pairs
ties          int      ties, each half a success
accuracy      float    share won, 0 to 1
wilson_low    float    lower end of the 95 % Wilson interval
wilson_high   float    upper end
"""
            ),
            ("model", "protocol", "measure", "predictor", "bin"),
        ),
        Table(
            "rating_correlations",
            "a measure beside people's mean ratings at a level",
            _columns(
                _MODEL
                + """
measure       string   measure of the sentence
level         string   sentences, grammatical, ungrammatical, pairs (differences), paradigms, phenomena (means of these), relative
method        string   pearson or spearman
n             int      points
r             float?   correlation with the mean z of target ratings
low           float?   lower end of its 95 % interval, units drawn with replacement; none under 10
high          float?   upper end
unit          string   what is drawn: item, paradigm or phenomenon
units         int      number of these
ceiling       float?   what a perfect model would reach with these ratings
of_ceiling    float?   r / ceiling
note          string?  what a reader has to know
"""
            ),
            ("model", "protocol", "measure", "level", "method"),
        ),
    )
}
