"""Path loss: how much weaker a signal is at the other end, in dB between isotropic antennas; diffraction by terrain.

Each model is a scalar function; `loss_db` chooses by number, as links do. Frequencies are in Hz, lengths in m. Heights
are those of the antennas above the ground. A model outside its published range still returns a loss that rises with
distance and is not below that of free space; `outside` reports what exceeds the range, so that callers can count it.

The terrain between two places gives up to three knife edges (Deygout's construction, ITU-R P.526); `obstruction.py` has
obstacles. The world is a plane: without curvature of the earth.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import (
    PI,
    absolute,
    clamp,
    exp,
    floor,
    hypot,
    log,
    maximum,
    minimum,
    select,
    sincos,
    sqrt,
    table_index,
    whole,
)
from paddock.radio.physics.signal import DECIBELS
from paddock.world.ground import RELIEF_RATE, RELIEF_X, RELIEF_Y, SLOPE_X, SLOPE_Y, bilinear

LIGHT = 299_792_458.0  # m/s
VACUUM = 8.8541878128e-12  # F/m
LOG10 = 0.4342944819032518
INFINITE = float("inf")
FREE_SPACE, TWO_RAY, LOG_DISTANCE, COST231_HATA, OKUMURA_HATA, GROUND_REFLECTION = range(6)
MODELS = {
    "free_space": FREE_SPACE,
    "two_ray": TWO_RAY,
    "log_distance": LOG_DISTANCE,
    "cost231_hata": COST231_HATA,
    "okumura_hata": OKUMURA_HATA,
    "ground_reflection": GROUND_REFLECTION,
}
SMALL_CITY, LARGE_CITY, SUBURBAN, OPEN = range(4)
CITIES = {
    "okumura_hata": {"small": SMALL_CITY, "large": LARGE_CITY, "suburban": SUBURBAN, "open": OPEN},
    "cost231_hata": {"small": SMALL_CITY, "large": LARGE_CITY, "suburban": SUBURBAN},
}
"""Surroundings that a model distinguishes."""


class Validity(NamedTuple):
    """The range that a model was published for: low and high, both included."""

    frequency: tuple[float, float] = (0.0, INFINITE)  # Hz
    distance: tuple[float, float] = (0.0, INFINITE)  # m
    base: tuple[float, float] = (0.0, INFINITE)  # m, height of the higher antenna
    mobile: tuple[float, float] = (0.0, INFINITE)  # m, height of the lower antenna


LOWEST = 0.1  # m: antennas below this height count as this high over the reflecting ground
HATA_LOW, HATA_HIGH, COST231_HIGH = 150e6, 1500e6, 2000e6
HATA_NEAR, HATA_FAR = 1_000.0, 20_000.0
BASE_LOW, BASE_HIGH, MOBILE_LOW, MOBILE_HIGH = 30.0, 200.0, 1.0, 10.0
_HATA = (HATA_NEAR, HATA_FAR), (BASE_LOW, BASE_HIGH), (MOBILE_LOW, MOBILE_HIGH)
_OVER_GROUND = Validity(base=(LOWEST, INFINITE), mobile=(LOWEST, INFINITE))
VALIDITY = {
    "free_space": Validity(),
    "two_ray": _OVER_GROUND,
    "log_distance": Validity(),
    "cost231_hata": Validity((HATA_HIGH, COST231_HIGH), *_HATA),
    "okumura_hata": Validity((HATA_LOW, HATA_HIGH), *_HATA),
    "ground_reflection": _OVER_GROUND,
}
OUTSIDE_FREQUENCY, OUTSIDE_DISTANCE, OUTSIDE_BASE, OUTSIDE_MOBILE = 1, 2, 4, 8
GROUNDS = {
    "sea": (70.0, 5.0),
    "fresh_water": (80.0, 0.003),
    "wet": (30.0, 0.01),
    "medium": (15.0, 0.001),
    "dry": (3.0, 0.0001),
}
"""Relative permittivity and conductivity (S/m) of the ground (ITU-R P.527, below 1 GHz)."""
GROUND_PERMITTIVITY, GROUND_CONDUCTIVITY = GROUNDS["medium"]  # of `loss_db`


def loss_db(
    model: int,
    distance: float,
    frequency: float,
    height_a: float,
    height_b: float,
    exponent: float,
    reference: float,
    city: int,
) -> float:
    """Return the loss (dB) of one of MODELS between antennas at a distance (m, in space).

    `exponent` and `reference` (m) belong to LOG_DISTANCE, `city` to the models of Hata.
    """
    if model == TWO_RAY:
        return two_ray_db(distance, frequency, height_a, height_b)
    if model == LOG_DISTANCE:
        return log_distance_db(distance, frequency, exponent, reference)
    if model == COST231_HATA:
        return cost231_hata_db(distance, frequency, height_a, height_b, city)
    if model == OKUMURA_HATA:
        return okumura_hata_db(distance, frequency, height_a, height_b, city)
    if model == GROUND_REFLECTION:
        rise = height_a - height_b
        level = sqrt(maximum(distance * distance - rise * rise, 0.0))
        return ground_reflection_db(
            level, frequency, height_a, height_b, GROUND_PERMITTIVITY, GROUND_CONDUCTIVITY, True
        )
    return free_space_db(distance, frequency)


def free_space_db(distance: float, frequency: float) -> float:
    """Return the loss (dB) of free space (Friis); 0 dB nearer than a wavelength / 4 pi."""
    return 2.0 * DECIBELS * log(maximum(4.0 * PI / LIGHT * distance * frequency, 1.0))


def crossover(frequency: float, height_a: float, height_b: float) -> float:
    """Return the distance (m) from which the ray reflected by the ground weakens the direct one: 4 pi h h / lambda."""
    return 4.0 * PI / LIGHT * frequency * maximum(height_a, LOWEST) * maximum(height_b, LOWEST)


def two_ray_db(distance: float, frequency: float, height_a: float, height_b: float) -> float:
    """Return the loss (dB) over flat ground: free space up to the crossover, then 40 dB per decade of distance."""
    heights = maximum(height_a, LOWEST) * maximum(height_b, LOWEST)
    nearer = 4.0 * PI / LIGHT * frequency * distance
    farther = distance * distance / heights  # the larger of both from the crossover on
    return 2.0 * DECIBELS * log(maximum(maximum(nearer, farther), 1.0))


def log_distance_db(distance: float, frequency: float, exponent: float, reference: float) -> float:
    """Return the loss (dB): free space up to the reference distance (m), then 10 x exponent dB per decade."""
    near = free_space_db(minimum(distance, reference), frequency)
    return near + exponent * DECIBELS * log(maximum(distance, reference) / reference)


def okumura_hata_db(distance: float, frequency: float, height_a: float, height_b: float, city: int) -> float:
    """Return the median loss (dB) of Hata (1980) for 150 to 1500 MHz; the higher antenna is the base station."""
    lf = LOG10 * log(frequency * 1e-6)
    base = clamp(maximum(height_a, height_b), BASE_LOW, BASE_HIGH)
    mobile = clamp(minimum(height_a, height_b), MOBILE_LOW, MOBILE_HIGH)
    low = LOG10 * log(1.54 * mobile)
    high = LOG10 * log(11.75 * mobile)
    large = select(frequency < 300e6, 8.29 * low * low - 1.1, 3.2 * high * high - 4.97)
    gain = select(city == LARGE_CITY, large, mobile_gain_db(lf, mobile))
    above = lf - 1.4471580313422192  # log10 of frequency / 28 MHz
    suburban = 2.0 * above * above + 5.4
    opened = 4.78 * lf * lf - 18.33 * lf + 40.94
    relief = select(city == SUBURBAN, suburban, select(city == OPEN, opened, 0.0))
    loss = 69.55 + 26.16 * lf + _base_and_distance(distance, base) - gain - relief
    return maximum(loss, free_space_db(distance, frequency))


def cost231_hata_db(distance: float, frequency: float, height_a: float, height_b: float, city: int) -> float:
    """Return the median loss (dB) of COST 231's extension of Hata for 1500 to 2000 MHz; LARGE_CITY adds 3 dB."""
    lf = LOG10 * log(frequency * 1e-6)
    base = clamp(maximum(height_a, height_b), BASE_LOW, BASE_HIGH)
    mobile = clamp(minimum(height_a, height_b), MOBILE_LOW, MOBILE_HIGH)
    centre = select(city == LARGE_CITY, 3.0, 0.0)
    loss = 46.3 + 33.9 * lf + _base_and_distance(distance, base) - mobile_gain_db(lf, mobile) + centre
    return maximum(loss, free_space_db(distance, frequency))


