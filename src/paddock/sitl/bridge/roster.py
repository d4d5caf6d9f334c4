"""Who is on the bridge: adapters by name, vehicles by system id."""

from __future__ import annotations

from collections.abc import Callable

from paddock.errors import PaddockError, unknown_name
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.bridge.checks import fits, made_of
from paddock.sitl.bridge.events import Events, problem
from paddock.sitl.bridge.latency import LatencyBook
from paddock.sitl.bridge.patience import BridgeStoppedError, Fallback, Patience
from paddock.sitl.bridge.station import Station
from paddock.sitl.bridge.status import StatusRow, status_row
from paddock.sitl.bridge.turns import Turns
from paddock.sitl.bridge.vehicle import Vehicle
from paddock.sitl.pilot import Pilot
from paddock.sitl.sensor_data import SensorData

NEVER_US = 1 << 62
"""A simulated time that no run reaches."""


class Roster:
    """Adapters and vehicles, each with state of its own. The verbs may be called from any thread."""

    def __init__(self, patience: Patience, report: Callable[[str, str, str], None] | None) -> None:
        self.lock = Turns()  # held by the ticking thread, which gives way
        self.patience = patience
        self.events = Events(report)
        self.latency = LatencyBook()
        self.time_us = 0
        self._closed = False
        self._stations: dict[str, Station] = {}
        self._vehicles: dict[int, Vehicle] = {}
        self._due: dict[int, int] = {}  # us of the next exchange, by system id, of those in a simulator
        self._fresh: set[int] = set()  # system ids whose sensors were not offered yet

    # adapters --------------------------------------------------------------------------------------------------------

    def register(self, adapter: SimulatorAdapter, timeout: float | None = None, fallback: str | None = None) -> None:
        """Take an adapter in under its name and connect it; one that is not there yet is tried again as time passes.

        `timeout` (s of wall time) and `fallback` say how long it is waited for, and what then.
        """
        made_of(SimulatorAdapter, adapter)
        patience = self.patience.other(timeout, fallback)
        with self.lock:
            self._refuse_closed()
            if adapter.name in self._stations:
                raise PaddockError(f"there is an adapter {adapter.name!r} already: unregister it, or name this one")
            station = self._stations[adapter.name] = Station(adapter, patience, self.events)
            station.settle(self.time_us, lambda _: False)

    def unregister(self, name: str) -> None:
        """Disconnect an adapter and forget it; refused while it has vehicles."""
        with self.lock:
            station = self._station(name)
            if station.vehicles:
                ids = ", ".join(map(str, station.ids))
                raise PaddockError(f"adapter {name!r} still has vehicles {ids}: despawn them or assign them elsewhere")
            del self._stations[name]
            station.close()

    @property
    def adapters(self) -> tuple[str, ...]:
        """The names of the adapters, in the order of their registration."""
        with self.lock:
            return tuple(self._stations)

    def adapter(self, name: str) -> SimulatorAdapter:
        """The adapter of that name."""
        with self.lock:
            return self._station(name).adapter

    # vehicles --------------------------------------------------------------------------------------------------------

    def spawn(
        self,
        placed: Placed,
        pilot: Pilot,
        adapter: str = "",
        *,
        timeout: float | None = None,
        fallback: str | None = None,
    ) -> Vehicle:
        """A new vehicle with its pilot, which is opened; without an adapter it waits until it is assigned to one."""
        made_of(Placed, placed)
        made_of(Pilot, pilot)
        fits(placed, pilot)
        vehicle = Vehicle(placed, pilot, self.patience.other(timeout, fallback), was_live=pilot.live)
        with self.lock:
            self._refuse_closed()
            if (taken := self._vehicles.get(vehicle.sysid)) is not None:
                raise PaddockError(f"id {vehicle.sysid} of {placed.name!r} is taken by {taken}: ids are unique")
            if (busy := next((v for v in self.vehicles if v.pilot is pilot), None)) is not None:
                raise PaddockError(f"{vehicle}: its pilot flies {busy} already; each vehicle needs one of its own")
            station = self._station(adapter) if adapter else None
            pilot.open()
            try:
                if station is not None:
                    station.invite(vehicle)
                    self._seat(vehicle, station)
            except BaseException:
                pilot.close()
                raise
            self._vehicles = dict(sorted({**self._vehicles, vehicle.sysid: vehicle}.items()))
            self.latency.forget(vehicle.sysid)
        return vehicle

    def despawn(self, sysid: int) -> None:
        """Take a vehicle off the bridge and out of its simulator, and close its pilot."""
        with self.lock:
            vehicle = self.vehicle(sysid)
            vehicle.present = False
            self._vehicles = {number: other for number, other in self._vehicles.items() if number != sysid}
            try:
                self._leave(vehicle)
            finally:
                self._close_pilot(vehicle)

    def assign(self, sysid: int, adapter: str) -> None:
        """Move a vehicle to another adapter (or to its first): it begins anew there, its pilot too."""
        with self.lock:
            vehicle, station = self.vehicle(sysid), self._station(adapter)
            if vehicle.adapter == adapter:
                return
            before = self._stations.get(vehicle.adapter)
            station.invite(vehicle)  # if it is refused, everything stays as it was
            self._leave(vehicle)
            self._seat(vehicle, station)
            vehicle.forget()
            if before is not None:
                self._reset_pilot(vehicle)

    def vehicle(self, sysid: int) -> Vehicle:
        """The vehicle of that id."""
        if sysid not in self._vehicles:
            raise unknown_name("vehicle", str(sysid), map(str, self._vehicles))
        return self._vehicles[sysid]

    @property
    def vehicles(self) -> tuple[Vehicle, ...]:
        """All vehicles, by ascending id."""
        return tuple(self._vehicles.values())

    def status(self) -> list[StatusRow]:
        """One row per vehicle for a live table, by ascending id."""
        with self.lock:
            notes = {name: station.note for name, station in self._stations.items()} | {"": "no adapter yet"}
            return [status_row(vehicle, notes[vehicle.adapter], self.latency) for vehicle in self.vehicles]

    def plan(self, sysid: int, due_us: int) -> None:
        """A vehicle's next exchange, us of simulated time."""
        self._due[sysid] = due_us

    def lose_pilot(self, vehicle: Vehicle, error: Exception) -> None:
        """Its pilot has raised something: it is not asked again before it begins anew; nobody else suffers."""
        vehicle.awaited = vehicle.free_running = vehicle.holding = False
        vehicle.failed = problem(error)
        self.plan(vehicle.sysid, NEVER_US)
        detail = f"{vehicle.pilot.kind} pilot failed with {vehicle.failed}"
        self.events.add("lost", str(vehicle), f"{detail}; its actuators hold, a reset begins it anew")
        if vehicle.patience.fallback is Fallback.STOP:
            raise BridgeStoppedError(f"{vehicle}: {detail}; stopped as configured") from error

    def _reset_pilot(self, vehicle: Vehicle) -> None:
        try:
            vehicle.pilot.reset()
        except Exception as error:
            self.lose_pilot(vehicle, error)

    def _close_pilot(self, vehicle: Vehicle) -> None:
        try:
            vehicle.pilot.close()
        except Exception as error:
            self.events.add("rejected", str(vehicle), f"its pilot cannot be closed: {problem(error)}")

    def _refuse_closed(self) -> None:
        if self._closed:
            raise PaddockError("this bridge is closed: make another one")

    def _station(self, name: str) -> Station:
        if name not in self._stations:
            raise unknown_name("adapter", name, self._stations, "bridge")
        return self._stations[name]

    def _seat(self, vehicle: Vehicle, station: Station) -> None:
        station.seat(vehicle)
        self._due[vehicle.sysid] = self.time_us
        self._fresh.discard(vehicle.sysid)

    def _leave(self, vehicle: Vehicle) -> None:
        self._due.pop(vehicle.sysid, None)
        station = self._stations.get(vehicle.adapter)
        if station is not None:
            station.unseat(vehicle)
        vehicle.sensors, vehicle.actuators = SensorData(), ActuatorCommands()
