"""gardenpath demo: the example study from materials to report, each step by the command a user would type."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

import click

from . import options, simulation_parameters

EXAMPLE_STUDY = "minimal-pairs"
MS_PER_BIT = 1.0  # the pocket model gives words it does not know a hundred bits, so more would drown all else


@click.command("demo")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder to make.")
@click.option("--robots", type=click.IntRange(min=9), default=54, show_default=True, help="Robots that take the study over HTTP.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what the robots do.")
@click.option("--force", is_flag=True, help="Make the folder anew.")
def command(out: Path, robots: int, seed: int, force: bool) -> None:
    """Run the example study from end to end with robots as participants, and write report.html."""
    from gardenpath import study

    for module, extra in (("starlette", "online"), ("torch", "lm")):
        study.errors.require(module, extra)
    study.files.refuse_overwrite([out], force)
    if out.exists():
        _remove_demo(out)
    with as_file(files("gardenpath.examples") / EXAMPLE_STUDY) as example:
        shutil.copytree(example, out)
    folder = DemoFolder(out)
    scoring = folder.start_command("score", "items.csv", "--model", "pocket", "-o", "scores")  # beside the next three
    folder.run_command("check", "items.csv", "--rules", "blimp-nl")
    folder.run_command("convert", "items.csv", "items.jsonl")
    folder.run_command("design", "study.toml")
    folder.wait_for_command(scoring)
    with folder.serve_study() as address:
        _run_robots(out, address, robots, seed)
    folder.run_command("collect", "data", "-o", "tables")
    folder.run_command("analyse", "tables", "--study", "study.toml", "-o", "results")
    folder.run_command("evaluate", "items.csv", "--model", "pocket", "--scores", "scores", "-o", "results")
    folder.run_command("align", "tables", "scores", "--study", "study.toml", "-o", "results")
    folder.run_command("report", "study.toml", "-o", "report.html")
    click.echo(
        f"\nDone. Look at {out / 'report.html'} in a browser: what was run, ratings, reading times, surprisal, accuracy.\n"
        f"Every number in it stands in a table under {out / 'tables'}, {out / 'scores'} or {out / 'results'}.\n"
        "The readers were robots with known effects and the model is a toy: the numbers show the path, not a language.\n"
        f"To be a participant yourself:  gardenpath serve {out / 'study.toml'}"
    )


def _remove_demo(out: Path) -> None:
    """Remove an earlier demo, and nothing that is not one."""
    if not (out / "study.toml").exists():
        raise ValueError(f"{out}: not an earlier demo, so it is not removed; expected a study.toml in it; give another -o")
    shutil.rmtree(out)


class DemoFolder:
    """The demo's folder, in which commands run as they would when typed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start_command(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command and show it."""
        click.secho(f"\n$ gardenpath {' '.join(arguments)}", bold=True)
        call = [sys.executable, "-m", "gardenpath.cli.main", *arguments]
        piped = subprocess.PIPE if arguments[0] == "serve" else None
        return subprocess.Popen(call, cwd=self.path, stdout=piped, text=True)

    def wait_for_command(self, process: "subprocess.Popen[str]") -> None:
        """Wait for a command; a failure ends the demo with its exit code."""
        if process.wait():
            click.get_current_context().exit(process.returncode)

    def run_command(self, *arguments: str) -> None:
        """Run a command to its end."""
        self.wait_for_command(self.start_command(*arguments))

    @contextmanager
    def serve_study(self) -> Iterator[str]:
        """Serve the study on a free port while the block runs, and give its address."""
        server = self.start_command("serve", "study.toml", "--port", "0")
        try:
            assert server.stdout is not None
            for line in server.stdout:
                click.echo(line, nl=False)
                if match := re.search(r"http://\S+/", line):
                    yield match.group()
                    break
            else:
                self.wait_for_command(server)
        finally:
            server.terminate()
            server.wait()


def _run_robots(out: Path, address: str, robots: int, seed: int) -> None:
    """Let robots take the study over HTTP, and one in Chromium where there is one; note what is true of them."""
    from concurrent.futures import ThreadPoolExecutor

    from gardenpath import experiment, study
    from gardenpath.experiment.server import routes

    key = routes.compute_preview_key(routes.load_existing_key(out / "data" / "participant.key"))
    scores = study.read(out / "scores", "surprisal")
    effects = experiment.Effects(terms=study.load(out).simulate, ms_per_bit=(MS_PER_BIT,))
    robot = experiment.create_robot(experiment.read_list_files(out / "lists"), seed=seed, effects=effects, surprisal=scores)
    chromium = experiment.find_chromium() if _has_playwright() else None
    with ThreadPoolExecutor(1) as executor, options.show_progress(f"{robots} robots over HTTP", robots) as move:
        browser_session = chromium and executor.submit(
            experiment.run_session_in_browser,
            robot,
            address,
            "robot-at-the-page",
            key=key,
            chromium=chromium,
            pace=2.5,
            pictures=out / "pictures",
        )
        for n in range(robots):
            experiment.run_robot_session(robot, experiment.HttpTransport(address, key), f"robot-{n + 1:03}")
            move(n + 1, robots)
    simulation_parameters.write_parameters(out / "data", effects, scores, participants=robots, inputs=[], seed=seed)
    if browser_session:
        browser_session.result()
        click.echo(f"one more session in Chromium, key by key; its pages: {out / 'pictures'}")
    else:
        click.echo("no session in a browser: Chromium or playwright is not installed; all else is the same")


def _has_playwright() -> bool:
    from importlib.util import find_spec

    return find_spec("playwright") is not None
