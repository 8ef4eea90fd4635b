"""A preregistration drafted from study.toml: what is fixed, as a page and as statements, and what has departed from them since."""

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli import Materials, conditions_table, items_table, read_study
from gardenpath.study.config import ProcedureSection

from .script import sections_read
from .standard_texts import texts_of
from .versions import VersionFile, version_files

if TYPE_CHECKING:
    import pandas as pd

Json = dict[str, Any]
SECTIONS = ("design", "ordering", "procedure", "analysis")
# What may change without being another study: how figures look, how many places are left for whom.
FREE = re.compile(r"analysis\.figures\..*|procedure\.screener\..*\.quotas\..*")
KINDS = {  # of a deviation, by how its key begins; the first that fits
    "analysis.exclude": "exclusion",
    "analysis.min_rt": "exclusion",
    "analysis.max_rt": "exclusion",
    "analysis.remove_outliers": "exclusion",
    "analysis.smallest": "smallest effect",
    "analysis": "model",
    "sessions.excluded": "exclusion",
    "sessions": "procedure",
    "items": "items",
    "conditions": "items",
    "paradigms": "items",
    "sample": "sample",
    "online": "sample",
    "title": "procedure",
    "texts": "procedure",
}
TABLES_READ = ("sessions", "items", "exclusions", "factorial_models")  # in which deviations show
BAND = ("min_rt", "max_rt", "remove_outliers")
BLOCK = re.compile(r"^SHA-256 of the statements: `([0-9a-f]{64})`\n+```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def statements(plan: study.Study, participants: int | None = None) -> Json:
    """Return what a preregistration fixes of a study: its settings, all of them, its sample, and each item by a hash of its texts.

    `participants` is how many are to take part, where study.toml states no places.

    >>> made = statements(study.load(files("gardenpath.examples") / "minimal-pairs"), participants=54)
    >>> made["sample"], made["analysis"]["exclude"]["accuracy"], len(made["items"])
    ({'participants': 54, 'sessions': None}, 0.8, 12)
    """
    materials, versions = read_study(plan), version_files(plan)
    settings = {name: dataclasses.asdict(getattr(plan, name)) for name in SECTIONS}
    places = _places(plan, versions)
    each = plan.online.sessions if plan.online else 1  # of a person at most
    barred = plan.online.barred if plan.online else []
    if participants is not None and each == 1 and places not in (None, participants):
        raise ValueError(f"{participants} participants, and study.toml has places for {places}; expected one number")
    return {
        "language": plan.language,
        "seed": plan.seed,
        "sample": {"participants": participants or (places if each == 1 else None), "sessions": places},
        "online": {"sessions": each, "barred": barred},
        "title": plan.title or plan.name,
        **settings,
        "texts": texts_of(plan).own,
        "conditions": _conditions(conditions_table(materials)),
        "paradigms": {
            one.id: {"phenomenon": one.phenomenon, "factors": {name: list(by) for name, by in one.factors.items()}}
            for one in materials.paradigms
        },
        "items": _items(items_table(materials), materials),
        "order": None if plan.ordering.order == "random" else _hash("\n".join(item.id for item in materials.items)),
        "dealt": sorted({trial.item.id for file in versions for trial in file.version.trials}),
    }


def _places(plan: study.Study, versions: Sequence[VersionFile]) -> int | None:
    """Return how many sessions have a place: by the quota of each version, or one for each small list."""
    quota = plan.online.quota if plan.online else None
    lists = sum(len(file.version.lists) for file in versions)
    return lists or (quota and quota * len(versions))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _items(table: "pd.DataFrame", materials: Materials | None = None) -> dict[str, dict[str, dict[str, str]]]:
    """Return the hash of each sentence with its regions, by paradigm, item and condition; of materials that of the rest too."""
    made: dict[str, dict[str, dict[str, str]]] = {}
    for row in table.to_dict("records"):
        text = f"{row['sentence']}\n{row['regions']}"
        made.setdefault(row["paradigm"], {}).setdefault(row["item"], {})[row["condition"]] = _hash(text)
    for item in materials.items if materials else ():
        rest: list[Any] = [item.context, item.question and dataclasses.asdict(item.question), dict(item.extra)]
        if cut := {name: one.segmentation for name, one in item.sentences.items() if one.segmentation}:
            rest.append(cut)
        if any(rest):
            made[item.paradigm][item.id]["beside the sentences"] = _hash(json.dumps(rest, ensure_ascii=False))
    return made


def _conditions(table: "pd.DataFrame") -> dict[str, dict[str, dict[str, str]]]:
    made: dict[str, dict[str, dict[str, str]]] = {}
    for row in table.to_dict("records"):
        made.setdefault(row["paradigm"], {}).setdefault(row["condition"], {})[row["factor"]] = row["level"]
    return made


def flat(value: object, key: str = "") -> dict[str, str]:
    """Return statements by their keys, as study.toml's are written, each as JSON; what has a name is known by it.

    >>> flat({"models": [{"name": "ease", "formula": "z ~ a"}], "flags": ["x"]})
    {'models.ease.formula': '"z ~ a"', 'flags': '["x"]'}
    """
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping | list | tuple) and not value:
        return {}
    if isinstance(value, Mapping):
        parts: Iterable[tuple[str, Any]] = (
            (f"{key}.{name}" if key else str(name), part) for name, part in value.items()
        )
    elif isinstance(value, list | tuple) and all(isinstance(part, Mapping) for part in value):
        named = [{k: v for k, v in part.items() if k != "name" or "name" not in part} for part in value]
        names = [str(part.get("name", number)) for number, part in enumerate(value, 1)]
        parts = ((f"{key}.{name}", part) for name, part in zip(names, named, strict=True))
    else:
        return {key: json.dumps(value, ensure_ascii=False)}
    return {name: text for place, part in parts for name, text in flat(part, place).items()}


