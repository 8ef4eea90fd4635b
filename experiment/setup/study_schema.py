"""study.toml as JSON Schema (experiment/setup/study.schema.json), for editors that complete and check keys; made from the types."""

import json
from typing import Any

from gardenpath.study import Study

from ..tasks import TASKS

Json = dict[str, Any]


def build_study_schema() -> Json:
    """Return the JSON schema of study.toml, with the settings of every task.

    What one key alone cannot say (numbers in range, names that have to agree) is left to `gardenpath check` and `design`.

    >>> made = build_study_schema()
    >>> made["required"], made["$defs"]["DesignSection"]["properties"]["experiments"]["default"]
    (['name', 'language', 'seed', 'materials', 'design'], 1)
    >>> sorted(made["$defs"]["rating"]["properties"])[:3]
    ['deadline', 'high', 'kind']
    """
    from pydantic import TypeAdapter

    result = TypeAdapter(Study).json_schema()
    del result["properties"]["path"]
    tables: list[Json] = []
    for task in TASKS:
        one = TypeAdapter(task.Settings).json_schema(ref_template="#/$defs/{model}")
        result["$defs"] |= one.pop("$defs", {})
        if "kind" in one["properties"]:
            name = task.__name__.rpartition(".")[2]
            one.pop("additionalProperties", None)  # which is said once the settings were read for the first time
            result["$defs"][name] = {**one, "title": name, "additionalProperties": False}
            tables.append({"$ref": f"#/$defs/{name}"})
    tasks = result["$defs"]["ProcedureSection"]["properties"]["tasks"]
    tasks["additionalProperties"] = {"anyOf": tables}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://gardenpath.example/study.schema.json",
        **result,
        "title": "study.toml",
    }


def format_study_schema() -> str:
    """Return the schema as it is committed."""
    return json.dumps(build_study_schema(), ensure_ascii=False, indent=2) + "\n"