def mobile_gain_db(lf: float, mobile: float) -> float:
    """Return a(hm) (dB) of small and medium cities from log10 of the frequency (MHz) and the lower height (m)."""
    return (1.1 * lf - 0.7) * mobile - (1.56 * lf - 0.8)


def _base_and_distance(distance: float, base: float) -> float:
    lh = LOG10 * log(base)
    return (44.9 - 6.55 * lh) * LOG10 * log(maximum(distance, 1.0) * 1e-3) - 13.82 * lh


def outside(model: int, distance: float, frequency: float, height_a: float, height_b: float) -> int:
    """Return what lies outside the range of a model, as the sum of OUTSIDE_*; 0 inside."""
    base, mobile = maximum(height_a, height_b), minimum(height_a, height_b)
    if model in (TWO_RAY, GROUND_REFLECTION):
        return OUTSIDE_BASE * (base < LOWEST) + OUTSIDE_MOBILE * (mobile < LOWEST)
    if model in (COST231_HATA, OKUMURA_HATA):
        low = HATA_HIGH if model == COST231_HATA else HATA_LOW
        high = COST231_HIGH if model == COST231_HATA else HATA_HIGH
        return (
            OUTSIDE_FREQUENCY * ((frequency < low) | (frequency > high))
            + OUTSIDE_DISTANCE * ((distance < HATA_NEAR) | (distance > HATA_FAR))
            + OUTSIDE_BASE * ((base < BASE_LOW) | (base > BASE_HIGH))
            + OUTSIDE_MOBILE * ((mobile < MOBILE_LOW) | (mobile > MOBILE_HIGH))
        )
    return 0


