"""Magnitude estimation: a positive number is typed for each sentence, relative to a reference, and analysed as standardised logs."""

import logging
import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gardenpath import analysis, experiment, study
from gardenpath.analysis.reporting.wording.plans import describe_plan
from gardenpath.cli.plan import resolve_design_plan
from gardenpath.experiment.platforms.gorilla import export as gorilla
from gardenpath.experiment.platforms.imported_sessions import ImportedSession, ImportedTrial, build_response_record
from gardenpath.experiment.platforms.imported_tables import build_tables
from gardenpath.experiment.players.lab import session_launch
from gardenpath.experiment.players.lab.displays import Blank
from gardenpath.experiment.sessions.records import find_outcome_fault
from gardenpath.study.events import build_ended

from .pages import Reader, browser, opened, served  # noqa: F401
from .pages import stated as stated_online
from .task_studies import events, stated, tables, trial_screens
from .test_lab import Machine, take

ASKED = '[procedure.target]\nshow = "with_task"\nask = ["magnitude"]\n[procedure.tasks.magnitude]\nkind = "magnitude_estimation"\n'
PLAIN = ASKED + 'prompt = "How good does this sentence sound?"\n'
WITH_REFERENCE = PLAIN + 'reference = "The dog the bone ate."\nmodulus = 100\n'
NOISELESS = experiment.Effects(rating_participant_sd=0, rating_item_sd=0, rating_residual_sd=0)


def test_a_typed_number_is_a_response_with_the_time_of_its_first_key(tmp_path: Path) -> None:
    made = stated(tmp_path, PLAIN)
    responses = tables(made)["responses"]
    assert set(responses["task"]) == {"magnitude_estimation"}
    assert set(responses["prompt"]) == {"magnitude"}
    assert responses["response"].astype(float).gt(0).all()
    assert responses["response"].str.len().le(12).all()
    assert (responses["rt_first"] < responses["rt"]).all()
    typed = [e["value"]["answer"] for e in events(made) if e["kind"] == "outcome" and e["value"]["pasted"] is not None]
    assert sorted(typed) == sorted(responses["response"])


def test_the_reference_stands_before_the_prompt_and_in_the_instructions(tmp_path: Path) -> None:
    made = stated(tmp_path, WITH_REFERENCE)
    (entry,) = trial_screens(made)[0]
    assert entry.prompt == "100 is the number of: The dog the bone ate. How good does this sentence sound?"
    assert (entry.kind, entry.above.kind) == ("entry", "sentence")
    pages = [str(screen) for step in experiment.build_list_files(made)[0].script.front for screen in step.screens]
    assert any("The dog the bone ate." in page and "has the number 100" in page for page in pages)
    (entry,) = trial_screens(stated(tmp_path, PLAIN))[0]
    assert entry.prompt == "How good does this sentence sound?"


REFUSED = {
    "reference alone": (PLAIN + 'reference = "A dog."', "reference is 'A dog.' and modulus None; expected both, or neither"),
    "modulus alone": (PLAIN + "modulus = 10", "reference is '' and modulus 10"),
    "modulus of nothing": (PLAIN + 'reference = "A dog."\nmodulus = 0', "modulus is 0; expected a number above 0"),
    "no prompt": (ASKED, "prompt"),
}


