"""Seek signal: restore the radio link by flying up the gradient of received power.

With a map (a file of `paddock radio fit`) it follows the gradient of the map; where that leads nowhere for a while, it
goes towards the transmitter. Without a map it fits a plane to its own measurements of SINR and follows its slope; while
there is no link, it returns to where the link was best.
"""

import os
from typing import Annotated, Any, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Rule
from paddock.compute.math import clamp, exp, maximum, select, sincos, sqrt
from paddock.compute.splats import WIDTH, build_grid, field_at, flat_table
from paddock.errors import InvalidValueError, PaddockError
from paddock.vehicles.model import Desire
from paddock.wire.radio_map import read_map
from paddock.world.columns import Column, Pose

NO_LINK = -99.0  # dB: a vehicle without a link has -100
GAIN = 0.02  # dB per s: less is no improvement
SPREAD = 1.0  # m^2: variance that is added to that of past positions
CLIMB = 0.3  # share of the speed for circles of the search, at least


class Options(NamedTuple):
    """Speed, and when the link is good enough."""

    speed: Annotated[float, Column("m/s", "speed", 0.0, 1e3)] = 5.0
    enough: Annotated[float, Column("", "signal (0 to 1) at which it stops", 0.0, 1.0)] = 0.3
    power: Annotated[
        float, Column("dBm", "power of the map at which a vehicle without a radio stops", -400.0, 200.0)
    ] = -70.0
    lowest: Annotated[float, Column("m", "lowest height", -1e5, 1e5)] = 2.0
    highest: Annotated[float, Column("m", "largest height", -1e5, 1e5)] = 120.0
    memory: Annotated[float, Column("s", "time over which measurements are forgotten", 0.1, 1e4)] = 8.0
    circle: Annotated[float, Column("s", "period of the circles on which it measures without a map", 1.0, 1e3)] = 6.0
    patience: Annotated[float, Column("s", "time without improvement before it goes to the transmitter", 0.1, 1e4)] = (
        6.0
    )
    avoid: AvoidOption = 0.0


class Heard(NamedTuple):
    """The radio status of the vehicle."""

    signal: Annotated[float, Column("", "of its best link, 0 to 1")] = 0.0
    sinr: Annotated[float, Column("dB", "of that link; -100: none")] = 0.0
    jammed: Annotated[float, Column("0/1", "jammed")] = 0.0
    links: Annotated[float, Column("", "number of links")] = 0.0


class Memory(NamedTuple):
    """Means and covariances of positions and SINR, forgotten exponentially; the best place."""

    weight: Annotated[float, Column("s", "weight of the measurements")] = 0.0
    x: Annotated[float, Column("m", "mean position, east")] = 0.0
    y: Annotated[float, Column("m", "north")] = 0.0
    z: Annotated[float, Column("m", "up")] = 0.0
    sinr: Annotated[float, Column("dB", "mean SINR")] = 0.0
    xx: Annotated[float, Column("m2 s", "sum of products of deviations, x and x")] = 0.0
    yy: Annotated[float, Column("m2 s", "y and y")] = 0.0
    zz: Annotated[float, Column("m2 s", "z and z")] = 0.0
    xy: Annotated[float, Column("m2 s", "x and y")] = 0.0
    xz: Annotated[float, Column("m2 s", "x and z")] = 0.0
    yz: Annotated[float, Column("m2 s", "y and z")] = 0.0
    xs: Annotated[float, Column("m dB s", "x and SINR")] = 0.0
    ys: Annotated[float, Column("m dB s", "y and SINR")] = 0.0
    zs: Annotated[float, Column("m dB s", "z and SINR")] = 0.0
    best: Annotated[float, Column("dB", "best SINR, or best power of the map in dBm")] = -1000.0
    best_x: Annotated[float, Column("m", "where it was measured, east")] = 0.0
    best_y: Annotated[float, Column("m", "north")] = 0.0
    best_z: Annotated[float, Column("m", "up")] = 0.0
    waited: Annotated[float, Column("s", "since the last improvement")] = 0.0
    time: Annotated[float, Column("s", "since the start of the search")] = 0.0


def steered(me: Pose, gx: float, gy: float, gz: float, pace: float, o: Options) -> Desire:
    """Go along a direction at a speed, within the heights."""
    up = select((gz > 0.0) & (me.z >= o.highest), 0.0, select((gz < 0.0) & (me.z <= o.lowest), 0.0, gz))
    length = maximum(sqrt(gx * gx + gy * gy + up * up), 1e-12)
    scale = pace / length
    back = clamp(o.lowest - me.z, 0.0, 1.0) * pace - clamp(me.z - o.highest, 0.0, 1.0) * pace
    return Desire(gx * scale, gy * scale, up * scale + back, pace + 1.0)


