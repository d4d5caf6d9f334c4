"""Roughness of roads by ISO 8608: a periodic tile of heights with the standard's spectrum along every line.

The displacement spectrum of a road profile is Gd(n) = Gd(n0) (n / n0)^-2 with n0 = 0.1 cycles/m and Gd(n0) by class. An
isotropic surface whose profiles have the spectrum C n^-2 has the two-dimensional spectrum C / 4 k^-3 (its integral over
the wave number across the profile is C / 2 n^-2 on each side). All waves between one per tile and `FINEST` cycles/m
have this spectrum and random phases; the Fourier transform makes the tile of them. Own code, because the results of
NumPy's transform depend on the processor.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import sincos, sqrt
from paddock.compute.philox import TWO_PI, uniforms
from paddock.compute.routine import routine

Floats = NDArray[np.float64]
CLASSES = {name: 16e-6 * 4.0**k for k, name in enumerate("ABCDEFGH")}
"""Gd(n0) in m3: the geometric mean of each class."""
REFERENCE = 0.1  # cycles/m, n0
TILE = 1024  # values per side
CELL = 0.1  # m between values
FINEST = 4.0  # cycles/m
STREAM = 8608  # of the random phases


@lru_cache(maxsize=4)
def rough_tile(name: str, seed: int) -> Floats:
    """Return the heights (TILE, TILE) of a class, in m; the tile repeats without a seam."""
    real, imaginary = np.zeros((TILE, TILE)), np.zeros((TILE, TILE))
    fill_waves(real, imaginary, CLASSES[name] * REFERENCE * REFERENCE, CELL, FINEST, seed)
    for _ in range(2):  # along x, then along y
        transform_rows(real, imaginary)
        real, imaginary = np.ascontiguousarray(real.T), np.ascontiguousarray(imaginary.T)
    real.flags.writeable = False
    return real


def _fill_waves(real: Floats, imaginary: Floats, strength: float, cell: float, finest: float, seed: int) -> None:
    """Set the amplitudes of waves, [k_y, k_x], with the spectrum strength / 4 k^-3 and random phases.

    Of each pair of opposite waves one is set, with both shares: the heights are the real part of the transform. The
    amplitudes allow for what interpolation between the heights takes away.
    """
    size = real.shape[0]
    step = 1.0 / (size * cell)  # cycles/m
    for row in range(size):
        k_y = row if row < size // 2 else row - size
        for k_x in range(size // 2):
            wave = step * sqrt(1.0 * (k_x * k_x + k_y * k_y))
            if (k_x > 0 or k_y > 0) and wave <= finest:
                kept = interpolated(k_x / size) * interpolated(k_y / size)
                amplitude = step * sqrt(strength / (wave * wave * wave)) / kept
                phase, _ = uniforms(seed, STREAM, 0, row * size + k_x)
                sine, cosine = sincos(TWO_PI * phase)
                real[row, k_x], imaginary[row, k_x] = amplitude * cosine, amplitude * sine


def interpolated(frequency: float) -> float:
    """Return the share of a wave (cycles per value) that the Catmull-Rom interpolation keeps (Keys, 1981)."""
    if frequency == 0.0:
        return 1.0
    w = TWO_PI * frequency
    half, one, two = sincos(0.5 * w)[0] / (0.5 * w), sincos(w)[0] / w, sincos(2.0 * w)[0] / (2.0 * w)
    return (12.0 * (half * half - one) - 4.0 * (3.0 * one * one - 2.0 * one - two)) / (w * w)


def _transform_rows(real: Floats, imaginary: Floats) -> None:
    """Replace every row by its inverse Fourier transform without a factor; the length is a power of two."""
    rows, size = real.shape
    for row in range(rows):
        other = 0
        for k in range(1, size):  # reversed bits
            bit = size >> 1
            while other & bit:
                other ^= bit
                bit >>= 1
            other |= bit
            if k < other:
                real[row, k], real[row, other] = real[row, other], real[row, k]
                imaginary[row, k], imaginary[row, other] = imaginary[row, other], imaginary[row, k]
        width = 2
        while width <= size:
            half = width // 2
            for k in range(half):
                sine, cosine = sincos(TWO_PI * k / width)
                for a in range(k, size, width):
                    b = a + half
                    x = cosine * real[row, b] - sine * imaginary[row, b]
                    y = cosine * imaginary[row, b] + sine * real[row, b]
                    real[row, b], imaginary[row, b] = real[row, a] - x, imaginary[row, a] - y
                    real[row, a], imaginary[row, a] = real[row, a] + x, imaginary[row, a] + y
            width *= 2


fill_waves, transform_rows = routine(_fill_waves), routine(_transform_rows)
