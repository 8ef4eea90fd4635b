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
from gardenpath.study.files import decode

from . import tables
from .trees import Features, features_of

COMMON = 3  # a form is kept if the commonest of its lemma and features is at most so many times as frequent
RARE = 10  # and features seen once are left out if similar ones of its lemma and form are more than so many times as frequent
SIMILAR = 2  # features that differ, at most
VERBAL = frozenset(("VERB", "AUX"))
LAYERED = re.compile(r"(ARG|PSS|LGSPEC)\w+|\w+\(.*\)")


class Entry(NamedTuple):
    """A form of a lemma; a feature that is not stated may be any. `source` is 'unimorph', 'ud' or 'patch'."""

    lemma: str
    form: str
    upos: str
    features: Features
    source: str


class Writing:
    """How words of a language are compared, by table `transliterations`."""

    def __init__(self, language: str, folder: str | Path | None = None) -> None:
        how: dict[str, Any] = tables.read("transliterations", folder)[0].get(language, {})
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

    def unmarked(self, text: str) -> str:
        """Return the text without the marks that sentences of the language do not have."""
        if not self._remove:
            return text
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(self._remove))

    def key(self, text: str) -> str:
        """Return what a word is looked up by."""
        known = self._keys.get(text)
        if known is None:
            known = self.unmarked(self.lower(text))
            for pattern, by in self._replace:
                known = pattern.sub(by, known)
            known = self._keys[text] = known.translate(self._letters) if self._letters else known
        return known


