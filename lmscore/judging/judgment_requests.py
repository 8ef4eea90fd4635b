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
from ..tokens.continuations import check_distinct_tokens, encode_continuations, get_prompt_encoder
from ..tokens.encoding import OPENING_BOUNDARY, EncodedText, build_lead_in, list_added_ids, tokenise
from ..tokens.protocols import Protocol
from ..tokens.token_table import TokenTable
from .chat_format import ChatFormat
from .generation import require_loaded_model
from .templates import Template

BOTH_ORDERS = "both"
ANSWER_SEPARATOR = " | "  # between two answers of a row

STRING_REDUCTIONS: dict[str, Callable[[TokenTable], float]] = {
    "lp": reductions.lp,
    "mean_lp": reductions.mean_lp,
    "pen_lp": reductions.pen_lp,
    "template_lp": reductions.lp,
    "template_mean_lp": reductions.mean_lp,
    "template_pen_lp": reductions.pen_lp,
    "comparative": reductions.lp,
}


class PairJudgment(NamedTuple):
    """What a method says of a pair: scores of both members, and by how much the grammatical one is preferred (NaN: no answer)."""

    method: str
    grammatical: float
    ungrammatical: float
    preference: float
    answer: str | None = None
    order: str | None = None
    label_probability: float = math.nan


class JudgmentRequest(NamedTuple):
    """What is asked of a model at once, and how the tables of `texts` are read."""

    texts: list[EncodedText]
    read: Callable[[Sequence[TokenTable]], list[PairJudgment]]


