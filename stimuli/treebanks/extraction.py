"""Agreement pairs of a language: trees and forms in; balanced pairs, the pool they are drawn from, and all that was left out.

The way is that of MultiBLiMP (Jumelet et al. 2025, arXiv 2504.02768): subjects and what agrees with them, other forms of that word,
a test whether the language has the agreement, and a draw that balances what makes pairs easy or hard.
"""

import gc
import itertools
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gardenpath import study

from ..checks import check
from ..formats.multiblimp import tongue
from ..items import Item, Materials, Paradigm
from . import agreement
from . import tables as tables_of
from .balance import draw, weights
from .candidates import PREDICATES, SUBJECTS, Edge, additions, edges
from .forms import Forms
from .items import Pair, item, joined, stands_alone
from .language_pairs import LanguagePairs, Rejection
from .phenomena import ordered
from .sources import Sources, sources
from .trees import read_trees

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")


class Condition(NamedTuple):
    """A condition of agreement: the values of the two members, which of subject and word comes first, and what the word is."""

    phenomenon: str
    value: str
    other: str
    order: str
    type: str

    def paradigm(self, language: str) -> str:
        """Return the id of its paradigm."""
        return "-".join((language, *self))


ENTRIES = PREDICATES | {*SUBJECTS["all"]}  # the kinds of words of which forms are kept
CERTAINTIES = ("certain", "likely", "undecided")  # decisions of `agreement` after which pairs are kept
CHECKED = 1000  # pairs at a time, since checks keep all words of what they look at
UNKNOWN = "unknown"
WAIVED = {"critical-words": "the form that agrees is what the members differ in"}


