"""Drones without a link restore it: by the gradient of a map, and by their own measurements."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.splats import field_at, flat_table
from paddock.errors import PaddockError
from paddock.radio.maps import RadioMap, RadioSamples, fit_map

STATION = (0.0, 0.0, 10.0)


@pytest.fixture(scope="module")
def signal_map() -> RadioMap:
    """The field of a station at the origin with 20 dBm at 2.4 GHz in free space."""
    random = np.random.default_rng(1)
    position = random.uniform((-4000, -4000, 0), (4000, 4000, 100), (400, 3))
    distance = np.sqrt(((position - STATION) ** 2).sum(axis=1) + 1.0)
    return fit_map(RadioSamples.of(position, 20.0 - 40.05 - 20.0 * np.log10(distance))).map


def scenario(start: tuple[float, float, float], behaviour: dict[str, Any]) -> dict[str, Any]:
    kind = {"frequency": 2.4e9, "bandwidth": 2.0e6, "power": 0.0, "sensitivity": -92.0, "antenna": "isotropic"}
    station = {"name": "base", "position": STATION, "radio": "telemetry"}
    return {
        "clock": {"rate": 50},
        "radio": {"types": {"telemetry": kind}, "stations": [station]},
        "vehicles": [
            {
                "name": "d", "model": "quad", "count": 1, "pose": [*start, 0.0], "radio": "telemetry",
                "behaviour": {"seek_signal": behaviour},
            }
        ],
    }  # fmt: skip


def column(sim: Any, name: str) -> float:
    return float(sim.snapshot().fleet("d")[f"radio.{name}"][0])


def test_a_flat_table_gives_the_values_of_the_map(signal_map: RadioMap) -> None:
    table = flat_table(signal_map.file.splats, signal_map.grid, signal_map.file.prior)
    places = np.random.default_rng(2).uniform(-5000, 5000, (40, 3)) * [1.0, 1.0, 0.02]
    values = signal_map.query(places)
    for k, (x, y, z) in enumerate(places.tolist()):
        assert field_at(x, y, z, table) == (values.power[k], *values.gradient[k].tolist())


def test_it_needs_a_radio_or_a_map() -> None:
    entry = {"name": "d", "model": "quad", "behaviour": {"seek_signal": {}}}
    with pytest.raises(PaddockError, match="'seek_signal' needs a radio or a map; add `radio: default`"):
        paddock.load({"radio": {}, "vehicles": [entry]})


def test_a_drone_out_of_range_climbs_the_gradient_until_its_link_is_up(signal_map: RadioMap, tmp_path: Path) -> None:
    signal_map.save(tmp_path / "map.npz")
    start = (500.0, 300.0, 30.0)
    with paddock.load(scenario(start, {"map": str(tmp_path / "map.npz"), "speed": 15, "enough": 0.05})) as sim:
        sim.step(10)
        assert column(sim, "signal") == 0.0 and column(sim, "links") == 0.0
        for _ in range(120):
            sim.step(50)
            if column(sim, "signal") >= 0.05:
                break
        assert column(sim, "links") == 1.0 and column(sim, "signal") >= 0.05
        position = sim.snapshot().fleet("d").position[0]
        assert np.linalg.norm(position - STATION) < np.linalg.norm(np.array(start) - STATION) - 20.0
        sim.step(500)  # and stays
        assert np.linalg.norm(sim.snapshot().fleet("d").velocity[0]) < 0.5 and column(sim, "links") == 1.0


def test_without_a_map_a_drone_climbs_the_slope_of_its_measurements() -> None:
    start = (150.0, -80.0, 30.0)
    with paddock.load(scenario(start, {"speed": 6, "enough": 0.9})) as sim:
        sim.step(50)
        before = column(sim, "sinr")
        assert before > -99.0
        sim.step(50 * 30)
        after = column(sim, "sinr")
        assert after > before + 2.0
        blob = sim.save()
        sim.step(100)
        hashed = sim.state_hash()
        sim.restore(blob)
        sim.step(100)
        assert sim.state_hash() == hashed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map": "missing.npz"}, "missing.npz: no such file"),
        ({"map": 3}, "map must be the file of a radio map, not 3"),
        ({"path": [[0, 0, 0]]}, "unknown seek_signal option 'path'"),
        ({"mpa": "x"}, "did you mean 'map'"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        paddock.load(scenario((0.0, 0.0, 5.0), options))
