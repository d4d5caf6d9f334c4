"""The track and the shapes of cars as timing needs them, and the tracks that fit a discipline."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, users_code
from paddock.track.lines import Floats, line_blocks
from paddock.track.skidpad import find_skidpad
from paddock.track.timing import (
    CENTRE,
    FRONT,
    FRONT_TRACK,
    HALF_LENGTH,
    HALF_WIDTH,
    NOSE,
    REAR,
    REAR_TRACK,
    SHAPE_ROWS,
    TimedCourse,
)
from paddock.track.track import Track

CIRCLES_APART = 18.25  # m between the centres of the circles of a skidpad


def check_discipline(track: Track, discipline: str) -> None:
    """Refuse a track on which a discipline cannot be driven."""
    what = f"track {track.name!r} is {'closed' if track.closed else 'open'}"
    pad = find_skidpad(track.cones, track.colours) is not None
    if pad and discipline != "skidpad":
        raise InvalidValueError(f"{discipline} cannot be driven on track {track.name!r}, a skidpad: choose skidpad")
    if discipline == "skidpad" and not pad:
        raise InvalidValueError(f"skidpad needs the two circles of a skidpad; track {track.name!r} has another shape")
    if discipline == "acceleration" and track.closed:
        raise InvalidValueError(f"acceleration needs an open track from a start to a finish; {what}")
    if discipline in ("trackdrive", "race") and not track.closed:
        raise InvalidValueError(f"{discipline} needs a closed track; {what}: choose acceleration or autocross")
    if not track.gates or (discipline in ("acceleration", "autocross") and not track.closed and len(track.gates) < 2):
        raise InvalidValueError(f"track {track.name!r} has no {'finish' if track.gates else 'start'} line")


def sectors_of(track: Track, discipline: str) -> int:
    """Return the number of sectors that are timed; 0 where a lap has only one."""
    sectors = len(track.gates) - (0 if track.closed else 1)
    return 0 if discipline == "skidpad" or sectors < 2 else sectors


def course_of(track: Track, discipline: str, obstacles: Sequence[Any]) -> tuple[TimedCourse, list[str]]:
    """Return the course, and the names of its cones: those of `obstacles`, as a scenario has them."""
    ends = np.array([[*gate.left, *gate.right] for gate in track.gates])
    across = ends[:, 2:] - ends[:, :2]
    width = np.sqrt((across * across).sum(axis=1))
    gates = np.column_stack([ends[:, :2], across / width[:, None], width])
    circles = np.zeros((0, 2))
    if discipline == "skidpad":
        middle, unit = 0.5 * (ends[0, :2] + ends[0, 2:]), gates[0, 2:4]
        circles = np.stack([middle - 0.5 * CIRCLES_APART * unit, middle + 0.5 * CIRCLES_APART * unit])
    listed = [(one.name, one.cone) for one in obstacles if one.cone is not None]
    cones = np.array([(*cone.center[:2], cone.radius) for _, cone in listed], np.float64).reshape(-1, 3)
    names = [f"{name or 'cone'} {k}" for k, (name, _) in enumerate(listed)]
    points = track.centre
    along = np.concatenate([track.along, [track.length]]) if track.closed else track.along
    blocks, widths = line_blocks(points, track.closed), (track.left_width, track.right_width)
    along = np.ascontiguousarray(along)
    course = TimedCourse(gates, points, blocks, along, *widths, track.closed, track.gates[0].along, circles, cones)
    return course, names


def shapes_of(body: Any, parameters: Any, n: int) -> Floats:
    """Return the shapes (SHAPE_ROWS, n) of vehicles from the function of their bodies and their parameters, m.

    Wheels are at the corners of the body where the parameters do not say where they are.
    """
    shape = np.zeros((SHAPE_ROWS, n))
    if body is not None:
        with users_code():
            given = vectorised(body)(parameters)
        shape[[NOSE, FRONT]] = given.centre_x + given.half_length
        shape[HALF_LENGTH], shape[CENTRE] = given.half_length, given.centre_x
        shape[REAR] = given.half_length - given.centre_x
        shape[[HALF_WIDTH, FRONT_TRACK, REAR_TRACK]] = given.half_width
    known = parameters._asdict()
    axles = (FRONT, "cg_to_front", 1.0), (REAR, "cg_to_rear", 1.0)
    tracks = (FRONT_TRACK, "track_front", 0.5), (REAR_TRACK, "track_rear", 0.5)
    for row, name, share in (*axles, *tracks):
        if name in known:
            shape[row] = share * np.asarray(known[name])
    return shape


def timing_points(poses: Floats, shapes: Floats, course: TimedCourse) -> Floats:
    """Return how far ahead of its pose each car is timed, m: at its foremost point.

    A car that stands over the start line is timed at its pose if that is before the line, else at its rearmost point:
    so that it can cross the line.
    """
    lx, ly, ux, uy, width = course.gates[0]
    cosine, sine = 1.0 - 2.0 * (poses[4] ** 2 + poses[5] ** 2), 2.0 * (poses[6] * poses[5] + poses[3] * poses[4])
    beyond, rate = (poses[0] - lx) * -uy + (poses[1] - ly) * ux, cosine * -uy + sine * ux  # m, and per m ahead
    across = (poses[0] - lx) * ux + (poses[1] - ly) * uy
    between = (across >= -shapes[HALF_WIDTH]) & (across <= width + shapes[HALF_WIDTH])
    nose, tail = shapes[NOSE], shapes[CENTRE] - shapes[HALF_LENGTH]
    over = between & (beyond + nose * rate >= 0.0) & (beyond + tail * rate < 0.0)
    return np.where(over, np.where(beyond < 0.0, 0.0, tail), nose)
