"""What the lab's window loses and delays: keys that xdotool holds and lets go, against what the session is given.

    xvfb-run -s "-screen 0 1024x768x24" python benchmarks/lab_timing.py --presses 300

Under Xvfb frames are not locked to a refresh: of frames this says nothing.
"""

import argparse
import json
import statistics
import subprocess
import threading
import time
from itertools import pairwise
from pathlib import Path
from random import Random

from gardenpath import experiment, study
from gardenpath.experiment.players.lab.displays import Key, Word
from gardenpath.experiment.players.lab.window import Window, check_machine

EXAMPLE_FOLDER = Path(__file__).parents[1] / "examples" / "minimal-pairs"
HOLD_SECONDS = (0.0, 0.02, 0.03, 0.05)  # s; every twentieth key is held for LONG
LONG_HOLD_SECONDS = 0.6


def send_presses(presses: int, sent_times: list[float]) -> None:
    """Press the space bar so often, up to 15 times a second, and note when each press was sent."""
    xdotool = subprocess.Popen(["xdotool", "-"], stdin=-1, stdout=-1, text=True)
    assert xdotool.stdin is not None
    assert xdotool.stdout is not None

    def run_command(command: str) -> None:
        # The answer to the second line says that the screen's server has the first.
        xdotool.stdin.write(f"{command}\ngetmouselocation\n")
        xdotool.stdin.flush()
        xdotool.stdout.readline()

    random = Random(3)
    run_command("sleep 0.5")
    for n in range(presses):
        sent_times.append(time.perf_counter())
        run_command("keydown space")
        run_command(f"sleep {LONG_HOLD_SECONDS if n % 20 == 0 else random.choice(HOLD_SECONDS)}")
        run_command("keyup space")
        run_command(f"sleep {random.uniform(0.03, 0.2):.3f}")


def measure_window(presses: int) -> dict[str, float]:
    """Return how many presses were sent and came, and how far intervals (ms) are from the sender's."""
    check_machine()
    file = experiment.build_list_files(study.load(EXAMPLE_FOLDER))[0]
    window = Window(file, size=(1024, 768))
    words = [Word(f"word{n}") for n in range(20)]
    window.prepare(words)
    window.show(words[0])
    sent_times: list[float] = []
    sender = threading.Thread(target=send_presses, args=(presses, sent_times))
    sender.start()
    received_keys: list[Key] = []
    while (event := window.wait(1500)) is not None or sender.is_alive():
        if isinstance(event, Key) and event.is_down:
            received_keys.append(event)
            window.show(words[len(received_keys) % 20])
    window.close()
    sent_intervals, received_intervals = (
        [b - a for a, b in pairwise(times)] for times in (sent_times, [key.t / 1000 for key in received_keys])
    )
    differences = sorted(1000 * abs(a - b) for a, b in zip(sent_intervals, received_intervals, strict=False))
    return {
        "sent": len(sent_times),
        "came": len(received_keys),
        "interval_ms_median": round(statistics.median(differences), 2),
        "interval_ms_p99": round(differences[int(0.99 * len(differences))], 2),
        "seen_after_ms_median": round(statistics.median(key.handler - key.t for key in received_keys), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presses", type=int, default=300)
    print(json.dumps(measure_window(parser.parse_args().presses)))


if __name__ == "__main__":
    main()