@dataclass(frozen=True)
class RequestBuilder:
    """A model, how it is spoken to, and how strings become tokens and labels are counted; see `judge`."""

    model: Model
    chat_format: ChatFormat
    protocol: Protocol
    prompt_tokenization: Literal["whole", "parts"] = "whole"
    label_scoring: Literal["first", "sum"] = "first"
    both_orders: bool = False
    original_implementation: bool = False
    seed: int = 1
    _spellings_by_template: dict[Template, list[list[str]]] = field(default_factory=dict, compare=False, repr=False)

    def get_sentences(self, item: Item) -> tuple[str, str]:
        """Return the grammatical and the ungrammatical member, each after the item's context."""
        before = build_lead_in(item.context, joiner=self.protocol.get_joiner(item.language))
        good, bad = (before + item.sentences[condition].text for condition in (GRAMMATICAL, UNGRAMMATICAL))
        return good, bad

    def request_sentences(self, item: Item, methods: Sequence[str]) -> JudgmentRequest:
        """Ask for the members by themselves, as `evaluate` does."""
        texts = [
            encode_sentence(item, item.sentences[condition], self.model, self.protocol)
            for condition in (GRAMMATICAL, UNGRAMMATICAL)
        ]
        if not all(text.ids for text in texts):
            raise ValueError("a sentence is one token, fed first and not scored; expected two or more")
        return JudgmentRequest(texts, _make_reader(methods))

    def request_template(self, item: Item, template: Template, methods: Sequence[str]) -> JudgmentRequest:
        """Ask for the probability of whole strings: each member in the template, or both in each order."""
        good, bad = self.get_sentences(item)
        filled = [(good, bad), (bad, good)] if template.type == "comparative" else [(good,), (bad,)]
        texts = [self._encode_string(template, each) for each in filled]
        return JudgmentRequest(
            [self._check_fit(text) for text in texts], _make_reader(methods, BOTH_ORDERS if len(filled[0]) > 1 else None)
        )

    def _encode_string(self, template: Template, sentences: tuple[str, ...]) -> EncodedText:
        options = self.protocol.list_options()
        if self.prompt_tokenization == "whole":
            return self.model.encode(template.fill(*sentences)[1], **options)
        encoder = get_prompt_encoder(self.model)
        fed = [encoder.prefix] if options.get("prefix", True) else list_added_ids(encoder)
        return _encode_parts(encoder, fed, template.split_parts(*sentences))

    def request_labels(self, item: Item, template: Template, methods: Sequence[str]) -> JudgmentRequest:
        """Ask for the probabilities of a template's labels at the place of the answer."""
        [method] = methods
        prompts, order = self.build_prompts(item, template)
        asked = [self._encode_labels(template, prompt) for prompt in prompts]
        texts = [text for each, _ in asked for text in each]

        def read(tables: Sequence[TokenTable]) -> list[PairJudgment]:
            lps, start = [], 0
            for each, owners in asked:
                found = reductions.answer_lps(tables[start : start + len(each)])
                start += len(each)
                lps.append(np.array([np.logaddexp.reduce(found[owners == k]) for k in range(len(template.labels))]))
            label_probability = float(np.mean([np.exp(lp).sum() for lp in lps]))
            answers = ANSWER_SEPARATOR.join(template.labels[int(lp.argmax())] for lp in lps)
            logits = self._compute_logits(template, prompts) if self.original_implementation and method == "yes_no" else None
            return [
                PairJudgment(
                    method, *_SCORE_FUNCTIONS[template.type](lps, order, template, logits), answers, order, label_probability
                )
            ]

        return JudgmentRequest(texts, read)

    def build_prompts(self, item: Item, template: Template) -> tuple[list[str], str | None]:
        """Return the prompts of a pair: one for each member, or one for each order; and which member stands first."""
        good, bad = self.get_sentences(item)
        if template.type in ("yes_no", "rate"):
            return [self._build_prompt(template, good), self._build_prompt(template, bad)], None
        if self.both_orders:
            return [self._build_prompt(template, good, bad), self._build_prompt(template, bad, good)], BOTH_ORDERS
        first = random.Random(f"{self.seed} {template.type} {template.id} {item.id}").random() < 0.5
        pair = (good, bad) if first else (bad, good)
        return [self._build_prompt(template, *pair)], GRAMMATICAL if first else UNGRAMMATICAL

    def _build_prompt(self, template: Template, *sentences: str) -> str:
        for sentence in sentences:
            self.chat_format.check_text(sentence)
        system, user = template.fill(*sentences)
        # The released prompts end in a space, which the paper's do not.
        answer_lead = template.answer + template.space if self.original_implementation and template.answer else template.answer
        return self.chat_format.render_prompt(system, user, space=template.space, answer_lead=answer_lead)

    def _encode_labels(self, template: Template, prompt: str) -> tuple[list[EncodedText], np.ndarray]:
        """Return the ways to give each label after a prompt, and to which label each belongs."""
        spelt = self._find_spellings(template, prompt)
        owners = np.array([k for k, variants in enumerate(spelt) for _ in variants])
        flat = [variant for variants in spelt for variant in variants]
        if self.prompt_tokenization == "whole":
            texts = encode_continuations(self.model, prompt, flat, rendered=self.chat_format.has_turns)
        else:
            encoder = get_prompt_encoder(self.model)
            before = (
                list_added_ids(encoder) if self.original_implementation else [] if self.chat_format.has_turns else [encoder.prefix]
            )
            fed = [*before, *tokenise(encoder.tokenizer, prompt, special=self.chat_format.has_turns).ids]
            pieces = encoder.tokenizer.get_vocab() if self.original_implementation else {}
            texts = [_encode_parts(encoder, fed, [variant], pieces.get(variant)) for variant in flat]
            check_distinct_tokens(self.model, flat, [text.ids for text in texts])
        return [self._check_fit(text) for text in texts], owners

    def _find_spellings(self, template: Template, prompt: str) -> list[list[str]]:
        """Return how the labels are written after a prompt, found once a template: with or without a space, of one token if any is.

        Summed are all ways to write a label that differ in its space and its case, and are not the same tokens.
        """
        if template in self._spellings_by_template:
            return self._spellings_by_template[template]
        spaces = ("",) if self.original_implementation else self._list_spaces(template, prompt)
        spelt: list[list[str]] = []
        if self.label_scoring == "sum":
            known: dict[tuple[int, ...], int] = {}
            for k, label in enumerate(template.labels):
                cased = dict.fromkeys([label, label.lower(), label.upper(), label.capitalize()])
                ways: dict[tuple[int, ...], str] = {}
                for written in [space + case for space in dict.fromkeys([*spaces, "", " "]) for case in cased]:
                    whole = self._tokenise_whole(prompt, written)
                    if known.setdefault(whole, k) == k:
                        ways.setdefault(whole, written)
                if not ways:
                    raise ValueError(f"label {label!r} is the same tokens as another; expected labels that differ")
                spelt.append([*ways.values()])
        else:
            tried = [[[space + label] for label in template.labels] for space in spaces]
            single = (labels for labels in tried if self._are_single_tokens(prompt, [label for [label] in labels]))
            spelt = next(single, tried[0])
        self._spellings_by_template[template] = spelt
        return spelt

    def _list_spaces(self, template: Template, prompt: str) -> tuple[str, ...]:
        """Return what may stand between a prompt and a label, the most natural first."""
        if self.chat_format.has_turns:
            lead = self.chat_format.find_label_space(template.labels[0])
            return tuple(dict.fromkeys([lead, "", " "]))
        if prompt[-1:].isspace():
            return ("",)
        return tuple(dict.fromkeys([template.space, "", " "]))

    def _tokenise_whole(self, prompt: str, continuation: str) -> tuple[int, ...]:
        tokenizer = get_prompt_encoder(self.model).tokenizer
        return tuple(tokenise(tokenizer, prompt + continuation, special=self.chat_format.has_turns).ids)

    def _are_single_tokens(self, prompt: str, labels: Sequence[str]) -> bool:
        try:
            return all(
                len(text.ids) == 1 for text in encode_continuations(self.model, prompt, labels, rendered=self.chat_format.has_turns)
            )
        except ValueError:  # not told apart when written so
            return False

    def _check_fit(self, text: EncodedText) -> EncodedText:
        """Return what a model is asked, or raise `ValueError` where it is longer than the model takes."""
        window, length = get_prompt_encoder(self.model).window, len(text.context_ids) + len(text.ids)
        if window and length > window + 1:
            raise ValueError(f"the prompt has {length} tokens; expected at most {window}, which {self.model.name} takes")
        return text

    def _compute_logits(self, template: Template, prompts: Sequence[str]) -> list[np.ndarray]:
        """Return the raw logits of the labels after each prompt: no probabilities, as in the released code."""
        import torch

        own = require_loaded_model(self.model)
        found = []
        for prompt in prompts:
            texts, _ = self._encode_labels(template, prompt)
            if any(len(text.ids) != 1 for text in texts):
                raise ValueError(f"labels {', '.join(template.labels)}: expected one token each, as in the released code")
            with torch.inference_mode():
                ids = torch.tensor([texts[0].context_ids], device=own.device)
                logits = own.network(input_ids=ids, use_cache=False).logits[0, -1]
            found.append(np.array([float(logits[text.ids[0]]) for text in texts]))
        return found


