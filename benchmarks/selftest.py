"""How often the alignment self-test catches reading times stored one word early, and how often it fails correct data.

    python benchmarks/selftest.py 1000

Seeded data sets of readers who share words, with random effects of participant, item and token, spillover, length and
frequency. Limits are exact 99 % binomial ones. A shift counts where, before it, the effect at lag 0 has z > 5. A last
cell has spillover twice as large as the effect: shifted, it stands at the edge of the rule (half the largest slope).
"""

import sys

import numpy as np
import pandas as pd

from gardenpath.analysis import compute_alignment_check, fit
from gardenpath.analysis.aligning.predictors import LAG_SUFFIXES, LAGGED_PREDICTORS, format_formula, list_reading_terms


def simulate_aligned_readings(
    seed: int, *, early: int = 0, bit: float = 0.012, spill: float = 0.006, token: float = 0.04
) -> pd.DataFrame:
    """Return aligned readings of 24 readers and 24 sentences of 10 words; `early` words too early.

    `bit` and `spill` are log ms per bit at lags 0 and 1; `token` is the s.d. of words beside their predictors.
    """
    rng = np.random.default_rng(seed)
    n_participants, n_items, n_words = 24, 24, 10
    surprisal, zipf = rng.gamma(2.0, 3.0, (n_items, n_words)), rng.normal(4.5, 1.0, (n_items, n_words))
    surprisal = surprisal - 1.2 * (zipf - 4.5)  # rare words are surprising
    length = np.clip(np.rint(9 - zipf + rng.normal(0, 1.5, (n_items, n_words))), 1, None)
    mean = bit * surprisal + 0.008 * length - 0.01 * zipf + rng.normal(0, token, (n_items, n_words))
    mean[:, 1:] += spill * surprisal[:, :-1]
    log_rt = (
        5.8 + mean + rng.normal(0, 0.25, (n_participants, 1, 1)) + rng.normal(0, 0.05, (n_items, 1))
        + rng.normal(0, 0.3, (n_participants, n_items, n_words))
    )  # fmt: skip
    word_positions = np.arange(2, n_words - 1 - early)
    values = {"surprisal": surprisal, "length": length, "zipf": zipf}
    columns: dict[str, np.ndarray] = {"log_rt": log_rt[..., word_positions + early]}
    for lag, end in LAG_SUFFIXES.items():
        for name in LAGGED_PREDICTORS:
            shifted = np.full((n_items, len(word_positions)), np.nan)
            shifted_positions = word_positions - lag
            inside = (shifted_positions >= 0) & (shifted_positions < n_words)
            shifted[:, inside] = values[name][:, shifted_positions[inside]]
            columns[name + end] = np.broadcast_to(shifted, (n_participants, n_items, len(word_positions)))
    frame = pd.DataFrame({name: column.ravel() for name, column in columns.items()})
    participant, item, position_index = (index.ravel() for index in np.indices((n_participants, n_items, len(word_positions))))
    order = rng.permuted(np.tile(np.arange(n_items), (n_participants, 1)), axis=1)
    return frame.assign(
        model="simulated", protocol="causal", participant=[f"P{k}" for k in participant], item=[f"i{k}" for k in item],
        token=[f"i{k}:{word_positions[w]}" for k, w in zip(item, position_index, strict=True)],
        position=word_positions[position_index], log_trial=np.log1p(order[participant, item]), entropy_next=np.nan,
    )  # fmt: skip


def compute_surprisal_t(seed: int, bit: float, spill: float) -> float:
    """Return t of surprisal at lag 0 in the data before any shift, beside lags -1, 1 and 2."""
    fitted = fit(simulate_aligned_readings(seed, bit=bit, spill=spill), format_formula(list_reading_terms([-1, 0, 1, 2])))
    return float(fitted.set_index("term").loc["surprisal", "t"])


def count_failures(seeds: range, early: int, bit: float, spill: float) -> tuple[int, int]:
    """Return how many of the data sets that count are failed, and how many count."""
    counted = [seed for seed in seeds if not early or compute_surprisal_t(seed, bit, spill) > 5]
    verdicts = [
        compute_alignment_check(simulate_aligned_readings(s, early=early, bit=bit, spill=spill))["verdict"].item() for s in counted
    ]
    return verdicts.count("failed"), len(counted)


def main() -> None:
    from scipy.stats import binomtest

    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    cells = [(0, 0.0, 0.0), (0, 0.006, 0.006), (0, 0.012, 0.006), (1, 0.008, 0.004), (1, 0.012, 0.006), (1, 0.012, 0.012)]
    for early, bit, spill in [*cells, (1, 0.008, 0.016)]:
        failed, counted = count_failures(range(runs), early, bit, spill)
        limits = binomtest(failed, counted).proportion_ci(0.99, method="exact")
        print(
            f"{'one word early' if early else 'correct       '}, {bit:.3f} log ms per bit, {spill:.3f} a word later: "
            f"{failed} of {counted} failed, {failed / counted:.1%} (99 % limits {limits.low:.1%} to {limits.high:.1%})"
        )


if __name__ == "__main__":
    main()
