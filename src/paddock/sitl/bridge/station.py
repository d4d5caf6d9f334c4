"""One simulator on the bridge: the rows of its vehicles, its time, and what happens while it does not answer."""

from __future__ import annotations

from collections.abc import Callable

from paddock.errors import PaddockError
from paddock.sitl.adapter import AdapterError, SimulatorAdapter
from paddock.sitl.bridge.events import Events, problem
from paddock.sitl.bridge.patience import BridgeStoppedError, Fallback, Patience
from paddock.sitl.bridge.reconnect import Reconnect
from paddock.sitl.bridge.rows import Rows, shifted
from paddock.sitl.bridge.vehicle import Vehicle
from paddock.sitl.sensor_data import SensorData

RETRY = 0.1
"""s of wall time that one attempt lasts while the world waits for a simulator."""

Breathe = Callable[[float], bool]
"""Let others work for so many seconds while waiting; False when the run is to stop."""


class Station(Rows):
    """An adapter and its vehicles. Whatever the adapter raises, it alone is lost."""

    def __init__(self, adapter: SimulatorAdapter, patience: Patience, events: Events) -> None:
        super().__init__(events)
        self.adapter = adapter
        self.patience = patience
        self.here = False  # connected, with its vehicles in place
        self.known = False  # it has been connected before: only then is it waited for
        self.free_running = False
        self.holding = False
        self._reconnect: Reconnect | None = None
        self._seen_us = 0  # the simulator's own time when it was last looked at

    def __str__(self) -> str:
        return f"adapter {self.adapter.name!r}"

    @property
    def hosted(self) -> bool:
        """Whether somebody else moves it: the engine whose world it shows."""
        return bool(getattr(self.adapter, "hosted", False))

    @property
    def note(self) -> str:
        """What the live table says about its vehicles; empty while all is well."""
        if not self.here:
            problem = self._reconnect.problem if self._reconnect else ""
            return f"{self} is not connected" + (f": {problem}" if problem else "")
        if self.holding or self.free_running:
            return f"{self} does not answer" + (": the world waits" if self.holding else "")
        return ""

    # vehicles --------------------------------------------------------------------------------------------------------

    def invite(self, vehicle: Vehicle) -> None:
        """Have it in the simulator, now or once that is connected; refused by the adapter if it cannot be."""
        if not self.here:
            return
        try:
            self.adapter.add_vehicle(vehicle.placed)
        except PaddockError:
            raise
        except Exception as error:
            raise AdapterError(f"{self} cannot take {vehicle}: {problem(error)}") from error

    def seat(self, vehicle: Vehicle) -> None:
        """Rows for one that was invited."""
        vehicle.note = ""
        vehicle.adapter = self.adapter.name
        self.put(vehicle)
        if self.here:
            self._acquaint(vehicle)

    def unseat(self, vehicle: Vehicle) -> None:
        """One less; it keeps rows of its own."""
        self.take_out(vehicle)
        try:
            if self.here and vehicle.sysid in self.adapter.vehicles:
                self.adapter.remove_vehicle(vehicle.sysid)
        except PaddockError:
            raise
        except Exception as error:
            self.lose(problem(error))

    def _acquaint(self, vehicle: Vehicle) -> None:
        """Tell a pilot how often its IMU measures, and everybody if it wants sensors more often than there are any."""
        try:
            vehicle.pilot.sensor_period_us = self.adapter.sensor_period_us(vehicle.sysid)
            wanted, offered = 1e6 / vehicle.pilot.period_us, self.adapter.capabilities.max_rate
        except Exception as error:  # told when it does harm
            self.events.add("rejected", str(vehicle), f"rates cannot be compared: {problem(error)}")
            return
        if wanted > offered * (1.0 + 1e-6):
            detail = f"its pilot wants sensors at {wanted:g} Hz, but {self} has new ones at {offered:g} Hz at most"
            self.events.add("too_fast", str(vehicle), detail)

    # connection ------------------------------------------------------------------------------------------------------

    def settle(self, time_us: int, breathe: Breathe) -> bool:
        """See that it is connected, or what its fallback says; False when the run is to stop."""
        try:
            return self._settle(time_us, breathe)
        except BridgeStoppedError:
            raise
        except Exception as error:
            self._stumble(problem(error))
            return True

    def _settle(self, time_us: int, breathe: Breathe) -> bool:
        if self.here and self.adapter.is_connected:
            return True
        if self.here:
            self.lose("the connection is lost")
        if self._reconnect is None:
            self._open()
        while not (self.adapter.is_connected or self._try()):
            if not self.known or self.patience.fallback is Fallback.FREE_RUN:
                return True
            if not breathe(0.02):
                return False
        self._admit(time_us)
        return True

    def _stumble(self, detail: str) -> None:
        """Lose it; one that cannot even be asked is told of once."""
        if self.here or self._reconnect is None or self._reconnect.problem != detail:
            self.lose(detail)

    def lose(self, detail: str) -> None:
        """It has failed: let go of it, and try to reach it again from now on."""
        self.here = self.free_running = self.holding = False
        self._let_go()
        self._reconnect = Reconnect(self.adapter)
        self._reconnect.problem = detail
        self.events.add("lost", str(self), f"{detail}: {self.patience.fallback}")
        if self.patience.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{self}: {detail}; stopped as configured")

    def close(self) -> None:
        """Disconnect."""
        if self._reconnect is not None:
            self._reconnect.give_up()
        self.here, self._reconnect = False, None
        self._let_go()

    def _open(self) -> None:
        self._reconnect = Reconnect(self.adapter)
        try:
            self.adapter.connect()
        except Exception as error:
            self._reconnect.problem = problem(error)
            self.events.add("unreachable", str(self), f"{problem(error)}; tried again from now on")

    def _try(self) -> bool:
        return self._reconnect is not None and self._reconnect.poll()

    def _let_go(self) -> None:
        try:
            self.adapter.disconnect()
        except Exception as error:
            self.events.add("rejected", str(self), f"cannot be disconnected: {problem(error)}")

    def _admit(self, time_us: int) -> None:
        """It is connected: its vehicles come in, its time goes on from the bridge's."""
        if self.known:
            self.events.add("connected", str(self), "again")
        self.here = self.known = True
        self._reconnect = None
        there = set(self.adapter.vehicles)
        for vehicle in [vehicle for vehicle in self.vehicles if vehicle.sysid not in there]:
            self._admit_one(vehicle)
        for vehicle in self.vehicles:
            self._acquaint(vehicle)
        self._anchor(time_us)

    def _admit_one(self, vehicle: Vehicle) -> None:
        """One that the simulator refuses stays outside; the others do not suffer."""
        try:
            self.invite(vehicle)
        except PaddockError as error:
            self.unseat(vehicle)
            vehicle.note = str(error)
            self.events.add("rejected", str(vehicle), str(error))

    # time ------------------------------------------------------------------------------------------------------------

    def advance(self, time_us: int, waiting: bool, breathe: Breathe) -> bool:
        """Step the simulator to that time, or do what its fallback says; False when the run is to stop."""
        if self.hosted or not self.here:
            return True
        try:
            lag = self._lag(time_us)
            return lag <= 0 or self._step(time_us, lag, waiting, breathe)
        except BridgeStoppedError:
            raise
        except Exception as error:
            self.lose(problem(error))
            return True

    def _step(self, time_us: int, lag: int, waiting: bool, breathe: Breathe) -> bool:
        waiting = waiting and not self.free_running
        if self.adapter.step(lag, self.patience.timeout if waiting else 0.0):
            self._answered(time_us)
        elif not waiting:
            self._anchor(time_us)
        else:
            return self._late(time_us, breathe)
        return True

    def _late(self, time_us: int, breathe: Breathe) -> bool:
        """It has missed its deadline."""
        detail = f"did not step within {self.patience.timeout:g} s: is the simulator running, and not paused?"
        self.events.add("timeout", str(self), f"{detail} {self.patience.fallback}")
        if self.patience.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{self} {detail} stopped as configured")
        if self.patience.fallback is Fallback.FREE_RUN:
            self.free_running = True
            self._anchor(time_us)
            return True
        self.holding = True
        while not self.adapter.step(max(self._lag(time_us), 1), RETRY):
            if not breathe(0.001):
                return False
        self._answered(time_us)
        return True

    def _answered(self, time_us: int) -> None:
        if self.free_running or self.holding:
            self.events.add("recovered", str(self), "it steps again")
            self.free_running = self.holding = False
        self._seen_us = self.adapter.sim_time_us
        if not self.adapter.supports_lockstep:
            self._anchor(time_us)

    def _lag(self, time_us: int) -> int:
        """us by which the simulator is behind; one that has begun anew goes on from where it was."""
        own = self.adapter.sim_time_us
        if own < self._seen_us:
            self.events.add("restarted", str(self), f"its time fell from {self._seen_us} us to {own} us")
            self._anchor(self._seen_us + self._offset_us)
        self._seen_us = own
        return time_us - own - self._offset_us

    def _anchor(self, time_us: int) -> None:
        self._seen_us = self.adapter.sim_time_us
        self.shift(0 if self.hosted else time_us - self._seen_us)

    def reset(self) -> None:
        """Its world begins anew at time 0; a hosted one is begun anew by its host."""
        try:
            if self.here and not self.hosted:
                self.adapter.reset()
            if self.here:
                self._anchor(0)
        except Exception as error:
            self.lose(problem(error))
        self.free_running = self.holding = False
        for vehicle in self.vehicles:
            vehicle.sensors = SensorData()
        self.arrange()

    # exchange --------------------------------------------------------------------------------------------------------

    def receive(self) -> None:
        """The newest sensors into the rows."""
        try:
            self.adapter.receive_block(self.ids, self._raw if self._offset_us else self.sensors)
        except Exception as error:
            self.lose(problem(error))
        if self._offset_us:
            self.sensors[:] = shifted(self._raw, self._offset_us)

    def send(self) -> None:
        """The actuators out of the rows."""
        self.check_actuators()
        try:
            self.adapter.send_block(self.ids, self.actuators)
        except Exception as error:
            self.lose(problem(error))
