"""How token sequences are laid out for a forward pass: windows of long texts, rows that share prefixes, batches.

In a row with shared prefixes each distinct prefix stands once: the sequences, sorted, form a tree, written depth first.
A node sees exactly its ancestors, and those are the earlier nodes whose subtree has not ended; its position is its depth.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..tokens.encoding import EncodedText

END_TARGET = -1  # the target of a sequence's last position: the end of the text
MIN_SHARED_NODES = 4  # nodes that paths have in common at least where these are computed first: two passes cost more than one
MAX_INDEX = np.iinfo(np.int64).max


class TokenPath(NamedTuple):
    """A sequence to feed. From position `first` on, each position predicts one of `targets`.

    The predictions are the rows of text number `text` from `row` on; `opening` is that of the text for row 0, else "".
    """

    text: int
    ids: tuple[int, ...]
    first: int
    row: int
    targets: tuple[int, ...]
    opening: str
    source_ids: tuple[int, ...] = ()


def build_paths(number: int, text: EncodedText, window: int | None, repeated: tuple[int, ...], end: bool) -> list[TokenPath]:
    """Return what to feed so that each token of a text is predicted, and with `end` what follows the last one.

    A text longer than `window` is cut into windows that begin half a window apart, and each token is predicted in the
    earliest that holds it, which gives it most context; later windows begin with the token `repeated`, if any.
    """
    whole = (*text.context_ids, *text.ids)
    targets = (*text.ids, END_TARGET)[: len(text.ids) + end]
    first, stop = len(text.context_ids) - 1, len(text.context_ids) - 1 + len(targets)
    if window is None or stop <= window:
        return [TokenPath(number, whole[:stop], first, 0, targets, text.opening, text.source_ids)]
    stride = max(1, window // 2)
    windows: list[TokenPath] = []
    start, done = 0, first
    while done < stop:
        head = repeated if start else ()
        until = min(stop, start + window - len(head))
        if until > done:
            ids = (*head, *whole[start:until])
            row = done - first
            asked = targets[row : until - first]
            windows.append(
                TokenPath(number, ids, len(head) + done - start, row, asked, "" if row else text.opening, text.source_ids)
            )
            done = until
        start += stride + (0 if start else len(repeated))
    return windows


@dataclass
class PackedRow:
    """Paths that are computed in one row: of each, `shared_lengths` says how many of its first nodes the one before has."""

    paths: list[TokenPath]
    shared_lengths: list[int]
    size: int


def build_single_rows(paths: Iterable[TokenPath]) -> list[PackedRow]:
    """Return a row for each path."""
    return [PackedRow([path], [0], len(path.ids)) for path in paths]


def build_shared_rows(paths: Iterable[TokenPath], capacity: int) -> list[PackedRow]:
    """Return rows of at most `choose_capacity` nodes in which common prefixes stand once."""
    rows: list[PackedRow] = []
    for path in sorted(paths, key=lambda path: path.ids):
        size = len(path.ids)
        common = _count_common(rows[-1].paths[-1].ids, path.ids) if rows else 0
        if not rows or rows[-1].size + size - common > capacity:
            rows.append(PackedRow([path], [0], size))
        else:
            rows[-1].paths.append(path)
            rows[-1].shared_lengths.append(common)
            rows[-1].size += size - common
    return rows


@dataclass
class PathGroup:
    """Paths that begin with the same `shared_length` nodes, which are computed once and continued."""

    paths: list[TokenPath]
    shared_length: int

    @property
    def size(self) -> int:
        """The positions that it takes in a batch."""
        return self.shared_length + len(self.paths) * (max(len(path.ids) for path in self.paths) - self.shared_length)


def group_paths(paths: Iterable[TokenPath], most: int) -> tuple[list[list[PathGroup]], list[TokenPath]]:
    """Return groups of at most `most` positions that save the most, those that share equally many nodes together; other paths.

    Lengths of which there is not enough to fill a quarter of a batch are left to rows of their own, which are computed faster.
    """
    found: list[PathGroup] = []
    for path in sorted(paths, key=lambda path: path.ids):
        last = found[-1] if found else None
        common = min(_count_common(last.paths[-1].ids, path.ids[:-1]), last.shared_length) if last else 0
        joined = PathGroup([*last.paths, path], common) if last and common >= MIN_SHARED_NODES else None
        if last and joined and joined.size <= most and len(last.paths) * common > (len(last.paths) - 1) * last.shared_length:
            found[-1] = joined
        else:
            found.append(PathGroup([path], len(path.ids) - 1))  # its last node at least stays its own
    lengths: dict[int, list[PathGroup]] = {}
    for group in found:
        lengths.setdefault(group.shared_length if len(group.paths) > 1 else 0, []).append(group)
    alone = lengths.pop(0, [])
    full = [lengths[shared] for shared in sorted(lengths) if sum(g.size for g in lengths[shared]) >= most // 4]
    alone += [group for shared in lengths for group in lengths[shared] if lengths[shared] not in full]
    return full, [path for group in alone for path in group.paths]


def choose_capacity(paths: Sequence[TokenPath], least: int, most: int, width: int) -> int:
    """Return the size of rows, `least` doubled up to `most`, in which shared prefixes cost the least work.

    Each row repeats the prefixes it shares with the row before, and each of its nodes attends to the whole row: to `6 * width`
    positions at the cost of its weights. Longer rows are taken where they spare a twentieth.
    """
    if max(map(len, (path.ids for path in paths)), default=0) <= least // 2:
        return least
    ordered = sorted(path.ids for path in paths)
    sizes = [len(ids) for ids in ordered]
    common = [0, *(_count_common(*pair) for pair in itertools.pairwise(ordered))]
    best, size = least, least
    spent = _estimate_work(sizes, common, size, 6 * width)
    while size < most and size < 2 * sum(sizes):
        size *= 2
        work = _estimate_work(sizes, common, size, 6 * width)
        if work < 0.95 * spent:
            best, spent = size, work
    return best


def _estimate_work(sizes: Sequence[int], common: Sequence[int], capacity: int, free_width: int) -> float:
    """Return the positions that rows of a capacity compute, longer sequences alone, each with what its attention costs."""
    total, filled, shared = 0.0, 0, MAX_INDEX
    for size, with_last in zip(sizes, common, strict=True):
        shared = min(shared, with_last)
        if size > capacity:
            total += size * (1 + size / free_width)
            continue
        if filled and filled + size - shared <= capacity:
            filled += size - shared
        else:
            total += filled * (1 + filled / free_width)
            filled = size
        shared = MAX_INDEX
    return total + filled * (1 + filled / free_width)


def _count_common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the common prefix."""
    for length, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return length
    return min(len(one), len(other))


