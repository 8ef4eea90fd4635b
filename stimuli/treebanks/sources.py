"""What the pairs of a language are made of: its treebanks under the licences asked for, its forms, and tables of the user's own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from gardenpath import study

from . import tables
from .treebank_folders import Treebank, find_language_code, find_treebanks, find_unimorph_files


@dataclass(frozen=True)
class Sources:
    """The treebanks of a language that are taken; those in `left_out_reasons` are not, each with the reason."""

    language: str
    treebanks: tuple[Treebank, ...]
    left_out_reasons: dict[str, str]
    unimorph: tuple[Path, ...]
    user_tables: Path | None
    broken_files: tuple[Path, ...] = ()

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files that are read."""
        own = [self.user_tables / f"{name}.toml" for name in tables.TABLE_NAMES] if self.user_tables else []
        trees = [path for bank in self.treebanks for path in bank.paths]
        return (*trees, *self.broken_files, *self.unimorph, *(path for path in own if path.exists()))

    def drop_treebank(self, name: str, reason: str) -> "Sources":
        """Return the same without a treebank that cannot be read."""
        kept = tuple(bank for bank in self.treebanks if bank.name != name)
        broken = [path for bank in self.treebanks if bank.name == name for path in bank.paths]
        return replace(
            self,
            treebanks=kept,
            left_out_reasons=self.left_out_reasons | {name: reason},
            broken_files=(*self.broken_files, *broken),
        )


def find_sources(
    ud: str | Path,
    unimorph: str | Path | None = None,
    *,
    language: str,
    licences: Iterable[str] = (),
    user_tables: str | Path | None = None,
) -> Sources:
    """Return what there is of a language; raises `study.DataError` where it has no treebank, or none that may be taken."""
    code = find_language_code(language)
    if not code:
        raise study.DataError(f"language is {language!r}; expected an ISO 639 code, as in nld or nl")
    there = find_treebanks(ud, user_tables)
    banks = [bank for bank in there if bank.language == code]
    if not banks:
        others = ", ".join(sorted({bank.language for bank in there if bank.language}))
        raise study.DataError(
            f"{ud}: no treebank of {code}; there are "
            + (f"treebanks of {others}" if others else "no .conllu files, such as nl_lassysmall-ud-dev.conllu, in it")
        )
    allowed = {_standardise_licence(licence) for licence in licences}
    left_out = {}
    for bank in banks:
        if bank.skip_reason:
            left_out[bank.name] = bank.skip_reason
        elif allowed and (bank.licence is None or _standardise_licence(bank.licence) not in allowed):
            left_out[bank.name] = f"licence {bank.licence or 'unknown (say it in treebanks.toml, [licence])'}"
    taken = tuple(bank for bank in banks if bank.name not in left_out)
    if not taken:
        raise study.DataError([f"{ud}: no treebank of {code} is taken", *(f"{name}: {why}" for name, why in left_out.items())])
    forms = find_unimorph_files(unimorph, code, user_tables) if unimorph is not None else ()
    return Sources(code, taken, left_out, forms, Path(user_tables) if user_tables else None)


def _standardise_licence(licence: str) -> str:
    """Return a licence as it is compared: CC-BY-SA 4.0 is CC BY-SA 4.0."""
    return re.sub(r"[\W_]+", " ", licence).casefold().strip()
