"""study.toml: one file that states a study; its keys are the arguments of the Python functions."""

import difflib
import functools
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import Discriminator, Tag, TypeAdapter, ValidationError

from .errors import DataError
from .files import read_text
from .formula_columns import find_name_fault
from .renamed_names import describe_renamed_keys
from .responses import RESPONSES
from .yes_no_words import YES_NO_WORDS

T = TypeVar("T")

STRICT_VALIDATION: Any = {"extra": "forbid", "strict": True}  # a misspelt key is an error, and "3" is not 3
NO_LIST_COUNT = -1  # where short lists are in their place no lists are stated


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class NormSection:
    """A table of norms: its file (CSV, tabs or xlsx), and which columns hold the word and its value.

    A word with several rows (parts of speech, say) is an error unless `repeated` takes their mean or sum.

    >>> NormSection("aoa.xlsx", word="Word", value="Rating.Mean").repeated is None
    True
    """

    __pydantic_config__ = STRICT_VALIDATION
    file: str
    word: str
    value: str
    repeated: Literal["mean", "sum"] | None = None


@dataclass(frozen=True)
class MaterialsSection:
    """Where the items are: files in any format gardenpath reads, relative to study.toml.

    `skip_bad` leaves out what cannot be read of them, each named, where otherwise nothing is dealt. `mapping` is a file that says
    what the columns of a table of another lab are. `norms` are tables of words, in which `check` and `design` compare conditions.
    """

    __pydantic_config__ = STRICT_VALIDATION
    files: list[str]
    skip_bad: bool = False
    mapping: str | None = None
    norms: dict[str, NormSection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _expect(bool(self.files), "files is empty; expected at least one file of materials")


@dataclass(frozen=True)
class AttentionSection:
    """An attention item, of the two kinds that platforms allow (Prolific: an explicit instruction, or nonsense).

    `expected_responses` are the answers that show attention, for each task that the sentence is followed by and that tells.

    >>> AttentionSection("instruction", "Please press 2 here.", {"acceptability": ["2"]}).kind
    'instruction'
    """

    __pydantic_config__ = STRICT_VALIDATION
    kind: str
    sentence: str | list[str]
    expected_responses: dict[str, list[str]]

    def __post_init__(self) -> None:
        _expect(
            self.kind in ("instruction", "nonsense"),
            f"kind is {self.kind!r}; expected instruction (the sentence says what to answer) or nonsense (nobody who reads "
            "it would accept it): platforms allow no other attention check",
        )
        _expect(
            any(self.expected_responses.values()),
            "expected_responses is empty; expected the answers that show attention, by task: { NAME = [...] }",
        )


@dataclass(frozen=True)
class PracticeSection:
    """A practice sentence with what tasks need of it: a comprehension question, its right answer and the answers to choose from,
    `alternatives` with spaces between, and the free `columns` of items. Without `choices` the answers are yes and no.
    `context` is shown before it; `segmentation` is the sentence with a space after each word, where a language writes none.

    >>> PracticeSection("Who slept?", "Who slept?", "the boy", ["she", "the boy"]).answer
    'the boy'
    """

    __pydantic_config__ = STRICT_VALIDATION
    sentence: str
    question: str | None = None
    answer: str | None = None
    choices: list[str] = field(default_factory=list)
    alternatives: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    segmentation: str | None = None
    context: str | None = None

    def __post_init__(self) -> None:
        both = (self.question is None) == (self.answer is None)
        _expect(both, f"question is {self.question!r} and answer {self.answer!r}; expected both, or neither")
        answers = self.choices or [word for words in YES_NO_WORDS.values() for word in words]
        different = not self.choices or len({*self.choices}) == len(self.choices) > 1
        _expect(
            self.question is None or (different and str(self.answer) in answers),
            f"answer is {self.answer!r} and choices {self.choices or [*YES_NO_WORDS['en']]}; expected two or more "
            "choices, the answer "
            "among them",
        )


# Of an entry that may be of several kinds only the faults of the kind that it has are told.
ENTRY_KINDS = {str: "a sentence", list: "a pair", dict: "a table", float: "a number"}
PracticeEntry = Annotated[
    Annotated[str, Tag("a sentence")] | Annotated[list[str], Tag("a pair")] | Annotated[PracticeSection, Tag("a table")],
    Discriminator(lambda entry: ENTRY_KINDS.get(type(entry), "a table" if is_dataclass(entry) else "a sentence")),
]


@dataclass(frozen=True)
class ShortListsSection:
    """Many short lists in place of a Latin square: `items_per_list` of different paradigms, `ratings_per_item` readers an item.

    `allow_short_last_list` lets the last list have fewer items where they do not come out even; with `one_per = "item"` the
    items of a list may be of one paradigm.

    >>> ShortListsSection(items_per_list=4, ratings_per_item=20).allow_short_last_list
    False
    """

    __pydantic_config__ = STRICT_VALIDATION
    items_per_list: int
    ratings_per_item: int
    allow_short_last_list: bool = False
    one_per: str = "paradigm"

    def __post_init__(self) -> None:
        _expect(self.one_per in ("paradigm", "item"), f"one_per is {self.one_per!r}; expected 'paradigm' or 'item'")
        _expect(self.items_per_list > 0, f"items_per_list is {self.items_per_list}; expected at least 1 a list")
        _expect(self.ratings_per_item > 0, f"ratings_per_item is {self.ratings_per_item}; expected at least 1 an item")


@dataclass(frozen=True)
class DesignSection:
    """How paradigms are dealt to experiments and conditions to lists; arguments of `stimuli.Design`.

    Without a `ratio` the conditions of the paradigms have equal shares.

    >>> DesignSection(ratio={"grammatical": 2, "ungrammatical": 1}, lists=3).trial
    'sentence'
    """

    __pydantic_config__ = STRICT_VALIDATION
    ratio: dict[str, int] = field(default_factory=dict)
    lists: int = NO_LIST_COUNT
    items: int | None = None
    experiments: int = 1
    trial: str = "sentence"
    between_items: list[str] = field(default_factory=list)
    between_participants: list[str] = field(default_factory=list)
    practice: list[PracticeEntry] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)
    filler_ratio: dict[str, int] = field(default_factory=dict)
    catch: list[str] = field(default_factory=list)
    attention: list[AttentionSection] = field(default_factory=list)
    task_shares: dict[str, float] = field(default_factory=dict)
    short_lists: ShortListsSection | None = None
    allow_unequal_experiments: bool = False
    paradigm_ratios: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _expect(min(self.ratio.values(), default=1) > 0, f"ratio is {self.ratio}; expected a share of at least 1 each")
        for name, ratio in self.paradigm_ratios.items():
            _expect(min(ratio.values(), default=0) > 0, f"paradigm_ratios.{name} is {ratio}; expected a share of at least 1 each")
        if self.short_lists is not None:
            _expect(self.lists in (NO_LIST_COUNT, 1), f"lists is {self.lists} beside short_lists; expected the one or the other")
            object.__setattr__(self, "lists", 1)
        _expect(self.lists != NO_LIST_COUNT, "lists is missing; expected at least 1, or short_lists in their place")
        _expect(self.lists > 0, f"lists is {self.lists}; expected at least 1")
        _expect(self.items is None or self.items > 0, f"items is {self.items}; expected at least 1")
        _expect(self.experiments > 0, f"experiments is {self.experiments}; expected at least 1")
        _expect(self.trial in ("sentence", "pair"), f"trial is {self.trial!r}; expected 'sentence' or 'pair'")
        for name, share in self.task_shares.items():
            _expect(0 <= share <= 1, f"task_shares.{name} is {share:g}; expected a share from 0 to 1")
        both = sorted({*self.fillers} & {*self.catch})
        _expect(not both, f"{', '.join(both)} is among fillers and catch; expected one of them")


