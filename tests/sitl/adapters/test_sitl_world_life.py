"""The world adapter in a hosted simulation: reset, restore, replay, and refusals."""

from __future__ import annotations

from math import pi
from typing import Any

import pytest
from hosted_world import copters, hosted, read, scenario

import paddock
from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, SensorData, blank_actuators, blank_sensors
from paddock.engine.simulation import Simulation
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.world import WorldAdapter
from paddock.sitl.equipment import standard_sensors
from paddock.testing import ConformanceError, check_adapter

HOVER = 1.5 * 9.80665 / (4 * 9.68)


class Hover:
    """A pilot for many: the same thrust for all, at 250 Hz."""

    def __init__(self, sim: Simulation, adapter: WorldAdapter) -> None:
        self.sim, self.adapter = sim, adapter
        self.sensors, self.actuators = blank_sensors(len(adapter.vehicles)), blank_actuators(len(adapter.vehicles))

    def due(self, tick: int) -> int:
        return -(-tick // 4) * 4

    def exchange(self, tick: int) -> None:
        self.adapter.receive_block(self.adapter.vehicles, self.sensors)
        self.actuators[:, 0] = 1.0
        self.actuators[:, 1:5] = HOVER * (1.0 - 0.05 * self.sensors[:, COLUMN["gnss_vd"], None] * -1.0)
        self.adapter.send_block(self.adapter.vehicles, self.actuators)


def test_hosted_as_a_partner_of_the_barrier_and_replayed_without() -> None:
    hashes = []
    for steps in ([1000], [250] * 4):
        sim, adapter = hosted(5)
        sim.vehicles.autopilots.join(Hover(sim, adapter))
        assert adapter.hosted and adapter.step(1_000_000) and sim.tick == 0
        for ticks in steps:
            sim.step(ticks)
        hashes.append(sim.state_hash())
    assert hashes[0] == hashes[1]
    assert paddock.replayed(sim.scenario, sim.control.log.complete(), sim.tick).state_hash() == hashes[0]


def test_hosted_through_reset_and_restore() -> None:
    sim, adapter = hosted(2)
    sim.vehicles.autopilots.join(Hover(sim, adapter))
    sim.step(400)
    saved = sim.save()
    sim.step(400)
    later = sim.state_hash()
    sim.restore(saved)
    sim.step(400)
    assert sim.state_hash() == later
    sim.reset()
    sim.step(800)
    assert sim.state_hash() == later


def test_a_removed_vehicle_is_named_in_the_error() -> None:
    sim, adapter = hosted(2)
    sim.remove("bees[0]")
    with pytest.raises(AdapterError, match="vehicle 1 is no longer in the world: fleet 'bees' has no member 0"):
        adapter.receive_sensors(1)
    assert read(adapter, 2).time_us == 0.0
    adapter.remove_vehicle(1)
    assert adapter.vehicles == (2,)


MISTAKES: list[tuple[Any, str]] = [
    (lambda a: a.add_vehicle(Placed(1, "bees[1]", "copter")), "has a vehicle 1 already"),
    (lambda a: a.add_vehicle(Placed(2, "bees[0]", "copter")), "'bees\\[0\\]' is vehicle 1 already"),
    (lambda a: a.add_vehicle(Placed(255, "bees[1]", "copter")), "id must be 1 to 254, not 255"),
    (lambda a: a.add_vehicle(Placed(2, "bees", "copter")), "is a fleet of 2: name one vehicle, e.g. bees\\[0\\]"),
    (lambda a: a.add_vehicle(Placed(2, "dot", "copter")), "model 'point' has no actuators"),
    (lambda a: a.add_vehicle(Placed(2, "blind", "rover")), "'blind' has no imu"),
    (lambda a: a.add_vehicle(Placed(2, "new", "submarine")), "vehicle 2: unknown vehicle 'new'"),
    (lambda a: WorldAdapter().connect(), "needs a simulation"),
    (lambda a: a.add_vehicle(Placed(2, "dog", "rover")), "'dog' is driven by its behaviour 'hold'"),
    (lambda a: a.receive_sensors(9), "has no vehicle 9; it has: 1"),
    (lambda a: a.send_actuators(ActuatorCommands(motors=[float("nan")])), "an actuator command of vehicle 1 is NaN"),
    (lambda a: a.step(-1), "cannot step back"),
    (lambda a: WorldAdapter().step(1), "not connected"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message[:30] for _, message in MISTAKES])
def test_invalid_calls_are_errors_of_one_line(mistake: Any, message: str, standalone_world: Any) -> None:
    others = [
        {"name": "dot", "model": "point", "sensors": ["imu"]},
        {"name": "blind", "model": "rover"},
        {"name": "dog", "model": "rover", "sensors": ["imu"], "behaviour": "hold"},
    ]
    adapter = standalone_world(scenario=scenario(copters(2), *others))
    adapter.connect()
    adapter.add_vehicle(Placed(1, "bees[0]", "copter"))
    with pytest.raises(AdapterError, match=message) as caught:
        mistake(adapter)
    assert "\n" not in str(caught.value)
    assert adapter.vehicles == (1,)


def test_standard_sensors_are_those_of_the_craft() -> None:
    names = [next(iter(entry)) for entry in standard_sensors("copter", 400)]
    assert names == ["imu", "gnss", "compass", "barometer", "rangefinder"]
    assert standard_sensors("copter", 400)[0]["imu"]["rate"] == 400
    slow, fast = (standard_sensors("rover", rate)[0]["imu"]["accelerometer_noise"] for rate in (100, 400))
    assert fast == pytest.approx(2.0 * slow)  # the same density
    assert [next(iter(entry)) for entry in standard_sensors("rover")] == names[:4]
    with pytest.raises(paddock.PaddockError, match="unknown craft 'coper'; did you mean 'copter'"):
        standard_sensors("coper")


@pytest.mark.parametrize(
    "craft",
    ["copter", *(pytest.param(craft, marks=pytest.mark.soak) for craft in ("rover", "rover_ackermann", "plane"))],
)
def test_it_keeps_the_contract_of_adapters(craft: str, standalone_world: Any) -> None:
    assert check_adapter(standalone_world, craft=craft, rests=craft != "plane").details.keys() >= {"time", "threads"}


def test_the_check_tilts_a_copter_to_find_radians(standalone_world: Any) -> None:
    class Radians(standalone_world):  # type: ignore[misc, valid-type]
        def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
            received = super().receive_sensors(vehicle)
            if received is not None:
                received.row[COLUMN["latitude"]] *= pi / 180.0
            return received

    with pytest.raises(ConformanceError, match=r"position: latitude changes 0\.01\d* times as much as gnss_vn implies"):
        check_adapter(Radians, craft="copter")
