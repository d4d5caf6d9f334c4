"""User errors are reported in one line each."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import InvalidValueError, PaddockError

POINT = {"name": "dot", "model": "point"}
POSTED = "CommandAction, SpawnAction, RemoveAction, PlaceAction, OverrideAction, MissionAction, RadioAction"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"model": "quad", "commands": {"mode": 1.5}}, "vehicles[0].commands.mode: input 'mode' is one of acro, angle"),
        (
            {"model": "quad", "sensors": ["wheel_speed"]},
            "vehicles[0].sensors[0]: sensor 'wheel_speed' needs the option",
        ),
        ({"model": "point", "speed": 1e200}, "vehicles[0].speed: the speed is at most 10000 m/s, not 1e+200"),
        ({"model": "point", "pose": [1e300, 0, 0]}, "vehicles[0].pose: vehicles start within 1e+07 m of the origin"),
        (
            {"model": "point", "behaviour": "hold", "commands": {"vx": 1.0}},
            "vehicles[0].commands: commands have no effect on a vehicle that a behaviour drives",
        ),
        (
            {"model": "point", "behaviour": {"orbit": {"has_target": 1}}},
            "vehicles[0].behaviour.orbit.has_target: name a",
        ),
    ],
)
def test_invalid_entries_are_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": [entry]})
    assert str(caught.value).startswith(message)


def test_a_world_beyond_its_ranges() -> None:
    with pytest.raises(PaddockError, match=r"world.air_density: .* must lie in 0 to 100 kg/m3, not 1e\+300"):
        paddock.load({"world": {"air_density": 1e300}, "vehicles": []})


def test_invalid_calls_are_refused() -> None:
    sim = paddock.load({"vehicles": [POINT]})
    other = paddock.load({"vehicles": [POINT | {"name": "other"}]}).save()
    calls: list[tuple[Any, str]] = [
        (lambda: sim.engine.applier.post("hello"), f"only {POSTED} can be posted, not 'hello'"),  # type: ignore[arg-type]
        (lambda: sim.restore(None), "restore() takes what save() returned, not NoneType"),  # type: ignore[arg-type]
        (lambda: sim.restore(other), "saved in another scenario: load that one and restore there"),
        (lambda: sim.clock.watch(5, every=1), "a watcher is a function of a snapshot, not 5"),  # type: ignore[arg-type]
        (lambda: sim.run(pace="fast"), "pace must be a number, not 'fast'"),  # type: ignore[arg-type]
    ]
    before = sim.state_hash()
    for call, message in calls:
        with pytest.raises(PaddockError) as caught:
            call()
        assert str(caught.value) == message
    assert sim.state_hash() == before


def test_numpy_scalars_are_numbers() -> None:
    sim = paddock.load({"vehicles": [POINT]})
    for value in (np.float32(1.5), np.float16(1.5), np.array(1.5)):
        sim.command("dot", vx=value)
        sim.step()
        assert sim.vehicles.inspect("dot")["command"]["vx"] == 1.5


def test_wheel_speeds_use_the_vehicles_own_track() -> None:
    rover = {"name": "r", "model": "rover", "commands": {"turn_rate": 1.0}, "sensors": ["wheel_speed"]}
    sim = paddock.load({"vehicles": [rover]})
    sim.step(480)
    assert sim.vehicles.inspect("r")["state"]["wheel_left"] == pytest.approx(-0.075)
    assert sim.vehicles.sensors("r")["wheel_speed"]["left"] == pytest.approx(-0.075, rel=0.05)


def test_programs_for_n_vehicles_work_with_one() -> None:
    sim = paddock.load({"vehicles": [{**POINT, "count": 1, "spawn": {"grid": {"spacing": 1}}}]})
    sim.command("dot[0]", vx=1.0)
    sim.step(480)
    assert sim.snapshot()["dot[0]"].name == "dot"
    assert [vehicle.speed for vehicle in sim.snapshot().fleet("dot")] == [pytest.approx(1.0)]
    with pytest.raises(PaddockError, match="'dot' has no member 1"):
        sim.command("dot[1]", vx=1.0)


def test_the_log_repeats_a_run_with_another_seed() -> None:
    wild = {"model": "point", "name": "w", "count": 3, "spawn": {"random": {"low": [0, 0, 0], "high": [9, 9, 9]}}}
    sim = paddock.load({"seed": 1, "vehicles": [wild]})
    sim.reset(seed=8)
    sim.command("w", vx=1.0)
    sim.step(20)
    assert paddock.replayed(sim.scenario, sim.control.log.complete(), 20).state_hash() == sim.state_hash()


def test_watching_can_be_ended() -> None:
    sim = paddock.load({"vehicles": [POINT]})
    seen: list[int] = []
    end = sim.clock.watch(lambda snapshot: seen.append(snapshot.tick), every=5)
    sim.step(10)
    end()
    end()
    sim.step(10)
    assert seen == [5, 10]


def test_stopping_ends_a_step_that_waits_at_the_barrier_without_a_tick() -> None:
    sync = {"every": 1, "timeout": 0.05, "on_timeout": "pause"}
    sim = paddock.load({"clock": {"rate": 100, "sync": sync}, "vehicles": [POINT]})
    source = sim.control.claim("dot")
    errors: list[str] = []

    def step() -> None:
        try:
            sim.step(10)
        except PaddockError as error:
            errors.append(str(error))

    thread = threading.Thread(target=step)
    thread.start()
    assert source.wait(10) is not None
    sim.clock.stop()
    thread.join(10)
    assert sim.tick == 0
    assert errors == ["step() was stopped at tick 0, 10 ticks early"]


def test_a_claim_ends_with_its_vehicle() -> None:
    sim = paddock.load({"clock": {"rate": 100, "sync": {"timeout": 60.0}}, "vehicles": [POINT, POINT | {"name": "b"}]})
    source = sim.control.claim("dot")
    sim.remove("dot")
    sim.step(3)  # would wait a minute a tick
    assert sim.tick == 3
    assert source.released


def test_a_simulation_of_a_dict_is_refused() -> None:
    with pytest.raises(
        InvalidValueError, match=r"^Simulation takes a Scenario, not dict: use paddock\.load\(\.\.\.\)$"
    ):
        paddock.Simulation({"vehicles": []})  # type: ignore[arg-type]
