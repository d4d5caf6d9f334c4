"""Path loss: how much weaker a signal is at the other end, in dB between isotropic antennas.

Each model is a scalar function; `loss_db` chooses by number, as links do. Frequencies are in Hz, lengths in m. Heights
are those of the antennas above the ground. A model outside its published range still returns a loss that rises with
distance and is not below that of free space; `outside` reports what exceeds the range, so that callers can count it.
"""

from typing import NamedTuple

from paddock.compute.math import PI, clamp, hypot, log, maximum, minimum, select, sincos, sqrt
from paddock.radio.physics.signal import DECIBELS

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