@pytest.mark.parametrize(("procedure", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_asked_is_refused(tmp_path: Path, procedure: str, message: str) -> None:
    with pytest.raises(study.DataError, match=message):
        experiment.build_list_files(stated(tmp_path, procedure))


@pytest.mark.parametrize("text", ["0", "-5", "12,5", "good", "1e400", "  ", "1" * 13])
def test_what_is_no_number_above_0_is_no_answer(tmp_path: Path, text: str) -> None:
    (entry,) = trial_screens(stated(tmp_path, PLAIN))[0]
    assert find_outcome_fault(entry, build_ended("answered", answer="12.5")) is None
    assert find_outcome_fault(entry, build_ended("answered", answer=text)) is not None


def test_an_attention_item_expects_a_number(tmp_path: Path) -> None:
    design = (
        '[[design.attention]]\nkind = "instruction"\nsentence = "Please type 50."\nexpected_responses = { magnitude = ["50"] }\n'
    )
    found = tables(stated(tmp_path, PLAIN, design=design), effects=experiment.Effects(attention=1))["responses"]
    assert found.loc[found["role"] == "attention", "correct"].all()
    with pytest.raises(study.DataError, match="expected number is 'fifty'; expected one above 0"):
        experiment.build_list_files(stated(tmp_path, PLAIN, design=design.replace('"50"', '"fifty"')))


TASK = '[procedure.tasks.acceptability]\nkind = "magnitude_estimation"\nprompt = "How good is it?"\n'
REFUSAL = "Please type a number above 0, in digits, with a point before decimals (such as 12.5)."


@pytest.mark.browser
def test_the_page_asks_again_for_what_is_no_number_above_0(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    with served(tmp_path, stated_online(procedure="", show="whole", tasks=TASK)) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for typed in (["good", "0", "12.5"], ["-3", "40"], ["12,5", "٣٠"], ["7"]):
                reader.skip_text()
                reader.read()
                reader.at("acceptability")
                for text in typed[:-1]:
                    _type(reader, text)
                    reader.page.get_by_text(REFUSAL).wait_for()
                    assert reader.name() == "acceptability"
                _type(reader, typed[-1], ends=True)
            reader.code()
        responses = experiment.collect(site.folder)["responses"]
    typed = responses[responses["task"] == "magnitude_estimation"]
    assert typed["response"].to_list() == ["12.5", "40", "30", "7"]


def _type(reader: Reader, text: str, *, ends: bool = False) -> None:
    reader.page.locator("#stage input").fill(text)
    if ends:
        reader.go("Enter")
    else:
        reader.press("Enter")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_lab_asks_again_too_and_takes_numbers_where_it_takes_no_other_text(tmp_path: Path, language: str) -> None:
    class Typist(Machine):
        def show(self, display: Any) -> Any:
            before = self.displays[-1] if self.displays else None
            painted = super().show(display)
            if isinstance(display, Blank) and isinstance(before, Blank) and before.text and not display.text:
                self.answered = False  # the next trial
            if isinstance(display, Blank) and display.fault:
                self.write("5")
                self.press("Enter", after=500)
            return painted

        def answer(self, display: Any) -> None:
            if not isinstance(display, Blank):
                return super().answer(display)
            self.write(".")
            return self.press("Enter", after=300)

    made = stated(tmp_path, PLAIN, language=language)
    taken = take(tmp_path / "lab", session_launch.read_list_files(made.path), reader := Typist())
    assert taken.ending == "finished"
    assert {one.fault for one in reader.displays if isinstance(one, Blank)} == {
        "",
        experiment.build_list_files(made)[0].script.trials[0].screens[0].not_positive,  # type: ignore[union-attr]
    }
    assert set(experiment.collect(tmp_path / "lab")["responses"]["response"]) == {".5"}


def test_other_platforms_say_that_they_do_not_check_and_what_is_no_number_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = experiment.build_list_files(stated(tmp_path, PLAIN))
    assert [loss for loss in gorilla.list_losses(files) if "no number above 0 is left out" in loss]
    given = ["100", "many", "0", "33.5"]
    records = [build_response_record("magnitude_estimation", "magnitude", answer, rt=900.0) for answer in given]
    trials = tuple(ImportedTrial(n, f"i{n}", "a", f"data.csv, line {n}", records=(one,)) for n, one in enumerate(records))
    session = ImportedSession("s1", "p1", "table", trials, True, "data.csv")
    with caplog.at_level(logging.WARNING):
        responses = build_tables([session], None, str)["responses"]
    assert responses[["trial", "response"]].to_numpy().tolist() == [[0, "100"], [3, "33.5"]]
    assert "data.csv: 2 answers to magnitude, first 'many', expected a number above 0; left out" in caplog.text


def test_nothing_but_its_entry_and_its_task_names_it() -> None:
    root = Path(study.__file__).parents[1]
    packages = ("study", "stimuli", "experiment", "lmscore", "analysis", "cli")
    naming = {
        str(path.relative_to(root))
        for package in packages
        for path in (root / package).rglob("*.py")
        if "magnitude" in path.read_text("utf-8").lower()
    }
    assert naming == {"study/responses.py", "experiment/tasks/__init__.py", "experiment/tasks/magnitude_estimation.py"}


def test_z_is_that_of_logarithms_within_participant(tmp_path: Path) -> None:
    found = tables(stated(tmp_path, PLAIN), participants=3)
    scores = analysis.compute_rating_scores(found["responses"], found["items"])
    typed = found["responses"].set_index(["session", "trial"])["response"].astype(float)
    for session, rows in scores.groupby("session"):
        logs = [math.log(typed[session, trial]) for trial in rows["trial"]]
        mean, spread = statistics.fmean(logs), statistics.stdev(logs)
        assert rows["rating"].to_list() == pytest.approx(logs, abs=1e-12)
        assert rows["z"].to_list() == pytest.approx([(one - mean) / spread for one in logs], abs=1e-9)


def test_a_number_that_has_no_logarithm_is_named(tmp_path: Path) -> None:
    found = tables(stated(tmp_path, PLAIN))
    wrong = found["responses"].copy()
    wrong.loc[0, "response"] = "0"
    with pytest.raises(study.DataError, match="rating '0'; expected a number above 0"):
        analysis.compute_rating_scores(wrong, found["items"])


def test_without_noise_the_stated_effect_is_that_on_logarithms(tmp_path: Path) -> None:
    found = tables(stated(tmp_path, PLAIN), effects=NOISELESS, participants=4)
    scores = analysis.compute_rating_scores(found["responses"], found["items"])
    means = scores.groupby("condition")["rating"].mean()
    assert means["grammatical"] - means["ungrammatical"] == pytest.approx(NOISELESS.rating, abs=1e-6)


TWO_BY_TWO = "paradigm,phenomenon,item,condition,sentence,factors\n" + "".join(
    f'p,f,i{n},{noun}.{verb},The {noun} near {n} [{verb}] here.,"noun: key, keys | verb: was, were"\n'
    for n in range(8)
    for noun in ("key", "keys")
    for verb in ("was", "were")
)
CROSSED = PLAIN + '[simulate.noun]\nrating = 0.25\n[simulate."noun:verb"]\nrating = -0.8\n'


def _crossed(folder: Path, extra: str = "") -> study.Study:
    (folder / "items.csv").write_text(TWO_BY_TWO)
    (folder / "study.toml").write_text(
        'name = "small"\nlanguage = "en"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\nlists = 4\n' + CROSSED + extra
    )
    return study.load(folder / "study.toml")


def test_effects_of_factors_are_recovered(tmp_path: Path) -> None:
    made = _crossed(tmp_path)
    found = tables(made, effects=replace(NOISELESS, terms=made.simulate), participants=4)
    scores = analysis.compute_rating_scores(found["responses"], found["items"], conditions=found["conditions"])
    cell = scores.groupby(["noun", "verb"])["rating"].mean()
    assert cell["keys"].mean() - cell["key"].mean() == pytest.approx(0.25, abs=1e-6)
    # The interaction is the product of two codes of -1/2 and +1/2: a difference of differences.
    difference = cell["keys", "were"] - cell["keys", "was"] - cell["key", "were"] + cell["key", "was"]
    assert difference == pytest.approx(-0.8, abs=1e-6)


def test_the_plan_names_its_models_before_there_are_data(tmp_path: Path) -> None:
    made = stated(tmp_path / "pairs", PLAIN + '[analysis]\nengine = "lme4"\n')
    models = resolve_design_plan(made).models
    assert {(one.response, one.prompt, one.family) for one in models} == {("magnitude", "magnitude", "gaussian")}
    assert [(one.random, one.formula) for one in models if one.unit == "phenomenon"] == [
        ("intercepts", "magnitude ~ grammaticality + (1|participant) + (1|item)"),
        # A participant's mean is 0: there is no intercept by participant.
        ("slopes", "magnitude ~ grammaticality + (0 + grammaticality|participant) + (1|item) + (0 + grammaticality|item)"),
    ]
    crossed = resolve_design_plan(_crossed(tmp_path)).models
    assert {one.response for one in crossed} == {"magnitude"}
    assert {one.family for one in crossed} == {"gaussian"}
    assert crossed[0].formula == "magnitude ~ noun*verb + (1|participant) + (1|item)"
    declared = """[[analysis.models]]\nname = "own"\nformula = "magnitude ~ noun*verb + (1|participant) + (1|item)"
[analysis]\nsesoi = { magnitude = 0.3 }\n"""
    (own,) = resolve_design_plan(_crossed(tmp_path, declared)).models
    assert [effect.sesoi for effect in own.effects if effect.is_tested] == [0.3, 0.3, 0.3]
    assert "log magnitude estimate (z)" in "\n".join(describe_plan(resolve_design_plan(_crossed(tmp_path, declared))))


def test_models_and_report_are_those_of_the_column_made_by_hand(tmp_path: Path) -> None:
    made = _crossed(tmp_path)
    found = tables(made, effects=experiment.Effects(terms=made.simulate), participants=24)
    plan = resolve_design_plan(made)
    results = analysis.analyse(found, made.analysis, plan=plan)
    assert set(results["planned_models"]["plan_sha256"]) == {plan.sha256}
    effects = results["effects"]
    by_slopes = effects[(effects["response"] == "magnitude") & (effects["random"] == "intercepts")].set_index("term")
    rows = found["responses"].assign(log=found["responses"]["response"].astype(float).map(math.log))
    by = rows.groupby("participant")["log"]
    rows["y"] = (rows["log"] - by.transform("mean")) / by.transform("std")
    rows["noun"] = rows["noun"].map({"key": -0.5, "keys": 0.5})
    rows["verb"] = rows["verb"].map({"was": -0.5, "were": 0.5})
    hand = analysis.fit(rows[["participant", "item", "y", "noun", "verb"]], "y ~ noun*verb + (1|participant) + (1|item)")
    hand = hand.set_index("term")
    fitted = by_slopes[by_slopes["kind"] == "coefficient"].set_axis(hand.index)
    for name in ("estimate", "se", "p"):
        assert fitted[name].to_numpy() == pytest.approx(hand[name].to_numpy(), abs=1e-6), name
    html = analysis.report({**found, **results}, title="Numbers")
    assert "log magnitude estimate (z)" in html
