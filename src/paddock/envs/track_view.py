"""What a racing car sees of a track: points of the middle line ahead, cones, or the beams of a lidar.

The lidar meets walls along the boundaries, and the other cars of the world.
"""

import os
from typing import Any

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.math import maximum, minimum, sqrt
from paddock.compute.routine import entry_point, parallel_range, parallel_routine
from paddock.compute.threads import thread_count
from paddock.envs.task import SensedView
from paddock.errors import InvalidValueError, unknown_name, whole_number
from paddock.sensing.cone_detection import look_for_cones
from paddock.sensing.rays import MANY_BEAMS, Beams, beams_of, mounted, scan_vehicle
from paddock.sensing.sensor import CONE, Around, Cones, FleetView
from paddock.sensing.sensors.cones import Options
from paddock.sensing.sensors.lidar import Options as LidarOptions
from paddock.track import Track, generate, load
from paddock.track.lines import segment_near
from paddock.track.track import BLUE, YELLOW
from paddock.vehicles.model import Body
from paddock.world.columns import Floats
from paddock.world.layout import Ints
from paddock.world.solids import BOX, NO_SOLIDS, SOLID, Solids, solids_of

Float32s = NDArray[np.float32]
X, Y, COSINE, SINE, LEFT, RIGHT, CURVATURE, ALONG = range(8)
"""Columns of a course: a point of the middle line (m), its direction, the widths (m), the curvature (1/m), the
position along it (m)."""
OBSERVATIONS = ("lidar", "cones", "detections", "track")
DETECTIONS_SEEN = 16  # the nearest
WINDOW = 20  # points of a course before and after a known one that are searched
AHEAD = (2.0, 4.0, 7.0, 10.0, 14.0, 18.0, 24.0, 30.0)  # m: points of the middle line that "track" shows
CONES_SEEN = 8  # of each side
CONE_RANGE = 30.0  # m
CONE_ANGLE = 1.0471975511965976  # rad: to each side


def chosen_track(track: Any) -> Track:
    """Return the track of a setting: a Track, the name of one, a file, or the seed of a generated one."""
    if isinstance(track, Track):
        return track
    if isinstance(track, int | np.integer) and not isinstance(track, bool):
        return generate(int(track))
    if isinstance(track, str | os.PathLike):
        return load(track)
    raise InvalidValueError(f"track: a name, a file, a seed or a Track, not {type(track).__name__}")


def course_table(track: Track) -> Floats:
    """Return the middle line of a track as a course (k, 8)."""
    heading = track.heading
    columns = (
        track.centre,
        arrays.cos(heading),
        arrays.sin(heading),
        track.left_width,
        track.right_width,
        track.curvature,
    )
    return np.ascontiguousarray(np.column_stack([*columns, track.along]))


def located(x: float, y: float, near: int, closed: bool, course: Floats) -> tuple[int, float, float, float]:
    """Return the segment of a course nearest to a place, around a known one, and the place on it.

    That is: the position along (m), the distance to the left of the middle line, and the distance from it.
    """
    k, share = segment_near(x, y, course, near - WINDOW, 2 * WINDOW, closed)
    n = k + 1 if k + 1 < course.shape[0] else 0
    dx, dy = course[n, 0] - course[k, 0], course[n, 1] - course[k, 1]
    gx, gy = x - course[k, 0] - share * dx, y - course[k, 1] - share * dy
    part = sqrt(dx * dx + dy * dy)
    offset = (dx * gy - dy * gx) / maximum(part, 1e-9)
    return k, course[k, 7] + share * part, offset, sqrt(gx * gx + gy * gy)


def _points_ahead(
    poses: Floats, rows: Ints, segments: Floats, course: Floats, step: float, closed: bool, out: Float32s
) -> None:
    """Write the middle line's points at the distances of AHEAD in the car's axes, over that distance."""
    for i in parallel_range(rows.shape[0]):
        r = rows[i]
        qz, qw = poses[5, r], poses[6, r]
        cosine, sine = 1.0 - 2.0 * qz * qz, 2.0 * qw * qz
        for j in range(len(AHEAD)):
            k = int(segments[r]) + int(AHEAD[j] / step + 0.5)
            k = k % course.shape[0] if closed else min(k, course.shape[0] - 1)
            dx, dy = course[k, 0] - poses[0, r], course[k, 1] - poses[1, r]
            out[i, 2 * j] = min(max((dx * cosine + dy * sine) / AHEAD[j], -4.0), 4.0)
            out[i, 2 * j + 1] = min(max((dy * cosine - dx * sine) / AHEAD[j], -4.0), 4.0)


