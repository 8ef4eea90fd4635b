"""What is shown: items and their words, and how lists hold them in balance."""

from .table_schema import COLLECT, DESIGN, SELECT, Table, parse_columns

TABLES = (
    Table(
        "items",
        "a sentence: one item in one condition",
        parse_columns("""
item          string   item, unique in a study
paradigm      string   paradigm of the item
phenomenon    string   phenomenon of the paradigm
condition     string   condition of this sentence
language      string   language tag (BCP 47)
sentence      string   text
regions       string   JSON list of [name, start, end]: character spans, end excluded
"""),
        ("item", "condition"),
        COLLECT,
    ),
    Table(
        "conditions",
        "a factor's level in a condition",
        parse_columns("""
paradigm      string   paradigm
condition     string   condition
factor        string   factor
level         string   level of the factor in this condition
"""),
        ("paradigm", "condition", "factor"),
        COLLECT,
    ),
    Table(
        "words",
        "a word of a sentence",
        parse_columns("""
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
        COLLECT,
    ),
    Table(
        "replacements",
        "an item that takes the place of another",
        parse_columns("""
item          string   item, whose free column replaces names the other
replaces      string   item whose data count no more
"""),
        ("item",),
        COLLECT,
        is_always_written=False,
    ),
    Table(
        "balance",
        "two conditions of a paradigm in a part of the sentence",
        parse_columns("""
paradigm      string   paradigm
region        string   critical, before, after (the words next to it), cue, rest (all but the cue), or sentence
measure       string   letters (and digits), zipf (mean Zipf frequency of the words), or a norm (mean of the words that have one)
condition_a   string   one condition
condition_b   string   the other
n_items       int      items that have the part in both conditions
mean_a        float    mean over items in condition_a
mean_b        float    mean over items in condition_b
cohens_d      float?   mean_a - mean_b over the pooled SD of items (doi 10.1002/sim.3697); empty where items do not vary
"""),
        ("paradigm", "region", "measure", "condition_a", "condition_b"),
        producer=None,
    ),
    Table(
        "design_balance",
        "a paradigm's condition in a list",
        parse_columns("""
experiment    string   experiment of the design, E1 ...
list          string   counterbalanced list of the experiment, L1 ...
role          string   target, filler, catch, practice or attention
paradigm      string   paradigm
levels        string?  levels of the factors in which items differ
condition     string   condition
side          int      1 for the only or the first sentence of a trial, 2 for the second of a pair
n_trials      int      trials that show it there
"""),
        ("experiment", "list", "role", "paradigm", "levels", "condition", "side"),
        DESIGN,
    ),
    Table(
        "exposures",
        "a sentence of a design",
        parse_columns("""
paradigm      string   paradigm
item          string   item
condition     string   condition
n_lists       int      lists (short ones where there are any) in which the sentence appears
n_participants int      participants who read it, of the number stated
"""),
        ("item", "condition"),
        DESIGN,
    ),
    Table(
        "design_questions",
        "a comprehension question's right answer in a list",
        parse_columns("""
experiment    string   experiment of the design, E1 ...
list          string   counterbalanced list of the experiment, L1 ...
role          string   target or filler
paradigm      string   paradigm
condition     string   condition
correct_answer string  right answer
n_questions   int      trials followed by a question with that right answer
"""),
        ("experiment", "list", "role", "paradigm", "condition", "correct_answer"),
        DESIGN,
        is_always_written=False,
    ),
    Table(
        "design_short_lists",
        "an item in a short list",
        parse_columns("""
experiment    string   experiment of the design, E1 ...
short_list    int      short list, from 0, in the order in which participants get them
role          string   target, catch or attention
paradigm      string   paradigm
item          string   item
condition     string   condition shown; of a pair both, the first side first
"""),
        ("experiment", "short_list", "item"),
        DESIGN,
        is_always_written=False,
    ),
    Table(
        "covariates",
        "a covariate of a sentence",
        parse_columns("""
item          string   item
condition     string   condition
covariate     string   what is measured: MEASURE:PART, or a column of items
value         float?   in units of the measure; empty where it is not known
selected      bool?    whether the item was chosen
"""),
        ("item", "condition", "covariate"),
        SELECT,
        added_columns=("selected",),
    ),
    Table(
        "words_not_found",
        "a word that a norm has no value of",
        parse_columns("""
covariate     string   covariate, NORM:PART
word          string   word without the marks at its edges
n_occurrences int      how often it stands in that part of the sentences
share_of_words float   of all words there
"""),
        ("covariate", "word"),
        SELECT,
        is_always_written=False,
    ),
    Table(
        "matching",
        "two groups of sentences in a covariate",
        parse_columns("""
stage         string   before or after the choice; of a design: lists, conditions (within a list), or fillers and targets
covariate     string   what is measured
group_a       string   one condition, level, list or role
group_b       string   the other
should_match  bool     whether the two were to be alike
n_a           int      sentences of group_a
n_b           int      sentences of group_b
mean_a        float    mean of group_a
mean_b        float    mean of group_b
sd_a          float?   s.d. of group_a
sd_b          float?   s.d. of group_b
standardised_difference float? mean_a - mean_b in s.d. of the pool; empty where the pool does not vary
ci_low        float?   lower end of its 90 % interval
ci_high       float?   upper end
equivalence_bound float? the least difference that two one-sided tests at .05 exclude (doi 10.1007/BF01068419)
"""),
        ("stage", "covariate", "group_a", "group_b"),
        SELECT,
    ),
    Table(
        "matched_sets",
        "an item in a matched set",
        parse_columns("""
set           int      number of the set, from 1
level         string   level of the item
item          string   item
"""),
        ("set", "level"),
        SELECT,
        is_always_written=False,
    ),
    Table(
        "expected_effects",
        "an item whose effect is expected from surprisal",
        parse_columns("""
item          string   item
paradigm      string   paradigm
term          string   main effect or interaction
effect_bits   float    difference in surprisal that the term makes
effect_ms     float    the same in ms, at the ms a bit that were declared
has_contrast  bool     whether there is one: FALSE of items below 0.05 bits
selected      bool?    whether the item was chosen
"""),
        ("item",),
        SELECT,
        added_columns=("selected",),
        is_always_written=False,
    ),
    Table(
        "item_lists",
        "an item in a list",
        parse_columns("""
list          int      list, from 1
paradigm      string   paradigm
item          string   item
"""),
        ("list", "item"),
        SELECT,
        is_always_written=False,
    ),
)
