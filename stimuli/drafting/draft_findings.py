"""What is odd in drafts, before anybody reads them: copies, other differences, words, lengths, the paradigm's rules."""

import difflib
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ..checks import check
from ..item_tables import zipf
from ..items import Item, Materials, Paradigm, Sentence
from ..text_checks import find_usable_word_list
from .regions import EDGE_PUNCTUATION

NEAR_COPY_JACCARD = 0.8  # of the trigrams of two sentences, shared: a near duplicate
MAX_WORD_SHARE = 0.1  # of the pairs in which a content word may stand, at least MIN_WORD_QUOTA
MIN_WORD_QUOTA = 3
MAX_CONTENT_ZIPF = 5.5  # Zipf from which a word is a function word, or as good as one
OUTLIER_SD = 2.5  # standard deviations from the mean of seeds and drafts
MIN_OUTLIER_SAMPLE = 8  # sentences from which there are outliers
MIN_CONTENT_WORDS = 2  # content words by which a copy is known
STEM_LENGTH = 4  # first letters by which most forms of a word are alike
FOREIGN_SHARE = 0.5  # of a sentence's words, unknown: another language


def examine_drafts(
    drafts: Sequence[Item], seeds: Sequence[Item], paradigm: Paradigm, earlier_drafts: Sequence[Item] = ()
) -> dict[str, list[str]]:
    """Return what is odd in each draft, by its id; a draft without findings has an empty list.

    A copy has the words of a seed or of an earlier draft; a near copy shares four fifths of its trigrams of words in both members
    (Jaccard), or has the same content words, forms of a word counting as one; `earlier_drafts` are drafts of another time, for
    copies of them. A difference of another kind replaces, adds or drops other numbers of words than any seed's. Lengths (words) and
    mean Zipf frequencies are outliers 2.5 s.d. from the mean of seeds and drafts. Besides come the errors and warnings of
    `stimuli.check`, but for those that half of the seeds have too.
    """
    odd: dict[str, list[str]] = {draft.id: [] for draft in drafts}
    _find_copies(drafts, {"seed": seeds, "draft": earlier_drafts}, odd)
    kinds = {classify_difference(seed) for seed in seeds}
    for draft in drafts:
        if seeds and classify_difference(draft) not in kinds:
            odd[draft.id].append(f"differs in another way than the seeds: {describe_difference(classify_difference(draft))}")
    _find_odd_words(drafts, seeds, odd)
    _find_outliers(drafts, seeds, odd)
    findings = check(Materials((paradigm,), (*seeds, *drafts)))
    of_seeds = {(finding.rule, finding.item) for finding in findings if finding.item not in odd}
    usual = {rule for rule, n in Counter(rule for rule, _ in of_seeds).items() if 2 * n >= len(seeds)}
    for finding in findings:
        if finding.item in odd and finding.severity in ("error", "warning") and finding.rule not in {*SUPERSEDED_RULES, *usual}:
            odd[finding.item].append(f"{finding.rule}: {finding.message}")
    return {name: list(dict.fromkeys(messages)) for name, messages in odd.items()}


# Which are said here, and more exactly; a region that is missing is said where it could not be placed.
SUPERSEDED_RULES = ("duplicate-item", "duplicate-sentence", "unknown-word", "region-missing", "cue-missing")


def list_folded_words(sentence: Sentence) -> tuple[str, ...]:
    """Return the words in lower case without punctuation."""
    return tuple(filter(None, (word.text.strip(EDGE_PUNCTUATION).lower() for word in sentence.list_words())))


def classify_difference(item: Item) -> tuple[tuple[str, int, int], ...]:
    """Return in which way the members differ: for each stretch whether words are replaced, added or dropped, and how many.

    >>> dogs = {"grammatical": Sentence("The dog barks."), "ungrammatical": Sentence("The dog bark.")}
    >>> classify_difference(Item("i", "p", dogs))
    (('replace', 1, 1),)
    """
    one, other = (list_folded_words(sentence) for sentence in list(item.sentences.values())[:2])
    steps = difflib.SequenceMatcher(a=one, b=other, autojunk=False).get_opcodes()
    return tuple((step, a1 - a0, b1 - b0) for step, a0, a1, b0, b1 in steps if step != "equal")


def describe_difference(steps: Sequence[tuple[str, int, int]]) -> str:
    """Return a difference in words."""
    texts = [
        f"{a} for {b} words" if step == "replace" else f"{b or a} words {'added' if step == 'insert' else 'dropped'}"
        for step, a, b in steps
    ]
    return ", ".join(texts) or "none but punctuation and capitals"


def find_overused_words(items: Sequence[Item], language: str) -> dict[str, int]:
    """Return the content words that stand in more pairs than their share, the most frequent first, with the number of pairs."""
    counts = Counter(word for item in items for word in {w for s in item.sentences.values() for w in list_folded_words(s)})
    most = max(MIN_WORD_QUOTA, MAX_WORD_SHARE * len(items))
    code = find_usable_word_list(language)
    return {
        word: n
        for word, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        if n > most and _is_content_word(word, code)
    }


