"""Norming: which items are asked about, where their sentences are cut, and by which rule, stated before any data, they are kept."""

import hashlib
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from gardenpath import study

from .drafting.provenance import ORIGIN
from .grammar import Grammar, generate
from .items import CRITICAL, Item, Materials, Paradigm, Region, Sentence
from .region_checks import EDGE_PUNCTUATION
from .selection.covariates import shorten_faults
from .text_checks import UNSPACED_LANGUAGES, get_base_language

if TYPE_CHECKING:
    import pandas as pd

NORMING_TASKS = ("cloze", "plausibility", "acceptability")
HASH_COLUMN = "norming"  # the free column with the hash of what was stated before the first answer
REPLACES_COLUMN = "replaces"
FREE_COLUMNS = {  # what add_norms puts after the name of the task, and the column of norms that it is
    "": "value",
    "_shrunken": "shrunken",
    "_ci_low": "ci_low",
    "_ci_high": "ci_high",
    "_n": "n_valid_responses",
}
MAX_LIST_SIZE, MIN_LIST_SIZE = 40, 10
RULE_PATTERN = re.compile(r"\s*(\w+)(?:\.(ci_low|ci_high|shrunken))?\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)(?:\s+in\s+(.+?))?\s*")
COMPARISONS = {"<=": float.__le__, ">=": float.__ge__, "<": float.__lt__, ">": float.__gt__}


@dataclass(frozen=True)
class KeepRule:
    """What an item has to fulfil to be kept, in one condition or in each: of the estimate, a limit of its 95 % interval, or the
    shrunken estimate.

    >>> KeepRule.parse("cloze.ci_high <= 0.3 in neutral")
    KeepRule(measure='cloze', statistic='ci_high', comparison='<=', limit=0.3, condition='neutral')
    """

    measure: str
    statistic: str
    comparison: str
    limit: float
    condition: str | None = None

    @classmethod
    def parse(cls, text: str) -> "KeepRule":
        """Return the rule that a text states; raises `ValueError`."""
        if not (match := RULE_PATTERN.fullmatch(text)):
            raise ValueError(
                f"keep is {text!r}; expected MEASURE <= NUMBER, as in 'cloze <= 0.2', 'cloze.ci_high < 0.4 in neutral' or "
                "'plausibility.ci_low >= 4'"
            )
        measure, statistic, comparison, limit, condition = match.groups()
        return cls(measure, statistic or "value", comparison, float(limit), condition)

    def is_met(self, value: float) -> bool:
        """Whether a number fulfils it; what is not known does not."""
        return bool(COMPARISONS[self.comparison](value, self.limit))

    def __str__(self) -> str:
        statistic = "" if self.statistic == "value" else f".{self.statistic}"
        where = f" in {self.condition}" if self.condition else ""
        return f"{self.measure}{statistic} {self.comparison} {self.limit:g}{where}"


@dataclass(frozen=True)
class SampleSection:
    """That the items were drawn at random: how many, of how many, and with which seed."""

    __pydantic_config__ = study.config.STRICT_VALIDATION
    items: int
    pool_size: int
    seed: int


@dataclass(frozen=True)
class NormingSettings:
    """norm.toml: the task, how many answers each sentence gets, where it is cut, and by which rules items are kept.

    >>> NormingSettings("cloze", keep=("cloze <= 0.2",)).rules[0].limit
    0.2
    """

    __pydantic_config__ = study.config.STRICT_VALIDATION
    task: str
    responses_per_sentence: int = 20
    fragment_end: str = CRITICAL
    keep: tuple[str, ...] = ()
    random_sample: SampleSection | None = None

    def __post_init__(self) -> None:
        if self.task not in NORMING_TASKS:
            raise ValueError(f"task is {self.task!r}; expected one of {', '.join(NORMING_TASKS)}")
        if self.responses_per_sentence < 2:
            raise ValueError(f"responses_per_sentence is {self.responses_per_sentence}; expected at least 2 answers a sentence")
        known = (self.task, "entropy") if self.task == "cloze" else (self.task,)
        for rule in self.rules:
            if rule.measure not in known or (rule.measure == "entropy" and rule.statistic != "value"):
                raise ValueError(f"keep is '{rule}'; expected a rule on {' or '.join(known)}, which {self.task} measures")

    @property
    def rules(self) -> list[KeepRule]:
        """The rules, all of which have to hold of an item that is kept."""
        return [KeepRule.parse(text) for text in self.keep]

    @property
    def sha256(self) -> str:
        """A hash of what is stated, which every item carries into the lists that are shown."""
        return hashlib.sha256(repr(asdict(self)).encode()).hexdigest()


