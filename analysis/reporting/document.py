"""The report: one HTML file that needs nothing else, every number of which stands in a table beside it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from gardenpath.study import TABLES, DataError

from ..contrasts import INTERCEPTS, SLOPES, TERM, minimal_pairs
from ..ledger import ALL
from ..measures import RATED
from ..reliability import poor
from ..rows import records
from . import canvas, figures, manuscript, modelfigures, pairfigures, wording

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]

LONG = 40  # rows of a result shown in the text; the file has all
FOLDED = 14  # rows from which a table in the text is folded
HEAD = 5  # rows of each table shown in the list of tables
SIMULATED = ("robot", "simulation")
MODEL = ["model", "protocol"]
HIDDEN = ("engine", "formula", "note", "converged", "measure")  # of models: told in the caption, or in the notes


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

    @property
    def folded(self) -> bool:
        """Whether the table is so long that it opens on demand."""
        return len(self.rows) > FOLDED


@dataclass(frozen=True)
class Section:
    """A section: sentences read off the tables, exhibits, and notes on the models."""

    title: str
    badges: tuple[str, ...] = ()
    sentences: Sequence[str] = ()
    exhibits: Sequence[Exhibit] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class _Page:
    """What every section asks: the tables, where each lies, and what has to be said of its numbers."""

    tables: Tables
    files: Mapping[str, str] = field(default_factory=dict)
    smallest: Mapping[str, float] = field(default_factory=dict)

    def get(self, name: str) -> pd.DataFrame:
        return self.tables.get(name, pd.DataFrame(columns=TABLES[name].names))

    def file(self, name: str) -> str:
        return self.files.get(name, f"{name}.csv")

    def people(self) -> tuple[str, ...]:
        """Return the warning that readers were simulated, where some were, or that nobody can tell."""
        if "sessions" not in self.tables:
            return ("source of the data unknown",)
        sources = self.get("sessions")["source"]
        simulated = int(sources.isin(SIMULATED).sum())
        if not simulated:
            return ()
        return ("simulated data" if simulated == len(sources) else f"{simulated} of {len(sources)} sessions simulated",)

    def toy(self, frame: pd.DataFrame) -> tuple[str, ...]:
        if "model" not in frame or frame.empty:
            return ()
        toys = frame["model"].astype("string").str.contains("(toy)", regex=False)
        return ("toy language model" if toys.all() else "a toy language model among them",) if toys.any() else ()

    def badges(self, name: str, rows: pd.DataFrame | None = None) -> tuple[str, ...]:
        """Return the warnings that the numbers of a table, or of some rows of it, have to carry."""
        frame = self.get(name) if rows is None else rows
        return (*(() if name in OF_SENTENCES else self.people()), *self.toy(frame))

    def figure(
        self, name: str, key: str, caption: str, draw: Callable[[], "Figure"], rows: pd.DataFrame | None = None
    ) -> list[Exhibit]:
        try:
            drawn = draw()
        except DataError:  # nothing to draw; the sentences and tables say so
            return []
        return [Exhibit(caption, self.file(name), self.badges(name, rows), svg=canvas.svg(drawn, key))]

    def table(self, name: str, caption: str, rows: pd.DataFrame | None = None, limit: int = LONG) -> list[Exhibit]:
        frame = self.get(name) if rows is None else rows
        if frame.empty:
            return []
        header, cells = cells_of(frame.head(limit))
        return [Exhibit(caption, self.file(name), self.badges(name), header=header, rows=cells, total=len(frame))]


# Tables that are about sentences and models alone; whatever else there is comes from people.
OF_SENTENCES = (
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
    "proportion_tests",
    "rankings",
    "length_bias",
    "accuracy_correlations",
)


def report(
    tables: Tables,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    software: Mapping[str, str] | None = None,
    absent: Sequence[str] = (),
    smallest: Mapping[str, float] | None = None,
) -> str:
    """Return the report of a study as one HTML document; the same input gives the same text.

    `tables` holds whatever declared tables there are, `files` where each lies, seen from the report; `facts` and
    `software` are printed as they are, and `absent` names what was not there to report. `smallest` holds the smallest
    effects of interest by measure (z, log_rt).
    """
    import jinja2

    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise ValueError(f"table {', '.join(unknown)} is not known; expected one of {', '.join(TABLES)}")
    if not tables:
        raise DataError("there is no table to report; run  gardenpath analyse  first")
    page = _Page(tables, files or {}, smallest or {})
    sections = [part for part in (make(page) for make in SECTIONS) if part.sentences or part.exhibits]
    loader = jinja2.PackageLoader("gardenpath.analysis.reporting", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["statistics"] = _statistics
    environment.filters["code"] = _code
    warnings = list(dict.fromkeys(badge for section in sections for badge in section.badges))
    return environment.get_template("report.html").render(
        title=title,
        warnings=warnings,
        facts=dict(facts or {}),
        sections=sections,
        listed=_listed(page),
        methods=manuscript.methods_text(tables, software),
        references=manuscript.cited(manuscript.methods_text(tables, software)),
        software=dict(software or {}),
        absent=list(absent),
    )


def _statistics(sentence: str) -> "Markup":
    """Return a sentence as HTML with its statistics set as APA has them: symbols in italics, no line break inside."""
    from markupsafe import Markup, escape

    text = re.sub(r"\bp_BH\b", "<i>p</i><sub>BH</sub>", str(escape(sentence)))
    text = re.sub(r"\b([btzp])(?=\(\d| = | &lt; )", r"<i>\1</i>", text)
    return Markup(re.sub(r" (=|&lt;) ", "\u00a0\\1\u00a0", text))


def _code(text: str) -> "Markup":
    """Return a text as HTML with what stands between backquotes set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _run(page: _Page) -> Section:
    """Who took part, and with which materials."""
    items, sessions = page.get("items"), page.get("sessions")
    items = items[~items["paradigm"].isin(_practised(page))]
    sentences = []
    exhibits: list[Exhibit] = []
    if len(items):
        counts = {name: items[name].nunique() for name in ("phenomenon", "paradigm", "item")}
        sentences.append(
            f"Materials: {len(items)} sentences, {counts['item']} items in {counts['paradigm']} paradigms of "
            f"{counts['phenomenon']} phenomena."
        )
        exhibits += page.table("items", "Materials by phenomenon, without practice: counts of rows.", _materials(items))
    if len(sessions):
        done = sessions[sessions["complete"]]
        sentences.append(
            f"Participants: {sessions['participant'].nunique()} began, {done['participant'].nunique()} completed a "
            f"session; sessions came from: {', '.join(sorted(sessions['source'].unique()))}."
        )
        exhibits += page.table("sessions", "Sessions by version: counts of rows.", _sessions(sessions))
    return Section("What was run", page.people() if len(sessions) else (), sentences, exhibits)


