"""A sensor with arrays on one fleet: the life cycle of any sensor, and a delay that may differ between vehicles.

For clients and viewers of recordings, its arrays are described as plain trees.
"""

from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

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
from paddock.world.parts import VEHICLE, ArrayLeaf, add_table, array, part, tables

Ints = NDArray[np.int64]
Values = NDArray[np.floating]
DELAY_PURPOSE = PURPOSES - 1  # the last purpose of a sensor draws the delays


def draw_delays(key: int, streams: Any, purpose: int, tick: int, low: int, high: int, found: Any) -> None:
    """Write the delay (ticks) of a sample for each vehicle, uniform from `low` to `high`."""
    for i in range(found.size):
        u, _ = uniforms(key, streams[i], purpose, tick)
        found[i] = low + int(u * (high - low + 1))


delays = routine(draw_delays)


@part
class FleetArraySensor(FleetSensor):
    """A sensor with arrays of each vehicle of a fleet. A vehicle shows the newest sample that has arrived."""

    blocks: dict[str, Values] = tables(VEHICLE)  # of each array (slots, capacity, *shape)
    arrivals: Ints = array("i8", "slot", VEHICLE, unit="tick", fill=NEVER, low=NEVER)
    delivered: Ints = array("i8", VEHICLE, saved=False)  # number of the newest sample that has arrived, from 1

    if TYPE_CHECKING:
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
        prefix = f"{where}: " if where else ""
        given, varies = dict(options), "delay_max" in column_index(sensor.options)
        spread = given.get("delay")
        if isinstance(spread, list | tuple) and varies:
            if len(spread) != 2:
                raise InvalidValueError(f"{prefix}option 'delay' is a time, or [shortest, longest], not {spread!r:.60}")
            given["delay"], given["delay_max"] = spread
        elif "delay" in given and varies:  # one number is the delay of every sample
            given.setdefault("delay_max", 0.0)
        super().__init__(sensor, given, tick_rate, site, capacity, index, where, scenery)
        self.chosen = sensor.options(*self.options.tolist())
        shortest, longest = self._option("delay"), self._option("delay_max") if varies else 0.0
        if longest < shortest and (longest > 0.0 or isinstance(spread, list | tuple)):
            raise InvalidValueError(
                f"{prefix}option 'delay' of sensor {sensor.name!r}: the shortest, {shortest:g} s, is longer than the "
                f"longest, {longest:g} s"
            )
        if problem := sensor.problem(self.chosen):
            raise InvalidValueError(f"{prefix}sensor {sensor.name!r}: {problem}")
        for name, reading in self.arrays.items():
            kind: str = np.dtype(reading.dtype).str[1:]
            axes: tuple[str | int, ...] = ("slot", VEHICLE, *reading.shape)
            add_table(self, name, ArrayLeaf(dtype=kind, axes=axes, fill=np.nan, nan=True, infinite=True), "blocks")

    def _compile(self, scenery: tuple[Floats, ...]) -> None:
        """Do nothing: the routines of `look` are compiled when they are first called."""

    @cached_property
    def arrays(self) -> dict[str, ArrayReading]:
        """The arrays of its reading, by name."""
        return {array.name: array for array in self.sensor.arrays(self.chosen)}

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return super().nbytes + sum(array.nbytes for array in self.blocks.values()) + self.arrivals.nbytes

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
            arrays = {name: array[slot, :n] for name, array in self.blocks.items()}
            self.sensor.look(view, arrays, self.samples[slot][:, :n])
        self.arrivals[slot] = NEVER
        if self.delay_max > self.delay:
            late = np.zeros(n, np.int64)
            delays(self._key, streams[:n], self.purpose + DELAY_PURPOSE, tick, self.delay, self.delay_max, late)
            self.arrivals[slot, :n] = tick + late
        else:
            self.arrivals[slot, :n] = tick + self.delay
        if not self.delay_max:
            self.delivered[:n] = self.taken

    def arrive(self, tick: int) -> None:
        """Deliver every sample whose delay has elapsed at this tick; a later sample may overtake an earlier one."""
        for number in range(max(self.arrived, self.taken - self._slots) + 1, self.taken + 1):
            due = self.arrivals[(number - 1) % self._slots, : self.n]
            self.delivered[: self.n][(due >= 0) & (due <= tick)] = number
            if number == self.arrived + 1 and self._tick(number) + self.delay_max <= tick:
                self.arrived = number

    @property
    def sample_ticks(self) -> Floats:
        """(n,) the tick at which each vehicle's published reading was measured; -1 before the first arrives."""
        ticks = np.concatenate([[NEVER], self.ticks])
        return ticks[self._places() + 1].astype(np.float64)

    @property
    def sample_tick(self) -> int:
        """The newest of these ticks."""
        return int(self.sample_ticks.max(initial=NEVER))

    def _places(self) -> Ints:
        """Return the slot of each vehicle's published sample, -1 without one."""
        delivered = self.delivered[: self.n]
        return np.where(delivered > 0, (delivered - 1) % self._slots, -1)

    def published(self) -> Floats:
        """Return all published columns (columns, n) in the order of the reading."""
        block: Floats = self._gathered(self.samples.transpose(0, 2, 1)).T
        return block

    def array(self, name: str) -> Values:
        """Return a published array (n, *shape), read-only, valid until the next sample; NaN without a reading."""
        values: Values = self._gathered(self.blocks[name])
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

    def check(self, state: Any) -> None:
        """Refuse samples that no sensor can have taken, and arrivals outside its delay."""
        super().check(state)
        late = self.arrivals - self.ticks[:, None]
        allowed = (late >= self.delay) & (late <= self.delay_max) & (self.ticks[:, None] >= 0)
        if not ((self.arrivals == NEVER) | allowed).all():
            raise InvalidValueError("arrivals are not within the delay of the sensor")


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
    for column in layout.arrays:
        name, _, reading = column.name.partition(".")
        sensor, chosen = sensors.get(name), dict(options.get(name, {}))
        known = sensor.arrays(sensor.options(**chosen)) if isinstance(sensor, ArraySensor) and chosen else ()
        about = next((described for described in known if described.name == reading), None)
        trees.append(
            {
                "name": column.name,
                "shape": list(column.shape),
                "sensor": "" if sensor is None else sensor.name,
                "unit": "" if about is None else about.unit,
                "meaning": "" if about is None else about.meaning,
                "fields": [] if about is None else [column_tree(column) for column in about.fields],
                "options": chosen,
            }
        )
    return trees
