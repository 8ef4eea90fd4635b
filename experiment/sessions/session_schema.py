"""Scripts and events as JSON Schema (experiment/sessions/screens.schema.json), generated from the types."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from gardenpath.study.events import EVENT_TYPES
from gardenpath.study.screens import Script

from ..scripts.script import LAB_TEXTS, PAGE_TEXTS

Json = dict[str, Any]


def build_session_schema() -> Json:
    """Return the JSON schema of a script and, for each kind, of an event: every field is required, and no other is allowed."""
    from pydantic import TypeAdapter

    adapters: list[tuple[str, Any, TypeAdapter[Any]]] = [("Script", "validation", TypeAdapter(Script))]
    adapters += [(kind, "validation", TypeAdapter(generated)) for kind, generated in EVENT_TYPES.items()]
    _, generated = TypeAdapter.json_schemas(adapters)
    definitions = _close_objects(generated["$defs"])
    definitions["Script"]["properties"] |= {"texts": _build_texts_schema(PAGE_TEXTS), "lab": _build_texts_schema(LAB_TEXTS)}
    shared = {
        "Screen": definitions["Step"]["properties"]["screens"]["items"],
        "Above": definitions["Answers"]["properties"]["above"],
        "Outcome": definitions["Exit"]["properties"]["outcome"],
    }
    definitions = _insert_references(definitions, shared) | shared
    kinds = {kind: value.__name__ for kind, value in EVENT_TYPES.items()}
    definitions["Event"] = {
        "description": "One thing that happened in a session: numbered by seq over the whole session; t is ms on the clock of one "
        "visit (one loading of the page, one start of the lab program).",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds.values()],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://gardenpath.example/screens.schema.json",
        "title": "Session",
        "description": "What a session shows (script) and what it leaves behind (events).",
        "type": "object",
        "properties": {"script": {"$ref": "#/$defs/Script"}, "events": {"type": "array", "items": {"$ref": "#/$defs/Event"}}},
        "required": ["script", "events"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _close_objects(node: Any) -> Any:
    """Return a schema in which all fields of objects are required and no others are there; titles and defaults say nothing new."""
    if isinstance(node, list):
        return [_close_objects(one) for one in node]
    if not isinstance(node, dict):
        return node
    result = {
        key: _close_objects(one) for key, one in node.items() if key not in ("default", "discriminator") and not _is_title(key, one)
    }
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        result["properties"] = {name: _close_objects(one) for name, one in node["properties"].items()}
        result |= {"required": list(node["properties"]), "additionalProperties": False}
    return result


def _build_texts_schema(names: Sequence[str]) -> Json:
    """Return the schema of texts by these names."""
    names = list(names)
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }


def _insert_references(node: Any, shared: Mapping[str, Json]) -> Any:
    """Return a schema in which what stands in several places is referred to by its name."""
    name = next((name for name, one in shared.items() if one == node), None)
    if name is not None:
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(node, list):
        return [_insert_references(one, shared) for one in node]
    return {key: _insert_references(one, shared) for key, one in node.items()} if isinstance(node, dict) else node


def _is_title(key: str, value: object) -> bool:
    return key == "title" and isinstance(value, str)


def format_session_schema() -> str:
    """Return the schema as it is committed."""
    return json.dumps(build_session_schema(), ensure_ascii=False, indent=2) + "\n"


@cache
def read_session_schema() -> Mapping[str, Any]:
    """Return the schema as it is shipped."""
    shipped: Mapping[str, Any] = json.loads((files("gardenpath.experiment.sessions") / "screens.schema.json").read_text("utf-8"))
    return shipped