def reflection(
    sine: float, frequency: float, permittivity: float, conductivity: float, vertical: bool
) -> tuple[float, float]:
    """Return Fresnel's reflection coefficient, real and imaginary part, of a flat surface.

    `sine` is that of the grazing angle, `permittivity` is relative, `conductivity` in S/m; time dependence exp(+jwt).
    """
    lossy = conductivity / (2.0 * PI * VACUUM * frequency)  # the permittivity is complex: permittivity - j lossy
    a, b = permittivity - 1.0 + sine * sine, -lossy
    # the root of a + jb, whose real part is positive
    real = sqrt(maximum(0.5 * (hypot(a, b) + a), 1e-30))
    imaginary = 0.5 * b / real
    p = select(vertical, permittivity * sine, sine)
    q = select(vertical, -lossy * sine, 0.0)
    above_re, above_im, below_re, below_im = p - real, q - imaginary, p + real, q + imaginary
    size = maximum(below_re * below_re + below_im * below_im, 1e-30)
    return (above_re * below_re + above_im * below_im) / size, (above_im * below_re - above_re * below_im) / size


def ground_reflection_db(
    distance: float,
    frequency: float,
    height_a: float,
    height_b: float,
    permittivity: float,
    conductivity: float,
    vertical: bool,
) -> float:
    """Return the loss (dB) of the direct ray and the one that the ground reflects, with their interference.

    `distance` is horizontal (m). Between isotropic antennas; both add up to at most 6 dB less than free space.
    """
    a, b = maximum(height_a, LOWEST), maximum(height_b, LOWEST)
    direct, bounced = hypot(distance, a - b), hypot(distance, a + b)
    re, im = reflection((a + b) / bounced, frequency, permittivity, conductivity, vertical)
    wave_number = 2.0 * PI / LIGHT * frequency
    direct = maximum(direct, 0.5 / wave_number)  # 0 dB, as in free space
    # the difference of the lengths without cancellation: (bounced^2 - direct^2) / (bounced + direct)
    s, c = sincos(wave_number * 4.0 * a * b / (bounced + direct))
    field_re = 1.0 / direct + (re * c + im * s) / bounced
    field_im = (im * c - re * s) / bounced
    power = field_re * field_re + field_im * field_im
    return DECIBELS * log(4.0 * wave_number * wave_number / maximum(power, 1e-30))


