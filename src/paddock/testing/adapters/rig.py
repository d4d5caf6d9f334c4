"""The test rig: makes adapters, connects them, and lets go of them whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Placed, SimulatorAdapter
from paddock.sitl.sensor_data import COLUMN, Floats, SensorData
from paddock.testing.conformance import ConformanceError

MOTIONS = {
    "rover": ActuatorCommands(armed=True, motors=[0.6, 0.4]),
    "rover_ackermann": ActuatorCommands(armed=True, motors=[0.5], servos=[0.2]),
    "copter": ActuatorCommands(armed=True, motors=[0.9, 0.9, 0.9, 0.9]),
}
"""What visibly moves a craft from rest."""

SPACING = 20.0
"""m between the vehicles of the rig."""


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
        self.calls = 0  # of the adapter, so far: who watches sees whether anything happens
        self.doing = "making it"
        self.subject = f"adapter {getattr(make, '__name__', type(make).__name__)!r}"
        self._make = make
        self._made: list[SimulatorAdapter] = []
        first = self.made()
        self.subject = f"adapter {getattr(first, 'adapter_type', type(first).__name__)!r}"
        self.deterministic = first.supports_lockstep if deterministic is None else deterministic

    def made(self) -> SimulatorAdapter:
        """A new one, not connected."""
        self.now("making it")
        try:
            adapter = self._make()
        except Exception as error:
            self.fail(f"cannot be made without arguments: {type(error).__name__}: {error}")
        if not isinstance(adapter, SimulatorAdapter):
            raise ConformanceError(self.check, f"adapter {type(adapter).__name__!r}", "is not a SimulatorAdapter")
        self._made.append(adapter)
        return adapter

    def connected(self, vehicles: int = 1) -> SimulatorAdapter:
        """A new one, connected, with vehicles 1, 2, ..."""
        adapter = self.made()
        self.now("connect()")
        adapter.connect()
        for k in range(vehicles):
            self.now("add_vehicle()")
            adapter.add_vehicle(self.placed(k + 1))
        self.now("a call")
        return adapter

    def now(self, doing: str) -> None:
        """Say which call of the adapter comes next, to whoever watches."""
        self.calls, self.doing = self.calls + 1, doing

    def placed(self, number: int) -> Placed:
        """A vehicle of the craft under test."""
        return Placed(number, f"tester{number}", self.craft, (0.0, SPACING * (number - 1), 0.0), 0.3)

    def several(self) -> int:
        """As many vehicles as the checks with several use, if it can have them."""
        return min(3, self.made().capabilities.max_vehicles)

    def let_go(self) -> None:
        """Disconnect everything that was made."""
        while self._made:
            self.now("disconnect()")
            self._made.pop().disconnect()

    def fail(self, problem: str) -> NoReturn:
        """Raise the error that names the check, the adapter and the problem."""
        raise ConformanceError(self.check, self.subject, problem)

    def refuses(self, what: str, call: Callable[[], object]) -> None:
        """The call must raise an AdapterError of one line."""
        self.now(what)
        try:
            call()
        except AdapterError as error:
            if not str(error).strip() or "\n" in str(error).strip():
                self.fail(f"{what} is refused, but not in one line that says why: {str(error)!r}")
        except Exception as error:
            self.fail(f"{what} raises {type(error).__name__}, not an AdapterError: {error}")
        else:
            self.fail(f"{what} is not refused with an AdapterError")

    def step(self, adapter: SimulatorAdapter, count: int = 1) -> None:
        """So many steps, each of which must be answered."""
        for _ in range(count):
            self.now(f"step({self.step_us}, 5.0)")
            if not adapter.step(self.step_us, 5.0):
                self.fail(f"step({self.step_us}) was not answered within 5 s")

    def steps_for(self, seconds: float) -> int:
        """Steps in so much simulated time."""
        return max(1, round(seconds * 1e6 / self.step_us))

    def sensors(self, adapter: SimulatorAdapter, vehicle: int = 1) -> SensorData:
        """The newest sensor data, which must be there."""
        self.now(f"receive_sensors({vehicle})")
        received = adapter.receive_sensors(vehicle)
        if received is None:
            self.fail(f"receive_sensors({vehicle}) gives nothing after a step")
        return received

    def record(self, adapter: SimulatorAdapter, steps: int, commands: ActuatorCommands | None) -> Floats:
        """The rows (steps, width) of vehicle 1 that follow, its actuators being these."""
        rows = []
        if commands is not None:
            adapter.send_actuators(commands, 1)
        for _ in range(steps):
            self.step(adapter)
            rows.append(self.sensors(adapter).row.copy())
        return np.array(rows)

    def same(self, one: Floats, other: Floats, when: str) -> None:
        """Two recordings must be equal bit for bit, NaN being NaN; a failure names the column."""
        for name, k in COLUMN.items():
            a, b = one[..., k], other[..., k]
            if not np.array_equal(a, b, equal_nan=True):
                first = np.flatnonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))[0]
                self.fail(f"{name!r} differs {when}: {a.flat[first]:.17g} and {b.flat[first]:.17g}")
