"""The contracts of an autopilot towards the bridge, of a vehicle type and of a mode.

At an exchange the bridge offers each autopilot (the built-in one, an ArduPilot, a PX4) the sensors of its vehicle, then
collects the answers: autopilots in other processes work in parallel.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.estimate import Ned
from paddock.autopilot.telemetry import Landed, ModeReason
from paddock.autopilot.vehicle_data import ActuatorCommands, Floats, SensorData
from paddock.errors import unknown_name

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot
    from paddock.autopilot.mission_items import NavTarget
    from paddock.autopilot.parameters import Parameter

T = TypeVar("T")


@dataclass
class AutopilotStatus:
    """State of an autopilot, for the live table."""

    connected: bool = False  # it has sent data and has not timed out
    mode: str = ""
    armed: bool = False
    note: str = ""  # one line: what it waits for, or the problem
    exchanges: int = 0
    duplicates: int = 0  # frames received twice
    restarts: int = 0
    rejected: int = 0  # packets that could not be decoded


class AutopilotGroup(ABC):
    """Several autopilots of this process that answer an exchange together, in compiled code."""

    @abstractmethod
    def exchange(
        self, sensors: Floats, fresh: NDArray[np.int64] | None, fail: Callable[[int, Exception], None]
    ) -> Floats:
        """Take the sensor rows (n, SENSOR_WIDTH) and return the actuator rows of all, valid until the next call.

        `fresh`: the rows with new data; None: all. `fail(row, error)` reports an exception of one autopilot.
        """


class Autopilot(ABC):
    """The autopilot of one vehicle, as the bridge sees it. Called by the ticking thread only."""

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.status = AutopilotStatus()
        self.sensor_period_us: int | None = None  # of the IMU, set by the bridge; None: a sample at every exchange
        self.on_restart: list[Callable[[], None]] = []  # called when its process has restarted

    @property
    @abstractmethod
    def live(self) -> bool:
        """Whether it has answered: the bridge waits only for a live autopilot."""

    @property
    @abstractmethod
    def period_us(self) -> int:
        """Simulated us from one exchange to the next."""

    def next_us(self, time_us: int) -> int:
        """Return the simulated time of the exchange after one at `time_us`: the next multiple of the period.

        An autopilot that counts the world's ticks returns their exact times instead.
        """
        return (time_us // self.period_us + 1) * self.period_us

    @abstractmethod
    def open(self) -> None:
        """Bind sockets, start; PaddockError of one line if it fails (port in use)."""

    @abstractmethod
    def close(self) -> None:
        """Release sockets and files."""

    @property
    def group_key(self) -> Hashable:
        """Autopilots with the same key may answer together; None: this one answers alone."""
        return None

    @classmethod
    def make_group(cls, autopilots: Sequence[Any]) -> AutopilotGroup:
        """Return the group of some autopilots with the same key; each still answers `offer` on its own."""
        raise NotImplementedError

    @abstractmethod
    def offer(self, sensors: SensorData) -> None:
        """Take the present sensor data, which is valid until the next call."""

    @abstractmethod
    def collect(self, timeout: float) -> ActuatorCommands | None:
        """Return its actuator commands, waiting at most `timeout` s (0: do not wait); None if it has not answered.

        After None the bridge collects again, without another `offer` while simulated time stands still.
        """

    @abstractmethod
    def reset(self) -> None:
        """Restart with the world, at time 0."""

    def diagnosis(self) -> str:
        """Return one line on why it did not answer in time, and what to check."""
        return "no answer"


PWM_MIN, PWM_MID, PWM_MAX = 1000, 1500, 2000  # us


class Held:
    """Something that holds positions in the world."""

    held: ClassVar[tuple[str, ...]] = ()
    """Attributes that move along with a jump of the estimate: positions in the local frame, m, or a `Held`."""

    def shift(self, offset: Ned) -> None:
        """Handle a jump of the estimate by m north, east, down: `held` moves along, what is on the map stays."""
        for name in self.held:
            value = getattr(self, name)
            if isinstance(value, Held):
                value.shift(offset)
            elif value is not None:
                setattr(self, name, tuple(p + moved for p, moved in zip(value, offset, strict=False)))


class Mode(Held, ABC):
    """A flight or drive mode. An instance is created each time the mode is entered."""

    name: ClassVar[str]  # as ground stations show it: GUIDED
    number: ClassVar[int]  # custom_mode of HEARTBEAT
    needs_position: ClassVar[bool] = True
    can_arm: ClassVar[bool] = True
    lands: bool = False  # disarm immediately after landing
    stage: Landed = Landed.IN_AIR  # in the air; or TAKEOFF or LANDING
    autopilot: "BuiltInAutopilot"

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot

    def value(self, name: str) -> float:
        """Return the value of a parameter."""
        return self.autopilot.parameters.value(name)

    def refusal(self) -> str:
        """Return why the mode cannot be entered now (a missing position aside), or an empty string."""
        return ""

    def enter(self) -> None:
        """Start the mode."""

    @abstractmethod
    def update(self, dt: float) -> None:
        """Write the vehicle's setpoint for the next 20 ms; `dt` s since the last call."""

    def leave(self) -> None:
        """End the mode."""


