"""How the page times reading: trusted key presses in Chromium at 4 to 15 a second, auto-repeat mixed in.

    .venv/bin/python benchmarks/page_timing.py --presses 10000

Reading times are held against the times at which the presses were sent; the machine should have nothing else to do.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from gardenpath import experiment, study
from gardenpath.experiment.server import routes
from gardenpath.experiment.server.database import build_sqlite_url
from gardenpath.experiment.server.store import Store

WORD_COUNT = 60  # of a sentence
SPACE_KEY = {"code": "Space", "key": " ", "windowsVirtualKeyCode": 32}
FOUR_KEY = {"code": "Digit4", "key": "4", "windowsVirtualKeyCode": 52}
STUDY_TOML = """
name = "timing"
language = "en"
seed = 1
[materials]
files = ["items.csv"]
[design]
ratio = { grammatical = 1, ungrammatical = 1 }
lists = 2
[procedure.target]
ask = ["rating"]
[procedure.tasks.rating]
kind = "rating"
prompt = "?"
low = "low"
high = "high"
[online]
completion_code = "END"
"""


@dataclass(frozen=True)
class TimingResult:
    """What came of the presses; times in ms. A press that did not advance came before its word was painted."""

    presses: int
    recorded: int
    advanced: int
    repeats: int
    recorded_repeats: int
    rt_error_median: float
    rt_error_p99: float
    handler_delay_median: float
    handler_delay_p99: float
    next_frame: float


@contextmanager
def serve_study(sentences: int) -> Iterator[tuple[str, Path]]:
    """Serve a study of so many sentences; give its address and its folder."""
    uvicorn = study.errors.require("uvicorn", "online")
    text = " ".join(f"word{n}" for n in range(WORD_COUNT))
    rows = [f"p,p,i-{n},{condition},{text}" for n in range(sentences) for condition in ("grammatical", "ungrammatical")]
    with tempfile.TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder)
        (folder / "items.csv").write_text("paradigm,phenomenon,item,condition,sentence\n" + "\n".join(rows) + "\n")
        (folder / "study.toml").write_text(STUDY_TOML)
        config = study.load(folder)
        store = routes.open_store(config, experiment.build_list_files(config), build_sqlite_url(folder / "study.sqlite"))
        listener = routes.bind_socket("127.0.0.1", 0)
        app = routes.create_application(store, config, key=b"timing")
        server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield (
            f"http://127.0.0.1:{listener.getsockname()[1]}/?participant=P1&source=robot&key={routes.compute_preview_key(b'timing')}",
            folder,
        )
        server.should_exit = True
        thread.join()
        store.database.engine.dispose()


class KeyPresser:
    """Presses keys through the browser's own input, at stated intervals, and notes when."""

    def __init__(self, page: Any, seed: int) -> None:
        self.page, self.random = page, Random(seed)
        self.input = page.context.new_cdp_session(page)
        self.sent_times: list[float] = []
        self.repeats = 0
        self.next_press = time.perf_counter()

    def get_screen(self) -> str:
        """Return what is shown."""
        script = "[...document.querySelectorAll('[data-screen]')].pop()?.dataset.screen ?? ''"
        return str(self.page.evaluate(script))

    def press(self, key: dict[str, Any]) -> None:
        """Press a key when it is due, hold it for a part of the interval, in one press of five so long that it repeats."""
        interval = 1 / self.random.uniform(4, 15)
        self._wait(self.next_press)
        start = time.perf_counter()
        self.sent_times.append(1000 * start)
        self.input.send("Input.dispatchKeyEvent", {"type": "keyDown", **key})
        for n in range(self.random.randint(1, 4) if self.random.random() < 0.2 else 0):
            self._wait(start + interval * (0.2 + 0.1 * n))
            self.input.send("Input.dispatchKeyEvent", {"type": "keyDown", "autoRepeat": True, **key})
            self.repeats += 1
        self._wait(start + interval * 0.6)
        self.input.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})
        self.next_press = start + interval

    def pause(self) -> None:
        """Let the page come to rest."""
        self.page.wait_for_timeout(100)
        self.next_press = time.perf_counter()

    @staticmethod
    def _wait(until: float) -> None:
        time.sleep(max(0.0, until - time.perf_counter()))


