"""Antennas: gains by direction, power over the sphere, orientation, polarisation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from paddock.compute.quaternion import rotate
from paddock.compute.routine import routine
from paddock.compute.twin import vectorised
from paddock.errors import PaddockError
from paddock.radio.physics import antennas as a

NO_PATTERN = np.zeros((1, a.PATTERN_ROWS, a.PATTERN_COLUMNS))
ANGLES = st.floats(-math.pi, math.pi)
VECTORS = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: math.hypot(*v) > 0.1)
ATTITUDES = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.1)


def unit(values: tuple[float, ...]) -> tuple[float, ...]:
    size = math.hypot(*values)
    return tuple(x / size for x in values)


def gain(antenna: a.Antenna, direction: tuple[float, ...], patterns: np.ndarray = NO_PATTERN) -> float:
    x, y, z = unit(direction)
    return a.gain_db(*antenna, patterns, x, y, z)


def mean_gain(antenna: a.Antenna, patterns: np.ndarray = NO_PATTERN) -> float:
    """The mean of the gain over the sphere, a ratio: 1 for an antenna without losses."""
    z = np.linspace(-1.0, 1.0, 801)
    u, w = np.meshgrid(0.5 * (z[1:] + z[:-1]), (np.arange(720) + 0.5) * (2 * math.pi / 720))
    level = np.sqrt(1.0 - u**2)
    gains = vectorised(a.gain_db)(*antenna, patterns, level * np.cos(w), level * np.sin(w), u)
    return float(np.mean(10.0 ** (0.1 * gains) + 0.0 * u))


def test_dipole() -> None:
    dipole = a.dipole_antenna()
    assert gain(dipole, (1.0, 0.0, 0.0)) == pytest.approx(2.15, abs=0.005)
    assert gain(dipole, (0.3, -2.0, 0.0)) == pytest.approx(2.15, abs=0.005)
    for angle in (20.0, 45.0, 51.0, 70.0):
        t = math.radians(angle)
        pattern = (math.cos(math.pi / 2 * math.cos(t)) / math.sin(t)) ** 2
        expected = 2.15088 + 10 * math.log10(pattern)
        assert gain(dipole, (math.sin(t), 0.0, math.cos(t))) == pytest.approx(expected, abs=1e-4)
        assert gain(dipole, (math.sin(t), 0.0, -math.cos(t))) == pytest.approx(expected, abs=1e-4)
    half = gain(dipole, (math.sin(math.radians(51.0)), 0.0, math.cos(math.radians(51.0))))
    assert half == pytest.approx(2.15 - 3.0, abs=0.1)  # textbooks: 78 degrees between the points of half power
    assert gain(dipole, (0.0, 0.0, 1.0)) == pytest.approx(2.15 - 60.0, abs=0.01)


def test_sector_is_3_db_down_at_half_its_beam() -> None:
    sector = a.sector_antenna(math.radians(65.0), math.radians(10.0), 17.0)
    assert gain(sector, (1.0, 0.0, 0.0)) == 17.0
    for sign in (-1.0, 1.0):
        beside, above = math.radians(32.5) * sign, math.radians(5.0) * sign
        assert gain(sector, (math.cos(beside), math.sin(beside), 0.0)) == pytest.approx(14.0)
        assert gain(sector, (math.cos(above), 0.0, math.sin(above))) == pytest.approx(14.0)
    assert gain(sector, (-1.0, 0.0, 0.0)) == 17.0 - a.FRONT_TO_BACK


@pytest.mark.parametrize(
    "antenna",
    [a.Antenna(), a.dipole_antenna(), a.sector_antenna(1.2, 0.6), a.sector_antenna(2.0, 2.0)],
    ids=["isotropic", "dipole", "sector", "wide"],
)
def test_antennas_without_losses_radiate_all_their_power(antenna: a.Antenna) -> None:
    assert mean_gain(antenna) == pytest.approx(1.0, abs=2e-3)


@settings(max_examples=6)
@given(st.floats(0.2, 2 * math.pi), st.floats(0.2, math.pi))
def test_sectors_of_any_width_radiate_all_their_power(azimuth: float, elevation: float) -> None:
    assert mean_gain(a.sector_antenna(azimuth, elevation)) == pytest.approx(1.0, abs=5e-3)


def test_sector_of_a_base_station_has_its_usual_gain() -> None:
    # 65 x 7 degrees: panels of this beam are sold with 17 to 18 dBi, losses included
    assert a.sector_antenna(math.radians(65.0), math.radians(7.0)).peak == pytest.approx(18.0, abs=1.0)


def test_pattern_interpolates_and_wraps() -> None:
    azimuth, elevation = np.arange(-180.0, 180.0, 10.0), np.arange(-90.0, 91.0, 10.0)
    gains = elevation[:, None] / 10.0 + np.abs(azimuth)[None] / 20.0
    patterns = a.pattern_table(azimuth, elevation, gains)[None]
    antenna = a.Antenna(a.PATTERN)
    for at, up in ((0.0, 0.0), (33.0, 12.0), (-175.5, -44.0), (179.9, 3.0), (120.0, 88.0)):
        s, t = math.radians(at), math.radians(up)
        value = gain(antenna, (math.cos(t) * math.cos(s), math.cos(t) * math.sin(s), math.sin(t)), patterns)
        assert value == pytest.approx(up / 10.0 + abs(at) / 20.0, abs=1e-9)


def test_pattern_of_a_dipole_equals_the_dipole() -> None:
    azimuth, elevation = np.array([0.0, 90.0, 180.0, 270.0]), np.linspace(-90.0, 90.0, 181)
    t = np.radians(90.0 - elevation)
    with np.errstate(divide="ignore", invalid="ignore"):
        pattern = 20 * np.log10(np.abs(np.cos(np.pi / 2 * np.cos(t)) / np.sin(t)))
    values = np.nan_to_num(2.15088 + pattern, nan=-57.85, neginf=-57.85).clip(-57.85)
    patterns = a.pattern_table(azimuth, elevation, np.repeat(values[:, None], 4, axis=1))[None]
    for up in (0.0, 0.3, 1.0):
        direction = (math.cos(up), 0.0, math.sin(up))
        assert gain(a.Antenna(a.PATTERN), direction, patterns) == pytest.approx(
            gain(a.dipole_antenna(), direction), abs=0.02
        )
    assert mean_gain(a.Antenna(a.PATTERN), patterns) == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize(
    ("azimuth", "elevation", "shape", "message"),
    [
        ([0.0, 90.0], [0.0], (2, 2), r"has \(2, 2\) gains; use one row per elevation"),
        ([90.0, 0.0], [0.0], (1, 2), "azimuths of a pattern must ascend within 360 degrees"),
        ([0.0, 400.0], [0.0], (1, 2), "azimuths of a pattern must ascend within 360 degrees"),
        ([0.0], [0.0, 95.0], (2, 1), "elevations of a pattern must ascend within -90 to 90 degrees"),
    ],
)
def test_bad_patterns(azimuth: list[float], elevation: list[float], shape: tuple[int, int], message: str) -> None:
    with pytest.raises(PaddockError, match=message):
        a.pattern_table(np.array(azimuth), np.array(elevation), np.zeros(shape))


def test_values_of_patterns_must_be_finite() -> None:
    with pytest.raises(PaddockError, match="not finite"):
        a.pattern_table(np.array([0.0]), np.array([0.0]), np.array([[math.nan]]))


def test_bad_beams() -> None:
    with pytest.raises(PaddockError, match="beam of 0 x 1 rad"):
        a.sector_antenna(0.0, 1.0)


def test_mounting_raises_and_turns_the_beam() -> None:
    up = rotate(*a.mounting(0.5 * math.pi, 0.0), 1.0, 0.0, 0.0)
    assert up == pytest.approx((0.0, 0.0, 1.0), abs=1e-12)
    left = rotate(*a.mounting(0.0, 0.5 * math.pi), 1.0, 0.0, 0.0)
    assert left == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)


@given(ATTITUDES, ANGLES, ANGLES, VECTORS)
def test_facing_and_direction_against_scipy(
    attitude: tuple[float, ...], pitch: float, yaw: float, towards: tuple[float, ...]
) -> None:
    attitude = unit(attitude)
    whole = Rotation.from_quat(attitude) * Rotation.from_euler("ZY", [yaw, -pitch])
    facing = a.facing(*attitude, *a.mounting(pitch, yaw))
    expected = whole.inv().apply(unit(towards))
    assert a.direction(*facing, *towards) == pytest.approx(expected, abs=1e-9)


@given(ATTITUDES, ATTITUDES, VECTORS)
def test_gain_does_not_change_if_everything_is_turned(
    attitude: tuple[float, ...], turn: tuple[float, ...], towards: tuple[float, ...]
) -> None:
    attitude, turn = unit(attitude), unit(turn)
    turned = a.facing(*turn, *attitude)
    moved = rotate(*turn, *towards)
    for antenna in (a.dipole_antenna(), a.sector_antenna(1.0, 0.5, 9.0)):
        here = a.gain_db(*antenna, NO_PATTERN, *a.direction(*attitude, *towards))
        there = a.gain_db(*antenna, NO_PATTERN, *a.direction(*turned, *moved))
        assert there == pytest.approx(here, abs=1e-4)


def test_direction_of_a_zero_vector_is_the_middle_of_the_beam() -> None:
    assert a.direction(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0) == (1.0, 0.0, 0.0)


@given(ANGLES, ANGLES)
def test_linear_polarisations_lose_the_square_of_the_cosine(angle: float, other: float) -> None:
    share = a.polarisation_share(*a.polarisation_axis(angle), *a.polarisation_axis(other), 5.0, 0.0, 0.0)
    assert share == pytest.approx(math.cos(angle - other) ** 2, abs=1e-9)
    loss = a.polarisation_loss_db(a.LINEAR, a.LINEAR, share)
    assert loss == pytest.approx(-10 * math.log10(max(math.cos(angle - other) ** 2, 0.003)), abs=1e-4)


def test_circular_polarisations() -> None:
    assert a.polarisation_loss_db(a.RIGHT, a.RIGHT, 0.0) == 0.0
    assert a.polarisation_loss_db(a.LEFT, a.LINEAR, 0.0) == pytest.approx(3.01, abs=0.005)
    assert a.polarisation_loss_db(a.LINEAR, a.RIGHT, 1.0) == pytest.approx(3.01, abs=0.005)
    assert a.polarisation_loss_db(a.LEFT, a.RIGHT, 1.0) == pytest.approx(25.2, abs=0.05)


def test_polarisation_is_seen_along_the_line() -> None:
    up, tilted = (0.0, 0.0, 1.0), (math.sin(0.5), 0.0, math.cos(0.5))
    # tilted along the line: both still look vertical; tilted across it: 0.5 rad between them
    assert a.polarisation_share(*up, *tilted, 7.0, 0.0, 0.0) == pytest.approx(1.0)
    assert a.polarisation_share(*up, *tilted, 0.0, 7.0, 0.0) == pytest.approx(math.cos(0.5) ** 2)
    assert a.polarisation_share(*up, *tilted, 0.0, 0.0, 3.0) == 0.5  # the axis points at the other end
    assert a.polarisation_share(*up, *tilted, 0.0, 0.0, 0.0) == pytest.approx(math.cos(0.5) ** 2)


def test_names_and_compiled_gains() -> None:
    assert a.polarisation_axis(a.POLARISATIONS["horizontal"][1]) == pytest.approx((0.0, 1.0, 0.0), abs=1e-15)
    assert a.polarisation_axis(a.POLARISATIONS["vertical"][1]) == (0.0, 0.0, 1.0)
    fast = routine(a.gain_db)
    for kind in a.KINDS.values():
        arguments = kind, 3.0, 1.0, 0.5, 0, NO_PATTERN, 0.6, 0.48, 0.64
        assert fast(*arguments) == a.gain_db(*arguments)
    losses = vectorised(a.polarisation_loss_db)(np.array([0, 1]), np.array([0, 2]), np.array([0.5, 0.5]))
    assert losses == pytest.approx([3.01, 25.2], abs=0.05)
