"""gardenpath norm, from items to a study that robots take, to norms, decisions and new items."""

from pathlib import Path

import pytest

from gardenpath import experiment, stimuli, study

from ..conftest import ROOT, run_here

GERMAN = """paradigm,phenomenon,item,condition,sentence,language,factors
ort,ort,i1,eng,Zum Frühstück schnitt er das frische [Brot] in Scheiben.,de,"kontext: eng, weit"
ort,ort,i1,weit,Im Zimmer lag noch das frische [Brot] auf dem Tisch.,de,
ort,ort,i2,eng,Der Briefträger brachte am Morgen den [Brief] für die Nachbarin.,de,
ort,ort,i2,weit,Die alte Frau fand am Morgen den [Brief] für die Nachbarin.,de,
ort,ort,i3,eng,Der Hund vergrub im Garten den [Knochen] unter der Hecke.,de,
ort,ort,i3,weit,Der Mann suchte im Garten den [Knochen] unter der Hecke.,de,
ort,ort,i4,eng,Im Winter fiel in den Bergen viel [Schnee] auf die Straße.,de,
ort,ort,i4,weit,Im Film sah man am Ende viel [Schnee] auf der Straße.,de,
ort,ort,i5,eng,Die Bäckerin buk zum Geburtstag einen [Kuchen] mit Sahne.,de,
ort,ort,i5,weit,Die Lehrerin zeichnete am Morgen einen [Kuchen] mit Sahne.,de,
"""
MADE = (
    "gardenpath norm items.csv --task cloze --responses-per-sentence 6 --keep 'cloze < 0.1 in weit' --keep 'cloze.ci_high >= 0.1 in eng' "
    "--seed 3 -o norming"
)


@pytest.fixture(scope="module")
def normed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """German items, normed by robots."""
    folder = tmp_path_factory.mktemp("norm")
    (folder / "items.csv").write_text(GERMAN, encoding="utf-8")
    for line in (MADE, "gardenpath simulate norming/study.toml --participants 20 --seed 1 -o norming/data"):
        assert (ran := run_here(line, folder)).code == 0, ran.said
    return folder


def test_the_study_is_dealt_and_shows_fragments(normed: Path) -> None:
    made = run_here("gardenpath design norming/study.toml -o lists", normed)
    assert "10 short lists of 6" not in made.printed
    assert "12 short lists of 5, 60 judgments; 5 items with 12 participants each; 6 of them eng; 6 of them weit" in made.printed
    assert "0 short lists with an item twice" in made.printed
    [file] = experiment.build_list_files(study.load(normed / "norming"))
    shown = {
        screen.above.text  # type: ignore[union-attr]
        for step, trial in zip(file.script.trials, file.trial_list.trials, strict=True)
        for screen in step.screens
        if trial.role == "target"
    }
    assert len(shown) == 10
    assert "Der Hund vergrub im Garten den" in shown
    assert "holds something already" in run_here(MADE, normed).said


def test_norms_are_those_of_the_answers_and_items_are_kept_by_the_rule(normed: Path) -> None:
    ran = run_here("gardenpath norm norming --results norming/data -o results", normed)
    assert ran.code == 0, ran.said
    assert "12 readers went on with the fragments of 10 sentences of 5 items, 6 answers each." in ran.printed
    assert "The rule was stated before the first answer: its hash" in ran.printed
    norms = study.read(normed / "results", "norms").set_index(["item", "condition"])
    responses = experiment.collect(normed / "norming" / "data")["responses"]
    targets = responses[responses["role"] == "target"].groupby(["item", "condition"])["response"]
    for place, answers in targets:
        words = [answer.strip(".,").casefold() for answer in answers]
        assert norms.loc[place, "value"] == words.count(norms.loc[place, "target"].casefold()) / 6
    decided = study.read(normed / "results", "norm_decisions").set_index("item")["kept"]
    wide, narrow = norms.xs("weit", level="condition"), norms.xs("eng", level="condition")
    expected = (wide["value"] < 0.1) & (narrow["ci_high"] >= 0.1)
    assert decided.to_dict() == expected.to_dict()
    assert 0 < decided.sum() < 5
    kept = stimuli.read(normed / "results" / "items.jsonl").items
    assert [item.id for item in kept] == list(decided.index[decided])
    assert all(float(i.extra["cloze (weit)"]) == pytest.approx(wide.loc[i.id, "value"], abs=1e-3) for i in kept)
    assert all("cloze_shrunken (eng)" in item.extra for item in kept)
    page = (normed / "results" / "results.md").read_text()
    assert all(f"| {item} | ort | cloze" in page for item in decided.index[~decided])
    assert "--force" in run_here("gardenpath norm norming --results norming/data -o results", normed).said


