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
from gardenpath.experiment.server.database import build_sqlite_url

VIEWPORT = {"width": 960, "height": 600}
SENTENCE_PAIRS = {
    "en": ("The key to the cabinets is rusty.", "The key to the cabinets are rusty."),
    "he": ("הילדה מהכפר הקטן קראה את הספר.", "הילדה מהכפר הקטן קראו את הספר."),
    "zh": ("我们 昨天 晚上 看 了 一场 电影。", "我们 昨天 晚上 了 看 一场 电影。"),
}
QUESTION_CONTENT = {"text": "Was the key rusty?", "choices": ["yes", "no"]}
QUESTION_TOML = """
[procedure.tasks.comprehension]
kind = "question"
"""
RATING_TOML = """
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
"""
FORM_TOML = """
[[procedure.demographics]]
name = "age"
label = "How old are you?"
kind = "number"
min = 18
max = 99
required = true
[[procedure.demographics]]
name = "hand"
label = "Which hand do you write with?"
kind = "choice"
choices = ["left", "right", "either"]
"""


def format_study(design: str, procedure: str, show: str, ask: Sequence[str], language: str) -> str:
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
lists = 2
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


def format_items(language: str, context: bool) -> str:
    """Return two pairs of the language; of Chinese the words are segmented as they stand between spaces."""
    separator = "" if language == "zh" else " "
    sentences = {}
    for condition, text in zip(("grammatical", "ungrammatical"), SENTENCE_PAIRS[language], strict=True):
        spans: list[list[int]] = []
        for word in text.split():
            start = spans[-1][1] + len(separator) if spans else 0
            spans.append([start, start + len(word)])
        sentences[condition] = {"text": separator.join(text.split()), "regions": [], "segmentation": spans}
    entries: list[dict[str, Any]] = [{"record": "paradigm", "id": "agreement", "phenomenon": "agreement"}]
    for item, answer in (("a-1", "yes"), ("a-2", "no")):
        question = {**QUESTION_CONTENT, "answers": dict.fromkeys(sentences, answer)}
        entry = {"record": "item", "id": item, "paradigm": "agreement", "language": language, "sentences": sentences}
        context_field = {"context": "The janitor opened the drawer for the first time in years."} if context else {}
        entries.append({**entry, "question": question, **context_field})
    return "\n".join(json.dumps(entry) for entry in entries) + "\n"


@contextmanager
def serve_study(text: str, materials: str, site: routes.SiteSettings | None = None) -> Iterator[str]:
    """Serve a study on a free port and give its address."""
    uvicorn = study.errors.require("uvicorn", "online")
    with tempfile.TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder)
        (folder / "items.jsonl").write_text(materials)
        (folder / "study.toml").write_text(text)
        config = study.load(folder)
        store = routes.open_store(config, experiment.build_list_files(config), build_sqlite_url(folder / "study.sqlite"))
        listener = routes.bind_socket("127.0.0.1", 0)
        app = routes.create_application(store, config, key=b"pictures", site=site)
        server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/?PROLIFIC_PID=P1"
        server.should_exit = True
        thread.join()
        store.database.engine.dispose()


