"""Obstacles as a signal meets them: materials, and groups of obstacles that touch each other.

A signal finds no way between two obstacles that touch: parts of a wall, or boxes that make one building. They are one
group, and the way around its sides is that around all of it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.world.scenery import Obstacles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MATERIALS = {"concrete": 15.0, "metal": 100.0, "wood": 5.0, "vegetation": 0.5, "glass": 2.0}
"""Loss of materials, dB per m."""
TOUCH = 0.1  # m: obstacles this near to each other touch
CORNERS = 24  # of the outline of a round obstacle in a group


class Buildings(NamedTuple):
    """The tables of `world.obstacles`, with materials and groups. Obstacles have their numbers in `items`."""

    cells: Floats
    starts: Floats
    items: Floats
    boxes: Floats
    rounds: Floats
    rates: Floats  # (n,) dB/m
    cover: Ints  # (n, 4) first and last column, first and last row of the cells of each
    group: Ints  # (n,) of each
    first: Ints  # (groups + 1,) members of group g: members[first[g] : first[g + 1]], ascending
    members: Ints  # (n,)
    begin: Ints  # (groups + 1,) corners of group g: corners[begin[g] : begin[g + 1]]
    corners: Floats  # (m, 2) of convex outlines; none for groups of one


def no_buildings() -> Buildings:
    """Return the tables of a world without obstacles."""
    none = np.zeros(0, np.int64)
    tables = np.array([[0.0, 0.0, 1.0, 1.0, 1.0]]), np.zeros((1, 2)), np.zeros((1, 1)), np.zeros((0, 9))
    cover, one = np.zeros((0, 4), np.int64), np.zeros(1, np.int64)
    return Buildings(*tables, np.zeros((0, 7)), np.zeros(0), cover, none, one, none, one.copy(), np.zeros((0, 2)))


def buildings_of(obstacles: Obstacles) -> Buildings:
    """Return the tables of obstacles; copies, because writable arrays compile once."""
    n = obstacles.count
    if not n:
        return no_buildings()
    entry = np.concatenate([obstacles.boxes[:, 8], obstacles.rounds[:, 6]]).astype(np.int64)
    group = _connected(obstacles)
    members = np.argsort(group, kind="stable")
    first = np.searchsorted(group[members], np.arange(int(group.max()) + 2))
    outlines = [_outline(obstacles, members[a:b]) for a, b in pairwise(first.tolist())]
    begin = np.concatenate([[0], np.cumsum([len(one) for one in outlines])]).astype(np.int64)
    found: Any = (
        *map(np.array, obstacles.tables),
        *(material_rates(obstacles.entries)[entry], _cover(obstacles), group, first, members, begin),
        np.ascontiguousarray(np.concatenate(outlines)),
    )
    return Buildings(*found)


def material_rates(entries: Sequence[Any]) -> Floats:
    """Return the loss (dB/m) of each entry of a scenario's `world.obstacles`."""
    return np.array([MATERIALS[entry.material] for entry in entries], np.float64)


