"""A preregistration and what departs from it: drifts of many kinds, each drawn by a seed, and each found."""

import hashlib
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import experiment, study
from gardenpath.analysis.fitting.plan_tables import build_planned_models
from gardenpath.analysis.reporting.wording.plans import list_hypotheses
from gardenpath.cli.analyse import describe_settings
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.experiment.setup import preregistration
from gardenpath.experiment.setup.data_search import search_data
from gardenpath.study.plans import Plan

from ..conftest import ROOT, run_here

STATED = """
[analysis.exclude]
min_accuracy = 0.75
max_outside_cutoffs = 0.25

[analysis.sesoi]
z = 0.2

[[analysis.models]]
name = "ease"
formula = "z ~ grammaticality + (1|participant) + (1|item)"

[[analysis.models]]
name = "speed"
formula = "log_rt ~ grammaticality + log_trial + (1|participant) + (1|item)"
contrasts = { grammaticality = "sum" }

[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
"""


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example study with statements of its own, registered and then taken by as many as were registered."""
    folder = Path(shutil.copytree(ROOT / "examples" / "minimal-pairs", tmp_path_factory.mktemp("registered") / "study"))
    text = (folder / "study.toml").read_text().replace("[online]", "[online]\nquota = 1")
    (folder / "study.toml").write_text(text + STATED)
    lines = (
        "preregister study.toml -o preregistration.md",
        "simulate study.toml --participants 9 --seed 1 -o data",
        "collect data -o tables",
    )
    for line in lines:
        assert run_here(f"gardenpath {line}", folder).code == 0
    analysed(folder, study.load(folder).analysis)
    shutil.rmtree(folder / "data")
    return folder


def analysed(folder: Path, settings: study.AnalysisSection) -> None:
    """Write the tables of results in which deviations show, as `analyse` does, without the time that models take."""
    ledger = {"step": 0, "table": "readings", "condition": "all", "rule": "none", "n_before": 1, "n_excluded": 0, "n_after": 1}
    steps = pd.DataFrame([ledger | {"n_participants_before": 1, "n_participants_after": 1}])
    study.write(steps, "exclusions", folder / "results", command="analyse", notes=describe_settings(settings))
    plan = resolve_design_plan(replace(study.load(folder), analysis=settings))
    planned = build_planned_models(plan)
    study.write(planned, "planned_models", folder / "results", command="analyse")
    fits = planned[["model_id", "formula"]].assign(step=0, kept=True, engine="glmm", optimizer="glmm", n=1, n_participants=1)
    fits = fits.assign(n_items=1, converged=True, singular=False, reduced=False, decision="kept as declared")
    columns = study.TABLES["models"].column_names
    study.write(study.check(fits.reindex(columns=columns), "models"), "models", folder / "results", command="analyse")


@pytest.fixture
def folder(registered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(registered, tmp_path / "study"))


def found(folder: Path) -> pd.DataFrame:
    done = run_here("gardenpath deviations study.toml preregistration.md -o results --force", folder)
    assert done.code == 0, done.said
    table = study.read(folder / "results", "deviations")
    assert f"{len(table)} deviation" in done.printed
    return table


def keys_but_of_plans(table: pd.DataFrame) -> set[tuple[str, str]]:
    """What departs, without the planned models that are others for it."""
    follows = table["key"].str.startswith("plan.") & ~table["key"].str.endswith(".fit")
    return {*table.loc[~follows, ["key", "location"]].itertuples(index=False, name=None)}


Drift = Callable[[Path, random.Random], set[tuple[str, str]]]  # changes a study, and returns what is to be found, and where


def stated(old: str, new: str, *keys: str) -> Drift:
    """A statement of study.toml that is another now; `%` in the new one is a number from 2 to 9."""

    def drift(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
        path = folder / "study.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new.replace("%", str(drawn.randint(2, 9))), 1))
        return {(key, "study.toml") for key in keys}

    return drift


def made_with(**settings: object) -> Drift:
    """Results that were made with other settings than study.toml states, as by an option of the command."""

    def drift(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
        changed = {name: drawn.choice(value) if isinstance(value, list) else value for name, value in settings.items()}
        plan = study.load(folder).analysis
        analysed(folder, study.AnalysisSection(**{**vars(plan), **changed}))
        return {(f"analysis.{name}", "results") for name in settings}

    return drift


def item_left_out(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
    item = drawn.choice(sorted(study.read(folder / "tables", "items")["item"].unique()))
    path = folder / "study.toml"
    path.write_text(path.read_text() + f'\n[analysis.exclude.items]\n"{item}" = "it did not work"\n')
    return {(f"analysis.exclude.items.{item}", "study.toml")}


def of_item(change: Callable[[list[str]], list[str]], suffix: str = "") -> Drift:
    """Materials in which the lines of an item are others now."""

    def drift(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
        header, *lines = (folder / "items.csv").read_text().splitlines()
        at = 2 * drawn.randrange(len(lines) // 2)  # two lines an item
        lines[at : at + 2], (paradigm, _, item, *_) = change(lines[at : at + 2]), lines[at].split(",")
        (folder / "items.csv").write_text("\n".join([header, *lines]) + "\n")
        return {(f"items.{paradigm}.{item}{suffix}", "materials")}

    return drift


def reworded(lines: list[str]) -> list[str]:
    return [re.sub(r"([a-z]+)\.", r"\1 again.", lines[0]), lines[1]]


def doubled(lines: list[str]) -> list[str]:
    return [*lines, *(re.sub(r",(\w+-\d+),", r",\1b,", line, count=1) for line in lines)]


def in_table(name: str, change: Callable[[pd.DataFrame, random.Random], tuple[pd.DataFrame, set[str]]]) -> Drift:
    """Data that are not those of the study that was registered."""

    def drift(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
        table, keys = change(study.read(folder / "tables", name), drawn)
        study.write(table, name, folder / "tables", command="by hand")
        return {(key, "tables") for key in keys}

    return drift


def fewer_people(sessions: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    return sessions.drop(index=drawn.randrange(len(sessions))), {"sample.participants", "sample.sessions"}


def more_people(sessions: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    more = sessions.sample(2, random_state=drawn.randrange(99)).assign(participant=["n1", "n2"], session=["n1", "n2"])
    return pd.concat([sessions, more]), {"sample.participants", "sample.sessions"}


def not_finished(sessions: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    sessions.loc[drawn.randrange(len(sessions)), "complete"] = False
    return sessions, {"sample.participants", "sample.sessions"}


def left_out_by_hand(sessions: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    sessions.loc[drawn.randrange(len(sessions)), "exclusion_reason"] = "too slow"
    return sessions, {"sessions.exclusion_reason"}


def changed_while_it_ran(sessions: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    sessions.loc[drawn.randrange(len(sessions)), "revision"] = 2
    return sessions, {"sessions.revision"}


def another_sentence_shown(items: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    at = drawn.choice(list(items.index[items["paradigm"] != "practice"]))
    paradigm, item, sentence = items.loc[at, ["paradigm", "item", "sentence"]]
    items.loc[at, "sentence"] = sentence.replace(".", " indeed.")
    return items, {f"items.{paradigm}.{item}"}


def item_never_shown(items: pd.DataFrame, drawn: random.Random) -> tuple[pd.DataFrame, set[str]]:
    at = drawn.choice(list(items.index[items["paradigm"] != "practice"]))
    paradigm, item = items.loc[at, ["paradigm", "item"]]
    return items[items["item"] != item], {f"items.{paradigm}.{item}"}


def model_not_fitted(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
    models = study.read(folder / "results", "models")
    name = drawn.choice([*models["model_id"]])
    models.loc[models["model_id"] == name, "note"] = "Not fitted: one level of the factor"
    study.write(models, "models", folder / "results", command="analyse")
    return {(f"plan.{name}.fit", "results")}


def own_words(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
    """A word of the page that is the researcher's own, in the file that study.toml names."""
    path = folder / "study.toml"
    path.write_text(path.read_text().replace("[procedure]\n", '[procedure]\ntexts = "texts.toml"\n'))
    (folder / "texts.toml").write_text('[session]\nbreak = "Go on, and be quick."\n')
    return {("procedure.texts", "study.toml"), ("texts.session.break", "study.toml")}


