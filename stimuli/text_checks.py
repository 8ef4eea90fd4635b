"""Rules about the characters, the punctuation and the spelling of sentences."""

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from .item_tables import explain_no_frequencies, zipf
from .region_checks import EDGE_PUNCTUATION
from .segmentation import Fault, SegmentedMaterials, SegmentedSentence

FINAL_MARKS = frozenset(".!?…:;‼⁇⁈⁉。！？｡。؟۔؛।॥။។՜։።׃")
CLOSING_MARKS = " \t\u00a0\"'’”»›“‘)]}）］」』》〉"
# Between letters of these scripts the zero-width joiners are part of the spelling (Unicode core specification, 23.2).
JOINER_SCRIPTS = frozenset(
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
EAST_ASIAN_SCRIPTS = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC", "BOPOMOFO", "HANGUL")
)
# Letters that words of any script may hold: ª º ʼ ʰ.
SCRIPT_NEUTRAL_NAMES = frozenset(("FEMININE", "MASCULINE", "MODIFIER"))
UNSPACED_LANGUAGES = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))
CAPITAL_NOUN_LANGUAGES = frozenset(("de", "lb"))
# So many unknown words are not slips: every fourth, and ten at least.
FOREIGN_SHARE = 0.25
FOREIGN_WORDS = 10


@functools.cache
def get_base_language(language: str) -> str:
    """Return the language's shortest code, without region or script: 'en' of 'en-GB' and of 'eng'."""
    import langcodes

    try:
        return langcodes.Language.get(language).language or ""
    except ValueError:
        return ""


@functools.cache
def find_usable_word_list(language: str) -> str | None:
    """Return the code of wordfreq's list for a language, or None where it has none or cannot cut words without more.

    A list of a related language, which wordfreq falls back on (Spanish for Basque), is none.
    """
    import wordfreq

    code = find_word_list(language)
    if code is None:
        return None
    try:
        wordfreq.zipf_frequency("a", code)
    except (ValueError, LookupError, ImportError):
        return None
    return code


def find_word_list(language: str) -> str | None:
    """Return the code of wordfreq's list for a language, also of one whose words it cannot cut; None where it has none."""
    import langcodes
    import wordfreq

    known = wordfreq.available_languages()
    try:
        code, _ = langcodes.closest_match(language, list(known), max_distance=9)
    except ValueError:
        return None
    return str(code) if code in known else None


