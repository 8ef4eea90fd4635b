"""gardenpath select and split as commands: what they write, print and refuse."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gardenpath import stimuli, study

from ..conftest import blocks, run_here

pytest.importorskip("highspy")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Forty items of two phenomena and two frequencies, with a table surprisal beside them."""
    random = np.random.default_rng(4)
    verbs = ["saw", "praised", "ignored", "remembered"]
    rows, scores = [], []
    for n in range(40):
        for condition in ("one", "two"):
            text = f"The person {n} [{random.choice(verbs)}] it{' again' if condition == 'two' else ''}."
            rows.append(
                (n, f"p{n % 4 // 2}", f"p{n % 4 // 2}", condition, "turn: one, two", text, ["low", "high"][n % 2], n % 7 / 10)
            )
            words = text.replace("[", "").replace("]", "").split()
            bits = random.gamma(2, 3, len(words)).round(2) + (condition == "two") * (n % 3)
            scores += [
                ("m", "default", str(n), condition, w, t, 1, None, b, b, None, None, None)
                for w, (t, b) in enumerate(zip(words, bits, strict=True))
            ]
    names = ["item", "paradigm", "phenomenon", "condition", "factors", "sentence", "frequency", "cloze"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "pool.csv", index=False)
    study.write(
        pd.DataFrame(scores, columns=study.TABLES["surprisal"].column_names), "surprisal", tmp_path / "scores", command="by hand"
    )
    return tmp_path


def test_a_choice_from_the_command_line(pool: Path) -> None:
    line = (
        "gardenpath select pool.csv --items 16 --between-items frequency --balance-on phenomenon --covariate cloze "
        "--covariate letters:critical=0.1 --covariate 'surprisal:up to critical=0.3' --scores scores -o chosen"
    )
    ran = run_here(line, pool)
    assert ran.code == 0, ran.said
    assert ran.printed.startswith("met: the widest difference of means is 0.")
    assert (
        "16 of 40 items were chosen so that 4 cells are alike in cloze, letters:critical and surprisal:up to critical"
        in ran.printed
    )
    chosen = stimuli.read(pool / "chosen" / "items.jsonl")
    assert len(chosen.items) == 16
    assert sum(item.extra["frequency"] == "high" for item in chosen.items) == 8
    table = study.read(pool / "chosen", "covariates")
    assert set(table.loc[table["selected"], "item"]) == {item.id for item in chosen.items}
    after = study.read(pool / "chosen", "matching").query("stage == 'after' and covariate == 'cloze'")
    assert after["standardised_difference"].abs().max() <= 0.05 + 1e-6
    assert (pool / "chosen" / "figures" / "matching.svg").exists()
    again = run_here(line, pool)
    assert again.code == 2
    assert "exists already" in again.said
    first = (pool / "chosen" / "items.jsonl").read_bytes()
    assert run_here(f"{line} --force", pool).code == 0
    assert (pool / "chosen" / "items.jsonl").read_bytes() == first


def test_a_file_says_the_same_and_what_is_impossible_is_explained(pool: Path) -> None:
    (pool / "selection.toml").write_text(
        'materials = ["pool.csv"]\nitems = 16\nbetween_items = ["frequency"]\nbalance_on = ["phenomenon"]\n'
        '[covariates]\n"letters:sentence" = {}\ncloze = { tolerance = 0.5 }\n'
    )
    ran = run_here("gardenpath select selection.toml -o chosen --json", pool)
    assert ran.code == 1
    certificate = json.loads(ran.printed)
    assert certificate["verdict"] == "infeasible"
    assert certificate["conflict"] == ["means of letters:sentence within 0.05 s.d."], "one of two conditions is a word longer"
    assert certificate["minimal"]
    assert not (pool / "chosen" / "items.jsonl").exists()
    (pool / "selection.toml").write_text('materials = ["pool.csv"]\nitems = 16\n[covariates]\ncloze = { tolerence = 1.0 }\n')
    ran = run_here("gardenpath select selection.toml -o chosen", pool)
    assert "key 'covariates.cloze.tolerence' is not known; did you mean 'tolerance'?" in ran.said


