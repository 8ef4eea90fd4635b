"""Items that a model proposed: what was asked for, what could be read, and what became of it."""

from .table_schema import DRAFT, REVIEW, Table, parse_columns

TABLES = (
    Table(
        "item_origins",
        "an item of a study, and where it comes from as its file says",
        parse_columns(
            """
item        string   item
paradigm    string   paradigm
origin      string   hand (also where nothing is said), draft, grammar, treebank or corpus
model       string?  model that drafted it, name@revision
reviewers   string?  who decided about it, with commas between
corrected   bool     whether a reviewer changed it
"""
        ),
        ("item",),
        None,
    ),
    Table(
        "drafting",
        "a step of drafting with its reason: how many pairs of a paradigm came so far",
        parse_columns(
            """
paradigm    string   paradigm
model       string   model that drafted, name@revision; 'unknown' of pasted answers without a name
prompt_hash string   first 16 hexadecimal digits of the SHA-256 of what was asked; 'unknown' of pasted answers
step        string   asked (unknown of pasted answers), parsed, not parsed (lines), flagged (findings), accepted, corrected, dropped
reason      string   why not parsed, or dropped; 'none' otherwise
n_pairs     int      number of pairs, or of lines that are no pair
"""
        ),
        ("paradigm", "model", "prompt_hash", "step", "reason"),
        DRAFT,
    ),
    Table(
        "reviews",
        "a decision of a reviewer about a pair, or its being taken back",
        parse_columns(
            """
decision     int      number of the line in the log
time         string   when, ISO 8601 in UTC
reviewer     string   who
item         string   item; of a known-bad pair a name of its own
condition    string?  condition of the sentence, in blind mode alone
action       string   accept, correct, drop, undo; in blind mode acceptable, unacceptable
good         bool?    tick: the grammatical sentence is grammatical
bad          bool?    tick: the ungrammatical sentence is ungrammatical
nothing_else bool?    tick: nothing else is wrong with either
fits         bool?    tick: the pair fits the paradigm
reason       string?  why it was dropped
injected_error string? how a known-bad pair was made bad; empty of drafts
is_adjudication bool   whether it settles what others did not agree on
guidelines   string?  first 16 hexadecimal digits of the SHA-256 of the guidelines beside it
"""
        ),
        ("decision",),
        REVIEW,
    ),
    Table(
        "review_agreement",
        "two reviewers on a tick, on keeping a pair, or on acceptability in blind mode: first decisions, before edits",
        parse_columns(
            """
reviewer_a string   one reviewer
reviewer_b string   the other
measure    string   good, bad, nothing_else, fits (ticks), keep (accepted or corrected), acceptable (blind)
n_decided  int      pairs, or sentences, that both decided
agreement  float    share on which they agree
kappa      float?   Cohen's kappa; empty where both gave one answer throughout
kappa_ci_low float?   lower end of its 95 % interval
kappa_ci_high float?   upper end
ac1        float?   Gwet's AC1
ac1_ci_low float?   lower end of its 95 % interval
ac1_ci_high float?   upper end
"""
        ),
        ("reviewer_a", "reviewer_b", "measure"),
        REVIEW,
    ),
)