def _make_reader(methods: Sequence[str], order: str | None = None) -> Callable[[Sequence[TokenTable]], list[PairJudgment]]:
    def read(tables: Sequence[TokenTable]) -> list[PairJudgment]:
        judged = []
        for method in methods:
            good, bad = (STRING_REDUCTIONS[method](table) for table in tables)
            judged.append(PairJudgment(method, good, bad, good - bad, order=order))
        return judged

    return read


PairScores = tuple[float, float, float]
LabelLps = Sequence[np.ndarray]


def _score_choice(lps: LabelLps, order: str | None, template: Template, logits: LabelLps | None) -> PairScores:
    """Return the log-probability of each member's label, the mean over orders where there are both."""
    good, bad = (lps[0][0], lps[0][1]) if order != UNGRAMMATICAL else (lps[0][1], lps[0][0])
    if order == BOTH_ORDERS:  # exchanging the members exchanges what is added, so that the scores are exchanged exactly
        good, bad = (good + lps[1][1]) / 2, (bad + lps[1][0]) / 2
    return float(good), float(bad), float(good - bad)


def _score_acceptance(lps: LabelLps, order: str | None, template: Template, logits: LabelLps | None) -> PairScores:
    """Return P(yes) / (P(yes) + P(no)) of each member; the verdict is by its log-odds, which do not saturate."""
    if logits is not None:
        good, bad = (float(yes / (yes + no)) for yes, no in logits)
        return good, bad, good - bad
    odds = [float(yes - no) for yes, no in lps]
    good, bad = (1 / (1 + math.exp(-each)) if each > -700 else 0.0 for each in odds)
    return good, bad, odds[0] - odds[1]