def another_phenomenon(folder: Path, drawn: random.Random) -> set[tuple[str, str]]:
    path = folder / "items.csv"
    paradigm = drawn.choice(sorted({line.split(",")[0] for line in path.read_text().splitlines()[1:]}))
    path.write_text(re.sub(rf"^{paradigm},\w+,", f"{paradigm},anew,", path.read_text(), flags=re.MULTILINE))
    return {(f"paradigms.{paradigm}.phenomenon", "materials")}


DRIFTS: dict[str, Drift] = {
    "another formula": stated(
        '(1|participant) + (1|item)"\n\n', '(1 + grammaticality|participant) + (1|item)"\n\n', "analysis.models.ease.formula"
    ),
    "a covariate more": stated("+ log_trial +", "+ log_trial + position +", "analysis.models.speed.formula"),
    "another contrast": stated('= "sum"', '= "treatment"', "analysis.models.speed.contrasts.grammaticality"),
    "another region": stated('name = "speed"', 'name = "speed"\nregion = "critical+1"', "analysis.models.speed.region"),
    "a model more": stated(
        'name = "ease"',
        'name = "again"\nformula = "z ~ grammaticality + (1|item)"\n\n[[analysis.models]]\nname = "ease"',
        "analysis.models.again.formula",
        "analysis.models.again.region",
    ),
    "another share of right answers": stated("accuracy = 0.75", "accuracy = 0.%", "analysis.exclude.min_accuracy"),
    "another rule, so far unstated": stated(
        "max_outside_cutoffs", "max_minutes = 4%\nmax_outside_cutoffs", "analysis.exclude.max_minutes"
    ),
    "another band of reading times": stated("min_rt = 100.0", "min_rt = %0.0", "analysis.min_rt"),
    "who is left out by what they say": stated(
        "[analysis.sesoi]", '[analysis.exclude.demographics]\nage = ["2%"]\n\n[analysis.sesoi]', "analysis.exclude.demographics.age"
    ),
    "an item left out": item_left_out,
    "another smallest effect": stated("z = 0.2", "z = 0.0%", "analysis.sesoi.z"),
    "another choice of random effects": stated('engine = "glmm"', 'engine = "glmm"\npolicy = "maximal"', "analysis.policy"),
    "other shares of conditions": stated(
        "grammatical = 2, ungrammatical = 1",
        "grammatical = 1, ungrammatical = 2",
        "design.ratio.grammatical",
        "design.ratio.ungrammatical",
    ),
    "another scale": stated("points = 7", "points = %", "procedure.tasks.acceptability.points"),
    "another question": stated('prompt = "', 'prompt = "% ', "procedure.tasks.acceptability.prompt"),
    "another way of showing": stated('show = "centred"', 'show = "moving_window"', "procedure.target.show"),
    "another rule of order": stated(
        'no_adjacent = "paradigm"', 'no_adjacent = "paradigm"\nmax_run = { condition = % }', "ordering.max_run.condition"
    ),
    "another seed": stated("seed = 20261132", "seed = %", "seed"),
    "more places": stated("quota = 1", "quota = %", "sample.participants", "sample.sessions"),
    "a sentence reworded": of_item(reworded),
    "an item less": of_item(lambda lines: []),
    "an item more": of_item(doubled, "b"),
    "fewer people": in_table("sessions", fewer_people),
    "more people": in_table("sessions", more_people),
    "somebody who did not finish": in_table("sessions", not_finished),
    "somebody left out by hand": in_table("sessions", left_out_by_hand),
    "a study that changed while it ran": in_table("sessions", changed_while_it_ran),
    "another sentence in the data": in_table("items", another_sentence_shown),
    "an item that nobody saw": in_table("items", item_never_shown),
    "results by another band": made_with(max_rt=[1500.0, 2000.0, 2500.0]),
    "results by another engine": made_with(engine="lme4"),
    "a model without an estimate": model_not_fitted,
    "another title": stated('title = "', 'title = "% ', "title"),
    "a text of the page": own_words,
    "people who come again": stated("quota = 1", "quota = 1\nmax_sessions = %", "online.max_sessions"),
    "no number of places": stated("quota = 1\n", "", "sample.sessions"),
    "another phenomenon": another_phenomenon,
}