def read_sentences(page: Any, seed: int) -> KeyPresser:
    """Read sentences to the end of the session; return the hand that did."""
    page.wait_for_selector("[data-name=device]")
    page.wait_for_timeout(100)
    page.keyboard.press("Space", delay=30)
    page.locator("button.first").click()
    presser = KeyPresser(page, seed)
    while (screen := presser.get_screen()) not in ("start", "message"):
        if screen == "text":
            page.keyboard.press("Space", delay=30)
        page.wait_for_timeout(50)
    while presser.get_screen() != "message":
        presser.pause()
        for _ in range(WORD_COUNT + 1):
            presser.press(SPACE_KEY)
        page.wait_for_timeout(60)
        while presser.get_screen() == "word":  # a press came before its word was painted
            presser.press(SPACE_KEY)
            page.wait_for_timeout(60)
        presser.pause()
        presser.press(FOUR_KEY)
        page.wait_for_timeout(100)
    page.wait_for_selector(".code")
    return presser


def compare_times(presser: KeyPresser, events: Sequence[experiment.Event]) -> TimingResult:
    """Hold what was recorded against what was sent."""
    trials = {event.step for event in events if event.kind == "word"}
    shown = [event for event in events if event.step in trials and event.value.get("press")]
    ignored = [event for event in events if event.kind == "press"]
    recorded = sorted([*shown, *ignored], key=lambda event: event.t)
    errors = [
        abs((second.t - first.t) - (second_sent - first_sent))
        for (first, second), (first_sent, second_sent) in zip(pairwise(recorded), pairwise(presser.sent_times), strict=False)
        if second.kind == "word" and second.value["word"] >= 0
    ]
    words = [event.value["display"] for event in shown if event.kind == "word" and event.value["word"] >= 0]
    period = statistics.median(display["frame2"] - display["frame"] for display in words if display["frame2"] is not None)
    waits = [display["frame"] - display["request"] for display in words]
    delays = [event.value["press"]["handler"] - event.t for event in shown]
    return TimingResult(
        presses=len(presser.sent_times),
        recorded=len(recorded),
        advanced=len(shown),
        repeats=presser.repeats,
        recorded_repeats=sum(event.value["press"]["repeats"] for event in shown),
        rt_error_median=statistics.median(errors),
        rt_error_p99=_get_percentile_99(errors),
        handler_delay_median=statistics.median(delays),
        handler_delay_p99=_get_percentile_99(delays),
        next_frame=sum(wait <= 1.5 * period for wait in waits) / len(waits),
    )


def _get_percentile_99(values: Sequence[float]) -> float:
    return sorted(values)[int(0.99 * len(values))]


def measure_page(presses: int, seed: int) -> TimingResult:
    """Make at least so many presses in a session of their own and judge them."""
    sentences = -(-presses // (WORD_COUNT + 2))
    sentences += sentences % 2  # two lists share them
    with (
        serve_study(sentences) as (address, folder),
        study.errors.require("playwright.sync_api", "browser").sync_playwright() as driver,
    ):
        arguments = ["--no-sandbox", "--disable-background-networking"]
        chromium = shutil.which("chromium") or experiment.find_chromium()  # with windows, as participants have it
        browser = driver.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        presser = read_sentences(page, seed)
        browser.close()
        [record] = Store(build_sqlite_url(folder / "study.sqlite"), create=False).read_recorded_sessions()
    return compare_times(presser, record.events)


def main() -> None:
    """Measure and print, as a table or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = asdict(measure_page(options.presses, options.seed))
    if options.json:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name:22} {value:10.3f}".rstrip("0").rstrip(".") for name, value in result.items()))


if __name__ == "__main__":
    main()
