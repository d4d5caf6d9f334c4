"""Knife edges and terrain: against Fresnel integrals and the irregular terrain model."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.interpolate import RegularGridInterpolator

from paddock.compute.routine import routine
from paddock.radio.physics import propagation as d
from paddock.world.ground import RELIEF_RATE, RELIEF_X, RELIEF_Y, SLOPE_X

FREQUENCY = 2.4e9
WAVELENGTH = 299_792_458.0 / FREQUENCY
SPACING = 10.0
X, Y = np.meshgrid(np.arange(201) * SPACING - 1000.0, np.arange(201) * SPACING - 1000.0)
terrain_of = routine(d.terrain_db)


def table(slope: float = 0.0) -> np.ndarray:
    made = np.zeros((1, 9))
    made[0, RELIEF_X] = made[0, RELIEF_Y] = -1000.0
    made[0, RELIEF_RATE], made[0, SLOPE_X] = 1.0 / SPACING, slope
    return made


def loss(relief: np.ndarray, a: Any, b: Any, flat: bool = False, slope: float = 0.0, ground_z: float = 0.0) -> float:
    ground = d.TerrainTables(ground_z, table(slope), relief, d.relief_peaks(relief))
    return terrain_of(tuple(map(float, a)), tuple(map(float, b)), FREQUENCY, ground, flat)


def ridge(x: float, height: float) -> np.ndarray:
    """A ridge along y, one sample wide, on ground far below."""
    return np.where(np.abs(X - x) < 1e-6, height, -500.0)


def test_knife_edge_that_touches_the_line_costs_6_db() -> None:
    assert d.knife_edge_db(0.0) == pytest.approx(6.0, abs=0.05)
    assert d.knife_edge_db(-0.78) == d.knife_edge_db(-5.0) == d.knife_edge_db(-1e9) == 0.0
    assert d.knife_edge_db(-0.779) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("v", [-0.7, -0.3, 0.0, 0.5, 1.0, 2.4, 5.0, 10.0])
def test_knife_edge_against_fresnel_integrals(v: float) -> None:
    s, c = special.fresnel(v)
    field = 0.5 * math.hypot(1.0 - c - s, c - s)
    # P.526 states its approximation for v > -0.78; the exact curve oscillates about 0 dB below
    assert d.knife_edge_db(v) == pytest.approx(-20 * math.log10(field), abs=0.35 if v < -0.5 else 0.13)


# itmlogic 1.2 (the irregular terrain model in Python), aknfe(v^2): another approximation of the same integral
@pytest.mark.parametrize(
    ("v", "expected"), [(0.5, 10.257), (1.0, 13.86), (1.5, 16.828), (2.0, 19.16), (3.0, 22.496), (10.0, 32.953)]
)
def test_knife_edge_against_itmlogic(v: float, expected: float) -> None:
    assert d.knife_edge_db(v) == pytest.approx(expected, abs=0.25)


@given(st.floats(-3.0, 50.0), st.floats(0.0, 10.0))
def test_higher_edges_cost_more(v: float, more: float) -> None:
    assert d.knife_edge_db(v + more) >= d.knife_edge_db(v) >= 0.0


def test_edges_beside_the_main_one() -> None:
    j = d.knife_edge_db
    assert d.deygout_db(2.0, -5.0, -5.0) == j(2.0)
    assert d.deygout_db(5.0, 1.0, 0.5) == pytest.approx(
        j(5.0) + (1.0 - math.exp(-j(5.0) / 6.0)) * (j(1.0) + j(0.5)), abs=1e-12
    )
    assert d.deygout_db(-0.9, 3.0, 3.0) == 0.0  # nothing is in the way
    # P.526: with its correction for a path of 25 km
    assert d.deygout_db(5.0, 1.0, 0.5, 11.0) - d.deygout_db(5.0, 1.0, 0.5) == pytest.approx(11.0, abs=0.5)


def test_single_ridge_is_a_knife_edge() -> None:
    for height in (-3.0, 0.0, 12.0, 40.0):
        expected = d.knife_edge_db(height * math.sqrt(2.0 / WAVELENGTH * (1.0 / 400.0 + 1.0 / 600.0)))
        ridge_loss = loss(ridge(100.0, 50.0 + height), (-300.0, 0.0, 50.0), (700.0, 0.0, 50.0))
        assert ridge_loss == pytest.approx(expected, abs=0.01)


def profile_deygout(relief: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """The same construction, written with arrays over the same samples."""
    surface = RegularGridInterpolator((np.arange(201), np.arange(201)), relief)

    def worst(p: np.ndarray, q: np.ndarray) -> tuple[float, np.ndarray]:
        axis = int(np.argmax(np.abs((q - p)[:2])))  # a sample wherever the line crosses the grid along this axis
        lines = np.arange(-1000.0, 1000.1, SPACING)
        t = (lines - p[axis]) / (q - p)[axis]
        t = t[(t > 1e-7) & (t < 1.0 - 1e-7)]
        points = p + t[:, None] * (q - p)
        ground = surface((np.column_stack([points[:, 1], points[:, 0]]) + 1000.0) / SPACING)
        apart = np.linalg.norm(q - p)
        v = (ground - points[:, 2]) * np.sqrt(2.0 / WAVELENGTH * (1.0 / (t * apart) + 1.0 / ((1 - t) * apart)))
        if not len(v):
            return -9.0, p
        k = int(np.argmax(v))
        return float(v[k]), np.array([*points[k, :2], ground[k]])

    def j(v: float) -> float:
        return 6.9 + 20 * math.log10(math.sqrt((v - 0.1) ** 2 + 1) + v - 0.1) if v > -0.78 else 0.0

    main, top = worst(a, b)
    if main <= -0.78:
        return 0.0
    sides = j(worst(a, top)[0]) + j(worst(top, b)[0])
    return j(main) + (1.0 - math.exp(-j(main) / 6.0)) * sides


def test_terrain_against_the_same_construction_with_arrays() -> None:
    random = np.random.default_rng(7)
    relief = 25.0 * np.sin(X / 130.0) * np.cos(Y / 170.0) + 20.0 * np.sin(X / 400.0 + Y / 300.0)
    rows, expected = [], []
    for _ in range(150):
        a, b = random.uniform(-990.0, 990.0, 3), random.uniform(-990.0, 990.0, 3)
        a[2], b[2] = random.uniform(10.0, 50.0, 2)
        rows.append(loss(relief, a, b))
        expected.append(profile_deygout(relief, a, b))
    assert rows == pytest.approx(expected, abs=1e-6)
    assert 30 < np.count_nonzero(rows) < 140


def test_terrain_in_python_is_the_compiled_one() -> None:
    relief = 60.0 * np.exp(-(((X - 100.0) / 150.0) ** 2))
    ground = d.TerrainTables(0.0, table(), relief, d.relief_peaks(relief))
    arguments = (-900.0, 0.0, 10.0), (900.0, 30.0, 10.0), FREQUENCY, ground, False
    assert d.terrain_db(*arguments) == terrain_of(*arguments) > 30.0


@given(st.floats(-900.0, 900.0), st.floats(-900.0, 900.0), st.floats(1.0, 100.0), st.floats(1.0, 100.0))
def test_terrain_is_reciprocal(x: float, y: float, height: float, other: float) -> None:
    relief = 40.0 * np.exp(-((X / 150.0) ** 2) - (Y / 300.0) ** 2)
    there = loss(relief, (x, y, height), (-x + 1.0, 20.0, other))
    assert loss(relief, (-x + 1.0, 20.0, other), (x, y, height)) == pytest.approx(there, abs=1e-6)


def test_level_and_tilted_ground_add_nothing_to_models_that_contain_the_ground() -> None:
    level = np.zeros_like(X)
    for apart in (100.0, 400.0, 1500.0):
        a, b = (-apart / 2, 0.0, 1.5), (apart / 2, 30.0, 1.5)
        assert loss(level, a, b, flat=True) == 0.0
        tilted = (a[0], a[1], 1.5 + 0.2 * a[0] + 7.0), (b[0], b[1], 1.5 + 0.2 * b[0] + 7.0)
        assert loss(level, *tilted, flat=True, slope=0.2, ground_z=7.0) == 0.0
        assert loss(level, *tilted, slope=0.2, ground_z=7.0) == pytest.approx(loss(level, a, b), abs=0.2)
    assert loss(level, (-750.0, 0.0, 1.5), (750.0, 0.0, 1.5)) > 6.0  # the ground itself blocks half of the zone
    hill = 60.0 * np.exp(-((X / 100.0) ** 2))
    assert loss(hill, (-750.0, 0.0, 1.5), (750.0, 0.0, 1.5), flat=True) > 25.0


def test_flat_worlds_and_equal_places_cost_nothing() -> None:
    nothing = np.zeros((1, 1))
    ground = d.TerrainTables(0.0, table(), nothing, nothing)
    assert terrain_of((0.0, 0.0, 1.0), (900.0, 0.0, 1.0), FREQUENCY, ground, False) == 0.0
    assert loss(np.full_like(X, 9.0), (5.0, 5.0, 0.0), (5.0, 5.0, 0.0)) == 0.0