def test_nothing_departs_from_a_study_that_was_done_as_registered(folder: Path) -> None:
    assert found(folder).empty


@pytest.mark.parametrize("name", DRIFTS)
def test_a_drift_is_found_and_nothing_else(name: str, folder: Path) -> None:
    expected = DRIFTS[name](folder, random.Random(name))
    table = found(folder)
    assert keys_but_of_plans(table) == expected
    assert not (table["registered"].fillna("") == table["found"].fillna("")).any()


def test_planned_models_are_held_against_planned_models(folder: Path) -> None:
    """Plans without a setting in common are compared as they are; models that changed alike are one deviation."""
    path = folder / "study.toml"
    text = path.read_text()
    path.write_text(text.replace("log_rt ~ grammaticality + log_trial +", "log_rt ~ grammaticality +"))
    rows = found(folder).set_index("key")
    choices, key = (key for key in rows.index if key.startswith("plan."))
    assert (choices, key) == (
        "plan.multiverse.model speed, log_rt critical, declared",
        "plan.model speed, log_rt critical, declared",
    )
    assert rows.loc[choices, ["registered", "found"]].to_list() == ["covariates log_trial; none", "covariates none; log_trial"]
    assert rows.loc[key, "registered"] == "log_rt ~ grammaticality + log_trial + (1|participant) + (1|item)"
    assert rows.loc[key, "found"] == "log_rt ~ grammaticality + (1|participant) + (1|item)"
    assert (rows.loc[key, "kind"], rows.loc[key, "location"]) == ("model", "study.toml")
    path.write_text(text.replace("[analysis]", '[analysis]\ncovariates = ["position"]'))
    rows = found(folder).set_index("key")
    plans = [key for key in rows.index if key.startswith("plan.") and rows.loc[key, "kind"] == "model"]
    assert all("log_trial" in rows.loc[key, "registered"] and "log_trial" not in rows.loc[key, "found"] for key in plans)
    assert "more)" in rows.loc[plans[0], "found"]


