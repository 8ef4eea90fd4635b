"""Studies in Turkish, Hebrew, Arabic and Chinese at a real page: a whole session, reading direction, words without spaces."""

import json
from pathlib import Path
from typing import Any

import pytest

from gardenpath import experiment, study
from gardenpath.experiment.texts.standard_texts import Texts

from .conftest import ROBOT_KEY, serve
from .pages import RATING, browser, opened, served, stated  # noqa: F401

pytestmark = pytest.mark.browser


def _pair(language: str, good: list[str], bad: list[str], joint: str) -> str:
    """One pair, twice, as items.jsonl, its words segmented by the author where nothing stands between them."""

    def sentence(words: list[str]) -> dict[str, Any]:
        spans, start = [], 0
        for word in words:
            spans.append([start, start + len(word)])
            start += len(word) + len(joint)
        return {"text": joint.join(words), "regions": [], "segmentation": spans}

    sentences = {"grammatical": sentence(good), "ungrammatical": sentence(bad)}
    records = [
        {"record": "paradigm", "id": "order", "phenomenon": "order"},
        *(
            {"record": "item", "id": item, "paradigm": "order", "language": language, "sentences": sentences}
            for item in ("z-1", "z-2")
        ),
    ]
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n"


CHINESE = _pair("zh", ["我们", "昨天", "看", "了", "电影。"], ["我们", "昨天", "了", "看", "电影。"], "")
HEBREW = _pair("he", ["הילדה", "קראה", "את", "הספר."], ["הילדה", "קראו", "את", "הספר."], " ")
ONE = "ratio = { grammatical = 1, ungrammatical = 1 }\nlists = 2\n"


@pytest.mark.data
@pytest.mark.slow
def test_turblimp_is_read_to_the_end_in_turkish(real_data: Path, study_folder: Path, chromium: str, tmp_path: Path) -> None:
    path = study_folder / "study.toml"
    file = sorted((real_data / "turblimp" / "data" / "base").glob("*.csv"))[0]
    text = stated(
        'ratio = { grammatical = 2, ungrammatical = 1 }\nlists = 3\nitems = 12\npractice = ["Kedi bütün gün uyudu."]\n',
        procedure='breaks = 1\n[procedure.practice]\nshow = "centred"\n',
        show="moving_window",
        tasks=RATING.replace("How good does this sentence sound to you?", "Bu cümle size ne kadar iyi geliyor?")
        .replace("very bad", "çok kötü")
        .replace("very good", "çok iyi"),
        language="tr",
    )
    path.write_text(text.replace("items.csv", str(file)))
    read = study.load(path)
    list_files = experiment.build_list_files(read)
    robot = experiment.create_robot(list_files, seed=2)
    for running in serve(read, list_files, tmp_path / "data"):
        assert (
            experiment.run_session_in_browser(robot, running.address, "ayşe", key=ROBOT_KEY, chromium=chromium, pace=10)
            == "GARDEN-PATH-1"
        )
        tables = experiment.collect(running.folder)
    assert tables["sessions"]["complete"].tolist() == [True]
    assert len(tables["responses"]) == 13
    for (item, condition), group in tables["readings"].groupby(["item", "condition"]):
        trial = next(t for f in list_files for t in f.trial_list.trials if (t.item.id, t.condition) == (item, condition))
        assert " ".join(group["text"]) == trial.shown_sentences[0][1].text


def test_a_right_to_left_study_begins_at_the_right(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    texts = Texts("he")["session"]
    with (
        served(tmp_path, stated(ONE, procedure="", show="moving_window", language="he"), HEBREW) as site,
        opened(browser, f"{site.address}?participant=P1") as reader,
    ):
        reader.at("device")
        assert reader.page.locator("html").get_attribute("dir") == "rtl"
        assert reader.page.locator("html").get_attribute("lang") == "he"
        assert texts["no_keyboard"] in reader.page.locator(".sheet").inner_text()
        reader.begin()
        reader.skip_text()
        reader.at("start")
        places = reader.page.locator(".lines span").evaluate_all("all => all.map((s) => s.getBoundingClientRect().left)")
        assert places == sorted(places, reverse=True), "the first word stands at the right"
        middle = reader.page.evaluate("innerWidth / 2")
        assert max(places) > middle
        reader.go()
        assert reader.page.locator(".lines span:not(.covered)").text_content() == "הילדה"
        while reader.screen() == "word":
            reader.go()
        low, high = (reader.page.locator(f".end.{end}").bounding_box()["x"] for end in ("low", "high"))
        assert low < high, "scales run as the number keys do, in every language"


def test_of_a_right_to_left_pair_the_first_stands_at_the_right(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    text = stated(ONE + 'trial = "pair"\n', procedure="", tasks="", show="with_task", ask=["choice"], language="he")
    with served(tmp_path, text, HEBREW) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            reader.at("choice")
            boxes = [button.bounding_box()["x"] for button in reader.page.locator(".pair button").all()]
            assert boxes[0] > boxes[1]
            reader.go("j")
            reader.at("choice")
            reader.go("ArrowLeft")
            reader.code()
        [row] = experiment.collect(site.folder)["sessions"].to_dict("records")
        file = next(f for f in site.list_files if f.name == f"{row['experiment']}-{row['list']}")
        answers = [e["value"] for e in site.events() if e["kind"] == "outcome" and e["trial"] is not None]
    trials = [file.trial_list.trials[n] for n in file.trial_list.order_trials(row["slot"])]
    firsts = [[condition for condition, _ in trial.shown_sentences] for trial in trials]
    assert [(value["side"], value["answer"]) for value in answers] == [("right", firsts[0][0]), ("left", firsts[1][1])]


@pytest.mark.parametrize("presentation", ["centred", "moving_window"])
def test_chinese_words_are_the_author_s_and_stand_without_spaces(
    tmp_path: Path,
    browser: Any,  # noqa: F811
    presentation: str,
) -> None:
    with served(tmp_path, stated(ONE, procedure="", show=presentation, language="zh"), CHINESE) as site:
        with opened(browser, f"{site.address}?participant=P1") as reader:
            reader.begin()
            for _ in range(2):
                reader.at("start")
                if presentation == "moving_window":
                    assert reader.page.locator(".lines").text_content() in ("我们昨天看了电影。", "我们昨天了看电影。")
                reader.go()
                while reader.screen() == "word":
                    reader.go()
                reader.rate(6)
            reader.code()
        readings = experiment.collect(site.folder)["readings"]
    assert sorted(readings["text"]) == sorted(2 * ["我们", "昨天", "看", "了", "电影。"])
