"""One simulator on the bridge: its connection, its time, its vehicles and their rows, and what happens on a timeout."""

import threading
from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, nan
from time import monotonic, perf_counter_ns
from typing import Annotated, ClassVar, NamedTuple, Never

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from paddock.autopilot.contract import Autopilot
from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, Floats, SensorData, blank_actuators, blank_sensors
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError, PaddockError, one_line, unknown_name
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl.adapter import AdapterError, Placed, SimulatorAdapter
from paddock.world.records import Text

NEVER_US = 1 << 62  # a simulated time that no run reaches
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

    saved_fields: ClassVar[tuple[str, ...]] = ("due_us", "failed")
    placed: Placed
    autopilot: Autopilot
    adapter: str  # name of its adapter
    sensors: SensorData = field(default_factory=SensorData)
    actuators: ActuatorCommands = field(default_factory=ActuatorCommands)
    awaited: bool = False  # it was offered sensors and has not answered
    free_running: bool = False  # it missed a deadline; not waited for until it answers again
    holding: bool = False  # simulated time stands still until it answers
    was_live: bool = False
    exchanges: int = 0
    due_us: Annotated[int, Ge(0), Le(NEVER_US)] = 0  # simulated time of its next exchange; never after a failure
    offered_ns: int = 0  # performance clock at the last offer
    latencies: deque[int] = field(default_factory=lambda: deque(maxlen=LATENCIES))  # ns, for display only
    note: str = ""  # why its simulator refused it
    group: "VehicleGroup | None" = None  # it answers together with others
    failed: Text = ""  # exception of its autopilot, which is not called again before a reset

    def __post_init__(self) -> None:
        self.sysid = self.placed.id
        if not 1 <= self.sysid <= LAST_SYSID:
            raise InvalidValueError(f"a vehicle's id must be 1 to {LAST_SYSID}, not {self.sysid}")

    def __str__(self) -> str:
        return f"vehicle {self.sysid} {self.placed.name!r}"

    def set_due(self, due_us: int) -> None:
        """Set the simulated time of the next exchange."""
        self.due_us = NEVER_US if self.failed else due_us

    def diagnosis(self) -> str:
        """Return why its autopilot does not answer."""
        try:
            return self.autopilot.diagnosis()
        except Exception as error:
            return one_line(error)

    def offer(self) -> None:
        """Offer its autopilot the present sensor data; an answer is awaited."""
        self.offered_ns, self.awaited = perf_counter_ns(), True
        self.autopilot.offer(self.sensors)

    def note_answer(self, now_ns: int) -> None:
        """Count an exchange, which has ended at a time of the performance clock."""
        self.latencies.append(now_ns - self.offered_ns)
        self.exchanges += 1

    def note_live(self) -> bool:
        """Return whether its autopilot has connected or disconnected."""
        before, self.was_live = self.was_live, self.autopilot.live
        return self.was_live != before

    def note_timeout(self, holds: bool) -> None:
        """Let simulated time stand still until it answers, or continue without it."""
        self.holding, self.free_running = holds, not holds

    def use(self, commands: ActuatorCommands) -> bool:
        """Set its actuators; return whether it answers again after a timeout."""
        late = self.free_running or self.holding
        self.actuators.row[...] = commands.row
        self.awaited = self.free_running = self.holding = False
        return late

    def fail(self, reason: str) -> None:
        """Stop calling its autopilot, which has raised an exception."""
        self.awaited = self.free_running = self.holding = False
        self.failed, self.due_us = reason, NEVER_US

    @property
    def total(self) -> int:
        """Its exchanges, including those of its group."""
        return self.exchanges + (0 if self.group is None else self.group.exchanges)

    def reset(self) -> None:
        """Reset: no data offered, no answer awaited, motors off, due at time 0."""
        self.due_us = 0
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

    def __init__(self, vehicles: Sequence[BridgeVehicle], rows: Sequence[int]) -> None:
        """`rows`: the rows of the vehicles in the blocks of their simulator, ascending."""
        self.vehicles, self.due_us, self.adapter = list(vehicles), vehicles[0].due_us, vehicles[0].adapter
        self.rows: NDArray[np.int64] | slice = np.array(rows)
        if len(rows) == rows[-1] - rows[0] + 1:
            self.rows = slice(rows[0], rows[-1] + 1)
        self.autopilots = type(vehicles[0].autopilot).make_group([vehicle.autopilot for vehicle in vehicles])
        self.exchanges = 0
        self.latencies: deque[int] = deque(maxlen=LATENCIES)
        for vehicle in vehicles:
            vehicle.group, vehicle.latencies = self, self.latencies

    def set_due(self, due_us: int) -> None:
        """Set the simulated time of the next exchange."""
        self.due_us = due_us
        for vehicle in self.vehicles:
            vehicle.set_due(due_us)

    def note_answer(self, latency_ns: int) -> None:
        """Count an exchange."""
        self.latencies.append(latency_ns)
        self.exchanges += 1

    def dissolve(self) -> None:
        """Let each vehicle answer on its own."""
        for vehicle in self.vehicles:
            vehicle.exchanges, vehicle.group, vehicle.latencies = vehicle.total, None, self.latencies.copy()


