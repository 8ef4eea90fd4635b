"""A step of setuptools (pyproject.toml): a wheel and an archive of sources carry the built page. Nothing imports this later."""

import logging
import shutil
import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

log = logging.getLogger(__name__)
WEB_FOLDER = Path(__file__).parent
MISSING_PAGE_MESSAGE = "gardenpath is built without the page that participants see"


def build_page(web: Path = WEB_FOLDER) -> None:
    """Build the page where it is not built; without Node.js or a network it is said, and what needs no page still installs."""
    if (web / "dist" / "index.html").exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        log.warning("npm is not installed (Node.js 20 or newer): %s", MISSING_PAGE_MESSAGE)
        return
    for step in (["ci", "--no-audit", "--no-fund"], ["run", "--silent", "build"]):
        done = subprocess.run([npm, *step], cwd=web, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            log.warning("npm %s failed: %s: %s", step[0], done.stdout.strip(), MISSING_PAGE_MESSAGE)
            return


class BuildPage(build_py):  # type: ignore[misc]
    """Build the page before files are copied; in an editable install `make web` does."""

    def run(self) -> None:
        """Build the page, then copy."""
        if not self.editable_mode:
            build_page()
        super().run()


class PackPage(sdist):  # type: ignore[misc]
    """Build the page before sources are packed: who installs from them needs no Node.js."""

    def run(self) -> None:
        """Build the page, then pack."""
        build_page()
        super().run()
