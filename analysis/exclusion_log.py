"""The ledger of exclusions: each rule in the order applied, with the rows before, excluded and after."""

from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

ALL_CONDITIONS = "all"  # in the column condition: all conditions together


class ExclusionLog:
    """Rows of an exclusions table while rules are being applied; the one place here that remembers."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def apply_rule(self, rule: str, **kept: tuple[pd.DataFrame, "pd.Series[bool]"]) -> list[pd.DataFrame]:
        """Return each table's kept rows and note the rule with its counts: of all rows, then of each condition's.

        >>> ledger = ExclusionLog()
        >>> times = pd.DataFrame({"participant": ["P1", "P2"], "condition": ["a", "b"], "rt": [50, 300]})
        >>> [left] = ledger.apply_rule("below 100 ms", readings=(times, times["rt"] >= 100))
        >>> [(row["condition"], row["n_excluded"], row["n_participants_after"]) for row in ledger.rows]
        [('all', 1, 1), ('a', 1, 0), ('b', 0, 1)]
        """
        number = 1 + max((int(str(row["step"])) for row in self.rows), default=-1)
        for name, (frame, keep) in kept.items():
            condition_codes, conditions = (
                pd.factorize(frame["condition"], sort=True) if "condition" in frame else (None, pd.Index([]))
            )
            kept_rows = keep.loc[frame.index].to_numpy(dtype=bool)
            participant_codes = pd.factorize(frame["participant"])[0] if "participant" in frame else None
            for code, condition in enumerate([ALL_CONDITIONS, *conditions], start=-1):
                self.rows.append({"step": number, "table": name, "condition": condition, "rule": rule})
                self.rows[-1] |= _count_rows(condition == ALL_CONDITIONS or condition_codes == code, kept_rows, participant_codes)
        return [frame.copy(deep=False) if keep.all() else frame[keep] for frame, keep in kept.values()]

    def build_table(self, name: str = "exclusions") -> pd.DataFrame:
        """Return the ledger as the declared table `name`; where that has no conditions, the rows of all together."""
        rows = pd.DataFrame(self.rows)
        names = TABLES[name].column_names
        return check((rows if "condition" in names else rows[rows["condition"] == ALL_CONDITIONS])[names], name)


def _count_rows(selection: Any, is_kept: Any, participant_codes: Any) -> dict[str, int]:
    """Return rows and participants before and after, `selection` these rows."""
    import numpy as np

    before = np.broadcast_to(selection, is_kept.shape)
    after = before & is_kept
    participant_counts = [0 if participant_codes is None else len(np.unique(participant_codes[rows])) for rows in (before, after)]
    return {
        "n_before": int(before.sum()),
        "n_excluded": int(before.sum() - after.sum()),
        "n_after": int(after.sum()),
        "n_participants_before": participant_counts[0],
        "n_participants_after": participant_counts[1],
    }


def select_complete_sessions(
    sessions: pd.DataFrame, exclusion_log: ExclusionLog, *, include_models: bool = False, **tables: pd.DataFrame
) -> list[pd.DataFrame]:
    """Return the rows of `tables` from complete sessions that count; one that `sessions` lacks is a `DataError`.

    Not counted are previews, sessions that the experimenter marked so (column `excluded`), and, unless `include_models`, those of
    language models beside people's.
    """
    known = set(sessions["session"])
    faults = [
        f"table {name}: session {session!r} is not in table sessions; expected each session there"
        for name, frame in tables.items()
        for session in sorted({*frame["session"].unique()} - known)
    ]
    if faults:
        raise DataError(faults)
    is_human = sessions["source"] != "model"
    rules = {
        "session not complete": sessions["complete"].astype(bool),
        "session of the experimenter's own (preview)": sessions["source"] != "preview",
        "session that the experimenter marked as not counting": sessions["exclusion_reason"].isna(),
    }
    if is_human.any() and not is_human.all() and not include_models:
        rules["session of a language model, beside people's"] = is_human
    frames = {"sessions": sessions, **tables}
    for rule, counts in rules.items():
        left = set(sessions.loc[counts, "session"])
        parts = {name: (frame, frame["session"].isin(left)) for name, frame in frames.items()}
        frames = dict(zip(frames, exclusion_log.apply_rule(rule, **parts), strict=True))
        if frames["sessions"].empty:
            why = "is complete" if rule == "session not complete" else "counts"
            raise DataError(f"table sessions: none of {len(sessions)} sessions {why}, so there is nothing to analyse")
    return [frames[name] for name in tables]


def is_within_cutoffs(rt: pd.Series, min_rt: float, max_rt: float) -> "pd.Series[bool]":
    """Return whether each reading time lies within [min_rt, max_rt] ms, both ends included."""
    if not 0 <= min_rt < max_rt:
        raise ValueError(f"reading times from {min_rt:g} to {max_rt:g} ms: expected 0 <= min_rt < max_rt")
    return rt.between(min_rt, max_rt)
