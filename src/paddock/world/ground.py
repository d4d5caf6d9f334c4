"""The ground under a point: height, slope and friction, and the roughness of roads.

Models call `surface`, never the fields of the environment, so that the same source runs on flat and on uneven ground:
there the engine replaces it by `uneven_surface`, whose environment has the tables of `GROUND_TABLES` as well.

Roughness by ISO 8608 is a periodic tile of heights with the standard's spectrum along every line. The displacement
spectrum of a road profile is Gd(n) = Gd(n0) (n / n0)^-2 with n0 = 0.1 cycles/m and Gd(n0) by class. An isotropic
surface whose profiles have the spectrum C n^-2 has the two-dimensional spectrum C / 4 k^-3 (its integral over the wave
number across the profile is C / 2 n^-2 on each side). All waves between one per tile and `FINEST_WAVE` cycles/m have
this spectrum and random phases; the Fourier transform makes the tile of them. Own code, because the results of NumPy's
transform depend on the processor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import Shared, shared_tuple
from paddock.compute.math import (
    absolute,
    asin,
    atan,
    clamp,
    floor,
    maximum,
    minimum,
    select,
    sincos,
    sqrt,
    table_index,
    whole,
)
from paddock.compute.philox import TWO_PI, uniforms
from paddock.compute.quaternion import euler_quaternion
from paddock.compute.routine import routine
from paddock.compute.twin import Function, rebound, shared_code, vectorised
from paddock.world.columns import Environment

Floats = NDArray[np.float64]
ROAD_CLASSES = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}
"""Gd(n0) in m3: the geometric mean of each class."""
REFERENCE_WAVE = 0.1  # cycles/m, n0
TILE = 1024  # values per side
TILE_CELL = 0.1  # m between values
FINEST_WAVE = 4.0  # cycles/m
ROUGHNESS_STREAM = 8608  # of the random phases


class Surface(NamedTuple):
    """The ground at one point."""

    height: float  # m
    slope_x: float  # m of height per m east
    slope_y: float  # m of height per m north
    mu: float  # factor on a tyre's own friction


def surface(x: float, y: float, w: Environment) -> Surface:
    """Return the flat ground at (x, y), in m. Its slopes are constants: what depends on them costs nothing."""
    return Surface(w.ground_z, 0.0, 0.0, w.mu)


def is_sloped(g: Surface) -> bool:
    """Return whether the ground is inclined; a constant on flat ground, where `select` then costs nothing."""
    return (g.slope_x != 0.0) | (g.slope_y != 0.0)


def normal(g: Surface) -> tuple[float, float, float]:
    """Return the unit vector that is normal to the ground, upwards."""
    up = 1.0 / sqrt(1.0 + g.slope_x * g.slope_x + g.slope_y * g.slope_y)
    return -g.slope_x * up, -g.slope_y * up, up


def slope_along(g: Surface, sine: float, cosine: float) -> tuple[float, float]:
    """Return the slope (m per m) ahead and to the left of a heading."""
    return g.slope_x * cosine + g.slope_y * sine, g.slope_y * cosine - g.slope_x * sine


def slope_attitude(g: Surface, yaw: float) -> tuple[float, float, float, float]:
    """Return the attitude of a vehicle with that heading (rad) that stands on the ground."""
    ahead, left = slope_along(g, *sincos(yaw))
    return euler_quaternion(asin(left * normal(g)[2]), -atan(ahead), yaw)


GROUND_TABLES = ("terrain", "relief", "rough", "grip", "patches", "corners")
"""Tables of the environment over uneven ground: `terrain` (1, 9), the columns below; `relief` (rows, columns), heights;
`rough` (k, k), a tile of roughness with one row and column before and two after it; `grip` (rows, columns), friction;
`patches` (n, 9): kind, mu, 1 / transition and six numbers of the shape; `corners` (n, 2) of polygons. A table that is
not used has one row."""
SLOPE_X, SLOPE_Y, RELIEF_X, RELIEF_Y, RELIEF_RATE, ROUGH_RATE, GRIP_X, GRIP_Y, GRIP_RATE = range(9)
HALF_PLANE, CIRCLE, RECTANGLE, POLYGON = 0.0, 1.0, 2.0, 3.0
SHARP = 1e9  # 1/m: an edge without transition


@shared_code
def uneven_surface(x: float, y: float, w: Any) -> Surface:
    """Return the ground at (x, y): a tilted plane, heights and roughness, friction with patches."""
    t = w.terrain
    slope_x, slope_y = t[0, SLOPE_X], t[0, SLOPE_Y]
    height = w.ground_z + slope_x * x + slope_y * y
    if has_relief(w):
        rate = t[0, RELIEF_RATE]
        value, along_x, along_y = bicubic(w.relief, (x - t[0, RELIEF_X]) * rate, (y - t[0, RELIEF_Y]) * rate)
        height, slope_x, slope_y = height + value, slope_x + rate * along_x, slope_y + rate * along_y
    if is_rough(w):
        rate, tile = t[0, ROUGH_RATE], w.rough.shape[0] - 3.0
        u, v = x * rate, y * rate
        u, v = u - tile * floor(u / tile), v - tile * floor(v / tile)
        value, along_x, along_y = bicubic(w.rough, u + 1.0, v + 1.0)
        height, slope_x, slope_y = height + value, slope_x + rate * along_x, slope_y + rate * along_y
    return Surface(height, slope_x, slope_y, friction(x, y, w))


def has_relief(w: Any) -> bool:
    """Return whether there is a height map."""
    return w.relief.shape[0] > 1  # type: ignore[no-any-return]


def is_rough(w: Any) -> bool:
    """Return whether there is roughness."""
    return w.rough.shape[0] > 1  # type: ignore[no-any-return]


def has_grip(w: Any) -> bool:
    """Return whether there is a friction map."""
    return w.grip.shape[0] > 1  # type: ignore[no-any-return]


def patch_count(w: Any) -> int:
    """Return the number of rows of patches."""
    return w.patches.shape[0]  # type: ignore[no-any-return]


def always(w: Any) -> bool:
    """Stand for a known answer."""
    return True


def never(w: Any) -> bool:
    """Stand for a known answer."""
    return False


def none(w: Any) -> int:
    """Stand for no patches."""
    return 0


def surface_of(tables: Sequence[Floats]) -> Function:
    """Return the function of the ground for the steps of vehicles: `uneven_surface`, or the same without its branches.

    A step with branches that depend on tables does not vectorise. Friction other than the world's keeps them, because
    the loop over patches would not vectorise either.
    """
    _, relief, rough, grip, patches, _ = tables
    empty = len(patches) == 1 and patches[0, 0] == CIRCLE and patches[0, 5] < 0.0  # see `_patch_tables`
    if len(grip) > 1 or not empty:
        return uneven_surface
    return _known_surface(len(relief) > 1, len(rough) > 1)


@cache
def _known_surface(relief: bool, rough: bool) -> Function:
    answers = {has_relief: always if relief else never, is_rough: always if rough else never}
    known = rebound(uneven_surface, {**answers, has_grip: never, patch_count: none})
    del known.__dict__["shared_code"]
    return known


def bicubic(table: Any, u: float, v: float) -> tuple[float, float, float]:
    """Return value and both derivatives between the values of a table, at column `u` and row `v`.

    Catmull-Rom: passes through the values, exact for quadratic functions, with continuous slopes. Beyond the edge the
    values of the edge continue.
    """
    u0, v0 = floor(u), floor(v)
    a0, a1, a2, a3, d0, d1, d2, d3 = catmull_rom(u - u0)
    b0, b1, b2, b3, e0, e1, e2, e3 = catmull_rom(v - v0)
    rows, columns = table.shape
    i0, i1 = table_index(u0 - 1.0, columns), table_index(u0, columns)
    i2, i3 = table_index(u0 + 1.0, columns), table_index(u0 + 2.0, columns)
    j0, j1 = table_index(v0 - 1.0, rows), table_index(v0, rows)
    j2, j3 = table_index(v0 + 1.0, rows), table_index(v0 + 2.0, rows)
    r0, s0 = _across(table, j0, i0, i1, i2, i3, a0, a1, a2, a3, d0, d1, d2, d3)
    r1, s1 = _across(table, j1, i0, i1, i2, i3, a0, a1, a2, a3, d0, d1, d2, d3)
    r2, s2 = _across(table, j2, i0, i1, i2, i3, a0, a1, a2, a3, d0, d1, d2, d3)
    r3, s3 = _across(table, j3, i0, i1, i2, i3, a0, a1, a2, a3, d0, d1, d2, d3)
    value = b0 * r0 + b1 * r1 + b2 * r2 + b3 * r3
    return value, b0 * s0 + b1 * s1 + b2 * s2 + b3 * s3, e0 * r0 + e1 * r1 + e2 * r2 + e3 * r3


def catmull_rom(f: float) -> tuple[float, float, float, float, float, float, float, float]:
    """Return the weights of four neighbours at a fraction `f` between the middle ones, and the derivatives."""
    ff = f * f
    fff = ff * f
    return (
        ff - 0.5 * (f + fff), 1.0 - 2.5 * ff + 1.5 * fff, 0.5 * f + 2.0 * ff - 1.5 * fff, 0.5 * (fff - ff),
        2.0 * f - 0.5 - 1.5 * ff, 4.5 * ff - 5.0 * f, 0.5 + 4.0 * f - 4.5 * ff, 1.5 * ff - f,
    )  # fmt: skip


def _across(
    table: Any, j: int, i0: int, i1: int, i2: int, i3: int,
    a0: float, a1: float, a2: float, a3: float, d0: float, d1: float, d2: float, d3: float,
) -> tuple[float, float]:  # fmt: skip
    """Return value and derivative along one row."""
    z0, z1, z2, z3 = table[j, i0], table[j, i1], table[j, i2], table[j, i3]
    return a0 * z0 + a1 * z1 + a2 * z2 + a3 * z3, d0 * z0 + d1 * z1 + d2 * z2 + d3 * z3


def friction(x: float, y: float, w: Any) -> float:
    """Return the friction at (x, y): the map, or the world's, under the patches in their order."""
    mu: float = w.mu + 0.0 * (x + y)
    if has_grip(w):
        rate = w.terrain[0, GRIP_RATE]
        mu = bilinear(w.grip, (x - w.terrain[0, GRIP_X]) * rate, (y - w.terrain[0, GRIP_Y]) * rate)
    for k in range(patch_count(w)):
        inside = clamp(0.5 - patch_distance(x, y, w.patches, k, w.corners) * w.patches[k, 2], 0.0, 1.0)
        mu = mu + inside * (w.patches[k, 1] - mu)
    return mu


