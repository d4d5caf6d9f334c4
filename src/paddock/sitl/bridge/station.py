"""One simulator on the bridge: the rows of its vehicles, its time, and what happens while it does not answer."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import SimulatorAdapter, blank_actuators, blank_sensors
from paddock.sitl.bridge.events import Events
from paddock.sitl.bridge.patience import BridgeStoppedError, Fallback, Patience
from paddock.sitl.bridge.reconnect import Reconnect
from paddock.sitl.bridge.vehicle import Vehicle
from paddock.sitl.sensor_data import COLUMN, Floats, SensorData

TIMES = np.array([k for name, k in COLUMN.items() if name.endswith("time_us")])
NEVER = -1.0
"""The time of what was not measured yet."""
RETRY = 0.1
"""s of wall time that one attempt lasts while the world waits for a simulator."""

Breathe = Callable[[float], bool]
"""Let others work for so many seconds while waiting; False when the run is to stop."""


class Station:
    """An adapter and its vehicles, ordered by id. Rows: sensors in bridge time, actuators as last answered."""

    def __init__(self, adapter: SimulatorAdapter, patience: Patience, events: Events) -> None:
        self.adapter = adapter
        self.patience = patience
        self.events = events
        self.vehicles: list[Vehicle] = []
        self.here = False  # connected, with its vehicles in place
        self.known = False  # it has been connected before: only then is it waited for
        self.free_running = False
        self.holding = False
        self._reconnect: Reconnect | None = None
        self._offset_us = 0  # bridge time less the simulator's own
        self._seen_us = 0  # the simulator's own time when it was last looked at
        self.arrange()

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
        if self.here:
            self.adapter.add_vehicle(vehicle.placed)

    def seat(self, vehicle: Vehicle) -> None:
        """Rows for one that was invited."""
        vehicle.note = ""
        vehicle.adapter = self.adapter.name
        insort(self.vehicles, vehicle, key=lambda other: other.sysid)
        self.arrange()

    def unseat(self, vehicle: Vehicle) -> None:
        """One less; it keeps rows of its own."""
        self.vehicles.remove(vehicle)
        vehicle.adapter, vehicle.sensors, vehicle.actuators = "", SensorData(), ActuatorCommands()
        self.arrange()
        if self.here and vehicle.sysid in self.adapter.vehicles:
            self.adapter.remove_vehicle(vehicle.sysid)

    def arrange(self) -> None:
        """Blocks for the vehicles that there are now; each keeps what its rows held."""
        self.ids = tuple(vehicle.sysid for vehicle in self.vehicles)
        self.sensors, self.actuators = blank_sensors(len(self.ids)), blank_actuators(len(self.ids))
        for k, vehicle in enumerate(self.vehicles):
            self.sensors[k], self.actuators[k] = vehicle.sensors.row, vehicle.actuators.row
            vehicle.sensors, vehicle.actuators = SensorData(self.sensors[k]), ActuatorCommands(self.actuators[k])
        self._raw = _shifted(self.sensors, -self._offset_us)
        self._good = self.actuators.copy()
        self._newest = self.sensors[:, 0].copy()
        self._rejected: frozenset[int] = frozenset()  # rows that were not finite when last sent

    # connection ------------------------------------------------------------------------------------------------------

    def settle(self, time_us: int, breathe: Breathe) -> bool:
        """See that it is connected, or what its fallback says; False when the run is to stop."""
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
        except (PaddockError, OSError) as error:
            self._reconnect.problem = str(error)
            self.events.add("unreachable", str(self), f"{error}; tried again from now on")

    def _try(self) -> bool:
        return self._reconnect is not None and self._reconnect.poll()

    def _let_go(self) -> None:
        try:
            self.adapter.disconnect()
        except (PaddockError, OSError) as error:
            self.events.add("rejected", str(self), f"cannot be disconnected: {error}")

    def _admit(self, time_us: int) -> None:
        """It is connected: its vehicles come in, its time goes on from the bridge's."""
        if self.known:
            self.events.add("connected", str(self), "again")
        self.here = self.known = True
        self._reconnect = None
        there = set(self.adapter.vehicles)
        for vehicle in [vehicle for vehicle in self.vehicles if vehicle.sysid not in there]:
            self._admit_one(vehicle)
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
        except PaddockError as error:
            self.lose(str(error))
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
        if self.patience.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{self} {detail} stopped as configured")
        self.events.add("timeout", str(self), f"{detail} {self.patience.fallback}")
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
        self._offset_us = 0 if self.hosted else time_us - self._seen_us
        self._raw = _shifted(self.sensors, -self._offset_us)

    def reset(self) -> None:
        """Its world begins anew at time 0; a hosted one is begun anew by its host."""
        if self.here and not self.hosted:
            try:
                self.adapter.reset()
            except PaddockError as error:
                self.lose(str(error))
        self.free_running = self.holding = False
        for vehicle in self.vehicles:
            vehicle.sensors = SensorData()
        if self.here:
            self._anchor(0)
        self.arrange()

    # exchange --------------------------------------------------------------------------------------------------------

    def receive(self) -> None:
        """The newest sensors into the rows."""
        try:
            self.adapter.receive_block(self.ids, self._raw if self._offset_us else self.sensors)
        except PaddockError as error:
            self.lose(str(error))
        if self._offset_us:
            self.sensors[:] = _shifted(self._raw, self._offset_us)

    def fresh(self) -> Sequence[int]:
        """The system ids of those whose sensors are newer than at the last call."""
        times = self.sensors[:, 0]
        news = times > self._newest
        self._newest[:] = times
        return self.ids if news.all() else [self.ids[k] for k in np.flatnonzero(news).tolist()]

    def rewind(self) -> None:
        """Time has gone back: what comes next is new."""
        self._newest[:] = -1.0

    def send(self) -> None:
        """The actuators out of the rows; a row that is not finite is refused, and the one before holds."""
        finite = np.isfinite(self.actuators)
        self._rejected = frozenset() if finite.all() else self._refuse(np.flatnonzero(~finite.all(axis=1)))
        self._good[:] = self.actuators
        try:
            self.adapter.send_block(self.ids, self.actuators)
        except PaddockError as error:
            self.lose(str(error))

    def _refuse(self, bad: NDArray[np.int64]) -> frozenset[int]:
        """Have these rows hold what they last had; an event for those that were good until now."""
        for k in [k for k in bad.tolist() if k not in self._rejected]:
            self.events.add("rejected", str(self.vehicles[k]), "actuators are not finite; the last good ones hold")
        self.actuators[bad] = self._good[bad]
        return frozenset(bad.tolist())


def _shifted(block: Floats, offset_us: int) -> Floats:
    """A copy whose times are later by so much, but for those of what was never measured."""
    shifted = block.copy()
    times = shifted[:, TIMES]
    shifted[:, TIMES] = np.where(times == NEVER, times, times + offset_us)
    return shifted
