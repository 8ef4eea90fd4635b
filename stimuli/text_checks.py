"""Rules about the characters, the punctuation and the spelling of sentences."""

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from .item_tables import no_list, zipf
from .region_checks import EDGES
from .segmentation import Fault, Member, SegmentedMaterials

FINAL = frozenset(".!?…:;‼⁇⁈⁉。！？｡。؟۔؛।॥။។՜։።׃")
CLOSING = " \t\u00a0\"'’”»›“‘)]}）］」』》〉"
# Between letters of these scripts the zero-width joiners are part of the spelling (Unicode core specification, 23.2).
JOINING = frozenset(
    (
        "ARABIC",
        "SYRIAC",
        "MONGOLIAN",
        "DEVANAGARI",
        "BENGALI",
        "GURMUKHI",
        "GUJARATI",
        "ORIYA",
        "TAMIL",
        "TELUGU",
        "KANNADA",
        "MALAYALAM",
        "SINHALA",
        "KHMER",
        "MYANMAR",
        "TIBETAN",
    )
)
JOINERS = "\u200c\u200d"
EMOJI_PARTS = re.compile("[\u200d\U000e0020-\U000e007f]")  # join a family, and spell the flag of Scotland
FRENCH_SPACES = "\u00a0\u202f"
EAST_ASIAN = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC", "BOPOMOFO", "HANGUL")
)
# Letters that words of any script may hold: ª º ʼ ʰ.
SHARED = frozenset(("FEMININE", "MASCULINE", "MODIFIER"))
UNSPACED = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))
CAPITAL_NOUNS = frozenset(("de", "lb"))
# So many unknown words are not slips: every fourth, and ten at least.
FOREIGN_SHARE = 0.25
FOREIGN_WORDS = 10


@functools.cache
def base_language(language: str) -> str:
    """Return the language's shortest code, without region or script: 'en' of 'en-GB' and of 'eng'."""
    import langcodes

    try:
        return langcodes.Language.get(language).language or ""
    except ValueError:
        return ""


@functools.cache
def listed(language: str) -> str | None:
    """Return the code of wordfreq's list for a language, or None where it has none or cannot cut words without more.

    A list of a related language, which wordfreq falls back on (Spanish for Basque), is none.
    """
    import wordfreq

    code = with_list(language)
    if code is None:
        return None
    try:
        wordfreq.zipf_frequency("a", code)
    except (ValueError, LookupError, ImportError):
        return None
    return code


def with_list(language: str) -> str | None:
    """Return the code of wordfreq's list for a language, also of one whose words it cannot cut; None where it has none."""
    import langcodes
    import wordfreq

    known = wordfreq.available_languages()
    try:
        code, _ = langcodes.closest_match(language, list(known), max_distance=9)
    except ValueError:
        return None
    return str(code) if code in known else None


