"""Coverage and spectra against free space, noise and bands on paper."""

from __future__ import annotations

from math import erfc, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.links.survey import radio_ranges

HILLS = Path(__file__).parents[1] / "support" / "radio_hills.yaml"
LIGHT = 299_792_458.0
F = 2.4e9
TYPE = {"bandwidth": 20e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0, "sensitivity": -95.0}
NOISE = -100.96  # dBm: kTB of 20 MHz at 290 K
POINT = {"name": "p", "model": "point", "spawn": {"poses": [[300, 0, 50, 0]]}, "radio": "t"}
HATA = {"model": "cost231_hata"}
BARRAGE = {"name": "red", "kind": "barrage", "position": [1000, 0, 2], "power": 10, "bandwidth": 40e6}


def loaded(jammers: list[dict[str, Any]], *stations: dict[str, Any]) -> Simulation:
    radio = {"types": {"t": TYPE}, "stations": [*stations], "jammers": jammers}
    return paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [POINT]})


def free_space(distance: Any) -> Any:
    """Friis, dB."""
    return 20.0 * np.log10(4.0 * np.pi * distance * F / LIGHT)


def test_power_of_the_strongest_station_and_its_sinr() -> None:
    a = {"name": "a", "position": [0, 0, 30], "radio": "t"}
    b = {"name": "b", "position": [800, 600, 30], "radio": {"type": "t", "power": 30.0}}
    with loaded([], a, b) as sim:
        assert sim.radio is not None
        grid = sim.radio.coverage(x=200.0, y=100.0, size=2000.0, side=9, height=5.0)
        assert (grid.x, grid.y, grid.cell) == (-800.0, -900.0, 250.0) and grid.power.shape == (9, 9)
        x, y = np.meshgrid(grid.x + 250.0 * np.arange(9), grid.y + 250.0 * np.arange(9))
        from_a = 20.0 - free_space(np.sqrt(x**2 + y**2 + 25.0**2))
        from_b = 30.0 - free_space(np.sqrt((x - 800.0) ** 2 + (y - 600.0) ** 2 + 25.0**2))
        assert grid.power == pytest.approx(np.maximum(from_a, from_b), abs=0.01)
        assert grid.noise == pytest.approx(NOISE, abs=0.01)
        assert grid.sinr == pytest.approx(grid.power - NOISE, abs=0.02)
        assert (grid.jamming < -200.0).all()
        only = sim.radio.coverage(of="a", x=200.0, y=100.0, size=2000.0, side=9, height=5.0)
        assert only.power == pytest.approx(from_a, abs=0.01)


def test_jamming_is_the_share_in_the_band_and_lowers_the_sinr() -> None:
    """Half of a barrage of 40 MHz falls into the band of 20 MHz."""
    with loaded([BARRAGE], {"name": "a", "position": [0, 0, 2], "radio": "t"}) as sim:
        assert sim.radio is not None
        grid = sim.radio.coverage(x=500.0, y=0.0, size=600.0, side=3)  # x 200, 500, 800; y -300, 0, 300
        jamming = 10.0 - free_space(np.array([800.0, 500.0, 200.0])) - 10.0 * np.log10(2.0)
        assert grid.jamming[1] == pytest.approx(jamming, abs=0.01)
        signal = 20.0 - free_space(np.array([200.0, 500.0, 800.0]))
        total = 10.0 * np.log10(10.0 ** (jamming / 10.0) + 10.0 ** (NOISE / 10.0))
        assert grid.sinr[1] == pytest.approx(signal - total, abs=0.02)
        sim.radio.jammers.set("red", on=False)
        sim.step(20)
        assert (sim.radio.coverage(x=500.0, y=0.0, size=600.0, side=3).jamming < -200.0).all()


