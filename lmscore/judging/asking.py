"""A pair and a template become token sequences, and their tables become scores: one class for each way of asking."""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from gardenpath.stimuli import GRAMMATICAL, UNGRAMMATICAL, Item

from ..measures import reductions
from ..models.interface import Model
from ..scoring import encode_sentence
from ..tokens.continuations import continuations, prompted, told_apart
from ..tokens.encoding import BOUNDARY, Encoded, added, lead_in, tokenized
from ..tokens.protocols import Protocol
from ..tokens.token_table import TokenTable
from .generation import loaded_here
from .templates import Template
from .turns import Turns

BOTH = "both"
APART = " | "  # between two answers of a row

REDUCTIONS: dict[str, Callable[[TokenTable], float]] = {
    "lp": reductions.lp,
    "mean_lp": reductions.mean_lp,
    "pen_lp": reductions.pen_lp,
    "template_lp": reductions.lp,
    "template_mean_lp": reductions.mean_lp,
    "template_pen_lp": reductions.pen_lp,
    "comparative": reductions.lp,
}


class Judged(NamedTuple):
    """What a method says of a pair: scores of both members, and by how much the grammatical one is preferred (NaN: no answer)."""

    method: str
    grammatical: float
    ungrammatical: float
    preference: float
    answer: str | None = None
    order: str | None = None
    mass: float = math.nan


class Asked(NamedTuple):
    """What is asked of a model at once, and how the tables of `texts` are read."""

    texts: list[Encoded]
    read: Callable[[Sequence[TokenTable]], list[Judged]]


