"""Drafts of a paradigm: its seeds, what a model is asked, and the items that its answers hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gardenpath import study

from ..items import GRAMMATICAL, UNGRAMMATICAL, Item, Materials, Paradigm, Sentence
from .draft_findings import examine_drafts, find_overused_words
from .provenance import DRAFT_FINDINGS, get_origin, set_provenance
from .regions import MIN_SEEDS, add_regions, find_anchors
from .replies import FINAL_MARKS, UnreadLine, parse_pairs
from .requests import Wording

if TYPE_CHECKING:
    import pandas as pd

FINDING_SEPARATOR = "; "  # between the findings of a draft
UNKNOWN_CELL, NO_REASON_CELL = "unknown", "none"  # cells of the table drafting where there is nothing to say


@dataclass(frozen=True)
class ModelReply:
    """What a model answered: its text, the model's name, how it was sampled, the hash of what it was asked, and for how many."""

    text: str
    model: str = ""
    sampling: str = ""
    prompt_hash: str = ""
    n_requested: int = 0


@dataclass(frozen=True)
class Drafts:
    """Drafted items with their paradigm, what could not be read of the answers, and the table `drafting`."""

    materials: Materials
    unread_lines: Sequence[tuple[int, UnreadLine]]  # with the number of the answer, from 1
    drafting_table: "pd.DataFrame"
    overused_words: dict[str, int] = field(default_factory=dict)


def select_seeds(materials: Materials, paradigm: str) -> tuple[Paradigm, tuple[Item, ...]]:
    """Return a paradigm and its items made by hand; raises `study.DataError` where these are too few, or no minimal pairs.

    >>> from gardenpath import stimuli
    >>> try:
    ...     select_seeds(stimuli.Materials((stimuli.Paradigm("number", "agreement"),), ()), "nunber")
    ... except study.DataError as error:
    ...     print(error)
    there is no paradigm 'nunber'; expected one of number
    """
    names = [one.id for one in materials.paradigms]
    if paradigm not in names:
        raise study.DataError(f"there is no paradigm {paradigm!r}; expected one of {', '.join(names)}")
    chosen = materials.find_paradigm(paradigm)
    if not chosen.is_minimal_pair():
        raise study.DataError(
            f"paradigm {paradigm}: conditions are {', '.join(chosen.list_conditions())}; expected minimal pairs ({GRAMMATICAL}, "
            f"{UNGRAMMATICAL}): items of several factors are generated (gardenpath generate) or written"
        )
    seeds = tuple(item for item in materials.items if item.paradigm == paradigm and get_origin(item) == "hand")
    if len(seeds) < MIN_SEEDS:
        raise study.DataError(
            f"paradigm {paradigm}: {len(seeds)} pairs made by hand; expected {MIN_SEEDS} or more to see a pattern"
        )
    if len({seed.language for seed in seeds}) > 1:
        raise study.DataError(f"paradigm {paradigm}: its pairs are in several languages; expected one")
    return chosen, seeds