RETRY = 0.1  # s of wall time per attempt while the simulation waits for a simulator
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
"""s of wall time between attempts to connect; each pause is twice the previous one."""
TIMES = np.array([k for name, k in COLUMN.items() if name.endswith("time_us")])
Bools = NDArray[np.bool_]
NEVER = -1.0  # time of a sensor that has not measured yet

Wait = Callable[[float], bool]
"""Let other threads work for some seconds while waiting; False when the run is to stop."""


class Reconnect:
    """Connects an adapter in a thread of its own, at growing intervals."""

    def __init__(self, adapter: SimulatorAdapter, problem: str = "") -> None:
        self.adapter = adapter
        self.attempts = 0
        self.problem = problem
        self._pause = FIRST_PAUSE
        self._next = monotonic() + FIRST_PAUSE
        self._thread: threading.Thread | None = None

    def poll(self) -> bool:
        """Return whether the adapter is connected; start an attempt when one is due."""
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
            if self.adapter.is_connected:
                return True
            self._pause = min(2.0 * self._pause, LONGEST_PAUSE)
            self._next = monotonic() + self._pause
        elif monotonic() >= self._next:
            self.attempts += 1

            def attempt() -> None:
                try:
                    self.adapter.connect()
                except Exception as error:  # the next attempt follows
                    self.problem = one_line(error)

            self._thread = threading.Thread(target=attempt, name=f"connect {self.adapter.name}", daemon=True)
            self._thread.start()
        return False

    def give_up(self, timeout: float = 1.0) -> None:
        """Wait for an attempt in progress."""
        if self._thread is not None:
            self._thread.join(timeout)


