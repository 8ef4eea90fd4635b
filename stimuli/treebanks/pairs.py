"""A pair out of a tree: the sentence as it stands, and the same with another form of the word that agrees."""

import json
import re
from dataclasses import dataclass

from ..items import CRITICAL, CUE, GRAMMATICAL, UNGRAMMATICAL, Item, Region, Sentence
from .candidates import Edge
from .inflection import Swap
from .trees import Token

LETTERS_BEFORE_PATTERN = re.compile(r"\S+$")
LETTERS_AFTER_PATTERN = re.compile(r"\S+")
APOSTROPHE_CHARACTERS = ("'", "’", "ʼ")


@dataclass(frozen=True, slots=True)
class Pair:
    """A subject, a word that agrees with it, and another form of the word that does not.

    `congruent_attractors` and `incongruent_attractors` are the attractors: the nouns, pronouns and names strictly between the two
    that state the feature.
    """

    edge: Edge
    word: Token
    swap: Swap
    value: frozenset[str]
    congruent_attractors: tuple[Token, ...]
    incongruent_attractors: tuple[Token, ...]

    @property
    def order(self) -> str:
        """SV where the subject comes first, else VS."""
        return "SV" if self.edge.subject.id < self.word.id else "VS"

    @property
    def distance(self) -> int:
        """From one to the other, in words and marks of the tree; 1 for neighbours."""
        return abs(self.edge.subject.id - self.word.id)

    @property
    def type(self) -> str:
        """What kind of word agrees: verb, aux (auxiliary or copula), or ptcp (participle)."""
        if self.word is not self.edge.head:
            return "aux"
        return "verb" if self.word is self.edge.verb else "ptcp"

    @property
    def texts(self) -> tuple[str, str]:
        """The grammatical sentence, which is the treebank's own, and the ungrammatical one."""
        text = self.edge.text
        return text, text[: self.word.start] + self.swap.form + text[self.word.end :]

    @property
    def balancing_variables(self) -> tuple[str, str, int, bool, bool]:
        """What a draw is balanced over: subject, word, distance, and whether all attractors are congruent, or all incongruent."""
        congruent, incongruent = bool(self.congruent_attractors), bool(self.incongruent_attractors)
        return (self.edge.subject.form, self.word.form, self.distance, congruent and not incongruent, incongruent and not congruent)

    @property
    def name(self) -> str:
        """What it is called in a draw: the same whatever else was extracted."""
        edge = self.edge
        return f"{edge.treebank} {edge.sent_id} {edge.subject.id} {self.word.id} {self.swap.form}"


def build_pair(edge: Edge, word: Token, swap: Swap, value: frozenset[str], feature: str) -> Pair:
    """Return the pair with its attractors."""
    low, high = sorted((edge.subject.id, word.id))
    between = [token for token in edge.intervening_nominals if low < token.id < high and feature in token.features]
    congruent = tuple(token for token in between if token.features[feature] & value)
    return Pair(edge, word, swap, value, congruent, tuple(token for token in between if token not in congruent))


def is_fused(word: Token, form: str) -> bool:
    """Whether a word of a multiword token cannot change by itself: the token is not its words side by side, or one is a clitic."""
    return word.multiword_token is not None and (
        not word.multiword_token.is_concatenated
        or word.form.startswith(APOSTROPHE_CHARACTERS)
        or form.startswith(APOSTROPHE_CHARACTERS)
    )


def can_stand_alone(word: Token) -> bool:
    """Whether a word's form is one that can stand where another word does: no part (*can't*, *wanna*), no clitic."""
    return word.multiword_token is None and not word.form.startswith(APOSTROPHE_CHARACTERS)


def join_values(values: frozenset[str]) -> str:
    """Return values as Universal Dependencies write several: in order, with commas."""
    return ",".join(sorted(values))


def build_item(pair: Pair, name: str, paradigm: str, tag: str, more: dict[str, str]) -> Item:
    """Return the pair as an item: critical is the word that changes, cue the subject."""
    good, bad = pair.texts
    start, end = _widen_to_word(good, pair.word.start, pair.word.end)
    longer = len(bad) - len(good)
    cue = _widen_to_word(good, pair.edge.subject.start, pair.edge.subject.end)
    after = longer if cue[0] >= end else 0
    cues = [cue, (cue[0] + after, cue[1] + after)] if cue[1] <= start or cue[0] >= end else []
    regions = [
        tuple(sorted((Region(CRITICAL, start, stop), *(Region(CUE, *span) for span in spans)), key=lambda region: region.start))
        for stop, spans in ((end, cues[:1]), (end + longer, cues[1:]))
    ]
    attractors = sorted(
        (token.start, token.end, token.form, kind)
        for kind, tokens in (("congruent", pair.congruent_attractors), ("incongruent", pair.incongruent_attractors))
        for token in tokens
    )
    extra = {
        **more,
        "origin": "treebank",
        "treebank": pair.edge.treebank,
        "sent_id": pair.edge.sent_id,
        "value": join_values(pair.value),
        "other_value": join_values(pair.swap.values),
        "order": pair.order,
        "type": pair.type,
        "subject": pair.edge.subject.form,
        "word": pair.word.form,
        "other_form": pair.swap.form,
        "distance": str(pair.distance),
        "congruent": str(len(pair.congruent_attractors)),
        "incongruent": str(len(pair.incongruent_attractors)),
        "attractors": json.dumps([[form, *span, kind] for *span, form, kind in attractors], ensure_ascii=False),
    }
    sentences = {GRAMMATICAL: Sentence(good, regions[0]), UNGRAMMATICAL: Sentence(bad, regions[1])}
    return Item(name, paradigm, sentences, tag, extra=extra)


def _widen_to_word(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span widened to the letters around it up to the next spaces: words are what is read and scored."""
    before, after = LETTERS_BEFORE_PATTERN.search(text[:start]), LETTERS_AFTER_PATTERN.match(text, end)
    letters = [
        n
        for n in (*range(before.start() if before else start, start), *range(end, after.end() if after else end))
        if text[n].isalnum()
    ]
    return min([start, *letters]), max([end, *(n + 1 for n in letters)])
