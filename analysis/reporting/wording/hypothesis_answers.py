"""The answer to each hypothesis, interval first, and interactions that hold on one scale of reading times alone."""

import pandas as pd

from gardenpath.study.responses import RESPONSES

from ...fitting.hypothesis_tests import EQUIVALENT, OPPOSITE, SMALL, SUPPORTED, UNDECIDED
from ...intervals import ALPHA
from ...measuring.region_spans import SENTENCE_REGION
from ...row_dicts import list_rows
from .factors import describe_model, with_names
from .labels import label, region_name
from .numbers import Row, decimals, interval, minus, p_value, signed
from .sources import Sentence, read_off
from .terms import terms

MEANINGS = {
    SUPPORTED: "supported",
    SMALL: "supported, but smaller than what matters",
    OPPOSITE: "the effect is opposite to the one expected",
    EQUIVALENT: "equivalent to no effect that matters",
    UNDECIDED: "undecided",
}
P_NAMES = {"holm": "p_Holm", "benjamini-hochberg": "p_BH"}


def answer_hypotheses(hypotheses: pd.DataFrame) -> list[Sentence]:
    """Return a sentence for each hypothesis of the table hypotheses: the interval, the test, and what follows.

    >>> row = {"name": "slower", "role": "primary", "contrast": "extraction: object minus subject", "response": "log_rt",
    ...        "term": "extraction_object_subject", "t": 3.1, "region": "critical", "prompt": None, "direction": "positive",
    ...        "sides": 2, "estimate": 0.05, "se": 0.016, "df": 30.0,
    ...        "p": 0.004, "p_adjusted": None, "ci_low": 0.017, "ci_high": 0.083, "smallest": None, "low_90": None, "high_90": None,
    ...        "optimistic": False, "correction": "none", "verdict": "supported"}
    >>> for part in answer_hypotheses(pd.DataFrame([row]))[0].split(": "):
    ...     print(part)
    Slower (primary)
    extraction (object − subject), log reading time, critical region, expected positive
    95% CI [0.017, 0.083] log ms, b = 0.050, t(30.0) = 3.10, p = .004
    supported.
    """
    return [_answer(row) for row in list_rows(hypotheses)]


def _answer(row: Row) -> Sentence:
    response = RESPONSES[row["response"]]
    head = f"{row['name'][0].upper()}{row['name'][1:]} ({row['role'] if row['role'] != 'family' else 'in a family'})"
    where = "" if row["region"] == SENTENCE_REGION else f", {region_name(row['region'])}"
    prompt: str = "" if pd.isna(row["prompt"]) else f" ({label(row['prompt'])})"
    expected: str = "" if pd.isna(row["direction"]) else f", expected {row['direction']}"
    what = f"{head}: {terms([row])[0]}, {response.label.removesuffix(' (log odds)')}{where}{prompt}{expected}"
    if pd.isna(row["estimate"]) or pd.isna(row["p"]):
        return read_off(f"{what}: {MEANINGS[row['verdict']]}, since its model has no test.", "hypotheses", row)
    digits = decimals(row["se"])
    statistic = f"z = {row['t']:.2f}" if pd.isna(row["df"]) else f"t({row['df']:.1f}) = {row['t']:.2f}"
    sides = "" if row["sides"] == 2 else ", one-sided"
    adjusted = "" if pd.isna(row["p_adjusted"]) else f", {P_NAMES[row['correction']]} {p_value(row['p_adjusted'])}"
    ends = interval(row["ci_low"], row["ci_high"], f".{digits}f")
    size = f"b = {signed(row['estimate'], digits)}, {minus(statistic)}, p {p_value(row['p'])}{sides}{adjusted}"
    parts = [f"{ends} {response.unit}, {size}"]
    if not pd.isna(row["smallest"]):
        equivalence = (
            "without slopes nothing is said of equivalence"
            if pd.isna(row["low_90"])
            else minus(f"90% CI [{row['low_90']:.{digits}f}, {row['high_90']:.{digits}f}]")
        )
        parts.append(f"the smallest effect that matters is {row['smallest']:g}, {equivalence}")
    if row["optimistic"]:
        parts.append("p is optimistic, so nothing is decided by it")
    return read_off(f"{what}: {'; '.join(parts)}: {MEANINGS[row['verdict']]}.", "hypotheses", row)


def describe_scale_dependence(results: pd.DataFrame) -> list[Sentence]:
    """Return a sentence for each interaction of a headline that is there in log ms and not in ms, or the reverse.

    `results` are effects as `join_results` returns them.
    """
    first = with_names(results[results["headline"]])
    sentences = []
    for _, part in first.groupby("model_id", sort=False):
        rows = list_rows(part)
        for row, name in zip(rows, terms(rows), strict=True):
            if not pd.isna(row["raw_p"]) and (row["p"] < ALPHA) != (row["raw_p"] < ALPHA):
                sentences.append(read_off(_compare_scales(row, name), "effects", row))
    return sentences


def _compare_scales(row: Row, name: str) -> str:
    digits = decimals(row["se"])
    in_logs = (
        f"b = {signed(row['estimate'], digits)}, {interval(row['ci_low'], row['ci_high'], f'.{digits}f')}, p {p_value(row['p'])}"
    )
    in_ms = f"b = {signed(row['raw'], 1)} ms, {interval(row['raw_low'], row['raw_high'], '.1f')}, p {p_value(row['raw_p'])}"
    held = f"there in log ms ({in_logs}) and not shown in ms ({in_ms})"
    if row["p"] >= ALPHA:
        held = f"not shown in log ms ({in_logs}) and there in ms ({in_ms})"
    return f"{describe_model(row)}: {name} is {held}, so it depends on the scale (Loftus, 1978; Wagenmakers et al., 2012)."
