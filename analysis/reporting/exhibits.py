"""What a report is made of: figures and tables with their captions, and warnings about the numbers in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import TABLES, DataError
from gardenpath.study.config import FiguresSection, Sesoi

from ..aligning.alignment_check import FAILED_VERDICT
from ..model_results import join_results
from ..prompts import list_prompts, list_rated_prompts
from .figures import figure_style
from .wording.coefficients import Coefficients
from .wording.numbers import cell
from .wording.sources import read_off
from .wording.surprisal import SimulatedCosts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]

LONG = 40  # rows of a result shown in the text; the file has all
FOLDED = 6  # rows from which a table in the text is folded
HIDDEN = ("engine", "formula", "note", "converged", "measure")  # of models: told in the caption, or in the notes
ALARM = "alignment self-test failed"
SIMULATED = ("robot", "simulation")

# Tables that are about sentences and models, or from before the study; whatever else there is comes from its participants.
OF_SENTENCES = (
    "item_origins",
    "drafting",
    "reviews",
    "review_agreement",
    "norms",
    "norm_decisions",
    "norm_means",
    "fragments",
    "cloze",
    "cloze_responses",
    "cloze_by_model",
    "norms_by_model",
    "items",
    "conditions",
    "words",
    "balance",
    "design_balance",
    "design_questions",
    "exposures",
    "surprisal",
    "sentence_scores",
    "pairs",
    "accuracy",
    "accuracy_bins",
    "model_comparisons",
    "group_accuracies",
    "learning_curves",
    "language_accuracies",
    "language_means",
    "language_bests",
    "language_wins",
    "frequency_curves",
    "frequency_residuals",
    "score_difference_regressions",
    "proportion_tests",
    "group_differences",
    "rankings",
    "length_bias",
    "accuracy_correlations",
    "judgments",
    "method_accuracies",
    "response_shares",
    "ensembles",
    "method_comparisons",
    "method_length_bias",
    "method_groups",
    "method_differences",
)


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table of the report, with its caption, the file that holds its numbers, and its warnings."""

    caption: str
    file: str
    badges: tuple[str, ...] = ()
    svg: str = ""
    header: tuple[tuple[str, str], ...] = ()  # name and alignment
    rows: tuple[tuple[str, ...], ...] = ()
    total: int = 0
    aside: bool = False
    central: bool = False  # what the section is for: shown however long it is
    groups: tuple[tuple[str, int], ...] = ()  # of the columns of a table: a heading, and over how many it stands

    @property
    def folded(self) -> bool:
        """Whether it opens on demand: a long table, or what most readers pass over."""
        return self.aside or (len(self.rows) > FOLDED and not self.central)

    @property
    def title(self) -> str:
        """The first sentence of the caption."""
        return self.caption.partition(". ")[0].rstrip(".:")

    @property
    def rest(self) -> str:
        """The caption without its first sentence."""
        return self.caption.partition(". ")[2]


@dataclass(frozen=True)
class Section:
    """A section: sentences read off the tables, exhibits, and notes on the models."""

    title: str
    badges: tuple[str, ...] = ()
    sentences: Sequence[str] = ()
    exhibits: Sequence[Exhibit] = ()
    notes: Sequence[str] = ()
    lead: str = ""  # what the section is for, before the results
    first: int = 9  # sentences that stand before the figures; the rest opens on demand