def spacing(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.members():
        text = member.text
        faults = [
            ("  " in text.strip(), "two spaces in a row"),
            (text[0].isspace(), "a space at the start"),
            (text[-1].isspace(), "a space at the end"),
        ]
        if mark := _spaced_mark(base_language(member.item.language) == "fr").search(text):
            faults.append((True, f"a space before {mark[0].strip()!r}"))
        for applies, message in faults:
            if applies:
                yield member.item, member.condition, message


@functools.cache
def _spaced_mark(french: bool) -> re.Pattern[str]:
    """A mark that ends a part of a sentence, after a space; French sets off its high marks."""
    return re.compile(rf"\s[{'.,' if french else '.,;:!?'}](?=[\s\"'”’»]|$)")


def invisible_characters(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.members():
        if member.text.isprintable():
            continue
        french = base_language(member.item.language) == "fr"
        characters = [
            f"{_name(c)} at character {i}"
            for i, c in enumerate(member.text)
            if not c.isprintable()
            and not (c in JOINERS and _joins(member.text, i))
            and not (EMOJI_PARTS.match(c) and unicodedata.category(member.text[i - 1]) in ("So", "Sk", "Mn", "Cf"))
            and not (french and c in FRENCH_SPACES)
        ]
        if characters:
            yield member.item, member.condition, f"invisible characters: {', '.join(characters)}"


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _joins(text: str, position: int) -> bool:
    """Whether the character stands after a letter or sign of a script that joins."""
    return position > 0 and _script(text[position - 1]) in JOINING


@functools.cache
def _script(character: str) -> str:
    """Return the first word of the character's name, which is its script for letters."""
    script = unicodedata.name(character, "?").split()[0]
    if script in EAST_ASIAN:
        return "CJK"
    if script == "FULLWIDTH":
        return "LATIN"
    # The Kelvin, Angstrom, Ohm and micro signs are Latin or Greek letters by another name.
    return unicodedata.name(unicodedata.normalize("NFKC", character)[0], script).split()[0]


def decomposed(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Words whose letters and marks are characters apart (NFD), once a sentence."""
    for member in segmented.members():
        if member.text.isascii() or unicodedata.is_normalized("NFC", member.text):
            continue
        words = [word for word in member.words if not unicodedata.is_normalized("NFC", word)] or [member.text]
        more = f" and {len(words) - 1} more" if len(words) > 1 else ""
        yield (
            member.item,
            member.condition,
            f"the word {words[0]!r}{more} is not in composed form (NFC), {len(words[0])} characters instead of "
            f"{len(unicodedata.normalize('NFC', words[0]))}; save the file in it",
        )


def garbled_characters(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Sentences, and what is read and asked around them, that were UTF-8 and have been read as something else."""
    for members in segmented.items:
        item = members[0].item
        question = item.question
        around = [item.context or "", *([question.text, *question.choices] if question else [])]
        texts = [("", " ".join(around)), *((member.condition, member.text) for member in members)]
        for condition, text in texts:
            garbled = {word: meant for word in text.split() if (meant := _meant(word))} if not text.isascii() else {}
            for word, meant in garbled.items():
                yield item, condition, f"UTF-8 read as Latin-1: {word}, probably {meant}; save the file again as UTF-8"


@functools.cache
def _meant(word: str) -> str | None:
    """Return the word whose UTF-8 bytes were read as Latin-1 or Windows-1252, None where it was not.

    >>> _meant("SchlÃ¼ssel"), _meant("Schlüssel"), _meant("MANHÃ»")
    ('Schlüssel', None, None)
    """
    if word.isascii():
        return None
    word = word.strip(
        "\"'.,;:!?()[]»"
    )  # a quote after a capital letter with an accent may look like one character in UTF-8
    try:
        raw = b"".join(c.encode("latin-1" if ord(c) < 256 else "cp1252") for c in word)
        meant = raw.decode("utf-8")
    except UnicodeError:
        return None
    return meant if meant != word and all(c.isprintable() for c in meant) else None


def mixed_scripts(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.members():
        if member.text.isascii():
            continue
        for word in member.words:
            if not word.isascii() and (mixed := _mixed(word)):
                yield member.item, member.condition, mixed


@functools.cache
def _mixed(word: str) -> str | None:
    """Return what is mixed where a run of letters holds two alphabets; East Asian texts mix any with their own."""
    for letters in re.findall(r"[^\W\d_]+", word):
        scripts = dict.fromkeys(_script(c) for c in letters)
        alphabets = [script for script in scripts if script not in SHARED]
        if len(alphabets) > 1 and "CJK" not in alphabets:
            rarest = min(alphabets, key=lambda script: sum(_script(c) == script for c in letters))
            odd = next(c for c in letters if _script(c) == rarest)
            return f"the word {word!r} mixes {' and '.join(alphabets)} letters: {_name(odd)}"
    return None


def final_punctuation(segmented: SegmentedMaterials) -> Iterator[Fault]:
    def named(mark: str) -> str:
        return repr(mark) if mark else "none"

    return _ends(segmented, _final, "final punctuation", named)


def initial_capitals(segmented: SegmentedMaterials) -> Iterator[Fault]:
    def named(first: str) -> str:
        return "a capital" if first else "a small letter"

    return _ends(segmented, initial, "initial capital", named)


def _ends(
    segmented: SegmentedMaterials, of: Callable[[str], str | None], what: str, named: Callable[[str], str]
) -> Iterator[Fault]:
    """Yield where `of` is empty though most sentences of the paradigm have it, and where members differ.

    None stands for a sentence to which the question does not apply.
    """
    for items in segmented.by_paradigm().values():
        ends = [[(member, of(member.text)) for member in members] for members in items]
        marks = [end for members in ends for _, end in members]
        most = sum(map(bool, marks))
        usual = most * 2 > len(marks)
        for members in ends:
            for member, end in members:
                if end == "" and usual:
                    others = f"{most} of {len(marks)} sentences of the paradigm have one"
                    yield member.item, member.condition, f"no {what}; {others}"
            known = [(member, end) for member, end in members if end is not None and (end or not usual)]
            if len({end for _, end in known}) > 1:
                said = ", ".join(f"{named(end)} ({member.condition})" for member, end in known)
                yield members[0][0].item, "", f"the members differ in {what}: {said}"


def _final(text: str) -> str:
    """Return the final mark, before any closing quotes and brackets; empty where there is none."""
    last = text[-1] if text[-1] in FINAL else text.rstrip(CLOSING)[-1:]
    return last if last in FINAL else ""


def initial(text: str) -> str | None:
    """Return 'A' for a capital and '' for a small letter at the start; None where the script has no case."""
    first = text[0] if text[0].isalnum() else next((c for c in text if c.isalnum()), "")
    if not first.isalpha() or first.lower() == first.upper():
        return None
    return "" if first.islower() else "A"


def languages_without_list(segmented: SegmentedMaterials) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for members in segmented.items:
        first.setdefault(members[0].item.language, members[0].item.paradigm)
    for language, paradigm in first.items():
        if listed(language) is None and "zipf" not in segmented.norms:
            yield segmented.paradigms[paradigm], "", f"spelling and frequency are not checked: {no_list(language)}"


def unknown_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Each unknown word is reported once for a paradigm, where it first occurs; very many mean another language."""
    names = _names(segmented.members())
    known: dict[str, set[str]] = defaultdict(set)
    for paradigm, items in segmented.by_paradigm().items():
        first: dict[str, Member] = {}
        sentences: Counter[str] = Counter()
        written: dict[str, set[str]] = defaultdict(set)
        for members in items:
            language = members[0].item.language
            for member in members:
                if base_language(language) in UNSPACED and member.sentence.segmentation is None:
                    continue
                written[language].update(member.words)
                if known[language].issuperset(member.words):
                    continue
                for word in dict.fromkeys(member.words):
                    if _known(word, language) or (bare := word.strip(EDGES)) in names[language]:
                        known[language].add(word)
                    else:
                        sentences[bare] += 1
                        first.setdefault(bare, member)
        words = {word for language, raw in written.items() for word in {w.strip(EDGES) for w in raw} - names[language]}
        if len(first) >= FOREIGN_WORDS and len(first) > FOREIGN_SHARE * len(words):
            yield (
                segmented.paradigms[paradigm],
                "",
                f"{len(first)} of {len(words)} words are in no frequency list of the language {items[0][0].item.language!r}; if "
                "it is another, state it in a column language, in study.toml, or as --language",
            )
            continue
        for word, member in first.items():
            count = f"{sentences[word]} sentence{'s' if sentences[word] > 1 else ''}"
            yield member.item, member.condition, f"the word {word!r} is in no frequency list; misspelt? ({count})"


def _names(members: Iterable[Member]) -> dict[str, set[str]]:
    """Return, for each language, the words that are capitalised within a sentence, which are taken to be names."""
    capitalised: dict[str, set[str]] = defaultdict(set)
    for member in members:
        capitalised[member.item.language].update(
            word for word in member.words[1:] if word[0].isupper() or not word[0].isalnum()
        )
    return {
        language: set()
        if base_language(language) in CAPITAL_NOUNS
        else {bare for bare in (word.strip(EDGES) for word in words) if bare[:1].isupper()}
        for language, words in capitalised.items()
    }


@functools.cache
def _known(word: str, language: str) -> bool:
    """Whether the list has the word, it without 's, or all its hyphenated parts; what is not a word counts as known."""
    code = listed(language)
    bare = word.strip(EDGES).replace("’", "'").strip("-–—/&+*%")
    if code is None or not bare or not any(c.isalpha() for c in bare) or any(c.isdigit() for c in bare):
        return True
    forms = [bare, bare.removesuffix("'s"), bare.replace("\u200c", ""), unicodedata.normalize("NFC", bare)]
    parts = [part for part in re.split(r"[-–—/'.]", bare) if part]
    return any(zipf(form, code) for form in forms) or (len(parts) > 1 and all(zipf(part, code) for part in parts))
