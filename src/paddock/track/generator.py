"""Random tracks by the rules of Formula Student: a function of the seed."""

from typing import NamedTuple

import numpy as np

from paddock.compute import arrays
from paddock.compute.philox import uniforms
from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, PaddockError
from paddock.track.building import from_file
from paddock.track.cone_rows import cone_rows
from paddock.track.lines import Floats, distances, evenly, lengths, neighbours, signed_curvature, smooth_curve
from paddock.track.track import Track
from paddock.wire.tracks import TrackFile

SHORTEST, LONGEST = 200.0, 500.0  # m, of a lap
NARROWEST, WIDEST = 3.0, 8.0  # m
STRAIGHT = 80.0  # m at most
HAIRPIN = 9.0  # m, outside diameter at least
NEARLY_STRAIGHT = 1.0 / 250.0  # 1/m
MARGIN = 0.12  # m added to the width: straight lines between cones cut bends
ATTEMPTS = 4000
STREAM = 0x7261636B  # of random draws
CORNERS = 24  # at most
SHAPE, SIZE = 1, 2  # purposes of draws


class _Wish(NamedTuple):
    width: float
    low: float
    high: float


def generate(seed: int = 0, width: float = 3.5, length: tuple[float, float] = (220.0, 480.0)) -> Track:
    """Return a random closed track: `width` (m) at least everywhere, a lap of `length` (m, from and to)."""
    return from_file(generate_file(seed, width, length), f"generated {seed}")


def generate_file(seed: int = 0, width: float = 3.5, length: tuple[float, float] = (220.0, 480.0)) -> TrackFile:
    """Return the cones of a random closed track."""
    wish = _checked(seed, width, length)
    for attempt in range(ATTEMPTS):
        line = _candidate(seed, attempt, wish)
        if line is not None and _keeps_rules(line, wish):
            start = _start(line)
            return cone_rows(line, np.full(len(line), wish.width + MARGIN), start=start)
    raise PaddockError(f"no track of {wish.low:g} to {wish.high:g} m and a width of {width:g} m found for seed {seed}")


def _checked(seed: int, width: float, length: tuple[float, float]) -> _Wish:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise InvalidValueError(f"the seed of a track is a whole number from 0 to 2**64 - 1, not {seed!r}")
    if not NARROWEST <= width <= WIDEST:
        raise InvalidValueError(f"the width of a track must be {NARROWEST:g} to {WIDEST:g} m, not {width!r}")
    low, high = length
    if not SHORTEST <= low <= high <= LONGEST:
        raise InvalidValueError(f"the length of a lap must lie in {SHORTEST:g} to {LONGEST:g} m, not {length!r}")
    return _Wish(float(width), float(low), float(high))


def _candidate(seed: int, attempt: int, wish: _Wish) -> Floats | None:
    """Return a closed line (k, 2) with points of about 1 m, or None."""
    u, v = vectorised(uniforms)(seed, STREAM, SHAPE, attempt * CORNERS + np.arange(CORNERS))
    size, corners = (float(one[0]) for one in vectorised(uniforms)(seed, STREAM, SIZE, attempt + np.arange(1)))
    count = 8 + int(corners * 8)
    angle = (np.arange(count) + 0.7 * (u[:count] - 0.5)) * (2.0 * np.pi / count)
    radius = 0.35 + 0.9 * v[:count]
    points = np.column_stack([radius * arrays.cos(angle), radius * arrays.sin(angle)])
    line = smooth_curve(points, closed=True)
    goal = wish.low + size * (wish.high - wish.low)
    line = evenly(line * (goal / distances(line, closed=True)[-1]), 1.0, closed=True)
    return _relaxed(line, goal, least_radius(wish.width) * 1.05)


def least_radius(width: float) -> float:
    """Return the least radius (m) of the middle line: of hairpins, and so that a bend keeps a width within it."""
    return max(0.5 * (HAIRPIN - width) + 0.5, width + 0.4)


def _relaxed(line: Floats, goal: float, radius: float) -> Floats | None:
    """Return the line with its bends opened to a least radius; None where that does not succeed."""
    for _ in range(60):
        bend = np.abs(signed_curvature(line, closed=True))
        tight = bend > 1.0 / radius
        if not tight.any():
            return line
        near = tight.copy()
        for step in range(1, 5):
            near |= np.roll(tight, step) | np.roll(tight, -step)
        for _ in range(6):
            before, after = neighbours(line, closed=True)
            line = np.where(near[:, None], line + 0.5 * (0.5 * (before + after) - line), line)
        line = evenly(line * (goal / distances(line, closed=True)[-1]), 1.0, closed=True)
    return None


def _keeps_rules(line: Floats, wish: _Wish) -> bool:
    """Return whether a line keeps its distance from itself and has no long straight."""
    step = 2
    points = line[::step]
    count = len(points)
    gap_x, gap_y = points[:, None, 0] - points[None, :, 0], points[:, None, 1] - points[None, :, 1]
    apart = np.abs(np.arange(count)[:, None] - np.arange(count)[None])
    along = np.minimum(apart, count - apart) * float(step)
    limit = 2.0 * (wish.width + MARGIN) + 0.5
    if ((gap_x * gap_x + gap_y * gap_y < limit * limit) & (along > 1.6 * limit)).any():
        return False
    return longest_straight(line) <= STRAIGHT - 5.0


def longest_straight(line: Floats) -> float:
    """Return the length (m) of the longest stretch of a closed line that is nearly straight."""
    straight = np.abs(signed_curvature(line, closed=True)) < NEARLY_STRAIGHT
    if straight.all():
        return float("inf")
    bends = np.flatnonzero(~straight)
    gaps = np.diff(np.append(bends, bends[0] + len(line))) - 1
    return float(gaps.max() * lengths(line[1:2] - line[:1])[0])


def _start(line: Floats) -> int:
    """Return the point in the middle of the straightest 12 m, where the start line is."""
    bend = np.abs(signed_curvature(line, closed=True))
    reach = sum(np.roll(bend, step) for step in range(-8, 5))
    return int(np.argmin(reach))
