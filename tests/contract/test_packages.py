""".ci/packages on machines that have some of what the tests need: it asks for the rest, and for nothing else.

The machines are made up of programs that stand in for those it asks: apt-get, fc-list, ldconfig, R.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gardenpath.analysis.engines import r_process

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "packages"
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")

STATED = re.search(r'^R_PACKAGES="(.*)"$', SCRIPT.read_text(), re.MULTILINE)
R_PACKAGES = STATED.group(1).split() if STATED else []
PROGRAMS = {"chromium": "chromium", "initdb": "postgresql", "Rscript": "r-base-core", "R": "r-base-core", "Xvfb": "xvfb",
            "xdotool": "xdotool", "xwininfo": "x11-utils", "fc-list": "fontconfig"}  # fmt: skip
LIBRARIES = {"libGL.so.1": "libgl1", "libGLX_mesa.so.0": "libglx-mesa0", "libGLU.so.1": "libglu1-mesa",
             "libportaudio.so.2": "libportaudio2", "libasound.so.2": "libportaudio2", "libjack.so.0": "libportaudio2",
             "libfribidi.so.0": "libfribidi0"}  # fmt: skip
FONTS = {"en": "fonts-dejavu-core", "ar": "fonts-dejavu-core", "he": "fonts-dejavu-core", "zh": "fonts-wqy-microhei"}
LOADED = {name: f"r-cran-{name.lower()}" for name in R_PACKAGES}
PACKAGE_OF = PROGRAMS | LIBRARIES | FONTS | LOADED | {"headers": "r-base-dev"}
DRIVER = {"libgl1-mesa-dri"}  # looked for in /usr/lib, of which there is one

# What each program answers, from the files in the folder `there`.
ANSWERS = {
    "apt-get": """
        echo "$*" >>"$HERE/asked"
        case " $* " in *" $REFUSED "*) echo "E: Unable to locate package $REFUSED" >&2; exit 100;; esac
        while read -r thing package; do
            case " $* " in *" install "*" $package "*) if [ -e "$HERE/store/$thing" ]; then cp "$HERE/store/$thing" "$HERE/bin"; else touch "$HERE/there/$thing"; fi;; esac
        done <"$HERE/packages" """,
    "id": 'echo "${USER_ID-0}"',
    "uname": "echo x86_64",
    "ldconfig": 'for file in "$HERE"/there/lib*; do echo "	${file##*/} (libc6,x86-64) => $file"; done',
    "fc-list": 'language=${1#:lang=}; if [ -e "$HERE/there/$language" ]; then echo a.ttf; fi',
    "Rscript": 'shift 3; for name; do if [ ! -e "$HERE/there/$name" ]; then printf "%s " "$name"; fi; done',
    "R": 'if [ "$3" != CC ]; then exit; fi; if [ -e "$HERE/there/headers" ]; then echo true; else echo false; fi',
}  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A machine that has everything but what is taken away."""

    folder: Path

    def lose(self, *things: str) -> None:
        for thing in things:
            (self.folder / ("bin" if (self.folder / "bin" / thing).exists() else "there") / thing).unlink()

    def install(self, refused: str = "none", user: int = 0) -> tuple[set[str], str]:
        """Run the script; return the packages that apt-get was asked for, and what was said at the end."""
        environment = {
            "PATH": str(self.folder / "bin"),
            "HERE": str(self.folder),
            "REFUSED": refused,
            "USER_ID": str(user),
            "OS_RELEASE": str(self.folder / "os-release"),
        }
        done = subprocess.run([str(BASH), str(SCRIPT)], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        log = self.folder / "asked"
        calls = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        asked = {word for call in calls if "install" in call for word in call[call.index("install") + 1 :]}
        return {word for word in asked if not word.startswith("-")} - DRIVER, done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for name in ("bin", "store", "there"):
        (tmp_path / name).mkdir()
    for name in ("cat", "cp", "env", "mktemp", "rm", "sed", "sort", "touch", "tr"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    for name in {*PROGRAMS, *ANSWERS}:
        for folder in ("bin", "store"):
            (tmp_path / folder / name).write_text(f"#!{BASH}\n{ANSWERS.get(name, '')}\n")
            (tmp_path / folder / name).chmod(0o755)
    for name in {*LIBRARIES, *FONTS, *LOADED, "headers"}:
        (tmp_path / "there" / name).touch()
    (tmp_path / "packages").write_text("".join(f"{thing} {package}\n" for thing, package in PACKAGE_OF.items()))
    return Machine(tmp_path)


def test_where_everything_is_there_nothing_is_asked_for(machine: Machine) -> None:
    assert machine.install()[0] == set()


@pytest.mark.parametrize(
    "thing", ["chromium", "Xvfb", "xdotool", "xwininfo", "headers", *LIBRARIES, *FONTS, "broom.mixed", "bayestestR"]
)
def test_each_thing_is_asked_for_by_itself(machine: Machine, thing: str) -> None:
    machine.lose(thing)
    asked, said = machine.install()
    assert asked == {PACKAGE_OF[thing]}
    assert PACKAGE_OF[thing] not in said, "it is there now"


def test_what_is_asked_of_a_program_that_is_absent_is_taken_as_absent(machine: Machine) -> None:
    machine.lose("fc-list", "ldconfig")
    asked, _ = machine.install()
    assert {"fontconfig", *FONTS.values()} <= asked <= {"fontconfig", *FONTS.values(), *LIBRARIES.values()}
    machine.lose("Rscript", "R")
    asked, _ = machine.install()
    assert {"r-base-core", "r-base-dev", *LOADED.values()} <= asked


def test_a_browser_that_does_not_start_is_none(machine: Machine) -> None:
    (machine.folder / "bin" / "chromium").write_text(f"#!{BASH}\nexit 1\n")
    assert machine.install()[0] == {"chromium"}


def test_debian_has_a_browser_that_costs_less_which_is_asked_for_and_not_missed(machine: Machine) -> None:
    (machine.folder / "os-release").write_text('PRETTY_NAME="Debian GNU/Linux"\nID=debian\n')
    assert machine.install() == ({"chromium-headless-shell"}, "")
    machine.lose("xdotool")
    asked, said = machine.install(refused="chromium-headless-shell")
    assert (asked, said) == ({"chromium-headless-shell", "xdotool"}, "")
    (machine.folder / "bin" / "chromium-headless-shell").symlink_to(str(shutil.which("true")))
    machine.lose("chromium")
    (machine.folder / "asked").unlink()
    assert machine.install()[0] == set()


def test_a_package_that_is_refused_keeps_no_other_from_being_installed(machine: Machine) -> None:
    machine.lose("xdotool", "zh", "ordinal", "libGLU.so.1")
    asked, said = machine.install(refused="xdotool")
    assert asked == {"xdotool", "fonts-wqy-microhei", "r-cran-ordinal", "libglu1-mesa"}
    assert "because apt-get could not install them; the tests that need them are skipped:\n" in said
    assert "  xdotool: the window of the lab (xdotool)\n" in said
    assert not {"fonts-wqy-microhei", "r-cran-ordinal", "libglu1-mesa"} & set(re.findall(r"[\w-]+", said))
    assert (machine.folder / "there" / "zh").exists()


@pytest.mark.parametrize("user", [0, 1000])
def test_without_apt_get_or_root_what_is_missing_is_named(machine: Machine, user: int) -> None:
    machine.lose("xdotool", "zh", *(["apt-get"] if user == 0 else []))
    asked, said = machine.install(user=user)
    assert asked == set()
    assert "because there is no apt-get here, or no root; the tests that need them are skipped:\n" in said
    assert {"xdotool", "fonts-wqy-microhei"} <= set(re.findall(r"^  ([\w-]+):", said, re.MULTILINE))


def test_every_package_of_r_that_code_here_loads_is_asked_for() -> None:
    of_r = {"base", "methods", "parallel", "stats", "utils"}
    loads = re.compile(r"\b([A-Za-z][\w.]*)::\w|\blibrary\(([\w.]+)\)")
    for path in [*ROOT.glob("analysis/**/*.py"), *ROOT.glob("analysis/**/*.R"), *ROOT.glob("tests/analysis/**/*.py")]:
        for found in loads.finditer(path.read_text()):
            name = found.group(1) or found.group(2)
            # arrow reads Parquet tables, which no test hands to R; brms with what it brings is tested where it is installed.
            assert name in {*R_PACKAGES, *of_r, "arrow", "brms", "ggplot2", "rstan"}, f"{path.relative_to(ROOT)} loads {name}"
    assert set(r_process.REQUIRED_PACKAGES) <= set(R_PACKAGES)
