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
from .csv_and_jsonl import format_json_value, parse_json_value, read_header, read_table_rows
from .pair_rows import build_factors, get_file_stem, get_item_number
from .round_trip import find_round_trip_losses
from .sentence_rows import SentenceRow, SentenceRows

NAME = "syntaxgym"
SUFFIX = ".json"
NUMBER_FIELD = "item_number"
LANGUAGE = "en"
DEFAULT_METRIC = {"metric": "sum"}  # how surprisals of a region make one, where a suite does not say
REQUIRED_COLUMNS = (NUMBER_FIELD, "condition_name", "region_number", "region_name", "content")


def recognises(text: str) -> bool:
    """Whether the text is JSON that has region_meta and items, or a table with a row for each region."""
    if text.lstrip()[:1] in ("{", "["):
        return all(f'"{key}"' in text for key in ("region_meta", "items", "conditions"))
    return set(REQUIRED_COLUMNS) <= set(read_header(text, ",;\t")[0])


def read(text: str, file: str) -> SentenceRows:
    """Return the rows of a suite, a list of suites, or a table of regions; items are named suite-item_number."""
    rows = SentenceRows()
    if set(REQUIRED_COLUMNS) <= set(read_header(text, ",;\t")[0]):
        suite, source_lines = _read_table(rows, text, file)
        if suite["items"]:
            _add_suite(rows, suite, iter(source_lines))
        return rows
    try:
        suites = json.loads(text)
    except json.JSONDecodeError as error:
        rows.add_fault(SourceLine(file, error.lineno), f"not valid JSON: {error.msg} at character {error.colno} of the line")
        return rows
    lines = _list_source_lines(text, file)
    for suite in suites if isinstance(suites, list) else [suites]:
        _add_suite(rows, suite, lines)
    return rows


def _read_table(rows: SentenceRows, text: str, file: str) -> tuple[dict[str, Any], list[SourceLine]]:
    """Return the suite that a table of regions holds, named as the file, and where each of its items begins."""
    names: dict[str, str] = {}
    items: dict[str, dict[str, list[dict[str, str]]]] = {}
    source_lines: dict[str, SourceLine] = {}
    for _, source_line, record in read_table_rows(rows, text, file, REQUIRED_COLUMNS):
        if not record["region_number"].isdigit() or not record[NUMBER_FIELD] or not record["condition_name"]:
            rows.add_fault(
                source_line, "region_number is not a number, or item_number or condition_name is empty; expected all three"
            )
            continue
        source_lines.setdefault(record[NUMBER_FIELD], source_line)
        names[record["region_number"]] = record["region_name"]
        regions = items.setdefault(record[NUMBER_FIELD], {}).setdefault(record["condition_name"], [])
        regions.append({"region_number": record["region_number"], "content": record["content"]})
    suite_items = [
        {
            NUMBER_FIELD: parse_json_value(n),
            "conditions": [{"condition_name": c, "regions": regions} for c, regions in conditions.items()],
        }
        for n, conditions in items.items()
    ]
    return {"meta": {"name": get_file_stem(file)}, "region_meta": names, "items": suite_items}, list(source_lines.values())


