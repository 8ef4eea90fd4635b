"""A small English grammar that draws sentences from a seed: the whole experience of the pocket model.

It is ours, so that the pocket model can be made anywhere without a download. Besides everyday sentences it holds, with
the rules that make them grammatical, six phenomena that studies ask about: *ever*, *any* and *at all* under a licensor;
agreement across an attractor; reflexives and reciprocals that agree with the subject of their clause; fillers that need a
gap; determiners that agree with their noun; verbs that take one or two objects, and the passive.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from .lexicon import (
    ANIMALS,
    BARE_VERBS,
    CONDITIONS,
    DEGREES,
    EVENTS,
    FOOD,
    FOOD_VERBS,
    GIVING_VERBS,
    MANNERS,
    NAMES_F,
    NAMES_M,
    OBJECT_VERBS,
    PEOPLE,
    PERSON_ADJECTIVES,
    PERSON_VERBS,
    PLACES,
    PLURAL,
    REFLEXIVE_VERBS,
    SAYING_VERBS,
    SINGULAR,
    STATES,
    TELLING_VERBS,
    THING_ADJECTIVES,
    THINGS,
    TIMES,
    Noun,
    Verb,
)


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: its words, number, and the gender its reflexive takes."""

    text: str
    number: int
    gender: str

    def reflexive(self) -> str:
        """The reflexive pronoun it binds."""
        return "themselves" if self.number == PLURAL else {"m": "himself", "f": "herself"}[self.gender]


def sentences(seed: int) -> Iterator[str]:
    """Yield sentences without end; the same seed yields the same ones."""
    random = Random(f"grammar-{seed}")
    makers, weights = zip(*CONSTRUCTIONS, strict=True)
    while True:
        yield finish(random.choices(makers, weights)[0](random))


def finish(words: str) -> str:
    """Return a sentence: first letter a capital, a full stop unless it ends in a mark."""
    text = words[0].upper() + words[1:]
    return text if text[-1] in "?!" else f"{text}."


def maybe(random: Random, chance: float, text: str) -> str:
    """Return `text` with that chance, else nothing."""
    return text if random.random() < chance else ""


def join(*parts: str) -> str:
    """Return the parts that are not empty with a space between."""
    return " ".join(part for part in parts if part)


# Noun phrases


def determiner(random: Random, number: int, following: str) -> str:
    """Return a determiner of that number that licenses nothing."""
    if number == PLURAL:
        choices = ["the", "some", "many", "these", "those", "most", "two", "my", "several"]
        weights = [9, 3, 2, 2, 2, 2, 1, 1, 2]
    else:
        article = "an" if following[0] in "aeiou" else "a"
        choices, weights = ["the", article, "this", "that", "every", "my", "each", "one"], [10, 4, 2, 2, 2, 1, 2, 1]
    return random.choices(choices, weights)[0]


def noun_phrase(random: Random, nouns: Sequence[Noun], number: int | None = None, determined: str = "") -> Phrase:
    """Return a noun phrase over one of `nouns`: determiner, sometimes an adjective, noun."""
    noun = random.choice(nouns)
    number = random.choice((SINGULAR, PLURAL)) if number is None else number
    adjectives = PERSON_ADJECTIVES if noun.kind == "person" else THING_ADJECTIVES
    adjective = maybe(random, 0.2, random.choice(adjectives))
    words = join(adjective, noun.forms[number])
    gender = random.choice("mf") if noun.gender == "n" else noun.gender
    return Phrase(join(determined or determiner(random, number, words), words), number, gender)


def subject(random: Random) -> Phrase:
    """Return a person as subject: mostly a noun phrase, sometimes a name or pronoun."""
    kind = random.random()
    if kind < 0.08:
        return Phrase(random.choice(NAMES_M), SINGULAR, "m")
    if kind < 0.16:
        return Phrase(random.choice(NAMES_F), SINGULAR, "f")
    if kind < 0.30:
        return random.choice((Phrase("he", SINGULAR, "m"), Phrase("she", SINGULAR, "f"), Phrase("they", PLURAL, "n")))
    return noun_phrase(random, PEOPLE)


