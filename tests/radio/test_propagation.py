"""Path loss: check values, worked examples of the literature, ranges, Fresnel coefficients."""

import cmath
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.compute.routine import routine
from paddock.radio.physics import propagation as p

DISTANCES = st.floats(1.0, 1e5)
FREQUENCIES = st.floats(1e8, 6e9)
HEIGHTS = st.floats(0.1, 300.0)
LIGHT = 299_792_458.0


def test_free_space_of_1_km_at_2_4_ghz() -> None:
    assert p.free_space_db(1000.0, 2.4e9) == pytest.approx(100.05, abs=0.005)


def test_free_space_adds_6_db_per_doubling_and_is_never_a_gain() -> None:
    assert p.free_space_db(2000.0, 2.4e9) - p.free_space_db(1000.0, 2.4e9) == pytest.approx(20 * math.log10(2))
    assert p.free_space_db(1000.0, 4.8e9) - p.free_space_db(1000.0, 2.4e9) == pytest.approx(20 * math.log10(2))
    assert p.free_space_db(0.0, 2.4e9) == 0.0


def test_two_ray_at_20_km() -> None:
    assert p.two_ray_db(20_000.0, 2.4e9, 10.0, 10.0) == pytest.approx(132.04, abs=0.005)


def test_two_ray_is_free_space_up_to_the_crossover_and_40_db_per_decade_beyond() -> None:
    crossover = 4 * math.pi * 10.0 * 2.0 / (LIGHT / 2.4e9)
    assert p.crossover(2.4e9, 10.0, 2.0) == pytest.approx(crossover)
    for share in (0.01, 0.5, 0.999):
        assert p.two_ray_db(share * crossover, 2.4e9, 10.0, 2.0) == p.free_space_db(share * crossover, 2.4e9)
    at, far = (p.two_ray_db(k * crossover, 2.4e9, 10.0, 2.0) for k in (1.0, 10.0))
    assert at == pytest.approx(p.free_space_db(crossover, 2.4e9), abs=1e-9)
    assert far - at == pytest.approx(40.0)


def test_log_distance() -> None:
    near = p.free_space_db(10.0, 9e8)
    assert p.log_distance_db(1000.0, 9e8, 3.5, 10.0) == pytest.approx(near + 70.0)
    assert p.log_distance_db(5.0, 9e8, 3.5, 10.0) == p.free_space_db(5.0, 9e8)
    assert p.log_distance_db(700.0, 9e8, 2.0, 1.0) == pytest.approx(p.free_space_db(700.0, 9e8))


# 137.29: an exercise of mobile radio courses (urban, 900 MHz, 100 m and 2 m, 4 km, large city); 126.4 + 35.2 log d:
# Hata for 900 MHz, 30 m and 1.5 m; its suburban and open corrections at 900 MHz are 9.9 and 28.5 dB
@pytest.mark.parametrize(
    ("distance", "frequency", "base", "mobile", "city", "expected"),
    [
        (4_000.0, 900e6, 100.0, 2.0, p.LARGE_CITY, 137.29),
        (1_000.0, 900e6, 30.0, 1.5, p.SMALL_CITY, 126.4),
        (10_000.0, 900e6, 30.0, 1.5, p.SMALL_CITY, 126.4 + 35.22),
        (1_000.0, 900e6, 30.0, 1.5, p.SUBURBAN, 126.4 - 9.94),
        (1_000.0, 900e6, 30.0, 1.5, p.OPEN, 126.4 - 28.5),
    ],
)
def test_okumura_hata(
    distance: float, frequency: float, base: float, mobile: float, city: int, expected: float
) -> None:
    assert p.okumura_hata_db(distance, frequency, base, mobile, city) == pytest.approx(expected, abs=0.05)
    assert p.okumura_hata_db(distance, frequency, mobile, base, city) == pytest.approx(expected, abs=0.05)


