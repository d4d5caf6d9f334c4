"""Check that a simulator adapter keeps its contract; each check is one function."""

import threading
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Placed, SimulatorAdapter, find_adapter
from paddock.sitl.sensor_data import COLUMN, Floats, SensorData
from paddock.testing import adapter_behaviour, adapter_contract
from paddock.testing.conformance import ConformanceError, ConformanceReport, run_checks

MOTIONS = {  # commands that visibly move a craft from rest
    "rover": ActuatorCommands(armed=True, motors=[0.6, 0.4]),
    "rover_ackermann": ActuatorCommands(armed=True, motors=[0.5], servos=[0.2]),
    "copter": ActuatorCommands(armed=True, motors=[0.9, 0.9, 0.9, 0.9]),
}

SPACING = 20.0  # m between the vehicles of the rig


class AdapterRig:
    """One kind of adapter under test."""

    def __init__(
        self,
        make: Callable[[], SimulatorAdapter],
        craft: str,
        step_us: int,
        motion: ActuatorCommands | None,
        rests: bool,
        deterministic: bool | None,
    ) -> None:
        self.craft = craft
        self.step_us = step_us
        self.motion = motion or MOTIONS.get(craft)
        self.rests = rests
        self.check = "declarations"
        self.calls = 0  # of the adapter, so far: shows whether a check makes progress
        self.doing = "creating it"
        self.subject = f"adapter {getattr(make, '__name__', type(make).__name__)!r}"
        self._make = make
        self._made: list[SimulatorAdapter] = []
        first = self.made()
        self.subject = f"adapter {getattr(first, 'adapter_type', type(first).__name__)!r}"
        self.deterministic = first.supports_lockstep if deterministic is None else deterministic

    def made(self) -> SimulatorAdapter:
        """Return a new adapter, not connected."""
        self.now("creating it")
        try:
            adapter = self._make()
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

    def same(self, one: Floats, other: Floats, when: str) -> None:
        """Check that two recordings are bit-identical (NaN equals NaN); a failure names the column."""
        for name, k in COLUMN.items():
            a, b = one[..., k], other[..., k]
            if not np.array_equal(a, b, equal_nan=True):
                first = np.flatnonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))[0]
                self.fail(f"{name!r} differs {when}: {a.flat[first]:.17g} and {b.flat[first]:.17g}")


PATIENCE = 20.0  # s after which a call counts as hanging; a step has a timeout of 5


def watched(run: Callable[[AdapterRig], str], rig: AdapterRig) -> str:
    """Run a check in a thread and return its result; disconnect its adapters unless a call hangs."""
    results: list[str] = []
    failures: list[BaseException] = []

    def work() -> None:
        parts: tuple[Callable[[], None], ...] = (lambda: results.append(run(rig)), rig.disconnect_all)
        for part in parts:
            try:
                part()
            except BaseException as error:
                failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        before = rig.calls
        thread.join(PATIENCE)
        if thread.is_alive() and rig.calls == before:
            rig.fail(f"{rig.doing} has not returned after {PATIENCE:g} s")
    if failures:
        raise failures[0]
    return results[0]


CHECKS: dict[str, Callable[[AdapterRig], str]] = {  # the checks, in the order in which they run
    "declarations": adapter_contract.check_declarations,
    "life cycle": adapter_contract.check_life_cycle,
    "unconnected": adapter_contract.check_unconnected,
    "vehicles": adapter_contract.check_vehicles,
    "time": adapter_contract.check_time,
    "sensors": adapter_behaviour.check_sensors,
    "at rest": adapter_behaviour.check_at_rest,
    "capabilities": adapter_behaviour.check_capabilities,
    "news": adapter_behaviour.check_news,
    "commands refused": adapter_behaviour.check_refused,
    "clipping": adapter_behaviour.check_clipping,
    "effect": adapter_behaviour.check_effect,
    "position": adapter_behaviour.check_position,
    "blocks": adapter_contract.check_blocks,
    "reset": adapter_contract.check_reset,
    "determinism": adapter_contract.check_determinism,
    "threads": adapter_contract.check_threads,
}


def check_adapter(
    make: Callable[[], SimulatorAdapter] | str,
    *,
    craft: str = "rover",
    step_us: int = 20_000,
    motion: ActuatorCommands | None = None,
    rests: bool = True,
    deterministic: bool | None = None,
) -> ConformanceReport:
    """Check an adapter, given a class or function that creates one, or the name of its type.

    `craft`: of its vehicles; `step_us`: a suitable step; `motion`: commands that visibly move such a craft (None: those
    of a rover or copter; others are not tried); `rests`: an uncommanded vehicle stands on the ground; `deterministic`:
    two runs are bit-identical (None: if it supports lockstep). Raises ConformanceError at the first violation.
    """
    made: object = find_adapter(make) if isinstance(make, str) else make
    if isinstance(made, SimulatorAdapter):
        instead = f"check_adapter({type(made).__name__})"
        problem = f"give the class or a function that creates one, {instead}, not an instance"
        raise ConformanceError("declarations", f"adapter {made.adapter_type!r}", problem)
    if not callable(made):
        problem = f"give a class, a function that creates one, or a type's name, not {made!r}"
        raise ConformanceError("declarations", f"adapter {type(made).__name__!r}", problem)
    rig = AdapterRig(made, craft, step_us, motion, rests, deterministic)

    def run(name: str, check: Callable[[AdapterRig], str]) -> str:
        rig.check = name
        return watched(check, rig)

    return run_checks(rig.subject, CHECKS, run)
