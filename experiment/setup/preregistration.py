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
from gardenpath.stimuli import Materials, build_conditions_table, build_items_table, read_study
from gardenpath.study.config import ProcedureSection
from gardenpath.study.plans import Plan, PlannedModel
from gardenpath.study.renamed_names import describe_renamed_keys

from ..scripts.list_files import ListFile, build_list_files
from ..scripts.script import list_text_sections
from ..texts.standard_texts import load_texts
from .data_search import DataSearch

if TYPE_CHECKING:
    import pandas as pd

Json = dict[str, Any]
REGISTERED_SECTIONS = ("design", "ordering", "procedure", "analysis")
# What may change without being another study: how figures look, how many places are left for whom.
FREE_KEY_PATTERN = re.compile(r"analysis\.figures\..*|procedure\.screener\..*\.quotas\..*")
DEVIATION_KINDS = {  # of a deviation, by how its key begins; the first that fits
    "analysis.exclude": "exclusion",
    "analysis.min_rt": "exclusion",
    "analysis.max_rt": "exclusion",
    "analysis.remove_outliers": "exclusion",
    "analysis.sesoi": "smallest effect",
    "analysis.multiverse": "multiverse",
    "analysis": "model",
    "plan.hypotheses": "hypothesis",
    "plan.multiverse": "multiverse",
    "plan": "model",
    "sessions.exclusion_reason": "exclusion",
    "sessions": "procedure",
    "items": "items",
    "conditions": "items",
    "paradigms": "items",
    "sample": "sample",
    "online": "sample",
    "title": "procedure",
    "texts": "procedure",
}
DEVIATION_TABLES = ("sessions", "items", "exclusions", "planned_models", "models")  # in which deviations show
RT_TRIMMING_KEYS = ("min_rt", "max_rt", "remove_outliers")
# What is fixed of a planned model, as the table planned_models has it.
PLANNED_COLUMNS = ("formula", "first_fit", "policy", "family", "paradigms", "tested", "correction")
SEPARATE_KEYS = ("exclude", "figures", "sesoi", "models", "multiverse")  # keys of analysis with a place of their own, or none
CHOICES = ("exclusions", "transformations", "random_effects", "covariates", "regions", "terms")  # of a planned multiverse
STATEMENTS_PATTERN = re.compile(r"^SHA-256 of the statements: `([0-9a-f]{64})`\n+```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def build_statements(config: study.Study, participants: int | None = None, plan: Plan | None = None) -> Json:
    """Return what a preregistration fixes of a study: its settings, all of them, its sample, each item by a hash of its texts, and
    the plan of its models.

    `participants` is how many are to take part, where study.toml states no places.

    >>> made = build_statements(study.load(files("gardenpath.examples") / "minimal-pairs"), participants=54)
    >>> made["sample"], made["analysis"]["exclude"]["min_accuracy"], len(made["items"])
    ({'participants': 54, 'sessions': None}, 0.8, 12)
    """
    materials, list_files = read_study(config), build_list_files(config)
    settings = {name: dataclasses.asdict(getattr(config, name)) for name in REGISTERED_SECTIONS}
    session_count = _count_sessions(config, list_files)
    max_sessions = config.online.max_sessions if config.online else 1  # of a person at most
    excluded_participants = config.online.excluded_participants if config.online else []
    if participants is not None and max_sessions == 1 and session_count not in (None, participants):
        raise ValueError(f"{participants} participants, and study.toml has places for {session_count}; expected one number")
    return {
        "language": config.language,
        "seed": config.seed,
        "sample": {"participants": participants or (session_count if max_sessions == 1 else None), "sessions": session_count},
        "online": {"max_sessions": max_sessions, "excluded_participants": excluded_participants},
        "title": config.title or config.name,
        **settings,
        "texts": load_texts(config).own_texts,
        "conditions": _list_condition_levels(build_conditions_table(materials)),
        "paradigms": {
            one.id: {"phenomenon": one.phenomenon, "factors": {name: list(by) for name, by in one.factors.items()}}
            for one in materials.paradigms
        },
        "items": _hash_items(build_items_table(materials), materials),
        "order": None if config.ordering.order == "random" else _compute_hash("\n".join(item.id for item in materials.items)),
        "assigned_items": sorted({trial.item.id for file in list_files for trial in file.trial_list.trials}),
        **({"plan": _describe_plan(plan)} if plan else {}),
    }


def _describe_plan(plan: Plan) -> Json:
    """Return what is fixed of a plan: its hash, its models, its hypotheses by name, and the choices of its multiverse."""
    hypotheses = {one.name: dataclasses.asdict(one) for one in plan.hypotheses}
    described = {"sha256": plan.sha256, "models": _describe_planned_models(plan), "multiverse": _describe_multiverse(plan)}
    return described | ({"hypotheses": hypotheses} if hypotheses else {})


def _describe_multiverse(plan: Plan) -> dict[str, dict[str, str]]:
    """Return the choices under which each model is fitted again, by its id, and the rules of exclusion, by their names."""
    models = {one.model_id: {name: _join_choices(getattr(one, name)) for name in CHOICES} for one in plan.multiverse}
    rules = {one.name: {"settings": json.dumps(one.settings, ensure_ascii=False)} for one in plan.exclusion_rules if one.settings}
    return models | {f"exclusions {name}": settings for name, settings in rules.items()}


def _join_choices(choices: Sequence[str | Sequence[str]]) -> str:
    return "; ".join(one if isinstance(one, str) else " and ".join(one) or "none" for one in choices)


def _describe_planned_models(plan: Plan) -> dict[str, dict[str, str]]:
    """Return what is fixed of each planned model, by its id: its formula, the one fitted first, how that is reduced, of which
    trials it is, what it compares, and how p is adjusted.
    """
    return {one.model_id: _describe_planned_model(one) for one in plan.models}


def _describe_planned_model(model: PlannedModel) -> dict[str, str]:
    joined = {
        "paradigms": ", ".join(model.paradigms),
        "tested": "; ".join(effect.contrast for effect in model.effects if effect.is_tested),
    }
    return {name: str(joined[name] if name in joined else getattr(model, name)) for name in PLANNED_COLUMNS}


def _count_sessions(config: study.Study, list_files: Sequence[ListFile]) -> int | None:
    """Return how many sessions have a place: by the quota of each list, or one for each short list."""
    quota = config.online.quota if config.online else None
    lists = sum(len(file.trial_list.short_lists) for file in list_files)
    return lists or (quota and quota * len(list_files))


def _compute_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _hash_items(table: "pd.DataFrame", materials: Materials | None = None) -> dict[str, dict[str, dict[str, str]]]:
    """Return the hash of each sentence with its regions, by paradigm, item and condition; of materials that of the rest too."""
    hashes: dict[str, dict[str, dict[str, str]]] = {}
    for row in table.to_dict("records"):
        text = f"{row['sentence']}\n{row['regions']}"
        hashes.setdefault(row["paradigm"], {}).setdefault(row["item"], {})[row["condition"]] = _compute_hash(text)
    for item in materials.items if materials else ():
        rest: list[Any] = [item.context, item.question and dataclasses.asdict(item.question), dict(item.extra)]
        if cut := {name: one.segmentation for name, one in item.sentences.items() if one.segmentation}:
            rest.append(cut)
        if any(rest):
            hashes[item.paradigm][item.id]["beside the sentences"] = _compute_hash(json.dumps(rest, ensure_ascii=False))
    return hashes


def _list_condition_levels(table: "pd.DataFrame") -> dict[str, dict[str, dict[str, str]]]:
    levels: dict[str, dict[str, dict[str, str]]] = {}
    for row in table.to_dict("records"):
        levels.setdefault(row["paradigm"], {}).setdefault(row["condition"], {})[row["factor"]] = row["level"]
    return levels


def flatten_statements(value: object, key: str = "") -> dict[str, str]:
    """Return statements by their keys, as study.toml's are written, each as JSON; what has a name is known by it.

    >>> flatten_statements({"models": [{"name": "ease", "formula": "z ~ a"}], "flags": ["x"]})
    {'models.ease.formula': '"z ~ a"', 'flags': '["x"]'}
    """
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping | list | tuple) and not value:
        return {}
    if isinstance(value, Mapping):
        parts: Iterable[tuple[str, Any]] = ((f"{key}.{name}" if key else str(name), part) for name, part in value.items())
    elif isinstance(value, list | tuple) and all(isinstance(part, Mapping) for part in value):
        named_parts = [{k: v for k, v in part.items() if k != "name" or "name" not in part} for part in value]
        names = [str(part.get("name", number)) for number, part in enumerate(value, 1)]
        parts = ((f"{key}.{name}", part) for name, part in zip(names, named_parts, strict=True))
    else:
        return {key: json.dumps(value, ensure_ascii=False)}
    return {name: text for part_key, part in parts for name, text in flatten_statements(part, part_key).items()}


