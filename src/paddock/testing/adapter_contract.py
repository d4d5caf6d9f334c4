"""The adapter under test, and checks of its contract: declarations, life cycle, vehicles, time, blocks, threads."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from time import sleep
from typing import NoReturn

import numpy as np

from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, Floats, SensorData, blank_actuators, blank_sensors
from paddock.errors import suggestion
from paddock.scenario.sitl import LAST_SYSID as LAST_ID
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter
from paddock.testing.conformance import ConformanceError

MOTIONS = {  # commands that visibly move a craft from rest
    "rover": ActuatorCommands(armed=True, motors=[0.6, 0.4]),
    "rover_ackermann": ActuatorCommands(armed=True, motors=[0.5], servos=[0.2]),
    "copter": ActuatorCommands(armed=True, motors=[0.9, 0.9, 0.9, 0.9]),
}

SPACING = 20.0  # m between the vehicles of the rig


@dataclass(eq=False, repr=False)
class AdapterRig:
    """One kind of adapter under test."""

    make: Callable[[], SimulatorAdapter]
    craft: str
    step_us: int
    motion: ActuatorCommands | None
    rests: bool
    deterministic: bool | None  # None: if it supports lockstep

    def __post_init__(self) -> None:
        self.motion = self.motion or MOTIONS.get(self.craft)
        self.check = "declarations"
        self.calls = 0  # of the adapter, so far: shows whether a check makes progress
        self.doing = "creating it"
        self.subject = f"adapter {getattr(self.make, '__name__', type(self.make).__name__)!r}"
        self._made: list[SimulatorAdapter] = []
        first = self.made()
        self.subject = f"adapter {getattr(first, 'adapter_type', type(first).__name__)!r}"
        self.deterministic = first.supports_lockstep if self.deterministic is None else self.deterministic

    def made(self) -> SimulatorAdapter:
        """Return a new adapter, not connected."""
        self.now("creating it")
        try:
            adapter = self.make()
        except Exception as error:
            self.fail(f"cannot be created without arguments: {type(error).__name__}: {error}")
        if not isinstance(adapter, SimulatorAdapter):
            raise ConformanceError(self.check, f"adapter {type(adapter).__name__!r}", "is not a SimulatorAdapter")
        self._made.append(adapter)
        return adapter

    def connected(self, vehicles: int = 1) -> SimulatorAdapter:
        """Return a new adapter, connected, with vehicles 1, 2, ..."""
        adapter = self.made()
        self.now("connect()")
        adapter.connect()
        for k in range(vehicles):
            self.now("add_vehicle()")
            adapter.add_vehicle(self.placed(k + 1))
        self.now("a call")
        return adapter

    def now(self, doing: str) -> None:
        """Note the next call of the adapter, for the message if it hangs."""
        self.calls, self.doing = self.calls + 1, doing

    def placed(self, number: int) -> Placed:
        """Return a vehicle of the craft under test."""
        return Placed(number, f"tester{number}", self.craft, (0.0, SPACING * (number - 1), 0.0), 0.3)

    def several(self) -> int:
        """Return the number of vehicles for checks with several: 3 if the adapter supports them."""
        return min(3, self.made().capabilities.max_vehicles)

    def disconnect_all(self) -> None:
        """Disconnect all adapters that were created."""
        while self._made:
            self.now("disconnect()")
            self._made.pop().disconnect()

    def fail(self, problem: str) -> NoReturn:
        """Raise the error that names the check, the adapter and the problem."""
        raise ConformanceError(self.check, self.subject, problem)

    def refuses(self, what: str, call: Callable[[], object]) -> None:
        """Check that the call raises an AdapterError of one line."""
        self.now(what)
        try:
            call()
        except AdapterError as error:
            if not str(error).strip() or "\n" in str(error).strip():
                self.fail(f"{what} is refused, but not with one line that gives the reason: {str(error)!r}")
        except Exception as error:
            self.fail(f"{what} raises {type(error).__name__}, not an AdapterError: {error}")
        else:
            self.fail(f"{what} is not refused with an AdapterError")

    def step(self, adapter: SimulatorAdapter, count: int = 1) -> None:
        """Step `count` times; each step must be answered."""
        for _ in range(count):
            self.now(f"step({self.step_us}, 5.0)")
            if not adapter.step(self.step_us, 5.0):
                self.fail(f"step({self.step_us}) was not answered within 5 s")

    def steps_for(self, seconds: float) -> int:
        """Return the number of steps in `seconds` of simulated time."""
        return max(1, round(seconds * 1e6 / self.step_us))

    def sensors(self, adapter: SimulatorAdapter, vehicle: int = 1) -> SensorData:
        """Return the newest sensor data, which must exist."""
        self.now(f"receive_sensors({vehicle})")
        received = adapter.receive_sensors(vehicle)
        if received is None:
            self.fail(f"receive_sensors({vehicle}) returns None after a step")
        return received

    def record(self, adapter: SimulatorAdapter, steps: int, commands: ActuatorCommands | None) -> Floats:
        """Return the next rows (steps, width) of vehicle 1 with these actuator commands."""
        rows = []
        if commands is not None:
            adapter.send_actuators(commands, 1)
        for _ in range(steps):
            self.step(adapter)
            rows.append(self.sensors(adapter).row.copy())
        return np.array(rows)

    def same(self, left: Floats, other: Floats, when: str) -> None:
        """Check that two recordings are bit-identical (NaN equals NaN); a failure names the column."""
        for name, k in COLUMN.items():
            a, b = left[..., k], other[..., k]
            if not np.array_equal(a, b, equal_nan=True):
                first = np.flatnonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))[0]
                self.fail(f"{name!r} differs {when}: {a.flat[first]:.17g} and {b.flat[first]:.17g}")


SENSORS = ("imu", "gnss", "compass", "barometer", "rangefinder", "airspeed", "battery", "truth")
FEW = 8  # adapters with room for at most this many vehicles are filled


def check_declarations(rig: AdapterRig) -> str:
    """Type, name and capabilities are declared and valid."""
    adapter = rig.made()
    if not isinstance(getattr(adapter, "adapter_type", None), str) or not adapter.adapter_type:
        rig.fail("adapter_type is not a name")
    if not isinstance(adapter.name, str) or not adapter.name:
        rig.fail("name is empty: call super().__init__(name)")
    if not isinstance(adapter.supports_lockstep, bool):
        rig.fail(f"supports_lockstep is {adapter.supports_lockstep!r}, not True or False")
    can = adapter.capabilities
    if not isinstance(can, Capabilities):
        rig.fail(f"capabilities is {type(can).__name__}, not Capabilities")
    for name in sorted(can.sensors):
        if name not in SENSORS:
            rig.fail(f"capabilities name the unknown sensor {name!r}; {suggestion(name, SENSORS)}")
    if not (isfinite(can.max_rate) and can.max_rate > 0.0):
        rig.fail(f"max_rate must be a positive number of Hz, not {can.max_rate!r}")
    if not 1 <= can.max_vehicles <= LAST_ID:
        rig.fail(f"max_vehicles must lie in 1 to {LAST_ID}, not {can.max_vehicles!r}")
    if adapter.is_connected:
        rig.fail("is_connected before connect()")
    return f"{', '.join(sorted(can.sensors))} at up to {can.max_rate:g} Hz, {can.max_vehicles} vehicles"


def check_life_cycle(rig: AdapterRig) -> str:
    """`connect` and `disconnect` are idempotent, and it can be connected again."""
    adapter = rig.made()
    adapter.disconnect()
    for _ in range(2):
        adapter.connect()
        adapter.connect()
        if not adapter.is_connected:
            rig.fail("is_connected is False after connect()")
        adapter.disconnect()
        adapter.disconnect()
        if adapter.is_connected:
            rig.fail("is_connected is True after disconnect()")
    return "connected and disconnected twice, each repeated"


def check_unconnected(rig: AdapterRig) -> str:
    """Calls other than queries are refused while it is not connected."""
    adapter = rig.made()
    for when in ("before connect()", "after disconnect()"):
        rig.refuses(f"add_vehicle {when}", lambda: adapter.add_vehicle(rig.placed(1)))
        rig.refuses(f"step {when}", lambda: adapter.step(rig.step_us, 0.1))
        rig.refuses(f"receive_sensors {when}", lambda: adapter.receive_sensors(1))
        rig.refuses(f"send_actuators {when}", lambda: adapter.send_actuators(ActuatorCommands(), 1))
        rig.refuses(f"reset {when}", adapter.reset)
        adapter.connect()
        adapter.add_vehicle(rig.placed(1))
        rig.step(adapter)
        adapter.disconnect()
    return "5 methods refused, with one line each" if not adapter.is_connected else rig.fail("still connected")


def check_vehicles(rig: AdapterRig) -> str:
    """Ids are unique and ascending, unknown ids are refused, removed vehicles are gone."""
    most, adapter = rig.made().capabilities.max_vehicles, rig.connected(0)
    ids = (7, 3, 5)[:most]
    for number in ids:
        adapter.add_vehicle(rig.placed(number))
    if adapter.vehicles != tuple(sorted(ids)):
        rig.fail(f"vehicles are {adapter.vehicles!r} after {ids} were added")
    rig.refuses("a second vehicle 7", lambda: adapter.add_vehicle(rig.placed(7)))
    rig.refuses("receive_sensors of an unknown vehicle", lambda: adapter.receive_sensors(9))
    rig.refuses("send_actuators to an unknown vehicle", lambda: adapter.send_actuators(ActuatorCommands(), 9))
    if most <= FEW:
        for number in range(20, 20 + most - len(ids)):
            adapter.add_vehicle(rig.placed(number))
        rig.refuses(f"vehicle number {most + 1}", lambda: adapter.add_vehicle(rig.placed(40)))
    adapter = rig.connected(rig.several())  # the others keep their rows when one is removed
    rig.step(adapter, 3)
    adapter.remove_vehicle(1)
    if 1 in adapter.vehicles:
        rig.fail("vehicle 1 still exists after remove_vehicle(1)")
    rig.refuses("receive_sensors of a removed vehicle", lambda: adapter.receive_sensors(1))
    rig.refuses("remove_vehicle of a removed vehicle", lambda: adapter.remove_vehicle(1))
    rig.step(adapter)
    for number in adapter.vehicles:
        rig.sensors(adapter, number)
    adapter.add_vehicle(rig.placed(1))
    rig.step(adapter)
    rig.sensors(adapter, 1)
    return f"{len(ids)} added in any order, unknown and duplicate ids refused"


STEPS = 50


def check_time(rig: AdapterRig) -> str:
    """Time never decreases; in lockstep it advances by exactly the step."""
    adapter = rig.connected()
    before = adapter.sim_time_us
    for _ in range(STEPS):
        rig.step(adapter)
        now = adapter.sim_time_us
        if not isinstance(now, int):
            rig.fail(f"sim_time_us is {now!r}, not a whole number of us")
        if now < before:
            rig.fail(f"sim_time_us fell from {before} to {now}")
        if adapter.supports_lockstep and now - before != rig.step_us:
            rig.fail(f"step({rig.step_us}) advanced the time by {now - before} us")
        before = now
    sleep(0.03)
    if adapter.supports_lockstep and adapter.sim_time_us != before:
        rig.fail(f"time passes without a step: {adapter.sim_time_us - before} us")
    exact = "exactly" if adapter.supports_lockstep else "at least 0 us"
    return f"{STEPS} steps of {rig.step_us} us, {exact}"


def check_reset(rig: AdapterRig) -> str:
    """After a reset time is 0, the vehicles are the same, and a deterministic run repeats."""
    adapter = rig.connected(rig.several())
    vehicles = adapter.vehicles
    first = rig.record(adapter, STEPS, rig.motion)
    adapter.reset()
    if adapter.supports_lockstep and adapter.sim_time_us != 0:
        rig.fail(f"sim_time_us is {adapter.sim_time_us} after reset(), not 0")
    if adapter.vehicles != vehicles or not adapter.is_connected:
        rig.fail(f"after reset() the vehicles are {adapter.vehicles!r}, not {vehicles!r}")
    second = rig.record(adapter, STEPS, rig.motion)
    if rig.deterministic:
        rig.same(first, second, "after reset()")
    return "time 0, the same vehicles" + (", the same run again" if rig.deterministic else "")


def check_determinism(rig: AdapterRig) -> str:
    """Two adapters with the same input give the same rows."""
    if not rig.deterministic:
        return "not claimed"
    first, second = (rig.record(rig.connected(), STEPS, rig.motion) for _ in range(2))
    rig.same(first, second, "between two runs")
    return f"{STEPS} rows equal bit for bit"


MARK = -12345.0  # content of a row before it is received


def check_blocks(rig: AdapterRig) -> str:
    """Rows are in the requested order and equal those of single calls; rows without new data stay."""
    count = rig.several()
    ids = tuple(range(count, 0, -1))
    together, single = rig.connected(count), rig.connected(count)
    commands = blank_actuators(count)
    if rig.motion is not None:
        commands[-1] = rig.motion.row  # of vehicle 1
    together.send_block(ids, commands)
    for row, number in zip(commands, ids, strict=True):
        single.send_actuators(ActuatorCommands(row), number)
    rig.step(together, 5)
    rig.step(single, 5)
    block = blank_sensors(count)
    together.receive_block(ids, block)
    if rig.deterministic:
        singles = np.array([rig.sensors(single, number).row for number in ids])
        rig.same(block, singles, "between a block and single rows")
    if together.supports_lockstep:
        block[:] = MARK
        together.receive_block(ids, block)
        if not (block == MARK).all():
            rig.fail("receive_block writes into a row without new data: it must stay unchanged")
    commands[0, 1] = np.nan
    rig.refuses("send_block with NaN", lambda: together.send_block(ids, commands))
    return f"{count} rows, as from single calls"


ROUNDS = 100


def check_threads(rig: AdapterRig) -> str:
    """Two threads step while others read, command and query: nothing fails, no time is lost."""
    adapter = rig.connected(rig.several())
    start, failures = adapter.sim_time_us, []

    def query() -> None:
        if not adapter.is_connected or adapter.sim_time_us < 0:
            raise RuntimeError("is_connected became False, or time negative")

    jobs: list[Callable[[], object]] = [
        lambda: rig.step(adapter),
        lambda: rig.step(adapter),
        lambda: [adapter.receive_sensors(number) for number in adapter.vehicles],
        lambda: adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.1, 0.1]), 1),
        query,
    ]

    def work(job: Callable[[], object]) -> None:
        try:
            for _ in range(ROUNDS):
                job()
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    if any(thread.is_alive() for thread in threads):
        rig.fail("calls from several threads hang")
    if failures:
        rig.fail(f"a call fails while other threads call: {failures[0]}")
    passed, expected = adapter.sim_time_us - start, 2 * ROUNDS * rig.step_us
    if adapter.supports_lockstep and passed != expected:
        rig.fail(f"two threads stepped {expected} us together, but {passed} us have passed: hold self.lock")
    return f"{len(jobs)} threads, {ROUNDS} calls each"
