"""A folder for each paper of docs/papers.md in which the commands of its section run as they stand: small, made, of the paper's shape."""

import csv
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gardenpath import analysis, experiment, stimuli, study
from gardenpath.stimuli.drafting import reviews

from ..conftest import ROOT

NOUNS = ("dog", "cat", "goat", "bird", "horse", "fox")
PHENOMENA = {"agreement": ("in_pp", "in_clause"), "islands": ("wh", "adjunct"), "npi": ("ever", "any")}
PARADIGM = "in_pp"  # that more pairs are drafted of
# Of paradigms whose members differ in the order of their words, or in the critical word, and not in the cue.
OTHERWISE = {"wh": "order", "adjunct": "verb"}
LANGUAGES = {"nld": 1e6, "deu": 1e8, "eng": 1e9, "fin": 1e5, "eus": 1e4, "hye": 1e3}
MULTIBLIMP = [
    "sen",
    "wrong_sen",
    "prefix",
    "child",
    "verb",
    "head",
    "swap_head",
    "phenomenon",
    "lang",
    "grammatical_feature",
    "ungrammatical_feature",
    "wo",
    "inflect_item",
    "distance",
    "num_congruent_attractors",
    "num_incongruent_attractors",
]
STUDY = """
name = "made"
language = "en"
seed = 1

[materials]
files = ["ITEMS"]

[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2

[procedure.target]
show = "centred"
ask = ["rating"]

[procedure.tasks.rating]
kind = "rating"
prompt = "How good is it?"
low = "bad"
high = "good"
points = 7

[simulate.grammaticality]
log_rt = { critical = 0.12 }
rating = -1.5

[analysis]
spillover_regions = "cumulative"
covariates = []
remove_outliers = false
"""


# The pairs themselves, in many short lists.
CHOOSING = STUDY.replace('show = "centred"\nask = ["rating"]', 'show = "with_task"\nask = ["choice"]').replace(
    "lists = 2", 'trial = "pair"\nitems = 6\nshort_lists = { items_per_list = 3, ratings_per_item = 2 }'
)


def write(path: Path, rows: Iterable[Sequence[object]], separator: str = ",") -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)


def pairs(folder: Path, otherwise: Mapping[str, str] = OTHERWISE) -> None:
    """Write ITEMS, every other pair made by hand; their good members as a corpus; and what kind each paradigm is of."""
    rows, corpus = [], []
    for phenomenon, paradigms in PHENOMENA.items():
        for paradigm in paradigms:
            for k, noun in enumerate(NOUNS):
                good = f"{{the {noun}}} near the old {paradigm} house [sleeps] here and now ."
                bad = {
                    "order": f"{{the {noun}}} [sleeps] near the old {paradigm} house here and now .",
                    "verb": good.replace("[sleeps]", "[sleep]"),
                }.get(otherwise.get(paradigm, ""), good.replace(noun, f"{noun}s"))
                place, source = (paradigm, phenomenon, f"{paradigm}-{k}"), "hand" if k % 2 else "generated"
                rows += [(*place, "grammatical", good, source), (*place, "ungrammatical", bad, source)]
                corpus.append(good.translate(str.maketrans("", "", "[]{}")))
    write(folder / "ITEMS", [("paradigm", "phenomenon", "item", "condition", "sentence", "source"), *rows])
    for name in ("corpus.txt", "FILE"):
        (folder / name).write_text("\n".join(corpus) + "\n", encoding="utf-8")
    kinds = [(name, "attractor", kind) for two in PHENOMENA.values() for name, kind in zip(two, ("none", "near"), strict=True)]
    write(folder / "groups.csv", [("paradigm", "factor", "level"), *kinds])


def take(folder: Path, text: str, *places: str) -> None:
    """Write STUDY, and in each place what six simulated people do in it, of short lists in three each."""
    (folder / "STUDY").write_text(text, encoding="utf-8")
    plan = study.load(folder / "STUDY")
    list_files, effects = experiment.build_list_files(plan), experiment.Effects(terms=plan.simulate)
    for seed, place in enumerate(places, start=1):
        experiment.simulate(list_files, folder / place, participants=6, sessions=3, seed=seed, effects=effects)


def blimp_nl(folder: Path) -> None:
    """With what a chat model answered when asked for more pairs, and what a person decided about the first."""
    pairs(folder, {})
    take(folder, STUDY, "A", "B")
    good = f"the cook near the old {PARADIGM} house sleeps here and now ."
    (folder / "answer.txt").write_text(f"Correct: {good}\nIncorrect: {good.replace('cook', 'cooks')}\n", encoding="utf-8")
    ticks = dict.fromkeys(reviews.TICK_MEANINGS, True)
    accepted = reviews.Decision("2026-01-01T00:00:00+00:00", "Ann", f"{PARADIGM}-draft-001", "accept", ticks)
    reviews.append_decision(folder / "drafts" / "reviews.jsonl", accepted)


def blimp(folder: Path) -> None:
    """With people's choices, and what another program says of a model at three sizes of its training data."""
    pairs(folder)
    take(folder, CHOOSING, "A")
    chance, shown = random.Random(1), stimuli.read(folder / "ITEMS").items
    runs = {"lstm-1M": 1, "lstm-2M": 2, "lstm-4M": 4, "lstm": 83}
    for name, size in runs.items():
        scores = [
            (item.id, condition, -30 + chance.gauss(size / 40 * (condition == "grammatical"), 1))
            for item in shown
            for condition in item.sentences
        ]
        write(folder / f"{name}.csv", [("item", "condition", "lp"), *scores])
    write(folder / "runs.csv", [("model", "tokens"), *((name, size * 1e6) for name, size in runs.items())])


def ide(folder: Path) -> None:
    """With people's choices, as BLiMP's are."""
    pairs(folder)
    take(folder, CHOOSING, "A")
    results = analysis.analyse(experiment.collect(folder / "A"))
    for table in ("choice_agreement", "rating_scores"):
        study.write(results[table], table, folder / "R", command="")


def multiblimp(folder: Path) -> None:
    """Agreement in six languages, in the columns of the published tables, and the treebank of the examples."""
    for name in ("ud", "unimorph"):
        shutil.copytree(ROOT / "examples" / "agreement-pairs" / name, folder / name.upper())
    rows, corpus = [], []
    for rank, language in enumerate(sorted(LANGUAGES, key=LANGUAGES.__getitem__)):
        for k, noun in enumerate(NOUNS):
            prefix = f"{'near the house ' * (k % 3)}{language} {noun}"
            verb, other = ("sleeps", "sleep") if (k + rank) % 2 else ("sleep", "sleeps")
            phenomenon = "SV-#" if k % 3 else "SV-P"
            rows.append((
                f"{prefix} {verb} here .", f"{prefix} {other} here .", prefix, noun, verb, verb, other, phenomenon, language, "SG",
                "PL", "SV", "verb", 1 + 3 * (k % 3), k % 2, k % 3,
            ))  # fmt: skip
            corpus += [f"{prefix} {verb} here ."] * (k <= rank)  # the more of a language, the better the model
    write(folder / "ITEMS", [("", *MULTIBLIMP), *((n, *row) for n, row in enumerate(rows))], "\t")
    (folder / "corpus.txt").write_text("\n".join(corpus) + "\n", encoding="utf-8")
    write(
        folder / "languages.csv", [("language", "frequency", "family"), *((name, often, "") for name, often in LANGUAGES.items())]
    )


FOLDERS = {"BLiMP-NL": blimp_nl, "BLiMP": blimp, "Ide": ide, "MultiBLiMP": multiblimp}