def attractor(random: Random, nouns: Sequence[Noun], number: int | None = None) -> str:
    """Return a prepositional phrase that can stand after a noun of that kind."""
    if nouns is PEOPLE and random.random() < 0.4:
        return join(
            random.choice(("in", "at", "from", "on", "near")),
            random.choice(("the", "the", "this", "our")),
            random.choice(PLACES),
        )
    if nouns is PEOPLE:
        preposition, inside = random.choice(
            [
                ("near", THINGS),
                ("beside", PEOPLE),
                ("on", THINGS),
                ("behind", THINGS),
                ("with", THINGS),
                ("next to", PEOPLE),
                ("near", PEOPLE),
                ("of", PEOPLE),
            ]
        )
    else:
        preposition, inside = random.choice(
            [
                ("to", THINGS),
                ("on", THINGS),
                ("in", THINGS),
                ("near", THINGS),
                ("behind", THINGS),
                ("beside", THINGS),
                ("with", THINGS),
                ("about", THINGS),
                ("of", PEOPLE),
                ("from", PEOPLE),
                ("for", PEOPLE),
            ]
        )
    the = random.choice(("the", "the", ""))
    return join(preposition, noun_phrase(random, inside, number, the).text)


def relative_clause(random: Random) -> str:
    """Return a relative clause after a person, with the gap as its subject or its object."""
    who = random.choice(("who", "who", "that"))
    verb = random.choice(PERSON_VERBS)
    other = noun_phrase(random, PEOPLE)
    kind = random.random()
    if kind < 0.45:
        return join(who, verb.past, other.text)
    if kind < 0.8:
        return join(who, other.text, verb.past)
    return join(who, random.choice(OBJECT_VERBS).past, noun_phrase(random, THINGS).text)


def modified(random: Random, phrase: Phrase, nouns: Sequence[Noun], chance: float = 0.5) -> str:
    """Return the phrase's words, with that chance followed by an attractor or a relative clause."""
    if random.random() >= chance:
        return phrase.text
    if nouns is PEOPLE and random.random() < 0.5:
        return join(phrase.text, relative_clause(random))
    return join(phrase.text, attractor(random, nouns))


# Predicates


def be(number: int, past: bool) -> str:
    """Return the form of *be*."""
    return (("is", "are"), ("was", "were"))[past][number]


def adjunct(random: Random) -> str:
    """Return when or where, in a phrase or a clause."""
    kind = random.random()
    if kind < 0.35:
        where = random.choice(("after", "before", "during", "with", "under", "behind", "beside"))
        if where in ("after", "before", "during"):
            return f"{where} the {random.choice(EVENTS)}"
        return join(where, noun_phrase(random, THINGS).text)
    if kind < 0.6:
        return f"in the {random.choice(PLACES)}" if random.random() < 0.7 else f"at the {random.choice(EVENTS)}"
    if kind < 0.85:
        return random.choice(TIMES)
    return join(
        random.choice(("after", "before", "when")), noun_phrase(random, PEOPLE).text, random.choice(BARE_VERBS).past
    )


def transitive(random: Random) -> tuple[Verb, Sequence[Noun]]:
    """Return a verb that never goes without its object, and the nouns its object may have."""
    return random.choices(
        [
            (random.choice(OBJECT_VERBS), THINGS),
            (random.choice(FOOD_VERBS), FOOD),
            (random.choice(PERSON_VERBS), PEOPLE),
        ],
        [3, 3, 2],
    )[0]


def object_of(random: Random, nouns: Sequence[Noun]) -> str:
    """Return an object."""
    if nouns is PEOPLE and random.random() < 0.2:
        return random.choice(("him", "her", "them", "us", "me", *NAMES_M[:3], *NAMES_F[:3]))
    return noun_phrase(random, nouns).text