# ------------------------------------------------------------------------------------------------ the page


def page(plan: study.Study, stated: Json, *, models: Sequence[str] = (), after: str = "") -> str:
    """Return the preregistration as Markdown: what is fixed in words and tables, what is open, and the statements with their hash.

    `models` are lines on the models that are fitted where study.toml declares none; `after` says what data there were.
    """
    block = json.dumps(stated, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    digest = hashlib.sha256(block.encode()).hexdigest()
    declared = [
        f"- *{model.name}* ({model.region}): `{model.formula}`{_coded(model)}" for model in plan.analysis.models
    ]
    counts = [
        f"| {paradigm} | {len(items)} | {', '.join(stated['conditions'][paradigm])} |"
        for paradigm, items in stated["items"].items()
    ]
    sections = {
        f"Preregistration: {plan.title or plan.name}": [
            after or "Drafted from study.toml before any data were collected.",
            "",
            "Places marked *Open* are for the authors to fill in before this page is deposited.",
        ],
        "Hypotheses": [
            "*Open*: each hypothesis, with its direction and the coefficient of the models below that tests it"
        ],
        "Design": [*_design(plan, stated), "", *_stated(plan, "design"), "", *_stated(plan, "ordering")],
        "Participants": _sample(plan, stated),
        "Items": ["| paradigm | items | conditions |", "|---|---|---|", *counts],
        "Exclusions": [
            "Rules apply in the order of the documentation of study.toml; nobody is left out for the means of conditions.",
            "",
            *_table(plan, "analysis.exclude"),
            *_table(plan, "analysis", only=BAND)[2:],
        ],
        "Models": [
            *(declared or models or ["*Open*: none is declared."]),
            "",
            *_table(plan, "analysis", leave=("exclude", "figures", "smallest", "models", *BAND)),
        ],
        "Smallest effects of interest": _table(plan, "analysis.smallest")
        if plan.analysis.smallest
        else ["*Open*: none is stated, so no equivalence is tested."],
        "Fixed, and open": [
            "Fixed is every statement below; `gardenpath deviations` lists each that the study departs from.",
            "",
            *(f"- open: {one}" for one in _open(plan, stated)),
        ],
        "Statements": [f"SHA-256 of the statements: `{digest}`", "", "```json", block + "```"],
    }
    texts = ("\n".join([f"## {name}", "", *lines]) for name, lines in sections.items())
    return "\n\n".join(texts).removeprefix("#") + "\n"


def _coded(model: study.ModelSection) -> str:
    against = {factor: f" against {level}" for factor, level in model.reference.items()}
    said = [f"{factor} {coding}{against.get(factor, '')}" for factor, coding in model.contrasts.items()]
    return f"; contrasts: {', '.join(said) or 'repeated'}"


def _design(plan: study.Study, stated: Json) -> list[str]:
    tested = {
        name: by for name, by in stated["conditions"].items() if name not in (*plan.design.fillers, *plan.design.catch)
    }
    factors: dict[str, dict[str, None]] = {}
    for levels in (levels for by in tested.values() for levels in by.values()):
        for factor, level in levels.items():
            factors.setdefault(factor, {})[level] = None
    said = [f"{factor} ({', '.join(levels)})" for factor, levels in factors.items()]
    target = plan.procedure.role("target")
    lists = plan.design.lists
    dealt = (
        f"lists of {lists.items} items, {lists.readers} readers an item"
        if lists
        else f"{plan.design.versions} versions"
    )
    number = f"{len(tested)} paradigm{'s' * (len(tested) != 1)}"
    return [
        f"{number}, with the factors {'; '.join(said)}.",
        "",
        f"Experiments: {plan.design.experiments}, each of {dealt}. "
        f"{len(stated['dealt'])} items are shown, practice among them.",
        "",
        f"Sentences are shown as `{target.show or 'centred'}`; asked after each: {', '.join(target.ask or []) or 'nothing'}.",
    ]


def _sample(plan: study.Study, stated: Json) -> list[str]:
    numbers = [f"{number} {what}" for what, number in stated["sample"].items() if number]
    known = f"{' in '.join(numbers)}, complete ones counted."
    screened = (
        f"- takes part who answers *{one.question}* with {' or '.join(one.accepts)}" for one in plan.procedure.screener
    )
    return [known if numbers else "*Open*: how many take part, and when collection stops.", "", *screened]


def _open(plan: study.Study, stated: Json) -> Iterator[str]:
    yield "the hypotheses"
    if not any(stated["sample"].values()):
        yield "the number of participants (online.quota, or --participants)"
    if not plan.analysis.models:
        yield "models of the authors' own (analysis.models): the standard ones are fitted"
    if not plan.analysis.smallest:
        yield "smallest effects of interest (analysis.smallest)"
    yield "analyses that are named nowhere here, which are exploratory"


@functools.cache
def _meanings() -> dict[str, str]:
    """Return what docs say of each key of study.toml, from its JSON schema."""
    schema = json.loads((files("gardenpath.experiment") / "study.schema.json").read_text("utf-8"))
    found: dict[str, str] = {}

    def walk(node: Json, key: str) -> None:
        for name, one in node.get("properties", {}).items():
            place = f"{key}.{name}" if key else name
            found[place] = one.get("description", "")
            for part in (one, *one.get("anyOf", ())):
                if "$ref" in part and key.count(".") < 3:
                    walk(schema["$defs"][part["$ref"].rpartition("/")[2]], place)

    walk(schema, "")
    return found


def _meaning(section: str, name: str) -> str:
    known = _meanings()
    return (known.get(f"{section}.{name}") or known.get(section, "")).partition("; left out:")[0]


def _table(plan: study.Study, section: str, *, only: Iterable[str] = (), leave: Iterable[str] = ()) -> list[str]:
    """Return the keys of a section as rows of a table: what each is, and what it means."""
    value: Any = plan
    for name in section.split("."):
        value = getattr(value, name)
    keys = value if isinstance(value, Mapping) else vars(value)
    rows = [
        f"| `{section}.{name}` | {_shown(part)} | {_meaning(section, name)} |"
        for name, part in keys.items()
        if name not in leave and (not only or name in only)
    ]
    return ["| key | is | means |", "|---|---|---|", *(row.replace("\n", " ") for row in rows)]


def _shown(value: object) -> str:
    """Return a setting as JSON, which a cell can hold."""
    empty = value is None or value in ({}, [], ())
    return "none" if empty else json.dumps(value, ensure_ascii=False, default=dataclasses.asdict).replace("|", "\\|")


def _stated(plan: study.Study, section: str) -> list[str]:
    """Return the same of the keys that are not left as they are by default."""
    value = getattr(plan, section)
    by_default = vars(study.DesignSection(versions=1) if section == "design" else study.OrderingSection())
    differ = [name for name, one in vars(value).items() if one != by_default[name] or name == "versions"]
    return _table(plan, section, only=differ) if differ else []


def read(text: str, where: str) -> Json:
    """Return the statements of a page; raises `DataError` where there are none, or not those that its hash is of."""
    found = BLOCK.search(text.replace("\r\n", "\n"))
    if not found:
        raise study.DataError(f"{where}: no statements with their SHA-256; expected a page of  gardenpath preregister")
    digest, block = found.groups()
    if hashlib.sha256(block.encode()).hexdigest() != digest:
        raise study.DataError(
            f"{where}: the statements do not have the SHA-256 beside them, so they were changed after the page was written; "
            "expected the page as it was deposited"
        )
    stated: Json = json.loads(block)
    return stated


# ------------------------------------------------------------------------------------------------ deviations


def deviations(
    registered: Json,
    plan: study.Study,
    tables: "Mapping[str, pd.DataFrame] | None" = None,
    settings: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Return the table `deviations`: each statement of a preregistration that study.toml, the materials, the data or the analysis
    departs from, with what was registered, what there is, and the reason that `archive.deviations` gives.

    `tables` are those of the study as far as there are any; `settings` are those that the results were made with.
    """
    import pandas as pd

    tables, now = tables or {}, statements(plan)
    made_with = {name: value for name, value in (settings or {}).items() if name in registered["analysis"]}
    analysis = {name: registered["analysis"][name] for name in made_with}
    rows = [
        *_settings_changed(_as_read(registered, plan), _as_read(now, plan), "study.toml"),
        *_settings_changed({"analysis": analysis}, {"analysis": made_with}, "results"),
        *_places_changed(registered, now),
        *_items_changed(registered, now["items"], "materials"),
        *_order_changed(registered, now),
        *_in_data(registered, tables),
        *_not_fitted(registered, tables),
    ]
    reasons = plan.archive.deviations
    table = pd.DataFrame(rows, columns=["key", "place", "registered", "found"])
    table = table.assign(kind=table["key"].map(_kind), reason=table["key"].map(dict(reasons)))
    return study.check(table[study.TABLES["deviations"].names], "deviations")


def _kind(key: str) -> str:
    begins = (kind for start, kind in KINDS.items() if f"{key}.".startswith(f"{start}."))
    return next(begins, key.partition(".")[0])


Deviation = tuple[str, str, str | None, str | None]


def _as_read(stated: Json, plan: study.Study) -> Json:
    """Return statements without the texts that nobody reads: sections that the study does not use may stand in the file or not."""
    read = sections_read(plan)
    return stated | {"texts": {name: said for name, said in stated.get("texts", {}).items() if name in read}}


def _settings_changed(registered: Json, now: Json, place: str) -> Iterator[Deviation]:
    """Yield settings that differ. A setting that gardenpath did not have yet counts as its default, and a section of statements
    that it did not make yet as no statement.
    """
    apart = ("items", "order", "dealt", "sample", *(name for name in now if name not in registered))
    before, after = (flat({k: v for k, v in one.items() if k not in apart}) for one in (registered, now))
    own = {"analysis": study.AnalysisSection(), "ordering": study.OrderingSection(), "procedure": ProcedureSection()}
    defaults = {key: text for name, section in own.items() for key, text in flat(vars(section), name).items()}
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old != new and not FREE.fullmatch(key) and not (old is None and new == defaults.get(key)):
            yield key, "materials" if key.startswith(("conditions.", "paradigms.")) else place, old, new


def _places_changed(registered: Json, now: Json) -> Iterator[Deviation]:
    for name, old in registered["sample"].items():
        # Participants may have been stated with the command alone; places come from study.toml.
        if now["sample"][name] not in (old, *((None,) if name == "participants" else ())):
            yield f"sample.{name}", "study.toml", json.dumps(old), json.dumps(now["sample"][name])


def _items_changed(registered: Json, now: Mapping[str, Any], place: str) -> Iterator[Deviation]:
    """Yield items that came, went, or read otherwise."""
    before, after = (
        {(p, i): texts for p, items in one.items() for i, texts in items.items()} for one in (registered["items"], now)
    )
    for paradigm, item in dict.fromkeys([*before, *after]):
        old, new = before.get((paradigm, item)), after.get((paradigm, item))
        key = f"items.{paradigm}.{item}"
        if old is None or new is None:
            yield key, place, "an item" if old else None, "an item" if new else None
        elif changed := [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]:
            yield key, place, "as registered", f"other texts: {', '.join(changed)}"


def _order_changed(registered: Json, now: Json) -> Iterator[Deviation]:
    """Yield that items stand in another order in their files, where that is the order in which they are shown."""
    old, new = registered.get("order"), now["order"]
    if old and new and old != new:
        yield "items.order", "materials", "as registered", "another order in the files"


def _in_data(registered: Json, tables: "Mapping[str, pd.DataFrame]") -> Iterator[Deviation]:
    """Yield what the data themselves show: who and what was not to be there, and what is lacking."""
    if (sessions := tables.get("sessions")) is not None:
        people = sessions[~sessions["source"].isin(["preview", "model"]) & sessions["complete"].astype(bool)]
        by_hand = people.dropna(subset="excluded")
        for name, column in (("participants", "participant"), ("sessions", "session")):
            number, planned = people[column].nunique(), registered["sample"].get(name)
            if planned not in (None, number):
                yield f"sample.{name}", "tables", str(planned), str(number)
        if len(by_hand):
            reasons = by_hand["excluded"].value_counts(sort=False)
            why = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
            yield "sessions.excluded", "tables", "none by hand", why
        revisions = sorted({*people["revision"].dropna().astype(int)})
        if len(revisions) > 1:
            changed = f"changed while it ran: revisions {', '.join(map(str, revisions))}"
            yield "sessions.revision", "tables", "one study for all", changed
    if (items := tables.get("items")) is not None:
        shown = _items(items[items["paradigm"].isin(registered["items"])])
        expected: dict[str, dict[str, dict[str, str]]] = {}
        for paradigm, of_paradigm in registered["items"].items():
            for item in sorted({*of_paradigm} & {*registered["dealt"]}):
                texts, seen = of_paradigm[item], shown.get(paradigm, {}).get(item, {})
                expected.setdefault(paradigm, {})[item] = {name: texts[name] for name in texts if name in seen} or texts
        yield from _items_changed({"items": expected}, shown, "tables")


def _not_fitted(registered: Json, tables: "Mapping[str, pd.DataFrame]") -> Iterator[Deviation]:
    """Yield registered models of which the results have no estimate."""
    models = tables.get("factorial_models")
    if models is None:
        return
    for model in registered["analysis"]["models"]:
        rows = models[models["model"] == model["name"]]
        if rows["estimate"].isna().all():
            note = "; ".join(dict.fromkeys(rows["note"].dropna())) or "not among the results"
            yield f"analysis.models.{model['name']}", "results", model["formula"], note