def build_drafts(materials: Materials, paradigm: str, replies: Sequence[ModelReply], words: Wording) -> Drafts:
    """Return the pairs that answers hold as items with their regions, where they come from, and what is odd in them.

    A region stands where all seeds have it, counted from where the members differ, else from the beginning, else at the seeds' own
    words, else nowhere, which is a finding. Nothing is left out for a finding: `gardenpath review` decides. Items are named
    PARADIGM-draft-001 and so on, in the order of the answers, after the drafts among `materials`.

    >>> from gardenpath import stimuli
    >>> from .requests import read_wording
    >>> def pair(name, *texts):
    ...     marked = [stimuli.Sentence(text, (stimuli.Region("critical", 5, len(text) - 1),)) for text in texts]
    ...     return stimuli.Item(name, "number", dict(zip(("grammatical", "ungrammatical"), marked)))
    >>> seeds = pair("i1", "Dogs bark.", "Dogs barks."), pair("i2", "Cats purr.", "Cats purrs.")
    >>> reply = ModelReply("Correct: Boys sleep.\\nIncorrect: Boys sleeps.\\nDone!", "m@1", n_requested=2)
    >>> materials = stimuli.Materials((stimuli.Paradigm("number", "agreement"),), seeds)
    >>> made = build_drafts(materials, "number", [reply], read_wording("en"))
    >>> [(item.id, item.sentences["grammatical"].list_region_words("critical")[0].text) for item in made.materials.items]
    [('number-draft-001', 'sleep.')]
    >>> made.drafting_table[["step", "reason", "n_pairs"]].values.tolist()
    [['asked', 'none', 2], ['parsed', 'none', 1], ['not parsed', 'neither label', 1], ['flagged', 'none', 0]]
    """
    chosen, seeds = select_seeds(materials, paradigm)
    final = all(sentence.text.rstrip()[-1] in FINAL_MARKS for seed in seeds for sentence in seed.sentences.values())
    anchors_by_region, language = find_anchors(seeds), seeds[0].language
    earlier = [item for item in materials.items if item.paradigm == paradigm and get_origin(item) == "draft"]
    items: list[Item] = []
    unread: list[tuple[int, UnreadLine]] = []
    missing_regions: dict[str, list[str]] = {}
    steps: list[dict[str, object]] = []
    for number, reply in enumerate(replies, start=1):
        pairs, bad = parse_pairs(reply.text, words, final=final)
        unread += [(number, one) for one in bad]
        for pair in pairs:
            sentences, missing = add_regions(
                {GRAMMATICAL: Sentence(pair.good), UNGRAMMATICAL: Sentence(pair.bad)}, anchors_by_region
            )
            item = Item(f"{paradigm}-draft-{len(earlier) + len(items) + 1:03d}", paradigm, sentences, language)
            missing_regions[item.id] = [f"no place for the region {name}" for name in missing]
            provenance = {"model": reply.model, "sampling": reply.sampling, "prompt_hash": reply.prompt_hash}
            items.append(set_provenance(item, origin="draft", **provenance))
        reasons = dict.fromkeys(one.reason for one in bad)
        who = {"paradigm": paradigm, "model": reply.model or UNKNOWN_CELL, "prompt_hash": reply.prompt_hash or UNKNOWN_CELL}
        steps += [
            *([{**who, "step": "asked", "reason": NO_REASON_CELL, "n_pairs": reply.n_requested}] if reply.n_requested else []),
            {**who, "step": "parsed", "reason": NO_REASON_CELL, "n_pairs": len(pairs)},
            *({**who, "step": "not parsed", "reason": why, "n_pairs": sum(one.reason == why for one in bad)} for why in reasons),
        ]
    odd = examine_drafts(items, seeds, chosen, earlier)
    flagged = {name: FINDING_SEPARATOR.join([*missing_regions[name], *odd[name]]) for name in odd}
    items = [set_provenance(item, **{DRAFT_FINDINGS: flagged[item.id]}) for item in items]
    for reply in {one.prompt_hash: one for one in replies}.values():
        own = [item for item in items if item.extra.get("prompt_hash", "") == reply.prompt_hash]
        who = {"paradigm": paradigm, "model": reply.model or UNKNOWN_CELL, "prompt_hash": reply.prompt_hash or UNKNOWN_CELL}
        steps.append({**who, "step": "flagged", "reason": NO_REASON_CELL, "n_pairs": sum(bool(flagged[item.id]) for item in own)})
    return Drafts(
        Materials((chosen,), tuple(items)), unread, _build_drafting_table(steps), find_overused_words([*seeds, *items], language)
    )


def _build_drafting_table(steps: Sequence[dict[str, object]]) -> "pd.DataFrame":
    import pandas as pd

    key = ["paradigm", "model", "prompt_hash", "step", "reason"]
    table = pd.DataFrame(list(steps), columns=[*key, "n_pairs"])
    return study.check(table.groupby(key, sort=False)["n_pairs"].sum().reset_index(), "drafting")
