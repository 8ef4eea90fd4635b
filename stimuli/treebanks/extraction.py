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
from ..formats.multiblimp import find_language_tag
from ..items import Item, Materials, Paradigm
from . import agreement
from . import tables as tables_of
from .balanced_sampling import compute_weights, rank_names
from .candidates import PREDICATE_UPOS, SUBJECT_UPOS, Edge, find_added_features, find_edges
from .forms import FormIndex
from .language_pairs import LanguagePairs, Rejection
from .pairs import Pair, build_item, can_stand_alone, join_values
from .phenomena import order_phenomena
from .sources import Sources, find_sources
from .trees import read_trees

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("gardenpath")


class Condition(NamedTuple):
    """A condition of agreement: the values of the two members, which of subject and word comes first, and what the word is."""

    phenomenon: str
    value: str
    other_value: str
    order: str
    type: str

    def build_paradigm_id(self, language: str) -> str:
        """Return the id of its paradigm."""
        return "-".join((language, *self))


ENTRY_UPOS = PREDICATE_UPOS | {*SUBJECT_UPOS["all"]}  # the kinds of words of which forms are kept
CERTAINTIES = ("certain", "likely", "undecided")  # decisions of `agreement_tests` after which pairs are kept
CHECK_BATCH_SIZE = 1000  # pairs at a time, since checks keep all words of what they look at
UNKNOWN_LICENCE = "unknown"
WAIVERS = {"critical-words": "the form that agrees is what the members differ in"}


