"""A vehicle on the bridge with its autopilot and status row; deadlines, fallbacks and events of the bridge."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from numbers import Real
from typing import NamedTuple

import numpy as np

from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Placed
from paddock.sitl.autopilot_contract import Autopilot
from paddock.sitl.sensor_data import SensorData

FIRST_ID, LAST_ID = 1, 254
"""MAVLink's system ids; 255 is the ground station, 0 is broadcast."""
KEPT_EVENTS = 200
LATENCIES = 512
"""Samples kept per vehicle."""


def positive(value: object, rule: str) -> float:
    """Return a finite number above 0; `rule` begins the error."""
    if not (isinstance(value, Real) and isfinite(value) and float(value) > 0):
        raise InvalidValueError(f"{rule}, not {value!r}")
    return float(value)


class BridgeStoppedError(PaddockError):
    """A simulator or autopilot did not answer and its fallback is `stop`; the message names it and what to check."""


class Fallback(StrEnum):
    """Reaction to a missed deadline."""

    FREE_RUN = "free_run"  # continue without it, actuators held, until it answers again
    HOLD = "hold"  # simulated time stands still until it answers
    STOP = "stop"  # end the run with an error


@dataclass(frozen=True)
class TimeoutPolicy:
    """Deadline of an answer, s of wall time, and the reaction to missing it."""

    timeout: float = 1.0
    fallback: Fallback = Fallback.FREE_RUN

    @classmethod
    def checked(cls, timeout: object, fallback: str) -> TimeoutPolicy:
        """Return the policy for what a user wrote."""
        seconds = positive(timeout, "timeout must be a positive number of seconds")
        if fallback not in list(Fallback):
            raise unknown_name("fallback", str(fallback), [one.value for one in Fallback])
        return cls(seconds, Fallback(fallback))

    def other(self, timeout: float | None, fallback: str | None) -> TimeoutPolicy:
        """Return the policy with the given values replaced."""
        return self.checked(self.timeout if timeout is None else timeout, fallback or self.fallback)


class BridgeEvent(NamedTuple):
    """An event of the bridge: its kind, the vehicle or adapter concerned, and one line of detail.

    Kinds: unreachable, lost, connected, restarted, timeout, recovered, rejected, too_fast.
    """

    kind: str
    subject: str
    detail: str


class BridgeEvents:
    """Counts events, keeps the last ones, and reports each."""

    def __init__(self, report: Callable[[str, str, str], None] | None) -> None:
        self.report = report
        self.counts: Counter[str] = Counter()
        self.last: deque[BridgeEvent] = deque(maxlen=KEPT_EVENTS)

    def add(self, kind: str, subject: object, detail: str) -> None:
        """Log an event."""
        self.counts[kind] += 1
        self.last.append(BridgeEvent(kind, str(subject), detail))
        if self.report is not None:
            self.report(kind, str(subject), detail)


def problem(error: Exception) -> str:
    """Return one line for an exception: the message of our own errors, with the type's name for others."""
    text = " ".join(str(error).split())
    if isinstance(error, PaddockError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class Latency:
    """Wall time from sensors to actuators of one vehicle: measured and shown, never used."""

    def __init__(self) -> None:
        self.offered_ns = 0  # performance clock at the last offer
        self.exchanges = 0
        self._samples: deque[int] = deque(maxlen=LATENCIES)

    def add(self, now_ns: int) -> None:
        """Record that the actuators were sent now."""
        self._samples.append(now_ns - self.offered_ns)
        self.exchanges += 1

    def percentiles(self) -> tuple[float, float]:
        """Return the median and 99th percentile in us; NaN before the first sample."""
        if not self._samples:
            return float("nan"), float("nan")
        median, high = np.percentile(list(self._samples), [50.0, 99.0]) * 1e-3
        return float(median), float(high)


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
class Vehicle:
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
    latency: Latency = field(default_factory=Latency)
    present: bool = True
    note: str = ""  # why its simulator refused it
    failed: str = ""  # exception of its autopilot, which is not called again before a reset

    def __post_init__(self) -> None:
        self.sysid = self.placed.id
        if not FIRST_ID <= self.sysid <= LAST_ID:
            raise InvalidValueError(f"a vehicle's id must be {FIRST_ID} to {LAST_ID}, not {self.sysid}")

    def __str__(self) -> str:
        return f"vehicle {self.sysid} {self.placed.name!r}"

    def diagnosis(self) -> str:
        """Return why its autopilot does not answer."""
        try:
            return self.autopilot.diagnosis()
        except Exception as error:
            return problem(error)

    def forget(self) -> None:
        """Nothing offered, nothing awaited, motors off."""
        self.awaited = self.free_running = self.holding = False
        self.failed = ""
        self.latency = Latency()
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
            self.latency.exchanges,
            *self.latency.percentiles(),
        )
