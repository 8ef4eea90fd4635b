"""The sections on people: who took part, what was excluded, and how far raters agree."""

from functools import partial

import pandas as pd

from gardenpath.study.judgment_coverage import describe_judgment_counts

from ...exclusion_log import ALL_CONDITIONS
from ...measuring.ratings_and_times import RATED_ROLES
from ...measuring.reliability import select_poor_agreement
from ...prompts import build_file_suffixes
from .. import manuscript
from ..exhibits import Exhibit, Page, Section
from ..figures import rater_figures
from ..wording import labels, participation, raters, tasks


def run(page: Page) -> Section:
    """Who took part, and with which materials."""
    items, sessions = page.get("items"), page.get("sessions")
    items = items[~items["paradigm"].isin(_practised(page))]
    sentences = []
    exhibits: list[Exhibit] = []
    if len(items):
        sentences.append(participation.materials(items))
        exhibits += page.table("items", "Materials by phenomenon, without practice: counts of rows.", _materials(items))
    if len(sessions):
        ledger, people = page.get("exclusions"), page.get("participants")
        sources = ", ".join(sorted(sessions["source"].unique()))
        sentences.append(f"{participation.participation(ledger, people, sessions)} Sessions came from: {sources}.")
        exhibits += page.table("sessions", "Sessions by list: counts of rows.", _sessions(sessions))
    judgment_counts = page.get("judgment_counts")
    if len(judgment_counts):
        sentences.append(f"{describe_judgment_counts(judgment_counts)}.")
        caption = "Items of lists short of the judgments that were planned."
        exhibits += page.table(
            "judgment_counts", caption, judgment_counts[judgment_counts["n_judgments"] < judgment_counts["n_planned"]]
        )
    return Section(
        "Participants and materials", page.describe_simulated_participants() if len(sessions) else (), sentences, exhibits
    )


def _practised(page: Page) -> set[str]:
    """Return the paradigms that participants met in practice or attention trials only."""
    met = pd.concat([page.get(name)[["paradigm", "role"]] for name in ("readings", "responses")])
    rated = met["role"].isin(RATED_ROLES)
    return set(met.loc[~rated, "paradigm"]) - set(met.loc[rated, "paradigm"])


def _materials(items: pd.DataFrame) -> pd.DataFrame:
    grouped = items.groupby("phenomenon", sort=False)
    counts = grouped.agg(paradigms=("paradigm", "nunique"), items=("item", "nunique"), sentences=("sentence", "size"))
    return counts.reset_index()


def _sessions(sessions: pd.DataFrame) -> pd.DataFrame:
    grouped = sessions.groupby(["experiment", "list", "source"])
    return grouped.agg(sessions=("session", "size"), complete=("complete", "sum")).reset_index()


def exclusions(page: Page) -> Section:
    """Who and what was excluded, rule by rule."""
    ledger = page.get("exclusions")
    sentences = participation.exclusions(*(page.get(name) for name in manuscript.EXCLUSIONS)) if len(ledger) else []
    readings = participation.readings_kept(page.get("alignment_exclusions"))
    sentences += [readings] if readings else []
    whole = ledger[ledger["condition"] == ALL_CONDITIONS].drop(columns=["condition", "step"])
    caption = "Rules in the order applied, with rows and participants before and after; the file has each condition as well."
    exhibits = page.table("exclusions", caption, whole)
    exhibits += page.table("alignment_exclusions", "The same for reading times beside surprisal.")
    return Section("Exclusions", page.badges("exclusions") if sentences else (), sentences, exhibits)


def errors(page: Page) -> Section:
    """First choices in Maze by condition, and what is lost after wrong ones."""
    sentences = tasks.describe_accuracy(page.get("first_choices"))
    caption = "First choices in Maze: trials right, wrong and lost after an error, by region and condition."
    exhibits = page.table("first_choices", caption) if sentences else []
    return Section("Errors in Maze", page.badges("first_choices") if sentences else (), sentences, exhibits)


def deviations(page: Page) -> Section:
    """What the study departs from in its preregistration, where it has one."""
    table = page.get("deviations")
    sentences = []
    if "deviations" in page.tables:
        found = "Nothing departs" if table.empty else f"{len(table)} statement{'s depart' if len(table) > 1 else ' departs'}"
        open_ones = int(table["reason"].isna().sum())
        no_reason = f"; {open_ones} of them without a reason" if open_ones else ""
        sentences = [f"{found} from the preregistration, which holds every setting and item{no_reason}."]
    caption = "What was registered, what there is, where it shows, and why."
    return Section("Deviations from the preregistration", (), sentences, page.table("deviations", caption))


def agreement(page: Page) -> Section:
    """How far raters agree, and what a perfect model could reach with their ratings."""
    reliability, counts = page.get("reliability"), page.get("rating_counts")
    caption = (
        "Agreement on each paradigm: ICC(2,k), a dot for each list, with its 95% interval over all sentences; within a "
        "condition there are few sentences, and no effect of conditions to agree on. Left of the dashed line: poor."
    )
    exhibits: list[Exhibit] = []
    prompts = build_file_suffixes(page.prompts())
    for prompt, ending in prompts.items():
        draw = partial(rater_figures.reliability_figure, reliability, prompt)
        exhibits += page.figure("reliability", f"icc{ending}", labels.under(prompt, caption), draw)
    caption = (
        "Ratings of paradigms on which agreement is poor in some list, as shares of a condition. One peak: people differ by "
        "degree; two: they differ on the matter."
    )
    for prompt, ending in prompts.items():
        draw = partial(rater_figures.rating_figure, select_poor_agreement(counts, reliability), prompt)
        exhibits += page.figure("rating_counts", f"ratings{ending}", labels.under(prompt, caption), draw)
    caption = "Whether the ratings of a phenomenon have one mode: a small p says two, or more."
    exhibits += page.table("unimodality", caption, aside=True)
    exhibits += page.table("noise_ceilings", f"Ceilings: {raters.CEILING}, at each level.")
    caption = (
        "Forced choice: shares of single choices and of majorities, which must not be mixed; a tie is half a pair in majority, "
        "none in majority_strict."
    )
    exhibits += page.table("choice_agreement", caption)
    sentences = raters.agreement(*(page.get(name) for name in manuscript.AGREEMENT))
    return Section("Agreement among people", page.badges("reliability") if exhibits else (), sentences, exhibits)