def test_packets_under_pulses_are_lost_if_a_pulse_hits_them() -> None:
    """Pulses of 80 us every 8 ms hit 13.5 % of packets of 1 ms; the mean SINR behind the jammer would lose them all."""
    narrow = {**TYPE, "bandwidth": 2e6, "bit_rate": 1e6, "packet_bits": 1000}
    pulsed = {**BARRAGE, "kind": "pulsed", "position": [300, 0, 60], "power": 40, "period": 8e-3, "duty": 0.01}
    radio = {"types": {"t": narrow}, "stations": [{"name": "a", "position": [0, 0, 50], "radio": "t"}]}
    vehicles = [{**POINT, "radio": "t"}]
    with paddock.load({"clock": {"rate": 100}, "radio": radio | {"jammers": [pulsed]}, "vehicles": vehicles}) as sim:
        far = 2e5  # m: -126.1 dBm over a noise of -110.96 dBm
        levels = sim.radio.levels([[300, 0, 50], [-far, 0, 50]], of="a")
        assert levels.sinr[0] < -5.0 and levels.per[0] == pytest.approx(0.01 + 1.0 / 8.0, abs=1e-3)
        assert levels.per[0] == pytest.approx(sim.radio.link("a", "p[0]").per, rel=1e-9)
        grid = sim.radio.coverage(of="a", x=300.0, y=0.0, size=100.0, side=2, height=50.0)
        assert grid.per == pytest.approx(np.full((2, 2), 0.135), abs=1e-3)
        assert levels.per[1] == pytest.approx(1.0, abs=1e-3)
        sim.radio.jammers.set("red", on=False)
        sim.step(20)
        quiet = sim.radio.levels([[300, 0, 50], [-22_000.0, 0, 50]], of="a")
    assert quiet.per[0] < 1e-9
    ratio = 10.0 ** ((20.0 - free_space(22_000.0) - NOISE + 10.0) / 10.0) * 2.0  # Eb/N0 of 1 Mbit/s in 2 MHz
    errors = 1.0 - (1.0 - 0.5 * erfc(sqrt(ratio))) ** 1000
    assert 0.05 < errors < 0.95 and quiet.per[1] == pytest.approx(errors, abs=0.01)


def test_without_stations_the_nearest_of_many_vehicles_count() -> None:
    """Of 300 vehicles on a line those near each place: the strongest is 30 m above it, wherever it is."""
    line = [[100.0 * k, 0, 50, 0] for k in range(300)]
    fleet = {**POINT, "count": 300, "spawn": {"poses": line}}
    with paddock.load({"clock": {"rate": 100}, "radio": {"types": {"t": TYPE}}, "vehicles": [fleet]}) as sim:
        at = [0, 7, 150, 220, 299]
        levels = sim.radio.levels([[100.0 * k, 0, 20] for k in at])
        assert levels.best.tolist() == at
        assert levels.power == pytest.approx(20.0 - free_space(np.full(5, 30.0)), abs=0.01)
        grid = sim.radio.coverage(x=29_900.0, y=0.0, size=20.0, side=3, height=50.0)
        assert grid.power[1, 0] == pytest.approx(20.0 - free_space(10.0), abs=0.01)


def test_spectrum_of_a_jammer_and_a_transmitter() -> None:
    """In every bin the share of its width in the bandwidth of what arrives."""
    heard = {"name": "b", "position": [300, 400, 50], "radio": {"type": "t", "duty": 0.25}}
    with loaded([BARRAGE], heard) as sim:
        assert sim.radio is not None
        spectrum = sim.radio.spectrum("p", span=80e6, bins=16)  # of 5 MHz
        assert (spectrum.low, spectrum.high, spectrum.band) == (F - 40e6, F + 40e6, (F - 10e6, F + 10e6))
        assert spectrum.noise == pytest.approx(NOISE - 10.0 * np.log10(4.0), abs=0.01)
        jammer = 10.0 - free_space(np.sqrt(700.0**2 + 48.0**2)) - 10.0 * np.log10(8.0)
        radio = 20.0 - free_space(400.0) - 10.0 * np.log10(4.0) + 10.0 * np.log10(0.25)

        def total(*parts: float) -> float:
            return float(10.0 * np.log10(sum(10.0 ** (power / 10.0) for power in (spectrum.noise, *parts))))

        assert spectrum.power[:4] == pytest.approx([spectrum.noise] * 4, abs=0.01)
        assert spectrum.power[4:6] == pytest.approx([total(jammer)] * 2, abs=0.02)
        assert spectrum.power[6:10] == pytest.approx([total(jammer, radio)] * 4, abs=0.02)
        assert spectrum.power[12:] == pytest.approx([spectrum.noise] * 4, abs=0.01)


def test_a_sweep_fills_the_frequencies_it_crosses() -> None:
    """A sweep in 0.1 s over 40 MHz is everywhere in them within an update: the mean is that of a barrage of 40 MHz."""
    swept = {
        **{"name": "red", "kind": "swept", "position": [1000, 0, 2], "power": 10, "bandwidth": 1e6},
        **{"sweep": [F - 20e6, F + 20e6], "period": 0.1},
    }
    with loaded([swept]) as sim:
        assert sim.radio is not None
        spectrum = sim.radio.spectrum("p", span=80e6, bins=16)
        jammer = 10.0 - free_space(np.sqrt(700.0**2 + 48.0**2)) - 10.0 * np.log10(8.0)
        assert spectrum.power[5:11] == pytest.approx([jammer] * 6, abs=0.5)
        assert spectrum.power[:3] == pytest.approx([spectrum.noise] * 3, abs=0.01)