def _find_cycle(chains: Iterable[Sequence[str]]) -> list[str]:
    """Return items of which each is to come before the next and the last before the first; none where there are no such.

    >>> _find_cycle([["a", "b"], ["b", "c"], ["c", "a"]]), _find_cycle([["a", "b"], ["a", "c"]])
    (['a', 'b', 'c', 'a'], [])
    """
    after: dict[str, list[str]] = {}
    for one, other in (pair for chain in chains for pair in itertools.pairwise(chain)):
        after.setdefault(one, []).append(other)
    clear: set[str] = set()

    def follow(path: list[str]) -> list[str]:
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) :]
        for item in after.get(path[-1], ()):
            if item not in clear and (circle := follow([*path, item])):
                return circle
        clear.add(path[-1])
        return []

    return next(filter(None, (follow([item]) for item in list(after))), [])


@dataclass(frozen=True)
class OrderingSection:
    """Rules of presentation order; arguments of `stimuli.Ordering`.

    >>> OrderingSection(max_run={"condition": 2}).adjacent_across_breaks
    True
    """

    __pydantic_config__ = STRICT_VALIDATION
    no_adjacent: str | tuple[str, ...] | None = None
    max_run: dict[str, int | dict[str, int]] = field(default_factory=dict)
    min_gap: dict[str, int] = field(default_factory=dict)
    min_fillers_between: int = 0
    start_with: dict[str, int] = field(default_factory=dict)
    end_with: dict[str, int] = field(default_factory=dict)
    blocks: int = 1
    balance_across_blocks: str | None = None
    adjacent_across_blocks: bool = True
    adjacent_across_breaks: bool = True
    order: str = "random"
    block_by: str | None = None
    block_order: str = "latin_square"
    precedence: list[list[str]] = field(default_factory=list)
    scope: str = "all"

    def __post_init__(self) -> None:
        _expect(self.scope in ("all", "targets"), f"scope is {self.scope!r}; expected 'all' or 'targets'")
        parts = (
            self.block_by or self.precedence or self.blocks > 1 or not (self.adjacent_across_breaks and self.adjacent_across_blocks)
        )
        _expect(
            self.scope == "all" or not (parts or self.order != "random"),
            "scope is 'targets' beside blocks, breaks that part neighbours, order or precedence; expected rules alone",
        )
        for chain in self.precedence:
            _expect(
                len(chain) > 1 and len({*chain}) == len(chain),
                f"precedence has {chain}; expected two items or more, each once, in the order in which they come",
            )
        if circle := _find_cycle(self.precedence):
            _expect(False, f"precedence goes round in a circle: {', '.join(circle)}; expected an order that can be kept")
        free = self.order == "random" and self.block_by is None
        _expect(
            free or not self.precedence, "precedence is stated beside order or block_by; expected it with orders drawn at random"
        )
        orders, squares = ("random", "fixed", "reversed"), ("latin_square", "williams", "all")
        _expect(self.order in orders, f"order is {self.order!r}; expected {' or '.join(map(repr, orders))}")
        _expect(self.block_order in squares, f"block_order is {self.block_order!r}; expected {' or '.join(map(repr, squares))}")
        ruled = self.no_adjacent or self.max_run or self.min_gap or self.min_fillers_between or self.start_with or self.end_with
        _expect(
            self.order == "random" or not (ruled or self.block_by or self.blocks > 1),
            f"order is {self.order!r} beside rules; expected no other key of ordering: trials stand as in the files",
        )
        parted = self.blocks > 1 or not (self.adjacent_across_blocks and self.adjacent_across_breaks)
        _expect(
            self.block_by is None or not parted,
            "block_by is given beside blocks, adjacent_across_blocks or adjacent_across_breaks; expected block_by alone: rules "
            "hold in its blocks",
        )


ROLES = ("target", "filler", "catch", "practice", "attention")


@dataclass(frozen=True)
class FieldSection:
    """A question about the participant, asked after the last sentence: a short text, a number, or a choice.

    >>> FieldSection("hand", "Which hand do you write with?", "choice", ["left", "right"]).required
    False
    """

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    label: str
    kind: str = "text"
    choices: list[str] = field(default_factory=list)
    min: int | None = None
    max: int | None = None
    required: bool = False

    def __post_init__(self) -> None:
        known = self.kind in ("text", "number", "choice")
        _expect(known, f"kind is {self.kind!r}; expected 'text', 'number' or 'choice'")
        fits = bool(self.choices) == (self.kind == "choice")
        _expect(fits, f"choices is {self.choices} and kind {self.kind!r}; expected choices with kind = 'choice' alone")


@dataclass(frozen=True)
class ScreenerSection:
    """A question after consent that decides who takes part: by `accepted`, all where not stated, and `quotas`, the places of the
    whole study by answer.

    >>> ScreenerSection("native", "Is English your first language?", ["yes", "no"], ["yes"]).accepted_choices
    ('yes',)
    """

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    question: str
    choices: list[str]
    accepted: list[str] = field(default_factory=list)
    quotas: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _expect(len({*self.choices}) == len(self.choices) > 1, f"choices is {self.choices}; expected two or more different")
        for name, known in (("accepted", self.choices), ("quotas", self.accepted_choices)):
            other = [answer for answer in getattr(self, name) if answer not in known]
            _expect(not other, f"{name} has {', '.join(map(repr, other))}; expected answers among {', '.join(known)}")
        for answer, slot_count in self.quotas.items():
            _expect(slot_count > 0, f"quotas.{answer} is {slot_count}; expected at least 1 place")
        decides = bool(self.quotas) or len(self.accepted_choices) < len(self.choices)
        _expect(decides, "every answer is accepted; expected accepted with fewer answers than choices, or quotas")

    @property
    def accepted_choices(self) -> tuple[str, ...]:
        """The answers with which one takes part."""
        return tuple(self.accepted or self.choices)


