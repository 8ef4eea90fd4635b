"""What is found of people's ratings and reading times: exclusions, measures, agreement, models."""

from .table_schema import (
    ANALYSE,
    COEFFICIENT_COLUMNS,
    COMPUTED_COLUMNS,
    DEVIATIONS,
    EXCLUSION_COLUMNS,
    FIT_COLUMNS,
    SIMULATE,
    TRIAL_COLUMNS,
    Table,
    parse_columns,
)

EQUIVALENCE_COLUMNS = """
smallest      float?   smallest effect of interest as analysis.sesoi states it; empty where nothing is stated, or without slopes
low_90        float?   lower end of the 90 % interval, where smallest is there
high_90       float?   upper end
p_equivalence float?   larger p of two one-sided tests, above -smallest and below smallest (doi 10.1007/BF01068419)
"""

EFFECT_COLUMNS = (
    """
measure       string   z (rating) or log_rt
region        string   sentence (z); of log_rt critical, and words after it as in region_times
prompt        string?  prompt of the ratings; empty of reading times
random        string   intercepts: (1|participant) + (1|item); slopes: the effect varies over participants and items too
"""
    + COEFFICIENT_COLUMNS
    + """
p_bh          float?   p adjusted over the models of one measure, region, prompt and random (doi 10.1111/j.2517-6161.1995.tb02031.x)
p_bh_all      float?   p adjusted over all regions, or all prompts, of one measure and random together
mde           float?   minimum detectable effect: (t quantile .975 + t quantile .80) * se; found in 80 % of repetitions
"""
    + EQUIVALENCE_COLUMNS
)

UNTRANSFORMED_EFFECT_COLUMNS = """
ms            float?   log_rt: grammatical minus ungrammatical in ms at the mean, exp(b0 + b1 / 2) - exp(b0 - b1 / 2)
ms_low        float?   lower end of its 95 % interval, by the delta method
ms_high       float?   upper end
raw           float?   the same model's estimate on the scale as measured: ms, or points of the rating scale
raw_low       float?   lower end of its 95 % interval
raw_high      float?   upper end
"""

