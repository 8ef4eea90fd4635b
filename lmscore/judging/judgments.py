"""Materials, a model and methods become the table judgments."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gardenpath import study
from gardenpath.stimuli import GRAMMATICAL, Item, Materials
from gardenpath.study.judgment_methods import JUDGMENT_METHODS

from ..loading import load
from ..models.interface import Model, Progress
from ..scoring import MAX_FAULTS_SHOWN, UNLIMITED_POSITIONS, add_batch_digest, is_batch_dependent, select_minimal_pairs
from ..tokens.continuations import get_prompt_encoder
from ..tokens.protocols import DEFAULT_PROTOCOL, PROTOCOLS, Protocol, resolve_protocol
from .chat_format import choose_chat_format
from .generation import generate_answers
from .judgment_requests import (
    ANSWER_SEPARATOR,
    BOTH_ORDERS,
    JudgmentRequest,
    PairJudgment,
    RequestBuilder,
    parse_choice,
    parse_rating,
)
from .templates import Template, describe_templates, read_templates, select_language

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_METHODS = ("lp", "mean_lp", "pen_lp", "template_lp", "template_mean_lp", "template_pen_lp", "comparative", "ab", "yes_no")
FALLBACK_METHODS = ("choose", "rate")
GENERATION_METHODS = ("choose_generated", "rate_generated")
NO_TEMPLATE = "none"
PAIRS_PER_BLOCK, PAIRS_PER_COARSE_BLOCK = 250, 24  # pairs judged together; below float32 all of a block share a batch
MIN_LABEL_PROBABILITY = 0.5  # probability of all labels below which a comparison of them says little

log = logging.getLogger("gardenpath")
TemplateMethods = tuple[Template | None, tuple[str, ...]]  # methods that one template serves


def judge(
    materials: Materials,
    model: str | Path | Model,
    methods: Sequence[str] | None = None,
    *,
    templates: Sequence[Template] | None = None,
    language: str | None = None,
    prompt_tokenization: Literal["whole", "parts"] = "whole",
    label_scoring: Literal["first", "sum"] = "first",
    both_orders: bool = False,
    original_implementation: bool = False,
    chat: bool | None = None,
    protocol: str | Protocol | None = None,
    seed: int = 1,
    batch_tokens: int | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Return the table `judgments`: each minimal pair judged by each method and template of its language.

    `methods` are names of `study.judgment_methods.JUDGMENT_METHODS`, by default the nine of Ide et al. (2025, doi
    10.18653/v1/2025.naacl-long.380) that the language has templates for, else choose and rate of BLiMP-NL (2025, doi
    10.1162/COLI.a.00559). `templates` are what `read_templates` gives, by default those that come along; those of `language`, or
    of each item's own. A model with a chat template is asked by it, unless `chat` says otherwise.

    A string is tokenised whole; with `prompt_tokenization="parts"` its template and sentences each by themselves.
    `label_scoring="sum"` counts a label in any case and with or without a space. Which of two sentences stands first is drawn with
    `seed`; with `both_orders` both are asked. `original_implementation` is the authors' own code: parts, no token before a text but
    the tokenizer's own, prompts that end in a space, Yes and No by a ratio of raw logits. Log-probabilities are in nats.

    Items that cannot be judged are left out, and the log names them; `attrs` of the table has their reasons, `left_out`, and what
    a sidecar records of templates and options, `asked`. Raises `study.DataError` where all are, `ValueError` for a masked or n-gram
    model and for what is not known.

    >>> from gardenpath import lmscore
    >>> from gardenpath.lmscore.toy.examples import EXAMPLE_PAIR, estimate_example_model
    >>> model = estimate_example_model()
    >>> lmscore.judge(EXAMPLE_PAIR, model, ["yes_no"])
    Traceback (most recent call last):
    ...
    ValueError: model ngram:bigrams: an n-gram model, which answers no prompts; expected a causal model, such as gpt2
    """
    import pandas as pd

    _check_methods(methods)
    model = load(model) if isinstance(model, (str, Path)) else model
    get_prompt_encoder(model)
    materials = select_minimal_pairs(materials)
    templates = read_templates() if templates is None else templates
    chat_format = choose_chat_format(model, chat)
    if original_implementation:
        prompt_tokenization, protocol = "parts", PROTOCOLS["minicons-default"]
    builder = RequestBuilder(
        model,
        chat_format,
        resolve_protocol(protocol or DEFAULT_PROTOCOL, model.name, model.masked),
        prompt_tokenization=prompt_tokenization,
        label_scoring=label_scoring,
        both_orders=both_orders,
        original_implementation=original_implementation,
        seed=seed,
    )
    run = _JudgmentRun(builder, templates, tuple(dict.fromkeys(methods)) if methods else None, language)
    parts: list[pd.DataFrame] = []
    phenomena = {paradigm.id: paradigm.phenomenon for paradigm in materials.paradigms}
    size = PAIRS_PER_COARSE_BLOCK if is_batch_dependent(model) else PAIRS_PER_BLOCK
    for start in range(0, len(materials.items), size):
        block = materials.items[start : start + size]
        rows = [
            {"model": model.name, "phenomenon": phenomena[item.paradigm], **row}
            for item, row in run.build_rows(block, UNLIMITED_POSITIONS if is_batch_dependent(model) else batch_tokens)
        ]
        parts += [pd.DataFrame(rows)] if rows else []
        if progress:
            progress(start + len(block), len(materials.items))
    _report_exclusions(run.exclusion_reasons, len(materials.items))
    table = study.check(sort_judgments(pd.concat(parts, ignore_index=True)), "judgments")
    _warn_of_unlikely_labels(table)
    facts = {
        **chat_format.metadata,
        "protocol": builder.protocol.name,
        "prompt_tokenization": prompt_tokenization,
        "label_scoring": label_scoring,
        "original_implementation": original_implementation,
        "templates": describe_templates(run.list_used_templates()),
    }
    table.attrs |= {"left_out": run.exclusion_reasons, "asked": facts}
    return table


