"""A sensor with arrays on one fleet: the life cycle of any sensor, and a delay that may differ between vehicles.

For clients and viewers of recordings, its arrays are described as plain trees.
"""

from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.sensing.sensor import PURPOSES, Around, ArrayReading, ArraySensor, FleetView, Sensor
from paddock.sensing.site import Site
from paddock.sensing.suite import NEVER, FleetSensor
from paddock.wire.operations.results import ArrayTree, ColumnTree
from paddock.world.columns import Column, Floats, column_index
from paddock.world.layout import FleetLayout

Ints = NDArray[np.int64]
Values = NDArray[np.floating]
DELAY_PURPOSE = PURPOSES - 1  # the last purpose of a sensor draws the delays


def draw_delays(key: int, streams: Any, purpose: int, tick: int, low: int, high: int, found: Any) -> None:
    """Write the delay (ticks) of a sample for each vehicle, uniform from `low` to `high`."""
    for i in range(found.size):
        u, _ = uniforms(key, streams[i], purpose, tick)
        found[i] = low + int(u * (high - low + 1))


delays = routine(draw_delays)


class FleetArraySensor(FleetSensor):
    """A sensor with arrays of each vehicle of a fleet. A vehicle shows the newest sample that has arrived."""

    sensor: ArraySensor

    def __init__(
        self,
        sensor: ArraySensor,
        options: Mapping[str, Any],
        tick_rate: float,
        site: Site | None = None,
        capacity: int = 1,
        index: int = 0,
        where: str = "",
        scenery: tuple[Floats, ...] = (),
    ) -> None:
        """Take the arguments of FleetSensor; the option `delay` may be two numbers, [shortest, longest], s."""
        place = f"{where}: " if where else ""
        given, varies = dict(options), "delay_max" in column_index(sensor.options)
        spread = given.get("delay")
        if isinstance(spread, list | tuple) and varies:
            if len(spread) != 2:
                raise InvalidValueError(f"{place}option 'delay' is a time, or [shortest, longest], not {spread!r:.60}")
            given["delay"], given["delay_max"] = spread
        elif "delay" in given and varies:  # one number is the delay of every sample
            given.setdefault("delay_max", 0.0)
        super().__init__(sensor, given, tick_rate, site, capacity, index, where, scenery)
        self.chosen = sensor.options(*self.options.tolist())
        shortest, longest = self._option("delay"), self._option("delay_max") if varies else 0.0
        if longest < shortest and (longest > 0.0 or isinstance(spread, list | tuple)):
            raise InvalidValueError(
                f"{place}option 'delay' of sensor {sensor.name!r}: the shortest, {shortest:g} s, is longer than the "
                f"longest, {longest:g} s"
            )
        if problem := sensor.problem(self.chosen):
            raise InvalidValueError(f"{place}sensor {sensor.name!r}: {problem}")
        self._arrays: dict[str, Values] = {
            name: np.full((self._slots, self.capacity, *array.shape), np.nan, array.dtype)
            for name, array in self.arrays.items()
        }
        self._arrivals = np.full((self._slots, self.capacity), NEVER, np.int64)
        self._delivered = np.zeros(self.capacity, np.int64)  # number of the newest sample that has arrived, from 1

    def _compile(self, scenery: tuple[Floats, ...]) -> None:
        """Do nothing: the routines of `look` are compiled when they are first called."""

    @cached_property
    def arrays(self) -> dict[str, ArrayReading]:
        """The arrays of its reading, by name."""
        return {array.name: array for array in self.sensor.arrays(self.chosen)}

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return super().nbytes + sum(array.nbytes for array in self._arrays.values()) + self._arrivals.nbytes

    def _take(
        self,
        slot: int,
        tick: int,
        pose: Floats,
        streams: Ints,
        environment: Floats,
        interval: float,
        seen: Floats | None,
        around: Around,
        ids: Ints | None,
    ) -> None:
        n = self.n
        numbers = np.full(n, -1, np.int64) if ids is None else ids[:n]
        view = FleetView(
            *(n, pose, numbers, streams[:n], self.chosen, environment, around),
            *(self._key, self.purpose, tick),
        )
        if n:
            arrays = {name: array[slot, :n] for name, array in self._arrays.items()}
            self.sensor.look(view, arrays, self._samples[slot][:, :n])
        self._arrivals[slot] = NEVER
        if self.delay_max > self.delay:
            late = np.zeros(n, np.int64)
            delays(self._key, streams[:n], self.purpose + DELAY_PURPOSE, tick, self.delay, self.delay_max, late)
            self._arrivals[slot, :n] = tick + late
        else:
            self._arrivals[slot, :n] = tick + self.delay
        if not self.delay_max:
            self._delivered[:n] = self.taken

    def arrive(self, tick: int) -> None:
        """Deliver every sample whose delay has elapsed at this tick; a later sample may overtake an earlier one."""
        for number in range(max(self.arrived, self.taken - self._slots) + 1, self.taken + 1):
            due = self._arrivals[(number - 1) % self._slots, : self.n]
            self._delivered[: self.n][(due >= 0) & (due <= tick)] = number
            if number == self.arrived + 1 and self._tick(number) + self.delay_max <= tick:
                self.arrived = number

    @property
    def sample_ticks(self) -> Floats:
        """(n,) the tick at which each vehicle's published reading was measured; -1 before the first arrives."""
        ticks = np.array([NEVER, *self._ticks])
        return ticks[self._places() + 1].astype(np.float64)

    @property
    def sample_tick(self) -> int:
        """The newest of these ticks."""
        return int(self.sample_ticks.max(initial=NEVER))

    def _places(self) -> Ints:
        """Return the slot of each vehicle's published sample, -1 without one."""
        delivered = self._delivered[: self.n]
        return np.where(delivered > 0, (delivered - 1) % self._slots, -1)

    def published(self) -> Floats:
        """Return all published columns (columns, n) in the order of the reading."""
        block: Floats = self._gathered(self._samples.transpose(0, 2, 1)).T
        return block

    def array(self, name: str) -> Values:
        """Return a published array (n, *shape), read-only, valid until the next sample; NaN without a reading."""
        values: Values = self._gathered(self._arrays[name])
        return values

    def _gathered(self, samples: Any) -> Any:
        """Return the published rows (n, ...) of samples (slots, capacity, ...)."""
        places = self._places()
        if not len(places) or (places == places[0]).all():
            block = samples[max(int(places[0]), 0) if len(places) else 0, : self.n]
            if len(places) and places[0] < 0:
                block = np.full_like(block, np.nan)
        else:
            block = samples[np.maximum(places, 0), np.arange(self.n)]
            block[places < 0] = np.nan
        block = block.view()
        block.flags.writeable = False
        return block

    def grow(self, capacity: int) -> None:
        """Make room for that many vehicles; never shrinks."""
        more = capacity - self.capacity
        super().grow(capacity)
        if more > 0:
            for name, array in self._arrays.items():
                wider = ((0, 0), (0, more), *((0, 0),) * (array.ndim - 2))
                self._arrays[name] = np.pad(array, wider, constant_values=np.nan)
            self._arrivals = np.pad(self._arrivals, ((0, 0), (0, more)), constant_values=NEVER)
            self._delivered = np.pad(self._delivered, (0, more))

    def keep(self, vehicles: NDArray[Any]) -> None:
        """Keep only these vehicles, a mask (n,) or ascending indices, in order."""
        rows = np.arange(self.n)[vehicles]
        for block in (*self._arrays.values(), self._arrivals):
            block[:, : len(rows)] = block[:, rows]
            block[:, len(rows) :] = NEVER if block is self._arrivals else np.nan
        self._delivered[: len(rows)] = self._delivered[rows]
        self._delivered[len(rows) :] = 0
        super().keep(vehicles)

    def reset(self) -> None:
        """Discard all samples: the next one is the first."""
        super().reset()
        for array in self._arrays.values():
            array[:] = np.nan
        self._arrivals[:], self._delivered[:] = NEVER, 0

    def save(self) -> dict[str, Any]:
        """Return everything that later readings depend on: arrays and integers."""
        arrays = {name: array[:, : self.n].copy() for name, array in self._arrays.items()}
        return {**super().save(), "arrays": arrays, "arrivals": self._arrivals[:, : self.n].copy()}

    def restore(self, saved: dict[str, Any], tick: int) -> None:
        """Restore the result of `save` at that tick."""
        name = self.sensor.name
        arrays, arrivals = saved["arrays"], np.asarray(saved["arrivals"])
        if set(arrays) != set(self._arrays):
            raise InvalidValueError(f"saved sensor {name!r} has other arrays than {', '.join(self._arrays)}")
        super().restore({key: value for key, value in saved.items() if key not in ("arrays", "arrivals")}, tick)
        for key, mine in self._arrays.items():
            array, wanted = np.asarray(arrays[key]), (self._slots, self.n, *mine.shape[2:])
            if array.dtype != mine.dtype or array.shape != wanted:
                raise InvalidValueError(f"saved array {key!r} of sensor {name!r} is {array.dtype} of {array.shape}")
            mine[:, : self.n] = array
        if arrivals.dtype != np.int64 or arrivals.shape != (self._slots, self.n):
            raise InvalidValueError(f"saved arrivals of sensor {name!r} are {arrivals.dtype} of {arrivals.shape}")
        late = arrivals - np.array(self._ticks)[:, None]
        allowed = (late >= self.delay) & (late <= self.delay_max) & (np.array(self._ticks)[:, None] >= 0)
        if not ((arrivals == NEVER) | allowed).all():
            raise InvalidValueError(f"saved arrivals of sensor {name!r} are not within its delay")
        self._arrivals[:, : self.n] = arrivals
        arrived, self.arrived = self.arrived, max(0, self.taken - self._slots)
        self.arrive(tick)
        if self.arrived != arrived:
            raise InvalidValueError(f"saved sensor {name!r} has {arrived} arrived of {self.taken} samples")


