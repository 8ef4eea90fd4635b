"""What language models say of sentences."""

from ..measures import MEASURES
from .table_schema import EVALUATE, MAZE, MODEL_COLUMNS, SCORE, SWEEP, Column, Table, parse_columns

MEASURE_NAMES = list(MEASURES)

TABLES = (
    Table(
        "surprisal",
        "a word under a language model",
        parse_columns(
            MODEL_COLUMNS
            + """
item          string   item
condition     string   condition
word          int      position in the sentence, from 0; of the first where a token joins several
text          string   word; all of them, as in the sentence, where a token joins several
n_words       int      words of this row: 1, or those that a token joins, whose probability cannot be divided between them
region        string?  innermost region that holds the word
surprisal     float?   bits; whitespace-corrected (doi 10.18653/v1/2024.emnlp-main.1020); empty where a token is not scored
surprisal_naive float? bits; plain sum over the word's tokens; empty where a token is not scored
entropy       float?   bits; of the next-token distribution before the word's first token; empty where there is none
renyi         float?   bits; Rényi entropy of order 1/2 of the same distribution
n_tokens      int?     tokens of the word; empty where the scores were computed elsewhere
"""
        ),
        ("model", "protocol", "item", "condition", "word"),
        SCORE,
        dynamic_columns=parse_columns(
            """
renyi_*       float?   bits; Rényi entropy of that order of the same distribution as entropy
surprisal_t*  float?   bits; surprisal under softmax(logits / T), T being the temperature named
surprisal_layer_* float? bits; surprisal by the output of that layer, 0 being the embedding; of the last one, surprisal
"""
        ),
    ),
    Table(
        "sentence_scores",
        "a sentence under a language model",
        parse_columns(
            MODEL_COLUMNS
            + """
item          string   item
condition     string   condition
n_tokens      int      scored tokens |s|
n_unknown_tokens int      scored tokens that the tokenizer does not know
n_windows     int      windows in which the sentence was scored: 1 where it fits the model's context
n_critical_tokens int?   tokens of the critical region; empty without such a region, or where one of them is not scored
"""
        )
        + tuple(Column(m.name, "float", m.meaning, m.may_be_empty) for m in MEASURES.values() if m.in_scores),
        ("model", "protocol", "item", "condition"),
        SCORE,
        added_columns=("n_critical_tokens",),
    ),
    Table(
        "pairs",
        "a minimal pair under a measure",
        parse_columns(
            MODEL_COLUMNS
            + f"""
phenomenon    string   phenomenon
paradigm      string   paradigm
item          string   item
measure       string   {", ".join(MEASURE_NAMES[:-1])} or {MEASURE_NAMES[-1]}
score_grammatical float    score of the grammatical member, nats
score_ungrammatical float    score of the ungrammatical member, nats
correct       bool     whether the grammatical member scores higher
tie           bool     whether both score exactly the same
language      string?  language of the item, a BCP 47 tag
"""
        ),
        ("model", "protocol", "item", "measure"),
        EVALUATE,
        added_columns=("language",),
    ),
    Table(
        "accuracy",
        "a paradigm, a phenomenon, or all of them, under a measure",
        parse_columns(
            MODEL_COLUMNS
            + """
phenomenon    string   phenomenon; 'all' in the two rows over all paradigms
paradigm      string   paradigm; 'pooled' is all pairs of the phenomenon (or of all) together, 'mean' the mean over paradigms
measure       string   measure
n_pairs       int      pairs
n_ties        int      ties, each half a success
accuracy      float    share correct, 0 to 1
wilson_low    float?   lower end of the 95 % Wilson interval (doi 10.1080/01621459.1927.10502953); none for the mean
wilson_high   float?   upper end
delta         float?   mean of the grammatical less the ungrammatical member's score, nats; over paradigms in the mean
"""
        ),
        ("model", "protocol", "phenomenon", "paradigm", "measure"),
        EVALUATE,
    ),
    Table(
        "sweep_coverage",
        "a model of a sweep in a language",
        parse_columns("""
model         string   as in the other tables
language      string   language of the items, a BCP 47 tag
kind          string   pairs or judgments
state         string   done; failed or missing where a unit is; refused where units were computed under several identities
n_units       int      units that the sweep prepares
n_done        int      those that are done
n_failed      int      those that failed
n_missing     int      those of which nothing is known yet
n_items       int      items of the units
n_left_out    int      items of units that are done which could not be scored
reason        string?  why units failed, and items were left out: the first reasons
"""),
        ("model", "language", "kind"),
        SWEEP,
    ),
    Table(
        "distractors",
        "a position of an item, which shares one distractor (Maze): to be read, edited and given back (maze --edited-distractors)",
        parse_columns("""
item          string   item
position      string   label of the position, or region and number of the word in it
conditions    string   conditions whose sentences have the position, with spaces between
words         string   words that stand there, with bars between
distractor    string?  word beside them, without marks and capitals; empty where none was found
rejected_words string?  words that it may not be, with spaces between
length        int?     letters and digits of the distractor
zipf          float?   its Zipf frequency; empty where the word list has none
surprisal     float?   bits of the distractor, the least of the conditions; empty without a model
margin        float?   bits by which the distractor exceeds the word, the least of the conditions
held_out_margin float? the same by the held-out model
reason        string?  why there is none, or by how much it falls short of what is demanded
"""),
        ("item", "position"),
        MAZE,
    ),
    Table(
        "distractor_margins",
        "a word of a sentence beside its distractor (Maze)",
        parse_columns("""
item          string   item
condition     string   condition
word          int      position in the sentence, from 1: the first word stands beside x-x-x
text          string   word as shown
position      string   position of the table distractors
distractor    string?  word beside it, as shown; empty where none was found
word_surprisal float?  bits of the word, whitespace-corrected (doi 10.18653/v1/2024.emnlp-main.1020); empty without a model
surprisal     float?   bits of the distractor in the word's place
margin        float?   surprisal - word_surprisal
held_out_word_surprisal float? bits of the word under the held-out model
held_out_surprisal float? bits of the distractor under the held-out model
held_out_margin float? held_out_surprisal - held_out_word_surprisal
"""),
        ("item", "condition", "word"),
        MAZE,
    ),
)
