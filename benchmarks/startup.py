"""How long `gardenpath --help` takes beside an empty Python: python benchmarks/startup.py"""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "gardenpath --help": [sys.executable, "-m", "gardenpath.cli.main", "--help"],
    "gardenpath score --help": [sys.executable, "-m", "gardenpath.cli.main", "score", "--help"],
    "import pandas": [sys.executable, "-c", "import pandas"],
}
GOAL_SECONDS = 0.4  # s


def measure_seconds(call: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(call, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    times = {name: statistics.median(measure_seconds(call) for _ in range(9)) for name, call in COMMANDS.items()}
    for name, median in times.items():
        print(f"{name:26} {median:6.3f} s   {median / times['python -c pass']:5.1f} x an empty Python")
    print(f"goal: gardenpath --help under {GOAL_SECONDS} s: {'met' if times['gardenpath --help'] < GOAL_SECONDS else 'MISSED'}")


if __name__ == "__main__":
    main()
