"""The answers to a question of yes or no, in the languages that the pages of a study have."""

YES_NO = {
    "ar": ("نعم", "لا"),
    "de": ("ja", "nein"),
    "en": ("yes", "no"),
    "he": ("כן", "לא"),
    "ja": ("はい", "いいえ"),
    "nl": ("ja", "nee"),
    "tr": ("evet", "hayır"),
    "zh": ("是", "否"),
}


def yes_no(language: str) -> tuple[str, str]:
    """Return yes and no in a language, or in English where we have no words of that language.

    >>> yes_no("de-AT")
    ('ja', 'nein')
    """
    import langcodes

    try:
        return YES_NO.get(langcodes.Language.get(language).language or "", YES_NO["en"])
    except ValueError:
        return YES_NO["en"]


def as_yes_no(answer: str, language: str) -> str:
    """Return an answer in the words of the language where it is one of them or English yes or no; any other one as it is.

    >>> as_yes_no("yes", "de"), as_yes_no("Nein", "de"), as_yes_no("Anna", "de")
    ('ja', 'nein', 'Anna')
    """
    words = yes_no(language)
    said = {said: word for pair in (YES_NO["en"], words) for said, word in zip(pair, words, strict=True)}
    return said.get(answer.casefold(), answer)