@dataclass(frozen=True)
class Asking:
    """A model, how it is spoken to, and how strings become tokens and labels are counted; see `judge`."""

    model: Model
    turns: Turns
    protocol: Protocol
    join: Literal["whole", "parts"] = "whole"
    labels: Literal["first", "sum"] = "first"
    both_orders: bool = False
    as_released: bool = False
    seed: int = 1
    _spelt: dict[Template, list[list[str]]] = field(default_factory=dict, compare=False, repr=False)

    def sentences(self, item: Item) -> tuple[str, str]:
        """Return the grammatical and the ungrammatical member, each after the item's context."""
        before = lead_in(item.context, joiner=self.protocol.joins(item.language))
        good, bad = (before + item.sentences[condition].text for condition in (GRAMMATICAL, UNGRAMMATICAL))
        return good, bad

    def alone(self, item: Item, methods: Sequence[str]) -> Asked:
        """Ask for the members by themselves, as `evaluate` does."""
        texts = [
            encode_sentence(item, item.sentences[condition], self.model, self.protocol)
            for condition in (GRAMMATICAL, UNGRAMMATICAL)
        ]
        if not all(text.ids for text in texts):
            raise ValueError("a sentence is one token, fed first and not scored; expected two or more")
        return Asked(texts, _reader(methods))

    def in_template(self, item: Item, template: Template, methods: Sequence[str]) -> Asked:
        """Ask for the probability of whole strings: each member in the template, or both in each order."""
        good, bad = self.sentences(item)
        filled = [(good, bad), (bad, good)] if template.type == "comparative" else [(good,), (bad,)]
        texts = [self._string(template, each) for each in filled]
        return Asked([self._fitting(text) for text in texts], _reader(methods, BOTH if len(filled[0]) > 1 else None))

    def _string(self, template: Template, sentences: tuple[str, ...]) -> Encoded:
        options = self.protocol.options()
        if self.join == "whole":
            return self.model.encode(template.fill(*sentences)[1], **options)
        encoder = prompted(self.model)
        fed = [encoder.prefix] if options.get("prefix", True) else added(encoder)
        return _apart(encoder, fed, template.parts(*sentences))

    def by_labels(self, item: Item, template: Template, methods: Sequence[str]) -> Asked:
        """Ask for the probabilities of a template's labels at the place of the answer."""
        [method] = methods
        prompts, order = self.prompts(item, template)
        asked = [self._closed(template, prompt) for prompt in prompts]
        texts = [text for each, _ in asked for text in each]

        def read(tables: Sequence[TokenTable]) -> list[Judged]:
            lps, start = [], 0
            for each, owners in asked:
                found = reductions.answer_lps(tables[start : start + len(each)])
                start += len(each)
                lps.append(np.array([np.logaddexp.reduce(found[owners == k]) for k in range(len(template.labels))]))
            mass = float(np.mean([np.exp(lp).sum() for lp in lps]))
            answers = APART.join(template.labels[int(lp.argmax())] for lp in lps)
            logits = self._logits(template, prompts) if self.as_released and method == "yes_no" else None
            return [Judged(method, *_SCORES[template.type](lps, order, template, logits), answers, order, mass)]

        return Asked(texts, read)

    def prompts(self, item: Item, template: Template) -> tuple[list[str], str | None]:
        """Return the prompts of a pair: one for each member, or one for each order; and which member stands first."""
        good, bad = self.sentences(item)
        if template.type in ("yes_no", "rate"):
            return [self._prompt(template, good), self._prompt(template, bad)], None
        if self.both_orders:
            return [self._prompt(template, good, bad), self._prompt(template, bad, good)], BOTH
        first = random.Random(f"{self.seed} {template.type} {template.id} {item.id}").random() < 0.5
        pair = (good, bad) if first else (bad, good)
        return [self._prompt(template, *pair)], GRAMMATICAL if first else UNGRAMMATICAL

    def _prompt(self, template: Template, *sentences: str) -> str:
        for sentence in sentences:
            self.turns.check(sentence)
        system, user = template.fill(*sentences)
        # The released prompts end in a space, which the paper's do not.
        answer = template.answer + template.space if self.as_released and template.answer else template.answer
        return self.turns.prompt(system, user, space=template.space, answer=answer)

    def _closed(self, template: Template, prompt: str) -> tuple[list[Encoded], np.ndarray]:
        """Return the ways to give each label after a prompt, and to which label each belongs."""
        spelt = self._spellings(template, prompt)
        owners = np.array([k for k, variants in enumerate(spelt) for _ in variants])
        flat = [variant for variants in spelt for variant in variants]
        if self.join == "whole":
            texts = continuations(self.model, prompt, flat, rendered=self.turns.chat)
        else:
            encoder = prompted(self.model)
            before = added(encoder) if self.as_released else [] if self.turns.chat else [encoder.prefix]
            fed = [*before, *tokenized(encoder.tokenizer, prompt, special=self.turns.chat).ids]
            pieces = encoder.tokenizer.get_vocab() if self.as_released else {}
            texts = [_apart(encoder, fed, [variant], pieces.get(variant)) for variant in flat]
            told_apart(self.model, flat, [text.ids for text in texts])
        return [self._fitting(text) for text in texts], owners

    def _spellings(self, template: Template, prompt: str) -> list[list[str]]:
        """Return how the labels are written after a prompt, found once a template: with or without a space, of one token if any is.

        Summed are all ways to write a label that differ in its space and its case, and are not the same tokens.
        """
        if template in self._spelt:
            return self._spelt[template]
        spaces = ("",) if self.as_released else self._spaces(template, prompt)
        spelt: list[list[str]] = []
        if self.labels == "sum":
            known: dict[tuple[int, ...], int] = {}
            for k, label in enumerate(template.labels):
                cased = dict.fromkeys([label, label.lower(), label.upper(), label.capitalize()])
                ways: dict[tuple[int, ...], str] = {}
                for written in [space + case for space in dict.fromkeys([*spaces, "", " "]) for case in cased]:
                    whole = self._whole(prompt, written)
                    if known.setdefault(whole, k) == k:
                        ways.setdefault(whole, written)
                if not ways:
                    raise ValueError(f"label {label!r} is the same tokens as another; expected labels that differ")
                spelt.append([*ways.values()])
        else:
            tried = [[[space + label] for label in template.labels] for space in spaces]
            single = (labels for labels in tried if self._are_single(prompt, [label for [label] in labels]))
            spelt = next(single, tried[0])
        self._spelt[template] = spelt
        return spelt

    def _spaces(self, template: Template, prompt: str) -> tuple[str, ...]:
        """Return what may stand between a prompt and a label, the most natural first."""
        if self.turns.chat:
            lead = self.turns.lead(template.labels[0])
            return tuple(dict.fromkeys([lead, "", " "]))
        if prompt[-1:].isspace():
            return ("",)
        return tuple(dict.fromkeys([template.space, "", " "]))

    def _whole(self, prompt: str, answer: str) -> tuple[int, ...]:
        tokenizer = prompted(self.model).tokenizer
        return tuple(tokenized(tokenizer, prompt + answer, special=self.turns.chat).ids)

    def _are_single(self, prompt: str, labels: Sequence[str]) -> bool:
        try:
            return all(
                len(text.ids) == 1 for text in continuations(self.model, prompt, labels, rendered=self.turns.chat)
            )
        except ValueError:  # not told apart when written so
            return False

    def _fitting(self, text: Encoded) -> Encoded:
        """Return what a model is asked, or raise `ValueError` where it is longer than the model takes."""
        window, length = prompted(self.model).window, len(text.fed) + len(text.ids)
        if window and length > window + 1:
            raise ValueError(
                f"the prompt has {length} tokens; expected at most {window}, which {self.model.name} takes"
            )
        return text

    def _logits(self, template: Template, prompts: Sequence[str]) -> list[np.ndarray]:
        """Return the raw logits of the labels after each prompt: no probabilities, as in the released code."""
        import torch

        own = loaded_here(self.model)
        found = []
        for prompt in prompts:
            texts, _ = self._closed(template, prompt)
            if any(len(text.ids) != 1 for text in texts):
                raise ValueError(
                    f"labels {', '.join(template.labels)}: expected one token each, as in the released code"
                )
            with torch.inference_mode():
                ids = torch.tensor([texts[0].fed], device=own.device)
                logits = own.network(input_ids=ids, use_cache=False).logits[0, -1]
            found.append(np.array([float(logits[text.ids[0]]) for text in texts]))
        return found