def participle_phrase(random: Random) -> str:
    """Return what follows *has* and an adverb."""
    if random.random() < 0.45:
        return join(random.choice(BARE_VERBS).participle, maybe(random, 0.3, adjunct(random)))
    verb, nouns = transitive(random)
    return join(verb.participle, object_of(random, nouns), maybe(random, 0.2, adjunct(random)))


# Sentences


def everyday(random: Random) -> str:
    """Return a plain sentence in the past: somebody did something."""
    who = subject(random).text
    kind = random.random()
    if kind < 0.25:
        return join(
            who,
            random.choice(BARE_VERBS).past,
            maybe(random, 0.3, random.choice(MANNERS)),
            maybe(random, 0.6, adjunct(random)),
        )
    if kind < 0.35:
        located = noun_phrase(random, random.choice((THINGS, ANIMALS, PEOPLE)), determined="")
        return join("there", be(located.number, random.random() < 0.5), located.text, f"in the {random.choice(PLACES)}")
    if kind < 0.6:
        return join(
            who,
            random.choice(("went", "came", "walked", "ran")),
            f"to the {random.choice(PLACES)}",
            maybe(random, 0.5, adjunct(random)),
        )
    if kind < 0.7:
        animal = noun_phrase(random, ANIMALS)
        act = random.choice(("sat on", "slept on", "jumped over", "ran around", "looked at", "stood near"))
        return join(animal.text, act, noun_phrase(random, THINGS).text, maybe(random, 0.3, adjunct(random)))
    verb, nouns = transitive(random)
    return join(who, verb.past, object_of(random, nouns), maybe(random, 0.5, adjunct(random)))


def negated(random: Random) -> str:
    """Return a sentence with *did not* or *never*, which license *any* and *at all*."""
    verb, nouns = transitive(random)
    who, negation = subject(random).text, random.choice(("did not", "didn't", "never"))
    if negation != "never" and random.random() < 0.3:
        return join(who, negation, random.choice(BARE_VERBS).base, "at all", maybe(random, 0.5, adjunct(random)))
    form = verb.past if negation == "never" else verb.base
    any_object = noun_phrase(random, nouns, PLURAL, "any").text if random.random() < 0.5 else object_of(random, nouns)
    return join(who, negation, form, any_object, maybe(random, 0.3, adjunct(random)))


def question(random: Random) -> str:
    """Return a question: with a fronted object and its gap, about the subject, or with *ever*."""
    who = noun_phrase(random, PEOPLE)
    verb, nouns = transitive(random)
    kind = random.random()
    if kind < 0.4:
        word = "who" if nouns is PEOPLE else "what"
        return (
            join(
                word, random.choice(("did", "should", "will")), who.text, verb.base, maybe(random, 0.6, adjunct(random))
            )
            + "?"
        )
    if kind < 0.6:
        return join("who", verb.past, object_of(random, nouns), maybe(random, 0.4, adjunct(random))) + "?"
    if kind < 0.8:
        return join("did", who.text, verb.base, object_of(random, nouns), maybe(random, 0.4, adjunct(random))) + "?"
    return join(("has", "have")[who.number], who.text, maybe(random, 0.8, "ever"), participle_phrase(random)) + "?"


LICENSORS = (("no", SINGULAR), ("no", PLURAL), ("few", PLURAL), ("none of the", PLURAL), ("nobody", SINGULAR))
RESULT_ADVERBS = ("finally", "quickly", "suddenly", "completely", "already", "later", "carefully", "immediately")
UNLICENSED_ADVERBS = ("often", "already", "always", "recently", "just", "never", "finally", "also")


