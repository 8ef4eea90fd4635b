"""Which tables of results are written, and which of a run before go."""

from pathlib import Path

import pandas as pd

from gardenpath.study.table_files import select_filled


def test_what_has_no_rows_now_goes_and_what_another_run_added_stays(tmp_path: Path) -> None:
    for name in ("accuracy", "rankings", "exclusions"):
        (tmp_path / f"{name}.csv").write_text("of before\n")
    tables = {"pairs": pd.DataFrame({"item": ["i1"]}), "accuracy": pd.DataFrame()}
    assert [*select_filled(tables, tmp_path)] == ["pairs"]
    assert {path.stem for path in tmp_path.iterdir()} == {"rankings", "exclusions"}, "models are evaluated one after the other"
    select_filled(tables, tmp_path, is_whole_run=True)
    assert {path.stem for path in tmp_path.iterdir()} == {"exclusions"}, "another command's stay"
