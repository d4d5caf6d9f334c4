"""Data for ground stations: `Telemetry` (SI units), and notices for the outbox."""

from dataclasses import dataclass
from enum import IntEnum
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

BOOT, STANDBY, ACTIVE, CRITICAL = 1, 3, 4, 5  # MAV_STATE


class Severity(IntEnum):
    """MAV_SEVERITY."""

    EMERGENCY = 0
    CRITICAL = 2
    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


@dataclass(frozen=True)
class StatusText:
    """A line of text for the operator."""

    severity: Severity
    text: str


@dataclass(frozen=True)
class ItemReached:
    """A mission item is done."""

    sequence: int


@dataclass(frozen=True)
class CurrentItem:
    """The mission continues with this item."""

    sequence: int


@dataclass(frozen=True)
class HomeChanged:
    """Home has moved."""


Notice = StatusText | ItemReached | CurrentItem | HomeChanged


class Landed(IntEnum):
    """MAV_LANDED_STATE."""

    UNDEFINED = 0
    ON_GROUND = 1
    IN_AIR = 2
    TAKEOFF = 3
    LANDING = 4


@dataclass
class Telemetry:
    """The newest values, updated at 50 Hz. The vehicle type and its modes set the targets, `landed` and errors."""

    time_us: int = 0  # simulated time since boot
    latitude: float = nan  # deg, estimated; NaN without an origin
    longitude: float = nan
    altitude: float = nan  # m above sea level
    relative_altitude: float = nan  # m above home
    throttle: float = 0.0  # 0 to 1
    landed: Landed = Landed.UNDEFINED
    system_status: int = 0  # MAV_STATE
    target_distance: float = 0.0  # m to the waypoint
    target_bearing: float = 0.0  # rad
    crosstrack: float = 0.0  # m
    altitude_error: float = 0.0  # m
    speed_error: float = 0.0  # m/s
    nav_roll: float = 0.0  # rad, target
    nav_pitch: float = 0.0
    nav_bearing: float = 0.0

    def aim(self, distance: float, bearing: float, crosstrack: float) -> None:
        """Report the target: m, rad, m."""
        self.target_distance, self.crosstrack = distance, crosstrack
        self.target_bearing = self.nav_bearing = bearing

    def update(self, autopilot: "BuiltInAutopilot") -> None:
        """Derive the rest from the autopilot's state."""
        self.time_us = autopilot.now_us
        flying = self.landed not in (Landed.UNDEFINED, Landed.ON_GROUND)
        self.system_status = ACTIVE if autopilot.armed or flying else STANDBY
        if not autopilot.estimate.attitude_ok:
            self.system_status = BOOT
        elif autopilot.armed and (autopilot.failsafes.acting or autopilot.fence.breached):
            self.system_status = CRITICAL
        frame, estimate = autopilot.frame, autopilot.estimate
        if frame is not None:
            place = frame.to_geodetic(estimate.north, estimate.east, estimate.down)
            self.latitude, self.longitude, self.altitude = place
            self.relative_altitude = autopilot.home_position.ned()[2] - estimate.down