def licensed(random: Random) -> str:
    """Return a perfect with *ever* under a negative subject, or with another adverb under any subject.

    A licensor inside a relative clause does not license *ever* after it, and a subject with a relative clause may.
    """
    negative = random.random() < 0.55
    if negative:
        quantifier, number = random.choice(LICENSORS)
        head = (
            Phrase(quantifier, number, "n")
            if quantifier == "nobody"
            else noun_phrase(random, PEOPLE, number, quantifier)
        )
        adverb = "ever" if random.random() < 0.8 else random.choice(UNLICENSED_ADVERBS[:5])
    else:
        head = noun_phrase(random, PEOPLE)
        adverb = maybe(random, 0.9, random.choice(UNLICENSED_ADVERBS))
    clause = ""
    if head.text != "nobody" and random.random() < 0.3:
        inner = noun_phrase(random, PEOPLE, None, "" if negative else random.choice(("", "no", "the")))
        clause = join(random.choice(("who", "that")), inner.text, random.choice(PERSON_VERBS).past)
    elif head.text != "nobody" and random.random() < 0.35:
        clause = attractor(random, PEOPLE)
    auxiliary = ("has", "have")[head.number] if random.random() < 0.7 else "had"
    return join(head.text, clause, auxiliary, adverb, participle_phrase(random))


def partitive(random: Random) -> str:
    """Return a clause about a part of some people: *at all* follows its verb after a negative quantifier only."""
    negative = random.random() < 0.6
    quantifier = (
        "none of the" if negative else random.choice(("some of the", "some of the", "most of the", "all of the"))
    )
    who, verb = noun_phrase(random, PEOPLE, PLURAL, quantifier).text, random.choice(BARE_VERBS)
    form = verb.past if random.random() < 0.7 else join("had", verb.participle)
    degree = maybe(random, 0.8, "at all") if negative else maybe(random, 0.5, random.choice(MANNERS))
    return join(who, form, degree, maybe(random, 0.7, adjunct(random)))


def agreeing(random: Random) -> str:
    """Return a sentence whose finite verb agrees with the head of its subject, often across an attractor."""
    nouns = random.choices((THINGS, PEOPLE), (3, 2))[0]
    quantifier = maybe(random, 0.15, "no")
    head = noun_phrase(random, nouns, determined=quantifier)
    words = modified(random, head, nouns, 0.7)
    kind = random.random()
    if kind < 0.7 or nouns is THINGS:
        states = CONDITIONS if nouns is THINGS else STATES
        degree = maybe(random, 0.2, random.choice(DEGREES))
        return join(
            words,
            be(head.number, random.random() < 0.45),
            degree,
            random.choice(states),
            maybe(random, 0.2, random.choice(TIMES)),
        )
    if kind < 0.85:
        return join(words, random.choice(BARE_VERBS).present(head.number), maybe(random, 0.5, random.choice(MANNERS)))
    verb, objects = transitive(random)
    return join(words, verb.present(head.number), object_of(random, objects))


def reflexive(random: Random) -> str:
    """Return a sentence whose reflexive agrees with the subject of its own clause; a plural one may be reciprocal."""
    head = (
        noun_phrase(random, PEOPLE, determined=maybe(random, 0.5, "the")) if random.random() < 0.85 else subject(random)
    )
    plain = " " not in head.text
    words = head.text if plain else modified(random, head, PEOPLE, 0.6)
    reciprocal = head.number == PLURAL and random.random() < 0.3
    verb = random.choice((*REFLEXIVE_VERBS, *PERSON_VERBS) if reciprocal else REFLEXIVE_VERBS)
    anaphor = "each other" if reciprocal else head.reflexive()
    start = ""
    if random.random() < 0.2:
        start = join(subject(random).text, random.choice(("said", "thought", "knew")), "that")
    return join(start, words, verb.past, anaphor, maybe(random, 0.5, adjunct(random)))


def knower(random: Random) -> str:
    """Return the beginning of a sentence that embeds a clause or a question."""
    if random.random() < 0.5:
        return join(
            random.choice(("I", "we", "they", "you")),
            random.choice(("know", "remember", "forgot", "knew", "learned", "saw")),
        )
    verbs = (
        "knew",
        "remembered",
        "forgot",
        "learned",
        "saw",
        "heard",
        "noticed",
        "discovered",
        "explained",
        "revealed",
    )
    return join(subject(random).text, random.choice(verbs))


