"""Who took part and what was excluded: counts as the tables have them."""

import pandas as pd

from gardenpath.analysis.reporting.wording import participation


def test_exclusions_are_told_with_their_counts_and_the_flag_is_no_ground() -> None:
    ledger = pd.DataFrame([("all", "sessions", "session not complete", 10, 2), ("grammatical", "rating_scores", "x", 9, 1)],
                          columns=["condition", "table", "rule", "n_before", "n_excluded"])  # fmt: skip
    people = pd.DataFrame({"exclusion_rule": ["slept", None, None]})
    prompts = pd.DataFrame({"prompt": "sense", "flagged": [None, True, False]})
    assert participation.exclusions(ledger, people, prompts) == [
        "We excluded 2 of 10 sessions (20.0%): session not complete.",
        "We excluded 1 of 3 participants: slept (n = 1); 2 remained.",
        "The ratings of 1 of 2 participants do not tell grammatical from ungrammatical sentences apart (Mann-Whitney, p ≥ .05). "
        "They stay: such a rule is circular with the effect.",
    ]
    nobody = participation.exclusions(ledger.assign(n_excluded=0), people.head(0), prompts.head(0))
    assert nobody == ["No session, participant, rating or critical region was excluded."]


def test_answers_that_did_not_come_are_told_by_prompt_and_so_are_those_who_are_flagged_by_one() -> None:
    lines = [("responses: a", "no answer in time (a)", 90, 3), ("responses: b", "no answer (b)", 80, 1)]
    lines += [("responses", "not a rating", 86, 20), ("responses", "no answer in time (a)", 170, 3)]
    ledger = pd.DataFrame(lines, columns=["table", "rule", "n_before", "n_excluded"]).assign(condition="all")
    prompts = pd.DataFrame({"prompt": ["how_good", "how_likely"] * 3, "flagged": [True, False, True, True, False, None]})
    sentences = participation.exclusions(ledger, pd.DataFrame({"exclusion_rule": [None]}), prompts)
    assert sentences[:3] == [
        "We excluded 3 of 90 answers (3.3%): no answer in time (a).",
        "We excluded 1 of 80 answers (1.2%): no answer (b).",
        "No participant was excluded.",
    ]
    assert [sentence[:51] for sentence in sentences[3:]] == [
        "The ratings (how good) of 2 of 3 participants do no",
        "The ratings (how likely) of 1 of 2 participants do ",
    ]