class Forms:
    """The forms of a language: `unimorph` and `add` give entries, `finish` ends that, then `of_form` and `of_lemma` are asked.

    `unknown` counts the rows with a tag that table `features` does not have, `left_out` those of parts of speech that are not
    kept, and `patched` lists the hand patches, each with its reason.

    >>> forms = Forms("nld")
    >>> for form in ["loopt"] * 4 + ["lopt"]:
    ...     forms.add(form, "lopen", "VERB", features_of("Number=Sing|VerbForm=Fin"))
    >>> forms.finish()
    >>> [entry.form for entry in forms.of_lemma("lopen")]
    ['loopt']
    """

    def __init__(self, language: str = "", folder: str | Path | None = None) -> None:
        self.writing = Writing(language, folder)
        self.unknown: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.patched: list[dict[str, Any]] = []
        known = tables.read("features", folder)[0]
        self._parts: Mapping[str, str] = known["parts"]
        self._tags: Mapping[str, str] = known["tags"]
        self._patches: Mapping[str, Any] = tables.read("patches", folder)[0].get(language, {})
        self._read: dict[str, tuple[str, Features, tuple[str, ...]]] = {}
        self._counts: dict[tuple[str, str, frozenset[tuple[str, frozenset[str]]]], Counter[str]] = defaultdict(Counter)
        self._of_form: dict[str, list[Entry]] = defaultdict(list)
        self._of_lemma: dict[str, list[Entry]] = defaultdict(list)
        # Few rows of UniMorph are ever asked for, and only then are they entries.
        self._rows_of_form: dict[str, str] = {}
        self._rows_of_lemma: dict[str, list[str]] = defaultdict(list)

    def of_form(self, form: str) -> Sequence[Entry]:
        """Return the entries of a form."""
        key = self.writing.key(form)
        if key in self._rows_of_form:
            rows = self._rows_of_form.pop(key).split("\n")
            self._of_form[key] = [*map(self._entry, rows), *self._of_form[key]]
        return self._of_form.get(key, ())

    def of_lemma(self, lemma: str) -> Sequence[Entry]:
        """Return the entries of a lemma."""
        key = self.writing.key(lemma)
        if key in self._rows_of_lemma:
            self._of_lemma[key] = [*map(self._entry, self._rows_of_lemma.pop(key)), *self._of_lemma[key]]
        return self._of_lemma.get(key, ())

    def unimorph(self, path: str | Path) -> None:
        """Take the entries of a table of UniMorph: `nld`, `nld.segmentations`, or either packed as `.xz`.

        Raises `study.DataError` with file and line for a row without lemma, form and tags, and for bytes that are not UTF-8.
        """
        removed = self._patches.get("remove", ())
        known, key, number = self._read, self.writing.key, 0
        of_form, of_lemma = self._rows_of_form, self._rows_of_lemma
        try:
            with _open(path) as stream:
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
                    part, _, unknown = known.get(tags) or self._tagged(tags)
                    if unknown:
                        self.unknown.update(unknown)
                    if not part:
                        self.left_out[re.split("[;|]", tags)[0]] += 1
                    elif not (removed and any(_matches(patch, lemma, form, tags) for patch in removed)):
                        form, lemma = key(form), key(lemma)
                        of_form[form] = f"{of_form[form]}\n{line}" if form in of_form else line
                        of_lemma[lemma].append(line)
        except UnicodeDecodeError:
            with lzma.open(path) if str(path).endswith(".xz") else open(path, "rb") as raw:
                decode(raw.read(), path)  # says in which line
            raise
        except (lzma.LZMAError, EOFError) as error:
            raise study.DataError(f"{path}: cannot be unpacked ({error}); it is damaged: download it again") from None
        if not number:
            raise study.DataError(
                f"{path}: the file is empty; expected rows of lemma, form and tags: download it again"
            )

    def add(self, form: str, lemma: str, upos: str, features: Features) -> None:
        """Count a word of a tree; `finish` decides which of them are entries."""
        if upos in VERBAL:
            upos, form = "VERB", self.writing.lower(form)
        self._counts[lemma, upos, frozenset(features.items())][form] += 1

    def finish(self) -> None:
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
                if most <= COMMON * count and not _is_fault(count, features, *common[lemma, upos, form]):
                    self._put(Entry(lemma, form, upos, stated, "ud"))
        self._counts.clear()
        self.patched += [{"removed": True, **patch} for patch in self._patches.get("remove", ())]
        for patch in self._patches.get("add", ()):
            part, said, unknown = self._tagged(patch["tags"])
            if unknown or not part:
                strange = ", ".join(unknown) or patch["tags"].split(";")[0]
                raise study.DataError(
                    f"patches.toml: tags {patch['tags']!r} have {strange}, which features.toml does not know; expected tags of "
                    "UniMorph, the part of speech first, as in V;PRS;PL"
                )
            for form in patch["forms"]:
                self._put(Entry(patch.get("lemma", form), form, part, said, "patch"))
            self.patched.append(patch)

    def coverage(self, lemmas: Iterable[str]) -> Counter[str]:
        """Return how many of the verbs, given by their lemmas, have entries in each source, and how many in `none`."""
        counts: Counter[str] = Counter()
        for lemma in lemmas:
            entries = (*self.of_lemma(lemma), *self.of_lemma(lemma.replace("_", "")))  # voor_komen in Dutch trees
            counts.update({entry.source for entry in entries if entry.upos in VERBAL} or {"none"})
        return counts

    def _entry(self, row: str) -> Entry:
        lemma, form, tags, *_ = row.split("\t")
        part, features, _ = self._read[tags]
        return Entry(lemma, self.writing.unmarked(form), part, features, "unimorph")

    def _put(self, entry: Entry) -> None:
        key = self.writing.key
        self._of_form[key(entry.form)].append(entry)
        self._of_lemma[key(entry.lemma)].append(entry)

    def _tagged(self, tags: str) -> tuple[str, Features, tuple[str, ...]]:
        """Return the part of speech and the features that the tags of an entry say, and those that are not known."""
        first, *others = re.split("[;|]", tags)
        part, _, said = self._parts.get(first, "").partition(" ")
        found: dict[str, frozenset[str]] = dict(features_of(said)) if said else {}
        unknown: list[str] = []
        for tag in others if part else ():
            whole = tag in self._tags or LAYERED.fullmatch(tag)
            for one in (tag,) if whole else filter(None, re.split("[/+{}]", tag)):
                if known := self._tags.get(one):
                    for name, values in features_of(known).items():
                        found[name] = found.get(name, frozenset()) | values
                elif whole:
                    found[one] = frozenset(("Yes",))
                else:
                    unknown.append(one)
        if part in VERBAL and "VerbForm" not in found:
            found["VerbForm"] = frozenset(("Fin",))
        self._read[tags] = part, found, tuple(unknown)
        return self._read[tags]


def _open(path: str | Path) -> TextIO:
    if str(path).endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8-sig")


def _matches(patch: Mapping[str, str], lemma: str, form: str, tags: str) -> bool:
    return all(patch.get(name, value) == value for name, value in (("lemma", lemma), ("form", form), ("tags", tags)))


def _is_fault(count: int, features: frozenset[Any], most: int, common: frozenset[Any]) -> bool:
    """Whether features of a form are seen once, and are almost those that it mostly has."""
    return count == 1 and most > RARE and len({name for name, _ in features ^ common}) <= SIMILAR
