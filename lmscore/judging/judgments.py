"""Materials, a model and methods become the table judgments."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, Item, Materials
from gardenpath.study.judgment_methods import METHODS

from ..loading import load
from ..models.interface import Model, Progress
from ..scoring import SHOWN, WHOLE, beside, is_coarse, minimal_pairs
from ..tokens.continuations import prompted
from ..tokens.protocols import DEFAULT, PROTOCOLS, Protocol, chosen
from .asking import APART, BOTH, Asked, Asking, Judged, named, rated
from .generation import generated
from .templates import Template, described, in_language, read_templates
from .turns import turns

if TYPE_CHECKING:
    import pandas as pd

NINE = ("lp", "mean_lp", "pen_lp", "template_lp", "template_mean_lp", "template_pen_lp", "comparative", "ab", "yes_no")
ASKED_ALONE = ("choose", "rate")
GENERATED = ("choose_generated", "rate_generated")
NO_TEMPLATE = "none"
BLOCK, COARSE_BLOCK = 250, 24  # pairs judged together; below float32 all of a block share a batch
LITTLE = 0.5  # probability of all labels below which a comparison of them says little

log = logging.getLogger("gardenpath")
Way = tuple[Template | None, tuple[str, ...]]  # methods that one template serves


def judge(
    materials: Materials,
    model: str | Path | Model,
    methods: Sequence[str] | None = None,
    *,
    templates: Sequence[Template] | None = None,
    language: str | None = None,
    join: Literal["whole", "parts"] = "whole",
    labels: Literal["first", "sum"] = "first",
    both_orders: bool = False,
    as_released: bool = False,
    chat: bool | None = None,
    protocol: str | Protocol | None = None,
    seed: int = 1,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Return the table `judgments`: each minimal pair judged by each method and template of its language.

    `methods` are names of `study.judgment_methods.METHODS`, by default the nine of Ide et al. (2025, doi
    10.18653/v1/2025.naacl-long.380) that the language has templates for, else choose and rate of BLiMP-NL (2025, doi
    10.1162/COLI.a.00559). `templates` are what `read_templates` gives, by default those that come along; those of `language`, or
    of each item's own. A model with a chat template is asked by it, unless `chat` says otherwise.

    A string is tokenised whole; with `join="parts"` its template and sentences each by themselves. `labels="sum"` counts a label in
    any case and with or without a space. Which of two sentences stands first is drawn with `seed`; with `both_orders` both are
    asked. `as_released` is the authors' own code: parts, no token before a text but the tokenizer's own, prompts that end in a
    space, Yes and No by a ratio of raw logits. Log-probabilities are in nats.

    Items that cannot be judged are left out, and the log names them; `attrs` of the table has their reasons, `left_out`, and what
    a sidecar records of templates and options, `asked`. Raises `study.DataError` where all are, `ValueError` for a masked or n-gram
    model and for what is not known.

    >>> from gardenpath import lmscore
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gardenpath.stimuli import Item, Materials, Paradigm, Sentence
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "corpus.txt").write_text("A dog barks.")
    ...     model = lmscore.estimate_ngram(Path(folder, "corpus.txt"), name="bigrams")
    >>> pair = {"grammatical": Sentence("A dog barks."), "ungrammatical": Sentence("A dog bark.")}
    >>> materials = Materials((Paradigm("number", "agreement"),), (Item("i1", "number", pair),))
    >>> lmscore.judge(materials, model, ["yes_no"])
    Traceback (most recent call last):
    ...
    ValueError: model bigrams: an n-gram model, which answers no prompts; expected a causal model, such as gpt2
    """
    import pandas as pd

    _check(methods)
    model = load(model) if isinstance(model, (str, Path)) else model
    prompted(model)
    materials = minimal_pairs(materials)
    templates = read_templates() if templates is None else templates
    spoken = turns(model, chat)
    if as_released:
        join, protocol = "parts", PROTOCOLS["minicons-default"]
    asking = Asking(
        model,
        spoken,
        chosen(protocol or DEFAULT, model.name, model.masked),
        join=join,
        labels=labels,
        both_orders=both_orders,
        as_released=as_released,
        seed=seed,
    )
    run = _Run(asking, templates, tuple(dict.fromkeys(methods)) if methods else None, language)
    parts: list[pd.DataFrame] = []
    phenomena = {paradigm.id: paradigm.phenomenon for paradigm in materials.paradigms}
    size = COARSE_BLOCK if is_coarse(model) else BLOCK
    for start in range(0, len(materials.items), size):
        block = materials.items[start : start + size]
        rows = [
            {"model": model.name, "phenomenon": phenomena[item.paradigm], **row}
            for item, row in run.rows(block, WHOLE if is_coarse(model) else batch_tokens)
        ]
        parts += [pd.DataFrame(rows)] if rows else []
        if progress:
            progress(start + len(block), len(materials.items))
    _tell(run.left_out, len(materials.items))
    table = study.check(in_order(pd.concat(parts, ignore_index=True)), "judgments")
    _warn(table)
    facts = {
        **spoken.facts,
        "protocol": asking.protocol.name,
        "join": join,
        "labels": labels,
        "as_released": as_released,
        "templates": described(run.used()),
    }
    table.attrs |= {"left_out": run.left_out, "asked": facts}
    return table


