"""The R code of a fit, to be run by whoever doubts it."""

from collections.abc import Mapping

from . import r_session
from .estimates import Columns
from .formulas import Formula

# Of each family: the function, its further arguments, and those of its control.
FITTERS = {"gaussian": ("lmer", "", ""), "binomial": ("glmer", ", family = binomial", ", tolPwrss = 1e-10")}
READ_ROWS_CODE = 'rows <- read.csv("rows.csv", stringsAsFactors = FALSE, check.names = FALSE)'


def format_lmer_code(
    formula: Formula,
    columns: Columns,
    optimizer: str,
    *,
    rows: str = READ_ROWS_CODE,
    codes: Mapping[str, tuple[str, Mapping[str, float]]] | None = None,
    family: str = "gaussian",
) -> str:
    """Return R code that repeats a fit of engine lme4; `rows` is the R code of its data frame `rows`."""
    fitter, more, last = FITTERS[family]
    lines = [f"# {r_session.describe_versions()}", "library(lmerTest)", rows]
    for column, (factor, by) in (codes or {}).items():
        values = ", ".join(f"{quote_text(level)} = {code!r}" for level, code in by.items())
        lines.append(f"rows${column} <- unname(c({values})[as.character(rows${factor})])")
    for name, cells in columns.items():
        if isinstance(cells[0], str):
            lines.append(f"rows${name} <- as.character(rows${name})")
            lines.append(f'rows${name} <- factor(rows${name}, levels = sort(unique(rows${name}), method = "radix"))')
    name, _, algorithm = optimizer.partition(":")
    control = f'optimizer = "{name}"' + (f', optCtrl = list(algorithm = "{algorithm}")' if algorithm else "")
    lines.append(f"model <- {fitter}({formula}, data = rows{more}, control = {fitter}Control({control}{last}))")
    return "\n".join([*lines, "summary(model)", ""])


def quote_text(text: str) -> str:
    """Return a text as R writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