def test_large_cities_of_hata_at_both_frequencies() -> None:
    # Hata's a(hm) of a large city for hm = 3 m: 2.69 dB at 400 MHz and above, 2.55 dB at 200 MHz and below
    for frequency, gain in ((450e6, 3.2 * math.log10(35.25) ** 2 - 4.97), (200e6, 8.29 * math.log10(4.62) ** 2 - 1.1)):
        small = p.mobile_gain_db(math.log10(frequency / 1e6), 3.0)
        losses = [p.okumura_hata_db(5e3, frequency, 50.0, 3.0, city) for city in (p.LARGE_CITY, p.SMALL_CITY)]
        assert losses[0] - losses[1] == pytest.approx(small - gain)


# Holma and Toskala, WCDMA for UMTS, 2000: 137.4 + 35.2 log d at 1950 MHz, 30 m and 1.5 m; 136.2 at 1800 MHz
@pytest.mark.parametrize(
    ("distance", "frequency", "city", "expected"),
    [
        (1_000.0, 1.95e9, p.SMALL_CITY, 137.4),
        (2_000.0, 1.95e9, p.SMALL_CITY, 137.4 + 35.22 * math.log10(2.0)),
        (1_000.0, 1.8e9, p.SMALL_CITY, 136.2),
        (1_000.0, 1.8e9, p.LARGE_CITY, 139.2),
    ],
)
def test_cost231_hata(distance: float, frequency: float, city: int, expected: float) -> None:
    assert p.cost231_hata_db(distance, frequency, 30.0, 1.5, city) == pytest.approx(expected, abs=0.05)


def test_models_of_hata_meet_at_1500_mhz() -> None:
    low = p.okumura_hata_db(5e3, 1.5e9, 30.0, 1.5, p.SMALL_CITY)
    assert p.cost231_hata_db(5e3, 1.5e9, 30.0, 1.5, p.SMALL_CITY) == pytest.approx(low, abs=1.4)


@given(DISTANCES, st.floats(1.0, 10.0), FREQUENCIES, HEIGHTS, HEIGHTS, st.sampled_from(list(p.MODELS.values())[:5]))
def test_loss_grows_with_distance_and_is_reciprocal(
    distance: float, factor: float, frequency: float, height: float, other: float, model: int
) -> None:
    for city in range(4):
        near = p.loss_db(model, distance, frequency, height, other, 2.7, 1.0, city)
        far = p.loss_db(model, distance * factor, frequency, height, other, 2.7, 1.0, city)
        assert far >= near - 1e-9
        assert p.loss_db(model, distance, frequency, other, height, 2.7, 1.0, city) == pytest.approx(near, abs=1e-12)
        assert near >= p.free_space_db(distance, frequency) - 1e-9


def test_every_model_is_compiled_to_the_same_bits() -> None:
    fast = routine(p.loss_db)
    for model in p.MODELS.values():
        for distance in (0.5, 300.0, 4_000.0, 50_000.0):
            for city in range(4):
                arguments = model, distance, 9e8, 35.0, 1.5, 3.1, 2.0, city
                assert fast(*arguments) == p.loss_db(*arguments)


def test_ranges_are_reported() -> None:
    inside = 5e3, 9e8, 30.0, 1.5
    assert p.outside(p.OKUMURA_HATA, *inside) == 0
    assert p.outside(p.OKUMURA_HATA, 500.0, 2.4e9, 300.0, 0.5) == 15
    assert p.outside(p.OKUMURA_HATA, 5e3, 9e8, 1.5, 12.0) == p.OUTSIDE_BASE  # the base is the higher end
    assert p.outside(p.COST231_HATA, *inside) == p.OUTSIDE_FREQUENCY
    assert p.outside(p.TWO_RAY, 5e3, 9e8, 2.0, 0.0) == p.OUTSIDE_MOBILE
    assert p.outside(p.FREE_SPACE, 1.0, 1.0, 0.0, 0.0) == 0


