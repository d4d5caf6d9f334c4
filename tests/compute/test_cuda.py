"""The CUDA path on a few vehicles in Numba's CUDA simulator, which needs no GPU but a separate process.

The simulator runs the generated kernel as Python and the model's function compiled for the CPU, in the kernel's number
type: loading, substeps, casts and storing are tested here, the machine code of a GPU by `paddock bench cuda`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import paddock
from paddock.bench.suites.cuda import _sensor_agreement, radio_agreement, scalar_sensors
from paddock.bench.suites.kernels import bare_fleet
from paddock.compute.cuda import alarm_arrays, cuda_kernel, find_gpu, to_device
from paddock.compute.kernel import KernelSpec, Rows, Shared, Value, kernel
from paddock.compute.math import maximum
from paddock.errors import MissingFeatureError, UnknownNameError

CHEAP, FULL = ("point", "acceleration_max", "point"), ("quad", "mass", "car.bicycle")
"""A model that is commanded, its parameter that varies, and a model with a behaviour."""


def scenario(model: str, varying: str, other: str) -> dict[str, Any]:
    spawn = {"random": {"low": [0, 0, 5], "high": [9, 9, 20]}}
    fleet = {"name": "q", "count": 3, "model": model, "spread": {varying: 0.1}, "spawn": spawn}
    goes = {"name": "c", "model": other, "behaviour": {"goto": {"x": 50, "y": 10, "speed": 1.0}}}
    return {"clock": {"rate": 240}, "seed": 3, "vehicles": [fleet, goes]}


def compare_kernels(name: str, dtype: str) -> dict[str, Any]:
    """Run the CUDA and the CPU kernel of a model on three vehicles."""
    fleet = bare_fleet(name, 3)
    spec, pose_spec = fleet.model.step_spec(dtype=dtype), fleet.model.pose_spec(dtype=dtype)
    arrays = [a.astype(dtype) for a in fleet.arguments[:4]]
    start = arrays[0].copy()
    device = [to_device(a, dtype) for a in arrays]
    cuda_kernel(spec)(fleet.n, 4, *device, fleet.dt)
    cuda_kernel(spec)(fleet.n, 1, *device, fleet.dt)
    kernel(spec)(fleet.n, 5, *arrays, np.dtype(dtype).type(fleet.dt))
    poses = np.zeros((13, 3), dtype), np.zeros((13, 3), dtype)
    cuda_kernel(pose_spec)(3, 1, arrays[0], arrays[2], poses[0])
    kernel(pose_spec)(3, 1, arrays[0], arrays[2], poses[1])
    return {
        "type": str(device[0].dtype),
        "moved": bool((arrays[0] != start).any()),
        "equal": device[0].copy_to_host().tobytes() == arrays[0].tobytes(),
        "poses": poses[0].tobytes() == poses[1].tobytes(),
    }


def run_simulation(device: str, *models: str) -> list[Any]:
    """Return state hashes and a position after commands, a spawn, a removal and a restore."""
    hashes = []
    with paddock.load(scenario(*models), device=device) as sim:
        sim.command("q", vx=2.0)
        sim.step(5)
        sim.command("q[1]", vx=-1.0)
        sim.step(2)
        saved = sim.save()
        sim.spawn(name="late", model=models[0])
        sim.command("late", vx=0.5)
        sim.step(3)
        sim.remove("q[0]")
        sim.step(2)
        hashes.append(sim.state_hash())
        sim.restore(saved)
        sim.step(1)
        hashes.append(sim.state_hash())
        return [*hashes, *map(float, sim.snapshot()["q[1]"].position)]


def alarm_events(device: str, model: str) -> list[Any]:
    """Return the events of four vehicles, of which one has a state that is not a number; quads fall to the ground."""
    line = {"line": {"start": [0, 0, 2], "end": [9, 0, 2]}}
    fleet = {"name": "q", "model": model, "count": 4, "spawn": line}
    fleet |= {"commands": {"armed": 0}} if model == "quad" else {}
    with paddock.load({"clock": {"rate": 240}, "vehicles": [fleet], "on_nan": "remove"}, device=device) as sim:
        sim.step(50)
        sim.engine.programs["q"].fleet.state[6, 1] = np.nan
        sim.step(150)
        return [[e.tick, e.kind, e.subject, e.detail] for e in sim.events.since()]


HILL = {"grade": 0.1, "roughness": "D", "height_map": {"values": [[0, 1, 0], [2, 1, 3]], "cell": 3.0}}


def run_uneven(device: str) -> list[Any]:
    """Return the state hash and the heights of rovers on uneven ground."""
    fleet = {"name": "r", "count": 3, "model": "rover", "spawn": {"grid": {"spacing": 2}}, "speed": 0.5}
    patches = [{"circle": {"center": [0, 0], "radius": 2}, "mu": 0.5}]
    world = {"ground": {**HILL, "patches": patches}}
    with paddock.load({"clock": {"rate": 240}, "world": world, "vehicles": [fleet]}, device=device) as sim:
        sim.command("r", speed=0.8, turn_rate=0.5)
        sim.step(20)
        return [sim.state_hash(), *sim.snapshot().fleet("r").position[:, 2].tolist()]


def sensor_deviations(*names: str) -> list[float]:
    return [_sensor_agreement(name, 3).value for name in names]


class Ball(NamedTuple):
    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float


class Hill(NamedTuple):
    ground_z: float


class Contour(NamedTuple):
    height: float
    slope_x: float
    slope_y: float


def plane_of_table(x: float, y: float, w: Any) -> Contour:
    return Contour(w.plane[0, 0] + w.plane[0, 1] * x + w.plane[0, 2] * y, w.plane[0, 1], w.plane[0, 2])


def thrown(s: Ball, w: Any, dt: float) -> Ball:
    x, y = s.x + dt * s.vx, s.y + dt * s.vy
    return Ball(x, y, maximum(s.z + dt * s.vz, plane_of_table(x, y, w).height), s.vx, s.vy, s.vz)


THROWN = KernelSpec(
    "test-thrown",
    thrown,
    (Rows("state", Ball, "update"), Shared("environment", Hill, tables=("plane",)), Value("dt")),
    crash_sink=2.5,
    crash_ground=plane_of_table,
)
BALLS = np.array([[0.0, 0.0, 3.0, 6.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0, 0.0, 0.0], [0.0, 9.0, 9.0, 0.0, 0.0, -3.0]]).T
"""Towards a slope of 45 degrees at 6 and 4 m/s, of which 4.24 and 2.83 m/s are normal to it; and falling onto it."""


def crashes_into_a_slope() -> list[Any]:
    """Return squared speeds of crashes and the tick of each: of CUDA and CPU kernels with a table."""
    state, hill, plane, alarms = BALLS.copy(), np.zeros(1), np.array([[-1.0, 1.0, 0.0]]), alarm_arrays(3)
    device = to_device(state)
    cuda_kernel(THROWN).watch(3, 100, device, hill, plane, 0.02, 1, *alarms)
    raised, progress, ticks = np.zeros(3), np.zeros((3, 1), np.int64), [0, 0, 0]
    while progress[0, 0] < 100:
        kernel(THROWN).watch(3, 100, state, hill, plane, 0.02, 1, raised, progress)
        ticks = [tick or int(progress[0, 0] * (alarm > 0)) for tick, alarm in zip(ticks, raised, strict=True)]
        progress[1, 0] = (raised > 0).sum()
    equal = device.copy_to_host().tobytes() == state.tobytes()
    return [alarms[0].copy_to_host().tolist(), alarms[1].copy_to_host().tolist(), raised.tolist(), ticks, equal]


PARTS: dict[str, Callable[..., Any]] = {
    "kernels": compare_kernels,
    "simulation": run_simulation,
    "sensors": sensor_deviations,
    "alarms": alarm_events,
    "slope": crashes_into_a_slope,
    "uneven": run_uneven,
    "radio": lambda: radio_agreement(20).value,
}


@cache
def in_simulator(*calls: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    """Return the results of functions of this file, by call, run in one process with the CUDA simulator."""
    command = [sys.executable, "-W", "ignore", __file__, json.dumps(calls)]
    paths = os.pathsep.join(filter(None, [str(Path(paddock.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return dict(zip(calls, json.loads(done.stdout), strict=True))


REPRESENTATIVES = (("kernels", "point", "float32"),)
OTHERS = (
    ("kernels", "point", "float64"),
    ("kernels", "rover", "float32"),
    ("kernels", "quad", "float32"),
    ("kernels", "car.bicycle", "float64"),
    ("kernels", "fixed_wing", "float32"),
    ("kernels", "car.kinematic", "float64"),
)
ONCE = (*REPRESENTATIVES, ("simulation", "cuda", *CHEAP), ("alarms", "cuda", "point"), ("slope",))


@pytest.mark.parametrize("calls", [REPRESENTATIVES, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["one", "rest"])
def test_the_generated_kernel_computes_what_the_cpu_kernel_does(calls: tuple[tuple[str, ...], ...]) -> None:
    results = in_simulator(*(ONCE if calls == REPRESENTATIVES else calls))
    for call in calls:
        assert results[call] == {"type": call[2], "moved": True, "equal": True, "poses": True}, call


@pytest.mark.parametrize("models", [CHEAP, pytest.param(FULL, marks=pytest.mark.slow)], ids=["cheap", "full"])
def test_a_simulation_on_the_device_has_the_same_state_as_on_the_cpu(models: tuple[str, ...]) -> None:
    call = ("simulation", "cuda", *models)
    assert in_simulator(*(ONCE if call in ONCE else (call,)))[call] == run_simulation("cpu", *models)


@pytest.mark.parametrize("model", ["point", pytest.param("quad", marks=pytest.mark.slow)])
def test_crashes_and_states_that_are_not_finite_are_events_of_their_tick_on_the_device(model: str) -> None:
    call = ("alarms", "cuda", model)
    events = in_simulator(*(ONCE if call in ONCE else (call,)))[call]
    assert events == alarm_events("cpu", model)
    assert [event[:3] for event in events[:2]] == [[51, "not_finite", "q[1]"], [51, "removed", "q[1]"]]
    assert [event[1] for event in events[2:]] == (["crashed"] * 3 if model == "quad" else [])


def test_a_table_and_the_ground_of_alarms_on_the_device() -> None:
    """The slope z = x - 1 reaches 3 m at x = 4 m: contact after 4 / 6 and 4 / 4 s, both above 2.5 m/s."""
    alarms, ticks, *cpu, equal = in_simulator(*ONCE)["slope",]
    assert alarms == [36.0, 16.0, 0.0] and ticks == [34, 50, 0]  # the third falls for 3.33 s, the run takes 2 s
    assert cpu == [alarms, ticks] and equal


@pytest.mark.slow
def test_uneven_ground_on_the_device() -> None:
    assert in_simulator(("uneven", "cuda"))["uneven", "cuda"] == run_uneven("cpu")


@pytest.mark.slow
def test_radio_physics_on_the_device() -> None:
    assert in_simulator(("radio",))["radio",] == 0.0


def test_without_a_gpu_there_is_a_message() -> None:
    gpu = find_gpu()
    if gpu.available:
        pytest.skip(f"this machine has a GPU: {gpu.name}")
    assert gpu.reason
    with pytest.raises(MissingFeatureError, match="cannot run on a GPU: "):
        paddock.load({"vehicles": [{"model": "point"}]}, device="cuda")


def test_an_unknown_device_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown device 'cudo'; did you mean 'cuda'"):
        paddock.load({"vehicles": []}, device="cudo")


@pytest.mark.slow
@pytest.mark.parametrize("names", [("barometer",), tuple(scalar_sensors())], ids=len)
def test_sensors_draw_the_same_noise_on_the_device(names: tuple[str, ...]) -> None:
    call = ("sensors", *names)
    assert in_simulator(call)[call] == [0.0] * len(names)


if __name__ == "__main__":
    print(json.dumps([PARTS[part](*arguments) for part, *arguments in json.loads(sys.argv[1])]))
