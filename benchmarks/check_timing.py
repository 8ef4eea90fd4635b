"""Seconds that each rule takes on BLiMP's 67,000 pairs: python benchmarks/check_timing.py [FOLDER of jsonl files]"""

import sys
import time
from collections import Counter
from pathlib import Path

from gardenpath import stimuli
from gardenpath.stimuli.segmentation import segment

DATA = Path(__file__).parents[2] / "shared" / "data" / "blimp"
GOAL = 20.0  # s on one core


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        sys.exit(f"no jsonl files in {folder}; name the folder that holds BLiMP")
    start = time.process_time()
    materials = stimuli.read(*files)
    print(f"{'read':20} {time.process_time() - start:7.2f} s   {len(materials.items):,} items")
    start = time.process_time()
    findings = stimuli.check(materials)
    whole = time.process_time() - start
    found = Counter(finding.rule for finding in findings)
    start = time.process_time()
    segmented = segment(materials)
    print(f"{'words and regions':20} {time.process_time() - start:7.2f} s")
    for rule in stimuli.RULES:
        start = time.process_time()
        for _ in rule.breaches(segmented):
            pass
        print(f"{rule.id:20} {time.process_time() - start:7.2f} s   {found[rule.id]:7,} findings")
    print(f"{'check, all in all':20} {whole:7.2f} s   {len(findings):7,} findings, with frequency lists loaded")
    print(f"goal: under {GOAL:.0f} s: {'met' if whole < GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
