"""Impulses: all contacts of a tick are found, then solved together by a fixed number of Jacobi sweeps.

In a sweep every contact sees the velocities at its beginning. A body that takes part in n contacts counts in each of
them with an n-th of its mass, and the changes are added up: this converges, conserves momentum exactly, and does not
depend on the order of contacts. The points of one contact are solved one after the other within it.

An impulse acts at the time of the first touch: a body is shifted by its change of velocity times the rest of the tick.
What overlaps beyond that is moved apart slowly, without adding speed.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64, zeros
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.contact.boxes import AXES, NONE, POINTS, box_points, cylinder_points, dot, first_touch, keep_four
from paddock.contact.rounds import ground_points, lowest_points, round_touch
from paddock.vehicles.model import BOX, CAPSULE, CONE, CYLINDER

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SWEEPS = 20
ROUNDS = 4  # over the points of one contact, within a sweep
SLOP = 1e-3  # m: overlap that remains, so that resting contacts persist
RECOVERY = 0.2  # share of the overlap that is removed in a tick
RECOVERY_SPEED = 3.0  # m/s: bodies move apart at most this fast
BOUNCE_SPEED = 0.3  # m/s: slower touches do not bounce, so that bodies come to rest
WAKE_SPEED = 0.05  # m/s: a slower touch does not wake a sleeping body
CONE_WIDTH = 1.0 / 3.0  # of its middle, share of its base
GROUND = -1  # in place of a second body
RECORD = 13  # columns of a contact: see Contact


class BodyRow(NamedTuple):
    """Rows of the table of bodies."""

    x: int = 0
    qx: int = 3
    vx: int = 7
    wx: int = 10  # about world axes
    lightness: int = 13  # inverse mass, 1/kg: horizontal and vertical
    turning: int = 15  # inverse moments of inertia about the body axes
    half: int = 18
    centre_x: int = 21
    centre_z: int = 22
    shape: int = 23
    friction: int = 24
    restitution: int = 25
    asleep: int = 26
    ground: int = 27  # height under the pose, normal x, y, z and friction factor; normal 0: the ground does not hold it
    size: int = 32


ROW = BodyRow()
HALF_ROW, SHAPE_ROW, GROUND_ROW = ROW.half, ROW.shape, ROW.ground
FRICTION_ROW, RESTITUTION_ROW, ASLEEP_ROW = ROW.friction, ROW.restitution, ROW.asleep
LIGHTNESS_ROW, TURNING_ROW = ROW.lightness, ROW.turning


class Contact(NamedTuple):
    """A contact of one tick."""

    first: float  # number of the body
    second: float  # -1: the ground
    x: float  # m: where, in the middle of the points
    y: float
    z: float
    nx: float  # from the first to the second
    ny: float
    nz: float
    impulse: float  # N s, along the normal
    speed: float  # m/s: of the approach
    depth: float  # m: overlap at the first touch
    share: float  # of the tick at which they touch first
    sliding: float  # N s: impulse of friction


def prepare(b: Any, dt: float, axes: Any, centre: Any, sweep: Any, line: Any, radius: Any, inertia: Any) -> None:
    """Compute axes, centre, motion, segment of round bodies and inverse inertia in world axes, of every body."""
    for i in range(b.shape[1]):
        x, y, z, w = b[3, i], b[4, i], b[5, i], b[6, i]
        axes[i, 0, 0], axes[i, 0, 1], axes[i, 0, 2] = (
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + w * z),
            2.0 * (x * z - w * y),
        )
        axes[i, 1, 0], axes[i, 1, 1], axes[i, 1, 2] = (
            2.0 * (x * y - w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z + w * x),
        )
        axes[i, 2, 0], axes[i, 2, 1], axes[i, 2, 2] = (
            2.0 * (x * z + w * y),
            2.0 * (y * z - w * x),
            1.0 - 2.0 * (x * x + y * y),
        )
        lies = 1 if b[HALF_ROW + 1, i] > b[HALF_ROW, i] else 0
        radius[i], half_line = b[HALF_ROW, i], 0.0
        if b[SHAPE_ROW, i] == CAPSULE:
            radius[i] = b[HALF_ROW + 2, i]
            half_line = b[HALF_ROW + lies, i] - radius[i]
        elif b[SHAPE_ROW, i] == CONE:
            lies, radius[i] = 2, CONE_WIDTH * b[HALF_ROW, i]
            half_line = max(b[HALF_ROW + 2, i] - radius[i], 0.0)
        for j in range(3):
            centre[i, j] = b[j, i] + b[21, i] * axes[i, 0, j] + b[22, i] * axes[i, 2, j]
            sweep[i, j] = dt * b[7 + j, i]
            line[i, j] = half_line * axes[i, lies, j]
            for k in range(3):
                total = 0.0
                for m in range(3):
                    total += axes[i, m, j] * b[TURNING_ROW + m, i] * axes[i, m, k]
                inertia[i, j, k] = total


def touch(
    a: int, c: int, b: Any, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any,
    lines: Any, small: Any, poly: Any, other: Any, depths: Any, normal: Any,
) -> tuple[int, float]:  # fmt: skip
    """Find the contact of two bodies; return the number of its points (in `poly`, `depths`) and its time."""
    start, move = small[4], small[5]
    for j in range(3):
        move[j] = sweep[c, j] - sweep[a, j]
        start[j] = centre[c, j] - centre[a, j] - move[j]
    shape_a, shape_c = b[SHAPE_ROW, a], b[SHAPE_ROW, c]
    if shape_a >= BOX:
        rounded = shape_c == CYLINDER
        level = b[LIGHTNESS_ROW + 1, a] == 0.0 and b[LIGHTNESS_ROW + 1, c] == 0.0
        code, share = first_touch(start, move, axes[a], half[a], axes[c], half[c], rounded, level, lines, normal)
        if code == NONE:
            return 0, 0.0
        at_a, at_c = small[6], small[7]
        for j in range(3):
            at_a[j] = centre[a, j] - (1.0 - share) * sweep[a, j]
            at_c[j] = centre[c, j] - (1.0 - share) * sweep[c, j]
        if rounded:
            return cylinder_points(code, normal, at_a, axes[a], half[a], at_c, half[c], poly, depths), share
        return box_points(code, normal, at_a, axes[a], half[a], at_c, axes[c], half[c], poly, other, depths), share
    share, depth, s = round_touch(
        start, move, line[a], radius[a], line[c], radius[c], axes[c], half[c], shape_c, float(a + 2 * c), normal, small
    )
    if share < 0.0:
        return 0, 0.0
    for j in range(3):
        near = centre[a, j] - (1.0 - share) * sweep[a, j] + s * line[a, j]
        poly[0, j] = near + (radius[a] - 0.5 * depth) * normal[j]
    depths[0] = depth
    return 1, share


def ground_touch(
    a: int, b: Any, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any, small: Any, poly: Any,
    depths: Any, normal: Any,
) -> tuple[int, float]:  # fmt: skip
    """Find the contact of a body with the ground under it; as `touch`."""
    up = small[4]
    for j in range(3):
        up[j] = b[GROUND_ROW + 1 + j, a]
        normal[j] = -up[j]
    count = ground_points(
        b[SHAPE_ROW, a], centre[a], axes[a], half[a], line[a], radius[a], b[GROUND_ROW, a], up, b[0, a], b[1, a], poly,
        depths,
    )  # fmt: skip
    count = lowest_points(poly, depths, count)
    deepest = depths[0]
    for k in range(1, count):
        deepest = max(deepest, depths[k])
    before = deepest + dot(sweep[a], up)  # depth at the beginning of the tick
    if deepest <= 0.0 and before <= 0.0:
        return 0, 0.0
    share = 0.0 if before >= 0.0 else -before / (deepest - before)
    for k in range(count):
        depths[k] += (1.0 - share) * dot(sweep[a], up)
        for j in range(3):
            poly[k, j] -= (1.0 - share) * sweep[a, j]
    return keep_four(poly, depths, count), share


def find_contacts(
    b: Any, pairs: Any, dt: float, axes: Any, half: Any, centre: Any, sweep: Any, line: Any, radius: Any, bound: Any,
    record: Any, points: Any, gaps: Any, counts: Any,
) -> int:  # fmt: skip
    """Find the contacts of the pairs and of bodies on the ground; return their number."""
    lines, small, normal = empty((AXES, 3)), empty((8, 3)), empty(3)
    poly, other, depths = empty((16, 3)), empty((16, 3)), empty(16)
    found = 0
    for k in range(pairs.shape[1] + b.shape[1]):
        ground = k >= pairs.shape[1]
        a = k - pairs.shape[1] if ground else pairs[0, k]
        c = GROUND if ground else pairs[1, k]
        if ground:
            if b[GROUND_ROW + 3, a] == 0.0 or b[ASLEEP_ROW, a] != 0.0:
                continue
            count, share = ground_touch(a, b, axes, half, centre, sweep, line, radius, small, poly, depths, normal)
        else:
            if b[LIGHTNESS_ROW, a] == 0.0 and b[LIGHTNESS_ROW, c] == 0.0:
                continue
            reach, square = bound[a] + bound[c], 0.0
            for j in range(3):
                move = sweep[c, j] - sweep[a, j]
                apart = abs(centre[c, j] - centre[a, j] - 0.5 * move) - 0.5 * abs(move)
                square += max(apart, 0.0) * max(apart, 0.0)
            if square > reach * reach:
                continue
            if b[SHAPE_ROW, a] > b[SHAPE_ROW, c] and (b[SHAPE_ROW, c] < BOX or b[SHAPE_ROW, a] == CYLINDER):
                a, c = c, a  # the round body first; a cylinder last
            count, share = touch(
                a, c, b, axes, half, centre, sweep, line, radius, lines, small, poly, other, depths, normal
            )
        if count == 0:
            continue
        counts[found] = count
        for j in range(RECORD):
            record[found, j] = 0.0
        record[found, 0], record[found, 1], record[found, 11] = a, c, share
        for j in range(3):
            record[found, 5 + j] = normal[j]
        for p in range(count):
            gaps[found, p] = depths[p]
            record[found, 10] = max(record[found, 10], depths[p])
            for j in range(3):
                points[found, p, j] = poly[p, j]
                record[found, 2 + j] += poly[p, j] / count
        found += 1
    return found


def arm(b: Any, sweep: Any, i: int, share: float, point: Any, out: Any) -> None:
    """Write the way from a body's centre of mass, at the share of the tick, to a point."""
    for j in range(3):
        out[j] = point[j] - (b[j, i] - (1.0 - share) * sweep[i, j])


