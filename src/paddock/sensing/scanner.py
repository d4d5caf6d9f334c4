"""What lidars have in common: beams from options, distances, then noise, lost beams and range limits."""

from functools import lru_cache
from typing import Any

import numpy as np

from paddock.compute import arrays as array_math
from paddock.compute.math import select
from paddock.compute.philox import normals, uniforms
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.threads import thread_count
from paddock.sensing.rays import Beams, scan
from paddock.sensing.sensor import ArrayReading, FleetView
from paddock.world.columns import Environment, Floats
from paddock.world.scenery import NOTHING

MANY_BEAMS = 20_000  # from which vehicles are shared among threads
DEVIATIONS = 8.0  # of the noise: as far beyond the range what is there may appear in it
NOISE, LOST = 0, 1  # purposes
INFINITE = float("inf")


@lru_cache(maxsize=64)
def beams_of(options: Any) -> Beams:
    """Return the beams of a lidar's options: evenly spaced, the outer ones at the edges of the field of view.

    A whole turn has one step more than the beams have gaps, so that the first and the last beam differ.
    """
    count, rings = round(options.beams), round(options.rings)
    view, tall = np.radians(options.fov_deg), np.radians(options.vertical_fov_deg)
    step = view / count if options.fov_deg == 360.0 else view / max(count - 1, 1)
    first = -0.5 * view if count > 1 else 0.0
    azimuth = first + step * np.arange(count)
    rise = -0.5 * tall + (tall / max(rings - 1, 1)) * np.arange(rings) if rings > 1 else np.zeros(1)
    yaw, pitch = np.radians([options.yaw_deg, options.pitch_deg])
    (sy, sp), (cy, cp) = array_math.sin(np.array([yaw, pitch])), array_math.cos(np.array([yaw, pitch]))
    axes = [cy * cp, -sy, cy * sp, sy * cp, cy, sy * sp, -sp, 0.0, cp]  # turned left, then nose down
    mount = np.array([options.x, options.y, options.z, *axes])
    directions = np.stack([array_math.cos(azimuth), array_math.sin(azimuth)])
    rises = np.stack([array_math.cos(rise), array_math.sin(rise)])
    return Beams(mount, directions, rises, float(first), float(step))


def disturb_scan(
    line: Any, key: int, stream: int, purpose: int, tick: int, noise: float, lost: float, low: float, high: float,
    out: Any,
) -> tuple[float, float]:  # fmt: skip
    """Turn the distances (beams,) of a scan into ranges with noise; return the number of returns and the nearest one.

    A range is infinite without a return, and minus infinite nearer than `low`.
    """
    pairs = line.size // 2
    if noise > 0.0:
        for j in range(pairs):
            a, b = normals(key ^ j, stream, purpose + NOISE, tick)
            line[2 * j] += noise * a
            line[2 * j + 1] += noise * b
        if line.size > 2 * pairs:
            a, b = normals(key ^ pairs, stream, purpose + NOISE, tick)
            line[2 * pairs] += noise * a
    if lost > 0.0:
        for j in range(pairs):
            a, b = uniforms(key ^ j, stream, purpose + LOST, tick)
            line[2 * j] = select(a < lost, NOTHING, line[2 * j])
            line[2 * j + 1] = select(b < lost, NOTHING, line[2 * j + 1])
        if line.size > 2 * pairs:
            a, b = uniforms(key ^ pairs, stream, purpose + LOST, tick)
            line[2 * pairs] = select(a < lost, NOTHING, line[2 * pairs])
    returns, nearest = 0, INFINITE
    for j in range(line.size):
        seen = select(line[j] > high, INFINITE, select(line[j] < low, -INFINITE, line[j]))
        out[j] = seen
        valid = (seen >= low) & (seen <= high)
        returns += valid
        nearest = select(valid & (seen < nearest), seen, nearest)
    return 1.0 * returns, nearest


def disturb_scans(
    found: Any, key: int, streams: Any, purpose: int, tick: int, noise: float, lost: float, low: float, high: float,
    ranges: Any, reading: Any,
) -> None:  # fmt: skip
    """Turn the distances (n, beams) of all vehicles into ranges, and write the summary (2, n)."""
    for i in parallel_range(found.shape[0]):
        reading[0, i], reading[1, i] = disturb_scan(
            found[i], key, streams[i], purpose, tick, noise, lost, low, high, ranges[i]
        )


disturb_all = parallel_routine(disturb_scans, inline=True)


def distances(view: FleetView) -> Floats:
    """Return the true distances (n, rings, beams) of all beams, m, NOTHING without a hit."""
    options, around = view.options, view.around
    beams = beams_of(options)
    ground = Environment(*view.environment.tolist()).ground_z
    reach = options.range_max + DEVIATIONS * options.noise
    solids = around.fixed, around.bodies
    return scan(view.pose, view.ids, beams, reach, ground, *solids, around.scenery, _many(view, beams))


def _many(view: FleetView, beams: Beams) -> bool:
    values = view.n * beams.directions.shape[1] * beams.rises.shape[1]
    return view.n > 1 and values >= MANY_BEAMS and thread_count() > 1


def look_around(view: FleetView, arrays: Any, reading: Floats) -> None:
    """Fill the ranges of a lidar."""
    options, ranges = view.options, distances(view)
    run = disturb_all if _many(view, beams_of(options)) else disturb_all.alone
    draws = view.key, view.streams, view.purpose, view.tick
    limits = options.noise, options.dropout, options.range_min, options.range_max
    n = view.n
    run(ranges.reshape(n, -1), *draws, *limits, arrays["ranges"].reshape(n, -1), reading)


def ranges_of(options: Any) -> tuple[ArrayReading, ...]:
    """Return the array of a lidar: (beams,), or (rings, beams) for several rings."""
    rings, beams = round(options.rings), round(options.beams)
    shape = (beams,) if rings == 1 else (rings, beams)
    meaning = "distance along each beam, from right to left (rings: from below); inf: no return, -inf: too near"
    return (ArrayReading("ranges", shape, "float32", "m", meaning),)


def lidar_problem(options: Any) -> str:
    """Return what is impossible about the options of a lidar."""
    for name in ("beams", "rings"):
        if getattr(options, name) != round(getattr(options, name)):
            return f"option {name!r} is a whole number, not {getattr(options, name):g}"
    if options.range_min >= options.range_max:
        return f"range_min, {options.range_min:g} m, must be less than range_max, {options.range_max:g} m"
    if options.rings > 1 and options.vertical_fov_deg <= 0.0:
        return f"{options.rings:g} rings need a vertical_fov_deg above 0"
    return ""