def embedded(random: Random) -> str:
    """Return an embedded clause with all its phrases after *that*, or with a gap after *what* or *who*."""
    who = noun_phrase(random, PEOPLE) if random.random() < 0.85 else subject(random)
    verb, nouns = transitive(random)
    after = adjunct(random)
    kind = random.random()
    if kind < 0.4:
        return join(knower(random), "that", who.text, verb.past, object_of(random, nouns), maybe(random, 0.7, after))
    if kind < 0.6:
        says = join(who.text, random.choice(SAYING_VERBS).at(random.random() < 0.5, who.number))
        filler, inner = ("who", "") if random.random() < 0.65 else ("that", noun_phrase(random, PEOPLE).text)
        return join(knower(random), filler, says, inner, verb.past, object_of(random, nouns), maybe(random, 0.4, after))
    if kind < 0.9:
        filler = "who" if nouns is PEOPLE else "what"
        form = verb.past if random.random() < 0.8 else join("had", verb.participle)
        return join(knower(random), filler, who.text, form, maybe(random, 0.8, after))
    return join(knower(random), "who", verb.past, object_of(random, nouns), maybe(random, 0.6, after))


def giving(random: Random) -> str:
    """Return a sentence of something for somebody: after some verbs as two objects, after all of them with *to*."""
    who, gift = subject(random).text, noun_phrase(random, random.choice((THINGS, FOOD))).text
    pronoun = random.random() < 0.6
    objects: tuple[str, ...]
    whom = random.choice(("him", "her", "them", "us", "me")) if pronoun else noun_phrase(random, PEOPLE).text
    if random.random() < 0.55:
        double = random.random() < (0.85 if pronoun else 0.5)
        verb, objects = random.choice(GIVING_VERBS), (whom, gift) if double else (gift, "to", whom)
    else:
        verb, objects = random.choice(TELLING_VERBS), (gift, "to", whom) if random.random() < 0.6 else (gift,)
    return join(who, verb.past, *objects, maybe(random, 0.4, adjunct(random)))


def passive(random: Random) -> str:
    """Return a passive, or a perfect with its object, each often with an adverb before the participle."""
    verb, nouns = transitive(random)
    adverb = maybe(random, 0.6, random.choice(RESULT_ADVERBS))
    if random.random() < 0.4:
        return join(subject(random).text, "had", adverb, verb.participle, object_of(random, nouns))
    patient = noun_phrase(random, nouns)
    agent = join("by", noun_phrase(random, PEOPLE).text) if random.random() < 0.8 else ""
    past = random.random() < 0.85
    return join(
        patient.text, be(patient.number, past), adverb, verb.participle, agent, maybe(random, 0.4, adjunct(random))
    )


def spoken(random: Random) -> str:
    """Return two clauses joined by a conjunction, or a comment on one."""
    kind = random.random()
    if kind < 0.4:
        return join(everyday(random), random.choice(("because", "but", "and", "while", "so")), everyday(random))
    if kind < 0.7:
        start = random.choice(("I am", "you are", "we were", "it is", "it was", "I was"))
        return join(start, random.choice(DEGREES), random.choice(STATES[:10]))
    if kind < 0.85:
        verb, nouns = transitive(random)
        modal = random.choice(("can", "will", "should", "must", "could", "would", "wants to", "tried to"))
        who = noun_phrase(random, PEOPLE, SINGULAR)
        return join(who.text, modal, verb.base, object_of(random, nouns), maybe(random, 0.3, random.choice(TIMES)))
    verb, nouns = transitive(random)
    who = subject(random)
    return join(who.text, be(who.number, random.random() < 0.6), verb.ing, object_of(random, nouns))


Construction = Callable[[Random], str]
CONSTRUCTIONS: Sequence[tuple[Construction, float]] = (
    (everyday, 10),
    (negated, 4),
    (question, 4),
    (licensed, 10),
    (partitive, 4),
    (agreeing, 22),
    (reflexive, 26),
    (embedded, 17),
    (giving, 6),
    (passive, 5),
    (spoken, 4),
)