@pytest.mark.parametrize("name", p.MODELS)
def test_ranges_agree_with_the_table(name: str) -> None:
    valid = p.VALIDITY[name]
    model = p.MODELS[name]
    low = valid.distance[0], valid.frequency[0], valid.base[0], valid.mobile[0]
    high = valid.distance[1], valid.frequency[1], valid.base[1], valid.mobile[1]
    assert p.outside(model, *low) == p.outside(model, *high) == 0
    just = [max(x - 1e-3 * abs(x), 0.0) for x in low]
    expected = p.OUTSIDE_DISTANCE * (just[0] < low[0]) + p.OUTSIDE_FREQUENCY * (just[1] < low[1])
    expected += p.OUTSIDE_BASE * (just[2] < low[2]) + p.OUTSIDE_MOBILE * (just[3] < low[3])
    assert p.outside(model, *just) == expected


def fresnel(sine: float, frequency: float, permittivity: float, conductivity: float, vertical: bool) -> complex:
    """The coefficients of textbooks, in complex arithmetic."""
    epsilon = permittivity - 1j * conductivity / (2 * math.pi * frequency * 8.8541878128e-12)
    root = cmath.sqrt(epsilon - (1 - sine**2))
    return (epsilon * sine - root) / (epsilon * sine + root) if vertical else (sine - root) / (sine + root)


@given(st.floats(1e-4, 1.0), FREQUENCIES, st.floats(1.5, 81.0), st.floats(0.0, 5.0), st.booleans())
def test_reflection(sine: float, frequency: float, permittivity: float, conductivity: float, vertical: bool) -> None:
    expected = fresnel(sine, frequency, permittivity, conductivity, vertical)
    coefficient = complex(*p.reflection(sine, frequency, permittivity, conductivity, vertical))
    assert coefficient == pytest.approx(expected, abs=1e-12)
    assert abs(coefficient) <= 1.0 + 1e-12


def test_reflection_at_special_angles() -> None:
    for vertical in (False, True):
        assert complex(*p.reflection(1e-9, 1e9, 15.0, 0.001, vertical)) == pytest.approx(-1.0, abs=1e-6)  # grazing
    normal = (math.sqrt(9.0) - 1.0) / (math.sqrt(9.0) + 1.0)
    assert p.reflection(1.0, 1e9, 9.0, 0.0, True) == pytest.approx((normal, 0.0))
    assert p.reflection(1.0, 1e9, 9.0, 0.0, False) == pytest.approx((-normal, 0.0))
    brewster = math.sin(math.atan(1.0 / 3.0))  # of a medium without loss: nothing is reflected
    assert p.reflection(brewster, 1e9, 9.0, 0.0, True) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_ground_reflection_tends_to_the_two_ray_model_far_away() -> None:
    for distance in (1e5, 1e6):
        exact = p.ground_reflection_db(distance, 9e8, 10.0, 5.0, 15.0, 0.001, False)
        assert exact == pytest.approx(p.two_ray_db(distance, 9e8, 10.0, 5.0), abs=0.05)


@given(st.floats(5.0, 1e4), FREQUENCIES, st.floats(0.5, 50.0), st.floats(0.5, 50.0), st.booleans())
def test_ground_reflection_is_the_sum_of_both_rays(
    distance: float, frequency: float, height: float, other: float, vertical: bool
) -> None:
    k = 2 * math.pi * frequency / LIGHT
    direct, bounced = math.hypot(distance, height - other), math.hypot(distance, height + other)
    gamma = fresnel((height + other) / bounced, frequency, 15.0, 0.01, vertical)
    field = cmath.exp(-1j * k * direct) / direct + gamma * cmath.exp(-1j * k * bounced) / bounced
    expected = -20 * math.log10(abs(field) / (2 * k))
    loss = p.ground_reflection_db(distance, frequency, height, other, 15.0, 0.01, vertical)
    assert loss == pytest.approx(expected, abs=1e-3)
    assert loss >= p.free_space_db(direct, frequency) - 6.03
