"""Takes the picture of docs/lab.md: screens of the lab's window, as they stand on the screen at DISPLAY.

xvfb-run -s "-screen 0 1024x768x24" python benchmarks/lab_pictures.py
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageGrab

from gardenpath import experiment, study
from gardenpath.experiment.players.lab.displays import AnswerDisplay, Blank, Display, Lines, Page, Pair, Word
from gardenpath.experiment.players.lab.window import Window, check_machine
from gardenpath.experiment.tasks.answer_options import build_answers, build_scale_points
from gardenpath.experiment.texts.standard_texts import Texts, get_direction
from gardenpath.study import screens
from gardenpath.study.screens import Answers, Step, WordPairs

PICTURE_FILE = Path(__file__).parents[1] / "docs" / "pictures" / "lab.png"
SENTENCES = {
    "en": ["The", "road", "past", "the", "farms", "is", "narrow", "and", "bends", "to", "the", "left."],
    "ar": ["الطالبةُ", "قرأتْ", "الكتابَ", "الجديدَ", "في", "المكتبة", "أمس."],
    "he": ["הילדה", "קראה", "את", "הספר", "החדש", "בספרייה."],
    "ja": ["昨日、", "妹は", "図書館で", "新しい", "本を", "読んだ。"],
    "zh": ["我们", "昨天", "在", "图书馆", "看", "了", "电影。"],
}
WORD_SEPARATORS = {"ja": "", "zh": ""}
STUDY_TEMPLATE = """
name = "pictures"
title = "Reading sentences"
language = "{language}"
seed = 1
[materials]
files = ["items.jsonl"]
[design]
ratio = {{ grammatical = 1, ungrammatical = 1 }}
lists = 2
[procedure.target]
ask = ["acceptability"]
[procedure.tasks.acceptability]
kind = "rating"
prompt = "How good does this sentence sound to you?"
low = "very bad"
high = "very good"
"""


def open_window(folder: Path, language: str) -> Window:
    """A window for a study of one sentence in a language."""
    words, separator = SENTENCES[language], WORD_SEPARATORS.get(language, " ")
    spans = [
        [start := len(separator.join(words[:n])) + (len(separator) if n else 0), start + len(one)] for n, one in enumerate(words)
    ]
    sentence = {"text": separator.join(words), "regions": [], "segmentation": spans}
    sentences = {"grammatical": sentence, "ungrammatical": sentence}
    item = {"record": "item", "paradigm": "order", "language": language, "sentences": sentences}
    entries = [{"record": "paradigm", "id": "order", "phenomenon": "order"}, {**item, "id": "1"}, {**item, "id": "2"}]
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries))
    (folder / "study.toml").write_text(STUDY_TEMPLATE.format(language=language))
    file = experiment.build_list_files(study.load(folder / "study.toml"))[0]
    # Words in pairs stand as far apart as the widest of the study needs.
    pairs = WordPairs(name="", pairs=tuple(screens.Pair(word, "sing", "left") for word in words))
    trials = (*file.script.trials, Step("trial", (pairs,), trial=0))
    return Window(replace(file, script=replace(file.script, trials=trials)), size=(1024, 768))


def build_displays(language: str) -> Iterator[Display]:
    """What is shown of each language."""
    texts = Texts(language)["session"]
    words = tuple(SENTENCES[language])
    gaps = (WORD_SEPARATORS.get(language, " "),) * (len(words) - 1)
    labels = [texts["consent_accept"], texts["consent_decline"]]
    yield Page(tuple(texts["lab"]["consent"]), "", build_answers(labels, ["accepted", "declined"], get_direction(language)))
    yield Lines(words, gaps, visible_word=3)
    if language == "en":
        prompt = "How good does this sentence sound to you?"
        scale = Answers(
            name="", prompt=prompt, answers=build_scale_points(7), arrangement="points", low="very bad", high="very good"
        )
        yield Word(words[2])
        yield AnswerDisplay(scale, 0.4)
        yield Pair(words[3], "sing")
        yield Blank(
            "", "", "How does it go on?", "is nar", texts["lab"]["enter"], text_above="The road past the farms", progress=0.4
        )


def main() -> None:
    check_machine()
    pictures = []
    for language in SENTENCES:
        with tempfile.TemporaryDirectory() as folder:
            window = open_window(Path(folder), language)
            for display in build_displays(language):
                window.show(display)
                window.wait(50)
                pictures.append(ImageGrab.grab().resize((512, 384), Image.Resampling.LANCZOS))
            window.close()
    rows = (len(pictures) + 1) // 2
    sheet = Image.new("RGB", (2 * 512 + 8, rows * 392 - 8), "#c9ced4")
    for n, picture in enumerate(pictures):
        sheet.paste(picture, (n % 2 * 520, n // 2 * 392))
    sheet.quantize(32).save(PICTURE_FILE, optimize=True)


if __name__ == "__main__":
    main()
