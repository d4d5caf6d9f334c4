"""Satellite navigation: position and velocity, and how good they are.

The carrier-to-noise density C/N0 of the signals sets the noise of the tracking loops, the number of satellites that are
tracked and whether there is a fix. In open sky it is 44.5 dB-Hz and the noise is that of the options; jammers lower it,
spoofers shift the position (`paddock.radio.physics.satellites`).
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import clamp, exp, floor, maximum, select, sqrt
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, six, three, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose

NEPERS = 0.2302585092994046  # ln(10) / 10
OPEN_SKY = 44.5  # dB-Hz
SATELLITES = 12.0  # in view
STRONGEST, STEP = 1.5, 0.59  # dB above the mean of the strongest satellite, and from one to the next
TRACKED, ACQUIRED = 27.5, 33.0  # dB-Hz: weakest signal that a receiver tracks; that it finds again
NEEDED = 4.0  # satellites of a fix
OPEN_HDOP, NO_HDOP = 0.8, 99.99
CHIP = 293.05  # m, of the C/A code
# code loop: bandwidth (Hz) x correlator spacing (chips) / 2, and 2 / (integration time x (2 - spacing)), Hz
CODE_LOOP, CODE_SQUARING = 0.25, 66.67
# carrier loop: wavelength / (2 pi x integration time), m/s; 4 x bandwidth, Hz; 1 / integration time, Hz
CARRIER, CARRIER_LOOP, CARRIER_SQUARING = 1.514, 40.0, 50.0
NO_READING = float("nan")
ROUNDING = 1e-6  # s, of times that are sums


class Reading(NamedTuple):
    """Position and velocity in world axes; NaN without a fix."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]
    fix: Annotated[float, Column("", "0: none, 3: three-dimensional")]
    satellites: Annotated[float, Column("", "satellites that are tracked")]
    hdop: Annotated[float, Column("", "horizontal dilution of precision; 99.99 without a fix")]
    cn0: Annotated[float, Column("dB-Hz", "mean carrier-to-noise density of the signals")]
    horizontal_error: Annotated[float, Column("m", "expected error east and north, 1 sigma")]
    vertical_error: Annotated[float, Column("m", "expected error up, 1 sigma")]


class Options(NamedTuple):
    """A single-frequency receiver with corrections; noise per axis in open sky."""

    rate: Rate = 5.0
    delay: Delay = 0.0
    noise_horizontal: Annotated[float, Column("m", "standard deviation east and north", low=0.0, high=1e3)] = 0.5
    noise_vertical: Annotated[float, Column("m", "standard deviation up", low=0.0, high=1e3)] = 1.0
    noise_velocity: Annotated[float, Column("m/s", "standard deviation of the velocity", low=0.0, high=100.0)] = 0.05
    walk: Annotated[float, Column("m/s^0.5", "random walk of the position bias", low=0.0, high=100.0)] = 0.01
    reacquisition: Annotated[float, Column("s", "from the return of signals to a fix", low=0.0, high=1e3)] = 2.0


class Memory(NamedTuple):
    """The slow error of the position, and the state of the tracking loops."""

    primed: Primed
    bias_x: Annotated[float, Column("m", "position bias east")]
    bias_y: Annotated[float, Column("m", "position bias north")]
    bias_z: Annotated[float, Column("m", "position bias up")]
    lost: Annotated[float, Column("0/1", "has no fix")]
    back: Annotated[float, Column("s", "since the signals are back")]
    captured: Annotated[float, Column("0/1", "tracks false signals")]


class Signal(NamedTuple):
    """The signals at the antenna."""

    cn0: Annotated[float, Column("dB-Hz", "mean carrier-to-noise density")] = OPEN_SKY
    spoofed: Annotated[float, Column("0/1", "the receiver tracks false signals")] = 0.0
    dx: Annotated[float, Column("m", "false position less the true one, east")] = 0.0
    dy: Annotated[float, Column("m", "the same, north")] = 0.0
    dz: Annotated[float, Column("m", "the same, up")] = 0.0
    dvx: Annotated[float, Column("m/s", "false velocity less the true one, east")] = 0.0
    dvy: Annotated[float, Column("m/s", "the same, north")] = 0.0
    dvz: Annotated[float, Column("m/s", "the same, up")] = 0.0