def _check(methods: Sequence[str] | None) -> None:
    unknown = [name for name in methods or () if name not in METHODS]
    if unknown or (methods is not None and not methods):
        raise ValueError(
            f"method {', '.join(map(repr, unknown)) or 'missing'}; expected one or more of {', '.join(METHODS)}"
        )


@dataclass
class _Run:
    """One model's way through the items: what is asked in each language, and what could not be."""

    asking: Asking
    templates: Sequence[Template]
    methods: tuple[str, ...] | None
    language: str | None
    left_out: dict[str, str] = field(default_factory=dict)
    _ways: dict[str, list[Way] | ValueError] = field(default_factory=dict)

    def used(self) -> list[Template]:
        """Return the templates that were used."""
        ways = [way for found in self._ways.values() if isinstance(found, list) for way in found]
        return list(dict.fromkeys(template for template, _ in ways if template))

    def rows(self, items: Sequence[Item], batch_tokens: int | None) -> Iterator[tuple[Item, dict[str, object]]]:
        """Yield the rows of some items, which are computed together."""
        asked: list[tuple[Item, list[tuple[Template | None, Asked]], Asked]] = []
        for item in items:
            try:
                each = self._asked(item)
                if is_coarse(self.asking.model):  # what is compared is computed together, and so it is cached
                    each = [(template, one._replace(texts=beside(one.texts))) for template, one in each]
                asked.append((item, each, self.asking.alone(item, ())))
            except ValueError as error:
                self.left_out[item.id] = str(error)
        texts = [text for _, each, _ in asked for _, one in each for text in one.texts]
        tables = iter(
            self.asking.model.forward(texts, columns=("logprob",), batch_tokens=batch_tokens) if texts else ()
        )
        said = self._generated([item for item, _, _ in asked])
        for item, each, alone in asked:
            judged = [(t, j) for t, one in each for j in one.read([next(tables) for _ in one.texts])]
            good, bad = (text.scored for text in alone.texts)
            for template, one in [*judged, *said.get(item.id, ())]:
                yield item, _row(item, template, one, good, bad)

    def _asked(self, item: Item) -> list[tuple[Template | None, Asked]]:
        asked: list[tuple[Template | None, Asked]] = []
        for template, methods in self.ways(item):
            if template is None:
                asked.append((template, self.asking.alone(item, methods)))
            elif template.type in ("single", "comparative"):
                asked.append((template, self.asking.in_template(item, template, methods)))
            elif held := [name for name in methods if name not in GENERATED]:
                asked.append((template, self.asking.by_labels(item, template, held)))
        return asked

    def ways(self, item: Item) -> list[Way]:
        """Return what is asked of an item in its language, or raise `ValueError` where there is no template for it."""
        language = self.language or item.language
        if language not in self._ways:
            try:
                self._ways[language] = self._found(language)
            except ValueError as error:
                self._ways[language] = error
        found = self._ways[language]
        if isinstance(found, ValueError):
            raise found
        return found

    def _found(self, language: str) -> list[Way]:
        chat = self.asking.turns.chat
        of_language = in_language(self.templates, language)
        fitting = [one for one in of_language if one.chat in (None, chat)]
        types = {one.type for one in fitting}
        if self.methods is None:
            methods = tuple(name for name in NINE if METHODS[name].prompts in types or not METHODS[name].prompts)
            methods += ASKED_ALONE if types <= {"choose", "rate"} else ()
            missing = [] if types else ["any type"]
        else:
            methods = self.methods
            missing = [METHODS[m].prompts for m in methods if METHODS[m].prompts and METHODS[m].prompts not in types]
        if missing:
            whom = f" for models {'with' if chat else 'without'} a chat template" if of_language else ""
            serving = [
                one for one in self.templates if one.chat in (None, chat) and missing[0] in (one.type, "any type")
            ]
            known = ", ".join(dict.fromkeys(one.language for one in serving))
            raise ValueError(
                f"there is no template of {missing[0]} in {language!r}{whom}; expected "
                f"{f'a language of {known} (--language), or ' if known else ''}templates of your own (--templates)"
            )
        if not chat and (named := [name for name in methods if name in GENERATED]):
            raise ValueError(
                f"method {named[0]}: {self.asking.model.name} has no chat template to answer by; expected "
                f"{named[0].removesuffix('_generated')}, which reads probabilities of the labels"
            )
        ways: list[Way] = [(None, alone)] if (alone := tuple(m for m in methods if not METHODS[m].prompts)) else []
        for one in fitting:
            if served := tuple(m for m in methods if METHODS[m].prompts == one.type):
                ways.append((one, served))
        return ways

    def _generated(self, items: Sequence[Item]) -> Mapping[str, list[tuple[Template, Judged]]]:
        """Return what is generated for items, where a method asks for it."""
        places = [
            (item, template, method, *self.asking.prompts(item, template))
            for item in items
            for template, methods in self.ways(item)
            for method in methods
            if template and method in GENERATED
        ]
        answers = iter(
            generated(self.asking.model, [p for *_, prompts, _ in places for p in prompts]) if places else ()
        )
        found: dict[str, list[tuple[Template, Judged]]] = {}
        for item, template, method, prompts, order in places:
            said = [next(answers) for _ in prompts]
            found.setdefault(item.id, []).append((template, _read(method, template, said, order)))
        return found