def point_velocity(v: Any, r: Any, out: Any, sign: float) -> None:
    """Add the velocity of a point of a body (v, w), at `r` from its centre of mass, times a sign."""
    out[0] += sign * (v[0] + v[4] * r[2] - v[5] * r[1])
    out[1] += sign * (v[1] + v[5] * r[0] - v[3] * r[2])
    out[2] += sign * (v[2] + v[3] * r[1] - v[4] * r[0])


def softness(light: Any, inertia: Any, r: Any, n: Any) -> float:
    """Return the change of speed of a body's point along `n` per impulse along `n`, 1/kg."""
    x, y, z = r[1] * n[2] - r[2] * n[1], r[2] * n[0] - r[0] * n[2], r[0] * n[1] - r[1] * n[0]
    turn = (
        x * (inertia[0, 0] * x + inertia[0, 1] * y + inertia[0, 2] * z)
        + y * (inertia[1, 0] * x + inertia[1, 1] * y + inertia[1, 2] * z)
        + z * (inertia[2, 0] * x + inertia[2, 1] * y + inertia[2, 2] * z)
    )
    return light[0] * (n[0] * n[0] + n[1] * n[1]) + light[1] * n[2] * n[2] + turn  # type: ignore[no-any-return]


def push(v: Any, light: Any, inertia: Any, r: Any, x: float, y: float, z: float, scale: float) -> None:
    """Change a body's velocity (v, w) by an impulse (N s) at `r`, times a scale."""
    v[0] += scale * light[0] * x
    v[1] += scale * light[0] * y
    v[2] += scale * light[1] * z
    a, b, c = r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x
    for j in range(3):
        v[3 + j] += scale * (inertia[j, 0] * a + inertia[j, 1] * b + inertia[j, 2] * c)


