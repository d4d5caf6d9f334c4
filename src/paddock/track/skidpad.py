"""The skidpad: two circles that touch in the middle of the lane, driven twice to the right, then twice to the left."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.math import atan2
from paddock.track.lines import Floats, directions, evenly, leftwards
from paddock.track.track import BLUE, YELLOW, Gate
from paddock.wire.tracks import Cone, Point, Start, TrackFile

CENTRES, INNER, OUTER = 18.25, 15.25, 21.25  # m: distance of the centres, diameters
INNER_CONES, OUTER_CONES, PLACES = 16, 13, 16  # per circle; the outer circle lacks the three places at the lane
LAPS = 2  # to each side
ENTRY, EXIT = 15.0, 25.0  # m of lane before and after the crossing; cars stop within the exit
HALF_WIDTH = 0.25 * (OUTER - INNER)
MIDDLE = 0.25 * (OUTER + INNER)  # m, radius of the driving line
TOLERANCE = 0.2  # m, of cones in files


class Frame(NamedTuple):
    """Where the crossing is and which way the lane runs."""

    x: float
    y: float
    yaw: float


def skidpad_file() -> TrackFile:
    """Return the cones of the skidpad; the crossing is the origin, and the lane runs along x."""
    cones: list[Cone] = []
    angle = np.arange(PLACES) * (2.0 * np.pi / PLACES)
    sine, cosine = arrays.sin(angle), arrays.cos(angle)
    for side, inner, outer in ((-1.0, "yellow", "blue"), (1.0, "blue", "yellow")):  # the right circle first
        middle = side * 0.5 * CENTRES
        for colour, radius, places in ((inner, 0.5 * INNER, PLACES), (outer, 0.5 * OUTER, OUTER_CONES)):
            away = np.argsort(side * sine, kind="stable")[::-1][:places]  # those farthest from the lane
            cones += [
                Cone(colour, float(radius * cosine[k]), float(middle + radius * sine[k])) for k in sorted(away.tolist())
            ]
    lane = [-ENTRY - 2.0, -ENTRY + 1.5, -11.0, 11.0, 15.0, 20.0, EXIT]
    cones += [Cone("orange", x, y) for x in lane for y in (HALF_WIDTH, -HALF_WIDTH)]
    cones += [Cone("orange", EXIT, y) for y in (0.5, -0.5)]  # the end of the exit
    cones += [Cone("big_orange", x, y) for x in (-0.5, 0.5) for y in (HALF_WIDTH + 0.25, -HALF_WIDTH - 0.25)]
    timing = Point(0.0, HALF_WIDTH), Point(0.0, -HALF_WIDTH)
    return TrackFile(tuple(cones), Start(-ENTRY, 0.0, 0.0), timing)


def find_skidpad(places: Floats, colours: NDArray[np.int8]) -> Frame | None:
    """Return where the skidpad is if the cones are one: two inner circles at their distance; None otherwise."""
    centres = [_circle(places[colours == colour]) for colour in (BLUE, YELLOW)]
    blue, yellow = centres
    if blue is None or yellow is None:
        return None
    across = blue - yellow  # to the left of the lane
    gap = float(np.sqrt((across * across).sum()))
    if abs(gap - CENTRES) > 2.0 * TOLERANCE:
        return None
    middle = 0.5 * (blue + yellow)
    return Frame(float(middle[0]), float(middle[1]), atan2(-float(across[0]), float(across[1])))


def _circle(points: Floats) -> Floats | None:
    """Return the centre of a circle of the inner diameter with nearly all of its cones on it; None without one."""
    if not INNER_CONES <= len(points) <= 200:
        return None
    radius = 0.5 * INNER
    chord = INNER * float(arrays.sin(np.array([np.pi / INNER_CONES]))[0])
    step = points[None] - points[:, None]
    gap = np.sqrt((step * step).sum(axis=2))
    first, second = np.nonzero(np.abs(gap - chord) < 2.0 * TOLERANCE)  # each pair in both directions: both centres
    if not len(first):
        return None
    half = 0.5 * step[first, second]
    height = np.sqrt(np.maximum(radius * radius - (half * half).sum(axis=1), 0.0))
    normal = leftwards(half / np.sqrt((half * half).sum(axis=1))[:, None])
    centres = points[first] + half + height[:, None] * normal
    away = centres[:, None] - points[None]
    on = np.abs(np.sqrt((away * away).sum(axis=2)) - radius) < TOLERANCE
    best = int(np.argmax(on.sum(axis=1)))
    if on[best].sum() < INNER_CONES - 2:
        return None
    on_circle = points[on[best]]
    return np.asarray(0.5 * (on_circle.min(axis=0) + on_circle.max(axis=0)))


def skidpad_shape(frame: Frame, colours: NDArray[np.int8]) -> dict[str, Any]:
    """Return the fields of the track: the driving line with all laps, its widths, and the gate at the crossing."""
    turn = 2.0 * np.pi * LAPS
    fine = 0.1 / MIDDLE
    angle = np.arange(0.0, turn, fine)
    x, y = MIDDLE * arrays.sin(angle), MIDDLE * (1.0 - arrays.cos(angle))
    circles = [np.column_stack([x, -y]), np.column_stack([x, y])]
    line = np.concatenate([[[-ENTRY, 0.0]], *circles, [[0.0, 0.0], [EXIT, 0.0]]])
    line = arrays.rotated(evenly(line, 0.5, closed=False), frame.yaw, (frame.x, frame.y))
    side = leftwards(directions(line, closed=False))
    ends = arrays.rotated([[0.0, HALF_WIDTH], [0.0, -HALF_WIDTH]], frame.yaw, (frame.x, frame.y)).tolist()
    gate = Gate("start", (ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]), ENTRY)
    widths = np.full(len(line), HALF_WIDTH)
    return {
        "closed": False,
        "centre": line,
        "left_width": widths,
        "right_width": widths,
        "left": line + HALF_WIDTH * side,
        "right": line - HALF_WIDTH * side,
        "gates": (gate,),
        "left_cones": np.flatnonzero(colours == BLUE),
        "right_cones": np.flatnonzero(colours == YELLOW),
    }
