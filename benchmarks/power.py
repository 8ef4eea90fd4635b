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
    arguments = parser.parse_args()
    standard_assumptions = standard(arguments.response)
    slope_assumptions = replace(standard_assumptions, participant_slope=0.2, item_slope=0.2, residual=0.3, name="slopes .2")
    low, high = binom.ppf([0.005, 0.995], arguments.runs, 0.05) / arguments.runs
    print(f"{arguments.runs} studies a cell; a test at .05 finds {low:.3f} to {high:.3f} where there is nothing")
    settings = {"participants": [40], "items": [24], "factors": FACTORS, "response": arguments.response, "slopes": arguments.slopes}
    power_curve(0.1, **settings, runs=1)  # imports are no part of it
    total_seconds = 0.0
    for assumptions in (standard_assumptions, slope_assumptions):
        for term in TERMS:
            started = time.process_time()
            row = power_curve(0.1, **settings, term=term, assumptions=assumptions, runs=arguments.runs).iloc[0]
            seconds = time.process_time() - started
            total_seconds += seconds
            print(
                f"{assumptions.name:10} {row['term']:26} {seconds:6.1f} CPU-s  power {row['power']:.3f}  "
                f"false positives {row['false_positives']:.3f}  singular {row['singular']:.2f}  failed {row['failed']:.3f}"
            )
    print(f"together {total_seconds:.1f} CPU-s, {1000 * total_seconds / 6 / arguments.runs:.1f} ms a study")


if __name__ == "__main__":
    main()