TABLES = (
    Table(
        "exclusions",
        "a rule of exclusion, in the order applied, in a condition",
        parse_columns(
            EXCLUSION_COLUMNS.replace("\nrule ", "\ncondition     string   condition; 'all' for all of them together\nrule ")
            + """
n_participants_before int participants before
n_participants_after  int participants left
"""
        ),
        ("step", "table", "condition"),
        ANALYSE,
    ),
    Table(
        "participants",
        "a participant whose sessions count",
        parse_columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
n_sessions    int      sessions that count
minutes       float?   their duration in total, from assignment to end
n_aborted_trials int      trials broken off by a reload and begun again
n_attention_items int    attention items answered
attention     float?   share of these answered as asked
n_questions   int      comprehension questions answered, of all prompts
accuracy      float?   share of these answered right
accuracy_low  float?   lower end of its 95 % Wilson interval
accuracy_high float?   upper end
share_outside_cutoffs float?   share of target trials in which a word of the critical region was read outside [min_rt, max_rt]
exclusion_rule string?  rule by which the participant was left out; empty for those who stay
"""),
        ("participant",),
        ANALYSE,
    ),
    Table(
        "participant_prompts",
        "a participant's answers to a prompt",
        parse_columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
task          string   kind: rating, question, choice ...
prompt        string   name of the task as the study names it
n_responses   int      answers given, practice left out
n_missing_responses int      times that no answer came, practice left out
mean_rating   float?   mean rating of targets and fillers, as given
n_grammatical int      ratings of grammatical targets
n_ungrammatical int      ratings of ungrammatical targets
u_statistic   float?   Mann-Whitney U of the former against the latter
auc           float?   u_statistic / (n_grammatical * n_ungrammatical): share of pairs of sentences rated in the right order
p             float?   two-sided p; exact without ties, else normal with correction for ties and continuity
flagged       bool?    no difference at .05, or one the wrong way round; circular with the effect, so never by itself a ground
catch_auc     float?   share of pairs of catch sentences rated as they should be, ties half
n_scored_responses int      answers that were right or wrong, practice left out; none of ratings
accuracy      float?   share of these that were right
accuracy_low  float?   lower end of its 95 % Wilson interval
accuracy_high float?   upper end
"""),
        ("participant", "task", "prompt"),
        ANALYSE,
    ),
    Table(
        "rating_scores",
        "a rating, standardised",
        parse_columns(
            TRIAL_COLUMNS
            + """
phenomenon    string   phenomenon of the paradigm
prompt        string   name of the rating as the study names it
rating        float    rating as given
z             float?   standardised within participant and prompt over target and filler trials (ddof 1); empty for a constant rater
"""
            + COMPUTED_COLUMNS
        ),
        ("session", "trial", "prompt"),
        ANALYSE,
        has_factors=True,
    ),
    Table(
        "region_times",
        "a reading of the critical region, or of a word after it",
        parse_columns(
            TRIAL_COLUMNS
            + """
phenomenon    string   phenomenon of the paradigm
region        string   critical, critical+1 (the word after it) ...; or critical..+1 (the region up to that word) ...
word          int      position of the region's first word in the sentence, from 0
n_words       int      words of the region
line          int?     line on which the first of them stood, from 0
rt            float    sum of the words' reading times, ms
log_rt        float    natural log of rt
"""
            + COMPUTED_COLUMNS
        ),
        ("session", "trial", "condition", "region"),
        ANALYSE,
        has_factors=True,
    ),
    Table(
        "binary_responses",
        "an answer to a target trial that is one of two: right or wrong, yes or no, one of a pair or the other",
        parse_columns(
            TRIAL_COLUMNS
            + """
phenomenon    string   phenomenon of the paradigm
measure       string   correct (questions, decisions), yes (ratings on a scale of two points) or chosen (forced choice)
prompt        string   name of the task as the study names it
event         string   what 1 stands for: right, yes, or which member of the pair over which
response      int      1 or 0
"""
            + COMPUTED_COLUMNS
        ),
        ("session", "trial", "measure", "prompt"),
        ANALYSE,
        is_always_written=False,
        has_factors=True,
    ),
    Table(
        "condition_means",
        "a phenomenon in a condition",
        parse_columns("""
phenomenon    string   phenomenon
condition     string   condition
region        string   sentence (rating and z); of rt critical, and words after it as in region_times
measure       string   rating, z, or rt (ms)
prompt        string?  prompt of the ratings; empty of reading times
n_participants int      participants
n_observations int      observations
mean_value    float    mean of the participants' means
se            float?   standard error of that mean over participants
"""),
        ("phenomenon", "condition", "region", "measure", "prompt"),
        ANALYSE,
    ),
    Table(
        "phenomenon_models",
        "a fixed effect of one phenomenon's model",
        parse_columns("\nphenomenon    string   phenomenon\n" + EFFECT_COLUMNS + UNTRANSFORMED_EFFECT_COLUMNS),
        ("phenomenon", "measure", "region", "prompt", "random", "term"),
        ANALYSE,
    ),
    Table(
        "paradigm_models",
        "a fixed effect of one paradigm's model",
        parse_columns("\nphenomenon    string   phenomenon\nparadigm      string   paradigm\n" + EFFECT_COLUMNS),
        ("paradigm", "measure", "region", "prompt", "random", "term"),
        ANALYSE,
    ),
    Table(
        "factorial_models",
        "a fixed effect of a model of the study's own factors",
        parse_columns(
            """
model         string   name: as declared in study.toml; the paradigm's where none is declared
measure       string   response: z, rating, log_rt or rt; of binomial models correct, yes or chosen
family        string   gaussian; binomial: estimates are log odds, t is z, without df
region        string   region of the reading times; sentence for ratings and answers
prompt        string?  prompt of the answers; 'all' of a model that has it among its predictors; empty of reading times
random        string   declared; of models that nobody declared: intercepts, or slopes as far as the design and the data allow
"""
            + COEFFICIENT_COLUMNS
            + """
reduced       bool     whether correlations or slopes were left out of the model as it was begun
factors       string?  factors whose effect it is: a, a:b of an interaction, a/b of b within a level of a; empty where none is in it
contrast      string?  what the coefficient compares, such as extraction: object minus subject; empty where no factor is in it
p_holm        float?   p adjusted over the regions in which the same coefficient is tested (Holm); empty where there is one region
mde           float?   minimum detectable effect: (t quantile .975 + t quantile .80) * se; found in 80 % of repetitions
"""
            + EQUIVALENCE_COLUMNS
            + """
ms            float?   log_rt, two levels: level minus level in ms at the mean, exp(b0 + b1 / 2) - exp(b0 - b1 / 2)
ms_low        float?   lower end of its 95 % interval, by the delta method
ms_high       float?   upper end
"""
        ),
        ("model", "measure", "region", "prompt", "random", "term"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "contrast_codes",
        "a column of a model's contrasts in a condition",
        parse_columns("""
model         string   name of the model in factorial_models
measure       string   its response
paradigm      string   paradigm of the condition
condition     string   condition whose trials enter the model
column        string?  column as the model's terms name it; empty of a model without factors
code          float?   its value in the condition; empty of a model without factors
"""),
        ("model", "measure", "paradigm", "condition", "column"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "factorial_means",
        "a cell of the study's own factors under a model",
        parse_columns("""
model         string   name of the model, as in factorial_models
measure       string   response: z, rating, log_rt or rt; of binomial models correct, yes or chosen
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
        ("model", "measure", "region", "prompt", "levels"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "simple_effects",
        "a difference between two levels of a factor at levels of those it interacts with",
        parse_columns("""
model         string   name of the model, as in factorial_models
measure       string   response: z, rating, log_rt or rt
region        string   region of the reading times; sentence for ratings
prompt        string?  prompt of the ratings; 'all' of a model that has it among its predictors; empty of reading times
random        string   random effects of the model, as in factorial_models
factor        string   factor whose levels are compared
within        string   levels of the factors it interacts with, such as noun name
contrast      string   levels compared, such as object minus subject
estimate      float?   difference, in units of the response
se            float?   standard error
df            float?   Satterthwaite degrees of freedom
t             float?   estimate / se
p             float?   two-sided p-value
p_holm        float?   p adjusted as adjustment says
ci_low        float?   lower end of the 95 % interval, not adjusted
ci_high       float?   upper end
ms            float?   log_rt: difference of exponentiated predictions, ms
ms_low        float?   lower end of its 95 % interval, by the delta method
ms_high       float?   upper end
method        string   where it comes from, and its test
adjustment    string   how p_holm was adjusted
"""),
        ("model", "measure", "region", "prompt", "random", "factor", "within", "contrast"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "contrast_matrices",
        "a coefficient of a model of the study's own factors, and a cell of the design",
        parse_columns("""
model         string   name of the model, as in factorial_models
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
        "families",
        "a family of tests of grammaticality",
        parse_columns("""
level         string   phenomenon or paradigm: what has one model each
measure       string   z (rating) or log_rt
region        string   sentence (z); of log_rt critical, and words after it as in region_times
prompt        string?  prompt of the ratings; empty of reading times
random        string   intercepts or slopes
models        int      models of the family
fitted        int      of these, fitted
singular      int      of these, singular
uncorrected   int      p < .05
found         int      p < .05 after correction within the family
found_all     int      p < .05 after correction over all regions, or all prompts, together
autocorrelation float? lag-1 correlation of least-squares residuals over the trials of a session, all phenomena together
"""),
        ("level", "measure", "region", "prompt", "random"),
        ANALYSE,
    ),
    Table(
        "sensitivity",
        "the effect of grammaticality in a phenomenon under one choice of cutoff, scale and participants",
        parse_columns("""
phenomenon    string   phenomenon
measure       string   z (rating) or log_rt
region        string   sentence (z) or critical (log_rt)
cutoff        string   which reading times of words count
scale         string   z or rating; log, ms, log per word (of their mean), -1000/ms
people        string   all, or not flagged (see participant_prompts)
prompt        string?  prompt of the ratings; of reading times, that by whose ratings people are flagged, empty where all are in
declared      bool     whether this is the declared choice
estimate      float?   grammatical minus ungrammatical, in units of the scale; empty where note says why
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
        ("phenomenon", "measure", "cutoff", "scale", "people", "prompt"),
        ANALYSE,
    ),
    Table(
        "power",
        "a tested coefficient with a number of participants and of items, under one set of assumptions",
        parse_columns("""
response      string   log_rt, rating, correct (the answer to a question) or chosen (a forced choice)
term          string   coefficient that is tested: a factor, an interaction a:b, or a simple effect a@level
effect        float    its size: log ms, latent s.d. of a single rating, or log odds; the smallest one of interest
n_participants int      participants
n_items       int      items that each of them sees
family        string   model: linear, ordinal (cumulative probit) or binomial (logit)
slopes        string   random slopes that are fitted: tested (of the coefficient alone), maximal or none
assumptions   string   where the standard deviations are from: default, pilot, or pilot (80 % limits), their upper limits
formula       string   model that is fitted
n_simulations int      simulated studies
power         float    share of these in which p < .05
power_low     float    lower end of its 95 % Wilson interval
power_high    float    upper end
false_positives float  share in which p < .05 of the same studies without the coefficient
se            float?   mean standard error of the coefficient
share_singular float    share of fits with a variance of zero, or a correlation of -1 or 1
share_failed  float    share of fits without a p-value, which count as not found
"""),
        ("response", "term", "effect", "n_participants", "n_items", "family", "slopes", "assumptions"),
        SIMULATE,
    ),
    Table(
        "reading_curves",
        "a phenomenon's condition at a place around the critical region",
        parse_columns("""
phenomenon    string   phenomenon
condition     string   condition
relative_position int      words before (-1, -2 ...) or after (1, 2 ...) the critical region, which is 0
n_participants int      participants
n_trials      int      trials
mean_value    float    mean of the participants' mean reading times, ms a word
se            float?   standard error of that mean over participants
"""),
        ("phenomenon", "condition", "relative_position"),
        ANALYSE,
    ),
    Table(
        "reliability",
        "the ratings of a paradigm in a list, in a condition",
        parse_columns("""
experiment    string   experiment of the design
list          string   list of the experiment
prompt        string   prompt of the ratings
phenomenon    string   phenomenon
paradigm      string   paradigm
condition     string   condition; 'all' for the sentences of all conditions
n_sentences   int      sentences
n_raters      int      participants who rated any of them
k             float?   raters of a sentence, harmonic mean
n_ratings     int      ratings
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
        ("experiment", "list", "prompt", "paradigm", "condition"),
        ANALYSE,
    ),
    Table(
        "noise_ceilings",
        "a level at which models are held against mean ratings",
        parse_columns("""
prompt        string   prompt of the ratings
level         string   sentences, a condition; pairs (differences), paradigms, phenomena (their means); items (less their mean)
n_units       int      units of that level
n_splits      int      random halves of the raters, within their list
split_half    float?   mean correlation of the mean z of both halves
reliability   float?   2 r / (1 + r), after Spearman and Brown
ceiling       float?   its square root: what a perfect model would correlate with these ratings
"""),
        ("prompt", "level"),
        ANALYSE,
    ),
    Table(
        "rating_counts",
        "a rating given to a paradigm's sentences in a condition",
        parse_columns("""
prompt        string   prompt of the ratings
phenomenon    string   phenomenon
paradigm      string   paradigm
condition     string   condition
rating        float    rating as given
n_ratings     int      times it was given
"""),
        ("prompt", "paradigm", "condition", "rating"),
        ANALYSE,
    ),
    Table(
        "unimodality",
        "the ratings of a phenomenon in a condition",
        parse_columns("""
prompt        string   prompt of the ratings
phenomenon    string   phenomenon
condition     string   condition
n_points      int      points of the scale
n_ratings     int      ratings
distance      float    twice the log-likelihood lost by the nearest distribution with one mode: 0 where the shares have one mode
p             float    share of samples of that distribution that lie as far from one mode or farther; ratings count as independent
"""),
        ("prompt", "phenomenon", "condition"),
        ANALYSE,
    ),
    Table(
        "choice_agreement",
        "a paradigm in forced choice",
        parse_columns("""
prompt        string   prompt of the choices
phenomenon    string   phenomenon; 'all' in the row over all paradigms
paradigm      string   paradigm; 'all' for all together
n_pairs       int      pairs
n_participants int      participants
n_choices     int      choices
individual    float    share of choices of the grammatical member
majority      float    share of pairs whose majority chose the grammatical member, a tie being half a pair
majority_strict  float  the same, a tie being none
n_ties        int      pairs without a majority
meets_majority_rule bool     whether majority_strict is at least 4 of 5, BLiMP's rule (doi 10.1162/tacl_a_00321)
"""),
        ("prompt", "paradigm"),
        ANALYSE,
    ),
    Table(
        "chosen_models",
        "a fixed effect of a phenomenon's model whose random effects a policy chose",
        parse_columns(
            """
phenomenon    string   phenomenon
measure       string   z (rating) or log_rt
region        string   region of the reading times; sentence for ratings
prompt        string?  prompt of the ratings; empty of reading times
policy        string   declared, maximal or parsimonious
"""
            + COEFFICIENT_COLUMNS
        ),
        ("phenomenon", "measure", "region", "prompt", "term"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "model_steps",
        "a fit on the way to a model, in the order made",
        parse_columns(FIT_COLUMNS),
        ("model", "step"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "ordinal_models",
        "a fixed effect of a cumulative-link mixed model",
        parse_columns("""
model         string?  name of a model of the study's own factors, as in factorial_models
prompt        string?  prompt of the ratings; empty of a model that was asked for by its formula
phenomenon    string?  phenomenon of a model of grammaticality
paradigm      string?  paradigm; empty of a phenomenon's model
formula       string   model as fitted
link          string   probit, logit or cloglog
term          string   fixed effect
contrast      string?  what the coefficient compares, as in factorial_models
estimate      float?   coefficient, latent scale (probit: in s.d. of its noise)
se            float?   standard error
z             float?   estimate / se
p             float?   two-sided p-value (Wald)
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end of the 95 % interval
thresholds    int      thresholds between categories
n             int      rows in the model
criterion     float?   -2 log likelihood (Laplace approximation)
converged     bool     whether the optimizer reached its criterion
singular      bool     whether a variance was estimated as zero, or a correlation as 1
reduced       bool     whether correlations or slopes were left out of the model as it was begun
sd            string?  standard deviations of the random effects, latent scale
note          string?  what a reader has to know of this fit, in a sentence
"""),
        ("model", "prompt", "phenomenon", "paradigm", "formula", "term"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "deviations",
        "a statement of the preregistration that the study departs from",
        parse_columns("""
kind          string   what it is about: sample, items, exclusion, model, smallest effect, or the section of study.toml
key           string   the statement, as study.toml names it; items.PARADIGM.ITEM; sample.participants; sessions.excluded ...
location      string   where it shows: study.toml, materials, tables (the data), results (settings they were made with, models)
registered    string?  what was registered (settings as JSON); empty: nothing
found         string?  what there is; empty: nothing
reason        string?  why, as archive.deviations states it; empty: no reason is given
"""),
        ("key", "location"),
        DEVIATIONS,
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
