"""What the pairs of a language are made of: its treebanks under the licences asked for, its forms, and tables of the user's own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from gardenpath import study

from . import tables
from .folders import Treebank, language_code, treebanks, unimorph_files


@dataclass(frozen=True)
class Sources:
    """The treebanks of a language that are taken; those in `left_out` are not, each with the reason."""

    language: str
    treebanks: tuple[Treebank, ...]
    left_out: dict[str, str]
    unimorph: tuple[Path, ...]
    tables: Path | None
    broken: tuple[Path, ...] = ()

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files that are read."""
        own = [self.tables / f"{name}.toml" for name in tables.NAMES] if self.tables else []
        trees = [path for bank in self.treebanks for path in bank.paths]
        return (*trees, *self.broken, *self.unimorph, *(path for path in own if path.exists()))

    def without(self, name: str, reason: str) -> "Sources":
        """Return the same without a treebank that cannot be read."""
        kept = tuple(bank for bank in self.treebanks if bank.name != name)
        broken = [path for bank in self.treebanks if bank.name == name for path in bank.paths]
        return replace(self, treebanks=kept, left_out=self.left_out | {name: reason}, broken=(*self.broken, *broken))


def sources(
    ud: str | Path,
    unimorph: str | Path | None = None,
    *,
    language: str,
    licences: Iterable[str] = (),
    own: str | Path | None = None,
) -> Sources:
    """Return what there is of a language; raises `study.DataError` where it has no treebank, or none that may be taken."""
    code = language_code(language)
    if not code:
        raise study.DataError(f"language is {language!r}; expected an ISO 639 code, as in nld or nl")
    there = treebanks(ud, own)
    banks = [bank for bank in there if bank.language == code]
    if not banks:
        others = ", ".join(sorted({bank.language for bank in there if bank.language}))
        raise study.DataError(
            f"{ud}: no treebank of {code}; there are "
            + (f"treebanks of {others}" if others else "no .conllu files, such as nl_lassysmall-ud-dev.conllu, in it")
        )
    allowed = {_plain(licence) for licence in licences}
    left_out = {}
    for bank in banks:
        if bank.skip:
            left_out[bank.name] = bank.skip
        elif allowed and (bank.licence is None or _plain(bank.licence) not in allowed):
            left_out[bank.name] = f"licence {bank.licence or 'unknown (say it in treebanks.toml, [licence])'}"
    taken = tuple(bank for bank in banks if bank.name not in left_out)
    if not taken:
        raise study.DataError(
            [f"{ud}: no treebank of {code} is taken", *(f"{name}: {why}" for name, why in left_out.items())]
        )
    forms = unimorph_files(unimorph, code, own) if unimorph is not None else ()
    return Sources(code, taken, left_out, forms, Path(own) if own else None)


def _plain(licence: str) -> str:
    """Return a licence as it is compared: CC-BY-SA 4.0 is CC BY-SA 4.0."""
    return re.sub(r"[\W_]+", " ", licence).casefold().strip()
