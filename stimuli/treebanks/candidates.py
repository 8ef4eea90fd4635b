"""Subjects and the words that agree with them: the nsubj edges of a tree, and what speaks against one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .trees import Features, Token, Tree

AGREEMENT_FEATURES = ("Number", "Person", "Gender")
SUBJECT_UPOS = {"all": ("NOUN", "PRON"), "noun": ("NOUN",)}
NOMINAL_UPOS = frozenset(("NOUN", "PRON", "PROPN"))
PREDICATE_UPOS = frozenset(("VERB", "AUX"))
DOUBTFUL_SUBJECT_FAULTS = ("conjoined-subject", "expletive", "outer-subject")
PARTICLE_FEATURE = "particle"  # a feature of entries whose particle stands apart
SEPARATE_PARTICLE = {PARTICLE_FEATURE: frozenset(("apart",))}
SUBJECT_PREFIX = "subject's "  # before the name of a feature that an entry has from the subject of its word
THIRD_PERSON = frozenset(("3",))
FINITE_FORM = "Fin"
PARTICIPLE_FORM = "Part"


@dataclass(frozen=True, slots=True)
class Edge:
    """A subject with its predicate, in a sentence of a treebank.

    `verb` is the finite word that agrees: the first finite auxiliary or copula, else the predicate's head, None where neither is
    finite. `particle` is that of the head where it stands apart from it, else ''. `intervening_nominals` are the nouns, pronouns
    and names from the first to the last of the three. `fault` is why it is no candidate, '' if it is one.
    """

    treebank: str
    sent_id: str
    text: str
    subject: Token
    head: Token
    verb: Token | None
    particle: str
    intervening_nominals: tuple[Token, ...]
    fault: str

    def find_agreeing_word(self, participle: bool) -> Token | None:
        """Return the word that agrees with the subject: the finite one, or the participle at the head."""
        if participle:
            return self.head if PARTICIPLE_FORM in self.head.features.get("VerbForm", ()) else None
        return self.verb


def find_edges(tree: Tree, *, subjects: str = "all", passive: bool = False) -> Iterator[Edge]:
    """Yield the subjects of a tree with their predicates, those that are no candidates with their fault."""
    relations = ("nsubj", "nsubj:pass") if passive else ("nsubj",)
    found = [token for token in tree.tokens if token.deprel in relations]
    if not found:
        return
    found = [subject for subject in found if subject.head]  # a subject that is the root says nothing
    dependents: dict[int, list[Token]] = {id: [] for subject in found for id in (subject.id, subject.head)}
    for token in tree.tokens:
        if token.head in dependents:
            dependents[token.head].append(token)
    for subject in found:
        head = tree.tokens[subject.head - 1]
        below = dependents[head.id]
        verb = _find_finite_word(head, below)
        first, *_, last = sorted({subject.id, head.id, (verb or head).id})
        yield Edge(
            tree.treebank,
            tree.sent_id,
            tree.text,
            subject,
            head,
            verb,
            next((token.form for token in below if is_separate_particle(token, tree)), ""),
            tuple(t for t in tree.tokens if first < t.id < last and t.upos in NOMINAL_UPOS),
            _find_fault(subject, head, dependents[subject.id], below, SUBJECT_UPOS[subjects]),
        )


def _find_finite_word(head: Token, below: list[Token]) -> Token | None:
    """Return the first finite auxiliary or copula of a predicate, or its head where it has none; None where nothing is finite."""
    helping = [token for token in below if token.deprel == "cop" or token.deprel.partition(":")[0] == "aux"]
    words = [word for word in helping or [head] if FINITE_FORM in word.features.get("VerbForm", (FINITE_FORM,))]
    return words[0] if words else None


def _find_fault(subject: Token, head: Token, of_subject: list[Token], of_head: list[Token], upos: tuple[str, ...]) -> str:
    if subject.upos not in upos:
        return "subject-upos"
    if head.upos not in PREDICATE_UPOS:
        return "predicate-upos"
    if any(token.deprel == "conj" for token in of_subject):
        return "conjoined-subject"
    relations = {token.deprel for token in of_head}
    if any(relation.partition(":")[0] == "expl" for relation in relations):
        return "expletive"
    return "outer-subject" if relations & {"csubj:outer", "nsubj:outer"} else ""


def get_subject_features(subject: Token) -> Features:
    """Return the features of a subject; nouns and names are of the third person."""
    if subject.upos in ("NOUN", "PROPN") and "Person" not in subject.features:
        return {**subject.features, "Person": THIRD_PERSON}
    return subject.features


def transfer_features(word: Token, subject: Token) -> Features:
    """Return the features of an agreeing word, with those of number, person and gender that only its subject states."""
    given = get_subject_features(subject)
    taken = {name: given[name] for name in AGREEMENT_FEATURES if name in given and name not in word.features}
    return {**word.features, **taken} if taken else word.features


def has_contradiction(word: Token, subject: Token) -> bool:
    """Whether subject and word state different numbers, persons or genders: one of the two is annotated wrongly.

    What is only assumed of the subject, that nouns are of the third person, counts too.
    """
    given = get_subject_features(subject)
    return any(
        name in given and name in word.features and given[name].isdisjoint(word.features[name]) for name in AGREEMENT_FEATURES
    )


def find_added_features(tree: Tree, found: Iterable[Edge]) -> dict[int, Features]:
    """Return what the verbs of a tree state as entries of forms beside their own features, by word: what their subjects say, and
    that their particle stands apart.

    Features of subjects are under names of their own, so that agreement is measured without them.
    """
    added: dict[int, Features] = {
        token.head: dict(SEPARATE_PARTICLE)
        for token in tree.tokens
        if token.deprel == "compound:prt" and is_separate_particle(token, tree)
    }
    for edge in found:
        if edge.fault in DOUBTFUL_SUBJECT_FAULTS:
            continue
        given = get_subject_features(edge.subject)
        for word in (edge.verb, edge.head):
            if word is not None and word.upos in PREDICATE_UPOS:
                taken = {
                    SUBJECT_PREFIX + name: given[name] for name in AGREEMENT_FEATURES if name in given and name not in word.features
                }
                added[word.id] = {**added.get(word.id, {}), **taken}
    return added


def is_separate_particle(particle: Token, tree: Tree) -> bool:
    """Whether a word is the particle of its head, whose lemma begins with it: German `ruft ... an`, Dutch `belt ... op`."""
    if particle.deprel != "compound:prt" or not particle.head:
        return False
    lemma = tree.tokens[particle.head - 1].lemma
    return lemma.casefold().startswith(particle.form.casefold()) and len(lemma) > len(particle.form)
