"""Pictures of a report for README and docs: four of its figures with their captions, side by side.

.venv/bin/gardenpath demo --force
.venv/bin/python benchmarks/report_pictures.py report demo/report.html docs/pictures/report.png
.venv/bin/python benchmarks/report_pictures.py report demo/report.html docs/pictures/report-dark.png --dark

docs/pictures/models.png is `models`, of the demo with two n-gram models beside the toy.
"""

import argparse
from pathlib import Path

from gardenpath import experiment

CAPTION_TEXTS = {  # how captions begin, or what stands in them
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
LAYOUT_SCRIPT = r"""
shown => {
    const figures = [...document.querySelectorAll("figure")];
    const columns = document.createElement("div");
    columns.id = "picture";
    columns.style.cssText = "columns: 2; column-gap: 48px; width: 1400px; padding: 16px; background: var(--paper)";
    for (const text of shown) {
        const figure = figures.find(one => one.textContent.includes(text));
        if (!figure) throw new Error(`the report has no figure of which is said: ${text}`);
        const caption = figure.querySelector("figcaption");
        const said = caption.textContent.trim().replace(/^.*?\(default\): /, "").split(/[.;:,] /)[0];
        caption.textContent = said[0].toUpperCase() + said.slice(1);
        figure.style.cssText = "break-inside: avoid; margin: 0 0 24px";
        figure.prepend(caption);
        columns.append(figure);
    }
    document.body.replaceChildren(columns);
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=CAPTION_TEXTS)
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dark", action="store_true", help="as a browser in dark mode shows it")
    options = parser.parse_args()

    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=experiment.find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 1300}, color_scheme="dark" if options.dark else "light")
        page.goto(options.report.resolve().as_uri())
        page.evaluate(LAYOUT_SCRIPT, CAPTION_TEXTS[options.picture])
        page.locator("#picture").screenshot(path=options.out)
        browser.close()


if __name__ == "__main__":
    main()
