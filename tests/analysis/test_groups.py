"""Accuracy on groups of paradigms: BLiMP's published figures from its released accuracies, and a plain loop."""

import json
from pathlib import Path

import pandas as pd
import pytest

from gardenpath import stimuli
from gardenpath.analysis import compute_accuracy, compute_group_accuracies, compute_usable_phenomena
from gardenpath.analysis.reporting.wording import minimal_pairs
from gardenpath.study import TABLES, DataError, check

from ..conftest import run_here

DETERMINERS = [f"determiner_noun_agreement_{k}" for k in ("1", "2", "irregular_1", "irregular_2")]
WITH_ADJECTIVE = [f"determiner_noun_agreement_with_{k}" for k in ("adj_2", "adjective_1", "adj_irregular_1", "adj_irregular_2")]
VERBS = [f"{kind}_plural_subject_verb_agreement_{k}" for kind in ("regular", "irregular") for k in (1, 2)]
GROUPS = {
    ("adjective", "without"): DETERMINERS,
    ("adjective", "with"): WITH_ADJECTIVE,
    ("attractor", "none"): VERBS,
    ("attractor", "relational noun"): ["distractor_agreement_relational_noun"],
    ("attractor", "relative clause"): ["distractor_agreement_relative_clause"],
    ("form", "regular"): [*DETERMINERS[:2], *WITH_ADJECTIVE[:2], *VERBS[:2]],
    ("form", "irregular"): [*DETERMINERS[2:], *WITH_ADJECTIVE[2:], *VERBS[2:]],
}
SHUFFLING = [  # the twelve paradigms of Ide et al. 2025
    "adjunct_island",
    "complex_NP_island",
    "coordinate_structure_constraint_complex_left_branch",
    "ellipsis_n_bar_1",
    "existential_there_quantifiers_2",
    "left_branch_island_echo_question",
    "left_branch_island_simple_question",
    "only_npi_scope",
    "principle_A_domain_3",
    "principle_A_reconstruction",
    "sentential_negation_npi_scope",
    "sentential_subject_island",
]


@pytest.fixture(scope="module")
def groups() -> pd.DataFrame:
    rows = [(paradigm, *group) for group, paradigms in GROUPS.items() for paradigm in paradigms]
    return pd.DataFrame(rows, columns=["paradigm", "factor", "level"])


@pytest.fixture(scope="module")
def people(real_data: Path) -> pd.DataFrame:
    released = pd.read_csv(real_data / "blimp-released" / "human_validation_summary.csv")
    return released.rename(columns={"Condition": "paradigm", "total_mean": "accuracy"})[["paradigm", "accuracy"]]


@pytest.fixture(scope="module")
def released(real_data: Path) -> pd.DataFrame:
    """A thousand pairs a paradigm and model, as many won as its released accuracy says."""
    rows = []
    for line in (real_data / "blimp-released" / "models_summary.jsonl").read_text().splitlines():
        record = json.loads(line)
        for model in ("ngram", "lstm", "txl", "gpt2") if record["UID"] != "overall" else ():
            wins = round(1000 * record[model])
            rows += [
                (model, "p", record["linguistics_term"], record["UID"], f"{record['UID']}-{k}", "lp", -1.0, -2.0, k < wins)
                for k in range(1000)
            ]
    frame = pd.DataFrame(rows, columns=TABLES["pairs"].column_names[:9]).assign(tie=False)
    return check(frame, "pairs")


