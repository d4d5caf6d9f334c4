"""Form and targets of the benchmark; speeds are not tested here."""

from __future__ import annotations

import numpy as np
import pytest

from paddock.bench.result import Result, benchmark_names, best_times, find_bench, measured, meets, run_benchmarks
from paddock.bench.suites import radio, swarm
from paddock.bench.suites.kernels import ARITHMETIC, SCALAR, bare_fleet
from paddock.compute.kernel import kernel
from paddock.errors import UnknownNameError
from paddock.radio.maps import RadioSamples
from paddock.vehicles.model import model_names


def test_results_are_compared_with_targets() -> None:
    assert meets(10.0, ">= 10")
    assert not meets(9.99, ">= 10")
    assert meets(0.4, "<= 0.4")
    assert not meets(0.41, "<= 0.4")
    assert measured("c", 3, "x", ">= 4").ok is False
    assert measured("c", 3, "x").ok is None


def test_the_json_form() -> None:
    keys = ["bench", "case", "value", "unit", "target", "ok"]
    assert list(Result("c", 1.0, "x", ">= 1", "b").to_dict()) == keys


def test_names_and_suggestions() -> None:
    assert benchmark_names() == [
        "cars",
        "clients",
        "contact",
        "cuda",
        "driverless",
        "kernels",
        "peers",
        "planning",
        "radio",
        "record",
        "single",
        "sitl",
        "startup",
        "swarm",
        "web",
        "wires",
    ]
    assert all(find_bench(name).summary for name in benchmark_names())
    with pytest.raises(UnknownNameError, match="did you mean 'swarm'"):
        run_benchmarks(["swram"])


def test_best_times_takes_the_shortest_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    lasts = {"a": [5.0, 2.0, 3.0], "b": [1.0, 4.0, 0.5]}

    def work(name: str) -> None:
        nonlocal now
        now += lasts[name].pop(0)

    monkeypatch.setattr("paddock.bench.result.perf_counter", lambda: now)
    assert best_times({"a": lambda: work("a"), "b": lambda: work("b")}, 0.0) == {"a": 2.0, "b": 0.5}
    assert lasts == {"a": [], "b": []}


def test_the_single_vehicle_benchmark_reports_its_cases() -> None:
    received: list[Result] = []
    results = run_benchmarks(["single"], quick=True, report=received.append)
    assert results == received
    assert {r.unit for r in results} == {"calls/s", "ticks/s"} and {r.bench for r in results} == {"single"}
    assert all(r.value > 0 for r in results)


LARGE = ("car.double_track", "car.full")  # models that take long to compile


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in model_names()]
)
def test_benchmark_fleets_are_airborne(name: str) -> None:
    fleet = bare_fleet(name, 50)
    before = fleet.state.copy()
    kernel(fleet.model.step_spec())(fleet.n, 50, *fleet.arguments)
    assert np.isfinite(fleet.state).all()
    assert (fleet.state[0] != before[0]).mean() > 0.9  # they move: nothing is measured on parked vehicles


def test_vector_instructions_are_distinguished_from_scalar_ones() -> None:
    import re

    text = "\tvmulpd\t%ymm1, %ymm2, %ymm3\n\tvaddsd\t%xmm1, %xmm2, %xmm3\n\tvdivpd\t(%rax), %zmm2, %zmm3\n"
    assert len(re.findall(ARITHMETIC, text)) == 2
    assert len(re.findall(SCALAR, text)) == 1


def test_the_swarm_has_the_size_of_the_figure() -> None:
    scenario = swarm.swarm(1000)
    assert scenario["clock"]["rate"] == 240
    assert scenario["every"] == {"behaviour": 8, "snapshot": 8}


@pytest.mark.parametrize(
    ("speed", "steer", "drift", "multi_body"), [(15.0, 0.06, 0.33806, 0.34421), (25.0, 0.03, 0.28032, 0.28891)]
)
def test_turns_like_commonroads_models(speed: float, steer: float, drift: float, multi_body: float) -> None:
    # yaw rates of CommonRoad's single-track drift and multi-body model 3.0.2 (vehicle 2) under the same inputs
    from paddock.bench.suites.cars import turned

    rates = [turned(model, speed, steer)[-50:].mean() for model in ("car.bicycle", "car.double_track", "car.full")]
    assert rates[:2] == pytest.approx([drift, drift], rel=0.01)
    assert rates[2] == pytest.approx(multi_body, rel=0.04)


def test_maps_of_few_samples_have_no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are less exact than a Gaussian process of as many samples; the target is that of the full size."""
    random = np.random.default_rng(1)
    samples = RadioSamples.of(random.uniform(0.0, 100.0, (40, 3)), random.normal(-70.0, 5.0, 40))
    monkeypatch.setattr(radio, "other_methods", lambda: {"nearest neighbour": radio.nearest_neighbour})
    train, held = samples.chosen(slice(20)), samples.chosen(slice(20, None))
    for quick, expected in ((True, (None, None)), (False, ("<= 0.9", False))):
        [result] = radio.error_results(train, held, 100.0, quick)
        assert (result.target, result.ok) == expected


@pytest.mark.parametrize(("speed", "steer", "multi_body"), [(20.0, 0.02, 0.2155), (15.0, 0.05, 0.3366)])
def test_brakes_in_a_turn_like_commonroads_multi_body_model(speed: float, steer: float, multi_body: float) -> None:
    """Largest yaw rate of CommonRoad's model 3.0.2 (vehicle 2) under 4 m/s2 from 2 s on; without assistance systems."""
    import paddock
    from paddock.bench.suites.cars import BMW

    parameters = BMW | {"brake_bias": 0.66, "ebd": 0.0, "abs_slip": 0.0, "traction_slip": 0.0, "stability_gain": 0.0}
    pedal = BMW["mass"] * 4.0 * BMW["wheel_radius"] / (2.0 * 3400.0)
    car = {"name": "car", "model": "car.full", "parameters": parameters, "speed": speed}
    with paddock.load({"vehicles": [{**car, "commands": {"steer": steer, "gear": 0}}]}) as sim:
        rate = round(sim.scenario.clock.rate)
        sim.step(2 * rate)
        sim.command("car", brake=pedal)
        rates = []
        for _ in range(60):
            sim.step(rate // 60)
            rates.append(float(sim.snapshot().fleet("car")["wz"][0]))
    assert max(rates) == pytest.approx(multi_body, rel=0.05)