@dataclass(frozen=True)
class Extraction:
    """What `extract` returns.

    `language` is its ISO 639-3 code, `materials` are the pairs drawn and `pool` all that there are; `tables` are `agreement_tests`,
    `rejected_subjects` and `conditions_by_language`; `notes` say for sidecars what was asked, read, left out and used, and
    `inputs` are the files.
    """

    language: str
    materials: Materials
    pool: Materials
    tables: Mapping[str, "pd.DataFrame"]
    notes: Mapping[str, Any]
    inputs: tuple[Path, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _ExtractedPair:
    item: Item
    pair: Pair
    condition: Condition
    certainty: str


def _build_items(
    found: LanguagePairs,
    phenomena: Iterable[str],
    decided: Mapping[tuple[str, str, str], str],
    tag: str,
    licences: Mapping[str, str],
) -> list[_ExtractedPair]:
    """Return the pairs of the phenomena as items; those without agreement, or with errors that `check` finds, are rejected."""
    extracted = []
    for name in phenomena:
        for number, one in enumerate(found.build_pairs(name), start=1):
            certainty = _find_certainty(one, name, decided)
            if not certainty:
                found.reject_subject(name, one.edge, one.word.form, one.swap.form, "no-agreement")
                found.seen_texts.discard(one.texts)
                continue
            condition = Condition(name, join_values(one.value), join_values(one.swap.values), one.order, one.type)
            more = {"lang": found.code, "licence": licences[one.edge.treebank], "certainty": certainty}
            named = f"{found.code}-{name}-{number}"
            extracted.append(
                _ExtractedPair(
                    build_item(one, named, condition.build_paradigm_id(found.code), tag, more), one, condition, certainty
                )
            )
    parts = (extracted[first : first + CHECK_BATCH_SIZE] for first in range(0, len(extracted), CHECK_BATCH_SIZE))
    findings = (finding for part in parts for finding in check(_build_materials(part, found.code), only_severity="error"))
    unreadable = {finding.item: finding.rule for finding in findings}
    for wrong in extracted:
        if rule := unreadable.get(wrong.item.id):
            found.reject_subject(wrong.condition.phenomenon, wrong.pair.edge, wrong.pair.word.form, wrong.pair.swap.form, rule)
    return [one for one in extracted if one.item.id not in unreadable]


def _find_certainty(one: Pair, name: str, decided: Mapping[tuple[str, str, str], str]) -> str:
    """Return how sure it is that the values of a pair agree, of several the least sure; '' where they do not.

    What no word has been seen to agree in is not taken to: English participles have other forms, but of no other number.
    """
    found = [decided.get((name, one.order, value), "none") for value in one.value]
    return "" if "none" in found else max(found, key=CERTAINTIES.index)


def _draw_pairs(extracted: Sequence[_ExtractedPair], cap: int, minimum: int, seed: int, distinct: bool) -> list[_ExtractedPair]:
    """Return the pairs drawn of each condition, in their order; where sentences are to be `distinct`, of small conditions first."""
    groups: dict[Condition, list[_ExtractedPair]] = defaultdict(list)
    for one in extracted:
        groups[one.condition].append(one)
    kept: set[str] = set()
    used: set[str] = set()
    for members in sorted(groups.values(), key=len):
        pairs = [one.pair for one in members]
        order = rank_names([one.name for one in pairs], compute_weights([one.balancing_variables for one in pairs]), seed)
        chosen = {pairs[n].edge.text if distinct else str(n): n for n in reversed(order) if pairs[n].edge.text not in used}
        drawn = [n for n in order if n in {*chosen.values()}][: cap or None]
        if len(drawn) >= min(minimum, cap or minimum) and len(members) >= minimum:
            kept |= {members[n].item.id for n in drawn}
            used |= {pairs[n].edge.text for n in drawn if distinct}
    return [one for one in extracted if one.item.id in kept]


def _build_materials(extracted: Iterable[_ExtractedPair], language: str) -> Materials:
    extracted = list(extracted)
    paradigms = {one.condition.build_paradigm_id(language): one.condition.phenomenon for one in extracted}
    return Materials(
        tuple(Paradigm(name, phenomenon, waivers=WAIVERS) for name, phenomenon in paradigms.items()),
        tuple(one.item for one in extracted),
    )


def _build_conditions_table(extracted: Sequence[_ExtractedPair], drawn: Sequence[_ExtractedPair], language: str) -> "pd.DataFrame":
    """Return table `conditions_by_language` of one language."""
    import pandas as pd

    certainty = {one.condition: one.certainty for one in extracted}
    pool, kept = (Counter(one.condition for one in some) for some in (extracted, drawn))
    rows = [
        (language, None, None, *condition, certainty[condition], pool[condition], kept[condition])
        for condition in sorted(certainty)
    ]
    return study.check(pd.DataFrame(rows, columns=study.TABLES["conditions_by_language"].column_names), "conditions_by_language")


def _build_rejected_table(rejected: Iterable[Rejection], language: str) -> "pd.DataFrame":
    """Return table `rejected_subjects`."""
    import pandas as pd

    rows = ((one.phenomenon, one.edge, one.word, one.other_form, one.reason) for one in rejected)
    columns = [*zip(*rows, strict=True)] or [()] * 5
    phenomena, found, words, other_forms, reasons = columns
    frame = {
        "language": language,
        "row": range(len(reasons)),
        "phenomenon": [name or None for name in phenomena],
        "treebank": [edge.treebank for edge in found],
        "sent_id": [edge.sent_id for edge in found],
        "subject": [edge.subject.form for edge in found],
        "word": [word or None for word in words],
        "other_form": [form or None for form in other_forms],
        "reason": reasons,
        "sentence": [edge.text for edge in found],
    }
    return study.check(pd.DataFrame(frame), "rejected_subjects")


def _read_treebanks(
    taken: Sources, which: str, subjects: str, passive: bool, move: Callable[[int, int], None]
) -> tuple[list[Edge], FormIndex, list[dict[str, Any]]]:
    """Return the subjects of all trees, the forms of the language, and what was read of each treebank.

    Trees are read once and not kept: only subjects with what agrees with them, and counts of forms.
    """
    index = FormIndex(taken.language, taken.user_tables)
    for path in taken.unimorph if which != "ud" else ():
        index.read_unimorph(path)
    found: list[Edge] = []
    treebank_notes = []
    files = [(bank, path) for bank in taken.treebanks for path in bank.paths]
    done = itertools.count(1)
    for bank in taken.treebanks:
        dropped: Counter[str] = Counter()
        trees = 0
        for path in bank.paths:
            for tree in read_trees(path, bank.name, dropped):
                trees += 1
                of_tree = list(find_edges(tree, subjects=subjects, passive=passive))
                found += of_tree
                added = find_added_features(tree, of_tree)
                for token in tree.tokens if which != "unimorph" else ():
                    if token.upos in ENTRY_UPOS and can_stand_alone(token):
                        features = {**token.features, **added[token.id]} if token.id in added else token.features
                        index.add(token.form, token.lemma, token.upos, features)
            move(next(done), len(files))
        treebank_notes.append({"treebank": bank.name, "licence": bank.licence, "trees": trees, "left_out": dict(dropped)})
    index.finish_entries()
    return found, index, treebank_notes


def describe_request(phenomena: Iterable[str], licences: Iterable[str], **more: Any) -> dict[str, Any]:
    """Return how pairs are made, as sidecars say it."""
    return {"phenomena": order_phenomena(phenomena), "licences": sorted(licences), **more}


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
    distinct: bool = False,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Extraction:
    """Return minimal pairs of agreement out of the treebanks of a language: those drawn, all, and why other subjects give none.

    `ud` is a folder of treebanks (Universal Dependencies) and `unimorph` one of tables of forms, as unpacked; `language` is an
    ISO 639 code. `phenomena` are all where none is given. `cap` pairs are drawn of each condition (0: all) that has `minimum`;
    with `distinct` each sentence is drawn once at most. A treebank is taken if it is under one of `licences`, where there are
    some. `tables` is a folder of data tables of your own. With `skip_bad` a treebank that cannot be read is left out.

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
    chosen = order_phenomena(phenomena)
    taken = find_sources(ud, unimorph, language=language, licences=licences, user_tables=tables)
    if forms == "unimorph" and not taken.unimorph:
        raise study.DataError(f"{unimorph}: no table of forms of {taken.language}; expected one of that name, or --forms ud")
    asked = describe_request(
        phenomena=chosen, licences=licences, cap=cap, minimum=minimum, subjects=subjects, passive=passive,
        english_past=english_past, forms=forms, seed=seed, distinct=distinct, skip_bad=skip_bad,
    )  # fmt: skip
    while True:
        try:
            found, index, read = _read_treebanks(taken, forms, subjects, passive, progress or (lambda done, total: None))
            break
        except study.DataError as error:
            bad = next((bank.name for bank in taken.treebanks if any(str(path) in str(error) for path in bank.paths)), "")
            if not skip_bad or not bad or len(taken.treebanks) == 1:
                raise
            log.warning("left out: %s", error)
            taken = taken.drop_treebank(bad, str(error))
    pairs = LanguagePairs(taken.language, found, index, _find_required_features(taken, english_past))
    measured = {
        name: agreement.compute_agreement(taken.language, name, agreement.count_values(pairs.iterate_values(name)))
        for name in chosen
    }
    decided = {
        (name, str(row["order"]), str(row["value"])): str(row["decision"])
        for name, table in measured.items()
        for row in table.to_dict("records")
    }
    licence = {bank.name: bank.licence or UNKNOWN_LICENCE for bank in taken.treebanks}
    extracted = _build_items(pairs, chosen, decided, find_language_tag(taken.language), licence)
    drawn = _draw_pairs(extracted, cap, minimum, seed, distinct)
    notes = {
        "asked": asked,
        "treebanks": read,
        "not_taken": taken.left_out_reasons,
        "forms": _describe_forms(index, found, taken),
        "tables": {name: tables_of.read_table(name, taken.user_tables)[1] for name in tables_of.TABLE_NAMES},
        "subjects": len(found),
        "rejected": {
            name or "all": dict(Counter(one.reason for one in pairs.rejections if one.phenomenon == name).most_common())
            for name in ("", *chosen)
        },
    }
    rejected = pairs.rejections
    del pairs, found, index  # a large part of the memory, which the tables take next
    gc.collect()
    import pandas as pd

    result = {
        "agreement_tests": pd.concat([*measured.values()], ignore_index=True),
        "rejected_subjects": _build_rejected_table(rejected, taken.language),
        "conditions_by_language": _build_conditions_table(extracted, drawn, taken.language),
    }
    return Extraction(
        taken.language,
        _build_materials(drawn, taken.language),
        _build_materials(extracted, taken.language),
        result,
        notes,
        taken.inputs,
    )


def _describe_forms(index: FormIndex, found: Iterable[Edge], taken: Sources) -> dict[str, Any]:
    """Return where forms are from, how many of the agreeing words have some, and what of the tables was not taken."""
    words = [edge.verb.lemma for edge in found if edge.verb and not edge.fault]
    return {
        "files": [path.name for path in taken.unimorph],
        "agreeing_words": len(words),
        "with_entries": dict(sorted(index.count_coverage(words).items())),
        "unknown_tags": dict(sorted(index.unknown_tags.items())),
        "other_parts_of_speech": dict(index.skipped_parts),
        "patches": index.applied_patches,
    }


def _find_required_features(taken: Sources, english_past: bool) -> dict[str, dict[str, frozenset[str]]]:
    """Return what a word has to state for a pair of a phenomenon to be made of it."""
    table = tables_of.read_table("restrictions", taken.user_tables)[0].get(taken.language, {})
    required = {name: {key: frozenset(values) for key, values in features.items()} for name, features in table.items()}
    if english_past and taken.language == "eng":
        for features in required.values():
            features["Tense"] = features.get("Tense", frozenset()) | {"Past"}
    return required


def compute_language_counts(conditions: "pd.DataFrame") -> "pd.DataFrame":
    """Return table `language_counts`: how many languages have pairs of each phenomenon, and how many where agreement is certain.

    `conditions` is table `conditions_by_language` of many languages; one has a phenomenon where pairs were drawn of one of its
    conditions. MultiBLiMP's Table 2 (arXiv 2504.02768) has these numbers, the second in brackets; families and resource classes,
    where `conditions` has them, are counted by themselves.

    >>> import pandas as pd
    >>> columns = ["language", "phenomenon", "value", "certainty", "n_drawn", "family"]
    >>> rows = [("nld", "sv-number", "Sing", "certain", 50, "Germanic"), ("nld", "sv-number", "Plur", "likely", 20, "Germanic")]
    >>> rows += [("tur", "sv-number", "Sing", "likely", 10, "Turkic"), ("tur", "sv-number", "Plur", "certain", 0, "Turkic")]
    >>> counts = compute_language_counts(pd.DataFrame(rows, columns=columns).assign(resource=None))
    >>> counts[["level", "n_languages", "n_certain_languages", "n_pairs"]].to_numpy().tolist()
    [['all', 2, 1, 80], ['Germanic', 1, 1, 70], ['Turkic', 1, 0, 10]]
    """
    import pandas as pd

    drawn = conditions[conditions["n_drawn"] > 0]
    rows = []
    for phenomenon, part in drawn.groupby("phenomenon"):
        for grouping in ("all", "family", "resource"):
            levels = part.assign(all="all")[grouping]
            for level, group in part.groupby(levels):
                certain = group.loc[group["certainty"] == "certain", "language"].nunique()
                rows.append((phenomenon, grouping, level, group["language"].nunique(), certain, int(group["n_drawn"].sum())))
    return study.check(pd.DataFrame(rows, columns=study.TABLES["language_counts"].column_names), "language_counts")