def _cover(obstacles: Obstacles) -> Ints:
    """Return the first and last columns and rows (n, 4) of the cells of each obstacle."""
    columns = int(obstacles.cells[0, 3])
    starts, items = obstacles.starts[0].astype(np.int64), obstacles.items[0].astype(np.int64)
    cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    cover = np.zeros((obstacles.count, 4), np.int64)
    cover[:, ::2] = len(starts)
    for k, place in ((0, cell % columns), (2, cell // columns)):
        np.minimum.at(cover[:, k], items, place)
        np.maximum.at(cover[:, k + 1], items, place)
    return cover


def _connected(obstacles: Obstacles) -> Ints:
    """Return the group (n,) of each obstacle; groups have the order of their first obstacles."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, boxes = obstacles.count, len(obstacles.boxes)
    a, b = _neighbours(obstacles)
    low = np.concatenate([obstacles.boxes[:, 2], obstacles.rounds[:, 2]])
    high = np.concatenate([obstacles.boxes[:, 3], obstacles.rounds[:, 3]])
    level = (low[a] <= high[b] + TOUCH) & (low[b] <= high[a] + TOUCH)
    a, b = a[level], b[level]
    both, round_b, rounds = b < boxes, (a < boxes) & (b >= boxes), a >= boxes
    touch = np.zeros(len(a), bool)
    touch[both] = _boxes_touch(obstacles.boxes[a[both]], obstacles.boxes[b[both]])
    touch[round_b] = _box_touches_round(obstacles.boxes[a[round_b]], obstacles.rounds[b[round_b] - boxes])
    one, two = obstacles.rounds[a[rounds] - boxes], obstacles.rounds[b[rounds] - boxes]
    apart = np.hypot(one[:, 0] - two[:, 0], one[:, 1] - two[:, 1])
    touch[rounds] = apart <= one[:, 4:6].max(axis=1) + two[:, 4:6].max(axis=1) + TOUCH
    pairs = coo_matrix((np.ones(int(touch.sum())), (a[touch], b[touch])), (n, n))
    label = connected_components(pairs, directed=False)[1]
    _, start, group = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(start))[group.reshape(-1)], np.int64)


def _neighbours(obstacles: Obstacles) -> tuple[Ints, Ints]:
    """Return the pairs of obstacles, the smaller number first, whose bounds are within TOUCH of each other."""
    from scipy.spatial import cKDTree

    boxes, rounds = obstacles.boxes, obstacles.rounds
    place = np.concatenate([boxes[:, :2], rounds[:, :2]])
    size = np.concatenate([np.hypot(boxes[:, 6], boxes[:, 7]), rounds[:, 4:6].max(axis=1)]) + 0.5 * TOUCH
    found = []
    for scale in np.unique(np.ceil(np.log2(size))):  # each with those of its size and smaller ones
        large = np.flatnonzero(np.ceil(np.log2(size)) == scale)
        small = np.flatnonzero(np.ceil(np.log2(size)) <= scale)
        near = cKDTree(place[large]).query_ball_tree(cKDTree(place[small]), 2.0 ** (scale + 1.0))
        one = np.repeat(large, [len(some) for some in near])
        found.append(np.column_stack([one, small[np.array([k for some in near for k in some], np.int64)]]))
    pairs = np.concatenate(found)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    a, b = pairs.T
    close = np.hypot(*(place[a] - place[b]).T) <= size[a] + size[b]
    return a[close], b[close]


def _boxes_touch(one: Floats, two: Floats) -> NDArray[np.bool_]:
    """Return whether rectangles touch, pair by pair: no axis of either separates them."""
    apart, touch = two[:, :2] - one[:, :2], np.ones(len(one), bool)
    turn_c = np.abs(one[:, 4] * two[:, 4] + one[:, 5] * two[:, 5])
    turn_s = np.abs(one[:, 4] * two[:, 5] - one[:, 5] * two[:, 4])
    for a, b in ((one, two), (two, one)):
        along = np.abs(apart[:, 0] * a[:, 4] + apart[:, 1] * a[:, 5])
        across = np.abs(apart[:, 1] * a[:, 4] - apart[:, 0] * a[:, 5])
        touch &= along <= a[:, 6] + turn_c * b[:, 6] + turn_s * b[:, 7] + TOUCH
        touch &= across <= a[:, 7] + turn_s * b[:, 6] + turn_c * b[:, 7] + TOUCH
    return touch


def _box_touches_round(box: Floats, round_: Floats) -> NDArray[np.bool_]:
    """Return whether rectangles and circles touch, pair by pair."""
    px, py = (round_[:, :2] - box[:, :2]).T
    along = np.maximum(np.abs(px * box[:, 4] + py * box[:, 5]) - box[:, 6], 0.0)
    across = np.maximum(np.abs(py * box[:, 4] - px * box[:, 5]) - box[:, 7], 0.0)
    return np.asarray(np.hypot(along, across) <= round_[:, 4:6].max(axis=1) + TOUCH)


def _outline(obstacles: Obstacles, members: Ints) -> Floats:
    """Return the corners (m, 2) of the convex outline of several obstacles; none of one."""
    if len(members) < 2:
        return np.zeros((0, 2))
    from scipy.spatial import ConvexHull

    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    boxes, points = len(obstacles.boxes), []
    for k in members.tolist():
        shape = None if k < boxes else obstacles.rounds[k - boxes]
        points.append(obstacles.outline(k) if shape is None else shape[:2] + shape[4:6].max() * circle)
    every = np.concatenate(points)
    return np.asarray(every[ConvexHull(every).vertices])