def _check_methods(methods: Sequence[str] | None) -> None:
    unknown = [name for name in methods or () if name not in JUDGMENT_METHODS]
    if unknown or (methods is not None and not methods):
        raise ValueError(
            f"method {', '.join(map(repr, unknown)) or 'missing'}; expected one or more of {', '.join(JUDGMENT_METHODS)}"
        )


@dataclass
class _JudgmentRun:
    """One model's way through the items: what is asked in each language, and what could not be."""

    builder: RequestBuilder
    templates: Sequence[Template]
    methods: tuple[str, ...] | None
    language: str | None
    exclusion_reasons: dict[str, str] = field(default_factory=dict)
    _methods_by_language: dict[str, list[TemplateMethods] | ValueError] = field(default_factory=dict)

    def list_used_templates(self) -> list[Template]:
        """Return the templates that were used."""
        ways = [way for found in self._methods_by_language.values() if isinstance(found, list) for way in found]
        return list(dict.fromkeys(template for template, _ in ways if template))

    def build_rows(self, items: Sequence[Item], batch_tokens: int | None) -> Iterator[tuple[Item, dict[str, object]]]:
        """Yield the rows of some items, which are computed together."""
        asked: list[tuple[Item, list[tuple[Template | None, JudgmentRequest]], JudgmentRequest]] = []
        for item in items:
            try:
                each = self._build_requests(item)
                if is_batch_dependent(self.builder.model):  # what is compared is computed together, and so it is cached
                    each = [(template, one._replace(texts=add_batch_digest(one.texts))) for template, one in each]
                asked.append((item, each, self.builder.request_sentences(item, ())))
            except ValueError as error:
                self.exclusion_reasons[item.id] = str(error)
        texts = [text for _, each, _ in asked for _, one in each for text in one.texts]
        tables = iter(self.builder.model.forward(texts, columns=("logprob",), batch_tokens=batch_tokens) if texts else ())
        generated = self._judge_generated([item for item, _, _ in asked])
        for item, each, alone in asked:
            judged = [(t, j) for t, one in each for j in one.read([next(tables) for _ in one.texts])]
            good, bad = (text.scored_count for text in alone.texts)
            for template, one in [*judged, *generated.get(item.id, ())]:
                yield item, _build_row(item, template, one, good, bad)

    def _build_requests(self, item: Item) -> list[tuple[Template | None, JudgmentRequest]]:
        asked: list[tuple[Template | None, JudgmentRequest]] = []
        for template, methods in self.list_template_methods(item):
            if template is None:
                asked.append((template, self.builder.request_sentences(item, methods)))
            elif template.type in ("single", "comparative"):
                asked.append((template, self.builder.request_template(item, template, methods)))
            elif held := [name for name in methods if name not in GENERATION_METHODS]:
                asked.append((template, self.builder.request_labels(item, template, held)))
        return asked

    def list_template_methods(self, item: Item) -> list[TemplateMethods]:
        """Return what is asked of an item in its language, or raise `ValueError` where there is no template for it."""
        language = self.language or item.language
        if language not in self._methods_by_language:
            try:
                self._methods_by_language[language] = self._find_template_methods(language)
            except ValueError as error:
                self._methods_by_language[language] = error
        found = self._methods_by_language[language]
        if isinstance(found, ValueError):
            raise found
        return found

    def _find_template_methods(self, language: str) -> list[TemplateMethods]:
        chat = self.builder.chat_format.has_turns
        of_language = select_language(self.templates, language)
        fitting = [one for one in of_language if one.chat in (None, chat)]
        types = {one.type for one in fitting}
        if self.methods is None:
            methods = tuple(
                name for name in DEFAULT_METHODS if JUDGMENT_METHODS[name].prompts in types or not JUDGMENT_METHODS[name].prompts
            )
            methods += FALLBACK_METHODS if types <= {"choose", "rate"} else ()
            missing = [] if types else ["any type"]
        else:
            methods = self.methods
            missing = [
                JUDGMENT_METHODS[m].prompts
                for m in methods
                if JUDGMENT_METHODS[m].prompts and JUDGMENT_METHODS[m].prompts not in types
            ]
        if missing:
            whom = f" for models {'with' if chat else 'without'} a chat template" if of_language else ""
            serving = [one for one in self.templates if one.chat in (None, chat) and missing[0] in (one.type, "any type")]
            known = ", ".join(dict.fromkeys(one.language for one in serving))
            raise ValueError(
                f"there is no template of {missing[0]} in {language!r}{whom}; expected "
                f"{f'a language of {known} (--language), or ' if known else ''}templates of your own (--templates)"
            )
        if not chat and (named := [name for name in methods if name in GENERATION_METHODS]):
            raise ValueError(
                f"method {named[0]}: {self.builder.model.name} has no chat template to answer by; expected "
                f"{named[0].removesuffix('_generated')}, which reads probabilities of the labels"
            )
        ways: list[TemplateMethods] = (
            [(None, alone)] if (alone := tuple(m for m in methods if not JUDGMENT_METHODS[m].prompts)) else []
        )
        for one in fitting:
            if served := tuple(m for m in methods if JUDGMENT_METHODS[m].prompts == one.type):
                ways.append((one, served))
        return ways

    def _judge_generated(self, items: Sequence[Item]) -> Mapping[str, list[tuple[Template, PairJudgment]]]:
        """Return what is generated for items, where a method asks for it."""
        generation_tasks = [
            (item, template, method, *self.builder.build_prompts(item, template))
            for item in items
            for template, methods in self.list_template_methods(item)
            for method in methods
            if template and method in GENERATION_METHODS
        ]
        answers = iter(
            generate_answers(self.builder.model, [p for *_, prompts, _ in generation_tasks for p in prompts])
            if generation_tasks
            else ()
        )
        found: dict[str, list[tuple[Template, PairJudgment]]] = {}
        for item, template, method, prompts, order in generation_tasks:
            texts = [next(answers) for _ in prompts]
            found.setdefault(item.id, []).append((template, _read_answers(method, template, texts, order)))
        return found