def _read(method: str, template: Template, said: Sequence[str], order: str | None) -> Judged:
    """Return what generated answers say of a pair; scores are NaN where one cannot be read."""
    if template.type == "rate":
        points = [rated(answer, template) for answer in said]
        good, bad = (math.nan if point is None else float(point) for point in points)
    else:
        named_first = [named(answer, template) for answer in said]
        shown_first = [True, False] if order == BOTH else [order == GRAMMATICAL]
        for_good = [
            math.nan if which is None else float((which == 0) == first)
            for which, first in zip(named_first, shown_first, strict=True)
        ]
        good = sum(for_good) / len(for_good)
        bad = 1 - good
    return Judged(method, good, bad, good - bad, APART.join(said), order)


def _row(item: Item, template: Template | None, one: Judged, good: int, bad: int) -> dict[str, object]:
    return {
        "method": one.method,
        "template": template.id if template else NO_TEMPLATE,
        "paradigm": item.paradigm,
        "item": item.id,
        "language": item.language,
        "grammatical": one.grammatical,
        "ungrammatical": one.ungrammatical,
        "tokens_grammatical": good,
        "tokens_ungrammatical": bad,
        "answer": one.answer,
        "correct": one.preference > 0,
        "tie": one.preference == 0,
        "order": one.order,
        "mass": one.mass,
    }


def in_order(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows method by method and template by template, items in their order."""
    ranks = {name: rank for rank, name in enumerate(METHODS)}
    order = table.assign(rank=table["method"].map(ranks)).sort_values(
        ["rank", "template"], kind="stable", ignore_index=True
    )
    return order[study.TABLES["judgments"].names]


def _tell(left_out: Mapping[str, str], total: int) -> None:
    """Name the items that are left out, or raise `DataError` where all are."""
    named_items = [f"item {name!r}: {why}" for name, why in left_out.items()]
    if len(left_out) == total:
        alike = [*dict.fromkeys(left_out.values())]
        raise study.DataError(alike if len(alike) == 1 else [*named_items[:SHOWN], *_more(len(left_out) - SHOWN)])
    for line in [*named_items[:SHOWN], *_more(len(left_out) - SHOWN)]:
        log.warning("left out: %s", line)


def _more(count: int) -> list[str]:
    return [f"and {count} more such items"] if count > 0 else []


def _warn(table: "pd.DataFrame") -> None:
    """Warn of labels that a model hardly ever gives."""
    masses = table.dropna(subset="mass").groupby(["method", "template"], sort=False)["mass"].mean()
    for method, little in masses[masses < LITTLE].groupby("method", sort=False):
        log.warning(
            "%s, %s, template %s: the labels have %.0f %% of the probability (mean), so their comparison says little",
            table["model"].iloc[0],
            method,
            ", ".join(little.index.get_level_values("template")),
            100 * little.mean(),
        )
