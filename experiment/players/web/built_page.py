"""Where the built page lies."""

from pathlib import Path

WEB_FOLDER = Path(__file__).parent


def find_page_folder(web: Path = WEB_FOLDER) -> Path:
    """Return the folder of the built page; `FileNotFoundError` says how to get it in a checkout or an installed package."""
    folder = web / "dist"
    if (folder / "index.html").exists():
        return folder
    if (web / "build.mjs").exists():
        remedy = f"run  make web  in {web.parents[2]} (it needs Node.js 20 or newer with npm)"
    else:
        remedy = (
            "install gardenpath again from a wheel that holds it, or, with Node.js 20 or newer and npm installed, from its "
            "sources:  pip install --force-reinstall --no-deps SOURCES"
        )
    raise FileNotFoundError(f"{folder}: the page is not built; {remedy}")
