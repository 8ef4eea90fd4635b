"""Templates of prompts: read from TOML or from the files of Ide et al., checked, and filled with sentences."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal

import jinja2
import jinja2.meta
from jinja2.sandbox import SandboxedEnvironment

from gardenpath import study

SENTENCE_VARIABLES, PAIR_VARIABLES = ("sentence",), ("a", "b")
# What a template of each type is filled with, and how many labels it has: none, two, or one for each point of a scale.
TEMPLATE_VARIABLES = {
    "single": SENTENCE_VARIABLES,
    "comparative": PAIR_VARIABLES,
    "ab": PAIR_VARIABLES,
    "yes_no": SENTENCE_VARIABLES,
    "choose": PAIR_VARIABLES,
    "rate": SENTENCE_VARIABLES,
}
LABELLED_TYPES = ("ab", "yes_no", "choose", "rate")
FILLED_START, FILLED_END = "\x02", "\x03"  # around what is filled in, while parts are told apart

# A sentence is filled in and never evaluated; templates of others see nothing but the sentences.
_ENVIRONMENT = SandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)


@dataclass(frozen=True)
class Template:
    """A prompt of a type: what the system and the user say, in jinja2, and the labels that may answer it.

    `language` and `id` name it. The first label accepts the sentence, or names the first of two; those of a scale go from its low
    to its high end. `space` stands between system and user where they are one text, and before a label; `answer`
    after a prompt of a model without turns. `chat`: it is for models with turns alone, or for those without, or (None) for both.

    >>> one = Template("yes_no", "1", "Can one say: {{ sentence }}", labels=("Yes", "No"))
    >>> one.fill("It rained.")
    ('', 'Can one say: It rained.')
    """

    type: Literal["single", "comparative", "ab", "yes_no", "choose", "rate"]
    id: str
    user: str
    system: str = ""
    labels: tuple[str, ...] = ()
    source: str = ""
    language: str = ""
    space: str = ""
    answer: str = ""
    chat: bool | None = None

    def __post_init__(self) -> None:
        expected = TEMPLATE_VARIABLES[self.type]
        try:
            used = jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse(f"{self.system}\n{self.user}"))
        except jinja2.TemplateSyntaxError as error:
            raise ValueError(f"template {self.type} {self.id}: {error.message}; expected a template of jinja2") from error
        if used != {*expected}:
            fields = " and ".join(f"{{{{ {name} }}}}" for name in expected)
            raise ValueError(f"template {self.type} {self.id}: uses {', '.join(sorted(used)) or 'no variable'}; expected {fields}")
        count = len(self.labels)
        if (self.type in LABELLED_TYPES and count < 2) or (self.type in ("ab", "yes_no", "choose") and count > 2):
            raise ValueError(
                f"template {self.type} {self.id}: has {count} labels; expected two, or of rate one for each point of its scale"
            )
        if len(set(self.labels)) < count or not all(label.strip() for label in self.labels):
            raise ValueError(f"template {self.type} {self.id}: labels are {', '.join(self.labels)}; expected different ones")
        if self.type == "rate" and not all(label.isdecimal() for label in self.labels):
            raise ValueError(f"template rate {self.id}: labels are {', '.join(self.labels)}; expected numbers")

    @cached_property
    def _compiled_templates(self) -> tuple[jinja2.Template, jinja2.Template]:
        return _ENVIRONMENT.from_string(self.system), _ENVIRONMENT.from_string(self.user)

    def fill(self, *sentences: str) -> tuple[str, str]:
        """Return what the system and the user say of the sentences.

        >>> asked = Template("yes_no", "1", "Is this acceptable?\\n\\n{{ sentence }}", labels=("Yes", "No"))
        >>> asked.fill("She slept.")
        ('', 'Is this acceptable?\\n\\nShe slept.')

        Raises `ValueError` where the template does what cannot be done with them.
        """
        values = dict(zip(TEMPLATE_VARIABLES[self.type], sentences, strict=True))
        try:
            system, user = (one.render(values) for one in self._compiled_templates)
        except Exception as error:  # whatever expressions in somebody's template raise
            raise ValueError(
                f"template {self.type} {self.id}: {error}; expected what can be filled with {' and '.join(values)}, which are text"
            ) from error
        return system, user

    def split_parts(self, *sentences: str) -> list[str]:
        """Return what the user says, in pieces: the template's own and the sentences by turns."""
        _, whole = self.fill(*(f"{FILLED_START}{sentence}{FILLED_END}" for sentence in sentences))
        return [part for part in re.split(f"[{FILLED_START}{FILLED_END}]", whole) if part]


@dataclass(frozen=True)
class TemplateFile:
    """A file of templates; language, space and answer hold for each that does not say otherwise."""

    language: str
    templates: tuple[Template, ...]
    space: str = " "
    answer: str = ""


