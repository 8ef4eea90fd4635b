"""The answers to a question of yes or no: in the languages that have texts for participants, and in others often studied."""

YES_NO_WORDS = {
    "ar": ("نعم", "لا"),
    "bg": ("да", "не"),
    "ca": ("sí", "no"),
    "cs": ("ano", "ne"),
    "da": ("ja", "nej"),
    "de": ("ja", "nein"),
    "el": ("ναι", "όχι"),
    "en": ("yes", "no"),
    "es": ("sí", "no"),
    "et": ("jah", "ei"),
    "eu": ("bai", "ez"),
    "fa": ("بله", "خیر"),
    "fi": ("kyllä", "ei"),
    "fr": ("oui", "non"),
    "he": ("כן", "לא"),
    "hi": ("हाँ", "नहीं"),
    "hr": ("da", "ne"),
    "hu": ("igen", "nem"),
    "id": ("ya", "tidak"),
    "is": ("já", "nei"),
    "it": ("sì", "no"),
    "ja": ("はい", "いいえ"),
    "ka": ("დიახ", "არა"),
    "ko": ("예", "아니요"),
    "lt": ("taip", "ne"),
    "lv": ("jā", "nē"),
    "nb": ("ja", "nei"),
    "nl": ("ja", "nee"),
    "nn": ("ja", "nei"),
    "no": ("ja", "nei"),
    "pl": ("tak", "nie"),
    "pt": ("sim", "não"),
    "ro": ("da", "nu"),
    "ru": ("да", "нет"),
    "sk": ("áno", "nie"),
    "sl": ("da", "ne"),
    "sr": ("да", "не"),
    "sv": ("ja", "nej"),
    "tr": ("evet", "hayır"),
    "uk": ("так", "ні"),
    "vi": ("có", "không"),
    "zh": ("是", "否"),
}


def get_yes_no_words(language: str) -> tuple[str, str]:
    """Return yes and no in a language, or in English where we have no words of that language.

    >>> get_yes_no_words("de-AT")
    ('ja', 'nein')
    """
    import langcodes

    try:
        return YES_NO_WORDS.get(langcodes.Language.get(language).language or "", YES_NO_WORDS["en"])
    except ValueError:
        return YES_NO_WORDS["en"]


def translate_yes_no(answer: str, language: str) -> str:
    """Return an answer in the words of the language where it is one of them or English yes or no; any other one as it is.

    >>> translate_yes_no("yes", "de"), translate_yes_no("Nein", "de"), translate_yes_no("Anna", "de")
    ('ja', 'nein', 'Anna')
    """
    words = get_yes_no_words(language)
    translations = {
        translations: word for pair in (YES_NO_WORDS["en"], words) for translations, word in zip(pair, words, strict=True)
    }
    return translations.get(answer.casefold(), answer)