def _reader(methods: Sequence[str], order: str | None = None) -> Callable[[Sequence[TokenTable]], list[Judged]]:
    def read(tables: Sequence[TokenTable]) -> list[Judged]:
        judged = []
        for method in methods:
            good, bad = (REDUCTIONS[method](table) for table in tables)
            judged.append(Judged(method, good, bad, good - bad, order=order))
        return judged

    return read


Scores = tuple[float, float, float]
Lps = Sequence[np.ndarray]


def _chosen(lps: Lps, order: str | None, template: Template, logits: Lps | None) -> Scores:
    """Return the log-probability of each member's label, the mean over orders where there are both."""
    good, bad = (lps[0][0], lps[0][1]) if order != UNGRAMMATICAL else (lps[0][1], lps[0][0])
    if order == BOTH:  # exchanging the members exchanges what is added, so that the scores are exchanged exactly
        good, bad = (good + lps[1][1]) / 2, (bad + lps[1][0]) / 2
    return float(good), float(bad), float(good - bad)


def _accepted(lps: Lps, order: str | None, template: Template, logits: Lps | None) -> Scores:
    """Return P(yes) / (P(yes) + P(no)) of each member; the verdict is by its log-odds, which do not saturate."""
    if logits is not None:
        good, bad = (float(yes / (yes + no)) for yes, no in logits)
        return good, bad, good - bad
    odds = [float(yes - no) for yes, no in lps]
    good, bad = (1 / (1 + math.exp(-each)) if each > -700 else 0.0 for each in odds)
    return good, bad, odds[0] - odds[1]


def _rated(lps: Lps, order: str | None, template: Template, logits: Lps | None) -> Scores:
    """Return the rating expected of each member over the points of the scale."""
    points = np.array([int(label) for label in template.labels])
    good, bad = (float((np.exp(lp - np.logaddexp.reduce(lp)) * points).sum()) for lp in lps)
    return good, bad, good - bad


_SCORES = {"ab": _chosen, "choose": _chosen, "yes_no": _accepted, "rate": _rated}


def _apart(encoder: Any, fed: Sequence[int], parts: Sequence[str], piece: int | None = None) -> Encoded:
    """Return parts as tokens of each by itself, or a piece of the vocabulary, scored after what is fed or the first token."""
    ids = [piece] if piece is not None else [i for part in parts for i in tokenized(encoder.tokenizer, part).ids]
    first = 0 if fed else 1
    scored = ids[first:]
    if not scored:
        raise ValueError(f"the tokenizer leaves no token to score of {''.join(parts)!r}; expected at least one")
    return Encoded(
        fed=(*fed, *ids[:first]),
        ids=tuple(scored),
        spans=((0, 0),) * len(scored),
        begins=tuple(encoder.vocabulary.begins[scored].tolist()),
        ends=tuple(encoder.vocabulary.ends[scored].tolist()),
        opening=BOUNDARY,
        unknown=scored.count(encoder.tokenizer.unk_token_id),
    )


def named(answer: str, template: Template) -> int | None:
    """Return which of two labels a generated answer names first, or None: 'Zin 2', or the 2 alone.

    >>> one = Template("choose", "1", "{{ a }} {{ b }}", labels=("Zin 1", "Zin 2"))
    >>> [named(said, one) for said in ("Zin 2 is correct, niet Zin 1.", "**1**", "De tweede", "zin 12")]
    [1, 0, None, None]
    """
    places = {
        k: re.search(rf"\b{re.escape(label)}\b", answer, re.IGNORECASE) for k, label in enumerate(template.labels)
    }
    found = {k: match.start() for k, match in places.items() if match}
    if found:
        return min(found, key=lambda k: found[k])
    bare = re.fullmatch(r"\W*(\w+)\W*", answer)
    alone = [k for k, label in enumerate(template.labels) if bare and label.split()[-1].lower() == bare[1].lower()]
    return alone[0] if alone else None


def rated(answer: str, template: Template) -> int | None:
    """Return the first point of the scale in a generated answer, or None.

    >>> one = Template("rate", "1", "{{ sentence }}", labels=tuple("1234567"))
    >>> [rated(said, one) for said in ("Ik geef een 6.", "7/7", "10", "6,5", "Geen idee")]
    [6, 7, None, None, None]
    """
    numbers = re.findall(r"\d+(?:[.,]\d+)?", answer)
    return int(numbers[0]) if numbers and numbers[0] in template.labels else None