def _practised(page: _Page) -> set[str]:
    """Return the paradigms that participants met in practice or attention trials only."""
    shown = pd.concat([page.get(name)[["paradigm", "role"]] for name in ("readings", "responses")])
    rated = shown["role"].isin(RATED)
    return set(shown.loc[~rated, "paradigm"]) - set(shown.loc[rated, "paradigm"])


def _materials(items: pd.DataFrame) -> pd.DataFrame:
    grouped = items.groupby("phenomenon", sort=False)
    counts = grouped.agg(paradigms=("paradigm", "nunique"), items=("item", "nunique"), sentences=("sentence", "size"))
    return counts.reset_index()


def _sessions(sessions: pd.DataFrame) -> pd.DataFrame:
    grouped = sessions.groupby(["experiment", "version", "source"])
    return grouped.agg(sessions=("session", "size"), complete=("complete", "sum")).reset_index()


def _exclusions(page: _Page) -> Section:
    ledger, alignment = page.get("exclusions"), page.get("alignment_exclusions")
    sentences = wording.exclusions(ledger, page.get("participants")) if len(ledger) else []
    read = alignment[alignment["table"] == "readings"]
    if len(read):
        first, last = read["before"].iloc[0], read["after"].iloc[-1]
        sentences.append(
            f"{last} of {first} words read stand beside their surprisal; the table says why others do not."
        )
    whole = ledger[ledger["condition"] == ALL].drop(columns=["condition", "step"])
    caption = (
        "Rules in the order applied, with rows and participants before and after; the file has each condition as well."
    )
    exhibits = page.table("exclusions", caption, whole)
    exhibits += page.table("alignment_exclusions", "The same for reading times beside surprisal.")
    return Section("Exclusions", page.badges("exclusions") if sentences else (), sentences, exhibits)