def test_everything_that_is_fixed_of_a_planned_model_is_compared(folder: Path) -> None:
    text = (folder / "preregistration.md").read_text()
    registered = preregistration.read_statements(text, "page")
    config = study.load(folder / "study.toml")
    plan = resolve_design_plan(config)
    name = "model speed, log_rt critical, declared"
    model = registered["plan"]["models"][name]
    assert set(model) == set(preregistration.PLANNED_COLUMNS)
    model |= {"policy": "maximal", "family": "binomial", "correction": "Holm over the regions"}
    [row] = preregistration.compute_deviations(registered, config, plan=plan).to_dict("records")
    assert row["registered"] == "maximal; binomial; Holm over the regions"
    assert row["found"].startswith("declared; gaussian; ")
    del model["family"], model["correction"], model["tested"], model["paradigms"]  # as a page of before had it
    [row] = preregistration.compute_deviations(registered, config, plan=plan).to_dict("records")
    assert (row["registered"], row["found"]) == ("maximal", "declared")


def test_a_model_of_fewer_random_effects_departs_from_nothing(folder: Path) -> None:
    models = study.read(folder / "results", "models")
    study.write(models.assign(reduced=True, formula="z ~ 1 + (1|item)"), "models", folder / "results", command="analyse")
    assert found(folder).empty


