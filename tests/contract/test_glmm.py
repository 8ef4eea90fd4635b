"""glmm, a beta of one author, is what its pin says: its files' hashes, its licence, and fits that were published of lme4.

A new version is taken by .ci/glmm.txt and pyproject.toml together, and has to pass this.
"""

import importlib.metadata
import re
import sys
import tomllib

import pandas as pd
import pytest

from gardenpath import analysis
from gardenpath.analysis.engines.formulas import parse_formula
from gardenpath.analysis.engines.glmm_engine import estimate_model
from gardenpath.analysis.modelling.mixed_models import columns_of
from gardenpath.study import DataError, MissingExtra

from ..conftest import ROOT

PINNED = (ROOT / ".ci" / "glmm.txt").read_text()
# Bates et al. (2015, doi 10.18637/jss.v067.i01), sections 1 and 5: reaction times (ms) of 18 subjects on ten days of little sleep.
SLEEP = """
249.5600 258.7047 250.8006 321.4398 356.8519 414.6901 382.2038 290.1486 430.5853 466.3535
222.7339 205.2658 202.9778 204.7070 207.7161 215.9618 213.6303 217.7272 224.2957 237.3142
199.0539 194.3322 234.3200 232.8416 229.3074 220.4579 235.4208 255.7511 261.0125 247.5153
321.5426 300.4002 283.8565 285.1330 285.7973 297.5855 280.2396 318.2613 305.3495 354.0487
287.6079 285.0000 301.8206 320.1153 316.2773 293.3187 290.0750 334.8177 293.7469 371.5811
234.8606 242.8118 272.9613 309.7688 317.4629 309.9976 454.1619 346.8311 330.3003 253.8644
283.8424 289.5550 276.7693 299.8097 297.1710 338.1665 332.0265 348.8399 333.3600 362.0428
265.4731 276.2012 243.3647 254.6723 279.0244 284.1912 305.5248 331.5229 335.7469 377.2990
241.6083 273.9472 254.4907 270.8021 251.4519 254.6362 245.4523 235.3110 235.7541 237.2466
312.3666 313.8058 291.6112 346.1222 365.7324 391.8385 404.2601 416.6923 455.8643 458.9167
236.1032 230.3167 238.9256 254.9220 250.7103 269.7744 281.5648 308.1020 336.2806 351.6451
256.2968 243.4543 256.2046 255.5271 268.9165 329.7247 379.4445 362.9184 394.4872 389.0527
250.5265 300.0576 269.8939 280.5891 271.8274 304.6336 287.7466 266.5955 321.5418 347.5655
221.6771 298.1939 326.8785 346.8555 348.7402 352.8287 354.4266 360.4326 375.6406 388.5417
271.9235 268.4369 257.2424 277.6566 314.8222 317.2135 298.1353 348.1229 340.2800 366.5131
225.2640 234.5235 238.9008 240.4730 267.5373 344.1937 281.1481 347.5855 365.1630 372.2288
269.8804 272.4428 277.8989 281.7895 279.1705 284.5120 259.2658 304.6306 350.7807 369.4692
269.4117 273.4740 297.5968 310.6316 287.1726 329.6076 334.4818 343.2199 369.1417 364.1236
"""
# Bates (2010, lme4: Mixed-effects modeling with R, section 2.1): diameters (mm) on 24 plates (a row each) of six samples.
PENICILLIN = """
27 23 26 23 23 21
27 23 26 23 23 21
25 21 25 24 24 20
26 23 25 23 23 20
25 22 26 22 23 20
24 22 25 23 22 19
24 20 23 21 22 19
26 22 26 24 24 21
24 21 24 22 22 20
24 21 24 23 22 19
26 23 26 24 24 21
25 22 26 24 24 20
26 24 26 24 25 22
26 23 26 23 23 20
26 23 25 24 24 22
25 22 25 23 23 20
25 21 24 23 23 20
25 22 24 23 23 19
24 21 23 21 21 19
26 23 26 24 24 21
25 21 24 22 22 18
25 22 25 22 22 20
24 21 24 22 24 19
24 21 24 22 21 18
"""