def test_expected_effects_and_their_power(pool: Path) -> None:
    ran = run_here(
        "gardenpath select pool.csv --items 12 --covariate letters:critical=0.6 --scores scores --maximise power --ms-per-bit 4 "
        "--source 10.1016/j.cognition.2013.02.013 --participants 8 --simulations 20 -o chosen",
        pool,
    )
    assert ran.code == 0, ran.said
    assert "Expected effect of turn in critical, second level less first: " in ran.printed
    assert "Power of 8 participants and 12 items: " in ran.printed
    whole = study.read(pool / "chosen", "expected_effects")
    assert len(whole) == 40
    flat = whole.loc[~whole["has_contrast"] & ~whole["selected"], "item"]
    assert flat.empty or f"in the rest of the pool: {len(flat)} item" in ran.said
    effects = whole[whole["selected"].astype(bool)]
    certificate = json.loads((pool / "chosen" / "certificate.json").read_text())
    assert certificate["value"] == pytest.approx(abs(effects["effect_ms"].mean()), abs=1e-6)
    assert certificate["value"] <= certificate["bound"] + 1e-6
    asked = "gardenpath select pool.csv --items 12 -o more --ms-per-bit"
    for more, said in (
        ("4 --source 10.1/x", "give --scores"),
        ("9000 --source 10.1/x --scores scores --participants 8", "is no part of the 350 ms that critical takes"),
    ):
        ran = run_here(f"{asked} {more}", pool)
        assert ran.code != 0
        assert said in ran.said
    assert (
        "--participants and --simulations are of an expected effect"
        in run_here("gardenpath select pool.csv --items 12 --participants 8 -o more", pool).said
    )
    ran = run_here("gardenpath select pool.csv --items 12 --maximise power --scores scores -o more --force", pool)
    assert "maximise = 'power' needs [effect]" in ran.said
    ran = run_here("gardenpath select pool.csv --items 12 --ms-per-bit 4 --source somewhere --scores scores -o more --force", pool)
    assert "expected the DOI" in ran.said


def test_lists_from_the_command_line(pool: Path) -> None:
    ran = run_here(
        "gardenpath split pool.csv --lists 4 --covariate cloze=0.15 --covariate letters:critical=0.3 --balance-on phenomenon -o lists",
        pool,
    )
    assert ran.code == 0, ran.said
    assert "40 items were dealt to 4 lists of 10" in ran.printed
    files = [stimuli.read(pool / "lists" / f"list-{n}.jsonl") for n in range(1, 5)]
    assert sorted(item.id for one in files for item in one.items) == sorted(map(str, range(40)))
    assert len(study.read(pool / "lists", "item_lists")) == 40


def test_the_file_of_the_docs_is_one(pool: Path) -> None:
    import tomllib

    from gardenpath.stimuli.selection.settings import build_settings

    block, _ = sorted(blocks(ROOT / "docs" / "selection.md", "toml"), key=lambda block: "covariates" not in block)
    asked = build_settings(tomllib.loads(block), stimuli.Selection, where="docs/selection.md")
    assert (asked.get_tolerance("letters:critical"), asked.get_spread("cloze"), asked.get_across("zipf:critical")) == (
        0.02,
        0.05,
        "cells",
    )


def test_design_says_how_alike_lists_are(study_folder: Path) -> None:
    ran = run_here("gardenpath design study.toml", study_folder)
    assert ran.code == 0, ran.said
    table = study.read(study_folder / "lists", "matching")
    assert {"lists", "conditions", "fillers and targets"} >= set(table["stage"])
    assert "lists: the widest difference is" in ran.said
    assert "conditions within a list: the widest difference is" in ran.said
    # By hand, from the lists as written: letters of the targets' sentences.
    import json

    means = {}
    for name in ("E1-L1", "E1-L2"):
        trial_list = json.loads((study_folder / "lists" / f"{name}.json").read_text())["trial_list"]
        texts = [
            shown[1]["text"] for trial in trial_list["trials"] if trial["role"] == "target" for shown in trial["shown_sentences"]
        ]
        means[name] = np.mean([sum(c.isalnum() for c in text) for text in texts])
    row = table.query("stage == 'lists' and group_a == 'E1-L1' and group_b == 'E1-L2' and covariate == 'letters:sentence'").iloc[0]
    assert [row["mean_a"], row["mean_b"]] == pytest.approx([means["E1-L1"], means["E1-L2"]])
