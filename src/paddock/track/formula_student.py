"""Tracks by the rules of Formula Student: random ones as a function of the seed, and checks of any track.

`cone_rows` puts cones along a middle line: rows on both sides, closer together in bends, large orange ones at the start
line. `figures` and `problems` describe a track, and what in it breaks the rules for autocross and trackdrive.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import atan2
from paddock.compute.philox import uniforms
from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, PaddockError, whole_number
from paddock.track.building import from_file
from paddock.track.lines import (
    Floats,
    directions,
    distances,
    leftwards,
    lengths,
    meets_itself,
    opened,
    signed_curvature,
    smooth_curve,
    smooth_points,
)
from paddock.track.skidpad import find_skidpad
from paddock.track.track import CONE_COLOURS, YELLOW, Track
from paddock.wire.tracks import Cone, Start, TrackFile

SHORTEST, LONGEST = 200.0, 500.0  # m, of a lap
NARROWEST, WIDEST = 3.0, 8.0  # m
STRAIGHT = 80.0  # m at most
HAIRPIN = 9.0  # m, outside diameter at least
NEARLY_STRAIGHT = 0.01  # 1/m, curvature averaged over STRETCH
STRETCH = 5.0  # m
MARGIN = 0.2  # m added to the width: straight lines between cones cut bends
ATTEMPTS = 4000
STREAM = 0x7261636B  # of random draws
CORNERS = 24  # at most
SHAPE, SIZE = 1, 2  # purposes of draws
FARTHEST = 5.0  # m between neighbouring cones of a boundary
TOLERANCE = 0.05  # m: positions in files are rounded, and boundaries are curves through cones


class _Wish(NamedTuple):
    width: float
    low: float
    high: float


def generate(seed: int = 0, width: float = 3.5, length: tuple[float, float] = (220.0, 480.0)) -> Track:
    """Return a random closed track: `width` (m) at least everywhere, a lap of `length` (m, from and to)."""
    wish = _checked(seed, width, length)
    for attempt in range(ATTEMPTS):
        line = _candidate(seed, attempt, wish)
        if not (len(line) and _keeps_rules(line, wish)):
            continue
        file = cone_rows(line, np.full(len(line), wish.width + MARGIN), start=_start(line))
        track = from_file(file, f"generated {seed}")
        # the middle line of the cones is smoother than the line that they were set along
        if straightest(track) <= STRAIGHT and SHORTEST <= track.length <= LONGEST:
            return track
    raise PaddockError(f"no track of {wish.low:g} to {wish.high:g} m and a width of {width:g} m found for seed {seed}")


def _checked(seed: int, width: float, length: tuple[float, float]) -> _Wish:
    whole_number("the seed of a track is a whole number from 0 to 2**64 - 1", seed, 2**64 - 1)
    if not _is_number(width) or not NARROWEST <= width <= WIDEST:
        raise InvalidValueError(f"the width of a track must be {NARROWEST:g} to {WIDEST:g} m, not {width!r}")
    pair = tuple(length) if isinstance(length, Sequence | np.ndarray) and not isinstance(length, str) else ()
    if len(pair) != 2 or not all(map(_is_number, pair)):
        raise InvalidValueError(f"the length of a lap is a pair of numbers, from and to, in m, not {length!r}")
    low, high = pair
    if not SHORTEST <= low <= high <= LONGEST:
        raise InvalidValueError(f"the length of a lap must lie in {SHORTEST:g} to {LONGEST:g} m, not {length!r}")
    return _Wish(float(width), float(low), float(high))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _candidate(seed: int, attempt: int, wish: _Wish) -> Floats:
    """Return a closed line (k, 2) with points about 1 m apart; none where its bends stay too tight."""
    u, v = vectorised(uniforms)(seed, STREAM, SHAPE, attempt * CORNERS + np.arange(CORNERS))
    size, corners = (float(draws[0]) for draws in vectorised(uniforms)(seed, STREAM, SIZE, attempt + np.arange(1)))
    count = 8 + int(corners * 8)
    turn = 1.0 if v[-1] < 0.5 else -1.0  # driven to the left or to the right
    angle = (np.arange(count) + 0.7 * (u[:count] - 0.5)) * (2.0 * np.pi / count)
    radius = 0.35 + 0.9 * v[:count]
    points = np.column_stack([radius * arrays.cos(angle), turn * radius * arrays.sin(angle)])
    goal = wish.low + size * (wish.high - wish.low)
    return opened(smooth_curve(points, closed=True), goal, least_radius(wish.width) * 1.05)


def least_radius(width: float) -> float:
    """Return the least radius (m) of the middle line: of hairpins, and so that a bend keeps a width within it."""
    return max(0.5 * (HAIRPIN - width) + 0.5, width + 0.4)


def _keeps_rules(line: Floats, wish: _Wish) -> bool:
    """Return whether a line keeps its distance from itself and has no long straight."""
    limit = 2.0 * (wish.width + MARGIN) + 0.5
    cell = float(lengths(line[1:2] - line[:1])[0])
    straight = _straightest(signed_curvature(line, closed=True), cell, closed=True)
    return not meets_itself(line, limit, 1.6 * limit) and straight <= STRAIGHT - 5.0


def straightest(track: Track) -> float:
    """Return the length (m) of the longest stretch of a track's middle line that is nearly straight."""
    return _straightest(track.curvature, track.length / (len(track.centre) - (not track.closed)), track.closed)