def solve_contact(
    count: int, n: Any, ra: Any, rc: Any, light_a: Any, light_c: Any, inertia_a: Any, inertia_c: Any, va: Any, vc: Any,
    split_a: float, split_c: float, wanted: Any, friction: float, pressed: Any, rubbed: Any, relative: Any,
) -> None:  # fmt: skip
    """Solve the points of a contact one after the other, in place: velocities and accumulated impulses."""
    for _ in range(ROUNDS if count > 1 else 2):
        for p in range(count):
            relative[0] = relative[1] = relative[2] = 0.0
            point_velocity(vc, rc[p], relative, 1.0)
            point_velocity(va, ra[p], relative, -1.0)
            soft = split_a * softness(light_a, inertia_a, ra[p], n) + split_c * softness(light_c, inertia_c, rc[p], n)
            before = pressed[p]
            pressed[p] = max(before - (dot(relative, n) - wanted[p]) / soft, 0.0)
            change = pressed[p] - before
            push(va, light_a, inertia_a, ra[p], n[0], n[1], n[2], -change * split_a)
            push(vc, light_c, inertia_c, rc[p], n[0], n[1], n[2], change * split_c)
            if friction == 0.0:
                continue
            relative[0] = relative[1] = relative[2] = 0.0
            point_velocity(vc, rc[p], relative, 1.0)
            point_velocity(va, ra[p], relative, -1.0)
            along = dot(relative, n)
            for j in range(3):
                relative[j] -= along * n[j]
            speed = sqrt(dot(relative, relative))
            if speed > 1e-15:
                for j in range(3):
                    relative[j] /= speed
                soft = split_a * softness(light_a, inertia_a, ra[p], relative)
                soft += split_c * softness(light_c, inertia_c, rc[p], relative)
                x, y, z = rubbed[p, 0], rubbed[p, 1], rubbed[p, 2]
                slide = speed / soft if soft > 0.0 else 0.0
                for j in range(3):
                    rubbed[p, j] -= slide * relative[j]
                size, most = sqrt(dot(rubbed[p], rubbed[p])), friction * pressed[p]
                if size > most:
                    for j in range(3):
                        rubbed[p, j] *= most / size
                x, y, z = rubbed[p, 0] - x, rubbed[p, 1] - y, rubbed[p, 2] - z
                push(va, light_a, inertia_a, ra[p], x, y, z, -split_a)
                push(vc, light_c, inertia_c, rc[p], x, y, z, split_c)