def bilinear(table: Any, u: float, v: float) -> float:
    """Return the value between those of a table, at column `u` and row `v`; at the edge beyond it."""
    rows, columns = table.shape
    u, v = clamp(u, 0.0, columns - 1.0), clamp(v, 0.0, rows - 1.0)
    i, j = table_index(u, columns - 1), table_index(v, rows - 1)
    a, b = u - i, v - j
    low: float = table[j, i] + a * (table[j, i + 1] - table[j, i])
    high: float = table[j + 1, i] + a * (table[j + 1, i + 1] - table[j + 1, i])
    return low + b * (high - low)


def patch_distance(x: float, y: float, patches: Any, k: int, corners: Any) -> float:
    """Return the distance (m) of a point from the edge of a patch, negative inside."""
    kind = patches[k, 0]
    a, b, c, d, e, f = patches[k, 3], patches[k, 4], patches[k, 5], patches[k, 6], patches[k, 7], patches[k, 8]
    dx, dy = x - a, y - b
    distance: float = c * dx + d * dy  # HALF_PLANE: (c, d) is normal to the line, outwards
    if kind == CIRCLE:
        distance = sqrt(dx * dx + dy * dy) - c
    if kind == RECTANGLE:
        along, across = absolute(c * dx + d * dy) - e, absolute(c * dy - d * dx) - f
        out_x, out_y = maximum(along, 0.0), maximum(across, 0.0)
        distance = sqrt(out_x * out_x + out_y * out_y) + minimum(maximum(along, across), 0.0)
    if kind == POLYGON:
        distance = polygon_distance(x, y, corners, whole(a), whole(b))
    return distance


