"""Impulses: all contacts of a tick are found, then solved together by a fixed number of Jacobi sweeps.

In a sweep every contact sees the velocities at its beginning. A body that takes part in n contacts counts in each of
them with an n-th of its mass, and the changes are added up: this converges, conserves momentum exactly, and does not
depend on the order of contacts. The points of one contact are solved one after the other within it.

An impulse acts at the time of the first touch: a body is shifted by its change of velocity times the rest of the tick.
Bodies that overlap beyond that are moved apart slowly, without adding speed.
"""

from math import sqrt
from typing import Any

import numpy as np
from numpy import empty, int64, zeros
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.contact.bodies import (
    ASLEEP_ROW,
    FRICTION_ROW,
    GROUND_ROW,
    LIGHTNESS_ROW,
    RESTITUTION_ROW,
)
from paddock.contact.boxes import POINTS, dot
from paddock.contact.touches import GROUND, RECORD, Contacts, find_contacts, geometry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SWEEPS = 20
STACK_SWEEPS = 180  # more, over the contacts of bodies that rest on several others or on one and the ground
STACK_WORK = 40_000  # contacts times sweeps: in a large heap each gets fewer
ROUNDS = 4  # over the points of one contact, within a sweep
SLOP = 1e-3  # m: overlap that remains, so that resting contacts persist
RECOVERY = 0.2  # share of the overlap that is removed in a tick
RECOVERY_SPEED = 3.0  # m/s: bodies move apart at most this fast
BOUNCE_SPEED = 0.3  # m/s: slower touches do not bounce, so that bodies come to rest
WAKE_SPEED = 0.05  # m/s: a slower touch does not wake a sleeping body


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
    contacts: int, b: Any, sweep: Any, dt: float, record: Any, points: Any, gaps: Any, counts: Any, wake: float,
    arms: Any, velocity: Any, light: Any, wanted: Any,
) -> None:  # fmt: skip
    """Compute lever arms, approach speeds and the wanted speeds after the touch; leave sleeping bodies heavy."""
    relative = empty(3)
    m = b.shape[1]
    for i in range(m):
        light[i, 0], light[i, 1] = b[LIGHTNESS_ROW, i], b[LIGHTNESS_ROW + 1, i]
        if b[ASLEEP_ROW, i] != 0.0:
            light[i, 0] = light[i, 1] = -1.0  # marked; awake again if something hits it
    for c in range(contacts):
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
            wanted[c, p] = bounce * speed if speed > max(BOUNCE_SPEED, wake) else min(gaps[c, p], 0.0) / dt
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
    in ascending order. Obstacles have an inverse mass of 0. `wake`: speed (m/s) at which a touch wakes a sleeping
    body; slower ones do not bounce either.
    """
    m, most = b.shape[1], pairs.shape[1] + b.shape[1]
    g = geometry(b, dt)
    record, points, gaps = empty((most, RECORD)), empty((most, POINTS, 3)), empty((most, POINTS))
    counts = zeros(most, int64)
    contacts = find_contacts(pairs, g, Contacts(record, points, gaps, counts))
    sweep, inertia = g.sweep, g.inertia
    if contacts == 0:
        return zeros((9, m)), record[:0]
    velocity, light, wanted = empty((m + 1, 6)), empty((m + 1, 2)), empty((most, POINTS))
    for i in range(m):
        for j in range(6):
            velocity[i, j] = b[7 + j, i]
    arms = zeros((most, POINTS, 2, 3))
    approach(contacts, b, sweep, dt, record, points, gaps, counts, wake, arms, velocity, light, wanted)
    bump = zeros((9, m))
    solve(contacts, b, dt, record, counts, wanted, arms, velocity, light, inertia, bump)
    return bump, record[:contacts]


def count_contacts(contacts: int, b: Any, record: Any, split: Any, stacked: Any) -> int:
    """Count the contacts of every body in `split`, and mark those of stacks in `stacked`; return how many these are.

    A stack: something on the ground has more than one contact.
    """
    for c in range(contacts):
        a, other = int(record[c, 0]), int(record[c, 1])
        split[a] += 1.0
        if other != GROUND:
            split[other] += 1.0
    heaped = 0
    for c in range(contacts):
        a, other = int(record[c, 0]), int(record[c, 1])
        held = b[GROUND_ROW + 3, a] != 0.0 and split[a] > 1.0
        if other != GROUND:
            held = held or (b[GROUND_ROW + 3, other] != 0.0 and split[other] > 1.0)
        stacked[c] = 1 if held else 0
        heaped += stacked[c]
    return heaped


def solve(
    contacts: int, b: Any, dt: float, record: Any, counts: Any, wanted: Any, arms: Any, velocity: Any, light: Any,
    inertia: Any, bump: Any,
) -> None:  # fmt: skip
    """Sweep over the contacts; write the bumps and the impulses of the contacts."""
    m = b.shape[1]
    fixed, weightless = zeros((3, 3)), zeros(2)
    split, change = zeros(m), empty((m, 6))
    pressed, rubbed = zeros((max(contacts, 1), POINTS)), zeros((max(contacts, 1), POINTS, 3))
    va, vc, relative = empty(6), empty(6), empty(3)
    for i in range(m):
        if light[i, 0] == 0.0 and light[i, 1] == 0.0:
            for j in range(9):
                inertia[i, j // 3, j % 3] = 0.0
    stacked = zeros(max(contacts, 1), int64)
    heaped = count_contacts(contacts, b, record, split, stacked)
    more = min(STACK_SWEEPS, STACK_WORK // heaped) if heaped else 0
    for sweep in range(SWEEPS + more):
        for i in range(m):
            for j in range(6):
                change[i, j] = 0.0
        for c in range(contacts):
            if sweep >= SWEEPS and stacked[c] == 0:
                continue
            a, other = int(record[c, 0]), int(record[c, 1])
            grounded = other == GROUND
            if light[a, 0] == 0.0 and (grounded or light[other, 0] == 0.0):
                continue
            friction = b[FRICTION_ROW, a]
            friction *= b[GROUND_ROW + 4, a] if grounded else b[FRICTION_ROW, other]
            friction = sqrt(friction) if not grounded else friction
            for j in range(6):
                va[j] = velocity[a, j]
                vc[j] = 0.0 if grounded else velocity[other, j]
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
    shift(contacts, dt, record, counts, arms, velocity, light, split, pressed, rubbed, bump)


def shift(
    contacts: int, dt: float, record: Any, counts: Any, arms: Any, velocity: Any, light: Any, split: Any, pressed: Any,
    rubbed: Any, bump: Any,
) -> None:  # fmt: skip
    """Write the impulses of the contacts; shift bodies by them from the time of touch, and apart where they overlap."""
    total, relative = empty(3), empty(3)
    for c in range(contacts):
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
