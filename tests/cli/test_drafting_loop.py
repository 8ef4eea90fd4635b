"""From pairs made by hand to reviewed, normed and dealt ones, with made answers, as docs/drafting.md shows."""

from pathlib import Path

import pandas as pd

from gardenpath import stimuli, study
from gardenpath.cli.review_page import Review
from gardenpath.stimuli.drafting.reviews import TICK_MEANINGS, build_queue

from ..conftest import run_here
from .test_draft import ITEMS, NOUNS, said


def reviewed(draft: Path, who: str, dropped: str) -> None:
    """Somebody drops one pair, and what was planted."""
    review = Review("t", who, build_queue(stimuli.read(draft), who), draft.with_name("reviews.jsonl"))
    for entry in review.build_state()["pairs"]:
        drop = entry["id"] == dropped or entry["id"].startswith("planted")
        action = {"action": "drop", "reason": "odd"} if drop else {"action": "accept"}
        review.add_decision(
            {**action, "item": entry["id"], "condition": "", "ticks": dict.fromkeys(TICK_MEANINGS, True), "seen": 0}
        )


def test_pairs_go_from_two_by_hand_to_lists(tmp_path: Path) -> None:
    def done(line: str) -> str:
        ran = run_here(f"gardenpath {line}", tmp_path)
        assert ran.code == 0, ran.said
        return ran.said

    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "answer.txt").write_text(said(NOUNS))
    done("draft items.csv --paradigm number -n 10 --paste answer.txt --model some-chat -o d")
    for who in ("Ann", "Bob"):
        reviewed(tmp_path / "d" / "draft.jsonl", who, "number-draft-002")
    done("review d/draft.jsonl --write kept.jsonl")
    rule = "--keep 'acceptability >= 5 in grammatical'"
    done(f"norm items.csv kept.jsonl --task acceptability --responses-per-sentence 4 {rule} --list-items 4 --seed 1 -o n")
    done("simulate n/study.toml --participants 24 --seed 1 -o n/data")
    done("norm n --results n/data -o results")
    counts = study.read(tmp_path / "d", "drafting").set_index(["step", "reason"])["n_pairs"]
    assert (counts["parsed", "none"], counts["accepted", "none"], counts["dropped", "odd"]) == (10, 9, 1)
    decided = study.read(tmp_path / "results", "norm_decisions").set_index("item")["kept"]
    assert len(decided) == 2 + 9
    assert 0 < decided.sum() < 11
    final = stimuli.read(tmp_path / "results" / "items.jsonl").items
    assert {item.id for item in final} == set(decided[decided].index)
    drafts = [item for item in final if item.extra.get("origin") == "draft"]
    assert drafts
    assert {(item.extra["model"], item.extra["reviewers"]) for item in drafts} == {("some-chat", "Ann, Bob")}
    done("new main --kind rating --items results/items.jsonl")
    done("design main/study.toml -o lists")
    done("simulate main/study.toml --participants 4 --seed 1 -o main/data")
    done("collect main/data -o main/tables")
    done("review d/draft.jsonl --agreement")
    done("report main/study.toml --items-from d --items-from results --no-figures -o main/report.html")
    page = (tmp_path / "main" / "report.html").read_text()
    for sentence in (
        "some-chat drafted pairs of 1 paradigm in a chat",
        "Ann and Bob agree on keeping a pair in 100.0% of 10 pairs",
        "by the rule acceptability &gt;= 5 in grammatical, stated before the first answer",
        "simulated norms",
    ):
        assert sentence in page.replace("\u00a0", " "), sentence
    assert len(pd.read_csv(tmp_path / "main" / "report-tables" / "item_origins.csv")) == len(final)
    empty = run_here("gardenpath report main/study.toml --items-from main/tables --force -o main/report.html", tmp_path)
    assert "no table of drafts, reviews or norms there" in empty.said
