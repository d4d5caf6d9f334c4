"""Tyre curves, relaxation and the friction ellipse against independent numbers."""

from math import atan, exp, hypot, inf, pi, sin, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.vehicles.parts.car import Parameters
from paddock.vehicles.parts.tyre import (
    axle_friction,
    brush_peaks,
    brush_tyre,
    combined_side_force,
    cosine_of_slip,
    friction,
    linear_peaks,
    linear_tyre,
    magic_formula,
    magic_peaks,
    magic_tyre,
    patch_damping_time,
    patch_limit,
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


TYRES = {"linear": (linear_tyre, linear_peaks), "magic": (magic_tyre, magic_peaks), "brush": (brush_tyre, brush_peaks)}


@pytest.mark.parametrize("name", TYRES)
def test_every_tyre_starts_with_the_same_stiffness_and_stays_inside_the_ellipse(name: str) -> None:
    tyre, p, load, mu = TYRES[name][0], Parameters(tyre_d_long=0.9, tyre_d_lat=1.2), 6000.0, 0.8
    limit = mu * (1.0 - 0.15 * 0.5) * load
    assert tyre(1e-7, 0.0, load, mu, p).along / 1e-7 == pytest.approx(10.0 * 1.65 * 0.9 * limit, rel=1e-4)
    assert tyre(0.0, 1e-7, load, mu, p).across / 1e-7 == pytest.approx(8.0 * 1.3 * 1.2 * limit, rel=1e-4)
    for kappa in (-1.0, -0.1, 0.0, 0.03, 2.0):
        for slip in (-0.5, 0.0, 0.02, 0.2, 3.0):
            force = tyre(kappa, slip, load, mu, p)
            assert hypot(force.along / 0.9, force.across / 1.2) <= limit * (1.0 + 1e-12)
            assert force.along * kappa >= 0.0
            assert force.across * slip >= 0.0
    assert tyre(0.1, 0.1, 0.0, mu, p) == (0.0, 0.0)


def test_brush_tyre_is_fialas_cubic() -> None:
    p, stiffness, friction_ = Parameters(tyre_load_sensitivity=0.0), 8.0 * 1.3 * 4000.0, 4000.0
    for slip in (0.01, 0.1, 0.25):
        t = stiffness * slip
        expected = t - t * t / (3.0 * friction_) + t**3 / (27.0 * friction_**2)
        assert brush_tyre(0.0, slip, 4000.0, 1.0, p).across == pytest.approx(expected, rel=1e-12)
    assert brush_tyre(0.0, 0.3, 4000.0, 1.0, p).across == pytest.approx(4000.0)


def test_a_locked_wheel_of_any_tyre_pushes_against_its_motion() -> None:
    p = Parameters(tyre_b_long=8.0, tyre_c_long=1.3, tyre_e_long=-1.0)  # as across
    for tyre, _ in TYRES.values():
        force = tyre(-1.0, 0.4, 4000.0, 1.0, p)
        assert force.across / force.along == pytest.approx(-0.4, rel=1e-12)


@pytest.mark.parametrize("load", [2000.0, 4000.0, 7000.0])
@pytest.mark.parametrize("name", TYRES)
def test_peaks_are_where_a_scan_finds_them(name: str, load: float) -> None:
    (tyre, peaks), p = TYRES[name], Parameters()
    peak = peaks(load, 0.9, p)
    slips = np.linspace(1e-4, 1.0, 20000)
    across = np.array([tyre(0.0, float(s), load, 0.9, p).across for s in slips])
    along = np.array([tyre(float(s), 0.0, load, 0.9, p).along for s in slips])
    assert peak.mu == pytest.approx(across.max() / load, rel=1e-6)
    assert tan(peak.alpha) == pytest.approx(slips[np.argmax(across > across.max() * (1.0 - 1e-9))], abs=2e-3)
    assert peak.kappa == pytest.approx(slips[np.argmax(along > along.max() * (1.0 - 1e-9))], abs=2e-3)


def test_a_curve_without_a_maximum_peaks_near_its_asymptote() -> None:
    p = Parameters(tyre_b_lat=9.63, tyre_c_lat=1.39, tyre_d_lat=1.6, tyre_e_lat=1.0, tyre_load_sensitivity=0.0)
    peaks = magic_peaks(436.0, 1.0, p)
    asymptote = 1.6 * sin(1.39 * atan(pi / 2.0))
    assert peaks.mu == pytest.approx(asymptote)
    at_peak = magic_tyre(0.0, tan(peaks.alpha), 436.0, 1.0, p).across / 436.0
    assert at_peak == pytest.approx(0.95 * asymptote, rel=1e-4)


def test_load_moved_across_an_axle_costs_friction() -> None:
    moved = friction(5000.0, 1.0, 4000.0, 0.15) + friction(3000.0, 1.0, 4000.0, 0.15)
    assert axle_friction(8000.0, 1.0, 4000.0, 0.15, 1000.0) == pytest.approx(moved, rel=1e-12)
    assert axle_friction(8000.0, 1.0, 4000.0, 0.15, -1000.0) == pytest.approx(moved, rel=1e-12)


def test_a_patch_at_rest_keeps_only_its_elastic_deflection() -> None:
    assert patch_limit(0.0, 10.0, 1.65) == pytest.approx(1.5 / 16.5)
    assert patch_limit(10.0, 10.0, 1.65) == 3.0
