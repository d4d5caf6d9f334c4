"""The contract of a sensor: one plain scalar function over named tuples, like a vehicle model's.

`measure` contains no `if` and no loop, so that the same source runs as Python and as packed code for a whole fleet. It
draws random numbers only from its `Draw`: the readings of a vehicle never depend on other vehicles.

A sensor whose readings are arrays, such as a lidar, is an `ArraySensor`: its `look` fills the arrays of a whole fleet.
It sees the vehicles that carry it (`FleetView`), and everything around these (`Around`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from paddock.compute.contract import check_functions
from paddock.compute.kernel import Bundle, Each, KernelSpec, Rows, Shared, Value
from paddock.compute.math import sqrt
from paddock.compute.philox import normals, signed
from paddock.compute.twin import rebound
from paddock.errors import PaddockError
from paddock.plugins import PluginFolder
from paddock.sensing import sensors
from paddock.sensing.site import Site
from paddock.world.columns import (
    Column,
    ColumnGroup,
    Floats,
    Pose,
    check_fields,
    column_index,
    column_tuple,
    columns_of,
)
from paddock.world.ground import LEVEL, surface, uneven_surface
from paddock.world.scenery import SCENIC, cast, cast_scenery
from paddock.world.solids import NO_SOLIDS, Solids

PURPOSES = 16  # purposes per sensor; the next sensor of its kind on a vehicle starts after them
LOOKING: dict[Callable[..., Any], Callable[..., Any]] = {cast: cast_scenery, surface: uneven_surface}
"""What replaces the functions of flat ground in a world with scenery."""
Three = tuple[float, float, float]
Ints = NDArray[np.int64]


class Draw(NamedTuple):
    """The random draws of a vehicle's sensor at a tick; purposes from `purpose` on are the sensor's own."""

    seed: int  # of the kind of sensor
    stream: int  # hash of the vehicle's name
    purpose: int
    tick: int


DRAW = Value("seed", "int64"), Each("stream"), Value("purpose", "int64"), Value("tick", "int64")
"""The arguments of kernels that make a `Draw`."""


def two(d: Draw, k: int) -> tuple[float, float]:
    """Return two independent standard normal numbers, from the sensor's purpose `k`."""
    return normals(d.seed, d.stream, d.purpose + k, d.tick)


def three(d: Draw, k: int) -> Three:
    """Return three independent standard normal numbers, from two purposes."""
    (a, b), (c, _) = two(d, k), two(d, k + 1)
    return a, b, c


def six(d: Draw, k: int) -> tuple[float, float, float, float, float, float]:
    """Return six independent standard normal numbers, from three purposes."""
    (a, b), (c, e), (f, g) = two(d, k), two(d, k + 1), two(d, k + 2)
    return a, b, c, e, f, g


def walk(bias: float, density: float, interval: float, primed: float, normal: float) -> float:
    """Return the bias after `interval` s of a random walk (`density` per root second); unchanged until `primed`."""
    return bias + primed * density * sqrt(interval) * normal


Rate = Annotated[float, Column("Hz", "samples per second", low=1e-3, high=1e6)]
Delay = Annotated[float, Column("s", "age of a reading on arrival", low=0.0, high=10.0)]
Primed = Annotated[float, Column("0/1", "has sampled before")]
"""Columns that sensors have in common: the options `rate` and `delay`, and `primed` of their memory."""
COMMON_OPTIONS = ("rate", "delay")
"""Options that every sensor declares."""


