"""The picture of the demo's report in README: four of its figures with their captions, side by side.

.venv/bin/gardenpath demo --force && .venv/bin/python benchmarks/report_pictures.py demo/report.html docs/pictures/report.png
"""

import argparse
from pathlib import Path

from gardenpath import experiment

SHOWN = (  # part of a caption, and which of the figures that have it
    ("Mean rating by phenomenon and condition", 0),
    ("Coefficient of grammaticality", 1),  # of reading times, after that of ratings
    ("share of pairs won on each paradigm", 0),
    ("mean reading time of each word against its surprisal", 0),
)
SIDE_BY_SIDE = """
shown => {
    const figures = [...document.querySelectorAll("figure")];
    const grid = document.createElement("div");
    grid.id = "picture";
    grid.style.cssText = "display: grid; grid-template-columns: 1fr 1fr; gap: 12px 40px; width: 1400px; background: white";
    for (const [text, n] of shown) {
        grid.append(figures.filter(one => one.textContent.includes(text))[n]);
    }
    document.body.replaceChildren(grid);
}
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("report", type=Path)
    arguments.add_argument("out", type=Path)
    given = arguments.parse_args()

    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=experiment.find_chromium())
        page = browser.new_page(viewport={"width": 1500, "height": 1300})
        page.goto(given.report.resolve().as_uri())
        page.evaluate(SIDE_BY_SIDE, SHOWN)
        page.locator("#picture").screenshot(path=given.out)
        browser.close()


if __name__ == "__main__":
    main()
