"""Models against models, and against people's ratings."""

from .table_schema import ALIGN, EVALUATE, MODEL_COLUMNS, Table, parse_columns

TABLES = (
    Table(
        "model_comparisons",
        "two language models under a measure",
        parse_columns("""
measure       string   measure
model_a       string   one model
protocol_a    string   its protocol
model_b       string   the other
protocol_b    string   its protocol
n_pairs       int      pairs given to both
n_ties        int      of these, tied under either; half a success in accuracies, dropped by McNemar
accuracy_a    float?   share of these pairs that a wins, 0 to 1
accuracy_b    float?   share that b wins
difference    float?   accuracy_a - accuracy_b
ci_low        float?   lower end of its 95 % interval, pairs drawn with replacement: paradigms are taken as fixed
ci_high       float?   upper end
n_only_a      int      pairs that only a wins
n_only_b      int      pairs that only b wins
mcnemar_p     float?   exact two-sided p of McNemar's test: paradigms are taken as fixed
mcnemar_p_holm float?   p adjusted over pairs of models of this measure after Holm
n_paradigms   int      paradigms of these pairs
paradigm_difference float? mean over paradigms of the difference
paradigm_ci_low float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
paradigm_ci_high float?   upper end
flip_p        float?   two-sided sign-flip test over paradigms; none under 10
flip_p_holm   float?   p adjusted likewise
min_flip_p    float?   smallest flip_p that so many paradigms can give
note          string?  what a reader has to know
"""),
        ("measure", "model_a", "protocol_a", "model_b", "protocol_b"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "proportion_tests",
        "a language model on two groups of items",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
test_unit     string?  what the test takes as trials, and as independent: pairs or paradigms
group_a       string   one group of items
n_a           int      its pairs, or paradigms
accuracy_a    float?   share of these pairs won, or mean over paradigms, 0 to 1
group_b       string   the other group
n_b           int      its pairs, or paradigms
accuracy_b    float?   share of these pairs won, or mean over paradigms
z             float?   difference over its pooled standard error; empty where all pairs are won or lost
p             float?   two-sided p
n_paradigms   int?     paradigms with pairs of both groups
difference    float?   mean over these of group a's accuracy less group b's
ci_low        float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
ci_high       float?   upper end
"""
        ),
        ("model", "protocol", "measure", "test_unit"),
        EVALUATE,
        is_always_written=False,
        added_columns=("test_unit", "n_paradigms", "difference", "ci_low", "ci_high"),
    ),
    Table(
        "group_differences",
        "a language model on two groups of items of a paradigm",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
phenomenon    string   phenomenon
paradigm      string   paradigm
group_a       string   one group of items
n_a           int      its pairs
accuracy_a    float    share of these won, 0 to 1
group_b       string   the other group
n_b           int      its pairs
accuracy_b    float    share of these won
difference    float    accuracy_a - accuracy_b
"""
        ),
        ("model", "protocol", "measure", "paradigm"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "group_accuracies",
        "a language model at a level of a grouping of paradigms or items",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
factor        string   what the groups differ in
level         string   level of it
n_paradigms   int      paradigms at this level
n_pairs       int      their pairs
n_ties        int      ties, each half a success
accuracy      float    share of these pairs won, 0 to 1
wilson_low    float    lower end of its 95 % Wilson interval: paradigms are taken as fixed
wilson_high   float    upper end
mean_accuracy float    mean accuracy over paradigms
ci_low        float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
ci_high       float?   upper end
difference    float    mean_accuracy less that at the factor's first level
human_accuracy float?   people's mean accuracy over these paradigms, where it is known of all of them
human_difference  float? that less people's mean at the first level
"""
        ),
        ("model", "protocol", "measure", "factor", "level"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "language_accuracies",
        "a language model on the pairs of a language",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
language      string   language
phenomenon    string   phenomenon; 'all' over all pairs of the language
n_pairs       int      pairs
n_ties        int      ties, each half a success
accuracy      float    share won, 0 to 1
wilson_low    float    lower end of the 95 % Wilson interval
wilson_high   float    upper end
delta         float    mean of the grammatical less the ungrammatical member's score, nats
"""
        ),
        ("model", "protocol", "measure", "language", "phenomenon"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "language_means",
        "a language model over languages, each counting once",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
split         string   all; by frequency low (lowest 60 %), mid, high (highest 10 %); or column: value of a list of languages
phenomenon    string   phenomenon; 'all' over all pairs of each language
n_languages   int      languages with such pairs
n_pairs       int      their pairs
accuracy      float    mean over languages of the share won, 0 to 1
ci_low        float?   lower end of its 95 % bootstrap interval over languages, of 'all'; none under 10 languages
ci_high       float?   upper end
delta         float    mean over languages of the difference in score, nats
n_best        int?     languages where it is the best of several models (table language_bests), p < .1
n_best_holm   int?     as many after Holm's correction over languages
"""
        ),
        ("model", "protocol", "measure", "split", "phenomenon"),
        EVALUATE,
        is_always_written=False,
        added_columns=("ci_low", "ci_high"),
    ),
    Table(
        "language_bests",
        "the best language model of a language against the second best",
        parse_columns(
            """
measure       string   measure
language      string   language
"""
            + MODEL_COLUMNS
            + """
second_model  string   model of the second highest accuracy
second_protocol string its protocol
n_pairs       int      pairs given to both
accuracy      float    share of these that the best wins, 0 to 1
accuracy_second float  share that the second best wins
n_only        int      pairs that only the best wins
n_only_second int      pairs that only the second best wins
p             float    exact two-sided p of McNemar's test, pairs with ties dropped
p_holm        float    p adjusted over the languages of this measure after Holm
"""
        ),
        ("measure", "language"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "language_wins",
        "two language models over languages",
        parse_columns("""
measure       string   measure
model_a       string   one model
protocol_a    string   its protocol
model_b       string   the other
protocol_b    string   its protocol
n_languages   int      languages whose pairs both were given
n_a_better    int      languages where a wins more, McNemar's p < .05
n_b_better    int      languages where b does
n_a_better_holm int      as many for a after Holm's correction over languages
n_b_better_holm int      as many for b
"""),
        ("measure", "model_a", "protocol_a", "model_b", "protocol_b"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "frequency_curves",
        "a language model's accuracy by language frequency",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
n_languages   int      languages of known frequency
upper_asymptote float?   upper asymptote of accuracy, 0.5 to 1
slope         float?   of the logistic curve, per power of ten
midpoint      float?   log10 frequency halfway between .5 and the upper asymptote
rss           float?   sum of squared residuals
r2            float?   share of the variance over languages that the curve explains
note          string?  what a reader has to know
"""
        ),
        ("model", "protocol", "measure"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "frequency_residuals",
        "a language beside a language model's frequency curve",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
language      string   language
frequency     float    its frequency, as given
accuracy      float    share of its pairs won, 0 to 1
fitted        float    accuracy by the curve
residual      float    accuracy - fitted: above 0, better than its frequency lets expect
"""
        ),
        ("model", "protocol", "measure", "language"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "score_difference_regressions",
        "a predictor of the difference of a pair's scores",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
method        string   ols: least squares over pairs; mixed: with random intercepts of language and paradigm
formula       string   model as fitted
term          string   phenomenon (its mean), or predictor: per s.d., of attractors per word
estimate      float?   coefficient, nats
se            float?   standard error
df            float?   degrees of freedom; of the mixed model Satterthwaite's
t             float?   estimate / se
p             float?   two-sided p
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end
n_pairs       int      pairs in the model
n_languages   int      languages in the model
note          string?  what a reader has to know
"""
        ),
        ("model", "protocol", "measure", "method", "term"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "usable_phenomena",
        "a phenomenon under a measure",
        parse_columns("""
measure       string   measure
phenomenon    string   phenomenon
min_accuracy  float?   lowest accuracy of a model, the baseline aside, 0 to 1
baseline_accuracy float?   accuracy of the baseline, an n-gram model
human_difference float?   people's difference in z between grammatical and ungrammatical sentences
is_usable     bool     whether the phenomenon tells models from people
reason        string?  why it does not
"""),
        ("measure", "phenomenon"),
        producer=None,
    ),
    Table(
        "learning_curves",
        "a family of language models on a phenomenon, by size of their training data",
        parse_columns("""
family        string?  models that have one line, such as an architecture
protocol      string   protocol
measure       string   measure
phenomenon    string   phenomenon; 'all' for the mean over paradigms
n_models      int      models
n_sizes       int      different sizes of training data
n_samples     int?     draws of the training data, where they are named
slope         float?   gain in accuracy from twice as many tokens, by least squares on log2(tokens)
se            float?   its standard error; runs of one sample are taken together where samples are named
df            int?     degrees of freedom of its interval
ci_low        float?   lower end of its 95 % interval
ci_high       float?   upper end
max_training_tokens float    most training tokens of a run
accuracy_at_max float    accuracy there
human_accuracy float?   people's accuracy
tokens_needed float?   tokens at which the line would reach people's accuracy: an extrapolation
upper_asymptote float?   upper end of a logistic curve from .5; from four sizes on
rate          float?   its steepness in a doubling
midpoint      float?   log2(tokens) at its middle
note          string?  what a reader has to know
"""),
        ("family", "protocol", "measure", "phenomenon"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "rankings",
        "a language model's rank under a measure",
        parse_columns(
            """
measure       string   measure
"""
            + MODEL_COLUMNS
            + """
n_pairs       int      pairs
accuracy      float    mean accuracy over paradigms, 0 to 1
model_rank    float    1 for the highest; equals share the mean of their ranks
"""
        ),
        ("measure", "model", "protocol"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "length_bias",
        "a language model's leaning to shorter or longer members",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
n_pairs       int      pairs without ties
n_ties        int      ties, left out
n_unequal     int      pairs whose members differ in tokens
mean_difference float? mean of the grammatical less the ungrammatical member's tokens
r             float?   point-biserial correlation of winning with that difference; negative: wins where the grammatical is shorter
p             float?   two-sided p; pairs count as independent
note          string?  why there is no correlation
"""
        ),
        ("model", "protocol", "measure"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "accuracy_correlations",
        "two accuracies over paradigms",
        parse_columns("""
measure       string   measure
model_a       string   model (protocol), or people
model_b       string   the other
n_paradigms   int      paradigms in common
pearson       float?   Pearson correlation of their accuracies
ci_low        float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
ci_high       float?   upper end
spearman      float?   Spearman's rank correlation
note          string?  what a reader has to know
"""),
        ("measure", "model_a", "model_b"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "accuracy_bins",
        "pairs alike in length, perplexity, log-probability or confidence",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure
predictor     string   confidence (|difference in score|, nats); of the grammatical member: length (tokens), perplexity, lp (nats)
bin           int      number of the bin, from 0
bin_low       float    smallest value in it
bin_high      float    largest value
mean_value    float    mean value
n_pairs       int      pairs
n_ties        int      ties, each half a success
accuracy      float    share won, 0 to 1
wilson_low    float    lower end of the 95 % Wilson interval
wilson_high   float    upper end
"""
        ),
        ("model", "protocol", "measure", "predictor", "bin"),
        EVALUATE,
        is_always_written=False,
    ),
    Table(
        "rating_correlations",
        "a measure beside people's mean ratings at a level",
        parse_columns(
            MODEL_COLUMNS
            + """
measure       string   measure of the sentence
prompt        string   prompt of the ratings
rating_measure string?  z, standardised within participants, or rating, as given
level         string   sentences, a condition; pairs (differences), paradigms, phenomena (means; or all pairs), relative; items
method        string   pearson or spearman
n_points      int      points
r             float?   correlation with mean target ratings
p             float?   two-sided p; points count as independent; none of relative
ci_low        float?   lower end of its 95 % interval, units drawn with replacement; none under 10
ci_high       float?   upper end
unit          string   what is drawn: item, paradigm or phenomenon
n_units       int      number of these
ceiling       float?   what a perfect model would reach with these ratings
share_of_ceiling float?   r / ceiling
note          string?  what a reader has to know
"""
        ),
        ("model", "protocol", "measure", "prompt", "rating_measure", "level", "method"),
        ALIGN,
        is_always_written=False,
        added_columns=("rating_measure", "p"),
    ),
)
