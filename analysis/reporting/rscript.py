"""R code that refits every mixed model of a report in lme4, from the written tables, and says how far it is from them."""

from collections.abc import Mapping

from ..aligning.alignment_test import SEEN
from ..aligning.predictors import formula, terms
from ..grammatical_status import minimal_pairs
from ..modelling.grammaticality import TERM
from .exhibits import Tables

HEAD = """\
# Refits the mixed models of this report with lme4 and lmerTest, and holds each against its table of results.
# Run it where the report lies:  Rscript {name}
library(lmerTest)

read <- function(file) {{
  if (grepl("[.]parquet$", file)) return(as.data.frame(arrow::read_parquet(file)))
  read.csv(file, stringsAsFactors = FALSE, encoding = "UTF-8")
}}

same <- function(table, one, keys) Reduce(`&`, lapply(keys, function(key) table[[key]] == one[[key]]))

# One row a model: apart is the largest difference between its estimates and those of the table, in standard errors.
refit <- function(file, keys, rows_of, formula = NULL) {{
  table <- read(file)
  table <- table[!is.na(table$estimate), ]
  if (!is.null(table$prompt)) table$prompt[is.na(table$prompt)] <- ""  # of reading times
  if (is.null(table$term)) table$term <- "surprisal_next"
  if (!is.null(formula)) table$formula <- formula
  keys <- c(keys, "formula")
  each <- unique(table[keys])
  refitted <- lapply(seq_len(nrow(each)), function(k) {{
    one <- as.list(each[k, , drop = FALSE])
    ours <- table[same(table, one, keys), ]
    model <- suppressMessages(lmer(as.formula(one$formula), data = rows_of(one), control = control_of(ours$note[1])))
    theirs <- coef(summary(model))[ifelse(ours$term == "intercept", "(Intercept)", ours$term), , drop = FALSE]
    apart <- max(abs(ours$estimate - theirs[, "Estimate"]) / theirs[, "Std. Error"])
    data.frame(table = basename(file), one, n = nobs(model), singular = isSingular(model), apart = signif(apart, 2))
  }})
  do.call(rbind, refitted)
}}

# Where the first optimizer did not converge, the note names the one that did.
control_of <- function(note) {{
  named <- regmatches(note, regexec("nloptwrap did not converge; ([^ ;:]+):?([^ ]*) did", note))[[1]]
  if (length(named) == 0) return(lmerControl())
  lmerControl(optimizer = named[2], optCtrl = if (nzchar(named[3])) list(algorithm = named[3]) else list())
}}
"""
GRAMMATICALITY = """\
pairs <- c({pairs})  # paradigms of grammatical and ungrammatical sentences

rows_of <- function(one) {{
  rows <- if (one$measure == "z")
    ratings[ratings$role == "target" & !is.na(ratings$z) & ratings$prompt == one$prompt, ] else
    times[times$region == one$region, ]
  rows <- rows[rows$phenomenon == one$phenomenon & rows$paradigm %in% pairs, ]
  if (!is.null(one$paradigm)) rows <- rows[rows$paradigm == one$paradigm, ]
  rows${term} <- ifelse(rows$condition == "grammatical", 0.5, -0.5)
  rows$log_trial <- log1p(rows$trial) - mean(log1p(rows$trial))
  if (one$measure == "log_rt") rows$position <- rows$word - mean(rows$word)
  rows
}}
"""
READING = """\
read_words <- function(one) aligned[same(aligned, one, c("model", "protocol")), ]
"""
# The tables of models, what names one in each, and what holds their rows.
OF_GRAMMATICALITY = {
    "phenomenon_models": ("phenomenon", "measure", "region", "prompt", "random"),
    "paradigm_models": ("phenomenon", "paradigm", "measure", "region", "prompt", "random"),
    "chosen_models": ("phenomenon", "measure", "region", "prompt"),
}
OF_READING = ("alignment_models", "lag_profile", "alignment_test")


def script(tables: Tables, files: Mapping[str, str] | None = None, name: str = "report.R") -> str:
    """Return the R code as one script, empty where there are no models whose rows are in tables that are there.

    `files` says where each table lies, seen from where the script runs.
    """
    files = {table: f"{table}.csv" for table in tables} | dict(files or {})
    parts = []
    calls = _grammaticality(tables, files)
    if calls:
        measured = {"rating_scores": "ratings", "region_times": "times"}
        read = [f'{to} <- read("{files[table]}")' for table, to in measured.items() if table in tables]
        pairs = ", ".join(f'"{_escaped(paradigm)}"' for paradigm in minimal_pairs(tables["items"]))
        parts += ["\n".join(read), GRAMMATICALITY.format(pairs=pairs, term=TERM)]
    if "aligned" in tables and any(_fitted(tables, table) for table in OF_READING):
        parts += [f'aligned <- read("{files["aligned"]}")\n{READING}']
        calls += [_reading(table, files[table]) for table in OF_READING if _fitted(tables, table)]
    if not calls:
        return ""
    called = ["refits <- rbind_all(list(", ",\n".join(f"  {call}" for call in calls), "))"]
    called += ['print(refits[setdiff(names(refits), "formula")], row.names = FALSE)']
    return "\n".join([HEAD.format(name=name), *parts, TOGETHER, "\n".join(called), ""])


TOGETHER = """\
options(width = 180, max.print = 100000)
rbind_all <- function(tables) {
  names <- unique(unlist(lapply(tables, names)))
  filled <- lapply(tables, function(table) { table[setdiff(names, names(table))] <- NA; table[names] })
  do.call(rbind, filled)
}
"""


def _grammaticality(tables: Tables, files: Mapping[str, str]) -> list[str]:
    """Return a call for each table of models of grammaticality, if the items, ratings and times are there."""
    if "items" not in tables or not {"rating_scores", "region_times"} & set(tables):
        return []
    return [
        f'refit("{files[table]}", c({", ".join(map(_quoted, keys))}), rows_of)'
        for table, keys in OF_GRAMMATICALITY.items()
        if _fitted(tables, table)
    ]


def _fitted(tables: Tables, name: str) -> bool:
    return name in tables and bool(tables[name]["estimate"].notna().any())


def _reading(table: str, file: str) -> str:
    more = f',\n    formula = "{formula(terms([-1, *SEEN]))}"' if table == "alignment_test" else ""
    return f'refit("{file}", c("model", "protocol"), read_words{more})'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
