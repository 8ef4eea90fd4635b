"""CPU-seconds of generating minimal pairs from a grammar, with the interpreter, loading, counting, drawing and printing.

    python benchmarks/generate.py GRAMMAR.toml [--paradigms 3] [-n 1000]

Each figure is the CPU time of a process of its own, the least of several. BLiMP's generator takes 141 to 310 CPU-seconds for one
paradigm of 1,000 pairs on the same kind of machine, after a one-line mend (U100000 -> U200); as published, hours.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import sys
from gardenpath import stimuli
grammar = stimuli.read_grammar(sys.argv[1])
names = list(grammar.paradigms)[: int(sys.argv[2]) or None]
generated = stimuli.generate(grammar, int(sys.argv[3]), seed=1, paradigms=names)
stimuli.write(generated.materials, sys.argv[4])
texts = {tuple(s.text for s in item.sentences.values()) for item in generated.materials.items}
assert len(texts) == len(generated.materials.items) == len(names) * int(sys.argv[3])
assert all(len(set(text)) > 1 for text in texts)
"""


def measure_seconds(grammar: Path, paradigms: int, n: int) -> float:
    """Return the CPU time of one run in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", PROGRAM, str(grammar), str(paradigms), str(n), f"{folder}/items.jsonl"]
        subprocess.run(arguments, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures of three paradigms and of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammar", type=Path)
    parser.add_argument("--paradigms", type=int, default=3)
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for paradigms in (arguments.paradigms, 0):
        least = min(measure_seconds(arguments.grammar, paradigms, arguments.n) for _ in range(arguments.runs))
        print(f"{paradigms or 'all'} paradigms x {arguments.n}: {least:.2f} CPU-s")


if __name__ == "__main__":
    main()
