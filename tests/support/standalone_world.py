"""A world adapter that steps its own simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from paddock.autopilot.vehicle_data import COLUMN, Floats, SensorData
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario import load_scenario
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.equipment import VEHICLES, standard_sensors
from paddock.world.frames import convert_position


def lose_gnss(row: Floats) -> None:
    """The report of a receiver without satellites."""
    row[COLUMN["gnss_fix"] : COLUMN["gnss_epv"] + 1] = np.nan
    row[[COLUMN["gnss_fix"], COLUMN["gnss_satellites"]]] = 0.0


class StandaloneWorld(WorldAdapter):
    """Owns its simulation: `step` steps it, and vehicles that the scenario does not have are spawned."""

    hosted = False

    def __init__(
        self,
        name: str = "",
        *,
        scenario: Mapping[str, Any] | None = None,
        truth: bool = False,
        imu_rate: float | None = None,
    ) -> None:
        super().__init__(name, truth=truth)
        self.scenario = scenario or {"clock": {"rate": 1000}, "vehicles": []}
        self.imu_rate = imu_rate
        self.spawned: dict[int, Placed] = {}
        self.asked_us = 0
        self.without_gnss: set[int] = set()

    def set_gnss(self, vehicle: int, on: bool) -> None:
        """Give a vehicle satellites, or none."""
        (self.without_gnss.discard if on else self.without_gnss.add)(vehicle)

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        data = super().receive_sensors(vehicle)
        if data is not None and vehicle in self.without_gnss:
            lose_gnss(data.row)
        return data

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        super().receive_block(vehicles, block)
        for k, vehicle in enumerate(vehicles):
            if vehicle in self.without_gnss:
                lose_gnss(block[k])

    def connect(self) -> None:
        with self.lock:
            if self._sim is None:
                self._host = Simulation(load_scenario(self.scenario))
                self.asked_us = 0
            super().connect()

    def disconnect(self) -> None:
        with self.lock:
            sim = self._sim
            super().disconnect()
            self.spawned.clear()
            if sim is not None:
                sim.close()

    def add_vehicle(self, vehicle: Placed) -> None:
        with self.lock:
            exists = self.simulation.engine.applier.exists(vehicle.name)
            free = 1 <= vehicle.id <= 254 and vehicle.id not in self.vehicles
            if not exists and free and vehicle.craft in VEHICLES:
                self._spawn(vehicle)
                self.spawned[vehicle.id] = vehicle
            super().add_vehicle(vehicle)

    def _spawn(self, vehicle: Placed) -> None:
        sim = self.simulation
        east, north, up = map(float, convert_position(vehicle.position, "ned", "enu"))
        try:
            sim.spawn(
                **(VEHICLES | {"plane": {"model": "fixed_wing", "preset": "mapper"}})[vehicle.craft],
                name=vehicle.name,
                pose=[east, north, up, 0.5 * pi - vehicle.heading],
                sensors=standard_sensors(vehicle.craft, self.imu_rate, sim.engine.world.clock.rate),
            )
        except PaddockError as error:
            raise AdapterError(f"vehicle {vehicle.id}: {error}") from None
        program, _ = sim.engine.applier.found(vehicle.name)
        for sensor in program.sensors.values():  # measured where it stands
            if sensor.due(sim.tick) == sim.tick:
                poses, streams = program.pose_block(sim.tick), program.fleet.tables["streams"]
                sensor.sample(
                    sim.tick, poses, program.fleet.n, streams, sim.engine.world.environment, sim.engine.world.seed
                )

    def remove_vehicle(self, vehicle: int) -> None:
        with self.lock:
            placed = self._find(vehicle)
            if self.spawned.pop(vehicle, None) is not None:
                self.simulation.remove(placed.name)
            super().remove_vehicle(vehicle)

    def reset(self) -> None:
        with self.lock:
            self.simulation.reset()
            self.asked_us = 0
            for vehicle in self.spawned.values():
                self._spawn(vehicle)
            super().reset()

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Whole ticks; the rest of a tick counts in the next step."""
        with self.lock:
            sim = self.simulation
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            self.asked_us += dt_us
            due = (self.asked_us + 0.5) * sim.engine.world.clock.rate / 1e6
            sim.step(max(0, int(due + 1e-9) - sim.tick))
        return True