@dataclass(frozen=True)
class DeviceSection:
    """What a participant's machine must have; others are told so before anything else, and nothing of them is stored."""

    __pydantic_config__ = STRICT_VALIDATION
    min_width: int = 800
    min_height: int = 480
    keyboard: bool = True


@dataclass(frozen=True)
class DisplaySection:
    """How sentences are set: their font, the largest and the smallest size of letters (px), and how many letters a line holds.

    >>> DisplaySection(font_size=28).min_font_size
    16.0
    """

    __pydantic_config__ = STRICT_VALIDATION
    font: str | None = None
    font_size: float | None = None
    min_font_size: float = 16.0
    line_width: int | None = None

    def __post_init__(self) -> None:
        _expect(8 <= self.min_font_size <= 100, f"min_font_size is {self.min_font_size:g}; expected px, from 8 to 100")
        _expect(
            self.font_size is None or self.min_font_size <= self.font_size <= 200,
            f"font_size is {self.font_size or 0:g}; expected px, from min_font_size ({self.min_font_size:g}) to 200",
        )
        _expect(
            self.line_width is None or self.line_width >= 20,
            f"line_width is {self.line_width}; expected letters on a line, 20 or more",
        )
        _expect(
            self.font is None or re.fullmatch(r"""[^;{}<>\\]+""", self.font) is not None,
            f"font is {self.font!r}; expected names of fonts, such as 'Courier New, monospace'",
        )


@dataclass(frozen=True)
class RoleSection:
    """What is shown of the sentences of one role, and what is asked after them; what is left out is as for targets."""

    __pydantic_config__ = STRICT_VALIDATION
    show: str | None = None
    ask: list[str] | None = None

    def __post_init__(self) -> None:
        twice = sorted({name for name in self.ask or () if (self.ask or []).count(name) > 1})
        _expect(not twice, f"ask names {', '.join(twice)} twice; expected each task once")


@dataclass(frozen=True)
class PracticeRoleSection(RoleSection):
    """The same of practice, repeated until `criterion` of what has a right answer was right, `max_rounds` times at most."""

    __pydantic_config__ = STRICT_VALIDATION
    criterion: float | None = None
    max_rounds: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.criterion is None or 0 < self.criterion <= 1
        _expect(fits, f"criterion is {self.criterion}; expected a share above 0, 1 at most")
        _expect(1 <= self.max_rounds <= 10, f"max_rounds is {self.max_rounds}; expected 1 to 10")


@dataclass(frozen=True)
class PageSection:
    """A page of text before a block of trials, numbered from 1 (ordering.blocks)."""

    __pydantic_config__ = STRICT_VALIDATION
    block: int
    text: str

    def __post_init__(self) -> None:
        _expect(self.block > 0, f"block is {self.block}; expected 1 or more")
        _expect(bool(self.text.strip()), "text is empty; expected what the page says")


@dataclass(frozen=True)
class ProcedureSection:
    """What a participant does. `tasks` holds the settings of tasks by name, each with its kind; a role shows and asks by name.

    Texts left out come in the study's language, or from the file that `texts` names.
    """

    __pydantic_config__ = STRICT_VALIDATION
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    target: RoleSection = field(default_factory=RoleSection)
    filler: RoleSection = field(default_factory=RoleSection)
    catch: RoleSection = field(default_factory=RoleSection)
    practice: PracticeRoleSection = field(default_factory=PracticeRoleSection)
    attention: RoleSection = field(default_factory=RoleSection)
    breaks: int = 0
    pages: list[PageSection] = field(default_factory=list)
    demographics: list[FieldSection] = field(default_factory=list)
    screener: list[ScreenerSection] = field(default_factory=list)
    device: DeviceSection = field(default_factory=DeviceSection)
    display: DisplaySection = field(default_factory=DisplaySection)
    texts: str = ""
    consent: str | None = None
    instructions: list[str] | None = None
    debriefing: str | None = None

    def __post_init__(self) -> None:
        _expect(self.breaks >= 0, f"breaks is {self.breaks}; expected 0 or more")
        names = [*(asked.name for asked in self.screener), *(asked.name for asked in self.demographics)]
        _expect(len({*names}) == len(names), f"screener and demographics are named {', '.join(names)}; expected each name once")
        for name, table in self.tasks.items():
            _expect(isinstance(table.get("kind"), str), f"tasks.{name} has no kind; expected the kind of task that it is")

    @property
    def line_width(self) -> int:
        """How many letters a line of a sentence holds: as stated, or what fits the smallest window at the smallest size."""
        letter = 0.5 * self.display.min_font_size
        return self.display.line_width or max(20, int(0.92 * self.device.min_width / letter))

    def resolve_role(self, name: str) -> RoleSection:
        """Return what is shown and asked of a role, with what it leaves out as for targets."""
        section: RoleSection = getattr(self, name)
        return RoleSection(
            self.target.show if section.show is None else section.show, self.target.ask if section.ask is None else section.ask
        )


@dataclass(frozen=True)
class RewardSection:
    """What participants are told that they get, and for how many minutes."""

    __pydantic_config__ = STRICT_VALIDATION
    amount: float
    currency: str
    minutes: float | None = None

    def __post_init__(self) -> None:
        _expect(self.amount >= 0, f"amount is {self.amount:g}; expected 0 or more")
        _expect(self.minutes is None or self.minutes > 0, f"minutes is {self.minutes}; expected more than 0")


@dataclass(frozen=True)
class OnlineSection:
    """What `serve` needs beside the procedure: codes, places, and how people are treated (docs/online.md).

    >>> OnlineSection("C0DE", quota=0)
    Traceback (most recent call last):
    ...
    ValueError: quota is 0; expected at least 1 slot a list
    """

    __pydantic_config__ = STRICT_VALIDATION
    completion_code: str
    screened_out_code: str | None = None
    withdrawn_code: str | None = None
    review_code: str | None = None
    completion_url: str | None = None
    quota: int | None = None
    max_sessions: int = 1
    lease_minutes: float = 60
    heartbeat_seconds: float = 30
    resume_hours: float = 24
    signed_links: bool = False
    withdrawal: str = "delete"
    excluded_participants: list[str] = field(default_factory=list)
    reward: RewardSection | None = None
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _expect(self.quota is None or self.quota > 0, f"quota is {self.quota}; expected at least 1 slot a list")
        _expect(self.max_sessions > 0, f"max_sessions is {self.max_sessions}; expected at least 1 a person")
        for name in ("lease_minutes", "heartbeat_seconds", "resume_hours"):
            _expect(getattr(self, name) > 0, f"{name} is {getattr(self, name):g}; expected more than 0")
        _expect(
            self.lease_minutes * 60 >= 3 * self.heartbeat_seconds,
            f"lease_minutes is {self.lease_minutes:g} and heartbeat_seconds {self.heartbeat_seconds:g}; expected a lease of at "
            "least three heartbeats, or slots would come free under participants who are there",
        )
        _expect(
            self.withdrawal in ("delete", "keep"),
            f"withdrawal is {self.withdrawal!r}; expected delete, or keep where the consent text says so",
        )
        _expect(
            self.completion_url is None or self.completion_url.startswith("https://"),
            f"completion_url is {self.completion_url!r}; expected an address that starts with https://",
        )


