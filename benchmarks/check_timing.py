"""Seconds that each rule takes on BLiMP's 67,000 pairs: python benchmarks/check_timing.py [FOLDER of jsonl files]"""

import sys
import time
from collections import Counter
from pathlib import Path

from gardenpath import stimuli
from gardenpath.stimuli.segmentation import segment

BLIMP_FOLDER = Path(__file__).parents[2] / "shared" / "data" / "blimp"
GOAL_SECONDS = 20.0  # s on one core


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BLIMP_FOLDER
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        sys.exit(f"no jsonl files in {folder}; name the folder that holds BLiMP")
    start = time.process_time()
    materials = stimuli.read(*files)
    print(f"{'read':20} {time.process_time() - start:7.2f} s   {len(materials.items):,} items")
    start = time.process_time()
    findings = stimuli.check(materials)
    check_seconds = time.process_time() - start
    finding_counts = Counter(finding.rule for finding in findings)
    start = time.process_time()
    segmented = segment(materials)
    print(f"{'words and regions':20} {time.process_time() - start:7.2f} s")
    for rule in stimuli.RULES:
        start = time.process_time()
        for _ in rule.find_faults(segmented):
            pass
        print(f"{rule.id:20} {time.process_time() - start:7.2f} s   {finding_counts[rule.id]:7,} findings")
    print(f"{'check, all in all':20} {check_seconds:7.2f} s   {len(findings):7,} findings, with frequency lists loaded")
    print(f"goal: under {GOAL_SECONDS:.0f} s: {'met' if check_seconds < GOAL_SECONDS else 'MISSED'}")


if __name__ == "__main__":
    main()