Floats = NDArray[np.float64]
Position = tuple[float, float, float]  # m
CLEAR = -0.78  # v of an edge so far below the line that it costs nothing
BLOCK = 8  # cells of the relief whose highest ground is looked up at once
NEAR_END = 1e-6  # cells: samples nearer to an end are left out
SAME = 1e-9  # m


class TerrainTables(NamedTuple):
    """The tables of the ground."""

    ground_z: float  # m
    terrain: Floats  # of `world.ground`
    relief: Floats
    peaks: Floats  # see `relief_peaks`


def knife_edge_db(v: float) -> float:
    """Return the loss (dB) of a knife edge with the parameter v (ITU-R P.526, J(v)); 0 for v <= -0.78."""
    u = v - 0.1
    return select(v > CLEAR, 6.9 + 2.0 * DECIBELS * log(sqrt(u * u + 1.0) + maximum(u, -1.0)), 0.0)


def deygout_db(main: float, before: float, after: float, correction: float = 0.0) -> float:
    """Return the loss (dB) of up to three edges from v of the main edge and of those before and after it.

    Edges beside the main one count in proportion to what it blocks (ITU-R P.526, 4.5.1), which also gives an empirical
    correction (dB) for long paths: 10 + 0.04 x km.
    """
    first = knife_edge_db(main)
    return first + (1.0 - exp(-first / 6.0)) * (knife_edge_db(before) + knife_edge_db(after) + correction)


