"""Options that several commands share, and how a command talks."""

import functools
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from gardenpath.study.config import NormSection

output_path = click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder or file to write.")
force = click.option("--force", is_flag=True, help="Overwrite what is there.")
seed = click.option("--seed", type=int, default=None, help="Seed of everything drawn by chance; printed when not given.")


class LazyChoice(click.Choice[str]):
    """A choice among names that a package lists; it is asked for them when they are needed, not when the command line starts."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names, in the package's order."""
        return tuple(self.names())


def _require_parquet(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Say before the work, not after it, that Parquet cannot be written."""
    if value:
        from gardenpath import study

        study.errors.require("pyarrow", "parquet")
    return value


parquet = click.option("--parquet", is_flag=True, callback=_require_parquet, help="Write tables as Parquet instead of CSV.")
skip_bad = click.option("--skip-bad", is_flag=True, help="Leave out what cannot be read, and name it.")
mapping = click.option("--mapping", type=click.Path(path_type=Path), help="What the columns of a table of another lab are (TOML).")
norm = click.option(
    "--norm",
    "norm",
    nargs=4,
    multiple=True,
    metavar="NAME FILE WORD VALUE",
    help="Values of words from a table of your own (CSV, tabs, xlsx), such as  aoa AoA.xlsx Word Rating.Mean.  Repeatable.",
)
materials = click.argument("materials", nargs=-1, required=True, type=click.Path(path_type=Path))
database = click.option(
    "--database",
    metavar="URL",
    envvar="GARDENPATH_DATABASE",
    help="Database, also from GARDENPATH_DATABASE [default: SQLite at data/study.sqlite beside STUDY.toml].",
)
data_folder = click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Folder of the data [default: data/ beside STUDY.toml]."
)
study_file = click.argument(
    "study_file",
    metavar="STUDY.toml",
    type=click.Path(path_type=Path),
    callback=lambda context, parameter, path: path / "study.toml" if path.is_dir() else path,
)


def add_worker_options(help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command --workers (with this help), --ray and --address."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def call(*args: Any, ray: bool, address: str | None, **arguments: Any) -> None:
            if address and not ray:
                raise click.UsageError("--address belongs to --ray")
            command(*args, ray=ray, address=address, **arguments)

        wrapped: Callable[..., None] = call
        for option in (
            click.option("--address", metavar="A", help="With --ray: address of a cluster that is there, such as auto."),
            click.option("--ray", is_flag=True, help="Work is done by actors of Ray: of this machine, or of --address."),
            click.option("--workers", type=click.IntRange(min=1), metavar="N", help=help),
        ):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def add_executor_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --workers, --ray and --address, as its argument `add_executor_options`: an engine, or None for this process
    alone."""

    @add_worker_options("Processes, or actors.  [default: 1]")
    @functools.wraps(command)
    def call(*args: Any, workers: int | None, ray: bool, address: str | None, **arguments: Any) -> None:
        from gardenpath.study import executors

        executor = executors.LocalExecutor(workers) if workers and workers > 1 else None
        command(*args, workers=executors.RayExecutor(workers or 1, address=address) if ray else executor, **arguments)

    return call


def parse_norms(norm_options: Sequence[tuple[str, str, str, str]]) -> "dict[str, NormSection]":
    """Return the norms that a command line names, by name."""
    from gardenpath.study.config import NormSection

    return {name: NormSection(file, word, value) for name, file, word, value in norm_options}


def print_notice(message: str) -> None:
    """Say something to the person at the terminal, on stderr."""
    click.echo(message, err=True)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 item, 2 items."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Return a time in words.

    >>> format_duration(40), format_duration(200), format_duration(20_000)
    ('40 s', '3 min', '5.6 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def format_columns(rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """Return the rows with each column as wide as its longest cell; numbers stand to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def cell(text: str, i: int) -> str:
        return text.rjust(widths[i]) if numbers and i else text.ljust(widths[i])

    return "\n".join("  ".join(cell(text, i) for i, text in enumerate(row)).rstrip() for row in rows)


def format_command_line() -> str:
    """Return the command as it was typed, for sidecars."""
    return shlex.join(["gardenpath", *sys.argv[1:]])


@contextmanager
def show_progress(label: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr, with the time left and how many a second, and give what moves it: (done, total)."""
    started = time.monotonic()
    bar: ProgressBar[object] = click.progressbar(
        length=total, label=label, file=sys.stderr, show_pos=True, item_show_func=lambda speed: str(speed or "")
    )
    with bar:

        def move(done: int, total: int) -> None:
            bar.length = total
            speed = done / max(time.monotonic() - started, 1e-3)
            bar.update(done - bar.pos, f"{speed:.{0 if speed > 10 else 1}f}/s")

        yield move
