"""Characters as readers see them: a letter with its marks, a flag, a family, a hand with its skin tone is one."""

import functools


def split_graphemes(text: str) -> list[str]:
    """Return the characters of a text as its readers count them (extended grapheme clusters, Unicode Standard Annex 29).

    >>> [len(split_graphemes(text)) for text in ("naïve", "👨‍👩‍👧", "🇳🇱", "👍🏽", "ที่")]
    [5, 1, 1, 1, 1]
    """
    if text.isascii():
        return [*text]
    import regex

    return [*regex.findall(r"\X", text)]


@functools.cache
def count_letters(word: str) -> int:
    """Return the letters, digits and emoji of a word, as its readers count them.

    >>> [count_letters(word) for word in ("don't,", "dogs.", "👨‍👩‍👧", "nai\u0308ve", "...")]
    [4, 4, 1, 5, 0]
    """
    if word.isascii():
        return sum(character.isalnum() for character in word)
    return sum(any(map(str.isalnum, one)) or is_emoji(one) for one in split_graphemes(word))


@functools.cache
def is_emoji(character: str) -> bool:
    """Return whether a character, as readers see it, is shown as an emoji."""
    import regex

    return bool(regex.search(r"\p{Emoji_Presentation}|\uFE0F", character))
