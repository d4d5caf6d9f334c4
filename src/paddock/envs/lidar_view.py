"""What a lidar sees of a track with walls along its boundaries, and of the other cars of the world."""

from typing import Any

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.math import minimum
from paddock.compute.routine import entry_point, parallel_range, parallel_routine, routine
from paddock.compute.threads import thread_count
from paddock.envs.task import SensedView
from paddock.errors import InvalidValueError
from paddock.sensing.rays import mounted, near_of, scan_vehicle
from paddock.sensing.scanner import MANY_BEAMS, beams_of
from paddock.sensing.sensors.lidar import Options
from paddock.sensing.view import BOX, NO_SOLIDS, NOWHERE, SOLID
from paddock.track import Track
from paddock.vehicles.model import Body
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
Float32s = NDArray[np.float32]
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
        kept = ends[np.unique(np.append(np.arange(0, len(ends), stride), len(ends) - 1))]
        way = np.diff(kept, axis=0)
        long = np.hypot(way[:, 0], way[:, 1])
        way, middle, long = way[long > 0.0], (0.5 * (kept[1:] + kept[:-1]))[long > 0.0], long[long > 0.0]
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
    pose: Any,
    ids: Any,
    mount: Any,
    directions: Any,
    rises: Any,
    first: float,
    step: float,
    reach: float,
    ground: float,
    walls: Any,
    wall_cells: Any,
    wall_starts: Any,
    wall_items: Any,
    bodies: Any,
    body_cells: Any,
    body_starts: Any,
    body_items: Any,
    out: Any,
) -> None:
    """Write the distances of cars over `reach`, at most 1, as the last columns of observations (n, all values)."""
    count = directions.shape[1]
    for i in parallel_range(ids.size):
        at, beams = mounted(pose, i, mount), (directions, rises, first, step, reach, ground)
        tables = walls, wall_cells, wall_starts, wall_items, bodies, body_cells, body_starts, body_items
        found = empty((1, count))
        scan_vehicle(at, ids[i], *beams, *tables, found)
        line, shares = found[0], out[i, out.shape[1] - count :]
        scale = 1.0 / reach
        for b in range(count):
            shares[b] = minimum(line[b] * scale, 1.0)


share_few, share_many = routine(_scan_shares, inline=True), parallel_routine(_scan_shares, inline=True)


def lidar_view(track: Track, count: Any, body: Body) -> SensedView:
    """Return the view of a lidar of 270 degrees: distances over 30 m, 1 without a return, from right to left."""
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 16384:
        raise InvalidValueError(f"beams must be a whole number from 2 to 16384, not {count!r}")
    beams, walls = beams_of(Options(beams=float(count), range_max=REACH, noise=0.0, z=HEIGHT)), boundary_walls(track)
    given, alone = (*beams, REACH, FLAT, walls, *near_of(walls, CELL)), (NO_SOLIDS, *NOWHERE)
    share_one, called = share_few.direct(), False

    def seen(batch: Any, rows: Ints, out: Float32s) -> None:
        nonlocal share_one, called
        k, others = len(rows), alone
        if batch.size > 1:
            boxes = car_boxes(batch.pose, body)
            others = boxes, *near_of(boxes)
        poses = batch.pose if k == batch.n else np.ascontiguousarray(batch.pose[:, rows])
        if k > 1 and k * count >= MANY_BEAMS and thread_count() > 1:
            share_many(poses, rows, *given, *others, out)
            return
        share_one(poses, rows, *given, *others, out)
        if not called:
            share_one, called = entry_point(share_one, poses, rows, *given, *others, out), True

    def places(values: Float32s) -> Floats:
        return REACH * values[:, None] * beams.directions.T

    return SensedView(seen, count, 0.0, 1.0, places, beams=True)
