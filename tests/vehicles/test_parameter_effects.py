"""Which parameters have an effect on a model: those that it says, and no others; the others are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.vehicles.model import Bump, Desire, Placement, VehicleModel, find_model, model_names
from paddock.world.columns import Environment, column_index, columns_of

CARS = ("car.kinematic", "car.bicycle", "car.double_track", "car.full")
PART = {"car.bicycle spinning": ("car.bicycle", {"wheels": "spinning"})}
ON = {  # parameters without which others have no effect
    "engine_speed_max": 600.0, "gears": 4.0, "capacity": 5000.0, "cells": 90.0, "abs_slip": 0.01, "traction_slip": 0.01,
    "stability_gain": 8000.0, "ebd": 0.5, "steer_frequency": 30.0, "steer_dead_time": 0.02, "torque_dead_time": 0.02,
    "diff_preload": 20.0, "diff_locking": 0.3, "centre_preload": 20.0, "drive_front": 0.4, "engine_brake": 40.0,
    "suspension_travel": 0.01, "regeneration": 0.5, "idle_power": 100.0, "cg_height": 0.5, "turn_radius": 30.0,
}  # fmt: skip


def model_of(name: str) -> VehicleModel:
    kind, parts = PART.get(name, (name, {}))
    return find_model(kind).fitted(parts)


def results(model: VehicleModel, parameters: Any) -> list[Any]:
    """Return what all functions of a model return along a drive with random commands."""
    random, w, out = np.random.default_rng(5), Environment(), []
    columns = columns_of(model.command)
    for speed in (3.0, 20.0, 45.0):
        state: Any = model.place(Placement(0.0, 0.0, 0.0, 0.3, speed), parameters, w)
        out += [*model.pose(state, parameters)]
        for tick in range(40):
            draws = random.uniform(0.0, 1.0, len(columns))
            commands = [
                c.low + u * (c.high - c.low) if np.isfinite(c.high - c.low) and c.high - c.low < 1e3 else 4.0 * u - 2.0
                for c, u in zip(columns, draws, strict=True)
            ]
            u = model.command(*commands)
            u = u._replace(gear=1.0, brake=float(tick >= 20), handbrake=0.0 if tick < 35 else 1.0)
            state = model.step(state, u, parameters, w, min(model.dt_max, 0.002))
            out += [*state]
        out += [*model.pose(state, parameters), *model.guide(state, u, parameters, Desire(3.0, 1.0, 0.5, 9.0))]
        out.append(model.energy(state, parameters, w))
        if model.report is not None:
            out += [*model.report(state, u, parameters, w)]
        if model.body is not None and model.bumped is not None:
            out += [*model.body(parameters), *model.bumped(state, parameters, Bump(*[0.1] * len(Bump._fields)))]
    return out


@pytest.mark.parametrize("name", [*CARS, *PART])
def test_a_parameter_changes_what_a_car_does_or_is_refused(name: str) -> None:
    """Each parameter alone, against all functions of the level: none of those that are refused changes anything."""
    model = model_of(name)
    base = model.parameters()._replace(
        **{key: value for key, value in ON.items() if key in column_index(model.parameters)}
    )
    expected = results(model, base)
    changed = set()
    for column in columns_of(model.parameters):
        value = getattr(base, column.name)
        for other in (0.8 * value, 1.25 * value, 0.5 * (value + column.low)):
            if column.low <= other <= column.high and results(model, base._replace(**{column.name: other})) != expected:
                changed.add(column.name)
                break
    assert changed - model.effective_parameters == set()
    for silent in ("abs_slip", "engine_speed_max", "stability_gain", "wheel_inertia", "ackermann", "inertia_x"):
        assert (silent in model.effective_parameters) == (silent in changed), silent


@pytest.mark.parametrize("name", [name for name in model_names() if not name.startswith("car.")])
def test_other_models_use_all_their_parameters(name: str) -> None:
    assert find_model(name).effective_parameters == set(column_index(find_model(name).parameters))


def test_an_option_that_a_level_does_not_have_is_refused_at_its_line(tmp_path: Path) -> None:
    entry = "  - {name: a, model: car.%s, pose: [0, 0, 0], parameters: {%s}}\n"
    for level, option, others in (
        ("bicycle", "abs_slip: 0.1", "car.double_track, car.full"),
        ("kinematic", "engine_speed_max: 500", "car.bicycle, car.double_track, car.full"),
        ("double_track", "damper_front: 2000", "car.full"),
    ):
        (tmp_path / "s.yaml").write_text("vehicles:\n" + entry % (level, option))
        name = option.partition(":")[0]
        problem = rf"s.yaml:2:\d+: parameter '{name}' has no effect on car.{level}; it has one on {others}$"
        with pytest.raises(PaddockError, match=problem):
            paddock.load(tmp_path / "s.yaml")
    spinning = {"name": "a", "model": "car.bicycle", "pose": [0, 0, 0], "parameters": {"abs_slip": 0.1}}
    with paddock.load({"vehicles": [{**spinning, "subsystems": {"wheels": "spinning"}}]}) as sim:
        sim.step()


@pytest.mark.parametrize("model", CARS)
def test_the_sedan_stops_from_100_km_h_like_a_modern_car(model: str) -> None:
    """39 to 41 m on a dry road, as tests of family cars measure; the kinematic level has the friction alone."""
    car = {"name": "a", "model": model, "preset": "sedan", "pose": [0, 0, 0], "speed": 100 / 3.6}
    with paddock.load({"vehicles": [{**car, "commands": {"brake": 1.0, "gear": 0}}]}) as sim:
        sim.step(1500)
        assert np.linalg.norm(sim.snapshot()["a"].velocity) < 0.05
        assert (38.5 if model == "car.kinematic" else 39.0) < sim.snapshot()["a"].position[0] < 41.0
