"""What power of log reading times costs, and how it compares with the level of the test.

    python benchmarks/power.py [--runs 1000] [--slopes tested] [--response log_rt]

Six cells: three coefficients of a 2 x 2 (a main effect, the interaction, a simple effect), each with the default spreads and with
slopes of s.d. .2; 40 participants, 24 items. For each cell: CPU seconds, power, false positives with the exact central 99 %
of 5 %, and the share of singular fits.
"""

import argparse
import time
from dataclasses import replace

from scipy.stats import binom

from gardenpath.analysis import power_curve
from gardenpath.analysis.modelling.simulated_trials import standard

FACTORS = {"grammaticality": ("grammatical", "ungrammatical"), "attractor": ("match", "mismatch")}
TERMS = ("attractor", "grammaticality:attractor", "attractor@ungrammatical")


def main() -> None:
    """Run the cells and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--slopes", default="tested")
    parser.add_argument("--response", default="log_rt")
    asked = parser.parse_args()
    usual = standard(asked.response)
    steep = replace(usual, participant_slope=0.2, item_slope=0.2, residual=0.3, name="slopes .2")
    low, high = binom.ppf([0.005, 0.995], asked.runs, 0.05) / asked.runs
    print(f"{asked.runs} studies a cell; a test at .05 finds {low:.3f} to {high:.3f} where there is nothing")
    given = {
        "participants": [40],
        "items": [24],
        "factors": FACTORS,
        "response": asked.response,
        "slopes": asked.slopes,
    }
    power_curve(0.1, **given, runs=1)  # imports are no part of it
    whole = 0.0
    for assumed in (usual, steep):
        for term in TERMS:
            started = time.process_time()
            row = power_curve(0.1, **given, term=term, assumptions=assumed, runs=asked.runs).iloc[0]
            spent = time.process_time() - started
            whole += spent
            print(
                f"{assumed.name:10} {row['term']:26} {spent:6.1f} CPU-s  power {row['power']:.3f}  "
                f"false positives {row['false_positives']:.3f}  singular {row['singular']:.2f}  failed {row['failed']:.3f}"
            )
    print(f"together {whole:.1f} CPU-s, {1000 * whole / 6 / asked.runs:.1f} ms a study")


if __name__ == "__main__":
    main()