def approach(
    found: int, b: Any, sweep: Any, dt: float, record: Any, points: Any, gaps: Any, counts: Any, wake: float,
    arms: Any, velocity: Any, light: Any, wanted: Any,
) -> None:  # fmt: skip
    """Compute lever arms, approach speeds and the wanted speeds after the touch; leave sleeping bodies heavy."""
    relative = empty(3)
    m = b.shape[1]
    for i in range(m):
        light[i, 0], light[i, 1] = b[LIGHTNESS_ROW, i], b[LIGHTNESS_ROW + 1, i]
        if b[ASLEEP_ROW, i] != 0.0:
            light[i, 0] = light[i, 1] = -1.0  # marked; awake again if something hits it
    for c in range(found):
        a, other, share = int(record[c, 0]), int(record[c, 1]), record[c, 11]
        bounce = b[RESTITUTION_ROW, a]
        if other != GROUND:
            bounce = max(bounce, b[RESTITUTION_ROW, other])
        for p in range(counts[c]):
            arm(b, sweep, a, share, points[c, p], arms[c, p, 0])
            relative[0] = relative[1] = relative[2] = 0.0
            point_velocity(velocity[a], arms[c, p, 0], relative, -1.0)
            if other != GROUND:
                arm(b, sweep, other, share, points[c, p], arms[c, p, 1])
                point_velocity(velocity[other], arms[c, p, 1], relative, 1.0)
            speed = -dot(relative, record[c, 5:8])
            record[c, 9] = max(record[c, 9], speed)
            wanted[c, p] = bounce * speed if speed > BOUNCE_SPEED else min(gaps[c, p], 0.0) / dt
            if gaps[c, p] < 0.0 and speed * dt < -gaps[c, p]:
                wanted[c, p] = gaps[c, p] / dt  # this point does not touch within the tick
        if record[c, 9] > wake:
            for i in (a, other):
                if i != GROUND and light[i, 0] < 0.0:
                    light[i, 0], light[i, 1] = b[LIGHTNESS_ROW, i], b[LIGHTNESS_ROW + 1, i]
    for i in range(m):
        light[i, 0], light[i, 1] = max(light[i, 0], 0.0), max(light[i, 1], 0.0)


