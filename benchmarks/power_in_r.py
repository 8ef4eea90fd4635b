"""Whether `gardenpath simulate --power` says what a simulation written in R says, which shares no code with it.

    python benchmarks/power_in_r.py log_rt --studies 1000 -o power-log_rt
    python benchmarks/power_in_r.py correct --studies 200 -o power-correct

The 2 x 2 of examples/agreement-attraction with 40 participants and 24 items, effects of both factors and of their interaction,
and the default assumptions of the response. power_in_r.R draws such studies with base R, fits them by lme4 and lmerTest, and
reduces the random effects as the plan states it. For each coefficient: both powers, and the exact test that they are one.
What the folder has is not computed again.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import pandas as pd

from gardenpath.analysis.modelling.simulated_trials import standard
from gardenpath.study.responses import RESPONSES

ROOT = Path(__file__).parent.parent
PARTICIPANTS, ITEMS = 40, 24
EFFECTS = {"log_rt": (0.10, 0.06, -0.20), "correct": (-0.8, -0.4, 1.2)}
TERMS = {"a": "grammaticality", "b": "attractor", "ab": "grammaticality:attractor"}
MEANS = {"log_rt": 6.0}


def run_gardenpath(response: str, studies: int, out: Path) -> pd.DataFrame:
    """Return the table power of the example study."""
    effects = out / "effects.toml"
    key = RESPONSES[response].effect_key or response  # of [simulate]
    sizes = (f"{{ critical = {size} }}" if response == "log_rt" else size for size in EFFECTS[response])
    stated = (f'[simulate."{term}"]\n{key} = {size}\n' for term, size in zip(TERMS.values(), sizes, strict=True))
    effects.write_text("\n".join(stated), encoding="utf-8")
    study = out / "study"
    if not study.exists():
        study.mkdir()
        example = ROOT / "examples" / "agreement-attraction"
        text = (example / "study.toml").read_text(encoding="utf-8")
        kept = text[: text.index("[analysis.sesoi]")]  # a stated smallest effect would be what is simulated
        (study / "study.toml").write_text(kept, encoding="utf-8")
        (study / "items.csv").write_bytes((example / "items.csv").read_bytes())
    command = ["gardenpath", "simulate", str(study / "study.toml"), "--power", "--effects", str(effects), "--response", response,
               "--participants", str(PARTICIPANTS), "--items", str(ITEMS), "--simulations", str(studies), "--seed", "1",
               "-o", str(out)]  # fmt: skip
    subprocess.run(command, check=True, stdout=sys.stderr)
    return pd.read_csv(out / "power.csv").query("n_simulations == @studies").set_index("term")


def run_r(response: str, studies: int, out: Path) -> pd.DataFrame:
    """Return the p of each coefficient in each study that R has made."""
    assumed = standard(response)
    spreads = (assumed.participant, assumed.item, assumed.participant_slope, assumed.item_slope, assumed.residual)
    numbers = (PARTICIPANTS, ITEMS, 1, studies, out / "r.csv", MEANS.get(response, assumed.mean), *spreads, *EFFECTS[response])
    subprocess.run(["Rscript", str(Path(__file__).with_suffix(".R")), response, *map(str, numbers)], check=True, stdout=sys.stderr)
    return pd.read_csv(out / "r.csv").query("seed <= @studies")


def main() -> None:
    """Run both, and print a line for each coefficient."""
    from scipy.stats import fisher_exact

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("response", choices=[*EFFECTS])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    power = run_gardenpath(arguments.response, arguments.studies, arguments.out)
    in_r = run_r(arguments.response, arguments.studies, arguments.out)
    for name, term in TERMS.items():
        found = [round(float(power.loc[term, "power"]) * arguments.studies), int((in_r[name] < 0.05).sum())]
        studies = [arguments.studies, len(in_r)]
        same = fisher_exact([found, [n - k for n, k in zip(studies, found, strict=True)]]).pvalue
        shares = (f"{k} of {n} ({k / n:.3f})" for k, n in zip(found, studies, strict=True))
        print(f"{term}: gardenpath {next(shares)}, R {next(shares)}; p of being one {same:.3f}; R failed {in_r[name].isna().sum()}")


if __name__ == "__main__":
    main()