def list_bundled_languages() -> list[str]:
    """Return the languages that there are templates in."""
    folder = files("gardenpath.lmscore.judging.prompts")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def read_templates(*paths: str | Path) -> tuple[Template, ...]:
    """Return the templates of files or folders, or without any those that come along.

    A file is TOML as in docs/judging.md, or one of Ide et al. (github.com/Yusuke196/llm-acceptability): a text with
    `{sentence}` whose name says `single` or `compar`, or JSON with system_prompt and user_template whose name says `ab` or
    `yn`. Those have no licence, so you bring your own copy. Raises `study.DataError` with every fault of a file.

    >>> sorted({(one.language, one.type) for one in read_templates() if one.language == "nl"})
    [('nl', 'choose'), ('nl', 'rate')]
    """
    found: list[Template] = []
    if not paths:
        for language in list_bundled_languages():
            name = f"{language}.toml"
            text = (files("gardenpath.lmscore.judging.prompts") / name).read_text("utf-8")
            found += _parse_toml(text, name)
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob("*") if p.suffix in PARSERS_BY_SUFFIX) if path.is_dir() else [path]
        for file in inside:
            if file.suffix not in PARSERS_BY_SUFFIX:
                raise ValueError(f"{file}: not a file of templates; expected .toml, or .json or .txt of Ide et al.")
            read = PARSERS_BY_SUFFIX[file.suffix]
            found += read(study.files.read_text(file), str(file))
    if not found:
        raise ValueError(f"{', '.join(map(str, paths))}: no template in it; expected .toml, or .json or .txt of Ide et al.")
    seen: set[tuple[object, ...]] = set()
    for one in found:
        key = (one.language, one.type, one.id, one.chat)
        if key in seen:
            raise ValueError(
                f"template {one.type} {one.id} ({one.language}) is there twice; expected another id for each of a type"
            )
        seen.add(key)
    return tuple(found)


def _parse_toml(text: str, where: str) -> list[Template]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise study.DataError([f"{where}: {error}; expected TOML"]) from error
    whole = study.config.parse_dataclass(TemplateFile, table, where=where)
    common = {name: getattr(whole, name) for name in ("language", "space", "answer")}
    stated = table["templates"]
    return [
        replace(one, **{name: value for name, value in common.items() if name not in given})
        for one, given in zip(whole.templates, stated, strict=True)
    ]


_RELEASED_NAME_PATTERN = re.compile(
    r"(?P<set>blimp|climp)_(?P<type>single|compar|ab|yn)(?P<en>-en)?(?P<chat>-chat)?_(?P<id>\w+)\.(?:json|txt)$"
)
_SENTENCE_VARIABLE_NAMES = {"sentence": "sentence", "sentence_a": "a", "sentence_b": "b"}
_PAIR_VARIABLE_NAMES = {"sentence": "a", "other_sentence": "b"}
_RELEASED_TYPES = {"single": "single", "compar": "comparative", "ab": "ab", "yn": "yes_no"}


def _parse_released(text: str, where: str) -> list[Template]:
    """Return the template of one file of Ide et al."""
    name = _RELEASED_NAME_PATTERN.search(where)
    if name is None:
        raise ValueError(f"{where}: its name does not say what it is; expected one such as template_blimp_ab-chat_1.json")
    kind, chinese = name["type"], name["set"] == "climp"
    prompted = kind in ("ab", "yn")
    try:
        messages = json.loads(text) if prompted else {"system_prompt": "", "user_template": text}
        system, user = messages["system_prompt"], messages["user_template"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{where}: {error}; expected a JSON object with system_prompt and user_template") from error
    yes_no = ("是", "否") if chinese and not name["en"] else ("Yes", "No")
    return [
        Template(
            type=_RELEASED_TYPES[kind],  # type: ignore[arg-type]
            id=f"{name['id']}-en" if name["en"] else name["id"],
            system=_convert_to_jinja(system, {}, where),
            user=_convert_to_jinja(user, _PAIR_VARIABLE_NAMES if kind == "compar" else _SENTENCE_VARIABLE_NAMES, where),
            labels={"ab": ("A", "B"), "yn": yes_no}.get(kind, ()),
            source="doi 10.18653/v1/2025.naacl-long.380, the authors' file",
            language="zh" if chinese else "en",
            space="" if chinese else " ",
            chat=bool(name["chat"]) if prompted else None,
        )
    ]


def _convert_to_jinja(text: str, names: dict[str, str], where: str) -> str:
    """Return a template of Python's `format` as one of jinja2."""

    def field(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise ValueError(f"{where}: {found[0]} is not known; expected {', '.join(f'{{{name}}}' for name in names)}")
        return f"{{{{ {names[found[1]]} }}}}"

    return re.sub(r"\{(\w*)\}", field, text)


PARSERS_BY_SUFFIX = {".toml": _parse_toml, ".json": _parse_released, ".txt": _parse_released}


def select_language(templates: Iterable[Template], language: str) -> list[Template]:
    """Return the templates of a language, a BCP 47 tag of which the first part counts."""
    return [one for one in templates if one.language.split("-")[0] == language.split("-")[0]]


def describe_templates(templates: Sequence[Template]) -> list[dict[str, object]]:
    """Return what a sidecar records of templates: all they say."""
    return [
        {name: value for name, value in vars(one).items() if value not in ("", (), None) and not name.startswith("_")}
        for one in templates
    ]
