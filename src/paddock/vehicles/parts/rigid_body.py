"""Columns and functions of models that are rigid bodies: position, attitude, and their rates of change."""

from typing import Annotated, Any

from paddock.compute.quaternion import turned, unrotate
from paddock.vehicles.model import Bump
from paddock.world.columns import Column, ColumnGroup, Pose, column_tuple


@column_tuple
class MotionColumns(ColumnGroup):
    """Position and velocity in the world."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]


@column_tuple
class RigidBodyColumns(MotionColumns):
    """Position and velocity in the world, attitude and body rates."""

    qx: Annotated[float, Column("", "attitude quaternion x, body to world")]
    qy: Annotated[float, Column("", "attitude quaternion y")]
    qz: Annotated[float, Column("", "attitude quaternion z")]
    qw: Annotated[float, Column("", "attitude quaternion w")]
    wx: Annotated[float, Column("rad/s", "body rate about the forward axis")]
    wy: Annotated[float, Column("rad/s", "body rate about the left axis")]
    wz: Annotated[float, Column("rad/s", "body rate about the up axis")]


def rigid_pose(s: Any, p: Any) -> Pose:
    """Return the pose of the body."""
    return Pose(s.x, s.y, s.z, s.qx, s.qy, s.qz, s.qw, s.vx, s.vy, s.vz, s.wx, s.wy, s.wz)


def rigid_bumped(s: Any, p: Any, b: Bump) -> Any:
    """Return the state after contact changed position, attitude, velocity and body rates."""
    wx, wy, wz = unrotate(s.qx, s.qy, s.qz, s.qw, b.dwx, b.dwy, b.dwz)
    qx, qy, qz, qw = turned(s.qx, s.qy, s.qz, s.qw, *unrotate(s.qx, s.qy, s.qz, s.qw, b.tx, b.ty, b.tz), 1.0)
    return s._replace(
        x=s.x + b.dx, y=s.y + b.dy, z=s.z + b.dz, vx=s.vx + b.dvx, vy=s.vy + b.dvy, vz=s.vz + b.dvz,
        qx=qx, qy=qy, qz=qz, qw=qw, wx=s.wx + wx, wy=s.wy + wy, wz=s.wz + wz,
    )  # fmt: skip


def rigid_energy(s: Any, p: Any, potential: float) -> float:
    """Return the kinetic energy, linear and rotational, and the potential energy (J/kg) of the mass, J."""
    linear: float = p.mass * (0.5 * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz) + potential)
    spin: float = p.inertia_x * s.wx * s.wx + p.inertia_y * s.wy * s.wy + p.inertia_z * s.wz * s.wz
    return linear + 0.5 * spin