@dataclass(frozen=True)
class RowLayout:
    """A batch of rows as arrays.

    `ids`, `positions` and `subtree_ends` have a row for each row and a column for each place in it: token, depth and the place
    at which the node's subtree ends. `lengths` counts the filled places. `nodes` are the places (row-major) whose
    predictions are wanted, each once; prediction k is `targets[k]` at `nodes[sources[k]]`, path after path.
    """

    paths: tuple[TokenPath, ...]
    ids: np.ndarray
    positions: np.ndarray
    subtree_ends: np.ndarray
    lengths: np.ndarray
    nodes: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


def lay_out_rows(rows: Sequence[PackedRow]) -> RowLayout:
    """Return the arrays of a batch of rows."""
    paths = [path for row in rows for path in row.paths]
    lengths = np.array([len(path.ids) for path in paths])
    shared = np.array([common for row in rows for common in row.shared_lengths])
    sizes = np.array([row.size for row in rows])
    longest, width = int(lengths.max()), int(sizes.max())

    # Nodes are numbered through the batch; of path p those from `shared` on are new, and the first is number base[p].
    base = np.concatenate([[0], np.cumsum(lengths - shared)])
    depth = np.arange(longest)
    is_new = (depth >= shared[:, None]) & (depth < lengths[:, None])
    # A path has its node at some depth from the last path that was new there or above.
    cut = depth >= shared[:, None]
    source = np.maximum.accumulate(np.where(cut, np.arange(len(paths))[:, None], 0), axis=0)
    number = base[source] + depth - shared[source]
    # A subtree ends where the next path begins that shares less than its root's depth.
    begins = np.where(cut, base[:-1, None], MAX_INDEX)
    ends = np.minimum.accumulate(begins[::-1], axis=0)[::-1]
    ends = np.minimum(np.vstack([ends[1:], np.full((1, longest), MAX_INDEX)]), base[-1])

    owner = np.repeat(np.arange(len(rows)), sizes)
    start = np.cumsum(sizes) - sizes
    column = np.arange(base[-1]) - start[owner]
    flat = np.full((len(paths), longest), 0)
    flat[depth < lengths[:, None]] = np.concatenate([path.ids for path in paths])
    ids = np.full((len(rows), width), paths[0].ids[0])
    positions = np.zeros((len(rows), width), dtype=np.int64)
    until = np.tile(np.arange(1, width + 1), (len(rows), 1))  # what fills a row up is seen by nobody
    ids[owner, column] = flat[is_new]
    positions[owner, column] = np.broadcast_to(depth, is_new.shape)[is_new]
    until[owner, column] = ends[is_new] - start[owner]

    firsts = np.array([path.first for path in paths])
    asked = (depth >= firsts[:, None]) & (depth < lengths[:, None])
    wanted, sources = np.unique(number[asked], return_inverse=True)
    return RowLayout(
        paths=tuple(paths),
        ids=ids,
        positions=positions,
        subtree_ends=until,
        lengths=sizes,
        nodes=owner[wanted] * width + column[wanted],
        sources=sources,
        targets=np.concatenate([path.targets for path in paths]).astype(np.int64),
    )