def _ratings(page: _Page) -> Section:
    return _measured(
        page,
        "Ratings",
        "z",
        ("rating", "z"),
        "Mean rating by phenomenon and condition (participants' means first); bars are one standard error over "
        "participants. Look for blue circles to the right of orange diamonds: grammatical sentences rated higher.",
    )


def _times(page: _Page) -> Section:
    return _measured(
        page,
        "Reading times",
        "log_rt",
        ("rt",),
        "Mean reading time of the critical region (sum over its words, ms) by phenomenon and condition; bars are one "
        "standard error over participants. Look for blue circles to the left of orange diamonds: grammatical regions "
        "read faster.",
    )


DECLARED = (
    "Mixed models of grammaticality with random intercepts, as declared, REML, Satterthwaite degrees of freedom; the "
    "coefficient is grammatical minus ungrammatical. p_bh is adjusted over the phenomena of a region, p_bh_all over all regions "
    "together; mde is the effect that would be found in 80% of repetitions; raw is the same model of {raw}"
)
WITH_SLOPES = (
    "The same with slopes: the effect itself varies over participants and items. Where it does, models without slopes find "
    "effects too easily"
)
SHOWN = ("phenomenon", "region", "estimate", "se", "df", "t", "p", "p_bh", "p_bh_all", "ci_low", "ci_high")
BESIDE = {"z": ("raw", "raw_low", "raw_high", "mde"), "log_rt": ("ms", "ms_low", "ms_high", "raw", "mde")}
STARS = "stars after correction over phenomena (Benjamini-Hochberg): * p < .05, ** p < .01, *** p < .001."


def _measured(page: _Page, title: str, measure: str, means: tuple[str, ...], caption: str) -> Section:
    """Return the section of ratings or of reading times: means, then the effect of grammaticality on them."""
    models, conditions = page.get("phenomenon_models"), page.get("condition_means")
    rows = models[(models["measure"] == measure) & (models["term"] == TERM)]
    unit = "standard deviations of a participant's ratings" if measure == "z" else "log ms"
    series = (
        "the declared model and the one with slopes"
        if measure == "z"
        else "the critical region and the two words after it"
    )
    coefficient = (
        f"Coefficient of grammaticality (coded +.5 grammatical, −.5 ungrammatical, so that it is their difference, in "
        f"{unit}) with its 95% interval, of {series}. Intervals that leave out the line at zero show an effect; {STARS}"
    )
    draw = partial(figures.condition_figure, conditions, means[0])
    exhibits = page.figure("condition_means", f"means-{measure}", caption, draw)
    draw = partial(figures.coefficient_figure, models, measure)
    exhibits += page.figure("phenomenon_models", f"effects-{measure}", coefficient, draw)
    if measure == "log_rt":
        draw = partial(figures.curve_figure, page.get("reading_curves"))
        exhibits += page.figure("reading_curves", "curves", CURVES, draw)
    wanted = conditions[conditions["measure"].isin(means)]
    exhibits += page.table("condition_means", "Means of participants' means and their standard errors.", wanted)
    raw = "points of the rating scale" if measure == "z" else "ms; ms is the model's difference at the mean"
    for form, names, told in (
        (INTERCEPTS, (*SHOWN, *BESIDE[measure]), DECLARED.format(raw=raw)),
        (SLOPES, SHOWN, WITH_SLOPES),
    ):
        part = rows[rows["random"] == form]
        shown = part[[name for name in names if measure != "z" or name not in ("region", "p_bh_all")]]
        exhibits += page.table("phenomenon_models", f"{told}.{_formulas(part)}", shown)
    exhibits += _paradigms(page, measure)
    sentences = (
        [*wording.effects(models, measure), *_left_out(page, "rating_scores" if measure == "z" else "region_times")]
        if len(rows)
        else []
    )
    badges = page.badges("condition_means") if exhibits else ()
    return Section(title, badges, sentences, exhibits, wording.notes(rows, "phenomenon"))


CURVES = (
    "Reading times word by word around the critical region (place 0, grey; the mean of its words), in ms a word: participants' "
    "means, bars one standard error over participants. Look for orange above blue from 0 on: what is ungrammatical slows "
    "reading there or, as spillover, on the words after."
)


