"""Actuators of users: a function with memory between the commands and a car."""

from math import exp as exactly
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.kernel import kernel
from paddock.compute.math import exp
from paddock.errors import PaddockError
from paddock.record.recorder import Recorder
from paddock.record.rerun import verify
from paddock.vehicles.model import PartFunction, find_model
from paddock.vehicles.parts.car import Command, Parameters
from paddock.world.columns import Environment

HERE = __name__
OTHERS = ("car.bicycle", "car.double_track", "car.full")
LAG = {"function": f"{HERE}.torque_lag", "parameters": {"tau": 0.3}, "memory": {"torque_share": 0.0}}
RACK = {"function": f"{HERE}.spring_rack", "memory": {"rack_angle": 0.0, "rack_speed": 0.0}}


def torque_lag(u: Command, s: Any, p: Parameters, dt: float, tau: float = 0.1) -> tuple[Command, float]:
    share = u.throttle + (s.torque_share - u.throttle) * exp(-dt / tau)
    return Command(u.steer, share, u.brake, u.gear, u.handbrake), share


def spring_rack(u: Command, s: Any, p: Parameters, dt: float, frequency: float = 10.0) -> tuple[Command, float, float]:
    speed = s.rack_speed + dt * frequency * frequency * (u.steer - s.rack_angle)
    angle = s.rack_angle + dt * speed
    return Command(angle, u.throttle, u.brake, u.gear, u.handbrake), angle, speed


def halved(u: Command, s: Any, p: Parameters, dt: float) -> Command:
    return Command(u.steer, 0.5 * u.throttle, u.brake, u.gear, u.handbrake)


def forgets(u: Command, s: Any, p: Parameters, dt: float) -> Command:
    return u


def branches(u: Command, s: Any, p: Parameters, dt: float) -> Command:
    if u.brake > 0.5:
        return u
    return u


def unknown_column(u: Command, s: Any, p: Parameters, dt: float) -> tuple[Command, float]:
    return u, s.torque_shar


def no_force(throttle: float, gear: float, speed: float, charge: float, p: Parameters) -> float:
    return 0.0 * throttle


def driven(model: str, subsystems: dict[str, Any], **more: Any) -> Any:
    entry = {"name": "red", "model": model, "subsystems": subsystems, "commands": {"throttle": 1.0, "steer": 0.02}}
    return paddock.load({"clock": {"rate": 500}, "vehicles": [entry | more]})


@pytest.mark.parametrize("level", ["car.kinematic", *(pytest.param(level, marks=pytest.mark.slow) for level in OTHERS)])
def test_a_lag_of_first_order(level: str) -> None:
    """1 - exp(-t / tau), exactly, and a car that gains speed as its integral."""
    with driven(level, {"actuators": LAG}) as sim:
        speeds = []
        for k in range(1, 5):
            sim.step(100)
            red = sim.snapshot().fleet("red")
            assert red["torque_share"][0] == pytest.approx(1.0 - exactly(-0.2 * k / 0.3), rel=1e-12)
            speeds.append(float(np.hypot(red["vx"], red["vy"])[0]))
    with driven(level, {}) as sim:
        sim.step(400)
        plain = sim.snapshot().fleet("red")
        late = 0.3 * (1.0 - exactly(-0.8 / 0.3))  # s: integral of the missing share
        assert speeds[-1] == pytest.approx(float(np.hypot(plain["vx"], plain["vy"])[0]) * (0.8 - late) / 0.8, rel=0.05)


def test_a_rack_of_second_order() -> None:
    """Undamped: it swings between 0 and twice the command, with its own frequency."""
    with driven("car.kinematic", {"actuators": RACK}, parameters={"steer_rate_max": 100.0}, speed=10.0) as sim:
        angles = []
        for _ in range(500):
            sim.step()
            angles.append(float(sim.snapshot().fleet("red")["steer"][0]))
    assert max(angles) == pytest.approx(2.0 * 0.02, rel=0.01)
    assert np.argmax(angles[:250]) / 500 == pytest.approx(pi / 10.0, rel=0.02)


