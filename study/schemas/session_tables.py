"""What people did: words read, answers given, sessions."""

from .table_schema import COLLECT, COMPUTED_COLUMNS, TRIAL_COLUMNS, Table, parse_columns

TABLES = (
    Table(
        "readings",
        "a word read by a participant",
        parse_columns(
            TRIAL_COLUMNS
            + """
task          string?  how it was shown: moving_window, cumulative, centred, maze, rsvp ...; reading: the source does not say
word          int      position in the sentence, from 0
text          string?  word as shown; empty where the source holds no text
region        string?  innermost region that holds the word
line          int?     line on which the word stood, from 0
rt            float?   reading time, ms from the key press that brought the word to the one that ended it; Maze: to the right word
rt_first      float?   Maze: ms to the first choice, right or wrong
rt_onset      float?   ms from the frame that painted the word to the key press that ended it
duration      float?   ms the word was shown, frame to frame, where it was shown for a time
correct       bool?    Maze: whether the first choice was right
quality_flags string?  interruptions, repeats, and times and presses that cannot be, separated by spaces
"""
        ),
        ("session", "trial", "condition", "word"),
        COLLECT,
        added_columns=("task",),
    ),
    Table(
        "responses",
        "an answer to one prompt",
        parse_columns(
            TRIAL_COLUMNS
            + """
task          string   kind: rating, question, typed_answer, choice ...; reading: of a text that was shown at once
prompt        string   name of the task as the study names it; of a reading: sentence (of a pair 1 or 2) or context
side          string?  side of the chosen sentence in a forced choice: left, right, upper or lower
response      string?  answer as given; a rating is a number (yes is 1, no is 0), a choice the condition chosen; empty: none came
correct       bool?    whether the answer was right, where there is a right one
outcome       string?  how the screen ended: right, wrong, answered, timeout ...; empty where the source does not say
rt            float?   ms from the prompt to the answer
rt_first      float?   ms from the prompt to the first key of a typed answer
"""
            + COMPUTED_COLUMNS
        ),
        ("session", "trial", "task", "prompt"),
        COLLECT,
        has_factors=True,
    ),
    Table(
        "sessions",
        "one participant's run of one list",
        parse_columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one participant's run of one list
experiment    string   experiment of the design
list          string   list of the experiment
slot          int?     session within the list, from 0; with seed and list it fixes the order; empty where others drew it
started       string?  UTC time of the assignment, ISO 8601
finished      string?  UTC time of completion
complete      bool     whether the end was reached with all events stored
source        string   server, lab, robot, simulation, preview, model (a language model), or a platform's name
revision      int      number of the study's texts, materials and settings as they were then; a change has the next number
lease_expired bool     whether it went on after its slot had been given away
exclusion_reason string? why the experimenter does not count it
n_trials      int      trials begun
n_aborted_trials int   trials broken off by a reload and begun again
device        string?  browser and operating system family, or the lab machine's software
refresh_hz    float?   measured refresh rate of the display
session_flags string?  what cannot be of its times, presses and steps, separated by spaces; empty where all can
"""),
        ("session",),
        COLLECT,
        added_columns=("session_flags",),
    ),
    Table(
        "word_means",
        "a word's reading time, averaged over participants",
        parse_columns("""
paradigm      string   paradigm of the item
item          string   item: a text, or a sentence
condition     string   condition
word          int      position in the sentence, from 0
text          string   word
region        string?  innermost region that holds the word
rt            float?   mean reading time, ms, as the table has it; empty where nobody's was kept
n_readings    int?     readings averaged
"""),
        ("item", "condition", "word"),
        COLLECT,
        is_always_written=False,
    ),
    Table(
        "demographics",
        "an answer of a participant about themselves",
        parse_columns("""
participant   string   who: a label or keyed hash, never a platform's raw id
session       string   one participant's run of one list
question      string   name of the question
response      string   response; questions left empty have no row
"""),
        ("session", "question"),
        COLLECT,
        is_always_written=False,
    ),
    Table(
        "judgment_counts",
        "an item of short lists in a condition",
        parse_columns("""
experiment    string   experiment of the design, E1 ...
paradigm      string   paradigm
item          string   item
condition     string   condition shown; of a pair both, the first side first
n_planned     int      short lists that show it
n_judgments   int      responses to it in complete sessions that count
"""),
        ("experiment", "item", "condition"),
        COLLECT,
        is_always_written=False,
    ),
)
