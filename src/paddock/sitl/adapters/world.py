"""This world as a simulator for autopilots: any vehicle with an airframe, any number, all in one Simulation.

Alone, the adapter owns a Simulation made from a scenario and steps it; hosted, it is given one that somebody else runs,
and only binds, reads and commands. Commands enter by the mailbox and the log, so that a replay needs no autopilot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from paddock.engine.simulation import Simulation
from paddock.scenario import Scenario, load_scenario
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter, blank_actuators
from paddock.sitl.physics import joining
from paddock.sitl.physics.bindings import CAPACITY, Bindings
from paddock.sitl.physics.lineup import Part
from paddock.sitl.sensor_data import Floats, SensorData

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
        imu_rate: float | None = None,
    ) -> None:
        """`simulation`: hosted in one that somebody else runs.

        `imu_rate`: Hz, of vehicles that are spawned; None: as often as the built-in autopilot of the craft controls.
        """
        super().__init__(name)
        if simulation is not None and scenario is not None:
            raise AdapterError(f"adapter {self.name!r}: give a scenario or a simulation, not both")
        self.hosted = simulation is not None
        self.truth = truth
        self.imu_rate = imu_rate
        self._scenario = scenario
        self._host = simulation
        self._sim: Simulation | None = None
        self._bound = Bindings(self.name, truth)
        self._asked_us = 0  # time that steps have asked for

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Have the simulation: build it, or take the host's."""
        with self.lock:
            if self._sim is None:
                self._sim = self._host or Simulation(load_scenario(EMPTY if self._scenario is None else self._scenario))
                self._asked_us = self.sim_time_us
                if self.hosted:
                    self._sim.engine.on_restart.append(self._restarted)

    def disconnect(self) -> None:
        """Let go of the vehicles, and of the simulation if it is its own."""
        with self.lock:
            sim, self._sim = self._sim, None
            if sim is not None and self.hosted:
                sim.engine.on_restart.remove(self._restarted)
            elif sim is not None:
                sim.close()
            self._bound.clear()
            self._asked_us = 0

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
        """Bind the vehicle of that name, or spawn it; disarmed and at rest.

        One that brings sensors of its own may have an IMU that is faster than its pilot: see `sensor_period_us`.
        """
        with self.lock:
            sim = self.simulation
            self._bound.check_free(vehicle)
            try:
                if not self.hosted and not sim.engine.applier.exists(vehicle.name):
                    joining.spawn(sim, vehicle, self.imu_rate)
                    self._bound.spawned.add(vehicle.id)
                joining.check(sim, vehicle)
            except AdapterError as error:
                raise AdapterError(f"adapter {self.name!r}: {error}") from None
            self._bound.add(vehicle)
            self._rest((vehicle.id,))

    def remove_vehicle(self, vehicle: int) -> None:
        """Let go of it, at rest; one that was spawned leaves the world."""
        with self.lock:
            name = self._known.find(vehicle).name
            if vehicle in self._bound.spawned:
                self.simulation.remove(name)
            elif self.simulation.engine.applier.exists(name):
                self._rest((vehicle,))
            self._bound.remove(vehicle)

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ascending."""
        with self.lock:
            return tuple(sorted(self._bound.placed))

    def reset(self) -> None:
        """The scenario from tick 0 with the vehicles that were added; hosted, the host's own reset is what counts."""
        with self.lock:
            if not self.hosted:
                self.simulation.reset()
                for vehicle in self._bound.placed.values():
                    if vehicle.id in self._bound.spawned:
                        joining.spawn(self.simulation, vehicle, self.imu_rate)
            self._restarted("reset")

    def _restarted(self, how: str) -> None:
        """The simulation has begun anew (reset), or gone on from another state: what was shown is another past's."""
        with self.lock:
            self._asked_us = self.sim_time_us
            self._bound.forget()
            if how == "reset":
                self._bound.jammed.clear()
                there = self.simulation.engine.applier.exists
                self._rest(tuple(v for v, placed in self._bound.placed.items() if there(placed.name)))

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """What all of its vehicles carry, at the rate of the clock."""
        with self.lock:
            carried = [part.feed.carried for v in self._bound.placed for part in self._parts((v,))]
            common = frozenset.intersection(*carried) if carried else CARRIED
            rate = self._sim.engine.world.clock.rate if self._sim is not None else EMPTY["clock"]["rate"]
        return Capabilities(common | {"truth"} if self.truth else common, rate, CAPACITY, terrain=False, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the tick."""
        return 0 if self._sim is None else round(self._sim.tick * 1e6 / self._sim.engine.world.clock.rate)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Advance by whole ticks; what is left of a tick counts in the next step. Hosted: the host does it."""
        with self.lock:
            sim = self.simulation
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            if not self.hosted:
                self._asked_us += dt_us
                due = (
                    (self._asked_us + 0.5) * sim.engine.world.clock.rate / 1e6
                )  # a tick's time is told to the nearest us
                sim.step(max(0, int(due + 1e-9) - sim.tick))
        return True

    # exchange --------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            (part,) = self._parts((vehicle,))
            block = part.feed.update(self.simulation.tick)
            return SensorData(block[part.rows][0].copy()) if part.feed.news(part.rows).all() else None

    def sensor_period_us(self, vehicle: int) -> int:
        """In whole ticks."""
        with self.lock:
            return joining.imu_period_us(self.simulation, self._known.find(vehicle).name)

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
                    sim.engine.mailbox.post(control, sim.tick, self.name)

    # what becomes of sensors -----------------------------------------------------------------------------------------

    def set_gnss(self, vehicle: int, on: bool = True) -> None:
        """Take satellite navigation from a vehicle, or give it back."""
        with self.lock:
            self._known.set_gnss(vehicle, on)

    def set_truth(self, vehicle: int, on: bool = True) -> None:
        """Whether a vehicle's sensor data has the ground truth."""
        with self.lock:
            self._known.set_truth(vehicle, on)

    # inside ----------------------------------------------------------------------------------------------------------

    @property
    def _known(self) -> Bindings:
        """The vehicles; AdapterError before `connect`."""
        _ = self.simulation
        return self._bound

    def _rest(self, vehicles: tuple[int, ...]) -> None:
        """Disarmed, everything at 0."""
        self.send_block(vehicles, blank_actuators(len(vehicles)))

    def _parts(self, vehicles: tuple[int, ...]) -> list[Part]:
        return self._bound.parts(self.simulation, vehicles)


ADAPTER = WorldAdapter
