"""Scripts and events as JSON Schema (experiment/screens.schema.json), generated from the types; from it come the page's types."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from gardenpath.study.screens import Script

from .script import SAID, SAID_IN_THE_LAB

Json = dict[str, Any]


def schema() -> Json:
    """Return the JSON schema of a script and, for each kind, of an event: every field is required, and no other is allowed."""
    from pydantic import TypeAdapter

    from .sessions import event_types

    adapters: list[tuple[str, Any, TypeAdapter[Any]]] = [("Script", "validation", TypeAdapter(Script))]
    adapters += [(kind, "validation", TypeAdapter(made)) for kind, made in event_types().items()]
    _, made = TypeAdapter.json_schemas(adapters)
    closed = _closed(made["$defs"])
    closed["Script"]["properties"] |= {"texts": _texts(SAID), "lab": _texts(SAID_IN_THE_LAB)}
    shared = {
        "Screen": closed["Step"]["properties"]["screens"]["items"],
        "Above": closed["Answers"]["properties"]["above"],
        "Outcome": closed["Exit"]["properties"]["outcome"],
    }
    closed = _referring(closed, shared) | shared
    kinds = {kind: value.__name__ for kind, value in event_types().items()}
    closed["Event"] = {
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
        "properties": {
            "script": {"$ref": "#/$defs/Script"},
            "events": {"type": "array", "items": {"$ref": "#/$defs/Event"}},
        },
        "required": ["script", "events"],
        "additionalProperties": False,
        "$defs": dict(sorted(closed.items())),
    }


def _closed(node: Any) -> Any:
    """Return a schema in which all fields of objects are required and no others are there; titles and defaults say nothing new."""
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {
        key: _closed(one)
        for key, one in node.items()
        if key not in ("default", "discriminator") and not _is_title(key, one)
    }
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        made["properties"] = {name: _closed(one) for name, one in node["properties"].items()}
        made |= {"required": list(node["properties"]), "additionalProperties": False}
    return made


def _texts(names: Sequence[str]) -> Json:
    """Return the schema of texts by these names."""
    names = list(names)
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }


def _referring(node: Any, shared: Mapping[str, Json]) -> Any:
    """Return a schema in which what stands in several places is referred to by its name."""
    name = next((name for name, one in shared.items() if one == node), None)
    if name is not None:
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(node, list):
        return [_referring(one, shared) for one in node]
    return {key: _referring(one, shared) for key, one in node.items()} if isinstance(node, dict) else node


def _is_title(key: str, value: object) -> bool:
    return key == "title" and isinstance(value, str)


def text() -> str:
    """Return the schema as it is committed."""
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


@cache
def committed() -> Mapping[str, Any]:
    """Return the schema as it is shipped."""
    made: Mapping[str, Any] = json.loads((files("gardenpath.experiment") / "screens.schema.json").read_text("utf-8"))
    return made
