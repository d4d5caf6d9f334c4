"""One sensor on one fleet: sampling times, memory, and delayed samples."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import CompiledKernels, kernel
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.compute.threads import DirectCall
from paddock.errors import InvalidValueError, PaddockError
from paddock.sensing.sensor import PURPOSES, SAMPLE_POSE, Around, ArrayReading, ArraySensor, FleetView, Sensor
from paddock.sensing.site import Site
from paddock.wire.results import ArrayTree, ColumnTree
from paddock.world.columns import Column, Floats, column_index, defaults_of, filled
from paddock.world.layout import FleetLayout
from paddock.world.parts import VEHICLE, ArrayLeaf, add_table, array, count, fill, part, tables, value
from paddock.world.state import append, keep

NEVER = -1  # the tick of a sample that does not exist

INDEX_MAX = 65536 // PURPOSES - 1  # the highest index of a sensor among those of its kind on a vehicle


@part
class FleetSensor:
    """A sensor of each vehicle of a fleet: `n` columns in use, and a ring of samples, NaN before a vehicle joined.

    What has arrived follows from the ticks of the samples: `arrived` is not part of the state.
    """

    n: int = count(VEHICLE)
    memory: Floats = array("f8", "memory", VEHICLE, nan=True, infinite=True)
    samples: Floats = array("f8", "slot", "reading", VEHICLE, fill=np.nan, nan=True, infinite=True)
    ticks: NDArray[np.int64] = array("i8", "slot", unit="tick", fill=NEVER, low=NEVER)
    taken: int = value(0, low=0, high=2**53)  # samples so far

    def __init__(
        self,
        sensor: Sensor,
        options: Mapping[str, Any],
        tick_rate: float,
        site: Site | None = None,
        capacity: int = 1,
        index: int = 0,
        where: str = "",
        scenery: tuple[Floats, ...] = (),
        wind: tuple[str, ...] = (),
    ) -> None:
        """`tick_rate` in Hz; `index` counts sensors of one kind on a vehicle; `where` prefixes error messages.

        `scenery`: the tables of a world that has some. `wind`: the fields of the environment that each vehicle has of
        its own; then `sample` takes their table.
        """
        if not 0 <= index <= INDEX_MAX:
            raise InvalidValueError(f"sensor {sensor.name!r}: index must lie in 0 to {INDEX_MAX}, not {index}")
        self.sensor = sensor
        self.tick_rate = tick_rate
        self.options = self._read_options(options, where)
        self.period = self._period(where)
        self.delay = self.delay_max = round(self._option("delay") * tick_rate)
        if "delay_max" in column_index(sensor.options):
            self.delay_max = max(self.delay, round(self._option("delay_max") * tick_rate))
        self.purpose = index * PURPOSES
        self._site = np.array(Site() if site is None else site, dtype=np.float64)
        self._slots = -(-self.delay_max // self.period) + 1  # samples in transit, and the newest delivered one
        fill(
            self,
            **{VEHICLE: capacity, "slot": self._slots},
            memory=len(column_index(sensor.memory)),
            reading=len(column_index(sensor.reading)),
        )
        self.arrived = 0  # samples; while it equals `taken`, only a new one changes the readings
        self._seed, self._key = -1, 0  # of the random draws; the key belongs to the seed
        self._unseen: Floats | None = None  # what a sensor reads of a vehicle that has nothing for it
        self.kernel: CompiledKernels | None = None
        self._prepare(scenery, wind)

    def _read_options(self, options: Mapping[str, Any], where: str) -> Floats:
        """Return the values of all options."""
        return filled(self.sensor.options, options, f"option of sensor {self.sensor.name!r}", where)

    def _prepare(self, scenery: tuple[Floats, ...], wind: tuple[str, ...]) -> None:
        """Find the kernel."""
        spec = self.sensor.spec(bool(scenery), wind)
        compiled = self.kernel = kernel(spec)
        self._scenery = scenery if spec != self.sensor.spec(wind=wind) else ()
        self._measure = DirectCall(compiled)

    @property
    def capacity(self) -> int:
        """Number of vehicles that fit in the arrays."""
        return int(self.memory.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.memory.nbytes + self.samples.nbytes

    def due(self, tick: int) -> int:
        """Return the first tick >= `tick` at which to sample."""
        return -(-tick // self.period) * self.period

    def sample(
        self,
        tick: int,
        pose: Floats,
        n: int,
        streams: NDArray[np.int64],
        environment: Floats,
        seed: int,
        seen: Floats | None = None,
        around: Around | None = None,
        ids: NDArray[np.int64] | None = None,
        wind: tuple[Floats, ...] = (),
    ) -> None:
        """Measure the first `n` vehicles; `pose` is (13, capacity), `streams` their name hashes (int64).

        `seen` (columns, capacity) is what the sensor reads of its vehicles besides the pose; None: its defaults.
        Sensors with arrays look at what is `around`, except for the vehicle itself, known by its number in `ids`.
        """
        before = self._tick(self.taken)
        if tick <= before or tick % self.period:
            raise PaddockError(
                f"sensor {self.sensor.name!r} samples next at tick {self.due(max(tick, before + 1))}, not at {tick}"
            )
        if n != self.n:
            self.extend(n)
        if pose.flags.writeable:  # the kernel is compiled for the read-only arrays of snapshots
            pose = pose.view()
            pose.flags.writeable = False
        # a skipped sample must not appear as doubled acceleration
        interval = (tick - before if before >= 0 else self.period) / self.tick_rate
        slot = self.taken % self._slots
        self.ticks[slot] = tick
        self.taken += 1
        if seed != self._seed:
            self._seed, self._key = seed, self.sensor.key(seed)
        self._take(slot, tick, pose, streams, (environment, *wind), interval, seen, around or Around(), ids)
        if self.delay_max:
            self.arrive(tick)
        else:
            self.arrived = self.taken

    def _take(
        self,
        slot: int,
        tick: int,
        pose: Floats,
        streams: NDArray[np.int64],
        environment: tuple[Floats, ...],
        interval: float,
        seen: Floats | None,
        around: Around,
        ids: NDArray[np.int64] | None,
    ) -> None:
        """Write the readings of this tick into a slot; `environment`: its values, and the wind at each vehicle."""
        if seen is None and self.sensor.seen is not None:
            seen = self._default_seen(self.sensor.seen)
        constants = self.options, *environment, *self._scenery, self._site
        draws = self._key, streams, self.purpose, tick
        inputs = (pose,) if seen is None else (pose, seen)
        self._measure((self.n, 1, self.samples[slot], *inputs, self.memory, *constants, *draws, interval))

    def _default_seen(self, fields: type) -> Floats:
        """Return the defaults of what it reads of its vehicles, for all of them."""
        if self._unseen is None or self._unseen.shape[1] != self.capacity:
            self._unseen = np.repeat(defaults_of(fields)[:, None], self.capacity, axis=1)
        return self._unseen

    def arrive(self, tick: int) -> None:
        """Publish every sample whose delay has elapsed at this tick."""
        while self.arrived < self.taken and self._tick(self.arrived + 1) + self.delay <= tick:
            self.arrived += 1

    @property
    def sample_tick(self) -> int:
        """The tick at which the published readings were measured; -1 before the first arrives."""
        return self._tick(self.arrived)

    @property
    def sample_ticks(self) -> Floats:
        """(n,) the same for each vehicle, as in snapshots; -1 for one without a reading in a sensor with arrays."""
        return np.full(self.n, float(self.sample_tick))

    def _tick(self, number: int) -> int:
        """Return the tick of a sample, counted from 1; -1 for 0."""
        return self.ticks.item((number - 1) % self._slots) if number else NEVER

    def readings(self) -> dict[str, Floats]:
        """Return all published columns (n,) by name, read-only, valid until the next sample; NaN without a reading."""
        return dict(zip(column_index(self.sensor.reading), self.published(), strict=True))

    def published(self) -> Floats:
        """Return all published columns (columns, n) in the order of the reading."""
        if self.arrived:
            block: Floats = self.samples[(self.arrived - 1) % self._slots, :, : self.n]
        else:
            block = np.full((self.samples.shape[1], self.n), np.nan)
        block.flags.writeable = False
        return block

    def extend(self, n: int) -> None:
        """Extend to `n` vehicles; new ones start without readings, bias or past."""
        if n < self.n:
            raise PaddockError(
                f"sensor {self.sensor.name!r} has {self.n} vehicles, not {n}; use keep() to remove vehicles"
            )
        append(self, VEHICLE, n - self.n)

    def keep(self, vehicles: NDArray[Any]) -> None:
        """Keep only these vehicles, a mask (n,) or ascending indices, in order."""
        keep(self, VEHICLE, np.arange(self.n)[vehicles])

    def reset(self) -> None:
        """Discard all samples: the next one is the first."""
        n = self.n
        keep(self, VEHICLE, np.zeros(0, np.int64))
        append(self, VEHICLE, n)
        self.ticks[:] = NEVER
        self.taken = self.arrived = 0

    def check(self, state: Any) -> None:
        """Refuse samples that no sensor can have taken until the present tick."""
        if not self._possible(self.ticks, self.taken, state.tick):
            raise InvalidValueError(f"there are samples of ticks {self.ticks.tolist()!s:.60} at tick {state.tick}")
        self.arrived = max(0, self.taken - self._slots)

    def _possible(self, ticks: NDArray[Any], taken: int, now: int) -> bool:
        """Return whether samples can have been taken at these ticks: ascending multiples of the period until now."""
        slots = len(ticks)
        newest = np.arange(max(taken - slots, 0), taken) % slots  # of the newest samples, oldest first
        sampled = ticks[newest].astype(np.int64)
        ordered = (np.diff(sampled, prepend=-1, append=now + 1) > 0).all() and not (sampled % self.period).any()
        unused = np.delete(ticks, newest)
        return bool(ordered and (unused == NEVER).all() and taken <= now + 1)

    @property
    def arrays(self) -> dict[str, ArrayReading]:
        """The arrays of its reading, by name; none of most sensors."""
        return {}

    def array(self, name: str) -> NDArray[np.floating]:
        """Return a published array (n, *shape), read-only, valid until the next sample; NaN without a reading."""
        raise PaddockError(f"sensor {self.sensor.name!r} has no array {name!r}")

    def _option(self, name: str) -> float:
        return float(self.options[column_index(self.sensor.options)[name]])

    def _period(self, where: str) -> int:
        """Return the ticks between samples."""
        rate = self._option("rate")
        if rate > self.tick_rate:
            prefix = f"{where}: " if where else ""
            raise InvalidValueError(
                f"{prefix}sensor {self.sensor.name!r} cannot sample at {rate:g} Hz: the clock allows at most "
                f"{self.tick_rate:g} Hz"
            )
        return max(1, round(self.tick_rate / rate))


Ints = NDArray[np.int64]
Values = NDArray[np.floating]
DELAY_PURPOSE = PURPOSES - 1  # the last purpose of a sensor draws the delays


def draw_delays(key: int, streams: Any, purpose: int, tick: int, low: int, high: int, ticks: Any) -> None:
    """Write the delay (ticks) of a sample for each vehicle, uniform from `low` to `high`."""
    for i in range(ticks.size):
        u, _ = uniforms(key, streams[i], purpose, tick)
        ticks[i] = low + int(u * (high - low + 1))


delays = routine(draw_delays)


@part
class FleetArraySensor(FleetSensor):
    """A sensor with arrays of each vehicle of a fleet. A vehicle shows the newest sample that has arrived."""

    blocks: dict[str, Values] = tables(VEHICLE)  # of each array (slots, capacity, *shape)
    arrivals: Ints = array("i8", "slot", VEHICLE, unit="tick", fill=NEVER, low=NEVER)
    delivered: Ints = array("i8", VEHICLE, saved=False)  # number of the newest sample that has arrived, from 1

    if TYPE_CHECKING:
        sensor: ArraySensor

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Take the arguments of FleetSensor."""
        super().__init__(*arguments, **named)

    def _read_options(self, options: Mapping[str, Any], where: str) -> Floats:
        """Return the values of all options; `delay` may be two numbers, [shortest, longest], s."""
        prefix, sensor = f"{where}: " if where else "", self.sensor
        values, varies = dict(options), "delay_max" in column_index(sensor.options)
        spread = values.get("delay")
        if isinstance(spread, list | tuple) and varies:
            if len(spread) != 2:
                raise InvalidValueError(f"{prefix}option 'delay' is a time, or [shortest, longest], not {spread!r:.60}")
            values["delay"], values["delay_max"] = spread
        elif "delay" in values and varies:  # one number is the delay of every sample
            values.setdefault("delay_max", 0.0)
        read = super()._read_options(values, where)
        self.chosen = sensor.options(*read.tolist())
        shortest, longest = self.chosen.delay, self.chosen.delay_max if varies else 0.0
        if longest < shortest and (longest > 0.0 or isinstance(spread, list | tuple)):
            raise InvalidValueError(
                f"{prefix}option 'delay' of sensor {sensor.name!r}: the shortest, {shortest:g} s, is longer than the "
                f"longest, {longest:g} s"
            )
        if problem := sensor.problem(self.chosen):
            raise InvalidValueError(f"{prefix}sensor {sensor.name!r}: {problem}")
        return read

    def _prepare(self, scenery: tuple[Floats, ...], wind: tuple[str, ...]) -> None:
        """Add the arrays of the reading; the routines of `look` are compiled when they are first called."""
        for name, reading in self.arrays.items():
            kind: str = np.dtype(reading.dtype).str[1:]
            axes: tuple[str | int, ...] = ("slot", VEHICLE, *reading.shape)
            leaf = ArrayLeaf(dtype=kind, axes=axes, fill=np.nan, nan=True, infinite=True)
            if name == SAMPLE_POSE.name:  # follows from the state of its tick
                leaf = replace(leaf, infinite=False, hashed=False, settled=False)
            add_table(self, name, leaf, "blocks")

    @cached_property
    def arrays(self) -> dict[str, ArrayReading]:
        """The arrays of its reading, by name."""
        return {array.name: array for array in self.sensor.all_arrays(self.chosen)}

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
        environment: tuple[Floats, ...],
        interval: float,
        seen: Floats | None,
        around: Around,
        ids: Ints | None,
    ) -> None:
        n = self.n
        numbers = np.full(n, -1, np.int64) if ids is None else ids[:n]
        view = FleetView(
            *(n, pose, numbers, streams[:n], self.chosen, environment[0], around),
            *(self._key, self.purpose, tick),
        )
        if n:
            arrays = {name: array[slot, :n] for name, array in self.blocks.items()}
            self.sensor.look(view, arrays, self.samples[slot][:, :n])
            arrays[SAMPLE_POSE.name][:] = pose[: len(SAMPLE_POSE.fields), :n].T
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
        return ticks[self._published_slots() + 1].astype(np.float64)

    @property
    def sample_tick(self) -> int:
        """The newest of these ticks."""
        return int(self.sample_ticks.max(initial=NEVER))

    def _published_slots(self) -> Ints:
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
        slots = self._published_slots()
        if not len(slots) or (slots == slots[0]).all():
            block = samples[max(int(slots[0]), 0) if len(slots) else 0, : self.n]
            if len(slots) and slots[0] < 0:
                block = np.full_like(block, np.nan)
        else:
            block = samples[np.maximum(slots, 0), np.arange(self.n)]
            block[slots < 0] = np.nan
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


def fleet_sensor(sensor: Sensor, *arguments: Any) -> FleetSensor:
    """Return a sensor on a fleet; arguments as for FleetSensor."""
    return FleetArraySensor(sensor, *arguments) if isinstance(sensor, ArraySensor) else FleetSensor(sensor, *arguments)


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
        arrays = sensor.all_arrays(sensor.options(**chosen)) if isinstance(sensor, ArraySensor) and chosen else ()
        about = next((described for described in arrays if described.name == reading), None)
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