def test_results_of_another_plan_are_found(folder: Path) -> None:
    analysed(folder, replace(study.load(folder).analysis, models=()))
    table = found(folder)
    results = table[table["location"] == "results"]
    assert {"plan.model ease, z sentence (acceptability), declared", "plan.model speed, log_rt critical, declared"} <= {
        *results["key"]
    }


def test_all_drifts_at_once_are_all_found(folder: Path) -> None:
    """But those that are the same statement as another's, and results made by settings that are not study.toml's."""
    left_out = (
        "people who come again",
        "no number of places",
        "more people",
        "somebody who did not finish",
        "results by another band",
        "results by another engine",
    )
    together = [name for name in DRIFTS if name not in left_out]
    assert len(together) > 20
    expected = [DRIFTS[name](folder, random.Random(seed)) for seed, name in enumerate(together)]
    assert keys_but_of_plans(found(folder)) == set.union(*expected)


@pytest.mark.parametrize(
    ("file", "old", "new", "key"),
    [
        (
            "items.csv",
            "attractor: singular, plural",
            "attractor: plural, singular",
            "paradigms.agreement_attraction.factors.attractor",
        ),
        ("items.csv", "filler-01,,", "filler-00,,", "items.order"),
        ("texts.toml", "Weiter geht es.", "Los.", "texts.session.break"),
    ],
)
def test_what_the_words_of_study_toml_leave_open_is_registered_too(tmp_path: Path, file: str, old: str, new: str, key: str) -> None:
    """The order of levels, which decides the sign; of items, where they come as in their file; words in a file of their own."""
    folder = Path(shutil.copytree(ROOT / "examples" / "agreement-attraction", tmp_path / "study"))
    toml = folder / "study.toml"
    text = re.sub(r"\[ordering\]\n[^\[]*", '[ordering]\norder = "fixed"\n\n', toml.read_text())
    toml.write_text(text.replace("[procedure]\n", '[procedure]\ntexts = "texts.toml"\n'))
    (folder / "texts.toml").write_text('[session]\nbreak = "Weiter geht es."\n')
    registered = preregistration.read_statements(
        preregistration.format_preregistration(study.load(folder), preregistration.build_statements(study.load(folder))), "page"
    )
    changed = (folder / file).read_text()
    assert old in changed
    (folder / file).write_text(changed.replace(old, new))
    assert key in {*preregistration.compute_deviations(registered, study.load(folder))["key"]}


def test_a_page_of_another_release_is_refused_with_its_new_names(registered: Path) -> None:
    """It cannot be renamed as study.toml can: its hash is of the old words."""
    page = (registered / "preregistration.md").read_text().replace('"min_accuracy":', '"accuracy":')
    block = page.partition("```json\n")[2].partition("```")[0]
    page = re.sub(r"(of the statements: `)[0-9a-f]{64}", rf"\g<1>{hashlib.sha256(block.encode()).hexdigest()}", page)
    with pytest.raises(study.DataError) as error:
        preregistration.read_statements(page, "page")
    assert [fault.removeprefix("page: ") for fault in error.value.faults] == [
        "the page was written by another release of gardenpath; compare the study with it by that one",
        "key 'analysis.exclude.accuracy' is now 'analysis.exclude.min_accuracy'",
    ]


