"""Propagation, antennas and errors against other implementations.

Their values are in `data/other_implementations.json`, with package, version, call and inputs.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from paddock.radio.physics import antennas as a
from paddock.radio.physics import propagation as d
from paddock.radio.physics import propagation as p
from paddock.radio.physics.signal import MODULATIONS, ber

KNOWN: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "other_implementations.json").read_text())
LIGHT = 299_792_458.0


def rows(name: str) -> list[Any]:
    return list(KNOWN[name]["rows"])


def test_free_space_two_ray_and_log_distance_against_ns3() -> None:
    for frequency, distance, expected in rows("free_space"):
        assert p.free_space_db(distance, frequency) == pytest.approx(expected, abs=1e-5)
    for frequency, distance, height, other, expected in rows("two_ray"):
        loss = p.two_ray_db(math.hypot(distance, height - other), frequency, height, other)
        assert loss == pytest.approx(expected, abs=1e-5)
    for exponent, reference, reference_loss, distance, expected in rows("log_distance"):
        frequency = LIGHT / (4.0 * math.pi * reference) * 10.0 ** (reference_loss / 20.0)
        assert p.log_distance_db(distance, frequency, exponent, reference) == pytest.approx(expected, abs=1e-5)


def test_models_of_hata_against_ns3() -> None:
    """Where ns-3 returns less than the loss of free space, ours is that of free space."""
    used = set()
    for city, frequency, distance, base, mobile, expected in rows("hata"):
        model = "okumura_hata" if frequency <= 1500e6 else "cost231_hata"
        length = math.hypot(distance, base - mobile)
        number = p.CITIES[model][city] if model == "okumura_hata" else p.SMALL_CITY  # ns-3 has no suburbs there
        loss = p.loss_db(p.MODELS[model], length, frequency, base, mobile, 2.0, 1.0, number)
        assert loss == pytest.approx(max(expected, p.free_space_db(length, frequency)), abs=0.01)
        used.add((model, city))
    assert len(used) == 6


def test_reflection_against_layers_of_tmm() -> None:
    """tmm has the other sign of time: its imaginary parts have the other sign too."""
    for permittivity, conductivity, frequency, grazing, *parts in rows("reflection"):
        sine = math.sin(math.radians(grazing))
        for vertical, (real, imaginary) in ((False, parts[:2]), (True, parts[2:])):
            coefficient = p.reflection(sine, frequency, permittivity, conductivity, vertical)
            assert coefficient == pytest.approx((real, -imaginary), abs=1e-8)


def test_permittivity_of_the_ground_against_sionna() -> None:
    """Only of grounds that both know; conductivities differ, because those of P.2040 rise with the frequency."""
    for ground, permittivity in rows("ground"):
        assert p.GROUNDS[ground][0] == permittivity


def test_bit_errors_against_komm_and_pyphysim() -> None:
    for order, level, expected in rows("qam"):
        assert ber(MODULATIONS[f"{order}qam"], 10.0 ** (level / 10.0)) == pytest.approx(expected, rel=1e-8)
    for modulation, level, expected in rows("psk"):
        assert ber(MODULATIONS[modulation], 10.0 ** (level / 10.0)) == pytest.approx(expected, rel=1e-8)


def test_sector_against_ns3() -> None:
    """The parabola of 3GPP, up to the attenuation at which each of both levels off."""
    for width, most, azimuth, expected in rows("sector"):
        if -expected < most:
            x, y = math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth))
            sector = a.sector_antenna(math.radians(width), 1.0, 0.0)
            gain = a.gain_db(sector.kind, 0.0, sector.azimuth, sector.elevation, 0, None, x, y, 0.0)
            assert gain == pytest.approx(expected, abs=1e-5)


def parameters(frequency: float, length: float, ridges: list[Any], height: float) -> tuple[float, float, float]:
    """Return v of the main edge, and of those before and after it, over a round earth."""
    radius, wavelength = KNOWN["edges"]["earth_radius_m"], LIGHT / frequency
    tops = [(x, z + x * (length - x) / (2.0 * radius)) for x, z in ridges]
    ends = (0.0, height), (length, height)

    def v(field: Any, top: Any, two: Any) -> float:
        line = field[1] + (two[1] - field[1]) * (top[0] - field[0]) / (two[0] - field[0])
        inverse = 1.0 / (top[0] - field[0]) + 1.0 / (two[0] - top[0])
        return float((top[1] - line) * (2.0 / wavelength * inverse) ** 0.5)

    main = max(tops, key=lambda top: v(ends[0], top, ends[1]))
    before = [v(ends[0], top, main) for top in tops if top[0] < main[0]]
    after = [v(main, top, ends[1]) for top in tops if top[0] > main[0]]
    return v(ends[0], main, ends[1]), max(before, default=-9.0), max(after, default=-9.0)


def test_edges_against_pycraf() -> None:
    """One ridge: the same formula, with the correction of P.452 for long paths. Two: Bullington's edge in their place.

    Bullington replaces all edges by one and corrects it by 10 dB; Deygout adds them up. They agree within 4 dB.
    """
    counts = [0, 0]
    for gigahertz, kilometres, ridges, height, expected in rows("edges"):
        length, edges = 1e3 * kilometres, [(1e3 * x, z) for x, z in ridges]
        main, before, after = parameters(1e9 * gigahertz, length, edges, height)
        if len(ridges) == 1:
            loss = d.deygout_db(main, before, after, 10.0 + 0.02 * kilometres)
            assert loss == pytest.approx(expected, abs=0.005)
        else:
            assert d.deygout_db(main, before, after) == pytest.approx(expected, abs=4.0)
        counts[len(ridges) - 1] += 1
    assert counts == [5, 5]