@pytest.mark.data
def test_the_figures_of_blimp_come_from_its_released_accuracies(
    released: pd.DataFrame, groups: pd.DataFrame, people: pd.DataFrame
) -> None:
    """Its figures 3 and 4: adjectives between determiner and noun, attractors, irregular forms."""
    table = compute_group_accuracies(released, groups, people).set_index(["factor", "level", "model"])
    assert table.loc[("adjective", "without", "ngram"), "mean_accuracy"] == pytest.approx(0.876, abs=5e-4)
    assert table.loc[("adjective", "with"), "difference"].round(3).to_dict() == {
        "ngram": -0.351, "lstm": -0.048, "txl": -0.053, "gpt2": -0.021,
    }  # fmt: skip
    attractors = table.loc["attractor"].pivot_table("mean_accuracy", "level", "model").round(3)
    assert attractors.loc["none"].to_dict() == {"ngram": 0.792, "lstm": 0.854, "txl": 0.797, "gpt2": 0.932}
    assert attractors.loc["relational noun"].to_dict() == {"ngram": 0.235, "lstm": 0.76, "txl": 0.772, "gpt2": 0.795}
    assert attractors.loc["relative clause"].to_dict() == {"ngram": 0.217, "lstm": 0.627, "txl": 0.598, "gpt2": 0.657}
    asked = table.loc["attractor"].groupby("level")["human_accuracy"].first()
    assert asked.to_dict() == pytest.approx({"none": 0.948, "relational noun": 0.81, "relative clause": 0.857}, abs=6e-4)
    told = minimal_pairs.group_accuracies(compute_group_accuracies(released, groups, people))
    assert "lstm (p), lp, by form: 88.0% at regular, 82.8% at irregular (−5.2 points; people −4.5)." in told
    irregular = table.loc[("form", "irregular")]
    assert irregular["difference"].round(3).drop("ngram").to_dict() == {"lstm": -0.052, "txl": -0.013, "gpt2": -0.023}
    assert irregular["human_difference"].iloc[0] == pytest.approx(-0.045, abs=5e-4)


@pytest.mark.data
def test_the_twelve_word_shuffling_paradigms_are_those_of_ide_et_al(real_data: Path, people: pd.DataFrame) -> None:
    materials = stimuli.read(*sorted((real_data / "blimp").glob("*.jsonl")))
    groups = stimuli.group_items(materials, ["word_shuffling"])
    paradigm = {item.id: item.paradigm for item in materials.items}
    shuffled = {paradigm[item] for item in groups.loc[groups["level"] == "shuffled", "item"]}
    assert sorted(shuffled) == SHUFFLING
    asked = people.set_index("paradigm")["accuracy"].drop("overall", errors="ignore").reindex({*paradigm.values()})
    assert asked[[*shuffled]].mean() == pytest.approx(0.8312, abs=5e-5)
    assert asked.drop([*shuffled]).mean() == pytest.approx(0.8974, abs=5e-5)


def some_pairs() -> pd.DataFrame:
    outcomes = {"p1": "++=-", "p2": "+---", "p3": "++++"}
    rows = [
        (model, "p", "f", paradigm, f"{paradigm}-{k}", "lp", -1.0, -1.0 - (sign == "+") + (sign == "-"), sign == "+", sign == "=")
        for model in ("a", "b") for paradigm, signs in outcomes.items()
        for k, sign in enumerate(signs if model == "a" else signs[::-1])
    ]  # fmt: skip
    return check(pd.DataFrame(rows, columns=TABLES["pairs"].column_names[:-1]), "pairs")