def _cones_ahead(poses: Floats, rows: Ints, cones: Floats, sides: Ints, out: Float32s) -> None:
    """Write the nearest cones of each side in the car's axes, nearest first, over CONE_RANGE; 0 where there is none."""
    for i in parallel_range(rows.shape[0]):
        r = rows[i]
        qz, qw = poses[5, r], poses[6, r]
        cosine, sine = 1.0 - 2.0 * qz * qz, 2.0 * qw * qz
        best = empty((2, CONES_SEEN))
        best[:] = CONE_RANGE * CONE_RANGE
        out[i, :] = 0.0
        for c in range(cones.shape[0]):
            dx, dy = cones[c, 0] - poses[0, r], cones[c, 1] - poses[1, r]
            square = dx * dx + dy * dy
            side = sides[c]
            if square >= best[side, CONES_SEEN - 1]:
                continue
            forward, left = dx * cosine + dy * sine, dy * cosine - dx * sine
            if forward <= 0.0 or abs(left) > 1.7320508075688772 * forward:  # beyond CONE_ANGLE
                continue
            slot = CONES_SEEN - 1
            while slot > 0 and best[side, slot - 1] > square:
                best[side, slot] = best[side, slot - 1]
                for part in range(2):
                    out[i, 2 * (side * CONES_SEEN + slot) + part] = out[i, 2 * (side * CONES_SEEN + slot - 1) + part]
                slot -= 1
            best[side, slot] = square
            out[i, 2 * (side * CONES_SEEN + slot)] = forward / CONE_RANGE
            out[i, 2 * (side * CONES_SEEN + slot) + 1] = left / CONE_RANGE


points_ahead, cones_ahead = parallel_routine(_points_ahead), parallel_routine(_cones_ahead)


def line_view(course: Floats, step: float, closed: bool, segment_row: int) -> SensedView:
    """Return the view of the middle line ahead."""

    def seen(batch: Any, rows: Ints, out: Float32s) -> None:
        points_ahead(batch.pose, rows, batch.memory[segment_row], course, step, closed, out[:, -2 * len(AHEAD) :])

    def places(values: Float32s) -> Floats:
        return np.asarray(values.reshape(-1, 2) * np.array(AHEAD)[:, None], np.float64)

    return SensedView(seen, 2 * len(AHEAD), -4.0, 4.0, places)


def cone_view(track: Track) -> SensedView:
    """Return the view of the cones ahead: the nearest blue and yellow ones within 30 m and 60 degrees to each side."""
    if not len(track.cones):
        raise InvalidValueError(f"track {track.name!r} has no cones: choose another observation")
    of_side = (track.colours == BLUE) | (track.colours == YELLOW)
    cones = np.ascontiguousarray(track.cones[of_side])
    sides = (track.colours[of_side] == YELLOW).astype(np.int64)

    def seen(batch: Any, rows: Ints, out: Float32s) -> None:
        cones_ahead(batch.pose, rows, cones, sides, out[:, -4 * CONES_SEEN :])

    def places(values: Float32s) -> Floats:
        return CONE_RANGE * values.reshape(-1, 2)[values.reshape(-1, 2).any(axis=1)].astype(np.float64)

    return SensedView(seen, 4 * CONES_SEEN, -1.0, 1.0, places)


def detection_view(track: Track) -> SensedView:
    """Return the view of the sensor of cones at its defaults: x and y over 45 m, 1 for blue, -1 for yellow, else 0.

    In every step there is a frame without delay, of the nearest 16 detections; the rest is 0.
    """
    options = Options(max_detections=float(DETECTIONS_SEEN), occlusion=0.0)
    table = np.zeros((len(track.cones), CONE.size))
    table[:, :2], table[:, CONE.colour], table[:, CONE.number] = track.cones, track.colours, np.arange(len(table))
    around = Around(cones=Cones(table, np.arange(len(table))))

    def seen(batch: Any, rows: Ints, out: Float32s) -> None:
        n, worlds = len(rows), rows // batch.size
        moment = mixed(batch.episodes[worlds] * 1_000_003 + batch.elapsed[worlds])
        streams = (mixed(batch.seeds[worlds]) ^ moment) + rows % batch.size  # of the world alone, not of the batch
        poses = batch.pose if n == batch.n else np.ascontiguousarray(batch.pose[:, rows])
        arrays = {"detections": np.empty((n, DETECTIONS_SEEN, 8), np.float32)}
        arrays["truth"] = np.empty((n, DETECTIONS_SEEN, 4), np.float32)
        view = FleetView(n, poses, rows, streams, options, batch.world.environment, around, 0, 0, 0)
        look_for_cones(view, arrays, np.empty((2, n)))
        detections = arrays["detections"][:, :, :3]
        colour = detections[:, :, 2]
        sides = np.where(colour == BLUE, 1.0, np.where(colour == YELLOW, -1.0, 0.0))
        values = np.concatenate([np.nan_to_num(detections[:, :, :2]) / options.range_max, sides[:, :, None]], axis=2)
        out[:, -3 * DETECTIONS_SEEN :] = np.clip(values, -1.2, 1.2).reshape(n, -1)

    def places(values: Float32s) -> Floats:
        detections = values.reshape(-1, 3)[:, :2].astype(np.float64)
        return options.range_max * detections[detections.any(axis=1)]

    return SensedView(seen, 3 * DETECTIONS_SEEN, -1.2, 1.2, places)


def mixed(values: Ints) -> Ints:
    """Return whole numbers whose bits are mixed: near ones become unlike each other."""
    bits = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))).view(np.int64)


