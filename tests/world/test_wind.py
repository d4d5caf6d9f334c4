"""Wind near the ground and gusts, against the published laws: logarithmic, power, and Dryden of MIL-F-8785C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import signal

import paddock
from paddock.errors import PaddockError
from paddock.planning.from_scenario import setup_of
from paddock.scenario import load_scenario
from paddock.serve.describe import fleet_columns
from paddock.vehicles.model import find_model
from paddock.world.wind import Air, WindProfile, blow, gusts_at

FOOT = 0.3048
LOG = {"roughness": 0.03}


def test_the_logarithmic_law_over_grass() -> None:
    air = Air(WindProfile(roughness=0.03), None)
    heights = [0.0, 0.03, 0.3, 2.0, 10.0, 100.0]
    # ln(h / z0) / ln(10 / z0)
    assert air.share(heights) == pytest.approx([0.0, 0.0, 0.39637, 0.72295, 1.0, 1.39637], abs=1e-5)
    assert air.share([300.0, 5000.0]) == pytest.approx(math.log(300.0 / 0.03) / math.log(10.0 / 0.03))


def test_the_power_law_with_another_reference() -> None:
    air = Air(WindProfile(exponent=0.5, height=60.0, top=60.0), None)  # as ArduPilot's own simulator has it
    assert air.share([0.0, 0.6, 15.0, 60.0, 200.0]) == pytest.approx([0.0, 0.1, 0.5, 1.0, 1.0])
    assert air.mean((3.0, -4.0, 1.0), 15.0) == pytest.approx([1.5, -2.0, 0.5])


def test_lengths_and_intensities_are_those_of_the_standard() -> None:
    """MIL-F-8785C, figures 10 and 11: L_w = h, L_u = h / (0.177 + 0.000823 h)^1.2, sigma_w = 0.1 W20, h in feet."""
    for feet in (10.0, 100.0, 500.0, 1000.0):
        g = gusts_at(feet * FOOT, 15.4)  # moderate: 30 knots
        ratio = 0.177 + 0.000823 * feet
        assert g.up_length / FOOT == pytest.approx(feet)
        assert g.level_length / FOOT == pytest.approx(feet / ratio**1.2)
        assert g.up_sigma == pytest.approx(1.54) and g.level_sigma == pytest.approx(1.54 / ratio**0.4)
    lowest, high = gusts_at(0.0, 10.0), gusts_at(5000.0, 10.0)
    assert lowest == gusts_at(10.0 * FOOT, 10.0)
    assert (high.level_length, high.up_length) == pytest.approx((1750.0 * FOOT, 1750.0 * FOOT))
    assert high.level_sigma == pytest.approx(high.up_sigma)


HEIGHT, SPEED, W20, DT = 50.0, 18.0, 15.4, 0.04


@pytest.fixture(scope="module")
def series() -> Any:
    """Gusts (m/s) along, across and up of 400 vehicles that fly north at a constant speed, (3, ticks, 400)."""
    n, ticks = 400, 4000
    pose, table, out = np.zeros((13, n)), np.zeros((10, n)), np.empty((3, ticks, n))
    wind = np.array([0.0, 6.0, 0.0])
    pose[8] = SPEED + wind[1]
    streams = np.arange(n, dtype=np.int64) * 7919
    for tick in range(ticks):
        blow(pose, np.full(n, -HEIGHT), wind, WindProfile(), W20, streams, 11, tick, DT, table)
        out[:, tick] = table[1] - wind[1], -table[0], table[2]  # along the wind, across to the left, up
    return out


def test_gusts_have_the_published_variance_and_correlation(series: Any) -> None:
    g = gusts_at(HEIGHT, W20)
    expected = (g.level_sigma, g.level_sigma, g.up_sigma)
    for part, sigma in zip(series, expected, strict=True):
        assert part.std() == pytest.approx(sigma, rel=0.03)
        assert abs(part.mean()) < 0.1 * sigma
        assert part[0].std() == pytest.approx(sigma, rel=0.25)  # from the first tick on
    # Dryden: longitudinal exp(-r/L), transverse (1 - r/2L) exp(-r/L)
    for part, length, transverse in zip(series, (g.level_length, g.level_length, g.up_length), (0, 1, 1), strict=True):
        for share in (0.25, 0.5, 1.0, 2.0):
            lag = round(share * length / (SPEED * DT))
            r = lag * SPEED * DT / length
            measured = (part[:-lag] * part[lag:]).mean() / (part**2).mean()
            assert measured == pytest.approx((1.0 - 0.5 * r * transverse) * math.exp(-r), abs=0.03)
    assert abs(np.corrcoef(series.reshape(3, -1))[np.triu_indices(3, 1)]).max() < 0.02
    assert abs(np.corrcoef(series[2].T) - np.eye(400)).mean() < 0.1  # vehicles have gusts of their own


def test_gusts_have_the_published_spectrum(series: Any) -> None:
    """MIL-F-8785C, 3.7.1.2: the one-sided spectra of Dryden in spatial frequency, rad/m."""
    g = gusts_at(HEIGHT, W20)
    for k, (part, sigma, length) in enumerate(
        zip(
            series,
            (g.level_sigma, g.level_sigma, g.up_sigma),
            (g.level_length, g.level_length, g.up_length),
            strict=True,
        )
    ):
        hertz, density = signal.welch(part, 1.0 / DT, nperseg=2000, axis=0)
        omega = 2.0 * math.pi * hertz / SPEED
        measured = density.mean(axis=1) * SPEED / (2.0 * math.pi)  # per rad/m
        square = (length * omega) ** 2
        longitudinal = sigma**2 * 2.0 * length / math.pi / (1.0 + square)
        transverse = sigma**2 * length / math.pi * (1.0 + 3.0 * square) / (1.0 + square) ** 2
        published = longitudinal if k == 0 else transverse
        band = (hertz > 0.05) & (hertz < 3.0)
        smooth = np.convolve(measured / published, np.full(5, 0.2), "same")[band]
        assert smooth == pytest.approx(np.ones(band.sum()), abs=0.12)


def scenario(world: dict[str, Any], **more: Any) -> dict[str, Any]:
    vehicles = [
        {"name": "low", "model": "quad", "pose": [0, 0, 2, 0]},
        {"name": "high", "model": "plane", "pose": [0, 50, 80, 0], "sensors": ["airspeed"]},
        {"name": "car", "model": "car.bicycle", "pose": [30, 0, 0], "speed": 5},
    ]
    return {"clock": {"rate": 100}, "seed": 5, "world": world, "vehicles": vehicles, **more}


def test_a_plain_vector_blows_at_every_height() -> None:
    with paddock.load(scenario({"wind": [12, 0, 0]})) as sim:
        sim.step(10)
        snapshot = sim.snapshot()
        assert "wind_x" not in snapshot.fleet("low").columns
        assert "wind" not in sim.engine.world.fleets["low"].tables


def test_every_vehicle_and_sensor_has_the_wind_at_its_height() -> None:
    with paddock.load(scenario({"wind": [12, 0, 0], "wind_profile": LOG})) as sim:
        low, high = (sim.engine.world.fleets[name] for name in ("low", "high"))
        before = [float(fleet.state[2, 0]) for fleet in (low, high)]
        sim.step(1)
        snapshot = sim.snapshot()
        law = [12.0 * math.log(z / 0.03) / math.log(10.0 / 0.03) for z in before]
        assert snapshot.fleet("high")["wind_x"][0] == pytest.approx(law[1], rel=0.002)
        assert snapshot.fleet("low")["wind_x"][0] == pytest.approx(law[0], rel=0.03)  # at its body's centre
        columns = fleet_columns(snapshot.fleet("low").columns, find_model("quad"), {})
        assert [column["unit"] for column in columns if column["name"] == "wind_x"] == ["m/s"]
        assert 5.0 < snapshot.fleet("car")["wind_x"][0] < 8.5  # not that at the wheels
        # placed in trimmed flight through the air at its height: 17.5 m/s, whatever blows there
        plane = snapshot["high"]
        assert math.hypot(*plane.velocity[:2]) == pytest.approx(17.5 + law[1], abs=0.2)
        assert plane["airspeed.airspeed"] == pytest.approx(17.5, abs=1.0)
        sim.step(200)
        later = sim.snapshot()["high"]
        assert float(later["airspeed"]) == pytest.approx(
            np.hypot(later.velocity[0] - law[1], later.velocity[2]), abs=0.5
        )


def test_gusts_are_deterministic_and_part_of_the_state() -> None:
    world = {"wind": [8, 3, 0], "wind_profile": LOG, "gusts": True}
    with paddock.load(scenario(world)) as sim, paddock.load(scenario(world)) as other:
        sim.step(300)
        for count in (1, 99, 200):
            other.step(count)
        assert sim.state_hash() == other.state_hash()
        blob = sim.save()
        sim.step(100)
        end = sim.state_hash()
        sim.restore(blob)
        sim.step(100)
        assert sim.state_hash() == end
        gust = sim.snapshot().fleet("high")["wind_z"][0]
        sim.reset(seed=6)
        sim.step(400)
        assert sim.snapshot().fleet("high")["wind_z"][0] != gust
    alone = scenario(world)
    alone["vehicles"] = alone["vehicles"][1:2]
    with paddock.load(alone) as sim:  # the gusts of a vehicle do not depend on others
        sim.step(400)
        assert sim.snapshot().fleet("high")["wind_z"][0] == gust


def test_the_intensity_of_gusts_follows_from_the_wind_or_from_the_user() -> None:
    air = load_scenario(scenario({"wind": [0, 10, 0], "gusts": True})).world
    from paddock.world.wind import air_of

    assert air_of(air).gust_wind == pytest.approx(10.0)  # type: ignore[union-attr]
    profiled = load_scenario(scenario({"wind": [0, 10, 0], "wind_profile": LOG, "gusts": True})).world
    assert air_of(profiled).gust_wind == pytest.approx(10.0 * math.log(6.096 / 0.03) / math.log(10.0 / 0.03))  # type: ignore[union-attr]
    severe = load_scenario(scenario({"gusts": {"wind_20ft": 23.2}})).world
    assert air_of(severe).gust_wind == 23.2  # type: ignore[union-attr]


def test_the_planner_assumes_the_wind_at_the_height_of_the_tasks() -> None:
    tree = {
        "world": {"wind": [4, 0, 0], "wind_profile": LOG},
        "mission": {
            "base": [0, 0, 0, 0],
            "tasks": [{"point": {"at": [900, 0]}, "altitude": 60}, {"point": {"at": [0, 900]}, "altitude": 100}],
        },
    }
    east, north = setup_of(load_scenario(tree)).problem.wind
    assert (east, north) == pytest.approx((4.0 * math.log(80.0 / 0.03) / math.log(10.0 / 0.03), 0.0))


def test_a_copter_that_lands_in_12_m_s_needs_no_lean_on_the_ground() -> None:
    """ArduPilot disarms on the ground only while it demands a lean below 15 degrees: the wind there must be weaker."""
    vehicle = [{"name": "drone", "model": "quad", "pose": [0, 0, 0, 0]}]

    def lean(world: dict[str, Any]) -> float:
        """Lean (deg) whose thrust holds against the drag of the wind, from the push on a free drone that stands."""
        with paddock.load({"clock": {"rate": 400}, "world": world, "vehicles": vehicle}) as sim:
            drag = sim.engine.programs["drone"].parameters.fields().drag
            sim.step(1)
            blown = sim.snapshot().fleet("drone")
            wind = blown["wind_x"][0] if "wind_x" in blown.columns else world["wind"][0]
            return math.degrees(math.atan(drag * wind / 9.80665))

    assert lean({"wind": [12, 0, 0], "wind_profile": LOG}) < 8.0
    assert lean({"wind": [12, 0, 0], "wind_profile": LOG}) < 0.5 * lean({"wind": [12, 0, 0]})


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ({"wind_profile": {}}, "exactly one of roughness, exponent; it has none"),
        ({"wind_profile": {"roughness": 0.1, "exponent": 0.2}}, "it has roughness and exponent"),
        ({"wind_profile": {"roughness": 0.03, "height": 0.02}}, "roughness must be below height"),
        ({"wind_profile": {"exponent": 0.2, "height": 400}}, "height must be at most top, 300 m"),
        ({"gusts": {"wind_20ft": -1}}, "wind_20ft: must be >= 0"),
    ],
)
def test_impossible_winds_are_refused(world: dict[str, Any], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        load_scenario(scenario(world))