def _list_source_lines(text: str, file: str) -> Iterator[SourceLine]:
    """Yield the place of each item: the line on which its number stands."""
    line, at = 1, 0
    for match in re.finditer(f'"{NUMBER_FIELD}"', text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield SourceLine(file, line)
    while True:
        yield SourceLine(file, line)


def _add_suite(rows: SentenceRows, suite: Any, lines: Iterator[SourceLine]) -> None:
    meta = suite.get("meta") if isinstance(suite, dict) else None
    if not isinstance(meta, dict) or not meta.get("name") or not isinstance(suite.get("items"), list):
        return rows.add_fault(
            next(lines), "a suite has no meta with a name, or no items; expected meta, region_meta, predictions, items"
        )
    region_meta = suite.get("region_meta")
    named = region_meta.items() if isinstance(region_meta, dict) else ()
    names = {int(n): str(name) for n, name in named if str(n).isdigit()}
    items = [(next(lines), item) for item in suite["items"]]
    conditions = dict.fromkeys(c for _, item in items for c in _list_conditions(item))
    paradigm = str(meta["name"])
    formulas = _get_list(suite, "predictions")
    predictions = tuple(str(p["formula"]) for p in formulas if isinstance(p, dict) and p.get("formula"))
    if len(predictions) < len(formulas):
        rows.add_fault(items[0][0] if items else next(lines), "a prediction has no formula; expected one in each")
    references = (str(meta["reference"]),) if meta.get("reference") else ()
    language = str(meta.get("language") or LANGUAGE)
    if conditions:
        phenomenon = str(meta.get("phenomenon") or paradigm)
        rows.paradigms[paradigm] = Paradigm(paradigm, phenomenon, build_factors(conditions), references, predictions=predictions)
    rest = {key: value for key, value in meta.items() if key not in ("name", "reference", "phenomenon", "language")}
    for source_line, item in items:
        _add_item(
            rows,
            source_line,
            item,
            rows.paradigms.get(paradigm),
            names,
            {"meta": format_json_value(rest)} if rest not in ({}, DEFAULT_METRIC) else {},
            language,
        )
    return None


def _list_conditions(item: Any) -> list[str]:
    conditions = _get_list(item, "conditions")
    return [str(c["condition_name"]) for c in conditions if isinstance(c, dict) and "condition_name" in c]


def _get_list(record: Any, key: str) -> list[Any]:
    """Return the list that a record has under a key, or none where it is not a record or has no list there."""
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def _add_item(
    rows: SentenceRows,
    source_line: SourceLine,
    item: Any,
    paradigm: Paradigm | None,
    names: Mapping[int, str],
    extra: Mapping[str, str],
    language: str,
) -> None:
    if paradigm is None or not _list_conditions(item) or NUMBER_FIELD not in item:
        return rows.add_fault(source_line, f"an item has no {NUMBER_FIELD} or no conditions with a condition_name; expected both")
    known = {NUMBER_FIELD: item[NUMBER_FIELD]} | {k: v for k, v in item.items() if k not in (NUMBER_FIELD, "conditions", "item_id")}
    name = str(item.get("item_id") or f"{paradigm.id}-{item[NUMBER_FIELD]}")
    if others := _find_unkept_fields(item["conditions"]):
        message = f"{', '.join(others)} of conditions or regions are not kept"
        rows.findings.append(Finding("format", "warning", source_line.file, source_line.line, paradigm.id, name, "", message))
    for condition in item["conditions"]:
        try:
            level = str(condition["condition_name"])
            text, regions = join_regions(condition["regions"], names)
        except (KeyError, TypeError, ValueError):
            message = "a condition is malformed; expected a condition_name and regions, each with a region_number and content"
            rows.add_fault(source_line, message, paradigm.id, name)
            continue
        rows.rows.append(
            SentenceRow(
                source_line,
                paradigm.id,
                paradigm.phenomenon,
                name,
                level,
                text,
                regions,
                language,
                extra={**{key: format_json_value(value) for key, value in known.items()}, **extra},
            )
        )
    return None


def _find_unkept_fields(conditions: Sequence[Any]) -> list[str]:
    """Return the fields of conditions and regions that items have no place for, as results have."""
    regions = [r for c in conditions if isinstance(c, dict) for r in _get_list(c, "regions") if isinstance(r, dict)]
    fields = {key for c in conditions if isinstance(c, dict) for key in c} | {key for r in regions for key in r}
    return sorted(fields - {"condition_name", "regions", "region_number", "content"})


def join_regions(regions: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> tuple[str, tuple[Region, ...]]:
    """Return the sentence of a condition, and its regions.

    >>> text, regions = join_regions([{"region_number": n, "content": c} for n, c in enumerate(("It", "", " ran"), 1)], {3: "verb"})
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
    suites = [_build_suite(p, [item for item in materials.items if item.paradigm == p.id]) for p in materials.paradigms]
    return json.dumps(suites[0] if len(suites) == 1 else suites, ensure_ascii=False, indent=1) + "\n"


def _build_suite(paradigm: Paradigm, items: Sequence[Item]) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": paradigm.id}
    if items and isinstance(rest := parse_json_value(items[0].extra.get("meta", "{}")), dict):
        meta |= {**DEFAULT_METRIC, **rest}
    meta |= {"reference": "; ".join(paradigm.references)}
    if paradigm.phenomenon != paradigm.id:
        meta["phenomenon"] = paradigm.phenomenon
    if items and items[0].language != LANGUAGE:
        meta["language"] = items[0].language
    sentences = [sentence for item in items for sentence in item.sentences.values()]
    names = _name_regions(sentences)
    return {
        "meta": meta,
        "region_meta": {str(n): name for n, name in enumerate(names, start=1)},
        "predictions": [{"type": "formula", "formula": formula} for formula in paradigm.predictions],
        "items": [_build_item(item, len(names)) for item in items],
    }


def _name_regions(sentences: Sequence[Sentence]) -> list[str]:
    """Return the names of the regions that every sentence is cut into, or of one region that is the whole sentence."""
    cuts = {tuple(name for name, _ in split_regions(sentence)) for sentence in sentences}
    if len(cuts) != 1:
        return ["sentence"]
    return [name.removeprefix(f"{n}").strip() for n, name in enumerate(cuts.pop(), start=1)]


def _build_item(item: Item, width: int) -> dict[str, Any]:
    n = get_item_number(item, NUMBER_FIELD)
    extra = {key: parse_json_value(text) for key, text in item.extra.items() if key not in (NUMBER_FIELD, "meta", "conditions")}
    conditions = []
    for condition, sentence in item.sentences.items():
        contents = [text for _, text in split_regions(sentence)]
        if len(contents) != width:
            contents = [sentence.text]
        numbered = [{"region_number": k, "content": content} for k, content in enumerate(contents, start=1)]
        conditions.append({"condition_name": condition, "regions": numbered})
    id_field = {} if item.id == f"{item.paradigm}-{n}" else {"item_id": item.id}
    return {NUMBER_FIELD: parse_json_value(n), **id_field, **extra, "conditions": conditions}


def split_regions(sentence: Sentence) -> list[tuple[str, str]]:
    """Return name and text of each region, and of what stands between regions, in order; nested ones are left out.

    >>> split_regions(Sentence("No cat has ever slept.", (Region("critical", 11, 15),)))
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


def list_losses(materials: Materials) -> list[str]:
    """Return what SyntaxGym suites cannot hold of these materials."""
    return find_round_trip_losses(materials, write, read)
