"""A vehicle on the bridge with its autopilot and status row; deadlines and fallbacks."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import nan
from typing import NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.contract import Autopilot
from paddock.autopilot.vehicle_data import ActuatorCommands, SensorData
from paddock.errors import InvalidValueError, PaddockError, one_line, unknown_name
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl.adapter import Placed

LATENCIES = 512  # samples kept per vehicle

Report = Callable[[str, object, str], None]
"""Log an event: its kind (unreachable, lost, connected, restarted, timeout, recovered, rejected, too_fast), the vehicle
or adapter, and one line of detail."""


class BridgeStoppedError(PaddockError):
    """A simulator or autopilot did not answer and its fallback is `stop`; the message names it and what to check."""


class Fallback(StrEnum):
    """Reaction to a missed deadline."""

    FREE_RUN = "free_run"  # continue without it, actuators held, until it answers again
    HOLD = "hold"  # simulated time stands still until it answers
    STOP = "stop"  # end the run with an error

    @classmethod
    def _missing_(cls, value: object) -> Never:
        raise unknown_name("fallback", str(value), [member.value for member in cls])


class TimeoutPolicy(NamedTuple):
    """Deadline of an answer, s of wall time, and the reaction to missing it."""

    timeout: float = 1.0
    fallback: Fallback = Fallback.FREE_RUN


class StatusRow(NamedTuple):
    """A vehicle's row in the live table."""

    sysid: int
    name: str
    craft: str
    adapter: str
    pilot: str  # kind of its autopilot
    connected: bool
    mode: str
    armed: bool
    note: str
    exchanges: int
    latency_p50_us: float  # sensors to actuators; NaN before the first answer
    latency_p99_us: float


@dataclass(eq=False)
class BridgeVehicle:
    """A vehicle on the bridge with its autopilot; its sensors and actuators are rows of its adapter's blocks."""

    placed: Placed
    autopilot: Autopilot
    policy: TimeoutPolicy
    adapter: str  # name of its adapter
    sensors: SensorData = field(default_factory=SensorData)
    actuators: ActuatorCommands = field(default_factory=ActuatorCommands)
    awaited: bool = False  # it was offered sensors and has not answered
    free_running: bool = False  # it missed a deadline; not waited for until it answers again
    holding: bool = False  # simulated time stands still until it answers
    was_live: bool = False
    exchanges: int = 0
    offered_ns: int = 0  # performance clock at the last offer
    latencies: deque[int] = field(default_factory=lambda: deque(maxlen=LATENCIES))  # ns, for display only
    note: str = ""  # why its simulator refused it
    group: "VehicleGroup | None" = None  # it answers together with others
    failed: str = ""  # exception of its autopilot, which is not called again before a reset

    def __post_init__(self) -> None:
        self.sysid = self.placed.id
        if not 1 <= self.sysid <= LAST_SYSID:
            raise InvalidValueError(f"a vehicle's id must be 1 to {LAST_SYSID}, not {self.sysid}")

    def __str__(self) -> str:
        return f"vehicle {self.sysid} {self.placed.name!r}"

    def diagnosis(self) -> str:
        """Return why its autopilot does not answer."""
        try:
            return self.autopilot.diagnosis()
        except Exception as error:
            return one_line(error)

    @property
    def total(self) -> int:
        """Its exchanges, including those of its group."""
        return self.exchanges + (0 if self.group is None else self.group.exchanges)

    def forget(self) -> None:
        """Reset: no data offered, no answer awaited, motors off."""
        self.awaited = self.free_running = self.holding = False
        self.failed = ""
        self.exchanges = 0
        self.latencies.clear()
        self.actuators.row[:] = 0.0

    def status(self, adapter_note: str) -> StatusRow:
        """Return its row in the live table; a note on its adapter comes before one on its autopilot."""
        status, note = self.autopilot.status, self.note or adapter_note
        if not note and self.failed:
            note = f"its autopilot failed: {self.failed}"
        elif not note and (self.holding or self.free_running):
            note = f"{'simulation waits' if self.holding else 'not waited for'}: {self.diagnosis()}"
        return StatusRow(
            self.sysid,
            self.placed.name,
            self.placed.craft,
            self.adapter,
            self.autopilot.kind,
            status.connected and not self.failed,
            status.mode,
            status.armed,
            note or status.note,
            self.total,
            *map(float, np.percentile(np.array(self.latencies or [nan], float), [50.0, 99.0]) * 1e-3),
        )


class VehicleGroup:
    """Vehicles of one simulator whose autopilots answer an exchange together; they share its figures."""

    def __init__(self, vehicles: Sequence[BridgeVehicle], rows: Sequence[int], due_us: int) -> None:
        """`rows`: the rows of the vehicles in the blocks of their simulator, ascending."""
        self.vehicles, self.due_us = list(vehicles), due_us
        self.rows: NDArray[np.int64] | slice = np.array(rows)
        if len(rows) == rows[-1] - rows[0] + 1:
            self.rows = slice(rows[0], rows[-1] + 1)
        self.autopilots = type(vehicles[0].autopilot).make_group([vehicle.autopilot for vehicle in vehicles])
        self.exchanges = 0
        self.latencies: deque[int] = deque(maxlen=LATENCIES)
        for vehicle in vehicles:
            vehicle.group, vehicle.latencies = self, self.latencies

    def dissolve(self) -> None:
        """Let each vehicle answer on its own."""
        for vehicle in self.vehicles:
            vehicle.exchanges, vehicle.group, vehicle.latencies = vehicle.total, None, self.latencies.copy()
