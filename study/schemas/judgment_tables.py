"""What language models answer when they are asked to judge sentences."""

from .declaration import JUDGE, Table, columns

TABLES = (
    Table(
        "judgments",
        "a minimal pair judged by a method and template",
        columns(
            """
model         string   model id or path
method        string   how the model is asked, a name of lmscore.METHODS; takes the place that measure has in pairs
template      string   id of the template; 'none' of the methods that have none
phenomenon    string   phenomenon
paradigm      string   paradigm
item          string   item
language      string?  language of the item, a BCP 47 tag
grammatical   float?   score of the grammatical member, in the method's unit (docs/judging.md); empty: no answer could be read
ungrammatical float?   score of the other member
tokens_grammatical int tokens of the grammatical member by itself
tokens_ungrammatical int tokens of the other member
answer        string?  answer, a label or what was generated; two, one a member or order, have ' | ' between them; empty: none asked
correct       bool     whether the grammatical member is preferred; false where no answer could be read
tie           bool     whether both members score exactly the same
order         string?  member that stands first, grammatical or ungrammatical; both: asked in both orders; empty: each by itself
mass          float?   probability that the model gives the labels at all, mean over the pair's prompts; empty without labels
"""
        ),
        ("model", "method", "template", "item"),
        JUDGE,
    ),
)