# ------------------------------------------------------------------------------------------------ the page


def format_preregistration(
    config: study.Study,
    registered: Json,
    *,
    models: Sequence[str] = (),
    hypotheses: Sequence[str] = (),
    multiverse: Sequence[str] = (),
    searched: DataSearch | None = None,
    after_data: bool = False,
) -> str:
    """Return the preregistration as Markdown: what is fixed in words and tables, what is open, and the statements with their hash.

    `models` are lines on the models that are planned, `hypotheses` on the hypotheses, `multiverse` on the choices under which
    effects are estimated again; `searched` is what data lay beside study.toml, and `after_data` says that the authors know of some.
    """
    block = json.dumps(registered, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    digest = hashlib.sha256(block.encode()).hexdigest()
    counts = [
        f"| {paradigm} | {len(items)} | {', '.join(registered['conditions'][paradigm])} |"
        for paradigm, items in registered["items"].items()
    ]
    sections = {
        f"Preregistration: {config.title or config.name}": [
            *_describe_data(searched, after_data),
            "Places marked *Open* are for the authors to fill in before this page is deposited.",
        ],
        "Hypotheses": list(hypotheses)
        or ["*Open*: each hypothesis, with its direction and the coefficient of the models below that tests it ([[hypotheses]])"],
        "Design": [
            *_format_design(config, registered),
            "",
            *_format_changed_settings(config, "design"),
            "",
            *_format_changed_settings(config, "ordering"),
        ],
        "Participants": _format_sample(config, registered),
        "Items": ["| paradigm | items | conditions |", "|---|---|---|", *counts],
        "Exclusions": [
            "Rules apply in the order of the documentation of study.toml; nobody is left out for the means of conditions.",
            "",
            *_format_section_table(config, "analysis.exclude"),
            *_format_section_table(config, "analysis", only=RT_TRIMMING_KEYS)[2:],
        ],
        "Models": [
            *(models or ["*Open*: none is planned."]),
            "",
            *([f"SHA-256 of the plan: `{registered['plan']['sha256']}`", ""] if "plan" in registered else []),
            *_format_section_table(config, "analysis", omit=(*SEPARATE_KEYS, *RT_TRIMMING_KEYS)),
        ],
        "Multiverse": list(multiverse) or ["None: no effect is estimated under other choices."],
        "Smallest effects of interest": _format_section_table(config, "analysis.sesoi")
        if config.analysis.sesoi
        else ["Those of the hypotheses; of other effects none is stated, so no equivalence is tested."]
        if any(one.sesoi for one in config.hypotheses)
        else ["*Open*: none is stated, so no equivalence is tested."],
        "Fixed, and open": [
            "Fixed is every statement below; `gardenpath deviations` lists each that the study departs from.",
            "",
            *(f"- open: {one}" for one in _list_open_points(config, registered)),
        ],
        "Statements": [f"SHA-256 of the statements: `{digest}`", "", "```json", block + "```"],
    }
    texts = ("\n".join([f"## {name}", "", *lines]) for name, lines in sections.items())
    return "\n\n".join(texts).removeprefix("#") + "\n"


def _describe_data(searched: DataSearch | None, after_data: bool) -> list[str]:
    """Return whether the page was drafted before the data, and what that was told by."""
    if searched is None:
        return ["Drafted from study.toml. Nobody looked whether there were data.", ""]
    if searched.of_people:
        count = sum(one.n_of_people for one in searched.of_people if one.sources)
        untold = sum(not one.sources for one in searched.of_people)
        there = [f"{count} session{'s' * (count != 1)} of people"] if count else []
        there += [f"data in {untold} place{'s' * (untold != 1)} that do not say whose they are"] if untold else []
        stated = f"**Drafted after data were collected**: {' and '.join(there)} lay beside study.toml."
    elif after_data:
        stated = "**Drafted after data were collected**, as its authors say; none of people lay beside study.toml."
    else:
        stated = "Drafted from study.toml, beside which no data of people lay."
    return [stated, "", searched.describe(), ""]


def _format_design(config: study.Study, registered: Json) -> list[str]:
    tested = {
        name: by for name, by in registered["conditions"].items() if name not in (*config.design.fillers, *config.design.catch)
    }
    factors: dict[str, dict[str, None]] = {}
    for levels in (levels for by in tested.values() for levels in by.values()):
        for factor, level in levels.items():
            factors.setdefault(factor, {})[level] = None
    factor_texts = [f"{factor} ({', '.join(levels)})" for factor, levels in factors.items()]
    target = config.procedure.resolve_role("target")
    short_lists = config.design.short_lists
    list_text = (
        f"lists of {short_lists.items_per_list} items, {short_lists.ratings_per_item} participants an item"
        if short_lists
        else f"{config.design.lists} lists"
    )
    number = f"{len(tested)} paradigm{'s' * (len(tested) != 1)}"
    return [
        f"{number}, with the factors {'; '.join(factor_texts)}.",
        "",
        f"Experiments: {config.design.experiments}, each of {list_text}. "
        f"{len(registered['assigned_items'])} items are shown, practice among them.",
        "",
        f"Sentences are shown as `{target.show or 'centred'}`; asked after each: {', '.join(target.ask or []) or 'nothing'}.",
    ]


def _format_sample(config: study.Study, registered: Json) -> list[str]:
    numbers = [f"{number} {what}" for what, number in registered["sample"].items() if number]
    sample_text = f"{' in '.join(numbers)}, complete ones counted."
    screened = (
        f"- takes part who answers *{one.question}* with {' or '.join(one.accepted_choices)}" for one in config.procedure.screener
    )
    return [sample_text if numbers else "*Open*: how many take part, and when collection stops.", "", *screened]


def _list_open_points(config: study.Study, registered: Json) -> Iterator[str]:
    if not config.hypotheses:
        yield "the hypotheses ([[hypotheses]])"
    if not any(registered["sample"].values()):
        yield "the number of participants (online.quota, or --participants)"
    if not config.analysis.models:
        yield "models of the authors' own (analysis.models): the standard ones are fitted"
    if not config.analysis.sesoi and not any(one.sesoi for one in config.hypotheses):
        yield "smallest effects of interest (analysis.sesoi)"
    yield "analyses that are named nowhere here, which are exploratory"


@functools.cache
def _read_key_descriptions() -> dict[str, str]:
    """Return what docs say of each key of study.toml, from its JSON schema."""
    schema = json.loads((files("gardenpath.experiment.setup") / "study.schema.json").read_text("utf-8"))
    found: dict[str, str] = {}

    def walk(node: Json, key: str) -> None:
        for name, one in node.get("properties", {}).items():
            path = f"{key}.{name}" if key else name
            found[path] = one.get("description", "")
            for part in (one, *one.get("anyOf", ())):
                if "$ref" in part and key.count(".") < 3:
                    walk(schema["$defs"][part["$ref"].rpartition("/")[2]], path)

    walk(schema, "")
    return found


def _find_key_description(section: str, name: str) -> str:
    descriptions = _read_key_descriptions()
    return (descriptions.get(f"{section}.{name}") or descriptions.get(section, "")).partition("; left out:")[0]


def _format_section_table(config: study.Study, section: str, *, only: Iterable[str] = (), omit: Iterable[str] = ()) -> list[str]:
    """Return the keys of a section as rows of a table: what each is, and what it means."""
    value: Any = config
    for name in section.split("."):
        value = getattr(value, name)
    keys = value if isinstance(value, Mapping) else vars(value)
    rows = [
        f"| `{section}.{name}` | {_format_setting(part)} | {_find_key_description(section, name)} |"
        for name, part in keys.items()
        if name not in omit and (not only or name in only)
    ]
    return ["| key | is | means |", "|---|---|---|", *(row.replace("\n", " ") for row in rows)]


def _format_setting(value: object) -> str:
    """Return a setting as JSON, which a cell can hold."""
    empty = value is None or value in ({}, [], ())
    return "none" if empty else json.dumps(value, ensure_ascii=False, default=dataclasses.asdict).replace("|", "\\|")


def _format_changed_settings(config: study.Study, section: str) -> list[str]:
    """Return the same of the keys that are not left as they are by default."""
    value = getattr(config, section)
    defaults = vars(study.DesignSection(lists=1) if section == "design" else study.OrderingSection())
    changed = [name for name, one in vars(value).items() if one != defaults[name] or name == "lists"]
    return _format_section_table(config, section, only=changed) if changed else []


def read_statements(text: str, where: str) -> Json:
    """Return the statements of a page; raises `DataError` where there are none, not those that its hash is of, or those of another
    release, whose keys had other names.
    """
    found = STATEMENTS_PATTERN.search(text.replace("\r\n", "\n"))
    if not found:
        raise study.DataError(f"{where}: no statements with their SHA-256; expected a page of  gardenpath preregister")
    digest, block = found.groups()
    if hashlib.sha256(block.encode()).hexdigest() != digest:
        raise study.DataError(
            f"{where}: the statements do not have the SHA-256 beside them, so they were changed after the page was written; "
            "expected the page as it was deposited"
        )
    registered: Json = json.loads(block)
    if renamed := describe_renamed_keys(registered, "study.toml"):
        advice = "the page was written by another release of gardenpath; compare the study with it by that one"
        raise study.DataError([f"{where}: {advice}", *(f"{where}: {line}" for line in renamed)])
    return registered


# ------------------------------------------------------------------------------------------------ deviations


def compute_deviations(
    registered: Json,
    config: study.Study,
    tables: "Mapping[str, pd.DataFrame] | None" = None,
    settings: Mapping[str, Any] | None = None,
    plan: Plan | None = None,
) -> "pd.DataFrame":
    """Return the table `deviations`: each statement of a preregistration that study.toml, the materials, the data or the analysis
    departs from, with what was registered, what there is, and the reason that `archive.deviations` gives.

    `tables` are those of the study as far as there are any; `settings` are those that the results were made with, and `plan` is
    that of the study as it is now. Planned models are held against planned models: a model that was fitted with fewer random
    effects, along the order that its plan states, departs from nothing.
    """
    import pandas as pd

    tables, current = tables or {}, build_statements(config)
    used_settings = {name: value for name, value in (settings or {}).items() if name in registered["analysis"]}
    analysis = {name: registered["analysis"][name] for name in used_settings}
    rows = [
        *_find_changed_settings(_drop_unread_texts(registered, config), _drop_unread_texts(current, config), "study.toml"),
        *_find_changed_settings({"analysis": analysis}, {"analysis": used_settings}, "results"),
        *_find_changed_sample(registered, current),
        *_find_changed_items(registered, current["items"], "materials"),
        *_find_changed_order(registered, current),
        *_find_data_deviations(registered, tables),
        *_find_changed_plan(registered, plan, tables),
        *_find_unfitted_models(registered, tables),
    ]
    reasons = config.archive.deviations
    table = pd.DataFrame(rows, columns=["key", "location", "registered", "found"])
    table = table.assign(kind=table["key"].map(_classify_deviation), reason=table["key"].map(dict(reasons)))
    return study.check(table[study.TABLES["deviations"].column_names], "deviations")


def _classify_deviation(key: str) -> str:
    matching_kinds = (kind for start, kind in DEVIATION_KINDS.items() if f"{key}.".startswith(f"{start}."))
    return next(matching_kinds, key.partition(".")[0])


Deviation = tuple[str, str, str | None, str | None]


def _drop_unread_texts(registered: Json, config: study.Study) -> Json:
    """Return statements without the texts that nobody reads: sections that the study does not use may stand in the file or not."""
    section_names = list_text_sections(config)
    return registered | {
        "texts": {name: section_text for name, section_text in registered.get("texts", {}).items() if name in section_names}
    }


def _find_changed_settings(registered: Json, current: Json, source: str) -> Iterator[Deviation]:
    """Yield settings that differ. A setting that gardenpath did not have yet counts as its default, and a section of statements
    that it did not make yet as no statement.
    """
    ignored = ("items", "order", "assigned_items", "sample", "plan", *(name for name in current if name not in registered))
    before, after = (flatten_statements({k: v for k, v in one.items() if k not in ignored}) for one in (registered, current))
    sections = {"analysis": study.AnalysisSection(), "ordering": study.OrderingSection(), "procedure": ProcedureSection()}
    defaults = {key: text for name, section in sections.items() for key, text in flatten_statements(vars(section), name).items()}
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old != new and not FREE_KEY_PATTERN.fullmatch(key) and not (old is None and new == defaults.get(key)):
            yield key, "materials" if key.startswith(("conditions.", "paradigms.")) else source, old, new


def _find_changed_sample(registered: Json, current: Json) -> Iterator[Deviation]:
    for name, old in registered["sample"].items():
        # Participants may have been stated with the command alone; places come from study.toml.
        if current["sample"][name] not in (old, *((None,) if name == "participants" else ())):
            yield f"sample.{name}", "study.toml", json.dumps(old), json.dumps(current["sample"][name])


def _find_changed_items(registered: Json, current: Mapping[str, Any], source: str) -> Iterator[Deviation]:
    """Yield items that came, went, or read otherwise."""
    before, after = (
        {(p, i): texts for p, items in one.items() for i, texts in items.items()} for one in (registered["items"], current)
    )
    for paradigm, item in dict.fromkeys([*before, *after]):
        old, new = before.get((paradigm, item)), after.get((paradigm, item))
        key = f"items.{paradigm}.{item}"
        if old is None or new is None:
            yield key, source, "an item" if old else None, "an item" if new else None
        elif changed := [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]:
            yield key, source, "as registered", f"other texts: {', '.join(changed)}"


def _find_changed_order(registered: Json, current: Json) -> Iterator[Deviation]:
    """Yield that items stand in another order in their files, where that is the order in which they are shown."""
    old, new = registered.get("order"), current["order"]
    if old and new and old != new:
        yield "items.order", "materials", "as registered", "another order in the files"


def _find_data_deviations(registered: Json, tables: "Mapping[str, pd.DataFrame]") -> Iterator[Deviation]:
    """Yield what the data themselves show: who and what was not to be there, and what is lacking."""
    if (sessions := tables.get("sessions")) is not None:
        participant_sessions = sessions[~sessions["source"].isin(["preview", "model"]) & sessions["complete"].astype(bool)]
        manually_excluded = participant_sessions.dropna(subset="exclusion_reason")
        for name, column in (("participants", "participant"), ("sessions", "session")):
            number, intended = participant_sessions[column].nunique(), registered["sample"].get(name)
            if intended not in (None, number):
                yield f"sample.{name}", "tables", str(intended), str(number)
        if len(manually_excluded):
            reasons = manually_excluded["exclusion_reason"].value_counts(sort=False)
            reason_text = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
            yield "sessions.exclusion_reason", "tables", "none by hand", reason_text
        revisions = sorted({*participant_sessions["revision"].dropna().astype(int)})
        if len(revisions) > 1:
            changed = f"changed while it ran: revisions {', '.join(map(str, revisions))}"
            yield "sessions.revision", "tables", "one study for all", changed
    if (items := tables.get("items")) is not None:
        hashes = _hash_items(items[items["paradigm"].isin(registered["items"])])
        expected: dict[str, dict[str, dict[str, str]]] = {}
        for paradigm, of_paradigm in registered["items"].items():
            for item in sorted({*of_paradigm} & {*registered["assigned_items"]}):
                texts, seen_texts = of_paradigm[item], hashes.get(paradigm, {}).get(item, {})
                expected.setdefault(paradigm, {})[item] = {name: texts[name] for name in texts if name in seen_texts} or texts
        yield from _find_changed_items({"items": expected}, hashes, "tables")


def _find_changed_plan(registered: Json, plan: Plan | None, tables: "Mapping[str, pd.DataFrame]") -> Iterator[Deviation]:
    """Yield how the plan of now, and that of the results where it is another one, differ from the plan that was registered.

    Models that differ in the same way are one deviation.
    """
    before = registered.get("plan", {}).get("models", {})
    if not before:
        return
    if plan is not None:
        yield from _find_changed_hypotheses(registered["plan"].get("hypotheses", {}), _describe_plan(plan).get("hypotheses", {}))
        if "multiverse" in registered["plan"]:
            yield from _find_changed_choices(registered["plan"]["multiverse"], _describe_multiverse(plan))
        yield from _find_changed_models(before, _describe_planned_models(plan), "study.toml")
    fitted = tables.get("planned_models")
    if fitted is not None and len(fitted) and (plan is None or fitted["plan_sha256"].iloc[0] != plan.sha256):
        rows = fitted[["model_id", *PLANNED_COLUMNS]].to_dict("records")
        found = {
            row["model_id"]: {name: "" if not isinstance(row[name], str) else row[name] for name in PLANNED_COLUMNS} for row in rows
        }
        yield from _find_changed_models(before, found, "results")


def _find_changed_hypotheses(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Deviation]:
    """Yield the hypotheses that are gone, new or changed, each with what differs."""
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            texts = [None if one is None else f"{one['contrast']} {one['direction']}".strip() for one in (old, new)]
            yield f"plan.hypotheses.{name}", "study.toml", texts[0], texts[1]
        elif differing := [key for key in new if old.get(key) != new[key]]:
            registered_text, found_text = ("; ".join(f"{key} {one.get(key)}" for key in differing) for one in (old, new))
            yield f"plan.hypotheses.{name}", "study.toml", registered_text, found_text


def _find_changed_choices(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Deviation]:
    """Yield how the choices of the multiverse differ; models that differ in the same way are one deviation."""
    alike: dict[tuple[str | None, str | None], list[str]] = {}
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new:
            differing = [key for key in (new or old or {}) if (old or {}).get(key) != (new or {}).get(key)]
            texts = (None if one is None else "; ".join(f"{key} {one.get(key)}" for key in differing) for one in (old, new))
            alike.setdefault((next(texts), next(texts)), []).append(name)
    for (old_text, new_text), names in alike.items():
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        yield f"plan.multiverse.{names[0]}{more}", "study.toml", old_text, new_text


def _find_changed_models(before: Mapping[str, Json], after: Mapping[str, Json], source: str) -> Iterator[Deviation]:
    alike: dict[tuple[str | None, str | None], list[str]] = {}
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new:
            # A page of before may have fixed less of a model.
            fixed = [key for key in PLANNED_COLUMNS if old is None or key in old]
            differing = fixed[:1] if old is None or new is None else [key for key in fixed if old[key] != new[key]]
            if "formula" in differing:  # the first fit follows it
                differing = [key for key in differing if key != "first_fit"]
            if differing:
                texts = (None if one is None else "; ".join(one[key] or f"no {key}" for key in differing) for one in (old, new))
                alike.setdefault((next(texts), next(texts)), []).append(name)
    for (registered_text, found_text), names in alike.items():
        more = f" (and in {len(names) - 1} more)" if len(names) > 1 else ""
        old_text, new_text = (None if text is None else f"{text}{more}" for text in (registered_text, found_text))
        yield f"plan.{names[0]}", source, old_text, new_text


def _find_unfitted_models(registered: Json, tables: "Mapping[str, pd.DataFrame]") -> Iterator[Deviation]:
    """Yield registered models of which the results have no estimate."""
    fits, planned = tables.get("models"), registered.get("plan", {}).get("models", {})
    if fits is None:
        return
    kept = {row["model_id"]: row for row in fits[fits["kept"]].to_dict("records")}
    for name, model in planned.items():
        fit = kept.get(name)
        if fit is None:
            yield f"plan.{name}.fit", "results", model["formula"], "not among the results"
        elif isinstance(fit["note"], str) and fit["note"].startswith("Not fitted"):
            yield f"plan.{name}.fit", "results", model["formula"], fit["note"]
