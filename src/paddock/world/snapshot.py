"""The state of the world at one tick, immutable: `snap["red"].position`, `snap.fleet("scouts").position`.

Readings of sensors are columns (`snap["red"]["imu.ax"]`) or arrays (`snap["red"]["lidar.ranges"]`).

All arrays are read-only views of the snapshot's buffer: they are cheap to create, and each of them keeps the whole
buffer from being reused. Copy data that you keep for long.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from paddock.errors import PaddockError, suggestion
from paddock.world.columns import Floats
from paddock.world.frames import euler_from_quaternion
from paddock.world.layout import BufferPool, Bytes, FleetLayout, Ints, Layout, Values, VehicleNames, frozen

POSITION, ORIENTATION, VELOCITY, ANGULAR_VELOCITY = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
"""Rows of a block, in the order of Pose's fields."""
NO_ARRAYS: Mapping[str, Values] = {}


class _Suggesting:
    """Errors for unknown attributes suggest a valid one."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        kind = type(self).__name__
        if name.startswith("_"):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        if name in self._keys():
            raise AttributeError(f"{kind} has no attribute {name!r}; write [{name!r}]")
        public = [attribute for attribute in dir(type(self)) if not attribute.startswith("_")]
        raise AttributeError(f"{kind} has no attribute {name!r}; {suggestion(name, public)}")

    def _keys(self) -> tuple[str, ...]:
        """Return the valid keys in square brackets."""
        return ()


class _Moving(_Suggesting):
    """Position, attitude and motion; world ENU, body FLU."""

    __slots__ = ()
    layout: FleetLayout

    @property
    def kind(self) -> str:
        """Car, drone, rover, ..."""
        return self.layout.kind

    @property
    def model(self) -> str:
        """The name of the vehicle model."""
        return self.layout.model

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of numbers available in square brackets."""
        return self.layout.columns

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays available in square brackets: readings of sensors with many values."""
        return self.layout.array_names

    @property
    def position(self) -> Floats:
        """(3,) m; (n, 3) for a fleet."""
        return self._rows(POSITION)

    @property
    def orientation(self) -> Floats:
        """(4,) quaternion x, y, z, w, body to world; (n, 4) for a fleet."""
        return self._rows(ORIENTATION)

    @property
    def velocity(self) -> Floats:
        """(3,) m/s, world; (n, 3) for a fleet."""
        return self._rows(VELOCITY)

    @property
    def angular_velocity(self) -> Floats:
        """(3,) rad/s, body; (n, 3) for a fleet."""
        return self._rows(ANGULAR_VELOCITY)

    def _rows(self, rows: slice) -> Floats:
        raise NotImplementedError

    def _keys(self) -> tuple[str, ...]:
        return (*self.columns, *self.arrays)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VehicleSnapshot(_Moving):
    """One vehicle at one tick; world ENU, body FLU."""

    layout: FleetLayout
    block: Floats  # (columns, n) of its fleet
    row: int
    blocks: Mapping[str, Values] = field(default_factory=lambda: NO_ARRAYS)  # array -> (n, *shape) of its fleet

    @property
    def name(self) -> str:
        """`red`, or `scouts[17]`."""
        return self.layout.vehicle_name(self.row)

    @property
    def id(self) -> int:
        """Unique in the run, never reused."""
        return int(self.layout.ids[self.row])

    @property
    def speed(self) -> float:
        """The norm of the velocity, m/s."""
        return float(np.linalg.norm(self.velocity))

    @property
    def yaw(self) -> float:
        """Heading, rad, counter-clockwise from east."""
        return float(euler_from_quaternion(self.orientation)[2])

    def __getitem__(self, column: str) -> Any:
        """Return the value of a column, in its unit; an array (*shape) of a sensor that has one."""
        if column in self.blocks:
            return self.blocks[column][self.row]
        return float(self.block[self.layout.column(column), self.row])

    def __repr__(self) -> str:
        x, y, z = self.position
        return f"<{self.name} ({self.model}) at {x:.3f}, {y:.3f}, {z:.3f} m>"

    def _rows(self, rows: slice) -> Floats:
        return self.block[rows, self.row]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FleetSnapshot(_Moving):
    """All vehicles of a fleet at one tick, as arrays; world ENU, body FLU."""

    layout: FleetLayout
    block: Floats  # (columns, n)
    blocks: Mapping[str, Values] = field(default_factory=lambda: NO_ARRAYS)  # array -> (n, *shape)

    @property
    def name(self) -> str:
        """The fleet's name."""
        return self.layout.name

    @property
    def ids(self) -> Ints:
        """(n,) unique in the run, never reused."""
        return self.layout.ids

    @property
    def members(self) -> Ints:
        """(n,) the k of each vehicle's name `fleet[k]`."""
        return self.layout.members

    @property
    def names(self) -> VehicleNames:
        """(n,) the names, made on access."""
        return VehicleNames((self.layout,))

    def __getitem__(self, column: str) -> Any:
        """Return a column (n,), in its unit; an array (n, *shape) of a sensor that has one."""
        if column in self.blocks:
            return self.blocks[column]
        return self.block[self.layout.column(column)]

    def __iter__(self) -> Iterator[VehicleSnapshot]:
        """Iterate over the vehicles; for many, use the columns."""
        return (VehicleSnapshot(self.layout, self.block, row, self.blocks) for row in range(self.layout.n))

    def __len__(self) -> int:
        return self.layout.n

    def __repr__(self) -> str:
        return f"<fleet {self.name!r} of {len(self)} {self.model}>"

    def _rows(self, rows: slice) -> Floats:
        return self.block[rows].T


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Snapshot(_Suggesting):
    """The public columns of every vehicle after one tick. len() counts vehicles, iterating gives fleets."""

    tick: int
    time: float  # s since the start of the run
    run: int  # +1 with every reset
    layout: Layout
    buffer: Bytes  # (nbytes,) read-only; the blocks are views of it

    @property
    def roster(self) -> int:
        """A number that changes when vehicles are added or removed."""
        return self.layout.roster

    @property
    def fleets(self) -> tuple[str, ...]:
        """The names of the fleets."""
        return tuple(fleet.name for fleet in self.layout.fleets)

    def fleet(self, name: str) -> FleetSnapshot:
        """Return a fleet by name; a single vehicle is a fleet of one."""
        return self._fleet(self.layout.fleet_index(name))

    def names(self) -> VehicleNames:
        """Return the names of all vehicles, fleet by fleet."""
        return self.layout.names

    def sensors(self, target: str | SupportsIndex) -> dict[str, dict[str, Any]]:
        """Return the readings of a vehicle's or fleet's sensors: sensor -> reading -> value or (n,) array.

        Arrays of sensors are (*shape), of a fleet (n, *shape). `sample_tick` is a number; of a fleet it is an array for
        sensors with arrays, whose delays differ.
        """
        whole = target in self.fleets and target not in self
        shown: Any = self.fleet(str(target)) if whole else self[target]
        columns, arrays = _by_sensor(shown.columns), _by_sensor(shown.arrays)
        readings: dict[str, dict[str, Any]] = {}
        for sensor, names in columns.items():
            if "sample_tick" not in names:  # commands and states have a dot, too
                continue
            values = {name: shown[f"{sensor}.{name}"] for name in (*names, *arrays.get(sensor, ()))}
            values = {
                name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()
            }
            tick = values.pop("sample_tick")
            if whole and sensor not in arrays:
                tick = tick[0] if len(tick) else -1
            values["sample_tick"] = tick.astype(np.int64) if isinstance(tick, np.ndarray) else int(tick)
            readings[sensor] = values
        return readings

    def __getitem__(self, vehicle: str | SupportsIndex) -> VehicleSnapshot:
        """Return a vehicle by its name (`red`, `scouts[17]`) or its id."""
        fleet, row = self.layout.find(vehicle)
        layout = self.layout
        return VehicleSnapshot(
            layout.fleets[fleet], layout.block(self.buffer, fleet), row, layout.arrays(self.buffer, fleet)
        )

    def __contains__(self, vehicle: object) -> bool:
        try:
            self.layout.find(vehicle)  # type: ignore[arg-type]
        except PaddockError:
            return False
        return True

    def __iter__(self) -> Iterator[FleetSnapshot]:
        return map(self._fleet, range(len(self.layout.fleets)))

    def __len__(self) -> int:
        return self.layout.vehicles

    def __bool__(self) -> bool:
        """Return True: `if snap` tests for a snapshot, not for vehicles."""
        return True

    def __repr__(self) -> str:
        return f"<snapshot of tick {self.tick} ({self.time:.3f} s): {len(self)} vehicles in {len(self.fleets)} fleets>"

    def _fleet(self, fleet: int) -> FleetSnapshot:
        layout = self.layout
        return FleetSnapshot(layout.fleets[fleet], layout.block(self.buffer, fleet), layout.arrays(self.buffer, fleet))

    def _keys(self) -> tuple[str, ...]:
        return self.fleets


