"""Whether a language has an agreement: how often words have the value of the subject, against nine times in ten."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gardenpath import study

if TYPE_CHECKING:
    import pandas as pd

AGREEMENT_RATE = 0.9  # agreement as frequent as this is to be shown, or shown to be missing
ALPHA = 0.1  # of both tests together (Bonferroni)
MAX_UNDECIDED_COUNT = 5
CONFIDENCE_LEVEL = 0.95

FeatureValues = frozenset[str]


def resolve_values(word: FeatureValues, subject: FeatureValues) -> tuple[str, str] | None:
    """Return the value that a word counts with, and that of its subject; None where the forms do not say.

    A form that may have several values counts with that of the other, if this is one of them.

    >>> resolve_values(frozenset({"Sing", "Plur"}), frozenset({"Plur"}))
    ('Plur', 'Plur')
    """
    if len(word) == len(subject) == 1:
        return min(word), min(subject)
    if len(word) == 1 and word <= subject:
        return min(word), min(word)
    if len(subject) == 1 and subject <= word:
        return min(subject), min(subject)
    return None


def count_values(values: Iterable[tuple[FeatureValues, FeatureValues, str]]) -> Counter[tuple[str, str, str]]:
    """Return how often (order, value of the subject, value of the word) is found in values of words, of subjects, and orders."""
    found: Counter[tuple[str, str, str]] = Counter()
    for word, subject, order in values:
        if (pair := resolve_values(word, subject)) is not None:
            found[order, pair[1], pair[0]] += 1
    return found


def compute_binomial_tails(n_agreeing: int, n_words: int) -> tuple[float, float]:
    """Return the probabilities of `n_agreeing` or more, and of as many or fewer, of `n_words` that agree nine times in ten.

    >>> "{:.4f} {:.4f}".format(*compute_binomial_tails(20, 20))
    '0.1216 1.0000'
    """
    from scipy import special  # scipy.stats takes ten times as long to load

    return float(special.bdtrc(n_agreeing - 1, n_words, AGREEMENT_RATE)) if n_agreeing else 1.0, float(
        special.bdtr(n_agreeing, n_words, AGREEMENT_RATE)
    )


def decide_agreement(n_agreeing: int, n_words: int) -> str:
    """Return 'certain', 'none', 'likely' (above nine in ten, and over five) or 'undecided', by how many words of `n_words` agree.

    >>> [decide_agreement(n_agreeing, n_words) for n_agreeing, n_words in [(29, 29), (28, 28), (95, 100), (83, 100), (5, 5)]]
    ['certain', 'likely', 'likely', 'none', 'undecided']
    """
    p_greater, p_less = compute_binomial_tails(n_agreeing, n_words)
    if p_greater <= ALPHA / 2:
        return "certain"
    if p_less <= ALPHA / 2:
        return "none"
    return "likely" if n_agreeing > AGREEMENT_RATE * n_words and n_agreeing > MAX_UNDECIDED_COUNT else "undecided"


def clopper_pearson_interval(n_agreeing: int, n_words: int) -> tuple[float, float]:
    """Return the 95 % Clopper-Pearson interval of `n_agreeing` in `n_words` (doi.org/10.1093/biomet/26.4.404).

    >>> "{:.4f} {:.4f}".format(*clopper_pearson_interval(95, 100))
    '0.8872 0.9836'
    """
    from scipy import special

    alpha = (1 - CONFIDENCE_LEVEL) / 2
    low = float(special.betaincinv(n_agreeing, n_words - n_agreeing + 1, alpha)) if n_agreeing else 0.0
    return low, float(special.betaincinv(n_agreeing + 1, n_words - n_agreeing, 1 - alpha)) if n_agreeing < n_words else 1.0


def compute_agreement(language: str, phenomenon: str, found: Counter[tuple[str, str, str]]) -> "pd.DataFrame":
    """Return table `agreement_tests` of what `count_values` found in a language.

    For each value of subjects in each order, the test of Jumelet et al. (2025, arXiv 2504.02768): two one-sided binomial tests
    of the share of words with the same value against .9.
    """
    import pandas as pd

    totals: Counter[tuple[str, str]] = Counter()
    for (order, value, _), count in found.items():
        totals[order, value] += count
    rows = []
    for (order, value), n_words in sorted(totals.items()):
        n_agreeing = found[order, value, value]
        rows.append(
            (
                language,
                phenomenon,
                order,
                value,
                n_agreeing,
                n_words,
                n_agreeing / n_words,
                *clopper_pearson_interval(n_agreeing, n_words),
                *compute_binomial_tails(n_agreeing, n_words),
                decide_agreement(n_agreeing, n_words),
            )
        )
    return study.check(pd.DataFrame(rows, columns=study.TABLES["agreement_tests"].column_names), "agreement_tests")