@dataclass(frozen=True)
class CachedLayout(RowLayout):
    """A row that goes on from the `cached_length` nodes in a network's `cache`, which it sees all."""

    cached_length: int
    cache: Any


@dataclass(frozen=True)
class PrefixLayout:
    """A batch of groups that share equally many nodes: `prefix_ids` is what they share, `continuation_ids` how each path goes on.

    `group_of_path` is the group of each path. `nodes` count the places of `prefix_ids`, row by row, and then those of
    `continuation_ids`; the others are those of `RowLayout`.
    """

    paths: tuple[TokenPath, ...]
    prefix_ids: np.ndarray
    continuation_ids: np.ndarray
    group_of_path: np.ndarray
    nodes: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


def lay_out_groups(groups: Sequence[PathGroup]) -> PrefixLayout:
    """Return the arrays of a batch of groups that share equally many nodes."""
    shared = groups[0].shared_length
    paths = [path for group in groups for path in group.paths]
    whose = np.repeat(np.arange(len(groups)), [len(group.paths) for group in groups])
    width = max(len(path.ids) for path in paths) - shared
    after = np.full((len(paths), width), paths[0].ids[0])
    asked = []
    for number, path in enumerate(paths):
        after[number, : len(path.ids) - shared] = path.ids[shared:]
        depth = np.arange(path.first, len(path.ids))
        own = len(groups) * shared + number * width + depth - shared
        asked.append(np.where(depth < shared, whose[number] * shared + depth, own))
    nodes, sources = np.unique(np.concatenate(asked), return_inverse=True)
    return PrefixLayout(
        paths=tuple(paths),
        prefix_ids=np.array([group.paths[0].ids[:shared] for group in groups]),
        continuation_ids=after,
        group_of_path=whose,
        nodes=nodes,
        sources=sources,
        targets=np.concatenate([path.targets for path in paths]).astype(np.int64),
    )


def iterate_paths(layout: RowLayout | PrefixLayout) -> Iterator[tuple[TokenPath, slice]]:
    """Yield each path with the place of its predictions."""
    done = 0
    for path in layout.paths:
        yield path, slice(done, done + len(path.targets))
        done += len(path.targets)
