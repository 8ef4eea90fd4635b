"""What every model gives, whatever is behind it."""

import numpy as np
import pytest

from gardenpath.lmscore import TokenTable
from gardenpath.lmscore.models.interface import COLUMNS

pytestmark = pytest.mark.lm

TEXTS = ["No student has ever complained about the exams.", "The cat", "a"]


def column(table: TokenTable, name: str) -> np.ndarray:
    """The numbers of a column: `logprob` without its last row, which is `end`."""
    if name in ("logprob", "end"):
        return table.logprob[:-1] if name == "logprob" else table.logprob[-1:]
    return getattr(table, name)


@pytest.mark.parametrize("asked", [[name] for name in COLUMNS] + [["logprob", "entropy"], ["end", "log_boundary"]])
def test_columns_asked_for_equal_those_of_the_full_table_and_the_others_are_nan(model, asked):
    encoded = [model.encode(text) for text in TEXTS]
    for part, full in zip(model.forward(encoded, columns=asked), model.forward(encoded), strict=True):
        for name in COLUMNS:
            if name in asked:
                np.testing.assert_allclose(column(part, name), column(full, name), atol=1e-10)
            else:
                assert np.isnan(column(part, name)).all()


def test_unknown_columns_are_refused(model):
    with pytest.raises(ValueError, match="column 'rank'; expected one or more of logprob, end"):
        model.forward([model.encode("a")], columns=["rank"])
    with pytest.raises(ValueError, match="column missing"):
        model.forward([model.encode("a")], columns=[])


def test_finished_tables_are_handed_over_batch_by_batch(model):
    texts = [" ".join([word] * 60) for word in ("cat", "mat", "table")]
    encoded = [model.encode(text) for text in [*texts, *texts]]
    batches, seen = [], []
    tables = model.forward(
        encoded, batch_tokens=1, on_finished=batches.append, progress=lambda done, total: seen.append((done, total))
    )
    sizes = [len(batch) for batch in batches]
    assert len(sizes) > 1
    assert seen == [(sum(sizes[: k + 1]), 3) for k in range(len(sizes))]
    assert seen[-1] == (3, 3)
    handed = {table.encoded_text.ids: table.logprob.tolist() for batch in batches for table in batch}
    assert handed == {table.encoded_text.ids: table.logprob.tolist() for table in tables}
