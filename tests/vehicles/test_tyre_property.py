"""Tyres of property files against the formulas of the literature, written out here a second time."""

from __future__ import annotations

from math import atan, cos, exp, isclose, sin
from pathlib import Path

import numpy as np
import pytest

from paddock.compute.twin import vectorised
from paddock.vehicles.parts.car import Parameters
from paddock.vehicles.parts.tyre_property import (
    coefficients_of,
    property_forces,
    relaxation_lengths,
    tyre_of_text,
)
from paddock.wire.tir import parse_tir, read_tir

FILE = Path(__file__).parents[1] / "support" / "tyres" / "touring_61.tir"


def book_side_force(file: dict[str, float], fz: float, angle: float, camber: float) -> float:
    """The lateral force of MF 6.1 for pure slip (Pacejka, Tire and Vehicle Dynamics, 3rd edition, 4.E19 to 4.E30)."""
    g = dict.fromkeys(("PDY3", "PEY5", "PKY5", "PHY2", "PVY2", "PVY3", "PVY4"), 0.0) | file
    fz0 = 4000.0
    dfz = (fz - fz0) / fz0
    k_alpha = g["PKY1"] * fz0 * sin(g["PKY4"] * atan(fz / ((g["PKY2"] + g["PKY5"] * camber**2) * fz0)))
    k_alpha *= 1.0 - g["PKY3"] * abs(camber)
    sv_camber = fz * (g["PVY3"] + g["PVY4"] * dfz) * camber
    k_camber = fz * (g["PKY6"] + g["PKY7"] * dfz)
    sh = g["PHY1"] + g["PHY2"] * dfz + (k_camber * camber - sv_camber) / k_alpha
    a = angle + sh
    mu = (g["PDY1"] + g["PDY2"] * dfz) * (1.0 - g["PDY3"] * camber**2)
    c, d = g["PCY1"], mu * fz
    e = (g["PEY1"] + g["PEY2"] * dfz) * (1.0 + g["PEY5"] * camber**2 - (g["PEY3"] + g["PEY4"] * camber) * np.sign(a))
    b = k_alpha / (c * d)
    x = b * a
    sv = fz * (g["PVY1"] + g["PVY2"] * dfz) + sv_camber
    return float(d * sin(c * atan(x - min(e, 1.0) * (x - atan(x)))) + sv)


def book_drive_force(g: dict[str, float], fz: float, kappa: float) -> float:
    """The longitudinal force of MF 6.1 for pure slip (4.E9 to 4.E18)."""
    dfz = (fz - 4000.0) / 4000.0
    k = kappa + g["PHX1"]
    c, d = g["PCX1"], (g["PDX1"] + g["PDX2"] * dfz) * fz
    e = (g["PEX1"] + g["PEX2"] * dfz) * (1.0 - g["PEX4"] * np.sign(k))
    b = fz * (g["PKX1"] + g["PKX2"] * dfz) * exp(g["PKX3"] * dfz) / (c * d)
    return float(d * sin(c * atan(b * k - e * (b * k - atan(b * k)))) + fz * g["PVX1"])


def numbers(section: str) -> dict[str, float]:
    return dict(read_tir(FILE).numbers[section])


@pytest.mark.parametrize("load", [1500.0, 4000.0, 7000.0])
def test_pure_slip_equals_the_book(load: float) -> None:
    k, lateral, long = (
        coefficients_of(read_tir(FILE)),
        numbers("LATERAL_COEFFICIENTS"),
        numbers("LONGITUDINAL_COEFFICIENTS"),
    )
    no_combined = k._replace(rbx1=0.0, rby1=0.0, rvy1=0.0)
    for slip in np.linspace(-0.3, 0.3, 13).tolist():
        for camber in (0.0, 0.06):
            force = property_forces(0.0, slip, load, camber, 1.0, no_combined)
            assert isclose(force.across, book_side_force(lateral, load, slip, camber), rel_tol=1e-12, abs_tol=1e-9)
        force = property_forces(slip, 0.0, load, 0.0, 1.0, no_combined)
        assert isclose(force.along, book_drive_force(long, load, slip), rel_tol=1e-12, abs_tol=1e-9)


