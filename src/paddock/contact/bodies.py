"""The table of bodies that contact is computed on, (rows of BodyRow, bodies), obstacles as part of it, and frames.

The last contact of a vehicle is kept in a table of its fleet and shown in snapshots: see LastContact.

During a tick a body moves in a straight line and keeps its attitude: at the share `t` of the tick it is at
`centre - (1 - t) * sweep`, where `sweep` is its velocity times the length of the tick.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.quaternion import rotate
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.vehicles.model import BOX, CAPSULE, CYLINDER, FRAME, SPHERE
from paddock.world.columns import Column, Floats, column_index
from paddock.world.parts import array, part, value
from paddock.world.solids import BOX as BOX_SOLID
from paddock.world.solids import SOLID

CONTACT = "contact"  # the table of the last contact of each vehicle


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
    mass_z: int = 32  # height of the centre of mass above the pose; x and the columns after it are of that centre
    rolling: int = 33  # arm of the load against rolling and spinning, m
    size: int = 34


ROW = BodyRow()
HALF_ROW, CENTRE_ROW, SHAPE_ROW, GROUND_ROW = ROW.half, ROW.centre_x, ROW.shape, ROW.ground
FRICTION_ROW, RESTITUTION_ROW, ROLLING_ROW = ROW.friction, ROW.restitution, ROW.rolling
LIGHTNESS_ROW, TURNING_ROW, MASS_ROW, ASLEEP_ROW = ROW.lightness, ROW.turning, ROW.mass_z, ROW.asleep


class LastContact(NamedTuple):
    """The last touch of a vehicle with another or with an obstacle."""

    tick: Annotated[float, Column("", "tick of the touch, -1: none yet")] = -1.0
    other: Annotated[float, Column("", "id of the other vehicle, -1: an obstacle or none")] = -1.0
    impulse: Annotated[float, Column("N s", "impulse along the normal")] = 0.0
    x: Annotated[float, Column("m", "where it was touched, east")] = 0.0
    y: Annotated[float, Column("m", "where it was touched, north")] = 0.0
    z: Annotated[float, Column("m", "where it was touched, up")] = 0.0
    nx: Annotated[float, Column("", "normal east: the direction in which the other pushes")] = 0.0
    ny: Annotated[float, Column("", "normal north")] = 0.0
    nz: Annotated[float, Column("", "normal up")] = 0.0
    disarmed: Annotated[float, Column("0/1", "1: it has crashed and stays disarmed until it is placed")] = 0.0


@part
class ContactState:
    """The contacts that were reported, and the impulses from which the solver starts.

    A row of `touching` is a contact that presses, in ascending order of its ids: that of the first body, and that of
    the second, -1 for the ground, -2 - k for obstacle k. Contacts of sleeping bodies stay as they were; so it is known
    what rests on what.
    """

    reported: NDArray[np.int64] = array("i8", 3, "pair")  # two ids (-2 - k: obstacle k), and the tick of the last touch
    total: int = value(0, low=0, high=2**53)  # contacts, not counting those with the ground
    touching: NDArray[np.int64] = array("i8", "contact", 2, low=-(2**31), high=2**31 - 1)
    points: Floats = array("f8", "contact", 4, 3, unit="m")  # in the axes of the first body
    normal: Floats = array("f8", "contact", 4, unit="N s", low=0.0, high=1e9)  # of each point
    friction: Floats = array("f8", "contact", 4, unit="N s", low=-1e9, high=1e9)  # on the second body; about the normal

    def check(self, state: Any) -> None:
        """Refuse contacts that are not in ascending order: compiled code searches them."""
        if (np.diff(contact_keys(self.touching)) <= 0).any() or (self.touching[:, 0] < 0).any():
            raise InvalidValueError("touching: contacts are not in ascending order of their ids")


def contact_keys(touching: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the keys of contacts (n, 2), whole numbers in the order of both ids."""
    return (touching[:, 0] << 32) + (touching[:, 1] + (1 << 31))


CONTACT_NAMES = tuple(f"contact.{name}" for name in ("collided", *column_index(LastContact)))  # in snapshots
COLLIDED_FOR = 0.5  # s: a vehicle counts as collided for this long after a touch


def posed_table(constants: Any, bodies: Any, poses: Any, columns: Any, falls: Any) -> Any:
    """Return the table of some bodies: what is constant of each, and its pose, with rates about world axes.

    `columns` are the places of the bodies in `poses` (13, n); a body that `falls` sleeps while it does not move.
    """
    table = empty((constants.shape[0], bodies.size))
    for k in range(bodies.size):
        i, c = bodies[k], columns[k]
        for row in range(10):
            table[row, k] = poses[row, c]
        table[2, k] += constants[MASS_ROW, i] * (1.0 - 2.0 * (poses[3, c] * poses[3, c] + poses[4, c] * poses[4, c]))
        table[10, k], table[11, k], table[12, k] = rotate(
            poses[3, c], poses[4, c], poses[5, c], poses[6, c], poses[10, c], poses[11, c], poses[12, c]
        )
        for row in range(13, constants.shape[0]):
            table[row, k] = constants[row, i]
        moves = False
        for row in range(7, 13):
            moves |= poses[row, c] != 0.0
        table[ASLEEP_ROW, k] = 1.0 if falls[i] and not moves else 0.0
    return table


posed = routine(posed_table)


def obstacle_table(solids: Floats, friction: float, restitution: float) -> Floats:
    """Return upright boxes and cylinders, rows of a table of solids, as columns of the table of bodies."""
    table = np.zeros((ROW.size, len(solids)))
    table[:3] = solids[:, SOLID.x : SOLID.axes].T
    box = solids[:, SOLID.shape] == BOX_SOLID
    half = 0.5 * arrays.arctan2(solids[:, SOLID.axes + 1], solids[:, SOLID.axes])
    table[ROW.qx + 2], table[ROW.qx + 3] = np.where(box, arrays.sin(half), 0.0), np.where(box, arrays.cos(half), 1.0)
    table[ROW.half : ROW.half + 3] = solids[:, SOLID.half : SOLID.shape].T
    table[ROW.shape] = np.where(box, BOX, CYLINDER)
    table[ROW.friction], table[ROW.restitution] = friction, restitution
    return table


def bounds(table: Floats) -> Floats:
    """Return the radius of a sphere around each pose that contains the body."""
    half, shape = table[ROW.half : ROW.half + 3], table[ROW.shape]
    solid = np.sqrt((half * half).sum(axis=0))
    size = np.where(shape == SPHERE, half[0], np.where(shape == CAPSULE, np.maximum(half[0], half[1]), solid))
    size = np.where(shape == FRAME, np.maximum(half[0], np.sqrt(2.0 * half[1] ** 2 + half[2] ** 2)), size)
    return np.asarray(size + np.sqrt(table[ROW.centre_x] ** 2 + (table[ROW.centre_z] + table[ROW.mass_z]) ** 2))
