"""Rows that share prefixes, and windows of long texts, as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gardenpath.lmscore.models import packing
from gardenpath.lmscore.tokens.encoding import OPENING_BOUNDARY, EncodedText


def encoded(ids, fed=(9,)) -> EncodedText:
    none = (False,) * len(ids)
    return EncodedText(tuple(fed), tuple(ids), ((0, 1),) * len(ids), none, none, OPENING_BOUNDARY)


def paths_of(sequences, end=True):
    return [path for k, ids in enumerate(sequences) for path in packing.build_paths(k, encoded(ids), None, (), end)]


def ancestors(layout: packing.RowLayout, row: int, place: int) -> list[int]:
    """Return the tokens that a place sees, its own last."""
    seen = [k for k in range(place + 1) if place < layout.subtree_ends[row, k]]
    return layout.ids[row, seen].tolist()


SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=12)


@given(SEQUENCES, st.integers(7, 20), st.booleans())
def test_every_prediction_sees_exactly_its_own_path_and_stands_at_its_depth(sequences, capacity, end):
    rows = packing.build_shared_rows(paths_of(sequences, end), capacity)
    assert all(row.size <= capacity for row in rows)
    layout = packing.lay_out_rows(rows)
    width = layout.ids.shape[1]
    assert len(set(layout.nodes.tolist())) == len(layout.nodes)
    for path, predictions in packing.iterate_paths(layout):
        assert path.ids == (9, *sequences[path.text])[: len(path.ids)]
        for depth, k in enumerate(range(predictions.start, predictions.stop)):
            row, place = divmod(int(layout.nodes[layout.sources[k]]), width)
            assert ancestors(layout, row, place) == list(path.ids[: depth + 1])
            assert layout.positions[row, place] == depth
            expected = (*sequences[path.text], packing.END_TARGET)[depth]
            assert layout.targets[k] == expected
    assert sorted(path.text for path in layout.paths) == list(range(len(sequences)))


@given(SEQUENCES)
def test_each_distinct_prefix_stands_once_where_the_row_is_long_enough(sequences):
    layout = packing.lay_out_rows(packing.build_shared_rows(paths_of(sequences), 1000))
    prefixes = {tuple(ids[:k]) for ids in sequences for k in range(len(ids) + 1)}
    assert layout.lengths.tolist() == [len(prefixes)]
    assert len(layout.nodes) == len(prefixes)


@given(SEQUENCES)
def test_what_fills_a_row_up_sees_itself_only(sequences):
    layout = packing.lay_out_rows(packing.build_single_rows(paths_of(sequences)))
    for row, length in enumerate(layout.lengths):
        for place in range(length, layout.ids.shape[1]):
            seen = np.flatnonzero((np.arange(len(layout.ids[row])) <= place) & (place < layout.subtree_ends[row]))
            assert seen.tolist() == [place]


@pytest.mark.parametrize("repeated", [(), (9,)])
@given(length=st.integers(1, 60), window=st.integers(4, 20), context=st.integers(0, 30), end=st.booleans())
def test_windows_predict_every_token_once_with_at_least_half_a_window_of_context(repeated, length, window, context, end):
    text = encoded(range(100, 100 + length), (9, *range(50, 50 + context)))
    whole = (*text.context_ids, *text.ids)
    found = packing.build_paths(0, text, window, repeated, end)
    rows = [(path, k) for path in found for k in range(len(path.targets))]
    assert [path.row + k for path, k in rows] == list(range(length + end))
    for path, k in rows:
        assert len(path.ids) <= window
        row = path.row + k
        place = len(text.context_ids) - 1 + row  # of what is fed last before the prediction
        context_fed = path.ids[: path.first + k + 1]
        own = context_fed if whole[: len(context_fed)] == context_fed else context_fed[len(repeated) :]
        assert own == whole[place + 1 - len(own) : place + 1]
        assert len(own) >= min(place + 1, window // 2 - len(repeated))
        assert path.targets[k] == (*text.ids, packing.END_TARGET)[row]
    if len(whole) <= window:
        assert len(found) == 1


@given(SEQUENCES, st.integers(8, 40))
def test_groups_go_on_from_exactly_what_their_paths_share(sequences, most):
    paths = paths_of(sequences)
    alike, alone = packing.group_paths(paths, most)
    assert sorted(p.text for p in (*alone, *(p for groups in alike for g in groups for p in g.paths))) == [*range(len(paths))]
    for groups in alike:
        assert sum(group.size for group in groups) >= most // 4
        batch = packing.lay_out_groups(groups)
        stacked = np.concatenate([batch.prefix_ids.ravel(), batch.continuation_ids.ravel()])
        for path, place in packing.iterate_paths(batch):
            assert stacked[batch.nodes[batch.sources[place]]].tolist() == list(path.ids)
            assert batch.targets[place].tolist() == list(path.targets)
        for number, path in enumerate(batch.paths):
            before = batch.prefix_ids[batch.group_of_path[number]].tolist()
            assert [*before, *batch.continuation_ids[number]][: len(path.ids)] == list(path.ids)
            assert len(before) >= packing.MIN_SHARED_NODES
