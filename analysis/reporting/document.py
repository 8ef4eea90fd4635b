"""The report: one HTML file that needs nothing else, every number of which stands in a table beside it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gardenpath.study import TABLES, DataError
from gardenpath.study.config import FiguresSection, Sesoi
from gardenpath.study.responses import PRIMARY_RESPONSES

from ..row_dicts import list_rows
from . import manuscript, references, rscript
from .exhibits import ALARM, OF_SENTENCES, Exhibit, Page, Section, Tables, cells_of
from .sections import (
    effect_sections,
    judgment_sections,
    origin_sections,
    pair_sections,
    people_sections,
    pooled_sections,
    surprisal_sections,
)
from .wording import surprisal
from .wording.coefficients import is_heading

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

HEAD = 5  # rows of each table shown in the list of tables

SECTIONS: Sequence[Callable[[Page], Section]] = (
    effect_sections.answer_hypotheses,
    effect_sections.build_factorial_section,
    people_sections.run,
    origin_sections.origins,
    people_sections.exclusions,
    people_sections.errors,
    people_sections.deviations,
    *(partial(effect_sections.grammaticality, measure=name) for name in PRIMARY_RESPONSES),
    pooled_sections.experiments,
    surprisal_sections.alignment,
    surprisal_sections.surprisal,
    surprisal_sections.held_out_clusters,
    pair_sections.rating_correlations,
    pair_sections.pairs,
    pair_sections.comparisons,
    judgment_sections.judgments,
    pair_sections.languages,
)
APPENDIX: Sequence[Callable[[Page], Section]] = (effect_sections.models, effect_sections.trust, people_sections.agreement)


@dataclass(frozen=True)
class Report:
    """A report as one HTML document, its figures by name, each with its SVG, and the R code that repeats its models."""

    html: str
    figures: Mapping[str, tuple["Figure", str]]
    code: str


def report(
    tables: Tables,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    software: Mapping[str, str] | None = None,
    models: Mapping[str, str] | None = None,
    absent: Sequence[str] = (),
    smallest: Sesoi | None = None,
    figures: FiguresSection | None = None,
    ms_per_bit: surprisal.SimulatedCosts | None = None,
) -> str:
    """Return the report of a study as one HTML document; the same input gives the same text.

    `tables` holds whatever declared tables there are, `files` where each lies, seen from the report; `facts` and
    `software` are printed as they are, and `absent` names what was not there to report. `models` says what each language
    model is, and `smallest` holds the smallest effects of interest as `analysis.sesoi` states them, `figures` stars and
    bars as `analysis.figures` does. `ms_per_bit` is what each
    bit of a language model's surprisal was made to cost simulated readers, at lags 0, 1 and so on, by model and protocol.

    No table at all is a `DataError`, a table that is not declared a `ValueError`.

    >>> import pandas as pd
    >>> items = pd.DataFrame({"item": ["i0", "i0"], "condition": ["grammatical", "ungrammatical"]})
    >>> items = items.assign(paradigm="ever", phenomenon="npi", language="en", sentence="Nobody ever slept.", regions="[]")
    >>> html = report({"items": items}, title="Ever and any")
    >>> html[:15], "2 sentences" in html
    ('<!doctype html>', True)
    """
    return whole(
        tables,
        title=title,
        facts=facts,
        files=files,
        software=software,
        models=models,
        absent=absent,
        smallest=smallest,
        figures=figures,
        ms_per_bit=ms_per_bit,
    ).html


def whole(
    tables: Tables,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    software: Mapping[str, str] | None = None,
    models: Mapping[str, str] | None = None,
    absent: Sequence[str] = (),
    smallest: Sesoi | None = None,
    figures: FiguresSection | None = None,
    ms_per_bit: surprisal.SimulatedCosts | None = None,
) -> Report:
    """Return the report with its figures and its R code, for those who want them as files; see `report`."""
    import jinja2

    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise ValueError(f"table {', '.join(unknown)} is not known; expected one of {', '.join(TABLES)}")
    if not tables:
        raise DataError("there is no table to report; run  gardenpath analyse  first")
    page = Page(tables, files or {}, smallest or {}, figures or FiguresSection(), ms_per_bit or {})
    sections, appendix = (_filled(make(page) for make in makers) for makers in (SECTIONS, APPENDIX))
    loader = jinja2.PackageLoader("gardenpath.analysis.reporting", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["statistics"] = _statistics
    environment.filters["code"] = _code
    environment.tests["heading"] = is_heading
    methods = manuscript.methods(tables, software, models)
    warnings = list(dict.fromkeys(badge for section in [*sections, *appendix] for badge in section.badges))
    code = rscript.script(tables, page.files)
    html = environment.get_template("report.html").render(
        title=title,
        warnings=warnings,
        meanings=[text for word, text in MEANINGS.items() if any(word in badge for badge in warnings)],
        facts=dict(facts or {}),
        sections=sections,
        appendix=appendix,
        shared=page.describe_simulated_participants() if any(name not in OF_SENTENCES for name in tables) else (),
        listed=_listed(page),
        methods=methods,
        references=references.cited(" ".join(methods)),
        models=dict(models or {}),
        software=dict(software or {}),
        absent=[*absent, *_empty(page)],
        code=code,
        singles=_singles(page),
    )
    return Report(html, page.drawn, code)


def _filled(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that say or show something."""
    return [section for section in sections if section.sentences or section.exhibits]