def _straightest(bend: Floats, cell: float, closed: bool) -> float:
    """Return the length (m) of the longest nearly straight stretch, of the curvature at points `cell` m apart."""
    reach = round(0.5 * STRETCH / cell)
    around = np.pad(bend, reach, mode="wrap" if closed else "edge")
    mean = np.convolve(around, np.full(2 * reach + 1, 1.0 / (2 * reach + 1)), mode="valid")
    straight = np.abs(mean) < NEARLY_STRAIGHT
    if straight.all():
        return float(len(bend) * cell)
    bends = np.flatnonzero(~straight)
    ends = np.append(bends, bends[0] + len(bend)) if closed else np.concatenate([[-1], bends, [len(bend)]])
    return float(np.diff(ends).max() - 1) * cell


def _start(line: Floats) -> int:
    """Return the point in the middle of the straightest 12 m, where the start line is."""
    bend = np.abs(signed_curvature(line, closed=True))
    reach = sum(np.roll(bend, step) for step in range(-8, 5))
    return int(np.argmin(reach))


SAGITTA = 0.06  # m that a straight line between two cones may cut off a bend
CLOSEST = 1.2  # m between cones
START_GAP = 0.35  # m of the large cones before and after the start line
BEHIND = 6.0  # m from the start pose to the line


def cone_rows(line: Floats, width: Floats, farthest: float = 4.6, start: int = 0) -> TrackFile:
    """Return the cones of a closed track: `line` (k, 2) is its middle, `width` (k,) m its width.

    The start line is at the point `start`; the start pose is 6 m before it.
    """
    ahead = directions(line, closed=True)
    side = leftwards(ahead)
    cones: list[Cone] = []
    for colour, sign in (("blue", 1.0), ("yellow", -1.0)):
        edge = np.roll(line + sign * 0.5 * width[:, None] * side, -start, axis=0)
        bend = np.roll(np.abs(signed_curvature(line, closed=True)), -start)
        step = _steps(edge, bend, farthest)
        places = _spread(edge, step)
        for x, y in places[:1].tolist():  # the start line: two large cones at each side
            before = np.roll(ahead, -start, axis=0)[0] * START_GAP
            cones += [
                Cone("big_orange", x - before[0], y - before[1]),
                Cone("big_orange", x + before[0], y + before[1]),
            ]
        cones += [Cone(colour, x, y) for x, y in places[1:].tolist()]
    along = distances(line, closed=True)
    at = (along[start] - BEHIND) % along[-1]
    x, y = (float(np.interp(at, along, np.append(line[:, k], line[0, k]))) for k in (0, 1))
    k = int(np.searchsorted(along, at, side="right")) - 1
    tidy = tuple(c._replace(x=round(float(c.x), 3), y=round(float(c.y), 3)) for c in cones)
    yaw = atan2(float(ahead[k, 1]), float(ahead[k, 0]))
    return TrackFile(tidy, Start(round(x, 3), round(y, 3), round(yaw, 6)))


def _steps(edge: Floats, bend: Floats, farthest: float) -> Floats:
    """Return at each point of an edge the distance of cones that follows the bend."""
    own = np.abs(signed_curvature(edge, closed=True))
    tight = np.maximum(bend, np.minimum(own, 1.0))
    step = np.clip(np.sqrt(8.0 * SAGITTA / np.maximum(tight, 1e-6)), CLOSEST, farthest)
    column = np.column_stack([step, step])
    return np.asarray(np.minimum(step, smooth_points(column, True, 20)[:, 0]))