class Camera:
    """Goes through a session and takes the pictures that are wanted, each once."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, folder

    def get_screen(self) -> tuple[str, str]:
        """Return kind and name of what is shown, the uppermost."""
        self.page.wait_for_selector("[data-screen]")
        last = self.page.locator("[data-screen]").last
        return str(last.get_attribute("data-screen")), str(last.get_attribute("data-name"))

    def take_picture(self, name: str) -> None:
        """Take a picture."""
        from PIL import Image

        self.page.wait_for_timeout(60)
        path = self.folder / f"{name}.png"
        self.page.screenshot(path=str(path))
        Image.open(path).convert("RGB").quantize(32).save(path, optimize=True)

    def advance(self) -> None:
        """Do what leads on."""
        kind, name = self.get_screen()
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

    def advance_to(self, wanted: str) -> None:
        """Go on until this kind or name is shown."""
        while wanted not in self.get_screen():
            self.advance()

    def picture_screen(self, wanted: str, name: str | None = None) -> None:
        """Go on until this is shown and take a picture."""
        self.advance_to(wanted)
        self.take_picture(name or wanted)


def take_all_pictures(browser: Any, folder: Path) -> None:
    """Take every picture."""

    @contextmanager
    def open_camera(
        design: str,
        procedure: str,
        show: str = "centred",
        ask: Sequence[str] = ("acceptability",),
        language: str = "en",
        context: bool = False,
        site: routes.SiteSettings | None = None,
    ) -> Iterator[Camera]:
        text = format_study(design, procedure, show, ask, language)
        with serve_study(text, format_items(language, context), site) as address:
            page = browser.new_page(viewport=VIEWPORT)
            page.goto(address)
            yield Camera(page, folder)
            page.close()

    tasks = ("comprehension", "acceptability")
    with open_camera("", QUESTION_TOML + RATING_TOML + FORM_TOML, ask=tasks, context=True) as shot:
        for screen in ("device", "consent", "instructions", "context", "start"):
            shot.picture_screen(screen)
        for _ in range(4):
            shot.advance()
        shot.picture_screen("word", "centred")
        shot.page.evaluate("dispatchEvent(new Event('blur')), null")
        shot.picture_screen("cover", "interrupted")
        shot.picture_screen("comprehension", "question")
        shot.picture_screen("acceptability", "rating")
        shot.picture_screen("break")
        shot.page.locator("button.quiet").click()
        shot.take_picture("withdraw")
        shot.page.locator("[data-screen=withdraw] button.first").click()
        shot.picture_screen("form")
        shot.advance()
        shot.page.wait_for_selector(".code")
        shot.take_picture("end")
    for show in ("moving_window", "cumulative", "whole", "with_task"):
        with open_camera("", RATING_TOML, show) as shot:
            first = {"whole": "whole", "with_task": "acceptability"}.get(show, "word")
            shot.advance_to(first)
            for _ in range(3 if first == "word" else 0):
                shot.advance()
            shot.take_picture(show)
    yes_no = '[procedure.tasks.acceptability]\nkind = "rating"\nscale = "yes_no"\nprompt = "Is this a good sentence?"\n'
    for name, rating in (("slider", RATING_TOML + 'scale = "slider"\n'), ("yes_no", yes_no)):
        with open_camera("", rating, "with_task") as shot:
            shot.picture_screen("acceptability", name)
            if name == "slider":
                shot.page.locator(".slider").fill("70")
                shot.take_picture("slider-moved")
    for arrangement in ("side_by_side", "stacked"):
        task = f'[procedure.tasks.choice]\nkind = "choice"\narrangement = "{arrangement}"\n'
        with open_camera('trial = "pair"', task, "with_task", ["choice"]) as shot:
            shot.picture_screen("choice", arrangement)
    for language in ("he", "zh"):
        with open_camera("", RATING_TOML, "moving_window", language=language) as shot:
            shot.picture_screen("consent", f"consent-{language}")
            shot.advance_to("word")
            for _ in range(3):
                shot.advance()
            shot.take_picture(f"moving_window-{language}")
    with open_camera("", RATING_TOML) as shot:
        shot.advance_to("consent")
        shot.page.locator("button.second").click()
        shot.page.wait_for_selector("text=nothing has been stored")
        shot.take_picture("declined")
    with open_camera("", RATING_TOML, site=routes.SiteSettings(kiosk_seconds=60)) as shot:
        shot.page.wait_for_selector("[data-screen=kiosk]")
        shot.page.keyboard.type("tulip-42")
        shot.take_picture("kiosk")


def main() -> None:
    """Take the pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with study.errors.require("playwright.sync_api", "browser").sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=experiment.find_chromium(), args=arguments)
        take_all_pictures(browser, folder)
        browser.close()
    for path in sorted(folder.glob("*.png")):
        print(f"{path}: {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
