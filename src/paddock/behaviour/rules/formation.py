"""Formation: each vehicle keeps its slot in a shape, around a leader or a place."""

from typing import Annotated, NamedTuple

import numpy as np

from paddock.behaviour.rule import AvoidOption, Floats, Rule, SeesOption, Urge, station
from paddock.compute import arrays
from paddock.compute.math import select, sincos
from paddock.compute.quaternion import heading
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Pose

SHAPES = ("line", "v", "circle", "grid", "sphere", "column", "wedge")


class Options(NamedTuple):
    """Shape, size, and position without a leader."""

    shape: Annotated[float, Column("", "shape of the formation", 0.0, 6.0, choices=SHAPES)] = 0.0
    spacing: Annotated[float, Column("m", "distance between neighbours", 0.01, 1e5)] = 5.0
    x: Annotated[float, Column("m", "centre, forward of the leader (or east of the origin)", -FARTHEST, FARTHEST)] = 0.0
    y: Annotated[float, Column("m", "centre, left of the leader (or north of the origin)", -FARTHEST, FARTHEST)] = 0.0
    z: Annotated[float, Column("m", "centre, above the leader (or the origin)", -FARTHEST, FARTHEST)] = 0.0
    heading: Annotated[float, Column("rad", "direction without a leader")] = 0.0
    speed: Annotated[float, Column("m/s", "top speed", 0.0, 1e3)] = 10.0
    gain: Annotated[float, Column("1/s", "correction per metre", 0.0, 100.0)] = 0.8
    has_target: Annotated[float, Column("0/1", "set when a target is named", 0.0, 1.0)] = 0.0
    avoid: AvoidOption = 0.0
    sees: SeesOption = 0.0


class Memory(NamedTuple):
    """The vehicle's slot."""

    x: Annotated[float, Column("m", "slot, forward")] = 0.0
    y: Annotated[float, Column("m", "slot, left")] = 0.0
    z: Annotated[float, Column("m", "slot, up")] = 0.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Stay in the slot, which turns and moves with the leader."""
    led = o.has_target > 0.5
    turn = select(led, heading(target.qx, target.qy, target.qz, target.qw), o.heading)
    s, c = sincos(turn)
    x, y, z = o.x + m.x, o.y + m.y, o.z + m.z
    px = select(led, target.x + c * x - s * y, o.x + c * m.x - s * m.y)
    py = select(led, target.y + s * x + c * y, o.y + s * m.x + c * m.y)
    pz = select(led, target.z + z, z)
    vx, vy, vz = select(led, target.vx, 0.0), select(led, target.vy, 0.0), select(led, target.vz, 0.0)
    return station(me, px, py, pz, vx, vy, vz, o.gain, o.speed), m


def slots(count: int, o: Options) -> Floats:
    """Return the slots (3, count) of a shape: forward, left, up in m, about its centre or tip."""
    k = np.arange(count)
    follower = k + 1 if o.has_target > 0.5 else k  # the leader takes the first place of a column and the tip of a wedge
    zero = np.zeros(count)
    shape = SHAPES[int(o.shape)]
    if shape == "line":
        return np.stack([zero, (k - 0.5 * (count - 1)) * o.spacing, zero])
    if shape == "column":
        return np.stack([-follower * o.spacing, zero, zero])
    if shape == "v":  # behind the leader, alternately left and right, on arms at 45 degrees
        along = (k // 2 + 1) * o.spacing * np.sqrt(0.5)
        return np.stack([-along, np.where(k % 2, -1.0, 1.0) * along, zero])
    if shape == "wedge":  # rows of 1, 2, 3, ...
        row = ((np.sqrt(8.0 * follower + 1.0) - 1.0) // 2).astype(int)
        across = follower - row * (row + 1) // 2 - 0.5 * row
        return np.stack([-row * o.spacing, across * o.spacing, zero])
    if shape == "circle":
        radius = o.spacing / (2.0 * arrays.sin(np.pi / count)) if count > 1 else 0.0
        angle = 2.0 * np.pi * k / count
        return np.stack([radius * arrays.cos(angle), radius * arrays.sin(angle), zero])
    if shape == "sphere":  # golden spiral; its area per vehicle sets the spacing
        up = 1.0 - (2.0 * k + 1.0) / count
        radius = o.spacing * np.sqrt(count / (4.0 * np.pi))
        across, angle = np.sqrt(1.0 - up * up), k * np.pi * (3.0 - np.sqrt(5.0))
        return np.stack([radius * across * arrays.cos(angle), radius * across * arrays.sin(angle), radius * up])
    side = int(np.ceil(np.sqrt(count)))
    rows = -(-count // side)
    return np.stack([(0.5 * (rows - 1) - k // side) * o.spacing, (k % side - 0.5 * (side - 1)) * o.spacing, zero])


RULE = Rule("Keep a slot in a formation", Options, desire, Memory, slots=slots)