@dataclass(frozen=True)
class ExcludeSection:
    """Who is left out beside reading times outside the cutoffs, applied in this order; docs/study-toml.md says what each means.

    >>> ExcludeSection(min_accuracy=90)
    Traceback (most recent call last):
    ...
    ValueError: min_accuracy is 90; expected a share from 0 to 1
    """

    __pydantic_config__ = STRICT_VALIDATION
    min_minutes: float = 0.0
    max_minutes: float | None = None
    max_aborted: int | None = None
    items: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, list[str]] = field(default_factory=dict)
    demographics: dict[str, list[str]] = field(default_factory=dict)
    min_attention: float = 0.0
    min_catch: float = 0.0
    min_accuracy: float = 0.8
    min_questions: int = 20
    max_outside_cutoffs: float = 0.2
    min_maze_accuracy: float = 0.8
    after_error: int | Literal["sentence"] = "sentence"
    flags: list[str] = field(default_factory=lambda: ["interrupted", "seen_before"])
    session_flags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("min_attention", "min_catch", "min_accuracy", "max_outside_cutoffs", "min_maze_accuracy"):
            share = getattr(self, name)
            _expect(0 <= share <= 1, f"{name} is {share:g}; expected a share from 0 to 1")
        longest = float("inf") if self.max_minutes is None else self.max_minutes
        _expect(
            0 <= self.min_minutes < longest,
            f"min_minutes is {self.min_minutes:g} and max_minutes {longest:g}; expected 0 <= min_minutes < max_minutes",
        )
        _expect(self.max_aborted is None or self.max_aborted >= 0, f"max_aborted is {self.max_aborted}; expected 0 or more")
        _expect(
            self.after_error == "sentence" or self.after_error >= 0,
            f"after_error is {self.after_error}; expected a number of words from 0, or 'sentence'",
        )
        unexplained = [item for item, reason in self.items.items() if not reason.strip()]
        _expect(not unexplained, f"items.{', items.'.join(unexplained)} has no reason; expected why the item is left out")
        for table, by in (("sessions", self.sessions), ("demographics", self.demographics)):
            empty = [name for name, answers in by.items() if not answers]
            _expect(not empty, f"{table} accepts no answer to {', '.join(empty)}; expected at least one")


CONTRAST_CODINGS = ("sum", "treatment", "helmert", "repeated")


@dataclass(frozen=True)
class ModelSection:
    """A mixed model of one's own; `region` is of reading times, `contrasts` names a factor's, `repeated` where not stated.

    `reference_levels` is the level of a factor that treatment contrasts hold the others against, the first where not stated.

    >>> ModelSection("ease", "z ~ extraction + (1|participant) + (1|item)").region
    'critical'
    """

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    formula: str
    region: str = "critical"
    paradigms: tuple[str, ...] = ()
    contrasts: dict[str, str] = field(default_factory=dict)
    reference_levels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _expect(bool(self.name.strip()), "name is empty; expected a name for the model's rows in the tables")
        _expect("~" in self.formula, f"formula is {self.formula!r}; expected  response ~ predictors + (1|participant) + (1|item)")
        for factor, coding in self.contrasts.items():
            _expect(coding in CONTRAST_CODINGS, f"contrasts.{factor} is {coding!r}; expected one of {', '.join(CONTRAST_CODINGS)}")
        for factor in self.reference_levels:
            coding = self.contrasts.get(factor, "repeated")
            _expect(
                coding == "treatment",
                f'reference_levels.{factor} is stated, but its contrasts are {coding}; expected contrasts.{factor} = "treatment"',
            )


Sesoi = Mapping[str, float | Mapping[str, float]]
SesoiEntry = Annotated[
    Annotated[float, Tag("a number")] | Annotated[dict[str, float], Tag("a table")],
    Discriminator(lambda entry: ENTRY_KINDS[dict] if isinstance(entry, dict) else ENTRY_KINDS[float]),
]


def find_sesoi(sesoi: Sesoi, response: str, term: str = "") -> float | None:
    """Return the smallest effect of interest of a term, as `analysis.sesoi` states it: the term's own, else the response's.

    A term is named by its factors, in any order; None where nothing is stated.

    >>> stated = {"log_rt": 0.03, "number:attractor": {"log_rt": 0.02}}
    >>> find_sesoi(stated, "log_rt", "attractor:number"), find_sesoi(stated, "log_rt", "number")
    (0.02, 0.03)
    """
    factors = sorted(term.split(":"))
    for name, effects in sesoi.items():
        if isinstance(effects, Mapping) and sorted(name.split(":")) == factors and response in effects:
            return effects[response]
    effect = sesoi.get(response)
    return None if isinstance(effect, Mapping) else effect


def _expect_valid_sesoi(sesoi: Sesoi) -> None:
    terms = {name: effects for name, effects in sesoi.items() if isinstance(effects, Mapping)}
    whole = {name: effect for name, effect in sesoi.items() if not isinstance(effect, Mapping)}
    expected = f"expected one of {', '.join(RESPONSES)}"
    for name in whole:
        _expect(name in RESPONSES, f'sesoi names {name!r}; {expected}, or a term with its own, "{name}" = {{ log_rt = 0.03 }}')
    for term, effects in terms.items():
        _expect(term not in RESPONSES, f"sesoi.{term} is a table; expected a number, as {term} is a response")
        wrong = [name for name in effects if name not in RESPONSES]
        _expect(not wrong, f"sesoi.{term} names {', '.join(map(repr, wrong))}; {expected}")
    _expect_each_once(terms, "sesoi")
    stated = {**whole, **{f"{term}.{name}": effect for term, by in terms.items() for name, effect in by.items()}}
    for name, effect in stated.items():
        _expect(effect > 0, f"sesoi.{name} is {effect:g}; expected more than 0")


