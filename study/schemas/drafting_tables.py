"""Items that a model proposed: what was asked for, what could be read, and what became of it."""

from .declaration import DRAFT, Table, columns

TABLES = (
    Table(
        "drafting",
        "a step of drafting with its reason: how many pairs of a paradigm came so far",
        columns(
            """
paradigm    string   paradigm
model       string   model that drafted, name@revision; 'unknown' of pasted answers without a name
prompt_hash string   first 16 hexadecimal digits of the SHA-256 of what was asked; 'unknown' of pasted answers
step        string   asked (for so many pairs), parsed, not parsed (lines), flagged (with findings), accepted, corrected, dropped
reason      string   why not parsed, or dropped; 'none' otherwise
n           int      number of pairs, or of lines that are no pair
"""
        ),
        ("paradigm", "model", "prompt_hash", "step", "reason"),
        DRAFT,
    ),
)
