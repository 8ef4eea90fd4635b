"""The files of deploy/ call commands, options and addresses that are there."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from gardenpath.cli.main import cli
from gardenpath.experiment.server import routes

DEPLOY = Path(__file__).parents[2] / "deploy"


def calls() -> list[list[str]]:
    """The words of each call: of the units, the image, and the compose file."""
    units = [line for path in DEPLOY.glob("*.service") for line in path.read_text().splitlines()]
    units = [re.sub(r"\$\$\(.*?\)", "day", line) for line in units]
    typed = [line.partition("bin/gardenpath ")[2].rstrip("'") for line in units if line.startswith("ExecStart=")]
    image = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.M)
    compose = re.search(r"command:\n((?: +- .*\n)+)", (DEPLOY / "compose.yaml").read_text())
    assert compose
    listed = [line.strip().removeprefix("- ") for line in compose.group(1).splitlines()]
    return [*map(shlex.split, typed), *map(json.loads, image), listed]


@pytest.mark.parametrize("words", calls(), ids=lambda words: words[0])
def test_calls_can_be_parsed(words: list[str]) -> None:
    context = click.Context(cli, **cli.context_settings)
    command = cli.get_command(context, words[0])
    assert command is not None
    # What stands for a value until it is called is no number; the values are not what is tested.
    values = [re.sub(r"%i", "8001", word) for word in words[1:]]
    made = command.make_context(words[0], values, parent=context)
    assert made.params["study_file"].name == "study.toml"


def test_the_image_asks_for_the_health_that_is_served() -> None:
    path = re.search(r"127\.0\.0\.1:8000(/\w+)'", (DEPLOY / "Dockerfile").read_text())
    assert path
    assert f'"{path.group(1)}"' in Path(str(routes.__file__)).read_text()


def test_the_servers_believe_the_proxy_alone() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    [address] = re.findall(r"ipv4_address: (\S+)", text)
    assert f"--trust-proxy={address}" in text
    assert len(re.findall(r"^    ports:", text, re.M)) == 1  # and only the proxy can be reached