def _formulas(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    formulas, engines = "; ".join(rows["formula"].unique()), ", ".join(rows["engine"].unique())
    return f" {formulas} (engine {engines})."


def _paradigms(page: _Page, measure: str) -> list[Exhibit]:
    models = page.get("paradigm_models")
    rows = models[(models["measure"] == measure) & (models["term"] == TERM)]
    names = ["paradigm", *(name for name in SHOWN[1:] if measure != "z" or name not in ("region", "p_bh_all"))]
    caption = "The declared model of each paradigm: a family of tests of its own."
    return page.table("paradigm_models", caption, rows[names], limit=60)


def _families(page: _Page) -> Section:
    families, grid = page.get("families"), page.get("sensitivity")
    exhibits = page.table("families", "Families of tests: each is corrected by itself; found_all, over all regions.")
    caption = (
        "The effect on reading times of the critical region (ms at the mean, with intervals) under every cutoff and transform, and "
        "without participants who are flagged; a column is a choice, marked below. The declared choice is orange. These are no "
        "tests of their own: they show what the declared one depends on."
    )
    draw = partial(figures.specification_figure, grid)
    exhibits += page.figure("sensitivity", "specifications", caption, draw)
    told = [*wording.power(page.get("phenomenon_models"), page.smallest), *wording.robustness(grid)]
    lagged = (
        families[families["level"] == "phenomenon"]
        .dropna(subset="autocorrelation")
        .drop_duplicates(["measure", "region"])
    )
    told += [
        f"Residuals of successive trials correlate by {row['autocorrelation']:.2f} ({row['measure']}, {row['region']})."
        for row in records(lagged)
    ]
    return Section("How far the results can be trusted", page.badges("families") if exhibits else (), told, exhibits)


def _agreement(page: _Page) -> Section:
    found, counts = page.get("reliability"), page.get("rating_counts")
    caption = (
        "Agreement on each paradigm: ICC(2,k), a dot for each version, with its 95% interval over all sentences; within a "
        "condition there are few sentences, and no effect of grammaticality to agree on. Left of the dashed line: poor."
    )
    exhibits = page.figure("reliability", "icc", caption, partial(figures.reliability_figure, found))
    shown = counts[counts["paradigm"].isin(poor(found))]
    caption = (
        "Ratings of paradigms on which agreement is poor in some version, as shares of a condition. One peak: people differ by "
        "degree; two: they differ on the matter."
    )
    exhibits += page.figure("rating_counts", "ratings", caption, partial(figures.rating_figure, shown))
    caption = "Ceilings: what a perfect model would correlate with the mean ratings of these people, at each level."
    exhibits += page.table("noise_ceilings", caption)
    caption = "Forced choice: shares of single choices and of majorities, which must not be mixed."
    exhibits += page.table("choice_agreement", caption)
    tables = [page.get(name) for name in manuscript.AGREEMENT]
    return Section(
        "Agreement among people", page.badges("reliability") if exhibits else (), wording.agreement(*tables), exhibits
    )


def _left_out(page: _Page, measured: str) -> list[str]:
    items, rows = page.get("items"), page.get(measured)
    targets = set(rows.loc[rows["role"] == "target", "paradigm"])
    others = sorted(targets - set(minimal_pairs(items))) if len(items) else []
    if not others:
        return []
    return [f"Not in these models, having other conditions than grammatical and ungrammatical: {', '.join(others)}."]


def _model_caption(rows: pd.DataFrame, rest: str) -> str:
    if rows.empty:
        return ""
    formulas, engines = "; ".join(rows["formula"].unique()), ", ".join(rows["engine"].unique())
    return f"Mixed models, {formulas}: REML, Satterthwaite degrees of freedom (engine {engines}); {rest}."


def _pairs(page: _Page) -> Section:
    table = page.get("accuracy")
    exhibits: list[Exhibit] = []
    for names, rows in table.groupby(MODEL, sort=False):
        model, protocol = map(str, names)
        caption = (
            f"{model} ({protocol}): share of pairs whose grammatical member has the higher score, by paradigm, with "
            "95% Wilson intervals; a tie is half a success. Look for intervals right of the dashed line (chance)."
        )
        key = f"accuracy-{len(exhibits)}"
        exhibits += page.figure("accuracy", key, caption, partial(pairfigures.accuracy_figure, rows), rows)
    shown, told = _told_once(table, *MODEL, "measure")
    caption = (
        f"Accuracy by paradigm, by phenomenon and over all{told}. The pooled interval takes pairs as independent: it speaks "
        "of further pairs of these paradigms, not of further paradigms."
    )
    exhibits += page.table("accuracy", caption, shown)
    return Section("Language models on minimal pairs", page.badges("accuracy"), wording.accuracies(table), exhibits)


def _told_once(rows: pd.DataFrame, *columns: str) -> tuple[pd.DataFrame, str]:
    """Return the rows without those columns that hold one value throughout, and these values for the caption."""
    single = [column for column in columns if column in rows and len(rows[column].unique()) == 1]
    values = ", ".join(str(rows[column].iloc[0]) for column in single)
    return rows.drop(columns=single), f" ({values})" if single else ""


def _alignment(page: _Page) -> Section:
    aligned, models = page.get("aligned"), page.get("alignment_models")
    exhibits: list[Exhibit] = []
    for names, rows in aligned.groupby(MODEL, sort=True):
        model, protocol = map(str, names)
        caption = (
            f"{model} ({protocol}): mean reading time of each word against its surprisal; a grey dot is a word (at "
            f"most {modelfigures.DRAWN} are drawn), a blue one a tenth of all words with its standard error. A rising line: "
            "surprising words take longer. The line has no covariates; the table has the mixed model's coefficients."
        )
        key = f"surprisal-{len(exhibits)}"
        exhibits += page.figure("aligned", key, caption, partial(modelfigures.surprisal_figure, rows), rows)
    shown, once = _told_once(models.drop(columns=[column for column in HIDDEN if column in models]), *MODEL)
    rest = f"surprisal in bits, length in characters, the word before as _previous{once}"
    exhibits += page.table("alignment_models", _model_caption(models, rest), shown)
    badges = page.badges("aligned") if len(aligned) else page.badges("alignment_models") if len(models) else ()
    told, noted = wording.slopes(models), wording.notes(models, "model")
    return Section("Reading times and surprisal", badges, told, exhibits, noted)


SECTIONS: Sequence[Callable[[_Page], Section]] = (
    _run,
    _exclusions,
    _ratings,
    _times,
    _agreement,
    _families,
    _pairs,
    _alignment,
)


def _listed(page: _Page) -> list[Exhibit]:
    """Return the head of every table there is, for the list at the end."""
    exhibits = []
    for name in TABLES:
        if name in page.tables:
            header, rows = cells_of(page.get(name).head(HEAD))
            caption = f"{name}: one row is {TABLES[name].row}."
            total = len(page.get(name))
            exhibits.append(Exhibit(caption, page.file(name), page.badges(name), header=header, rows=rows, total=total))
    return exhibits


def cells_of(frame: pd.DataFrame) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, ...], ...]]:
    """Return a frame's columns (name, number or text) and its rows as text, with the decimals that people read."""
    columns = [_texts(frame[name]) for name in frame.columns]
    looks = ("number" if pd.api.types.is_numeric_dtype(frame[name]) else "text" for name in frame.columns)
    return tuple(zip(map(str, frame.columns), looks, strict=True)), tuple(zip(*columns, strict=True))


def _texts(cells: pd.Series) -> list[str]:
    name = str(cells.name)
    if pd.api.types.is_bool_dtype(cells):
        return ["–" if pd.isna(cell) else "yes" if cell else "no" for cell in cells]
    if pd.api.types.is_float_dtype(cells):
        return ["–" if pd.isna(cell) else _number(float(cell), name) for cell in cells]
    return ["–" if pd.isna(cell) else str(cell) for cell in cells]


def _number(value: float, name: str) -> str:
    if name in ("p", "p_bh", "p_bh_all", "u_p"):
        return wording.p_value(value).removeprefix("= ")
    if name == "t":
        return f"{value:.2f}".replace("-", "−")
    if name in ("df", "minutes") or name.startswith("ms") or abs(value) >= 100:
        return f"{value:.1f}".replace("-", "−")
    small = value != 0 and abs(value) < 0.01
    return (f"{value:.2g}" if small else f"{value:.3f}").replace("-", "−")