def relief_peaks(relief: Floats) -> Floats:
    """Return the highest ground of blocks of cells, each with its neighbours: where it is low, profiles are skipped."""
    rows, columns = (max(1, -(-size // BLOCK)) for size in relief.shape)
    padded = np.full((rows * BLOCK, columns * BLOCK), -np.inf)
    padded[: relief.shape[0], : relief.shape[1]] = relief
    blocks = padded.reshape(rows, BLOCK, columns, BLOCK).max(axis=(1, 3))
    wide = np.pad(blocks, 1, constant_values=-np.inf)
    around = [wide[j : j + rows, i : i + columns] for j in range(3) for i in range(3)]
    return np.ascontiguousarray(np.max(around, axis=0))


def terrain_db(a: Position, b: Position, frequency: float, ground: Any, beyond_flat: bool) -> float:
    """Return the loss (dB) by diffraction over the ground between two places.

    `ground` has TerrainTables. `beyond_flat` returns only what the terrain adds to flat ground between the feet of both
    ends, for models that contain the ground.
    """
    (ax, ay, az), (bx, by, bz), slope_x, slope_y = a, b, ground.terrain[0, SLOPE_X], ground.terrain[0, SLOPE_Y]
    az, bz = az - ground.ground_z - slope_x * ax - slope_y * ay, bz - ground.ground_z - slope_x * bx - slope_y * by
    wavelength, first, last = LIGHT / frequency, (ax, ay, az), (bx, by, bz)
    main, share, top = worst_edge(first, last, wavelength, ground)
    if main <= CLEAR:
        return 0.0
    edge = ax + share * (bx - ax), ay + share * (by - ay), top
    before, _, _ = worst_edge(first, edge, wavelength, ground)
    after, _, _ = worst_edge(edge, last, wavelength, ground)
    loss = deygout_db(main, before, after)
    if beyond_flat:
        loss = maximum(loss - flat_db(first, last, wavelength, ground), 0.0)
    return loss


def flat_db(a: Position, b: Position, wavelength: float, ground: Any) -> float:
    """Return the loss (dB) over flat ground between the feet of both ends; heights are relative to its plane."""
    terrain, relief = ground.terrain, ground.relief
    rate, left, low = terrain[0, RELIEF_RATE], terrain[0, RELIEF_X], terrain[0, RELIEF_Y]
    height_a = maximum(a[2] - bilinear(relief, (a[0] - left) * rate, (a[1] - low) * rate), 0.0)
    height_b = maximum(b[2] - bilinear(relief, (b[0] - left) * rate, (b[1] - low) * rate), 0.0)
    # v is largest where the line is nearest to the ground in units of the Fresnel zone; both sides then graze it
    flat = -sqrt(8.0 * height_a * height_b / (wavelength * distance(a, b)))
    return deygout_db(flat, 0.0, 0.0)


def worst_edge(a: Position, b: Position, wavelength: float, ground: Any) -> tuple[float, float, float]:
    """Return the largest v of the ground between two places, its share of the way, and its height (m).

    v is CLEAR or less if nothing is near the line. Heights are relative to the plane of the ground.
    """
    (ax, ay, az), (bx, by, bz), terrain, relief, peaks = a, b, ground.terrain, ground.relief, ground.peaks
    worst, share, top = 2.0 * CLEAR, 0.5, 0.0
    apart = distance(a, b)
    if relief.shape[0] < 2 or apart < SAME:
        return worst, share, top
    rate = terrain[0, RELIEF_RATE]
    u, v = (ax - terrain[0, RELIEF_X]) * rate, (ay - terrain[0, RELIEF_Y]) * rate
    du, dv, dz = (bx - ax) * rate, (by - ay) * rate, bz - az
    # samples where the line crosses columns of the relief, or rows if it crosses more of them: ridges between samples
    # of the relief do not exist, and both directions see the same edges
    along_x = absolute(du) >= absolute(dv)
    start, ahead = select(along_x, u, v), select(along_x, du, dv)
    first = whole(floor(minimum(start, start + ahead) + NEAR_END)) + 1
    last = -whole(floor(-maximum(start, start + ahead) + NEAR_END)) - 1
    if first > last:
        return worst, share, top
    inverse = 1.0 / ahead
    zone = 0.5 * wavelength * apart  # v = height / sqrt(zone share (1 - share))
    highest = -CLEAR * CLEAR * zone  # the largest height x |height| / (share (1 - share)) up to now
    for begin in range(first, last + 1, BLOCK):
        end = begin + BLOCK - 1 if begin + BLOCK - 1 < last else last
        t0, t1 = (begin - start) * inverse, (end - start) * inverse
        middle = 0.5 * (t0 + t1)
        row = table_index(floor((v + middle * dv) * (1.0 / BLOCK)), peaks.shape[0])
        column = table_index(floor((u + middle * du) * (1.0 / BLOCK)), peaks.shape[1])
        # the least height above the line that can still matter in this block
        width = minimum(t0 * (1.0 - t0), t1 * (1.0 - t1))
        needed = select(highest > 0.0, sqrt(maximum(highest, 0.0) * width), -sqrt(maximum(-highest, 0.0) * 0.25))
        if peaks[row, column] - az - minimum(t0 * dz, t1 * dz) < needed:
            continue
        for k in range(begin, end + 1):
            t = (k - start) * inverse
            height = bilinear(relief, u + t * du, v + t * dv)
            above = height - az - t * dz
            score = above * absolute(above) / (t * (1.0 - t))
            if score > highest:
                highest, share, top = score, t, height
                worst = select(score > 0.0, 1.0, -1.0) * sqrt(absolute(score) / zone)
    return worst, share, top


def distance(a: Position, b: Position) -> float:
    """Return the distance (m) between two places."""
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return sqrt(dx * dx + dy * dy + dz * dz)