def _is_content_word(word: str, code: str | None) -> bool:
    """Whether a word is none of the most frequent ones; where a language has no list, any word."""
    return any(letter.isalpha() for letter in word) and (code is None or (zipf(word, code) or 0) < MAX_CONTENT_ZIPF)


def extract_content_stems(sentence: Sentence, language: str) -> frozenset[str]:
    """Return the content words by their first four letters, so that most forms of a word are one.

    >>> sorted(extract_content_stems(Sentence("The nurses near the doors were tired."), "en"))
    ['door', 'near', 'nurs', 'tire']
    """
    code = find_usable_word_list(language)
    return frozenset(word[:STEM_LENGTH] for word in list_folded_words(sentence) if _is_content_word(word, code))


def _find_copies(drafts: Sequence[Item], known: Mapping[str, Sequence[Item]], odd: Mapping[str, list[str]]) -> None:
    earlier: list[tuple[str, list[tuple[str, ...]], list[set[tuple[str, ...]]], list[frozenset[str]]]] = []
    for what, item in [(what, item) for what, items in (*known.items(), ("draft", drafts)) for item in items]:
        texts = [list_folded_words(sentence) for sentence in item.sentences.values()]
        grams = [list_trigrams(text) for text in texts]
        contents = [extract_content_stems(sentence, item.language) for sentence in item.sentences.values()]
        for name, others, other_grams, other_contents in earlier if item.id in odd else ():
            if texts == others:
                odd[item.id].append(f"copy of {name}")
                break
            if all(jaccard(a, b) >= NEAR_COPY_JACCARD for a, b in zip(grams, other_grams, strict=False)):
                odd[item.id].append(f"near copy of {name}")
                break
            if contents == other_contents and min(map(len, contents)) >= MIN_CONTENT_WORDS:
                odd[item.id].append(f"near copy of {name}: the same content words")
                break
        earlier.append((f"{what} {item.id}", texts, grams, contents))


def list_trigrams(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the trigrams of words; of fewer than three words, the words.

    >>> sorted(list_trigrams(["a", "dog", "barks", "now"]))
    [('a', 'dog', 'barks'), ('dog', 'barks', 'now')]
    """
    length = 3 if len(words) >= 3 else 1
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


def jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """Return the share of what either has that both have."""
    return len(one & other) / len(one | other) if one | other else 1.0


def _find_odd_words(drafts: Sequence[Item], seeds: Sequence[Item], odd: Mapping[str, list[str]]) -> None:
    language = (drafts or seeds)[0].language if drafts or seeds else "en"
    often = find_overused_words([*seeds, *drafts], language)
    code = find_usable_word_list(language)
    of_seeds = {word for seed in seeds for sentence in seed.sentences.values() for word in list_folded_words(sentence)}
    for draft in drafts:
        words = list(dict.fromkeys(w for sentence in draft.sentences.values() for w in list_folded_words(sentence)))
        if code is not None:
            unknown = [w for w in words if w not in of_seeds and any(c.isalpha() for c in w) and not zipf(w, code)]
            if len(unknown) > FOREIGN_SHARE * len(words):
                odd[draft.id].append(f"another language? {len(unknown)} of {len(words)} words are not known in {language}")
            elif unknown:
                odd[draft.id].append(f"unknown word{'s' * (len(unknown) > 1)}: {', '.join(unknown)}")
        if overly := [f"{word} ({often[word]})" for word in words if word in often]:
            odd[draft.id].append(f"overused, in so many pairs: {', '.join(overly)}")


def _find_outliers(drafts: Sequence[Item], seeds: Sequence[Item], odd: Mapping[str, list[str]]) -> None:
    measures: dict[str, dict[str, float]] = defaultdict(dict)
    for item in [*seeds, *drafts]:
        sentence = next(iter(item.sentences.values()))
        words, code = list_folded_words(sentence), find_usable_word_list(item.language)
        measures["length"][item.id] = len(words)
        if code and words:
            measures["mean Zipf frequency"][item.id] = statistics.fmean(zipf(word, code) or 0 for word in words)
    for name, values in measures.items():
        if len(values) < MIN_OUTLIER_SAMPLE:
            continue
        mean, sd = statistics.fmean(values.values()), statistics.stdev(values.values())
        for draft in drafts:
            value = values.get(draft.id)
            if value is not None and sd and abs(value - mean) > OUTLIER_SD * sd:
                shown = f"{value:.0f} words" if name == "length" else f"{value:.1f}"
                odd[draft.id].append(f"{name} {shown}, where the mean is {mean:.1f}")


def split_differences(one: str, other: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Return both texts in pieces, each with whether it differs from the other text, cut at words.

    >>> split_differences("The dog barks.", "The dog bark.")
    ([('The dog ', False), ('barks.', True)], [('The dog ', False), ('bark.', True)])
    """
    parts = [re.findall(r"\S+\s*|\s+", text) for text in (one, other)]
    matcher = difflib.SequenceMatcher(a=[p.strip() for p in parts[0]], b=[p.strip() for p in parts[1]], autojunk=False)
    cut: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for step, a0, a1, b0, b1 in matcher.get_opcodes():
        for which, start, end in ((0, a0, a1), (1, b0, b1)):
            if text := "".join(parts[which][start:end]):
                cut[which].append((text, step != "equal"))
    return cut
