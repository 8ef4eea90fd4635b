"""What a chat model is asked: the paradigm's own pairs, with words before them, and follow-ups for more."""

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path

from gardenpath import study

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item
from ..text_checks import get_base_language

PUBLISHED_WORDING = "published"
OPTIONAL_KEYS = ("other_language",)


@dataclass(frozen=True)
class Wording:
    """The words of a request in one language; `{n}`, `{words}` and `{topic}` are filled in, sentences are never read as such.

    `good` and `bad` are the labels before the members of a pair.
    """

    good: str
    bad: str
    first: str
    more: str
    vary: str
    avoid: str
    topic: str
    other_language: str = ""


def read_wording(language: str, source: str | Path | None = None) -> Wording:
    """Return the words for a language: ours, those 'published' for it, or of a file of the user's; English where ours have none.

    Raises `study.DataError` for a file that is none, and where what was asked for has no words in the language.

    >>> read_wording("nl", "published").more
    'Dankjewel! Kan je nog {n} voorbeelden bedenken?'
    """
    own_text = resources.files(__package__).joinpath("requests.toml").read_text("utf-8")
    code = get_base_language(language)
    if source in (None, PUBLISHED_WORDING):
        tables = tomllib.loads(own_text)
        tables = tables[PUBLISHED_WORDING] if source == PUBLISHED_WORDING else tables
        where = "the published requests" if source == PUBLISHED_WORDING else "requests.toml"
    else:
        where = str(source)
        try:
            tables = tomllib.loads(study.files.read_text(Path(str(source))))
        except tomllib.TOMLDecodeError as error:
            raise study.DataError(f"{where}: not valid TOML: {error}; expected a table for each language") from None
    if code not in tables and source is None:
        code = "en"
    stated = tables.get(code)
    names = [one.name for one in fields(Wording)]
    if not isinstance(stated, dict):
        raise study.DataError(f"{where}: nothing in the language {code!r}; expected a table [{code}] with {', '.join(names)}")
    missing = [name for name in names if name not in stated and name not in OPTIONAL_KEYS]
    strange = [name for name in stated if name not in names]
    if missing or strange:
        wrong = f"has no {missing[0]!r}" if missing else f"has {strange[0]!r}, which is not known"
        raise study.DataError(f"{where}: table [{code}] {wrong}; expected {', '.join(names)}")
    for name in names:
        _check_placeholders(str(stated.get(name, "")), f"{where}, [{code}], {name}")
    return Wording(**{name: str(text) for name, text in stated.items()})


def _check_placeholders(text: str, where: str) -> None:
    unknown = [name for name in re.findall(r"\{([^{}]*)\}", text) if name not in ("n", "words", "topic", "language")]
    if unknown:
        raise study.DataError(f"{where}: {{{unknown[0]}}} is not known; expected {{n}}, {{words}}, {{topic}} or {{language}}")


def format_first_request(
    seeds: Sequence[Item], words: Wording, n: int, *, topic: str = "", avoid: Sequence[str] = (), language: str = ""
) -> str:
    """Return the first message: what is wanted, and the paradigm's pairs, a label before each member."""
    opening = _fill(words.first, n=str(n)).strip()
    if language and words.other_language:
        opening += " " + _fill(words.other_language, language=language)
    return "\n\n".join([opening + _format_wishes(words, topic, avoid), format_pairs(seeds, words)])


def format_follow_up(words: Wording, n: int, *, topic: str = "", avoid: Sequence[str] = (), vary: bool = True) -> str:
    """Return a message that asks for more, of other words where some come too often."""
    return _fill(words.more, n=str(n)) + (f" {words.vary}" if vary else "") + _format_wishes(words, topic, avoid)


def format_pairs(seeds: Sequence[Item], words: Wording) -> str:
    """Return the pairs as a model is shown them."""
    lines = [
        f"{label}: {item.sentences[condition].text}"
        for item in seeds
        for label, condition in ((words.good, GRAMMATICAL), (words.bad, UNGRAMMATICAL))
    ]
    return "\n".join("\n".join(lines[start : start + 2]) + "\n" for start in range(0, len(lines), 2)).strip()


def hash_prompt(messages: Sequence[dict[str, str]]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of what was asked.

    >>> hash_prompt([{"role": "user", "content": "Write pairs."}])
    'f31e62a981583ee1'
    """
    return hashlib.sha256(json.dumps(list(messages), ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def _format_wishes(words: Wording, topic: str, avoid: Sequence[str]) -> str:
    wishes = [_fill(words.topic, topic=topic)] if topic else []
    if avoid:
        wishes.append(_fill(words.avoid, words=", ".join(avoid)))
    return "".join(f" {one}" for one in wishes)


def _fill(text: str, **values: str) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
