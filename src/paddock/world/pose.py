"""The public columns of every vehicle: position, attitude and motion; and the environment of all vehicles."""

from typing import Annotated, NamedTuple

from paddock.world.columns import Column

FARTHEST = 1e7  # largest coordinate in m: beyond it, rounding loses metres and products overflow float32


class Pose(NamedTuple):
    """Position, attitude and motion of one vehicle; world ENU, body FLU."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    qx: Annotated[float, Column("", "attitude quaternion x, body to world")]
    qy: Annotated[float, Column("", "attitude quaternion y")]
    qz: Annotated[float, Column("", "attitude quaternion z")]
    qw: Annotated[float, Column("", "attitude quaternion w")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]
    wx: Annotated[float, Column("rad/s", "body rate about the forward axis")]
    wy: Annotated[float, Column("rad/s", "body rate about the left axis")]
    wz: Annotated[float, Column("rad/s", "body rate about the up axis")]


class Environment(NamedTuple):
    """Properties of the world that act on every vehicle."""

    gravity: Annotated[float, Column("m/s2", "acceleration of gravity, downwards", low=0.0, high=100.0)] = 9.80665
    air_density: Annotated[float, Column("kg/m3", "density of the air", low=0.0, high=100.0)] = 1.225
    wind_x: Annotated[float, Column("m/s", "wind towards the east", low=-100.0, high=100.0)] = 0.0
    wind_y: Annotated[float, Column("m/s", "wind towards the north", low=-100.0, high=100.0)] = 0.0
    wind_z: Annotated[float, Column("m/s", "wind upwards", low=-100.0, high=100.0)] = 0.0
    mu: Annotated[float, Column("", "friction of the ground, as a factor on a tyre's own", low=0.0, high=10.0)] = 1.0
    ground_z: Annotated[float, Column("m", "height of the flat ground", low=-1e5, high=1e5)] = 0.0