@dataclass(frozen=True)
class FiguresSection:
    """How coefficients are drawn: the p below which they have one star, two and so on, and what their bars are.

    >>> FiguresSection(stars=(0.025, 0.01, 0.001), bars="se").bars
    'se'
    """

    __pydantic_config__ = STRICT_VALIDATION
    stars: tuple[float, ...] = (0.05, 0.01, 0.001)
    bars: str = "interval"

    def __post_init__(self) -> None:
        falling = all(low < high for high, low in itertools.pairwise((1.0, *self.stars, 0.0)))
        _expect(falling, f"stars is {[*self.stars]}; expected p-values below 1, each less than the one before it")
        _expect(self.bars in ("interval", "se"), f"bars is {self.bars!r}; expected 'interval' (95 %) or 'se'")


NO_RT_CUTOFFS = (0.0, float("inf"))  # of reading times (ms): none is left out
FOLLOWING_REGIONS, CUMULATIVE_REGIONS = "following", "cumulative"
COVARIATES = ("log_trial", "position")
RATING_MEASURES = ("z", "rating")  # columns of rating_scores: standardised within participants, or as given


def format_region_after(region: str, words: int, kind: str = FOLLOWING_REGIONS) -> str:
    """Return the name of the word so many words after a region, or of the region up to it.

    >>> format_region_after("critical", 1), format_region_after("critical", 2, "cumulative"), format_region_after("critical", 0)
    ('critical+1', 'critical..+2', 'critical')
    """
    return f"{region}{'..' if kind == CUMULATIVE_REGIONS else ''}+{words}" if words else region


def parse_region_name(region: str) -> tuple[str, int, str]:
    """Return the region that such a name begins with, how many words after it, and of which kind the name is.

    >>> parse_region_name("critical..+2"), parse_region_name("critical+1"), parse_region_name("critical")
    (('critical', 2, 'cumulative'), ('critical', 1, 'following'), ('critical', 0, 'following'))
    """
    base, _, words = region.partition("+")
    return base.removesuffix(".."), int(words or 0), CUMULATIVE_REGIONS if base.endswith("..") else FOLLOWING_REGIONS


@dataclass(frozen=True)
class ParticipantMeasureSection:
    """A measure of participants that models may name, such as age or proficiency: the answers to the `question` of demographics, of
    its own name unless stated, or the column of its name in `file`, a CSV file with a row for each `participant`.

    It is a number, unless `levels` are stated, in their order: then it is a factor between participants. Simulated participants
    have a number from a normal distribution with `mean` and `sd` between `min` and `max`, or without these two from a uniform one.

    >>> ParticipantMeasureSection(mean=75, sd=10, max=100).centre
    75
    """

    __pydantic_config__ = STRICT_VALIDATION
    file: str | None = None
    question: str | None = None
    levels: tuple[str, ...] = ()
    mean: float | None = None
    sd: float | None = None
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        _expect(self.file is None or self.question is None, "file and question are both stated; expected the one or the other")
        _expect(
            len(self.levels) != 1 and len({*self.levels}) == len(self.levels),
            f"levels is {[*self.levels]}; expected two or more different ones, or none of a number",
        )
        numbers = {name: getattr(self, name) for name in ("mean", "sd", "min", "max") if getattr(self, name) is not None}
        _expect(
            not (self.levels and numbers),
            f"levels is stated beside {', '.join(numbers)}; expected levels of a text, or these of a number",
        )
        _expect((self.mean is None) == (self.sd is None), f"mean is {self.mean} and sd {self.sd}; expected both, or neither")
        _expect(self.sd is None or self.sd > 0, f"sd is {self.sd}; expected more than 0")
        low, high = (float("-inf") if self.min is None else self.min), (float("inf") if self.max is None else self.max)
        mean = low if self.mean is None else self.mean
        _expect(low < high and low <= mean <= high, f"min is {low:g}, mean {mean:g} and max {high:g}; expected them in this order")

    @property
    def is_described(self) -> bool:
        """Whether it says by itself what it is: a text of these levels, or a number that can be drawn."""
        return bool(self.levels) or self.centre is not None

    @property
    def centre(self) -> float | None:
        """The middle of the distribution of a number: what is stated, else that of min and max; None where neither is."""
        if self.mean is not None:
            return self.mean
        return None if self.min is None or self.max is None else (self.min + self.max) / 2


# What `gardenpath multiverse` may vary beside the rules of analysis.exclude.
RT_CUTOFF_KEYS = ("min_rt", "max_rt", "remove_outliers")
MAX_SD_KEY, FLAGGED_KEY = "max_sd", "without_flagged"
TRANSFORMATIONS = ("log", "ms", "-1000/ms", "log per word", "z", "raw")
RANDOM_EFFECTS = ("intercepts", "maximal", "parsimonious")
PLANNED_CHOICE = "as planned"  # the rules of analysis, and the random effects of the plan


@dataclass(frozen=True)
class MultiverseSection:
    """What `gardenpath multiverse` varies, `[analysis.multiverse]`: each key lists choices beside the planned one.

    A key that is left out has defaults that follow from the response and the task, as many as `most_fits` a model allows; an empty
    list varies nothing. `exclusions` are rules in place of those of analysis, by a name of one's own.

    >>> MultiverseSection(transformations=("square root",))
    Traceback (most recent call last):
    ...
    ValueError: transformations has 'square root'; expected some of log, ms, -1000/ms, log per word, z, raw
    """

    __pydantic_config__ = STRICT_VALIDATION
    most_fits: int = 48
    only_hypotheses: bool = False
    exclusions: dict[str, dict[str, Any]] | None = None
    transformations: tuple[str, ...] | None = None
    random_effects: tuple[str, ...] | None = None
    covariates: tuple[tuple[str, ...], ...] | None = None
    regions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _expect(self.most_fits > 0, f"most_fits is {self.most_fits}; expected at least 1")
        for name, known in (("transformations", TRANSFORMATIONS), ("random_effects", RANDOM_EFFECTS)):
            other = [choice for choice in getattr(self, name) or () if choice not in known]
            _expect(not other, f"{name} has {', '.join(map(repr, other))}; expected some of {', '.join(known)}")
        for name in ("transformations", "random_effects", "covariates", "regions"):
            choices = getattr(self, name) or ()
            _expect(len({*choices}) == len(choices), f"{name} has a choice twice; expected each once")
        for name, rules in (self.exclusions or {}).items():
            _expect(bool(name.strip() and rules), f"exclusions.{name} is empty; expected a name, and rules such as min_rt = 50")
            _expect(name != PLANNED_CHOICE, f"exclusions.{name}: those are the rules of analysis; expected another name")


