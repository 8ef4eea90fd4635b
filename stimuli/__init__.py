"""Materials: items with marked regions, their formats, checks, and counterbalanced designs."""

from .items import (
    CRITICAL,
    CUE,
    GRAMMATICAL,
    MINIMAL_PAIR,
    UNGRAMMATICAL,
    Item,
    Materials,
    Paradigm,
    Place,
    Region,
    Sentence,
    Word,
)
from .tables import conditions_table, items_table, words_table
