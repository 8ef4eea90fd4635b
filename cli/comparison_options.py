"""What `evaluate` and `judge` hold language models against: earlier results, people, and groups of paradigms or items."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.analysis.comparing.all_comparisons import ComparisonData
    from gardenpath.stimuli import Materials

PARTICIPANT_TABLES = ("choice_agreement", "rating_scores")


@dataclass(frozen=True)
class ComparisonOptions:
    """What results of models stand compare_with: earlier ones, people's, and groups of paradigms or items."""

    compare_with: tuple[Path, ...]
    human_results: Path | None
    groups: tuple[Path, ...]
    split_by: tuple[str, ...]

    def read_earlier_tables(self, table: str) -> list["pd.DataFrame"]:
        """Return a table of each earlier run."""
        from gardenpath import study

        return [study.read(folder, table) for folder in self.compare_with]

    def read_comparison_data(self, materials: "Materials", **other_data: Any) -> "ComparisonData":
        """Return what the comparisons take, with people and groups read."""
        import pandas as pd

        from gardenpath import stimuli, study
        from gardenpath.analysis.comparing.all_comparisons import ComparisonData
        from gardenpath.analysis.comparing.model_comparison import compute_human_accuracies

        choices = [study.read(self.human_results, name) for name in PARTICIPANT_TABLES] if self.human_results else []
        tables = [pd.read_csv(path, dtype=str) for path in self.groups]
        return ComparisonData(
            human_accuracies=compute_human_accuracies(*choices) if choices else None,
            groups=[*tables, *([stimuli.group_items(materials, self.split_by)] if self.split_by else [])],
            **other_data,
        )


def add_comparison_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `ComparisonOptions`, as its argument `comparing`."""

    @functools.wraps(command)
    def call(*args: Any, **arguments: Any) -> None:
        values = {field.name: arguments.pop(field.name) for field in fields(ComparisonOptions)}
        command(*args, comparing=ComparisonOptions(**values), **arguments)

    wrapped: Callable[..., None] = call
    for option in (
        click.option(
            "--split-by",
            multiple=True,
            metavar="COLUMN",
            help="Accuracy by a column of the items, by language, or by word_shuffling.",
        ),
        click.option(
            "--groups",
            multiple=True,
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="CSV of paradigm or item, factor and level: accuracy at each level.",
        ),
        click.option(
            "--human-results",
            type=click.Path(path_type=Path),
            metavar="RESULTS",
            help="Folder with the choice_agreement and rating_scores of analyse: people's accuracies beside models'.",
        ),
        click.option(
            "--compare-with",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="RESULTS",
            help="Folder with the results of an earlier run, whose models are compared with these too.",
        ),
    ):
        wrapped = option(wrapped)
    return wrapped