@dataclass(frozen=True)
class AnalysisSection:
    """Exclusions and engine; arguments of `analysis.analyse`.

    >>> AnalysisSection(engine="lme4").policy
    'declared'
    """

    __pydantic_config__ = STRICT_VALIDATION
    engine: str = "glmm"
    policy: str = "declared"
    crosscheck: bool = False
    ordinal: bool | None = None
    gam: bool = False
    min_rt: float = 100.0
    max_rt: float = 3000.0
    remove_outliers: bool = True
    spillover_regions: str = FOLLOWING_REGIONS
    covariates: tuple[str, ...] = COVARIATES
    rating_measure: str = RATING_MEASURES[0]
    figures: FiguresSection = field(default_factory=FiguresSection)
    exclude: ExcludeSection = field(default_factory=ExcludeSection)
    sesoi: dict[str, SesoiEntry] = field(default_factory=dict)
    models: tuple[ModelSection, ...] = ()
    participant_measures: dict[str, ParticipantMeasureSection] = field(default_factory=dict)
    multiverse: MultiverseSection = field(default_factory=MultiverseSection)

    def __post_init__(self) -> None:
        for name in self.participant_measures:
            fault = find_name_fault(name, "participant measure")
            _expect(fault is None, f"participant_measures: {fault}")
        _expect(
            0 <= self.min_rt < self.max_rt, f"min_rt is {self.min_rt:g} and max_rt {self.max_rt:g}; expected 0 <= min_rt < max_rt"
        )
        _expect(
            self.remove_outliers or (self.min_rt, self.max_rt) == (100, 3000),
            f"remove_outliers is false, and min_rt {self.min_rt:g}, max_rt {self.max_rt:g}; expected the one or the other",
        )
        _expect(
            self.spillover_regions in (FOLLOWING_REGIONS, CUMULATIVE_REGIONS),
            f"spillover_regions is {self.spillover_regions!r}; expected {FOLLOWING_REGIONS!r} or {CUMULATIVE_REGIONS!r}",
        )
        unknown = [name for name in self.covariates if name not in COVARIATES]
        _expect(not unknown, f"covariates names {', '.join(unknown)}; expected some of {', '.join(COVARIATES)}, or none")
        _expect(
            self.rating_measure in RATING_MEASURES,
            f"rating_measure is {self.rating_measure!r}; expected {RATING_MEASURES[0]!r} or {RATING_MEASURES[1]!r}",
        )
        policies = ("declared", "maximal", "parsimonious")
        _expect(self.policy in policies, f"policy is {self.policy!r}; expected one of {', '.join(policies)}")
        _expect_valid_sesoi(self.sesoi)
        names = [model.name for model in self.models]
        twice = sorted({name for name in names if names.count(name) > 1})
        _expect(not twice, f"models: {', '.join(map(repr, twice))} occurs twice; expected a different name for each")
        for model in self.models:
            base, words, kind = parse_region_name(model.region)
            _expect(
                not words or kind == self.spillover_regions,
                f"models: {model.name!r} has the region {model.region!r}, and spillover_regions is {self.spillover_regions!r}; "
                f"expected {format_region_after(base, words, self.spillover_regions)!r}",
            )
        for name, rules in (self.multiverse.exclusions or {}).items():
            vary_exclusions(self, rules, f"multiverse.exclusions.{name}")

    @property
    def rt_cutoffs(self) -> tuple[float, float]:
        """The reading times that are kept, ms, both ends included."""
        return (self.min_rt, self.max_rt) if self.remove_outliers else NO_RT_CUTOFFS


def vary_exclusions(settings: AnalysisSection, rules: Mapping[str, Any], where: str = "multiverse.exclusions") -> AnalysisSection:
    """Return the settings with other rules of exclusion: of analysis.exclude, or min_rt, max_rt and remove_outliers.

    >>> varied = vary_exclusions(AnalysisSection(), {"min_rt": 50.0, "min_accuracy": 0.9})
    >>> varied.rt_cutoffs, varied.exclude.min_accuracy
    ((50.0, 3000.0), 0.9)
    """
    known = [one.name for one in fields(ExcludeSection)]
    for name in rules:
        if name not in (*RT_CUTOFF_KEYS, MAX_SD_KEY, FLAGGED_KEY, *known):
            own = [*RT_CUTOFF_KEYS, MAX_SD_KEY, FLAGGED_KEY]
            near = difflib.get_close_matches(name, [*own, *known], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(own)}, or a key of exclude"
            raise DataError(f"{where}: key {name!r} is not known; {hint}")
    for name in ("min_rt", "max_rt", MAX_SD_KEY):
        value = rules.get(name, 0)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        _expect(is_number, f"{where}.{name} is {value!r}; expected a number, 0 or more")
    for name in ("remove_outliers", FLAGGED_KEY):
        value = rules.get(name, True)
        _expect(isinstance(value, bool), f"{where}.{name} is {value!r}; expected true or false")
    stated = {name: rules[name] for name in known if name in rules}
    exclude = parse_dataclass(ExcludeSection, {**asdict(settings.exclude), **stated}, where=where) if stated else settings.exclude
    cutoffs = {name: rules[name] for name in RT_CUTOFF_KEYS if name in rules}
    if cutoffs.get("remove_outliers") is False:
        cutoffs = {"min_rt": 100.0, "max_rt": 3000.0} | cutoffs
    elif cutoffs:
        cutoffs["remove_outliers"] = True
    try:  # without its multiverse: rules are not varied twice
        return replace(settings, exclude=exclude, multiverse=MultiverseSection(), **cutoffs)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from None


