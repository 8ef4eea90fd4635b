"""Screenshots of every page that participants see, for the docs and for looking at them: small studies in real Chromium.

.venv/bin/python benchmarks/page_pictures.py docs/pictures/page
"""

import argparse
import json
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import sqlite_url

SIZE = {"width": 960, "height": 600}
PAIRS = {
    "en": ("The key to the cabinets is rusty.", "The key to the cabinets are rusty."),
    "he": ("הילדה מהכפר הקטן קראה את הספר.", "הילדה מהכפר הקטן קראו את הספר."),
    "zh": ("我们 昨天 晚上 看 了 一场 电影。", "我们 昨天 晚上 了 看 一场 电影。"),
}
ASKED = {"text": "Was the key rusty?", "choices": ["yes", "no"]}
QUESTION = """
[procedure.tasks.comprehension]
kind = "question"
"""
RATING = """
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
"""
FORM = """
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
low = 18
high = 99
needed = true
[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right", "either"]
"""


def study_text(design: str, procedure: str, show: str, ask: Sequence[str], language: str) -> str:
    """Return a study.toml."""
    return f"""
name = "pictures"
title = "Reading sentences"
language = "{language}"
seed = 1
[materials]
files = ["items.jsonl"]
[design]
ratio = {{ grammatical = 1, ungrammatical = 1 }}
versions = 2
{design}
[procedure]
breaks = 1
[procedure.target]
show = "{show}"
ask = {json.dumps(ask)}
{procedure}
[online]
completion_code = "GARDEN-PATH-1"
"""


def items(language: str, context: bool) -> str:
    """Return two pairs of the language; of Chinese the words are segmented as they stand between spaces."""
    joint = "" if language == "zh" else " "
    sentences = {}
    for condition, text in zip(("grammatical", "ungrammatical"), PAIRS[language], strict=True):
        spans: list[list[int]] = []
        for word in text.split():
            start = spans[-1][1] + len(joint) if spans else 0
            spans.append([start, start + len(word)])
        sentences[condition] = {"text": joint.join(text.split()), "regions": [], "segmentation": spans}
    records: list[dict[str, Any]] = [{"record": "paradigm", "id": "agreement", "phenomenon": "agreement"}]
    for item, answer in (("a-1", "yes"), ("a-2", "no")):
        question = {**ASKED, "answers": dict.fromkeys(sentences, answer)}
        record = {"record": "item", "id": item, "paradigm": "agreement", "language": language, "sentences": sentences}
        told = {"context": "The janitor opened the drawer for the first time in years."} if context else {}
        records.append({**record, "question": question, **told})
    return "\n".join(json.dumps(record) for record in records) + "\n"


@contextmanager
def serving(text: str, materials: str, site: routes.Site | None = None) -> Iterator[str]:
    """Serve a study on a free port and give its address."""
    uvicorn = study.errors.require("uvicorn", "online")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "items.jsonl").write_text(materials)
        (folder / "study.toml").write_text(text)
        stated = study.load(folder)
        opened = routes.open_store(stated, experiment.version_files(stated), sqlite_url(folder / "study.sqlite"))
        listener = routes.listen("127.0.0.1", 0)
        app = routes.application(opened, stated, key=b"pictures", site=site)
        running = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/?PROLIFIC_PID=P1"
        running.should_exit = True
        thread.join()
        opened.database.engine.dispose()