def test_the_state_is_complete(tmp_path: Path) -> None:
    with driven("car.kinematic", {"actuators": LAG}) as sim, Recorder(sim, tmp_path / "run.mcap", rate=50):
        sim.step(100)
        saved, hashed = sim.save(), sim.state_hash()
        sim.step(100)
        end = sim.state_hash()
        sim.restore(saved)
        assert sim.state_hash() == hashed
        sim.step(100)
        assert sim.state_hash() == end
        program = sim.engine.programs["red"]
        assert program.settings.entry["subsystems"] == {"actuators": LAG}
        row = program.model.state._fields.index("torque_share")  # type: ignore[attr-defined]
        program.fleet.state[row, 0] += 1e-12
        assert sim.state_hash() != end
        program.fleet.state[row, 0] = 1.0
        sim.reset()
        assert sim.snapshot().fleet("red")["torque_share"][0] == 0.0
    assert verify(tmp_path / "run.mcap").same


def test_compiled_code_gives_the_bits_of_python_and_plain_models_stay() -> None:
    model = find_model("car.bicycle")
    part = PartFunction(torque_lag, {"tau": 0.2}, {"torque_share": 0.25})
    fitted = model.fitted({"actuators": part, "tyre": "brush"})
    assert model.fitted({"actuators": part, "tyre": "brush"}).step is fitted.step  # kernels are shared
    assert find_model("car.bicycle").step is model.step and "torque_share" not in model.state._fields  # type: ignore[attr-defined]
    with driven("car.kinematic", {"actuators": LAG}) as sim:
        sim.step(2)
        program = sim.engine.programs["red"]
        own, p = program.model, program.model.parameters(*np.ravel(program.parameters.arguments).tolist())
        state = own.state(*program.fleet.state[:, 0].tolist())
        command = own.command(*program.fleet.command[:, 0].tolist())
        environment = Environment(*np.ravel(sim.engine.world.environment).tolist())
        for _ in range(program.settings.substeps):
            state = own.step(state, command, p, environment, 0.002 / program.settings.substeps)
        sim.step(1)
        assert tuple(program.fleet.state[:, 0]) == tuple(state)
    assert kernel(model.step_spec()) is not kernel(fitted.step_spec())


def test_without_memory_and_in_reports() -> None:
    half = find_model("car.bicycle").fitted({"actuators": halved})
    plain = find_model("car.bicycle")
    p, w = Parameters(), Environment()
    state = plain.state(*[0.0] * len(plain.state._fields))._replace(vx=10.0, charge=1.0, gear_engaged=1.0)  # type: ignore[attr-defined]
    assert half.step(state, Command(throttle=0.8), p, w, 1e-3) == plain.step(state, Command(throttle=0.4), p, w, 1e-3)
    assert half.report is not None and plain.report is not None
    assert half.report(state, Command(throttle=0.8), p, w) == plain.report(state, Command(throttle=0.4), p, w)


def test_level_1_has_parts_that_are_replaceable() -> None:
    with driven("car.kinematic", {"drivetrain": f"{HERE}.no_force"}) as sim:
        sim.step(100)
        assert sim.snapshot()["red"].speed == 0.0
    with pytest.raises(PaddockError, match=r"unknown subsystem 'tyre' of car\.kinematic; valid: actuators, brake, dr"):
        driven("car.kinematic", {"tyre": "brush"})


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"actuators": {**LAG, "memory": {"vx": 0.0}}}, "memory 'vx' is a column of the model"),
        ({"actuators": {**LAG, "memory": {"a b": 0.0}}}, "memory 'a b' must be a name"),
        ({"actuators": {"function": f"{HERE}.forgets", "memory": {"x1": 0.0}}}, r"must return \(Command, x1\)"),
        ({"actuators": f"{HERE}.branches"}, "branches"),
        ({"actuators": {**LAG, "function": f"{HERE}.unknown_column", "parameters": {}}}, "torque_shar"),
        ({"actuators": {**LAG, "memory": {"torque_share": "much"}}}, "must be a number"),
        ({"brake": {"function": f"{HERE}.forgets", "memory": {"x1": 0.0}}}, "has no memory: only actuators have one"),
        ({"actuators": {**LAG, "memory": {f"m{k}": 0.0 for k in range(17)}}}, "at most 16 values, not 17"),
    ],
)
def test_mistakes(part: dict[str, Any], problem: str) -> None:
    with pytest.raises(PaddockError, match=problem):
        driven("car.bicycle", part)