@pytest.mark.parametrize(
    "link",
    [{"model": "log_distance", "exponent": 2.6}, {"model": "two_ray"}, {"model": "ground_reflection"}, HATA],
    ids=lambda part: part["model"],
)
def test_range_of_a_model_is_where_its_link_ends(link: dict[str, Any]) -> None:
    """A receiver at the range gets the limit of the budget, one that is 1 % farther less."""
    station = {"name": "a", "position": [0, 0, 30], "radio": "t"}
    radio = {"types": {"t": TYPE | {"frequency": 1.8e9}}, "stations": [station], "default": link}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [POINT]}) as sim:
        stage = sim.engine.radio
        stage.locate()
        ranges = radio_ranges(stage.roster.radios, stage.roster.classes)
        far = float(ranges[0])
        needed = max(-95.0, NOISE + sim.radio.link("p", "a").needed)
        rise = 20.0
        level = [np.sqrt((far * k) ** 2 - rise**2) for k in (1.0, 1.01)]
        near, beyond = sim.radio.levels([[level[0], 0.0, 50.0], [level[1], 0.0, 50.0]]).power
        assert near == pytest.approx(needed, abs=0.02) and beyond < near
        if link["model"] == "log_distance":  # by the formula: 26 dB per decade beyond 1 m
            first = 20.0 * np.log10(4.0 * np.pi * 1.8e9 / LIGHT)
            assert far == pytest.approx(10.0 ** ((20.0 - needed - first) / 26.0), rel=2e-3)


def test_range_of_free_space_and_mistakes() -> None:
    with loaded([], {"name": "a", "position": [0, 0, 2], "radio": "t"}) as sim:
        assert sim.radio is not None
        budget = sim.radio.link("p", "a")
        limit = max(-95.0, NOISE + budget.needed)
        expected = LIGHT / (4.0 * np.pi * F) * 10.0 ** ((20.0 - limit) / 20.0)
        stage = sim.engine.radio.roster
        assert radio_ranges(stage.radios, stage.classes) == pytest.approx([expected] * 2, rel=2e-3)
        for wrong in ({"of": "b"}, {"receiver": "q"}, {"side": 1}, {"size": 0.0}):
            with pytest.raises(PaddockError):
                sim.radio.coverage(**wrong)
        with pytest.raises(PaddockError, match="unknown vehicle or station 'nothing'"):
            sim.radio.spectrum("nothing")
        for name, value, valid in (
            ("height", float("nan"), r"a number from -10000 to 100000 m"),
            ("x", float("inf"), r"a number from -1e\+06 to 1e\+06 m"),
            ("side", 10**6, "a whole number from 2 to 160"),
            ("size", -1.0, r"a number from 1 to 1e\+06 m"),
        ):
            with pytest.raises(InvalidValueError, match=f"coverage: {name} must be {valid}, not "):
                sim.radio.coverage(**{name: value})
        for options in ({"bins": 0}, {"bins": 10**9}, {"span": -1.0}, {"span": float("nan")}):
            with pytest.raises(InvalidValueError, match=f"spectrum: {next(iter(options))} must be a "):
                sim.radio.spectrum("p", **options)


def test_coverage_over_hills_equals_the_budgets_of_links() -> None:
    """Terrain, heights and two rays: the grid at the place of a vehicle has the power of its link."""
    with paddock.load(HILLS) as sim:
        assert sim.radio is not None
        shadowed = 0
        for name in ("relays[3]", "relays[12]", "scouts[0]", "sentries[10]"):
            x, y, z = sim.snapshot()[name].position.tolist()
            above = z - float(sim.engine.world.heights(np.array([x]), np.array([y]))[0])
            for station in ("west", "east"):
                budget = sim.radio.link(station, name)
                grid = sim.radio.coverage(of=station, receiver=name, x=x, y=y, size=2.0, side=3, height=above)
                assert grid.power[1, 1] == pytest.approx(budget.received, abs=0.02)
                assert grid.jamming[1, 1] == pytest.approx(budget.jamming, abs=0.1)
                shadowed += budget.diffraction > 6.0
        assert shadowed >= 2  # the ridge is between
