"""The models of a study: those that are planned, every fit on the way to them, their effects and random effects."""

from .table_schema import ANALYSE, MULTIVERSE, Table, parse_columns

# What tells a model from the others of a plan.
IDENTITY_COLUMNS = """
model_id      string   model, unique in the study
unit          string   what has a model of its own: phenomenon, paradigm, or model (of the study's own factors)
model         string   name: the phenomenon's, the paradigm's, or as declared in study.toml
response      string   response variable: z, rating, log_rt, rt ...
family        string   gaussian; binomial: estimates are log odds; cumulative: ratings as ordered categories, on the latent scale
region        string   region of the reading times, such as critical or critical+1; sentence for ratings and answers
prompt        string?  prompt of the answers; 'all' of a model that has it among its predictors; empty of reading times
random        string   random effects: intercepts; slopes, over participants and items too; declared: as study.toml has them
policy        string   how random effects are reduced: declared (not at all), maximal or parsimonious
"""

TEST_COLUMNS = """
estimate      float?   effect, in units of the response; empty where there is none, and note in models says why
se            float?   standard error
df            float?   Satterthwaite degrees of freedom; empty of binomial and cumulative models
t             float?   estimate / se; z where there is no df
p             float?   two-sided p-value
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
"""

OPTIMISTIC = """
optimistic    bool     whether p is too small: the design allows a slope of this effect, and its variance could not be estimated
"""

MILLISECOND_COLUMNS = """
ms            float?   log_rt, two levels: their difference in ms at the mean of all else, exp(b0 + b1 / 2) - exp(b0 - b1 / 2)
ms_low        float?   lower end of its 95 % interval, by the delta method
ms_high       float?   upper end
"""

