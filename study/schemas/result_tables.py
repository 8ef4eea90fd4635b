"""What is found of people's ratings and reading times: exclusions, measures, agreement, models."""

from .table_schema import ANALYSE, COMPUTED_COLUMNS, DEVIATIONS, EXCLUSION_COLUMNS, SIMULATE, TRIAL_COLUMNS, Table, parse_columns

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
task          string   kind of the task, as in responses
prompt        string   name of the rating as the study names it
rating        float    rating as given, or its natural logarithm where the response is one
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
task          string?  how it was read, as in readings
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
        added_columns=("task",),
    ),
    Table(
        "binary_responses",
        "an answer to a target trial that is one of two: right or wrong, yes or no, one of a pair or the other",
        parse_columns(
            TRIAL_COLUMNS
            + """
phenomenon    string   phenomenon of the paradigm
measure       string   correct (questions, decisions), yes (ratings on two points), chosen (forced choice) or first_choice (Maze)
region        string   sentence; of first choices the region in which all were right, or one was wrong, as in region_times
prompt        string   name of the task as the study names it; of first choices maze
event         string   what 1 stands for: right, yes, or which member of the pair over which
response      int      1 or 0
"""
            + COMPUTED_COLUMNS
        ),
        ("session", "trial", "condition", "measure", "region", "prompt"),
        ANALYSE,
        is_always_written=False,
        has_factors=True,
    ),
    Table(
        "task_counts",
        "a task of target trials: how they were read, or a prompt under which answers were given",
        parse_columns("""
task          string   kind of the task, as in readings and responses; whole: the sentence was shown at once
prompt        string?  name of the task as the study names it; empty of sentences that were read
n_participants int     participants
n_trials      int      sentences read, or answers given, that the exclusions leave
n_right       int?     right answers; Maze: sentences without a wrong first choice; empty where nothing is right or wrong
n_wrong       int?     wrong answers; Maze: sentences with one
"""),
        ("task", "prompt"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "first_choices",
        "a region in a condition that was read in Maze, or all words of its sentences",
        parse_columns("""
paradigm      string   paradigm of the items
condition     string   condition
region        string   as in region_times; sentence: all words
n_trials      int      target trials
n_right       int      trials in which every first choice of the region was right
n_wrong       int      trials in which one was wrong, the first of the sentence that counts
n_lost        int      trials in which the region comes after an error, and was not reached or is left out
accuracy      float?   n_right / (n_right + n_wrong)
n_words       int      words of the region that were shown
n_words_lost  int      words among them with a right first choice that are left out, since an error came before
"""),
        ("paradigm", "condition", "region"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "confounds",
        "two levels of a factor that differ in length or frequency in a part of the sentence",
        parse_columns("""
paradigm      string   paradigm
factor        string   factor of the study; grammaticality of minimal pairs
level_a       string   one level
level_b       string   the other
region        string   critical, before, after (the words next to it), rest (all but the cue), or sentence
measure       string   letters (and digits), or zipf (mean Zipf frequency of the words)
n_items       int      items that have the part at both levels; of a factor between items, those that have it at one
mean_a        float    mean over items at level_a
mean_b        float    mean over items at level_b
cohens_d      float?   mean_a - mean_b over the pooled SD of items (doi 10.1002/sim.3697), above 0.5; empty where items do not vary
"""),
        ("paradigm", "factor", "level_a", "level_b", "region", "measure"),
        ANALYSE,
        is_always_written=False,
    ),
    Table(
        "condition_means",
        "a phenomenon in a condition",
        parse_columns("""
phenomenon    string   phenomenon
condition     string   condition
region        string   sentence (ratings); of rt critical, and words after it as in region_times
measure       string   z and rating, or another response of sentences and its raw one; or rt (ms)
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
        "power",
        "a tested coefficient with a number of participants and of items, under one set of assumptions",
        parse_columns("""
response      string   log_rt, rating, correct (the answer to a question), chosen (a forced choice) ...
term          string   coefficient that is tested: a factor, an interaction a:b, or a simple effect a@level
effect        float    its size: log ms, latent s.d. of a single rating, or log odds; the smallest one of interest
n_participants int      participants
n_items       int      items that each of them sees
family        string   model: linear, ordinal (cumulative probit) or binomial (logit)
slopes        string   random slopes: planned, the planned model's; of power_curve tested (the coefficient's), maximal or none
assumptions   string   where the standard deviations are from: default, pilot, or pilot (80 % limits), their upper limits
formula       string   planned model; of power_curve the model that is fitted
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
task          string?  how it was read, as in readings; empty where in several ways
"""),
        ("phenomenon", "condition", "relative_position"),
        ANALYSE,
        added_columns=("task",),
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
        "deviations",
        "a statement of the preregistration that the study departs from",
        parse_columns("""
kind          string   what it is about: sample, items, exclusion, model, hypothesis, smallest effect, or the section of study.toml
key           string   the statement, as study.toml names it; items.PARADIGM.ITEM; sample.participants; sessions.excluded ...
location      string   where it shows: study.toml, materials, tables (the data), results (settings they were made with, models)
registered    string?  what was registered (settings as JSON); empty: nothing
found         string?  what there is; empty: nothing
reason        string?  why, as archive.deviations states it; empty: no reason is given
"""),
        ("key", "location"),
        DEVIATIONS,
    ),
)