def read_norming_settings(path: str | Path) -> NormingSettings:
    """Return what a norm.toml states; raises `DataError` with every fault."""
    try:
        content = tomllib.loads(study.files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise study.DataError(f"{path}: not TOML: {error}") from None
    return study.config.parse_dataclass(NormingSettings, content, where=str(path), file_kind="norm.toml")


def select_items_to_norm(
    materials: Materials, settings: NormingSettings, *, paradigms: Sequence[str] = (), sample: int | None = None, seed: int = 1
) -> tuple[Materials, NormingSettings]:
    """Return the items to ask about, marked with the hash of what is stated, and that with the sample, where one is drawn.

    Paradigms with a single condition (fillers) are left out unless named. Raises `DataError` where paradigms differ in their
    conditions, which are dealt evenly, items are in several languages, or a sentence cannot be cut.
    """
    known = [paradigm.id for paradigm in materials.paradigms]
    if unknown := [name for name in paradigms if name not in known]:
        raise study.DataError(f"no paradigm {unknown[0]!r}; expected one of {', '.join(known)}")
    several = [p.id for p in materials.paradigms if len(p.list_conditions()) > 1] or known
    chosen = [p for p in materials.paradigms if p.id in (paradigms or several)]
    kinds = Counter(tuple(paradigm.list_conditions()) for paradigm in chosen)
    if len(kinds) > 1:
        listing = "; ".join(", ".join(conditions) for conditions in kinds)
        raise study.DataError(f"paradigms differ in their conditions ({listing}); expected those of one kind: --paradigm NAME")
    names = {paradigm.id for paradigm in chosen}
    items = [item for item in materials.items if item.paradigm in names]
    if len(languages := list(dict.fromkeys(item.language for item in items))) > 1:
        raise study.DataError(
            f"items are in {', '.join(languages)}; expected one language: --language TAG for items whose file states none, "
            "or --paradigm NAME"
        )
    if sample is not None:
        if not 0 < sample < len(items):
            raise study.DataError(f"{sample} items are asked for, of {len(items)}; expected fewer, or no sample")
        settings = replace(settings, random_sample=SampleSection(sample, len(items), seed))
        drawn = {item.id for item in Random(f"{seed}-norming").sample(items, sample)}
        items = [item for item in items if item.id in drawn]
    if settings.task == "cloze":
        items = [add_cut_region(item, settings.fragment_end) for item in items]
    marked = [replace(item, question=None, extra={**item.extra, HASH_COLUMN: settings.sha256}) for item in items]
    result = Materials(tuple(chosen), tuple(marked), materials.source_lines)
    if settings.task == "cloze":
        build_fragments_table(result, settings.fragment_end)
    return result, settings


def add_cut_region(item: Item, until: str) -> Item:
    """Return an item whose sentences have the region `until`, which a free column of that name may state as the fragment."""
    sentences = {}
    for condition, sentence in item.sentences.items():
        text = item.extra.get(f"{until} ({condition})") or item.extra.get(until)
        if sentence.find_region(until) is None and text is not None:
            if not sentence.text.startswith(text):
                raise study.DataError(f"item {item.id} ({condition}): its column {until} is no beginning of its sentence")
            start = len(text) + len(sentence.text[len(text) :]) - len(sentence.text[len(text) :].lstrip())
            end = next((word.end for word in sentence.list_words() if word.end > start), len(sentence.text))
            sentence = replace(sentence, regions=(*sentence.regions, Region(until, start, end)))
        sentences[condition] = sentence
    return replace(item, sentences=sentences)


def build_fragments_table(materials: Materials, until: str = CRITICAL) -> "pd.DataFrame":
    """Return table `fragments`: each sentence up to a region, and the region's first word, without the marks around it.

    Raises `DataError` with each sentence that cannot be cut there.

    >>> sentence = Sentence("She cut the bread.", (Region("critical", 12, 17),))
    >>> materials = Materials((), (Item("i1", "p", {"a": sentence}),))
    >>> build_fragments_table(materials)[["fragment", "target"]].values.tolist()
    [['She cut the', 'bread']]
    """
    import pandas as pd

    faults, rows = [], []
    for item in materials.items:
        for condition, sentence in item.sentences.items():
            region = sentence.find_region(until)
            if region is None or not sentence.text[: region.start].strip():
                what = "no region" if region is None else "nothing before its region"
                faults.append(f"item {item.id} ({condition}) has {what} {until!r}, at which it would be cut")
                continue
            target = _find_target_word(sentence, region, item.language)
            if not target:
                faults.append(f"item {item.id} ({condition}): its region {until!r} begins within a word; expected whole words")
                continue
            fragment = sentence.text[: region.start].rstrip()
            spaced = sentence.segmentation is not None or get_base_language(item.language) not in UNSPACED_LANGUAGES
            adjacent = not sentence.text[len(fragment)].isspace()
            rows.append((item.id, item.paradigm, condition, item.language, item.context, fragment, target, spaced, adjacent))
    if faults:
        raise study.DataError(shorten_faults(faults))
    return study.check(pd.DataFrame(rows, columns=study.TABLES["fragments"].column_names), "fragments")


def _find_target_word(sentence: Sentence, region: Region, language: str) -> str:
    """Return the first word of a region; where words are not spaced nor segmented, all of it; nothing within a word."""
    if sentence.segmentation is None and get_base_language(language) in UNSPACED_LANGUAGES:
        return sentence.text[region.start : region.end].strip(EDGE_PUNCTUATION)
    word = next(iter(sentence.list_region_words(region.name)), None)
    if word is None or sentence.text[word.start : region.start].strip(EDGE_PUNCTUATION):
        return ""
    return word.text.strip(EDGE_PUNCTUATION)


def choose_list_size(items: int, participants: int) -> int:
    """Return how many items a list has: as many as come out even, 40 at most; else 40, the last list shorter.

    >>> choose_list_size(60, 40), choose_list_size(12, 20), choose_list_size(97, 20)
    (40, 12, 20)
    """
    most = min(items, MAX_LIST_SIZE)
    even = [k for k in range(min(MIN_LIST_SIZE, most), most + 1) if items * participants % k == 0]
    return max(even, default=most)


def count_participants_needed(materials: Materials, settings: NormingSettings) -> int:
    """Return how many readers an item needs, so that each of its sentences has `responses_per_sentence` answers at least.

    Readers are dealt evenly to conditions; those with the same fragment share their answers.
    """
    conditions = max(len(item.sentences) for item in materials.items)
    if settings.task != "cloze":
        return settings.responses_per_sentence * conditions
    shared = build_fragments_table(materials, settings.fragment_end).groupby(["item", "fragment"]).size().min()
    return math.ceil(settings.responses_per_sentence * conditions / int(shared))


def compute_norm_decisions(norms: "pd.DataFrame", settings: NormingSettings, value: str = "value") -> "pd.DataFrame":
    """Return table `norm_decisions`: whether each item is kept by the rules, and by which of them it is not.

    With another `value`, a model's, that is held against the rules in place of estimates and limits.

    >>> import pandas as pd
    >>> norms = pd.DataFrame({"item": ["i1", "i2"], "paradigm": "p", "condition": "a", "value": [0.1, 0.5]})
    >>> compute_norm_decisions(norms, NormingSettings("cloze", keep=("cloze <= 0.2",)))["reason"].tolist()[1]
    'cloze <= 0.2: 0.5 in a'
    """
    import pandas as pd

    conditions = set(norms["condition"])
    for rule in settings.rules:
        check_rule_condition(rule, conditions)
    rows = []
    for (item, paradigm), some in norms.groupby(["item", "paradigm"], sort=False):
        broken = [
            f"{rule}: {_format_number(row[_select_column(rule, value)])} in {row['condition']}"
            for rule in settings.rules
            for row in some.to_dict("records")
            if rule.condition in (None, row["condition"]) and not rule.is_met(float(row[_select_column(rule, value)]))
        ]
        rows.append((item, paradigm, not broken, "; ".join(broken) or None))
    made = pd.DataFrame(rows, columns=["item", "paradigm", "kept", "reason"])
    return study.check(made.assign(task=settings.task, rules="; ".join(settings.keep) or None), "norm_decisions")


def check_rule_condition(rule: KeepRule, conditions: Set[str]) -> None:
    """Raise `DataError` for a rule on a condition that no sentence is in."""
    if rule.condition is not None and rule.condition not in conditions:
        known = ", ".join(sorted(conditions))
        raise study.DataError(f"keep is '{rule}', and no sentence is in {rule.condition!r}; expected one of {known}")


def _select_column(rule: KeepRule, value: str) -> str:
    return "entropy" if rule.measure == "entropy" else rule.statistic if value == "value" else value


def _format_number(value: float) -> str:
    return "no answer" if value != value else f"{value:.3g}"


def add_norms(materials: Materials, norms: "pd.DataFrame", kept: Iterable[str]) -> Materials:
    """Return the items that are kept, with what was found of each of their sentences in free columns.

    These are named after the task, with the condition in parentheses where there are several: `cloze (neutral)`, and the same
    of `_shrunken`, `_ci_low`, `_ci_high` and `_n`.
    """
    known: dict[str, dict[str, str]] = defaultdict(dict)
    single = len({*norms["condition"]}) == 1
    for row in norms.to_dict("records"):
        where = "" if single else f" ({row['condition']})"
        for name, column in FREE_COLUMNS.items():
            if row[column] == row[column]:
                known[row["item"]][f"{row['task']}{name}{where}"] = f"{row[column]:.4g}"
    chosen = set(kept)
    items = [replace(item, extra={**item.extra, **known[item.id]}) for item in materials.items if item.id in chosen]
    names = {item.paradigm for item in items}
    return Materials(tuple(p for p in materials.paradigms if p.id in names), tuple(items), materials.source_lines)


def draw_replacement_items(
    source: Grammar | Materials, seen: Sequence[Item], dropped: Sequence[tuple[str, str]], *, seed: int
) -> Materials:
    """Return a new item for each that was dropped (item, paradigm), none of whose sentences is among those `seen`.

    They are drawn with the seed from a grammar, or from materials that nobody has normed, such as reviewed drafts: nobody chooses
    them by what they are, or by a result. Raises `DataError` where there are not so many.
    """
    wanted = Counter(paradigm for _, paradigm in dropped)
    known = source.paradigms if isinstance(source, Grammar) else [paradigm.id for paradigm in source.paradigms]
    if unknown := sorted(set(wanted) - set(known)):
        raise study.DataError(
            f"the new items have no paradigm {', '.join(unknown)}; expected those of the items dropped, among {', '.join(known)}"
        )
    shown_before = {_fold_text(s.text) for item in seen for s in item.sentences.values()}
    paradigms: list[Paradigm] = []
    items: list[Item] = []
    for name, number in wanted.items():
        drawn = _draw_items(source, name, number, sum(item.paradigm == name for item in seen), seed)
        unseen = [i for i in drawn.items if shown_before.isdisjoint(_fold_text(s.text) for s in i.sentences.values())]
        if len(unseen) < number:
            raise study.DataError(
                f"{number} new items of {name} are asked for, and of {len(drawn.items)} there are {len(unseen)} that share no "
                "sentence with those normed; expected more of them"
            )
        paradigms += drawn.paradigms
        gone = [item for item, paradigm in dropped if paradigm == name]
        origin_column = {ORIGIN: "grammar"} if isinstance(source, Grammar) else {}
        items += [
            replace(item, id=f"{old}-new{seed}", extra={**item.extra, **origin_column, REPLACES_COLUMN: old})
            for item, old in zip(unseen[:number], gone, strict=True)
        ]
    return Materials(tuple(paradigms), tuple(items))


def _draw_items(source: Grammar | Materials, paradigm: str, number: int, before: int, seed: int) -> Materials:
    """Return items of a paradigm in an order that the seed draws: of a grammar as many as there can be seen ones among them."""
    if isinstance(source, Grammar):
        try:
            return generate(source, number + before, seed=seed, paradigms=[paradigm]).materials
        except ValueError as error:
            raise study.DataError(f"{number} new items of {paradigm} beside the {before} normed: {error}") from None
    items = [item for item in source.items if item.paradigm == paradigm]
    Random(f"{seed}-new-{paradigm}").shuffle(items)
    return Materials((source.find_paradigm(paradigm),), tuple(items))


def _fold_text(text: str) -> str:
    return " ".join(text.split()).casefold()
