"""The command line: one file a command, loaded only when it is called; errors in one or two lines."""

import gc
import importlib
import logging
import re
import sys

import click

COMMANDS = (
    "new",
    "generate",
    "extract",
    "draft",
    "review",
    "check",
    "convert",
    "select",
    "split",
    "norm",
    "design",
    "simulate",
    "plan",
    "preregister",
    "serve",
    "lab",
    "links",
    "forget",
    "backup",
    "prolific",
    "export",
    "collect",
    "score",
    "evaluate",
    "judge",
    "sweep",
    "maze",
    "analyse",
    "multiverse",
    "pool",
    "align",
    "report",
    "deviations",
    "bundle",
    "demo",
)


class CommandGroup(click.Group):
    """The commands of gardenpath, in the order of a study."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"gardenpath.cli.{name}").command
        return command

    def resolve_command(self, context: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib

            close_matches = difflib.get_close_matches(name, COMMANDS, n=1)
            suggestion = f"did you mean {close_matches[0]!r}?" if close_matches else f"expected one of {', '.join(COMMANDS)}"
            context.fail(f"no command {name!r}; {suggestion}")
        return super().resolve_command(context, args)


MAX_FAULTS_SHOWN = 50  # faults of a file that are printed: thousands are most often one, made again in each line


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gardenpath")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Minimal pairs and factorial items: from materials to experiments, mixed models and surprisal."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 the data are wrong, 2 the call is wrong."""
    gc.set_threshold(100_000)  # tables are made of many small objects, hardly any of which refer to each other in circles
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger("gardenpath").setLevel(logging.INFO)
    debug = "--debug" in sys.argv
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error = _name_renamed(error)
        error.show()
        sys.exit(error.exit_code if isinstance(error, click.UsageError) else 1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; outputs are written whole or not at all, so nothing is half done", err=True)
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        sys.exit(_print_error(error))


def _name_renamed(error: click.ClickException) -> click.ClickException:
    """Return an error of the call; one that an old option or command makes names the new one."""
    from gardenpath.study.renamed_names import find_new_name

    context = error.ctx if isinstance(error, click.UsageError) else None
    words: list[str] = []  # the command, and its subcommand
    while context and context.parent:
        words.insert(0, str(context.info_name))
        context = context.parent
    if isinstance(error, click.NoSuchOption) and words:
        old, new = error.option_name, find_new_name("option", words[0], error.option_name)
    else:
        unknown = re.search(r"[Nn]o (?:such )?command '([\w-]+)'", error.message)
        old = " ".join([*words, unknown[1]]) if unknown else ""
        new = find_new_name("command", "", old)
    return click.UsageError(f"{old} is now {new}", error.ctx) if new and isinstance(error, click.UsageError) else error


def _print_error(error: Exception) -> int:
    """Print an error for the user and return the exit code."""
    from gardenpath.study import DataError, MissingExtra

    if isinstance(error, DataError):
        hidden_count = len(error.faults) - MAX_FAULTS_SHOWN
        rest = [f"... and {hidden_count} more; --debug shows all {len(error.faults)}"] if hidden_count > 0 else []
        click.echo("\n".join([*error.faults[:MAX_FAULTS_SHOWN], *rest]), err=True)
        return 1
    if isinstance(error, OSError) and error.filename and error.strerror:
        click.echo(f"{error.filename}: {error.strerror}", err=True)
    elif isinstance(error, (ValueError, OSError, MissingExtra)):
        click.echo(str(error), err=True)
    else:
        name = type(error).__name__
        click.echo(
            f"unexpected {name}: {error}\nthis is a fault of gardenpath; please report it with what --debug prints", err=True
        )
    return 2


if __name__ == "__main__":
    main()