@dataclass(frozen=True)
class EffectSection:
    """What a factor, a measure of participants or an interaction does to simulated participants, `simulate.TERM`: to log reading
    time (ms) in regions, to the latent rating (in units of its residual s.d.; of a choice between two sentences in log odds), to
    the log odds of the right answer to a question, and to those of a right first choice of each word of a region in Maze. Effects
    of measures that are numbers are for a difference of 1.

    >>> EffectSection(log_rt={"critical": 0.08, "critical+1": 0.04}).rating
    0.0
    """

    __pydantic_config__ = STRICT_VALIDATION
    log_rt: dict[str, float] = field(default_factory=dict)
    rating: float = 0.0
    accuracy: float = 0.0
    first_choice: dict[str, float] = field(default_factory=dict)

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions that have an effect."""
        return tuple(dict.fromkeys((*self.log_rt, *self.first_choice)))

    def __post_init__(self) -> None:
        for key, regions in (("log_rt", self.log_rt), ("first_choice", self.first_choice)):
            for region in regions:
                _expect(
                    re.fullmatch(r"[^+]+(\+[1-9])?", region) is not None,
                    f"{key} names the region {region!r}; expected one such as critical, or critical+1 for the word after it",
                )
        for region, effect in self.log_rt.items():
            _expect(abs(effect) <= 2, f"log_rt.{region} is {effect:g}; expected log ms, such as 0.05 (5 %), from -2 to 2")


def _expect_each_once(terms: Iterable[str], where: str) -> None:
    factors = {term: frozenset(term.split(":")) for term in terms}
    twice = [term for term, named in factors.items() if [*factors.values()].count(named) > 1]
    _expect(not twice, f"{where}: {' and '.join(map(repr, twice))} are the same term; expected it once")


def _is_orcid(text: str) -> bool:
    """Return whether a text is an ORCID, by its check digit (ISO 7064, MOD 11-2).

    >>> _is_orcid("0000-0002-1825-0097"), _is_orcid("0000-0002-1825-0098")
    (True, False)
    """
    if not re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", text):
        return False
    digits = text.replace("-", "")
    total = functools.reduce(lambda sum_, digit: (sum_ + int(digit)) * 2, digits[:-1], 0)
    return "0123456789X"[(12 - total % 11) % 11] == digits[-1]


@dataclass(frozen=True)
class AuthorSection:
    """An author of the data, as archives name them: `Family, Given`.

    >>> AuthorSection("Carberry, Josiah", orcid="0000-0002-1825-0097").affiliation
    """

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    orcid: str | None = None
    affiliation: str | None = None

    def __post_init__(self) -> None:
        _expect(bool(self.name.strip()), "name is empty; expected 'Family, Given'")
        _expect(
            self.orcid is None or _is_orcid(self.orcid),
            f"orcid is {self.orcid!r}; expected sixteen digits such as 0000-0002-1825-0097 (the last checks the others)",
        )


@dataclass(frozen=True)
class ArchiveSection:
    """What an archive is told about the data; tables or columns (`TABLE.COLUMN`) that `leave_out` names stay at home.

    `deviations` are the reasons of deviations from the preregistration, by what deviates.
    """

    __pydantic_config__ = STRICT_VALIDATION
    description: str = ""
    authors: list[AuthorSection] = field(default_factory=list)
    license: str | None = None
    keywords: list[str] = field(default_factory=list)
    citation: str | None = None
    funder: str | None = None
    url: str | None = None
    identifier: str | None = None
    usage_info: str | None = None
    leave_out: list[str] = field(default_factory=list)
    deviations: dict[str, str] = field(default_factory=dict)


CORRECTIONS = ("none", "holm", "benjamini-hochberg")  # of p within a family of hypotheses


@dataclass(frozen=True)
class HypothesisSection:
    """A hypothesis, `[[hypotheses]]`: which effect, on which response; docs/study-toml.md says what each key means.

    >>> HypothesisSection(effect="extraction", response="log_rt", sides=1)
    Traceback (most recent call last):
    ...
    ValueError: hypothesis 'extraction' has sides = 1 and no direction; expected direction = "positive" or "negative"
    """

    __pydantic_config__ = STRICT_VALIDATION
    effect: str
    response: str
    name: str = ""
    model: str = ""
    region: str = "critical"
    prompt: str | None = None
    contrast: str = ""
    direction: Literal["positive", "negative", ""] = ""
    sides: int = 2
    sesoi: float | None = None
    primary: bool = False
    family: str = ""
    correction: str = ""

    @property
    def label(self) -> str:
        """What the hypothesis is called."""
        return self.name or self.effect

    def __post_init__(self) -> None:
        what = f"hypothesis {self.label!r}"
        _expect(self.sides in (1, 2), f"{what} has sides = {self.sides}; expected 1 or 2")
        _expect(
            self.sides == 2 or bool(self.direction),
            f'{what} has sides = {self.sides} and no direction; expected direction = "positive" or "negative"',
        )
        _expect(self.sesoi is None or self.sesoi > 0, f"{what}: sesoi is {self.sesoi}; expected more than 0")
        _expect(
            self.correction in ("", *CORRECTIONS),
            f"{what}: correction is {self.correction!r}; expected one of {', '.join(CORRECTIONS)}",
        )
        _expect(
            not (self.primary and self.correction),
            f"{what} is primary and has a correction; expected one of the two: a primary hypothesis stands alone",
        )


def _expect_ranked(hypotheses: Sequence[HypothesisSection]) -> None:
    """Raise where several hypotheses have neither a primary one nor a family with its correction."""
    names = [one.label for one in hypotheses]
    twice = sorted({name for name in names if names.count(name) > 1})
    _expect(not twice, f"hypotheses: {', '.join(map(repr, twice))} occurs twice; expected a different name for each")
    primary = [one.label for one in hypotheses if one.primary]
    _expect(len(primary) < 2, f"hypotheses: {' and '.join(map(repr, primary))} are both primary; expected one, or a correction")
    corrected = [one.label for one in hypotheses if one.correction]
    alone = [one.label for one in hypotheses if not one.correction and not one.primary]
    _expect(
        len(hypotheses) < 2 or bool(primary) or not alone,
        f"hypotheses: of {len(hypotheses)} none is primary, and {', '.join(map(repr, alone))} "
        f'{"has" if len(alone) == 1 else "have"} no correction; expected primary = true of one, or correction = "holm" (or '
        '"benjamini-hochberg", or "none") of each',
    )
    _expect(
        not (primary and corrected),
        f"hypotheses: {', '.join(map(repr, primary))} is primary, and {', '.join(map(repr, corrected))} has a correction; expected "
        "one of the two",
    )
    families: dict[str, set[str]] = {}
    for one in hypotheses:
        families.setdefault(one.family, set()).add(one.correction)
    for family, corrections in families.items():
        _expect(len(corrections) < 2 or bool(primary), f"hypotheses: family {family!r} has several corrections; expected one")


@dataclass(frozen=True)
class Study:
    """A study as study.toml states it; `path` is that file, and its paths start from its folder.

    >>> from importlib.resources import files
    >>> config = load(files("gardenpath.examples") / "minimal-pairs")
    >>> config.name, [path.name for path in config.list_material_paths()]
    ('minimal-pairs', ['items.csv'])
    """

    __pydantic_config__ = STRICT_VALIDATION
    name: str
    language: str
    seed: int
    materials: MaterialsSection
    design: DesignSection
    procedure: ProcedureSection = field(default_factory=ProcedureSection)
    online: OnlineSection | None = None
    title: str = ""
    ordering: OrderingSection = field(default_factory=OrderingSection)
    analysis: AnalysisSection = field(default_factory=AnalysisSection)
    hypotheses: tuple[HypothesisSection, ...] = ()
    simulate: dict[str, EffectSection] = field(default_factory=dict)
    archive: ArchiveSection = field(default_factory=ArchiveSection)
    path: Path = Path("study.toml")

    def __post_init__(self) -> None:
        _expect_each_once(self.simulate, "simulate")
        _expect_ranked(self.hypotheses)
        object.__setattr__(self, "analysis", replace(self.analysis, participant_measures=self._describe_participant_measures()))
        quota = self.online.quota if self.online and self.design.short_lists else None
        _expect(quota is None, f"online.quota is {quota} beside design.short_lists; expected none: each list has one slot")

    def _describe_participant_measures(self) -> dict[str, ParticipantMeasureSection]:
        """Return the measures of participants with the choices and limits of the questions that give them."""
        choices = {one.name: tuple(one.accepted_choices) for one in self.procedure.screener}
        choices |= {one.name: tuple(one.choices) for one in self.procedure.demographics}
        fields_by_name = {one.name: one for one in self.procedure.demographics}
        described = {}
        for name, measure in self.analysis.participant_measures.items():
            where = f"analysis.participant_measures.{name}"
            question = measure.question or name
            described[name] = measure
            if measure.file is not None:
                _expect(name not in choices, f"{where} has a file, and a question is named {name!r}; expected the one or the other")
                continue
            _expect(
                question in choices or measure.is_described,
                f"{where}: no question of procedure.demographics is named {question!r}; expected one of "
                f"{', '.join(choices) or 'those that there are, of which there is none'}, a file, or of what another platform asks "
                "levels, or mean and sd",
            )
            if offered := choices.get(question):
                other = [level for level in measure.levels if level not in offered]
                _expect(not other, f"{where}: levels has {', '.join(map(repr, other))}; expected some of {', '.join(offered)}")
                _expect(
                    measure.levels != () or not measure.is_described,
                    f"{where}: mean, sd, min and max are of a number; expected none, as {question} is a choice",
                )
                described[name] = measure if measure.levels else replace(measure, levels=offered)
            elif question in fields_by_name and not measure.levels:
                limits = {key: getattr(fields_by_name[question], key) for key in ("min", "max") if getattr(measure, key) is None}
                described[name] = replace(measure, **limits)
        return described

    @property
    def folder(self) -> Path:
        """The folder from which the study's paths start."""
        return self.path.parent

    @property
    def required_online(self) -> OnlineSection:
        """The section `online`, which serving and exporting need; raises `DataError` where there is none."""
        if self.online is None:
            raise DataError(f"{self.path}: section [online] is missing; expected it with completion_code, to serve or export")
        return self.online

    def list_material_paths(self) -> list[Path]:
        """Return the material files, resolved against the study's folder."""
        return [self.folder / name for name in self.materials.files]

    def resolve_mapping_path(self) -> Path | None:
        """Return the mapping of the material files' columns, resolved; None where none is stated."""
        return None if self.materials.mapping is None else self.folder / self.materials.mapping


