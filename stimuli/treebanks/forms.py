"""Forms of words with their features, from UniMorph's tables and from the trees themselves.

UniMorph: https://unimorph.github.io, a row an entry: lemma, form and tags. Words are compared without the differences of
writing that the table `transliterations` names for a language, and without capitals.
"""

import lzma
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from gardenpath import study
from gardenpath.study.files import decode_text

from . import tables
from .trees import Features, parse_features

MAX_COMMON_RATIO = 3  # a form is kept if the commonest of its lemma and features is at most so many times as frequent
# and features seen once are left out if similar ones of its lemma and form are more than so many times as frequent
MAX_RARE_RATIO = 10
MAX_FEATURE_DIFFERENCES = 2  # features that differ, at most
VERBAL_UPOS = frozenset(("VERB", "AUX"))
LAYERED_TAG_PATTERN = re.compile(r"(ARG|PSS|LGSPEC)\w+|\w+\(.*\)")


class FormEntry(NamedTuple):
    """A form of a lemma; a feature that is not stated may be any. `source` is 'unimorph', 'ud' or 'patch'."""

    lemma: str
    form: str
    upos: str
    features: Features
    source: str


class Transliteration:
    """How words of a language are compared, by table `transliterations`."""

    def __init__(self, language: str, folder: str | Path | None = None) -> None:
        how: dict[str, Any] = tables.read_table("transliterations", folder)[0].get(language, {})
        self.reason: str = how.get("reason", "")
        try:
            self._lower = str.maketrans(how.get("lower", {}))
            self._letters = str.maketrans(how.get("letters", {}))
            self._remove = str.maketrans(dict.fromkeys(how.get("remove", "")))
            self._replace = [(re.compile(pattern), by) for pattern, by in how.get("replace", ())]
        except (re.error, ValueError) as error:
            raise study.DataError(
                f"transliterations.toml, [{language}]: {error}; expected single letters, and pairs of a regular expression and "
                "what takes its place"
            ) from None
        self._keys: dict[str, str] = {}

    def lower(self, text: str) -> str:
        """Return the text in small letters."""
        return (text.translate(self._lower) if self._lower else text).lower()

    def remove_marks(self, text: str) -> str:
        """Return the text without the marks that sentences of the language do not have."""
        if not self._remove:
            return text
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(self._remove))

    def build_key(self, text: str) -> str:
        """Return what a word is looked up by."""
        known = self._keys.get(text)
        if known is None:
            known = self.remove_marks(self.lower(text))
            for pattern, by in self._replace:
                known = pattern.sub(by, known)
            known = self._keys[text] = known.translate(self._letters) if self._letters else known
        return known