def test_a_grouping_that_somebody_edited_is_read_back(normed: Path, tmp_path: Path) -> None:
    line = "gardenpath norm norming --results norming/data -o {}"
    run_here(line.format(tmp_path / "before"), normed)
    table = study.read(tmp_path / "before", "cloze_responses")
    table["form"] = "Brot"
    study.write(table, "cloze_responses", tmp_path / "edited", command="by hand")
    semicolons = (tmp_path / "edited" / "cloze_responses.csv").read_text().replace(",", ";")  # as a spreadsheet may save it
    (tmp_path / "edited" / "cloze_responses.csv").write_text("\ufeff" + semicolons, "utf-8")
    (tmp_path / "lemmas.csv").write_text("form,lemma\nBrot,Brot\nBrote,Brot\n")
    edited = f"--grouping {tmp_path}/edited/cloze_responses.csv --lemmas {tmp_path}/lemmas.csv"
    ran = run_here(f"{line.format(tmp_path / 'after')} {edited}", normed)
    assert ran.code == 0, ran.said
    forms = study.read(tmp_path / "after", "cloze")
    assert forms[["form", "lemma", "probability"]].drop_duplicates().values.tolist() == [["Brot", "Brot", 1.0]]
    norms = study.read(tmp_path / "after", "norms").set_index(["item", "condition"])
    assert norms["value"].to_dict() == {place: float(place[0] == "i1") for place in norms.index}