class AdapterLink:
    """An adapter and its vehicles, ordered by id, with a row for each in two blocks.

    An exception of the adapter disconnects it and no other: the link then tries to connect it again.
    """

    def __init__(self, adapter: SimulatorAdapter, policy: TimeoutPolicy, report: Report) -> None:
        self.adapter, self.policy, self.report = adapter, policy, report
        self.vehicles: list[BridgeVehicle] = []
        self.connected = False  # with its vehicles in place
        self.known = False  # has been connected before: the run waits only for such adapters
        self.free_running = False
        self.holding = False
        self._reconnect: Reconnect | None = None
        self._max_rate: float | None = None  # Hz, of its capabilities
        self._seen_us = 0  # the simulator's own time at the last check
        self._offset_us = 0  # bridge time minus the simulator's own
        self._mark_updates, self._hold_invalid = mark_updates.direct(), hold_invalid.direct()
        self._arrange()

    def __str__(self) -> str:
        return f"adapter {self.adapter.name!r}"

    @property
    def note(self) -> str:
        """Its problem, for the live table; empty without one."""
        if not self.connected:
            reason = self._reconnect.problem if self._reconnect else ""
            return f"{self} is not connected" + (f": {reason}" if reason else "")
        if self.holding or self.free_running:
            return f"{self} does not answer" + (": simulation waits" if self.holding else "")
        return ""

    def add(self, vehicle: BridgeVehicle) -> None:
        """Add a vehicle, to the simulator too if connected; AdapterError if the simulator refuses it."""
        if self.connected:
            self._add_to_simulator(vehicle)
        vehicle.note = ""
        insort(self.vehicles, vehicle, key=lambda other: other.sysid)
        self._arrange()
        if self.connected:
            self._compare_rates(vehicle)

    def _add_to_simulator(self, vehicle: BridgeVehicle) -> None:
        try:
            self.adapter.add_vehicle(vehicle.placed)
        except PaddockError:
            raise
        except Exception as error:
            raise AdapterError(f"{self} cannot add {vehicle}: {one_line(error)}") from error

    def _compare_rates(self, vehicle: BridgeVehicle) -> None:
        """Pass the IMU period on to the autopilot; report one that wants sensors faster than they are measured."""
        try:
            vehicle.autopilot.sensor_period_us = self.adapter.sensor_period_us(vehicle.sysid)
            if self._max_rate is None:  # once per connection: not for each of many vehicles
                self._max_rate = self.adapter.capabilities.max_rate
            requested, offered = 1e6 / vehicle.autopilot.period_us, self._max_rate
        except Exception as error:
            self.report("rejected", vehicle, f"cannot compare rates: {one_line(error)}")
            return
        if requested > offered * (1.0 + 1e-6):
            detail = f"its autopilot wants sensors at {requested:g} Hz, but {self} measures at {offered:g} Hz at most"
            self.report("too_fast", vehicle, detail)

    def _arrange(self) -> None:
        """Allocate blocks for the present vehicles; each keeps the contents of its rows."""
        self.rearranged = True  # until the bridge has noted the new rows
        self.ids = tuple(vehicle.sysid for vehicle in self.vehicles)
        self.sensors, self.actuators = blank_sensors(len(self.ids)), blank_actuators(len(self.ids))
        for k, vehicle in enumerate(self.vehicles):
            self.sensors[k], self.actuators[k] = vehicle.sensors.row, vehicle.actuators.row
            vehicle.sensors, vehicle.actuators = SensorData(self.sensors[k]), ActuatorCommands(self.actuators[k])
        self._raw = _shifted(self.sensors, -self._offset_us)
        self._good = self.actuators.copy()
        self._bad = np.zeros(len(self.ids), np.bool_)  # rows that were not finite
        self._newest = self.sensors[:, 0].copy()
        self.updated = np.zeros(len(self.ids), np.bool_)  # rows with data that came with the last `receive`
        self._rejected: frozenset[int] = frozenset()  # rows that were not finite when last sent

    def receive(self) -> Sequence[int]:
        """Read the newest sensors into the rows; return the system ids of those with new data."""
        try:
            self.adapter.receive_block(self.ids, self._raw if self._offset_us else self.sensors)
        except Exception as error:
            self.drop(one_line(error))
        if self._offset_us:
            self.sensors[:] = _shifted(self._raw, self._offset_us)
        if self._mark_updates(self.sensors, self._newest, self.updated) == len(self.ids):
            return self.ids
        return [self.ids[k] for k in np.flatnonzero(self.updated).tolist()]

    def rewind(self) -> None:
        """Treat whatever comes next as new, after time has decreased."""
        self._newest[:] = NEVER

    def send(self) -> None:
        """Send the actuator rows; a row that is not finite is rejected, and the previous one holds."""
        if self._hold_invalid(self.actuators, self._good, self._bad) or self._rejected:
            bad = np.flatnonzero(self._bad).tolist()
            for k in [k for k in bad if k not in self._rejected]:
                self.report("rejected", self.vehicles[k], "actuators are not finite; the previous ones hold")
            self._rejected = frozenset(bad)
        try:
            self.adapter.send_block(self.ids, self.actuators)
        except Exception as error:
            self.drop(one_line(error))

    def ensure_connected(self, time_us: int, wait: Wait) -> bool:
        """Connect if necessary, or apply the fallback; False when the run is to stop."""
        try:
            if self.connected and self.adapter.is_connected:
                return True
            if self.connected:
                self.drop("connection lost")
            if (reconnect := self._reconnect) is None:
                reconnect = self._reconnect = Reconnect(self.adapter)
                try:
                    self.adapter.connect()
                except Exception as error:
                    reconnect.problem = one_line(error)
                    self.report("unreachable", self, f"{one_line(error)}; retrying")
            while not (self.adapter.is_connected or reconnect.poll()):
                if not self.known or self.policy.fallback is Fallback.FREE_RUN:
                    return True
                if not wait(0.02):
                    return False
            self._admit(time_us)
        except BridgeStoppedError:
            raise
        except Exception as error:
            detail = one_line(error)
            if self.connected or self._reconnect is None or self._reconnect.problem != detail:  # report it once
                self.drop(detail)
        return True

    def drop(self, detail: str) -> None:
        """Disconnect a failed simulator and start to reconnect."""
        self.connected = self.free_running = self.holding = False
        self._disconnect()
        self._reconnect = Reconnect(self.adapter, detail)
        self.report("lost", self, f"{detail}: {self.policy.fallback}")
        if self.policy.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{self}: {detail}; stopped as configured")

    def close(self) -> None:
        """Remove the vehicles, at rest, and disconnect."""
        if self._reconnect is not None:
            self._reconnect.give_up()
        self._disconnect(self.adapter.vehicles if self.connected else ())
        self.connected, self._reconnect = False, None

    def _disconnect(self, vehicles: Sequence[int] = ()) -> None:
        try:
            for sysid in vehicles:
                self.adapter.remove_vehicle(sysid)
            self.adapter.disconnect()
        except Exception as error:
            self.report("rejected", self, f"cannot disconnect: {one_line(error)}")

    def _admit(self, time_us: int) -> None:
        """Add the vehicles to a simulator that has just connected; its time continues from the bridge's."""
        if self.known:
            self.report("connected", self, "reconnected")
        self.connected = self.known = True
        self._reconnect, self._max_rate = None, None
        present = set(self.adapter.vehicles)
        for vehicle in [vehicle for vehicle in self.vehicles if vehicle.sysid not in present]:
            try:
                self._add_to_simulator(vehicle)
            except PaddockError as error:  # the others are not affected
                self.vehicles.remove(vehicle)
                vehicle.note = str(error)
                self.report("rejected", vehicle, str(error))
        self._arrange()
        for vehicle in self.vehicles:
            self._compare_rates(vehicle)
        self._anchor(time_us)

    def advance(self, time_us: int, waiting: bool, wait: Wait) -> bool:
        """Step the simulator to that time, or apply the fallback; False when the run is to stop."""
        if self.adapter.hosted or not self.connected:
            return True
        try:
            lag, waiting = self._lag(time_us), waiting and not self.free_running
            if lag <= 0:
                return True
            if self.adapter.step(lag, self.policy.timeout if waiting else 0.0):
                self._answered(time_us)
            elif not waiting:
                self._anchor(time_us)
            else:
                return self._late(time_us, wait)
        except BridgeStoppedError:
            raise
        except Exception as error:
            self.drop(one_line(error))
        return True

    def _late(self, time_us: int, wait: Wait) -> bool:
        """Apply the fallback after a missed deadline."""
        detail = f"did not step within {self.policy.timeout:g} s: {self.adapter.diagnosis()}"
        self.report("timeout", self, f"{detail} {self.policy.fallback}")
        if self.policy.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{self} {detail} stopped as configured")
        if self.policy.fallback is Fallback.FREE_RUN:
            self.free_running = True
            self._anchor(time_us)
            return True
        self.holding = True
        while not self.adapter.step(max(self._lag(time_us), 1), RETRY):
            if not wait(0.001):
                return False
        self._answered(time_us)
        return True

    def _answered(self, time_us: int) -> None:
        if self.free_running or self.holding:
            self.report("recovered", self, "steps again")
            self.free_running = self.holding = False
        self._seen_us = self.adapter.sim_time_us
        if not self.adapter.supports_lockstep:
            self._anchor(time_us)

    def _lag(self, time_us: int) -> int:
        """Return the us by which the simulator is behind; one that has restarted continues in bridge time."""
        own = self.adapter.sim_time_us
        if own < self._seen_us:
            self.report("restarted", self, f"its time fell from {self._seen_us} us to {own} us")
            self._anchor(self._seen_us + self._offset_us)
        self._seen_us = own
        return time_us - own - self._offset_us

    def _anchor(self, time_us: int) -> None:
        """Map the simulator's present time to this bridge time; a hosted world has the bridge's time."""
        self._seen_us = self.adapter.sim_time_us
        self._offset_us = 0 if self.adapter.hosted else time_us - self._seen_us
        self._raw = _shifted(self.sensors, -self._offset_us)

    def reset(self) -> None:
        """Restart the simulator at time 0; the engine resets a hosted world."""
        try:
            if self.connected and not self.adapter.hosted:
                self.adapter.reset()
            if self.connected:
                self._anchor(0)
        except Exception as error:
            self.drop(one_line(error))
        self.free_running = self.holding = False
        for vehicle in self.vehicles:
            vehicle.sensors = SensorData()
        self._arrange()

    def resume(self, sensors: Floats, actuators: Floats) -> None:
        """Continue with the rows of a saved state; for a hosted world, which has the bridge's time."""
        self.free_running = self.holding = False
        self.sensors[:], self.actuators[:] = sensors, actuators
        self._newest[:], self._good[:] = sensors[:, 0], actuators
        self._rejected = frozenset()


def compare_times(sensors: Floats, newest: Floats, updated: Bools) -> int:
    """Note which rows have later times than the newest before, and these times; return the number of such rows."""
    count = 0
    for k in range(len(newest)):
        updated[k] = sensors[k, 0] > newest[k]
        newest[k] = sensors[k, 0]
        count += updated[k]
    return count


def replace_invalid(actuators: Floats, good: Floats, bad: Bools) -> int:
    """Replace rows that are not finite by the good ones before, and note them; return their number."""
    count = 0
    for k in range(len(actuators)):
        finite = True
        for j in range(actuators.shape[1]):
            finite = finite and abs(actuators[k, j]) < inf
        bad[k] = not finite
        source, target = (good, actuators) if bad[k] else (actuators, good)
        for j in range(actuators.shape[1]):
            target[k, j] = source[k, j]
        count += bad[k]
    return count


mark_updates, hold_invalid = routine(compare_times), routine(replace_invalid)


def _shifted(block: Floats, offset_us: int) -> Floats:
    """Return a copy whose sample times are later by `offset_us`; those of sensors that never measured are unchanged."""
    later = block.copy()
    times = later[:, TIMES]
    later[:, TIMES] = np.where(times == NEVER, times, times + offset_us)
    return later
