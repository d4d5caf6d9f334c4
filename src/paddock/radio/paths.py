"""What lies on the way between two antennas besides the model of propagation: terrain, obstacles, shadowing, fading.

`Paths` has the tables that compiled code needs; `PathTables` keeps them up to date.
"""

from typing import Any, NamedTuple

import numpy as np
import xxhash

from paddock.compute.math import PI, sqrt
from paddock.compute.philox import signed
from paddock.radio.diffraction import relief_peaks, terrain_db
from paddock.radio.fading import (
    NONE,
    SHADOW_WAVES,
    WAVES,
    diffuse,
    fading_gain_db,
    fading_phasors,
    fading_waves,
    shadow_db,
    shadow_phasors,
    shadow_sum,
    shadow_waves,
)
from paddock.radio.obstacle_groups import buildings_of, no_buildings
from paddock.radio.obstruction import obstruction_db
from paddock.radio.propagation import LIGHT
from paddock.radio.radios import CLASS, COLUMN, Classes, Floats, Ints, Radios
from paddock.world.scenery import Scenery

SIGMA, DISTANCE, FADING, PARAMETER = CLASS.sigma, CLASS.distance, CLASS.fading, CLASS.parameter
TERRAIN, OBSTACLES, FIELD, GROUND = CLASS.terrain, CLASS.obstacles, CLASS.field, CLASS.ground
X, Y, Z, FREQUENCY = COLUMN.x, COLUMN.y, COLUMN.z, COLUMN.frequency


class Paths(NamedTuple):
    """Tables of the surroundings, and of fading at the places of all antennas."""

    phasors: Floats  # (n, 2, WAVES) of fading, by number of the antenna
    shadows: Floats  # (fields, n, 2, SHADOW_WAVES) of shadowing
    ground_z: float  # m; from here on as `TerrainTables`
    terrain: Floats
    relief: Floats
    peaks: Floats
    cells: Floats  # from here on as `Buildings`: loops in threads take no tuples of tuples
    starts: Floats
    items: Floats
    boxes: Floats
    rounds: Floats
    rates: Floats
    cover: Ints
    group: Ints
    first: Ints
    members: Ints
    begin: Ints
    corners: Floats


def extra_losses(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float, float, float]:
    """Return what a path loses (dB) over terrain and by obstacles, and gains by shadowing and fading."""
    shadowing, fading = random_gains(table, i, j, classes, c, paths)
    diffraction, blocked = blocking(table, i, j, classes, c, paths)
    return diffraction, blocked, shadowing, fading


def random_gains(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float]:
    """Return the gains (dB) of shadowing and of fading."""
    shadowing, fading = 0.0, 0.0
    kind = int(classes[FADING, c])
    if classes[SIGMA, c] > 0.0 or kind != NONE:
        dx, dy, dz = table[X, j] - table[X, i], table[Y, j] - table[Y, i], table[Z, j] - table[Z, i]
        apart = sqrt(dx * dx + dy * dy + dz * dz)
        if classes[SIGMA, c] > 0.0:
            total = shadow_sum(paths.shadows[int(classes[FIELD, c])], i, j)
            shadowing = shadow_db(total, apart, classes[SIGMA, c], classes[DISTANCE, c])
        if kind != NONE:
            re, im = diffuse(paths.phasors, i, j)
            number = 2.0 * PI / LIGHT * table[FREQUENCY, j]
            fading = fading_gain_db(kind, classes[PARAMETER, c], number * apart, re, im)
    return shadowing, fading


def blocking(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float]:
    """Return the losses (dB) by diffraction over terrain, and what obstacles add to it."""
    diffraction, blocked = 0.0, 0.0
    if classes[TERRAIN, c] != 0.0:
        diffraction = terrain_db(
            table[X, i],
            table[Y, i],
            table[Z, i],
            table[X, j],
            table[Y, j],
            table[Z, j],
            table[FREQUENCY, j],
            paths.ground_z,
            paths.terrain,
            paths.relief,
            paths.peaks,
            classes[GROUND, c] != 0.0,
        )
    if classes[OBSTACLES, c] != 0.0:
        blocked = obstruction_db(
            table[X, i],
            table[Y, i],
            table[Z, i],
            table[X, j],
            table[Y, j],
            table[Z, j],
            table[FREQUENCY, j],
            paths,
            paths,
            classes[TERRAIN, c] != 0.0,
            classes[GROUND, c] != 0.0,
            diffraction,
        )
    return diffraction, blocked


class PathTables:
    """The tables of all paths of a roster of radios."""

    def __init__(self, radios: Radios, classes: Classes, scenery: Scenery | None, ground_z: float, seed: int) -> None:
        self.radios, self.seed = radios, seed
        n = len(radios.streams)
        used = classes.table
        self._fading = bool((used[FADING] != NONE).any())
        self._waves = np.zeros((n if self._fading else 0, 4, WAVES))
        if self._fading and n:
            fading_waves(signed(seed), radios.streams, self._waves)
        self.fields = [  # of shadowing: waves, and the distance (m) of its correlation
            (
                shadow_waves(signed(seed), signed(xxhash.xxh3_64_intdigest(b"shadowing %d" % k))),
                float(used[DISTANCE, c]),
            )
            for k, c in enumerate(np.flatnonzero(used[SIGMA] > 0.0).tolist())
        ]
        self._shadows = np.zeros((max(len(self.fields), 1), n if self.fields else 1, 2, SHADOW_WAVES))
        self._phasors = np.zeros((n if self._fading else 1, 2, WAVES))
        self.set_scenery(scenery, ground_z)

    def set_scenery(self, scenery: Scenery | None, ground_z: float) -> None:
        """Take the tables of the world; small ones without scenery, because compiled code wants arrays."""
        flat = np.zeros((1, 9)), np.zeros((1, 1))
        terrain, relief = flat if scenery is None else scenery.ground.tables[:2]
        buildings: Any = no_buildings() if scenery is None else buildings_of(scenery.obstacles)
        given = np.array(terrain), np.array(relief), relief_peaks(relief)  # copies: writable arrays compile once
        self.paths = Paths(self._phasors, self._shadows, ground_z, *given, *buildings)

    def place(self, table: Floats | None = None) -> None:
        """Follow the antennas to where they are now, or to where they are in another table."""
        table = self.radios.table if table is None else table
        if self._fading and table.shape[1]:
            numbers = 2.0 * np.pi / LIGHT * table[FREQUENCY]
            fading_phasors(self._waves, np.ascontiguousarray(table[:3]), numbers, self._phasors)
        for k, (waves, distance) in enumerate(self.fields):
            shadow_phasors(waves, np.ascontiguousarray(table[:3]), distance, self._shadows[k])
