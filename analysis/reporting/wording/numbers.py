"""The form of numbers: statistics in APA style, p, percent, decimals, correlations, and the minus sign."""

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

Row = Mapping[str, Any]
P = ("p", "p_adjusted", "p_adjusted_all", "p_holm", "p_entropy", "mcnemar_p", "mcnemar_p_holm", "flip_p", "flip_p_holm")


ADJUSTED = {"Benjamini": "p_BH", "Holm": "p_Holm"}  # how an adjusted p is called, by how its adjustment begins


def name_adjusted(adjustment: object) -> str:
    """Return how an adjusted p is called, by what the column adjustment says.

    >>> name_adjusted("Holm, over the regions"), name_adjusted("Benjamini-Hochberg over the phenomena of one response")
    ('p_Holm', 'p_BH')
    """
    return next(name for method, name in ADJUSTED.items() if str(adjustment).startswith(method))


def apa(row: Row) -> str:
    """Return a coefficient in APA style: estimate, 95 % interval, t with its df, p, and p adjusted where there is one.

    Estimates have as many decimals as show two digits of their standard error.

    >>> row = {"estimate": 0.124, "se": 0.0294, "df": 614.0, "t": 4.22, "p": 2.8e-5, "ci_low": 0.066, "ci_high": 0.182}
    >>> apa(row)
    'b = 0.124, 95% CI [0.066, 0.182], t(614.0) = 4.22, p < .001'
    """
    places = decimals(row["se"])
    ends = interval(row["ci_low"], row["ci_high"], f".{places}f")
    return f"b = {signed(row['estimate'], places)}, {ends}, {significance(row)}"


def significance(row: Row) -> str:
    """Return the test of a coefficient: t with its df, or z where it has none, p, and p adjusted where there is one.

    >>> significance({"df": 11.34, "t": -1.9, "p": 0.0801, "p_adjusted": 0.09, "adjustment": "Benjamini-Hochberg"})
    't(11.3) = −1.90, p = .080, p_BH = .090'
    """
    statistic: str = "z" if pd.isna(row["df"]) else f"t({row['df']:.1f})"
    text = f"{statistic} = {signed(row['t'], 2)}, p {p_value(row['p'])}"
    adjusted = row.get("p_adjusted", math.nan)
    return text if pd.isna(adjusted) else f"{text}, {name_adjusted(row['adjustment'])} {p_value(adjusted)}"


def interval(low: float, high: float, form: str) -> str:
    """Return a 95 % interval, both ends in the same form.

    >>> interval(-0.5, 1.25, ".2f")
    '95% CI [−0.50, 1.25]'
    """
    return minus(f"95% CI [{low:{form}}, {high:{form}}]")


def decimals(se: float) -> int:
    """Return how many decimals show two digits of a standard error, two at least.

    >>> decimals(0.12), decimals(0.0294), decimals(0.00092)
    (2, 3, 5)
    """
    if pd.isna(se) or se <= 0:
        return 2
    return min(6, max(2, 1 - math.floor(math.log10(se))))


def p_value(p: float) -> str:
    """Return p with its relation, in APA style.

    >>> p_value(0.0414), p_value(0.00001), p_value(1.0)
    ('= .041', '< .001', '= 1.000')
    """
    if pd.isna(p):
        return "not available"
    if p < 0.001:
        return "< .001"
    return f"= {p:.3f}".replace("0.", ".")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the singular where there is one.

    >>> counted(1, "item"), counted(2, "item"), counted(2, "phenomenon", "phenomena")
    ('1 item', '2 items', '2 phenomena')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal.

    >>> percent(0.8751)
    '87.5%'
    """
    return f"{100 * share:.1f}%"


def correlation(r: float) -> str:
    """Return a correlation in APA style: two decimals, no zero before the point.

    >>> correlation(0.314), correlation(-0.05), correlation(1.0)
    ('.31', '−.05', '1.00')
    """
    text = f"{r:.2f}".replace("0.", ".", 1)
    return ".00" if text == "-.00" else text.replace("-", "−")


def correlated(r: float, low: float, high: float) -> str:
    """Return a correlation with its 95 % interval, where it has one.

    >>> correlated(0.5, -0.04, 0.8), correlated(0.5, float("nan"), float("nan"))
    ('r = .50, 95% CI [−.04, .80]', 'r = .50')
    """
    ends = "" if pd.isna(low) else f", 95% CI [{correlation(low)}, {correlation(high)}]"
    return f"r = {correlation(r)}{ends}"


def signed(value: float, places: int) -> str:
    """Return a number with so many decimals, with the minus sign that people set, and no negative zero.

    >>> signed(-0.5, 2), signed(-0.0001, 2)
    ('−0.50', '0.00')
    """
    return minus(f"{value:.{places}f}")


def minus(text: str) -> str:
    """Return a text with the signs that people set: a minus before a number, and one sign for at least.

    >>> minus("gpt-2: -1.5 nats [-2, -0.00], p >= .01")
    'gpt-2: −1.5 nats [−2, 0.00], p ≥ .01'
    """
    with_minus = re.sub(r"(?<![\w.])-(?=[\d.])", "−", text).replace(">=", "≥")
    return re.sub(r"−(0(?:\.0+)?)(?![\d.])", r"\1", with_minus)


def cell(value: float, column: str) -> str:
    """Return a number as a table of the report shows it, by the column it stands in.

    >>> cell(0.04, "p"), cell(-1.234, "t"), cell(312.4567, "ms"), cell(0.00123, "delta"), cell(0.1234, "se")
    ('.040', '−1.23', '312.5', '0.0012', '0.123')
    """
    if column in P:
        return p_value(value).removeprefix("= ")
    if column == "t":
        text = f"{value:.2f}"
    elif column in ("df", "minutes") or column.startswith("ms") or abs(value) >= 100:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2g}" if value != 0 and abs(value) < 0.01 else f"{value:.3f}"
    return text.replace("-", "−")
