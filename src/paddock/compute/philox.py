"""Counter-based random numbers (Philox 4x32, 10 rounds): a draw is a function of (seed, stream, purpose, tick).

Plain integer code, identical in Python, NumPy, compiled CPU kernels and CUDA: every intermediate is masked to 32
bits, so it does not matter whether a 64-bit product wraps (compiled) or not (Python).
"""

from paddock.compute.math import log, sincos, sqrt

MASK = 0xFFFFFFFF
MULTIPLIER_0 = 0xD2511F53
MULTIPLIER_1 = 0xCD9E8D57
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85
INVERSE_2_53 = 1.1102230246251565e-16
TWO_PI = 6.283185307179586


def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return four random 32-bit words from a 128-bit counter and a 64-bit key, given as 32-bit words."""
    for _ in range(10):
        p0 = MULTIPLIER_0 * c0
        p1 = MULTIPLIER_1 * c2
        h0 = (p0 >> 32) & MASK
        h1 = (p1 >> 32) & MASK
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, p1 & MASK, h0 ^ c3 ^ k1, p0 & MASK
        k0 = (k0 + WEYL_0) & MASK
        k1 = (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


def words(seed: int, stream: int, purpose: int, tick: int) -> tuple[int, int, int, int]:
    """Return four 32-bit words for a purpose (0..65535) of a stream (64-bit name hash) at a tick (below 2**48)."""
    high = ((tick >> 32) & 0xFFFF) | ((purpose & 0xFFFF) << 16)
    return philox(tick & MASK, high, stream & MASK, (stream >> 32) & MASK, seed & MASK, (seed >> 32) & MASK)


def uniforms(seed: int, stream: int, purpose: int, tick: int) -> tuple[float, float]:
    """Return two independent numbers in [0, 1) with 53 random bits each."""
    a, b, c, d = words(seed, stream, purpose, tick)
    return (a * 2097152 + (b >> 11)) * INVERSE_2_53, (c * 2097152 + (d >> 11)) * INVERSE_2_53


def normals(seed: int, stream: int, purpose: int, tick: int) -> tuple[float, float]:
    """Return two independent standard normal numbers (Box-Muller)."""
    u, v = uniforms(seed, stream, purpose, tick)
    radius = sqrt(-2.0 * log(1.0 - u))
    s, c = sincos(TWO_PI * v)
    return radius * c, radius * s


def signed(value: int) -> int:
    """Return a 64-bit number as in compiled code: two's complement in [-2**63, 2**63)."""
    return ((value + (1 << 63)) & 0xFFFFFFFFFFFFFFFF) - (1 << 63)