class FormIndex:
    """The forms of a language, of UniMorph and of treebanks.

    `read_unimorph` and `add` give entries, `finish_entries` ends that, then `find_by_form` and `find_by_lemma` are asked.
    `unknown_tags` counts the rows with a tag that table `features` does not have, `skipped_parts` those of parts of speech that are
    not kept, and `applied_patches` lists the hand patches, each with its reason.

    >>> forms = FormIndex("nld")
    >>> for form in ["loopt"] * 4 + ["lopt"]:
    ...     forms.add(form, "lopen", "VERB", parse_features("Number=Sing|VerbForm=Fin"))
    >>> forms.finish_entries()
    >>> [entry.form for entry in forms.find_by_lemma("lopen")]
    ['loopt']
    """

    def __init__(self, language: str = "", folder: str | Path | None = None) -> None:
        self.transliteration = Transliteration(language, folder)
        self.unknown_tags: Counter[str] = Counter()
        self.skipped_parts: Counter[str] = Counter()
        self.applied_patches: list[dict[str, Any]] = []
        known = tables.read_table("features", folder)[0]
        self._parts: Mapping[str, str] = known["parts"]
        self._tags: Mapping[str, str] = known["tags"]
        self._patches: Mapping[str, Any] = tables.read_table("patches", folder)[0].get(language, {})
        self._parsed_tags: dict[str, tuple[str, Features, tuple[str, ...]]] = {}
        self._counts: dict[tuple[str, str, frozenset[tuple[str, frozenset[str]]]], Counter[str]] = defaultdict(Counter)
        self._entries_by_form: dict[str, list[FormEntry]] = defaultdict(list)
        self._entries_by_lemma: dict[str, list[FormEntry]] = defaultdict(list)
        # Few rows of UniMorph are ever asked for, and only then are they entries.
        self._rows_by_form: dict[str, str] = {}
        self._rows_by_lemma: dict[str, list[str]] = defaultdict(list)

    def find_by_form(self, form: str) -> Sequence[FormEntry]:
        """Return the entries of a form."""
        key = self.transliteration.build_key(form)
        if key in self._rows_by_form:
            rows = self._rows_by_form.pop(key).split("\n")
            self._entries_by_form[key] = [*map(self._build_entry, rows), *self._entries_by_form[key]]
        return self._entries_by_form.get(key, ())

    def find_by_lemma(self, lemma: str) -> Sequence[FormEntry]:
        """Return the entries of a lemma."""
        key = self.transliteration.build_key(lemma)
        if key in self._rows_by_lemma:
            self._entries_by_lemma[key] = [*map(self._build_entry, self._rows_by_lemma.pop(key)), *self._entries_by_lemma[key]]
        return self._entries_by_lemma.get(key, ())

    def read_unimorph(self, path: str | Path) -> None:
        """Take the entries of a table of UniMorph: `nld`, `nld.segmentations`, or either packed as `.xz`.

        Raises `study.DataError` with file and line for a row without lemma, form and tags, and for bytes that are not UTF-8.
        """
        removed = self._patches.get("remove", ())
        known, key, number = self._parsed_tags, self.transliteration.build_key, 0
        of_form, of_lemma = self._rows_by_form, self._rows_by_lemma
        try:
            with _open_table(path) as stream:
                for number, line in enumerate(stream, start=1):
                    line = line.rstrip("\n")
                    cells = line.split("\t")
                    if len(cells) < 3:
                        if not line.strip():
                            continue
                        raise study.DataError(
                            f"{path}, line {number}: {len(cells)} column{'s' * (len(cells) > 1)}; expected lemma, form and "
                            "tags, with a tab between each two"
                        )
                    lemma, form, tags = cells[:3]
                    part, _, unknown = known.get(tags) or self._parse_tags(tags)
                    if unknown:
                        self.unknown_tags.update(unknown)
                    if not part:
                        self.skipped_parts[re.split("[;|]", tags)[0]] += 1
                    elif not (removed and any(_is_patched(patch, lemma, form, tags) for patch in removed)):
                        form, lemma = key(form), key(lemma)
                        of_form[form] = f"{of_form[form]}\n{line}" if form in of_form else line
                        of_lemma[lemma].append(line)
        except UnicodeDecodeError:
            with lzma.open(path) if str(path).endswith(".xz") else open(path, "rb") as raw:
                decode_text(raw.read(), path)  # says in which line
            raise
        except (lzma.LZMAError, EOFError) as error:
            raise study.DataError(f"{path}: cannot be unpacked ({error}); it is damaged: download it again") from None
        if not number:
            raise study.DataError(f"{path}: the file is empty; expected rows of lemma, form and tags: download it again")

    def add(self, form: str, lemma: str, upos: str, features: Features) -> None:
        """Count a word of a tree; `finish_entries` decides which of them are entries."""
        if upos in VERBAL_UPOS:
            upos, form = "VERB", self.transliteration.lower(form)
        self._counts[lemma, upos, frozenset(features.items())][form] += 1

    def finish_entries(self) -> None:
        """Make entries of the words of trees, but for rare ones that are most likely faults, and of the patches."""
        common: dict[tuple[str, str, str], tuple[int, frozenset[Any]]] = {}
        for (lemma, upos, features), forms in self._counts.items():
            for form, count in forms.items():
                if count > common.get((lemma, upos, form), (0, features))[0]:
                    common[lemma, upos, form] = count, features
        shared: dict[frozenset[Any], Features] = {}
        for (lemma, upos, features), forms in self._counts.items():
            most, stated = max(forms.values()), shared.setdefault(features, dict(features))
            for form, count in forms.items():
                if most <= MAX_COMMON_RATIO * count and not _is_fault(count, features, *common[lemma, upos, form]):
                    self._add_entry(FormEntry(lemma, form, upos, stated, "ud"))
        self._counts.clear()
        self.applied_patches += [{"removed": True, **patch} for patch in self._patches.get("remove", ())]
        for patch in self._patches.get("add", ()):
            part, patch_features, unknown = self._parse_tags(patch["tags"])
            if unknown or not part:
                strange = ", ".join(unknown) or patch["tags"].split(";")[0]
                raise study.DataError(
                    f"patches.toml: tags {patch['tags']!r} have {strange}, which features.toml does not know; expected tags of "
                    "UniMorph, the part of speech first, as in V;PRS;PL"
                )
            for form in patch["forms"]:
                self._add_entry(FormEntry(patch.get("lemma", form), form, part, patch_features, "patch"))
            self.applied_patches.append(patch)

    def count_coverage(self, lemmas: Iterable[str]) -> Counter[str]:
        """Return how many of the verbs, given by their lemmas, have entries in each source, and how many in `none`."""
        counts: Counter[str] = Counter()
        for lemma in lemmas:
            entries = (*self.find_by_lemma(lemma), *self.find_by_lemma(lemma.replace("_", "")))  # voor_komen in Dutch trees
            counts.update({entry.source for entry in entries if entry.upos in VERBAL_UPOS} or {"none"})
        return counts

    def _build_entry(self, row: str) -> FormEntry:
        lemma, form, tags, *_ = row.split("\t")
        part, features, _ = self._parsed_tags[tags]
        return FormEntry(lemma, self.transliteration.remove_marks(form), part, features, "unimorph")

    def _add_entry(self, entry: FormEntry) -> None:
        key = self.transliteration.build_key
        self._entries_by_form[key(entry.form)].append(entry)
        self._entries_by_lemma[key(entry.lemma)].append(entry)

    def _parse_tags(self, tags: str) -> tuple[str, Features, tuple[str, ...]]:
        """Return the part of speech and the features that the tags of an entry say, and those that are not known."""
        first, *others = re.split("[;|]", tags)
        part, _, part_features = self._parts.get(first, "").partition(" ")
        found: dict[str, frozenset[str]] = dict(parse_features(part_features)) if part_features else {}
        unknown: list[str] = []
        for tag in others if part else ():
            whole = tag in self._tags or LAYERED_TAG_PATTERN.fullmatch(tag)
            for one in (tag,) if whole else filter(None, re.split("[/+{}]", tag)):
                if known := self._tags.get(one):
                    for name, values in parse_features(known).items():
                        found[name] = found.get(name, frozenset()) | values
                elif whole:
                    found[one] = frozenset(("Yes",))
                else:
                    unknown.append(one)
        if part in VERBAL_UPOS and "VerbForm" not in found:
            found["VerbForm"] = frozenset(("Fin",))
        self._parsed_tags[tags] = part, found, tuple(unknown)
        return self._parsed_tags[tags]


def _open_table(path: str | Path) -> TextIO:
    if str(path).endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8-sig")


def _is_patched(patch: Mapping[str, str], lemma: str, form: str, tags: str) -> bool:
    return all(patch.get(name, value) == value for name, value in (("lemma", lemma), ("form", form), ("tags", tags)))


def _is_fault(count: int, features: frozenset[Any], most: int, common: frozenset[Any]) -> bool:
    """Whether features of a form are seen once, and are almost those that it mostly has."""
    return count == 1 and most > MAX_RARE_RATIO and len({name for name, _ in features ^ common}) <= MAX_FEATURE_DIFFERENCES
