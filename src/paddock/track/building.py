"""Build a track from cones: boundaries, middle line, widths and gates."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.compute.math import sincos
from paddock.errors import InvalidValueError, suggestion
from paddock.track.lines import (
    Floats,
    directions,
    distances,
    evenly,
    leftwards,
    lengths,
    line_blocks,
    locate_places,
    neighbours,
    smooth_curve,
    smooth_points,
)
from paddock.track.ordering import EITHER, LEFT, NEITHER, RIGHT, TrackShapeError, order_cones, refuse_crossing
from paddock.track.skidpad import find_skidpad, skidpad_shape
from paddock.track.track import CONE_COLOURS, Gate, Track
from paddock.wire.tracks import Cone, Start, TrackFile

SPACING = 0.5  # m between points of the middle line
COARSE = 1.0  # m, of tracks longer than LONG
LONG = 1500.0  # m
SECTORS = 3
REFINEMENTS = 4
PASSES = 12  # of smoothing
LEAST_STEP = 0.05  # m between middles of opposite cones
FINE = 4  # points between two of the middle line, where it is divided again
UNEVEN = 0.3  # the smaller gap beside a cone, of the larger one
BETWEEN = 1.05  # distance of the neighbours of a cone that stands between them, of the gaps beside both
BEND = 0.25  # sine of the turn from two gaps before a cone to two gaps after it
TOGETHER = 5.0  # m between cones of one timing line
Place = tuple[float, ...]
_LISTED = {"left": LEFT, "right": RIGHT}
_SIDE_OF = {"blue": LEFT, "yellow": RIGHT, "orange": EITHER, "big_orange": EITHER, "unknown": NEITHER}


class MissingStartError(TrackShapeError):
    """A track without a start pose."""


def from_cones(
    cones: ArrayLike,
    colours: ArrayLike | Sequence[str],
    start: Sequence[float],
    name: str = "track",
    covariances: ArrayLike | None = None,
) -> Track:
    """Return the track of cones (n, 2) m with colours (names or places in CONE_COLOURS) and a start (x, y, yaw)."""
    places = _numbers("cones", cones)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise InvalidValueError(f"cones must be finite numbers of the shape (n, 2), not of {places.shape}")
    named = [_colour(colour) for colour in np.asarray(colours).tolist()]
    if len(named) != len(places):
        raise InvalidValueError(f"there are {len(places)} cones and {len(named)} colours")
    spread = np.zeros((len(places), 3)) if covariances is None else _numbers("covariances", covariances)
    if spread.shape != (len(places), 3):
        raise InvalidValueError(f"covariances must have the shape ({len(places)}, 3), not {spread.shape}")
    x, y, yaw = _start(start)
    rows = zip(named, places.tolist(), spread.tolist(), strict=True)
    made = tuple(Cone(c, p[0], p[1], 0.0, 0.0, s[0], s[1], s[2]) for c, p, s in rows)
    file = TrackFile(made, Start(x, y, yaw))
    return from_file(file, name)


def _colour(value: Any) -> str:
    if isinstance(value, str):
        if value not in CONE_COLOURS:
            raise InvalidValueError(f"unknown colour {value!r} of a cone; {suggestion(value, CONE_COLOURS)}")
        return value
    if not isinstance(value, int) or not 0 <= value < len(CONE_COLOURS):
        raise InvalidValueError(
            f"a colour is one of {', '.join(CONE_COLOURS)} or its place in this list, not {value!r}"
        )
    return CONE_COLOURS[value]


def _numbers(what: str, rows: Any) -> Floats:
    try:
        return np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{what} must be rows of numbers, not {str(rows)[:60]!r}") from None


def _start(start: Any) -> tuple[float, float, float]:
    try:
        values = tuple(float(value) for value in start)
    except (TypeError, ValueError):
        values = ()
    if isinstance(start, str) or len(values) != 3 or not all(map(math.isfinite, values)):
        raise InvalidValueError(f"a start pose is (x, y, yaw) in m and rad, not {start!r}")
    return values[0], values[1], values[2]


def from_file(file: TrackFile, name: str, start: Sequence[float] | None = None) -> Track:
    """Return the track of the contents of a file; errors begin with `name`."""
    if start is not None:
        x, y, yaw = _start(start)
        file = replace(file, start=Start(x, y, yaw))
    shown = os.path.splitext(os.path.basename(name))[0] or name
    try:
        return _built(file, shown)
    except TrackShapeError as error:
        raise type(error)(f"{name}: {error}") from None


def _built(file: TrackFile, name: str) -> Track:
    if file.start is None:
        raise MissingStartError("the track has no start pose: add a car_start to the file, or give start=(x, y, yaw)")
    start = file.start.x, file.start.y, file.start.yaw
    places = np.array([(cone.x, cone.y) for cone in file.cones], np.float64).reshape(-1, 2)
    standing = np.array([not cone.invisible for cone in file.cones], np.bool_)
    number = np.where(standing, np.cumsum(standing) - 1, -1)
    colours = np.array([CONE_COLOURS.index(cone.colour) for cone in file.cones], np.int8)
    spread = np.array([cone[5:8] for cone in file.cones], np.float64).reshape(-1, 3)[standing]
    frame = find_skidpad(places[standing], colours[standing])
    shape = _ordered_shape(file, places, start) if frame is None else skidpad_shape(frame, colours)
    for boundary in ("left_cones", "right_cones"):
        cones = number[shape[boundary]]
        shape[boundary] = cones[cones >= 0]
    own: dict[str, Any] = {"cones": places[standing], "colours": colours[standing]}
    own["covariances"] = spread if spread.any() else None
    return Track(name=name, start=start, source=file, **own, **shape)


def _ordered_shape(file: TrackFile, places: Floats, start: tuple[float, float, float]) -> dict[str, Any]:
    """Return the fields of a track that follow from the order of its cones; boundaries have numbers of `places`."""
    sides = np.array([_side(cone) for cone in file.cones], np.int8)
    names = [f"the {c.colour} cone {k + 1} at ({c.x:g}, {c.y:g})" for k, c in enumerate(file.cones)]
    if _blue_is_right(places, sides, start):  # files with yellow cones on the left
        sides = np.where(sides == LEFT, RIGHT, np.where(sides == RIGHT, LEFT, sides)).astype(np.int8)
    ordered = order_cones(places, sides, start, names)
    closed = ordered.closed
    refuse_crossing(places, ordered, names)
    lefts, rights = places[ordered.left], places[ordered.right]
    left, right = boundary_curve(lefts, closed), boundary_curve(rights, closed)
    centre = middle_line(lefts, rights, left, right, closed)
    if closed:
        centre = _from_start(centre, start)
    left_width, right_width = _gaps(centre, left, closed), _gaps(centre, right, closed)
    return {
        "closed": closed,
        "centre": centre,
        "left_width": left_width,
        "right_width": right_width,
        "left": left,
        "right": right,
        "gates": _gates(file, centre, left_width, right_width, start, closed),
        "left_cones": ordered.left,
        "right_cones": ordered.right,
    }


def boundary_curve(cones: Floats, closed: bool) -> Floats:
    """Return a smooth curve through the cones of a boundary (k, 2); exact in bends also where their gaps are uneven.

    Centripetal parameters never make loops, but where a cone in a bend is much nearer to one neighbour than to the
    other, as an added cone of a start line is, the curve bends up to twice as much as the cones do.
    """
    before, after = neighbours(cones, closed)
    gaps = lengths(after - cones)  # to the next cone
    arriving, leaving = np.roll(cones - before, 1, axis=0), np.roll(after - cones, -1, axis=0)
    cross = arriving[:, 0] * leaving[:, 1] - arriving[:, 1] * leaving[:, 0]
    bends = np.abs(cross) > BEND * np.maximum(np.roll(gaps, 2) * np.roll(gaps, -1), 1e-12)
    ratio = np.minimum(gaps, np.roll(gaps, 1)) / np.maximum(np.maximum(gaps, np.roll(gaps, 1)), 1e-12)
    between = lengths(after - before) < BETWEEN * np.minimum(np.roll(gaps, 2), np.roll(gaps, -1))
    uneven = bends & ((ratio < UNEVEN) | between)
    if not closed:
        uneven[:2] = uneven[-2:] = False
    return smooth_curve(cones, closed, chordal=bool(uneven.any()))


def _side(cone: Cone) -> int:
    if cone.side in _LISTED:
        return _LISTED[cone.side]
    return NEITHER if cone.invisible else _SIDE_OF[cone.colour]


def _blue_is_right(places: Floats, sides: NDArray[np.int8], start: tuple[float, float, float]) -> bool:
    """Return whether the cones nearest to the start show yellow on the left of its direction."""
    sine, cosine = sincos(start[2])
    dx, dy = places[:, 0] - start[0], places[:, 1] - start[1]
    across, along, gap = cosine * dy - sine * dx, cosine * dx + sine * dy, dx * dx + dy * dy
    votes = 0.0
    for side, sign in ((LEFT, 1.0), (RIGHT, -1.0)):
        near = np.flatnonzero((sides == side) & (along > -5.0))
        if len(near):
            nearest = near[np.argsort(gap[near], kind="stable")[:2]]
            votes += sign * float(np.sign(across[nearest]).sum())
    return votes < 0.0


def middle_line(lefts: Floats, rights: Floats, left: Floats, right: Floats, closed: bool) -> Floats:
    """Return the line halfway between the boundaries, with points of equal distance.

    It begins as the line through the middles of opposite cones; every point is then moved repeatedly to the middle of
    the nearest points of both boundaries.
    """
    rough = _middles(lefts, rights, closed)
    length = float(distances(rough, closed)[-1])
    spacing = COARSE if length > LONG else SPACING
    centre = evenly(smooth_curve(rough, closed) if len(rough) > 2 else rough, spacing, closed)
    left_blocks, right_blocks = line_blocks(left, closed), line_blocks(right, closed)
    for _ in range(REFINEMENTS):
        centre = 0.5 * (_nearest(centre, left, left_blocks, closed) + _nearest(centre, right, right_blocks, closed))
        centre = evenly(smooth_points(centre, closed, PASSES), spacing, closed)
    return centre


def _middles(left_cones: Floats, right_cones: Floats, closed: bool) -> Floats:
    """Return the middles between opposite cones: of the two next cones, that which is nearer to the other side."""
    if closed:  # the opposite cone of the first one on the left
        gaps = ((right_cones - left_cones[0]) ** 2).sum(axis=1)
        right_cones = np.roll(right_cones, -int(np.argmin(gaps)), axis=0)
    lefts, rights = ([tuple(cone) for cone in side.tolist()] for side in (left_cones, right_cones))
    if closed:
        lefts, rights = [*lefts, lefts[0]], [*rights, rights[0]]
    i = j = 0
    middles = [_middle(lefts[0], rights[0])]
    while i + 1 < len(lefts) or j + 1 < len(rights):
        across_left = _squared(lefts[i + 1], rights[j]) if i + 1 < len(lefts) else math.inf
        across_right = _squared(lefts[i], rights[j + 1]) if j + 1 < len(rights) else math.inf
        if across_left <= across_right:
            i += 1
        else:
            j += 1
        middles.append(_middle(lefts[i], rights[j]))
    points = np.array(middles[:-1] if closed else middles)
    apart = np.concatenate([[True], lengths(np.diff(points, axis=0)) > LEAST_STEP])
    return np.asarray(points[apart])


def _middle(a: Place, b: Place) -> Place:
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])


def _squared(a: Place, b: Place) -> float:
    dx, dy = a[0] - b[0], a[1] - b[1]
    return dx * dx + dy * dy


def _nearest(points: Floats, line: Floats, blocks: Floats, closed: bool) -> Floats:
    """Return the nearest point of a line to each point."""
    k, t = _located(points, line, blocks, closed)
    return np.asarray(line[k] + t[:, None] * (line[(k + 1) % len(line)] - line[k]))


def _located(points: Floats, line: Floats, blocks: Floats, closed: bool) -> tuple[NDArray[np.int64], Floats]:
    """Return the segments of a line nearest to points (n, 2), and the positions on them (0..1)."""
    x, y = np.ascontiguousarray(points.T)
    located = locate_places(x, y, line, blocks, closed)
    return located[:, 0].astype(np.int64), located[:, 1]


def _gaps(points: Floats, line: Floats, closed: bool) -> Floats:
    """Return the distance of each point from a line, m."""
    return lengths(_nearest(points, line, line_blocks(line, closed), closed) - points)


def _from_start(centre: Floats, start: tuple[float, float, float]) -> Floats:
    """Return a closed line whose first point is the nearest one to the start, with points of equal distance."""
    spacing = float(lengths(centre[1:2] - centre[:1])[0])
    fine = smooth_curve(centre, closed=True, parts=FINE)
    k, t = _located(np.array([start[:2]]), fine, line_blocks(fine, True), True)
    after = np.roll(fine, -int(k[0]) - 1, axis=0)
    first = after[-1] + t[0] * (after[0] - after[-1])
    return evenly(np.concatenate([first[None], after]), spacing, closed=True)


def _gates(
    file: TrackFile, centre: Floats, left: Floats, right: Floats, start: tuple[float, float, float], closed: bool
) -> tuple[Gate, ...]:
    """Return the start line and the ends of the sectors; an open track has a finish line besides."""
    along = distances(centre, closed)
    length = float(along[-1])
    side = leftwards(directions(centre, closed))
    columns = np.column_stack([centre + left[:, None] * side, centre - right[:, None] * side])
    columns = np.concatenate([columns, columns[:1]]) if closed else columns

    def gate(name: str, at: float) -> Gate:
        at = at % length if closed else at
        at = 0.0 if closed and length - at < 1e-6 else at
        ax, ay, bx, by = (float(np.interp(at, along, columns[:, k])) for k in range(4))
        return Gate(name, (ax, ay), (bx, by), at)

    begins = float(_along(np.array([start[:2]]), centre, along, closed)[0])
    lines = _timing_lines(file, centre, along, closed)
    if closed:
        offsets = [(line - begins + 0.5 * length) % length - 0.5 * length for line in lines]
        first = begins + min(offsets, key=abs, default=0.0)
        ends = [first + k * length / SECTORS for k in range(1, SECTORS)]
        return gate("start", first), *(gate(f"sector {k + 1}", at) for k, at in enumerate(ends))
    first, last = (lines[0] if lines else begins), (lines[-1] if len(lines) > 1 else length)
    between = [first + k * (last - first) / SECTORS for k in range(1, SECTORS)]
    return gate("start", first), *(gate(f"sector {k + 1}", at) for k, at in enumerate(between)), gate("finish", last)


def _along(places: Floats, centre: Floats, along: Floats, closed: bool) -> Floats:
    """Return the distance along a line of the point nearest to each place, m."""
    k, t = _located(places, centre, line_blocks(centre, closed), closed)
    return np.asarray(along[k] + t * (along[k + 1] - along[k]))


def _timing_lines(file: TrackFile, centre: Floats, along: Floats, closed: bool) -> list[float]:
    """Return the positions along of the timing lines: of timing devices, or of groups of large orange cones."""
    places = [(p.x, p.y) for p in file.timing] or [(c.x, c.y) for c in file.cones if c.colour == "big_orange"]
    if not places:
        return []
    length = float(along[-1])
    at = np.sort(_along(np.array(places, np.float64), centre, along, closed))
    if closed:  # begin with the widest gap, so that no group is divided
        widest = int(np.argmax(np.diff(np.append(at, at[0] + length))))
        at = np.concatenate([at[widest + 1 :] - length, at[: widest + 1]]) if widest + 1 < len(at) else at
    groups = np.split(at, np.flatnonzero(np.diff(at) > TOGETHER) + 1)
    return [float(0.5 * (group[0] + group[-1])) for group in groups]
