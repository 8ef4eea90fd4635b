"""The process in which R runs: asked in lines of JSON, answering in lines of JSON; rows come as CSV files.

Run by its path, without the rest of gardenpath, so that R starts sooner. pymer4 fits `lmer` and computes `emmeans`;
R functions in fits.R read rows, describe models, and fit what is not `lmer`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

NEEDED = ("lme4", "lmerTest", "emmeans", "broom", "broom.mixed", "insight", "parameters", "performance", "tibble")

# pymer4 loads R's package `report`, which Debian does not have, and calls it only for prose that is not needed here.
STAND_IN = {
    "DESCRIPTION": "Package: report\nVersion: 0.0.0\nTitle: Stand-in\nDescription: Lets pymer4 load.\nLicense: Apache-2.0\n",
    "NAMESPACE": "export(report)\n",
    "R/report.R": 'report <- function(...) stop("the R package report is not installed")\n',
}


def main() -> None:
    """Answer each line of standard input with one of standard output until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever R or a package prints must not stand between answers
    with tempfile.TemporaryDirectory() as library:
        try:
            answer: Callable[[dict[str, Any]], Any] = Session(Path(library)).answer
            print(json.dumps({"value": "ready"}), file=answers, flush=True)
        except Exception as error:
            kind = "absent" if isinstance(error, LookupError) else "failed"
            print(json.dumps({kind: str(error)}), file=answers, flush=True)
            return
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


class Session:
    """R with pymer4 loaded; `answer` is all that is asked of it."""

    def __init__(self, library: Path) -> None:
        import rpy2.robjects as ro
        from rpy2.rinterface_lib import callbacks

        self.console: list[str] = []
        callbacks.consolewrite_warnerror = self.console.append
        callbacks.consolewrite_print = lambda text: None
        self.ro = ro
        self.r = ro.r
        self.r("options(warn = 1, width = 10000)")  # each warning at once, and in one line
        self.r["source"](str(Path(__file__).with_name("fits.R")))
        lacking = [
            name
            for name, is_installed in zip(NEEDED, self.r["installed"](ro.StrVector(NEEDED)), strict=True)
            if not is_installed
        ]
        if lacking:
            raise LookupError(", ".join(lacking))
        if not self.r["installed"]("report")[0]:
            _stand_in(library)
            self.r[".libPaths"](ro.StrVector([str(library), *self.r[".libPaths"]()]))
        from pymer4.tidystats.emmeans_lib import emmeans
        from pymer4.tidystats.lmerTest import lmer

        self.lmer, self.emmeans = lmer, emmeans

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the value asked for and what R printed to its console meanwhile, or R's error as text."""
        from rpy2.rinterface_lib.embedded import RRuntimeError

        self.console.clear()
        what = asked.pop("what")
        try:
            if what in ("model", "marginal"):
                value = (self.model if what == "model" else self.marginal)(**asked)
            else:
                value = plain(self.r[what](**{k: self.to_r(v) for k, v in asked.items()}))
        except RRuntimeError as error:
            return {"error": re.sub(r"^Error in .*? : ", "", " ".join(str(error).split()))}
        return {"value": value, "console": console_lines(self.console)}

    def model(self, optimizer: str, **rows: Any) -> Any:
        """Return a fit of lmerTest's lmer, or of glmer, described."""
        return plain(self.r["described"](self._fitted(optimizer, **rows)))

    def marginal(self, optimizer: str, of: str, by: list[str], method: str, adjust: str, **rows: Any) -> Any:
        """Return contrasts between the levels of a factor, averaged over what is not in `by`."""
        model = self._fitted(optimizer, **rows)
        # With dots: as lmer_df, which pymer4 itself passes, emmeans does not know it and takes Kenward-Roger. Above
        # lmerTest.limit rows it would pass to z tests without a word.
        options = {"lmer.df": "satterthwaite", "lmerTest.limit": 1e9, "adjust": adjust}
        within = {"by": self.ro.StrVector(by)} if by else {}
        return self.emmeans(model, of, contrasts=method, **within, **options).to_dict(as_series=False)

    def _fitted(self, optimizer: str, path: str, numeric: list[str], formula: str, family: str = "gaussian") -> Any:
        rows = self.r["rows_from"](path, self.ro.StrVector(numeric))
        if family == "binomial":
            return self.r["binomial_model"](self.ro.Formula(formula), rows, optimizer)
        return self.lmer(self.ro.Formula(formula), rows, control=self.r["optimized_by"](optimizer))

    def to_r(self, value: Any) -> Any:
        """Return a Python value as R's."""
        return self.ro.StrVector(value) if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return R's list or vector as Python's; a missing number as NaN."""
    import rpy2.robjects as ro

    if isinstance(value, ro.ListVector):
        return {name: plain(part) for name, part in zip(value.names, value, strict=True)}
    if value is ro.NULL:
        return []
    return [v.item() if hasattr(v, "item") else v for v in value]


def console_lines(chunks: list[str]) -> list[str]:
    """Return the warnings and messages that R wrote to its console, each once and without its call."""
    lines = "".join(chunks).splitlines()
    texts = [re.sub(r"^Warning( in .*? ?)?: ?", "", line).strip() for line in lines]
    return list(dict.fromkeys(text for text in texts if text))


def _stand_in(library: Path) -> None:
    source = library / "source" / "report"
    for name, text in STAND_IN.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    command = ["R", "CMD", "INSTALL", "--no-docs", "--no-test-load", f"--library={library}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"R CMD INSTALL of a stand-in for report failed: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
