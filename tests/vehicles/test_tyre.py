"""Tyre curves, relaxation and the friction ellipse against independent numbers."""

from math import atan, exp, hypot, inf, pi, sin, tan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.vehicles.parts.tyre import (
    axle_friction,
    combined_side_force,
    cosine_of_slip,
    friction,
    magic_formula,
    patch_damping_time,
    relaxed_slip,
)

SALOON = {"b": 8.0, "c": 1.3, "d": 4000.0, "e": -1.0}


def test_slope_at_the_origin_is_b_c_d() -> None:
    assert magic_formula(1e-7, **SALOON) / 1e-7 == pytest.approx(8.0 * 1.3 * 4000.0, rel=1e-6)


def test_curve_equals_the_published_formula_and_is_odd() -> None:
    for slip in (0.01, 0.05, 0.1, 0.3, 1.0):
        bs = 8.0 * slip
        expected = 4000.0 * sin(1.3 * atan(bs + (bs - atan(bs))))
        assert magic_formula(slip, **SALOON) == pytest.approx(expected, rel=1e-14)
        assert magic_formula(-slip, **SALOON) == -magic_formula(slip, **SALOON)


def test_peak_is_d_where_the_sine_peaks() -> None:
    # c atan(phi) = pi/2 gives phi = tan(pi / 2c); with e = 0 the slip of the peak is phi / b
    slip = tan(pi / 2.6) / 8.0
    assert magic_formula(slip, 8.0, 1.3, 4000.0, 0.0) == pytest.approx(4000.0, rel=1e-12)


@pytest.mark.parametrize(("load", "factor"), [(4000.0, 1.0), (8000.0, 0.85), (2000.0, 1.075), (40000.0, 0.3)])
def test_friction_falls_with_load_to_a_floor(load: float, factor: float) -> None:
    assert friction(load, 0.9, 4000.0, 0.15) == pytest.approx(0.9 * factor * load, rel=1e-14)
    assert axle_friction(2.0 * load, 0.9, 4000.0, 0.15) == pytest.approx(2.0 * 0.9 * factor * load, rel=1e-14)


def test_slip_builds_up_exponentially_over_the_relaxation_length() -> None:
    slip, dt, rolling = 0.0, 1e-5, 20.0
    for _ in range(3000):  # 0.6 m: one relaxation length
        slip = relaxed_slip(slip, -0.02 * rolling, rolling, 0.6, dt)
    assert slip == pytest.approx(0.02 * (1.0 - exp(-1.0)), rel=1e-3)


def test_slip_at_standstill_is_the_deflection_over_the_relaxation_length() -> None:
    assert relaxed_slip(0.0, -0.03, 0.0, 0.6, 0.01) == pytest.approx(0.03 * 0.01 / 0.6)
    assert relaxed_slip(0.125, 0.0, 0.0, 0.6, 0.01) == 0.125


def test_patch_damping_ends_where_rolling_damps_enough() -> None:
    stiffness, length = 102.0, 0.6
    enough = 1.4 * (stiffness * length) ** 0.5  # 2 * 0.7 * omega * length
    assert patch_damping_time(0.0, stiffness, length) == pytest.approx(1.4 * (length / stiffness) ** 0.5)
    assert patch_damping_time(1.001 * enough, stiffness, length) == 0.0
    assert patch_damping_time(-1.001 * enough, stiffness, length) == 0.0
    assert patch_damping_time(0.0, 0.0, length) < inf


def test_a_locked_wheel_pushes_against_its_motion() -> None:
    slip, limit = 0.4, 5000.0
    cosine = cosine_of_slip(slip)
    side = combined_side_force(0.95 * limit, -limit * cosine, limit, 1.0, slip, cosine)
    assert hypot(side, limit * cosine) == pytest.approx(limit, rel=1e-12)
    assert side / (limit * cosine) == pytest.approx(slip, rel=1e-12)


def test_half_the_grip_along_leaves_the_root_of_three_quarters() -> None:
    side = combined_side_force(2000.0, 2500.0, 5000.0, 1.0, 0.02, cosine_of_slip(0.02))
    assert side == pytest.approx(2000.0 * 0.75**0.5, rel=1e-14)


@given(
    slip=st.floats(-3.0, 3.0),
    lead=st.floats(-1.0, 1.0),
    wish=st.floats(-1.5, 1.5),
    limit=st.floats(0.0, 1e5),
    peak=st.floats(0.1, 3.0),
    b=st.floats(0.1, 30.0),
    c=st.floats(0.1, 2.0),
    e=st.floats(-10.0, 1.0),
)
def test_combined_force_stays_inside_the_ellipse(
    slip: float, lead: float, wish: float, limit: float, peak: float, b: float, c: float, e: float
) -> None:
    cosine = cosine_of_slip(slip)
    along = max(-1.0, min(1.0, wish)) * limit * cosine
    pure = magic_formula(slip + lead, b, c, peak * limit, e)
    side = combined_side_force(pure, along, limit, peak, slip, cosine)
    assert hypot(along, side / peak) <= limit * (1.0 + 1e-9) + 1e-9
    assert abs(side) <= abs(pure)
    assert side * pure >= 0.0
