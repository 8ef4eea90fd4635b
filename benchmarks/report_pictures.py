"""Pictures of a report for README and docs: four of its figures with their captions, side by side.

.venv/bin/gardenpath demo --force
.venv/bin/python benchmarks/report_pictures.py report demo/report.html docs/pictures/report.png

docs/pictures/models.png is `models`, of the demo with two n-gram models beside the toy.
"""

import argparse
from pathlib import Path

from gardenpath import experiment

SHOWN = {  # how captions begin, or what stands in them
    "report": (
        "Mean rating by phenomenon and condition",
        "Effect of grammaticality on reading times",
        "share of pairs won on each paradigm",
        "mean reading time of each word against its surprisal",
    ),
    "models": (
        "Slopes of surprisal from two words ahead",
        "Pairs won on each paradigm",
        "Gain in log likelihood for each held-out reading",
        "How many more pairs the first of two models wins",
    ),
}
SIDE_BY_SIDE = """
shown => {
    const figures = [...document.querySelectorAll("figure")];
    const grid = document.createElement("div");
    grid.id = "picture";
    grid.style.cssText = "display: grid; grid-template-columns: 1fr 1fr; gap: 12px 40px; width: 1400px; background: white";
    for (const text of shown) {
        const figure = figures.find(one => one.textContent.includes(text));
        if (!figure) throw new Error(`the report has no figure of which is said: ${text}`);
        grid.append(figure);
    }
    document.body.replaceChildren(grid);
}
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("picture", choices=SHOWN)
    arguments.add_argument("report", type=Path)
    arguments.add_argument("out", type=Path)
    given = arguments.parse_args()

    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=experiment.find_chromium())
        page = browser.new_page(viewport={"width": 1500, "height": 1300})
        page.goto(given.report.resolve().as_uri())
        page.evaluate(SIDE_BY_SIDE, SHOWN[given.picture])
        page.locator("#picture").screenshot(path=given.out)
        browser.close()


if __name__ == "__main__":
    main()
