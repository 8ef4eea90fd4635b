"""Whether a language has an agreement: how often words have the value of the subject, against nine times in ten."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gardenpath import study

if TYPE_CHECKING:
    import pandas as pd

P = 0.9  # agreement as frequent as this is to be shown, or shown to be missing
ALPHA = 0.1  # of both tests together (Bonferroni)
FEW = 5
INTERVAL = 0.95

Values = frozenset[str]


def counted(word: Values, subject: Values) -> tuple[str, str] | None:
    """Return the value that a word counts with, and that of its subject; None where the forms do not say.

    A form that may have several values counts with that of the other, if this is one of them.

    >>> counted(frozenset({"Sing", "Plur"}), frozenset({"Plur"}))
    ('Plur', 'Plur')
    """
    if len(word) == len(subject) == 1:
        return min(word), min(subject)
    if len(word) == 1 and word <= subject:
        return min(word), min(word)
    if len(subject) == 1 and subject <= word:
        return min(subject), min(subject)
    return None


def counts(values: Iterable[tuple[Values, Values, str]]) -> Counter[tuple[str, str, str]]:
    """Return how often (order, value of the subject, value of the word) is found in values of words, of subjects, and orders."""
    found: Counter[tuple[str, str, str]] = Counter()
    for word, subject, order in values:
        if (pair := counted(word, subject)) is not None:
            found[order, pair[1], pair[0]] += 1
    return found


def tails(k: int, m: int) -> tuple[float, float]:
    """Return the probabilities of `k` or more, and of `k` or fewer, of `m` words that agree nine times in ten.

    >>> "{:.4f} {:.4f}".format(*tails(20, 20))
    '0.1216 1.0000'
    """
    from scipy import special  # scipy.stats takes ten times as long to load

    return float(special.bdtrc(k - 1, m, P)) if k else 1.0, float(special.bdtr(k, m, P))


def decide(k: int, m: int) -> str:
    """Return what `k` words of `m` that agree say: 'certain', 'none', 'likely' (above nine in ten, and over five) or 'undecided'.

    >>> decide(29, 29), decide(28, 28), decide(95, 100), decide(83, 100), decide(5, 5)
    ('certain', 'likely', 'likely', 'none', 'undecided')
    """
    greater, less = tails(k, m)
    if greater <= ALPHA / 2:
        return "certain"
    if less <= ALPHA / 2:
        return "none"
    return "likely" if k > P * m and k > FEW else "undecided"


def interval(k: int, m: int) -> tuple[float, float]:
    """Return the 95 % Clopper-Pearson interval of `k` in `m` (doi.org/10.1093/biomet/26.4.404).

    >>> "{:.4f} {:.4f}".format(*interval(95, 100))
    '0.8872 0.9836'
    """
    from scipy import special

    alpha = (1 - INTERVAL) / 2
    low = float(special.betaincinv(k, m - k + 1, alpha)) if k else 0.0
    return low, float(special.betaincinv(k + 1, m - k, 1 - alpha)) if k < m else 1.0


def agreement_table(language: str, phenomenon: str, found: Counter[tuple[str, str, str]]) -> "pd.DataFrame":
    """Return table `agreement` of what `counts` found in a language.

    For each value of subjects in each order, the test of Jumelet et al. (2025, arXiv 2504.02768): two one-sided binomial tests
    of the share of words with the same value against .9.
    """
    import pandas as pd

    totals: Counter[tuple[str, str]] = Counter()
    for (order, value, _), count in found.items():
        totals[order, value] += count
    rows = []
    for (order, value), m in sorted(totals.items()):
        k = found[order, value, value]
        rows.append((language, phenomenon, order, value, k, m, k / m, *interval(k, m), *tails(k, m), decide(k, m)))
    return study.check(pd.DataFrame(rows, columns=study.TABLES["agreement"].names), "agreement")
