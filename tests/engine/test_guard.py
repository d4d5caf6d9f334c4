"""States that are not finite, crashes into the ground, and substeps of models that need short steps."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddock.compute.kernel import cpu_source
from paddock.engine.simulation import Simulation
from paddock.errors import NotFiniteError
from paddock.record import Recorder, verify
from paddock.vehicles.model import find_model

Load = Callable[..., Simulation]
DOTS = {"name": "dots", "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
RED = {"name": "red", "model": "car.bicycle", "pose": [0, 40, 0], "speed": 8}
FAR, FAST = 1.7976e308, 1e303  # m and m/s: a position just below the largest float, and a speed that passes it
OVERFLOW = math.ceil((sys.float_info.max - FAR - FAST) / (FAST / 240))  # the tick at which x + vx is infinite


def make_overflow(sim: Simulation, fleet: str, *rows: int, later: int = 0) -> None:
    """Have vehicles overflow at the tick OVERFLOW - `later`."""
    for k, row in enumerate(rows):
        state = sim.engine.programs[fleet].fleet.state
        state[0, row], state[3, row] = FAR + k * later * FAST / 240, FAST


def step_all(sim: Simulation, strides: list[int]) -> None:
    for ticks in strides:
        sim.step(ticks)


def alarms(sim: Simulation) -> list[tuple[int, str, str]]:
    return [(e.tick, e.subject, e.detail) for e in sim.events.since() if e.kind == "not_finite"]


@pytest.mark.parametrize("strides", [[1] * 2300, [2300], [7] * 400, [OVERFLOW - 1, 1, 50]])
def test_a_state_that_is_not_finite_ends_the_run_at_its_tick(load: Load, strides: list[int]) -> None:
    sim = load(DOTS, RED)
    make_overflow(sim, "dots", 3)
    with pytest.raises(NotFiniteError) as caught:
        step_all(sim, strides)
    assert OVERFLOW == 1996 and sim.tick == OVERFLOW
    assert str(caught.value) == (
        f"the run has ended: the state of 'dots[3]' is not finite at tick {OVERFLOW}: x is 1.79768e+308"
    )
    assert alarms(sim) == [(OVERFLOW, "dots[3]", "x is 1.79768e+308")]
    with pytest.raises(NotFiniteError):
        sim.step(1)
    with pytest.raises(NotFiniteError):
        sim.run(until=sim.time + 1.0, pace=0)
    assert sim.tick == OVERFLOW and len(alarms(sim)) == 1


def test_a_run_that_has_ended_is_saved_and_continues_without_the_vehicle(load: Load) -> None:
    sim, other = load(DOTS), load(DOTS)
    sim.engine.programs["dots"].fleet.state[6, 1] = np.nan  # its heading, which a vehicle at rest keeps
    with pytest.raises(NotFiniteError, match=r"'dots\[1\]' is not finite at tick 1: yaw is nan"):
        sim.step(10)
    other.restore(sim.save())
    assert other.state_hash() == sim.state_hash()
    with pytest.raises(NotFiniteError):
        other.step(1)
    for run in (sim, other):
        run.remove("dots[1]")
        run.step(9)
    assert sim.tick == 10 and other.state_hash() == sim.state_hash()
    sim.reset()
    sim.step(10)


@pytest.mark.parametrize("strides", [[1] * 2100, [2100]])
def test_vehicles_whose_state_is_not_finite_are_removed(load: Load, strides: list[int]) -> None:
    many = {**DOTS, "count": 600}  # three blocks of a parallel kernel
    sim, untouched = load(many, on_nan="remove"), load(many, on_nan="remove")
    make_overflow(sim, "dots", 590, 5, 300, later=10)
    for run in (sim, untouched):
        step_all(run, strides)
    assert alarms(sim) == [
        (OVERFLOW - 20, "dots[300]", "x is 1.79768e+308"),
        (OVERFLOW - 10, "dots[5]", "x is 1.79768e+308"),
        (OVERFLOW, "dots[590]", "x is 1.79768e+308"),
    ]
    events = [(e.tick, e.kind, e.subject) for e in sim.events.since()]
    assert events[1::2] == [(tick, "removed", name) for tick, name, _ in alarms(sim)]  # each follows its alarm
    assert sim.tick == 2100 and len(sim.snapshot().fleet("dots").position) == 597
    rest = np.delete(np.arange(600), [5, 300, 590])
    assert np.array_equal(sim.snapshot().fleet("dots").position, untouched.snapshot().fleet("dots").position[rest])


def test_events_of_many_vehicles_are_limited(load: Load) -> None:
    sim = load({**DOTS, "count": 600}, on_nan="remove")
    sim.engine.programs["dots"].fleet.state[6, :500] = np.inf
    sim.step(2)
    events = alarms(sim)
    assert events[0] == (1, "dots[0]", "yaw is inf") and events[-1] == (1, "dots", "400 more vehicles")
    assert len(events) == 101 and len(sim.snapshot().fleet("dots").position) == 100


@pytest.mark.parametrize("strides", [[1] * 700, [700]])
def test_a_crash_into_the_ground_is_an_event(load: Load, strides: list[int]) -> None:
    quad = {"name": "quad", "model": "quad", "pose": [0, 0, 10, 0], "commands": {"armed": 0}}
    sim = load(quad, {**quad, "name": "slow", "pose": [9, 0, 0.2, 0]})
    step_all(sim, strides)
    (crash,) = [event for event in sim.events.since() if event.kind == "crashed"]
    fall = math.sqrt(2 * 10 / 9.80665)  # s; drag and the spinning down of the motors delay it a little
    assert crash.subject == "quad" and fall < crash.tick / 240 < 1.1 * fall
    speed = float(crash.detail.removeprefix("hit the ground at ").removesuffix(" m/s"))
    assert 0.85 * 9.80665 * fall < speed < 9.80665 * fall
    assert abs(sim.snapshot()["slow"].position[2]) < 1e-4  # sqrt(2 g 0.2) = 2 m/s is a hard landing


def test_a_crash_is_measured_where_the_legs_touch(load: Load) -> None:
    # onto legs of 0.03 m: at 2.6 m/s a crash, at 2.4 m/s a hard landing
    quad = {"model": "quad", "commands": {"armed": 0}}
    sim = load({**quad, "name": "fast"}, {**quad, "name": "slow", "pose": [9, 0, 0, 0]})
    for name, speed in (("fast", 2.6), ("slow", 2.4)):
        sim.engine.world.fleets[name].state[2] = speed**2 / (2 * 9.80665) + 0.03
    sim.step(240)
    events = [(event.subject, event.detail) for event in sim.events.since() if event.kind == "crashed"]
    assert events == [("fast", "hit the ground at 2.6 m/s")]
    model = find_model("quad")
    for varying, height in (((), "leg_travel)"), (("leg_travel",), "leg_travel[i])")):
        assert f"(environment_ground_z + parameters_{height}" in cpu_source(model.step_spec(varying))


def test_a_landing_is_no_crash(load: Load) -> None:
    sim = load({"name": "quad", "model": "quad", "pose": [0, 0, 1, 0], "commands": {"vz": -0.7}})
    sim.step(1000)
    assert sim.snapshot()["quad"].position[2] < 0.03 and sim.events.since() == []  # on its legs


@pytest.mark.parametrize(
    ("model", "slow", "fast", "substeps"),
    [("quad", 60, 240, 4), ("quad", 50, 250, 5), ("quad", 100, 300, 3), ("car.bicycle", 60, 120, 2)],
)
def test_a_tick_longer_than_the_step_of_a_model_takes_substeps(
    load: Load, model: str, slow: float, fast: float, substeps: int
) -> None:
    commands: dict[str, Any] = {"vx": 3.0, "vz": 1.0} if model == "quad" else {"steer": 0.1, "throttle": 0.4}
    vehicle = {"name": "one", "model": model, "pose": [0, 0, 5, 0.3], "commands": commands}
    sims = load(vehicle, rate=slow), load(vehicle, rate=fast)
    for sim, rate in zip(sims, (slow, fast), strict=True):
        sim.step(round(2 * rate))
    states = [sim.vehicles.inspect("one") for sim in sims]
    assert [state["dynamics"]["substeps"] for state in states] == [substeps, 1]
    assert states[0]["state"] == states[1]["state"]  # bit for bit
    assert abs(states[0]["state"]["x"]) > 1.0


def test_substeps_do_not_depend_on_strides(load: Load) -> None:
    birds = {**DOTS, "model": "quad", "count": 300}
    sims = [load(birds, rate=60) for _ in range(2)]
    sims[0].step(40)
    for _ in range(40):
        sims[1].step(1)
    assert sims[0].state_hash() == sims[1].state_hash()


@pytest.mark.parametrize("strides", [[1] * 30, [30], [7] * 5])
def test_a_memory_that_is_not_finite_ends_the_run_at_its_tick(load: Load, strides: list[int]) -> None:
    # a rover's inputs are limited, so that its state stays finite
    three = {"name": "it", "count": 3, "model": "rover", "spawn": {"grid": {"spacing": 3}}, "behaviour": "counts_down"}
    sim = load(three, rate=60, every={"behaviour": 4})
    sim.behaviours.override("it[1]", {"counts_down": {"after": 5}})
    with pytest.raises(NotFiniteError) as caught:
        step_all(sim, strides)
    text = "the run has ended: the state of 'it[1]' is not finite at tick 17: memory.left is inf"
    assert str(caught.value) == text  # the fifth decision is that of tick 16
    assert sim.tick == 17 and alarms(sim) == [(17, "it[1]", "memory.left is inf")]
    with pytest.raises(NotFiniteError):
        sim.step(1)
    assert sim.tick == 17
    sim.behaviours.override("it[1]", None)
    sim.step(13)
    assert sim.tick == 30 and len(alarms(sim)) == 1


@pytest.mark.parametrize("count", [3, pytest.param(600, marks=pytest.mark.slow)])  # the second: a parallel kernel
def test_a_desire_that_is_not_finite_is_an_event(load: Load, count: int) -> None:
    many = {"name": "it", "count": count, "model": "rover", "spawn": {"grid": {"spacing": 3}}}
    broken = {"after": 3, "keeps": 0}
    sim = load({**many, "behaviour": {"counts_down": broken}}, rate=60, on_nan="remove")
    sim.step(10)
    events = alarms(sim)
    assert events[0] == (3, "it[0]", "desire.vy is not finite")
    assert events[-1] == ((3, "it", "500 more vehicles") if count == 600 else (3, "it[2]", "desire.vy is not finite"))
    assert not sim.snapshot().layout.fleets and sim.tick == 10
    # a point takes the desire as it is: one alarm, that of the cause
    sim = load({"name": "dot", "model": "point", "behaviour": {"counts_down": {"after": 3}}}, rate=60, on_nan="remove")
    sim.step(10)
    assert [(e.tick, e.kind, e.detail) for e in sim.events.since()] == [
        (3, "not_finite", "memory.left is inf"),
        (3, "removed", "1 vehicle"),
    ]


def test_a_recording_of_a_run_that_ended_verifies(load: Load, tmp_path: Path) -> None:
    sim = load({"name": "dot", "model": "point"}, rate=60)
    with Recorder(sim, tmp_path / "run.mcap"):
        sim.behaviours.override("dot", {"counts_down": {"after": 20}}, at_tick=13)
        with pytest.raises(NotFiniteError):
            sim.step(100)
    assert 13 < sim.tick < 100 and alarms(sim)[0][0] == sim.tick
    verified = verify(tmp_path / "run.mcap")
    assert verified.same and verified.ticks == sim.tick