def checked_observation(observation: Any) -> str:
    """Return what a racing car observes; an error if there is no such observation."""
    if observation not in OBSERVATIONS:
        raise unknown_name("observation", str(observation), OBSERVATIONS)
    return str(observation)


REACH = 30.0  # m
BEAMS = 54  # by default: every 5 degrees of 270
THICK, TALL = 0.02, 0.5  # m: half the thickness and half the height of a wall
LONGEST = 2.0  # m of a wall's part
HEIGHT = 0.2  # m: of the lidar over the ground
FLAT = -1e6  # m: the beams are level and do not see the ground
CELL = 4.0  # m: size of the cells in which walls are found


def boundary_walls(track: Track) -> Floats:
    """Return walls along both boundaries of a track, as solids (k, 20)."""
    tables = []
    for line in (track.left, track.right):
        ends = np.concatenate([line, line[:1]]) if track.closed else line
        stride = max(1, int(LONGEST / max(np.hypot(*np.diff(ends, axis=0).T).mean(), 1e-6)))
        thinned = ends[np.unique(np.append(np.arange(0, len(ends), stride), len(ends) - 1))]
        way = np.diff(thinned, axis=0)
        long = np.hypot(way[:, 0], way[:, 1])
        way, middle, long = way[long > 0.0], (0.5 * (thinned[1:] + thinned[:-1]))[long > 0.0], long[long > 0.0]
        walls = np.zeros((len(way), SOLID.size))
        walls[:, :2], walls[:, 2] = middle, TALL
        forward = way / long[:, None]
        walls[:, 3:5], walls[:, 6], walls[:, 7], walls[:, 11] = forward, -forward[:, 1], forward[:, 0], 1.0
        walls[:, 12], walls[:, 13], walls[:, 14] = 0.5 * long, THICK, TALL
        walls[:, SOLID.reach] = np.sqrt(0.25 * long * long + THICK * THICK + TALL * TALL)
        walls[:, SOLID.number] = -1.0
        tables.append(walls)
    return np.ascontiguousarray(np.concatenate(tables))


def car_boxes(poses: Floats, body: Body) -> Floats:
    """Return the bodies of cars (13, n) as solids, numbered by row."""
    qz, qw = poses[5], poses[6]
    cosine, sine = 1.0 - 2.0 * qz * qz, 2.0 * qw * qz
    boxes = np.zeros((poses.shape[1], SOLID.size))
    boxes[:, 0], boxes[:, 1] = poses[0] + body.centre_x * cosine, poses[1] + body.centre_x * sine
    boxes[:, 2] = poses[2] + body.centre_z
    boxes[:, 3], boxes[:, 4], boxes[:, 6], boxes[:, 7], boxes[:, 11] = cosine, sine, -sine, cosine, 1.0
    halves = np.array([body.half_length, body.half_width, body.half_height])
    boxes[:, 12:15], boxes[:, SOLID.shape] = halves, BOX
    boxes[:, SOLID.reach], boxes[:, SOLID.number] = np.sqrt((halves * halves).sum()), np.arange(len(boxes))
    return boxes


def _scan_shares(
    pose: Any, ids: Any, b: Beams, reach: float, ground: float, walls: Solids, bodies: Solids, out: Any
) -> None:
    """Write the distances of cars over `reach`, at most 1, as the last columns of observations (n, all values)."""
    count = b.directions.shape[1]
    for i in parallel_range(ids.size):
        ranges = empty((1, count))
        scan_vehicle(mounted(pose, i, b.mount), ids[i], b, reach, ground, walls, bodies, ranges)
        line, shares = ranges[0], out[i, out.shape[1] - count :]
        scale = 1.0 / reach
        for k in range(count):
            shares[k] = minimum(line[k] * scale, 1.0)


share_scans = parallel_routine(_scan_shares, inline=True)


def lidar_view(track: Track, count: Any, body: Body) -> SensedView:
    """Return the view of a lidar of 270 degrees: distances over 30 m, 1 without a return, from right to left."""
    count = whole_number("beams must be a whole number from 2 to 16384", count, 16384, low=2)
    beams, walls = (
        beams_of(LidarOptions(beams=float(count), range_max=REACH, noise=0.0, z=HEIGHT)),
        boundary_walls(track),
    )
    arguments, alone = (beams, REACH, FLAT, solids_of(walls, CELL)), NO_SOLIDS
    share_one, called = share_scans.alone.direct(), False

    def seen(batch: Any, rows: Ints, out: Float32s) -> None:
        nonlocal share_one, called
        k, others = len(rows), alone
        if batch.size > 1:
            others = solids_of(car_boxes(batch.pose, body))
        poses = batch.pose if k == batch.n else np.ascontiguousarray(batch.pose[:, rows])
        if k > 1 and k * count >= MANY_BEAMS and thread_count() > 1:
            share_scans(poses, rows, *arguments, others, out)
            return
        share_one(poses, rows, *arguments, others, out)
        if not called:
            share_one, called = entry_point(share_one, poses, rows, *arguments, others, out), True

    def places(values: Float32s) -> Floats:
        return REACH * values[:, None] * beams.directions.T

    return SensedView(seen, count, 0.0, 1.0, places, beams=True)