def polygon_distance(x: float, y: float, corners: Any, first: int, end: int) -> float:
    """Return the distance (m) of a point from the edge of a polygon of some corners, negative inside."""
    nearest, side = 1e30 + 0.0 * (x + y), 1.0 + 0.0 * (x + y)
    for k in range(first, end):
        before = end - 1 if k == first else k - 1
        ax, ay, bx, by = corners[before, 0], corners[before, 1], corners[k, 0], corners[k, 1]
        ex, ey, px, py = bx - ax, by - ay, x - ax, y - ay
        share = clamp((px * ex + py * ey) / maximum(ex * ex + ey * ey, 1e-12), 0.0, 1.0)
        gx, gy = px - share * ex, py - share * ey
        nearest = minimum(nearest, gx * gx + gy * gy)
        left = ex * py - ey * px
        crosses = ((ay <= y) & (by > y) & (left > 0.0)) | ((ay > y) & (by <= y) & (left < 0.0))
        side = select(crosses, -side, side)
    return side * sqrt(nearest)


LEVEL = Shared("environment", Environment)
UNEVEN = Shared("environment", Environment, tables=GROUND_TABLES)
"""The environment of kernels over flat and over uneven ground."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Uneven ground: the tables, in the order of GROUND_TABLES, and the steepest slope."""

    tables: tuple[Floats, ...]
    steepest: float  # m per m, an upper bound

    def at(self, x: Any, y: Any, environment: Floats) -> Surface:
        """Return the ground at places, arrays of one shape."""
        made: Any = shared_tuple(UNEVEN)
        w = made(*environment.tolist(), *self.tables)
        result: Surface = vectorised(uneven_surface)(np.asarray(x, np.float64), np.asarray(y, np.float64), w)
        return result