def table(text: str, row: str, column: str, value: str) -> pd.DataFrame:
    """Return numbers in rows and columns as a table of one number a row."""
    lines = [[float(cell) for cell in line.split()] for line in text.strip().splitlines()]
    return pd.DataFrame([(f"r{r}", c, y) for r, line in enumerate(lines) for c, y in enumerate(line)], columns=[row, column, value])


def test_pyproject_pins_the_version_whose_hashes_are_recorded() -> None:
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [pinned] = [need for need in needs if need.startswith("glmm")]
    assert re.findall(r"^glmm==\S+", PINNED, re.MULTILINE) == [pinned]
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}(?![0-9a-f])", PINNED))) == 4
    assert pinned in (ROOT / "analysis" / "engines" / "glmm_engine.py").read_text(), "what to install where it is missing"
    assert importlib.metadata.version("glmm") == pinned.removeprefix("glmm==")
    assert "--require-hashes --requirement .ci/glmm.txt" in (ROOT / "Makefile").read_text()


def test_its_licence_is_the_one_that_the_docs_name() -> None:
    licence = importlib.metadata.metadata("glmm")["License-Expression"]
    assert licence == "LGPL-3.0-or-later"
    for page in ("install.md", "decisions.md"):
        assert licence in (ROOT / "docs" / page).read_text(), page


def test_published_fit_with_correlated_slopes() -> None:
    rows = table(SLEEP, "subject", "days", "reaction")
    formula = parse_formula("reaction ~ days + (1 + days|subject)")
    found = estimate_model(columns_of(rows, formula), formula)
    fixed = found.coefficients.set_index("term")
    assert fixed["estimate"].to_dict() == pytest.approx({"intercept": 251.405, "days": 10.467}, abs=5e-4)
    assert fixed["se"].to_dict() == pytest.approx({"intercept": 6.825, "days": 1.546}, abs=5e-4)
    assert fixed["df"].to_dict() == pytest.approx({"intercept": 17.0, "days": 17.0}, abs=5e-3)  # lmerTest's
    assert [one.sd for one in found.variances] == pytest.approx([24.741, 5.922], abs=1e-3)
    assert found.residual == pytest.approx(25.592, abs=5e-4)
    assert found.criterion == pytest.approx(1743.628, abs=5e-4)


def test_published_fit_with_crossed_groups() -> None:
    rows = table(PENICILLIN, "plate", "sample", "diameter").astype({"sample": str})
    formula = parse_formula("diameter ~ 1 + (1|plate) + (1|sample)")
    found = estimate_model(columns_of(rows, formula), formula)
    assert found.coefficients["estimate"].tolist() == pytest.approx([22.9722], abs=5e-5)
    assert found.coefficients["se"].tolist() == pytest.approx([0.8086], abs=5e-5)
    assert sorted(one.sd for one in found.variances) == pytest.approx([0.8467, 1.9316], abs=5e-5)
    assert found.residual == pytest.approx(0.5499, abs=5e-5)
    assert found.criterion == pytest.approx(330.8606, abs=5e-5)


@pytest.fixture
def without_glmm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `import glmm` fail."""
    monkeypatch.setitem(sys.modules, "glmm", None)


@pytest.mark.usefixtures("without_glmm")
def test_where_it_cannot_be_imported_a_line_says_what_to_do() -> None:
    rows = table(PENICILLIN, "plate", "sample", "diameter").astype({"sample": str})
    with pytest.raises(MissingExtra, match=r"pip install 'glmm==.*engine = \"lme4\" under \[analysis\]") as raised:
        analysis.fit(rows, "diameter ~ 1 + (1|plate) + (1|sample)")
    assert "\n" not in str(raised.value)
    with pytest.raises(DataError, match="no column"):  # what is wrong with the data is said all the same
        analysis.fit(rows, "width ~ 1 + (1|plate)")