def test_texts_that_nobody_reads_may_be_deleted(tmp_path: Path) -> None:
    """Also where a page registered them, as the whole file that `new` writes for a language without texts."""
    folder = tmp_path / "study"
    assert run_here(f"gardenpath new {folder} --kind rating --language tlh", tmp_path).code == 0
    config = study.load(folder)
    registered = preregistration.build_statements(config)
    path = folder / "texts.toml"
    whole = path.read_text("utf-8")
    sections = re.split(r"(?m)^(?=\[)", whole)
    kept = [one for one in sections if not re.match(r"\[(maze|rsvp|lexical_decision|completion|choice)[.\]]", one)]
    assert len(kept) < len(sections) - 4
    path.write_text("".join(kept), "utf-8")
    assert preregistration.compute_deviations(registered, config).empty
    path.write_text(path.read_text("utf-8").replace('break = "', 'break = "Well: '), "utf-8")
    assert [*preregistration.compute_deviations(registered, config)["kind"]] == ["procedure"]


def test_reasons_and_kinds_stand_beside_deviations(folder: Path) -> None:
    path = folder / "study.toml"
    path.write_text(path.read_text().replace("accuracy = 0.75", "accuracy = 0.6").replace("min_rt = 100.0", "min_rt = 50.0"))
    path.write_text(path.read_text() + '\n[archive.deviations]\n"analysis.exclude.min_accuracy" = "a question was ambiguous"\n')
    done = run_here("gardenpath deviations study.toml preregistration.md -o results", folder)
    assert "registered 0.75, found 0.6; reason: a question was ambiguous" in done.printed
    assert "2 deviations from preregistration.md; 1 without a reason (archive.deviations)" in done.printed
    assert {*study.read(folder / "results", "deviations")["kind"]} == {"exclusion"}


def test_the_page_says_what_is_fixed_and_what_is_open(registered: Path) -> None:
    page = (registered / "preregistration.md").read_text()
    assert "9 participants in 9 sessions, complete ones counted." in page
    assert "`z ~ grammaticality + (1|participant) + (1|item)`" in page
    assert "| `analysis.exclude.min_accuracy` | 0.75 | least share of comprehension questions answered right |" in page
    assert "- open: the hypotheses" in page
    assert "smallest effects of interest (analysis.sesoi)" not in page
    [item] = re.findall(r"\| npi_ever \| (\d+) \|", page)
    assert item == "10"


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (
            "deviations study.toml preregistration.md -o r",
            ('"min_accuracy": 0.75', '"min_accuracy": 0.5'),
            "were changed after the page",
        ),
        (
            "deviations study.toml preregistration.md -o r",
            ("SHA-256 of the statements", "Hash"),
            "no statements with their SHA-256",
        ),
        ("deviations study.toml items.csv -o r", ("", ""), "expected a page of  gardenpath preregister"),
        ("preregister study.toml --participants 8 -o p.md", ("", ""), "study.toml has places for 9; expected one number"),
        ("preregister study.toml -o preregistration.md", ("", ""), "exists already"),
    ],
)
def test_what_is_not_as_it_was_deposited_is_refused(folder: Path, line: str, change: tuple[str, str], said: str) -> None:
    path = folder / "preregistration.md"
    path.write_text(path.read_text().replace(*change))
    done = run_here(f"gardenpath {line}", folder)
    assert done.code
    assert said in done.said


def test_after_people_took_part_nothing_is_registered_as_before_the_data(folder: Path) -> None:
    sessions = study.read(folder / "tables", "sessions").assign(source="server")
    study.write(sessions, "sessions", folder / "tables", command="by hand")
    done = run_here("gardenpath preregister study.toml -o late.md", folder)
    assert done.code == 1
    assert "tables/sessions.csv: a table of 9 sessions (9 server)" in done.said
    assert run_here("gardenpath preregister study.toml --after-data -o late.md", folder).code == 0
    page = (folder / "late.md").read_text()
    assert "**Drafted after data were collected**: 9 sessions of people lay beside study.toml." in page
    assert "tables/sessions.csv: a table of 9 sessions (9 server)" in page


def relabel_sessions(data: Path, source: str) -> None:
    """Make recorded sessions those of another source."""
    for path in data.glob("*/session.json"):
        path.write_text(path.read_text().replace('"simulation"', f'"{source}"'))


