"""What an installation costs: MB on the disk, seconds from uv's cache, packages; and what an import loads.

    python benchmarks/install.py [EXTRA ...]

Needs uv, whose variables say where torch for CPUs is, without CUDA's libraries, some gigabytes: UV_INDEX_STRATEGY=unsafe-best-match
and UV_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu. Prints the two tables of docs/install.md; each set is installed twice
into a new environment, and the second time counts, when all files are there. Times are CPU seconds, which a busy machine changes
little.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("", "online", "import", "selection", "parquet", "postgres", "browser", "lm", "lm,online")
IMPORTS = ("study", "stimuli", "experiment", "analysis", "lmscore", "cli.main")


def measure_command(call: list[str], **options: object) -> tuple[float, str]:
    """Return the CPU seconds (user and system) of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(call, check=True, text=True, capture_output=True, **options)  # type: ignore[call-overload]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stdout


def measure_megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def install_wheel(wheel: Path, extra: str, folder: Path) -> tuple[Path, float]:
    """Install the wheel with an extra into a new environment; return its Python and the CPU seconds of the second time."""
    requirement = f"{wheel}[{extra}]" if extra else str(wheel)
    for _ in range(2):
        subprocess.run(["uv", "venv", "-q", "--clear", "--python", sys.executable, str(folder)], check=True)
        python = folder / "bin" / "python"
        seconds, _ = measure_command(["uv", "pip", "install", "-q", "--compile-bytecode", "--python", str(python), requirement])
    return python, seconds


def main() -> None:
    extras = sys.argv[1:] or EXTRAS
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["uv", "build", "-q", "--wheel", "-o", folder, str(ROOT)], check=True)
        [wheel] = Path(folder).glob("*.whl")
        print("| extra | MB | packages | installing, CPU s |\n|---|---|---|---|")
        for extra in extras:
            python, seconds = install_wheel(wheel, extra, Path(folder, f"env-{extra}"))
            [site] = python.parents[1].glob("lib/*/site-packages")
            packages = len([*site.glob("*.dist-info")])
            print(f"| {extra or 'none'} | {measure_megabytes(site):.0f} | {packages} | {seconds:.0f} |", flush=True)
        core, _ = install_wheel(wheel, "", Path(folder, "env"))
        print("\n| import | CPU s | modules |\n|---|---|---|")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        for name in IMPORTS:
            code = f"import sys; import gardenpath.{name}; print(len(sys.modules))"
            runs = [measure_command([str(core), "-c", code], env=environment, cwd=folder) for _ in range(5)]
            print(f"| `gardenpath.{name}` | {min(seconds for seconds, _ in runs):.2f} | {runs[0][1].strip()} |")


if __name__ == "__main__":
    main()