def _singles(page: Page) -> str:
    """Return the R code of each model that a policy chose or the study declared, as the engine lme4 fitted it."""
    models, aligned = page.get("models"), page.get("alignment_steps")
    planned = page.get("planned_models")
    chosen = planned.loc[(planned["unit"] == "model") | (planned["policy"] != "declared"), "model_id"]
    models = models[models["model_id"].isin(chosen)].assign(model=models["model_id"])
    rows = [row for fits in (models, aligned) for row in list_rows(fits[fits["kept"].astype(bool)].dropna(subset="code"))]
    return "\n".join(f"# {row['model']}\n{row['code']}" for row in rows)


def _empty(page: Page) -> list[str]:
    """Return a line for each kind of data of which a table is there, and nothing in it."""
    return [line for name, line in EMPTY.items() if name in page.tables and page.get(name).empty]


MEANINGS = {  # of a word in a warning
    "simulated": "Numbers marked as simulated are no findings about people.",
    "unknown": "Nobody can tell whether the numbers are people's or simulated: the table sessions is not there.",
    "toy": "Those of a toy are no findings about a real language model.",
    ALARM: f"{surprisal.MISALIGNED.capitalize()}: find out why before reading on.",
}
EMPTY = {
    "readings": "reading times: nobody read word by word in this study",
    "responses": "ratings and other answers: nobody was asked for any in this study",
    "sessions": "participants: nobody has taken part yet",
}


def _statistics(sentence: str) -> "Markup":
    """Return a sentence as HTML with its statistics set as APA has them: symbols in italics, no line break inside."""
    from markupsafe import Markup, escape

    text = re.sub(r"\b(p|r)_(BH|Holm|pb)\b", r"<i>\1</i><sub>\2</sub>", str(escape(sentence)))
    text = re.sub(r"\b([btzprF])(?=\(\d| = | &lt; | ≥ )", r"<i>\1</i>", text)
    return Markup(re.sub(r" (=|&lt;|≥) ", "\u00a0\\1\u00a0", text))


def _code(text: str) -> "Markup":
    """Return a text as HTML with what stands between backquotes set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _listed(page: Page) -> list[Exhibit]:
    """Return the head of every table there is, for the list at the end."""
    exhibits = []
    for name in TABLES:
        if name in page.tables:
            header, rows = cells_of(page.get(name).head(HEAD))
            caption = f"{name}: one row is {TABLES[name].row}."
            total = len(page.get(name))
            exhibits.append(Exhibit(caption, page.file(name), page.badges(name), header=header, rows=rows, total=total))
    return exhibits