@dataclass(frozen=True)
class Page:
    """What every section asks: the tables, where each lies, and what has to be said of its numbers."""

    tables: Tables
    files: Mapping[str, str] = field(default_factory=dict)
    sesoi: Sesoi = field(default_factory=dict)
    styled: FiguresSection = field(default_factory=FiguresSection)  # stars and bars of coefficients
    ms_per_bit: SimulatedCosts = field(default_factory=dict)  # simulated
    drawn: dict[str, tuple["Figure", str]] = field(default_factory=dict)  # every figure of the page and its SVG, by name

    def get(self, name: str) -> pd.DataFrame:
        """Return a table, empty where it is not there."""
        return self.tables[name] if name in self.tables else pd.DataFrame(columns=TABLES[name].column_names)

    @cached_property
    def results(self) -> pd.DataFrame:
        """The effects of all models, each with what is known of its fit."""
        return join_results(self.tables)

    def file(self, name: str) -> str:
        """Return where a table lies, seen from the report."""
        return self.files.get(name, f"{name}.csv")

    def prompts(self, response: str | None = None) -> list[str | None]:
        """Return the prompts of the ratings, or of a response, one by one, where there are several; else None for all."""
        return list_rated_prompts(self.tables, response)

    def describe_simulated_participants(self) -> tuple[str, ...]:
        """Return the warnings that readers were simulated, or language models, where some were, or that nobody can tell."""
        if "sessions" not in self.tables:
            return ("source of the data unknown",)
        sessions = self.get("sessions")
        sources, left_in = sessions["source"], sessions["participant"].isin(self.get("participants")["participant"])
        simulated, models = int(sources.isin(SIMULATED).sum()), int((left_in & (sources == "model")).sum())
        warnings = []
        if simulated:
            part = f"{simulated} of {len(sources)} sessions simulated"
            said = "simulated data" if simulated == len(sources) else part
            warnings.append(read_off(said, "sessions", sessions, f"count source in {[*SIMULATED]}", "count"))
        if models:
            part = f"{models} of {int(left_in.sum())} sessions by language models"
            said = "answers of language models" if models == left_in.sum() else part
            warnings.append(read_off(said, "sessions", sessions[left_in], "count source == 'model'", "count"))
        return tuple(warnings)

    def toy(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """Return the warning that a language model is a toy, where one is."""
        names = [frame[name].astype("string") for name in ("model", "model_a", "model_b") if name in frame]
        if not names or frame.empty:
            return ()
        toys = pd.concat(names).str.contains("(toy)", regex=False)
        return ("toy language model" if toys.all() else "a toy language model among them",) if toys.any() else ()

    def badges(self, name: str, rows: pd.DataFrame | None = None) -> tuple[str, ...]:
        """Return the warnings that the numbers of a table, or of some rows of it, have to carry."""
        frame = self.get(name) if rows is None else rows
        return (*(() if name in OF_SENTENCES else self.describe_simulated_participants()), *self.toy(frame))

    def badges_of_first(self, *names: str) -> tuple[str, ...]:
        """Return the warnings of the first of these tables that has rows."""
        return next((self.badges(name) for name in names if len(self.get(name))), ())

    def failed(self) -> pd.DataFrame:
        """Return model and protocol of the language models by which reading times stand beside the wrong words."""
        tested = self.get("alignment_check")
        return tested.loc[tested["verdict"] == FAILED_VERDICT, ["model", "protocol"]]

    def figure(
        self, name: str, key: str, caption: str, draw: Callable[[], "Figure"], rows: pd.DataFrame | None = None, aside: bool = False
    ) -> list[Exhibit]:
        """Return the figure `key` of table `name`, nothing where there is nothing to draw: sentences and tables say so."""
        try:
            figure = draw()
        except DataError:
            return []
        svg = figure_style.svg(figure, key)
        self.drawn[key] = figure, svg
        return [Exhibit(caption, self.file(name), self.badges(name, rows), svg=svg, aside=aside)]

    def table(
        self, name: str, caption: str, rows: pd.DataFrame | None = None, limit: int = LONG, aside: bool = False
    ) -> list[Exhibit]:
        """Return the first rows of table `name`, or of what is given of it, nothing where there are none.

        A column `prompt` is left out where there is one prompt.
        """
        frame = self.get(name) if rows is None else rows
        if frame.empty:
            return []
        if "prompt" in frame and list_prompts(frame) == [None]:
            frame = frame.drop(columns="prompt")
        header, cells = cells_of(frame.head(limit))
        badges = self.badges(name, rows if rows is not None and {"model", "model_a"} & set(rows) else None)
        return [Exhibit(caption, self.file(name), badges, header=header, rows=cells, total=len(frame), aside=aside)]

    def coefficients(self, name: str, caption: str, table: Coefficients, aside: bool = False) -> list[Exhibit]:
        """Return a table of coefficients of table `name`, nothing where there are none; shown however long, or `aside`."""
        if not table.rows:
            return []
        looks = ["text"] * table.labels + ["number"] * (len(table.columns) - table.labels)
        header = tuple(zip(table.columns, looks, strict=True))
        return [
            Exhibit(
                caption, self.file(name), self.badges(name), header=header, rows=table.rows, total=len(table.rows),
                aside=aside, central=True, groups=table.groups,
            )
        ]  # fmt: skip


def without(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the rows without those of the columns that they have."""
    return rows.drop(columns=[name for name in columns if name in rows])


def leading(sentences: Sequence[str], head: int, most: int = 9) -> int:
    """Return how many sentences stand before the figures: all, where they are few, else the first `head`, one at least."""
    return len(sentences) if len(sentences) <= most else max(1, head)


def few(sentences: Sequence[str], most: int = 9) -> int:
    """Return how many sentences stand before the figures where a count of them stands elsewhere: all, or none."""
    return len(sentences) if len(sentences) <= most else 0


def split_constant_columns(rows: pd.DataFrame, *columns: str) -> tuple[pd.DataFrame, str]:
    """Return the rows without those columns that hold one value throughout, and these values for the caption."""
    single = [column for column in columns if column in rows and len(rows[column].unique()) == 1]
    values = ", ".join(str(rows[column].iloc[0]) for column in single)
    return rows.drop(columns=single), f" ({values})" if single else ""


def cells_of(frame: pd.DataFrame) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, ...], ...]]:
    """Return a frame's columns (name, number or text) and its rows as text, with the decimals that people read."""
    columns = [_texts(frame[name]) for name in frame.columns]
    looks = ("number" if pd.api.types.is_numeric_dtype(frame[name]) else "text" for name in frame.columns)
    return tuple(zip(map(str, frame.columns), looks, strict=True)), tuple(zip(*columns, strict=True))


def _texts(column: pd.Series) -> list[str]:
    if pd.api.types.is_bool_dtype(column):
        return ["–" if pd.isna(value) else "yes" if value else "no" for value in column]
    if pd.api.types.is_float_dtype(column):
        return ["–" if pd.isna(value) else cell(float(value), str(column.name)) for value in column]
    return ["–" if pd.isna(value) else str(value) for value in column]
