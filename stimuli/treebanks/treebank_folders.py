"""Which files belong to a language: its treebanks with their licences, and its tables of forms."""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from . import tables


class Treebank(NamedTuple):
    """A treebank: `language` is ISO 639-3 ('' where it is not known), `skip_reason` why it is not read, '' if it is."""

    name: str
    language: str
    paths: tuple[Path, ...]
    licence: str | None
    skip_reason: str


def find_language_code(code: str) -> str:
    """Return the ISO 639-3 code of a language given by its two or three letters; '' for what is none.

    >>> find_language_code("nl"), find_language_code("nld"), find_language_code("grc"), find_language_code("dutch")
    ('nld', 'nld', 'grc', '')
    """
    import langcodes

    if not re.fullmatch("[a-z]{2,3}", code):
        return ""
    try:
        return langcodes.Language.get(code, normalize=False).to_alpha3()
    except LookupError:
        return ""


def find_treebanks(folder: str | Path, user_tables: str | Path | None = None) -> list[Treebank]:
    """Return the treebanks of a folder by name: of folders of Universal Dependencies, or of .conllu files side by side.

    The language is what their files begin with (nl_lassysmall-ud-dev.conllu), the licence the line `License:` of the README beside
    them; table `treebanks` (`user_tables` is a folder with the user's) says of a treebank what is otherwise, and which are skipped.
    """
    known = tables.read_table("treebanks", user_tables)[0]
    files: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in sorted(Path(folder).rglob("*.conllu")):
        files[path.parent, path.stem.partition("-ud-")[0]].append(path)
    found = []
    for (parent, prefix), paths in files.items():
        names = (parent.name, prefix) if parent.name.startswith("UD_") else (prefix,)

        def look_up(what: str, names: tuple[str, ...] = names) -> str:
            return next((known[what][name] for name in names if name in known.get(what, {})), "")

        language = look_up("language") or find_language_code(prefix.partition("_")[0])
        skip = look_up("skip")
        if not language and not skip:
            skip = "language unknown: file names begin with no code of ISO 639; say it in treebanks.toml, [language]"
        found.append(Treebank(names[0], language, tuple(paths), look_up("licence") or _find_licence(parent), skip))
    return sorted(found)


def _find_licence(folder: Path) -> str | None:
    """Return the licence that the README of a treebank names, in its metadata."""
    for readme in sorted(folder.glob("README*")):
        found = re.findall(r"^License:[ \t]*(\S.*?)[ \t]*$", readme.read_text("utf-8", errors="replace"), re.MULTILINE)
        if found:
            return str(found[-1])
    return None


def list_languages(folder: str | Path, user_tables: str | Path | None = None) -> list[str]:
    """Return the languages of the treebanks of a folder that are not skipped."""
    return sorted({one.language for one in find_treebanks(folder, user_tables) if one.language and not one.skip_reason})


def find_unimorph_files(folder: str | Path, language: str, user_tables: str | Path | None = None) -> tuple[Path, ...]:
    """Return UniMorph's tables of forms of a language (ISO 639-3) in a folder of them; none where there are none.

    A table is a file (nld) or in a folder of its name, in parts (fin.1, fin.2) where it is large, packed (.xz) or not; the one
    with segmentations is read where there is no other.
    """
    code = tables.read_table("treebanks", user_tables)[0].get("unimorph", {}).get(language, language)
    inside = Path(folder, code)
    search_folders = (inside, Path(folder)) if inside.is_dir() else (Path(folder),)
    for name in (rf"{code}(\.[0-9]+)?", rf"{code}\.segmentations"):
        for search_folder in search_folders:
            found = {p.name.removesuffix(".xz"): p for p in sorted(search_folder.glob(f"{code}*"), reverse=True) if p.is_file()}
            taken = [path for stem, path in sorted(found.items()) if re.fullmatch(name, stem)]
            if taken:
                return tuple(taken)
    return ()
