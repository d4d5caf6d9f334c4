"""Everything a ground station is told about a vehicle, in SI units; filled by the autopilot, read by `sitl.mavlink`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from math import nan

from paddock.sitl.autopilot.estimate import Estimate
from paddock.sitl.sensor_data import SensorColumns


class Landed(IntEnum):
    """MAV_LANDED_STATE."""

    UNDEFINED = 0
    ON_GROUND = 1
    IN_AIR = 2
    TAKEOFF = 3
    LANDING = 4


@dataclass
class Telemetry:
    """The newest values; the autopilot replaces `estimate` and `sensors` and sets the rest at 50 Hz."""

    time_us: int = 0  # simulated time since boot
    estimate: Estimate | None = None  # None before the first sensor data
    sensors: SensorColumns | None = None
    latitude: float = nan  # deg, of the estimate; NaN while there is no origin
    longitude: float = nan
    altitude: float = nan  # m above sea level
    relative_altitude: float = nan  # m above home
    throttle: float = 0.0  # 0 to 1
    mode: int = 0
    armed: bool = False
    landed: Landed = Landed.UNDEFINED
    system_status: int = 0  # MAV_STATE
    sensors_present: int = 0  # MAV_SYS_STATUS_SENSOR bits
    sensors_enabled: int = 0
    sensors_healthy: int = 0
    load: float = 0.0  # 0 to 1
    battery_consumed: float = nan  # mAh
    mission_current: int = 0
    mission_count: int = 0
    mission_state: int = 0  # MISSION_STATE
    target_distance: float = 0.0  # m to the waypoint
    target_bearing: float = 0.0  # rad
    crosstrack: float = 0.0  # m
    altitude_error: float = 0.0  # m
    speed_error: float = 0.0  # m/s
    nav_roll: float = 0.0  # rad, wanted
    nav_pitch: float = 0.0
    nav_bearing: float = 0.0
    outputs: list[int] = field(default_factory=lambda: [0] * 16)  # PWM us, as SERVO_OUTPUT_RAW shows them
    wind_speed: float = nan
    wind_direction: float = nan
