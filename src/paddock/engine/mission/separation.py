"""Keeping aircraft apart: layers of height while there are enough, and opposite offsets for those who share one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import empty, inf, zeros

from paddock.behaviour.rule import Floats
from paddock.compute.math import absolute, maximum, minimum, sqrt
from paddock.compute.routine import routine
from paddock.engine.mission.curve import BEGINS, COLUMNS, FLOWN, along_per_flown, place_on
from paddock.world.fleet import Ints

LAYERS = 8
MARGIN = 1.25
"""Layers are this much farther apart than asked for: nobody holds a height exactly."""
AHEAD, EVERY = 20.0, 1.0
"""s: how far ahead it is looked, and at which steps."""


class Closest(NamedTuple):
    """How near any two have come."""

    distance: float  # m, in space
    share: float  # of the separation: 1 is just enough across, or in height

    def and_(self, distance: float, share: float) -> Closest:
        """The nearer of both."""
        return Closest(min(self.distance, distance), min(self.share, share))


FAR_APART = Closest(inf, inf)


def layers(count: int, height: float) -> tuple[Ints, Floats]:
    """The layer of each of so many aircraft, and how much higher (m) than its path it flies."""
    layer: Ints = np.arange(count, dtype=np.int64) % LAYERS
    step = MARGIN * height * (1.0 if count <= LAYERS else 2.0)  # with room for both of a pair in between
    return layer, layer.astype(np.float64) * step


def _future(path: Floats, first: Ints, last: Ints, loop: Ints, along: Floats, speed: Floats, places: Floats) -> None:
    """Where vehicles (n) will be (n, k, 2) in m if they go on along their paths at their speeds (m/s)."""
    for i in range(places.shape[0]):
        k = first[i]
        for step in range(places.shape[1]):
            flown = along[i] + speed[i] * step * EVERY
            end = path[last[i] - 1, BEGINS] + path[last[i] - 1, FLOWN]
            if flown > end:
                begin = path[loop[i], BEGINS] if loop[i] >= 0 else end
                flown = begin + (flown - begin) % maximum(end - begin, 1e-9) if loop[i] >= 0 else end
                k = first[i]
            while k + 1 < last[i] and path[k, BEGINS] + path[k, FLOWN] < flown:
                k += 1
            x, y, _ = place_on(path, k, (flown - path[k, BEGINS]) * along_per_flown(path, k))
            places[i, step, 0], places[i, step, 1] = x, y


def _senses(places: Floats, layer: Ints, distance: float, before: Floats) -> Floats:
    """For each vehicle 1 (up), -1 (down) or 0: opposite ones for two of a layer that will meet; by their order."""
    n, steps = places.shape[0], places.shape[1]
    sense = zeros(n)
    for i in range(n):
        for j in range(i + 1, n):
            if layer[i] != layer[j]:
                continue
            nearest = inf
            for step in range(steps):
                dx, dy = places[i, step, 0] - places[j, step, 0], places[i, step, 1] - places[j, step, 1]
                nearest = minimum(nearest, dx * dx + dy * dy)
            if nearest >= distance * distance:
                continue
            if sense[i] == 0.0 and sense[j] == 0.0:  # who has a sense already keeps it, or both would pass each other
                up = before[i] > before[j] or (before[i] == before[j])
                sense[i] = 1.0 if up else -1.0
                sense[j] = -sense[i]
            elif sense[i] == 0.0:
                sense[i] = -sense[j]
            elif sense[j] == 0.0:
                sense[j] = -sense[i]
    return sense


def _closest(x: Floats, y: Floats, z: Floats, distance: float, height: float) -> Floats:
    """The smallest distance (m) of any two, and their smallest share of the separation."""
    found = empty(2)
    found[0], found[1] = inf, inf
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx, dy, dz = x[i] - x[j], y[i] - y[j], absolute(z[i] - z[j])
            level = dx * dx + dy * dy
            found[0] = minimum(found[0], sqrt(level + dz * dz))
            found[1] = minimum(found[1], maximum(sqrt(level) / distance, dz / maximum(height, 1e-9)))
    return found


future = routine(_future)
senses = routine(_senses)
closest = routine(_closest)


class Flying(NamedTuple):
    """Those who fly, of all fleets, as the rule's memory has them; rows are those of one common table."""

    path: Floats
    first: Ints
    last: Ints
    loop: Ints
    along: Floats
    speed: Floats

    def of(self, rows: Ints) -> Flying:
        """Some of them."""
        ints = self.first[rows], self.last[rows], self.loop[rows]
        return Flying(self.path, *ints, self.along[rows], self.speed[rows])


def predicted(who: Flying) -> Floats:
    """Where they will be, (n, k, 2) m."""
    places = np.zeros((len(who.first), int(AHEAD / EVERY) + 1, 2))
    future(who.path, who.first, who.last, who.loop, who.along, who.speed, places)
    return places


NO_ROWS = np.zeros((0, COLUMNS))
