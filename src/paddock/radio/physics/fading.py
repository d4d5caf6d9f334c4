"""Shadowing and small-scale fading as fields: functions of the seed and of where both ends are, without state.

A field is a sum of plane waves. Its wave vectors and phases are random draws; moving either end through it gives the
right correlation, so that speed gives the right Doppler spread, and exchanging the ends changes nothing.

Fading: every radio has its own WAVES waves (`draw_waves`). At a place they are `phasors`, and the diffuse part of a
link is the sum of the products of both ends' phasors: its autocorrelation over a displacement d of one end in the
plane is J0(2 pi d / lambda), and the product of both if both ends move (Akki and Haber, 1986).

Shadowing: all radios share one field of SHADOW_WAVES wave vectors with the distribution of Cauchy, whose correlation is
exp(-d / distance) in space (`shadow_waves`, `shadow_phasors`). Receivers beside each other lose the same.

Kernels keep the waves and phasors of all radios. They call `diffuse` and `shadow_sum` for every link, each in its own
loop, then `rician_gain_db` and `shadow_db` in a loop that vectorises: about 70 ns per link together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import PI, atan, exp, log, maximum, minimum, select, sincos, sqrt
from paddock.compute.philox import uniforms
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.physics.signal import DECIBELS, expm1, power_ratio

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NONE, RAYLEIGH, RICIAN, NAKAGAMI = range(4)
FADINGS = {"none": NONE, "rayleigh": RAYLEIGH, "rician": RICIAN, "nakagami": NAKAGAMI}
WAVES = 16  # of a radio's fading
SHADOW_WAVES, SHADOW_HALF = 32, 16  # wave vectors of shadowing, in pairs
SHADOW_GAIN = 3.0  # standard deviations that shadowing gains at most: all waves in phase would be 8
DEEPEST = 1e-8  # fading does not go below -80 dB
NAKAGAMI_LEAST, NAKAGAMI_MOST = 0.5, 50.0
STEEPEST = 0.25  # vertical part of a wave vector relative to its horizontal one: waves arrive within 14 degrees
TURN, ORDER, PHASE, SHADOW_LENGTH, SHADOW_TURN = range(50_000, 50_005)  # purposes of draws


def draw_waves(seed: int, stream: int, waves: Any, i: int) -> None:
    """Draw the waves of radio `i` into (n, 4, WAVES): directions x, y, z and phase (rad).

    One direction in each of WAVES equal sectors of the horizon, in random order. The horizontal part has the length 1,
    so that the horizontal correlation is exactly that of waves in the plane.
    """
    for n in range(WAVES):
        turn, rise = uniforms(seed, stream, TURN, n)
        phase, _ = uniforms(seed, stream, PHASE, n)
        s, c = sincos(2.0 * PI * (n + turn) / WAVES)
        waves[i, 0, n], waves[i, 1, n] = c, s
        waves[i, 2, n], waves[i, 3, n] = STEEPEST * (2.0 * rise - 1.0), 2.0 * PI * phase
    for n in range(WAVES - 1, 0, -1):
        other = int(uniforms(seed, stream, ORDER, n)[0] * (n + 1))
        for k in range(3):
            kept = waves[i, k, n]
            waves[i, k, n] = waves[i, k, other]
            waves[i, k, other] = kept


def set_phasors(waves: Any, phasors: Any, i: int, x: float, y: float, z: float, wave_number: float) -> None:
    """Set the phasors (n, 2, WAVES) of radio `i` at a place (m); `wave_number` is 2 pi / lambda (rad/m)."""
    for n in range(WAVES):
        path = waves[i, 0, n] * x + waves[i, 1, n] * y + waves[i, 2, n] * z
        s, c = sincos(wave_number * path + waves[i, 3, n])
        phasors[i, 0, n], phasors[i, 1, n] = c, s


def diffuse(phasors: Any, a: int, b: int) -> tuple[float, float]:
    """Return the diffuse field between radios `a` and `b`, a complex number of mean power 1."""
    re0, im0 = 0.0, 0.0
    re1, re2, re3, im1, im2, im3 = re0, re0, re0, im0, im0, im0
    for n in range(0, WAVES, 4):  # four sums that need not wait for each other
        re0 += phasors[a, 0, n] * phasors[b, 0, n] - phasors[a, 1, n] * phasors[b, 1, n]
        re1 += phasors[a, 0, n + 1] * phasors[b, 0, n + 1] - phasors[a, 1, n + 1] * phasors[b, 1, n + 1]
        re2 += phasors[a, 0, n + 2] * phasors[b, 0, n + 2] - phasors[a, 1, n + 2] * phasors[b, 1, n + 2]
        re3 += phasors[a, 0, n + 3] * phasors[b, 0, n + 3] - phasors[a, 1, n + 3] * phasors[b, 1, n + 3]
        im0 += phasors[a, 0, n] * phasors[b, 1, n] + phasors[a, 1, n] * phasors[b, 0, n]
        im1 += phasors[a, 0, n + 1] * phasors[b, 1, n + 1] + phasors[a, 1, n + 1] * phasors[b, 0, n + 1]
        im2 += phasors[a, 0, n + 2] * phasors[b, 1, n + 2] + phasors[a, 1, n + 2] * phasors[b, 0, n + 2]
        im3 += phasors[a, 0, n + 3] * phasors[b, 1, n + 3] + phasors[a, 1, n + 3] * phasors[b, 0, n + 3]
    scale = 1.0 / sqrt(1.0 * WAVES)
    return scale * ((re0 + re1) + (re2 + re3)), scale * ((im0 + im1) + (im2 + im3))


def fading_gain_db(kind: int, parameter: float, path: float, re: float, im: float) -> float:
    """Return the gain (dB) of one of FADINGS from the diffuse field (re, im); its mean power is 1.

    `parameter` is K (dB) of RICIAN, the power of the direct path over the diffuse one, or m of NAKAGAMI; `path` is
    the length of the direct path x wave number (rad).
    """
    if kind == RICIAN:
        return rician_gain_db(power_ratio(parameter), path, re, im)
    if kind == NAKAGAMI:
        return DECIBELS * log(maximum(nakagami_power(re * re + im * im, parameter), DEEPEST))
    return 0.0 if kind == NONE else rician_gain_db(0.0, path, re, im)


def rician_gain_db(k: float, path: float, re: float, im: float) -> float:
    """Return the gain (dB) of a direct path with the power k relative to the diffuse field; k = 0 is Rayleigh fading.

    Without branches: loops over links vectorise.
    """
    s, c = sincos(path)
    share = 1.0 / (k + 1.0)
    direct, spread = sqrt(k * share), sqrt(share)
    real, imaginary = direct * c + spread * re, spread * im - direct * s
    return DECIBELS * log(maximum(real * real + imaginary * imaginary, DEEPEST))


def nakagami_power(rayleigh: float, m: float) -> float:
    """Return the power with a Nakagami distribution that is as probable as a power with Rayleigh's, both of mean 1.

    The power is gamma-distributed with shape m: its distribution function P(m, m x) is set equal to 1 - exp(-p).
    """
    m = minimum(maximum(m, NAKAGAMI_LEAST), NAKAGAMI_MOST)
    p = minimum(maximum(rayleigh, 1e-12), 30.0)
    scale = log_gamma(m + 1.0)
    below = log(-expm1(-p))  # logarithms of both probabilities: each is exact where it is small
    small = p < 0.6931471805599453
    # starts from the bound P < x^m / gamma(m + 1) of the lower tail, or from the cubes of Wilson and Hilferty
    normal = _normal_score(p)
    cube = maximum(1.0 - 1.0 / (9.0 * m) + normal / (3.0 * sqrt(m)), 0.0)
    t = log(maximum(m * cube * cube * cube, exp(maximum((below + scale) / m, -600.0))))
    for _ in range(8):
        x = exp(t)
        term, total, n = 1.0, 1.0, m
        while term > 1e-17 * total:
            n += 1.0
            term *= x / n
            total += term
        share = minimum(exp(m * t - x - scale) * total, 1.0 - 1e-15)
        slope = m * exp(m * t - x - scale)  # of the share over t
        rest = 1.0 - share
        change = (log(share) - below) * share / slope if small else -(log(rest) + p) * rest / slope
        change = minimum(maximum(change, -1.0), 1.0)
        t -= change
        if -1e-5 < change < 1e-5:  # convergence is quadratic
            break
    return exp(t) / m


def _normal_score(p: float) -> float:
    """Return about the normal number whose probability to be exceeded is exp(-p) (Hastings' 26.2.23)."""
    upper = p > 0.6931471805599453
    tail = select(upper, p, -log(maximum(-expm1(-p), 1e-300)))
    u = sqrt(2.0 * tail)
    above = 2.515517 + u * (0.802853 + u * 0.010328)
    score = u - above / (1.0 + u * (1.432788 + u * (0.189269 + u * 0.001308)))
    return select(upper, score, -score)


def log_gamma(x: float) -> float:
    """Return the logarithm of the gamma function for x >= 1; relative error below 1e-14."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    z = 1.0 / (x * x)
    series = 0.0007936507936507937 - z * (0.0005952380952380953 - z * 0.0008417508417508417)
    series = (0.08333333333333333 - z * (0.002777777777777778 - z * series)) / x
    return (x - 0.5) * log(x) - x + 0.9189385332046727 + series - log(product)


def draw_shadow_waves(seed: int, stream: int, waves: Any) -> None:
    """Fill the waves (4, SHADOW_WAVES) of a field of shadowing for a distance of 1 m: wave vectors (rad/m) and phases.

    Wave vectors with the density of Cauchy in space give the correlation exp(-d). Their lengths and directions are
    spread evenly, so that every field has nearly this correlation. The phases of the second half are 0: waves work in
    pairs.
    """
    turn, _ = uniforms(seed, stream, SHADOW_TURN, SHADOW_WAVES)
    for n in range(SHADOW_WAVES):
        u, v = uniforms(seed, stream, SHADOW_LENGTH, n)
        w, phase = uniforms(seed, stream, SHADOW_TURN, n)
        place = (n * 27) % SHADOW_WAVES  # in another order than the directions
        size = _cauchy_length((place + u) / SHADOW_WAVES)
        up = 2.0 * (n + v) / SHADOW_WAVES - 1.0
        level = sqrt(maximum(1.0 - up * up, 0.0))
        s, c = sincos(2.0 * PI * (0.6180339887498949 * n + turn + 0.1 * w))
        waves[0, n], waves[1, n], waves[2, n] = size * level * c, size * level * s, size * up
        waves[3, n] = 2.0 * PI * phase if n < SHADOW_HALF else 0.0


def _cauchy_length(u: float) -> float:
    """Return the length of a Cauchy vector in space that is exceeded with the probability 1 - u; at most 1000."""
    low, high = 0.0, 1000.0
    for _ in range(40):
        r = 0.5 * (low + high)
        if 2.0 / PI * (atan(r) - r / (1.0 + r * r)) < u:
            low = r
        else:
            high = r
    return high


def set_shadow_phasors(waves: Any, phasors: Any, i: int, x: float, y: float, z: float, distance: float) -> None:
    """Set the phasors (n, 2, SHADOW_WAVES) of radio `i` at a place (m) in a field with a correlation distance (m)."""
    rate = 1.0 / distance
    for n in range(SHADOW_WAVES):
        path = waves[0, n] * x + waves[1, n] * y + waves[2, n] * z
        s, c = sincos(rate * path + waves[3, n])
        phasors[i, 0, n], phasors[i, 1, n] = c, s


def shadow_sum(phasors: Any, a: int, b: int) -> float:
    """Return the sum of a field of shadowing between radios `a` and `b`, for `shadow_db`."""
    sum0 = 0.0
    sum1, sum2, sum3 = sum0, sum0, sum0
    for n in range(0, SHADOW_HALF, 2):
        m = n + SHADOW_HALF
        sum0 += phasors[a, 0, n] * phasors[b, 0, m] - phasors[a, 1, n] * phasors[b, 1, m]
        sum1 += phasors[a, 0, m] * phasors[b, 0, n] - phasors[a, 1, m] * phasors[b, 1, n]
        sum2 += phasors[a, 0, n + 1] * phasors[b, 0, m + 1] - phasors[a, 1, n + 1] * phasors[b, 1, m + 1]
        sum3 += phasors[a, 0, m + 1] * phasors[b, 0, n + 1] - phasors[a, 1, m + 1] * phasors[b, 1, n + 1]
    return (sum0 + sum1) + (sum2 + sum3)


def shadow_db(total: float, apart: float, sigma: float, distance: float) -> float:
    """Return the shadowing (dB, mean 0, standard deviation sigma) of a sum between ends at a distance `apart` (m).

    The two halves of the sum are alike where the ends are nearer to each other than the correlation distance (m). Gains
    are limited, so that there is a distance beyond which no link exists.
    """
    return sigma * minimum(total / sqrt(SHADOW_HALF * (1.0 + exp(-2.0 * apart / distance))), SHADOW_GAIN)


def _fading_waves(seed: int, streams: Ints, waves: Floats) -> None:
    """Fill the waves (n, 4, WAVES) of radios with their streams (n,)."""
    for i in parallel_range(len(streams)):
        draw_waves(seed, streams[i], waves, i)


def _fading_phasors(waves: Floats, places: Floats, wave_numbers: Floats, phasors: Floats) -> None:
    """Fill the phasors (n, 2, WAVES) of radios at places (3, n), each with its wave number (n,)."""
    for i in parallel_range(len(waves)):
        set_phasors(waves, phasors, i, places[0, i], places[1, i], places[2, i], wave_numbers[i])


def _shadow_phasors(waves: Floats, places: Floats, distance: float, phasors: Floats) -> None:
    """Fill the phasors (n, 2, SHADOW_WAVES) of radios at places (3, n) in one field."""
    for i in parallel_range(phasors.shape[0]):
        set_shadow_phasors(waves, phasors, i, places[0, i], places[1, i], places[2, i], distance)


fading_waves = parallel_routine(_fading_waves, items=lambda seed, streams, *_: streams.size)
fading_phasors = parallel_routine(_fading_phasors, inline=True, items=lambda waves, places, *_: places.shape[1])
shadow_phasors = parallel_routine(_shadow_phasors, inline=True, items=lambda waves, places, *_: places.shape[1])


def shadow_waves(seed: int, stream: int) -> Floats:
    """Return the waves (4, SHADOW_WAVES) of a field of shadowing."""
    waves = np.empty((4, SHADOW_WAVES))
    draw_shadow_waves(seed, stream, waves)
    return waves