def flat_ground() -> Ground:
    """Return the tables of flat ground, for worlds with obstacles only."""
    nothing = np.zeros((1, 1))
    return Ground((np.zeros((1, 9)), nothing, nothing, nothing, *_patch_tables(())), 0.0)


def ground_of(section: Any) -> Ground:
    """Return the ground with the fields of a scenario's section `world.ground`."""
    sine, cosine = sincos(section.heading)
    terrain = np.zeros((1, 9))
    terrain[0, SLOPE_X] = section.grade * cosine - section.bank * sine
    terrain[0, SLOPE_Y] = section.grade * sine + section.bank * cosine
    terrain[0, ROUGH_RATE] = 1.0 / TILE_CELL
    relief, grip = np.zeros((1, 1)), np.zeros((1, 1))
    steepest = float(np.sqrt(terrain[0, SLOPE_X] ** 2 + terrain[0, SLOPE_Y] ** 2))
    if section.height_map is not None:
        relief = np.ascontiguousarray(section.height_map.array())
        terrain[0, RELIEF_X : RELIEF_RATE + 1] = *section.height_map.corner, 1.0 / section.height_map.spacing
        steepest += _steepest(relief, section.height_map.spacing)
    if section.friction_map is not None:
        grip = np.ascontiguousarray(section.friction_map.array())
        terrain[0, GRIP_X : GRIP_RATE + 1] = *section.friction_map.corner, 1.0 / section.friction_map.spacing
    rough = np.zeros((1, 1))
    if section.roughness is not None:
        tile = rough_tile(section.roughness, section.roughness_seed)
        rough = np.pad(tile, ((1, 2), (1, 2)), mode="wrap")
        steepest += _steepest(rough, TILE_CELL)
    patches, corners = _patch_tables(section.patches)
    return Ground((terrain, relief, rough, grip, patches, corners), steepest)


def _steepest(table: Floats, cell: float) -> float:
    """Return a bound of the slope between the values of a table: 1.5 (weights along) x 1.25 (across) differences."""
    along, across = np.abs(np.diff(table, axis=1)).max(initial=0.0), np.abs(np.diff(table, axis=0)).max(initial=0.0)
    return float(1.875 * np.sqrt(along**2 + across**2) / cell)