def _score_rating(lps: LabelLps, order: str | None, template: Template, logits: LabelLps | None) -> PairScores:
    """Return the rating expected of each member over the points of the scale."""
    points = np.array([int(label) for label in template.labels])
    good, bad = (float((np.exp(lp - np.logaddexp.reduce(lp)) * points).sum()) for lp in lps)
    return good, bad, good - bad


_SCORE_FUNCTIONS = {"ab": _score_choice, "choose": _score_choice, "yes_no": _score_acceptance, "rate": _score_rating}


def _encode_parts(encoder: Any, fed: Sequence[int], parts: Sequence[str], piece: int | None = None) -> EncodedText:
    """Return parts as tokens of each by itself, or a piece of the vocabulary, scored after what is fed or the first token."""
    ids = [piece] if piece is not None else [i for part in parts for i in tokenise(encoder.tokenizer, part).ids]
    first = 0 if fed else 1
    scored = ids[first:]
    if not scored:
        raise ValueError(f"the tokenizer leaves no token to score of {''.join(parts)!r}; expected at least one")
    return EncodedText(
        context_ids=(*fed, *ids[:first]),
        ids=tuple(scored),
        spans=((0, 0),) * len(scored),
        starts_with_space=tuple(encoder.vocabulary.starts_with_space[scored].tolist()),
        ends_with_space=tuple(encoder.vocabulary.ends_with_space[scored].tolist()),
        opening=OPENING_BOUNDARY,
        unknown_count=scored.count(encoder.tokenizer.unk_token_id),
    )


def parse_choice(answer: str, template: Template) -> int | None:
    """Return which of two labels a generated answer names first, or None: 'Zin 2', or the 2 alone.

    >>> one = Template("choose", "1", "{{ a }} {{ b }}", labels=("Zin 1", "Zin 2"))
    >>> [parse_choice(said, one) for said in ("Zin 2 is correct, niet Zin 1.", "**1**", "De tweede", "zin 12")]
    [1, 0, None, None]
    """
    matches = {k: re.search(rf"\b{re.escape(label)}\b", answer, re.IGNORECASE) for k, label in enumerate(template.labels)}
    found = {k: match.start() for k, match in matches.items() if match}
    if found:
        return min(found, key=lambda k: found[k])
    bare = re.fullmatch(r"\W*(\w+)\W*", answer)
    alone = [k for k, label in enumerate(template.labels) if bare and label.split()[-1].lower() == bare[1].lower()]
    return alone[0] if alone else None


def parse_rating(answer: str, template: Template) -> int | None:
    """Return the first point of the scale in a generated answer, or None.

    >>> one = Template("rate", "1", "{{ sentence }}", labels=tuple("1234567"))
    >>> [parse_rating(said, one) for said in ("Ik geef een 6.", "7/7", "10", "6,5", "Geen idee")]
    [6, 7, None, None, None]
    """
    numbers = re.findall(r"\d+(?:[.,]\d+)?", answer)
    return int(numbers[0]) if numbers and numbers[0] in template.labels else None