def load(path: str | Path) -> Study:
    """Return the study that a study.toml (or the folder it lies in) states.

    Raises `DataError` with every unknown, missing and ill-typed key at once.

    >>> from importlib.resources import files
    >>> load(files("gardenpath.examples") / "minimal-pairs").design.lists
    3
    """
    path = Path(path)
    if path.is_dir():
        path = path / "study.toml"
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file; expected a study.toml; begin one with  gardenpath new")
    content = read_toml(path)
    if not content:
        raise DataError(f"{path}: states nothing; expected a study.toml; begin one with  gardenpath new")
    content.pop("path", None)
    return parse_dataclass(Study, {**content, "path": path}, where=str(path), file_kind="study.toml")


@dataclass(frozen=True)
class _EffectsFile:
    __pydantic_config__ = STRICT_VALIDATION
    simulate: dict[str, EffectSection]

    def __post_init__(self) -> None:
        _expect_each_once(self.simulate, "simulate")


def load_effects(path: str | Path) -> dict[str, EffectSection]:
    """Return the effects that the table [simulate] of a file states; raises `DataError` with every fault.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "effects.toml").write_text("[simulate.grammaticality]\\nrating = -1.5\\n")
    ...     load_effects(f"{folder}/effects.toml")["grammaticality"].rating
    -1.5
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file; expected a table [simulate] as in study.toml")
    return parse_dataclass(_EffectsFile, read_toml(Path(path)), where=str(path)).simulate


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds; raises `DataError` with the line where it is not TOML."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not valid TOML: {error}{_quote_line(path, str(error))}") from None


def _quote_line(path: Path, message: str) -> str:
    """Return the line that a TOML error names, to be looked at."""
    match = re.search(r"at line (\d+)", message)
    return f": {read_text(path).splitlines()[int(match.group(1)) - 1].strip()}" if match else ""


def parse_dataclass(kind: type[T], data: object, *, where: str, file_kind: str = "") -> T:
    """Return `data`, or what a JSON text holds, as the dataclass `kind`, or raise `DataError` with every fault, named by its key.

    Where `file_kind` is one whose keys were renamed (renamed.csv), keys with an old name are the only faults that are raised.

    >>> parse_dataclass(PageSection, {"block": 0, "text": "Half of it is done."}, where="pages.json")
    Traceback (most recent call last):
    ...
    gardenpath.study.errors.DataError: pages.json: block is 0; expected 1 or more
    """
    if renamed := describe_renamed_keys(data, file_kind) if isinstance(data, Mapping) and file_kind else []:
        raise DataError(f"{where}: {line}" for line in renamed)
    try:
        # JSON: strict, yet lists become tuples
        text = data if isinstance(data, str) else json.dumps(data, default=str)
        structured: T = _get_adapter(kind).validate_json(text)
        return structured
    except ValidationError as error:
        faults = [_format_fault(kind, dict(fault), where) for fault in error.errors()]
    raise DataError(faults)


_get_adapter: Callable[[Any], TypeAdapter[Any]] = functools.cache(TypeAdapter)  # building one costs far more than using it


def _format_fault(kind: type, fault: Mapping[str, Any], where: str) -> str:
    key_path = ".".join(str(part) for part in fault["loc"] if part not in ENTRY_KINDS.values())
    match fault["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            known = _list_keys(kind, fault["loc"][:-1])
            near = difflib.get_close_matches(str(fault["loc"][-1]), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            return f"{where}: key {key_path!r} is not known; {hint}"
        case "missing" | "missing_argument":
            return f"{where}: key {key_path!r} is missing; expected it beside {', '.join(_list_keys(kind, fault['loc'][:-1]))}"
        case "value_error":
            message = fault["msg"].removeprefix("Value error, ")
            return f"{where}: {key_path}: {message}" if key_path else f"{where}: {message}"
        case _:
            return f"{where}: key {key_path!r} is {fault['input']!r}: {fault['msg'][0].lower()}{fault['msg'][1:]}"


def _list_keys(kind: Any, key_path: tuple[str | int, ...]) -> list[str]:
    """Return the keys that the dataclass found at `key_path` inside `kind` knows."""
    for part in key_path:
        hints = get_type_hints(kind) if is_dataclass(kind) else {}
        kind = next(_find_dataclasses(hints.get(str(part), kind)), kind)
    return [f.name for f in fields(kind) if f.name != "path"] if is_dataclass(kind) else []


def _find_dataclasses(hint: Any) -> Iterator[type]:
    """Yield the dataclasses that a type hint names, however deep within lists and alternatives."""
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from _find_dataclasses(part)
