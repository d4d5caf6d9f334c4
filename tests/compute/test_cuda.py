"""The CUDA path on a few vehicles in Numba's CUDA simulator, which needs no GPU but a process of its own.

The simulator runs the generated kernel as Python and the model's function compiled for the CPU, in the kernel's number
type: loading, substeps, casts and storing are tested here, the machine code of a GPU by `paddock bench cuda`.
"""

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

name, dtype = sys.argv[1:]
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
print(json.dumps({
    "type": str(device[0].dtype),
    "moved": bool((arrays[0] != start).any()),
    "equal": device[0].copy_to_host().tobytes() == arrays[0].tobytes(),
    "poses": poses[0].tobytes() == poses[1].tobytes(),
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


@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        ("quad", "float32"),
        ("car.bicycle", "float64"),
        ("fixed_wing", "float32"),
        ("point", "float64"),
        ("rover", "float32"),
        ("car.kinematic", "float64"),
    ],
)
def test_the_generated_kernel_computes_what_the_cpu_kernel_does(model: str, dtype: str) -> None:
    assert in_simulator(KERNELS, model, dtype) == {"type": dtype, "moved": True, "equal": True, "poses": True}


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
