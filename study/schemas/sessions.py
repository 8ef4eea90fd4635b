"""What people did: words read, answers given, sittings."""

from .declaring import PLACE, Table, columns

TABLES = (
    Table(
        "readings",
        "a word read by a participant",
        columns(
            PLACE
            + """
word          int      position in the sentence, from 0
text          string?  word as shown; empty where the source holds no text
region        string?  innermost region that holds the word
rt            float?   reading time, ms from the key press that brought the word to the one that ended it
rt_onset      float?   ms from the frame that painted the word to the key press that ended it
flags         string?  interruptions and repeats, separated by spaces
"""
        ),
        ("session", "trial", "condition", "word"),
    ),
    Table(
        "responses",
        "an answer to one prompt",
        columns(
            PLACE
            + """
task          string   rating, question, choice, or reading of a text that was shown at once
prompt        string   name of the prompt; of a reading: sentence (of a pair 1 or 2) or context
side          string?  side of the chosen sentence in a forced choice: left, right, upper or lower
response      string   answer as given; a rating is a number (yes is 1, no is 0), a choice the condition chosen
correct       bool?    whether the answer was right, where there is a right one
rt            float?   ms from the prompt to the answer
"""
        ),
        ("session", "trial", "task", "prompt"),
    ),
    Table(
        "sessions",
        "a sitting of a participant",
        columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one sitting of one participant
experiment    string   experiment of the design
version       string   version of the experiment
slot          int?     place within the version, from 0; with seed and version it fixes the order; empty where others drew it
started       string?  UTC time of the assignment, ISO 8601
finished      string?  UTC time of completion
complete      bool     whether the end was reached with all events stored
source        string   server, lab, robot, simulation, preview, or a platform's name
revision      int      number of the study's texts, materials and settings as they were then; a change has the next number
late          bool     whether it went on after its place had been given away
excluded      string?  why the experimenter does not count it
trials        int      trials begun
aborted       int      trials broken off by a reload and begun again
device        string?  browser and operating system family, or the lab machine's software
refresh_hz    float?   measured refresh rate of the display
"""),
        ("session",),
    ),
    Table(
        "demographics",
        "an answer of a participant about themselves",
        columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one sitting of one participant
field         string   name of the question
answer        string   answer; questions left empty have no row
"""),
        ("session", "field"),
    ),
)
