"""One more response, an entry in study/responses.py, as a reader of CONTRIBUTING.md writes it; run as a program, with it in its place.

The folder named has the tables of a study whose ratings count as answers to another task, whose response it is.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

ENTRY = """
        Response(
            name="ease",
            noun="judgments of ease",
            label="ease (z)",
            means_label="ease (z)",
            unit="standard deviations",
            table=RATINGS_TABLE,
            task="easing",
            raw="felt_ease",
            raw_label="felt ease",
            raw_unit="points of ease",
            is_standardised=True,
            sesoi_example=0.2,
        ),
"""


def register() -> None:
    """Put the entry at the end of the registry, before anything has read it."""
    name = "gardenpath.study.responses"
    spec = find_spec("gardenpath")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    path = Path(spec.submodule_search_locations[0], "study", "responses.py")
    before, end, after = path.read_text("utf-8").partition("    )\n}\n")
    made = ModuleType(name)
    sys.modules[name] = made
    exec(compile(before + ENTRY + end + after, path, "exec"), made.__dict__)


def main(folder: Path) -> None:
    """Analyse and report; say which models there are, and what the report calls the response."""
    from gardenpath import analysis, study

    names = ("readings", "responses", "sessions", "items", "conditions")
    tables = {name: study.read(folder, name) for name in names}
    tables["responses"] = tables["responses"].replace({"task": {"rating": "easing"}})
    results = analysis.analyse(tables, study.AnalysisSection(sesoi={"ease": 0.2}))
    html = analysis.report({**tables, **results}, title="Ease")
    said = [text for text in ("Judgments of ease", "Mean felt ease by phenomenon", "points of ease") if text in html]
    measures = sorted({*results["condition_means"]["measure"]})
    sys.stdout.write(json.dumps([results["planned_models"]["formula"].to_list(), measures, said]))


if __name__ == "__main__":
    register()
    main(Path(sys.argv[1]))