def test_means_of_items_groups_by_hand() -> None:
    pairs = some_pairs()
    level = {item: "odd" if int(item[-1]) % 2 else "even" for item in pairs["item"].unique()}
    groups = pd.DataFrame({"item": level.keys(), "factor": "half", "level": level.values()})
    table = compute_group_accuracies(pairs, groups)
    for row in table.itertuples():
        by_paradigm: dict[str, list[float]] = {}
        for pair in pairs[pairs["model"] == row.model].itertuples():
            if level[pair.item] == row.level:
                by_paradigm.setdefault(pair.paradigm, []).append(0.5 if pair.tie else float(pair.correct))
        means = [sum(won) / len(won) for won in by_paradigm.values()]
        assert row.mean_accuracy == pytest.approx(sum(means) / len(means))
        assert row.accuracy == pytest.approx(sum(map(sum, by_paradigm.values())) / 6)
        assert (row.n_pairs, row.n_paradigms) == (6, 3)
    assert table.groupby("model")["difference"].first().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"paradigm": ["p9"], "factor": ["x"], "level": ["y"]}, "the groups name paradigm 'p9', which the pairs do not"),
        ({"name": ["p1"], "factor": ["x"], "level": ["y"]}, "groups have the columns name, factor, level; expected paradigm"),
        ({"paradigm": ["p1"] * 2, "factor": ["x"] * 2, "level": ["y", "z"]}, "paradigm 'p1' is at 2 levels of factor 'x'"),
    ],
)
def test_groups_that_do_not_fit_are_named(frame: dict[str, list[str]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        compute_group_accuracies(some_pairs(), pd.DataFrame(frame))


def test_phenomena_are_left_out_for_the_three_reasons_of_blimp_nl() -> None:
    shares = {"known": (0.99, 0.98, 0.6), "shallow": (0.9, 0.7, 0.96), "unclear": (0.9, 0.8, 0.5), "good": (0.9, 0.8, 0.5)}
    rows = [
        (model, "lp", phenomenon, "pooled", share)
        for phenomenon, of_models in shares.items()
        for model, share in zip(("a", "b", "5-gram"), of_models, strict=True)
    ]
    accuracies = pd.DataFrame(rows, columns=["model", "measure", "phenomenon", "paradigm", "accuracy"])
    effects = {"known": (0.9, 0.001), "shallow": (0.9, 0.001), "unclear": (0.1, 0.2), "good": (0.8, 0.01)}
    people = pd.DataFrame(
        [("phenomenon", name, "z", "intercepts", "grammaticality", *effect) for name, effect in effects.items()],
        columns=["unit", "model", "response", "random", "term", "estimate", "p_adjusted"],
    )
    alone = compute_usable_phenomena(accuracies, people).set_index("phenomenon")["min_accuracy"]
    assert alone.to_dict() == {name: min(of_models) for name, of_models in shares.items()}
    table = compute_usable_phenomena(accuracies, people, baseline="5-gram").set_index("phenomenon")
    assert table["is_usable"].to_dict() == {"known": False, "shallow": False, "unclear": False, "good": True}
    assert table["reason"].fillna("").to_dict() == {
        "known": "every model wins 97 % of its pairs",
        "shallow": "5-gram wins 95 % of its pairs",
        "unclear": "people's ratings do not differ",
        "good": "",
    }


def test_evaluate_writes_accuracies_by_a_file_and_by_columns(tmp_path: Path) -> None:
    lines = ["sentence_good,sentence_bad,paradigm,source"]
    for paradigm in ("cats", "dogs"):
        lines += [f"the {paradigm} sleep well,the {paradigm} sleeps well,{paradigm},{s}" for s in ("hand", "model")]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    (tmp_path / "corpus.txt").write_text("the cats sleep well\nthe dogs sleep well\nshe sleeps well\n")
    (tmp_path / "groups.csv").write_text("paradigm,factor,level\ncats,animal,cat\ndogs,animal,dog\n")
    call = "gardenpath evaluate pairs.csv --model ngram:corpus.txt:2 --no-cache -o out"
    done = run_here(f"{call} --groups groups.csv --split-by source", tmp_path)
    assert done.code == 0, done.said
    table = pd.read_csv(tmp_path / "out" / "group_accuracies.csv")
    assert table[["factor", "level", "n_pairs"]].to_numpy().tolist() == [
        ["animal", "cat", 2], ["animal", "dog", 2], ["source", "hand", 2], ["source", "model", 2],
    ]  # fmt: skip
    assert compute_accuracy(pd.read_csv(tmp_path / "out" / "pairs.csv"))["accuracy"].iloc[0] == 1
    wrong = run_here(f"{call} --split-by origin --force", tmp_path)
    assert wrong.code == 1
    assert "no item has a column 'origin'; expected word_shuffling, language or one of theirs: source" in wrong.said
