"""A world adapter in a simulation of copters, for its tests."""

from __future__ import annotations

from typing import Any

import paddock
from paddock.autopilot.vehicle_data import SensorData
from paddock.engine.simulation import Simulation
from paddock.sitl.adapter import Placed
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.equipment import standard_sensors

ORIGIN = (47.397742, 8.545594, 488.0)


def scenario(*vehicles: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {"clock": {"rate": 1000}, "world": {"origin": list(ORIGIN)}, "vehicles": list(vehicles), **sections}


def copters(count: int, sensors: list[Any] | None = None) -> dict[str, Any]:
    spawn = {"grid": {"spacing": 5}} if count > 1 else {"poses": [[0, 0, 0, 0]]}
    kept = standard_sensors("copter") if sensors is None else sensors
    return {"name": "bees", "count": count, "model": "quad", "preset": "iris", "spawn": spawn, "sensors": kept}


def hosted(count: int, **options: Any) -> tuple[Simulation, WorldAdapter]:
    sim = paddock.load(scenario(copters(count)))
    adapter = WorldAdapter(simulation=sim, **options)
    adapter.connect()
    for k in range(count):
        adapter.add_vehicle(Placed(k + 1, f"bees[{k}]", "copter"))
    return sim, adapter


def read(adapter: WorldAdapter, vehicle: int = 1) -> SensorData:
    data = adapter.receive_sensors(vehicle)
    assert data is not None
    return data
