"""Reading times beside surprisal."""

from .table_schema import (
    ALIGN,
    COEFFICIENT_COLUMNS,
    EXCLUSION_COLUMNS,
    FIT_COLUMNS,
    MODEL_COLUMNS,
    TRIAL_COLUMNS,
    Table,
    parse_columns,
)

READING_COLUMNS = """
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
"""

TABLES = (
    Table(
        "aligned",
        "a word's reading beside its surprisal and that of the words around it",
        parse_columns(
            MODEL_COLUMNS
            + TRIAL_COLUMNS
            + READING_COLUMNS
            + """
position      int      position in the sentence, from 0
log_trial     float    natural log of (trial + 1)
token         string   item:condition:word, the unit that has a surprisal
"""
        ),
        ("model", "protocol", "session", "trial", "word"),
        ALIGN,
    ),
    Table(
        "aligned_means",
        "a word's mean reading time beside its surprisal and that of the words around it",
        parse_columns(
            MODEL_COLUMNS
            + """
paradigm      string   paradigm of the item
item          string   item: a text, or a sentence
condition     string   condition
"""
            + READING_COLUMNS
            + """
position      int      position in the sentence, from 0
token         string   item:condition:word
"""
        ),
        ("model", "protocol", "item", "condition", "word"),
        ALIGN,
        is_always_written=False,
    ),
    Table(
        "alignment_exclusions",
        "a rule of exclusion on the way to `aligned`, in the order applied",
        parse_columns(EXCLUSION_COLUMNS),
        ("step", "table"),
        ALIGN,
    ),
    Table(
        "alignment_models",
        "a fixed effect of the reading-time model of one language model",
        parse_columns(MODEL_COLUMNS + COEFFICIENT_COLUMNS),
        ("model", "protocol", "term"),
        ALIGN,
    ),
    Table(
        "alignment_steps",
        "a fit on the way to a model of reading times by surprisal, in the order made",
        parse_columns(FIT_COLUMNS),
        ("model", "step"),
        ALIGN,
        is_always_written=False,
    ),
    Table(
        "alignment_check",
        "one language model's test of whether reading times stand beside the right words",
        parse_columns(
            MODEL_COLUMNS
            + """
verdict       string   passed, warned (significant only), failed, or untested
estimate      float?   slope of the next word's surprisal, log ms per bit, beside lags 0 to 2 and the token intercept
se            float?   standard error
df            float?   Satterthwaite degrees of freedom
t             float?   estimate / se
p             float?   two-sided p-value
largest_slope float?   largest slope of surprisal at lags 0 to 2, log ms per bit
ratio         float?   estimate / largest_slope; a failure from 0.5, where largest_slope is above 0
p_entropy     float?   p of the same slope with the next word's entropy in the model; only where warned
n_readings    int      readings in the model
note          string?  what the verdict means, in a sentence
"""
        ),
        ("model", "protocol"),
        ALIGN,
    ),
    Table(
        "lag_profile",
        "the slope of surprisal at one lag, all lags in one model",
        parse_columns(
            MODEL_COLUMNS
            + """
lag           int      -2 and -1: words not yet seen; 0: the word read; 1 to 3: words before
"""
            + COEFFICIENT_COLUMNS
        ),
        ("model", "protocol", "lag"),
        ALIGN,
    ),
    Table(
        "collinearity",
        "two predictors of the reading-time model",
        parse_columns(
            MODEL_COLUMNS
            + """
predictor     string   predictor
other_predictor string   predictor
r             float?   Pearson correlation over readings; empty where one does not vary
vif           float?   variance inflation of the first given all others; empty where it does not vary, inf where they give it
n_readings    int      readings
"""
        ),
        ("model", "protocol", "predictor", "other_predictor"),
        ALIGN,
    ),
    Table(
        "surprisal_effects",
        "what a bit of surprisal costs at one lag",
        parse_columns(
            MODEL_COLUMNS
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
n_readings    int      readings
note          string?  why there is no number
"""
        ),
        ("model", "protocol", "lag"),
        ALIGN,
    ),
    Table(
        "held_out_clusters",
        "a cluster of readings that was held out of the fit",
        parse_columns(
            MODEL_COLUMNS
            + """
folds_by      string   what was held out together: item, story (the column paradigm), participant or row
cluster       string   its name; of rows, the item whose readings are summed
fold          int?     fold that held it, from 0; empty for rows
n_readings    int      readings
n_lags        int      words before whose surprisal entered
log_likelihood_without float    joint log density without surprisal, nats
log_likelihood_with float    the same with surprisal, nats
converged     bool     whether both fits of the fold reached their criterion
"""
        ),
        ("model", "protocol", "cluster"),
        ALIGN,
    ),
    Table(
        "delta_log_likelihood",
        "the gain of one language model on held-out readings",
        parse_columns(
            MODEL_COLUMNS
            + """
folds_by      string   what was held out together
n_clusters    int      clusters, the units of the test
n_readings    int      readings
total_delta   float?   log likelihood with surprisal less without, nats
delta         float?   the same per reading, nats
ci_low        float?   lower end of the 95 % interval of delta (bootstrap over clusters); none under 10
ci_high       float?   upper end
p             float?   one-sided sign-flip test over clusters; none under 10
min_p         float?   smallest p that so many clusters and draws can give
flips         string   exact, the number of draws, or withheld
note          string?  what a reader has to know
"""
        ),
        ("model", "protocol"),
        ALIGN,
    ),
    Table(
        "delta_comparisons",
        "two language models on the same held-out readings",
        parse_columns("""
model_a       string   one model
protocol_a    string   its protocol
model_b       string   the other
protocol_b    string   its protocol
n_clusters    int      clusters, the units of the test
n_readings    int      readings
total_delta   float?   log likelihood under a less that under b, nats
delta         float?   the same per reading, nats
ci_low        float?   lower end of the 95 % interval of delta (bootstrap over clusters); none under 10
ci_high       float?   upper end
p             float?   two-sided sign-flip test over clusters; none under 10
p_holm        float?   p adjusted over all pairs of models after Holm
min_p         float?   smallest p that so many clusters and draws can give
flips         string?  exact, the number of draws, or withheld
note          string?  what a reader has to know
"""),
        ("model_a", "protocol_a", "model_b", "protocol_b"),
        ALIGN,
        is_always_written=False,
    ),
    Table(
        "gam_terms",
        "a term of a generalised additive model",
        parse_columns("""
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
        ALIGN,
        is_always_written=False,
    ),
    Table(
        "smooths",
        "a point of a curve of a generalised additive model",
        parse_columns("""
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
        ALIGN,
        is_always_written=False,
    ),
)
