"""The ledger of exclusions: each rule in the order applied, with the rows before, excluded and after."""

import pandas as pd

from gardenpath.study import DataError, check


class Ledger:
    """Rows of an exclusions table while rules are being applied; the one place here that remembers."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def step(self, rule: str, **kept: tuple[pd.DataFrame, "pd.Series[bool]"]) -> list[pd.DataFrame]:
        """Return each table's kept rows and note the rule with the counts of every table it was applied to.

        >>> ledger = Ledger()
        >>> times = pd.DataFrame({"rt": [50, 300]})
        >>> [left] = ledger.step("below 100 ms", readings=(times, times["rt"] >= 100))
        >>> len(left), ledger.rows[0]["excluded"]
        (1, 1)
        """
        number = 1 + max((int(str(row["step"])) for row in self.rows), default=-1)
        for name, (frame, keep) in kept.items():
            after = int(keep.sum())
            self.rows.append(
                {
                    "step": number,
                    "table": name,
                    "rule": rule,
                    "before": len(frame),
                    "excluded": len(frame) - after,
                    "after": after,
                }
            )
        return [frame[keep] for frame, keep in kept.values()]

    def table(self, name: str = "exclusions") -> pd.DataFrame:
        """Return the ledger as the declared table `name`."""
        return check(pd.DataFrame(self.rows), name)


def complete(sessions: pd.DataFrame, ledger: Ledger, **tables: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of `tables` from complete sessions; a session that `sessions` lacks is a `DataError`."""
    known = set(sessions["session"])
    faults = [
        f"table {name}: session {session!r} is not in table sessions; expected each session there"
        for name, frame in tables.items()
        for session in sorted(set(frame["session"]) - known)
    ]
    if faults:
        raise DataError(faults)
    done = set(sessions.loc[sessions["complete"], "session"])
    if not done:
        raise DataError(f"table sessions: none of {len(sessions)} sessions is complete, so there is nothing to analyse")
    parts = {name: (frame, frame["session"].isin(done)) for name, frame in {"sessions": sessions, **tables}.items()}
    return ledger.step("session not complete", **parts)[1:]


def in_band(rt: pd.Series, min_rt: float, max_rt: float) -> "pd.Series[bool]":
    """Return whether each reading time lies within [min_rt, max_rt] ms, both ends included."""
    if not 0 <= min_rt < max_rt:
        raise ValueError(f"reading times from {min_rt:g} to {max_rt:g} ms: expected 0 <= min_rt < max_rt")
    return rt.between(min_rt, max_rt)
