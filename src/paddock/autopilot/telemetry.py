"""What an autopilot reports to ground stations: acks of commands, notices for the outbox, `Telemetry` (SI units).

The `require` functions end the handler of a command with a refusal.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import nan
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from paddock.world.records import Text

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot


T = TypeVar("T")


class CommandResult(IntEnum):
    """MAV_RESULT."""

    ACCEPTED = 0
    TEMPORARILY_REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3
    FAILED = 4
    IN_PROGRESS = 5


class Ack(NamedTuple):
    """A result with the reason of a refusal, which is also sent as STATUSTEXT."""

    result: CommandResult = CommandResult.ACCEPTED
    text: Text = ""

    @property
    def accepted(self) -> bool:
        """Whether the command is carried out."""
        return self.result == CommandResult.ACCEPTED


ACCEPTED = Ack()


class RefusedError(Exception):
    """Ends the handler of a command; `BuiltInAutopilot.command` returns the ack."""

    def __init__(self, ack: Ack) -> None:
        super().__init__(ack.text)
        self.ack = ack


def denied(text: str) -> Ack:
    """Refuse a command whose arguments are invalid."""
    return Ack(CommandResult.DENIED, text)


def rejected(text: str) -> Ack:
    """Refuse a command that may succeed later."""
    return Ack(CommandResult.TEMPORARILY_REJECTED, text)


def unsupported(autopilot: "BuiltInAutopilot", what: str) -> Ack:
    """Refuse a command that this vehicle type does not have."""
    return Ack(CommandResult.UNSUPPORTED, f"{what}: not supported by a {autopilot.vehicle.kind}")


def require(value: T | None, refusal: Ack) -> T:
    """Return a value; refuse the command if it is None or False."""
    if value is None or value is False:
        raise RefusedError(refusal)
    return value


SIMULATED_EPOCH_US = 1_767_225_600_000_000
"""Date at simulated time 0: 1 January 2026, 00:00 UTC. The real date would make every run different."""
BOOT, STANDBY, ACTIVE, CRITICAL = 1, 3, 4, 5  # MAV_STATE


class Severity(IntEnum):
    """MAV_SEVERITY."""

    EMERGENCY = 0
    CRITICAL = 2
    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


class ModeReason(IntEnum):
    """Why a mode was entered: ArduPilot's numbers in the MODE records of logs."""

    RC_COMMAND = 1
    GCS_COMMAND = 2
    RADIO_FAILSAFE = 3
    BATTERY_FAILSAFE = 4
    GCS_FAILSAFE = 5
    EKF_FAILSAFE = 6
    MISSION_END = 8
    FENCE_BREACHED = 10
    INITIALISED = 26


@dataclass(frozen=True)
class StatusText:
    """A line of text for the operator."""

    severity: Severity
    text: Text


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


@dataclass(frozen=True)
class PictureTaken:
    """The camera was triggered."""

    time_us: int
    number: int  # from 1
    position: tuple[float, float, float]  # deg, deg, m above sea level; NaN without an origin
    height: float  # m above home
    attitude: tuple[float, float, float]  # roll, pitch, yaw, rad
    quaternion: tuple[float, float, float, float]  # w, x, y, z, body to north-east-down


@dataclass(frozen=True)
class CommandDone:
    """A command that was in progress is done."""

    command: int  # MAV_CMD
    ack: Ack


Notice = CommandDone | StatusText | ItemReached | CurrentItem | HomeChanged | PictureTaken


class Landed(IntEnum):
    """MAV_LANDED_STATE."""

    UNDEFINED = 0
    ON_GROUND = 1
    IN_AIR = 2
    TAKEOFF = 3
    LANDING = 4


@dataclass
class Telemetry:
    """The newest values, of the last slow loop. The vehicle type and its modes set targets, `landed` and errors."""

    autopilot: "BuiltInAutopilot"
    throttle: float = 0.0  # 0 to 1
    landed: Landed = Landed.UNDEFINED
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

    @property
    def time_us(self) -> int:
        """Simulated time since boot."""
        return max(int(self.autopilot.estimate.time_us), 0)

    @property
    def system_status(self) -> int:
        """MAV_STATE."""
        autopilot, flying = self.autopilot, self.landed not in (Landed.UNDEFINED, Landed.ON_GROUND)
        if not autopilot.estimate.attitude_ok:
            return BOOT
        if autopilot.armed and (autopilot.failsafes.acting or autopilot.fence.breached):
            return CRITICAL
        return ACTIVE if autopilot.armed or flying else STANDBY

    @property
    def position(self) -> tuple[float, float, float]:
        """Estimated latitude and longitude (deg), altitude (m above sea level); NaN without an origin."""
        frame = self.autopilot.frame
        return (nan, nan, nan) if frame is None else frame.to_geodetic(*self.autopilot.estimate.position)

    @property
    def altitude(self) -> float:
        """Estimated, m above sea level; NaN without an origin."""
        return self.position[2]

    @property
    def relative_altitude(self) -> float:
        """Estimated, m above home; NaN without an origin."""
        home = nan if self.autopilot.frame is None else self.autopilot.home_position.ned()[2]
        return home - self.autopilot.estimate.down
