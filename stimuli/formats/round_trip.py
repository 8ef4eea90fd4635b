"""What a format cannot hold, found by writing the materials, reading them again and comparing."""

from collections import Counter
from collections.abc import Callable

from ..items import Item, Materials, Paradigm
from .sentence_rows import SentenceRows, assemble_materials

PARADIGM_FIELDS = ("phenomenon", "factors", "references", "waivers", "predictions")


def find_round_trip_losses(
    materials: Materials, write: Callable[[Materials], str], read: Callable[[str, str], SentenceRows], name: str = "materials"
) -> list[str]:
    """Return one line for each kind of thing that differs after writing and reading."""
    again = assemble_materials(read(write(materials), name))
    return [*_compare_paradigms(materials, again), *_compare_items(materials, again)]


def _compare_paradigms(materials: Materials, again: Materials) -> list[str]:
    others = {p.id: p for p in again.paradigms}
    lost = []
    for paradigm in materials.paradigms:
        other = others.get(paradigm.id)
        if other is None:
            lost.append(f"paradigm {paradigm.id}" + ("" if paradigm.is_minimal_pair() else ": not a minimal pair"))
        else:
            lost += [f"{field} of paradigm {paradigm.id}" for field in PARADIGM_FIELDS if _is_different(paradigm, other, field)]
    return lost


def _is_different(one: Paradigm, other: Paradigm, field: str) -> bool:
    return bool(getattr(one, field) != getattr(other, field))


def _compare_items(materials: Materials, again: Materials) -> list[str]:
    known = {item.id: item for item in again.items}
    same = [(item, known[item.id]) for item in materials.items if item.id in known]
    alone = [item for item in materials.items if item.id not in known]
    own_ids = {item.id for item in materials.items}
    strange = [item for item in again.items if item.id not in own_ids]
    lost = []
    if alone and len(alone) == len(strange):
        lost.append(f"ids of {len(alone)} items, as {strange[0].id!r} for {alone[0].id!r}")
        same += zip(alone, strange, strict=True)
    elif alone:
        by_paradigm = Counter(item.paradigm for item in alone)
        lost += [f"{n} items of paradigm {paradigm}" for paradigm, n in by_paradigm.items()]
    return lost + _compare_fields(same)


def _compare_fields(same: list[tuple[Item, Item]]) -> list[str]:
    """Return what the items that were written and read differ in, with how many do."""
    sentences: Counter[str] = Counter()
    items: Counter[str] = Counter()
    for before, after in same:
        for condition, sentence in before.sentences.items():
            other = after.sentences.get(condition)
            if other is None:
                sentences["text"] += 1
                continue
            for name in ("text", "regions", "segmentation", "display", "alternatives"):
                sentences[name] += getattr(sentence, name) != getattr(other, name)
        for name in ("context", "question", "notes"):
            items[name] += getattr(before, name) != getattr(after, name)
        items[f"language {before.language}"] += before.language != after.language
        for key in before.extra:
            items[f"extra field {key!r}"] += before.extra[key] != after.extra.get(key)
    return [f"{name} of {n} sentences" for name, n in sentences.items() if n] + [
        f"{name} of {n} items" for name, n in items.items() if n
    ]
