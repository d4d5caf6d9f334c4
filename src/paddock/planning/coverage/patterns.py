"""In which order the swaths of a cell are flown: one after the other, or interleaved when turns are wide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.planning.coverage.cells import Cell
from paddock.world.columns import Floats

Nodes = NDArray[np.int64]
"""Swaths with their directions in the order of flight: node 2 k is swath k flown rightwards, 2 k + 1 leftwards."""
MOST_STRIDES = 32


class Pattern(NamedTuple):
    """A cell, flown from one of its corners on."""

    nodes: Nodes
    inner: float  # m of turns within the cell


def patterns_of(cell: Cell, turns: Floats) -> list[Pattern]:
    """The cheapest pattern from each of the four corners."""
    swaths = np.array(cell)
    found = []
    for side in (swaths, swaths[::-1]) if len(swaths) > 1 else (swaths,):
        for first in (0, 1):
            ways = [_flown(side[interleaved(len(side), stride)], first) for stride in _strides(len(side))]
            costs = [float(turns[way[:-1], way[1:]].sum()) for way in ways]
            best = int(np.argmin(np.round(costs, 6)))
            found.append(Pattern(ways[best], costs[best]))
    return found


def interleaved(count: int, stride: int) -> list[int]:
    """0, s, 1, s + 1, ... in blocks of 2 s: neighbours in this order lie about s apart. A stride of 1 skips none."""
    order: list[int] = []
    for start in range(0, count, 2 * stride):
        size = min(2 * stride, count - start)
        half = (size + 1) // 2
        order += [start + k // 2 + (half if k % 2 else 0) for k in range(size)]
    return order


def _strides(count: int) -> range:
    return range(1, min((count + 1) // 2, MOST_STRIDES) + 1)


def _flown(swaths: Nodes, first: int) -> Nodes:
    """To and fro, the first one rightwards (0) or leftwards (1)."""
    return 2 * swaths + (np.arange(len(swaths)) + first) % 2
