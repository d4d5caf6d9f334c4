"""This world as a simulator for autopilots: any vehicle with an airframe, any number, all in one Simulation.

Alone, the adapter owns a Simulation made from a scenario and steps it; hosted, it is given one that somebody else runs,
and only binds, reads and commands. Commands enter by the mailbox and the log, so that a replay needs no autopilot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any, ClassVar

import numpy as np

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError, unknown_name
from paddock.scenario import Scenario, load_scenario
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter, blank_actuators
from paddock.sitl.airframe import find_airframe
from paddock.sitl.equipment.standard_sensors import CONTROL_RATE, equipped
from paddock.sitl.equipment.standard_vehicles import VEHICLES
from paddock.sitl.physics.lineup import Lineup, Part
from paddock.sitl.sensor_data import Floats, SensorData
from paddock.world.frames import convert_position

CAPACITY = 254
CARRIED = frozenset({"imu", "gnss", "compass", "barometer"})
"""Sensors that every craft has, if it has not been given others."""
EMPTY: dict[str, Any] = {"clock": {"rate": 1000}, "vehicles": []}
"""The world of an adapter that was given none."""


class WorldAdapter(SimulatorAdapter):
    """Vehicles of a Simulation, by name; those that the scenario does not have are spawned when it is alone."""

    adapter_type: ClassVar[str] = "world"

    def __init__(
        self,
        name: str = "",
        *,
        scenario: Mapping[str, Any] | Scenario | str | None = None,
        simulation: Simulation | None = None,
        truth: bool = False,
        imu_rate: float = CONTROL_RATE,
    ) -> None:
        """`simulation`: hosted in one that somebody else runs; `imu_rate`: Hz, of vehicles that are spawned."""
        super().__init__(name)
        if simulation is not None and scenario is not None:
            raise AdapterError(f"adapter {self.name!r}: give a scenario or a simulation, not both")
        self.hosted = simulation is not None
        self.truth = truth
        self.imu_rate = imu_rate
        self._scenario = scenario
        self._host = simulation
        self._sim: Simulation | None = None
        self._bound: dict[int, Placed] = {}
        self._spawned: set[int] = set()
        self._told: set[int] = set()  # who gets the truth
        self._jammed: set[int] = set()  # who has no GNSS
        self._asked_us = 0  # time that steps have asked for
        self._forget()

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Have the simulation: build it, or take the host's."""
        with self.lock:
            if self._sim is None:
                self._sim = self._host or Simulation(load_scenario(EMPTY if self._scenario is None else self._scenario))
                self._asked_us = self.sim_time_us
                if self.hosted:
                    self._sim.restarted.append(self._restarted)

    def disconnect(self) -> None:
        """Let go of the vehicles, and of the simulation if it is its own."""
        with self.lock:
            sim, self._sim = self._sim, None
            if sim is not None and self.hosted:
                sim.restarted.remove(self._restarted)
            elif sim is not None:
                sim.close()
            for known in (self._bound, self._spawned, self._told, self._jammed):
                known.clear()
            self._asked_us = 0
            self._forget()

    @property
    def is_connected(self) -> bool:
        """Between `connect` and `disconnect`."""
        return self._sim is not None

    @property
    def simulation(self) -> Simulation:
        """The world that it is in; AdapterError before `connect`."""
        if self._sim is None:
            raise AdapterError(f"adapter {self.name!r} is not connected: connect() comes first")
        return self._sim

    def add_vehicle(self, vehicle: Placed) -> None:
        """Bind the vehicle of that name, or spawn it; disarmed and at rest."""
        with self.lock:
            sim = self.simulation
            if not 1 <= vehicle.id <= CAPACITY:
                raise AdapterError(f"adapter {self.name!r}: a vehicle's id lies in 1 to {CAPACITY}, not {vehicle.id}")
            if vehicle.id in self._bound:
                raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")
            same = [other.id for other in self._bound.values() if other.name == vehicle.name]
            if same:
                raise AdapterError(f"adapter {self.name!r}: {vehicle.name!r} is vehicle {same[0]} already")
            if not self.hosted and not sim.applier.exists(vehicle.name):
                self._spawn(vehicle)
                self._spawned.add(vehicle.id)
            self._check_bindable(vehicle)
            self._bound[vehicle.id] = vehicle
            self._forget()
            self._rest((vehicle.id,))

    def remove_vehicle(self, vehicle: int) -> None:
        """Let go of it, at rest; one that was spawned leaves the world."""
        with self.lock:
            name = self._placed(vehicle).name
            if vehicle in self._spawned:
                self.simulation.remove(name)
            elif self.simulation.applier.exists(name):
                self._rest((vehicle,))
            del self._bound[vehicle]
            for known in (self._spawned, self._told, self._jammed):
                known.discard(vehicle)
            self._forget()

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ascending."""
        with self.lock:
            return tuple(sorted(self._bound))

    def reset(self) -> None:
        """The scenario from tick 0 with the vehicles that were added; hosted, the host's own reset is what counts."""
        with self.lock:
            if not self.hosted:
                self.simulation.reset()
                for vehicle in self._bound.values():
                    if vehicle.id in self._spawned:
                        self._spawn(vehicle)
            self._restarted("reset")

    def _restarted(self, how: str) -> None:
        """The simulation has begun anew (reset), or gone on from another state: what was shown is another past's."""
        with self.lock:
            self._asked_us = self.sim_time_us
            self._forget()
            if how == "reset":
                self._jammed.clear()
                self._rest(tuple(v for v, placed in self._bound.items() if self.simulation.applier.exists(placed.name)))

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """What all of its vehicles carry, at the rate of the clock."""
        with self.lock:
            carried = [part.feed.carried for v in self._bound for part in self._parts((v,))]
            common = frozenset.intersection(*carried) if carried else CARRIED
            rate = self._sim.world.clock.rate if self._sim is not None else EMPTY["clock"]["rate"]
        return Capabilities(common | {"truth"} if self.truth else common, rate, CAPACITY, terrain=False, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the tick."""
        return 0 if self._sim is None else round(self._sim.tick * 1e6 / self._sim.world.clock.rate)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Advance by whole ticks; what is left of a tick counts in the next step. Hosted: the host does it."""
        with self.lock:
            sim = self.simulation
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            if not self.hosted:
                self._asked_us += dt_us
                due = (self._asked_us + 0.5) * sim.world.clock.rate / 1e6  # a tick's time is told to the nearest us
                sim.step(max(0, int(due + 1e-9) - sim.tick))
        return True

    # exchange --------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            (part,) = self._parts((vehicle,))
            block = part.feed.update(self.simulation.tick)
            return SensorData(block[part.rows][0].copy()) if part.feed.news(part.rows).all() else None

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Fleet by fleet, all rows at once."""
        with self.lock:
            tick = self.simulation.tick
            for feed, rows, places in self._parts(tuple(vehicles)):
                newest, news = feed.update(tick)[rows], feed.news(rows)
                block[places] = newest if news.all() else np.where(news[:, None], newest, block[places])

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """From the next tick on."""
        self.send_block((vehicle,), commands.row[None, :])

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """One command for each fleet."""
        with self.lock:
            sim, parts = self.simulation, self._parts(tuple(vehicles))
            if np.isnan(block).any():
                bad = int(np.flatnonzero(np.isnan(block).any(axis=1))[0])
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicles[bad]} is NaN")
            limited = np.minimum(np.maximum(block, -1.0), 1.0)
            for feed, rows, places in parts:
                control = feed.control(limited[places], rows, sim.tick)
                if control is not None:
                    sim.barrier.post(control, sim.tick, self.name)

    # what becomes of sensors -----------------------------------------------------------------------------------------

    def set_gnss(self, vehicle: int, on: bool = True) -> None:
        """Take satellite navigation from a vehicle, or give it back."""
        with self.lock:
            self._placed(vehicle)
            (self._jammed.discard if on else self._jammed.add)(vehicle)
            self._remark(vehicle)

    def set_truth(self, vehicle: int, on: bool = True) -> None:
        """Whether a vehicle's sensor data has the ground truth."""
        with self.lock:
            self._placed(vehicle)
            (self._told.add if on else self._told.discard)(vehicle)
            self._remark(vehicle)

    # inside ----------------------------------------------------------------------------------------------------------

    def _spawn(self, vehicle: Placed) -> None:
        if vehicle.craft not in VEHICLES:
            raise AdapterError(str(unknown_name("craft", vehicle.craft, VEHICLES)))
        east, north, up = map(float, convert_position(vehicle.position, "ned", "enu"))
        rate = min(self.imu_rate, self.simulation.world.clock.rate)
        entry = {**VEHICLES[vehicle.craft], "name": vehicle.name, "pose": [east, north, up, 0.5 * pi - vehicle.heading]}
        try:
            self.simulation.spawn(**equipped(entry, vehicle.craft, rate))
        except PaddockError as error:
            raise AdapterError(f"adapter {self.name!r}: vehicle {vehicle.id}: {error}") from None
        self._sense_first(vehicle.name)

    def _sense_first(self, name: str) -> None:
        """Who has just come is measured where it stands, as far as its sensors are due."""
        sim = self.simulation
        program, _ = sim.applier.found(name)
        for sensor in program.sensors.values():
            if sensor.due(sim.tick) == sim.tick:
                poses, streams = program.pose_block(sim.tick), program.fleet.tables["streams"]
                sensor.sample(sim.tick, poses, program.fleet.n, streams, sim.world.environment, sim.world.seed)

    def _check_bindable(self, vehicle: Placed) -> None:
        """One vehicle, with an airframe and an IMU, that no rule drives."""
        try:
            program, rows = self.simulation.applier.found(vehicle.name)
        except PaddockError as error:
            raise AdapterError(f"adapter {self.name!r}: vehicle {vehicle.id}: {error}") from None
        if len(rows) != 1:
            raise AdapterError(
                f"adapter {self.name!r}: {vehicle.name!r} is a fleet of {len(rows)}: name one member, "
                f"e.g. {vehicle.name}[0]"
            )
        if "imu" not in program.sensors:
            raise AdapterError(
                f"adapter {self.name!r}: {vehicle.name!r} has no imu: give its entry sensors: [imu, ...]"
            )
        driver = program.driver(int(rows[0]))
        if driver is not None:
            raise AdapterError(f"adapter {self.name!r}: {vehicle.name!r} is driven by its {driver[0]} {driver[1]!r}")
        find_airframe(program.model)(program)

    def _placed(self, vehicle: int) -> Placed:
        _ = self.simulation
        if vehicle not in self._bound:
            known = ", ".join(map(str, sorted(self._bound))) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return self._bound[vehicle]

    def _remark(self, vehicle: int) -> None:
        if self._lineup is not None and not self._lineup.stale:
            self._lineup.mark(vehicle, self.truth or vehicle in self._told, vehicle in self._jammed)

    def _rest(self, vehicles: tuple[int, ...]) -> None:
        """Disarmed, everything at 0."""
        self.send_block(vehicles, blank_actuators(len(vehicles)))

    def _forget(self) -> None:
        """Work out anew who stands where, and show everything again."""
        self._lineup: Lineup | None = None

    def _parts(self, vehicles: tuple[int, ...]) -> list[Part]:
        """Who of these stands where."""
        lineup = self._lineup
        known = None if lineup is None or lineup.stale else lineup.known.get(vehicles)
        return self._line_up(vehicles) if known is None else known

    def _line_up(self, vehicles: tuple[int, ...]) -> list[Part]:
        for vehicle in vehicles if self._lineup is None or vehicles not in self._lineup.known else ():
            self._placed(vehicle)
        if self._lineup is None or self._lineup.stale:
            self._lineup = Lineup(self.simulation, {vehicle: placed.name for vehicle, placed in self._bound.items()})
            for vehicle in self._bound:
                self._lineup.mark(vehicle, self.truth or vehicle in self._told, vehicle in self._jammed)
        return self._lineup.parts(vehicles)


ADAPTER = WorldAdapter
