"""Separation of aircraft: height layers, and opposite offsets for vehicles that share a layer and will meet."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, inf, zeros

from paddock.compute.math import absolute, maximum, minimum, sqrt
from paddock.compute.routine import routine
from paddock.engine.mission.following import BEGINS, COLUMNS, FLOWN, FleetTracks, FleetVehicles
from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import along_per_flown, point_on
from paddock.planning.solver.layers import LAYERS, MARGIN, layer_spacing
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, fill, part, record

AHEAD, EVERY = 20.0, 1.0
"""Prediction horizon and step, s."""


class Closest(NamedTuple):
    """The closest approach of any two vehicles."""

    distance: float  # m, in space
    share: float  # share of the required separation: 1 is just enough


def layers(count: int, height: float) -> tuple[Ints, Floats]:
    """Return the layer of each of `count` aircraft and its height above its path (m)."""
    layer: Ints = np.arange(count, dtype=np.int64) % LAYERS
    return layer, layer.astype(np.float64) * layer_spacing(count, height)


def _predict(
    path: Floats, first: Ints, last: Ints, loop: Ints, along: Floats, speed: Floats, positions: Floats
) -> None:
    """Predict positions (n, k, 2) in m of vehicles (n) along their paths at their speeds (m/s)."""
    for i in range(positions.shape[0]):
        k = first[i]
        for step in range(positions.shape[1]):
            flown = along[i] + speed[i] * step * EVERY
            end = path[last[i] - 1, BEGINS] + path[last[i] - 1, FLOWN]
            if flown > end:
                begin = path[loop[i], BEGINS] if loop[i] >= 0 else end
                flown = begin + (flown - begin) % maximum(end - begin, 1e-9) if loop[i] >= 0 else end
                k = first[i]
            while k + 1 < last[i] and path[k, BEGINS] + path[k, FLOWN] < flown:
                k += 1
            x, y, _ = point_on(path, k, (flown - path[k, BEGINS]) * along_per_flown(path, k))
            positions[i, step, 0], positions[i, step, 1] = x, y


def _senses(positions: Floats, layer: Ints, distance: float, before: Floats) -> Floats:
    """Return the sense of each vehicle (n,): two of a layer that will meet get 1 (up) and -1 (down), others 0."""
    n, steps = positions.shape[0], positions.shape[1]
    sense = zeros(n)
    for i in range(n):
        for j in range(i + 1, n):
            if layer[i] != layer[j]:
                continue
            nearest = inf
            for step in range(steps):
                dx, dy = positions[i, step, 0] - positions[j, step, 0], positions[i, step, 1] - positions[j, step, 1]
                nearest = minimum(nearest, dx * dx + dy * dy)
            if nearest >= distance * distance:
                continue
            if sense[i] == 0.0 and sense[j] == 0.0:  # a vehicle keeps its sense: otherwise both would change places
                up = before[i] > before[j] or (before[i] == before[j])
                sense[i] = 1.0 if up else -1.0
                sense[j] = -sense[i]
            elif sense[i] == 0.0:
                sense[i] = -sense[j]
            elif sense[j] == 0.0:
                sense[j] = -sense[i]
    return sense


def _closest(x: Floats, y: Floats, z: Floats, distance: float, height: float) -> Floats:
    """Return the smallest distance (m) of any two, and the smallest share of the required separation."""
    least = empty(2)
    least[0], least[1] = inf, inf
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx, dy, dz = x[i] - x[j], y[i] - y[j], absolute(z[i] - z[j])
            level = dx * dx + dy * dy
            least[0] = minimum(least[0], sqrt(level + dz * dz))
            least[1] = minimum(least[1], maximum(sqrt(level) / distance, dz / maximum(height, 1e-9)))
    return least


predict = routine(_predict)
senses = routine(_senses)
closest = routine(_closest)


def predicted(path: Floats, first: Ints, last: Ints, loop: Ints, along: Floats, speed: Floats) -> Floats:
    """Predict positions (n, k, 2) in m; arguments as for `_predict`."""
    positions = np.zeros((len(first), int(AHEAD / EVERY) + 1, 2))
    predict(path, first, last, loop, along, speed, positions)
    return positions


AIRBORNE = 1.0
"""m above the ground: lower vehicles do not count as flying."""
REACH = 1.2
"""Factor on the horizontal distance below which two vehicles meet: they may be metres off their paths."""

Members = list[tuple[FleetVehicles, FleetTracks]]


@part
class Spacing:
    """Keeps flying vehicles apart; arrays are in the order of the mission's vehicles."""

    closest: Closest = record(Closest, lambda: Closest(inf, inf))
    senses: Floats = array("f8", "flying", low=-1.0, high=1.0)  # 1: up, -1: down, 0: neither

    def __init__(self, separation: tuple[float, float], ground: Callable[[Any, Any], Floats], planned: bool) -> None:
        """Begin without vehicles.

        separation: m across, m up; ground: its height (m) at x, y; planned: routes have layers of their own.
        """
        fill(self)
        self.distance, self.height = separation
        self.ground, self.planned = ground, planned

    def check(self, state: Any) -> None:
        """Refuse other senses than up, down and neither."""
        if not np.isin(self.senses, (-1.0, 0.0, 1.0)).all():
            raise InvalidValueError("the senses of vehicles that avoid each other are not -1, 0 or 1")

    def assign_offsets(self, members: Members, lifts: Floats) -> None:
        """Assign layers, and opposite offsets to vehicles of one layer that will meet; `lifts` (m) of all vehicles."""
        flying = self._flying(members)
        if not flying:
            return
        indices = np.concatenate([group.indices for group, _ in flying])
        order = np.argsort(indices, kind="stable")
        layer, offsets = layers(len(order), self.height)
        if self.planned:
            layer, offsets = np.unique(lifts[indices[order]], return_inverse=True)[1], np.zeros(len(order))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))  # index of each among flying vehicles
        if len(self.senses) != len(order):
            self.senses = np.zeros(len(order))
        if len(np.unique(layer)) < len(order):
            self.senses = self._opposite_senses(flying, order, layer)
        wanted = (offsets + 0.5 * MARGIN * self.height * self.senses)[ranks]
        begin = 0
        for group, tracks in flying:
            tracks.write("offset", group.rows, wanted[begin : begin + len(group.rows)])
            begin += len(group.rows)

    def measure(self, members: Members, poses: Floats) -> None:
        """Update the closest approach of flying vehicles; `poses` (n, 3) in m, in the order of the vehicles."""
        flying = self._flying(members)
        indices = np.sort(np.concatenate([np.empty(0, np.int64), *(group.indices for group, _ in flying)]))
        where = poses[indices, :3]
        ground = self.ground(where[:, 0], where[:, 1])
        x, y, z = np.ascontiguousarray(where[where[:, 2] > ground + AIRBORNE].T)
        if len(x) > 1:
            now = closest(x, y, z, self.distance, self.height).tolist()
            self.closest = Closest(*map(min, self.closest, now))

    def _flying(self, members: Members) -> Members:
        return [(group, tracks) for group, tracks in members if tracks.style.moves != "ground" and len(group.rows)]

    def _opposite_senses(self, flying: Members, order: Ints, layer: Ints) -> Floats:
        """Return opposite senses for vehicles of one layer that will meet; 0 for vehicles without a path."""
        tables, columns, begin = [np.zeros((0, COLUMNS))], [], 0  # all fleets in one table
        for group, tracks in flying:
            path, rows = tracks.path, group.rows
            names = ("first", "last", "loop", "row")
            first, last, loop, row = (tracks.column(name, rows).astype(np.int64) for name in names)
            loop = np.where(loop >= 0, loop + begin, -1)
            along = path[row, BEGINS] + tracks.column("inside", rows)
            columns.append((first + begin, last + begin, loop, along, tracks.column("speed", rows)))
            tables.append(path)
            begin += len(path)
        values = [np.concatenate(parts)[order] for parts in zip(*columns, strict=True)]
        here = np.flatnonzero(values[1] > values[0])
        ahead = predicted(np.concatenate(tables), *(column[here] for column in values))
        result = np.zeros(len(order))
        result[here] = senses(ahead, layer[here], REACH * self.distance, self.senses[here])
        return result
