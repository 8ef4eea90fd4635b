"""Drafts of a paradigm: its seeds, what a model is asked, and the items that its answers hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gardenpath import study

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Paradigm, Sentence
from .answers import FINAL, Unread, pairs_in
from .draft_findings import found_in, overused
from .provenance import FINDINGS, origin, with_provenance
from .regions import SEEDS, anchors, with_regions
from .requests import Wording

if TYPE_CHECKING:
    import pandas as pd

NEXT = "; "  # between the findings of a draft
UNKNOWN, NO_REASON = "unknown", "none"  # cells of the table drafting where there is nothing to say


@dataclass(frozen=True)
class Answer:
    """What a model answered: its text, the model's name, how it was sampled, the hash of what it was asked, and for how many."""

    text: str
    model: str = ""
    sampling: str = ""
    prompt_hash: str = ""
    asked: int = 0


@dataclass(frozen=True)
class Drafts:
    """Drafted items with their paradigm, what could not be read of the answers, and the table `drafting`."""

    materials: Materials
    unread: Sequence[tuple[int, Unread]]  # with the number of the answer, from 1
    drafting: "pd.DataFrame"
    overused: dict[str, int] = field(default_factory=dict)


def seeds_of(materials: Materials, paradigm: str) -> tuple[Paradigm, tuple[Item, ...]]:
    """Return a paradigm and its items made by hand; raises `study.DataError` where these are too few, or no minimal pairs.

    >>> from gardenpath import stimuli
    >>> try:
    ...     seeds_of(stimuli.Materials((stimuli.Paradigm("number", "agreement"),), ()), "nunber")
    ... except study.DataError as error:
    ...     print(error)
    there is no paradigm 'nunber'; expected one of number
    """
    names = [one.id for one in materials.paradigms]
    if paradigm not in names:
        raise study.DataError(f"there is no paradigm {paradigm!r}; expected one of {', '.join(names)}")
    chosen = materials.paradigm(paradigm)
    if not chosen.is_minimal_pair():
        raise study.DataError(
            f"paradigm {paradigm}: conditions are {', '.join(chosen.conditions())}; expected minimal pairs ({GRAMMATICAL}, "
            f"{UNGRAMMATICAL}): items of several factors are generated (gardenpath generate) or written"
        )
    seeds = tuple(item for item in materials.items if item.paradigm == paradigm and origin(item) == "hand")
    if len(seeds) < SEEDS:
        raise study.DataError(
            f"paradigm {paradigm}: {len(seeds)} pairs made by hand; expected {SEEDS} or more to see a pattern"
        )
    if len({seed.language for seed in seeds}) > 1:
        raise study.DataError(f"paradigm {paradigm}: its pairs are in several languages; expected one")
    return chosen, seeds


def draft(materials: Materials, paradigm: str, answers: Sequence[Answer], words: Wording) -> Drafts:
    """Return the pairs that answers hold as items with their regions, where they come from, and what is odd in them.

    A region stands where all seeds have it, counted from where the members differ, else from the beginning, else at the seeds' own
    words, else nowhere, which is a finding. Nothing is left out for a finding: `gardenpath review` decides. Items are named
    PARADIGM-draft-001 and so on, in the order of the answers, after the drafts among `materials`.

    >>> from gardenpath import stimuli
    >>> from .requests import wording
    >>> def pair(name, *texts):
    ...     marked = [stimuli.Sentence(text, (stimuli.Region("critical", 5, len(text) - 1),)) for text in texts]
    ...     return stimuli.Item(name, "number", dict(zip(("grammatical", "ungrammatical"), marked)))
    >>> seeds = pair("i1", "Dogs bark.", "Dogs barks."), pair("i2", "Cats purr.", "Cats purrs.")
    >>> made = draft(
    ...     stimuli.Materials((stimuli.Paradigm("number", "agreement"),), seeds),
    ...     "number", [Answer("Correct: Boys sleep.\\nIncorrect: Boys sleeps.\\nDone!", "m@1", asked=2)], wording("en"),
    ... )
    >>> [(item.id, item.sentences["grammatical"].words_of("critical")[0].text) for item in made.materials.items]
    [('number-draft-001', 'sleep.')]
    >>> made.drafting[["step", "reason", "n"]].values.tolist()
    [['asked', 'none', 2], ['parsed', 'none', 1], ['not parsed', 'neither label', 1], ['flagged', 'none', 0]]
    """
    chosen, seeds = seeds_of(materials, paradigm)
    final = all(sentence.text.rstrip()[-1] in FINAL for seed in seeds for sentence in seed.sentences.values())
    placed, language = anchors(seeds), seeds[0].language
    earlier = [item for item in materials.items if item.paradigm == paradigm and origin(item) == "draft"]
    items: list[Item] = []
    unread: list[tuple[int, Unread]] = []
    lacking: dict[str, list[str]] = {}
    steps: list[dict[str, object]] = []
    for number, answer in enumerate(answers, start=1):
        pairs, bad = pairs_in(answer.text, words, final=final)
        unread += [(number, one) for one in bad]
        for pair in pairs:
            sentences, missing = with_regions(
                {GRAMMATICAL: Sentence(pair.good), UNGRAMMATICAL: Sentence(pair.bad)}, placed
            )
            item = Item(f"{paradigm}-draft-{len(earlier) + len(items) + 1:03d}", paradigm, sentences, language)
            lacking[item.id] = [f"no place for the region {name}" for name in missing]
            provenance = {"model": answer.model, "sampling": answer.sampling, "prompt_hash": answer.prompt_hash}
            items.append(with_provenance(item, origin="draft", **provenance))
        reasons = dict.fromkeys(one.reason for one in bad)
        who = {"paradigm": paradigm, "model": answer.model or UNKNOWN, "prompt_hash": answer.prompt_hash or UNKNOWN}
        steps += [
            *([{**who, "step": "asked", "reason": NO_REASON, "n": answer.asked}] if answer.asked else []),
            {**who, "step": "parsed", "reason": NO_REASON, "n": len(pairs)},
            *(
                {**who, "step": "not parsed", "reason": why, "n": sum(one.reason == why for one in bad)}
                for why in reasons
            ),
        ]
    odd = found_in(items, seeds, chosen, earlier)
    flagged = {name: NEXT.join([*lacking[name], *odd[name]]) for name in odd}
    items = [with_provenance(item, **{FINDINGS: flagged[item.id]}) for item in items]
    for answer in {one.prompt_hash: one for one in answers}.values():
        own = [item for item in items if item.extra.get("prompt_hash", "") == answer.prompt_hash]
        who = {"paradigm": paradigm, "model": answer.model or UNKNOWN, "prompt_hash": answer.prompt_hash or UNKNOWN}
        steps.append({**who, "step": "flagged", "reason": NO_REASON, "n": sum(bool(flagged[item.id]) for item in own)})
    return Drafts(Materials((chosen,), tuple(items)), unread, _table(steps), overused([*seeds, *items], language))


def _table(steps: Sequence[dict[str, object]]) -> "pd.DataFrame":
    import pandas as pd

    key = ["paradigm", "model", "prompt_hash", "step", "reason"]
    table = pd.DataFrame(list(steps), columns=[*key, "n"])
    return study.check(table.groupby(key, sort=False)["n"].sum().reset_index(), "drafting")
