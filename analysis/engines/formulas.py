"""Formulas of mixed models, as lme4 writes them: read, taken apart for other engines and for reduction, written."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

EXPECTED_FORM = "expected  response ~ predictors + (1|participant) + (1|item)"


@dataclass(frozen=True)
class RandomEffects:
    """The random effects of one group: its terms (`1` is the intercept), and whether they are correlated."""

    terms: tuple[str, ...]
    group: str
    correlated: bool = True

    def __str__(self) -> str:
        terms = self.terms if "1" in self.terms else ("0", *self.terms)
        return f"({' + '.join(terms)}{'|' if self.correlated or len(self.terms) == 1 else '||'}{self.group})"

    @property
    def slopes(self) -> tuple[str, ...]:
        """The terms but the intercept."""
        return tuple(term for term in self.terms if term != "1")


@dataclass(frozen=True)
class Formula:
    """A response, the fixed terms (`a*b` taken apart into `a`, `b`, `a:b`), the random effects, and the text given."""

    response: str
    fixed: tuple[str, ...]
    random: tuple[RandomEffects, ...]
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text or self.format_expanded()

    def format_expanded(self) -> str:
        """Return the formula with every `*`, `/` and bracket taken apart."""
        fixed = tuple(term for term in self.fixed if term != "1") if len(self.fixed) > 1 else self.fixed
        fixed = fixed if "1" in self.fixed else ("0", *fixed)
        return f"{self.response} ~ {' + '.join([*fixed, *map(str, self.random)])}"

    @property
    def column_names(self) -> list[str]:
        """Every column named, the response first."""
        parts = [self.response, *self.fixed, *(part for r in self.random for part in (*r.terms, r.group))]
        return list(dict.fromkeys(name for part in parts for name in part.split(":") if name != "1"))

    @property
    def group_columns(self) -> set[str]:
        """The columns whose levels have random effects."""
        return {name for random in self.random for name in random.group.split(":")}

    def replace_random(self, random: Iterable[RandomEffects]) -> "Formula":
        """Return the formula with other random effects; without a text of its own, if they differ."""
        random = tuple(random)
        return self if random == self.random else replace(self, random=random, text="")


@functools.cache
def parse_formula(text: str) -> Formula:
    """Return the formula that `text` states; a/b is a + a:b, nested groups as lme4 reads them: (1|a/b) is (1|a) + (1|b:a).

    >>> parse_formula("y ~ a*b + (1 + a||participant) + (1|item)").format_expanded()
    'y ~ a + b + a:b + (1 + a||participant) + (1|item)'
    >>> parse_formula("y ~ a/b + (1|item)").format_expanded()
    'y ~ a + a:b + (1|item)'
    """
    response, _, predictors = (part.strip() for part in text.partition("~"))
    if not response or not predictors or predictors.count("(") != predictors.count(")"):
        raise ValueError(f"formula {text!r}: {EXPECTED_FORM}")
    random: list[RandomEffects] = []
    fixed: list[str] = []
    for part in _split(predictors, "+"):
        inside = re.fullmatch(r"\((.*?)(\|\|?)(.*)\)", part)
        if inside:
            random += _parse_random(inside[1], inside[3].strip(), inside[2] == "|", text)
        else:
            fixed.append(part)
    _check_name(response, text)
    return Formula(response, tuple(_parse_terms(" + ".join(fixed) or "1", text)), tuple(random), text)


def _parse_random(terms: str, group: str, correlated: bool, text: str) -> list[RandomEffects]:
    outer, *inner = (_check_names(level, text) for level in group.split("/"))
    names = tuple(_parse_terms(terms, text))
    nested = [":".join(reversed([outer, *inner[: depth + 1]])) for depth in range(len(inner))]
    return [RandomEffects(names, name, correlated) for name in (outer, *nested)]


def _parse_terms(text: str, whole: str) -> list[str]:
    """Return the terms of a sum, with `1` first unless `0` or `- 1` takes the intercept out."""
    parts = [part.strip() for part in re.sub(r"-\s*1\b", "+ 0", text).split("+")]
    terms: list[str] = []
    for part in parts:
        if part not in ("0", "1"):
            terms += _expand_crossed(part, whole)
    terms = sorted(dict.fromkeys(terms), key=lambda term: term.count(":"))  # sorted() is stable
    return terms if "0" in parts else ["1", *terms]


def _expand_crossed(part: str, whole: str) -> list[str]:
    """Return the terms of factors that are crossed (a*b) or nested (a/b: the effects of b within each level of a)."""
    first, *others = re.split("([*/])", part)
    terms = [_check_names(first.strip(), whole)]
    for mark, text in zip(others[::2], others[1::2], strict=True):
        name = _check_names(text.strip(), whole)
        outer = dict.fromkeys(factor for term in terms for factor in term.split(":"))
        terms += [name, *(f"{term}:{name}" for term in terms)] if mark == "*" else [":".join([*outer, name])]
    return terms


def _check_names(term: str, whole: str) -> str:
    return ":".join(_check_name(name.strip(), whole) for name in term.split(":"))


def _check_name(name: str, whole: str) -> str:
    if not re.fullmatch(r"[^\W\d][\w.]*", name):
        raise ValueError(f"formula {whole!r}: {name!r} is not the name of a column; {EXPECTED_FORM}")
    return name


def _split(text: str, mark: str) -> list[str]:
    """Split at `mark` outside brackets."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