class MissionMode(Mode):
    """Common part of the AUTO modes of all vehicle types."""

    name = "AUTO"

    def refusal(self) -> str:
        """Require a mission with a waypoint."""
        return self.autopilot.executor.refusal()

    def leave(self) -> None:
        """Pause the mission."""
        self.autopilot.executor.running = False

    def resume(self) -> None:
        """Continue the mission at its current item."""
        self.autopilot.executor.start(resume=True)

    def nav_target(self, dt: float) -> "NavTarget":
        """Return the mission's target; start or resume the mission if it does not run."""
        executor = self.autopilot.executor
        if not executor.running:
            executor.start()
        return executor.update(dt)


class RowTuple(Generic[T]):
    """An attribute: the first columns of one of its owner's rows, as a named tuple."""

    def __init__(self, kind: type[T], row: str) -> None:
        self.kind, self.row, self.width = kind, row, len(kind._fields)  # type: ignore[attr-defined]

    def __get__(self, owner: Any, _: type) -> T:
        if owner is None:
            return self  # type: ignore[return-value]  # of the class
        return self.kind(*getattr(owner, self.row)[: self.width].tolist())

    def __set__(self, owner: Any, values: T) -> None:
        getattr(owner, self.row)[: self.width] = values


class VehicleControl(ABC):
    """The control of one vehicle: its modes write a setpoint, which `kernel` turns into actuator commands."""

    kind: ClassVar[str]  # copter, rover, rover_ackermann, plane
    mav_type: ClassVar[int]  # MAV_TYPE
    modes: ClassVar[Mapping[int, type[Mode]]]
    first_mode: ClassVar[int]  # after boot
    return_mode: ClassVar[int]  # RTL of failsafes and fences
    smart_mode: ClassVar[int | None] = None  # return along the recorded path, where the type has that
    stop_mode: ClassVar[int]  # LAND of a copter, HOLD of a rover
    hold_mode: ClassVar[int]  # LOITER of a copter, HOLD of a rover
    parameters: ClassVar["tuple[Parameter, ...]"]
    control_period_us: ClassVar[int]
    channels: ClassVar[tuple[tuple[int, int, int, int], ...]] = ()
    """Outputs: channel, ArduPilot's number of its function, column of the actuator row, us at 0."""
    widths: ClassVar[tuple[int, int, int]] = (0, 0, 0)  # of the rows of setpoint, gains and memory
    kernel: ClassVar[Any]
    """Compiled control: writes the actuator rows of some vehicles, also while they are disarmed."""
    cruise: ClassVar[Any] = None  # compiled loop of steady flight; None: the mode runs every 20 ms
    unsaved: ClassVar[tuple[str, ...]] = ("setpoint_row", "gains_row", "memory_row")  # views of the autopilot's rows
    autopilot: "BuiltInAutopilot"

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.attach()

    def attach(self) -> None:
        """Use the autopilot's rows of setpoint, gains and memory."""
        controls, index = self.autopilot.controls, self.autopilot.index
        self.setpoint_row, self.gains_row = controls.setpoint[index], controls.gains[index]
        self.memory_row = controls.memory[index]

    def read_parameters(self) -> None:  # noqa: B027
        """Derive gains and limits from the parameters, after each change."""

    def end_steady(self) -> None:  # noqa: B027
        """End the loop of steady flight, before the mode runs and at any input."""

    def record_check(self) -> None:  # noqa: B027
        """Note in steady flight that failsafes were checked."""

    def end_decision(self) -> None:  # noqa: B027
        """Hand over to the loop of steady flight if the mode has called its flight steady."""

    def shift(self, offset: Ned) -> None:
        """Handle a jump of the estimate by m north, east, down."""
        self.autopilot.mode.shift(offset)

    @abstractmethod
    def reset_control(self) -> None:
        """Reset setpoint and integrators, on arming and disarming."""

    @abstractmethod
    def update_landed(self, dt: float) -> None:
        """Set `autopilot.telemetry.landed` (50 Hz), and disarm after a landing where the type does that."""

    def start_landing(self, reason: str, by: ModeReason = ModeReason.GCS_COMMAND) -> bool:
        """Continue with the nearest landing sequence of the mission (DO_LAND_START); return whether it has one."""
        autopilot, auto = self.autopilot, self.autopilot.mode_number("AUTO")
        sequence = autopilot.executor.landing_start()
        if sequence is None or auto is None or not autopilot.executor.set_current(sequence).accepted:
            return False
        if not autopilot.executor.running:
            if not autopilot.set_mode(auto, f"landing sequence, {reason}", by).accepted:
                return False
            assert isinstance(autopilot.mode, MissionMode)
            autopilot.mode.resume()
        return True

    def record_path(self) -> None:  # noqa: B027
        """Note the position (10 Hz), where the type can return along its path."""

    def outputs(self, commands: Floats) -> list[int]:
        """Return the actuator row and set servos as PWM (us) of 16 channels, for SERVO_OUTPUT_RAW; 0: unused."""
        pwm, values = list(self.autopilot.servos.widths), commands.tolist()
        for channel, _, column, rest in self.channels:
            pwm[channel - 1] = round(rest + (PWM_MAX - rest) * values[column])
        return pwm


def drives(kind: str) -> bool:
    """Return whether a vehicle type stays on the ground: no altitude, throttle with reverse."""
    return kind.startswith("rover")


def find_vehicle(kind: str) -> type[VehicleControl]:
    """Return the class of a vehicle type."""
    from paddock.autopilot.vehicle_types import VEHICLE_TYPES

    if kind not in VEHICLE_TYPES:
        raise unknown_name("vehicle type", kind, VEHICLE_TYPES)
    return VEHICLE_TYPES[kind]