def _read_answers(method: str, template: Template, answers: Sequence[str], order: str | None) -> PairJudgment:
    """Return what generated answers say of a pair; scores are NaN where one cannot be read."""
    if template.type == "rate":
        points = [parse_rating(answer, template) for answer in answers]
        good, bad = (math.nan if point is None else float(point) for point in points)
    else:
        named_first = [parse_choice(answer, template) for answer in answers]
        shown_first = [True, False] if order == BOTH_ORDERS else [order == GRAMMATICAL]
        for_good = [
            math.nan if which is None else float((which == 0) == first)
            for which, first in zip(named_first, shown_first, strict=True)
        ]
        good = sum(for_good) / len(for_good)
        bad = 1 - good
    return PairJudgment(method, good, bad, good - bad, ANSWER_SEPARATOR.join(answers), order)


def _build_row(item: Item, template: Template | None, one: PairJudgment, good: int, bad: int) -> dict[str, object]:
    return {
        "method": one.method,
        "template": template.id if template else NO_TEMPLATE,
        "paradigm": item.paradigm,
        "item": item.id,
        "language": item.language,
        "score_grammatical": one.grammatical,
        "score_ungrammatical": one.ungrammatical,
        "tokens_grammatical": good,
        "tokens_ungrammatical": bad,
        "response": one.answer,
        "correct": one.preference > 0,
        "tie": one.preference == 0,
        "order": one.order,
        "answer_probability": one.label_probability,
    }


def sort_judgments(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows method by method and template by template, items in their order."""
    ranks = {name: rank for rank, name in enumerate(JUDGMENT_METHODS)}
    order = table.assign(rank=table["method"].map(ranks)).sort_values(["rank", "template"], kind="stable", ignore_index=True)
    return order[study.TABLES["judgments"].column_names]


def _report_exclusions(left_out: Mapping[str, str], total: int) -> None:
    """Name the items that are left out, or raise `DataError` where all are."""
    named_items = [f"item {name!r}: {why}" for name, why in left_out.items()]
    if len(left_out) == total:
        distinct_reasons = [*dict.fromkeys(left_out.values())]
        raise study.DataError(
            distinct_reasons
            if len(distinct_reasons) == 1
            else [*named_items[:MAX_FAULTS_SHOWN], *_format_remainder(len(left_out) - MAX_FAULTS_SHOWN)]
        )
    for line in [*named_items[:MAX_FAULTS_SHOWN], *_format_remainder(len(left_out) - MAX_FAULTS_SHOWN)]:
        log.warning("left out: %s", line)


def _format_remainder(count: int) -> list[str]:
    return [f"and {count} more such items"] if count > 0 else []


def _warn_of_unlikely_labels(table: "pd.DataFrame") -> None:
    """Warn of labels that a model hardly ever gives."""
    mean_probabilities = (
        table.dropna(subset="answer_probability").groupby(["method", "template"], sort=False)["answer_probability"].mean()
    )
    for method, little in mean_probabilities[mean_probabilities < MIN_LABEL_PROBABILITY].groupby("method", sort=False):
        log.warning(
            "%s, %s, template %s: the labels have %.0f %% of the probability (mean), so their comparison says little",
            table["model"].iloc[0],
            method,
            ", ".join(little.index.get_level_values("template")),
            100 * little.mean(),
        )
