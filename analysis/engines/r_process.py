"""The process in which R runs: asked in lines of JSON, answering in lines of JSON; rows come as CSV files.

Run by its path, without the rest of gardenpath, so that R starts sooner. pymer4 fits `lmer` and computes `emmeans`;
R functions in fits.R read rows, describe models, and fit what is not `lmer`.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

REQUIRED_PACKAGES = ("lme4", "lmerTest", "emmeans", "broom", "broom.mixed", "insight", "parameters", "performance", "tibble")


def main() -> None:
    """Answer each line of standard input with one of standard output until the input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever R or a package prints must not stand between answers
    try:
        handle_request = RInterpreter().handle_request
        print(json.dumps({"value": "ready"}), file=output, flush=True)
    except Exception as error:
        kind = "absent" if isinstance(error, LookupError) else "failed"
        print(json.dumps({kind: str(error)}), file=output, flush=True)
        return
    for line in sys.stdin:
        print(json.dumps(handle_request(json.loads(line))), file=output, flush=True)


class RPackage:
    """An R package whose functions become Python's when they are asked for.

    rpy2's `importr` makes all of a package at once. Those of the packages that pymer4 names are thirty thousand, which takes
    tens of seconds, twice, since each is released when the process ends; a handful is called. A package that is absent, as
    `report` is from Debian, is missed only by who asks for its functions.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return what R has under this name, underlines standing for dots."""
        import rpy2.robjects as ro

        return ro.r["part_of"](self._name, name)


class RInterpreter:
    """R with pymer4 loaded; `handle_request` is all that is asked of it."""

    def __init__(self) -> None:
        import rpy2.robjects as ro
        from rpy2.rinterface_lib import callbacks
        from rpy2.robjects import packages

        self.console: list[str] = []
        callbacks.consolewrite_warnerror = self.console.append
        callbacks.consolewrite_print = lambda text: None
        self.ro = ro
        self.r = ro.r
        self.r("options(warn = 1, width = 10000)")  # each warning at once, and in one line
        self.r["source"](str(Path(__file__).with_name("fits.R")))
        missing_packages = [
            name
            for name, is_installed in zip(REQUIRED_PACKAGES, self.r["installed"](ro.StrVector(REQUIRED_PACKAGES)), strict=True)
            if not is_installed
        ]
        if missing_packages:
            raise LookupError(", ".join(missing_packages))
        packages.importr = RPackage
        from pymer4.tidystats.emmeans_lib import emmeans
        from pymer4.tidystats.lmerTest import lmer

        self.lmer, self.emmeans = lmer, emmeans

    def handle_request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the value asked for and what R printed to its console meanwhile, or R's error as text."""
        from rpy2.rinterface_lib.embedded import RRuntimeError

        self.console.clear()
        what = request.pop("what")
        try:
            if what in ("model", "marginal"):
                value = (self.fit_model if what == "model" else self.compute_contrasts)(**request)
            else:
                value = convert_from_r(self.r[what](**{k: self.convert_to_r(v) for k, v in request.items()}))
        except RRuntimeError as error:
            return {"error": re.sub(r"^Error in .*? : ", "", " ".join(str(error).split()))}
        return {"value": value, "console": parse_console(self.console)}

    def fit_model(self, optimizer: str, **rows: Any) -> Any:
        """Return a fit of lmerTest's lmer, or of glmer, described."""
        return convert_from_r(self.r["described"](self._fit_rows(optimizer, **rows)))

    def compute_contrasts(self, optimizer: str, of: str, by: list[str], method: str, adjust: str, **rows: Any) -> Any:
        """Return contrasts between the levels of a factor, averaged over what is not in `by`."""
        model = self._fit_rows(optimizer, **rows)
        # With dots: as lmer_df, which pymer4 itself passes, emmeans does not know it and takes Kenward-Roger. Above
        # lmerTest.limit rows it would pass to z tests without a word.
        options = {"lmer.df": "satterthwaite", "lmerTest.limit": 1e9, "adjust": adjust}
        within = {"by": self.ro.StrVector(by)} if by else {}
        return self.emmeans(model, of, contrasts=method, **within, **options).to_dict(as_series=False)

    def _fit_rows(self, optimizer: str, path: str, numeric: list[str], formula: str, family: str = "gaussian") -> Any:
        rows = self.r["rows_from"](path, self.ro.StrVector(numeric))
        if family == "binomial":
            return self.r["binomial_model"](self.ro.Formula(formula), rows, optimizer)
        return self.lmer(self.ro.Formula(formula), rows, control=self.r["optimized_by"](optimizer))

    def convert_to_r(self, value: Any) -> Any:
        """Return a Python value as R's."""
        return self.ro.StrVector(value) if isinstance(value, list) else value


def convert_from_r(value: Any) -> Any:
    """Return R's list or vector as Python's; a missing number as NaN."""
    import rpy2.robjects as ro

    if isinstance(value, ro.ListVector):
        return {name: convert_from_r(part) for name, part in zip(value.names, value, strict=True)}
    if value is ro.NULL:
        return []
    return [v.item() if hasattr(v, "item") else v for v in value]


def parse_console(chunks: list[str]) -> list[str]:
    """Return the warnings and messages that R wrote to its console, each once and without its call."""
    lines = "".join(chunks).splitlines()
    texts = [re.sub(r"^Warning( in .*? ?)?: ?", "", line).strip() for line in lines]
    return list(dict.fromkeys(text for text in texts if text))


if __name__ == "__main__":
    main()
