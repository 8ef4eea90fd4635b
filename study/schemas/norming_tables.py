"""What people made of single items before the study: cloze probabilities, ratings, and which items were kept."""

from .table_schema import Producer, Table, parse_columns

NORM = Producer("norm", "norming/results", "what people made of single items before the study, and which were kept")

VALUE_COLUMNS = """
value         float?   cloze: share of responses with the target's form; of ratings their mean; empty without a response
ci_low        float?   lower end of the 95 % interval: Wilson's, or by Student's t over participants
ci_high       float?   upper end
"""

TABLES = (
    Table(
        "fragments",
        "a sentence up to the word that is asked for",
        parse_columns("""
item          string   item
paradigm      string   paradigm of the item
condition     string   condition
language      string   language tag (BCP 47)
context       string?  what is read before
fragment      string   the sentence up to that word
target        string   the word, without the marks around it
has_word_spaces bool   whether words are set apart; where not, the whole answer is one
target_attached bool   whether the word follows the fragment without a space
"""),
        ("item", "condition"),
        NORM,
        is_always_written=False,
    ),
    Table(
        "cloze_responses",
        "what was typed after a fragment",
        parse_columns("""
item          string   item
conditions    string   conditions with this fragment, with commas between
response      string   response as typed
n_responses   int      times it was typed
word          string?  its first word, without the marks around it; empty where there is none
form          string?  form that it is counted as; edit it and give the file back (--grouping); empty: it does not count
coding        string   typed; first word (of more, or marks); case; spelling (one edit from a form, or the target); none; edited
"""),
        ("item", "conditions", "response"),
        NORM,
        is_always_written=False,
    ),
    Table(
        "cloze",
        "a form given after a fragment",
        parse_columns("""
item          string   item
conditions    string   conditions with this fragment, with commas between
fragment      string   the sentence up to the word
form          string   form
lemma         string?  its lemma, where a lexicon has one alone
n_responses   int      responses of this form
n_valid_responses int  responses that count
probability   float    n_responses / n_valid_responses
ci_low        float    lower end of its 95 % Wilson interval (doi 10.1080/01621459.1927.10502953)
ci_high       float    upper end
"""),
        ("item", "conditions", "form"),
        NORM,
        is_always_written=False,
    ),
    Table(
        "norms",
        "a sentence that was normed",
        parse_columns(
            """
item          string   item
paradigm      string   paradigm of the item
condition     string   condition
task          string   cloze, plausibility or acceptability
target        string?  cloze: the word of the sentence, whose form is counted
n_valid_responses int  responses that count
"""
            + VALUE_COLUMNS
            + """
sd            float?   ratings: their standard deviation
entropy       float?   cloze: entropy of the forms, bits, of shares as they are (too low with few answers)
modal_form    string?  cloze: the form given most often
shrunken      float?   value drawn towards those of all items of the condition: beta-binomial or normal empirical Bayes
"""
        ),
        ("item", "condition", "task"),
        NORM,
    ),
    Table(
        "norm_decisions",
        "an item that was normed",
        parse_columns("""
item          string   item
paradigm      string   paradigm of the item
kept          bool     whether all rules hold of it
reason        string?  rules that do not, with what was found
task          string?  cloze, plausibility or acceptability
rules         string?  rules as stated, with semicolons between; empty: none, all are kept
rules_stated_before_data bool? whether they were stated before the first answer; empty: tables do not tell
n_participants int?    people whose responses count
source        string?  where their sessions come from, as in table sessions, with commas between
"""),
        ("item", "task"),
        NORM,
        added_columns=("task", "rules", "rules_stated_before_data", "n_participants", "source"),
    ),
    Table(
        "norms_by_model",
        "a sentence that was normed, beside a language model",
        parse_columns("""
model         string   model id, or path
item          string   item
paradigm      string   paradigm of the item
condition     string   condition
target        string   the word of the sentence
value         float?   people's cloze probability of it
model_value   float?   the model's probability of the word after the fragment, with the word's end
kept          bool     whether people's norms keep the item
kept_by_model bool     whether the model's probabilities in their place would
"""),
        ("model", "item", "condition"),
        NORM,
        is_always_written=False,
    ),
    Table(
        "cloze_by_model",
        "a form given after a fragment, beside a language model",
        parse_columns("""
model         string   model id, or path
item          string   item
conditions    string   conditions with this fragment, with commas between
form          string   form
probability   float    share of people's answers
model_probability float? the model's probability of the form after the fragment, with the word's end
"""),
        ("model", "item", "conditions", "form"),
        NORM,
        is_always_written=False,
    ),
    Table(
        "norm_means",
        "a paradigm's condition, averaged over items",
        parse_columns("""
paradigm      string   paradigm; all: of all of them together
condition     string   condition
n_items       int      items that were normed
mean_value    float    mean of their values
ci_low        float?   lower end of its 95 % interval, normal over items; empty under ten
ci_high       float?   upper end
model         string?  model whose values are there of the other items; empty: none, or the items were not drawn at random
n_other_items int?     items that were not normed
predicted_mean float?  prediction-powered mean of all items drawn from; empty under ten (doi 10.1126/science.adi6000)
predicted_ci_low float? lower end of its 95 % interval
predicted_ci_high float? upper end
task          string?  cloze, plausibility or acceptability
"""),
        ("paradigm", "condition", "model", "task"),
        NORM,
        added_columns=("task",),
    ),
)