def resolve_all(b: Any, pairs: Any, dt: float, wake: float) -> tuple[Any, Any]:
    """Return the bumps (9, bodies) of a tick and its contacts (n, RECORD).

    `b` is the table of bodies, (rows of BodyRow, bodies); `pairs` (2, k) are the ones that may touch, first < second,
    in ascending order. Obstacles have an inverse mass of 0. `wake`: speed (m/s) at which a touch wakes a sleeping body.
    """
    m, most = b.shape[1], pairs.shape[1] + b.shape[1]
    axes, half, centre, sweep = empty((m, 3, 3)), empty((m, 3)), empty((m, 3)), empty((m, 3))
    line, radius, inertia, bound = empty((m, 3)), empty(m), empty((m, 3, 3)), empty(m)
    prepare(b, dt, axes, centre, sweep, line, radius, inertia)
    for i in range(m):
        for j in range(3):
            half[i, j] = b[HALF_ROW + j, i]
        bound[i] = max(radius[i] + sqrt(dot(line[i], line[i])), 0.0)
        if b[SHAPE_ROW, i] >= BOX:
            around = half[i, 0] * half[i, 0] + half[i, 1] * half[i, 1] + half[i, 2] * half[i, 2]
            bound[i] = sqrt(around)
    record, points, gaps = empty((most, RECORD)), empty((most, POINTS, 3)), empty((most, POINTS))
    counts = zeros(most, int64)
    found = find_contacts(b, pairs, dt, axes, half, centre, sweep, line, radius, bound, record, points, gaps, counts)
    velocity, light, wanted = empty((m + 1, 6)), empty((m + 1, 2)), empty((most, POINTS))
    for i in range(m):
        for j in range(6):
            velocity[i, j] = b[7 + j, i]
    arms = zeros((most, POINTS, 2, 3))
    approach(found, b, sweep, dt, record, points, gaps, counts, wake, arms, velocity, light, wanted)
    bump = zeros((9, m))
    solve(found, b, dt, record, counts, wanted, arms, velocity, light, inertia, bump)
    return bump, record[:found]