def test_a_rule_changed_after_the_data_is_told_and_so_is_what_tables_cannot_tell(normed: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(normed / "norming", tmp_path / "norming")
    stated = tmp_path / "norming" / "norm.toml"
    stated.write_text(stated.read_text().replace("0.1 in weit", "0.4 in weit"))
    ran = run_here("gardenpath norm norming --results norming/data -o results", tmp_path)
    assert "THE RULE WAS NOT STATED BEFORE THE DATA" in ran.printed
    assert study.files.read_sidecar(tmp_path / "results" / "norms.csv")["stated_before_data"] is False
    assert run_here("gardenpath collect norming/data -o tables", tmp_path).code == 0
    ran = run_here("gardenpath norm norming --results tables -o by_tables", tmp_path)
    assert "cannot be told from tables" in ran.printed
    assert (tmp_path / "by_tables" / "norms.csv").read_bytes() == (tmp_path / "results" / "norms.csv").read_bytes()


def test_ratings_have_means_and_a_language_without_texts_is_to_be_translated(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(GERMAN.replace(",de,", ",fi,"), encoding="utf-8")
    line = "gardenpath norm items.csv --task plausibility --responses-per-sentence 4 --keep 'plausibility.ci_low >= 2' --list-items 4 --seed 1 -o n"
    made = run_here(line, tmp_path)
    assert made.code == 0, made.said
    assert (tmp_path / "n" / "texts.toml").exists()
    assert run_here("gardenpath simulate n/study.toml --participants 12 --seed 1 -o n/data", tmp_path).code == 0
    ran = run_here("gardenpath norm n --results n/data -o results", tmp_path)
    assert ran.code == 0, ran.said
    responses = experiment.collect(tmp_path / "n" / "data")["responses"]
    ratings = responses[responses["role"] == "target"].astype({"response": float}).groupby(["item", "condition"])["response"]
    norms = study.read(tmp_path / "results", "norms").set_index(["item", "condition"])
    assert norms["value"].round(9).to_dict() == ratings.mean().round(9).to_dict()
    assert set(norms["n_valid_responses"]) == {4}
    refused = run_here("gardenpath norm n --results n/data -o other --model pocket", tmp_path)
    assert (refused.code, "belong to cloze; this study asks for plausibility" in refused.said) == (2, True)


@pytest.mark.lm
def test_a_model_stands_beside_people_and_new_items_take_the_place_of_the_dropped(tmp_path: Path) -> None:
    from ..lmscore.conftest import gpt2

    gpt2(tmp_path / "model")
    grammar = ROOT / "examples" / "grammar" / "agreement.toml"
    for line in (
        f"gardenpath generate {grammar} -n 30 --paradigm reflexive_number --seed 1 --brief -o pool.jsonl",
        "gardenpath norm pool.jsonl --task cloze --responses-per-sentence 6 --sample 10 --keep 'cloze >= 0.1' --seed 2 -o n",
        "gardenpath simulate n/study.toml --participants 20 --seed 1 -o n/data",
    ):
        assert (ran := run_here(line, tmp_path)).code == 0, ran.said
    (tmp_path / "corpus.txt").write_text("A dog barks.\n")
    line = f"gardenpath norm n --results n/data -o r --model model --no-cache --device cpu --replacements-from {grammar} --seed 5"
    ran = run_here(f"{line} --model ngram:corpus.txt:2", tmp_path)
    assert ran.code == 1  # once all else is written
    assert "1 of 2 models could not be used" in ran.said
    beside = study.read(tmp_path / "r", "norms_by_model")
    assert len(beside) == 20
    assert beside["model_value"].between(0, 1).all()
    kept = beside.groupby("item")["model_value"].min() >= 0.1
    assert beside.groupby("item")["kept_by_model"].first().to_dict() == kept.to_dict()
    means = study.read(tmp_path / "r", "norm_means")
    assert (means["n_items"].tolist(), means["n_other_items"].tolist()) == ([10, 10], [20, 20])
    assert (means["predicted_ci_low"] < means["predicted_ci_high"]).all()
    assert "prediction-powered by" in ran.printed
    dropped = (~study.read(tmp_path / "r", "norm_decisions")["kept"]).sum()
    new = stimuli.read(tmp_path / "r" / "new.jsonl").items
    assert len(new) == dropped > 0
    normed_or_not = {s.text for item in stimuli.read(tmp_path / "pool.jsonl").items for s in item.sentences.values()}
    assert normed_or_not.isdisjoint(s.text for item in new for s in item.sentences.values())
    assert f"For {dropped} items dropped there are {dropped} new ones of agreement.toml, drawn with seed 5" in ran.printed
    again = "gardenpath norm r/new.jsonl --task cloze --responses-per-sentence 6 --seed 2 -o again"
    assert run_here(again, tmp_path).code == 0


def test_the_lab_refuses_the_code_of_a_reader_of_the_norming(normed: Path, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(GERMAN, encoding="utf-8")
    assert run_here("gardenpath new main --kind rating --language de --items items.csv", tmp_path).code == 0
    stated = tmp_path / "main" / "study.toml"
    online = f'[online]\nexcluded_participants = ["{(normed / "norming" / "data").as_posix()}"]'
    stated.write_text(stated.read_text("utf-8").replace("[online]", online), "utf-8")
    ran = run_here("gardenpath lab main/study.toml --participant sim-0001 -o data", tmp_path)
    assert ran.code == 1
    assert "participant sim-0001 took part in" in ran.said
    assert not (tmp_path / "data").exists()


REFUSED = {
    "without a task": ("norm items.csv -o x", "--task is missing; expected one of cloze, plausibility, acceptability"),
    "results' options without results": ("norm items.csv --task cloze --model pocket -o x", "--model belongs to results"),
    "the study's options with results": ("norm n --results data --keep 'cloze < 1' -o x", "--keep is stated when the study"),
    "a rule on another measure": ("norm items.csv --task cloze --keep 'z < 1' -o x", "expected a rule on cloze or entropy"),
    "a rule on no condition": ("norm items.csv --task cloze --keep 'cloze < 1 in x' -o x", "expected one of eng, weit"),
    "longer lists than items": ("norm items.csv --task cloze --list-items 6 -o x", "6 items a list of 5; expected 1 to 5"),
    "no region": ("norm items.csv --task cloze --fragment-end verb -o x", "has no region 'verb', at which it would be cut"),
    "no study": ("norm nothing --results data -o x", "nothing"),
}


@pytest.mark.parametrize(("line", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_normed_is_refused_and_leaves_nothing(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "items.csv").write_text(GERMAN, encoding="utf-8")
    ran = run_here(f"gardenpath {line} --seed 1", tmp_path)
    assert ran.code != 0
    assert message in ran.said
    assert not (tmp_path / "x").exists()