@dataclass(frozen=True)
class Sensor:
    """A kind of sensor. Reading, options and memory are named tuples of floats with Column annotations.

    A new vehicle's memory is all zeros, so a `primed` column that `measure` sets to 1 marks the first sample. It has no
    limits: a sample of a state that is not finite may leave any value.
    """

    summary: str
    reading: type
    options: type  # with defaults, `rate` and `delay` among them
    memory: type  # at least one column
    measure: Callable[..., Any]
    # (pose, memory, options, environment, site, draw, interval) -> (reading, memory); `interval`: s since the sample
    # before; of the purposes of `draw`, PURPOSES are the sensor's own
    from_vehicle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # option -> parameters of the vehicle; the first one that exists is the default
    seen: type | None = None  # a named tuple of what it reads of the vehicle besides the pose: `measure` gets it second
    from_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # field of `seen` -> columns of snapshots (states, reports, commands) or parameters, if not those of its name; the
    # first one that exists is read. One without a default that does not exist is an error.
    name: str = ""  # set by `find_sensor`

    def __post_init__(self) -> None:
        """Require fields of their types and the common options."""
        check_fields(self)
        named = {name: (name,) for name in (() if self.seen is None else column_index(self.seen))}
        if not set(self.from_columns) <= set(named):
            raise PaddockError(f"sensor {self.summary!r}: from_columns names fields of `seen`")
        object.__setattr__(self, "from_columns", named | dict(self.from_columns))
        missing = [name for name in COMMON_OPTIONS if name not in column_index(self.options)]
        if missing:
            raise PaddockError(f"sensor {self.summary!r}: its options have no {missing[0]!r}")
        for column in columns_of(self.memory):
            if column.default is not None or (column.low, column.high) != (-inf, inf):
                why = "has no default and no limits: a new vehicle's memory is all zeros"
                raise PaddockError(f"sensor {self.summary!r}: the column {column.name!r} of its memory {why}")

    def key(self, seed: int) -> int:
        """Return the random key of this kind of sensor; kinds share no draws with each other or with the world."""
        return signed(seed ^ self._name_hash)

    @cached_property
    def _name_hash(self) -> int:
        return xxhash.xxh3_64_intdigest(f"sensor {self.name}".encode())

    def spec(self, scenic: bool = False, wind: tuple[str, ...] = ()) -> KernelSpec:
        """Return the kernel that samples a fleet; `scenic`: in a world with scenery, of which rays need the tables.

        `wind`: the fields of the environment that each vehicle has of its own.
        """
        measure = rebound(self.measure, LOOKING) if scenic else self.measure
        environment = replace(SCENIC if measure is not self.measure else LEVEL, varying=wind)
        arguments = (
            Rows("reading", self.reading, "write"),
            Rows("pose", Pose, fixed=True),
            *(() if self.seen is None else (Rows("seen", self.seen),)),
            Rows("memory", self.memory, "update"),
            Shared("options", self.options),
            environment,
            Shared("site", Site),
            Bundle("draw", Draw, DRAW),
            Value("interval"),
        )
        return KernelSpec(f"{self.name}-measure", measure, arguments)

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return a kernel for each function of the contract."""
        return (self.spec(),)


class NoMemory(NamedTuple):
    """The memory of a sensor without one."""

    primed: Annotated[float, Column("0/1", "not used")]


def no_measure() -> None:
    """Stand for the scalar function that an ArraySensor does not have."""
    raise NotImplementedError


@column_tuple
class LookingOptions(ColumnGroup):
    """Options of sensors that look around: rate, delay, and place on the vehicle."""

    rate: Rate = 10.0
    delay: Annotated[float, Column("s", "age of a reading on arrival; or [shortest, longest]", low=0.0, high=10.0)] = (
        0.0
    )
    delay_max: Annotated[float, Column("s", "longest age; 0, or one number as `delay`: that", low=0.0, high=10.0)] = 0.0
    x: Annotated[float, Column("m", "place on the vehicle, forward", low=-100.0, high=100.0)] = 0.0
    y: Annotated[float, Column("m", "place on the vehicle, left", low=-100.0, high=100.0)] = 0.0
    z: Annotated[float, Column("m", "place on the vehicle, up", low=-100.0, high=100.0)] = 0.0
    yaw_deg: Annotated[float, Column("deg", "turned left", low=-180.0, high=180.0)] = 0.0


class ArrayReading(NamedTuple):
    """An array of a reading."""

    name: str  # `ranges`
    shape: tuple[int, ...]  # of one vehicle
    dtype: str  # float32 or float64
    unit: str
    meaning: str
    fields: tuple[Column, ...] = ()  # of the last axis, where it has several meanings


SAMPLE_POSE = ArrayReading(
    "sample_pose", (7,), "float64", "", "pose of the vehicle when the reading was measured", columns_of(Pose)[:7]
)
"""The array that every sensor with arrays has besides its own: what it measured is relative to this pose."""


@dataclass(frozen=True)
class ArraySensor(Sensor):
    """A kind of sensor whose readings are arrays of a fixed shape per vehicle, and a few numbers.

    `look` writes both for a whole fleet, as a function of poses, surroundings and draws: it has no memory. Its options
    may have `delay_max`: the delay of each sample of each vehicle is then drawn between `delay` and `delay_max`.
    """

    memory: type = NoMemory
    measure: Callable[..., Any] = no_measure
    arrays: Callable[..., tuple[ArrayReading, ...]] = field(default=lambda options: ())  # (options) -> its arrays
    look: Callable[["FleetView", Mapping[str, Any], Any], None] = field(default=lambda view, arrays, reading: None)
    # (view, name -> (n, *shape), (columns of the reading, n)): fills the arrays and the reading
    problem: Callable[[Any], str] = field(default=lambda options: "")  # (options) -> what is impossible, "" if nothing

    def all_arrays(self, options: Any) -> tuple[ArrayReading, ...]:
        """Return its arrays, the last of which is the pose at which they were measured."""
        return (*self.arrays(options), SAMPLE_POSE)

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return no kernel: `look` calls compiled routines."""
        columns_of(self.reading)
        return ()


class ConeColumn(NamedTuple):
    """Columns of a table of cones (n, 6)."""

    x: int = 0  # m, foot of the cone, and the next two
    colour: int = 3  # index in CONE_COLOURS of paddock.track
    number: int = 4  # of the cone, for people and the ground truth
    height: int = 5  # m
    size: int = 6


CONE = ConeColumn()


class Cones(NamedTuple):
    """The cones of a world, wherever they are now."""

    table: Floats  # (n, 6), columns of ConeColumn
    keys: Ints  # (n,) identity of each, from which its draws follow; does not depend on other cones


NO_CONES = Cones(np.zeros((0, CONE.size)), np.zeros(0, np.int64))


class Around(NamedTuple):
    """Solids, cones and ground around the vehicles at a tick."""

    fixed: Solids = NO_SOLIDS  # obstacles that never move
    bodies: Solids = NO_SOLIDS  # bodies of vehicles, cones and crates
    cones: Cones = NO_CONES
    scenery: tuple[Floats, ...] = ()  # tables of uneven ground, in the order of SCENERY_TABLES; empty: flat ground


class Draws(NamedTuple):
    """What the random numbers of a frame depend on: key of the sensor, stream of the vehicle, purpose, tick."""

    key: int
    stream: int
    purpose: int
    tick: int


class FleetView(NamedTuple):
    """A fleet whose sensors look around."""

    n: int
    pose: Floats  # (13, >= n)
    ids: Ints  # (n,) of the vehicles, which do not see themselves
    streams: Ints  # (n,) name hashes
    options: Any  # named tuple of the sensor's options
    environment: Floats
    around: Around
    key: int  # of the random draws
    purpose: int  # the first of the sensor's own
    tick: int


SENSORS = PluginFolder("sensor", sensors, "paddock.sensors", "SENSOR", Sensor, check_functions)
find_sensor, sensor_names = SENSORS.find, SENSORS.names
