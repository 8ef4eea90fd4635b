"""The ledger of exclusions: each rule in the order applied, with the rows before, excluded and after."""

from typing import Any

import pandas as pd

from gardenpath.study import TABLES, DataError, check

ALL = "all"  # in the column condition: all conditions together


class Ledger:
    """Rows of an exclusions table while rules are being applied; the one place here that remembers."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def step(self, rule: str, **kept: tuple[pd.DataFrame, "pd.Series[bool]"]) -> list[pd.DataFrame]:
        """Return each table's kept rows and note the rule with its counts: of all rows, then of each condition's.

        >>> ledger = Ledger()
        >>> times = pd.DataFrame({"participant": ["P1", "P2"], "condition": ["a", "b"], "rt": [50, 300]})
        >>> [left] = ledger.step("below 100 ms", readings=(times, times["rt"] >= 100))
        >>> [(row["condition"], row["excluded"], row["participants_after"]) for row in ledger.rows]
        [('all', 1, 1), ('a', 1, 0), ('b', 0, 1)]
        """
        number = 1 + max((int(str(row["step"])) for row in self.rows), default=-1)
        for name, (frame, keep) in kept.items():
            of, conditions = (
                pd.factorize(frame["condition"], sort=True) if "condition" in frame else (None, pd.Index([]))
            )
            kept_rows = keep.loc[frame.index].to_numpy(dtype=bool)
            people = pd.factorize(frame["participant"])[0] if "participant" in frame else None
            for code, condition in enumerate([ALL, *conditions], start=-1):
                self.rows.append({"step": number, "table": name, "condition": condition, "rule": rule})
                self.rows[-1] |= _counts(condition == ALL or of == code, kept_rows, people)
        return [frame[keep] for frame, keep in kept.values()]

    def table(self, name: str = "exclusions") -> pd.DataFrame:
        """Return the ledger as the declared table `name`; where that has no conditions, the rows of all together."""
        rows = pd.DataFrame(self.rows)
        names = TABLES[name].names
        return check((rows if "condition" in names else rows[rows["condition"] == ALL])[names], name)


def _counts(among: Any, kept: Any, people: Any) -> dict[str, int]:
    """Return rows and participants before and after, `among` these rows."""
    import numpy as np

    before = np.broadcast_to(among, kept.shape)
    after = before & kept
    persons = [0 if people is None else len(np.unique(people[rows])) for rows in (before, after)]
    return {
        "before": int(before.sum()),
        "excluded": int(before.sum() - after.sum()),
        "after": int(after.sum()),
        "participants_before": persons[0],
        "participants_after": persons[1],
    }


def complete(
    sessions: pd.DataFrame, ledger: Ledger, *, with_models: bool = False, **tables: pd.DataFrame
) -> list[pd.DataFrame]:
    """Return the rows of `tables` from complete sessions that count; one that `sessions` lacks is a `DataError`.

    Not counted are previews, sessions that the experimenter marked so (column `excluded`), and, unless `with_models`, those of
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
    of_people = sessions["source"] != "model"
    rules = {
        "session not complete": sessions["complete"].astype(bool),
        "session of the experimenter's own (preview)": sessions["source"] != "preview",
        "session that the experimenter marked as not counting": sessions["excluded"].isna(),
    }
    if of_people.any() and not of_people.all() and not with_models:
        rules["session of a language model, beside people's"] = of_people
    frames = {"sessions": sessions, **tables}
    for rule, counts in rules.items():
        left = set(sessions.loc[counts, "session"])
        parts = {name: (frame, frame["session"].isin(left)) for name, frame in frames.items()}
        frames = dict(zip(frames, ledger.step(rule, **parts), strict=True))
        if frames["sessions"].empty:
            why = "is complete" if rule == "session not complete" else "counts"
            raise DataError(f"table sessions: none of {len(sessions)} sessions {why}, so there is nothing to analyse")
    return [frames[name] for name in tables]


def in_band(rt: pd.Series, min_rt: float, max_rt: float) -> "pd.Series[bool]":
    """Return whether each reading time lies within [min_rt, max_rt] ms, both ends included."""
    if not 0 <= min_rt < max_rt:
        raise ValueError(f"reading times from {min_rt:g} to {max_rt:g} ms: expected 0 <= min_rt < max_rt")
    return rt.between(min_rt, max_rt)