def solve(
    found: int, b: Any, dt: float, record: Any, counts: Any, wanted: Any, arms: Any, velocity: Any, light: Any,
    inertia: Any, bump: Any,
) -> None:  # fmt: skip
    """Sweep over the contacts; write the bumps and the impulses of the contacts."""
    m = b.shape[1]
    still, fixed, weightless = zeros(6), zeros((3, 3)), zeros(2)
    split, change = zeros(m), empty((m, 6))
    pressed, rubbed = zeros((max(found, 1), POINTS)), zeros((max(found, 1), POINTS, 3))
    va, vc, relative = empty(6), empty(6), empty(3)
    for i in range(m):
        if light[i, 0] == 0.0 and light[i, 1] == 0.0:
            inertia[i, :, :] = 0.0
    for c in range(found):
        a, other = int(record[c, 0]), int(record[c, 1])
        split[a] += 1.0
        if other != GROUND:
            split[other] += 1.0
    for _ in range(SWEEPS):
        change[:] = 0.0
        for c in range(found):
            a, other = int(record[c, 0]), int(record[c, 1])
            grounded = other == GROUND
            if light[a, 0] == 0.0 and (grounded or light[other, 0] == 0.0):
                continue
            friction = b[FRICTION_ROW, a]
            friction *= b[GROUND_ROW + 4, a] if grounded else b[FRICTION_ROW, other]
            friction = sqrt(friction) if not grounded else friction
            va[:] = velocity[a]
            vc[:] = still if grounded else velocity[other]
            split_c = 1.0 if grounded else split[other]
            solve_contact(
                counts[c], record[c, 5:8], arms[c, :, 0], arms[c, :, 1], light[a],
                weightless if grounded else light[other], inertia[a], fixed if grounded else inertia[other], va, vc,
                split[a], split_c, wanted[c], friction, pressed[c], rubbed[c], relative,
            )  # fmt: skip
            for j in range(6):
                change[a, j] += (va[j] - velocity[a, j]) / split[a]
                if not grounded:
                    change[other, j] += (vc[j] - velocity[other, j]) / split_c
        for i in range(m):
            for j in range(6):
                velocity[i, j] += change[i, j]
    for i in range(m):
        for j in range(6):
            bump[3 + j, i] = velocity[i, j] - b[7 + j, i]
    shift(found, dt, record, counts, arms, velocity, light, split, pressed, rubbed, bump)


def shift(
    found: int, dt: float, record: Any, counts: Any, arms: Any, velocity: Any, light: Any, split: Any, pressed: Any,
    rubbed: Any, bump: Any,
) -> None:  # fmt: skip
    """Write the impulses of the contacts; shift bodies by them from the time of touch, and apart where they overlap."""
    total, relative = empty(3), empty(3)
    for c in range(found):
        a, other, n = int(record[c, 0]), int(record[c, 1]), record[c, 5:8]
        total[0] = total[1] = total[2] = 0.0
        leaving, normal_sum, x, y, z = 1e30, 0.0, 0.0, 0.0, 0.0
        for p in range(counts[c]):
            normal_sum += pressed[c, p]
            x, y, z = x + rubbed[c, p, 0], y + rubbed[c, p, 1], z + rubbed[c, p, 2]
            relative[0] = relative[1] = relative[2] = 0.0
            point_velocity(velocity[a], arms[c, p, 0], relative, -1.0)
            if other != GROUND:
                point_velocity(velocity[other], arms[c, p, 1], relative, 1.0)
            leaving = min(leaving, dot(relative, n))
        record[c, 8], record[c, 12] = normal_sum, sqrt(x * x + y * y + z * z)
        total[0], total[1], total[2] = x + normal_sum * n[0], y + normal_sum * n[1], z + normal_sum * n[2]
        rest = (1.0 - record[c, 11]) * dt
        soft = split[a] * (light[a, 0] * (n[0] * n[0] + n[1] * n[1]) + light[a, 1] * n[2] * n[2])
        if other != GROUND:
            soft += split[other] * (light[other, 0] * (n[0] * n[0] + n[1] * n[1]) + light[other, 1] * n[2] * n[2])
        excess = record[c, 10] - SLOP - max(leaving, 0.0) * dt
        apart = min(RECOVERY * max(excess, 0.0), RECOVERY_SPEED * dt) / soft if soft > 0.0 else 0.0
        for j in range(3):
            moved = rest * total[j] + apart * n[j]
            bump[j, a] -= light[a, 1 if j == 2 else 0] * moved
            if other != GROUND:
                bump[j, other] += light[other, 1 if j == 2 else 0] * moved


resolve = routine(resolve_all)