def _by_sensor(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names `sensor.reading` as sensor -> readings."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, dot, reading = name.partition(".")
        if dot:
            groups.setdefault(group, []).append(reading)
    return groups


class SnapshotWriter:
    """Makes snapshots in pooled buffers: `begin`, fill the blocks, `finish`."""

    def __init__(self, pool: BufferPool | None = None) -> None:
        self.pool = pool or BufferPool()

    def begin(self, layout: Layout, tick: int, time: float, run: int) -> tuple[list[Floats], Callable[[], Snapshot]]:
        """Return the writable, uninitialised blocks (columns, n) of the next snapshot, and `finish`, which makes it.

        Drop the blocks after calling `finish`: they can still write to the snapshot.
        """
        blocks, _, finish = self.begin_all(layout, tick, time, run)
        return blocks, finish

    def begin_all(
        self, layout: Layout, tick: int, time: float, run: int
    ) -> tuple[list[Floats], list[dict[str, Values]], Callable[[], Snapshot]]:
        """Return the same, and between them the arrays (n, *shape) of each fleet by name."""
        buffer = self.pool.take(layout.nbytes)
        blocks = [layout.block(buffer, fleet) for fleet in range(len(layout.fleets))]
        arrays = [layout.arrays(buffer, fleet) for fleet in range(len(layout.fleets))]
        return blocks, arrays, lambda: Snapshot(tick, time, run, layout, frozen(buffer))


@dataclass(frozen=True)
class CommandRequest:
    """The simulation waits for the commands of claimed vehicles from this tick on."""

    tick: int
    deadline: float  # s on the monotonic clock
    vehicles: tuple[str, ...]
    snapshot: Snapshot

    @cached_property
    def sensors(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Vehicle -> sensor -> reading -> value, as returned by `Simulation.sensors`; empty for one that is gone."""
        known = (*self.snapshot.fleets, *(name for name in self.vehicles if name in self.snapshot))
        return {name: self.snapshot.sensors(name) if name in known else {} for name in self.vehicles}