def follow_map(me: Pose, m: Memory, o: Options, heard: Heard, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Follow the gradient of the map; after a while without improvement, go towards the transmitter."""
    power, gx, gy, gz = field_at(me.x, me.y, me.z, path)
    better = power > m.best + GAIN * dt
    best, waited = select(better, power, m.best), select(better, 0.0, m.waited + dt)
    stuck = waited > o.patience
    gx, gy, gz = (
        select(stuck, path[0, 12] - me.x, gx),
        select(stuck, path[0, 13] - me.y, gy),
        select(stuck, path[0, 14] - me.z, gz),
    )
    carried = heard.sinr != 0.0  # a vehicle with a radio has -100 dB or a link
    reached = select(carried, heard.signal - o.enough, power - o.power)
    pace = select(reached >= 0.0, 0.0, o.speed)
    remembered = Memory(
        m.weight, m.x, m.y, m.z, m.sinr, m.xx, m.yy, m.zz, m.xy, m.xz, m.yz, m.xs, m.ys, m.zs,
        best, m.best_x, m.best_y, m.best_z, waited, m.time + dt,
    )  # fmt: skip
    return steered(me, gx, gy, gz, pace, o), remembered


def measured(me: Pose, m: Memory, o: Options, sinr: float, linked: bool, dt: float) -> Memory:
    """Add a measurement, if there is a link, to the means and covariances; weights fall by e in the time `memory`."""
    spent = select(linked, dt, 0.0)
    decay = exp(-spent / o.memory)
    total = decay * m.weight + spent
    share = spent / maximum(total, 1e-9)
    first = m.weight == 0.0
    dx, dy = select(first, 0.0, me.x - m.x), select(first, 0.0, me.y - m.y)
    dz, ds = select(first, 0.0, me.z - m.z), select(first, 0.0, sinr - m.sinr)
    add = spent * (1.0 - share)
    better = linked & (sinr > m.best)
    return Memory(
        total,
        select(first, me.x, m.x + share * dx),
        select(first, me.y, m.y + share * dy),
        select(first, me.z, m.z + share * dz),
        select(first, sinr, m.sinr + share * ds),
        decay * m.xx + add * dx * dx,
        decay * m.yy + add * dy * dy,
        decay * m.zz + add * dz * dz,
        decay * m.xy + add * dx * dy,
        decay * m.xz + add * dx * dz,
        decay * m.yz + add * dy * dz,
        decay * m.xs + add * dx * ds,
        decay * m.ys + add * dy * ds,
        decay * m.zs + add * dz * ds,
        select(better, sinr, m.best),
        select(better, me.x, m.best_x),
        select(better, me.y, m.best_y),
        select(better, me.z, m.best_z),
        m.waited,
        m.time + dt,
    )


def slope_of(m: Memory) -> tuple[float, float, float]:
    """Return the slope (dB/m) of the plane through the measurements, damped where positions hardly differ."""
    ridge = SPREAD * m.weight + 1e-9
    a, b, c, d, e, f = m.xx + ridge, m.yy + ridge, m.zz + ridge, m.xy, m.xz, m.yz
    # inverse of a symmetric 3 x 3 matrix by cofactors
    ia, ib, ic = b * c - f * f, a * c - e * e, a * b - d * d
    id_, ie, if_ = e * f - d * c, d * f - b * e, d * e - a * f
    det = a * ia + d * id_ + e * ie
    return (
        (ia * m.xs + id_ * m.ys + ie * m.zs) / det,
        (id_ * m.xs + ib * m.ys + if_ * m.zs) / det,
        (ie * m.xs + if_ * m.ys + ic * m.zs) / det,
    )


def search(me: Pose, m: Memory, o: Options, heard: Heard, dt: float) -> tuple[Desire, Memory]:
    """Fly circles that drift up the measured slope; without a link, return to the best place, and climb on circles."""
    linked = heard.sinr > NO_LINK
    memory = measured(me, m, o, heard.sinr, linked, dt)
    sx, sy, sz = slope_of(memory)
    steep = maximum(sqrt(sx * sx + sy * sy + sz * sz), 1e-9)
    sine, cosine = sincos(6.283185307179586 * m.time / o.circle)
    has_best = m.best > NO_LINK
    bx, by, bz = m.best_x - me.x, m.best_y - me.y, m.best_z - me.z
    away = maximum(sqrt(bx * bx + by * by + bz * bz), 1e-9)
    home = has_best & (away > o.speed)
    drift = select(linked, 1.0 - CLIMB, select(home, 1.0, 0.0))
    gx = drift * select(linked, sx / steep, bx / away)
    gy = drift * select(linked, sy / steep, by / away)
    gz = drift * select(linked, sz / steep, bz / away)
    round_ = 1.0 - drift
    gx, gy, gz = gx + round_ * cosine, gy + round_ * sine, gz + select(linked, 0.0, round_ * 0.2)
    pace = select(heard.signal >= o.enough, 0.0, o.speed)
    return steered(me, gx, gy, gz, pace, o), memory


def desire(
    me: Pose, m: Memory, o: Options, urge: Heard, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Memory]:
    """Follow the map, or search with the own measurements."""
    if path.shape[1] == WIDTH:
        return follow_map(me, m, o, urge, path, dt)
    return search(me, m, o, urge, dt)


def read_signal_map(value: Any, where: str) -> Floats:
    """Return the flat table of a map file."""
    if not isinstance(value, str | os.PathLike):
        raise InvalidValueError(f"{where}: map must be the file of a radio map, not {value!r:.60}")
    try:
        contents = read_map(value)
    except PaddockError as error:
        raise InvalidValueError(f"{where}: {error}") from None
    return flat_table(contents.splats, build_grid(contents.splats), contents.prior)


def as_read(table: Floats, o: Options) -> Floats:
    """Return the table as it is."""
    return table


RULE = Rule(
    "Restore a radio link: up the gradient of a radio map, or of its own measurements",
    Options,
    desire,
    Memory,
    senses=Heard,
    reads_radio=True,
    path_option="map",
    optional_path=True,
    read_path=read_signal_map,
    prepare_path=as_read,
)
