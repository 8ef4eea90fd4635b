"""SyntaxGym suites: items as regions by conditions, with formulas that predict surprisals.

Gauthier et al. 2020, doi 10.18653/v1/2020.acl-demos.10. A suite is a paradigm whose one factor, `condition`, has the
suite's conditions as levels; its formulas are the predictions. A sentence is its regions' contents without the spaces
at their ends, joined by one space each, before punctuation too: so the published scorer joins them, and so contents
hold their own punctuation ("into the room ."). An empty content is an empty region after the text before it. A region
is named by number and name, "5 verb", so that (5;%match%) is the region whose name begins with 5. What else the suite
says of itself is kept in each item's extra field `meta`. A table with a row for each region is read too: its suite
has the file's name. Several suites are written as one list, which SyntaxGym does not read.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..findings import Finding
from ..items import Item, Materials, Paradigm, Region, Sentence, SourceLine
from .csv_and_jsonl import as_text, from_text, header, records
from .pair_rows import factors, number, stem
from .round_trip import losses
from .sentence_rows import Row, Rows

NAME = "syntaxgym"
SUFFIX = ".json"
NUMBER = "item_number"
LANGUAGE = "en"
METRIC = {"metric": "sum"}  # how surprisals of a region make one, where a suite does not say
COLUMNS = (NUMBER, "condition_name", "region_number", "region_name", "content")


def recognises(text: str) -> bool:
    """Whether the text is JSON that has region_meta and items, or a table with a row for each region."""
    if text.lstrip()[:1] in ("{", "["):
        return all(f'"{key}"' in text for key in ("region_meta", "items", "conditions"))
    return set(COLUMNS) <= set(header(text, ",;\t")[0])


def read(text: str, file: str) -> Rows:
    """Return the rows of a suite, a list of suites, or a table of regions; items are named suite-item_number."""
    rows = Rows()
    if set(COLUMNS) <= set(header(text, ",;\t")[0]):
        suite, places = _tabular(rows, text, file)
        if suite["items"]:
            _add_suite(rows, suite, iter(places))
        return rows
    try:
        suites = json.loads(text)
    except json.JSONDecodeError as error:
        rows.fault(
            SourceLine(file, error.lineno), f"not valid JSON: {error.msg} at character {error.colno} of the line"
        )
        return rows
    lines = _lines(text, file)
    for suite in suites if isinstance(suites, list) else [suites]:
        _add_suite(rows, suite, lines)
    return rows


def _tabular(rows: Rows, text: str, file: str) -> tuple[dict[str, Any], list[SourceLine]]:
    """Return the suite that a table of regions holds, named as the file, and where each of its items begins."""
    names: dict[str, str] = {}
    items: dict[str, dict[str, list[dict[str, str]]]] = {}
    places: dict[str, SourceLine] = {}
    for _, place, record in records(rows, text, file, COLUMNS):
        if not record["region_number"].isdigit() or not record[NUMBER] or not record["condition_name"]:
            rows.fault(
                place, "region_number is not a number, or item_number or condition_name is empty; expected all three"
            )
            continue
        places.setdefault(record[NUMBER], place)
        names[record["region_number"]] = record["region_name"]
        regions = items.setdefault(record[NUMBER], {}).setdefault(record["condition_name"], [])
        regions.append({"region_number": record["region_number"], "content": record["content"]})
    suite_items = [
        {
            NUMBER: from_text(n),
            "conditions": [{"condition_name": c, "regions": regions} for c, regions in conditions.items()],
        }
        for n, conditions in items.items()
    ]
    return {"meta": {"name": stem(file)}, "region_meta": names, "items": suite_items}, list(places.values())


def _lines(text: str, file: str) -> Iterator[SourceLine]:
    """Yield the place of each item: the line on which its number stands."""
    line, at = 1, 0
    for match in re.finditer(f'"{NUMBER}"', text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield SourceLine(file, line)
    while True:
        yield SourceLine(file, line)


def _add_suite(rows: Rows, suite: Any, lines: Iterator[SourceLine]) -> None:
    meta = suite.get("meta") if isinstance(suite, dict) else None
    if not isinstance(meta, dict) or not meta.get("name") or not isinstance(suite.get("items"), list):
        return rows.fault(
            next(lines), "a suite has no meta with a name, or no items; expected meta, region_meta, predictions, items"
        )
    region_meta = suite.get("region_meta")
    named = region_meta.items() if isinstance(region_meta, dict) else ()
    names = {int(n): str(name) for n, name in named if str(n).isdigit()}
    items = [(next(lines), item) for item in suite["items"]]
    conditions = dict.fromkeys(c for _, item in items for c in _conditions(item))
    paradigm = str(meta["name"])
    formulas = _list(suite, "predictions")
    predictions = tuple(str(p["formula"]) for p in formulas if isinstance(p, dict) and p.get("formula"))
    if len(predictions) < len(formulas):
        rows.fault(items[0][0] if items else next(lines), "a prediction has no formula; expected one in each")
    references = (str(meta["reference"]),) if meta.get("reference") else ()
    language = str(meta.get("language") or LANGUAGE)
    if conditions:
        phenomenon = str(meta.get("phenomenon") or paradigm)
        rows.paradigms[paradigm] = Paradigm(
            paradigm, phenomenon, factors(conditions), references, predictions=predictions
        )
    rest = {key: value for key, value in meta.items() if key not in ("name", "reference", "phenomenon", "language")}
    for place, item in items:
        _add_item(
            rows,
            place,
            item,
            rows.paradigms.get(paradigm),
            names,
            {"meta": as_text(rest)} if rest not in ({}, METRIC) else {},
            language,
        )
    return None


def _conditions(item: Any) -> list[str]:
    conditions = _list(item, "conditions")
    return [str(c["condition_name"]) for c in conditions if isinstance(c, dict) and "condition_name" in c]


def _list(record: Any, key: str) -> list[Any]:
    """Return the list that a record has under a key, or none where it is not a record or has no list there."""
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def _add_item(
    rows: Rows,
    place: SourceLine,
    item: Any,
    paradigm: Paradigm | None,
    names: Mapping[int, str],
    extra: Mapping[str, str],
    language: str,
) -> None:
    if paradigm is None or not _conditions(item) or NUMBER not in item:
        return rows.fault(place, f"an item has no {NUMBER} or no conditions with a condition_name; expected both")
    known = {NUMBER: item[NUMBER]} | {k: v for k, v in item.items() if k not in (NUMBER, "conditions", "item_id")}
    name = str(item.get("item_id") or f"{paradigm.id}-{item[NUMBER]}")
    if others := _unkept(item["conditions"]):
        message = f"{', '.join(others)} of conditions or regions are not kept"
        rows.findings.append(Finding("format", "warning", place.file, place.line, paradigm.id, name, "", message))
    for condition in item["conditions"]:
        try:
            level = str(condition["condition_name"])
            text, regions = joined(condition["regions"], names)
        except (KeyError, TypeError, ValueError):
            message = (
                "a condition is malformed; expected a condition_name and regions, each with a region_number and content"
            )
            rows.fault(place, message, paradigm.id, name)
            continue
        rows.rows.append(
            Row(
                place,
                paradigm.id,
                paradigm.phenomenon,
                name,
                level,
                text,
                regions,
                language,
                extra={**{key: as_text(value) for key, value in known.items()}, **extra},
            )
        )
    return None


def _unkept(conditions: Sequence[Any]) -> list[str]:
    """Return the fields of conditions and regions that items have no place for, as results have."""
    regions = [r for c in conditions if isinstance(c, dict) for r in _list(c, "regions") if isinstance(r, dict)]
    fields = {key for c in conditions if isinstance(c, dict) for key in c} | {key for r in regions for key in r}
    return sorted(fields - {"condition_name", "regions", "region_number", "content"})


def joined(regions: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> tuple[str, tuple[Region, ...]]:
    """Return the sentence of a condition, and its regions.

    >>> text, regions = joined([{"region_number": n, "content": c} for n, c in enumerate(("It", "", " ran"), 1)], {3: "verb"})
    >>> text, [(r.name, r.start, r.end) for r in regions]
    ('It ran', [('1', 0, 2), ('2', 2, 2), ('3 verb', 3, 6)])
    """
    text, spans = "", []
    for region in sorted(regions, key=lambda region: int(region["region_number"])):
        content = str(region["content"] or "").strip()
        n = int(region["region_number"])
        name = f"{n} {names.get(n, '')}".strip()
        if content:
            text += " " * bool(text) + content
        spans.append(Region(name, len(text) - len(content), len(text)))
    return text, tuple(spans)


def write(materials: Materials) -> str:
    """Return the suite of a paradigm, or a list of suites."""
    suites = [_suite(p, [item for item in materials.items if item.paradigm == p.id]) for p in materials.paradigms]
    return json.dumps(suites[0] if len(suites) == 1 else suites, ensure_ascii=False, indent=1) + "\n"


def _suite(paradigm: Paradigm, items: Sequence[Item]) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": paradigm.id}
    if items and isinstance(rest := from_text(items[0].extra.get("meta", "{}")), dict):
        meta |= {**METRIC, **rest}
    meta |= {"reference": "; ".join(paradigm.references)}
    if paradigm.phenomenon != paradigm.id:
        meta["phenomenon"] = paradigm.phenomenon
    if items and items[0].language != LANGUAGE:
        meta["language"] = items[0].language
    sentences = [sentence for item in items for sentence in item.sentences.values()]
    names = _numbered(sentences)
    return {
        "meta": meta,
        "region_meta": {str(n): name for n, name in enumerate(names, start=1)},
        "predictions": [{"type": "formula", "formula": formula} for formula in paradigm.predictions],
        "items": [_item(item, len(names)) for item in items],
    }


def _numbered(sentences: Sequence[Sentence]) -> list[str]:
    """Return the names of the regions that every sentence is cut into, or of one region that is the whole sentence."""
    cuts = {tuple(name for name, _ in pieces(sentence)) for sentence in sentences}
    if len(cuts) != 1:
        return ["sentence"]
    return [name.removeprefix(f"{n}").strip() for n, name in enumerate(cuts.pop(), start=1)]


def _item(item: Item, width: int) -> dict[str, Any]:
    n = number(item, NUMBER)
    extra = {key: from_text(text) for key, text in item.extra.items() if key not in (NUMBER, "meta", "conditions")}
    conditions = []
    for condition, sentence in item.sentences.items():
        contents = [text for _, text in pieces(sentence)]
        if len(contents) != width:
            contents = [sentence.text]
        numbered = [{"region_number": k, "content": content} for k, content in enumerate(contents, start=1)]
        conditions.append({"condition_name": condition, "regions": numbered})
    id_field = {} if item.id == f"{item.paradigm}-{n}" else {"item_id": item.id}
    return {NUMBER: from_text(n), **id_field, **extra, "conditions": conditions}


def pieces(sentence: Sentence) -> list[tuple[str, str]]:
    """Return name and text of each region, and of what stands between regions, in order; nested ones are left out.

    >>> pieces(Sentence("No cat has ever slept.", (Region("critical", 11, 15),)))
    [('', 'No cat has'), ('critical', 'ever'), ('', 'slept.')]
    """
    parts, at = [], 0
    for region in sorted(sentence.regions, key=lambda region: (region.start, region.end)):
        if region.start < at:
            continue
        if between := sentence.text[at : region.start].strip():
            parts.append(("", between))
        parts.append((region.name, sentence.text[region.start : region.end]))
        at = region.end
    if rest := sentence.text[at:].strip():
        parts.append(("", rest))
    return parts


def loses(materials: Materials) -> list[str]:
    """Return what SyntaxGym suites cannot hold of these materials."""
    return losses(materials, write, read)
