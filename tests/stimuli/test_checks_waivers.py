"""A waiver changes a finding's severity and keeps it visible; summaries and shortened lists count every finding."""

from dataclasses import replace
from pathlib import Path

import pytest

from gardenpath import stimuli, study
from gardenpath.stimuli import Finding, Item, Materials, Paradigm, Sentence
from gardenpath.stimuli.findings import FindingSummary, collapse_findings, summarise_findings
from gardenpath.stimuli.formats import marked_csv

HEADER = "paradigm,phenomenon,item,condition,sentence"


def materials(waivers: dict[str, str]) -> Materials:
    texts = {"grammatical": "{No} man had [ever] come to us.", "ungrammatical": "{The} man has [ever] come to us."}
    item = Item("i1", "p", {name: Sentence(*marked_csv.parse_marked_sentence(text)) for name, text in texts.items()})
    return Materials((Paradigm("p", "f", waivers=waivers),), (item,))


def test_a_waived_finding_stays_visible_with_its_reason() -> None:
    (finding,) = stimuli.check(materials({"word-before": "tense is varied"}), rules="blimp-nl")
    assert (finding.rule, finding.severity, finding.waiver) == ("word-before", "waived", "tense is varied")
    assert str(finding).endswith("expected the same word (waived: tense is varied)")


def test_a_waiver_holds_for_its_own_paradigm_only() -> None:
    one = materials({"word-before": "tense is varied"})
    other = Materials((Paradigm("q", "f"),), tuple(replace(item, id="i2", paradigm="q") for item in one.items))
    both = Materials(one.paradigms + other.paradigms, one.items + other.items)
    found = {(f.paradigm, f.severity) for f in stimuli.check(both) if f.rule == "word-before"}
    assert found == {("p", "waived"), ("q", "warning")}


@pytest.mark.parametrize(
    ("name", "severity", "message"),
    [
        ("word-befor", "error", "a waiver names the rule 'word-befor', which is not known; did you mean 'word-before'?"),
        ("xyz", "error", "a waiver names the rule 'xyz', which is not known; expected one of region-missing, "),
        ("spacing", "note", "the waiver of spacing waived nothing; it can be left out"),
    ],
)
def test_an_unknown_or_idle_waiver_is_told(name: str, severity: str, message: str) -> None:
    (finding,) = [f for f in stimuli.check(materials({name: "why"})) if f.rule == "waiver"]
    assert (finding.severity, finding.paradigm, finding.item) == (severity, "p", "")
    assert finding.message.startswith(message)


def test_waivers_of_a_source_file_are_read_from_any_row_and_written_back(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text(
        f"{HEADER},waive\n"
        "p,f,i1,grammatical,{No} man had [ever] come to us.,\n"
        "p,f,i1,ungrammatical,{The} man has [ever] come to us.,word-before: tense: varied | balance: by design\n"
    )
    read = stimuli.read(path)
    assert read.find_paradigm("p").waivers == {"word-before": "tense: varied", "balance": "by design"}
    for name in ("again.csv", "again.jsonl"):
        assert stimuli.write(read, tmp_path / name) == []
        assert stimuli.read(tmp_path / name) == read


def test_a_reason_that_a_cell_cannot_hold_is_listed_as_lost(tmp_path: Path) -> None:
    assert stimuli.write(materials({"balance": "a | b"}), tmp_path / "a.csv") == ["waivers of paradigm p"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("balance", ""), "line 2: i1 (grammatical): waive is 'balance'; expected  rule: reason"),
        (("balance: a", "balance: b"), "line 3: i1 (ungrammatical): the waiver of balance gives the reason 'b', but 'a' above"),
    ],
)
def test_a_waiver_without_a_reason_or_with_two_is_a_fault(tmp_path: Path, cells: tuple[str, str], message: str) -> None:
    path = tmp_path / "items.csv"
    rows = [f"p,f,i1,{c},A man [came].,{cell}" for c, cell in zip(("grammatical", "ungrammatical"), cells, strict=True)]
    path.write_text("\n".join([f"{HEADER},waive", *rows, ""]))
    with pytest.raises(study.DataError) as caught:
        stimuli.read(path)
    assert message in str(caught.value)


def findings(rule: str, severity: stimuli.findings.Severity, n: int, paradigm: str = "p") -> list[Finding]:
    return [Finding(rule, severity, "a.csv", line, paradigm, f"i{line}", "", "wrong") for line in range(n)]


def test_many_findings_of_a_rule_are_cut_to_three_and_counted() -> None:
    groups = collapse_findings([*findings("a", "note", 9), *findings("b", "error", 4), *findings("a", "note", 1, "q")])
    assert [(found[0].paradigm, found[0].rule, len(found), more) for found, more in groups] == [
        ("p", "b", 4, 0),
        ("p", "a", 3, 6),
        ("q", "a", 1, 0),
    ]
    assert [more for _, more in collapse_findings(findings("a", "note", 9), None)] == [0]


def test_the_summary_counts_each_severity_of_each_paradigm() -> None:
    found = [*findings("a", "waived", 2), *findings("b", "error", 1), *findings("format", "error", 1, "")]
    assert summarise_findings(materials({}), found) == [FindingSummary("p", 1, 1, 0, 0, 2), FindingSummary("", 0, 1, 0, 0, 0)]
