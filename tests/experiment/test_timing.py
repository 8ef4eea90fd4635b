"""The benchmark of timing runs, and of its presses none is lost and none doubled (how fast is a matter of the machine)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.browser
@pytest.mark.slow
def test_of_trusted_presses_with_auto_repeat_none_is_lost_and_none_doubled(chromium: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "page_timing.py"), "--presses", "100", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["presses"] >= 100
    assert result["recorded"] == result["presses"]
    assert result["advanced"] == 2 * (61 + 1), "two sentences of 60 words, each with its first press and its rating"
    assert result["recorded_repeats"] == result["repeats"] > 0