def find_spacing_faults(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.list_members():
        text = member.text
        faults = [
            ("  " in text.strip(), "two spaces in a row"),
            (text[0].isspace(), "a space at the start"),
            (text[-1].isspace(), "a space at the end"),
        ]
        if mark := _compile_spaced_mark(get_base_language(member.item.language) == "fr").search(text):
            faults.append((True, f"a space before {mark[0].strip()!r}"))
        for applies, message in faults:
            if applies:
                yield member.item, member.condition, message


@functools.cache
def _compile_spaced_mark(french: bool) -> re.Pattern[str]:
    """A mark that ends a part of a sentence, after a space; French sets off its high marks."""
    return re.compile(rf"\s[{'.,' if french else '.,;:!?'}](?=[\s\"'”’»]|$)")


def find_invisible_characters(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.list_members():
        if member.text.isprintable():
            continue
        french = get_base_language(member.item.language) == "fr"
        characters = [
            f"{_format_character(c)} at character {i}"
            for i, c in enumerate(member.text)
            if not c.isprintable()
            and not (c in JOINERS and _is_joined(member.text, i))
            and not (EMOJI_PARTS.match(c) and unicodedata.category(member.text[i - 1]) in ("So", "Sk", "Mn", "Cf"))
            and not (french and c in FRENCH_SPACES)
        ]
        if characters:
            yield member.item, member.condition, f"invisible characters: {', '.join(characters)}"


def _format_character(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _is_joined(text: str, position: int) -> bool:
    """Whether the character stands after a letter or sign of a script that joins."""
    return position > 0 and _get_script(text[position - 1]) in JOINER_SCRIPTS


@functools.cache
def _get_script(character: str) -> str:
    """Return the first word of the character's name, which is its script for letters."""
    script = unicodedata.name(character, "?").split()[0]
    if script in EAST_ASIAN_SCRIPTS:
        return "CJK"
    if script == "FULLWIDTH":
        return "LATIN"
    # The Kelvin, Angstrom, Ohm and micro signs are Latin or Greek letters by another name.
    return unicodedata.name(unicodedata.normalize("NFKC", character)[0], script).split()[0]


def find_decomposed_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Words whose letters and marks are characters apart (NFD), once a sentence."""
    for member in segmented.list_members():
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


def find_garbled_characters(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Sentences, and what is read and asked around them, that were UTF-8 and have been read as something else."""
    for members in segmented.items:
        item = members[0].item
        question = item.question
        around = [item.context or "", *([question.text, *question.choices] if question else [])]
        texts = [("", " ".join(around)), *((member.condition, member.text) for member in members)]
        for condition, text in texts:
            garbled = {word: meant for word in text.split() if (meant := _repair_encoding(word))} if not text.isascii() else {}
            for word, meant in garbled.items():
                yield item, condition, f"UTF-8 read as Latin-1: {word}, probably {meant}; save the file again as UTF-8"


@functools.cache
def _repair_encoding(word: str) -> str | None:
    """Return the word whose UTF-8 bytes were read as Latin-1 or Windows-1252, None where it was not.

    >>> _repair_encoding("SchlÃ¼ssel"), _repair_encoding("Schlüssel"), _repair_encoding("MANHÃ»")
    ('Schlüssel', None, None)
    """
    if word.isascii():
        return None
    word = word.strip("\"'.,;:!?()[]»")  # a quote after a capital letter with an accent may look like one character in UTF-8
    try:
        raw = b"".join(c.encode("latin-1" if ord(c) < 256 else "cp1252") for c in word)
        meant = raw.decode("utf-8")
    except UnicodeError:
        return None
    return meant if meant != word and all(c.isprintable() for c in meant) else None


def find_mixed_scripts(segmented: SegmentedMaterials) -> Iterator[Fault]:
    for member in segmented.list_members():
        if member.text.isascii():
            continue
        for word in member.words:
            if not word.isascii() and (mixed := _describe_mixed_scripts(word)):
                yield member.item, member.condition, mixed


@functools.cache
def _describe_mixed_scripts(word: str) -> str | None:
    """Return what is mixed where a run of letters holds two alphabets; East Asian texts mix any with their own."""
    for letters in re.findall(r"[^\W\d_]+", word):
        scripts = dict.fromkeys(_get_script(c) for c in letters)
        alphabets = [script for script in scripts if script not in SCRIPT_NEUTRAL_NAMES]
        if len(alphabets) > 1 and "CJK" not in alphabets:
            rarest = min(alphabets, key=lambda script: sum(_get_script(c) == script for c in letters))
            odd = next(c for c in letters if _get_script(c) == rarest)
            return f"the word {word!r} mixes {' and '.join(alphabets)} letters: {_format_character(odd)}"
    return None


def find_final_punctuation_faults(segmented: SegmentedMaterials) -> Iterator[Fault]:
    def describe_mark(mark: str) -> str:
        return repr(mark) if mark else "none"

    return _find_end_faults(segmented, _get_final_mark, "final punctuation", describe_mark)


def find_initial_capital_faults(segmented: SegmentedMaterials) -> Iterator[Fault]:
    def describe_case(first: str) -> str:
        return "a capital" if first else "a small letter"

    return _find_end_faults(segmented, get_initial_case, "initial capital", describe_case)


def _find_end_faults(
    segmented: SegmentedMaterials, get_end: Callable[[str], str | None], what: str, describe: Callable[[str], str]
) -> Iterator[Fault]:
    """Yield where `get_end` is empty though most sentences of the paradigm have it, and where members differ.

    None stands for a sentence to which the question does not apply.
    """
    for items in segmented.group_by_paradigm().values():
        ends = [[(member, get_end(member.text)) for member in members] for members in items]
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
                listing = ", ".join(f"{describe(end)} ({member.condition})" for member, end in known)
                yield members[0][0].item, "", f"the members differ in {what}: {listing}"


def _get_final_mark(text: str) -> str:
    """Return the final mark, before any closing quotes and brackets; empty where there is none."""
    last = text[-1] if text[-1] in FINAL_MARKS else text.rstrip(CLOSING_MARKS)[-1:]
    return last if last in FINAL_MARKS else ""


def get_initial_case(text: str) -> str | None:
    """Return 'A' for a capital and '' for a small letter at the start; None where the script has no case."""
    first = text[0] if text[0].isalnum() else next((c for c in text if c.isalnum()), "")
    if not first.isalpha() or first.lower() == first.upper():
        return None
    return "" if first.islower() else "A"


def find_languages_without_list(segmented: SegmentedMaterials) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for members in segmented.items:
        first.setdefault(members[0].item.language, members[0].item.paradigm)
    for language, paradigm in first.items():
        if find_usable_word_list(language) is None and "zipf" not in segmented.norms:
            yield (segmented.paradigms[paradigm], "", f"spelling and frequency are not checked: {explain_no_frequencies(language)}")


def find_unknown_words(segmented: SegmentedMaterials) -> Iterator[Fault]:
    """Each unknown word is reported once for a paradigm, where it first occurs; very many mean another language."""
    names = _collect_names(segmented.list_members())
    known: dict[str, set[str]] = defaultdict(set)
    for paradigm, items in segmented.group_by_paradigm().items():
        first: dict[str, SegmentedSentence] = {}
        sentences: Counter[str] = Counter()
        written: dict[str, set[str]] = defaultdict(set)
        for members in items:
            language = members[0].item.language
            for member in members:
                if get_base_language(language) in UNSPACED_LANGUAGES and member.sentence.segmentation is None:
                    continue
                written[language].update(member.words)
                if known[language].issuperset(member.words):
                    continue
                for word in dict.fromkeys(member.words):
                    if _is_known(word, language) or (bare := word.strip(EDGE_PUNCTUATION)) in names[language]:
                        known[language].add(word)
                    else:
                        sentences[bare] += 1
                        first.setdefault(bare, member)
        words = {word for language, raw in written.items() for word in {w.strip(EDGE_PUNCTUATION) for w in raw} - names[language]}
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


def _collect_names(members: Iterable[SegmentedSentence]) -> dict[str, set[str]]:
    """Return, for each language, the words that are capitalised within a sentence, which are taken to be names."""
    capitalised: dict[str, set[str]] = defaultdict(set)
    for member in members:
        capitalised[member.item.language].update(word for word in member.words[1:] if word[0].isupper() or not word[0].isalnum())
    return {
        language: set()
        if get_base_language(language) in CAPITAL_NOUN_LANGUAGES
        else {bare for bare in (word.strip(EDGE_PUNCTUATION) for word in words) if bare[:1].isupper()}
        for language, words in capitalised.items()
    }


@functools.cache
def _is_known(word: str, language: str) -> bool:
    """Whether the list has the word, it without 's, or all its hyphenated parts; what is not a word counts as known."""
    code = find_usable_word_list(language)
    bare = word.strip(EDGE_PUNCTUATION).replace("’", "'").strip("-–—/&+*%")
    if code is None or not bare or not any(c.isalpha() for c in bare) or any(c.isdigit() for c in bare):
        return True
    forms = [bare, bare.removesuffix("'s"), bare.replace("\u200c", ""), unicodedata.normalize("NFC", bare)]
    parts = [part for part in re.split(r"[-–—/'.]", bare) if part]
    return any(zipf(form, code) for form in forms) or (len(parts) > 1 and all(zipf(part, code) for part in parts))
