"""The same kernels on an NVIDIA GPU: agreement with the CPU, and agent-steps per second."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from paddock.bench.fleets import BareFleet, bare_fleet
from paddock.bench.result import Bench, Result, best_time, measured
from paddock.compute.cuda import cuda_module, find_gpu
from paddock.compute.kernel import kernel
from paddock.sensing.sensor import ArraySensor, find_sensor, sensor_names
from paddock.sensing.site import Site
from paddock.vehicles.model import model_names
from paddock.world.columns import column_index, defaults_of
from paddock.world.fleet import stream_ids
from paddock.world.pose import Environment, Pose


def run(quick: bool) -> Iterator[Result]:
    """Run on a GPU; without one, yield nothing, or raise if requested by name."""
    gpu = find_gpu()
    if not gpu.available:
        yield measured("cuda", f"no GPU: {gpu.reason}", 0, "")
        return
    for name in model_names():
        yield _agreement(bare_fleet(name, 100 if quick else 1000), 20 if quick or gpu.simulated else 1000)
    for name in scalar_sensors():
        yield _sensor_agreement(name, 100 if quick else 1000)
    if not gpu.simulated:
        for n in (100_000, 1_000_000) if quick else (100_000, 1_000_000, 10_000_000):
            for dtype in ("float64", "float32"):
                yield from _speed(bare_fleet("quad", n), dtype, n == 10_000_000)


def _agreement(fleet: BareFleet, steps: int) -> Result:
    """Return the largest deviation from the CPU, relative to max(1, |x|)."""
    from paddock.compute.cuda import cuda_kernel, to_device

    spec = fleet.model.step_spec()
    device = [to_device(a) for a in fleet.arguments[:4]]
    cuda_kernel(spec)(fleet.n, steps, *device, fleet.dt)
    kernel(spec)(fleet.n, steps, *fleet.arguments)
    deviation = np.abs(device[0].copy_to_host() - fleet.state) / np.maximum(1.0, np.abs(fleet.state))
    case = f"{fleet.model.name}: deviation from the CPU after {steps} steps"
    return measured("cuda", case, float(deviation.max()), "relative", "<= 1e-9")


def scalar_sensors() -> list[str]:
    """Return the sensors that have kernels: those without arrays."""
    return [name for name in sensor_names() if not isinstance(find_sensor(name), ArraySensor)]


def _sensor_agreement(name: str, n: int) -> Result:
    """Return the largest deviation of a sensor's readings, including random draws."""
    from paddock.compute.cuda import cuda_kernel

    sensor = find_sensor(name)
    readings = []
    for make in (kernel, cuda_kernel):
        rng = np.random.default_rng(1)
        pose = rng.normal(size=(len(column_index(Pose)), n))
        pose[3:7] /= np.linalg.norm(pose[3:7], axis=0)
        pose.flags.writeable = make is not kernel  # the CPU kernel declares it read-only
        reading, memory = (np.zeros((len(column_index(fields)), n)) for fields in (sensor.reading, sensor.memory))
        constants = [defaults_of(fields).copy() for fields in (sensor.options, Environment, Site)]
        seen = () if sensor.seen is None else (rng.uniform(0.5, 2.0, size=(len(column_index(sensor.seen)), n)),)
        for tick in (5, 10, 15):
            draws = (sensor.key(5), stream_ids("fleet", np.arange(n)), 0, tick)
            make(sensor.spec())(n, 1, reading, pose, *seen, memory, *constants, *draws, 0.01)
        readings.append(reading)
    deviation = np.abs(readings[0] - readings[1]) / np.maximum(1.0, np.abs(readings[0]))
    return measured("cuda", f"{name}: deviation from the CPU, noise included", deviation.max(), "relative", "<= 1e-9")


def _speed(fleet: BareFleet, dtype: str, judged: bool) -> Iterator[Result]:
    from paddock.compute.cuda import cuda_kernel, to_device

    step = cuda_kernel(fleet.model.step_spec(dtype=dtype))
    device = [to_device(a, dtype) for a in fleet.arguments[:4]]
    for substeps in (1, 10):
        seconds = best_time(partial(_launch, step, fleet.n, substeps, device, fleet.dt), 0.5)
        target = ">= 10" if judged and dtype == "float32" and substeps == 10 else None
        case = f"quad: {fleet.n} agents, {dtype}, {substeps} substeps a launch"
        yield measured("cuda", case, fleet.n * substeps / seconds / 1e9, "billion agent-steps/s", target)


def _launch(step: Any, n: int, substeps: int, device: list[Any], dt: float) -> None:
    step(n, substeps, *device, dt)
    cuda_module().synchronize()


BENCH = Bench("kernels on an NVIDIA GPU", run)