def _patch_tables(patches: tuple[Any, ...]) -> tuple[Floats, Floats]:
    corners: list[tuple[float, float]] = []
    rows = np.zeros((max(len(patches), 1), 9))
    rows[:, 0], rows[:, 2], rows[:, 5] = CIRCLE, SHARP, -1.0  # without patches: one that contains nothing
    for row, patch in zip(rows, patches, strict=False):
        row[5] = 0.0
        row[1:3] = patch.mu, SHARP if patch.transition <= 0.0 else 1.0 / patch.transition
        if patch.circle is not None:
            row[0], row[3:6] = CIRCLE, (*patch.circle.center, patch.circle.radius)
        elif patch.rectangle is not None:
            sine, cosine = sincos(patch.rectangle.heading)
            length, width = patch.rectangle.size
            row[0], row[3:] = RECTANGLE, (*patch.rectangle.center, cosine, sine, 0.5 * length, 0.5 * width)
        elif patch.half_plane is not None:
            sine, cosine = sincos(patch.half_plane.heading)
            row[0], row[3:7] = HALF_PLANE, (*patch.half_plane.point, sine, -cosine)
        else:
            assert patch.polygon is not None
            row[0], row[3:5] = POLYGON, (len(corners), len(corners) + len(patch.polygon))
            corners += patch.polygon
    return rows, np.array(corners or [(0.0, 0.0)], np.float64)


@lru_cache(maxsize=4)
def rough_tile(name: str, seed: int) -> Floats:
    """Return the heights (TILE, TILE) of a class, in m; the tile repeats without a seam."""
    real, imaginary = np.zeros((TILE, TILE)), np.zeros((TILE, TILE))
    fill_waves(real, imaginary, ROAD_CLASSES[name] * REFERENCE_WAVE * REFERENCE_WAVE, TILE_CELL, FINEST_WAVE, seed)
    for _ in range(2):  # along x, then along y
        transform_rows(real, imaginary)
        real, imaginary = np.ascontiguousarray(real.T), np.ascontiguousarray(imaginary.T)
    real.flags.writeable = False
    return real


def _fill_waves(real: Floats, imaginary: Floats, strength: float, cell: float, finest: float, seed: int) -> None:
    """Set the amplitudes of waves, [k_y, k_x], with the spectrum strength / 4 k^-3 and random phases.

    Of each pair of opposite waves one is set, with both shares: the heights are the real part of the transform. The
    amplitudes allow for what interpolation between the heights takes away.
    """
    size = real.shape[0]
    step = 1.0 / (size * cell)  # cycles/m
    for row in range(size):
        k_y = row if row < size // 2 else row - size
        for k_x in range(size // 2):
            wave = step * sqrt(1.0 * (k_x * k_x + k_y * k_y))
            if (k_x > 0 or k_y > 0) and wave <= finest:
                kept = interpolated(k_x / size) * interpolated(k_y / size)
                amplitude = step * sqrt(strength / (wave * wave * wave)) / kept
                phase, _ = uniforms(seed, ROUGHNESS_STREAM, 0, row * size + k_x)
                sine, cosine = sincos(TWO_PI * phase)
                real[row, k_x], imaginary[row, k_x] = amplitude * cosine, amplitude * sine


def interpolated(frequency: float) -> float:
    """Return the share of a wave (cycles per value) that the Catmull-Rom interpolation keeps (Keys, 1981)."""
    if frequency == 0.0:
        return 1.0
    w = TWO_PI * frequency
    half, one, two = sincos(0.5 * w)[0] / (0.5 * w), sincos(w)[0] / w, sincos(2.0 * w)[0] / (2.0 * w)
    return (12.0 * (half * half - one) - 4.0 * (3.0 * one * one - 2.0 * one - two)) / (w * w)


def _transform_rows(real: Floats, imaginary: Floats) -> None:
    """Replace every row by its inverse Fourier transform without a factor; the length is a power of two."""
    rows, size = real.shape
    for row in range(rows):
        other = 0
        for k in range(1, size):  # reversed bits
            bit = size >> 1
            while other & bit:
                other ^= bit
                bit >>= 1
            other |= bit
            if k < other:
                real[row, k], real[row, other] = real[row, other], real[row, k]
                imaginary[row, k], imaginary[row, other] = imaginary[row, other], imaginary[row, k]
        width = 2
        while width <= size:
            half = width // 2
            for k in range(half):
                sine, cosine = sincos(TWO_PI * k / width)
                for a in range(k, size, width):
                    b = a + half
                    x = cosine * real[row, b] - sine * imaginary[row, b]
                    y = cosine * imaginary[row, b] + sine * real[row, b]
                    real[row, b], imaginary[row, b] = real[row, a] - x, imaginary[row, a] - y
                    real[row, a], imaginary[row, a] = real[row, a] + x, imaginary[row, a] + y
            width *= 2


fill_waves, transform_rows = routine(_fill_waves), routine(_transform_rows)
