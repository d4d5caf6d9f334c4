"""The same kernels on an NVIDIA GPU: agreement with the CPU, and agent-steps and radio links per second."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paddock.bench.result import Bench, Result, best_time, measured
from paddock.bench.suites.kernels import BareFleet, bare_fleet
from paddock.compute.cuda import cuda_module, find_gpu
from paddock.compute.kernel import KernelSpec, Rows, kernel
from paddock.radio.physics.antennas import dipole_db, sector_db
from paddock.radio.physics.fading import nakagami_power, rician_gain_db
from paddock.radio.physics.propagation import (
    cost231_hata_db,
    free_space_db,
    ground_reflection_db,
    knife_edge_db,
    log_distance_db,
    okumura_hata_db,
    two_ray_db,
)
from paddock.radio.physics.signal import GMSK, LORA_7, QAM16, QAM64, QPSK, ber, per
from paddock.sensing.sensor import ArraySensor, find_sensor, sensor_names
from paddock.sensing.site import Site
from paddock.vehicles.model import model_names
from paddock.world.columns import Environment, Pose, column_index, defaults_of
from paddock.world.fleet import stream_ids


def run(quick: bool) -> Iterator[Result]:
    """Run on a GPU; without one, yield nothing, or raise if requested by name."""
    gpu = find_gpu()
    if not gpu.available:
        yield measured(f"no GPU: {gpu.reason}", 0, "")
        return
    for name in model_names():
        yield _agreement(bare_fleet(name, 100 if quick else 1000), 20 if quick or gpu.simulated else 1000)
    for name in scalar_sensors():
        yield _sensor_agreement(name, 100 if quick else 1000)
    yield radio_agreement(100 if quick else 10_000)
    if not gpu.simulated:
        yield from _radio_speed(1_000_000 if quick else 10_000_000)
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
    return measured(case, float(deviation.max()), "relative", "<= 1e-9")


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
        seen = () if sensor.seen is None else (_around_defaults(sensor.seen, n, rng),)
        for tick in (5, 10, 15):
            draws = (sensor.key(5), stream_ids("fleet", np.arange(n)), 0, tick)
            make(sensor.spec())(n, 1, reading, pose, *seen, memory, *constants, *draws, 0.01)
        readings.append(reading)
    assert np.isfinite(readings[0]).any()
    deviation = np.abs(readings[0] - readings[1]) / np.maximum(1.0, np.abs(readings[0]))
    deviation[np.isnan(readings[0]) & np.isnan(readings[1])] = 0.0  # without a fix
    return measured(f"{name}: deviation from the CPU, noise included", deviation.max(), "relative", "<= 1e-9")


def _around_defaults(fields: type, n: int, rng: np.random.Generator) -> Any:
    """Return random columns (k, n) from 0.9 to 1.1 of their defaults, or from 0.5 to 2 without a default."""
    defaults = defaults_of(fields)[:, None]
    shares = rng.uniform(size=(len(defaults), n))
    return np.where(np.isfinite(defaults) & (defaults != 0.0), defaults * (0.9 + 0.2 * shares), 0.5 + 1.5 * shares)


class RadioCase(NamedTuple):
    """What the radio physics of one link takes."""

    distance: float  # m
    frequency: float  # Hz
    height_a: float  # m
    height_b: float  # m
    x: float  # direction, unit vector
    y: float
    z: float
    edge: float  # v of a knife edge
    re: float  # diffuse part of fading
    im: float
    ratio: float  # Eb/N0


class RadioFigures(NamedTuple):
    """What it returns: losses and gains in dB, rates of errors."""

    free_space: float
    two_ray: float
    ground_reflection: float
    log_distance: float
    okumura_hata: float
    cost231_hata: float
    knife_edge: float
    dipole: float
    sector: float
    rician: float
    nakagami: float
    qpsk: float
    qam16: float
    qam64: float
    gmsk: float
    lora7: float
    per: float


def radio_figures(c: RadioCase) -> RadioFigures:
    """Return every formula of radio physics for a link."""
    geometry = c.distance, c.frequency, c.height_a, c.height_b
    qpsk = ber(QPSK, c.ratio)
    return RadioFigures(
        free_space_db(c.distance, c.frequency),
        two_ray_db(*geometry),
        ground_reflection_db(*geometry, 15.0, 0.001, True),
        log_distance_db(c.distance, c.frequency, 3.0, 1.0),
        okumura_hata_db(*geometry, 1),
        cost231_hata_db(*geometry, 1),
        knife_edge_db(c.edge),
        dipole_db(c.x, c.y, c.z),
        sector_db(1.0, 0.5, c.x, c.y, c.z),
        rician_gain_db(6.0, c.distance, c.re, c.im),
        nakagami_power(c.re * c.re + c.im * c.im, 2.5),
        qpsk,
        ber(QAM16, c.ratio),
        ber(QAM64, c.ratio),
        ber(GMSK, c.ratio),
        ber(LORA_7, c.ratio),
        per(qpsk, 8192.0),
    )


RADIO = KernelSpec("bench-radio", radio_figures, (Rows("case", RadioCase), Rows("figures", RadioFigures, "write")))


def _radio_cases(n: int) -> tuple[Any, Any]:
    """Return random cases (columns, n), and an array for their figures."""
    rng = np.random.default_rng(2)
    cases = rng.normal(size=(len(column_index(RadioCase)), n))
    cases[0], cases[1] = 10.0 ** rng.uniform(0.0, 4.5, n), 10.0 ** rng.uniform(8.0, 9.8, n)
    cases[2:4] = rng.uniform(0.5, 80.0, (2, n))
    cases[4:7] /= np.linalg.norm(cases[4:7], axis=0)
    cases[7], cases[10] = rng.uniform(-2.0, 5.0, n), rng.uniform(0.0, 30.0, n)
    return cases, np.zeros((len(column_index(RadioFigures)), n))


def radio_agreement(n: int) -> Result:
    """Return the largest deviation of all formulas of radio physics."""
    from paddock.compute.cuda import cuda_kernel

    results = []
    for make in (kernel, cuda_kernel):
        cases, figures = _radio_cases(n)
        make(RADIO)(n, 1, cases, figures)
        results.append(figures)
    deviation = np.abs(results[0] - results[1]) / np.maximum(1.0, np.abs(results[0]))
    return measured(f"radio: deviation from the CPU of {n} links", deviation.max(), "relative", "<= 1e-9")


def _radio_speed(n: int) -> Iterator[Result]:
    from paddock.compute.cuda import cuda_kernel, to_device

    for dtype in ("float64", "float32"):
        launch = cuda_kernel(replace(RADIO, dtype=dtype))
        device = [to_device(a, dtype) for a in _radio_cases(n)]
        seconds = best_time(partial(_launch, launch, n, 1, device), 0.5)
        case = f"radio: {n} links, {len(column_index(RadioFigures))} formulas each, {dtype}"
        yield measured(case, n / seconds / 1e9, "billion links/s")


def _speed(fleet: BareFleet, dtype: str, judged: bool) -> Iterator[Result]:
    from paddock.compute.cuda import cuda_kernel, to_device

    step = cuda_kernel(fleet.model.step_spec(dtype=dtype))
    device = [to_device(a, dtype) for a in fleet.arguments[:4]]
    for substeps in (1, 10):
        seconds = best_time(partial(_launch, step, fleet.n, substeps, [*device, fleet.dt]), 0.5)
        target = ">= 10" if judged and dtype == "float32" and substeps == 10 else None
        case = f"quad: {fleet.n} agents, {dtype}, {substeps} substeps a launch"
        yield measured(case, fleet.n * substeps / seconds / 1e9, "billion agent-steps/s", target)


def _launch(step: Any, n: int, substeps: int, arrays: list[Any]) -> None:
    step(n, substeps, *arrays)
    cuda_module().synchronize()


BENCH = Bench("kernels on an NVIDIA GPU", run)
