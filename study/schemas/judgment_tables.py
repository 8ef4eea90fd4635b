"""What language models answer when they are asked to judge sentences."""

from .table_schema import JUDGE, Table, parse_columns

TABLES = (
    Table(
        "judgments",
        "a minimal pair judged by a method and template",
        parse_columns(
            """
model         string   model id or path
method        string   how the model is asked, a name of lmscore.METHODS; takes the place that measure has in pairs
template      string   id of the template; 'none' of the methods that have none
phenomenon    string   phenomenon
paradigm      string   paradigm
item          string   item
language      string?  language of the item, a BCP 47 tag
score_grammatical float?   score of the grammatical member, in the method's unit (docs/judging.md); empty: no answer could be read
score_ungrammatical float?   score of the other member
tokens_grammatical int tokens of the grammatical member by itself
tokens_ungrammatical int tokens of the other member
response      string?  answer, a label or what was generated; two, one a member or order, have ' | ' between them; empty: none asked
correct       bool     whether the grammatical member is preferred; false where no answer could be read
tie           bool     whether both members score exactly the same
order         string?  member that stands first, grammatical or ungrammatical; both: asked in both orders; empty: each by itself
answer_probability float?   probability that the model gives the labels at all, mean over the pair's prompts; empty without labels
"""
        ),
        ("model", "method", "template", "item"),
        JUDGE,
    ),
    Table(
        "model_responses",
        "an answer of a language model that took part in a study",
        parse_columns(
            """
model         string   model id or path
participant   string   participant: the model and a number
session       string   session
question      int      which question of the session, from 0
trial         int?     presented position in the session, from 0
paradigm      string?  paradigm of the item
item          string?  item
condition     string?  condition shown
task          string   kind of task: rating, question, choice, lexical_decision
prompt        string   name of the task as the study names it
response      string   answer as it was written
lp            float    log-probability of that answer, nats, among all that the model could have said
expected_response float?   mean of the answers of a scale, by their probabilities given that one is given; empty of other answers
answer_probability float    probability of all answers to the question together
n_trials_cut  int      trials at the session's beginning that did not fit the model's window
"""
        ),
        ("session", "question"),
        JUDGE,
        is_always_written=False,
    ),
    Table(
        "session_likelihoods",
        "how probable a language model finds the answers of a person's session",
        parse_columns(
            """
model         string   model id or path
experiment    string   study and experiment, as the sessions state them
participant   string   who answered
session       string   session
n_responses   int      answers
lp            float    sum of their log-probabilities, nats, each after all that precedes it
mean_lp       float    lp for each answer, nats
n_parts       int      parts in which the session was read, 1 where it fits the model's window
"""
        ),
        ("model", "participant", "session"),
        JUDGE,
        is_always_written=False,
    ),
)