TABLES = (
    Table(
        "planned_models",
        "a model of the plan, before it is fitted",
        parse_columns(
            IDENTITY_COLUMNS
            + """
link          string   link between response and predictors: identity, logit or probit
paradigms     string?  paradigms whose trials enter, with commas between
formula       string   model in the study's own factors
first_fit     string   model that is fitted first, with contrasts as columns
is_headline   bool     whether it is reported first, of several models of the same trials
tested        string?  what its coefficients compare, with semicolons between
correction    string?  how p is adjusted, and over what
note          string?  why it cannot be fitted
resolved_from string   design, where the plan follows from the lists; data, where it was taken from the trials
plan_sha256   string   SHA-256 of the plan
"""
        ),
        ("model_id",),
        ANALYSE,
    ),
    Table(
        "models",
        "a fit on the way to a planned model, in the order made",
        parse_columns("""
model_id      string   model, as in planned_models
step          int      order, from 0
kept          bool     whether the results are those of this fit; of a model that could not be fitted, the last one tried
engine        string   program that fitted it: glmm, lme4 or ordinal
optimizer     string?  optimizer; empty where there was no fit
formula       string   model as fitted
n             int      rows in the model
n_participants int     participants in the model
n_items       int      items in the model
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
reduced       bool     whether it has fewer random effects than the first fit
parameters    int?     variances and correlations of random effects, without the residual
thresholds    int?     thresholds between the categories of a cumulative model
criterion     float?   -2 log restricted likelihood (REML); of binomial and cumulative models -2 log likelihood (Laplace)
chi2          float?   likelihood-ratio statistic against the model it would replace
df            int?     parameters fewer than in that model
p             float?   p of chi2
decision      string   what followed, and why
sd            string?  standard deviations of the random effects and the residual, in words
autocorrelation float? phenomena: lag-1 correlation of least-squares residuals over a session's trials, all phenomena together
note          string?  what a reader has to know of this fit, in a sentence
code          string?  R code that repeats the fit, of the model kept; engine lme4
"""),
        ("model_id", "step"),
        ANALYSE,
    ),
    Table(
        "effects",
        "an effect in a planned model: a coefficient, or a simple effect",
        parse_columns(
            IDENTITY_COLUMNS
            + """
headline      bool     whether its model is reported first: with slopes, unless that model has no estimate or did not converge
kind          string   coefficient; simple effect: a difference between levels of a factor at levels of those it interacts with
term          string?  fixed effect as the formula in models names it; empty of a simple effect
factors       string?  factors or predictors whose effect it is: a, a:b of an interaction, a/b of b within a level of a
contrast      string?  what is compared, such as extraction: object minus subject; a numeric predictor; empty of covariates
within        string?  simple effect: levels of the other factors, such as noun name
"""
            + TEST_COLUMNS
            + OPTIMISTIC
            + """
p_adjusted    float?   p adjusted as adjustment says; empty where it is not
p_adjusted_all float?  minimal pairs: p adjusted over all regions, or all prompts, together
adjustment    string?  how p was adjusted, and over what
mde           float?   minimum detectable effect: (t quantile .975 + t quantile .80) * se; found in 80 % of repetitions
smallest      float?   smallest effect of interest as analysis.sesoi states it; empty where nothing is stated, or without slopes
low_90        float?   lower end of the 90 % interval, where smallest is there
high_90       float?   upper end
p_equivalence float?   larger p of two one-sided tests, above -smallest and below smallest (doi 10.1007/BF01068419)
"""
            + MILLISECOND_COLUMNS
            + """
raw           float?   the same model's estimate in ms or points: phenomena, with intercepts; log_rt, interactions of the headline
raw_low       float?   lower end of its 95 % interval
raw_high      float?   upper end
raw_p         float?   two-sided p of raw, of interactions: they may hold on one scale alone (doi 10.3758/s13421-011-0158-0)
"""
        ),
        ("model_id", "kind", "term", "factors", "within", "contrast"),
        ANALYSE,
    ),
    Table(
        "hypotheses",
        "a hypothesis of the study, with its answer",
        parse_columns("""
name          string   hypothesis
model_id      string   model that answers it, as in planned_models
model         string   its name
response      string   response variable
region        string   region of the reading times; sentence for ratings and answers
prompt        string?  prompt of the answers
term          string   fixed effect, as in effects
contrast      string   what is compared
role          string   primary; secondary, beside a primary one; or family
family        string?  hypotheses over which p is adjusted
correction    string   none, holm or benjamini-hochberg
direction     string?  positive or negative, of the contrast; empty where either would do
sides         int      sides of the test
smallest      float?   smallest effect that matters, in units of the response
estimate      float?   effect, in units of the response; empty where the model has none
se            float?   standard error
df            float?   degrees of freedom; empty of z tests
t             float?   estimate / se
p             float?   p of the hypothesis's test, of one or two sides
p_adjusted    float?   p adjusted over its family
p_two_sided   float?   p of two sides
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end
low_90        float?   lower end of the 90 % interval, where a smallest effect is stated and the model has slopes
high_90       float?   upper end
p_equivalence float?   larger p of two one-sided tests against the smallest effect
optimistic    bool     whether p is too small, as in effects; nothing is decided then
raw           float?   of interactions on log_rt: the effect in ms
raw_low       float?   lower end of its 95 % interval
raw_high      float?   upper end
raw_p         float?   its two-sided p
verdict       string   supported; supported, but smaller than what matters; opposite; equivalent; or undecided
"""),
        ("name",),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "aggregate_tests",
        "an effect whose p is optimistic, tested by participants or by items",
        parse_columns("""
model_id      string   model, as in planned_models
term          string   fixed effect, as in effects
contrast      string?  what is compared
grouping      string   participant, item; or both: min F'
scale         string   what is averaged: empirical log odds, log((right + 1/2) / (wrong + 1/2)), of answers; mean of others
n_units       int?     participants or items that have a trial in each of their conditions; empty of min F'
n_excluded_units int?  those left out, having none in one of them
estimate      float?   mean contrast over participants or items; empty of min F'
statistic     float?   t, of min F' F (doi 10.1016/S0022-5371(73)80014-3); empty where there are too few
df            float?   degrees of freedom, of min F' those of its denominator
p             float?   two-sided p-value
"""),
        ("model_id", "term", "grouping"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "random_effects",
        "a standard deviation or a correlation of random effects in a model that was kept, or a slope that was left out of it",
        parse_columns("""
model_id      string   model, as in planned_models
grouping      string   participant, item ...; residual for the residual
term          string?  intercept, or the slope's fixed effect; empty of the residual
correlated_with string? other term of a correlation; empty of a standard deviation
status        string?  of an s.d.: estimated; zero; not estimated (fits with it did not converge); not needed (a test left it out)
sd            float?   standard deviation, in units of the response (slopes: per unit of the predictor); empty of one left out
correlation   float?   correlation of the two terms; empty where a variance is zero
opposite      float?   slopes with an s.d.: share expected to have the effect with the other sign, if slopes are normal, 0 to 1
"""),
        ("model_id", "grouping", "term", "correlated_with"),
        ANALYSE,
    ),
    Table(
        "multiverse",
        "an effect of a planned model under one specification: a choice of each kind",
        parse_columns("""
model_id      string   planned model that is varied, as in planned_models
model         string   its name
response      string   its response variable
prompt        string?  prompt of the answers; empty of reading times
term          string   fixed effect, as in effects
contrast      string   what is compared
hypothesis    string?  hypothesis that is about this effect
specification int      choices, numbered within the model from 0, the planned ones
declared      bool     whether the choices are those of the plan; the row has the numbers of effects then
exclusions    string   rules of exclusion: as planned, or the name of others, as the plan has them
transformation string  of times log, ms, -1000/ms, log per word; of ratings z or raw, as they were given; none of other responses
random_effects string  as planned; intercepts alone; maximal or parsimonious: all slopes of the design, reduced by that policy
covariates    string   predictors beside the effects, with commas between; none
region        string   region of the reading times or first choices; sentence for ratings and answers
unit          string   unit of the estimate
estimate      float?   effect, in its unit; empty where there is none, and note says why
se            float?   standard error
df            float?   Satterthwaite degrees of freedom; empty of binomial models
t             float?   estimate / se; z where there is no df
p             float?   two-sided p-value, uncorrected: only the planned specification is a test
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
standardised  float?   estimate / s.d. of the response in these trials, so that units compare; empty of binomial models
standardised_low float? ci_low / s.d.
standardised_high float? ci_high / s.d.
ms            float?   reading times, two levels: the effect as a difference of predictions in ms at the mean
ms_low        float?   the same of ci_low
ms_high       float?   the same of ci_high
n             int      rows in the model
n_participants int     participants in the model
n_items       int      items in the model
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
formula       string?  model as fitted; empty where no trial was left
same_as       int?     earlier specification with the same trials and the same model, whose fit this is too
note          string?  what a reader has to know of this fit, in a sentence
plan_sha256   string   SHA-256 of the plan
"""),
        ("model_id", "term", "specification"),
        MULTIVERSE,
        is_always_written=False,
    ),
    Table(
        "contrast_codes",
        "a column of a model's contrasts in a condition, or at a level of a factor between participants",
        parse_columns("""
unit          string   what has the model: phenomenon, paradigm, or model
model         string   name of the model in planned_models
response      string   its response
paradigm      string?  paradigm of the condition; empty of a factor between participants that the trials have as a column
condition     string?  condition whose trials enter the model
factor        string?  factor between participants, a column of the trials
level         string?  its level
column        string?  column as the model's terms name it; empty of a condition without codes
code          float?   its value in the condition, or at the level
"""),
        ("unit", "model", "response", "paradigm", "condition", "level", "column"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "factorial_means",
        "a cell of the study's own factors under a model",
        parse_columns("""
model         string   name of the model, as in planned_models
response      string   response variable: z, rating, log_rt or rt; of binomial models correct, yes or chosen
region        string   region of the reading times; sentence for ratings and answers
prompt        string?  prompt of the answers; 'all' of a model that has it among its predictors; empty of reading times
random        string?  binomial: random effects of the model, the headline's, whose log odds these are
factors       string   factors of the model, such as extraction x noun_phrase; 'all' of a binomial one that has none
levels        string   level of each, in this order, such as object x name; rows stand in the order of the materials
n_participants int      participants with a trial in every cell; binomial: in this one
n_excluded_participants int      participants left out, having none in some cell; binomial: none
n_trials      int      trials
mean_value    float?   mean of the participants' means; binomial: log odds where random effects are 0; empty where there is none
ci_low        float?   lower end of its 95 % interval: Cousineau-Morey (doi 10.20982/tqmp.04.2.p061); binomial: Wald
ci_high       float?   upper end
share         float?   binomial: share of trials answered right, with yes, or by this member of the pair
probability   float?   binomial: 1 / (1 + exp(-mean_value))
probability_low float? lower end of its interval
probability_high float? upper end
ms            float?   log_rt: exp(mean_value), the geometric mean in ms
ms_low        float?   exp(ci_low)
ms_high       float?   exp(ci_high)
"""),
        ("model", "response", "region", "prompt", "levels"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "contrast_matrices",
        "a coefficient of a model of the study's own factors, and a cell of the design",
        parse_columns("""
model         string   name of the model, as in planned_models
term          string   fixed effect
contrast      string?  what the coefficient compares; empty of the intercept
cell          string   levels of the factors, such as extraction object, noun name
code          float    contrast matrix: what stands for the cell in the model matrix
weight        float    hypothesis matrix: what the cell's mean weighs in the coefficient (doi 10.1016/j.jml.2019.104038)
"""),
        ("model", "term", "cell"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "marginal_contrasts",
        "a difference between levels of a factor at the means of everything else",
        parse_columns("""
formula       string   model as fitted
factor        string   factor whose levels are compared
within        string   levels of other factors at which they are compared; all: averaged over them
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
        ("formula", "factor", "within", "contrast"),
        producer=None,
    ),
)