def _spread(edge: Floats, step: Floats) -> Floats:
    """Return places on an edge whose distances follow `step`, the first one at the first point."""
    gaps = lengths(np.roll(edge, -1, axis=0) - edge)
    count_along = np.concatenate([[0.0], np.cumsum(gaps / (0.5 * (step + np.roll(step, -1))))])
    count = int(np.ceil(count_along[-1]))
    at = np.arange(count) * (count_along[-1] / count)
    ends = np.concatenate([edge, edge[:1]])
    return np.stack([np.interp(at, count_along, ends[:, k]) for k in (0, 1)], axis=1)


def figures(track: Track) -> dict[str, Any]:
    """Return length and widths (m), tightest radius (m, None: straight), cones by colour, gates and problems."""
    bend = np.abs(track.curvature)
    tightest = int(np.argmax(bend))
    return {
        "name": track.name,
        "closed": track.closed,
        "length": round(track.length, 2),
        "width": [round(float(track.width.min()), 2), round(float(track.width.max()), 2)],
        "tightest_radius": None if bend[tightest] < 1e-6 else round(float(1.0 / bend[tightest]), 2),
        "longest_straight": round(straightest(track), 1),
        "cones": {name: len(track.of_colour(name)) for name in CONE_COLOURS if len(track.of_colour(name))},
        "start": list(track.start),
        "gates": [gate.name for gate in track.gates],
        "problems": problems(track),
    }


def problems(track: Track) -> list[str]:
    """Return one line for each rule that a track breaks."""
    broken: list[str] = []
    beyond = start_beyond(track)
    if beyond > TOLERANCE:
        broken.append(f"start pose {_at(np.array(track.start[:2]))}, {beyond:.1f} m outside the track")
    narrow = np.flatnonzero(track.width < NARROWEST - TOLERANCE)
    if len(narrow):
        least = int(np.argmin(track.width))
        broken.append(f"width {track.width[least]:.2f} m {_at(track.centre[least])}, at least {NARROWEST:g} m")
    for name, side in (("left", track.left_cones), ("right", track.right_cones)):
        broken += _gaps(track, name, side)
    if track.closed and not SHORTEST <= track.length <= LONGEST:
        broken.append(f"lap of {track.length:.0f} m, {SHORTEST:g} to {LONGEST:g} m are allowed")
    if track.closed and (straight := straightest(track)) > STRAIGHT:
        broken.append(f"straight of {straight:.0f} m, at most {STRAIGHT:g} m")
    outside = outside_diameters(track)
    if outside.min() < HAIRPIN - 2.0 * TOLERANCE:
        k = int(np.argmin(outside))
        broken.append(f"hairpin of {outside[k]:.1f} m outside diameter {_at(track.centre[k])}, at least {HAIRPIN:g} m")
    yellow = int(np.count_nonzero(track.colours[track.left_cones] == YELLOW))
    if yellow and len(track.left_cones):
        broken.append(f"{yellow} yellow cones on the left, where blue ones belong: swap the colours")
    return broken


def _gaps(track: Track, name: str, side: Any) -> list[str]:
    """Return a line about neighbouring cones of a boundary that are too far apart."""
    if len(side) < 2 or find_skidpad(track.cones, track.colours) is not None:  # its circles have their own distances
        return []
    places = track.cones[side]
    places = np.concatenate([places, places[:1]]) if track.closed else places
    steps = lengths(np.diff(places, axis=0))
    wide = np.flatnonzero(steps > FARTHEST + TOLERANCE)
    if not len(wide):
        return []
    k = int(np.argmax(steps))
    more = "" if len(wide) == 1 else f" ({len(wide)} such gaps)"
    return [f"{name} cones {steps[k]:.2f} m apart {_at(places[k])}, at most {FARTHEST:g} m{more}"]


def start_beyond(track: Track) -> float:
    """Return how far (m) the start pose is outside the boundaries; the way before an open track does not count."""
    x, y, _ = track.start
    along, _ = track.locate(x, y)
    heading, (px, py) = np.array([float(track.heading_at(along))]), track.point_at(along).tolist()
    aside = float(arrays.cos(heading)[0] * (y - py) - arrays.sin(heading)[0] * (x - px))
    left, right = track.widths_at(along)
    return max(aside - float(left), -aside - float(right))


def outside_diameters(track: Track) -> Floats:
    """Return the diameter (m) of the outer boundary at each point of the middle line; inf where it is straight."""
    bend = track.curvature
    outer = np.where(bend > 0.0, track.right_width, track.left_width)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * (1.0 / np.abs(bend) + outer))


def _at(index: Floats) -> str:
    return f"at ({index[0]:.1f}, {index[1]:.1f})"