def fleet_sensor(sensor: Sensor, *given: Any) -> FleetSensor:
    """Return a sensor on a fleet; arguments as for FleetSensor."""
    return FleetArraySensor(sensor, *given) if isinstance(sensor, ArraySensor) else FleetSensor(sensor, *given)


def column_tree(column: Column, name: str = "") -> ColumnTree:
    """Return a column as a tree, under its own or another name."""
    return {
        "name": name or column.name,
        "unit": column.unit,
        "meaning": column.meaning,
        "low": column.low if isfinite(column.low) else None,
        "high": column.high if isfinite(column.high) else None,
        "choices": list(column.choices),
    }


def fleet_array_trees(layout: FleetLayout, sensors: Mapping[str, FleetSensor]) -> list[ArrayTree]:
    """Return the arrays of a fleet of a simulation."""
    options = {
        name: dict(zip(column_index(sensor.sensor.options), sensor.options.tolist(), strict=True))
        for name, sensor in sensors.items()
    }
    return array_trees(layout, {name: sensor.sensor for name, sensor in sensors.items()}, options)


def array_trees(
    layout: FleetLayout, sensors: Mapping[str, Sensor], options: Mapping[str, Mapping[str, float]]
) -> list[ArrayTree]:
    """Return the arrays of a fleet with the sensors that they belong to, and those sensors' options."""
    trees: list[ArrayTree] = []
    for array in layout.arrays:
        name, _, reading = array.name.partition(".")
        sensor, chosen = sensors.get(name), dict(options.get(name, {}))
        known = sensor.arrays(sensor.options(**chosen)) if isinstance(sensor, ArraySensor) and chosen else ()
        about = next((described for described in known if described.name == reading), None)
        trees.append(
            {
                "name": array.name,
                "shape": list(array.shape),
                "sensor": "" if sensor is None else sensor.name,
                "unit": "" if about is None else about.unit,
                "meaning": "" if about is None else about.meaning,
                "fields": [] if about is None else [column_tree(column) for column in about.fields],
                "options": chosen,
            }
        )
    return trees
