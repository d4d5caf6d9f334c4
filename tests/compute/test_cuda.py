"""The CUDA path on a few agents in Numba's CUDA simulator, which needs no GPU but a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import paddock
from paddock.compute.cuda import find_gpu
from paddock.errors import MissingFeatureError, UnknownNameError

KERNELS = """
import json, sys
import numpy as np
from paddock.bench.fleets import bare_fleet
from paddock.compute.cuda import cuda_kernel, to_device
from paddock.compute.kernel import kernel

fleet = bare_fleet(sys.argv[1], 3)
spec = fleet.model.step_spec()
start = fleet.state.copy()
device = [to_device(a) for a in fleet.arguments[:4]]
cuda_kernel(spec)(fleet.n, 4, *device, fleet.dt)
cuda_kernel(spec)(fleet.n, 1, *device, fleet.dt)
kernel(spec)(fleet.n, 5, *fleet.arguments)
poses = np.zeros((13, 3)), np.zeros((13, 3))
cuda_kernel(fleet.model.pose_spec())(3, 1, fleet.state, fleet.parameters, poses[0])
kernel(fleet.model.pose_spec())(3, 1, fleet.state, fleet.parameters, poses[1])
print(json.dumps({
    "moved": bool((fleet.state != start).any()),
    "equal": bool(np.array_equal(device[0].copy_to_host(), fleet.state)),
    "poses": bool(np.array_equal(*poses)),
}))
"""

SIMULATION = """
import json, sys
import paddock

scenario = {"clock": {"rate": 240}, "seed": 3, "vehicles": [
    {"name": "q", "count": 3, "model": "quad", "spread": {"mass": 0.1},
     "spawn": {"random": {"low": [0, 0, 5], "high": [9, 9, 20]}}},
    {"name": "c", "model": "car.bicycle", "speed": 5.0, "behaviour": {"goto": {"x": 50, "y": 10}}},
]}
hashes = []
with paddock.load(scenario, device=sys.argv[1]) as sim:
    sim.command("q", vx=2.0)
    sim.step(5)
    sim.command("q[1]", vx=-1.0)
    sim.step(2)
    saved = sim.save()
    sim.spawn(name="late", model="rover", commands={"speed": 0.5})
    sim.step(3)
    sim.remove("q[0]")
    sim.step(2)
    hashes.append(sim.state_hash())
    sim.restore(saved)
    sim.step(1)
    hashes.append(sim.state_hash())
    print(json.dumps([*hashes, *sim.snapshot()["q[1]"].position]))
"""


def in_simulator(program: str, *arguments: str) -> object:
    """What a program prints as JSON, run with the CUDA simulator."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("model", ["quad", "car.bicycle", "fixed_wing", "point", "rover", "car.kinematic"])
def test_kernels_equal_the_cpu_bit_for_bit(model: str) -> None:
    assert in_simulator(KERNELS, model) == {"moved": True, "equal": True, "poses": True}


def test_a_simulation_on_the_device_has_the_same_state_as_on_the_cpu() -> None:
    assert in_simulator(SIMULATION, "cuda") == in_simulator(SIMULATION, "cpu")


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


def test_sensors_draw_the_same_noise_on_the_device() -> None:
    program = """
import json
from paddock.bench.suites.cuda import _sensor_agreement
from paddock.sensing.sensor import sensor_names
print(json.dumps({name: _sensor_agreement(name, 3).value for name in sensor_names()}))
"""
    deviations = in_simulator(program)
    assert isinstance(deviations, dict)
    assert len(deviations) == 6
    assert set(deviations.values()) == {0.0}
