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
from gardenpath.experiment.players.lab.window import Window, check

EXAMPLE = Path(__file__).parents[1] / "examples" / "minimal-pairs"
HOLDS = (0.0, 0.02, 0.03, 0.05)  # s; every twentieth key is held for LONG
LONG = 0.6


def send(presses: int, sent: list[float]) -> None:
    """Press the space bar so often, up to 15 times a second, and note when each press was sent."""
    hands = subprocess.Popen(["xdotool", "-"], stdin=-1, stdout=-1, text=True)
    assert hands.stdin is not None
    assert hands.stdout is not None

    def do(command: str) -> None:
        # The answer to the second line says that the screen's server has the first.
        hands.stdin.write(f"{command}\ngetmouselocation\n")
        hands.stdin.flush()
        hands.stdout.readline()

    random = Random(3)
    do("sleep 0.5")
    for n in range(presses):
        sent.append(time.perf_counter())
        do("keydown space")
        do(f"sleep {LONG if n % 20 == 0 else random.choice(HOLDS)}")
        do("keyup space")
        do(f"sleep {random.uniform(0.03, 0.2):.3f}")


def measure(presses: int) -> dict[str, float]:
    """Return how many presses were sent and came, and how far intervals (ms) are from the sender's."""
    check()
    file = experiment.version_files(study.load(EXAMPLE))[0]
    window = Window(file, size=(1024, 768))
    words = [Word(f"word{n}") for n in range(20)]
    window.prepare(words)
    window.show(words[0])
    sent: list[float] = []
    sender = threading.Thread(target=send, args=(presses, sent))
    sender.start()
    came: list[Key] = []
    while (given := window.wait(1500)) is not None or sender.is_alive():
        if isinstance(given, Key) and given.down:
            came.append(given)
            window.show(words[len(came) % 20])
    window.close()
    theirs, ours = ([b - a for a, b in pairwise(times)] for times in (sent, [key.t / 1000 for key in came]))
    apart = sorted(1000 * abs(a - b) for a, b in zip(theirs, ours, strict=False))
    return {
        "sent": len(sent),
        "came": len(came),
        "interval_ms_median": round(statistics.median(apart), 2),
        "interval_ms_p99": round(apart[int(0.99 * len(apart))], 2),
        "seen_after_ms_median": round(statistics.median(key.handler - key.t for key in came), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presses", type=int, default=300)
    print(json.dumps(measure(parser.parse_args().presses)))


if __name__ == "__main__":
    main()
