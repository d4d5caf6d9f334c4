"""Who is near whom: a grid of cells sorted by counting, whose visitors process each pair where it stands.

Cells are anchored at the world's origin and wrapped onto a small torus, so that the table never grows with the extent
of the world; vehicles that share a table entry only through wrapping fail the distance test. An agent meets its
neighbours cell by cell in a fixed order, and within a cell in the order of the input: sums do not depend on threads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.cache import source_path
from paddock.compute.kernel import fields
from paddock.compute.threads import launch
from paddock.compute.twin import compiled, fingerprint, reached

Floats = NDArray[np.float64]

BLOCK = 256
"""Agents that a thread takes at a time."""


@dataclass(frozen=True)
class NeighbourSpec:
    """What to do with neighbours.

    `source` is the named tuple class of the rows that are handed in; `agent` has those of its fields that neighbours
    see of each other, x, y and z first; `gathered` are running sums, with defaults to start from; `result` is what
    remains of them. `visit(gathered, me, other, dx, dy, dz, distance_squared, options)`
    returns the sums with one more neighbour, `finish(gathered, me, options)` the result.
    """

    name: str
    source: type
    agent: type
    gathered: type
    result: type
    options: type
    visit: Callable[..., Any]
    finish: Callable[..., Any]


class NeighbourGrid:
    """Scratch arrays for up to `capacity` agents, reused from call to call."""

    def __init__(self, spec: NeighbourSpec) -> None:
        self.spec = spec
        self.capacity = 0
        self._sort, self._visit = compiled_neighbours(spec)

    def reserve(self, n: int) -> None:
        """Make room for `n` agents."""
        if n > self.capacity:
            self.capacity = max(n, 2 * self.capacity)
            self.sorted = np.empty((len(fields(self.spec.agent)), self.capacity))
            self.order = np.empty(self.capacity, np.int32)
            self.cell = np.empty(self.capacity, np.int32)

    def run(self, agents: Floats, n: int, radius: float, options: Floats, result: Floats) -> None:
        """For the first `n` agents (rows of `source` x capacity) visit all others within `radius` (m)."""
        if n == 0:
            return
        self.reserve(n)
        rows = [fields(self.spec.source).index(name) for name in ("x", "y", "z")]
        bits = torus_bits(n, [float(np.ptp(agents[row, :n])) / radius for row in rows])
        start = np.zeros((1 << sum(bits)) + 1, np.int32)
        launch(n, self._sort, n, agents, 1.0 / radius, *bits, start, self.order, self.cell, self.sorted)
        launch(n, self._visit, n, self.sorted, radius, *bits, start, self.order, options, result)


def torus_bits(n: int, extents: list[float]) -> tuple[int, int, int]:
    """Cells along x, y, z as powers of two, for agents that spread over these extents (in cells).

    Enough for the extent where the table stays within about four cells an agent, and at least four each way, so that
    the 27 cells around one are distinct. The choice changes how much is tested in vain, never the result.
    """
    # a vehicle whose position is no number sees nobody, but must not stop the others
    bits = [max(2, int((extent if extent < 1e9 else 1e9) + 2.0).bit_length()) for extent in extents]
    most = max(6, (4 * n - 1).bit_length())
    while sum(bits) > most:
        bits[bits.index(max(bits))] -= 1
    return bits[0], bits[1], bits[2]


@lru_cache(maxsize=64)
def compiled_neighbours(spec: NeighbourSpec) -> tuple[Any, Any]:
    """The sorting and the visiting kernel of a spec."""
    visit, finish = compiled(spec.visit), compiled(spec.finish)
    from numba import njit, prange, uint64

    names: dict[str, Any] = {
        "__name__": __name__,
        **{"np": np, "prange": prange, "uint64": uint64, "visit": visit, "finish": finish},
        **{"Agent": spec.agent, "Gathered": spec.gathered, "Options": spec.options},
    }
    text = neighbour_source(spec)
    functions = [*reached(spec.visit), *reached(spec.finish)]
    sources = {inspect.getsourcefile(f) or f.__code__.co_filename for f in functions} | {__file__}
    identity = fingerprint(spec.visit) + fingerprint(spec.finish)
    path = source_path(f"{spec.name}-neighbours", text, sources, identity)
    exec(compile(text, str(path), "exec"), names)
    flags: dict[str, Any] = {"error_model": "numpy", "cache": True, "nogil": True, "parallel": True}
    return njit(**flags)(names["sort"]), njit(**flags)(names["visit_all"])


def neighbour_source(spec: NeighbourSpec) -> str:
    """Python source of both kernels."""
    agent = fields(spec.agent)
    rows = [fields(spec.source).index(f) for f in agent]
    defaults = [repr(spec.gathered._field_defaults[f]) for f in fields(spec.gathered)]  # type: ignore[attr-defined]
    return SOURCE.format(
        coordinates=", ".join(f"agents[{row}]" for row in rows[:3]),
        copies="\n".join(f"        sorted_agents[{k}, i] = agents[{row}, j]" for k, row in enumerate(rows)),
        rows="\n".join(f"    row_{f} = sorted_agents[{k}]" for k, f in enumerate(agent)),
        me=", ".join(f"row_{f}[me_at]" for f in agent),
        other=", ".join(f"row_{f}[j]" for f in agent),
        start_values=", ".join(defaults),
        block=BLOCK,
        options=", ".join(f"options[{k}]" for k in range(len(fields(spec.options)))),
        outs="\n".join(f"    out_{f} = result[{k}]" for k, f in enumerate(fields(spec.result))),
        store="\n".join(f"                out_{f}[k] = outcome.{f}" for f in fields(spec.result)),
    )


SOURCE = """\
def sort(n, agents, inverse, bits_x, bits_y, bits_z, start, order, cell, sorted_agents):
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    x, y, z = {coordinates}
    for i in prange(n):
        cx = np.int64(np.floor(x[i] * inverse)) & mask_x
        cy = np.int64(np.floor(y[i] * inverse)) & mask_y
        cz = np.int64(np.floor(z[i] * inverse)) & mask_z
        cell[i] = (((cz << bits_y) | cy) << bits_x) | cx
    for i in range(n):
        start[cell[i] + 1] += 1
    for c in range(start.size - 1):
        start[c + 1] += start[c]
    for i in range(n):
        c = cell[i]
        order[start[c]] = i
        start[c] += 1
    # every start has moved to its cell's end: shift them back by one cell
    for c in range(start.size - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0
    for i in prange(n):
        j = order[i]
{copies}


def visit_all(n, sorted_agents, radius, bits_x, bits_y, bits_z, start, order, options, result):
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    inverse, reach = 1.0 / radius, radius * radius
    opts = Options({options})
{rows}
{outs}
    for block in prange((n + {block} - 1) // {block}):
        i, last = uint64(block * {block}), uint64(min(n, (block + 1) * {block}))
        room = 512
        index, near = np.empty(room, np.uint32), np.empty(room, np.uint32)
        there_x, there_y, there_z, apart = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
        while i < last:
            # agents of one cell have the same candidates: collect them once
            cx = np.int64(np.floor(row_x[i] * inverse)) & mask_x
            cy = np.int64(np.floor(row_y[i] * inverse))
            cz = np.int64(np.floor(row_z[i] * inverse))
            own = (((cz & mask_z) << bits_y | (cy & mask_y)) << bits_x) | cx
            stop = min(uint64(start[own + 1]), last)
            # three cells along x are one run of the sorted table, unless they wrap around the torus
            left = (cx - 1) & mask_x
            runs, width = (1, 3) if left + 2 <= mask_x else (3, 1)
            found = uint64(0)
            for az in range(-1, 2):
                plane = ((cz + az) & mask_z) << bits_y
                for ay in range(-1, 2):
                    line = (plane | ((cy + ay) & mask_y)) << bits_x
                    for run in range(runs):
                        c = line | ((left + run) & mask_x)
                        begin, end = uint64(start[c]), uint64(start[c + width])
                        if found + end - begin > room:
                            room = np.int64(2 * (found + end - begin))
                            longer, old = np.empty(room, np.uint32), index
                            longer[: old.size] = old
                            index, near = longer, np.empty(room, np.uint32)
                            there_x, there_y, there_z = np.empty(room), np.empty(room), np.empty(room)
                            apart = np.empty(room)
                        for j in range(begin, end):
                            index[found] = j
                            found += uint64(1)
            for m in range(found):
                j = index[m]
                there_x[m], there_y[m], there_z[m] = row_x[j], row_y[j], row_z[j]
            for me_at in range(i, stop):
                me = Agent({me})
                x, y, z = row_x[me_at], row_y[me_at], row_z[me_at]
                for m in range(found):
                    dx, dy, dz = there_x[m] - x, there_y[m] - y, there_z[m] - z
                    apart[m] = dx * dx + dy * dy + dz * dz
                # whether a candidate is near enough is a coin toss that no processor predicts: note those that are
                # without a branch, then visit them
                count = uint64(0)
                for m in range(found):
                    near[count] = m
                    count += uint64((apart[m] < reach) & (index[m] != me_at))
                gathered = Gathered({start_values})
                for q in range(count):
                    m = uint64(near[q])
                    j = uint64(index[m])
                    dx, dy, dz = there_x[m] - x, there_y[m] - y, there_z[m] - z
                    gathered = visit(gathered, me, Agent({other}), dx, dy, dz, apart[m], opts)
                outcome = finish(gathered, me, opts)
                k = order[me_at]
{store}
            i = stop
"""
