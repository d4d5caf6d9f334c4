"""The vehicles of a Simulation as a simulator for autopilots. The engine moves them; the adapter reads and commands.

Commands pass through the mailbox and the log, so that a replay needs no autopilot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter, blank_actuators
from paddock.sitl.airframe import find_airframe
from paddock.sitl.fleet_feed import FleetFeeds, FleetPart
from paddock.sitl.sensor_data import Floats, SensorData

CAPACITY = 254
CARRIED = frozenset({"imu", "gnss", "compass", "barometer"})  # sensors of a vehicle that was given no others
RATE = 1000.0  # Hz, reported before a simulation is connected


class WorldAdapter(SimulatorAdapter):
    """Vehicles of a simulation, by name."""

    adapter_type: ClassVar[str] = "world"
    hosted: ClassVar[bool] = True

    def __init__(self, name: str = "", *, simulation: Simulation | None = None, truth: bool = False) -> None:
        """`truth`: the sensor data of each vehicle includes the ground truth."""
        super().__init__(name)
        self.truth = truth
        self._host = simulation
        self._sim: Simulation | None = None
        self._placed: dict[int, Placed] = {}
        self._with_truth: set[int] = set()
        self._feeds: FleetFeeds | None = None

    # life cycle -------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Attach to the simulation."""
        with self.lock:
            if self._sim is None:
                if self._host is None:
                    raise AdapterError(f"adapter {self.name!r} needs a simulation: WorldAdapter(simulation=sim)")
                self._sim = self._host
                self._sim.engine.on_restart.append(self._restarted)

    def disconnect(self) -> None:
        """Forget the vehicles and the simulation."""
        with self.lock:
            sim, self._sim = self._sim, None
            if sim is not None:
                sim.engine.on_restart.remove(self._restarted)
            self._placed.clear()
            self._with_truth.clear()
            self._feeds = None

    @property
    def is_connected(self) -> bool:
        """Whether it is between `connect` and `disconnect`."""
        return self._sim is not None

    @property
    def simulation(self) -> Simulation:
        """The simulation; AdapterError before `connect`."""
        if self._sim is None:
            raise AdapterError(f"adapter {self.name!r} is not connected: call connect() first")
        return self._sim

    def add_vehicle(self, vehicle: Placed) -> None:
        """Bind the vehicle of that name, disarmed and at rest."""
        with self.lock:
            sim = self.simulation
            self._check_free(vehicle)
            try:
                _check_vehicle(sim, vehicle)
            except AdapterError as error:
                raise AdapterError(f"adapter {self.name!r}: {error}") from None
            self._placed[vehicle.id] = vehicle
            self._feeds = None
            self._rest((vehicle.id,))

    def _check_free(self, vehicle: Placed) -> None:
        if not 1 <= vehicle.id <= CAPACITY:
            raise AdapterError(f"adapter {self.name!r}: a vehicle's id must be 1 to {CAPACITY}, not {vehicle.id}")
        if vehicle.id in self._placed:
            raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")
        same = [other.id for other in self._placed.values() if other.name == vehicle.name]
        if same:
            raise AdapterError(f"adapter {self.name!r}: {vehicle.name!r} is vehicle {same[0]} already")

    def remove_vehicle(self, vehicle: int) -> None:
        """Unbind a vehicle, at rest."""
        with self.lock:
            if self.simulation.engine.applier.exists(self._find(vehicle).name):
                self._rest((vehicle,))
            del self._placed[vehicle]
            self._with_truth.discard(vehicle)
            self._feeds = None

    def _find(self, vehicle: int) -> Placed:
        _ = self.simulation
        if vehicle not in self._placed:
            known = ", ".join(map(str, sorted(self._placed))) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return self._placed[vehicle]

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ids, ascending."""
        with self.lock:
            return tuple(sorted(self._placed))

    def reset(self) -> None:
        """Put all actuators at rest; the simulation itself is reset by its owner."""
        self._restarted("reset")

    def _restarted(self, how: str) -> None:
        """Forget the sensor data of a past that a reset or restore has discarded."""
        with self.lock:
            exists = self.simulation.engine.applier.exists
            self._feeds = None
            if how == "reset":
                self._rest(tuple(v for v, placed in self._placed.items() if exists(placed.name)))

    # time -------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """The sensors that all of its vehicles have, at the rate of the clock."""
        with self.lock:
            carried = [part.feed.carried for v in self._placed for part in self._parts((v,))]
            common = frozenset.intersection(*carried) if carried else CARRIED
            rate = self._sim.engine.world.clock.rate if self._sim is not None else RATE
        return Capabilities(common | {"truth"} if self.truth else common, rate, CAPACITY, terrain=False, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the tick."""
        return 0 if self._sim is None else round(self._sim.tick * 1e6 / self._sim.engine.world.clock.rate)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Do nothing: the engine steps the simulation."""
        return self.simulation is not None

    # exchange ---------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """Return a copy of its row, if time has passed since the last one."""
        with self.lock:
            (part,) = self._parts((vehicle,))
            block = part.feed.update(self.simulation.tick)
            return SensorData(block[part.rows][0].copy()) if part.feed.news(part.rows).all() else None

    def sensor_period_us(self, vehicle: int) -> int:
        """Return the period of its IMU, in whole ticks."""
        with self.lock:
            program, _ = self.simulation.engine.applier.found(self._find(vehicle).name)
            return int(program.sensors["imu"].period * 1e6 / self.simulation.engine.world.clock.rate)

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Write all rows, fleet by fleet."""
        with self.lock:
            tick = self.simulation.tick
            for feed, rows, places in self._parts(tuple(vehicles)):
                newest, news = feed.update(tick)[rows], feed.news(rows)
                block[places] = newest if news.all() else np.where(news[:, None], newest, block[places])

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """Set its actuators from the next tick on."""
        self.send_block((vehicle,), commands.row[None, :])

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Post one command for each fleet."""
        with self.lock:
            sim, parts = self.simulation, self._parts(tuple(vehicles))
            if np.isnan(block).any():
                bad = int(np.flatnonzero(np.isnan(block).any(axis=1))[0])
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicles[bad]} is NaN")
            limited = np.minimum(np.maximum(block, -1.0), 1.0)
            for feed, rows, places in parts:
                control = feed.control(limited[places], rows, sim.tick)
                if control is not None:
                    sim.engine.mailbox.post(control, sim.tick, self.name)

    def _rest(self, vehicles: tuple[int, ...]) -> None:
        """Disarm, all outputs 0."""
        self.send_block(vehicles, blank_actuators(len(vehicles)))

    def set_truth(self, vehicle: int) -> None:
        """Include the ground truth in a vehicle's sensor data."""
        with self.lock:
            self._find(vehicle)
            self._with_truth.add(vehicle)
            self._feeds = None

    def _parts(self, vehicles: tuple[int, ...]) -> list[FleetPart]:
        """Return where these vehicles are, fleet by fleet."""
        sim, feeds = self.simulation, self._feeds
        if feeds is not None and not feeds.stale and (known := feeds.known.get(vehicles)) is not None:
            return known
        for vehicle in vehicles:
            self._find(vehicle)
        if feeds is None or feeds.stale:
            feeds = self._feeds = FleetFeeds(sim, {vehicle: placed.name for vehicle, placed in self._placed.items()})
            for vehicle in self._placed if self.truth else self._with_truth:
                feeds.set_truth(vehicle)
        return feeds.parts(vehicles)


def _check_vehicle(sim: Simulation, vehicle: Placed) -> None:
    """Refuse anything but one vehicle with an airframe and an IMU, and without a behaviour."""
    try:
        program, rows = sim.engine.applier.found(vehicle.name)
    except PaddockError as error:
        raise AdapterError(f"vehicle {vehicle.id}: {error}") from None
    if len(rows) != 1:
        raise AdapterError(f"{vehicle.name!r} is a fleet of {len(rows)}: name one vehicle, e.g. {vehicle.name}[0]")
    if "imu" not in program.sensors:
        raise AdapterError(f"{vehicle.name!r} has no imu: add one to its sensors, e.g. sensors: [imu]")
    driver = program.driver(int(rows[0]))
    if driver is not None:
        raise AdapterError(f"{vehicle.name!r} is driven by its {driver[0]} {driver[1]!r}")
    find_airframe(program.model)(program)


ADAPTER = WorldAdapter
