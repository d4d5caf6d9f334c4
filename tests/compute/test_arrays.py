"""Functions of arrays: the bits of the scalar functions, whatever NumPy's own are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paddock.compute import arrays
from paddock.compute import math as scalar

ANGLES = np.linspace(-40.0, 40.0, 4001)


def test_they_have_the_bits_of_the_scalar_functions() -> None:
    assert arrays.sin(ANGLES).tolist() == [scalar.sin(angle) for angle in ANGLES.tolist()]
    assert arrays.cos(ANGLES).tolist() == [scalar.cos(angle) for angle in ANGLES.tolist()]
    turned = arrays.arctan2(ANGLES, ANGLES[::-1] + 0.3)
    assert turned.tolist() == [scalar.atan2(y, x) for y, x in zip(ANGLES, ANGLES[::-1] + 0.3, strict=True)]
    np.testing.assert_allclose(arrays.sin(ANGLES), [math.sin(angle) for angle in ANGLES], atol=3e-16)
    assert arrays.norm([2.0, 3.0, 6.0]) == 7.0


def test_gauss_quadrature_is_exact_for_polynomials() -> None:
    for count in (8, 24):
        nodes, weights = arrays.gauss_legendre(count)
        np.testing.assert_allclose(nodes, np.polynomial.legendre.leggauss(count)[0], rtol=0, atol=1e-15)
        for power in range(0, 2 * count, 2):  # the integral of x**power from -1 to 1
            assert (weights * nodes**power).sum() == pytest.approx(2.0 / (power + 1), rel=1e-13)