def code_variance(cn0: float) -> float:
    """Return the variance (m2) of a range from the code loop at C/N0 (dB-Hz): thermal noise with squaring loss."""
    inverse = exp(-NEPERS * cn0)
    return CHIP * CHIP * CODE_LOOP * inverse * (1.0 + CODE_SQUARING * inverse)


def carrier_variance(cn0: float) -> float:
    """Return the variance (m2/s2) of a range rate from the carrier loop at C/N0 (dB-Hz)."""
    inverse = exp(-NEPERS * cn0)
    return CARRIER * CARRIER * CARRIER_LOOP * inverse * (1.0 + CARRIER_SQUARING * inverse)


def satellites_above(cn0: float, limit: float) -> float:
    """Return how many satellites exceed a limit (dB-Hz) at a mean C/N0 (dB-Hz)."""
    return clamp(floor((cn0 + STRONGEST - limit) / STEP) + 1.0, 0.0, SATELLITES)


def grown(noise: float, extra: float, dilution: float) -> float:
    """Return a standard deviation with an additional variance, times the dilution; without both, itself."""
    disturbed = (extra > 0.0) | (dilution > 1.0)
    return select(disturbed, dilution * sqrt(noise * noise + extra), noise)


def measure(
    pose: Pose, signal: Signal, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure position and velocity with independent noise, and a drifting position bias, while there is a fix."""
    nx, ny, nz, nvx, nvy, nvz = six(d, 0)
    wx, wy, wz = three(d, 3)
    tracked = satellites_above(signal.cn0, TRACKED)
    released = (m.captured > 0.5) & (signal.spoofed < 0.5)  # the false signals are gone: search for the others
    broken = (tracked < NEEDED) | released
    acquired = (m.lost > 0.5) & (satellites_above(signal.cn0, ACQUIRED) >= NEEDED)
    back = select(broken, 0.0, select(acquired, m.back + interval, 0.0))
    regained = acquired & (back >= o.reacquisition - ROUNDING)
    lost = select(broken, 1.0, select(regained, 0.0, m.lost))
    after = Memory(
        primed=1.0,
        bias_x=walk(m.bias_x, o.walk, interval, m.primed, wx),
        bias_y=walk(m.bias_y, o.walk, interval, m.primed, wy),
        bias_z=walk(m.bias_z, o.walk, interval, m.primed, wz),
        lost=lost,
        back=select(lost > 0.5, back, 0.0),
        captured=signal.spoofed,
    )
    fixed = lost < 0.5
    dilution = sqrt((SATELLITES - 3.0) / maximum(tracked - 3.0, 1.0))
    ranges = maximum(code_variance(signal.cn0) - code_variance(OPEN_SKY), 0.0)
    rates = maximum(carrier_variance(signal.cn0) - carrier_variance(OPEN_SKY), 0.0)
    horizontal = grown(o.noise_horizontal, ranges, dilution)
    vertical = grown(o.noise_vertical, 4.0 * ranges, dilution)  # as of satellites above the horizon only
    velocity = grown(o.noise_velocity, rates, dilution)
    reading = Reading(
        x=select(fixed, pose.x + signal.dx + after.bias_x + horizontal * nx, NO_READING),
        y=select(fixed, pose.y + signal.dy + after.bias_y + horizontal * ny, NO_READING),
        z=select(fixed, pose.z + signal.dz + after.bias_z + vertical * nz, NO_READING),
        vx=select(fixed, pose.vx + signal.dvx + velocity * nvx, NO_READING),
        vy=select(fixed, pose.vy + signal.dvy + velocity * nvy, NO_READING),
        vz=select(fixed, pose.vz + signal.dvz + velocity * nvz, NO_READING),
        fix=select(fixed, 3.0, 0.0),
        satellites=select(fixed, tracked, 0.0),
        hdop=select(fixed, OPEN_HDOP * dilution, NO_HDOP),
        cn0=signal.cn0,
        horizontal_error=select(fixed, horizontal, NO_READING),
        vertical_error=select(fixed, vertical, NO_READING),
    )
    return reading, after


SENSOR = Sensor(
    "Satellite navigation: position and velocity in local axes",
    Reading,
    Options,
    Memory,
    measure,
    seen=Signal,
    from_columns={name: (f"gnss_signal.{name}",) for name in Signal._fields},
)