class Camera:
    """Goes through a session and takes the pictures that are wanted, each once."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, folder

    def shown(self) -> tuple[str, str]:
        """Return kind and name of what is shown, the uppermost."""
        self.page.wait_for_selector("[data-screen]")
        last = self.page.locator("[data-screen]").last
        return str(last.get_attribute("data-screen")), str(last.get_attribute("data-name"))

    def take(self, name: str) -> None:
        """Take a picture."""
        from PIL import Image

        self.page.wait_for_timeout(60)
        path = self.folder / f"{name}.png"
        self.page.screenshot(path=str(path))
        Image.open(path).convert("RGB").quantize(32).save(path, optimize=True)

    def forward(self) -> None:
        """Do what leads on."""
        kind, name = self.shown()
        self.page.wait_for_timeout(60)
        if kind == "slider":
            self.page.locator(".slider").fill("70")
        if name == "consent":
            self.page.locator("button.first").click()
        elif kind == "form":
            self.page.locator(".field").first.fill("31")
            self.page.locator("button.first").click()
        else:
            self.page.keyboard.press("1" if kind == "answers" else "Space", delay=25)
        self.page.wait_for_timeout(40)

    def to(self, wanted: str) -> None:
        """Go on until this kind or name is shown."""
        while wanted not in self.shown():
            self.forward()

    def at(self, wanted: str, name: str | None = None) -> None:
        """Go on until this is shown and take a picture."""
        self.to(wanted)
        self.take(name or wanted)


def sessions(browser: Any, folder: Path) -> None:
    """Take every picture."""

    @contextmanager
    def camera(
        design: str,
        procedure: str,
        show: str = "centred",
        ask: Sequence[str] = ("acceptability",),
        language: str = "en",
        context: bool = False,
        site: routes.Site | None = None,
    ) -> Iterator[Camera]:
        text = study_text(design, procedure, show, ask, language)
        with serving(text, items(language, context), site) as address:
            page = browser.new_page(viewport=SIZE)
            page.goto(address)
            yield Camera(page, folder)
            page.close()

    both = ("comprehension", "acceptability")
    with camera("", QUESTION + RATING + FORM, ask=both, context=True) as shot:
        for screen in ("device", "consent", "instructions", "context", "start"):
            shot.at(screen)
        for _ in range(4):
            shot.forward()
        shot.at("word", "centred")
        shot.page.evaluate("dispatchEvent(new Event('blur')), null")
        shot.at("cover", "interrupted")
        shot.at("comprehension", "question")
        shot.at("acceptability", "rating")
        shot.at("break")
        shot.page.locator("button.quiet").click()
        shot.take("withdraw")
        shot.page.locator("[data-screen=withdraw] button.first").click()
        shot.at("form")
        shot.forward()
        shot.page.wait_for_selector(".code")
        shot.take("end")
    for show in ("moving_window", "cumulative", "whole", "with_task"):
        with camera("", RATING, show) as shot:
            first = {"whole": "whole", "with_task": "acceptability"}.get(show, "word")
            shot.to(first)
            for _ in range(3 if first == "word" else 0):
                shot.forward()
            shot.take(show)
    yes_no = '[procedure.tasks.acceptability]\nkind = "rating"\nscale = "yes_no"\nprompt = "Is this a good sentence?"\n'
    for name, rating in (("slider", RATING + 'scale = "slider"\n'), ("yes_no", yes_no)):
        with camera("", rating, "with_task") as shot:
            shot.at("acceptability", name)
            if name == "slider":
                shot.page.locator(".slider").fill("70")
                shot.take("slider-moved")
    for arrangement in ("side_by_side", "stacked"):
        task = f'[procedure.tasks.choice]\nkind = "choice"\narrangement = "{arrangement}"\n'
        with camera('trial = "pair"', task, "with_task", ["choice"]) as shot:
            shot.at("choice", arrangement)
    for language in ("he", "zh"):
        with camera("", RATING, "moving_window", language=language) as shot:
            shot.at("consent", f"consent-{language}")
            shot.to("word")
            for _ in range(3):
                shot.forward()
            shot.take(f"moving_window-{language}")
    with camera("", RATING) as shot:
        shot.to("consent")
        shot.page.locator("button.second").click()
        shot.page.wait_for_selector("text=nothing has been stored")
        shot.take("declined")
    with camera("", RATING, site=routes.Site(kiosk=60)) as shot:
        shot.page.wait_for_selector("[data-screen=kiosk]")
        shot.page.keyboard.type("tulip-42")
        shot.take("kiosk")


def main() -> None:
    """Take the pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with study.errors.require("playwright.sync_api", "browser").sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=experiment.find_chromium(), args=arguments)
        sessions(browser, folder)
        browser.close()
    for path in sorted(folder.glob("*.png")):
        print(f"{path}: {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
