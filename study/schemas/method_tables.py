"""Methods of judging beside each other: accuracies, votes, tests against log probability, and what accuracy depends on."""

from .table_schema import JUDGE, Table, parse_columns

METHOD_COLUMNS = """
model         string   model id or path
method        string   how the model is asked
"""

TABLES = (
    Table(
        "method_accuracies",
        "a language model asked in a way, on a phenomenon or all of them",
        parse_columns(
            METHOD_COLUMNS
            + """
template      string   id of the template; 'none' of methods without; 'mean' over the templates, of methods with several
phenomenon    string   phenomenon; 'all' over all pairs
n_templates   int      templates that the row is over
n_paradigms   int      paradigms
n_pairs       int      pairs judged
n_ties        int      ties, each half a success; over all templates in their mean
n_unread      int      pairs without an answer that could be read, each lost; over all templates in their mean
accuracy      float    share of pairs won, 0 to 1
sd            float?   standard deviation of it over templates (n - 1); of the mean alone
wilson_low    float?   lower end of the 95 % Wilson interval, paradigms taken as fixed; none of the mean
wilson_high   float?   upper end
mean_accuracy float    mean of accuracy over paradigms
human_accuracy float?   people's mean accuracy over these paradigms, where it is known of all of them
answer_probability float?   mean probability that the model gives the labels at all; empty without labels
"""
        ),
        ("model", "method", "template", "phenomenon"),
        JUDGE,
    ),
    Table(
        "response_shares",
        "an answer of a language model to a template",
        parse_columns(
            METHOD_COLUMNS
            + """
template      string   id of the template; 'mean' over the templates, of methods with several
response      string   answer, such as A, Yes or 5
n_responses   int      how often it was given; over all templates in their mean
share         float    share of all answers to the template, 0 to 1
sd            float?   standard deviation of it over templates (n - 1); of the mean alone
wilson_low    float?   lower end of the 95 % Wilson interval; none of the mean
wilson_high   float?   upper end
"""
        ),
        ("model", "method", "template", "response"),
        JUDGE,
        is_always_written=False,
    ),
    Table(
        "ensembles",
        "a majority vote of a language model's judgments under several templates",
        parse_columns("""
model         string   model id or path
ensemble      string   how many templates of which method vote; one template of one method is no vote
n_votes       int      votes
n_mixes       int      mixes of templates that the row is over
selection     string   all mixes; some drawn; the best on the test set (an oracle), or on others: held-out pairs, held-out paradigms
members       string?  templates of the mix selected; several where parts of the pairs have different ones
n_pairs       int      pairs judged under every template of these methods
accuracy      float?   share of pairs won, mean over mixes, 0 to 1; a vote without majority is half a success
sd            float?   standard deviation over mixes (n, since there are no others; drawn: n - 1)
min_accuracy  float?   lowest accuracy of a mix
max_accuracy  float?   highest accuracy of a mix
note          string?  what a reader has to know
"""),
        ("model", "ensemble", "selection"),
        JUDGE,
        is_always_written=False,
    ),
    Table(
        "method_comparisons",
        "a method of judging, or a vote, against another on the same pairs",
        parse_columns(
            METHOD_COLUMNS
            + """
kind          string   method or ensemble
reference_method string   method that it is held against
n_pairs       int      pairs judged by both
accuracy      float?   share won, mean over templates or mixes, 0 to 1
accuracy_reference float? share that the other method wins, mean over its templates
difference    float?   accuracy - accuracy_reference
ci_low        float?   lower end of its 95 % interval, pairs drawn with replacement: paradigms are taken as fixed; none under 10
ci_high       float?   upper end
n_resamples   int      resamples
n_reversed    int?     of these, how many have a difference of 0 or below
p             float?   one-sided: n_reversed / n_resamples; 1 / (n_resamples + 1) where none has, and then a bound from above
p_holm        float?   p adjusted after Holm over the methods, or the ensembles, of this model
n_paradigms   int      paradigms of these pairs
paradigm_difference float? mean over paradigms of the difference
paradigm_ci_low float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
paradigm_ci_high float?   upper end
n_paradigm_reversed int?  resamples of paradigms with a difference of 0 or below
paradigm_p    float?   one-sided p likewise
paradigm_p_holm float? p adjusted likewise
note          string?  what a reader has to know
"""
        ),
        ("model", "method", "kind"),
        JUDGE,
        is_always_written=False,
    ),
    Table(
        "method_length_bias",
        "a language model's leaning to shorter or longer members, asked in a way",
        parse_columns("""
model         string   model id or path; 'mean' over models, where there are several
method        string   how the model is asked
template      string   id of the template; 'none' of methods without; 'mean' over the templates, of methods with several
n_pairs       int      pairs without ties; over all templates and models in means
n_ties        int      ties, left out
n_unequal     int      pairs whose members differ in tokens
mean_difference float? mean of the grammatical less the ungrammatical member's tokens
r             float?   point-biserial correlation of winning with that difference; negative: wins where the grammatical is shorter
p             float?   two-sided p; pairs count as independent; none of means
note          string?  why there is no correlation
"""),
        ("model", "method", "template"),
        JUDGE,
    ),
    Table(
        "method_groups",
        "a language model asked in a way, at a level of a grouping of paradigms or items",
        parse_columns(
            METHOD_COLUMNS
            + """
factor        string   what the groups differ in
level         string   level of it
n_paradigms   int      paradigms at this level
n_pairs       int      their pairs
n_ties        int      ties, each half a success, over all templates
accuracy      float    share of these pairs won, mean over templates, 0 to 1
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
        ("model", "method", "factor", "level"),
        JUDGE,
        is_always_written=False,
    ),
    Table(
        "method_differences",
        "two methods of judging on a paradigm",
        parse_columns("""
model         string   model id or path
method_a      string   one method
method_b      string   the other
phenomenon    string   phenomenon; 'all' in the row over all paradigms
paradigm      string   paradigm; 'mean' over the paradigms
n_pairs       int      pairs
accuracy_a    float    share won by the first, mean over templates, 0 to 1
accuracy_b    float    share won by the other
difference    float    accuracy_a - accuracy_b
token_difference float    mean of the grammatical less the ungrammatical member's tokens
r             float?   Pearson correlation over paradigms of difference and tokens; in the row over all
ci_low        float?   lower end of its 95 % interval, paradigms drawn with replacement; none under 10
ci_high       float?   upper end
note          string?  why there is no correlation
"""),
        ("model", "method_a", "method_b", "paradigm"),
        JUDGE,
        is_always_written=False,
    ),
)
