"""Neighbours: a grid of cells sorted by counting, whose visitors process each pair in place.

Cells are anchored at the world's origin and wrapped onto a small torus, so that the table never grows with the extent
of the world; vehicles that share a table entry only through wrapping fail the distance test. A vehicle meets its
neighbours cell by cell in a fixed order, and within a cell in the order of the input: sums do not depend on threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import CompiledKernels, fields
from paddock.compute.threads import launch, threads_for

Floats = NDArray[np.float64]

BLOCK = 256
"""Vehicles that a thread takes at a time."""


@dataclass(frozen=True)
class NeighbourSpec:
    """The computation over neighbours.

    `source` is the named tuple class of the given rows; `seen` has the fields that neighbours see of each
    other, x, y and z first; `gathered` are running sums, with defaults to start from; `result` is computed from them.
    `visit(gathered, me, other, dx, dy, dz, distance_squared, options)` returns the sums with one more neighbour,
    `finish(gathered, me, options)` the result.
    """

    name: str
    source: type
    seen: type
    gathered: type
    result: type
    options: type
    visit: Callable[..., Any]
    finish: Callable[..., Any]


class NeighbourGrid:
    """Scratch arrays for up to `capacity` vehicles, reused from call to call."""

    def __init__(self, spec: NeighbourSpec) -> None:
        self.spec = spec
        self.capacity = 0
        self.kernels = neighbour_kernels(spec)

    def reserve(self, n: int) -> None:
        """Make room for `n` vehicles."""
        if n > self.capacity:
            self.capacity = max(n, 2 * self.capacity)
            self.sorted = np.empty((len(fields(self.spec.seen)), self.capacity))
            self.order = np.empty(self.capacity, np.int32)
            self.cell = np.empty(self.capacity, np.int32)

    def run(self, poses: Floats, n: int, radius: float, options: Floats, result: Floats) -> None:
        """Visit, for each of the first `n` vehicles (rows of `source` x capacity), all others within `radius` (m)."""
        if n == 0:
            return
        self.reserve(n)
        poses = poses.view()
        poses.flags.writeable = False  # writable arrays would compile another variant
        rows = [fields(self.spec.source).index(name) for name in ("x", "y", "z")]
        bits = torus_bits(n, [float(np.ptp(poses[row, :n])) / radius for row in rows])
        start = np.zeros((1 << sum(bits)) + 1, np.int32)
        threads = threads_for(n)
        sort, visit = self.kernels.built(threads is not None)
        launch(threads, sort, n, poses, 1.0 / radius, *bits, start, self.order, self.cell, self.sorted)
        launch(threads, visit, n, self.sorted, radius, *bits, start, self.order, options, result)


def torus_bits(n: int, extents: list[float]) -> tuple[int, int, int]:
    """Return the number of cells along x, y, z as powers of two, for vehicles that spread over these extents (cells).

    Enough for the extent where the table stays within about four cells per vehicle, and at least four each way, so that
    the 27 cells around one are distinct. The choice changes how many distances are tested, never the result.
    """
    # a vehicle whose position is NaN has no neighbours, and must not affect the others
    bits = [max(2, int((extent if extent < 1e9 else 1e9) + 2.0).bit_length()) for extent in extents]
    most = max(6, (4 * n - 1).bit_length())
    while sum(bits) > most:
        bits[bits.index(max(bits))] -= 1
    return bits[0], bits[1], bits[2]


class NeighbourKernels(CompiledKernels):
    """The sorting and the visiting kernel of a spec."""

    def __init__(self, spec: NeighbourSpec) -> None:
        self.spec = spec
        tuples = {"Seen": spec.seen, "Gathered": spec.gathered, "Options": spec.options, "Result": spec.result}
        calls = {"visit": spec.visit, "finish": spec.finish}
        super().__init__(f"{spec.name}-neighbours", neighbour_source(spec), calls, tuples, "float64")

    def signatures(self) -> dict[str, tuple[Any, ...]]:
        """Return the Numba types of the arguments of both kernels."""
        from numba import float64, int32, int64, types

        table, counts, bits = types.Array(float64, 2, "C"), types.Array(int32, 1, "C"), (int64,) * 3
        fixed, options = types.Array(float64, 2, "C", True), types.Array(float64, 1, "C")
        return {
            "sort": (int64, fixed, float64, *bits, counts, counts, counts, table),
            "visit_all": (int64, table, float64, *bits, counts, counts, options, table),
        }


@lru_cache(maxsize=64)
def neighbour_kernels(spec: NeighbourSpec) -> NeighbourKernels:
    """Return the kernels of a spec, built once per process."""
    return NeighbourKernels(spec)


def neighbour_source(spec: NeighbourSpec) -> str:
    """Return the Python source of both kernels."""
    seen = fields(spec.seen)
    rows = [fields(spec.source).index(f) for f in seen]
    defaults = [repr(spec.gathered._field_defaults[f]) for f in fields(spec.gathered)]  # type: ignore[attr-defined]
    return SOURCE.format(
        coordinates=", ".join(f"poses[{row}]" for row in rows[:3]),
        copies="\n".join(f"        sorted_poses[{k}, i] = poses[{row}, j]" for k, row in enumerate(rows)),
        rows="\n".join(f"    row_{f} = sorted_poses[{k}]" for k, f in enumerate(seen)),
        me=", ".join(f"row_{f}[me_at]" for f in seen),
        other=", ".join(f"row_{f}[j]" for f in seen),
        start_values=", ".join(defaults),
        block=BLOCK,
        options=", ".join(f"options[{k}]" for k in range(len(fields(spec.options)))),
        outs="\n".join(f"    out_{f} = result[{k}]" for k, f in enumerate(fields(spec.result))),
        store="\n".join(f"                out_{f}[k] = outcome.{f}" for f in fields(spec.result)),
    )


SOURCE = """\
def sort(n, poses, inverse, bits_x, bits_y, bits_z, start, order, cell, sorted_poses):
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


def visit_all(n, sorted_poses, radius, bits_x, bits_y, bits_z, start, order, options, result):
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
            # vehicles of one cell have the same candidates: collect them once
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
                me = Seen({me})
                x, y, z = row_x[me_at], row_y[me_at], row_z[me_at]
                for m in range(found):
                    dx, dy, dz = there_x[m] - x, there_y[m] - y, there_z[m] - z
                    apart[m] = dx * dx + dy * dy + dz * dz
                # whether a candidate is near enough is unpredictable for the processor: collect those that are
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
                    gathered = visit(gathered, me, Seen({other}), dx, dy, dz, apart[m], opts)
                outcome = finish(gathered, me, opts)
                k = order[me_at]
{store}
            i = stop
"""