@pytest.mark.parametrize("place", ["data", "pilot-2", "lab"])
def test_sessions_of_people_are_found_in_any_folder(folder: Path, place: str) -> None:
    made = study.load(folder / "study.toml")
    experiment.simulate(experiment.build_list_files(made), folder / place, participants=3, seed=2)
    found = [one for one in search_data(made).found if one.path == f"{place}/"]
    assert [dict(one.sources) for one in found] == [{"simulation": 3}]
    assert not search_data(made).of_people
    relabel_sessions(folder / place, "lab")
    assert [(one.path, one.n_of_people) for one in search_data(made).of_people] == [(f"{place}/", 3)]
    assert run_here("gardenpath preregister study.toml -o late.md", folder).code == 1


def test_databases_and_files_of_platforms_are_found_and_whose_they_are_is_not_guessed(folder: Path) -> None:
    before = search_data(study.load(folder / "study.toml"))
    assert not before.of_people
    (folder / "server").mkdir()
    (folder / "server" / "copy.db").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    (folder / "downloads").mkdir()
    (folder / "downloads" / "results.csv").write_text(PCIBEX_HEAD)
    (folder / "stray").mkdir()
    readings = pd.DataFrame(columns=study.TABLES["readings"].column_names)
    study.write(readings, "readings", folder / "stray", command="by hand")
    found = search_data(study.load(folder / "study.toml"))
    assert {str(one) for one in found.of_people} == {
        "server/copy.db: a database; whose they are is not said",
        "downloads/results.csv: a file of pcibex; whose they are is not said",
        "stray/readings.csv: a table of readings; whose they are is not said",
    }
    assert all(name in found.describe() for name in ("`downloads/`", "`server/`", "`tables/`"))


PCIBEX_HEAD = """# Results on Wed, 25 Nov 2026 10:00:00 GMT
# USER AGENT: Mozilla/5.0
# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
"""


def test_the_page_says_what_was_looked_for_where_there_is_nothing(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "minimal-pairs", tmp_path / "made")
    assert run_here("gardenpath preregister study.toml --participants 54 -o p.md", tmp_path / "made").code == 0
    page = (tmp_path / "made" / "p.md").read_text()
    assert "Drafted from study.toml, beside which no data of people lay." in page
    assert "None was there. Data that lie elsewhere, as on a server, are not seen from here." in page


HYPOTHESIS = """
[[hypotheses]]
name = "better"
effect = "extraction"
response = "z"
direction = "negative"
sesoi = 0.2
"""


def test_hypotheses_are_registered_and_compared(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "examples" / "relative-clauses", tmp_path / "study"))
    text = (folder / "study.toml").read_text()

    def read(stated: str) -> tuple[study.Study, Plan]:
        (folder / "study.toml").write_text(text + stated)
        config = study.load(folder / "study.toml")
        return config, resolve_design_plan(config)

    config, plan = read(HYPOTHESIS)
    registered = preregistration.build_statements(config, plan=plan)
    page = preregistration.format_preregistration(config, registered, hypotheses=list_hypotheses(plan))
    assert "- better (primary): extraction: object minus subject is negative, in model relative_clauses, z sentence" in page
    assert "two-sided; smallest effect that matters 0.2" in page
    assert "- open: the hypotheses" not in page
    assert preregistration.compute_deviations(registered, config, plan=plan).empty
    config, plan = read(HYPOTHESIS.replace("negative", "positive"))
    changed = preregistration.compute_deviations(registered, config, plan=plan)
    assert changed[["key", "kind", "registered", "found"]].to_numpy().tolist() == [
        ["plan.hypotheses.better", "hypothesis", "direction negative", "direction positive"]
    ]
    config, plan = read("")
    gone = preregistration.compute_deviations(registered, config, plan=plan)
    assert {*gone["found"].isna()} == {True}
