"""The two rows of float64 between a simulator and an autopilot, the same for every simulator: sensor data and
actuators.

Axes are those of autopilots: body forward-right-down, world north-east-down, WGS84 degrees in float64. A value that is
not measured is NaN. Each sensor has the time of its sample, so that a reading is used once however often it is
delivered. Several vehicles are a block (n, SENSOR_WIDTH); a row of it is one vehicle's SensorData, without a copy.

Actuator commands:

| craft                | motors                                       | servos (-1 to 1)                 |
|----------------------|----------------------------------------------|----------------------------------|
| quadrotor X          | 1 to 4: share of full thrust, 0 to 1         |                                  |
| skid-steer rover     | 1 left, 2 right: share of top speed, -1 to 1 |                                  |
| car, Ackermann rover | 1: throttle, -1 (full reverse) to 1          | 1: steering, + right             |
| fixed wing           | 1: throttle, 0 to 1                          | 1: aileron, 2: elevator, 3: rudder |

An aileron above 0 rolls to the right, an elevator above 0 raises the nose, a rudder above 0 turns it right.

Quadrotor motors as ArduPilot numbers them: 1 front right, 2 rear left, 3 front left, 4 rear right.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, unknown_name

Floats = NDArray[np.float64]
RANGEFINDERS = 6
MOTORS = 8
SERVOS = 8
ACTUATOR_WIDTH = 1 + MOTORS + SERVOS


class SensorColumns(NamedTuple):
    """SensorColumns of a row, in order."""

    time_us: float  # us of simulated time; exact in a float64 for 285 years
    # inertial measurement unit
    imu_time_us: float
    gyro_x: float  # rad/s, forward
    gyro_y: float  # rad/s, right
    gyro_z: float  # rad/s, down
    accel_x: float  # m/s2, specific force: (0, 0, -9.81) at rest
    accel_y: float
    accel_z: float
    # satellite navigation
    gnss_time_us: float
    gnss_fix: float  # 0 none, 2: 2-D, 3: 3-D, as MAVLink's GPS_FIX_TYPE
    gnss_satellites: float
    latitude: float  # deg
    longitude: float  # deg
    altitude: float  # m above mean sea level
    gnss_vn: float  # m/s north
    gnss_ve: float  # m/s east
    gnss_vd: float  # m/s down
    gnss_eph: float  # m, expected horizontal error (1 sigma)
    gnss_epv: float  # m, expected vertical error
    # compass: field in body axes
    compass_time_us: float
    mag_x: float  # T
    mag_y: float
    mag_z: float
    # barometer
    baro_time_us: float
    pressure: float  # Pa
    temperature: float  # K
    # rangefinders; the first looks down
    range_time_us: float
    range_1: float  # m
    range_2: float
    range_3: float
    range_4: float
    range_5: float
    range_6: float
    # air data and power
    airspeed: float  # m/s
    battery_voltage: float  # V
    battery_current: float  # A
    battery_remaining: float  # share of the capacity, 0 to 1
    # ground truth: NaN unless requested
    true_north: float  # m from the origin of the world
    true_east: float
    true_down: float
    true_vn: float  # m/s
    true_ve: float
    true_vd: float
    true_qw: float  # attitude, body to north-east-down
    true_qx: float
    true_qy: float
    true_qz: float


COLUMN = {name: k for k, name in enumerate(SensorColumns._fields)}  # index of each column

SENSOR_WIDTH = len(COLUMN)
TRUTH = slice(COLUMN["true_north"], COLUMN["true_qz"] + 1)
TRIPLES = {  # vectors: name -> columns
    name: slice(COLUMN[first], COLUMN[first] + 3)
    for name, first in {"gyro": "gyro_x", "accel": "accel_x", "mag": "mag_x", "velocity": "gnss_vn"}.items()
}


def blank_sensors(count: int) -> Floats:
    """Return rows (count, SENSOR_WIDTH) without measurements: times -1, all else NaN."""
    block = np.full((count, SENSOR_WIDTH), np.nan)
    block[:, [k for name, k in COLUMN.items() if name.endswith("time_us")]] = -1.0
    return block


class SensorData:
    """One vehicle's row; attributes have the names of the columns and vectors."""

    __slots__ = ("row",)

    def __init__(self, row: Floats | None = None, **values: ArrayLike) -> None:
        """Wrap a row (WIDTH,), or a new one; `values` by column, or `gyro`, `accel`, `mag`, `velocity` as triples."""
        self.row = blank_sensors(1)[0] if row is None else row
        if self.row.shape != (SENSOR_WIDTH,):
            raise InvalidValueError(
                f"sensor data must be a row of {SENSOR_WIDTH} values, not of shape {self.row.shape}"
            )
        for name, value in values.items():
            if name not in COLUMN and name not in TRIPLES:
                raise unknown_name("sensor value", name, [*COLUMN, *TRIPLES])
            self.row[TRIPLES.get(name) or COLUMN[name]] = value

    def __getattr__(self, name: str) -> Any:
        """Return a value by the name of its column; `gyro`, `accel`, `mag` and `velocity` are views (3,) of the row."""
        if name in TRIPLES:
            return self.row[TRIPLES[name]]
        if name not in COLUMN:
            raise unknown_name("sensor value", name, COLUMN) if not name.startswith("_") else AttributeError(name)
        return float(self.row[COLUMN[name]])

    def values(self) -> SensorColumns:
        """Return all values as Python floats: the fast way to read many."""
        return SensorColumns(*self.row.tolist())

    def copy(self) -> "SensorData":
        """Return a copy with its own row."""
        return SensorData(self.row.copy())


class ActuatorCommands:
    """One vehicle's row: armed (0 or 1), then motors, then servos. Several vehicles are a block (n, ACTUATOR_WIDTH)."""

    __slots__ = ("row",)

    def __init__(
        self,
        row: Floats | None = None,
        *,
        armed: bool | None = None,
        motors: Sequence[float] = (),
        servos: Sequence[float] = (),
    ) -> None:
        """Wrap a row (WIDTH,), or a new one with all zeros. `armed`, `motors`, `servos` that are not given stay."""
        self.row = np.zeros(ACTUATOR_WIDTH) if row is None else row
        if self.row.shape != (ACTUATOR_WIDTH,):
            raise InvalidValueError(
                f"actuator commands must be a row of {ACTUATOR_WIDTH} values, not of shape {self.row.shape}"
            )
        if len(motors) > MOTORS or len(servos) > SERVOS:
            raise InvalidValueError(f"at most {MOTORS} motors and {SERVOS} servos, not {len(motors)} and {len(servos)}")
        if armed is not None:
            self.row[0] = armed
        self.row[1 : 1 + len(motors)] = motors
        self.row[1 + MOTORS : 1 + MOTORS + len(servos)] = servos

    @property
    def armed(self) -> bool:
        """Whether the motors may run."""
        return bool(self.row[0] > 0.5)

    @property
    def motors(self) -> Floats:
        """(8,), shares."""
        return self.row[1 : 1 + MOTORS]

    @property
    def servos(self) -> Floats:
        """(8,), -1 to 1."""
        return self.row[1 + MOTORS :]

    def copy(self) -> "ActuatorCommands":
        """Return a copy with its own row."""
        return ActuatorCommands(self.row.copy())


def blank_actuators(count: int) -> Floats:
    """Return rows for `send_block`: disarmed, all outputs 0."""
    return np.zeros((count, ACTUATOR_WIDTH))