@dataclass(frozen=True)
class Extraction:
    """What `extract` returns.

    `language` is its ISO 639-3 code, `materials` are the pairs drawn and `pool` all that there are; `tables` are `agreement`,
    `rejected` and `conditions_by_language`; `notes` say for sidecars what was asked, read, left out and used, and `inputs` are the
    files.
    """

    language: str
    materials: Materials
    pool: Materials
    tables: Mapping[str, "pd.DataFrame"]
    notes: Mapping[str, Any]
    inputs: tuple[Path, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Made:
    item: Item
    pair: Pair
    condition: Condition
    certainty: str


def _items(
    found: LanguagePairs,
    phenomena: Iterable[str],
    decided: Mapping[tuple[str, str, str], str],
    tag: str,
    licences: Mapping[str, str],
) -> list[_Made]:
    """Return the pairs of the phenomena as items; those without agreement, or with errors that `check` finds, are rejected."""
    made = []
    for name in phenomena:
        for number, one in enumerate(found.pairs(name), start=1):
            certainty = _certainty(one, name, decided)
            if not certainty:
                found.reject(name, one.edge, one.word.form, one.swap.form, "no-agreement")
                found.seen.discard(one.texts)
                continue
            condition = Condition(name, joined(one.value), joined(one.swap.values), one.order, one.type)
            more = {"lang": found.code, "licence": licences[one.edge.treebank], "certainty": certainty}
            named = f"{found.code}-{name}-{number}"
            made.append(_Made(item(one, named, condition.paradigm(found.code), tag, more), one, condition, certainty))
    parts = (made[first : first + CHECKED] for first in range(0, len(made), CHECKED))
    findings = (finding for part in parts for finding in check(_materials(part, found.code), only="error"))
    unreadable = {finding.item: finding.rule for finding in findings}
    for wrong in made:
        if rule := unreadable.get(wrong.item.id):
            found.reject(wrong.condition.phenomenon, wrong.pair.edge, wrong.pair.word.form, wrong.pair.swap.form, rule)
    return [one for one in made if one.item.id not in unreadable]


def _certainty(one: Pair, name: str, decided: Mapping[tuple[str, str, str], str]) -> str:
    """Return how sure it is that the values of a pair agree, of several the least sure; '' where they do not.

    What no word has been seen to agree in is not taken to: English participles have other forms, but of no other number.
    """
    found = [decided.get((name, one.order, value), "none") for value in one.value]
    return "" if "none" in found else max(found, key=CERTAINTIES.index)


def _drawn(made: Sequence[_Made], cap: int, minimum: int, seed: int) -> list[_Made]:
    """Return the pairs drawn of each condition, in their order."""
    groups: dict[Condition, list[_Made]] = defaultdict(list)
    for one in made:
        groups[one.condition].append(one)
    kept = set()
    for members in groups.values():
        if len(members) >= minimum:
            shares = weights([one.pair.difficulty for one in members])
            chosen = draw([one.pair.name for one in members], shares, cap, seed)
            kept |= {members[position].item.id for position in chosen}
    return [one for one in made if one.item.id in kept]


def _materials(made: Iterable[_Made], language: str) -> Materials:
    made = list(made)
    paradigms = {one.condition.paradigm(language): one.condition.phenomenon for one in made}
    return Materials(
        tuple(Paradigm(name, phenomenon, waivers=WAIVED) for name, phenomenon in paradigms.items()),
        tuple(one.item for one in made),
    )


def _conditions(made: Sequence[_Made], drawn: Sequence[_Made], language: str) -> "pd.DataFrame":
    """Return table `conditions_by_language` of one language."""
    import pandas as pd

    certainty = {one.condition: one.certainty for one in made}
    pool, kept = (Counter(one.condition for one in some) for some in (made, drawn))
    rows = [
        (language, None, None, *condition, certainty[condition], pool[condition], kept[condition])
        for condition in sorted(certainty)
    ]
    return study.check(
        pd.DataFrame(rows, columns=study.TABLES["conditions_by_language"].names), "conditions_by_language"
    )


def _rejected(rejected: Iterable[Rejection], language: str) -> "pd.DataFrame":
    """Return table `rejected`."""
    import pandas as pd

    rows = ((one.phenomenon, one.edge, one.word, one.swapped, one.reason) for one in rejected)
    columns = [*zip(*rows, strict=True)] or [()] * 5
    phenomena, found, words, swapped, reasons = columns
    frame = {
        "language": language,
        "rejection": range(len(reasons)),
        "phenomenon": [name or None for name in phenomena],
        "treebank": [edge.treebank for edge in found],
        "sent_id": [edge.sent_id for edge in found],
        "subject": [edge.subject.form for edge in found],
        "word": [word or None for word in words],
        "swapped": [form or None for form in swapped],
        "reason": reasons,
        "sentence": [edge.text for edge in found],
    }
    return study.check(pd.DataFrame(frame), "rejected")


def _read(
    taken: Sources, which: str, subjects: str, passive: bool, move: Callable[[int, int], None]
) -> tuple[list[Edge], Forms, list[dict[str, Any]]]:
    """Return the subjects of all trees, the forms of the language, and what was read of each treebank.

    Trees are read once and not kept: only subjects with what agrees with them, and counts of forms.
    """
    index = Forms(taken.language, taken.tables)
    for path in taken.unimorph if which != "ud" else ():
        index.unimorph(path)
    found: list[Edge] = []
    said = []
    files = [(bank, path) for bank in taken.treebanks for path in bank.paths]
    done = itertools.count(1)
    for bank in taken.treebanks:
        dropped: Counter[str] = Counter()
        trees = 0
        for path in bank.paths:
            for tree in read_trees(path, bank.name, dropped):
                trees += 1
                of_tree = list(edges(tree, subjects=subjects, passive=passive))
                found += of_tree
                added = additions(tree, of_tree)
                for token in tree.tokens if which != "unimorph" else ():
                    if token.upos in ENTRIES and stands_alone(token):
                        features = {**token.features, **added[token.id]} if token.id in added else token.features
                        index.add(token.form, token.lemma, token.upos, features)
            move(next(done), len(files))
        said.append({"treebank": bank.name, "licence": bank.licence, "trees": trees, "left_out": dict(dropped)})
    index.finish()
    return found, index, said


def as_asked(phenomena: Iterable[str], licences: Iterable[str], **more: Any) -> dict[str, Any]:
    """Return how pairs are made, as sidecars say it."""
    return {"phenomena": ordered(phenomena), "licences": sorted(licences), **more}


def extract(
    ud: str | Path,
    unimorph: str | Path | None = None,
    *,
    language: str,
    phenomena: Iterable[str] = (),
    cap: int = 100,
    minimum: int = 10,
    licences: Iterable[str] = (),
    subjects: str = "all",
    passive: bool = False,
    english_past: bool = False,
    forms: str = "both",
    tables: str | Path | None = None,
    seed: int = 1,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Extraction:
    """Return minimal pairs of agreement out of the treebanks of a language: those drawn, all, and why other subjects give none.

    `ud` is a folder of treebanks (Universal Dependencies) and `unimorph` one of tables of forms, as unpacked; `language` is an
    ISO 639 code. `phenomena` are all where none is given. `cap` pairs are drawn of each condition (0: all) that has `minimum`. A
    treebank is taken if it is under one of `licences`, where there are some. `tables` is a folder of data tables of your own. With
    `skip_bad` a treebank that cannot be read is left out.

    Raises `study.DataError` for a language without treebanks or forms, and for files that cannot be read, with file and line.

    >>> import tempfile
    >>> from pathlib import Path
    >>> trees = ""
    >>> for noun, verb, number in [("Rosen", "blühen", "Plur"), ("Rose", "blüht", "Sing")]:
    ...     rows = f"1 {noun} Rose NOUN _ Number={number} 2 nsubj _ _", f"2 {verb} blühen VERB _ Number={number} 0 root _ _"
    ...     trees += "\\n".join([f"# text = {noun} {verb}", *(row.replace(" ", "\\t") for row in rows), "", ""])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "de_toy-ud-test.conllu").write_text(trees, "utf-8")
    ...     done = extract(folder, language="de", phenomena=["sv-number"], minimum=1)
    >>> [item.sentences["ungrammatical"].text for item in done.materials.items]
    ['Rosen blüht', 'Rose blühen']
    >>> type(done) is Extraction
    True
    """
    chosen = ordered(phenomena)
    taken = sources(ud, unimorph, language=language, licences=licences, own=tables)
    if forms == "unimorph" and not taken.unimorph:
        raise study.DataError(
            f"{unimorph}: no table of forms of {taken.language}; expected one of that name, or --forms ud"
        )
    asked = as_asked(
        phenomena=chosen, licences=licences, cap=cap, minimum=minimum, subjects=subjects, passive=passive,
        english_past=english_past, forms=forms, seed=seed, skip_bad=skip_bad,
    )  # fmt: skip
    while True:
        try:
            found, index, read = _read(taken, forms, subjects, passive, progress or (lambda done, total: None))
            break
        except study.DataError as error:
            bad = next(
                (bank.name for bank in taken.treebanks if any(str(path) in str(error) for path in bank.paths)), ""
            )
            if not skip_bad or not bad or len(taken.treebanks) == 1:
                raise
            log.warning("left out: %s", error)
            taken = taken.without(bad, str(error))
    pairs = LanguagePairs(taken.language, found, index, _required(taken, english_past))
    measured = {
        name: agreement.agreement_table(taken.language, name, agreement.counts(pairs.values(name))) for name in chosen
    }
    decided = {
        (name, str(row["order"]), str(row["value"])): str(row["decision"])
        for name, table in measured.items()
        for row in table.to_dict("records")
    }
    licence = {bank.name: bank.licence or UNKNOWN for bank in taken.treebanks}
    made = _items(pairs, chosen, decided, tongue(taken.language), licence)
    drawn = _drawn(made, cap, minimum, seed)
    notes = {
        "asked": asked,
        "treebanks": read,
        "not_taken": taken.left_out,
        "forms": _said_of(index, found, taken),
        "tables": {name: tables_of.read(name, taken.tables)[1] for name in tables_of.NAMES},
        "subjects": len(found),
        "rejected": {
            name or "all": dict(Counter(one.reason for one in pairs.rejected if one.phenomenon == name).most_common())
            for name in ("", *chosen)
        },
    }
    rejected = pairs.rejected
    del pairs, found, index  # a large part of the memory, which the tables take next
    gc.collect()
    import pandas as pd

    result = {
        "agreement": pd.concat([*measured.values()], ignore_index=True),
        "rejected": _rejected(rejected, taken.language),
        "conditions_by_language": _conditions(made, drawn, taken.language),
    }
    return Extraction(
        taken.language, _materials(drawn, taken.language), _materials(made, taken.language), result, notes, taken.inputs
    )


def _said_of(index: Forms, found: Iterable[Edge], taken: Sources) -> dict[str, Any]:
    """Return where forms are from, how many of the agreeing words have some, and what of the tables was not taken."""
    words = [edge.verb.lemma for edge in found if edge.verb and not edge.fault]
    return {
        "files": [path.name for path in taken.unimorph],
        "agreeing_words": len(words),
        "with_entries": dict(sorted(index.coverage(words).items())),
        "unknown_tags": dict(sorted(index.unknown.items())),
        "other_parts_of_speech": dict(index.left_out),
        "patches": index.patched,
    }


def _required(taken: Sources, english_past: bool) -> dict[str, dict[str, frozenset[str]]]:
    """Return what a word has to state for a pair of a phenomenon to be made of it."""
    table = tables_of.read("restrictions", taken.tables)[0].get(taken.language, {})
    required = {name: {key: frozenset(values) for key, values in features.items()} for name, features in table.items()}
    if english_past and taken.language == "eng":
        for features in required.values():
            features["Tense"] = features.get("Tense", frozenset()) | {"Past"}
    return required


def language_counts(conditions: "pd.DataFrame") -> "pd.DataFrame":
    """Return table `language_counts`: how many languages have pairs of each phenomenon, and how many where agreement is certain.

    `conditions` is table `conditions_by_language` of many languages; one has a phenomenon where pairs were drawn of one of its
    conditions. MultiBLiMP's Table 2 (arXiv 2504.02768) has these numbers, the second in brackets; families and resource classes,
    where `conditions` has them, are counted by themselves.

    >>> import pandas as pd
    >>> columns = ["language", "phenomenon", "value", "certainty", "drawn", "family"]
    >>> rows = [("nld", "sv-number", "Sing", "certain", 50, "Germanic"), ("nld", "sv-number", "Plur", "likely", 20, "Germanic")]
    >>> rows += [("tur", "sv-number", "Sing", "likely", 10, "Turkic"), ("tur", "sv-number", "Plur", "certain", 0, "Turkic")]
    >>> counts = language_counts(pd.DataFrame(rows, columns=columns).assign(resource=None))
    >>> counts[["level", "languages", "certain", "pairs"]].to_numpy().tolist()
    [['all', 2, 1, 80], ['Germanic', 1, 1, 70], ['Turkic', 1, 0, 10]]
    """
    import pandas as pd

    drawn = conditions[conditions["drawn"] > 0]
    rows = []
    for phenomenon, part in drawn.groupby("phenomenon"):
        for grouping in ("all", "family", "resource"):
            levels = part.assign(all="all")[grouping]
            for level, group in part.groupby(levels):
                certain = group.loc[group["certainty"] == "certain", "language"].nunique()
                rows.append(
                    (phenomenon, grouping, level, group["language"].nunique(), certain, int(group["drawn"].sum()))
                )
    return study.check(pd.DataFrame(rows, columns=study.TABLES["language_counts"].names), "language_counts")