def test_combined_slip_weights_the_pure_forces() -> None:
    """4.E50 to 4.E67, at the nominal load."""
    k, g = coefficients_of(read_tir(FILE)), numbers("LONGITUDINAL_COEFFICIENTS") | numbers("LATERAL_COEFFICIENTS")

    def weight(slip: float, shift: float, b: float, c: float, e: float) -> float:
        def curve(x: float) -> float:
            return cos(c * atan(b * x - e * (b * x - atan(b * x))))

        return curve(slip + shift) / curve(shift)

    for kappa, angle in ((0.08, -0.05), (-0.12, 0.09), (0.02, 0.1)):
        along = weight(angle, g["RHX1"], g["RBX1"] * cos(atan(g["RBX2"] * kappa)), g["RCX1"], g["REX1"])
        across = weight(kappa, g["RHY1"], g["RBY1"] * cos(atan(g["RBY2"] * (angle - g["RBY3"]))), g["RCY1"], g["REY1"])
        induced = (
            g["PDY1"] * 4000.0 * g["RVY1"] * cos(atan(g["RVY4"] * angle)) * sin(g["RVY5"] * atan(g["RVY6"] * kappa))
        )
        force = property_forces(kappa, angle, 4000.0, 0.0, 1.0, k)
        assert isclose(force.along, along * book_drive_force(g, 4000.0, kappa), rel_tol=1e-12)
        assert isclose(force.across, across * book_side_force(g, 4000.0, angle, 0.0) + induced, rel_tol=1e-12)


def test_a_file_of_version_5_2_has_the_stiffness_of_its_formula() -> None:
    """PKY1 Fz0 sin(2 atan(Fz / (PKY2 Fz0))), whatever PKY4 says; relaxation PTX1 R0 and PTY1 sin(2 atan(1/PTY2)) R0."""
    text = FILE.read_text().replace("FITTYP = 61", "FITTYP = 52")
    text = text.replace("[LATERAL_COEFFICIENTS]", "PTX1 = 2.3\n[LATERAL_COEFFICIENTS]\nPTY1 = 2.1\nPTY2 = 2.0")
    file = parse_tir(text, "a")
    k = coefficients_of(file, symmetric=True)
    force = property_forces(0.0, 1e-6, 3000.0, 0.0, 1.0, k).across
    assert force / 1e-6 == pytest.approx(-15.324 * 4000.0 * sin(2.0 * atan(0.75 / 1.715)), rel=1e-6)
    assert relaxation_lengths(file, k) == pytest.approx((2.3 * 0.3135, 2.1 * sin(2.0 * atan(0.5)) * 0.3135))


def test_scaling_factors_and_pressure() -> None:
    half = coefficients_of(parse_tir(FILE.read_text().replace("LMUY = 1", "LMUY = 0.5"), "a"), symmetric=True)
    whole = coefficients_of(read_tir(FILE), symmetric=True)
    limit = [
        max(property_forces(0.0, -a, 4000.0, 0.0, 1.0, k).across for a in (0.1, 0.15, 0.2, 0.3)) for k in (half, whole)
    ]
    assert limit[0] == pytest.approx(0.5 * 0.8785 * 4000.0, rel=0.01)
    assert limit[1] == pytest.approx(0.8785 * 4000.0, rel=0.01)
    text = FILE.read_text().replace("INFLPRES = 220000", "INFLPRES = 242000")
    text = text.replace("PKX3 = -0.4098", "PKX3 = -0.4098\nPPX1 = -0.3485\nPPX2 = 0.37824")
    pumped = coefficients_of(parse_tir(text, "a"))
    assert pumped.pkx1 / whole.pkx1 == pytest.approx(1.0 - 0.03485 + 0.0037824)


def test_the_tyre_of_a_car_pushes_left_for_a_positive_slip_and_is_symmetric() -> None:
    fitting = tyre_of_text(FILE.read_text(), str(FILE))
    tyre, peaks = fitting.functions.values()
    p = Parameters(**fitting.parameters)
    left = tyre(0.0, 0.05, 4000.0, p.tyre_mu, p)
    assert left.across == pytest.approx(2346.0, rel=1e-3)  # without shifts: D sin(C atan(...)) by hand
    assert tyre(0.0, -0.05, 4000.0, p.tyre_mu, p).across == -left.across
    assert tyre(0.0, 0.05, 4000.0, 0.5 * p.tyre_mu, p).across < left.across
    slips = np.linspace(0.01, 0.5, 500)
    forces = vectorised(property_forces)(0.0 * slips, -slips, 5000.0 + 0.0 * slips, 0.0 * slips, 1.0 + 0.0 * slips,
        coefficients_of(read_tir(FILE), symmetric=True)).across  # fmt: skip
    peak = peaks(5000.0, p.tyre_mu, p)
    assert peak.alpha == pytest.approx(slips[forces.argmax()], abs=2e-3)
    assert peak.mu == pytest.approx(forces.max() / 5000.0, rel=1e-4)
    assert p.relaxation_lateral == pytest.approx(0.52, abs=0.01)
