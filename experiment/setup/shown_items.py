"""Whether the materials beside study.toml are those that were shown: an archive of others would be of another study."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli import build_items_table, read_study

from ..scripts.list_files import build_list_files
from ..sessions.event_tables import collect_materials

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class UnlikeItem:
    """A sentence that was shown and reads otherwise in the materials, or is not there: its paradigm, and what differs."""

    paradigm: str
    item: str
    condition: str
    difference: str

    @property
    def key(self) -> str:
        """The key of this item in `archive.deviations`, as the table deviations has it."""
        return f"items.{self.paradigm}.{self.item}"

    def __str__(self) -> str:
        return f"{self.item} ({self.condition}): {self.difference}"


def find_unlike_items(config: study.Study, shown: "pd.DataFrame") -> list[UnlikeItem]:
    """Return the sentences of the table items of `collect`, as they were shown, that the study does not have so now.

    >>> from importlib.resources import files
    >>> made = study.load(files("gardenpath.examples") / "minimal-pairs")
    >>> shown = build_items_table(read_study(made)).head(2)
    >>> find_unlike_items(made, shown), len(find_unlike_items(made, shown.assign(sentence="Another one.")))
    ([], 2)
    """
    materials = (read_study(config), collect_materials(build_list_files(config)))  # the lists have practice too
    now = {(row["item"], row["condition"]): row for one in materials for row in build_items_table(one).to_dict("records")}
    return list(_compare(now, shown))


def _compare(now: Mapping[tuple[str, str], Mapping[Any, str]], shown: "pd.DataFrame") -> Iterator[UnlikeItem]:
    for row in shown.to_dict("records"):
        found = now.get((row["item"], row["condition"]))
        difference = ""
        if found is None:
            difference = "was shown, and is not in the materials"
        elif found["sentence"] != row["sentence"]:
            difference = f"{row['sentence']!r} was shown, and the materials have {found['sentence']!r}"
        elif found["regions"] != row["regions"]:
            difference = f"the regions {row['regions']} were shown, and the materials have {found['regions']}"
        if difference:
            yield UnlikeItem(row["paradigm"], row["item"], row["condition"], difference)
